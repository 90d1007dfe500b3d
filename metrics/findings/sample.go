package findings

// Batches of runs as observations.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/metrics/stats"
)

// part is a batch of a run, by its number: the sum of a measure over its jobs, and weight, the
// number of these.
type part struct {
	number      int
	sum, weight float64
}

// partsOf returns the batches of a run that count, in order of their numbers, nil if it has none
// of the measure.
func partsOf(r *Run, measure string) (parts []part) {
	if r.Batches == nil {
		return nil
	}
	m := slices.Index(r.Batches.measures, measure)
	if m < 0 {
		return nil
	}
	for _, b := range r.Batches.Rows {
		if !b.Warmup {
			n := float64(b.Jobs)
			parts = append(parts, part{b.Number, float64(b.Means[m] * n), n})
		}
	}
	return parts
}

// matched returns the batches that both runs have, by their numbers. Both lists ascend: the merge
// takes O(n).
func matched(a, b []part) (x, y []part) {
	j := 0
	for _, p := range a {
		for j < len(b) && b[j].number < p.number {
			j++
		}
		if j < len(b) && b[j].number == p.number {
			x, y = append(x, p), append(y, b[j])
		}
	}
	return x, y
}

// sample are observations from batches. y is nil if one run is looked at alone.
type sample struct {
	x, y []float64 // y nil where one run is looked at alone
	// joined is the number of neighbours that were made one observation: 1, 2, 4, ...
	joined int
	// note says what is doubtful about them, or is "".
	note string
}

// fewestBatches is the number of batches that joining must leave.
const fewestBatches = 10

// sampleOf makes observations of the batches of a run, or of two runs, batch by batch.
//
// A week of many jobs counts for more than a quiet one, so that the mean of the
// observations is the mean over all jobs. For two runs each observation is the sum of
// a batch over the mean number of jobs: the difference of a quiet week is small, as it should
// be. For one run the observations are those of the ratio estimator (W. Cochran,
// Sampling Techniques, 3rd ed. 1977, section 6.3), mean + (sum - mean * jobs) / mean
// number of jobs, of which the variance does not count that weeks have more or fewer jobs.
//
// Batches must be about independent, but what waits at the end of one waits at the
// beginning of the next. While neighbours are alike with P < 0.05 (stats.Dependence: of
// the differences, where there are two runs), each two are made one, until ten are left.
func sampleOf(a, b []part) sample {
	s := sample{joined: 1}
	for {
		var d []float64
		if b == nil {
			s.x = ratios(a)
			d = s.x
		} else {
			s.x, s.y = weighted(a), weighted(b)
			for i := range s.x {
				d = append(d, s.x[i]-s.y[i])
			}
		}
		lag1, test := stats.Dependence(d)
		if !(test.P < 0.05) {
			return s
		}
		if len(a) < 2*fewestBatches {
			s.note = fmt.Sprintf("neighbouring batches depend on each other (lag-1 correlation %.2f): the interval may be too narrow", lag1)
			return s
		}
		a, b = joinPairs(a), joinPairs(b)
		s.joined *= 2
	}
}

// joinPairs makes one batch of each two neighbours; a last one without a partner goes with the two
// before it.
func joinPairs(parts []part) (joined []part) {
	for i, p := range parts {
		if n := len(joined); i%2 == 0 && (i < len(parts)-1 || n == 0) {
			joined = append(joined, p)
		} else {
			joined[n-1].sum += p.sum
			joined[n-1].weight += p.weight
		}
	}
	return joined
}

// total returns the sums over all parts.
func total(parts []part) (sum, weight float64) {
	for _, p := range parts {
		sum, weight = sum+p.sum, weight+p.weight
	}
	return sum, weight
}

// ratios returns the observations of the ratio estimator; see sampleOf. Their mean is sum /
// weight.
func ratios(parts []part) (x []float64) {
	sum, weight := total(parts)
	mean := sum / weight
	for _, p := range parts {
		x = append(x, mean+(p.sum-float64(mean*p.weight))/(weight/float64(len(parts))))
	}
	return x
}

// weighted returns the sum of each part over the mean weight; see sampleOf. Their mean is sum /
// weight.
func weighted(parts []part) (x []float64) {
	_, weight := total(parts)
	for _, p := range parts {
		x = append(x, p.sum/(weight/float64(len(parts))))
	}
	return x
}
