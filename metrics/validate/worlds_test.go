package validate_test

// Worlds in which more happens than jobs that come and end: users cancel,
// operators kill, jobs are preempted with some of their work kept, processors
// leave and come back, advance reservations come in between. Whatever happens,
// the schedule is valid; and where an event is bent on its way to the validator,
// that is found.

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// world is a run with a validator.
type world struct {
	draw      func(low, high int, what string) int
	sim       *des.Simulator
	meta      *entity.Metascheduler
	validator *validate.Validator
	runs      []*entity.Run
	bookings  []flow.Booking
	holds     []*entity.Hold
	nodes     []*entity.Node // nil: counted processors
	size      int
	calm      bool                      // nothing is withheld or booked
	rich      bool                      // checkpoints and set-up, and what is withheld lies ahead or has no end
	back      map[*entity.Hold]des.Time // when holds were dropped
	places    map[*entity.Hold][]procset.Range
	happened  map[string]int
}

func (w *world) seconds(low, high int, what string) des.Time {
	return des.Time(w.draw(low, high, what)) * des.Second
}

// plan draws processors or named nodes.
func (w *world) plan(t require.TestingT, named bool) entity.Plan {
	w.size = w.draw(1, 8, "size")
	if !named {
		return plan.NewCluster(w.size)
	}
	for id := range w.size {
		w.nodes = append(w.nodes, &entity.Node{ID: id, Perf: float64(w.draw(2, 12, "performance")) / 4})
	}
	domain, err := plan.NewDomain(w.nodes, window.AMP{})
	require.NoError(t, err)
	return domain
}

// populate draws jobs, and what happens to them.
func (w *world) populate() {
	phases := []des.Phase{entity.PhaseEnd - 5, entity.PhaseChange, entity.PhaseArrival + 1, entity.PhaseStart + 1}
	var at des.Time
	for id := range w.draw(1, 25, "jobs") {
		at += w.seconds(0, 8, "gap")
		r := w.meta.Submit(w.job(int64(id), at))
		w.runs = append(w.runs, r)
		if w.calm || w.nodes != nil || len(r.Shapes) == 0 {
			continue
		}
		for n := range 4 - w.draw(0, 4, "resizes that do not come") { // at a time at which it may well run
			w.sim.At(at+w.seconds(1, 15*(n+1), "later"), phases[w.draw(0, len(phases)-1, "phase")], des.Func(func(*des.Simulator, des.Event) {
				if w.resize(r) {
					w.happened["resize"]++
				}
			}), 0)
		}
	}
	for range w.draw(0, 24, "incidents") {
		incident := incidents[w.draw(0, len(incidents)-1, "incident")]
		if w.calm && incident.uncalm {
			continue
		}
		phase := phases[w.draw(0, len(phases)-1, "phase")]
		w.sim.At(w.seconds(0, 200, "when"), phase, des.Func(func(*des.Simulator, des.Event) {
			if incident.happen(w) {
				w.happened[incident.name]++
			}
		}), 0)
	}
}

func (w *world) job(id int64, at des.Time) *entity.Job {
	j := &entity.Job{
		ID: id, Submit: at, Runtime: w.seconds(0, 40, "runtime"), User: -1,
		Request: entity.Request{Nodes: w.draw(1, w.size, "nodes"), Length: w.seconds(1, 40, "estimate")},
	}
	for nodes := range w.draw(0, 1, "moldable") * (w.size - w.draw(0, w.size, "shapes that it lacks")) {
		if nodes+1 != j.Request.Nodes {
			j.Shapes = append(j.Shapes, entity.Shape{Nodes: nodes + 1, Runtime: w.seconds(0, 40, "runtime"), Length: w.seconds(1, 40, "estimate")})
		}
	}
	return j
}

// one is one of the runs in a state of those given, or nil.
func (w *world) one(states ...entity.RunState) *entity.Run {
	of := slices.DeleteFunc(slices.Clone(w.runs), func(r *entity.Run) bool { return !slices.Contains(states, r.State) })
	if len(of) == 0 {
		return nil
	}
	return of[w.draw(0, len(of)-1, "which")]
}

