package metrics

// jobs-POLICY.csv: a row a job, streamed in the order of submission while the
// run goes on.

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/decimal"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Allocation selects what jobs-POLICY.csv says about a job's processors. The zero value is
// AllocationAuto.
type Allocation uint8

const (
	AllocationAuto      Allocation = iota // intervals up to 4,096 processors, above that the count
	AllocationIntervals                   // which ones: "0-3 7"
	AllocationCount                       // how many
	AllocationNone                        // nothing
)

var allocations = enum.Of[Allocation]("allocation", "auto", "intervals", "count", "none")

func (a Allocation) String() string { return allocations.Name(a) }

// ParseAllocation is the inverse of Allocation.String. The error names the four words.
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
// requested_time and estimate are the whole estimate of the job (Run.Asked). If the metascheduler
// to which the writer is attached has a Predictor, rows have more columns: the runtime that was
// predicted at submission, the number of corrections, and the latest prediction. These are empty
// for advance reservations and for rejected jobs.
//
// On counted processors a row names the processors that the metascheduler's
// Placer has given to the job (Run.Place): the lowest that were free where
// nothing else is set. On named nodes it names the window's nodes.
type JobsWriter struct {
	// Processors is the size of the cluster. A metascheduler to which the writer is attached fills
	// it in.
	Processors int
	// Allocation is the content of the column allocated_resources.
	Allocation Allocation
	// Workload is the content of the column workload_name; "" means "w0", as Batsim writes it.
	Workload string
	// Energy, if set, returns the energy that a job took which has ended; see PowerMeter.Job.
	Energy func(*entity.Run) Energy
	// Attempts makes rows tell of all attempts of a job, and of the jobs that it follows, in more
	// columns. restarts is the number of times that the job was preempted. lost and overhead are
	// sums of the times in AttemptsWriter over all attempts that have ended; if the job was killed
	// or cancelled, lost includes the work that earlier attempts had kept. after lists the jobs of
	// Job.After: "12", or "12:ok" if job 12 must have finished well, followed by "+30" if 30 time
	// units must pass in between. A JobsFile adds these columns by itself as soon as a job was
	// stopped or had overhead (Again).
	Attempts bool
	// Places, if set, returns the processors of a job that has ended; otherwise the run itself
	// tells. It is called once for each job, when the row is written.
	Places func(*entity.Run) []procset.Range
	// Booked makes rows tell whether the job is an advance reservation.
	Booked bool
	// Predicted says that the jobs have no metascheduler and are predicted.
	Predicted bool
	// Tau bounds slowdowns; 0 means 10 s.
	Tau Tau
	// Beside, if set, must run a function on another goroutine. There the writer makes rows into
	// text and writes them. The bytes are the same as without it.
	Beside func(do func())
	// Bill, if set, returns the cost of a job that has ended; see Bills.Job. It is called once for
	// each job that started, when the row is written. Rows then have the budget of the job as well.
	// The budget of a job without a limit and the cost of a job that never started are empty.
	Bill func(*entity.Run) Bill

	out  io.Writer
	text *rows.Writer[rows.Job]
	// err is the first error; nothing is taken in after it.
	err error
	// begun tells that the exported fields have been looked at.
	begun bool
	// belt makes rows into text, many at a time. It is nil if rows become text at once: rows with
	// energy, money or predictions, whose values may change later.
	belt *belt[jobRow]
	// written is the number of rows that have become text.
	written int64
	// falling tells that ids did not ascend; lastID is the id of the row written last.
	falling bool
	lastID  int64

	// bare and full are the file without the columns about attempts and with them; ofAttempts has
	// these columns alone, and behind is the number of columns behind them.
	bare, full rows.File[rows.Job]
	ofAttempts rows.File[rows.Job]
	behind     int
	// shown tells that text writes full rows.
	shown bool
	// line is the row being written, made from the jobRow of.
	line rows.Job
	of   *jobRow

	now des.Time
	// ring has the rows that are not written: the row seq is at seq modulo its length, a power of
	// two. base is the row to write next, and rows the number of rows from it on. Invariant: rows
	// <= len(ring).
	ring       []jobRow
	base, rows int64
	meta       *entity.Metascheduler
	// predicts tells that rows tell of predictions.
	predicts bool
	// again is the answer of Again.
	again bool
	// amends tells that columns about attempts may begin in the midst of the file, because a
	// JobsFile gives them to the rows before.
	amends bool
	// columns tells that rows have them by now; plain is then the number of rows that lack them.
	columns bool
	plain   int64
	// apart has what these columns would say in rows that lack them, by position, if it is not
	// that there is nothing to tell; never iterated.
	apart map[int64][]byte
}

