// The choice among alternatives, the second half of CSS (AMP11, section 4; META, 6 to 9): one
// alternative s of each job, such that Σ f(s) is extreme while Σ g(s) is within a limit Z*.
//
//	problem          extreme of f            g, within Z*
//	owners' profit   the greatest cost       time, T*
//	batch time       the least time          cost, B*
//	users' expense   the least cost          time, T*
//	idleness         the greatest time       time, T*
//
// T* and B* follow from the alternatives (TimeLimit, BudgetLimit). The papers choose by backward
// recursion over whole Z,
//
//	f_i(Z) = extr over s of { f(s) + f_{i+1}(Z - g(s)) },  f_{n+1} = 0
//
// which is Choice.Grid here (onGrid). The choice is exact for real numbers otherwise: exact in
// knapsack.go, closest in closest.go where f is g, and weights.go for sums of all four.

package cyclic

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// Problem says what the choice of alternatives aims at. Time is processor time, the sum of
// the tasks' lengths (T_CPU).
type Problem uint8

const (
	OwnersProfit Problem = iota // the greatest total cost, total time within T*
	BatchTime                   // the least total time, total cost within B*
	UsersExpense                // the least total cost, total time within T*
	Idleness                    // the greatest total time, within T*
	Weighted                    // the least weighted sum of C, D, T and I, within both; see Weights
)

// Problems lists the papers' problems.
var Problems = [...]Problem{OwnersProfit, BatchTime, UsersExpense, Idleness}

var problems = enum.Of[Problem]("problem", "owners-profit", "batch-time", "users-expense", "idleness", "weights")

func (p Problem) String() string { return problems.Name(p) }

// ParseProblem reads "owners-profit", "batch-time", "users-expense", "idleness"
// or "weights".
func ParseProblem(s string) (Problem, error) { return problems.Parse(s) }

// TimeLimit is the rule by which T* follows from the alternatives.
type TimeLimit uint8

const (
	MeanTime     TimeLimit = iota // the sum over the jobs of the mean time of their alternatives
	MeanTimeUp                    // each job's mean rounded up to a time unit: META (5)
	MeanTimeDown                  // each alternative's part of the mean rounded down to a time unit: AMP11 (2)
	ShareOfTime                   // Choice.Shares.Time of the way from the least total time to the greatest
)

var timeLimits = enum.Of[TimeLimit]("time limit", "mean", "mean-up", "mean-down", "share")

func (l TimeLimit) String() string { return timeLimits.Name(l) }

// ParseTimeLimit reads "mean", "mean-up", "mean-down" or "share".
func ParseTimeLimit(s string) (TimeLimit, error) { return timeLimits.Parse(s) }

// BudgetLimit is the rule by which B* follows from the alternatives.
type BudgetLimit uint8

const (
	MeanCost      BudgetLimit = iota // the sum over the jobs of the mean cost of their alternatives
	LargestIncome                    // the largest total cost within T*: AMP11 (3)
	ShareOfIncome                    // Choice.Shares.Owners of the way from the least total cost within T* to the largest
)

var budgetLimits = enum.Of[BudgetLimit]("budget limit", "mean", "income", "share")

func (l BudgetLimit) String() string { return budgetLimits.Name(l) }

// ParseBudgetLimit reads "mean", "income" or "share".
func ParseBudgetLimit(s string) (BudgetLimit, error) { return budgetLimits.Parse(s) }

