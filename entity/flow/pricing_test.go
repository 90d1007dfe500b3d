package flow_test

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
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/policy/backfill"
)

// rule is a PriceRule that a test writes down.
type rule func(flow.Trade) float64

func (r rule) Price(t flow.Trade) float64 { return r(t) }

func same(r flow.PriceRule) func(*entity.Node) flow.PriceRule {
	return func(*entity.Node) flow.PriceRule { return r }
}

// reacting runs jobs under a policy while prices react every 10 s. It returns
// what happened and the changes of price.
func reacting(t require.TestingT, all []*entity.Node, p entity.Policy, r flow.PriceRule, jobs []*entity.Job, more ...entity.Observer) (*journal, []string, error) {
	d := domain(t, all)
	d.Interval, d.PricesChange = 10_000*des.Second, true
	var seen journal
	var changes []string
	pricing := &flow.Pricing{Every: 10 * des.Second, Rule: same(r), Tell: func(c flow.PriceChange) {
		require.Equal(t, c.Price, c.Node.Price)
		changes = append(changes, fmt.Sprintf("%v node %d %g", c.At, c.Node.ID, c.Price))
	}}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, p, append([]entity.Observer{pricing, &seen}, more...)...)
	m.LeaveWaiting = true
	m.SubmitAll(slices.Values(jobs))
	err := sim.Run(context.Background())
	return &seen, changes, err
}

func TestPricesFollowTheirFormulas(t *testing.T) {
	node := &entity.Node{ID: 1, Perf: 4, Price: 10}
	for _, c := range []struct {
		rule  flow.PriceRule
		trade flow.Trade
		want  float64
	}{
		{flow.ByUse{}, flow.Trade{Use: 1}, 10.3},
		{flow.ByUse{}, flow.Trade{Use: 0}, 9.3},
		{flow.ByUse{}, flow.Trade{Use: 0.7}, 10},
		{flow.ByUse{Target: 0.5, Step: 0.2}, flow.Trade{Use: 0.75}, 10.5},
		{flow.ByUse{Together: true}, flow.Trade{Use: 0, OwnerUse: 1}, 10.3},
		{flow.ByUse{Cap: 2.05, Floor: 1}, flow.Trade{Use: 1, List: 5}, 10.25},
		{flow.ByUse{Floor: 1.9}, flow.Trade{Use: 0, List: 5}, 9.5},
		{flow.ByUse{}, flow.Trade{Use: 1, List: 1}, 10},
		{flow.ByUse{}, flow.Trade{Use: 0, List: 95}, 9.5},
		{flow.BySeason{}, flow.Trade{List: 7}, 7},
		{flow.BySeason{Factors: []float64{1, 3}}, flow.Trade{Now: 11 * des.Hour, List: 7}, 7},
		{flow.BySeason{Factors: []float64{1, 3}}, flow.Trade{Now: 12 * des.Hour, List: 7}, 21},
		{flow.BySeason{Factors: []float64{1, 3}}, flow.Trade{Now: 24 * des.Hour, List: 7}, 7},
		{flow.BySeason{Period: 7, Factors: []float64{1, 2, 3}}, flow.Trade{Now: 6, List: 1}, 3},
		{flow.BySeason{Period: 7 * des.Day, Factors: []float64{1, 1, 1, 1, 1, 4, 5}}, flow.Trade{Now: 13 * des.Day, List: 1}, 5},
		{flow.BySeason{Amplitude: 0.5, Peak: 15 * des.Hour}, flow.Trade{Now: 39 * des.Hour, List: 8}, 12},
		{flow.BySeason{Amplitude: 0.5, Peak: 15 * des.Hour}, flow.Trade{Now: 3 * des.Hour, List: 8}, 4},
		{flow.BySeason{Amplitude: 0.5, Peak: 15 * des.Hour}, flow.Trade{Now: 9 * des.Hour, List: 8}, 8},
		{flow.ByCompetition{}, flow.Trade{}, 10},
		{flow.ByCompetition{}, flow.Trade{Market: 2, List: 10}, 8},
		{flow.ByCompetition{Factor: 0.9}, flow.Trade{Market: 2, List: 10}, 7.2},
		{flow.ByCompetition{Floor: 0.5}, flow.Trade{Market: 1, List: 10}, 5},
		{flow.ByCompetition{Cap: 1.5}, flow.Trade{Market: 50, List: 10}, 15},
	} {
		c.trade.Node = node
		if c.trade.List == 0 {
			c.trade.List = 10
		}
		require.InDelta(t, c.want, c.rule.Price(c.trade), 1e-9, "%+v of %+v", c.rule, c.trade)
	}
}

