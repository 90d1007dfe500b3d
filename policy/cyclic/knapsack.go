// The multiple-choice knapsack under the choice: of each class (job) one item
// (alternative), so that Σ f is greatest while Σ g stays within a limit.
//
// Exact for real numbers. The papers' recursion f_i(Z) asks for every whole Z;
// here a class maps the Pareto front of the pairs (g, f) that the classes before
// it can reach onto the next one, and dominated pairs are dropped:
//
//	f |        x      x reachable, kept
//	  |    x  .       . reachable, dominated: more g for no more f
//	  |  x   .
//	  +----------- g
//
// Fronts of real numbers would grow with every class. A Lagrangian bound keeps
// them small: with the multiplier λ of the linear relaxation no combination
// beats Σ max(f − λ g) + λ limit, so what falls below the best combination known
// is dropped, whole items beforehand and pairs on the way.

package cyclic

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// state is the sum over some alternatives, one of each class so far: the alternative pick of the
// latest class on top of the state parent of the front before. A state of a single alternative has
// that alternative's own amounts.
type state struct {
	f, g   float64 // what is maximised, and what is limited: times in ticks, costs
	parent int32   // position in the front before
	pick   int32   // position among the job's alternatives, as they were given
}

// classesOf are the alternatives of each job as states.
func classesOf(alternatives [][]entity.Window, of func(*entity.Window) (f, g float64)) [][]state {
	classes := make([][]state, len(alternatives))
	for i, windows := range alternatives {
		classes[i] = make([]state, len(windows))
		for s := range windows {
			f, g := of(&windows[s])
			classes[i][s] = state{f: f, g: g, pick: int32(s)}
		}
	}
	return classes
}

// trace tells by which alternatives, of the last class first, a state of the last front was
// reached. The first front is the empty combination.
func trace(fronts [][]state, at int, tell func(class, pick int)) {
	for i := len(fronts) - 1; i > 0; i-- {
		s := fronts[i][at]
		tell(i-1, int(s.pick))
		at = int(s.parent)
	}
}

// smallFirst is the order of classes by size.
func smallFirst(classes [][]state) []int {
	order := make([]int, len(classes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(classes[a]), len(classes[b])) })
	return order
}

// knapsack is one problem and its answer: picks, or nil where not even the
// least combination keeps the limit.
type knapsack struct {
	classes  [][]state // by job, its alternatives
	limit    float64   // of Σ g
	patience int       // how many states may be kept in all

	picks  []int   // by job; nil: not even the least combination keeps the limit
	least  float64 // Σ of the least g
	gap    float64 // the f of the best combination may be that much greater; 0: picks are proven
	states int     // how many states were kept
}

// exact finds the best combination. Of equal ones it is the one that takes
// least of the limit.
func (k *knapsack) exact(ctx context.Context) error {
	// Alternatives that another one of the job beats in both f and g are of no use.
	n := len(k.classes)
	classes := make([][]state, n)
	least := 0.0
	for i, items := range k.classes {
		classes[i] = undominated(items)
		least += classes[i][0].g
	}
	k.least = least
	limit := over(k.limit)
	if least > limit {
		return nil
	}

	b := bounded{classes: classes, limit: limit}
	k.begin(&b)
	if !b.prune() {
		return nil // by rounding alone: what is known is the optimum
	}
	b.arrange()
	return k.combine(ctx, &b)
}

// bounded is a knapsack's classes with what bounds their combinations.
type bounded struct {
	classes [][]state // the alternatives of each class by g, of which none beats another
	limit   float64   // of Σ g, with what rounding may add
	lower   float64   // no combination of interest has less f
	lambda  float64   // the multiplier λ of the limit
	best    []float64 // by class: max (f − λ g)

	order []int     // the classes, the smallest first
	rest  []float64 // by position in order: Σ best of the classes from there on; 0 behind the last
	room  []float64 // and Σ of their least g
}

// begin finds a first combination, which becomes the best known one, and with it the lower bound: the relaxation's
// combination, improved by single changes. The bound is lowered by what rounding may add, so that nothing as good
// is cut off.
func (k *knapsack) begin(b *bounded) {
	n, classes := len(b.classes), b.classes
	known, lambda := relaxation(classes, b.limit)
	improve(classes, known, b.limit)
	k.picks = make([]int, n)
	lower, scale := 0.0, 0.0
	for i, at := range known {
		s := classes[i][at]
		k.picks[i] = int(s.pick)
		lower += s.f
		scale += math.Abs(s.f) + math.Abs(float64(lambda*s.g))
	}
	b.lambda, b.lower = lambda, lower-float64(scale*plan.Rounding*float64(n+1))
}

