// Exhaustive: the best combination of all windows, not of those that a search for alternatives
// has found. It is a yardstick for the other planners, for a few jobs.

package cyclic

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

// MostExhaustive is the greatest batch that Exhaustive takes.
const MostExhaustive = 6

// Exhaustive plans a batch of at most MostExhaustive jobs by a branch and bound over all
// combinations of disjoint windows with a rough right edge, each within its job's request. It plans
// as many jobs as possible, with the least total processor time or cost.
//
// Windows are placed by their starts, of equal starts in order of priority. Each begins where a
// slot of one of its nodes begins in what the windows before it have left. No plan is missed by
// that: a window that begins later can be moved there on its own nodes, and keeps its time and
// its cost. A partial plan is given up if it cannot beat the best plan so far even where each
// open job has its cheapest window of an empty list.
type Exhaustive struct {
	// Problem is BatchTime, the least processor time, or UsersExpense, the least cost.
	Problem Problem
	// MaxCost, if not 0, is B*, a limit on the batch's total cost.
	MaxCost float64
}

// Name returns "exhaustive".
func (Exhaustive) Name() string { return "exhaustive" }

// Plan implements Planner. It ignores users' criteria.
func (e Exhaustive) Plan(ctx context.Context, batch []Item, list plan.SlotList) (*Outcome, error) {
	if err := check(batch); err != nil {
		return nil, err
	}
	if len(batch) > MostExhaustive {
		return nil, plan.BadInput("all windows are combined for at most %d jobs, and the batch has %d", MostExhaustive, len(batch))
	}
	if e.Problem != BatchTime && e.Problem != UsersExpense {
		return nil, plan.BadInput("all windows are combined for the least batch-time or users-expense, not for %v", e.Problem)
	}
	list, err := window.Checked(list)
	if err != nil {
		return nil, err
	}
	x := &combiner{ctx: ctx, of: e, batch: batch, list: list, windows: make([]entity.Window, len(batch)), placed: make([]bool, len(batch))}
	x.measure()
	x.extend(list.Slots, list.From, 0, 0, 0, 0)
	if x.err = cmp.Or(x.err, ctx.Err()); x.err != nil {
		return nil, x.err
	}
	out := &Outcome{Jobs: make([]Decision, len(batch)), Stats: Stats{States: x.states}}
	for i := range out.Jobs {
		if out.Jobs[i].OK = x.bestPlaced != nil && x.bestPlaced[i]; out.Jobs[i].OK {
			out.Jobs[i].Window = x.best[i]
		} else {
			out.Jobs[i].Reason = noWindow
		}
	}
	out.Left, err = without(list, out.windows())
	return out, err
}

// combiner is one search of Exhaustive.
type combiner struct {
	ctx   context.Context
	of    Exhaustive
	batch []Item
	list  plan.SlotList

	least   []float64       // by job: no window of it has less of what is to be small; +Inf: it has none
	cheap   []float64       // by job: no window of it costs less
	windows []entity.Window // by job: the present partial plan; valid if placed
	placed  []bool          // by job
	states  int             // partial plans that were looked at
	err     error           // why the search has ended early

	best       []entity.Window // the best plan so far
	bestPlaced []bool          // by job; nil: there is no plan yet
	bestCount  int             // number of jobs that it places
	bestSum    float64         // of what is to be small
}

// part is a slot that holds a task of a job from an instant on.
type part struct {
	slot   *entity.Slot
	length des.Time
	cost   float64
}

// parts are the slots that hold a task of job i from t on; of any instant if t is negative.
func (x *combiner) parts(slots []entity.Slot, i int, t des.Time) (parts []part) {
	req := &x.batch[i].Request
	for k := range slots {
		s := &slots[k]
		from := max(t, s.Start)
		if t >= 0 && s.Start > t {
			break
		}
		length := max(s.Node.TaskTime(req.Length), des.Tick)
		if req.Admits(s.Node) && from+length <= min(s.End, req.DeadlineLimit()) {
			parts = append(parts, part{s, length, s.Node.Price * length.Seconds()})
		}
	}
	return parts
}

// measure fills in least and cheap: each job's n least parts, of different nodes.
func (x *combiner) measure() {
	for i := range x.batch {
		seen := map[*entity.Node]bool{}
		var values, costs []float64
		for _, p := range x.parts(x.list.Slots, i, -1) {
			if !seen[p.slot.Node] {
				seen[p.slot.Node] = true
				values, costs = append(values, x.value(p)), append(costs, p.cost)
			}
		}
		x.least, x.cheap = append(x.least, leastSum(values, x.batch[i].Request.Nodes)), append(x.cheap, leastSum(costs, x.batch[i].Request.Nodes))
	}
}

