package preempt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Selective is selective preemption (Kettimuthu, Subramani, Srinivasan, Gopalsamy, Panda and
// Sadayappan: Selective preemption strategies for parallel job scheduling, ICPP 2002; IJHPCN
// 3(2/3), 2005). A job's priority is its expansion factor, which grows while it waits and
// stands still while it runs:
//
//	xfactor = (time waited + estimate) / estimate
//
// A waiting job stops a running job if its own xfactor is at least Factor times as high.
// Jobs are tried from the highest xfactor down; every job that fits starts.
//
// If two equal jobs come at once to a machine that holds one of them, they yield n times in
// all if Factor is below the n-th root of 2 and not below the (n+1)-th root; from 2 on
// neither yields.
//
// What we could read of the paper says that the strategy is tunable and selective by such a
// factor. The detailed rules are our reading: equality suffices; wide jobs do not yield to
// narrow ones (Width); the paper's scheduler looks once a minute, ours looks at once and
// lets jobs run for a minute (Slice); work lost by requeueing counts as waiting; a resumed
// job may get other processors. The limits by category of the tuned variant are left out.
type Selective struct {
	// Factor is the suspension factor SF, 1 or more; 0 means 2. Where work is lost
	// it must be above 1: two jobs could stop each other for ever.
	Factor float64
	// Width is the least width of a job, as a share of the width of the job that yields to
	// it; 0 means a half, below 0 any width will do.
	Width float64
	// Slice is the least time that a job works before it yields; 0 means a minute.
	Slice des.Time
	// Keep says which work of a job that yields is kept.
	Keep Keep
	// Cost is the time without work at the beginning of an attempt of a job that has yielded
	// before.
	Cost des.Time
}

// Name returns "selective-preemption" with the suspension factor, and with what is kept
// unless all work is.
func (p Selective) Name() string {
	name := fmt.Sprintf("selective-preemption-sf%v", p.factor())
	if p.Keep != KeepAll {
		name += "-keep-" + p.Keep.String()
	}
	return name
}

func (p Selective) factor() float64 {
	if p.Factor == 0 {
		return 2
	}
	return p.Factor
}

// Check reports what makes the settings useless, or nil.
func (p Selective) Check() error {
	switch f := p.factor(); {
	case !(f >= 1) || math.IsInf(f, 0):
		return fmt.Errorf("the suspension factor must be a number of 1 or more, not %v", f)
	case f == 1 && p.Keep != KeepAll:
		return errors.New("with a suspension factor of 1 jobs would stop each other for ever unless all work is kept")
	case p.Slice < 0 || p.Cost < 0:
		return fmt.Errorf("neither the slice, %v, nor the cost, %v, may be negative", p.Slice, p.Cost)
	}
	return nil
}

// ranked is a job at its priority.
type ranked struct {
	*entity.Run
	xfactor float64
	free    des.Time // when it may yield, if it runs
}

// Schedule starts jobs that fit, and jobs that may make others yield.
func (p Selective) Schedule(r *entity.Round) {
	if err := p.Check(); err != nil {
		r.Fail(err)
		return
	}
	// From the highest priority down, each waiting job starts: beside those that run, or in place of some.
	var waiting []ranked
	for j := range r.Waiting() {
		waiting = append(waiting, ranked{Run: j, xfactor: xfactor(j, r.Now)})
	}
	slices.SortFunc(waiting, higher)
	running := p.running(r)
	for i := 0; i < len(waiting); i++ {
		j := waiting[i].Run
		if j.State != entity.Waiting || start(r, j) {
			continue
		}
		// Jobs that yield wait with the others from now on.
		chosen := victims(r, j, p.yielding(running, j, r.Now))
		for _, v := range chosen {
			stop(r, v, p.Keep, p.Cost)
			running = slices.DeleteFunc(running, func(o ranked) bool { return o.Run == v })
			back := ranked{Run: v, xfactor: xfactor(v, r.Now)}
			at, _ := slices.BinarySearchFunc(waiting, back, higher)
			waiting = slices.Insert(waiting, at, back)
		}
		if chosen != nil {
			start(r, j)
			i = -1 // what is left may do for one that was passed over
		}
	}
	p.lookAgain(r, waiting)
}

// running lists the jobs that run, the lowest priority first; of equal ones the
// latest started.
func (p Selective) running(r *entity.Round) []ranked {
	var running []ranked
	for v := range r.Running() {
		if !v.Booked {
			running = append(running, ranked{v, xfactor(v, v.Start), p.free(v)})
		}
	}
	slices.Reverse(running)
	slices.SortStableFunc(running, func(a, b ranked) int { return cmp.Compare(a.xfactor, b.xfactor) })
	return running
}

// higher compares waiting jobs: the highest priority first, then the first submitted.
func higher(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.xfactor, a.xfactor), cmp.Compare(a.Seq(), b.Seq()))
}

