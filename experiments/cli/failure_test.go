package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics"
)

// What users feed the command that it cannot use: each with a clear message,
// the right exit code and nothing half-written.

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a Buffer does not fail
	_ = z.Close()
	return b.String()
}

func TestUnusableTracesFailAndLeaveNothing(t *testing.T) {
	long := smallTrace + strings.Repeat("9 9 -1 1 1 -1 -1 1 1 -1 1 1 1 -1 -1 -1 -1 -1\n", 10_000)
	for name, c := range map[string]struct {
		text  string
		flags string
		want  []string
	}{
		"empty":                 {"", "", []string{"not an SWF file", "empty"}},
		"header only":           {"; MaxProcs: 10\n", "", []string{"no jobs"}},
		"binary":                {"\x7fELF\x02\x01\x01\x00\x00\x00", "", []string{"not an SWF file", "binary"}},
		"prose":                 {"There is nothing to see here.\n", "", []string{"not an SWF file", "line 1"}},
		"truncated gzip":        {packed(long)[:300], "", []string{"truncated"}},
		"damaged gzip":          {packed(long)[:200] + "\x00\x00\x00\x00" + packed(long)[204:], "", []string{"damaged"}},
		"another archive":       {"PK\x03\x04 and so on", "", []string{"zip", "unpack it first"}},
		"unsorted":              {swf("9 1 1 1", "3 1 1 1", "5 1 1 1"), "", []string{":3:", "job 2", "6 s before", "1 lines", "--sort puts them in order"}},
		"without MaxProcs":      {strings.Replace(smallTrace, "MaxProcs", "Note", 1), "", []string{"--procs N"}},
		"17 columns, strict":    {strings.Replace(smallTrace, " -1\n", "\n", 1), "--strict", []string{":2:", "too few fields", "correct the line"}},
		"text, strict":          {strings.Replace(smallTrace, "1 0 -1 100", "1 0 -1 long", 1), "--strict", []string{":2:", "field 4 (run time)", `"long"`}},
		"huge number, strict":   {strings.Replace(smallTrace, "1 0 -1 100", "1 0 -1 1"+strings.Repeat("0", 30), 1), "--strict", []string{":2:", "field 4", "out of range"}},
		"negative, strict":      {strings.Replace(smallTrace, "1 0 -1 100", "1 -7 -1 100", 1), "--strict", []string{":2:", "field 2 (submit time)", "negative"}},
		"nothing after skip":    {smallTrace, "--skip=4", []string{"no jobs"}},
		"no load to scale":      {swf("0 100 1 100"), "--load=0.5", []string{"cannot be scaled"}},
		"only 17 columns":       {strings.ReplaceAll(smallTrace, " -1\n", "\n"), "", []string{"not an SWF file", "line 2", "too few fields"}},
		"estimates all missing": {swf("0 5 1 -1"), "--missing-estimate=drop", []string{"no jobs", "estimate unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			path := write(t, "trace.swf", c.text)
			got := exits(t, exitFailed, append([]string{"simulate", path, "--out", out}, strings.Fields(c.flags)...)...)
			for _, want := range append(c.want, "trace.swf") {
				require.Contains(t, got.stderr, want)
			}
			require.Empty(t, got.stdout)
			require.NoDirExists(t, out)
		})
	}
}

func TestATraceThatIsNotThereIsNamed(t *testing.T) {
	for path, want := range map[string]string{
		"none.swf": "no such file", t.TempDir(): "directory",
		"lubin:jobs=10": `no such file or directory: did you mean "lublin"?`, "KTH-SP2-1996-2.1-cnl.swf.gz": `did you mean "KTH-SP2-1996-2.1-cln"?`,
	} {
		got := exits(t, exitFailed, "simulate", path)
		require.Contains(t, got.stderr, path)
		require.Contains(t, got.stderr, want)
	}
}

func TestDamagedLinesAreLeftOutAndCounted(t *testing.T) {
	for name, c := range map[string]struct{ from, to, reason string }{
		"17 columns": {"2 1 -1 100 6 -1", "2 1 -1 100 6", "too-few-fields"},
		"text":       {"2 1 -1 100", "2 1 -1 long", "not-a-number"},
		"huge":       {"2 1 -1 100", "2 1 -1 1" + strings.Repeat("0", 30), "out-of-range"},
		"infinite":   {"2 1 -1 100", "2 1 -1 inf", "not-finite"},
		"negative":   {"2 1 -1 100", "2 -7 -1 100", "negative"},
		"fraction":   {"2 1 -1 100 6", "2 1 -1 100 6.5", "not-whole"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(smallTrace, c.from, c.to, 1)
			require.NotEqual(t, smallTrace, text)
			out := t.TempDir()
			got := succeed(t, "simulate", write(t, "a.swf", text), "--policy=easy", "--out", out)
			require.Contains(t, got.stderr, "a.swf: 1 damaged")
			require.Contains(t, got.stderr, "line 3")
			var m metrics.Manifest
			require.NoError(t, json.Unmarshal([]byte(read(t, out, "manifest.json")), &m))
			require.Equal(t, []metrics.ReasonCount{{Reason: c.reason, Count: 1}}, m.Dropped)
			require.Equal(t, 4, strings.Count(read(t, out, "jobs-easy.csv"), "\n"), "a heading, three jobs")
		})
	}
}

