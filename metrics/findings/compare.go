package findings

// Cells against each other, on the same seeds or the same batches.

import (
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/metrics/stats"
)

// Comparison is of a cell with the one that differs in the parameters of the baseline
// only.
type Comparison struct {
	Cell, Baseline     int // of Findings.Cells
	Measure            string
	Mean, BaselineMean float64 // over the pairs
	// Comparison is of the cell's values with those of the baseline, pair by pair;
	// Adjusted of its tests is corrected for all comparisons of the measure.
	stats.Comparison
	// Percent is the difference in per cent of the baseline's mean, with Fieller's interval;
	// NaN where that mean is 0.
	Percent stats.Estimate
	By      Source
	Joined  int // as of Estimate
	// Dependent is that batches that are neighbours depend on each other, though so many were joined.
	Dependent bool
	Verdict   Verdict
	Note      string
}

// Relative is the difference with half of its interval in per cent of the baseline's mean,
// that mean taken for known: the interval leaves out 0 just where the one of the difference
// does. NaN where the mean is 0.
func (c *Comparison) Relative() (percent, half float64) {
	if c.BaselineMean == 0 {
		return math.NaN(), math.NaN()
	}
	scale := 100 / math.Abs(c.BaselineMean)
	return scale * c.Difference.Mean, scale * c.Difference.HalfWidth
}

// Verdict is what a comparison says.
type Verdict string

const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Higher  Verdict = "higher" // of a measure of which neither is better
	Lower   Verdict = "lower"
	Unclear Verdict = "not significant"
	Equal   Verdict = "equal"   // in every pair
	TooFew  Verdict = "too few" // pairs to tell
	// Doubtful is a difference that would be significant, if batches that are neighbours did
	// not depend on each other.
	Doubtful Verdict = "doubtful"
)

// Fewest is how many pairs a verdict needs. Fewer than five cannot be significant by
// ranks, and for the t test everything hangs on their being normal.
const Fewest = 5

// Significant reports whether the verdict is that there is a difference.
func (v Verdict) Significant() bool { return v == Better || v == Worse || v == Higher || v == Lower }

// compare makes all comparisons. Those of one measure are a family: Holm's correction is
// over all of them.
func (f *Findings) compare() error {
	if len(f.compared) == 0 {
		return nil
	}
	without := 0
	for m, measure := range f.Options.Measures {
		var family []Comparison
		for i := range f.Cells {
			base, ok := f.baselineOf(i)
			if !ok {
				without++
			}
			if !ok || base == i {
				continue
			}
			c, err := f.pair(i, base, m)
			if err != nil {
				return err
			}
			family = append(family, c)
		}
		f.Comparisons = append(f.Comparisons, f.judge(measure, family)...)
	}
	if n := without / len(f.Options.Measures); n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d cells have no baseline to be compared with: no run has %s and is the same in everything else", n, f.BaselineName()))
	}
	return nil
}

// baselineOf is the cell that a cell is compared with.
func (f *Findings) baselineOf(cell int) (int, bool) {
	params := slices.Clone(f.Cells[cell].Params)
	for k, i := range f.compared {
		params[i] = f.baseline[k]
	}
	base, ok := f.cells[keyOf(params)]
	return base, ok
}

// pair compares a cell with another one, of which the seeds are the same.
func (f *Findings) pair(cell, base, m int) (Comparison, error) {
	c := Comparison{Cell: cell, Baseline: base, Measure: f.Options.Measures[m], By: Seeds, Joined: 1}

	// Pairs by seed: runs of one seed met the same jobs and failures.
	var x, y []float64
	var first, second *Run // with the first seed that both have
	partners := make(map[string]*Run, len(f.Cells[base].Runs))
	for _, b := range f.Cells[base].Runs {
		partners[b.Seed] = b
	}
	for _, a := range f.Cells[cell].Runs {
		b, ok := partners[a.Seed]
		if !ok {
			continue
		}
		v, w := f.value(a, m), f.value(b, m)
		if math.IsNaN(v) || math.IsNaN(w) {
			continue
		}
		if first == nil {
			first, second = a, b
		}
		x, y = append(x, v), append(y, w)
	}

	// Without chance all seeds give the same: batches of one run (weeks) are the pairs then.
	seeds := len(x)
	if seeds < 2 || constant(x) && constant(y) && !f.chance(&f.Cells[cell]) && !f.chance(&f.Cells[base]) {
		c.By = OneRun
		x, y = x[:min(1, seeds)], y[:min(1, seeds)]
		if seeds > 1 {
			c.Note = fmt.Sprintf("there is no chance in it: all %d seeds give the same", seeds)
		}
		if first != nil {
			if a, b := matched(partsOf(first, c.Measure), partsOf(second, c.Measure)); len(a) > 1 {
				s := sampleOf(a, b)
				x, y, c.By, c.Joined, c.Dependent, c.Note = s.x, s.y, Batched, s.joined, s.note != "", s.note
			}
		}
	}

	// Means, the difference with its tests, and the difference in per cent (Fieller's interval).
	if len(x) == 0 {
		c.Note, c.Mean, c.BaselineMean = "no seed has a value of both", math.NaN(), math.NaN()
	} else {
		c.Mean, c.BaselineMean = stats.Mean(x, f.Options.Level).Mean, stats.Mean(y, f.Options.Level).Mean
	}
	var err error
	if c.Comparison, err = stats.Compare(x, y, f.Options.Level); err != nil {
		return c, fmt.Errorf("%s: %s: %w", f.Results.Name, c.Measure, err)
	}
	if d := c.Difference; d.N > 1 && d.Mean != 0 && math.IsNaN(c.T.P) {
		c.Note = fmt.Sprintf("all %d pairs differ by the same, which is no more than one observation", d.N)
		c.Difference.HalfWidth = math.Inf(1)
	}
	if len(x) == 0 {
		c.Difference.Mean = math.NaN()
	}
	c.Percent = stats.Estimate{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	if c.BaselineMean != 0 && len(x) > 0 {
		r, err := stats.Ratio(x, y, f.Options.Level)
		if err != nil {
			return c, fmt.Errorf("%s: %s: %w", f.Results.Name, c.Measure, err)
		}
		c.Percent = stats.Estimate{Value: 100 * (r.Value - 1), Low: 100 * (r.Low - 1), High: 100 * (r.High - 1), N: r.N}
		if math.IsInf(c.Difference.HalfWidth, 1) {
			c.Percent.Low, c.Percent.High = math.Inf(-1), math.Inf(1)
		}
	}
	return c, nil
}

// judge corrects comparisons that are made together, and says what each tells.
func (f *Findings) judge(measure string, family []Comparison) []Comparison {
	var tested []stats.Comparison
	var at []int
	for i := range family {
		if family[i].Difference.N >= Fewest {
			tested, at = append(tested, family[i].Comparison), append(at, i)
		}
	}
	stats.Correct(tested)
	for k, i := range at {
		family[i].Comparison = tested[k]
	}
	for i := range family {
		family[i].Verdict = verdict(&family[i], f.Options.Direction(measure))
	}
	return family
}

func verdict(c *Comparison, direction int) Verdict {
	d := c.Difference
	switch {
	case d.N >= 2 && d.Mean == 0 && d.HalfWidth == 0:
		return Equal
	case d.N < Fewest || math.IsNaN(c.T.P):
		return TooFew
	case !c.Significant():
		return Unclear
	case c.Dependent:
		return Doubtful
	}
	switch up := d.Mean > 0; {
	case direction == 0 && up:
		return Higher
	case direction == 0:
		return Lower
	case up == (direction > 0):
		return Better
	}
	return Worse
}
