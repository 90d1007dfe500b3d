package process

import (
	"container/list"
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Phase is the phase in which processes are woken.
const Phase des.Phase = 128

// Group holds the processes of a simulation. It is an entity of it, named
// "processes"; a simulation has one.
type Group struct {
	sim    *des.Simulator
	living []*Process
}

// NewGroup returns a group without processes.
func NewGroup(sim *des.Simulator) *Group {
	g := &Group{sim: sim}
	sim.AddEntity("processes", g)
	return g
}

// Close unwinds the processes that have not ended: each leaves the wait it is
// in, its deferred functions run, nothing else does. Where a run ended because
// no event was left, that has been done already; after any other end, Close is
// what keeps coroutines from being left behind. It is not for processes to
// call.
func (g *Group) Close() {
	for len(g.living) > 0 {
		p := g.living[len(g.living)-1]
		p.unwound = true
		p.stop()
		p.leave() // where it had not even begun
	}
}

// Start, Handle and Shutdown make the group a des.Entity.
func (g *Group) Start(*des.Context) {}

// Handle does nothing: no one sends messages to a group.
func (g *Group) Handle(*des.Context, des.Message) {}

// Shutdown closes the group.
func (g *Group) Shutdown(*des.Context) { g.Close() }

// Process is a function running in simulated time. Interrupt and Done are for
// anyone to call, the other methods for that function alone.
type Process struct {
	name  string
	group *Group
	index int // in Group.living, or -1 once it has ended

	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	due         des.EventID // what will wake it
	place       place       // where it stands in line
	waiting     bool        // may be interrupted
	interrupted bool
	unwound     bool
}

// Go starts a process at this instant, after what is already scheduled for it
// in the same phase. The name is for error messages.
func (g *Group) Go(name string, body func(p *Process)) *Process {
	p := &Process{name: name, group: g, index: len(g.living)}
	g.living = append(g.living, p)
	p.resume, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		defer p.end()
		body(p)
	})
	p.wakeAfter(0)
	return p
}

// Handle wakes the process; the kernel calls it.
func (p *Process) Handle(*des.Simulator, des.Event) { p.resume() }

func (p *Process) String() string { return fmt.Sprintf("process %q", p.name) }

// Now is the present instant.
func (p *Process) Now() des.Time { return p.group.sim.Now() }

// Done reports whether the process has ended.
func (p *Process) Done() bool { return p.index < 0 }

// Wait lets d pass. It reports false where an Interrupt cut it short.
func (p *Process) Wait(d des.Time) bool {
	p.wakeAfter(d)
	return p.sleep()
}

// Interrupt wakes a process that waits or stands in line, at this instant; its
// call then returns false. It does nothing to a process that has not begun, has
// ended, or is to go on at this instant since its resource was handed to it.
func (p *Process) Interrupt() {
	if p.waiting {
		p.interrupted = true
		p.place.leave()
		p.wakeNow()
	}
}

// Acquire takes n units of r, standing in line for them if need be. It reports
// false where an Interrupt ended that.
func (p *Process) Acquire(r *Resource, n int) bool { return p.AcquireWithin(r, n, des.Forever) }

// AcquireWithin is Acquire for those who wait d at most. It reports whether it
// has the units.
func (p *Process) AcquireWithin(r *Resource, n int, d des.Time) bool {
	if n < 1 || n > r.capacity {
		p.group.sim.Fail(fmt.Errorf("at %v: %v wants %d units of %q, which has %d", p.Now(), p, n, r.name, r.capacity))
		return false
	}
	if r.line.Len() == 0 && n <= r.free {
		r.free -= n
		return true
	}
	p.place = place{r, r.line.PushBack(p), n}
	if d < des.Forever {
		p.wakeAfter(d)
	}
	inTime := p.sleep() && p.place.resource == nil
	p.place.leave()
	return inTime
}

func (p *Process) wakeAfter(d des.Time) { p.due = p.group.sim.After(d, Phase, p, 0) }

// wakeNow wakes a sleeping process at this instant, whatever else it waits for.
func (p *Process) wakeNow() {
	p.waiting = false
	p.group.sim.Cancel(p.due)
	p.wakeAfter(0)
}

// unwinding is the panic by which a process is left at Close; only end sees it.
type unwinding struct{}

// sleep hands control back to the simulation until an event wakes the process.
// It reports false where that was an interrupt.
func (p *Process) sleep() bool {
	p.waiting = true
	if !p.yield(struct{}{}) {
		panic(unwinding{})
	}
	undisturbed := !p.interrupted
	p.waiting, p.interrupted = false, false
	return undisturbed
}

// end is deferred by the process.
func (p *Process) end() {
	if p.unwound {
		if r := recover(); r != nil && r != (unwinding{}) {
			panic(r)
		}
	}
	p.leave()
}

// leave takes the process out of the group and out of any line.
func (p *Process) leave() {
	if p.Done() {
		return
	}
	living := p.group.living
	last := living[len(living)-1]
	living[p.index], last.index = last, p.index
	p.group.living = living[:len(living)-1]
	p.index = -1
	p.group.sim.Cancel(p.due)
	p.place.leave()
}

// Resource is a number of equal units that processes take and give back, first come, first served:
// a process that wants many holds up later processes that want few.
type Resource struct {
	name           string
	sim            *des.Simulator
	capacity, free int
	line           list.List // of *Process
}

// NewResource returns a resource with all its units free. The name is for
// error messages.
func (g *Group) NewResource(name string, capacity int) *Resource {
	return &Resource{name: name, sim: g.sim, capacity: capacity, free: capacity}
}

// Free counts the units that no one has.
func (r *Resource) Free() int { return r.free }

// Waiting counts the processes in line.
func (r *Resource) Waiting() int { return r.line.Len() }

// Release gives n units back. Whoever has them next goes on at this instant.
func (r *Resource) Release(n int) {
	if n < 0 || r.free+n > r.capacity {
		r.sim.Fail(fmt.Errorf("at %v: %d units of %q are given back, but only %d are taken", r.sim.Now(), n, r.name, r.capacity-r.free))
		return
	}
	r.free += n
	r.serve()
}

// serve hands free units to those first in line.
func (r *Resource) serve() {
	for first := r.line.Front(); first != nil; first = r.line.Front() {
		p := first.Value.(*Process)
		if p.place.units > r.free {
			return
		}
		r.free -= p.place.units
		r.line.Remove(first)
		p.place = place{}
		p.wakeNow()
	}
}

// place is a process's place in line; the zero value is none.
type place struct {
	resource *Resource
	element  *list.Element
	units    int
}

// leave gives the place up; those behind may move up.
func (w *place) leave() {
	if r := w.resource; r != nil {
		r.line.Remove(w.element)
		*w = place{}
		r.serve()
	}
}
