package findings

// What the results of a study say: cells, comparisons, rankings, sensitivities.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// Param is a parameter of a study with one of its values, as text.
type Param struct{ Name, Value string }

// Options say which findings to draw from results. The zero value of each field has a default.
// Findings.Options has the values that were used.
type Options struct {
	// Measures are the columns to look at. None means those of mean_wait, mean_bounded_slowdown,
	// utilization and makespan that vary or, if none of these does, all columns that vary.
	Measures []string
	// Baseline is the values of parameters with which the others are compared. Cells that differ
	// from each other in these parameters only are compared with the cell that has the values of
	// Baseline. None means the first value of Compare.
	Baseline []Param
	// Compare is the parameter whose values are compared. "" means policy or, if policy does not
	// vary, the first parameter that does.
	Compare string
	// Level is the confidence level of intervals; tests are significant at 1 - Level. 0 means 0.95.
	// Invariant: 0 < Level < 1.
	Level float64
	// higher are measures for which a higher value is better, lower those for which a lower value
	// is. Measures of simulations need not be listed.
	higher, lower []string
	// Where limits tables and figures to cells with these values; several values of one parameter
	// mean any of these values. Intervals and tests still use all cells, so that Where does not
	// change what is significant.
	Where []Param
	// Labels are texts that are shown in place of values, such as "EASY" in place of "easy"; see
	// Findings.Told.
	Labels map[string]string
}

// Findings are the conclusions from results: cells with their means, and the comparisons of the
// cells.
type Findings struct {
	Results *Results
	// Options are the options of Analyze, with defaults in place of zero values.
	Options Options
	Cells   []Cell
	// Comparisons are of each cell with its baseline, by measure, in the order of Cells. Rankings
	// and Sensitivities are by measure, too.
	Comparisons   []Comparison
	Rankings      []Ranking
	Sensitivities []Sensitivity
	// Notes say what a reader should know before anything else.
	Notes []string

	// measures are the positions in Results.Measures of Options.Measures.
	measures []int
	// compared are the positions in Results.Params of what is compared: first the parameters of
	// Options.Baseline, then what stands in them; see independent. baseline are their values in
	// the baseline. Invariant: they are as many.
	compared []int
	// varied is the answer of Varied.
	varied   []int
	baseline []string
	// cells is the position in Cells, by keyOf(Params).
	cells map[string]int
	// names are the answers of Told, filled as it is asked.
	names map[Param]string
	// most is the number of runs of the cell with the most runs: fewer runs mean that seeds are
	// missing.
	most int
}

// Cell is all runs that differ only in their seeds.
type Cell struct {
	// Params are in the order of Results.Params, estimates in the order of Options.Measures.
	Params    []string
	runs      []*Run
	estimates []Estimate // as Options.Measures
}

// Estimate is the mean of a measure in a cell, with its interval.
type Estimate struct {
	// HalfWidth is +Inf if there is nothing from which an interval could be told; N counts
	// observations, of the kind By.
	stats.Interval
	By source // what N counts
	// joined is the number of neighbouring batches that were made one observation; 1 without
	// batches. See sampleOf.
	joined int
	note   string // what a reader should know
}

// source says where the observations of a mean come from.
type source string

const (
	seeds   source = "seeds"   // independent runs
	Batched source = "batches" // parts of one run
	oneRun  source = "one run" // a single observation: there is no interval
)

