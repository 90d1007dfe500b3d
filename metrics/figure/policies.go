package figure

// Policies side by side.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// batches is how many batches a run is cut into for an interval of its means.
const batches = 20

// Policies draws the mean wait, turnaround and bounded slowdown of each run with
// intervals of 95% by batch means (20 batches of jobs that ran, in order of
// submission).
func Policies(runs []Rows[rows.Job]) (*Figure, error) {
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	ticks, height := rowsOf(names, 30*vg.Millimeter)
	f := column(vg.Length(len(runs))*max(4*vg.Millimeter, height) + 12*vg.Millimeter)
	var means [len(quantities)][]stats.Batches // by quantity and run
	ran := make([]bool, len(runs))
	for k, q := range quantities {
		for i, r := range runs {
			values := q.values(inOrder(r.Rows))
			ran[i] = len(values) > 0
			means[k] = append(means[k], stats.BatchMeans(values, batches, 0.95))
		}
	}
	f.Numbers = numbersOfMeans(runs, means)
	for _, k := range []int{0, 2, 1} { // times above each other
		quantity := quantities[k]
		p := newPanel("", "mean "+quantity.name, "")
		var all []spread
		lowest, least, greatest := math.Inf(1), math.Inf(1), 0.0
		for i := range runs {
			y := float64(len(runs) - 1 - i) // the first on top
			if !ran[i] {
				continue
			}
			e := means[k][i]
			s := spread{e.Mean, e.Mean, e.Mean, y, i}
			if !math.IsInf(e.HalfWidth, 1) {
				s.lo, s.hi = max(0, e.Mean-e.HalfWidth), e.Mean+e.HalfWidth
			}
			all = append(all, s)
			lowest, least, greatest = min(lowest, s.lo), min(least, s.value), max(greatest, s.hi)
		}
		if len(all) == 0 {
			return nil, &NoDataError{"policies", "jobs that ran"}
		}
		p.Add(spreads{all: all, width: vg.Points(lineWidth)})
		switch apart := greatest > 20*least; {
		case apart && quantity.isTime:
			asDurations(&p.X, lowest, greatest)
		case apart:
			asFactors(&p.X, 1, greatest)
			for i := range all {
				all[i].lo = max(1, all[i].lo)
			}
		case quantity.isTime:
			size, unit := timeUnit(greatest)
			for i := range all {
				all[i].lo, all[i].value, all[i].hi = all[i].lo/size, all[i].value/size, all[i].hi/size
			}
			p.X.Label.Text += ", " + unit
			p.X.Min, p.X.Max = 0, niceAbove(max(greatest/size, 1e-9)*1.02)
		default:
			p.X.Min, p.X.Max = 0, niceAbove(greatest*1.02)
		}
		asRows(&p.Y, ticks)
		f.Panels = append(f.Panels, p)
	}
	f.Note = fmt.Sprintf("Bars: 95%% confidence intervals by batch means, of the jobs of a run in order of submission in %d batches. They tell of chance within the log, not of other logs.", batches)
	if doubted := doubtful(names, means); doubted != "" {
		f.Note += " Neighbouring batches depend on each other, so that bars may be too short: " + doubted + "."
	}
	return f, nil
}

// doubtful are the quantities of which intervals are doubtful, and the runs that have them, as text.
func doubtful(names []string, means [len(quantities)][]stats.Batches) string {
	var all []string
	for k, q := range quantities {
		var runs []string
		for i, name := range names {
			if means[k][i].Doubtful() {
				runs = append(runs, plain(name))
			}
		}
		if len(runs) > 0 {
			all = append(all, q.name+" of "+strings.Join(runs, ", "))
		}
	}
	return strings.Join(all, "; ")
}

// inOrder are the jobs in order of submission.
func inOrder(jobs []rows.Job) []rows.Job {
	bySubmission := func(a, b rows.Job) int { return cmp.Compare(a.Submit, b.Submit) }
	if slices.IsSortedFunc(jobs, bySubmission) {
		return jobs
	}
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, bySubmission)
	return jobs
}
