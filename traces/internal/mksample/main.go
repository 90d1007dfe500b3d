// Mksample writes the sample trace of package traces. The same program writes
// the same trace, whatever the machine:
//
//	go generate ./traces
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

const (
	jobs       = 5000
	processors = 128
	// No job asks for more than half the machine. Where some ask for all of it,
	// FCFS drains the machine so often that its queue grows for as long as the
	// trace lasts, and a comparison says little.
	largest    = processors / 2
	load       = 0.7
	limitHours = 18 // the longest estimate, and so the longest runtime
	seed       = 3  // with it the load of these few weeks is near that of the long run
)

// start is the instant 0 of the trace: a Monday, at midnight.
var start = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mksample FILE.swf[.gz]")
		os.Exit(2)
	}
	if err := create(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "mksample:", err)
		os.Exit(1)
	}
}

func create(path string) error {
	f, err := workload.CreatePacked(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(workload.NewWriter(f)); err != nil {
		return err
	}
	return f.Commit()
}

// write generates the trace.
func write(w *workload.Writer) error {
	source, err := model.Lublin{Processors: largest, Load: load * processors / largest, Seed: seed}.Jobs(jobs)
	if err != nil {
		return err
	}
	limit := limitHours * des.Hour
	given, err := model.Tsafrir{Max: limit}.Attach(source, des.NewStream(seed, 0, "estimates"))
	if err != nil {
		return err
	}
	if err := w.WriteHeader(header(limit)); err != nil {
		return err
	}
	submitters := people{random: des.NewStream(seed, 0, "users")}
	for j := range given {
		rec := workload.RecordOf(j)
		submitters.sign(&rec)
		if err := w.Write(&rec); err != nil {
			return err
		}
	}
	return w.Flush()
}

func header(limit des.Time) *workload.Header {
	h := &workload.Header{}
	for _, e := range []workload.Entry{
		{Key: "Version", Value: "2.2"},
		{Key: "Computer", Value: "none: a generated sample of gridslot"},
		{Key: "Information", Value: "Lublin and Feitelson, JPDC 63(11), 2003; Tsafrir, Etsion and Feitelson, JSSPP 2005"},
		{Key: "MaxJobs", Value: strconv.Itoa(jobs)},
		{Key: "MaxRecords", Value: strconv.Itoa(jobs)},
		{Key: "Preemption", Value: "No"},
		{Key: "UnixStartTime", Value: strconv.FormatInt(start.Unix(), 10)},
		{Key: "TimeZoneString", Value: "UTC"},
		{Key: "MaxNodes", Value: strconv.Itoa(processors)},
		{Key: "MaxProcs", Value: strconv.Itoa(processors)},
		{Key: "MaxRuntime", Value: limit.String()},
		{Key: "Note", Value: fmt.Sprintf("sizes, runtimes and arrivals: untyped Lublin-Feitelson model for %d processors, long-run load %v, seed %d", largest, load, seed)},
		{Key: "Note", Value: fmt.Sprintf("estimates: Tsafrir model, at most %d hours; longer runtimes are cut to that", limitHours)},
		{Key: "Note", Value: fmt.Sprintf("users, and their sessions in fields 17 and 18: drawn by this program, after no published model; who comes next has user u of %d with a chance like 1/u", users)},
		{Key: "Queue", Value: fmt.Sprintf("%d at most %v", shortQueue, shortest)},
		{Key: "Queue", Value: fmt.Sprintf("%d longer", longQueue)},
		{Key: "Note", Value: "written by go generate ./traces"},
	} {
		h.Add(e.Key, e.Value)
	}
	return h
}
