package metrics

// jobs-POLICY.csv: a row a job, streamed in the order of submission while the
// run goes on.

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/csvtext"
	"github.com/gridslot/gridslot/internal/decimal"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/internal/belt"
)

// JobsHeader is the first line of jobs-POLICY.csv: the columns of Batsim's
// jobs.csv, then ours.
const JobsHeader = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata,user_id,bounded_slowdown,estimate,actual_runtime,backfilled"

// AttemptsColumns follow JobsHeader where JobsWriter.Attempts is set.
const AttemptsColumns = ",restarts,lost,overhead,after"

// GroupColumns follow those; then BookedColumn where JobsWriter.Booked is set, and
// MoneyColumns where JobsWriter.Bill is.
const (
	GroupColumns = ",group_id,queue_id"
	BookedColumn = ",booked"
	MoneyColumns = ",budget,cost,paid,refund"
)

// PredictionColumns come last, where runtimes are predicted.
const PredictionColumns = ",prediction,corrections,predicted"

// Allocation is what jobs-POLICY.csv says of a job's processors.
type Allocation uint8

const (
	AllocationAuto      Allocation = iota // intervals up to 4,096 processors, above that the count
	AllocationIntervals                   // which ones: "0-3 7"
	AllocationCount                       // how many
	AllocationNone                        // nothing
)

var allocations = enum.Of[Allocation]("allocation", "auto", "intervals", "count", "none")

func (a Allocation) String() string { return allocations.Name(a) }

// ParseAllocation reads what String writes.
func ParseAllocation(s string) (Allocation, error) { return allocations.Parse(s) }

// autoIntervals is the largest cluster whose processors AllocationAuto names.
const autoIntervals = 4096

// JobsWriter is an Observer that writes jobs-POLICY.csv. Close writes what is
// left; set the exported fields before the run.
//
// Rows come in the order of submission: the row of a job that has ended waits in
// memory (120 bytes, and 8 for each interval of its processors) until those
// submitted before it have come to their ends. Times are in time units. What there is
// none of is empty: the start of a job that was rejected, the user of one of whom that
// is not known. stretch is turnaround over execution time: of a job that ran for no
// time 1 if it did not wait either, and otherwise empty. metadata is
// promised=SECONDS for a job that was once told of a start ahead, the first
// such start (expected=SECONDS where that is soft, see entity.Run.Soft), and reason=TEXT, after a semicolon where both are there, for one
// that was rejected, or killed for another reason than its estimate.
// consumed_energy is in joules what Energy says of a job that has ended. A job
// that was still waiting or running when the run was stopped has its row too, as
// SUBMITTED or RUNNING.
//
// requested_time and estimate are what the job has asked for (Run.Asked). Where the
// metascheduler that the writer is given to has a Predictor, rows tell in more columns
// what was predicted of the runtime at submission, how often that was corrected, and
// what was said last. These are empty for advance reservations and for jobs that were
// rejected.
//
// On counted processors a row names the processors that the metascheduler's
// Placer has given to the job (Run.Place): the lowest that were free where
// nothing else is set. On named nodes it names the window's nodes.
type JobsWriter struct {
	// Processors is the size of the cluster. A metascheduler that the writer is
	// given to fills it in.
	Processors int
	// Allocation is what allocated_resources says.
	Allocation Allocation
	// Workload is what workload_name says; "w0", Batsim's own, where empty.
	Workload string
	// Energy, if set, is what a job that has ended took; see PowerMeter.Job.
	Energy func(*entity.Run) Energy
	// Attempts has rows tell of all attempts of a job, and of the jobs that it follows,
	// in more columns. restarts is how often it was preempted; lost and overhead are
	// times of the job, as in AttemptsWriter, of all attempts that are over, where of
	// a job that was killed or cancelled what attempts before have kept is lost, too;
	// after has the IDs of Job.After, "12" or, where that one must have finished well,
	// "12:ok", with "+30" behind it where so many time units must pass. A JobsFile has
	// these columns as well once a job was stopped or had overhead (Again).
	Attempts bool
	// Places, if set, are the processors of a job that has ended; otherwise the run
	// itself tells. It is asked once of each, when the row is written.
	Places func(*entity.Run) []procset.Range
	// Booked has rows tell whether the job is an advance reservation.
	Booked bool
	// Tau bounds slowdowns.
	Tau Tau
	// Beside, if set, runs what it is given on another goroutine, where rows become text and are
	// written. The bytes are the same. Rows that tell of energy, money or predictions become
	// text at once.
	Beside func(do func())
	// Bill, if set, is what a job that has ended has cost; see Bills.Job. It is asked
	// once of each that started, when the row is written. Rows then tell of the job's budget as well. What is not known is
	// empty: the budget of a job without a limit, the cost of one that never started.
	Bill func(*entity.Run) Bill

	text     text
	err      error
	workload []byte // escaped
	begun    bool
	belt     *belt.Belt[jobRows] // nil where rows become text at once
	batch    *jobRows            // of the belt, to be handed over
	falling  bool                // ids do not ascend
	lastID   int64

	now        des.Time
	ring       []jobRow // of a power of two; row seq is at seq modulo its length
	base, rows int64    // the row to write next; how many follow, itself included
	meta       *entity.Metascheduler
	energies   map[int64]Energy      // of rows that are complete, by their positions; never iterated
	bills      map[int64]rowBill     // of all rows, likewise
	again      bool                  // see Again
	amends     bool                  // columns about attempts may begin in the midst of the file
	columns    bool                  // rows have them by now
	plain      int64                 // so many rows lack the columns about attempts, though the file is to have them
	apart      map[int64][]byte      // what these columns would say in such rows, where it is not plain; never iterated
	predicted  map[int64]*entity.Run // of all rows, likewise; nil where nothing is predicted
}

