package slurm

import (
	"math/bits"
	"slices"
)

// nodeSet is a set of nodes by their positions in Config.Nodes, one bit each. All sets of a controller have the
// same length, on which the methods rely; bits beyond the last node are 0. A set shares its words when it is
// assigned: clone copies it.
type nodeSet []uint64

func newNodeSet(nodes int) nodeSet { return make(nodeSet, (nodes+63)/64) }

// allNodes returns the set of all nodes of a machine with that number of nodes.
func allNodes(nodes int) nodeSet {
	all := newNodeSet(nodes)
	for i := range nodes {
		all.add(i)
	}
	return all
}

func (s nodeSet) add(i int)  { s[uint(i)/64] |= 1 << (uint(i) % 64) }
func (s nodeSet) drop(i int) { s[uint(i)/64] &^= 1 << (uint(i) % 64) }

func (s nodeSet) has(i int) bool { return s[uint(i)/64]&(1<<(uint(i)%64)) != 0 }

// hasAll reports whether all of the positions are in the set.
func (s nodeSet) hasAll(positions []int) bool {
	return !slices.ContainsFunc(positions, func(n int) bool { return !s.has(n) })
}

func (s nodeSet) clone() nodeSet { return append(nodeSet(nil), s...) }

// intersect leaves in s what is in other, too.
func (s nodeSet) intersect(other nodeSet) {
	other = other[:len(s)] // spares the check of bounds in each step
	for i := range s {
		s[i] &= other[i]
	}
}

func (s nodeSet) remove(other nodeSet) {
	for i, word := range other {
		s[i] &^= word
	}
}

func (s nodeSet) unite(other nodeSet) {
	for i, word := range other {
		s[i] |= word
	}
}

func (s nodeSet) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// countIn is the number of nodes of s that are in other.
func (s nodeSet) countIn(other nodeSet) int {
	n := 0
	for i, word := range other {
		n += bits.OnesCount64(s[i] & word)
	}
	return n
}

func (s nodeSet) empty() bool {
	for _, word := range s {
		if word != 0 {
			return false
		}
	}
	return true
}

// words returns the range of words outside which all are 0: from first to last-1. Both are 0 if the set is empty.
func (s nodeSet) words() (first, last int) {
	for last = len(s); last > 0 && s[last-1] == 0; last-- {
	}
	for ; first < last && s[first] == 0; first++ {
	}
	return first, last
}

func (s nodeSet) meets(other nodeSet) bool {
	other = other[:len(s)]
	for i := range s {
		if s[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

func (s nodeSet) equal(other nodeSet) bool {
	other = other[:len(s)]
	for i := range s {
		if s[i] != other[i] {
			return false
		}
	}
	return true
}

// sum is a hash of the set: equal sets have equal sums, and other sets of one length seldom have. Each word is mixed in by a
// multiplication with 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4), whose high bits are
// folded into the low ones.
func (s nodeSet) sum() (h uint64) {
	for _, word := range s {
		h = (h ^ word) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
}

// within reports whether all of s is in other.
func (s nodeSet) within(other nodeSet) bool {
	for i, word := range s {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

// all yields the positions of the nodes, ascending.
func (s nodeSet) all(yield func(int) bool) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// spareSets lends sets of nodes, so that those needed for a moment only are not allocated each time. A borrower
// marks how many are lent before it borrows, and gives back all that were lent since, like a stack:
//
//	defer s.back(s.mark())
type spareSets struct {
	nodes int       // of the machine
	all   []nodeSet // the sets made so far
	lent  int       // the first lent of all are in use
}

func (s *spareSets) mark() int { return s.lent }

// back takes back all sets that were lent since the mark. Their borrowers must not use them afterwards.
func (s *spareSets) back(mark int) { s.lent = mark }

// clone lends a copy of a set.
func (s *spareSets) clone(of nodeSet) nodeSet {
	if s.lent == len(s.all) {
		s.all = append(s.all, newNodeSet(s.nodes))
	}
	s.lent++
	copy(s.all[s.lent-1], of)
	return s.all[s.lent-1]
}
