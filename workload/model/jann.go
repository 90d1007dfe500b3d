// The Jann model. Each range of sizes has a stream of jobs of its own, with
// hyper-Erlang gaps and runtimes that are fitted to the moments of a log.

package model

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Jann generates jobs by the model of Jann, Pattnaik, Franke, Wang, Skovira and
// Riordan, "Modeling of workload in MPPs", JSSPP 1997: jobs are divided by size
// into ranges, and in each range the gaps and the runtimes follow hyper-Erlang
// distributions of common order with a log's first three moments.
//
// The paper's tables (CTC SP2, 322 nodes, 1996) are not at hand; FitJann fits the
// ranges to a log instead. That a size within a range is drawn as often as the
// log has it is our own addition.
type Jann struct {
	Ranges []JannRange
	// Load, if above 0, is the offered load to generate in the long run on so many
	// Processors. The gaps of all ranges are scaled for it alike; sizes and runtimes stay
	// as they are.
	Load       float64
	Processors int
	// Cycle says when jobs come during days and weeks; nil is evenly.
	Cycle *Cycle
	// Seed determines the random streams, one per component
	// (arrival, size, run) and range.
	Seed uint64
}

// JannRange describes the jobs of one range of sizes.
type JannRange struct {
	Sizes []sizeCount // ascending
	// Gap and Run are the times between submissions and the runtimes, in
	// seconds.
	Gap, Run HyperErlang
	// GapMoments and RunMoments say how many moments the distributions share with
	// the log: 3, or 1 where no hyper-Erlang distribution has all three.
	GapMoments, RunMoments int
}

// sizeCount is a size and the number of jobs that have it.
type sizeCount struct{ Size, Jobs int }

// Jobs is the number of jobs the range was fitted to.
func (r *JannRange) Jobs() int {
	n := 0
	for _, s := range r.Sizes {
		n += s.Jobs
	}
	return n
}

// PowersOfTwo are the upper borders 1, 2, 4, ... of ranges up to processors,
// the last one being processors itself.
func PowersOfTwo(processors int) []int {
	var borders []int
	for b := 1; b < processors; b *= 2 {
		borders = append(borders, b)
	}
	return append(borders, processors)
}

// MultiplesOf are the upper borders 1, step, 2 step, ... of ranges up to
// processors, the last one being processors itself; Jann et al. use a step of 5.
func MultiplesOf(step, processors int) []int {
	borders := []int{1}
	for b := max(step, 2); b < processors; b += max(step, 1) {
		borders = append(borders, b)
	}
	if processors > 1 {
		borders = append(borders, processors)
	}
	return borders
}

// FitJann fits the model to jobs in the order of submission. Range i holds the
// sizes above borders[i-1], up to borders[i]; see PowersOfTwo and MultiplesOf.
// Ranges without jobs are left out. Distributions have orders up to maxOrder; the
// paper's orders are mostly 1 and at most 7. If no hyper-Erlang distribution has
// the three moments, or there are too few jobs, the Erlang distribution is taken
// that has the mean and, as near as its order allows, the variation.
func FitJann(jobs iter.Seq[*entity.Job], borders []int, maxOrder int) (Jann, error) {
	if len(borders) == 0 || borders[0] < 1 || !slices.IsSorted(borders) {
		return Jann{}, fmt.Errorf("jann: borders of the sizes must ascend from 1 or more, not %v", borders)
	}
	if maxOrder < 1 {
		return Jann{}, fmt.Errorf("jann: orders up to %d", maxOrder)
	}
	// One pass collects, for each range, the moments of gaps and runtimes and how often each size is.
	type collected struct {
		gaps, runs moments
		latest     float64     // the submission of the range's latest job, in seconds
		sizes      map[int]int // jobs by size; nil before the first
	}
	ranges := make([]collected, len(borders))
	var first, last float64
	seen := false
	for j := range jobs {
		i, _ := slices.BinarySearch(borders, j.Request.Nodes)
		if i == len(borders) || j.Request.Nodes < 1 {
			return Jann{}, fmt.Errorf("jann: %v of size %d is in no range of %v", j, j.Request.Nodes, borders)
		}
		r := &ranges[i]
		last = j.Submit.Seconds()
		if !seen {
			seen, first = true, last
		}
		if r.sizes == nil {
			r.sizes = map[int]int{}
		} else {
			r.gaps.add(last - r.latest)
		}
		r.latest = last
		r.runs.add(j.Runtime.Seconds())
		r.sizes[j.Request.Nodes]++
	}
	// Each range that has jobs is fitted by itself.
	var model Jann
	for _, r := range ranges {
		if r.sizes == nil {
			continue
		}
		if r.gaps.n == 0 {
			r.gaps.add(last - first) // a single job comes once in the time of the log
		}
		var fitted JannRange
		fitted.Gap, fitted.GapMoments = r.gaps.fit(maxOrder)
		fitted.Run, fitted.RunMoments = r.runs.fit(maxOrder)
		for size, n := range r.sizes {
			fitted.Sizes = append(fitted.Sizes, sizeCount{size, n})
		}
		slices.SortFunc(fitted.Sizes, func(a, b sizeCount) int { return a.Size - b.Size })
		model.Ranges = append(model.Ranges, fitted)
	}
	if !seen {
		return Jann{}, errors.New("jann: there are no jobs to fit to")
	}
	return model, nil
}

