package cyclic_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/policy/cyclic"
)

type pair struct{ cost, time float64 }

func TestTheFrontIsThatOfBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for i := range 200 {
		all := batchOf(r, r.IntN(7), 5, i%2 == 0)
		var pairs []pair
		each(all, func(_ []int, cost, time float64) { pairs = append(pairs, pair{cost, time}) })
		want := 0
		seen := map[pair]bool{}
		front, err := cyclic.Choice{}.Front(context.Background(), all, 0)
		require.NoError(t, err)
		require.Zero(t, front.Gap)
		for _, p := range pairs {
			beaten := seen[p]
			for _, q := range pairs {
				beaten = beaten || (q != p && q.cost <= p.cost && q.time <= p.time)
			}
			if !beaten {
				want++
				seen[p] = true
			}
		}
		require.Len(t, front.Points, want)
		for k, p := range front.Points {
			cost, time := sums(cyclic.OwnersProfit, all, p.Picks)
			require.InDelta(t, cost, p.C, 1e-9)
			require.InDelta(t, time, p.T, 1e-6)
			v, err := cyclic.Choice{}.Vector(context.Background(), all, p.Picks)
			require.NoError(t, err)
			require.InDelta(t, v.D, p.D, 1e-9)
			require.InDelta(t, v.I, p.I, 1e-6)
			require.True(t, seen[pair{cost, time}], "point %d of %v", k, front.Points)
			if k > 0 {
				require.Greater(t, p.T, front.Points[k-1].T)
				require.Less(t, p.C, front.Points[k-1].C)
			}
		}
	}
}

func TestABoundedFrontSaysHowMuchItCanMiss(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	thinned := 0
	for i := range 100 {
		all := batchOf(r, 1+r.IntN(10), 8, i%4 == 0)
		whole, err := cyclic.Choice{}.Front(context.Background(), all, 0)
		require.NoError(t, err)
		for _, most := range []int{2, 3, 10, 50} {
			front, err := cyclic.Choice{Patience: 60 * (most % 2)}.Front(context.Background(), all, most)
			require.NoError(t, err)
			require.LessOrEqual(t, len(front.Points), most)
			require.Equal(t, whole.Points[0].Vector, front.Points[0].Vector)
			require.Equal(t, whole.Points[len(whole.Points)-1].Vector, front.Points[len(front.Points)-1].Vector)
			worst := 0.0
			for _, p := range whole.Points {
				more := math.Inf(1)
				for _, q := range front.Points {
					if q.T <= p.T+1e-9 {
						more = min(more, q.C-p.C)
					}
				}
				worst = max(worst, more)
			}
			require.LessOrEqual(t, worst, front.Gap+1e-9)
			if len(whole.Points) > most {
				thinned++
				require.Positive(t, front.Gap)
			}
		}
	}
	require.Greater(t, thinned, 100)
}

func TestWhatWeightsOnCostAndTimeChooseLiesOnTheFront(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for range 40 {
		all := batchOf(r, 10, 8, false)
		front, err := cyclic.Choice{}.Front(context.Background(), all, 0)
		require.NoError(t, err)
		for _, weights := range []cyclic.Weights{{C: 1, T: 1}, {C: 1, T: 0.2}, {C: 0.2, T: 1}, {C: 1, D: 0.5, T: 0.1}} {
			got, err := cyclic.Choice{Problem: cyclic.Weighted, Weights: weights}.Choose(context.Background(), all)
			require.NoError(t, err)
			found, best := false, math.Inf(1)
			for _, p := range front.Points {
				found = found || (math.Abs(p.C-got.Cost) < 1e-9 && math.Abs(p.T-got.Time.Seconds()) < 1e-9)
				if p.D >= -1e-9 && p.I >= -1e-9 {
					best = min(best, weights.Of(p.Vector))
				}
			}
			require.True(t, found, "%v", weights)
			require.InDelta(t, best, weights.Of(got.Vector), 1e-12)
		}
	}
}

func TestAFrontHasTwoEnds(t *testing.T) {
	for _, most := range []int{-1, 1} {
		_, err := cyclic.Choice{}.Front(context.Background(), batchOf(rand.New(rand.NewPCG(1, 1)), 2, 3, true), most)
		require.ErrorContains(t, err, "two ends")
	}
	front, err := cyclic.Choice{}.Front(context.Background(), nil, 0)
	require.NoError(t, err)
	require.Equal(t, []cyclic.Point{{Picks: []int{}}}, front.Points)
}
