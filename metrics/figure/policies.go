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

// batches is the number of batches into which a run is cut for an interval of its means; see
// stats.BatchMeans.
const batches = 20

// Policies draws the mean wait, turnaround and bounded slowdown of each run with
// intervals of 95% by batch means (20 batches of jobs that ran, in order of
// submission).
func Policies(runs []Rows[rows.Job]) (*Figure, error) {
	var names []string
	var means [len(quantities)][]stats.LongRunMean // by quantity and run
	ran := make([]bool, len(runs))                 // some job of the run counts
	for i, r := range runs {
		names = append(names, r.Name)
		for k, q := range quantities {
			values := q.values(inOrder(r.Rows))
			ran[i] = len(values) > 0
			means[k] = append(means[k], stats.BatchMeans(values, batches, 0.95))
		}
	}
	if !slices.Contains(ran, true) {
		return nil, &noDataError{"policies", "jobs that ran"}
	}
	ticks, height := rowsOf(names, 30*vg.Millimeter)
	f := column(vg.Length(len(runs))*max(4*vg.Millimeter, height) + 12*vg.Millimeter)
	for _, k := range []int{0, 2, 1} { // times above each other
		intervals, x := meansOf(quantities[k], means[k], ran)
		f.show(panel{x: x, y: axis{"", asRows(ticks)}, series: []series{draws("", spreads{all: intervals, width: vg.Points(lineWidth)})}})
	}
	f.Numbers = numbersOfMeans(runs, means)
	f.Note = fmt.Sprintf("Bars: 95%% confidence intervals by batch means, of the jobs of a run in order of submission in %d batches. They tell of chance within the log, not of other logs.", batches)
	if doubted := doubtful(names, means); doubted != "" {
		f.Note += " Neighbouring batches depend on each other, so that bars may be too short: " + doubted + "."
	}
	return f, nil
}

// meansOf returns the means of one quantity with their intervals, a row for each run that ran any
// job, as they are drawn, and their axis; there is one mean at least. The axis of a quantity whose
// means are far apart is logarithmic, another one begins at 0.
func meansOf(quantity quantity, means []stats.LongRunMean, ran []bool) ([]spread, axis) {
	var all []spread
	// least is the least mean, greatest the greatest end of an interval.
	least, greatest := math.Inf(1), 0.0
	for i, e := range means {
		if !ran[i] {
			continue
		}
		s := spread{e.Mean, e.Mean, e.Mean, float64(len(means) - 1 - i), i} // the first on top
		if !math.IsInf(e.HalfWidth, 1) {                                    // of one batch nothing is known
			s.lo, s.hi = max(0, e.Mean-e.HalfWidth), e.Mean+e.HalfWidth
		}
		all = append(all, s)
		least, greatest = min(least, s.value), max(greatest, s.hi)
	}
	x := axis{label: "mean " + quantity.name}
	switch apart := greatest > 20*least; {
	case apart && quantity.isTime:
		x.ends = asDurations
	case apart:
		x.ends = asFactors
		for i := range all { // no slowdown is below 1
			all[i].lo = max(1, all[i].lo)
		}
	case quantity.isTime:
		size, unit := timeUnit(greatest)
		for i := range all {
			all[i].lo, all[i].value, all[i].hi = all[i].lo/size, all[i].value/size, all[i].hi/size
		}
		x.label += ", " + unit
		x.ends = between(0, niceAbove(max(greatest/size, 1e-9)*1.02))
	default:
		x.ends = between(0, niceAbove(greatest*1.02))
	}
	return all, x
}

// doubtful names the quantities whose intervals are doubtful, and the runs that have them; "" if
// there are none.
func doubtful(names []string, means [len(quantities)][]stats.LongRunMean) string {
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

// inOrder returns the jobs in order of submission: batch means need neighbours in time. The slice
// itself is not changed.
func inOrder(jobs []rows.Job) []rows.Job {
	bySubmission := func(a, b rows.Job) int { return cmp.Compare(a.Submit, b.Submit) }
	if slices.IsSortedFunc(jobs, bySubmission) {
		return jobs
	}
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, bySubmission)
	return jobs
}
