package validate

// The offline validator: a jobs CSV against the trace it came from. Whatever it
// needs it works out from starts, finishes and estimates.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
)

// Rules are the settings of the run that its files do not contain; Jobs and Grid check the files by
// them.
type Rules struct {
	Promises
	// Processors is the number of counted processors of the cluster. 0 leaves capacity and the
	// numbers of processors unchecked.
	Processors int
	// Busy, if set, is the number of them that may be busy at a time under a power cap, over time.
	// Invariant: 0 <= each value <= Processors.
	Busy *flow.Curve
	// Nodes, if set, are the nodes of a domain, whose IDs allocated_resources lists. Promises and
	// Processors are not looked at then.
	Nodes []entity.Node
	// PricesVary leaves prices and budgets unchecked.
	PricesVary bool
	// Overrun says what happened to jobs that passed their estimates.
	Overrun entity.Overrun
	// Tau is the least run time by which a bounded slowdown divides; 0 means 10 s.
	Tau des.Time
	// Attempts is the file attempts-POLICY.csv of the run, Outages the file outages-POLICY.csv; nil
	// if the run has no such file.
	Attempts, Outages io.Reader
	// Bookings are users' advance reservations, in order of submission.
	Bookings []flow.Booking
	// Wakes tells at which times the policy makes its rounds. A promise of the policy binds from
	// the next round on.
	Wakes entity.Wakes
	// Feedback tells that jobs that wait for others come by the ends of those alone, whatever the
	// trace says of their submission; see flow.Survey.
	Feedback bool
	// Rejects says that the policy may reject jobs which could run, as a scheduler outside may.
	Rejects bool
	// Limit is the number of violations that the Report keeps; 0 means 100. All are counted.
	Limit int
}

