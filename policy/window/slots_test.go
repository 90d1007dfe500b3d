package window

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSubtractKeepsWhatIsLeftInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 20)))
		found, err := Cheapest{Settings: set}.Find(context.Background(), req, list, until)
		if err != nil || !found.OK {
			return
		}
		w := &found.Window
		free := func(slots []entity.Slot, n *entity.Node, at des.Time) bool {
			for _, s := range slots {
				if s.Node == n && s.Start <= at && at < s.End {
					return true
				}
			}
			return false
		}
		before := append([]entity.Slot(nil), list.Slots...)
		after, err := Subtract(append([]entity.Slot(nil), before...), w)
		require.NoError(t, err)
		require.NoError(t, CheckSlots(plan.SlotList{To: list.To, Slots: after}))
		for _, s := range before {
			for at := des.Time(0); at < list.To; at += des.Second / 2 {
				cut := false
				for _, task := range w.Tasks {
					cut = cut || (task.Node == s.Node && w.Start <= at && at < task.End)
				}
				require.Equal(t, free(before, s.Node, at) && !cut, free(after, s.Node, at))
			}
		}
		for _, s := range after {
			require.Less(t, s.Start, s.End, "empty remainders are dropped")
		}
	})
}

func TestSubtractRefusesWhatIsNotThere(t *testing.T) {
	n := &entity.Node{ID: 1, Perf: 1}
	slots := []entity.Slot{{Node: n, Width: 1, Start: 10, End: 20}}
	w := entity.Window{Start: 5, End: 15, Nodes: 1, Tasks: []entity.Task{{Node: n, End: 15}}}
	after, err := Subtract(slots, &w)
	require.ErrorContains(t, err, "does not lie in the slot list")
	require.Equal(t, []entity.Slot{{Node: n, Width: 1, Start: 10, End: 20}}, after)
}

func TestEverySearchNamesBadInput(t *testing.T) {
	node := &entity.Node{ID: 1, Perf: 1, Price: 1}
	list := func(slots ...entity.Slot) plan.SlotList { return plan.SlotList{To: 100, Slots: slots} }
	ok := list(entity.Slot{Node: node, Width: 1, Start: 0, End: 50})
	one := entity.Request{Nodes: 1, Length: 1, Budget: 5}
	cases := []struct {
		req  entity.Request
		list plan.SlotList
		set  Settings
	}{
		{req: entity.Request{Length: 1}, list: ok},
		{req: entity.Request{Nodes: 1, Length: 1, Budget: math.Inf(1)}, list: ok},
		{req: entity.Request{Nodes: 1, Length: 1, Budget: math.NaN()}, list: ok},
		{req: entity.Request{Nodes: 1, Length: 1, Budget: -1}, list: ok},
		{req: one, list: list(entity.Slot{Node: &entity.Node{Perf: 1, Price: math.NaN()}, End: 50})},
		{req: one, list: list(entity.Slot{End: 50})},
		{req: one, list: list(entity.Slot{Node: node, Start: 50, End: 40})},
		{req: one, list: list(entity.Slot{Node: node, Start: 50, End: 60}, entity.Slot{Node: node, Start: 0, End: 40})},
		{req: one, list: ok, set: Settings{RoundCosts: math.NaN()}},
		{req: one, list: ok, set: Settings{Quantum: -1}},
	}
	for _, kind := range []Kind{Rough, Square} {
		for _, name := range Names(kind) {
			for i, c := range cases {
				f, err := ByName(kind, name, c.set)
				require.NoError(t, err)
				require.Equal(t, name, f.Name())
				_, err = f.Find(context.Background(), c.req, c.list, des.Forever)
				var bad *plan.BadInputError
				require.ErrorAs(t, err, &bad, "%s, case %d", name, i)
			}
		}
	}
}

func TestSearchesStopWithTheirContext(t *testing.T) {
	_, req, list, _ := smallProblem(rand.New(rand.NewPCG(1, 1)))
	req.Budget = 100
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, kind := range []Kind{Rough, Square} {
		for _, name := range Names(kind) {
			f, err := ByName(kind, name, Settings{})
			require.NoError(t, err)
			_, err = f.Find(ctx, req, list, des.Forever)
			require.ErrorIs(t, err, context.Canceled, name)
		}
	}
}

func TestWhatHasBeenCheckedIsNotCheckedAgain(t *testing.T) {
	n := &entity.Node{ID: 1, Perf: 1}
	list := plan.SlotList{To: 100, Slots: []entity.Slot{{Node: n, Start: 50, End: 90}, {Node: n, Start: 10, End: 40}}}
	req := entity.Request{Nodes: 1, Length: 10}
	_, err := Checked(list)
	require.ErrorContains(t, err, "not in order")
	_, err = AMP{}.Find(context.Background(), req, list, list.To)
	require.ErrorContains(t, err, "not in order")
	list.Checked = true
	found, err := AMP{}.Find(context.Background(), req, list, list.To)
	require.NoError(t, err)
	require.Equal(t, des.Time(50), found.Window.Start)
}
