// The organisation's policy as weights over the vector criterion <C, D, T, I> of
// AMP11.
//
// D = B* - C and I = T* - T, so that a weighted sum of the four is one of C and
// T alone, a C + b T, to be made small within both limits:
//
//	T |- - - - - - - +       a, b >= 0: towards the origin
//	  |  x     x     |       a < 0:     towards B*, the owners' side
//	  |     x     x  |       b < 0:     towards T*, no time left idle
//	  +--------------+- C    both:      into the corner <B*, T*>
//
// A limit that does not bind is left to the knapsack under the other one. Where
// both bind, sums of C and T are extended class by class as there, under a
// Lagrangian bound with a multiplier for each limit.

package cyclic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/number"
)

// Weights say how much each component of a Vector matters. All components are to be small,
// each as a part of its limit: C and D of B*, T and I of T*. With one weight alone, Weights
// is one of the papers' problems within both limits: C the users' expense, D the owners'
// profit, T the batch's time, I idleness. AMP11 names the components and leaves open how
// they are traded; the sum is ours.
type Weights struct{ C, D, T, I float64 }

// ParseWeights reads what String writes, "1/0/0.5/0" for C, D, T and I.
func ParseWeights(s string) (Weights, error) {
	var w Weights
	parts := strings.Split(s, "/")
	into := []*float64{&w.C, &w.D, &w.T, &w.I}
	if len(parts) != len(into) {
		return Weights{}, plan.BadInput("weights are four numbers, C/D/T/I, not %q", s)
	}
	for i, part := range parts {
		var fault number.Fault
		if *into[i], fault = number.Float(part); fault != number.Sound {
			return Weights{}, plan.BadInput("the weights %q: %q is not a number", s, part)
		}
	}
	return w, w.check()
}

func (w Weights) String() string { return fmt.Sprintf("%g/%g/%g/%g", w.C, w.D, w.T, w.I) }

func (w Weights) check() error {
	for _, x := range []float64{w.C, w.D, w.T, w.I} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return plan.BadInput("the weights %v must be numbers of 0 or more", w)
		}
	}
	if w == (Weights{}) {
		return plan.BadInput("the weights %v must not all be 0", w)
	}
	return nil
}

// Of returns the weighted sum, in parts of the limits B* = C + D and T* = T + I.
func (w Weights) Of(v Vector) float64 {
	b, t := scale(v.C+v.D), scale(v.T+v.I)
	return float64(w.C*v.C/b) + float64(w.D*v.D/b) + float64(w.T*v.T/t) + float64(w.I*v.I/t)
}

// scale returns the divisor of a component: its limit, or 1 if the limit is 0.
func scale(limit float64) float64 {
	if limit == 0 {
		return 1
	}
	return limit
}

// weighted is the choice by weights. Times are ticks. What a state adds up to is C, its f, and
// T, its g.
type weighted struct {
	a, b         float64 // what a unit of C and a tick of T add to the sum; below 0 if more is better
	budget, time float64 // B* and T*, in ticks
	patience     int     // Choice.Patience

	classes [][]state // by job, its alternatives
	picks   []int     // by job: the best combination so far; nil: none is known
	best    float64   // the sum of picks
	bound   float64   // no combination within the limits has a smaller sum
	states  int       // states kept so far, in all searches
}

// fills reports whether nothing but the limits keeps C, T or both from growing,
// so that nothing is dominated.
func (w *weighted) fills() bool {
	return min(w.a, w.b) < 0 && max(w.a, w.b) <= 0
}

// of is the weighted sum of a state, but for what both limits add to every sum.
func (w *weighted) of(s state) float64 { return float64(w.a*s.f) + float64(w.b*s.g) }

// over is a limit with what rounding may add to a sum.
func over(limit float64) float64 { return limit + float64(math.Abs(limit)*plan.Rounding) }

