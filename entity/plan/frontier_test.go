package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func TestAShapeForgetsWhatAnotherInItsPlaceKnew(t *testing.T) {
	c := NewCluster(4)
	c.frontiers = new(frontiers)
	place := c.frontier(1, 1)
	other := des.Time(2)
	for c.frontier(1, other) != place {
		other++
	}
	c.frontier(1, 1).first = 100
	require.Zero(t, c.frontier(1, other).first)
}

func TestAShapeThatHasMissedGainsBeginsAnew(t *testing.T) {
	c := NewCluster(4)
	c.frontiers = new(frontiers)
	c.frontier(4, 10).first = 1000
	c.frontiers.gained(50, 60)
	for range recent {
		c.frontiers.gained(5000, 6000)
	}
	require.Zero(t, c.frontier(4, 10).first)
}

func TestFrontiersRestWhereTheySpareLittleAndHearOfGainsMeanwhile(t *testing.T) {
	c := NewCluster(4)
	f := new(frontiers)
	c.frontiers = f
	c.frontier(4, 10).first = 1000
	for range stretch + 1 {
		require.True(t, f.pays())
	}
	c.add(500, 600, -4)
	for i := range 15 * stretch {
		if i == 7 {
			c.add(500, 600, 4)
		}
		require.False(t, f.pays())
	}
	require.True(t, f.pays())
	require.Equal(t, des.Time(491), c.frontier(4, 10).first)

	f.looks, f.spared = stretch, stretch/2
	require.True(t, f.pays(), "half are spared for nothing")
}

func TestHighIsTheMostOfAllSlotsInASpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCluster(100)
		for range rapid.IntRange(0, 300).Draw(t, "taken") {
			start := des.Time(rapid.IntRange(0, 2000).Draw(t, "start"))
			w := entity.Window{Start: start, End: start + des.Time(rapid.IntRange(1, 200).Draw(t, "length")), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
			if ok, _, _ := c.FitsAt(w.Start, w.Nodes, w.Length()); ok {
				c.add(w.Start, w.End, -w.Nodes)
			}
		}
		from := des.Time(rapid.IntRange(0, 2500).Draw(t, "from"))
		to := from + des.Time(rapid.IntRange(0, 1000).Draw(t, "span"))
		most := 0
		for s := range c.Slots(from, to) {
			most = max(most, s.Width)
		}
		require.Equal(t, most, c.most(from, to))
	})
}
