package results

// The rows of the files, as docs/reference/files.md has them.

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics"
)

// None is a time that there is none of.
const None des.Time = -1

// State is what became of a job.
type State uint8

const (
	Submitted State = iota // waiting when the run was stopped
	Running                // when the run was stopped
	Finished               // by itself
	Walltime               // cut at its estimate
	Killed                 // for another reason
	Rejected
)

var states = enum.Of[State]("final_state",
	"SUBMITTED", "RUNNING", "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED")

// String is the word of the column final_state.
func (s State) String() string { return states.Name(s) }

// Job is a row of jobs-POLICY.csv.
type Job struct {
	ID int64
	// User, Group and Queue are -1 where unknown.
	User, Group, Queue int64
	Submit             des.Time
	Processors         int      // or nodes, requested
	Estimate           des.Time // what was asked for
	Runtime            des.Time // the real one
	State              State
	// Start and Finish are those of the last attempt. Execution is how long the job
	// ran for its own work: see entity.Run.Ran.
	Start, Finish, Execution des.Time
	// Allocated says which processors or nodes, "0-3 7", by number; it may be their
	// count, or nothing (procset.Parse reads it).
	Allocated string
	// Energy is in joules.
	Energy          float64
	BoundedSlowdown float64
	// Promised is the first start ahead that the job was promised, Reason why it was
	// rejected, or killed for another reason than its estimate.
	Promised   des.Time
	Reason     string
	Backfilled bool
	// Restarts is how often it was preempted, Lost and Overhead are times of the job.
	Restarts       int
	Lost, Overhead des.Time
	// After are the jobs that it waited for, as in the file.
	After string
	// Booked is an advance reservation, which does not count in means of waits.
	Booked bool
	// Money, where nodes have prices: the most that the job would pay, what its
	// windows cost, what owners got of that, and what the user got back.
	Budget, Cost, Paid, Refund float64
	// What was predicted of the runtime at submission and last, None where nothing was,
	// and how often it was corrected.
	Prediction, Predicted des.Time
	Corrections           int
}

// Ran reports whether the job ran and came to an end, and was no advance reservation:
// it counts in means then.
func (j *Job) Ran() bool {
	return !j.Booked && j.Start != None && j.Finish != None && j.State >= Finished && j.State != Rejected
}

// Wait is start - submission, None of a job that has not started.
func (j *Job) Wait() des.Time { return since(j.Submit, j.Start) }

// Turnaround is finish - submission, None of a job that has not ended.
func (j *Job) Turnaround() des.Time { return since(j.Submit, j.Finish) }

func since(from, to des.Time) des.Time {
	if from == None || to == None {
		return None
	}
	return to - from
}

var jobColumns = append(need(
	ints("job_id", func(j *Job) *int64 { return &j.ID }),
	times("submission_time", func(j *Job) *des.Time { return &j.Submit }),
	ints("requested_number_of_resources", func(j *Job) *int { return &j.Processors }),
	times("requested_time", func(j *Job) *des.Time { return &j.Estimate }),
	times("starting_time", func(j *Job) *des.Time { return &j.Start }),
	times("finish_time", func(j *Job) *des.Time { return &j.Finish }),
	column[Job]{name: "final_state", set: func(j *Job, text string) (err error) {
		j.State, err = states.Parse(text)
		return err
	}},
),
	ints("user_id", func(j *Job) *int64 { return &j.User }),
	times("actual_runtime", func(j *Job) *des.Time { return &j.Runtime }),
	times("execution_time", func(j *Job) *des.Time { return &j.Execution }),
	texts("allocated_resources", func(j *Job) *string { return &j.Allocated }),
	amounts("consumed_energy", func(j *Job) *float64 { return &j.Energy }),
	amounts("bounded_slowdown", func(j *Job) *float64 { return &j.BoundedSlowdown }),
	column[Job]{name: "metadata", set: (*Job).metadata},
	flags("backfilled", func(j *Job) *bool { return &j.Backfilled }),
	ints("restarts", func(j *Job) *int { return &j.Restarts }),
	times("lost", func(j *Job) *des.Time { return &j.Lost }),
	times("overhead", func(j *Job) *des.Time { return &j.Overhead }),
	texts("after", func(j *Job) *string { return &j.After }),
	ints("group_id", func(j *Job) *int64 { return &j.Group }),
	ints("queue_id", func(j *Job) *int64 { return &j.Queue }),
	flags("booked", func(j *Job) *bool { return &j.Booked }),
	numbers("budget", func(j *Job) *float64 { return &j.Budget }),
	numbers("cost", func(j *Job) *float64 { return &j.Cost }),
	numbers("paid", func(j *Job) *float64 { return &j.Paid }),
	numbers("refund", func(j *Job) *float64 { return &j.Refund }),
	times("prediction", func(j *Job) *des.Time { return &j.Prediction }),
	ints("corrections", func(j *Job) *int { return &j.Corrections }),
	times("predicted", func(j *Job) *des.Time { return &j.Predicted }),
)

