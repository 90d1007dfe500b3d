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

// senses are choices of every problem, with 1 where less of the cost or the time is better and -1
// where more is. Weights are for one component of each pair, or for both.
var senses = []struct {
	choice     cyclic.Choice
	cost, time float64
}{
	{cyclic.Choice{}, -1, 1},
	{cyclic.Choice{Problem: cyclic.BatchTime}, 1, 1},
	{cyclic.Choice{Problem: cyclic.UsersExpense}, 1, 1},
	{cyclic.Choice{Problem: cyclic.Idleness}, 1, -1},
	{cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1, T: 1}}, 1, 1},
	{cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1, I: 1}}, 1, -1},
	{cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1, D: 2, T: 2, I: 1}}, -1, 1},
	{cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{D: 1, I: 1}}, -1, -1},
	{cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1, D: 1, T: 1, I: 1}}, 1, 1},
}

func TestTheFrontIsThatOfBruteForceInTheSenseOfTheProblem(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for i := range 300 {
		sense := senses[i%len(senses)]
		all := batchOf(r, r.IntN(7), 5, i%2 == 0)
		var pairs []pair
		each(all, func(_ []int, cost, time float64) { pairs = append(pairs, pair{cost, time}) })
		want := 0
		seen := map[pair]bool{}
		front, err := sense.choice.Front(context.Background(), all, 0)
		require.NoError(t, err)
		require.Zero(t, front.Gap)
		for _, p := range pairs {
			beaten := seen[p]
			for _, q := range pairs {
				beaten = beaten || (q != p && sense.cost*q.cost <= sense.cost*p.cost && sense.time*q.time <= sense.time*p.time)
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
			v, err := sense.choice.Vector(context.Background(), all, p.Picks)
			require.NoError(t, err)
			require.InDelta(t, v.D, p.D, 1e-9)
			require.InDelta(t, v.I, p.I, 1e-6)
			require.True(t, seen[pair{cost, time}], "point %d of %v", k, front.Points)
			if k > 0 {
				require.Greater(t, p.T, front.Points[k-1].T)
				require.Less(t, sense.cost*sense.time*p.C, sense.cost*sense.time*front.Points[k-1].C)
			}
		}
	}
}

func TestABoundedFrontSaysHowMuchItCanMiss(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	thinned := 0
	for i := range 100 {
		sense := senses[i%len(senses)]
		all := batchOf(r, 1+r.IntN(10), 8, i%4 == 0)
		whole, err := sense.choice.Front(context.Background(), all, 0)
		require.NoError(t, err)
		for _, most := range []int{2, 3, 10, 50} {
			bounded := sense.choice
			bounded.Patience = 60 * (most % 2)
			front, err := bounded.Front(context.Background(), all, most)
			require.NoError(t, err)
			require.LessOrEqual(t, len(front.Points), most)
			require.Equal(t, whole.Points[0].Vector, front.Points[0].Vector)
			require.Equal(t, whole.Points[len(whole.Points)-1].Vector, front.Points[len(front.Points)-1].Vector)
			worst := 0.0
			for _, p := range whole.Points {
				worse := math.Inf(1)
				for _, q := range front.Points {
					if sense.time*q.T <= sense.time*p.T+1e-9 {
						worse = min(worse, sense.cost*(q.C-p.C))
					}
				}
				worst = max(worst, worse)
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

func TestWhatIsChosenLiesOnTheFrontOfItsProblem(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for range 40 {
		all := batchOf(r, 10, 8, false)
		for _, weights := range []cyclic.Weights{
			{C: 1, T: 1}, {C: 1, T: 0.2}, {C: 0.2, T: 1}, {C: 1, D: 0.5, T: 0.1}, {D: 1, T: 0.3}, {C: 0.2, I: 1}, {D: 1, I: 1}, {D: 0.1, I: 1},
		} {
			c := cyclic.Choice{Problem: cyclic.Weighted, Weights: weights}
			front, err := c.Front(context.Background(), all, 0)
			require.NoError(t, err)
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			best := math.Inf(1)
			found := false
			for _, p := range front.Points {
				found = found || (math.Abs(p.C-got.Cost) < 1e-9 && math.Abs(p.T-got.Time.Seconds()) < 1e-9)
				if p.D >= -1e-9 && p.I >= -1e-9 {
					best = min(best, weights.Of(p.Vector))
				}
			}
			// Who wants more of something is held by its limit, and the front goes beyond that.
			if got.Gap == 0 && weights.D <= weights.C && weights.I <= weights.T {
				require.True(t, found, "%v", weights)
				require.InDelta(t, best, weights.Of(got.Vector), 1e-12)
			}
			require.GreaterOrEqual(t, best, weights.Of(got.Vector)-got.Gap-1e-12, "%v", weights)
		}
		for _, p := range []cyclic.Problem{cyclic.OwnersProfit, cyclic.UsersExpense} {
			c := cyclic.Choice{Problem: p}
			front, err := c.Front(context.Background(), all, 0)
			require.NoError(t, err)
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			found := false
			for _, point := range front.Points {
				found = found || (math.Abs(point.C-got.Cost) < 1e-9 && math.Abs(point.T-got.Time.Seconds()) < 1e-9)
			}
			require.True(t, found, "%v", p)
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
