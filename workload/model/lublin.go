// The Lublin-Feitelson model of a supercomputer's workload: sizes, runtimes,
// and arrivals with a daily cycle.

package model

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Lublin generates rigid jobs by the model of Lublin and Feitelson, "The
// workload on parallel supercomputers: modeling the characteristics of rigid
// jobs", JPDC 63(11), 2003, with the constants of the authors' program
// m_lublin99.c. The zero value is the untyped model on 128 processors at its
// own load, about 0.73.
//
// Unlike the authors' program it keeps the clock in real numbers. Their program
// truncates every gap to whole seconds, but not the position in the daily cycle.
// The cycle therefore drifts through the day, and over 200,000 jobs it vanishes.
//
// The gaps are extremely heavy-tailed; their coefficient of variation is 7.
// Compare medians and quantiles of generated traces, not means, and expect the
// load of a short trace to differ from the long-run load by a tenth or more.
type Lublin struct {
	// Processors is the size of the machine and of the largest job; 0 means 128,
	// for which the constants were published.
	Processors int
	// Typed makes two populations, interactive jobs (queue 0) and batch jobs
	// (queue 1), instead of one (queue unknown).
	Typed bool
	// Load, if above 0, is the offered load to generate in the long run: mean
	// area of a job / (mean gap * processors). The gaps are scaled for it; sizes
	// and runtimes stay as they are, and the daily cycle still takes a day.
	Load float64
	// Cycle stands in place of the model's own daily cycle. Where it has no Day that
	// cycle stays, and changes with the days of the week. Nil is the model's own.
	Cycle *Cycle
	// Seed determines the random streams, one per component
	// (arrival, size, run) and population.
	Seed uint64
}

// lublinClass is one population of jobs in the Lublin-Feitelson model. The
// names in brackets are the authors'.
type lublinClass struct {
	serialProb float64 // share of jobs of size 1 [SERIAL_PROB]
	// pow2Prob is the share, of all jobs, of parallel jobs whose size is rounded to a power of two
	// [POW2_PROB]; invariant: serialProb + pow2Prob <= 1.
	pow2Prob float64
	// logSize is log2 of a parallel job's size [ULow, UMed, UHi, UProb].
	logSize twoStageUniform
	// short and long are the two gamma distributions of ln(runtime in seconds)
	// [a1, b1 and a2, b2]. A job of size n is short with probability
	// shortSlope*n + shortBase [pa, pb], cut to [0, 1].
	short, long           gamma
	shortSlope, shortBase float64
	// logGap is ln(gap in seconds) in the rush hours [aArr, bArr]. Its shape times
	// rushRatio [ARAR] is the shape over all hours.
	logGap    gamma
	rushRatio float64
	// daily says at what time of the day jobs come. It is a density over the
	// half-hours of the day, from 5:00 on around the clock [aNum, bNum].
	daily gamma
}

const (
	lublinProcessors = 128
	lublinMaxLogRun  = 12 // runtimes above e^12 s, about two days, are redrawn
	lublinMaxLogGap  = 13 // and gaps above e^13 s, about five days
	lublinBuckets    = 48 // the daily cycle: half-hours
	lublinBucket     = 1800.0
	// The cycle's gamma distribution is cut at bucket 11 and wound around.
	lublinDayStart = 11
)

// lublinAll is the published population of all jobs, for a machine of the given
// size. For sizes other than 128 the two upper borders of logSize move with log2
// of the size (UHi = log2 P, UMed = UHi-2.5), as the authors advise.
func lublinAll(processors int) lublinClass {
	return lublinClass{
		serialProb: 0.244, pow2Prob: 0.576,
		logSize: lublinLogSize(0.8, 4.5, 7, 0.86, processors),
		short:   gamma{Shape: 4.2, Scale: 0.94}, long: gamma{Shape: 312, Scale: 0.03},
		shortSlope: -0.0054, shortBase: 0.78,
		logGap: gamma{Shape: 10.2303, Scale: 0.4871}, rushRatio: 1.0225,
		daily: gamma{Shape: 8.1737, Scale: 3.9631},
	}
}

