package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestBatchMeansOfAKnownSeries(t *testing.T) {
	e := BatchMeans([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, 0.95)
	require.Equal(t, 4.5, e.Mean)
	require.Equal(t, []float64{1.5, 3.5, 5.5, 7.5}, e.means)
	require.InDelta(t, 3.182446*math.Sqrt(20.0/3)/2, e.HalfWidth, 1e-5) // t of 3 degrees
	require.InDelta(t, 0.25, e.lag1, 1e-12)                             // (3 - 1 + 3) / 20
	require.True(t, math.IsNaN(e.dependence.P))
	require.False(t, e.Doubtful())
	e = BatchMeans([]float64{1, 2, 3, 4, 50}, 2, 0.95)
	require.Equal(t, 12.0, e.Mean)
	require.InDelta(t, 12.706205*math.Abs(1.5-19)/2, e.HalfWidth, 1e-4) // batches of 2 and 3
	e = BatchMeans([]float64{1, 2, 3}, 2, 0.95)
	require.True(t, math.IsInf(e.HalfWidth, 1))
	require.False(t, e.Doubtful())
}

// neighbours is a series of mean 0 in which each value is r times the last one, and
// chance.
func neighbours(random *rand.Rand, n int, r float64) []float64 {
	values := make([]float64, n)
	x := random.NormFloat64() / math.Sqrt(1-r*r)
	for i := range values {
		values[i] = x
		x = r*x + random.NormFloat64()
	}
	return values
}

func TestIntervalsByBatchMeansCoverTheMeanOfACorrelatedSeries(t *testing.T) {
	random := des.NewStream(1, 0, "batches")
	const runs = 2000
	covered, naive, doubted := 0, 0, 0
	for range runs {
		values := neighbours(random, 2000, 0.8)
		b := BatchMeans(values, 20, 0.95)
		if b.Contains(0) {
			covered++
		}
		if b.Doubtful() {
			doubted++
		}
		if e := Mean(values, 0.95); e.Contains(0) {
			naive++
		}
	}
	require.InDelta(t, 0.95, float64(covered)/runs, 0.02)
	require.Less(t, naive, runs/2) // as if values were independent of each other
	require.InDelta(t, 0.07, float64(doubted)/runs, 0.03)
}

func TestBatchesThatAreTooShortAreDoubted(t *testing.T) {
	random := des.NewStream(1, 0, "short batches")
	const runs = 500
	doubted := 0
	for range runs {
		if BatchMeans(neighbours(random, 400, 0.99), 20, 0.95).Doubtful() {
			doubted++
		}
	}
	require.Greater(t, doubted, runs*95/100)
}

func TestOneBatchInTwentyIsDoubtedWithoutReason(t *testing.T) {
	random := des.NewStream(1, 0, "independent batches")
	const runs = 2000
	for _, n := range []int{8, 30} {
		doubted := 0
		for range runs {
			if BatchMeans(neighbours(random, 2*n, 0), n, 0.95).Doubtful() {
				doubted++
			}
		}
		require.InDelta(t, 0.05, float64(doubted)/runs, 0.012)
	}
}

// Waits in a queue with one server, by Lindley's recursion: their mean is
// load²/(1-load) services' (Pollaczek and Khinchin).
func TestBatchMeansAfterTheWarmUpCoverTheMeanWaitOfAQueue(t *testing.T) {
	random := des.NewStream(1, 0, "queue")
	const runs, load = 500, 0.5
	covered := 0
	for range runs {
		waits := make([]float64, 20000)
		for i := 1; i < len(waits); i++ {
			waits[i] = max(0, waits[i-1]+load*random.ExpFloat64()-random.ExpFloat64())
		}
		steady := waits[1000:]
		if BatchMeans(steady, 20, 0.95).Contains(load * load / (1 - load)) {
			covered++
		}
	}
	require.InDelta(t, 0.95, float64(covered)/runs, 0.02)
}

// The rule as it is written, in twice as many loops as are needed.
func TestMSER5IsTheCutOfTheLeastStandardError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 8), func(i int) float64 { return float64(i) }), 50, 120).Draw(t, "values")
		var fives []float64
		for i := 0; i+5 <= len(values); i += 5 {
			fives = append(fives, (values[i]+values[i+1]+values[i+2]+values[i+3]+values[i+4])/5)
		}
		k := len(fives)
		error2 := func(d int) float64 {
			mean, sum := 0.0, 0.0
			for _, z := range fives[d:] {
				mean += z / float64(k-d)
			}
			for _, z := range fives[d:] {
				sum += (z - mean) * (z - mean)
			}
			return sum / float64((k-d)*(k-d))
		}
		least := math.Inf(1)
		for d := 0; d <= k-5; d++ {
			least = min(least, error2(d))
		}
		n, err := MSER5(values)
		if err != nil {
			require.ErrorIs(t, err, errStillWarming)
			for d := 0; 2*d <= k; d++ {
				require.Greater(t, error2(d), least-1e-12)
			}
			return
		}
		require.Zero(t, n%5)
		require.LessOrEqual(t, n, len(values)/2)
		require.InDelta(t, least, error2(n/5), 1e-12)
	})
}

// Once in a hundred runs the last few means are alike by chance, and the rule refuses.
func TestMSER5LeavesOutWhatIsFarFromTheRest(t *testing.T) {
	random := des.NewStream(1, 0, "warm-up")
	refused := 0
	for range 300 {
		values := neighbours(random, 1000, 0.5)
		for i := range 100 {
			values[i] += 30 // a start far from what comes
		}
		n, err := MSER5(values)
		if err != nil {
			require.ErrorIs(t, err, errStillWarming)
			refused++
			continue
		}
		require.GreaterOrEqual(t, n, 100)
	}
	require.LessOrEqual(t, refused, 9)
}

func TestARunThatNeverBecomesSteadyIsRefused(t *testing.T) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(min(i, 700))
	}
	_, err := MSER5(values)
	require.ErrorIs(t, err, errStillWarming)
	require.EqualError(t, err, "the run is too short for its warm-up, or never becomes steady: MSER-5 would leave out 700 values of 1000")
	_, err = MSER5(values[:49])
	require.EqualError(t, err, "MSER-5 needs 50 values, and there are 49")
	n, err := MSER5(make([]float64, 50))
	require.NoError(t, err)
	require.Zero(t, n)
}
