package reproduce

// F1 to F4 and their like on Curie, by a simulator that sees 32 jobs of the queue.

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// SC17 repeats the rerun of 2022 of the experiments of Carastan-Santos and de Camargo
// (SC 2017) on the log of Curie.
type SC17 struct {
	Processors int
	Windows    int
	Days       int // of a window
	State      int // how many jobs fill the machine at the beginning of a window
	Sight      int // how many jobs of the queue the authors' simulator sees
}

// NewSC17 is the experiment as the authors' program ran it.
func NewSC17() SC17 { return SC17{Processors: 93312, Windows: 15, Days: 15, State: 16, Sight: 32} }

// Name implements Experiment.
func (SC17) Name() string { return "sc17" }

// Title implements Experiment.
func (SC17) Title() string {
	return "Orders found by regression on 15 windows of Curie, through 32 jobs of the queue and through all (SC 2017)"
}

const (
	sc17How    = "It is a result of the rerun, by Rosa, Carastan-Santos and Goldman, of the artifact of \"Obtaining Dynamic Scheduling Policies with Simulation and Machine Learning\"."
	sc17Log    = "CEA-Curie-2011-2.1-cln"
	sc17LogHow = "It is in the Parallel Workloads Archive."
	wholeQueue = "whole queue"
)

// sc17Orders are those of the program, by the columns of its results. Submissions are
// counted from the first of the window.
var sc17Orders = []struct {
	name  string
	order entity.Order
}{
	{"FCFS", entity.Submission},
	{"WFP3", trueWFP3},
	{"UNICEF", inOrder("sc17 unicef", true, func(_, wait, estimate, procs float64) float64 {
		return -(wait + 1e-20) / (math.Log2(procs+1e-20) * estimate)
	})},
	{"SJT", inOrder("sc17 sjt", false, func(_, _, estimate, _ float64) float64 { return estimate })},
	{"SAF", inOrder("sc17 saf", false, func(_, _, estimate, procs float64) float64 { return estimate * procs })},
	{"F2", inOrder("sc17 f2", false, func(submit, _, estimate, procs float64) float64 {
		size := 0.0000342717 * math.Sqrt(estimate) * (0.0076562110 * procs)
		return float64(size) + float64(0.0067364626*math.Log10(submit))
	})},
	{"LIN", inOrder("sc17 lin", false, func(submit, _, estimate, procs float64) float64 {
		return 3.16688932e-02 + float64(1.24214915e-07*estimate) + float64(3.10222317e-05*procs) - float64(1.62730301e-07*submit)
	})},
}

// sc17Tables are the tables of its results.
var sc17Tables = []struct {
	name, file        string
	exact, backfilled bool
	shortest          string // what the column of the shortest first is called
}{
	{"runtimes", "CURIE_runtimes.csv", true, false, "SJT"},
	{"estimates", "CURIE_estimate.csv", false, false, "SPT"},
	{"backfilling", "CURIE_backfilling.csv", false, true, "SJT"},
}

// sc17Job is what the program reads of a job.
type sc17Job struct {
	submit, runtime, estimate des.Time
	procs                     int
}

// sc17Cell is a figure of a window: of an order, in a table, through so many jobs of the
// queue.
type sc17Cell struct {
	table, order, window, sight int
}

const sc17Close = 1 // per cent

func (SC17) data() (logs, field []string) {
	for _, x := range sc17Tables {
		field = append(field, x.file)
	}
	return []string{sc17Log}, field
}

