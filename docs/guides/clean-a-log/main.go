package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/clean"
	"github.com/gridslot/gridslot/workload/where"
)

// logOf is a log of records, in memory.
func logOf(name string, h *workload.Header, records iter.Seq2[*workload.Record, error], o workload.Options) *workload.Trace {
	var text bytes.Buffer
	w := workload.NewWriter(&text)
	check(w.WriteHeader(h))
	for rec, err := range records {
		check(err)
		check(w.Write(rec))
	}
	check(w.Flush())
	o.Stdin = &text
	trace, err := o.Open(workload.StandardInput)
	check(err)
	trace.Name = name
	return trace
}

// flurry is user 99, who submits 3,000 jobs within a day.
func flurry() *workload.Trace {
	return logOf("flurry", &workload.Header{}, func(yield func(*workload.Record, error) bool) {
		for i := range int64(3000) {
			rec := workload.RecordOf(&entity.Job{
				ID: i + 1, Submit: 10*des.Day + des.Time(i)*20*des.Second, Runtime: 60 * des.Second, User: 99, Queue: -1, Group: -1,
				Request: entity.Request{Nodes: 32, Length: 600 * des.Second},
			})
			if !yield(&rec, nil) {
				return
			}
		}
	}, workload.Options{})
}

// easy runs a log and tells what came of it.
func easy(trace *workload.Trace) {
	sim := des.New(des.Config{Seed: 1})
	rec := metrics.NewRecorder()
	meta := entity.NewMetascheduler(sim, plan.NewCluster(128), backfill.EASY{}, rec)
	meta.SubmitAll(trace.Jobs())
	check(sim.Run(context.Background()))
	s := rec.Summary()
	fmt.Printf("%-17s %4d jobs, mean wait %5.0f s, mean bounded slowdown %5.1f\n", trace.Name, trace.Report().Jobs, s.MeanWait, s.MeanBoundedSlowdown)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	sample, err := workload.ReadSWF(traces.Sample())
	check(err)
	easy(sample)

	h, both, err := clean.Merge{AsTheyStand: true}.Logs([]*workload.Trace{sample, flurry()})
	check(err)
	messy := logOf("with a flurry", h, both, workload.Options{})
	easy(messy)

	var removed clean.Removed
	remove, err := clean.DefaultFlurries.Remove(&removed)
	check(err)
	easy(logOf("by the rule", h, messy.Selected(remove), workload.Options{}))
	fmt.Println("removed:", removed.Flurries[0])

	byHand, err := where.Parse("not (user == 99 and procs == 32)")
	check(err)
	easy(logOf("by a filter", h, messy.Selected(), workload.Options{Part: workload.Part{Where: byHand}}))
}
