package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/sacct"
)

// accounting is a morning of a machine of 64 cores. Job 14 was held back by its user's
// limit, which the accounting does not tell.
const accounting = `JobID|JobIDRaw|User|Partition|Submit|Start|End|ElapsedRaw|Timelimit|AllocCPUS|ReqCPUS|MaxRSS|State
11|11|ada|standard|2024-01-31T08:00:00|2024-01-31T08:00:02|2024-01-31T10:00:02|7200|04:00:00|32|32||COMPLETED
11.batch|11.batch|||2024-01-31T08:00:02|2024-01-31T08:00:02|2024-01-31T10:00:02|7200||32|32|51200K|COMPLETED
12|12|bob|standard|2024-01-31T08:10:00|2024-01-31T10:00:05|2024-01-31T11:00:05|3600|02:00:00|64|64||COMPLETED
13_1|13|ada|standard|2024-01-31T08:20:00|2024-01-31T08:20:30|2024-01-31T08:50:30|1800|01:00:00|16|16||TIMEOUT
13_2|14|ada|standard|2024-01-31T08:20:00|2024-01-31T08:50:31|2024-01-31T09:20:31|1800|01:00:00|16|16||COMPLETED
15|15|eve|standard|2024-01-31T08:30:00|None|2024-01-31T08:40:00|0|UNLIMITED|0|64||CANCELLED by 1003
`

// wait returns the wait in the log, which is kept with the job.
func wait(rec *workload.Record) any { return rec.Wait }

// waits compares how jobs wait here and how they waited under Slurm.
type waits struct {
	jobs              int
	here, there       des.Time // sums
	longHere, longDid int      // longer than a minute
	both              int
}

// run simulates the log under a policy, and compares the waits of jobs whose start the log tells.
func run(trace *workload.Trace, p entity.Policy, procs int) (w waits, err error) {
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(procs), p)
	var runs []*entity.Run
	for job := range trace.Jobs() {
		runs = append(runs, meta.Submit(job))
	}
	if err := errors.Join(trace.Err(), sim.Run(context.Background())); err != nil {
		return w, err
	}
	for _, r := range runs {
		here, there := r.Wait(), r.Extra.(des.Time)
		if there < 0 || r.State != entity.Finished && r.State != entity.Killed {
			continue // its start is not known, or it does not fit
		}
		w.jobs++
		w.here += here
		w.there += there
		if here > des.Minute {
			w.longHere++
		}
		if there > des.Minute {
			w.longDid++
			if here > des.Minute {
				w.both++
			}
		}
	}
	return w, nil
}

func main() {
	path, procs := workload.StandardInput, 64
	if len(os.Args) == 3 { // a log, and the cores of its machine
		path = os.Args[1]
		procs, _ = strconv.Atoi(os.Args[2])
	}
	trace, err := workload.Options{
		Reading:     workload.Reading{Format: sacct.Format{}, Stdin: strings.NewReader(accounting)},
		Conventions: workload.Conventions{Extra: wait},
	}.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		w, err := run(trace, p, procs)
		if err != nil {
			log.Fatal(err)
		}
		mean := func(sum des.Time) float64 { return sum.Seconds() / 60 / float64(w.jobs) }
		fmt.Printf("%-12s %d jobs: mean wait %.2f min, Slurm's %.2f; longer than a minute %d, Slurm's %d, both %d\n",
			p.Name(), w.jobs, mean(w.here), mean(w.there), w.longHere, w.longDid, w.both)
	}
	fmt.Println(trace.Report())
}
