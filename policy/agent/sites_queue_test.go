package agent

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

var everyRule = []Rule{LeastWork, LeastJobs, InTurn, AtRandom, EarliestStart, LeastCost}

// startsAt runs jobs on a grid of clusters behind one broker, and tells when each
// started and where.
func startsAt(t require.TestingT, s grid.Strategy, local entity.Policy, sizes []int, jobs []*entity.Job) (at []des.Time, site []int) {
	w := &world{sim: des.New(des.Config{Seed: 3}), runs: became{}}
	w.Grid = grid.NewGrid(w.sim, direct(), w.runs)
	where := map[int64]int{}
	for i, n := range sizes {
		w.AddAgent(fmt.Sprint("site-", i), plan.NewCluster(n), local, observe(func(e entity.JobEvent) {
			if e.Kind == entity.JobStarted {
				where[e.Run.ID] = i
			}
		}))
	}
	w.AddBroker("broker", s)
	w.Submit(slices.Values(jobs), func(*entity.Job) int { return 0 })
	require.NoError(t, w.sim.Run(context.Background()))
	for _, j := range jobs {
		require.Equal(t, entity.Finished, w.runs[j].State, "%v: %s", j, w.runs[j].Reason)
		at = append(at, w.runs[j].Start)
		site = append(site, where[j.ID])
	}
	return at, site
}

type observe func(entity.JobEvent)

func (o observe) Observe(e entity.JobEvent) { o(e) }

// alone runs jobs on one cluster.
func alone(t require.TestingT, local entity.Policy, processors int, jobs []*entity.Job) (at []des.Time) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(processors), local)
	var runs []*entity.Run
	for _, j := range jobs {
		runs = append(runs, m.Submit(j))
	}
	require.NoError(t, sim.Run(context.Background()))
	for _, r := range runs {
		at = append(at, r.Start)
	}
	return at
}

func drawJobs(t *rapid.T, nodes int) (jobs []*entity.Job) {
	at := des.Time(0)
	for id := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		at += des.Time(rapid.IntRange(0, 12).Draw(t, "gap"))
		jobs = append(jobs, job(int64(id), at, des.Time(rapid.IntRange(1, 30).Draw(t, "length")), rapid.IntRange(1, nodes).Draw(t, "nodes")))
	}
	return jobs
}

func TestBehindAnyRuleOneSiteIsTheClusterAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processors := rapid.IntRange(1, 8).Draw(t, "processors")
		jobs := drawJobs(t, processors)
		for _, j := range jobs {
			j.Request.Length += des.Time(rapid.IntRange(0, 20).Draw(t, "slack")) * des.Second
		}
		for _, local := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
			want := alone(t, local, processors, jobs)
			strategies := []grid.Strategy{&RoundRobin{}, ShortestQueue{}, &Sites{By: LeastSent}, &Sites{Age: 100 * des.Second}}
			for _, rule := range everyRule {
				strategies = append(strategies, &Sites{By: rule})
			}
			for _, s := range strategies {
				got, _ := startsAt(t, s, local, []int{processors}, jobs)
				require.Equal(t, want, got, "%s, %s", s.Name(), local.Name())
			}
		}
	})
}

// Those that reserve plan each job as it comes, as conservative backfilling does that
// moves nothing up.
func TestBehindARouterThatReservesOneSiteIsPlannedInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processors := rapid.IntRange(1, 8).Draw(t, "processors")
		jobs := drawJobs(t, processors)
		want := alone(t, backfill.Conservative{NoCompression: true}, processors, jobs)
		for _, by := range []Rule{LeastCost, EarliestEnd, OwnCriterion} {
			got, _ := startsAt(t, &Sites{By: by, Reserve: true}, backfill.EASY{}, []int{processors}, jobs)
			require.Equal(t, want, got, "rule %d", by)
		}
	})
}

func TestLeastWorkOnHostsOfOneProcessorIsOneQueueBeforeThemAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t, 1)
		hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
		want := alone(t, backfill.FCFS{}, hosts, jobs)
		for _, rule := range []Rule{LeastWork, EarliestStart} {
			got, _ := startsAt(t, &Sites{By: rule}, backfill.FCFS{}, slices.Repeat([]int{1}, hosts), jobs)
			require.Equal(t, want, got, dispatchRules.Name(rule))
		}
	})
}

