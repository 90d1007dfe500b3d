package entity

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

// ear is an entity that writes down when it hears something.
type ear struct {
	endpoint
	heard []des.Time
}

func (e *ear) Handle(c *des.Context, _ des.Message) { e.heard = append(e.heard, c.Now()) }

// ears are entities of a network, by name.
func ears(sim *des.Simulator, n *Network, names ...string) []*ear {
	g := NewGrid(sim, n)
	var all []*ear
	for _, name := range names {
		e := &ear{endpoint: g.endpoint(name)}
		e.at = sim.AddEntity(name, e)
		all = append(all, e)
	}
	return all
}

func TestMessagesQueueOnTheirLinkAlone(t *testing.T) {
	sim := des.New(des.Config{})
	slow := Link{Latency: 3 * des.Second, Bandwidth: messageBytes / 2} // a message takes 2 s
	e := ears(sim, &Network{Default: Direct(), Links: map[[2]string]Link{{"b", "a"}: slow}}, "a", "b", "c")
	a, b, c := e[0], e[1], e[2]
	sim.At(10*des.Second, 0, des.Func(func(*des.Simulator, des.Event) {
		for range 3 {
			require.True(t, a.send(&b.endpoint, plain{}))
		}
		require.True(t, b.send(&a.endpoint, plain{}), "the other direction does not wait")
		require.True(t, a.send(&c.endpoint, plain{}), "nor does another pair")
	}), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []des.Time{15 * des.Second, 17 * des.Second, 19 * des.Second}, b.heard)
	require.Equal(t, []des.Time{15 * des.Second}, a.heard)
	require.Equal(t, []des.Time{10 * des.Second}, c.heard)
}

func TestLargeMessagesTakeLonger(t *testing.T) {
	require.Equal(t, messageBytes, offers{}.bytes())
	require.Equal(t, messageBytes+2*offerBytes, offers{list: make([]Offer, 2)}.bytes())
	l := Link{Bandwidth: 1000}
	require.Equal(t, des.Second/2, l.transfer(500))
	require.Equal(t, des.Tick, Link{Bandwidth: 1e12}.transfer(1), "rounded up")
	require.Equal(t, des.Forever, Link{Bandwidth: 1e-300}.transfer(1))
}

func TestNothingPassesWithoutBandwidth(t *testing.T) {
	sim := des.New(des.Config{})
	e := ears(sim, &Network{Default: Link{}}, "a", "b")
	require.False(t, e[0].send(&e[1].endpoint, plain{}))
	require.False(t, e[0].reaches(&e[1].endpoint))
	require.NoError(t, sim.Run(context.Background()))
	require.Empty(t, e[1].heard)
}

func TestLinksThatMakeNoSense(t *testing.T) {
	require.NoError(t, Direct().Check())
	for _, l := range []Link{{Latency: -1}, {Latency: des.Forever}, {Bandwidth: -1}, {Bandwidth: math.NaN()}} {
		require.Error(t, l.Check())
	}
}

// Offers are what is free, all at once, and none later than need be.
func TestOffersAreTheEarliestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 10).Draw(t, "procs")
		c := NewCluster(procs)
		want := &ticks{make([]int, 2000), procs}
		want.add(0, 2000, procs)
		now := des.Time(rapid.IntRange(0, 20).Draw(t, "now"))
		for range rapid.IntRange(0, 25).Draw(t, "taken") {
			w := Window{Start: des.Time(rapid.IntRange(0, 100).Draw(t, "start")), Nodes: rapid.IntRange(1, procs).Draw(t, "nodes")}
			w.End = w.Start + des.Time(rapid.IntRange(1, 60).Draw(t, "length"))
			if _, err := c.Reserve(&Job{}, w); err == nil {
				want.add(w.Start, w.End, -w.Nodes)
			}
		}
		c.Forget(now)
		before := slotsOf(c, now)
		nodes := rapid.IntRange(1, 3*procs).Draw(t, "tasks")
		length := des.Time(rapid.IntRange(1, 50).Draw(t, "length"))
		list := c.Offers(nil, nodes, length, now)
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

func slotsOf(c *Cluster, from des.Time) (all []Slot) {
	for s := range c.Slots(from, des.Forever) {
		all = append(all, s)
	}
	return all
}

func TestNothingIsOfferedByAClusterOfNothing(t *testing.T) {
	require.Empty(t, NewCluster(0).Offers(nil, 3, des.Second, 0))
}