// Run implements Experiment.
func (e SC17) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{
		Seed: c.Seed, Name: e.Name(), Title: e.Title(), Source: "CURIE_runtimes.csv, CURIE_estimate.csv and CURIE_backfilling.csv of the rerun of 2022, mean bounded slowdowns",
		Settings: []Setting{
			{"jobs", "Curie's cleaned log, those with a runtime, an estimate and processors", Source{Program, ""}},
			{"processors", fmt.Sprint(e.Processors), Source{Program, ""}},
			{"windows", fmt.Sprintf("%d, one after the other: %d jobs that start in the order in which they come, and those that come within %d days of the very first", e.Windows, e.State, e.Days), Source{Program, ""}},
			{"mean bounded slowdown", fmt.Sprintf("of runtimes of 10 s at least, without the first %d jobs", e.State), Source{Program, ""}},
			{"queue", fmt.Sprintf("the %d jobs that have waited longest are seen, put in order and tried for backfilling, and again after each start (window=%d); rows \"whole queue\": all, orders that do not change with time only", e.Sight, e.Sight), Source{Program, ""}},
			{"tables", "runtimes known; users' estimates; users' estimates and EASY", Source{Program, ""}},
			{"F2", "with the coefficients of the regression: 0.0000342717 sqrt(r) 0.0076562110 n + 0.0067364626 log10(s)", Source{Program, "the paper prints the quotient, rounded to 25600"}},
			{"LIN", "3.16688932e-2 + 1.24214915e-7 r + 3.10222317e-5 n - 1.62730301e-7 s: of two jobs the later goes first", Source{Program, "its present text; results with estimates were not made with it"}},
			{"WFP3, UNICEF", "by the wait; UNICEF of serial jobs is infinite as soon as they wait", Source{Program, ""}},
			{"estimates that are too low", "a job runs on, and is thought to end within a second from then on", Source{Program, "what is left of the estimate is below 0: its processors are the first to become free"}},
			{"decisions", "after every event, arrivals before ends, a processor is free when its job has ended", Source{Inferred, "messages between the processes of its simulator take a little time"}},
			{"cycles", "1", Source{Ours, "the same windows, once"}},
		},
		Notes: []string{
			"Their simulator sends messages, which take microseconds to milliseconds: waits differ from ours by hundredths of a per cent where schedules are the same. Where many jobs have the same estimate its sort, which is not stable, puts them in an order of its own: so the shortest first by estimates goes apart.",
			"With backfilling, where several jobs end at the instant at which the head will fit, their program counts as spare only what is free when the first of them has ended that make room for it (spare=first), and EASY by its definition what is free when all have: so do the rows \"whole queue\". Of equal ends those count first that started first, which their text does not say.",
			"LIN is met for runtimes only, and not in all windows: by the program's present text the later of two jobs goes first. Their results with estimates stand near those of FCFS and were made with another one.",
		},
	}
	windows, err := e.windows()
	if err != nil {
		return t, err
	}
	theirs := make([][][]float64, len(sc17Tables))
	for i, x := range sc17Tables {
		path, err := fieldFile(x.file, sc17How)
		if err != nil {
			return t, err
		}
		var columns []string
		for _, o := range sc17Orders {
			columns = append(columns, strings.Replace(o.name, "SJT", x.shortest, 1))
		}
		if theirs[i], err = readColumns(path, columns...); err != nil {
			return t, err
		}
		if len(theirs[i]) != len(windows) {
			return t, fmt.Errorf("%s has %d windows, not %d", x.file, len(theirs[i]), len(windows))
		}
	}
	var cells []sc17Cell // the windows of a row stand together
	for table := range sc17Tables {
		for order, o := range sc17Orders {
			sights := []int{e.Sight, 0}
			if o.order.Dynamic {
				sights = sights[:1]
			}
			for _, sight := range sights {
				for window := range windows {
					cells = append(cells, sc17Cell{table, order, window, sight})
				}
			}
		}
	}
	ours := make([]float64, len(cells))
	err = c.each(ctx, len(cells), func(ctx context.Context, i int) (err error) {
		x := cells[i]
		ours[i], err = e.slowdown(ctx, windows[x.window], sc17Orders[x.order].order, sc17Tables[x.table].exact, sc17Tables[x.table].backfilled, x.sight)
		return err
	})
	if err != nil {
		return t, err
	}
	var rows []Row
	for ; len(cells) > 0; cells, ours = cells[len(windows):], ours[len(windows):] {
		row, note := e.rows(cells[0], ours[:len(windows)], theirs[cells[0].table])
		rows = append(rows, row...)
		if note != "" {
			t.Notes = append(t.Notes, note)
		}
	}
	return t, t.fill(rows)
}

