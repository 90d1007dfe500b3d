package grid_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill" // tests may look sideways
	"github.com/gridslot/gridslot/policy/window"
)

// placing is a strategy that is a function.
type placing func(b *grid.Broker, j *entity.Job)

func (placing) Name() string                          { return "placing" }
func (p placing) Place(b *grid.Broker, j *entity.Job) { p(b, j) }
func (placing) Done(*grid.Broker, *grid.Fragment)     {}

// What brokers do in the scripts.

// toRegulator leaves every job to the regulator.
func toRegulator(b *grid.Broker, j *entity.Job) { b.Intervene(j, j.Request.Nodes) }

// toFirst sends every job to the first agent's queue.
func toFirst(b *grid.Broker, j *entity.Job) { b.Submit(j, b.Agents()[0], j.Request.Nodes) }

// reserveFirst reserves the first offer that has room for all tasks.
func reserveFirst(b *grid.Broker, j *entity.Job) {
	b.AskOffers(j, func(offers []grid.Offer) {
		for _, o := range offers {
			if o.Nodes >= j.Request.Nodes {
				b.Reserve(j, o, j.Request.Nodes)
				return
			}
		}
		b.Intervene(j, j.Request.Nodes)
	})
}

// site is a cluster of a script. Its busy jobs take all its processors, one after
// the other, from 0 on for so many seconds each.
type site struct {
	processors int
	speed      float64 // 0 means 1
	limit      int     // of the queue
	busy       []des.Time
}

// script is a grid and what happens in it: the log of the negotiations, and the
// jobs' starts and ends.
type script struct {
	sites   []site
	latency des.Time // in seconds
	cut     []string // pairs that cannot reach each other: "broker-0 site-1"
	expiry  des.Time // in seconds
	brokers int      // 0 means 1; they get the jobs in turn
	place   placing
	jobs    []*entity.Job
	during  func(g *grid.Grid, at func(second des.Time, do func()))
	want    string
	stats   func(s grid.GridStats) bool
}

// A flow that holds jobs back hands them to the brokers through a door.
func TestJobsComeThroughADoor(t *testing.T) {
	sim := des.New(des.Config{})
	var seen []string
	var positions []int64 // in the order of submission
	g := grid.NewGrid(sim, &grid.Network{Default: grid.Direct()}, observer(func(e entity.JobEvent) {
		if e.Kind == entity.JobSubmitted {
			positions = append(positions, e.Run.Seq())
		}
		seen = append(seen, fmt.Sprintf("%v %v %d %s", e.Time, e.Kind, e.Run.ID, e.Run.Reason))
	}))
	g.AddAgent("site", plan.NewCluster(4), backfill.FCFS{})
	g.AddBroker("broker", placing(toFirst))
	door := g.Door(func(*entity.Job) int { return 0 })
	require.True(t, g.Idle())
	require.Equal(t, entity.Created, door.Submit(job(1, 5, 10, 2)).State)
	require.False(t, g.Idle(), "the job is on its way")
	door.Submit(job(3, 20, 10, 2)) // comes after job 2, which is refused meanwhile
	sim.At(7*des.Second, 0, des.Func(func(*des.Simulator, des.Event) { door.Refuse(job(2, 7, 10, 2), "its reason") }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"5 submitted 1 ", "5 started 1 ", "7 submitted 2 ", "7 rejected 2 its reason", "15 finished 1 ", "20 submitted 3 ", "20 started 3 ", "30 finished 3 "}, seen)
	require.Equal(t, []int64{0, 1, 2}, positions)
	require.True(t, g.Idle())
	require.Same(t, sim, door.Simulator())
}

type observer func(entity.JobEvent)

func (o observer) Observe(e entity.JobEvent) { o(e) }

// job is a job; it takes its times in seconds.
func job(id int64, submit, length des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: length * des.Second,
		Request: entity.Request{Nodes: nodes, Length: length * des.Second}}
}

// journal writes down what becomes of jobs.
type journal struct{ write func(string) }

func (o journal) Observe(e entity.JobEvent) {
	line := fmt.Sprintf("%v %v %v", e.Time, e.Run, e.Kind)
	if e.Kind == entity.JobRejected || e.Kind == entity.JobKilled {
		line += ": " + e.Run.Reason
	}
	if e.Kind != entity.JobSubmitted {
		o.write(line)
	}
}