// incidents are what may happen. Each reports whether it did.
var incidents = []struct {
	name   string
	uncalm bool // takes what may be held for the head of the queue
	happen func(*world) bool
}{
	{"resize", true, func(w *world) bool {
		r := w.one(entity.Running)
		return r != nil && w.resize(r)
	}},
	{"kill", false, func(w *world) bool {
		r := w.one(entity.Running)
		return r != nil && w.meta.Kill(r, "an operator")
	}},
	{"preempt", false, func(w *world) bool {
		keep := []des.Time{0, des.Forever, w.seconds(0, 20, "keep")}[w.draw(0, 2, "kept")]
		r := w.one(entity.Running)
		if r != nil && w.rich && w.draw(0, 1, "from its checkpoint") == 1 {
			keep = r.Saved()
		}
		if r == nil || !w.meta.Preempt(r, keep) {
			return false
		}
		if w.rich {
			w.meta.SetUp(r, w.seconds(0, 5, "set-up"))
		}
		return true
	}},
	{"resize", false, func(w *world) bool {
		if w.validator.Head || w.validator.First {
			return false // one that is to run for longer than was planned moves others
		}
		from, cost := w.draw(0, w.size-1, "nodes"), w.seconds(0, 3, "cost")
		for _, r := range w.runs {
			before := len(r.Earlier())
			for i := range w.size {
				if r.State == entity.Running && w.meta.Resize(r, (from+i)%w.size+1, cost) == nil && len(r.Earlier()) > before {
					return true
				}
			}
		}
		return false
	}},
	{"cancel", false, func(w *world) bool {
		r := w.one(entity.Created, entity.Waiting, entity.Reserved)
		return r != nil && w.meta.Cancel(r, "its user")
	}},
	{"withhold", true, func(w *world) bool {
		now := w.sim.Now()
		out := entity.Window{Start: now, End: now + w.seconds(1, 60, "for"), Nodes: w.draw(1, w.size, "out")}
		if w.rich {
			ahead := w.seconds(0, 30, "ahead") * des.Time(w.draw(0, 1, "it is known before"))
			out.Start, out.End = out.Start+ahead, out.End+ahead
			if w.draw(0, 3, "endless") == 0 {
				out.End = des.Forever
			}
		}
		var place []procset.Range
		if w.nodes == nil && w.meta.Placer != nil && out.Start == now && w.rich {
			first := w.draw(0, w.size-out.Nodes, "first")
			place = []procset.Range{{First: int32(first), Last: int32(first + out.Nodes - 1)}}
		}
		first := w.draw(0, w.size-out.Nodes, "first")
		where := entity.Where{Set: place}
		if w.nodes != nil {
			where.Set = []procset.Range{{First: int32(first), Last: int32(first + out.Nodes - 1)}}
		} else if place == nil {
			where.Count = out.Nodes
		}
		if w.rich && w.draw(0, 1, "who is in the way yields") == 1 {
			for _, r := range w.meta.InTheWay(where, out.Start, out.End) {
				_ = r.Booked || w.meta.Preempt(r, r.Saved()) || w.meta.Withdraw(r)
			}
		}
		hold, err := w.meta.Withhold(where, out.Start, out.End)
		if err == nil {
			w.holds = append(w.holds, hold)
			w.places[hold] = place
		}
		return err == nil
	}},
	{"drop", true, func(w *world) bool {
		if len(w.holds) == 0 {
			return false
		}
		w.drop(w.holds[w.draw(0, len(w.holds)-1, "hold")])
		return true
	}},
	{"book", true, func(w *world) bool {
		now := w.sim.Now()
		j := w.job(int64(1000+len(w.runs)), now)
		if w.meta.Overrun == entity.OverrunRaise {
			j.Request.Length = max(j.Request.Length, j.Runtime) // who books says how long
		}
		k := flow.Booking{Job: j, Start: now + w.seconds(0, 40, "ahead")}
		r := flow.NewBookings(w.meta).Book(k)
		w.bookings = append(w.bookings, k)
		w.runs = append(w.runs, r)
		return r.State != entity.Rejected
	}},
}

