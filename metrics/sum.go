package metrics

// Sums that neither overflow nor lose: ten million waits of a week each pass
// the range of int64, and a float64 sum depends on what was added first.

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// sum128 is an exact sum of ticks, or of ticks times processors: a number of 128 bits in two's
// complement, whose high half has the sign.
type sum128 struct {
	hi int64
	lo uint64
}

// add adds t, which may be negative: its sign is extended into the high half.
func (s *sum128) add(t des.Time) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(t), 0)
	s.hi += int64(t)>>63 + int64(carry)
}

// addArea adds n times t; neither is negative.
func (s *sum128) addArea(n int, t des.Time) {
	hi, lo := bits.Mul64(uint64(n), uint64(t))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += int64(hi + carry)
}

// addAttempt adds the processor time of an attempt that is over. Its nodes end together at end,
// or, if ends is not nil, each at its own time, but not later than end.
func (s *sum128) addAttempt(nodes int, start, end des.Time, ends []des.Time) {
	if ends == nil {
		s.addArea(nodes, end-start)
		return
	}
	for _, own := range ends {
		s.add(min(own, end) - start)
	}
}

// plus and minus add and subtract another sum.
func (s *sum128) plus(t sum128) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, t.lo, 0)
	s.hi += t.hi + int64(carry)
}

func (s *sum128) minus(t sum128) {
	var borrow uint64
	s.lo, borrow = bits.Sub64(s.lo, t.lo, 0)
	s.hi -= t.hi + int64(borrow)
}

// seconds returns the sum in time units. It is rounded once to ticks, and once more by the
// division.
func (s sum128) seconds() float64 {
	ticks := float64(float64(s.hi)*0x1p64) + float64(s.lo)
	if s.hi < 0 { // avoid the cancellation of -2^64 against a large low half
		lo, borrow := bits.Sub64(0, s.lo, 0)
		hi, _ := bits.Sub64(0, uint64(s.hi), borrow)
		ticks = -(float64(float64(hi)*0x1p64) + float64(lo))
	}
	return ticks / float64(des.Second)
}

// appendDecimal appends a sum of 0 or more in a unit of 10^decimals, exactly, without zeros at the
// end of its decimals.
func (s sum128) appendDecimal(b []byte, unit uint64, decimals int) []byte {
	var rest uint64
	// bits.Div64 needs a high half below the divisor.
	if uint64(s.hi) < unit {
		var whole uint64
		whole, rest = bits.Div64(uint64(s.hi), s.lo, unit)
		b = strconv.AppendUint(b, whole, 10)
	} else { // 2^64 units and more
		n := new(big.Int).Lsh(big.NewInt(s.hi), 64)
		n.Add(n, new(big.Int).SetUint64(s.lo))
		q, r := n.QuoRem(n, new(big.Int).SetUint64(unit), new(big.Int))
		b, rest = q.Append(b, 10), r.Uint64()
	}
	if rest == 0 {
		return b
	}
	return append(b, strings.TrimRight(fmt.Sprintf(".%0*d", decimals, rest), "0")...)
}

// compensated is Neumaier's variant of Kahan's sum (ZAMM 54, 1974): lost is what the roundings of
// sum have left out so far. Its error does not grow with the number of terms.
type compensated struct{ sum, lost float64 }

func (c *compensated) add(x float64) {
	t := c.sum + x
	if math.Abs(c.sum) >= math.Abs(x) {
		c.lost += (c.sum - t) + x
	} else {
		c.lost += (x - t) + c.sum
	}
	c.sum = t
}

func (c *compensated) value() float64 { return c.sum + c.lost }
