package reproduce

// META's MinProcTime as the authors' program has it.

import (
	"cmp"
	"context"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/window"
)

// CheapestProcTime is AEP's scan with the n cheapest usable slots at each step;
// of those within the budget the ones with the least sum of task times are kept.
// META calls its MinProcTime simplified and does not say how; this is the
// simplification that gives its figures.
type CheapestProcTime struct{ window.Settings }

// Name is "cheapest-proctime".
func (CheapestProcTime) Name() string { return "cheapest-proctime" }

// Find implements entity.Finder.
func (f CheapestProcTime) Find(_ context.Context, r entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	var best entity.Found
	var open []usable // by cost
	for _, s := range list.Slots {
		if s.Start > until {
			break
		}
		u := usable{node: s.Node, end: s.End, length: f.length(s.Node, r)}
		u.cost = s.Node.Price * u.length.Seconds()
		if !r.Admits(s.Node) || s.End-s.Start < u.length {
			continue
		}
		open = slices.DeleteFunc(open, func(o usable) bool { return o.end-s.Start < o.length })
		at, _ := slices.BinarySearchFunc(open, u, func(a, b usable) int { return cmp.Compare(a.cost, b.cost) })
		if open = slices.Insert(open, at, u); len(open) < r.Nodes {
			continue
		}
		best.Work.Steps++
		w := entity.Window{Start: s.Start, Nodes: r.Nodes}
		for _, o := range open[:r.Nodes] {
			w.Tasks = append(w.Tasks, entity.Task{Node: o.node, End: s.Start + o.length})
			w.End = max(w.End, s.Start+o.length)
			w.Cost += o.cost
		}
		w.Value = w.ProcessorTime().Seconds()
		if w.Cost <= r.BudgetLimit() && (!best.OK || w.Value < best.Window.Value) {
			best.Window, best.OK = w, true
		}
	}
	return best, nil
}

// usable is a slot in which a task has room.
type usable struct {
	node        *entity.Node
	end, length des.Time // of the slot; of the task
	cost        float64
}

// length is a task's, rounded up to the quantum.
func (f CheapestProcTime) length(n *entity.Node, r entity.Request) des.Time {
	t := n.TaskTime(r.Length)
	if f.Quantum > 0 {
		t = (t + f.Quantum - 1) / f.Quantum * f.Quantum
	}
	return t
}