// Choice picks one alternative of each job. The zero value is the owners'
// profit within T* = MeanTime, exactly.
type Choice struct {
	Problem     Problem     // what is best
	TimeLimit   TimeLimit   // how T* is set
	BudgetLimit BudgetLimit // how B* is set
	// Weights are for the problem Weighted alone, Shares for the limits
	// ShareOfTime and ShareOfIncome.
	Weights Weights
	Shares  Shares
	// MaxTime and MaxCost, if not 0, are T* and B* themselves, whatever the alternatives.
	MaxTime des.Time
	MaxCost float64
	// Grid, where it is not 0, chooses by the papers' recursion over whole
	// multiples of Grid time units (or cost units, for B*) of what the limit is
	// on, rounded up; 1 is the papers' grid. Its choices keep the real limit and
	// may miss better ones, or any.
	Grid float64
	// Patience is the number of states that an exact choice may visit. Then it returns the best
	// combination so far, and Combination.Gap bounds the distance to the optimum. 0 means 30
	// million, or for the problem Weighted 200,000, and 20,000 if both limits are to be filled.
	Patience int
}

// Defaults of Choice.Patience. A choice by weights keeps its states, and compares each with many.
const (
	defaultPatience         = 30_000_000
	defaultWeightedPatience = 200_000
)

// Combination is one alternative of each job.
type Combination struct {
	Picks []int    // which one, by job
	Cost  float64  // C, the sum of the costs
	Time  des.Time // T, the sum of the processor times
	// Limit is the limit that was kept: T* in time units, or B*.
	Limit float64
	// Vector is the vector criterion where the problem is Weighted, which keeps
	// both limits; then Limit is T*.
	Vector Vector
	// Gap is by how much, at most, another combination could be better, in time
	// units or cost or, for Weighted, of the weighted sum; 0 is a proven optimum.
	Gap float64
	// States is the number of partial combinations that were kept or, on a grid, the number of
	// cells that were filled.
	States int
}

// InfeasibleError says that no combination keeps within a limit.
type InfeasibleError struct {
	Problem Problem // what was to be chosen
	Limit   float64 // T* in time units or B*
	Least   float64 // the least value, in the unit of Limit, that any combination has
	// Within is T* in time units if the problem is Weighted and the limit is B*: Least is
	// then the least cost within T*. Otherwise it is 0.
	Within float64
	// Gap is by how much less the least may be, for a choice by weights that ran
	// out of patience before it could tell.
	Gap float64
}

// Excess returns by how much the limit is too low, in the unit of Limit.
func (e *InfeasibleError) Excess() float64 { return e.Least - e.Limit }

func (e *InfeasibleError) Error() string {
	what, unit, within := "time T*", "time units", ""
	if e.Problem == BatchTime || e.Within != 0 {
		what, unit = "budget B*", "cost units"
	}
	if e.Within != 0 {
		within = fmt.Sprintf(" within the time T* of %.6g time units", e.Within)
	}
	text := fmt.Sprintf("the %s of %.6g %s is %.6g too low: no choice of alternatives%s takes less than %.6g",
		what, e.Limit, unit, e.Excess(), within, e.Least)
	if e.Gap > 0 {
		text += fmt.Sprintf(" (or up to %.6g less: patience ran out)", e.Gap)
	}
	return text
}

// Choose picks one of each job's alternatives. An *InfeasibleError says that the limit cannot
// be kept; a job without an alternative is a *plan.BadInputError. Without jobs the combination
// is empty.
func (c Choice) Choose(ctx context.Context, alternatives [][]entity.Window) (Combination, error) {
	return c.choose(ctx, alternatives, nil)
}

// choose is Choose where combinations chosen before have used up a part of
// MaxTime and MaxCost.
func (c Choice) choose(ctx context.Context, alternatives [][]entity.Window, before []Slice) (Combination, error) {
	if err := c.check(alternatives); err != nil {
		return Combination{}, err
	}
	if c.Problem == Weighted {
		return c.weigh(ctx, alternatives, before)
	}
	limit, err := c.limit(ctx, alternatives, before)
	if err != nil {
		return Combination{}, err
	}
	// The knapsack: which f is maximised within which limit on g. Whichever way it is solved, it ends with picks,
	// or with none and the least g.
	k := knapsack{classes: classesOf(alternatives, c.Problem.sums), limit: limit, patience: cmp.Or(c.Patience, defaultPatience)}
	switch {
	case c.Grid > 0:
		err = k.onGrid(ctx, c.Grid*c.unit())
	case c.Problem == Idleness:
		err = k.closest(ctx)
	default:
		err = k.exact(ctx)
	}
	if err != nil {
		return Combination{}, err
	}
	out := Combination{Picks: k.picks, Limit: limit / c.unit(), Gap: k.gap / c.gain(), States: k.states}
	if k.picks == nil && len(alternatives) > 0 {
		return out, &InfeasibleError{Problem: c.Problem, Limit: out.Limit, Least: k.least / c.unit()}
	}
	out.Cost, out.Time = total(alternatives, k.picks)
	return out, nil
}

