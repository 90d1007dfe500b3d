// The n cheapest of the slots that are usable as time goes by: what AMP, AEP
// and the simple square searches ask for at each step.

package window

import (
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// offer is a slot that could hold a task.
type offer struct {
	cost   float64  // in the tariff's measure
	last   des.Time // latest start of the task in this slot
	length des.Time // how long the task takes
	slot   int32    // index in the slot list
}

// cheapest keeps the cheapest of a changing set of offers. Offers come in any
// order of cost and leave when time passes their last start.
//
//	best  the cheapest n to 2n, by cost, ties in the order of arrival
//	rest  the others, none cheaper than the last of best, in no order
//
// The reserve beyond n makes refilling from rest, which reads all of it, rare.
type cheapest struct {
	n       int
	best    []offer
	rest    []offer
	soonest des.Time // no offer in best expires before it
}

func (c *cheapest) reset(n int) {
	c.n, c.best, c.rest, c.soonest = n, c.best[:0], c.rest[:0], des.Forever
}

// add takes o in and reports whether the n cheapest changed.
func (c *cheapest) add(o offer) bool {
	size := len(c.best)
	if size > 0 && o.cost >= c.best[size-1].cost && (len(c.rest) > 0 || size >= c.n) {
		c.rest = append(c.rest, o)
		return false
	}
	at := size
	for at > 0 && c.best[at-1].cost > o.cost {
		at--
	}
	c.best = append(c.best, o)
	copy(c.best[at+1:], c.best[at:size])
	c.best[at] = o
	c.soonest = min(c.soonest, o.last)
	if size == 2*c.n {
		c.rest = append(c.rest, c.best[size])
		c.best = c.best[:size]
	}
	return at < c.n
}

// advance drops what can no longer start at now.
func (c *cheapest) advance(now des.Time) {
	if now <= c.soonest {
		return
	}
	keep, soonest := c.best[:0], des.Forever
	for _, o := range c.best {
		if o.last >= now {
			keep = append(keep, o)
			soonest = min(soonest, o.last)
		}
	}
	c.best, c.soonest = keep, soonest
	if len(c.best) < c.n && len(c.rest) > 0 {
		c.refill(now)
	}
}

// refill moves the cheapest of rest into best until that holds 2n.
func (c *cheapest) refill(now des.Time) {
	rest := c.rest
	c.rest = rest[:0]
	held := len(c.best) // all of them cheaper than what follows
	for _, o := range rest {
		size := len(c.best)
		switch {
		case o.last < now:
			continue
		case size == 2*c.n && o.cost >= c.best[size-1].cost:
			c.rest = append(c.rest, o)
			continue
		case size == 2*c.n:
			c.rest = append(c.rest, c.best[size-1])
			size--
			c.best = c.best[:size]
		}
		at := size
		for at > held && c.best[at-1].cost > o.cost {
			at--
		}
		c.best = slices.Insert(c.best, at, o)
	}
	c.soonest = des.Forever
	for _, o := range c.best {
		c.soonest = min(c.soonest, o.last)
	}
}

// chosen are the n cheapest; ok is false where there are fewer.
func (c *cheapest) chosen() (offers []offer, ok bool) {
	if len(c.best) < c.n {
		return nil, false
	}
	return c.best[:c.n], true
}

func totalCost(offers []offer) float64 {
	sum := 0.0
	for i := range offers {
		sum += offers[i].cost
	}
	return sum
}

// shorten drops all offers that take limit or longer.
func (c *cheapest) shorten(limit des.Time) {
	long := func(o offer) bool { return o.length >= limit }
	before := len(c.best)
	c.best = slices.DeleteFunc(c.best, long)
	c.rest = slices.DeleteFunc(c.rest, long)
	if len(c.best) < before && len(c.best) < c.n && len(c.rest) > 0 {
		c.refill(math.MinInt64)
	}
}