// jobRow is what a row needs, kept from submission until it is written.
type jobRow struct {
	id                                                int64
	submit, estimate, runtime, start, finish, promise des.Time
	ran                                               des.Time // Run.Ran, of a job that has ended
	nodes                                             int
	user, group, queue                                int32
	state                                             rowState
	backfilled, booked, soft                          bool
	reason                                            string       // why it was rejected or killed
	run                                               *entity.Run  // from its start until its place is known for good
	attempts                                          *rowAttempts // nil: there is nothing to tell
	processors                                        []procset.Range
}

// rowBill is what a row tells of money.
type rowBill struct {
	budget float64 // 0: no limit
	Bill
	known bool
}

func (x rowBill) appendTo(b []byte) []byte {
	b = append(b, ',')
	if x.budget > 0 {
		b = strconv.AppendFloat(b, x.budget, 'f', -1, 64)
	}
	for _, m := range []flow.Money{x.Cost, x.Paid, x.Refund()} {
		b = append(b, ',')
		if x.known {
			b = append(b, m.String()...)
		}
	}
	return b
}

// rowAttempts are what a row tells of all attempts that are over.
type rowAttempts struct {
	restarts             int
	kept, lost, overhead des.Time
	after                []entity.Dependency
}

// add takes in one more.
func (a *rowAttempts) add(x *entity.Attempt) {
	a.kept += x.Kept
	a.lost += x.Work - x.Kept
	a.overhead += x.Overhead
}

// told takes in an event that bears on the attempts of a job.
func (a *rowAttempts) told(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobRequeued:
		a.restarts++
		a.add(latestOf(e.Run.Earlier()))
	case entity.JobResized:
		a.add(latestOf(e.Run.Earlier()))
	case entity.JobFinished, entity.JobKilled:
		x := e.Run.Latest()
		if e.Run.Reason == entity.ReasonEstimate {
			x.Kept = x.Work // it has had what it asked for
		}
		a.add(&x)
	}
	gone := e.Kind == entity.JobRejected || e.Kind == entity.JobKilled && e.Run.Reason != entity.ReasonEstimate
	if gone {
		a.lost, a.kept = a.lost+a.kept, 0
	}
}

