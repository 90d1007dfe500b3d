package cyclic_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

// Whole simulations by the cycle, held against what must always be true.

// witness sees a run as an observer does, apart from plan and policy.
type witness struct {
	t       require.TestingT
	ledger  *flow.Ledger
	until   map[*entity.Node]des.Time // what really runs there
	holder  map[*entity.Node]*entity.Run
	first   map[*entity.Run]des.Time // the first start promised
	last    map[*entity.Run]entity.Window
	planned map[*entity.Run]entity.Window // by the planner, at last
	log     []string
	paid    map[*entity.Run]flow.Money
	earned  map[*entity.Run]flow.Money
}

func newWitness(t require.TestingT) *witness {
	w := &witness{
		t: t, ledger: &flow.Ledger{}, until: map[*entity.Node]des.Time{}, holder: map[*entity.Node]*entity.Run{},
		first: map[*entity.Run]des.Time{}, last: map[*entity.Run]entity.Window{},
		planned: map[*entity.Run]entity.Window{},
		paid:    map[*entity.Run]flow.Money{}, earned: map[*entity.Run]flow.Money{},
	}
	w.ledger.Tell = func(x flow.Transfer) {
		require.Greater(t, x.Amount, flow.Money(0))
		require.NotEqual(t, x.From.Kind, x.To.Kind)
		switch {
		case x.From.Kind == flow.UserAccount:
			w.paid[x.Run] += x.Amount
		case x.To.Kind == flow.UserAccount:
			w.paid[x.Run] -= x.Amount
		default:
			w.earned[x.Run] += x.Amount
		}
	}
	return w
}

func (w *witness) Observe(e entity.JobEvent) {
	w.ledger.Observe(e)
	require.NoError(w.t, w.ledger.Check())
	j := e.Run
	w.log = append(w.log, fmt.Sprintln(e.Time, j, e.Kind, e.Start))
	switch e.Kind {
	case entity.JobPromised:
		if _, known := w.first[j]; !known {
			w.first[j] = e.Start
		}
	case entity.JobRequeued:
		for n, holder := range w.holder {
			if holder == j {
				w.until[n] = min(w.until[n], e.Time)
			}
		}
	case entity.JobStarted:
		win, r := j.Reservation.Window, j.Request
		w.last[j] = win
		require.Equal(w.t, e.Time, win.Start)
		require.GreaterOrEqual(w.t, e.Time, j.Submit)
		require.Len(w.t, win.Tasks, r.Nodes)
		require.LessOrEqual(w.t, win.Cost, r.BudgetLimit()*(1+1e-9))
		require.LessOrEqual(w.t, win.End, r.DeadlineLimit())
		for _, task := range win.Tasks {
			require.LessOrEqual(w.t, w.until[task.Node], e.Time, "node %d has %v and gets %v", task.Node.ID, w.holder[task.Node], j)
			require.True(w.t, task.Node.Perf >= r.MinPerf)
			reserved := task.End - win.Start
			require.GreaterOrEqual(w.t, reserved, task.Node.TaskTime(r.Length))
			real := (reserved*j.Runtime + r.Length - 1) / r.Length // rounded up
			w.until[task.Node], w.holder[task.Node] = win.Start+min(real, reserved), j
		}
	}
}

// setting is one simulation.
type setting struct {
	nodes    []entity.Node
	jobs     []entity.Job
	locals   []local
	prices   []price
	rule     flow.LocalRule
	interval des.Time
	cycle    des.Time
}

type local struct {
	node                 int
	known, start, length des.Time
}

type price struct {
	node int
	at   des.Time
	to   float64
}

// became is what became of whom.
type became map[*entity.Job]*entity.Run

func (b became) Observe(e entity.JobEvent) { b[e.Run.Job] = e.Run }

