package sumtree

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The test's items are keyed amounts that add up.
type amount struct{ key, n int }

type total struct{ count, sum, last int }

type amounts struct{}

func (amounts) Before(a, b *amount) bool { return a.key < b.key }

func (amounts) Summarise(items []amount) total {
	var t total
	for _, a := range items {
		t.count++
		t.sum += a.n
		t.last = a.key
	}
	return t
}

func (amounts) Join(parts []total) total {
	var t total
	for _, p := range parts {
		t.count += p.count
		t.sum += p.sum
		if p.count > 0 {
			t.last = p.last
		}
	}
	return t
}

// Details are the items themselves, as far as they are known.
type detail struct {
	items   []amount
	unknown int // items of parts without details
}

func (amounts) Detail(d *detail, items []amount) {
	d.items, d.unknown = append(d.items[:0], items...), 0
}

func (amounts) JoinDetails(d *detail, sums []total, parts []*detail) {
	d.items, d.unknown = d.items[:0], 0
	for i, p := range parts {
		if p == nil {
			d.unknown += sums[i].count
			continue
		}
		d.items, d.unknown = append(d.items, p.items...), d.unknown+p.unknown
	}
}

func newTree() *Tree[amount, total, detail, amounts] { return New[amount, total, detail](amounts{}) }

// checkDetails fails where a node keeps details which are not those of its items. It returns the
// items under n and the number of nodes that keep details.
func checkDetails(t require.TestingT, n *node[amount, total, detail]) (under []amount, known int) {
	under = append(under, n.items...)
	for _, kid := range n.kids {
		items, k := checkDetails(t, kid)
		under, known = append(under, items...), known+k
	}
	if n.known {
		known++
		require.Equal(t, len(under), len(n.details.items)+n.details.unknown)
		if n.details.unknown == 0 {
			require.Equal(t, under, append([]amount(nil), n.details.items...))
		}
	}
	return under, known
}

// model is the tree's meaning: a sorted slice.
type model []amount

func (m model) find(key int) (int, bool) {
	return slices.BinarySearchFunc(m, key, func(a amount, key int) int { return a.key - key })
}

func (m *model) put(a amount) {
	i, found := m.find(a.key)
	if !found {
		*m = slices.Insert(*m, i, a)
	}
	(*m)[i] = a
}

// collector takes every item, passing over subtrees that skip is for.
type collector struct {
	items   []amount
	skipped total
	skip    func(total) bool
	only    int // if above 0, the one key that is looked for
}

func (c *collector) Skip(t total, d *detail) bool {
	if c.only > 0 {
		return d != nil && d.unknown == 0 && !slices.ContainsFunc(d.items, func(a amount) bool { return a.key == c.only })
	}
	if c.skip == nil || !c.skip(t) {
		return false
	}
	c.skipped = amounts{}.Join([]total{c.skipped, t})
	return true
}

func (c *collector) Visit(items []amount) bool {
	c.items = append(c.items, items...)
	return true
}

// drawModel draws what a tree may be filled with.
func drawModel(t *rapid.T) model {
	n := rapid.SampledFrom([]int{0, 1, fanout, fanout + 1, 3*fanout + 5, fanout*fanout + 1, 5000}).Draw(t, "items")
	m := make(model, n)
	for i := range m {
		m[i] = amount{2*i + 1, i%3 + 1}
	}
	return m
}

func TestTreeIsASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, want := newTree(), model{}
		keys := rapid.IntRange(0, rapid.SampledFrom([]int{10, 100, 3000}).Draw(t, "range"))
		steps := rapid.IntRange(1, 3000).Draw(t, "steps")
		growing := true
		for range steps {
			if rapid.IntRange(0, 400).Draw(t, "turn") == 0 {
				growing = !growing
			}
			if rapid.IntRange(0, 500).Draw(t, "fill") == 0 {
				want = drawModel(t)
				tree.Fill(want)
			}
			if rapid.IntRange(0, 20).Draw(t, "scan") == 0 { // details are kept from here on
				tree.Scan(&collector{})
			}
			key := keys.Draw(t, "key")
			if growing == (rapid.IntRange(0, 3).Draw(t, "op") > 0) {
				a := amount{key, rapid.IntRange(1, 5).Draw(t, "n")}
				if rapid.Bool().Draw(t, "append") {
					tree.Append(&a)
				} else {
					tree.Put(&a)
				}
				want.put(a)
			} else {
				i, found := want.find(key)
				require.Equal(t, found, tree.Remove(&amount{key: key}))
				if found {
					want = slices.Delete(want, i, i+1)
				}
			}
		}
		require.Equal(t, len(want), tree.Len())
		checkDetails(t, tree.root)
		var all collector
		tree.Scan(&all)
		require.Equal(t, []amount(want), append([]amount{}, all.items...))
		require.Equal(t, amounts{}.Summarise(want), tree.Sum())

		some, stop := []amount{}, rapid.IntRange(0, len(want)).Draw(t, "stop")
		for a := range tree.All() {
			if len(some) == stop {
				break
			}
			some = append(some, *a)
		}
		require.Equal(t, []amount(want[:stop]), some)

		key := keys.Draw(t, "probe")
		i, found := want.find(key)
		if found {
			i++
		}
		var rest collector
		tree.ScanAfter(&amount{key: key}, &rest)
		require.Equal(t, []amount(want[i:]), append([]amount{}, rest.items...))

		first := tree.Min()
		require.Equal(t, len(want) > 0, first != nil)
		if first != nil {
			require.Equal(t, want[0], *first)
		}
	})
}

