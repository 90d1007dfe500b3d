package sacct

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file makes records of rows. reader.job reads one row in phases: the state, resources, number,
// times, limit and sizes, which a record needs and which may damage the row; then memory, usage,
// owners and plain columns, in which what cannot be read is noted and taken as unknown.

// indices are the positions of the header's derived columns in Record.More, or -1.
type indices [numDerived]int

// newIndices finds the derived columns in a header. One of the same name but another kind is
// somebody else's.
func newIndices(h *workload.Header) (at indices) {
	for c, d := range derived {
		at[c] = slices.IndexFunc(h.Columns, func(of workload.Column) bool { return of.Name == d.column.Name && of.Text == d.column.Text })
	}
	return at
}

// maxArrays bounds how many arrays are remembered by their numbers.
const maxArrays = 1 << 20

// Bounds of the names of users, groups or partitions: how many, and of how many bytes each.
const (
	maxNames = 1 << 18
	maxName  = 256
)

// reader reads records. It is a job ahead of what Record returns: the steps of a job stand below its
// row and change it, so a job is complete when the next one has been found.
type reader struct {
	name    string // of the input, for messages
	lines   *scan.Lines
	heading *heading
	clock   clock            // of the cluster
	texts   scan.Kept        // the strings of values that are text
	tres    scan.Memo[*tres] // what was read of lists of resources, which rows repeat

	header  *workload.Header
	surveys bool // this is a survey: the header takes names that are new
	tally   *workload.Tally
	origin  int64 // the start of the log, in seconds since 1970; 0 in a survey
	at      indices
	plain   []plainReader
	owners  [len(workload.NamedFields)]scan.Memo[int64] // numbers of names that were met lately

	arrays    scan.NumberSet // the numbers of jobs that one of their tasks has taken
	numArrays int            // how many were put into arrays; at most maxArrays
	numTasks  int64          // how many tasks have numbers of their own, above HighestJob

	fields     rowFields // of the present row
	now, ahead *job      // what Record returns, and the next one
	begun      bool      // the first job has been read into ahead
	err        error
}

// job is a record that was read, before its steps are.
type job struct {
	valid  bool  // there is one
	line   int64 // of its row, from 1
	id     []byte
	record workload.Record
	more   []workload.Value // the memory of record.More
	sum    bool             // its row tells no energy: the sum over its steps is taken
	task   bool             // of an array, or a part of a heterogeneous job, without a JobIDRaw
	number bool             // numberTask gave it its number
}

// plainReader says where a column that is taken as it is comes from, and where it goes to.
type plainReader struct {
	field, index int // of the row, of Record.More
	text         bool
}

// begin prepares the reading of records with the columns of a header.
func (r *reader) begin(h *workload.Header, a *workload.Tally) {
	r.header, r.tally, r.origin = h, a, h.UnixStartTime
	r.arrays = scan.NewNumberSet()
	r.at = newIndices(h)
	for _, p := range r.heading.plain {
		if i := slices.IndexFunc(h.Columns, func(c workload.Column) bool { return c.Name == p.column.Name }); i >= 0 {
			r.plain = append(r.plain, plainReader{field: p.field, index: i, text: p.column.Text})
		}
	}
	more := make([]workload.Value, 2*len(h.Columns))
	r.now, r.ahead = &job{}, &job{}
	r.now.more, r.ahead.more = more[:len(h.Columns)], more[len(h.Columns):]
}

func (r *reader) Header() *workload.Header { return r.header }
func (r *reader) Record() *workload.Record { return &r.now.record }
func (r *reader) Line() int64              { return r.now.line }
func (r *reader) Err() error               { return r.err }
func (r *reader) Report() *workload.Report { return r.tally.Report() }

// Next finds the next job. The tally compares it with the others now that its steps are in.
func (r *reader) Next() bool {
	if !r.begun {
		r.begun = true
		r.toNextJob()
	}
	r.now, r.ahead = r.ahead, r.now
	if !r.now.valid {
		return false
	}
	r.ahead.valid = false
	r.toNextJob()
	if r.now.number {
		r.tally.TookNumbered(r.now.line, &r.now.record)
	} else {
		r.tally.Took(r.now.line, &r.now.record)
	}
	return true
}

