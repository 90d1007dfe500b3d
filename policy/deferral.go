package policy

// Jobs that wait for cheaper, or cleaner, electricity, under any policy of a queue.

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/number"
)

// Deferral wraps a policy and holds back what can wait. A job that comes while a curve is above
// a limit joins the queue of the wrapped policy when the curve has fallen to the limit, and Most
// after its submission at the latest. The same holds for a job that comes back into the queue.
//
//	curve   ____/^^^^^^^^^^^\_______/^^^^^^^^^^^^^^^^^^^\____
//	job A        submitted...joins
//	job B                           submitted......joins       Most is over
//
// What has joined is no longer held back, and what has started runs on. A Deferral keeps state:
// each run needs its own.
type Deferral struct {
	entity.Policy             // that decides about the jobs that have joined
	Signal        string      // which curve of the run it follows: "price" or "carbon"
	Curve         *flow.Curve // that curve; the run fails if it is nil
	Limit         float64     // in the unit of the curve: a job joins while the curve is not above it
	Most          des.Time    // how long after its submission a job joins at the latest, 0 or more

	queue, joined *entity.Queue // of the run, and its part that the wrapped policy sees
	held          []*entity.Run // jobs that have not joined, in the order in which they came
}

// deferParam is the parameter of queue policies that defers jobs.
const deferParam = "defer"

var _ entity.Wrapper = (*Deferral)(nil)

// Unwrap returns the policy that decides.
func (d *Deferral) Unwrap() entity.Policy { return d.Policy }

// until returns when a job that is held now joins the queue: now at the earliest.
func (d *Deferral) until(r *entity.Run, now des.Time) des.Time {
	last := r.Submit + d.Most
	if last <= now {
		return now
	}
	return min(d.Curve.NotAbove(d.Limit, now), last)
}

// Schedule lets each job whose time has come join the queue of the wrapped policy, which then
// decides about all jobs that have joined.
func (d *Deferral) Schedule(r *entity.Round) {
	if d.Curve == nil {
		r.Fail(fmt.Errorf("jobs are deferred by the %s of electricity, which nobody has told", d.Signal))
		return
	}
	if d.queue != r.Queue {
		d.queue, d.joined, d.held = r.Queue, r.Queue.Part(), nil
	}
	// Whose time has come? A job that has joined once and comes back (it was requeued) is looked at again.
	d.held = append(d.held, r.Fresh()...)
	var fresh []*entity.Run
	still, wake := d.held[:0], des.Forever
	for _, j := range d.held {
		if j.State != entity.Waiting {
			continue // it was withdrawn, or rejected
		}
		at := d.until(j, r.Now)
		if at > r.Now {
			still, wake = append(still, j), min(wake, at)
			r.TellWhy(j, entity.Why{Start: at, Text: fmt.Sprintf("put off while the %s of electricity is above %v", d.Signal, d.Limit)})
			continue
		}
		if !d.joined.Holds(j) {
			d.joined.Take(j)
		}
		fresh = append(fresh, j)
	}
	clear(d.held[len(still):]) // so that jobs that are gone can be collected
	if d.held = still; wake < des.Forever {
		r.WakeAt(wake)
	}
	if d.joined.Len() > 0 || len(fresh) > 0 {
		r.Delegate(d.Policy, d.joined, fresh)
	}
}

// deferred declares the parameter that defers jobs, and wraps a policy if it is given.
func (s *Settings) deferred(p entity.Policy) entity.Policy {
	text, given := s.Given(deferParam, "price/LIMIT/MOST", "jobs that come while electricity is above LIMIT join the queue when it has fallen to LIMIT, at most MOST later (no)")
	if !given {
		return p
	}
	d, ok := parseDeferral(text)
	if !ok {
		s.Fail(deferParam, "price/LIMIT/MOST or carbon/LIMIT/MOST, such as carbon/300/6h")
	}
	d.Policy = p
	return d
}

// parseDeferral reads the value of deferParam, such as carbon/300/6h. d is never nil.
func parseDeferral(text string) (d *Deferral, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || !ofElectricity(parts[0]) {
		return &Deferral{}, false
	}
	limit, ok := number.Written(parts[1])
	most, err := number.Length(parts[2])
	return &Deferral{Signal: parts[0], Limit: limit, Most: most}, ok && err == nil
}

// ofElectricity reports whether a signal is a curve of electricity: its price, or the carbon that it emits.
func ofElectricity(signal string) bool { return signal == "price" || signal == "carbon" }
