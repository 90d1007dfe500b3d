package cli

import (
	"context"
	"io"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
)

// A program that makes many calls does not keep what each of them knew.
func TestACallThatIsOverIsForgotten(t *testing.T) {
	// call returns a pointer to a value that only the tables of the call refer to.
	call := func(args ...string) weak.Pointer[[64]byte] {
		known := new([64]byte)
		e := Extend{Sources: policy.Table[simulation.Source]{{
			Name: "ours", Text: "jobs of our own",
			New: func(*policy.Args) simulation.Source {
				known[0]++
				return nil
			},
		}}}
		require.Zero(t, Run(context.Background(), Env{Args: args, Stdout: io.Discard, Stderr: io.Discard, Extend: e}))
		return weak.Make(known)
	}
	over := call("simulate", "--policy", "easy", "--first", "10")
	runtime.GC()
	runtime.GC()
	require.True(t, over.Value() == nil, "its tables are kept")
}
