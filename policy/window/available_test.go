package window

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// uncertain is a smallProblem whose nodes have availabilities and uncertain ends, in groups of
// like availability if grouped.
func uncertain(rng *rand.Rand, grouped bool) (Settings, entity.Request, plan.SlotList, des.Time) {
	set, req, list, until := smallProblem(rng)
	done := map[*entity.Node]bool{}
	probability := make([]float64, 1+rng.IntN(5))
	for g := range probability {
		probability[g] = []float64{1, 0.1, 0.5, 0.9, rng.Float64()}[rng.IntN(5)]
	}
	for i := range list.Slots {
		n := list.Slots[i].Node
		if done[n] {
			continue
		}
		done[n] = true
		if n.Amounts = map[string]float64{}; rng.IntN(5) > 0 {
			n.Amounts[NodeAvailability] = rng.Float64()
		}
		if grouped && rng.IntN(5) > 0 {
			g := rng.IntN(len(probability))
			n.Amounts[NodeAvailability], n.Labels = probability[g], map[string]string{NodeGroup: fmt.Sprint(g)}
		}
		if rng.IntN(2) == 0 {
			n.Amounts[EndDeviation] = 5 * rng.Float64()
		}
	}
	return set, req, list, until
}

func TestAvailableIsTheBestOfAllSubsets(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 41))
		set, req, list, until := uncertain(rng, false)
		for _, rough := range []bool{false, true} {
			worth, at, ok := bruteForce(set, Available{}, rough, req, list, until, startsOf(list))
			found, err := Best{Settings: set, By: Available{}, Rough: rough}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			require.Equal(t, ok, found.OK, "seed %d", seed)
			if ok {
				checkWindow(t, set, req, list, until, found.Window, !rough)
				require.InDelta(t, math.Exp(worth), found.Window.Value, 1e-9, "seed %d", seed)
				require.Equal(t, at, found.Window.Start, "seed %d: the earliest of equals", seed)
			}
		}
	}
}

// Ends drawn from the log-normal law are late as often as the criterion says.
func TestAnAvailabilityIsTheShareOfWindowsThatAreFree(t *testing.T) {
	node := &entity.Node{ID: 1, Perf: 1, Attributes: entity.Attributes{Amounts: map[string]float64{NodeAvailability: 0.75, EndDeviation: 6}}}
	s := entity.Slot{Node: node, Width: 1, Start: 10 * des.Second, End: 1000 * des.Second}
	rng := rand.New(rand.NewPCG(1, 42))
	for _, wait := range []float64{0, 1, 3, 10, 50} {
		free := 0
		const draws = 200_000
		for range draws {
			late := math.Exp(1+math.Log(6)*rng.NormFloat64()) - 2 // after the planned end; before it where negative
			if late <= wait && rng.Float64() < 0.75 {
				free++
			}
		}
		start := s.Start + des.Seconds(wait)
		require.InDelta(t, float64(free)/draws, math.Exp(Available{}.Value(&s, start, start)), 0.004, "%v units after", wait)
	}
}

func TestWhatIsSureOfAnAvailability(t *testing.T) {
	p := func(amounts map[string]float64, start float64) float64 {
		s := entity.Slot{Node: &entity.Node{ID: 1, Perf: 1, Attributes: entity.Attributes{Amounts: amounts}}, Start: 10 * des.Second, End: 1e6 * des.Second}
		return math.Exp(Available{From: 10 * des.Second}.Value(&s, des.Seconds(start), 0))
	}
	require.Equal(t, 1.0, p(nil, 10), "nothing is said of the node")
	require.Equal(t, 1.0, p(map[string]float64{EndDeviation: 4}, 10), "there is no task before the slot")
	late := func(deviation, wait float64) float64 { return ended(wait, deviation) }
	require.Equal(t, 1.0, late(1, 0), "an end without deviation")
	require.InDelta(t, 0.379478, late(math.E, 0), 1e-6) // Φ(ln 2 − 1)
	require.InDelta(t, 0.5, late(5, math.E-2), 1e-12, "the median")
	require.Less(t, late(20, 1199), 1.0)
	require.Equal(t, 1.0, late(20, 1200), "no task overruns by more than 60 deviations")
}

func TestProbabilitiesOfNodesAreChecked(t *testing.T) {
	for name, x := range map[string]float64{NodeAvailability: 1.5, EndDeviation: -1} {
		_, req, list, until := uncertain(rand.New(rand.NewPCG(3, 41)), true)
		list.Slots[0].Node.Amounts[name] = x
		for _, f := range []plan.Finder{Best{By: Available{}}, Cheapest{Goal: MostWorth, By: Available{}}, MultipleBest{By: Available{}}, Grouped{}} {
			_, err := f.Find(context.Background(), req, list, until)
			require.ErrorContains(t, err, name, f.Name())
		}
	}
	_, req, list, until := uncertain(rand.New(rand.NewPCG(3, 41)), true)
	for i, s := range list.Slots {
		s.Node.Labels = map[string]string{NodeGroup: "one"}
		s.Node.Amounts[NodeAvailability] = 1 / float64(2+i)
	}
	_, err := Grouped{}.Find(context.Background(), req, list, until)
	require.ErrorContains(t, err, `group "one"`)
}