// Jobs checks the jobs CSV that r reads against the jobs of the trace, which are given in order of
// submission, as the scheduler got them. It accepts the files of metrics.JobsWriter, and Batsim's own
// files, which lack our last columns.
//
// Jobs checks of every file:
//
//   - Every job of the trace has one row. The row agrees with the trace on submission, size,
//     estimate and run time, and with itself, including ratios and backfilled.
//   - Rows of ours are in the order of job_id.
//   - No job starts before its submission.
//   - At no instant are more processors busy than the cluster has, and no processor has two jobs at
//     once. A job that ends at an instant makes room for a job that starts at it.
//
// The promises of Rules.Promises are:
//
//   - Order: starts do not decrease in the order of submission.
//   - Head: at every instant with an event, Jobs computes the shadow time of the first waiting job
//     from the estimated ends of the running jobs. The job starts by the least of these shadow
//     times.
//   - First: a job that waited was promised a start (promised= in metadata), and starts by it.
//
// Some runs change these rules:
//
//   - A policy sleeps (Rules.Wakes). It starts the head in its first round from the least shadow
//     time on. In its first round from a job's submission on, it starts the job or promises it a
//     start.
//   - Runtimes are predicted (the columns prediction, corrections and predicted). Jobs still run to
//     their ends or estimates. Estimated ends are predicted ends. Promises, which are expected= in
//     metadata then, bind only until a job ran whose prediction was corrected: a file does not tell
//     the instant of a correction.
//   - Jobs have deadlines. Nobody can tell when rejected jobs left the queue, so that Head and
//     backfilled are not checked.
//   - The machine is a domain (Rules.Nodes). Besides the rows, Jobs checks that every job had as many
//     nodes as it asked for, with its performance, attributes and price; that it ran as long as it
//     takes on these nodes; that no node had two jobs at once; that deadlines were kept; and that
//     budgets were kept, if the file tells of costs. It does not see owners' jobs.
//
// A jobs CSV has the last run of each job. Further files tell more:
//
//   - Rules.Attempts has all attempts. Jobs checks that they follow one another, that none begins
//     before the submission, and that together they give the run time, restarts, lost time and
//     overhead of the row. Without this file, Jobs does not see the earlier attempts of preempted
//     jobs.
//   - Rules.Outages has the outages. No job may have processors that are out of service, and the
//     other processors must suffice.
//   - Rules.Bookings has the advance reservations. They start at their instant or not at all.
//   - The column after names the jobs for which a job waits. The job is submitted when these have
//     ended.
//
// With any of these, Jobs checks only the rules that every schedule must keep, and no promises. A
// file cannot justify that a job was cancelled, or rejected by somebody.
//
// Jobs that were waiting or running when the run was stopped are counted, and are no violation. Jobs
// submitted after that need no row. A file that cannot be read gives a *DamagedFileError. A file most
// of whose rows have no job in the trace is an error, too. Jobs takes O(n log n) time, and about 350
// bytes of memory for each job beside the job itself.
func Jobs(r io.Reader, jobs iter.Seq[*entity.Job], rules Rules) (Report, error) {
	// Phase 1: everything is read, and given to the jobs.
	c := newFileChecker(rules)
	if c.promises.Head && c.size <= 0 {
		return Report{}, errors.New("the number of processors is needed to check the promise to the head of the queue")
	}
	if err := c.trace(jobs); err != nil {
		return Report{}, err
	}
	if err := c.book(); err != nil {
		return Report{}, err
	}
	if err := c.read(r); err != nil {
		return Report{}, err
	}
	if rules.Attempts != nil {
		if err := c.attempts(rules.Attempts); err != nil {
			return Report{}, err
		}
	}
	if rules.Outages != nil {
		if err := c.readOutages(rules.Outages); err != nil {
			return Report{}, err
		}
	}
	// Phase 2: each job and each row by itself. follow comes first: it corrects submissions, which
	// all later checks compare with.
	c.follow()
	if rules.Attempts != nil {
		c.tried()
	}
	c.count()
	// Promises are checked only if nothing happened that the policy could not foresee.
	if c.unforeseen() {
		c.promises = Promises{}
	}
	for _, f := range c.jobs {
		c.agree(f)
	}
	if c.turnedAway() {
		c.promises.Head = false
	} else if !c.unforeseen() {
		c.backfills()
	}
	// Phase 3: the machine over time. Each run gets what it had, and the checker replays them.
	begun := c.begun()
	if len(c.nodes) > 0 {
		c.onNodes(begun)
	} else {
		c.onProcessors(begun)
	}
	c.void = c.voided(c.overruns())
	c.replayed(begun)
	// Phase 4: promises that need no replay.
	c.order()
	c.first()
	return c.report, nil
}

// newFileChecker returns a checker of files by the given rules. On named nodes neither promises
// nor numbers of processors are checked.
func newFileChecker(rules Rules) *fileChecker {
	c := &fileChecker{Rules: rules, nodes: map[int]*entity.Node{}, byID: map[int64]*filed{}}
	for i := range rules.Nodes {
		c.nodes[rules.Nodes[i].ID] = &rules.Nodes[i]
	}
	c.checker.limit, c.wakes = rules.Limit, rules.Wakes
	if len(rules.Nodes) == 0 {
		c.promises, c.size, c.mayBeBusy = rules.Promises, rules.Processors, rules.Busy
	}
	return c
}

// filed is a job of the trace, or one attempt of it, and what the files say of it.
type filed struct {
	// job is the job in the shape and at the submission that the file gives it; one attempt of
	// several has what was left to do then.
	job *entity.Job
	// The row is nil if the file has none for the job.
	*row
	// party is nil until partyOf makes it.
	party *party
	// given is the job with all its shapes, if job is one of these shapes; nil otherwise. See
	// asked.
	given *entity.Job
	// tries are the attempts, in order; nil without the file of attempts.
	tries []tried
	// booked is the advance reservation that the job is of, or nil.
	booked *flow.Booking
	// failed reports that a job did not finish well that it was to follow.
	failed bool
	// part marks one attempt of several, made by runs.
	part bool
	// rough tells that the files do not say how long it had each of unequal nodes.
	rough bool
	// looked reports that holds has the answer of held.
	looked bool
	holds  bool
}

