// Which searches surely find a window on free nodes.

package window

import (
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Whether a job could ever get a window is asked for each that comes, with every node
// free: a search among as many slots as there are nodes, all of one start. Whatever
// such a search wants of a window, it finds one if there is one. So it is enough that
// the first n nodes that have room make one, which they mostly do. Where they are too
// dear only the search can tell.

var (
	_ plan.SureFinder = ALP{}
	_ plan.SureFinder = AMP{}
	_ plan.SureFinder = AEP{}
	_ plan.SureFinder = CSA{}
	_ plan.SureFinder = Cheapest{}
	_ plan.SureFinder = MultipleBest{}
	_ plan.SureFinder = Best{}
)

// surely reports whether the first n nodes on which a task of req ends by the instant
// to, if it starts at from, are within the budget: each for its own time, or with square
// for as long as the slowest needs.
func (s Settings) surely(req *entity.Request, nodes []*entity.Node, from, to des.Time, square bool) bool {
	if s.check() != nil || math.IsInf(req.Budget, 1) {
		return false
	}
	var longest des.Time
	room := min(to, req.DeadlineLimit()) - from
	picks := make([]*entity.Node, 0, min(req.Nodes, len(nodes)))
	for _, n := range nodes {
		if len(picks) == req.Nodes {
			break
		}
		if !req.Admits(n) {
			continue
		}
		if own := s.taskTime(n, req.Length); own <= room {
			picks = append(picks, n)
			longest = max(longest, own)
		}
	}
	if len(picks) < req.Nodes {
		return false
	}
	t, cost := s.tariff(req.BudgetLimit()), 0.0
	for _, n := range picks {
		length := longest
		if !square {
			length = s.taskTime(n, req.Length)
		}
		cost += t.cost(n.Price, length)
	}
	return cost <= t.limit*(1-1e-9) // in whichever order they are summed up
}

// finite reports whether a criterion is known to give every slot a number.
func finite(by Criterion) bool {
	switch by.(type) {
	case Q, DEP, COORD:
		return true
	}
	return false
}

// Surely implements plan.SureFinder.
func (a ALP) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	return req.Budget == 0 && a.surely(req, nodes, from, to, false)
}

// Surely implements plan.SureFinder.
func (a AMP) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	return a.surely(req, nodes, from, to, false)
}

// Surely implements plan.SureFinder.
func (a AEP) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	_, err := a.By.goal()
	return err == nil && a.surely(req, nodes, from, to, false)
}

// Surely implements plan.SureFinder.
func (c CSA) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	_, err := c.By.goal()
	return err == nil && c.surely(req, nodes, from, to, false)
}

// Surely implements plan.SureFinder.
func (c Cheapest) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	_, err := c.Goal.goal(c.By)
	return err == nil && (c.Goal != MostWorth || finite(c.By)) && c.surely(req, nodes, from, to, true)
}

// Surely implements plan.SureFinder.
func (m MultipleBest) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	return finite(m.By) && m.surely(req, nodes, from, to, true)
}

// Surely implements plan.SureFinder.
func (b Best) Surely(req *entity.Request, nodes []*entity.Node, from, to des.Time) bool {
	return finite(b.By) && b.surely(req, nodes, from, to, !b.Rough)
}
