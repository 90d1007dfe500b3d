package bench_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/workload/vo"
)

// cycle is one cycle of planning: search, choice and reservation of META's batch on
// META's nodes, of both more than there.
type cycle struct {
	Jobs, Nodes int
	Units       int      // of the scheduling interval; 0 is META's 600
	Slices      int      // of the batch-slicer; 0 is CSS
	Criteria    []string // the users', in turn; without them first fit
	Shape       string   // of the slots; see adversarial_test.go
}

func init() { works[nameOf(&cycle{})] = &cycle{} }

func (c *cycle) begin() (func() (counts, error), error) {
	batch, list, err := c.draw()
	if err != nil {
		return nil, err
	}
	return func() (counts, error) {
		out, err := c.planner().Plan(context.Background(), batch, list)
		if err != nil {
			return nil, err
		}
		return counts{"slots": float64(len(list.Slots)), "alternatives": float64(out.Stats.Alternatives), "planned": float64(out.Planned())}, nil
	}, nil
}

func (c *cycle) planner() cyclic.Planner {
	if c.Slices > 0 {
		return cyclic.BatchSlicer{Slices: c.Slices}
	}
	return cyclic.CSS{}
}

// draw draws META's batch, and what the owners of META's experiments with batches leave
// free.
func (c *cycle) draw() ([]cyclic.Item, plan.SlotList, error) {
	batch, err := c.batch()
	if err != nil {
		return nil, plan.SlotList{}, err
	}
	env := vo.METABatches()
	env.Nodes.Count, env.Units = c.Nodes, c.Units
	// What is hard about a job goes into that of the middle, which others stand before and behind.
	list, err := drawSlots(c.Shape, env, 1, &batch[len(batch)/2].Request)
	return batch, list, err
}

func (c *cycle) batch() ([]cyclic.Item, error) {
	jobs, err := vo.Batch{Jobs: c.Jobs}.Generate(1, 0)
	if err != nil {
		return nil, err
	}
	var criteria []entity.Criterion
	for _, name := range c.Criteria {
		found, err := policy.Finders().Parse(name)
		if err != nil {
			return nil, err
		}
		criteria = append(criteria, found.Value)
	}
	batch := make([]cyclic.Item, len(jobs))
	for i, j := range jobs {
		batch[i].Request = j.Request
		if len(criteria) > 0 {
			batch[i].Request.Criterion = criteria[i%len(criteria)]
		}
	}
	return batch, nil
}

// BenchmarkCSS is a cycle of CSS: 80 jobs on more and more nodes, more jobs on as many,
// and many of both.
func BenchmarkCSS(b *testing.B) {
	for _, c := range []cycle{{Jobs: 80, Nodes: 400}, {Jobs: 80, Nodes: 1600}, {Jobs: 80, Nodes: 6400}, {Jobs: 320, Nodes: 1600}, {Jobs: 1000, Nodes: 10_000}} {
		b.Run(fmt.Sprintf("jobs=%d/nodes=%d", c.Jobs, c.Nodes), func(b *testing.B) { reportSpent(b, &c) })
	}
}

// BenchmarkSlicer is the same by the batch-slicer in five slices.
func BenchmarkSlicer(b *testing.B) {
	for _, nodes := range []int{400, 1600, 6400} {
		b.Run(fmt.Sprintf("jobs=80/nodes=%d", nodes), func(b *testing.B) { reportSpent(b, &cycle{Jobs: 80, Nodes: nodes, Slices: 5}) })
	}
}

// BenchmarkCriteria is the batch-slicer on 1,600 nodes for 80 users, every other of
// whom wants windows at the least cost, the others the shortest.
func BenchmarkCriteria(b *testing.B) {
	for _, k := range []int{1, 5} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			reportSpent(b, &cycle{Jobs: 80, Nodes: 1600, Slices: k, Criteria: []string{"min-cost", "min-runtime"}})
		})
	}
}
