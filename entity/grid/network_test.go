package grid

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

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
