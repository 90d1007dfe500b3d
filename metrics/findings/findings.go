package findings

// What the results of a study say: cells, comparisons, rankings, sensitivities.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/stats"
)

// Param is a parameter with a value.
type Param struct{ Name, Value string }

// Options are what is asked of results. The zero value of each field makes sense.
type Options struct {
	// Measures are the columns to look at; none means mean_wait,
	// mean_bounded_slowdown, utilization and makespan where they vary, and where there
	// are none of these all that vary.
	Measures []string
	// Baseline is what the others are compared with: cells that differ from each other in
	// these parameters only are compared, with the one that has these values. None
	// means the first value of Compare.
	Baseline []Param
	// Compare is the parameter whose values are compared; "" means policy, or where that
	// does not vary the first parameter that does.
	Compare string
	// Level is that of the intervals and tests; 0 means 0.95.
	Level float64
	// Higher and Lower are measures of which the higher, or the lower, is the better.
	// Those of simulations are known.
	Higher, Lower []string
	// Where limits tables and figures to cells with these values; several values of one
	// parameter mean any of them. Intervals and tests are over all cells all the same.
	Where []Param
	// Labels are what people are told in place of values, such as "EASY" in place of "easy".
	Labels map[string]string
}

// Findings are what results say.
type Findings struct {
	Results       *Results
	Options       Options // completed
	Cells         []Cell
	Comparisons   []Comparison
	Rankings      []Ranking
	Sensitivities []Sensitivity
	Notes         []string // what a reader should know before anything else

	measures []int // of Results.Measures
	compared []int // of Results.Params; behind those of Options.Baseline what stands in them
	varied   []int // see Varied
	baseline []string
	cells    map[string]int   // by keyOf(Params)
	names    map[Param]string // see Told; filled as it is asked
	most     int              // runs of a cell
}

// Cell is all runs that differ in their seeds only.
type Cell struct {
	Params    []string // as Results.Params
	Runs      []*Run
	Estimates []Estimate // as Options.Measures
}

// Estimate is the mean of a measure in a cell.
type Estimate struct {
	stats.Interval        // HalfWidth is +Inf where there is nothing to tell it from
	By             Source // what N counts
	Joined         int    // with batches: so many neighbours were made one; see Sample
	Note           string // what a reader should know
}

// Source is where the observations of a mean come from.
type Source string

const (
	Seeds   Source = "seeds"   // independent runs
	Batched Source = "batches" // parts of one run
	OneRun  Source = "one run" // a single observation: there is no interval
)

// Analyze tells what results say.
func Analyze(t *Results, o Options) (*Findings, error) {
	f := &Findings{Results: t, Options: o, cells: map[string]int{}}
	if err := f.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	for i := range t.Runs {
		r := &t.Runs[i]
		key := keyOf(r.Params)
		c, ok := f.cells[key]
		if !ok {
			c = len(f.Cells)
			f.cells[key] = c
			f.Cells = append(f.Cells, Cell{Params: r.Params})
		}
		f.Cells[c].Runs = append(f.Cells[c].Runs, r)
	}
	for i := range f.Cells {
		f.most = max(f.most, len(f.Cells[i].Runs))
	}
	for i := range f.Cells {
		for m := range f.measures {
			f.Cells[i].Estimates = append(f.Cells[i].Estimates, f.estimate(&f.Cells[i], m))
		}
	}
	if err := f.compare(); err != nil {
		return nil, err
	}
	if err := f.rank(); err != nil {
		return nil, err
	}
	f.sensitivities()
	f.notes()
	return f, nil
}

// usual are the measures that are looked at where none are named.
var usual = []string{"mean_wait", "mean_bounded_slowdown", "utilization", "makespan"}

