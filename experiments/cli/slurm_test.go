package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// slurmFolder is a folder with two nodes, on which Slurm decides, and some jobs.
func slurmFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		replay.ConfigFile: "SchedulerParameters=bf_licenses,bf_interval=30\nFancy=1\n" +
			"NodeName=n[1-2] Sockets=1 CoresPerSocket=4\nPartitionName=p Nodes=ALL Default=YES MaxTime=60\n",
		replay.JobsFile: "key,submit,partition,nodes,tasks,limit_min,runtime,requeue\n" +
			"a,1.25,,2,8,10,100,\nb,2.25,,2,8,10,50,\nc,3.25,p,1,1,1,20,\nd,4.25,q,1,1,1,20,\ne,5.25,,3,,1,20,\nf,6.25,,1,1,1,200,0\ng,7.25,,1,1,90,1,\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

func TestSlurmDecidesForAFolder(t *testing.T) {
	dir, out := slurmFolder(t), filepath.Join(t.TempDir(), "out")
	o := call("simulate", "--slurm", dir, "--out", out)
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, "slurm")
	require.Contains(t, o.stderr, "slurm.conf:1: bf_licenses is not simulated")
	require.Contains(t, o.stderr, "slurm.conf:2: Fancy is not simulated")
	require.Contains(t, o.stderr, "2 of 7 jobs rejected")
	require.Contains(t, o.stderr, "1 jobs still wait, from job 7 on: PartitionTimeLimit")
	var jobs []string
	for _, r := range table(t, out, "jobs-slurm.csv") {
		jobs = append(jobs, strings.Join([]string{r["job_id"], r["final_state"], r["starting_time"], r["finish_time"], r["allocated_resources"]}, " "))
	}
	require.Equal(t, []string{
		"1 COMPLETED_SUCCESSFULLY 3 103 0-7", "2 COMPLETED_SUCCESSFULLY 103 153 0-7", "3 COMPLETED_SUCCESSFULLY 153 173 0",
		"4 REJECTED   ", "5 REJECTED   ", "6 COMPLETED_WALLTIME_REACHED 153 240 1", "7 SUBMITTED   ",
	}, jobs)
	require.Equal(t, "1", table(t, out, "summary.csv")[0]["waiting"])
	require.Len(t, table(t, out, replay.EventsFile), 7+4+3+1+1)
	require.NotEmpty(t, table(t, out, "queue-slurm.csv"))
	require.Contains(t, read(t, out, "manifest.json"), "sha256 at "+filepath.Join(dir, replay.JobsFile))

	again := filepath.Join(t.TempDir(), "again")
	o = call("simulate", "--from-manifest", out, "--out", again)
	require.Zero(t, o.code, o.stderr)
	for _, name := range []string{replay.EventsFile, "jobs-slurm.csv", "queue-slurm.csv"} {
		require.Equal(t, read(t, out, name), read(t, again, name), name)
	}
}

func TestWhatDoesNotGoWithSlurmIsRefused(t *testing.T) {
	dir := slurmFolder(t)
	for _, refused := range []struct {
		args []string
		want string
	}{
		{[]string{"--policy", "easy"}, `the policy is "slurm"`},
		{[]string{"--wake", "30s"}, "Slurm's loops wake as slurm.conf says"},
		{[]string{"--outages", "exponential:mtbf=30d:repair=4h"}, "actions.csv"},
		{[]string{"--accounts", "x"}, "is a folder, which has all files itself"},
		{[]string{"--procs", "4"}, "slurm.conf says what the machine has: 8 CPUs, not 4"},
	} {
		o := call(append([]string{"simulate", "--slurm", dir}, refused.args...)...)
		require.Equal(t, 2, o.code, o.stderr)
		require.Contains(t, o.stderr, refused.want)
	}
	o := call("simulate", "--slurm", t.TempDir())
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "slurm.conf")
}

// TestRecordingsOfSlurmByTheCommand has the command play all recordings of real controllers: what
// it writes is what the machine tells that policy/slurm holds to them.
func TestRecordingsOfSlurmByTheCommand(t *testing.T) {
	root := os.Getenv("GRIDSLOT_RECORDINGS")
	if root == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: no recordings of Slurm")
	}
	var folders []string
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(root, "slurm", pattern, replay.ConfigFile))
		require.NoError(t, err)
		folders = append(folders, found...)
	}
	require.Greater(t, len(folders), 40)
	for _, conf := range folders {
		dir := filepath.Dir(conf)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			o := call("simulate", "--slurm", dir, "--out", out)
			require.Zero(t, o.code, o.stderr)
			in, err := replay.ReadFolder(dir)
			require.NoError(t, err)
			sim := des.New(des.Config{})
			m, err := replay.NewMachine(sim, in)
			require.NoError(t, err)
			var text strings.Builder
			w := replay.NewEventWriter(&text, in.Plain)
			m.Tell, m.Until = w.Tell, replay.RecordingEnds
			m.Begin()
			require.NoError(t, sim.Run(context.Background()))
			require.NoError(t, w.Close())
			require.Equal(t, text.String(), read(t, out, replay.EventsFile))
			first, _, _ := strings.Cut(text.String(), "\n")
			recorded, _, _ := strings.Cut(read(t, dir, "events.1.csv"), "\n")
			require.Equal(t, recorded, first)
		})
	}
}
