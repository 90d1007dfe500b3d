// The exact subset against other solvers: the paper's dynamic programme, and
// GLPK on problems too large for brute force.

package window

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

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// subsetProblem is one step: every node free for the same unit of time, so that
// MaxQ is the bare problem max Σz, Σc <= limit, n items.
type subsetProblem struct {
	z, c  []float64
	n     int
	limit float64
}

func (p subsetProblem) solve(t testing.TB) (plan.Found, error) {
	t.Helper()
	list := plan.SlotList{To: des.Second}
	for i := range p.z {
		list.Slots = append(list.Slots, entity.Slot{
			Node: &entity.Node{ID: i, Perf: 1, Price: p.c[i], Q: p.z[i]}, Width: 1, End: des.Second,
		})
	}
	req := entity.Request{Nodes: p.n, Length: des.Second, Budget: p.limit}
	return Best{By: Q{}}.Find(context.Background(), req, list, des.Forever)
}

// The table of DEP18's slides: values 3, 1, 6; costs 3, 2, 4; two items within
// a budget of 6 are worth 7.
func TestTheSlidesKnapsackTable(t *testing.T) {
	values, costs := []float64{3, 1, 6}, []float64{3, 2, 4}
	found, err := subsetProblem{z: values, c: costs, n: 2, limit: 6}.solve(t)
	require.NoError(t, err)
	require.Equal(t, 7.0, found.Window.Value)

	var goods []good
	for i := range values {
		goods = append(goods, good{cost: int(costs[i]), value: values[i]})
	}
	chosen, value, ok := knapsackDP(goods, 2, 6)
	require.True(t, ok)
	require.Equal(t, 7.0, value)
	require.ElementsMatch(t, []int{1, 2}, chosen)
}

// drawSubset draws a subset problem of one of several hard or odd families.
func drawSubset(rng *rand.Rand, m int) subsetProblem {
	p := subsetProblem{z: make([]float64, m), c: make([]float64, m), n: 1 + rng.IntN(12)}
	switch rng.IntN(8) {
	case 0:
		p.n = 1
	case 1:
		p.n = m
	}
	family := rng.IntN(6)
	sum := 0.0
	for i := range m {
		c := 10 * rng.Float64()
		z := 10 * rng.Float64()
		switch family {
		case 1: // strongly correlated
			c = math.Ceil(c)
			z = c + 1
		case 2: // negative values
			z -= 8
		case 3: // ties
			c, z = float64(rng.IntN(6)), float64(rng.IntN(6)-3)
		case 4: // free nodes
			if rng.IntN(2) == 0 {
				c = 0
			}
		case 5: // worth what they cost, nearly
			c = math.Round(c*100) / 100
			z = c + 0.1*rng.Float64()
		}
		p.c[i], p.z[i] = c, z
		sum += c
	}
	p.limit = sum / float64(m) * float64(p.n) * (0.2 + rng.Float64())
	if rng.IntN(10) == 0 {
		p.limit = 0.01 // hardly ever enough
	}
	p.limit = max(p.limit, 1e-3)
	return p
}

func TestBestAgreesWithGLPK(t *testing.T) {
	glpsol, err := exec.LookPath("glpsol")
	if err != nil {
		t.Skip("glpsol is not installed: apt-get install glpk-utils")
	}
	dir := t.TempDir()
	const problems = 240
	open := 0
	for seed := range uint64(problems) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p := drawSubset(rng, 100)
		worth, ok, proven := p.glpk(t, glpsol, dir)
		if !proven {
			open++
			continue
		}
		found, err := p.solve(t)
		require.NoError(t, err)
		require.Equal(t, ok, found.OK, "seed %d", seed)
		if ok {
			require.InDelta(t, worth, found.Window.Value, 1e-5, "seed %d", seed)
			require.LessOrEqual(t, found.Window.Cost, p.limit*(1+1e-9))
		}
	}
	t.Logf("%d problems; GLPK left %d open after a second", problems, open)
	require.Less(t, open, problems/2, "a second of a busy machine is short; most are to be compared")
}

// Where worth is cost plus a constant, no bound tells one choice from another.
// The search then ends with a gap that it states.
func TestAHopelessSubsetEndsWithAStatedGap(t *testing.T) {
	for seed := range uint64(1) {
		rng := rand.New(rand.NewPCG(seed, 10))
		p := subsetProblem{n: 8, limit: 31.4159}
		for range 100 {
			c := 10 * rng.Float64()
			p.c, p.z = append(p.c, c), append(p.z, c+1)
		}
		found, err := p.solve(t)
		require.NoError(t, err)
		require.True(t, found.OK)
		best := p.limit + float64(p.n)
		require.LessOrEqual(t, best-found.Window.Value, found.Gap+1e-9)
		require.Less(t, found.Gap, 1e-4*best)
		require.Less(t, found.Work.Branches, 4<<20)
	}
}