// total returns the sum of the costs and of the processor times of the picked alternatives.
func total(alternatives [][]entity.Window, picks []int) (cost float64, time des.Time) {
	for i, s := range picks {
		cost += alternatives[i][s].Cost
		time += alternatives[i][s].ProcessorTime()
	}
	return cost, time
}

// check reports settings and alternatives that make no sense.
func (c Choice) check(alternatives [][]entity.Window) error {
	for i, windows := range alternatives {
		if len(windows) == 0 {
			return plan.BadInput("job %d has no alternative to choose", i)
		}
		for _, w := range windows {
			if math.IsNaN(w.Cost) || math.IsInf(w.Cost, 0) {
				return plan.BadInput("an alternative of job %d costs %v", i, w.Cost)
			}
		}
	}
	switch {
	case c.Problem > Weighted:
		return plan.BadInput("the choice has no problem %d", c.Problem)
	case c.Problem != Weighted && c.Weights != Weights{}:
		return plan.BadInput("the weights %v are for the problem %v, not for %v", c.Weights, Weighted, c.Problem)
	case c.Problem == Weighted && c.Grid != 0:
		return plan.BadInput("the choice by weights has no grid: it is exact")
	case c.Problem == Weighted:
		if err := c.Weights.check(); err != nil {
			return err
		}
	}
	if err := c.Shares.check(); err != nil {
		return err
	}
	if !(c.Grid >= 0) || !(c.MaxCost >= 0) || c.MaxTime < 0 || c.Patience < 0 {
		return plan.BadInput("the choice's grid %v, limits %v and %v and patience %d must not be negative", c.Grid, c.MaxTime, c.MaxCost, c.Patience)
	}
	return nil
}

// sums returns the amounts by which an alternative raises the sum to be maximised (f) and the sum
// within the limit (g). Times are in ticks.
func (p Problem) sums(w *entity.Window) (f, g float64) {
	time := float64(w.ProcessorTime())
	switch p {
	case BatchTime:
		return -time, w.Cost
	case UsersExpense:
		return -w.Cost, time
	case Idleness:
		return time, time
	}
	return w.Cost, time
}

// unit returns the size of one unit of the limit, in which people give it, as the sums g count it:
// ticks a time unit, or 1 for a cost.
func (c Choice) unit() float64 {
	if c.Problem == BatchTime {
		return 1
	}
	return float64(des.Second)
}

// gain returns the size of one unit of the maximised sum as the sums f count it: ticks a time unit,
// or 1 for a cost.
func (c Choice) gain() float64 {
	if c.Problem == BatchTime || c.Problem == Idleness {
		return float64(des.Second)
	}
	return 1
}

// limit is T* in ticks, or B*.
func (c Choice) limit(ctx context.Context, alternatives [][]entity.Window, before []Slice) (float64, error) {
	if c.Problem == BatchTime {
		return c.budgetStar(ctx, alternatives, before)
	}
	return c.timeStar(alternatives, before), nil
}

