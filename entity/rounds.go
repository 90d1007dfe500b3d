package entity

// When the policy gets its rounds.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// The kernel calls these; each is the metascheduler as the handler of one kind
// of event.
type (
	deciding Metascheduler
	ticker   Metascheduler
	alarm    Metascheduler
	waking   Metascheduler
)

// wake asks for a round: at once, or once for everything at this instant.
//
// After every single event or not, jobs that outlive their estimates at one
// instant are all known to do so before anyone decides; and what changes the
// world has changed it altogether.
func (m *Metascheduler) wake(c Cause) {
	if c != CauseTick {
		m.armTick()
	}
	m.causes |= c
	if m.Wakes != (Wakes{}) {
		m.sleep()
		return
	}
	phase := m.ChangePhase()
	if m.Pass != PassInstant {
		switch c {
		case CauseOverrun:
			phase = phaseOverrun + 1
		case CauseChange, CauseWake:
		default:
			m.decide()
			return
		}
	}
	if !m.roundPending {
		m.roundPending = true
		m.sim.At(m.sim.Now(), phase, (*deciding)(m), uint64(c))
	}
}

// ChangePhase returns the phase of the rounds about changes (CauseChange, CauseWake). What
// must be done before the policy decides about a change is scheduled for an earlier one.
func (m *Metascheduler) ChangePhase() des.Phase {
	if m.Pass == PassInstant || m.Wakes != (Wakes{}) {
		return PhaseDecide
	}
	return PhaseChange - 1
}

// changedByOthers counts a change that is not the policy's (Round.Changes), and gives
// waiting jobs a round.
func (m *Metascheduler) changedByOthers() {
	m.changes++
	if m.queue.Len() > 0 {
		m.wake(CauseChange)
	}
}

// Changed reports that something may have become free, or cheap, within [from, to) by other
// means than the metascheduler's; from >= to if something has only been taken. Waiting jobs
// get a round.
func (m *Metascheduler) Changed(from, to des.Time) {
	if from < to {
		m.freed(from, to)
	}
	m.changedByOthers()
}

func (d *deciding) Handle(*des.Simulator, des.Event) { (*Metascheduler)(d).decide() }

func (m *Metascheduler) decide() {
	m.observers.reach(m.sim.Now())
	m.roundPending = false
	m.rounds++
	if m.queue.Len() > 0 {
		m.decided = m.sim.Now()
	}
	r := &m.round
	r.Now, r.Plan, r.Queue, r.meta, r.changes = m.sim.Now(), m.plan, m.queue, m, m.changes
	r.Cause, m.causes = m.causes, 0 // what an observer does meanwhile is for the next round
	r.fresh, m.fresh = m.fresh, r.fresh[:0]
	if r.Cause.Has(CauseOverrun | CauseChange) {
		slices.SortFunc(r.fresh, func(a, b *Run) int { return int(a.seq - b.seq) })
		// One that was put back within a round, and started in it again, waits no more.
		r.fresh = slices.DeleteFunc(slices.Compact(r.fresh), func(f *Run) bool { return f.State != Waiting })
	}
	r.Gained = m.plan.Forget(r.Now) || m.gained || r.Cause != CauseArrival
	m.gained = false
	m.queue.begin()
	m.deciding = true
	m.policy.Schedule(r)
	r.DropHolds()
	if len(r.explain) > 0 {
		r.tellExplanations()
	}
	r.tellUntold()
	if r.Cause.Has(CauseTick) && m.willChange() {
		m.armTick()
	}
	for i, o := range m.observers.rounds {
		m.observers.round = i + 1
		o.Decided(r)
	}
	m.observers.round = 0
	clear(r.fresh)
	m.deciding = false
	for _, j := range m.predictLater {
		m.PredictAgain(j)
	}
	m.predictLater = m.predictLater[:0]
	if m.named {
		m.checkAnswers()
		m.setAlarm()
	}
}

// checkAnswers ends the run if the plan gave no proper answer.
func (m *Metascheduler) checkAnswers() {
	if err := m.plan.Err(); err != nil {
		m.sim.Fail(fmt.Errorf("at %v, policy %s: %w", m.sim.Now(), m.policy.Name(), err))
	}
}

// setAlarm has waiting jobs get a round when time alone makes nodes free: where
// an owner's job ends.
func (m *Metascheduler) setAlarm() {
	at := des.Forever
	if m.queue.Len() > 0 {
		at = m.plan.NextGain()
	}
	if at == m.alarmAt {
		return
	}
	m.sim.Cancel(m.alarm)
	m.alarmAt = at
	if at < des.Forever {
		m.alarm = m.sim.At(at, PhaseEnd, (*alarm)(m), 0)
	}
}

func (a *alarm) Handle(*des.Simulator, des.Event) {
	m := (*Metascheduler)(a)
	m.alarmAt = des.Forever
	m.wake(CauseChange)
}

// armTick has the next cycle begin on time, if any job waits for it.
func (m *Metascheduler) armTick() {
	if m.Cycle <= 0 || m.ticking || m.queue.Len() == 0 {
		return
	}
	now := m.sim.Now()
	at := now - now%m.Cycle
	if at < now || at == m.ticked {
		at = at.Add(m.Cycle)
	}
	if at < des.Forever {
		m.ticking = true
		m.sim.At(at, phaseTick, (*ticker)(m), 0)
	}
}

func (t *ticker) Handle(_ *des.Simulator, ev des.Event) {
	m := (*Metascheduler)(t)
	m.ticking, m.ticked = false, ev.Time
	m.wake(CauseTick)
}

// willChange reports whether anything will change while time passes, arrivals
// apart.
func (m *Metascheduler) willChange() bool {
	if m.running+m.booked+len(m.wakes) > 0 || m.plan.NextGain() < des.Forever {
		return true
	}
	for r := range m.queue.By(Submission, m.sim.Now()).All() {
		if r.State == Reserved {
			return true
		}
	}
	return false
}

// WakeAt gives the policy a round (CauseWake) at the instant t, which is now or
// lies ahead, if jobs wait then. It may be asked for any number of times.
func (m *Metascheduler) WakeAt(t des.Time) {
	if t < m.sim.Now() {
		m.sim.Fail(fmt.Errorf("at %v: a round is asked for at %v, which is past", m.sim.Now(), t))
		return
	}
	i, asked := slices.BinarySearch(m.wakes, t)
	if asked || t == des.Forever {
		return
	}
	m.wakes = slices.Insert(m.wakes, i, t)
	m.sim.At(t, PhaseChange, (*waking)(m), 0)
}

func (w *waking) Handle(_ *des.Simulator, ev des.Event) {
	m := (*Metascheduler)(w)
	for len(m.wakes) > 0 && m.wakes[0] <= ev.Time {
		m.wakes = m.wakes[1:]
	}
	if m.queue.Len() > 0 {
		m.wake(CauseWake)
	}
}
