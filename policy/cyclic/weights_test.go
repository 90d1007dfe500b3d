package cyclic_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/cyclic"
)

// policies are weights towards each side of the plane of C and T.
var policies = []cyclic.Weights{
	{C: 1}, {D: 1}, {T: 1}, {I: 1},
	{C: 1, T: 1}, {C: 0.3, T: 2}, {D: 1, T: 0.4}, {D: 0.2, T: 1}, {C: 1, I: 0.5}, {C: 0.1, I: 1},
	{D: 1, I: 1}, {D: 2, I: 0.1}, {C: 0.02, I: 1}, {D: 1, T: 0.02}, {C: 1, D: 1}, {C: 1, D: 0.4, T: 0.7, I: 0.2},
}

// each calls see with every combination, its cost and its time.
func each(all [][]entity.Window, see func(picks []int, cost, time float64)) {
	picks := make([]int, len(all))
	for {
		cost, time := sums(cyclic.OwnersProfit, all, picks)
		see(picks, cost, time)
		i := 0
		for ; i < len(picks); i++ {
			if picks[i]++; picks[i] < len(all[i]) {
				break
			}
			picks[i] = 0
		}
		if i == len(picks) {
			return
		}
	}
}

// bothLimits are ways to B* and T*, loose and tight.
func bothLimits(all [][]entity.Window, r *rand.Rand) []cyclic.Choice {
	cost, time := 0.0, 0.0
	for _, windows := range all {
		w := windows[r.IntN(len(windows))]
		cost += w.Cost
		time += w.ProcessorTime().Seconds()
	}
	return []cyclic.Choice{
		{}, {BudgetLimit: cyclic.LargestIncome}, {TimeLimit: cyclic.MeanTimeUp},
		{TimeLimit: cyclic.ShareOfTime, BudgetLimit: cyclic.ShareOfIncome, Shares: cyclic.Shares{Owners: r.Float64(), Time: r.Float64()}},
		{MaxCost: cost, MaxTime: des.Seconds(time)}, {MaxCost: cost * 0.9, MaxTime: des.Seconds(time * 1.1)},
	}
}

func TestTheChoiceByWeightsIsThatOfBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	infeasible, both := 0, 0
	for i := range 250 {
		all := batchOf(r, r.IntN(6), 5, i%2 == 0)
		for _, c := range bothLimits(all, r) {
			for _, weights := range policies {
				c.Problem, c.Weights = cyclic.Weighted, weights
				got, err := c.Choose(context.Background(), all)
				var no *cyclic.InfeasibleError
				if err != nil {
					require.ErrorAs(t, err, &no)
				}
				front, failed := cyclic.Choice{TimeLimit: c.TimeLimit, BudgetLimit: c.BudgetLimit, Shares: c.Shares, MaxTime: c.MaxTime, MaxCost: c.MaxCost}.Front(context.Background(), all, 0)
				if failed != nil {
					require.ErrorAs(t, failed, new(*cyclic.InfeasibleError))
					require.Error(t, err)
					continue
				}
				best, least, quickest := math.Inf(1), math.Inf(1), math.Inf(1)
				each(all, func(_ []int, cost, time float64) {
					quickest = min(quickest, time)
					if time > front.Time*(1+1e-11) {
						return
					}
					least = min(least, cost)
					if cost <= front.Budget*(1+1e-11) {
						best = min(best, weights.Of(cyclic.Vector{C: cost, D: front.Budget - cost, T: time, I: front.Time - time}))
					}
				})
				if math.IsInf(best, 1) {
					require.NotNil(t, no)
					if no.Within == 0 {
						require.InDelta(t, quickest, no.Least, 1e-6)
					} else {
						require.InDelta(t, least, no.Least, 1e-6)
						require.InDelta(t, front.Time, no.Within, 1e-6)
					}
					infeasible++
					continue
				}
				require.NoError(t, err)
				v := got.Vector
				require.InDelta(t, best, weights.Of(v), 1e-9, "%v of %+v: %v", weights, c, all)
				require.LessOrEqual(t, v.C, front.Budget*(1+1e-11))
				require.LessOrEqual(t, v.T, front.Time*(1+1e-11))
				cost, time := sums(cyclic.OwnersProfit, all, got.Picks)
				require.InDelta(t, cost, v.C, 1e-9)
				require.InDelta(t, front.Budget-cost, v.D, 1e-9)
				require.InDelta(t, time, v.T, 1e-6)
				require.InDelta(t, front.Time-time, v.I, 1e-6)
				require.InDelta(t, 0, got.Gap, 1e-9)
				both++
			}
		}
	}
	require.Greater(t, infeasible, 1000)
	require.Greater(t, both, 5000)
}

