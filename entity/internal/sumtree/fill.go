package sumtree

// Fill replaces all items of the tree by these, which must be in order. It costs O(n) for n items.
// Old leaves are used again: a tree that is often filled with about as many items allocates hardly
// any memory.
func (t *Tree[E, S, D, A]) Fill(items []E) {
	level := leaves(t.root, t.leaves[:0])
	for len(level)*fanout < len(items) {
		level = append(level, &node[E, S, D]{items: make([]E, 0, fanout)})
	}
	clear(level[max(1, shares(len(items))):])
	level = level[:max(1, shares(len(items)))]
	for i, leaf := range level {
		leaf.refill(share(items, i, len(level)))
	}
	t.leaves, t.size = level, len(items)
	for len(level) > 1 {
		above := make([]*node[E, S, D], shares(len(level)))
		for i := range above {
			above[i] = t.above(share(level, i, len(above)))
		}
		level = above
	}
	t.root = level[0]
}

// shares returns the number of nodes that n items or kids need, and share the i-th of count parts of
// nearly equal size.
func shares(n int) int                       { return (n + fanout - 1) / fanout }
func share[T any](all []T, i, count int) []T { return all[len(all)*i/count : len(all)*(i+1)/count] }

// leaves appends the leaves under n to list, in order.
func leaves[E, S, D any](n *node[E, S, D], list []*node[E, S, D]) []*node[E, S, D] {
	if n.leaf() {
		return append(list, n)
	}
	for _, kid := range n.kids {
		list = leaves(kid, list)
	}
	return list
}

// refill replaces the items of the leaf n.
func (n *node[E, S, D]) refill(items []E) {
	held := n.items
	n.known = false
	n.items = append(held[:0], items...)
	if len(held) > len(items) {
		clear(held[len(items):])
	}
}

// above returns a node with these kids.
func (t *Tree[E, S, D, A]) above(kids []*node[E, S, D]) *node[E, S, D] {
	n := &node[E, S, D]{kids: make([]*node[E, S, D], len(kids)), sums: make([]S, len(kids)), first: make([]E, len(kids))}
	for i, kid := range kids {
		n.kids[i], n.sums[i], n.first[i] = kid, t.summary(kid), kid.min()
	}
	return n
}
