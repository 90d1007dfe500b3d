package cyclic_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

// searchAnew is Search.Run as it is defined: each job's turn is a search from the
// beginning of what is left.
func searchAnew(t require.TestingT, s cyclic.Search, batch []cyclic.Item, list plan.SlotList) (all [][]entity.Window, stats cyclic.Stats) {
	all = make([][]entity.Window, len(batch))
	over := make([]bool, len(batch))
	list.Slots = slices.Clone(list.Slots)
	for slices.Contains(over, false) && (s.Rounds == 0 || stats.Rounds < s.Rounds) {
		stats.Rounds++
		for i, j := range batch {
			if over[i] {
				continue
			}
			f, until := s.Finder, list.To
			if own, ok := j.Request.Criterion.(plan.Finder); ok {
				f = own
			}
			if f == nil {
				f = window.AMP{}
			}
			if j.Until > 0 {
				until = min(until, j.Until)
			}
			found, err := f.Find(context.Background(), j.Request, list, until)
			require.NoError(t, err)
			if over[i] = !found.OK; found.OK {
				all[i] = append(all[i], found.Window)
				stats.Alternatives++
				list.Slots, err = window.Subtract(list.Slots, &found.Window)
				require.NoError(t, err)
				over[i] = s.PerJob > 0 && len(all[i]) == s.PerJob
			}
		}
	}
	return all, stats
}

func TestAlternativesAreThoseOfSearchesAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, batch := drawSlots(t), drawBatch(t, rapid.Bool().Draw(t, "criteria"))
		for i := range batch {
			batch[i].Until = des.Time(rapid.SampledFrom([]int{0, 0, 0, 40, 120, 300}).Draw(t, "until")) * unit
			if batch[i].Request.Criterion == nil && rapid.IntRange(0, 3).Draw(t, "by price") == 0 {
				batch[i].Request.MaxPrice = rapid.Float64Range(0.5, 5).Draw(t, "price")
			}
		}
		s := drawSlicer(t).Search
		s.Finder = rapid.SampledFrom([]plan.Finder{
			nil, window.AMP{Settings: window.Settings{Quantum: unit, RoundCosts: 1}}, window.AEP{By: window.MinStart}, window.AEP{By: window.MinCost},
		}).Draw(t, "finder")
		want, stats := searchAnew(t, s, batch, list)
		got, all, err := s.Run(context.Background(), batch, list)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, stats.Alternatives, all.Alternatives)
		require.Equal(t, stats.Rounds, all.Rounds)
	})
}
