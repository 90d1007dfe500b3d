package sacct

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/blocks"
	"github.com/gridslot/gridslot/workload"
)

// This file writes what `sacct --parsable2` prints.

// held are the fields of SWF that are written.
var held = workload.FieldSet(1, 2, 3, 4, 5, 6, 8, 9, 10, 11, workload.FieldUser, workload.FieldGroup, workload.FieldQueue, workload.FieldPartition)

// Write implements workload.Writable. Instants are local times of Zone or, in the hour that a clock
// shows twice, seconds since 1970. A log that does not tell when it begins is taken to begin in
// 1970.
func (f Format) Write(w io.Writer, h *workload.Header) (workload.RecordWriter, error) {
	out := &writer{rows: blocks.NewWriter(w, blockSize), header: h, clock: newClock(f.Zone), origin: h.UnixStartTime, at: newIndices(h)}
	out.choose()
	out.lost = workload.NewLosses(h, held, out.kept...)
	if h.MaxProcs > 0 || h.MaxNodes > 0 || h.Computer != "" {
		out.lost.Add("machine in the header", "there is no header: give --procs when the log is used")
	}
	for i, f := range out.fields {
		if i > 0 {
			out.rows.Text = append(out.rows.Text, separator)
		}
		out.rows.Text = append(out.rows.Text, f.heading...)
	}
	return out, out.line()
}

// separator stands between fields, as sacct --parsable2 writes it.
const separator = '|'

// writer writes a record as a row. Each method that appends a field counts in lost what the field
// cannot hold; check counts what shows only in several of them.
type writer struct {
	rows   blocks.Writer
	header *workload.Header
	clock  clock
	origin int64     // the start of the log, in seconds since 1970
	at     indices   // of the derived columns in the header
	fields []written // the columns of the log, in order
	kept   []string  // names of the header's columns that are held
	lost   *workload.Losses

	fraction bool // a time of the record at hand has a fraction of a second, which is cut
}

// written is a column of the log, and what appends a record's field of it.
type written struct {
	heading string
	append  func([]byte, *workload.Record) []byte
}

// blockSize is the number of bytes that the writer gathers before it writes them.
const blockSize = 64 << 10

// line ends a line.
func (w *writer) line() error {
	w.rows.Text = append(w.rows.Text, '\n')
	return w.rows.Spill()
}

// Write writes a record as a row.
func (w *writer) Write(rec *workload.Record) error {
	w.lost.Count(rec)
	w.fraction = false
	for i, f := range w.fields {
		if i > 0 {
			w.rows.Text = append(w.rows.Text, separator)
		}
		w.rows.Text = f.append(w.rows.Text, rec)
	}
	w.check(rec)
	return w.line()
}

func (w *writer) Close() error { return w.rows.Flush() }

func (w *writer) Lost() *workload.Losses { return w.lost }

// add adds a column.
func (w *writer) add(heading string, append func([]byte, *workload.Record) []byte) {
	w.fields = slices.Concat(w.fields, []written{{heading, append}})
}

// value returns a record's value in a derived column; unknown if the log does not have the column.
func (w *writer) value(rec *workload.Record, c column) workload.Value {
	if i := w.at[c]; i >= 0 {
		return rec.More[i]
	}
	return workload.UnknownValue
}

// keeps reports whether the log has any of these columns, and notes that they are held.
func (w *writer) keeps(columns ...column) bool {
	any := false
	for _, c := range columns {
		if w.at[c] >= 0 {
			any = true
			w.kept = append(w.kept, derived[c].column.Name)
		}
	}
	return any
}

// shown is a column that is written: always, or only where the log has any of the derived columns that
// it holds.
type shown struct {
	heading string
	holds   []column // the derived columns that a reader makes of it
	only    bool     // it is left out if the log has none of holds
	append  func(*writer, []byte, *workload.Record) []byte
}

