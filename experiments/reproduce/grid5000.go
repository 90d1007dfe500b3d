package reproduce

// Runs of OAR on nodes of Grid'5000, beside what a simulation says of them.

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// grid5000 compares recorded runs of OAR with a simulation: as it is, by OAR's own rules, and with
// what those leave open calibrated on some runs and tested on others.
type grid5000 struct {
	File   string // the recorded runs
	Models []oarModel
	// Rules are OAR's, which a calibrated machine keeps.
	Rules oarMachine
	// The values that are tried for what OAR's rules leave open, in seconds; all combinations of
	// them.
	Apart, Dispatch, Epilogue []int
}

// oarModel is a simulation of the machine: from what anybody would take, to what is known of this
// one.
type oarModel struct {
	Name    string
	Machine oarMachine
	// Calibrated, if set, takes the times of the machine that fits best: to the runs of the "other
	// workloads", or to those of "all" of them, which then also have the run that is judged. Only
	// Named of Machine counts then.
	Calibrated string
	// What the model says of each run stands in the table, too.
	ByRun bool
}

// oarMachine is OAR as it is modelled. Times are in seconds; 0 leaves a habit out.
type oarMachine struct {
	// Named says that nodes have names also in what lies ahead: room for a job is room on the same
	// nodes throughout (kamelot). Without it a job may be planned where only the number of free
	// nodes suffices.
	Named bool
	// All is planned anew at each decision; otherwise jobs keep their reservations.
	Anew bool
	// Is added to what a job asks for, in the plan alone.
	Security int
	// Decisions are made at multiples of it only, if it is above 0.
	Every int
	// The least time between two decisions.
	Apart int
	// From the decision to the start that OAR records.
	Dispatch int
	// From the end that OAR records until the nodes are free.
	Epilogue int
}

// oarRun is a recorded run of a workload on some nodes.
type oarRun struct {
	// The workload is named by its seed, as in the name of the run's file.
	name, workload string
	// The most that were ever busy together: one run had lost ten.
	nodes int
	jobs  []*entity.Job
	// The machine's own waits, in seconds, in the order of jobs.
	waits []float64
}

// waits returns what the model says of a run's jobs, in their order and in seconds.
func (m oarMachine) waits(ctx context.Context, of *oarRun) ([]float64, error) {
	// OAR plans every job ahead. Anew, all reservations are made at each decision, which EASY with
	// a reservation for each job does.
	var policy entity.Policy = backfill.Conservative{}
	switch {
	case m.Named:
		policy = &kamelot{nodes: of.nodes, on: map[*entity.Run]uint64{}}
	case m.Anew:
		policy = backfill.EASY{Reservations: backfill.AllReservations}
	}
	seconds := func(n int) des.Time { return des.Time(n) * des.Second }
	jobs := make([]*entity.Job, len(of.jobs))
	for i, j := range of.jobs {
		planned := *j
		planned.Request.Length += seconds(m.Security)
		jobs[i] = &planned
	}
	runs, err := runOn(ctx, of.nodes, policy, jobs, func(meta *entity.Metascheduler) {
		meta.Wakes = entity.Wakes{Every: seconds(m.Every), Apart: seconds(m.Apart)}
	}, &flow.Overheads{Dispatch: flow.Constant(m.Dispatch), Epilogue: flow.Constant(m.Epilogue)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.name, err)
	}
	// OAR records a start when the job has been dispatched.
	waits := waitsOf(runs, des.Second)
	for i := range waits {
		waits[i] += float64(m.Dispatch)
	}
	return waits, nil
}

// The quantities, and the point of runs whose workload the machine had twice.
const (
	oarWait  = "mean wait, s"
	oarError = "mean error of a job's wait, s"
	oarTwice = "workloads run twice"
)

