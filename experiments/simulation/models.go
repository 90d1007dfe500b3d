package simulation

// What models of workloads are told in a line of text: distributions, cycles, flurries,
// and logs that these are taken from, as in @KTH-SP2-1996-2.1-cln.swf.gz.

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/keyvalue"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// fromLog begins the name of a log that stands for what it has: its runtimes where
// runtimes are wanted, its cycle where one is.
const fromLog = "@"

// later is the value that a text stands for. Most values are known at once. A value that comes from
// a log ("@LOG") is read when the jobs are made: parameters are checked before any file is opened.
type later[T any] func() (T, error)

// now is a value that is known at once.
func now[T any](v T) later[T] { return func() (T, error) { return v, nil } }

// arrivals are the parameters that the arrivals of every model have.
type arrivals struct {
	// load is offered in the long run, with the flurries in it; 0 means the model's own rate.
	load     float64
	cycle    later[*model.Cycle]
	flurries *model.Flurries // nil is none
}

// of yields n jobs of a model. generate is told the load and the cycle, and yields n jobs as well.
func (a arrivals) of(n int64, seed uint64, generate func(load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error)) (iter.Seq[*entity.Job], error) {
	var cycle *model.Cycle
	if a.cycle != nil {
		var err error
		if cycle, err = a.cycle(); err != nil {
			return nil, err
		}
	}
	if a.flurries == nil {
		return generate(a.load, cycle)
	}
	// Flurries add jobs, by a factor in the mean: the model offers the load without them, so that
	// both together offer a.load. Of the jobs of both, the first n are taken.
	f := *a.flurries
	f.Seed = seed
	jobs, err := generate(a.load/f.Factor(), cycle)
	if err != nil {
		return nil, err
	}
	jobs, err = f.Inject(jobs)
	if err != nil {
		return nil, err
	}
	return workload.First(jobs, n), nil
}

// cycleBegin is time 0 of generated logs with a cycle, in UTC: the first Monday of 2024.
const cycleBegin = 1704067200

// addCycleBegin makes a header tell which instant time 0 is, so that the hours and weekdays of the
// cycle can be found in the log.
func addCycleBegin(h *workload.Header) {
	h.Add("UnixStartTime", strconv.Itoa(cycleBegin))
	h.Add("TimeZoneString", "UTC")
}

// cycleForm is the form in which a cycle is written.
const cycleForm = "day=W/W/...,week=W/W/W/W/W/W/W|@LOG"

