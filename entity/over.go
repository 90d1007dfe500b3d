package entity

// What the end of an attempt is, said once for everybody who observes jobs.

import "github.com/gridslot/gridslot/internal/enum"

// End says how an attempt ended.
type End uint8

const (
	EndFinished End = iota // the job ran to its own end
	EndWalltime            // the job was cut off at its estimate
	EndKilled              // the job was stopped for another reason
	EndRequeued            // the job was preempted, and waits again
	EndResized             // the job goes on in another shape, in an attempt that has begun
)

var ends = enum.Of[End]("end of an attempt", "finished", "walltime", "killed", "requeued", "resized")

// String returns the word of the column end of attempts-POLICY.csv.
func (e End) String() string { return ends.Name(e) }

// ParseEnd returns the end of that word, or an error that lists the words.
func ParseEnd(word string) (End, error) { return ends.Parse(word) }

// Over returns the attempt that the event e has ended, with its number among those of the job,
// from 1, and how it ended; ok is false of an event that ends no attempt. The work of an
// attempt that was cut off at the estimate counts as kept: the job had what it asked for.
func Over(e JobEvent) (a Attempt, number int, how End, ok bool) {
	r := e.Run
	switch e.Kind {
	case JobFinished:
		return r.Latest(), len(r.Earlier()) + 1, EndFinished, true
	case JobKilled:
		a, number = r.Latest(), len(r.Earlier())+1
		if r.Reason == ReasonEstimate {
			a.Kept = a.Work
			return a, number, EndWalltime, true
		}
		return a, number, EndKilled, true
	case JobRequeued:
		how = EndRequeued
	case JobResized:
		how = EndResized
	default:
		return a, 0, 0, false
	}
	number = len(r.Earlier())
	return r.Earlier()[number-1], number, how, true
}
