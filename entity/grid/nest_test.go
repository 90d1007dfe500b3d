package grid_test

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
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/policy/backfill"
)

// telling is a router that writes down what it is told.
type telling struct {
	grid.Router
	sim   *des.Simulator
	write func(string)
}

func (r telling) Done(b *grid.Broker, f *grid.Fragment) {
	r.write(fmt.Sprintf("%v %s hears of the end of job %d on %s", r.sim.Now(), b.Name(), f.Job.ID, f.Agent.Name()))
	r.Router.Done(b, f)
}

func (r telling) Answered(b *grid.Broker, f *grid.Fragment, refusal string) {
	r.write(fmt.Sprintf("%v %s is answered about job %d on %s: %q", r.sim.Now(), b.Name(), f.Job.ID, f.Agent.Name(), refusal))
	r.Router.Answered(b, f, refusal)
}

// nested is a simulation of a grid "north" with sites of its own, one of which may
// be a grid again.
type nested struct {
	sim   *des.Simulator
	top   *grid.Grid
	lines []string
}

func (n *nested) write(line string) { n.lines = append(n.lines, line) }

func (n *nested) told(r grid.Router) grid.Router { return telling{r, n.sim, n.write} }

func over(latency des.Time) *grid.Network {
	return &grid.Network{Default: grid.Link{Latency: latency * des.Second, Bandwidth: math.Inf(1)}}
}

func nest(latency des.Time) *nested {
	n := &nested{sim: des.New(des.Config{Seed: 1})}
	n.top = grid.NewGrid(n.sim, over(latency), journal{n.write})
	return n
}

// level adds a grid below another one.
func (n *nested) level(above *grid.Grid, name string, latency des.Time, s grid.Router) *grid.Grid {
	return above.AddGrid(name, over(latency), n.told(s))
}

// run runs it with brokers who get the jobs in turn.
func (n *nested) run(t require.TestingT, brokers []grid.Strategy, jobs ...*entity.Job) string {
	for i, s := range brokers {
		if r, ok := s.(grid.Router); ok {
			s = n.told(r)
		}
		n.top.AddBroker(fmt.Sprintf("broker-%d", i), s)
	}
	n.top.Submit(slices.Values(jobs), func(j *entity.Job) int { return int(j.ID) % len(brokers) })
	require.NoError(t, n.sim.Run(context.Background()))
	require.Zero(t, n.top.Open(), "jobs are left open")
	for _, a := range n.top.Agents() {
		if g := a.Below(); g != nil {
			require.Zero(t, g.Open(), "jobs are left open below")
		}
	}
	return strings.Join(n.lines, "\n")
}

// Down to a site it is 1 + 10 + 100 seconds.
func TestMessagesTakeTheirTimeAtEachHop(t *testing.T) {
	n := nest(1)
	north := n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	arctic := n.level(north, "arctic", 100, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	arctic.AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	require.Equal(t, `333 job 0 started
353 job 0 finished
444 broker-0 is answered about job 0 on north: ""
464 broker-0 hears of the end of job 0 on north`,
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.EarliestEnd, Reserve: true}}, job(0, 0, 20, 4)))
	// Of each hop: ask, offer, reserve, reserved, done.
	require.EqualValues(t, 15, n.top.Stats().Messages)
	require.EqualValues(t, 15*128+3*24, n.top.Stats().Bytes)
	require.Equal(t, "north/arctic/astra", n.top.Leaves()[0].Name())
}

// In the second round astra offers the window from 133 on.
func TestARefusedReservationTravelsUp(t *testing.T) {
	n := nest(1)
	north := n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	byEnd := func() grid.Strategy { return &agent.Sites{By: agent.EarliestEnd, Reserve: true} }
	require.Equal(t, `33 job 0 started
44 broker-0 is answered about job 0 on north: ""
44 broker-1 is answered about job 1 on north: "conflict: fewer processors are free"
88 broker-1 is answered about job 1 on north: ""
133 job 0 finished
133 job 1 started
143 job 1 finished
144 broker-0 hears of the end of job 0 on north
154 broker-1 hears of the end of job 1 on north`,
		n.run(t, []grid.Strategy{byEnd(), byEnd()}, job(0, 0, 100, 3), job(1, 0, 10, 3)))
	stats := n.top.Stats()
	require.EqualValues(t, 1, stats.Conflicts)
	require.EqualValues(t, 3, stats.Reservations, "what is passed on is one reservation")
	require.EqualValues(t, 2, stats.Fragments)
	require.EqualValues(t, 33+133, stats.FragmentWait)
}

