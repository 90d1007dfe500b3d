package model

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func TestTheFModelIsUniformInTheFactor(t *testing.T) {
	m := FModel{Most: 5, Seed: 1}
	require.NoError(t, m.Check())
	var factors, accuracy []float64
	for job := range int64(50_000) {
		e := m.Estimate(job, 10_000*des.Second)
		require.Zero(t, e%des.Second)
		factors = append(factors, e.Seconds()/10_000)
		accuracy = append(accuracy, 10_000/e.Seconds())
	}
	require.GreaterOrEqual(t, slices.Min(factors), 1.0)
	require.LessOrEqual(t, slices.Max(factors), 5.0001)
	slices.Sort(factors)
	for q := 0.1; q < 1; q += 0.1 {
		require.InDelta(t, 1+4*q, quantile(q, factors), 0.04)
	}
	require.InDelta(t, math.Log(5)/4, stat.Mean(accuracy, nil), 0.005, "the mean of 1/f is ln F / (F-1)")
}

func TestAnEstimateOfTheFModelIsTheJobsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := FModel{Most: rapid.Float64Range(1, 1e6).Draw(t, "F"), Seed: rapid.Uint64().Draw(t, "seed")}
		job := rapid.Int64Range(1, 1e9).Draw(t, "job")
		run := des.Time(rapid.Int64Range(0, 1e18).Draw(t, "run"))
		e := m.Estimate(job, run)
		require.Equal(t, e, m.Estimate(job, run))
		require.GreaterOrEqual(t, e, run)
		require.LessOrEqual(t, e.Seconds(), run.Seconds()*m.Most*(1+1e-12)+1)
	})
	run := des.Time(1e6) * des.Second
	m := FModel{Most: 10, Seed: 1}
	require.NotEqual(t, m.Estimate(1, run), m.Estimate(2, run))
	require.NotEqual(t, m.Estimate(1, run), FModel{Most: 10, Seed: 2}.Estimate(1, run))
	require.InDelta(t, 2*m.Estimate(7, run).Seconds(), m.Estimate(7, 2*run).Seconds(), 2, "the factor does not depend on the runtime")
	require.Equal(t, run, FModel{Most: 1}.Estimate(1, run), "exact")
	for _, f := range []float64{0.9, 0, -1, math.NaN(), math.Inf(1), 2e6} {
		require.Error(t, FModel{Most: f}.Check())
	}
}

func plainJobs(n int) func(func(*entity.Job) bool) {
	return func(yield func(*entity.Job) bool) {
		for i := range n {
			if !yield(newJob(int64(i+1), float64(1000*i), 1+i%8, float64(100+i), -1)) {
				return
			}
		}
	}
}

func TestFlurriesAreBurstsOfOneUsersNearlyIdenticalJobs(t *testing.T) {
	f := Flurries{Every: 50, Jobs: 30, Gap: 40, Spread: 0.1, Seed: 1}
	jobs, err := f.Inject(plainJobs(5000))
	require.NoError(t, err)
	all := slices.Collect(jobs)
	require.Equal(t, all, slices.Collect(jobs))
	base, users := 0, map[int32][]*entity.Job{}
	for i, j := range all {
		require.EqualValues(t, i+1, j.ID)
		if i > 0 {
			require.GreaterOrEqual(t, j.Submit, all[i-1].Submit)
		}
		if j.User > 0 {
			users[j.User] = append(users[j.User], j)
		} else {
			base++
		}
	}
	require.Equal(t, 5000-len(users), base, "the first of each flurry is a job of the model")
	require.InDelta(t, 100, len(users), 40, "one job of fifty begins one")
	var gaps, ratios []float64
	for user := range int32(len(users)) {
		flurry := users[user+1]
		require.Len(t, flurry, 31)
		first := flurry[0]
		for i, j := range flurry[1:] {
			require.Equal(t, first.Request.Nodes, j.Request.Nodes)
			require.InDelta(t, 1, j.Runtime.Seconds()/first.Runtime.Seconds(), 0.1+0.5/first.Runtime.Seconds())
			require.Equal(t, j.Runtime, j.Request.Length)
			gaps = append(gaps, (j.Submit - flurry[i].Submit).Seconds())
			ratios = append(ratios, j.Runtime.Seconds()/first.Runtime.Seconds())
		}
	}
	require.InEpsilon(t, 40, stat.Mean(gaps, nil), 0.06)
	require.InEpsilon(t, 40, stat.StdDev(gaps, nil), 0.1)
	require.InDelta(t, 1, stat.Mean(ratios, nil), 0.005)
	require.InDelta(t, 0.1/math.Sqrt(3), stat.StdDev(ratios, nil), 0.004, "uniform, either way")

	for range jobs {
		break
	}
	n := 0
	for j := range jobs {
		if n++; j.User > 0 && n > 5010 {
			break
		}
	}
}