// tight are limits that both bind: a little above the least cost within T*.
func tight(t *testing.T, all [][]entity.Window, r *rand.Rand) cyclic.Choice {
	time := 0.0
	for _, windows := range all {
		time += windows[r.IntN(len(windows))].ProcessorTime().Seconds()
	}
	least, err := cyclic.Choice{Problem: cyclic.UsersExpense, MaxTime: des.Seconds(time)}.Choose(context.Background(), all)
	require.NoError(t, err)
	return cyclic.Choice{Problem: cyclic.Weighted, MaxTime: des.Seconds(time), MaxCost: least.Cost * (1 + 0.2*r.Float64())}
}

func TestWhereBothLimitsBindTheChoiceByWeightsIsThatOfBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for i := range 300 {
		all := batchOf(r, 3+r.IntN(4), 4, i%3 == 0)
		c := tight(t, all, r)
		best := make([]float64, len(policies))
		for k := range best {
			best[k] = math.Inf(1)
		}
		each(all, func(_ []int, cost, time float64) {
			if cost > c.MaxCost*(1+1e-11) || time > c.MaxTime.Seconds()*(1+1e-11) {
				return
			}
			for k, weights := range policies {
				best[k] = min(best[k], weights.Of(cyclic.Vector{C: cost, D: c.MaxCost - cost, T: time, I: c.MaxTime.Seconds() - time}))
			}
		})
		for k, weights := range policies {
			c.Weights, c.Patience = weights, 0
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			require.InDelta(t, best[k], weights.Of(got.Vector), 1e-9, "%v", weights)
			require.InDelta(t, 0, got.Gap, 1e-9)
			for _, c.Patience = range []int{1, 8, 30, 100} {
				hasty, err := c.Choose(context.Background(), all)
				if no := (*cyclic.InfeasibleError)(nil); errors.As(err, &no) {
					require.Negative(t, no.Excess()-no.Gap, "it cannot tell")
					require.ErrorContains(t, err, "patience ran out")
					continue
				}
				require.NoError(t, err)
				require.GreaterOrEqual(t, weights.Of(hasty.Vector), best[k]-1e-9)
				require.LessOrEqual(t, weights.Of(hasty.Vector)-hasty.Gap, best[k]+1e-9, "%v with a patience of %d", weights, c.Patience)
				require.LessOrEqual(t, hasty.Gap, weights.C+weights.D+weights.T+weights.I, "no part of a limit is more than 1")
			}
		}
	}
}

func TestTheChoiceByWeightsIsThatOfGLPK(t *testing.T) {
	if _, err := exec.LookPath("glpsol"); err != nil {
		t.Skip("glpsol is not installed: no other solver to compare with")
	}
	r := rand.New(rand.NewPCG(13, 14))
	for _, weights := range policies[:10] {
		if weights.D+weights.I > 0 && weights.C+weights.T == 0 {
			continue // a subset sum of reals is beyond GLPK
		}
		for range 2 {
			all := batchOf(r, 20, 10, false)
			c := cyclic.Choice{Problem: cyclic.Weighted, Weights: weights}
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			require.InDelta(t, 0, got.Gap, 1e-12)
			budget, time := got.Vector.C+got.Vector.D, got.Vector.T+got.Vector.I
			require.InDelta(t, glpkWeighted(t, weights, all, budget, time), weights.Of(got.Vector), 1e-6, "%v", weights)
		}
	}
}

