// Windows that are probably free: nodes whose use by others is uncertain.
//
// Toporkov, Yemelyanov, Grigorenko: Optimization of Resources Allocation in High Performance
// Computing Under Utilization Uncertainty, ICCS 2021, LNCS 12742; formulas as in the authors'
// program (github.com/dmieter/proba-sch).

package window

import (
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Amounts of nodes that Available reads.
const (
	// NodeAvailability is the amount of a node that says with which probability no event of its
	// own, such as a failure, keeps it from a window: from 0 to 1, and 1 where it is not given.
	NodeAvailability = "availability"
	// EndDeviation is the amount of a node that says how uncertain the ends of its tasks are: a
	// standard deviation in time units. With at most 1, or where it is not given, ends are sure.
	EndDeviation = "end-deviation"
)

// Available is the criterion of windows that are probably free when they start. A node is free
// with its probability NodeAvailability, and if the task before the slot has ended by then:
//
//	P(ended t units after its planned end) = Φ((ln(t + 2) − 1) / ln EndDeviation),   1 from 60 EndDeviation on
//
// That is the long tail of the authors' ends. A window shows the product of its nodes'
// probabilities; it is worth the sum of their logarithms.
type Available struct {
	// From is the beginning of slots that have no task before them. Searches set it to the
	// beginning of their slot list.
	From des.Time
}

// Name returns "available".
func (Available) Name() string { return "available" }

const (
	leastAvailability = 1e-300 // what is less likely counts as this: its logarithm is a number
	longestOverrun    = 60     // in deviations
)

// Value is the logarithm of the probability that the node is free from start on.
func (a Available) Value(s *entity.Slot, start, _ des.Time) float64 {
	p := availabilityOf(s.Node)
	if s.Start > a.From {
		p *= ended((start - s.Start).Seconds(), s.Node.Amounts[EndDeviation])
	}
	return math.Log(max(p, leastAvailability))
}

// Bound implements Bounded: the later a window starts, the likelier the task before has ended.
func (a Available) Bound(s *entity.Slot, _, to, _, _ des.Time) float64 { return a.Value(s, to, to) }

// shown is the probability, of which the sum is the logarithm.
func (Available) shown(sum float64) float64 { return math.Exp(sum) }

// within tells where the slot list begins.
func (Available) within(_ Settings, from des.Time) Criterion { return Available{From: from} }

// check implements choosy.
func (Available) check(list []entity.Slot) error { return checkAvailability(list) }

// availabilityOf is the probability that nothing of its own keeps a node from a window.
func availabilityOf(n *entity.Node) float64 {
	if p, given := n.Amounts[NodeAvailability]; given {
		return p
	}
	return 1
}

// ended is the probability that a task has ended t time units after its planned end.
func ended(t, deviation float64) float64 {
	if deviation <= 1 || t >= longestOverrun*deviation {
		return 1
	}
	return normalCDF((math.Log(t+2) - 1) / math.Log(deviation))
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// checkAvailability is the error of a node whose availability is no probability, or nil.
func checkAvailability(list []entity.Slot) error {
	for i := range list {
		n := list[i].Node
		if p := availabilityOf(n); !(p >= 0 && p <= 1) {
			return plan.BadInput("node %d: its amount %q must be a probability from 0 to 1, not %v", n.ID, NodeAvailability, p)
		}
		if d := n.Amounts[EndDeviation]; !(d >= 0) || math.IsInf(d, 0) {
			return plan.BadInput("node %d: its amount %q must be a number of time units, 0 or more, not %v", n.ID, EndDeviation, d)
		}
	}
	return nil
}
