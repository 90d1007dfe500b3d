// Package sumtree keeps items in order together with a summary of every
// subtree, so that a search can pass over whole subtrees at a look. The views
// of a waiting queue and the gaps that lie ahead in a domain are such trees.
//
// It is a B+ tree. Small trees are one sorted array, which is what most
// queues are most of the time; large ones cost O(log n) an operation.
package sumtree

import "iter"

// Algebra says how items are ordered and summarised.
type Algebra[E, S, D any] interface {
	// Before is the strict order of the items, which it does not keep.
	Before(a, b *E) bool
	// Summarise condenses a run of items, in order; the run may be empty.
	Summarise(items []E) S
	// Join condenses the summaries of neighbouring runs, in order.
	Join(parts []S) S
	// Detail replaces d by the details of a run of items, in order. Details are a second summary,
	// which tells more than the first and costs more. The tree asks for the details of a subtree when
	// a scan has walked through the whole of it in vain, and keeps them until the subtree changes.
	Detail(d *D, items []E)
	// JoinDetails replaces d by the details of neighbouring runs, in order: parts has their
	// details, or nil where nobody has asked for these, and sums their summaries.
	JoinDetails(d *D, sums []S, parts []*D)
}

// Visitor steers a Scan.
type Visitor[E, S, D any] interface {
	// Skip is shown the summary of the next subtree, and its details where they are known,
	// otherwise nil; true passes over it.
	Skip(sum S, d *D) bool
	// Visit is shown the next run of items; false ends the scan.
	Visit(items []E) bool
}

// fanout bounds the items of a leaf and the children of an inner node.
const fanout = 32

// Tree is an ordered collection of items E with summaries S and details D. Use New.
type Tree[E, S, D any, A Algebra[E, S, D]] struct {
	alg    A
	root   *node[E, S, D]
	size   int
	parts  []S              // scratch
	leaves []*node[E, S, D] // scratch of Fill
	parted []*D             // scratch of detail
}

// node is a leaf with items, or an inner node with kids, the summary of each,
// and the first item of each.
type node[E, S, D any] struct {
	items []E
	// whole is the room for items from its beginning on, without an item, if items have been
	// removed from the front: then items begins later in it.
	whole []E
	kids  []*node[E, S, D]
	sums  []S
	first []E
	// known tells that details are those of the node: a scan has walked through the whole of it since
	// it changed.
	known   bool
	details D
}

func (n *node[E, S, D]) leaf() bool { return n.kids == nil }

// New returns an empty tree.
func New[E, S, D any, A Algebra[E, S, D]](alg A) *Tree[E, S, D, A] {
	return &Tree[E, S, D, A]{alg: alg, root: &node[E, S, D]{items: make([]E, 0, fanout)}}
}

// Len returns the number of items.
func (t *Tree[E, S, D, A]) Len() int { return t.size }

// Sum returns the summary of the whole tree.
func (t *Tree[E, S, D, A]) Sum() S { return t.summary(t.root) }

func (t *Tree[E, S, D, A]) summary(n *node[E, S, D]) S {
	if n.leaf() {
		return t.alg.Summarise(n.items)
	}
	return t.alg.Join(n.sums)
}

// Min returns the first item, or nil. It holds until the tree changes.
func (t *Tree[E, S, D, A]) Min() *E {
	n := t.root
	for !n.leaf() {
		n = n.kids[0]
	}
	if len(n.items) == 0 {
		return nil
	}
	return &n.items[0]
}

// Put adds *e, in the place of the item of the same rank if there is one. Like the other methods
// with an item it takes a pointer, and keeps none: an item that is passed by value is copied word
// by word, which a queue would notice. The Algebra sees the pointer, so a variable of the caller is
// allocated for it; a field of what the caller has anyway costs nothing.
func (t *Tree[E, S, D, A]) Put(e *E) {
	if right := t.put(t.root, e); right != nil {
		t.root = t.join(t.root, right)
	}
}

// Append is Put for an item that probably comes behind all others, as most do
// in a queue: no summary need be taken anew where it does.
func (t *Tree[E, S, D, A]) Append(e *E) {
	last := t.root
	for !last.leaf() {
		last = last.kids[len(last.kids)-1]
	}
	n := len(last.items)
	if n == fanout || (n > 0 && !t.alg.Before(&last.items[n-1], e)) {
		t.Put(e)
		return
	}
	last.push(e)
	t.size++
	if last == t.root {
		return
	}
	one := t.alg.Summarise(last.items[n:])
	for node := t.root; !node.leaf(); node = node.kids[len(node.kids)-1] {
		node.known = false
		sum := &node.sums[len(node.sums)-1]
		t.parts = append(t.parts[:0], *sum, one)
		*sum = t.alg.Join(t.parts)
	}
}

