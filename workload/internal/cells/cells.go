// Package cells reads tables of text without a heading: a row a line, commas between cells,
// columns that are known by their places. No row takes an allocation.
//
//	t := cells.New(in, text, account, "job_name", "task_name", "inst_num")
//	for t.Next() {
//		instances := t.Whole(2)
//		if t.Wrong() {   // the row is counted as damaged
//			continue
//		}
//	}
//	err := t.Err()
package cells

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/floats"
	"github.com/gridslot/gridslot/workload/internal/lines"
	"github.com/gridslot/gridslot/workload/internal/texts"
)

// Table is the rows of a table, one at a time.
type Table struct {
	Account *workload.Account

	columns []string
	lines   *lines.Scanner
	cells   [][]byte
	buf     []byte
	words   texts.Kept
	wrong   bool
	err     error
}

// New reads a table with those columns. A first line that names the first of them is a
// heading all the same.
func New(text io.Reader, account *workload.Account, columns ...string) *Table {
	return &Table{Account: account, columns: columns, lines: lines.New(text), cells: make([][]byte, 0, 32)}
}

// Next goes to the next row and reports whether there is one.
func (t *Table) Next() bool {
	for t.err == nil && t.lines.Next() {
		line := t.lines.Text()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t.cells, _ = CutQuoted(t.cells[:0], line, ',', &t.buf)
		if t.lines.Number() == 1 && string(t.cells[0]) == t.columns[0] {
			continue
		}
		t.Account.Line()
		t.wrong = false
		switch {
		case t.lines.TooLong():
			t.damage("", workload.LineTooLong, line, "a row")
		case len(t.cells) < len(t.columns):
			t.damage("", workload.TooFewFields, line, fmt.Sprintf("%d cells", len(t.columns)))
		default:
			if len(t.cells) > len(t.columns) {
				t.Account.Add(t.Line(), "", workload.ExtraFields, line)
			}
			return true
		}
	}
	if t.err == nil {
		if t.err = t.Account.Ended(); t.lines.Err() != nil {
			t.err = fmt.Errorf("%s: %w", t.Account.Name, t.lines.Err())
		}
	}
	return false
}

// Line is the number of the row's line, from 1.
func (t *Table) Line() int64 { return t.lines.Number() }

// Err is what ended the reading, or nil.
func (t *Table) Err() error { return t.err }

// Wrong reports whether a cell of the row could not be read.
func (t *Table) Wrong() bool { return t.wrong }

// Damage says that the row is no record, because of a cell; the first reason counts.
func (t *Table) Damage(i int, why workload.Reason, want string) {
	t.damage(t.columns[i], why, t.cells[i], want)
}

func (t *Table) damage(column string, why workload.Reason, text []byte, want string) {
	if t.wrong {
		return
	}
	t.wrong = true
	t.err = t.Account.Damage(t.Line(), column, why, text, want)
}

// Text is a cell as it stands, valid until the next row.
func (t *Table) Text(i int) []byte { return t.cells[i] }

// Word is a cell that may stand in many rows.
func (t *Table) Word(i int) string { return t.words.Of(t.cells[i]) }

// Number is a finite number, or NaN where the cell is empty.
func (t *Table) Number(i int) float64 {
	cell := t.cells[i]
	if len(cell) == 0 {
		return math.NaN()
	}
	x, fault := number.Float(cell)
	if fault != number.Sound {
		t.Damage(i, workload.NotANumber, "a number")
		return math.NaN()
	}
	return x
}

// Share is a number of 0 or more, or NaN where there is none, a negative one among them.
func (t *Table) Share(i int) float64 {
	if x := t.Number(i); x >= 0 {
		return x
	}
	return math.NaN()
}

// Integer is a whole number of 64 bits; ok is false where the cell is empty.
func (t *Table) Integer(i int) (n int64, ok bool) {
	cell := t.cells[i]
	if len(cell) == 0 {
		return 0, false
	}
	n, ok = number.Integer(cell)
	if !ok {
		t.Damage(i, workload.NotANumber, "a whole number")
	}
	return n, ok
}

// Whole is a number of 0 or more without a fraction ("3" or "3.0"), or Unknown where there is
// none, a negative one among them.
func (t *Table) Whole(i int) int64 {
	n, why, want := floats.Whole(t.Number(i))
	if want != "" {
		t.Damage(i, why, want)
	}
	return n
}

// Seconds is a time in seconds, or UnknownTime where there is none, a negative one among
// them.
func (t *Table) Seconds(i int) des.Time {
	at, why, want := floats.Seconds(t.Number(i))
	if want != "" {
		t.Damage(i, why, want)
	}
	return at
}