// toNextJob reads the steps of the job at hand, and the next job into ahead.
func (r *reader) toNextJob() {
	for r.err == nil && r.lines.Next() {
		line := r.lines.Text()
		if len(line) == 0 || string(line) == r.heading.line { // files put one behind the other
			continue
		}
		r.tally.Line()
		// A row is damaged, a step of the job now, or the next job, with which ahead is found.
		switch {
		case r.lines.TooLong():
			r.err = r.tally.Damage(r.lines.Number(), "", workload.LineTooLong, line, fmt.Sprintf("a row of at most %d bytes", scan.LongestLine))
		case !r.cut(line):
			r.err = r.tally.Damage(r.lines.Number(), "", workload.WrongFields, line, fmt.Sprintf("%d fields, as in the heading", len(r.heading.names)))
		case bytes.IndexByte(r.id(), '.') >= 0:
			r.step()
		case r.job():
			return
		}
	}
	if r.err == nil && r.lines.Err() != nil {
		r.err = fmt.Errorf("%s: %w", r.name, r.lines.Err())
	}
}

// cut cuts a row, and reports whether it has as many fields as the heading.
func (r *reader) cut(line []byte) bool {
	if h := r.heading; h.trailing {
		var ended bool
		if line, ended = bytes.CutSuffix(line, h.separator); !ended {
			return false
		}
	}
	return r.fields.cut(r.heading, line) && len(r.fields.of) == len(r.heading.names)
}

// field is the text of the present row in the column of a role. It is nil if there is no such column,
// and empty but not nil if the row has nothing there.
func (r *reader) field(of role) []byte {
	if i := r.heading.at[of]; i >= 0 {
		return r.fields.of[i]
	}
	return nil
}

// id returns the text that tells rows of jobs and of steps apart: JobID, or JobIDRaw if there is no
// JobID.
func (r *reader) id() []byte {
	if id := r.field(roleJobID); id != nil {
		return id
	}
	return r.field(roleJobIDRaw)
}

// damage leaves the row out. It returns false.
func (r *reader) damage(of role, why workload.Reason, want string) bool {
	r.err = r.tally.Damage(r.lines.Number(), r.title(r.heading.at[of]), why, r.field(of), want)
	return false
}

// odd notes a value that cannot be read, and is taken as unknown.
func (r *reader) odd(field int) {
	r.tally.Add(r.lines.Number(), r.title(field), workload.ValueUnreadable, r.fields.of[field])
}

// title is the heading of a column, spelt as sacct(1) spells it.
func (r *reader) title(field int) string {
	name := r.heading.names[field]
	if as, ok := documented[name]; ok {
		return as
	}
	return name
}

const (
	wantJob     = "a job's number as in 17, 17_4, 17_[5-9%2] or 17+1"
	wantInstant = "2024-01-31T10:00:00, or seconds since 1970"
	wantLength  = "a time as in 1-02:03:04"
	wantCount   = "a whole number"
)

// job makes a record of a row, into ahead. It reports false if the row is damaged.
func (r *reader) job() bool {
	j := r.ahead
	rec := &j.record
	*rec = workload.Record{
		Wait: workload.UnknownTime, Runtime: workload.UnknownTime, Allocated: workload.Unknown, CPUTime: workload.UnknownTime,
		UsedMemory: workload.Unknown, Requested: workload.Unknown, Estimate: workload.UnknownTime, RequestedMemory: workload.Unknown,
		Executable: workload.Unknown, Preceding: workload.Unknown, ThinkTime: workload.UnknownTime, More: j.more,
	}
	for i := range rec.More {
		rec.More[i] = workload.UnknownValue
	}
	j.line, j.id = r.lines.Number(), append(j.id[:0], r.id()...)
	// State and resources come first: times depend on the one, sizes on the others.
	goesOn := r.state(rec)
	alloc, req := r.resources(rec)
	if !r.number(rec) || !r.times(rec, goesOn) || !r.limit(rec) || !r.sizes(rec, alloc, req) {
		return false
	}
	r.memory(rec, req)
	r.usage(j, alloc)
	rec.User = r.owner(workload.FieldUser, roleUser, roleUID)
	rec.Group = r.owner(workload.FieldGroup, roleGroup, roleGID)
	rec.Partition = r.owner(workload.FieldPartition, rolePartition, rolePartition)
	rec.Queue = rec.Partition // Slurm has no queues beside partitions
	for i := range r.plain {
		r.takePlain(&r.plain[i], rec)
	}
	j.number = j.task && !r.surveys && r.numberTask(rec)
	j.valid = true
	return true
}

