package figure

// What figures of jobs show, as numbers to read off.

import (
	"math"
	"slices"

	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// Numbers are the values of a figure, as a table. Rows have a name each (Names) or, if Names is
// nil, begin with a number. A cell without a value is NaN.
type Numbers struct {
	// Columns are the columns of the table. If there are Names, the first column is the column of
	// names.
	Columns []numberColumn
	Names   []string
	// Rows have a number for each column, except the column of names.
	Rows [][]float64
}

// numberColumn is a column of Numbers, whose numbers are written with that many decimals.
type numberColumn struct {
	Name     string
	Decimals int
}

// quantity is a measure of a job that ran, by which policies are compared. Invariant: of returns no
// value below 0, and no factor below 1.
type quantity struct {
	name   string
	of     func(*rows.Job) float64
	isTime bool // in seconds; otherwise it is a factor of 1 or more
}

// quantities are in the order of tables.
var quantities = [...]quantity{
	{"wait", func(j *rows.Job) float64 { return j.Wait().Seconds() }, true},
	{"bounded slowdown", func(j *rows.Job) float64 { return j.BoundedSlowdown }, false},
	{"turnaround", func(j *rows.Job) float64 { return j.Turnaround().Seconds() }, true},
}

// label returns the name of a quantity with its unit.
func (q quantity) label() string {
	if q.isTime {
		return q.name + ", s"
	}
	return q.name
}

// values returns the quantity of all jobs that count, in their order.
func (q quantity) values(jobs []rows.Job) (values []float64) {
	for i := range jobs {
		if counts(&jobs[i]) {
			values = append(values, q.of(&jobs[i]))
		}
	}
	return values
}

// counts reports whether a job counts in means of waits, as in the summary: it ran, and its
// slowdown is a number.
func counts(j *rows.Job) bool {
	return j.Ran() && j.BoundedSlowdown >= 1 && !math.IsInf(j.BoundedSlowdown, 1)
}

// numbersOfMeans tells the means of each quantity, by quantity and run, with half the width of
// their intervals.
func numbersOfMeans(runs []Rows[rows.Job], means [len(quantities)][]stats.LongRunMean) *Numbers {
	n := &Numbers{Columns: []numberColumn{{Name: "mean"}}}
	for _, r := range runs {
		n.Columns = append(n.Columns, numberColumn{r.Name, 2}, numberColumn{"±, 95%", 2})
	}
	for k, q := range quantities {
		var row []float64
		for _, m := range means[k] {
			row = append(row, m.Mean, m.HalfWidth)
		}
		n.Names, n.Rows = append(n.Names, q.label()), append(n.Rows, row)
	}
	return n
}

// numbersOfQuantiles tells the values that the given percent of the jobs do not exceed: the least
// value of which that is true, so that it is a value of a job (definition 1 of Hyndman and Fan,
// 1996).
func numbersOfQuantiles(runs []Rows[rows.Job]) *Numbers {
	n := &Numbers{Columns: []numberColumn{{Name: "jobs, %"}}}
	var sorted [][]float64 // by run and quantity
	for _, r := range runs {
		for _, q := range quantities {
			n.Columns = append(n.Columns, numberColumn{r.Name + ": at most, " + q.label(), 2})
			sorted = append(sorted, slices.Sorted(slices.Values(q.values(r.Rows))))
		}
	}
	for _, percent := range []int{10, 25, 50, 75, 90, 95, 99, 100} {
		row := []float64{float64(percent)}
		for _, values := range sorted {
			v := math.NaN()
			if len(values) > 0 {
				// The index is n percent / 100, rounded up, less one because slices begin at 0.
				v = values[(len(values)*percent+99)/100-1]
			}
			row = append(row, v)
		}
		n.Rows = append(n.Rows, row)
	}
	return n
}

// numbersByClass tells the mean waits and bounded slowdowns of the classes in which any job ran,
// each by its upper end, 2 to the class.
func numbersByClass(runs []Rows[rows.Job], by classes) *Numbers {
	n := &Numbers{Columns: []numberColumn{{Name: by.told}}}
	groups := make([][]class, len(runs))
	last := 0
	for i, r := range runs {
		n.Columns = append(n.Columns, numberColumn{r.Name + ": jobs", 0}, numberColumn{"mean wait, s", 1}, numberColumn{"mean bounded slowdown", 2})
		groups[i] = by.grouped(r.Rows)
		last = max(last, len(groups[i]))
	}
	for c := range last {
		row, jobs := []float64{math.Ldexp(1, c)}, 0
		for _, g := range groups {
			if c >= len(g) || g[c].wait.N() == 0 {
				row = append(row, 0, math.NaN(), math.NaN())
				continue
			}
			jobs += g[c].wait.N()
			row = append(row, float64(g[c].wait.N()), g[c].wait.Mean(), g[c].slowdown.Mean())
		}
		if jobs > 0 {
			n.Rows = append(n.Rows, row)
		}
	}
	return n
}
