package validate

// The online validator: it sees what observers see and believes nothing.

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// Validator is an Observer that checks a schedule while it is made. It shares nothing with the
// engine or the policies. It checks that
//
//   - at every instant there is enough capacity; what ends at an instant makes room for what
//     starts at it;
//   - no node has two jobs; where the metascheduler has a Placer, no processor has two jobs, and
//     each job has as many processors as it asked for (Run.Place);
//   - no job starts before its submission, and each job has one run;
//   - a job is given what its request asks for: enough nodes, fast enough and with the attributes
//     that it needs, by the deadline and within budget and price. (ALP, told a price, passes over
//     the budget, as AMP11 has it.)
//   - run times are as in the trace, cut at the estimate or by Metascheduler.Kill;
//   - a preemption keeps no more work than was done, and only the rest is run again;
//   - advance reservations start at their instant;
//   - no job has a processor or node that is withheld, and the rest is enough for all;
//   - no job starts before the jobs that it follows have ended (Job.After);
//   - a job that is planned by a prediction still runs to its end or its estimate, and is
//     corrected only when the prediction is over;
//   - Promises are kept. Soft ones (Run.Soft) bind as long as no job is corrected.
//
// Memory grows with the jobs that wait or run, and by a few bytes with each job that has ended.
//
// The Validator does not see the owners' local jobs, and so does not find a job that runs where
// one of them runs. Where local jobs, or withheld capacity, come in unannounced, promises cannot
// be kept: leave Promises empty there. Advance reservations may take what was held for the head of
// the queue: leave Promises.Head unset beside them.
//
// The zero value is ready for use.
type Validator struct {
	Promises
	// processors is the number of counted processors of the cluster; 0 leaves capacity unchecked.
	// If it is 0 when a metascheduler attaches the Validator, it becomes the size of the plan,
	// unless the plan has named nodes.
	processors int
	// overrun is the rule for jobs that pass their estimates. A metascheduler to which the
	// Validator is attached sets it to its own.
	overrun entity.Overrun
	// limit is the number of violations that the Report keeps; 0 means 100. All are counted.
	limit int

	// c holds the schedule to the rules. The Validator tells it what happened.
	c checker
	// meta is nil until Attach. Without it nothing is known of withheld capacity, and what
	// attempts say of their work is not checked.
	meta *entity.Metascheduler
	// live has the jobs that wait or run.
	live map[*entity.Run]*followed
	// lastSeq is the Run.Seq of the job that was submitted last, -1 before the first one.
	lastSeq int64
	// waiting is the queue by Seq. It is empty without Promises.Order. A job that no longer waits
	// stays in it until firstWaiting finds it at the front.
	waiting []*followed
	// overran is the latest instant at which a job left that had passed its estimate, or 0.
	overran des.Time
	// moved is the number of times that a running job has got a longer window, over all jobs.
	moved int64
	// started has the attempts that begin at the present instant, in order. settle empties it.
	started []*followed
	// fates has all jobs, by ID: jobs that follow others ask for it.
	fates map[int64]fate
}

// followed is the validator's state of a job that waits or runs. Its times are as on a node of
// performance 1, unless it is said otherwise.
type followed struct {
	party
	// remainder is the work that was left when the latest attempt began or, of a job that waits,
	// when it ended.
	remainder
	job   *entity.Run
	state entity.RunState
	// setUp is the time at the beginning of the attempt under way in which it does no work.
	// Invariant: 0 <= setUp.
	setUp des.Time
	// checkpoints are the metascheduler's; none for an advance reservation, which is never put
	// back into the queue.
	checkpoints entity.Checkpoints
	// attempts counts the attempts that were preempted or resized. Invariant: len(job.Earlier())
	// == attempts.
	attempts int
	// before is the processors that it had until it was resized at this instant; nil otherwise.
	before []procset.Range

	// prediction is the predicted run time of the whole job, all attempts together.
	prediction des.Time
	// corrections is the number of corrections since the submission. Invariant: 0 <= corrections.
	corrections int
	// planned is for how long the attempt was planned when it began.
	planned des.Time
	// reserved is the length of its window at that time, in real time.
	reserved des.Time
	// reservedFor is the time for which each task was reserved at that time, in real time. It is
	// nil if windows are never extended (Run.Soft is false): the tasks of the window have these
	// times.
	reservedFor []des.Time
}

