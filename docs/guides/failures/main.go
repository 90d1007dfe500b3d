// Failures takes processors of a cluster out of service, unannounced and for
// maintenance, and has the jobs that ran there go on from their last checkpoint.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// outage is a line of a failure log: a processor is down over [at, up).
type outage struct {
	processor int32
	at, up    des.Time
}

// draw makes a log of 80 days in which each processor fails once in 100 days on
// average and is repaired in four hours.
func draw(sim *des.Simulator, processors int) (failures []outage) {
	for p := range int32(processors) {
		random := sim.Stream("failures", uint64(p))
		for up := des.Time(0); up < 80*des.Day; {
			at := up + des.Seconds(random.ExpFloat64()*(100*des.Day).Seconds())
			up = at + 4*des.Hour
			failures = append(failures, outage{p, at, up})
		}
	}
	return failures
}

// service takes processors out of service.
type service struct {
	meta       *entity.Metascheduler
	checkpoint des.Time // every job writes one so often
	victims    int
	lost       des.Time // processor time that must be spent again
}

// fail has the jobs in the way yield, and then withholds the processor.
func (s *service) fail(o outage) {
	down := entity.Window{Start: o.at, End: o.up, Nodes: 1}
	place := procset.Range{First: o.processor, Last: o.processor}
	for _, r := range s.meta.InTheWay(down, []procset.Range{place}) {
		since := (o.at - r.Start) % s.checkpoint // the last checkpoint, if r runs
		if s.meta.Preempt(r, o.at-r.Start-since) {
			s.victims++
			s.lost += since * des.Time(r.Request.Nodes)
		} else {
			s.meta.Withdraw(r) // its reservation lies ahead
		}
	}
	if _, err := s.meta.Withhold(down, place); err != nil {
		s.meta.Simulator().Fail(err)
	}
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	maintenance := entity.Window{Start: 30 * des.Day, End: 30*des.Day + 8*des.Hour, Nodes: trace.MaxProcs}
	for _, checkpoint := range []des.Time{des.Day, 4 * des.Hour, des.Hour} { // no job of the sample runs for a day
		sim := des.New(des.Config{Seed: 1})
		rec := metrics.NewRecorder()
		meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), backfill.EASY{}, rec)
		s := &service{meta: meta, checkpoint: checkpoint}
		meta.Placer = entity.LowestFirst{} // so that a job has processors to lose
		meta.SubmitAll(trace.Jobs())
		if _, err := meta.Withhold(maintenance); err != nil {
			log.Fatal(err)
		}
		for _, o := range draw(sim, trace.MaxProcs) {
			if o.up <= maintenance.Start || o.at >= maintenance.End { // others are repaired along with it
				sim.At(o.at, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { s.fail(o) }), 0)
			}
		}
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("a checkpoint every %2.0f h: %d jobs fell victim, %4.0f processor hours lost, mean wait %5.0f s\n",
			checkpoint.Seconds()/3600, s.victims, s.lost.Seconds()/3600, rec.Summary().MeanWait)
	}
}
