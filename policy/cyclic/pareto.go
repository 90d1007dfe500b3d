// The Pareto front of a batch: what its cost can be for what time, whatever the
// policy of the organisation.

package cyclic

import (
	"context"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Front is the combinations of one alternative of each job that no other one
// beats or equals in both C and T, less being better. D and I follow from them.
type Front struct {
	// Points are sorted by time: each takes more of it than the one before, and
	// costs less. Those beyond B* or T* are among them, with a D or I below 0.
	Points []Point
	// Budget and Time are B* and T*, in time units.
	Budget, Time float64
	// Gap says how much may be missing: to any combination there is a point that
	// takes no more time and costs at most Gap more. 0 is the whole front.
	Gap float64
	// States is how many partial combinations were kept.
	States int
}

// Point is one combination of a front.
type Point struct {
	Picks []int // which alternative, by job
	Vector
}

// defaultFront is how many partial combinations are kept for a job, far more than
// META's batches have.
const defaultFront = 100_000

// Front returns the Pareto front of the alternatives, within both limits of c; its problem
// and weights do not matter. It has at most most points, 0 meaning 100,000, and keeps
// Patience partial combinations on the way, 0 meaning 100,000 for each job. If there are
// more, neighbours are left out, and Front.Gap says how much that can matter. Errors are
// those of Choose.
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

	// The fronts of the knapsack, with f = -C, g = T and nothing to bound them.
	n := len(alternatives)
	fronts := make([][]state, n+1)
	fronts[0] = []state{{}}
	way := max(most, defaultFront)
	if c.Patience > 0 {
		way = max(most, c.Patience/max(n, 1))
	}
	var merge merger
	for i, items := range classesOf(alternatives, UsersExpense.sums) {
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
		p.Vector = vectorOf(0-s.f, des.Time(s.g), budget, time)
		p.Picks = make([]int, n)
		trace(fronts, at, func(i, pick int) { p.Picks[i] = pick })
	}
	return out, nil
}

// thin leaves at most that many points of a front, both ends among them. It returns by how
// much, at most, a dropped state costs less than the kept state that takes no more time. The
// later jobs add the same to both, so that over the jobs these differences add up.
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
