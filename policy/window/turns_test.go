package window

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/workload/vo"
	"github.com/stretchr/testify/require"
)

// extremes are the goals whose searches begin anew, and pass over slots without room.
var extremes = []RoughGoal{
	MinCost, MinRunTime, MinFinish, MinProcTime, MinRunTimeExact, MinFinishExact, MinProcTimeSubstitution,
}

// takeTurns lets each search of an Exhaustion, and of its definition, take windows
// until there are none left, or so many rounds are over; it returns each search's.
func takeTurns(t *testing.T, list plan.SlotList, asks []Ask, rounds int, msg string) [][]entity.Window {
	x, err := NewExhaustion(list, asks)
	require.NoError(t, err)
	plain := anew{plan.SlotList{From: list.From, To: list.To, Slots: slices.Clone(list.Slots)}, asks}
	windows := make([][]entity.Window, len(asks))
	for more := true; more && rounds > 0; rounds-- {
		more = false
		for i := range asks {
			want := plain.take(t, i)
			got, err := x.Take(context.Background(), i)
			require.NoError(t, err)
			require.Equal(t, want.OK, got.OK, "%s: %s", msg, asks[i].By.Name())
			require.Equal(t, want.Window, got.Window, "%s: %s", msg, asks[i].By.Name())
			if got.OK {
				more = true
				windows[i] = append(windows[i], got.Window)
			}
		}
	}
	return windows
}

func TestTakingTurnsOnHardListsFindsWhatSearchesAnewFind(t *testing.T) {
	windows := 0
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 17))
		count := 8 + rng.IntN(25)
		lists, requests := hardLists(rng, count), hardRequests(rng, count)
		for _, listName := range slices.Sorted(maps.Keys(lists)) {
			set := Settings{RoundCosts: float64(rng.IntN(2))}
			if rng.IntN(3) == 0 {
				set.Quantum = 3 * des.Second
			}
			var asks []Ask
			for _, requestName := range slices.Sorted(maps.Keys(requests)) {
				by := extremes[rng.IntN(len(extremes))]
				asks = append(asks, Ask{AEP{set, by}, requests[requestName], lists[listName].To})
			}
			windows += len(slices.Concat(takeTurns(t, lists[listName], asks, 40, fmt.Sprintf("seed %d: %s", seed, listName))...))
		}
	}
	require.Greater(t, windows, 5_000)
}

// As in the batch-slicer: a slice's windows, one for each job, are taken before the
// next slice takes its turns on what they leave.
func TestTakingTurnsInMETAsEnvironmentFindsWhatSearchesAnewFind(t *testing.T) {
	windows := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 19))
		env := vo.METABatches()
		env.Nodes.Count, env.Nodes.RealPerf = 20+rng.IntN(50), seed%3 == 0
		list := slotsOf(t, env, seed)
		finders := []plan.Finder{AMP{}, CSA{By: MinCost}}
		for _, by := range extremes {
			finders = append(finders, AEP{By: by})
		}
		if seed%4 == 0 {
			finders = []plan.Finder{AEP{By: extremes[int(seed/4)%len(extremes)]}}
		}
		for slice := range 4 {
			asks := make([]Ask, 6)
			for i := range asks {
				req := metaRequest
				req.Nodes, req.MinPerf, req.Length = 1+rng.IntN(5), 1, des.Seconds(100+400*rng.Float64())
				req.Budget = float64(req.Nodes) * req.Length.Seconds() * (0.9 + 0.7*rng.Float64())
				asks[i] = Ask{finders[(slice*6+i)%len(finders)], req, list.To}
			}
			found := takeTurns(t, list, asks, 100, fmt.Sprintf("seed %d, slice %d", seed, slice))
			list.Slots = slices.Clone(list.Slots)
			for i := range found {
				if len(found[i]) > 0 {
					var err error
					list.Slots, err = Subtract(list.Slots, &found[i][rng.IntN(len(found[i]))])
					require.NoError(t, err)
				}
			}
			windows += len(slices.Concat(found...))
		}
	}
	require.Greater(t, windows, 5_000)
}
