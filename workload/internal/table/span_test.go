package table

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

func TestAHeaderIsToldWhenItsLogBeginsAndWhetherItIsInOrder(t *testing.T) {
	for _, c := range []struct {
		at       []des.Time // in seconds
		unsorted bool
		begins   int64
	}{
		{nil, false, 0},
		{[]des.Time{1_400_000_000, 1_400_000_000, 1_500_000_000}, false, 1_400_000_000},
		{[]des.Time{1_500_000_000, 1_400_000_000, 1_600_000_000}, true, 1_400_000_000},
		{[]des.Time{1_500_000_000, 1_600_000_000, 1_550_000_000}, true, 1_500_000_000},
	} {
		var s Span
		for _, at := range c.at {
			s.Add(at*des.Second + 7)
		}
		var h workload.Header
		s.Tell(&h, true)
		require.Equal(t, c.unsorted, h.Unsorted, c.at)
		require.Equal(t, c.begins, h.UnixStartTime, c.at)
		require.Equal(t, len(c.at) > 0, h.Get("UnixStartTime") != "")

		h = workload.Header{Unsorted: true}
		s.Tell(&h, false)
		require.True(t, h.Unsorted, "as it was known to be")
		require.Zero(t, h.UnixStartTime)
	}
}
