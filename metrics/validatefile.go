package metrics

// The offline validator: a jobs CSV against the trace it came from. Whatever it
// needs it works out anew from starts, finishes and estimates.

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// FileCheck is how ValidateJobs checks a file.
type FileCheck struct {
	Promises
	// Processors is the size of the cluster; 0 leaves capacity and identities
	// unchecked.
	Processors int
	// Overrun is what happened to jobs that passed their estimates.
	Overrun entity.Overrun
	// Allocation is what allocated_resources says; AllocationAuto finds out.
	Allocation Allocation
	// Limit is how many violations are kept; 0 means 100.
	Limit int
}

// DamagedFileError reports a file that cannot be read as a jobs CSV.
type DamagedFileError struct {
	Line   int    // from 1; the header is line 1
	Column string // empty where it is the line as a whole
	Err    error
}

func (e *DamagedFileError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("jobs CSV, line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("jobs CSV, line %d, %s: %v", e.Line, e.Column, e.Err)
}

func (e *DamagedFileError) Unwrap() error { return e.Err }

// ValidateJobs checks the jobs CSV that r reads against the trace's jobs, as
// they were given to the scheduler, in order of submission. It accepts what
// JobsWriter writes, and Batsim's own files, which lack our last columns. On
// counted processors only.
//
// Checked are: every job of the trace has one row, which agrees with the trace
// on submission, size, estimate and run time, and with itself, ratios and
// backfilled included; our rows are in the order of job_id; no job starts
// before its submission; at no instant are more processors busy than there are
// (what ends at an instant makes room for what starts at it), nor one of them
// twice; and the promises:
//
//   - Order: starts do not decrease in the order of submission.
//   - Head: at every instant at which something happens, the shadow time of the
//     first waiting job is worked out from the estimated ends of the running
//     ones; it starts by the least of these.
//   - First: a job that waited was promised a start (promised= in metadata), and
//     started by it.
//
// Jobs that were waiting or running when the run was stopped are counted, not
// held against it; nor is it that those submitted later have no row then. A file that cannot be read gives a *DamagedFileError. Time
// O(n log n), memory about 300 bytes a job.
func ValidateJobs(r io.Reader, jobs iter.Seq[*entity.Job], check FileCheck) (Report, error) {
	c := fileChecker{FileCheck: check, byID: map[int64]int32{}, lastID: math.MinInt64}
	if c.Head && c.Processors <= 0 {
		return Report{}, errors.New("the number of processors is needed to check the promise to the head of the queue")
	}
	if err := c.trace(jobs); err != nil {
		return Report{}, err
	}
	if err := c.read(r); err != nil {
		return Report{}, err
	}
	for i := range c.jobs {
		c.agree(&c.jobs[i])
	}
	c.backfills()
	c.identities()
	c.sweep()
	c.order()
	c.promised()
	return c.report, nil
}

// filed is a job of the trace and what the file says of it.
type filed struct {
	id                                        int64
	submit, estimate, runtime                 des.Time
	nodes                                     int32
	line                                      int32 // 0: no row
	state                                     string
	start, finish                             des.Time // Forever: not before the run was stopped
	promise                                   des.Time
	rowSubmit, rowEstimate, rowRuntime        des.Time
	rowWait, rowExecution, rowTurnaround      des.Time
	rowNodes                                  int32
	success                                   bool
	allocatedFrom, allocatedTo                int32 // in fileChecker.allocated
	hasWait, hasExecution, hasTurn, hasActual bool
	stretch, boundedSlowdown                  float64  // NaN where the file does not say
	ownEstimate                               des.Time // the column estimate
	hasOwnEstimate                            bool
	backfilled                                string // "" where the file does not say
}

func (f *filed) began() bool { return f.start != des.Forever }

// empty reports whether f was reserved no time and took none: it takes no one's
// room.
func (f *filed) empty() bool { return f.estimate == 0 && f.finish == f.start }

type fileChecker struct {
	FileCheck
	report    Report
	jobs      []filed // in the order of the trace
	byID      map[int64]int32
	allocated []entity.ProcessorRange
	last      des.Time // the last instant of which the file knows
	lastID    int64    // of the row before
}

func (c *fileChecker) violation(f *filed, k ViolationKind, at des.Time, format string, args ...any) {
	if f.line > 0 {
		format = "line " + strconv.Itoa(int(f.line)) + ": " + format
	}
	c.report.add(c.Limit, k, at, f.id, format, args...)
}

func (c *fileChecker) trace(jobs iter.Seq[*entity.Job]) error {
	for j := range jobs {
		if _, twice := c.byID[j.ID]; twice {
			return fmt.Errorf("the trace has two jobs with the id %d", j.ID)
		}
		if n := len(c.jobs); n > 0 && j.Submit < c.jobs[n-1].submit {
			return fmt.Errorf("the trace is not sorted: %v is submitted at %v, before the job in front of it (%v)", j, j.Submit, c.jobs[n-1].submit)
		}
		c.byID[j.ID] = int32(len(c.jobs))
		c.jobs = append(c.jobs, filed{
			id: j.ID, submit: j.Submit, estimate: j.Request.Length, runtime: j.Runtime, nodes: int32(j.Request.Nodes),
			start: des.Forever, finish: des.Forever, promise: entity.NeverPromised,
		})
	}
	return nil
}

// The columns of a jobs CSV that are looked at, by name; those after
// firstOptional may be missing.
const (
	colID = iota
	colSubmit
	colNodes
	colEstimate
	colSuccess
	colState
	colStart
	colFinish
	firstOptional
	colExecution = iota - 1
	colWait
	colTurnaround
	colAllocated
	colMetadata
	colActual
	colStretch
	colBoundedSlowdown
	colOwnEstimate
	colBackfilled
	columns
)

var columnNames = [columns]string{
	"job_id", "submission_time", "requested_number_of_resources", "requested_time", "success", "final_state", "starting_time",
	"finish_time", "execution_time", "waiting_time", "turnaround_time", "allocated_resources", "metadata", "actual_runtime",
	"stretch", "bounded_slowdown", "estimate", "backfilled",
}

// rowReader takes one row apart and keeps the first error.
type rowReader struct {
	at     [columns]int // index in the record, -1 where missing
	record []string
	line   int
	err    error
}

func (r *rowReader) fail(column int, err error) {
	if r.err == nil {
		r.err = &DamagedFileError{r.line, columnNames[column], err}
	}
}

func (r *rowReader) has(column int) bool { return r.at[column] >= 0 }

func (r *rowReader) text(column int) string {
	if !r.has(column) {
		return ""
	}
	return r.record[r.at[column]]
}

func (r *rowReader) whole(column, bits int) int64 {
	n, err := strconv.ParseInt(r.text(column), 10, bits)
	if err != nil {
		r.fail(column, fmt.Errorf("%q is not a whole number: %w", r.text(column), errors.Unwrap(err)))
	}
	return n
}

func (r *rowReader) time(column int) des.Time {
	if !r.has(column) {
		return 0
	}
	t, err := parseTime(r.text(column))
	if err != nil {
		r.fail(column, err)
	}
	return t
}

// ratio is NaN where the column is missing. Batsim may write no number for a job
// that ran for no time.
func (r *rowReader) ratio(column int) float64 {
	if !r.has(column) {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(r.text(column), 64)
	if err == nil && !math.IsNaN(x) {
		return x
	}
	if r.has(colBackfilled) {
		r.fail(column, fmt.Errorf("%q is not a number", r.text(column)))
	}
	return math.NaN()
}

func parseTime(s string) (des.Time, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time: %w", s, errors.Unwrap(err))
	}
	t := des.Seconds(x)
	if x != x || t == des.Forever || t == -des.Forever {
		return 0, fmt.Errorf("%q is no time within the range of simulated time", s)
	}
	return t, nil
}

func (c *fileChecker) read(r io.Reader) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	row := rowReader{line: 1}
	header, err := in.Read()
	if err != nil {
		return damaged(err)
	}
	for i, name := range columnNames {
		row.at[i] = slices.Index(header, name)
		if row.at[i] < 0 && i < firstOptional {
			return &DamagedFileError{Line: 1, Err: fmt.Errorf("no column %s in the header", name)}
		}
	}
	for {
		row.record, err = in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		row.line, _ = in.FieldPos(0)
		c.row(&row)
		if row.err != nil {
			return row.err
		}
	}
}

