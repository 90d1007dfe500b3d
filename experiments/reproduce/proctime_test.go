package reproduce

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// The dear fast node is the cheapest, and so the best, only where the slow one
// has no room any more.
func TestTheCheapestAreFastWhereOnlyFastOnesHaveRoom(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1, Price: 1}, &entity.Node{ID: 2, Perf: 10, Price: 20}
	slot := func(n *entity.Node, from, to des.Time) entity.Slot {
		return entity.Slot{Node: n, Width: 1, Start: from * des.Second, End: to * des.Second}
	}
	list := entity.SlotList{To: 100 * des.Second, Slots: []entity.Slot{slot(slow, 0, 100), slot(fast, 0, 30), slot(fast, 90, 100)}}
	found, err := CheapestProcTime{wholeTimes}.Find(context.Background(),
		entity.Request{Nodes: 1, Length: 50 * des.Second}, list, list.To)
	require.NoError(t, err)
	require.True(t, found.OK)
	require.Equal(t, 90*des.Second, found.Window.Start)
	require.Equal(t, 5*des.Second, found.Window.ProcessorTime())
}

func TestTheCheapestAreNeverBetterThanTheExact(t *testing.T) {
	e := vo.META61()
	e.Nodes.Count = 30
	for i := range uint64(20) {
		in, err := e.Generate(9, i)
		require.NoError(t, err)
		list := in.SlotList()
		ours, err := CheapestProcTime{wholeTimes}.Find(context.Background(), vo.META61Request(), list, list.To)
		require.NoError(t, err)
		best, err := window.AEP{Settings: wholeTimes, By: window.MinProcTimeExact}.Find(context.Background(), vo.META61Request(), list, list.To)
		require.NoError(t, err)
		if !ours.OK {
			continue
		}
		require.True(t, best.OK)
		require.LessOrEqual(t, best.Window.ProcessorTime(), ours.Window.ProcessorTime())
		_, err = window.Subtract(list.Slots, &ours.Window)
		require.NoError(t, err, "it lies in the slots")
	}
}
