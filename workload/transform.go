package workload

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// This file transforms workloads: sequences of records or of jobs, one stage
// wrapped around the other.
//
//	workload.ShiftToZero(workload.First(workload.Skip(trace.Jobs(), 1000), 5000))

// Submission is what has an instant of submission. A record handed from stage
// to stage is valid until the next one is asked for; stages that keep records
// copy them.
type Submission interface{ *Record | *entity.Job }

func submitOf[S Submission](s S) *des.Time {
	switch s := any(s).(type) {
	case *Record:
		return &s.Submit
	case *entity.Job:
		return &s.Submit
	}
	return nil // no other type is a Submission
}

// Skip leaves out the first n.
func Skip[T any](seq iter.Seq[T], n int64) iter.Seq[T] {
	return func(yield func(T) bool) {
		left := n
		for v := range seq {
			if left > 0 {
				left--
			} else if !yield(v) {
				return
			}
		}
	}
}

// First takes the first n, and asks for no more than these.
func First[T any](seq iter.Seq[T], n int64) iter.Seq[T] {
	return func(yield func(T) bool) {
		if n <= 0 {
			return
		}
		left := n
		for v := range seq {
			left--
			if !yield(v) || left == 0 {
				return
			}
		}
	}
}

// ShiftToZero moves all submissions by the same time, so that the first one is
// at 0.
func ShiftToZero[S Submission](seq iter.Seq[S]) iter.Seq[S] {
	return move(seq, arrivals{factor: 1, shift: true})
}

// ScaleArrivals multiplies the times between submissions by a factor above 0;
// the first one stays where it is. To offer the load F instead of L, scale by
// L/F.
func ScaleArrivals[S Submission](seq iter.Seq[S], factor float64) iter.Seq[S] {
	return move(seq, arrivals{factor: factor})
}

// SortBySubmission orders by submission, equal ones as they came. It keeps all
// of them in memory.
func SortBySubmission[S Submission](seq iter.Seq[S]) iter.Seq[S] {
	return func(yield func(S) bool) {
		var all []S
		for s := range seq {
			if rec, ok := any(s).(*Record); ok {
				kept := *rec
				s = any(&kept).(S)
			}
			all = append(all, s)
		}
		slices.SortStableFunc(all, func(a, b S) int { return cmp.Compare(*submitOf(a), *submitOf(b)) })
		for _, s := range all {
			if !yield(s) {
				return
			}
		}
	}
}

func move[S Submission](seq iter.Seq[S], a arrivals) iter.Seq[S] {
	return func(yield func(S) bool) {
		a := a // every range begins anew
		for s := range seq {
			at := submitOf(s)
			*at = a.place(*at)
			if !yield(s) {
				return
			}
		}
	}
}

// arrivals is the one rule by which submissions are moved: relative to the
// first one, by a factor, and down to 0 where wanted.
type arrivals struct {
	factor float64
	shift  bool
	first  des.Time
	begun  bool
}

func (a *arrivals) place(t des.Time) des.Time {
	if !a.begun {
		a.begun, a.first = true, t
	}
	since := t - a.first
	if a.factor != 1 {
		// Bounded, so that no factor passes the end of time.
		since = des.Time(min(math.Round(float64(since)*a.factor), float64(maxTime)))
	}
	if a.shift {
		return since
	}
	return a.first + since
}

// loadMeter sums up an offered load.
type loadMeter struct {
	work        float64 // processor seconds
	first, last des.Time
	begun       bool
}

func (l *loadMeter) add(submit des.Time, size int, runtime des.Time) {
	if !l.begun {
		l.begun, l.first = true, submit
	}
	l.last = submit
	l.work += float64(float64(size) * runtime.Seconds())
}

// load is 0 where there is no work, and infinite where it comes all at once.
func (l *loadMeter) load(procs int) float64 {
	if l.work == 0 {
		return 0
	}
	return l.work / float64(float64(procs)*(l.last-l.first).Seconds())
}
