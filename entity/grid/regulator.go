package grid

import (
	"github.com/gridslot/gridslot/des"
)

// regulator is OAR11's regulator agent: it finds places for sub-jobs that
// brokers could not place.
type regulator struct {
	endpoint
}

// Shutdown is called when nothing is left to happen: observers of the grid are
// told that the last instant is over.
func (r *regulator) Shutdown(*des.Context) { r.grid.observers.Settle() }

// emergency is a sub-job for which the regulator looks for a place.
type emergency struct {
	*bag
	nodes  int
	expiry des.Time
	left   int // answers to come
	held   []*Fragment
	above  *Fragment // what it is for where the regulator above asks, or nil
}

// prefers reports whether what is held for x is better than what is held for y.
func (e *emergency) prefers(x, y *Fragment) bool {
	v, w := x.hold.Window(), y.hold.Window()
	if by, ok := e.broker.Strategy.(Router); ok {
		return by.Compare(e.run.Job, x.Agent.offer(v), y.Agent.offer(w)) < 0
	}
	return v.End < w.End
}

// best says what the regulator goes by, for the log.
func (e *emergency) best() string {
	if by, ok := e.broker.Strategy.(Router); ok {
		return by.Name()
	}
	return "earliest end"
}

// Handle takes calls, and agents' answers.
func (r *regulator) Handle(_ *des.Context, m des.Message) {
	switch m := m.Data.(type) {
	case intervene:
		r.intervene(m.bag, m.nodes)
	case held:
		if m.fragment != nil {
			m.held = append(m.held, m.fragment)
		}
		r.answered(m.emergency)
	case committed:
		e := m.fragment.call
		switch {
		case e.above != nil:
			r.grid.above.committed(e.above, m.ok)
		case !m.ok:
			// Messages take longer than agents wait: give them more time.
			e.expiry *= 2
			r.ask(e)
		}
	}
}

// intervene looks for a place for a number of tasks together. Tasks that are too many for
// every cluster are cut into the fewest pieces that are not, of sizes as equal as can be.
func (r *regulator) intervene(k *bag, nodes int) {
	largest := 0
	for _, a := range r.grid.agents {
		if r.reaches(&a.endpoint) {
			largest = max(largest, a.Processors())
		}
	}
	if largest == 0 {
		r.grid.giveUp(k, nodes, r.name, "no cluster can be reached")
		return
	}
	pieces := (nodes + largest - 1) / largest
	if _, rigid := k.broker.Strategy.(Router); rigid {
		pieces = 1
	}
	if pieces > 1 {
		r.grid.stats.Cut += int64(pieces - 1)
		if r.grid.Log != nil {
			r.grid.note(r.name, k.run.Job, "%d tasks are cut into %d pieces: the largest cluster has %d processors", nodes, pieces, largest)
		}
	}
	expiry := r.grid.Expiry
	if expiry <= 0 {
		expiry = DefaultExpiry
	}
	for i := range pieces {
		r.ask(&emergency{bag: k, nodes: nodes*(i+1)/pieces - nodes*i/pieces, expiry: expiry})
	}
}

// ask requests that every agent hold the earliest window that it has.
func (r *regulator) ask(e *emergency) {
	e.left, e.held = 1, e.held[:0] // this function
	for _, a := range r.grid.agents {
		if r.send(&a.endpoint, hold{emergency: e}) {
			e.left++
		}
	}
	r.answered(e)
}

// answered commits the window that ends first, or the one that a Router prefers,
// once all answers are there, and cancels the others.
func (r *regulator) answered(e *emergency) {
	if e.left--; e.left > 0 {
		return
	}
	var best *Fragment
	for _, f := range e.held {
		if best == nil || e.prefers(f, best) {
			best = f
		}
	}
	if e.above != nil {
		r.keep(e, best)
		return
	}
	if best == nil {
		r.grid.giveUp(e.bag, e.nodes, r.name, "no cluster that can be reached takes them")
		return
	}
	if r.grid.Log != nil {
		w := best.hold.Window()
		r.grid.note(r.name, e.run.Job, "%d tasks go to %s, from %v to %v, the %s of %d", e.nodes, best.Agent.name, w.Start, w.End, e.best(), len(e.held))
	}
	for _, f := range e.held {
		if f == best {
			r.send(&f.Agent.endpoint, commit{fragment: f})
		} else {
			r.send(&f.Agent.endpoint, cancel{fragment: f})
		}
	}
}
