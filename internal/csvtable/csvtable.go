// Package csvtable reads small CSV files that people write by hand, and says in
// plain words what is wrong with them: which line, which column, what is wanted.
//
//	t, err := csvtable.Read(file, "id", "price")       it has no column "price"; its first line is id,prise
//	for row := range t.Rows() {
//		id, price := row.Int("id"), row.Number("price")
//		if err := row.Err(); err != nil {              line 3: price: want a number, not "dear"
//			return err
//		}
//	}
package csvtable

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/csvtext"
	"github.com/gridslot/gridslot/internal/number"
)

// Sheet is a file: a heading, and rows below it. Invariant: all rows have as many fields as the
// heading.
type Sheet struct {
	Header []string
	rows   []*Row
}

// Row is a line of a table. A value that cannot be read is 0, or ""; the first such error is Err.
type Row struct {
	// Line is the number of the line in the file, from 1.
	Line   int
	header []string
	fields []string
	err    error
}

// Read reads a table that must have the wanted columns, each once; it may have others. Its errors
// name line and column, and not the file.
func Read(in io.Reader, wanted ...string) (*Sheet, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	t := &Sheet{}
	for {
		fields, err := r.Read()
		var parse *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return t, t.check(wanted)
		case errors.As(err, &parse):
			return nil, fmt.Errorf("line %d, column %d: this is no CSV: %s", parse.Line, parse.Column, csvtext.Wanted(parse))
		case err != nil:
			return nil, err
		}
		line, _ := r.FieldPos(0)
		if t.Header == nil {
			fields[0] = strings.TrimPrefix(fields[0], "\ufeff")
			for i := range fields {
				fields[i] = strings.TrimSpace(fields[i])
			}
			t.Header = fields
			continue
		}
		if len(fields) != len(t.Header) {
			return nil, fmt.Errorf("line %d: it has %d fields, but the first line names %d columns: %s", line, len(fields), len(t.Header), strings.Join(t.Header, ","))
		}
		t.rows = append(t.rows, &Row{Line: line, header: t.Header, fields: fields})
	}
}

// check checks the heading.
func (t *Sheet) check(wanted []string) error {
	if t.Header == nil {
		return fmt.Errorf("it is empty; its first line must name the columns %s", strings.Join(wanted, ","))
	}
	for i, column := range t.Header {
		if slices.Contains(t.Header[:i], column) {
			return fmt.Errorf("it has two columns %q", column)
		}
	}
	for _, column := range wanted {
		if !slices.Contains(t.Header, column) {
			return fmt.Errorf("it has no column %q; its first line is %s", column, strings.Join(t.Header, ","))
		}
	}
	return nil
}

// Len returns the number of rows.
func (t *Sheet) Len() int { return len(t.rows) }

// Rows yields the rows below the heading.
func (t *Sheet) Rows() iter.Seq[*Row] { return slices.Values(t.rows) }

// Text returns the field of a column, without blanks around it; "" if the table has no such
// column.
func (r *Row) Text(column string) string {
	if i := slices.Index(r.header, column); i >= 0 {
		return strings.TrimSpace(r.fields[i])
	}
	return ""
}

// Has reports whether the row has anything in a column.
func (r *Row) Has(column string) bool { return r.Text(column) != "" }

// Number returns a finite number.
func (r *Row) Number(column string) float64 {
	v, fault := number.Float(r.Text(column))
	if fault != number.Sound {
		r.Wrong(column, "a number")
		return 0
	}
	return v
}

// NumberOr is Number, or otherwise if the field is empty or missing.
func (r *Row) NumberOr(column string, otherwise float64) float64 {
	if !r.Has(column) {
		return otherwise
	}
	return r.Number(column)
}

// maxTime bounds every time, in time units: some 31,000 years, as in traces.
const maxTime = 1_000_000_000_000

// Time returns an instant or a length of 0 or more, given in time units.
func (r *Row) Time(column string) des.Time {
	t, fault := number.Time(r.Text(column), maxTime*des.Second)
	if fault != number.Sound || t < 0 {
		r.Wrong(column, fmt.Sprintf("a time of 0 to %d time units", int64(maxTime)))
		return 0
	}
	return t
}

// TimeOr is Time, or otherwise if the field is empty or missing.
func (r *Row) TimeOr(column string, otherwise des.Time) des.Time {
	if !r.Has(column) {
		return otherwise
	}
	return r.Time(column)
}

// Int returns a whole number.
func (r *Row) Int(column string) int {
	v, fault := number.Whole(r.Text(column), math.MaxInt)
	if fault != number.Sound {
		r.Wrong(column, "a whole number")
		return 0
	}
	return int(v)
}

// Wrong notes that a field is not what is wanted.
func (r *Row) Wrong(column, want string) {
	switch text := r.Text(column); {
	case r.err != nil:
	case text == "":
		r.err = fmt.Errorf("line %d: %s: want %s, but the field is empty", r.Line, column, want)
	default:
		r.err = fmt.Errorf("line %d: %s: want %s, not %q", r.Line, column, want, text)
	}
}

// Fail notes err as what is wrong with a field.
func (r *Row) Fail(column string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("line %d: %s: %w", r.Line, column, err)
	}
}

// Err returns the first error of all fields of the row that were asked for.
func (r *Row) Err() error { return r.err }

// At puts the row's line in front of an error.
func (r *Row) At(err error) error { return fmt.Errorf("line %d: %w", r.Line, err) }

// IsNumber returns the number in a field; false if there is none. It notes no error.
func (r *Row) IsNumber(column string) (float64, bool) {
	v, fault := number.Float(r.Text(column))
	return v, fault == number.Sound
}
