package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// mounted mounts something, which has to be allowed, until the test ends.
func mounted(t *testing.T, at string, args ...string) {
	t.Helper()
	if out, err := exec.Command("mount", append(args, at)...).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %s", out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(at, syscall.MNT_DETACH) })
}

func TestAFullDiskEndsASweepThatGoesOnWhenThereIsRoom(t *testing.T) {
	study, disk := runsOf(t, 200), t.TempDir()
	mounted(t, disk, "-t", "tmpfs", "-o", "size=256k", "none")
	dir := filepath.Join(disk, "out")
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "no space left on device")
	require.NotContains(t, got.stderr, "interrupted")
	units, others := stored(t, dir)
	require.NotEmpty(t, units)
	require.Less(t, len(units), 200)
	require.Empty(t, others)
	require.NoDirExists(t, filepath.Join(dir, "failures"), "no run has failed")

	require.NoError(t, exec.Command("mount", "-o", "remount,size=16m", disk).Run())
	got = swept(t, study, "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, undisturbed(t, study), read(t, dir, "results.csv"))
	units, others = stored(t, dir)
	require.Len(t, units, 200)
	require.Empty(t, others)
}

func TestAFullDiskIsNoFaultOfTheRunsThatLeaveFiles(t *testing.T) {
	study := write(t, "study.yaml", "traces: ['lublin:jobs=1000']\npolicies: [easy]\nreplications: 20\nkeep: [jobs]\n")
	disk := t.TempDir()
	mounted(t, disk, "-t", "tmpfs", "-o", "size=1m", "none")
	dir := filepath.Join(disk, "out")
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "no space left on device")
	require.NoDirExists(t, filepath.Join(dir, "failures"))
	require.NoError(t, exec.Command("mount", "-o", "remount,size=64m", disk).Run())
	got = swept(t, study, "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, undisturbed(t, study), read(t, dir, "results.csv"))
	require.Len(t, files(t, filepath.Join(dir, "runs")), 20)
}

func TestAFolderThatBecomesReadOnlyEndsASweepThatGoesOnLater(t *testing.T) {
	study, dir, mark := runsOf(t, 100, "fcfs", "waits"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "mark")
	require.NoError(t, os.Mkdir(dir, 0o777))
	t.Setenv(goOn, mark)
	cmd := sweepProcess(study, "--out", dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	until(t, dir, 50) // the others wait
	mounted(t, dir, "--bind", dir)
	require.NoError(t, exec.Command("mount", "-o", "remount,bind,ro", dir).Run())
	require.NoError(t, os.WriteFile(mark, nil, 0o666))
	_ = cmd.Wait() // the code tells
	require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	require.Contains(t, stderr.String(), "read-only file system")
	got := swept(t, study, "--out", dir)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "read-only file system")
	require.Contains(t, swept(t, "status", dir).stdout, "50 missing")

	require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH))
	got = swept(t, study, "--out", dir)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, undisturbed(t, study), read(t, dir, "results.csv"))
	units, others := stored(t, dir)
	require.Len(t, units, 100)
	require.Empty(t, others)
}

func TestASweepDrawsABarOnATerminal(t *testing.T) {
	master, tty := terminal(t, 100)
	mark := filepath.Join(t.TempDir(), "mark")
	t.Setenv(goOn, mark)
	cmd := sweepProcess(runsOf(t, 100, "fcfs", "waits"), "--out", filepath.Join(t.TempDir(), "out"))
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=")
	cmd.Stderr = tty
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	seen := make(chan string, 1)
	go func() {
		var text strings.Builder
		b := make([]byte, 4096)
		for !strings.Contains(text.String(), " of 100") {
			n, err := master.Read(b)
			if err != nil {
				break
			}
			text.Write(b[:n])
		}
		seen <- text.String()
		_ = os.WriteFile(mark, nil, 0o666)
		for { // or the process waits for its terminal
			if _, err := master.Read(b); err != nil {
				return
			}
		}
	}()
	require.NoError(t, cmd.Wait())
	require.Regexp(t, `run \d+ of 100`, <-seen)
}