// shownColumns are the columns that hold SWF's fields and the derived columns, in the order in which
// they are written. reader.job is their other half: it reads several columns together, so that there
// is no table for both.
var shownColumns = []shown{
	{"JobID", []column{colArray, colArrayIndex, colArrayTasks, colHetJob, colHetOffset}, false, (*writer).jobID},
	{"JobIDRaw", nil, false, func(_ *writer, b []byte, rec *workload.Record) []byte { return strconv.AppendInt(b, rec.Job, 10) }},
	{"User", nil, false, func(w *writer, b []byte, rec *workload.Record) []byte {
		return w.owner(b, workload.FieldUser, rec.User)
	}},
	{"Group", nil, false, func(w *writer, b []byte, rec *workload.Record) []byte {
		return w.owner(b, workload.FieldGroup, rec.Group)
	}},
	{"Partition", nil, false, (*writer).partition},
	{"Submit", nil, false, func(w *writer, b []byte, rec *workload.Record) []byte { return w.instant(b, rec.Submit) }},
	{"Eligible", []column{colEligible}, true, func(w *writer, b []byte, rec *workload.Record) []byte {
		return w.instantOf(b, w.value(rec, colEligible))
	}},
	{"Start", nil, false, (*writer).start},
	{"End", []column{colEnd}, false, (*writer).end},
	{"ElapsedRaw", []column{colElapsed}, false, (*writer).elapsed},
	{"Timelimit", []column{colTimeLimit}, false, (*writer).limit},
	{"AllocCPUS", nil, false, func(_ *writer, b []byte, rec *workload.Record) []byte { return count(b, rec.Allocated) }},
	{"ReqCPUS", nil, false, func(_ *writer, b []byte, rec *workload.Record) []byte { return count(b, rec.Requested) }},
	{"TotalCPU", []column{colTotalCPU}, false, (*writer).totalCPU},
	{"ReqMem", []column{colMemory}, false, (*writer).memory},
	{"MaxRSS", []column{colMaxRSS}, true, func(w *writer, b []byte, rec *workload.Record) []byte {
		return w.kilobytes(b, "max_rss", w.value(rec, colMaxRSS).Number)
	}},
	{"AveCPU", []column{colAveCPU}, true, func(w *writer, b []byte, rec *workload.Record) []byte { return w.lengthOf(b, rec, colAveCPU) }},
	{"AllocTRES", []column{colTRES, colGPUs}, true, (*writer).tres},
	{"ReqTRES", []column{colReqTRES}, true, func(w *writer, b []byte, rec *workload.Record) []byte {
		return w.text(b, w.value(rec, colReqTRES).Text)
	}},
	{"ConsumedEnergyRaw", []column{colEnergy}, true, func(w *writer, b []byte, rec *workload.Record) []byte {
		return w.number(b, "energy", w.value(rec, colEnergy).Number)
	}},
	{"State", []column{colState, colCancelledBy}, false, (*writer).state},
	{"ExitCode", []column{colExitCode, colSignal}, true, (*writer).exitCode},
}

// choose chooses the columns: those above, and of the log's columns those that Slurm has, or that are
// text. Users and groups without names are numbers, in columns of their own.
func (w *writer) choose() {
	for _, c := range shownColumns {
		if !w.keeps(c.holds...) && c.only {
			continue
		}
		switch {
		case c.heading == "User" && w.header.Names(workload.FieldUser).Len() == 0:
			c.heading = "UID"
		case c.heading == "Group" && w.header.Names(workload.FieldGroup).Len() == 0:
			c.heading = "GID"
		}
		w.add(c.heading, func(b []byte, rec *workload.Record) []byte { return c.append(w, b, rec) })
	}
	w.addPlain()
}

