package table

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

func TestNumbersAreWholeOrUnknownOrRefused(t *testing.T) {
	for x, want := range map[float64]int64{0: 0, 3: 3, 1 << 53: 1 << 53, -1: workload.Unknown, -0.5: workload.Unknown} {
		n, _, wrong := wholeOf(x)
		require.Equal(t, want, n, x)
		require.Empty(t, wrong, x)
	}
	for x, want := range map[float64]workload.Reason{0.5: workload.NotWhole, 1<<53 + 2: workload.OutOfRange, math.Inf(1): workload.OutOfRange} {
		n, why, wrong := wholeOf(x)
		require.Equal(t, want, why, x)
		require.NotEmpty(t, wrong, x)
		require.EqualValues(t, workload.Unknown, n, x)
	}
	n, _, wrong := wholeOf(math.NaN())
	require.EqualValues(t, workload.Unknown, n)
	require.Empty(t, wrong)
}

func TestTimesHaveTheBoundOfLogs(t *testing.T) {
	for x, want := range map[float64]des.Time{0: 0, 1.5: 1500 * des.Second / 1000, 1e12: workload.MaxTime, -3: workload.UnknownTime} {
		at, _, wrong := secondsOf(x)
		require.Equal(t, want, at, x)
		require.Empty(t, wrong, x)
	}
	for _, x := range []float64{1e12 + 1, math.Inf(1)} {
		at, why, wrong := secondsOf(x)
		require.Equal(t, workload.UnknownTime, at, x)
		require.Equal(t, workload.OutOfRange, why, x)
		require.NotEmpty(t, wrong, x)
	}
	at, _, wrong := secondsOf(math.NaN())
	require.Equal(t, workload.UnknownTime, at)
	require.Empty(t, wrong)
}
