package entity

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/entity/procset"
)

// Where is a part of a plan's nodes: a number of any nodes, or exactly these nodes. A plan
// numbers its nodes from 0 on (Plan.Node); the nodes of counted processors are the
// processors.
type Where struct {
	// Count is the number of nodes if Set is nil.
	Count int
	// Set are the numbers of the nodes, ascending and without repetition.
	Set []procset.Range
}

// NodeAt returns the node of that number alone.
func NodeAt(i int) Where {
	return Where{Set: []procset.Range{{First: int32(i), Last: int32(i)}}}
}

// Size returns how many nodes there are.
func (at Where) Size() int {
	if at.Set == nil {
		return at.Count
	}
	return procset.Count(at.Set)
}

// Numbers yields the numbers of Set, in their order.
func (at Where) Numbers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range at.Set {
			for i := int(r.First); i <= int(r.Last); i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Check returns what makes at no part of a plan with size nodes, or nil.
func (at Where) Check(size int) error {
	if at.Set == nil {
		if at.Count < 1 || at.Count > size {
			return fmt.Errorf("want 1 to %d nodes or processors, not %d", size, at.Count)
		}
		return nil
	}
	next := int32(0)
	for _, r := range at.Set {
		if r.First < next || r.Last < r.First || int(r.Last) >= size {
			return fmt.Errorf("want numbers among 0-%d in ascending order, not %s", size-1, procset.Append(nil, at.Set))
		}
		next = r.Last + 1
	}
	if at.Count != 0 || next == 0 {
		return fmt.Errorf("want a number of nodes or processors, or which ones they are: one of the two")
	}
	return nil
}

// Named reports whether the nodes of p have names: windows on them have Tasks. Counted
// processors have none.
func Named(p Plan) bool { return p.Size() > 0 && p.Node(0) != nil }
