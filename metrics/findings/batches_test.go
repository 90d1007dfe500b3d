package findings

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// firstCome starts jobs strictly in their order.
type firstCome struct{}

func (firstCome) Name() string { return "first-come" }

func (firstCome) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		w, ok := r.Plan.Find(j.Request, r.Now, r.Now)
		if !ok {
			return
		}
		r.Reserve(j, w)
	}
}

// simulated are batches of random jobs on four processors, with what a recorder of the
// whole has seen, and the rows of its jobs.
func simulated(t require.TestingT, b Batching, jobs int, seed uint64) (*RunBatches, metrics.Summary, []ended) {
	r := rand.New(rand.NewPCG(seed, 1))
	sim := des.New(des.Config{Seed: 1})
	tau := metrics.Tau(seed%2) * metrics.Tau(des.Hour) // the usual one, or one that many jobs are shorter than
	whole, rec := &metrics.Recorder{Tau: tau}, &BatchRecorder{Batching: b, Tau: tau}
	meta := entity.NewMetascheduler(sim, plan.NewCluster(4), firstCome{}, whole, rec)
	at := des.Time(r.IntN(1000)) * des.Second
	var all []*entity.Job
	for i := range jobs {
		at += des.Time(r.IntN(4*3600)) * des.Second
		run := des.Time(1+r.IntN(3*3600)) * des.Second
		all = append(all, &entity.Job{ID: int64(i + 1), Submit: at, Runtime: run, Request: entity.Request{Nodes: 1 + r.IntN(4), Length: run}})
	}
	meta.SubmitAll(slices.Values(all))
	require.NoError(t, sim.Run(context.Background()))
	return rec.Batches(), whole.Summary(), rec.jobs
}

func TestBatchesHoldEveryJobOnceAndTheirMeansAreTheRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Batching{Every: des.Time(rapid.IntRange(3600, 5*86400).Draw(t, "every")) * des.Second}
		if rapid.Bool().Draw(t, "counted") {
			b = Batching{count: rapid.IntRange(2, 50).Draw(t, "count")}
		}
		all, summary, jobs := simulated(t, b, rapid.IntRange(1, 120).Draw(t, "jobs"), rapid.Uint64().Draw(t, "seed"))
		n, wait, slowdown, turnaround := 0, 0., 0., 0.
		for i, row := range all.Rows {
			inside, sum := 0, 0.
			for _, j := range jobs {
				if j.submit >= row.From && (j.submit < row.To || b.Every == 0 && j.submit == row.To) {
					inside++
					sum += j.wait.Seconds()
				}
			}
			if b.Every > 0 {
				require.Equal(t, row.Jobs, inside)
				require.InDelta(t, sum/float64(inside), row.Means[0], 1e-6)
				require.Zero(t, (row.From-jobs[0].submit)%b.Every)
			} else {
				require.InDelta(t, float64(len(jobs))/float64(min(b.count, len(jobs))), row.Jobs, 1)
				require.Equal(t, i, row.Number)
			}
			n += row.Jobs
			wait += row.Means[0] * float64(row.Jobs)
			slowdown += row.Means[1] * float64(row.Jobs)
			turnaround += row.Means[2] * float64(row.Jobs)
		}
		require.Equal(t, summary.Jobs, n)
		require.InDelta(t, summary.MeanWait, wait/float64(n), 1e-6)
		require.InDelta(t, summary.MeanBoundedSlowdown, slowdown/float64(n), 1e-6)
		require.InDelta(t, summary.MeanTurnaround, turnaround/float64(n), 1e-6)
	})
}

