// Jobs of any distributions: Poisson and other renewal arrivals.

package model

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Renewal generates jobs whose gaps, sizes and runtimes are drawn independently, each from a
// distribution of the user's choice. With gaps without memory, the default, the arrivals are a
// Poisson process. No constants are published, since it is no model of any machine: it is the model
// of queueing theory, with which other models are compared.
//
// What is drawn for a size is rounded, and drawn anew where it is not from 1 to
// Processors; a runtime is rounded to whole seconds, one at least.
type Renewal struct {
	// Processors is the size of the machine; 0 means 128.
	Processors int
	// Gap is the time between submissions in seconds; nil is exponential, and then
	// MeanGap or Load must be given.
	Gap Distribution
	// Size and Run are processors and seconds.
	Size, Run Distribution
	// MeanGap is the mean time between submissions in seconds, and Load the offered load
	// to reach: Gap is scaled to either. At most one of them may be given.
	MeanGap, Load float64
	// Cycle says when jobs come during days and weeks; nil is evenly.
	Cycle *Cycle
	// Seed determines the random streams, one per component
	// (arrival, size, run).
	Seed uint64
}

// Jobs yields n jobs in the order of submission; see Lublin.Jobs.
func (m Renewal) Jobs(n int64) (iter.Seq[*entity.Job], error) {
	m.Processors = cmp.Or(m.Processors, 128)
	if err := errors.Join(checkCount("renewal", n), checkProcessors("renewal", m.Processors)); err != nil {
		return nil, err
	}
	of := sizes{m.Size, m.Processors}
	if err := checkSizesAndRuns(of, m.Run); err != nil {
		return nil, fmt.Errorf("renewal: %w", err)
	}
	factor, err := m.gapFactor(of)
	if err != nil {
		return nil, err
	}
	at, err := m.Cycle.clock()
	if err != nil {
		return nil, fmt.Errorf("renewal: %w", err)
	}
	if m.Gap == nil {
		m.Gap = Exponential{Scale: 1}
	}
	return func(yield func(*entity.Job) bool) {
		arrival := des.NewStream(m.Seed, 0, "renewal.arrival")
		size := des.NewStream(m.Seed, 0, "renewal.size")
		run := des.NewStream(m.Seed, 0, "renewal.run")
		var clock float64
		for id := int64(1); id <= n; id++ {
			clock += float64(factor * m.Gap.Rand(arrival))
			if !yield(newJob(id, at(clock), of.rand(size), atLeastOne(m.Run, run), -1)) {
				return
			}
		}
	}, nil
}

// gapFactor returns the factor by which gaps are multiplied so that their mean is MeanGap or makes
// the Load. Gaps of the default have a mean of 1 before.
func (m Renewal) gapFactor(of sizes) (float64, error) {
	if m.Gap == nil {
		return poissonGap("renewal", m.MeanGap, m.Load, of.area(m.Run, m.Load), m.Processors)
	}
	if err := checkTimes("gaps", m.Gap); err != nil {
		return 0, fmt.Errorf("renewal: %w", err)
	}
	if m.Gap.Mean() == 0 {
		return 0, errors.New("renewal: the gaps must not all be 0")
	}
	if m.MeanGap == 0 && m.Load == 0 {
		return 1, nil
	}
	gap, err := poissonGap("renewal", m.MeanGap, m.Load, of.area(m.Run, m.Load), m.Processors)
	return gap / m.Gap.Mean(), err
}

// area is the mean of size times runtime, where a load asks for it.
func (s sizes) area(run Distribution, load float64) float64 {
	if load == 0 {
		return 0
	}
	return s.mean() * meanAtLeastOne(run)
}

// checkSizesAndRuns returns an error if no jobs can be made of them.
func checkSizesAndRuns(of sizes, run Distribution) error {
	if of.of == nil || run == nil {
		return errors.New("the distributions of sizes and runtimes must be given")
	}
	if err := of.of.Check(); err != nil {
		return fmt.Errorf("sizes: %w", err)
	}
	return errors.Join(of.check(), checkTimes("runtimes", run))
}

// checkTimes returns an error if a distribution can be below 0, or has no mean.
func checkTimes(what string, d Distribution) error {
	if err := d.Check(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	switch mean := d.Mean(); {
	case below(d, 0) > 0:
		return fmt.Errorf("%s: %+v can be below 0", what, d)
	case !(mean >= 0 && mean <= longestMean):
		return fmt.Errorf("%s: the mean of %+v must be a number of 0 or more, not %v", what, d, mean)
	}
	return nil
}

// longestMean is far above any time that jobs take: ten thousand years.
const longestMean = 3e11
