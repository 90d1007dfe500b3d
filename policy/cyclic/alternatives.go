// The search for alternatives, the first half of CSS (AMP11, section 3; META, section 4).

package cyclic

import (
	"context"
	"fmt"
	"math"
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
	// PerJob is the greatest number of alternatives of one job; 0 means no limit. Other jobs
	// go on when one has enough. (A round gives a job one alternative, so that PerJob
	// differs from Rounds only in Stats.)
	PerJob int
	// Distinct drops each alternative of a job that has the same cost and the same processor
	// time, both rounded up to whole units, as an earlier alternative of the job. (The authors'
	// program does so, META's text does not.)
	Distinct bool
	// Keep makes planners return every job's alternatives (Decision.Found).
	Keep bool
}

// Run returns each job's alternatives, in the order in which they were found.
//
// A job that finds nothing in one round is not asked again, because slots only become fewer.
// For the same reason jobs that search by first fit go on where they found their last window
// (window.Exhaustion), and Stats.Work counts each slot once for each of them.
func (s Search) Run(ctx context.Context, batch []Item, list plan.SlotList) ([][]entity.Window, Stats, error) {
	var stats Stats
	if err := check(batch); err != nil {
		return nil, stats, err
	}
	alternatives := make([][]entity.Window, len(batch))
	open := make([]int, len(batch))
	asks := make([]window.Ask, len(batch))
	for i := range batch {
		open[i], asks[i] = i, batch[i].ask(s.Finder, list.To)
	}
	slots, err := window.NewExhaustion(list, asks)
	if err != nil {
		return nil, stats, err
	}
	for len(open) > 0 && (s.Rounds == 0 || stats.Rounds < s.Rounds) {
		stats.Rounds++
		still := open[:0]
		for _, i := range open {
			found, err := slots.Take(ctx, i)
			if err != nil {
				return nil, stats, fmt.Errorf("searching a window for job %d of the batch: %w", i, err)
			}
			stats.Work.Add(found.Work)
			if !found.OK {
				continue
			}
			alternatives[i] = append(alternatives[i], found.Window)
			stats.Alternatives++
			if s.PerJob == 0 || len(alternatives[i]) < s.PerJob {
				still = append(still, i)
			}
		}
		open = still
	}
	if s.Distinct {
		for i := range alternatives {
			alternatives[i] = distinct(alternatives[i])
		}
	}
	return alternatives, stats, nil
}

// distinct keeps the first of the windows of one rounded cost and time.
func distinct(windows []entity.Window) []entity.Window {
	type rounded struct{ cost, time float64 }
	seen := make(map[rounded]bool, len(windows)) // never iterated
	return slices.DeleteFunc(windows, func(w entity.Window) bool {
		r := rounded{math.Ceil(w.Cost), math.Ceil(w.ProcessorTime().Seconds())}
		again := seen[r]
		seen[r] = true
		return again
	})
}
