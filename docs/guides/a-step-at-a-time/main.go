// A-step-at-a-time stops a run, looks at it, changes it, makes some of its decisions, and lets
// it go on.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// look tells what runs and waits.
func look(run *simulation.Stepper) {
	busy := 0
	for j := range run.Scheduler().RunningJobs() {
		busy += j.Reservation.Window.Nodes
	}
	queue := run.Scheduler().Queue()
	fmt.Printf("at %v: %d jobs on %d processors, %d wait", run.Now(), run.Scheduler().Running(), busy, queue.Len())
	if first := queue.First(); first != nil {
		fmt.Printf(", the first since %v for %d processors", first.Submit, first.Request.Nodes)
	}
	fmt.Println()
}

// shortest starts jobs that fit now, the job with the shortest request first, until no job
// fits. An agent does the same: the jobs of Fitting are its actions.
func shortest(round *entity.Round) {
	for {
		var best *entity.Run
		var window entity.Window
		for j, w := range round.Queue.By(entity.Submission, round.Now).Fitting(round.Plan, round.Now, 0) {
			if best == nil || j.Request.Length < best.Request.Length {
				best, window = j, w
			}
		}
		if best == nil || !round.Reserve(best, window) {
			return
		}
	}
}

func main() {
	ctx := context.Background()
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	settings := simulation.RunSettings{Policy: backfill.EASY{}, Processors: trace.MaxProcs}
	begin := func() entity.Source {
		jobs, err := trace.Open()
		if err != nil {
			log.Fatal(err)
		}
		return jobs
	}
	run, err := simulation.Begin(begin(), settings)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()

	// Processors that are to be added later are withheld from the beginning.
	away, err := run.Scheduler().Withhold(entity.Where{Count: 16}, 0, des.Forever)
	if err != nil {
		log.Fatal(err)
	}
	if err := run.RunUntil(ctx, 6*des.Day); err != nil {
		log.Fatal(err)
	}
	look(run)
	away.Drop()
	if first := run.Scheduler().Queue().First(); first != nil {
		run.Scheduler().Cancel(first, "its user has changed their mind")
	}

	decisions := 0
	for round := range run.Rounds(ctx) {
		shortest(round)
		if decisions++; decisions == 500 {
			break
		}
	}
	look(run)

	run.SetPolicy(backfill.Conservative{}) // for the rest
	changed, err := run.Finish(ctx)
	if err != nil {
		log.Fatal(err)
	}
	baseline, err := simulation.Simulate(ctx, begin(), settings)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean wait %.0f s, and of EASY on the whole machine %.0f s\n", changed.Summary.MeanWait, baseline.Summary.MeanWait)
}
