package cyclic_test

import (
	"context"
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
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
)

// alternative is a window of one task of the given time and cost.
func alternative(time, cost float64) entity.Window {
	end := des.Seconds(time)
	return entity.Window{End: end, Nodes: 1, Tasks: []entity.Task{{End: end}}, Cost: cost}
}

// batchOf draws alternatives; whole ones have whole times and costs, and many
// ties.
func batchOf(r *rand.Rand, jobs, most int, whole bool) [][]entity.Window {
	all := make([][]entity.Window, jobs)
	for i := range all {
		for range 1 + r.IntN(most) {
			time, cost := 10+290*r.Float64(), 20+400*r.Float64()
			if whole {
				time, cost = math.Ceil(time/30), math.Ceil(cost/30)
			}
			all[i] = append(all[i], alternative(time, cost))
		}
	}
	return all
}

// sums are the combination's f, which is to be greatest, and its g.
func sums(p cyclic.Problem, all [][]entity.Window, picks []int) (f, g float64) {
	cost, time := 0.0, 0.0
	for i, s := range picks {
		cost += all[i][s].Cost
		time += all[i][s].ProcessorTime().Seconds()
	}
	switch p {
	case cyclic.BatchTime:
		return -time, cost
	case cyclic.UsersExpense:
		return -cost, time
	case cyclic.Idleness:
		return time, time
	}
	return cost, time
}

// brute tries every combination. ok is false where none keeps the limit.
func brute(p cyclic.Problem, all [][]entity.Window, limit float64) (best, least float64, ok bool) {
	best, least = math.Inf(-1), math.Inf(1)
	picks := make([]int, len(all))
	for {
		f, g := sums(p, all, picks)
		least = min(least, g)
		if g <= limit*(1+1e-11) {
			best, ok = max(best, f), true
		}
		i := 0
		for ; i < len(picks); i++ {
			if picks[i]++; picks[i] < len(all[i]) {
				break
			}
			picks[i] = 0
		}
		if i == len(picks) {
			return best, least, ok
		}
	}
}

// limits are all the ways to a limit for a problem, and fixed ones that are
// tight.
func limits(p cyclic.Problem, all [][]entity.Window, r *rand.Rand) []cyclic.Choice {
	tight := 0.0 // around the least
	for _, windows := range all {
		least := math.Inf(1)
		for _, w := range windows {
			_, g := sums(p, [][]entity.Window{{w}}, []int{0})
			least = min(least, g)
		}
		tight += least
	}
	tight *= 0.9 + 0.4*r.Float64()
	if p == cyclic.BatchTime {
		return []cyclic.Choice{
			{Problem: p}, {Problem: p, BudgetLimit: cyclic.LargestIncome},
			{Problem: p, BudgetLimit: cyclic.LargestIncome, TimeLimit: cyclic.MeanTimeUp},
			{Problem: p, MaxCost: tight},
		}
	}
	return []cyclic.Choice{
		{Problem: p}, {Problem: p, TimeLimit: cyclic.MeanTimeUp}, {Problem: p, TimeLimit: cyclic.MeanTimeDown},
		{Problem: p, MaxTime: des.Seconds(tight)},
	}
}

func TestTheChoiceIsThatOfBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	infeasible := 0
	for i := range 400 {
		all := batchOf(r, r.IntN(6), 5, i%2 == 0)
		for _, p := range cyclic.Problems {
			for _, c := range limits(p, all, r) {
				got, err := c.Choose(context.Background(), all)
				best, least, ok := brute(p, all, got.Limit)
				if !ok {
					var e *cyclic.InfeasibleError
					require.ErrorAs(t, err, &e)
					require.InDelta(t, least, e.Least, 1e-6)
					require.InDelta(t, least-got.Limit, e.Excess(), 1e-6)
					infeasible++
					continue
				}
				require.NoError(t, err, "%+v", c)
				f, g := sums(p, all, got.Picks)
				require.LessOrEqual(t, g, got.Limit*(1+1e-11), "%+v", c)
				require.InDelta(t, best, f, 1e-9*(1+math.Abs(best)), "%+v: %v", c, all)
				require.Zero(t, got.Gap)
			}
		}
	}
	require.Greater(t, infeasible, 100)
}

