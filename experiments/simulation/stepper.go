package simulation

// A run that is carried out a step at a time, by whoever holds it.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Stepper is a run on a cluster that goes on only when it is asked to: to the next decision,
// or to an instant. In between its owner looks at queue, machine and clock, and may change
// anything by the verbs of the metascheduler.
//
//	run, err := simulation.Begin(jobs, simulation.RunSettings{Processors: 100, Policy: backfill.EASY{}})
//	defer run.Close()
//	for round := range run.Rounds(ctx) {    // decisions, of which the body makes each
//		...
//	}
//	err = run.RunUntil(ctx, 3600*des.Second)    // decisions are left to the policy
//	run.Scheduler().Cancel(...)
//	result, err := run.Finish(ctx)
//
// A run of which every decision is left to its policy does what Simulate does, event by event.
// Steppers share nothing, so that any number of them can be under way in one goroutine.
type Stepper struct {
	session  *session
	site     *machineSite
	hand     *hand
	settings RunSettings
	began    time.Time
	err      error // the first failure
	closed   bool
}

// hand is the policy of a Stepper's run. While somebody ranges over Rounds, it hands every round to
// that loop; otherwise it leaves rounds to the policy of the settings.
type hand struct {
	entity.Policy // who decides otherwise; nil is nobody
	// take is the body of a loop over Rounds, or nil while there is no loop.
	take func(*entity.Round)
	// missed says that rounds have passed without Policy, so that it does not know all waiting
	// jobs. Its next round must show it the whole queue as fresh.
	missed bool
}

// Name implements entity.Policy.
func (h *hand) Name() string {
	if h.Policy == nil {
		return "by hand"
	}
	return h.Policy.Name()
}

// Unwrap implements entity.Wrapper.
func (h *hand) Unwrap() entity.Policy { return h.Policy }

// Schedule implements entity.Policy. Where no job waits there is nothing to decide, but a policy
// may count on being told.
func (h *hand) Schedule(r *entity.Round) {
	switch {
	case h.take != nil && r.Queue.Len() > 0:
		// The loop takes the round. The policy behind it does not hear of the jobs that came with
		// it.
		h.missed = true
		h.take(r)
	// The policy is back after such rounds: to it the whole queue is new.
	case h.Policy != nil && h.missed:
		h.missed = false
		r.Delegate(h.Policy, r.Queue, slices.Collect(r.Waiting()))
	case h.Policy != nil:
		h.Policy.Schedule(r)
	}
}

// Attach implements entity.Attacher.
func (h *hand) Attach(m *entity.Metascheduler) {
	if a, ok := h.Policy.(entity.Attacher); ok {
		a.Attach(m)
	}
}

// Begin prepares a run of jobs on a cluster. Nothing happens yet. RunSettings.Policy decides
// whenever the owner of the Stepper does not; without a policy, jobs wait until the owner decides.
func Begin(jobs entity.Source, s RunSettings) (*Stepper, error) {
	h := &hand{Policy: s.Policy}
	s.Policy = h
	return begin(context.Background(), jobs, s, h)
}

// begin prepares a run. ctx ends what a clairvoyant policy does beforehand. The hand is nil for a
// run that nobody steps through (Simulate), whose policy is then called directly.
func begin(ctx context.Context, jobs entity.Source, s RunSettings, h *hand) (*Stepper, error) {
	jobs, err := foreseen(ctx, jobs, s)
	if err != nil {
		return nil, err
	}
	r := &Stepper{hand: h, settings: s, began: time.Now()}
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o777); err != nil {
			return nil, fmt.Errorf("making the folder for the files: %w", err)
		}
	}
	r.session = newSession(s)
	x := r.session
	// Only a cluster has bounds: newSession refuses them until this call.
	x.countForBounds(jobs)
	r.site = &machineSite{
		Plan: plan.NewCluster(s.Processors), Policy: s.Policy,
		Flows: slices.Concat(x.records(), x.outages(), []siteFlow{x.bookings(), x.arrivals(jobs)}),
	}
	if err := x.openAlone(r.site); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Scheduler returns the metascheduler of the run. It has the queue, the jobs that run and the plan;
