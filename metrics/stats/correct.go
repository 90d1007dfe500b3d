package stats

// Corrections for many comparisons.

import (
	"cmp"
	"math"
	"slices"
)

// A Correction turns the p-values of all comparisons that were made, in any order,
// into ones that can each be held against the level. Those that are NaN stay so, and
// do not count as comparisons.
type Correction func(p []float64) []float64

// Correct sets Adjusted of the tests of comparisons that are made together: of
// the t tests, and of Wilcoxon's. Call it once, with all that were looked at, not
// with those that turned out well.
func Correct(by Correction, comparisons []Comparison) {
	for _, of := range []func(*Comparison) *Test{
		func(c *Comparison) *Test { return &c.T },
		func(c *Comparison) *Test { return &c.Wilcoxon },
	} {
		p := make([]float64, len(comparisons))
		for i := range p {
			p[i] = of(&comparisons[i]).P
		}
		for i, adjusted := range by(p) {
			of(&comparisons[i]).Adjusted = adjusted
		}
	}
}

// Bonferroni multiplies each by their number. The probability that any of the true
// null hypotheses is rejected stays below 1 - level. Holm's does the same and
// rejects more.
func Bonferroni(p []float64) []float64 {
	return stepwise(p, func(_, m int) float64 { return float64(m) }, nil)
}

// Holm keeps the probability that any true null hypothesis is rejected below
// 1 - level, however the tests depend on each other (S. Holm, Scandinavian Journal
// of Statistics 6(2), 1979): the k-th smallest of m is multiplied by m - k + 1, and is no
// less than those before. It is the one to use for a few comparisons of which each is
// reported as a finding.
func Holm(p []float64) []float64 {
	return stepwise(p, func(k, m int) float64 { return float64(m - k + 1) }, upwards)
}

// BenjaminiHochberg keeps the expected share of false ones among those that are
// rejected below 1 - level, for tests that are independent or depend on each
// other positively (Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical
// Society B 57(1), 1995): the k-th smallest of m is multiplied by m/k, and is no
// greater than those after. It is the one for maps of many cells.
func BenjaminiHochberg(p []float64) []float64 {
	return stepwise(p, func(k, m int) float64 { return float64(m) / float64(k) }, downwards)
}

// stepwise multiplies the k-th smallest of m by factor(k, m), from 1, and makes what
// comes of it monotone.
func stepwise(p []float64, factor func(k, m int) float64, monotone func(sorted []float64)) []float64 {
	adjusted := slices.Repeat([]float64{math.NaN()}, len(p))
	var order []int
	for i := range p {
		if !math.IsNaN(p[i]) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	sorted := make([]float64, len(order))
	for k, i := range order {
		sorted[k] = min(1, p[i]*factor(k+1, len(order)))
	}
	if monotone != nil {
		monotone(sorted)
	}
	for k, i := range order {
		adjusted[i] = sorted[k]
	}
	return adjusted
}

func upwards(sorted []float64) {
	for k := 1; k < len(sorted); k++ {
		sorted[k] = max(sorted[k], sorted[k-1])
	}
}

func downwards(sorted []float64) {
	for k := len(sorted) - 2; k >= 0; k-- {
		sorted[k] = min(sorted[k], sorted[k+1])
	}
}