func TestBatchesAreReadAsTheyWereWritten(t *testing.T) {
	all, _, _ := simulated(t, Batching{Every: des.Day, Warmup: metrics.Warmup{Jobs: 20}}, 100, 3)
	path := filepath.Join(t.TempDir(), BatchesName)
	require.NoError(t, all.WriteFile(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	again, err := readBatches(path, string(text))
	require.NoError(t, err)
	require.Equal(t, all, again)
	require.True(t, strings.HasPrefix(string(text), "batch,from,to,jobs,warmup,mean_wait,mean_bounded_slowdown,mean_turnaround\n"))
}

func TestABatchWithAnyJobOfTheWarmUpIsLeftOut(t *testing.T) {
	warm := func(b Batching) (jobs, batches int) {
		all, _, _ := simulated(t, b, 100, 5)
		for i, row := range all.Rows {
			if row.Warmup {
				jobs, batches = jobs+row.Jobs, batches+1
				require.Equal(t, batches, i+1, "they come first")
			}
		}
		return jobs, batches
	}
	jobs, batches := warm(Batching{count: 10, Warmup: metrics.Warmup{Jobs: 20}})
	require.Equal(t, []int{20, 2}, []int{jobs, batches})
	jobs, batches = warm(Batching{count: 10, Warmup: metrics.Warmup{Jobs: 21}})
	require.Equal(t, []int{30, 3}, []int{jobs, batches})
	_, batches = warm(Batching{Every: des.Day, Warmup: metrics.Warmup{Until: 2 * des.Day}})
	require.Equal(t, 2, batches)
	_, batches = warm(Batching{Every: des.Day, Warmup: metrics.Warmup{Until: 2*des.Day + 12*des.Hour}})
	require.Equal(t, 3, batches)
	jobs, _ = warm(Batching{count: 10, Warmup: metrics.Warmup{Jobs: 1000}})
	require.Equal(t, 100, jobs)
	jobs, _ = warm(Batching{count: 10})
	require.Zero(t, jobs)
}

func TestMSERIsOfTheWaitsInOrderOfSubmission(t *testing.T) {
	all, _, jobs := simulated(t, Batching{count: 20, mser: true}, 400, 11)
	var waits []float64
	for _, j := range jobs {
		waits = append(waits, j.wait.Seconds())
	}
	n, err := stats.MSER5(waits)
	if err != nil {
		n = len(waits)
	}
	at := 0
	for _, row := range all.Rows {
		require.Equal(t, at < n, row.Warmup)
		at += row.Jobs
	}
}

func TestBatchesAndWarmUpsAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[[2]string]Batching{
		{"week", ""}:         {Every: 7 * des.Day},
		{"day", "none"}:      {Every: des.Day},
		{"12h", "mser"}:      {Every: 12 * des.Hour, mser: true},
		{"20", "jobs=500"}:   {count: 20, Warmup: metrics.Warmup{Jobs: 500}},
		{"week", "30d"}:      {Every: 7 * des.Day, Warmup: metrics.Warmup{Until: 30 * des.Day}},
		{"100000", "jobs=0"}: {count: 100000},
	} {
		b, err := ParseBatching(text[0], text[1])
		require.NoError(t, err)
		require.Equal(t, want, b)
	}
	for text, want := range map[[2]string]string{
		{"", ""}: "batches:", {"1", ""}: "batches:", {"100001", ""}: "batches:", {"-3", ""}: "batches:", {"fortnight", ""}: "batches:", {"0d", ""}: "batches:",
		{"week", "jobs=x"}: "warmup:", {"week", "jobs=-1"}: "warmup:", {"week", "long"}: "warmup:", {"week", "-3"}: "warmup:",
	} {
		_, err := ParseBatching(text[0], text[1])
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func TestDamagedBatchesAreRefusedWithTheirLine(t *testing.T) {
	const head = "batch,from,to,jobs,warmup,mean_wait\n"
	for text, want := range map[string]string{
		"":                                  "line 1",
		"batch,jobs\n":                      "line 1",
		head + "0,0,1,5,0,x\n":              `line 2: mean_wait: want a number, not "x"`,
		head + "0,0,1,5,0,NaN\n":            "line 2: mean_wait",
		head + "0,0,1,0,0,3\n":              "line 2",
		head + "1,0,1,5,0,3\n1,0,1,5,0,3\n": "line 3",
		head + "0,0,1,5,0\n":                "line 2: warmup: the line ends after 5 of 6 fields",
		"batch,from,to,jobs,warmup,w,v,w\n": "line 1: want columns batch,from,to,jobs,warmup and measures, each once",
	} {
		_, err := readBatches("b.csv", text)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "b.csv")
	}
}

func parts(r *rand.Rand, n int) (all []part) {
	for i := range n {
		w := float64(1 + r.IntN(50))
		all = append(all, part{i, w * r.Float64() * 1000, w})
	}
	return all
}

// The mean of the observations is that over the jobs of all batches, joined or not.
func TestObservationsOfBatchesHaveTheMeanOfTheJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		n := rapid.IntRange(2, 80).Draw(t, "n")
		a, b := parts(r, n), parts(r, n)
		sum, weight := total(a)
		require.InEpsilon(t, sum/weight, stats.Mean(ratios(a), 0.95).Mean, 1e-9)
		require.InEpsilon(t, sum/weight, stats.Mean(weighted(a), 0.95).Mean, 1e-9)
		joined := joinPairs(a)
		require.Len(t, joined, max(1, n/2))
		s2, w2 := total(joined)
		require.InEpsilon(t, sum, s2, 1e-9)
		require.Equal(t, weight, w2)
		s := sampleOf(a, b)
		sumB, weightB := total(b)
		require.InDelta(t, sum/weight-sumB/weightB, stats.Mean(s.x, 0.95).Mean-stats.Mean(s.y, 0.95).Mean, 1e-6)
	})
}

