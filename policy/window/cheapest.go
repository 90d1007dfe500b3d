// The n cheapest of the slots that are usable as time goes by: what AMP, AEP
// and the simple square searches ask for at each step.

package window

import (
	"math"
	"slices"
	"sort"

	"github.com/gridslot/gridslot/des"
)

// offer is a slot that could hold a task.
type offer struct {
	cost   float64  // in the tariff's measure
	last   des.Time // latest start of the task in this slot
	length des.Time // how long the task takes
	slot   int32    // index in the slot list
}

// before is the order by cost, and then by place.
func (o *offer) before(other *offer) bool {
	return o.cost < other.cost || (o.cost == other.cost && o.slot < other.slot)
}

// cheapest keeps the cheapest of a changing set of offers. Offers come in any
// order of cost and leave when time passes their last start.
//
//	best  the cheapest n and up to reserve more, by cost, ties by place in the slot list
//	rest  the others, none before the last of best, in no order
//
// Offers arrive in the order of the list, so that which of equal costs are chosen
// is told by the list alone, and not by what has come and gone before.
//
// The reserve beyond n makes refilling from rest, which reads all of it, rare: n more, and
// leastReserve where n is small. As long as there are no more than n there is no rest, and
// no need of an order.
//
// What the n cheapest cost is told to within slack, since to sum up n costs for each offer
// takes longer than all the rest: EASY by AMP with budgets, on 1,600 nodes, takes half as
// long again. See within.
type cheapest struct {
	n       int // how many are asked for
	most    int // how many best holds at most
	best    []offer
	rest    []offer  // some may have expired
	soonest des.Time // no offer in best expires before it
	sum     float64  // of the n cheapest, if summed
	slack   float64  // how far sum can be from what totalCost gives
	summed  bool     // sum and slack hold
	sorted  bool     // best is; as long as it is not, there is no rest
}

// leastReserve is the least that best can hold beyond n.
const leastReserve = 16

// reset begins with no offers, for n of them.
func (c *cheapest) reset(n int) {
	*c = cheapest{n: n, most: n + max(n, leastReserve), best: c.best[:0], rest: c.rest[:0], soonest: des.Forever}
}

// add takes o in and reports whether the n cheapest changed.
func (c *cheapest) add(o offer) bool {
	size := len(c.best)
	if size < c.n {
		c.best = append(c.best, o)
		c.soonest = min(c.soonest, o.last)
		c.sorted, c.summed = false, false
		return true
	}
	c.sort()
	if o.cost >= c.best[size-1].cost {
		c.rest = append(c.rest, o)
		return false
	}
	at := sort.Search(size, func(i int) bool { return c.best[i].cost > o.cost }) // behind its equals
	// Among the n cheapest it takes the place of the n-th, and its sum is not added up anew.
	if at < c.n {
		out := c.best[c.n-1].cost
		c.slack += ulp * (c.sum + out)
		c.sum += o.cost - out
	}
	c.best = append(c.best, o)
	copy(c.best[at+1:], c.best[at:size])
	c.best[at] = o
	c.soonest = min(c.soonest, o.last)
	if size == c.most {
		c.rest = append(c.rest, c.best[size])
		c.best = c.best[:size]
	}
	return at < c.n
}

// sort puts best in order, if it is not.
func (c *cheapest) sort() {
	if c.sorted {
		return
	}
	c.sorted = true
	sortOffers(c.best)
}

// sortOffers sorts by cost, then by place.
func sortOffers(offers []offer) {
	slices.SortFunc(offers, func(a, b offer) int {
		if a.before(&b) {
			return -1
		}
		return 1 // no two are the same slot
	})
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
	c.best, c.soonest, c.summed = keep, soonest, false
	if len(c.best) < c.n && len(c.rest) > 0 {
		c.refill(now)
	}
}

// refill moves the cheapest of rest into best until that holds as many as it may.
func (c *cheapest) refill(now des.Time) {
	rest := c.rest
	c.rest = rest[:0]
	held := len(c.best) // all of them cheaper than what follows
	for _, o := range rest {
		size := len(c.best)
		switch {
		case o.last < now: // it has expired
			continue
		case size == c.most && !o.before(&c.best[size-1]): // it stays in rest
			c.rest = append(c.rest, o)
			continue
		case size == c.most: // the last of best goes back to rest
			c.rest = append(c.rest, c.best[size-1])
			size--
			c.best = c.best[:size]
		}
		at := size
		for at > held && o.before(&c.best[at-1]) {
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
	c.sort()
	return c.best[:c.n], true
}

// ulp is twice what rounding can do to a number of 1.
const ulp = 0x1p-52

// within reports whether the n cheapest cost no more than limit, as totalCost has it.
// Where it is not sure, totalCost has to tell. It is false where there are fewer.
func (c *cheapest) within(limit float64) (within, sure bool) {
	if len(c.best) < c.n {
		return false, true
	}
	if !c.summed {
		c.sum = totalCost(c.best[:c.n])
		c.slack, c.summed = ulp*float64(c.n)*c.sum, true
	}
	if c.sum-c.slack > limit {
		return false, true
	}
	return true, c.sum+c.slack <= limit
}

// totalCost adds the costs up in the order of the offers.
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
	c.summed = false
	if len(c.best) < before && len(c.best) < c.n && len(c.rest) > 0 {
		c.refill(math.MinInt64) // of any time: the caller advances
	}
}
