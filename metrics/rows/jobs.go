package rows

// jobs-POLICY.csv: a row a job.

import (
	"fmt"
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// State is the final state of a job.
type State uint8

const (
	Submitted State = iota // it waited when the run was stopped
	Running                // it ran when the run was stopped
	Finished               // it ran to its own end
	Walltime               // it was cut off at its estimate
	Killed                 // it was stopped for another reason
	Rejected               // it was turned away, or cancelled before it started
)

// states are Batsim's words of the column final_state.
var states = enum.Of[State]("final_state",
	"SUBMITTED", "RUNNING", "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED")

// String returns the word of the column final_state.
func (s State) String() string { return states.Name(s) }

// Job is a row of jobs-POLICY.csv.
type Job struct {
	ID int64
	// Workload is the name of the workload.
	Workload string
	// User, Group and Queue are -1 if unknown.
	User, Group, Queue int64
	Submit             des.Time
	// Processors is the number of processors or nodes requested.
	Processors int
	// Estimate is the requested time, Runtime the real one in the trace, cut by nothing.
	Estimate des.Time
	Runtime  des.Time
	State    State
	// Start and Finish are the times of the last attempt, None if there was no attempt. Execution
	// is the time that the job ran for its own work; see entity.Run.Ran.
	Start, Finish, Execution des.Time
	// Allocated says which processors or nodes it had, "0-3 7", by number. It may be their number
	// instead, or "" (procset.Parse reads it).
	Allocated string
	// Energy is in joules, NaN if unknown.
	Energy          float64
	BoundedSlowdown float64
	// Promised is the first start ahead that the job was promised, None if there was none; Soft
	// tells that the promise goes by predictions. Reason says why the job was rejected, or killed
	// for another reason than its estimate.
	Promised   des.Time
	Soft       bool
	Reason     string
	Backfilled bool
	// Restarts is the number of times that the job was preempted. Lost and Overhead are times of
	// the job, on a node of performance 1 like Runtime.
	Restarts       int
	Lost, Overhead des.Time
	// After has the jobs that it waited for, as the file has them.
	After string
	// Booked marks an advance reservation, which does not count in means of waits.
	Booked bool
	// Budget is the most that the job would pay, Cost what its windows cost, Paid what owners got
	// of that, Refund what the user got back. They are NaN if nodes have no prices.
	Budget, Cost, Paid, Refund float64
	// Prediction is the prediction at submission and Predicted the last one, None if nothing was
	// predicted. Corrections is the number of corrections.
	Prediction, Predicted des.Time
	Corrections           int
}

// Ran reports whether the job ran and came to an end, and was no advance reservation: then it
// counts in means.
func (j *Job) Ran() bool {
	return !j.Booked && j.Start != None && j.Finish != None && j.State >= Finished && j.State != Rejected
}

// Wait returns start - submission, None of a job that has not started.
func (j *Job) Wait() des.Time { return since(j.Submit, j.Start) }

// Turnaround returns finish - submission, None of a job that has not ended.
func (j *Job) Turnaround() des.Time { return since(j.Submit, j.Finish) }

// since returns to - from, None if either is.
func since(from, to des.Time) des.Time {
	if from == None || to == None {
		return None
	}
	return to - from
}

// The conditions under which jobs-POLICY.csv has its further columns (meaning.When).
const (
	WithAttempts    = "if a job was stopped, resized or had overhead; always with `--outages`, `--overhead`, owners that preempt, and jobs that wait for others"
	WithBookings    = "if the run has advance reservations"
	WithPrices      = "if nodes or clusters have prices"
	WithPredictions = "if runtimes are predicted"
)

// Jobs is jobs-POLICY.csv.
var Jobs = File[Job]{
	Name: "jobs-POLICY.csv",
	text: "A row for each job, in order of job id. It begins with the columns of Batsim's `jobs.csv`.",
	Missing: Job{
		User: -1, Group: -1, Queue: -1, Submit: None, Estimate: None, Runtime: None, Start: None, Finish: None, Execution: None,
		Energy: math.NaN(), BoundedSlowdown: math.NaN(), Promised: None, Budget: math.NaN(), Cost: math.NaN(), Paid: math.NaN(),
		Refund: math.NaN(), Prediction: None, Predicted: None,
	},
	notes: "<a id=\"stopped\"></a>A job that was stopped has one row, with the start and the processors of its last attempt. Its `waiting_time` contains the time that it ran before, so `waiting_time` and `execution_time` do not add up to `turnaround_time`. A resize begins no new wait.\n\n" +
		"The lowest free processors are taken first; jobs that end at an instant make room for jobs that start at it.",
	Columns: []column[Job]{
		intColumn("job_id", "Number of the job in the trace.", func(j *Job) *int64 { return &j.ID }).need(),
		nameColumn("workload_name", "Name of the trace.", func(j *Job) *string { return &j.Workload }),
		derivedColumn("profile", Number, seconds, "Runtime in the trace; Batsim's converters name delay profiles by it.",
			func(b []byte, j *Job) []byte { return AppendTime(b, j.Runtime) }),
		timeColumn("submission_time", "Submission.", func(j *Job) *des.Time { return &j.Submit }).need(),
		intColumn("requested_number_of_resources", "Processors or nodes. If a [moldable job](../guides/machines.md#moldable-and-malleable-jobs) took another shape, this column, `profile`, `requested_time` and `actual_runtime` are about that shape.",
			func(j *Job) *int { return &j.Processors }).need(),
		timeColumn("requested_time", "The estimate, after which the job is killed. Schedulers see it, or a [prediction](../guides/policies.md#predictions-of-runtimes).",
			func(j *Job) *des.Time { return &j.Estimate }).need(),
		derivedColumn("success", Bit, "", "1 if the job ran to its own end.", func(b []byte, j *Job) []byte {
			if j.State == Finished {
				return append(b, '1')
			}
			return append(b, '0')
		}),
		enumColumn("final_state", "`COMPLETED_SUCCESSFULLY`, `COMPLETED_WALLTIME_REACHED` (cut off at its estimate), `COMPLETED_KILLED` (stopped otherwise) or `REJECTED`; if the run was stopped, also `SUBMITTED` and `RUNNING`.",
			states, func(j *Job) *State { return &j.State }).need(),
		timeColumn("starting_time", "Start of the last attempt.", func(j *Job) *des.Time { return &j.Start }).need(),
		timeColumn("execution_time", "Finish - start, less [set-up, checkpoints and lost work](#stopped), plus work kept of earlier attempts. Of a job in fragments the longest.",
			func(j *Job) *des.Time { return &j.Execution }),
		timeColumn("finish_time", "End of the job.", func(j *Job) *des.Time { return &j.Finish }).need(),
		derivedColumn("waiting_time", Number, seconds, "Start - submission.", func(b []byte, j *Job) []byte { return AppendTime(b, j.Wait()) }),
		derivedColumn("turnaround_time", Number, seconds, "Finish - submission.", func(b []byte, j *Job) []byte { return AppendTime(b, j.Turnaround()) }),
		derivedColumn("stretch", Number, "", "Turnaround / execution time. If the execution time is 0: 1 if the job did not wait, else empty.", putStretch),
		wordColumn("allocated_resources", "Processors as intervals, `0-3 7`, or IDs of nodes; with `--allocation count` (default above 4,096 processors) their number. On a grid numbers continue from site to site, in the order of clusters-POLICY.csv; empty if a site has jobs of its own.",
			func(j *Job) *string { return &j.Allocated }),
		amountColumn("consumed_energy", joules, "Energy of a job that has ended, with `--power` ([definition](../guides/machines.md#energy)).",
			func(j *Job) *float64 { return &j.Energy }),
		{meaning: meaning{Name: "metadata", Text: "`promised=SECONDS`: the first promised start; with predictions, which may put it off, `expected=SECONDS`. `reason=TEXT`, after a `;`: why the job was rejected, or killed before its estimate."},
			Put: putMetadata, Take: (*Job).metadata},
		idColumn("user_id", "Number of the user.", func(j *Job) *int64 { return &j.User }),
		amountColumn("bounded_slowdown", "", "max(1, turnaround / max(execution time, tau)); tau is 10 s, or [`--tau`](cli.md).",
			func(j *Job) *float64 { return &j.BoundedSlowdown }),
		derivedColumn("estimate", Number, seconds, "The same as `requested_time`.", func(b []byte, j *Job) []byte { return AppendTime(b, j.Estimate) }),
		timeColumn("actual_runtime", "The same as `profile`.", func(j *Job) *des.Time { return &j.Runtime }),
		bitColumn("backfilled", "1 if an earlier job still waited when this job started.",
			func(j *Job) *bool { return &j.Backfilled }),
		intColumn("restarts", "Preemptions.", func(j *Job) *int { return &j.Restarts }).only(WithAttempts),
		timeColumn("lost", "Work of attempts that was not kept, on the scale of `actual_runtime`; all work of a job that was killed, or cancelled after a preemption.",
			func(j *Job) *des.Time { return &j.Lost }).only(WithAttempts),
		timeColumn("overhead", "Time for set-up, checkpoints, [launching and clearing away](../guides/machines.md#launching-a-job).",
			func(j *Job) *des.Time { return &j.Overhead }).only(WithAttempts),
		wordColumn("after", "Jobs that the job waited for, as in the column `after` of [job files](#job-files).",
			func(j *Job) *string { return &j.After }).only(WithAttempts),
		idColumn("group_id", "Number of the user's group.", func(j *Job) *int64 { return &j.Group }),
		idColumn("queue_id", "Number of the queue in the trace.", func(j *Job) *int64 { return &j.Queue }),
		bitColumn("booked", "1 if the job is an advance reservation.", func(j *Job) *bool { return &j.Booked }).only(WithBookings),
		numberColumn("budget", costUnits, "Most that the job would pay.", func(j *Job) *float64 { return &j.Budget }).only(WithPrices),
		moneyColumn("cost", "Agreed cost of the windows of all attempts; empty if the job never started.",
			func(j *Job) *float64 { return &j.Cost }).only(WithPrices),
		moneyColumn("paid", "Part of the cost that owners got, at the end of each attempt.", func(j *Job) *float64 { return &j.Paid }).only(WithPrices),
		moneyColumn("refund", "Cost - paid: the cost of stopped attempts, and with `pay_by_use` of unused time.",
			func(j *Job) *float64 { return &j.Refund }).only(WithPrices),
		timeColumn("prediction", "Prediction at submission. This and the next two are empty for advance reservations and rejected jobs.",
			func(j *Job) *des.Time { return &j.Prediction }).only(WithPredictions),
		idColumn("corrections", "How often the job outlived a prediction.", func(j *Job) *int { return &j.Corrections }).only(WithPredictions),
		timeColumn("predicted", "Last prediction or correction.", func(j *Job) *des.Time { return &j.Predicted }).only(WithPredictions),
	},
}

// putStretch appends turnaround / execution time. A job that ran for no time has the stretch 1 if
// it did not wait either; otherwise there is none.
func putStretch(b []byte, j *Job) []byte {
	switch turnaround := j.Turnaround(); {
	case turnaround == None || j.Execution == None || j.Execution == 0 && turnaround > 0:
		return b
	case j.Execution > 0:
		return AppendRatio(b, turnaround, j.Execution)
	}
	return append(b, '1')
}

// The keys of the column metadata, and the sign between them.
const (
	promisedKey       = "promised="
	expectedKey       = "expected=" // in place of promised= where jobs are planned by predictions
	reasonKey         = "reason="
	metadataSeparator = ";"
)

// putMetadata appends "promised=SECONDS;reason=TEXT", or the part of it that there is.
func putMetadata(b []byte, j *Job) []byte {
	key := promisedKey
	if j.Soft {
		key = expectedKey
	}
	if j.Reason == "" {
		if j.Promised != None {
			b = AppendTime(append(b, key...), j.Promised)
		}
		return b
	}
	text := reasonKey + j.Reason
	if j.Promised != None {
		text = string(AppendTime([]byte(key), j.Promised)) + metadataSeparator + text
	}
	return AppendName(b, text)
}

// metadata takes in what putMetadata writes. Batsim's own metadata is passed over.
func (j *Job) metadata(text string) (err error) {
	if text == "" {
		return nil
	}
	for _, key := range []string{promisedKey, expectedKey} {
		if rest, ok := strings.CutPrefix(text, key); ok {
			var at string
			at, text, _ = strings.Cut(rest, metadataSeparator)
			if j.Promised, err = parseTime(at); err != nil {
				return fmt.Errorf("%s: %w", strings.TrimSuffix(key, "="), err)
			}
			j.Soft = key == expectedKey
		}
	}
	if reason, ok := strings.CutPrefix(text, reasonKey); ok {
		j.Reason = reason
	}
	return nil
}
