package scan

import (
	"bytes"
	"fmt"
	"io"
)

// This file reads text a line at a time, without an allocation a line, and without more memory than its
// longest line may take.

// LongestLine is the longest line that is kept, in bytes.
const LongestLine = 256 << 10

// Lines finds lines. The zero value is not usable; see NewLines.
type Lines struct {
	in      io.Reader
	buf     []byte // LongestLine bytes; invariant: 0 <= pos <= end <= len(buf)
	pos     int    // where the next line begins in buf
	end     int    // where what has been read ends in buf
	line    []byte // the present line, without its end; part of buf, unless it is too long
	number  int64  // of it, from 1
	tooLong bool   // line is the beginning of a longer one
	cr      bool   // a carriage return stood before its end
	readErr error  // what ended the input, io.EOF included
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{in: r, buf: make([]byte, LongestLine)} }

// Next finds the next line and reports whether there is one.
func (s *Lines) Next() bool {
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
		// No line end in what is there: move it to the front and read on behind it, from where the
		// search goes on.
		from -= s.pos
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
		s.fill()
	}
}

// take makes a line of what lies before end; next is where the one behind it begins.
func (s *Lines) take(end, next int) {
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
func (s *Lines) skip() {
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

// idleReads is the number of times in a row that a source may return nothing before it is given up.
const idleReads = 100

// fill reads something behind end, or notes why there is nothing.
func (s *Lines) fill() {
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
func (s *Lines) Text() []byte { return s.line }

// Return reports whether a carriage return stood before the line's end.
func (s *Lines) Return() bool { return s.cr }

// TooLong reports whether the line was longer than LongestLine.
func (s *Lines) TooLong() bool { return s.tooLong }

// Number is the line's, from 1.
func (s *Lines) Number() int64 { return s.number }

// Err returns the error that ended the reading too early, or nil.
func (s *Lines) Err() error {
	if s.readErr == nil || s.readErr == io.EOF {
		return nil
	}
	return fmt.Errorf("after line %d: %w", s.number, s.readErr)
}
