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
	"strconv"

	"github.com/gridslot/gridslot/des"
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
	words   texts.Kept
	wrong   bool
	err     error
}

// New reads a table with those columns. A first line that names the first of them is a
// heading all the same.
func New(text io.Reader, account *workload.Account, columns ...string) *Table {
	return &Table{Account: account, columns: columns, lines: lines.New(text), cells: make([][]byte, 0, 32), words: texts.Kept{}}
}

// Next goes to the next row and reports whether there is one.
func (t *Table) Next() bool {
	for t.err == nil && t.lines.Next() {
		line := t.lines.Text()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t.cells = split(line, t.cells[:0])
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
	x, ok := number(cell)
	if !ok {
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
	n, ok = integer(cell)
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

// split cuts a line at its commas. Cells in quotation marks may have commas within, and
// quotation marks doubled.
func split(line []byte, into [][]byte) [][]byte {
	for {
		if len(line) > 0 && line[0] == '"' {
			cell, rest, more := quoted(line[1:])
			into = append(into, cell)
			if !more {
				return into
			}
			line = rest
			continue
		}
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			return append(into, line)
		}
		into = append(into, line[:i])
		line = line[i+1:]
	}
}

// quoted is a cell up to its closing quotation mark.
func quoted(line []byte) (cell, rest []byte, more bool) {
	for at := 0; ; {
		i := bytes.IndexByte(line[at:], '"')
		if i < 0 {
			return line, nil, false
		}
		end := at + i
		if end+1 < len(line) && line[end+1] == '"' {
			line = append(line[:end:end], line[end+1:]...)
			at = end + 1
			continue
		}
		rest = line[end+1:]
		if i := bytes.IndexByte(rest, ','); i >= 0 {
			return line[:end], rest[i+1:], true
		}
		return line[:end], nil, false
	}
}

// integer reads up to 18 digits with a sign by itself, and leaves others to strconv.
func integer(text []byte) (int64, bool) {
	if len(text) > 18 || text[0] == '-' || text[0] == '+' {
		n, err := strconv.ParseInt(string(text), 10, 64)
		return n, err == nil
	}
	n := int64(0)
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		} else {
			n = n*10 + int64(c)
		}
	}
	return n, true
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// number reads up to 15 digits with a point by itself: both they and the power of ten are
// exact, so that the quotient is rounded once, as it should be. Others are left to strconv.
func number(text []byte) (float64, bool) {
	n, digits, fraction, point := int64(0), 0, 0, false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
			if digits++; point {
				fraction++
			}
		case c == '.' && !point:
			point = true
		default:
			digits = 99
		}
		if digits > 15 {
			x, err := strconv.ParseFloat(string(text), 64)
			return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
		}
	}
	return float64(n) / powers[fraction], digits > 0
}
