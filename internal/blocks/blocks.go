// Package blocks gathers text in memory, and writes it in large blocks.
package blocks

import "io"

// Writer gathers text in Text, to which the caller appends. The first error ends the writing: what
// comes after it is dropped, and every call returns the same error.
type Writer struct {
	// Text is the text that has not been written yet.
	Text []byte

	out  io.Writer
	size int
	err  error
}

// NewWriter returns a writer to out of blocks of size bytes or more. Text has room for a quarter
// more than that before it has to grow.
func NewWriter(out io.Writer, size int) Writer {
	return Writer{Text: make([]byte, 0, size+size/4), out: out, size: size}
}

// Spill writes the text if it is a block. It returns the first error.
func (w *Writer) Spill() error {
	if len(w.Text) >= w.size {
		return w.Flush()
	}
	return w.err
}

// Flush writes the text, whatever its size. It returns the first error.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.Text) > 0 {
		_, w.err = w.out.Write(w.Text)
	}
	w.Text = w.Text[:0]
	return w.err
}