// moment is the present instant, as the time of a promise to f. The checker gives it back to
// voided, which compares.
func (v *Validator) moment(f *followed) moment { return moment{v.c.now, v.moved, f.job.Prediction()} }

// Attach gives the validator the metascheduler whose run it checks.
func (v *Validator) Attach(m *entity.Metascheduler) {
	if p := m.Plan(); v.processors == 0 && !entity.Named(p) {
		v.processors = p.Size()
	}
	v.meta = m
}

// violation reports that j breaks the rule k now.
func (v *Validator) violation(k Kind, j *entity.Run, format string, args ...any) {
	v.c.report.add(v.limit, k, v.c.now, j.ID, format, args...)
}

// Observe takes in one event: it closes the instant before, finds out whether the event has an
// arrow in the life of a job (see the package), and hands it to the check of its kind. Reserved
// and JobWithdrawn are of no interest: a job with a reservation ahead still waits.
func (v *Validator) Observe(e entity.JobEvent) {
	j := e.Run
	// Phase 1: the clock. All of an instant is known once a later event comes.
	if e.Time != v.c.now {
		v.settle()
		if e.Time < v.c.now {
			v.violation(OutOfPlace, j, "the job was %v at %v, after something that happened at %v", e.Kind, e.Time, v.c.now)
			v.c.now = e.Time
		}
		v.c.advance(e.Time)
	}
	// Phase 2: is the event possible in the job's state?
	if e.Kind == entity.JobSubmitted {
		v.submitted(j)
		return
	}
	f := v.live[j]
	if f == nil {
		v.violation(OutOfPlace, j, "the job was %v, but it is not here: never submitted, or over", e.Kind)
		return
	}
	needs := entity.Waiting
	// Phase 3: the checks of this kind of event.
	switch e.Kind {
	case entity.JobFinished, entity.JobKilled, entity.JobRequeued, entity.JobResized, entity.JobCorrected:
		needs = entity.Running
	}
	if f.state != needs {
		v.violation(OutOfPlace, j, "the job was %v while it was %v", e.Kind, f.state)
		return
	}
	switch e.Kind {
	case entity.JobRejected:
		f.state = entity.Rejected
		v.c.report.Rejected++
		v.fates[j.ID] = fate{j.Submit, true, false, v.c.now}
		delete(v.live, j)
	case entity.JobPromised:
		v.c.promised(&f.party, e.Start, e.Head, v.moment(f))
	case entity.JobStarted:
		v.start(f)
	case entity.JobFinished, entity.JobKilled:
		v.end(f, e.Kind == entity.JobKilled)
	case entity.JobRequeued:
		v.requeued(f)
	case entity.JobResized:
		v.resized(f)
	case entity.JobCorrected:
		v.corrected(f)
	}
}

