package rows

// attempts-POLICY.csv: a row an attempt, and queue-POLICY.csv: the queue and the busy
// processors as time goes by.

import (
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Attempt is a row of attempts-POLICY.csv: an attempt that is over. Number counts the attempts of
// its job from 1.
type Attempt struct {
	Job           int64
	Number        int // from 1
	Start, Finish des.Time
	Processors    int
	// Allocated is as in Job.
	Allocated            string
	Kept, Lost, Overhead des.Time
	End                  entity.End
	// ProcessorTime is the time that all processors or nodes of the attempt took together, in
	// processor-seconds.
	ProcessorTime float64
}

// Attempts is attempts-POLICY.csv.
var Attempts = File[Attempt]{
	Name:    "attempts-POLICY.csv",
	when:    "if jobs-POLICY.csv has columns about attempts",
	text:    "A row for each attempt that is over, in the order of their ends.",
	Missing: Attempt{Start: None, Finish: None, Kept: None, Lost: None, Overhead: None, ProcessorTime: math.NaN()},
	Columns: []column[Attempt]{
		intColumn("job_id", "The job.", func(a *Attempt) *int64 { return &a.Job }).need(),
		intColumn("attempt", "Number of the attempt of the job, from 1.", func(a *Attempt) *int { return &a.Number }).need(),
		timeColumn("starting_time", "Start of the attempt.", func(a *Attempt) *des.Time { return &a.Start }).need(),
		timeColumn("finish_time", "End of the attempt.", func(a *Attempt) *des.Time { return &a.Finish }).need(),
		intColumn("processors", "Processors or nodes.", func(a *Attempt) *int { return &a.Processors }).need(),
		wordColumn("allocated_resources", "As in jobs-POLICY.csv.", func(a *Attempt) *string { return &a.Allocated }),
		timeColumn("kept", "Work of the attempt that is kept for good. On processors, and on nodes of performance 1, `kept` + `lost` + `overhead` is the attempt's time. Over the attempts of a job that finished and was not resized, `kept` adds up to its runtime.",
			func(a *Attempt) *des.Time { return &a.Kept }),
		timeColumn("lost", "Work of the attempt in vain.", func(a *Attempt) *des.Time { return &a.Lost }),
		timeColumn("overhead", "Time for set-up and checkpoints.", func(a *Attempt) *des.Time { return &a.Overhead }),
		{
			meaning: meaning{Name: "end", Text: "`requeued` (preempted), `resized` (the job continues at once in another shape), `finished`, `walltime` (cut off at its estimate; the work counts as kept) or `killed`."},
			Needed:  true,
			Put:     func(b []byte, a *Attempt) []byte { return append(b, a.End.String()...) },
			Take: func(a *Attempt, text string) (err error) {
				a.End, err = entity.ParseEnd(text)
				return err
			},
		},
		amountColumn("processor_time", processorSeconds, "Sum over the processors or nodes of the time that each was really taken.", func(a *Attempt) *float64 { return &a.ProcessorTime }),
	},
}

// Level is a row of queue-POLICY.csv. From Time until the Time of the next row, Jobs wait, which
// ask for Processors, and Busy processors or nodes are in use.
type Level struct {
	Time                   des.Time
	Jobs, Processors, Busy int
}

// Queue is queue-POLICY.csv.
var Queue = File[Level]{
	Name: "queue-POLICY.csv",
	text: "A row for each instant that changes a number.",
	Columns: []column[Level]{
		timeColumn("time", "The instant.", func(l *Level) *des.Time { return &l.Time }).need(),
		intColumn("queued_jobs", "Jobs that wait.", func(l *Level) *int { return &l.Jobs }).need(),
		intColumn("queued_processors", "Processors or nodes that the waiting jobs request.", func(l *Level) *int { return &l.Processors }).need(),
		intColumn("busy_processors", "Processors or nodes of jobs that run. A node is busy until its own task ends.", func(l *Level) *int { return &l.Busy }).need(),
	},
}
