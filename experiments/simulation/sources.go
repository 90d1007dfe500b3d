package simulation

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/model"
)

// Source makes a workload that is asked for by a name in place of a trace: a model of the
// literature, or the reader of another format. The same seed gives the same jobs.
//
// The jobs are written down as an SWF log, so that everything that can be done to a log can be done
// to them: a part is taken, the load is scaled, estimates are replaced. A log does not hold
// everything (budgets), and the rest is lost on the way; a program that needs it sets Workload.Jobs
// instead. Dependencies are kept beside the log, for feedback.
type Source func(seed uint64) (Generated, error)

// Generated is the output of a source.
type Generated struct {
	Processors int                   // of the machine that the jobs are for
	Jobs       iter.Seq[*entity.Job] // in order of submission; every range over them yields the same
	// Header is the header of a log of the jobs, without MaxProcs; nil means an empty header.
	Header *workload.Header
	// Warnings are sentences about the jobs for the user who asked for them.
	Warnings []string
}

// mostSourceJobs is the largest number of jobs of a source. It keeps the temporary file below some
// gigabytes.
const mostSourceJobs = 100_000_000

// mostSizes is the largest number of job sizes, and so of processors, of Feitelson's model. The
// model sums over all of them, which takes a second or two then.
const mostSizes = 10_000_000

// sourceTable is the table of the models, and of the sources that are made of a log.
func sourceTable() policy.Table[Source] {
	drawn := policy.Table[Source]{
		lublinSource(), downeySource(), feitelsonSource(), jannSource(), poissonSource(), sessionsSource(), resampleSource(),
	}
	return append(withSeeds(drawn), feedbackSource(), squeueSource()) // which draw nothing
}

// lublinSource has a rate of arrivals of its own, so that it needs neither load nor mean-gap.
func lublinSource() policy.Entry[Source] {
	return modelRow("lublin", "Lublin and Feitelson's model (2003): rigid jobs with a daily cycle", func(s *policy.Settings, w *wanted) generator {
		typed := false
		s.Number(&w.load, "load", "F", "offered load in the long run")
		s.OnOff(&typed, "typed", "two populations, interactive and batch (off)")
		return func(seed uint64, load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			return model.Lublin{Processors: w.procs, Typed: typed, Load: load, Cycle: cycle, Seed: seed}.Jobs(int64(w.jobs))
		}
	})
}

func downeySource() policy.Entry[Source] {
	return modelRow("downey", "Downey's model (1997): log-uniform work and parallelism; needs load or mean-gap", func(s *policy.Settings, w *wanted) generator {
		sigma := 0.0
		w.loadOrGap(s)
		w.needsRate(s)
		s.Number(&sigma, "sigma", "F", "variation of a job's parallelism (0)")
		return func(seed uint64, load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			return model.Downey{Processors: w.procs, Sigma: sigma, MeanGap: w.meanGap, Load: load, Cycle: cycle, Seed: seed}.Jobs(int64(w.jobs))
		}
	})
}

func feitelsonSource() policy.Entry[Source] {
	return modelRow("feitelson", "Feitelson's model (1996): small sizes, repeated runs; needs time-unit, and load or mean-gap", func(s *policy.Settings, w *wanted) generator {
		w.loadOrGap(s)
		w.needsRate(s)
		unit, _ := seconds(s, "time-unit", "T", "mean of the shorter runtimes")
		if des.Seconds(unit) < 1 { // less than a tick
			s.Fail("time-unit", aboveZeroTime)
		}
		if w.procs > mostSizes {
			s.Fail("procs", fmt.Sprintf("at most %d: the model sums over all sizes of jobs", mostSizes))
		}
		return func(seed uint64, load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			return model.Feitelson{Processors: w.procs, TimeUnit: unit, MeanGap: w.meanGap, Load: load, Cycle: cycle, Seed: seed}.Jobs(int64(w.jobs))
		}
	})
}

