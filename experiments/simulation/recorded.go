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

// lateness says how far a run of the policy "recorded" could not keep to the log. A log that has more
// at work at an instant than the machine has, or more time in a run than its limit, cannot be
// repeated.
type lateness struct {
	Jobs int         // jobs that began later than recorded
	Most des.Time    // the largest delay
	Of   *entity.Run // whose delay that was, or nil
}

// lateStarts is an observer that finds out how late jobs begin.
type lateStarts struct{ lateness }

// Observe takes a job's first start.
func (l *lateStarts) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobStarted || e.Run.Began() != e.Time {
		return
	}
	wait, known := e.Run.Recorded.Wait()
	// A start before the recorded one cannot be: the policy waits for it.
	late := e.Time - e.Run.Submit - wait
	if !known || late <= 0 {
		return
	}
	l.Jobs++
	if late > l.Most {
		l.Most, l.Of = late, e.Run
	}
}

// lateness is the flow that finds out how late jobs begin, if the policy is "recorded".
func (x *session) lateness() siteFlow {
	if _, is := entity.As[backfill.Recorded](x.settings.Policy); !is {
		return hooks{}
	}
	x.late = &lateStarts{}
	return listening(x.late)
}

// String tells how far a log could not be repeated.
func (l lateness) String() string {
	return fmt.Sprintf("%d jobs start later than their log says, by %v s at most (%v): there the log has more at work than the machine has", l.Jobs, l.Most, l.Of)
}

// meanWaits compares the mean wait of a run with the mean wait that the log records for the same
// jobs. It is empty if the log tells no waits.
type meanWaits struct {
	Jobs      int     // that have ended, and whose recorded wait the log tells
	Simulated float64 // their mean wait in the run, s
	Logged    float64 // their mean wait in the log, s
}

// loggedWaits is an observer that sums up both waits of jobs that end.
type loggedWaits struct {
	jobs              int
	simulated, logged float64 // s
}

// Observe takes the waits of a job that has ended. Advance reservations wait for nobody.
func (l *loggedWaits) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobFinished && e.Kind != entity.JobKilled || e.Run.Booked {
		return
	}
	if wait, known := e.Run.Recorded.Wait(); known {
		l.jobs++
		l.simulated += e.Run.Wait().Seconds()
		l.logged += wait.Seconds()
	}
}

// means returns the two mean waits.
func (l *loggedWaits) means() meanWaits {
	if l.jobs == 0 {
		return meanWaits{}
	}
	n := float64(l.jobs)
	return meanWaits{Jobs: l.jobs, Simulated: l.simulated / n, Logged: l.logged / n}
}

// Two mean waits, of a policy and of the log, are far apart if one is at least farFactor times the
// other and they differ by at least farSeconds. Policies of a queue on one log are most often
// within the factor of each other, so a gap beyond it says more about what the simulation leaves
// out than about the policy. Below a minute no user notices.
const (
	farFactor  = 1.5
	farSeconds = 60
)

// gap returns a sentence if all policies wait far longer, or far shorter, than the log says: then
// the simulation leaves out something that the site had. The sentence names the nearest policy. gap
// returns "" if a policy is near, and if there is nothing to compare with: the log tells no waits,
// or the run asks on purpose for another load, another machine or outages and has no run of the
// log's own schedule.
func (c *call) gap(o *Outcome) string {
	// What to compare with: a run of the log's own schedule under the same conditions if there is
	// one, otherwise the log's waits of the jobs that have ended and whose wait it tells.
	own := slices.IndexFunc(o.Results, func(r *Result) bool { return c.repeatsLog(r.Summary.Policy) })
	asked := c.Workload.Options.Load > 0 || c.Workload.Options.Procs > 0 || c.Flows.Outages != ""
	waits := func(r *Result) (simulated, logged float64, known bool) {
		if own >= 0 {
			return r.Summary.MeanWait, o.Results[own].Summary.MeanWait, true
		}
		another := asked || r.Grid != nil || r.Money != nil // nodes with prices are no cluster
		return r.logged.Simulated, r.logged.Logged, r.logged.Jobs > 0 && !another
	}
	// The policy whose mean wait is nearest to that.
	var nearest *Result
	least := math.Inf(1)
	for _, r := range o.Results {
		if c.repeatsLog(r.Summary.Policy) {
			continue
		}
		if simulated, logged, known := waits(r); known && math.Abs(simulated-logged) < least {
			nearest, least = r, math.Abs(simulated-logged)
		}
	}
	if nearest == nil || least < farSeconds {
		return ""
	}
	simulated, logged, _ := waits(nearest)
	if max(simulated, logged) < farFactor*min(simulated, logged) {
		return ""
	}
	return fmt.Sprintf("%s: the mean wait is %.0f s, and %.0f s in the log's own schedule (--policy recorded), to which no other policy is nearer: "+
		"the simulation leaves out something that the site had, such as limits, partitions or outages (docs/guides/what-if.md)", nearest.Summary.Policy, simulated, logged)
}

// repeatsLog reports whether a policy of the call is the log's own schedule.
func (c *call) repeatsLog(spec string) bool {
	return slices.ContainsFunc(c.all, func(p policyName) bool { return p.repeatsLog && p.spec == spec })
}

// checkRecorded refuses another load for the policy "recorded": recorded waits have no meaning
// then.
func (sc *Scenario) checkRecorded(all []policyName) error {
	for _, p := range all {
		if p.repeatsLog && sc.Workload.Options.Load > 0 {
			return wrong("load", "%s repeats the log's own starts, which have no meaning at another load", p.spec)
		}
	}
	return nil
}
