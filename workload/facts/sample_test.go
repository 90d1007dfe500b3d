package facts

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func fileOf(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

func sampleOf(values ...int64) *Sample {
	s := newSample(1)
	for _, v := range values {
		s.add(v)
	}
	return s
}

func TestOurAnswersAreThoseOfSciPy(t *testing.T) {
	samples := map[string]*Sample{}
	for _, row := range fileOf(t, "samples.csv") {
		v, err := strconv.ParseInt(row[2], 10, 64)
		require.NoError(t, err)
		name := row[0] + " " + row[1]
		if samples[name] == nil {
			samples[name] = newSample(1)
		}
		samples[name].add(v)
	}
	rows := fileOf(t, "answers.csv")
	require.Greater(t, len(rows), 100)
	for _, row := range rows {
		want, err := strconv.ParseFloat(row[1], 64)
		require.NoError(t, err)
		words := strings.Fields(row[0])
		var got float64
		switch last := words[len(words)-1]; last {
		case "ks":
			got = kolmogorovSmirnov(samples[words[0]+" a"], samples[words[0]+" b"])
		case "w1":
			got = wasserstein(samples[words[0]+" a"], samples[words[0]+" b"])
		case "mean":
			got = samples[words[0]+" "+words[1]].distribution().Mean
		case "deviation":
			got = samples[words[0]+" "+words[1]].distribution().Deviation
		default:
			p, err := strconv.ParseFloat(last, 64)
			require.NoError(t, err)
			got = samples[words[0]+" "+words[1]].Quantile(p)
		}
		require.InDelta(t, want, got, 1e-9*max(1, math.Abs(want)), row[0])
	}
}

// The definitions themselves, at every whole number.
func TestDistancesAreThoseOfTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 40), 1, 30)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		upTo := func(x int64, all []int64) float64 {
			n := 0
			for _, v := range all {
				if v <= x {
					n++
				}
			}
			return float64(n) / float64(len(all))
		}
		greatest, area := 0.0, 0.0
		for x := int64(0); x <= 40; x++ {
			d := math.Abs(upTo(x, a) - upTo(x, b))
			greatest, area = max(greatest, d), area+d
		}
		x, y := sampleOf(a...), sampleOf(b...)
		require.InDelta(t, greatest, kolmogorovSmirnov(x, y), 1e-12)
		require.InDelta(t, area, wasserstein(x, y), 1e-9)
		require.Equal(t, kolmogorovSmirnov(x, y), kolmogorovSmirnov(y, x))
		require.Zero(t, wasserstein(x, x))
		if len(a) == len(b) { // then values are paired in their order
			slices.Sort(a)
			slices.Sort(b)
			moved := 0.0
			for i := range a {
				moved += math.Abs(float64(a[i]-b[i])) / float64(len(a))
			}
			require.InDelta(t, moved, wasserstein(x, y), 1e-9)
		}
	})
}

func TestSamplesOfOtherUnitsAreComparedInUnits(t *testing.T) {
	a, b := newSample(1000), newSample(10)
	a.add(5000)
	b.add(70)
	require.Equal(t, 2.0, wasserstein(a, b))
	b = newSample(10)
	b.add(50)
	require.Zero(t, kolmogorovSmirnov(a, b))
}

func TestNothingHasNoDistance(t *testing.T) {
	require.True(t, math.IsNaN(kolmogorovSmirnov(sampleOf(1), sampleOf())))
	require.True(t, math.IsNaN(wasserstein(sampleOf(), sampleOf(1))))
	require.Zero(t, sampleOf().Quantile(0.5))
}

func TestManyValuesAreRoundedDownAlikeInAnyOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it adds 300,000 values twice")
	}
	const n = 300_000
	value := func(i int) int64 { return int64(i)*2654435761%(1<<40) + 3 }
	up, down := newSample(1), newSample(1)
	var all []int64
	for i := range n {
		up.add(value(i))
		down.add(value(n - 1 - i))
		all = append(all, value(i))
	}
	require.LessOrEqual(t, up.Distinct(), maxValues)
	require.Greater(t, up.Distinct(), maxValues/4, "no more is lost than must be")
	require.Equal(t, up.counts, down.counts)
	require.EqualValues(t, n, up.N())
	precision := up.Precision()
	require.Greater(t, precision, 0.0)
	require.Less(t, precision, 1e-4)
	slices.Sort(all)
	for _, p := range []float64{0, 0.001, 0.1, 0.5, 0.9, 1} {
		k := int(p * (n - 1))
		got := up.Quantile(p)
		require.GreaterOrEqual(t, got, float64(all[k])*(1-precision))
		require.LessOrEqual(t, got, float64(all[min(k+1, n-1)]))
	}
	sum := 0.0
	for _, v := range all {
		sum += float64(v)
	}
	require.InDelta(t, sum/n, up.distribution().Mean, 1e-6*sum/n)
	require.Zero(t, sampleOf(1, 2, 3).Precision())

	worst := newSample(1) // a 1 and zeros, with ones in all digits that are lost
	for i := range int64(maxValues + 2) {
		worst.add((maxValues+i+1)<<20 - 1)
	}
	precision = worst.Precision()
	require.Equal(t, math.Ldexp(1, -16), precision, "17 digits are kept")
	lost := 1 - worst.Quantile(0)/float64((maxValues+2)<<20-1) // of the second value, which has the digits of the first
	require.InEpsilon(t, precision, lost, 1e-4)
	require.LessOrEqual(t, lost, precision)
}

func TestValuesMayComeAfterAQuestion(t *testing.T) {
	s := sampleOf(5)
	require.Equal(t, 5.0, s.Quantile(1))
	s.add(9)
	require.Equal(t, []float64{7, 9}, []float64{s.Quantile(0.5), s.Quantile(1)})
}
