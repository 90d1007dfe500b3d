package agent

// Strategies for rigid jobs: all tasks at one site, or none.

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
)

// Preference is which of several sites' offers for a whole job a Router takes.
// Every offer is within the job's budget and deadline.
type Preference uint8

const (
	// Cheapest is the least cost; of equals the one that ends first.
	Cheapest Preference = iota
	// Earliest is the earliest end; of equals the cheapest.
	Earliest
	// Preferred is the best by the job's own criterion (plan.Compare). A job
	// without one, or with offers of which a cluster's knows no criterion, takes
	// the earliest end.
	Preferred
)

func (p Preference) String() string {
	return [...]string{"cheapest", "earliest", "preferred"}[p]
}

// Router asks all sites for a window for the whole job and reserves the one that
// it prefers. Its broker deals with one job after the other, so that it is not in
// its own way. Where another one was faster it asks again; a job for which that
// happens Tries times is left to the regulator, to which sites keep what they
// offer. A job for which no site has a window is rejected.
type Router struct {
	By Preference

	jobs    []*entity.Job // to be placed, in order; the first one is dealt with
	refused int           // how often the first one was
}

// Tries is how often a Router asks for one job.
const Tries = 10

var _ grid.Router = (*Router)(nil)

// Name is the preference's.
func (r *Router) Name() string { return r.By.String() }

// Place deals with the job when those before it are placed.
func (r *Router) Place(b *grid.Broker, j *entity.Job) {
	if r.jobs = append(r.jobs, j); len(r.jobs) == 1 {
		r.ask(b)
	}
}

// ask asks for the first job, and reserves.
func (r *Router) ask(b *grid.Broker) {
	j := r.jobs[0]
	b.AskWhole(j, func(offers []grid.Offer, refusals []grid.Refusal) {
		if len(offers) == 0 {
			b.Reject(j, noSite(refusals))
			r.next(b)
			return
		}
		// A cluster's offer cannot be weighed by a criterion; then none is, or the
		// order would not be one.
		by := *r
		if by.By == Preferred && slices.ContainsFunc(offers, counted) {
			by.By = Earliest
		}
		best := slices.MinFunc(offers, func(x, y grid.Offer) int { return by.Compare(j, x, y) })
		b.Reserve(j, best, j.Request.Nodes)
	})
}

// counted reports an offer of a plan whose nodes have no names.
func counted(o grid.Offer) bool { return o.Window == nil || o.Window.Tasks == nil }

// next goes on to the next job.
func (r *Router) next(b *grid.Broker) {
	r.jobs, r.refused = r.jobs[1:], 0
	if len(r.jobs) > 0 {
		r.ask(b)
	}
}

// Answered goes on to the next job, or asks again.
func (r *Router) Answered(b *grid.Broker, f *grid.Fragment, refusal string) {
	if refusal != "" {
		if r.refused++; r.refused < Tries {
			r.ask(b)
			return
		}
		b.Intervene(f.Job, f.Job.Request.Nodes)
	}
	r.next(b)
}

// Compare implements grid.Router. Equals stand in the order of the sites.
func (r *Router) Compare(j *entity.Job, x, y grid.Offer) int {
	finish, cost := cmp.Compare(x.Finish(), y.Finish()), cmp.Compare(x.Cost(), y.Cost())
	site := cmp.Compare(x.Agent.Index, y.Agent.Index)
	switch r.By {
	case Cheapest:
		return cmp.Or(cost, finish, site)
	case Preferred:
		return cmp.Or(plan.Compare(j.Request.Criterion, x.Window, y.Window), finish, cost, site)
	}
	return cmp.Or(finish, cost, site)
}

// Done learns nothing.
func (*Router) Done(*grid.Broker, *grid.Fragment) {}

// noSite says why no site takes a job: what the first of them says.
func noSite(refusals []grid.Refusal) string {
	if len(refusals) == 0 {
		return "no site can be reached"
	}
	first := refusals[0]
	text := fmt.Sprintf("no site takes it: %s: %s", first.Agent.Name(), first.Reason)
	if others := len(refusals) - 1; others > 0 {
		text += fmt.Sprintf(" (and %d other sites)", others)
	}
	return text
}

// Distributed divides the job flow among the sites: each job goes, whole, into the
// queue of the site that has least to do for this broker, for its power, of those
// that could run it; there it is planned by the site's own policy. What a broker
// does not count is the work of others. A job that no site could run is rejected.
type Distributed struct {
	work []float64 // by site: processor time of what was sent and has not ended
}

var _ grid.Router = (*Distributed)(nil)

// Name is "distributed".
func (*Distributed) Name() string { return "distributed" }

// Place sends the job.
func (d *Distributed) Place(b *grid.Broker, j *entity.Job) {
	if d.work == nil {
		d.work = make([]float64, len(b.Agents()))
	}
	var refusals []grid.Refusal
	var best *grid.ResourceAgent
	least := math.Inf(1)
	for i, a := range b.Agents() {
		if err := a.Fits(j.Request); err != nil {
			refusals = append(refusals, grid.Refusal{Agent: a, Reason: err.Error()})
		} else if load := (d.work[i] + workOf(j)) / a.Power(); load < least && b.Reaches(a) {
			best, least = a, load
		}
	}
	if best == nil {
		b.Reject(j, noSite(refusals))
		return
	}
	d.work[best.Index] += workOf(j)
	b.Submit(j, best, j.Request.Nodes)
}

// workOf is the processor time that a job asks for, in time units at speed 1.
func workOf(j *entity.Job) float64 { return float64(j.Request.Nodes) * j.Request.Length.Seconds() }

// Done takes the job off what the site has to do.
func (d *Distributed) Done(_ *grid.Broker, f *grid.Fragment) {
	if !f.Emergency {
		d.work[f.Agent.Index] -= workOf(f.Job)
	}
}

// Answered leaves a job that a site has refused, its queue being full, to the
// regulator.
func (d *Distributed) Answered(b *grid.Broker, f *grid.Fragment, refusal string) {
	if refusal != "" {
		d.work[f.Agent.Index] -= workOf(f.Job)
		b.Intervene(f.Job, f.Job.Request.Nodes)
	}
}

// Compare implements grid.Router: the regulator takes the earliest end.
func (*Distributed) Compare(j *entity.Job, x, y grid.Offer) int {
	return (&Router{By: Earliest}).Compare(j, x, y)
}
