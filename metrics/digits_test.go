package metrics

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestAppendIntEqualsStrconv(t *testing.T) {
	for _, p := range powersOf10 {
		for _, u := range []uint64{p - 1, p, p + 1, math.MaxUint64} {
			require.Equal(t, strconv.FormatUint(u, 10), string(appendUint(nil, u)))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Max(math.MaxInt64-1).Draw(t, "n") // the last one is Forever
		require.Equal(t, "x"+strconv.FormatInt(n, 10), string(appendInt([]byte("x"), n)))
		require.Equal(t, des.Time(n).String(), string(appendTime(nil, des.Time(n))))
		whole := des.Time(n/1e6) * des.Second
		require.Equal(t, whole.String(), string(appendTime(nil, whole)))
	})
}
