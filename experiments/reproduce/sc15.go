package reproduce

// SC15: EASY with predicted runtimes, and corrections of jobs that outlive them.

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// SC15 repeats the table of Gaussier, Glesser, Reis and Trystram, "Improving backfilling
// by using machine learning to predict running times" (SC 2015): the mean bounded
// slowdown of logs under EASY, told of runtimes in several ways.
type SC15 struct {
	Logs       []PublishedLog
	Algorithms []Prediction
}

// PublishedLog is a log and where it is found.
type PublishedLog struct {
	Name string
	File string // without .swf.gz or the like
}

// Prediction is an algorithm by the names that the command has for its parts.
type Prediction struct {
	Name                       string
	Policy, Predictor, Correct string
	// Published are the mean bounded slowdowns of the logs, in their order.
	Published string
	// Only, if set, says that the algorithm is not run here, and why.
	Only string
	Own  bool // of ours, beyond the paper
}

// The rows that claims are about.
const (
	sc15EASY      = "EASY"
	sc15Double    = "EASY, twice the request"
	sc15Plus      = "EASY++ (SJBF, last two, Tsafrir)"
	sc15Request   = "SJBF, last two, to the request"
	sc15True      = "SJBF, true runtimes"
	sc15Learned   = "SJBF, learned, their best single setting"
	sc15Hindsight = "SJBF, learned, their best of each log in hindsight"
)

// NewSC15 is the experiment with all that was published of the five logs.
func NewSC15() SC15 {
	const easy, last = "easy:arrivals=fitting", "recent:k=2"
	return SC15{
		Logs: []PublishedLog{
			{"KTH-SP2", "KTH-SP2-1996-2"}, {"CTC-SP2", "CTC-SP2-1996-3.1-cln"}, {"SDSC-SP2", "SDSC-SP2-1998-4.2-cln"},
			{"SDSC-BLUE", "SDSC-BLUE-2000-4.2-cln"}, {"CEA-Curie", "CEA-Curie-2011-2.1-cln-thin"},
		},
		Algorithms: []Prediction{
			{Name: sc15EASY, Policy: easy, Published: "92.57654 49.57129 87.87032 36.52336 202.13316"},
			{Name: sc15Double, Policy: easy, Predictor: "request:factor=2", Published: "79.93025 44.16873 82.13522 33.37020 255.29073"},
			{Name: "EASY, last two, to the request", Policy: easy, Predictor: last, Correct: "request", Published: "65.72359 35.32396 79.21209 26.58361 51.95298"},
			{Name: "EASY, last two, Tsafrir", Policy: easy, Predictor: last, Correct: "tsafrir", Published: "85.44291 64.64743 100.01826 33.54850 431.31849"},
			{Name: "EASY, last two, doubling", Policy: easy, Predictor: last, Correct: "doubling", Published: "76.92244 69.38885 83.98963 29.48900 3000.44641"},
			{Name: "EASY, true runtimes", Policy: easy, Predictor: "true", Published: "71.72239 37.16540 70.47794 30.62145 69.92593"},
			{Name: "SJBF", Policy: "easy-sjbf", Published: "69.40540 30.04107 84.88894 19.82601 169.03031"},
			{Name: "SJBF, twice the request", Policy: "easy-sjbf", Predictor: "request:factor=2", Published: "58.91253 30.39741 77.90104 18.27566 198.99004"},
			{Name: sc15Request, Policy: "easy-sjbf", Predictor: last, Correct: "request", Published: "62.85688 26.53379 65.06360 16.82686 21.32843"},
			{Name: sc15Plus, Policy: "easy++", Published: "63.50068 85.76717 79.39628 20.98643 193.47130"},
			{Name: "SJBF, last two, doubling", Policy: "easy-sjbf", Predictor: last, Correct: "doubling", Published: "64.52747 55.64064 98.00316 22.33932 192.47311"},
			{Name: sc15True, Policy: "easy-sjbf", Predictor: "true", Published: "49.84772 17.57169 56.83622 13.17759 12.07980"},
			{Name: sc15Learned, Policy: "easy-sjbf", Predictor: "regression", Correct: "tsafrir", Published: "51.44113 20.54764 74.95197 12.96429 27.86034"},
			{Name: sc15Hindsight, Published: "45.79748 15.14997 65.02017 10.62405 21.40487", Only: "chosen after the fact, of 5,627 settings"},
		},
	}
}

