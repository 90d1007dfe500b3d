package stats

// Which parameter a result depends on: analysis of variance for full grids, ranks for
// samples.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mathext"
)

// Factor is a parameter and its value in each run, as text.
type Factor struct {
	Name   string
	Levels []string // value of each run
}

// numbers returns the levels as numbers; false if any of them is no finite number.
func (f Factor) numbers() ([]float64, bool) {
	values := make([]float64, len(f.Levels))
	for i, text := range f.Levels {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v-v != 0 {
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

// groups numbers the different levels, in the order in which they first come, and returns the
// number of each run and how many there are.
func groups(levels []string) (of []int, n int) {
	known := map[string]int{}
	for _, level := range levels {
		i, ok := known[level]
		if !ok {
			i = len(known)
			known[level] = i
		}
		of = append(of, i)
	}
	return of, len(known)
}

// Effect is the part of the variance of a result that goes with a factor, or with two together.
type Effect struct {
	// Factors is the name of one factor, or the two names of an interaction; empty for the
	// residual.
	Factors []string
	// Degrees is the number of degrees of freedom.
	Degrees int
	// squares is the sum of squares.
	squares float64
	// Share is eta squared: squares divided by the sum of squares of all effects and the residual,
	// 0 to 1. All shares add up to 1.
	Share float64
	// test is the F test against the residual; its P is NaN if nothing is left for the residual.
	Test test
}

// Effects returns the effects of the factors of a full grid: the main effects in the order of the
// factors, then the interactions of two, then what is left over (interactions of more, and
// chance). y[i] is the result of run i. It is the analysis of variance with fixed effects (R. A.
// Fisher, Statistical Methods for Research Workers, 1925; D. Montgomery, Design and Analysis of
// Experiments, 8th ed. 2013, chapter 5); the shares are eta squared (Cohen 1988, section 8.2.2).
//
// Each combination of levels must be there equally often; an error names one that is not. With
// seeds (common random numbers: each combination has the same ones; nil otherwise) the effect of
// the seed is taken apart from what is left over, as blocks are (Montgomery, chapter 4). It stands
// after the interactions under the name "seed".
//
// A large interaction says that a factor's effect depends on the other factor: its main effect is
// a mean over cases that differ.
func Effects(factors []Factor, seeds []string, y []float64) ([]Effect, error) {
	if err := checkFactors(factors, y); err != nil {
		return nil, err
	}
	if err := balanced(factors, seeds, len(y)); err != nil {
		return nil, err
	}
	all := momentsOf(y)
	if constant(all, all.Mean()) {
		return nil, errEqual
	}
	v := newVariance(y, all.Mean())
	degrees := make([]int, len(factors))
	for i, f := range factors {
		_, n := groups(f.Levels)
		degrees[i] = n - 1
		v.take(f.Levels, degrees[i], f.Name)
	}
	for i, f := range factors {
		for j := i + 1; j < len(factors); j++ {
			v.take(joined(f.Levels, factors[j].Levels), degrees[i]*degrees[j], f.Name, factors[j].Name)
		}
	}
	if seeds != nil {
		_, n := groups(seeds)
		v.take(seeds, n-1, "seed")
	}
	return v.tested(), nil
}

// variance divides the sum of squares of results among effects, one after the other. In a
// balanced grid effects are orthogonal, so that their order makes no difference.
type variance struct {
	rest    []float64 // of the results after the mean and the effects so far, by run
	total   float64   // sum of squares around the mean
	left    int       // degrees of freedom of rest
	effects []Effect
}

// newVariance returns the variance of y around its mean, of which nothing is taken.
func newVariance(y []float64, mean float64) *variance {
	v := &variance{rest: make([]float64, len(y)), left: len(y) - 1}
	for i, x := range y {
		v.rest[i] = x - mean
		v.total += float64(v.rest[i] * v.rest[i])
	}
	return v
}

// take moves the means of groups of runs, which have the same level, from the rest into an effect.
func (v *variance) take(levels []string, degrees int, names ...string) {
	of, n := groups(levels)
	means := make([]float64, n)
	for i, g := range of { // groups are of one size, len(rest) / n
		means[g] += v.rest[i] * float64(n) / float64(len(v.rest))
	}
	e := Effect{Factors: names, Degrees: degrees}
	for i, g := range of {
		v.rest[i] -= means[g]
		e.squares += float64(means[g] * means[g])
	}
	v.left -= degrees
	v.effects = append(v.effects, e)
}

// tested returns the effects with what is left over behind them. Each is tested against that:
// F = (squares / Degrees) / (squares left / degrees left).
func (v *variance) tested() []Effect {
	left := Effect{Degrees: v.left}
	for _, x := range v.rest {
		left.squares += float64(x * x)
	}
	effects := append(v.effects, left)
	for i := range effects {
		e := &effects[i]
		e.Share, e.Test = e.squares/v.total, noTest
		// Squares of 1e-20 of all are the rounding of a rest that is 0.
		if len(e.Factors) > 0 && e.Degrees > 0 && left.Degrees > 0 && left.squares > 1e-20*v.total {
			a, b := float64(e.Degrees), float64(left.Degrees)
			f := e.squares / a / (left.squares / b)
			// The tail of F; gonum's distuv.F has 1 less the rest, which is 0 far out.
			p := mathext.RegIncBeta(b/2, a/2, b/(b+float64(a*f)))
			e.Test = test{Statistic: f, P: p, Adjusted: p}
		}
	}
	return effects
}

// joined returns the combinations of two factors' levels, as levels.
func joined(a, b []string) []string {
	of, _ := groups(a)
	with, _ := groups(b)
	both := make([]string, len(a))
	for i := range both {
		both[i] = fmt.Sprint(of[i], " ", with[i])
	}
	return both
}

// errEqual reports results without any variance, of which nothing can be explained.
var errEqual = errors.New("sensitivity: all results are equal")

// checkFactors checks that every factor has a level for each result.
func checkFactors(factors []Factor, y []float64) error {
	if len(factors) == 0 || len(y) < 2 {
		return fmt.Errorf("sensitivity: there are %d parameters and %d runs: at least 1 and 2 are wanted", len(factors), len(y))
	}
	for _, f := range factors {
		if len(f.Levels) != len(y) {
			return fmt.Errorf("sensitivity: there are %d runs, and %d of them have the parameter %s", len(y), len(f.Levels), f.Name)
		}
	}
	return finite("sensitivity: results", y)
}

// balanced checks that each combination of levels, and each of these with each seed, is there
// equally often: only then are effects orthogonal.
func balanced(factors []Factor, seeds []string, runs int) error {
	cells, combinations := slices.Repeat([]string{""}, runs), 1
	with := slices.Clone(factors)
	if seeds != nil {
		if len(seeds) != runs {
			return fmt.Errorf("sensitivity: there are %d runs and %d seeds", runs, len(seeds))
		}
		with = append(with, Factor{"seed", seeds})
	}
	for _, f := range with {
		_, n := groups(f.Levels)
		combinations *= n
		cells = joined(cells, f.Levels)
	}
	of, n := groups(cells)
	if n < combinations {
		return fmt.Errorf("sensitivity: of %d combinations of the parameters' values %d are there: a full grid is wanted", combinations, n)
	}
	count := make([]int, n)
	for _, g := range of {
		count[g]++
	}
	for i, g := range of {
		if count[g] != count[of[0]] {
			var what string
			for _, f := range with {
				what += fmt.Sprintf(" %s=%s", f.Name, f.Levels[i])
			}
			return fmt.Errorf("sensitivity: there are %d runs with%s, and %d of another combination: equally many are wanted", count[g], what, count[of[0]])
		}
	}
	return nil
}

// Influence measures how far the ranks of a result follow one parameter of a sample.
type Influence struct {
	Name string
	// Correlation is Spearman's rank correlation of a parameter whose values are numbers, from
	// -1 to 1; NaN of one with categories.
	Correlation float64
	// Alone is the share of the variance of the result's ranks that the parameter explains by
	// itself: Correlation² of numbers; of categories that between them, H/(n-1) of Kruskal and
	// Wallis.
	Alone float64
	// test is of the hypothesis that there is no such influence: for numbers Student's t of
	// Correlation, with n-2 degrees of freedom; for categories chi-squared of H, with one degree
	// less than there are categories.
	Test test
	// Coefficient is the standardised coefficient of a number in the regression of ranks on all
	// parameters together: by how many standard deviations the result's rank moves with one of
	// the parameter's, the others as they are. NaN of categories.
	Coefficient float64
	// Unique is the share of variance that no other parameter explains: by how much R² of the
	// regression falls without this one.
	Unique float64
}

// RankRegression is the sensitivity of a result to the parameters of a sample (random, or a Latin hypercube),
// in the order of the parameters, and R² of the regression of its ranks on theirs (R. Iman and W. Conover,
// Technometrics 21(4), 1979; A. Saltelli and others, Sensitivity Analysis, 2000, section 2.3;
// W. Kruskal and W. Wallis, Journal of the American Statistical Association 47, 1952). Ranks
// catch all that rises or falls throughout, straight or not; where R² is small, the result
// depends on parameters together, or rises and falls: look at a grid.
//
// Parameters whose values are all numbers are ranked, and others are categories. y[i] is the result of
// run i. It is an error where a parameter follows from those before it, so that they cannot be told apart.
func RankRegression(parameters []Factor, y []float64) ([]Influence, float64, error) {
	if err := checkFactors(parameters, y); err != nil {
		return nil, 0, err
	}
	if len(y) < 3 {
		return nil, 0, fmt.Errorf("sensitivity: there are %d runs: at least 3 are wanted", len(y))
	}
	target, varies := standardised(ranksOf(y))
	if !varies {
		return nil, 0, errEqual
	}
	// Each parameter by itself.
	columns := make([][][]float64, len(parameters)) // of the regression, by parameter
	influences := make([]Influence, len(parameters))
	for i, p := range parameters {
		influences[i], columns[i] = influenceOf(p, target)
		if _, _, ok := regression(columns[:i+1], target); !ok {
			return nil, 0, fmt.Errorf("sensitivity: %d runs do not tell the parameter %s apart from those before it", len(y), p.Name)
		}
	}
	// All together, and all but one.
	coefficients, r2, _ := regression(columns, target)
	at := 0
	for i := range influences {
		if len(columns[i]) > 0 && !math.IsNaN(influences[i].Correlation) {
			influences[i].Coefficient = coefficients[at]
		}
		at += len(columns[i])
		without := slices.Clone(columns)
		without[i] = nil
		_, less, _ := regression(without, target)
		influences[i].Unique = max(0, r2-less)
	}
	return influences, r2, nil
}

// influenceOf returns the influence of a parameter alone on a standardised target, and its columns
// in a regression: one of ranks, or one of 0 and 1 for each category but the first. There are none
// if the parameter does not vary.
func influenceOf(p Factor, target []float64) (in Influence, columns [][]float64) {
	n := float64(len(target))
	in = Influence{Name: p.Name, Correlation: math.NaN(), Coefficient: math.NaN(), Test: noTest}
	if values, ok := p.numbers(); ok {
		if column, varies := standardised(ranksOf(values)); varies {
			columns = [][]float64{column}
			r := dot(column, target)
			in.Correlation, in.Alone = r, float64(r*r)
			t := r * math.Sqrt((n-2)/max(0, 1-in.Alone))
			in.Test = test{Statistic: t, P: 2 * student(n-2).cdf(-math.Abs(t))}
		}
	} else if of, k := groups(p.Levels); k > 1 {
		for level := 1; level < k; level++ { // the others are compared with level 0
			column := make([]float64, len(target))
			for j, g := range of {
				if g == level {
					column[j] = 1
				}
			}
			column, _ = standardised(column)
			columns = append(columns, column)
		}
		in.Alone = between(of, k, target)
		h := (n - 1) * in.Alone
		in.Test = test{Statistic: h, P: chiSquared(k - 1).survival(h)}
	}
	in.Test.Adjusted = in.Test.P
	return in, columns
}

// ranksOf returns midranks alone.
func ranksOf(values []float64) []float64 {
	ranks, _ := midranks(values)
	return ranks
}

// standardised returns x with mean 0 and length 1, so that the dot product of two such vectors is
// their correlation; false if x does not vary.
func standardised(x []float64) ([]float64, bool) {
	m := momentsOf(x)
	length := math.Sqrt(m.variance() * float64(len(x)-1))
	if constant(m, m.Mean()) {
		return nil, false
	}
	z := make([]float64, len(x))
	for i, v := range x {
		z[i] = (v - m.Mean()) / length
	}
	return z, true
}

// dot returns the dot product of two vectors of one length.
func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// between returns the share of the squares of a standardised z that lies between k groups: of is
// the group of each value.
func between(of []int, k int, z []float64) float64 {
	sums, count := make([]float64, k), make([]float64, k)
	for i, g := range of {
		sums[g] += z[i]
		count[g]++
	}
	share := 0.0
	for g, s := range sums {
		share += float64(s*s) / count[g]
	}
	return share
}

// regression returns the least squares fit of a standardised target to columns that are
// standardised, too, and the share of the variance that it explains; ok is false if columns depend
// on each other. The normal equations are R b = c, with the correlations R of the columns and c
// with the target, and R² = b c.
func regression(groups [][][]float64, target []float64) (coefficients []float64, r2 float64, ok bool) {
	columns := slices.Concat(groups...)
	k := len(columns)
	if k == 0 {
		return nil, 0, true
	}
	// More columns than degrees of freedom always fit.
	if k > len(target)-1 {
		return nil, 0, false
	}
	correlations, with := make([][]float64, k), make([]float64, k)
	for i, c := range columns {
		with[i] = dot(c, target)
		for _, d := range columns[:i+1] {
			correlations[i] = append(correlations[i], dot(c, d))
		}
	}
	// From a condition of 1e10 on, ten of the sixteen digits of coefficients are lost.
	factors, ok := factorize(correlations)
	if !ok || factors.condition(correlations) > 1e10 {
		return nil, 0, false
	}
	coefficients = factors.solve(with)
	return coefficients, dot(coefficients, with), true
}