// South is nearer and slower; astra is busy, and borea is too small.
func TestAMetaschedulerAnswersWithTheBestOfItsSites(t *testing.T) {
	for _, all := range []bool{false, true} {
		n := nest(0)
		south := n.top.AddAgent("south", plan.NewCluster(4), backfill.EASY{})
		south.Speed = 0.1
		north := n.level(n.top, "north", 0, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
		north.AllOffers = all
		north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 50, 4))
		north.AddAgent("borea", plan.NewCluster(2), backfill.EASY{})
		cygnus := north.AddAgent("cygnus", plan.NewCluster(4), backfill.EASY{})
		cygnus.Speed = 0.5
		require.Equal(t, `1 job 0 started
1 broker-0 is answered about job 0 on north: ""
21 job 0 finished
21 broker-0 hears of the end of job 0 on north`,
			n.run(t, []grid.Strategy{&agent.Sites{By: agent.EarliestEnd, Reserve: true}}, job(0, 1, 10, 4)))
		bytes := 24 * 4 // south's, astra's and cygnus's, and north's
		if all {
			bytes += 24
		}
		require.EqualValues(t, bytes, n.top.Stats().Bytes%128)
	}
}

// A submission is placed by the lower level's own rule, here by asking its sites.
func TestWhatIsSubmittedToAMetaschedulerItPlacesItself(t *testing.T) {
	n := nest(1)
	north := n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	north.AddAgent("astra", plan.NewCluster(2), backfill.EASY{})
	north.AddAgent("borea", plan.NewCluster(4), backfill.EASY{})
	require.Equal(t, `31 job 0 started
41 north/broker is answered about job 0 on north/borea: ""
51 job 0 finished
61 north/broker hears of the end of job 0 on north/borea
62 broker-0 hears of the end of job 0 on north`,
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastSent}}, job(0, 0, 20, 4)))
}

// No site takes the job by its deadline; north says so to the broker, whose
// regulator asks everybody once more.
func TestARejectionTravelsUp(t *testing.T) {
	n := nest(1)
	north := n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 500, 4))
	urgent := job(0, 0, 20, 4)
	urgent.Request.Deadline = 300 * des.Second
	require.Equal(t, `22 broker-0 is answered about job 0 on north: "no site takes it: north/astra: has no window within its budget and deadline as far ahead as it plans"
45 job 0 rejected: 4 of 4 tasks were given up: no cluster that can be reached takes them`,
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastSent}}, urgent))
	n = nest(1)
	north = n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 500, 4))
	require.Equal(t, `22 job 0 rejected: no site takes it: north: astra: has no window within its budget and deadline as far ahead as it plans`,
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastCost, Reserve: true}}, urgent))
}

// The job waits in astra's queue when its deadline comes too near, and is rejected
// there in the end: nobody looks for another place.
func TestARejectionInTheEndTravelsUp(t *testing.T) {
	n := nest(1)
	north := n.level(n.top, "north", 10, &agent.Sites{By: agent.LeastSent})
	north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 500, 4))
	urgent := job(0, 0, 20, 4)
	urgent.Request.Deadline = 300 * des.Second
	require.Equal(t, `280.000001 job 0 rejected: 4 of 4 tasks were given up: its deadline, 300, can no longer be met
290.000001 north/broker hears of the end of job 0 on north/astra
291.000001 broker-0 hears of the end of job 0 on north`,
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastSent}}, urgent))
}

// toTheRegulator is a router that leaves every job to the regulator.
type toTheRegulator struct{ agent.Sites }

func (*toTheRegulator) Place(b *grid.Broker, j *entity.Job) { b.Intervene(j, j.Request.Nodes) }