// damaged puts an error of the CSV reader in our words.
func damaged(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return &DamagedFileError{Line: 1, Err: errors.New("the file is empty")}
	case errors.As(err, &parse):
		return &DamagedFileError{Line: parse.Line, Err: parse.Err}
	}
	return fmt.Errorf("reading a jobs CSV: %w", err)
}

func (c *fileChecker) row(r *rowReader) {
	id := r.whole(colID, 64)
	if r.err != nil {
		return
	}
	at, known := c.byID[id]
	if !known {
		c.violation(&filed{id: id, line: int32(r.line)}, Disagreement, 0, "the trace has no such job")
		return
	}
	f := &c.jobs[at]
	if f.line > 0 {
		c.violation(f, OutOfPlace, f.start, "and again line %d: a job has one row", r.line)
		return
	}
	f.line = int32(r.line)
	f.rowSubmit, f.rowNodes, f.rowEstimate = r.time(colSubmit), int32(r.whole(colNodes, 32)), r.time(colEstimate)
	f.rowRuntime, f.hasActual = r.time(colActual), r.has(colActual)
	f.rowWait, f.rowExecution, f.rowTurnaround = r.time(colWait), r.time(colExecution), r.time(colTurnaround)
	f.hasWait, f.hasExecution, f.hasTurn = r.has(colWait), r.has(colExecution), r.has(colTurnaround)
	f.ownEstimate, f.hasOwnEstimate = r.time(colOwnEstimate), r.has(colOwnEstimate)
	f.stretch, f.boundedSlowdown = r.ratio(colStretch), r.ratio(colBoundedSlowdown)
	if r.has(colBackfilled) {
		if f.backfilled = r.text(colBackfilled); f.backfilled != "0" && f.backfilled != "1" {
			r.fail(colBackfilled, fmt.Errorf("%q is neither 0 nor 1", f.backfilled))
		}
		if id < c.lastID { // Batsim's rows stand in another order
			c.violation(f, OutOfPlace, f.submit, "stands behind job %d: rows are in the order of job_id", c.lastID)
		}
		c.lastID = id
	}
	f.success = r.text(colSuccess) == "1"
	c.state(r, f)
	if promise, ok := strings.CutPrefix(r.text(colMetadata), promisedKey); ok {
		var err error
		promise, _, _ = strings.Cut(promise, metadataSeparator) // a reason may follow
		if f.promise, err = parseTime(promise); err != nil {
			r.fail(colMetadata, err)
		}
	}
	if f.began() {
		c.allocation(r, f)
	}
}