// numberTask gives a task of an array, or a part of a heterogeneous job, a number of its own if
// another one has the number of its JobID already: the next one above HighestJob, so that it is new.
// It reports whether it did. The first task of an array keeps the array's number; beyond maxArrays
// arrays only if the numbers of arrays follow each other.
func (r *reader) numberTask(rec *workload.Record) bool {
	array := rec.Job
	first := r.arrays.Next(array)
	if !first && r.numArrays < maxArrays {
		ascends, given := r.arrays.Add(array)
		first = ascends || !given
	}
	if first {
		r.numArrays++
		return false
	}
	if r.numTasks == math.MaxInt64-r.header.HighestJob {
		return false // there is no number above: the task keeps the array's
	}
	r.numTasks++
	rec.Job = r.header.HighestJob + r.numTasks
	return true
}

// set sets a derived column, if the header has it: a survey drops rare columns that nobody uses.
func (r *reader) set(rec *workload.Record, c column, v workload.Value) {
	if i := r.at[c]; i >= 0 {
		rec.More[i] = v
	}
}

// setNumber is set for a number; NaN is not known.
func (r *reader) setNumber(rec *workload.Record, c column, x float64) {
	r.set(rec, c, workload.NumberValue(x))
}

// setText is set for a text; an empty one is not known.
func (r *reader) setText(rec *workload.Record, c column, text []byte) {
	if i := r.at[c]; i >= 0 && len(text) > 0 {
		rec.More[i] = workload.TextValue(r.texts.Of(text))
	}
}

// number reads which job it is. JobID has one of these forms:
//
//	17          a job
//	17_4        task 4 of array 17
//	17_[5-9%2]  the tasks of array 17 that still wait, in one row; at most two of them run at once
//	17+1        part 1 of heterogeneous job 17
//
// JobIDRaw, if it is there, is a plain number that differs between tasks, and is taken instead.
func (r *reader) number(rec *workload.Record) bool {
	raw := r.field(roleJobIDRaw)
	r.ahead.task = false
	if of := roleJobID; r.heading.has(of) {
		// The digits in front, and what kind of job the letter behind them tells.
		id := r.field(of)
		end := 0
		for end < len(id) && id[end]-'0' <= 9 {
			end++
		}
		n, why, ok := whole(id[:end], math.MaxInt64)
		if !ok {
			return r.damage(of, why, wantJob)
		}
		rec.Job = n
		if end < len(id) {
			r.ahead.task = raw == nil
			kind, part := id[end], id[end+1:]
			n, why, ok := whole(part, math.MaxInt32)
			switch {
			case kind == '_' && len(part) > 2 && part[0] == '[':
				r.setText(rec, colArray, id[:end])
				r.setText(rec, colArrayTasks, part)
			case kind != '_' && kind != '+':
				return r.damage(of, workload.NotANumber, wantJob)
			case !ok:
				return r.damage(of, why, wantJob)
			case kind == '_':
				r.setText(rec, colArray, id[:end])
				r.setNumber(rec, colArrayIndex, float64(n))
			case kind == '+':
				r.setText(rec, colHetJob, id[:end])
				r.setNumber(rec, colHetOffset, float64(n))
			}
		}
	}
	// JobIDRaw goes before what JobID says.
	if raw != nil {
		n, why, ok := whole(raw, math.MaxInt64)
		if !ok {
			return r.damage(roleJobIDRaw, why, "a job's number")
		}
		rec.Job = n
	}
	return true
}

