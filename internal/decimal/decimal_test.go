package decimal

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEightDigits(t *testing.T) {
	for u := range uint64(1e4) { // each half is as good as the other
		want := []byte(fmt.Sprintf("%04d%04d", u, 9999-u))
		got := binary.LittleEndian.AppendUint64(nil, Eight(u*1e4+9999-u)|Zeros)
		require.Equal(t, want, got)
	}
}

func TestAppendIntEqualsStrconv(t *testing.T) {
	for p := uint64(1); p < 1e19; p *= 10 {
		for _, u := range []uint64{p - 1, p, p + 1, 10*p - 1, 10 * p, math.MaxUint64} {
			require.Equal(t, strconv.FormatUint(u, 10), string(AppendUint(nil, u)))
			require.Equal(t, strconv.FormatInt(int64(u), 10), string(AppendInt(nil, int64(u))))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		require.Equal(t, "x"+strconv.FormatInt(n, 10), string(AppendInt([]byte("x"), n)))
	})
}