// lublinBatch is the published population of batch jobs; see lublinAll.
func lublinBatch(processors int) lublinClass {
	return lublinClass{
		serialProb: 0.2927, pow2Prob: 0.6686,
		logSize: lublinLogSize(1.2, 5, 7, 0.875, processors),
		short:   gamma{Shape: 6.57, Scale: 0.823}, long: gamma{Shape: 639.1, Scale: 0.0156},
		shortSlope: -0.003, shortBase: 0.6986,
		logGap: gamma{Shape: 6.0415, Scale: 0.8531}, rushRatio: 1.0519,
		daily: gamma{Shape: 6.1271, Scale: 5.2740},
	}
}

// lublinInteractive is the published population of interactive jobs, the
// largest of which are a third of the machine; see lublinAll.
func lublinInteractive(processors int) lublinClass {
	return lublinClass{
		serialProb: 0.1541, pow2Prob: 0.625,
		logSize: lublinLogSize(1, 3, 5.5, 0.705, processors),
		short:   gamma{Shape: 3.8351, Scale: 0.6605}, long: gamma{Shape: 7.073, Scale: 0.6856},
		shortSlope: -0.0118, shortBase: 0.9156,
		logGap: gamma{Shape: 6.5510, Scale: 0.6621}, rushRatio: 0.9797,
		daily: gamma{Shape: 8.9186, Scale: 3.6680},
	}
}

// lublinLogSize moves the upper borders from 128 processors to p. On a machine so
// small that borders would cross, they become equal.
func lublinLogSize(low, mid, high, prob float64, p int) twoStageUniform {
	shift := math.Log2(float64(p) / lublinProcessors)
	high = max(high+shift, 0)
	low = min(low, high)
	return twoStageUniform{Low: low, Mid: max(mid+shift, low), High: high, P: prob}
}

// Jobs yields n jobs in the order of submission, with the numbers 1 to n. The
// clock begins at midnight. Nothing is kept in memory, and each pass over the
// sequence yields the same jobs again. Submissions and runtimes are in whole
// seconds, and the estimate of every job is its runtime.
func (m Lublin) Jobs(n int64) (iter.Seq[*entity.Job], error) {
	if err := checkCount("lublin", n); err != nil {
		return nil, err
	}
	ps, err := m.populations()
	if err != nil {
		return nil, err
	}
	return func(yield func(*entity.Job) bool) {
		sources := make([]lublinSource, len(ps))
		for i, p := range ps {
			sources[i].start(p, m.Seed)
		}
		for id := int64(1); id <= n; id++ {
			// Each source has drawn its next arrival already.
			//
			// The population whose next arrival is earlier has the next job. At
			// a tie it is the first population, which is the interactive one.
			s := &sources[0]
			for i := range sources[1:] {
				if sources[i+1].arrivals.clock < s.arrivals.clock {
					s = &sources[i+1]
				}
			}
			submit := s.arrivals.clock
			s.arrivals.next()
			size := s.class.drawSize(s.size, s.processors)
			if !yield(newJob(id, submit, size, s.class.drawRun(s.run, size), s.queue)) {
				return
			}
		}
	}, nil
}

// lublinPopulation is a class that has passed its check, with what the model adds
// to it.
type lublinPopulation struct {
	class      lublinClass
	queue      int32     // 0 interactive, 1 batch, -1 for the population of all jobs
	processors int       // of the machine
	weights    []float64 // of equal parts of a day or a week, of mean 1
	slot       float64   // seconds of one of them
	gapFactor  float64   // gaps are multiplied by it: 1 unless a Load is asked for
}

// populations are the classes that the parameters ask for. A Cycle without a Day keeps the model's own
// day, each class its own, and multiplies it with the week.
func (m Lublin) populations() ([]lublinPopulation, error) {
	p := m.Processors
	if p == 0 {
		p = lublinProcessors
	}
	if err := checkProcessors("lublin", p); err != nil {
		return nil, err
	}
	var ps []lublinPopulation
	if m.Typed {
		ps = []lublinPopulation{
			{class: lublinInteractive(p), queue: 0},
			{class: lublinBatch(p), queue: 1},
		}
	} else {
		ps = []lublinPopulation{{class: lublinAll(p), queue: -1}}
	}
	// When jobs come: by the model's own day, or by that of a Cycle.
	for i := range ps {
		ps[i].processors = p
		ps[i].gapFactor = 1
		daily := ps[i].class.dailyWeights()
		ps[i].weights, ps[i].slot = daily[:], lublinBucket
		if m.Cycle != nil {
			if err := m.Cycle.Check(); err != nil {
				return nil, fmt.Errorf("lublin: %w", err)
			}
			cycle := *m.Cycle
			if len(cycle.Day) == 0 {
				cycle.Day = daily[:]
			}
			ps[i].weights, ps[i].slot = cycle.slots()
		}
	}
	// How far apart, for the load that is asked for: it is measured with a factor of 1.
	factor, err := m.gapFactor(ps)
	if err != nil {
		return nil, err
	}
	for i := range ps {
		ps[i].gapFactor = factor
	}
	return ps, nil
}

