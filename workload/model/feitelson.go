// Feitelson's model of 1996, in which jobs are run again and again.

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

// Feitelson generates jobs after Feitelson, "Packing schemes for gang
// scheduling", JSSPP 1996: small sizes prevail (harmonic of order 1.5), runtimes
// vary more than exponentially and weakly grow with the size, and a job is run
// several times in a row.
//
// Two parts are unverified: the law of the runtimes (hyperexponential, of mean 1 with probability
// 0.95 - 0.2 n/P, otherwise of mean 7), and the law of the repetitions (P(r) proportional to
// r^-2.5, each submitted when the repetition before it ends). The hand-tailoring of sizes to
// powers of two is missing, because its constants could not be found. The unit of the runtimes and
// the rate of the arrivals, which are Poisson here, are not published; both must be given. Three
// things are our own additions: repetitions are cut at 1000, all runs of a job have the same
// size and runtime, and a run is taken to end as if it had not waited.
type Feitelson struct {
	// Processors is the size of the machine; 0 means 128.
	Processors int
	// TimeUnit is the mean of the shorter runtimes in seconds. It must be given.
	TimeUnit float64
	// MeanGap is the mean time in seconds between first runs, and Load is the
	// offered load to reach. One of the two must be given.
	MeanGap, Load float64
	// Cycle says when jobs come for the first time during days and weeks; nil is evenly.
	Cycle *Cycle
	// Seed determines the random streams, one per component
	// (arrival, size, run, repeat).
	Seed uint64
}

const (
	feitelsonSizeOrder   = 1.5 // P(size = n) is proportional to n^-1.5
	feitelsonRepeatOrder = 2.5 // P(r runs) is proportional to r^-2.5
	feitelsonMostRuns    = 1000
	feitelsonLongMean    = 7 // the mean of the longer runtimes, in TimeUnits
)

// feitelsonShort is the probability of a short runtime.
func feitelsonShort(size, processors int) float64 {
	return 0.95 - float64(0.2*float64(size)/float64(processors))
}

// feitelsonJob is a job that has runs to come.
type feitelsonJob struct {
	runtime    float64 // of each run, in whole seconds
	size, left int     // processors; runs to come
	number     int64   // of the job, from 1; runs have numbers of their own
}

// Jobs yields n runs in the order of submission; see Lublin.Jobs. Only jobs that
// have runs to come are kept in memory.
func (m Feitelson) Jobs(n int64) (iter.Seq[*entity.Job], error) {
	m.Processors = cmp.Or(m.Processors, 128)
	if err := m.check(n); err != nil {
		return nil, err
	}
	sizes := zipf{Order: feitelsonSizeOrder, N: m.Processors}
	repeats := zipf{Order: feitelsonRepeatOrder, N: feitelsonMostRuns}
	meanGap, err := poissonGap("feitelson", m.MeanGap, m.Load, m.meanArea(sizes)*repeats.Mean(), m.Processors)
	if err != nil {
		return nil, err
	}
	at, err := m.Cycle.clock()
	if err != nil {
		return nil, fmt.Errorf("feitelson: %w", err)
	}
	return func(yield func(*entity.Job) bool) {
		arrival := des.NewStream(m.Seed, 0, "feitelson.arrival")
		size := des.NewStream(m.Seed, 0, "feitelson.size")
		run := des.NewStream(m.Seed, 0, "feitelson.run")
		repeat := des.NewStream(m.Seed, 0, "feitelson.repeat")
		// The agenda has the next run of each job under way, and the first run of one job to come:
		// when that job has come, the one after it is drawn.
		var runs agenda[*feitelsonJob]
		var clock float64 // first runs, before the Cycle
		var number int64  // jobs drawn so far
		arrive := func() {
			clock += float64(meanGap * arrival.ExpFloat64())
			number++
			j := &feitelsonJob{size: int(sizes.Rand(size)), left: int(repeats.Rand(repeat)), number: number}
			mean := m.TimeUnit
			if run.Float64() >= feitelsonShort(j.size, m.Processors) {
				mean *= feitelsonLongMean
			}
			j.runtime = max(math.Floor(mean*run.ExpFloat64()), 1)
			runs.add(at(clock), j)
		}
		arrive()
		for id := int64(1); id <= n; id++ {
			submit, j := runs.take()
			if j.number == number {
				arrive() // the latest job has come: draw the next one
			}
			if !yield(newJob(id, submit, j.size, j.runtime, -1)) {
				return
			}
			if j.left--; j.left > 0 {
				runs.add(submit+j.runtime, j)
			}
		}
	}, nil
}

// check returns an error if n jobs cannot be made with these parameters.
func (m Feitelson) check(n int64) error {
	if !(m.TimeUnit > 0) || math.IsInf(m.TimeUnit, 0) {
		return fmt.Errorf("feitelson: give TimeUnit, the mean of the shorter runtimes in seconds, above 0, not %v; none is published", m.TimeUnit)
	}
	return errors.Join(checkCount("feitelson", n), checkProcessors("feitelson", m.Processors))
}

// meanArea is the mean of size times runtime of one run, in processor seconds: the sum over sizes n of
// P(n) n E[runtime | n]. The small terms come first, so that rounding loses least.
func (m Feitelson) meanArea(sizes zipf) float64 {
	var area, weight float64
	for n := m.Processors; n >= 1; n-- {
		p := math.Pow(float64(n), -sizes.Order)
		short := feitelsonShort(n, m.Processors)
		weight += p
		area += float64(p * float64(n) * m.TimeUnit * (short + float64((1-short)*feitelsonLongMean)))
	}
	return area / weight
}