// Name implements Experiment.
func (SC15) Name() string { return "sc15" }

// Title implements Experiment.
func (SC15) Title() string {
	return "Backfilling by predicted runtimes, with corrections (SC15, five logs)"
}

const (
	sc15How     = "The log is in the Parallel Workloads Archive, https://www.cs.huji.ac.il/labs/parallel/workload/; the published runs are of it without the jobs that have no runtime, no estimate or no processors, runtimes cut to estimates."
	sc15Ratio   = "mean bounded slowdown over EASY's, mean of the logs"
	sc15Differs = "jobs whose wait, first prediction or corrections differ"
	oncePerTime = "one decision an instant"
	accuracyOf  = "accuracy of first predictions, %"
	tooShortOf  = "first predictions that are too short, %"
	errorOf     = "mean absolute error of first predictions, s"
)

// slowdownIn is the quantity of a log's rows.
func slowdownIn(log string) string { return "mean bounded slowdown, " + log }

// Run implements Experiment.
func (e SC15) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{
		Seed: c.Seed, Name: e.Name(), Title: e.Title(),
		Source: "the metrics of all 5,774 settings, six logs, in the authors' repository (freuk/predictsim)",
		Settings: []Setting{
			{"slowdown", "bounded at 10 s, mean over all jobs", Source{Paper, "SC15, evaluation"}},
			{"decisions", "after every single event but the end of a prediction; ends before arrivals", Source{Program, "pyss"}},
			{oncePerTime, "all that happens at an instant before one decision, and a job that comes has all tried, whether it fits or not", Source{Ours, "the default of the command"}},
			{"last two", "the mean of the runtimes of the user's last two jobs that have ended, in whole seconds and at most the request; the request where there are fewer", Source{Program, "its predictor tsafrir"}},
			{"EASY, not SJBF", "a job that comes and does not fit at once has no other job tried", Source{Program, "its scheduler easy_prediction_backfill; it matters where a correction has made room"}},
			{"learned", "online linear regression of degree two, squared loss above the runtime and absolute below, weight 1 + log(processors times runtime), corrected by Tsafrir's list", Source{Program, "its metrics; features and steps as the paper has them"}},
			{"doubling", "goes beyond the request", Source{Program, "its corrector recursive_doubling"}},
			{"cycles", "1", Source{Ours, "one schedule of each log"}},
		},
	}
	logs, err := e.find(&t)
	if err != nil {
		return t, err
	}
	cells := e.cells(logs)
	err = c.each(ctx, len(cells), func(ctx context.Context, i int) error { return cells[i].simulate(ctx) })
	if err != nil {
		return t, err
	}
	t.Notes = append(t.Notes, sc15Notes...)
	err = t.fill(e.rows(logs, cells), e.claims(logs)...)
	return t, err
}

func (e SC15) data() (logs, field []string) {
	for _, l := range e.Logs {
		logs, field = append(logs, l.File), append(field, l.perJob())
	}
	return logs, field
}

// perJob is the name of the file of what was published of every job.
func (l PublishedLog) perJob() string { return l.File + ".easypp.csv.gz" }

// sc15Log is a log that was found.
type sc15Log struct {
	name  string
	index int    // among those of the experiment
	path  string // of the log
	jobs  string // of what was published of every job, or ""
}

// find looks for the logs. Where only some are there the others are noted.
func (e SC15) find(t *Table) (logs []sc15Log, err error) {
	var missing error
	for i, l := range e.Logs {
		path, err := logFile(l.File, sc15How)
		if err != nil {
			missing = err
			t.Notes = append(t.Notes, fmt.Sprintf("Without %s: %v", l.Name, err))
			continue
		}
		log := sc15Log{name: l.Name, index: i, path: path}
		if log.jobs, err = fieldFile(l.perJob(), ""); err != nil {
			log.jobs = ""
		}
		logs = append(logs, log)
		from := Source{Paper, "SC15, evaluation"}
		value := filepath.Base(path)
		trace, err := workload.OpenSWF(path)
		if err != nil {
			return nil, err
		}
		if how := trace.Header.Get("Conversion"); strings.Contains(strings.ToLower(how), "reconstruct") {
			from = Source{Reconstruction, fmt.Sprintf("its header: %q", how)}
		}
		t.Settings = append(t.Settings, Setting{l.Name, value, from})
	}
	if logs == nil {
		return nil, missing
	}
	return logs, nil
}

