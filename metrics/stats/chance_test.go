package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// same requires what gonum has: to the bit where it compiles to no fused multiply-add.
func same(t *testing.T, want, got float64, of ...float64) {
	t.Helper()
	if runtime.GOARCH == "amd64" || math.IsInf(want, 0) {
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%v instead of %v, of %v", got, want, of)
		return
	}
	require.InDelta(t, want, got, 1e-12*max(1, math.Abs(want)), of)
}

func TestDistributionsAreThoseOfGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		nu, x, p := 1+r.Float64()*float64(r.IntN(500)), 6*r.NormFloat64(), r.Float64()
		if r.IntN(50) == 0 {
			nu, x, p = math.Ceil(nu), 0, 0.5
		}
		theirs := distuv.StudentsT{Sigma: 1, Nu: nu}
		same(t, theirs.CDF(x), student(nu).cdf(x), nu, x)
		same(t, theirs.Quantile(p), student(nu).quantile(p), nu, p)
		same(t, distuv.UnitNormal.CDF(x), normal(x), x)
		chi := distuv.ChiSquared{K: nu}
		same(t, chi.Survival(x*x), chiSquared(nu).survival(x*x), nu, x)
		same(t, 1, chiSquared(nu).survival(-1), nu)
	}
	for _, p := range []float64{0, 1} {
		same(t, distuv.StudentsT{Sigma: 1, Nu: 5}.Quantile(p), student(5).quantile(p), p)
	}
}
