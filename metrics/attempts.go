package metrics

// attempts-POLICY.csv: a row an attempt, streamed in the order in which they end.

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/internal/decimal"
	"github.com/gridslot/gridslot/metrics/rows"
)

// AttemptsWriter is an Observer that writes attempts-POLICY.csv, a row for each
// attempt that is over. kept, lost and overhead are times of the job, as its
// runtime is, on a node of performance 1: what an attempt has done, and is kept or
// lost as in CapacityAccount, and what went into set-up and checkpoints. processor_time
// is what all its processors or nodes together really took.
type AttemptsWriter struct {
	// Allocation is the content of the column allocated_resources, as in JobsWriter.
	Allocation Allocation
	// Hold keeps rows on counted processors back, some 20 bytes each, until there is more to tell
	// than one run of each job: until a job is stopped or resized, or has overhead. If that never
	// happens, the file tells nothing that the file of jobs does not, and need not be written.
	// Held rows stand in memory, or in a temporary file if the rows go to a file.
	Hold bool

	text *rows.Writer[rows.Attempt]
	// over has the attempts that ended at this instant: their places are known when it is over.
	over []attemptRow
	// of is the attempt from which row, the row being written, is made.
	of   *attemptRow
	row  rows.Attempt
	meta *entity.Metascheduler

	// ended has the latest jobs whose rows are held, in the order of their ends. Of the first settled
	// jobs the instant of the end is over, so that their places are known.
	ended   []*entity.Run
	settled int
	// held has the rows of jobs before these, see hold; aside has earlier pieces, in the order of
	// their ends.
	held  []byte
	aside [][]byte
	// id and at are the job and the end of the latest row that is held: the next one is told by
	// its differences to these.
	id int64
	at des.Time

	// path is the file that the rows go to; "" if there is none.
	path string
	// spill is a temporary file with what would be in aside, if there is a path; sizes are the
	// bytes of its pieces, err is its first error.
	spill *atomicfile.Pending
	sizes []int
	err   error
}

// attemptRow has the values from which a row is made. run is nil if the row was held: the Attempt
// then has the place and the work.
type attemptRow struct {
	run    *entity.Run
	id     int64
	number int
	end    entity.End
	entity.Attempt
}

// NewAttemptsWriter returns a writer of attempts-POLICY.csv to w.
func NewAttemptsWriter(w io.Writer) *AttemptsWriter {
	a := &AttemptsWriter{}
	a.text = rows.NewWriter(w, rows.Attempts.With("allocated_resources", a.appendAllocated).With("processor_time", a.appendTook))
	return a
}

// Attach gives the writer the metascheduler whose jobs it writes. On named nodes nothing is held:
// the times of tasks would have to be.
func (w *AttemptsWriter) Attach(m *entity.Metascheduler) {
	w.meta = m
	w.Allocation = w.Allocation.of(m.Plan().Size())
	if entity.Named(m.Plan()) {
		w.Hold = false
	}
}

// Observe adds one event.
func (w *AttemptsWriter) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobFinished, entity.JobKilled:
		switch r := e.Run; {
		case !w.Hold:
		// It had an earlier attempt or overhead: from now on there is more to tell.
		case r.Ran() != r.Finish-r.Start:
			w.release()
		default:
			w.ended = append(w.ended, r)
			return
		}
	case entity.JobRequeued, entity.JobResized:
		if w.Hold {
			w.release()
		}
	default:
		return
	}
	w.observe(e)
}

// observe adds the attempt that e has ended, if it has ended one, to the rows of this instant.
func (w *AttemptsWriter) observe(e entity.JobEvent) {
	if a, number, how, ok := entity.Over(e); ok {
		w.over = append(w.over, attemptRow{e.Run, e.Run.ID, number, how, a})
	}
}

// endedAtOnce is the number of jobs whose rows are held at a time. A processor makes many rows one
// after the other much faster than one row at each end of a job: then it would have to fetch the
// code of hold anew for each of them. More jobs would only cost memory.
const endedAtOnce = 128

// holdSettled holds the rows of the jobs whose places are known.
func (w *AttemptsWriter) holdSettled() {
	for _, r := range w.ended[:w.settled] {
		w.hold(r)
	}
	w.ended = slices.Delete(w.ended, 0, w.settled)
	w.settled = 0
}

