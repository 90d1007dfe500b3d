package metrics

import "io"

// flushAt is how many bytes are gathered before they are written.
const flushAt = 1 << 16

// text is the text of a file, gathered before it is written.
type text struct {
	out io.Writer
	buf []byte
	err error // the first failure; nothing is written after it
}

// put takes b, which is buf with something appended, and writes it where it is long enough.
func (t *text) put(b []byte) {
	if t.buf = b; len(b) >= flushAt {
		_ = t.flush() // the error stays
	}
}

// flush writes what has been gathered, and returns the first failure so far.
func (t *text) flush() error {
	if t.err == nil {
		_, t.err = t.out.Write(t.buf)
	}
	t.buf = t.buf[:0]
	return t.err
}