// state reads what became of the job, and reports whether it holds processors still. A state that
// Slurm does not document is kept as text and has no status.
func (r *reader) state(rec *workload.Record) (goesOn bool) {
	rec.Status = workload.Unknown
	text := r.field(roleState)
	if len(text) == 0 {
		return false
	}
	name, by, status := state(text)
	rec.Status = status
	if name == "" {
		r.setText(rec, colState, text)
		return false
	}
	r.set(rec, colState, workload.TextValue(name))
	r.setNumber(rec, colCancelledBy, by)
	return name == "RUNNING" || name == "SUSPENDED"
}

// instant reads an instant in seconds since 1970, or -1 if it is not known. notBefore is an instant
// of the row that must come before it: see clock.instant. ok is false if the row is damaged.
func (r *reader) instant(of role, notBefore int64) (at int64, ok bool) {
	text := r.field(of)
	if isUnknown(text) {
		return -1, true
	}
	at, why, ok := r.clock.read(text, notBefore)
	if !ok {
		r.damage(of, why, wantInstant)
	}
	return at, ok
}

// times reads when the job was submitted, started and ended, and how long it ran. goesOn says that
// the job runs still by its state.
func (r *reader) times(rec *workload.Record, goesOn bool) bool {
	// The instants, each of which must come before the next one. Eligible is of no consequence for a
	// record, so that one that cannot be read is only noted.
	submit, ok := r.instant(roleSubmit, math.MinInt64)
	if !ok {
		return false
	}
	if submit < 0 {
		return r.damage(roleSubmit, workload.NotANumber, wantInstant)
	}
	rec.Submit = r.since(submit)
	if text := r.field(roleEligible); !isUnknown(text) {
		if at, _, ok := r.clock.read(text, submit); ok {
			r.setNumber(rec, colEligible, r.since(at).Seconds())
		} else {
			r.odd(r.heading.at[roleEligible])
		}
	}
	start, ok := r.instant(roleStart, submit)
	if !ok {
		return false
	}
	end, ok := r.instant(roleEnd, max(start, submit))
	if !ok {
		return false
	}
	elapsed, ok := r.elapsed(start, end)
	if !ok {
		return false
	}
	// The wait is from the submission to the start. A job that has started, and whose column End says
	// that it has not ended, goes on, too.
	switch {
	case start >= submit:
		rec.Wait = des.Time(start-submit) * des.Second
		goesOn = goesOn || end < 0 && r.heading.has(roleEnd)
	case start >= 0: // a clock that was wrong
		r.odd(r.heading.at[roleStart])
	}
	// Elapsed is the runtime of a job that is over; of one that goes on it is how long it has run so
	// far. A job that was cancelled while it waited has neither: sacct prints 0 for it.
	started := start >= 0 || elapsed > 0 || !r.heading.has(roleStart)
	switch {
	case goesOn && elapsed >= 0:
		r.setNumber(rec, colElapsed, elapsed.Seconds())
	case started:
		rec.Runtime = elapsed
	}
	// End is a column of its own only where submission, wait and runtime do not give it: of a job that
	// was suspended, or cancelled before it started.
	if end >= 0 && (rec.Wait < 0 || rec.Runtime < 0 || r.since(end) != rec.Submit+rec.Wait+rec.Runtime) {
		r.setNumber(rec, colEnd, r.since(end).Seconds())
	}
	return true
}

// since turns seconds since 1970 into an instant of the log.
func (r *reader) since(at int64) des.Time { return des.Time(at-r.origin) * des.Second }

// elapsed reads how long the job has run, without the time for which it was suspended. Without a
// column for it, it is the time from start to end, in seconds since 1970, or -1 if they are unknown.
func (r *reader) elapsed(start, end int64) (des.Time, bool) {
	of := roleElapsedRaw
	if !r.heading.has(of) {
		of = roleElapsed
	}
	text := r.field(of)
	switch {
	case !isUnknown(text):
		t, why, ok := duration(text)
		if !ok {
			r.damage(of, why, wantLength)
		}
		return t, ok
	case text == nil && start >= 0 && end >= start: // there is no such column
		return des.Time(end-start) * des.Second, true
	}
	return workload.UnknownTime, true
}

