package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestTheIntervalIsThatOfTheNextRuntime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= maxRuntimes; n++ {
		var r runtimes
		var all []float64
		for range n + 5 { // the first five are forgotten
			v := random.Int32N(100_000)
			r.add(v, n)
			all = append(all, float64(v))
		}
		all = all[5:]
		half := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.95) * math.Sqrt(stat.Variance(all, nil)*(1+1/float64(n)))
		require.InEpsilon(t, half, math.Sqrt(r.interval()), 1e-4, "of %d", n)
	}
}

func TestIntervalsOfTheLongestRuntimesAreExact(t *testing.T) {
	var r runtimes
	for i := range maxRuntimes {
		r.add(int32(maxSeconds*(i%2)), maxRuntimes)
	}
	n := float64(maxRuntimes)
	half := student95[maxRuntimes-2] * maxSeconds / 2 * math.Sqrt(n/(n-1)*(1+1/n))
	require.InEpsilon(t, half, math.Sqrt(r.interval()), 1e-12)
}