// addPlain adds the columns that are written as they are: those that a reader would take back under
// the same name and kind. The others are lost, which NewLosses tells.
func (w *writer) addPlain() {
	// The headings under which a reader takes columns of these names. Of two headings of one name
	// (NNodes and AllocNodes) the usual one is taken.
	headings := map[string]string{} // by names
	for heading, m := range meanings {
		if m.name != "" && heading != "allocnodes" { // nodes are NNodes
			headings[m.name] = documented[heading]
		}
	}
	headings["after"], headings["uid"], headings["gid"], headings["allocnodes"] = "Dependency", "UID", "GID", "AllocNodes"
	// Numbers need a heading that a reader knows as one of numbers; text may stand under its own name.
	for i, c := range w.header.Columns {
		heading, known := headings[c.Name]
		switch {
		case isDerived(c.Name) || !c.Text && !known:
			continue
		case !known:
			if heading = c.Name; wordEnd([]byte(heading)) != len(heading) || heading != strings.ToLower(heading) || heading == "" {
				continue // it would not be a heading, or not come back
			}
			if as, ok := documented[heading]; ok {
				heading = as
			}
		case c.Text != (meanings[strings.ToLower(heading)].role == roleText):
			continue
		}
		if slices.ContainsFunc(w.fields, func(f written) bool { return strings.EqualFold(f.heading, heading) }) {
			continue
		}
		w.kept = append(w.kept, c.Name)
		w.add(heading, func(b []byte, rec *workload.Record) []byte {
			if v := rec.More[i]; !c.Text {
				return w.number(b, c.Name, v.Number)
			} else if v.Text == "None assigned" { // which says that there is nothing
				w.lost.Add(c.Name, "text that would not come back as it is")
			}
			return w.text(b, rec.More[i].Text)
		})
	}
}

// owner writes a user or group: the name, or where the log has none the number.
func (w *writer) owner(b []byte, field int, n int64) []byte {
	names := w.header.Names(field)
	if names.Len() == 0 {
		return count(b, n)
	}
	name := names.Name(n)
	if name == "" && n >= 0 {
		w.lost.Add(workload.FieldNames[field-1], "a number without a name, where others have names")
	}
	return w.text(b, name)
}

// partition writes the partition's name; a queue is held if it is called the same.
func (w *writer) partition(b []byte, rec *workload.Record) []byte {
	name := func(field int, n int64) string {
		if n < 0 {
			return ""
		}
		if name := w.header.Names(field).Name(n); name != "" {
			return name
		}
		return strconv.FormatInt(n, 10)
	}
	partition, queue := name(workload.FieldPartition, rec.Partition), name(workload.FieldQueue, rec.Queue)
	if w.header.Names(workload.FieldQueue).Len() == 0 && rec.Queue == rec.Partition {
		queue = partition
	}
	if partition == "" {
		partition = queue
	}
	if queue != "" && queue != partition {
		w.lost.Add("queue", "Slurm has partitions alone")
	}
	return w.text(b, partition)
}

// jobID writes one of the forms of reader.number, if the columns that it stands for are whole, or the
// job number.
func (w *writer) jobID(b []byte, rec *workload.Record) []byte {
	array, het := w.value(rec, colArray).Text, w.value(rec, colHetJob).Text
	index, offset := w.value(rec, colArrayIndex), w.value(rec, colHetOffset)
	switch tasks := w.value(rec, colArrayTasks).Text; {
	case isNumber(array) && len(tasks) > 2 && tasks[0] == '[' && !strings.Contains(tasks, "."):
		return w.text(append(append(b, array...), '_'), tasks)
	case isNumber(array) && isCount(index):
		return strconv.AppendInt(append(append(b, array...), '_'), int64(index.Number), 10)
	case isNumber(het) && isCount(offset):
		return strconv.AppendInt(append(append(b, het...), '+'), int64(offset.Number), 10)
	case array+het+tasks != "" || index.Known() || offset.Known():
		w.lost.Add("array", "it is not written as Slurm has arrays")
	}
	return strconv.AppendInt(b, rec.Job, 10)
}

// isNumber reports whether a text is the number of an array or a job.
func isNumber(text string) bool {
	_, _, ok := whole([]byte(text), math.MaxInt64)
	return ok
}

