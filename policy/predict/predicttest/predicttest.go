package predicttest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// Check draws a workload and tests the predictors that begin makes, each for a run of these
// jobs. It returns what they must not do, or nil where there is nothing to be said against
// them. rapid.Check calls it for many workloads, and finds a small one for a fault.
func Check(t *rapid.T, begin func(jobs []*entity.Job) entity.Predictor) error {
	return check(t, begin, draw(t), draw(t))
}

// check looks at one workload; other is run in between.
func check(t *rapid.T, begin func([]*entity.Job) entity.Predictor, w, other *workload) error {
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
	if len(first.said) == 0 {
		return nil
	}
	for range instants {
		at := rapid.SampledFrom(first.said).Draw(t, "instant of").at + des.Tick
		changed, now := w.otherwise(t, first, at)
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

const (
	nodes    = 8
	mostJobs = 60
	instants = 3 // of a workload at which the future is changed
)

func draw(t *rapid.T) *workload {
	number := func(least, most int, what string) int { return rapid.IntRange(least, most).Draw(t, what) }
	w := &workload{}
	at, count := des.Time(0), number(1, mostJobs, "jobs")
	for i := range count {
		if number(0, 3, "together") > 0 {
			at += des.Time(number(0, int(100*des.Second), "gap"))
		}
		j := &entity.Job{
			ID: int64(i + 1), Submit: at,
			User: int32(number(-1, 3, "user")), Group: int32(number(-1, 1, "group")), Queue: int32(number(-1, 1, "queue")), Application: int32(number(0, 2, "application")),
			Request: entity.Request{Nodes: number(1, nodes, "nodes"), Length: des.Time(number(1, 40, "request")) * 10 * des.Second},
		}
		switch number(0, 19, "odd request") {
		case 18:
			j.Request.Length = des.Tick
		case 19:
			j.Request.Length = 1000 * 365 * des.Day
		}
		j.Runtime = drawRuntime(t, 0, j)
		w.jobs = append(w.jobs, j)
	}
	for range number(0, count/4, "strikes") {
		w.strikes = append(w.strikes, strike{des.Time(number(0, int(2*at), "strike at")), number(0, count-1, "struck"), number(0, 3, "kind")})
	}
	return w
}

// drawRuntime is a runtime of at least so long: for some jobs as long as is asked for, or
// longer, mostly shorter, and of some nothing.
func drawRuntime(t *rapid.T, least des.Time, j *entity.Job) des.Time {
	most := min(j.Request.Length, des.Hour)
	switch rapid.IntRange(0, 9).Draw(t, "runtime's kind") {
	case 7:
		return max(least, most)
	case 8:
		return max(least, most) + des.Second
	case 9:
		return least
	}
	return least + des.Time(rapid.Int64Range(0, int64(max(most-least, des.Tick))-1).Draw(t, "runtime"))
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
func (w *workload) otherwise(t *rapid.T, o *outcome, at des.Time) (*workload, []int) {
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
		w = w.with(k, drawRuntime(t, least, w.jobs[k]))
		now = append(now, k)
	}
	return w, now
}

// outcome is the predictions that were made in a run, and the runs of the jobs at its end.
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