// noAttempts is what a row says of a job that ran once and as a whole.
const noAttempts = ",0,0,0,"

func (a *rowAttempts) appendTo(b []byte) []byte {
	if a == nil {
		return append(b, noAttempts...)
	}
	b = append(decimal.AppendInt(append(b, ','), int64(a.restarts)), ',')
	b = append(appendTime(b, a.lost), ',')
	b = append(appendTime(b, a.overhead), ',')
	return appendDependencies(b, a.after)
}

// appendDependencies appends the jobs that another one waits for.
func appendDependencies(b []byte, after []entity.Dependency) []byte {
	for i, d := range after {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, d.String()...)
	}
	return b
}

type rowState uint8

const (
	rowWaiting  rowState = iota
	rowRunning           // when the run was stopped
	rowFinished          // this and after: the row is complete
	rowWalltime          // killed at its estimate
	rowKilled            // killed for another reason
	rowRejected
)

// rowStates are the names of final_state, which are Batsim's.
var rowStates = enum.Of[rowState]("state of a row",
	"SUBMITTED", "RUNNING", "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED")

// NewJobsWriter returns a writer of jobs-POLICY.csv to w.
func NewJobsWriter(w io.Writer) *JobsWriter { return &JobsWriter{text: text{out: w}} }

// Attach tells the writer whose jobs it is to write.
func (w *JobsWriter) Attach(m *entity.Metascheduler) {
	if w.Processors == 0 {
		w.Processors = m.Plan().Size()
	}
	w.meta = m
	if !entity.Named(m.Plan()) && w.allocation() == AllocationIntervals && m.Placer == nil {
		m.Placer = entity.LowestFirst{}
	}
}

// allocation is what allocated_resources says.
func (w *JobsWriter) allocation() Allocation { return w.Allocation.of(w.Processors) }

// of is what a means on so many processors.
func (a Allocation) of(processors int) Allocation {
	switch {
	case a != AllocationAuto:
		return a
	case processors > autoIntervals:
		return AllocationCount
	}
	return AllocationIntervals
}

// Again reports whether a job was stopped or resized, or had overhead, so that its row
// does not tell all of it without the columns about attempts. A writer that was not told
// to write these writes them from then on if it is that of a JobsFile, which gives them to
// the rows before in the end.
func (w *JobsWriter) Again() bool { return w.again }

// Ascending reports whether the rows written so far are in order of job id.
func (w *JobsWriter) Ascending() bool { return !w.falling }

func (w *JobsWriter) begin() {
	w.begun = true
	w.Allocation = w.allocation()
	name := w.Workload
	if name == "" {
		name = "w0"
	}
	w.workload = escapeCSV(name)
	w.ring = make([]jobRow, 64)
	if w.Energy != nil {
		w.energies = map[int64]Energy{}
	}
	b := append(make([]byte, 0, flushAt+4096), JobsHeader...)
	if w.Attempts {
		b = append(b, AttemptsColumns...)
	}
	w.columns = w.Attempts
	b = append(b, GroupColumns...)
	if w.Booked {
		b = append(b, BookedColumn...)
	}
	if w.Bill != nil {
		w.bills = map[int64]rowBill{}
		b = append(b, MoneyColumns...)
	}
	if w.meta != nil && w.meta.Predictor != nil {
		w.predicted = map[int64]*entity.Run{}
		b = append(b, PredictionColumns...)
	}
	w.text.buf = append(b, '\n')
	if w.Beside != nil && w.Energy == nil && w.Bill == nil && w.predicted == nil {
		w.belt = belt.New(w.Beside, w.writeRows)
		w.batch = w.belt.Empty()
	}
}

