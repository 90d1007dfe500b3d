// The first half of planning a batch: alternatives for every job (AMP11,
// section 3; META, section 4).

package cyclic

import (
	"context"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

// Search finds alternatives by rounds over the batch, in order of priority:
// each job gets one window, which is cut out of the slots before the next job
// searches. Rounds go on until none of the jobs finds any. No two alternatives
// have any node's time in common, so any choice of one for each job is a
// schedule.
type Search struct {
	// Finder finds the windows of jobs without a criterion of their own; nil
	// means AMP, first fit.
	Finder plan.Finder
	// Rounds limits the rounds; 0 means none but exhaustion. It is also the
	// most alternatives that a job can get.
	Rounds int
	// PerJob limits the alternatives of one job; 0 means no limit. Others go on
	// when one has enough. (A round gives a job one alternative, so that it
	// differs from Rounds only in Stats.)
	PerJob int
}

// Run returns each job's alternatives, in the order in which they were found.
//
// A job that finds nothing in one round is not asked again: slots only become
// less.
func (s Search) Run(ctx context.Context, batch []Item, list plan.SlotList) ([][]entity.Window, Stats, error) {
	var stats Stats
	if err := check(batch); err != nil {
		return nil, stats, err
	}
	alternatives := make([][]entity.Window, len(batch))
	open := make([]int, len(batch))
	for i := range open {
		open[i] = i
	}
	left := list
	left.Slots = slices.Clone(list.Slots)
	for len(open) > 0 && (s.Rounds == 0 || stats.Rounds < s.Rounds) {
		stats.Rounds++
		still := open[:0]
		for _, i := range open {
			found, err := batch[i].find(ctx, s.Finder, left)
			if err != nil {
				return nil, stats, fmt.Errorf("searching a window for job %d of the batch: %w", i, err)
			}
			stats.Work.Add(found.Work)
			if !found.OK {
				continue
			}
			w := found.Window
			alternatives[i] = append(alternatives[i], w)
			stats.Alternatives++
			if left.Slots, err = window.Subtract(left.Slots, &w); err != nil {
				return nil, stats, fmt.Errorf("cutting out the window for job %d of the batch: %w", i, err)
			}
			if s.PerJob == 0 || len(alternatives[i]) < s.PerJob {
				still = append(still, i)
			}
		}
		open = still
	}
	return alternatives, stats, nil
}
