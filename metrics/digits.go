package metrics

// Numbers into a buffer. Most of what jobs-POLICY.csv costs is digits. How many
// a number has is as good as random, so a loop over them mispredicts its end
// every time; here eight digits are made at once, without a branch on how many
// of them count.

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/gridslot/gridslot/des"
)

// eightDigits has the eight digits of u < 1e8 as bytes from the lowest up, the
// most significant first.
func eightDigits(u uint64) uint64 {
	const fours, pairs = 0x0000007F0000007F, 0x000F000F000F000F
	x := u/1e4 | u%1e4<<32
	q := x * 10486 >> 20 & fours // of each half the quotient by 100
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & pairs // of each quarter the quotient by 10
	return q | (x-10*q)<<8
}

// digitZeros turns digits into text.
const digitZeros = 0x3030303030303030

// appendUint appends u in decimal.
func appendUint(b []byte, u uint64) []byte {
	if u >= 1e8 {
		if u >= 1e16 {
			return strconv.AppendUint(b, u, 10)
		}
		b = appendUint(b, u/1e8)
		return binary.LittleEndian.AppendUint64(b, eightDigits(u%1e8)|digitZeros)
	}
	digits := eightDigits(u)
	leading := bits.TrailingZeros64(digits|1<<56) / 8 // zeros, but not the last digit
	b = binary.LittleEndian.AppendUint64(b, (digits|digitZeros)>>(8*leading&63))
	return b[:len(b)-leading]
}

// smallTexts are the numbers of up to three digits as text, from the lowest byte up; the
// highest byte has how many digits there are.
var smallTexts = func() (texts [1000]uint32) {
	for n := range texts {
		digits := eightDigits(uint64(n))
		leading := bits.TrailingZeros64(digits|1<<56) / 8
		texts[n] = uint32((digits|digitZeros)>>(8*leading)) | uint32(8-leading)<<24
	}
	return texts
}()

// appendInt appends n in decimal. Counts, of jobs and processors, are mostly small, and
// those are looked up; times are not, and go to appendUint at once.
func appendInt(b []byte, n int64) []byte {
	if n < 0 {
		return appendUint(append(b, '-'), -uint64(n))
	}
	if n < int64(len(smallTexts)) {
		text := smallTexts[n]
		b = binary.LittleEndian.AppendUint32(b, text)
		return b[:len(b)-4+int(text>>24)]
	}
	return appendUint(b, uint64(n))
}

// appendTime appends what des.Time.Append does.
func appendTime(b []byte, t des.Time) []byte {
	if t < 0 {
		return t.Append(b)
	}
	b = appendUint(b, uint64(t/des.Second))
	if fraction := uint64(t % des.Second); fraction != 0 {
		digits := eightDigits(fraction * 100)
		trailing := bits.LeadingZeros64(digits) / 8
		b = binary.LittleEndian.AppendUint64(append(b, '.'), digits|digitZeros)
		b = b[:len(b)-trailing]
	}
	return b
}