func TestARuleThatMakesNoSenseSaysSo(t *testing.T) {
	for want, r := range map[string]interface{ Check() error }{
		"target must be a share":                      flow.ByUse{Target: 1.1},
		"step must be from 0 to 1":                    flow.ByUse{Step: -0.1},
		"a cap that is not below it, not 2 and 1":     flow.ByUse{Floor: 2, Cap: 1},
		"a cap that is not below it, not 11 and 0":    flow.ByCompetition{Floor: 11},
		"a cap that is not below it, not 0 and 0.05":  flow.ByCompetition{Cap: 0.05},
		"factor must be a number of 0 or more":        flow.ByCompetition{Factor: math.Inf(1)},
		"factors must be numbers of 0 or more":        flow.BySeason{Factors: []float64{1, -1}},
		"amplitude must be from 0 to 1":               flow.BySeason{Amplitude: 2},
		"peak must be a time within the period":       flow.BySeason{Peak: 25 * des.Hour},
		"period must be a time above 0":               flow.BySeason{Period: -1},
		"a cap that is not below it, not 0.5 and NaN": flow.ByUse{Floor: 0.5, Cap: math.NaN()},
	} {
		require.ErrorContains(t, r.Check(), want)
	}
	for _, r := range []interface{ Check() error }{flow.ByUse{}, flow.BySeason{Peak: des.Day}, flow.ByCompetition{}} {
		require.NoError(t, r.Check())
	}
}

// The node is in use for 10, 5, 0 and 1 of each 10 s: raised, as it is, lowered twice.
func TestAPriceFollowsTheUseOfItsNode(t *testing.T) {
	all := nodes(1)
	_, changes, err := reacting(t, all, backfill.FCFS{}, flow.ByUse{Target: 0.5, Step: 0.2}, []*entity.Job{estimated(1, 0, 15, 20, 1), estimated(2, 35, 1, 1, 1)})
	require.NoError(t, err)
	require.Equal(t, []string{"10 node 0 1.1", "30 node 0 0.99", "40 node 0 0.9108"}, changes)
}

// Nobody is there between 15 and 1,000, and no ticks are; but when somebody comes the
// price is what it would be with them.
func TestAPriceFallsWhileNobodyLooks(t *testing.T) {
	all := nodes(1)
	_, changes, err := reacting(t, all, backfill.FCFS{}, flow.ByUse{Floor: 0.001}, []*entity.Job{estimated(1, 0, 20, 20, 1), estimated(2, 1000, 1, 1, 1)})
	require.NoError(t, err)
	price := 1.0
	for tick := 1; tick <= 100; tick++ {
		use := 0.0
		if tick <= 2 {
			use = 1
		}
		price = max(math.Round(price*(1+0.1*(use-0.7))*1e6)/1e6, 0.001)
		if tick <= len(changes) {
			require.Equal(t, fmt.Sprintf("%d node 0 %g", 10*tick, price), changes[tick-1])
		}
	}
	require.Equal(t, price, all[0].Price)
}

// A domain's own first job comes at 35, and prices begin at 12, in the interval from 10 on.
func TestPricesBeginBeforeTheFirstJobWhereTheyAreAskedTo(t *testing.T) {
	for _, begin := range []bool{false, true} {
		all := nodes(1)
		d := domain(t, all)
		sim := des.New(des.Config{})
		var changes []string
		pricing := &flow.Pricing{Every: 10 * des.Second, Rule: same(flow.ByUse{Target: 1, Step: 0.5})}
		pricing.Tell = func(c flow.PriceChange) { changes = append(changes, fmt.Sprint(c.At, " ", c.Price)) }
		m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, pricing)
		for _, at := range []des.Time{12, 27} { // the first time counts
			if begin {
				sim.At(at*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { pricing.Begin() }), 0)
			}
		}
		m.Submit(estimated(1, 35, 1, 1, 1))
		require.NoError(t, sim.Run(context.Background()))
		if begin {
			require.Equal(t, []string{"20 0.5", "30 0.25", "40 0.1375"}, changes)
		} else {
			require.Equal(t, []string{"40 0.55"}, changes)
		}
	}
}

