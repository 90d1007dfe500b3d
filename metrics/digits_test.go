package metrics

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestAppendTimeEqualsTheTimesOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Max(math.MaxInt64-1).Draw(t, "n") // the last one is Forever
		require.Equal(t, des.Time(n).String(), string(appendTime(nil, des.Time(n))))
		whole := des.Time(n/1e6) * des.Second
		require.Equal(t, whole.String(), string(appendTime(nil, whole)))
	})
}
