// The Pareto front of a batch: what its cost can be for what time, in the sense of the problem
// that is solved.

package cyclic

import (
	"context"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Front is the combinations of one alternative of each job that no other one beats or equals in
// both C and T, in the sense of a problem (Problem, Choice.Front). D and I follow from them.
type Front struct {
	// Points are sorted by time, and each takes more of it than the one before. If less of both
	// or more of both is better, each costs less than the one before, otherwise more. Points
	// beyond B* or T* are among them, with a D or I below 0.
	Points []Point
	// Budget and Time are B* and T*, in time units.
	Budget, Time float64
	// Gap says how much may be missing: to any combination there is a point whose time is no
	// worse and whose cost is worse by at most Gap. 0 is the whole front.
	Gap float64
	// States is the number of partial combinations that were kept.
	States int
}

// Point is one combination of a front.
type Point struct {
	Picks []int // which alternative, by job
	Vector
}

// defaultFront is the number of partial combinations that are kept for a job by default, far more
// than META's batches have.
const defaultFront = 100_000

// sense is 1 for the cost and for the time if less is better by the problem, and -1 if more is.
// What the problem does not weigh should be small.
//
//	owners' profit              the greatest cost, the least time
//	batch time, users' expense  the least cost, the least time
//	idleness                    the least cost, the greatest time
//	weights                     the greatest cost if D weighs more than C, the greatest time
//	                            if I weighs more than T, the least otherwise
func (c Choice) sense() (cost, time float64) {
	cost, time = 1, 1
	if c.Problem == OwnersProfit || c.Weights.D > c.Weights.C {
		cost = -1
	}
	if c.Problem == Idleness || c.Weights.I > c.Weights.T {
		time = -1
	}
	return cost, time
}

// Front returns the Pareto front of the alternatives in the sense of c's problem: of the
// owners' profit, say, the greatest cost for each time. Both limits of c are told, not kept.
// The front has at most most points, 0 meaning 100,000, and keeps Patience partial combinations
// on the way, 0 meaning 100,000 for each job. If there are more, neighbours are left out, and
// Front.Gap says how much that can matter. Front returns the same errors as Choose.
func (c Choice) Front(ctx context.Context, alternatives [][]entity.Window, most int) (Front, error) {
	return c.front(ctx, alternatives, nil, most)
}

// front is Front where combinations chosen before have used up a part of MaxTime
// and MaxCost.
func (c Choice) front(ctx context.Context, alternatives [][]entity.Window, before []Slice, most int) (Front, error) {
	if err := c.check(alternatives); err != nil {
		return Front{}, err
	}
	if most < 0 || most == 1 {
		return Front{}, plan.BadInput("a front of %d points: it has two ends", most)
	}
	if most == 0 {
		most = defaultFront
	}
	budget, err := c.budgetStar(ctx, alternatives, before)
	if err != nil {
		return Front{}, err
	}
	time := c.timeStar(alternatives, before)
	out := Front{Budget: budget, Time: time / float64(des.Second)}

	// The fronts of the knapsack, with f = -C and g = T where less is better, and nothing to
	// bound them.
	lessCost, lessTime := c.sense()
	sums := func(w *entity.Window) (f, g float64) {
		return -lessCost * w.Cost, lessTime * float64(w.ProcessorTime())
	}
	n := len(alternatives)
	fronts := make([][]state, n+1)
	fronts[0] = []state{{}}
	way := max(most, defaultFront)
	if c.Patience > 0 {
		way = max(most, c.Patience/max(n, 1))
	}
	var merge merger
	for i, items := range classesOf(alternatives, sums) {
		if err := ctx.Err(); err != nil {
			return Front{}, err
		}
		front, gap := thin(merge.extend(fronts[i], undominated(items), float64(des.Forever)), way)
		fronts[i+1] = append([]state(nil), front...)
		out.Gap += gap
		out.States += len(front)
	}
	last, gap := thin(fronts[n], most)
	fronts[n] = last
	out.Gap += gap
	out.Points = make([]Point, len(last))
	for at, s := range last {
		p := &out.Points[at]
		p.Vector = vectorOf(0-lessCost*s.f, des.Time(lessTime*s.g), budget, time)
		p.Picks = make([]int, n)
		trace(fronts, at, func(i, pick int) { p.Picks[i] = pick })
	}
	if lessTime < 0 {
		slices.Reverse(out.Points)
	}
	return out, nil
}

// thin leaves at most that many points of a front, both ends among them. A dropped state stands behind a
// kept state whose g is no greater. The gap is the most by which the f of a dropped state is above the f of
// that kept state. Later jobs add the same to both states, so that over the jobs the gaps add up.
func thin(front []state, most int) (kept []state, gap float64) {
	if len(front) <= most {
		return front, 0
	}
	last := front[len(front)-1]
	apart := (last.f - front[0].f) / float64(most-1) * (1 + plan.Rounding) // so that rounding adds no point
	kept = front[:1]
	for _, s := range front[1:] {
		if saved := s.f - kept[len(kept)-1].f; saved > apart {
			kept = append(kept, s)
		} else if s != last {
			gap = max(gap, saved)
		}
	}
	if kept[len(kept)-1] != last {
		kept = append(kept, last)
	}
	return kept, gap
}
