package slurm

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Advance reservations: slurmctld/reservation.c. They are of whole nodes, and do not recur.

// Reservation is an advance reservation of nodes (scontrol create reservation).
type Reservation struct {
	Name        string
	Start, End  des.Time // its jobs start in [Start, End], and are killed after End; Start < End
	Nodes       []int    // positions in Config.Nodes; empty: Slurm chooses Count nodes
	Count       int      // number of nodes of Partition (NodeCnt), if Nodes is empty
	Partition   int      // position in Config.Partitions, for Count
	Users       []string // who may use it, beside Accounts
	Accounts    []string // whose jobs may use it
	Maintenance bool     // it may overlap other reservations and running jobs (MAINT,IGNORE_JOBS)

	nodes nodeSet // its nodes now
	size  int     // how many nodes it had when it was made: what mendReservations keeps up
	// begun and over report whether Start and End had passed when the states of nodes were last set.
	begun, over bool
}

// Reserve makes a reservation (create_resv). It returns the Refusal ErrOverlap or ErrBusy if Slurm would
// refuse the reservation, and another error for a node or partition that does not exist. Maintenance may
// overlap any other reservation. The controller keeps r, which the caller must not change.
func (c *Controller) Reserve(now des.Time, r *Reservation) error {
	// Its nodes: those named, or those chosen.
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
	// Does it overlap others (_resv_overlap), or jobs that run (_job_overlap)?
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
	// It is made, which is a change. The main loop has to look at it from now on.
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

// pickReserved chooses count nodes for a reservation (_select_nodes): the first nodes of its partition, except
// those in but, that are up, that no other reservation has in its time, and on which no job has a limit at or
// after its start. If reservations and outages leave fewer than count, it chooses that many fewer. It chooses
// none if jobs have too many of what is left.
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

// reservationOf is the reservation that the job names, or ErrReservation if there is none that it may use
// (validate_job_resv).
func (c *Controller) reservationOf(j *Job) (*Reservation, error) {
	for _, r := range c.reserved {
		if r.Name == j.Reservation && c.admits(r, j) {
			return r, nil
		}
	}
	return nil, ErrReservation
}

// admits reports whether the job may use the reservation (_valid_job_access_resv). If the reservation names both users and
// accounts, both must suit. If it names only accounts and associations are enforced, accounts below these may use it, too.
func (c *Controller) admits(r *Reservation, j *Job) bool {
	if len(r.Users) > 0 && !slices.Contains(r.Users, j.User) {
		return false
	}
	if len(r.Accounts) == 0 || slices.Contains(r.Accounts, j.account()) {
		return len(r.Users)+len(r.Accounts) > 0
	}
	if len(r.Users) == 0 && c.conf.Enforce.Associations {
		for at := j.assoc; at != nil; at = at.parent {
			if !at.isUser && slices.Contains(r.Accounts, at.name) {
				return true
			}
		}
	}
	return false
}

// inForce reports whether the reservation has begun and has not ended (job_test_resv_now). Its jobs may still
// start in the second in which it ends.
func (c *Controller) inForce(r *Reservation, now des.Time) bool {
	return c.second(r.Start) <= c.second(now) && c.second(now) <= c.second(r.End)
}

// bar is the restriction that reservations put on a job: the results of job_test_resv.
type bar struct {
	// overlaps reports whether some nodes of its partition, or of its own reservation, are reserved for others
	// before its limit would end (resv_overlap).
	overlaps bool
	within   nodeSet      // the nodes of its own reservation that are not reserved for others, too; nil: it has no reservation
	by       *Reservation // until this reservation ends there is no node for the job at all; or nil
}

// leavesNone reports whether others have reserved all nodes of the job's own reservation, too.
func (b *bar) leavesNone() bool { return b.overlaps && b.within != nil && b.within.empty() }

// barOf takes from nodes those that the job of e may not have if it starts at the instant at (job_test_resv):
// those that other reservations have at any time in [at, at + limit). A job with a reservation has only the
// nodes of that reservation; if that is maintenance, no other reservation bars it. Maintenance of all nodes of
// its partition, or a reservation of a node that it must have, leaves a job none.
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

// reservationEnds is the first second at or after start in which any reservation ends, rounded up to a
// multiple of resolution seconds; 0 if there is none (find_resv_end).
func (c *Controller) reservationEnds(start, resolution int64) int64 {
	first := int64(0)
	for _, r := range c.reserved {
		if end := c.second(r.End); end >= start && (first == 0 || end < first) {
			first = end
		}
	}
	return (first + resolution - 1) / resolution * resolution
}

// reservationInterval is the time after which the main loop sets the states of reserved nodes again
// (last_resv_time in _slurmctld_background).
const reservationInterval = 5 * des.Second

// setReservedNodes sets the states of nodes that are reserved now (set_node_maint_mode). That is a change to
// backfill each time as long as a reservation is in force, and once more when maintenance ends. When a
// reservation begins, a pass is due.
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
	if c.main.limitDue == des.Forever { // limits are looked at after this, so that now itself may be due
		c.watchLimits(now - des.Tick)
	}
}

// watchReservations finds the next multiple of reservationInterval after now at which setReservedNodes has
// something to do: the first one at which a reservation has begun, and each one until its end was noted.
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

// mendReservations replaces nodes that are down or drained of those reservations whose nodes Slurm chose, if
// enough other nodes are free (_validate_node_choice): right after an order about nodes, and whenever the main loop looks at
// limits (job_resv_check). A reservation whose nodes were named keeps them.
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

// dropReservations drops reservations that are over and in which nothing runs (job_resv_check). Jobs that wait
// for such a reservation are held, with the reason ReservationDeleted.
// The end of any maintenance clears the reason of jobs that waited for maintenance (_foreach_clear_job_resv).
func (c *Controller) dropReservations(now des.Time) {
	kept := len(c.reserved)
	c.reserved = slices.DeleteFunc(c.reserved, func(r *Reservation) bool {
		runs := slices.ContainsFunc(c.running, func(j *Job) bool { return j.reservation == r })
		if !r.over || runs || c.second(r.End) >= c.second(now) {
			return false
		}
		for _, e := range c.pending {
			j := e.job
			if r.Maintenance && j.reason == NodesNotAvailable && j.maintained {
				j.reason = NoReason
			}
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