// heldAtOnce is about how many bytes of held rows stand in one piece of memory.
const heldAtOnce = 1 << 16

// hold keeps the row of a job that ran once and as a whole, as varints:
//
//	id - latest id | end - latest end | length | processors<<2 + how it ended | ranges of processors
//
// Differences are small numbers, so that most of them take one byte or two.
func (w *AttemptsWriter) hold(r *entity.Run) {
	end := entity.EndFinished // the first three ends can be held
	switch {
	case r.State == entity.Finished:
	case r.Reason == entity.ReasonEstimate:
		end = entity.EndWalltime
	default:
		end = entity.EndKilled
	}
	if len(w.held) > heldAtOnce {
		w.putAside()
	}
	b := binary.AppendVarint(w.held, r.ID-w.id)
	b = appendHeld(b, r.Finish-w.at)
	b = appendHeld(b, r.Finish-r.Start)
	b = binary.AppendUvarint(b, uint64(r.Reservation.Window.Nodes)<<2|uint64(end))
	w.id, w.at = r.ID, r.Finish
	if w.Allocation == AllocationIntervals {
		b = binary.AppendUvarint(b, uint64(len(r.Place)))
		for _, p := range r.Place {
			b = binary.AppendUvarint(b, uint64(p.First))
			b = binary.AppendUvarint(b, uint64(p.Last-p.First))
		}
	}
	w.held = b
}

// putAside makes room for more rows to be held. A slice that grows is copied, and the heap may
// grow to several times what is live in it: the rows of a long log would take far more memory than
// their bytes. So full pieces are never copied.
func (w *AttemptsWriter) putAside() {
	if w.path == "" {
		w.aside = append(w.aside, w.held)
		w.held = make([]byte, 0, heldAtOnce+4096)
		return
	}
	if w.spill == nil && w.err == nil {
		w.spill, w.err = atomicfile.Create(w.path)
	}
	if w.err == nil {
		_, w.err = w.spill.Write(w.held)
		w.sizes = append(w.sizes, len(w.held))
	}
	w.held = w.held[:0]
}

// giveUpSpill removes the temporary file, if there is one.
func (w *AttemptsWriter) giveUpSpill() {
	if w.spill != nil {
		w.spill.Abort()
		w.spill, w.sizes = nil, nil
	}
}

// appendHeld appends a time: whole seconds, which most times are, with a lowest bit of 0, ticks
// with a lowest bit of 1.
func appendHeld(b []byte, t des.Time) []byte {
	if s := t / des.Second; s*des.Second == t {
		return binary.AppendUvarint(b, uint64(s)<<1)
	}
	return binary.AppendUvarint(b, uint64(t)<<1|1)
}

// release writes what is held, in the order of the ends; nothing is held from now on.
func (w *AttemptsWriter) release() {
	w.holdSettled()
	w.Hold, w.id, w.at = false, 0, 0
	for _, b := range w.aside {
		w.releaseFrom(b)
	}
	var from int64
	for _, size := range w.sizes {
		piece := make([]byte, size)
		if w.err == nil {
			_, w.err = w.spill.ReadAt(piece, from)
		}
		if w.err == nil {
			w.releaseFrom(piece)
		}
		from += int64(size)
	}
	w.giveUpSpill()
	w.releaseFrom(w.held)
	w.held, w.aside = nil, nil
	for _, r := range w.ended {
		kind := entity.JobFinished
		if r.State == entity.Killed {
			kind = entity.JobKilled
		}
		w.observe(entity.JobEvent{Kind: kind, Run: r})
	}
	w.ended = nil
}

