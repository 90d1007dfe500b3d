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

// This file makes records of rows.

// indices are where the header's derived columns stand in Record.More, or -1.
type indices [numDerived]int

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

// reader reads records. It is a row ahead, since the steps of a job stand below it.
type reader struct {
	name    string
	lines   *scan.Lines
	heading *heading
	clock   clock
	texts   scan.Kept
	tres    scan.Memo[*tres]

	header  *workload.Header
	surveys bool // the header takes names that are new
	account *workload.Account
	origin  int64 // the instant 0 of records, in seconds since 1970
	at      indices
	plain   []plainReader
	owners  [len(workload.NamedFields)]scan.Memo[int64]

	arrays    scan.NumberSet // whose numbers tasks have
	numArrays int
	numTasks  int64 // that have numbers of their own

	fields     rowFields
	now, ahead *job
	begun      bool
	err        error
}

// job is a record that was read, before its steps are.
type job struct {
	valid  bool
	line   int64
	id     []byte // as its steps repeat it
	record workload.Record
	more   []workload.Value // the record's, while it is the reader's
	sum    bool             // its energy is the sum of its steps'
	task   bool             // of an array, or a part of a job, without a JobIDRaw
	number bool             // it was given a number of its own
}

// plainReader reads a column that is taken as it is.
type plainReader struct {
	field, index int // of the row, of Record.More
	text         bool
}

func (r *reader) begin(h *workload.Header, a *workload.Account) {
	r.header, r.account, r.origin = h, a, h.UnixStartTime
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
func (r *reader) Report() *workload.Report { return r.account.Report() }

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
		r.account.TookNumbered(r.now.line, &r.now.record)
	} else {
		r.account.Took(r.now.line, &r.now.record)
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
		r.account.Line()
		switch {
		case r.lines.TooLong():
			r.err = r.account.Damage(r.lines.Number(), "", workload.LineTooLong, line, fmt.Sprintf("a row of at most %d bytes", scan.LongestLine))
		case !r.cut(line):
			r.err = r.account.Damage(r.lines.Number(), "", workload.WrongFields, line, fmt.Sprintf("%d fields, as in the heading", len(r.heading.names)))
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

// field is that of a column, nil where there is no such column.
func (r *reader) field(of role) []byte {
	if i := r.heading.at[of]; i >= 0 {
		return r.fields.of[i]
	}
	return nil
}

func (r *reader) id() []byte {
	if id := r.field(roleJobID); id != nil {
		return id
	}
	return r.field(roleJobIDRaw)
}

// damage leaves the row out. It returns false.
func (r *reader) damage(of role, why workload.Reason, want string) bool {
	r.err = r.account.Damage(r.lines.Number(), r.title(r.heading.at[of]), why, r.field(of), want)
	return false
}

// odd notes a value that is taken as unknown.
func (r *reader) odd(field int) {
	r.account.Add(r.lines.Number(), r.title(field), workload.ValueUnreadable, r.fields.of[field])
}

// title is the heading of a column.
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

// job makes a record of a row. It reports false where the row is damaged.
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
	rec.Queue = rec.Partition
	for i := range r.plain {
		r.takePlain(&r.plain[i], rec)
	}
	j.number = j.task && !r.surveys && r.numberTask(rec)
	j.valid = true
	return true
}

// numberTask gives a task of an array, or a part of a heterogeneous job, a number of its own where
// another one has that of its JobID already: the next one above all in the log. It reports whether
// it did.
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
		return false // there is none
	}
	r.numTasks++
	rec.Job = r.header.HighestJob + r.numTasks
	return true
}

func (r *reader) set(rec *workload.Record, c column, v workload.Value) {
	if i := r.at[c]; i >= 0 {
		rec.More[i] = v
	}
}

func (r *reader) setNumber(rec *workload.Record, c column, x float64) {
	r.set(rec, c, workload.NumberValue(x))
}

func (r *reader) setText(rec *workload.Record, c column, text []byte) {
	if i := r.at[c]; i >= 0 && len(text) > 0 {
		rec.More[i] = workload.TextValue(r.texts.Of(text))
	}
}

// number reads which job it is.
func (r *reader) number(rec *workload.Record) bool {
	raw := r.field(roleJobIDRaw)
	r.ahead.task = false
	if of := roleJobID; r.heading.has(of) {
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
	if raw != nil {
		n, why, ok := whole(raw, math.MaxInt64)
		if !ok {
			return r.damage(roleJobIDRaw, why, "a job's number")
		}
		rec.Job = n
	}
	return true
}

// state reads what became of the job, and reports whether it goes on.
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

// instant reads an instant, or -1 where it is not known.
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

// times reads when the job was submitted, started and ended, and how long it ran.
func (r *reader) times(rec *workload.Record, goesOn bool) bool {
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
	switch {
	case start >= submit:
		rec.Wait = des.Time(start-submit) * des.Second
		goesOn = goesOn || end < 0 && r.heading.has(roleEnd)
	case start >= 0: // a clock that was wrong
		r.odd(r.heading.at[roleStart])
	}
	started := start >= 0 || elapsed > 0 || !r.heading.has(roleStart)
	switch {
	case goesOn && elapsed >= 0:
		r.setNumber(rec, colElapsed, elapsed.Seconds())
	case started:
		rec.Runtime = elapsed
	}
	if end >= 0 && (rec.Wait < 0 || rec.Runtime < 0 || r.since(end) != rec.Submit+rec.Wait+rec.Runtime) {
		r.setNumber(rec, colEnd, r.since(end).Seconds())
	}
	return true
}

// since is an instant of the log.
func (r *reader) since(at int64) des.Time { return des.Time(at-r.origin) * des.Second }

// elapsed reads how long the job has run.
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

// limit reads the runtime that was asked for.
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

// resources reads what was allocated and requested in Slurm's own words for it.
func (r *reader) resources(rec *workload.Record) (alloc, req *tres) {
	alloc, req = r.tresOf(rec, roleAllocTRES, colTRES), r.tresOf(rec, roleReqTRES, colReqTRES)
	gpus := alloc.gpus
	if alloc == noTRES {
		gpus = req.gpus
	}
	r.setNumber(rec, colGPUs, gpus)
	return alloc, req
}

var noTRES = readTRES("")

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

// sizes reads the processors. Before a job starts AllocCPUS and NCPUS are what it asked for.
func (r *reader) sizes(rec *workload.Record, alloc, req *tres) bool {
	count := func(of role, instead float64) (n int64, ok bool) {
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

// memory reads what was asked for.
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

// processors is how many the job asked for, or else was given.
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

// averageCPU is what of the job's CPU time is each processor's.
func averageCPU(total des.Time, procs int64) des.Time {
	if procs < 1 || total < 0 {
		return workload.UnknownTime
	}
	return (total + des.Time(procs/2)) / des.Time(procs)
}

// nodes is how many nodes the job has, or asks for.
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

// usage reads what the job used.
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

// step takes a step into the job above.
func (r *reader) step() {
	id := r.id()
	r.account.Add(r.lines.Number(), "", workload.JobStep, id)
	if !bytes.Equal(id[:bytes.IndexByte(id, '.')], r.now.id) {
		return
	}
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

// owner is the number of a user, group or partition.
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

// asNumber is the number that a name is as a number is written, or workload.Unknown.
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
