package grid

// The network between the agents of a grid.

import (
	"errors"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
)

// Link is the connection between two entities. It is theirs alone, and both
// ways at once; in each direction messages go one after the other:
//
//	sent ---> waits for those before it ---> size/Bandwidth ---> Latency ---> there
type Link struct {
	Latency des.Time // time that every message takes, 0 or more
	// Bandwidth is in bytes per time unit. Over 0 nothing passes: the two cannot
	// reach each other, and know it. +Inf is no limit.
	Bandwidth float64
}

// Direct returns a link that costs no time.
func Direct() Link { return Link{Bandwidth: math.Inf(1)} }

// Check reports what makes l meaningless, or nil.
func (l Link) Check() error {
	switch {
	case l.Latency < 0 || l.Latency == des.Forever:
		return fmt.Errorf("a link's latency must be a finite time of 0 or more, not %v", l.Latency)
	case !(l.Bandwidth >= 0):
		return errors.New("a link's bandwidth must be 0 (nothing passes) or more")
	}
	return nil
}

// transfer returns how long a message of that many bytes occupies the link.
func (l Link) transfer(bytes int) des.Time {
	if math.IsInf(l.Bandwidth, 1) {
		return 0
	}
	ticks := math.Ceil(float64(bytes) / l.Bandwidth * float64(des.Second))
	if ticks >= float64(des.Forever) {
		return des.Forever
	}
	return des.Time(ticks)
}

// Network is the links between all pairs of entities.
type Network struct {
	Default Link               // of the pairs that Links does not name
	Links   map[[2]string]Link // by the names of a pair, in either order
}

func (n *Network) between(a, b string) Link {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		if l, ok := n.Links[pair]; ok {
			return l
		}
	}
	return n.Default
}

// endpoint is an entity's access to the network.
type endpoint struct {
	grid  *Grid
	name  string // in all of the simulation: north/astra
	local string // in the grid's own network: astra
	at    *des.Context
	out   map[*endpoint]*line
}

// line is one direction of a link.
type line struct {
	Link
	free des.Time // when all that was sent has left
}

func (e *endpoint) line(to *endpoint) *line {
	l := e.out[to]
	if l == nil {
		l = &line{Link: e.grid.network.between(e.local, to.local)}
		e.out[to] = l
	}
	return l
}

// reaches reports whether anything passes between the two.
func (e *endpoint) reaches(to *endpoint) bool { return e.line(to).Bandwidth > 0 }

// send sends m on its way; false where nothing passes.
func (e *endpoint) send(to *endpoint, m message) bool {
	l := e.line(to)
	if l.Bandwidth == 0 {
		return false
	}
	bytes := m.bytes()
	e.grid.stats.Messages++
	e.grid.stats.Bytes += int64(bytes)
	now := e.at.Now()
	l.free = max(l.free, now).Add(l.transfer(bytes))
	e.at.Send(to.at, l.free.Add(l.Latency)-now, 0, m)
	return true
}

// Name returns the name of the entity. If the entity belongs to a grid that is a site of
// another grid, its name begins with the name of that site, as in north/astra.
func (e *endpoint) Name() string { return e.name }

// Start and Shutdown complete des.Entity.
func (*endpoint) Start(*des.Context)    {}
func (*endpoint) Shutdown(*des.Context) {}
