package window

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// middle values a slot by how close the window is to its middle: a criterion of
// a user, without a bound.
type middle struct{}

func (middle) Value(s *entity.Slot, start, end des.Time) float64 {
	off := (start - s.Start) - (s.End - end)
	return -max(off, -off).Seconds() * s.Node.Q
}

// boundedDEP is DEP as a user would write it.
type boundedDEP struct{ DEP }

func (d boundedDEP) Bound(s *entity.Slot, from, to, short, long des.Time) float64 {
	at := min(max((s.Start+s.End-short)/2, from), to)
	return d.Value(s, at, at+short) + 1
}

func TestBestIsTheBestOfAllSubsets(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		set, req, list, until := smallProblem(rng)
		for _, by := range []Criterion{Q{}, DEP{}, COORD{}, middle{}, boundedDEP{DEP{MaxDistance: set.MaxDistance}}} {
			worth, at, ok := bruteForce(set, by, false, req, list, until, startsOf(list))
			found, err := Best{Settings: set, By: by}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			require.Equal(t, ok, found.OK, "seed %d, %T", seed, by)
			if ok {
				checkWindow(t, set, req, list, until, found.Window, true)
				require.InDelta(t, worth, reported(by, found.Window.Value), 1e-6, "seed %d, %T", seed, by)
				require.Equal(t, at, found.Window.Start, "seed %d, %T: the earliest of equals", seed, by)
			}
		}
	}
}

func TestBestRoughIsTheBestOfAllSubsets(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		set, req, list, until := smallProblem(rng)
		for _, by := range []Criterion{Q{}, DEP{}, COORD{}, taskTimes{}, middle{}} {
			worth, at, ok := bruteForce(set, by, true, req, list, until, startsOf(list))
			found, err := Best{Settings: set, By: by, Rough: true}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			require.Equal(t, ok, found.OK, "seed %d, %T", seed, by)
			if ok {
				checkWindow(t, set, req, list, until, found.Window, false)
				require.InDelta(t, worth, reported(by, found.Window.Value), 1e-6, "seed %d, %T", seed, by)
				require.Equal(t, at, found.Window.Start, "seed %d, %T: the earliest of equals", seed, by)
			}
		}
	}
}

// With whole lengths the values bend at multiples of half a time unit, so a
// grid of halves holds a best start.
func TestAnyStartIsTheBestOfAllStarts(t *testing.T) {
	var halves []des.Time
	for at := des.Time(0); at <= 40*des.Second; at += des.Second / 2 {
		halves = append(halves, at)
	}
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 3))
		set, req, list, until := smallProblem(rng)
		set.Quantum, set.AnyStart = des.Second, true
		for _, by := range []Criterion{Q{}, DEP{}, COORD{}} {
			starts := halves
			if (by == Q{}) {
				starts = startsOf(list)
			}
			worth, _, ok := bruteForce(set, by, false, req, list, until, starts)
			found, err := Best{Settings: set, By: by}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			require.Equal(t, ok, found.OK, "seed %d, %T", seed, by)
			if ok {
				checkWindow(t, set, req, list, until, found.Window, true)
				require.InDelta(t, worth, reported(by, found.Window.Value), 1e-6, "seed %d, %T", seed, by)
			}
		}
	}
}

func TestSearchesRunSideBySide(t *testing.T) {
	list := slotsOf(t, dep18(60), 1)
	for _, name := range []string{"maxq", "dep", "coord", "multiple-best-q", "min-cost"} {
		f, err := ByName(Square, name, Settings{})
		require.NoError(t, err)
		want, err := f.Find(context.Background(), dep18Request, list, des.Forever)
		require.NoError(t, err)
		results := make(chan plan.Found)
		for range 4 {
			go func() {
				got, _ := f.Find(context.Background(), dep18Request, list, des.Forever)
				results <- got
			}()
		}
		for range 4 {
			require.Equal(t, want, <-results, name)
		}
	}
}

// A search allocates the list of its window's tasks and nothing else. The test
// does without the pool of scans, from which the garbage collector and the race
// detector may take what they like.
func TestTheExactSearchAllocatesOnlyItsAnswer(t *testing.T) {
	list := slotsOf(t, dep18(100), 1)
	for _, by := range []Criterion{Q{}, DEP{}, COORD{}} {
		var s scan
		allocs := testing.AllocsPerRun(50, func() {
			s.ask(Settings{}, dep18Request, list.Slots, des.Forever)
			s.exact(context.Background(), Best{By: by})
			found, err := s.found(context.Background(), goal{theWorth, by})
			if err != nil || !found.OK {
				t.Fatal("no window", err)
			}
		})
		require.Equal(t, 1.0, allocs, "%T", by)
	}
}