// resize has r, if it runs, go on in another of its shapes, if there is room for any.
func (w *world) resize(r *entity.Run) bool {
	cost, up := w.seconds(0, 3, "cost"), w.draw(0, 1, "to fewer processors") == 0
	for _, s := range r.Job.Shapes {
		if had := r.Reservation.Window.Nodes; s.Nodes != had && s.Nodes > had == up && w.meta.Resize(r, s.Nodes, cost) == nil {
			return true
		}
	}
	return false
}

func (w *world) drop(h *entity.Hold) {
	h.Drop()
	if _, again := w.back[h]; !again {
		w.back[h] = w.sim.Now()
	}
}

// newWorld draws a world; between says what stands between the metascheduler and
// the validator. With others that observe it, it is a rich one.
func newWorld(t require.TestingT, draw func(low, high int, what string) int, between func(*validate.Validator) entity.Observer, others ...entity.Observer) *world {
	w := &world{draw: draw, sim: des.New(des.Config{}), validator: &validate.Validator{}, happened: map[string]int{}, back: map[*entity.Hold]des.Time{}, places: map[*entity.Hold][]procset.Range{}, rich: others != nil}
	named := draw(0, 1, "named") == 1
	policy := policies[draw(0, len(policies)-1, "policy")]
	if !w.rich { // what is preempted comes back with more to do than was planned
		w.validator.Promises = policy.promises
	}
	if w.calm = draw(0, 1, "calm") == 1; !w.calm {
		w.validator.Head = false // what is withheld, or booked, delays the head
	}
	w.meta = entity.NewMetascheduler(w.sim, w.plan(t, named), policy.policy, append([]entity.Observer{between(w.validator)}, others...)...)
	w.meta.Pass = entity.Pass(draw(0, 1, "pass"))
	w.meta.Overrun = []entity.Overrun{entity.OverrunKill, entity.OverrunExtend, entity.OverrunRaise}[draw(0, 2, "overrun")]
	if draw(0, 2, "predictions") > 0 {
		w.meta.Predictor = &guesses{random: rand.New(rand.NewPCG(uint64(draw(0, 1<<20, "guesses")), 0)), meta: w.meta}
	}
	if !named && draw(0, 2, "places") > 0 {
		w.meta.Placer = entity.LowestFirst{}
	}
	if w.rich {
		w.meta.Checkpoints = entity.Checkpoints{Interval: w.seconds(0, 10, "interval"), Cost: w.seconds(0, 3, "cost")}
		w.sim.At(300*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			for _, h := range w.holds { // some have no end
				w.drop(h)
			}
		}), 0)
	}
	w.populate()
	return w
}

// guesses predicts and corrects anyhow, and may predict jobs that wait anew.
type guesses struct {
	random *rand.Rand
	meta   *entity.Metascheduler
	jobs   []entity.Known
}

func (*guesses) Name() string { return "guesses" }

func (g *guesses) Predict(entity.Known) des.Time {
	return des.Time(g.random.IntN(50)-3) * des.Second
}

func (g *guesses) Correct(j entity.Known) des.Time {
	return j.Prediction() + des.Time(g.random.IntN(12)-1)*des.Second
}

func (g *guesses) Observe(what entity.JobEventKind, j entity.Known) {
	if what == entity.JobSubmitted {
		g.jobs = append(g.jobs, j)
	}
	if g.random.IntN(8) == 0 {
		g.meta.PredictAgain(g.jobs[g.random.IntN(len(g.jobs))])
	}
}

// run carries the world out. What incidents draw as they happen is drawn by handlers: with the
// panic by which rapid ends a trial that runs out of numbers, rapid can make a failure smaller.
func (w *world) run(t require.TestingT) {
	err := w.sim.Run(context.Background())
	var panicked *des.PanicError
	if errors.As(err, &panicked) {
		panic(panicked.Value)
	}
	require.NoError(t, err)
}

func unbent(v *validate.Validator) entity.Observer { return v }

