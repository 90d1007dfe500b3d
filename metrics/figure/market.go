package figure

// Owners, prices, and alternatives of a batch.

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gridslot/gridslot/metrics/rows"
)

// mostOwners is the number of owners that have room beside each other.
const mostOwners = 20

// ownersOf returns the names of the owners of all runs, each once. A run with at most mostOwners
// tells them in the order of its file, another one by income.
func ownersOf(runs []Rows[rows.Owner]) []string {
	var names []string
	for _, r := range runs {
		earned := slices.Clone(r.Rows)
		slices.SortStableFunc(earned, func(a, b rows.Owner) int { return cmp.Compare(b.Income, a.Income) })
		if len(r.Rows) <= mostOwners {
			earned = r.Rows
		}
		for _, o := range earned {
			if name := siteAnd(o.Site, o.Name); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// drawOwners draws what each owner earned, and for what mean price a node was used, beside each
// other for each run. Owners have no costs in the model, so that their income is their profit. Of
// more than mostOwners, those that earned most in the first run are drawn.
func drawOwners(runs []Rows[rows.Owner]) (*Figure, error) {
	names := ownersOf(runs)
	if len(names) == 0 {
		return nil, &noDataError{"owners", "owners-POLICY.csv: nodes name no owners, and prices do not react"}
	}
	note := "Money of the simulation. Owners have no costs: income is profit."
	if len(names) > mostOwners {
		note += fmt.Sprintf(" The %d of %d owners that earned most in the first run.", mostOwners, len(names))
		names = names[:mostOwners]
	}
	// A group of bars for each owner, a bar in it for each run.
	width := 0.8 / float64(len(runs))
	var incomes, prices []series
	for i, r := range runs {
		var earned, mean boxes
		for _, o := range r.Rows {
			x := slices.Index(names, siteAnd(o.Site, o.Name))
			if x < 0 {
				continue
			}
			from := float64(x) - 0.4 + float64(float64(i)*width)
			earned = append(earned, box{from, from + width*0.92, 0, o.Income, colour(i)})
			if o.UsedTime > 0 {
				// Income a second of node time, times 3600: income a node-hour.
				mean = append(mean, box{from, from + width*0.92, 0, 3600 * o.Income / o.UsedTime, colour(i)})
			}
		}
		incomes = append(incomes, draws(r.Name, earned, swatch{colour(i)}))
		prices = append(prices, draws("", mean))
	}
	var ticks []plot.Tick
	for x, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(x), Label: wrap(name, tickSize, 18*vg.Millimeter)})
	}
	owners := between(-0.5, float64(len(names))-0.5, ticks...)
	if len(names) > 8 {
		owners = turned(owners, 0.7, draw.YTop)
	}
	// An income is below 0 if users got back more than they paid.
	f := column(36*vg.Millimeter).show(
		panel{x: axis{"", owners}, y: axis{"income", fromZero(1e-9)}, series: incomes},
		panel{x: axis{"owner", owners}, y: axis{"income per node-hour", fromZero(1e-9)}, series: prices},
	)
	f.Note = note
	return f, nil
}

// siteAnd returns a name with the site in front of it, if there is one.
func siteAnd(site, name string) string {
	if site == "" {
		return name
	}
	return site + "/" + name
}

// meanPrices returns the mean price of each owner's nodes over time, owners in the order in which
// they come first. If there are more than most of them, it is one mean over all nodes, of the
// owner "".
func meanPrices(told []rows.Price, most int) (owners []string, prices [][]change) {
	for _, r := range told {
		if name := siteAnd(r.Site, r.Owner); !slices.Contains(owners, name) {
			owners = append(owners, name)
		}
	}
	all := len(owners) > most
	if all {
		owners = []string{""}
	}
	type node struct {
		site string
		id   int64
	}
	told = slices.Clone(told)
	slices.SortStableFunc(told, func(a, b rows.Price) int { return cmp.Compare(a.Time, b.Time) })
	// now is the present price of each node; sums and nodes are by owner, so that a change of one
	// price changes a mean in O(1). A node counts from its first price on.
	now := map[node]float64{} // never iterated
	sums, nodes := make([]float64, len(owners)), make([]int, len(owners))
	prices = make([][]change, len(owners))
	for _, r := range told {
		k := 0
		if !all {
			k = slices.Index(owners, siteAnd(r.Site, r.Owner))
		}
		n := node{r.Site, r.Node}
		before, known := now[n]
		if !known {
			nodes[k]++
		}
		now[n] = r.Price
		sums[k] += r.Price - before
		c := change{r.Time.Seconds(), sums[k] / float64(nodes[k])}
		if list := prices[k]; len(list) > 0 && list[len(list)-1].at == c.at {
			list[len(list)-1] = c
		} else {
			prices[k] = append(list, c)
		}
	}
	return owners, prices
}

// legendOf says whose prices a line shows.
func legendOf(owner string) string {
	if owner == "" {
		return "all nodes"
	}
	return "owner " + owner
}

