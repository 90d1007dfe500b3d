package batsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gridslot/gridslot/internal/jsontext"
)

// This file reads JSON a value at a time, in bounded memory: a decoder of the standard
// library would keep a string of any length.

// longest is how long a job or a profile may be, and deepest how deep it may be nested.
const (
	longest = 256 << 10
	deepest = 512
)

// stream is JSON that is read from front to back.
type stream struct {
	in   io.Reader
	name string
	buf  []byte
	pos  int
	end  int
	line int64
	err  error

	raw     []byte // the value read last, valid until the next one
	kept    []byte
	open    [deepest]byte // brackets
	at      int64         // the line at which it began
	tooLong bool          // raw is only its beginning
}

func newStream(in io.Reader, name string) *stream {
	return &stream{in: in, name: name, buf: make([]byte, longest), line: 1}
}

func (s *stream) fail(format string, args ...any) bool {
	if s.err == nil {
		s.err = fmt.Errorf("%s:%d: this is no JSON of a workload: %s", s.name, s.line, fmt.Sprintf(format, args...))
	}
	return false
}

// fill reads on, and reports whether there was more.
func (s *stream) fill() bool {
	for idle := 0; s.err == nil && idle < 100; idle++ {
		n, err := s.in.Read(s.buf)
		if s.pos, s.end = 0, n; n > 0 {
			return true
		}
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			s.err = fmt.Errorf("%s: after line %d: %w", s.name, s.line, err)
		}
	}
	if s.err == nil {
		s.err = fmt.Errorf("%s: after line %d: %w", s.name, s.line, io.ErrNoProgress)
	}
	return false
}

// peek is the next byte that is no blank.
func (s *stream) peek() (byte, bool) {
	for s.pos < s.end || s.fill() {
		switch c := s.buf[s.pos]; c {
		case '\n':
			s.line++
		case ' ', '\t', '\r':
		default:
			return c, true
		}
		s.pos++
	}
	return 0, s.fail("it ends too early")
}

// take passes over a byte that must come next.
func (s *stream) take(want byte) bool {
	c, ok := s.peek()
	if !ok || c != want {
		return s.fail("want %c, not %q", want, c)
	}
	s.pos++
	return true
}

// another passes over what stands between elements, and reports whether there is another
// one before end. The first call passes no comma.
func (s *stream) another(first bool, end byte) bool {
	c, ok := s.peek()
	switch {
	case !ok:
		return false
	case c == end:
		s.pos++
		return false
	case first:
		return true
	}
	return s.take(',')
}

// Bytes that mean something: outside of strings within an object or a list, within a string,
// and behind a number or a word.
var structure, quoted, delimiter = jsontext.SetOf("\"{}[]\n"), jsontext.SetOf("\"\\\n"), jsontext.SetOf(",]} \n\r\t:")

// value reads a value into raw, and reports whether it is one.
func (s *stream) value() bool {
	first, ok := s.peek()
	if !ok {
		return false
	}
	s.raw, s.tooLong, s.at = nil, false, s.line
	kept := s.kept[:0] // what stood in buffers before this one
	depth, inString, escaped := 0, false, false
	literal := first != '{' && first != '[' && first != '"'
	for done := false; !done; {
		if s.pos == s.end && !s.fill() {
			return s.fail("it ends within a value")
		}
		text, i := s.buf[s.pos:s.end], 0
		for i < len(text) && !done {
			switch {
			case literal:
				if i = jsontext.Until(&delimiter, text, i); i < len(text) {
					done = true // it stays
				}
				continue
			case escaped:
				escaped = false
				if text[i] == '\n' {
					s.line++
				}
				i++
				continue
			case inString:
				i = jsontext.Until(&quoted, text, i)
			default:
				i = jsontext.Until(&structure, text, i)
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
				escaped = true
			case c == '"':
				inString = !inString
				done = !inString && depth == 0
			case c == '{' || c == '[':
				if depth == deepest {
					return s.fail("it is nested more than %d deep", deepest)
				}
				s.open[depth] = c
				depth++
			default:
				if depth == 0 || s.open[depth-1]+2 != c { // ] and } are two behind [ and {
					return s.fail("%c closes nothing", c)
				}
				depth--
				done = depth == 0
			}
		}
		s.pos += i
		if done && len(kept) == 0 {
			s.raw = text[:i]
		} else if room := longest - len(kept); i > room {
			kept, s.tooLong = append(kept, text[:room]...), true
		} else {
			kept = append(kept, text[:i]...)
		}
	}
	if len(kept) > 0 {
		s.raw, s.kept = kept, kept
	}
	return len(s.raw) > 0 || s.fail("a value is missing")
}

// key reads the name of a member and the colon behind it.
func (s *stream) key() (string, bool) {
	if !s.value() {
		return "", false
	}
	if s.tooLong || s.raw[0] != '"' {
		return "", s.fail("want a name in quotes, not %.40q", s.raw)
	}
	name, ok := text(s.raw)
	if !ok {
		return "", s.fail("%.40q is no string", s.raw)
	}
	key := string(name)
	return key, s.take(':')
}

// text is what a string holds, without its quotes.
func text(raw []byte) ([]byte, bool) {
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

// member finds the next member of an object from offset at on; ok is false behind the
// last one. The object is one that value has read.
func member(raw []byte, at int) (key, value []byte, next int, ok bool) {
	at = jsontext.Blanks(raw, at)
	if at < len(raw) && (raw[at] == '{' || raw[at] == ',') {
		at = jsontext.Blanks(raw, at+1)
	}
	if at >= len(raw) || raw[at] != '"' {
		return nil, nil, at, false
	}
	end := skip(raw, at)
	if key, ok = text(raw[at:end]); !ok {
		return nil, nil, at, false
	}
	if at = jsontext.Blanks(raw, end); at >= len(raw) || raw[at] != ':' {
		return nil, nil, at, false
	}
	at = jsontext.Blanks(raw, at+1)
	end = skip(raw, at)
	return key, raw[at:end], end, end > at
}

// skip is the offset behind the value at an offset.
func skip(raw []byte, at int) int {
	depth, inString := 0, false
	for i := at; i < len(raw); i++ {
		switch {
		case inString:
			i = jsontext.Until(&quoted, raw, i)
		case depth > 0:
			i = jsontext.Until(&structure, raw, i)
		}
		if i == len(raw) {
			break
		}
		switch c := raw[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
				if depth == 0 {
					return i + 1
				}
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + max(depth+1, 0)
			}
		case depth == 0 && delimiter[c]:
			return i
		}
	}
	return len(raw)
}
