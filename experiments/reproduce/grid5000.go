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

// grid5000 compares recorded runs of OAR with a simulation: as it is, by OAR's own
// rules, and with what those leave open calibrated on some runs and tested on others.
type grid5000 struct {
	// The values that are tried where OAR's rules leave them open, in seconds.
	Apart, Dispatch, Epilogue []int
	File                      string // the recorded runs
}

// oarMachine is OAR as it is modelled. Times are in seconds.
type oarMachine struct {
	Named    bool // nodes have names, in what lies ahead too
	Anew     bool // all is planned anew at each decision; otherwise jobs keep their reservations
	Security int  // is added to what a job asks for, in the plan alone
	Every    int  // decisions at multiples of it only, if above 0
	Apart    int  // least time between two decisions
	Dispatch int  // from the decision to the start that OAR records
	Epilogue int  // from the end that OAR records until the nodes are free
}

// oarSecurity is SCHEDULER_JOB_SECURITY_TIME.
const oarSecurity = 60

// plainOAR is conservative backfilling as it is, with some time for the dispatch.
var plainOAR = oarMachine{Dispatch: 3}

// oarRun is a recorded run.
type oarRun struct {
	name, workload string
	nodes          int // the most that were ever busy together: one run had lost ten
	jobs           []*entity.Job
	waits          []float64 // the machine's own
}

// waits are what the model says of a run's jobs, in their order.
func (m oarMachine) waits(ctx context.Context, of *oarRun) ([]float64, error) {
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
	waits := waitsOf(runs, des.Second)
	for i := range waits {
		waits[i] += float64(m.Dispatch)
	}
	return waits, nil
}

const (
	oarWait   = "mean wait, s"
	oarError  = "mean error of a job's wait, s"
	oarMiddle = "median error of a job's wait, s"

	oarWhole = "runs on all nodes"
	oarTwice = "workloads run twice"

	oarPlain  = "conservative, 3 s of dispatch"
	oarRules  = "OAR's rules, 3 s of dispatch"
	oarAwake  = "the same, decisions every 30 s only"
	oarTested = "OAR's rules, calibrated on other workloads"
	oarNamed  = "the same, nodes with names"
	oarFitted = "OAR's rules, calibrated on the same runs"
	oarAgain  = "the machine itself, the same workload again"
)

func (e grid5000) measure(ctx context.Context, c Config, p *page, t *Table) (rows []Row, err error) {
	path, err := p.file(e.File)
	if err != nil {
		return nil, err
	}
	runs, err := readRuns(path)
	if err != nil {
		return nil, err
	}
	k := calibration{runs: runs, machines: e.machines()}
	if err := k.measure(ctx, c); err != nil {
		return nil, err
	}
	// What is compared, from what anybody would take to what is known of this machine:
	// the calibrated machine is that of the runs of the other workloads.
	rules := oarMachine{Anew: true, Security: oarSecurity, Dispatch: plainOAR.Dispatch}
	awake := rules
	awake.Every = 30
	models := []struct {
		name string
		of   func(*oarRun) oarMachine
	}{
		{oarPlain, func(*oarRun) oarMachine { return plainOAR }},
		{oarRules, func(*oarRun) oarMachine { return rules }},
		{oarAwake, func(*oarRun) oarMachine { return awake }},
		{oarTested, func(r *oarRun) oarMachine { return k.best(r.workload) }},
		{oarNamed, func(r *oarRun) oarMachine { m := k.best(r.workload); m.Named = true; return m }},
		{oarFitted, func(*oarRun) oarMachine { return k.best("") }},
	}
	most := slices.MaxFunc(runs, func(a, b *oarRun) int { return a.nodes - b.nodes }).nodes
	// Each model is run on every run, and summed up over all of them, over those on all
	// nodes, and over those of workloads that the machine itself ran twice.
	for _, m := range models {
		var all, whole, twice tally
		for i, r := range runs {
			waits, err := m.of(r).waits(ctx, r)
			if err != nil {
				return nil, err
			}
			one := beside(waits, r.waits)
			all.add(one)
			if r.nodes == most {
				whole.add(one)
			}
			if slices.ContainsFunc(runs, r.repeats) {
				twice.add(one)
			}
			if m.name == oarTested || m.name == oarPlain {
				row := Row{Series: m.name, Point: r.name, X: float64(i), Own: true}
				wait, off := row, row
				wait.Quantity, wait.Paper, wait.Ours = oarWait+" of a run", fmt.Sprintf("%.1f", one.theirs), single(one.ours)
				off.Quantity, off.Ours = oarError+" of a run", single(one.err)
				rows = append(rows, wait, off)
			}
		}
		rows = slices.Concat(rows, all.rows(m.name, "all runs"), whole.rows(m.name, oarWhole), twice.rows(m.name, oarTwice))
	}
	if again := repeated(runs); again.runs > 0 {
		rows = append(rows, again.rows(oarAgain, oarTwice)[1:]...)
	}
	var notes []string
	for _, w := range k.workloads() {
		notes = append(notes, fmt.Sprintf("%s: calibrated on the runs of the other workloads: %v.", w, k.best(w)))
	}
	notes = append(notes, fmt.Sprintf("Calibrated on all %d runs: %v.", len(runs), k.best("")))
	t.Notes = append(notes, t.Notes...)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Quantity, b.Quantity) })
	return rows, nil
}

