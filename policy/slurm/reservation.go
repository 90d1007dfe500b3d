package slurm

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Reservation is an advance reservation of nodes.
type Reservation struct {
	Name        string
	Start, End  des.Time
	Nodes       []int    // positions in Config.Nodes
	Count       int      // where Nodes is empty: so many nodes of the partition
	Partition   int      // position in Config.Partitions, for Count
	Users       []string // who may use it
	Accounts    []string
	Maintenance bool // jobs that run are not heeded when it is made (MAINT,IGNORE_JOBS)

	nodes       nodeSet
	size        int  // how many nodes it had when it was made
	begun, over bool // as the states of nodes were set last
}

// Reserve makes a reservation. It returns a Refusal where Slurm would refuse it, and another error
// for a node that there is none of. Maintenance may overlap any other one.
func (c *Controller) Reserve(now des.Time, r *Reservation) error {
	nodes, err := c.setOf(r.Nodes)
	if err != nil {
		return fmt.Errorf("reservation %q: %w", r.Name, err)
	}
	r.nodes = nodes
	if len(r.Nodes) == 0 {
		if r.Partition < 0 || r.Partition >= len(c.parts) {
			return fmt.Errorf("reservation %q: there is no partition %d", r.Name, r.Partition)
		}
		if r.nodes = c.pickReserved(r, nodes, r.Count); r.nodes.empty() {
			return ErrBusy
		}
	}
	for _, other := range c.reserved {
		maintains := r.Maintenance || other.Maintenance
		if !maintains && other.nodes.meets(r.nodes) && other.Start < r.End && r.Start < other.End {
			return ErrOverlap
		}
	}
	for _, j := range c.running {
		if !r.Maintenance && j.nodes.meets(r.nodes) && c.limitSecond(j) > c.second(r.Start) {
			return ErrBusy
		}
	}
	r.size = r.nodes.count()
	c.reserved = append(c.reserved, r)
	c.booked++
	c.watchReservations(now)
	if c.main.limitDue == des.Forever {
		c.watchLimits(now)
	}
	c.changed(now)
	c.main.stir(&c.conf.Schedule, now)
	return nil
}

// pickReserved is the first nodes of its partition, but for some, that nobody else has reserved in its time and on
// which no job runs beyond its start, so many; or, where fewer are left that
// nobody else has reserved, as many as those; none where jobs have too many of them.
func (c *Controller) pickReserved(r *Reservation, but nodeSet, count int) nodeSet {
	open := c.parts[r.Partition].nodes.clone()
	open.intersect(c.up)
	open.remove(but)
	for _, other := range c.reserved {
		if other.Start < r.End && r.Start < other.End {
			open.remove(other.nodes)
		}
	}
	wants := min(count, open.count())
	for _, j := range c.running {
		if c.limitSecond(j) >= c.second(r.Start) {
			open.remove(j.nodes)
		}
	}
	picked := newNodeSet(len(c.conf.Nodes))
	if open.count() < wants {
		return picked
	}
	for n := range open.all {
		if wants == 0 {
			break
		}
		picked.add(n)
		wants--
	}
	return picked
}

// reservationOf is the reservation that the job names, if it may use it.
func (c *Controller) reservationOf(j *Job) (*Reservation, error) {
	for _, r := range c.reserved {
		if r.Name == j.Reservation && (slices.Contains(r.Users, j.User) || slices.Contains(r.Accounts, j.Account)) {
			return r, nil
		}
	}
	return nil, ErrReservation
}

// inForce reports whether the reservation has begun and has not ended. Its last second is one in
// which its jobs may still start.
func (c *Controller) inForce(r *Reservation, now des.Time) bool {
	return c.second(r.Start) <= c.second(now) && c.second(now) <= c.second(r.End)
}

// bar is what reservations keep from a job.
type bar struct {
	overlaps bool         // some nodes of its partition, or of its own reservation, are reserved for others before its limit would end
	within   nodeSet      // the nodes of its own reservation that are not reserved for others, too; nil: it has none
	by       *Reservation // until that one ends there is no node for it at all; or nil
}

// leavesNone reports whether others have reserved all nodes of the job's own reservation, too.
func (b *bar) leavesNone() bool { return b.overlaps && b.within != nil && b.within.empty() }

