package slurmcheck

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// Given is the input of a run, against which its files are checked.
type Given struct {
	*replay.Input
	// Accounts are the commands of sacctmgr that made the accounts; empty if there are none.
	Accounts string
	// Predictions, if set, is by job_id of jobs-slurm.csv how long jobs were thought to run when they came.
	// That was their limit, rounded up to minutes, which was raised, up to what their users ask for, before
	// it ended them.
	Predictions map[int64]des.Time
	// Feedback says that jobs which come after others (entity.Job.After) come when those have ended, whatever
	// their own time; without it they come not before their own time, either.
	Feedback bool
	// Allocation says what allocated_resources of jobs-slurm.csv has: which CPUs, or with AllocationCount how
	// many.
	Allocation metrics.Allocation
	// Plain is slurm-events.csv of a folder whose jobs.csv has no column key. It tells of starts and ends only,
	// and each must be among the events that are checked. Nil: there is no such file.
	Plain io.Reader
}

// ReadPredictions reads Given.Predictions from jobs-slurm.csv.
func ReadPredictions(jobs io.Reader) (map[int64]des.Time, error) {
	t, err := csvtable.Read(jobs, "job_id", "prediction")
	if err != nil {
		return nil, fmt.Errorf("jobs CSV: %w", err)
	}
	all := map[int64]des.Time{}
	for row := range t.Rows() {
		if row.Has("prediction") {
			all[int64(row.Int("job_id"))] = row.Time("prediction")
		}
		if row.Err() != nil {
			return nil, fmt.Errorf("jobs CSV: %w", row.Err())
		}
	}
	return all, nil
}

// Events checks slurm-events.csv, and if jobs is not nil jobs-slurm.csv against it. The report has at most
// limit violations, or 100 if that is 0, and counts all. An error tells of a file that cannot be read; what
// its rows say wrongly is a violation.
func Events(events, jobs io.Reader, given Given, limit int) (validate.Report, error) {
	c := newChecker(given, limit)
	t, err := csvtable.Read(events, replay.EventColumns...)
	if err != nil {
		return c.report, fmt.Errorf("%s: %w", replay.EventsFile, err)
	}
	// told holds each event, and nil at the end, to the plain file, if there is one.
	told := func(*event) error { return nil }
	if given.Plain != nil {
		next, stop, err := plainRows(given.Plain)
		if err != nil {
			return c.report, err
		}
		defer stop()
		told = func(e *event) error { return c.checkPlain(e, next) }
	}
	for row := range t.Rows() {
		e, err := readEvent(row)
		if err != nil {
			return c.report, fmt.Errorf("%s: %w", replay.EventsFile, err)
		}
		c.check(&e)
		if err := told(&e); err != nil {
			return c.report, err
		}
	}
	if err := told(nil); err != nil {
		return c.report, err
	}
	c.end()
	if jobs != nil {
		if err := c.checkJobs(jobs); err != nil {
			return c.report, fmt.Errorf("jobs CSV: %w", err)
		}
	}
	return c.report, nil
}

// event is a row of slurm-events.csv: see replay.Event. What is not told is empty.
type event struct {
	line        int    // of the file, from 1
	key, kind   string // name of the job (or reservation), and what happened
	job         int    // Slurm's number of the job; 0: it has none
	time        int64  // in s since the log begins
	priority    int64  // valid if hasPriority
	hasPriority bool
	cpus        int    // of a start
	nodes       string // host list: of a start, or of an order about nodes
	partition   string // in which a job started
	qos         string
	by          string // main or backfill
	cores       string // NODE:CORES/CPUS[/MB] of each node
	detail      string // of a start: TRES as slurmctld numbers them; else how, or why
}

// readEvent reads a row.
func readEvent(r *csvtable.Row) (event, error) {
	e := event{line: r.Line, key: r.Text("key"), kind: r.Text("event"), job: r.Int("job"), time: int64(r.Int("time")), nodes: r.Text("nodes"),
		partition: r.Text("partition"), qos: r.Text("qos"), by: r.Text("by"), cores: r.Text("cores"), detail: r.Text("detail")}
	if r.Has("priority") {
		e.priority, e.hasPriority = int64(r.Int("priority")), true
	}
	if r.Has("cpus") {
		e.cpus = r.Int("cpus")
	}
	return e, r.Err()
}

// state is the stage of a job's life, as far as the events have told.
type state uint8

