package model

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// generator is what the models that make jobs have in common.
type generator interface {
	Jobs(n int64) (iter.Seq[*entity.Job], error)
}

// refusal is the error of a model whose parameters make no sense.
func refusal(m generator) error {
	_, err := m.Jobs(1)
	return err
}

func jannOfLublin(t *testing.T) Jann {
	t.Helper()
	source, err := Lublin{Seed: 1}.Jobs(20_000)
	require.NoError(t, err)
	m, err := FitJann(source, PowersOfTwo(128), 7)
	require.NoError(t, err)
	return m
}

// What holds for every model, whatever its distributions.
func TestEveryModelYieldsAnOrderlyWorkload(t *testing.T) {
	for _, m := range []generator{
		Lublin{},
		Lublin{Typed: true},
		Downey{Load: 0.7},
		Feitelson{Load: 0.7, TimeUnit: 600},
		jannOfLublin(t),
		Renewal{Load: 0.7, Size: logUniform{Min: 1, Max: 300}, Run: Exponential{Scale: 100}},
		Sessions{Load: 0.7, Size: logUniform{Min: 1, Max: 300}, Run: Exponential{Scale: 100}},
	} {
		t.Run(fmt.Sprintf("%T", m), func(t *testing.T) {
			require.NoError(t, refusal(m))
			jobs, err := m.Jobs(2000)
			require.NoError(t, err)
			all := slices.Collect(jobs)
			require.Len(t, all, 2000)
			require.Equal(t, all, slices.Collect(jobs), "each pass yields the same jobs")
			var before des.Time
			for i, j := range all {
				require.EqualValues(t, i+1, j.ID)
				require.GreaterOrEqual(t, j.Submit, before)
				require.Zero(t, j.Submit%des.Second)
				require.Zero(t, j.Runtime%des.Second)
				require.GreaterOrEqual(t, j.Runtime, des.Second)
				require.Equal(t, j.Runtime, j.Request.Length)
				require.NoError(t, j.Request.Check())
				require.LessOrEqual(t, j.Request.Nodes, 128)
				before = j.Submit
			}
			for j := range jobs {
				if j.ID == 2 {
					break
				}
			}
			_, err = m.Jobs(-1)
			require.Error(t, err)
		})
	}
}

func offered(t *testing.T, m generator, n int64) float64 {
	t.Helper()
	jobs, err := m.Jobs(n)
	require.NoError(t, err)
	var area, last float64
	for j := range jobs {
		area += j.Runtime.Seconds() * float64(j.Request.Nodes)
		last = j.Submit.Seconds()
	}
	return area / last / 128
}

func TestPoissonModelsReachTheLoad(t *testing.T) {
	// Coefficients of variation of the area: 3 for Downey (standard error over
	// 100,000 jobs 1%); 16 for Feitelson's series of up to 1,000 runs (over 400,000
	// jobs 2.5%).
	require.InEpsilon(t, 0.7, offered(t, Downey{Load: 0.7}, 100_000), 0.04)
	require.InEpsilon(t, 0.5, offered(t, Downey{Load: 0.5, Sigma: 1.5}, 100_000), 0.04)
	require.InEpsilon(t, 0.7, offered(t, Feitelson{Load: 0.7, TimeUnit: 600}, 400_000), 0.08)
}

func TestDowneyWorkIsItsLogUniform(t *testing.T) {
	jobs, err := Downey{MeanGap: 100, Processors: 1}.Jobs(20_000)
	require.NoError(t, err)
	var logs []float64
	var last float64
	for j := range jobs {
		logs = append(logs, math.Log(j.Runtime.Seconds()))
		last = j.Submit.Seconds()
	}
	// On one processor the runtime is the work: ln uniform on [1.8, 11.8],
	// standard deviation 2.89 and standard error 0.02.
	require.InDelta(t, 6.8, stat.Mean(logs, nil), 0.1)
	require.InEpsilon(t, 100, last/20_000, 0.03, "mean gap: standard error 0.7%")
}

func TestFeitelsonRepeatsJobs(t *testing.T) {
	// With gaps far longer than the runtimes the runs of a job follow each other.
	jobs, err := Feitelson{MeanGap: 1e7, TimeUnit: 100}.Jobs(50_000)
	require.NoError(t, err)
	firstRuns := 0
	var end des.Time
	var sizes []float64
	for j := range jobs {
		if j.Submit > end+des.Second || j.ID == 1 { // one second of rounding
			firstRuns++
			sizes = append(sizes, float64(j.Request.Nodes))
		}
		end = j.Submit + j.Runtime
	}
	want := zipf{Order: 2.5, N: 1000}.Mean() // 1.95; the tail is heavy
	require.InEpsilon(t, want, 50_000/float64(firstRuns), 0.06)
	zipf := zipf{Order: 1.5, N: 128}
	require.InDelta(t, 1/zipf.sum(zipf.Order), share(sizes, func(x float64) bool { return x == 1 }), 0.015)
}

