package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// mostDepth is the largest depth to which a value may be nested: a decoder that calls itself for
// each level must not run out of stack.
const mostDepth = 512

// blockSize is the number of bytes of an input that are read at a time.
const blockSize = 256 << 10

// Scanner reads JSON from front to back, a value at a time. A value stays text: a Scanner checks that the
// brackets and quotes of the value fit, and a second Scanner can read its parts. A Scanner keeps one block of its
// input and one value; a decoder of the standard library would keep a text of any length.
//
//	s := jsontext.NewScanner(in, 1<<20)
//	for s.Open('{'); s.Member(); {       {"a": 1, "b": [2, 3]}
//		s.Value()                    s.Raw is 1 of the Key a, then [2, 3] of the Key b
//	}
//	err := s.Err
type Scanner struct {
	// Key is the name of the member, valid until its value is read.
	Key []byte
	// Raw is the value read last, valid until the next one is read; TooLong tells that it is only
	// the beginning of the value.
	Raw []byte
	// From is the position of the value in the text of Reset, and At the line in which it begins,
	// from 1.
	From    int
	At      int64
	TooLong bool
	// Err is the error in the text, an *Error, or the error of the input. Nothing is read after it.
	Err error

	// in is nil if all of the text is in buf.
	in io.Reader
	// limit is the most bytes of a value that are kept.
	limit int
	// buf has the block at hand, of which [pos, end) is to be read.
	buf  []byte
	pos  int
	end  int
	line int64
	// first tells that nothing was read yet of what Open has gone into.
	first bool
	// kept has a value that stands in several blocks.
	kept []byte
	// open are the brackets of the value at hand that are open.
	open [mostDepth]byte
}

// NewScanner reads an input, whose values may have as many bytes as limit.
func NewScanner(in io.Reader, limit int) *Scanner {
	return &Scanner{in: in, limit: limit, buf: make([]byte, blockSize), line: 1}
}

// Reset begins to read a text, which must not change meanwhile.
func (s *Scanner) Reset(text []byte) {
	s.Err, s.in, s.limit = nil, nil, len(text)
	s.buf, s.pos, s.end, s.line = text, 0, len(text), 1
}

// Line returns the line that has been reached, from 1.
func (s *Scanner) Line() int64 { return s.line }

// Column returns the column that has been reached in the text of Reset, in bytes from 1.
func (s *Scanner) Column() int { return s.pos + 1 }

// fail notes what is wrong with the text, and returns false.
func (s *Scanner) fail(format string, args ...any) bool {
	if s.Err == nil {
		s.Err = &Error{Line: int(s.line), Err: fmt.Errorf(format, args...)}
	}
	return false
}

// fill reads the next block, and reports whether there was more. A reader that returns nothing a
// hundred times is given up.
func (s *Scanner) fill() bool {
	for idle := 0; s.in != nil && s.Err == nil && idle < 100; idle++ {
		n, err := s.in.Read(s.buf)
		if s.pos, s.end = 0, n; n > 0 {
			return true
		}
		if errors.Is(err, io.EOF) {
			return false
		}
		s.Err = err
	}
	if s.in != nil && s.Err == nil {
		s.Err = io.ErrNoProgress
	}
	return false
}

// Next returns the next byte that is no blank, or 0 at the end. It does not pass over it.
func (s *Scanner) Next() byte {
	if s.pos < s.end && s.buf[s.pos] > ' ' {
		return s.buf[s.pos]
	}
	for s.pos < s.end || s.fill() {
		switch c := s.buf[s.pos]; c {
		case '\n':
			s.line++
		case ' ', '\t', '\r':
		default:
			return c
		}
		s.pos++
	}
	return 0
}

// SkipMark passes over the byte order mark that some editors put before a text.
func (s *Scanner) SkipMark() {
	if s.Next() == 0xEF {
		s.pos += min(3, s.end-s.pos)
	}
}

// take passes over a byte that must come next; want says what it is.
func (s *Scanner) take(b byte, want string) bool {
	switch c := s.Next(); {
	case c == b:
		s.pos++
		return true
	case c == 0:
		return s.fail("it ends too early: want %s", want)
	default:
		return s.fail("want %s, not %q", want, c)
	}
}

// Open goes into the object or the list that comes next, which begins with { or [.
func (s *Scanner) Open(bracket byte) bool {
	s.first = s.Next() == bracket
	if s.first {
		s.pos++
		return true
	}
	return s.take(bracket, string(bracket))
}

// Element goes to the next element of a list, and reports whether there is one. The caller must
// then read it.
func (s *Scanner) Element() bool { return s.another(']') }

// Member goes to the next member of an object, whose name becomes Key, and reports whether there
// is one. The caller must then read its value.
func (s *Scanner) Member() bool { return s.another('}') && s.name() }

// End reports whether only blanks are left. Anything else is an error of the text.
func (s *Scanner) End() bool {
	if c := s.Next(); s.Err == nil && c != 0 {
		return s.fail("want nothing behind its end, not %q", c)
	}
	return s.Err == nil
}

// another passes over what stands between the parts of a list or an object, and reports whether
// there is another part. There is no comma in front of the first one.
func (s *Scanner) another(end byte) bool {
	first := s.first
	s.first = false
	if s.Err != nil {
		return false
	}
	switch c := s.Next(); {
	case c == end:
		s.pos++
		return false
	case c == ',' && !first:
		s.pos++
		return true
	case first && c != 0:
		return true
	case end == ']':
		return s.take(',', "a comma or ]")
	}
	return s.take(',', "a comma or }")
}

