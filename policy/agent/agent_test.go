package agent

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate" // tests may look sideways
	"github.com/gridslot/gridslot/policy/backfill"
)

// became is what became of whom.
type became map[*entity.Job]*entity.Run

func (b became) Observe(e entity.JobEvent) { b[e.Run.Job] = e.Run }

// world is a grid whose every step is checked.
type world struct {
	*grid.Grid
	sim      *des.Simulator
	plans    []*plan.Cluster
	sites    []*validate.Validator
	whole    *validate.Validator
	runs     became
	executed map[int64]int // processors that began to run, by job
	log      []string
}

func newWorld(network *grid.Network, sizes ...int) *world {
	w := &world{sim: des.New(des.Config{Seed: 3, Fingerprint: true}), whole: &validate.Validator{}, runs: became{}, executed: map[int64]int{}}
	w.Grid = grid.NewGrid(w.sim, network, w.runs)
	w.Log = func(n grid.Note) { w.log = append(w.log, n.String()) }
	for i, n := range sizes {
		w.plans = append(w.plans, plan.NewCluster(n))
		w.sites = append(w.sites, &validate.Validator{})
		w.AddAgent(fmt.Sprintf("cluster-%d", i), w.plans[i], backfill.EASY{}, w.sites[i], w)
	}
	return w
}

// Observe counts what runs at the sites; jobs of their own have numbers below 0.
func (w *world) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted && e.Run.ID >= 0 {
		w.executed[e.Run.ID] += e.Run.Request.Nodes
	}
}

// run runs jobs, in turn by so many brokers, and checks what must always hold.
func (w *world) run(t require.TestingT, brokers int, make func() grid.Strategy, jobs ...*entity.Job) {
	for i := range brokers {
		w.AddBroker(fmt.Sprintf("broker-%d", i), make())
	}
	w.Submit(slices.Values(jobs), func(j *entity.Job) int { return int(j.ID) % brokers })
	require.NoError(t, w.sim.Run(context.Background()))
	require.Zero(t, w.Open(), "every job has come to an end")
	for _, job := range jobs {
		j := w.runs[job]
		switch j.State {
		case entity.Finished:
			require.Equal(t, j.Request.Nodes, w.executed[j.ID], "every task of %v runs exactly once", j)
			require.GreaterOrEqual(t, j.Start, j.Submit)
		case entity.Killed:
			require.LessOrEqual(t, w.executed[j.ID], j.Request.Nodes)
		case entity.Rejected:
			require.Zero(t, w.executed[j.ID])
			require.NotEmpty(t, j.Reason)
		default:
			require.Fail(t, "left over", "%v is %v", j, j.State)
		}
	}
	for i, v := range w.sites {
		report := v.Report(true)
		require.NoError(t, report.Err(), "site %d: %v", i, report)
		w.plans[i].Forget(w.sim.Now())
		require.Equal(t, w.plans[i].Size(), w.plans[i].Free(), "nothing is left in the plan of site %d", i)
		for s := range w.plans[i].Slots(w.sim.Now(), des.Forever) {
			require.Equal(t, w.plans[i].Size(), s.Width)
		}
	}
}

func job(id int64, submit, length des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: length * des.Second, User: -1,
		Request: entity.Request{Nodes: nodes, Length: length * des.Second}}
}

func direct() *grid.Network { return &grid.Network{Default: grid.Direct()} }

// far is a network on which a message takes so many seconds.
func far(seconds des.Time) *grid.Network {
	return &grid.Network{Default: grid.Link{Latency: seconds * des.Second, Bandwidth: math.Inf(1)}}
}

