package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// model is the power of a node of one processor.
var model = metrics.PowerModel{
	Idle: 100 * metrics.Watt, Busy: 200 * metrics.Watt, Off: 10 * metrics.Watt,
	Booting: 200 * metrics.Watt, SwitchingOff: 120 * metrics.Watt,
}

// run runs the sample and tells what it took.
func run(name string, trace *workload.Trace, p entity.Policy, saving *flow.SwitchOff) {
	sim := des.New(des.Config{Seed: 1})
	rec := metrics.NewRecorder()
	meter := &metrics.PowerMeter{Model: model, Saving: saving}
	observers := []entity.Observer{rec}
	if saving != nil {
		observers = append(observers, saving) // before the meter
	}
	meta := entity.NewMetascheduler(sim, plan.NewCluster(trace.MaxProcs), p, append(observers, meter)...)
	meta.SubmitAll(trace.Jobs())
	if err := sim.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	row, s := meter.Row(name), rec.Summary()
	fmt.Printf("%-17s %5.0f kWh, %5.0f idle, %4d boots, at most %5.0f W, mean wait %5.0f s, %3d rejected\n",
		name, row.Joules.Joules()/3.6e6, row.Idle.Joules()/3.6e6, row.Boots, row.PeakPower, s.MeanWait, s.Rejected)
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	run("always on", trace, backfill.EASY{}, nil)
	for _, idle := range []des.Time{des.Hour, 10 * des.Minute, 0} {
		saving := &flow.SwitchOff{Idle: idle, Boot: 200 * des.Second, Shutdown: 10 * des.Second}
		run(fmt.Sprintf("off after %v s", idle), trace, backfill.EASY{}, saving)
	}
	run("at most 22 kW", trace, &policy.PowerCap{Policy: backfill.EASY{}, Cap: 22_000, Idle: 100, Busy: 200}, nil)
	price := &flow.Curve{Times: []des.Time{0, 8 * des.Hour, 20 * des.Hour}, Values: []float64{0.1, 0.3, 0.1}, Every: des.Day}
	run("22 kW by day", trace, &policy.PowerCap{Policy: backfill.EASY{}, Signal: "price", Curve: price, Limit: 0.2, Cap: 22_000, Idle: 100, Busy: 200}, nil)
}