// erlangC is the mean wait of M/M/c at arrival rate l and service rate 1.
func erlangC(c int, l float64) float64 {
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= l / float64(k+1)
	}
	term /= 1 - l/float64(c)
	return term / (sum + term) / (float64(c) - l)
}

// meanWait is that of exponential jobs, of a mean of 1,000 s and arriving so often
// per mean length, on hosts of so many processors.
func meanWait(t *testing.T, s grid.Strategy, hosts, processors int, rate float64, n int) float64 {
	random := des.New(des.Config{Seed: 11}).Stream("workload")
	var jobs []*entity.Job
	at := 0.0
	for id := range n {
		at += random.ExpFloat64() / rate
		length := max(1, des.Time(random.ExpFloat64()*1e9))
		jobs = append(jobs, &entity.Job{ID: int64(id), Submit: des.Time(at * 1e9), Runtime: length, Request: entity.Request{Nodes: 1, Length: length}})
	}
	starts, _ := startsAt(t, s, backfill.FCFS{}, slices.Repeat([]int{processors}, hosts), jobs)
	var sum float64
	for i, j := range jobs {
		sum += float64(starts[i]-j.Submit) / 1e9
	}
	return sum / float64(len(jobs))
}

func TestTwoSitesBehindARouterWaitAsTheQueueingModelsSay(t *testing.T) {
	const rate = 1.6 // of two processors: a load of 0.8
	const n = 100_000
	random := meanWait(t, &Sites{By: AtRandom}, 2, 1, rate, n)
	require.InEpsilon(t, erlangC(1, rate/2), random, 0.05, "two M/M/1")

	// E2/M/1: s = (l/(l+1-s))^2 for arrivals of two stages at the rate l, wait s/(1-s).
	s := 0.5
	for range 200 {
		s = math.Pow(rate/(rate+1-s), 2)
	}
	turns := meanWait(t, &Sites{By: InTurn}, 2, 1, rate, n)
	require.InEpsilon(t, s/(1-s), turns, 0.05, "two E2/M/1")

	least := meanWait(t, &Sites{By: LeastWork}, 2, 1, rate, n)
	require.InEpsilon(t, erlangC(2, rate), least, 0.05, "one M/M/2")

	shortest := meanWait(t, &Sites{By: LeastJobs}, 2, 1, rate, n)
	require.Less(t, least, shortest)
	require.Less(t, shortest, turns)
	require.Less(t, turns, random)

	require.InEpsilon(t, erlangC(3, 2.4), meanWait(t, &Sites{By: AtRandom}, 2, 3, 4.8, n), 0.06, "two M/M/3")
}

// Mitzenmacher's herd: the older the answers, the longer the waits, up to more than
// knowing nothing costs.
func TestOldInformationMisleads(t *testing.T) {
	fresh := meanWait(t, &Sites{By: LeastJobs}, 4, 1, 3.2, 20_000)
	old := meanWait(t, &Sites{By: LeastJobs, Age: 1000 * des.Second}, 4, 1, 3.2, 20_000)
	older := meanWait(t, &Sites{By: LeastJobs, Age: 10_000 * des.Second}, 4, 1, 3.2, 20_000)
	require.Less(t, fresh, old)
	require.Less(t, old, older)
	require.Greater(t, older, meanWait(t, &Sites{By: AtRandom}, 4, 1, 3.2, 20_000))
}

// Site 0 is busy at 0, and site 1 is from then on; nobody knows before 50.
func TestARouterKnowsSitesAsTheyWereWhenItAsked(t *testing.T) {
	jobs := []*entity.Job{job(0, 0, 40, 4), job(1, 1, 1000, 4), job(2, 10, 5, 1), job(3, 49, 5, 1), job(4, 51, 5, 1)}
	_, site := startsAt(t, &Sites{Age: 50 * des.Second}, backfill.FCFS{}, []int{4, 4}, jobs)
	require.Equal(t, []int{0, 0, 0, 0, 1}, site, "nothing ran at 0")
	_, site = startsAt(t, &Sites{}, backfill.FCFS{}, []int{4, 4}, jobs)
	require.Equal(t, []int{0, 1, 0, 0, 0}, site)
}

