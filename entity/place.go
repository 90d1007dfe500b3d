package entity

// Which of equal nodes a job gets: who decides it, on every plan, and when.
//
// How many nodes a job gets, and which of unequal ones, is said by its window, which the
// policy has chosen among those that the plan finds. Of nodes that are equal the plan only
// counts ahead how many are taken, so that what lies ahead is never pinned to one of them.
// Which of them a job has is decided here, once it starts, by the Placer:
//
//	nodes with names     Plan.Settle asks Run.Choose as the job starts, for each kind of
//	                     equal nodes that its window has
//	counted processors   places ask Run.Choose when the instant of the start is over:
//	                     whatever ends at an instant makes room for whatever starts at it

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/entity/procset"
)

// Placer chooses which of the equal nodes, or counted processors, a started job has: the
// lowest, contiguous ones, or by topology.
type Placer interface {
	// Place takes n of the free processors or nodes for r, and appends their numbers
	// (Plan.Node) to ranges. An error ends the run. On counted processors it is called when the
	// instant of r.Start is over; the clock has passed it by then.
	Place(free *procset.Set, r *Run, n int, ranges []procset.Range) ([]procset.Range, error)
}

// Chooser may be implemented by a Placer that knows where jobs are to go before it is asked, when
// their instant is over. Chosen returns a job that has started at this instant and is to have one of
// these counted processors. They are not withheld then. If no job is, the result is nil.
type Chooser interface {
	Chosen(place []procset.Range) *Run
}

// LowestFirst is the Placer that takes the free processors of the lowest numbers; of named
// nodes, the first in the order of their plan.
type LowestFirst struct{}

// Place takes the lowest free numbers.
func (LowestFirst) Place(free *procset.Set, _ *Run, n int, ranges []procset.Range) ([]procset.Range, error) {
	return free.Allocate(n, ranges)
}

// Choose takes n of the free nodes for r, by the Placer of its metascheduler or, without a
// Placer, by LowestFirst. It appends their numbers to ranges.
func (r *Run) Choose(free *procset.Set, n int, ranges []procset.Range) ([]procset.Range, error) {
	var by Placer = LowestFirst{}
	if r.meta != nil && r.meta.Placer != nil {
		by = r.meta.Placer
	}
	place, err := by.Place(free, r, n, ranges)
	if err != nil {
		return ranges, fmt.Errorf("placing %v: %w", r, err)
	}
	return place, nil
}

// places gives the jobs of a counted plan their processors, at the end of every
// instant: whatever ends at an instant makes room for whatever starts at it, in
// either pass mode.
type places struct {
	free    *procset.Set
	started []placing         // at this instant, in order
	ended   [][]procset.Range // given back at this instant
	slab    []procset.Range   // whose end is room for places to come, to spare the collector
}

// placing is a job that has started at this instant.
type placing struct {
	run  *Run
	over bool // it has ended at this instant, too
	more bool // it has a place already, which it keeps, and needs more
}

// note takes one event in.
func (p *places) note(r *Run, k JobEventKind) {
	if r.Reservation.Window.Tasks != nil {
		return
	}
	switch k {
	case JobStarted:
		p.started = append(p.started, placing{run: r})
	case JobFinished, JobKilled:
		p.leave(r, r.Place, false)
	case JobResized:
		p.resized(r)
	case JobRequeued:
		p.leave(r, r.Earlier()[len(r.Earlier())-1].Place, true)
	}
}

// leave gives back the place of r, whose attempt ends. A job that started at this instant has no
// place yet: it still gets one in its turn, or none if back says that it waits again. A job that
// grew at this instant gives back what it had before; the rest that it was to gain comes to it
// in the same way.
func (p *places) leave(r *Run, place []procset.Range, back bool) {
	i := p.pending(r)
	if i < 0 {
		p.ended = append(p.ended, place)
		return
	}
	s := &p.started[i]
	if s.more {
		p.ended = append(p.ended, place)
	}
	if s.over, s.more = true, false; back {
		p.started = slices.Delete(p.started, i, i+1)
	}
}

