package rows

// A file as a value, and the one writer of all files.

import (
	"io"
	"slices"

	"github.com/gridslot/gridslot/internal/blocks"
)

// File is one kind of file whose rows are values of T.
type File[T any] struct {
	// Name is the name of the file, with POLICY in place of the name of the policy.
	Name string
	// when says which runs write the file; "" means all runs that write files.
	when string
	// text says in one sentence what a row is.
	text string
	// notes are paragraphs of Markdown that follow the columns and say how the columns relate to
	// each other.
	notes string
	// Missing is a row in which every value is missing.
	Missing T
	// Columns stand in the order of the file.
	Columns []column[T]
}

// Only returns the file with the columns that it always has, and the columns of these conditions
// (meaning.When).
func (f File[T]) Only(conditions ...string) File[T] {
	f.Columns = slices.DeleteFunc(slices.Clone(f.Columns), func(c column[T]) bool {
		return c.When != "" && !slices.Contains(conditions, c.When)
	})
	return f
}

// With returns the file with another Put of the column with that name, which must exist: for a
// writer that knows the value more exactly than the field of a row has it, or need not copy it.
func (f File[T]) With(name string, put func(b []byte, row *T) []byte) File[T] {
	f.Columns = slices.Clone(f.Columns)
	f.Columns[f.column(name)].Put = put
	return f
}

// column returns the position of the column with that name, -1 if the file has none.
func (f File[T]) column(name string) int {
	return slices.IndexFunc(f.Columns, func(c column[T]) bool { return c.Name == name })
}

// Part returns the file with the columns of one condition alone, and how many columns stand behind
// them. The columns of a condition must stand together.
func (f File[T]) Part(condition string) (part File[T], behind int) {
	part = f
	part.Columns = nil
	for _, c := range f.Columns {
		if c.When == condition {
			part.Columns, behind = append(part.Columns, c), 0
		} else {
			behind++
		}
	}
	return part, behind
}

// Header returns the first line of the file, without its end.
func (f File[T]) Header() string { return string(f.appendHeader(nil)) }

// appendHeader appends what Header returns to b.
func (f File[T]) appendHeader(b []byte) []byte {
	for i, c := range f.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, c.Name...)
	}
	return b
}

// Append appends the text of a row to b, without the end of the line.
func (f *File[T]) Append(b []byte, row *T) []byte {
	for i := range f.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.Columns[i].Put(b, row)
	}
	return b
}

// blockSize is the number of bytes that a Writer gathers before it writes them.
const blockSize = 1 << 16

// Writer writes rows of one file. It gathers them in memory, and writes nothing more after the
// first failure, which Flush returns.
type Writer[T any] struct {
	// puts are the Puts of the columns, in their order: a row is one pass over them.
	puts []func(b []byte, row *T) []byte
	text blocks.Writer
}

// NewWriter returns a writer of the file to out, which begins with the first line.
func NewWriter[T any](out io.Writer, f File[T]) *Writer[T] {
	w := &Writer[T]{text: blocks.NewWriter(out, blockSize)}
	w.text.Text = append(f.appendHeader(w.text.Text), '\n')
	w.Use(f)
	return w
}

// Use gives rows from now on the columns of f, whatever the first line says.
func (w *Writer[T]) Use(f File[T]) {
	w.puts = w.puts[:0]
	for _, c := range f.Columns {
		w.puts = append(w.puts, c.Put)
	}
}

// Write writes one row. A failure stays until Flush. A caller with many rows uses one T for all of
// them, because each T that is given to Write is an allocation.
func (w *Writer[T]) Write(row *T) {
	b := w.text.Text
	for _, put := range w.puts {
		b = append(put(b, row), ',')
	}
	b[len(b)-1] = '\n' // in place of the last comma
	w.text.Text = b
	_ = w.text.Spill() // Flush returns it again
}

// Flush writes the rows that are still held, and returns the first error of out so far.
func (w *Writer[T]) Flush() error { return w.text.Flush() }

// WriteAll writes a whole file to out.
func WriteAll[T any](out io.Writer, f File[T], all []T) error {
	w := NewWriter(out, f)
	for i := range all {
		w.Write(&all[i])
	}
	return w.Flush()
}