// escapeCSV is s as a harmless CSV field on one line.
func escapeCSV(s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') }) {
		return []byte(s) // most are: of rows with an owner and a site a Writer would be a fifth of a run
	}
	var b strings.Builder
	c := csv.NewWriter(&b)
	_ = c.Write([]string{csvtext.Of(s)}) // a Builder does not fail
	c.Flush()
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// Observe takes one event in.
func (w *JobsWriter) Observe(e entity.JobEvent) {
	if w.err != nil {
		return
	}
	if !w.begun {
		w.begin()
	}
	w.now = e.Time
	j := e.Run
	seq := j.Seq()
	if e.Kind == entity.JobSubmitted {
		w.submit(j)
		return
	}
	if seq < w.base || seq >= w.base+w.rows {
		w.fail(fmt.Errorf("at %v %v was %v while it was not there", e.Time, j, e.Kind))
		return
	}
	r := w.row(seq)
	if r.attempts != nil || !j.Once() || e.Kind == entity.JobKilled { // otherwise there is nothing to tell
		w.told(e, r)
	}
	switch e.Kind {
	case entity.JobPromised:
		r.promise, r.soft = j.Promised, j.Soft()
	case entity.JobStarted:
		w.start(j, r)
	case entity.JobResized:
		r.molded(j)
	case entity.JobRequeued:
		r.state, r.start, r.run = rowWaiting, -1, nil // its row tells of its last run only
		r.molded(j)
	case entity.JobFinished:
		w.end(j, r, rowFinished)
	case entity.JobKilled:
		if j.Reason == entity.ReasonEstimate || j.Reason == "" && w.now-j.Start >= j.Reservation.Window.Length() {
			w.end(j, r, rowWalltime)
		} else {
			w.end(j, r, rowKilled)
			r.reason = j.Reason
		}
	case entity.JobRejected:
		r.state, r.reason = rowRejected, j.Reason
		if w.late() && len(j.Earlier()) > 0 {
			r.run = j
		}
	}
	if w.Energy != nil && r.state >= rowFinished {
		w.energies[seq] = w.Energy(j)
	}
}

// told has the row r take in what e tells of attempts.
func (w *JobsWriter) told(e entity.JobEvent, r *jobRow) {
	more := false
	switch e.Kind {
	case entity.JobRequeued, entity.JobResized:
		more = true
	case entity.JobFinished, entity.JobKilled:
		more = e.Run.Parts() == nil && e.Run.Ran() != e.Run.Finish-e.Run.Start
	}
	if more && !w.again {
		w.again = true
		w.tell()
	}
	if r.attempts == nil && (more || e.Kind == entity.JobKilled && e.Run.Reason != entity.ReasonEstimate) { // of all others there is nothing to tell
		r.attempts = &rowAttempts{}
	}
	if r.attempts != nil {
		r.attempts.told(e)
	}
}

// tell has rows from now on have the columns about attempts, where the file can still get
// them for the rows before.
func (w *JobsWriter) tell() {
	if w.amends && !w.columns {
		if w.belt != nil {
			w.handOver() // these rows have become complete before
		}
		w.columns, w.plain = true, w.base
	}
}

func (w *JobsWriter) fail(err error) {
	if w.err == nil {
		w.err = fmt.Errorf("jobs CSV: %w", err)
	}
}

func (w *JobsWriter) row(seq int64) *jobRow { return &w.ring[seq&int64(len(w.ring)-1)] }

