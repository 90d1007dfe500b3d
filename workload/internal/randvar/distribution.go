package randvar

import (
	"math/rand/v2"

	"golang.org/x/exp/constraints"
)

// Distribution is what every struct of this package is, of whole numbers or of
// real ones. A model that leaves the choice of one to its user takes this.
type Distribution[T constraints.Integer | constraints.Float] interface {
	// Check says what is wrong with the parameters, or nil.
	Check() error
	// Rand draws from a stream of random numbers.
	Rand(r *rand.Rand) T
	Mean() float64
	Variance() float64
}

var (
	_ Distribution[float64] = Gamma{}
	_ Distribution[float64] = HyperGamma{}
	_ Distribution[float64] = HyperErlang{}
	_ Distribution[float64] = LogUniform{}
	_ Distribution[float64] = TruncatedNormal{}
	_ Distribution[float64] = TwoStageUniform{}
	_ Distribution[int]     = Hypergeometric{}
	_ Distribution[int]     = Zipf{}
)
