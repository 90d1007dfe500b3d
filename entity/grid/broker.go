package grid

import (
	"fmt"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Broker is OAR11's co-allocator agent: it takes users' jobs and finds places
// for their tasks, by its strategy.
type Broker struct {
	Strategy Strategy // decides where the tasks of jobs go
	Index    int      // among the grid's brokers
	endpoint
	random *rand.Rand
}

// inquiry is a question to all agents, and what to do with the answers.
type inquiry struct {
	broker   *Broker
	job      *entity.Job // nil where it is about none
	left     int         // answers to come
	offers   []Offer
	refusals []Refusal
	loads    []Backlog
	then     func()
}

// Refusal is why an agent offers nothing for a whole job.
type Refusal struct {
	Agent  *ResourceAgent // who refuses
	Reason string         // for the job's user
}

func (q *inquiry) answered() {
	if q.left--; q.left == 0 {
		q.then()
	}
}

// Agents returns the grid's resource agents, by Index. What a strategy asks them
// itself costs no time and no message; a fair one uses the broker's methods.
func (b *Broker) Agents() []*ResourceAgent { return b.grid.agents }

// Now returns the present instant.
func (b *Broker) Now() des.Time { return b.at.Now() }

// Reaches reports whether anything passes between the broker and an agent.
func (b *Broker) Reaches(a *ResourceAgent) bool { return b.reaches(&a.endpoint) }

// Rand returns the broker's own stream of random numbers, for learning.
func (b *Broker) Rand() *rand.Rand {
	if b.random == nil {
		stream := "broker"
		if b.grid.above != nil {
			stream = b.name
		}
		b.random = b.grid.sim.Stream(stream, uint64(b.Index))
	}
	return b.random
}

// AskOffers asks all agents that can be reached for offers for j; then gets
// them all, as they came.
func (b *Broker) AskOffers(j *entity.Job, then func([]Offer)) {
	q := &inquiry{broker: b, job: j}
	q.then = func() { then(q.offers) }
	b.ask(q, askOffers{inquiry: q})
}

// AskWhole asks every agent that can be reached for a window for all tasks of j together;
// then gets the offers, and the refusals of the others, as they came. An agent makes at most
// one offer, but a grid's agent that passes on all offers (Grid.AllOffers) may make several.
func (b *Broker) AskWhole(j *entity.Job, then func([]Offer, []Refusal)) { b.askWhole(j, false, then) }

// AskBehind is AskWhole for windows behind all that waits at a site: as though each of
// its waiting jobs were planned before j, in order of submission, as early as it
// can be. So it tells when j would start in a queue without backfilling.
func (b *Broker) AskBehind(j *entity.Job, then func([]Offer, []Refusal)) { b.askWhole(j, true, then) }

func (b *Broker) askWhole(j *entity.Job, behind bool, then func([]Offer, []Refusal)) {
	q := &inquiry{broker: b, job: j}
	q.then = func() { then(q.offers, q.refusals) }
	b.ask(q, askWhole{inquiry: q, behind: behind})
}

// AskLoad asks all agents that can be reached how much they have to do; then
// gets the answers as they came.
func (b *Broker) AskLoad(then func([]Backlog)) {
	q := &inquiry{broker: b}
	q.then = func() { then(q.loads) }
	b.ask(q, askLoad{inquiry: q})
}

func (b *Broker) ask(q *inquiry, m message) {
	q.left = 1 // this function
	for _, a := range b.grid.agents {
		if b.send(&a.endpoint, m) {
			q.left++
		}
	}
	q.answered()
}

// Reserve asks for the first nodes processors of an offer for tasks of j. If they are no longer
// free, the regulator is called.
func (b *Broker) Reserve(j *entity.Job, o Offer, nodes int) {
	k := b.grid.place(b, j, nodes)
	if k == nil {
		return
	}
	b.grid.stats.Reservations++
	f := k.fragment(o.Agent, nodes)
	if !b.send(&o.Agent.endpoint, reserve{fragment: f, offer: o}) {
		b.unreachable(f)
	}
}

// Seize takes the first nodes processors of an offer for tasks of j at once,
// without a message: it is for planners that see everything. An offer that is
// not there ends the run.
func (b *Broker) Seize(j *entity.Job, o Offer, nodes int) {
	k := b.grid.place(b, j, nodes)
	if k == nil {
		return
	}
	b.grid.stats.Reservations++
	f := k.fragment(o.Agent, nodes)
	if refusal := o.Agent.book(f, o); refusal != "" {
		b.grid.sim.Fail(fmt.Errorf("at %v, %s, strategy %s: %v: %s", b.at.Now(), b.name, b.Strategy.Name(), f, refusal))
	}
}

// Submit sends tasks of j into an agent's queue. If the agent cannot take them, the
// regulator is called.
func (b *Broker) Submit(j *entity.Job, a *ResourceAgent, nodes int) {
	k := b.grid.place(b, j, nodes)
	if k == nil {
		return
	}
	f := k.fragment(a, nodes)
	if !b.send(&a.endpoint, submit{fragment: f}) {
		b.unreachable(f)
	}
}

// Intervene leaves tasks of j to the regulator.
func (b *Broker) Intervene(j *entity.Job, nodes int) {
	if k := b.grid.place(b, j, nodes); k != nil {
		b.intervene(k, nodes)
	}
}

// Reject rejects j for the reason given. None of j's tasks may have been placed.
func (b *Broker) Reject(j *entity.Job, reason string) {
	if k := b.grid.place(b, j, j.Request.Nodes); k != nil {
		if b.grid.Log != nil {
			b.grid.note(b.name, j, "rejected: %s", reason)
		}
		k.run.Reason, k.reason = reason, reason
		b.grid.ended(k, j.Request.Nodes)
	}
}

func (b *Broker) unreachable(f *Fragment) {
	b.grid.stats.Refused++
	if b.grid.Log != nil {
		b.grid.note(b.name, f.Job, "%s cannot be reached", f.Agent.name)
	}
	b.again(f, "cannot be reached")
}

// intervene calls the regulator.
func (b *Broker) intervene(k *bag, nodes int) {
	b.grid.stats.Interventions++
	if b.grid.Log != nil {
		b.grid.note(b.name, k.run.Job, "the regulator is called for %d tasks", nodes)
	}
	if !b.send(&b.grid.regulator.endpoint, intervene{bag: k, nodes: nodes}) {
		b.grid.giveUp(k, nodes, b.name, "the regulator cannot be reached")
	}
}

// Handle receives the answers of agents.
func (b *Broker) Handle(_ *des.Context, m des.Message) {
	switch m := m.Data.(type) {
	case offers:
		m.offers = append(m.offers, m.list...)
		if m.refusal != nil {
			m.refusals = append(m.refusals, *m.refusal)
		}
		m.answered()
	case loadIs:
		m.loads = append(m.loads, m.load)
		m.answered()
	case reserved:
		if m.fragment.bag.passed {
			b.grid.above.answer(m.fragment.bag.above, m.refusal)
		} else if m.refusal != "" {
			b.grid.stats.Conflicts++
			b.refused(m.fragment, "conflict: "+m.refusal)
		} else if r, ok := b.Strategy.(Router); ok {
			r.Answered(b, m.fragment, "")
		}
	case refused:
		b.refused(m.fragment, m.refusal)
	case done:
		k := m.fragment.bag
		if !k.passed {
			b.Strategy.Done(b, m.fragment)
		}
		if k.above != nil {
			b.grid.above.send(&k.above.Broker.endpoint, done{fragment: k.above})
		}
	}
}

func (b *Broker) refused(f *Fragment, why string) {
	if b.grid.Log != nil {
		b.grid.note(b.name, f.Job, "%s refuses %d tasks: %s", f.Agent.name, f.Task.Request.Nodes, why)
	}
	b.again(f, why)
}

// again lets the strategy, if it is a Router, place a refused fragment anew, and otherwise the
// regulator.
func (b *Broker) again(f *Fragment, why string) {
	if r, ok := b.Strategy.(Router); ok {
		f.bag.placed -= f.Task.Request.Nodes
		r.Answered(b, f, why)
		return
	}
	b.intervene(f.bag, f.Task.Request.Nodes)
}