// rows are the median over the windows of an order, and how many of them are met; the
// note has the windows themselves.
func (e SC17) rows(of sc17Cell, ours []float64, theirs [][]float64) (rows []Row, note string) {
	name, table := sc17Orders[of.order].name, sc17Tables[of.table].name
	row := Row{Series: name, Quantity: table + ", median", Ours: single(median(ours))}
	if of.sight == 0 {
		row.Variant, row.Own = wholeQueue, true
		return []Row{row}, ""
	}
	var published []float64
	var differences []string
	near := 0.0
	for i, x := range ours {
		published = append(published, theirs[i][of.order])
		percent := 100 * (x/theirs[i][of.order] - 1)
		differences = append(differences, fmt.Sprintf("%+.2f", percent))
		if math.Abs(percent) < sc17Close {
			near++
		}
	}
	row.Paper = strconv.FormatFloat(median(published), 'f', 6, 64)
	return []Row{row, {Series: name, Quantity: fmt.Sprintf("%s, windows within %d%%", table, sc17Close), Ours: single(near)}},
		fmt.Sprintf("%s, %s: ours against theirs in per cent, window by window: %s.", table, name, strings.Join(differences, ", "))
}

// windows reads the log and cuts it: a window is the first jobs, which fill the machine,
// and those after them that come within so many days of the very first.
func (e SC17) windows() ([][]sc17Job, error) {
	path, err := logFile(sc17Log, sc17LogHow)
	if err != nil {
		return nil, err
	}
	trace, err := workload.OpenSWF(path)
	if err != nil {
		return nil, err
	}
	records, file, err := trace.Records()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []sc17Job
	for r := range records.Records() {
		if r.Runtime > 0 && r.Estimate > 0 && r.Allocated > 0 && r.Allocated <= int64(e.Processors) {
			all = append(all, sc17Job{r.Submit, r.Runtime, r.Estimate, int(r.Allocated)})
		}
	}
	if err := records.Err(); err != nil {
		return nil, err
	}
	var windows [][]sc17Job
	for range e.Windows {
		n := e.State
		for n < len(all) && all[n].submit-all[0].submit <= des.Time(e.Days)*des.Day {
			n++
		}
		if n >= len(all) {
			return nil, fmt.Errorf("%s ends before window %d does", path, len(windows)+1)
		}
		windows = append(windows, all[:n])
		all = all[n:]
	}
	return windows, nil
}

// sc17Estimate has jobs run on past what their users have said, and be thought to end
// within a second from then on.
type sc17Estimate struct{}

func (sc17Estimate) Name() string                              { return "estimate" }
func (sc17Estimate) Predict(j entity.Known) des.Time           { return j.Extra().(des.Time) }
func (sc17Estimate) Correct(j entity.Known) des.Time           { return j.Prediction() + des.Second }
func (sc17Estimate) Observe(entity.JobEventKind, entity.Known) {}

// slowdown is the mean over a window's jobs, but for those that fill the machine.
func (e SC17) slowdown(ctx context.Context, window []sc17Job, o entity.Order, exact, backfilled bool, sight int) (float64, error) {
	if o.Key != nil && o.Name != entity.Submission.Name {
		key, first := o.Key, int64(e.State)
		o.Key = func(r *entity.Run, now des.Time) float64 {
			if r.ID <= first { // they start in the order in which they come
				return math.Inf(-1)
			}
			return key(r, now)
		}
	}
	p := backfill.PublishedEASY{EASY: backfill.EASY{Order: o}, NoBackfilling: !backfilled, Window: sight, FirstSpare: backfilled && sight > 0}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(e.Processors), p)
	m.Pass = entity.PassEvent
	if !exact {
		m.Predictor, m.Corrector = sc17Estimate{}, sc17Estimate{}
	}
	runs := make([]*entity.Run, len(window))
	for i, j := range window {
		length := j.estimate
		if exact {
			length = j.runtime
		}
		// A processor is free when its job has ended, and not before.
		runs[i] = m.Submit(&entity.Job{
			ID: int64(i + 1), Submit: j.submit - window[0].submit, Runtime: j.runtime, Extra: length + des.Tick,
			Request: entity.Request{Nodes: j.procs, Length: max(length, j.runtime) + des.Tick},
		})
	}
	if err := sim.Run(ctx); err != nil {
		return 0, err
	}
	return meanSlowdown(runs[e.State:]), nil
}