// Whatever the strategy, the network, the sites and the jobs: every task runs
// once, no cluster is over capacity, no reservation is left behind.
func TestGridsConserveWork(t *testing.T) {
	all := Registry()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
		n := &grid.Network{Default: grid.Direct(), Links: map[[2]string]grid.Link{}}
		n.Default.Latency = des.Time(draw(0, 20, "latency")) * des.Second
		if rapid.Bool().Draw(t, "narrow") {
			n.Default.Bandwidth = float64(draw(50, 5000, "bandwidth"))
		}
		var sizes []int
		for range draw(1, 5, "sites") {
			sizes = append(sizes, draw(1, 12, "processors"))
		}
		if draw(0, 3, "cut off") == 0 {
			n.Links[[2]string{"broker-0", "cluster-0"}] = grid.Link{}
			n.Links[[2]string{"regulator", "cluster-0"}] = grid.Link{}
		}
		w := newWorld(n, sizes...)
		w.Expiry = des.Time(draw(1, 60, "expiry")) * des.Second
		for _, a := range w.Agents() {
			a.Speed = []float64{0.5, 1, 1.7}[draw(0, 2, "speed")]
			a.QueueLimit = draw(0, 3, "queue limit")
			var own []*entity.Job
			at := des.Time(0)
			for range draw(0, 4, "own jobs") {
				at += des.Time(draw(0, 30, "gap"))
				own = append(own, job(-1, at, des.Time(draw(1, 40, "own length")), draw(1, 12, "own nodes")))
			}
			a.Scheduler().SubmitAll(slices.Values(own))
		}
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range draw(1, 20, "jobs") {
			at += des.Time(draw(0, 10, "gap"))
			j := job(int64(id), at, des.Time(draw(1, 30, "length")), draw(1, 40, "nodes"))
			j.Runtime = j.Request.Length * des.Time(draw(0, 12, "of its estimate")) / 10
			jobs = append(jobs, j)
		}
		c, err := all.Parse(rapid.SampledFrom(all.Names()).Draw(t, "strategy"))
		require.NoError(t, err)
		w.run(t, draw(1, 4, "brokers"), c.Value, jobs...)
		s := w.Stats()
		require.LessOrEqual(t, s.Conflicts, s.Reservations)
		if _, rigid := c.Value().(grid.Router); !rigid { // it asks again itself
			require.LessOrEqual(t, s.Conflicts+s.TooLarge, s.Interventions)
		}
	})
}

// Two clusters of speeds 1 and 2, the fast one busy with 3 of its 4 processors
// until 30. Of a job of 6 tasks of 20 s at 1, one ends on the fast one at 11, a
// second behind it at 21, four on the slow one at 21.
func TestOARTakesTheOffersThatEndFirst(t *testing.T) {
	w := newWorld(direct(), 4, 4)
	w.Agents()[1].Speed = 2
	w.Agents()[1].Scheduler().SubmitAll(slices.Values([]*entity.Job{job(-1, 0, 30, 3)}))
	var got []string
	tell := func(f *grid.Fragment) {
		got = append(got, fmt.Sprintf("%d on %s at %v to %v", f.Task.Request.Nodes, f.Agent.Name(), f.Run.Start, f.Run.Finish))
	}
	j := job(0, 1, 20, 6)
	w.run(t, 1, func() grid.Strategy { return recording{OAR{}, tell} }, j)
	require.Equal(t, []string{"1 on cluster-1 at 1 to 11", "4 on cluster-0 at 1 to 21", "1 on cluster-1 at 11 to 21"}, got)
	require.Equal(t, 21*des.Second, w.runs[j].Finish)
}

// recording tells what a strategy is told.
type recording struct {
	grid.Strategy
	tell func(*grid.Fragment)
}

func (r recording) Done(b *grid.Broker, f *grid.Fragment) {
	r.tell(f)
	r.Strategy.Done(b, f)
}

// Both brokers are offered all of the cluster; one comes first, the other's
// sub-job is the regulator's.
func TestConflictsAreCountedAndExplained(t *testing.T) {
	w := newWorld(far(1), 4)
	a, b := job(0, 0, 10, 4), job(1, 0, 10, 4)
	w.run(t, 2, func() grid.Strategy { return OAR{} }, a, b)
	s := w.Stats()
	require.EqualValues(t, 1, s.Conflicts)
	require.EqualValues(t, 1, s.Interventions)
	require.EqualValues(t, 2, s.Reservations)
	require.Equal(t, 3*des.Second, w.runs[a].Start, "ask, answer, reserve")
	require.Equal(t, 13*des.Second, w.runs[b].Start)
	require.Equal(t, []string{
		"4 broker-1 job 1: cluster-0 refuses 4 tasks: conflict: wants to start at 3, when there is no room for it",
		"4 broker-1 job 1: the regulator is called for 4 tasks",
		"7 regulator job 1: 4 tasks go to cluster-0, from 13 to 23, the earliest end of 1",
	}, w.log)
}

func TestWithoutALogNothingIsWritten(t *testing.T) {
	w := newWorld(far(1), 4)
	w.Log = nil
	w.run(t, 2, func() grid.Strategy { return OAR{} }, job(0, 0, 10, 4), job(1, 0, 10, 4))
	require.EqualValues(t, 1, w.Stats().Conflicts)
}

