package plan

import "github.com/gridslot/gridslot/des"

// Frontiers: up to where it is known that no hole is large enough. Jobs of one shape
// (so many processors for so long) that wait one behind the other ask the same, over
// and over:
//
//	free |______                       ______
//	     |      |______        ______ |      | what was given back
//	nodes|- - - - - - -|- - - |- - - -|- - - |- - -
//	     |             |______|       |      |
//	   origin             ^           ^ from
//	                      |            first is at least from - length + 1 now
//
// The invariant: no window of the shape starts in [origin, first), as the plan was when
// seen gains had been made. What is taken since makes no hole. What is given back, by
// whomever, passes through Cluster.add: a hole that is new meets such a gain, so it
// starts later than its beginning less the length, and it is no wider than the most that
// is free anywhere in the gain (high). High is only asked for where the gain would lower
// a frontier; that is sound at any time later, because a hole that there is then is no
// wider than what is free then. Time alone makes no holes.
//
// Memory is fixed. A shape has one place, by its hash, and the latest one there holds it;
// of the gains the latest are known, and a shape that has missed more begins anew.
//
// Frontiers pay where many jobs of few shapes wait, and cost where all differ. So what
// they spare is counted, and they rest most of the time where that is little. Answers are
// the same either way.
type frontiers struct {
	shapes []frontier
	gains  [recent]gain
	made   int64 // gains so far

	rest                    int // looks to come without
	looks, spared, measured int // in the present stretch
}

// frontier is what is known of one shape.
type frontier struct {
	nodes         int
	length, first des.Time
	seen          int64 // gains made until then
}

// gain is something that was given back: at most high processors were free at any
// instant of [from, to) when that was asked; unasked before.
type gain struct {
	from, to des.Time
	high     int
}

const (
	shapeBits = 10 // of the number of shapes
	recent    = 64 // gains
	stretch   = 4096
	unasked   = -1
)

// gained notes what was given back.
func (f *frontiers) gained(from, to des.Time) {
	f.gains[f.made%recent] = gain{from, to, unasked}
	f.made++
}

// pays reports whether the next look is worth a frontier. One that is spared saves half
// of itself; a look at what is free in a gain, and the care for all, cost more.
func (f *frontiers) pays() bool {
	if f.rest > 0 {
		f.rest--
		return false
	}
	if f.looks == stretch {
		if f.spared < stretch/4+4*f.measured {
			f.rest = 15 * stretch
		}
		f.looks, f.spared, f.measured = 0, 0, 0
	}
	f.looks++
	return true
}

// frontier is that of a shape, as of now.
func (c *Cluster) frontier(nodes int, length des.Time) *frontier {
	f := c.frontiers
	if f.shapes == nil {
		f.shapes = make([]frontier, 1<<shapeBits)
	}
	hash := uint64(nodes)*0x9E3779B97F4A7C15 ^ uint64(length)*0xC2B2AE3D27D4EB4F
	s := &f.shapes[hash>>(64-shapeBits)]
	if s.nodes != nodes || s.length != length || f.made-s.seen > recent {
		*s = frontier{nodes: nodes, length: length, seen: f.made}
	}
	for ; s.seen < f.made; s.seen++ {
		g := &f.gains[s.seen%recent]
		first := g.from - length + des.Tick
		if first >= s.first {
			continue
		}
		if g.high == unasked {
			g.high = c.most(max(g.from, c.origin), g.to)
			f.measured++
		}
		if g.high >= nodes {
			s.first = first
		}
	}
	return s
}

// findBehind is find, with what is known of the shape; windows that start at mine or
// later reach into what the asker holds itself, so they are no holes.
func (c *Cluster) findBehind(nodes int, length, until, assured, mine des.Time) (at des.Time, ok bool) {
	s := c.frontier(nodes, length)
	from := max(c.origin, min(s.first, mine))
	if from > until {
		c.frontiers.spared++
		return 0, false
	}
	at, ok = c.find(nodes, length, from, until, assured)
	if !ok {
		at = until + des.Tick
	}
	s.first = max(s.first, at) // before it there is no room even up to assured
	return at, ok
}
