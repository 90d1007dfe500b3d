package window

import (
	"context"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// A caller may have nodes that nobody has checked; the price of a checked one is bounded.
func TestFirstFitPassesOverNodesWhoseCostIsBeyondNumbers(t *testing.T) {
	for _, price := range []float64{1e308, 1e307} {
		var list plan.SlotList
		list.To = 1_000_000 * des.Second
		for id, price := range []float64{price, 1, price, 2} {
			list.Slots = append(list.Slots, entity.Slot{Node: &entity.Node{ID: id, Perf: 1, Price: price}, Width: 1, End: list.To})
		}
		p := newFirstFit(Settings{}, entity.Request{Nodes: 2, Length: 900_000 * des.Second}, list.To)
		supply, err := newSupply(list, p.least)
		require.NoError(t, err)
		p.on(supply)
		found, err := p.next(context.Background())
		require.NoError(t, err)
		require.True(t, found.OK)
		require.Len(t, found.Window.Tasks, 2)
		for _, task := range found.Window.Tasks {
			require.Less(t, task.Node.Price, 3.0)
		}
	}
}

// The quantum makes a task cost more than its work alone, and costs in steps this small are
// beyond numbers though the work's are not. A budget in such steps is beyond numbers, too.
func TestFirstFitPassesOverTasksWhoseCostIsBeyondNumbers(t *testing.T) {
	var list plan.SlotList
	list.To = 10_000 * des.Second
	for id, price := range []float64{1, 1, 1e-6, 1e-6} {
		list.Slots = append(list.Slots, entity.Slot{Node: &entity.Node{ID: id, Perf: 1, Price: price}, Width: 1, End: list.To})
	}
	set := Settings{Quantum: 3600 * des.Second, RoundCosts: 1e-308}
	p := newFirstFit(set, entity.Request{Nodes: 2, Length: des.Second, Budget: 10}, list.To)
	supply, err := newSupply(list, p.least)
	require.NoError(t, err)
	p.on(supply)
	found, err := p.next(context.Background())
	require.NoError(t, err)
	require.True(t, found.OK)
	for _, task := range found.Window.Tasks {
		require.Equal(t, 1e-6, task.Node.Price)
	}
}