// complete fills in what the options leave open.
func (f *Findings) complete() error {
	t, o := f.Results, &f.Options
	o.Level = cmp.Or(o.Level, 0.95)
	if !(o.Level > 0 && o.Level < 1) {
		return fmt.Errorf("level: want a probability between 0 and 1, such as 0.95, not %v", o.Level)
	}

	// Measures: the usual ones that vary, else all that vary, else the first.
	if len(o.Measures) == 0 {
		for _, names := range [][]string{usual, t.Measures} {
			for _, name := range names {
				if m := slices.Index(t.Measures, name); m >= 0 && t.varies(m) {
					o.Measures = append(o.Measures, name)
				}
			}
			if len(o.Measures) > 0 {
				break
			}
		}
	}
	if len(o.Measures) == 0 {
		o.Measures = t.Measures[:1]
	}
	for _, name := range o.Measures {
		m := slices.Index(t.Measures, name)
		if m < 0 {
			return fmt.Errorf("measures: there is no column of numbers %q: there are %s", name, strings.Join(t.Measures, ", "))
		}
		f.measures = append(f.measures, m)
	}

	// What is compared, by default policies, and with what, by default the first value.
	varied := t.Varied()
	if len(o.Baseline) == 0 && len(varied) > 0 {
		if o.Compare == "" {
			o.Compare = t.Params[varied[0]]
			if i := slices.Index(t.Params, "policy"); slices.Contains(varied, i) {
				o.Compare = "policy"
			}
		}
		i := slices.Index(t.Params, o.Compare)
		if i < 0 {
			return fmt.Errorf("compare: there is no parameter %q: there are %s", o.Compare, strings.Join(t.Params, ", "))
		}
		o.Baseline = []Param{{o.Compare, t.ValuesOf(i)[0]}}
	}
	for _, p := range o.Baseline {
		i := slices.Index(t.Params, p.Name)
		if i < 0 {
			return fmt.Errorf("baseline: there is no parameter %q: there are %s", p.Name, strings.Join(t.Params, ", "))
		}
		if values := t.ValuesOf(i); !slices.Contains(values, p.Value) {
			return fmt.Errorf("baseline: no run has the %s %q: there are %s", p.Name, p.Value, strings.Join(values, ", "))
		}
		f.compared, f.baseline = append(f.compared, i), append(f.baseline, p.Value)
	}

	// The cases that are looked at: unknown names and values are errors.
	for _, p := range o.Where {
		at, err := f.positions([]string{p.Name})
		if err != nil {
			return err
		}
		if values := t.ValuesOf(at[0]); !slices.Contains(values, p.Value) {
			return enum.Unknown(p.Name, p.Value, values)
		}
	}
	f.independent()
	return nil
}

// Direction is +1 for a measure of which the higher is the better, -1 where the lower is,
// and 0 where neither is known.
func (o *Options) Direction(measure string) int {
	switch {
	case slices.Contains(o.Higher, measure):
		return 1
	case slices.Contains(o.Lower, measure):
		return -1
	}
	switch strings.TrimPrefix(measure, "gap_") {
	case "utilization":
		return 1
	case "makespan", "mean_wait", "median_wait", "p95_wait", "max_wait", "mean_bounded_slowdown", "mean_turnaround", "killed", "rejected", "waiting":
		return -1
	}
	return 0
}

// estimate is the mean of the m-th measure in a cell.
func (f *Findings) estimate(c *Cell, m int) Estimate {
	var values []float64
	for _, r := range c.Runs {
		if v := f.value(r, m); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	e := Estimate{Interval: stats.Mean(values, f.Options.Level), By: Seeds, Joined: 1}
	if len(values) == 0 {
		e.Mean = math.NaN()
		e.Note = "no run has a value"
		return e
	}
	if len(values) > 1 && !constant(values) {
		if len(values) < f.most {
			e.Note = fmt.Sprintf("%d of %d seeds are missing", f.most-len(values), f.most)
		}
		return e
	}
	if len(values) > 1 && f.chance(c) {
		e.HalfWidth, e.Note = math.Inf(1), fmt.Sprintf("all %d seeds give the same", len(values))
		return e
	}
	e.By, e.N, e.HalfWidth, e.Note = OneRun, 1, math.Inf(1), "one run"
	if len(values) > 1 {
		e.Note = fmt.Sprintf("there is no chance in it: all %d seeds give the same", len(values))
	}
	parts := partsOf(c.Runs[0], f.Options.Measures[m])
	if len(parts) == 0 && c.Runs[0].Batches != nil && slices.Contains(c.Runs[0].Batches.Measures, f.Options.Measures[m]) {
		e.Note = "all of the run is warm-up"
	}
	if len(parts) > 1 {
		s := sampleOf(parts, nil)
		e.Interval, e.By, e.Joined, e.Note = stats.Mean(s.x, f.Options.Level), Batched, s.joined, s.note
	}
	return e
}

// chance reports whether the seed makes a difference in a cell: in any measure, as one of them
// may happen to be the same, such as no job's waiting.
func (f *Findings) chance(c *Cell) bool {
	for m := range f.Results.Measures {
		for _, r := range c.Runs {
			if v, first := r.Values[m], c.Runs[0].Values[m]; v != first && (v == v || first == first) {
				return true
			}
		}
	}
	return false
}

// value is the m-th measure of a run: where it has batches some of which are warm-up, the
// mean over the jobs of the others.
func (f *Findings) value(r *Run, m int) float64 {
	if b := r.Batches; b != nil && slices.ContainsFunc(b.Rows, func(b Batch) bool { return b.Warmup }) {
		sum, weight := 0.0, 0.0
		for _, p := range partsOf(r, f.Options.Measures[m]) {
			sum, weight = sum+p.sum, weight+p.weight
		}
		if weight > 0 {
			return sum / weight
		}
	}
	return r.Values[f.measures[m]]
}

func constant(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}

// notes are what concerns all of the results.
func (f *Findings) notes() {
	silent, total, shared := 0, 0, ""
	for i := range f.Cells {
		for _, e := range f.Cells[i].Estimates {
			total++
			if e.By == OneRun {
				silent++
				shared = e.Note
			}
		}
	}
	if silent > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d means have no interval (%s): more seeds, where there is chance, or batches of the run (batches: week) give one", silent, total, shared))
	}
}