// empty reports whether f was reserved no time and took none: it takes nobody's room.
func (f *filed) empty() bool { return f.job.Request.Length == 0 && f.finish == f.start }

// estimatedEnd returns when the scheduler expected f to end. That is not known of a corrected job;
// see overruns.
func (f *filed) estimatedEnd() des.Time { return f.start.Add(f.planned()) }

// planned returns for how long f was planned, in its latest attempt, if it was not corrected.
func (f *filed) planned() des.Time {
	if f.row != nil && f.predicted.given && !f.again() {
		return f.predicted.value
	}
	return f.job.Request.Length
}

// fileChecker replays what a run has written for the checker in it, and checks what only files can
// be asked: that rows agree with the trace, with themselves and with one another.
type fileChecker struct {
	Rules
	checker
	// nodes are those of a domain, by ID; empty on counted processors.
	nodes map[int]*entity.Node
	// jobs are in the order of the trace; bookings come behind it.
	jobs []*filed
	byID map[int64]*filed
	// admitted are those of jobs that have a row, were not rejected and are no bookings.
	admitted []*filed
	// last is the latest instant of which the file knows: what was not told by then did not happen
	// before.
	last des.Time
	// withheld has the capacity that was out of service, by its beginning.
	withheld []outage
	// predicts tells that runtimes were predicted.
	predicts bool
	// followers tells that there are jobs that wait for others.
	followers bool
}

func (c *fileChecker) violation(f *filed, k Kind, at des.Time, format string, args ...any) {
	c.checker.violation(c.partyOf(f), k, at, format, args...)
}

// partyOf returns f as the checker knows it. The party is made once, after the row was read.
func (c *fileChecker) partyOf(f *filed) *party {
	if f.party == nil {
		f.party = &party{id: f.job.ID}
		if f.row != nil {
			*f.party = party{id: f.job.ID, line: f.line, start: f.start, until: f.finish, over: f.finish == f.start, empty: f.empty()}
		}
	}
	return f.party
}

// trace takes in the jobs of the trace, in order of submission. A trace that is not sorted or has
// an ID twice is an error: nothing could be compared with it.
func (c *fileChecker) trace(jobs iter.Seq[*entity.Job]) error {
	var before *entity.Job
	for j := range jobs {
		if c.byID[j.ID] != nil {
			return fmt.Errorf("the trace has two jobs with the id %d", j.ID)
		}
		if before != nil && j.Submit < before.Submit {
			return fmt.Errorf("the trace is not sorted: %v is submitted at %v, before the job in front of it (%v)", j, j.Submit, before.Submit)
		}
		before = j
		f := &filed{job: j}
		c.byID[j.ID] = f
		c.jobs = append(c.jobs, f)
	}
	return nil
}

// book adds the jobs of advance reservations to those of the trace.
func (c *fileChecker) book() error {
	for i := range c.Bookings {
		b := &c.Bookings[i]
		if c.byID[b.Job.ID] != nil {
			return fmt.Errorf("the trace has a job with the id %d, and an advance reservation has, too", b.Job.ID)
		}
		f := &filed{job: b.Job, booked: b}
		c.byID[b.Job.ID] = f
		c.jobs = append(c.jobs, f)
	}
	return nil
}