// submitted takes in that j comes: in order of Seq, and at its Submit. What a metascheduler is set
// to is asked for at the first job, because it may be set after Attach.
func (v *Validator) submitted(j *entity.Run) {
	if v.live == nil {
		v.live, v.fates = map[*entity.Run]*followed{}, map[int64]fate{}
		v.lastSeq = -1
		if v.meta != nil {
			v.overrun, v.c.wakes = v.meta.Overrun, v.meta.Wakes
		}
		v.c.promises, v.c.size, v.c.limit, v.c.void = v.Promises, v.processors, v.limit, v.voided
	}
	if v.live[j] != nil || j.Seq() <= v.lastSeq {
		v.violation(OutOfPlace, j, "the job was submitted as number %d after number %d", j.Seq(), v.lastSeq)
		if v.live[j] != nil {
			return
		}
	}
	v.lastSeq = j.Seq()
	v.c.report.Jobs++
	if v.c.now < j.Submit || v.c.now > j.Submit && !j.Booked { // what is booked may be confirmed later
		v.violation(OutOfPlace, j, "the job was submitted at %v, not at %v as in the trace", v.c.now, j.Submit)
	}
	f := &followed{party: party{id: j.ID, seq: j.Seq(), run: j}, job: j, state: entity.Waiting}
	f.remainder = remainderOf(j.Job, v.overrun == entity.OverrunRaise)
	v.fates[j.ID] = fate{submitted: j.Submit}
	if v.meta != nil && !j.Booked {
		f.checkpoints = v.meta.Checkpoints
	}
	v.live[j] = f
	if v.Order && !j.Booked {
		v.waiting = append(v.waiting, f)
	}
}

// voided reports whether a promise made to p at the moment since is void, because of what the
// policy could not know then: the promise is soft and a job was corrected since, or the prediction
// of p has changed; or, with entity.OverrunExtend, a job was past its estimate then or later.
func (v *Validator) voided(p *party, since moment) bool {
	if p.run.Soft() && (v.moved > since.moved || p.run.Prediction() != since.prediction) {
		return true
	}
	if v.overrun != entity.OverrunExtend {
		return false
	}
	if v.overran > 0 && v.overran >= since.at {
		return true
	}
	for _, f := range v.live { // any one will do: the order does not matter
		if f.state == entity.Running && v.c.now-f.start >= f.asks() && f.span(f.work) > f.asks() {
			return true
		}
	}
	return false
}

// start checks the attempt of f that begins now. Capacity, nodes and processors are checked when
// the instant is over, because Run.Place is known only then.
func (v *Validator) start(f *followed) {
	j := f.job
	f.state, f.start, f.before = entity.Running, v.c.now, nil
	// When it may start: not before its submission, its booking, the queue in front of it, a
	// promise, or the jobs that it follows.
	v.c.notBefore(&f.party, j.Submit)
	if j.Start != v.c.now {
		v.violation(OutOfPlace, j, "started, but its start says %v", j.Start)
	}
	if j.Booked && f.last.made {
		v.c.asBooked(&f.party, f.last.start)
	}
	if first := v.firstWaiting(); first != nil && first.seq < f.seq && !j.Booked {
		v.c.inOrder(&f.party, &first.party)
	}
	v.c.headStarts(&f.party, v.c.now)
	v.c.promiseKept(&f.party, v.c.now)
	v.follows(f)
	// What it got: a shape of its own, planned for the right time, in a window that its request
	// admits. begins needs the shape of choose, and begun the plan of begins.
	v.choose(f)
	v.begins(f)
	v.request(f)
	v.begun(f)
}

// begun takes in that f has what it got from now on; settle tells the checker what it is.
func (v *Validator) begun(f *followed) {
	f.over = false
	v.c.takes(&f.party)
	v.started = append(v.started, f)
}

// recalled takes in that f gave up at the present instant what it got at it.
func (v *Validator) recalled(f *followed) {
	if f.start == v.c.now {
		v.c.recalled(&f.party)
		v.started = slices.DeleteFunc(v.started, func(s *followed) bool { return s == f })
	}
}

// begins takes in how f is planned for the attempt that begins.
func (v *Validator) begins(f *followed) {
	j := f.job
	// No event tells of Metascheduler.SetUp: what the limit is longer than the rest of the
	// estimate with its checkpoints is the set-up.
	if f.setUp = 0; j.Limit() > f.asks() {
		f.setUp = j.Limit() - f.asks()
	}
	f.prediction, f.corrections = j.Prediction(), j.Corrections()
	f.planned, f.reserved = f.toPlan(), j.Reservation.Window.Length()
	// Windows of soft runs may be extended: their ends at the start would be forgotten.
	if f.reservedFor = nil; j.Soft() {
		for _, t := range j.Reservation.Window.Tasks {
			f.reservedFor = append(f.reservedFor, t.End-v.c.now)
		}
	}
	if j.Request.Length != f.planned {
		v.violation(WrongRunTime, j, "is planned for %v, and it is to run for %v", j.Request.Length, f.planned)
	}
}

