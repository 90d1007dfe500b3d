// The engine that all searches share: what is asked, the walk along the slot
// list, and the best answer so far.

package window

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// search is one question to a slot list, and the best answer found so far.
type search struct {
	set    Settings
	req    entity.Request
	list   []entity.Slot // by start; valid (see checkOrder)
	until  des.Time      // the latest start of a window
	due    des.Time      // the latest end of a task: the request's deadline; Forever = none
	tariff tariff
	work   plan.Work // what it has done so far
	best   answer
}

// answer is a choice of n slots and a common start.
type answer struct {
	ok     bool // there is one
	start  des.Time
	offers []offer // the n slots, with the time that each task holds its node
	value  float64 // what the search's goal makes of it; less is better
	gap    float64 // how much better another answer may still be; 0 = none is
}

// scan is a search together with the scratch memory of the algorithms. Each
// algorithm prepares its own part before it begins, and no part says anything
// about an earlier search.
type scan struct {
	search
	admitted           // the square searches and Best
	cheap    cheapest  // AEP and the square searches
	open     []offer   // the usable slots as time goes by: ALP
	picks    []offer   // the choice that the substitution or KnapsackDP tries
	rivals   cheapest  // the substitution: the cheapest whose tasks are short enough,
	spares   []offer   // and what may take the place of longer ones
	boxes    boxSearch // Best
	cut      subtraction
	left     []entity.Slot // what repeat has left of the slot list
}

var scans = sync.Pool{New: func() any { return new(scan) }}

// newScan checks the input and takes a scan from the pool; done gives it back.
func newScan(set Settings, req entity.Request, list plan.SlotList, until des.Time) (*scan, error) {
	if err := set.check(); err != nil {
		return nil, err
	}
	if err := checkRequest(&req); err != nil {
		return nil, err
	}
	if _, err := Checked(list); err != nil {
		return nil, err
	}
	s := scans.Get().(*scan)
	s.ask(set, req, list.Slots, until)
	return s, nil
}

// ask begins a search. Its input has been checked.
func (s *search) ask(set Settings, req entity.Request, list []entity.Slot, until des.Time) {
	*s = search{
		set: set, req: req, list: list, until: until,
		due: req.DeadlineLimit(), tariff: set.tariff(req.BudgetLimit()),
		best: answer{offers: s.best.offers},
	}
}

func (s *scan) done() {
	s.list, s.req = nil, entity.Request{} // the pool must not keep them alive
	scans.Put(s)
}

// ctxEvery is the number of slots between two looks at the context.
const ctxEvery = 4096

// offers walks along the slot list. It yields the start of each slot that could
// hold a task, and what the slot offers. It leaves out slots that are too short,
// or whose node does not meet the request or is over the budget alone. It stops
// at the latest start, and when the context ends (found then reports the error).
func (s *search) offers(ctx context.Context) iter.Seq2[des.Time, offer] {
	return func(yield func(des.Time, offer) bool) {
		for i := range s.list {
			slot := &s.list[i]
			now := slot.Start
			if now > s.until || (i%ctxEvery == 0 && ctx.Err() != nil) {
				return
			}
			s.work.Slots++
			if !s.req.Admits(slot.Node) {
				continue
			}
			// A task of V takes V/p, and fits until last; alone it must be within the budget.
			length := s.set.taskTime(slot.Node, s.req.Length)
			last := min(slot.End, s.due) - length
			if last < now {
				continue
			}
			cost := s.tariff.cost(slot.Node.Price, length)
			if cost <= s.tariff.limit && !yield(now, offer{cost, last, length, int32(i)}) {
				return
			}
		}
	}
}

// keep makes the offers the best answer so far, unless the present one is
// better, or is equally good and starts no later. It reports whether it did.
func (s *search) keep(offers []offer, start des.Time, value float64) bool {
	b := &s.best
	if b.ok && (value > b.value || (value == b.value && start >= b.start)) {
		return false
	}
	b.ok, b.start, b.value = true, start, value
	b.offers = append(b.offers[:0], offers...)
	return true
}

// found makes the window of the best answer, with its tasks in the order of the slot list.
// It returns the error of a context that has ended.
func (s *search) found(ctx context.Context, g goal) (plan.Found, error) {
	if err := ctx.Err(); err != nil {
		return plan.Found{}, err
	}
	b := &s.best
	found := plan.Found{OK: b.ok, Gap: b.gap, Work: s.work}
	if !b.ok {
		return found, nil
	}
	slices.SortFunc(b.offers, func(a, b offer) int { return int(a.slot) - int(b.slot) })
	w := &found.Window
	*w = entity.Window{Start: b.start, Nodes: len(b.offers), Tasks: make([]entity.Task, len(b.offers))}
	for i, o := range b.offers {
		node := s.list[o.slot].Node
		w.Tasks[i] = entity.Task{Node: node, End: b.start + o.length}
		w.End = max(w.End, w.Tasks[i].End)
		w.Cost += realCost(node.Price, o.length)
	}
	w.Value = s.shown(g, w)
	return found, nil
}

// admitted is the input of the square searches and Best: the slots that can hold a task, and the
// lengths and starts that a window can have.
type admitted struct {
	slots   []usableSlot
	lengths []des.Time // the distinct task times in slots, ascending
	onsets  []onset    // ascending
}

// usableSlot is a slot that is long enough for a task on its own node.
type usableSlot struct {
	start, end des.Time // of the slot
	last       des.Time // the latest end of a task: the slot's end or the deadline
	own        des.Time // how long a task takes on this node
	price      float64  // of the node for a time unit
	q          float64  // the node's value by MaxQ's criterion
	slot       int32    // index in the slot list
}

// onset is an instant at which slots of admissible nodes start.
type onset struct {
	at  des.Time
	own des.Time // the least task time on these nodes
}

// admit fills in admitted.
func (s *scan) admit() {
	s.slots, s.lengths, s.onsets = s.slots[:0], s.lengths[:0], s.onsets[:0]
	for i := range s.list {
		slot := &s.list[i]
		if slot.Start > s.until {
			break
		}
		s.work.Slots++
		if !s.req.Admits(slot.Node) {
			continue
		}
		u := usableSlot{
			start: slot.Start,
			end:   slot.End,
			last:  min(slot.End, s.due),
			own:   s.set.taskTime(slot.Node, s.req.Length),
			price: slot.Node.Price,
			q:     slot.Node.Q,
			slot:  int32(i),
		}
		// The onset first: it is one also if the slot that begins there has no room.
		if k := len(s.onsets) - 1; k >= 0 && s.onsets[k].at == u.start {
			s.onsets[k].own = min(s.onsets[k].own, u.own)
		} else {
			s.onsets = append(s.onsets, onset{u.start, u.own})
		}
		if u.last-u.start < u.own {
			continue
		}
		s.slots = append(s.slots, u)
		if k, known := slices.BinarySearch(s.lengths, u.own); !known {
			s.lengths = slices.Insert(s.lengths, k, u.own)
		}
	}
}
