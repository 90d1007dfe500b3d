package simulation

import (
	"context"
	"os"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
)

func TestAManifestTellsWhatAProgramWasBuiltFrom(t *testing.T) {
	git := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		info             debug.BuildInfo
		version, program string
	}{
		{debug.BuildInfo{Main: debug.Module{Path: module, Version: "v1.2.3"}}, "v1.2.3", ""},
		{debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}, Settings: git}, "(devel) 0123456789ab, modified", ""},
		{debug.BuildInfo{
			Main: debug.Module{Path: "example.org/mine", Version: "(devel)"}, Settings: git[:1],
			Deps: []*debug.Module{{Path: "a", Version: "v0"}, {Path: module, Version: "v1.2.3"}},
		}, "v1.2.3", "example.org/mine (devel) 0123456789ab"},
		{debug.BuildInfo{
			Main: debug.Module{Path: "example.org/mine", Version: "v0.1.0"},
			Deps: []*debug.Module{{Path: module, Version: "v0.0.0", Replace: &debug.Module{Path: "../gridslot"}}},
		}, "v0.0.0 => ../gridslot", "example.org/mine v0.1.0"},
	} {
		version, program := builtFrom(&c.info)
		require.Equal(t, c.version, version)
		require.Equal(t, c.program, program)
	}
}

// A program's own policy is there on named nodes as well, in place of one of its name, and
// the manifest tells the call where nobody says what it was.
func TestAProgramsOwnPolicyIsThereOnBothWorlds(t *testing.T) {
	tables := Standard()
	made := 0
	tables.AddPolicies(policy.Entry[entity.Policy]{Name: "easy", Text: "mine", New: func(*policy.Args) entity.Policy {
		made++
		return backfill.FCFS{}
	}})
	_, err := tables.Nodes.Parse("easy:finder=amp")
	require.NoError(t, err)
	require.Positive(t, made)
	sc, dir := New(), t.TempDir()
	sc.Policies, sc.Workload.Options.First = []string{"easy"}, 5
	_, err = Run(context.Background(), sc, Options{Tables: tables, Dir: dir})
	require.NoError(t, err)
	m, err := results.ReadManifest(dir)
	require.NoError(t, err)
	require.Equal(t, os.Args, m.Command)
	require.Empty(t, m.Program, "it is gridslot's own module")
	require.NotContains(t, Standard().Policies.Names(), "mine")
}
