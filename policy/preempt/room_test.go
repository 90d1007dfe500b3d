package preempt

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// trial starts what fits, and at one instant asks what would fit if others gave way,
// has them give way, and looks.
type trial struct {
	t    *rapid.T
	at   des.Time
	done bool
}

func (*trial) Name() string { return "trial" }

func (p *trial) Schedule(r *entity.Round) {
	backfill.EASY{Reservations: backfill.NoReservation}.Schedule(r)
	if r.Now < p.at || p.done {
		return
	}
	for j := range r.Waiting() {
		p.done = true
		var yielding []*entity.Run
		for v := range r.Running() {
			if !v.Booked && v.Start < r.Now {
				yielding = append(yielding, v)
			}
		}
		chosen := victims(r, j, yielding)
		for i := range chosen {
			var without []*entity.Run
			without = append(append(without, chosen[:i]...), chosen[i+1:]...)
			require.False(p.t, fits(r, j, without), "one yields who need not")
		}
		stopped := chosen
		if chosen == nil {
			stopped = yielding
		}
		for _, v := range stopped {
			require.True(p.t, r.Preempt(v, des.Forever))
		}
		_, ok := r.Plan.Find(j.Request, r.Now, r.Now)
		require.Equal(p.t, chosen != nil, ok)
		return
	}
}

func TestWhoIsToYieldMakesRoomAndNobodyYieldsInVain(t *testing.T) {
	named := func(processors int) entity.Plan {
		nodes := make([]*entity.Node, processors)
		for i := range nodes {
			nodes[i] = &entity.Node{ID: i + 1, Perf: 1}
		}
		d, err := plan.NewDomain(nodes, window.AMP{})
		require.NoError(t, err)
		return d
	}
	for what, world := range map[string]func(int) entity.Plan{
		"counted processors": func(n int) entity.Plan { return plan.NewCluster(n) },
		"equal nodes":        named,
	} {
		tried := 0
		rapid.Check(t, func(t *rapid.T) {
			processors := rapid.IntRange(1, 8).Draw(t, "processors")
			sim := des.New(des.Config{})
			p := &trial{t: t, at: des.Time(rapid.IntRange(1, 30).Draw(t, "at"))}
			m := entity.NewMetascheduler(sim, world(processors), p)
			m.LeaveWaiting = true // who has yielded for nobody, when nothing else is left to happen
			for i := range rapid.IntRange(0, 3).Draw(t, "bookings") {
				start := des.Time(rapid.IntRange(1, 60).Draw(t, "start"))
				booked := job(int64(100+i), 0, des.Time(rapid.IntRange(1, 20).Draw(t, "length")), rapid.IntRange(1, processors).Draw(t, "nodes"))
				w, ok := m.Plan().Find(booked.Request, start, start)
				if !ok {
					continue
				}
				h, err := m.Tentative(booked, w)
				require.NoError(t, err)
				_, err = h.Confirm()
				require.NoError(t, err)
			}
			for _, j := range randomJobs(t, processors) {
				m.Submit(j)
			}
			m.WakeAt(p.at)
			require.NoError(t, sim.Run(context.Background()))
			if p.done {
				tried++
			}
		})
		least := 20
		if testing.Short() {
			least = 3 // of the twenty worlds that are drawn then
		}
		require.Greater(t, tried, least, what)
	}
}

// The machine is booked as a whole from 5 on; whoever yielded now would do so in vain.
func TestNobodyYieldsToOneThatABookingKeepsOut(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), Selective{Factor: 1, Slice: 1})
	h, err := m.Tentative(job(9, 0, 10, 2), entity.Window{Start: 5, End: 15, Nodes: 2})
	require.NoError(t, err)
	_, err = h.Confirm()
	require.NoError(t, err)
	short := m.Submit(job(1, 0, 4, 2))
	long := m.Submit(job(2, 1, 6, 2))
	require.NoError(t, sim.Run(context.Background()))
	require.Empty(t, short.Earlier())
	require.Equal(t, des.Time(15), long.Start)
}

// Nodes 1 and 2 are fast and wanted; a job on node 3 is no use to one that must have
// fast ones.
func TestOnlyWhoHasNodesThatSuitYields(t *testing.T) {
	nodes := []*entity.Node{{ID: 1, Perf: 2}, {ID: 2, Perf: 2}, {ID: 3, Perf: 1}}
	d, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, Selective{Factor: 1, Slice: des.Second})
	fast, slow := job(1, 0, 40*des.Second, 2), job(2, 0, 40*des.Second, 1)
	fast.Request.MinPerf = 2
	a, b := m.Submit(fast), m.Submit(slow)
	urgent := job(3, des.Second, 2*des.Second, 1)
	urgent.Request.MinPerf = 2
	c := m.Submit(urgent)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, des.Second, c.Start)
	require.Len(t, a.Earlier(), 1)
	require.Empty(t, b.Earlier())
	require.Equal(t, entity.Finished, a.State)
}

// At 10 the fast node of a, which had it until 20, was free already, and b has it
// since. b has waited for half of its length.
func TestWhoseTaskHasEndedHasNothingToYield(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 2}, {ID: 2, Perf: 1}}, window.AMP{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, Selective{Factor: 1.6, Slice: des.Second})
	early := job(1, 0, 20*des.Second, 2)
	early.Request.Length = 40 * des.Second
	a := m.Submit(early)
	fast, urgent := job(2, 0, 20*des.Second, 1), job(3, 12*des.Second, 2*des.Second, 1)
	fast.Request.MinPerf, urgent.Request.MinPerf = 2, 2
	b, c := m.Submit(fast), m.Submit(urgent)
	require.NoError(t, sim.Run(context.Background()))
	require.Empty(t, a.Earlier())
	require.Len(t, b.Earlier(), 1)
	require.Equal(t, 10*des.Second, b.Earlier()[0].Start)
	require.Equal(t, des.Seconds(12+2*(1.6*1.5-1)), c.Start, "a, which has waited for nothing, could yield at 13.2")
}

func TestPoliciesThatPreemptFinishEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processors := rapid.IntRange(1, 8).Draw(t, "processors")
		pass := rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent}).Draw(t, "pass")
		cost := des.Time(rapid.IntRange(0, 3).Draw(t, "cost"))
		policies := []entity.Policy{
			Selective{Factor: 1, Slice: des.Time(rapid.IntRange(1, 9).Draw(t, "slice")), Cost: cost},
			Selective{Factor: 1.1, Slice: 1, Keep: KeepNone},
			Selective{Factor: 1.5, Slice: 3, Keep: KeepCheckpoint, Cost: cost, Width: -1},
			Selective{},
			Slicing{Quantum: cost + des.Time(rapid.IntRange(1, 9).Draw(t, "quantum")), Cost: cost},
			Slicing{Quantum: 5, Order: backfill.WFP3},
		}
		jobs := randomJobs(t, processors)
		for _, p := range policies {
			for _, r := range simulate(t, p, pass, processors, jobs...) {
				if s, ok := p.(Selective); ok && s.Slice > 0 {
					for _, a := range r.Earlier() {
						require.GreaterOrEqual(t, a.Work, s.Slice, "%+v", p)
					}
				}
			}
		}
	})
}

// Which nodes suit is guessed by their numbers there, and who has yielded in vain goes on.
func TestOnUnequalNodesPoliciesThatPreemptFinishEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []*entity.Node
		for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			nodes = append(nodes, &entity.Node{ID: i + 1, Perf: float64(rapid.IntRange(1, 3).Draw(t, "speed")), Price: 1})
		}
		jobs := randomJobs(t, len(nodes))
		for _, j := range jobs {
			j.Request.MinPerf = float64(rapid.IntRange(0, 3).Draw(t, "least"))
			if rapid.Bool().Draw(t, "poor") {
				j.Request.Budget = float64(rapid.IntRange(1, 200).Draw(t, "budget"))
			}
		}
		for _, p := range []entity.Policy{Selective{Factor: 1, Slice: 1}, Slicing{Quantum: des.Time(rapid.IntRange(1, 9).Draw(t, "quantum"))}} {
			d, err := plan.NewDomain(nodes, window.AMP{})
			require.NoError(t, err)
			sim := des.New(des.Config{})
			m := entity.NewMetascheduler(sim, d, p)
			m.LeaveWaiting = true
			var runs []*entity.Run
			for _, j := range jobs {
				runs = append(runs, m.Submit(j))
			}
			require.NoError(t, sim.Run(context.Background()))
			for _, r := range runs {
				alone, err := plan.NewDomain(nodes, window.AMP{})
				require.NoError(t, err)
				_, fits := alone.Find(r.Job.Request, 0, 0)
				require.Equal(t, fits, r.State == entity.Finished, "%v is %v", r, r.State)
			}
		}
	})
}

// On two processors a job that asks for five has its turn in its shape of two.
func TestJobsYieldToAShapeThatFits(t *testing.T) {
	for _, p := range []entity.Policy{Slicing{Quantum: 10}, Selective{Factor: 2, Slice: 1}} {
		wide := job(2, 1, 4, 5)
		wide.Shapes = []entity.Shape{{Nodes: 2, Length: 6, Runtime: 6}, {Nodes: 4, Length: 5, Runtime: 5}}
		check := &validate.Validator{}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(2), p, check)
		first, r := m.Submit(job(1, 0, 40, 2)), m.Submit(wide)
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, check.Report(true).Err())
		require.Equal(t, []any{entity.Finished, 2}, []any{r.State, r.Request.Nodes})
		require.Less(t, r.Finish, des.Time(20), p.Name())
		require.Equal(t, des.Time(46), first.Finish)
	}
}