// releaseFrom writes the rows that b holds; see hold. It stops at a row that is cut off: b is not
// what was held then, and w.err tells of it.
func (w *AttemptsWriter) releaseFrom(b []byte) {
	torn := false
	// skip goes on by what a varint took. n <= 0 means that it was cut off or too long.
	skip := func(n int) {
		if n <= 0 {
			torn, n = true, len(b)
		}
		b = b[n:]
	}
	next := func() uint64 {
		x, n := binary.Uvarint(b)
		skip(n)
		return x
	}
	// span reads what appendHeld writes.
	span := func() des.Time {
		x := next()
		if x&1 == 0 {
			return des.Time(x>>1) * des.Second
		}
		return des.Time(x >> 1)
	}
	for len(b) > 0 {
		id, n := binary.Varint(b)
		skip(n)
		w.id += id
		w.at += span()
		work, nodes := span(), next()
		row := attemptRow{id: w.id, number: 1, end: entity.End(nodes & 3)}
		row.Start, row.End, row.Work, row.Window.Nodes = w.at-work, w.at, work, int(nodes>>2)
		if row.end != entity.EndKilled {
			row.Kept = work
		}
		if w.Allocation == AllocationIntervals {
			ranges := next()
			if ranges > uint64(len(b))/2 { // each has two numbers of a byte or more
				torn, ranges = true, 0
			}
			row.Place = make([]procset.Range, ranges)
			for i := range row.Place {
				first := int32(next())
				row.Place[i] = procset.Range{First: first, Last: first + int32(next())}
			}
		}
		if torn {
			w.err = cmp.Or(w.err, errHeldTorn)
			return
		}
		w.write(&row)
	}
}

// errHeldTorn reports that the held rows are not what was written.
var errHeldTorn = errors.New("the held attempts cannot be read back: they are damaged")

// InstantOver writes the attempts that ended at this instant. The place of an attempt that was
// preempted or resized is in it; of others the run has it.
func (w *AttemptsWriter) InstantOver(des.Time) {
	if w.settled = len(w.ended); w.settled >= endedAtOnce {
		w.holdSettled()
	}
	if len(w.over) == 0 {
		return
	}
	for i := range w.over {
		r := &w.over[i]
		if r.end != entity.EndRequeued && r.end != entity.EndResized {
			r.Place = r.run.Place
		}
		w.write(r)
	}
	clear(w.over)
	w.over = w.over[:0]
}

// write writes one row.
func (w *AttemptsWriter) write(r *attemptRow) {
	w.of = r
	w.row = rows.Attempt{
		Job: r.id, Number: r.number, Start: r.Start, Finish: r.End, Processors: r.Window.Nodes,
		Kept: r.Kept, Lost: r.Work - r.Kept, Overhead: r.Overhead, End: r.end,
	}
	w.text.Write(&w.row)
}

// appendAllocated appends the processors of the row at hand.
func (w *AttemptsWriter) appendAllocated(b []byte, _ *rows.Attempt) []byte {
	switch w.Allocation {
	case AllocationCount:
		return decimal.AppendInt(b, int64(w.of.Window.Nodes))
	case AllocationIntervals:
		return procset.Append(b, placeOf(nil, w.of.Place, &w.of.Window))
	}
	return b
}

// appendTook appends the processor time of the row at hand, exactly.
func (w *AttemptsWriter) appendTook(b []byte, _ *rows.Attempt) []byte {
	var took sum128
	took.addAttempt(w.of.Window.Nodes, w.of.Start, w.of.End, w.of.Ends)
	return took.appendTo(b)
}

// Close writes the remaining rows and returns the first error of all writing. The underlying writer
// stays open.
func (w *AttemptsWriter) Close() error {
	if w.meta != nil {
		w.meta.Settle()
	}
	w.InstantOver(0)
	w.release()
	return cmp.Or(w.err, w.text.Flush())
}

// AttemptsFile writes a file attempts-POLICY.csv. It is an Observer. The file gets its name by
// Commit.
type AttemptsFile struct {
	*AttemptsWriter
	file *atomicfile.Pending
}

// CreateAttempts begins the file at path. Call Commit or Abort at the end.
func CreateAttempts(path string) (*AttemptsFile, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := NewAttemptsWriter(f)
	w.path = path
	return &AttemptsFile{w, f}, nil
}

// Commit writes the remaining rows and gives the file its name. It returns the first error of all
// writing.
func (f *AttemptsFile) Commit() error {
	defer f.Abort()
	if err := f.Close(); err != nil {
		return err
	}
	return f.file.Commit()
}

// Abort removes the unfinished file. After Commit it does nothing.
func (f *AttemptsFile) Abort() {
	f.giveUpSpill()
	f.file.Abort()
}
