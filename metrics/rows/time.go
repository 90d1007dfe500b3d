package rows

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/decimal"
)

// AppendTime appends t in time units, exactly, as des.Time.Append does, and nothing for a time
// below 0, which is missing.
func AppendTime(b []byte, t des.Time) []byte {
	if t < 0 {
		return b
	}
	b = decimal.AppendUint(b, uint64(t/des.Second))
	if fraction := uint64(t % des.Second); fraction != 0 {
		// The fraction has six digits, in eight: two zeros follow. Trailing zeros are cut off.
		digits := decimal.Eight(fraction * 100)
		trailing := bits.LeadingZeros64(digits) / 8
		b = binary.LittleEndian.AppendUint64(append(b, '.'), digits|decimal.Zeros)
		b = b[:len(b)-trailing]
	}
	return b
}

// AppendRatio appends num/den, rounded to six decimals, without trailing zeros. It is exact to the
// last digit on every architecture, and several times as fast as the conversion of a float.
func AppendRatio(b []byte, num, den des.Time) []byte {
	if num == den { // most jobs need not wait
		return append(b, '1')
	}
	// A ratio times a million is a time in ticks: (num * 10^6 + den/2) / den, in 128 bits.
	hi, lo := bits.Mul64(uint64(num), uint64(des.Second))
	lo, carry := bits.Add64(lo, uint64(den)/2, 0)
	hi += carry
	// The quotient does not fit into 64 bits, or not into a time.
	if hi >= uint64(den) {
		return strconv.AppendFloat(b, float64(num)/float64(den), 'f', 6, 64)
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	if q > uint64(des.Forever) {
		return strconv.AppendFloat(b, float64(num)/float64(den), 'f', 6, 64)
	}
	return AppendTime(b, des.Time(q))
}
