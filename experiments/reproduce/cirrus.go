package reproduce

// ElastiSim's schedules of jobs of Cirrus, rigid and moldable, and what the machine's
// own scheduler did.

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/sacct"
)

// cirrus repeats ElastiSim's schedules of jobs of Cirrus (EPCC, 2024), which has Processors.
type cirrus struct {
	Processors int
	// The names of the published files: rigid jobs, ElastiSim's starts of them, moldable jobs with
	// its schedule of them, and the records of the machine's own scheduler.
	Rigid, Starts, Moldable, Records string
}

// Quantities, and series that stand in several rows. A time unit of ElastiSim's jobs is 100 s.
const (
	cirrusWait    = "mean wait, time units"
	cirrusDiffer  = "starts that differ"
	cirrusMinutes = "mean wait, minutes"
	cirrusMedian  = "median wait, minutes"
	elastiRigid   = "rigid, FCFS"
	elastiMolded  = "moldable, FCFS"
	elastiCommon  = "rigid, FCFS, the jobs that are among the records"
	slurmName     = "Slurm"
)

// measure runs the rigid jobs first: the records are found among them.
func (c cirrus) measure(ctx context.Context, _ Config, p *page, t *Reproduction) ([]tableRow, error) {
	rigid, rigidRows, err := c.rigid(ctx, p)
	if err != nil {
		return nil, err
	}
	molded, err := c.moldable(ctx, p)
	if err != nil {
		return nil, err
	}
	records, note, err := c.slurm(ctx, p, rigid)
	t.notes = append([]string{note}, t.notes...)
	return slices.Concat(rigidRows, molded, records), err
}

// elastiRows returns the rows of one kind of jobs: waits of theirs and ours, and how many starts
// differ.
func elastiRows(series string, theirs, ours []float64, differ int) []tableRow {
	return []tableRow{
		{Series: series, Quantity: cirrusWait, Paper: fmt.Sprintf("%.3f", mean(theirs)), Ours: single(mean(ours))},
		{Series: series, Quantity: cirrusDiffer, Paper: "0", Ours: single(float64(differ))},
	}
}

// rigid runs the rigid jobs, and returns their runs and rows. ElastiSim decides after every single
// event (PassEach).
func (c cirrus) rigid(ctx context.Context, p *page) ([]*entity.Run, []tableRow, error) {
	path, err := p.file(c.Rigid)
	if err != nil {
		return nil, nil, err
	}
	trace, err := workload.OpenSWF(path)
	if err != nil {
		return nil, nil, err
	}
	jobs := slices.Collect(trace.Jobs())
	if err := trace.Err(); err != nil {
		return nil, nil, err
	}
	theirs, err := p.columns(c.Starts, "job", "start")
	if err != nil {
		return nil, nil, err
	}
	start := make(map[int64]float64, len(theirs)) // never iterated
	for _, row := range theirs {
		start[int64(row[0])] = row[1]
	}
	runs, err := runOn(ctx, c.Processors, backfill.FCFS{}, jobs, decideAt(entity.PassEach))
	if err != nil {
		return nil, nil, err
	}
	// ElastiSim's starts are whole numbers, so equal ones are equal to the last digit.
	differ := 0
	var waits []float64
	for _, r := range runs {
		at, ok := start[r.ID]
		if !ok {
			return nil, nil, fmt.Errorf("%s has no start of %v", c.Starts, r)
		}
		waits = append(waits, at-r.Submit.Seconds())
		if at != r.Start.Seconds() {
			differ++
		}
	}
	return runs, elastiRows(elastiRigid, waits, waitsOf(runs, des.Second), differ), nil
}

// moldable runs the moldable jobs. FCFS gives each the largest shape that is free.
func (c cirrus) moldable(ctx context.Context, p *page) ([]tableRow, error) {
	rows, err := p.columns(c.Moldable, "job", "submit", "min_procs", "max_procs", "base_procs", "base_runtime", "elastisim_start", "elastisim_end")
	if err != nil {
		return nil, err
	}
	// A time unit has 1000 s of ticks: runtimes are rounded to ticks, and two ends that differ
	// there are not to meet here.
	const unit = 1000 * des.Second
	ticks := func(units float64) des.Time { return des.Time(math.Round(units * float64(unit))) }
	// A job does the same work on any number of processors that it may have:
	//
	//	runtime on n processors = base_procs x base_runtime / n
	jobs := make([]*entity.Job, len(rows))
	for i, x := range rows {
		j := &entity.Job{ID: int64(x[0]), Submit: ticks(x[1]), Runtime: ticks(x[5])}
		// A processor is free when its job has ended, and not before.
		j.Request = entity.Request{Nodes: int(x[4]), Length: j.Runtime + des.Tick}
		for n := int(x[2]); n <= int(x[3]); n++ {
			runtime := ticks(float64(x[4]*x[5]) / float64(n))
			j.Shapes = append(j.Shapes, entity.Shape{Nodes: n, Runtime: runtime, Length: runtime + des.Tick})
		}
		jobs[i] = j
	}
	runs, err := runOn(ctx, c.Processors, backfill.FCFS{Shape: entity.Largest}, jobs, decideAt(entity.PassEach))
	if err != nil {
		return nil, err
	}
	differ := 0
	var waits []float64
	for i, x := range rows {
		waits = append(waits, x[6]-x[1])
		start, end := float64(runs[i].Start)/float64(unit), float64(runs[i].Finish)/float64(unit)
		if !sixDigits(start, x[6]) || !sixDigits(end, x[7]) {
			differ++
		}
	}
	return elastiRows(elastiMolded, waits, waitsOf(runs, unit), differ), nil
}

