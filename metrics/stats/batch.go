package stats

// One long run: batch means, and the warm-up at its beginning.

import (
	"errors"
	"fmt"
	"math"
)

// LongRunMean is the mean over one long run with its interval, from the means of a
// fixed number of batches.
type LongRunMean struct {
	// Interval is of the mean of all values; N is the number of batches.
	Interval
	// means are the means of the batches, in order.
	means []float64
	// lag1 and dependence are of means; see the function Dependence. A small P
	// says that batches are too short: the interval is narrower than it claims.
	lag1       float64
	dependence test
}

// BatchMeans is the mean of values with an interval at the level (0.95, say) by the
// method of batch means: values in their order are cut into n batches whose sizes
// differ by one at most, and the means of these are taken for independent. It is meant
// for values that follow each other in time, as the waits of jobs do, which are not
// independent themselves; leave out the warm-up first. Ten to thirty batches are
// enough, and more only make them shorter (B. Schmeiser, Operations Research 30(3),
// 1982). Of fewer than 2 n values there are no batches, and HalfWidth is +Inf.
func BatchMeans(values []float64, n int, level float64) LongRunMean {
	all := momentsOf(values)
	b := LongRunMean{Interval: Interval{Mean: all.Mean(), HalfWidth: math.Inf(1), N: n}, lag1: math.NaN(), dependence: noTest}
	if n < 2 || len(values) < 2*n {
		return b
	}
	for i := range n {
		m := momentsOf(values[i*len(values)/n : (i+1)*len(values)/n])
		b.means = append(b.means, m.Mean())
	}
	b.HalfWidth = Mean(b.means, level).HalfWidth
	b.lag1, b.dependence = Dependence(b.means)
	return b
}

// Dependence returns the correlation of neighbours in a series, from -1 to 1, and a test of the
// hypothesis that neighbours are no more alike than by chance: von Neumann's ratio (Annals of
// Mathematical Statistics 12(4), 1941) in the form of G. Fishman, Grouping observations in digital
// simulation, Management Science 24(5), 1978,
//
//	C = 1 - sum of (y[i]-y[i+1])² / (2 * sum of (y[i]-mean)²),
//
// about normal with mean 0 and variance (n-2)/(n²-1) from 8 values on, which are the
// least that are tested. P is one-sided: it is small where neighbours are alike.
func Dependence(y []float64) (lag1 float64, test test) {
	n, m := float64(len(y)), momentsOf(y)
	if n < 2 || constant(m, m.Mean()) {
		return math.NaN(), noTest
	}
	squares := m.variance() * (n - 1)
	together, steps := 0.0, 0.0
	for i := 1; i < len(y); i++ {
		together += float64((y[i] - m.Mean()) * (y[i-1] - m.Mean()))
		steps += float64((y[i] - y[i-1]) * (y[i] - y[i-1]))
	}
	test = noTest
	if n >= 8 {
		test.Statistic = 1 - steps/(2*squares)
		test.P = normal(-test.Statistic / math.Sqrt((n-2)/(n*n-1)))
		test.Adjusted = test.P
	}
	return together / squares, test
}

// Doubtful reports whether neighbouring batches are alike with P below 0.05, so that the interval may
// be too narrow: fewer batches or a longer run would help.
func (b LongRunMean) Doubtful() bool { return b.dependence.P < 0.05 }

// mser is the number of values that MSER-5 takes together, and the number of their means at the end
// that are always kept.
const mser = 5

// MSER5 returns the number of values at the beginning of a run that are its warm-up, by the
// marginal standard error rule: five times the number d of means of five values that minimises the
// squared standard error of the rest,
//
//	sum over j > d of (Z[j] - mean of these)² / (k - d)²,
//
// least, the smallest of equals (K. P. White, An effective truncation heuristic for bias
// reduction in simulation output, Simulation 69(6), 1997; in fives: White, Cobb and Spratt,
// Winter Simulation Conference 2000). The last five means are not left out, as so
// few may be alike by chance. Values that do not fill a five at the end are not looked
// at.
//
// It is an error if the least lies in the last half of the run: the run is too
// short to tell its steady state, or has none. At least 50 values are needed.
func MSER5(values []float64) (int, error) {
	if err := finite("values", values); err != nil {
		return 0, err
	}
	k := len(values) / mser
	if k < 2*mser {
		return 0, fmt.Errorf("MSER-5 needs %d values, and there are %d", 2*mser*mser, len(values))
	}
	best, least := 0, math.Inf(1)
	// rest has the means from d on: going backwards, each cut adds one.
	var rest Moments
	for d := k - 1; d >= 0; d-- {
		five := momentsOf(values[d*mser : (d+1)*mser])
		rest.Add(five.Mean())
		if n := float64(k - d); k-d >= mser {
			// rest.variance() (n-1) is the sum of squares of the formula. At equal e the smaller d
			// wins.
			if e := rest.variance() * (n - 1) / (n * n); e <= least {
				best, least = d, e
			}
		}
	}
	if 2*best > k {
		return 0, fmt.Errorf("%w: MSER-5 would leave out %d values of %d", errStillWarming, best*mser, len(values))
	}
	return best * mser, nil
}

// errStillWarming says that no cut in the first half of a run leaves a steady state.
var errStillWarming = errors.New("the run is too short for its warm-up, or never becomes steady")
