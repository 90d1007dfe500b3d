package simulation_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload/model"
)

// ShortestFirst starts what fits, jobs of the least estimate first.
type ShortestFirst struct{}

func (ShortestFirst) Name() string { return "shortest-first" }

func (ShortestFirst) Schedule(r *entity.Round) {
	byLength := func(a, b *entity.Run) int { return cmp.Compare(a.Request.Length, b.Request.Length) }
	for _, j := range slices.SortedStableFunc(r.Waiting(), byLength) {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

// A policy of one's own is compared with EASY. The folder is what gridslot report, plot,
// explain and validate open.
func Example() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	tables := simulation.Standard()
	tables.AddPolicies(policy.Entry[entity.Policy]{
		Name: "shortest-first", Text: "jobs of the least estimate first",
		New: func(*policy.Args) entity.Policy { return ShortestFirst{} },
	})
	sc := simulation.New()
	sc.Policies = []string{"easy", "shortest-first"}
	out, err := simulation.Run(context.Background(), sc, simulation.Options{Tables: tables, Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range out.Summaries() {
		fmt.Printf("%s: mean wait %.0f s\n", s.Policy, s.MeanWait)
	}
	// Output:
	// easy: mean wait 4617 s
	// shortest-first: mean wait 2365 s
}

// A model makes a sequence of jobs, of which entity.SourceOf makes a source.
func ExampleSimulate() {
	jobs, err := model.Lublin{Processors: 128, Load: 0.8, Seed: 1}.Jobs(2000)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}} {
		r, err := simulation.Simulate(context.Background(), entity.SourceOf(jobs), simulation.RunSettings{Policy: p, Processors: 128})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d jobs, mean wait %.0f s\n", r.Summary.Policy, r.Summary.Jobs, r.Summary.MeanWait)
	}
	// Output:
	// fcfs: 2000 jobs, mean wait 515179 s
	// easy: 2000 jobs, mean wait 43317 s
}
