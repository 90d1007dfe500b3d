package metrics

// Numbers into a buffer. Most of what jobs-POLICY.csv costs is digits; strconv
// makes them elsewhere and copies them. Written in place a row costs an eighth
// less (BenchmarkJobsWriter: 234 ns instead of 262).

import (
	"math/bits"

	"github.com/gridslot/gridslot/des"
)

const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// appendUint appends u in decimal.
func appendUint(b []byte, u uint64) []byte {
	if u < 10 {
		return append(b, byte('0'+u))
	}
	digits := bits.Len64(u) * 1233 >> 12 // log10 2 = 1233/4096, at most one too few
	if u >= powersOf10[digits] {
		digits++
	}
	b = append(b, digitPairs[:digits]...)
	i := len(b)
	for u >= 100 {
		pair := u % 100 * 2
		u /= 100
		i -= 2
		b[i], b[i+1] = digitPairs[pair], digitPairs[pair+1]
	}
	if u >= 10 {
		b[i-2], b[i-1] = digitPairs[u*2], digitPairs[u*2+1]
	} else {
		b[i-1] = byte('0' + u)
	}
	return b
}

var powersOf10 = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// appendInt appends n in decimal.
func appendInt(b []byte, n int64) []byte {
	if n < 0 {
		return appendUint(append(b, '-'), -uint64(n))
	}
	return appendUint(b, uint64(n))
}

// appendTime appends what des.Time.Append does.
func appendTime(b []byte, t des.Time) []byte {
	if t >= 0 && t%des.Second == 0 {
		return appendUint(b, uint64(t/des.Second))
	}
	return t.Append(b)
}
