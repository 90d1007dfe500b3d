package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func estimateStream(seed uint64) *rand.Rand { return des.NewStream(seed, 0, "tsafrir") }

func TestTsafrirNumberOfValues(t *testing.T) {
	for n, want := range map[int]int{1: 1, 20: 10, 200: 20, 1000: 35, 10_000: 90, 50_000: 257, 70_000: 340, 250_000: 565, 1_000_000: 565} {
		require.Equal(t, want, typicalValues(n), "%d jobs", n)
	}
}

func TestTsafrirHeadSizesAreThePublishedPercentages(t *testing.T) {
	want := []float64{21.733, 10.313, 8.710, 7.369, 6.245, 5.305, 4.517, 3.858, 3.305, 2.843, 2.456,
		2.131, 1.860, 1.633, 1.442, 1.283, 1.149, 1.038, .944, .866}
	for i, percent := range headSizes() {
		require.InDelta(t, want[i], percent, 6e-4, "rank %d", i+1)
	}
}

func TestTsafrirHeadTimesOf18Hours(t *testing.T) {
	const minute, hour = 60, 3600
	require.Equal(t, []int64{18 * hour, 5 * minute, 10 * minute, 15 * minute, 20 * minute, 30 * minute, hour,
		2 * hour, 3 * hour, 4 * hour, 5 * hour, 6 * hour, 8 * hour, 10 * hour, 12 * hour,
		13 * hour, 14 * hour, 15 * hour, 16 * hour, 17 * hour}, headTimes(18*hour))
}

func TestTsafrirRanksOfTheHead(t *testing.T) {
	for seed := range uint64(200) {
		ranks := drawHeadRanks(estimateStream(seed))
		require.Equal(t, 1, ranks[0], "the maximum is the most popular")
		sorted := slices.Clone(ranks[:])
		slices.Sort(sorted)
		for i, rank := range sorted {
			require.Equal(t, i+1, rank, "every rank once")
		}
	}
}

func TestTsafrirHistogramHasTheModelsShape(t *testing.T) {
	const limit = 64_800 * des.Second
	for n, values := range map[int]int{10_000: 90, 50_000: 257, 250_000: 565} {
		var mean float64
		const seeds = 20
		for seed := range uint64(seeds) {
			bins, err := Tsafrir{Max: limit}.histogram(n, estimateStream(seed))
			require.NoError(t, err)
			require.Len(t, bins, values, "%d jobs", n)
			jobs := make([]int, len(bins))
			var sum float64
			for i, b := range bins {
				jobs[i] = b.Jobs
				sum += b.Estimate.Seconds() * float64(b.Jobs) / float64(n)
			}
			mean += sum / seeds
			slices.Sort(jobs)
			var head int
			for _, j := range jobs[len(jobs)-20:] {
				head += j
			}
			// Rare values have at least one job each, which takes a little from
			// the head.
			require.InDelta(t, 0.89, float64(head)/float64(n), 0.005, "share of the 20 most popular")
			last := bins[len(bins)-1]
			require.Equal(t, limit, last.Estimate)
			require.InDelta(t, 0.217, float64(last.Jobs)/float64(n), 0.002, "share of the maximum")
		}
		require.InDelta(t, 25_350, mean, 1000, "mean estimate: 24,700 to 26,000 was found; which times are popular is random")
	}
}

func TestTsafrirOnLublinRuntimes(t *testing.T) {
	// Which of the head's times are popular is drawn once a trace and moves the
	// figures more than 50,000 jobs do; so the mean of five traces is compared.
	var mean float64
	var deciles [10]float64
	n := 0.0
	for seed := range uint64(5) {
		source, err := Lublin{Seed: seed}.Jobs(50_000)
		require.NoError(t, err)
		given, err := Tsafrir{Max: 64_800 * des.Second}.Attach(source, estimateStream(seed))
		require.NoError(t, err)
		cut := 0
		for j := range given {
			if j.Runtime == 64_800*des.Second {
				cut++
			}
			accuracy := j.Runtime.Seconds() / j.Request.Length.Seconds()
			mean += accuracy
			deciles[min(int(accuracy*10), 9)]++
			n++
		}
		require.InDelta(t, 75, cut, 45, "0.15% of the runtimes are above 18 hours")
	}
	require.Equal(t, 250_000.0, n)
	require.InDelta(t, 0.1655, mean/n, 0.007, "mean of runtime by estimate: .162 to .169 was found")
	for i, want := range []float64{58, 12, 9, 5.5, 4, 3, 2.5, 2, 1.8, 1.7} {
		require.InDelta(t, want, 100*deciles[i]/n, 1, "decile %d", i+1)
	}
}

func TestTsafrirHistogramSumsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 50), rapid.IntRange(51, 20_000)).Draw(t, "n")
		cfg := Tsafrir{Max: des.Time(rapid.Int64Range(3600, 3_000_000).Draw(t, "max")) * des.Second}
		bins, err := cfg.histogram(n, estimateStream(rapid.Uint64().Draw(t, "seed")))
		require.NoError(t, err)
		sum := 0
		for i, b := range bins {
			require.Positive(t, b.Jobs)
			require.Positive(t, b.Estimate)
			if i > 0 {
				require.Greater(t, b.Estimate, bins[i-1].Estimate)
			}
			sum += b.Jobs
		}
		require.Equal(t, n, sum)
		require.Equal(t, cfg.Max, bins[len(bins)-1].Estimate)
	})
}

func TestTsafrirEstimatesCoverTheRuntimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runtimes := rapid.SliceOf(rapid.Custom(func(t *rapid.T) des.Time {
			return des.Time(rapid.Int64Range(0, 90_000).Draw(t, "s")) * des.Second
		})).Draw(t, "runtimes")
		cfg := Tsafrir{Max: 64_800 * des.Second}
		estimates, err := cfg.estimates(runtimes, estimateStream(1))
		if err != nil {
			// Of as many jobs as the error tells, all are as long as it tells.
			var jobs int
			var runtime float64
			_, scanned := fmt.Sscanf(err.Error(), "tsafrir: %d jobs run %f s or longer", &jobs, &runtime)
			require.NoError(t, scanned, err)
			longer := 0
			for _, run := range runtimes {
				if min(run, cfg.Max).Seconds() >= runtime {
					longer++
				}
			}
			require.GreaterOrEqual(t, longer, jobs)
			return
		}
		require.Len(t, estimates, len(runtimes))
		for i, e := range estimates {
			require.GreaterOrEqual(t, e, min(runtimes[i], cfg.Max))
		}
	})
}

func TestTsafrirChangesTheEstimateAlone(t *testing.T) {
	source, err := Lublin{Seed: 7}.Jobs(1000)
	require.NoError(t, err)
	before := slices.Collect(source)
	given, err := Tsafrir{}.Attach(slices.Values(before), estimateStream(2))
	require.NoError(t, err)
	i := 0
	for j := range given {
		require.LessOrEqual(t, j.Runtime, j.Request.Length)
		j.Request.Length = before[i].Request.Length
		require.Equal(t, before[i], j)
		i++
	}
	require.Equal(t, 1000, i)
	require.Equal(t, slices.Collect(source), before, "the jobs given are left as they were")
}

func TestTsafrirFailsWhereRuntimesAreTooLong(t *testing.T) {
	long := func(yield func(*entity.Job) bool) {
		for i := range 100 {
			if !yield(newJob(int64(i+1), 0, 1, 7000, -1)) {
				return
			}
		}
	}
	// All jobs are as long, and the histogram tells how many of its estimates are long enough.
	bins, err := Tsafrir{Max: 2 * des.Hour}.histogram(100, estimateStream(3))
	require.NoError(t, err)
	enough, longest := 0, des.Time(0) // the longest of the others
	for _, b := range bins {
		if b.Estimate >= 7000*des.Second {
			enough += b.Jobs
		} else {
			longest = b.Estimate
		}
	}
	require.Positive(t, enough)
	want := fmt.Sprintf("tsafrir: %d jobs run 7000 s or longer, but at most %d modelled estimates (maximum 7200 s) are above %v s", enough+1, enough, longest)
	_, err = Tsafrir{Max: 2 * des.Hour}.Attach(long, estimateStream(3))
	require.ErrorContains(t, err, want)
	_, err = Tsafrir{Max: 2 * des.Hour}.EstimatesOf(long, estimateStream(3))
	require.ErrorContains(t, err, want)
}

func TestTsafrirRefusesNonsense(t *testing.T) {
	for _, cfg := range []Tsafrir{{}, {Max: 59 * des.Minute}, {Max: des.Forever}} {
		_, err := cfg.histogram(100, estimateStream(1))
		require.Error(t, err, "%+v", cfg)
	}
	_, err := Tsafrir{Max: des.Hour}.histogram(math.MaxInt32+1, estimateStream(1))
	require.Error(t, err)
	estimates, err := Tsafrir{Max: des.Hour}.estimates(nil, estimateStream(1))
	require.NoError(t, err)
	require.Empty(t, estimates)
}

func ExampleTsafrir_Attach() {
	jobs, err := Lublin{Seed: 1}.Jobs(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	given, err := Tsafrir{Max: 18 * des.Hour}.Attach(jobs, des.NewStream(1, 0, "estimates"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for j := range given {
		fmt.Printf("job %d runs %v s, its user says %v s\n", j.ID, j.Runtime, j.Request.Length)
		if j.ID == 3 {
			break
		}
	}
	// Output:
	// job 1 runs 314 s, its user says 600 s
	// job 2 runs 25394 s, its user says 46800 s
	// job 3 runs 10648 s, its user says 18000 s
}
