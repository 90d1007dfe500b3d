package window

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/stretchr/testify/require"
)

func TestWhichOfEqualCostsAreTheCheapestIsToldByTheListAlone(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 31))
		n := 1 + r.IntN(4)
		var kept cheapest
		kept.reset(n)
		var all []offer
		now := des.Time(0)
		for slot := range int32(60) {
			now += des.Time(r.IntN(2))
			o := offer{cost: float64(r.IntN(3)), last: now + des.Time(r.IntN(40)), slot: slot}
			all = append(all, o)
			kept.advance(now)
			kept.add(o)
			usable := slices.DeleteFunc(slices.Clone(all), func(o offer) bool { return o.last < now })
			slices.SortFunc(usable, func(a, b offer) int {
				return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.slot, b.slot))
			})
			got, ok := kept.chosen()
			require.Equal(t, len(usable) >= n, ok)
			if ok {
				require.Equal(t, usable[:n], got, "seed %d", seed)
			}
		}
	}
}