// glpkWeighted is the least weighted sum within both limits by GNU's solver.
func glpkWeighted(t *testing.T, weights cyclic.Weights, all [][]entity.Window, budget, time float64) float64 {
	var objective, costs, times, one, names strings.Builder
	for i, windows := range all {
		for s, w := range windows {
			x := fmt.Sprintf("x%d_%d", i, s)
			spent, took := w.Cost/budget, w.ProcessorTime().Seconds()/time
			fmt.Fprintf(&objective, " %+.17g %s\n", weights.C*spent-weights.D*spent+weights.T*took-weights.I*took, x)
			fmt.Fprintf(&costs, " %+.17g %s\n", w.Cost, x)
			fmt.Fprintf(&times, " %+.17g %s\n", w.ProcessorTime().Seconds(), x)
			fmt.Fprintf(&one, " +%s", x)
			fmt.Fprintf(&names, " %s\n", x)
		}
		one.WriteString(" = 1\n")
	}
	model, answer := filepath.Join(t.TempDir(), "m.lp"), filepath.Join(t.TempDir(), "answer")
	text := fmt.Sprintf("Minimize\n%sSubject To\n%s <= %.17g\n%s <= %.17g\n%sBinary\n%sEnd\n", &objective, &costs, budget, &times, time, &one, &names)
	require.NoError(t, os.WriteFile(model, []byte(text), 0o666))
	out, err := exec.Command("glpsol", "--lp", model, "--tmlim", "300", "-o", answer).CombinedOutput()
	require.NoError(t, err, "%s", out)
	written, err := os.ReadFile(answer)
	require.NoError(t, err)
	require.Contains(t, string(written), "INTEGER OPTIMAL")
	match := regexp.MustCompile(`Objective:\s+\S+ = (\S+)`).FindSubmatch(written)
	require.NotNil(t, match)
	best, err := strconv.ParseFloat(string(match[1]), 64)
	require.NoError(t, err)
	return best + weights.D + weights.I
}

func TestTheGapIsThatOfTheBestOfAllThatPatienceGaveUp(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	worse := 0
	for i := range 60 {
		all := batchOf(r, 12, 8, i%3 == 0)
		for _, weights := range []cyclic.Weights{{D: 1, T: 0.3}, {C: 1, I: 1}, {C: 0.1, I: 1}, {D: 0.2, T: 1}} {
			c := tight(t, all, r)
			c.Weights = weights
			exact, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			require.InDelta(t, 0, exact.Gap, 1e-9)
			best := weights.Of(exact.Vector)
			for _, c.Patience = range []int{50, 100, 200, 400} {
				hasty, err := c.Choose(context.Background(), all)
				if err != nil {
					require.ErrorContains(t, err, "patience ran out")
					continue
				}
				found := weights.Of(hasty.Vector)
				require.LessOrEqual(t, found-hasty.Gap, best+1e-9, "%v with a patience of %d", weights, c.Patience)
				if found > best+1e-9 {
					worse++
				}
			}
		}
	}
	require.Greater(t, worse, 10)
}

func TestTheGapOfIdleTimeIsAPartOfItsLimit(t *testing.T) {
	all := batchOf(rand.New(rand.NewPCG(47, 48)), 20, 10, false)
	c := cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{I: 1}, MaxCost: 1e6, Patience: 1}
	got, err := c.Choose(context.Background(), all)
	require.NoError(t, err)
	require.InDelta(t, c.Weights.Of(got.Vector), got.Gap, 1e-5, "at best no time is left")
	require.Positive(t, got.Gap)
	c.Problem, c.Weights = cyclic.Idleness, cyclic.Weights{}
	same, err := c.Choose(context.Background(), all)
	require.NoError(t, err)
	require.Equal(t, same.Picks, got.Picks)
}

func TestBoundsKeepTheSearchSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 5 {
		all := batchOf(r, 60, 15, false)
		for _, weights := range []cyclic.Weights{{D: 1, T: 0.3}, {C: 1, I: 1}, {C: 1, T: 1}, {C: 1, T: 0.1}} {
			c := tight(t, all, r)
			c.Weights = weights
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			require.InDelta(t, 0, got.Gap, 1e-9, "%v", weights)
			require.Less(t, got.States, 40_000, "%v", weights)
		}
	}
}

func TestOneWeightAloneIsAProblemOfThePapersWithinBothLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 30 {
		all := batchOf(r, 12, 8, true)
		for p, weights := range map[cyclic.Problem]cyclic.Weights{
			cyclic.OwnersProfit: {D: 1}, cyclic.UsersExpense: {C: 1}, cyclic.BatchTime: {T: 1}, cyclic.Idleness: {I: 1},
		} {
			// The largest income never binds T*'s problems; for the time, so loose a T*.
			c := cyclic.Choice{Problem: p, BudgetLimit: cyclic.LargestIncome}
			want, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			c.Problem, c.Weights = cyclic.Weighted, weights
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			if p == cyclic.Idleness && want.Cost > got.Vector.C+got.Vector.D {
				require.LessOrEqual(t, got.Time, want.Time)
				continue
			}
			f, _ := sums(p, all, want.Picks)
			g, _ := sums(p, all, got.Picks)
			require.InDelta(t, f, g, 1e-9, "%v", p)
		}
	}
}