// limit reads the runtime that was asked for: Timelimit, a length, or TimelimitRaw, minutes. Its words
// UNLIMITED and Partition_Limit go into a column, and the requested time is unknown.
func (r *reader) limit(rec *workload.Record) bool {
	of := roleTimelimit
	if !r.heading.has(of) {
		of = roleTimelimitRaw
	}
	text := r.field(of)
	switch {
	case isUnknown(text):
	case text[0] == 'U' || text[0] == 'P': // UNLIMITED, Partition_Limit
		r.setText(rec, colTimeLimit, text)
	case of == roleTimelimit:
		t, why, ok := duration(text)
		if !ok {
			return r.damage(of, why, wantLength)
		}
		rec.Estimate = t
	default:
		minutes, why, ok := whole(text, maxTime/60)
		if !ok {
			return r.damage(of, why, "minutes")
		}
		rec.Estimate = des.Time(minutes) * des.Minute
	}
	return true
}

// resources reads what was allocated and requested in Slurm's own words for it, and sets the columns
// of the texts and of GPUs: the allocated ones, or those requested if nothing was allocated.
func (r *reader) resources(rec *workload.Record) (alloc, req *tres) {
	alloc, req = r.tresOf(rec, roleAllocTRES, colTRES), r.tresOf(rec, roleReqTRES, colReqTRES)
	gpus := alloc.gpus
	if alloc == noTRES {
		gpus = req.gpus
	}
	r.setNumber(rec, colGPUs, gpus)
	return alloc, req
}

// noTRES are resources of which nothing is told.
var noTRES = readTRES("")

// tresOf reads one list of resources into a column.
func (r *reader) tresOf(rec *workload.Record, of role, c column) *tres {
	text := r.field(of)
	if len(text) == 0 {
		return noTRES
	}
	t, ok := r.tres.Find(text)
	if !ok {
		t = readTRES(r.texts.Of(text))
		r.tres.Put(t.text, t)
	}
	r.set(rec, c, workload.TextValue(t.text))
	if !t.sound {
		r.odd(r.heading.at[of])
	}
	return t
}

// sizes reads the processors, from their columns or else from the resources (cpu=N). Of a job that
// never started, AllocCPUS and NCPUS are its requested processors, and nothing was allocated.
func (r *reader) sizes(rec *workload.Record, alloc, req *tres) bool {
	count := func(of role, instead float64) (n int64, ok bool) { // of a column, or instead if it has nothing
		text := r.field(of)
		if len(text) == 0 {
			if instead >= 0 && instead <= math.MaxInt32 {
				return int64(instead), true
			}
			return workload.Unknown, true
		}
		n, why, ok := whole(text, math.MaxInt32)
		if !ok {
			r.damage(of, why, wantCount)
		}
		return n, ok
	}
	var ok bool
	if rec.Allocated, ok = count(roleAllocCPUs, alloc.cpus); !ok {
		return false
	}
	if rec.Requested, ok = count(roleReqCPUs, req.cpus); !ok {
		return false
	}
	if rec.Wait < 0 && rec.Runtime < 0 && r.heading.has(roleStart) && rec.Allocated > 0 {
		if rec.Requested < 1 {
			rec.Requested = rec.Allocated
		}
		rec.Allocated = workload.Unknown
	}
	return true
}

// memory reads the memory that was asked for: ReqMem, of the job or (until Slurm 21.08) with an ending
// of a processor (c) or a node (n), or else mem=N of the requested resources. Column memory has the
// job's in kB; field 10 of SWF has a processor's.
func (r *reader) memory(rec *workload.Record, req *tres) {
	procs := processors(rec)
	kB := req.mem
	if text := r.field(roleReqMem); !isUnknown(text) {
		x, per, ok := memory(text, mebiUnit)
		switch {
		case ok && per == 0:
		case ok && per == 'c' && procs > 0:
			x *= float64(procs)
		case ok && per == 'n' && r.nodes(req) > 0:
			x *= r.nodes(req)
		default:
			x = req.mem
			r.odd(r.heading.at[roleReqMem])
		}
		kB = x
	}
	if math.IsNaN(kB) {
		return
	}
	r.setNumber(rec, colMemory, kB)
	rec.RequestedMemory = ofProcessor(kB, procs)
}

