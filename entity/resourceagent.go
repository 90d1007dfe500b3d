package entity

import (
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
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

	cluster *Cluster
	meta    *Metascheduler
	tasks   map[*Job]*Fragment // that were taken on and have not ended
	backlog des.Time           // see Load
}

// Load is how much waits for a cluster.
type Load struct {
	Agent *ResourceAgent
	Jobs  int // in the queue
	// Backlog is the processor time that they ask for, over the processors.
	Backlog des.Time
}

// Scheduler is the local scheduler, for the site's own jobs and its settings.
func (a *ResourceAgent) Scheduler() *Metascheduler { return a.meta }

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

// Offers appends what the cluster offers for so many tasks of the given length
// on a cluster of speed 1; see Cluster.Offers.
func (a *ResourceAgent) Offers(list []Offer, nodes int, length des.Time) []Offer {
	now := a.at.Now()
	a.meta.forget(now)
	begin := len(list)
	list = a.cluster.Offers(list, nodes, a.Length(length), now)
	for i := range list[begin:] {
		list[begin+i].Agent = a
	}
	return list
}

// Load is how much waits now.
func (a *ResourceAgent) Load() Load {
	return Load{a, a.meta.queue.Len(), a.backlog / des.Time(max(a.Processors(), 1))}
}

// Handle answers.
func (a *ResourceAgent) Handle(_ *des.Context, m des.Message) {
	switch q := m.Data.(type) {
	case askOffers:
		list := a.Offers(nil, q.nodes, q.length)
		a.grid.stats.Offers += int64(len(list))
		a.send(&q.broker.endpoint, offers{q.inquiry, list})
	case askLoad:
		a.send(&q.broker.endpoint, loadIs{inquiry: q.inquiry, load: a.Load()})
	case reserve:
		a.send(&q.fragment.Broker.endpoint, reserved{fragment: q.fragment, refusal: a.book(q.fragment, q.start)})
	case submit:
		if refusal := a.queue(q.fragment); refusal != "" {
			a.send(&q.fragment.Broker.endpoint, refused{fragment: q.fragment, refusal: refusal})
		}
	case hold:
		a.send(&a.grid.regulator.endpoint, held{emergency: q.emergency, fragment: a.hold(q.emergency)})
	case commit:
		a.send(&a.grid.regulator.endpoint, committed{fragment: q.fragment, ok: a.commit(q.fragment)})
	case cancel:
		a.release(q.fragment)
	}
}

// book reserves f's processors from start on, or from now on where start is
// past: a message takes its time. It returns why it cannot, or "".
func (a *ResourceAgent) book(f *Fragment, start des.Time) (refusal string) {
	now := a.at.Now()
	a.meta.forget(now)
	w, refusal := a.meta.windowAt(f.Task.Request, max(start, now))
	if refusal == "" && a.meta.keep(&f.Task, w) {
		a.take(f)
	}
	return refusal
}

// take has the local scheduler start f when the window that is kept for it
// begins.
func (a *ResourceAgent) take(f *Fragment) {
	f.Task.Submit = a.at.Now()
	a.tasks[&f.Task] = f
	a.meta.enter(&f.Task)
	a.meta.confirm(&f.Task)
}

// queue brings f into the queue, or returns why it cannot.
func (a *ResourceAgent) queue(f *Fragment) (refusal string) {
	if err := a.cluster.Fits(f.Task.Request); err != nil {
		a.grid.stats.TooLarge++
		return err.Error()
	}
	if a.QueueLimit > 0 && a.meta.queue.Len() >= a.QueueLimit {
		a.grid.stats.Refused++
		return fmt.Sprintf("%d jobs wait already", a.meta.queue.Len())
	}
	f.Task.Submit = a.at.Now()
	a.tasks[&f.Task] = f
	a.meta.submit(&f.Task)
	return ""
}

// hold keeps the earliest window for a sub-job until it is committed, cancelled
// or expires; nil where the cluster is too small.
func (a *ResourceAgent) hold(e *emergency) *Fragment {
	f := e.bag.fragment(a, e.nodes)
	f.call, f.Emergency = e, true
	if a.cluster.Fits(f.Task.Request) != nil || !a.keepEarliest(f) {
		return nil
	}
	f.expiry = a.at.After(e.expiry, PhaseEnd, (*expiring)(f), uint64(f.Job.ID))
	return f
}

// keepEarliest keeps the earliest window for f in the plan.
func (a *ResourceAgent) keepEarliest(f *Fragment) bool {
	now := a.at.Now()
	a.meta.forget(now)
	w, ok := a.cluster.Find(f.Task.Request, now, des.Forever)
	return ok && a.meta.keep(&f.Task, w)
}

// expiring is a fragment as the handler of its expiry.
type expiring Fragment

func (x *expiring) Handle(*des.Simulator, des.Event) {
	f := (*Fragment)(x)
	a := f.Agent
	a.grid.stats.Expired++
	if a.grid.Log != nil {
		a.grid.note(a.name, f.Job, "the emergency reservation of %d processors from %v on has expired", f.Task.Request.Nodes, f.Task.Reservation.Window.Start)
	}
	a.meta.drop(&f.Task)
}

// release gives up what is held for f, unless it has expired.
func (a *ResourceAgent) release(f *Fragment) {
	if a.at.Cancel(f.expiry) {
		a.meta.drop(&f.Task)
	}
}

// commit makes the reservation held for f a firm one; false where it has
// expired. Where its start has come meanwhile it moves to the earliest window
// from now on.
func (a *ResourceAgent) commit(f *Fragment) bool {
	if !a.at.Cancel(f.expiry) {
		return false
	}
	if f.Task.Reservation.Window.Start < a.at.Now() {
		a.meta.drop(&f.Task)
		if !a.keepEarliest(f) {
			return false
		}
	}
	a.take(f)
	return true
}

// Observe follows what happens at the site.
func (a *ResourceAgent) Observe(e JobEvent) {
	j := e.Job
	switch e.Kind {
	case JobSubmitted:
		if !j.Booked {
			a.backlog += area(j)
		}
	case JobRejected, JobStarted:
		if !j.Booked {
			a.backlog -= area(j)
		}
		if f := a.tasks[j]; f != nil {
			a.grid.began(f) // what was taken on is not rejected
		}
	case JobFinished, JobKilled:
		if f := a.tasks[j]; f != nil {
			delete(a.tasks, j)
			if e.Kind == JobKilled {
				f.bag.killed = true
				f.Job.Reason = j.Reason
			}
			a.grid.ended(f.bag, j.Request.Nodes)
			a.send(&f.Broker.endpoint, done{fragment: f})
		}
	}
}

// area is the processor time that j asks for.
func area(j *Job) des.Time { return des.Time(j.Request.Nodes) * j.Request.Length }
