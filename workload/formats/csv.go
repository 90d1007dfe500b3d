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

// CSV is the format of plain CSV. It writes a form of its own, in which nothing that a log tells is
// lost, and reads that form and anybody's tables, of which one says what their columns are.
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
	// Columns tells for a role, one of CSVRoles, which column has it: by its name in the heading
	// (in any case if no name is the same), or by its number from 1. A column whose heading is the
	// name of a role has it without being told, unless another column was given it. Columns without
	// a role are kept beyond SWF, named as in the heading, in lower case and with _ for what is no
	// letter or digit.
	Columns map[string]string
	// Separator stands between cells. 0 means, of the characters , ; tab and |, the one that is
	// most frequent in the first line; for Write it means a comma.
	Separator byte
	// NoHeading says that the first line is a record already. Columns are then told by number.
	NoHeading bool
	// Times is the length of the unit 1 in instants that are numbers, such as des.Second/1000 for
	// milliseconds since 1970; Durations is the length of 1 in durations that are numbers. 0 means
	// a second.
	Times, Durations des.Time
	// Zone is the time zone of dates that do not tell theirs; UTC if nil.
	Zone *time.Location
}

// CSVRoles returns the roles that columns can have: the fields of SWF by their names
// (workload.FieldNames), "start" and "end", the instants at which a job started and ended, and
// "procs", requested processors.
func CSVRoles() []string {
	return append(slices.Clone(workload.FieldNames[:]), "start", "end", "procs")
}

// csvField is the table.Field.SWF that a role stands for, or 0 if it is none. "procs" is field 8, as
// "requested" is, so that not both can be given.
func csvField(role string) int {
	if role == "procs" {
		return 8
	}
	return slices.Index(CSVRoles(), role) + 1 // start and end stand behind 18
}

// Name is "csv".
func (CSV) Name() string { return "csv" }

// Endings returns ".csv" and, for tables with tabs, ".tsv".
func (CSV) Endings() []string { return []string{".csv", ".tsv"} }

// Is knows what Write has written, and headings that begin with all names of
// workload.FieldNames. The CSV of other programs (sacct, Batsim, files of jobs) begins otherwise, and
// anybody's table is taken for CSV only if a person says so.
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
	l, err := f.begin(in, h)
	if err != nil || l.Form.Plain {
		return h, err
	}
	kinds, err := l.SurveyLoose(in, h)
	if err != nil {
		return nil, err
	}
	all := h.Columns
	h.Columns = nil
	// kinds and all count the fields that become columns, as RecordColumns does.
	for i, field := range slices.DeleteFunc(slices.Clone(l.Fields), func(f table.Field) bool { return f.As == "" }) {
		if field.SWF > 0 && kinds.Whole(i) {
			continue // numbers of jobs and states are held by their fields
		}
		all[i].Text = kinds.Text(i)
		h.Columns = append(h.Columns, all[i])
	}
	return h, nil
}

// Read begins a reading. Which columns there are was decided by the survey: a column of job numbers
// or states that are all whole numbers is a field of SWF alone.
func (f CSV) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	l, err := f.begin(in, &workload.Header{})
	if err != nil {
		return nil, err
	}
	for i := range l.Fields {
		name := &l.Fields[i].As
		if !slices.ContainsFunc(h.Columns, func(of workload.Column) bool { return of.Name == *name }) {
			*name = ""
		}
	}
	return l.Rows(in, h)
}