// processors returns the number of processors that the job asked for or, if that is unknown, had;
// it may be unknown.
func processors(rec *workload.Record) int64 {
	if rec.Requested > 0 {
		return rec.Requested
	}
	return rec.Allocated
}

// maxMemory bounds the memory of a processor, in kB.
const maxMemory = 1 << 50

// ofProcessor is a processor's part of the job's memory, in whole kB.
func ofProcessor(kB float64, procs int64) int64 {
	if procs < 1 || kB > maxMemory {
		return workload.Unknown
	}
	return int64(kB / float64(procs))
}

// averageCPU is field 6 of SWF, the CPU time of a processor on average, to the nearest tick: of a
// total over procs processors, or UnknownTime if one of the two is unknown.
func averageCPU(total des.Time, procs int64) des.Time {
	if procs < 1 || total < 0 {
		return workload.UnknownTime
	}
	return (total + des.Time(procs/2)) / des.Time(procs)
}

// nodes returns the number of nodes that the job has or asks for, by the first column that tells
// it; otherwise NaN.
func (r *reader) nodes(req *tres) float64 {
	for _, p := range r.heading.plain {
		if p.column.Name == "nodes" || p.column.Name == "req_nodes" {
			if n, _, ok := whole(r.fields.of[p.field], math.MaxInt32); ok && n > 0 {
				return float64(n)
			}
		}
	}
	return req.nodes
}

// usage reads what the job used, so far as its own row tells it: CPU time, exit code and signal
// (ExitCode is CODE:SIGNAL), memory and energy. Its steps may add to it.
func (r *reader) usage(j *job, alloc *tres) {
	rec := &j.record
	if text := r.field(roleTotalCPU); !isUnknown(text) {
		if t, _, ok := duration(text); ok {
			r.setNumber(rec, colTotalCPU, t.Seconds())
			rec.CPUTime = averageCPU(t, rec.Allocated)
		} else {
			r.odd(r.heading.at[roleTotalCPU])
		}
	}
	if text := r.field(roleExitCode); !isUnknown(text) {
		code, signal, _ := bytes.Cut(text, []byte{':'})
		a, _, okA := whole(code, math.MaxInt32)
		b, _, okB := whole(signal, math.MaxInt32)
		if okA && okB {
			r.setNumber(rec, colExitCode, float64(a))
			r.setNumber(rec, colSignal, float64(b))
		} else {
			r.odd(r.heading.at[roleExitCode])
		}
	}
	// Without an energy in its own columns a job has that of AllocTRES (energy=N), or else the sum over
	// its steps.
	rss, cpu, energy := r.measured()
	r.setNumber(rec, colMaxRSS, rss)
	r.setNumber(rec, colAveCPU, cpu)
	if !(energy > 0) && alloc.energy > 0 {
		energy = alloc.energy
	}
	r.setNumber(rec, colEnergy, energy)
	j.sum = !(energy > 0)
}

// measured reads what both jobs and steps may have: the largest memory of a task in kB,
// the mean CPU time of a task in s, and the energy in J; NaN where it is not told.
func (r *reader) measured() (rss, cpu, energy float64) {
	rss, cpu, energy = math.NaN(), math.NaN(), math.NaN()
	if text := r.field(roleMaxRSS); !isUnknown(text) {
		kB, per, ok := memory(text, bytesUnit)
		if ok && per == 0 {
			rss = kB
		} else {
			r.odd(r.heading.at[roleMaxRSS])
		}
	}
	if text := r.field(roleAveCPU); !isUnknown(text) {
		if t, _, ok := duration(text); ok {
			cpu = t.Seconds()
		} else {
			r.odd(r.heading.at[roleAveCPU])
		}
	}
	for _, of := range [...]role{roleEnergyRaw, roleEnergy} {
		if text := r.field(of); math.IsNaN(energy) && !isUnknown(text) {
			var ok bool
			if energy, ok = joules(text); !ok {
				energy = math.NaN()
				r.odd(r.heading.at[of])
			}
		}
	}
	return rss, cpu, energy
}

