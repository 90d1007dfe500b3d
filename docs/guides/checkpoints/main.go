// Checkpoints looks for the interval between checkpoints at which long jobs are done
// soonest on processors that fail.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload/model"
)

const (
	jobs = 400
	work = 50 * des.Hour
	mtbf = 6 * des.Hour
	cost = 5 * des.Minute // of a checkpoint
)

// tally sums up what becomes of jobs.
type tally struct {
	sent                 int
	lost, overhead, used des.Time
}

func (t *tally) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobRequeued:
		t.sent++
	case entity.JobFinished:
		for a := range e.Run.Attempts() {
			t.lost += a.Work - a.Kept
			t.overhead += a.Overhead
			t.used += a.ProcessorTime()
		}
	}
}

// run has each job run on a processor of its own.
func run(interval des.Time) *tally {
	failures, err := model.Failures{
		Units: jobs, Seed: 1,
		Up:     model.Exponential{Scale: mtbf.Seconds()},
		Repair: model.Exponential{Scale: 60},
	}.All()
	if err != nil {
		log.Fatal(err)
	}
	lost := &flow.Outages{Victims: flow.Victims{
		Rule:        flow.VictimsCheckpoint,
		Checkpoints: entity.Checkpoints{Interval: interval, Cost: cost},
		Restart:     10 * des.Minute,
	}}
	lost.Submit(func(yield func(flow.Outage) bool) {
		for f := range failures {
			where := entity.Where{Set: []procset.Range{{First: int32(f.First), Last: int32(f.Last)}}}
			if !yield(flow.Outage{Known: f.From, From: f.From, To: f.To, Where: where}) {
				return
			}
		}
	})
	defer lost.Close()
	sim, t := des.New(des.Config{}), &tally{}
	meta := entity.NewMetascheduler(sim, plan.NewCluster(jobs), backfill.FCFS{}, t, lost)
	for id := range int64(jobs) {
		meta.Submit(&entity.Job{ID: id, Runtime: work, Request: entity.Request{Nodes: 1, Length: work}})
	}
	if err := sim.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	return t
}

func main() {
	young := des.Seconds(math.Sqrt(2 * cost.Seconds() * mtbf.Seconds()))
	for _, interval := range []des.Time{15 * des.Minute, 30 * des.Minute, young, 2 * des.Hour, 4 * des.Hour, 8 * des.Hour} {
		t := run(interval)
		hours := func(sum des.Time) float64 { return sum.Seconds() / 3600 / jobs }
		fmt.Printf("every %3.0f min: sent back %4.1f times, %4.1f h lost, %4.1f h of overhead, %5.1f h in all\n",
			interval.Seconds()/60, float64(t.sent)/jobs, hours(t.lost), hours(t.overhead), hours(t.used))
	}
}
