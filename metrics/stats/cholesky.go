package stats

import "math"

// cholesky is the lower triangle L of a symmetric matrix A = L Lᵀ, row by row.
type cholesky [][]float64

// factorize is false where the matrix, of which the lower triangle is read, is not positive definite.
// The work is cubic in the number of rows. (gonum's, which is for matrices of thousands, is as much to
// compile as all policies, and sums in another order on each architecture.)
func factorize(a [][]float64) (l cholesky, ok bool) {
	l = make(cholesky, len(a))
	for i, row := range a {
		l[i] = make([]float64, i+1)
		for j := range l[i] {
			left := row[j]
			for k := range j {
				left -= float64(l[i][k] * l[j][k])
			}
			switch {
			case j < i:
				l[i][j] = left / l[j][j]
			case left > 0:
				l[i][i] = math.Sqrt(left)
			default:
				return nil, false
			}
		}
	}
	return l, true
}

// solve is the x of A x = b.
func (l cholesky) solve(b []float64) []float64 {
	x := make([]float64, len(b))
	for i, row := range l { // L y = b
		x[i] = b[i]
		for k := range i {
			x[i] -= float64(row[k] * x[k])
		}
		x[i] /= row[i]
	}
	for i := len(l) - 1; i >= 0; i-- { // Lᵀ x = y
		for k := i + 1; k < len(l); k++ {
			x[i] -= float64(l[k][i] * x[k])
		}
		x[i] /= l[i][i]
	}
	return x
}

// condition is the condition number of a, of which l is the triangle, in the 1-norm: by how much
// relative errors may grow in solve.
func (l cholesky) condition(a [][]float64) float64 {
	norm, ofInverse := 0.0, 0.0
	for i := range a {
		column, unit := 0.0, make([]float64, len(a))
		for j := range a {
			column += math.Abs(a[max(i, j)][min(i, j)])
		}
		unit[i] = 1
		inverse := 0.0
		for _, v := range l.solve(unit) {
			inverse += math.Abs(v)
		}
		norm, ofInverse = max(norm, column), max(ofInverse, inverse)
	}
	return norm * ofInverse
}