// jannSource is fitted to a log when its jobs are asked for, not when its parameters are read: a
// scenario is checked before any log is opened. Processors that are not given are those of the log.
func jannSource() policy.Entry[Source] {
	return policy.Row("jann", "Jann's model (1997), fitted to a log: hyper-Erlang gaps and runtimes by ranges of sizes; needs from", func(s *policy.Settings) Source {
		var w wanted
		path, ranges, order := "", jannPowers, jannOrder
		w.declare(s, func(s *policy.Settings, w *wanted) generator {
			if path, _ = s.Given(fromParam, "LOG", "log that it is fitted to; processors are the log's where procs is not given"); path == "" {
				s.Fail(fromParam, "the log that the model is to be fitted to")
			}
			if text, given := s.Given("ranges", "powers|N", "ranges of sizes end at powers of two, or at multiples of N (powers)"); given {
				ranges = text
			}
			s.Count(&order, "order", "greatest order of the distributions (7)")
			s.Number(&w.load, "load", "F", "offered load in the long run (the log's rates)")
			return nil
		})
		return func(seed uint64) (Generated, error) {
			m, own, err := fitJann(path, ranges, order)
			if err != nil {
				return Generated{}, err
			}
			w := w
			w.procs = cmp.Or(w.procs, own)
			made, err := w.source(func(seed uint64, load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
				m.Processors, m.Load, m.Cycle, m.Seed = w.procs, load, cycle, seed
				return m.Jobs(int64(w.jobs))
			})(seed)
			made.Header, made.Warnings = toldOfJann(path, &m, order)
			return made, err
		}
	})
}

// poissonSource is a renewal process, whose gaps are exponential where nothing else is said. A gap
// that is given needs no rate beside it: then its own mean counts.
func poissonSource() policy.Entry[Source] {
	return modelRow("poisson", "Poisson arrivals, or gaps of any distribution, with sizes and runtimes of any: needs size, runtime, and load, mean-gap or gap", func(s *policy.Settings, w *wanted) generator {
		w.loadOrGap(s)
		gap := distribution(s, "gap", "times between submissions, scaled to load or mean-gap where one is given (exponential)", logGaps)
		if gap == nil {
			w.needsRate(s)
		} else if w.meanGap != 0 && w.load != 0 {
			s.Fail("mean-gap", "it or load, not both")
		}
		size, run := sizesAndRuntimes(s)
		return func(seed uint64, load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			m := model.Renewal{Processors: w.procs, MeanGap: w.meanGap, Load: load, Cycle: cycle, Seed: seed}
			if err := drawn(draw{&m.Gap, gap}, draw{&m.Size, size}, draw{&m.Run, run}); err != nil {
				return nil, err
			}
			return m.Jobs(int64(w.jobs))
		}
	})
}

// sessionsSource takes no flurries: bursts of one user's jobs are what its batches are.
func sessionsSource() policy.Entry[Source] {
	return modelRow("sessions", "users who submit batches, wait, think and leave, our own generator: needs size, runtime, and load or mean-gap, of sessions", func(s *policy.Settings, w *wanted) generator {
		w.bursts = true
		users := 0
		w.loadOrGap(s)
		w.needsRate(s)
		size, run := sizesAndRuntimes(s)
		s.Count(&users, "users", "how many there are (50)")
		batches := distribution(s, "batches", "batches of a session (exponential/4)", nil)
		batchJobs := distribution(s, "batch-jobs", "jobs of a batch (exponential/3)", nil)
		interval := distribution(s, "interval", "time between two of them (exponential/30)", nil)
		think := distribution(s, "think", "time from the end of a batch to the next (lognormal/10m/1)", nil)
		return func(seed uint64, load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			m := model.Sessions{Processors: w.procs, Users: users, MeanGap: w.meanGap, Load: load, Cycle: cycle, Seed: seed}
			if err := drawn(draw{&m.Size, size}, draw{&m.Run, run}, draw{&m.Batches, batches}, draw{&m.BatchJobs, batchJobs},
				draw{&m.Interval, interval}, draw{&m.Think, think}); err != nil {
				return nil, err
			}
			return m.Jobs(int64(w.jobs))
		}
	})
}

// SeedParam is the parameter "seed", with which random jobs or outages get a seed of their own in
// place of the seed of the run.
var SeedParam = policy.Param{Name: "seed", Values: "N", Text: "seed of what is drawn, whatever the run's is (the run's)"}

// SeedOf reads the value of SeedParam: text, if given. It calls fail with what is wanted if text is
// no seed. The function that it returns maps the seed of a run to the seed from which to draw: the
// seed in text, or the seed of the run if text was not given.
func SeedOf(text string, given bool, fail func(name, want string)) func(run uint64) uint64 {
	if !given {
		return func(run uint64) uint64 { return run }
	}
	own, err := parseSeed(text)
	if err != nil {
		fail(SeedParam.Name, fmt.Sprintf("a whole number of 0 to %d", uint64(mostSeed)))
	}
	return func(uint64) uint64 { return own }
}

