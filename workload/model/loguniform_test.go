package model

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLogUniform(t *testing.T) {
	checkContinuous(t, LogUniform{math.Exp(1.8), math.Exp(11.8)}, math.Exp(1.8), math.Exp(11.8))
	requireRejected(t, LogUniform{}, LogUniform{2, 1}, LogUniform{0, 1}, LogUniform{1, inf}, LogUniform{nan, 1})
}

func TestLogUniformOfOnePoint(t *testing.T) {
	one := LogUniform{3, 3}
	require.NoError(t, one.Check())
	require.Equal(t, 3.0, one.Mean())
}

func ExampleLogUniform() {
	work := LogUniform{Min: math.Exp(1.8), Max: math.Exp(11.8)} // Downey's fit to the SDSC Paragon
	fmt.Printf("median %.0f s, mean %.0f s\n", math.Sqrt(work.Min*work.Max), work.Mean())
	// Output: median 898 s, mean 13325 s
}