func TestJobNumbersGivenTwiceAreTold(t *testing.T) {
	text := strings.Replace(smallTrace, "3 2 ", "1 2 ", 1)
	require.NotEqual(t, smallTrace, text)
	got := succeed(t, "simulate", write(t, "a.swf", text), "--policy=easy")
	require.Equal(t, "gridslot: a.swf: 1 noted: job number given before (first: line 4)\n", got.stderr)
}

func TestAJobLargerThanTheMachineIsRejectedAndTold(t *testing.T) {
	out := t.TempDir()
	got := succeed(t, "simulate", write(t, "a.swf", smallTrace+"5 4 -1 9 11 -1 -1 11 9 -1 1 1 1 -1 -1 -1 -1 -1\n"), "--policy=easy", "--out", out)
	require.Contains(t, got.stderr, "easy: 1 of 5 jobs rejected, 1 of them: wants 11 processors of a cluster of 10")
	require.Contains(t, read(t, out, "jobs-easy.csv"), ",REJECTED,")
	require.Contains(t, read(t, out, "summary.csv"), "easy,5,0,1,")
}

func TestAFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	file := write(t, "file", "")
	trace := write(t, "a.swf", smallTrace)
	for _, out := range []string{file, filepath.Join(file, "below"), "/proc/gridslot"} {
		got := exits(t, exitFailed, "simulate", trace, "--out", out)
		require.Contains(t, got.stderr, "--out")
		require.Contains(t, got.stderr, strings.TrimSuffix(out, "/below"))
		require.Empty(t, got.stdout)
	}
	require.Empty(t, read(t, file), "untouched")

	got := drawn("lublin", "--jobs=10", "--out", filepath.Join(file, "a.swf"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, file)
	got = exits(t, exitFailed, "trace", "convert", trace, filepath.Join(file, "a.swf"))
	require.Contains(t, got.stderr, file)
}

func TestAFullStandardOutputIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no device that is always full: %v", err)
	}
	defer full.Close()
	for _, args := range []string{"simulate --first 10", "trace convert lublin -", "trace list", "reproduce --list", "trace info " + write(t, "a.swf", smallTrace)} {
		cmd := process(strings.Fields(args)...)
		cmd.Stdout = full
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		_ = cmd.Run() // the code tells
		require.Equal(t, exitFailed, cmd.ProcessState.ExitCode(), args)
		require.Contains(t, stderr.String(), "no space left", args)
	}
}

func TestAFullDiskLeavesNothingHalfWritten(t *testing.T) {
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "gridslot-test", disk).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted here: %s", bytes.TrimSpace(out))
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", disk).Run()) })

	out := filepath.Join(disk, "out")
	got := exits(t, exitFailed, "simulate", "--policy=fcfs,easy", "--out", out)
	require.Contains(t, got.stderr, "no space left")
	require.Contains(t, got.stderr, "writing "+out+string(filepath.Separator)) // whichever file meets the end of the disk first
	require.NotRegexp(t, "writing [^ ]+: writing ", got.stderr)
	require.NoDirExists(t, out)

	got = drawn("lublin", "--jobs=20000", "--out", filepath.Join(disk, "a.swf"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "no space left")
	require.Empty(t, files(t, disk))

	// What was finished before the disk was full stays: FCFS has room.
	small := write(t, "a.swf", smallTrace)
	require.Equal(t, exitOK, call("simulate", small, "--policy=fcfs", "--out", out).code)
	require.Contains(t, files(t, out), "jobs-fcfs.csv")
	got = exits(t, exitFailed, "simulate", "--policy=easy", "--out", out)
	require.NotContains(t, files(t, out), "jobs-easy.csv")
	require.Contains(t, files(t, out), "jobs-fcfs.csv")
}

// slow is a policy that takes a minute on an overloaded trace: it sorts the
// whole queue at every event.
const slow = "easy:order=wfp3"

func overloaded(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "busy.swf")
	got := drawn("lublin", "--jobs=150000", "--load=3", "--out", path)
	require.Equal(t, exitOK, got.code, got.stderr)
	return path
}

