// Your-own-module is a first program outside the framework's own module: a policy of one's
// own beside EASY, whose results the command opens.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
)

// SmallestFirst starts what fits, jobs of the least area first.
type SmallestFirst struct{}

func (SmallestFirst) Name() string { return "smallest-first" }

func (SmallestFirst) Schedule(r *entity.Round) {
	area := func(j *entity.Run) float64 { return float64(j.Request.Nodes) * j.Request.Length.Seconds() }
	for _, j := range slices.SortedStableFunc(r.Waiting(), func(a, b *entity.Run) int { return cmp.Compare(area(a), area(b)) }) {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

func main() {
	tables := simulation.Standard()
	tables.AddPolicies(policy.Entry[entity.Policy]{
		Name: "smallest-first", Text: "jobs of the least area first",
		New: func(*policy.Args) entity.Policy { return SmallestFirst{} },
	})
	sc := simulation.New() // or with a log: sc.Workload.Trace = "log.swf.gz"
	sc.Policies = []string{"easy", "smallest-first"}
	out, err := simulation.Run(context.Background(), sc, simulation.Options{Tables: tables, Dir: "results", Decisions: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range out.Summaries() {
		fmt.Printf("%-14s %d jobs, mean wait %.0f s\n", s.Policy, s.Jobs, s.MeanWait)
	}
}
