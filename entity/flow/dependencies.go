package flow

// Jobs that wait for others (Job.After): a job comes when the last of them has
// ended, or was submitted, and its think time is over.

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Dependencies brings the jobs of a source to a metascheduler, each after the jobs that it
// depends on have ended. It is an observer, which hears of the ends:
//
//	links, err := flow.Survey(slices.Values(jobs), false)
//	waiting := flow.NewDependencies(links)
//	meta := entity.NewMetascheduler(sim, cluster, policy, recorder, waiting)
//	waiting.SubmitAll(slices.Values(jobs))
//
// A job that has waited is submitted as a copy whose Submit is the instant at which it could
// come: the latest of its own Submit and of all ends and submissions that it waits for, each
// with its think time; see Links.Feedback. So its wait in the queue begins then. The end of
// a rejected job is its rejection.
//
// If a job must have finished well (Dependency.OK) and was killed or rejected, the job that
// waits for it is rejected as soon as that is known, but not before its own Submit. Jobs
// that wait for the rejected job hear of it in turn.
//
// A job that waits for the submission of another (Dependency.Submitted) comes after it. Jobs
// that come at one instant stand in the queue in the order of the workload, whatever they
// waited for. A job stands behind them if it comes by an event after the arrivals of its
// instant, such as a rejection or the end of a job of no length. Under entity.PassEvent,
// where arrivals are before ends, a job that comes by an end stands behind them, too, and
// ends release one job after the other.
//
// The source is read as the clock goes. When a job is about to come, the source is read up
// to the last job that waits for it. So nothing is remembered of jobs that have ended, and
// memory holds the jobs that wait and the jobs between.
type Dependencies struct {
	links *Links
	to    Receiver
	meta  *entity.Metascheduler      // to, where that is one, or nil
	next  func() (*entity.Job, bool) // of the source
	stop  func()                     // lets go of it; may be nil
	feed  des.Feed[*entity.Job]

	read    int         // jobs so far
	ahead   []placedJob // that were read ahead, and wait for nothing but the clock
	fed     []int       // places of the jobs that the feed has
	coming  map[des.Time][]placedJob
	awaited map[int64]*awaited
	held    int
}

// placedJob is a job and its position in the workload.
type placedJob struct {
	*entity.Job
	place int
}

// awaited is a job that others wait for.
type awaited struct {
	job *entity.Job // as it was submitted; nil before
	by  []waiter
}

type waiter struct {
	*heldJob
	entity.Dependency
}

// heldJob is a job that waits for others.
type heldJob struct {
	job  placedJob
	left int      // dependencies that have not come to their end; 0 where it is gone
	from des.Time // it cannot come before
}

// NewDependencies returns a flow that holds back jobs by the links that were found in them.
func NewDependencies(links *Links) *Dependencies {
	return &Dependencies{links: links, awaited: map[int64]*awaited{}, coming: map[des.Time][]placedJob{}}
}

// Receiver is a place to which jobs come one by one: a metascheduler, or the brokers of a
// grid.
type Receiver interface {
	// Simulator returns the simulation that the receiver runs in.
	Simulator() *des.Simulator
	// Submit brings a job at its Submit, which is now or later.
	Submit(j *entity.Job) *entity.Run
	// Refuse brings a job now and rejects it for a reason.
	Refuse(j *entity.Job, reason string) *entity.Run
}

// Attach implements entity.Attacher: the jobs go to the metascheduler that the flow
// observes.
func (d *Dependencies) Attach(m *entity.Metascheduler) { d.to, d.meta = m, m }

// Connect sends the jobs to a receiver that is no metascheduler. The flow must be an
// observer of the jobs there.
func (d *Dependencies) Connect(to Receiver) { d.to = to }

// SubmitFrom takes the jobs of a source. They must be the surveyed jobs, in the same order.
// The source cannot be a Listener.
func (d *Dependencies) SubmitFrom(from entity.Source) {
	d.begin(entity.NextOf(d.to.Simulator(), from), nil)
}

// SubmitAll takes jobs. They must be the surveyed jobs, in the same order.
func (d *Dependencies) SubmitAll(jobs iter.Seq[*entity.Job]) { d.begin(iter.Pull(jobs)) }

func (d *Dependencies) begin(next func() (*entity.Job, bool), stop func()) {
	sim := d.to.Simulator()
	d.next, d.stop = next, stop
	d.feed = entity.JobFeed(sim, 0, d.due) // before anything else of an instant
	d.feed.Next = d.nextJob
	d.feed.Begin(sim)
}

// Close drops the jobs to come. It is needed only where a run ended before they did.
func (d *Dependencies) Close() {
	d.feed.Close()
	if d.stop != nil {
		d.stop()
	}
}

// Held returns the number of jobs that have been read and wait for others.
func (d *Dependencies) Held() int { return d.held }

// Coming reports whether a job is still to come: by the clock, or when other jobs have
// ended.
func (d *Dependencies) Coming() bool { return d.held > 0 || d.Due() }

// Due reports whether the clock still has to come to a job, whatever becomes of others: a job
// that waits for others counts until its own Submit.
func (d *Dependencies) Due() bool { return len(d.coming) > 0 || d.feed.Coming() }

// nextJob returns the next job for the feed. Jobs that wait for others are among them, so that the
// source is not read further ahead of the clock than necessary.
func (d *Dependencies) nextJob() (*entity.Job, bool) {
	if len(d.ahead) > 0 {
		j := d.ahead[0]
		d.ahead = d.ahead[1:]
		d.fed = append(d.fed, j.place)
		return j.Job, true
	}
	j, ok := d.readOne()
	if ok {
		d.fed = append(d.fed, d.read-1)
	}
	return j, ok
}

