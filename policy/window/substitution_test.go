package window

import (
	"cmp"
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

// plainSubstitution is META's algorithm 2 at every step of the scan; without
// spares it takes the n cheapest slots as they are.
func plainSubstitution(t testing.TB, a AEP, req entity.Request, list plan.SlotList, until des.Time, spares bool) plan.Found {
	g, err := a.By.goal()
	require.NoError(t, err)
	s, err := newScan(a.Settings, req, list, until)
	require.NoError(t, err)
	defer s.done()
	var open []offer // by cost; of equal cost, by start
	for now, o := range s.offers(context.Background()) {
		open = slices.DeleteFunc(open, func(u offer) bool { return u.last < now })
		at := 0
		for at < len(open) && open[at].cost <= o.cost {
			at++
		}
		open = slices.Insert(open, at, o)
		if len(open) < req.Nodes {
			continue
		}
		s.work.Steps++
		picks := slices.Clone(open[:req.Nodes])
		cost := totalCost(picks)
		if cost > s.tariff.limit {
			continue
		}
		if spares {
			for _, spare := range open[req.Nodes:] {
				longest := longestOf(picks)
				after := cost - picks[longest].cost + spare.cost
				if spare.length < picks[longest].length && after <= s.tariff.limit {
					picks[longest], cost = spare, after
				}
			}
		}
		f := figuresOf(picks, now)
		s.keep(picks, now, g.value(&f))
	}
	found, err := s.found(context.Background(), g)
	require.NoError(t, err)
	return found
}

// checkSubstitution holds the goals that go by META's algorithm 2, or by its
// beginning, against the plain text.
func checkSubstitution(t testing.TB, set Settings, req entity.Request, list plan.SlotList, until des.Time, msg ...any) {
	for _, goal := range []RoughGoal{MinRunTime, MinFinish, MinProcTimeSubstitution, MinProcTime} {
		a := AEP{set, goal}
		want := plainSubstitution(t, a, req, list, until, goal != MinProcTime)
		got, err := a.Find(context.Background(), req, list, until)
		require.NoError(t, err)
		require.Equal(t, want.Work.Steps, got.Work.Steps, msg...)
		require.Equal(t, want.Work.Slots, got.Work.Slots, msg...)
		want.Work, got.Work = plan.Work{}, plan.Work{}
		require.Equal(t, want, got, msg...)
	}
}

func TestSubstitutionIsThePlainOneOnSmallProblems(t *testing.T) {
	for seed := range uint64(20000) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 15)))
		checkSubstitution(t, set, req, list, until, "seed %d", seed)
	}
}

// listOf cuts each node's time into slots by the turn that cut says, and has the
// list in the order of starts.
func listOf(nodes []*entity.Node, units int, cut func(node, piece int) (busy, free int)) plan.SlotList {
	list := plan.SlotList{To: des.Time(units) * des.Second}
	for i, node := range nodes {
		at := 0
		for piece := 0; at < units; piece++ {
			busy, free := cut(i, piece)
			from := at + busy
			at = min(from+max(free, 1), units)
			if from < at {
				list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, Start: des.Time(from) * des.Second, End: des.Time(at) * des.Second})
			}
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// hardLists are lists on which searches that hope for differences do badly.
func hardLists(rng *rand.Rand, count int) map[string]plan.SlotList {
	nodes := func(perf, price func(i int) float64) []*entity.Node {
		out := make([]*entity.Node, count)
		for i := range out {
			out[i] = &entity.Node{ID: i, Perf: perf(i), Price: price(i)}
		}
		return out
	}
	one := func(int) float64 { return 1 }
	up := func(i int) float64 { return float64(1 + i) }
	any := func(int) float64 { return 1 + 4*rng.Float64() }
	some := func(int, int) (int, int) { return rng.IntN(20), 5 + rng.IntN(60) }
	saw := func(i, piece int) (int, int) { return 1 + (i+piece)%7, 10 + (3*i+piece)%23 }
	whole := func(int, int) (int, int) { return 0, 300 }
	stairs := func(i, piece int) (int, int) { return min(i, 290), 300 }
	return map[string]plan.SlotList{
		"equal nodes":          listOf(nodes(one, one), 300, some),
		"equal nodes, all day": listOf(nodes(one, one), 300, whole),
		"equal costs":          listOf(nodes(up, up), 300, some),
		"equal lengths":        listOf(nodes(one, any), 300, some),
		"equal lengths, teeth": listOf(nodes(one, any), 300, saw),
		"teeth":                listOf(nodes(any, any), 300, saw),
		"ever faster":          listOf(nodes(up, func(i int) float64 { return float64(1+i) * float64(1+i) }), 300, stairs),
		"ever slower":          listOf(nodes(func(i int) float64 { return float64(count - i) }, up), 300, stairs),
		"anything":             listOf(nodes(any, any), 300, some),
	}
}

// hardRequests are requests to ask such lists for.
func hardRequests(rng *rand.Rand, nodes int) map[string]entity.Request {
	length := des.Time(10+rng.IntN(40)) * des.Second
	n := 2 + rng.IntN(5)
	return map[string]entity.Request{
		"no budget":     {Nodes: n, Length: length},
		"tiny budget":   {Nodes: n, Length: length, Budget: 1e-3},
		"tight budget":  {Nodes: n, Length: length, Budget: float64(n) * length.Seconds() * (0.5 + rng.Float64())},
		"giant":         {Nodes: nodes - rng.IntN(3), Length: length},
		"giant, budget": {Nodes: nodes/2 + 1, Length: length, Budget: float64(nodes) * length.Seconds() * rng.Float64()},
		"deadline":      {Nodes: n, Length: length, Deadline: des.Time(rng.IntN(300)) * des.Second},
	}
}

func TestSubstitutionIsThePlainOneOnHardLists(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 16))
		count := 8 + rng.IntN(40)
		lists, requests := hardLists(rng, count), hardRequests(rng, count)
		for _, listName := range slices.Sorted(maps.Keys(lists)) {
			for _, requestName := range slices.Sorted(maps.Keys(requests)) {
				list, req := lists[listName], requests[requestName]
				set := Settings{RoundCosts: float64(rng.IntN(2))}
				checkSubstitution(t, set, req, list, list.To, fmt.Sprintf("seed %d: %s, %s", seed, listName, requestName))
			}
		}
	}
}

func TestSubstitutionIsThePlainOneInMETAsEnvironment(t *testing.T) {
	for seed := range uint64(40) {
		env := vo.META61()
		env.Nodes.RealPerf = seed%2 == 0
		list := slotsOf(t, env, seed)
		for _, wealth := range []float64{0.6, 0.8, 1, 3} {
			req := metaRequest
			req.Budget *= wealth
			checkSubstitution(t, Settings{Quantum: des.Second}, req, list, list.To, "seed %d, %v", seed, wealth)
			checkSubstitution(t, Settings{}, req, list, list.To, "seed %d, %v", seed, wealth)
		}
	}
}

func TestATickLessIsABetterWindow(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1}, &entity.Node{ID: 2, Perf: 1000.0 / 999}
	list := plan.SlotList{To: 9000, Slots: []entity.Slot{{Node: slow, Width: 1, End: 9000}, {Node: fast, Width: 1, Start: 1, End: 9000}}}
	found, err := AEP{By: MinRunTime}.Find(context.Background(), entity.Request{Nodes: 1, Length: 1000}, list, list.To)
	require.NoError(t, err)
	require.Equal(t, des.Time(999), found.Window.Length())
}