// state reads what became of the job, and when.
func (c *fileChecker) state(r *rowReader, f *filed) {
	start, finish := r.time(colStart), r.time(colFinish)
	c.report.Jobs++
	c.last = max(c.last, f.submit)
	switch f.state = r.text(colState); f.state {
	case stateFinished:
		c.report.Finished++
		f.start, f.finish = start, finish
	case stateWalltime, stateKilled:
		f.state = stateKilled
		c.report.Killed++
		f.start, f.finish = start, finish
	case stateRunning:
		c.report.Unfinished++
		f.start = start
	case stateSubmitted:
		c.report.Unfinished++
	case stateRejected:
		c.report.Rejected++
	default:
		r.fail(colState, fmt.Errorf("%q is not a state known here", f.state))
		return
	}
	if f.began() {
		c.last = max(c.last, f.start)
	}
	if f.finish != des.Forever {
		c.last = max(c.last, f.finish)
	}
	if f.finish < f.start {
		r.fail(colFinish, fmt.Errorf("%v is before the start at %v", f.finish, f.start))
	}
}

// allocation reads "0-3 7", or a count.
func (c *fileChecker) allocation(r *rowReader, f *filed) {
	f.allocatedFrom = int32(len(c.allocated))
	for text := range strings.FieldsSeq(r.text(colAllocated)) {
		low, high, isRange := strings.Cut(text, "-")
		first, err := strconv.ParseInt(low, 10, 32)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseInt(high, 10, 32)
		}
		if err != nil || first < 0 || last < first {
			r.fail(colAllocated, fmt.Errorf("%q is no interval of processors", text))
			return
		}
		c.allocated = append(c.allocated, entity.ProcessorRange{First: int32(first), Last: int32(last)})
	}
	f.allocatedTo = int32(len(c.allocated))
}

