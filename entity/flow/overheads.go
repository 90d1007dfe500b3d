package flow

import (
	"errors"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Overheads are the times that a machine adds to each attempt of a job: its processors are
// taken when the job is dispatched, and free again when its epilogue is over.
//
//	decision                                              free
//	  |[ dispatch ][ prologue ][ the job runs ][ epilogue ]|
//
// The job is killed when it has run for its requested time, overheads not counted. Plans
// know the overheads: requests are longer by them, so that a policy sees them before it
// decides. Observers, and the files, see a job from the beginning to the end of its hold on
// processors; Attempt.Overhead is the part that was overhead.
//
// Overheads is an Observer for a Metascheduler over counted processors with rigid jobs.
// Windows of advance reservations include the overheads.
type Overheads struct {
	Dispatch, Prologue, Epilogue Duration // nil means none

	meta *entity.Metascheduler
}

// Duration is the distribution of a time, in seconds. What is drawn below 0 counts as 0.
type Duration interface {
	// Rand draws a time.
	Rand(r *rand.Rand) float64
}

// Constant is an overhead of that many seconds for every attempt.
type Constant float64

// Rand implements Duration.
func (c Constant) Rand(*rand.Rand) float64 { return float64(c) }

// Overhead is the time that one attempt takes beside the work of its job, in three parts.
type Overhead struct{ Dispatch, Prologue, Epilogue des.Time }

// Total returns the sum of the three.
func (o Overhead) Total() des.Time { return o.Dispatch.Add(o.Prologue).Add(o.Epilogue) }

// Attach implements entity.Attacher.
func (o *Overheads) Attach(m *entity.Metascheduler) { o.meta = m }

// Of returns the overhead of an attempt of a job, counted from 0: drawn from streams of its
// own, so that it is the same under all policies.
func (o *Overheads) Of(job int64, attempt int) Overhead {
	draw := func(name string, d Duration) des.Time {
		switch d := d.(type) {
		case nil:
			return 0
		case Constant: // which needs no stream
			return max(0, des.Seconds(float64(d)))
		}
		return max(0, des.Seconds(d.Rand(o.meta.Simulator().Stream("overhead."+name, uint64(job), uint64(attempt)))))
	}
	return Overhead{draw("dispatch", o.Dispatch), draw("prologue", o.Prologue), draw("epilogue", o.Epilogue)}
}

// Observe implements entity.Observer.
func (o *Overheads) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobSubmitted && e.Kind != entity.JobRequeued {
		return
	}
	if len(e.Run.Shapes) > 0 {
		o.meta.Simulator().Fail(errMoldable)
		return
	}
	if t := o.Of(e.Run.ID, len(e.Run.Earlier())).Total(); t > 0 {
		o.meta.SetUp(e.Run, t)
	}
}

var errMoldable = errors.New("overheads are those of rigid jobs: the shapes of a moldable one do not tell of them")