// jobRow holds the values of a row from the job's submission until the row is written. An instant
// below 0 lies ahead or never comes.
type jobRow struct {
	id                                                int64
	submit, estimate, runtime, start, finish, promise des.Time
	nodes                                             int
	user, group, queue                                int32
	state                                             rows.State
	backfilled, booked, soft                          bool
	// full tells that the row has the columns about attempts.
	full bool
	// run is set from the start until the place is known for good: the instant of the start must
	// be over.
	run *entity.Run
	// processors may be shared with the run, and are not changed.
	processors []procset.Range
	rare       *rowRare // nil if there is nothing to tell
}

// rowRare holds what few rows tell. It is kept apart so that the other rows stay small: thousands
// of them may wait for a job that runs long.
type rowRare struct {
	// ran is Run.Ran of a job that has ended; -1 if that is finish - start.
	ran des.Time
	// reason is why the job was rejected or killed.
	reason string
	// attempts is nil if there is nothing to tell, more is nil in a file that tells no more of any
	// job.
	attempts *rowAttempts
	more     *rowMore
}

// withRare returns r.rare, which is there from now on.
func (r *jobRow) withRare() *rowRare {
	if r.rare == nil {
		r.rare = &rowRare{ran: -1}
	}
	return r.rare
}

// attempts returns what the row tells of attempts, or nil.
func (r *jobRow) attempts() *rowAttempts {
	if r.rare == nil {
		return nil
	}
	return r.rare.attempts
}

// rowMore holds a row's values about energy, money and predictions. drew tells that energy is
// known, and billed that bill is known; a budget of 0 means no limit.
type rowMore struct {
	energy Energy
	drew   bool
	budget float64
	bill   Bill
	billed bool
	run    *entity.Run // whose predictions are told
}

// rowAttempts holds a row's sums over all attempts that have ended; kept is the work that would be
// lost if the job were killed.
type rowAttempts struct {
	restarts             int
	kept, lost, overhead des.Time
	after                []entity.Dependency
}

// told takes in an event that bears on the attempts of a job. If somebody killed or cancelled it,
// all that was kept is lost.
func (a *rowAttempts) told(e entity.JobEvent) {
	if x, _, how, ok := entity.Over(e); ok {
		a.kept += x.Kept
		a.lost += x.Work - x.Kept
		a.overhead += x.Overhead
		if how == entity.EndRequeued {
			a.restarts++
		}
	}
	gone := e.Kind == entity.JobRejected || e.Kind == entity.JobKilled && e.Run.Reason != entity.ReasonEstimate
	if gone {
		a.lost, a.kept = a.lost+a.kept, 0
	}
}

// appendDependencies appends the jobs that another one waits for, as the column after has them.
func appendDependencies(b []byte, after []entity.Dependency) []byte {
	for i, d := range after {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, d.String()...)
	}
	return b
}

// NewJobsWriter returns a writer of jobs-POLICY.csv to w.
func NewJobsWriter(w io.Writer) *JobsWriter { return &JobsWriter{out: w} }

// Attach gives the writer the metascheduler whose jobs it writes. If rows name processors and the
// metascheduler has no Placer, it sets entity.LowestFirst{} as Placer.
func (w *JobsWriter) Attach(m *entity.Metascheduler) {
	if w.Processors == 0 {
		w.Processors = m.Plan().Size()
	}
	w.meta = m
	if !entity.Named(m.Plan()) && w.allocation() == AllocationIntervals && m.Placer == nil {
		m.Placer = entity.LowestFirst{}
	}
}