// timeStar is T* in ticks: what the slices before have left of MaxTime, or a limit that follows from the
// alternatives.
func (c Choice) timeStar(alternatives [][]entity.Window, before []Slice) float64 {
	if c.MaxTime > 0 {
		left := c.MaxTime
		for _, s := range before {
			left -= s.Combination.Time
		}
		return float64(left)
	}
	if c.TimeLimit == ShareOfTime {
		return c.Shares.time(alternatives)
	}
	// Σ over the jobs of the mean time of their alternatives: exact, each mean rounded up (META (5)), or each
	// alternative's n-th part rounded down (AMP11 (2)).
	const unit = float64(des.Second)
	sum := 0.0
	for _, windows := range alternatives {
		n, ticks, parts := float64(len(windows)), 0.0, 0.0
		for i := range windows {
			t := float64(windows[i].ProcessorTime())
			ticks += t
			parts += math.Floor(t / (n * unit))
		}
		switch c.TimeLimit {
		case MeanTimeUp:
			sum += unit * math.Ceil(ticks/(n*unit))
		case MeanTimeDown:
			sum += unit * parts
		default:
			sum += ticks / n
		}
	}
	return sum
}

// budgetStar is B*: what the slices before have left of MaxCost, the largest income within T* (AMP11 (3)), a share
// of the way to it, or Σ over the jobs of the mean cost of their alternatives.
func (c Choice) budgetStar(ctx context.Context, alternatives [][]entity.Window, before []Slice) (float64, error) {
	if c.MaxCost > 0 {
		left := c.MaxCost
		for _, s := range before {
			left -= s.Combination.Cost
		}
		return left, nil
	}
	switch c.BudgetLimit {
	case LargestIncome:
		return c.extreme(ctx, OwnersProfit, alternatives, before)
	case ShareOfIncome:
		gain, err := c.extremes(ctx, alternatives, before)
		return c.Shares.budget(gain), err
	}
	sum := 0.0
	for _, windows := range alternatives {
		costs := 0.0
		for i := range windows {
			costs += windows[i].Cost
		}
		sum += costs / float64(len(windows))
	}
	return sum, nil
}

// extreme is the total cost of another problem within T*.
func (c Choice) extreme(ctx context.Context, p Problem, alternatives [][]entity.Window, before []Slice) (float64, error) {
	c.Problem, c.Weights = p, Weights{}
	found, err := c.choose(ctx, alternatives, before)
	return found.Cost, err
}

// Vector is the criterion <C, D, T, I> of AMP11 for a combination: what it
// costs, what it leaves of the budget B*, what time it takes, what it leaves of
// the time T*.
type Vector struct {
	C, D float64 // cost, and what it leaves of B*
	T, I float64 // time units
}

func (v Vector) String() string {
	return fmt.Sprintf("C=%.2f D=%.2f T=%.2f I=%.2f", v.C, v.D, v.T, v.I)
}

// Vector returns the vector criterion of a combination of the alternatives, with
// both limits as c has them.
func (c Choice) Vector(ctx context.Context, alternatives [][]entity.Window, picks []int) (Vector, error) {
	if err := c.check(alternatives); err != nil {
		return Vector{}, err
	}
	if len(picks) != len(alternatives) {
		return Vector{}, plan.BadInput("a combination of %d alternatives for %d jobs", len(picks), len(alternatives))
	}
	budget, err := c.budgetStar(ctx, alternatives, nil)
	if err != nil {
		return Vector{}, err
	}
	for i, s := range picks {
		if s < 0 || s >= len(alternatives[i]) {
			return Vector{}, plan.BadInput("job %d has no alternative %d", i, s)
		}
	}
	cost, time := total(alternatives, picks)
	return vectorOf(cost, time, budget, c.timeStar(alternatives, nil)), nil
}

// vectorOf is the vector of a cost and a time; the limit on time is in ticks.
func vectorOf(cost float64, time des.Time, budget, limit float64) Vector {
	v := Vector{C: cost, D: budget - cost, T: time.Seconds()}
	v.I = limit/float64(des.Second) - v.T
	return v
}