func TestFlurriesKeepTheJobsOfTheModel(t *testing.T) {
	jobs, err := Flurries{Every: 10, Jobs: 5, Seed: 3}.Inject(plainJobs(300))
	require.NoError(t, err)
	left := slices.Collect(jobs)
	for j := range plainJobs(300) {
		i := slices.IndexFunc(left, func(o *entity.Job) bool {
			return o.Submit == j.Submit && o.Runtime == j.Runtime && o.Request.Nodes == j.Request.Nodes
		})
		require.GreaterOrEqual(t, i, 0)
		left = slices.Delete(left, i, i+1)
	}
	require.Zero(t, len(left)%5, "whole flurries")
	require.NotEmpty(t, left)
}

func TestAFlurryIsOfTheUserOfItsFirstJob(t *testing.T) {
	jobs, err := Flurries{Every: 1, Jobs: 2}.Inject(func(yield func(*entity.Job) bool) {
		j := newJob(9, 100, 4, 60, 3)
		j.User, j.Group = 17, 5
		yield(j)
		require.Equal(t, int64(9), j.ID, "what is handed in stays")
	})
	require.NoError(t, err)
	all := slices.Collect(jobs)
	require.Len(t, all, 3)
	for _, j := range all {
		require.Equal(t, []int32{17, 5, 3}, []int32{j.User, j.Group, j.Queue})
		require.Equal(t, 60*des.Second, j.Runtime, "without a spread the runtimes are equal")
	}
}

func TestFlurriesAddTheLoadThatTheySay(t *testing.T) {
	f := Flurries{Every: 40, Jobs: 20, Spread: 0.3, Seed: 1}
	require.InEpsilon(t, 1.5, f.Factor(), 1e-12)
	require.InEpsilon(t, 3, Flurries{Every: 50}.Factor(), 1e-12)
	plain, err := Renewal{Size: Constant(4), Run: Exponential{Scale: 900}, MeanGap: 300}.Jobs(50_000)
	require.NoError(t, err)
	jobs, err := f.Inject(plain)
	require.NoError(t, err)
	area := func(all func(func(*entity.Job) bool)) (a float64) {
		for j := range all {
			a += j.Runtime.Seconds() * float64(j.Request.Nodes)
		}
		return a
	}
	require.InEpsilon(t, 1.5, area(jobs)/area(plain), 0.04)
	for _, f := range []Flurries{{}, {Every: 0.5}, {Every: 5, Jobs: -1}, {Every: 5, Gap: -1}, {Every: 5, Spread: 2}, {Every: math.Inf(1)}, {Every: 5, Gap: math.NaN()}} {
		_, err := f.Inject(plain)
		require.Error(t, err, "%+v", f)
	}
}

func TestUsersOfSessionsWaitForTheirBatchesAndThink(t *testing.T) {
	m := Sessions{
		Size: Uniform{Min: 0.5, Max: 64.5}, Run: Exponential{Scale: 600}, MeanGap: 1e6, // sessions hardly ever overlap
		Batches: Constant(3), BatchJobs: Constant(4), Interval: Constant(20), Think: Uniform{Min: 100, Max: 200}, Seed: 1,
	}
	jobs, err := m.Jobs(12 * 200)
	require.NoError(t, err)
	all := slices.Collect(jobs)
	for s := range slices.Chunk(all, 12) {
		var before *entity.Job // the one of the batch before that ends last
		for batch := range slices.Chunk(s, 4) {
			if before != nil {
				think := batch[0].Submit - before.Submit - before.Runtime
				require.GreaterOrEqual(t, think, 100*des.Second)
				require.LessOrEqual(t, think, 200*des.Second)
			}
			last := batch[0]
			for i, j := range batch {
				require.Equal(t, s[0].User, j.User)
				require.Equal(t, batch[0].Request.Nodes, j.Request.Nodes)
				require.InDelta(t, float64(20*i), (j.Submit - batch[0].Submit).Seconds(), 1)
				if before == nil {
					require.Empty(t, j.After)
				} else {
					require.Equal(t, []entity.Dependency{{Job: before.ID, Think: j.Submit - before.Submit - before.Runtime}}, j.After)
				}
				if j.Submit+j.Runtime > last.Submit+last.Runtime {
					last = j
				}
			}
			before = last
		}
	}
}