// agree compares a row with the trace and with itself.
func (c *fileChecker) agree(f *filed) {
	if f.line == 0 {
		if c.report.Unfinished > 0 && f.submit >= c.last {
			return // the run was stopped before it came
		}
		c.violation(f, Missing, f.submit, "the file has no row for this job")
		return
	}
	differs := func(has bool, column int, got, want des.Time) {
		if has && got != want {
			c.violation(f, Disagreement, f.submit, "%s is %v, not %v", columnNames[column], got, want)
		}
	}
	differs(true, colSubmit, f.rowSubmit, f.submit)
	differs(true, colEstimate, f.rowEstimate, f.estimate)
	differs(f.hasOwnEstimate, colOwnEstimate, f.ownEstimate, f.estimate)
	differs(f.hasActual, colActual, f.rowRuntime, f.runtime)
	if f.rowNodes != f.nodes {
		c.violation(f, Disagreement, f.submit, "%s is %d, not %d", columnNames[colNodes], f.rowNodes, f.nodes)
	}
	if f.success != (f.state == stateFinished) {
		c.violation(f, Disagreement, f.submit, "success is %v in the state %s", f.success, f.state)
	}
	if f.state == stateRejected && c.Processors > 0 && int(f.nodes) <= c.Processors {
		c.violation(f, Missing, f.submit, "rejected, though it wants %d of %d processors", f.nodes, c.Processors)
	}
	if !f.began() {
		return
	}
	if f.start < f.submit {
		c.violation(f, TooEarly, f.start, "started before its submission at %v", f.submit)
	}
	differs(f.hasWait, colWait, f.rowWait, f.start-f.submit)
	if f.finish == des.Forever {
		return
	}
	run := f.finish - f.start
	differs(f.hasExecution, colExecution, f.rowExecution, run)
	differs(f.hasTurn, colTurnaround, f.rowTurnaround, f.finish-f.submit)
	c.ratios(f)
	want := f.runtime
	if c.Overrun != entity.OverrunExtend {
		want = min(want, f.estimate)
	}
	if run != want {
		c.violation(f, WrongRunTime, f.finish, "ran for %v instead of %v", run, want)
	}
	if killed := f.state == stateKilled; killed != (want < f.runtime) {
		c.violation(f, WrongRunTime, f.finish, "ran for %v of %v: killed is %v", run, f.runtime, killed)
	}
}

// ratios compares a finished job's ratios, given to six decimals.
func (c *fileChecker) ratios(f *filed) {
	differs := func(column int, got, want float64) {
		if got != want && math.Abs(got-want) > 1e-6+1e-12*math.Abs(want) { // never of a NaN
			c.violation(f, Disagreement, f.submit, "%s is %v, not %.6f", columnNames[column], got, want)
		}
	}
	run, turnaround := f.finish-f.start, f.finish-f.submit
	switch {
	case run > 0:
		differs(colStretch, f.stretch, float64(turnaround)/float64(run))
	case f.backfilled == "": // Batsim's own, which has no word for it
	case turnaround > 0:
		differs(colStretch, f.stretch, math.Inf(1))
	default:
		differs(colStretch, f.stretch, 1)
	}
	differs(colBoundedSlowdown, f.boundedSlowdown, BoundedSlowdown(f.start-f.submit, run))
}

// backfills checks who is said to have started before a job submitted earlier.
// Of jobs that start at one instant the file does not tell which was first.
func (c *fileChecker) backfills() {
	latest := -des.Forever // start of the jobs before
	for i := range c.jobs {
		f := &c.jobs[i]
		if f.line == 0 || f.state == stateRejected {
			continue
		}
		if overtook := latest > f.start; f.began() && latest != f.start && f.backfilled != "" && overtook != (f.backfilled == "1") {
			c.violation(f, Disagreement, f.start, "backfilled is %s, though a job submitted earlier was still waiting: %v", f.backfilled, overtook)
		}
		latest = max(latest, f.start)
	}
}

// begun lists the jobs that have started, by start; at one instant those
// without run time come first, since they leave what they take at once.
func (c *fileChecker) begun() []*filed {
	var list []*filed
	for i := range c.jobs {
		if f := &c.jobs[i]; f.line > 0 && f.began() {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b *filed) int {
		if d := cmp.Compare(a.start, b.start); d != 0 {
			return d
		}
		return cmp.Compare(min(a.finish-a.start, 1), min(b.finish-b.start, 1))
	})
	return list
}