// prune drops alternatives by an upper bound, Σ f <= λ limit + Σ max (f − λ g), a maximum for each class: an
// alternative goes whose part keeps that below the lower bound. It reports false if a class has none left.
func (b *bounded) prune() bool {
	b.best = make([]float64, len(b.classes))
	for i, items := range b.classes {
		b.best[i] = math.Inf(-1)
		for _, s := range items {
			b.best[i] = max(b.best[i], s.f-float64(b.lambda*s.g))
		}
	}
	bound := float64(b.lambda * b.limit)
	for _, most := range b.best {
		bound += most
	}
	for i, items := range b.classes {
		b.classes[i] = slices.DeleteFunc(items, func(s state) bool {
			return bound-b.best[i]+s.f-float64(b.lambda*s.g) < b.lower
		})
		if len(b.classes[i]) == 0 {
			return false
		}
	}
	return true
}

// arrange puts the classes into order: small ones go first, so that the front grows late.
func (b *bounded) arrange() {
	n := len(b.classes)
	b.order, b.rest, b.room = smallFirst(b.classes), make([]float64, n+1), make([]float64, n+1)
	for i := n - 1; i >= 0; i-- {
		b.rest[i] = b.rest[i+1] + b.best[b.order[i]]
		b.room[i] = b.room[i+1] + b.classes[b.order[i]][0].g
	}
}

// combine goes class by class: fronts[i] has the undominated sums of the first i classes. A sum stays if its
// promise, the best that the rest can make of it, reaches the lower bound. If patience runs out, the sums that
// promise least are dropped, and the gap says what that may have cost.
func (k *knapsack) combine(ctx context.Context, b *bounded) error {
	n := len(b.order)
	fronts := make([][]state, n+1)
	fronts[0] = []state{{}}
	dropped := math.Inf(-1) // the best bound of what patience gave up
	var merge merger
	for i, c := range b.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		front := merge.extend(fronts[i], b.classes[c], b.limit-b.room[i+1])
		promise := func(s state) float64 { return s.f + float64(b.lambda*(b.limit-s.g)) + b.rest[i+1] }
		front = slices.DeleteFunc(front, func(s state) bool { return promise(s) < b.lower })
		if left := (k.patience - k.states) / (n - i); len(front) > max(left, 1) {
			slices.SortStableFunc(front, func(a, b state) int { return cmp.Compare(promise(b), promise(a)) })
			for _, s := range front[max(left, 1):] {
				dropped = max(dropped, promise(s))
			}
			front = front[:max(left, 1)]
			slices.SortStableFunc(front, func(a, b state) int { return cmp.Compare(a.g, b.g) })
		}
		fronts[i+1] = slices.Clone(front)
		k.states += len(front)
	}

	// The best sum of all classes; none means that the known combination is the best.
	last := fronts[n]
	if len(last) == 0 {
		k.gap = max(0, dropped-b.lower)
		return nil
	}
	at := len(last) - 1 // the most f, for fronts rise
	k.gap = max(0, dropped-last[at].f)
	trace(fronts, at, func(i, pick int) { k.picks[b.order[i]] = pick })
	return nil
}

// undominated are the items, by g, that no other beats or equals in both; of
// equals the first.
func undominated(items []state) []state {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b state) int {
		return cmp.Or(cmp.Compare(a.g, b.g), cmp.Compare(b.f, a.f))
	})
	kept := sorted[:1]
	for _, s := range sorted[1:] {
		if s.f > kept[len(kept)-1].f {
			kept = append(kept, s)
		}
	}
	return kept
}

// relaxation solves the linear relaxation greedily: from the least of each
// class up the convex hulls, steepest first, while the limit holds. What it
// picks is a combination; the slope at which the first step is too long is the
// multiplier λ, 0 where all fit.
func relaxation(classes [][]state, limit float64) (picks []int, lambda float64) {
	type step struct {
		class, to int     // to which alternative of the class
		slope, dg float64 // Δf/Δg of the step, and Δg
	}
	var steps []step
	g := 0.0
	picks = make([]int, len(classes))
	// The steps up the upper convex hull of each class, whose slopes fall.
	for c, items := range classes {
		g += items[0].g
		hull := []int{0}
		for s := 1; s < len(items); s++ {
			for len(hull) > 1 && slope(items, hull[len(hull)-1], s) >= slope(items, hull[len(hull)-2], hull[len(hull)-1]) {
				hull = hull[:len(hull)-1]
			}
			hull = append(hull, s)
		}
		for i := 1; i < len(hull); i++ {
			a, b := hull[i-1], hull[i]
			steps = append(steps, step{c, b, slope(items, a, b), items[b].g - items[a].g})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(b.slope, a.slope) })
	// The steepest steps of all classes first. A class whose step is too long takes no more: its next steps begin
	// where that one ends.
	stuck := make([]bool, len(classes))
	for _, s := range steps {
		switch {
		case stuck[s.class]:
		case g+s.dg <= limit:
			picks[s.class] = s.to
			g += s.dg
		default:
			stuck[s.class] = true
			lambda = max(lambda, s.slope)
		}
	}
	return picks, lambda
}

