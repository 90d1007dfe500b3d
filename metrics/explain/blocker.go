package explain

// What stood in the way of a job: outages, bookings, owners' jobs, caps, other jobs.

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/rows"
)

// blocked says what had what the job needed until its earliest start. If the job waited for
// another job, it also says what that one waited for meanwhile, unless that was a job as well.
func (l *Log) blocked(d *rows.Decision) string {
	text := l.blocker(d, d.LastStart == d.Start && startIsItsOwn(d))
	if d.Other < 0 || ofMachine(d) {
		return text
	}
	// The two rows overlap in time.
	for _, o := range of(l.decisions, d.Other, func(d *rows.Decision) int64 { return d.Job }) {
		if o.From < d.To && d.From < o.To && ofMachine(&o) {
			return fmt.Sprintf("%s; what job %d waited for: %s", text, d.Other, strings.TrimPrefix(l.blocker(&o, false), "; "))
		}
	}
	return text
}

// ofMachine reports whether a row names something that is no job that waited or ran: an outage, a
// cap, an owner.
func ofMachine(d *rows.Decision) bool {
	switch d.Blocker {
	case "", entity.BlockedByJob.String(), entity.BlockedByPlan.String():
		return false
	}
	return true
}

// blocker says what had what the job needed, and when; "" if that is not known. started tells that
// the sentence has named the job's earliest start already.
func (l *Log) blocker(d *rows.Decision, started bool) string {
	kind, err := entity.ParseBlockerKind(d.Blocker)
	if err != nil || kind == entity.NoBlocker {
		return ""
	}
	from, until := l.at(d.BlockerFrom), "without a known end"
	switch {
	case started && d.BlockerTo == d.Start:
		until = "until then"
	case known(d.BlockerTo):
		until = "until " + l.at(d.BlockerTo)
	}
	switch kind {
	case entity.BlockedByJob:
		return fmt.Sprintf("; job %d ran, %s at most", d.BlockerJob, until)
	case entity.BlockedByPlan:
		return fmt.Sprintf("; job %d was planned from %s %s", d.BlockerJob, from, until)
	// A cap that began after the obstacle was named will keep nodes idle later.
	case entity.BlockedByCap:
		text := "; it could have started at once on nodes that a power cap kept idle"
		if d.BlockerFrom > d.From {
			text = "; it could have started at once, but for a power cap that keeps nodes idle"
		}
		if d.BlockerFrom > 0 {
			text += " from " + from
		}
		if known(d.BlockerTo) {
			text += " " + until
		}
		return text
	case entity.BlockedByOff:
		return "; nodes were off, or booted, " + until
	case entity.BlockedByBooking:
		return fmt.Sprintf("; in the way was the booking of job %d from %s %s", d.BlockerJob, from, until)
	case entity.BlockedByTentative:
		return fmt.Sprintf("; in the way was a window that was kept for job %d from %s %s", d.BlockerJob, from, until)
	case entity.BlockedByOutage:
		return fmt.Sprintf("; in the way was an outage from %s %s", from, until)
	case entity.BlockedByOwner:
		return fmt.Sprintf("; in the way was an owner's own job from %s %s", from, until)
	}
	return fmt.Sprintf("; in the way was what was withheld from %s %s", from, until)
}

// startIsItsOwn reports whether Start is the earliest start of the job itself, not of the job
// ahead of it.
func startIsItsOwn(d *rows.Decision) bool {
	return d.What == entity.TooFewFree.String() || d.What == entity.ReservedAhead.String()
}
