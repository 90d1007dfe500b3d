// Package stats answers what can be concluded from simulations: how sure a mean
// is, whether one setting beats another, and which parameter a result depends on.
//
//	values of replications -+-> Mean, Ratio -------------------> a value, an interval
//	                        +-> Compare -> Correct ------------> is the difference more than chance?
//	                        +-> Effects, RankRegression -------> which parameter matters?
//	values of one long run --> MSER5 --> BatchMeans --------> a value, an interval
//
// Observations that a function takes are means (or quantiles, or sums) of whole
// replications, of different seeds, and so independent of each other. The jobs
// of one run are not: a job that waits makes the next one wait. Intervals from
// them come from BatchMeans alone.
//
// # Missing and impossible
//
// What cannot be told is NaN (a p-value of a test that cannot be made) or infinite
// (a bound that the observations do not give), never a guess. Observations that are
// not finite numbers are errors, as they would spoil everything in silence.
//
// # Arithmetic
//
// Sums are in the order of the observations, so that the same observations give
// the same bytes wherever they are added up. Quantiles and tails of distributions
// are gonum's and may differ between architectures in their last digits: print
// fewer than all of them.
package stats
