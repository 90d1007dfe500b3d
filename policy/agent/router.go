package agent

// Strategies for rigid jobs: all tasks at one site, or none.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/policy/window"
)

// Preference is which of several sites' offers for a whole job a Router takes.
// Every offer is within the job's budget and deadline.
type Preference uint8

const (
	// Cheapest is the least cost; of equals the one that ends first.
	Cheapest Preference = iota
	// Earliest is the earliest end; of equals the cheapest.
	Earliest
	// Preferred is the best by the job's own criterion (window.Compare). A job
	// without one, or with offers of which a cluster's knows no criterion, takes
	// the earliest end.
	Preferred
)

func (p Preference) String() string {
	return [...]string{"cheapest", "earliest", "preferred"}[p]
}

// Router asks all sites for a window for the whole job and reserves the one that
// it prefers. Where others were faster the regulator asks once more and goes by
// the same preference. A job for which no site has a window is rejected.
type Router struct{ By Preference }

var _ grid.Router = Router{}

// Name is the preference's.
func (r Router) Name() string { return r.By.String() }

// Place asks, and reserves.
func (r Router) Place(b *grid.Broker, j *entity.Job) {
	b.AskWhole(j, func(offers []grid.Offer, refusals []grid.Refusal) {
		if len(offers) == 0 {
			b.Reject(j, noSite(refusals))
			return
		}
		best := slices.MinFunc(offers, func(x, y grid.Offer) int { return r.Compare(j, x, y) })
		b.Reserve(j, best, j.Request.Nodes)
	})
}

// Compare implements grid.Router. Equals stand in the order of the sites.
func (r Router) Compare(j *entity.Job, x, y grid.Offer) int {
	finish, cost := cmp.Compare(x.Finish(), y.Finish()), cmp.Compare(x.Cost(), y.Cost())
	site := cmp.Compare(x.Agent.Index, y.Agent.Index)
	switch r.By {
	case Cheapest:
		return cmp.Or(cost, finish, site)
	case Preferred:
		return cmp.Or(window.Compare(j.Request.Criterion, x.Window, y.Window), finish, cost, site)
	}
	return cmp.Or(finish, cost, site)
}

// Done learns nothing.
func (Router) Done(*grid.Broker, *grid.Fragment) {}

// noSite says why no site takes a job: what each of them says, once.
func noSite(refusals []grid.Refusal) string {
	var reasons []string
	for _, r := range refusals {
		if !slices.Contains(reasons, r.Reason) {
			reasons = append(reasons, r.Reason)
		}
	}
	if len(reasons) == 0 {
		return "no site can be reached"
	}
	return fmt.Sprintf("no site takes it: %s", strings.Join(reasons, "; "))
}

// Distributed divides the job flow among the sites: each job goes, whole, into the
// queue of the site for which least waits among those that could run it, to be
// planned there by the site's own policy. One that none could run is rejected.
type Distributed struct{}

var _ grid.Router = Distributed{}

// Name is "distributed".
func (Distributed) Name() string { return "distributed" }

// Place asks, and sends.
func (d Distributed) Place(b *grid.Broker, j *entity.Job) {
	b.AskLoad(func(loads []grid.Backlog) {
		var refusals []grid.Refusal
		loads = slices.DeleteFunc(loads, func(l grid.Backlog) bool {
			err := l.Agent.Fits(j.Request)
			if err != nil {
				refusals = append(refusals, grid.Refusal{Agent: l.Agent, Reason: err.Error()})
			}
			return err != nil
		})
		if len(loads) == 0 {
			b.Reject(j, noSite(refusals))
			return
		}
		least := slices.MinFunc(loads, func(x, y grid.Backlog) int {
			return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.Agent.Index, y.Agent.Index))
		})
		b.Submit(j, least.Agent, j.Request.Nodes)
	})
}

// Compare implements grid.Router: where a site's queue is full, the earliest end.
func (Distributed) Compare(j *entity.Job, x, y grid.Offer) int {
	return Router{Earliest}.Compare(j, x, y)
}

// Done learns nothing.
func (Distributed) Done(*grid.Broker, *grid.Fragment) {}