// step takes a step into the job above: its memory and CPU time if they are larger, its energy into
// the sum. A step whose job does not stand right above is only counted.
func (r *reader) step() {
	id := r.id()
	r.tally.Add(r.lines.Number(), "", workload.JobStep, id)
	if !bytes.Equal(id[:bytes.IndexByte(id, '.')], r.now.id) {
		return
	}
	// A column that the log does not have, and a value that is not told, change nothing.
	rss, cpu, energy := r.measured()
	rec := &r.now.record
	larger := func(c column, x float64) {
		if i := r.at[c]; i >= 0 && !(x <= rec.More[i].Number) && !math.IsNaN(x) {
			rec.More[i].Number = x
		}
	}
	larger(colMaxRSS, rss)
	larger(colAveCPU, cpu)
	if i := r.at[colEnergy]; i >= 0 && r.now.sum && energy > 0 {
		if sum := &rec.More[i].Number; *sum > 0 {
			*sum += energy
		} else {
			*sum = energy
		}
	}
}

// owner is the number of a user, group or partition: of its name, or the UID or GID if the log has no
// column of names. A survey gives new names their numbers, up to maxNames; a name beyond them, and one
// that a reading finds new, is noted and unknown.
func (r *reader) owner(field int, byName, byNumber role) int64 {
	if !r.heading.has(byName) {
		text := r.field(byNumber)
		if isUnknown(text) {
			return workload.Unknown
		}
		n, _, ok := whole(text, math.MaxInt64)
		if !ok {
			r.odd(r.heading.at[byNumber])
			return workload.Unknown
		}
		return n
	}
	name := r.field(byName)
	if len(name) == 0 {
		return workload.Unknown
	}
	// Names that came lately have their numbers at hand. In a log whose names are all numbers, the survey
	// has forgotten the names: a name is its own number then.
	known := &r.owners[field-workload.FieldUser]
	if n, ok := known.Find(name); ok {
		return n
	}
	names := r.header.Names(field)
	n := names.Find(name)
	if !r.surveys && names.Len() == 0 { // all are numbers
		n = asNumber(name)
	}
	switch {
	case n != workload.Unknown:
		known.Put(r.texts.Of(name), n)
	case r.surveys && names.Len() < maxNames && len(name) <= maxName:
		n = names.Number(name)
	default:
		r.odd(r.heading.at[byName])
	}
	return n
}

// asNumber is the number that a name is, if it is written as a number is (without zeros in front, so
// that the number gives the name back), or workload.Unknown.
func asNumber(name []byte) int64 {
	n, _, ok := whole(name, math.MaxInt64)
	if !ok || name[0] == '0' && len(name) > 1 {
		return workload.Unknown
	}
	return n
}

// forgetNumbers drops the names of fields in which all names are numbers: these stand.
func forgetNumbers(h *workload.Header) {
	for _, field := range workload.NamedFields {
		all := true
		for _, name := range h.Names(field).All() {
			all = all && asNumber([]byte(name)) != workload.Unknown
		}
		if all && h.Names(field).Len() > 0 {
			h.Forget(field)
		}
	}
}

// takePlain takes a column as it is. Numbers of these columns have neither units nor signs.
func (r *reader) takePlain(p *plainReader, rec *workload.Record) {
	text := r.fields.of[p.field]
	switch {
	case p.text:
		if len(text) == 0 || string(text) == "None assigned" {
			return
		}
		rec.More[p.index].Text = r.texts.Of(text)
	case !isUnknown(text):
		x, letter, rest, ok := amount(text, 1)
		if !ok || letter != 0 || len(rest) > 0 {
			r.odd(p.field)
			return
		}
		rec.More[p.index].Number = x
	}
}