// parseCycle reads the weights of equal parts of the day, from midnight on, and of Monday
// to Sunday, as in "day=1/2/3/2,week=5/5/5/5/5/1/1", either of which may be missing; or a
// log whose cycle is taken, "@LOG".
func parseCycle(text string) (later[*model.Cycle], error) {
	if path, ok := strings.CutPrefix(text, fromLog); ok {
		return func() (*model.Cycle, error) { return cycleOf(path) }, nil
	}
	c := &model.Cycle{}
	for part := range strings.SplitSeq(text, ",") {
		name, list, _ := strings.Cut(part, "=")
		to := &c.Day
		switch {
		case name == "week":
			to = &c.Week
		case name != "day":
			return nil, fmt.Errorf("want %s, not %q", cycleForm, text)
		}
		if *to != nil {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		for w := range strings.SplitSeq(list, "/") {
			v, fault := number.Float(w)
			if fault != number.Sound {
				return nil, fmt.Errorf("%s: want weights, as in 1/2/0.5, not %q", name, list)
			}
			*to = append(*to, v)
		}
	}
	return now(c), c.Check()
}

// cycleOf fits a cycle to a log. Its header must say when it began, and in which time zone.
func cycleOf(path string) (*model.Cycle, error) {
	t, err := openLog(path)
	if err != nil {
		return nil, err
	}
	begin, err := t.Header.Start()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	c, err := model.FitCycle(t.Jobs(), begin)
	if err = errors.Join(t.Err(), err); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return &c, nil
}

// flurriesForm is the form in which flurries are written.
const flurriesForm = "every=N:jobs=N:gap=T:spread=F"

// parseFlurries reads flurries; see model.Flurries for what the keys mean.
func parseFlurries(text string) (*model.Flurries, error) {
	f := &model.Flurries{}
	err := keyvalue.Read(text,
		keyvalue.To("every", "N", &f.Every, aboveZero),
		keyvalue.To("jobs", "N", &f.Jobs, whole(1, mostSourceJobs)),
		keyvalue.To("gap", "T", &f.Gap, number.Seconds),
		keyvalue.To("spread", "F", &f.Spread, func(value string) (float64, error) {
			v, fault := number.Float(value)
			if fault != number.Sound {
				return 0, fmt.Errorf("want a number from 0 to 1, not %q", value)
			}
			return v, nil
		}))
	if err != nil {
		return nil, err
	}
	return f, f.Check()
}

// wanted has the parameters that every model has.
type wanted struct {
	arrivals
	jobs  int
	procs int
	// meanGap is the mean time between submissions in seconds; 0 if a load is given instead.
	meanGap float64
	// exact says that these very jobs offer the load. Otherwise a load is one of jobs without end,
	// and a finite number of them offers more or less.
	exact bool
	// bursts says that the model has bursts of its own, and takes no flurries.
	bursts bool
}

// exactParam is the parameter that has the jobs of a model offer the load of its parameter load.
const exactParam = "exact"

// generator yields the jobs of a model: at a load in the long run, where 0 means the model's own
// rate, and by a cycle, or nil.
type generator func(seed uint64, load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error)

// modelRow returns the row of a model. own declares the parameters of the model itself. The
// generator that own returns is called when all parameters of w have been read.
func modelRow(name, text string, own func(s *policy.Settings, w *wanted) generator) policy.Entry[Source] {
	return policy.Row(name, text, func(s *policy.Settings) Source {
		w := &wanted{procs: 128}
		return w.source(w.declare(s, own))
	})
}

// declare declares and reads the parameters of every model, with a model's own in their midst: the
// order of the help.
func (w *wanted) declare(s *policy.Settings, own func(s *policy.Settings, w *wanted) generator) generator {
	w.jobs = 5000
	if s.Count(&w.jobs, "jobs", "how many (5000)"); w.jobs > mostSourceJobs {
		s.Fail("jobs", fmt.Sprintf("at most %d, which are kept in a temporary file", mostSourceJobs))
	}
	s.Count(&w.procs, "procs", "processors of the machine (128)")
	generate := own(s, w)
	if s.OnOff(&w.exact, exactParam, "these very jobs offer the load, as in studies (off)"); w.exact && w.load == 0 {
		s.Fail(exactParam, "a load beside it, which the jobs are to offer")
	}
	var err error
	if text, given := s.Given("cycle", cycleForm, "weights of hours and weekdays, or those of a log"); given {
		if w.cycle, err = parseCycle(text); err != nil {
			s.Fail("cycle", cycleForm+"; "+err.Error())
		}
	}
	if w.bursts {
		return generate
	}
	if text, given := s.Given("flurries", "'"+flurriesForm+"'", "bursts of one user's near-identical jobs: one job in N begins one"); given {
		if w.flurries, err = parseFlurries(text); err != nil {
			s.Fail("flurries", flurriesForm+"; "+err.Error())
		}
	}
	return generate
}

// loadOrGap declares the rate of arrivals: a load, or a mean gap.
func (w *wanted) loadOrGap(s *policy.Settings) {
	s.Number(&w.load, "load", "F", "offered load in the long run, or")
	w.meanGap, _ = seconds(s, "mean-gap", "T", "mean time between submissions")
}

// needsRate refuses a model that has no rate of its own unless exactly one of load and mean-gap is
// given.
func (w *wanted) needsRate(s *policy.Settings) {
	if (w.load > 0) == (w.meanGap > 0) {
		s.Fail("load", "either it or mean-gap, above 0: no rate of arrivals is published")
	}
}

// source returns the source of a model whose jobs generate yields.
func (w *wanted) source(generate generator) Source {
	return func(seed uint64) (Generated, error) {
		at := func(load float64) (iter.Seq[*entity.Job], error) {
			rate := w.arrivals
			rate.load = load
			return rate.of(int64(w.jobs), seed, func(load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
				return generate(seed, load, cycle)
			})
		}
		jobs, err := at(w.load)
		if err == nil && w.exact {
			jobs, err = exactly(w.load, w.procs, jobs, at)
		}
		return Generated{Processors: w.procs, Jobs: jobs}, err
	}
}

// nearLoad is the relative difference between the offered and the wanted load below which no more
// jobs are drawn. Scaling the times removes the remaining difference: it then shifts a month
// against its days by at most four minutes.
const nearLoad = 1e-4

// mostDraws is the number of times that jobs are drawn anew to come that near. Each draw halves, on
// a logarithmic scale, the range of loads to ask the model for, so that 30 are plenty for any
// smooth model.
const mostDraws = 30

// exactly yields jobs that offer a load to a number of processors. jobs is a first try. at draws
// the same sizes and runtimes for another load in the long run, so that the daily cycle of a model
// keeps its days. The difference that the nearest try leaves is made up for by scaling the times
// between submissions.
func exactly(load float64, procs int, jobs iter.Seq[*entity.Job], at func(load float64) (iter.Seq[*entity.Job], error)) (iter.Seq[*entity.Job], error) {
	// best is the nearest try, off what it offers over what it should, and asked the load that was
	// asked of the model for the latest try.
	best, off, asked := jobs, math.Inf(1), load
	low, high := 0.0, math.Inf(1) // asked for, offers too little and too much
	for range mostDraws {
		offered := workload.OfferedLoad(jobs, procs)
		if !(offered > 0) || math.IsInf(offered, 0) {
			return nil, fmt.Errorf("the jobs offer a load of %v, which cannot be made %v: ask for more jobs", offered, load)
		}
		// Twice the load is as far off as half of it: ratios are compared by their logarithms.
		if ratio := offered / load; math.Abs(math.Log(ratio)) < math.Abs(math.Log(off)) {
			best, off = jobs, ratio
		}
		if math.Abs(off-1) < nearLoad {
			break
		}
		// Find the load to ask for: between one that offers too little and one that offers too
		// much, once there are both; before that, in proportion.
		if offered < load {
			low = asked
		} else {
			high = asked
		}
		if low > 0 && !math.IsInf(high, 0) {
			asked = math.Sqrt(low * high)
		} else {
			asked *= load / offered
		}
		var err error
		if jobs, err = at(asked); err != nil {
			return nil, err
		}
	}
	return workload.ScaleArrivals(best, off), nil
}

// Exactly returns the name with which a source offers exactly the load that the name states:
// lublin:load=0.7 becomes lublin:load=0.7:exact=on. Names without a load, of logs, and of sources
// that have no such parameter stay, as do names that already say what exact is.
func (t *Tables) Exactly(trace string) string {
	name, _, _ := strings.Cut(trace, ":")
	for _, e := range t.Sources {
		if e.Name != name || !slices.ContainsFunc(e.Params, func(p policy.Param) bool { return p.Name == exactParam }) {
			continue
		}
		load, told := false, false
		policy.MapValues(trace, func(name, value string) string {
			load, told = load || name == "load", told || name == exactParam
			return value
		})
		if load && !told {
			return trace + ":" + exactParam + "=on"
		}
	}
	return trace
}

// missedLoad returns a sentence if the jobs of a model offer another load than the name of the
// source states, by a twentieth or more; otherwise "". The load of a model is a mean in the long
// run. offered is the load of these jobs.
func (t *Tables) missedLoad(trace string, offered float64) string {
	exact, stated := t.Exactly(trace), 0.0
	if exact == trace {
		return ""
	}
	policy.MapValues(trace, func(name, value string) string {
		if name == "load" {
			stated, _ = strconv.ParseFloat(value, 64)
		}
		return value
	})
	if !(stated > 0) || math.Abs(offered-stated) < 0.05*stated {
		return ""
	}
	return fmt.Sprintf("the jobs offer a load of %.3g, not the %v of the model in the long run: with exact=on (%s) they offer it", offered, stated, exact)
}

// distribution declares a parameter that is a distribution, and reads it; nil if the parameter is
// not given. of takes the values of a log that is named instead ("@LOG"); it is nil for values that
// no log tells.
func distribution(s *policy.Settings, name, text string, of column) later[model.Distribution] {
	value, given := s.Given(name, "DIST", text)
	if !given {
		return nil
	}
	if of == nil && strings.HasPrefix(value, fromLog) {
		s.Fail(name, "a distribution; logs do not tell it")
		return nil
	}
	d, err := parseDistribution(value, of)
	if err != nil {
		s.Fail(name, "a distribution; "+err.Error())
	}
	return d
}

// sizesAndRuntimes declares the distributions of models that have none of their own, which must be
// given.
func sizesAndRuntimes(s *policy.Settings) (size, run later[model.Distribution]) {
	size = distribution(s, "size", "processors: a number, A..B, zipf/1.5/64, ..., or @LOG for a log's", logSizes)
	run = distribution(s, "runtime", "runtimes: exponential/1h, lognormal/MEAN/SIGMA, ..., or @LOG for a log's", logRuntimes)
	for _, d := range []struct {
		name string
		is   later[model.Distribution]
	}{{"size", size}, {"runtime", run}} {
		if d.is == nil {
			s.Fail(d.name, "a distribution, as in "+d.name+"=exponential/60")
		}
	}
	return size, run
}

// draw is a distribution of a model, and what a text said of it.
type draw struct {
	to   *model.Distribution
	from later[model.Distribution]
}

// drawn sets the distributions of a model to what texts said of them. What was not given stays as
// the model has it.
func drawn(all ...draw) error {
	for _, d := range all {
		if d.from == nil {
			continue
		}
		var err error
		if *d.to, err = d.from(); err != nil {
			return err
		}
	}
	return nil
}

// column takes the values of one kind out of a log.
type column func(t *workload.Trace) []float64

// logGaps returns the times between submissions, in seconds: one less than there are jobs.
func logGaps(t *workload.Trace) (all []float64) {
	var last des.Time
	begun := false
	for j := range t.Jobs() {
		if begun {
			all = append(all, (j.Submit - last).Seconds())
		}
		begun, last = true, j.Submit
	}
	return all
}

// logSizes returns the processors of the jobs.
func logSizes(t *workload.Trace) (all []float64) {
	for j := range t.Jobs() {
		all = append(all, float64(j.Request.Nodes))
	}
	return all
}

// logRuntimes returns the runtimes of the jobs, in seconds.
func logRuntimes(t *workload.Trace) (all []float64) {
	for j := range t.Jobs() {
		all = append(all, j.Runtime.Seconds())
	}
	return all
}

// parseDistribution reads a distribution, or "@LOG", which is the empirical distribution of what of
// takes out of that log.
func parseDistribution(text string, of column) (later[model.Distribution], error) {
	path, isLog := strings.CutPrefix(text, fromLog)
	if !isLog {
		d, err := model.ParseDistribution(text)
		return now(d), err
	}
	return func() (model.Distribution, error) {
		t, err := openLog(path)
		if err != nil {
			return nil, err
		}
		d := model.Empirical{Sample: of(t)}
		if err := errors.Join(t.Err(), d.Check()); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		return d, nil
	}, nil
}

// openLog opens a log that a model is to be like, in any format of the library.
func openLog(path string) (*workload.Trace, error) {
	path, err := traces.Find(path)
	if err != nil {
		return nil, err
	}
	return workload.Options{Reading: workload.Reading{Formats: (&Tables{Formats: formatTable()}).allFormats()}}.Open(path)
}

// PlaceFiles returns the value of a setting with the files that it names at other paths, where
// place puts them. A trace is a file itself, or a source that may take something from logs
// ("resample:from=log.swf.gz", "poisson:runtime=@log.swf.gz"); a format may have a file beside the
// log ("batsim:platform=cluster.xml"). A value that names no file is returned as it is.
func (t *Tables) PlaceFiles(setting, value string, place func(path string) string) string {
	if t.namesFile(setting, value) {
		return place(value)
	}
	if setting == "from" {
		return policy.MapValues(value, func(name, value string) string {
			if slices.Contains(formatFiles, name) {
				return place(value)
			}
			return value
		})
	}
	if _, source, err := t.sourceOf(value); setting != "trace" || !source || err != nil {
		return value
	}
	return policy.MapValues(value, func(name, value string) string {
		if path, ok := strings.CutPrefix(value, fromLog); ok {
			return fromLog + place(path)
		} else if name == fromParam {
			return place(value)
		}
		return value
	})
}

// FilesOf returns the paths of the files that a value of a setting names.
func (t *Tables) FilesOf(setting, value string) (paths []string) {
	t.PlaceFiles(setting, value, func(path string) string {
		paths = append(paths, path)
		return path
	})
	return paths
}
