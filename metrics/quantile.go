package metrics

import (
	"math/bits"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// sample keeps durations for exact order statistics: eight bytes for each that
// is not zero, so a job that did not wait costs nothing.
type sample struct {
	zeros    int
	positive []des.Time // in no order
	greatest des.Time
}

func (s *sample) add(t des.Time) {
	if t <= 0 {
		s.zeros++
		return
	}
	s.positive = append(s.positive, t)
	s.greatest = max(s.greatest, t)
}

func (s *sample) len() int { return s.zeros + len(s.positive) }

// quantile is the quantile num/den in time units, by linear interpolation
// between order statistics; 0 of an empty sample. It costs O(n) and reorders
// the sample.
func (s *sample) quantile(num, den int) float64 {
	n := s.len()
	if n == 0 {
		return 0
	}
	position := uint64(n-1) * uint64(num)
	k, rest := int(position/uint64(den)), position%uint64(den)
	below := s.order(k)
	if rest == 0 {
		return below.Seconds()
	}
	above := s.order(k + 1)
	return below.Seconds() + float64((above-below).Seconds()*(float64(rest)/float64(den)))
}

// order is the k-th smallest, from 0.
func (s *sample) order(k int) des.Time {
	if k < s.zeros {
		return 0
	}
	return selectKth(s.positive, k-s.zeros)
}

// selectKth returns the k-th smallest of x (Hoare's FIND with the median of
// three; sorts where the choice of pivots keeps failing).
func selectKth(x []des.Time, k int) des.Time {
	for tries := 2 * bits.Len(uint(len(x))); len(x) > 16; tries-- {
		if tries == 0 {
			break
		}
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch { // x[:j+1] <= pivot, x[j+1:i] == pivot, x[i:] >= pivot
		case k <= j:
			x = x[:j+1]
		case k < i:
			return pivot
		default:
			x, k = x[i:], k-i
		}
	}
	slices.Sort(x)
	return x[k]
}
