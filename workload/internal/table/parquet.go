package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
)

// This file is the Source of tables in Parquet, whose columns are of types.

// OpenParquet opens the table of an input.
func OpenParquet(in *workload.Input) (*parquetfile.Columnar, error) {
	stored, size, err := in.Stored()
	if err != nil {
		return nil, err
	}
	f, err := parquetfile.Open(stored, size)
	if err != nil {
		return nil, fmt.Errorf("%s: reading it as Parquet: %w", in.Name(), err)
	}
	return f, nil
}

// LooksParquet opens the table where the input looks like one, or returns nil.
func LooksParquet(in *workload.Input) *parquetfile.Columnar {
	if !strings.HasPrefix(string(in.Head()), parquetfile.Magic) {
		return nil
	}
	f, err := OpenParquet(in)
	if err != nil {
		return nil
	}
	return f
}

// Is reports whether an input is a table of Parquet with all columns that are Needed.
func (l *Columns) Is(in *workload.Input) bool {
	f := LooksParquet(in)
	return f != nil && l.missing(f) == ""
}

// missing is the name of the first Needed column that a file lacks, or "".
func (l *Columns) missing(f *parquetfile.Columnar) string {
	for _, field := range l.Fields {
		if field.Needed && f.Find(field.Name) < 0 {
			return field.Name
		}
	}
	return ""
}

// fits reports whether values of a column can be taken as that type.
func (t Type) fits(c *parquetfile.Column) bool {
	number := c.Kind == parquetfile.Whole || c.Kind == parquetfile.Number
	switch t {
	case Number, Share, Percent:
		return !c.List && number
	case Instant:
		return !c.List && (c.Kind == parquetfile.Instant || c.Kind == parquetfile.Text)
	case Mean:
		return c.List && number
	}
	return c.Kind != parquetfile.Other && (!c.List || c.Kind != parquetfile.Number)
}

// columnar is the Source of a table of Parquet of which some columns are read. Columns that are not
// read are not unpacked: a survey of a large table takes a fraction of a reading.
type columnar struct {
	*parquetfile.Rows
	f     *parquetfile.Columnar
	name  string // of the input
	entry Entry
	read  []int // of each column of the file, its place among those that are read, or -1
}

// parquet opens the table of an input and reads the columns that it has of the fields that are
// wanted. A column of a type that cannot be taken as its field's is an error: the table is another.
func (l *Columns) parquet(in *workload.Input, wanted func(f *Field) bool) (Source, error) {
	f, err := OpenParquet(in)
	if err != nil {
		return nil, err
	}
	if name := l.missing(f); name != "" {
		return nil, fmt.Errorf("%s: it has no column %s, which these tables have", in.Name(), name)
	}
	p := &columnar{f: f, name: in.Name(), read: slices.Repeat([]int{-1}, len(f.Columns))}
	var read []int
	for i := range l.Fields {
		field := &l.Fields[i]
		at := f.Find(field.Name)
		if at < 0 || !wanted(field) {
			continue
		}
		if !field.Is.fits(&f.Columns[at]) {
			return nil, fmt.Errorf("%s: its column %s does not hold %v", in.Name(), field.Name, field.Is)
		}
		p.read[at], read = len(read), append(read, at)
	}
	p.Rows = f.Read(read...)
	return p, nil
}

// Columns are the names of all columns of the file, those that are not read among them.
func (p *columnar) Columns() (names []string) {
	for _, c := range p.f.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Next goes to the next row. No single row of a file of Parquet can be damaged.
func (p *columnar) Next(t *Rows) bool {
	if !p.Rows.Next() {
		return false
	}
	t.Tally.Line()
	return true
}

func (p *columnar) Err() error {
	if err := p.Rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// Entry is the value of the row in a column. Mean is the sum of a list over its length; other lists are
// text.
func (p *columnar) Entry(at int, is Type) *Entry {
	v, c, e := p.Column(p.read[at]), &p.f.Columns[at], &p.entry
	*e = Entry{}
	switch {
	case !v.Known():
	case is == Mean:
		e.Kind, e.number = parquetfile.Number, v.Number()/float64(v.Count())
	case c.Kind == parquetfile.Text || c.List:
		e.Kind, e.Text = parquetfile.Text, v.Text()
	default:
		e.Kind, e.whole, e.number, e.local = c.Kind, v.Whole(), v.Number(), c.Local
	}
	return e
}
