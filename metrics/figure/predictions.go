package figure

// Predictions of runtimes.

import (
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// fieldsADecade is the number of fields of the density in a decade, and from 0 to ten seconds.
const fieldsADecade = 6

// density counts jobs by the fields of their runtimes (first index) and of their first
// predictions. most is the greatest count. A job that was cut off has run for its request; of a
// job that was killed for another reason the runtime is not known.
func density(jobs []rows.Job) (counts map[[2]int]int, most int) {
	counts = map[[2]int]int{} // never iterated but in order
	field := func(t des.Time) int { return int(fieldsADecade * durationScale{}.place(t.Seconds())) }
	for i := range jobs {
		j := &jobs[i]
		if j.Prediction == rows.None || j.Runtime == rows.None || j.State != rows.Finished && j.State != rows.Walltime {
			continue
		}
		real := j.Runtime
		if j.State == rows.Walltime {
			real = j.Estimate
		}
		at := [2]int{field(real), field(j.Prediction)}
		counts[at]++
		most = max(most, counts[at])
	}
	return counts, most
}

// edge returns where a field begins, in seconds: the inverse of durationScale.place.
func edge(field int) float64 {
	p := float64(field) / fieldsADecade
	if p <= 1 {
		return float64(linearBelow * p)
	}
	return linearBelow * math.Pow(10, p-1)
}

// shade is the darker the more jobs there are, by orders of magnitude, from almost white to almost
// black. Invariant: 0 < n <= most.
func shade(n, most int) color.Color {
	share := math.Log1p(float64(n)) / math.Log1p(float64(most))
	level := uint8(235 - 215*share)
	return color.RGBA{R: level, G: level, B: level, A: 0xff}
}

// drawPredictions draws, of the first run that has predictions, how many jobs of which
// runtime were predicted which, and of all runs the mean error by runtime and the mean
// bounded slowdown of jobs whose runtime was above, at and below its prediction.
func drawPredictions(runs []Rows[rows.Job], accuracy []Rows[rows.Accuracy]) (*Figure, error) {
	var counts map[[2]int]int
	most, of := 0, ""
	for _, r := range runs {
		if counts, most = density(r.Rows); most > 0 {
			of = r.Name
			break
		}
	}
	if most == 0 || len(accuracy) == 0 {
		return nil, &noDataError{"predictions", "job of which something was predicted, or no accuracy-POLICY.csv"}
	}
	panels := []panel{
		densityPanel(of, counts, most),
		{x: axis{"runtime, up to", nil}, y: axis{"mean absolute error", asDurationsFromZero}, height: 36 * vg.Millimeter},
		{x: axis{"prediction", asClasses(0, len(sideNames)-1, func(class int) string { return sideNames[class] })}, y: axis{"mean bounded\nslowdown", asFactors}, height: 30 * vg.Millimeter},
	}
	last := 0
	for i, r := range accuracy {
		errors, slowdowns := accuracyPoints(r.Rows)
		for _, p := range errors {
			last = max(last, int(p.X))
		}
		// Series 0 is the exact line above.
		panels[1].series = append(panels[1].series, draws(r.Name, path(errors, line(i+1)), marks(errors, i+1)))
		panels[2].series = append(panels[2].series, draws("", marks(slowdowns, i+1)))
	}
	panels[1].x.ends = asClasses(0, last, func(class int) string { return lengthNames[class] })
	f := column(36 * vg.Millimeter).show(panels...)
	f.Note = "Above, how many jobs there are, darker by orders of magnitude. Times: linear up to 10 s, logarithmic beyond. A prediction is that at submission."
	return f, nil
}

// densityPanel is the panel of the counts of density, whose greatest is most, with the line on
// which a prediction is exact. Fields are drawn in order, so that the file is always the same.
func densityPanel(title string, counts map[[2]int]int, most int) panel {
	fields := slices.SortedFunc(maps.Keys(counts), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	var all boxes
	greatest := 0.0
	for _, at := range fields {
		all = append(all, box{edge(at[0]), edge(at[0] + 1), edge(at[1]), edge(at[1] + 1), shade(counts[at], most)})
		greatest = max(greatest, edge(max(at[0], at[1])+1))
	}
	exact := path(points{{}, {X: greatest, Y: greatest}}, line(0))
	return panel{
		title: title,
		x:     axis{"runtime", asDurations}, y: axis{"prediction", asDurations},
		series: []series{draws("", all), draws("prediction = runtime", exact)},
		height: 60 * vg.Millimeter,
	}
}

// sideNames are the classes of accuracy-POLICY.csv by side: the prediction was above, at or below
// the runtime.
var sideNames = []string{"over", "exact", "under"}

// accuracyPoints returns the mean errors (s) by class of runtime, and the mean slowdowns by side.
// Classes without jobs have no numbers, and no points.
func accuracyPoints(all []rows.Accuracy) (errors, slowdowns points) {
	for i := range all {
		r := &all[i]
		switch r.By {
		case "runtime":
			// The class is told by its upper end in seconds; the last one has none.
			limit := des.Forever
			if seconds, err := strconv.ParseFloat(r.Class, 64); err == nil && seconds < des.Forever.Seconds() {
				limit = des.Seconds(seconds)
			}
			if !math.IsNaN(r.MeanAbsoluteError) && !math.IsInf(r.MeanAbsoluteError, 0) && r.MeanAbsoluteError >= 0 {
				errors = append(errors, plotter.XY{X: float64(metrics.LengthClass(limit)), Y: r.MeanAbsoluteError})
			}
		case "side":
			if class := slices.Index(sideNames, r.Class); class >= 0 && r.MeanBoundedSlowdown >= 1 && !math.IsInf(r.MeanBoundedSlowdown, 1) {
				slowdowns = append(slowdowns, plotter.XY{X: float64(class), Y: r.MeanBoundedSlowdown})
			}
		}
	}
	return errors, slowdowns
}
