package findings

// Cells against each other, on the same seeds or the same batches.

import (
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/metrics/stats"
)

// Comparison compares a cell with its baseline: the cell that has the baseline's values, and all
// other parameters in common with it.
type Comparison struct {
	// Cell and baseline are positions in Findings.Cells.
	Cell, baseline int
	Measure        string
	// mean and BaselineMean are means over the pairs: runs without a partner do not count.
	mean, BaselineMean float64
	// Comparison compares the values of the cell with the values of the baseline, pair by pair.
	// Adjusted of its tests is corrected for all comparisons of the measure.
	stats.Comparison
	// Percent is the difference in per cent of the baseline's mean, with Fieller's interval; NaN
	// if that mean is 0.
	Percent stats.Estimate
	By      source
	// joined is as in Estimate.
	joined int
	// dependent reports that neighbouring batches still depend on each other, though joined of
	// them were made one.
	dependent bool
	Verdict   Verdict
	Note      string
}

// Relative returns the difference, with half the width of its interval, in per cent of the
// baseline's mean. It takes that mean for known, so that its interval has 0 in it if and only if
// the interval of the difference has; Percent does not take it for known. Both are NaN if the mean
// is 0.
func (c *Comparison) Relative() (percent, half float64) {
	if c.BaselineMean == 0 {
		return math.NaN(), math.NaN()
	}
	scale := 100 / math.Abs(c.BaselineMean)
	return scale * c.Difference.Mean, scale * c.Difference.HalfWidth
}

// Verdict is the result of a comparison, as comparisons.csv writes it.
type Verdict string

const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Higher  Verdict = "higher" // of a measure of which neither is better
	Lower   Verdict = "lower"
	Unclear Verdict = "not significant"
	equal   Verdict = "equal"   // in every pair
	TooFew  Verdict = "too few" // pairs to tell
	// doubtful is a difference that would be significant, if batches that are neighbours did
	// not depend on each other.
	doubtful Verdict = "doubtful"
)

// Fewest is the number of pairs that a verdict needs. The t test of fewer depends on their being
// normal. By ranks not even five pairs can be significant at 0.05 (the least P of Wilcoxon's test
// is 2/32 then); six can.
const Fewest = 5

// Significant reports whether the verdict says that there is a difference.
func (v Verdict) Significant() bool { return v == Better || v == Worse || v == Higher || v == Lower }

// compare compares each cell with its baseline. The comparisons of one measure are a family:
// Holm's correction is over all of them.
func (f *Findings) compare() error {
	if len(f.compared) == 0 {
		return nil
	}
	// without counts cells without a baseline, once for each measure.
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

// baselineOf returns the cell that a cell is compared with; false if no run has those parameters.
func (f *Findings) baselineOf(cell int) (int, bool) {
	params := slices.Clone(f.Cells[cell].Params)
	for k, i := range f.compared {
		params[i] = f.baseline[k]
	}
	base, ok := f.cells[keyOf(params)]
	return base, ok
}

// pair compares the m-th measure of a cell with that measure of another cell, pair by pair.
func (f *Findings) pair(cell, base, m int) (Comparison, error) {
	c := Comparison{Cell: cell, baseline: base, Measure: f.Options.Measures[m], By: seeds, joined: 1}
	x, y := f.observed(&c, m)
	if len(x) == 0 {
		c.Note, c.mean, c.BaselineMean = "no seed has a value of both", math.NaN(), math.NaN()
	} else {
		c.mean, c.BaselineMean = stats.Mean(x, f.Options.Level).Mean, stats.Mean(y, f.Options.Level).Mean
	}
	var err error
	if c.Comparison, err = stats.Compare(x, y, f.Options.Level); err != nil {
		return c, fmt.Errorf("%s: %s: %w", f.Results.Name, c.Measure, err)
	}
	// A variance of 0 has no t test.
	if d := c.Difference; d.N > 1 && d.Mean != 0 && math.IsNaN(c.T.P) {
		c.Note = fmt.Sprintf("all %d pairs differ by the same, which is no more than one observation", d.N)
		c.Difference.HalfWidth = math.Inf(1)
	}
	if len(x) == 0 {
		c.Difference.Mean = math.NaN()
	}
	return c, f.inPercent(&c, x, y)
}

// observed returns the pairs of a comparison, the baseline's in y, and says in it where they come
// from.
func (f *Findings) observed(c *Comparison, m int) (x, y []float64) {
	// Pairs by seed: runs of one seed met the same jobs and failures.
	var first, second *Run // with the first seed that both have
	partners := make(map[string]*Run, len(f.Cells[c.baseline].runs))
	for _, b := range f.Cells[c.baseline].runs {
		partners[b.Seed] = b
	}
	for _, a := range f.Cells[c.Cell].runs {
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
	seeds := len(x)
	if seeds >= 2 && (!constant(x) || !constant(y) || f.chance(&f.Cells[c.Cell]) || f.chance(&f.Cells[c.baseline])) {
		return x, y
	}

	// Without chance all seeds give the same: batches of one run (weeks) are the pairs then.
	c.By = oneRun
	x, y = x[:min(1, seeds)], y[:min(1, seeds)]
	if seeds > 1 {
		c.Note = fmt.Sprintf("there is no chance in it: all %d seeds give the same", seeds)
	}
	if first != nil {
		if a, b := matched(partsOf(first, c.Measure), partsOf(second, c.Measure)); len(a) > 1 {
			s := sampleOf(a, b)
			x, y, c.By, c.joined, c.dependent, c.Note = s.x, s.y, Batched, s.joined, s.note != "", s.note
		}
	}
	return x, y
}

// inPercent sets the difference in per cent of the baseline's mean: the ratio of the two means
// less 1, with Fieller's interval of the ratio, since both means are uncertain.
func (f *Findings) inPercent(c *Comparison, x, y []float64) error {
	c.Percent = stats.Estimate{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	if c.BaselineMean == 0 || len(x) == 0 {
		return nil
	}
	r, err := stats.Ratio(x, y, f.Options.Level)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", f.Results.Name, c.Measure, err)
	}
	c.Percent = stats.Estimate{Value: 100 * (r.Value - 1), Low: 100 * (r.Low - 1), High: 100 * (r.High - 1), N: r.N}
	if math.IsInf(c.Difference.HalfWidth, 1) {
		c.Percent.Low, c.Percent.High = math.Inf(-1), math.Inf(1)
	}
	return nil
}

// judge corrects the comparisons of a family, and sets the verdict of each. Comparisons of too few
// pairs are not tested, and do not make the others less significant.
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

// verdict returns what one comparison says, if direction is the better one (see Direction). The
// order of the cases matters: a comparison is first equal, then too small, then not significant.
func verdict(c *Comparison, direction int) Verdict {
	d := c.Difference
	switch {
	case d.N >= 2 && d.Mean == 0 && d.HalfWidth == 0:
		return equal
	case d.N < Fewest || math.IsNaN(c.T.P):
		return TooFew
	case !c.Significant():
		return Unclear
	case c.dependent:
		return doubtful
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