const (
	unseen  state = iota // nothing is told of it
	refused              // Slurm did not accept it
	waiting              // it has come, or waits again
	running
	over // it ended, was cancelled, or is left when the run ends
)

// job is the state of a job according to the events so far. Times are in s since the log begins.
type job struct {
	*replay.Submission
	state state

	// When it came, and what may keep it waiting.
	submitted   int64
	place       int    // its number among the jobs that have come, from 1
	account     string // the account that it belongs to
	reservation string // the reservation that it may use; empty once it was released after the reservation's end
	held        bool
	nice        int
	// settled reports whether the age of the job counts from its submission on: it had to wait for
	// nothing that keeps a job from growing older.
	settled bool
	ordered int64 // the last order after which its priority was computed anew; 0: none

	// How long it may run.
	limit    int64 // s: the limit by its user or the last order, or by its prediction
	asked    int64 // s: the limit by its user or the last order
	raised   bool  // the limit by its prediction has been raised to nobody knows what, at most to asked
	excused  bool  // an order has given it another limit: MaxTime and MaxWall no longer hold
	extended int64 // running: s by which orders that came after the limit had passed put its end off
	perhaps  int64 // running: at most so many s more, by corrections of its prediction that came after the predicted end

	// Its last attempt.
	attempts  int // how often it has started
	start     int64
	on        []share          // what it has of each node; nil: nothing told of the start
	partition *slurm.Partition // in which it started; nil: the event names none that exists
	qos       string
	billing   float64        // what a second is charged for
	has       map[string]int // what it has of the kinds of TRES that limits on use count
	spent     string         // running: a limit on use that is reached, for which Slurm ends it at the next look; empty: none
	spentAt   int64          // valid if spent is set: the second since which one is reached
	overspent bool           // it was told that the job runs on all the same

	// What became of it.
	ended     int64  // the end of the last attempt, or when it left the queue
	outcome   string // Slurm's word for it: COMPLETED, TIMEOUT ...; empty: nothing yet
	left      bool   // it waits or runs when the run ends
	cancelled bool   // it was cancelled while it waited
	condemned int64  // the second of the last order to cancel it while it ran; 0: none
}

// share is the part of one node that a job has.
type share struct {
	node, cpus, mem int   // position of the node, CPUs, MB
	cores           []int // ascending
}

// checker is one reading of a file of events.
type checker struct {
	Given
	conf   *slurm.Config
	report validate.Report
	limit  int // the most violations that are kept; 0: 100

	// What the events are held to.
	jobs   map[string]*job             // all jobs, by key
	ids    map[int]*job                // jobs that have come, by Slurm's number
	byID   map[int64]*job              // jobs by job_id of jobs-slurm.csv
	orders map[orderName]*replay.Order // what operators and users do
	late   int64                       // s that the controller has been up when the log begins

	// What the events so far have left.
	now      int64             // the second of the last event
	came     int               // number of jobs that have come
	running  []*job            // by start
	machine  machine           // who has what of each node
	first    []int32           // the number of each node's first core among those of all nodes
	book     *book             // accounts, and what has been used
	inForce  []*replay.Booking // reservations that Slurm has accepted, also those that are over
	last     event             // the event before
	undo     func()            // takes back what the last order did, if Slurm refuses the order
	basics   []counted         // priorities of priority/basic that were seen, by submission
	mustStop []*job            // jobs on nodes that went down in this second, which must stop in it
	// returning are the positions of nodes that have been put back and may not have registered yet.
	returning []int
}

// orderName tells orders apart: what, about which job or host list, and the second of the controller.
type orderName struct {
	do, about string
	second    int64
}

func newChecker(g Given, limit int) *checker {
	c := &checker{Given: g, conf: g.Config, limit: limit, jobs: map[string]*job{}, ids: map[int]*job{}, byID: map[int64]*job{}, orders: map[orderName]*replay.Order{}}
	for i := range g.Jobs {
		s := &g.Jobs[i]
		j := &job{Submission: s, limit: int64(s.Job.Limit / des.Second), nice: s.Job.Nice, held: s.Job.Held}
		j.asked = j.limit
		if s.As != nil {
			c.byID[s.As.ID] = j
			if long, is := g.Predictions[s.As.ID]; is { // Slurm's limits are whole minutes
				j.limit = min(j.asked, 60*int64(math.Ceil(long.Seconds()/60)))
			}
		}
		c.jobs[s.Key] = j
	}
	for i := range g.Orders {
		o := &g.Orders[i]
		c.orders[orderName{o.Do, cmp.Or(o.Key, o.Hosts), int64(o.At / des.Second)}] = o
	}
	c.machine, c.first = newMachine(c.conf), c.firstCores()
	c.late = int64(g.Late / des.Second)
	c.book = newBook(g.Accounts, c.conf, c.late)
	c.report.Jobs = len(g.Jobs)
	return c
}

