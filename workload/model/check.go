// Shared tests of parameters.

package model

import (
	"fmt"
	"math"
)

// The functions below return an error that names the distribution and its parameter, or nil. NaN
// passes none of them.

// finite reports a value that is NaN or infinite.
func finite(distribution, name string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s: %s must be a finite number, not %v", distribution, name, v)
	}
	return nil
}

// probability reports a value outside [0, 1].
func probability(distribution, name string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s: %s must be a probability, in [0, 1], not %v", distribution, name, v)
	}
	return nil
}

// positive reports a value that is not a finite number above 0.
func positive(distribution, name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s: %s must be a finite number above 0, not %v", distribution, name, v)
	}
	return nil
}
