package figure

// Accuracy of estimates.

import (
	"fmt"

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

// percents are the ticks of an axis of percent whose ends are not 0 and 100.
var percents = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 75, Label: "75"}, {Value: 100, Label: "100"}}

// Estimates draws how much of their estimates jobs run for, and the distributions of
// runtimes and estimates.
func Estimates(jobs []rows.Job) (*Figure, error) {
	counted, n := accuracies(jobs, accuracyBins)
	if n == 0 {
		return nil, &noDataError{"estimates", "jobs with runtimes and estimates"}
	}
	// Bars leave 8% of their class free on either side. Those above 100% have a colour of their own.
	const width = 100.0 / accuracyBins
	var bars boxes
	var above []series
	for i, jobs := range counted {
		share, fill := float64(jobs)*(100/float64(n)), colour(0)
		if i == accuracyBins {
			if fill = colour(1); share > 0 {
				above = []series{says("runtime above estimate", fill)}
			}
		}
		bars = append(bars, box{float64((float64(i) + 0.08) * width), float64((float64(i) + 0.92) * width), 0, share, fill})
	}
	var runtimes, estimates []float64
	for i := range jobs {
		if j := &jobs[i]; j.Runtime != rows.None && j.Estimate > 0 {
			runtimes = append(runtimes, j.Runtime.Seconds())
			estimates = append(estimates, j.Estimate.Seconds())
		}
	}
	f := column(36*vg.Millimeter).show(panel{
		x:      axis{"runtime / estimate, %", between(0, 100+width, percents...)},
		y:      axis{"jobs, %", fromZero(1)},
		series: []series{draws("", bars)},
	}, panel{
		x: axis{"length", asDurations},
		y: axis{"jobs, %", asPercent},
		series: append([]series{
			draws("runtime", distributionOf(runtimes).line(durationScale{}.place, 0, line(0))),
			draws("estimate", distributionOf(estimates).line(durationScale{}.place, 0, line(1))),
		}, above...),
	})
	f.Numbers = numbersOfAccuracies(jobs)
	f.Note = "Below, the share of jobs of no more than that length: linear up to 10 s, logarithmic beyond."
	return f, nil
}