// The standard error of a ratio, as Cochran (1977), equation 6.4, has it.
func TestIntervalsOfOneRunAreThoseOfTheRatioEstimator(t *testing.T) {
	p := []part{{0, 10, 2}, {1, 33, 3}, {2, 8, 4}, {3, 20, 1}, {4, 41, 5}}
	sum, weight := total(p)
	ratio, n, squares := sum/weight, float64(len(p)), 0.
	for _, x := range p {
		squares += math.Pow(x.sum-ratio*x.weight, 2)
	}
	want := math.Sqrt(squares/(n-1)/n) / (weight / n)
	const t4 = 2.776445105 // Student's t with 4 degrees of freedom, 0.975
	require.InEpsilon(t, t4*want, stats.Mean(ratios(p), 0.95).HalfWidth, 1e-8)
}

func TestBatchesAreMatchedByTheirNumbers(t *testing.T) {
	x, y := matched([]part{{0, 1, 1}, {2, 3, 1}, {3, 4, 1}, {7, 8, 1}}, []part{{1, 20, 1}, {2, 30, 1}, {4, 50, 1}, {7, 80, 1}, {9, 1, 1}})
	require.Equal(t, []part{{2, 3, 1}, {7, 8, 1}}, x)
	require.Equal(t, []part{{2, 30, 1}, {7, 80, 1}}, y)
}

// Weeks that depend on each other make intervals too narrow, until they are joined. The
// series is x[i] = 0.6 x[i-1] + e, whose mean is 0.
func TestNeighboursThatDependOnEachOtherAreJoined(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const tries = 400
	joined, apart, independent := 0, 0, 0
	for range tries {
		var a, b []part
		x := r.NormFloat64() / 0.8
		for i := range 160 {
			x = 0.6*x + r.NormFloat64()
			a, b = append(a, part{i, x, 1}), append(b, part{i, 0, 1})
		}
		if c, err := stats.Compare(weighted(a), weighted(b), 0.95); err == nil && c.Difference.Contains(0) {
			apart++
		}
		s := sampleOf(a, b)
		if c, err := stats.Compare(s.x, s.y, 0.95); err == nil && c.Difference.Contains(0) {
			joined++
		}
		for i := range a {
			a[i].sum = r.NormFloat64()
		}
		if sampleOf(a, b).joined == 1 {
			independent++
		}
	}
	require.Less(t, apart, tries*75/100)
	require.Greater(t, joined, tries*86/100)
	require.Greater(t, independent, tries*92/100, "where they do not depend on each other they are left alone in 95%")
}

