package figure

// What figures of jobs show, as numbers to read off.

import (
	"math"
	"slices"

	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// Numbers are what a figure shows, as a table. Rows have a name each (Names) or, where
// Names is nil, begin with a number; what there is no value of is NaN.
type Numbers struct {
	Columns []Column // that of the names, if there is one, is the first
	Names   []string
	Rows    [][]float64
}

// Column is a column of Numbers; its numbers are worth reading to so many decimals.
type Column struct {
	Name     string
	Decimals int
}

// quantity is what became of a job that ran, by which policies are compared.
type quantity struct {
	name   string
	of     func(*rows.Job) float64
	isTime bool // in seconds; otherwise it is a factor of 1 or more
}

// The quantities in the order of tables.
var quantities = [...]quantity{
	{"wait", func(j *rows.Job) float64 { return j.Wait().Seconds() }, true},
	{"bounded slowdown", func(j *rows.Job) float64 { return j.BoundedSlowdown }, false},
	{"turnaround", func(j *rows.Job) float64 { return j.Turnaround().Seconds() }, true},
}

// label is the name of a quantity with its unit.
func (q quantity) label() string {
	if q.isTime {
		return q.name + ", s"
	}
	return q.name
}

// values are the quantity of all jobs that count.
func (q quantity) values(jobs []rows.Job) (values []float64) {
	for i := range jobs {
		if counts(&jobs[i]) {
			values = append(values, q.of(&jobs[i]))
		}
	}
	return values
}

// counts reports whether a job counts in means of waits, as in the summary.
func counts(j *rows.Job) bool {
	return j.Ran() && j.BoundedSlowdown >= 1 && !math.IsInf(j.BoundedSlowdown, 1)
}

// numbersOfMeans are the means of each quantity, by quantity and run, with half of their
// intervals.
func numbersOfMeans(runs []Rows[rows.Job], means [len(quantities)][]stats.Batches) *Numbers {
	n := &Numbers{Columns: []Column{{Name: "mean"}}}
	for _, r := range runs {
		n.Columns = append(n.Columns, Column{r.Name, 2}, Column{"±, 95%", 2})
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

// numbersOfQuantiles are the values that so many percent of the jobs do not exceed: the
// least value for which that is true.
func numbersOfQuantiles(runs []Rows[rows.Job]) *Numbers {
	n := &Numbers{Columns: []Column{{Name: "jobs, %"}}}
	var sorted [][]float64 // by run and quantity
	for _, r := range runs {
		for _, q := range quantities {
			n.Columns = append(n.Columns, Column{r.Name + ": at most, " + q.label(), 2})
			sorted = append(sorted, slices.Sorted(slices.Values(q.values(r.Rows))))
		}
	}
	for _, percent := range []int{10, 25, 50, 75, 90, 95, 99, 100} {
		row := []float64{float64(percent)}
		for _, values := range sorted {
			v := math.NaN()
			if len(values) > 0 {
				v = values[(len(values)*percent+99)/100-1]
			}
			row = append(row, v)
		}
		n.Rows = append(n.Rows, row)
	}
	return n
}

// numbersByClass are the mean waits and bounded slowdowns of the classes in which any job
// ran, each told by its upper end.
func numbersByClass(runs []Rows[rows.Job], by classes) *Numbers {
	n := &Numbers{Columns: []Column{{Name: by.told}}}
	groups := make([][]class, len(runs))
	last := 0
	for i, r := range runs {
		n.Columns = append(n.Columns, Column{r.Name + ": jobs", 0}, Column{"mean wait, s", 1}, Column{"mean bounded slowdown", 2})
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
