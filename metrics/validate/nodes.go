package validate

// A schedule of named nodes against the job file it came from.

import (
	"math"
	"math/big"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// nodesOf returns the nodes that f had, or nil, with a violation, if one of them does not exist or
// they are not as many as the job asks for.
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

// onNodes checks what each run was given: that its nodes are what its job asks for, that it took
// the time that it takes on them, and, by its tasks for the checker, that nobody else had them.
//
// A file does not tell how long each node was reserved: at least for as long as the task takes
// there. So a window with a rough right edge is checked in full, and of a square one, whose nodes
// are all reserved for equally long, the time that a node did not need is not looked at.
func (c *fileChecker) onNodes(begun []*filed) {
	// A file without the IDs of nodes tells nothing that could be checked here.
	told := named(begun)
	for _, f := range begun {
		if !told {
			continue
		}
		nodes := c.nodesOf(f)
		if nodes == nil {
			continue
		}
		q := &f.job.Request
		for _, n := range nodes {
			c.suits(f, n)
		}
		b := c.spanOf(f)
		longest, cost := c.onEach(f, nodes, b)
		if end := f.start + longest; q.Deadline > 0 && end > q.Deadline {
			c.violation(f, Unmet, f.start, "needs its nodes until %v, past its deadline %v", end, q.Deadline)
		}
		// What is planned by a prediction is bought for that long. Where it is corrected the job
		// has its nodes for longer, and pays for it, budget or not.
		if !c.PricesVary && !(c.predicts && f.part) && f.corrections.value == 0 && q.Budget > 0 && aboveLimit(cost, q.Budget) {
			c.violation(f, Unmet, f.start, "costs at least %v, above its budget %v", cost, q.Budget)
		}
		// An attempt that was preempted, or killed by somebody, may end at any time.
		if f.part || f.state == stateKilled && f.reason {
			continue
		}
		want, took := partUp(longest, b.run, b.planned), f.finish-f.start
		if f.ended() && (took < want-b.about || took > want+b.about) {
			c.violation(f, WrongRunTime, f.finish, "ran for %v instead of %v", took, want)
		}
	}
}

// bounds are the planned and the real length of a run, on a node of performance 1.
type bounds struct {
	planned des.Time // above 0
	run     des.Time // of the run time, cut at the estimate
	about   des.Time // by how much the time on the nodes may differ, 0 where all is known
}

// spanOf returns the bounds of f, as far as its row tells them.
func (c *fileChecker) spanOf(f *filed) bounds {
	asked := f.job.Request.Length
	b := bounds{planned: asked, run: min(f.job.Runtime, asked)}
	if f.restarts.given { // it may have been reserved more, for checkpoints that it did not come to
		b.about = des.Tick
	}
	// The first prediction is of the job as it came; the latest one is of the shape that it has.
	first, was := f.prediction.value, f.asked().Request.Length
	if was != asked {
		first = shareOf(asked, first, was)
	}
	switch {
	case c.predicts && f.part: // nor for how long it was planned
		b.about = des.Second
	case f.prediction.value <= 0 || f.predicted.value <= 0: // none, or none that can be; see predictions
	case f.restarts.given || f.corrections.value > 0: // at least so long, and how long is not known
		b.planned, b.about = min(asked, first), des.Second
	case was != asked && f.predicted.value == f.prediction.value: // the latest is the first
		b.planned, b.about = first, des.Second
	default:
		b.planned = f.predicted.value
	}
	return b
}

// suits checks that node n, which f had, is what its job asks for, price included.
func (c *fileChecker) suits(f *filed, n *entity.Node) {
	q := &f.job.Request
	if why := unfit(n, q); why != "" {
		c.violation(f, Unmet, f.start, "has node %d, %s", n.ID, why)
	}
	if !c.PricesVary && q.MaxPrice > 0 && n.Price > q.MaxPrice {
		c.violation(f, Unmet, f.start, "has node %d, whose price %v is above %v", n.ID, n.Price, q.MaxPrice)
	}
}

// onEach gives the party of f a task on each node, and returns the longest time that must have
// been reserved on one of them, and what all of that cost at least.
func (c *fileChecker) onEach(f *filed, nodes []*entity.Node, b bounds) (longest des.Time, cost float64) {
	p := c.partyOf(f)
	for _, n := range nodes {
		reserved := des.Time(math.Ceil(float64(b.planned) / n.Perf)) // a task takes Length / performance
		longest = max(longest, reserved)
		cost += float64(n.Price * reserved.Seconds())
		// A task that is surely there until an instant keeps others off until then, not longer.
		until := min(f.start+max(partUp(reserved, b.run, b.planned)-b.about, 0), f.finish)
		if f.rough {
			until = f.start // at least
		}
		p.tasks = append(p.tasks, task{n, until})
	}
	return longest, cost
}

// shareOf returns the real time of a task with that reserved time: the share of its estimate that
// the job takes, rounded up, and no more than all of it.
func shareOf(reserved, runtime, estimate des.Time) des.Time {
	if runtime >= estimate {
		return reserved
	}
	return partUp(reserved, runtime, estimate)
}

// partUp returns t*part/whole, rounded up to a tick. It divides big integers: the engine has another
// way, and a fault of that must not hide here. Invariant: 0 <= t, 0 <= part, 0 < whole unless
// part == whole.
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
