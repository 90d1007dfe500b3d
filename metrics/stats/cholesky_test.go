package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// symmetric is a positive semidefinite matrix of that rank, as rows and as gonum wants it.
func symmetric(r *rand.Rand, n, rank int) ([][]float64, *mat.SymDense) {
	rows, dense := make([][]float64, n), mat.NewSymDense(n, nil)
	of := mat.NewDense(n, rank, nil)
	of.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, of)
	dense.SymOuterK(1, of)
	for i := range rows {
		rows[i] = mat.Row(nil, i, dense)
	}
	return rows, dense
}

func TestEquationsAreSolvedAsGonumSolvesThem(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		n := 1 + r.IntN(12)
		rows, dense := symmetric(r, n, n+r.IntN(20))
		var theirs mat.Cholesky
		require.True(t, theirs.Factorize(dense))
		ours, ok := factorize(rows)
		require.True(t, ok)
		var inverse mat.SymDense
		require.NoError(t, theirs.InverseTo(&inverse))
		condition := mat.Norm(dense, 1) * mat.Norm(&inverse, 1)
		require.InEpsilon(t, condition, ours.condition(rows), 1e-13*condition)
		b := make([]float64, n)
		for i := range b {
			b[i] = r.NormFloat64()
		}
		var want mat.VecDense
		require.NoError(t, theirs.SolveVecTo(&want, mat.NewVecDense(n, b)))
		require.InDeltaSlice(t, want.RawVector().Data, ours.solve(b), 1e-13*condition*mat.Norm(&want, 2))
	}
}

func TestWhatIsNotPositiveDefiniteHasNoTriangle(t *testing.T) {
	_, ok := factorize([][]float64{{1}, {2, 4}})
	require.False(t, ok, "the rows are multiples of each other")
	_, ok = factorize([][]float64{{1}, {2, 3}})
	require.False(t, ok)
	_, ok = factorize([][]float64{{-1}})
	require.False(t, ok)
}