// play runs a script, and returns what was written down and the counts.
func (s script) play(t *testing.T) (string, grid.GridStats, error) {
	var lines []string
	write := func(line string) { lines = append(lines, line) }
	sim := des.New(des.Config{Seed: 1})
	network := &grid.Network{Default: grid.Link{Latency: s.latency * des.Second, Bandwidth: math.Inf(1)}, Links: map[[2]string]grid.Link{}}
	for _, pair := range s.cut {
		a, b, _ := strings.Cut(pair, " ")
		network.Links[[2]string{a, b}] = grid.Link{}
	}
	g := grid.NewGrid(sim, network, journal{write})
	g.Log = func(n grid.Note) { write(n.String()) }
	g.Expiry = s.expiry * des.Second
	var plans []*plan.Cluster
	for i, site := range s.sites {
		c := plan.NewCluster(site.processors)
		plans = append(plans, c)
		a := g.AddAgent(fmt.Sprintf("site-%d", i), c, backfill.EASY{})
		a.QueueLimit = site.limit
		if site.speed > 0 {
			a.Speed = site.speed
		}
		for k, busy := range site.busy {
			a.Scheduler().Submit(job(-1-int64(k), 0, busy, site.processors))
		}
	}
	for i := range max(s.brokers, 1) {
		g.AddBroker(fmt.Sprintf("broker-%d", i), s.place)
	}
	g.Submit(slices.Values(s.jobs), func(j *entity.Job) int { return int(j.ID) % max(s.brokers, 1) })
	if s.during != nil {
		s.during(g, func(second des.Time, do func()) {
			sim.At(second*des.Second, entity.PhaseDecide+1, des.Func(func(*des.Simulator, des.Event) { do() }), 0)
		})
	}
	err := sim.Run(context.Background())
	if err == nil {
		require.Zero(t, g.Open(), "jobs are left open")
		for i, c := range plans {
			for slot := range c.Slots(sim.Now(), des.Forever) {
				require.Equal(t, entity.Slot{Width: c.Size(), Start: sim.Now(), End: des.Forever}, slot, "something is left in the plan of site %d", i)
			}
		}
	}
	return strings.Join(lines, "\n"), g.Stats(), err
}

