package entity

import (
	"context"
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// Policy decides, whenever something has changed, which waiting jobs get what.
// It reads the plan and makes reservations; it never touches the clock. A
// reservation that begins now starts its job.
type Policy interface {
	// Name returns the policy's name in results. Two policies of one call have two names.
	Name() string
	// Schedule decides in one round. It may reserve, hold, reject and preempt through r, and
	// must not keep r.
	Schedule(r *Round)
}

// Limiting is a Policy that refuses requests which the plan could meet. A job is rejected as
// it comes if all its shapes are refused.
type Limiting interface {
	Policy
	// Refuses returns why req can never be met, for the job's user, or nil.
	Refuses(req Request) error
}

// Sparing is a Policy that never lets jobs have all nodes of its plan at once.
type Sparing interface {
	Policy
	// Usable returns how many nodes, or processors, jobs may have at a time.
	Usable() int
}

// Clairvoyant is a Policy that knows all jobs before the first one comes, as a yardstick for
// policies that do not. The program calls Foresee before the clock runs, with the jobs in
// order of submission, the number of processors, and a function that returns how long a job
// will really run.
type Clairvoyant interface {
	Policy
	// Foresee is called once, before the first event.
	Foresee(ctx context.Context, jobs []*Job, processors int, lasts func(*Job) des.Time) error
}

// Wrapper is a Policy that leaves some or all of its decisions to another policy. What the
// wrapped policy can do beyond deciding (Predicting, Limiting, Sparing) holds for the
// wrapper; see As.
type Wrapper interface {
	Policy
	Unwrap() Policy // the wrapped policy; nil if there is no wrapped policy
}

// As returns the first T among p, the policy that p wraps, and so on.
func As[T any](p Policy) (found T, ok bool) {
	for p != nil {
		if found, ok = p.(T); ok {
			return found, true
		}
		w, wraps := p.(Wrapper)
		if !wraps {
			break
		}
		p = w.Unwrap()
	}
	return found, false
}

// Cause says what has changed since the last round.
type Cause uint8

const (
	CauseArrival Cause = 1 << iota // a job entered the queue
	CauseEnd                       // a job, or a part of it, ended
	CauseOverrun                   // a job passed its estimate and the plans made behind it are void
	CauseTick                      // a cycle begins
	CauseChange                    // capacity, a price, an advance reservation came or went; a job was cancelled, killed or preempted
	CauseWake                      // an instant has come that the policy, or somebody else, asked for by WakeAt
)

// Has reports whether any cause of mask is among c.
func (c Cause) Has(mask Cause) bool { return c&mask != 0 }

// Round is one decision: what a policy sees and what it can do. A policy that also decides
// by the clock asks for further rounds by WakeAt.
type Round struct {
	Now   des.Time // the present instant
	Cause Cause    // what has changed since the last round
	Plan  Plan     // what is taken; reserve through the Round, not through the Plan
	Queue *Queue   // the waiting jobs
	// Gained is false if nothing has become free since the last round: what did not fit then
	// does not fit now.
	Gained bool

	meta    *Metascheduler
	changes uint64 // of the metascheduler, when the round began
	fresh   []*Run
	holds   []*Run
	explain []func() // see Explain
	fits    fitScan  // see WouldFit
}

// Context returns the context of the run. A policy whose own work can be long gives that
// work up when the context has ended.
func (r *Round) Context() context.Context { return r.meta.sim.Context() }

// Waiting yields, in order of submission, the jobs that wait without a
// reservation.
func (r *Round) Waiting() iter.Seq[*Run] {
	return func(yield func(*Run) bool) {
		for j := range r.Queue.By(Submission, r.Now).All() {
			if j.State == Waiting && !yield(j) {
				return
			}
		}
	}
}

// Running yields the jobs that run, in the order in which they started.
func (r *Round) Running() iter.Seq[*Run] { return r.meta.RunningJobs() }

// WakeAt asks for a round at the instant t, which lies ahead, if jobs wait then: for rules
// by the time of day, and for a policy that must look again though nothing has happened.
func (r *Round) WakeAt(t des.Time) {
	if t <= r.Now {
		r.Fail(fmt.Errorf("a round is asked for at %v, which does not lie ahead", t))
		return
	}
	r.meta.WakeAt(t)
}

// Preempt stops the running job j and puts it back into the queue, at the place of its
// submission; see Metascheduler.Preempt. What j gives back is for the present round
// (Gained), and j is among the Fresh jobs of the next one. No round follows from it:
// otherwise a policy that stops jobs in every round would be called for ever at one instant.
// A policy that must look again though nothing happens calls WakeAt. An advance reservation
// cannot be preempted.
func (r *Round) Preempt(j *Run, keep des.Time) bool {
	if j.State != Running {
		return r.refuse(fmt.Errorf("%v is %v and cannot be preempted", j, j.State))
	}
	if j.Booked {
		r.Fail(fmt.Errorf("%v is an advance reservation and cannot be preempted", j))
		return false
	}
	r.meta.preempt(j, keep)
	r.Gained, r.meta.gained = true, true
	return true
}

// SetUp adds the time t, in which the waiting job j does no work, to the beginning of its
// next attempt: the cost of resuming it. See Metascheduler.SetUp.
func (r *Round) SetUp(j *Run, t des.Time) bool { return r.meta.setUp(j, t) }

// Fresh lists the jobs that have entered the queue, or have lost their
// reservation, since the last round, in order of submission.
func (r *Round) Fresh() []*Run { return r.fresh }

// Retry puts a job that could not be placed among the Fresh jobs of the next round.
func (r *Round) Retry(j *Run) {
	if j.queued() {
		r.meta.fresh = append(r.meta.fresh, j)
	}
}

// Freed returns the span of time within which anything has been given back since the last
// call of Freed; it is empty if from >= to. Only into this span can a reservation move to an
// earlier start.
func (r *Round) Freed() (from, to des.Time) {
	from, to = r.meta.freedFrom, r.meta.freedTo
	r.meta.freedFrom, r.meta.freedTo = des.Forever, 0
	return from, to
}

// Reserve gives w to the waiting job j, which starts when w begins; that may be now. It
// reports whether j has w. A refusal is a fault of the policy and ends the run with an error
// that names the policy, unless something else has changed meanwhile; see Changes. Then j,
// if it still waits, is among the Fresh jobs of another round.
func (r *Round) Reserve(j *Run, w Window) bool {
	if !j.queued() {
		return r.refuse(fmt.Errorf("%v is %v, not waiting", j, j.State))
	}
	if w.Start < r.Now {
		r.Fail(fmt.Errorf("the window for %v starts at %v, in the past", j, w.Start))
		return false
	}
	if !r.reserve(j, &w) {
		r.Retry(j)
		return false
	}
	r.meta.startWhenDue(j)
	return true
}

// Changes counts the changes that others than the policy have made: an observer who hears of
// a start may cancel or stop a job, lengthen a request, or take capacity out of the plan. A
// policy that keeps a window over a reservation must look for it again if the number has
// grown. Otherwise its outdated calls are refused (Reserve, Hold, Move and Preempt report
// false, Reject does nothing); that is no fault of the policy, and it gets another round.
func (r *Round) Changes() uint64 { return r.meta.changes }

// refuse reports a call that cannot be carried out. If nobody else has changed anything since the
// round began, that is a fault of the policy and ends the run; otherwise there is another round. It
// always returns false, the result of the refused call.
func (r *Round) refuse(err error) bool {
	if r.changes == r.meta.changes {
		r.Fail(err)
	} else {
		r.meta.wake(CauseChange)
	}
	return false
}

// reserve reserves w in the plan for j, and reports whether that was possible. w must be what j asks
// for.
func (r *Round) reserve(j *Run, w *Window) bool {
	if j.endsTooLate(w.Start, j.Request.Length) {
		return false
	}
	if err := j.accept(w); err != nil {
		return r.refuse(fmt.Errorf("the window for %v %w", j, err))
	}
	if _, err := r.Plan.Reserve(j, *w); err != nil {
		return r.refuse(err)
	}
	return true
}

// Hold keeps w for j until the end of this round, and reports whether it does; see Reserve for
// refusals. Other reservations of the round must leave room for w. Rounds are independent; the
// next one holds anew.
func (r *Round) Hold(j *Run, w Window) bool {
	if !j.queued() {
		return r.refuse(fmt.Errorf("%v is %v, not waiting", j, j.State))
	}
	if !r.reserve(j, &w) {
		return false
	}
	r.holds = append(r.holds, j)
	r.meta.promise(j, w.Start, len(r.holds) == 1)
	return true
}

// Withdraw takes the reservation ahead from j, which waits again.
func (r *Round) Withdraw(j *Run) {
	if j.State == Reserved {
		r.meta.withdraw(j)
	}
}

// Move replaces the reservation ahead of j by w, and reports whether j has w; see Reserve for
// refusals.
func (r *Round) Move(j *Run, w Window) bool {
	if j.State != Reserved {
		return r.refuse(fmt.Errorf("%v is %v and holds no reservation ahead", j, j.State))
	}
	if err := j.accept(&w); err != nil {
		return r.refuse(fmt.Errorf("the window for %v %w", j, err))
	}
	held := j.Reservation.Window
	if err := r.Plan.Move(&j.Reservation, w); err != nil {
		return r.refuse(err)
	}
	r.meta.sim.Cancel(j.due)
	r.meta.freed(held.Start, held.End)
	r.meta.startWhenDue(j)
	return true
}

// Reject removes a waiting job for good; reason is for its user.
func (r *Round) Reject(j *Run, reason string) {
	if !j.queued() {
		r.refuse(fmt.Errorf("%v is %v and cannot be rejected", j, j.State))
		return
	}
	r.meta.rejectQueued(j, reason)
}

// Delegate lets another policy decide about a part of the queue; fresh are the jobs that are
// new to it.
func (r *Round) Delegate(to Policy, part *Queue, fresh []*Run) {
	part.begin()
	queue, all := r.Queue, r.fresh
	r.Queue, r.fresh = part, fresh
	to.Schedule(r)
	r.Queue, r.fresh = queue, all
}

// DropHolds gives up the windows of Hold, for a policy that decides several times in one round.
// The end of a round gives up all holds anyway.
func (r *Round) DropHolds() {
	for _, j := range r.holds {
		r.Plan.Release(&j.Reservation, r.Now)
		j.chooseAnew()
	}
	clear(r.holds)
	r.holds = r.holds[:0]
}

// Fail ends the run with an error that names the policy.
func (r *Round) Fail(err error) {
	r.meta.sim.Fail(fmt.Errorf("at %v, policy %s: %w", r.Now, r.meta.policy.Name(), err))
}