// learned is the scores of clusters of 4 and 8 processors after answers of the
// first one.
func learned(s Scores, responses ...float64) []float64 {
	s.start(newWorld(direct(), 4, 8).Agents())
	for _, response := range responses {
		s.learn(0, response)
	}
	return s.score
}

// Responses 10, 20, 15, 60 have means 10, 15, 15, 26.25.
func TestEveryRewardIsItsFormula(t *testing.T) {
	for _, c := range []struct {
		Reward
		want []float64
	}{
		{Reward{}, []float64{1 + 0 + 5 + 0 + 33.75, 1}},
		{absolute, []float64{1 + 0 + 5 + 0 + 33.75, 1}},
		{improvement, []float64{1, 1}},
		{relative, []float64{1 + 5./15 + 33.75/26.25, 1}},
		{sign, []float64{1 + 1 - 1 + 1 - 1, 1}},
		{inverse, []float64{3600 / 26.25, 1}},
		{size, []float64{4, 8}},
	} {
		require.InDeltaSlice(t, c.want, learned(Scores{Reward: c.Reward}, 10, 20, 15, 60), 1e-12, c.Name)
	}
	require.Equal(t, []float64{1 + 5, 1}, learned(Scores{Reward: improvement}, 20, 10))
	require.Equal(t, []float64{2, 1}, learned(Scores{Reward: sign}, 0), "the first answer is as fast as the mean")
}

// Whatever clusters answer, scores stay numbers that shares can be made of; no
// rule lets one fall below leastScore but the one that forgets.
func TestScoresStayAboveZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rewards).Draw(t, "reward")
		answers := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1e9)), 1, 40).Draw(t, "answers")
		got := learned(Scores{Reward: r}, answers...)[0]
		require.False(t, math.IsNaN(got) || math.IsInf(got, 0))
		require.Positive(t, got)
		if r.Name != inverse.Name {
			require.GreaterOrEqual(t, got, leastScore)
		}
	})
}

// OAR11 says "the mean" and not whether it has the latest answer in it.
func TestSignIsTheSameWithAMeanThatLacksTheLatestAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 60).Draw(t, "answers")
		want, sum := Initial, 0
		var responses []float64
		for i, a := range answers {
			if i > 0 && a*i == sum {
				a++ // a mean that is rounded may miss an answer that equals it
			}
			if a*i > sum { // slower than the mean of those before
				want = max(leastScore, want-1)
			} else {
				want++
			}
			sum += a
			responses = append(responses, float64(a))
		}
		require.Equal(t, want, learned(Scores{Reward: sign}, responses...)[0])
	})
}

// relative and sign do not depend on the unit of time; absolute's unit is its
// first score's. Units are powers of two, which round nothing.
func TestAUnitOfTimeIsAFirstScore(t *testing.T) {
	const unit = 4096
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.SliceOfN(rapid.Float64Range(1, 1e6), 1, 40).Draw(t, "answers")
		units := slices.Clone(seconds)
		for i := range units {
			units[i] /= unit
		}
		for _, r := range []Reward{relative, sign} {
			require.Equal(t, learned(Scores{Reward: r}, seconds...), learned(Scores{Reward: r}, units...), r.Name)
		}
		a, b := learned(Scores{Reward: absolute, First: unit}, seconds...), learned(Scores{Reward: absolute}, units...)
		require.InEpsilon(t, a[0]/a[1], b[0]/b[1], 1e-9)
	})
}

func TestWhatIsLearnedOfAClusterStaysWithIt(t *testing.T) {
	var s Scores
	agents := newWorld(direct(), 4, 4, 4).Agents()
	for _, response := range []float64{10, 20} {
		s.start(agents)
		s.learn(1, response)
	}
	require.Equal(t, []float64{1, 1 + 5, 1}, s.score)
}

func TestFirstScores(t *testing.T) {
	require.Equal(t, []float64{1, 1}, learned(Scores{}))
	require.Equal(t, []float64{7, 7}, learned(Scores{First: 7}))
	require.Equal(t, []float64{4, 8}, learned(Scores{BySize: true}))
	require.Equal(t, []float64{28, 56}, learned(Scores{First: 7, BySize: true}))
	require.Equal(t, []float64{28, 56}, learned(Scores{First: 7, Reward: size}))
}

