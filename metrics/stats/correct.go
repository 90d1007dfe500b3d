package stats

// The correction for many comparisons.

import (
	"cmp"
	"math"
	"slices"
)

// Correct sets Adjusted of the tests of comparisons that are made together, by Holm's
// correction: of the t tests, and of Wilcoxon's. Call it once, with all that were looked at, not
// with those that turned out well.
func Correct(comparisons []Comparison) {
	for _, of := range []func(*Comparison) *test{
		func(c *Comparison) *test { return &c.T },
		func(c *Comparison) *test { return &c.Wilcoxon },
	} {
		p := make([]float64, len(comparisons))
		for i := range p {
			p[i] = of(&comparisons[i]).P
		}
		for i, adjusted := range Holm(p) {
			of(&comparisons[i]).Adjusted = adjusted
		}
	}
}

// Holm turns the p-values of all comparisons that were made, in any order, into ones that can
// each be held against the level. It keeps the probability that any true null hypothesis is
// rejected below 1 - level, however the tests depend on each other (S. Holm, Scandinavian Journal
// of Statistics 6(2), 1979): the k-th smallest of m is multiplied by m - k + 1, and is no
// less than those before. P-values that are NaN stay so, and do not count as comparisons.
func Holm(p []float64) []float64 {
	adjusted := slices.Repeat([]float64{math.NaN()}, len(p))
	var order []int
	for i := range p {
		if !math.IsNaN(p[i]) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 0.0
	for k, i := range order {
		// The adjusted values must not decrease in the order of p: a test is rejected only if all
		// before it are.
		least = max(least, min(1, p[i]*float64(len(order)-k)))
		adjusted[i] = least
	}
	return adjusted
}