func TestAFilledTreeIsFlatAndTakesNoMemoryAnew(t *testing.T) {
	items := make(model, 1000)
	for i := range items {
		items[i] = amount{i, 1}
	}
	tree := newTree()
	tree.Fill(items)
	require.Len(t, tree.root.kids, 32)
	for _, leaf := range tree.root.kids {
		require.True(t, leaf.leaf())
		require.GreaterOrEqual(t, len(leaf.items), fanout/2)
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { tree.Fill(items) }), 6.0, "the leaves serve again")
	tree.Fill(items[:1])
	require.True(t, tree.root.leaf())
	require.Zero(t, tree.root.items[:2][1], "what it held is let go")
}

func TestScanSkipsWholeSubtrees(t *testing.T) {
	tree := newTree()
	for key := range 10_000 {
		tree.Put(&amount{key, 1})
	}
	c := collector{skip: func(t total) bool { return t.last < 9_990 }}
	tree.Scan(&c)
	require.Less(t, len(c.items), 200, "only the last leaves are looked into")
	require.Equal(t, 10_000, len(c.items)+c.skipped.count, "nothing is both skipped and shown, or neither")
}

// The first scan that finds nothing in a subtree has its details kept; the next one passes over the
// subtree by them, until the subtree changes.
func TestAWalkInVainIsNotWalkedAgain(t *testing.T) {
	tree := newTree()
	for key := range 10_000 {
		tree.Put(&amount{2 * key, 1})
	}
	look := func() int {
		c := collector{only: 7} // no such key
		tree.Scan(&c)
		return len(c.items)
	}
	require.Equal(t, 10_000, look())
	_, known := checkDetails(t, tree.root)
	require.Greater(t, known, 10_000/fanout)
	require.Zero(t, look())

	for _, change := range []func(){
		func() { tree.Put(&amount{5001, 1}) },
		func() { tree.Remove(&amount{key: 9000}) },
		func() { tree.Append(&amount{key: 30_000}) },
		func() { tree.Append(&amount{key: 30_001}) },
	} {
		change()
		looked := look()
		require.Positive(t, looked)
		require.LessOrEqual(t, looked, fanout+1, "the leaf that changed, or the halves of it")
		require.Zero(t, look())
	}
	tree.Put(&amount{7, 1})
	require.NotZero(t, look(), "what is looked for has come")
	tree.Fill(make(model, 100))
	_, known = checkDetails(t, tree.root)
	require.Zero(t, known, "leaves that serve again have forgotten")
}

// The last leaf is joined with the one before it, whose details are then those of fewer items.
func TestLeavesThatAreJoinedLoseTheirDetails(t *testing.T) {
	tree := newTree()
	for key := range 500 {
		tree.Put(&amount{key, 1})
	}
	for key := 0; key < 500; key += 2 {
		tree.Remove(&amount{key: key})
	}
	for key := 499; key > 100; key -= 2 {
		tree.Scan(&collector{})
		tree.Remove(&amount{key: key})
		checkDetails(t, tree.root)
	}
}

func TestTreeStaysFlatAsItShrinks(t *testing.T) {
	tree := newTree()
	for key := range 100_000 {
		tree.Put(&amount{key, 1})
	}
	for key := range 99_990 {
		tree.Remove(&amount{key: key})
	}
	require.True(t, tree.root.leaf() || len(tree.root.kids) <= 2)
}

// A queue gets items at its end and gives them away at its front: its leaf moves them back in its
// room time and again, keeps all of them, and takes no memory for that.
func TestAQueueKeepsItsRoom(t *testing.T) {
	for _, length := range []int{0, 1, 5, fanout - 1} {
		tree, key := newTree(), 0
		item := &amount{}
		come := func() {
			*item = amount{key, key % 7}
			key++
			tree.Append(item)
		}
		for range length {
			come()
		}
		taken := testing.AllocsPerRun(10, func() {
			for range 10 * fanout {
				come()
				*item = *tree.Min()
				if item.key != key-length-1 || item.n != item.key%7 || !tree.Remove(item) {
					t.Fatalf("%d items, %d came: %v is first", length, key, *item)
				}
			}
		})
		require.Zero(t, taken, "%d items", length)
		require.Equal(t, length, tree.Len())
	}
}
