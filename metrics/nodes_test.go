package metrics

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/entity"
)

// Comparing each node with one of every class before took 35 s for 100,000 nodes.
func TestEachNodeIsLookedAtOnceForItsClass(t *testing.T) {
	nodes := make([]entity.Node, 1000)
	for i := range nodes {
		nodes[i] = entity.Node{ID: i, Perf: float64(1 + i)}
	}
	looks := 0
	classes := classesOf(nodes, func(b []byte, n *entity.Node) []byte {
		looks++
		return appendKind(b, n)
	})
	require.Equal(t, len(nodes), looks)
	require.Equal(t, []int{1, 2, 1000}, []int{classes[0], classes[1], classes[999]})
}

func TestNodesOfAClassAreEqualButForTheirNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) int { return rapid.IntRange(0, 1).Draw(t, what) }
		nodes := make([]entity.Node, rapid.IntRange(1, 8).Draw(t, "nodes"))
		for i := range nodes {
			n := &nodes[i]
			*n = entity.Node{ID: i, Perf: float64(1 + draw("perf")), Price: float64(draw("price")), Q: float64(draw("q"))}
			n.Labels = map[string]string{"name": fmt.Sprint(i)}
			if draw("amount") == 1 {
				n.Amounts = map[string]float64{"a": float64(draw("of a"))}
			}
			for _, label := range []string{"a", "b"} {
				if draw("label") == 1 {
					n.Labels[label] = []string{"", "a"}[draw("text")]
				}
			}
		}
		plain := func(n entity.Node) entity.Node {
			labels := map[string]string{}
			for k, v := range n.Labels {
				if k != "name" {
					labels[k] = v
				}
			}
			n.Labels = labels
			return n
		}
		classes := classesOf(nodes, appendKind)
		for i := range nodes {
			for k := range nodes {
				a, b := plain(nodes[i]), plain(nodes[k])
				equal := a.Perf == b.Perf && a.Price == b.Price && a.Q == b.Q && a.Attributes.Equal(b.Attributes)
				require.Equal(t, equal, classes[i] == classes[k])
			}
		}
	})
}
