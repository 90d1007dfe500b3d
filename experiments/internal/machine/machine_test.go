package machine

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMachinesMemoryIsKnown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	all, free := Memory(), Available()
	require.Greater(t, all, int64(64<<20))
	require.Positive(t, free)
	require.LessOrEqual(t, free, all)
}