// wrong notes a violation, of a job or with nil of none, at the present second.
func (c *checker) wrong(k validate.Kind, j *job, format string, args ...any) {
	c.report.Total++
	most := c.limit
	if most <= 0 {
		most = 100
	}
	if len(c.report.Violations) >= most {
		return
	}
	v := validate.Violation{Kind: k, Time: des.Time(c.now) * des.Second, Job: -1, Text: fmt.Sprintf(format, args...)}
	if j != nil && j.As != nil {
		v.Job = j.As.ID
		if name := fmt.Sprint(v.Job); name != j.Key {
			v.Text = j.Key + ": " + v.Text
		}
	}
	c.report.Violations = append(c.report.Violations, v)
}

// check holds an event against those before it, and notes what it leaves for those after it.
func (c *checker) check(e *event) {
	// Time goes on.
	if e.time < c.now {
		c.wrong(validate.OutOfPlace, c.jobs[e.key], "line %d is of second %d, and the one before it of %d", e.line, e.time, c.now)
	}
	if e.time > c.now {
		c.secondOver()
		c.book.advance(c.running, e.time, func(j *job, second int64) {
			c.now = second
			c.watchUse(j, second)
		})
		c.now = e.time
		c.settleNodes()
	}
	defer func() { c.last = *e }()
	// Events about no job.
	switch e.kind {
	case "down", "drain", "up":
		c.nodesChange(e)
		return
	case replay.KindReservation:
		c.reserve(e)
		return
	case replay.KindRefused:
		if l := &c.last; e.key == "" && l.key == "" && l.nodes == e.nodes { // nothing comes of such an order
			return
		}
	}
	// Events about a job, which must have come.
	j := c.jobs[e.key]
	if j == nil {
		c.wrong(validate.OutOfPlace, nil, "line %d is about a job %q that nobody submits", e.line, e.key)
		return
	}
	if e.kind != replay.KindSubmit && j.state == unseen {
		c.wrong(validate.OutOfPlace, j, "%s before its submission", e.kind)
		return
	}
	switch e.kind {
	case replay.KindSubmit:
		c.submit(j, e)
	case replay.KindStart:
		c.start(j, e)
	case replay.KindEnd:
		c.finish(j, e)
	case replay.KindStop:
		c.stop(j, e)
	case replay.KindLeft:
		c.left(j, e)
	case replay.KindRefused:
		if c.undo != nil && c.last.key == e.key {
			c.undo()
		}
	case "cancel", "hold", "release", "nice", "limit":
		c.order(j, e)
	default:
		c.wrong(validate.OutOfPlace, j, "there is no event %q", e.kind)
	}
}

// secondOver looks for what must have happened by the end of a second: jobs on lost nodes have stopped.
func (c *checker) secondOver() {
	for _, j := range c.mustStop {
		if j.state == running {
			c.wrong(validate.OnWhatIsDown, j, "it runs on a node that went down")
		}
	}
	c.mustStop = nil
}

// submit is a job that comes: once, when its user submits it, and not beyond a limit on submissions.
func (c *checker) submit(j *job, e *event) {
	if j.state != unseen {
		c.wrong(validate.OutOfPlace, j, "it is submitted a second time")
		return
	}
	if from, to, on := c.comes(j); on != nil {
		c.wrong(validate.BeforeItsTurn, j, "submitted at %d, and its user waits for the end of job %d", e.time, on.As.ID)
	} else if e.time < from || e.time > to {
		c.wrong(validate.Disagreement, j, "submitted at %d, and its user submits it at %d", e.time, from)
	}
	c.came++
	j.submitted, j.place = e.time, c.came
	if e.detail != "" {
		j.state, j.outcome = refused, e.detail
		return
	}
	if j.Refused != "" {
		c.wrong(validate.Disagreement, j, "accepted, and it names what there is not: %v", j.Refused)
	}
	j.state, j.reservation = waiting, j.Job.Reservation
	c.ids[e.job] = j
	j.account = c.book.accountOf(j.Job.User, j.Job.Account)
	if c.conf.Enforce.Associations && c.book.user(j.Job.User, j.account) == nil {
		c.wrong(validate.Disagreement, j, "accepted, and user %q has no account %q", j.Job.User, j.Job.Account)
	}
	j.settled = j.Job.Begin == 0 && len(j.After) == 0 && !j.Job.Held && j.Job.Reservation == ""
	c.checkSubmission(j)
}