// toPlan returns for how long f is to be planned: what is left of its prediction, a tick at least,
// or of its estimate. Nothing is predicted of a job with a deadline.
func (f *followed) toPlan() des.Time {
	if f.job.Soft() && f.job.Request.Deadline == 0 {
		return f.span(max(f.job.Prediction()-f.done(), des.Tick))
	}
	return f.asks()
}

// corrected takes in that f runs on at the end of its window, which ends later now. Either its
// prediction was outlived, and it has another one (exactly one correction, to a longer time), or
// its window had to end before the prediction did, and there is no correction.
func (v *Validator) corrected(f *followed) {
	j, w := f.job, &f.job.Reservation.Window
	v.moved++
	// over is when the prediction is over: as long as the attempt takes to do what was predicted
	// and is not done. On named nodes each task has its own such time, and the first one is
	// corrected.
	over := f.span(max(f.prediction-f.done(), des.Tick)) // when it has run for so long
	first := over
	for _, t := range w.Tasks { // those of a node as fast as can be need the least
		first = min(first, t.Node.TaskTime(over))
	}
	switch more := j.Corrections() - f.corrections; {
	case more < 0 || more > 1 || more == 0 && j.Prediction() != f.prediction:
		v.violation(WrongRunTime, j, "was corrected %d times at once, from %v to %v", more, f.prediction, j.Prediction())
	case more == 1 && v.c.now-f.start < first:
		v.violation(WrongRunTime, j, "was corrected after %v, and %v were predicted", v.c.now-f.start, f.prediction)
	case more == 1 && j.Prediction() <= f.prediction:
		v.violation(WrongRunTime, j, "was corrected from %v to %v", f.prediction, j.Prediction())
	}
	// The nodes of the longer window must be free of others until its new end.
	f.prediction, f.corrections = j.Prediction(), j.Corrections()
	for i := range w.Tasks {
		v.c.extended(&f.party, f.task(i))
	}
}

// request checks that the window in which f starts meets its request. Prices may have changed since
// it was reserved: w.Cost is the agreed cost of that time.
func (v *Validator) request(f *followed) {
	j := f.job
	w, q := &j.Reservation.Window, &j.Request
	if q.Deadline > 0 && w.End > q.Deadline {
		v.violation(Unmet, j, "has a window until %v, past its deadline %v", w.End, q.Deadline)
	}
	if w.Tasks == nil { // counted processors have neither prices nor performances
		return
	}
	if len(w.Tasks) != q.Nodes {
		v.violation(Unmet, j, "has %d nodes, not %d", len(w.Tasks), q.Nodes)
	}
	// used is the reserved node time in seconds, summed over the tasks. MaxPrice bounds the price
	// of each node (ALP), and so the mean price of the window.
	used := 0.0
	for _, t := range w.Tasks {
		used += (t.End - w.Start).Seconds()
		if why := unfit(t.Node, q); why != "" {
			v.violation(Unmet, j, "has node %d, %s", t.Node.ID, why)
		}
	}
	if q.Budget > 0 && aboveLimit(w.Cost, q.Budget) {
		v.violation(Unmet, j, "has a window for %v, above its budget %v", w.Cost, q.Budget)
	}
	if q.MaxPrice > 0 && aboveLimit(w.Cost, float64(q.MaxPrice*used)) {
		v.violation(Unmet, j, "pays %v for %v time units of nodes, above its price %v", w.Cost, used, q.MaxPrice)
	}
}

