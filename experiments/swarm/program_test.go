package swarm

// Worlds that are programs: a metascheduler with an observer that meddles by all of its verbs,
// and with a policy within another one, which meddles by those of a round.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/predict"
)

// meddling is a run with somebody who meddles.
type meddling struct {
	*world
	m     *entity.Metascheduler
	runs  []*entity.Run
	holds []*entity.Hold
	next  int64  // number of the next job that is submitted meanwhile
	step  int    // of what happens to jobs
	left  int    // how often there will be meddling
	acted uint64 // the event of the simulation at which there was
	size  int
	last  des.Time
	ended map[*entity.Run]int
	wrong error
	story bytes.Buffer
}

// Observe implements entity.Observer.
func (c *meddling) Observe(e entity.JobEvent) {
	fmt.Fprintf(&c.story, "%v %v %d\n", e.Time, e.Kind, e.Run.ID)
	if e.Time < c.last {
		c.wrong = errors.Join(c.wrong, fmt.Errorf("time goes from %v to %v", c.last, e.Time))
	}
	c.last = e.Time
	if c.ended[e.Run] > 0 {
		c.wrong = errors.Join(c.wrong, fmt.Errorf("%v is %v, and was over", e.Run, e.Kind))
	}
	switch e.Kind {
	case entity.JobSubmitted:
		c.runs = append(c.runs, e.Run)
	case entity.JobFinished, entity.JobKilled, entity.JobRejected:
		c.ended[e.Run]++
	}
	c.meddle(e.Time, e.Run)
}

// meddle has each verb that is on act by chance.
func (c *meddling) meddle(now des.Time, at *entity.Run) {
	c.step++
	for i := range verbs {
		v := &verbs[i]
		if !c.verbs[v.name] || c.left == 0 || c.acted == c.m.Simulator().Executed() && !c.has("many-verbs") {
			continue
		}
		r := stream(c.seed, fmt.Sprintf("%s %d", v.name, c.step))
		if !r.chance(20) {
			continue
		}
		c.left--
		c.acted = c.m.Simulator().Executed()
		run := at
		if len(c.runs) > 0 && r.chance(50) {
			run = c.runs[r.IntN(len(c.runs))]
		}
		fmt.Fprintf(&c.story, "%v %s %d\n", now, v.name, run.ID)
		v.do(c, r, now, run)
	}
}

func seconds(r rnd, lo, hi int) des.Time { return des.Time(r.among(lo, hi)) * des.Second }

// window is one of counted processors, or of nodes.
func (c *meddling) window(r rnd, now des.Time) entity.Window {
	w := entity.Window{Start: now + seconds(r, 0, 20), Nodes: r.among(1, c.size)}
	w.End = w.Start + seconds(r, 1, 40)
	for i := 0; entity.Named(c.m.Plan()) && i < w.Nodes; i++ {
		w.Tasks = append(w.Tasks, entity.Task{Node: c.m.Plan().Node(i), End: w.End})
	}
	return w
}

// where is what w is about, for Withhold.
func where(w entity.Window) entity.Where {
	if w.Tasks != nil {
		return entity.Where{Set: []procset.Range{{First: 0, Last: int32(w.Nodes - 1)}}}
	}
	return entity.Where{Count: w.Nodes}
}

func (c *meddling) job(r rnd, at des.Time) *entity.Job {
	c.next++
	return &entity.Job{ID: c.next, Submit: at, Runtime: seconds(r, 0, 50), Request: entity.Request{Nodes: r.among(1, c.size), Length: seconds(r, 1, 60)}, User: -1, Group: -1, Queue: -1}
}