// sixDigits reports whether x may have been printed, with six digits, as text: they differ by no
// more than half a unit of the sixth digit.
func sixDigits(x, text float64) bool {
	// What the sixth digit counts: 10^(a-6) of a number with a digits before the point.
	last := math.Pow(10, math.Floor(math.Log10(max(text, 1)))-5)
	return math.Abs(x-text) <= 0.5*last+1e-6
}

// slurm compares what the machine's own scheduler did with queue policies, which know of the
// machine what the records tell. The note says what the records are.
func (c cirrus) slurm(ctx context.Context, p *page, rigid []*entity.Run) (rows []tableRow, note string, err error) {
	path, err := p.file(c.Records)
	if err != nil {
		return nil, "", err
	}
	trace, err := workload.Options{Reading: workload.Reading{Format: sacct.Format{}}}.Open(path)
	if err != nil {
		return nil, "", err
	}
	// A job of ElastiSim's is a record in whole units of its time. Several may be alike:
	// each record takes the first that is left.
	type kind struct {
		submit, runtime float64
		nodes           int
	}
	const unit = 100 // seconds
	simulated := make(map[kind][]*entity.Run, len(rigid))
	for _, r := range rigid {
		k := kind{r.Submit.Seconds(), r.Runtime.Seconds(), r.Request.Nodes}
		simulated[k] = append(simulated[k], r)
	}
	// Each record that started becomes a job whose runtime is known. Its wait counts for Slurm,
	// and, if the record is among ElastiSim's jobs, also against the wait there.
	var jobs []*entity.Job
	var theirs, common []float64
	wait := 0.0 // of the common ones, here
	records := 0
	for x, err := range trace.Selected() {
		if err != nil {
			return nil, "", err
		}
		records++
		submit, procs := x.Submit.Seconds(), int(max(x.Allocated, x.Requested))
		k := kind{math.Floor(submit / unit), math.Floor(max(x.Runtime.Seconds(), 0) / unit), procs}
		if same := simulated[k]; len(same) > 0 {
			wait += float64(unit * same[0].Wait().Seconds())
			common = append(common, x.Wait.Seconds())
			simulated[k] = same[1:]
		}
		if x.Wait < 0 {
			continue // it never started
		}
		theirs = append(theirs, x.Wait.Seconds())
		length := max(x.Runtime, des.Second)
		jobs = append(jobs, &entity.Job{ID: x.Job, Submit: x.Submit, Runtime: length, Request: entity.Request{Nodes: procs, Length: length}})
	}
	rows = []tableRow{
		{Series: slurmName, Quantity: cirrusMinutes, Paper: fmt.Sprintf("%.2f", mean(theirs)/60)},
		{Series: slurmName, Quantity: cirrusMedian, Paper: fmt.Sprintf("%.2f", median(theirs)/60)},
		{Series: elastiCommon, Quantity: cirrusMinutes, Paper: fmt.Sprintf("%.2f", mean(common)/60), Own: true, Ours: single(wait / 60 / float64(len(common)))},
	}
	ours, err := c.queues(ctx, jobs)
	note = fmt.Sprintf("ElastiSim's jobs are not the records: its unit of time is 100 s, and jobs of less are left out. %d of the %d records are among its jobs, which go on for longer. Of the records %d never started; Slurm's waits are those of the others. They hold more than the queue: dependencies, limits of users, priorities and whole nodes are not in the records, so that only the sizes of the waits can be compared, not the policies.",
		len(common), records, records-len(jobs))
	return append(rows, ours...), note, err
}

// queues returns the waits of the records' jobs under queue policies that know their runtimes.
func (c cirrus) queues(ctx context.Context, jobs []*entity.Job) (rows []tableRow, err error) {
	for _, policy := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		runs, err := runOn(ctx, c.Processors, policy, jobs, decideAt(entity.PassInstant))
		if err != nil {
			return nil, err
		}
		waits, name := waitsOf(runs, des.Second), policy.Name()+", runtimes known"
		rows = append(rows,
			tableRow{Series: name, Quantity: cirrusMinutes, Own: true, Ours: single(mean(waits) / 60)},
			tableRow{Series: name, Quantity: cirrusMedian, Own: true, Ours: single(median(waits) / 60)})
	}
	return rows, nil
}
