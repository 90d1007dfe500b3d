package cyclic_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/cyclic"
)

func TestALargerShareOfTheOwnersNeverLowersTheirIncome(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	rises := 0
	for i := range 100 {
		all := batchOf(r, 1+r.IntN(10), 8, i%2 == 0)
		before := -1.0
		for k := range 11 {
			c := cyclic.Choice{Problem: cyclic.BatchTime, BudgetLimit: cyclic.ShareOfIncome, Shares: cyclic.Shares{Owners: float64(k) / 10}}
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			require.GreaterOrEqual(t, got.Cost, before-1e-9)
			if got.Cost > before+1e-9 && k > 0 {
				rises++
			}
			before = got.Cost
		}
	}
	require.Greater(t, rises, 100)
}

func TestALargerShareOfTheTimeNeverLowersTheOwnersProfit(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for i := range 100 {
		all := batchOf(r, 1+r.IntN(10), 8, i%2 == 0)
		before := -1.0
		for k := range 11 {
			got, err := cyclic.Choice{TimeLimit: cyclic.ShareOfTime, Shares: cyclic.Shares{Time: float64(k) / 10}}.Choose(context.Background(), all)
			require.NoError(t, err)
			require.GreaterOrEqual(t, got.Cost, before-1e-9)
			before = got.Cost
		}
		most := 0.0
		for _, windows := range all {
			dearest := 0.0
			for _, w := range windows {
				dearest = max(dearest, w.Cost)
			}
			most += dearest
		}
		require.InDelta(t, most, before, 1e-9, "all of the time is no limit")
	}
}

func TestSharesAreOfTheWayBetweenTheExtremes(t *testing.T) {
	all := batchOf(rand.New(rand.NewPCG(35, 36)), 6, 6, false)
	cost := func(p cyclic.Problem) float64 {
		got, err := cyclic.Choice{Problem: p}.Choose(context.Background(), all)
		require.NoError(t, err)
		return got.Cost
	}
	least, most := cost(cyclic.UsersExpense), cost(cyclic.OwnersProfit)
	for _, share := range []float64{0, 0.25, 1} {
		got, err := cyclic.Choice{Problem: cyclic.BatchTime, BudgetLimit: cyclic.ShareOfIncome, Shares: cyclic.Shares{Owners: share}}.Choose(context.Background(), all)
		require.NoError(t, err)
		require.InDelta(t, least+share*(most-least), got.Limit, 1e-9)
	}
	small := [][]entity.Window{
		{alternative(14, 4), alternative(10, 5), alternative(30, 2)}, {alternative(5, 5), alternative(9, 1)},
	}
	for share, want := range map[float64]float64{0: 15, 0.5: 27, 1: 39} {
		got, err := cyclic.Choice{TimeLimit: cyclic.ShareOfTime, Shares: cyclic.Shares{Time: share}}.Choose(context.Background(), small)
		require.NoError(t, err)
		require.InDelta(t, want, got.Limit, 1e-9)
	}
}

func TestTheGainGoesToOwnersOrganisationAndUsers(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	for range 50 {
		all := batchOf(r, 1+r.IntN(8), 6, false)
		for _, owners := range []float64{0, 0.3, 1} {
			c := cyclic.Choice{Problem: cyclic.BatchTime, BudgetLimit: cyclic.ShareOfIncome, Shares: cyclic.Shares{Owners: owners}}
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			g, err := c.Gain(context.Background(), all, got.Picks)
			require.NoError(t, err)
			whole := g.Most - g.Least
			require.InDelta(t, whole, g.Owners+g.Organisation+g.Users, 1e-9)
			require.InDelta(t, got.Cost-g.Least, g.Owners, 1e-9)
			require.InDelta(t, (1-owners)*whole, g.Users, 1e-9)
			require.GreaterOrEqual(t, g.Organisation, -1e-9)
		}
	}
}

func TestWithinSharesThereIsAlwaysAChoice(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for i := range 200 {
		all := batchOf(r, 1+r.IntN(6), 5, i%2 == 0)
		for _, shares := range []cyclic.Shares{{}, {Owners: 1}, {Time: 1}, {Owners: r.Float64(), Time: r.Float64()}} {
			c := cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1, T: 1}, TimeLimit: cyclic.ShareOfTime, BudgetLimit: cyclic.ShareOfIncome, Shares: shares}
			_, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
		}
	}
}
