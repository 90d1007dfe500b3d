package grid

// Metaschedulers that are sites of a higher one.
//
//	broker                          of the grid above
//	  |  askWhole, reserve, submit ...
//	ResourceAgent  "north"          speaks for the grid below
//	  |                             (the two are one, and need no messages)
//	Broker         "north/broker"   asks, chooses by its strategy, passes on
//	  |  askWhole, reserve, submit ...
//	ResourceAgent  "north/astra"    a site, or a metascheduler again
//
// A fragment of the grid above is a job of the grid below. What becomes of it there
// the agent observes as it would observe a local scheduler, and answers go up as
// messages, hop by hop.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// AddGrid adds a site that is itself a grid, and hides its sites: to the brokers of g it is
// one agent. AddAgent and AddGrid of the returned grid give it its sites, to any depth.
// network connects them with the grid's "broker" and "regulator".
//
// It answers brokers with the best of its sites' offers by s.Compare, or with all of them
// (AllOffers); a reservation goes to the site that made the offer. s places what is
// submitted as it would place a job of its own. Its own regulator asks its sites what the
// regulator of g asks.
//
// The brokers of g must then be Routers, because a grid takes whole jobs. The counts of
// Stats are of all levels together. The agent's Speed must stay 1, and its QueueLimit has no
// effect.
func (g *Grid) AddGrid(name string, network *Network, s Router) *Grid {
	a := &ResourceAgent{Speed: 1, Index: len(g.agents), endpoint: g.endpoint(name), tasks: map[*entity.Job]*Fragment{}}
	a.at = g.sim.AddEntity(a.name, a)
	a.below = &Grid{
		sim: g.sim, network: network, observers: entity.NewObservers((*lower)(a)), bags: map[*entity.Job]*bag{}, stats: g.stats, above: a,
	}
	a.below.addRegulator()
	a.below.AddBroker("broker", s)
	g.agents = append(g.agents, a)
	g.nested = true
	return a.below
}

// Below returns the grid behind this site, or nil if the site is no grid.
func (a *ResourceAgent) Below() *Grid { return a.below }

// Leaves returns the agents of real sites on all levels, in order; the agents of a grid
// stand in the place of its own agent.
func (g *Grid) Leaves() []*ResourceAgent {
	var all []*ResourceAgent
	for _, a := range g.agents {
		if a.below != nil {
			all = append(all, a.below.Leaves()...)
		} else {
			all = append(all, a)
		}
	}
	return all
}

// nests returns an error where b cannot deal with the metaschedulers among its sites.
func (b *Broker) nests() error {
	if _, ok := b.Strategy.(Router); b.grid.nested && !ok {
		return errors.New("it splits jobs, and a site that is a grid takes them whole")
	}
	return nil
}

// pass does what a message from above asks.
func (a *ResourceAgent) pass(m any) {
	b, regulator := a.below.brokers[0], a.below.regulator
	switch m := m.(type) {
	case askWhole:
		b.askWhole(m.job, m.behind, func(list []Offer, refusals []Refusal) {
			a.send(&m.broker.endpoint, a.offers(m.inquiry, list, refusals))
		})
	case askLoad:
		b.AskLoad(func(loads []Backlog) {
			a.send(&m.broker.endpoint, loadIs{inquiry: m.inquiry, load: a.total(loads)})
		})
	case reserve:
		k := a.accept(m.fragment)
		k.passed = true
		f := k.fragment(m.offer.below.Agent, k.run.Request.Nodes)
		b.send(&f.Agent.endpoint, reserve{fragment: f, offer: *m.offer.below}) // it has offered, and so is there
	case submit:
		f := m.fragment
		a.accept(f)
		b.Strategy.Place(b, f.Task)
	case hold:
		f := m.bag.fragment(a, m.nodes)
		f.call, f.Emergency = m.emergency, true
		k := a.accept(f)
		k.passed = true
		regulator.ask(&emergency{bag: k, nodes: m.nodes, expiry: m.expiry, above: f})
	case commit:
		f := m.fragment.below.kept
		regulator.send(&f.Agent.endpoint, commit{fragment: f})
	case cancel:
		f := m.fragment.below.kept
		a.forget(m.fragment)
		regulator.send(&f.Agent.endpoint, cancel{fragment: f})
	case askOffers: // of a strategy that is no Router, in a grid in which nobody has looked
		a.at.Fail(fmt.Errorf("at %v, %s: it is a metascheduler, which has no openings to offer, only windows for whole jobs", a.at.Now(), a.name))
	}
}

// accept makes a fragment from above a job of the grid below.
func (a *ResourceAgent) accept(f *Fragment) *bag {
	g := a.below
	k := &bag{run: entity.NewRun(f.Task, g.seq), broker: g.brokers[0], above: f}
	g.seq++
	k.run.State = entity.Waiting
	f.below, f.Run = k, k.run
	g.bags[f.Task], a.tasks[f.Task] = k, f
	return k
}