// The line of a box above may promise more within the budget than a half of it has. Where
// the multiplier is 0 then, and the selection passes the budget, the bound is kept, for the
// order of boxes.
func TestALineThatMisleadsKeepsTheMultiplierAtZero(t *testing.T) { misled(t, false, 20, 0) }

// A step that is tightened forgets the line.
func TestATightenedStepHasTheBestMultiplier(t *testing.T) { misled(t, true, 13.25, 2.25) }

func misled(t *testing.T, tighten bool, bound, lambda float64) {
	x := boxSearch{scan: new(scan)}
	x.req.Nodes, x.tariff.limit = 2, 7
	x.lengths = []des.Time{1}
	x.bestZ = math.Inf(-1)
	for i, it := range []item{{z: 10, c: 5}, {z: 10, c: 5}, {z: 1, c: 1}, {z: 1, c: 1}} {
		x.ids, x.z, x.c, x.marks = append(x.ids, int32(i)), append(x.z, it.z), append(x.c, it.c), append(x.marks, allMarks)
	}
	b := box{toLen: 1, cheap: line{z: 100, c: 1, known: true}}
	require.True(t, x.minimise(&b, math.Inf(-1), stepTries))
	if tighten {
		x.bestZ = math.Inf(-1) // tighten takes what it meets as windows
		require.True(t, x.tighten(&b))
	}
	// One of each kind costs 6: 10 - 5λ = 1 - λ for λ = 2.25, and 2.25*7 + 2*(10 - 5*2.25) = 13.25.
	require.Equal(t, bound, b.bound)
	require.Equal(t, lambda, b.lambda)
}

// classed is a step of many nodes of a few worths and of costs without order, as an unequal
// domain that is nearly empty has them. Of a class the cheapest are the best to take, so all
// numbers of nodes of each class tell the optimum.
type classed struct {
	worths []float64
	costs  [][]float64 // by class, the cheapest first
	n      int
	limit  float64
}

func drawClassed(rng *rand.Rand) classed {
	p := classed{worths: []float64{0, 1 + 9*rng.Float64(), 10 + 20*rng.Float64()}, n: 100}
	sum := 0.0
	for range p.worths {
		costs := make([]float64, 80)
		for i := range costs {
			costs[i] = 1 + 100*rng.Float64()
			sum += costs[i]
		}
		slices.Sort(costs)
		p.costs = append(p.costs, costs)
	}
	p.limit = sum / 240 * float64(p.n) * (0.4 + 0.5*rng.Float64())
	return p
}

// best counts through the numbers of nodes of each class.
func (p classed) best() (worth float64) {
	var sums [3][]float64
	for k, costs := range p.costs {
		sums[k] = []float64{0}
		for i, c := range costs {
			sums[k] = append(sums[k], sums[k][i]+c)
		}
	}
	worth = math.Inf(-1)
	for a := range sums[0] {
		for b := range sums[1] {
			c := p.n - a - b
			if c >= 0 && c < len(sums[2]) && sums[0][a]+sums[1][b]+sums[2][c] <= p.limit {
				worth = max(worth, float64(a)*p.worths[0]+float64(b)*p.worths[1]+float64(c)*p.worths[2])
			}
		}
	}
	return worth
}

// Whatever multiplier a step is given, it ends within some thousand choices.
func TestAStepWithABadMultiplierIsTightened(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 11))
		p := drawClassed(rng)
		list := plan.SlotList{To: des.Second}
		for k, costs := range p.costs {
			for _, c := range costs {
				node := &entity.Node{ID: len(list.Slots), Perf: 1, Price: c, Q: p.worths[k]}
				list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, End: des.Second})
			}
		}
		s, err := newScan(Settings{}, entity.Request{Nodes: p.n, Length: des.Second, Budget: p.limit}, list, des.Forever)
		require.NoError(t, err)
		x := &s.boxes
		x.reset(s, Best{By: Q{}})
		x.admit()
		for i := range x.slots {
			x.arena = append(x.arena, int32(i))
		}
		b := box{toStart: 1, toLen: 1, hi: int32(len(x.arena)), bound: math.Inf(1), lambda: []float64{0, 10}[seed%2]}
		x.scale = p.worths[2] * float64(p.n)
		x.solve(&b)
		require.InDelta(t, p.best(), x.bestZ, 1e-9*x.scale, "seed %d", seed)
		require.Less(t, x.subset.spent(), 3*manyChoices, "seed %d", seed)
		s.done()
	}
}
