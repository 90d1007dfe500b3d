package figure

// Empirical distributions.

import (
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gridslot/gridslot/metrics/rows"
)

// Distribution says how often each value occurs. Invariant: Values ascend, from 0 on, and Counts
// are as many, above 0.
type Distribution struct {
	Values []float64
	Counts []int64
}

// distributionOf returns the distribution of values.
func distributionOf(values []float64) (d Distribution) {
	for _, v := range slices.Sorted(slices.Values(values)) {
		if n := len(d.Values); n > 0 && d.Values[n-1] == v {
			d.Counts[n-1]++
		} else {
			d.Values, d.Counts = append(d.Values, v), append(d.Counts, 1)
		}
	}
	return d
}

// ecdf returns the steps of the empirical distribution function: a share Y of the values is no
// greater than X. Of more than 2000 values the steps are left out that are nearer to the step
// before than a thousandth of either axis: nobody can see them. place gives the place on the axis
// of values.
func (d Distribution) ecdf(place func(float64) float64) (all points) {
	n, sum := int64(0), int64(0)
	for _, count := range d.Counts {
		n += count
	}
	for i, v := range d.Values {
		sum += d.Counts[i]
		p := plotter.XY{X: v, Y: float64(sum) / float64(n)}
		if last := len(d.Values) - 1; n > 2000 && 0 < i && i < last {
			near, before := (place(d.Values[last])-place(d.Values[0]))/1000, all[len(all)-1]
			if place(v)-place(before.X) < near && p.Y-before.Y < 0.001 {
				continue
			}
		}
		all = append(all, p)
	}
	return all
}

// line returns the line of the ecdf in percent, from the least value that there can be.
func (d Distribution) line(place func(float64) float64, least float64, style draw.LineStyle) *plotter.Line {
	xy := points{{X: least}}
	for _, p := range d.ecdf(place) {
		xy = append(xy, plotter.XY{X: p.X, Y: 100 * p.Y})
	}
	return path(steps(xy), style)
}

// Distributions draws the empirical distributions of wait, bounded slowdown and turnaround of the
// jobs that ran, a line for each run.
func Distributions(runs []Rows[rows.Job]) (*Figure, error) {
	f := column(36 * vg.Millimeter)
	for _, quantity := range quantities {
		place, scale, least := durationScale{}.place, ends(asDurations), 0.0
		if !quantity.isTime {
			place, scale, least = math.Log10, asFactors, 1
		}
		var lines []series
		for i, r := range runs {
			if values := quantity.values(r.Rows); len(values) > 0 {
				lines = append(lines, draws(r.Name, distributionOf(values).line(place, least, line(i))))
			}
		}
		if len(lines) == 0 {
			return nil, &noDataError{"distributions", "jobs that ran"}
		}
		f.show(panel{x: axis{quantity.name, scale}, y: axis{"jobs, %", asPercent}, series: lines})
	}
	f.Numbers = numbersOfQuantiles(runs)
	f.Note = "The share of jobs that ran with no more than that. Times: linear up to 10 s, logarithmic beyond."
	return f, nil
}
