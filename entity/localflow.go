package entity

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
)

// LocalJob is an owner's own use of one node, over [Start, Start+Length).
type LocalJob struct {
	Node *Node
	// Known is the instant at which the domain learns of it: 0 for what is
	// planned before the run, a cycle's beginning for what is planned with the
	// cycle, Start for what comes unannounced.
	Known  des.Time
	Start  des.Time
	Length des.Time
}

// LocalRule says who yields where an owner's job meets a global job.
type LocalRule uint8

const (
	// LocalWaits has the owner's job wait for the node's first gap that holds
	// it: no global job that has a reservation is disturbed.
	LocalWaits LocalRule = iota
	// LocalPreempts gives the owner the node on time: a global job that holds a
	// reservation there loses it, one that runs there is sent back to the queue
	// and what it has done is lost (Job.Preempted, Job.Lost, JobRequeued). A job
	// that still runs when an owner's job becomes known may go on until that
	// one begins. Advance reservations do not yield: the owner has agreed to them.
	LocalPreempts
)

var localRuleNames = [...]string{"waits", "preempts"}

func (r LocalRule) String() string {
	if int(r) < len(localRuleNames) {
		return localRuleNames[r]
	}
	return fmt.Sprintf("LocalRule(%d)", r)
}

// LocalStats counts what became of owners' jobs and what they did to others.
type LocalStats struct {
	Jobs      int      // owners' jobs that got their node
	Refused   int      // those whose node never has room for them
	Delayed   int      // those that began later than wanted
	Delay     des.Time // by how much, summed up
	Displaced int      // global jobs that lost a reservation ahead
	Preempted int      // global jobs that were stopped while they ran
}

// LocalFlow brings owners' jobs into a domain: they hold reservations in the
// plan as global jobs do. Owners' jobs never push each other aside: the first
// known goes first.
type LocalFlow struct {
	// Rule is who yields. It is set before the run.
	Rule LocalRule

	sim    *des.Simulator
	domain *Domain
	meta   *Metascheduler
	next   func() (LocalJob, bool)
	stop   func()
	coming LocalJob // the one pending arrival
	stats  LocalStats
}

// NewLocalFlow connects owners' jobs with the domain that they come into and
// the metascheduler whose plan it is.
func NewLocalFlow(sim *des.Simulator, d *Domain, m *Metascheduler) *LocalFlow {
	return &LocalFlow{sim: sim, domain: d, meta: m}
}

// Submit takes owners' jobs in order of LocalJob.Known, pulled one ahead of the
// clock. One out of order, without length or on a foreign node ends the run
// with an error.
func (f *LocalFlow) Submit(jobs iter.Seq[LocalJob]) {
	f.Close()
	f.next, f.stop = iter.Pull(jobs)
	f.pull()
}

// Close lets go of the owners' jobs to come. It is needed only where a run
// ended before they did.
func (f *LocalFlow) Close() {
	if f.stop != nil {
		f.stop()
	}
	f.next, f.stop = nil, nil
}

// Stats counts what has happened so far.
func (f *LocalFlow) Stats() LocalStats { return f.stats }

func (f *LocalFlow) pull() {
	l, ok := f.next()
	if !ok {
		f.Close()
		return
	}
	if err := f.check(l); err != nil {
		f.sim.Fail(fmt.Errorf("at %v, an owner's job for [%v, %v): %w", f.sim.Now(), l.Start, l.Start.Add(l.Length), err))
		return
	}
	f.coming = l
	f.sim.At(l.Known, PhaseLocal, (*localArriving)(f), 0)
}

func (f *LocalFlow) check(l LocalJob) error {
	switch _, known := f.domain.index[l.Node]; {
	case !known:
		return fmt.Errorf("its node %v is not of the domain", l.Node)
	case l.Length <= 0:
		return fmt.Errorf("its length must be above 0, not %v", l.Length)
	case l.Known < f.sim.Now():
		return fmt.Errorf("it was known at %v, before the one in front of it", l.Known)
	}
	return nil
}

// localArriving is the flow as the kernel sees it.
type localArriving LocalFlow

func (a *localArriving) Handle(*des.Simulator, des.Event) {
	f := (*LocalFlow)(a)
	l := f.coming
	if f.next != nil {
		f.pull()
	}
	f.place(l)
}

// place gives an owner's job its node, from its start or from the first gap.
func (f *LocalFlow) place(l LocalJob) {
	now := f.sim.Now()
	yields := func(j *Job) bool { return f.Rule == LocalPreempts && j.home == f.meta && !j.Booked }
	start := f.domain.room(l.Node, max(l.Start, now), l.Length, yields)
	end := start.Add(l.Length)
	if end == des.Forever {
		f.stats.Refused++
		return
	}
	inTheWay := f.domain.holders(l.Node, start, end)
	for _, j := range inTheWay {
		if j.State == Running && start > now {
			f.sim.At(start, PhaseLocal, des.Func(func(*des.Simulator, des.Event) { f.place(l) }), 1)
			return
		}
	}
	for _, j := range inTheWay {
		if j.State == Running {
			f.stats.Preempted++
		} else {
			f.stats.Displaced++
		}
		f.meta.evict(j)
	}
	if err := f.domain.Occupy(l.Node, start, end); err != nil {
		f.sim.Fail(fmt.Errorf("at %v: %w", now, err))
		return
	}
	f.stats.Jobs++
	if delay := start - l.Start; delay > 0 {
		f.stats.Delayed++
		f.stats.Delay += delay
	}
	if f.meta.queue.Len() > 0 {
		f.meta.wake(CauseLocal)
	}
}