// verbs are what an observer may ask of the metascheduler: a verb that is added there is added
// here. The features of programs are called by them.
var verbs = []struct {
	name string
	do   func(c *meddling, r rnd, now des.Time, run *entity.Run)
}{
	{"cancel", func(c *meddling, r rnd, _ des.Time, run *entity.Run) { c.m.Cancel(run, "meddling") }},
	{"kill", func(c *meddling, r rnd, _ des.Time, run *entity.Run) { c.m.Kill(run, "meddling") }},
	{"stop", func(c *meddling, r rnd, _ des.Time, run *entity.Run) {
		c.m.Preempt(run, []des.Time{0, des.Forever, run.Saved(), 3 * des.Second}[r.IntN(4)])
	}},
	{"withdraw", func(c *meddling, r rnd, _ des.Time, run *entity.Run) { c.m.Withdraw(run) }},
	{"wake-at", func(c *meddling, r rnd, now des.Time, _ *entity.Run) { c.m.WakeAt(now + seconds(r, 0, 20)) }},
	{"submit", func(c *meddling, r rnd, now des.Time, _ *entity.Run) {
		c.m.Submit(c.job(r, now+[]des.Time{0, seconds(r, 0, 20)}[r.IntN(2)]))
	}},
	{"refuse", func(c *meddling, r rnd, now des.Time, _ *entity.Run) { c.m.Refuse(c.job(r, now), "meddling") }},
	{"withhold", func(c *meddling, r rnd, now des.Time, _ *entity.Run) {
		w := c.window(r, now)
		if h, err := c.m.Withhold(where(w), w.Start, w.End); err == nil {
			c.holds = append(c.holds, h)
		}
	}},
	{"tentative", func(c *meddling, r rnd, now des.Time, _ *entity.Run) {
		w, j := c.window(r, now), c.job(r, now)
		j.Request.Nodes, j.Request.Length = w.Nodes, w.End-w.Start
		if h, err := c.m.Tentative(j, w); err == nil {
			c.holds = append(c.holds, h)
		}
	}},
	{"confirm", func(c *meddling, r rnd, _ des.Time, _ *entity.Run) {
		if len(c.holds) > 0 {
			_, _ = c.holds[r.IntN(len(c.holds))].Confirm() // it is told what cannot be confirmed
		}
	}},
	{"drop", func(c *meddling, r rnd, _ des.Time, _ *entity.Run) {
		if len(c.holds) > 0 {
			c.holds[r.IntN(len(c.holds))].Drop()
		}
	}},
	{"changed", func(c *meddling, r rnd, now des.Time, _ *entity.Run) { c.m.Changed(now, now+seconds(r, 0, 100)) }},
	{"resize", func(c *meddling, r rnd, _ des.Time, run *entity.Run) {
		_ = c.m.Resize(run, r.among(1, c.size), seconds(r, 0, 5)) // most jobs cannot be
	}},
	{"set-up", func(c *meddling, r rnd, _ des.Time, run *entity.Run) { c.m.SetUp(run, seconds(r, 0, 5)) }},
}

// inner are the verbs of a round, for a policy that meddles.
var inner = []struct {
	name string
	do   func(r rnd, round *entity.Round, j *entity.Run)
}{
	{"reserve", func(r rnd, round *entity.Round, j *entity.Run) {
		// Those that decide afterwards expect nothing but jobs that wait, and those that run.
		if w, ok := round.Plan.Find(j.Request, round.Now, round.Now); ok {
			round.Reserve(j, w)
		}
	}},
	{"drop-holds", func(r rnd, round *entity.Round, j *entity.Run) { round.DropHolds() }},
	{"reject", func(r rnd, round *entity.Round, j *entity.Run) { round.Reject(j, "meddling") }},
	{"round-withdraw", func(r rnd, round *entity.Round, j *entity.Run) { round.Withdraw(j) }},
	{"round-preempt", func(r rnd, round *entity.Round, j *entity.Run) {
		for running := range round.Running() {
			if running.Booked { // which nobody may stop
				continue
			}
			round.Preempt(running, []des.Time{0, des.Forever}[r.IntN(2)])
			return
		}
	}},
	{"round-wake", func(r rnd, round *entity.Round, j *entity.Run) { round.WakeAt(round.Now + des.Second) }},
	{"retry", func(r rnd, round *entity.Round, j *entity.Run) { round.Retry(j) }},
}

// within is a policy within another one, which meddles before the first decides.
type within struct {
	entity.Policy
	c *meddling
}

// Schedule implements entity.Policy.
func (p within) Schedule(round *entity.Round) {
	c := p.c
	c.step++
	for i := range inner {
		v := &inner[i]
		if !c.verbs[v.name] || c.left == 0 {
			continue
		}
		r := stream(c.seed, fmt.Sprintf("%s %d", v.name, c.step))
		if !r.chance(15) {
			continue
		}
		var j *entity.Run
		k := r.IntN(5)
		for waiting := range round.Waiting() {
			if j = waiting; k == 0 {
				break
			}
			k--
		}
		if j == nil {
			break
		}
		c.left--
		fmt.Fprintf(&c.story, "%v %s %d\n", round.Now, v.name, j.ID)
		v.do(r, round, j)
	}
	p.Policy.Schedule(round)
}

