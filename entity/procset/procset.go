// Package procset keeps sets of processors by number: which of the equal
// processors of a counted plan are free, and which a job has.
//
//	free := procset.New(8)
//	ranges, err := free.Allocate(3, nil)   // 0-2
//	fmt.Printf("%s", procset.Append(nil, ranges))
//
// An entity.Placer chooses from a Set which processors a job gets.
package procset

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/internal/decimal"
)

// Range is the processors First to Last, both included.
type Range struct{ First, Last int32 }

// Set is the set of free processors among the processors 0 to n-1. The cost of a call grows with
// the ranges that it takes or returns, not with n.
type Set struct {
	// words has a bit for each processor, set if it is free. Bits behind the last processor are
	// never set.
	words []uint64
	// some has a bit for each word, set if the word has a free processor: Allocate finds the
	// lowest one without looking at all words. Invariant: a bit is set if and only if its word is
	// not 0.
	some []uint64
	size int
	// available is the number of bits that are set in words.
	available int
}

// New returns n free processors.
func New(n int) *Set {
	p := taken(n)
	if n > 0 {
		p.put(Range{0, int32(n - 1)})
		p.available = n
	}
	return p
}

// Of returns a set of n processors of which exactly the processors of ranges are free.
func Of(n int, ranges []Range) (*Set, error) {
	p := taken(n)
	return p, p.Free(ranges)
}

// taken returns n processors of which none is free.
func taken(n int) *Set {
	p := &Set{size: max(n, 0)}
	p.words = make([]uint64, (p.size+63)/64)
	p.some = make([]uint64, (len(p.words)+63)/64)
	return p
}

// Available counts the free processors.
func (p *Set) Available() int { return p.available }

// Allocate takes the n lowest free processors and appends them to ranges, ascending, in as few
// ranges as possible. If fewer are free, it changes nothing and returns an error. Ranges that were
// there before are not joined with new ones.
func (p *Set) Allocate(n int, ranges []Range) ([]Range, error) {
	if n < 0 || n > p.available {
		return ranges, fmt.Errorf("%d processors wanted, %d of %d are free", n, p.available, p.size)
	}
	p.available -= n
	old := len(ranges)
	// The lowest run of free bits of the lowest word, again and again. take is the length of the
	// run, or what is still wanted; runs that meet at the edge of a word become one range.
	for s := 0; n > 0; s++ {
		for n > 0 && p.some[s] != 0 {
			w := s*64 + bits.TrailingZeros64(p.some[s])
			word := p.words[w]
			for n > 0 && word != 0 {
				low := bits.TrailingZeros64(word)
				take := min(n, bits.TrailingZeros64(^(word >> low)))
				word &^= mask(low, take)
				n -= take
				first := int32(w*64 + low)
				last := first + int32(take) - 1
				if k := len(ranges); k > old && ranges[k-1].Last+1 == first {
					ranges[k-1].Last = last
				} else {
					ranges = append(ranges, Range{first, last})
				}
			}
			p.words[w] = word
			if word == 0 {
				p.some[s] &^= 1 << (w % 64)
			}
		}
	}
	return ranges, nil
}

// Ranges yields the free processors, ascending, in ranges that are as long as possible. The set
// must not be changed meanwhile.
func (p *Set) Ranges() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for at := 0; at < p.size; {
			first := p.find(at, true)
			if first == p.size {
				return
			}
			at = p.find(first, false)
			if !yield(Range{int32(first), int32(at - 1)}) {
				return
			}
		}
	}
}

// find returns the first processor from at on that is free, or that is not free; size if there is
// none. The processors behind the last one are not free in words, hence the min.
func (p *Set) find(at int, free bool) int {
	for w := at / 64; w < len(p.words); w++ {
		word := p.words[w]
		if !free {
			word = ^word
		}
		if w == at/64 {
			// Bits below at do not count.
			word &^= 1<<(at%64) - 1
		}
		if word != 0 {
			return min(w*64+bits.TrailingZeros64(word), p.size)
		}
	}
	return p.size
}

