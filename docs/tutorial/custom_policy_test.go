// Package tutorial_test holds the programs of the tutorial's pages, so that they
// are compiled, run and compared with what the pages say.
package tutorial_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

type SmallestFirst struct{}

func (SmallestFirst) Name() string { return "smallest-first" }
func (SmallestFirst) Schedule(r *entity.Round) {
	for _, j := range slices.SortedStableFunc(r.Waiting(), byArea) {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

func byArea(a, b *entity.Run) int { return cmp.Compare(area(a), area(b)) }

func area(j *entity.Run) float64 { return float64(j.Request.Nodes) * j.Request.Length.Seconds() }

func Example_smallestFirst() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []entity.Policy{backfill.EASY{}, SmallestFirst{}} {
		jobs, err := trace.Open()
		if err != nil {
			log.Fatal(err)
		}
		check := &validate.Validator{}
		r, err := simulation.Simulate(context.Background(), jobs, simulation.RunSettings{
			Policy: p, Processors: trace.MaxProcs, Observers: []entity.Observer{check},
		})
		if err != nil {
			log.Fatal(err)
		}
		s := r.Summary
		fmt.Printf("%-14s mean wait %5.0f s, longest %7.0f s, valid: %t\n", s.Policy, s.MeanWait, s.MaxWait, check.Report(true).Total == 0)
	}
	// Output:
	// easy           mean wait  4617 s, longest   79933 s, valid: true
	// smallest-first mean wait  2400 s, longest  211257 s, valid: true
}
