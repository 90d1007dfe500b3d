// Flurries: bursts of one user's near-identical jobs.

package model

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Flurries puts bursts of one user's near-identical jobs among the jobs of a model. D.
// Tsafrir and D. Feitelson, "Instability in parallel job scheduling simulation: the role
// of workload flurries", IPDPS 2006, found such bursts in logs: rare, repetitive, by a
// single user, and able to decide the averages of a whole log. They published no model of
// them: this generator is our own, and so are its defaults.
//
// Each job of the model is the first of a flurry with probability 1/Every. Then Jobs further jobs of
// its size, about its runtime and the same user follow it.
type Flurries struct {
	// Every is the mean number of jobs of the model for one flurry, 1 or more.
	Every float64
	// Jobs is the number of further jobs of a flurry, after the first one; 0 means 100.
	Jobs int
	// Gap is the mean time between two jobs of a flurry in seconds, exponential; 0 means 10.
	Gap float64
	// Spread is the greatest difference of a runtime from the runtime of the first job, as a part
	// of the latter, 0 to 1. Differences are uniform, up and down.
	Spread float64
	// Seed determines the random streams.
	Seed uint64
}

// Check returns an error if the parameters make no sense.
func (f Flurries) Check() error {
	switch {
	case !(f.Every >= 1) || math.IsInf(f.Every, 0):
		return fmt.Errorf("flurries: one of so many jobs begins one, 1 or more, not %v", f.Every)
	case f.Jobs < 0 || !(f.Gap >= 0) || math.IsInf(f.Gap, 0):
		return errors.New("flurries: the jobs and the time between them must not be negative")
	case !(f.Spread >= 0 && f.Spread <= 1):
		return fmt.Errorf("flurries: the spread must be from 0 to 1, not %v", f.Spread)
	}
	return nil
}

// withDefaults has the defaults in place of zeros.
func (f Flurries) withDefaults() Flurries {
	if f.Jobs == 0 {
		f.Jobs = 100
	}
	if f.Gap == 0 {
		f.Gap = 10
	}
	return f
}

// Factor returns the factor by which flurries multiply the number of jobs, and the load, in the
// long run.
func (f Flurries) Factor() float64 { return 1 + float64(f.withDefaults().Jobs)/f.Every }

// flurry is a flurry that is under way.
type flurry struct {
	of   *entity.Job // its first job
	left int         // how many jobs are to come
}

// Inject yields the jobs of the model and the jobs of the flurries, in the order of submission,
// numbered from 1. A flurry gets the user of its first job. If that user is unknown, the flurry
// gets a new user; such users are numbered from 1. Flurries that are under way when the jobs of the
// model end go on to their ends. The jobs must not come after others (Job.After), since their
// numbers change.
func (f Flurries) Inject(jobs iter.Seq[*entity.Job]) (iter.Seq[*entity.Job], error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	f = f.withDefaults()
	return func(yield func(*entity.Job) bool) {
		random := des.NewStream(f.Seed, 0, "flurries")
		var under agenda[*flurry]
		var id int64
		give := func(j *entity.Job) bool {
			id++
			one := *j
			one.ID = id
			return yield(&one)
		}
		// until yields what flurries have up to an instant.
		until := func(end float64) bool {
			for at, ok := under.next(); ok && at < end; at, ok = under.next() {
				_, next := under.take()
				if !give(f.follower(next.of, at, random)) {
					return false
				}
				if next.left--; next.left > 0 {
					under.add(at+float64(f.Gap*random.ExpFloat64()), next)
				}
			}
			return true
		}
		users := int32(0)
		for j := range jobs {
			at := j.Submit.Seconds()
			if !until(at) {
				return
			}
			if random.Float64() < 1/f.Every {
				first := *j
				if j = &first; j.User < 0 {
					users++
					j.User = users
				}
				under.add(at+float64(f.Gap*random.ExpFloat64()), &flurry{j, f.Jobs})
			}
			if !give(j) {
				return
			}
		}
		until(math.Inf(1))
	}, nil
}

// follower is a job, submitted at an instant in seconds, of the flurry that begins with first. Its
// runtime is the runtime of first times 1 + Spread u, with u uniform on [-1, 1).
func (f Flurries) follower(first *entity.Job, at float64, random *rand.Rand) *entity.Job {
	run := first.Runtime.Seconds() * (1 + float64(f.Spread*(float64(2*random.Float64())-1)))
	j := newJob(0, at, first.Request.Nodes, round(run), first.Queue)
	j.User, j.Group = first.User, first.Group
	return j
}
