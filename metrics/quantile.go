package metrics

import (
	"iter"
	"math"
	"math/bits"

	"github.com/gridslot/gridslot/des"
)

// sample keeps durations for exact order statistics. A whole number of seconds takes four
// bytes, another duration eight, and zero none, so a job that did not wait costs nothing.
type sample struct {
	// zeros is the number of durations of 0, or below.
	zeros int
	whole chunks[uint32] // in seconds, in no order
	// other are the durations that whole cannot hold, in ticks.
	other    chunks[des.Time]
	greatest des.Time
}

// add adds a duration.
func (s *sample) add(t des.Time) {
	if t <= 0 {
		s.zeros++
		return
	}
	s.greatest = max(s.greatest, t)
	if seconds := t / des.Second; seconds*des.Second == t && seconds <= math.MaxUint32 {
		s.whole.add(uint32(seconds))
	} else {
		s.other.add(t)
	}
}

// len returns the number of durations.
func (s *sample) len() int { return s.zeros + s.whole.len() + s.other.len() }

// positive yields the durations above 0.
func (s *sample) positive() iter.Seq[des.Time] {
	return func(yield func(des.Time) bool) {
		for t := range s.whole.all {
			if !yield(des.Time(t) * des.Second) {
				return
			}
		}
		s.other.all(yield)
	}
}

// quantile returns the quantile num/den in time units, by linear interpolation between order
// statistics: with h = (n-1) num/den it is x[floor h] + (h - floor h) (x[floor h + 1] - x[floor
// h]) (definition 7 of Hyndman and Fan, 1996). It is 0 of an empty sample. It costs O(n).
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

// order returns the k-th smallest duration, from 0, by radix selection: it finds one digit after
// another, the highest first. Among the durations with the digits that are known it counts how
// many have each next digit. There is no copy, and nothing is sorted.
func (s *sample) order(k int) des.Time {
	if k < s.zeros {
		return 0
	}
	k -= s.zeros
	const width = 12 // of a digit, in bits
	var known des.Time
	for digits := (bits.Len64(uint64(s.greatest)) + width - 1) / width; digits > 0; digits-- {
		var counts [1 << width]int
		shift := width * (digits - 1)
		for t := range s.positive() {
			if t >>= shift; t>>width == known {
				counts[t&(1<<width-1)]++
			}
		}
		next := 0
		for ; k >= counts[next]; next++ {
			k -= counts[next]
		}
		known = known<<width | des.Time(next)
	}
	return known
}

// chunkLength is the number of values in each chunk but the last.
const chunkLength = 1 << 13

// chunks is a list that is not copied when it grows: a copy would stay in memory until the
// garbage is collected.
type chunks[T any] [][]T

// add appends a value. The first chunk grows as a slice does: most samples are small.
func (c *chunks[T]) add(v T) {
	last := len(*c) - 1
	switch {
	case last < 0:
		*c, last = append(*c, nil), 0
	case len((*c)[last]) == chunkLength:
		*c, last = append(*c, make([]T, 0, chunkLength)), last+1
	}
	(*c)[last] = append((*c)[last], v)
}

// len returns the number of values.
func (c chunks[T]) len() int {
	if len(c) == 0 {
		return 0
	}
	return (len(c)-1)*chunkLength + len(c[len(c)-1])
}

// all yields the values in the order in which they came.
func (c chunks[T]) all(yield func(T) bool) {
	for _, chunk := range c {
		for _, v := range chunk {
			if !yield(v) {
				return
			}
		}
	}
}
