package model

import (
	"fmt"
	"testing"
)

func TestTwoStageUniform(t *testing.T) {
	checkContinuous(t, TwoStageUniform{0.8, 4.5, 7, 0.86}, 0.8, 7)
	checkContinuous(t, TwoStageUniform{1, 1, 5.5, 0}, 1, 5.5)
	requireRejected(t, TwoStageUniform{2, 1, 3, 0.5}, TwoStageUniform{1, 2, 1, 0.5},
		TwoStageUniform{0, 1, 2, -0.1}, TwoStageUniform{0, nan, 2, 0.5}, TwoStageUniform{0, 1, inf, 0.5})
}

func ExampleTwoStageUniform() {
	size := TwoStageUniform{Low: 0.8, Mid: 4.5, High: 7, P: 0.86}
	fmt.Printf("mean %.3f\n", size.Mean())
	// Output: mean 3.084
}
