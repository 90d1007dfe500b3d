package scan

import (
	"cmp"
	"slices"
)

// This file remembers job numbers, to find those that are given twice.

// NumberSet is a set of numbers of 0 or more that mostly ascend:
//
//	1 2 3 4   7 8 9 10   5   11 12   8
//	|-----|   |----------|---------|
//	closed     from ... highest        late: 5; given twice: 8
//
// A number above every one before only lengthens the present stretch, or begins
// a new one behind a gap. So a log whose numbers ascend takes 16 bytes a gap, and
// the next number in turn costs one comparison.
type NumberSet struct {
	// Limit is on the stretches and late numbers that are remembered; 0 means none.
	Limit int

	closed        []stretch // the stretches before the present one, ascending
	from, highest int64     // the present stretch; its end is the highest number of all
	late          map[int64]struct{}
}

// stretch is the numbers from first to last.
type stretch struct{ first, last int64 }

// NewNumberSet is the empty set.
func NewNumberSet() NumberSet { return NumberSet{highest: -1} }

// Next adds the number if it is the highest one plus one, and reports whether it
// was.
func (s *NumberSet) Next(n int64) bool {
	if n != s.highest+1 {
		return false
	}
	s.highest = n
	return true
}

// Add adds any other number. It reports whether the number was above every one
// before and, if it was not, whether it was in the set already.
//
// Where the limit is reached the set forgets all but the present stretch. From
// then on it may miss that a number has been there before.
func (s *NumberSet) Add(n int64) (ascends, given bool) {
	if s.Limit > 0 && len(s.closed)+len(s.late) >= s.Limit {
		s.closed = s.closed[:0]
		clear(s.late)
	}
	if n > s.highest {
		s.closed = append(s.closed, stretch{s.from, s.highest})
		s.from, s.highest = n, n
		return true, false
	}
	if s.has(n) {
		return false, true
	}
	if s.late == nil {
		s.late = map[int64]struct{}{}
	}
	s.late[n] = struct{}{}
	return false, false
}

// has reports whether a number, not above the highest, is in the set.
func (s *NumberSet) has(n int64) bool {
	if n >= s.from {
		return true
	}
	// The last stretch that does not begin above n.
	i, found := slices.BinarySearchFunc(s.closed, n, func(x stretch, n int64) int { return cmp.Compare(x.first, n) })
	if !found {
		i--
	}
	if i >= 0 && n <= s.closed[i].last {
		return true
	}
	_, late := s.late[n]
	return late
}