// allocation returns what allocated_resources says.
func (w *JobsWriter) allocation() Allocation { return w.Allocation.of(w.Processors) }

// of returns what a means on a machine of that many processors; it is never AllocationAuto.
func (a Allocation) of(processors int) Allocation {
	switch {
	case a != AllocationAuto:
		return a
	case processors > autoIntervals:
		return AllocationCount
	}
	return AllocationIntervals
}

// Again reports whether a job was stopped or resized, or had overhead: its row tells all of that
// only with the columns about attempts. A JobsFile writes these columns from then on, and gives
// them to the rows before at its Commit.
func (w *JobsWriter) Again() bool { return w.again }

// ascending reports whether the rows written so far are in order of job id.
func (w *JobsWriter) ascending() bool { return !w.falling }

// begin looks at the exported fields, and chooses the columns. It comes with the first event,
// because fields may be set after Attach.
func (w *JobsWriter) begin() {
	w.begun = true
	w.Allocation = w.allocation()
	name := w.Workload
	if name == "" {
		name = "w0"
	}
	workload := rows.AppendName(nil, name)
	w.ring = make([]jobRow, 64)
	var further []string // conditions of columns
	if w.Booked {
		further = append(further, rows.WithBookings)
	}
	if w.Bill != nil {
		further = append(further, rows.WithPrices)
	}
	if w.predicts = w.Predicted || w.meta != nil && w.meta.Predictor != nil; w.predicts {
		further = append(further, rows.WithPredictions)
	}
	all := rows.Jobs.With("workload_name", func(b []byte, _ *rows.Job) []byte { return append(b, workload...) }).
		With("allocated_resources", w.appendAllocated).With("consumed_energy", w.appendEnergy).With("bounded_slowdown", w.appendSlowdown)
	w.bare, w.full = all.Only(further...), all.Only(append(further, rows.WithAttempts)...)
	w.ofAttempts, w.behind = w.full.Part(rows.WithAttempts)
	w.columns = w.Attempts
	w.shown = w.columns
	w.text = rows.NewWriter(w.out, w.table(w.columns))
	if !w.tellsMore() {
		w.belt = newBelt(batchRows, w.Beside, w.writeRows)
	}
}

// tellsMore reports whether rows have a rowMore. They become text at once then: what they tell may
// change later.
func (w *JobsWriter) tellsMore() bool { return w.Energy != nil || w.Bill != nil || w.predicts }

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
	if r.rare != nil || !j.Once() || e.Kind == entity.JobKilled { // otherwise there is nothing to tell
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
		r.state, r.start, r.run = rows.Submitted, -1, nil // its row tells of its last run only
		r.molded(j)
	case entity.JobFinished:
		w.end(j, r, rows.Finished)
	case entity.JobKilled:
		if j.Reason == entity.ReasonEstimate || j.Reason == "" && w.now-j.Start >= j.Reservation.Window.Length() {
			w.end(j, r, rows.Walltime)
		} else {
			w.end(j, r, rows.Killed)
			r.withRare().reason = j.Reason
		}
	case entity.JobRejected:
		r.state, r.withRare().reason = rows.Rejected, j.Reason
		if w.late() && len(j.Earlier()) > 0 {
			r.run = j
		}
	}
	if w.Energy != nil && r.state >= rows.Finished {
		r.rare.more.energy, r.rare.more.drew = w.Energy(j), true
	}
}

// told lets the row r take in what e tells of attempts.
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
	// Of all other jobs there is nothing to tell, and no memory is taken.
	if r.attempts() == nil && (more || e.Kind == entity.JobKilled && e.Run.Reason != entity.ReasonEstimate) {
		r.withRare().attempts = &rowAttempts{}
	}
	if a := r.attempts(); a != nil {
		a.told(e)
	}
}

// tell gives rows from now on the columns about attempts, if the file can still get them for the
// rows before.
func (w *JobsWriter) tell() {
	if w.amends && !w.columns {
		w.columns, w.plain = true, w.base
	}
}