// read gives the jobs of the trace their rows. A few rows of unknown jobs are violations; if most
// rows are of no job of the trace, the files do not belong together, and that is an error.
func (c *fileChecker) read(from io.Reader) error {
	r, err := newRowReader(from, jobsFile, needed...)
	if err != nil {
		return err
	}
	// before is the job_id of the row before.
	before := int64(math.MinInt64)
	c.predicts = r.has(colPredicted)
	rows, strangers, first := 0, 0, 0
	for r.next() {
		id := r.id()
		if r.err != nil {
			return r.err
		}
		f := c.byID[id]
		rows++
		if f == nil {
			strangers++
			first = cmp.Or(first, r.line)
			c.violation(&filed{job: &entity.Job{ID: id}, row: &row{line: r.line}}, Disagreement, 0, "the trace has no such job")
			continue
		}
		if f.row != nil {
			c.violation(f, OutOfPlace, f.start, "and again line %d: a job has one row", r.line)
			continue
		}
		f.row = r.read()
		if r.err != nil {
			return r.err
		}
		// A moldable job is compared in the shape that it had.
		if taken, ok := f.job.In(f.nodes); ok {
			f.given, f.job = f.job, taken
		}
		if f.stranger() {
			strangers++
			first = cmp.Or(first, r.line)
		}
		if r.ours() {
			if id < before {
				c.violation(f, OutOfPlace, f.job.Submit, "stands behind job %d: rows are in the order of job_id", before)
			}
			before = id
		}
	}
	if r.err == nil && strangers > rows/2 {
		return fmt.Errorf("%d of the %d rows, the first in line %d, are of no job of this workload, by number, processors, submission and run time: the schedule is of another one, or of this one under other settings", strangers, rows, first)
	}
	return r.err
}

// stranger reports whether the row of f is probably of another job, because its size, run time or
// submission differ. The submission of a job that waited for others may differ.
func (f *filed) stranger() bool {
	j := f.job
	return f.nodes != j.Request.Nodes || f.runtime.given && f.runtime.value != j.Runtime || f.submit != j.Submit && len(f.after.value) == 0
}

// count counts the jobs by their states, lists the admitted ones, and finds the last instant.
func (c *fileChecker) count() {
	for _, f := range c.jobs {
		if f.row == nil {
			continue
		}
		c.report.Jobs++
		switch f.state {
		case stateFinished:
			c.report.Finished++
		case stateKilled:
			c.report.Killed++
		case stateRejected:
			c.report.Rejected++
		default:
			c.report.Unfinished++
		}
		if f.state != stateRejected && f.booked == nil {
			c.admitted = append(c.admitted, f)
		}
		for _, at := range []des.Time{f.job.Submit, f.start, f.finish} {
			if at != des.Forever {
				c.last = max(c.last, at)
			}
		}
	}
}

// agree compares the row of f with the trace and with itself.
func (c *fileChecker) agree(f *filed) {
	j := f.job
	if f.row == nil {
		if c.report.Unfinished > 0 && (j.Submit >= c.last || c.held(f)) {
			return // the run was stopped before it came
		}
		c.violation(f, Missing, j.Submit, "the file has no row for this job")
		return
	}
	c.agreeWithTrace(f)
	if !f.began() {
		return
	}
	c.notBefore(c.partyOf(f), j.Submit)
	c.equalIfGiven(f, colWait, f.wait, f.start-j.Submit)
	if !f.ended() {
		return
	}
	c.equalIfGiven(f, colTurnaround, f.turnaround, f.finish-j.Submit)
	c.ratios(f, f.worked())
	c.ranAsLong(f)
}

// agreeWithTrace compares what the row of f says of the job itself with the trace, and looks
// whether its final state makes sense.
func (c *fileChecker) agreeWithTrace(f *filed) {
	j := f.job
	c.equal(f, colSubmit, f.submit, j.Submit)
	c.equal(f, colEstimate, f.estimate, j.Request.Length)
	c.equalIfGiven(f, colOwnEstimate, f.ownEstimate, j.Request.Length)
	c.equalIfGiven(f, colActual, f.runtime, j.Runtime)
	c.predictions(f)
	if f.nodes != j.Request.Nodes {
		c.violation(f, Disagreement, j.Submit, "%s is %d, not %d", colNodes, f.nodes, j.Request.Nodes)
	}
	if f.success != (f.state == stateFinished) {
		c.violation(f, Disagreement, j.Submit, "success is %v in the state %s", f.success, f.state)
	}
	if f.booked != nil && f.began() {
		c.asBooked(c.partyOf(f), f.booked.Start)
	}
	// A job that could run must not be rejected, unless there is a reason that the file cannot
	// tell: a deadline, a booking, a job before it that failed, what it had before, or a scheduler's will.
	if f.state == stateRejected && !c.Rejects && c.size > 0 && j.Request.Deadline == 0 && c.couldRun(f) && f.booked == nil && !f.failed && len(f.tries) == 0 {
		c.violation(f, Missing, j.Submit, "rejected, though it wants %d of %d processors", f.least(), c.most())
	}
}

