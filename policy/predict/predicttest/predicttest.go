package predicttest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// Config says how a predictor is tested. The zero value tests any.
type Config struct {
	Seed      uint64 // of the random workloads; others give others
	Workloads int    // how many of them; 20 where it is 0
	Jobs      int    // of a workload; 60 where it is 0
	Instants  int    // of a workload at which the future is changed; 10 where it is 0
}

// Fault is something that a predictor must not do.
type Fault struct {
	Err error
	// Seed and Workload say which of the random workloads it was.
	Seed     uint64
	Workload int
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%v (seed %d, workload %d)", f.Err, f.Seed, f.Workload)
}

// Unwrap is what was wrong.
func (f *Fault) Unwrap() error { return f.Err }

// Check tests the predictors that begin makes, each for a run of these jobs. It returns a
// *Fault, or nil where there is nothing to be said against them.
func Check(begin func(jobs []*entity.Job) entity.Predictor, c Config) error {
	for _, n := range []struct {
		of        *int
		otherwise int
	}{{&c.Workloads, 20}, {&c.Jobs, 60}, {&c.Instants, 10}} {
		if *n.of <= 0 {
			*n.of = n.otherwise
		}
	}
	for i := range c.Workloads {
		random := rand.New(rand.NewPCG(c.Seed, uint64(i)))
		if err := check(begin, draw(random, c.Jobs), draw(random, c.Jobs), c.Instants, random); err != nil {
			return &Fault{err, c.Seed, i}
		}
	}
	return nil
}

// check looks at one workload; other is run in between.
func check(begin func([]*entity.Job) entity.Predictor, w, other *workload, instants int, random *rand.Rand) error {
	first, err := w.run(begin)
	if err != nil {
		return err
	}
	if _, err := other.run(begin); err != nil {
		return err
	}
	again, err := w.run(begin)
	if err != nil {
		return err
	}
	if a, b, same := difference(first.said, again.said, des.Forever); !same {
		return fmt.Errorf("not the same a second time: %v, then %v", a, b)
	}
	for range instants {
		at := first.said[random.IntN(len(first.said))].at + des.Tick
		changed, now := w.otherwise(first, at, random)
		differs := func(w *workload) (a, b said, is bool, err error) {
			second, err := w.run(begin)
			if err != nil {
				return a, b, false, err
			}
			a, b, same := difference(first.said, second.said, at)
			return a, b, !same, nil
		}
		a, b, is, err := differs(changed)
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		for _, k := range now { // perhaps it is one job
			one := w.with(k, changed.jobs[k].Runtime)
			if a, b, is, err := differs(one); err == nil && is {
				return fmt.Errorf("the future shows: %v, but %v where %v, which has not ended by then, runs for %v instead of %v", a, b, w.jobs[k], one.jobs[k].Runtime, w.jobs[k].Runtime)
			}
		}
		return fmt.Errorf("the future shows: %v, but %v where jobs that have not ended by then run otherwise", a, b)
	}
	return nil
}

// workload is jobs, and what is done to them.
type workload struct {
	jobs    []*entity.Job
	strikes []strike
}

// strike is something that happens to a job, if it is in the state for it.
type strike struct {
	at   des.Time
	job  int
	kind int // 0 cancels, 1 kills, 2 preempts and keeps all, 3 preempts and keeps nothing
}

const nodes = 8

func draw(random *rand.Rand, count int) *workload {
	w := &workload{}
	at := des.Time(0)
	for i := range count {
		if random.IntN(4) > 0 {
			at += des.Time(random.Int64N(int64(100 * des.Second)))
		}
		j := &entity.Job{
			ID: int64(i + 1), Submit: at, User: random.Int32N(5) - 1, Group: random.Int32N(3) - 1, Queue: random.Int32N(3) - 1, Application: random.Int32N(3),
			Request: entity.Request{Nodes: 1 + random.IntN(nodes), Length: des.Time(1+random.IntN(40)) * 10 * des.Second},
		}
		switch random.IntN(20) {
		case 0:
			j.Request.Length = des.Tick
		case 1:
			j.Request.Length = 1000 * 365 * des.Day
		}
		j.Runtime = drawRuntime(random, 0, j)
		w.jobs = append(w.jobs, j)
	}
	for range count / 4 {
		w.strikes = append(w.strikes, strike{des.Time(random.Int64N(int64(2*at + 1))), random.IntN(count), random.IntN(4)})
	}
	return w
}

// drawRuntime is a runtime of at least so long: for some jobs as long as is asked for, or
// longer, mostly shorter, and of some nothing.
func drawRuntime(random *rand.Rand, least des.Time, j *entity.Job) des.Time {
	most := min(j.Request.Length, des.Hour)
	switch random.IntN(10) {
	case 0:
		return max(least, most)
	case 1:
		return max(least, most) + des.Second
	case 2:
		return least
	}
	return least + des.Time(random.Int64N(int64(max(most-least, des.Tick))))
}

