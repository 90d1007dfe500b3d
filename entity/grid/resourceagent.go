package grid

import (
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
)

// ResourceAgent speaks for a cluster: it offers what is free, takes advance
// reservations, and brings fragments into the queue of the local scheduler, to
// the site's own jobs. Set its exported fields before the run.
type ResourceAgent struct {
	// Speed is how much faster the cluster is than one on which a job takes what
	// its times say: its MIPS over the reference's. Above 0.
	Speed float64
	// QueueLimit, where it is not 0, has the agent refuse fragments while so many
	// jobs wait in its queue.
	QueueLimit int
	Index      int // among the grid's agents
	endpoint

	cluster  *plan.Cluster
	meta     *entity.Metascheduler
	tasks    map[*entity.Job]*Fragment // that were taken on and have not ended
	openings []plan.Opening            // scratch
	backlog  des.Time                  // see Backlog
}

// Offer is an opening of an agent's cluster, in which as many tasks of a job can
// run there.
type Offer struct {
	Agent *ResourceAgent
	plan.Opening
}

// Backlog is how much waits for a cluster.
type Backlog struct {
	Agent *ResourceAgent
	Jobs  int // in the queue
	// Time is the processor time that they ask for, over the processors.
	Time des.Time
}

// Scheduler is the local scheduler, for the site's own jobs and its settings.
func (a *ResourceAgent) Scheduler() *entity.Metascheduler { return a.meta }

// Processors is the size of the cluster.
func (a *ResourceAgent) Processors() int { return a.cluster.Processors() }

// Length is how long something takes on this cluster that takes so long on one
// of speed 1.
func (a *ResourceAgent) Length(t des.Time) des.Time {
	if a.Speed == 1 {
		return t
	}
	return des.Time(min(math.Ceil(float64(t)/a.Speed), float64(des.Forever/2)))
}

// Offers are what the cluster offers for so many tasks of the given length on a
// cluster of speed 1; see plan.Cluster.Openings.
func (a *ResourceAgent) Offers(nodes int, length des.Time) []Offer {
	a.meta.Plan() // as of now
	a.openings = a.cluster.Openings(a.openings[:0], nodes, a.Length(length), a.at.Now())
	list := make([]Offer, len(a.openings))
	for i, o := range a.openings {
		list[i] = Offer{a, o}
	}
	return list
}

// Backlog is how much waits now.
func (a *ResourceAgent) Backlog() Backlog {
	return Backlog{a, a.meta.Queue().Len(), a.backlog / des.Time(max(a.Processors(), 1))}
}

// Handle answers.
func (a *ResourceAgent) Handle(_ *des.Context, m des.Message) {
	switch q := m.Data.(type) {
	case askOffers:
		list := a.Offers(q.nodes, q.length)
		a.grid.stats.Offers += int64(len(list))
		a.send(&q.broker.endpoint, offers{q.inquiry, list})
	case askLoad:
		a.send(&q.broker.endpoint, loadIs{inquiry: q.inquiry, load: a.Backlog()})
	case reserve:
		a.send(&q.fragment.Broker.endpoint, reserved{fragment: q.fragment, refusal: a.book(q.fragment, q.start)})
	case submit:
		if refusal := a.queue(q.fragment); refusal != "" {
			a.send(&q.fragment.Broker.endpoint, refused{fragment: q.fragment, refusal: refusal})
		}
	case hold:
		a.send(&a.grid.regulator.endpoint, held{emergency: q.emergency, fragment: a.earliest(q.emergency)})
	case commit:
		a.send(&a.grid.regulator.endpoint, committed{fragment: q.fragment, ok: a.commit(q.fragment)})
	case cancel:
		a.release(q.fragment)
	}
}

// book reserves f's processors from start on, or from now on where start is
// past: a message takes its time. It returns why it cannot, or "".
func (a *ResourceAgent) book(f *Fragment, start des.Time) (refusal string) {
	w, err := flow.WindowAt(a.meta, a.meta.RequestOf(f.Task), max(start, a.at.Now()))
	if err != nil {
		return err.Error()
	}
	if hold := a.keep(f, w); hold != nil {
		a.take(f, hold)
	}
	return ""
}

