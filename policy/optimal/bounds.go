package optimal

import (
	"errors"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// mostSideBySide is the number of classes of wide jobs that are relaxed by themselves: jobs of
// which at most 1, 2, ... can run side by side.
const mostSideBySide = 8

// Bounds are lower bounds of measures: no schedule of the jobs has less, whatever it knows.
type Bounds struct {
	Makespan     float64 // from the first submission to the last end, in seconds
	MeanWait     float64 // seconds
	MeanSlowdown float64 // of bounded slowdowns; at least 1
}

// Lower returns lower bounds for all schedules of the jobs on that many processors, each by
// the best relaxation of this package. It takes O(n log n). Slowdowns are bounded by tau. The
// order of the jobs makes no difference.
func Lower(jobs []Job, processors int, tau des.Time) (Bounds, error) {
	if len(jobs) == 0 {
		return Bounds{}, errors.New("there are no jobs to bound")
	}
	if err := check(jobs, processors); err != nil {
		return Bounds{}, err
	}
	n := float64(len(jobs))
	jobs = slices.Clone(jobs)
	Sort(jobs) // steps of the ascent hang on the order of jobs that are alike
	least := func(m Measure) float64 {
		r := relaxed(tasksOf(jobs, processors, m, tau), processors, m)
		return inSeconds(max(r.lower(), r.ascend()), m)
	}
	return Bounds{Makespan: least(Makespan), MeanWait: least(Wait) / n, MeanSlowdown: least(Slowdown) / n}, nil
}

// relaxation bounds what the open tasks must cost still.
type relaxation struct {
	tasks      []task
	measure    Measure
	processors int
	open       []int      // tasks that have no start yet
	earliest   []float64  // by task: an open task cannot start before
	alone      []float64  // by task: what an open task costs at least; its first end if the measure is the makespan
	rates      []rateStep // processors that are free, from when on
	fluid      fluid      // room for a machine
}

// relaxed returns the relaxation of an empty machine.
func relaxed(tasks []task, processors int, m Measure) *relaxation {
	r := &relaxation{tasks: tasks, measure: m, processors: processors, rates: []rateStep{{0, float64(processors)}}}
	for i := range tasks {
		t := &tasks[i]
		r.earliest, r.alone = append(r.earliest, t.release), append(r.alone, math.Inf(1))
		for k := range t.modes {
			r.alone[i] = min(r.alone[i], r.costOf(&t.modes[k], t.release))
		}
		r.open = append(r.open, i)
	}
	return r
}

// costOf returns the cost of a mode that begins at start; if the measure is the makespan, its end.
func (r *relaxation) costOf(m *mode, start float64) float64 {
	if r.measure == Makespan {
		return start + m.length
	}
	return m.cost(start)
}

// lower returns the largest lower bound: of the sum of the open tasks' costs, or of their last end.
func (r *relaxation) lower() float64 {
	// Each task for itself.
	best := 0.0
	for _, i := range r.open {
		if r.measure == Makespan {
			best = max(best, r.alone[i])
		} else {
			best += r.alone[i]
		}
	}
	// All tasks on a fluid machine of as many processors; then those of which no more than k run side by side,
	// on one of rate k.
	all := func(t *task) (work, length float64, in bool) { return t.work, t.narrow.length, true }
	best = max(best, r.relax(all, r.rates))
	for k := 1; k <= mostSideBySide && k < r.processors; k++ {
		wide := func(t *task) (work, length float64, in bool) {
			return t.short, t.short, t.narrow.nodes*(k+1) > r.processors
		}
		best = max(best, r.relax(wide, []rateStep{{0, float64(k)}}))
	}
	return best
}

// relax returns the bound by a fluid machine that does the work of some of the open tasks, each of which
// has done it by that length after its start. The others cost what they cost alone.
func (r *relaxation) relax(workOf func(*task) (work, length float64, in bool), rates []rateStep) float64 {
	f := &r.fluid
	f.pieces, f.steps = f.pieces[:0], rates
	rest, constants, lengths, weighted := 0.0, 0.0, 0.0, 0.0
	for _, i := range r.open {
		t := &r.tasks[i]
		work, length, in := workOf(t)
		if !in || work == 0 {
			if r.measure != Makespan {
				rest += r.alone[i]
			}
			continue
		}
		f.pieces = append(f.pieces, piece{release: r.earliest[i], work: work, weight: t.narrow.weight})
		constants += t.narrow.constant
		lengths += length
		weighted += t.narrow.weight * length
	}
	if len(f.pieces) == 0 {
		return 0
	}
	f.sortByRelease()
	// A task that is done by `length` after its start has its mean busy time no later than start + length/2, and
	// its end no later than start + length. So Σ weight·start >= Σ weight·M - Σ weight·length/2, and
	// Σ start >= Σ ends - Σ length.
	switch r.measure {
	case Makespan:
		return f.run(true).last
	case Wait: // the weights are 1, and both rules bound the sum of starts
		return rest + constants + max(f.run(true).ends-lengths, f.run(false).busy-weighted/2)
	default:
		return rest + constants + f.run(false).busy - weighted/2
	}
}
