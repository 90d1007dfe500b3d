package formats

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// CSV is plain CSV: a form of its own, in which nothing
// that a log tells is lost, and anybody's tables, of which one says what their columns
// are.
//
//	#! log of gridslot, 1
//	# MaxProcs: 128
//	#! user 3 "alice"
//	#! column "gpus" number ""
//	job,submit,wait,runtime,allocated,...,think_time,gpus
//	1,0,,3600,16,...,,2
//
// Of anybody's table a CSV tells the columns; see Columns.
//
//	formats.CSV{Columns: map[string]string{"submit": "Submitted", "runtime": "Duration", "procs": "CPUs"}}
//
// Its zero value reads what Write has written, and tables whose columns
// have the names of workload.FieldNames, or start, end and procs.
type CSV struct {
	// Columns tells for a name of CSVRoles which column it is: by its name in the heading,
	// or by its number from 1. Columns without a role are kept beyond SWF, named as in the
	// heading, in lower case and with _ for what is no letter or digit.
	Columns map[string]string
	// Separator stands between cells; where 0 the one of , ; tab | that the first line
	// has most of.
	Separator byte
	// NoHeading says that the first line is a record already.
	NoHeading bool
	// Times is what a number counts that is an instant, and Durations what one counts
	// that is a duration; a second where 0.
	Times, Durations des.Time
	// Zone is that of dates that do not tell theirs; UTC where nil.
	Zone *time.Location
}

// CSVRoles are what columns can be: the fields of SWF, the instants at which a job
// started and ended, and requested processors.
func CSVRoles() []string {
	return append(slices.Clone(workload.FieldNames[:]), "start", "end", "procs")
}

// csvField is the field of the table that a role stands for.
func csvField(role string) int {
	if role == "procs" {
		return 8
	}
	return slices.Index(CSVRoles(), role) + 1 // start and end stand behind 18
}

// Name is "csv".
func (CSV) Name() string { return "csv" }

// Endings are those of CSV and of tables with tabs.
func (CSV) Endings() []string { return []string{".csv", ".tsv"} }

// Is knows what Write has written, and headings that begin with all names of
// workload.FieldNames. A file of jobs begins otherwise.
func (CSV) Is(in *workload.Input) bool {
	head := bytes.TrimPrefix(in.Head(), []byte("\ufeff"))
	if bytes.HasPrefix(head, []byte(table.Ours)) {
		return true
	}
	for line := range bytes.Lines(head) {
		if line[0] != '#' && len(bytes.TrimSpace(line)) > 0 {
			rest, ok := bytes.CutPrefix(line, []byte(strings.Join(workload.FieldNames[:], ",")))
			return ok && (len(rest) == 0 || rest[0] == ',' || rest[0] == '\n' || rest[0] == '\r')
		}
	}
	return false
}

// Survey reads the heading, and of tables that are not ours all lines.
func (f CSV) Survey(in *workload.Input) (*workload.Header, error) {
	h := &workload.Header{}
	l, t, err := f.begin(in, h)
	if err != nil || l.Plain {
		return h, err
	}
	kinds, err := table.Survey(in, h, l, t)
	if err != nil {
		return nil, err
	}
	var columns []workload.Column
	for _, c := range l.Cells {
		if c.More == 0 || c.Field > 0 && kinds.Whole(c.More-1) {
			continue // numbers of jobs and states are held by their fields
		}
		column := h.Columns[c.More-1]
		column.Text = kinds.Text(c.More - 1)
		columns = append(columns, column)
	}
	h.Columns = columns
	return h, nil
}

// Read begins a reading.
func (f CSV) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	found := &workload.Header{}
	l, t, err := f.begin(in, found)
	if err != nil {
		return nil, err
	}
	if !l.Plain {
		for i := range l.Cells {
			if c := &l.Cells[i]; c.More > 0 {
				name := found.Columns[c.More-1].Name
				c.More = slices.IndexFunc(h.Columns, func(of workload.Column) bool { return of.Name == name }) + 1
				c.Text = c.More > 0 && h.Columns[c.More-1].Text
			}
		}
	}
	return table.Read(in, h, l, t), nil
}