// name reads the name of a member and the colon behind it.
func (s *Scanner) name() bool {
	if !s.Value() {
		return false
	}
	if s.TooLong || s.Raw[0] != '"' {
		return s.fail("want a name in quotes, not %.40q", s.Raw)
	}
	var ok bool
	if s.Key, ok = Text(s.Raw); !ok {
		return s.fail("want a text as JSON has it, not %.40q", s.Raw)
	}
	if s.pos < s.end && s.buf[s.pos] == ':' {
		s.pos++
		return true
	}
	if s.in != nil { // the next block might overwrite it
		s.Key = bytes.Clone(s.Key)
	}
	return s.take(':', "a colon")
}

// set is a set of bytes: looking one up takes no branch.
type set [256]bool

// setOf returns the set of the bytes of a text.
func setOf(of string) (all set) {
	for _, c := range []byte(of) {
		all[c] = true
	}
	return all
}

// Bytes that mean something: outside of texts within an object or a list, within a text,
// and behind a number or a word.
var structure, quoted, delimiter = setOf("\"{}[]\n"), setOf("\"\\\n"), setOf(",]} \n\r\t:")

// until returns the offset of the next byte of a set, from an offset on, or the length of the
// text.
func until(of *set, text []byte, at int) int {
	for at < len(text) && !of[text[at]] {
		at++
	}
	return at
}

// Value reads a value into Raw, and reports whether it is one. A value of at most limit bytes that
// ends in this block is not copied. Of a longer one Raw has the first limit bytes, and TooLong is
// set; it is read to its end all the same.
func (s *Scanner) Value() bool {
	first := s.Next()
	s.Raw, s.TooLong, s.At, s.From = nil, false, s.line, s.pos
	if first == 0 {
		return s.fail("it ends too early: want a value")
	}
	if end := s.simple(first); end > 0 && end-s.pos <= s.limit {
		s.Raw, s.pos = s.buf[s.pos:end], end
		return true
	}
	kept := s.kept[:0] // what stood in blocks before this one
	within := nesting{literal: first != '{' && first != '[' && first != '"'}
	for done := false; !done; {
		if s.pos == s.end && !s.fill() {
			return s.fail("it ends within a value")
		}
		text := s.buf[s.pos:s.end]
		i, over, ok := s.pass(text, &within)
		if !ok {
			return false
		}
		s.pos, done = s.pos+i, over
		if done && len(kept) == 0 && i <= s.limit {
			s.Raw = text[:i]
		} else if room := s.limit - len(kept); i > room {
			kept, s.TooLong = append(kept, text[:room]...), true
		} else {
			kept = append(kept, text[:i]...)
		}
	}
	if len(kept) > 0 {
		s.Raw, s.kept = kept, kept
	}
	return len(s.Raw) > 0 || s.fail("a value is missing")
}

// nesting is the position of a Scanner within a value, from one block to the next.
type nesting struct {
	// depth is the number of brackets that are open: they are the first ones of Scanner.open.
	// Invariant: 0 <= depth <= mostDepth.
	depth   int
	inText  bool // between quotes
	escaped bool // the next byte stands behind a backslash, and ends nothing
	literal bool // a number or a word, which ends in front of a delimiter
}

// pass goes on in a value to its end, or to the end of the text, which is the rest of a block. It
// returns how many bytes of the text belong to the value, and whether it is over; ok is false if a
// bracket does not fit.
func (s *Scanner) pass(text []byte, within *nesting) (i int, over, ok bool) {
	for i < len(text) {
		switch {
		case within.literal:
			i = until(&delimiter, text, i)
			return i, i < len(text), true // the delimiter stays
		case within.escaped:
			within.escaped = false
			if text[i] == '\n' {
				s.line++
			}
			i++
			continue
		case within.inText:
			i = until(&quoted, text, i)
		default:
			i = until(&structure, text, i)
		}
		if i == len(text) {
			break
		}
		c := text[i]
		i++
		switch {
		case c == '\n':
			s.line++
		case c == '\\':
			within.escaped = true
		case c == '"':
			within.inText = !within.inText
			over = !within.inText && within.depth == 0
		case c == '{' || c == '[':
			if within.depth == mostDepth {
				return i, false, s.fail("it is nested more than %d deep", mostDepth)
			}
			s.open[within.depth] = c
			within.depth++
		default:
			if within.depth == 0 || s.open[within.depth-1]+2 != c { // ] and } are two behind [ and {
				return i, false, s.fail("%c closes nothing", c)
			}
			within.depth--
			over = within.depth == 0
		}
		if over {
			return i, true, true
		}
	}
	return i, false, true
}

// simple returns the offset behind the value that begins here, if that is a word, a number, or a
// text without escapes and line ends, and ends in this block; otherwise 0. Most values of a log
// are such.
func (s *Scanner) simple(first byte) int {
	text := s.buf[:s.end]
	switch first {
	case '{', '[':
	case '"':
		if i := until(&quoted, text, s.pos+1); i < len(text) && text[i] == '"' {
			return i + 1
		}
	default:
		if i := until(&delimiter, text, s.pos); i > s.pos && (i < len(text) || s.in == nil) {
			return i
		}
	}
	return 0
}

// Text returns what a text holds, without its quotes; false if raw is no text. Without escapes
// nothing is copied.
func Text(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	if in := raw[1 : len(raw)-1]; bytes.IndexByte(in, '\\') < 0 {
		return in, true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return []byte(s), err == nil
}