// keep keeps w for f. A refusal of what the plan itself has found ends the run.
func (a *ResourceAgent) keep(f *Fragment, w entity.Window) *entity.Hold {
	f.Task.Submit = a.at.Now()
	hold, err := a.meta.Tentative(f.Task, w)
	if err != nil {
		a.at.Fail(fmt.Errorf("at %v, an advance reservation: %w", a.at.Now(), err))
		return nil
	}
	return hold
}

// take has the local scheduler start f when the window that is kept for it
// begins.
func (a *ResourceAgent) take(f *Fragment, hold *entity.Hold) {
	f.Task.Submit = a.at.Now()
	a.tasks[f.Task] = f
	f.Run = hold.Run()
	if _, err := hold.Confirm(); err != nil {
		a.at.Fail(fmt.Errorf("at %v: %w", a.at.Now(), err))
	}
}

// queue brings f into the queue, or returns why it cannot.
func (a *ResourceAgent) queue(f *Fragment) (refusal string) {
	if err := a.cluster.Fits(f.Task.Request); err != nil {
		a.grid.stats.TooLarge++
		return err.Error()
	}
	if waiting := a.meta.Queue().Len(); a.QueueLimit > 0 && waiting >= a.QueueLimit {
		a.grid.stats.Refused++
		return fmt.Sprintf("%d jobs wait already", waiting)
	}
	f.Task.Submit = a.at.Now()
	a.tasks[f.Task] = f
	f.Run = a.meta.Submit(f.Task)
	return ""
}

// earliest keeps the earliest window for a sub-job until it is committed, cancelled
// or expires; nil where the cluster is too small.
func (a *ResourceAgent) earliest(e *emergency) *Fragment {
	f := e.bag.fragment(a, e.nodes)
	f.call, f.Emergency = e, true
	if a.cluster.Fits(f.Task.Request) != nil || !a.keepEarliest(f) {
		return nil
	}
	f.expiry = a.at.After(e.expiry, entity.PhaseEnd, (*expiring)(f), uint64(f.Job.ID))
	return f
}

// keepEarliest keeps the earliest window for f in the plan.
func (a *ResourceAgent) keepEarliest(f *Fragment) bool {
	w, ok := a.meta.Plan().Find(a.meta.RequestOf(f.Task), a.at.Now(), des.Forever)
	if !ok {
		return false
	}
	f.hold = a.keep(f, w)
	return f.hold != nil
}

// expiring is a fragment as the handler of its expiry.
type expiring Fragment

func (x *expiring) Handle(*des.Simulator, des.Event) {
	f := (*Fragment)(x)
	a := f.Agent
	a.grid.stats.Expired++
	if a.grid.Log != nil {
		a.grid.note(a.name, f.Job, "the emergency reservation of %d processors from %v on has expired", f.Task.Request.Nodes, f.hold.Window().Start)
	}
	f.hold.Drop()
}

// release gives up what is held for f, unless it has expired.
func (a *ResourceAgent) release(f *Fragment) {
	if a.at.Cancel(f.expiry) {
		f.hold.Drop()
	}
}

// commit makes the reservation held for f a firm one; false where it has
// expired. Where its start has come meanwhile it moves to the earliest window
// from now on.
func (a *ResourceAgent) commit(f *Fragment) bool {
	if !a.at.Cancel(f.expiry) {
		return false
	}
	if f.hold.Window().Start < a.at.Now() {
		f.hold.Drop()
		if !a.keepEarliest(f) {
			return false
		}
	}
	a.take(f, f.hold)
	return true
}

// Observe follows what happens at the site.
func (a *ResourceAgent) Observe(e entity.JobEvent) {
	j := e.Run
	switch e.Kind {
	case entity.JobSubmitted:
		if !j.Booked {
			a.backlog += area(j)
		}
	case entity.JobRejected, entity.JobStarted:
		if !j.Booked {
			a.backlog -= area(j)
		}
		if f := a.tasks[j.Submitted()]; f != nil {
			a.grid.began(f) // what was taken on is not rejected
		}
	case entity.JobFinished, entity.JobKilled:
		if f := a.tasks[j.Submitted()]; f != nil {
			delete(a.tasks, j.Submitted())
			if e.Kind == entity.JobKilled {
				f.bag.killed = true
				f.bag.run.Reason = j.Reason
			}
			a.grid.ended(f.bag, j.Request.Nodes)
			a.send(&f.Broker.endpoint, done{fragment: f})
		}
	}
}

// area is the processor time that j asks for.
func area(j *entity.Run) des.Time { return des.Time(j.Request.Nodes) * j.Request.Length }