func TestWhateverHappensTheScheduleIsValid(t *testing.T) {
	happened := map[string]int{}
	for range 40 {
		rapid.Check(t, func(t *rapid.T) {
			draw := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
			w := newWorld(t, draw, unbent)
			w.run(t)
			report := w.validator.Report(true)
			require.NoError(t, report.Err(), "%v", report)
			for name, n := range w.happened {
				happened[name] += n
			}
		})
	}
	for _, incident := range incidents {
		often(t, happened[incident.name], 20, incident.name)
	}
}

// often demands that something has happened more than least times; not under -short,
// where rapid draws a fifth of the worlds.
func often(t *testing.T, times, least int, what string) {
	if !testing.Short() {
		require.Greater(t, times, least, "too seldom to test anything: %s", what)
	}
}

// bend is a fault in what the validator is told.
type bend struct {
	name string
	kind validate.Kind // what is found
	// can reports whether the fault can be put into e, or, with instant, into the
	// end of the instant of e.
	can     func(b *bender, e entity.JobEvent) bool
	instant bool
	// bend puts it in; what it returns undoes it after the validator has looked.
	bend func(b *bender, e *entity.JobEvent) (undo func())
}

// bender stands between a metascheduler and a validator, and bends one of the
// events that can be bent.
type bender struct {
	bend
	v    *validate.Validator
	skip int // of the events that can be bent
	done bool

	running []*entity.Run // as the metascheduler told
	last    entity.JobEvent
	late    *entity.JobEvent // held back
}

func (b *bender) Attach(m *entity.Metascheduler) { b.v.Attach(m) }

func (b *bender) Observe(e entity.JobEvent) {
	if e.Time > b.last.Time {
		b.deliverLate()
	}
	b.running = slices.DeleteFunc(b.running, func(r *entity.Run) bool { return r == e.Run })
	if e.Kind == entity.JobStarted {
		b.running = append(b.running, e.Run)
	}
	b.last = e
	if !b.instant {
		defer b.perhaps(&e)()
	}
	if b.late == nil || *b.late != e {
		b.v.Observe(e)
	}
}

func (b *bender) InstantOver(at des.Time) {
	if b.instant {
		defer b.perhaps(&b.last)()
	}
	b.v.InstantOver(at)
}

// perhaps bends e if its turn has come.
func (b *bender) perhaps(e *entity.JobEvent) (undo func()) {
	if b.done || !b.can(b, *e) {
		return func() {}
	}
	if b.skip--; b.skip >= 0 {
		return func() {}
	}
	b.done = true
	return b.bend.bend(b, e)
}

// deliverLate tells what was held back, a tick late.
func (b *bender) deliverLate() {
	if b.late != nil {
		late := *b.late
		late.Time += des.Tick
		b.late = nil
		b.v.Observe(late)
	}
}

// thief is a run that started at the instant that is over, and victim another one
// that runs; both have processors. They are nil where there are none such.
func (b *bender) thief() (thief, victim *entity.Run) {
	for _, r := range b.running {
		for _, other := range b.running {
			if other != r && r.Start == b.last.Time && len(r.Place) > 0 && len(other.Place) > 0 {
				return r, other
			}
		}
	}
	return nil, nil
}

// placed changes where a run of the latest instant is.
func placed(change func(thief, victim *entity.Run) []procset.Range) func(*bender, *entity.JobEvent) func() {
	return func(b *bender, _ *entity.JobEvent) func() {
		thief, victim := b.thief()
		place := thief.Place
		thief.Place = change(thief, victim)
		return func() { thief.Place = place }
	}
}

func is(kind entity.JobEventKind) func(*bender, entity.JobEvent) bool {
	return func(_ *bender, e entity.JobEvent) bool { return e.Kind == kind }
}

// kept adds to what a preempted job has kept.
func kept(attempt, run des.Time) func(*bender, *entity.JobEvent) func() {
	return func(_ *bender, e *entity.JobEvent) func() {
		r := e.Run
		a := &r.Earlier()[len(r.Earlier())-1]
		a.Kept += attempt
		r.Restore(r.Earlier(), r.Done()+run, r.Ends())
		return func() {
			a.Kept -= attempt
			r.Restore(r.Earlier(), r.Done()-run, r.Ends())
		}
	}
}

func nothing() {}