// withSeeds gives the sources of a table the parameter seed, unless they have a parameter of that
// name already. The table itself stays as it is.
func withSeeds(table policy.Table[Source]) policy.Table[Source] {
	table = slices.Clone(table)
	for i, e := range table {
		if slices.ContainsFunc(e.Params, func(p policy.Param) bool { return p.Name == SeedParam.Name }) {
			continue
		}
		table[i].Params = append(slices.Clone(e.Params), SeedParam)
		table[i].New = func(a *policy.Args) Source {
			text, given := a.Value(SeedParam.Name)
			source, seed := e.New(a), SeedOf(text, given, a.Fail)
			return func(run uint64) (Generated, error) { return source(seed(run)) }
		}
	}
	return table
}

// sourceOf returns the source for which a trace's name asks; false if the name is the path of a
// file. A name that is a source's has an error if its parameters are wrong.
func (t *Tables) sourceOf(trace string) (policy.Chosen[Source], bool, error) {
	name, _, _ := strings.Cut(trace, ":")
	for _, e := range t.Sources {
		if e.Name == name {
			c, err := t.Sources.Parse(trace)
			return c, true, err
		}
	}
	return policy.Chosen[Source]{}, false, nil
}

// SourceText returns what the table says of the source for which a trace's name asks; false if the
// name is the path of a file. For a source without a text it is made of the name.
func (t *Tables) SourceText(trace string) (string, bool) {
	name, _, _ := strings.Cut(trace, ":")
	for _, e := range t.Sources {
		if e.Name == name {
			return cmp.Or(e.Text, "jobs of the source "+name), true
		}
	}
	return "", false
}

// openSource writes the jobs of a source down as a log and opens that. The log is SWF, or CSV if
// the records have columns beyond SWF. It is written and read at the same time, through a pipe; the
// reader keeps it in a temporary file, since each policy reads it from its beginning.
func (t *Tables) openSource(ctx context.Context, c policy.Chosen[Source], o workload.Options) (*workload.Trace, error) {
	// Make the jobs. A model refuses nothing but its parameters, so that its errors are those of
	// the setting; a source made of a log may fail for that log.
	made, err := c.Value(o.Seed)
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Spec, err)
		if len(t.FilesOf("trace", c.Spec)) == 0 {
			err = &SettingError{"trace", err}
		}
		return nil, err
	}
	from, to := io.Pipe()
	defer from.Close() // ends the writer, too
	for _, text := range made.Warnings {
		t.tell("%s: %s", c.Spec, text)
	}
	// The header has what the source says, the size of the machine, and when a daily cycle begins.
	h := &workload.Header{}
	if made.Header != nil {
		h = made.Header.Clone()
	}
	h.Set("MaxProcs", strconv.Itoa(made.Processors))
	if strings.Contains(c.Spec, ":cycle=") {
		addCycleBegin(h)
	}
	// Dependencies that a log cannot hold pass by it, in a map.
	jobs := made.Jobs
	var after map[int64][]entity.Dependency
	if o.Feedback {
		after = map[int64][]entity.Dependency{}
		jobs = keepAfter(jobs, after)
	}
	// write on one side of the pipe, read on the other.
	var format workload.Writable = workload.SWF
	if len(h.Columns) > 0 {
		format = formats.CSV{}
	}
	go func() { to.CloseWithError(writeLog(ctx, format, to, h, jobs)) }()
	o.Stdin, o.Format = from, format
	log, err := o.Open(workload.StandardInput)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Spec, err)
	}
	log.Name, log.Path = c.Spec, c.Spec
	log.Options.After = after // which is complete, as the log is
	return log, nil
}

// keepAfter yields jobs and notes for each what it comes after, if fields 17 and 18 cannot tell it:
// more than one job, or another kind of waiting.
func keepAfter(jobs iter.Seq[*entity.Job], after map[int64][]entity.Dependency) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		for j := range jobs {
			if !workload.TellsAfter(j.After) {
				after[j.ID] = j.After
			}
			if !yield(j) {
				return
			}
		}
	}
}

// writeLog writes jobs as records of a log, until ctx ends.
func writeLog(ctx context.Context, format workload.Writable, to io.Writer, h *workload.Header, jobs iter.Seq[*entity.Job]) error {
	w, err := format.Write(to, h)
	if err != nil {
		return err
	}
	for j := range jobs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rec := recordOf(j)
		if err := w.Write(&rec); err != nil {
			return err
		}
	}
	return w.Close()
}
