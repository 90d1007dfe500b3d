package metrics

// Power and energy as exact numbers.

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/gridslot/gridslot/des"
)

// Power is an amount of power in microwatts.
type Power int64

// Watt is one watt.
const Watt Power = 1_000_000

// maxPower is the most that one node may draw: a million watts.
const maxPower = 1_000_000 * Watt

// ParsePower reads watts: a number from 0 to a million, rounded to six decimals.
func ParsePower(s string) (Power, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || v > float64(maxPower/Watt) {
		return 0, fmt.Errorf("want watts, a number from 0 to %d, not %q", maxPower/Watt, s)
	}
	return Power(math.Round(v * float64(Watt))), nil
}

// Watts returns p in watts.
func (p Power) Watts() float64 { return float64(p) / float64(Watt) }

// String writes p in watts, exactly.
func (p Power) String() string { return des.Time(p).String() }

// Energy is an exact amount of energy. Its unit is the picojoule: a microwatt for a microsecond,
// which is a tick. It has 127 bits, enough for 1.7e26 J: a million nodes of a megawatt each for
// five million years. Invariant: it is not negative.
type Energy struct{ sum sum128 }

// overTime returns the energy that the given number of nodes of this power take over t.
func (p Power) overTime(nodes int, t des.Time) Energy {
	var s sum128
	s.addArea(nodes, t)
	return p.over(s)
}

// over returns the energy of a sum of times: the product of 128 bits by 64, without its highest
// part, which is 0 for all energies in reach.
func (p Power) over(t sum128) Energy {
	hi, lo := bits.Mul64(t.lo, uint64(p))
	return Energy{sum128{int64(hi) + t.hi*int64(p), lo}}
}

// Add returns the sum of e and x.
func (e Energy) Add(x Energy) Energy {
	lo, carry := bits.Add64(e.sum.lo, x.sum.lo, 0)
	return Energy{sum128{e.sum.hi + x.sum.hi + int64(carry), lo}}
}

// Joules returns e in joules, rounded.
func (e Energy) Joules() float64 {
	return (float64(float64(e.sum.hi)*0x1p64) + float64(e.sum.lo)) / 1e12
}

// String formats e in joules, exactly, with at most twelve decimals.
func (e Energy) String() string { return string(e.appendTo(nil)) }

// appendTo appends e.String() to b.
func (e Energy) appendTo(b []byte) []byte { return e.sum.appendDecimal(b, 1_000_000_000_000, 12) }