// weigh is choose where the problem is Weighted.
func (c Choice) weigh(ctx context.Context, alternatives [][]entity.Window, before []Slice) (Combination, error) {
	time := c.timeStar(alternatives, before)
	budget, err := c.budgetStar(ctx, alternatives, before)
	if err != nil {
		return Combination{}, err
	}
	w := weighted{
		a:      (c.Weights.C - c.Weights.D) / scale(budget),
		b:      (c.Weights.T - c.Weights.I) / scale(time),
		budget: budget, time: time, patience: c.Patience,
		classes: classesOf(alternatives, OwnersProfit.sums),
	}
	const unit = float64(des.Second)
	if err := w.choose(ctx); err != nil {
		return Combination{Limit: time / unit, States: w.states}, err
	}
	out := Combination{Picks: w.picks, Limit: time / unit, Gap: max(0, w.best-w.bound), States: w.states}
	out.Cost, out.Time = total(alternatives, w.picks)
	out.Vector = vectorOf(out.Cost, out.Time, budget, time)
	return out, nil
}

// choose sets picks, or returns an *InfeasibleError.
func (w *weighted) choose(ctx context.Context) error {
	const unit = float64(des.Second)
	cost := func(s state) float64 { return s.f }
	time := func(s state) float64 { return s.g }

	// Can both limits be kept? The least cost within T* tells, and is a first combination.
	cheapest, err := w.under(ctx, cost, time, w.time)
	if err != nil {
		return err
	}
	if cheapest.picks == nil && len(w.classes) > 0 {
		return &InfeasibleError{Problem: Weighted, Limit: w.time / unit, Least: cheapest.least / unit}
	}
	if least := w.total(cheapest.picks).f; least > over(w.budget) {
		return &InfeasibleError{Problem: Weighted, Limit: w.budget, Least: least, Within: w.time / unit, Gap: cheapest.gap}
	}
	w.bound = math.Inf(-1)
	w.take(cheapest.picks)

	// Under one limit alone the best is a bound, and the answer if it keeps both.
	if k, err := w.under(ctx, w.of, time, w.time); err != nil || w.settled(k) {
		return err
	}
	if w.a < 0 && w.b == 0 {
		return w.underBoth(ctx) // B* alone is as hard to fill as both
	}
	if k, err := w.under(ctx, w.of, cost, w.budget); err != nil || w.settled(k) {
		return err
	}
	return w.underBoth(ctx)
}

// under is the knapsack with f, to be small, and a limit on g.
func (w *weighted) under(ctx context.Context, f, g func(state) float64, limit float64) (k knapsack, err error) {
	k = knapsack{limit: limit, patience: cmp.Or(w.patience, defaultWeightedPatience)}
	fills := true // f falls as g grows, and with nothing else: a subset sum
	for _, sums := range w.classes {
		items := make([]state, len(sums))
		for i, s := range sums {
			items[i] = state{f: -f(s), g: g(s), pick: s.pick}
			fills = fills && w.a == 0 && w.b < 0 && f(s) == float64(w.b*g(s))
		}
		k.classes = append(k.classes, items)
	}
	if fills {
		k.patience = cmp.Or(w.patience, defaultPatience) // its states take no memory
		err = k.closest(ctx)
		k.gap *= -w.b // was in ticks
	} else {
		err = k.exact(ctx)
	}
	w.states += k.states
	return k, err
}

// settled takes the best choice under one limit; it returns true if that keeps the other
// limit, too.
func (w *weighted) settled(k knapsack) bool {
	all := w.total(k.picks)
	w.bound = max(w.bound, w.of(all)-k.gap)
	if !w.keeps(all) {
		return false
	}
	w.take(k.picks)
	return true
}

// total returns the sum of a combination.
func (w *weighted) total(picks []int) state {
	var out state
	for i, s := range picks {
		out.f += w.classes[i][s].f
		out.g += w.classes[i][s].g
	}
	return out
}

// keeps reports whether a state is within both limits.
func (w *weighted) keeps(s state) bool { return s.f <= over(w.budget) && s.g <= over(w.time) }

// take takes picks over if they are better than what is known.
func (w *weighted) take(picks []int) {
	if of := w.of(w.total(picks)); w.picks == nil || of < w.best {
		w.picks, w.best = slices.Clone(picks), of
	}
}