func TestTheExactChoiceIsNeverWorseThanTheGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	better, missed := 0, 0
	for i := range 150 {
		all := batchOf(r, 1+r.IntN(8), 8, i%3 == 0)
		for _, p := range cyclic.Problems {
			for _, c := range limits(p, all, r) {
				exact, err := c.Choose(context.Background(), all)
				c.Grid = 1
				grid, onGrid := c.Choose(context.Background(), all)
				if err != nil {
					require.Error(t, onGrid)
					continue
				}
				if onGrid != nil {
					missed++ // rounded up, nothing keeps the limit any more
					continue
				}
				f, _ := sums(p, all, exact.Picks)
				ours, g := sums(p, all, grid.Picks)
				require.LessOrEqual(t, g, exact.Limit*(1+1e-11))
				require.GreaterOrEqual(t, f, ours-1e-6)
				if f > ours+1e-6 {
					better++
				}
			}
		}
	}
	require.Greater(t, better, 100)
	require.Greater(t, missed, 0)
}

func TestOnWholeNumbersTheGridIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		all := batchOf(r, 1+r.IntN(8), 6, true)
		for _, p := range cyclic.Problems {
			exact, err := cyclic.Choice{Problem: p}.Choose(context.Background(), all)
			require.NoError(t, err)
			grid, err := cyclic.Choice{Problem: p, Grid: 1}.Choose(context.Background(), all)
			require.NoError(t, err)
			f, _ := sums(p, all, exact.Picks)
			g, _ := sums(p, all, grid.Picks)
			require.InDelta(t, f, g, 1e-9)
		}
	}
}

