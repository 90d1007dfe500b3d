package entity_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
)

func TestThePriceOfANodeIsBounded(t *testing.T) {
	for price, usable := range map[float64]bool{
		0: true, entity.MostPrice: true, math.Nextafter(entity.MostPrice, math.Inf(1)): false, math.Inf(1): false, -1: false, math.NaN(): false,
	} {
		err := (&entity.Node{ID: 3, Perf: 1, Price: price}).Check()
		if usable {
			require.NoError(t, err, price)
		} else {
			require.ErrorContains(t, err, "node 3: price must be a number of 0 or more, at most 1e+15")
		}
	}
}