// meddle carries a program out, twice.
func (w *world) meddle() error {
	w.calls = append(w.calls, fmt.Sprintf("a program: %s on %d processors, %d jobs, %v", w.policies[len(w.policies)-1], w.procs, len(w.jobs), w.settings))
	first, err := w.runProgram()
	if err != nil {
		return err
	}
	second, err := w.runProgram()
	if err != nil {
		return err
	}
	if first != second {
		return fmt.Errorf("same: it happens otherwise the second time: %s", difference(first, second))
	}
	return nil
}

// runProgram returns all that happened.
func (w *world) runProgram() (story string, err error) {
	c := &meddling{world: w, next: 1000, left: 60, size: w.procs, ended: map[*entity.Run]int{}}
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("crash: %v", crash)
		}
	}()
	spec := w.policies[len(w.policies)-1]
	sim := des.New(des.Config{Seed: w.seed, Fingerprint: true})
	var made entity.Plan = plan.NewCluster(w.procs)
	chosen, err := tables.Policies.Parse(spec)
	if err != nil {
		return "", err
	}
	decides := chosen.Value
	if w.has("named-nodes") {
		on, err := tables.Nodes.Parse(spec)
		if err != nil {
			return "", err
		}
		decides = on.Value.Policy
		var nodes []*entity.Node
		r := stream(w.seed, "nodes")
		for i := range w.procs {
			nodes = append(nodes, &entity.Node{ID: i + 1, Perf: float64(r.among(2, 8)) / 2, Price: float64(r.among(1, 3))})
		}
		if made, err = plan.NewDomain(nodes, on.Value.Finder); err != nil {
			return "", err
		}
	}
	if slices.ContainsFunc(inner, func(v struct {
		name string
		do   func(rnd, *entity.Round, *entity.Run)
	}) bool {
		return w.verbs[v.name]
	}) {
		decides = within{decides, c}
	}
	recorder, account, valid := metrics.NewRecorder(), &metrics.CapacityAccount{}, &validate.Validator{}
	var written bytes.Buffer
	events := metrics.NewEventWriter(&written)
	observers := []entity.Observer{recorder, account, valid, events, c}
	c.m = entity.NewMetascheduler(sim, made, decides, observers...)
	c.m.LeaveWaiting = true
	if !w.has("named-nodes") {
		c.m.Placer = &entity.LowestFirst{}
	}
	if err := w.prepare(c.m); err != nil {
		return "", err
	}
	all, err := w.programJobs()
	if err != nil {
		return "", err
	}
	for _, j := range all {
		c.m.Submit(j)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = sim.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("endless: after %d events", sim.Executed())
	case err != nil:
		return "", fmt.Errorf("run: %w", err)
	case c.wrong != nil:
		return "", fmt.Errorf("once: %w", c.wrong)
	}
	if err := events.Close(); err != nil {
		return "", err
	}
	// Where an observer does several things while it is being told of one, the others hear of
	// the first when all are done: what they see then is no more what it was.
	if r := valid.Report(true); r.Total > 0 && !w.has("many-verbs") {
		return "", fmt.Errorf("valid: %.600v", r)
	}
	if err := account.Check(); err != nil {
		return "", fmt.Errorf("capacity: %w", err)
	}
	if err := c.over(recorder.Summary()); err != nil {
		return "", fmt.Errorf("once: %w", err)
	}
	c.late()
	h := fnv.New64a()
	_, _ = h.Write(written.Bytes())
	return fmt.Sprintf("%sfingerprint %x, events %x, %v", c.story.String(), sim.Fingerprint(), h.Sum64(), recorder.Summary()), nil
}

// prepare gives a metascheduler the settings of the world.
func (w *world) prepare(m *entity.Metascheduler) (err error) {
	for _, s := range w.settings {
		switch s.name {
		case "pass":
			m.Pass, err = entity.ParsePass(s.value)
		case "overrun":
			if !w.has("named-nodes") || s.value != "extend" {
				m.Overrun, err = entity.ParseOverrun(s.value)
			}
		case "wake":
			m.Wakes, err = simulation.ParseWake(s.value)
		case "victims":
			m.Checkpoints = entity.Checkpoints{Interval: 7 * des.Second, Cost: des.Second}
		}
		if err != nil {
			return err
		}
	}
	var predictor entity.Predictor
	var corrector entity.Corrector
	if text := w.get("predict"); text != "" {
		chosen, err := tables.Predictors.Parse(text)
		if err != nil {
			return err
		}
		predictor = chosen.Value
	}
	if text := w.get("correct"); text != "" {
		chosen, err := tables.Correctors.Parse(text)
		if err != nil {
			return err
		}
		corrector = chosen.Value
	}
	predict.Set(m, predictor, corrector)
	return nil
}

