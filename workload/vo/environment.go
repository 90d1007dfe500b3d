// Environments: nodes with their owners' tasks.

package vo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Environment generates nodes and what their owners do on them over one
// scheduling interval. The zero value is the environment of META 6.1.
type Environment struct {
	Nodes Nodes
	Load  Load
	// Units is the length of the scheduling interval in time units, a whole
	// number of them; 0 means 600.
	Units int
}

// META61 is the environment of META, section 6.1: 100 nodes over 600 units,
// owners' tasks on 1 to 5 tenths of them.
func META61() Environment { return Environment{} }

// METABatches is the environment of META's experiments with batches: 24 nodes
// over 600 units, owners' tasks on up to 2 tenths of them.
func METABatches() Environment {
	return Environment{Nodes: Nodes{Count: 24}, Load: Load{Level: HypergeometricLevel{Lo: 0, Hi: 2}}}
}

// DEP18 is the environment of DEP18 as its program makes it: 100 nodes over 1200
// units at a tenth of META's price, owners' tasks of 10 to 150 units on about
// 15 hundredths of four such intervals, of which the first is kept. The text has
// another load: DEP18Text.
func DEP18() Environment {
	return Environment{
		Nodes: Nodes{PriceFactor: 0.1},
		Load:  Load{Level: NormalLevel{}, Task: Range{10, 150}, Horizons: 4},
		Units: 1200,
	}
}

// DEP18Text is DEP18 with the local load of its text: hypergeometric, up to 30%.
func DEP18Text() Environment {
	e := DEP18()
	e.Load.Level = HypergeometricLevel{Lo: 0, Hi: 3}
	return e
}

// META61Request is the job of META 6.1: 5 nodes of performance 2 or more,
// 150 units at performance 2, for 1500.
func META61Request() entity.Request {
	return entity.Request{Nodes: 5, Length: 300 * des.Second, MinPerf: 2, Budget: 1500}
}

// DEP18Request is the job of DEP18: 7 nodes, a volume of 800, for 644.
func DEP18Request() entity.Request {
	return entity.Request{Nodes: 7, Length: 800 * des.Second, MinPerf: 1, Budget: 644}
}

// Instance is one environment that was drawn.
type Instance struct {
	Nodes []*entity.Node
	Tasks [][]Span // the owners' tasks on each node, by start
	End   des.Time // of the scheduling interval, which begins at 0
}

// Check reports settings that make no sense, or nil.
func (e Environment) Check() error {
	if e.Units < 0 {
		return errors.New("environment: the interval must not be negative")
	}
	if err := e.Nodes.Check(); err != nil {
		return err
	}
	return e.Load.Check()
}

// Generate draws the environment of one replication.
func (e Environment) Generate(seed, replication uint64) (*Instance, error) {
	nodes, err := e.Nodes.Generate(seed, replication)
	if err != nil {
		return nil, err
	}
	units := cmp.Or(e.Units, 600)
	in := &Instance{Nodes: nodes, Tasks: make([][]Span, len(nodes)), End: des.Time(units) * des.Second}
	for i, n := range nodes {
		in.Tasks[i], err = e.Load.Generate(des.NewStream(seed, replication, "vo.local", uint64(n.ID)), units)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", n.ID, err)
		}
	}
	return in, nil
}

// SlotList returns the slots that owners leave free, by start, ties in the order of the nodes.
func (in *Instance) SlotList() plan.SlotList {
	list := plan.SlotList{To: in.End}
	for i, n := range in.Nodes {
		from := des.Time(0)
		for _, s := range in.Tasks[i] {
			if from < s.Start {
				list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, Start: from, End: s.Start})
			}
			from = s.End
		}
		if from < in.End {
			list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, Start: from, End: in.End})
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// Domain is a plan over the nodes in which the owners' tasks are taken and the
// horizon is the interval's end.
func (in *Instance) Domain(f plan.Finder) (*plan.Domain, error) {
	d, err := plan.NewDomain(in.Nodes, f)
	if err != nil {
		return nil, err
	}
	d.Horizon = in.End
	for i, n := range in.Nodes {
		for _, s := range in.Tasks[i] {
			if err := d.Occupy(n, s.Start, s.End); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}