// lagrangian is a bound of weighted sums by multipliers λ of the budget B* and μ of the time T*:
//
//	Σ min (w + λ C + μ T) − λ B* − μ T*, a minimum for each class
type lagrangian struct {
	lambda, mu float64
	order      []int     // the classes, the smallest first
	rest       []state   // by position in order: what the classes from there on take of both limits at least
	bound      []float64 // by position in order: what they add to the bound; behind the last − λ B* − μ T*
	upper      float64   // the best known sum, with what rounding may add: no sum of interest has a higher bound
}

// of returns the amount that a state adds to the bound.
func (l *lagrangian) of(w *weighted, s state) float64 {
	return w.of(s) + float64(l.lambda*s.f) + float64(l.mu*s.g)
}

// bounds finds multipliers, a good combination, and what the classes add to the bound.
func (w *weighted) bounds() *lagrangian {
	l := &lagrangian{order: smallFirst(w.classes)}
	l.lambda, l.mu = w.multipliers()
	w.improve()
	n := len(w.classes)
	l.rest, l.bound = make([]state, n+1), make([]float64, n+1)
	l.bound[n] = -float64(l.lambda*w.budget) - float64(l.mu*w.time)
	magnitude := math.Abs(l.bound[n])
	for i := n - 1; i >= 0; i-- {
		c, t, v := math.Inf(1), math.Inf(1), math.Inf(1)
		for _, s := range w.classes[l.order[i]] {
			c, t, v = min(c, s.f), min(t, s.g), min(v, l.of(w, s))
		}
		l.rest[i] = state{f: l.rest[i+1].f + c, g: l.rest[i+1].g + t}
		l.bound[i] = l.bound[i+1] + v
		magnitude += math.Abs(v)
	}
	l.upper = w.best + float64(magnitude*plan.Rounding*float64(n+1))
	return l
}

// underBoth is the search where neither limit follows from the other. It goes class by class: lists[i] has sums of
// the first i classes that fit both limits with the least of the rest, and whose bound is not above the best known
// combination. If patience runs out, the sums with the highest bounds are dropped.
func (w *weighted) underBoth(ctx context.Context) error {
	l, n := w.bounds(), len(w.classes)
	lists := make([][]state, n+1)
	lists[0] = []state{{}}
	patience := cmp.Or(w.patience, defaultWeightedPatience)
	if w.patience == 0 && w.fills() {
		patience /= 10
	}
	dropped := math.Inf(1) // the best bound of what patience gave up
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		room := state{f: over(w.budget) - l.rest[i+1].f, g: over(w.time) - l.rest[i+1].g}
		promise := func(s state) float64 { return l.of(w, s) + l.bound[i+1] }
		var list []state
		for parent, p := range lists[i] {
			for _, s := range w.classes[l.order[i]] {
				q := state{f: p.f + s.f, g: p.g + s.g, parent: int32(parent), pick: s.pick}
				if q.f <= room.f && q.g <= room.g && promise(q) <= l.upper {
					list = append(list, q)
				}
			}
		}
		list = w.undominated(list)
		if left := max(patience/(n-i), 1); len(list) > left {
			slices.SortStableFunc(list, func(a, b state) int { return cmp.Compare(promise(a), promise(b)) })
			dropped = min(dropped, promise(list[left]))
			list = list[:left]
		}
		lists[i+1] = slices.Clip(list)
		patience -= len(list)
		w.states += len(list)
	}

	// The least sum of all classes within both limits, and a bound of what none can be below.
	for at, s := range lists[n] {
		if w.of(s) >= w.best || !w.keeps(s) {
			continue
		}
		w.best = w.of(s)
		trace(lists, at, func(i, pick int) { w.picks[l.order[i]] = pick })
	}
	w.bound = max(w.bound, min(w.best, dropped))
	return nil
}

