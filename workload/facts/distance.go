package facts

import "math"

// kolmogorovSmirnov is the two-sample statistic of Kolmogorov and Smirnov, max |Fa(x) - Fb(x)|: the
// greatest difference between the shares of values of a and of b that are no greater than x, over all
// x. It is 0 to 1, and NaN if one of them is empty.
func kolmogorovSmirnov(a, b *Sample) float64 {
	greatest := 0.0
	apart(a, b, func(difference, _ float64) { greatest = max(greatest, difference) })
	return orNaN(a, b, greatest)
}

// wasserstein is the distance of Wasserstein of order 1, in the unit of the values: the area
// between the two distribution functions, or how far values must be moved on average to make one
// distribution of the other. It is NaN if one of them is empty.
func wasserstein(a, b *Sample) float64 {
	area := 0.0
	apart(a, b, func(difference, width float64) { area += float64(difference * width) })
	return orNaN(a, b, area)
}

// orNaN is v, or NaN if one of the samples is empty.
func orNaN(a, b *Sample, v float64) float64 {
	if a.n == 0 || b.n == 0 {
		return math.NaN()
	}
	return v
}

// apart goes up along the values of both, and tells after each how far apart the distribution
// functions are from there on, and how far it is to the next value (0 after the last). The functions
// are steps, constant between neighbouring values.
func apart(a, b *Sample, tell func(difference, width float64)) {
	a.sort()
	b.sort()
	if a.n == 0 || b.n == 0 {
		return
	}
	i, j := 0, 0             // the places of the next values of a and b
	next := func() float64 { // the smaller of these two
		switch {
		case i == len(a.ascending):
			return b.inUnits(b.ascending[j])
		case j == len(b.ascending):
			return a.inUnits(a.ascending[i])
		}
		return min(a.inUnits(a.ascending[i]), b.inUnits(b.ascending[j]))
	}
	for i < len(a.ascending) || j < len(b.ascending) {
		x := next()
		for i < len(a.ascending) && a.inUnits(a.ascending[i]) == x {
			i++
		}
		for j < len(b.ascending) && b.inUnits(b.ascending[j]) == x {
			j++
		}
		width := 0.0
		if i < len(a.ascending) || j < len(b.ascending) {
			width = next() - x
		}
		tell(math.Abs(a.shareUpTo(i)-b.shareUpTo(j)), width)
	}
}

// shareUpTo is the share of values that are among the first i different ones.
func (s *Sample) shareUpTo(i int) float64 {
	if i == 0 {
		return 0
	}
	return float64(s.upTo[i-1]) / float64(s.n)
}
