package table

import (
	"bytes"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file reads tables of text without a heading: a row a line, commas between cells, columns that
// are known by their places. No row takes an allocation.
//
//	t, err := ReadRows(in, header, "job_name", "task_name", "inst_num")
//	for t.Next() {
//		instances := t.Whole(2)
//		if t.Wrong() {   // the row is counted as damaged
//			continue
//		}
//	}
//	err := t.Err()

// Rows is the rows of a table, one at a time, and what a reader of records keeps that is made of
// them: it makes Rec of a row and hands it to Take.
type Rows struct {
	Account *workload.Account
	Rec     workload.Record

	header  *workload.Header
	columns []string
	lines   *scan.Lines
	cells   [][]byte
	buf     []byte
	words   scan.Kept
	wrong   bool
	err     error
}

// ReadRows reads a table with those columns; a survey does so without a header. A first line that
// names the first of them is a heading all the same.
func ReadRows(in *workload.Input, h *workload.Header, columns ...string) (*Rows, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	account := &workload.Account{Name: in.Name()}
	if h != nil {
		account = workload.NewAccount(in, h)
	}
	return &Rows{Account: account, header: h, columns: columns, lines: scan.NewLines(text), cells: make([][]byte, 0, 32)}, nil
}

// Header is that of the log.
func (t *Rows) Header() *workload.Header { return t.header }

// Record is the record that was made last.
func (t *Rows) Record() *workload.Record { return &t.Rec }

// Report is the account so far.
func (t *Rows) Report() *workload.Report { return t.Account.Report() }

// Take takes Rec, made of the row of a line, and reports whether it is one that a log can have.
func (t *Rows) Take(line int64) (ok bool) {
	ok, t.err = t.Account.Take(line, &t.Rec)
	return ok
}

// Next goes to the next row and reports whether there is one.
func (t *Rows) Next() bool {
	for t.err == nil && t.lines.Next() {
		line := t.lines.Text()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t.cells, _ = scan.CutQuoted(t.cells[:0], line, ',', &t.buf)
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
func (t *Rows) Line() int64 { return t.lines.Number() }

// Err is what ended the reading, or nil.
func (t *Rows) Err() error { return t.err }

// Wrong reports whether a cell of the row could not be read.
func (t *Rows) Wrong() bool { return t.wrong }

// Damage says that the row is no record, because of a cell; the first reason counts.
func (t *Rows) Damage(i int, why workload.Reason, want string) {
	t.damage(t.columns[i], why, t.cells[i], want)
}

func (t *Rows) damage(column string, why workload.Reason, text []byte, want string) {
	if t.wrong {
		return
	}
	t.wrong = true
	t.err = t.Account.Damage(t.Line(), column, why, text, want)
}

// Text is a cell as it stands, valid until the next row.
func (t *Rows) Text(i int) []byte { return t.cells[i] }

// Word is a cell that may stand in many rows.
func (t *Rows) Word(i int) string { return t.words.Of(t.cells[i]) }

// Number is a finite number, or NaN where the cell is empty.
func (t *Rows) Number(i int) float64 {
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
func (t *Rows) Share(i int) float64 {
	if x := t.Number(i); x >= 0 {
		return x
	}
	return math.NaN()
}

// Integer is a whole number of 64 bits; ok is false where the cell is empty.
func (t *Rows) Integer(i int) (n int64, ok bool) {
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
func (t *Rows) Whole(i int) int64 {
	n, why, want := wholeOf(t.Number(i))
	if want != "" {
		t.Damage(i, why, want)
	}
	return n
}

// Seconds is a time in seconds, or UnknownTime where there is none, a negative one among
// them.
func (t *Rows) Seconds(i int) des.Time {
	at, why, want := secondsOf(t.Number(i))
	if want != "" {
		t.Damage(i, why, want)
	}
	return at
}
