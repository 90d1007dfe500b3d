// Workflows schedules Gaussian elimination, a graph of tasks that wait for each
// other, on four nodes of unequal speed: ahead of time and as it goes.
package main

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/workflow"
)

// elimination is the graph of Gaussian elimination of an n by n matrix: in each step
// a task finds the pivot column, and one more for each column behind it updates that.
func elimination(n int) *workflow.Workflow {
	w := &workflow.Workflow{Name: "elimination"}
	latest := make([]int, n) // the task that has written a column last
	for step := range n - 1 {
		rows := des.Time(n-step) * 10 * des.Second
		pivot := workflow.Task{ID: fmt.Sprintf("pivot-%d", step), Runtime: rows, Cores: 1}
		if step > 0 {
			pivot.Parents = []workflow.Edge{{Task: latest[step]}}
		}
		w.Tasks = append(w.Tasks, pivot)
		at := len(w.Tasks) - 1
		for column := step + 1; column < n; column++ {
			update := workflow.Task{ID: fmt.Sprintf("update-%d-%d", step, column), Runtime: 2 * rows, Cores: 1, Parents: []workflow.Edge{{Task: at}}}
			if step > 0 {
				update.Parents = append(update.Parents, workflow.Edge{Task: latest[column]})
			}
			latest[column] = len(w.Tasks)
			w.Tasks = append(w.Tasks, update)
		}
	}
	return w
}

// problem is the workflow for those who plan it ahead of time: what each task costs on
// each node.
func problem(w *workflow.Workflow, nodes []*entity.Node) *Problem {
	p := &Problem{}
	for i, t := range w.Tasks {
		var row []des.Time
		for _, n := range nodes {
			row = append(row, n.TaskTime(t.Runtime))
		}
		p.Cost = append(p.Cost, row)
		for _, e := range t.Parents {
			p.Edges = append(p.Edges, Edge{From: e.Task, To: i})
		}
	}
	return p
}

// simulate runs the workflow through a policy and returns the makespan.
func simulate(w *workflow.Workflow, nodes []*entity.Node, spec string) (float64, error) {
	chosen, err := policy.NodeRegistry().Parse(spec)
	if err != nil {
		return 0, err
	}
	jobs, err := w.Jobs(0)
	if err != nil {
		return 0, err
	}
	links, err := flow.Survey(slices.Values(jobs), false) // what waits for what
	if err != nil {
		return 0, err
	}
	domain, err := plan.NewDomain(nodes, chosen.Value.Finder)
	if err != nil {
		return 0, err
	}
	sim := des.New(des.Config{Seed: 1})
	rec := metrics.NewRecorder()
	waiting := flow.NewDependencies(links)
	entity.NewMetascheduler(sim, domain, chosen.Value.Policy, rec, waiting)
	waiting.SubmitAll(slices.Values(jobs))
	err = sim.Run(context.Background())
	return rec.Summary().Makespan, err
}

func main() {
	w := elimination(10)
	var nodes []*entity.Node
	for i, perf := range []float64{1, 1, 2, 3} {
		nodes = append(nodes, &entity.Node{ID: i, Perf: perf, Price: 1})
	}
	fmt.Printf("%d tasks\n", len(w.Tasks))
	for _, a := range Algorithms() {
		s, err := a.Plan(problem(w, nodes))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("ahead of time, %-8s %5.0f s\n", a.Name()+":", s.Makespan().Seconds())
	}
	for _, spec := range []string{"heft", "easy:finder=min-finish-exact", "fcfs", "fcfs:order=rank"} {
		makespan, err := simulate(w, nodes, spec)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("as it goes, %s: %.0f s\n", spec, makespan)
	}
}