// Where a script says nothing else, messages take no time.
func TestScripts(t *testing.T) {
	for name, s := range map[string]script{
		// Three ends are offered: 60, 30, and 35 on the slow site that could begin at
		// once.
		"the regulator takes the earliest end, not the earliest start": {
			sites: []site{{processors: 4, busy: []des.Time{50}}, {processors: 4, busy: []des.Time{20}}, {processors: 4, speed: 0.25}},
			place: toRegulator, jobs: []*entity.Job{job(0, 0, 10, 4), job(1, 1, 10, 4)},
			want: `0 broker-0 job 0: the regulator is called for 4 tasks
0 regulator job 0: 4 tasks go to site-1, from 20 to 30, the earliest end of 3
1 broker-0 job 1: the regulator is called for 4 tasks
1 regulator job 1: 4 tasks go to site-1, from 30 to 40, the earliest end of 3
20 job 0 started
30 job 0 finished
30 job 1 started
40 job 1 finished`,
		},
		"of equal ends the regulator takes the first site's": {
			sites: []site{{processors: 2}, {processors: 2}, {processors: 2}},
			place: toRegulator, jobs: []*entity.Job{job(0, 0, 10, 1)},
			want: `0 broker-0 job 0: the regulator is called for 1 tasks
0 regulator job 0: 1 tasks go to site-0, from 0 to 10, the earliest end of 3
0 job 0 started
10 job 0 finished`,
		},
		"who reserves second gets a conflict, and the regulator's place": {
			sites: []site{{processors: 4}}, latency: 1, brokers: 2,
			place: reserveFirst, jobs: []*entity.Job{job(0, 0, 10, 3), job(1, 0, 10, 3)},
			want: `3 job 0 started
4 broker-1 job 1: site-0 refuses 3 tasks: conflict: wants to start at 3, when there is no room for it
4 broker-1 job 1: the regulator is called for 3 tasks
7 regulator job 1: 3 tasks go to site-0, from 13 to 23, the earliest end of 1
13 job 0 finished
13 job 1 started
23 job 1 finished`,
			stats: func(s grid.GridStats) bool { return s.Conflicts == 1 && s.Interventions == 1 && s.Reservations == 2 },
		},
		// The pieces are asked for together, so that each of them finds the holds of
		// those before it, the ones that will be cancelled, too.
		"7 tasks on clusters of 3 are cut into 2, 2 and 3": {
			sites: []site{{processors: 3}, {processors: 2}},
			place: toRegulator, jobs: []*entity.Job{job(0, 0, 10, 7)},
			want: `0 broker-0 job 0: the regulator is called for 7 tasks
0 regulator job 0: 7 tasks are cut into 3 pieces: the largest cluster has 3 processors
0 regulator job 0: 2 tasks go to site-0, from 0 to 10, the earliest end of 2
0 regulator job 0: 2 tasks go to site-0, from 10 to 20, the earliest end of 2
0 regulator job 0: 3 tasks go to site-0, from 20 to 30, the earliest end of 1
0 job 0 started
30 job 0 finished`,
			stats: func(s grid.GridStats) bool { return s.Cut == 2 && s.Interventions == 1 && s.Fragments == 3 },
		},
		// Calling takes 2 s, asking and answering 4, the commit 2: it comes at 8, 4 s
		// after the hold was made. The second time sites wait 6 s.
		"a hold that expires is asked for again, for twice as long": {
			sites: []site{{processors: 4, busy: []des.Time{50}}}, latency: 2, expiry: 3,
			place: toRegulator, jobs: []*entity.Job{job(0, 0, 10, 4)},
			want: `0 broker-0 job 0: the regulator is called for 4 tasks
6 regulator job 0: 4 tasks go to site-0, from 50 to 60, the earliest end of 1
7 site-0 job 0: the emergency reservation of 4 processors from 50 on has expired
14 regulator job 0: 4 tasks go to site-0, from 50 to 60, the earliest end of 1
50 job 0 started
60 job 0 finished`,
			stats: func(s grid.GridStats) bool { return s.Expired == 1 },
		},
		// The hold is for 4 on; the commit comes at 8.
		"a hold whose start has come by the commit begins then": {
			sites: []site{{processors: 4}}, latency: 2,
			place: toRegulator, jobs: []*entity.Job{job(0, 0, 10, 4)},
			want: `0 broker-0 job 0: the regulator is called for 4 tasks
6 regulator job 0: 4 tasks go to site-0, from 4 to 14, the earliest end of 1
8 job 0 started
18 job 0 finished`,
			stats: func(s grid.GridStats) bool { return s.Expired == 0 },
		},
		"a full queue refuses": {
			sites: []site{{processors: 4, limit: 1, busy: []des.Time{50, 10}}, {processors: 4}},
			place: toFirst, jobs: []*entity.Job{job(0, 1, 10, 2)},
			want: `1 broker-0 job 0: site-0 refuses 2 tasks: 1 jobs wait already
1 broker-0 job 0: the regulator is called for 2 tasks
1 regulator job 0: 2 tasks go to site-1, from 1 to 11, the earliest end of 2
1 job 0 started
11 job 0 finished`,
			stats: func(s grid.GridStats) bool { return s.Refused == 1 && s.TooLarge == 0 },
		},
		"a fragment larger than its cluster is refused": {
			sites: []site{{processors: 1}, {processors: 4}},
			place: toFirst, jobs: []*entity.Job{job(0, 1, 10, 2)},
			want: `1 broker-0 job 0: site-0 refuses 2 tasks: wants 2 processors of a cluster of 1
1 broker-0 job 0: the regulator is called for 2 tasks
1 regulator job 0: 2 tasks go to site-1, from 1 to 11, the earliest end of 1
1 job 0 started
11 job 0 finished`,
			stats: func(s grid.GridStats) bool { return s.Refused == 0 && s.TooLarge == 1 },
		},
		"a site that a broker cannot reach is left to the regulator": {
			sites: []site{{processors: 4}, {processors: 4, busy: []des.Time{5}}}, cut: []string{"site-0 broker-0", "regulator site-0"},
			place: toFirst, jobs: []*entity.Job{job(0, 1, 10, 2)},
			want: `1 broker-0 job 0: site-0 cannot be reached
1 broker-0 job 0: the regulator is called for 2 tasks
1 regulator job 0: 2 tasks go to site-1, from 5 to 15, the earliest end of 1
5 job 0 started
15 job 0 finished`,
			stats: func(s grid.GridStats) bool { return s.Refused == 1 },
		},
		"a job for which nobody can be reached is rejected": {
			sites: []site{{processors: 4}}, cut: []string{"site-0 broker-0", "regulator broker-0"},
			place: toFirst, jobs: []*entity.Job{job(0, 1, 10, 2)},
			want: `1 broker-0 job 0: site-0 cannot be reached
1 broker-0 job 0: the regulator is called for 2 tasks
1 broker-0 job 0: 2 tasks are given up: the regulator cannot be reached
1 job 0 rejected: 2 of 2 tasks were given up: the regulator cannot be reached`,
		},
		"a job that is given up in part is killed when the rest has ended": {
			sites: []site{{processors: 4}}, cut: []string{"regulator site-0"},
			place: func(b *grid.Broker, j *entity.Job) {
				b.Submit(j, b.Agents()[0], 1)
				b.Intervene(j, 1)
			},
			jobs: []*entity.Job{job(0, 1, 10, 2)},
			want: `1 broker-0 job 0: the regulator is called for 1 tasks
1 job 0 started
1 regulator job 0: 1 tasks are given up: no cluster can be reached
11 job 0 killed: 1 of 2 tasks were given up: no cluster can be reached`,
		},
		// It is asked for when the job comes, and runs for 5 s on the fast site.
		"a job takes as long as the site is fast": {
			sites: []site{{processors: 4, speed: 2}},
			place: reserveFirst, jobs: []*entity.Job{job(0, 1, 10, 4)},
			want: `1 job 0 started
6 job 0 finished`,
			stats: func(s grid.GridStats) bool { return s.Offers == 1 && s.Reservations == 1 && s.Fragments == 1 },
		},
		"a grid without processors rejects": {
			place: toRegulator, jobs: []*entity.Job{job(0, 1, 10, 4)},
			want: "1 job 0 rejected: the grid has no processors",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, stats, err := s.play(t)
			require.NoError(t, err)
			require.Equal(t, s.want, got)
			if s.stats != nil {
				require.True(t, s.stats(stats), "%+v", stats)
			}
		})
	}
}

// What an agent has waiting grows with what is submitted and falls with what
// starts: 40 and 20 s on all processors at first, of which the first starts.
func TestABacklogFallsAsJobsStart(t *testing.T) {
	var got []string
	_, _, err := script{
		sites: []site{{processors: 4, busy: []des.Time{40, 20, 10}}}, place: toFirst, jobs: []*entity.Job{job(0, 5, 8, 1)},
		during: func(g *grid.Grid, at func(des.Time, func())) {
			for _, second := range []des.Time{0, 6, 41, 61, 71} {
				at(second, func() {
					b := g.Agents()[0].Backlog()
					got = append(got, fmt.Sprintf("at %v %d jobs of %v", second*des.Second, b.Jobs, b.Time))
				})
			}
		},
	}.play(t)
	require.NoError(t, err)
	require.Equal(t, []string{
		"at 0 2 jobs of 30", "at 6 3 jobs of 32", "at 41 2 jobs of 12", "at 61 1 jobs of 2", "at 71 0 jobs of 0",
	}, got)
}

// A reservation is not in the queue and is no backlog.
func TestAReservationIsNoBacklog(t *testing.T) {
	var got grid.Backlog
	_, _, err := script{
		sites: []site{{processors: 4, busy: []des.Time{40}}}, place: reserveFirst, jobs: []*entity.Job{job(0, 5, 8, 1)},
		during: func(g *grid.Grid, at func(des.Time, func())) {
			at(6, func() { got = g.Agents()[0].Backlog() })
		},
	}.play(t)
	require.NoError(t, err)
	require.Zero(t, got.Jobs)
	require.Zero(t, got.Time)
}

func TestMessagesAreCounted(t *testing.T) {
	// ask, offer (24 bytes), reserve, reserved, done
	_, stats, err := script{sites: []site{{processors: 4}}, place: reserveFirst, jobs: []*entity.Job{job(0, 0, 1, 1)}}.play(t)
	require.NoError(t, err)
	require.EqualValues(t, 5, stats.Messages)
	require.EqualValues(t, 5*128+24, stats.Bytes)

	// The wait of a fragment counts from the submission of its job: 2 messages.
	_, stats, err = script{sites: []site{{processors: 4}}, latency: 3, place: toFirst, jobs: []*entity.Job{job(0, 7, 1, 1)}}.play(t)
	require.NoError(t, err)
	require.EqualValues(t, 3, stats.FragmentWait)
}

func TestWhatAStrategyMustNotDoEndsTheRun(t *testing.T) {
	for want, place := range map[string]placing{
		"of the 2 tasks of job 0 0 are placed: it cannot place 3 more": func(b *grid.Broker, j *entity.Job) { b.Intervene(j, 3) },
		"it cannot place 0 more":      func(b *grid.Broker, j *entity.Job) { b.Submit(j, b.Agents()[0], 0) },
		"job 9 has no tasks to place": func(b *grid.Broker, _ *entity.Job) { b.Intervene(job(9, 0, 1, 1), 1) },
		"when there is no room for it": func(b *grid.Broker, j *entity.Job) {
			o := b.Agents()[0].Offers(entity.Request{Nodes: 1, Length: 10 * des.Second})[0]
			o.Start = 0
			b.Seize(j, o, 2)
		},
	} {
		_, _, err := script{sites: []site{{processors: 2, busy: []des.Time{20}}}, place: place, jobs: []*entity.Job{job(0, 1, 10, 2)}}.play(t)
		require.ErrorContains(t, err, want)
	}
}

func TestAJobForABrokerThatIsNotThereEndsTheRun(t *testing.T) {
	sim := des.New(des.Config{})
	g := grid.NewGrid(sim, &grid.Network{Default: grid.Direct()})
	g.Submit(slices.Values([]*entity.Job{job(0, 0, 1, 1)}), func(*entity.Job) int { return 2 })
	require.ErrorContains(t, sim.Run(context.Background()), "job 0 is assigned to broker 2 of 0")
}

// Learning strategies get the same numbers again: every broker has a stream of
// its own.
func TestBrokersHaveRandomNumbersOfTheirOwn(t *testing.T) {
	draw := func() (numbers []float64) {
		_, _, err := script{
			sites: []site{{processors: 8}}, brokers: 2,
			place: func(b *grid.Broker, j *entity.Job) {
				numbers = append(numbers, b.Rand().Float64())
				toFirst(b, j)
			},
			jobs: []*entity.Job{job(0, 0, 1, 1), job(1, 0, 1, 1), job(2, 0, 1, 1)},
		}.play(t)
		require.NoError(t, err)
		return numbers
	}
	first := draw()
	require.Equal(t, first, draw())
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(first))), 3)
}

// The regulator asks two sites and takes the first one's window. The job of an owner
// of the second had to wait for what was kept there.
func TestAnOwnersQueueHearsOfAWindowThatIsGivenUp(t *testing.T) {
	for what, c := range map[string]struct {
		cut      []string
		deadline des.Time // in seconds, or 0
		site     int
		want     des.Time
	}{"cancelled": {nil, 0, 1, 40}, "expired": {[]string{"site-1"}, 0, 1, 320}, "too late for its deadline": {nil, 1025, 0, 40}} {
		sim := des.New(des.Config{Seed: 1})
		network := &grid.Network{Default: grid.Link{Latency: 10 * des.Second, Bandwidth: math.Inf(1)}, Links: map[[2]string]grid.Link{}}
		for _, name := range c.cut {
			network.Links[[2]string{name, "regulator"}] = grid.Link{Latency: 1e4 * des.Second, Bandwidth: math.Inf(1)}
			network.Links[[2]string{"regulator", name}] = grid.Link{Latency: 10 * des.Second, Bandwidth: math.Inf(1)}
		}
		g := grid.NewGrid(sim, network)
		g.Expiry = 300 * des.Second
		started := map[int]des.Time{}
		for i := range 2 {
			node := &entity.Node{ID: 1, Perf: 1, Attributes: entity.Attributes{Labels: map[string]string{flow.OwnerLabel: "o"}}}
			d, err := plan.NewDomain([]*entity.Node{node}, window.AMP{})
			require.NoError(t, err)
			d.Interval = 1e5 * des.Second
			q := &flow.LocalQueue{Owner: "o", Policy: backfill.FCFS{}, Observers: []entity.Observer{startsOf(func(at des.Time) { started[i] = at })}}
			a := g.AddAgent(fmt.Sprintf("site-%d", i), d, backfill.EASY{}, q)
			a.Dropped = q.Changed
			q.Submit(slices.Values([]*entity.Job{job(7, 25, 5, 1)}))
		}
		g.AddBroker("broker", placing(toRegulator))
		whole := job(1, 0, 1000, 1)
		whole.Request.Deadline = c.deadline * des.Second
		g.Submit(slices.Values([]*entity.Job{whole}), func(*entity.Job) int { return 0 })
		require.NoError(t, sim.Run(context.Background()))
		require.Equal(t, c.want*des.Second, started[c.site], what)
	}
}

// startsOf is told when jobs start.
type startsOf func(at des.Time)

func (f startsOf) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		f(e.Time)
	}
}

// half predicts half of what a job may take at its site.
type half struct{}

func (half) Name() string                              { return "half" }
func (half) Predict(j entity.Known) des.Time           { return j.Request() / 2 }
func (half) Observe(entity.JobEventKind, entity.Known) {}

// A site's scheduler plans fragments by predictions, in its own times; what is booked
// there has its window.
func TestASitePlansItsFragmentsByPredictions(t *testing.T) {
	for _, booked := range []bool{false, true} {
		sim := des.New(des.Config{})
		var ends []string
		g := grid.NewGrid(sim, &grid.Network{Default: grid.Direct()}, journal{func(line string) { ends = append(ends, line) }})
		check := &validate.Validator{}
		a := g.AddAgent("site", plan.NewCluster(4), backfill.Conservative{}, check)
		a.Speed = 2
		a.Scheduler().Predictor = half{}
		strategy := placing(toFirst)
		if booked {
			strategy = reserveFirst
		}
		g.AddBroker("broker", strategy)
		first, second := job(0, 0, 60, 4), job(1, 1, 20, 4)
		first.Runtime = 40 * des.Second
		g.Submit(slices.Values([]*entity.Job{first, second}), func(*entity.Job) int { return 0 })
		var window des.Time
		sim.At(2*des.Second, entity.PhaseDecide+1, des.Func(func(*des.Simulator, des.Event) {
			for r := range a.Scheduler().RunningJobs() {
				window = r.Reservation.Window.Length()
			}
		}), 0)
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, check.Report(true).Err())
		if booked {
			require.Equal(t, 30*des.Second, window)
			require.Equal(t, []string{"0 job 0 started", "20 job 0 finished", "30 job 1 started", "40 job 1 finished"}, ends)
		} else {
			require.Equal(t, 15*des.Second, window)
			require.Equal(t, []string{"0 job 0 started", "20 job 0 finished", "20 job 1 started", "30 job 1 finished"}, ends)
		}
	}
}

// sparing is a policy that lets jobs have two of its processors.
type sparing struct{ entity.Policy }

func (sparing) Usable() int { return 2 }

func (sparing) Refuses(req entity.Request) error {
	if req.Nodes > 2 {
		return fmt.Errorf("wants %d of 2", req.Nodes)
	}
	return nil
}

// Brokers go by what jobs may have of a site, and not by what there is.
func TestASiteIsAsLargeAsItsPolicyLetsItBe(t *testing.T) {
	g := grid.NewGrid(des.New(des.Config{}), &grid.Network{Default: grid.Direct()})
	a := g.AddAgent("a", plan.NewCluster(4), sparing{backfill.FCFS{}})
	require.Equal(t, 2, a.Processors())
	require.NoError(t, a.Fits(entity.Request{Nodes: 2, Length: des.Second}))
	require.EqualError(t, a.Fits(entity.Request{Nodes: 3, Length: des.Second}), "wants 3 of 2")
}