// ranAsLong checks that f, which has ended, ran for the time in the trace, cut at its estimate,
// and was killed only if it was cut or somebody gave a reason. It must not run past its deadline.
func (c *fileChecker) ranAsLong(f *filed) {
	j, killed := f.job, f.state == stateKilled
	if f.again() {
		return // its attempts tell how long it ran
	}
	if len(c.nodes) > 0 {
		if killed != (j.Runtime > j.Request.Length) && !(killed && f.reason) {
			c.violation(f, WrongRunTime, f.finish, "asked for %v of %v: killed is %v", j.Request.Length, j.Runtime, killed)
		}
		return // onNodes knows how long it takes
	}
	if end := f.start + j.Request.Length; j.Request.Deadline > 0 && end > j.Request.Deadline {
		c.violation(f, Unmet, f.start, "needs its processors until %v, past its deadline %v", end, j.Request.Deadline)
	}
	run, want := f.finish-f.start, j.Runtime
	if c.Overrun != entity.OverrunExtend {
		want = min(want, j.Request.Length)
	}
	if killed && f.reason && run <= want {
		return // by somebody
	}
	if run != want {
		c.violation(f, WrongRunTime, f.finish, "ran for %v instead of %v", run, want)
	}
	if killed != (want < j.Runtime) {
		c.violation(f, WrongRunTime, f.finish, "ran for %v of %v: killed is %v", run, j.Runtime, killed)
	}
}

// equal checks that a time in the row of f is what it must be.
func (c *fileChecker) equal(f *filed, column string, got, want des.Time) {
	if got != want {
		c.violation(f, Disagreement, f.job.Submit, "%s is %v, not %v", column, got, want)
	}
}

// equalIfGiven is equal for a time that the row may lack.
func (c *fileChecker) equalIfGiven(f *filed, column string, got optional[des.Time], want des.Time) {
	if got.given {
		c.equal(f, column, got.value, want)
	}
}

// held reports whether f, which has no row, was to follow a job that had not ended when the run
// was stopped, or one that never came for such a reason.
func (c *fileChecker) held(f *filed) bool {
	if f.looked {
		return f.holds
	}
	f.looked = true
	f.holds = slices.ContainsFunc(f.job.After, func(d entity.Dependency) bool {
		before := c.byID[d.Job]
		switch {
		case before == nil:
			return false
		case before.row == nil:
			return c.held(before)
		}
		return !d.Submitted && !before.ended() && before.state != stateRejected
	})
	return f.holds
}

// predictions compares what f says of predictions with itself and with its run: a job that was
// never corrected did not run past its prediction, and a corrected one did not run past the last
// one.
func (c *fileChecker) predictions(f *filed) {
	if !f.predicted.given && !f.corrections.given && !f.prediction.given {
		return
	}
	run := f.finish - f.start
	switch n := f.corrections.value; {
	case !f.predicted.given || !f.corrections.given || !f.prediction.given:
		c.violation(f, Disagreement, f.job.Submit, "%s, %s and %s are given together or not at all", colPrediction, colCorrections, colPredicted)
	case f.prediction.value <= 0 || f.predicted.value <= 0:
		c.violation(f, Disagreement, f.job.Submit, "predicted were %v, and in the end %v", f.prediction.value, f.predicted.value)
	case n < 0 || n > 0 && !f.began() && len(f.tries) == 0: // one that waits again has been corrected before
		c.violation(f, Disagreement, f.job.Submit, "%d corrections of a job that has not run", n)
	case f.again() || len(c.nodes) > 0 || !f.ended():
	case n == 0 && run > f.predicted.value:
		c.violation(f, WrongRunTime, f.finish, "ran for %v, past its prediction %v, and was not corrected", run, f.predicted.value)
	case n > 0 && run > f.predicted.value && !(f.state == stateKilled && f.reason):
		c.violation(f, WrongRunTime, f.finish, "ran for %v, past its last prediction %v", run, f.predicted.value)
	}
}

