package simulation

// alternatives-POLICY.csv: the windows that were found for every job of a batch, and
// which of them was chosen.

import (
	"fmt"
	"io"
	"strconv"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/policy/cyclic"
)

const alternativesHeader = "planned_at,job_id,alternative,node,start,end,cost,chosen\n"

// checkAlternatives refuses a file of alternatives where there would be none.
func (c *call) checkAlternatives() error {
	if _, domain := c.machine().(*Domain); c.options.Alternatives && !domain {
		return wrong("alternatives", "windows to choose from are found for the batches of a domain alone")
	}
	return nil
}

// alternatives writes the file while the run goes on.
type alternatives struct {
	out io.Writer
	buf []byte
	err error
}

// tellAlternatives has the batches of p tell what they could choose from, behind
// whoever hears of them already. It returns nil where no files are wanted, or where
// the planner searches for no alternatives.
func tellAlternatives(x *Session, p *cyclic.Policy) (*alternatives, error) {
	switch planner := p.Planner.(type) {
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
	a := &alternatives{out: w, buf: []byte(alternativesHeader)}
	a.flush()
	before := p.Told
	p.Told = func(r *entity.Round, batch []*entity.Run, out *cyclic.Outcome) {
		if before != nil {
			before(r, batch, out)
		}
		a.told(r, batch, out)
	}
	return a, nil
}

// told takes one planned batch in.
func (a *alternatives) told(r *entity.Round, batch []*entity.Run, out *cyclic.Outcome) {
	for i, j := range batch {
		d := &out.Jobs[i]
		for k, w := range d.Found {
			chosen := d.OK && k == d.Chosen
			if chosen {
				w = d.Window
			}
			for _, t := range w.Tasks {
				b := append(r.Now.Append(a.buf), ',')
				b = append(strconv.AppendInt(b, j.ID, 10), ',')
				b = append(strconv.AppendInt(b, int64(k+1), 10), ',')
				b = append(strconv.AppendInt(b, int64(t.Node.ID), 10), ',')
				b = append(w.Start.Append(b), ',')
				b = append(t.End.Append(b), ',')
				b = append(append(b, flow.Cost(t.Node, t.End-w.Start).String()...), ',')
				if chosen {
					b = append(b, '1', '\n')
				} else {
					b = append(b, '0', '\n')
				}
				a.buf = b
			}
		}
	}
	a.flush()
}

func (a *alternatives) flush() {
	if a.err == nil {
		if _, err := a.out.Write(a.buf); err != nil {
			a.err = fmt.Errorf("alternatives CSV: %w", err)
		}
	}
	a.buf = a.buf[:0]
}

// failed is the first error met.
func (a *alternatives) failed() error {
	if a == nil {
		return nil
	}
	return a.err
}