// push appends *e to the items of a leaf. Items of a queue come at the end and go at the front. If
// they have come to the end of their room, they move back to its beginning, at half the room at
// most: so it costs O(1) an item, and takes no memory.
func (n *node[E, S, D]) push(e *E) {
	n.known = false
	if len(n.items) == cap(n.items) {
		if 2*len(n.items) <= cap(n.whole) {
			n.items = append(n.whole, n.items...)
			clear(n.whole[len(n.items):cap(n.whole)])
		} else {
			n.whole = nil // append makes new room
		}
	}
	n.items = append(n.items, *e)
}

// Remove takes out the item of e's rank and reports whether there was one.
func (t *Tree[E, S, D, A]) Remove(e *E) bool {
	found := t.remove(t.root, e)
	for !t.root.leaf() && len(t.root.kids) == 1 {
		t.root = t.root.kids[0]
	}
	return found
}

func (t *Tree[E, S, D, A]) join(left, right *node[E, S, D]) *node[E, S, D] {
	n := &node[E, S, D]{}
	for i, kid := range []*node[E, S, D]{left, right} {
		t.adopt(n, i, kid)
	}
	return n
}

// adopt inserts kid as n's i-th child.
func (t *Tree[E, S, D, A]) adopt(n *node[E, S, D], i int, kid *node[E, S, D]) {
	n.kids = insert(n.kids, i, kid)
	n.sums = insert(n.sums, i, t.summary(kid))
	n.first = insert(n.first, i, kid.min())
}

func (n *node[E, S, D]) min() E {
	if n.leaf() {
		return n.items[0]
	}
	return n.first[0]
}

// refresh recomputes what n knows of its i-th child, and drops an empty one.
func (t *Tree[E, S, D, A]) refresh(n *node[E, S, D], i int) {
	kid := n.kids[i]
	if len(kid.items) == 0 && len(kid.kids) == 0 {
		n.kids = remove(n.kids, i)
		n.sums = remove(n.sums, i)
		n.first = remove(n.first, i)
		return
	}
	n.sums[i] = t.summary(kid)
	n.first[i] = kid.min()
}

// put adds e under n. A node that grew over the fan-out is split; its right
// half is returned for the parent to adopt.
func (t *Tree[E, S, D, A]) put(n *node[E, S, D], e *E) *node[E, S, D] {
	n.known = false
	if n.leaf() {
		i := t.search(n.items, e)
		if i < len(n.items) && !t.alg.Before(e, &n.items[i]) {
			n.items[i] = *e
			return nil
		}
		t.size++
		n.items = insert(n.items, i, *e)
		if len(n.items) <= fanout {
			return nil
		}
		right := &node[E, S, D]{items: make([]E, 0, fanout+1)}
		right.items = append(right.items, n.items[fanout/2:]...)
		clear(n.items[fanout/2:])
		n.items = n.items[:fanout/2]
		return right
	}
	i := t.child(n, e)
	right := t.put(n.kids[i], e)
	t.refresh(n, i)
	if right == nil {
		return nil
	}
	t.adopt(n, i+1, right)
	if len(n.kids) <= fanout {
		return nil
	}
	half := &node[E, S, D]{}
	half.kids = append(half.kids, n.kids[fanout/2:]...)
	half.sums = append(half.sums, n.sums[fanout/2:]...)
	half.first = append(half.first, n.first[fanout/2:]...)
	clear(n.kids[fanout/2:])
	n.kids, n.sums, n.first = n.kids[:fanout/2], n.sums[:fanout/2], n.first[:fanout/2]
	return half
}

func (t *Tree[E, S, D, A]) remove(n *node[E, S, D], e *E) bool {
	if n.leaf() {
		i := t.search(n.items, e)
		if i == len(n.items) || t.alg.Before(e, &n.items[i]) {
			return false
		}
		if i == 0 { // a queue is served from its head: nothing need move
			var zero E
			n.items[0] = zero
			if n.whole == nil {
				n.whole = n.items[:0]
			}
			n.items = n.items[1:]
		} else {
			n.items = remove(n.items, i)
		}
		t.size--
		n.known = false
		return true
	}
	i := t.child(n, e)
	found := t.remove(n.kids[i], e)
	if found {
		n.known = false
		t.refresh(n, i)
		t.mergeKids(n, i)
	}
	return found
}

