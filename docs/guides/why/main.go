// Why has a policy of one's own tell what holds the jobs that it leaves waiting.
package main

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// fewEach starts jobs in order of submission, and no user's third while two of
// theirs run.
type fewEach struct{}

func (fewEach) Name() string { return "few-each" }

func (fewEach) Schedule(r *entity.Round) {
	running := map[int32]int{}
	for j := range r.Running() {
		running[j.User]++
	}
	for j := range r.Waiting() {
		w, ok := r.Plan.Find(j.Request, r.Now, des.Forever)
		switch {
		case !ok:
			r.TellWhy(j, entity.Why{What: entity.NoWindow})
		case running[j.User] == 2:
			r.TellWhy(j, entity.Why{Text: "its user has two jobs that run"})
		case w.Start > r.Now:
			r.TellWhy(j, entity.Why{What: entity.TooFewFree, Start: w.Start})
		default:
			r.Reserve(j, w)
			running[j.User]++
		}
	}
}

// told is an observer that prints what the policy says, and who starts.
type told struct{}

func (told) ObserveWhy(at des.Time, r *entity.Run, w entity.Why) {
	switch w.What {
	case entity.TooFewFree:
		fmt.Printf("%2v s: %v: too few processors are free before %v s\n", at, r, w.Start)
	default:
		fmt.Printf("%2v s: %v: %s\n", at, r, w.Text)
	}
}

func (told) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		fmt.Printf("%2v s: %v starts\n", e.Time, e.Run)
	}
}

func main() {
	// User, submission, processors and runtime in seconds.
	workload := [][4]int{{7, 0, 2, 10}, {7, 0, 1, 20}, {7, 1, 1, 5}, {8, 2, 2, 5}}
	var jobs []*entity.Job
	for i, w := range workload {
		length := des.Time(w[3]) * des.Second
		jobs = append(jobs, &entity.Job{
			ID: int64(i + 1), User: int32(w[0]), Submit: des.Time(w[1]) * des.Second, Runtime: length,
			Request: entity.Request{Nodes: w[2], Length: length},
		})
	}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(4), fewEach{}, told{})
	meta.SubmitAll(slices.Values(jobs))
	if err := sim.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
