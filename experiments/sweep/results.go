package sweep

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
)

// Results are what became of the units of a plan.
type Results struct {
	Plan *Plan
	// Rows are those of the units, by their index; nil where there is none.
	Rows []Row
	// Failures are those of units, by their index.
	Failures map[int]*Failure

	columns []string // that come first
}

func newResults(p *Plan) *Results {
	return &Results{Plan: p, Rows: make([]Row, len(p.Units)), Failures: map[int]*Failure{}}
}

// take takes an outcome in.
func (r *Results) take(u Unit, o Outcome) {
	switch {
	case o.Row != nil:
		r.Rows[u.Index] = o.Row
	case o.Failure != nil:
		r.Failures[u.Index] = o.Failure
	}
}

// Missing are the units that have neither a result nor a failure.
func (r *Results) Missing() (missing []Unit) {
	for i, u := range r.Plan.Units {
		if r.Rows[i] == nil && r.Failures[i] == nil {
			missing = append(missing, u)
		}
	}
	return missing
}

// Status is how far a study is.
type Status struct {
	Units, Done, Missing int
	Failures             map[FailureKind]int
}

// Failed is how many units have failed.
func (s Status) Failed() (n int) {
	for _, of := range s.Failures {
		n += of
	}
	return n
}

// Status tells how many units are done.
func (r *Results) Status() Status {
	s := Status{Units: len(r.Plan.Units), Failures: map[FailureKind]int{}}
	for _, f := range r.Failures {
		s.Failures[f.Kind]++
	}
	s.Missing = len(r.Missing())
	s.Done = s.Units - s.Missing - len(r.Failures)
	return s
}

// Columns are those of the rows: the study's own first, then others as they are met.
func (r *Results) Columns() []string {
	var met []string
	known := map[string]bool{}
	var last Row
	for _, row := range r.Rows {
		if sameColumns(row, last) {
			continue
		}
		last = row
		for _, c := range row {
			if !known[c.Name] {
				known[c.Name] = true
				met = append(met, c.Name)
			}
		}
	}
	var columns []string
	for _, name := range r.columns {
		if known[name] {
			columns = append(columns, name)
			known[name] = false
		}
	}
	for _, name := range met {
		if known[name] {
			columns = append(columns, name)
		}
	}
	return columns
}

func sameColumns(a, b Row) bool {
	return slices.EqualFunc(a, b, func(x, y Cell) bool { return x.Name == y.Name })
}

// WriteCSV writes a row for each unit that has a result, in the order of the plan:
// its parameters, its seed, its columns.
func (r *Results) WriteCSV(to io.Writer) error {
	columns := r.Columns()
	w := csv.NewWriter(to)
	if err := w.Write(slices.Concat(r.Plan.Names, []string{"seed"}, columns)); err != nil {
		return err
	}
	place := make(map[string]int, len(columns))
	for i, name := range columns {
		place[name] = len(r.Plan.Names) + 1 + i
	}
	line := make([]string, len(r.Plan.Names)+1+len(columns))
	for i, row := range r.Rows {
		if row == nil {
			continue
		}
		clear(line)
		u := r.Plan.Units[i]
		for k, p := range u.Params {
			line[k] = p.Value
		}
		line[len(u.Params)] = strconv.FormatUint(u.Seed, 10)
		for _, c := range row {
			line[place[c.Name]] = c.Value
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// Value is that of a column, or "" where the row has none of that name.
func (r Row) Value(name string) string {
	for _, c := range r {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}