// its verbs submit, cancel, kill or preempt jobs, and withhold capacity or give it back.
func (r *Stepper) Scheduler() *entity.Metascheduler { return r.site.Scheduler }

// Now returns the clock of the run.
func (r *Stepper) Now() des.Time { return r.session.sim.Now() }

// Next returns the instant of the next event, or des.Forever if nothing is left to happen.
func (r *Stepper) Next() des.Time { return r.session.sim.NextTime() }

// Err returns the failure that has ended the run, or nil. The end of a context is not a failure:
// the run can go on with another one.
func (r *Stepper) Err() error { return r.err }

// Rounds yields the decisions to come, one at a time, until nothing is left to happen or an
// error has ended the run (Err). The body of the loop decides in place of the policy, by
// the round's methods; a round is good for the body alone. A body that does nothing leaves
// all jobs waiting, and policy.Schedule(round) leaves the decision to a policy. Rounds in which
// no job waits are passed over.
//
// A loop that is left ends at that decision, and the run goes on from there by Rounds, RunUntil
// or Finish. iter.Pull makes of it a function that runs to the next decision.
func (r *Stepper) Rounds(ctx context.Context) iter.Seq[*entity.Round] {
	return func(yield func(*entity.Round) bool) {
		r.hand.take = func(round *entity.Round) {
			if !yield(round) {
				// The body has left the loop: stop the clock behind this decision, in the midst of
				// Sim.Run.
				r.hand.take = nil
				r.session.sim.Stop()
			}
		}
		defer func() { r.hand.take = nil }()
		_ = r.do(r.session.sim.Run(ctx)) // Err tells
	}
}

// RunUntil runs to an instant, what happens at it included. The policy decides.
func (r *Stepper) RunUntil(ctx context.Context, t des.Time) error {
	return r.do(r.session.sim.RunUntil(ctx, t))
}

// do keeps the first error that has ended the run, for Err. It passes every error on.
func (r *Stepper) do(err error) error {
	if r.err == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		r.err = err
	}
	return err
}

// SetPolicy lets another policy decide from now on. It finds an empty plan ahead: reservations of
// jobs that have not started are given up, and waiting jobs get a round. What the first policy
// brought beside its decisions stays: its predictions, and which jobs it refuses.
func (r *Stepper) SetPolicy(p entity.Policy) {
	m := r.Scheduler()
	r.hand.Policy, r.hand.missed = p, true
	r.hand.Attach(m)
	// The queue is copied first: Withdraw may change it.
	for _, j := range slices.Collect(m.Queue().By(entity.Submission, m.Simulator().Now()).All()) {
		m.Withdraw(j)
	}
	m.Changed(0, 0)
}

// Reset throws the run away, with what it has written, and begins another run of these jobs under
// the same settings with the given seed. It makes no new policies, predictors and flows: a run with
// any that keep state must begin by Begin instead.
func (r *Stepper) Reset(jobs entity.Source, seed uint64) error {
	r.Close()
	s := r.settings
	s.Seed = seed
	r.hand.missed = false
	next, err := begin(context.Background(), jobs, s, r.hand)
	if err != nil {
		r.err = err
		return err
	}
	*r = *next
	return nil
}

// Finish runs to the end and writes the files. The policy decides.
func (r *Stepper) Finish(ctx context.Context) (Result, error) {
	if r.err != nil {
		return Result{}, r.err
	}
	result, err := r.session.finish(ctx)
	if err == nil && r.settings.Dir != "" && !r.settings.noManifest {
		err = r.settings.describe(&result, r.began)
	}
	return result, r.do(err)
}

// Close ends the run. Files that Finish has not written are thrown away. A second call does
// nothing.
func (r *Stepper) Close() {
	if !r.closed {
		r.closed = true
		r.session.close()
	}
}
