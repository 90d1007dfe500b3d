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

// Validator is an Observer that checks a schedule while it is made. It shares
// nothing with the engine or the policies. Checked are:
//
//   - capacity at every instant; what ends at an instant makes room for what
//     starts at it;
//   - no node with two jobs; where the metascheduler has a Placer, no processor
//     with two jobs, and each job has as many as it asked for (Run.Place);
//   - no start before the submission, and one run a job;
//   - what a job is given is what its request asks for: enough nodes, fast enough
//     and with the attributes it needs, by the deadline and within budget and price.
//     (ALP, told a price, passes over the budget, as AMP11 has it);
//   - run times as in the trace, cut at the estimate or by Metascheduler.Kill;
//   - preemptions: what is kept is no more than what was done, and only the rest
//     is run again;
//   - advance reservations start at their instant;
//   - capacity that is withheld: no job has a processor or node that is, and the rest
//     is enough for all;
//   - no job starts before those that it follows have ended (Job.After);
//   - a job that is planned by a prediction runs to its end, or its estimate, all the
//     same, and is corrected only when the prediction is over;
//   - the promises that it is told of. Soft ones (Run.Soft) bind as long as no job is
//     corrected.
//
// Memory grows with the jobs that wait or run, and by a few bytes with each that has
// ended.
//
// Owners' local jobs are not seen: a job that runs where they do is not found. Where
// they, or what is withheld, come in unannounced, promises cannot be kept: leave
// Promises empty there. Advance reservations may take what was held for the head of
// the queue: leave Promises.Head unset beside them.
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

	c       checker
	meta    *entity.Metascheduler
	live    map[*entity.Run]*followed
	lastSeq int64
	waiting []*followed    // with Order: by seq; those that no longer wait are dropped at the front
	overran des.Time       // when the last job left that had passed its estimate
	moved   int64          // how often a job has got a longer window while it ran
	started []*followed    // at this instant, in order
	fates   map[int64]fate // of all jobs, by ID
}

// followed is what the validator knows of a job that waits or runs.
type followed struct {
	party
	remainder   // when the latest attempt began or, of a job that waits, ended
	job         *entity.Run
	state       entity.RunState
	setUp       des.Time // of the attempt under way. Invariant: 0 <= setUp
	checkpoints entity.Checkpoints
	attempts    int             // that were preempted or resized. Invariant: len(job.Earlier()) == attempts
	before      []procset.Range // what it had of place before it was resized

	// Of the attempt under way:
	prediction  des.Time   // of the whole runtime
	corrections int        // that there have been. Invariant: 0 <= corrections
	planned     des.Time   // for how long it was planned when it began, on a node of performance 1
	reserved    des.Time   // how long its window was then
	reservedFor []des.Time // how long its tasks were reserved then, where windows may be extended
}

func (v *Validator) moment(f *followed) moment { return moment{v.c.now, v.moved, f.job.Prediction()} }

// Attach tells the validator what it is to validate.
func (v *Validator) Attach(m *entity.Metascheduler) {
	if p := m.Plan(); v.Processors == 0 && !entity.Named(p) {
		v.Processors = p.Size()
	}
	v.meta = m
}

func (v *Validator) violation(k Kind, j *entity.Run, format string, args ...any) {
	v.c.report.add(v.Limit, k, v.c.now, j.ID, format, args...)
}

