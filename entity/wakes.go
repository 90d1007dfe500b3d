package entity

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// Wakes says at which instants a policy is awake; it sleeps in between. The policy learns of all
// earlier events when it wakes, after all events of that instant. It wakes only if something has
// happened and jobs wait. Jobs with a reservation ahead start on time while the policy sleeps,
// because it decided that before.
//
//	Every = 30 s      |         |         |         |
//	events            . x x     . x       .         .
//	rounds            .         R         R         .
//
//	Apart = 30 s
//	events              x x         x              x
//	rounds              R         R         R      R
type Wakes struct {
	Every  des.Time // if above 0, the policy wakes at multiples of it only
	Offset des.Time // shifts these instants: the policy wakes Offset after each multiple
	Apart  des.Time // least time between two rounds; 0 for none
}

// Check reports what makes no sense, or nil.
func (w Wakes) Check() error {
	switch {
	case w.Every < 0 || w.Offset < 0 || w.Apart < 0:
		return fmt.Errorf("a policy does not wake at times below 0")
	case w.Every == 0 && w.Offset > 0:
		return fmt.Errorf("an offset of %v is to multiples of a period, and there is none", w.Offset)
	case w.Offset >= w.Every && w.Every > 0:
		return fmt.Errorf("the offset, %v, must be below the period, %v", w.Offset, w.Every)
	}
	return nil
}

// next returns the first instant from now on at which the policy is awake. Its last decision was at
// the instant before; -1 means that there was none.
func (w Wakes) next(now, before des.Time) des.Time {
	at := now
	if before >= 0 {
		at = max(at, before.Add(w.Apart))
	}
	if w.Every > 0 {
		if at < w.Offset {
			return w.Offset
		}
		if late := (at - w.Offset) % w.Every; late > 0 {
			at = at.Add(w.Every - late)
		}
	}
	return at
}

// sleep schedules the next round for the next instant at which the policy is awake.
func (m *Metascheduler) sleep() {
	if m.queue.Len() == 0 {
		m.causes &^= CauseTick // a cycle that begins without jobs has no round later
		return
	}
	if m.roundPending {
		return
	}
	now := m.sim.Now()
	at := m.Wakes.next(now, m.decided)
	if at == des.Forever {
		return
	}
	m.roundPending = true
	m.sim.At(at, PhaseDecide, (*deciding)(m), 0)
}
