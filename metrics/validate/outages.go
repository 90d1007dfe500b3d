package validate

// Capacity that is withheld, as the online validator sees it, and jobs that follow
// others.

import (
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Withheld takes in capacity that leaves the plan.
func (v *Validator) Withheld(h *entity.Hold) {
	v.move()
	w := h.Window()
	if w.Tasks == nil {
		v.c.outages = append(v.c.outages, &outage{hold: h, from: w.Start, to: w.End, count: w.Nodes, place: h.Where().Set})
	}
	for _, t := range w.Tasks {
		v.c.outages = append(v.c.outages, &outage{hold: h, from: w.Start, to: t.End, nodes: []*entity.Node{t.Node}})
	}
}

// Returned takes in what comes back of it before its end.
func (v *Validator) Returned(h *entity.Hold) {
	v.move()
	for _, o := range v.c.outages {
		if o.hold == h {
			o.to = min(o.to, max(o.from, v.c.now))
		}
	}
	v.c.outages = slices.DeleteFunc(v.c.outages, func(o *outage) bool { return o.from >= o.to })
}

// move has the validator look at the simulation's clock, since what is told of
// capacity has no time of its own.
func (v *Validator) move() {
	if now := v.meta.Simulator().Now(); now > v.c.now {
		v.settle()
		v.c.advance(now)
	}
}

// gone is how a job has ended.
type gone struct {
	submitted, at des.Time
	well          bool
}

// follows checks that f, which starts, has waited for the jobs that it follows. Of
// jobs that never came nothing is known.
func (v *Validator) follows(f *followed) {
	for _, d := range f.job.After {
		before, over := v.gone[d.Job]
		switch {
		case d.Submitted:
			if r := v.here(d.Job); r != nil {
				before.submitted, over = r.Submit, true
			}
			if over && v.c.now < before.submitted.Add(d.Think) {
				v.violation(BeforeItsTurn, f.job, "started before %v, %v after the submission of job %d", before.submitted.Add(d.Think), d.Think, d.Job)
			}
		case !over && v.here(d.Job) != nil:
			v.violation(BeforeItsTurn, f.job, "started before the end of job %d, which it follows", d.Job)
		case over && d.OK && !before.well:
			v.violation(BeforeItsTurn, f.job, "started, though job %d has not finished well", d.Job)
		case over && v.c.now < before.at.Add(d.Think):
			v.violation(BeforeItsTurn, f.job, "started before %v, %v after the end of job %d", before.at.Add(d.Think), d.Think, d.Job)
		}
	}
}

// here is a job of that ID that waits or runs, or nil.
func (v *Validator) here(id int64) *entity.Run {
	for r := range v.live { // any: the order does not matter
		if r.ID == id {
			return r
		}
	}
	return nil
}

// ended notes how a job has ended.
func (v *Validator) ended(f *followed, well bool) {
	if v.gone == nil {
		v.gone = map[int64]gone{}
	}
	v.gone[f.job.ID] = gone{f.job.Submit, v.c.now, well}
}