// most returns how many processors may be busy at a time when the power cap is the highest.
func (c *fileChecker) most() int {
	if c.Busy != nil {
		return int(slices.Max(c.Busy.Values))
	}
	return c.Processors
}

// couldRun reports whether f, which was rejected, surely could have run in one of its shapes after
// all other jobs had ended. A power cap that repeats itself has each value again and again, so
// that it is enough if a period, or several in a row, leave the job enough for its whole length.
// Of a cap that does not repeat, the last value remains for ever.
func (c *fileChecker) couldRun(f *filed) bool {
	if c.Busy == nil || len(c.Busy.Values) == 1 {
		return f.least() <= c.most()
	}
	if c.Busy.Every == 0 {
		return f.least() <= int(c.Busy.Values[len(c.Busy.Values)-1])
	}
	if c.Attempts != nil {
		return false // it may have been planned for longer than it asked for, with its checkpoints
	}
	could := func(nodes int, length des.Time) bool {
		// It is enough to try the instants at which the cap changes: the longest stretch with enough
		// processors begins at one of them.
		for _, from := range c.Busy.Times {
			from += c.Busy.Every
			at := from
			for at < from.Add(length) && int(c.Busy.At(at)) >= nodes {
				at = c.Busy.Next(at)
			}
			if at >= from.Add(length) && int(c.Busy.At(from)) >= nodes {
				return true
			}
		}
		return false
	}
	j := f.asked()
	return could(j.Request.Nodes, max(j.Request.Length, c.Overrun.Lasts(j))) ||
		slices.ContainsFunc(j.Shapes, func(s entity.Shape) bool { return could(s.Nodes, max(s.Length, s.Runtime)) })
}

// least returns how many processors f wants in its narrowest shape.
func (f *filed) least() int {
	least := f.asked().Request.Nodes
	for _, s := range f.asked().Shapes {
		least = min(least, s.Nodes)
	}
	return least
}

// unforeseen reports whether more happened than jobs that come, run once and end. Promises could
// not be kept then, and who stood before whom is not known.
func (c *fileChecker) unforeseen() bool {
	return len(c.withheld) > 0 || len(c.Bookings) > 0 || c.followers || slices.ContainsFunc(c.jobs, func(f *filed) bool {
		return f.row != nil && (f.again() || f.state == stateKilled && f.reason)
	})
}

// turnedAway reports whether jobs were rejected that may have waited before: they had a deadline, or the policy rejects.
func (c *fileChecker) turnedAway() bool {
	return slices.ContainsFunc(c.jobs, func(f *filed) bool {
		return f.row != nil && f.state == stateRejected && (f.job.Request.Deadline > 0 || c.Rejects)
	})
}

