// Searches that take turns on one slot list until nothing is left of it.

package window

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Exhaustion is a slot list together with searches that take windows from it, in any order of
// turns, each as often as it finds one. It answers as Find does for the list from which
// Subtract has cut all earlier windows.
//
// A search by first fit does not begin anew at each turn. Before the place of its last
// window the list had no window for it, and a cut takes slots away or shortens them: it
// cannot make room at an earlier place. So the search goes on from there, and goes along the
// list once in all its turns.
//
//	turns of a   ----a1--------------a2-----a3->
//	turns of b   --------b1----b2------------------b3->
//	list         [====)[==)[=====)[==)[===)[==)[=====)[==)
//
// So 80 jobs of META's environment on 1,600 nodes are planned in a sixtieth of the time, and
// 100 jobs on 200 nodes in a sixth.
//
// At each turn the search must know which of the slots behind still have room for a task. It
// remembers nodes, not slots: at most one slot of a node holds an instant, and the supply
// tells which one. The search remembers
//
//   - the few nodes of the least cost, which it looks at again at each turn,
//   - one bit for each other node with a slot behind. Whether there is room is asked when a
//     bit is among the first; the bits are in the order of what work costs.
//
// For m slots, j searches and w windows of n nodes that is O(j m + w n log m), where
// searches that begin anew take O(w m). If budgets bind and many nodes cost the same, a
// window takes a look at all of these nodes, to find the first: O(w) times their number.
//
// Other searches cannot go on from a place: the best of what is left may begin before the
// last window. They begin anew at each turn, O(w m).
//
// An Exhaustion is for one goroutine.
type Exhaustion struct {
	asks   []Ask
	passes []*firstFit   // by search; nil for those that begin anew
	supply *supply       // for the passes, if there are any
	left   plan.SlotList // for those that begin anew: what the windows so far leave
	anew   bool          // some search begins anew, and left is kept for it
	cut    subtraction   // cuts windows out of left
}

// Ask is one search of an Exhaustion.
type Ask struct {
	By      plan.Finder    // the search
	Request entity.Request // what it searches for
	Until   des.Time       // the latest start
}

// asFirstFit returns a request for which AMP with the settings finds in every slot list
// what the search by finds for req; ok is false where there is none.
func asFirstFit(by plan.Finder, req entity.Request) (set Settings, same entity.Request, ok bool) {
	switch f := by.(type) {
	case AMP:
		return f.Settings, req, true
	case AEP: // it is AMP if it looks for the earliest start
		return f.Settings, req, f.By == MinStart
	case ALP: // with a price at hand it is AMP without a budget
		if req.MaxPrice == 0 && req.Budget > 0 {
			if req.MinPerf == 0 {
				return f.Settings, req, false // the slowest node in the list tells the price: it may rise by a cut
			}
			req.MaxPrice = localPrice(&req, req.MinPerf)
		}
		req.Budget = 0
		return f.Settings, req, true
	case interface{ Unwrap() plan.Finder }:
		return asFirstFit(f.Unwrap(), req)
	}
	return Settings{}, req, false
}

// passesOver reports whether the search by never looks at slots that have no room for a
// task. If all do, such slots are left out: of 8,500 slots on 1,600 nodes, from which windows
// are cut, 1,750 are left. Others see such slots: a square window may begin where one does, and the price of
// ALP follows from its node.
func passesOver(by plan.Finder) bool {
	switch f := by.(type) {
	case AEP:
		return f.By != MinProcTimeExact
	case interface{ Unwrap() plan.Finder }:
		return passesOver(f.Unwrap())
	}
	return false
}

// leastWork is the work of a task, less what rounding can do.
func leastWork(req *entity.Request) float64 { return float64(req.Length) * (1 - slack) }

// NewExhaustion checks the list and the searches. The list stays as it is.
func NewExhaustion(list plan.SlotList, asks []Ask) (*Exhaustion, error) {
	list, err := Checked(list)
	if err != nil {
		return nil, err
	}
	x := &Exhaustion{asks: asks, passes: make([]*firstFit, len(asks)), left: list}
	// Which searches are passes, and which begin anew.
	inPasses, anew := math.Inf(1), math.Inf(1) // the least work that a slot must hold for them
	for i := range asks {
		a := &asks[i]
		set, req, ok := asFirstFit(a.By, a.Request)
		switch {
		case ok:
			if err := errors.Join(set.check(), checkRequest(&a.Request)); err != nil {
				return nil, fmt.Errorf("search %d: %w", i, err)
			}
			x.passes[i] = newFirstFit(set, req, a.Until)
			inPasses = min(inPasses, leastWork(&req))
		case passesOver(a.By):
			x.anew, anew = true, min(anew, leastWork(&a.Request))
		default:
			x.anew, anew = true, 0
		}
	}
	// The passes share one supply, and the others one list, each without the slots that none of
	// them looks at.
	if !math.IsInf(inPasses, 1) {
		if x.supply, err = newSupply(list, inPasses); err != nil {
			return nil, err
		}
		for _, p := range x.passes {
			if p != nil {
				p.on(x.supply)
			}
		}
	}
	if x.anew {
		x.cut.least = min(anew, inPasses) // the windows of all are cut out of it
		x.left.Slots = slices.DeleteFunc(slices.Clone(list.Slots), func(s entity.Slot) bool { return workIn(&s) < x.cut.least })
	}
	return x, nil
}

// Take finds the next window of a search and cuts it out. Found.OK is false if there is
// none, and will be none.
func (x *Exhaustion) Take(ctx context.Context, search int) (found plan.Found, err error) {
	if p := x.passes[search]; p != nil {
		found, err = p.next(ctx)
	} else {
		a := &x.asks[search]
		found, err = a.By.Find(ctx, a.Request, x.left, a.Until)
	}
	if err != nil || !found.OK {
		return found, err
	}
	// Cut out of all that is kept.
	if x.anew {
		if x.left.Slots, err = x.cut.subtract(x.left.Slots, &found.Window); err != nil {
			return found, fmt.Errorf("cutting out its window: %w", err)
		}
	}
	if x.supply != nil {
		x.supply.subtract(&found.Window)
	}
	return found, nil
}
