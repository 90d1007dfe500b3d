package validate

// Capacity that is withheld, as the online validator sees it, and jobs that follow
// others.

import (
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// outage is capacity that no job may have over [from, to): so many counted
// processors, or one node.
type outage struct {
	hold     *entity.Hold
	from, to des.Time
	count    int
	node     *entity.Node
	place    []procset.Range // which processors, where that is said
	looked   bool            // jobs that run have been compared with it
}

// Withheld takes in capacity that leaves the plan.
func (v *Validator) Withheld(h *entity.Hold) {
	v.move()
	w := h.Window()
	if w.Tasks == nil {
		v.outages = append(v.outages, outage{hold: h, from: w.Start, to: w.End, count: w.Nodes, place: h.Where().Set})
	}
	for _, t := range w.Tasks {
		v.outages = append(v.outages, outage{hold: h, from: w.Start, to: t.End, node: t.Node})
	}
}

// Returned takes in what comes back of it before its end.
func (v *Validator) Returned(h *entity.Hold) {
	v.move()
	for i := range v.outages {
		if o := &v.outages[i]; o.hold == h {
			o.to = min(o.to, max(o.from, v.now))
		}
	}
	v.outages = slices.DeleteFunc(v.outages, func(o outage) bool { return o.from >= o.to })
}

// move has the validator look at the simulation's clock, since what is told of
// capacity has no time of its own.
func (v *Validator) move() {
	if now := v.meta.Simulator().Now(); now > v.now {
		v.settle()
		v.withheldBetween(now)
		v.now = now
	}
}

// down is how many counted processors are withheld at an instant.
func (v *Validator) down(at des.Time) (n int) {
	for i := range v.outages {
		if o := &v.outages[i]; o.from <= at && at < o.to {
			n += o.count
		}
	}
	return n
}

// withheldBetween checks what begins to be withheld after the instant of the latest
// event, and before the present one: nothing has started or ended in between.
func (v *Validator) withheldBetween(now des.Time) {
	for i := range v.outages {
		if o := &v.outages[i]; v.now < o.from && o.from < now && o.count > 0 {
			v.room(o.from)
		}
	}
	v.outages = slices.DeleteFunc(v.outages, func(o outage) bool { return o.to <= now })
}

// room checks that the jobs that run have left room for what is withheld.
func (v *Validator) room(at des.Time) {
	if down := v.down(at); v.Processors > 0 && down > 0 && v.busy+down > v.Processors {
		v.report.add(v.Limit, OnWhatIsDown, at, -1, "%d of %d processors are withheld, and %d are busy", down, v.Processors, v.busy)
	}
}

// onWhatIsDown checks the present instant, at which jobs have started or capacity
// has been withheld.
func (v *Validator) onWhatIsDown(started []*followed) {
	if len(v.outages) == 0 {
		return
	}
	v.room(v.now)
	for i := range v.outages {
		o := &v.outages[i]
		for _, r := range o.place {
			for p := r.First; o.from <= v.now && v.now < o.to && p <= r.Last && int(p) < len(v.holders); p++ {
				if f := v.holders[p]; f != nil && (!o.looked || f.start == v.now) {
					v.violation(OnWhatIsDown, f.job, "has processor %d, which is withheld", p)
				}
			}
		}
		if use := v.nodes[o.node]; !o.looked && use.job != nil && use.until > max(o.from, use.job.start) && use.job.start < o.to {
			v.violation(OnWhatIsDown, use.job.job, "has node %d until %v, which is withheld from %v on", o.node.ID, use.until, o.from)
		}
		for _, f := range started {
			if o.looked && f.state == entity.Running && o.node != nil && v.nodes[o.node].job == f && f.start < o.to && v.nodes[o.node].until > o.from {
				v.violation(OnWhatIsDown, f.job, "started on node %d, which is withheld over [%v, %v)", o.node.ID, o.from, o.to)
			}
		}
		o.looked = true
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
			if over && v.now < before.submitted.Add(d.Think) {
				v.violation(BeforeItsTurn, f.job, "started before %v, %v after the submission of job %d", before.submitted.Add(d.Think), d.Think, d.Job)
			}
		case !over && v.here(d.Job) != nil:
			v.violation(BeforeItsTurn, f.job, "started before the end of job %d, which it follows", d.Job)
		case over && d.OK && !before.well:
			v.violation(BeforeItsTurn, f.job, "started, though job %d has not finished well", d.Job)
		case over && v.now < before.at.Add(d.Think):
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
	v.gone[f.job.ID] = gone{f.job.Submit, v.now, well}
}