// instant writes an instant of the log as the clock shows it.
func (w *writer) instant(b []byte, t des.Time) []byte {
	if t < 0 {
		return append(b, "Unknown"...)
	}
	w.fraction = w.fraction || t%des.Second != 0
	return w.absolute(b, w.origin+int64(t/des.Second))
}

// instantOf writes a column that is an instant, which may lie before the log.
func (w *writer) instantOf(b []byte, v workload.Value) []byte {
	if !v.Known() {
		return append(b, "Unknown"...)
	}
	if !(math.Abs(v.Number) <= maxTime) {
		return w.absolute(b, -1)
	}
	w.fraction = w.fraction || v.Number != math.Trunc(v.Number)
	return w.absolute(b, w.origin+int64(v.Number))
}

// absolute writes an instant given in seconds since 1970, as the clock shows it, or as a number if the
// clock shows that time twice or has more than four digits of the year.
func (w *writer) absolute(b []byte, at int64) []byte {
	shown, once := w.clock.show(at)
	switch {
	case at < 0 || at > maxTime:
		w.lost.Add("instants", "before 1970, or after the year 33,000")
		return append(b, "Unknown"...)
	case !once || shown >= year10000: // the clock does not tell which instant it is
		return strconv.AppendInt(b, at, 10)
	}
	return time.Unix(shown, 0).UTC().AppendFormat(b, "2006-01-02T15:04:05")
}

// year10000 is the first second of the year 10000, since 1970.
const year10000 = 253402300800

// seconds is a value as a time, or UnknownTime.
func seconds(v workload.Value) des.Time {
	if math.IsNaN(v.Number) || v.Number < 0 || v.Number > maxTime {
		return workload.UnknownTime
	}
	return des.Seconds(v.Number)
}

// start writes when the job started; end, when it ended: the column end if the log has it, or the end
// of the runtime.
func (w *writer) start(b []byte, rec *workload.Record) []byte {
	if rec.Wait < 0 {
		return append(b, "Unknown"...)
	}
	return w.instant(b, rec.Submit+rec.Wait)
}

// end writes when the job ended.
func (w *writer) end(b []byte, rec *workload.Record) []byte {
	switch end := w.value(rec, colEnd); {
	case end.Known():
		return w.instantOf(b, end)
	case rec.Wait < 0 || rec.Runtime < 0:
		return append(b, "Unknown"...)
	}
	return w.instant(b, rec.Submit+rec.Wait+rec.Runtime)
}

// elapsed writes the runtime, or how long a job has run that goes on.
func (w *writer) elapsed(b []byte, rec *workload.Record) []byte {
	t := rec.Runtime
	if t < 0 {
		t = seconds(w.value(rec, colElapsed))
	}
	return w.wholeSeconds(b, t)
}

// wholeSeconds writes a time in seconds without its fraction; nothing if it is not known.
func (w *writer) wholeSeconds(b []byte, t des.Time) []byte {
	if t < 0 {
		return b
	}
	w.fraction = w.fraction || t%des.Second != 0
	return strconv.AppendInt(b, int64(t/des.Second), 10)
}

// limit writes the requested time, or Slurm's word that stands for it in column time_limit.
func (w *writer) limit(b []byte, rec *workload.Record) []byte {
	switch word := w.value(rec, colTimeLimit).Text; {
	case word == "":
	case rec.Estimate >= 0 || word[0] != 'U' && word[0] != 'P' || isUnknown([]byte(word)):
		w.lost.Add("time_limit", "there is a requested time, or it is no word of Slurm's")
	default:
		return w.text(b, word)
	}
	w.fraction = w.fraction || rec.Estimate > 0 && rec.Estimate%des.Second != 0
	return length(b, rec.Estimate/des.Second*des.Second)
}

