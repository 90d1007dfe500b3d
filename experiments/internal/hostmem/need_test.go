package hostmem

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatNeedsTooMuchIsRefusedWithNumbers(t *testing.T) {
	needs := []Need{{"jobs", 2 << 30}, {"nodes", 6 << 30}}
	require.NoError(t, Fits(8<<30, needs...))
	require.EqualError(t, Fits(8<<30-1, needs...), "about 8 GiB of memory would be needed, most of it for nodes, and 8 GiB are allowed")
	require.NoError(t, Fits(0))
	require.EqualError(t, Fits(0, Need{"nodes", 1 << 60}), "about 1 EiB of memory would be needed, most of it for nodes, and "+Size(Share())+" are allowed, three quarters of what there is")
	require.ErrorContains(t, Fits(0, Need{"nodes", 1e40}), "about 4 EiB of memory")
}

func TestTheShareIsPartOfWhatThereIs(t *testing.T) {
	require.Greater(t, Share(), int64(32<<20))
	require.Less(t, Share(), max(Memory(), shareOfUnknown+1))
}