// drawPrices draws the mean price of the nodes of each owner over time, a panel for each run; if
// there are more than six owners, of all nodes. All panels have the same axes.
func drawPrices(runs []Rows[rows.Price]) (*Figure, error) {
	last, most := 0.0, 0.0
	for _, r := range runs {
		for _, row := range r.Rows {
			last = max(last, row.Time.Seconds())
		}
	}
	if last <= 0 {
		return nil, &noDataError{"prices", "prices-POLICY.csv with changes: prices do not react"}
	}
	unit, unitName := timeUnit(last)
	var panels []panel
	var known []string // owners of all runs: each has one colour in all panels
	for _, r := range runs {
		if len(r.Rows) == 0 {
			continue
		}
		p := panel{title: r.Name, x: axis{"time, " + unitName, between(0, last/unit)}}
		owners, prices := meanPrices(r.Rows, 6)
		for i, changes := range prices {
			if !slices.Contains(known, owners[i]) {
				known = append(known, owners[i])
			}
			var xy points
			// The last price holds until the end of the axis.
			for _, c := range append(changes, change{last, changes[len(changes)-1].value}) {
				xy = append(xy, plotter.XY{X: c.at / unit, Y: c.value})
				most = max(most, c.value)
			}
			p.series = append(p.series, draws(legendOf(owners[i]), path(steps(xy), line(slices.Index(known, owners[i])))))
		}
		panels = append(panels, p)
	}
	for i := range panels {
		panels[i].y = axis{"mean price", between(0, niceAbove(max(most, 1e-9)))}
	}
	f := column(34 * vg.Millimeter).show(panels...)
	f.labelBelow()
	f.Note = "Of an owner's nodes, for a time unit, in money of the simulation."
	return f, nil
}

// drawIncome draws what all owners together are paid in a cycle, over time, a line for each run.
// The income of a cycle under way is not known.
func drawIncome(runs []Rows[rows.Cycle]) (*Figure, error) {
	last, paid := 0.0, false
	for _, r := range runs {
		for _, c := range r.Rows {
			last = max(last, c.Start.Seconds())
			paid = paid || c.Income != 0 && !math.IsNaN(c.Income)
		}
	}
	if !paid {
		return nil, &noDataError{"income", "cycles-POLICY.csv with income: nobody was paid"}
	}
	unit, unitName := timeUnit(last)
	var all []series
	for i, r := range runs {
		var xy points
		for _, c := range r.Rows {
			if !math.IsNaN(c.Income) {
				xy = append(xy, plotter.XY{X: c.Start.Seconds() / unit, Y: c.Income})
			}
		}
		all = append(all, draws(r.Name, path(steps(xy), line(i))))
	}
	f := column(40 * vg.Millimeter).show(panel{
		x:      axis{"time, " + unitName, func(a *plot.Axis) { a.Min = 0 }},
		y:      axis{"income in a cycle", fromZero(1e-9)},
		series: all,
	})
	f.Note = "Money of the simulation, of all owners together, less what users got back."
	return f, nil
}

// largestSlice returns the combinations of one slice of one batch: of those with two points of a
// front at least, the slice with the most jobs, and of several such the first. Rows of a slice
// follow one another. A row with Point 0 is what was chosen.
func largestSlice(all []rows.Combination) []rows.Combination {
	var best []rows.Combination
	for from := 0; from < len(all); {
		to, points := from, 0
		for ; to < len(all) && all[to].PlannedAt == all[from].PlannedAt && all[to].Slice == all[from].Slice; to++ {
			if all[to].Point > 0 {
				points++
			}
		}
		if points >= 2 && (best == nil || all[from].Jobs > best[0].Jobs) {
			best = all[from:to]
		}
		from = to
	}
	return best
}

// drawAlternatives draws what the jobs of a batch together could have cost for what time: the
// Pareto front of their combinations, and the combination that was chosen (META). It takes the
// largest slice of each run, a panel each.
func drawAlternatives(runs []Rows[rows.Combination]) (*Figure, error) {
	f := column(45 * vg.Millimeter)
	for i, r := range runs {
		slice := largestSlice(r.Rows)
		if slice == nil {
			continue
		}
		var front, chosen points
		// Row 0 is the combination that was chosen, the others are the front.
		for _, c := range slice {
			if at := (plotter.XY{X: c.Time, Y: c.Cost}); c.Point > 0 {
				front = append(front, at)
			} else {
				chosen = append(chosen, at)
			}
		}
		slices.SortStableFunc(front, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		l, m, c := path(front, line(i)), marks(front, i), marks(chosen, 6)
		l.Width /= 2
		c.Shape, c.Radius = ring{}, 3.5
		f.show(panel{
			title:  r.Name,
			x:      axis{"time of all windows, time units", withRoom},
			y:      axis{"cost of all windows", withRoom},
			series: []series{draws("Pareto front", l, m), draws("chosen", c)},
		})
		f.Note += fmt.Sprintf("%s: the batch planned at %v, slice %d, %d jobs. ", plain(r.Name), slice[0].PlannedAt, slice[0].Slice, slice[0].Jobs)
	}
	if len(f.Panels) == 0 {
		return nil, &noDataError{"alternatives", "pareto-POLICY.csv with a front: give a policy front=N"}
	}
	return f, nil
}