// metadata takes in promised=SECONDS;reason=TEXT, either of which may not be there, or
// expected= in the place of promised=.
func (j *Job) metadata(text string) (err error) {
	if text == "" {
		return nil
	}
	for _, key := range []string{"promised", "expected"} {
		if rest, ok := strings.CutPrefix(text, key+"="); ok {
			var at string
			at, text, _ = strings.Cut(rest, ";")
			if j.Promised, err = parseTime(at); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	if reason, ok := strings.CutPrefix(text, "reason="); ok {
		j.Reason = reason
	}
	return nil
}

var missingJob = Job{User: -1, Group: -1, Queue: -1, Submit: None, Estimate: None, Runtime: None, Start: None, Finish: None, Execution: None,
	Prediction: None, Predicted: None, Energy: math.NaN(), BoundedSlowdown: math.NaN(), Promised: None, Budget: math.NaN(), Cost: math.NaN(), Paid: math.NaN(), Refund: math.NaN()}

// Jobs are the rows of jobs-POLICY.csv, in order of job id, those of the warm-up included.
// It is an error where there are not as many as summary.csv counts: the file has been cut
// off, or belongs to another run.
func (r *Run) Jobs() ([]Job, error) {
	jobs, err := rows(r, "jobs", missingJob, jobColumns)
	want := r.Summary("jobs")
	if err != nil || !(want >= 0) {
		return jobs, err
	}
	warmup, err := r.folder.warmup()
	if err != nil {
		return nil, err
	}
	if early := warmUp(jobs, warmup); float64(len(jobs)-early) != want {
		but := ""
		if early > 0 {
			but = fmt.Sprintf(", %d of which are its warm-up", early)
		}
		err = fmt.Errorf("%s: it has the rows of %d jobs%s, and summary.csv counts %.0f: the file has been cut off, or is of another run", r.folder.path(r.name("jobs")), len(jobs), but, want)
	}
	return jobs, err
}

// warmUp is how many of all jobs of a run belong to its warm-up.
func warmUp(jobs []Job, w metrics.Warmup) (n int) {
	if w.Until == 0 {
		return min(w.Jobs, len(jobs))
	}
	first := des.Forever
	for i := range jobs {
		first = min(first, jobs[i].Submit)
	}
	for i := range jobs {
		if jobs[i].Submit < first.Add(w.Until) {
			n++
		}
	}
	return n
}

// Level is a row of queue-POLICY.csv: from Time until that of the next row Jobs
// that ask for Processors wait, and Busy processors or nodes are in use.
type Level struct {
	Time                   des.Time
	Jobs, Processors, Busy int
}

var queueColumns = need(
	times("time", func(l *Level) *des.Time { return &l.Time }),
	ints("queued_jobs", func(l *Level) *int { return &l.Jobs }),
	ints("queued_processors", func(l *Level) *int { return &l.Processors }),
	ints("busy_processors", func(l *Level) *int { return &l.Busy }),
)

// Queue are the rows of queue-POLICY.csv, in order of time.
func (r *Run) Queue() ([]Level, error) { return rows(r, "queue", Level{}, queueColumns) }

// Attempt is a row of attempts-POLICY.csv.
type Attempt struct {
	Job                  int64
	Number               int // from 1
	Start, Finish        des.Time
	Processors           int
	Allocated            string // as of a Job
	Kept, Lost, Overhead des.Time
	End                  string // requeued, resized, finished, walltime, killed
	// ProcessorTime is what all its processors or nodes took, in time units.
	ProcessorTime float64
}

var attemptColumns = append(need(
	ints("job_id", func(a *Attempt) *int64 { return &a.Job }),
	ints("attempt", func(a *Attempt) *int { return &a.Number }),
	times("starting_time", func(a *Attempt) *des.Time { return &a.Start }),
	times("finish_time", func(a *Attempt) *des.Time { return &a.Finish }),
	ints("processors", func(a *Attempt) *int { return &a.Processors }),
	texts("end", func(a *Attempt) *string { return &a.End }),
),
	texts("allocated_resources", func(a *Attempt) *string { return &a.Allocated }),
	times("kept", func(a *Attempt) *des.Time { return &a.Kept }),
	times("lost", func(a *Attempt) *des.Time { return &a.Lost }),
	times("overhead", func(a *Attempt) *des.Time { return &a.Overhead }),
	amounts("processor_time", func(a *Attempt) *float64 { return &a.ProcessorTime }),
)

// Attempts are the rows of attempts-POLICY.csv, in the order in which they ended.
func (r *Run) Attempts() ([]Attempt, error) {
	return rows(r, "attempts", Attempt{Start: None, Finish: None, Kept: None, Lost: None, Overhead: None, ProcessorTime: math.NaN()}, attemptColumns)
}

// Accuracy is a row of accuracy-POLICY.csv; NaN is what there is none of.
type Accuracy struct {
	By, Class                                         string
	Jobs, Measured                                    int
	MeanAbsoluteError, MeanError, MeanAccuracy, Under float64
	CorrectionsPerJob, MeanWait, MeanBoundedSlowdown  float64
}

var accuracyColumns = need(
	texts("by", func(a *Accuracy) *string { return &a.By }),
	texts("class", func(a *Accuracy) *string { return &a.Class }),
	ints("jobs", func(a *Accuracy) *int { return &a.Jobs }),
	ints("measured", func(a *Accuracy) *int { return &a.Measured }),
	numbers("mean_absolute_error", func(a *Accuracy) *float64 { return &a.MeanAbsoluteError }),
	numbers("mean_error", func(a *Accuracy) *float64 { return &a.MeanError }),
	numbers("mean_accuracy", func(a *Accuracy) *float64 { return &a.MeanAccuracy }),
	numbers("under", func(a *Accuracy) *float64 { return &a.Under }),
	numbers("corrections_per_job", func(a *Accuracy) *float64 { return &a.CorrectionsPerJob }),
	numbers("mean_wait", func(a *Accuracy) *float64 { return &a.MeanWait }),
	numbers("mean_bounded_slowdown", func(a *Accuracy) *float64 { return &a.MeanBoundedSlowdown }),
)

// Accuracy are the rows of accuracy-POLICY.csv: how good predictions of runtimes were, by
// classes of jobs.
func (r *Run) Accuracy() ([]Accuracy, error) {
	nan := math.NaN()
	return rows(r, "accuracy", Accuracy{MeanAbsoluteError: nan, MeanError: nan, MeanAccuracy: nan, Under: nan, CorrectionsPerJob: nan, MeanWait: nan, MeanBoundedSlowdown: nan}, accuracyColumns)
}

// Task is a row of tasks-POLICY.csv: a piece of a node's time, and who had it.
type Task struct {
	Site                    string // of a grid
	Job                     int64  // -1 where it is no job's
	User                    int64
	Node                    int64
	Start, ReservedEnd, End des.Time // End is the real one, None of an outage without an end
	Cost, Paid              float64
	Kind                    string // job, owner, outage, booking
	Owner                   string
	Attempt                 int
}

var taskColumns = append(need(
	ints("node", func(t *Task) *int64 { return &t.Node }),
	times("start", func(t *Task) *des.Time { return &t.Start }),
	times("end", func(t *Task) *des.Time { return &t.End }),
),
	texts("site", func(t *Task) *string { return &t.Site }),
	ints("job_id", func(t *Task) *int64 { return &t.Job }),
	ints("user_id", func(t *Task) *int64 { return &t.User }),
	times("reserved_end", func(t *Task) *des.Time { return &t.ReservedEnd }),
	numbers("cost", func(t *Task) *float64 { return &t.Cost }),
	numbers("paid", func(t *Task) *float64 { return &t.Paid }),
	texts("kind", func(t *Task) *string { return &t.Kind }),
	texts("owner", func(t *Task) *string { return &t.Owner }),
	ints("attempt", func(t *Task) *int { return &t.Attempt }),
)

// Tasks are the rows of tasks-POLICY.csv.
func (r *Run) Tasks() ([]Task, error) {
	return rows(r, "tasks", Task{Job: -1, User: -1, Start: None, ReservedEnd: None, End: None, Cost: math.NaN(), Paid: math.NaN(), Kind: "job"}, taskColumns)
}

// Outage is a row of outages-POLICY.csv.
type Outage struct {
	Site       string   // of a grid
	From, To   des.Time // To is Forever, or None, of one without an end
	Processors int      // how many, or nodes
	Node       string   // which, "3" or "0-3 7"; empty where any
	Known      des.Time
	Victims    string // jobs that had to stop, with blanks between them
}

var outageColumns = append(need(
	times("from", func(o *Outage) *des.Time { return &o.From }),
	times("to", func(o *Outage) *des.Time { return &o.To }),
),
	texts("site", func(o *Outage) *string { return &o.Site }),
	ints("processors", func(o *Outage) *int { return &o.Processors }),
	texts("node", func(o *Outage) *string { return &o.Node }),
	times("known", func(o *Outage) *des.Time { return &o.Known }),
	texts("victims", func(o *Outage) *string { return &o.Victims }),
)

// Outages are the rows of outages-POLICY.csv, in the order in which they began.
func (r *Run) Outages() ([]Outage, error) {
	return rows(r, "outages", Outage{From: None, To: None, Known: None}, outageColumns)
}

// Price is a row of prices-POLICY.csv: what a node costs from Time on.
type Price struct {
	Site  string // of a grid
	Time  des.Time
	Node  int64
	Owner string
	Price float64 // for a time unit
}

var priceColumns = append(need(
	times("time", func(p *Price) *des.Time { return &p.Time }),
	ints("node", func(p *Price) *int64 { return &p.Node }),
	texts("owner", func(p *Price) *string { return &p.Owner }),
	numbers("price", func(p *Price) *float64 { return &p.Price }),
), texts("site", func(p *Price) *string { return &p.Site }))

// Prices are the rows of prices-POLICY.csv, of each node in order of time.
func (r *Run) Prices() ([]Price, error) { return rows(r, "prices", Price{}, priceColumns) }

// Owner is a row of owners-POLICY.csv.
type Owner struct {
	Site     string // of a grid
	Name     string
	Nodes    int
	Income   float64
	UsedTime float64 // of jobs of the organisation on the owner's nodes, in time units
	// The owner's own jobs.
	LocalStarted, LocalRejected, LocalWaiting int
	LocalMeanWait                             float64
	Displaced, Preempted                      int
}

var ownerColumns = append(need(
	texts("owner", func(o *Owner) *string { return &o.Name }),
	numbers("income", func(o *Owner) *float64 { return &o.Income }),
),
	texts("site", func(o *Owner) *string { return &o.Site }),
	ints("nodes", func(o *Owner) *int { return &o.Nodes }),
	numbers("used_time", func(o *Owner) *float64 { return &o.UsedTime }),
	ints("local_started", func(o *Owner) *int { return &o.LocalStarted }),
	ints("local_rejected", func(o *Owner) *int { return &o.LocalRejected }),
	ints("local_waiting", func(o *Owner) *int { return &o.LocalWaiting }),
	amounts("local_mean_wait", func(o *Owner) *float64 { return &o.LocalMeanWait }),
	ints("displaced", func(o *Owner) *int { return &o.Displaced }),
	ints("preempted", func(o *Owner) *int { return &o.Preempted }),
)

// Owners are the rows of owners-POLICY.csv.
func (r *Run) Owners() ([]Owner, error) {
	return rows(r, "owners", Owner{UsedTime: math.NaN(), LocalMeanWait: math.NaN()}, ownerColumns)
}

// Cycle is a row of cycles-POLICY.csv.
type Cycle struct {
	Number                                                     int
	Start                                                      des.Time
	Submitted, Started, Finished, Rejected, Preempted, Waiting int
	Utilization, MeanWait, Makespan, Income, Expense           float64
}

var cycleColumns = append(need(
	ints("cycle", func(c *Cycle) *int { return &c.Number }),
	times("start", func(c *Cycle) *des.Time { return &c.Start }),
),
	ints("submitted", func(c *Cycle) *int { return &c.Submitted }),
	ints("started", func(c *Cycle) *int { return &c.Started }),
	ints("finished", func(c *Cycle) *int { return &c.Finished }),
	ints("rejected", func(c *Cycle) *int { return &c.Rejected }),
	ints("preempted", func(c *Cycle) *int { return &c.Preempted }),
	ints("waiting", func(c *Cycle) *int { return &c.Waiting }),
	numbers("utilization", func(c *Cycle) *float64 { return &c.Utilization }),
	numbers("mean_wait", func(c *Cycle) *float64 { return &c.MeanWait }),
	numbers("makespan", func(c *Cycle) *float64 { return &c.Makespan }),
	numbers("income", func(c *Cycle) *float64 { return &c.Income }),
	numbers("expense", func(c *Cycle) *float64 { return &c.Expense }),
)

// Cycles are the rows of cycles-POLICY.csv.
func (r *Run) Cycles() ([]Cycle, error) {
	nan := math.NaN()
	return rows(r, "cycles", Cycle{Start: None, Utilization: nan, MeanWait: nan, Makespan: nan, Income: nan, Expense: nan}, cycleColumns)
}

// Combination is a row of pareto-POLICY.csv: alternatives of a slice of a batch,
// one for each of its jobs, taken together.
type Combination struct {
	PlannedAt                        des.Time
	Slice                            int // from 1
	Jobs                             int // that had alternatives
	Point                            int // from 1 by time; 0 is the combination chosen
	Cost, BudgetLeft, Time, TimeLeft float64
	Gap                              float64
}

var combinationColumns = append(need(
	times("planned_at", func(c *Combination) *des.Time { return &c.PlannedAt }),
	ints("slice", func(c *Combination) *int { return &c.Slice }),
	ints("point", func(c *Combination) *int { return &c.Point }),
	numbers("cost", func(c *Combination) *float64 { return &c.Cost }),
	numbers("time", func(c *Combination) *float64 { return &c.Time }),
),
	ints("jobs", func(c *Combination) *int { return &c.Jobs }),
	numbers("budget_left", func(c *Combination) *float64 { return &c.BudgetLeft }),
	numbers("time_left", func(c *Combination) *float64 { return &c.TimeLeft }),
	numbers("gap", func(c *Combination) *float64 { return &c.Gap }),
)

// Alternatives are the rows of pareto-POLICY.csv.
func (r *Run) Alternatives() ([]Combination, error) {
	return rows(r, "pareto", Combination{BudgetLeft: math.NaN(), TimeLeft: math.NaN(), Gap: math.NaN()}, combinationColumns)
}

// WindowTask is a row of alternatives-POLICY.csv: a node's part of a window that was
// found for a job of a batch.
type WindowTask struct {
	PlannedAt   des.Time
	Job         int64
	Alternative int // number of the window among those of the job, from 1
	Node        int64
	Start, End  des.Time
	Cost        float64
	Chosen      bool
}

var windowTaskColumns = append(need(
	times("planned_at", func(w *WindowTask) *des.Time { return &w.PlannedAt }),
	ints("job_id", func(w *WindowTask) *int64 { return &w.Job }),
	ints("alternative", func(w *WindowTask) *int { return &w.Alternative }),
	ints("node", func(w *WindowTask) *int64 { return &w.Node }),
	times("start", func(w *WindowTask) *des.Time { return &w.Start }),
	times("end", func(w *WindowTask) *des.Time { return &w.End }),
),
	numbers("cost", func(w *WindowTask) *float64 { return &w.Cost }),
	flags("chosen", func(w *WindowTask) *bool { return &w.Chosen }),
)

// Windows are the rows of alternatives-POLICY.csv, the windows that each job of a
// batch could choose from; nil without simulate --alternatives.
func (r *Run) Windows() ([]WindowTask, error) {
	return rows(r, "alternatives", WindowTask{Cost: math.NaN()}, windowTaskColumns)
}

// Node is a row of nodes.csv.
type Node struct {
	ID                 int64
	Name               string
	Performance, Price float64
	Class, Site, Owner string
}

var nodeColumns = append(need(
	ints("id", func(n *Node) *int64 { return &n.ID }),
),
	texts("name", func(n *Node) *string { return &n.Name }),
	numbers("performance", func(n *Node) *float64 { return &n.Performance }),
	numbers("price", func(n *Node) *float64 { return &n.Price }),
	texts("class", func(n *Node) *string { return &n.Class }),
	texts("site", func(n *Node) *string { return &n.Site }),
	texts("owner", func(n *Node) *string { return &n.Owner }),
)

// Nodes are the rows of nodes.csv.
func (f *Folder) Nodes() ([]Node, error) {
	nodes, err := read(f, "nodes.csv", Node{Performance: math.NaN(), Price: math.NaN()}, nodeColumns)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nodes, err
}