// sc15Cell is one run.
type sc15Cell struct {
	log     sc15Log
	of      Prediction
	once    bool // one decision an instant
	result  scenario.Result
	differs int // jobs, of those published; -1 where none are
}

// cells are the runs, those of the last log, which is the largest, first.
func (e SC15) cells(logs []sc15Log) (cells []*sc15Cell) {
	for i := range logs {
		for _, a := range e.Algorithms {
			if a.Only == "" {
				log := logs[len(logs)-1-i]
				cells = append(cells, &sc15Cell{log: log, of: a}, &sc15Cell{log: log, of: a, once: true})
			}
		}
	}
	return cells
}

// settings are those of the run.
func (c *sc15Cell) settings() (s scenario.RunSettings, err error) {
	spec := c.of.Policy
	s.Pass = entity.PassEvent
	if c.once {
		s.Pass, spec = entity.PassInstant, strings.TrimSuffix(spec, ":arrivals=fitting")
	}
	chosen, err := policy.Registry().Parse(spec)
	if err != nil {
		return s, err
	}
	s.Policy, s.Name = chosen.Value, c.of.Name
	if c.of.Predictor != "" {
		p, err := policy.Predictors().Parse(c.of.Predictor)
		if err != nil {
			return s, err
		}
		s.Predictor = p.Value
	}
	if c.of.Correct != "" {
		k, err := policy.Correctors().Parse(c.of.Correct)
		if err != nil {
			return s, err
		}
		s.Corrector = k.Value
	}
	return s, nil
}