var bends = []bend{
	{"a start earlier", validate.OutOfPlace, is(entity.JobStarted), false, func(_ *bender, e *entity.JobEvent) func() {
		r := e.Run
		r.Start--
		return func() { r.Start++ }
	}},
	{"a start before the submission", validate.TooEarly, is(entity.JobStarted), false, func(_ *bender, e *entity.JobEvent) func() {
		j, submit := e.Run.Job, e.Run.Submit
		j.Submit = e.Time + des.Tick
		return func() { j.Submit = submit }
	}},
	{"a moldable job in no shape of its own", validate.Unmet, func(_ *bender, e entity.JobEvent) bool {
		return e.Kind == entity.JobStarted && e.Run.Request.Nodes != e.Run.Job.Request.Nodes && len(e.Run.Shapes) > 0
	}, false, func(_ *bender, e *entity.JobEvent) func() {
		r := e.Run
		r.Runtime++
		return func() { r.Runtime-- }
	}},
	{"an end later", validate.WrongRunTime, is(entity.JobFinished), false, func(b *bender, e *entity.JobEvent) func() {
		late := *e
		b.late = &late
		return nothing
	}},
	{"an end as a kill at the estimate", validate.WrongRunTime, is(entity.JobFinished), false, func(_ *bender, e *entity.JobEvent) func() {
		r := e.Run
		e.Kind, r.Reason = entity.JobKilled, entity.ReasonEstimate
		return func() { r.Reason = "" }
	}},
	{"a job that is killed and said to have finished", validate.WrongRunTime, func(_ *bender, e entity.JobEvent) bool {
		return e.Kind == entity.JobKilled && e.Time-e.Run.Start < e.Run.Remaining() && e.Run.Reservation.Window.Tasks == nil
	}, false, func(_ *bender, e *entity.JobEvent) func() {
		e.Kind = entity.JobFinished
		return nothing
	}},
	{"two jobs on one processor", validate.TwoJobsOnOne, func(b *bender, _ entity.JobEvent) bool { r, _ := b.thief(); return r != nil }, true,
		placed(func(thief, victim *entity.Run) []procset.Range {
			first := victim.Place[0].First
			return []procset.Range{{First: first, Last: first + int32(thief.Request.Nodes) - 1}}
		})},
	{"a processor too few", validate.TwoJobsOnOne, func(b *bender, _ entity.JobEvent) bool { r, _ := b.thief(); return r != nil }, true,
		placed(func(thief, _ *entity.Run) []procset.Range {
			place := slices.Clone(thief.Place)
			place[0].First++
			if place[0].First > place[0].Last {
				place = place[1:]
			}
			return place
		})},
	{"no processors", validate.TwoJobsOnOne, func(b *bender, _ entity.JobEvent) bool { r, _ := b.thief(); return r != nil }, true,
		placed(func(_, _ *entity.Run) []procset.Range { return nil })},
	{"more kept than was run", validate.WrongRunTime, is(entity.JobRequeued), false, kept(des.Hour, des.Hour)},
	{"kept, and the attempt does not say so", validate.WrongRunTime, is(entity.JobRequeued), false, kept(0, des.Tick)},
	{"kept, and asked for again", validate.WrongRunTime, is(entity.JobRequeued), false, func(_ *bender, e *entity.JobEvent) func() {
		r := e.Run
		r.Request.Length++
		return func() { r.Request.Length-- }
	}},
	{"a preemption of which no attempt tells", validate.OutOfPlace, is(entity.JobRequeued), false, func(_ *bender, e *entity.JobEvent) func() {
		r, all := e.Run, e.Run.Earlier()
		r.Restore(all[:len(all)-1], r.Done(), r.Ends())
		return func() { r.Restore(all, r.Done(), r.Ends()) }
	}},
	{"a submission that is lost", validate.OutOfPlace, is(entity.JobSubmitted), false, func(_ *bender, e *entity.JobEvent) func() {
		e.Kind = entity.JobWithdrawn
		return nothing
	}},
	{"an advance reservation at another time", validate.PromiseBroken, func(_ *bender, e entity.JobEvent) bool {
		return e.Kind == entity.JobStarted && e.Run.Booked
	}, false, func(b *bender, e *entity.JobEvent) func() {
		b.v.Observe(entity.JobEvent{Time: e.Time, Kind: entity.JobPromised, Run: e.Run, Start: e.Time + des.Tick})
		return nothing
	}},
}

