package entity

// What a cluster can offer.

import "github.com/gridslot/gridslot/des"

// Offer is a slot of a cluster: Nodes processors that are free over [Start,
// Start+Length), in which as many tasks of a job can run there.
type Offer struct {
	Agent  *ResourceAgent
	Nodes  int
	Start  des.Time
	Length des.Time // of a task on this cluster
}

// Finish is when tasks that take the offer end.
func (o Offer) Finish() des.Time { return o.Start.Add(o.Length) }

// Offers appends to list the earliest slots for so many tasks of the given
// length, none before from, by start. All of them can be taken together: what a
// slot has is not offered again. There are no more of them than it takes to
// place all the tasks, which is as many as anybody can use who prefers an early
// end; the search goes no further.
//
//	free |          ______
//	     |      ___|  2   |__       tasks of length L; slot 2 is as wide as
//	     |_____|  |_______|         what slot 1 leaves over all of [s2, s2+L)
//	     |  1     |
//	     s1---L---s2---L----> time
func (c *Cluster) Offers(list []Offer, nodes int, length, from des.Time) []Offer {
	begin, taken := len(list), len(list)
	for nodes > 0 {
		w, ok := c.find(1, length, from, des.Forever, des.Forever)
		if !ok {
			break
		}
		o := Offer{Nodes: min(nodes, c.freeOver(w.Start, w.End)), Start: w.Start, Length: length}
		list = append(list, o)
		nodes -= o.Nodes
		from = o.Start
		if nodes > 0 {
			c.add(o.Start, o.Finish(), -o.Nodes)
			taken++
		}
	}
	for _, o := range list[begin:taken] {
		c.add(o.Start, o.Finish(), o.Nodes)
	}
	return list
}

// freeOver is how many processors are free all over [from, to).
func (c *Cluster) freeOver(from, to des.Time) int {
	s := &c.width
	*s = widthScan{from: from, to: to, free: c.free}
	c.steps.Scan(s)
	if !s.begun {
		return s.free
	}
	return s.least
}

// widthScan looks for the least number of free processors in [from, to).
type widthScan struct {
	from, to des.Time
	begun    bool // past from
	free     int
	least    int
}

func (s *widthScan) Skip(sum stepSum) bool {
	switch {
	case sum.last <= s.from:
	case s.begun && sum.last < s.to:
		s.least = min(s.least, s.free+sum.low)
	default:
		return false
	}
	s.free += sum.total
	return true
}

func (s *widthScan) Visit(steps []step) bool {
	for _, x := range steps {
		if x.at > s.from && !s.begun {
			s.begun, s.least = true, s.free
		}
		if x.at >= s.to {
			return false
		}
		s.free += x.delta
		if s.begun {
			s.least = min(s.least, s.free)
		}
	}
	return true
}