// lengthOf writes a column that is a length.
func (w *writer) lengthOf(b []byte, rec *workload.Record, c column) []byte {
	v := w.value(rec, c)
	t := seconds(v)
	if v.Known() && (t < 0 || t.Seconds() != v.Number) {
		w.lost.Add(derived[c].column.Name, "Slurm has lengths from 0, to the microsecond")
	}
	return length(b, t)
}

// totalCPU writes the CPU time of the job: column total_cpu, or field 6 of SWF times the processors. A
// reader makes field 6 of it again; where that would be another one, it is told as lost.
func (w *writer) totalCPU(b []byte, rec *workload.Record) []byte {
	if total := w.value(rec, colTotalCPU); total.Known() {
		if rec.CPUTime != averageCPU(seconds(total), rec.Allocated) {
			w.lost.Add("average CPU time", "it is not total_cpu by the processors")
		}
		return w.lengthOf(b, rec, colTotalCPU)
	}
	switch {
	case rec.CPUTime < 0:
		return b
	case rec.Allocated < 1 || rec.CPUTime > maxTime*des.Second/des.Time(rec.Allocated):
		w.lost.Add("average CPU time", "there is no number of processors for their sum")
		return b
	}
	return length(b, rec.CPUTime*des.Time(rec.Allocated))
}

// memory writes the job's, or where it is not told a processor's.
func (w *writer) memory(b []byte, rec *workload.Record) []byte {
	procs := processors(rec)
	if total := w.value(rec, colMemory); total.Known() {
		if rec.RequestedMemory != ofProcessor(total.Number, procs) {
			w.lost.Add("requested memory", "it is not the job's by the processors")
		}
		return w.kilobytes(b, "memory", total.Number)
	}
	switch {
	case rec.RequestedMemory < 0:
		return b
	case procs < 1 || rec.RequestedMemory > maxMemory:
		w.lost.Add("requested memory", "of a processor, where there is no number of processors")
		return b
	}
	return append(w.kilobytes(b, "memory", float64(rec.RequestedMemory)), 'c')
}

// tres writes what was allocated, of which GPUs may be known alone.
func (w *writer) tres(b []byte, rec *workload.Record) []byte {
	text, req, gpus := w.value(rec, colTRES).Text, w.value(rec, colReqTRES).Text, w.value(rec, colGPUs)
	if w.at[colTRES] < 0 && req == "" && gpus.Known() {
		const item = "gres/gpu="
		if with := w.number(append(b, item...), "gpus", gpus.Number); len(with) > len(b)+len(item) {
			return with
		}
		return b
	}
	if told := readTRES(cmp.Or(text, req)).gpus; gpus.Known() && told != gpus.Number {
		w.lost.Add("gpus", "tres tells another number")
	}
	return w.text(b, text)
}

// state writes column state or, without it, Slurm's usual state of the status, and behind it who has
// cancelled the job. A reader makes the status of the state.
func (w *writer) state(b []byte, rec *workload.Record) []byte {
	text := w.value(rec, colState).Text
	status := int64(workload.Unknown)
	if text == "" {
		switch rec.Status {
		case workload.StatusCompleted:
			text = "COMPLETED"
		case workload.StatusFailed:
			text = "FAILED"
		case workload.StatusCancelled:
			text = "CANCELLED"
		}
	}
	// What a reader will make of the text.
	if text != "" {
		_, _, status = state([]byte(text))
	}
	if status != rec.Status {
		w.lost.Add("status", "Slurm has another for the state, or none")
	}
	b = w.text(b, text)
	switch by := w.value(rec, colCancelledBy); {
	case !by.Known():
	case text == "CANCELLED" && isCount(by):
		return strconv.AppendInt(append(b, " by "...), int64(by.Number), 10)
	default:
		w.lost.Add("cancelled_by", "the job is not CANCELLED, or it is no number of a user")
	}
	return b
}

