package model

import (
	"math/rand/v2"

	"golang.org/x/exp/constraints"
)

// DistributionOf is a distribution of whole or of real numbers. A model that leaves the choice of a
// distribution to its user takes this interface.
type DistributionOf[T constraints.Integer | constraints.Float] interface {
	// Check says what is wrong with the parameters, or nil. The other methods may return anything,
	// or never return, if it is not nil.
	Check() error
	// Rand draws from a stream of random numbers. How many it takes is part of a trace's identity.
	Rand(r *rand.Rand) T
	// Mean is the expectation of what Rand draws.
	Mean() float64
}

var (
	_ DistributionOf[float64] = Gamma{}
	_ DistributionOf[float64] = hyperGamma{}
	_ DistributionOf[float64] = HyperErlang{}
	_ DistributionOf[float64] = LogUniform{}
	_ DistributionOf[float64] = TruncatedNormal{}
	_ DistributionOf[float64] = TwoStageUniform{}
	_ DistributionOf[int]     = Hypergeometric{}
	_ DistributionOf[int]     = Zipf{}
)
