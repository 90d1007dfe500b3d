package reproduce

// Predictors of runtimes against each other, beyond what was published of them: parts of
// the logs, and weeks in pairs.

import (
	"context"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/findings"
	"github.com/gridslot/gridslot/workload"
)

// predictors compares predictors of runtimes on the logs of SC15: algorithms of SC15 by which
// others may be measured, and ours (docs/papers/field.md).
type predictors sc15

// Parts of the names of quantities, and the measure of the differences week by week.
const (
	secondHalf      = ", second half"
	weeklyLess      = "difference from EASY's, weeks in pairs, "
	slowdownMeasure = "mean_bounded_slowdown"
)

// halves sums up the slowdowns of the jobs that came in the second half of a log, and of all jobs
// by weeks.
type halves struct {
	from int64 // position of the first job of the second half
	// sum is over the n jobs of the second half that have ended.
	sum float64
	n   int
	findings.BatchRecorder
}

// Observe takes one event in. The wait is what the job did not run between its submission and its
// end.
func (h *halves) Observe(e entity.JobEvent) {
	h.BatchRecorder.Observe(e)
	if r := e.Run; (e.Kind == entity.JobFinished || e.Kind == entity.JobKilled) && r.Seq() >= h.from {
		ran := r.Ran()
		h.sum += metrics.BoundedSlowdown(e.Time-r.Submit-ran, ran)
		h.n++
	}
}

// predictorsCell is one run.
type predictorsCell struct {
	sc15Cell
	halves
}

// measure runs every algorithm on every log that is at hand.
func (e predictors) measure(ctx context.Context, c Config, p *page, t *Reproduction) ([]tableRow, error) {
	logs, err := sc15(e).find(p, t)
	if err != nil {
		return nil, err
	}
	var cells []*predictorsCell
	for _, log := range slices.Backward(logs) { // the largest is the last
		for _, a := range e.Algorithms {
			cells = append(cells, &predictorsCell{sc15Cell: sc15Cell{log: log, of: a}})
		}
	}
	err = c.each(ctx, len(cells), func(ctx context.Context, i int) error { return cells[i].simulate(ctx) })
	if err != nil {
		return nil, err
	}
	return e.rows(p, logs, cells)
}

// simulate runs one cell. A first reading of the log finds its middle.
func (c *predictorsCell) simulate(ctx context.Context) error {
	trace, err := workload.OpenSWF(c.log.path)
	if err != nil {
		return err
	}
	n := int64(0)
	for range trace.Jobs() {
		n++
	}
	if err := trace.Err(); err != nil {
		return err
	}
	c.halves = halves{from: n / 2, BatchRecorder: findings.BatchRecorder{Batching: findings.Batching{Every: 7 * des.Day}}}
	return c.schedule(ctx, &c.halves)
}

// rows returns the figures of all runs: slowdowns of whole logs and of their second halves, their
// ratios to EASY's, and the differences from EASY's week by week.
func (e predictors) rows(p *page, logs []sc15Log, cells []*predictorsCell) (rows []tableRow, err error) {
	slowdowns := map[ref]tableRow{}
	add := func(r tableRow) { rows, slowdowns[r.ref()] = append(rows, r), r }
	weekly := &findings.Results{Name: "predictors", Params: []string{"log", "algorithm"}, Measures: []string{slowdownMeasure}}
	for _, log := range logs {
		for _, a := range e.Algorithms {
			c := cells[slices.IndexFunc(cells, func(c *predictorsCell) bool { return c.log == log && c.of == a })]
			r := p.published(tableRow{Series: a.Name, Quantity: slowdownIn(log.name), Ours: single(c.result.Summary.MeanBoundedSlowdown), Own: a.Own}, log.index)
			add(r)
			add(tableRow{Series: a.Name, Quantity: r.Quantity + secondHalf, Ours: single(c.sum / float64(c.n)), Own: a.Own})
			weekly.Runs = append(weekly.Runs, findings.Run{Params: []string{log.name, a.Name}, Values: []float64{r.Ours.Mean}, Batches: c.Batches()})
		}
	}
	for _, a := range e.Algorithms {
		for _, part := range []string{"", secondHalf} {
			r := a.ratio(slowdowns, logs, "", part)
			r.Code = "" // what was published is of all that sc15 has
			rows = append(rows, r)
		}
	}
	weeks, err := findings.Analyze(weekly, findings.Options{
		Measures: []string{slowdownMeasure}, Baseline: []findings.Param{{Name: "algorithm", Value: sc15EASY}},
	})
	if err != nil {
		return nil, err
	}
	for _, c := range weeks.Comparisons {
		of := weeks.Cells[c.Cell].Params
		rows = append(rows, tableRow{Series: of[1], Point: of[0], Quantity: weeklyLess + string(c.By), Ours: c.Difference, Own: true})
	}
	return rows, nil
}
