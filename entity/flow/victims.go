package flow

// What becomes of jobs that must yield.

import (
	"errors"
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
)

// VictimRule says what becomes of a job that runs where capacity is lost.
type VictimRule uint8

const (
	// VictimsRequeue sends the job back into the queue; it begins again from nothing.
	VictimsRequeue VictimRule = iota
	// VictimsKill ends the job.
	VictimsKill
	// VictimsWait lets the loss wait until the job has ended; the loss then lasts for its
	// full length. No other job starts there meanwhile (a drain).
	VictimsWait
	// VictimsCheckpoint sends the job back into the queue; it goes on from its last
	// checkpoint.
	VictimsCheckpoint
)

var victimRules = enum.Of[VictimRule]("rule for victims", "requeue", "kill", "wait", "checkpoint")

func (r VictimRule) String() string { return victimRules.Name(r) }

// ParseVictimRule reads "requeue", "kill", "wait" or "checkpoint".
func ParseVictimRule(s string) (VictimRule, error) { return victimRules.Parse(s) }

// Victims is the rule for jobs that must yield, with its parameters. Under every rule a
// reservation ahead is withdrawn, and its job waits again. An advance reservation cannot be
// put back into the queue: before its start it is cancelled, but only if there is no room
// for it whoever else yields; afterwards it is killed (under VictimsWait it is waited for,
// as any job).
type Victims struct {
	Rule VictimRule // what becomes of them
	// Limit, if not 0, is the number of times that a job may be sent back. If it would have to be
	// sent back once more, it is killed instead.
	Limit int
	// Restart is the time for which the next attempt of a job that was sent back does no
	// work: the job is set up again, or reads its checkpoint.
	Restart des.Time
	// Checkpoints are written by all jobs under VictimsCheckpoint.
	Checkpoints entity.Checkpoints
}

// Check returns what is wrong with the rule, or nil.
func (v Victims) Check() error {
	back := v.Rule == VictimsRequeue || v.Rule == VictimsCheckpoint
	switch c := v.Checkpoints; {
	case v.Limit < 0 || v.Restart < 0 || c.Interval < 0 || c.Cost < 0:
		return errors.New("limit, restart, interval and cost must not be negative")
	case v.Rule == VictimsCheckpoint && c.Interval == 0:
		return errors.New("checkpoint: the interval between checkpoints must be above 0")
	case v.Rule != VictimsCheckpoint && c != entity.Checkpoints{}:
		return fmt.Errorf("%v: interval and cost are those of checkpoints, which nobody goes back to", v.Rule)
	case !back && (v.Limit > 0 || v.Restart > 0):
		return fmt.Errorf("%v: no job is sent back, so that there is no limit and no restart", v.Rule)
	}
	return nil
}

// ReasonOutage begins the Run.Reason of a job that was killed because of an outage.
const (
	ReasonOutage       = "its processors went out of service"
	reasonBookedOutage = "the processors of its advance reservation went out of service"
)

// yield makes r give up what it holds. It reports whether that stopped a running job, and
// whether a job lost a reservation ahead. times is how often r has been sent back before.
func (v Victims) yield(m *entity.Metascheduler, r *entity.Run, times int) (stopped, displaced bool) {
	switch {
	case r.Booked:
		return m.Kill(r, reasonBookedOutage), m.Cancel(r, reasonBookedOutage)
	case r.State != entity.Running:
		return false, m.Withdraw(r)
	case v.Rule == VictimsKill:
		return m.Kill(r, ReasonOutage), false
	case v.Limit > 0 && times >= v.Limit:
		return m.Kill(r, fmt.Sprintf("%s once more after %d times", ReasonOutage, times)), false
	}
	keep := des.Time(0)
	if v.Rule == VictimsCheckpoint {
		keep = r.Saved()
	}
	if stopped = m.Preempt(r, keep); stopped && v.Restart > 0 {
		m.SetUp(r, v.Restart)
	}
	return stopped, false
}