// Analyze returns what results say. An error says which option names something that the results do
// not have.
func Analyze(t *Results, o Options) (*Findings, error) {
	f := &Findings{Results: t, Options: o, cells: map[string]int{}}
	if err := f.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	// Phase 1: cells, in the order of their first runs, with their means.
	for i := range t.Runs {
		r := &t.Runs[i]
		key := keyOf(r.Params)
		c, ok := f.cells[key]
		if !ok {
			c = len(f.Cells)
			f.cells[key] = c
			f.Cells = append(f.Cells, Cell{Params: r.Params})
		}
		f.Cells[c].runs = append(f.Cells[c].runs, r)
	}
	for i := range f.Cells {
		f.most = max(f.most, len(f.Cells[i].runs))
	}
	for i := range f.Cells {
		for m := range f.measures {
			f.Cells[i].estimates = append(f.Cells[i].estimates, f.estimate(&f.Cells[i], m))
		}
	}
	// Phase 2: what follows from cells against each other.
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

// usual are the measures that are looked at if none are named.
var usual = []string{"mean_wait", "mean_bounded_slowdown", "utilization", "makespan"}

// complete fills in what the options leave open, and checks that results have what they name.
func (f *Findings) complete() error {
	t, o := f.Results, &f.Options
	o.Level = cmp.Or(o.Level, 0.95)
	if !(o.Level > 0 && o.Level < 1) {
		return fmt.Errorf("level: want a probability between 0 and 1, such as 0.95, not %v", o.Level)
	}
	if len(o.Measures) == 0 {
		o.Measures = t.interesting()
	}
	for _, name := range o.Measures {
		m := slices.Index(t.Measures, name)
		if m < 0 {
			return fmt.Errorf("measures: there is no column of numbers %q: there are %s", name, strings.Join(t.Measures, ", "))
		}
		f.measures = append(f.measures, m)
	}
	if err := f.completeBaseline(); err != nil {
		return err
	}
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

// interesting returns the measures to look at if none are named: the usual ones that vary, else
// all that vary, else the first one.
func (t *Results) interesting() (measures []string) {
	for _, names := range [][]string{usual, t.Measures} {
		for _, name := range names {
			if m := slices.Index(t.Measures, name); m >= 0 && t.varies(m) {
				measures = append(measures, name)
			}
		}
		if len(measures) > 0 {
			return measures
		}
	}
	return t.Measures[:1]
}

// completeBaseline finds out what is compared, by default policies, and with what, by default the
// first value. Without a parameter that varies nothing is compared.
func (f *Findings) completeBaseline() error {
	t, o := f.Results, &f.Options
	if varied := t.varied(); len(o.Baseline) == 0 && len(varied) > 0 {
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
	return nil
}

// Direction returns +1 for a measure of which a higher value is better, -1 if a lower one is
// better, and 0 if neither is known: such a measure has verdicts "higher" and "lower", and no
// ranking. A gap to a bound is as good or bad as its measure.
func (o *Options) Direction(measure string) int {
	switch {
	case slices.Contains(o.higher, measure):
		return 1
	case slices.Contains(o.lower, measure):
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

// estimate returns the mean of the m-th measure in a cell. Its observations are the runs if the
// seed makes a difference, else the batches of the first run, as all runs are the same one.
func (f *Findings) estimate(c *Cell, m int) Estimate {
	var values []float64
	for _, r := range c.runs {
		if v := f.value(r, m); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	e := Estimate{Interval: stats.Mean(values, f.Options.Level), By: seeds, joined: 1}
	if len(values) == 0 {
		e.Mean = math.NaN()
		e.note = "no run has a value"
		return e
	}
	// seeds that differ are observations.
	if len(values) > 1 && !constant(values) {
		if len(values) < f.most {
			e.note = fmt.Sprintf("%d of %d seeds are missing", f.most-len(values), f.most)
		}
		return e
	}
	// There is chance, but not in this measure: say that all jobs started at once. A width of 0
	// would be a lie.
	if len(values) > 1 && f.chance(c) {
		e.HalfWidth, e.note = math.Inf(1), fmt.Sprintf("all %d seeds give the same", len(values))
		return e
	}
	// All seeds give the same run.
	e.By, e.N, e.HalfWidth, e.note = oneRun, 1, math.Inf(1), "one run"
	if len(values) > 1 {
		e.note = fmt.Sprintf("there is no chance in it: all %d seeds give the same", len(values))
	}
	parts := partsOf(c.runs[0], f.Options.Measures[m])
	if len(parts) == 0 && c.runs[0].Batches != nil && slices.Contains(c.runs[0].Batches.measures, f.Options.Measures[m]) {
		e.note = "all of the run is warm-up"
	}
	if len(parts) > 1 {
		s := sampleOf(parts, nil)
		e.Interval, e.By, e.joined, e.note = stats.Mean(s.x, f.Options.Level), Batched, s.joined, s.note
	}
	return e
}

// chance reports whether the seed makes a difference in a cell, in any measure: a single one may
// happen to be the same, for example if no job waits. NaN differs from a number, not from NaN.
func (f *Findings) chance(c *Cell) bool {
	for m := range f.Results.Measures {
		for _, r := range c.runs {
			if v, first := r.Values[m], c.runs[0].Values[m]; v != first && (v == v || first == first) {
				return true
			}
		}
	}
	return false
}

// value returns the m-th measure of a run. If some batches of the run are warm-up, it is the mean
// over the jobs of the others.
func (f *Findings) value(r *Run, m int) float64 {
	if b := r.Batches; b != nil && slices.ContainsFunc(b.Rows, func(b rows.Batch) bool { return b.Warmup }) {
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

// constant reports whether all values are the same; true of none.
func constant(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}

// notes says how many means have no interval, and why the last of them has none.
func (f *Findings) notes() {
	silent, total, shared := 0, 0, ""
	for i := range f.Cells {
		for _, e := range f.Cells[i].estimates {
			total++
			if e.By == oneRun {
				silent++
				shared = e.note
			}
		}
	}
	if silent > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d means have no interval (%s): more seeds, where there is chance, or batches of the run (batches: week) give one", silent, total, shared))
	}
}