func (s setting) run(t require.TestingT, p entity.Policy) (*witness, []*entity.Run) {
	w := newWitness(t)
	if c, ok := p.(*cyclic.Policy); ok {
		c.Told = func(_ *entity.Round, batch []*entity.Run, out *cyclic.Outcome) {
			for i, j := range batch {
				if out.Jobs[i].OK {
					w.planned[j] = out.Jobs[i].Window
				}
			}
		}
	}
	var nodes []*entity.Node
	for _, n := range s.nodes {
		nodes = append(nodes, &n)
	}
	d, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	d.Interval = s.interval
	sim := des.New(des.Config{})
	runs := became{}
	meta := entity.NewMetascheduler(sim, d, p, w, runs)
	meta.Cycle, meta.LeaveWaiting = s.cycle, true
	owners := flow.NewLocalFlow(d, meta)
	owners.Rule = s.rule
	owners.Submit(func(yield func(flow.LocalJob) bool) {
		for _, l := range s.locals {
			if !yield(flow.LocalJob{Node: nodes[l.node], Known: l.known, Start: l.start, Length: l.length}) {
				return
			}
		}
	})
	prices := flow.NewPriceSchedule(d, meta)
	prices.Submit(func(yield func(flow.PriceChange) bool) {
		for _, c := range s.prices {
			if !yield(flow.PriceChange{Node: nodes[c.node], At: c.at, Price: c.to}) {
				return
			}
		}
	})
	meta.SubmitAll(func(yield func(*entity.Job) bool) {
		for i := range s.jobs {
			if !yield(&s.jobs[i]) {
				return
			}
		}
	})
	require.NoError(t, sim.Run(context.Background()))
	var jobs []*entity.Run
	for i := range s.jobs {
		jobs = append(jobs, runs[&s.jobs[i]])
	}
	waiting := 0
	for _, j := range jobs {
		switch j.State {
		case entity.Finished:
			require.Equal(t, w.earned[j], w.paid[j])
			require.InDelta(t, w.last[j].Cost, w.paid[j].Units(), 1e-5)
		case entity.Waiting:
			waiting++
			require.Zero(t, w.paid[j])
		default:
			require.Equal(t, entity.Rejected, j.State)
			require.NotEmpty(t, j.Reason)
			require.Zero(t, w.paid[j])
		}
	}
	require.Equal(t, waiting, meta.Queue().Len())
	require.Zero(t, w.ledger.Balance(flow.Account{Kind: flow.VOAccount}))
	return w, jobs
}

func drawSetting(t *rapid.T, exact bool) setting {
	s := setting{
		interval: 120 * unit, cycle: des.Time(rapid.SampledFrom([]int{40, 120}).Draw(t, "cycle")) * unit,
		rule: flow.LocalRule(rapid.IntRange(0, 1).Draw(t, "rule")),
	}
	equals := rapid.Bool().Draw(t, "equal nodes")
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		if p := float64(rapid.IntRange(1, 4).Draw(t, "performance")); equals {
			s.nodes = append(s.nodes, entity.Node{ID: i, Perf: max(1, p-2), Price: max(1, p-2)})
		} else {
			s.nodes = append(s.nodes, entity.Node{ID: i, Perf: p, Price: p * rapid.Float64Range(0.8, 1.3).Draw(t, "deviation")})
		}
	}
	wholes := func(lo, hi int, what string) des.Time { return des.Time(rapid.IntRange(lo, hi).Draw(t, what)) * unit }
	for i := range rapid.IntRange(0, 20).Draw(t, "jobs") {
		length, n := wholes(1, 80, "length"), rapid.IntRange(1, len(s.nodes)).Draw(t, "n")
		j := entity.Job{
			ID: int64(i), User: int32(i % 3), Submit: wholes(0, 300, "submit"), Runtime: length,
			Request: entity.Request{
				Nodes: n, Length: length, MinPerf: rapid.SampledFrom([]float64{0, 0, 2}).Draw(t, "least performance"),
				Budget: float64(n) * length.Seconds() * rapid.SampledFrom([]float64{0, 1.1, 1.6}).Draw(t, "wealth"),
			},
		}
		if !exact {
			j.Runtime = des.Time(float64(length) * rapid.SampledFrom([]float64{0.2, 0.5, 1}).Draw(t, "real part"))
		}
		if rapid.IntRange(0, 4).Draw(t, "has a deadline") == 0 {
			j.Request.Deadline = j.Submit + wholes(10, 200, "deadline")
		}
		s.jobs = append(s.jobs, j)
	}
	slices.SortStableFunc(s.jobs, func(a, b entity.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for range rapid.IntRange(0, 8).Draw(t, "owners' jobs") {
		start := wholes(0, 300, "start")
		s.locals = append(s.locals, local{
			rapid.IntRange(0, len(s.nodes)-1).Draw(t, "node"),
			start - min(start, wholes(0, 50, "known before")), start, wholes(1, 40, "local length"),
		})
	}
	slices.SortStableFunc(s.locals, func(a, b local) int { return cmp.Compare(a.known, b.known) })
	for range rapid.IntRange(0, 4).Draw(t, "changes of price") {
		s.prices = append(s.prices, price{rapid.IntRange(0, len(s.nodes)-1).Draw(t, "node"), wholes(0, 300, "at"), rapid.OneOf(rapid.SampledFrom([]float64{1, 2}), rapid.Float64Range(0, 8)).Draw(t, "price")})
	}
	slices.SortStableFunc(s.prices, func(a, b price) int { return cmp.Compare(a.at, b.at) })
	return s
}

func drawPolicy(t *rapid.T) *cyclic.Policy {
	p := &cyclic.Policy{
		Planner: rapid.SampledFrom([]cyclic.Planner{cyclic.CSS{}, cyclic.CSS{Shift: cyclic.ShiftEnd}, drawSlicer(t)}).Draw(t, "planner"),
		Rest:    rapid.SampledFrom([]entity.Policy{nil, nil, backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}}).Draw(t, "rest"),
		Share:   cyclic.Share{Q: rapid.SampledFrom([]float64{0, 0.3, 0.7, 1}).Draw(t, "q"), By: cyclic.Selection(rapid.IntRange(0, 2).Draw(t, "selection"))},
		Replan:  cyclic.Replan(rapid.IntRange(0, 2).Draw(t, "replan")),
		Order:   rapid.SampledFrom([]entity.Order{{}, backfill.ShortestFirst}).Draw(t, "order"),
	}
	if rapid.Bool().Draw(t, "criteria") {
		p.Criterion = func(j *entity.Run) plan.Finder {
			return []plan.Finder{nil, window.AEP{By: window.MinCost}, window.AEP{By: window.MinFinish}}[j.User]
		}
	}
	return p
}

func TestCyclesKeepNodesBudgetsAndMoneyAndLoseNobody(t *testing.T) {
	for range 20 { // times rapid's hundred
		rapid.Check(t, func(t *rapid.T) {
			drawSetting(t, false).run(t, drawPolicy(t))
		})
	}
}

func TestRunsByTheCycleRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawSetting(t, false), drawPolicy(t)
		one, _ := s.run(t, p)
		two, _ := s.run(t, p) // the same policy, for another run
		require.Equal(t, one.log, two.log)
	})
}

func TestWithExactEstimatesThePlanIsWhatHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawSetting(t, true), drawPolicy(t)
		s.rule, p.Rest = flow.LocalWaits, nil // nobody loses a reservation
		w, jobs := s.run(t, p)
		for _, j := range jobs {
			if j.State == entity.Finished {
				require.Equal(t, w.planned[j].Start, j.Start)
				require.Equal(t, w.planned[j].End, j.Finish)
			}
		}
	})
}

func TestAWholeShareByTheCycleIsTheBatchSlicer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawSetting(t, false), drawPolicy(t)
		p.Rest, p.Share.Q = backfill.EASY{}, 1
		one, _ := s.run(t, p)
		p.Rest = nil
		two, _ := s.run(t, p)
		require.Equal(t, two.log, one.log)
	})
}

func TestNoShareByTheCycleIsBackfilling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawSetting(t, false), drawPolicy(t)
		for i := range s.jobs {
			s.jobs[i].Request.Deadline = 0 // backfilling alone does not turn away who is late
		}
		p.Rest = rapid.SampledFrom([]entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}}).Draw(t, "backfilling")
		p.Share.Q = 0
		_, bsf := s.run(t, p)
		_, alone := s.run(t, p.Rest)
		for i := range bsf {
			require.Equal(t, alone[i].State, bsf[i].State)
			require.Equal(t, alone[i].Start, bsf[i].Start)
			require.Equal(t, alone[i].Finish, bsf[i].Finish)
		}
	})
}

func TestConservativeFillingNeverStartsLaterThanFirstPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawSetting(t, false), drawPolicy(t)
		s.rule = flow.LocalWaits
		p.Rest, p.Replan = backfill.Conservative{}, cyclic.ReplanNever
		w, jobs := s.run(t, p)
		for _, j := range jobs {
			if first, ok := w.first[j]; ok && j.State == entity.Finished {
				require.LessOrEqual(t, j.Start, first)
			}
		}
	})
}

func TestReplanningTakesNobodysPlanAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawSetting(t, false), drawPolicy(t)
		s.rule, s.prices, p.Rest = flow.LocalWaits, nil, nil
		for i := range s.jobs {
			s.jobs[i].Request.Deadline = 0
		}
		p.Replan = rapid.SampledFrom([]cyclic.Replan{cyclic.ReplanOnRelease, cyclic.ReplanEachCycle}).Draw(t, "replanning")
		w, jobs := s.run(t, p)
		for _, j := range jobs {
			if _, ok := w.first[j]; ok {
				require.Equal(t, entity.Finished, j.State)
			}
		}
	})
}

func TestReplanningOnReleaseUsesWhatIsGivenBack(t *testing.T) {
	s := setting{
		nodes:    []entity.Node{{ID: 1, Perf: 1, Price: 1}},
		jobs:     []entity.Job{{ID: 1, Runtime: 10 * unit, Request: entity.Request{Nodes: 1, Length: 50 * unit}}, {ID: 2, Runtime: 50 * unit, Request: entity.Request{Nodes: 1, Length: 50 * unit}}},
		interval: 120 * unit, cycle: 120 * unit,
	}
	for replan, start := range map[cyclic.Replan]des.Time{cyclic.ReplanNever: 50, cyclic.ReplanOnRelease: 10, cyclic.ReplanEachCycle: 50} {
		_, jobs := s.run(t, &cyclic.Policy{Replan: replan})
		require.Equal(t, start*unit, jobs[1].Start, "%v", replan)
	}
}

func TestReplanningGoesByTheOrderOfPriority(t *testing.T) {
	s := setting{
		nodes: []entity.Node{{ID: 1, Perf: 1, Price: 1}},
		jobs: []entity.Job{ // the last one comes first, and ends early
			{ID: 1, Runtime: 20 * unit, Request: entity.Request{Nodes: 1, Length: 20 * unit}},
			{ID: 2, Runtime: 20 * unit, Request: entity.Request{Nodes: 1, Length: 20 * unit}},
			{ID: 3, Runtime: 10 * unit, Request: entity.Request{Nodes: 1, Length: 50 * unit}},
		},
		interval: 120 * unit, cycle: 120 * unit,
	}
	last := entity.Order{Name: "last", Key: func(j *entity.Run, _ des.Time) float64 { return -float64(j.ID) }}
	_, jobs := s.run(t, &cyclic.Policy{Planner: cyclic.Filling{}, Order: last, Replan: cyclic.ReplanOnRelease})
	require.Equal(t, []des.Time{30 * unit, 10 * unit, 0}, []des.Time{jobs[0].Start, jobs[1].Start, jobs[2].Start})
}

func TestBackfillingTakesUpEarlyReleasesAtOnce(t *testing.T) {
	s := setting{
		nodes: []entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 2, Price: 2}},
		jobs: []entity.Job{ // the first has both nodes, [0, 60) and [0, 30); it takes half of it
			{ID: 1, Runtime: 30 * unit, Request: entity.Request{Nodes: 2, Length: 60 * unit, Budget: 1000}},
			{ID: 2, Runtime: 20 * unit, Request: entity.Request{Nodes: 1, Length: 20 * unit}},
		},
		interval: 120 * unit, cycle: 120 * unit,
	}
	p := &cyclic.Policy{Planner: cyclic.BatchSlicer{}, Rest: backfill.EASY{}, Share: cyclic.Share{Q: 0.5, By: cyclic.ByPriority}}
	_, jobs := s.run(t, p)
	require.Equal(t, 15*unit, jobs[1].Start, "the fast node is given back at 15, at its own end")
}