// exitCode writes CODE:SIGNAL.
func (w *writer) exitCode(b []byte, rec *workload.Record) []byte {
	code, signal := w.value(rec, colExitCode), w.value(rec, colSignal)
	if !code.Known() && !signal.Known() {
		return b
	}
	if !isCount(code) || !isCount(signal) {
		w.lost.Add("exit_code", "Slurm has whole numbers, of both the exit code and the signal")
		return b
	}
	return strconv.AppendInt(append(strconv.AppendInt(b, int64(code.Number), 10), ':'), int64(signal.Number), 10)
}

// check counts what is lost of the times of a record.
func (w *writer) check(rec *workload.Record) {
	if w.fraction {
		w.lost.Add("fractions of seconds", "Slurm has whole ones")
	}
	if w.header.UnixStartTime == 0 && rec.Submit >= 0 {
		w.lost.Add("start of the log", "it is not told: the log is taken to begin in 1970")
	}
	neverStarted := rec.Wait < 0 && rec.Runtime <= 0
	if neverStarted && rec.Runtime == 0 {
		w.lost.Add("runtime of 0", "without a wait it says that the job never started")
	}
	if neverStarted && rec.Allocated > 0 {
		w.lost.Add("allocated processors", "of a job that never started")
	}
	elapsed, state := w.value(rec, colElapsed), w.value(rec, colState).Text
	goesOn := rec.Runtime < 0 && (rec.Wait >= 0 && !w.value(rec, colEnd).Known() || state == "RUNNING" || state == "SUSPENDED")
	if elapsed.Known() && (!goesOn || seconds(elapsed) < 0) {
		w.lost.Add("elapsed", "the job does not run any more")
	}
}

// text writes text; what would end the field or the line is lost.
func (w *writer) text(b []byte, text string) []byte {
	from := len(b)
	b = append(b, text...)
	lost := false
	for i := from; i < len(b); i++ {
		if c := b[i]; c == separator || c == '\n' || c == '\r' {
			b[i], lost = '_', true
		}
	}
	if lost {
		w.lost.Add("letters", "fields and rows end with | and line ends: _ stands for them")
	}
	return b
}

// count writes a number, or nothing if it is not known.
func count(b []byte, n int64) []byte {
	if n < 0 {
		return b
	}
	return strconv.AppendInt(b, n, 10)
}

// number writes a number in decimal, nothing where it is not known.
func (w *writer) number(b []byte, name string, x float64) []byte {
	if math.IsNaN(x) {
		return b
	}
	from := len(b)
	if b = strconv.AppendFloat(b, x, 'f', -1, 64); x < 0 || len(b)-from > maxNumber || math.IsInf(x, 0) {
		w.lost.Add(name, "numbers below 0, or of more than 40 digits")
		return b[:from]
	}
	return b
}

// kilobytes writes an amount of memory in kB.
func (w *writer) kilobytes(b []byte, name string, kB float64) []byte {
	from := len(b)
	if b = w.number(b, name, kB); len(b) > from {
		b = append(b, 'K')
	}
	return b
}

// isCount reports whether a value is a number that counts.
func isCount(v workload.Value) bool {
	return v.Number >= 0 && v.Number <= math.MaxInt32 && v.Number == math.Trunc(v.Number)
}

// length writes a time as DD-HH:MM:SS.ffffff, without the days and the fraction where
// they are 0; nothing where it is not known.
func length(b []byte, t des.Time) []byte {
	if t < 0 {
		return b
	}
	s := int64(t / des.Second)
	if days := s / 86400; days > 0 {
		b = append(strconv.AppendInt(b, days, 10), '-')
	}
	b = two(append(two(append(two(b, s/3600%24), ':'), s/60%60), ':'), s%60)
	if fraction := int64(t % des.Second); fraction > 0 {
		digits := strconv.AppendInt(nil, int64(des.Second)+fraction, 10)
		b = append(append(b, '.'), bytes.TrimRight(digits[1:], "0")...)
	}
	return b
}

// two writes a number below 100 in two digits.
func two(b []byte, n int64) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }
