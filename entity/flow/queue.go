package flow

// Owners' own queues.

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// LocalQueue is the queue of an owner's own jobs, which come over time and run on the
// owner's nodes, on one or several at once, beside the jobs of the organisation:
//
//	users  --> metascheduler --policy--+
//	                                   +--> plan of the nodes
//	owner  --> local queue ---policy---+
//
// The two reserve in one plan, so neither takes what the other has. If both want a node that
// becomes free, the owner is asked first, then the organisation, by its policy. Under
// LocalWaits a local job never disturbs a reservation of the organisation, also none that
// lies ahead. Under LocalPreempts the head of the local queue, if it waits without a
// reservation and does not fit, takes its nodes at once: from jobs with a reservation ahead
// rather than from running jobs, from few jobs rather than from many, and never from advance
// reservations.
//
// A job that the plan could never hold, because it wants more nodes than the owner has or
// more time than the plan looks ahead (plan.Domain.Interval), is Rejected.
//
// It is an Observer: give it to the metascheduler of an OwnedPlan, to which it attaches
// itself, and then Submit jobs. Do not bring jobs into the same nodes by a LocalFlow that
// preempts.
type LocalQueue struct {
	// Owner is the label of the nodes' owner; see OwnerLabel.
	Owner string
	// Policy decides about the queue. A policy with a state of its own serves one queue.
	Policy entity.Policy
	// Rule says who yields.
	Rule LocalRule
	// Finder chooses windows for jobs without a criterion of their own; nil means the
	// domain's Finder.
	Finder plan.Finder
	// Observers are told of the owner's jobs.
	Observers []entity.Observer

	plan  OwnedPlan
	vo    *entity.Metascheduler
	own   *entity.Metascheduler
	nodes []int                // the owner's, by number
	mine  map[*entity.Run]bool // the owner's jobs that have not ended; never iterated
	stats LocalStats
}

var (
	_ entity.Observer     = (*LocalQueue)(nil)
	_ entity.Attacher     = (*LocalQueue)(nil)
	_ entity.TaskObserver = (*LocalQueue)(nil)
)

// Attach is called by the metascheduler of the organisation.
func (q *LocalQueue) Attach(m *entity.Metascheduler) {
	sim := m.Simulator()
	nodes, ok := m.Plan().(OwnedPlan)
	if !ok || q.Policy == nil {
		sim.Fail(errors.New("an owner's queue wants a plan.Domain and a policy"))
		return
	}
	q.plan, q.vo, q.mine = nodes, m, map[*entity.Run]bool{}
	for k := range nodes.Size() {
		if q.Owner != "" && nodes.Node(k).Labels[OwnerLabel] == q.Owner {
			q.nodes = append(q.nodes, k)
		}
	}
	q.own = entity.NewMetascheduler(sim, nodes, localPolicy{q.Policy, q}, append([]entity.Observer{(*localJobs)(q)}, q.Observers...)...)
	q.own.LeaveWaiting = true
}

// Submit takes the owner's jobs, in order of submission, pulled one ahead of the clock. They
// run on the owner's nodes, whatever nodes their requests name.
func (q *LocalQueue) Submit(jobs iter.Seq[*entity.Job]) {
	if q.own == nil {
		return // the run has failed
	}
	q.own.SubmitAll(func(yield func(*entity.Job) bool) {
		for j := range jobs {
			own := *j
			needs := entity.Attributes{}
			if j.Request.Needs != nil {
				needs = *j.Request.Needs
			}
			labels := map[string]string{}
			maps.Copy(labels, needs.Labels)
			labels[OwnerLabel] = q.Owner
			needs.Labels = labels
			own.Request.Needs = &needs
			if own.Request.Criterion == nil && q.Finder != nil {
				own.Request.Criterion = q.Finder
			}
			if !yield(&own) {
				return
			}
		}
	})
}

// Close drops the jobs to come. It is needed only where a run ended before they did.
func (q *LocalQueue) Close() {
	if q.own != nil {
		q.own.Close()
	}
}

// Stats returns the counts so far. A job that started after its submission is Delayed; Delay
// is the sum of the waits.
func (q *LocalQueue) Stats() LocalStats { return q.stats }

// Waiting counts the jobs that are in the queue now.
func (q *LocalQueue) Waiting() int {
	if q.own == nil {
		return 0
	}
	return q.own.Queue().Len()
}

// Observe implements entity.Observer: it hears what the organisation's jobs give back,
// except single tasks.
func (q *LocalQueue) Observe(e entity.JobEvent) {
	if q.own == nil {
		return // the run has failed
	}
	switch e.Kind {
	case entity.JobSubmitted, entity.JobRejected, entity.JobFinished:
	default: // a start, too, and a promise: the reservation may have moved
		q.own.Changed(e.Time, des.Forever)
	}
}