func TestACycleShorterThanAnyTaskRejectsWithAReason(t *testing.T) {
	s := setting{
		nodes:    []entity.Node{{ID: 1, Perf: 1}},
		jobs:     []entity.Job{{ID: 1, Runtime: 50 * unit, Request: entity.Request{Nodes: 1, Length: 50 * unit}}},
		interval: 10 * unit, cycle: 10 * unit,
	}
	_, jobs := s.run(t, &cyclic.Policy{})
	require.Equal(t, entity.Rejected, jobs[0].State)
	require.Contains(t, jobs[0].Reason, "fast enough to end within 10")
}

func TestAJobWhoseEstimateIsZeroEndsTheRun(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 10 * unit
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, &cyclic.Policy{})
	m.Cycle = 10 * unit
	m.Submit(&entity.Job{ID: 1, Request: entity.Request{Nodes: 1}})
	require.ErrorContains(t, sim.Run(context.Background()), "job 1: a request's length (its estimate) must be")
}

// cancels cancels the other job when it hears of what becomes of the first one of a batch.
type cancels struct {
	jobs []*entity.Run
	meta *entity.Metascheduler
}

func (c *cancels) Attach(m *entity.Metascheduler) { c.meta = m }

func (c *cancels) Observe(e entity.JobEvent) {
	if (e.Kind == entity.JobStarted || e.Kind == entity.JobPromised) && e.Run == c.jobs[0] {
		c.meta.Cancel(c.jobs[1], "its user")
	}
}

// The third job of the batch, which stands behind the one that is gone, gets its window all
// the same.
func TestAJobThatIsCancelledAsItsBatchIsBookedIsPassedOver(t *testing.T) {
	for _, planner := range []cyclic.Planner{cyclic.CSS{}, cyclic.BatchSlicer{}, cyclic.BSF{}} {
		for _, replan := range []cyclic.Replan{cyclic.ReplanNever, cyclic.ReplanOnRelease, cyclic.ReplanEachCycle} {
			d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}}, window.AMP{})
			require.NoError(t, err)
			d.Interval = 100 * unit
			sim := des.New(des.Config{})
			o := &cancels{}
			m := entity.NewMetascheduler(sim, d, &cyclic.Policy{Planner: planner, Replan: replan}, o)
			m.Cycle = 100 * unit
			for id := range int64(3) {
				o.jobs = append(o.jobs, m.Submit(&entity.Job{ID: id, Runtime: 20 * unit, Request: entity.Request{Nodes: 1, Length: 20 * unit}}))
			}
			require.NoError(t, sim.Run(context.Background()), "%v, %v", planner.Name(), replan)
			require.Equal(t, entity.Rejected, o.jobs[1].State)
			require.Equal(t, entity.Finished, o.jobs[2].State)
			require.Less(t, o.jobs[2].Start, 100*unit, "in its own cycle")
		}
	}
}

func TestALateJobIsRejectedWithAReason(t *testing.T) {
	s := setting{
		nodes: []entity.Node{{ID: 1, Perf: 1}}, interval: 20 * unit, cycle: 20 * unit,
		jobs: []entity.Job{
			{ID: 1, Runtime: 20 * unit, Request: entity.Request{Nodes: 1, Length: 20 * unit}},
			{ID: 2, Runtime: 15 * unit, Request: entity.Request{Nodes: 1, Length: 15 * unit, Deadline: 18 * unit}},
		},
	}
	_, jobs := s.run(t, &cyclic.Policy{})
	require.Equal(t, entity.Rejected, jobs[1].State)
	require.Equal(t, "its deadline, 18, can no longer be met", jobs[1].Reason)
}