// gapFactor returns the factor by which gaps are multiplied so that the model offers its Load in
// the long run: its own load over the load asked for. All populations have one factor, so that
// their shares stay.
func (m Lublin) gapFactor(ps []lublinPopulation) (float64, error) {
	switch {
	case m.Load == 0:
		return 1, nil
	case ps[0].processors > mostForLoad:
		return 0, fmt.Errorf("lublin: a load can be asked for of up to %d processors, not %d", mostForLoad, ps[0].processors)
	}
	factor := offeredLoad(ps) / m.Load
	if !(factor >= 1e-6 && factor <= 1e6) {
		return 0, fmt.Errorf("lublin: gaps scaled by %v (load %v); 1e-6 to 1e6 is possible", factor, m.Load)
	}
	return factor, nil
}

// mostForLoad keeps the time that offeredLoad takes, which looks at every size of
// jobs, within about a second.
const mostForLoad = 1 << 24

// offeredLoad is the sum over the populations of mean area / (mean gap * processors).
func offeredLoad(ps []lublinPopulation) (load float64) {
	for _, p := range ps {
		load += p.class.meanArea(p.processors) / (p.gapFactor * p.class.meanGap() * float64(p.processors))
	}
	return load
}

// allHours is the distribution of ln(gap) over all hours of the day.
func (c *lublinClass) allHours() gamma {
	return gamma{Shape: c.logGap.Shape * c.rushRatio, Scale: c.logGap.Scale}
}

// dailyWeights says how dense arrivals are in each half-hour from midnight on. The
// mean of the weights is 1. Bucket i of the authors has the share of the gamma distribution within half
// a bucket of i, for i from 11 to 58; bucket 49 is bucket 1 of the next day. Their buckets count from
// 1, hence i-1.
func (c *lublinClass) dailyWeights() (w [lublinBuckets]float64) {
	var sum float64
	for i := lublinDayStart; i < lublinDayStart+lublinBuckets; i++ {
		share := c.daily.CDF(float64(i)+0.5) - c.daily.CDF(float64(i)-0.5)
		w[(i-1)%lublinBuckets] = share
		sum += share
	}
	for i := range w {
		w[i] /= sum / lublinBuckets
	}
	return w
}

// drawSize draws a job's size: 1, 2^round(x) or round(2^x), where x has the distribution logSize. One
// uniform decides which of the three. Rounding to a power of two may exceed a machine
// whose own size is no power of two; then the largest power that fits is taken.
func (c *lublinClass) drawSize(r *rand.Rand, processors int) int {
	u := r.Float64()
	if u < c.serialProb {
		return 1
	}
	x := c.logSize.Rand(r)
	if u < c.serialProb+c.pow2Prob {
		return 1 << min(int(x+0.5), log2Floor(processors))
	}
	return int(math.Exp2(x) + 0.5)
}

// log2Floor is the exponent of the largest power of two that is not above n, for n >= 1.
func log2Floor(n int) int { return bits.Len(uint(n)) - 1 }

// sizeProb returns the probability that a job of this class has the given size, on a machine of the
// given size: the sum over the three ways of drawSize. For a size of either kind it is the
// probability of the values that drawSize rounds to it; the largest power of two also has the
// probability of all values above it.
func (c *lublinClass) sizeProb(size, processors int) float64 {
	if size < 1 || size > processors {
		return 0
	}
	var p float64
	if size == 1 {
		p = c.serialProb
	}
	if k := log2Floor(size); size == 1<<k {
		upper := 1.0
		if k < log2Floor(processors) {
			upper = c.logSize.CDF(float64(k) + 0.5)
		}
		p += float64(c.pow2Prob * (upper - c.logSize.CDF(float64(k)-0.5)))
	}
	n := float64(size)
	return p + float64((1-c.serialProb-c.pow2Prob)*(c.logSize.CDF(math.Log2(n+0.5))-c.logSize.CDF(math.Log2(n-0.5))))
}

