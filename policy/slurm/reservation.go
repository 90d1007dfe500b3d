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
	Users       []string // who may use it
	Accounts    []string
	Maintenance bool // jobs that run are not heeded when it is made (MAINT,IGNORE_JOBS)

	nodes nodeSet
}

// Reserve makes a reservation. It returns a Refusal where Slurm would refuse it, and another error
// for a node that there is none of.
func (c *Controller) Reserve(now des.Time, r *Reservation) error {
	nodes, err := c.setOf(r.Nodes)
	if err != nil {
		return fmt.Errorf("reservation %q: %w", r.Name, err)
	}
	r.nodes = nodes
	for _, other := range c.reserved {
		if other.nodes.meets(r.nodes) && other.Start < r.End && r.Start < other.End {
			return ErrOverlap
		}
	}
	for _, j := range c.running {
		if !r.Maintenance && j.nodes.meets(r.nodes) && c.limitSecond(j) > c.second(r.Start) {
			return ErrBusy
		}
	}
	c.reserved = append(c.reserved, r)
	c.changed(now)
	c.main.stir(&c.conf.Schedule, now)
	return nil
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

// inForce reports whether the reservation has begun and has not ended.
func (r *Reservation) inForce(now des.Time) bool { return r.Start <= now && now < r.End }

// barReserved takes from nodes those that the job may not have if it starts at now, as they are
// reserved for others before its limit ends.
func (c *Controller) barReserved(j *Job, now des.Time, nodes nodeSet) {
	switch r := j.reservation; {
	case r == nil:
		for _, other := range c.reserved {
			if other.End > now && other.Start < now.Add(j.Limit) {
				nodes.remove(other.nodes)
			}
		}
	case r.inForce(now):
		nodes.intersect(r.nodes)
	default:
		clear(nodes)
	}
}

// reservationEnds is the first end of a reservation that is in force at t, and whether there is
// one.
func (c *Controller) reservationEnds(t des.Time) (first des.Time, found bool) {
	for _, r := range c.reserved {
		if t >= r.Start && t <= r.End && (!found || r.End < first) {
			first, found = r.End, true
		}
	}
	return first, found
}