// identities checks that no processor has two jobs at once, and that jobs have
// as many as they asked for.
func (c *fileChecker) identities() {
	begun := c.begun()
	if c.Processors <= 0 || !c.named(begun) {
		return
	}
	type use struct {
		job   *filed
		until des.Time
	}
	uses := make([]use, c.Processors)
	for _, f := range begun {
		count, clash, outside := 0, use{}, int32(-1)
		for _, r := range c.allocated[f.allocatedFrom:f.allocatedTo] {
			count += int(r.Last-r.First) + 1
			if int(r.Last) >= c.Processors {
				outside = r.Last
				continue
			}
			for p := r.First; p <= r.Last; p++ {
				if uses[p].job == f || (uses[p].until > f.start && !f.empty()) {
					clash = uses[p]
				}
				if f.finish >= uses[p].until {
					uses[p] = use{f, f.finish}
				}
			}
		}
		if count != int(f.nodes) {
			c.violation(f, TwoJobsOnOne, f.start, "has %d processors instead of %d", count, f.nodes)
		}
		if outside >= 0 {
			c.violation(f, TwoJobsOnOne, f.start, "has processor %d of a cluster of %d", outside, c.Processors)
		}
		if clash.job == f {
			c.violation(f, TwoJobsOnOne, f.start, "has a processor twice")
		} else if clash.job != nil {
			c.violation(f, TwoJobsOnOne, f.start, "has a processor that job %d (line %d) has until %s", clash.job.id, clash.job.line, clash.until)
		}
	}
}

// named reports whether the file says which processors jobs had. It does not
// where there is nothing, or everywhere just the number of processors.
func (c *fileChecker) named(begun []*filed) bool {
	if c.Allocation != AllocationAuto {
		return c.Allocation == AllocationIntervals
	}
	return slices.ContainsFunc(begun, func(f *filed) bool {
		ranges := c.allocated[f.allocatedFrom:f.allocatedTo]
		return len(ranges) > 1 || len(ranges) == 1 && (ranges[0].First != ranges[0].Last || ranges[0].First != f.nodes)
	})
}

// sweep goes through the instants in order: capacity, and the promise to the
// head of the queue.
func (c *fileChecker) sweep() {
	if c.Processors <= 0 {
		return
	}
	starts := c.begun()
	ends := slices.DeleteFunc(slices.Clone(starts), func(f *filed) bool { return f.finish == f.start || f.finish == des.Forever })
	slices.SortStableFunc(ends, func(a, b *filed) int { return cmp.Compare(a.finish, b.finish) })
	queue := slices.DeleteFunc(pointers(c.jobs), func(f *filed) bool { return f.line == 0 || f.state == stateRejected })
	submitted := queue
	ahead := newReleases(starts)
	head := headOfFile{overran: c.overruns()}
	for free := c.Processors; ; {
		t := des.Forever
		if len(starts) > 0 {
			t = min(t, starts[0].start)
		}
		if len(ends) > 0 {
			t = min(t, ends[0].finish)
		}
		if len(submitted) > 0 {
			t = min(t, submitted[0].submit)
		}
		if t == des.Forever {
			break
		}
		for ; len(ends) > 0 && ends[0].finish == t; ends = ends[1:] {
			free += int(ends[0].nodes)
			ahead.add(ends[0], -int(ends[0].nodes))
		}
		for ; len(starts) > 0 && starts[0].start == t; starts = starts[1:] {
			f := starts[0]
			left := free - int(f.nodes)
			if left < 0 && !f.empty() {
				c.violation(f, OverCapacity, t, "started on %d processors; %d of %d are free", f.nodes, max(free, 0), c.Processors)
			}
			if f.finish > f.start {
				free = left
				ahead.add(f, int(f.nodes))
			}
		}
		for len(submitted) > 0 && submitted[0].submit <= t {
			submitted = submitted[1:]
		}
		if !c.Head {
			continue
		}
		for ; len(queue) > 0 && queue[0].start <= t; queue = queue[1:] {
			c.headStarts(&head, queue[0], queue[0].start)
		}
		if len(queue) > 0 && queue[0].submit <= t {
			head.look(t, queue[0], ahead.shadow(t, int(queue[0].nodes)-free))
		}
	}
	if c.Head && len(queue) > 0 {
		c.headStarts(&head, queue[0], c.last) // not before the run was stopped
	}
}

// headOfFile is the first waiting job and the least shadow time it has had.
type headOfFile struct {
	job     *filed
	since   des.Time // when it became the head
	bound   des.Time
	overran overrunSpans
}

