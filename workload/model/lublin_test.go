package model

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/entity"
)

// sample is what the published figures are about, job by job.
type sample struct {
	run, size, gap []float64
	hours          [24]float64 // share of the arrivals, in percent
	load           float64
}

func takeSample(t *testing.T, m Lublin, n int64, keep func(*entity.Job) bool) sample {
	t.Helper()
	jobs, err := m.Jobs(n)
	require.NoError(t, err)
	var s sample
	var before, area float64
	kept := 0.0
	for j := range jobs {
		if keep != nil && !keep(j) {
			continue
		}
		kept++
		run, size, at := j.Runtime.Seconds(), float64(j.Request.Nodes), j.Submit.Seconds()
		s.run = append(s.run, run)
		s.size = append(s.size, size)
		s.gap = append(s.gap, at-before)
		s.hours[int(at/3600)%24]++
		area += run * size
		before = at
	}
	for h := range s.hours {
		s.hours[h] *= 100 / kept
	}
	s.load = area / before / 128
	return s
}

func quantile(p float64, xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return stat.Quantile(p, stat.Empirical, xs, nil)
}

func share(xs []float64, match func(float64) bool) float64 {
	n := 0
	for _, x := range xs {
		if match(x) {
			n++
		}
	}
	return float64(n) / float64(len(xs))
}

func isPow2(x float64) bool { n := uint(x); return n&(n-1) == 0 }

// The published figures come from one sample of 200,000 jobs, ours too. A
// tolerance is four standard errors of the difference of two such samples,
// 4 sqrt(2) s/sqrt(n), rounded up; for quantiles the standard error is
// sqrt(q(1-q)/n) by the density there.
func TestLublinUntypedMeetsThePublishedFigures(t *testing.T) {
	s := takeSample(t, Lublin{Seed: 1}, 200_000, nil)
	mean, sd := stat.MeanStdDev(s.run, nil)
	require.InDelta(t, 4337, mean, 110, "mean runtime: s = 8414, standard error 18.8")
	require.InDelta(t, 1.94, sd/mean, 0.04, "coefficient of variation of the runtime")
	require.InEpsilon(t, 107, quantile(0.5, s.run), 0.05, "median runtime")
	require.InEpsilon(t, 14_550, quantile(0.9, s.run), 0.03, "90% quantile of the runtime")
	require.InEpsilon(t, 34_030, quantile(0.99, s.run), 0.04, "99% quantile of the runtime")

	require.InDelta(t, 12.134, stat.Mean(s.size, nil), 0.2, "mean size: s = 22, standard error 0.05")
	require.InDelta(t, 0.2440, share(s.size, func(x float64) bool { return x == 1 }), 0.004, "serial jobs")
	require.InDelta(t, 0.6251, share(s.size, func(x float64) bool { return x > 1 && isPow2(x) }), 0.0045, "powers of two above 1")
	require.InDelta(t, 0.18, stat.Correlation(s.run, s.size, nil), 0.02, "correlation of runtime and size")
	logs := func(xs []float64) []float64 {
		ys := make([]float64, len(xs))
		for i, x := range xs {
			ys[i] = math.Log(x)
		}
		return ys
	}
	require.InDelta(t, 0.17, stat.Correlation(logs(s.run), logs(s.size), nil), 0.02, "correlation of the logarithms")

	// Gaps: the coefficient of variation of 7 makes the standard error of the
	// mean 14 s; that of the coefficient of variation itself is about 10%, since
	// few gaps decide it.
	mean, sd = stat.MeanStdDev(s.gap, nil)
	require.InDelta(t, 899, mean, 80, "mean gap")
	require.InDelta(t, 7.0, sd/mean, 1, "coefficient of variation of the gap")
	require.InEpsilon(t, 117, quantile(0.5, s.gap), 0.05, "median gap")
	require.InDelta(t, 0.733, s.load, 0.07, "offered load")
}

