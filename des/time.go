package des

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
	"strings"
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

// ParseTime reads a number of time units: exactly what Append writes, and any other
// number, such as 1e3, to the nearest tick. A number beyond the range of Time becomes
// Forever or its negative, as in Seconds. ok is false for a text that is no number, and for
// NaN.
func ParseTime(text string) (t Time, ok bool) {
	unsigned, negative := strings.CutPrefix(text, "-")
	ticks, digits, decimals := uint64(0), 0, -1 // decimals is -1 before the point
	for i := 0; i < len(unsigned); i++ {
		switch c := unsigned[i]; {
		case c >= '0' && c <= '9':
			ticks = 10*ticks + uint64(c-'0')
			digits++
			if decimals >= 0 {
				decimals++
			}
		case c == '.' && decimals < 0:
			decimals = 0
		default:
			return parseFloatTime(text)
		}
	}
	if digits == 0 || digits > 19 || decimals > 6 { // 19 digits are within 64 bits
		return parseFloatTime(text)
	}
	for n := max(decimals, 0); n < 6; n++ {
		if ticks > math.MaxInt64/10 {
			return parseFloatTime(text)
		}
		ticks *= 10
	}
	if ticks > math.MaxInt64 {
		return parseFloatTime(text)
	}
	if negative {
		return -Time(ticks), true
	}
	return Time(ticks), true
}

func parseFloatTime(text string) (Time, bool) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || strings.ContainsAny(text, "_xXpP") { // notations of Go alone
		return 0, false
	}
	return Seconds(x), true
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
