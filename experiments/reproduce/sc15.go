package reproduce

// SC15: EASY with predicted runtimes, and corrections of jobs that outlive them.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload"
)

// sc15 repeats the table of Gaussier, Glesser, Reis and Trystram, "Improving backfilling
// by using machine learning to predict running times" (SC 2015): the mean bounded
// slowdown of logs under EASY, told of runtimes in several ways.
type sc15 struct {
	Logs       []publishedLog
	Algorithms []prediction
}

// publishedLog is a log, and by which name it is found.
type publishedLog struct {
	Name string // as a quantity of the page
	File string // without .swf.gz or the like
}

// prediction is an algorithm by the names that the command has for its parts. One without a policy
// is not run here: what was published of it stands in the table.
type prediction struct {
	Name                       string
	Policy, Predictor, Correct string
	PerJob                     bool // what became of every job was published of this one
	Own                        bool // of ours, beyond the paper
}

// EASY's name on the page, against which all are measured, and quantities.
const (
	sc15EASY    = "EASY"
	sc15Ratio   = "mean bounded slowdown over EASY's, mean of the logs"
	sc15Differs = "jobs whose wait, first prediction or corrections differ"
	oncePerTime = "one decision an instant"
	accuracyOf  = "accuracy of first predictions, %"
	tooShortOf  = "first predictions that are too short, %"
	errorOf     = "mean absolute error of first predictions, s"
)

// slowdownIn returns the quantity of a log's rows.
func slowdownIn(log string) string { return "mean bounded slowdown, " + log }

// measure runs every algorithm on every log, with decisions after every event as in the authors'
// program and with one decision an instant.
func (e sc15) measure(ctx context.Context, c Config, p *page, t *Reproduction) ([]tableRow, error) {
	logs, err := e.find(p, t)
	if err != nil {
		return nil, err
	}
	var cells []*sc15Cell
	for _, log := range slices.Backward(logs) { // the largest is the last
		for _, a := range e.Algorithms {
			if a.Policy != "" {
				cells = append(cells, &sc15Cell{log: log, of: a}, &sc15Cell{log: log, of: a, once: true})
			}
		}
	}
	err = c.each(ctx, len(cells), func(ctx context.Context, i int) error { return cells[i].simulate(ctx) })
	if err != nil {
		return nil, err
	}
	return e.rows(p, logs, cells), nil
}

// sc15Log is a log that was found.
type sc15Log struct {
	name  string
	index int    // among those of the experiment
	path  string // of the log
	jobs  string // of what was published of every job, or ""
}

// find looks for the logs. Logs that are not at hand are noted before all else; it is an error if
// none is. The settings say what the logs are that were found.
func (e sc15) find(p *page, t *Reproduction) (logs []sc15Log, err error) {
	var missing error
	var without []string
	for i, l := range e.Logs {
		path, err := p.log(l.File)
		if err != nil {
			missing = err
			without = append(without, fmt.Sprintf("Without %s: %v", l.Name, err))
			continue
		}
		log := sc15Log{name: l.Name, index: i, path: path}
		if jobs, err := p.file(l.File + ".easypp.csv.gz"); err == nil {
			log.jobs = jobs
		}
		logs = append(logs, log)
		trace, err := workload.OpenSWF(path)
		if err != nil {
			return nil, err
		}
		s := setting{l.Name, filepath.Base(path), "SC15, evaluation"}
		if how, ok := reconstructed(trace); ok {
			s.From = fmt.Sprintf("a reconstruction: its header: %q", how)
		}
		t.settings = append(t.settings, s)
	}
	t.notes = append(without, t.notes...)
	if logs == nil {
		return nil, missing
	}
	return logs, nil
}

// sc15Cell is one run: an algorithm on a log.
type sc15Cell struct {
	log  sc15Log
	of   prediction
	once bool // one decision an instant
	// result is nil until the cell has been simulated.
	result *simulation.Result
	// How many jobs differ from what was published of them; -1 where nothing was.
	differs int
}

// variant names the cell's kind of decisions in rows.
func (c *sc15Cell) variant() string {
	if c.once {
		return oncePerTime
	}
	return ""
}

// scenario returns what the cell runs. The habit of the authors' program that jobs which come are
// only tried if they fit goes with its decisions after every event.
func (c *sc15Cell) scenario() *simulation.Scenario {
	sc := simulation.New()
	sc.Workload.Trace, sc.Policies, sc.Settings.Pass = c.log.path, []string{c.of.Policy}, entity.PassEvent
	sc.Settings.Predict, sc.Settings.Correct = c.of.Predictor, c.of.Correct
	if c.once {
		sc.Policies[0], sc.Settings.Pass = strings.TrimSuffix(c.of.Policy, ":arrivals=fitting"), entity.PassInstant
	}
	return sc
}

// simulate runs the cell and, if that was published, compares what became of every job.
func (c *sc15Cell) simulate(ctx context.Context) error {
	c.differs = -1
	if !c.of.PerJob || c.once || c.log.jobs == "" {
		return c.schedule(ctx)
	}
	published, err := readFates(c.log.jobs)
	if err != nil {
		return err
	}
	err = c.schedule(ctx, published)
	c.differs = len(published)
	return err
}