// fail keeps the first error.
func (w *JobsWriter) fail(err error) {
	if w.err == nil {
		w.err = fmt.Errorf("jobs CSV: %w", err)
	}
}

// row returns the row of the job with that Seq, which must be in the ring.
func (w *JobsWriter) row(seq int64) *jobRow { return &w.ring[seq&int64(len(w.ring)-1)] }

// submit begins the row of a job. A ring that is full doubles.
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
	// A row is cleared, then filled in field by field: a literal would be made elsewhere and copied.
	*r = jobRow{}
	r.id, r.submit, r.estimate, r.runtime = j.ID, j.Submit, j.Asked(), j.Runtime
	r.start, r.finish, r.promise = -1, -1, entity.NeverPromised
	r.nodes, r.user, r.group, r.queue, r.booked = j.Request.Nodes, j.User, j.Group, j.Queue, j.Booked
	if w.tellsMore() {
		r.withRare().more = &rowMore{budget: j.Request.Budget, run: j}
	}
	if w.Attempts {
		r.withRare().attempts = &rowAttempts{after: j.After}
	}
}

// start takes in that an attempt begins.
func (w *JobsWriter) start(j *entity.Run, r *jobRow) {
	r.state = rows.Running
	r.start = w.now
	r.backfilled = j.Backfilled
	r.run = j
	r.molded(j)
}

// late reports whether a row asks others about its job. They may hear of its end after the writer,
// at the same instant: they are asked when the row is written.
func (w *JobsWriter) late() bool { return w.Bill != nil || w.Places != nil }

// molded takes in the shape that a moldable job has now.
func (r *jobRow) molded(j *entity.Run) {
	r.nodes, r.runtime, r.estimate = j.Request.Nodes, j.Runtime, j.Asked()
}

// end takes in that the job has ended. If it began at this very instant, its place is known when
// the instant is over.
func (w *JobsWriter) end(j *entity.Run, r *jobRow, state rows.State) {
	r.state, r.finish = state, w.now
	if ran := j.Ran(); ran != r.finish-r.start {
		r.withRare().ran = ran
	}
	if j.Start < w.now && !w.late() { // otherwise its place is known when the instant is over
		w.locate(r)
		r.run = nil
	}
}

// InstantOver writes the rows that are complete, up to the first job that has not ended: rows come
// in the order of submission.
func (w *JobsWriter) InstantOver(des.Time) {
	for w.rows > 0 && w.row(w.base).state >= rows.Finished {
		w.write()
	}
}

// locate takes in where the job of the row runs or ran.
func (w *JobsWriter) locate(r *jobRow) {
	if w.Allocation != AllocationIntervals {
		return
	}
	switch window := &r.run.Reservation.Window; {
	case w.Places != nil:
		r.processors = slices.Clone(w.Places(r.run))
	case window.Tasks != nil:
		r.processors = placeOf(nil, nil, window)
	default:
		r.processors = r.run.Place
	}
}

// placeOf appends the processors of a place, or the nodes of a window, to ranges, which must be
// empty if there are nodes.
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

// batchRows is the number of rows that become text at a time.
const batchRows = 256

// writeRows writes rows as they come from the belt.
func (w *JobsWriter) writeRows(all []jobRow) {
	for i := range all {
		w.writeRow(&all[i])
	}
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
		if w.Bill != nil && r.state >= rows.Finished {
			r.rare.more.bill, r.rare.more.billed = w.Bill(r.run), true
		}
		r.run = nil
	}
	r.full = w.columns
	if w.belt != nil {
		w.belt.put(*r)
	} else {
		w.writeRow(r)
		r.rare = nil
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
	if err := w.text.Flush(); err != nil && w.err == nil {
		w.err = err
	}
	return w.err
}

// stop waits until all rows that were handed over are written, and ends the goroutine.
func (w *JobsWriter) stop() {
	if w.belt != nil {
		w.belt.close()
		w.belt = nil
	}
}

// table returns the file with the columns about attempts, or without.
func (w *JobsWriter) table(attempts bool) rows.File[rows.Job] {
	if attempts {
		return w.full
	}
	return w.bare
}

