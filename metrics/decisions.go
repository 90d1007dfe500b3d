package metrics

// decisions-POLICY.csv: what held the jobs that waited, streamed in the order in which
// each thing ceased to hold its job.

import (
	"io"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/rows"
)

// DecisionsWriter is an Observer that writes decisions-POLICY.csv, a row for each obstacle of a
// waiting job. A row lasts from the instant at which the policy named the obstacle until the policy
// named another obstacle or the job started. The same obstacle with another start continues the
// row. Of several obstacles at one instant the last counts.
type DecisionsWriter struct {
	text *rows.Writer[rows.Decision]
	row  rows.Decision // the row at hand

	// number is by Run.Seq: the position in spans of what holds the job, 0 if nothing does.
	number []int32
	// spans[0] is not used. There are as many as jobs ever waited at once: free has the positions
	// that nobody has.
	spans []holding
	free  []int32
	now   des.Time
}

// holding is the present reason why a job waits, and the instant from which it holds; run is nil if
// the job has no such reason.
type holding struct {
	run  *entity.Run
	why  entity.Why
	from des.Time
	// times is the number of times that the policy gave this reason.
	times int
	// last is Why.Start as it was said last; why.Start is as it was said first.
	last des.Time
}

// NewDecisionsWriter returns a writer of decisions-POLICY.csv to w.
func NewDecisionsWriter(w io.Writer) *DecisionsWriter {
	return &DecisionsWriter{text: rows.NewWriter(w, rows.Decisions), spans: make([]holding, 1)}
}

// ObserveWhy implements entity.WhyObserver: w holds r from the instant at on.
func (d *DecisionsWriter) ObserveWhy(at des.Time, r *entity.Run, w entity.Why) {
	d.now = at
	h := d.of(r)
	if h.run == nil {
		*h = holding{run: r, why: w, from: at, times: 1, last: w.Start}
		return
	}
	// An obstacle is the same one if only its start, or the job that is behind it, is another one.
	same := h.why
	same.Start = w.Start
	if ofJobs(same.By.Kind) && ofJobs(w.By.Kind) {
		same.By = w.By // one job after the other is no other obstacle
	}
	switch {
	case same == w:
		h.why.By = w.By
		if h.why.Start == 0 { // it was not known
			h.why.Start = w.Start
		}
		h.last = w.Start
		h.times++
	case h.from == at:
		h.why, h.last = w, w.Start
	default:
		d.write(h, at)
		*h = holding{run: r, why: w, from: at, times: 1, last: w.Start}
	}
}

// ofJobs reports whether a blocker is a job that runs or waits, or none.
func ofJobs(k entity.BlockerKind) bool {
	return k == entity.NoBlocker || k == entity.BlockedByJob || k == entity.BlockedByPlan
}

// Observe adds one event.
func (d *DecisionsWriter) Observe(e entity.JobEvent) {
	d.now = e.Time
	switch e.Kind {
	case entity.JobPromised:
		d.promised(e)
	case entity.JobStarted:
		d.end(e.Run, e.Time)
	case entity.JobRejected:
		d.end(e.Run, e.Time)
		d.event(e, rows.DecisionRejected, e.Run.Reason)
	case entity.JobWithdrawn:
		d.end(e.Run, e.Time)
		d.event(e, rows.DecisionWithdrawn, "")
	case entity.JobRequeued:
		d.event(e, rows.DecisionPreempted, "")
	}
}

// promised takes in a start ahead. If it was said why the job cannot start before that, only the
// start of this obstacle changes; otherwise the reservation itself is what holds the job.
func (d *DecisionsWriter) promised(e entity.JobEvent) {
	if e.Run.Booked {
		return
	}
	if h := d.of(e.Run); h.run != nil && (h.why.What == entity.TooFewFree || h.why.What == entity.ReservedAhead) {
		if h.last != e.Start {
			h.last = e.Start
			h.times++
		}
		return
	}
	d.ObserveWhy(e.Time, e.Run, entity.Why{What: entity.ReservedAhead, Start: e.Start})
}

// of returns what holds r at present, an empty holding if nothing does.
func (d *DecisionsWriter) of(r *entity.Run) *holding {
	seq := int(r.Seq())
	if seq >= len(d.number) {
		d.number = append(d.number, make([]int32, max(seq+1-len(d.number), 1024))...)
	}
	n := d.number[seq]
	if n == 0 {
		if free := len(d.free); free > 0 {
			n, d.free = d.free[free-1], d.free[:free-1]
		} else {
			n = int32(len(d.spans))
			d.spans = append(d.spans, holding{})
		}
		d.number[seq] = n
	}
	return &d.spans[n]
}

// end ends what holds r. An obstacle that was both reported and removed at the same instant is
// not written.
func (d *DecisionsWriter) end(r *entity.Run, at des.Time) {
	seq := int(r.Seq())
	if seq >= len(d.number) || d.number[seq] == 0 {
		return
	}
	n := d.number[seq]
	if h := &d.spans[n]; h.from < at {
		d.write(h, at)
	}
	d.spans[n] = holding{}
	d.number[seq] = 0
	d.free = append(d.free, n)
}

// write writes the row of what has held a job until the instant to.
func (d *DecisionsWriter) write(h *holding, to des.Time) {
	w := &h.why
	d.row = rows.Decisions.Missing
	r := &d.row
	r.Job, r.What, r.From, r.To, r.Times, r.Text = h.run.ID, w.What.String(), h.from, to, h.times, w.Text
	if w.Other != nil {
		r.Other = w.Other.ID
	}
	if w.Start > 0 || h.last > 0 {
		r.Start, r.LastStart = w.Start, h.last
	}
	if w.What == entity.WouldDelay {
		r.Delay = w.Delay
	}
	if w.Short != 0 && !math.IsInf(w.Short, 0) {
		r.Short = w.Short
	}
	if by := w.By; by.Kind != entity.NoBlocker {
		r.Blocker, r.BlockerFrom, r.BlockerTo = by.Kind.String(), by.From, by.To
		if by.Run != nil {
			r.BlockerJob = by.Run.ID
		}
	}
	d.text.Write(r)
}

// event writes the row of something that happened at one instant, and held nobody.
func (d *DecisionsWriter) event(e entity.JobEvent, what, text string) {
	d.row = rows.Decisions.Missing
	d.row.Job, d.row.What, d.row.From, d.row.To, d.row.Times, d.row.Text = e.Run.ID, what, e.Time, e.Time, 1, text
	d.text.Write(&d.row)
}

// Close writes the rows of jobs that still wait, in order of submission, and returns the first
// error of all writing. The underlying writer stays open.
func (d *DecisionsWriter) Close() error {
	for _, n := range d.number {
		if n != 0 && d.spans[n].run != nil {
			d.write(&d.spans[n], d.now)
		}
	}
	d.number = nil
	return d.text.Flush()
}