// programJobs are the jobs as a program makes them.
func (w *world) programJobs() (all []*entity.Job, err error) {
	moldable, err := simulation.ParseMoldable(w.get("moldable"))
	if err != nil {
		return nil, err
	}
	for _, j := range w.jobs {
		made := &entity.Job{
			ID: int64(j.id), Submit: des.Time(j.submit) * des.Second, Runtime: des.Time(j.runtime) * des.Second, User: int32(j.user), Group: int32(j.group), Queue: int32(j.queue),
			Request: entity.Request{Nodes: min(j.procs, w.procs), Length: des.Time(j.estimate) * des.Second},
		}
		if moldable != nil {
			for _, s := range moldable.Shapes(made) {
				if s.Nodes <= w.procs {
					made.Shapes = append(made.Shapes, s)
				}
			}
		}
		all = append(all, made)
	}
	return all, nil
}

// over looks at what has become of the jobs: each has ended once, in the state that was told,
// and its attempts, one after the other, kept its runtime where it finished.
func (c *meddling) over(s metrics.Summary) error {
	rejected, killed, waiting := 0, 0, 0
	for _, r := range c.runs {
		n := c.ended[r]
		if (n == 0) != (r.State == entity.Waiting || r.State == entity.Reserved) || n > 1 {
			return fmt.Errorf("%v is %v when all is over, and ended %d times", r, r.State, n)
		}
		switch r.State {
		case entity.Rejected:
			rejected++
		case entity.Killed:
			killed++
		case entity.Waiting, entity.Reserved:
			waiting++
		}
		free := r.Submit
		kept := des.Time(0)
		resized := false
		for a := range r.Attempts() {
			if a.Start < free || a.End < a.Start {
				return fmt.Errorf("%v: an attempt from %v to %v, after %v", r, a.Start, a.End, free)
			}
			free = a.End
			kept += a.Kept
			resized = resized || a.Window.Nodes != r.Request.Nodes
			if a.Kept > a.Work || a.Work < 0 || a.Overhead < 0 || !c.has("named-nodes") && a.Work+a.Overhead != a.End-a.Start {
				return fmt.Errorf("%v: an attempt from %v to %v worked for %v, kept %v and had %v besides", r, a.Start, a.End, a.Work, a.Kept, a.Overhead)
			}
		}
		if r.State == entity.Finished && !resized && r.Job.Shapes == nil && kept != r.Job.Runtime && len(r.Earlier()) > 0 && r.Latest().Kept > 0 {
			return fmt.Errorf("%v took %v, and its attempts kept %v", r, r.Job.Runtime, kept)
		}
	}
	if s.Rejected != rejected || s.Killed != killed || s.Jobs != len(c.runs) || s.Waiting != waiting {
		return fmt.Errorf("%d rejected, %d killed, %d waiting of %d jobs, and the summary has %d, %d, %d of %d", rejected, killed, waiting, len(c.runs), s.Rejected, s.Killed, s.Waiting, s.Jobs)
	}
	return nil
}

// late asks for all there is when all is over.
func (c *meddling) late() {
	for _, r := range slices.Clone(c.runs) {
		c.m.Cancel(r, "late")
		c.m.Kill(r, "late")
		c.m.Preempt(r, 0)
		c.m.Withdraw(r)
		c.m.SetUp(r, des.Second)
		_ = c.m.Resize(r, 1, 0) // it is over
	}
	for _, h := range c.holds {
		h.Drop()
		h.Drop()
	}
}

// programFeatures are those that programs alone have: the verbs.
func programFeatures() (all []feature) {
	add := func(name, needs string) {
		all = append(all, feature{name: name, of: program, odds: 12, needs: needs, add: func(_ rnd, w *world) {
			if w.verbs == nil {
				w.verbs = map[string]bool{}
			}
			w.verbs[name] = true
		}})
	}
	for _, v := range verbs {
		needs := ""
		if v.name == "confirm" || v.name == "drop" {
			needs = "tentative withhold"
		}
		add(v.name, strings.TrimSpace(needs))
	}
	for _, v := range inner {
		add(v.name, "")
	}
	return append(all, feature{name: "many-verbs", of: program, odds: 8, add: func(rnd, *world) {}},
		feature{name: "named-nodes", of: program, odds: 12, not: "first-spare overrun", add: func(rnd, *world) {}})
}
