package number

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var texts = rapid.OneOf(
	rapid.StringMatching(`[0-9]{1,20}`),
	rapid.StringMatching(`[+-]?[0-9]{0,20}(\.[0-9]{0,20})?(e-?[0-9]{1,2})?`),
	rapid.Map(rapid.Float64(), func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }),
	rapid.StringMatching(`[0-9.+-]{1,4}`),
	rapid.SampledFrom([]string{"inf", "NaN", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1_0", "0x1", "1e400"}),
)

func TestNumbersAreThoseOfStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		behind := rapid.StringMatching(`[0-9 a]{0,9}`).Draw(t, "behind") // in memory
		slice := []byte(text + behind)[: len(text) : len(text)+len(behind)]
		allDigits := strings.Trim(text, "0123456789") == "" && text != ""

		want, err := strconv.ParseInt(text, 10, 64)
		n, ok := Integer(slice)
		require.Equal(t, err == nil, ok)
		if ok {
			require.Equal(t, want, n)
		}
		for most, read := range map[int]func([]byte) (int64, bool){8: Small, 18: eighteen} {
			n, ok := read(slice)
			require.Equal(t, allDigits && len(text) <= most, ok)
			if ok {
				require.Equal(t, want, n)
			}
		}
		n, fault := Count(slice, math.MaxInt64)
		require.Equal(t, allDigits && err == nil, fault == Sound)
		if fault == Sound {
			require.Equal(t, want, n)
		}
		x, err := strconv.ParseFloat(text, 64)
		got, fault := Float(slice)
		ofGo := strings.ContainsAny(text, "x_")
		require.Equal(t, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) && !ofGo, fault == Sound)
		if fault == Sound {
			require.Equal(t, math.Float64bits(x), math.Float64bits(got))
		}
		written, ok := Written(text)
		require.Equal(t, (err == nil || math.IsInf(x, 0)) && !ofGo, ok)
		if ok && !math.IsNaN(x) {
			require.Equal(t, x, written)
		}
	})
}

func TestEveryByteIsADigitOrNone(t *testing.T) {
	for at := range 8 {
		for c := range 256 {
			text := []byte("12345678")
			text[at] = byte(c)
			digit := c >= '0' && c <= '9'
			_, ok := Small(text)
			require.Equal(t, digit, ok, "%q", text)
			want := at
			if digit {
				want = 8
			}
			others := Others(binary.LittleEndian.Uint64(text) ^ Zeros)
			require.Equal(t, want, bits.TrailingZeros64(others)/8, "%q", text)
		}
	}
}