func TestAJobWaitsUntilAnIdleNodeIsCheapEnough(t *testing.T) {
	all := nodes(1)
	all[0].Price = 4
	d, _, err := reacting(t, all, backfill.FCFS{}, flow.ByUse{Target: 1, Step: 0.5}, []*entity.Job{thrifty(1, 5, 7)})
	require.NoError(t, err)
	require.Equal(t, []string{"5 submitted 1", "10 started 1", "17 finished 1"}, d.lines)
	all[0].Price = 4.1
	d, changes, err := reacting(t, all, backfill.FCFS{}, flow.ByUse{Target: 1, Step: 0.5, Floor: 0.5}, []*entity.Job{thrifty(1, 5, 7)})
	require.NoError(t, err)
	require.Equal(t, []string{"5 submitted 1"}, d.lines, "the floor is above what it can pay, and the run ends all the same")
	require.Equal(t, []string{"10 node 0 2.05"}, changes)
}

func TestAJobWaitsForItsSeasonAndNoLonger(t *testing.T) {
	all := nodes(1)
	season := flow.BySeason{Period: 300 * des.Second, Factors: []float64{5, 5, 1}}
	d, changes, err := reacting(t, all, backfill.FCFS{}, season, []*entity.Job{thrifty(1, 5, 20)})
	require.NoError(t, err)
	require.Equal(t, []string{"5 submitted 1", "5 started 1", "25 finished 1"}, d.lines, "at the list price, before the first tick")
	require.Equal(t, []string{"10 node 0 5"}, changes)
	all[0].Price = 2
	d, _, err = reacting(t, all, backfill.FCFS{}, season, []*entity.Job{thrifty(1, 15, 20), thrifty(2, 16, 20)})
	require.NoError(t, err)
	require.Contains(t, d.lines, "15 started 1")
	require.Contains(t, d.lines, "200 started 2")
	all[0].Price = 3
	d, changes, err = reacting(t, all, backfill.FCFS{}, season, []*entity.Job{thrifty(1, 15, 20)})
	require.NoError(t, err)
	require.Equal(t, []string{"15 submitted 1"}, d.lines)
	require.Equal(t, []string{"20 node 0 15", "200 node 0 3", "300 node 0 15"}, changes, "once through the season")
}

func TestTheLongestSeasonIsWaitedFor(t *testing.T) {
	all := nodes(1, 1)
	all[0].Price, all[1].Price = 9, 3
	d := domain(t, all)
	d.Interval, d.PricesChange = 1000*des.Second, true
	var seen journal
	sim := des.New(des.Config{})
	pricing := &flow.Pricing{Every: 10 * des.Second, Rule: func(n *entity.Node) flow.PriceRule {
		if n == all[0] {
			return flow.BySeason{Period: 200 * des.Second, Factors: []float64{1, 1, 1, 0.1}}
		}
		return flow.BySeason{Period: 20 * des.Second, Factors: []float64{1, 2}}
	}}
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, pricing, &seen)
	m.LeaveWaiting = true
	m.Submit(thrifty(1, 5, 20))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"5 submitted 1", "150 started 1", "170 finished 1"}, seen.lines)
}

// The second job holds a reservation from 20 on, made at the price of 1; what the
// third agrees upon at 15 is the price of that day.
func TestWhatIsReservedKeepsThePriceThatWasPromised(t *testing.T) {
	all := nodes(1)
	var paid []string
	ledger := &flow.Ledger{Tell: func(x flow.Transfer) { paid = append(paid, fmt.Sprintf("%v %v %v", x.Time, x.Run, x.Amount)) }}
	jobs := []*entity.Job{estimated(1, 0, 20, 20, 1), estimated(2, 1, 10, 10, 1), estimated(3, 15, 10, 10, 1)}
	_, changes, err := reacting(t, all, backfill.Conservative{}, flow.ByUse{Target: 0.5, Step: 1}, jobs, ledger)
	require.NoError(t, err)
	require.Equal(t, []string{
		"0 job 1 20.000000", "1 job 2 10.000000", "15 job 3 15.000000",
		"20 job 1 20.000000", "30 job 2 10.000000", "40 job 3 15.000000",
	}, paid)
	require.NoError(t, ledger.Check())
	require.Equal(t, []string{"10 node 0 1.5", "20 node 0 2.25", "30 node 0 3.375", "40 node 0 5.0625"}, changes)
	require.EqualValues(t, 45_000_000, ledger.Total(flow.OwnerAccount))
}

