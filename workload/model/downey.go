// Downey's model of work and parallelism, from which sizes and runtimes follow.

package model

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Downey generates jobs after Downey, "A parallel workload model and its
// implications for processor allocation", HPDC 1997: total work and average
// parallelism are log-uniform, and the runtime of a job on n processors is its
// work divided by its speedup there.
//
// The formulas and the constants of downeyWork are unverified: they were not compared
// with the paper. The model is of moldable jobs; that a job asks for its average
// parallelism, rounded, as its number of processors is our own addition. The
// paper's day of two halves is left out, because it is not known well enough:
// arrivals are Poisson, at a rate that must be given, unless there is a Cycle.
type Downey struct {
	// Processors is the size of the machine; 0 means 128.
	Processors int
	// Sigma is the variation in parallelism of every job. 0 means no variation, so
	// that the speedup is perfect up to A.
	Sigma float64
	// MeanGap is the mean time between submissions in seconds, and Load is the
	// offered load to reach. One of the two must be given.
	MeanGap, Load float64
	// Cycle says when jobs come during days and weeks; nil is evenly.
	Cycle *Cycle
	// Seed determines the random streams, one per component
	// (arrival, parallelism, work).
	Seed uint64
}

// downeyWork is the total work of a job in processor seconds: the fit to the SDSC Paragon, 6 s to 37 h.
var downeyWork = logUniform{Min: math.Exp(1.8), Max: math.Exp(11.8)}

// parallelism is A, the average parallelism of a job.
func (m Downey) parallelism() logUniform { return logUniform{Min: 1, Max: float64(m.Processors)} }

// Jobs yields n jobs in the order of submission; see Lublin.Jobs.
func (m Downey) Jobs(n int64) (iter.Seq[*entity.Job], error) {
	m.Processors = cmp.Or(m.Processors, 128)
	if err := errors.Join(checkCount("downey", n), checkProcessors("downey", m.Processors)); err != nil {
		return nil, err
	}
	if !(m.Sigma >= 0) || math.IsInf(m.Sigma, 0) {
		return nil, errors.New("downey: sigma must be a number of 0 or more")
	}
	meanGap, err := poissonGap("downey", m.MeanGap, m.Load, m.meanArea(), m.Processors)
	if err != nil {
		return nil, err
	}
	at, err := m.Cycle.clock()
	if err != nil {
		return nil, fmt.Errorf("downey: %w", err)
	}
	return func(yield func(*entity.Job) bool) {
		arrival := des.NewStream(m.Seed, 0, "downey.arrival")
		parallelism := des.NewStream(m.Seed, 0, "downey.parallelism")
		work := des.NewStream(m.Seed, 0, "downey.work")
		var clock float64
		for id := int64(1); id <= n; id++ {
			clock += float64(meanGap * arrival.ExpFloat64())
			// Runtime on n processors = L / S(n), with work L, speed-up S and n = round(A).
			a := m.parallelism().Rand(parallelism)
			size := math.Round(a)
			run := downeyWork.Rand(work) / DowneySpeedUp{A: a, Sigma: m.Sigma}.SpeedUp(0, int(size))
			if !yield(newJob(id, at(clock), int(size), run, -1)) {
				return
			}
		}
	}, nil
}

// meanArea is the mean of size times runtime, E[L] E[n/S(n)]. The second factor is
// computed by the midpoint rule over the quantiles of the parallelism.
func (m Downey) meanArea() float64 {
	const steps = 10_000
	var stretch float64
	for i := range steps {
		// The quantile of A at q = (i+0.5)/steps: Processors^q.
		a := math.Pow(float64(m.Processors), (float64(i)+0.5)/steps)
		n := math.Round(a)
		stretch += n / DowneySpeedUp{A: a, Sigma: m.Sigma}.SpeedUp(0, int(n)) / steps
	}
	return downeyWork.Mean() * stretch
}
