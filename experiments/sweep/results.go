package sweep

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
)

// Results holds the outcomes of the units of a plan: for each unit a row, a failure, or nothing
// yet.
type Results struct {
	Plan *Plan
	// Rows are the rows of the units, by their index, as many as Plan.Units; nil for a unit without
	// a row.
	Rows []Row
	// Failures are the failures of units, by their index. Invariant: a unit with a failure has no
	// row.
	Failures map[int]*Failure

	// columns are Study.Columns: they come first in the table, where some row has them.
	columns []string
}

// newResults returns results of which every unit is missing.
func newResults(p *Plan) *Results {
	return &Results{Plan: p, Rows: make([]Row, len(p.Units)), Failures: map[int]*Failure{}}
}

// take sets what became of a unit; an outcome of an interrupted unit changes nothing.
func (r *Results) take(u Unit, o Outcome) {
	switch {
	case o.Row != nil:
		r.Rows[u.Index] = o.Row
	case o.Failure != nil:
		r.Failures[u.Index] = o.Failure
	}
}

// Missing returns the units that have neither a result nor a failure, in the order of the plan.
func (r *Results) Missing() (missing []Unit) {
	for i, u := range r.Plan.Units {
		if r.Rows[i] == nil && r.Failures[i] == nil {
			missing = append(missing, u)
		}
	}
	return missing
}

// Status is the progress of a study: Units = Done + Missing + failures of all kinds.
type Status struct {
	Units, Done, Missing int
	Failures             map[FailureKind]int
}

// Failed returns how many units have failed.
func (s Status) Failed() (n int) {
	for _, of := range s.Failures {
		n += of
	}
	return n
}

// Status returns how many units are done, missing, and failed in which way.
func (r *Results) Status() Status {
	s := Status{Units: len(r.Plan.Units), Failures: map[FailureKind]int{}}
	for _, f := range r.Failures {
		s.Failures[f.Kind]++
	}
	s.Missing = len(r.Missing())
	s.Done = s.Units - s.Missing - len(r.Failures)
	return s
}

// Columns returns the names of the columns of all rows: those of Study.Columns first, as far as
// some row has them, then others in the order in which the rows, by their index, first have them.
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

// WriteCSV writes a row for each unit that has a result, in the order of the plan: its parameters,
// its seed, its columns. A column that a row does not have is empty there.
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
		_ = w.Write(line) // as above
	}
	w.Flush()
	return w.Error()
}

// Value returns the value of a column, or "" where the row has none of that name.
func (r Row) Value(name string) string {
	for _, c := range r {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}