func TestARuleThatGivesNoPriceEndsTheRun(t *testing.T) {
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, _, err := reacting(t, nodes(1), backfill.FCFS{}, rule(func(flow.Trade) float64 { return bad }), []*entity.Job{estimated(1, 0, 20, 20, 1)})
		require.ErrorContains(t, err, "at 10, the price of node 0: rule flow_test.rule says")
	}
}

func TestANodeWithoutARuleKeepsThePriceThatATableGivesIt(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	sim := des.New(des.Config{})
	pricing := &flow.Pricing{Every: 10 * des.Second, Rule: func(n *entity.Node) flow.PriceRule {
		if n == all[0] {
			return nil
		}
		return flow.ByUse{}
	}}
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, pricing)
	flow.NewPriceSchedule(d, m).Submit(slices.Values([]flow.PriceChange{{Node: all[0], At: 5 * des.Second, Price: 8}}))
	m.SubmitAll(slices.Values([]*entity.Job{estimated(1, 0, 30, 30, 1)}))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 8.0, all[0].Price)
	require.NotEqual(t, 1.0, all[1].Price)
}

func TestPricingWantsNamedNodes(t *testing.T) {
	err := (&journal{}).simulate(backfill.FCFS{}, func(m *entity.Metascheduler) {
		entity.NewMetascheduler(m.Simulator(), m.Plan(), backfill.FCFS{}, &flow.Pricing{Rule: same(nil)})
	})
	require.ErrorContains(t, err, "want a plan.Domain")
}

// What rules are shown, against what follows from the jobs' attempts, counted second
// by second.
func TestRulesAreShownWhatWasSold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := nodes(1, 2, 1, 4)
		for i, owner := range []string{"a", "b", "a", ""} {
			if owner != "" {
				all[i].Labels = map[string]string{flow.OwnerLabel: owner}
			}
		}
		owners := []string{"a", "b", "a", "node 3"}
		prices := map[des.Time][]float64{}
		var trades []flow.Trade
		var at []int
		r := rule(func(t flow.Trade) float64 {
			trades, at = append(trades, t), append(at, t.Node.ID)
			prices[t.Now] = append(prices[t.Now], t.Node.Price)
			return math.Mod(float64(t.Now/des.Second)+t.Node.Price, 3)
		})
		var jobs []*entity.Job
		when := des.Time(0)
		for id := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			when += des.Time(rapid.IntRange(0, 12).Draw(t, "gap"))
			n := des.Time(rapid.IntRange(1, 30).Draw(t, "estimate"))
			jobs = append(jobs, estimated(int64(id), when, des.Time(rapid.IntRange(0, 30).Draw(t, "runtime")), n, rapid.IntRange(1, 4).Draw(t, "nodes")))
		}
		d, _, err := reacting(t, all, backfill.EASY{}, r, jobs, &stopper{every: rapid.IntRange(0, 3).Draw(t, "preempted")})
		require.NoError(t, err)
		for k, trade := range trades {
			from := trade.Now - 10*des.Second
			sold := make([]float64, len(all))
			for _, run := range d.runs {
				for a := range run.Attempts() {
					for i, task := range a.Window.Tasks {
						sold[task.Node.ID] += max(0, (min(a.Ends[i], trade.Now) - max(a.Start, from)).Seconds())
					}
				}
			}
			id := at[k]
			require.InDelta(t, sold[id]/10, trade.Use, 1e-9)
			use, count, cost, work := 0.0, 0.0, 0.0, 0.0
			for i, n := range all {
				if owners[i] == owners[id] {
					use += sold[i] / 10
					count++
				} else {
					cost += sold[i] * prices[trade.Now][i]
					work += sold[i] * n.Perf
				}
			}
			require.InDelta(t, use/count, trade.OwnerUse, 1e-9)
			if work == 0 {
				require.Zero(t, trade.Market)
			} else {
				require.InDelta(t, cost/work, trade.Market, 1e-9)
			}
			require.Equal(t, nodes(1, 2, 1, 4)[id].Price, trade.List)
		}
	})
}