// undominated drops sums that no rest can make better than another's. One is
// better than another for every rest if it takes no more of either limit and
// adds no more; two of the three imply the third, which ones depends on signs.
// Where both C and T are to be large, nothing is dominated.
func (w *weighted) undominated(list []state) []state {
	var first, second func(state) float64
	cost, time := func(s state) float64 { return s.f }, func(s state) float64 { return s.g }
	switch {
	case w.fills():
		slices.SortStableFunc(list, func(a, b state) int { return cmp.Or(cmp.Compare(a.f, b.f), cmp.Compare(a.g, b.g)) })
		return slices.CompactFunc(list, func(a, b state) bool { return a.f == b.f && a.g == b.g })
	case w.a < 0:
		first, second = cost, w.of
	case w.b < 0:
		first, second = time, w.of
	default:
		first, second = time, cost
	}
	slices.SortStableFunc(list, func(a, b state) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(second(a), second(b)))
	})
	least := math.Inf(1)
	return slices.DeleteFunc(list, func(s state) bool {
		if second(s) >= least {
			return true
		}
		least = second(s)
		return false
	})
}

// multipliers are those of the linear relaxation, of B* and of T*, so that
//
//	min Σ (of + lambda c + mu t) - lambda B* - mu T*
//
// is the greatest. mu is exact for a lambda; lambda is searched, for the bound is
// concave in it. What the relaxations pick on the way may be taken.
func (w *weighted) multipliers() (lambda, mu float64) {
	// The bound for a λ, and the best μ for it: the multiplier of T* in the linear relaxation (see relaxation).
	bound := func(lambda float64) (bound, mu float64) {
		classes := make([][]state, len(w.classes))
		for i, sums := range w.classes {
			items := make([]state, len(sums))
			for j, s := range sums {
				items[j] = state{f: -w.of(s) - float64(lambda*s.f), g: s.g, pick: s.pick}
			}
			classes[i] = undominated(items)
		}
		positions, mu := relaxation(classes, over(w.time))
		picks := make([]int, len(positions))
		bound = -float64(lambda*w.budget) - float64(mu*w.time)
		for i, items := range classes {
			picks[i] = int(items[positions[i]].pick)
			least := math.Inf(1)
			for _, s := range items {
				least = min(least, float64(mu*s.g)-s.f)
			}
			bound += least
		}
		if w.keeps(w.total(picks)) {
			w.take(picks)
		}
		return bound, mu
	}
	// Double λ until the bound falls, then search the interval by thirds: 48 steps leave (2/3)^48, 3·10^-9, of it.
	unit := (math.Abs(w.a) + float64(math.Abs(w.b)*w.time)/scale(w.budget)) / 1024
	low, high := 0.0, unit
	best, _ := bound(high)
	for range 64 {
		more, _ := bound(2 * high)
		if more <= best {
			break
		}
		best, high = more, 2*high
	}
	high *= 2
	for range 48 {
		third := (high - low) / 3
		left, _ := bound(low + third)
		right, _ := bound(high - third)
		if left >= right {
			high -= third
		} else {
			low += third
		}
	}
	lambda = (low + high) / 2
	_, mu = bound(lambda)
	return lambda, mu
}

// improve exchanges single picks, and the picks of two jobs at once, while that
// gains and the limits hold.
func (w *weighted) improve() {
	for range 100 {
		before := w.best
		for i := range w.classes {
			for j := range i + 1 {
				w.exchange(i, j)
			}
		}
		if w.best >= before {
			return
		}
	}
}

// exchange takes the best picks of two jobs, or of one, the others' given.
func (w *weighted) exchange(i, j int) {
	others := w.total(w.picks)
	for _, k := range []int{i, j}[:1+min(i-j, 1)] {
		old := w.classes[k][w.picks[k]]
		others.f -= old.f
		others.g -= old.g
	}
	one := w.classes[j]
	if i == j {
		one = []state{{}}
	}
	for s, p := range w.classes[i] {
		for r, q := range one {
			all := state{f: others.f + p.f + q.f, g: others.g + p.g + q.g}
			if w.of(all) < w.best && w.keeps(all) {
				w.best, w.picks[i] = w.of(all), s
				if i != j {
					w.picks[j] = r
				}
			}
		}
	}
}