// study is a folder as a sweep leaves it: two policies, and the weeks of their runs.
func study(t *testing.T, weeks int, effect float64, warm int) string {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	r := rand.New(rand.NewPCG(4, 4))
	exact := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	texts := map[string]string{}
	sums := map[string]float64{}
	for week := range weeks {
		level := 1000 * r.ExpFloat64()
		for _, policy := range []string{"easy", "easy-sjbf"} {
			v := level + 20*r.NormFloat64()
			if policy == "easy-sjbf" {
				v += effect
			}
			sums[policy] += v
			warmup := "0"
			if week < warm {
				warmup = "1"
			}
			from := strconv.Itoa(week * 7 * 86400)
			texts[policy] += strings.Join([]string{strconv.Itoa(week), from, strconv.Itoa((week + 1) * 7 * 86400), "100", warmup, exact(v)}, ",") + "\n"
		}
	}
	results, plan := "policy,seed,mean_wait\n", "index,key,seed,policy\n"
	for i, policy := range []string{"easy", "easy-sjbf"} {
		key := strings.Repeat("ab", 15) + "0" + strconv.Itoa(i)
		results += policy + ",1," + exact(sums[policy]/float64(weeks)) + "\n"
		plan += strconv.Itoa(i) + "," + key + ",1," + policy + "\n"
		write(filepath.Join("runs", key, BatchesName), "batch,from,to,jobs,warmup,mean_wait\n"+texts[policy])
	}
	write(resultsName, results)
	write("plan.csv", plan)
	return dir
}

func TestWhereThereIsNoChanceWeeksArePairs(t *testing.T) {
	table, err := Open(study(t, 40, -50, 0))
	require.NoError(t, err)
	f, err := Analyze(table, Options{})
	require.NoError(t, err)
	c := f.Comparisons[0]
	require.Equal(t, Batched, c.By)
	require.Equal(t, 40, c.Difference.N)
	require.InDelta(t, -50, c.Difference.Mean, 10)
	require.Less(t, c.Difference.HalfWidth, 15., "what weeks share is not in it")
	require.Equal(t, Better, c.Verdict)
	e := f.Cells[0].estimates[0]
	require.Equal(t, Batched, e.By)
	require.Greater(t, e.HalfWidth, 100.)
	require.InDelta(t, table.Runs[0].Values[0], e.Mean, 1e-6)
	require.InDelta(t, f.Cells[1].estimates[0].Mean-e.Mean, c.Difference.Mean, 1e-6)
	require.Empty(t, f.Notes)
}

func TestWarmUpDoesNotCountInMeans(t *testing.T) {
	table, err := Open(study(t, 40, -50, 15))
	require.NoError(t, err)
	f, err := Analyze(table, Options{})
	require.NoError(t, err)
	require.Equal(t, 25, f.Comparisons[0].Difference.N)
	rest := 0.
	for _, b := range table.Runs[0].Batches.Rows[15:] {
		rest += b.Means[0] / 25
	}
	require.InDelta(t, rest, f.Cells[0].estimates[0].Mean, 1e-6)
	require.NotEqual(t, table.Runs[0].Values[0], f.Cells[0].estimates[0].Mean)

	table, err = Open(study(t, 40, -50, 40))
	require.NoError(t, err)
	f, err = Analyze(table, Options{})
	require.NoError(t, err)
	require.Equal(t, "all of the run is warm-up", f.Cells[0].estimates[0].note)
	require.Equal(t, TooFew, f.Comparisons[0].Verdict)
}

func TestAFolderWithoutResultsIsCalledSo(t *testing.T) {
	_, err := Open(t.TempDir())
	require.ErrorContains(t, err, "holds no results of a study: there is no results.csv in it")
}

func TestBatchesThatStayDependentLeaveDoubt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	run := func(effect float64) *Run {
		b := &RunBatches{measures: []string{"mean_wait"}}
		for i := range 24 {
			b.Rows = append(b.Rows, rows.Batch{Number: i, Jobs: 10, Means: []float64{effect*float64(100+i*i) + 5 + r.Float64()}})
		}
		return &Run{Seed: "1", Batches: b, Values: []float64{effect + 1}}
	}
	table := &Results{Name: "x", Params: []string{"policy"}, Measures: []string{"mean_wait"}}
	for i, effect := range []float64{0, 1} { // a difference that grows from week to week
		x := run(effect)
		x.Params = []string{string(rune('a' + i))}
		table.Runs = append(table.Runs, *x)
	}
	f, err := Analyze(table, Options{})
	require.NoError(t, err)
	c := f.Comparisons[0]
	require.Equal(t, doubtful, c.Verdict)
	require.True(t, c.Significant())
	require.Equal(t, 2, c.joined)
	require.Equal(t, 12, c.Difference.N)
	require.Contains(t, c.Note, "depend on each other")
	require.Zero(t, f.Rankings[0].Places[0].Beats)
}
