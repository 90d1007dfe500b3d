package simulation

// A log's own schedule beside those of policies.

import (
	"fmt"

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

// checkRecorded refuses changes of arrivals that leave recorded waits without a meaning.
func (sc *Scenario) checkRecorded(all []policyName) error {
	for _, p := range all {
		if p.repeatsLog && sc.Workload.Options.Load > 0 {
			return wrong("load", "%s repeats the log's own starts, which have no meaning at another load", p.spec)
		}
	}
	return nil
}