func TestWhatIsBentIsFound(t *testing.T) {
	for i, of := range bends {
		t.Run(of.name, func(t *testing.T) {
			bent := 0
			for seed := range uint64(400) {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				b := &bender{bend: of, skip: random.IntN(3)}
				w := newWorld(t, func(low, high int, _ string) int { return low + random.IntN(high-low+1) },
					func(v *validate.Validator) entity.Observer { b.v = v; return b })
				require.NoError(t, w.sim.Run(context.Background()))
				b.deliverLate()
				report := w.validator.Report(false)
				if !b.done {
					require.NoError(t, report.Err(), "seed %d: nothing was bent", seed)
					continue
				}
				bent++
				found := slices.ContainsFunc(report.Violations, func(v validate.Violation) bool { return v.Kind == of.kind })
				require.True(t, found, "seed %d: %v", seed, report)
			}
			require.Greater(t, bent, 20, "too seldom to test anything")
		})
	}
}

// Job 1 starts, is resized and killed at one instant, and job 2 is where it was.
func TestAJobThatIsResizedAndKilledAtOnceTakesNoRoom(t *testing.T) {
	sim, v := des.New(des.Config{}), &validate.Validator{}
	m := entity.NewMetascheduler(sim, plan.NewCluster(5), backfill.FCFS{}, v)
	m.Placer = entity.LowestFirst{}
	job := func(id int64, nodes int, shapes ...entity.Shape) *entity.Run {
		return m.Submit(&entity.Job{ID: id, Runtime: des.Hour, Request: entity.Request{Nodes: nodes, Length: des.Hour}, Shapes: shapes})
	}
	first, second := job(1, 4, entity.Shape{Nodes: 1, Length: 4 * des.Hour, Runtime: 4 * des.Hour}), job(2, 1)
	sim.At(0, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) {
		require.NoError(t, m.Resize(first, 1, 0))
		require.True(t, m.Kill(first, "an operator"))
	}), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []procset.Range{{First: 0, Last: 0}}, second.Place)
	require.NoError(t, v.Report(true).Err())
}

// misplaced has the validator be told of no place of a run at the end of its instant.
type misplaced struct {
	*validate.Validator
	run *entity.Run
	at  des.Time
}

func (m *misplaced) InstantOver(at des.Time) {
	if at == m.at {
		place := m.run.Place
		m.run.Place = nil
		defer func() { m.run.Place = place }()
	}
	m.Validator.InstantOver(at)
}

// Job 2 starts and is killed at 20. Whoever does both at the instant of a resize may have
// been anywhere; the resize at 10 says nothing of that.
func TestAResizeExcusesWhatHappensAtItsInstantAlone(t *testing.T) {
	for resized, violations := range map[des.Time]int{10: 1, 20: 0} {
		sim, v := des.New(des.Config{}), &misplaced{Validator: &validate.Validator{}, at: 20 * des.Second}
		m := entity.NewMetascheduler(sim, plan.NewCluster(5), backfill.FCFS{}, v)
		m.Placer = entity.LowestFirst{}
		first := m.Submit(&entity.Job{
			ID: 1, Runtime: des.Hour, Request: entity.Request{Nodes: 2, Length: des.Hour},
			Shapes: []entity.Shape{{Nodes: 1, Length: 2 * des.Hour, Runtime: 2 * des.Hour}},
		})
		v.run = m.Submit(&entity.Job{ID: 2, Submit: 20 * des.Second, Runtime: des.Hour, Request: entity.Request{Nodes: 1, Length: des.Hour}})
		sim.At(resized*des.Second, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) { require.NoError(t, m.Resize(first, 1, 0)) }), 0)
		sim.At(20*des.Second, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) { require.True(t, m.Kill(v.run, "an operator")) }), 0)
		require.NoError(t, sim.Run(context.Background()))
		require.Len(t, v.Report(true).Violations, violations, "resized at %d", int64(resized))
	}
}