func leastSum(values []float64, n int) (sum float64) {
	if len(values) < n {
		return math.Inf(1)
	}
	slices.Sort(values)
	for _, v := range values[:n] {
		sum += v
	}
	return sum
}

// value returns the amount that a part adds to the sum that the problem minimises.
func (x *combiner) value(p part) float64 {
	if x.of.Problem == UsersExpense {
		return p.cost
	}
	return float64(p.length)
}

// hopeless reports whether no plan with count jobs placed, and sum and cost spent on them, and
// others of those not placed, is better than the best so far.
func (x *combiner) hopeless(count int, sum, cost float64) bool {
	if x.bestPlaced == nil {
		return false
	}
	var open []float64
	for i := range x.batch {
		if !x.placed[i] && !math.IsInf(x.least[i], 1) && (x.of.MaxCost == 0 || cost+x.cheap[i] <= x.of.MaxCost*(1+plan.Rounding)) {
			open = append(open, x.least[i])
		}
	}
	// To be better, a plan has to place one job more than the best, or as many at a smaller sum.
	missing := x.bestCount - count
	switch {
	case len(open) < missing:
		return true
	case len(open) > missing: // one job more would be better at any price
		return false
	}
	return sum+leastSum(open, max(missing, 0)) >= x.bestSum*(1-plan.Rounding)
}

// extend places one more job in the slots that the windows so far have left, whose last is of job
// last-1 and starts at now.
func (x *combiner) extend(slots []entity.Slot, now des.Time, last, count int, sum, cost float64) {
	if x.states++; x.states%1024 == 0 && x.ctx.Err() != nil {
		return
	}
	if x.bestPlaced == nil || count > x.bestCount || count == x.bestCount && sum < x.bestSum*(1-plan.Rounding) {
		x.best, x.bestPlaced, x.bestCount, x.bestSum = slices.Clone(x.windows), slices.Clone(x.placed), count, sum
	}
	if x.hopeless(count, sum, cost) {
		return
	}
	// The next window begins where a slot begins, not before the last one; at the same instant it is of a later
	// job, so that each set of windows is met once.
	before := des.Time(-1)
	for k := range slots {
		t := slots[k].Start
		if t < now || t == before {
			continue
		}
		before = t
		for i := range x.batch {
			if x.placed[i] || t == now && i < last || x.batch[i].Until > 0 && t > x.batch[i].Until {
				continue
			}
			x.placed[i] = true
			if !x.hopeless(count+1, sum+x.least[i], cost+x.cheap[i]) {
				x.choose(slots, i, t, count, sum, cost)
			}
			x.placed[i] = false
		}
	}
}

// choose gives job i each of its windows that begins at t, where one of its slots begins.
func (x *combiner) choose(slots []entity.Slot, i int, t des.Time, count int, sum, cost float64) {
	parts := x.parts(slots, i, t)
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(x.value(a), x.value(b)) })
	req := &x.batch[i].Request
	chosen := make([]part, 0, req.Nodes)
	// next adds parts from position from on. own and spent are what those so far add to the sum and cost; begins
	// reports whether one of them begins at t itself.
	var next func(from int, own, spent float64, begins bool)
	next = func(from int, own, spent float64, begins bool) {
		switch {
		case x.err != nil, spent > req.BudgetLimit()*(1+plan.Rounding), x.of.MaxCost > 0 && cost+spent > x.of.MaxCost*(1+plan.Rounding),
			x.hopeless(count+1, sum+max(own, x.least[i]), cost+spent):
			return
		case len(chosen) == req.Nodes && begins:
			w := entity.Window{Start: t, Nodes: req.Nodes, Cost: spent}
			for _, p := range chosen {
				w.Tasks = append(w.Tasks, entity.Task{Node: p.slot.Node, End: t + p.length})
				w.End = max(w.End, t+p.length)
			}
			left, err := window.Subtract(slices.Clone(slots), &w)
			if err != nil {
				x.err = err
				return
			}
			x.windows[i] = w
			x.extend(left, t, i+1, count+1, sum+own, cost+spent)
			return
		}
		for k := from; k <= len(parts)-(req.Nodes-len(chosen)) && len(chosen) < req.Nodes; k++ {
			p := parts[k]
			if slices.ContainsFunc(chosen, func(c part) bool { return c.slot.Node == p.slot.Node }) {
				continue
			}
			chosen = append(chosen, p)
			next(k+1, own+x.value(p), spent+p.cost, begins || p.slot.Start == t)
			chosen = chosen[:len(chosen)-1]
		}
	}
	next(0, 0, 0, false)
}
