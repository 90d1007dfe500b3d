package entity

import (
	"math/bits"

	"github.com/gridslot/gridslot/des"
)

// OfferedLoad sums up the load that jobs offer to a machine: their work over what the machine can
// do from the first submission to the last. The zero value has no jobs.
type OfferedLoad struct {
	high, low   uint64 // the work in processors times ticks, an exact sum
	first, last des.Time
	begun       bool
}

// Add adds a job by its number of processors and its runtime on processors of performance 1. Neither
// is negative.
func (l *OfferedLoad) Add(submit des.Time, processors int, runtime des.Time) {
	if !l.begun {
		l.begun, l.first, l.last = true, submit, submit
	}
	l.first, l.last = min(l.first, submit), max(l.last, submit)
	high, low := bits.Mul64(uint64(processors), uint64(runtime))
	var carry uint64
	l.low, carry = bits.Add64(l.low, low, 0)
	l.high += high + carry
}

// Over returns the load of a machine of the given power, the work that it can do in a time unit:
// the number of its processors, if all of them have performance 1. It is 0 if there is no work, and
// infinite if all jobs come at one instant.
func (l *OfferedLoad) Over(power float64) float64 {
	if l.high|l.low == 0 {
		return 0
	}
	work := (float64(float64(l.high)*0x1p64) + float64(l.low)) / float64(des.Second)
	return work / float64(power*l.Span().Seconds())
}

// Span returns the time from the first submission to the last.
func (l *OfferedLoad) Span() des.Time { return l.last - l.first }