// A job submitted at 10 reaches its cluster at 40 and ends there at 100.
func TestReadingsOfAResponseTime(t *testing.T) {
	agents := newWorld(direct(), 4).Agents()
	whole := job(0, 10, 60, 1)
	task := job(0, 40, 60, 1)
	run := entity.NewRun(task, 0)
	run.Finish = 100 * des.Second
	for _, c := range []struct {
		spec      string
		emergency bool
		want      []float64 // the mean response time
	}{
		{"rla", false, []float64{90}},
		{"rla", true, []float64{90}},
		{"rla:emergencies=off", false, []float64{90}},
		{"rla:emergencies=off", true, []float64{0}},
		{"rla:reward=improvement:since=fragment", true, []float64{60}},
		{"rla:since=job", true, []float64{90}},
	} {
		made, err := Registry().Parse(c.spec)
		require.NoError(t, err)
		s := made.Value().(*RLA)
		s.start(agents)
		s.Done(nil, &grid.Fragment{Job: whole, Agent: agents[0], Emergency: c.emergency, Task: task, Run: run})
		require.Equal(t, c.want, s.mean, c.spec)
	}
}

func TestStrategiesAreAskedForByTheirRules(t *testing.T) {
	for spec, want := range map[string]struct {
		name string
		Scores
	}{
		"rla":                                 {"rla", Scores{}},
		"rla:reward=absolute":                 {"rla", Scores{}},
		"rla:reward=improvement":              {"rla-improvement", Scores{}},
		"rla:reward=relative":                 {"rla-relative", Scores{}},
		"rla:reward=sign:first=10:by-size=on": {"rla-sign", Scores{First: 10, BySize: true}},
		"rla:reward=size":                     {"rla-size", Scores{}},
		"hybrid":                              {"hybrid", Scores{}},
		"hybrid:reward=improvement:since=fragment": {"hybrid-improvement", Scores{FromArrival: true}},
		"hybrid:reward=inverse:emergencies=off":    {"hybrid-inverse", Scores{OwnOnly: true}},
	} {
		c, err := Registry().Parse(spec)
		require.NoError(t, err)
		s := c.Value()
		require.Equal(t, want.name, s.Name(), spec)
		var got Scores
		switch s := s.(type) {
		case *RLA:
			got = s.Scores
		case *Hybrid:
			got = s.Scores
		}
		got.Reward = Reward{}
		require.Equal(t, want.Scores, got, spec)
	}
	for spec, says := range map[string]string{
		"rla:reward=luck":                   `reward is "luck": want one of absolute, improvement, relative, sign, inverse, size`,
		"rla-improvement":                   `"rla-improvement" is not known`,
		"rla:first=0":                       "a whole number of 1 or more",
		"hybrid:since=birth":                `since is "birth": want job or fragment`,
		"oar:reward=sign":                   "it takes no parameters",
		"rla:reward=sign:emergencies=never": "want on or off",
	} {
		_, err := Registry().Parse(spec)
		require.ErrorContains(t, err, says)
	}
}

func TestSplitIsInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2000).Draw(t, "n")
		scores := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 1, 12).Draw(t, "scores")
		shares := split(n, scores, rapid.Float64Range(0, 0.999999).Draw(t, "u"))
		total, sum := 0, 0.0
		for _, s := range scores {
			sum += s
		}
		for c, got := range shares {
			total += got
			want := float64(n) / float64(len(scores))
			if sum > 0 {
				want = float64(n) * scores[c] / sum
			}
			require.InDelta(t, want, got, 1+1e-6)
			if sum > 0 && scores[c] == 0 {
				require.Zero(t, got)
			}
		}
		require.Equal(t, n, total)
	})
}

func TestSplitIsRightInTheMean(t *testing.T) {
	r := des.NewStream(1, 0, "test")
	var sum [3]int
	const n = 20000
	for range n {
		for c, k := range split(1, []float64{1, 2, 5}, r.Float64()) {
			sum[c] += k
		}
	}
	for c, want := range []float64{1. / 8, 2. / 8, 5. / 8} {
		require.InDelta(t, want, float64(sum[c])/n, 0.015)
	}
}