func (w *JobsWriter) submit(j *entity.Run) {
	if want := w.base + w.rows; j.Seq() != want {
		w.fail(fmt.Errorf("%v is number %d in the order of submission, not %d: a JobsWriter serves one metascheduler", j, j.Seq(), want))
		return
	}
	if w.rows == int64(len(w.ring)) {
		old := w.ring
		w.ring = make([]jobRow, 2*len(old))
		for seq := w.base; seq < w.base+w.rows; seq++ {
			*w.row(seq) = old[seq&int64(len(old)-1)]
		}
	}
	w.rows++
	r := w.row(j.Seq())
	*r = jobRow{
		id: j.ID, submit: j.Submit, estimate: j.Asked(), runtime: j.Runtime,
		start: -1, finish: -1, promise: entity.NeverPromised,
		nodes: j.Request.Nodes, user: j.User, group: j.Group, queue: j.Queue, booked: j.Booked, processors: r.processors[:0],
	}
	if w.Bill != nil {
		w.bills[j.Seq()] = rowBill{budget: j.Request.Budget}
	}
	if w.predicted != nil {
		w.predicted[j.Seq()] = j
	}
	if w.Attempts {
		r.attempts = &rowAttempts{after: j.After}
	}
}

func (w *JobsWriter) start(j *entity.Run, r *jobRow) {
	r.state = rowRunning
	r.start = w.now
	r.backfilled = j.Backfilled
	r.run = j
	r.molded(j)
}

// late reports whether a row asks others about its job, who may hear of its end after
// the writer, at the same instant.
func (w *JobsWriter) late() bool { return w.Bill != nil || w.Places != nil }

// molded has the row tell of the shape that a moldable job has now.
func (r *jobRow) molded(j *entity.Run) {
	r.nodes, r.runtime, r.estimate = j.Request.Nodes, j.Runtime, j.Asked()
}

func (w *JobsWriter) end(j *entity.Run, r *jobRow, state rowState) {
	r.state, r.finish, r.ran = state, w.now, j.Ran()
	if j.Start < w.now && !w.late() { // otherwise its place is known when the instant is over
		w.locate(r)
		r.run = nil
	}
}

// InstantOver writes the rows that are complete, as far as no job submitted
// earlier is still to come to its end.
func (w *JobsWriter) InstantOver(des.Time) {
	for w.rows > 0 && w.row(w.base).state >= rowFinished {
		w.write()
	}
}

// locate has the row tell where its job runs or ran.
func (w *JobsWriter) locate(r *jobRow) {
	if w.Allocation != AllocationIntervals {
		return
	}
	if w.Places != nil {
		r.processors = append(r.processors[:0], w.Places(r.run)...)
		return
	}
	r.processors = placeOf(r.processors[:0], r.run.Place, &r.run.Reservation.Window)
}

// placeOf appends the processors of a place, or the nodes of a window.
func placeOf(ranges, place []procset.Range, w *entity.Window) []procset.Range {
	ranges = append(ranges, place...)
	for _, t := range w.Tasks {
		ranges = append(ranges, procset.Range{First: int32(t.Node.ID), Last: int32(t.Node.ID)})
	}
	if w.Tasks != nil {
		ranges = procset.Join(ranges)
	}
	return ranges
}

// jobRows are rows that follow one another, on their way to become text.
type jobRows struct {
	first   int64 // the position of the first
	columns bool  // they have the columns about attempts
	rows    []jobRow
	ranges  []procset.Range // the processors of all rows
}

// batchRows is how many rows are handed over at a time.
const batchRows = 1024

// carry puts the row r, which is complete, on the belt.
func (w *JobsWriter) carry(r *jobRow) {
	b := w.batch
	b.rows = append(b.rows, *r)
	b.ranges = append(b.ranges, r.processors...)
	if len(b.rows) == batchRows {
		w.handOver()
	}
}

// handOver sends the rows that wait.
func (w *JobsWriter) handOver() {
	w.batch.first, w.batch.columns = w.base-int64(len(w.batch.rows)), w.columns
	w.belt.Send(w.batch)
	w.batch = w.belt.Empty()
}

// writeRows writes rows as they come from the belt.
func (w *JobsWriter) writeRows(b *jobRows) {
	ranges := b.ranges
	for i := range b.rows {
		r := &b.rows[i]
		n := len(r.processors) // those of the writer are another row's by now
		r.processors, ranges = ranges[:n:n], ranges[n:]
		w.text.put(w.appendRow(w.text.buf, r, b.first+int64(i), b.columns))
	}
	clear(b.rows)
	b.rows, b.ranges = b.rows[:0], b.ranges[:0]
}