// A load sets the gaps by the mean number of runs, whose rare long series a sample hardly shows.
func TestALoadOfFeitelsonsCountsSeriesOfUpToAThousandRuns(t *testing.T) {
	m := Feitelson{Processors: 1, TimeUnit: 600, Load: 0.7}
	// On one processor a runtime is short with probability 0.75, and otherwise seven times as long.
	gap := zipf{Order: 2.5, N: 1000}.Mean() * 600 * (0.75 + 7*0.25) / 0.7
	loaded, err := m.Jobs(100)
	require.NoError(t, err)
	m.Load, m.MeanGap = 0, gap
	spaced, err := m.Jobs(100)
	require.NoError(t, err)
	require.Equal(t, slices.Collect(spaced), slices.Collect(loaded))
}

func TestARunOfFeitelsonsComesWhenTheOneBeforeHasEnded(t *testing.T) {
	// Gaps are so long that no job comes while another one is run again.
	jobs, err := Feitelson{MeanGap: 1e8, TimeUnit: 100}.Jobs(2000)
	require.NoError(t, err)
	var before *entity.Job
	again := 0
	for j := range jobs {
		if before != nil {
			late := (j.Submit - before.Submit - before.Runtime).Seconds()
			require.GreaterOrEqual(t, late, -1.0, "job %d; one second of rounding", j.ID)
			if late <= 1 {
				again++
				require.Equal(t, before.Request, j.Request)
				require.Equal(t, before.Runtime, j.Runtime)
			}
		}
		before = j
	}
	require.Positive(t, again)
}

func TestJannMeetsTheLogsMomentsInEveryRange(t *testing.T) {
	source, err := Lublin{Seed: 1}.Jobs(20_000)
	require.NoError(t, err)
	m := jannOfLublin(t)
	for _, r := range m.Ranges {
		lo, hi := r.Sizes[0].Size, r.Sizes[len(r.Sizes)-1].Size
		var runs moments
		for j := range source {
			if lo <= j.Request.Nodes && j.Request.Nodes <= hi {
				runs.add(j.Runtime.Seconds())
			}
		}
		require.Equal(t, runs.n, float64(r.Jobs()))
		require.InEpsilon(t, runs.sum/runs.n, r.Run.moment(1), 1e-9, "mean runtime of sizes %d to %d", lo, hi)
		if r.RunMoments == 3 {
			require.InEpsilon(t, runs.squares/runs.n, r.Run.moment(2), 1e-6)
			require.InEpsilon(t, runs.cubes/runs.n, r.Run.moment(3), 1e-6)
		}
		require.Equal(t, 3, r.GapMoments, "Lublin's gaps vary enough for a hyper-Erlang")
	}
	// And the jobs drawn have the sizes of the log.
	jobs, err := m.Jobs(50_000)
	require.NoError(t, err)
	serial := 0.0
	for j := range jobs {
		if j.Request.Nodes == 1 {
			serial++
		}
	}
	require.InDelta(t, 0.244, serial/50_000, 0.03, "serial jobs; each range's rate varies with its heavy gaps")
}

func TestJannFallsBackToTheMean(t *testing.T) {
	jobs := func(yield func(*entity.Job) bool) {
		for i := range 10 { // constant gaps and runtimes: no mixture has such moments
			if !yield(newJob(int64(i+1), float64(60*i), 4, 300, -1)) {
				return
			}
		}
	}
	m, err := FitJann(jobs, PowersOfTwo(8), 7)
	require.NoError(t, err)
	require.Len(t, m.Ranges, 1)
	r := m.Ranges[0]
	require.Equal(t, []sizeCount{{4, 10}}, r.Sizes)
	require.Equal(t, 1, r.RunMoments)
	require.Equal(t, 7, r.Run.Order, "the steadiest there is")
	require.InEpsilon(t, 300, r.Run.Mean(), 1e-12)
	require.InEpsilon(t, 60, r.Gap.Mean(), 1e-12)
}