func TestTheChoiceOf20JobsIsThatOfGLPK(t *testing.T) {
	if _, err := exec.LookPath("glpsol"); err != nil {
		t.Skip("glpsol is not installed: no other solver to compare with")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 5 {
		for _, p := range cyclic.Problems {
			all := batchOf(r, 20, 10, p == cyclic.Idleness) // GLPK has tolerances: a subset sum of reals is beyond it
			c := cyclic.Choice{Problem: p, TimeLimit: cyclic.TimeLimit(i % 3), BudgetLimit: cyclic.BudgetLimit(i % 2)}
			got, err := c.Choose(context.Background(), all)
			require.NoError(t, err)
			f, _ := sums(p, all, got.Picks)
			require.InEpsilon(t, glpk(t, p, all, got.Limit), f, 1e-7, "%v", p)
		}
	}
}

// glpk is the optimum by GNU's solver.
func glpk(t *testing.T, p cyclic.Problem, all [][]entity.Window, limit float64) float64 {
	var objective, limited, one, names strings.Builder
	for i, windows := range all {
		for s, w := range windows {
			f, g := sums(p, [][]entity.Window{{w}}, []int{0})
			fmt.Fprintf(&objective, " %+.17g x%d_%d\n", f, i, s)
			fmt.Fprintf(&limited, " %+.17g x%d_%d\n", g, i, s)
			fmt.Fprintf(&one, " +x%d_%d", i, s)
			fmt.Fprintf(&names, " x%d_%d\n", i, s)
		}
		one.WriteString(" = 1\n")
	}
	dir := t.TempDir()
	model, answer := filepath.Join(dir, "m.lp"), filepath.Join(dir, "answer")
	text := "Maximize\n" + objective.String() + "Subject To\n" + limited.String() + fmt.Sprintf(" <= %.17g\n", limit) + one.String() + "Binary\n" + names.String() + "End\n"
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
	return best
}

func TestLimitsAreThoseOfThePapers(t *testing.T) {
	all := [][]entity.Window{
		{alternative(10, 5), alternative(15, 4), alternative(16, 6)}, // mean 13 2/3, rounded parts 3+5+5
		{alternative(20, 8), alternative(21, 7)},                     // mean 20 1/2, rounded parts 10+10
	}
	for _, c := range []struct {
		choice cyclic.Choice
		limit  float64
	}{
		{cyclic.Choice{TimeLimit: cyclic.MeanTime}, 41./3 + 20.5},
		{cyclic.Choice{TimeLimit: cyclic.MeanTimeUp}, 14 + 21},
		{cyclic.Choice{TimeLimit: cyclic.MeanTimeDown}, 13 + 20},
		{cyclic.Choice{MaxTime: 40 * des.Second}, 40},
		{cyclic.Choice{Problem: cyclic.BatchTime}, 5 + 7.5},
		{cyclic.Choice{Problem: cyclic.BatchTime, BudgetLimit: cyclic.LargestIncome}, 5 + 8},                               // 16+20 is too long
		{cyclic.Choice{Problem: cyclic.BatchTime, BudgetLimit: cyclic.LargestIncome, TimeLimit: cyclic.MeanTimeUp}, 5 + 8}, // and so it is here
		{cyclic.Choice{Problem: cyclic.BatchTime, BudgetLimit: cyclic.LargestIncome, MaxTime: 36 * des.Second}, 6 + 8},
		{cyclic.Choice{Problem: cyclic.BatchTime, MaxCost: 12}, 12},
	} {
		got, err := c.choice.Choose(context.Background(), all)
		require.NoError(t, err)
		require.InDelta(t, c.limit, got.Limit, 1e-9, "%+v", c.choice)
	}
}

func TestTheVectorCriterionTellsWhatIsLeftOfBothLimits(t *testing.T) {
	all := [][]entity.Window{{alternative(10, 6), alternative(20, 4)}, {alternative(30, 8), alternative(40, 2)}}
	v, err := cyclic.Choice{}.Vector(context.Background(), all, []int{0, 1})
	require.NoError(t, err)
	require.Equal(t, cyclic.Vector{C: 8, D: 2, T: 50, I: 0}, v)
	_, err = cyclic.Choice{}.Vector(context.Background(), all, []int{0, 2})
	require.ErrorContains(t, err, "no alternative 2")
}

func TestAnInfeasibleLimitSaysByHowMuch(t *testing.T) {
	all := [][]entity.Window{{alternative(10, 5)}, {alternative(20, 8), alternative(25, 2)}}
	for _, grid := range []float64{0, 1} {
		_, err := cyclic.Choice{MaxTime: 28 * des.Second, Grid: grid}.Choose(context.Background(), all)
		require.EqualError(t, err, "the time T* of 28 time units is 2 too low: no choice of alternatives takes less than 30")
		_, err = cyclic.Choice{Problem: cyclic.BatchTime, MaxCost: 6, Grid: grid}.Choose(context.Background(), all)
		require.EqualError(t, err, "the budget B* of 6 cost units is 1 too low: no choice of alternatives takes less than 7")
	}
	_, err := cyclic.Choice{Problem: cyclic.Idleness, MaxTime: 28 * des.Second}.Choose(context.Background(), all)
	require.ErrorContains(t, err, "2 too low")
}

func TestNoJobsAreAnEmptyCombination(t *testing.T) {
	for _, p := range cyclic.Problems {
		for _, grid := range []float64{0, 1} {
			got, err := cyclic.Choice{Problem: p, Grid: grid}.Choose(context.Background(), nil)
			require.NoError(t, err)
			require.Empty(t, got.Picks)
		}
	}
}

func TestAJobWithoutAlternativesIsBadInput(t *testing.T) {
	var bad *plan.BadInputError
	_, err := cyclic.Choice{}.Choose(context.Background(), [][]entity.Window{{}})
	require.ErrorAs(t, err, &bad)
}

func TestAChoiceOutOfPatienceSaysHowFarItCanBeFromTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	gaps := 0
	for range 50 {
		for _, p := range cyclic.Problems {
			all := batchOf(r, 20, 10, false)
			exact, err := cyclic.Choice{Problem: p}.Choose(context.Background(), all)
			require.NoError(t, err)
			require.Zero(t, exact.Gap, "%v", p)
			hasty, err := cyclic.Choice{Problem: p, Patience: 30}.Choose(context.Background(), all)
			require.NoError(t, err)
			best, _ := sums(p, all, exact.Picks)
			f, g := sums(p, all, hasty.Picks)
			require.LessOrEqual(t, g, hasty.Limit*(1+1e-11))
			require.LessOrEqual(t, f, best+1e-6)
			require.GreaterOrEqual(t, f+hasty.Gap, best-1e-6)
			if hasty.Gap > 0 {
				gaps++
			}
		}
	}
	require.Greater(t, gaps, 10)
}

// backward is the papers' recursion as it is printed: f_i(Z) is the extreme over
// the alternatives s of f(s) + f_{i+1}(Z - g(s)), and f_{n+1} = 0. Of equals the
// first is taken.
func backward(p cyclic.Problem, all [][]entity.Window, z float64) (f float64, picks []int, ok bool) {
	if len(all) == 0 {
		return 0, nil, true
	}
	for s := range all[0] {
		gain, takes := sums(p, all[:1], []int{s})
		if takes > z {
			continue
		}
		rest, others, feasible := backward(p, all[1:], z-takes)
		if feasible && (!ok || gain+rest > f) {
			f, picks, ok = gain+rest, append([]int{s}, others...), true
		}
	}
	return f, picks, ok
}

func TestTheGridIsThePapersRecursion(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for range 2000 {
		all := batchOf(r, 1+r.IntN(4), 4, true)
		limit := float64(1 + r.IntN(50))
		for _, p := range cyclic.Problems {
			c := cyclic.Choice{Problem: p, Grid: 1, MaxTime: des.Seconds(limit), MaxCost: limit}
			got, err := c.Choose(context.Background(), all)
			_, want, ok := backward(p, all, limit)
			if !ok {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, got.Picks, "%v", p)
		}
	}
}