// ratios compares execution_time, stretch and bounded slowdown of a finished job with ran, the
// time that it ran for its own work, below 0 where that is not known. Ratios have six decimals in
// the file; from 1e6 on they have no more digits than a float64, hence the relative part.
func (c *fileChecker) ratios(f *filed, ran des.Time) {
	equal := func(column string, got optional[float64], want float64) {
		if got.given && got.value != want && math.Abs(got.value-want) > 1e-6+1e-12*math.Abs(want) {
			c.violation(f, Disagreement, f.job.Submit, "%s is %v, not %.6f", column, got.value, want)
		}
	}
	turnaround := f.finish - f.job.Submit
	switch {
	case ran < 0 && !f.execution.given:
		return
	case ran < 0:
		// Only the ratios can be checked, by the row's own execution_time.
		ran = f.execution.value
	case f.execution.given && f.execution.value != ran:
		c.violation(f, Disagreement, f.job.Submit, "%s is %v, not %v", colExecution, f.execution.value, ran)
	}
	switch {
	// stretch = turnaround / run (Feitelson and Rudolph, JSSPP 1998).
	case ran > 0:
		equal(colStretch, f.stretch, float64(turnaround)/float64(ran))
	case !f.backfilled.given: // Batsim's own, which has no word for it
	case turnaround > 0: // there is none; it used to be written so
		equal(colStretch, f.stretch, math.Inf(1))
	default:
		equal(colStretch, f.stretch, 1)
	}
	// bounded slowdown = max(1, turnaround / max(run, tau)) (Feitelson et al., JSSPP 1997).
	tau := cmp.Or(c.Tau, 10*des.Second)
	equal(colBoundedSlowdown, f.slowdown, max(1, float64(turnaround)/float64(max(ran, tau))))
}

// backfills checks the column backfilled: a job was backfilled if one submitted earlier started
// later. Among jobs that start at one instant, the file does not tell which was first, so those
// are not checked.
func (c *fileChecker) backfills() {
	// latest is the last start of all jobs submitted before f.
	latest := -des.Forever
	for _, f := range c.admitted {
		told := f.began() && latest != f.start && f.backfilled.given
		if overtook := latest > f.start; told && overtook != f.backfilled.value {
			bit := map[bool]int{true: 1}[f.backfilled.value]
			c.violation(f, Disagreement, f.start, "backfilled is %d, though a job submitted earlier was still waiting: %v", bit, overtook)
		}
		latest = max(latest, f.start)
	}
}

// begun returns all runs, of all attempts, by start. At one instant those without run time come
// first, since they give back at once what they take.
func (c *fileChecker) begun() []*filed {
	var list []*filed
	rough := c.rough()
	for _, f := range c.jobs {
		if f.row != nil && (f.began() || len(f.tries) > 0) {
			list = append(list, f.runs(rough)...)
		}
	}
	slices.SortStableFunc(list, func(a, b *filed) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(min(a.finish-a.start, 1), min(b.finish-b.start, 1)))
	})
	return list
}

// onProcessors takes in which counted processors each run had.
func (c *fileChecker) onProcessors(begun []*filed) {
	told := named(begun)
	for _, f := range begun {
		p := c.partyOf(f)
		p.count, p.placed, p.place = f.job.Request.Nodes, told, f.place
	}
}

// named reports whether the file says which processors jobs had. It does not if all fields are
// empty, or have just the number of processors.
func named(begun []*filed) bool {
	return slices.ContainsFunc(begun, func(f *filed) bool {
		return len(f.place) > 1 || len(f.place) == 1 && (f.place[0].First != f.place[0].Last || int(f.place[0].First) != f.job.Request.Nodes)
	})
}

// order checks that jobs start in the order of submission. A job that starts too early is not
// compared with later ones: one fault is reported once.
func (c *fileChecker) order() {
	if !c.promises.Order {
		return
	}
	// latest is the job that starts last among those before f.
	var latest *filed
	for _, f := range c.admitted {
		if latest != nil && f.start < latest.start {
			c.inOrder(c.partyOf(f), c.partyOf(latest))
			continue
		}
		latest = f
	}
}

// first checks the first promise made to each job: a job that does not start in its first round
// has one, and starts by it. p.start is beyond c.last for a job that did not start.
func (c *fileChecker) first() {
	if !c.promises.First {
		return
	}
	for _, f := range c.admitted {
		p, until := c.partyOf(f), min(f.start, c.last)
		if !f.promise.given && until > decided(c.wakes, f.job.Submit) {
			c.violation(f, PromiseBroken, until, "waited without a promise (no %s in metadata)", promisedKey)
		}
		p.first = promise{f.promise.value, moment{at: f.job.Submit}, f.promise.given}
		c.promiseKept(p, until)
	}
}
