// Package windowtest makes random window-search problems in the manner of the
// papers' environments, for tests and benchmarks.
package windowtest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Environment says how nodes and their local load are drawn (algorithms.md
// section 5 of the plan: uniform performances, market prices, local tasks
// placed without touching until the load is reached).
type Environment struct {
	Nodes      int
	Horizon    float64
	Real       bool    // performances are real numbers in [2, 10], not whole ones
	PriceScale float64 // Q of the price formula
	// A node's load is hypergeometric k/10 of [LoadFrom, LoadTo] tenths (META)
	// or, with Normal, a normal cut to that range (DEP18); its local tasks last
	// between TaskFrom and TaskTo.
	LoadFrom, LoadTo float64
	Normal           bool
	TaskFrom, TaskTo float64
	// Local tasks are placed in so many horizons (0 = 1), of which the slot list
	// shows the first: some nodes are then nearly free, others busy.
	Spread int
	// Fractions lets local tasks begin and end between whole time units.
	Fractions bool
}

// DEP18 is the environment of DEP18's experiments: about 3.3 slots a node.
func DEP18(nodes int) Environment {
	return Environment{
		Nodes: nodes, Horizon: 1200, PriceScale: 0.1,
		LoadFrom: 0.9, LoadTo: 2.0, Normal: true, TaskFrom: 10, TaskTo: 150, Spread: 4,
	}
}

// META is the environment of META's section 6.1.
func META(nodes int) Environment {
	return Environment{
		Nodes: nodes, Horizon: 600, PriceScale: 1,
		LoadFrom: 1, LoadTo: 5, TaskFrom: 10, TaskTo: 100,
	}
}

// Slots draws a slot list.
func (e Environment) Slots(rng *rand.Rand) entity.SlotList {
	list := entity.SlotList{To: des.Seconds(e.Horizon)}
	for id := range e.Nodes {
		perf := 2 + 8*rng.Float64()
		if !e.Real {
			perf = float64(2 + rng.IntN(9))
		}
		d := 1.0
		for math.Abs(d) > 0.6 {
			d = 0.2 * rng.NormFloat64()
		}
		node := &entity.Node{
			ID: id + 1, Perf: perf, Q: 10 * rng.Float64(),
			Price: e.PriceScale * perf * math.Exp(0.02*(perf-1)) * (1 + d),
		}
		list.Slots = append(list.Slots, e.gaps(rng, node)...)
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// gaps places a node's local tasks and returns what they leave.
func (e Environment) gaps(rng *rand.Rand, node *entity.Node) []entity.Slot {
	type span struct{ from, to float64 }
	var busy []span
	whole := e.Horizon * float64(max(e.Spread, 1))
	want := e.level(rng) / 10 * whole
	for tries := 0; want > 0 && tries < 1000; tries++ {
		length := e.truncated(rng, e.TaskFrom, e.TaskTo)
		from := rng.Float64() * whole
		if !e.Fractions {
			length, from = math.Round(length), math.Floor(from)
		}
		to := min(from+length, whole)
		if slices.ContainsFunc(busy, func(b span) bool { return from <= b.to && b.from <= to }) {
			continue
		}
		busy = append(busy, span{from, to})
		want -= to - from
	}
	busy = append(busy, span{whole, whole})
	slices.SortFunc(busy, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var slots []entity.Slot
	at := 0.0
	for _, b := range busy {
		if to := min(b.from, e.Horizon); to > at {
			slots = append(slots, entity.Slot{Node: node, Width: 1, Start: des.Seconds(at), End: des.Seconds(to)})
		}
		at = b.to
	}
	return slots
}

// level is a node's load in tenths of the horizon.
func (e Environment) level(rng *rand.Rand) float64 {
	if e.Normal {
		return e.truncated(rng, e.LoadFrom, e.LoadTo)
	}
	for {
		// 30 draws without replacement from 1000, of which 150 are marked.
		k, marked := 0, 150
		for drawn := range 30 {
			if rng.IntN(1000-drawn) < marked {
				k++
				marked--
			}
		}
		if 0 < k && k < 10 {
			return e.LoadFrom + float64(k)/10*(e.LoadTo-e.LoadFrom)
		}
	}
}

// truncated draws a normal around the middle of [from, to], a third of the half
// range wide, until it lies within.
func (Environment) truncated(rng *rand.Rand, from, to float64) float64 {
	for {
		x := (from+to)/2 + (to-from)/6*rng.NormFloat64()
		if from <= x && x <= to {
			return x
		}
	}
}