// Take takes the processors of r. If not all of them are free, it changes nothing and
// returns an error.
func (p *Set) Take(r Range) error {
	if r.First < 0 || r.Last < r.First || int(r.Last) >= p.size {
		return fmt.Errorf("no processors %d-%d among %d", r.First, r.Last, p.size)
	}
	if p.find(int(r.First), false) <= int(r.Last) {
		return fmt.Errorf("of the processors %d-%d some are not free", r.First, r.Last)
	}
	for first := int(r.First); first <= int(r.Last); {
		w, low := first/64, first%64
		take := min(64-low, int(r.Last)+1-first)
		p.words[w] &^= mask(low, take)
		if p.words[w] == 0 {
			p.some[w/64] &^= 1 << (w % 64)
		}
		first += take
	}
	p.available -= int(r.Last-r.First) + 1
	return nil
}

// Free gives processors back. An error names what does not exist or is free already; the ranges
// before it have been given back.
func (p *Set) Free(ranges []Range) error {
	for _, r := range ranges {
		if r.First < 0 || r.Last < r.First || int(r.Last) >= p.size {
			return fmt.Errorf("no processors %d-%d among %d", r.First, r.Last, p.size)
		}
		if !p.put(r) {
			return fmt.Errorf("of the processors %d-%d some are free already", r.First, r.Last)
		}
		p.available += int(r.Last-r.First) + 1
	}
	return nil
}

// put marks r as free. It returns false, and changes nothing, if a part of r is free already: the
// first pass looks, the second one marks.
func (p *Set) put(r Range) bool {
	for pass := range 2 {
		for first := int(r.First); first <= int(r.Last); {
			w, low := first/64, first%64
			take := min(64-low, int(r.Last)+1-first)
			m := mask(low, take)
			if pass == 0 {
				if p.words[w]&m != 0 {
					return false
				}
			} else {
				p.words[w] |= m
				p.some[w/64] |= 1 << (w % 64)
			}
			first += take
		}
	}
	return true
}

// mask returns n set bits, from the bit low on; 1 <= n <= 64-low.
func mask(low, n int) uint64 { return ^uint64(0) >> (64 - n) << low }

// Count returns how many numbers there are in ranges.
func Count(ranges []Range) int {
	n := 0
	for _, r := range ranges {
		n += int(r.Last-r.First) + 1
	}
	return n
}

// Overlap reports whether any number is in both a and b. It compares each two ranges.
func Overlap(a, b []Range) bool {
	return slices.ContainsFunc(a, func(r Range) bool {
		return slices.ContainsFunc(b, func(o Range) bool { return r.First <= o.Last && o.First <= r.Last })
	})
}

// Has reports whether n is in ranges.
func Has(ranges []Range, n int32) bool {
	return slices.ContainsFunc(ranges, func(r Range) bool { return r.First <= n && n <= r.Last })
}

// Extend adds n, which must be above all numbers of ranges, to them.
func Extend(ranges []Range, n int32) []Range {
	if k := len(ranges); k > 0 && ranges[k-1].Last+1 == n {
		ranges[k-1].Last = n
		return ranges
	}
	return append(ranges, Range{First: n, Last: n})
}

// Join sorts ranges and joins those that overlap or are neighbours. It works in place, and returns
// the shorter list.
func Join(ranges []Range) []Range {
	if len(ranges) == 0 {
		return ranges
	}
	slices.SortFunc(ranges, func(a, b Range) int { return int(a.First - b.First) })
	k := 0
	for _, r := range ranges[1:] {
		if r.First <= ranges[k].Last+1 {
			ranges[k].Last = max(ranges[k].Last, r.Last)
		} else {
			k++
			ranges[k] = r
		}
	}
	return ranges[:k+1]
}

// Append appends ranges in the notation of Batsim and others:
// "0-3 7".
func Append(b []byte, ranges []Range) []byte {
	for i, r := range ranges {
		if i > 0 {
			b = append(b, ' ')
		}
		b = decimal.AppendInt(b, int64(r.First))
		if r.Last > r.First {
			b = append(b, '-')
			b = decimal.AppendInt(b, int64(r.Last))
		}
	}
	return b
}

// Parse reads what Append writes, and a single number. The ranges may be in any order, and may
// overlap.
func Parse(text string) ([]Range, error) {
	var ranges []Range
	for field := range strings.FieldsSeq(text) {
		low, high, isRange := strings.Cut(field, "-")
		first, err := strconv.ParseInt(low, 10, 32)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseInt(high, 10, 32)
		}
		if err != nil || first < 0 || last < first {
			return nil, fmt.Errorf("%q is no interval of processors", field)
		}
		ranges = append(ranges, Range{int32(first), int32(last)})
	}
	return slices.Clip(ranges), nil
}
