package jobfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A row a job, below a heading of the columns.

func (r *Reader) beginCSV(in io.Reader) {
	r.rows = csv.NewReader(in)
	r.rows.FieldsPerRecord, r.rows.ReuseRecord, r.rows.TrimLeadingSpace = -1, true, true
	r.next = r.nextCSV
}

func (r *Reader) nextCSV() error {
	if r.header == nil {
		if err := r.readHeader(); err != nil {
			return err
		}
	}
	fields, err := r.readCSV()
	if err != nil {
		return err
	}
	if len(fields) != len(r.header) {
		return fmt.Errorf("it has %d fields, but the first line names %d columns", len(fields), len(r.header))
	}
	for i, c := range r.header {
		r.row[c] = strings.TrimSpace(fields[i])
	}
	return nil
}

func (r *Reader) readCSV() ([]string, error) {
	fields, err := r.rows.Read()
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		r.line = int64(parse.Line)
		return nil, fmt.Errorf("column %d: this is no CSV: %w", parse.Column, parse.Err)
	case err != nil:
		return nil, err
	}
	line, _ := r.rows.FieldPos(0)
	r.line = int64(line)
	return fields, nil
}

func (r *Reader) readHeader() error {
	fields, err := r.readCSV()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("it is empty; its first line must name the columns, at least id,nodes,volume")
	}
	if err != nil {
		return err
	}
	header := []column{}
	fields[0] = strings.TrimPrefix(fields[0], "\ufeff")
	for _, name := range fields {
		c, err := columnOf(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		if slices.Contains(header, c) {
			return fmt.Errorf("there are two columns %q", c)
		}
		header = append(header, c)
	}
	for _, c := range needed {
		if !slices.Contains(header, c) {
			return fmt.Errorf("there is no column %q, which every job needs; the first line is %s", c, strings.Join(fields, ","))
		}
	}
	r.header = header
	return nil
}