func TestSessionsReachTheirLoad(t *testing.T) {
	m := Sessions{Size: Constant(3), Run: Exponential{Scale: 400}, Load: 0.5, Seed: 2}
	require.InEpsilon(t, 0.5, offered(t, m, 200_000), 0.03)
	m = Sessions{Size: logUniform{Min: 1, Max: 30}, Run: Exponential{Scale: 3}, Load: 0.2, Batches: Exponential{Scale: 0.7}, BatchJobs: Uniform{Min: 0, Max: 9}}
	require.InEpsilon(t, 0.2, offered(t, m, 200_000), 0.03)
}

func TestSomeUsersComeMoreOftenThanOthers(t *testing.T) {
	jobs, err := Sessions{Size: Constant(1), Run: Constant(60), MeanGap: 600, Users: 10, Batches: Constant(1), BatchJobs: Constant(1)}.Jobs(50_000)
	require.NoError(t, err)
	counts := map[int32]float64{}
	for j := range jobs {
		counts[j.User]++
	}
	harmonic := 0.0
	for k := range 10 {
		harmonic += 1 / float64(k+1)
	}
	for k := range int32(10) {
		require.InDelta(t, 1/(float64(k+1)*harmonic), counts[k+1]/50_000, 0.01, "user %d", k+1)
	}
	require.Len(t, counts, 10)
}

func TestSessionsRefuseNonsense(t *testing.T) {
	good := Sessions{Size: Constant(1), Run: Constant(1), MeanGap: 1}
	require.NoError(t, refusal(good))
	for want, change := range map[string]func(*Sessions){
		"must be given":    func(m *Sessions) { m.Size = nil },
		"give either":      func(m *Sessions) { m.Load = 1 },
		"batches: -1":      func(m *Sessions) { m.Batches = Constant(-1) },
		"jobs of a batch":  func(m *Sessions) { m.BatchJobs = Constant(math.NaN()) },
		"intervals":        func(m *Sessions) { m.Interval = Uniform{Min: -1, Max: 1} },
		"times to think":   func(m *Sessions) { m.Think = Exponential{} },
		"N must be at":     func(m *Sessions) { m.Users = -1 },
		"processors":       func(m *Sessions) { m.Processors = -1 },
		"7, not 1":         func(m *Sessions) { m.Cycle = &Cycle{Week: []float64{1}} },
		"less than a thou": func(m *Sessions) { m.Size = Constant(500) },
	} {
		m := good
		change(&m)
		require.ErrorContains(t, refusal(m), want)
	}
}

func TestJannReachesALoad(t *testing.T) {
	m := Jann{Load: 0.7, Processors: 128, Ranges: []JannRange{
		{Sizes: []sizeCount{{1, 30}, {2, 10}}, Gap: HyperErlang{P: 0.5, Order: 2, Rate1: 1.0 / 30, Rate2: 1.0 / 150}, Run: HyperErlang{P: 0.4, Order: 1, Rate1: 1, Rate2: 1.0 / 400}},
		{Sizes: []sizeCount{{64, 1}}, Gap: HyperErlang{P: 1, Order: 1, Rate1: 1.0 / 900, Rate2: 1}, Run: HyperErlang{P: 1, Order: 3, Rate1: 1.0 / 100, Rate2: 1}},
	}}
	require.InEpsilon(t, 0.7, offered(t, m, 200_000), 0.03)
	own := m
	own.Load = 0
	require.InEpsilon(t, own.offeredLoad(128), offered(t, own, 200_000), 0.03)
	scaled, err := m.Jobs(1000)
	require.NoError(t, err)
	plain, err := own.Jobs(1000)
	require.NoError(t, err)
	k, factor := 0, own.offeredLoad(128)/0.7
	all := slices.Collect(plain)
	for j := range scaled {
		require.Equal(t, all[k].Runtime, j.Runtime)
		require.Equal(t, all[k].Request, j.Request)
		require.InDelta(t, all[k].Submit.Seconds()*factor, j.Submit.Seconds(), 1.5)
		k++
	}
	m.Processors = 0
	_, err = m.Jobs(1)
	require.ErrorContains(t, err, "0 processors")
	m.Processors, m.Load = 1, math.Inf(1)
	_, err = m.Jobs(1)
	require.ErrorContains(t, err, "a load of")
}

func TestWhatComesAtOneInstantComesInTheOrderInWhichItWasPutIn(t *testing.T) {
	var a agenda[int]
	var order, want []int
	for i := range 100 {
		a.add(float64(i%7), i)
		want = append(want, i)
	}
	slices.SortStableFunc(want, func(i, k int) int { return i%7 - k%7 })
	for _, ok := a.next(); ok; _, ok = a.next() {
		_, i := a.take()
		order = append(order, i)
	}
	require.Equal(t, want, order)
}
