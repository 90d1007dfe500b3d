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
	"github.com/gridslot/gridslot/workload/sacct"
)

// Cirrus repeats ElastiSim's schedules of jobs of Cirrus (EPCC, 2024).
type Cirrus struct {
	Processors int
}

// NewCirrus is the experiment as ElastiSim ran it.
func NewCirrus() Cirrus { return Cirrus{Processors: 13249} }

// Name implements Experiment.
func (Cirrus) Name() string { return "cirrus" }

// Title implements Experiment.
func (Cirrus) Title() string {
	return "ElastiSim's schedules of rigid and moldable jobs, and Slurm's own (Cirrus, 2024)"
}

const cirrusHow = "It is part of the published workload and results of ElastiSim on EPCC's Cirrus, first quarter of 2024."

// The published files.
const (
	cirrusRigid  = "cirrus-2024Q1-elastisim-rigid.swf.gz"
	cirrusStarts = "cirrus-2024Q1-elastisim-rigid-starts.csv.gz"
	cirrusMolded = "cirrus-2024Q1-elastisim-moldable.csv.gz"
	cirrusSlurm  = "cirrus-2024Q1-sacct.csv.gz"
)

func (Cirrus) data() (logs, field []string) {
	return nil, []string{cirrusRigid, cirrusStarts, cirrusMolded, cirrusSlurm}
}

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

// Run implements Experiment.
func (c Cirrus) Run(ctx context.Context, of Config) (Table, error) {
	t := Table{
		Seed: of.Seed, Name: c.Name(), Title: c.Title(), Source: "ElastiSim's starts and ends, and Slurm's accounting records, of 11,635 jobs each",
		Settings: []Setting{
			{"processors", fmt.Sprint(c.Processors), Source{Program, "its log"}},
			{"rigid", "first come first served", Source{Program, "its starts"}},
			{"moldable", "first come first served; the head takes as many processors as are free, from half to twice what it was made for; its work stays the same", Source{Program, "its starts and ends"}},
			{"decisions", "after every single event, ends before arrivals, ends of one instant in the order of the starts", Source{Inferred, "the order of ends that are at one instant in all digits printed could not be read off everywhere"}},
			{"time unit", "100 s, rounded down", Source{Inferred, "records of the accounting are found again with it, and with no other"}},
			{"requests, Slurm's jobs", "the runtimes", Source{Ours, "the records do not have what users asked for"}},
			{"cycles", "1", Source{Ours, "one schedule of one list of jobs"}},
		},
	}
	if err := ctx.Err(); err != nil {
		return t, err
	}
	rigid, rigidRows, err := c.rigid(ctx)
	if err != nil {
		return t, err
	}
	molded, err := c.moldable(ctx)
	if err != nil {
		return t, err
	}
	records, note, err := c.slurm(ctx, rigid)
	if err != nil {
		return t, err
	}
	t.Notes = append(t.Notes, note,
		"Which of several jobs that end at one instant ElastiSim ends first decides how many processors are free when the head's turn comes. The schedule follows the rule in some order at every instant; in 189 of the 236 instants at which the order can be told it is that of the starts, and no order by start, size or runtime is that of the other 47. The two schedules go apart at the first of these, at 10,589.5.")
	err = t.fill(slices.Concat(rigidRows, molded, records), Claim{
		Text: "every rigid job starts when ElastiSim starts it", Where: "its starts",
		Pairs: []Pair{{Less: Ref{Series: elastiRigid, Quantity: cirrusDiffer}, Factor: 1}},
	}, Claim{
		Text: "every moldable job starts when ElastiSim starts it", Where: "its starts",
		Pairs: []Pair{{Less: Ref{Series: elastiMolded, Quantity: cirrusDiffer}, Factor: 1}},
	})
	return t, err
}

// rigid runs the rigid jobs.
func (c Cirrus) rigid(ctx context.Context) ([]*entity.Run, []Row, error) {
	path, err := fieldFile(cirrusRigid, cirrusHow)
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
	if path, err = fieldFile(cirrusStarts, cirrusHow); err != nil {
		return nil, nil, err
	}
	theirs, err := readColumns(path, "job", "start")
	if err != nil {
		return nil, nil, err
	}
	start := make(map[int64]float64, len(theirs)) // never iterated
	for _, row := range theirs {
		start[int64(row[0])] = row[1]
	}
	runs, err := runOn(ctx, c.Processors, backfill.FCFS{}, entity.PassEach, jobs)
	if err != nil {
		return nil, nil, err
	}
	differ, wait := 0, 0.0
	for _, r := range runs {
		at, ok := start[r.ID]
		if !ok {
			return nil, nil, fmt.Errorf("%s has no start of %v", path, r)
		}
		wait += at - r.Submit.Seconds()
		if at != r.Start.Seconds() {
			differ++
		}
	}
	return runs, []Row{
		{Series: elastiRigid, Quantity: cirrusWait, Paper: fmt.Sprintf("%.3f", wait/float64(len(runs))), Ours: single(waitOf(runs, des.Second))},
		{Series: elastiRigid, Quantity: cirrusDiffer, Paper: "0", Ours: single(float64(differ))},
	}, nil
}