// machines are all that are tried.
func (e grid5000) machines() (all []oarMachine) {
	for _, apart := range e.Apart {
		for _, dispatch := range e.Dispatch {
			for _, epilogue := range e.Epilogue {
				all = append(all, oarMachine{Anew: true, Security: oarSecurity, Apart: apart, Dispatch: dispatch, Epilogue: epilogue})
			}
		}
	}
	return all
}

// String is what was calibrated.
func (m oarMachine) String() string {
	return fmt.Sprintf("decisions %d s apart, dispatch %d s, epilogue %d s", m.Apart, m.Dispatch, m.Epilogue)
}

// calibration has the error of every machine on every run.
type calibration struct {
	runs     []*oarRun
	machines []oarMachine
	errors   [][]float64 // by machine and run
}

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

// best is the machine of the least error on all runs but those of a workload; the
// first of several.
func (k *calibration) best(without string) oarMachine {
	best, least := 0, math.Inf(1)
	for i := range k.machines {
		sum := 0.0
		for n, r := range k.runs {
			if r.workload != without {
				sum += k.errors[i][n]
			}
		}
		if sum < least {
			best, least = i, sum
		}
	}
	return k.machines[best]
}

// workloads are those of the runs, each once, in order.
func (k *calibration) workloads() (names []string) {
	for _, r := range k.runs {
		names = append(names, r.workload)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// waitsBeside are means over the jobs of a run.
type waitsBeside struct{ theirs, ours, err, median float64 }

// beside compares the waits of the same jobs.
func beside(ours, theirs []float64) waitsBeside {
	errs := make([]float64, len(ours))
	for i := range ours {
		errs[i] = math.Abs(ours[i] - theirs[i])
	}
	return waitsBeside{mean(theirs), mean(ours), mean(errs), median(errs)}
}

// tally is a sum over runs.
type tally struct {
	waitsBeside
	runs int
}

func (s *tally) add(o waitsBeside) {
	s.theirs, s.ours, s.err, s.median = s.theirs+o.theirs, s.ours+o.ours, s.err+o.err, s.median+o.median
	s.runs++
}

// rows are means over the runs.
func (s tally) rows(series, point string) []Row {
	if s.runs == 0 {
		return nil
	}
	n := float64(s.runs)
	return []Row{
		{Series: series, Point: point, Quantity: oarWait, Paper: fmt.Sprintf("%.1f", s.theirs/n), Ours: single(s.ours / n), Own: true},
		{Series: series, Point: point, Quantity: oarError, Ours: single(s.err / n), Own: true},
		{Series: series, Point: point, Quantity: oarMiddle, Ours: single(s.median / n), Own: true},
	}
}

// repeats reports whether o is another run of the same jobs on as many nodes.
func (r *oarRun) repeats(o *oarRun) bool {
	return r != o && r.nodes == o.nodes && slices.EqualFunc(r.jobs, o.jobs, func(x, y *entity.Job) bool { return x.ID == y.ID && x.Request == y.Request })
}

// repeated compares runs of the same jobs with each other.
func repeated(runs []*oarRun) (all tally) {
	for i, a := range runs {
		for _, b := range runs[:i] {
			if a.repeats(b) {
				all.add(beside(a.waits, b.waits))
			}
		}
	}
	return all
}

// seedOf finds the workload of a run in the name of its file.
var seedOf = regexp.MustCompile(`seed\d+`)

// readRuns reads all runs of an archive, in the order of their names.
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

// peak is the most nodes that jobs had at a time. At one instant ends come before
// starts, so that nodes which are given on are counted once.
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

// readWaits reads jobs and their recorded waits.
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
