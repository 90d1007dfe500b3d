package stats

// Two settings on common random numbers.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// test is the result of a test of the hypothesis that there is no difference. It is two-sided
// unless the function that returns it says otherwise.
type test struct {
	Statistic float64
	// P is the probability of a difference at least as great if the hypothesis is true; NaN if
	// nothing can be tested.
	P float64
	// Adjusted is P corrected for the other comparisons that were made (Correct). Until Correct is
	// called it is P.
	Adjusted float64
	// Exact reports that P is of the exact distribution, not of an approximation.
	Exact bool
}

// Comparison compares two settings by pairs of replications that had the same random numbers.
// Below, d[i] = x[i] - y[i].
type Comparison struct {
	// Difference is the mean of d with its interval at level by Student's t, not
	// corrected for other comparisons.
	Difference Interval
	level      float64
	// T is the paired t test: the mean of d over its standard error, N - 1
	// degrees of freedom (Student, Biometrika 6(1), 1908). Neither test is made
	// where all pairs differ by the same: replications that vary in nothing are
	// one replication.
	T test
	// Wilcoxon is the signed rank test (F. Wilcoxon, Biometrics Bulletin 1(6), 1945),
	// for differences that are far from normal. Its statistic is the sum of the ranks of
	// positive d. Pairs that are equal are left out. P is exact for fewer than 50
	// pairs without ties, of which none was left out; else it is by the normal approximation
	// with corrections for continuity and ties: the rule of R's wilcox.test.
	Wilcoxon test
	// CohensD is d_z, the mean of d over its standard deviation (J. Cohen, Statistical
	// Power Analysis for the Behavioral Sciences, 2nd ed. 1988, section 2.3.5): about 0.2
	// is called small, 0.5 medium, 0.8 large. Common random numbers make it
	// greater, as they take away what both settings share.
	CohensD float64
	// RankBiserial is the matched-pairs rank-biserial correlation: the share of the
	// ranks that speaks for x > y less that for x < y, from -1 to 1 (D. Kerby, Comprehensive
	// Psychology 3, 2014).
	RankBiserial float64
}

// Compare compares settings by the same measure of their replications: x[i] and y[i]
// are of the same seed. Two pairs are the least that can be tested.
func Compare(x, y []float64, level float64) (Comparison, error) {
	if err := pairs(x, y, level); err != nil {
		return Comparison{}, fmt.Errorf("comparing: %w", err)
	}
	// scale is the size of the values whose difference d is: rounding errors grow with it, and
	// differences of large numbers are never exactly equal.
	d, scale := make([]float64, len(x)), 0.0
	for i := range d {
		d[i] = x[i] - y[i]
		scale = max(scale, math.Abs(x[i]), math.Abs(y[i]))
	}
	m := momentsOf(d)
	c := Comparison{Difference: m.Interval(level), level: level, CohensD: math.NaN()}
	c.Wilcoxon, c.RankBiserial = signedRanks(d)
	if m.N() < 2 || constant(m, scale) {
		c.T, c.Wilcoxon = noTest, noTest
		return c, nil
	}
	c.CohensD = m.Mean() / m.stdDev()
	t := c.CohensD * math.Sqrt(float64(m.N()))
	p := 2 * student(m.N()-1).cdf(-math.Abs(t))
	c.T = test{Statistic: t, P: p, Adjusted: p}
	return c, nil
}

// noTest is the result of a test that cannot be made.
var noTest = test{Statistic: math.NaN(), P: math.NaN(), Adjusted: math.NaN()}

// constant reports whether observations differ only by the rounding of numbers of this scale:
// their standard error is at most 10 eps * scale (the rule of R's t.test, whose scale is the
// mean).
func constant(m Moments, scale float64) bool {
	const epsilon = 0x1p-52
	return m.stdDev()/math.Sqrt(float64(m.N())) <= 10*epsilon*math.Abs(scale)
}