// stopper preempts each every-th job once, 3 s after its start.
type stopper struct {
	every int
	meta  *entity.Metascheduler
}

func (s *stopper) Attach(m *entity.Metascheduler) { s.meta = m }

func (s *stopper) Observe(e entity.JobEvent) {
	if s.every > 0 && e.Kind == entity.JobStarted && e.Run.ID%int64(s.every) == 0 && len(e.Run.Earlier()) == 0 {
		s.meta.Simulator().After(3*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { s.meta.Preempt(e.Run, 0) }), 0)
	}
}

// Scarce is a rule of one's own: dearer by a half where the other owners ask more
// for their work.
type Scarce struct{}

func (Scarce) Price(t flow.Trade) float64 {
	if t.Market*t.Node.Perf > t.List {
		return 1.5 * t.List
	}
	return t.List
}

func ExamplePricing() {
	acme := entity.Attributes{Labels: map[string]string{flow.OwnerLabel: "acme"}}
	all := []*entity.Node{{ID: 1, Perf: 1, Price: 2}, {ID: 2, Perf: 1, Price: 1, Attributes: acme}}
	d := domain(panics{}, all)
	d.Interval = des.Day
	pricing := &flow.Pricing{
		Every: des.Hour,
		Rule: func(n *entity.Node) flow.PriceRule {
			if flow.OwnerOf(n) == "acme" {
				return Scarce{}
			}
			return flow.ByUse{Target: 0.5}
		},
		Tell: func(c flow.PriceChange) { fmt.Printf("at %v a second of node %d costs %g\n", c.At, c.Node.ID, c.Price) },
	}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, pricing)
	m.Submit(estimated(1, 0, 5400, 5400, 2))
	if err := sim.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// at 3600 a second of node 1 costs 2.1
	// at 3600 a second of node 2 costs 1.5
}

// panics is for examples, which have no *testing.T.
type panics struct{}

func (panics) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panics) FailNow()                          { panic("failed") }

// The ticks that are left out while nobody is there are made up for: changes are those of a
// run in which somebody looks in at every tick.
func TestTicksThatAreLeftOutAreMadeUpFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := []flow.PriceRule{
			rapid.SampledFrom([]flow.PriceRule{flow.ByUse{Step: 0.5}, flow.ByUse{Together: true, Floor: 0.9}}).Draw(t, "first"),
			rapid.SampledFrom([]flow.PriceRule{
				flow.ByUse{}, flow.ByCompetition{Factor: 0.9}, nil,
				flow.BySeason{Period: 70 * des.Second, Factors: []float64{1, 2}, Amplitude: 0.5},
			}).Draw(t, "second"),
		}
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			at += des.Time(rapid.SampledFrom([]int{0, 3, 17, 100, 300}).Draw(t, "gap"))
			j := estimated(int64(id), at, des.Time(rapid.IntRange(0, 30).Draw(t, "runtime")), 20, rapid.IntRange(1, 2).Draw(t, "nodes"))
			j.Request.MaxPrice = float64(rapid.IntRange(0, 3).Draw(t, "price limit"))
			jobs = append(jobs, j)
		}
		run := func(visitor bool) (changes []string, d journal) {
			all := nodes(1, 2)
			plan := domain(t, all)
			plan.Interval, plan.PricesChange = 1000*des.Second, true
			pricing := &flow.Pricing{Every: 10 * des.Second, Rule: func(n *entity.Node) flow.PriceRule { return rules[n.ID] }}
			pricing.Tell = func(c flow.PriceChange) {
				if c.At <= at*des.Second {
					changes = append(changes, fmt.Sprint(c.At, c.Node.ID, c.Price))
				}
			}
			sim := des.New(des.Config{})
			m := entity.NewMetascheduler(sim, plan, backfill.FCFS{}, pricing, &d)
			m.LeaveWaiting = true
			for s := jobs[0].Submit; visitor && s <= 2*at*des.Second+1000*des.Second; s += 10 * des.Second {
				sim.At(s, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) { pricing.Observe(entity.JobEvent{Time: s}) }), 0)
			}
			m.SubmitAll(slices.Values(jobs))
			require.NoError(t, sim.Run(context.Background()))
			return changes, d
		}
		changes, d := run(false)
		wanted, looked := run(true)
		require.Equal(t, wanted, changes)
		require.Equal(t, looked.lines, d.lines)
	})
}