// barOf takes from nodes those that the job of e may not have if it starts at an instant. Maintenance
// of all nodes of its partition, or a reservation of a node that it must have, leaves it none.
func (c *Controller) barOf(e *entry, at des.Time, nodes nodeSet) bar {
	j, b := e.job, bar{}
	if j.reservation != nil {
		b.within = j.reservation.nodes.clone()
	}
	for _, other := range c.reserved {
		if other == j.reservation || c.second(other.Start) >= c.second(at)+int64(j.Limit/des.Second) || c.second(other.End) <= c.second(at) {
			continue
		}
		switch {
		case j.reservation != nil:
			if !j.reservation.Maintenance {
				b.overlaps = b.overlaps || b.within.meets(other.nodes)
				b.within.remove(other.nodes)
			}
		case other.Maintenance && e.part.nodes.within(other.nodes), c.whole(e) && other.nodes.hasAny(j.Required):
			clear(nodes)
			b.by = other
			return b
		default:
			nodes.remove(other.nodes)
			b.overlaps = b.overlaps || other.nodes.meets(e.part.nodes)
		}
	}
	if b.within != nil {
		nodes.intersect(b.within)
	}
	return b
}

// hasAny reports whether any of the positions is in the set.
func (s nodeSet) hasAny(positions []int) bool { return slices.ContainsFunc(positions, s.has) }

// reservationEnds is the first second in which a reservation ends that has not ended by start, and
// 0 if there is none, rounded up to the resolution of backfill.
func (c *Controller) reservationEnds(start, resolution int64) int64 {
	first := int64(0)
	for _, r := range c.reserved {
		if end := c.second(r.End); end >= start && (first == 0 || end < first) {
			first = end
		}
	}
	return (first + resolution - 1) / resolution * resolution
}

// reservationInterval is how often the states of reserved nodes are set.
const reservationInterval = 5 * des.Second

// setReservedNodes sets the states of nodes that are reserved now, which is a change as long as a
// reservation is in force; a beginning has a pass follow.
func (c *Controller) setReservedNodes(now des.Time) {
	for _, r := range c.reserved {
		begun, over := r.Start <= now, r.End <= now
		if begun && !over || r.Maintenance && r.begun && !r.over && over {
			c.changed(now)
		}
		if begun && !r.begun {
			c.main.stir(&c.conf.Schedule, now)
		}
		r.begun, r.over = begun, over
	}
	c.watchReservations(now)
	if c.main.limitDue == des.Forever {
		c.watchLimits(now - des.Tick)
	}
}

// watchReservations has the loop set the states of reserved nodes at the next multiple of
// reservationInterval later than now at which they are others, or a reservation is in force.
func (c *Controller) watchReservations(now des.Time) {
	c.main.resvDue = des.Forever
	for _, r := range c.reserved {
		var next des.Time
		switch {
		case !r.begun:
			next = max(now, r.Start-des.Tick)
		case !r.over:
			next = now
		default:
			continue
		}
		c.main.resvDue = min(c.main.resvDue, (next/reservationInterval+1)*reservationInterval)
	}
}

// mendReservations replaces nodes that are down or drained of reservations of a number of nodes, as far as
// others are free in their place. Slurm does so each time that it looks for jobs beyond their limits.
func (c *Controller) mendReservations(now des.Time) {
	for _, r := range c.reserved {
		kept := r.nodes.clone()
		kept.intersect(c.up)
		lacks := r.size - kept.count()
		if len(r.Nodes) > 0 || lacks == 0 || c.second(r.End) < c.second(now) {
			continue
		}
		if others := c.pickReserved(r, r.nodes, lacks); !others.empty() {
			c.booked++
			r.nodes = kept
			r.nodes.unite(others)
		}
	}
}

// dropReservations drops reservations that are over and in which nothing runs. Jobs that wait for
// one are held.
func (c *Controller) dropReservations(now des.Time) {
	kept := len(c.reserved)
	c.reserved = slices.DeleteFunc(c.reserved, func(r *Reservation) bool {
		runs := slices.ContainsFunc(c.running, func(j *Job) bool { return j.reservation == r })
		if !r.over || runs || c.second(r.End) >= c.second(now) {
			return false
		}
		for _, e := range c.pending {
			j := e.job
			if j.reservation == r {
				j.reservation, j.Held = nil, true
				if j.reason != HeldByController {
					j.reason = ReservationDeleted
				}
				c.tellAgain(j, now)
				c.prioritize(j, now)
			}
		}
		c.changed(now)
		c.booked++
		return true
	})
	c.sorted = c.sorted && len(c.reserved) == kept
}
