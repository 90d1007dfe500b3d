package window

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// A criterion of which the brute force maximum is the simple search's optimum.
type simple struct {
	goal  SquareGoal
	nodes int
}

func (c simple) Value(s *entity.Slot, start, end des.Time) float64 {
	share := 1 / float64(c.nodes)
	switch c.goal {
	case FirstFit:
		return -start.Seconds() * share
	case LeastEnd:
		return -end.Seconds() * share
	case LeastTime:
		return -(end - start).Seconds() * share
	}
	return -realCost(s.Node.Price, end-start)
}

func TestSimpleSquareSearchesAgainstAllSubsets(t *testing.T) {
	for seed := range uint64(2000) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 11)))
		for goal := FirstFit; goal <= LeastCost; goal++ {
			if goal == LeastCost {
				set.RoundCosts = 0
			}
			worth, _, ok := bruteForce(set, simple{goal, req.Nodes}, false, req, list, until, startsOf(list))
			found, err := Cheapest{Settings: set, Goal: goal}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			require.Equal(t, ok, found.OK, "seed %d, goal %d", seed, goal)
			if ok {
				checkWindow(t, set, req, list, until, found.Window, true)
				require.InDelta(t, -worth, found.Window.Value, 1e-6, "seed %d, goal %d", seed, goal)
			}
		}
	}
}

func TestLiteAndMultipleBestAreWindowsAndNeverBetterThanBest(t *testing.T) {
	for seed := range uint64(500) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 12)))
		for _, by := range []Criterion{Q{}, DEP{}, COORD{}} {
			best, err := Best{Settings: set, By: by}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			for _, f := range []plan.Finder{Cheapest{set, MostWorth, by}, MultipleBest{set, by}} {
				found, err := f.Find(context.Background(), req, list, until)
				require.NoError(t, err)
				require.Equal(t, best.OK, found.OK, "seed %d, %s", seed, f.Name())
				if found.OK {
					checkWindow(t, set, req, list, until, found.Window, true)
					if _, repeated := f.(MultipleBest); repeated && (by != Q{}) {
						continue // it also starts where a window before it ended
					}
					require.LessOrEqual(t, reported(by, found.Window.Value), reported(by, best.Window.Value)+1e-9)
				}
			}
		}
	}
}

// DEP18's own program skips a group of equal starts when its last slot does not
// fit.
func TestAGroupOfEqualStartsIsNotSkippedForItsLastSlot(t *testing.T) {
	slot := func(id int, start, end des.Time) entity.Slot {
		return entity.Slot{Node: &entity.Node{ID: id, Perf: 1, Price: 1}, Width: 1, Start: start * des.Second, End: end * des.Second}
	}
	list := plan.SlotList{To: 100 * des.Second, Slots: []entity.Slot{slot(1, 0, 50), slot(2, 0, 50), slot(3, 0, 5), slot(4, 60, 100), slot(5, 60, 100)}}
	found, err := Cheapest{}.Find(context.Background(), entity.Request{Nodes: 2, Length: 20 * des.Second}, list, des.Forever)
	require.NoError(t, err)
	require.True(t, found.OK)
	require.Zero(t, found.Window.Start)
}

func TestAnyStartIsNeverWorse(t *testing.T) {
	for seed := range uint64(500) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 13)))
		for _, by := range []Criterion{DEP{}, COORD{}} {
			set.AnyStart = false
			plain, err := Best{Settings: set, By: by}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			set.AnyStart = true
			any, err := Best{Settings: set, By: by}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			if plain.OK {
				require.True(t, any.OK)
				require.GreaterOrEqual(t, reported(by, any.Window.Value), reported(by, plain.Window.Value)-1e-9)
			}
		}
	}
}

func TestMaxDistanceCapsDEPOnly(t *testing.T) {
	s := entity.Slot{Node: &entity.Node{}, Start: 0, End: 100 * des.Second}
	by := withDefaults(DEP{}, Settings{MaxDistance: 10 * des.Second}, 0)
	require.Equal(t, 10.0, by.Value(&s, 40*des.Second, 50*des.Second))
	require.Equal(t, -50.0, withDefaults(COORD{}, Settings{MaxDistance: 10 * des.Second}, 0).Value(&s, 40*des.Second, 50*des.Second))
}

// MultipleBest cuts each window out of the slot list before it looks for the
// next, but it weighs all of them by the distances in the list as it was given.
// Node 1 is free in [0, 30): the three windows of 10 that FirstFit finds one
// after another lie in the same slot, at distances of (0, 20), (10, 10) and
// (20, 0). In what the windows before them leave, the distances to the left
// would all be 0.
func TestMultipleBestMeasuresDistancesInTheWholeList(t *testing.T) {
	node := &entity.Node{ID: 1, Perf: 1}
	list := plan.SlotList{To: 30 * des.Second, Slots: []entity.Slot{{Node: node, Width: 1, End: 30 * des.Second}}}
	req := entity.Request{Nodes: 1, Length: 10 * des.Second}
	for _, c := range []struct {
		by           Criterion
		start, value float64
	}{
		{DEP{}, 10, 10},   // the middle window has 10 on either side
		{COORD{}, 10, 10}, // and the least greater distance
		{DEP{MaxDistance: 4 * des.Second}, 10, 4}, // the cap
		{Q{}, 0, 0}, // equally good: the first
	} {
		found, err := MultipleBest{By: c.by}.Find(context.Background(), req, list, des.Forever)
		require.NoError(t, err)
		require.Equal(t, 3, found.Alternatives)
		require.Equal(t, c.start, found.Window.Start.Seconds(), "%T", c.by)
		require.Equal(t, c.value, found.Window.Value, "%T", c.by)
	}
}
