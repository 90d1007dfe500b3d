package figure

// Empirical distributions.

import (
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/metrics/rows"
)

// ecdf returns the steps of the empirical distribution function of values: Y of them are no
// greater than X. Of more than 2000 values the steps are left out that are nearer to the step
// before than a thousandth of either axis: nobody can see them. scale gives the place on the axis
// of values.
func ecdf(values []float64, scale func(float64) float64) points {
	values = slices.Sorted(slices.Values(values))
	if len(values) == 0 {
		return nil
	}
	n := float64(len(values))
	near := (scale(values[len(values)-1]) - scale(values[0])) / 1000
	var all points
	for i, v := range values {
		if i+1 < len(values) && values[i+1] == v {
			continue
		}
		p := plotter.XY{X: v, Y: float64(i+1) / n}
		if k := len(all) - 1; k >= 0 && i+1 < len(values) && len(values) > 2000 &&
			scale(v)-scale(all[k].X) < near && p.Y-all[k].Y < 0.001 {
			continue
		}
		all = append(all, p)
	}
	return all
}

// Distributions draws the empirical distributions of wait, bounded slowdown and turnaround of the
// jobs that ran, a line for each run.
func Distributions(runs []Rows[rows.Job]) (*Figure, error) {
	f := column(36 * vg.Millimeter)
	f.Numbers = numbersOfQuantiles(runs)
	for _, quantity := range quantities {
		scale, axis, least := durationScale{}.place, asDurations, 0.0
		if !quantity.isTime {
			scale, axis, least = math.Log10, asFactors, 1
		}
		p := newPanel("", quantity.name, "jobs, %")
		greatest := 0.0
		for i, r := range runs {
			values := quantity.values(r.Rows)
			if len(values) == 0 {
				continue
			}
			greatest = max(greatest, slices.Max(values))
			l := distribution(values, scale, least, i)
			p.Add(l)
			if len(f.Panels) == 0 {
				f.says(r.Name, l)
			}
		}
		if len(f.legend) == 0 {
			return nil, &noDataError{"distributions", "jobs that ran"}
		}
		axis(&p.X, least, greatest)
		p.Y.Min, p.Y.Max = 0, 100
		f.Panels = append(f.Panels, p)
	}
	f.Note = "The share of jobs that ran with no more than that. Times: linear up to 10 s, logarithmic beyond."
	return f, nil
}

// distribution is the line of an ecdf in percent, from the least value that there can be.
func distribution(values []float64, scale func(float64) float64, least float64, series int) *plotter.Line {
	xy := points{{X: least}}
	for _, p := range ecdf(values, scale) {
		xy = append(xy, plotter.XY{X: p.X, Y: 100 * p.Y})
	}
	return path(steps(xy), line(series))
}