// pending returns the position of r among the runs that are to be placed, or -1.
func (p *places) pending(r *Run) int {
	for i := len(p.started) - 1; i >= 0; i-- {
		if s := &p.started[i]; s.run == r && !s.over {
			return i
		}
	}
	return -1
}

// resized lets a run keep what it can of its place. What it gives up is free at once, for
// every job that is placed when this instant is over. What it gains it gets then, behind all
// jobs that have come before, because one of them may have left it.
func (p *places) resized(r *Run) {
	s := placing{run: r, more: true}
	if i := p.pending(r); i >= 0 {
		s = p.started[i]
		p.started = slices.Delete(p.started, i, i+1)
	}
	if s.more && r.Request.Nodes <= procset.Count(r.Place) {
		var rest []procset.Range
		r.Place, rest = cut(r.Place, r.Request.Nodes)
		p.ended = append(p.ended, rest)
		return
	}
	p.started = append(p.started, s)
}

// cut divides a place into its first n processors and the others.
func cut(place []procset.Range, n int) (first, rest []procset.Range) {
	for _, p := range place {
		k := min(n, int(p.Last-p.First)+1)
		if k > 0 {
			first = append(first, procset.Range{First: p.First, Last: p.First + int32(k) - 1})
		}
		if p.First+int32(k) <= p.Last {
			rest = append(rest, procset.Range{First: p.First + int32(k), Last: p.Last})
		}
		n -= k
	}
	return first, rest
}

// place ends an instant: whatever ended gives its processors back, then whatever
// started takes some, in order.
func (m *Metascheduler) place() {
	p := &m.places
	if len(p.started)+len(p.ended) == 0 {
		return
	}
	if err := p.settle(m); err != nil {
		m.sim.Fail(fmt.Errorf("at %v: %w", m.observers.now, err))
	}
	p.started, p.ended = p.started[:0], p.ended[:0]
}

// back gives back what has ended. All processors of m are free before the first call.
func (p *places) back(m *Metascheduler) error {
	if p.free == nil {
		p.free = procset.New(m.plan.Size())
	}
	for _, place := range p.ended {
		if err := p.free.Free(place); err != nil {
			return err
		}
	}
	p.ended = p.ended[:0]
	return nil
}

// withhold takes these processors, all or none.
func (p *places) withhold(m *Metascheduler, place []procset.Range) error {
	if err := p.back(m); err != nil { // what has ended by now makes room
		return err
	}
	for i, r := range place {
		if err := p.free.Take(r); err != nil {
			return errors.Join(err, p.free.Free(place[:i]))
		}
	}
	return nil
}

// settle gives back what has ended, and then gives places to the jobs that started, in order.
func (p *places) settle(m *Metascheduler) error {
	if err := p.back(m); err != nil {
		return err
	}
	for _, s := range p.started {
		r := s.run
		n := r.Request.Nodes
		if s.more {
			n -= procset.Count(r.Place)
		}
		if s.over && n > p.free.Available() {
			// It ran for no time at all: its processors may be those of other jobs.
			r.Place = []procset.Range{{First: 0, Last: int32(n) - 1}}
			continue
		}
		place, err := r.Choose(p.free, n, p.room())
		if err != nil {
			return err
		}
		p.keep(place)
		place = place[:len(place):len(place)]
		if s.more {
			place = procset.Join(slices.Concat(r.Place, place))
		}
		r.Place = place
		if s.over {
			if err := p.free.Free(r.Place); err != nil {
				return err
			}
		}
	}
	return nil
}

// room returns the free rest of the slab, where the next place is to be written; keep then reserves
// the part that the place takes.
func (p *places) room() []procset.Range {
	if cap(p.slab)-len(p.slab) < 16 {
		p.slab = make([]procset.Range, 0, 512)
	}
	return p.slab[len(p.slab):]
}

func (p *places) keep(place []procset.Range) {
	if n := len(p.slab) + len(place); n <= cap(p.slab) {
		p.slab = p.slab[:n]
	}
}
