package entity

import (
	"fmt"
	"maps"
	"math"

	"github.com/gridslot/gridslot/des"
)

// Node is one space-shared computer: at most one task runs on it at any time.
type Node struct {
	ID    int     // the node's name in files; plans number nodes by their order (Plan.Node)
	Perf  float64 // p: work per time unit, > 0
	Price float64 // c: cost per time unit of reservation, >= 0
	Q     float64 // q: what MaxQ adds up over a window's nodes
	Attributes
}

// Attributes are properties of a node beyond speed and price. Amounts ("ram", "disk",
// "clock") must be at least what a request wants; Labels ("os") must be equal to the
// request's labels.
type Attributes struct {
	Amounts map[string]float64 // by name: what a node has, or the least that a request needs
	Labels  map[string]string  // by name: what a node is, or what a request needs exactly
}

// satisfy reports whether a has at least the amounts and exactly the labels
// of need.
func (a Attributes) satisfy(need *Attributes) bool {
	for name, least := range need.Amounts {
		if has, ok := a.Amounts[name]; !ok || has < least {
			return false
		}
	}
	for name, want := range need.Labels {
		if has, ok := a.Labels[name]; !ok || has != want {
			return false
		}
	}
	return true
}

// Equal reports whether two nodes have the same attributes.
func (a Attributes) Equal(b Attributes) bool {
	return maps.Equal(a.Amounts, b.Amounts) && maps.Equal(a.Labels, b.Labels)
}

// Alike reports whether nothing but their IDs tells two nodes apart.
func (n *Node) Alike(other *Node) bool {
	return n == other || n.Perf == other.Perf && n.Price == other.Price && n.Q == other.Q && n.Attributes.Equal(other.Attributes)
}

// MostPrice bounds the price of a node: no sum of costs overflows then.
const MostPrice = 1e15

// Check reports what makes n unusable, or nil.
func (n *Node) Check() error {
	switch {
	case !(n.Perf > 0) || math.IsInf(n.Perf, 0):
		return fmt.Errorf("node %d: performance must be a positive number, not %v", n.ID, n.Perf)
	case !(n.Price >= 0 && n.Price <= MostPrice):
		return fmt.Errorf("node %d: price must be a number of 0 or more, at most %v, not %v", n.ID, float64(MostPrice), n.Price)
	case math.IsNaN(n.Q) || math.IsInf(n.Q, 0):
		return fmt.Errorf("node %d: q must be a number, not %v", n.ID, n.Q)
	}
	return nil
}

// TaskTime returns how long a task of the given length (volume) lasts on n: V/p,
// rounded up to a whole tick; des.Forever where it is beyond the end of time.
func (n *Node) TaskTime(length des.Time) des.Time {
	ticks := math.Ceil(float64(length) / n.Perf)
	if ticks >= math.MaxInt64 {
		return des.Forever
	}
	return des.Time(ticks)
}
