// Package decimal writes whole numbers into a buffer. Most of what the files of a run cost is
// digits. How many a number has is as good as random, so a loop over them mispredicts its end
// every time; here eight digits are made at once, without a branch on how many of them count.
package decimal

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Eight returns the eight digits of u < 1e8 as bytes from the lowest up, the most significant
// digit first. It divides both halves by 100, then all quarters by 10, by multiplication with the
// inverse: 10486/2^20 and 103/2^10 are exact for such small numbers.
func Eight(u uint64) uint64 {
	const fours, pairs = 0x0000007F0000007F, 0x000F000F000F000F
	x := u/1e4 | u%1e4<<32
	q := x * 10486 >> 20 & fours // of each half the quotient by 100
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & pairs // of each quarter the quotient by 10
	return q | (x-10*q)<<8
}

// Zeros turns eight digits into text, if it is added to them by or.
const Zeros = 0x3030303030303030

// AppendUint appends u in decimal.
func AppendUint(b []byte, u uint64) []byte {
	if u >= 1e8 {
		if u >= 1e16 {
			return strconv.AppendUint(b, u, 10)
		}
		b = AppendUint(b, u/1e8)
		return binary.LittleEndian.AppendUint64(b, Eight(u%1e8)|Zeros)
	}
	digits := Eight(u)
	// leading is the number of zeros in front; the last digit is no such zero, hence the 1<<56.
	leading := bits.TrailingZeros64(digits|1<<56) / 8
	b = binary.LittleEndian.AppendUint64(b, (digits|Zeros)>>(8*leading&63))
	return b[:len(b)-leading]
}

// smallTexts are the numbers of up to three digits as text, from the lowest byte up; the
// highest byte has how many digits there are.
var smallTexts = func() (texts [1000]uint32) {
	for n := range texts {
		digits := Eight(uint64(n))
		leading := bits.TrailingZeros64(digits|1<<56) / 8
		texts[n] = uint32((digits|Zeros)>>(8*leading)) | uint32(8-leading)<<24
	}
	return texts
}()

// AppendInt appends n in decimal. Numbers of jobs and processors are mostly small, and looked up;
// times are not, and go to AppendUint at once.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		return AppendUint(append(b, '-'), -uint64(n))
	}
	if n < int64(len(smallTexts)) {
		text := smallTexts[n]
		b = binary.LittleEndian.AppendUint32(b, text)
		return b[:len(b)-4+int(text>>24)]
	}
	return AppendUint(b, uint64(n))
}