var objective = regexp.MustCompile(`Objective:\s+\S+ = (\S+)`)

// glpk solves p as a mixed-integer programme.
func (p subsetProblem) glpk(t testing.TB, glpsol, dir string) (worth float64, ok, proven bool) {
	t.Helper()
	var lp strings.Builder
	terms := func(coef func(i int) float64) {
		for i := range p.z {
			fmt.Fprintf(&lp, " %+.17g x%d\n", coef(i), i)
		}
	}
	lp.WriteString("Maximize\n worth:\n")
	terms(func(i int) float64 { return p.z[i] })
	lp.WriteString("Subject To\n count:\n")
	terms(func(int) float64 { return 1 })
	fmt.Fprintf(&lp, " = %d\n budget:\n", p.n)
	terms(func(i int) float64 { return p.c[i] })
	fmt.Fprintf(&lp, " <= %.17g\nBinary\n", p.limit)
	for i := range p.z {
		fmt.Fprintf(&lp, " x%d\n", i)
	}
	lp.WriteString("End\n")
	in, out := filepath.Join(dir, "p.lp"), filepath.Join(dir, "p.out")
	require.NoError(t, os.WriteFile(in, []byte(lp.String()), 0o600))
	said, err := exec.Command(glpsol, "--lp", in, "--cuts", "--tmlim", "1", "-o", out).CombinedOutput()
	require.NoError(t, err, "%s", said)
	solution, err := os.ReadFile(out)
	require.NoError(t, err)
	if strings.Contains(string(said), "TIME LIMIT") {
		return 0, false, false
	}
	if !strings.Contains(string(solution), "INTEGER OPTIMAL") {
		return 0, false, true
	}
	worth, err = strconv.ParseFloat(objective.FindStringSubmatch(string(solution))[1], 64)
	require.NoError(t, err)
	return worth, true, true
}

// With the same rounding of costs the dynamic programme and Best have the same
// optimum; with none, Best can only do better.
func TestBestAgreesWithTheDynamicProgramme(t *testing.T) {
	req := entity.Request{Nodes: 4, Length: 800 * des.Second, Budget: 350}
	for seed := range uint64(12) {
		env := dep18(14)
		env.Nodes.RealPerf = seed%2 == 0
		list := slotsOf(t, env, seed)
		for _, by := range []Criterion{Q{}, DEP{}, COORD{}} {
			set := Settings{Quantum: des.Second, RoundCosts: 0.5}
			want, err := KnapsackDP{set, by}.Find(context.Background(), req, list, des.Forever)
			require.NoError(t, err)
			got, err := Best{Settings: set, By: by}.Find(context.Background(), req, list, des.Forever)
			require.NoError(t, err)
			require.Equal(t, want.OK, got.OK)
			set.RoundCosts = 0
			exact, err := Best{Settings: set, By: by}.Find(context.Background(), req, list, des.Forever)
			require.NoError(t, err)
			if want.OK {
				checkWindow(t, set, req, list, des.Forever, want.Window, true)
				require.InDelta(t, want.Window.Value, got.Window.Value, 1e-6, "seed %d %T", seed, by)
				require.GreaterOrEqual(t, reported(by, exact.Window.Value), reported(by, got.Window.Value)-1e-9)
			}
		}
	}
}

// Rounding each cost up loses feasible sets: how often, at the paper's scale, is
// what the design page reports.
func TestRoundedCostsMissTheOptimumOften(t *testing.T) {
	missed, all := 0, 60
	for seed := range uint64(all) {
		list := slotsOf(t, dep18(100), seed)
		set := Settings{Quantum: des.Second}
		exact, err := Best{Settings: set, By: Q{}}.Find(context.Background(), dep18Request, list, des.Forever)
		require.NoError(t, err)
		set.RoundCosts = 1
		rounded, err := Best{Settings: set, By: Q{}}.Find(context.Background(), dep18Request, list, des.Forever)
		require.NoError(t, err)
		if rounded.Window.Value < exact.Window.Value-1e-9 {
			missed++
		}
	}
	require.Greater(t, missed, all/10)
	t.Logf("rounding costs up to whole units missed the optimum in %d of %d searches", missed, all)
}