// moments collects the sums of the first three powers of a sample of n values.
type moments struct{ n, sum, squares, cubes float64 }

// add adds a value in seconds.
func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += float64(x * x)
	m.cubes += float64(x * x * x)
}

// fit returns a distribution and the number of moments that it shares with the
// sample: 3, or 1. An Erlang distribution of order n has variance mean^2/n, which gives the order that
// comes nearest to the sample's variance.
func (m *moments) fit(maxOrder int) (HyperErlang, int) {
	mean, second, third := m.sum/m.n, m.squares/m.n, m.cubes/m.n
	if h, err := fitHyperErlang(mean, second, third, maxOrder); err == nil {
		return h, 3
	}
	mean = max(mean, 1) // all times zero
	order := maxOrder   // no variation at all
	if variance := second - float64(mean*mean); variance > 0 {
		order = int(min(max(math.Round(mean*mean/variance), 1), float64(maxOrder)))
	}
	rate := float64(order) / mean
	return HyperErlang{P: 1, Order: order, Rate1: rate, Rate2: rate}, 1
}

// offeredLoad is the load that the model offers in the long run to a machine of that many processors
// if no Load is asked for: the sum over the ranges of E[size] E[runtime] / (E[gap] processors).
func (m Jann) offeredLoad(processors int) float64 {
	var load float64
	for i := range m.Ranges {
		r := &m.Ranges[i]
		var size float64
		for _, s := range r.Sizes {
			size += float64(s.Size) * float64(s.Jobs)
		}
		size /= float64(r.Jobs())
		load += float64(size * meanAtLeastOne(r.Run) / r.Gap.Mean())
	}
	return load / float64(processors)
}

// Check returns an error if the parameters make no sense.
func (m Jann) Check() error {
	if len(m.Ranges) == 0 {
		return errors.New("jann: no ranges; FitJann makes them of a log")
	}
	for i := range m.Ranges {
		r := &m.Ranges[i]
		if err := errors.Join(r.Gap.Check(), r.Run.Check()); err != nil {
			return fmt.Errorf("jann: range %d: %w", i, err)
		}
		for _, s := range r.Sizes {
			if s.Size < 1 || s.Jobs < 0 {
				return fmt.Errorf("jann: range %d: %d jobs of size %d", i, s.Jobs, s.Size)
			}
		}
		if r.Jobs() == 0 {
			return fmt.Errorf("jann: range %d has no sizes", i)
		}
	}
	if _, err := m.Cycle.clock(); err != nil {
		return fmt.Errorf("jann: %w", err)
	}
	return nil
}

// Jobs yields n jobs in the order of submission; see Lublin.Jobs.
func (m Jann) Jobs(n int64) (iter.Seq[*entity.Job], error) {
	if err := errors.Join(checkCount("jann", n), m.Check()); err != nil {
		return nil, err
	}
	at, _ := m.Cycle.clock() // as checked
	factor := 1.0
	if m.Load != 0 {
		if err := checkProcessors("jann", m.Processors); err != nil {
			return nil, err
		}
		if factor = m.offeredLoad(m.Processors) / m.Load; !(factor > 0) || math.IsInf(factor, 0) {
			return nil, fmt.Errorf("jann: a load of %v", m.Load)
		}
	}
	return func(yield func(*entity.Job) bool) {
		type source struct {
			*JannRange
			arrival, size, run *rand.Rand // the streams of the components
			clock              float64    // the next submission, in seconds before the factor
			jobs               int        // of the fit: one in so many has a size once
		}
		sources := make([]source, len(m.Ranges))
		for i := range sources {
			stream := func(component string) *rand.Rand {
				return des.NewStream(m.Seed, 0, "jann."+component, uint64(i))
			}
			r := &m.Ranges[i]
			sources[i] = source{r, stream("arrival"), stream("size"), stream("run"), 0, r.Jobs()}
			sources[i].clock = r.Gap.Rand(sources[i].arrival)
		}
		for id := int64(1); id <= n; id++ {
			// The range whose next submission is earlier has the next job, at a tie the smaller one.
			s := &sources[0]
			for i := range sources {
				if sources[i].clock < s.clock {
					s = &sources[i]
				}
			}
			submit := s.clock
			s.clock += s.Gap.Rand(s.arrival)
			// A size, as often as the log has it.
			k, size := s.size.IntN(s.jobs), 0
			for _, c := range s.Sizes {
				if size = c.Size; k < c.Jobs {
					break
				}
				k -= c.Jobs
			}
			// Logs round runtimes to whole seconds. The half makes newJob round too,
			// instead of cutting.
			if !yield(newJob(id, at(factor*submit), size, s.Run.Rand(s.run)+0.5, -1)) {
				return
			}
		}
	}, nil
}