func (h *headOfFile) look(now des.Time, f *filed, shadow des.Time) {
	if h.job != f {
		h.job, h.since, h.bound = f, now, shadow
	}
	h.bound = min(h.bound, shadow)
}

func (c *fileChecker) headStarts(h *headOfFile, f *filed, at des.Time) {
	if h.job == f && at > h.bound && !h.overran.during(h.since, at) {
		c.violation(f, HeadDelayed, at, "the head of the queue, not started by its shadow time %v", h.bound)
	}
}

func pointers(jobs []filed) []*filed {
	list := make([]*filed, len(jobs))
	for i := range jobs {
		list[i] = &jobs[i]
	}
	return list
}

// releases is the processors of the running jobs by estimated end: a binary
// indexed tree (Fenwick, Software: Practice and Experience 24(3), 1994) over
// all estimated ends of the file.
type releases struct {
	ends []des.Time // sorted, distinct
	tree []int      // from 1
}

func newReleases(jobs []*filed) releases {
	var r releases
	for _, f := range jobs {
		r.ends = append(r.ends, f.start.Add(f.estimate))
	}
	slices.Sort(r.ends)
	r.ends = slices.Compact(r.ends)
	r.tree = make([]int, len(r.ends)+1)
	return r
}

func (r *releases) add(f *filed, nodes int) {
	at, _ := slices.BinarySearch(r.ends, f.start.Add(f.estimate))
	for i := at + 1; i < len(r.tree); i += i & -i {
		r.tree[i] += nodes
	}
}

// shadow is the earliest instant from now on at which, by the estimates, the
// running jobs have given back so many processors: now where none are needed,
// Forever where they never will. No running job may be past its estimate.
func (r *releases) shadow(now des.Time, needed int) des.Time {
	if needed <= 0 {
		return now
	}
	at := 0
	for step := 1 << 30; step > 0; step >>= 1 {
		if next := at + step; next < len(r.tree) && r.tree[next] < needed {
			at = next
			needed -= r.tree[next]
		}
	}
	if at == len(r.ends) {
		return des.Forever
	}
	return r.ends[at]
}

// order checks that jobs start in the order of submission.
func (c *fileChecker) order() {
	if !c.Order {
		return
	}
	var latest *filed // of those before, the one that starts last
	for i := range c.jobs {
		f := &c.jobs[i]
		if f.line == 0 || f.state == stateRejected {
			continue
		}
		if latest != nil && f.start < latest.start {
			c.violation(f, OutOfOrder, f.start, "started before job %d (line %d), which was submitted earlier", latest.id, latest.line)
			continue
		}
		latest = f
	}
}

// promised checks the first promise made to each job.
func (c *fileChecker) promised() {
	if !c.First {
		return
	}
	overran := c.overruns()
	for i := range c.jobs {
		f := &c.jobs[i]
		if f.line == 0 || f.state == stateRejected {
			continue
		}
		until := min(f.start, c.last)
		switch {
		case f.promise == entity.NeverPromised && until > f.submit:
			c.violation(f, PromiseBroken, until, "waited without a promise (no %s in metadata)", promisedKey)
		case f.promise != entity.NeverPromised && until > f.promise && !overran.during(f.submit, until):
			c.violation(f, PromiseBroken, until, "not started by %v, which it was promised first", f.promise)
		}
	}
}

// overrunSpans are the spans during which jobs were past their estimates.
type overrunSpans []struct{ from, to des.Time } // by from; to is the latest of those up to here

func (c *fileChecker) overruns() overrunSpans {
	var spans overrunSpans
	for i := range c.jobs {
		if f := &c.jobs[i]; f.line > 0 && f.began() && f.runtime > f.estimate && c.Overrun == entity.OverrunExtend {
			spans = append(spans, struct{ from, to des.Time }{f.start.Add(f.estimate), f.finish})
		}
	}
	slices.SortFunc(spans, func(a, b struct{ from, to des.Time }) int { return cmp.Compare(a.from, b.from) })
	for i := range spans[min(1, len(spans)):] {
		spans[i+1].to = max(spans[i+1].to, spans[i].to)
	}
	return spans
}

// during reports whether a job was past its estimate within [from, to].
func (s overrunSpans) during(from, to des.Time) bool {
	n, _ := slices.BinarySearchFunc(s, to+1, func(span struct{ from, to des.Time }, t des.Time) int { return cmp.Compare(span.from, t) })
	return n > 0 && s[n-1].to >= from
}