// measure calibrates first, since models may ask for it, and then runs every model on every run.
func (e grid5000) measure(ctx context.Context, c Config, p *page, t *Reproduction) (rows []tableRow, err error) {
	path, err := p.file(e.File)
	if err != nil {
		return nil, err
	}
	runs, err := readRuns(path)
	if err != nil {
		return nil, err
	}
	// Every machine on every run, once for all models.
	k := calibration{runs: runs, machines: e.machines()}
	if err := k.measure(ctx, c); err != nil {
		return nil, err
	}
	// Each model is run on every run, and summed up over all of them, over those on all
	// nodes, and over those of workloads that the machine itself ran twice.
	most := slices.MaxFunc(runs, func(a, b *oarRun) int { return a.nodes - b.nodes }).nodes
	for _, m := range e.Models {
		var all, whole, twice []waitsBeside
		for i, r := range runs {
			waits, err := k.machine(m, r).waits(ctx, r)
			if err != nil {
				return nil, err
			}
			one := beside(waits, r.waits)
			all = append(all, one)
			if r.nodes == most {
				whole = append(whole, one)
			}
			if slices.ContainsFunc(runs, r.repeats) {
				twice = append(twice, one)
			}
			if m.ByRun {
				for _, row := range meansOf([]waitsBeside{one}, m.Name, r.name)[:2] {
					row.X, row.Quantity = float64(i), row.Quantity+" of a run"
					rows = append(rows, row)
				}
			}
		}
		rows = slices.Concat(rows, meansOf(all, m.Name, "all runs"), meansOf(whole, m.Name, "runs on all nodes"), meansOf(twice, m.Name, oarTwice))
	}
	// The machine against itself: how far apart two of its own runs are, beside which a model's
	// error is to be seen. The mean wait, the first row, says nothing of that.
	if again := meansOf(repeated(runs), "the machine itself, the same workload again", oarTwice); again != nil {
		rows = append(rows, again[1:]...)
	}
	var notes []string
	for _, w := range k.workloads() {
		notes = append(notes, fmt.Sprintf("%s: calibrated on the runs of the other workloads: %v.", w, k.best(w)))
	}
	notes = append(notes, fmt.Sprintf("Calibrated on all %d runs: %v.", len(runs), k.best("")))
	t.notes = append(notes, t.notes...)
	slices.SortStableFunc(rows, func(a, b tableRow) int { return cmp.Compare(a.Quantity, b.Quantity) })
	return rows, nil
}

// machines returns all machines that are tried.
func (e grid5000) machines() (all []oarMachine) {
	for _, apart := range e.Apart {
		for _, dispatch := range e.Dispatch {
			for _, epilogue := range e.Epilogue {
				machine := e.Rules
				machine.Apart, machine.Dispatch, machine.Epilogue = apart, dispatch, epilogue
				all = append(all, machine)
			}
		}
	}
	return all
}

// String says what was calibrated.
func (m oarMachine) String() string {
	return fmt.Sprintf("decisions %d s apart, dispatch %d s, epilogue %d s", m.Apart, m.Dispatch, m.Epilogue)
}

// calibration has the mean error of every machine on every run, by their places.
type calibration struct {
	runs     []*oarRun
	machines []oarMachine
	errors   [][]float64 // by machine and run
}

// measure runs every machine on every run. Each machine fills a row of its own, so that they may
// run side by side.
func (k *calibration) measure(ctx context.Context, c Config) error {
	k.errors = make([][]float64, len(k.machines))
	return c.each(ctx, len(k.machines), func(ctx context.Context, i int) error {
		for _, r := range k.runs {
			waits, err := k.machines[i].waits(ctx, r)
			if err != nil {
				return err
			}
			k.errors[i] = append(k.errors[i], beside(waits, r.waits).err)
		}
		return nil
	})
}

// best returns the machine with the least sum of errors over all runs but those of a workload;
// without "" over all runs. Of several it is the first.
func (k *calibration) best(without string) oarMachine {
	best, least := 0, math.Inf(1)
	for i := range k.machines {
		sum := 0.0
		for n, r := range k.runs {
			if r.workload != without {
				sum += k.errors[i][n]
			}
		}
		// Below, and not at: of equal machines the first one stays.
		if sum < least {
			best, least = i, sum
		}
	}
	return k.machines[best]
}

// machine returns the machine that a model has for a run. Calibrated on other workloads it never
// saw the run's own.
func (k *calibration) machine(m oarModel, r *oarRun) oarMachine {
	machine := m.Machine
	switch m.Calibrated {
	case "other workloads":
		machine = k.best(r.workload)
	case "all":
		machine = k.best("")
	}
	machine.Named = m.Machine.Named
	return machine
}

