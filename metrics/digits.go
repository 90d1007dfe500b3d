package metrics

import (
	"encoding/binary"
	"math/bits"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/decimal"
)

// appendTime appends what des.Time.Append does.
func appendTime(b []byte, t des.Time) []byte {
	if t < 0 {
		return t.Append(b)
	}
	b = decimal.AppendUint(b, uint64(t/des.Second))
	if fraction := uint64(t % des.Second); fraction != 0 {
		digits := decimal.Eight(fraction * 100)
		trailing := bits.LeadingZeros64(digits) / 8
		b = binary.LittleEndian.AppendUint64(append(b, '.'), digits|decimal.Zeros)
		b = b[:len(b)-trailing]
	}
	return b
}