// writeRow writes a row, with the columns about attempts or without.
func (w *JobsWriter) writeRow(r *jobRow) {
	w.fill(r)
	if r.full != w.shown {
		w.shown = r.full
		w.text.Use(w.table(r.full))
	}
	w.text.Write(&w.line)
	if !r.full && w.amends && r.attempts() != nil {
		if w.apart == nil {
			w.apart = map[int64][]byte{}
		}
		w.apart[w.written] = w.ofAttempts.Append([]byte{','}, &w.line)
	}
	w.written++
}

// fill makes the line of a row.
func (w *JobsWriter) fill(r *jobRow) {
	j := &w.line
	w.of = r
	j.ID, j.User, j.Group, j.Queue, j.Booked = r.id, int64(r.user), int64(r.group), int64(r.queue), r.booked
	j.Submit, j.Processors, j.Estimate, j.Runtime = r.submit, r.nodes, r.estimate, r.runtime
	j.State, j.Start, j.Finish, j.Execution = r.state, r.start, rows.None, rows.None
	if r.start >= 0 && r.finish >= 0 {
		j.Finish, j.Execution = r.finish, r.finish-r.start
	}
	j.Promised, j.Soft, j.Backfilled = r.promise, r.soft, r.backfilled
	j.Reason, j.Restarts, j.Lost, j.Overhead, j.After = "", 0, 0, 0, ""
	if r.rare != nil {
		w.fillRare(r)
	}
}

// fillRare fills in what few rows tell.
func (w *JobsWriter) fillRare(r *jobRow) {
	j := &w.line
	j.Reason = r.rare.reason
	if ran := r.rare.ran; ran >= 0 {
		j.Execution = ran
	}
	if a := r.rare.attempts; a != nil {
		j.Restarts, j.Lost, j.Overhead, j.After = a.restarts, a.lost, a.overhead, string(appendDependencies(nil, a.after))
	}
	if w.Bill != nil {
		w.fillBill(r.rare.more)
	}
	if w.predicts {
		run := r.rare.more.run
		j.Prediction, j.Corrections, j.Predicted = rows.None, -1, rows.None
		if !r.booked && r.state != rows.Rejected {
			j.Prediction, j.Corrections, j.Predicted = run.FirstPrediction(), run.Corrections(), run.Prediction()
		}
	}
}

// fillBill fills in what the line tells of money.
func (w *JobsWriter) fillBill(x *rowMore) {
	j := &w.line
	j.Budget, j.Cost, j.Paid, j.Refund = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if x.budget > 0 {
		j.Budget = x.budget
	}
	if x.billed {
		j.Cost, j.Paid, j.Refund = x.bill.Cost.Units(), x.bill.Paid.Units(), x.bill.Refund().Units()
	}
}

// appendAllocated appends the processors of the row at hand.
func (w *JobsWriter) appendAllocated(b []byte, _ *rows.Job) []byte {
	switch {
	case w.of.start < 0:
	case w.Allocation == AllocationCount:
		return decimal.AppendInt(b, int64(w.of.nodes))
	case w.Allocation == AllocationIntervals:
		return procset.Append(b, w.of.processors)
	}
	return b
}

// appendEnergy appends what the job of the row at hand took, if that is known, exactly.
func (w *JobsWriter) appendEnergy(b []byte, _ *rows.Job) []byte {
	if w.of.rare == nil {
		return b
	}
	if m := w.of.rare.more; m != nil && m.drew {
		return m.energy.appendTo(b)
	}
	return b
}

// appendSlowdown appends the bounded slowdown of a job that is done, exactly to six decimals. It
// is Tau.Slowdown without floating point: 1, or turnaround / max(run, tau).
func (w *JobsWriter) appendSlowdown(b []byte, j *rows.Job) []byte {
	turnaround := j.Turnaround()
	switch {
	case j.Execution == rows.None:
		return b
	case turnaround <= w.Tau.atLeast(j.Execution):
		return append(b, '1')
	}
	return rows.AppendRatio(b, turnaround, w.Tau.atLeast(j.Execution))
}