// Changed makes the queue look at the plan again. Call it after giving back something that
// observers do not hear of: a window that was kept by entity.Metascheduler.Tentative and
// never confirmed.
func (q *LocalQueue) Changed() {
	if q.own != nil {
		q.own.Changed(q.own.Simulator().Now(), des.Forever)
	}
}

// TaskEnded implements entity.TaskObserver for the organisation's tasks.
func (q *LocalQueue) TaskEnded(r *entity.Run, i int) {
	if q.own != nil {
		q.own.Changed(r.Ends()[i], r.Reservation.Window.Tasks[i].End)
	}
}

// localJobs is a LocalQueue as the observer of the owner's jobs.
type localJobs LocalQueue

func (l *localJobs) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobSubmitted:
		l.mine[e.Run] = true
	case entity.JobStarted:
		l.stats.Jobs++
		if wait := e.Run.Wait(); wait > 0 {
			l.stats.Delayed++
			l.stats.Delay += wait
		}
	case entity.JobRejected:
		l.stats.Refused++
	}
	if e.Kind.Last() {
		delete(l.mine, e.Run)
	}
}

// TaskEnded implements entity.TaskObserver: it tells the organisation of a node that is free
// again.
func (l *localJobs) TaskEnded(r *entity.Run, i int) {
	l.vo.Changed(r.Ends()[i], r.Reservation.Window.Tasks[i].End)
}

// localPolicy is the policy of an owner's queue. Before it decides, the head of
// the queue takes what is due to it.
type localPolicy struct {
	entity.Policy
	queue *LocalQueue
}

func (p localPolicy) Name() string { return fmt.Sprintf("%s of %s", p.Policy.Name(), p.queue.Owner) }

func (p localPolicy) Unwrap() entity.Policy { return p.Policy }

func (p localPolicy) Schedule(r *entity.Round) {
	if head := r.Queue.First(); p.queue.Rule == LocalPreempts && head != nil && head.State == entity.Waiting {
		p.queue.makeRoom(r, head)
	}
	p.Policy.Schedule(r)
}

// makeRoom lets jobs of the organisation yield if head can start now in no other way. If head has
// several shapes, it chooses the shape for which the fewest jobs are stopped.
func (q *LocalQueue) makeRoom(r *entity.Round, head *entity.Run) {
	if _, ok := entity.FirstStart.FindNow(r.Plan, head, r.Now); ok {
		return
	}
	best, found := q.room(head.Request, r.Now)
	for _, s := range head.Shapes {
		req, _ := head.RequestOn(s.Nodes)
		if other, ok := q.room(req, r.Now); ok && (!found || fewer(other, best) < 0) {
			best, found = other, true
		}
	}
	for _, v := range best.victims {
		q.stats.yield(q.vo, v)
	}
}

// room is a set of the organisation's jobs that would yield to make room.
type room struct {
	running int // jobs that would be stopped
	victims []*entity.Run
}

// fewer compares rooms by how many are stopped, and then by how many yield.
func fewer(a, b room) int {
	return cmp.Or(cmp.Compare(a.running, b.running), cmp.Compare(len(a.victims), len(b.victims)))
}

// add has a contain b as well.
func (a *room) add(b room) {
	for _, v := range b.victims {
		if slices.Contains(a.victims, v) {
			continue
		}
		a.victims = append(a.victims, v)
		if v.State == entity.Running {
			a.running++
		}
	}
}

// room returns the jobs that must yield for req to fit now, or false if the owner's own jobs
// are in the way.
func (q *LocalQueue) room(req entity.Request, now des.Time) (all room, ok bool) {
	var rooms []room
	latest := min(q.plan.SlotList().To, req.DeadlineLimit())
	for _, k := range q.nodes {
		n := q.plan.Node(k)
		end := now.Add(n.TaskTime(req.Length))
		if !req.Admits(n) || end > latest {
			continue
		}
		victims := q.plan.InTheWay(entity.NodeAt(k), now, end, q.yields)
		if slices.ContainsFunc(victims, func(v *entity.Run) bool { return !q.yields(v) }) {
			continue
		}
		var one room
		one.add(room{victims: victims})
		rooms = append(rooms, one)
	}
	if len(rooms) < req.Nodes {
		return all, false
	}
	slices.SortStableFunc(rooms, fewer)
	for _, one := range rooms[:req.Nodes] {
		all.add(one)
	}
	return all, true
}

// yields reports whether r is a job of the organisation that gives way.
func (q *LocalQueue) yields(r *entity.Run) bool {
	return r.State != entity.Created && !r.Booked && !q.mine[r]
}