// freeFrom reports whether nothing is planned on a cluster from then on.
func freeFrom(c *plan.Cluster, second des.Time) bool {
	for slot := range c.Slots(second*des.Second, des.Forever) {
		return slot == entity.Slot{Width: c.Size(), Start: second * des.Second, End: des.Forever}
	}
	return false
}

// Asking takes 11 s down and 11 up: south's window ends at 1 + 200, astra's is
// kept from 50 on, borea's is given up at once.
func TestTheRegulatorAsksThroughAMetascheduler(t *testing.T) {
	for _, expiry := range []des.Time{0, 40} {
		n := nest(1)
		n.top.Expiry = expiry * des.Second
		n.top.AddAgent("south", plan.NewCluster(4), backfill.EASY{}).Speed = 0.1
		north := n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
		astra, borea := plan.NewCluster(4), plan.NewCluster(4)
		north.AddAgent("astra", astra, backfill.EASY{}).Scheduler().Submit(job(-1, 0, 50, 4))
		north.AddAgent("borea", borea, backfill.EASY{}).Scheduler().Submit(job(-2, 0, 90, 4))
		for second, want := range map[des.Time]bool{31: false, 33: true} {
			n.sim.At(second*des.Second, entity.PhaseEnd, des.Func(func(*des.Simulator, des.Event) {
				require.Equal(t, want, freeFrom(borea, 95), "at %d", second)
			}), 0)
		}
		require.Equal(t, `50 job 0 started
70 job 0 finished
81 broker-0 hears of the end of job 0 on north`, n.run(t, []grid.Strategy{&toTheRegulator{agent.Sites{By: agent.LeastCost, Reserve: true}}}, job(0, 0, 20, 4)))
		require.Zero(t, n.top.Stats().Expired)
	}
}

// What is kept for 20 s has expired when the commit comes, 1 + 10 + 10 + 1 + 1 s after
// north was asked; the second time it is kept for 40 s.
func TestAHoldBelowThatExpiresIsAskedForAgain(t *testing.T) {
	n := nest(1)
	n.top.Expiry = 20 * des.Second
	north := n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{}).Scheduler().Submit(job(-1, 0, 200, 4))
	require.Equal(t, `200 job 0 started
220 job 0 finished
231 broker-0 hears of the end of job 0 on north`, n.run(t, []grid.Strategy{&toTheRegulator{agent.Sites{By: agent.LeastCost, Reserve: true}}}, job(0, 0, 20, 4)))
	require.EqualValues(t, 1, n.top.Stats().Expired)
}

func TestAStrategyThatSplitsJobsCannotUseAMetascheduler(t *testing.T) {
	n := nest(0)
	n.level(n.top, "north", 0, &agent.Sites{By: agent.LeastCost, Reserve: true}).AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	n.top.AddBroker("broker", agent.OAR{})
	n.top.Submit(slices.Values([]*entity.Job{job(0, 5, 1, 1)}), func(*entity.Job) int { return 0 })
	require.EqualError(t, n.sim.Run(context.Background()), "at 5, broker, strategy oar: it splits jobs, and a site that is a grid takes them whole")
}

func TestLoadsAreThoseOfAllSites(t *testing.T) {
	n := nest(1)
	north := n.level(n.top, "north", 10, &agent.Sites{By: agent.LeastCost, Reserve: true})
	astra := north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{}).Scheduler()
	borea := north.AddAgent("borea", plan.NewCluster(12), backfill.EASY{}).Scheduler()
	for _, s := range []*entity.Metascheduler{astra, borea} {
		s.Submit(job(-1, 0, 100, 4))
	}
	astra.Submit(job(-2, 0, 200, 4))
	borea.Submit(job(-2, 0, 50, 12))
	borea.Submit(job(-3, 0, 50, 12))
	var got []grid.Backlog
	ask := &asking{Router: &agent.Sites{By: agent.LeastCost, Reserve: true}, then: func(l []grid.Backlog) { got = l }}
	n.run(t, []grid.Strategy{ask}, job(0, 1, 1, 1))
	require.Len(t, got, 1)
	require.Equal(t, 3, got[0].Jobs)
	require.Equal(t, 125*des.Second, got[0].Time, "4 processors for 200 s and 12 for 100 s, on 16")
	require.Equal(t, "north", got[0].Agent.Name())
	require.Equal(t, 16, got[0].Agent.Processors())
	require.Equal(t, 16.0, got[0].Agent.Power())
	require.NoError(t, got[0].Agent.Fits(job(0, 0, 1, 12).Request))
	require.EqualError(t, got[0].Agent.Fits(job(0, 0, 1, 13).Request), "astra: wants 13 processors of a cluster of 4")
}