// comes returns the seconds from which to which a job may come: when its user says, or its think time after the
// jobs that it comes after. With a think time of 0 the job may come in the second after the end, too, for the
// end may be late in its own second. If one of those jobs has not ended yet, on is that job.
func (c *checker) comes(j *job) (from, to int64, on *job) {
	from = int64(j.At/des.Second) - c.late
	if j.As == nil {
		return from, from, nil
	}
	waits, own, next := false, from, int64(0)
	from = 0
	for _, d := range j.As.After {
		before := c.byID[d.Job]
		if before == nil { // it is no job of the run
			continue
		}
		waits = true
		heard := before.ended
		switch {
		case before.state == refused, d.Submitted && before.state != unseen:
			heard = before.submitted
		case before.state != over || before.left:
			return 0, 0, before
		}
		from, next = max(from, heard+int64(d.Think/des.Second)), max(next, heard+1)
	}
	if !waits || !c.Feedback && own > from {
		return own, own, nil
	}
	return from, max(from, next), nil
}

// start is a job that starts: may it, now, there, with that?
func (c *checker) start(j *job, e *event) {
	// It must wait, and nothing of its own may keep it.
	switch j.state {
	case running:
		c.wrong(validate.OutOfPlace, j, "it starts while it runs")
		return
	case over, refused:
		c.wrong(validate.OutOfPlace, j, "it starts after it has left: %s", j.outcome)
		return
	}
	if j.attempts > 0 { // its age begins anew when it waits again
		j.settled = false
	}
	if j.held {
		c.wrong(validate.TooEarly, j, "it starts while it is held")
	}
	if begin := int64(j.Job.Begin / des.Second); e.time+c.late < begin {
		c.wrong(validate.TooEarly, j, "it starts before its begin time, %d", begin-c.late)
	}
	c.checkDependencies(j)
	// The job runs: on which cores, and within all limits?
	j.state, j.start, j.extended, j.perhaps, j.qos, j.spent = running, e.time, 0, 0, e.qos, ""
	j.attempts++
	c.running = append(c.running, j)
	var err error
	if j.on, err = c.machine.shares(e.cores); err != nil {
		c.wrong(validate.Disagreement, j, "cores: %v", err)
		return
	}
	c.checkPlace(j, e)
	c.checkPartition(j, e)
	c.checkReservations(j)
	c.checkPriority(j, e)
	j.has = c.limitedAmounts(j)
	c.checkLimits(j, e)
}

// leave takes back what a running job has. Then the job is over, or waits again.
func (c *checker) leave(j *job, e *event, next state) {
	c.watchUse(j, e.time)
	c.book.ends(j, e.time)
	c.machine.give(j)
	c.running = slices.DeleteFunc(c.running, func(r *job) bool { return r == j })
	j.state, j.ended, j.outcome = next, e.time, e.detail
}

// latest is the number of seconds after its limit for which a job may still run: the controller
// looks for such jobs every 30 s.
const latest = 30

// overdue reports whether the controller should have ended a running job before this event, if it may run for
// most s: the next look at limits has passed, and the second in which its end is told.
func (c *checker) overdue(j *job, e *event, most int64) bool {
	return c.limitKnown(j) && e.time > j.start+most+j.perhaps+latest+1
}

// finish is a job that ends by itself: as its script says, after its runtime, within its limit.
func (c *checker) finish(j *job, e *event) {
	if j.state != running {
		c.wrong(validate.OutOfPlace, j, "it ends and does not run")
		return
	}
	want := "COMPLETED"
	if j.Job.ExitCode != 0 {
		want = "FAILED"
	}
	if e.detail != want {
		c.wrong(validate.Disagreement, j, "%s, and its script says %s", e.detail, want)
	}
	// A job works from its launch on, and both ends are cut to seconds.
	took, length := e.time-j.start, int64(j.Job.Length/des.Second)
	if took < length || took > int64((j.Job.Length+replay.Launch+des.Second-des.Tick)/des.Second) {
		c.wrong(validate.WrongRunTime, j, "it ran for %d s, and takes %d", took, length)
	}
	most := j.limit
	if j.raised {
		most = j.asked
	}
	if most += j.extended + c.overtime(); c.overdue(j, e, most) {
		c.wrong(validate.WrongRunTime, j, "it ran for %d s, and its limit is %d", took, most)
	}
	c.leave(j, e, over)
}

