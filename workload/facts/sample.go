package facts

import (
	"iter"
	"math"
	"math/bits"
	"slices"
)

// maxValues is the number of different values that a Sample can tell apart.
const maxValues = 1 << 17

// Sample counts how often each value of a quantity occurs. Values are whole numbers of 0 or more,
// each a fixed part of a unit of the quantity.
//
// Up to 131,072 different values it is exact. Where there are more, all are rounded down to
// as many leading binary digits as leave no more than that: Precision says how far a value can be
// off. What is left depends on the values alone, not on the order in which they came. The mean and
// the deviation are of the values as they came.
type Sample struct {
	unit   float64         // what the values count in: a value of unit is 1
	counts map[int64]int64 // how often each value occurs, rounded down to digits; at most maxValues
	digits int             // how many leading binary digits are kept; 63 = all, so that it is exact

	n         int64   // the number of values
	sum       float64 // in units
	mean, m2  float64 // Welford's running mean and sum of squared deviations (Technometrics 4, 1962)
	ascending []int64 // the different values; nil until they are asked for, and after each add
	upTo      []int64 // how many values are no greater than each of these
}

// newSample is an empty sample of values in the given parts of a unit: des.Second for times in ticks.
func newSample(unit int64) *Sample {
	return &Sample{unit: float64(unit), counts: map[int64]int64{}, digits: 63}
}

// add takes in a value of 0 or more. When there are too many different ones, the last digit of all of
// them is given up, and those that become equal are joined.
func (s *Sample) add(v int64) {
	s.ascending = nil
	s.n++
	x := s.inUnits(v)
	s.sum += x
	d := x - s.mean
	s.mean += d / float64(s.n)
	s.m2 += float64(d * (x - s.mean))
	s.counts[s.kept(v)]++
	for len(s.counts) > maxValues {
		s.digits--
		coarser := make(map[int64]int64, maxValues)
		for v, n := range s.counts {
			coarser[s.kept(v)] += n
		}
		s.counts = coarser
	}
}

// kept is a value without the digits that are not kept.
func (s *Sample) kept(v int64) int64 {
	if rest := bits.Len64(uint64(v)) - s.digits; rest > 0 {
		return v >> rest << rest
	}
	return v
}

// inUnits is a value in the unit of the quantity.
func (s *Sample) inUnits(v int64) float64 { return float64(v) / s.unit }

// sort makes ascending and upTo, unless they are there.
func (s *Sample) sort() {
	if s.ascending != nil {
		return
	}
	s.ascending, s.upTo = make([]int64, 0, len(s.counts)), make([]int64, 0, len(s.counts))
	for v := range s.counts {
		s.ascending = append(s.ascending, v)
	}
	slices.Sort(s.ascending)
	total := int64(0)
	for _, v := range s.ascending {
		total += s.counts[v]
		s.upTo = append(s.upTo, total)
	}
}

// N is the number of values.
func (s *Sample) N() int64 { return s.n }

// Distinct returns the number of different values, as far as they are told apart.
func (s *Sample) Distinct() int { return len(s.counts) }

// Precision is by which share of it a value may have been rounded down; 0 where none was.
func (s *Sample) Precision() float64 {
	if s.digits == 63 {
		return 0
	}
	return math.Ldexp(1, 1-s.digits)
}

// Values yields the values, ascending, in units, each with how often it occurs.
func (s *Sample) Values() iter.Seq2[float64, int64] {
	s.sort()
	return func(yield func(float64, int64) bool) {
		for _, v := range s.ascending {
			if !yield(s.inUnits(v), s.counts[v]) {
				return
			}
		}
	}
}

// Quantile is the quantile p of 0 to 1 in units, by linear interpolation between order
// statistics (R's type 7); 0 where there are no values.
func (s *Sample) Quantile(p float64) float64 {
	if s.n == 0 {
		return 0
	}
	s.sort()
	position := float64(float64(s.n-1) * p)
	k := int64(position)
	below := s.order(k)
	if rest := position - float64(k); rest > 0 && k+1 < s.n {
		return below + float64((s.order(k+1)-below)*rest)
	}
	return below
}

// order is the k-th smallest, from 0.
func (s *Sample) order(k int64) float64 {
	i, _ := slices.BinarySearch(s.upTo, k+1)
	return s.inUnits(s.ascending[i])
}

// Distribution describes the values of a quantity, in its unit, for a page.
type Distribution struct {
	N         int64   `json:"n"`
	Distinct  int     `json:"distinct"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"standard_deviation"`
	Least     float64 `json:"min"`
	P5        float64 `json:"p5"`
	P25       float64 `json:"p25"`
	Median    float64 `json:"median"`
	P75       float64 `json:"p75"`
	P95       float64 `json:"p95"`
	P99       float64 `json:"p99"`
	Greatest  float64 `json:"max"`
	Precision float64 `json:"rounded_by,omitempty"` // share by which values were rounded down; see Sample

	sample *Sample
}

// Sample are the values themselves.
func (d Distribution) Sample() *Sample { return d.sample }

// distribution tells the sample in the figures of a page; the deviation is that of a sample (n-1).
func (s *Sample) distribution() Distribution {
	d := Distribution{N: s.n, Distinct: s.Distinct(), Precision: s.Precision(), sample: s}
	if s.n == 0 {
		return d
	}
	d.Mean = s.sum / float64(s.n)
	if s.n > 1 {
		d.Deviation = math.Sqrt(s.m2 / float64(s.n-1))
	}
	d.Least, d.P5, d.P25, d.Median = s.Quantile(0), s.Quantile(0.05), s.Quantile(0.25), s.Quantile(0.5)
	d.P75, d.P95, d.P99, d.Greatest = s.Quantile(0.75), s.Quantile(0.95), s.Quantile(0.99), s.Quantile(1)
	return d
}

// distributionIf is nil where there are no values.
func (s *Sample) distributionIf() *Distribution {
	if s.n == 0 {
		return nil
	}
	d := s.distribution()
	return &d
}