// begin reads comments and heading, into a header, and says what the columns are: those of our own
// form if its first line says so, its heading agrees and nobody has said otherwise, or else those of
// anybody's table.
func (f CSV) begin(in *workload.Input, h *workload.Header) (*table.Columns, error) {
	t, err := table.Open(in)
	if err != nil {
		return nil, err
	}
	ours := t.Comments(h)
	l := &table.Columns{Form: &table.Form{Separator: f.Separator, Quotes: true, Heading: !f.NoHeading}, Over: t.Rows, Zone: f.Zone}
	names, err := t.Heading(l.Form)
	if err != nil {
		return nil, err
	}
	if ours && len(f.Columns) == 0 && !f.NoHeading && slices.Equal(names, headings(h.Columns)) {
		own := csvLayout(h.Columns)
		own.Form.Separator, own.Over = l.Form.Separator, t.Rows
		return own, nil
	}
	l.Form.Words = []string{"NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "-", "Unknown", "unknown"}
	if err := f.mapped(l, names); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	h.Columns = l.RecordColumns()
	return l, nil
}

// csvLayout is the layout of our own form: the 18 fields of SWF, and columns beyond them.
func csvLayout(columns []workload.Column) *table.Columns {
	l := &table.Columns{Form: &table.Form{Separator: ',', Quotes: true, Heading: true, Plain: true, Least: len(workload.FieldNames)}}
	for i, name := range workload.FieldNames {
		l.Fields = append(l.Fields, table.Field{Name: name, SWF: i + 1, Is: table.Plain})
	}
	for _, c := range columns {
		field := table.Field{Name: c.Name, Unit: c.Unit, Is: table.Figure}
		if c.Text {
			field.Is = table.Word
		}
		l.Fields = append(l.Fields, field)
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

// giveRoles gives the columns of anybody's table their roles: first those that Columns tells, then
// those that the heading tells. A log needs a submission, or at least a start in its place.
func (f CSV) giveRoles(l *table.Columns, names []string) error {
	l.Fields = make([]table.Field, len(names))
	taken := map[int]bool{}    // the fields of SWF that have a column
	byHeading := map[int]int{} // of those the column that has the field by its heading alone
	give := func(i int, role string) {
		c := &l.Fields[i]
		c.SWF, c.Is = csvField(role), table.Loose
		taken[c.SWF] = true
		if c.Counts = f.Durations; c.SWF == 2 || c.SWF == table.Start || c.SWF == table.End {
			c.Counts = f.Times
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
		case l.Fields[i].SWF > 0 || taken[csvField(role)]:
			return fmt.Errorf("%s is to be column %q, but one of them has been given away already", role, of)
		}
		give(i, role)
	}
	for i, name := range names {
		role := strings.ToLower(name)
		if f.NoHeading || l.Fields[i].SWF > 0 || !slices.Contains(CSVRoles(), role) {
			continue
		}
		if first, twice := byHeading[csvField(role)]; twice {
			return fmt.Errorf("columns %d and %d are called %q and %q: say which of them is %s, as in --from csv:%s=%d", first+1, i+1, names[first], name, role, role, first+1)
		}
		if !taken[csvField(role)] {
			give(i, role)
			byHeading[csvField(role)] = i
		}
	}
	if !taken[2] && !taken[table.Start] {
		return fmt.Errorf("no column is known to tell when jobs were submitted: say which one is, as in --from csv:submit=COLUMN; there are %s", strings.Join(names, ", "))
	}
	return nil
}

// mapped says what the columns of anybody's table are: those without a role become columns beyond SWF.
func (f CSV) mapped(l *table.Columns, names []string) error {
	if err := f.giveRoles(l, names); err != nil {
		return err
	}
	var columns []workload.Column // so far
	for i := range l.Fields {
		c := &l.Fields[i]
		if c.Name = names[i]; f.NoHeading {
			c.Name = "column " + strconv.Itoa(i+1)
		}
		if c.SWF == 0 {
			c.Is = table.Word
		}
		// Numbers of jobs and states may be text (job 17_4, state TIMEOUT), of which the field keeps
		// too little: it is a column, too, unless the survey finds whole numbers alone.
		if c.SWF == 0 || c.SWF == 1 || c.SWF == 11 {
			c.As = columnName(c.Name, columns)
			columns = append(columns, workload.Column{Name: c.As})
		}
	}
	// A line of one cell is a remark or has another separator. A line that ends before the last column
	// with a role is cut off; other columns may be missing.
	l.Form.Least = min(2, len(l.Fields))
	for i, c := range l.Fields {
		if c.SWF > 0 {
			l.Form.Least = max(l.Form.Least, i+1)
		}
	}
	return nil
}

// find is the place, from 0, of the column of that name or, if no column has it, of that number.
func (f CSV) find(names []string, of string) (int, error) {
	if !f.NoHeading {
		for _, same := range []func(string) bool{
			func(name string) bool { return name == of },
			func(name string) bool { return strings.EqualFold(name, of) },
		} {
			i := slices.IndexFunc(names, same)
			if i < 0 {
				continue
			}
			if k := slices.IndexFunc(names[i+1:], same); k >= 0 {
				return 0, fmt.Errorf("columns %d and %d have that name: give the number of one of them", i+1, i+k+2)
			}
			return i, nil
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

// columnName makes of a heading the name of a column that differs from those there are: "GPU model"
// becomes gpu_model, and gpu_model_2 if there is one already.
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
		l.Form.Separator = f.Separator
	}
	return l.Write(w, h, table.Ours+", 1\n", table.All)
}
