package slurmcheck

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// given is what a folder has for a run.
func given(t *testing.T, dir string) Given {
	t.Helper()
	in, err := replay.ReadFolder(dir)
	require.NoError(t, err)
	accounts, err := os.ReadFile(filepath.Join(dir, replay.AccountsFile))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return Given{Input: in, Accounts: string(accounts)}
}

// What real controllers have done is valid.
func TestRecordingsAreValid(t *testing.T) {
	root := os.Getenv("GRIDSLOT_RECORDINGS")
	if root == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: no recordings of Slurm")
	}
	folders, err := filepath.Glob(filepath.Join(root, "slurm", "rich", "*", "events.1.csv"))
	require.NoError(t, err)
	require.Greater(t, len(folders), 20)
	for _, path := range folders {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			f, err := os.Open(path)
			require.NoError(t, err)
			defer f.Close()
			report, err := Events(f, nil, given(t, dir), 0)
			require.NoError(t, err)
			require.Zero(t, report.Total, "%v", report)
			require.Equal(t, report.Jobs, report.Finished+report.Killed+report.Rejected+report.Unfinished, "%v", report)
		})
	}
}
