package metrics_test

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
)

// inOrder is first come, first served, in full.
type inOrder struct{}

func (inOrder) Name() string { return "in-order" }

func (inOrder) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		w, ok := r.Plan.Find(j.Request, r.Now, r.Now)
		if !ok || !r.Reserve(j, w) {
			return
		}
	}
}

func threeJobs() []*entity.Job {
	var jobs []*entity.Job
	for i, nodes := range []int{3, 2, 1} {
		jobs = append(jobs, &entity.Job{
			ID: int64(i + 1), Submit: des.Time(i) * des.Minute, Runtime: des.Hour, User: -1,
			Request: entity.Request{Nodes: nodes, Length: 2 * des.Hour},
		})
	}
	return jobs
}

// A run that is summed up, checked, and written to a file at the same time.
func Example() {
	rec := metrics.NewRecorder()
	check := &validate.Validator{Promises: validate.Promises{Order: true}}
	queue := metrics.NewQueueWriter(os.Stdout)

	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(4), inOrder{}, rec, check, queue)
	meta.SubmitAll(slices.Values(threeJobs()))
	if err := sim.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	if err := queue.Close(); err != nil {
		fmt.Println(err)
	}
	s := rec.Summary()
	fmt.Printf("mean wait %.0f s, utilization %.1f%%\n", s.MeanWait, 100*s.Utilization)
	fmt.Print(check.Report(true))
	// Output:
	// time,queued_jobs,queued_processors,busy_processors
	// 0,0,0,3
	// 60,1,2,3
	// 120,2,3,3
	// 3600,0,0,3
	// 7200,0,0,0
	// mean wait 2340 s, utilization 75.0%
	// 3 jobs: 3 finished, 0 killed, 0 rejected, 0 unfinished; valid
}
