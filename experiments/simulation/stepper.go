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
	session  *Session
	site     *Site
	hand     *hand
	settings RunSettings
	began    time.Time
	err      error // the first failure
	closed   bool
}

// hand is a policy that hands rounds to the owner of a Stepper while there is somebody to
// take them, and leaves them to a policy otherwise.
type hand struct {
	entity.Policy // who decides otherwise; nil is nobody
	take          func(*entity.Round)
	// missed says that Policy has not seen all rounds: jobs have come that it was not told of
	// as fresh ones.
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
		h.missed = true
		h.take(r)
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

// Begin prepares a run of jobs on a cluster. Nothing happens yet. RunSettings.Policy makes
// the decisions that nobody else makes; without one jobs wait until somebody does.
func Begin(jobs entity.Source, s RunSettings) (*Stepper, error) {
	h := &hand{Policy: s.Policy}
	s.Policy = h
	return begin(context.Background(), jobs, s, h)
}

// begin prepares a run. The context is of what a clairvoyant policy does beforehand.
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
	x.countForBounds(jobs)
	r.site = &Site{
		Plan: plan.NewCluster(s.Processors), Policy: s.Policy,
		Flows: slices.Concat(x.records(), x.outages(), []Flow{x.bookings(), x.arrivals(jobs)}),
	}
	if err := x.openAlone(r.site); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Scheduler is the metascheduler of the run, which has the queue, the jobs that run and the plan, and
// by whose verbs jobs are submitted, cancelled, killed or preempted and capacity is withheld
// or given back.
func (r *Stepper) Scheduler() *entity.Metascheduler { return r.site.Scheduler }

// Now is the clock of the run.
func (r *Stepper) Now() des.Time { return r.session.Sim.Now() }

// Next is the instant of the next event, or des.Forever where nothing is left to happen.
func (r *Stepper) Next() des.Time { return r.session.Sim.NextTime() }

// Err is what has ended the run, or nil. The end of a context does not end the run.
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
				r.hand.take = nil
				r.session.Sim.Stop()
			}
		}
		defer func() { r.hand.take = nil }()
		_ = r.do(r.session.Sim.Run(ctx)) // Err tells
	}
}

// RunUntil runs to an instant, what happens at it included. Decisions are those of the
// policy.
func (r *Stepper) RunUntil(ctx context.Context, t des.Time) error {
	return r.do(r.session.Sim.RunUntil(ctx, t))
}

// do keeps the error that has ended the run.
func (r *Stepper) do(err error) error {
	if r.err == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		r.err = err
	}
	return err
}

// SetPolicy has another policy decide from now on. It finds an empty plan ahead: reservations
// of jobs that have not started are given up, and waiting jobs get a round. What the first
// policy has brought beside its decisions stays: its predictions, and what it refuses.
func (r *Stepper) SetPolicy(p entity.Policy) {
	m := r.Scheduler()
	r.hand.Policy, r.hand.missed = p, true
	r.hand.Attach(m)
	for _, j := range slices.Collect(m.Queue().By(entity.Submission, m.Simulator().Now()).All()) {
		m.Withdraw(j)
	}
	m.Changed(0, 0)
}

// Reset throws the run away, with what it has written, and begins another one of these jobs
// under the same settings, with the seed. Policies, predictors and flows that keep state are
// not new ones by that: a run that has such begins by Begin.
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

// Finish runs to the end, and writes the files. Decisions are those of the policy.
func (r *Stepper) Finish(ctx context.Context) (Result, error) {
	if r.err != nil {
		return Result{}, r.err
	}
	result, err := r.session.finish(ctx)
	if err == nil && r.settings.Dir != "" && !r.settings.NoManifest {
		err = r.settings.describe(&result, r.began)
	}
	return result, r.do(err)
}

// Close ends the run. Files that Finish has not written are thrown away. Closing twice is
// harmless.
func (r *Stepper) Close() {
	if !r.closed {
		r.closed = true
		r.session.close()
	}
}
