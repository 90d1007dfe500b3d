package flow

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// OwnedPlan is a plan of named nodes to which owners come beside the organisation: a
// plan.Domain, or your own plan around one. Owners of counted processors use the queue,
// because no processor is anybody's in particular.
type OwnedPlan interface {
	entity.Plan
	// Number returns the number of n among the plan's nodes; false if the plan does not have n.
	Number(n *entity.Node) (int, bool)
	// Room returns the first instant from which on n is free over the length, jobs that
	// yield left out.
	Room(n *entity.Node, from, length des.Time, yields func(*entity.Run) bool) des.Time
	// Reprice sets n's price.
	Reprice(n *entity.Node, price float64) error
	// SlotList returns what is free up to the instant To, beyond which nothing is planned.
	SlotList() plan.SlotList
}

var _ OwnedPlan = (*plan.Domain)(nil)

// LocalJob is an owner's own use of one node, over [Start, Start+Length).
type LocalJob struct {
	Node *entity.Node // where it runs
	// Known is the instant at which the domain learns of it: 0 for what is
	// planned before the run, a cycle's beginning for what is planned with the
	// cycle, Start for what comes unannounced.
	Known  des.Time
	Start  des.Time // when the owner wants it to begin
	Length des.Time // how long it runs, above 0
}

// LocalRule says who yields where an owner's job meets a global job.
type LocalRule uint8

const (
	// LocalWaits lets the owner's job wait for the node's first gap that holds it. No global
	// job with a reservation is disturbed.
	LocalWaits LocalRule = iota
	// LocalPreempts gives the owner the node on time. A global job with a reservation ahead
	// there loses the reservation; a global job that runs there is sent back to the queue
	// and loses its work (Run.Earlier, JobRequeued). A job that runs when an owner's job
	// becomes known may go on until the owner's job begins. Advance reservations do not
	// yield: the owner has agreed to them.
	LocalPreempts
)

var localRules = enum.Of[LocalRule]("rule for owners' jobs", "waits", "preempts")

func (r LocalRule) String() string { return localRules.Name(r) }

// ParseLocalRule reads "waits" or "preempts".
func ParseLocalRule(s string) (LocalRule, error) { return localRules.Parse(s) }

// LocalStats counts owners' jobs and what they did to global jobs.
type LocalStats struct {
	Jobs      int      // owners' jobs that got their node
	Refused   int      // owners' jobs whose node never has room for them
	Delayed   int      // owners' jobs that began later than wanted
	Delay     des.Time // by how much, summed up
	Displaced int      // global jobs that lost a reservation ahead
	Preempted int      // global jobs that were stopped while they ran
}

// yield makes a global job give way to an owner's, and counts it.
func (s *LocalStats) yield(m *entity.Metascheduler, r *entity.Run) {
	if r.Booked {
		return // the owner has agreed to it
	}
	switch stopped, displaced := (Victims{}).yield(m, r, 0); {
	case stopped:
		s.Preempted++
	case displaced:
		s.Displaced++
	}
}

// LocalFlow brings owners' jobs into a domain. They hold reservations in the plan as global
// jobs do. Owners' jobs never push each other aside: the first known goes first.
type LocalFlow struct {
	// Rule says who yields. It is set before the run.
	Rule LocalRule
	// Told, if set, is called with every owner's job that got its node, and with its start.
	Told func(l LocalJob, start des.Time)

	stream[LocalJob]
	plan  OwnedPlan
	meta  *entity.Metascheduler
	stats LocalStats
}

// NewLocalFlow connects owners' jobs with a plan and with the metascheduler of that plan.
func NewLocalFlow(p OwnedPlan, m *entity.Metascheduler) *LocalFlow {
	return &LocalFlow{plan: p, meta: m}
}

// Submit takes owners' jobs in order of LocalJob.Known, pulled one ahead of the clock. A job
// that is out of order, without length, or on a foreign node ends the run with an error.
func (f *LocalFlow) Submit(jobs iter.Seq[LocalJob]) {
	f.begin(f.meta.Simulator(), jobs, des.Feed[LocalJob]{
		At:    func(l LocalJob) des.Time { return l.Known },
		Phase: entity.PhaseChange,
		Check: f.check,
		Do:    f.place,
	})
}

// Stats returns the counts so far.
func (f *LocalFlow) Stats() LocalStats { return f.stats }

func (f *LocalFlow) check(l LocalJob) error {
	now := f.meta.Simulator().Now()
	_, known := f.plan.Number(l.Node)
	var err error
	switch {
	case !known:
		err = fmt.Errorf("its node %v is not of the domain", l.Node)
	case l.Length <= 0:
		err = fmt.Errorf("its length must be above 0, not %v", l.Length)
	case l.Known < now:
		err = fmt.Errorf("it was known at %v, before the one in front of it", l.Known)
	}
	if err != nil {
		return fmt.Errorf("at %v, an owner's job for [%v, %v): %w", now, l.Start, l.Start.Add(l.Length), err)
	}
	return nil
}

// place gives an owner's job its node, from its start or from the first gap.
func (f *LocalFlow) place(l LocalJob) {
	sim := f.meta.Simulator()
	now := sim.Now()
	f.meta.Advance()
	yields := func(r *entity.Run) bool { return f.Rule == LocalPreempts && r.State != entity.Created && !r.Booked }
	k, _ := f.plan.Number(l.Node)
	start := f.plan.Room(l.Node, max(l.Start, now), l.Length, yields)
	end := start.Add(l.Length)
	if end == des.Forever {
		f.stats.Refused++
		return
	}
	inTheWay := f.plan.InTheWay(entity.NodeAt(k), start, end, yields)
	for _, r := range inTheWay {
		if r.State == entity.Running && start > now {
			sim.At(start, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { f.place(l) }), 1)
			return
		}
	}
	for _, r := range inTheWay {
		f.stats.yield(f.meta, r)
	}
	own := entity.NewWithheld()
	if err := f.plan.Withhold(own, entity.NodeAt(k), start, end); err != nil {
		sim.Fail(fmt.Errorf("at %v: %w", now, err))
		return
	}
	f.meta.WithheldFor(own, entity.BlockedByOwner)
	f.stats.Jobs++
	if f.Told != nil {
		f.Told(l, start)
	}
	if delay := start - l.Start; delay > 0 {
		f.stats.Delayed++
		f.stats.Delay += delay
	}
	f.meta.Changed(0, 0)
}
