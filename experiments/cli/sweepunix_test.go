//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// withTries has a study begin its runs so often whose workers go away.
func withTries(t *testing.T, study string, tries int) string {
	t.Helper()
	f, err := os.OpenFile(study, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = fmt.Fprintf(f, "limit: {tries: %d}\n", tries)
	require.NoError(t, err)
	return study
}

func TestRunsWhoseWorkersAreKilledAreDoneAgain(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("children are found in /proc")
	}
	study, dir, mark := runsOf(t, 200, "fcfs", "waits"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "mark")
	want := undisturbed(t, study)
	t.Setenv(goOn, mark)
	cmd := sweepProcess(withTries(t, study, 1000), "--out", dir)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	killed, pause := 0, 50*time.Millisecond
	enough := sync.OnceFunc(func() { require.NoError(t, os.WriteFile(mark, nil, 0o666)) })
	for running := true; running; {
		select {
		case err := <-ended:
			require.NoError(t, err)
			running = false
		case <-time.After(pause):
			pause += pause / 10 // on a busy machine a worker may not have come to work yet
			for _, pid := range children(cmd.Process.Pid) {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed++
				}
			}
			if killed > 5 {
				enough() // until then the study cannot end
			}
		}
	}
	require.Greater(t, killed, 5)
	require.Equal(t, want, read(t, dir, "results.csv"))
	require.NoDirExists(t, filepath.Join(dir, "failures"))
}

func TestAnInterruptedSweepKeepsWhatIsDoneAndGoesOn(t *testing.T) {
	study, dir, mark := runsOf(t, 200, "fcfs", "waits"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "mark")
	t.Setenv(goOn, mark)
	cmd := sweepProcess(study, "--out", dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	until(t, dir, 20)
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT), "a terminal sends it to all processes of a command")
	_ = cmd.Wait() // the code tells
	require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	require.Contains(t, stderr.String(), "of 200 runs are done and stay; the same command goes on with the others")
	require.Contains(t, stderr.String(), "gridslot: interrupted\n")
	units, others := stored(t, dir)
	require.Equal(t, 1+len(units), strings.Count(read(t, dir, "results.csv"), "\n"))
	require.Empty(t, others)
	require.Contains(t, read(t, dir, "manifest.json"), "stopped")
	require.NoError(t, os.WriteFile(mark, nil, 0o666))
	require.Equal(t, exitOK, swept(t, study, "--out", dir).code)
	require.Equal(t, undisturbed(t, study), read(t, dir, "results.csv"))
}

func TestSignalsToWorkersAreNotForThem(t *testing.T) {
	study, dir, mark := runsOf(t, 2, "waits"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "mark")
	t.Setenv(goOn, mark)
	cmd := sweepProcess(withTries(t, study, 1), "--out", dir, "--workers", "2")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return len(children(cmd.Process.Pid)) == 2 }, enough, time.Millisecond)
	require.Eventually(t, func() bool {
		waiting, _ := filepath.Glob(mark + ".*")
		return len(waiting) == 2
	}, enough, time.Millisecond)
	for _, pid := range children(cmd.Process.Pid) {
		require.NoError(t, syscall.Kill(pid, syscall.SIGINT))
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	}
	require.NoError(t, os.WriteFile(mark, nil, 0o666))
	require.NoError(t, cmd.Wait())
	require.Contains(t, swept(t, "status", dir).stdout, "2 done")
}

// The commands of the page about machines that share nothing are run as they stand there, with
// folders in the place of machines.
func TestPartsOfMachinesThatShareNothingAreCopiedTogether(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	page, err := os.ReadFile("../../docs/guides/studies.md")
	require.NoError(t, err)
	_, script, found := strings.Cut(string(page), "\n## Machines that share nothing\n")
	require.True(t, found)
	script, _, _ = strings.Cut(script, "\n## ")
	var commands strings.Builder
	for block := range strings.SplitSeq(script, "```sh\n") {
		if text, _, isBlock := strings.Cut(block, "```\n"); isBlock {
			commands.WriteString(text)
		}
	}
	self, err := os.Executable()
	require.NoError(t, err)
	world := t.TempDir()
	place := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(world, name), []byte("#!"+bash+"\nset -e\n"+text), 0o777))
	}
	for _, dir := range []string{"bin", "here", "ada", "bob"} {
		require.NoError(t, os.Mkdir(filepath.Join(world, dir), 0o777))
	}
	place("bin/ssh", `cd "$WORLD/$1"; shift; exec bash -c "$*"`)
	place("bin/scp", `shift; to="${@: -1}"; cp "${@:1:$#-1}" "$WORLD/${to/://}"`)
	place("bin/rsync", `mkdir -p "$3"; cp -a "$WORLD/${2/://}." "$3"`)
	place("here/gridslot", `exec '`+self+`' "$@"`)
	place("here/log.swf", "")
	require.NoError(t, os.WriteFile(filepath.Join(world, "here/study.yaml"), []byte("traces: ['lublin:jobs=50']\npolicies: [fcfs, easy]\nreplications: 9\nkeep: [jobs]\n"), 0o666))
	cmd := exec.Command(bash, "-ec", commands.String())
	cmd.Dir = filepath.Join(world, "here")
	cmd.Env = append(os.Environ(), asCommand+"=1", "WORLD="+world, "PATH="+filepath.Join(world, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "18 of 18 runs are done: results/results.csv\n")
	got := filepath.Join(world, "here", "results")
	require.Equal(t, undisturbed(t, filepath.Join(world, "here", "study.yaml")), read(t, got, "results.csv"))
	require.Len(t, files(t, filepath.Join(got, "runs")), 18)
	require.Less(t, len(files(t, filepath.Join(world, "ada/study/results/runs"))), 18, "it has its part alone")
}