func TestAChoiceByWeightsOutOfPatienceSaysHowFarItCanBeFromTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	gaps := 0
	for range 20 {
		all := batchOf(r, 6, 6, false)
		for _, weights := range policies {
			c := cyclic.Choice{Problem: cyclic.Weighted, Weights: weights, MaxCost: 1400, MaxTime: 1000 * des.Second}
			exact, err := c.Choose(context.Background(), all)
			if err != nil {
				require.ErrorAs(t, err, new(*cyclic.InfeasibleError))
				continue
			}
			require.InDelta(t, 0, exact.Gap, 1e-9)
			c.Patience = 20
			hasty, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			require.LessOrEqual(t, hasty.Vector.C, 1400*(1+1e-11))
			require.LessOrEqual(t, hasty.Vector.T, 1000*(1+1e-11))
			best, found := weights.Of(exact.Vector), weights.Of(hasty.Vector)
			require.GreaterOrEqual(t, found, best-1e-9)
			require.LessOrEqual(t, found-hasty.Gap, best+1e-9, "%v", weights)
			if hasty.Gap > 1e-9 {
				gaps++
			}
		}
	}
	require.Greater(t, gaps, 20)
}

func TestLimitsThatCannotBothBeKeptSayByHowMuch(t *testing.T) {
	all := [][]entity.Window{{alternative(10, 5), alternative(20, 2)}, {alternative(30, 8), alternative(40, 3)}}
	c := cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1}, MaxTime: 55 * des.Second, MaxCost: 7}
	_, err := c.Choose(context.Background(), all)
	require.EqualError(t, err, "the budget B* of 7 cost units is 1 too low: no choice of alternatives within the time T* of 55 time units takes less than 8")
	c.MaxTime = 39 * des.Second
	_, err = c.Choose(context.Background(), all)
	require.EqualError(t, err, "the time T* of 39 time units is 1 too low: no choice of alternatives takes less than 40")
}

func TestWeightsThatMakeNoSenseAreBadInput(t *testing.T) {
	all := [][]entity.Window{{alternative(10, 5)}}
	for want, c := range map[string]cyclic.Choice{
		"must not all be 0":      {Problem: cyclic.Weighted},
		"numbers of 0 or more":   {Problem: cyclic.Weighted, Weights: cyclic.Weights{C: -1}},
		"0/0/NaN/0":              {Problem: cyclic.Weighted, Weights: cyclic.Weights{T: math.NaN()}},
		"not for owners-profit":  {Weights: cyclic.Weights{C: 1}},
		"has no grid":            {Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1}, Grid: 1},
		"must be in [0, 1]":      {Shares: cyclic.Shares{Owners: 1.1}},
		"in [0, 1], not NaN":     {Shares: cyclic.Shares{Time: math.NaN()}},
		"the choice has no prob": {Problem: 9},
	} {
		_, err := c.Choose(context.Background(), all)
		require.ErrorContains(t, err, want)
	}
}

func TestWeightsAreReadAsTheyAreWritten(t *testing.T) {
	for _, w := range policies {
		got, err := cyclic.ParseWeights(w.String())
		require.NoError(t, err)
		require.Equal(t, w, got)
	}
	for text, want := range map[string]string{
		"1/0/1": "four numbers", "1/0/1/x": `"x" is not a number`, "0/0/0/0": "must not all be 0", "1/0/-1/0": "0 or more", "": "four numbers",
	} {
		_, err := cyclic.ParseWeights(text)
		require.ErrorContains(t, err, want)
	}
}

func TestWeightsCountInPartsOfTheLimits(t *testing.T) {
	v := cyclic.Vector{C: 3, D: 1, T: 5, I: 5}
	require.InDelta(t, 0.75+2*0.25+3*0.5+4*0.5, cyclic.Weights{C: 1, D: 2, T: 3, I: 4}.Of(v), 1e-12)
	require.InDelta(t, 0, cyclic.Weights{C: 1, D: 1}.Of(cyclic.Vector{T: 1}), 1e-12)
}