// write writes the row at the base and moves on.
func (w *JobsWriter) write() {
	r := w.row(w.base)
	if w.base > 0 && r.id <= w.lastID {
		w.falling = true
	}
	w.lastID = r.id
	w.base++
	w.rows--
	if r.run != nil {
		w.locate(r)
		if w.Bill != nil && r.state >= rowFinished {
			x := w.bills[w.base-1]
			x.Bill, x.known = w.Bill(r.run), true
			w.bills[w.base-1] = x
		}
	}
	r.run = nil
	if w.belt != nil {
		w.carry(r)
	} else {
		w.text.put(w.appendRow(w.text.buf, r, w.base-1, w.columns))
	}
}

// Close writes the rows that are left, those of jobs still waiting or running
// included, and returns the first error met. The underlying writer stays open.
func (w *JobsWriter) Close() error {
	if !w.begun {
		w.begin()
	}
	if w.meta != nil {
		w.meta.Settle()
	}
	for w.rows > 0 {
		w.write()
	}
	w.stop()
	if err := w.text.flush(); err != nil {
		w.fail(err)
	}
	return w.err
}

// stop has all rows that were handed over be written, and lets go of the goroutine.
func (w *JobsWriter) stop() {
	if w.belt == nil {
		return
	}
	if len(w.batch.rows) > 0 {
		w.handOver()
	}
	w.belt.Close()
	w.belt = nil
}

// appendKnown appends t, whose text is known where it is another time again.
func appendKnown(b []byte, t, known des.Time, text []byte) []byte {
	if t == known {
		return append(b, text...)
	}
	return appendTime(b, t)
}

// appendRow appends the row at that position, with the columns about attempts or without.
func (w *JobsWriter) appendRow(b []byte, r *jobRow, position int64, columns bool) []byte {
	began := r.start >= 0
	done := began && r.finish >= 0
	run, turnaround := r.ran, r.finish-r.submit // of a job that is done
	success := byte('0')
	if r.state == rowFinished {
		success = '1'
	}

	b = decimal.AppendInt(b, r.id)
	b = append(b, ',')
	b = append(b, w.workload...)
	b = append(b, ',')
	at := len(b)
	b = appendTime(b, r.runtime) // profile: Batsim's converters name a delay by its length
	runtime := b[at:]            // many a number comes twice, and a copy of its text is cheaper than the digits
	b = append(b, ',')
	at = len(b)
	b = appendTime(b, r.submit)
	submit := b[at:]
	b = append(b, ',')
	b = decimal.AppendInt(b, int64(r.nodes))
	b = append(b, ',')
	at = len(b)
	b = appendTime(b, r.estimate)
	estimate := b[at:]
	b = append(b, ',', success, ',')
	b = append(b, rowStates.Name(r.state)...)
	b = append(b, ',')
	if began {
		b = appendKnown(b, r.start, r.submit, submit)
	}
	b = append(b, ',')
	at = len(b)
	if done {
		b = appendKnown(b, run, r.runtime, runtime)
	}
	execution := b[at:]
	b = append(b, ',')
	if done {
		b = appendTime(b, r.finish)
	}
	b = append(b, ',')
	if began {
		b = appendTime(b, r.start-r.submit)
	}
	b = append(b, ',')
	if done {
		b = appendKnown(b, turnaround, run, execution)
	}
	b = append(b, ',')
	switch {
	case !done, run == 0 && turnaround > 0: // there is none
	case run > 0:
		b = appendRatio(b, turnaround, run)
	default:
		b = append(b, '1')
	}
	b = append(b, ',')
	if began {
		switch {
		case w.Allocation == AllocationCount:
			b = decimal.AppendInt(b, int64(r.nodes))
		case w.Allocation == AllocationIntervals:
			b = procset.Append(b, r.processors)
		}
	}
	b = append(w.appendEnergy(append(b, ','), position), ',')
	b = appendMetadata(b, r)
	b = append(b, ',')
	b = appendNumber(b, r.user)
	b = append(b, ',')
	switch {
	case !done:
	case turnaround <= w.Tau.atLeast(run):
		b = append(b, '1')
	default:
		b = appendRatio(b, turnaround, w.Tau.atLeast(run))
	}
	b = append(b, ',')
	b = append(b, estimate...)
	b = append(b, ',')
	b = append(b, runtime...)
	b = appendBit(append(b, ','), r.backfilled)
	switch {
	case columns:
		b = r.attempts.appendTo(b)
	case w.amends && r.attempts != nil:
		if w.apart == nil {
			w.apart = map[int64][]byte{}
		}
		w.apart[position] = r.attempts.appendTo(nil)
	}
	b = appendNumber(append(b, ','), r.group)
	b = appendNumber(append(b, ','), r.queue)
	if w.Booked {
		b = appendBit(append(b, ','), r.booked)
	}
	if w.Bill != nil {
		b = w.bills[position].appendTo(b)
		delete(w.bills, position)
	}
	if w.predicted != nil {
		b = w.appendPrediction(b, r, position)
	}
	return append(b, '\n')
}