func TestAJobBeyondTheBudgetOfEveryCycleStillWaitsAndSaysWhy(t *testing.T) {
	s := setting{
		nodes: []entity.Node{{ID: 1, Perf: 1, Price: 3}}, interval: 20 * unit, cycle: 20 * unit,
		jobs: []entity.Job{{ID: 1, Runtime: 10 * unit, Request: entity.Request{Nodes: 1, Length: 10 * unit}}},
	}
	_, jobs := s.run(t, &cyclic.Policy{Planner: cyclic.CSS{Choice: cyclic.Choice{Problem: cyclic.BatchTime, MaxCost: 20}}})
	require.Equal(t, entity.Waiting, jobs[0].State)
	require.Equal(t, "postponed: the budget B* of 20 cost units is 10 too low: no choice of alternatives takes less than 30", jobs[0].Reason)
}

func TestAPriceIsThatOfTheDayOfTheAgreement(t *testing.T) {
	s := setting{
		nodes: []entity.Node{{ID: 1, Perf: 1, Price: 1}}, interval: 40 * unit, cycle: 20 * unit,
		jobs: []entity.Job{
			{ID: 1, Runtime: 15 * unit, Request: entity.Request{Nodes: 1, Length: 15 * unit}},
			{ID: 2, Runtime: 15 * unit, Request: entity.Request{Nodes: 1, Length: 15 * unit}},
			{ID: 3, Submit: 6 * unit, Runtime: 15 * unit, Request: entity.Request{Nodes: 1, Length: 15 * unit}},
		},
		prices: []price{{0, 5 * unit, 4}},
	}
	w, jobs := s.run(t, &cyclic.Policy{})
	require.Equal(t, 15*unit, jobs[1].Start)
	require.Equal(t, []float64{15, 15, 60}, []float64{w.paid[jobs[0]].Units(), w.paid[jobs[1]].Units(), w.paid[jobs[2]].Units()})
}

func TestWhoPaysByUseGetsBackWhatWasNotUsed(t *testing.T) {
	s := setting{
		nodes: []entity.Node{{ID: 1, Perf: 1, Price: 2}}, interval: 20 * unit, cycle: 20 * unit,
		jobs: []entity.Job{{ID: 1, User: 7, Runtime: 5 * unit, Request: entity.Request{Nodes: 1, Length: 10 * unit}}},
	}
	for byUse, want := range map[bool]float64{false: 20, true: 10} {
		l := &flow.Ledger{ByUse: byUse}
		d, err := plan.NewDomain([]*entity.Node{&s.nodes[0]}, window.AMP{})
		require.NoError(t, err)
		d.Interval = s.interval
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, d, &cyclic.Policy{}, l)
		m.Cycle = s.cycle
		m.Submit(&s.jobs[0])
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, l.Check())
		require.Equal(t, want, l.Balance(flow.Account{Kind: flow.OwnerAccount, ID: 1}).Units())
		require.Equal(t, -want, l.Balance(flow.Account{Kind: flow.UserAccount, ID: 7}).Units())
		require.Len(t, l.Accounts(), 3)
	}
}

func TestBatchesWantNamedNodes(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), &cyclic.Policy{})
	m.Cycle = unit
	m.Submit(&entity.Job{ID: 1, Request: entity.Request{Nodes: 1, Length: unit}})
	require.ErrorContains(t, sim.Run(context.Background()), "policy css: batches are planned on named nodes")
}

func TestAPriceScheduleRefusesWhatMakesNoSense(t *testing.T) {
	n, stranger := &entity.Node{ID: 1, Perf: 1}, &entity.Node{ID: 2, Perf: 1}
	for want, changes := range map[string][]flow.PriceChange{
		"is not of the domain":       {{Node: stranger}},
		"cannot cost -1":             {{Node: n, Price: -1}},
		"it comes after a later one": {{Node: n, At: 2 * unit}, {Node: n, At: unit}},
	} {
		d, err := plan.NewDomain([]*entity.Node{n}, window.AMP{})
		require.NoError(t, err)
		sim := des.New(des.Config{})
		flow.NewPriceSchedule(d, entity.NewMetascheduler(sim, d, &cyclic.Policy{})).Submit(slices.Values(changes))
		require.ErrorContains(t, sim.Run(context.Background()), want)
	}
}