// Observe takes one event in.
func (v *Validator) Observe(e entity.JobEvent) {
	j := e.Run
	if e.Time != v.c.now {
		v.settle()
		if e.Time < v.c.now {
			v.violation(OutOfPlace, j, "the job was %v at %v, after something that happened at %v", e.Kind, e.Time, v.c.now)
			v.c.now = e.Time
		}
		v.c.advance(e.Time)
	}
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

func (v *Validator) submitted(j *entity.Run) {
	if v.live == nil {
		v.live, v.fates = map[*entity.Run]*followed{}, map[int64]fate{}
		v.lastSeq = -1
		if v.meta != nil {
			v.Overrun, v.c.wakes = v.meta.Overrun, v.meta.Wakes
		}
		v.c.promises, v.c.size, v.c.limit, v.c.void = v.Promises, v.Processors, v.Limit, v.voided
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
	f.remainder = remainderOf(j.Job, v.Overrun == entity.OverrunRaise)
	v.fates[j.ID] = fate{submitted: j.Submit}
	if v.meta != nil && !j.Booked {
		f.checkpoints = v.meta.Checkpoints
	}
	v.live[j] = f
	if v.Order && !j.Booked {
		v.waiting = append(v.waiting, f)
	}
}

// voided reports whether a promise made to p is void: it is soft, and a job was
// corrected since, or something else is predicted of p; or a job was past its estimate
// then or later.
func (v *Validator) voided(p *party, since moment) bool {
	if p.run.Soft() && (v.moved > since.moved || p.run.Prediction() != since.prediction) {
		return true
	}
	if v.Overrun != entity.OverrunExtend {
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

func (v *Validator) start(f *followed) {
	j := f.job
	f.state, f.start, f.before = entity.Running, v.c.now, nil
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
	if f.setUp = 0; j.Limit() > f.asks() {
		f.setUp = j.Limit() - f.asks()
	}
	f.prediction, f.corrections = j.Prediction(), j.Corrections()
	f.planned, f.reserved = f.toPlan(), j.Reservation.Window.Length()
	if f.reservedFor = nil; j.Soft() {
		for _, t := range j.Reservation.Window.Tasks {
			f.reservedFor = append(f.reservedFor, t.End-v.c.now)
		}
	}
	if j.Request.Length != f.planned {
		v.violation(WrongRunTime, j, "is planned for %v, and it is to run for %v", j.Request.Length, f.planned)
	}
}

// toPlan is for how long f is to be planned: by what is predicted, or by its estimate.
func (f *followed) toPlan() des.Time {
	if f.job.Soft() && f.job.Request.Deadline == 0 {
		return f.span(max(f.job.Prediction()-f.done(), des.Tick))
	}
	return f.asks()
}

// corrected takes in that f runs on at the end of its window.
func (v *Validator) corrected(f *followed) {
	j, w := f.job, &f.job.Reservation.Window
	v.moved++
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
	f.prediction, f.corrections = j.Prediction(), j.Corrections()
	for i := range w.Tasks {
		v.c.extended(&f.party, f.task(i))
	}
}

// request checks the window that f starts in. Prices may have changed since it was
// reserved: what it costs is what was agreed upon then.
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

// aboveLimit allows for the order in which costs were added up.
func aboveLimit(cost, limit float64) bool { return cost > limit+1e-9*limit }

// unfit is why a node is none for a request, prices aside, or "".
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

// firstWaiting is the job at the front of the queue, or nil; always nil without
// Order.
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
	want, cut := v.runTime(f)
	if killed && run <= want && j.Reason != entity.ReasonEstimate {
		want, cut = run, true // by somebody, or by an advance reservation that needs its processors
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

// past notes whether f, which leaves, has passed its estimate.
func (v *Validator) past(f *followed) {
	length := f.asks()
	if v.c.now-f.start >= length && f.span(f.work) > length && f.job.Reservation.Window.Tasks == nil {
		v.overran = v.c.now
	}
}

// asks is what the job asks for: what is left of its estimate, with what is no
// work.
func (f *followed) asks() des.Time { return f.span(f.length) }

// span is how long so much work takes: the set-up first, and a checkpoint behind each
// interval that more work follows.
func (f *followed) span(work des.Time) des.Time {
	if f.checkpoints.Interval > 0 && work > 0 {
		return f.setUp + work + (work-1)/f.checkpoints.Interval*f.checkpoints.Cost
	}
	return f.setUp + work
}

// workIn is how much of a span is none of these.
func (f *followed) workIn(span des.Time) des.Time {
	left := max(0, span-f.setUp)
	if f.checkpoints.Interval <= 0 {
		return left
	}
	turn := f.checkpoints.Interval + f.checkpoints.Cost
	return left/turn*f.checkpoints.Interval + min(left%turn, f.checkpoints.Interval)
}

// runTime is how long a job must run, and whether that is less than it wants.
func (v *Validator) runTime(f *followed) (run des.Time, cut bool) {
	remaining, length := f.span(f.work), f.asks()
	if f.job.Reservation.Window.Tasks != nil {
		return f.taskTime(f.reserved), remaining > length
	}
	if v.Overrun == entity.OverrunExtend {
		return remaining, false
	}
	return min(remaining, length), remaining > length
}

// taskTime is the real time of a task for which so much was reserved when it began.
func (f *followed) taskTime(reserved des.Time) des.Time {
	return partUp(reserved, min(f.span(f.work), f.asks()), f.planned)
}

// leave has f give up what it has had since an instant before this one, which
// makes room for whatever starts at this instant. What has begun at this instant
// is settled when the instant is over.
func (v *Validator) leave(f *followed, place []procset.Range) {
	if f.start < v.c.now && f.place != nil && !slices.Equal(f.place, place) {
		v.violation(TwoJobsOnOne, f.job, "had the processors %s, and now it tells of %s", processors(f.place), processors(place))
	}
	v.c.ends(&f.party)
}

func processors(place []procset.Range) string {
	return string(procset.Append(nil, place))
}

// requeued takes in that f was preempted.
func (v *Validator) requeued(f *followed) {
	j := f.job
	v.recalled(f)
	v.past(f)
	f.attempts++
	if n := len(j.Earlier()); n == f.attempts {
		v.attempt(f, &j.Earlier()[n-1])
	} else {
		v.violation(OutOfPlace, j, "preempted %d times, and it tells of %d attempts before", f.attempts, n)
		v.leave(f, f.place)
	}
	if f.setUp = 0; !f.settled {
		f.take(j.Job.Request.Nodes) // it may take another shape
	}
	if j.Limit() != f.asks() {
		v.violation(WrongRunTime, j, "asks for %v now, and %v are left of its estimate", j.Limit(), f.asks())
	} else if j.Request.Length != f.toPlan() {
		v.violation(WrongRunTime, j, "is planned for %v now, and it is to run for %v", j.Request.Length, f.toPlan())
	}
	f.state = entity.Waiting
	v.c.waitsAgain(&f.party)
	if v.Order {
		bySeq := func(a *followed, seq int64) int { return cmp.Compare(a.seq, seq) }
		if i, found := slices.BinarySearchFunc(v.waiting, f.seq, bySeq); !found {
			v.waiting = slices.Insert(v.waiting, i, f)
		}
	}
}

// attempt checks the attempt of f that ends now, by a preemption.
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

// did checks what the attempt of f that ends now says of its work.
func (v *Validator) did(f *followed, a *entity.Attempt) {
	span := f.passed(v.c.now-f.start, &a.Window)
	work := min(f.workIn(span), f.work)
	if a.Work != work || a.Overhead != span-work {
		v.violation(WrongRunTime, f.job, "an attempt of %v tells of %v of work and %v beside it, not %v and %v", v.c.now-f.start, a.Work, a.Overhead, work, span-work)
	}
}

// progress is how much of its runtime f does in so much time.
func (f *followed) progress(t des.Time, w *entity.Window) des.Time {
	return min(f.workIn(f.passed(t, w)), f.work)
}

// passed is how much of its span f gets through in so much time. On named nodes the
// slowest task counts: it gets through all that is left in its whole time.
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

// InstantOver tells that everything of an instant has been observed: only then
// is Run.Place known. Where nobody tells so, the first event of a later instant
// does.
func (v *Validator) InstantOver(des.Time) { v.settle() }

// settle tells the checker what those have that started at the present instant, which is over.
func (v *Validator) settle() {
	for _, f := range v.started {
		w := &f.job.Reservation.Window
		f.empty = f.job.Request.Length == 0
		if f.over = f.state != entity.Running; f.over {
			f.until = f.start
		} else {
			run, _ := v.runTime(f)
			f.until = f.start.Add(run)
		}
		f.count, f.tasks = f.shape.Nodes, f.tasks[:0]
		for i := range w.Tasks {
			f.count, f.tasks = 0, append(f.tasks, f.task(i))
		}
		v.place(f)
	}
	v.started = v.started[:0]
	v.c.settle()
}

// place takes in which processors f has, where there is a Placer. Of a job that came and went
// only their number is of interest, and where it was reserved no time not even that.
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

// task is f's i-th task, which has its node to its real end, or to the end of its window, which
// may be extended before it is over.
func (f *followed) task(i int) task {
	t := &f.job.Reservation.Window.Tasks[i]
	reserved := t.End - f.start
	if f.reservedFor != nil {
		reserved = f.reservedFor[i]
	}
	return task{t.Node, f.start + min(f.taskTime(reserved), t.End-f.start)}
}

// Report says what was found up to now. Where the run is complete, every job
// must have come to an end: one that has not is a violation.
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
		report.add(v.Limit, Missing, v.c.now, f.job.ID, "the job was left %v", f.state)
	}
	return report
}
