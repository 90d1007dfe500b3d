// Owners' tasks: how much of a node they take, and where.

package vo

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload/model"
)

// Level is the share of a node that its owner uses, as a random variable.
type Level interface {
	// Check reports settings that make no sense, or nil.
	Check() error
	// Rand draws a level: a share of the interval.
	Rand(r *rand.Rand) float64
}

// HypergeometricLevel is META's level. k, the number of marked among 30 draws
// from 1000 of which 150 are marked, is drawn until 0 < k < 10; the level is
//
//	Lo + k/10 (Hi - Lo)
//
// tenths of the interval. The zero value is the load of META 6.1, from 1 to 5 tenths.
type HypergeometricLevel struct{ Lo, Hi float64 }

// levelCount is the distribution of k, of mean 30 * 150/1000 = 4.5.
var levelCount = model.Hypergeometric{Population: 1000, Marked: 150, Draws: 30}

// tenths is the range in force.
func (l HypergeometricLevel) tenths() Range { return Range{l.Lo, l.Hi}.or(Range{1, 5}) }

// Check reports settings that make no sense, or nil.
func (l HypergeometricLevel) Check() error { return checkTenths(l.tenths()) }

// Rand draws a level.
func (l HypergeometricLevel) Rand(r *rand.Rand) float64 {
	tenths := l.tenths()
	for {
		if k := levelCount.Rand(r); 0 < k && k < 10 {
			return (tenths.Min + float64(float64(k)/10*(tenths.Max-tenths.Min))) / 10
		}
	}
}

// NormalLevel is the level of DEP18's program: a truncated normal in [Lo, Hi]
// tenths of the interval, of mode Mode. The zero value means 0.9, 2.0 and 1.5. The
// standard deviation, which is not published, is a third of half the range, as
// everywhere in these environments.
type NormalLevel struct{ Lo, Hi, Mode float64 }

// distribution is the distribution in force, in tenths.
func (l NormalLevel) distribution() model.TruncatedNormal {
	l = cmp.Or(l, NormalLevel{0.9, 2.0, 1.5})
	return thirds(Range{l.Lo, l.Hi}, l.Mode)
}

// Check reports settings that make no sense, or nil.
func (l NormalLevel) Check() error {
	d := l.distribution()
	if err := d.Check(); err != nil {
		return err
	}
	return checkTenths(Range{d.Min, d.Max})
}

// Rand draws a level.
func (l NormalLevel) Rand(r *rand.Rand) float64 { return l.distribution().Rand(r) / 10 }

// checkTenths reports a range of levels that is none, or that tasks cannot reach.
func checkTenths(g Range) error {
	if err := g.check("level of local load in tenths", 0); err != nil {
		return err
	}
	if g.Max > 9 {
		return errors.New("level of local load: above 9 tenths tasks find no place")
	}
	return nil
}

// thirds is the truncated normal of these environments: its standard deviation
// is a third of half its range.
func thirds(g Range, mode float64) model.TruncatedNormal {
	return model.TruncatedNormal{Mu: mode, Sigma: (g.Max - g.Min) / 6, Min: g.Min, Max: g.Max}
}

// Load generates owners' tasks on one node: a level is drawn, then tasks of
// normal length are put at uniform starts, never touching each other, until they
// take so much of the interval. The last one passes the level, so the mean load
// is above the mean level by about half a task.
type Load struct {
	// Level is the share that owners' tasks take; nil means HypergeometricLevel{}.
	Level Level
	// Task is the range of the tasks' lengths in time units, whole numbers; the
	// zero value means [10, 100]. Their mean is the middle of the range, their
	// standard deviation a third of half of it.
	//
	// META does not print the range. [10, 100] is what a problem shows that was
	// made with the authors' program: inner tasks of 13 to 95 units, 53 in the
	// mean, and 481 slots.
	Task Range
	// Horizons is over how many intervals in a row tasks are generated, of which
	// the first is kept; 0 means 1. Where it is more, a task may reach over the
	// interval's end and is cut there. DEP18 has 4.
	Horizons int
}

// Span is [Start, End).
type Span struct{ Start, End des.Time }

func (l Load) task() Range { return l.Task.or(Range{10, 100}) }

func (l Load) level() Level {
	if l.Level == nil {
		return HypergeometricLevel{}
	}
	return l.Level
}

// Check reports settings that make no sense, or nil.
func (l Load) Check() error {
	if l.Horizons < 0 {
		return errors.New("local load: the number of horizons must not be negative")
	}
	if err := l.task().check("local tasks' length", 1); err != nil {
		return err
	}
	return l.level().Check()
}

// MeanTasks estimates how many tasks Generate puts on a node in an interval of the given length,
// in time units.
func (l Load) MeanTasks(units int) float64 {
	share := 0.15 // of a level of another type, of which no mean is known
	switch level := l.level().(type) {
	case HypergeometricLevel:
		t := level.tenths()
		share = (t.Min + float64(0.45*(t.Max-t.Min))) / 10 // k is 4.5 of 10 on average
	case NormalLevel:
		d := level.distribution()
		share = d.Mu / 10
	}
	// The last task passes the level, by half a task on average.
	return 0.5 + share*float64(units)/((l.task().Min+l.task().Max)/2)
}

// patience is the number of tasks in a row that may find no place.
const patience = 10_000

// Generate makes the tasks on one node in the interval [0, units), by start. It
// fails where the level cannot be reached because no task finds a place any
// more.
func (l Load) Generate(r *rand.Rand, units int) ([]Span, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	// The level, of all horizons together, in time units.
	lengths := l.task()
	length := thirds(lengths, (lengths.Min+lengths.Max)/2)
	whole := units * max(l.Horizons, 1)
	wanted := l.level().Rand(r) * float64(whole)

	// Tasks at random until it is reached; one that would touch another is drawn anew, length and all.
	var placed []Span // by start, in time units until the end
	failures := 0     // in a row
	for taken := 0; float64(taken) < wanted; {
		task := int(lengths.Min)
		if lengths.Min < lengths.Max {
			task = int(math.Round(length.Rand(r)))
		}
		if failures++; failures > patience {
			return nil, fmt.Errorf("local load: no place for tasks of %v to %v units once %d of %.0f units are taken", lengths.Min, lengths.Max, taken, wanted)
		}
		if task > whole {
			continue
		}
		s := Span{Start: des.Time(r.IntN(whole - task + 1))}
		s.End = s.Start + des.Time(task)
		i, _ := slices.BinarySearchFunc(placed, s, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
		if (i > 0 && placed[i-1].End >= s.Start) || (i < len(placed) && placed[i].Start <= s.End) {
			continue
		}
		placed = slices.Insert(placed, i, s)
		taken += task
		failures = 0
	}
	// What lies in the first horizon is kept, in time units of des.
	kept := placed[:0]
	for _, s := range placed {
		if s.Start < des.Time(units) {
			kept = append(kept, Span{s.Start * des.Second, min(s.End, des.Time(units)) * des.Second})
		}
	}
	return kept, nil
}