// moldable runs the moldable jobs.
func (c Cirrus) moldable(ctx context.Context) ([]Row, error) {
	path, err := fieldFile(cirrusMolded, cirrusHow)
	if err != nil {
		return nil, err
	}
	rows, err := readColumns(path, "job", "submit", "min_procs", "max_procs", "base_procs", "base_runtime", "elastisim_start", "elastisim_end")
	if err != nil {
		return nil, err
	}
	const unit = 1000 * des.Second // finer ticks: ends that differ are not to meet
	ticks := func(units float64) des.Time { return des.Time(math.Round(units * float64(unit))) }
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
	runs, err := runOn(ctx, c.Processors, backfill.FCFS{Shape: entity.Largest}, entity.PassEach, jobs)
	if err != nil {
		return nil, err
	}
	differ, wait := 0, 0.0
	for i, x := range rows {
		wait += x[6] - x[1]
		start, end := float64(runs[i].Start)/float64(unit), float64(runs[i].Finish)/float64(unit)
		if !sixDigits(start, x[6]) || !sixDigits(end, x[7]) {
			differ++
		}
	}
	return []Row{
		{Series: elastiMolded, Quantity: cirrusWait, Paper: fmt.Sprintf("%.3f", wait/float64(len(rows))), Ours: single(waitOf(runs, unit))},
		{Series: elastiMolded, Quantity: cirrusDiffer, Paper: "0", Ours: single(float64(differ))},
	}, nil
}

// sixDigits reports whether x may have been printed, with six digits, as text.
func sixDigits(x, text float64) bool {
	last := math.Pow(10, math.Floor(math.Log10(max(text, 1)))-5)
	return math.Abs(x-text) <= 0.5*last+1e-6
}

// slurm compares what the machine's own scheduler did with queue policies, which
// know of it what the records have. The note says what the records are.
func (c Cirrus) slurm(ctx context.Context, rigid []*entity.Run) (rows []Row, note string, err error) {
	path, err := fieldFile(cirrusSlurm, cirrusHow)
	if err != nil {
		return nil, "", err
	}
	trace, err := workload.Options{Format: sacct.Format{}}.Open(path)
	if err != nil {
		return nil, "", err
	}
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
			wait += unit * same[0].Wait().Seconds()
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
	n := len(common)
	rows = []Row{
		{Series: slurmName, Quantity: cirrusMinutes, Paper: fmt.Sprintf("%.2f", mean(theirs)/60)},
		{Series: slurmName, Quantity: cirrusMedian, Paper: fmt.Sprintf("%.2f", median(theirs)/60)},
		{Series: elastiCommon, Quantity: cirrusMinutes, Paper: fmt.Sprintf("%.2f", mean(common)/60), Own: true, Ours: single(wait / 60 / float64(n))},
	}
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		runs, err := runOn(ctx, c.Processors, p, entity.PassInstant, jobs)
		if err != nil {
			return nil, "", err
		}
		waits := make([]float64, len(runs))
		for i, r := range runs {
			waits[i] = r.Wait().Seconds()
		}
		name := p.Name() + ", runtimes known"
		rows = append(rows,
			Row{Series: name, Quantity: cirrusMinutes, Own: true, Ours: single(mean(waits) / 60)},
			Row{Series: name, Quantity: cirrusMedian, Own: true, Ours: single(median(waits) / 60)})
	}
	note = fmt.Sprintf("ElastiSim's jobs are not the records: its unit of time is 100 s, and jobs of less are left out. %d of the %d records are among its jobs, which go on for longer. Of the records %d never started; Slurm's waits are those of the others. They hold more than the queue: dependencies, limits of users, priorities and whole nodes are not in the records, so that only the sizes of the waits can be compared, not the policies.",
		n, records, records-len(jobs))
	return rows, note, nil
}
