package window

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// labelled is a drawn list of slots on nodes of some domains.
func labelled(t *rapid.T) plan.SlotList {
	draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
	list := plan.SlotList{To: 200 * des.Second}
	at := des.Time(0)
	for id := range draw(0, 12, "slots") {
		at += des.Time(draw(0, 8, "gap")) * des.Second
		n := &entity.Node{ID: id + 1, Perf: float64(draw(1, 4, "performance")), Price: float64(draw(0, 5, "price")), Q: float64(draw(0, 9, "q"))}
		n.Labels = map[string]string{"domain": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "domain")}
		list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, Start: at, End: at + des.Time(draw(1, 80, "length"))*des.Second})
	}
	return list
}

// gapped finds the first slot of a list, with the node's q as the window's value and the
// node's price as the gap.
type gapped struct{ plan.Finder }

func (gapped) Find(_ context.Context, _ entity.Request, list plan.SlotList, _ des.Time) (plan.Found, error) {
	n := list.Slots[0].Node
	w := entity.Window{Nodes: 1, Tasks: []entity.Task{{Node: n}}, Value: n.Q}
	return plan.Found{OK: true, Window: w, Gap: n.Price}, nil
}

func (gapped) Traits(*entity.Request) plan.Traits { return plan.Traits{Sign: 1} }

// A part that was searched in full does not hide that another was not: its windows may be
// better by that part's gap.
func TestWithinLeavesTheGreatestGapOfTheParts(t *testing.T) {
	slot := func(domain string, q, gap float64) entity.Slot {
		n := &entity.Node{Q: q, Price: gap}
		n.Labels = map[string]string{"domain": domain}
		return entity.Slot{Node: n}
	}
	for _, list := range [][]entity.Slot{
		{slot("a", 3, 0), slot("b", 2, 5)},
		{slot("a", 2, 5), slot("b", 3, 0)},
		{slot("a", 3, 1), slot("b", 2, 5), slot("c", 1, 4)},
	} {
		got, err := Within{gapped{Best{}}, "domain"}.Find(context.Background(), entity.Request{}, plan.SlotList{Slots: list}, 0)
		require.NoError(t, err)
		require.Equal(t, []float64{3, 5}, []float64{got.Window.Value, got.Gap})
	}
}

// What a search finds within domains is the best of what it finds in each, and
// never spans two.
func TestWithinIsTheBestOfTheParts(t *testing.T) {
	ctx := context.Background()
	finders := []plan.Finder{AMP{}, ALP{}, AEP{By: MinCost}, AEP{By: MinFinish}, CSA{By: MinCost}, Cheapest{Goal: LeastTime}, Best{By: Q{}}, Best{By: DEP{}}, Best{By: COORD{}}, Cheapest{Goal: MostWorth, By: COORD{}}}
	// Less is better for all but those that add up a worth.
	most := map[plan.Finder]bool{Best{By: Q{}}: true, Best{By: DEP{}}: true}
	rapid.Check(t, func(t *rapid.T) {
		list := labelled(t)
		req := entity.Request{Nodes: rapid.IntRange(1, 3).Draw(t, "n"), Length: 40 * des.Second, Budget: float64(rapid.IntRange(0, 300).Draw(t, "budget"))}
		f := rapid.SampledFrom(finders).Draw(t, "finder")
		got, err := Within{f, "domain"}.Find(ctx, req, list, list.To)
		require.NoError(t, err)
		best, any := 0.0, false
		for _, domain := range []string{"a", "b", "c"} {
			part := plan.SlotList{From: list.From, To: list.To}
			for _, s := range list.Slots {
				if s.Node.Labels["domain"] == domain {
					part.Slots = append(part.Slots, s)
				}
			}
			found, err := f.Find(ctx, req, part, list.To)
			require.NoError(t, err)
			if v := found.Window.Value; found.OK && (!any || most[f] && v > best || !most[f] && v < best) {
				best, any = v, true
			}
		}
		require.Equal(t, any, got.OK)
		if !any {
			return
		}
		require.Equal(t, best, got.Window.Value, "%s", f.Name())
		for _, task := range got.Window.Tasks {
			require.Equal(t, got.Window.Tasks[0].Node.Labels, task.Node.Labels)
		}
	})
}

func TestWithinWantsNodes(t *testing.T) {
	_, err := Within{AMP{}, "domain"}.Find(context.Background(), entity.Request{Nodes: 1, Length: 1}, plan.SlotList{To: 9, Slots: []entity.Slot{{End: 9}}}, 9)
	require.ErrorContains(t, err, "a slot has no node, whose domain could be asked for")
}

func TestCompareKnowsWhichWayACriterionGoes(t *testing.T) {
	named := []entity.Task{{Node: &entity.Node{ID: 1, Perf: 1}}}
	less, more := &entity.Window{Value: 1, Tasks: named}, &entity.Window{Value: 2, Tasks: named}
	for f, want := range map[entity.Criterion]int{
		AMP{}: -1, AEP{By: MinCost}: -1, CSA{By: MinFinish}: -1, Cheapest{Goal: LeastEnd}: -1,
		Cheapest{Goal: MostWorth, By: Q{}}: 1, Best{By: DEP{}}: 1, MultipleBest{By: Q{}}: 1, KnapsackDP{By: DEP{}}: 1,
		Best{By: COORD{}}: -1, MultipleBest{By: COORD{}}: -1, Within{Best{By: COORD{}}, "domain"}: -1, Within{Best{By: Q{}}, "domain"}: 1,
		unknown{}: 0, nil: 0,
	} {
		require.Equal(t, want, plan.Compare(f, less, more), "%v", f)
		require.Equal(t, -want, plan.Compare(f, more, less), "%v", f)
		require.Zero(t, plan.Compare(f, less, nil))
	}
}

type unknown struct{}

func (unknown) Name() string { return "unknown" }