// aboveLimit reports whether cost exceeds limit by more than 1e-9 of it: costs of tasks may be
// added up in another order here.
func aboveLimit(cost, limit float64) bool { return cost > limit+1e-9*limit }

// unfit returns why a node does not meet a request, prices apart, for a sentence "has node 3,
// ...", or "" if it does. Names are looked at in order, so that the same one is reported each
// time.
func unfit(n *entity.Node, q *entity.Request) string {
	if n.Perf < q.MinPerf {
		return fmt.Sprintf("whose performance %v is below %v", n.Perf, q.MinPerf)
	}
	if q.Needs == nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(q.Needs.Amounts)) {
		if has, ok := n.Amounts[name]; !ok || has < q.Needs.Amounts[name] {
			return fmt.Sprintf("which has less %s than %v", name, q.Needs.Amounts[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.Needs.Labels)) {
		if has, ok := n.Labels[name]; !ok || has != q.Needs.Labels[name] {
			return fmt.Sprintf("whose %s is not %s", name, q.Needs.Labels[name])
		}
	}
	return ""
}

// firstWaiting returns the job at the front of the queue, or nil if nobody waits. It is always nil
// without Promises.Order. Each job is dropped once: O(1) a start, amortized.
func (v *Validator) firstWaiting() *followed {
	for len(v.waiting) > 0 && v.waiting[0].state != entity.Waiting {
		v.waiting = v.waiting[1:]
	}
	if len(v.waiting) == 0 {
		return nil
	}
	return v.waiting[0]
}

// end checks the last attempt of f, which finished or was killed now: what it says of its work,
// how long it ran, and whether it was killed if and only if it was cut.
func (v *Validator) end(f *followed, killed bool) {
	j := f.job
	run := v.c.now - f.start
	if killed {
		v.c.report.Killed++
	} else {
		v.c.report.Finished++
	}
	v.past(f)
	if v.meta != nil {
		latest := j.Latest()
		v.did(f, &latest)
	}
	// ReasonEstimate marks the cut at the estimate, which must be exact. Any other kill may come
	// at any time up to that: by somebody, or for an advance reservation that needs the
	// processors.
	want, cut := v.runTime(f)
	if killed && run <= want && j.Reason != entity.ReasonEstimate {
		want, cut = run, true
	}
	if run != want {
		v.violation(WrongRunTime, j, "ran for %v instead of %v", run, want)
	} else if killed != cut {
		v.violation(WrongRunTime, j, "ran for %v of %v: killed is %v", run, j.Runtime, killed)
	}
	v.leave(f, j.Place)
	f.state = entity.Finished
	v.fates[j.ID] = fate{j.Submit, true, !killed, v.c.now}
	delete(v.live, j)
}

// past notes in overran whether f, which leaves now, has passed its estimate. On named nodes no
// task runs beyond what was reserved.
func (v *Validator) past(f *followed) {
	length := f.asks()
	if v.c.now-f.start >= length && f.span(f.work) > length && f.job.Reservation.Window.Tasks == nil {
		v.overran = v.c.now
	}
}

// asks returns how long the attempt may take by the job's estimate: what is left of it, with
// set-up and checkpoints.
func (f *followed) asks() des.Time { return f.span(f.length) }

// span returns how long that much work takes in this attempt. The set-up comes first, and after
// each full interval a checkpoint if more work follows; hence work-1: none is written at the end.
func (f *followed) span(work des.Time) des.Time {
	if f.checkpoints.Interval > 0 && work > 0 {
		return f.setUp + work + (work-1)/f.checkpoints.Interval*f.checkpoints.Cost
	}
	return f.setUp + work
}

// workIn returns how much of a span is work: the inverse of span. A turn is an interval of work
// and its checkpoint; of a turn that is not complete, at most the interval is work.
func (f *followed) workIn(span des.Time) des.Time {
	left := max(0, span-f.setUp)
	if f.checkpoints.Interval <= 0 {
		return left
	}
	turn := f.checkpoints.Interval + f.checkpoints.Cost
	return left/turn*f.checkpoints.Interval + min(left%turn, f.checkpoints.Interval)
}

// runTime returns how long the attempt of f must run in real time if nobody stops it, and whether
// that is less than its work needs.
func (v *Validator) runTime(f *followed) (run des.Time, cut bool) {
	remaining, length := f.span(f.work), f.asks()
	if f.job.Reservation.Window.Tasks != nil {
		return f.taskTime(f.reserved), remaining > length
	}
	if v.overrun == entity.OverrunExtend {
		return remaining, false
	}
	return min(remaining, length), remaining > length
}

// taskTime returns how long a task really takes that had the given reserved time when the attempt
// began, rounded up to a tick: the time of its work, or of its estimate if that is less, in
// proportion to what was planned.
func (f *followed) taskTime(reserved des.Time) des.Time {
	return partUp(reserved, min(f.span(f.work), f.asks()), f.planned)
}

// leave takes in that f gives up what it has; place are the processors of which its attempt tells
// now, which must be those of its start. If it began at this very instant its processors are not
// known yet, and settle looks at it.
func (v *Validator) leave(f *followed, place []procset.Range) {
	if f.start < v.c.now && f.place != nil && !slices.Equal(f.place, place) {
		v.violation(TwoJobsOnOne, f.job, "had the processors %s, and now it tells of %s", processors(f.place), processors(place))
	}
	v.c.ends(&f.party)
}

// processors writes processors as the files do, such as "0-3 8".
func processors(place []procset.Range) string {
	return string(procset.Append(nil, place))
}

// requeued takes in that f was preempted.
func (v *Validator) requeued(f *followed) {
	j := f.job
	// Phase 1: the attempt that ends.
	v.recalled(f)
	v.past(f)
	f.attempts++
	if n := len(j.Earlier()); n == f.attempts {
		v.attempt(f, &j.Earlier()[n-1])
	} else {
		v.violation(OutOfPlace, j, "preempted %d times, and it tells of %d attempts before", f.attempts, n)
		v.leave(f, f.place)
	}
	// Phase 2: the remaining work is the job's request from now on. The next attempt gets its own
	// set-up.
	if f.setUp = 0; !f.settled {
		f.take(j.Job.Request.Nodes) // it may take another shape
	}
	if j.Limit() != f.asks() {
		v.violation(WrongRunTime, j, "asks for %v now, and %v are left of its estimate", j.Limit(), f.asks())
	} else if j.Request.Length != f.toPlan() {
		v.violation(WrongRunTime, j, "is planned for %v now, and it is to run for %v", j.Request.Length, f.toPlan())
	}
	// Phase 3: it waits again, at its old place in the queue, because its Seq stays.
	f.state = entity.Waiting
	v.c.waitsAgain(&f.party)
	if v.Order {
		bySeq := func(a *followed, seq int64) int { return cmp.Compare(a.seq, seq) }
		if i, found := slices.BinarySearchFunc(v.waiting, f.seq, bySeq); !found {
			v.waiting = slices.Insert(v.waiting, i, f)
		}
	}
}

// attempt checks a, the attempt of f that a preemption ends now: its time, and that it keeps no
// more work than f can have done in it.
func (v *Validator) attempt(f *followed, a *entity.Attempt) {
	j := f.job
	if a.Start != f.start || a.End != v.c.now {
		v.violation(OutOfPlace, j, "ran from %v to %v, and it tells of an attempt from %v to %v", f.start, v.c.now, a.Start, a.End)
	}
	kept := j.Done() - f.done()
	if kept != a.Kept || kept < 0 || kept > f.progress(v.c.now-f.start, &a.Window) {
		v.violation(WrongRunTime, j, "%v of its runtime is kept of a run of %v", kept, v.c.now-f.start)
	}
	if v.meta != nil {
		v.did(f, a)
	}
	f.keep(kept)
	v.leave(f, a.Place)
}

// did checks what a, the attempt of f that ends now, says of its work and of its overhead:
// together they are the span that passed.
func (v *Validator) did(f *followed, a *entity.Attempt) {
	span := f.passed(v.c.now-f.start, &a.Window)
	work := min(f.workIn(span), f.work)
	if a.Work != work || a.Overhead != span-work {
		v.violation(WrongRunTime, f.job, "an attempt of %v tells of %v of work and %v beside it, not %v and %v", v.c.now-f.start, a.Work, a.Overhead, work, span-work)
	}
}

// progress returns how much of its work f does in the real time t, in the window w.
func (f *followed) progress(t des.Time, w *entity.Window) des.Time {
	return min(f.workIn(f.passed(t, w)), f.work)
}

// passed returns how much of its span f gets through in the real time t. On named nodes that is in
// proportion to the time of the slowest task, rounded down: the span is over when all its tasks
// are.
func (f *followed) passed(t des.Time, w *entity.Window) des.Time {
	span := f.span(f.work)
	if w.Tasks == nil {
		return min(t, span)
	}
	span = min(span, f.asks())
	whole := f.taskTime(f.reserved)
	if t >= whole {
		return span
	}
	product := new(big.Int).Mul(big.NewInt(int64(span)), big.NewInt(int64(t)))
	return des.Time(product.Quo(product, big.NewInt(int64(whole))).Int64())
}

// InstantOver closes an instant: only then is Run.Place known. Where nobody calls it, the first
// event of a later instant does the same.
func (v *Validator) InstantOver(des.Time) { v.settle() }

// settle completes the parties that started at the present instant, which is over: until when they
// run, how many processors or which nodes they have, and where. Then the checker gives them their
// room.
func (v *Validator) settle() {
	for _, f := range v.started {
		w := &f.job.Reservation.Window
		f.empty = f.job.Request.Length == 0
		// An attempt that has ended at its own start needed room only for a moment.
		if f.over = f.state != entity.Running; f.over {
			f.until = f.start
		} else {
			run, _ := v.runTime(f)
			f.until = f.start.Add(run)
		}
		// On named nodes the tasks tell everything, and nothing is counted.
		f.count, f.tasks = f.shape.Nodes, f.tasks[:0]
		for i := range w.Tasks {
			f.count, f.tasks = 0, append(f.tasks, f.task(i))
		}
		v.place(f)
	}
	v.started = v.started[:0]
	v.c.settle()
}

// place takes in which processors f has, if there is a Placer. If it came and went at one instant,
// only their number is checked, and nothing if no time was reserved for it or jobs were resized at
// this instant: others may have had the same processors in between.
func (v *Validator) place(f *followed) {
	j := f.job
	f.place, f.placed = nil, (len(j.Place) > 0 || v.meta != nil && v.meta.Placer != nil) && j.Reservation.Window.Tasks == nil
	if f.over && (v.c.resizes || f.empty) {
		f.placed = false
	}
	if f.placed {
		f.place = slices.Clone(j.Place)
		if !f.over {
			v.keeps(f)
		}
	}
}

// task returns the i-th task of f as the checker wants it: the node is taken until the real end of
// the task, or until the window ends if that is earlier. The window may be extended then, and
// extended tells the checker the new end.
func (f *followed) task(i int) task {
	t := &f.job.Reservation.Window.Tasks[i]
	reserved := t.End - f.start
	if f.reservedFor != nil {
		reserved = f.reservedFor[i]
	}
	return task{t.Node, f.start + min(f.taskTime(reserved), t.End-f.start)}
}

// Report returns what was found up to now, with the present instant closed. complete says that the
// run is over: every job must have come to an end then, and each that has not is a violation. The
// report is a copy: the Validator may go on.
func (v *Validator) Report(complete bool) Report {
	v.settle()
	report := v.c.report
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
		report.add(v.limit, Missing, v.c.now, f.job.ID, "the job was left %v", f.state)
	}
	return report
}
