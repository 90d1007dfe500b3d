package entity

// Which processors a job has. A counted plan knows how many are taken, now and
// ahead; which ones is decided when a job has started, so that what lies ahead is
// never pinned to a processor.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/entity/procset"
)

// Placer chooses the processors of a job that has started: lowest first,
// contiguous, by topology.
type Placer interface {
	// Place takes r.Request.Nodes of the free processors and appends them to
	// ranges. It is asked when the instant of r.Start is over, which the clock has
	// passed by then.
	Place(free *procset.Set, r *Run, ranges []procset.Range) ([]procset.Range, error)
}

// LowestFirst is the Placer that takes the lowest free processors.
type LowestFirst struct{}

// Place takes the lowest.
func (LowestFirst) Place(free *procset.Set, r *Run, ranges []procset.Range) ([]procset.Range, error) {
	return free.Allocate(r.Request.Nodes, ranges)
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
	more bool // it has a place already, and needs more
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

// leave has r give back its place. One that has started at this instant has none
// yet: it gets one between the jobs before and behind it, or none where it was
// sent back. So does one that has grown at this instant, which gives back at once what it
// has had before.
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

// pending is which of those that are to be placed r is, or -1.
func (p *places) pending(r *Run) int {
	for i := len(p.started) - 1; i >= 0; i-- {
		if s := &p.started[i]; s.run == r && !s.over {
			return i
		}
	}
	return -1
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

// begin fetches the processors, before the first of them is used.
func (p *places) begin(m *Metascheduler) error {
	if p.free != nil {
		return nil
	}
	p.free = procset.New(m.plan.Size())
	return nil
}

// back gives back what has ended.
func (p *places) back() error {
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
	if err := p.begin(m); err != nil {
		return err
	}
	if err := p.back(); err != nil { // what has ended by now makes room
		return err
	}
	for i, r := range place {
		if err := p.free.Take(r); err != nil {
			return errors.Join(err, p.free.Free(place[:i]))
		}
	}
	return nil
}

func (p *places) settle(m *Metascheduler) error {
	if err := p.begin(m); err != nil {
		return err
	}
	if err := p.back(); err != nil {
		return err
	}
	for _, s := range p.started {
		r := s.run
		if s.more {
			if err := p.grow(m.Placer, r); err != nil {
				return err
			}
			continue
		}
		if s.over && r.Request.Nodes > p.free.Available() {
			// It ran for no time at all, and keeps no one off its processors.
			r.Place = []procset.Range{{First: 0, Last: int32(r.Request.Nodes) - 1}}
			continue
		}
		place, err := m.Placer.Place(p.free, r, p.room())
		if err != nil {
			return fmt.Errorf("placing %v: %w", r, err)
		}
		p.keep(place)
		r.Place = place[:len(place):len(place)]
		if s.over {
			if err := p.free.Free(r.Place); err != nil {
				return err
			}
		}
	}
	return nil
}

// room is where the next place is to be written; keep says what was written
// there.
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
