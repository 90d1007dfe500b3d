package figure

// Accuracy of estimates.

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/rows"
)

// accuracyBins is the number of classes of equal width from 0 to 100%: 5% each.
const accuracyBins = 20

// accuracies counts the jobs by runtime / estimate: counted[i] has those above i/bins and up to
// (i+1)/bins, the first also those of 0, and counted[bins] those whose runtime is above their
// estimate. n is the number of all; jobs without a runtime or an estimate are not among them.
func accuracies(jobs []rows.Job, bins int) (counted []int, n int) {
	counted = make([]int, bins+1)
	for i := range jobs {
		j := &jobs[i]
		if j.Runtime == rows.None || j.Estimate <= 0 {
			continue
		}
		n++
		bin := bins
		if j.Runtime <= j.Estimate { // in whole ticks, so that 5% is exactly that
			bin = max(0, int((j.Runtime*des.Time(bins)-1)/j.Estimate))
		}
		counted[bin]++
	}
	return counted, n
}

// numbersOfAccuracies tells the shares of jobs by tenths of their estimates.
func numbersOfAccuracies(jobs []rows.Job) *Numbers {
	n := &Numbers{Columns: []numberColumn{{Name: "runtime / estimate, %"}, {"jobs, %", 2}}}
	const bins = 10
	counted, all := accuracies(jobs, bins)
	for i, jobs := range counted {
		name := fmt.Sprintf("above %d, at most %d", 10*i, 10*(i+1))
		switch i {
		case 0:
			name = "at most 10"
		case bins:
			name = "above 100"
		}
		n.Names, n.Rows = append(n.Names, name), append(n.Rows, []float64{100 * float64(jobs) / float64(max(1, all))})
	}
	return n
}

// Estimates draws how much of their estimates jobs run for, and the distributions of
// runtimes and estimates.
func Estimates(jobs []rows.Job) (*Figure, error) {
	counted, n := accuracies(jobs, accuracyBins)
	if n == 0 {
		return nil, &noDataError{"estimates", "jobs with runtimes and estimates"}
	}
	var shares [accuracyBins + 1]float64 // in percent
	for i, jobs := range counted {
		shares[i] = float64(jobs) * (100 / float64(n))
	}
	// Phase 1: the bars of the accuracy, those above 100% in a colour of their own.
	f := column(36 * vg.Millimeter)
	f.Numbers = numbersOfAccuracies(jobs)
	accuracy := newPanel("", "runtime / estimate, %", "jobs, %")
	var bars boxes
	// Bars leave 8% of their class free on either side.
	for i, share := range shares {
		fill := colour(0)
		if i == accuracyBins {
			fill = colour(1)
		}
		width := 100.0 / accuracyBins
		bars = append(bars, box{float64((float64(i) + 0.08) * width), float64((float64(i) + 0.92) * width), 0, share, fill})
	}
	accuracy.Add(bars)
	accuracy.X.Min, accuracy.X.Max = 0, 100+100.0/accuracyBins
	accuracy.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 75, Label: "75"}, {Value: 100, Label: "100"}}
	accuracy.Y.Min, accuracy.Y.Max = 0, niceAbove(max(slices.Max(shares[:]), 1))

	// Phase 2: the two distributions on one axis.
	lengths := newPanel("", "length", "jobs, %")
	var runtimes, estimates []float64
	for i := range jobs {
		if j := &jobs[i]; j.Runtime != rows.None && j.Estimate > 0 {
			runtimes = append(runtimes, j.Runtime.Seconds())
			estimates = append(estimates, j.Estimate.Seconds())
		}
	}
	a, b := distribution(runtimes, durationScale{}.place, 0, 0), distribution(estimates, durationScale{}.place, 0, 1)
	lengths.Add(a, b)
	asDurations(&lengths.X, 0, max(slices.Max(runtimes), slices.Max(estimates)))
	lengths.Y.Min, lengths.Y.Max = 0, 100
	f.Panels = []*plot.Plot{accuracy, lengths}
	f.says("runtime", a)
	f.says("estimate", b)
	if shares[accuracyBins] > 0 {
		f.says("runtime above estimate", swatch{colour(1)})
	}
	f.Note = "Below, the share of jobs of no more than that length: linear up to 10 s, logarithmic beyond."
	return f, nil
}