// overtime returns the number of seconds that jobs may run beyond their limits.
func (c *checker) overtime() int64 {
	if c.conf.OverTimeLimit == des.Forever {
		return 1 << 40 // as good as for ever, and can be added to
	}
	return int64(c.conf.OverTimeLimit / des.Second)
}

// stop is a job that the controller ends: each reason must be one that it may have.
func (c *checker) stop(j *job, e *event) {
	switch {
	case j.state == waiting && e.detail == string(slurm.Preempted): // nothing is told of a start that is preempted in its own second
		j.attempts++
		if !c.requeued(j) {
			j.state, j.start, j.ended, j.outcome = over, e.time, e.time, e.detail
		}
		return
	case j.state == waiting && e.detail == string(slurm.Cancelled) && c.conf.Schedule.KillInvalid && c.hopeless(j):
		j.state, j.ended, j.outcome, j.cancelled = over, e.time, e.detail, true
		return
	}
	if j.state != running {
		c.wrong(validate.OutOfPlace, j, "it is stopped and does not run")
		return
	}
	took := e.time - j.start
	next := over
	switch why := slurm.Stop(e.detail); why {
	case slurm.Timeout:
		most := j.asked + j.extended + c.overtime()
		if early := took < most && c.limitKnown(j); (early || c.overdue(j, e, most)) && !c.reservationOver(j) && !c.usedUp(j) {
			c.wrong(validate.WrongRunTime, j, "killed for its limit after %d s, and the limit is %d", took, most)
		}
	case slurm.Cancelled:
		if j.condemned != e.time { // other orders may come between
			c.wrong(validate.OutOfPlace, j, "cancelled, and nobody has cancelled it")
		}
	case slurm.Preempted:
		if !c.preemptible(j) {
			c.wrong(validate.Unmet, j, "preempted, and nothing may preempt QoS %q in partition %s", j.qos, j.partition.Name)
		}
		if least := int64(c.conf.PreemptExempt / des.Second); took < least {
			c.wrong(validate.WrongRunTime, j, "preempted after %d s, and it is exempt for %d", took, least)
		}
		if c.requeued(j) {
			next = waiting
		}
	case slurm.NodeFail:
		if !slices.ContainsFunc(j.on, func(s share) bool { return c.machine.nodes[s.node].down }) {
			c.wrong(validate.OnWhatIsDown, j, "stopped for a failure, and none of its nodes is down")
		}
		if j.Job.Requeue {
			next = waiting
		}
	default:
		c.wrong(validate.OutOfPlace, j, "there is no stop %q", why)
	}
	c.leave(j, e, next)
}

// left is a job that waits or runs when the run ends.
func (c *checker) left(j *job, e *event) {
	was, _, _ := strings.Cut(e.detail, " ")
	if want := map[state]string{waiting: "PENDING", running: "RUNNING"}[j.state]; want == "" || was != want {
		c.wrong(validate.OutOfPlace, j, "left as %q, and the events before say %q", was, cmp.Or(want, j.outcome))
		return
	}
	if j.state == running {
		c.watchUse(j, e.time)
	}
	j.state, j.outcome, j.left = over, e.detail, true
}

// order checks an order of a user or operator about a job.
func (c *checker) order(j *job, e *event) {
	c.undo = nil
	o := c.orders[orderName{e.kind, e.key, e.time + c.late}]
	if o == nil {
		if c.Predictions != nil && e.kind == "limit" && j.state == running && j.limit < j.asked {
			j.raised = true
			j.perhaps = max(j.perhaps, e.time-(j.start+j.limit+j.extended))
			return
		}
		c.wrong(validate.Disagreement, j, "%s, which nobody orders", e.kind)
		return
	}
	// Slurm may refuse the order in the next event: then the job is what it was.
	before := *j
	c.undo = func() { *j = before }
	pending := e.detail == "PENDING" // the state of the job when the order came
	if pending || e.detail == "RUNNING" {
		j.ordered = e.time
	}
	switch {
	case e.kind == "cancel" && pending:
		j.state, j.ended, j.outcome, j.cancelled = over, e.time, "CANCELLED", true
	case e.kind == "cancel":
		j.condemned = e.time
	case e.kind == "hold" && pending:
		j.held, j.settled = true, false
	case e.kind == "release" && pending:
		j.held, j.settled = false, false
		if c.reservationOver(j) { // it is held since then, and belongs to it no longer
			j.reservation = ""
		}
	case e.kind == "nice" && (pending || e.detail == "RUNNING"): // of one that runs should it wait again
		j.nice = o.Value
		if !c.conf.Priority.Multifactor { // it gives a held job a priority
			j.held = false
		}
	case e.kind == "limit" && (pending || e.detail == "RUNNING"):
		limit := int64(o.Value) * 60
		j.excused = j.excused || limit != j.limit || j.raised || !c.limitKnown(j)
		j.limit, j.asked, j.raised = limit, limit, false
		if !pending {
			j.extended += max(0, e.time-(j.start+limit+j.extended))
		}
	}
}

