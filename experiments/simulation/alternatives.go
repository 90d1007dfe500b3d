package simulation

// alternatives-POLICY.csv: the windows that were found for every job of a batch, and
// which of them was chosen.

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/cyclic"
)

// checkAlternatives refuses a file of alternatives if there would be none.
func (c *call) checkAlternatives() error {
	if _, domain := c.machine().(*Domain); c.options.Alternatives && !domain {
		return wrong("alternatives", "windows to choose from are found for the batches of a domain alone")
	}
	return nil
}

// alternatives is the writer of the file. Rows are written while the run goes on.
type alternatives struct{ text *rows.Writer[rows.WindowTask] }

// tellAlternatives lets the batches of p tell what they could choose from, after whoever hears of
// them already. It returns nil if no files are wanted, or if the planner searches for no
// alternatives.
func tellAlternatives(x *session, p *cyclic.Policy) (*alternatives, error) {
	switch planner := p.Planner.(type) {
	// Planners are values: one that keeps its alternatives takes the place of the other.
	case cyclic.CSS:
		planner.Search.Keep = true
		p.Planner = planner
	case cyclic.BatchSlicer:
		planner.Search.Keep = true
		p.Planner = planner
	default:
		return nil, nil
	}
	w, err := x.create("alternatives", "")
	if err != nil || w == nil {
		return nil, err
	}
	a := &alternatives{rows.NewWriter(w, rows.Alternatives)}
	before := p.Told
	p.Told = func(r *entity.Round, batch []*entity.Run, out *cyclic.Outcome) {
		if before != nil {
			before(r, batch, out)
		}
		a.told(r, batch, out)
	}
	return a, nil
}

// told takes one planned batch in: a row for each task of each window that was found for a job. The
// window chosen may have been moved or shifted after the search, so that its own tasks are written.
func (a *alternatives) told(r *entity.Round, batch []*entity.Run, out *cyclic.Outcome) {
	for i, j := range batch {
		d := &out.Jobs[i]
		for k, w := range d.Found {
			chosen := d.OK && k == d.Chosen
			if chosen {
				w = d.Window
			}
			for _, t := range w.Tasks {
				a.text.Write(&rows.WindowTask{
					PlannedAt: r.Now, Job: j.ID, Alternative: k + 1, Node: int64(t.Node.ID), Start: w.Start, End: t.End,
					Cost: flow.Cost(t.Node, t.End-w.Start).Units(), Chosen: chosen,
				})
			}
		}
	}
}

// end writes what is left; a may be nil.
func (a *alternatives) end() error {
	if a == nil {
		return nil
	}
	return a.text.Flush()
}
