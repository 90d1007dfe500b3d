package command

import (
	"context"
	"io"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/scenario"
)

// A program that makes many calls does not keep what each of them knew.
func TestACallThatIsOverIsForgotten(t *testing.T) {
	call := func(args ...string) (tables weak.Pointer[scenario.Tables]) {
		made := func() *scenario.Tables {
			t := scenario.Standard()
			tables = weak.Make(t)
			return t
		}
		require.Zero(t, Run(context.Background(), Env{Args: args, Stdout: io.Discard, Stderr: io.Discard, Parts: Parts{Tables: made}}))
		return tables
	}
	over := call("simulate", "--policy", "easy", "--first", "10")
	runtime.GC()
	runtime.GC()
	require.True(t, over.Value() == nil, "its tables are kept")
}
