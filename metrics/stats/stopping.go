package stats

// Replicating until a mean is known well enough.

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/internal/chance"
)

// Stopping is fed the observations of one replication after another and says when there
// are enough of them for the mean. At least one of Relative and Absolute is needed;
// where both are set, either is enough.
//
//	s := stats.Stopping{Relative: 0.05}
//	for !s.Enough() {
//		s.Add(nextReplication())
//	}
//
// The interval covers the mean a little less often than Level, as it is looked at more than
// once; a Minimum of 10 and a Relative of 0.15 at most keep that small (A. Law, Simulation
// Modeling and Analysis, 5th ed. 2015, section 9.4.1). In the limit of
// narrow intervals it covers as it says (Y. Chow and H. Robbins, Annals of Mathematical
// Statistics 36(2), 1965).
type Stopping struct {
	// Relative is by what share of the true mean the estimate may be off. The half
	// width is held against Relative/(1+Relative) of the estimate, as that is what is
	// known (Law, the same section).
	Relative float64
	// Absolute is by how much the estimate may be off, the half width.
	Absolute float64
	// Level is that of the interval; 0 is 0.95.
	Level float64
	// Minimum is the least number of replications; 0 is 10.
	Minimum int

	seen metrics.Moments
}

// Check is an error where the settings ask for nothing or for what cannot be.
func (s *Stopping) Check() error {
	var errs []error
	if !(s.Relative >= 0) || !(s.Absolute >= 0) || math.IsInf(s.Relative, 0) || math.IsInf(s.Absolute, 0) {
		errs = append(errs, fmt.Errorf("the half width is to be %v of the mean or %v: positive numbers are wanted", s.Relative, s.Absolute))
	} else if s.Relative == 0 && s.Absolute == 0 {
		errs = append(errs, errors.New("neither a relative nor an absolute half width is given: there would never be enough replications"))
	}
	if s.Minimum < 0 || s.Minimum == 1 {
		errs = append(errs, fmt.Errorf("a minimum of %d replications: 2 are the least of which there is an interval", s.Minimum))
	}
	return errors.Join(append(errs, probability("level", s.level()))...)
}

// Add takes the observation of one more replication in.
func (s *Stopping) Add(x float64) { s.seen.Add(x) }

// Interval is the mean of what was seen.
func (s *Stopping) Interval() metrics.Interval { return s.seen.Interval(s.level()) }

// Enough reports whether the mean is known well enough.
func (s *Stopping) Enough() bool {
	return s.seen.N() >= s.minimum() && s.Interval().HalfWidth <= s.goal()
}

// Needed is how many more replications it will probably take, if the mean and the variance
// stay what they are now: 0 where there are enough, and -1 where that cannot be told, of
// fewer than two replications, where no number would do, or where Check finds fault.
func (s *Stopping) Needed() int {
	n := s.seen.N()
	if s.Enough() {
		return 0
	}
	goal := s.goal()
	if n < 2 || !(goal > 0) || s.Check() != nil {
		return -1
	}
	const most = 1 << 30
	total := s.minimum() + sort.Search(most, func(more int) bool {
		return halfWidth(s.seen.StdDev(), s.minimum()+more, s.level()) <= goal
	})
	if total >= most {
		return -1
	}
	return max(1, total-n)
}

// goal is the half width that is narrow enough.
func (s *Stopping) goal() float64 {
	return max(s.Absolute, s.Relative/(1+s.Relative)*math.Abs(s.seen.Mean()))
}

func (s *Stopping) level() float64 {
	if s.Level == 0 {
		return 0.95
	}
	return s.Level
}

func (s *Stopping) minimum() int {
	if s.Minimum == 0 {
		return 10
	}
	return s.Minimum
}

// halfWidth is that of a mean of n observations with this standard deviation.
func halfWidth(deviation float64, n int, level float64) float64 {
	return chance.Student(n-1).Quantile((1+level)/2) * deviation / math.Sqrt(float64(n))
}
