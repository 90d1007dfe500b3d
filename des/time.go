package des

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
)

// Time is an instant or a duration of simulated time in ticks. One time unit
// (one second of a trace, one unit of the papers' scheduling interval) is a
// million ticks, so that task times V/p of real-valued performances keep six
// decimals while equality of instants stays exact on every architecture.
type Time int64

const (
	// Tick is the resolution of simulated time.
	Tick Time = 1
	// Second is one time unit: one second of a trace.
	Second Time = 1_000_000
	// Minute, Hour and Day are the usual multiples of Second.
	Minute = 60 * Second
	Hour   = 60 * Minute
	Day    = 24 * Hour
	// Forever is later than every event: "no limit" as an instant or a length.
	Forever Time = math.MaxInt64
)

// Seconds converts time units to ticks, rounded to the nearest tick. What is
// beyond the range of Time becomes Forever (or its negative); NaN becomes 0.
// Readers of foreign input check the range first and report it.
func Seconds(units float64) Time {
	ticks := math.Round(units * float64(Second))
	switch {
	case math.IsNaN(ticks):
		return 0
	case ticks >= math.MaxInt64:
		return Forever
	case ticks <= -math.MaxInt64:
		return -Forever
	}
	return Time(ticks)
}

// Seconds returns t in time units.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Add returns t+d, or Forever where the sum passes the end of time.
// d must not be negative.
func (t Time) Add(d Time) Time {
	if sum := t + d; sum >= t {
		return sum
	}
	return Forever
}

// MulDiv returns t*part/whole and what is left over, for 0 <= part < whole and t >= 0, in
// 128 bits: exact where a product of floats is not.
func (t Time) MulDiv(part, whole Time) (quotient, rest Time) {
	high, low := bits.Mul64(uint64(t), uint64(part))
	q, r := bits.Div64(high, low, uint64(whole)) // part < whole: it fits
	return Time(q), Time(r)
}

// String returns t in time units, without needless decimals; "forever" for Forever.
func (t Time) String() string {
	if t == Forever {
		return "forever"
	}
	return string(t.Append(nil))
}

// Append appends t in time units to b: whole where it is whole, otherwise with
// at most six decimals, exactly.
func (t Time) Append(b []byte) []byte {
	u := uint64(t)
	if t < 0 {
		b = append(b, '-')
		u = -u
	}
	b = strconv.AppendUint(b, u/uint64(Second), 10)
	frac := u % uint64(Second)
	if frac == 0 {
		return b
	}
	digits := [...]byte{'.', 0, 0, 0, 0, 0, 0}
	for i := len(digits) - 1; i > 0; i-- {
		digits[i] = byte('0' + frac%10)
		frac /= 10
	}
	return append(b, bytes.TrimRight(digits[:], "0")...)
}
