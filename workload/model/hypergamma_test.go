package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestHyperGamma(t *testing.T) {
	h := hyperGamma{P: 0.7, First: Gamma{4.2, 0.94}, Second: Gamma{312, 0.03}}
	checkContinuous(t, h, 0, inf)
	requireRejected(t, hyperGamma{}, hyperGamma{P: 1.1, First: h.First, Second: h.Second},
		hyperGamma{P: nan, First: h.First, Second: h.Second}, hyperGamma{P: 0.5, First: h.First})
}

func Example_hyperGamma() {
	// The log runtime of a serial job in the Lublin-Feitelson model.
	h := hyperGamma{P: 0.7746, First: Gamma{4.2, 0.94}, Second: Gamma{312, 0.03}}
	if err := h.Check(); err != nil {
		fmt.Println(err)
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	fmt.Printf("mean %.3f, one draw %.3f\n", h.Mean(), h.Rand(r))
	// Output: mean 5.168, one draw 3.775
}
