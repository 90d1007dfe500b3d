// The f-model of estimates.

package model

import (
	"fmt"
	"iter"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// FModel gives jobs estimates of f times their runtimes, with f uniform from 1 to Most:
// the f-model, by which A. Mu'alem and D. Feitelson, "Utilization, predictability,
// workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE
// TPDS 12(6), 2001, and others after them looked at what inexact estimates do. (From the
// literature about it, not compared with the paper.) It has nothing of how users round;
// Tsafrir has.
//
// The estimate of a job depends on the seed, its number and its runtime alone.
type FModel struct {
	Most float64 // the largest factor, from 1 (exact estimates) to MostFactor
	Seed uint64  // determines the factors
}

// MostFactor is the largest factor of an estimate.
const MostFactor = 1e6

// longestEstimate bounds an estimate, in seconds: it is as much as a trace can hold.
const longestEstimate = 1e12

// Check returns an error if the parameters make no sense.
func (m FModel) Check() error {
	if !(m.Most >= 1 && m.Most <= MostFactor) {
		return fmt.Errorf("f-model: the largest factor must be a number from 1 to %v, not %v", float64(MostFactor), m.Most)
	}
	return nil
}

// Estimate is the estimate of the job of that number, rounded up to whole seconds.
func (m FModel) Estimate(job int64, runtime des.Time) des.Time {
	f := 1 + float64((m.Most-1)*des.NewStream(m.Seed, 0, "fmodel", uint64(job)).Float64())
	return max(des.Time(min(math.Ceil(runtime.Seconds()*f), longestEstimate))*des.Second, runtime)
}

// Attach gives the jobs of a sequence their estimates: it yields copies.
func (m FModel) Attach(jobs iter.Seq[*entity.Job]) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		for j := range jobs {
			given := *j
			given.Request.Length = m.Estimate(j.ID, j.Runtime)
			if !yield(&given) {
				return
			}
		}
	}
}
