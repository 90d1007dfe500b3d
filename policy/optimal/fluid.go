package optimal

// Relaxations: machines that can do more than a real one, and whose best schedules are known.
//
// A fluid machine works at a rate (processors) on one job at a time, and may change from one
// to the other at any instant. It needs nodes*length/rate for a job. Whatever a real machine
// does with as many processors a fluid one can do, since a real machine never works on jobs at
// a higher rate altogether. Of jobs that need more than 1/(k+1) of the processors no more than k
// run side by side: for these alone a fluid machine of rate k, which needs length/k for a job,
// can do all that a real one can.
//
//   - Least sum of ends: always the job of which least is left (SRPT; Schrage, Operations
//     Research 16, 1968).
//   - Least weighted sum of mean busy times, which are the means of the instants at which a job
//     is worked on: always the job of the highest weight per work (Goemans, SODA 1997). A rigid
//     job that starts at s has the mean busy time s + length/2.
//   - Any order that never idles has the least last end.
//
// All three stay right where the rate changes with time, and where a job's release is replaced
// by a later instant before which it cannot start.

import (
	"math"
	"slices"
)

// piece is a task on a fluid machine. Times are in ticks, work in ticks times processors.
type piece struct {
	release float64 // it is not worked on before
	work    float64 // above 0
	weight  float64 // of its mean busy time
	left    float64 // work that is not done, while the machine runs
	busy    float64 // its mean busy time, once it is done
}

// rateStep is from when on a fluid machine works at a rate (processors). Rates never fall from step to step.
type rateStep struct{ from, rate float64 }

// fluid is a machine with what it has to do. Its slices are used again by each relaxation.
type fluid struct {
	pieces []piece    // by release
	steps  []rateStep // by their instants, one at least
	queue  []int32    // a heap of pieces that have come and are not done: the first has the lowest key
	srpt   bool       // the rule: the least work left first, or else the highest weight per work
}

// key returns the priority of a piece by the rule, the lowest first.
func (f *fluid) key(i int32) float64 {
	p := &f.pieces[i]
	if f.srpt {
		return p.left
	}
	return -p.weight / p.work
}

// result has the sums over the pieces that a fluid machine has done, and its last end.
type result struct {
	ends float64 // sum of ends
	busy float64 // weighted sum of mean busy times
	last float64
}

// run makes the machine do its pieces by a rule: SRPT, or Goemans's. It takes O(n log n).
func (f *fluid) run(srpt bool) (done result) {
	f.srpt = srpt
	f.queue = f.queue[:0]
	next, step := 0, 0
	now := math.Inf(-1)
	for next < len(f.pieces) || len(f.queue) > 0 {
		// What has come by now, and the rate.
		if len(f.queue) == 0 {
			now = max(now, f.pieces[next].release, f.steps[0].from)
		}
		for next < len(f.pieces) && f.pieces[next].release <= now {
			f.pieces[next].left, f.pieces[next].busy = f.pieces[next].work, 0
			f.push(int32(next))
			next++
		}
		for step+1 < len(f.steps) && f.steps[step+1].from <= now {
			step++
		}
		if len(f.queue) == 0 {
			continue
		}
		// Work on the first piece until it is done, another one comes, or the rate changes.
		rate := f.steps[step].rate
		p := &f.pieces[f.queue[0]]
		until := now + p.left/rate
		ends := true
		if next < len(f.pieces) && f.pieces[next].release < until {
			until, ends = f.pieces[next].release, false
		}
		if step+1 < len(f.steps) && f.steps[step+1].from < until {
			until, ends = f.steps[step+1].from, false
		}
		// Over [now, until) the part did/work of the piece is done, at the mean instant (until+now)/2.
		did := rate * (until - now)
		done.busy += p.weight * did / p.work * (until + now) / 2
		p.busy += did / p.work * (until + now) / 2
		now = until
		if ends {
			done.ends += now
			f.pop()
		} else { // the key of a piece that is worked on never rises: it stays the first
			p.left = max(p.left-did, 0)
		}
	}
	done.last = now
	return done
}

// push adds a piece to the pieces that wait.
func (f *fluid) push(i int32) {
	f.queue = append(f.queue, i)
	for at := len(f.queue) - 1; at > 0; {
		up := (at - 1) / 2
		if f.key(f.queue[up]) <= f.key(f.queue[at]) {
			break
		}
		f.queue[up], f.queue[at] = f.queue[at], f.queue[up]
		at = up
	}
}

// pop takes the first piece away.
func (f *fluid) pop() {
	last := len(f.queue) - 1
	f.queue[0] = f.queue[last]
	f.queue = f.queue[:last]
	for at := 0; ; {
		least := at
		for _, down := range [2]int{2*at + 1, 2*at + 2} {
			if down < last && f.key(f.queue[down]) < f.key(f.queue[least]) {
				least = down
			}
		}
		if least == at {
			return
		}
		f.queue[at], f.queue[least] = f.queue[least], f.queue[at]
		at = least
	}
}

// sortByRelease puts the pieces into the order that run needs.
func (f *fluid) sortByRelease() {
	slices.SortFunc(f.pieces, func(a, b piece) int {
		switch {
		case a.release < b.release:
			return -1
		case a.release > b.release:
			return 1
		}
		return 0
	})
}