// asking is a router that asks for loads first.
type asking struct {
	grid.Router
	then func([]grid.Backlog)
}

func (a *asking) Place(b *grid.Broker, j *entity.Job) {
	b.AskLoad(func(l []grid.Backlog) {
		a.then(l)
		a.Router.Place(b, j)
	})
}

// Without a network a hierarchy whose levels pass on all offers is no other than its
// sites, and so is one whose levels go by the brokers' rule.
func TestANestedGridWithoutLatencyIsAFlatOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SampledFrom([]agent.Rule{agent.LeastCost, agent.EarliestEnd, agent.OwnCriterion}).Draw(t, "by")
		all := rapid.Bool().Draw(t, "all offers")
		type site struct {
			processors, depth int
			speed             float64
			busy              des.Time
		}
		sites := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) site {
			return site{
				rapid.IntRange(1, 6).Draw(t, "processors"), rapid.IntRange(0, 3).Draw(t, "depth"),
				rapid.SampledFrom([]float64{0.5, 1, 3}).Draw(t, "speed"), des.Time(rapid.IntRange(1, 30).Draw(t, "busy")),
			}
		}), 1, 6).Draw(t, "sites")
		type arrival struct{ after, length, nodes, patience int }
		var jobs []*entity.Job
		now := des.Time(0)
		for i, a := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) arrival {
			return arrival{rapid.IntRange(0, 5).Draw(t, "after"), rapid.IntRange(1, 20).Draw(t, "length"),
				rapid.IntRange(1, 7).Draw(t, "nodes"), rapid.IntRange(20, 100).Draw(t, "patience")}
		}), 1, 20).Draw(t, "jobs") {
			now += des.Time(a.after)
			j := job(int64(i), now, des.Time(a.length), a.nodes)
			j.Request.Deadline = (now + des.Time(a.patience)) * des.Second
			jobs = append(jobs, j)
		}
		play := func(deep bool) string {
			n := &nested{sim: des.New(des.Config{Seed: 1})}
			n.top = grid.NewGrid(n.sim, over(0), journal{func(line string) {
				line, _, _ = strings.Cut(line, ": ") // why a job is rejected
				n.write(line)
			}})
			open := []*grid.Grid{n.top}
			for i, s := range sites {
				for deep && len(open) <= s.depth {
					g := open[len(open)-1].AddGrid(fmt.Sprintf("level-%d", i), over(0), &agent.Sites{By: by, Reserve: true})
					g.AllOffers = all
					open = append(open, g)
				}
				if deep {
					open = open[:s.depth+1]
				}
				a := open[len(open)-1].AddAgent(fmt.Sprintf("site-%d", i), plan.NewCluster(s.processors), backfill.EASY{})
				a.Speed = s.speed
				a.Scheduler().Submit(job(-1, 0, s.busy, s.processors))
			}
			n.top.AddBroker("broker", &agent.Sites{By: by, Reserve: true})
			n.top.Submit(slices.Values(jobs), func(*entity.Job) int { return 0 })
			require.NoError(t, n.sim.Run(context.Background()))
			require.Zero(t, n.top.Open())
			return strings.Join(n.lines, "\n")
		}
		require.Equal(t, play(false), play(true))
	})
}