// estimate returns the user's estimate of the whole job.
func estimate(j *entity.Run) float64 { return float64(j.Job.Request.Length) }

// xfactor returns the expansion factor of a job that has waited until the instant at.
func xfactor(j *entity.Run, at des.Time) float64 {
	return (float64(at-j.Submit-j.Served()) + estimate(j)) / estimate(j)
}

// due returns the first tick at which a waiting job may have one yield that has this
// xfactor; what is a thousandth of a tick late is in time, for floats are not exact.
// All comparisons of a waiting job with a running one are made by it, so that a round
// which is asked for at this instant finds what it comes for.
func (p Selective) due(j *entity.Run, than float64) des.Time {
	// (wait + estimate) / estimate = factor · than
	wait := float64(estimate(j)*float64(p.factor()*than)) - estimate(j)
	if wait > float64(des.Forever/2) {
		return des.Forever
	}
	return (j.Submit + j.Served()).Add(des.Time(math.Ceil(wait - 1e-3)))
}

// free returns the instant from which on v, which runs, may yield.
func (p Selective) free(v *entity.Run) des.Time {
	slice := p.Slice
	if slice == 0 {
		slice = des.Minute
	}
	if len(v.Earlier()) > 0 {
		slice = slice.Add(p.Cost)
	}
	return v.Start.Add(slice)
}

// wide reports whether j is wide enough to have v yield.
func (p Selective) wide(j, v *entity.Run) bool {
	share := p.Width
	if share == 0 {
		share = 0.5
	}
	return float64(j.Request.Nodes) >= share*float64(v.Request.Nodes)
}

// yielding lists those of running that yield to j now, the lowest priority first.
func (p Selective) yielding(running []ranked, j *entity.Run, now des.Time) []*entity.Run {
	var list []*entity.Run
	for _, v := range running {
		if p.due(j, v.xfactor) > now {
			break // as for all behind
		}
		if v.free <= now && v.State == entity.Running && p.wide(j, v.Run) {
			list = append(list, v.Run)
		}
	}
	return list
}

// lookAgain asks for a round at the next instant at which one of waiting may have
// enough others yield, as far as numbers of nodes tell.
func (p Selective) lookAgain(r *entity.Round, waiting []ranked) {
	// The next instant at which a slice is over.
	free := free(r)
	running := p.running(r)
	next, slice := des.Forever, des.Forever // an xfactor is high enough; a slice is over
	for _, v := range running {
		if v.free > r.Now {
			slice = min(slice, v.free)
		}
	}
	// For each waiting job: when does the last running job yield to it that it needs, from the lowest priority up?
	for _, j := range waiting {
		if j.State != entity.Waiting {
			continue
		}
		have, need := free, narrowest(j.Run)
		for _, v := range running {
			if !p.wide(j.Run, v.Run) {
				continue
			}
			if have += v.Request.Nodes; have < need {
				continue
			}
			if due := p.due(j.Run, v.xfactor); due > r.Now {
				next = min(next, due)
				break
			}
			next = min(next, slice) // one of those so far has just started; or the next may do instead
		}
	}
	if next < des.Forever {
		r.WakeAt(next)
	}
}
