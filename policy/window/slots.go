// The slot list: what makes one valid, and cutting windows out of it.

package window

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// CheckSlots returns what makes a slot list invalid as a *plan.BadInputError: nodes that make
// no sense or share an id, negative lengths, slots outside the interval, out of order, or
// overlapping on one node. O(m log m).
//
// The searches themselves check only what costs them nothing (order, lengths, nodes); check
// lists of foreign origin once, where they enter.
func CheckSlots(list plan.SlotList) error {
	if err := checkOrder(list.Slots); err != nil {
		return err
	}
	for i := range list.Slots {
		s := &list.Slots[i]
		if s.Start < list.From || s.End > list.To {
			return plan.BadInput("slot %d [%v, %v) on node %d is not within the interval [%v, %v)",
				i, s.Start, s.End, s.Node.ID, list.From, list.To)
		}
	}
	// By node; the list's order keeps each node's slots by start.
	byNode := make([]*entity.Slot, len(list.Slots))
	for i := range list.Slots {
		byNode[i] = &list.Slots[i]
	}
	slices.SortStableFunc(byNode, func(a, b *entity.Slot) int { return a.Node.ID - b.Node.ID })
	for i := 1; i < len(byNode); i++ {
		a, b := byNode[i-1], byNode[i]
		switch {
		case a.Node.ID != b.Node.ID:
		case a.Node != b.Node:
			return plan.BadInput("two nodes have the id %d", a.Node.ID)
		case b.Start < a.End:
			return plan.BadInput("slots [%v, %v) and [%v, %v) on node %d overlap", a.Start, a.End, b.Start, b.End, a.Node.ID)
		}
	}
	return nil
}

// Checked returns list with the mark that its order, lengths and nodes have been checked, as
// every search otherwise does. Checking takes longer than many a search: check a list once,
// where it enters, if you search it again and again and only cut windows out of it in
// between.
func Checked(list plan.SlotList) (plan.SlotList, error) {
	if list.Checked {
		return list, nil
	}
	if err := checkOrder(list.Slots); err != nil {
		return plan.SlotList{}, err
	}
	list.Checked = true
	return list, nil
}

// checkOrder checks the slots as every search does: each has a sound node and no negative length,
// and they are in the order of their starts.
func checkOrder(slots []entity.Slot) error {
	before := des.Time(math.MinInt64)
	for i := range slots {
		s := &slots[i]
		switch {
		case s.Node == nil:
			return plan.BadInput("slot %d [%v, %v) has no node", i, s.Start, s.End)
		case s.End < s.Start:
			return plan.BadInput("slot %d [%v, %v) on node %d has a negative length", i, s.Start, s.End, s.Node.ID)
		case s.Start < before:
			return plan.BadInput("slots are not in order: slot %d on node %d starts at %v, after one that starts at %v",
				i, s.Node.ID, s.Start, before)
		}
		if err := s.Node.Check(); err != nil {
			return plan.BadInput("slot %d: %v", i, err)
		}
		before = s.Start
	}
	return nil
}

// checkRequest reports as an *plan.BadInputError what makes r meaningless.
func checkRequest(r *entity.Request) error {
	if err := r.Check(); err != nil {
		return plan.BadInput("%v", err)
	}
	if math.IsInf(r.Budget, 1) {
		return plan.BadInput("a request's budget must be finite (0 = no limit)")
	}
	return nil
}

// Subtract cuts w out of the slot list (META's slot subtraction): each slot
// that a task of w lies in gives way to its head and its tail, empty
// remainders are dropped, and the order by start is kept. It works in place
// and returns the list, which may have moved; among equal starts tails come
// after what was there. Parts of w that lie in no slot are an error, and the
// list is then as it was. O(slots that start before w ends), plus moving what
// lies behind.
func Subtract(slots []entity.Slot, w *entity.Window) ([]entity.Slot, error) {
	var cut subtraction
	return cut.subtract(slots, w)
}

// subtraction is Subtract with its scratch, for those who subtract often, and who may have
// no use for what holds less than the least work.
type subtraction struct {
	least  float64       // remainders in which a node can do less work than this are dropped; 0 = none but the empty
	tails  []entity.Slot // what is left behind the tasks
	places []int32       // the indices of the slots that tasks lie in
}

// workIn returns the work that a slot's node can do in the slot, in performance times ticks.
func workIn(s *entity.Slot) float64 {
	return s.Node.Perf * float64(uint64(s.End-s.Start)) // the difference of any two times
}

// subtract is Subtract.
func (c *subtraction) subtract(slots []entity.Slot, w *entity.Window) ([]entity.Slot, error) {
	c.tails, c.places = c.tails[:0], c.places[:0]
	// Where each task lies. Slots that start after the window do not hold it.
	started, _ := slices.BinarySearchFunc(slots, w.Start+1, func(s entity.Slot, t des.Time) int {
		return cmp.Compare(s.Start, t)
	})
	for i := started - 1; i >= 0 && len(c.places) < len(w.Tasks); i-- {
		s := &slots[i]
		if s.End < w.Start {
			continue
		}
		for k := range w.Tasks {
			if task := &w.Tasks[k]; task.Node == s.Node && task.End <= s.End {
				c.places = append(c.places, int32(i))
				if task.End < s.End {
					tail := *s
					tail.Start = task.End
					if workIn(&tail) >= c.least {
						c.tails = append(c.tails, tail)
					}
				}
				break
			}
		}
	}
	if len(c.places) < len(w.Tasks) {
		return slots, plan.BadInput("the window at %v does not lie in the slot list", w.Start)
	}
	// Heads stay where they are; what has none leaves.
	slices.Sort(c.places)
	out := -1 // where what follows moves to, once a slot has left
	for k, p := range c.places {
		head := slots[p]
		if head.End = w.Start; head.Start < w.Start && workIn(&head) >= c.least {
			slots[p] = head
			if out >= 0 {
				slots[out] = slots[p]
				out++
			}
		} else if out < 0 {
			out = int(p)
		}
		// The slots from this one to the next that gives way.
		if out >= 0 {
			next := len(slots)
			if k+1 < len(c.places) {
				next = int(c.places[k+1])
			}
			out += copy(slots[out:], slots[p+1:next])
		}
	}
	if out >= 0 {
		slots = slots[:out]
	}
	return c.insertTails(slots), nil
}

// insertTails merges c.tails into slots from the back.
func (c *subtraction) insertTails(slots []entity.Slot) []entity.Slot {
	tails := c.tails
	slices.SortStableFunc(tails, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	end := len(slots) // those before it are not moved yet
	slots = append(slots, tails...)
	for k := len(tails) - 1; k >= 0; k-- {
		// Behind the slots of the same start. k more tails go before it.
		at, _ := slices.BinarySearchFunc(slots[:end], tails[k].Start+1, func(s entity.Slot, t des.Time) int {
			return cmp.Compare(s.Start, t)
		})
		copy(slots[at+k+1:], slots[at:end])
		slots[at+k] = tails[k]
		end = at
	}
	return slots
}
