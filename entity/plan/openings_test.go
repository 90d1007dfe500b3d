package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Openings are what is free, all at once, and none later than need be.
func TestOpeningsAreTheEarliestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 10).Draw(t, "procs")
		c := NewCluster(procs)
		want := &ticks{make([]int, 2000), procs}
		want.add(0, 2000, procs)
		now := des.Time(rapid.IntRange(0, 20).Draw(t, "now"))
		for range rapid.IntRange(0, 25).Draw(t, "taken") {
			w := entity.Window{Start: des.Time(rapid.IntRange(0, 100).Draw(t, "start")), Nodes: rapid.IntRange(1, procs).Draw(t, "nodes")}
			w.End = w.Start + des.Time(rapid.IntRange(1, 60).Draw(t, "length"))
			if _, err := c.Reserve(entity.NewRun(&entity.Job{}, 0), w); err == nil {
				want.add(w.Start, w.End, -w.Nodes)
			}
		}
		c.Forget(now)
		before := slotsOf(c, now)
		nodes := rapid.IntRange(1, 3*procs).Draw(t, "tasks")
		length := des.Time(rapid.IntRange(1, 50).Draw(t, "length"))
		list := c.Openings(nil, nodes, length, now)
		require.Equal(t, before, slotsOf(c, now), "asking changes nothing")

		sum, from := 0, now
		for _, o := range list {
			start, ok := want.find(1, length, from, 1900)
			require.True(t, ok)
			require.Equal(t, start, o.Start, "the earliest that is left")
			width := procs
			for x := start; x < start+length; x++ {
				width = min(width, want.at(x))
			}
			require.Equal(t, min(width, nodes-sum), o.Nodes, "as wide as it is, or as is wanted")
			want.add(o.Start, o.Finish(), -o.Nodes)
			sum, from = sum+o.Nodes, o.Start
		}
		require.Equal(t, nodes, sum)
	})
}

func slotsOf(c *Cluster, from des.Time) (all []entity.Slot) {
	for s := range c.Slots(from, des.Forever) {
		all = append(all, s)
	}
	return all
}

func TestNothingIsOfferedByAClusterOfNothing(t *testing.T) {
	require.Empty(t, NewCluster(0).Openings(nil, 3, des.Second, 0))
}
