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
	for _, row := range r.Rows {
		for _, c := range row {
			if !known[c.Name] {
				known[c.Name] = true
				met = append(met, c.Name)
			}
		}
	}
	first := slices.DeleteFunc(slices.Clone(r.columns), func(name string) bool { return !known[name] })
	return append(first, slices.DeleteFunc(met, func(name string) bool { return slices.Contains(first, name) })...)
}

// WriteCSV writes a row for each unit that has a result, in the order of the plan:
// its parameters, its seed, its columns.
func (r *Results) WriteCSV(to io.Writer) error {
	columns := r.Columns()
	w := csv.NewWriter(to)
	_ = w.Write(slices.Concat(r.Plan.Names, []string{"seed"}, columns)) // Error tells
	for i, row := range r.Rows {
		if row == nil {
			continue
		}
		line := append(r.Plan.Units[i].values(), strconv.FormatUint(r.Plan.Units[i].Seed, 10))
		for _, name := range columns {
			line = append(line, row.Value(name))
		}
		_ = w.Write(line) // likewise
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