func TestAllScoresZeroAreEqualShares(t *testing.T) {
	require.Equal(t, []int{3, 3, 3}, split(9, []float64{0, 0, 0}, 0.5))
	w := newWorld(direct(), 4, 4)
	s := &RLA{}
	s.start(w.Agents())
	clear(s.score)
	w.run(t, 1, func() grid.Strategy { return s }, job(0, 0, 10, 4))
	require.Equal(t, 1, int(w.sites[0].Report(true).Jobs))
	require.Equal(t, 1, int(w.sites[1].Report(true).Jobs))
}

func TestAFragmentTooLargeIsTheRegulators(t *testing.T) {
	w := newWorld(direct(), 2, 8)
	j := job(0, 0, 10, 8) // 4 and 4
	w.run(t, 1, func() grid.Strategy { return &RLA{} }, j)
	s := w.Stats()
	require.EqualValues(t, 1, s.TooLarge)
	require.EqualValues(t, 1, s.Interventions)
	require.Zero(t, s.Cut)
	require.Contains(t, strings.Join(w.log, "\n"), "cluster-0 refuses 4 tasks: wants 4 processors of a cluster of 2")
	require.Equal(t, 10*des.Second, w.runs[j].Finish, "both halves fit into the larger one")
}

func TestWhatIsTooLargeForEveryClusterIsCut(t *testing.T) {
	w := newWorld(direct(), 3)
	j := job(0, 0, 10, 8)
	w.run(t, 1, func() grid.Strategy { return &RLA{} }, j)
	require.EqualValues(t, 2, w.Stats().Cut, "2, 3 and 3")
	require.Equal(t, entity.Finished, w.runs[j].State)
	require.Equal(t, 30*des.Second, w.runs[j].Finish)
}

func TestANetworkOfZeroBandwidth(t *testing.T) {
	for _, e := range Registry() {
		c, err := Registry().Parse(e.Name)
		require.NoError(t, err)
		w := newWorld(&grid.Network{Default: grid.Link{}}, 4, 4)
		j := job(0, 5, 10, 3)
		w.run(t, 1, c.Value, j)
		if e.Name == "central" {
			require.Equal(t, entity.Finished, w.runs[j].State, "it sends no messages")
			continue
		}
		require.Equal(t, entity.Rejected, w.runs[j].State, e.Name)
		require.Regexp(t, "the regulator cannot be reached|no site can be reached", w.runs[j].Reason)
		require.Zero(t, w.Stats().Messages)
	}
}

func TestAClusterOutOfReachIsDoneWithout(t *testing.T) {
	for _, name := range []string{"oar", "rla", "round-robin", "shortest-queue", "hybrid"} {
		n := direct()
		n.Links = map[[2]string]grid.Link{{"cluster-0", "broker-0"}: {}, {"cluster-0", "regulator"}: {}}
		w := newWorld(n, 8, 4)
		c, err := Registry().Parse(name)
		require.NoError(t, err)
		j := job(0, 0, 10, 8)
		w.run(t, 1, c.Value, j)
		require.Equal(t, entity.Finished, w.runs[j].State, name)
		require.Zero(t, w.sites[0].Report(true).Jobs, name)
	}
}

func TestTheRegulatorAloneOutOfReach(t *testing.T) {
	n := direct()
	n.Links = map[[2]string]grid.Link{{"cluster-0", "regulator"}: {}, {"cluster-1", "regulator"}: {}}
	w := newWorld(n, 2, 8)
	j := job(0, 0, 10, 8)
	w.run(t, 1, func() grid.Strategy { return &RLA{} }, j)
	require.Equal(t, entity.Killed, w.runs[j].State, "half of it ran")
	require.Contains(t, w.runs[j].Reason, "4 of 8 tasks were given up")
}

func TestOneAgentOnly(t *testing.T) {
	for _, name := range Registry().Names() {
		w := newWorld(far(1), 4)
		c, err := Registry().Parse(name)
		require.NoError(t, err)
		jobs := []*entity.Job{job(0, 0, 10, 4), job(1, 0, 10, 2), job(2, 3, 5, 9)}
		w.run(t, 1, c.Value, jobs...)
		_, rigid := c.Value().(grid.Router)
		for _, j := range jobs {
			if rigid && j.Request.Nodes > 4 {
				require.Equal(t, entity.Rejected, w.runs[j].State, name)
				require.Equal(t, "no site takes it: cluster-0: wants 9 processors of a cluster of 4", w.runs[j].Reason)
				continue
			}
			require.Equal(t, entity.Finished, w.runs[j].State, name)
		}
	}
}

