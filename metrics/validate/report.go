package validate

// What the validators report.

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/internal/printed"
)

// Kind says which rule a schedule broke.
type Kind uint8

const (
	// OverCapacity: more processors busy than there are.
	OverCapacity Kind = iota
	// TwoJobsOnOne: a processor or node with two jobs at once, or a job with
	// processors that are not there or not as many as it asked for.
	TwoJobsOnOne
	// TooEarly: a start before the submission.
	TooEarly
	// outOfOrder: a job started before a job that was submitted earlier (Promises.Order).
	outOfOrder
	// headDelayed: the head of the queue starts later than its reservation (Promises.Head).
	headDelayed
	// PromiseBroken: a job starts later than was promised to it (Promises.First), or an advance
	// reservation starts at another instant than its own.
	PromiseBroken
	// WrongRunTime: a run is neither as long as in the trace nor cut at the estimate, or a
	// preemption keeps more work than was done.
	WrongRunTime
	// OutOfPlace: an event cannot follow the event before it: a job runs twice, or time runs
	// backwards.
	OutOfPlace
	// Missing: a job, or a part of it, did not run: the job has no row, has not ended, was rejected
	// although it could run, or has tasks that did not run.
	Missing
	// Disagreement: a file contradicts the trace, or itself.
	Disagreement
	// Unmet: a job is not given what it asks for. A node is too slow, too dear or lacks an
	// attribute, or a window is past the deadline or above the budget.
	Unmet
	// FalseAccount: sums of money do not add up.
	FalseAccount
	// OnWhatIsDown: a job runs where capacity is withheld, for an outage or maintenance.
	OnWhatIsDown
	// BeforeItsTurn: a job starts before the jobs that it follows have ended.
	BeforeItsTurn
)

var kinds = enum.Of[Kind]("kind of violation",
	"over capacity", "two jobs on one processor", "too early", "out of order", "head delayed",
	"promise broken", "wrong run time", "out of place", "missing", "disagreement", "request not met", "false account", "on what is down", "before its turn")

func (k Kind) String() string { return kinds.Name(k) }

// Violation is one breach of one rule. Text says it to a reader who knows job and instant.
type Violation struct {
	Kind Kind
	// Time is when it happened; 0 where the rule is about the run as a whole.
	Time des.Time
	// Job is the Job.ID; -1 where it is about no job of the workload.
	Job  int64
	Text string
}

func (v Violation) String() string {
	return fmt.Sprintf("at %v, job %d: %v: %s", v.Time, v.Job, v.Kind, v.Text)
}

// Promises are the guarantees of a policy, beyond the rules that every schedule must keep; the zero
// value promises nothing. FCFS keeps Order; EASY on the order of submission keeps Head, whatever
// the order of its candidates; conservative backfilling keeps First.
//
// A job that runs past its estimate (entity.OverrunExtend) voids Head and First for the jobs that
// were waiting meanwhile.
type Promises struct {
	Order bool // jobs start in the order of submission
	Head  bool // the head of the queue starts by the earliest instant ever reserved for it
	First bool // every job starts by the first instant reserved for it, and reservations never move later
}

// Report has the findings of a validator.
type Report struct {
	// Jobs counts the jobs that came; of these Finished, Killed and Rejected are over.
	Jobs, Finished, Killed, Rejected int
	// Unfinished counts jobs that were waiting or running when the run ended.
	Unfinished int
	// Violations are the first ones found, Total how many there were.
	Violations []Violation
	Total      int
}

// defaultLimit is the number of violations that a report keeps by default.
const defaultLimit = 100

// add counts a violation, and keeps it if there are fewer than limit; 0 means defaultLimit.
func (r *Report) add(limit int, k Kind, at des.Time, job int64, format string, args ...any) {
	r.Total++
	if limit <= 0 {
		limit = defaultLimit
	}
	if len(r.Violations) < limit {
		r.Violations = append(r.Violations, Violation{k, at, job, fmt.Sprintf(format, args...)})
	}
}

// join adds the violations of another report, also those that it did not keep.
func (r *Report) join(limit int, other Report) {
	for _, v := range other.Violations {
		r.add(limit, v.Kind, v.Time, v.Job, "%s", v.Text)
	}
	r.Total += other.Total - len(other.Violations)
}

// Err is nil where nothing was found, otherwise an error with the first
// violation and the number of all.
func (r Report) Err() error {
	switch r.Total {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the schedule is not valid: %v", r.Violations[0])
	}
	return fmt.Errorf("the schedule is not valid: %v (and %d more)", r.Violations[0], r.Total-1)
}

// String is the report for people, a line for each violation kept.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s jobs: %s finished, %s killed, %s rejected, %s unfinished; ",
		printed.Int(r.Jobs), printed.Int(r.Finished), printed.Int(r.Killed), printed.Int(r.Rejected), printed.Int(r.Unfinished))
	if r.Total == 0 {
		b.WriteString("valid\n")
		return b.String()
	}
	fmt.Fprintf(&b, "%s violations\n", printed.Int(r.Total))
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "  %v\n", v)
	}
	if more := r.Total - len(r.Violations); more > 0 {
		fmt.Fprintf(&b, "  ... and %s more\n", printed.Int(more))
	}
	return b.String()
}