// logRun is the distribution of ln(runtime) of a job of the given size.
func (c *lublinClass) logRun(size int) hyperGamma {
	p := float64(c.shortSlope*float64(size)) + c.shortBase
	return hyperGamma{P: min(max(p, 0), 1), First: c.short, Second: c.long}
}

// drawRun draws a runtime in whole seconds, at least 1.
func (c *lublinClass) drawRun(r *rand.Rand, size int) float64 {
	d := c.logRun(size)
	g := d.Rand(r)
	for g > lublinMaxLogRun {
		g = d.Rand(r)
	}
	return math.Floor(math.Exp(g))
}

// meanArea is the mean of size times runtime in processor seconds, E[n T(n)] over all sizes n. The
// mean runtime of a size is the mean of e^X over the two gamma distributions, each cut at
// lublinMaxLogRun and weighted by the share of its draws that drawRun keeps.
func (c *lublinClass) meanArea(processors int) float64 {
	short, long := c.short.expMean(lublinMaxLogRun), c.long.expMean(lublinMaxLogRun)
	shortKept, longKept := c.short.CDF(lublinMaxLogRun), c.long.CDF(lublinMaxLogRun)
	var area float64
	for n := 1; n <= processors; n++ {
		p := c.logRun(n).P
		run := (float64(p*short) + float64((1-p)*long)) / (float64(p*shortKept) + float64((1-p)*longKept))
		// Cutting to whole seconds takes half a second on average.
		area += float64(c.sizeProb(n, processors) * float64(n) * (run - 0.5))
	}
	return area
}

// meanGap is the mean gap in seconds over whole days, E[e^X; X <= 13] / P(X <= 13). The daily cycle
// cancels out of it, since the mean of its weights is 1.
func (c *lublinClass) meanGap() float64 {
	d := c.allHours()
	return d.expMean(lublinMaxLogGap) / d.CDF(lublinMaxLogGap)
}

// lublinSource draws the jobs of one population.
type lublinSource struct {
	lublinPopulation
	arrivals  lublinArrivals
	size, run *rand.Rand // the streams of the components
}

// start begins the source at midnight, with its first arrival drawn. The streams of a population depend
// on the seed and its queue alone.
func (s *lublinSource) start(p lublinPopulation, seed uint64) {
	stream := func(component string) *rand.Rand {
		return des.NewStream(seed, 0, "lublin."+component, uint64(p.queue+1))
	}
	s.lublinPopulation = p
	s.size, s.run = stream("size"), stream("run")
	s.arrivals = lublinArrivals{
		logGap:  p.class.allHours(),
		factor:  p.gapFactor,
		weights: p.weights,
		slot:    p.slot,
		stream:  stream("arrival"),
	}
	s.arrivals.next()
}

// lublinArrivals is the arrival process. A gap is drawn as if arrivals were uniform
// over the day, and it is then paid for in points. A half-hour costs its weight
// in points, so that a gap takes little time when jobs are many and much time
// when they are few:
//
//	weight of a half-hour   | 0.2 | 0.2 | 0.2 | 1.2 | 1.8 |
//	a gap of 0.6 points     |<--------------->|     |<>   |
type lublinArrivals struct {
	logGap  gamma
	factor  float64
	weights []float64 // of half-hours, or of the slots of a Cycle
	slot    float64   // seconds of one of them
	stream  *rand.Rand

	clock  float64 // the next arrival, in seconds from the first midnight
	passed int64   // whole slots before it
	points float64 // what has been paid for the present one; 0 <= points <= its weight
}

// next draws the next arrival. A slot without a weight takes no points, so that no job comes in it.
func (a *lublinArrivals) next() {
	g := a.logGap.Rand(a.stream)
	for g > lublinMaxLogGap {
		g = a.logGap.Rand(a.stream)
	}
	a.points += float64(a.factor * math.Exp(g) / a.slot)
	n := int64(len(a.weights))
	w := a.weights[a.passed%n]
	for a.points > w || w == 0 {
		a.points -= w
		a.passed++
		w = a.weights[a.passed%n]
	}
	a.clock = a.slot * (float64(a.passed) + a.points/w)
}
