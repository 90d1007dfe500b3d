package cyclic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/workload/vo"
)

// metaBatch draws META's batches: n of 2 to 5, volumes of 100 to 500, budgets
// of 1.0 to 1.6 a unit of work.
func metaBatch(r *rand.Rand, jobs int) []cyclic.Item {
	batch := make([]cyclic.Item, jobs)
	for i := range batch {
		n, volume := 2+r.IntN(4), 100+400*r.Float64()
		batch[i].Request = entity.Request{
			Nodes: n, Length: des.Seconds(volume), MinPerf: 1, Budget: float64(n) * volume * (1 + 0.6*r.Float64()),
		}
	}
	return batch
}

// metaSlots draws META's environment of experiments with batches.
func metaSlots(b *testing.B, nodes, units int, seed uint64) plan.SlotList {
	env := vo.METABatches()
	env.Nodes.Count, env.Units = nodes, units
	in, err := env.Generate(seed, 0)
	if err != nil {
		b.Fatal(err)
	}
	return in.SlotList()
}

// A cycle of the papers' size is 20 jobs, 24 nodes and 600 units; the rest shows
// how its cost grows. Each call plans another of 50 cycles drawn beforehand.
func BenchmarkPlan(b *testing.B) {
	type size struct {
		jobs, nodes, units, perJob int
	}
	papers := size{20, 24, 600, 0}
	planners := []struct {
		name  string
		sizes []size
		of    func(cyclic.Search) cyclic.Planner
	}{
		{"css", []size{papers, {40, 48, 600, 0}, {80, 96, 600, 0}, {160, 192, 600, 0}, {20, 96, 600, 0}, {20, 192, 600, 0}, {20, 192, 600, 2}, {20, 192, 600, 4}, {20, 192, 600, 8}, {20, 24, 2400, 0}, {160, 24, 600, 0}},
			func(s cyclic.Search) cyclic.Planner { return cyclic.CSS{Search: s} }},
		{"slicer-5-shift", []size{papers}, func(s cyclic.Search) cyclic.Planner {
			return cyclic.BatchSlicer{Slices: 5, Search: s, Shift: cyclic.ShiftEnd}
		}},
		{"bsf-half", []size{papers}, func(s cyclic.Search) cyclic.Planner {
			return cyclic.BSF{Share: cyclic.Share{Q: 0.5}, Slicer: cyclic.BatchSlicer{Slices: 5, Search: s}}
		}},
	}
	for _, p := range planners {
		for _, z := range p.sizes {
			b.Run(fmt.Sprintf("%s/jobs=%d/nodes=%d/units=%d/perjob=%d", p.name, z.jobs, z.nodes, z.units, z.perJob), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				var batches [50][]cyclic.Item
				var lists [50]plan.SlotList
				for i := range batches {
					batches[i], lists[i] = metaBatch(r, z.jobs), metaSlots(b, z.nodes, z.units, uint64(i))
				}
				planner := p.of(cyclic.Search{PerJob: z.perJob})
				found, planned := 0, 0
				i := 0
				for ; b.Loop(); i++ {
					out, err := planner.Plan(context.Background(), batches[i%50], lists[i%50])
					if err != nil {
						b.Fatal(err)
					}
					found += out.Stats.Alternatives
					planned += out.Planned()
				}
				b.ReportMetric(float64(found)/float64(i), "alternatives")
				b.ReportMetric(float64(planned)/float64(i), "planned")
			})
		}
	}
}

// The choice alone, by problem, exactly and on the papers' grid.
func BenchmarkChoice(b *testing.B) {
	for _, jobs := range []int{20, 100} {
		for _, p := range cyclic.Problems {
			for _, grid := range []float64{0, 1} {
				b.Run(fmt.Sprintf("%v/jobs=%d/grid=%g", p, jobs, grid), func(b *testing.B) {
					r := rand.New(rand.NewPCG(2, 2))
					var all [20][][]entity.Window
					for i := range all {
						all[i] = batchOf(r, jobs, 15, false)
					}
					states := 0
					i := 0
					for ; b.Loop(); i++ {
						c, err := cyclic.Choice{Problem: p, Grid: grid}.Choose(context.Background(), all[i%len(all)])
						if err != nil {
							b.Fatal(err)
						}
						states += c.States
					}
					b.ReportMetric(float64(states)/float64(i), "states")
				})
			}
		}
	}
}

// What weights cost, and whole fronts; the bound of a front is not met here.
func BenchmarkWeights(b *testing.B) {
	for _, jobs := range []int{20, 100} {
		for _, text := range []string{"1/0/1/0", "0/1/1/0", "1/0/0/1", "0/1/0/1", "front"} {
			b.Run(fmt.Sprintf("%s/jobs=%d", text, jobs), func(b *testing.B) {
				r := rand.New(rand.NewPCG(2, 2))
				var all [20][][]entity.Window
				for i := range all {
					all[i] = batchOf(r, jobs, 15, false)
				}
				weights, _ := cyclic.ParseWeights(text)
				c := cyclic.Choice{Problem: cyclic.Weighted, Weights: weights}
				states, gap, points := 0, 0.0, 0
				i := 0
				for ; b.Loop(); i++ {
					if text == "front" {
						front, err := cyclic.Choice{}.Front(context.Background(), all[i%len(all)], 0)
						if err != nil {
							b.Fatal(err)
						}
						states, gap, points = states+front.States, max(gap, front.Gap), points+len(front.Points)
						continue
					}
					got, err := c.Choose(context.Background(), all[i%len(all)])
					if err != nil {
						b.Fatal(err)
					}
					states, gap = states+got.States, max(gap, got.Gap)
				}
				b.ReportMetric(float64(states)/float64(i), "states")
				b.ReportMetric(float64(points)/float64(i), "points")
				b.ReportMetric(gap, "gap")
			})
		}
	}
}
