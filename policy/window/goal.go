// What the searches want of a window: one of its figures, as small as possible.

package window

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// goal is the figure that a search minimises.
type goal struct {
	of figure
	by Criterion // for theWorth
}

// figure is a quantity of a window.
type figure uint8

const (
	theStart    figure = iota
	theEnd             // of the last task
	theLength          // from the start to the end
	theProcTime        // the sum of the tasks' times
	theCost            // in the tariff's measure
	theWorth           // by a criterion; it is maximised, so its sign is changed
)

// figures are those of n offers that start together.
type figures struct {
	start, end, procTime des.Time
	cost, worth          float64
}

func figuresOf(offers []offer, start des.Time) figures {
	var longest, sum des.Time
	cost := 0.0
	for i := range offers {
		o := &offers[i]
		longest = max(longest, o.length)
		sum += o.length
		cost += o.cost
	}
	return figures{start: start, end: start + longest, procTime: sum, cost: cost}
}

// value returns the goal's figure for a choice, in ticks if it is a time. The choice with the least
// value is the best.
func (g goal) value(f *figures) float64 {
	switch g.of {
	case theStart:
		return float64(f.start)
	case theEnd:
		return float64(f.end)
	case theLength:
		return float64(f.end - f.start)
	case theProcTime:
		return float64(f.procTime)
	case theCost:
		return f.cost
	}
	return -f.worth
}

// bound is the length that a window which starts at now, or later, must stay
// below to have a value less than best.
func (g goal) bound(best float64, now des.Time) des.Time {
	switch g.of {
	case theStart:
		if float64(now) >= best {
			return 0
		}
	case theEnd:
		return des.Time(best) - now
	case theLength, theProcTime:
		return des.Time(best)
	}
	return des.Forever
}

// shown is the goal's value of the best answer as its window w shows it: in time
// units, in real costs, and for a criterion as the criterion reports its sum.
func (s *search) shown(g goal, w *entity.Window) float64 {
	if g.of != theWorth {
		return g.plain(w)
	}
	sum := 0.0
	for i, o := range s.best.offers {
		sum += g.by.Value(&s.list[o.slot], w.Start, w.Tasks[i].End)
	}
	return reported(g.by, sum)
}

// plain is shown for a goal that needs nothing but the window itself.
func (g goal) plain(w *entity.Window) float64 {
	if g.of == theCost {
		return w.Cost
	}
	ticks := g.value(&figures{start: w.Start, end: w.End, procTime: w.ProcessorTime()})
	return ticks / float64(des.Second)
}
