package replay

import (
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Watch tells observers of the jobs of a machine. The processors are the CPUs of all nodes, in
// their order. Times are cut to whole seconds, as Slurm's own accounting has them, so that a job
// has as long a run as it says.
type Watch struct {
	// Late is taken from all times; see Input.
	Late des.Time
	// Foreteller, if set, predicts how long jobs run, and the prediction replaces the limit
	// that their users ask for. A job that is about to be ended for such a limit gets another
	// limit, as by an operator's order, until it has the limit that its user asked for.
	Foreteller *entity.Foreteller

	observers *entity.Observers
	first     []int32 // see firstCPUs
	seq       int64   // number of runs so far: the order of submission
}

// NewWatch returns a Watch for the nodes of a configuration.
func NewWatch(conf *slurm.Config, observers *entity.Observers) *Watch {
	return &Watch{observers: observers, first: firstCPUs(conf.Nodes)}
}

// watched is the record of what observers have heard of a job.
type watched struct {
	run  *entity.Run // nil: nobody has heard of it
	told told        // why it waits
}

// tell tells of what has happened to a job at now.
func (w *Watch) tell(now des.Time, r *entity.Run, k entity.JobEventKind) {
	e := entity.JobEvent{Time: w.at(now), Kind: k, Run: r}
	if w.Foreteller != nil {
		w.Foreteller.Observe(e)
	}
	w.observers.Tell(e)
}

// at is the second of the log in which an instant of the controller lies.
func (w *Watch) at(now des.Time) des.Time { return SecondOf(now - w.Late) }

// SecondOf returns the beginning of the second in which t lies.
func SecondOf(t des.Time) des.Time { return t / des.Second * des.Second }

// Settle tells that the last instant is over.
func (w *Watch) Settle() { w.observers.Settle() }

// runOf is the run of a job. The first call makes it.
func (w *Watch) runOf(j *job) *entity.Run {
	if j.watched.run == nil {
		j.watched.run = entity.NewRun(j.As, w.seq)
		w.seq++
	}
	return j.watched.run
}

// isPredicted reports whether a job is predicted.
func (w *Watch) isPredicted(j *job) bool { return w != nil && w.Foreteller != nil && j.As != nil }

// predict gives a job that comes the limit that is predicted for it.
func (w *Watch) predict(j *job) {
	if w.isPredicted(j) {
		r := w.runOf(j)
		w.Foreteller.Come(r)
		j.job.Limit = limitFor(r.Prediction(), j.asked)
	}
}

// limitFor returns the limit for a job whose prediction is long: rounded up to whole minutes, as Slurm has them,
// and at most the limit that its user has asked for.
func limitFor(long, asked des.Time) des.Time {
	return min((long-des.Tick)/des.Minute*des.Minute+des.Minute, asked)
}

// corrected is another limit for a job that runs and has outlived its prediction: the corrector's, or the user's
// own if that is no longer than the present limit.
func (w *Watch) corrected(now des.Time, j *job) (limit des.Time) {
	r := j.watched.run
	if limit = limitFor(w.Foreteller.Correct(r), j.asked); limit <= j.job.Limit {
		limit = j.asked
	}
	w.tell(now, r, entity.JobCorrected)
	return limit
}

// The methods below tell of one event of a job each. w may be nil, and the job one of which observers do not hear.

func (w *Watch) submitted(now des.Time, j *job) {
	if w == nil || j.As == nil {
		return
	}
	r := w.runOf(j)
	w.tell(now, r, entity.JobSubmitted)
	r.State = entity.Waiting
}

func (w *Watch) refused(now des.Time, j *job, why string) {
	w.submitted(now, j)
	w.reject(now, j, why)
}

func (w *Watch) reject(now des.Time, j *job, why string) {
	if w == nil || j.watched.run == nil {
		return
	}
	r := j.watched.run
	r.State, r.Reason, r.Finish = entity.Rejected, why, w.at(now)
	w.tell(now, r, entity.JobRejected)
}

func (w *Watch) cancelled(now des.Time, j *job, why slurm.Stop) { w.reject(now, j, string(why)) }

func (w *Watch) started(now des.Time, j *job) {
	if w == nil || j.watched.run == nil {
		return
	}
	r, at := j.watched.run, w.at(now)
	cpus := 0
	r.Place = nil
	for _, p := range j.job.Placed {
		cpus += p.CPUs
		for _, core := range p.Cores {
			r.Place = procset.Extend(r.Place, w.first[p.Node]+int32(core))
		}
	}
	j.watched.told = told{}
	r.State, r.Start, r.Backfilled, r.Reason = entity.Running, at, j.job.ByBackfill, ""
	r.Request.Nodes = cpus
	r.Reservation = entity.Reservation{Window: entity.Window{Start: at, End: at.Add(r.Request.Length), Nodes: cpus}, Run: r}
	w.tell(now, r, entity.JobStarted)
}

func (w *Watch) ended(now des.Time, j *job) { w.over(now, j, entity.Finished, entity.JobFinished, "") }

func (w *Watch) killed(now des.Time, j *job, why slurm.Stop) {
	reason := string(why)
	if why == slurm.Timeout {
		reason = entity.ReasonEstimate
	}
	w.over(now, j, entity.Killed, entity.JobKilled, reason)
}

func (w *Watch) over(now des.Time, j *job, state entity.RunState, kind entity.JobEventKind, reason string) {
	if w == nil || j.watched.run == nil {
		return
	}
	r := j.watched.run
	r.State, r.Finish, r.Reason = state, w.at(now), reason
	w.tell(now, r, kind)
}

// requeued tells of a job whose attempt is over and that waits again. What the attempt has done is lost, but the
// run remembers it (entity.Attempt).
func (w *Watch) requeued(now des.Time, j *job) {
	if w == nil || j.watched.run == nil {
		return
	}
	r := j.watched.run
	took := w.at(now) - r.Start
	attempt := entity.Attempt{Window: r.Reservation.Window, Start: r.Start, End: w.at(now), Place: r.Place, Work: took}
	r.Restore(append(slices.Clone(r.Earlier()), attempt), 0, nil)
	r.State = entity.Waiting
	w.tell(now, r, entity.JobRequeued)
}