// workloads returns the workloads of the runs, each once, in order.
func (k *calibration) workloads() (names []string) {
	for _, r := range k.runs {
		names = append(names, r.workload)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// waitsBeside are means over the jobs of a run, in seconds: the machine's waits, ours, and the mean
// and the median of the absolute differences.
type waitsBeside struct{ theirs, ours, err, median float64 }

// beside compares the waits of the same jobs.
func beside(ours, theirs []float64) waitsBeside {
	errs := make([]float64, len(ours))
	for i := range ours {
		errs[i] = math.Abs(ours[i] - theirs[i])
	}
	return waitsBeside{mean(theirs), mean(ours), mean(errs), median(errs)}
}

// meansOf returns the means over runs as rows; nil of no runs.
func meansOf(runs []waitsBeside, series, point string) []tableRow {
	if runs == nil {
		return nil
	}
	var theirs, ours, errs, medians []float64
	for _, r := range runs {
		theirs, ours, errs, medians = append(theirs, r.theirs), append(ours, r.ours), append(errs, r.err), append(medians, r.median)
	}
	return []tableRow{
		{Series: series, Point: point, Quantity: oarWait, Paper: fmt.Sprintf("%.1f", mean(theirs)), Ours: single(mean(ours)), Own: true},
		{Series: series, Point: point, Quantity: oarError, Ours: single(mean(errs)), Own: true},
		{Series: series, Point: point, Quantity: "median error of a job's wait, s", Ours: single(mean(medians)), Own: true},
	}
}

// repeats reports whether o is another run of the same jobs on as many nodes.
func (r *oarRun) repeats(o *oarRun) bool {
	return r != o && r.nodes == o.nodes && slices.EqualFunc(r.jobs, o.jobs, func(x, y *entity.Job) bool { return x.ID == y.ID && x.Request == y.Request })
}

// repeated compares runs of the same jobs with each other: how far the machine is from itself.
func repeated(runs []*oarRun) (all []waitsBeside) {
	for i, a := range runs {
		for _, b := range runs[:i] {
			if a.repeats(b) {
				all = append(all, beside(a.waits, b.waits))
			}
		}
	}
	return all
}

// seedOf finds the workload of a run in the name of its file.
var seedOf = regexp.MustCompile(`seed\d+`)

// readRuns reads all runs of an archive (tar.gz), in the order of their names.
func readRuns(path string) (runs []*oarRun, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	archive := tar.NewReader(unpacked)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if !strings.HasSuffix(head.Name, ".swf") {
			continue
		}
		next := &oarRun{name: strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(head.Name), ".swf"), "_size32"), "results_"), workload: seedOf.FindString(head.Name)}
		if next.jobs, next.waits, err = readWaits(archive, head.Name); err != nil {
			return nil, err
		}
		next.nodes = next.peak()
		runs = append(runs, next)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s: there are no recorded runs (*.swf)", filepath.Base(path))
	}
	slices.SortFunc(runs, func(a, b *oarRun) int { return strings.Compare(a.name, b.name) })
	return runs, nil
}

// peak returns the most nodes that jobs had at a time. At one instant ends come before starts, so
// that nodes which are given on are counted once.
func (r *oarRun) peak() (most int) {
	type change struct {
		at    des.Time
		nodes int
	}
	var changes []change
	for i, j := range r.jobs {
		start := j.Submit + des.Seconds(r.waits[i])
		changes = append(changes, change{start, j.Request.Nodes}, change{start + j.Runtime, -j.Request.Nodes})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.nodes, b.nodes)) })
	busy := 0
	for _, c := range changes {
		busy += c.nodes
		most = max(most, busy)
	}
	return most
}

// readWaits reads jobs and their recorded waits, in seconds. Every record must be a job that ran.
func readWaits(in io.Reader, name string) (jobs []*entity.Job, waits []float64, err error) {
	r := workload.NewReader(in)
	for rec := range r.Records() {
		j := &entity.Job{ID: rec.Job, Submit: rec.Submit, Runtime: rec.Runtime, Request: entity.Request{Nodes: int(rec.Allocated), Length: rec.Estimate}}
		if err := j.Check(); err != nil || rec.Wait < 0 {
			return nil, nil, fmt.Errorf("%s, line %d: no job that ran: %w", name, r.Line(), cmp.Or(err, errors.New("its wait is not known")))
		}
		jobs, waits = append(jobs, j), append(waits, rec.Wait.Seconds())
	}
	if err := r.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(jobs) == 0 {
		return nil, nil, fmt.Errorf("%s: there are no jobs", name)
	}
	return jobs, waits, nil
}
