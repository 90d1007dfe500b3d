// Owners' own jobs, for queues.

package vo

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// OwnJobs generates the jobs that an owner sends to the queue of his own nodes
// (flow.LocalQueue): a Poisson stream. The papers put owners' tasks at fixed times
// (Load); the queue and its settings are ours.
type OwnJobs struct {
	Gap    float64 `yaml:"gap"`    // mean time between two jobs, in time units, above 0
	Nodes  Range   `yaml:"nodes"`  // whole numbers; the zero value means [1, 1]
	Length Range   `yaml:"length"` // on a node of performance 1, in time units; the zero value means [10, 100]
	Real   Range   `yaml:"real"`   // what part of its length a job really takes; the zero value means [1, 1]
}

// Check reports settings that make no sense, or nil.
func (o OwnJobs) Check() error {
	if !(o.Gap > 0) || math.IsInf(o.Gap, 0) {
		return errors.New("own jobs: want a mean time between them (gap) above 0")
	}
	if o.Real.or(Range{1, 1}).Max > 1 {
		return errors.New("own jobs: a job cannot really take more than its estimate")
	}
	return errors.Join(
		o.Nodes.or(Range{1, 1}).check("own jobs: nodes", 1),
		o.Length.or(Range{10, 100}).check("own jobs: length", math.SmallestNonzeroFloat64),
		o.Real.or(Range{1, 1}).check("own jobs: real part of the estimate", 0),
	)
}

// Generate makes the jobs that come before the instant until, IDs from 1.
func (o OwnJobs) Generate(r *rand.Rand, until des.Time) ([]entity.Job, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var jobs []entity.Job
	for at := des.Time(0); ; {
		at = at.Add(des.Seconds(o.Gap * r.ExpFloat64()))
		if at >= until {
			return jobs, nil
		}
		n := o.Nodes.or(Range{1, 1}).whole(r)
		length := max(des.Seconds(o.Length.or(Range{10, 100}).real(r)), des.Tick)
		jobs = append(jobs, entity.Job{
			ID: int64(len(jobs) + 1), User: -1, Group: -1, Queue: -1, Submit: at,
			Runtime: des.Time(float64(length) * o.Real.or(Range{1, 1}).real(r)),
			Request: entity.Request{Nodes: n, Length: length},
		})
	}
}