// with is w where the k-th job runs for so long.
func (w *workload) with(k int, runtime des.Time) *workload {
	other := *w
	other.jobs = slices.Clone(w.jobs)
	j := *w.jobs[k]
	j.Runtime = runtime
	other.jobs[k] = &j
	return &other
}

// otherwise is w with other runtimes of jobs that had not ended before an instant, and do
// not now; which these are.
func (w *workload) otherwise(o *outcome, at des.Time, random *rand.Rand) (*workload, []int) {
	var now []int
	for k, r := range o.runs {
		if r == nil || r.State == entity.Rejected || r.Finish < at {
			continue
		}
		least := des.Time(0)
		attempts := 0
		for a := range r.Attempts() {
			if attempts++; a.Window.Start < at {
				least = at - a.Window.Start
			}
		}
		if attempts > 1 { // what it has kept is not looked into
			least = w.jobs[k].Runtime
		}
		w = w.with(k, drawRuntime(random, least, w.jobs[k]))
		now = append(now, k)
	}
	return w, now
}

// outcome is what was said in a run, and what became of the jobs.
type outcome struct {
	said []said
	runs []*entity.Run
}

// said is an answer of a predictor.
type said struct {
	at     des.Time
	what   string
	job    int64
	answer des.Time
}

func (s said) String() string {
	return fmt.Sprintf("%s of job %d at %v: %v", s.what, s.job, s.at, s.answer)
}

// difference is the first one between what was said before an instant.
func difference(a, b []said, until des.Time) (of, from said, same bool) {
	at := func(all []said, i int) said {
		if i < len(all) && all[i].at < until {
			return all[i]
		}
		return said{what: "nothing"}
	}
	for i := 0; ; i++ {
		x, y := at(a, i), at(b, i)
		if x != y {
			return x, y, false
		}
		if x.what == "nothing" {
			return x, y, true
		}
	}
}

func (w *workload) run(begin func([]*entity.Job) entity.Predictor) (o *outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panics: %v\n%s", p, debug.Stack())
		}
	}()
	o = &outcome{runs: make([]*entity.Run, len(w.jobs))}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(nodes), backfill.EASY{Candidates: backfill.ShortestFirst}, o)
	meta.Pass = entity.PassEvent
	own := begin(w.jobs)
	l := &listening{Predictor: own, sim: sim, to: o}
	meta.Predictor = l
	if c, corrects := own.(entity.Corrector); corrects {
		meta.Corrector = &correcting{c, l, map[int64]int{}}
	}
	for _, s := range w.strikes {
		sim.At(s.at, 0, hit{s, meta, o}, 0)
	}
	meta.SubmitAll(slices.Values(w.jobs))
	err = sim.Run(context.Background())
	var panicked *des.PanicError
	if errors.As(err, &panicked) {
		err = fmt.Errorf("it panics: %w\n%s", err, panicked.Stack)
	}
	if l.wrong != nil {
		err = l.wrong
	}
	return o, err
}

// Observe keeps the runs of the jobs.
func (o *outcome) Observe(e entity.JobEvent) { o.runs[e.Run.ID-1] = e.Run }

// listening writes down what a predictor says.
type listening struct {
	entity.Predictor
	sim   *des.Simulator
	to    *outcome
	wrong error
}

// Attach is for predictors that have it.
func (l *listening) Attach(m *entity.Metascheduler) {
	if a, ok := l.Predictor.(entity.Attacher); ok {
		a.Attach(m)
	}
}

func (l *listening) Predict(j entity.Known) des.Time {
	return l.heard("the prediction", j, l.Predictor.Predict(j))
}

func (l *listening) heard(what string, j entity.Known, answer des.Time) des.Time {
	s := said{j.Now(), what, j.ID(), answer}
	l.to.said = append(l.to.said, s)
	if answer >= des.Forever || answer < -des.Forever/2 {
		l.fail(fmt.Errorf("no time: %v", s))
	}
	return answer
}

func (l *listening) fail(err error) {
	if l.wrong == nil {
		l.wrong = err
		l.sim.Fail(err)
	}
}

// correcting writes down how a predictor corrects itself.
type correcting struct {
	entity.Corrector
	*listening
	times map[int64]int
}

const mostCorrections = 1000

func (c *correcting) Name() string { return c.Corrector.Name() }

func (c *correcting) Correct(j entity.Known) des.Time {
	if c.times[j.ID()]++; c.times[j.ID()] > mostCorrections {
		c.fail(fmt.Errorf("job %d is corrected more than %d times", j.ID(), mostCorrections))
	}
	return c.heard("the correction", j, c.Corrector.Correct(j))
}

// hit is a strike as it happens.
type hit struct {
	strike
	meta *entity.Metascheduler
	o    *outcome
}

func (h hit) Handle(*des.Simulator, des.Event) {
	r := h.o.runs[h.job]
	switch {
	case r == nil:
	case h.kind == 0:
		h.meta.Cancel(r, "its user has cancelled it")
	case h.kind == 1:
		h.meta.Kill(r, "somebody has killed it")
	case h.kind == 2:
		h.meta.Preempt(r, des.Forever)
	default:
		h.meta.Preempt(r, 0)
	}
}
