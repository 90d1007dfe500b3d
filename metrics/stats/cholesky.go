package stats

import "math"

// cholesky is the lower triangle L of a symmetric matrix A = L Lᵀ, row by row.
type cholesky [][]float64

// factorize returns the triangle of a matrix whose lower triangle is read; ok is false if the
// matrix is not positive definite. The work is cubic in the number of rows. (gonum's, which is for
// matrices of thousands, is as much to compile as all policies, and sums in another order on each
// architecture.)
func factorize(a [][]float64) (l cholesky, ok bool) {
	l = make(cholesky, len(a))
	for i, row := range a {
		l[i] = make([]float64, i+1)
		for j := range l[i] {
			// l[i][j] = (a[i][j] - sum over k < j of l[i][k] l[j][k]) / l[j][j], and the root of
			// that sum on the diagonal.
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

// solve returns the x of A x = b.
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

// condition returns the condition number of a, whose triangle is l, in the 1-norm, |A| |A⁻¹|:
// relative errors may grow by it in solve. The inverse is found column by column.
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
