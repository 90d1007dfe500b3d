// What the models have in common: the jobs they make, and how a model without
// an arrival rate of its own reaches an offered load.

package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// newJob makes a job from the values that a model draws: its submission and its runtime in seconds,
// and its size. Both times become whole seconds, and the runtime is at least one second, as in a
// trace: a job simulated at once and a job written to a trace and read back are the same. The
// estimate is the runtime itself; Tsafrir makes better ones.
func newJob(id int64, submit float64, size int, runtime float64, queue int32) *entity.Job {
	run := des.Seconds(max(math.Floor(runtime), 1))
	return &entity.Job{ // -1: the models know no users or groups
		ID:      id,
		Submit:  des.Seconds(math.Floor(submit + 0.5)),
		Runtime: run,
		Request: entity.Request{Nodes: size, Length: run},
		User:    -1,
		Group:   -1,
		Queue:   queue,
	}
}

// checkCount returns an error if n jobs cannot be made.
func checkCount(model string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%s: the number of jobs must not be negative, %d", model, n)
	}
	return nil
}

// checkProcessors returns an error if no machine can have p processors.
func checkProcessors(model string, p int) error {
	if p < 1 || p > math.MaxInt32 {
		return fmt.Errorf("%s: %d processors", model, p)
	}
	return nil
}

// poissonGap is the mean gap in seconds of a model with Poisson arrivals for
// which no rate is published. It is either the gap that the user gives, or the
// gap at which jobs of the given mean area (processors times seconds) offer the
// load that the user gives: load = area / (gap * processors). Exactly one of the two must be above 0.
func poissonGap(model string, meanGap, load, meanArea float64, processors int) (float64, error) {
	switch {
	case meanGap > 0 && load == 0 && !math.IsInf(meanGap, 0):
		return meanGap, nil
	case load > 0 && meanGap == 0 && !math.IsInf(load, 0):
		return meanArea / (load * float64(processors)), nil
	}
	return 0, errors.New(model + ": give either MeanGap (seconds) or Load, above 0; no rate is published")
}
