package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutATerminalThereIsNoLiveView(t *testing.T) {
	o := call("simulate", "--policy", "easy", "--watch")
	require.Zero(t, o.code, o.stderr)
	require.Equal(t, call("simulate", "--policy", "easy").stderr, o.stderr)
	require.NotContains(t, o.stderr, "\x1b")
}
