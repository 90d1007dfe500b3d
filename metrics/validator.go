package metrics

// The online validator: it sees what observers see and believes nothing.

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Validator is an Observer that checks a schedule while it is made: capacity at
// every instant (what ends at an instant makes room for what starts at it), no
// node with two jobs, no start before submission, one run a job, run times as in
// the trace, and the promises it is told of. It shares nothing with the
// policies. Memory grows with the jobs that wait or run.
//
// Owners' local jobs are unknown to it, and where they come in unannounced or
// preempt, promises cannot be kept: leave Promises empty there.
type Validator struct {
	Promises
	// Processors is the size of the cluster; 0 leaves capacity unchecked. A
	// metascheduler that the validator is given to fills it in.
	Processors int
	// Overrun is what happens to jobs that pass their estimates; a metascheduler
	// is asked for its own.
	Overrun entity.Overrun
	// Limit is how many violations are kept; 0 means 100.
	Limit int

	meta    *entity.Metascheduler
	report  Report
	now     des.Time
	live    map[*entity.Run]*followed
	lastSeq int64
	waiting []*followed // with Order: by seq; those that no longer wait are dropped at the front
	head    headPromise
	busy    int
	started []*followed // at this instant, in order
	ended   []*followed // at this instant, having begun before it
	nodes   map[*entity.Node]nodeUse
	booked  bool     // there are advance reservations
	overran des.Time // when the last job ended that had passed its estimate
}

// followed is what the validator knows of a job that waits or runs.
type followed struct {
	job         *entity.Run
	seq         int64
	state       entity.RunState
	start       des.Time
	estimate    des.Time
	done        des.Time // of its runtime, kept from attempts that were preempted
	first, last des.Time // promised starts, NeverPromised before the first
	firstAt     des.Time // when the first promise was made
	lastAt      des.Time // and the last
}

type headPromise struct {
	job   *entity.Run
	bound des.Time // the earliest start promised while it has been the head
	since des.Time // when that was
}

type nodeUse struct {
	job   *entity.Run
	until des.Time
}

// Attach tells the validator what it is to validate.
func (v *Validator) Attach(m *entity.Metascheduler) {
	if v.Processors == 0 {
		v.Processors = processorsOf(m.Plan())
	}
	v.meta = m
}

func (v *Validator) violation(k ViolationKind, j *entity.Run, format string, args ...any) {
	v.report.add(v.Limit, k, v.now, j.ID, format, args...)
}

// Observe takes one event in.
func (v *Validator) Observe(e entity.JobEvent) {
	j := e.Run
	if e.Time != v.now {
		v.settle()
		if e.Time < v.now {
			v.violation(OutOfPlace, j, "the job was %v at %v, after something that happened at %v", e.Kind, e.Time, v.now)
		}
		v.now = e.Time
	}
	if e.Kind == entity.JobSubmitted {
		v.submitted(j)
		return
	}
	v.booked = v.booked || j.Booked
	f := v.live[j]
	if f == nil {
		v.violation(OutOfPlace, j, "the job was %v, but it is not here: never submitted, or over", e.Kind)
		return
	}
	needs := entity.Waiting
	if e.Kind == entity.JobFinished || e.Kind == entity.JobKilled || e.Kind == entity.JobRequeued {
		needs = entity.Running
	}
	if f.state != needs {
		v.violation(OutOfPlace, j, "the job was %v while it was %v", e.Kind, f.state)
		return
	}
	switch e.Kind {
	case entity.JobRejected:
		f.state = entity.Rejected
		v.report.Rejected++
		delete(v.live, j)
	case entity.JobPromised:
		v.promised(f, e)
	case entity.JobStarted:
		v.start(f)
	case entity.JobFinished, entity.JobKilled:
		v.end(f, e.Kind == entity.JobKilled)
	case entity.JobRequeued:
		v.requeued(f)
	}
}

func (v *Validator) submitted(j *entity.Run) {
	if v.live == nil {
		v.live = map[*entity.Run]*followed{}
		v.nodes = map[*entity.Node]nodeUse{}
		v.lastSeq = -1
		if v.meta != nil {
			v.Overrun = v.meta.Overrun
		}
	}
	if v.live[j] != nil || j.Seq() <= v.lastSeq {
		v.violation(OutOfPlace, j, "the job was submitted as number %d after number %d", j.Seq(), v.lastSeq)
		if v.live[j] != nil {
			return
		}
	}
	v.lastSeq = j.Seq()
	v.report.Jobs++
	if v.now != j.Submit {
		v.violation(OutOfPlace, j, "the job was submitted at %v, not at %v as in the trace", v.now, j.Submit)
	}
	estimate := j.Job.Request.Length
	if v.Overrun == entity.OverrunRaise {
		estimate = max(estimate, j.Runtime)
	}
	f := &followed{job: j, seq: j.Seq(), estimate: estimate, state: entity.Waiting, first: entity.NeverPromised, last: entity.NeverPromised}
	v.live[j] = f
	if v.Order {
		v.waiting = append(v.waiting, f)
	}
}