// end looks for jobs of which nothing more was heard, and counts what became of all of them.
func (c *checker) end() {
	c.secondOver()
	for i := range c.Jobs {
		c.count(c.jobs[c.Jobs[i].Key])
		switch j := c.jobs[c.Jobs[i].Key]; {
		case j.state == unseen:
			if _, _, on := c.comes(j); on == nil {
				c.wrong(validate.Missing, j, "it is not submitted")
			}
		case j.state == running:
			c.wrong(validate.Missing, j, "it runs, and nothing tells of its end")
		case j.state == waiting:
			c.wrong(validate.Missing, j, "it waits, and nothing tells what becomes of it")
		}
	}
}

// count counts a job by what became of it at last. A job that was cancelled while it waited counts as rejected,
// as in jobs-slurm.csv.
func (c *checker) count(j *job) {
	switch r := &c.report; {
	case j.left, j.state == unseen, j.state == running:
		r.Unfinished++
	case j.rejected():
		r.Rejected++
	case j.outcome == "COMPLETED" || j.outcome == "FAILED":
		r.Finished++
	default:
		r.Killed++
	}
}

// checkDependencies looks whether the jobs that it depends on have done what it waits for.
func (c *checker) checkDependencies(j *job) {
	if len(j.After) == 0 {
		return
	}
	var unmet []string
	for _, d := range j.After {
		if !c.met(j, d) {
			unmet = append(unmet, strings.TrimSuffix(d.Kind+":"+d.Key, ":"))
		}
	}
	if all := len(j.After); len(unmet) == 0 || j.Job.AnyAfter && len(unmet) < all {
		return
	}
	c.wrong(validate.BeforeItsTurn, j, "it starts, and %s is not met", strings.Join(unmet, ", "))
}

// hopeless reports whether it may be that what a job depends on can never be as it wants: jobs have ended
// otherwise, or their records are gone.
func (c *checker) hopeless(j *job) bool {
	never := 0
	for _, d := range j.After {
		on := c.jobs[d.Key]
		switch {
		case d.Kind == "singleton":
		case on == nil || on.state == refused:
			never++
		case on.state != over || d.Kind != "afterok" && d.Kind != "afternotok":
		case (d.Kind == "afterok") == (on.outcome != "COMPLETED"), int64(c.conf.MinJobAge/des.Second) <= c.now-on.ended:
			never++
		}
	}
	return never > 0 && (!j.Job.AnyAfter || never == len(j.After))
}

// met reports whether a dependency may be met, as far as the events tell: they do not say when records are
// purged, after which every dependency is met.
func (c *checker) met(j *job, d replay.KeyDependency) bool {
	if d.Kind == "singleton" {
		for i := range c.Jobs {
			other := c.jobs[c.Jobs[i].Key]
			if other == j {
				return true // later ones are not waited for
			}
			if (other.state == waiting || other.state == running) && other.Job.Name == j.Job.Name && other.Job.User == j.Job.User {
				return false
			}
		}
		return true
	}
	on := c.jobs[d.Key]
	if on == nil || on.state == unseen || on.state == refused {
		return true // there is no such record, which Slurm takes for met, or refuses at submission
	}
	if d.Kind == "after" {
		return on.attempts > 0 || on.state == over
	}
	if on.state == running || on.state == waiting && on.outcome == "" {
		return false
	}
	failed := on.outcome != "COMPLETED"
	purged := on.ended < j.submitted // perhaps: then nothing is known of it any more
	switch d.Kind {
	case "afterok":
		return !failed || purged
	case "afternotok": // one that ran beyond its limit may have failed as well
		return failed || purged || on.ended-on.start >= on.limit
	}
	return true
}