// South's window ends first: north is told to keep nothing, and tells astra.
func TestWhatTheRegulatorCancelsIsFreeBelow(t *testing.T) {
	n := nest(1)
	n.top.AddAgent("south", plan.NewCluster(4), backfill.EASY{}).Speed = 2
	arctic := n.level(n.level(n.top, "north", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true}), "arctic", 10, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	astra := plan.NewCluster(4)
	arctic.AddAgent("astra", astra, backfill.EASY{}).Scheduler().Submit(job(-1, 0, 200, 4))
	free := func(second des.Time, want bool) {
		n.sim.At(second*des.Second, entity.PhaseEnd, des.Func(func(*des.Simulator, des.Event) {
			require.Equal(t, want, freeFrom(astra, 205), "at %d", second)
		}), 0)
	}
	free(64, false) // before the message that comes then: 1 to the regulator, 21 down, up, and down again
	free(65, true)
	require.Equal(t, `44 job 0 started
54 job 0 finished
55 broker-0 hears of the end of job 0 on south`, n.run(t, []grid.Strategy{&toTheRegulator{agent.Sites{By: agent.LeastCost, Reserve: true}}}, job(0, 0, 20, 4)))
	require.Zero(t, n.top.Stats().Expired)
}

// Reservations from above are none of the lower strategy's: north sends the second
// job to borea, as it counts astra's work only while it is there, and no less.
func TestTheLowerStrategyDoesNotHearOfWhatItHasNotPlaced(t *testing.T) {
	n := nest(0)
	north := n.level(n.top, "north", 0, &agent.Sites{By: agent.LeastSent})
	north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	north.AddAgent("borea", plan.NewCluster(4), backfill.EASY{})
	require.Equal(t, `0 job 0 started
10 job 0 finished
10 broker-0 hears of the end of job 0 on north
20 job 1 started
20 job 3 started
40 job 3 finished
40 north/broker hears of the end of job 3 on north/borea
40 broker-1 hears of the end of job 3 on north
70 job 1 finished
70 north/broker hears of the end of job 1 on north/astra
70 broker-1 hears of the end of job 1 on north`,
		strings.ReplaceAll(n.run(t, []grid.Strategy{&agent.Sites{By: agent.EarliestEnd, Reserve: true}, &agent.Sites{By: agent.LeastSent}},
			job(0, 0, 10, 4), job(1, 20, 50, 4), job(3, 20, 20, 4)), "0 broker-0 is answered about job 0 on north: \"\"\n", ""))
}

// The reason is the site's own.
func TestAJobThatIsKilledBelowIsKilled(t *testing.T) {
	n := nest(0)
	n.level(n.top, "north", 0, &agent.Sites{By: agent.LeastSent}).AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	long := job(0, 0, 20, 4)
	long.Request.Length = 10 * des.Second
	flat := nest(0)
	flat.top.AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	flat.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastSent}}, long)
	n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastSent}}, long)
	require.Contains(t, flat.lines[1], "10 job 0 killed: ")
	require.NotEqual(t, "10 job 0 killed: ", flat.lines[1])
	require.Equal(t, flat.lines[:2], n.lines[:2])
}

func TestAMetaschedulerThatReachesNoSiteSaysSo(t *testing.T) {
	n := nest(1)
	network := over(1)
	network.Links = map[[2]string]grid.Link{{"astra", "broker"}: {}, {"regulator", "astra"}: {}}
	n.top.AddGrid("north", network, &agent.Sites{By: agent.LeastCost, Reserve: true}).AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	require.Equal(t, "2 job 0 rejected: no site takes it: north: has no site that can be reached",
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastCost, Reserve: true}}, job(0, 0, 1, 1)))
	n.lines = nil
	n = nest(1)
	n.top.AddGrid("north", network, &agent.Sites{By: agent.LeastCost, Reserve: true}).AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	require.Equal(t, "3 job 0 rejected: 1 of 1 tasks were given up: no cluster that can be reached takes them",
		n.run(t, []grid.Strategy{&toTheRegulator{agent.Sites{By: agent.LeastCost, Reserve: true}}}, job(0, 0, 1, 1)))
}