func TestHundredsOfBrokersAtOneInstant(t *testing.T) {
	for _, name := range Registry().Names() {
		c, err := Registry().Parse(name)
		require.NoError(t, err)
		var prints []uint64
		for range 2 {
			w := newWorld(far(1), 16, 8, 4)
			var jobs []*entity.Job
			for id := range int64(300) {
				jobs = append(jobs, job(id, 7, des.Time(1+id%9), int(1+id%20)))
			}
			w.run(t, 300, c.Value, jobs...)
			prints = append(prints, w.sim.Fingerprint())
		}
		require.Equal(t, prints[0], prints[1], "%s: the same run twice", name)
	}
}

// Answers that take longer than agents keep reservations do not go on for ever.
func TestEmergencyReservationsThatExpire(t *testing.T) {
	w := newWorld(far(5), 2, 8)
	w.Expiry = des.Second
	j := job(0, 0, 10, 8)
	w.run(t, 1, func() grid.Strategy { return &RLA{} }, j)
	require.Equal(t, entity.Finished, w.runs[j].State)
	require.Positive(t, w.Stats().Expired)
	require.Contains(t, strings.Join(w.log, "\n"), "has expired")
}

func TestAStrategyThatPlacesTooManyEndsTheRun(t *testing.T) {
	w := newWorld(direct(), 8)
	w.AddBroker("broker", greedy{})
	w.Submit(slices.Values([]*entity.Job{job(0, 0, 10, 3)}), func(*entity.Job) int { return 0 })
	require.ErrorContains(t, w.sim.Run(context.Background()), "strategy greedy: of the 3 tasks of job 0 3 are placed: it cannot place 3 more")
}

func TestAJobThatMakesNoSenseEndsTheRun(t *testing.T) {
	for what, j := range map[string]*entity.Job{
		"job 7: a request needs at least 1 node": job(7, 0, 10, 0),
		"job 8: a request's length":              job(8, 0, 0, 1),
	} {
		w := newWorld(direct(), 8)
		w.AddBroker("broker", OAR{})
		w.Submit(slices.Values([]*entity.Job{j}), func(*entity.Job) int { return 0 })
		require.ErrorContains(t, w.sim.Run(context.Background()), what)
	}
}

type greedy struct{ OAR }

func (greedy) Name() string { return "greedy" }

func (greedy) Place(b *grid.Broker, j *entity.Job) {
	for range 2 {
		b.Submit(j, b.Agents()[0], j.Request.Nodes)
	}
}

func TestShortestQueueGoesWhereLeastWaits(t *testing.T) {
	w := newWorld(direct(), 4, 4)
	busy := []*entity.Job{job(-1, 0, 100, 4), job(-2, 0, 100, 4)}
	w.Agents()[0].Scheduler().SubmitAll(slices.Values(busy)) // one runs, one waits
	w.Agents()[1].Scheduler().SubmitAll(slices.Values([]*entity.Job{job(-3, 0, 50, 4)}))
	j := job(0, 1, 10, 4)
	w.run(t, 1, func() grid.Strategy { return ShortestQueue{} }, j)
	require.Equal(t, 50*des.Second, w.runs[j].Start)
}

func TestRoundRobinTakesTurns(t *testing.T) {
	w := newWorld(direct(), 4, 4, 4)
	var jobs []*entity.Job
	for id := range int64(6) {
		jobs = append(jobs, job(id, des.Time(id), 10, 2))
	}
	w.run(t, 1, func() grid.Strategy { return &RoundRobin{} }, jobs...)
	for _, v := range w.sites {
		require.Equal(t, 2, v.Report(true).Jobs)
	}
}

func TestWithEqualScoresHybridIsOAR(t *testing.T) {
	finish := func(make func() grid.Strategy) (all []des.Time) {
		w := newWorld(far(1), 4, 6, 2)
		var jobs []*entity.Job
		for id := range int64(7) { // none ends before the last is placed
			jobs = append(jobs, job(id, des.Time(id), 500+des.Time(10*id), int(1+3*id)))
		}
		w.run(t, 2, make, jobs...)
		for _, j := range jobs {
			all = append(all, w.runs[j].Finish)
		}
		return all
	}
	require.Equal(t, finish(func() grid.Strategy { return OAR{} }), finish(func() grid.Strategy { return &Hybrid{} }))
}
