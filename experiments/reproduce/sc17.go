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
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// sc17 repeats, on the log of Curie, the rerun of 2022 of the experiments of Carastan-Santos and de
// Camargo (Obtaining dynamic scheduling policies with simulation and machine learning, SC 2017).
type sc17 struct {
	Processors int
	Windows    int
	Days       int // of a window
	// State is the number of jobs that fill the machine at the beginning of a window; they do not
	// count in the means.
	State  int
	Sight  int // how many jobs of the queue the authors' simulator sees
	Log    string
	Tables []sc17Table // of the results
}

const wholeQueue = "whole queue"

// sc17Orders are those of the program, by the columns of its results. Submissions are counted from
// the first of the window. With the wait w, the estimate r, the processors n and the submission s,
// the least key goes first:
//
//	WFP3    -(w / r)^3 n                                  (Tang, Lan, Desai and Buettner 2009)
//	UNICEF  -w / (log2(n) r)                              (the same)
//	SAF     r n
//	F2      a sqrt(r) b n + c log10(s)                    (SC17, table 3, before it is rounded to sqrt(r) n + 25600 log10(s))
//	LIN     a linear regression, which is not in the paper
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

// sc17Table is one of the published tables: Exact of runtimes that are known, Backfilled with EASY.
type sc17Table struct {
	Name, File        string
	Exact, Backfilled bool
	Shortest          string // what the column of the shortest first is called
}

// sc17Job has the fields of a job that the program reads.
type sc17Job struct {
	submit, runtime, estimate des.Time
	procs                     int
}

// sc17Close is the difference in per cent up to which our figure of a window counts as equal to
// theirs.
const sc17Close = 1

// measure runs every figure on every window, side by side.
func (e sc17) measure(ctx context.Context, c Config, p *page, t *Reproduction) (rows []tableRow, err error) {
	windows, err := e.windows(p)
	if err != nil {
		return nil, err
	}
	figures, err := e.figures(p, len(windows))
	if err != nil {
		return nil, err
	}
	err = c.each(ctx, len(figures)*len(windows), func(ctx context.Context, i int) (err error) {
		f, w := figures[i/len(windows)], i%len(windows)
		f.ours[w], err = e.slowdown(ctx, windows[w], sc17Orders[f.order].order, f.table, f.sight)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range figures {
		of, note := f.rows()
		if rows = append(rows, of...); note != "" {
			t.notes = append(t.notes, note)
		}
	}
	return rows, nil
}

// sc17Figure is one of an order in a table. The scheduler sees sight jobs of the queue, or all if
// sight is 0. theirs and ours have a slowdown for each window; the windows are the same in all
// tables.
type sc17Figure struct {
	table        sc17Table
	order, sight int
	theirs, ours []float64
}

// figures returns those of all orders in all tables, with what was published of them. Orders that
// change with time are not run on the whole queue: they would have to be sorted at every decision.
func (e sc17) figures(p *page, windows int) (figures []sc17Figure, err error) {
	for _, table := range e.Tables {
		var columns []string
		for _, o := range sc17Orders {
			columns = append(columns, strings.Replace(o.name, "SJT", table.Shortest, 1))
		}
		published, err := p.columns(table.File, columns...)
		if err != nil {
			return nil, err
		}
		if len(published) != windows {
			return nil, fmt.Errorf("%s has %d windows, not %d", table.File, len(published), windows)
		}
		for k, o := range sc17Orders {
			theirs := make([]float64, windows)
			for i, line := range published {
				theirs[i] = line[k]
			}
			figures = append(figures, sc17Figure{table, k, e.Sight, theirs, make([]float64, windows)})
			if !o.order.Dynamic {
				figures = append(figures, sc17Figure{table, k, 0, theirs, make([]float64, windows)})
			}
		}
	}
	return figures, nil
}

// rows returns the median, and in how many windows the published figure is met. The note says by
// how much each window differs. Nothing was published of the whole queue.
func (f sc17Figure) rows() (rows []tableRow, note string) {
	name := sc17Orders[f.order].name
	row := tableRow{Series: name, Quantity: f.table.Name + ", median", Ours: single(median(f.ours))}
	if f.sight == 0 {
		row.Variant, row.Own = wholeQueue, true
		return []tableRow{row}, ""
	}
	row.Paper = strconv.FormatFloat(median(f.theirs), 'f', 6, 64)
	var differences []string
	near := 0.0
	for i, x := range f.ours {
		percent := 100 * (x/f.theirs[i] - 1)
		differences = append(differences, fmt.Sprintf("%+.2f", percent))
		near += oneIf(math.Abs(percent) < sc17Close)
	}
	return []tableRow{row, {Series: name, Quantity: fmt.Sprintf("%s, windows within %d%%", f.table.Name, sc17Close), Ours: single(near)}},
		fmt.Sprintf("%s, %s: ours against theirs in per cent, window by window: %s.", f.table.Name, name, strings.Join(differences, ", "))
}

// windows reads the log and cuts it. A window has the first jobs, which fill the machine, and the
// jobs after them that come within Days of the very first.
func (e sc17) windows(p *page) (windows [][]sc17Job, err error) {
	path, err := p.log(e.Log)
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

// sc17Estimate is a predictor and corrector: jobs run on past what their users have said, and are
// thought to end within a second from then on. The estimate is in Job.Extra.
type sc17Estimate struct{}

func (sc17Estimate) Name() string                              { return "estimate" }
func (sc17Estimate) Predict(j entity.Known) des.Time           { return j.Extra().(des.Time) }
func (sc17Estimate) Correct(j entity.Known) des.Time           { return j.Prediction() + des.Second }
func (sc17Estimate) Observe(entity.JobEventKind, entity.Known) {}

// slowdown returns the mean over a window's jobs, without those that fill the machine.
func (e sc17) slowdown(ctx context.Context, window []sc17Job, o entity.Order, table sc17Table, sight int) (float64, error) {
	// The first jobs stand in the machine when the window begins: the program starts them
	// in the order in which they come, whatever the order of the queue.
	if o.Key != nil && o.Name != entity.Submission.Name {
		key, first := o.Key, int64(e.State)
		o.Key = func(r *entity.Run, now des.Time) float64 {
			if r.ID <= first {
				return math.Inf(-1)
			}
			return key(r, now)
		}
	}
	policy := backfill.PublishedEASY{EASY: backfill.EASY{Order: o}, NoBackfilling: !table.Backfilled, Window: sight, FirstSpare: table.Backfilled && sight > 0}
	jobs := make([]*entity.Job, len(window))
	for i, j := range window {
		length := j.estimate
		if table.Exact {
			length = j.runtime
		}
		// A processor is free when its job has ended, and not before.
		jobs[i] = &entity.Job{
			ID: int64(i + 1), Submit: j.submit - window[0].submit, Runtime: j.runtime, Extra: length + des.Tick,
			Request: entity.Request{Nodes: j.procs, Length: max(length, j.runtime) + des.Tick},
		}
	}
	runs, err := runOn(ctx, e.Processors, policy, jobs, func(m *entity.Metascheduler) {
		m.Pass = entity.PassEvent
		if !table.Exact {
			m.Predictor, m.Corrector = sc17Estimate{}, sc17Estimate{}
		}
	})
	if err != nil {
		return 0, err
	}
	return meanSlowdown(runs[e.State:]), nil
}
