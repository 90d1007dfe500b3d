package entity

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// Overrun says what becomes of a job whose real runtime is above its estimate.
type Overrun uint8

const (
	OverrunKill   Overrun = iota // the job is cut off at its estimate
	OverrunExtend                // the job runs on to its real end; the plan learns of it as it happens. On named nodes it is cut off all the same
	OverrunRaise                 // the estimate is raised to the runtime before the scheduler sees it
)

var overruns = enum.Of[Overrun]("treatment of a runtime above the estimate", "kill", "extend", "raise")

func (o Overrun) String() string { return overruns.Name(o) }

// ParseOverrun reads "kill", "extend" or "raise".
func ParseOverrun(s string) (Overrun, error) { return overruns.Parse(s) }

// Handle extends the reservation of a job that runs on past its estimate: the
// scheduler now believes that it will take twice what it has taken. Plans made
// behind it are void; the policy makes new ones. Advance reservations stand:
// the job runs on until one needs its processors, and is cut off there.
func (o *overrun) Handle(s *des.Simulator, _ des.Event) {
	r := (*Run)(o)
	m, now := r.meta, s.Now()
	m.forget(now)
	w := r.Reservation.Window
	if r.State != Running || w.End != now { // it was preempted meanwhile
		return
	}
	for q := range m.queue.By(Submission, now).All() {
		if q.State == Reserved {
			m.fresh = append(m.fresh, q)
			m.withdraw(q)
		}
	}
	if r.State != Running { // an observer who heard of that has stopped it
		m.wake(CauseOverrun)
		return
	}
	w.End = now.Add(max(now-w.Start, des.Second))
	m.plan.Release(&r.Reservation, now)
	rest := w
	rest.Start = now
	if fits, _, miss := m.plan.FitsAt(now, rest.Nodes, rest.Length()); !fits {
		rest.End = max(now, now+miss-des.Tick)
		w.End = rest.End
	}
	if w.End == now {
		r.Reservation.Window = w
		s.Cancel(r.due)
		m.unlink(r)
		r.Finish, r.State, r.Reason = now, Killed, "killed past its estimate: an advance reservation needs its processors"
		m.notify(r, JobKilled)
		m.wake(CauseOverrun)
		return
	}
	if _, err := m.plan.Reserve(r, rest); err != nil {
		s.Fail(fmt.Errorf("at %v, extending %v past its estimate: %w", now, r, err))
		return
	}
	r.Reservation.Window = w
	if w.Start.Add(r.span()) > w.End {
		s.At(w.End, phaseOverrun, o, uint64(r.ID))
	}
	m.wake(CauseOverrun)
}