func (v *Validator) promised(f *followed, e entity.JobEvent) {
	if v.First && f.last != entity.NeverPromised && e.Start > f.last && !v.voided(f.lastAt) {
		v.violation(PromiseBroken, f.job, "the start promised for %v was moved to %v", f.last, e.Start)
	}
	if f.first == entity.NeverPromised {
		f.first, f.firstAt = e.Start, v.now
	}
	f.last, f.lastAt = e.Start, v.now
	if !v.Head || !e.Head {
		return
	}
	h := &v.head
	switch {
	case h.job != f.job:
		*h = headPromise{f.job, e.Start, v.now}
	case e.Start > h.bound && !v.voided(h.since):
		v.violation(HeadDelayed, f.job, "the hold for the head of the queue was moved from %v to %v", h.bound, e.Start)
	default:
		h.bound, h.since = e.Start, v.now
	}
}

// voided reports whether promises made at the instant since are void: a job was
// past its estimate then or later.
func (v *Validator) voided(since des.Time) bool {
	if v.Overrun != entity.OverrunExtend {
		return false
	}
	if v.overran > 0 && v.overran >= since {
		return true
	}
	for j, f := range v.live { // any one will do: the order does not matter
		if f.state == entity.Running && v.now-f.start >= f.length() && j.Runtime-f.done > f.length() {
			return true
		}
	}
	return false
}

func (v *Validator) start(f *followed) {
	j := f.job
	f.state, f.start = entity.Running, v.now
	if v.now < j.Submit {
		v.violation(TooEarly, j, "started before its submission at %v", j.Submit)
	}
	if j.Start != v.now {
		v.violation(OutOfPlace, j, "started, but its start says %v", j.Start)
	}
	if v.Order {
		first := v.firstWaiting()
		if first != nil && first.seq < f.seq {
			v.violation(OutOfOrder, j, "started before %v, which was submitted earlier", first.job)
		}
	}
	if v.Head && v.head.job == j {
		if v.now > v.head.bound && !v.voided(v.head.since) {
			v.violation(HeadDelayed, j, "the head of the queue started after %v, which was held for it", v.head.bound)
		}
		v.head.job = nil
	}
	if v.First && f.first != entity.NeverPromised && v.now > f.first && !v.voided(f.firstAt) {
		v.violation(PromiseBroken, j, "started after %v, which it was promised first", f.first)
	}
	v.started = append(v.started, f)
}

// firstWaiting is the job at the front of the queue, or nil.
func (v *Validator) firstWaiting() *followed {
	for len(v.waiting) > 0 && v.waiting[0].state != entity.Waiting {
		v.waiting = v.waiting[1:]
	}
	if len(v.waiting) == 0 {
		return nil
	}
	return v.waiting[0]
}

func (v *Validator) end(f *followed, killed bool) {
	j := f.job
	run := v.now - f.start
	if killed {
		v.report.Killed++
	} else {
		v.report.Finished++
	}
	remaining, length := j.Runtime-f.done, f.length()
	if run >= length && remaining > length && j.Reservation.Window.Tasks == nil {
		v.overran = v.now
	}
	want, cut := v.runTime(f)
	if v.booked && killed && v.Overrun == entity.OverrunExtend && length <= run && run < remaining {
		want, cut = run, true // past its estimate, an advance reservation may cut it off
	}
	if killed && run < want && j.Reason != entity.ReasonEstimate {
		want, cut = run, true // somebody killed it
	}
	if run != want {
		v.violation(WrongRunTime, j, "ran for %v instead of %v", run, want)
	} else if killed != cut {
		v.violation(WrongRunTime, j, "ran for %v of %v: killed is %v", run, j.Runtime, killed)
	}
	f.state = entity.Finished
	v.leave(f)
	delete(v.live, j)
}

// length is what is left of the job's estimate.
func (f *followed) length() des.Time {
	if f.done == 0 {
		return f.estimate
	}
	return max(f.estimate-f.done, des.Tick)
}