func TestLublinUntypedSizesAreTheAnalyticOnes(t *testing.T) {
	want := map[int]float64{1: .2440, 2: .1156, 4: .1491, 8: .1414, 16: .1377, 32: .0327, 64: .0325, 128: .0162}
	s := takeSample(t, Lublin{Seed: 2}, 200_000, nil)
	class := lublinAll(128)
	for size, p := range want {
		require.InDelta(t, p, class.sizeProb(size, 128), 5e-5, "probability of size %d", size)
		drawn := share(s.size, func(x float64) bool { return x == float64(size) })
		require.InDelta(t, p, drawn, 4*math.Sqrt(p*(1-p)/200_000)+5e-5, "share of size %d", size)
	}
}

func TestLublinTypedMeetsThePublishedFigures(t *testing.T) {
	const n = 200_000
	interactive := takeSample(t, Lublin{Typed: true, Seed: 1}, n, func(j *entity.Job) bool { return j.Queue == 0 })
	batch := takeSample(t, Lublin{Typed: true, Seed: 1}, n, func(j *entity.Job) bool { return j.Queue == 1 })
	all := takeSample(t, Lublin{Typed: true, Seed: 1}, n, nil)
	// Published are ranges over three seeds; they are widened by four standard
	// errors of ours.
	between := func(lo, hi, got float64, of string) {
		t.Helper()
		require.GreaterOrEqual(t, got, lo, of)
		require.LessOrEqual(t, got, hi, of)
	}
	between(.137, .166, float64(len(batch.run))/n, "share of batch jobs; it follows the heavy-tailed gaps")
	between(215, 265, stat.Mean(interactive.run, nil), "mean runtime, interactive: s about 2000")
	between(12, 14, quantile(0.5, interactive.run), "median runtime, interactive")
	require.InDelta(t, 8.045, stat.Mean(interactive.size, nil), 0.1, "mean size, interactive: s about 10")
	between(9000, 9950, stat.Mean(batch.run, nil), "mean runtime, batch: s about 15,000")
	between(720, 930, quantile(0.5, batch.run), "median runtime, batch")
	require.InDelta(t, 13.893, stat.Mean(batch.size, nil), 0.7, "mean size, batch: s about 25 over 30,000 jobs")
	between(480, 565, stat.Mean(all.gap, nil), "mean gap")
	between(.36, .46, all.load, "offered load")
}

func TestLublinDailyCycleHoldsOverYears(t *testing.T) {
	want := [24]float64{2.01, 1.61, 1.28, 1.00, .78, .84, 1.59, 2.58, 3.71, 4.86, 5.91, 6.76,
		7.33, 7.61, 7.60, 7.35, 6.90, 6.32, 5.65, 4.95, 4.26, 3.61, 3.01, 2.47}
	class := lublinAll(128)
	weights := class.dailyWeights()
	for h := range want {
		require.InDelta(t, want[h], 100*(weights[2*h]+weights[2*h+1])/lublinBuckets, 0.006, "analytic share of hour %d", h)
	}
	require.InDelta(t, 1.83, slices.Max(weights[:]), 0.005)
	require.InDelta(t, 0.16, slices.Min(weights[:]), 0.005)
	require.Equal(t, slices.Max(weights[:]), weights[27], "the busiest half-hour begins at 13:30")

	// 200,000 jobs span nearly six years. The shares of the simulated hours were
	// published as within 0.3 of the analytic ones; arrivals come in bursts, so
	// that the binomial error, 0.06, is far too small a bound.
	s := takeSample(t, Lublin{Seed: 3}, 200_000, nil)
	for h := range want {
		require.InDelta(t, want[h], s.hours[h], 0.35, "share of hour %d", h)
	}
}

func TestLublinLoadIsReached(t *testing.T) {
	offered := func(m Lublin) float64 {
		populations, err := m.populations()
		require.NoError(t, err)
		return offeredLoad(populations)
	}
	require.InDelta(t, 0.733, offered(Lublin{}), 0.02)
	require.InDelta(t, 0.41, offered(Lublin{Typed: true}), 0.015)

	for _, m := range []Lublin{{Load: 0.9, Seed: 4}, {Load: 0.5, Typed: true, Seed: 4}} {
		require.InEpsilon(t, m.Load, offered(m), 1e-12)
		// The mean gap's standard error is 1.6%, that of the mean area 0.7%.
		require.InEpsilon(t, m.Load, takeSample(t, m, 200_000, nil).load, 0.07)
	}
}