// mergeKids keeps the tree flat as it shrinks: it joins the i-th child with a
// neighbour where both together fill at most half a node.
func (t *Tree[E, S, D, A]) mergeKids(n *node[E, S, D], i int) {
	if i+1 >= len(n.kids) {
		i--
	}
	if i < 0 || i+1 >= len(n.kids) {
		return
	}
	left, right := n.kids[i], n.kids[i+1]
	if len(left.items)+len(right.items) > fanout/2 || len(left.kids)+len(right.kids) > fanout/2 {
		return
	}
	left.items = append(left.items, right.items...)
	left.kids = append(left.kids, right.kids...)
	left.sums = append(left.sums, right.sums...)
	left.first = append(left.first, right.first...)
	left.known = false
	n.kids = remove(n.kids, i+1)
	n.sums = remove(n.sums, i+1)
	n.first = remove(n.first, i+1)
	t.refresh(n, i)
}

// search returns the first position in items that is not before e.
func (t *Tree[E, S, D, A]) search(items []E, e *E) int {
	lo, hi := 0, len(items)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if t.alg.Before(&items[mid], e) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// child returns the child of n in whose range e falls.
func (t *Tree[E, S, D, A]) child(n *node[E, S, D], e *E) int {
	lo, hi := 1, len(n.first)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if t.alg.Before(e, &n.first[mid]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo - 1
}

// All yields the items in order. The tree must not change meanwhile.
func (t *Tree[E, S, D, A]) All() iter.Seq[*E] {
	return func(yield func(*E) bool) { t.root.all(yield) }
}

// all yields the items under n; it returns false once yield does.
func (n *node[E, S, D]) all(yield func(*E) bool) bool {
	for i := range n.items {
		if !yield(&n.items[i]) {
			return false
		}
	}
	for _, kid := range n.kids {
		if !kid.all(yield) {
			return false
		}
	}
	return true
}

// Scan shows the items to v in order, subtree by subtree, passing over those
// that v skips. The tree must not change meanwhile.
func (t *Tree[E, S, D, A]) Scan(v Visitor[E, S, D]) { t.scan(t.root, v) }

// ScanAfter is Scan for the items that come after e.
func (t *Tree[E, S, D, A]) ScanAfter(e *E, v Visitor[E, S, D]) { t.scanAfter(t.root, e, v) }

func (t *Tree[E, S, D, A]) scanAfter(n *node[E, S, D], e *E, v Visitor[E, S, D]) bool {
	if n.leaf() {
		i := t.search(n.items, e)
		if i < len(n.items) && !t.alg.Before(e, &n.items[i]) {
			i++
		}
		return i == len(n.items) || v.Visit(n.items[i:])
	}
	i := t.child(n, e)
	return t.scanAfter(n.kids[i], e, v) && t.scanKids(n, i+1, v)
}

func (t *Tree[E, S, D, A]) scan(n *node[E, S, D], v Visitor[E, S, D]) bool {
	if n.leaf() {
		return len(n.items) == 0 || v.Visit(n.items)
	}
	return t.scanKids(n, 0, v)
}

// scanKids shows the items under the kids of n to v, from the i-th kid on.
func (t *Tree[E, S, D, A]) scanKids(n *node[E, S, D], i int, v Visitor[E, S, D]) bool {
	for ; i < len(n.kids); i++ {
		kid := n.kids[i]
		if v.Skip(n.sums[i], kid.knownDetails()) {
			continue
		}
		if !t.scan(kid, v) {
			return false
		}
		if !kid.known { // nothing in it was what v looks for: the next scan may see that at a look
			t.detail(kid)
		}
	}
	return true
}

// knownDetails returns the details of n, or nil where they are not known.
func (n *node[E, S, D]) knownDetails() *D {
	if n.known {
		return &n.details
	}
	return nil
}

// detail takes the details of n.
func (t *Tree[E, S, D, A]) detail(n *node[E, S, D]) {
	n.known = true
	if n.leaf() {
		t.alg.Detail(&n.details, n.items)
		return
	}
	t.parted = t.parted[:0]
	for _, kid := range n.kids {
		t.parted = append(t.parted, kid.knownDetails())
	}
	t.alg.JoinDetails(&n.details, n.sums, t.parted)
}

func insert[T any](s []T, i int, v T) []T {
	s = append(s, v)
	copy(s[i+1:], s[i:])
	s[i] = v
	return s
}

func remove[T any](s []T, i int) []T {
	copy(s[i:], s[i+1:])
	var zero T
	s[len(s)-1] = zero
	return s[:len(s)-1]
}