// runTime is how long a job must run, and whether that is less than it wants.
func (v *Validator) runTime(f *followed) (run des.Time, cut bool) {
	remaining, length := f.job.Runtime-f.done, f.length()
	if w := &f.job.Reservation.Window; w.Tasks != nil {
		return f.taskTime(w.Length()), remaining > length
	}
	if v.Overrun == entity.OverrunExtend {
		return remaining, false
	}
	return min(remaining, length), remaining > length
}

// taskTime is the real time of a task for which so much was reserved: the share
// of its estimate that the job takes, rounded up. It is worked out by schoolbook
// division, not as the engine does it.
func (f *followed) taskTime(reserved des.Time) des.Time {
	remaining, length := f.job.Runtime-f.done, f.length()
	if remaining >= length {
		return reserved
	}
	product := new(big.Int).Mul(big.NewInt(int64(reserved)), big.NewInt(int64(remaining)))
	quotient, rest := new(big.Int).QuoRem(product, big.NewInt(int64(length)), new(big.Int))
	if rest.Sign() > 0 {
		return des.Time(quotient.Int64()) + des.Tick
	}
	return des.Time(quotient.Int64())
}

// leave has f give up what it occupies.
func (v *Validator) leave(f *followed) {
	if f.start < v.now {
		v.ended = append(v.ended, f)
	}
}

func (v *Validator) requeued(f *followed) {
	if f.start == v.now {
		v.started = slices.DeleteFunc(v.started, func(s *followed) bool { return s == f })
	} else {
		v.busy -= v.counted(f)
		for _, t := range f.job.Reservation.Window.Tasks {
			if v.nodes[t.Node].job == f.job {
				v.nodes[t.Node] = nodeUse{f.job, min(v.now, v.nodes[t.Node].until)}
			}
		}
	}
	if kept := f.job.Done - f.done; kept < 0 || kept > v.now-f.start && f.job.Reservation.Window.Tasks == nil {
		v.violation(WrongRunTime, f.job, "%v of its runtime is kept of a run of %v", kept, v.now-f.start)
	}
	f.done = f.job.Done
	f.state = entity.Waiting
	f.first, f.last = entity.NeverPromised, entity.NeverPromised
	if v.Order {
		bySeq := func(a *followed, seq int64) int { return cmp.Compare(a.seq, seq) }
		if i, found := slices.BinarySearchFunc(v.waiting, f.seq, bySeq); !found {
			v.waiting = slices.Insert(v.waiting, i, f)
		}
	}
}

// counted is how many counted processors f occupies.
func (v *Validator) counted(f *followed) int {
	if f.job.Reservation.Window.Tasks != nil {
		return 0
	}
	return f.job.Request.Nodes
}

// settle ends the instant: whatever ended makes room, then whatever started
// takes it, in order; what did both at this instant came and went in between.
func (v *Validator) settle() {
	for _, f := range v.ended {
		v.busy -= v.counted(f)
	}
	for _, f := range v.started {
		if f.job.Request.Length == 0 && f.state != entity.Running {
			continue // reserved for no time at all, it takes no one's room
		}
		v.busy += v.counted(f)
		if v.Processors > 0 && v.busy > v.Processors {
			v.violation(OverCapacity, f.job, "started on %d processors; %d of %d are busy now", f.job.Request.Nodes, v.busy, v.Processors)
		}
		if f.state != entity.Running {
			v.busy -= v.counted(f)
		}
		v.occupy(f)
	}
	v.started, v.ended = v.started[:0], v.ended[:0]
}

func (v *Validator) occupy(f *followed) {
	for _, t := range f.job.Reservation.Window.Tasks {
		if use := v.nodes[t.Node]; use.until > f.start {
			v.violation(TwoJobsOnOne, f.job, "started on node %d, which %v has until %v", t.Node.ID, use.job, use.until)
		}
		v.nodes[t.Node] = nodeUse{f.job, f.start + f.taskTime(t.End-f.start)}
	}
}

// Report says what was found up to now. Where the run is complete, every job
// must have come to an end: one that has not is a violation.
func (v *Validator) Report(complete bool) Report {
	v.settle()
	report := v.report
	report.Violations = slices.Clone(report.Violations)
	report.Unfinished = len(v.live)
	if !complete {
		return report
	}
	left := make([]*followed, 0, len(v.live))
	for _, f := range v.live {
		left = append(left, f)
	}
	slices.SortFunc(left, func(a, b *followed) int { return cmp.Compare(a.seq, b.seq) })
	for _, f := range left {
		report.add(v.Limit, Missing, v.now, f.job.ID, "the job was left %v", f.state)
	}
	return report
}
