// Failures of processors or nodes, and their repairs.

package model

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/emirpasic/gods/trees/binaryheap"

	"github.com/gridslot/gridslot/des"
)

// Failures is a model of processors or nodes that fail and are repaired, each by
// itself, or in groups of neighbours (racks) that fail together. Each is as new when
// the run begins and when it comes back: its times up and down are drawn
// independently.
//
//	up        down     up              down
//	[=========][######][===============][####][===
//
// B. Schroeder and G. Gibson, "A large-scale study of failures in high-performance
// computing systems", DSN 2006, found in nine years of records of 22 systems at Los
// Alamos that the time between failures is modelled well by a Weibull distribution
// with a decreasing hazard rate (a shape below 1), and the time of repair by a
// lognormal one; the means differ widely from one system to another. They are
// therefore to be given.
type Failures struct {
	Units int // processors or nodes, from 0 on
	Group int // how many neighbours fail together, the last group may be smaller; 0 means 1
	// Up is the time from a repair to the next failure, Repair the time of a repair,
	// both in seconds, of a unit or group.
	Up, Repair Lifetime
	// Crews is the number of repairs that can be under way at a time: failed processors wait for a
	// crew, in the order of failing. 0 means any number.
	Crews int
	// Until is the instant from which on nothing fails any more; 0 means never.
	Until             des.Time
	Seed, Replication uint64
}

// Lifetime is the distribution of a time in seconds.
type Lifetime = Distribution

// failure is one time that the units First to Last, both included, are down, over
// [From, To).
type failure struct {
	First, Last int      // 0 <= First <= Last < Units
	From, To    des.Time // From < To; From never goes back from one failure to the next
}

// Check reports what makes the model meaningless, or nil.
func (f Failures) Check() error {
	switch {
	case f.Units < 1:
		return fmt.Errorf("failures: want 1 or more units, not %d", f.Units)
	case f.Group < 0 || f.Crews < 0 || f.Until < 0:
		return errors.New("failures: the size of a group, the crews and the end must not be negative")
	case f.Up == nil || f.Repair == nil:
		return errors.New("failures: the times up and of repair must be given")
	}
	return errors.Join(f.Up.Check(), f.Repair.Check())
}

// All yields the failures in order of their beginnings, without end unless there is
// an Until. Every unit or group draws from a stream of its own, so that its failures
// depend on nothing else.
func (f Failures) All() (iter.Seq[failure], error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	group := max(f.Group, 1)
	return func(yield func(failure) bool) {
		// The units or groups by their next failure, at a tie by number.
		next := binaryheap.NewWith(func(x, y any) int {
			a, b := x.(*failingUnit), y.(*failingUnit)
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.first, b.first))
		})
		for first := 0; first < f.Units; first += group {
			u := &failingUnit{first: first, random: des.NewStream(f.Seed, f.Replication, "failures", uint64(first))}
			if u.at = lifetime(f.Up, u.random); f.comes(u.at) {
				next.Push(u)
			}
		}
		crews := make([]des.Time, f.Crews) // when each has time again, ascending
		for !next.Empty() {
			first, _ := next.Pop()
			u := first.(*failingUnit)
			// A repair begins when the unit fails, or when the first crew has time.
			x := failure{First: u.first, Last: min(u.first+group, f.Units) - 1, From: u.at}
			begin := x.From
			if f.Crews > 0 {
				begin = max(begin, crews[0])
			}
			x.To = begin.Add(lifetime(f.Repair, u.random))
			// The crew that had time first is busy until To; crews stay ascending.
			if f.Crews > 0 {
				at, _ := slices.BinarySearch(crews[1:], x.To)
				copy(crews, crews[1:at+1])
				crews[at] = x.To
			}
			if !yield(x) {
				return
			}
			if u.at = x.To.Add(lifetime(f.Up, u.random)); f.comes(u.at) {
				next.Push(u)
			}
		}
	}, nil
}

// comes reports whether a failure at an instant happens at all.
func (f Failures) comes(at des.Time) bool { return at < des.Forever && (f.Until == 0 || at < f.Until) }

// lifetime draws a time of at least one tick.
func lifetime(d Lifetime, r *rand.Rand) des.Time { return max(des.Seconds(d.Rand(r)), des.Tick) }

// failingUnit is a unit or group that is up.
type failingUnit struct {
	at     des.Time   // when it fails next
	first  int        // the number of its first unit
	random *rand.Rand // its own stream: up, repair, up, repair ...
}