// due is called when the clock has come to a job.
func (d *Dependencies) due(j *entity.Job) {
	place := d.fed[0]
	d.fed = d.fed[1:]
	if len(j.After) == 0 {
		d.comes(j)
		d.submit(placedJob{j, place})
		d.submitted(j)
	}
}

// submit brings j at its Submit, in its place among the jobs of that instant.
func (d *Dependencies) submit(j placedJob) {
	same, there := d.coming[j.Submit]
	d.coming[j.Submit] = append(same, j)
	if there {
		return
	}
	phase := entity.PhaseArrival - 1 // all ends of the instant are known
	if d.meta != nil && d.meta.Pass == entity.PassEvent {
		phase = 1 // all that come by the clock are known
	}
	d.to.Simulator().At(j.Submit, phase, (*arrivals)(d), uint64(j.ID))
}

// arrivals submits the jobs of an instant.
type arrivals Dependencies

func (a *arrivals) Handle(_ *des.Simulator, e des.Event) {
	jobs := a.coming[e.Time]
	delete(a.coming, e.Time)
	slices.SortFunc(jobs, func(a, b placedJob) int { return cmp.Compare(a.place, b.place) })
	for _, j := range jobs {
		a.to.Submit(j.Job)
	}
}

// readOne reads one more job of the source. A job that waits is held from now on; only held
// jobs still have an After.
func (d *Dependencies) readOne() (*entity.Job, bool) {
	j, ok := d.next()
	if !ok {
		return nil, false
	}
	d.read++
	if len(j.After) == 0 {
		return j, true
	}
	h := &heldJob{job: placedJob{j, d.read - 1}, from: d.earliest(j)}
	for _, after := range j.After {
		if last, there := d.links.last(after.Job); there && last >= d.read-1 {
			d.wait(h, after)
		} else if !d.links.Feedback {
			sim := d.to.Simulator()
			sim.Fail(fmt.Errorf("at %v: %v is to run after job %d, and the survey of the workload does not know of it", sim.Now(), j, after.Job))
			return nil, false
		}
	}
	if h.left == 0 {
		alone := *j
		alone.After = nil
		return &alone, true
	}
	d.held++
	return j, true
}

// earliest returns when j could come if it waited for nothing.
func (d *Dependencies) earliest(j *entity.Job) des.Time {
	if d.links.Feedback {
		return 0
	}
	return j.Submit
}

func (d *Dependencies) wait(h *heldJob, after entity.Dependency) {
	a := d.awaited[after.Job]
	if a == nil {
		a = &awaited{}
		d.awaited[after.Job] = a
	}
	a.by = append(a.by, waiter{h, after})
	h.left++
}

// comes is called before j is submitted: all that wait for it have been read
// then, so that its end finds them.
func (d *Dependencies) comes(j *entity.Job) {
	last, ok := d.links.last(j.ID)
	if !ok {
		return
	}
	for d.read <= last {
		next, ok := d.readOne()
		if !ok {
			break
		}
		if len(next.After) == 0 {
			d.ahead = append(d.ahead, placedJob{next, d.read - 1})
		}
	}
	if a := d.awaited[j.ID]; a != nil && a.job == nil {
		a.job = j
	}
}

// Observe implements entity.Observer.
func (d *Dependencies) Observe(e entity.JobEvent) {
	if !e.Kind.Last() {
		return
	}
	a := d.awaited[e.Run.ID]
	if a == nil || a.job != e.Run.Job { // another flow's may have the same ID
		return
	}
	delete(d.awaited, e.Run.ID)
	for _, w := range a.by {
		switch {
		case w.left == 0: // rejected already
		case w.Submitted: // it was rejected before submitted was called
			d.heard(w, a.job.Submit)
		case w.OK && e.Kind != entity.JobFinished:
			w.left, w.from = 0, d.earliest(w.job.Job)
			d.release(w.heldJob, fmt.Sprintf("job %d failed, after which it was to run", e.Run.ID))
		default:
			d.heard(w, e.Time)
		}
	}
}

// submitted is called when j has been submitted, also for an instant ahead: some jobs wait
// for the submission alone.
func (d *Dependencies) submitted(j *entity.Job) {
	a := d.awaited[j.ID]
	if a == nil || a.job != j {
		return
	}
	var by []waiter
	a.by = slices.DeleteFunc(a.by, func(w waiter) bool {
		if w.Submitted {
			by = append(by, w)
		}
		return w.Submitted
	})
	for _, w := range by {
		if w.left > 0 {
			d.heard(w, j.Submit)
		}
	}
}

// heard tells w that what it waits for has come about at an instant.
func (d *Dependencies) heard(w waiter, at des.Time) {
	w.from = max(w.from, at.Add(w.Think))
	if w.left--; w.left == 0 {
		d.release(w.heldJob, "")
	}
}

// release submits a job that waits for nothing any more. With a reason it is rejected instead.
func (d *Dependencies) release(h *heldJob, reason string) {
	d.held--
	sim := d.to.Simulator()
	j := *h.job.Job
	j.Submit = max(h.from, sim.Now())
	d.comes(&j)
	switch {
	case reason == "":
		d.submit(placedJob{&j, h.job.place})
	case j.Submit == sim.Now():
		d.to.Refuse(&j, reason)
	default:
		sim.At(j.Submit, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) { d.to.Refuse(&j, reason) }), uint64(j.ID))
	}
	d.submitted(&j)
}