// slope is Δf/Δg from one alternative to another; Δg is not 0, for none beats the other.
func slope(items []state, a, b int) float64 {
	return (items[b].f - items[a].f) / (items[b].g - items[a].g)
}

// improve exchanges single picks while that gains and the limit holds.
func improve(classes [][]state, picks []int, limit float64) {
	g := 0.0
	for c, s := range picks {
		g += classes[c][s].g
	}
	for again := true; again; {
		again = false
		for c, items := range classes {
			now := items[picks[c]]
			for s := len(items) - 1; s > picks[c]; s-- { // the more g, the more f
				if after := g - now.g + items[s].g; after <= limit {
					g, picks[c], again = after, s, true
					break
				}
			}
		}
	}
}

// merger extends fronts, with its scratch.
type merger struct{ one, two []state }

// extend is the front that the items of one more class make of a front, less
// what takes more than the limit. The result is good until the next call.
func (m *merger) extend(front, items []state, limit float64) []state {
	// out is the front of what the items so far make. Each further item shifts the old front by its f and g, and
	// is merged into out by g: of the merged states those are kept that have more f than all before.
	out, next := m.one[:0], m.two[:0]
	for _, s := range items {
		next = next[:0]
		i := 0 // in out
		top := math.Inf(-1)
		keep := func(p state) {
			if p.f > top {
				next = append(next, p)
				top = p.f
			}
		}
		for parent, p := range front {
			q := state{p.f + s.f, p.g + s.g, int32(parent), s.pick}
			if q.g > limit {
				break
			}
			for i < len(out) && (out[i].g < q.g || (out[i].g == q.g && out[i].f >= q.f)) {
				keep(out[i])
				i++
			}
			keep(q)
		}
		for ; i < len(out); i++ {
			keep(out[i])
		}
		out, next = next, out
	}
	m.one, m.two = out, next
	return out
}

// maxCells bounds a grid's table.
const maxCells = 1 << 27

// onGrid is the papers' backward recursion over whole multiples of step:
//
//	f_i(Z) = max over s of { f(s) + f_{i+1}(Z - g(s)) },  f_{n+1} = 0
//
// with every g rounded up and the limit down.
func (k *knapsack) onGrid(ctx context.Context, step float64) error {
	// What each alternative takes in steps.
	n := len(k.classes)
	weights := make([][]int, n)
	least := 0
	for i, items := range k.classes {
		for _, s := range items {
			w := math.Ceil(s.g / step * (1 - plan.Rounding))
			if !(w < maxCells) {
				return plan.BadInput("an alternative takes %g steps of the choice's grid: use a coarser one", w)
			}
			weights[i] = append(weights[i], int(w))
		}
		least += slices.Min(weights[i])
	}
	k.least = float64(least) * step
	top := math.Floor(k.limit / step * (1 + plan.Rounding))
	if float64(least) > top {
		return nil
	}
	// Beyond the sum of the greatest weights nothing changes.
	most := 0
	for i := range weights {
		most += slices.Max(weights[i])
	}
	z := int(min(top, float64(most)))
	if (z+1)*max(n, 1) > maxCells {
		return plan.BadInput("a grid of %d steps for %d jobs is too large a table: use a coarser one", z, n)
	}
	// The recursion, from the last job back. A state that cannot be filled is -Inf; f_{n+1} is 0.
	next, best := make([]float64, z+1), make([]float64, z+1)
	choice := make([][]int32, n)
	for i := n - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		choice[i] = make([]int32, z+1)
		for left := range best {
			best[left], choice[i][left] = math.Inf(-1), -1
			for s, w := range weights[i] {
				if w > left || math.IsInf(next[left-w], -1) {
					continue
				}
				if f := k.classes[i][s].f + next[left-w]; choice[i][left] < 0 || f > best[left] {
					best[left], choice[i][left] = f, int32(s)
				}
			}
		}
		best, next = next, best
		k.states += z + 1
	}
	// What was chosen, from the first job on.
	k.picks = make([]int, n)
	for i := range k.picks {
		s := choice[i][z]
		k.picks[i] = int(s)
		z -= weights[i][s]
	}
	return nil
}
