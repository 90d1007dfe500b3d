package model

import (
	"fmt"
	"testing"
)

func TestZipf(t *testing.T) {
	for _, z := range []Zipf{{1.5, 128}, {2.5, 1000}, {1, 64}, {0.5, 20}, {2.5, 1}} {
		t.Run(fmt.Sprint(z), func(t *testing.T) { checkDiscrete(t, z, 1, z.N) })
	}
	requireRejected(t, Zipf{}, Zipf{1.5, 0}, Zipf{0, 5}, Zipf{nan, 5}, Zipf{inf, 5})
}

func ExampleZipf() {
	sizes := Zipf{Order: 1.5, N: 128}
	fmt.Printf("mean %.2f\n", sizes.Mean())
	// Output: mean 8.71
}
