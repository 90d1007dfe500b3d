package table

import (
	"bytes"
	"fmt"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file is the Source of tables of text without a heading: a row a line, commas between cells,
// columns in an order that is known. A first line that names the first column is a heading all the
// same. No row takes an allocation.

// lines is such a table.
type lines struct {
	*scan.Lines
	name    string // of the input
	columns []string
	cells   [][]byte
	buf     []byte
	entry   Entry
}

// CommaRows opens such tables with those columns.
func CommaRows(columns ...string) func(in *workload.Input) (Source, error) {
	return func(in *workload.Input) (Source, error) {
		text, err := in.Text()
		if err != nil {
			return nil, err
		}
		return &lines{Lines: scan.NewLines(text), name: in.Name(), columns: columns, cells: make([][]byte, 0, 32), entry: Entry{Kind: parquetfile.Text}}, nil
	}
}

func (s *lines) Columns() []string { return s.columns }

func (s *lines) Err() error {
	if err := s.Lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

func (s *lines) Next(t *Rows) bool {
	for s.Lines.Next() {
		line := s.Lines.Text()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		s.cells, _ = scan.CutQuoted(s.cells[:0], line, ',', &s.buf)
		if s.Number() == 1 && string(s.cells[0]) == s.columns[0] {
			continue
		}
		t.line = s.Number()
		t.Account.Line()
		switch n := len(s.columns); {
		case s.TooLong():
			t.DamageRow("", workload.LineTooLong, line, "a row")
		case len(s.cells) < n:
			t.DamageRow("", workload.TooFewFields, line, fmt.Sprintf("%d cells", n))
		case len(s.cells) > n:
			t.Account.Add(t.line, "", workload.ExtraFields, line)
		}
		return true
	}
	return false
}

func (s *lines) Entry(at int, _ Type) *Entry {
	if s.entry.Bytes = s.cells[at]; len(s.entry.Bytes) == 0 {
		return &noEntry
	}
	return &s.entry
}
