package metrics

// decisions-POLICY.csv: what held the jobs that waited, streamed in the order in which
// each thing ceased to hold its job.

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/decimal"
)

// DecisionsHeader is the first line of decisions-POLICY.csv.
const DecisionsHeader = "job_id,what,from,to,times,other_job,start,last_start,delay,short,text"

// What happened to a waiting job, beside the obstacles of package entity.
const (
	DecisionRejected  = "rejected"
	DecisionWithdrawn = "withdrawn" // lost the reservation that it had ahead
	DecisionPreempted = "preempted" // was stopped while it ran, and waits again
)

// DecisionsWriter is an Observer that writes decisions-POLICY.csv: a row for each
// thing that held a waiting job, from when the policy said so until it said something
// else or the job started. A thing that was said again with another start is
// the same row. Of what is said at one instant the last counts.
type DecisionsWriter struct {
	out io.Writer
	err error
	buf []byte

	number []int32 // by Run.Seq: which of the spans is the job's, counted from 1; 0 where it has none
	spans  []holding
	free   []int32 // numbers that nobody has
	now    des.Time
}

// holding is what holds a job at present.
type holding struct {
	run   *entity.Run
	why   entity.Why
	from  des.Time
	times int64    // it was said
	last  des.Time // Why.Start as it was said last
}

// NewDecisionsWriter returns a writer of decisions-POLICY.csv to w.
func NewDecisionsWriter(w io.Writer) *DecisionsWriter {
	d := &DecisionsWriter{out: w, spans: make([]holding, 1)}
	d.buf = append(make([]byte, 0, flushAt+4096), DecisionsHeader...)
	d.buf = append(d.buf, '\n')
	return d
}

// ObserveWhy writes what holds r from now on.
func (d *DecisionsWriter) ObserveWhy(at des.Time, r *entity.Run, w entity.Why) {
	d.now = at
	h := d.of(r)
	if h.run == nil {
		*h = holding{run: r, why: w, from: at, times: 1, last: w.Start}
		return
	}
	same := h.why
	same.Start = w.Start
	switch {
	case same == w:
		h.last = w.Start
		h.times++
	case h.from == at:
		h.why, h.last = w, w.Start
	default:
		d.write(h, at)
		*h = holding{run: r, why: w, from: at, times: 1, last: w.Start}
	}
}

// Observe takes one event in.
func (d *DecisionsWriter) Observe(e entity.JobEvent) {
	d.now = e.Time
	switch e.Kind {
	case entity.JobPromised:
		d.promised(e)
	case entity.JobStarted:
		d.end(e.Run, e.Time)
	case entity.JobRejected:
		d.end(e.Run, e.Time)
		d.event(e, DecisionRejected, e.Run.Reason)
	case entity.JobWithdrawn:
		d.end(e.Run, e.Time)
		d.event(e, DecisionWithdrawn, "")
	case entity.JobRequeued:
		d.event(e, DecisionPreempted, "")
	}
}

// promised takes in a start ahead. Where it was said why the job cannot start
// before, it is that start which has changed.
func (d *DecisionsWriter) promised(e entity.JobEvent) {
	if e.Run.Booked {
		return
	}
	if h := d.of(e.Run); h.run != nil && h.why.What == entity.TooFewFree {
		if h.last != e.Start {
			h.last = e.Start
			h.times++
		}
		return
	}
	d.ObserveWhy(e.Time, e.Run, entity.Why{What: entity.ReservedAhead, Start: e.Start})
}

// of is where r's present holding is, which is empty where r has none.
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

// end is the end of what holds r. What began to hold it at this very instant has not.
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

// write writes a row.
func (d *DecisionsWriter) write(h *holding, to des.Time) {
	w := &h.why
	b := d.begin(h.run, w.What.String(), h.from, to, h.times)
	if w.Other != nil {
		b = decimal.AppendInt(b, w.Other.ID)
	}
	b = append(b, ',')
	if w.Start > 0 || h.last > 0 {
		b = appendTime(b, w.Start)
		b = append(b, ',')
		b = appendTime(b, h.last)
	} else {
		b = append(b, ',')
	}
	b = append(b, ',')
	if w.What == entity.WouldDelay {
		b = appendTime(b, w.Delay)
	}
	b = append(b, ',')
	if w.Short != 0 && !math.IsNaN(w.Short) && !math.IsInf(w.Short, 0) {
		b = strconv.AppendFloat(b, w.Short, 'g', -1, 64)
	}
	d.close(b, w.Text)
}

// event writes the row of something that happened at one instant.
func (d *DecisionsWriter) event(e entity.JobEvent, what, text string) {
	d.close(append(d.begin(e.Run, what, e.Time, e.Time, 1), ",,,,"...), text)
}

func (d *DecisionsWriter) begin(r *entity.Run, what string, from, to des.Time, times int64) []byte {
	b := decimal.AppendInt(d.buf, r.ID)
	b = append(b, ',')
	b = append(b, what...)
	b = append(b, ',')
	b = appendTime(b, from)
	b = append(b, ',')
	b = appendTime(b, to)
	b = append(b, ',')
	b = decimal.AppendInt(b, times)
	return append(b, ',')
}

func (d *DecisionsWriter) close(b []byte, text string) {
	b = append(b, ',')
	if text != "" {
		b = append(b, escapeCSV(text)...)
	}
	d.buf = append(b, '\n')
	if len(d.buf) >= flushAt {
		d.flush()
	}
}

func (d *DecisionsWriter) flush() {
	if d.err == nil {
		if _, err := d.out.Write(d.buf); err != nil {
			d.err = fmt.Errorf("decisions CSV: %w", err)
		}
	}
	d.buf = d.buf[:0]
}

// Close writes the rows that are left, those of jobs that still wait, in order of
// submission, and returns the first error met. The underlying writer stays open.
func (d *DecisionsWriter) Close() error {
	for _, n := range d.number {
		if n != 0 && d.spans[n].run != nil {
			d.write(&d.spans[n], d.now)
		}
	}
	d.number = nil
	d.flush()
	return d.err
}