// They take part in everything, and the grid above hears nothing of them.
func TestALowerLevelMayHaveJobsOfItsOwn(t *testing.T) {
	n := nest(0)
	north := n.level(n.top, "north", 0, &agent.Sites{By: agent.EarliestEnd, Reserve: true})
	north.AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	north.Submit(slices.Values([]*entity.Job{job(7, 0, 10, 4)}), func(*entity.Job) int { return 0 })
	require.Equal(t, `0 north/broker is answered about job 7 on north/astra: ""
1 broker-0 is answered about job 0 on north: ""
10 job 0 started
10 north/broker hears of the end of job 7 on north/astra
30 job 0 finished
30 broker-0 hears of the end of job 0 on north`,
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.EarliestEnd, Reserve: true}}, job(0, 1, 20, 4)))
}

// A site that sees everything cannot see through a metascheduler.
func TestAMetaschedulerIsAskedByMessages(t *testing.T) {
	n := nest(0)
	n.level(n.top, "north", 0, &agent.Sites{By: agent.LeastCost, Reserve: true}).AddAgent("astra", plan.NewCluster(4), backfill.EASY{})
	north := n.top.Agents()[0]
	require.Empty(t, north.Offers(job(0, 0, 1, 1).Request))
	_, err := north.OfferWhole(job(0, 0, 1, 1).Request)
	require.ErrorContains(t, err, "ask it by a message")
	require.Nil(t, north.Scheduler())
	seize := &asking{Router: &agent.Sites{By: agent.LeastCost, Reserve: true}, then: func([]grid.Backlog) {}}
	b := n.top.AddBroker("broker", seize)
	n.top.Submit(slices.Values([]*entity.Job{job(0, 0, 1, 1)}), func(j *entity.Job) int {
		n.sim.At(0, entity.PhaseEnd, des.Func(func(*des.Simulator, des.Event) { b.Seize(j, grid.Offer{Agent: north}, 1) }), 0)
		return 0
	})
	require.Error(t, n.sim.Run(context.Background()))
}

// Arctic's answer has one hop more than that of borea, which stands behind it.
func TestOffersThatArePassedOnAreInTheOrderOfTheSites(t *testing.T) {
	n := nest(0)
	north := n.level(n.top, "north", 0, &agent.Sites{By: agent.LeastCost, Reserve: true})
	north.AllOffers = true
	n.level(north, "arctic", 0, &agent.Sites{By: agent.LeastCost, Reserve: true}).AddAgent("astra", plan.NewCluster(4), backfill.EASY{}, journal{func(string) { n.write("astra") }})
	north.AddAgent("borea", plan.NewCluster(4), backfill.EASY{})
	require.Contains(t, n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastCost, Reserve: true}}, job(0, 0, 10, 4)), "astra")
}

// The run of the whole is that of the site, with all its attempts.
func TestAPreemptionBelowIsSeenAbove(t *testing.T) {
	play := func(deep bool) (lines []string, attempts int) {
		n := &nested{sim: des.New(des.Config{Seed: 1})}
		n.top = grid.NewGrid(n.sim, over(0), journal{n.write}, seeing(func(e entity.JobEvent) {
			if e.Kind == entity.JobFinished {
				attempts = len(e.Run.Earlier())
			}
		}))
		at := n.top
		if deep {
			at = n.level(n.level(at, "north", 0, &agent.Sites{By: agent.LeastSent}), "arctic", 0, &agent.Sites{By: agent.LeastSent})
		}
		s := at.AddAgent("astra", plan.NewCluster(4), backfill.EASY{}).Scheduler()
		n.sim.At(5*des.Second, entity.PhaseEnd, des.Func(func(*des.Simulator, des.Event) {
			for r := range s.RunningJobs() {
				require.True(t, s.Preempt(r, 0))
			}
			s.Submit(job(-1, 5, 30, 4))
		}), 0)
		n.run(t, []grid.Strategy{&agent.Sites{By: agent.LeastSent}}, job(0, 0, 20, 4))
		return slices.DeleteFunc(n.lines, func(l string) bool { return strings.Contains(l, "hears") }), attempts
	}
	flat, before := play(false)
	require.Equal(t, 1, before)
	require.Contains(t, flat[1], "requeued")
	deep, attempts := play(true)
	require.Equal(t, flat, deep)
	require.Equal(t, 1, attempts)
}

// seeing is an observer that is a function.
type seeing func(entity.JobEvent)

func (s seeing) Observe(e entity.JobEvent) { s(e) }
