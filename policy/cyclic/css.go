// CSS, the cyclic scheduling scheme (AMP11; META, section 4).
//
//  1. Alternatives: in rounds over the batch, in order of priority, each job gets the first
//     window that is found for it (AMP, ALP), which is cut out of the slots before the next
//     job is looked at. Rounds go on until no job finds any (Search, alternatives.go).
//  2. Choice: one alternative of each job, such that a sum over them is extreme and another
//     within a limit (Choice, choice.go).
//
// Windows may then be shifted to earlier starts on their own nodes (Shift). A job without an
// alternative waits for the next cycle.

package cyclic

import (
	"context"
	"slices"

	"github.com/gridslot/gridslot/entity/plan"
)

// CSS is the cyclic scheduling scheme: the batch-slicer of one slice, without users' criteria.
type CSS struct {
	Search Search // finds the alternatives
	Choice Choice // picks one of each job
	Shift  Shift  // moves chosen windows to earlier starts
	Front  int    // as in BatchSlicer
}

// Name returns "css".
func (CSS) Name() string { return "css" }

// Plan implements Planner.
func (c CSS) Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	slicer := BatchSlicer{Search: c.Search, Choice: c.Choice, Shift: c.Shift, Front: c.Front}
	return slicer.Plan(ctx, withoutCriteria(batch), list)
}

// withoutCriteria is the batch as though its users had no searches of their own.
func withoutCriteria(batch []Item) []Item {
	plain := slices.Clone(batch)
	for i := range plain {
		plain[i].Request.Criterion = nil
	}
	return plain
}