// schedule runs the log's jobs and tells observers of them.
func (c *sc15Cell) schedule(ctx context.Context, observers ...entity.Observer) error {
	out, err := simulation.Run(ctx, c.scenario(), simulation.Options{
		Observers: func(policy, site string) []entity.Observer { return observers },
	})
	if err != nil {
		return fmt.Errorf("%s under %s: %w", c.log.name, c.of.Name, err)
	}
	c.result = out.Results[0]
	return nil
}

// fates are the published wait, first prediction and corrections of each job, by its number. It is
// an Observer that forgets each job for which this run gives the same: the jobs that are left
// differ.
type fates map[int64][3]float64 // wait, first prediction, corrections; never iterated

// readFates reads what was published of each job.
func readFates(path string) (fates, error) {
	rows, err := readColumns(path, "job", "wait", "initial_prediction", "under_predictions")
	f := make(fates, len(rows))
	for _, r := range rows {
		f[int64(r[0])] = [3]float64{r[1], r[2], r[3] + 1} // which counts from 0, so that -1 is none
	}
	return f, err
}

// Observe takes one event in.
func (f fates) Observe(e entity.JobEvent) {
	r := e.Run
	if (e.Kind == entity.JobFinished || e.Kind == entity.JobKilled) &&
		f[r.ID] == [3]float64{r.Wait().Seconds(), r.FirstPrediction().Seconds(), float64(r.Corrections())} {
		delete(f, r.ID)
	}
}

// rows returns the figures of all runs.
func (e sc15) rows(p *page, logs []sc15Log, cells []*sc15Cell) (rows []tableRow) {
	// By log and algorithm, with both kinds of decisions: the slowdowns, and after them
	// what they come to in the mean over the logs.
	cellOf := map[ref]*sc15Cell{}
	for _, c := range cells {
		cellOf[ref{varied(c.of.Name, c.variant()), "", c.log.name}] = c
	}
	slowdowns := map[ref]tableRow{}
	for _, log := range logs {
		for _, a := range e.Algorithms {
			for _, variant := range []string{"", oncePerTime} {
				r := p.published(tableRow{Series: a.Name, Variant: variant, Quantity: slowdownIn(log.name), Own: a.Own}, log.index)
				if c := cellOf[ref{r.name(), "", log.name}]; c != nil {
					r.Ours = single(c.result.Summary.MeanBoundedSlowdown)
				} else if variant != "" {
					continue
				}
				rows, slowdowns[r.ref()] = append(rows, r), r
			}
		}
	}
	for _, a := range e.Algorithms {
		for _, variant := range []string{"", oncePerTime} {
			if r := a.ratio(slowdowns, logs, variant, ""); r.Code != "" || r.Ours.N > 0 {
				rows = append(rows, r)
			}
		}
	}
	// By algorithm and log, for decisions as in the authors' program only: single jobs that
	// fare otherwise, and how good predictions were.
	ofCells := func(quantity, code string, of func(c *sc15Cell) (x float64, ok bool)) {
		for _, log := range logs {
			for _, c := range cells {
				if x, ok := of(c); ok && c.log == log && !c.once {
					rows = append(rows, tableRow{Series: c.of.Name, Point: log.name, Quantity: quantity, Code: code, Ours: single(x)})
				}
			}
		}
	}
	ofCells(sc15Differs, "0", func(c *sc15Cell) (float64, bool) { return float64(c.differs), c.differs >= 0 })
	// How good the predictions were, in the authors' conventions.
	accuracy := func(factor float64, of func(a *simulation.AccuracySummary) *float64) func(c *sc15Cell) (float64, bool) {
		return func(c *sc15Cell) (float64, bool) {
			if a := c.result.Accuracy; a != nil && a.PredictionError != nil {
				return factor * *of(a), true
			}
			return 0, false
		}
	}
	ofCells(errorOf, "", accuracy(1, func(a *simulation.AccuracySummary) *float64 { return a.PredictionError }))
	ofCells(accuracyOf, "", accuracy(100, func(a *simulation.AccuracySummary) *float64 { return a.PredictionAccuracy }))
	ofCells(tooShortOf, "", accuracy(100, func(a *simulation.AccuracySummary) *float64 { return a.UnderPredicted }))
	return rows
}

// ratio returns a's slowdown over EASY's, theirs and ours, in the mean over the logs. part is ""
// for whole logs, or secondHalf. There is no figure of ours unless all logs have one.
func (a prediction) ratio(slowdowns map[ref]tableRow, logs []sc15Log, variant, part string) tableRow {
	r := tableRow{Series: a.Name, Variant: variant, Quantity: sc15Ratio + part, Own: a.Own}
	theirs, ours, n := 0.0, 0.0, 0
	for _, log := range logs {
		quantity := slowdownIn(log.name) + part
		of, base := slowdowns[ref{r.name(), "", quantity}], slowdowns[ref{varied(sc15EASY, variant), "", quantity}]
		if f, ok := parseFigure(of.Code); ok {
			b, _ := parseFigure(base.Code)
			theirs += f.value / b.value
		}
		if of.Ours.N > 0 {
			ours += of.Ours.Mean / base.Ours.Mean
			n++
		}
	}
	if theirs > 0 {
		r.Code = fmt.Sprintf("%.4f", theirs/float64(len(logs)))
	}
	if n == len(logs) {
		r.Ours = single(ours / float64(n))
	}
	return r
}