// bruteGroups is the greatest probability of all square windows at slot starts, and the
// earliest start that has it: the product over the groups that a window touches.
func bruteGroups(set Settings, req entity.Request, list plan.SlotList, until des.Time) (best float64, at des.Time, ok bool) {
	tar := set.tariff(req.BudgetLimit())
	for _, now := range startsOf(list) {
		var fits []*entity.Slot
		passes := des.Forever
		for i := range list.Slots {
			s := &list.Slots[i]
			if !req.Admits(s.Node) || now > until {
				continue
			}
			if s.Start == now {
				passes = min(passes, set.taskTime(s.Node, req.Length))
			}
			if s.Start <= now && now+set.taskTime(s.Node, req.Length) <= min(s.End, req.DeadlineLimit()) {
				fits = append(fits, s)
			}
		}
		eachSubset(len(fits), req.Nodes, func(pick []int) {
			slowest := des.Time(0)
			for _, i := range pick {
				slowest = max(slowest, set.taskTime(fits[i].Node, req.Length))
			}
			cost, p, met := 0.0, 1.0, map[string]bool{}
			for _, i := range pick {
				if now+slowest > min(fits[i].End, req.DeadlineLimit()) {
					return
				}
				cost += tar.cost(fits[i].Node.Price, slowest)
				group := fmt.Sprint("node ", fits[i].Node.ID)
				if label, given := fits[i].Node.Labels[NodeGroup]; given {
					group = label
				}
				if a, given := fits[i].Node.Amounts[NodeAvailability]; given && !met[group] {
					p *= a
				}
				met[group] = true
			}
			if slowest < passes || cost > tar.limit {
				return
			}
			if !ok || p > best+1e-12 || p > best-1e-12 && now < at {
				best, at, ok = p, now, true
			}
		})
	}
	return best, at, ok
}

func TestGroupedIsTheBestOfAllSubsets(t *testing.T) {
	met := 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 43))
		set, req, list, until := uncertain(rng, true)
		p, at, ok := bruteGroups(set, req, list, until)
		for by := range GroupTreeMixed + 1 {
			found, err := Grouped{Settings: set, By: by}.Find(context.Background(), req, list, until)
			require.NoError(t, err)
			if by == GroupExact || by == GroupTree {
				require.Equal(t, ok, found.OK, "seed %d", seed)
			}
			if !found.OK {
				continue
			}
			checkWindow(t, set, req, list, until, found.Window, true)
			require.Zero(t, found.Gap)
			if by == GroupExact || by == GroupTree {
				require.InDelta(t, p, found.Window.Value, 1e-9, "seed %d, %s", seed, Grouped{By: by}.Name())
				require.Equal(t, at, found.Window.Start, "seed %d, %s: the earliest of equals", seed, Grouped{By: by}.Name())
				met++
			} else {
				require.LessOrEqual(t, found.Window.Value, p+1e-9, "seed %d, %s", seed, Grouped{By: by}.Name())
			}
		}
	}
	require.Greater(t, met, 4000)
}

// A search that gives up states a gap, within which the best choice lies.
func TestTheGapOfAGroupSearchWithoutPatienceHoldsTheOptimum(t *testing.T) {
	gaps, missed := 0, 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 43))
		set, req, list, until := uncertain(rng, true)
		p, _, ok := bruteGroups(set, req, list, until)
		found, err := Grouped{Settings: set, patience: 10}.Find(context.Background(), req, list, until)
		require.NoError(t, err)
		require.Equal(t, ok, found.OK, "seed %d", seed)
		if !ok {
			continue
		}
		require.LessOrEqual(t, found.Window.Value, p+1e-9, "seed %d", seed)
		require.LessOrEqual(t, p, found.Window.Value+found.Gap+1e-9, "seed %d", seed)
		if found.Gap > 0 {
			gaps++
		}
		if found.Window.Value < p-1e-9 {
			missed++
		}
	}
	require.Positive(t, missed, "%d gaps", gaps)
}

// The problems of ICCS 2023: 21 nodes in 8 groups, 8 wanted. Both exact searches agree; greedy
// solutions of the tree are no bounds, and lose something where money is short.
func TestTheExactSearchesOverGroupsAgree(t *testing.T) {
	lost := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 44))
		list := plan.SlotList{To: des.Second}
		probability := make([]float64, 8)
		for g := range probability {
			probability[g] = max(0, 1-math.Abs(0.25*rng.NormFloat64()))
		}
		for id := range 21 {
			g := id
			if id >= 8 {
				g = rng.IntN(8)
			}
			n := &entity.Node{ID: id, Perf: 1, Price: math.Round(1 + 11*rng.Float64())}
			n.Amounts, n.Labels = map[string]float64{NodeAvailability: probability[g]}, map[string]string{NodeGroup: fmt.Sprint(g)}
			list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, End: des.Second})
		}
		for _, budget := range []float64{30, 45, 60, 120, 0} {
			req := entity.Request{Nodes: 8, Length: des.Second, Budget: budget}
			exact, err := Grouped{}.Find(context.Background(), req, list, des.Forever)
			require.NoError(t, err)
			tree, err := Grouped{By: GroupTree}.Find(context.Background(), req, list, des.Forever)
			require.NoError(t, err)
			require.Equal(t, tree.OK, exact.OK)
			require.InDelta(t, tree.Window.Value, exact.Window.Value, 1e-9, "seed %d, budget %v", seed, budget)
			require.LessOrEqual(t, exact.Work.Branches, 1<<9)
			greedy, err := Grouped{By: GroupTreeGreedy}.Find(context.Background(), req, list, des.Forever)
			require.NoError(t, err)
			require.LessOrEqual(t, greedy.Window.Value, exact.Window.Value+1e-9)
			if greedy.Window.Value < exact.Window.Value-1e-9 {
				lost++
			}
		}
	}
	require.Positive(t, lost)
}