// appendPrediction appends what was predicted of the row at that position.
func (w *JobsWriter) appendPrediction(b []byte, r *jobRow, position int64) []byte {
	j := w.predicted[position]
	delete(w.predicted, position)
	if r.booked || r.state == rowRejected {
		return append(b, ",,,"...)
	}
	b = appendTime(append(b, ','), j.FirstPrediction())
	b = decimal.AppendInt(append(b, ','), int64(j.Corrections()))
	return appendTime(append(b, ','), j.Prediction())
}

func appendBit(b []byte, set bool) []byte {
	if set {
		return append(b, '1')
	}
	return append(b, '0')
}

// appendEnergy appends what the job of the row at that position took, if that is known.
func (w *JobsWriter) appendEnergy(b []byte, position int64) []byte {
	if w.Energy != nil {
		if e, known := w.energies[position]; known {
			delete(w.energies, position)
			return e.Append(b)
		}
	}
	return b
}

// promisedKey begins the metadata of a job that was promised a start, reasonKey
// says why a job was turned away; metadataSeparator stands between them.
const (
	promisedKey       = "promised="
	expectedKey       = "expected=" // likewise, where jobs are planned by predictions
	reasonKey         = "reason="
	metadataSeparator = ";"
)

func appendMetadata(b []byte, r *jobRow) []byte {
	promised, key := r.promise != entity.NeverPromised, promisedKey
	if r.soft {
		key = expectedKey
	}
	if r.reason == "" {
		if promised {
			b = appendTime(append(b, key...), r.promise)
		}
		return b
	}
	text := reasonKey + r.reason
	if promised {
		text = string(appendTime([]byte(key), r.promise)) + metadataSeparator + text
	}
	return append(b, escapeCSV(text)...)
}

// appendRatio appends a/b to six decimals, without needless ones. It is exact
// to the last digit on every architecture, and several times as fast as a
// conversion of a float.
func appendRatio(b []byte, num, den des.Time) []byte {
	if num == den { // most jobs need not wait
		return append(b, '1')
	}
	hi, lo := bits.Mul64(uint64(num), uint64(des.Second))
	lo, carry := bits.Add64(lo, uint64(den)/2, 0)
	hi += carry
	if hi >= uint64(den) {
		return strconv.AppendFloat(b, float64(num)/float64(den), 'f', 6, 64)
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	if q > uint64(des.Forever) {
		return strconv.AppendFloat(b, float64(num)/float64(den), 'f', 6, 64)
	}
	return appendTime(b, des.Time(q))
}
