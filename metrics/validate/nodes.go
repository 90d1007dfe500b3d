package validate

// A schedule of named nodes against the job file it came from.

import (
	"math"
	"math/big"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// nodesOf are the nodes that f had, where the file names them all and they are
// there.
func (c *fileChecker) nodesOf(f *filed) []*entity.Node {
	var nodes []*entity.Node
	for _, r := range f.place {
		for id := r.First; id <= r.Last; id++ {
			n := c.nodes[int(id)]
			if n == nil {
				c.violation(f, Unmet, f.start, "has node %d, which is not there", id)
				return nil
			}
			nodes = append(nodes, n)
		}
	}
	if len(nodes) != f.job.Request.Nodes {
		c.violation(f, Unmet, f.start, "has %d nodes instead of %d", len(nodes), f.job.Request.Nodes)
		return nil
	}
	return nodes
}

// onNodes checks what each job was given: that its nodes are what it asks for,
// that it took the time that it takes on them, and that nobody else had them.
//
// A file does not tell how long each node was reserved: at least for as long as
// the task takes there. So of a window with a rough right edge this is all, and of
// a square one what a node did not need is not looked at.
func (c *fileChecker) onNodes(begun []*filed) {
	told := named(begun)
	for _, f := range begun {
		q, longest, cost := &f.job.Request, des.Time(0), 0.0
		asked := q.Length
		planned, run, about := asked, min(f.job.Runtime, asked), des.Time(0)
		if f.restarts.given { // it may have been reserved more, for checkpoints that it did not come to
			about = des.Tick
		}
		// The first prediction is of the job as it came; the latest one is of the shape that it has.
		first, was := f.prediction.value, f.asked().Request.Length
		if was != asked {
			first = shareOf(asked, first, was)
		}
		switch {
		case c.predicts && f.part: // nor for how long it was planned
			about = des.Second
		case f.prediction.value <= 0 || f.predicted.value <= 0: // none, or none that can be; see predictions
		case f.restarts.given || f.corrections.value > 0: // at least so long, and how long is not known
			planned, about = min(asked, first), des.Second
		case was != asked && f.predicted.value == f.prediction.value: // the latest is the first
			planned, about = first, des.Second
		default:
			planned = f.predicted.value
		}
		var nodes []*entity.Node
		p := c.partyOf(f)
		if told {
			nodes = c.nodesOf(f)
		}
		for _, n := range nodes {
			if why := unfit(n, q); why != "" {
				c.violation(f, Unmet, f.start, "has node %d, %s", n.ID, why)
			}
			if !c.PricesVary && q.MaxPrice > 0 && n.Price > q.MaxPrice {
				c.violation(f, Unmet, f.start, "has node %d, whose price %v is above %v", n.ID, n.Price, q.MaxPrice)
			}
			reserved := des.Time(math.Ceil(float64(planned) / n.Perf))
			longest = max(longest, reserved)
			cost += float64(n.Price * reserved.Seconds())
			until := min(f.start+max(partUp(reserved, run, planned)-about, 0), f.finish)
			if f.rough {
				until = f.start // at least
			}
			p.tasks = append(p.tasks, task{n, until})
		}
		if nodes == nil {
			continue
		}
		if end := f.start + longest; q.Deadline > 0 && end > q.Deadline {
			c.violation(f, Unmet, f.start, "needs its nodes until %v, past its deadline %v", end, q.Deadline)
		}
		// What is planned by a prediction is bought for that long. Where it is corrected the job
		// has its nodes for longer, and pays for it, budget or not.
		if !c.PricesVary && !(c.predicts && f.part) && f.corrections.value == 0 && q.Budget > 0 && aboveLimit(cost, q.Budget) {
			c.violation(f, Unmet, f.start, "costs at least %v, above its budget %v", cost, q.Budget)
		}
		if f.part || f.state == stateKilled && f.reason {
			continue
		}
		if want, took := partUp(longest, run, planned), f.finish-f.start; f.ended() && (took < want-about || took > want+about) {
			c.violation(f, WrongRunTime, f.finish, "ran for %v instead of %v", took, want)
		}
	}
}

// shareOf is the real time of a task for which so much was reserved: the share of
// its estimate that the job takes, rounded up, and no more than all of it.
func shareOf(reserved, runtime, estimate des.Time) des.Time {
	if runtime >= estimate {
		return reserved
	}
	return partUp(reserved, runtime, estimate)
}

// partUp is t*part/whole, rounded up. It is worked out by schoolbook division, not as
// the engine does it.
func partUp(t, part, whole des.Time) des.Time {
	if part == whole {
		return t
	}
	product := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(int64(part)))
	quotient, rest := new(big.Int).QuoRem(product, big.NewInt(int64(whole)), new(big.Int))
	if rest.Sign() > 0 {
		return des.Time(quotient.Int64()) + des.Tick
	}
	return des.Time(quotient.Int64())
}