func interrupted(t *testing.T, ready func() bool, args ...string) outcome {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt signal between processes on this system")
	}
	cmd := process(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	for began := time.Now(); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > enough {
			t.Fatalf("the command does not get there: %s", stderr.String())
		}
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // the code tells
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func exists(pattern string) func() bool {
	return func() bool {
		found, err := filepath.Glob(pattern)
		return err == nil && len(found) > 0
	}
}

func TestAnInterruptKeepsWhatIsFinished(t *testing.T) {
	trace := overloaded(t)
	for _, workers := range []string{"1", "2"} {
		out := filepath.Join(t.TempDir(), "out")
		got := interrupted(t, exists(filepath.Join(out, "queue-fcfs.csv")),
			"simulate", trace, "--policy", "fcfs,"+slow+",easy:order=unicef", "--out", out, "--workers", workers)
		require.Equal(t, exitFailed, got.code, got.stderr)
		require.Contains(t, got.stderr, "interrupted; finished and kept: fcfs")
		require.Equal(t, []string{"jobs-fcfs.csv", "manifest.json", "queue-fcfs.csv", "summary.csv"}, files(t, out))
		require.Equal(t, 2, strings.Count(read(t, out, "summary.csv"), "\n"), "a heading, one policy")
		require.Contains(t, got.stdout, "fcfs ")
		var m metrics.Manifest
		require.NoError(t, json.Unmarshal([]byte(read(t, out, "manifest.json")), &m))
		require.Contains(t, m.Stopped, "interrupted")
		require.Len(t, m.Runs, 1)
		require.Equal(t, exitOK, call("validate", filepath.Join(out, "jobs-fcfs.csv"), trace).code)
	}
}

func TestAnInterruptBeforeAnythingIsFinishedLeavesNothing(t *testing.T) {
	trace := overloaded(t)
	out := filepath.Join(t.TempDir(), "out")
	got := interrupted(t, exists(filepath.Join(out, ".jobs-*.tmp")), "simulate", trace, "--policy", slow, "--out", out)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "interrupted; nothing was finished")
	require.NoDirExists(t, out)
	require.Empty(t, got.stdout)
}

// What reads a folder of results takes long on a large one.
func TestAnInterruptEndsWhatReadsResults(t *testing.T) {
	dir := t.TempDir()
	require.Zero(t, call("simulate", "--first", "100", "--policy", "easy", "--decisions", "--out", dir).code)
	before := files(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{
		{"validate", dir}, {"validate", filepath.Join(dir, "jobs-easy.csv")}, {"report", dir}, {"explain", dir, "10"}, {"explain", dir}, {"plot", dir},
		{"report", filepath.Join(dir, "summary.csv"), "--table", "csv", "--parameters", "policy", "--measure", "mean_wait"},
	} {
		var stdout, stderr bytes.Buffer
		code := Run(ctx, Env{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		require.Equal(t, exitFailed, code, args)
		require.Contains(t, stderr.String(), "interrupted", args)
		require.Empty(t, stdout.String(), args)
		require.Equal(t, before, files(t, dir), args)
	}
}

func TestAnInterruptEndsTheReadingOfALog(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log.swf")
	require.Zero(t, call("trace", "convert", "lublin:jobs=100", log).code)
	before := files(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{
		{"trace", "info"}, {"trace", "info", "--check"}, {"trace", "convert", "--by", "3"}, {"trace", "convert", "--by", "user"},
		{"trace", "info", "--users"}, {"bound"},
	} {
		args = append(args, log)
		if args[1] == "convert" {
			args = append(args, filepath.Join(dir, "parts"))
		}
		var stdout, stderr bytes.Buffer
		code := Run(ctx, Env{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		require.Equal(t, exitFailed, code, args)
		require.Equal(t, "gridslot: interrupted\n", stderr.String(), args)
		require.Empty(t, stdout.String(), args)
		require.Equal(t, before, files(t, dir), args)
	}
}

func TestAnInterruptedGeneratorLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	got := interrupted(t, exists(filepath.Join(dir, ".a.swf*.tmp")), "trace", "convert", "lublin:jobs=3000000", filepath.Join(dir, "a.swf.gz"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "interrupted")
	require.Empty(t, files(t, dir))
}

func TestTheProcessReturnsTheExitCode(t *testing.T) {
	for args, want := range map[string]int{"--version": exitOK, "simulate none.swf": exitFailed, "simulate --policy none": exitUsage} {
		cmd := process(strings.Fields(args)...)
		_ = cmd.Run() // the code tells
		require.Equal(t, want, cmd.ProcessState.ExitCode(), args)
	}
}

// The archive's unsorted log, where it is at hand.
func TestTheUnsortedLogIsDiagnosedAndCanBeSorted(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	path := filepath.Join(dir, "bad-unsorted-Theta.swf.gz")
	got := exits(t, exitFailed, "simulate", path)
	require.Contains(t, got.stderr, fmt.Sprint(8056, " lines of the file go backwards"))
	sorted := filepath.Join(t.TempDir(), "sorted.swf.gz")
	require.Equal(t, exitOK, call("trace", "convert", path, sorted, "--sort").code)
	require.Equal(t, exitOK, call("simulate", sorted, "--policy=fcfs").code)
}

func TestInfoFindsJobNumbersGivenTwice(t *testing.T) {
	log := strings.Replace(smallTrace, "\n4 ", "\n2 ", 1)
	got := exits(t, exitFailed, "trace", "info", write(t, "a.swf", log), "--check")
	require.Contains(t, got.stdout, `line 5: field 1 (job number): job number given before: "2"`)
	require.Contains(t, got.stderr, "1 with a number given before")

	got = succeed(t, "trace", "info", write(t, "a.swf", strings.Replace(smallTrace, "\n1 ", "\n9 ", 1)), "--check")
	require.Contains(t, got.stdout, "3 noted: job number not above every number before")
}