// forget forgets a fragment from above that will not run here.
func (a *ResourceAgent) forget(f *Fragment) {
	delete(a.below.bags, f.Task)
	delete(a.tasks, f.Task)
}

// offers returns the answer to an inquiry from above: what the sites offer, or the best
// of it.
func (a *ResourceAgent) offers(q *inquiry, list []Offer, refusals []Refusal) offers {
	answer := offers{inquiry: q}
	switch {
	case len(list) == 0:
		answer.refusal = &Refusal{a, whyNot(refusals)}
		return answer
	case a.below.AllOffers: // in the order of the sites, by which equals are told apart
		slices.SortStableFunc(list, func(x, y Offer) int { return cmp.Compare(x.Agent.Index, y.Agent.Index) })
	default:
		by := a.below.brokers[0].Strategy.(Router)
		list = []Offer{slices.MinFunc(list, func(x, y Offer) int { return by.Compare(q.job, x, y) })}
	}
	for _, o := range list {
		answer.list = append(answer.list, Offer{Agent: a, Opening: o.Opening, Window: o.Window, below: &o})
	}
	return answer
}

// whyNot returns why no site offers anything: the reason of the first refusal.
func whyNot(refusals []Refusal) string {
	if len(refusals) == 0 {
		return "has no site that can be reached"
	}
	return refusals[0].Agent.local + ": " + refusals[0].Reason
}

// answer tells a broker above what has become of its reservation.
func (a *ResourceAgent) answer(f *Fragment, refusal string) {
	if refusal != "" {
		a.forget(f)
	}
	a.send(&f.Broker.endpoint, reserved{fragment: f, refusal: refusal})
}

// keep tells the regulator above of the best that the sites keep for it, if there is
// anything; the others need keep nothing any longer.
func (r *regulator) keep(e *emergency, best *Fragment) {
	a, f := r.grid.above, e.above
	for _, other := range e.held {
		if other != best {
			r.send(&other.Agent.endpoint, cancel{fragment: other})
		}
	}
	answer := held{emergency: f.call}
	if best == nil {
		a.forget(f)
	} else {
		e.kept, f.hold = best, best.hold
		answer.fragment = f
	}
	a.send(&a.grid.regulator.endpoint, answer)
}

// committed tells the regulator above whether what was kept for it is firm.
func (a *ResourceAgent) committed(f *Fragment, ok bool) {
	if !ok {
		a.forget(f)
	}
	a.send(&a.grid.regulator.endpoint, committed{fragment: f, ok: ok})
}

// lower is an agent as the observer of the grid below it.
type lower ResourceAgent

// Observe passes on what has become of fragments from above. Messages tell their brokers of
// ends: see Broker.Handle.
func (l *lower) Observe(e entity.JobEvent) {
	a, j := (*ResourceAgent)(l), e.Run
	f := a.tasks[j.Job]
	if f == nil {
		return // a job that was submitted to the grid below
	}
	switch e.Kind {
	case entity.JobStarted:
		a.grid.began(f)
	case entity.JobRequeued:
		a.grid.requeued(f)
	case entity.JobRejected:
		delete(a.tasks, j.Job)
		if f.bag.late = f.below.late; f.bag.late {
			a.grid.giveUp(f.bag, j.Request.Nodes, a.name, f.below.reason)
		} else {
			a.send(&f.Broker.endpoint, refused{fragment: f, refusal: f.below.reason})
		}
	case entity.JobFinished, entity.JobKilled:
		delete(a.tasks, j.Job)
		a.over(f, j, e.Kind)
	}
}

// processors returns the number of processors of all sites.
func (g *Grid) processors() (sum int) {
	for _, a := range g.agents {
		sum += a.Processors()
	}
	return sum
}

// admits reports whether some site could meet a request; the error is the first one's.
func (g *Grid) admits(req entity.Request) error {
	var first error
	for _, a := range g.agents {
		err := a.Fits(req)
		if err == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("%s: %w", a.local, err)
		}
	}
	return cmp.Or(first, errors.New("has no sites"))
}

// backlog returns the backlog of all sites together.
func (g *Grid) backlog() Backlog {
	var all []Backlog
	for _, a := range g.agents {
		all = append(all, a.Backlog())
	}
	return g.above.total(all)
}

// total returns the backlog of some of a metascheduler's sites together, with times over the
// processors of these sites.
func (a *ResourceAgent) total(of []Backlog) Backlog {
	sum := Backlog{Agent: a}
	processors := des.Time(0)
	for _, b := range of {
		size := des.Time(b.Agent.Processors())
		sum.Jobs += b.Jobs
		sum.Running += b.Running
		sum.Time += b.Time * size
		sum.Left += b.Left * size
		processors += size
	}
	sum.Time /= max(processors, 1)
	sum.Left /= max(processors, 1)
	return sum
}
