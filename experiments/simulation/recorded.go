package simulation

// A log's own schedule beside those of policies.

import (
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
)

// Late is how far a run of the policy "recorded" could not keep to the log: a log that has
// more at work at an instant than the machine has, or more time in a run than its limit,
// cannot be repeated.
type Late struct {
	Jobs int         // jobs that began later than recorded
	Most des.Time    // the largest delay
	Of   *entity.Run // whose delay that was, or nil
}

// lateStarts is an observer that finds out how late jobs begin.
type lateStarts struct{ Late }

// Observe takes a job's first start.
func (l *lateStarts) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobStarted || e.Run.Began() != e.Time {
		return
	}
	wait, known := e.Run.Recorded.Wait()
	late := e.Time - e.Run.Submit - wait
	if !known || late <= 0 {
		return
	}
	l.Jobs++
	if late > l.Most {
		l.Most, l.Of = late, e.Run
	}
}

// lateness listens to how late jobs begin, where the policy is recorded.
func (x *Session) lateness() Flow {
	if _, is := entity.As[backfill.Recorded](x.settings.Policy); !is {
		return hooks{}
	}
	x.late = &lateStarts{}
	return listening(x.late)
}

// String tells how far a log could not be repeated.
func (l Late) String() string {
	return fmt.Sprintf("%d jobs start later than their log says, by %v s at most (%v): there the log has more at work than the machine has", l.Jobs, l.Most, l.Of)
}

// Mean waits of a policy and of the log's own schedule are far apart if one is at least
// farFactor times the other, and they differ by at least farSeconds.
const (
	farFactor  = 1.5
	farSeconds = 60
)

// tellOfTheGap tells where all policies wait far longer, or far shorter, than the log says:
// the simulation leaves out something that the site had. The nearest policy is named.
func (c *call) tellOfTheGap(o *Outcome) {
	own := slices.IndexFunc(o.Results, func(r *Result) bool { return c.repeatsLog(r.Summary.Policy) })
	if own < 0 {
		return
	}
	logged, nearest := o.Results[own].Summary.MeanWait, (*Result)(nil)
	gap := func(r *Result) float64 { return math.Abs(r.Summary.MeanWait - logged) }
	for _, r := range o.Results {
		if !c.repeatsLog(r.Summary.Policy) && (nearest == nil || gap(r) < gap(nearest)) {
			nearest = r
		}
	}
	if nearest == nil || gap(nearest) < farSeconds {
		return
	}
	wait := nearest.Summary.MeanWait
	if max(wait, logged) >= farFactor*min(wait, logged) {
		c.options.Tell("%s: the mean wait is %.0f s, and %.0f s in the log's own schedule, to which no other policy is nearer: "+
			"the simulation leaves out something that the site had, such as limits, partitions or outages (docs/guides/what-if.md)", nearest.Summary.Policy, wait, logged)
	}
}

// repeatsLog reports whether a policy of the call is the log's own schedule.
func (c *call) repeatsLog(spec string) bool {
	return slices.ContainsFunc(c.all, func(p policyName) bool { return p.repeatsLog && p.spec == spec })
}

// checkRecorded refuses changes of arrivals that leave recorded waits without a meaning.
func (sc *Scenario) checkRecorded(all []policyName) error {
	for _, p := range all {
		if p.repeatsLog && sc.Workload.Options.Load > 0 {
			return wrong("load", "%s repeats the log's own starts, which have no meaning at another load", p.spec)
		}
	}
	return nil
}
