package report

// The windows that jobs could choose from, where the run tells them (alternatives-POLICY.csv).

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/metrics/rows"
)

// windows returns, in the order of the jobs, the alternatives that each had when it was planned
// last; nil where the run does not tell. A row is a task of an alternative, a node.
func (c *chart) windows() ([]rows.WindowTask, error) {
	all, err := c.run.Windows()
	if err != nil || all == nil {
		return nil, err
	}
	last := make([]int, len(c.jobs)) // where the rows of the last plan begin, by job
	for i := range all {
		w, job := &all[i], c.indexOf(all[i].Job)
		if job < 0 {
			continue
		}
		// A new plan begins with another job, at another instant, or where the alternatives are
		// counted from the first again.
		if i == 0 || all[i-1].Job != w.Job || all[i-1].PlannedAt != w.PlannedAt || all[i-1].Alternative > w.Alternative {
			last[job] = i
		}
	}
	kept := make([]rows.WindowTask, 0, len(all))
	for i := range all {
		if job := c.indexOf(all[i].Job); job >= 0 && i >= last[job] {
			kept = append(kept, all[i])
		}
	}
	slices.SortStableFunc(kept, func(a, b rows.WindowTask) int { return cmp.Compare(c.index[a.Job], c.index[b.Job]) })
	return kept, nil
}

// packWindows returns the windows as the page holds them, nil where there are none.
func (c *chart) packWindows(lanes []*gantt.Lane) ([]column, []byte, error) {
	w, err := c.windows()
	if err != nil || len(w) == 0 {
		return nil, nil, err
	}
	p := packer{tick: des.Second}
	if slices.ContainsFunc(w, func(w rows.WindowTask) bool { return w.Start%des.Second != 0 || w.End%des.Second != 0 }) {
		p.tick = 1
	}
	n := len(w)
	p.numbers("job", n, func(i int) int64 { return int64(c.index[w[i].Job]) })
	p.numbers("alternative", n, func(i int) int64 { return int64(w[i].Alternative) })
	p.numbers("row", n, func(i int) int64 { return int64(rowOfNode(lanes, w[i].Node)) })
	p.numbers("chosen", n, func(i int) int64 { return bit(w[i].Chosen) })
	p.times("start", n, func(i int) des.Time { return w[i].Start })
	p.times("end", n, func(i int) des.Time { return w[i].End })
	// In millionths; a cost that is not known is 0.
	p.add("cost", 1e6, n, func(i int) int64 {
		if math.IsNaN(w[i].Cost) {
			return 0
		}
		return int64(math.Round(w[i].Cost * 1e6))
	})
	return p.columns, p.text(), nil
}

// rowOfNode returns the row of a named node of whatever lane, -1 for one that is not there: in a
// union nodes are numbered through, so no two lanes have one id.
func rowOfNode(lanes []*gantt.Lane, id int64) int {
	for _, l := range lanes {
		if l.Nodes != nil {
			if row := l.RowOf(id); row >= 0 {
				return row
			}
		}
	}
	return -1
}