// simulate runs the cell, and compares its jobs with those published.
func (c *sc15Cell) simulate(ctx context.Context) error {
	c.differs = -1
	if c.of.Name != sc15Plus || c.once || c.log.jobs == "" {
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

// schedule has the log's jobs run, and observers told of it.
func (c *sc15Cell) schedule(ctx context.Context, observers ...entity.Observer) error {
	trace, err := workload.OpenSWF(c.log.path)
	if err != nil {
		return err
	}
	jobs, err := trace.Open()
	if err != nil {
		return err
	}
	defer jobs.Close()
	s, err := c.settings()
	if err != nil {
		return err
	}
	s.Processors, s.Observers = trace.MaxProcs, observers
	if c.result, err = scenario.Simulate(ctx, jobs, s); err != nil {
		return fmt.Errorf("%s under %s: %w", c.log.name, c.of.Name, err)
	}
	return nil
}

// fates are what was published of each job, by its number. It is an Observer that
// leaves those that something else becomes of.
type fates map[int64][3]float64 // wait, first prediction, corrections; never iterated

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

// rows are the figures of all runs.
func (e SC15) rows(logs []sc15Log, cells []*sc15Cell) (rows []Row) {
	variant := func(once bool) string {
		if once {
			return oncePerTime
		}
		return ""
	}
	of := func(log sc15Log, name string, once bool) metrics.Interval {
		for _, c := range cells {
			if c.log == log && c.of.Name == name && c.once == once {
				return single(c.result.Summary.MeanBoundedSlowdown)
			}
		}
		return metrics.Interval{}
	}
	for _, log := range logs {
		for _, a := range e.Algorithms {
			for _, once := range []bool{false, true} {
				if a.Only != "" && once {
					continue
				}
				rows = append(rows, Row{
					Series: a.Name, Variant: variant(once), Quantity: slowdownIn(log.name), Code: published{a.Name: a.Published}.at(a.Name, log.index),
					Ours: of(log, a.Name, once), Own: a.Own,
				})
			}
		}
	}
	rows = append(rows, e.ratios(logs, rows)...)
	for _, log := range logs {
		for _, c := range cells {
			if c.log == log && c.differs >= 0 {
				rows = append(rows, Row{Series: c.of.Name, Point: log.name, Quantity: sc15Differs, Code: "0", Ours: single(float64(c.differs))})
			}
		}
	}
	return append(rows, e.accuracies(logs, cells)...)
}

// ratios are the slowdowns over EASY's, means over the logs, theirs and ours, of the
// rows of slowdowns.
func (e SC15) ratios(logs []sc15Log, slowdowns []Row) (rows []Row) {
	at := map[Ref]Row{} // never iterated
	for _, r := range slowdowns {
		at[r.ref()] = r
	}
	for _, a := range e.Algorithms {
		for _, v := range []string{"", oncePerTime} {
			r := Row{Series: a.Name, Variant: v, Quantity: sc15Ratio, Own: a.Own}
			theirs, ours, n := 0.0, 0.0, 0
			for _, log := range logs {
				of, base := at[Ref{varied(a.Name, v), "", slowdownIn(log.name)}], at[Ref{varied(sc15EASY, v), "", slowdownIn(log.name)}]
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
			if r.Code != "" || r.Ours.N > 0 {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// accuracies are how good the predictions were, in the authors' conventions.
func (e SC15) accuracies(logs []sc15Log, cells []*sc15Cell) (rows []Row) {
	for _, q := range []struct {
		name string
		of   func(a *metrics.AccuracySummary) float64
	}{
		{errorOf, func(a *metrics.AccuracySummary) float64 { return *a.PredictionError }},
		{accuracyOf, func(a *metrics.AccuracySummary) float64 { return 100 * *a.PredictionAccuracy }},
		{tooShortOf, func(a *metrics.AccuracySummary) float64 { return 100 * *a.UnderPredicted }},
	} {
		for _, log := range logs {
			for _, c := range cells {
				if a := c.result.Accuracy; c.log == log && !c.once && a != nil && a.PredictionError != nil {
					rows = append(rows, Row{Series: c.of.Name, Point: log.name, Quantity: q.name, Ours: single(q.of(a))})
				}
			}
		}
	}
	return rows
}

// claims are what the paper, and those whose rules it repeats, say of the rows.
func (e SC15) claims(logs []sc15Log) []Claim {
	everywhere := func(less, than string) (pairs []Pair) {
		for _, log := range logs {
			pairs = append(pairs, Pair{Less: Ref{Series: less, Quantity: slowdownIn(log.name)}, Than: Ref{Series: than, Quantity: slowdownIn(log.name)}})
		}
		return pairs
	}
	mean := func(name string, below float64) []Pair {
		return []Pair{{Less: Ref{Series: name, Quantity: sc15Ratio}, Factor: below}}
	}
	return []Claim{
		{Text: "by predictions that are learned slowdowns are 28% less than EASY's", Where: "SC15, abstract",
			Changes: []Change{{Of: Ref{Series: sc15Learned, Quantity: sc15Ratio}, From: Ref{Series: sc15EASY, Quantity: sc15Ratio}, Percent: -28}}},
		{Text: "the same, of a setting that was chosen without the log", Where: "SC15, abstract",
			Untested: "of their own table it holds: the setting that is best on five of the six logs, by the mean ratio to EASY, is 28.4% below EASY on the sixth, in the mean over these; on SDSC-SP2 it is 8% above EASY, and on SDSC-BLUE 24%"},
		{Text: "EASY++ improves on EASY: it has lower slowdowns on every log", Where: "Tsafrir, Etsion and Feitelson 2007, abstract", Pairs: everywhere(sc15Plus, sc15EASY)},
		{Text: "EASY++ has lower slowdowns than EASY in the mean of the logs' ratios", Where: "its table", Pairs: mean(sc15Plus, 1)},
		{Text: "backfilling by twice the request has lower slowdowns than by the request, on every log", Where: "Mu'alem and Feitelson 2001", Pairs: everywhere(sc15Double, sc15EASY)},
		{Text: "the shortest first by true runtimes has lower slowdowns than EASY++ on every log", Where: "its table", Pairs: everywhere(sc15True, sc15Plus)},
		{Text: "of the last two runtimes, correction to the request at once is better than Tsafrir's, on every log", Where: "its table", Pairs: everywhere(sc15Request, sc15Plus)},
	}
}

// sc15Notes are what is to be known of the published figures.
var sc15Notes = []string{
	"Rows without learning are met to the last digit of what was published. Two rules of the program are in no paper: in EASY (not in SJBF) a job that comes and does not fit has no other job tried, and doubling goes beyond the request. Both are named options; the column beside is without the first and with one decision an instant.",
	"Correction to the request, the simplest rule of all, takes the mean of the last two runtimes from 0.97 of EASY's slowdown to 0.50; their best setting of 5,627, chosen on these very logs, has 0.46.",
	"Most of what a rule gains or loses in the mean it does on CEA-Curie, where slowdowns lie between 12 and 3,000.",
}