// begin reads comments and heading, and says what the columns are.
func (f CSV) begin(in *workload.Input, h *workload.Header) (*table.Layout, *table.Log, error) {
	t, err := table.Open(in)
	if err != nil {
		return nil, nil, err
	}
	ours := t.Comments(h)
	l := &table.Layout{Separator: f.Separator, Quotes: true, Heading: !f.NoHeading, Zone: f.Zone}
	names, err := t.Heading(l)
	if err != nil {
		return nil, nil, err
	}
	if ours && len(f.Columns) == 0 && !f.NoHeading && slices.Equal(names, headings(h.Columns)) {
		own := csvLayout(h.Columns)
		own.Separator = l.Separator
		return own, t, nil
	}
	l.Words = []string{"NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "-", "Unknown", "unknown"}
	h.Columns = nil
	if err := f.mapped(l, names, h); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return l, t, nil
}

// csvLayout is that of our own form.
func csvLayout(columns []workload.Column) *table.Layout {
	l := &table.Layout{Separator: ',', Quotes: true, Heading: true, Plain: true, Least: len(workload.FieldNames)}
	for i, name := range workload.FieldNames {
		l.Cells = append(l.Cells, table.Cell{Name: name, Field: i + 1})
	}
	for i, c := range columns {
		l.Cells = append(l.Cells, table.Cell{Name: c.Name, More: i + 1, Text: c.Text})
	}
	return l
}

// headings are the cells of our own heading, as they are read.
func headings(columns []workload.Column) []string {
	names := slices.Clone(workload.FieldNames[:])
	for _, c := range columns {
		names = append(names, strings.TrimSpace(c.Name))
	}
	return names
}

// mapped gives the columns of anybody's table their roles.
func (f CSV) mapped(l *table.Layout, names []string, h *workload.Header) error {
	l.Cells = make([]table.Cell, len(names))
	taken := map[int]bool{} // fields
	give := func(i int, role string) {
		c := &l.Cells[i]
		c.Field = csvField(role)
		taken[c.Field] = true
		if c.Unit = f.Durations; c.Field == 2 || c.Field == table.Start || c.Field == table.End {
			c.Unit = f.Times
		}
	}
	for _, role := range CSVRoles() {
		of, given := f.Columns[role]
		if !given {
			continue
		}
		i, err := f.find(names, of)
		switch {
		case err != nil:
			return fmt.Errorf("%s is to be column %q: %w", role, of, err)
		case l.Cells[i].Field > 0 || taken[csvField(role)]:
			return fmt.Errorf("%s is to be column %q, but one of them has been given away already", role, of)
		}
		give(i, role)
	}
	for i, name := range names {
		role := strings.ToLower(name)
		if !f.NoHeading && l.Cells[i].Field == 0 && slices.Contains(CSVRoles(), role) && !taken[csvField(role)] {
			give(i, role)
		}
	}
	if !taken[2] && !taken[table.Start] {
		return fmt.Errorf("no column is known to tell when jobs were submitted: say which one is, as in --from csv:submit=COLUMN; there are %s", strings.Join(names, ", "))
	}
	for i := range l.Cells {
		c := &l.Cells[i]
		if c.Name = names[i]; f.NoHeading {
			c.Name = "column " + strconv.Itoa(i+1)
		}
		if c.Field == 0 || c.Field == 1 || c.Field == 11 { // numbers of jobs and states may be text
			h.Columns = append(h.Columns, workload.Column{Name: columnName(c.Name, h.Columns), Text: true})
			c.More, c.Text = len(h.Columns), true
		}
	}
	l.Least = min(2, len(l.Cells))
	return nil
}

// find is the column of that name, or number.
func (f CSV) find(names []string, of string) (int, error) {
	if !f.NoHeading {
		for _, same := range []func(string) bool{
			func(name string) bool { return name == of },
			func(name string) bool { return strings.EqualFold(name, of) },
		} {
			if i := slices.IndexFunc(names, same); i >= 0 {
				return i, nil
			}
		}
	}
	if n, err := strconv.Atoi(of); err == nil && n >= 1 && n <= len(names) {
		return n - 1, nil
	}
	if f.NoHeading {
		return 0, fmt.Errorf("want a number from 1 to %d", len(names))
	}
	return 0, fmt.Errorf("there is none of that name; there are %s", strings.Join(names, ", "))
}

// columnName is a heading as the name of a column that differs from those there are.
func columnName(heading string, columns []workload.Column) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '_'
	}, heading)
	if name == "" {
		name = "column"
	}
	of := name
	for n := 2; slices.ContainsFunc(columns, func(c workload.Column) bool { return c.Name == of }); n++ {
		of = name + "_" + strconv.Itoa(n)
	}
	return of
}

// Write begins a log in our own form, with commas or the Separator.
func (f CSV) Write(w io.Writer, h *workload.Header) (workload.RecordWriter, error) {
	l := csvLayout(h.Columns)
	if f.Separator != 0 {
		l.Separator = f.Separator
	}
	return l.WriteWith(w, h, h.Columns, table.Ours+", 1\n", table.All)
}