// Site 0 is free at 10, but somebody waits there for 100 s; site 1 is free at 20.
func TestTheEarliestStartMindsWhoWaits(t *testing.T) {
	jobs := []*entity.Job{job(0, 0, 10, 4), job(1, 0, 20, 4), job(2, 1, 100, 4), job(3, 2, 5, 4)}
	_, site := startsAt(t, &Sites{By: EarliestStart}, backfill.FCFS{}, []int{4, 4}, jobs)
	require.Equal(t, []int{0, 1, 0, 1}, site)
}

// The fast site is busy until 10, and would be done with the job at 20.
func TestTheEarliestStartIsNotTheEarliestEnd(t *testing.T) {
	w := newWorld(direct(), 4, 4)
	w.Agents()[1].Speed = 10
	w.Agents()[1].Scheduler().Submit(job(-1, 0, 10, 4))
	j := job(0, 1, 100, 4)
	w.run(t, 1, func() grid.Strategy { return &Sites{By: EarliestStart} }, j)
	require.Equal(t, des.Second, w.runs[j].Start)
	require.Equal(t, 101*des.Second, w.runs[j].Finish)
}

func TestTurnsPassOverSitesThatAreTooSmall(t *testing.T) {
	jobs := []*entity.Job{job(0, 0, 1, 1), job(1, 1, 1, 3), job(2, 2, 1, 1), job(3, 3, 1, 3), job(4, 4, 1, 3), job(5, 5, 1, 1)}
	_, site := startsAt(t, &Sites{By: InTurn}, backfill.FCFS{}, []int{4, 2, 4}, jobs)
	require.Equal(t, []int{0, 2, 0, 2, 0, 1}, site)
}

func TestTheLeastIsTakenForASitesPower(t *testing.T) {
	jobs := []*entity.Job{job(0, 0, 100, 2), job(1, 1, 100, 2), job(2, 2, 100, 2), job(3, 3, 100, 2)}
	for rule, want := range map[Rule][]int{LeastWork: {0, 1, 1, 1}, LeastJobs: {0, 1, 1, 1}} {
		_, site := startsAt(t, &Sites{By: rule}, backfill.FCFS{}, []int{2, 8}, jobs)
		require.Equal(t, want, site, dispatchRules.Name(rule))
	}
}

func TestAJobThatNoSiteTakesIsRejectedForWhatTheFirstSays(t *testing.T) {
	for _, rule := range everyRule {
		w := newWorld(direct(), 4, 2)
		w.Agents()[0].QueueLimit, w.Agents()[1].QueueLimit = 1, 1
		jobs := []*entity.Job{
			job(0, 0, 100, 5),                                      // too large for both
			job(1, 1, 100, 4),                                      // runs on the first
			job(2, 2, 100, 2), job(3, 3, 100, 2), job(4, 4, 90, 2), // the second runs, and one waits at each
			job(5, 5, 90, 2), // both queues are full
			job(6, 6, 90, 4), // the first one's is, and the second is too small
		}
		w.run(t, 1, func() grid.Strategy { return &Sites{By: rule} }, jobs...)
		require.Equal(t, "no site takes it: cluster-0: wants 5 processors of a cluster of 4 (and 1 other sites)", w.runs[jobs[0]].Reason)
		for _, j := range jobs[1:5] {
			require.Equal(t, entity.Finished, w.runs[j].State, "%v: %v", rule, j)
		}
		require.Contains(t, w.runs[jobs[5]].Reason, "1 jobs wait already (and 1 other sites)", dispatchRules.Name(rule))
		require.Contains(t, w.runs[jobs[6]].Reason, "cluster-0: 1 jobs wait already", dispatchRules.Name(rule))
		require.Zero(t, w.Stats().Interventions)
	}
}

func TestDispatchersConserveWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
		n := far(des.Time(draw(0, 20, "latency")))
		n.Links = map[[2]string]grid.Link{}
		if draw(0, 3, "cut off") == 0 {
			n.Links[[2]string{"broker-0", "cluster-0"}] = grid.Link{}
		}
		var sizes []int
		for range draw(1, 5, "sites") {
			sizes = append(sizes, draw(1, 12, "processors"))
		}
		w := newWorld(n, sizes...)
		for _, a := range w.Agents() {
			a.Speed, a.QueueLimit = []float64{0.5, 1, 1.7}[draw(0, 2, "speed")], draw(0, 3, "queue limit")
		}
		d := Sites{By: rapid.SampledFrom(everyRule).Draw(t, "rule"), Age: des.Time(draw(0, 60, "age")) * des.Second}
		w.run(t, draw(1, 3, "brokers"), func() grid.Strategy { own := d; return &own }, drawJobs(t, 12)...)
	})
}

func TestThePriceDecidesWhereSitesHaveOne(t *testing.T) {
	w := newVO(direct())
	w.add(t, backfill.EASY{}, node(1, 3), node(1, 3))
	w.add(t, backfill.EASY{}, node(1, 2), node(1, 2))
	dear, cheap := priced(0, 0, 50, 2, 1000), priced(1, 1, 10, 1, 25)
	w.run2(t, &Sites{By: LeastCost}, dear, cheap)
	require.Equal(t, []string{"domain-1 2"}, w.where[dear])
	require.Equal(t, []string{"domain-1 1"}, w.where[cheap], "though it waits there")
}

// A grid that is a site passes what is asked of it to its own sites.
func TestADispatcherSendsToAGridAsToASite(t *testing.T) {
	for _, rule := range everyRule {
		sim := des.New(des.Config{Seed: 1})
		runs := became{}
		top := grid.NewGrid(sim, direct(), runs)
		low := top.AddGrid("low", direct(), &Sites{By: rule})
		low.AddAgent("a", plan.NewCluster(2), backfill.EASY{})
		low.AddAgent("b", plan.NewCluster(4), backfill.EASY{})
		top.AddAgent("c", plan.NewCluster(3), backfill.EASY{})
		top.AddBroker("broker", &Sites{By: rule})
		var jobs []*entity.Job
		for id := range int64(12) {
			jobs = append(jobs, job(id, des.Time(id), 30, 1+int(id)%4))
		}
		top.Submit(slices.Values(jobs), func(*entity.Job) int { return 0 })
		require.NoError(t, sim.Run(context.Background()))
		for _, j := range jobs {
			require.Equal(t, entity.Finished, runs[j].State, "%v", rule)
		}
	}
}

// The two sites of the grid below have 60 s left each, and so has it; c has 40.
func TestWhatIsLeftOfAGridIsThatOfItsSitesByTheirSizes(t *testing.T) {
	sim := des.New(des.Config{Seed: 1})
	runs := became{}
	top := grid.NewGrid(sim, direct(), runs)
	low := top.AddGrid("low", direct(), &Sites{})
	low.AddAgent("a", plan.NewCluster(2), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 60, 2))
	low.AddAgent("b", plan.NewCluster(4), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 60, 4))
	top.AddAgent("c", plan.NewCluster(3), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 40, 3))
	top.AddBroker("broker", &Sites{})
	j := job(1, 0, 10, 2)
	top.Submit(slices.Values([]*entity.Job{j}), func(*entity.Job) int { return 0 })
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 40*des.Second, runs[j].Start)
}

func TestADispatcherIsAskedForByItsRule(t *testing.T) {
	for spec, want := range map[string]*Sites{
		"dispatch":                       {},
		"dispatch:by=least-jobs:age=300": {By: LeastJobs, Age: 300 * des.Second},
		"dispatch:by=price":              {By: LeastCost},
	} {
		c, err := Registry().Parse(spec)
		require.NoError(t, err)
		require.Equal(t, want, c.Value())
		require.NotSame(t, c.Value(), c.Value(), "a broker's own")
	}
	for spec, want := range map[string]string{
		"dispatch:by=luck":          "want least-work, least-jobs, round-robin, random, earliest or price",
		"dispatch:by=random:age=30": "want by=least-work or by=least-jobs beside it",
		"dispatch:age=-1":           "want a time of 0 or more",
	} {
		_, err := Registry().Parse(spec)
		require.ErrorContains(t, err, want)
	}
}