func TestLublinScalesGapsAlone(t *testing.T) {
	plain := takeSample(t, Lublin{Seed: 5}, 1000, nil)
	loaded := takeSample(t, Lublin{Seed: 5, Load: 3}, 1000, nil)
	require.Equal(t, plain.run, loaded.run)
	require.Equal(t, plain.size, loaded.size)
	require.Greater(t, stat.Mean(plain.gap, nil), 3*stat.Mean(loaded.gap, nil))
}

func TestLublinOnAnyMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Lublin{
			Processors: rapid.IntRange(1, 5000).Draw(t, "processors"),
			Typed:      rapid.Bool().Draw(t, "typed"),
			Seed:       rapid.Uint64().Draw(t, "seed"),
		}
		jobs, err := m.Jobs(200)
		require.NoError(t, err)
		var id int64
		var before entity.Job
		for j := range jobs {
			id++
			require.Equal(t, id, j.ID)
			require.GreaterOrEqual(t, j.Submit, before.Submit)
			require.GreaterOrEqual(t, j.Runtime.Seconds(), 1.0)
			require.LessOrEqual(t, j.Runtime.Seconds(), 162_754.0) // e^12
			require.GreaterOrEqual(t, j.Request.Nodes, 1)
			require.LessOrEqual(t, j.Request.Nodes, m.Processors)
			require.NoError(t, j.Request.Check())
			before = *j
		}
		require.EqualValues(t, 200, id)
		for _, class := range []lublinClass{lublinAll(m.Processors), lublinBatch(m.Processors), lublinInteractive(m.Processors)} {
			var sum float64
			for n := 1; n <= m.Processors; n++ {
				sum += class.sizeProb(n, m.Processors)
			}
			require.InDelta(t, 1, sum, 1e-9, "probabilities of the sizes")
		}
	})
}

func TestLublinYieldsTheSameJobsOnEveryPass(t *testing.T) {
	jobs, err := Lublin{Typed: true, Seed: 6}.Jobs(100)
	require.NoError(t, err)
	require.Equal(t, slices.Collect(jobs), slices.Collect(jobs))
	other, err := Lublin{Typed: true, Seed: 7}.Jobs(100)
	require.NoError(t, err)
	require.NotEqual(t, slices.Collect(jobs), slices.Collect(other))
}

func TestLublinStopsWithItsConsumer(t *testing.T) {
	jobs, err := Lublin{}.Jobs(1 << 40)
	require.NoError(t, err)
	for j := range jobs {
		if j.ID == 3 {
			break
		}
	}
}

func TestLublinRefusesNonsense(t *testing.T) {
	for _, m := range []Lublin{
		{Processors: -1},
		{Load: -0.5},
		{Load: math.NaN()},
		{Load: math.Inf(1)},
		{Processors: mostForLoad + 1, Load: 0.5},
		{Load: 1e9},
	} {
		require.Error(t, refusal(m), "%+v", m)
		_, err := m.Jobs(1)
		require.Error(t, err)
	}
	_, err := Lublin{}.Jobs(-1)
	require.Error(t, err)
}

func ExampleLublin() {
	model := Lublin{Processors: 128, Load: 0.75, Seed: 1}
	jobs, err := model.Jobs(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for j := range jobs {
		fmt.Printf("job %d at %v s: %d processors for %v s\n", j.ID, j.Submit, j.Request.Nodes, j.Runtime)
	}
	// Output:
	// job 1 at 415 s: 1 processors for 314 s
	// job 2 at 1074 s: 32 processors for 25394 s
	// job 3 at 1213 s: 1 processors for 10648 s
}

func BenchmarkLublin(b *testing.B) {
	b.ReportAllocs()
	jobs, err := Lublin{}.Jobs(int64(b.N))
	require.NoError(b, err)
	for range jobs {
	}
}