// Of a mean of 100 s and a variance of 2500 s^2 is the Erlang distribution of order 4. No mixture
// of two of a common order has a skewness of 0.
func TestJannTakesTheVariationOfAnErlangWhereNoMixtureHasTheMoments(t *testing.T) {
	m, err := FitJann(func(yield func(*entity.Job) bool) {
		for i := range 10 {
			if !yield(newJob(int64(i+1), float64(60*i), 4, float64(50+i%2*100), -1)) {
				return
			}
		}
	}, PowersOfTwo(8), 7)
	require.NoError(t, err)
	r := m.Ranges[0]
	require.Equal(t, 1, r.RunMoments)
	require.Equal(t, 4, r.Run.Order)
	require.InEpsilon(t, 100, r.Run.Mean(), 1e-12)
}

func TestJannDrawsSizesAsOftenAsTheLogHasThemAndRoundsRuntimes(t *testing.T) {
	even := func(mean float64) HyperErlang { return HyperErlang{P: 1, Order: 1, Rate1: 1 / mean, Rate2: 1 / mean} }
	m := Jann{Ranges: []JannRange{{Sizes: []sizeCount{{3, 1}, {4, 3}}, Gap: even(100), Run: even(3)}}, Seed: 1}
	jobs, err := m.Jobs(100_000)
	require.NoError(t, err)
	var threes, runs float64
	for j := range jobs {
		if j.Request.Nodes == 3 {
			threes++
		}
		runs += j.Runtime.Seconds()
	}
	require.InDelta(t, 0.25, threes/100_000, 0.006)
	// The sum of P(X >= k - 0.5) over k from 2 on, and the second that every job runs.
	mean := 1 + math.Exp(-0.5)/(1-math.Exp(-1.0/3))
	require.InDelta(t, mean, runs/100_000, 0.04)
	require.InEpsilon(t, 3.75*mean/100/128, m.offeredLoad(128), 1e-3)
}

func TestRangesOfSizes(t *testing.T) {
	require.Equal(t, []int{1, 2, 4, 8, 16, 32, 64, 100}, PowersOfTwo(100))
	require.Equal(t, []int{1, 2, 4, 8}, PowersOfTwo(8))
	require.Equal(t, []int{1}, PowersOfTwo(1))
	require.Equal(t, []int{1, 5, 10, 15, 17}, MultiplesOf(5, 17))
	require.Equal(t, []int{1, 5, 10}, MultiplesOf(5, 10))
	require.Equal(t, []int{1}, MultiplesOf(5, 1))
}

func TestModelsRefuseNonsense(t *testing.T) {
	for _, m := range []generator{
		Downey{},                    // no rate
		Downey{MeanGap: 1, Load: 1}, // two rates
		Downey{Load: math.Inf(1)},
		Downey{Load: 0.5, Sigma: -1},
		Downey{Load: 0.5, Processors: -2},
		Feitelson{},            // no unit
		Feitelson{TimeUnit: 1}, // no rate
		Feitelson{TimeUnit: math.NaN(), Load: 1},
		Jann{}, // no ranges
		Jann{Ranges: []JannRange{{Sizes: []sizeCount{{1, 1}}}}},
	} {
		require.Error(t, refusal(m), "%+v", m)
	}
	none := func(func(*entity.Job) bool) {}
	big := func(yield func(*entity.Job) bool) { yield(newJob(1, 0, 9, 1, -1)) }
	for _, jobs := range []iter.Seq[*entity.Job]{none, big} {
		_, err := FitJann(jobs, PowersOfTwo(8), 7)
		require.Error(t, err)
	}
	_, err := FitJann(big, nil, 7)
	require.Error(t, err)
	_, err = FitJann(big, []int{16}, 0)
	require.Error(t, err)
}

func ExampleDowney() {
	jobs, err := Downey{Processors: 64, Load: 0.6, Sigma: 0.5, Seed: 1}.Jobs(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for j := range jobs {
		fmt.Printf("job %d at %v s: %d processors for %v s\n", j.ID, j.Submit, j.Request.Nodes, j.Runtime)
	}
	// Output:
	// job 1 at 52 s: 4 processors for 13937 s
	// job 2 at 426 s: 11 processors for 3 s
}

func ExampleFitJann() {
	log, err := Lublin{Seed: 1}.Jobs(5000) // a log, for want of a real one
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := FitJann(log, PowersOfTwo(128), 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := m.Ranges[0]
	fmt.Printf("%d serial jobs: mean gap %.0f s, mean runtime %.0f s\n", r.Jobs(), r.Gap.Mean(), r.Run.Mean())
	// Output:
	// 1228 serial jobs: mean gap 3138 s, mean runtime 3579 s
}
