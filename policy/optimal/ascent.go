package optimal

import "math"

// ascents is the number of times that ascend runs the fluid machine.
const ascents = 150

// ascend returns another lower bound of a sum of costs, better than that of relax for long queues. A
// narrow and long job is done much sooner on the fluid machine than it can be, so it lowers the sum:
// M − length/2 may lie before its release. But its cost is bounded twice: by what it costs alone,
// at its earliest start, and by the fluid machine. Any mixture of both is a bound, with a share u
// from 0 to 1 of each job:
//
//	Σ (1 − u) alone + Σ u (weight (M − length/2) + constant)
//
// where M are the mean busy times under the weights u weight (the greatest weight per work first,
// as in relax). The sum is concave in u; its slope is the difference of the two. So u follows the
// slopes uphill from 1 on, in steps that shrink, and the best sum counts. Every sum is a bound,
// whatever the steps are. (A Lagrangian relaxation of releases beside Goemans's mean busy times.)
func (r *relaxation) ascend() float64 {
	if r.measure == Makespan || len(r.open) == 0 {
		return 0
	}
	// The pieces, in the order that the machine needs. Their weights carry the tasks through the sorting.
	f := &r.fluid
	f.pieces, f.steps = f.pieces[:0], r.rates
	base := 0.0 // Σ alone: the bound at u = 0
	for _, i := range r.open {
		base += r.alone[i]
		if t := &r.tasks[i]; t.work > 0 {
			f.pieces = append(f.pieces, piece{release: r.earliest[i], work: t.work, weight: float64(i)})
		}
	}
	f.sortByRelease()
	tasks, share := make([]int, len(f.pieces)), make([]float64, len(f.pieces))
	for k := range f.pieces {
		tasks[k], share[k] = int(f.pieces[k].weight), 1
	}
	slope := make([]float64, len(f.pieces))
	best := base
	for round := range ascents {
		// The bound at the present shares, and its slope in each of them.
		sum, size := base, 0.0 // size: the sum, and then the mean, of the slopes without signs
		for k, i := range tasks {
			f.pieces[k].weight = share[k] * r.tasks[i].narrow.weight
		}
		f.run(false)
		for k, i := range tasks {
			t := &r.tasks[i].narrow
			slope[k] = t.weight*(f.pieces[k].busy-t.length/2) + t.constant - r.alone[i]
			sum += share[k] * slope[k]
			size += math.Abs(slope[k])
		}
		best = max(best, sum)
		if size == 0 {
			break
		}
		// A step uphill: nearly 1/√round for a slope that is large beside the mean one, less for small ones.
		size /= float64(len(slope))
		for k, s := range slope {
			step := s / (math.Abs(s) + size) / math.Sqrt(float64(round+1))
			share[k] = min(max(share[k]+step, 0), 1)
		}
	}
	return best
}