// signedRanks returns Wilcoxon's test of differences, and their rank-biserial correlation: the
// ranks of positive differences less those of negative ones, over all ranks.
func signedRanks(d []float64) (test, float64) {
	var sizes, signed []float64
	for _, v := range d {
		if v != 0 {
			sizes, signed = append(sizes, math.Abs(v)), append(signed, v)
		}
	}
	n := len(sizes)
	if n == 0 {
		return noTest, math.NaN()
	}
	ranks, ties := midranks(sizes)
	above := 0.0
	for i, v := range signed {
		if v > 0 {
			above += ranks[i]
		}
	}
	all := float64(n) * float64(n+1) / 2
	test := test{Statistic: above, Exact: n < 50 && n == len(d) && ties == 0}
	if test.Exact {
		test.P = signedRankTails(n, int(min(above, all-above)))
	} else {
		// ties is the sum of t³ - t over groups of t equal sizes.
		variance := float64(n)*float64(n+1)*float64(2*n+1)/24 - ties/48
		z := max(0, math.Abs(above-all/2)-0.5) / math.Sqrt(variance)
		test.P = 2 * normal(-z)
	}
	test.Adjusted = test.P
	return test, (2*above - all) / all
}

// signedRankTails returns the probability that the sum of the positive ranks of n differences is s
// or less, or as far out on the other side, if each sign is as likely as the other. Of the 2^n
// choices of signs it counts those with a small sum, by dynamic programming over the ranks; the
// distribution is symmetric, hence 1-n.
func signedRankTails(n, s int) float64 {
	ways := make([]float64, s+1) // subsets of the ranks 1, 2, ... with that sum: below 2^50, exact
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := s; sum >= rank; sum-- {
			ways[sum] += ways[sum-rank]
		}
	}
	tail := 0.0
	for _, w := range ways {
		tail += w
	}
	return min(1, math.Ldexp(tail, 1-n))
}

// midranks returns the ranks of values from 1, in which equal values share the mean of their
// ranks, and ties, the sum of t³ - t over groups of t equal values.
func midranks(values []float64) (ranks []float64, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks = make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+1+to) / 2
		}
		t := float64(to - from)
		ties += float64(t*t*t) - t
		from = to
	}
	return ranks, ties
}

// Significant reports whether the means differ by the t test at level, corrected
// if Correct was called.
func (c Comparison) Significant() bool { return c.T.Adjusted <= 1-c.level }

// Verdict says in words what can be concluded of x against y.
func (c Comparison) Verdict() string {
	d := c.Difference
	switch {
	case d.N < 2:
		return fmt.Sprintf("not tested: %d of at least 2 pairs", d.N)
	case math.IsNaN(c.T.P) && d.Mean == 0:
		return fmt.Sprintf("equal in all %d pairs", d.N)
	case math.IsNaN(c.T.P):
		return fmt.Sprintf("not tested: all %d pairs differ by the same, %.4g", d.N, d.Mean)
	}
	ranks := c.Wilcoxon.Adjusted <= 1-c.level
	if !c.Significant() {
		s := fmt.Sprintf("not significant: %v (%s)", d, pValue(c.T.Adjusted))
		if ranks {
			s += fmt.Sprintf("; by ranks it is (Wilcoxon's test, %s)", pValue(c.Wilcoxon.Adjusted))
		}
		return s
	}
	direction := "higher"
	if d.Mean < 0 {
		direction, d.Mean = "lower", -d.Mean
	}
	s := fmt.Sprintf("%s by %v (%s)", direction, d, pValue(c.T.Adjusted))
	if !ranks {
		s += fmt.Sprintf("; by ranks not significant (Wilcoxon's test, %s)", pValue(c.Wilcoxon.Adjusted))
	}
	return s
}

func (c Comparison) String() string { return c.Verdict() }

// pValue writes p as papers do.
func pValue(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}
