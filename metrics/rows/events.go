package rows

// events-POLICY.csv: all that happened to jobs; decisions-POLICY.csv: what held the jobs that
// waited; and log-POLICY.txt: why a negotiation on a grid went as it did.

import (
	"fmt"
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Event is a row of events-POLICY.csv. Fields that the event does not tell are None, -1 or "",
// and numbers that count from 1 are 0.
type Event struct {
	Time des.Time
	// Event is a word of entity.JobEventKind, or TaskEnded.
	Event       string
	Job, Number int64
	// Attempt counts from 1; 0 if the event is about none.
	Attempt              int
	Processors           int
	Estimate, Runtime    des.Time
	Start, ReservedEnd   des.Time
	Kept, Lost, Overhead des.Time
	ProcessorTime        float64
	Ran                  des.Time
	Submission           des.Time
	User, Group, Queue   int64
	// Booked, Backfilled and Head are 0 or 1; -1 if the event does not tell.
	Booked                 int
	Backfilled, Head       int
	After, Cause, Resource string
}

// TaskEnded is the word of the end of a task, which is no entity.JobEventKind.
const TaskEnded = "task_ended"

// Events is events-POLICY.csv.
var Events = File[Event]{
	Name: "events-POLICY.csv",
	when: "with `--events`",
	text: "A row for each event, in their order.",
	Missing: Event{
		Time: None, Job: -1, Number: -1, Estimate: None, Runtime: None, Start: None, ReservedEnd: None, Kept: None, Lost: None,
		Overhead: None, ProcessorTime: math.NaN(), Ran: None, Submission: None, User: -1, Group: -1, Queue: -1, Booked: -1,
		Backfilled: -1, Head: -1,
	},
	notes: "jobs-, attempts- and queue-POLICY.csv follow from the events, except energy and money. On a grid events-POLICY.csv is about whole jobs, events-POLICY-SITE.csv about a site.",
	Columns: []column[Event]{
		timeColumn("time", "Instant of the event.", func(e *Event) *des.Time { return &e.Time }).need(),
		wordColumn("event", "`submitted`, `rejected`, `promised` (a start ahead), `withdrawn` (that start is void), `started`, `task_ended` (on named nodes), `finished`, `killed`, `requeued` (preempted), `resized` or `corrected` (the window was extended, mostly after a wrong prediction).",
			func(e *Event) *string { return &e.Event }).need(),
		intColumn("job_id", "The job.", func(e *Event) *int64 { return &e.Job }).need(),
		intColumn("number", "Position in the order of submission, from 0.", func(e *Event) *int64 { return &e.Number }),
		countColumn("attempt", "Number of the attempt that began or ended, from 1.", func(e *Event) *int { return &e.Attempt }),
		countColumn("processors", "Processors or nodes that the job now requests.", func(e *Event) *int { return &e.Processors }),
		timeColumn("estimate", "Requested time of the job in its new shape.", func(e *Event) *des.Time { return &e.Estimate }),
		timeColumn("runtime", "Runtime of the job in that shape, `kept` included.", func(e *Event) *des.Time { return &e.Runtime }),
		timeColumn("start", "Start that was promised, or start of the attempt that ended.", func(e *Event) *des.Time { return &e.Start }),
		timeColumn("reserved_end", "New end of the job's reservation.", func(e *Event) *des.Time { return &e.ReservedEnd }),
		timeColumn("kept", "Kept work of the attempt that ended.", func(e *Event) *des.Time { return &e.Kept }),
		timeColumn("lost", "Lost work of that attempt.", func(e *Event) *des.Time { return &e.Lost }),
		timeColumn("overhead", "Set-up and checkpoints of that attempt.", func(e *Event) *des.Time { return &e.Overhead }),
		numberColumn("processor_time", processorSeconds, "As in attempts-POLICY.csv.", func(e *Event) *float64 { return &e.ProcessorTime }),
		timeColumn("ran", "Longest piece of a job in pieces, without lost work and overhead.", func(e *Event) *des.Time { return &e.Ran }),
		timeColumn("submission_time", "Submission, of a job that comes.", func(e *Event) *des.Time { return &e.Submission }),
		idColumn("user_id", "Its user.", func(e *Event) *int64 { return &e.User }),
		idColumn("group_id", "Its group.", func(e *Event) *int64 { return &e.Group }),
		idColumn("queue_id", "Its queue.", func(e *Event) *int64 { return &e.Queue }),
		knownBitColumn("booked", "1 if it is an advance reservation.", func(e *Event) *int { return &e.Booked }),
		knownBitColumn("backfilled", "1 if a job that starts overtakes an earlier one.", func(e *Event) *int { return &e.Backfilled }),
		knownBitColumn("head", "1 if the promise is the hold for the head of the queue.", func(e *Event) *int { return &e.Head }),
		wordColumn("after", "Jobs that it waits for.", func(e *Event) *string { return &e.After }),
		nameColumn("cause", "Of a start or promise, the causes of the round (`arrival`, `end`, `overrun`, `cycle`, `change`, `wake`, joined by `+`), or `reservation` if a reserved start has come. Of a rejection or kill, the reason.",
			func(e *Event) *string { return &e.Cause }),
		wordColumn("allocated_resources", "Processors or nodes of an attempt that began or ended, or the node of a task.", func(e *Event) *string { return &e.Resource }),
	},
}

// Decision is a row of decisions-POLICY.csv: what held a waiting job from From to To.
type Decision struct {
	Job int64
	// What is the obstacle, in the words of entity.Obstacle, or an event: DecisionRejected,
	// DecisionWithdrawn or DecisionPreempted.
	What     string
	From, To des.Time
	// Times is the number of times that the policy named the obstacle.
	Times int
	// Other is the job that stood in the way, -1 if there is none.
	Other int64
	// Start is the first planned start that was told, LastStart the last. They are None if no start
	// was told, and des.Forever if none was planned.
	Start, LastStart des.Time
	// Delay is the time by which the other job would have been delayed, None if it does not apply.
	Delay des.Time
	// Short is the amount by which a budget or a limit was too low, NaN if it does not apply.
	Short float64
	Text  string
	// Blocker is a word of entity.BlockerKind, or "": what stood in the way of the job until its
	// own earliest start, over the span from BlockerFrom to BlockerTo (None if Blocker is "").
	// BlockerJob is the job, or -1.
	Blocker                string
	BlockerJob             int64
	BlockerFrom, BlockerTo des.Time
}

// What happened to a waiting job, beside the obstacles of package entity.
const (
	DecisionRejected  = "rejected"
	DecisionWithdrawn = "withdrawn" // lost the reservation that it had ahead
	DecisionPreempted = "preempted" // was stopped while it ran, and waits again
)

// Decisions is decisions-POLICY.csv.
var Decisions = File[Decision]{
	Name:    "decisions-POLICY.csv",
	when:    "with `--decisions`",
	text:    "A row for each obstacle of a waiting job, in the order of their ends.",
	Missing: Decision{From: None, To: None, Other: -1, Start: None, LastStart: None, Delay: None, Short: math.NaN(), BlockerJob: -1, BlockerFrom: None, BlockerTo: None},
	Columns: []column[Decision]{
		intColumn("job_id", "The job.", func(d *Decision) *int64 { return &d.Job }).need(),
		wordColumn("what", "The obstacle: `behind`, `processors`, `room`, `delay`, `reserved`, `no-window`, `over-budget`, `time-limit`, `budget-limit`, `cycle`, `other` ([guide](../guides/results.md#why-a-job-started-when-it-did)); or an event: `rejected`, `withdrawn`, `preempted`.",
			func(d *Decision) *string { return &d.What }).need(),
		timeColumn("from", "When the policy named the obstacle. Only the last of an instant is written.", func(d *Decision) *des.Time { return &d.From }).need(),
		timeColumn("to", "When the policy named another obstacle, the job started or was rejected, or the run ended.", func(d *Decision) *des.Time { return &d.To }).need(),
		intColumn("times", "How often the policy named the obstacle, with other starts.", func(d *Decision) *int { return &d.Times }),
		idColumn("other_job", "Job that stood in the way.", func(d *Decision) *int64 { return &d.Other }),
		endColumn("start", "First planned start of the job (with `room` and `delay`, of the other job); `forever` if none is planned.", func(d *Decision) *des.Time { return &d.Start }).as(Text, ""),
		endColumn("last_start", "Last planned start.", func(d *Decision) *des.Time { return &d.LastStart }).as(Text, ""),
		endColumn("delay", "With `delay`, how much later the other job would have started; `forever` if never.", func(d *Decision) *des.Time { return &d.Delay }).as(Text, ""),
		briefColumn("short", "With `over-budget`, `time-limit`, `budget-limit`: how much the limit was too low, in money or seconds.", func(d *Decision) *float64 { return &d.Short }),
		nameColumn("text", "The policy's own words, or why the job was rejected.", func(d *Decision) *string { return &d.Text }),
		wordColumn("blocker", "What had the nodes or processors until the earliest start of the job, as last named: `job` (that ran), `plan` (reservation or hold of a waiting job), `booking`, `tentative` (a window kept for a grid), `outage`, `owner` (an owner's own job), `cap` (idle under a power cap), `off` (off, or booting), `withheld`.", func(d *Decision) *string { return &d.Blocker }),
		idColumn("blocker_job", "That job.", func(d *Decision) *int64 { return &d.BlockerJob }),
		timeColumn("blocker_from", "Planned beginning.", func(d *Decision) *des.Time { return &d.BlockerFrom }),
		endColumn("blocker_to", "Planned end, or `forever`.", func(d *Decision) *des.Time { return &d.BlockerTo }).as(Text, ""),
	},
}

// slurmEvents is slurm-events.csv, whose rows package slurm writes.
var slurmEvents = schema{
	Name:  "slurm-events.csv",
	when:  "with [`--slurm`](slurm.md)",
	text:  "A row for each event of jobs and operators, in their order, with the columns and words of recordings of real controllers. Times are whole seconds since the controller began, rounded down.",
	notes: "If jobs.csv has no column `key`, the recording is plain: the file has the columns from `name` to `nodes` without `key`, for starts and ends only.",
	Columns: []meaning{
		{Name: "name", Text: "Name of the job in all files.", When: "if the recording is plain"},
		{Name: "key", Text: "Name of the job, or of the reservation, in all files."},
		{Name: "job", Type: integer, Text: "Number of the job in Slurm, 0 if it was refused."},
		{Name: "event", Text: "`submit`, `start`, `end` (by itself), `stop` (by Slurm; with `kill_invalid_depend` also of a job that waits), `left` (still waits or runs at the end); `resv`, a new reservation; an operator's order: `cancel`, `hold`, `release`, `nice`, `limit` of a job, `down`, `drain`, `up` of nodes; `refused`, about the order in the row above."},
		{Name: "time", Type: integer, Unit: seconds, Text: "Second of the event."},
		{Name: "priority", Type: integer, Text: "Priority of a job that starts or is left."},
		{Name: "cpus", Type: integer, Text: "CPUs of a job that starts."},
		{Name: "nodes", Text: "Nodes of a job that starts, or of an order: `n[1-3,7]`."},
		{Name: "partition", Text: "Partition in which the job starts."},
		{Name: "qos", Text: "Quality of service of the job."},
		{Name: "by", Text: "Loop that starts the job: `main` or `backfill`."},
		{Name: "cores", Text: "Cores and CPUs on each node, `n1:0-3+6/5`, with `/8000` behind them if memory is consumed (MB)."},
		{Name: "detail", Text: "Of a start, the resources by Slurm's numbers (`1` CPUs, `2` memory in MB, `3` energy, `4` nodes, `5` billing, from `1001` on the devices of AccountingStorageTRES). Of an end `COMPLETED` or `FAILED`; of an order the state of the job before it; otherwise why the job was refused, stopped (`TIMEOUT`, `CANCELLED`, `NODE_FAIL`, `PREEMPTED`) or left."},
	},
}

// Message is a line of log-STRATEGY.txt, which says why a negotiation on a grid went as it did
// (entity/grid, Note).
type Message struct {
	Time des.Time
	// Who has written it: an agent, a broker or the regulator.
	Who  string
	Job  int64
	Text string
}

// ReadMessages reads log-STRATEGY.txt from its text, and passes over empty lines; path is for
// messages.
func ReadMessages(path, text string) ([]Message, error) {
	all := make([]Message, 0, strings.Count(text, "\n")+1)
	for s := (scanner{path: path, text: strings.TrimPrefix(text, "\ufeff")}); s.next(); {
		var line string
		line, s.text, _ = strings.Cut(s.text, "\n")
		m, err := parseMessage(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, s.line, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// parseMessage reads "TIME WHO job NUMBER: TEXT", which grid.Note.String writes. Names of sites
// may have blanks in them, but no colons: the last " job " before the first colon is the sign.
func parseMessage(line string) (m Message, err error) {
	const sign = " job "
	before, after, _ := strings.Cut(line, " ")
	if m.Time, err = parseTime(before); err != nil {
		return m, err
	}
	head, text, found := strings.Cut(after, ": ")
	at := strings.LastIndex(head, sign)
	if !found || at < 1 || m.Time == None {
		return m, fmt.Errorf("want TIME WHO job NUMBER: TEXT, not %.200q", line)
	}
	job, ok := parseWhole(head[at+len(sign):])
	if !ok {
		return m, fmt.Errorf("want the number of a job, not %.200q", head[at+len(sign):])
	}
	m.Who, m.Job, m.Text = head[:at], job, text
	return m, nil
}
