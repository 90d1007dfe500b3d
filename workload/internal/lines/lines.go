// Package lines reads text a line at a time, without an allocation a line, and
// without more memory than its longest line may take.
package lines

import (
	"bytes"
	"fmt"
	"io"
)

// Longest is the longest line that is kept, in bytes.
const Longest = 256 << 10

// Scanner finds lines. The zero value is not usable; see New.
type Scanner struct {
	in      io.Reader
	buf     []byte
	pos     int // of the next line
	end     int // of what has been read
	line    []byte
	number  int64
	tooLong bool
	cr      bool
	readErr error
}

// New reads from r.
func New(r io.Reader) *Scanner { return &Scanner{in: r, buf: make([]byte, Longest)} }

// Next finds the next line and reports whether there is one.
func (s *Scanner) Next() bool {
	for from := s.pos; ; {
		if i := bytes.IndexByte(s.buf[from:s.end], '\n'); i >= 0 {
			s.take(from+i, from+i+1)
			return true
		}
		from = s.end
		switch {
		case s.readErr != nil && s.pos == s.end:
			return false
		case s.readErr != nil: // the last line lacks its line end
			s.take(s.end, s.end)
			return true
		case s.pos == 0 && s.end == len(s.buf):
			s.skip()
			return true
		}
		from -= s.pos
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
		s.fill()
	}
}

// take makes a line of what lies before end; next is where the one behind it begins.
func (s *Scanner) take(end, next int) {
	s.number++
	s.tooLong = false
	s.line = s.buf[s.pos:end]
	if s.cr = end > s.pos && s.buf[end-1] == '\r'; s.cr {
		s.line = s.line[:len(s.line)-1]
	}
	s.pos = next
}

// skip passes over the rest of a line that fills the whole buffer, of which the
// beginning is kept.
func (s *Scanner) skip() {
	s.number++
	s.tooLong, s.cr = true, false
	s.line = append([]byte(nil), s.buf[:80]...)
	for s.readErr == nil {
		s.pos, s.end = 0, 0
		s.fill()
		if i := bytes.IndexByte(s.buf[:s.end], '\n'); i >= 0 {
			s.pos = i + 1
			return
		}
	}
	s.pos, s.end = 0, 0
}

// idleReads is how often a source may return nothing before it is given up.
const idleReads = 100

func (s *Scanner) fill() {
	for range idleReads {
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		s.readErr = err
		if n > 0 || err != nil {
			return
		}
	}
	s.readErr = io.ErrNoProgress
}

// Text is the line without its end, valid until the next one is asked for. Of one that
// is too long it is the beginning.
func (s *Scanner) Text() []byte { return s.line }

// Return reports whether a carriage return stood before the line's end.
func (s *Scanner) Return() bool { return s.cr }

// TooLong reports whether the line was longer than Longest.
func (s *Scanner) TooLong() bool { return s.tooLong }

// Number is the line's, from 1.
func (s *Scanner) Number() int64 { return s.number }

// Err is what ended the reading too early, or nil.
func (s *Scanner) Err() error {
	if s.readErr == nil || s.readErr == io.EOF {
		return nil
	}
	return fmt.Errorf("after line %d: %w", s.number, s.readErr)
}
