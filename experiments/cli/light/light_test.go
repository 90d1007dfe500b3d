package light

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/traces"
)

// install is gridslot in a folder of its own, built as users build it.
func install(t *testing.T) (path string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds programs")
	}
	path = filepath.Join(t.TempDir(), executable("gridslot"))
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, module).CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// home is an environment with a cache folder of its own, but for that of Go.
func home(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, key := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", key).Output()
		require.NoError(t, err)
		env = append(env, key+"="+strings.TrimSpace(string(out)))
	}
	folder := t.TempDir()
	return append(append(os.Environ(), env...), "HOME="+folder, "XDG_CACHE_HOME="+folder, "LocalAppData="+folder)
}

type outcome struct {
	code           int
	stdout, stderr string
}

// program calls a program, in folder dir and with env.
type program struct {
	t    *testing.T
	path string
	dir  string
	env  []string
}

func (p program) call(stdin string, args ...string) outcome {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(p.path, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.dir, p.env, strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		require.IsType(p.t, &exec.ExitError{}, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestWhatIsNotInTheLightProgramIsHandedOver(t *testing.T) {
	p := program{t, install(t), t.TempDir(), home(t)}
	_, log := traces.Sample()
	sample, err := io.ReadAll(log)
	require.NoError(t, err)

	got := p.call(string(sample), "simulate", "-", "--policy", "easy", "--out", "plain")
	require.Zero(t, got.code, got.stderr)
	require.Empty(t, got.stderr, "nothing is handed over")

	// The first call builds, and the whole line, standard input and streams go over.
	got = p.call(string(sample), "simulate", "-", "--policy", "easy", "--out", "typed", "--parquet")
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, "gridslot: --parquet needs gridslot-full, which is built now, once: that takes a minute or two\n", got.stderr)
	require.Contains(t, got.stdout, "easy")
	require.FileExists(t, filepath.Join(p.dir, "typed", "jobs-easy.parquet"))
	for _, name := range []string{"jobs-easy.csv", "queue-easy.csv"} {
		a, err := os.ReadFile(filepath.Join(p.dir, "plain", name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(p.dir, "typed", name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(a, b), name)
	}

	// Later calls find it, whatever they are about.
	got = p.call("", "plot", "plain", "policies")
	require.Equal(t, outcome{0, filepath.Join("plain", "figures", "policies.svg") + "\n", ""}, got)
	require.Equal(t, outcome{0, "", "gridslot: written: " + filepath.Join("plain", "report.html") + "\n"}, p.call("", "report", "plain"))
	require.Contains(t, p.call("", "reproduce", "--list").stdout, "alp-amp")
	require.Contains(t, p.call("", "trace", "info", "--figures", "drawn").stderr, filepath.Join("drawn", "arrivals.svg"))
	got = p.call("", "plot")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "Try 'gridslot plot --help'.")
	got = p.call("", "plot", "nowhere")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "nowhere")
	require.Contains(t, p.call("", "help", "plot").stdout, "wait-by-size")
	require.Contains(t, p.call("", "__complete", "plot", "plain", "").stdout, "wait-by-size")
	got = program{t, p.path, p.dir, append(p.env, "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=", "https_proxy=", "no_proxy=")}.call("", "trace", "fetch", "KTH-SP2-1996-2.1-cln")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "proxyconnect", "it was on its way")
	got = p.call("", "trace", "fetch", "unknown")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "is not in the catalogue")

	// To a study both are one program: what the one has done is not done again.
	study := filepath.Join(p.dir, "study.yaml")
	require.NoError(t, os.WriteFile(study, []byte("traces: ['lublin:jobs=50']\npolicies: [fcfs, easy]\nreplications: 2\n"), 0o666))
	got = p.call("", "sweep", "study.yaml", "--out", "studied")
	require.Zero(t, got.code, got.stderr)
	before := unitTimes(t, filepath.Join(p.dir, "studied"))
	require.NotEmpty(t, before)
	got = p.call("", "sweep", "study.yaml", "--out", "studied", "--parquet")
	require.Zero(t, got.code, got.stderr)
	require.NotContains(t, got.stderr, "anew")
	require.FileExists(t, filepath.Join(p.dir, "studied", "results.parquet"))
	require.Equal(t, before, unitTimes(t, filepath.Join(p.dir, "studied")))
	// Its workers are copies of the full one, which say that they are the light one as well.
	got = p.call("", "sweep", "study.yaml", "--out", "served", "--parquet", "--workers", "1")
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, "4 of 4 runs are done: "+filepath.Join("served", "results.csv")+"\n", got.stdout)
	got = p.call("", "sweep", "study.yaml", "--out", "served")
	require.Zero(t, got.code, got.stderr)
	require.NotContains(t, got.stderr, "anew")
	require.Len(t, unitTimes(t, filepath.Join(p.dir, "served")), 4)

	if runtime.GOOS != "windows" {
		p.interrupt("simulate", "lublin:jobs=150000:load=3", "--policy", "easy:order=wfp3", "--out", "stopped", "--parquet")
	}

	// A source that has changed is another program.
	past := time.Now().Add(-1e6 * time.Hour)
	require.NoError(t, os.Chtimes(p.path, past, past))
	got = p.call("", "plot", "plain")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "has changed since this program was built from it: build it again, with 'go build'")
}

// unitTimes is when each unit of a study was stored, by its file.
func unitTimes(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	times := map[string]time.Time{}
	require.NoError(t, filepath.Walk(filepath.Join(dir, "units"), func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			times[path] = info.ModTime()
		}
		return err
	}))
	return times
}

// interrupt requires that an interrupt of the process reaches the program that has taken its place.
func (p program) interrupt(args ...string) {
	p.t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(p.path, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.env, &stderr
	require.NoError(p.t, cmd.Start())
	require.Eventually(p.t, func() bool {
		_, err := os.Stat(filepath.Join(p.dir, "stopped", ".gridslot.lock"))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(p.t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // ExitCode tells
	require.Equal(p.t, 1, cmd.ProcessState.ExitCode(), stderr.String())
	require.Contains(p.t, stderr.String(), "interrupted")
}

func TestWithoutGoItIsSaidWhatIsMissing(t *testing.T) {
	p := program{t, install(t), t.TempDir(), append(home(t), "PATH="+t.TempDir())}
	got := p.call("", "simulate", "--policy", "fcfs")
	require.Zero(t, got.code, got.stderr)
	got = p.call("", "reproduce", "--list")
	require.Equal(t, 1, got.code)
	require.Empty(t, got.stdout)
	require.Contains(t, got.stderr, "by the command go, which is not there: install Go, or build gridslot-full where Go is, and use it in place of this program")
	require.NotContains(t, got.stderr, "is built now")
}

func TestWithoutAFolderForTheBuildItIsSaidWhatToDo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("cache folders have other names there")
	}
	p := program{t, install(t), t.TempDir(), nil}
	own := home(t)
	for _, c := range []struct{ home, cache, want string }{
		{"", "", "nor $HOME are defined): set HOME to one that you can write to"},
		{p.dir, "relative", "relative): set XDG_CACHE_HOME to one that you can write to"},
		{p.dir, p.path, "not a directory): set XDG_CACHE_HOME to one that you can write to, or run 'go build ./experiments/gridslot-full' in "},
	} {
		p.env = append(own, "HOME="+c.home, "XDG_CACHE_HOME="+c.cache)
		got := p.call("", "plot", "results")
		require.Equal(t, 1, got.code)
		require.Empty(t, got.stdout)
		require.Contains(t, got.stderr, "gridslot: gridslot plot needs gridslot-full: there is no folder to keep it in (")
		require.Contains(t, got.stderr, c.want)
		require.NotContains(t, got.stderr, "is built now")
	}
}

func TestABuildThatIsInterruptedLeavesNothing(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	cache, temporary := t.TempDir(), t.TempDir()
	t.Setenv("GOTMPDIR", temporary)
	ctx, interrupt := context.WithCancel(t.Context())
	e := &notBuiltError{root, filepath.Join(cache, "key", name), []string{"build", "-o", name, "./" + folder}}
	_, err = e.build(ctx, func() {
		require.NotEmpty(t, ls(t, cache))
		require.NotEmpty(t, ls(t, temporary))
		go func() {
			defer interrupt()
			for range 6000 {
				if of, _ := filepath.Glob(filepath.Join(temporary, "*", "*")); len(of) > 0 {
					return // go is at work
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	})
	require.Error(t, err)
	require.Empty(t, ls(t, cache))
	require.Empty(t, ls(t, temporary))
}

// ls are the names in a folder.
func ls(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAnotherProgramBesideIsNotTaken(t *testing.T) {
	path := install(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	beside := filepath.Join(filepath.Dir(path), executable(name))
	require.NoError(t, os.WriteFile(beside, text, 0o777))
	got := program{t, path, t.TempDir(), append(home(t), "PATH="+t.TempDir())}.call("", "reproduce", "--list")
	require.Equal(t, 1, got.code)
	require.Empty(t, got.stdout, "it would hand over to itself for ever")
}

func TestOnlyTheSameVersionBesideIsTaken(t *testing.T) {
	info := func(path, version, goVersion string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Path: path, GoVersion: goVersion, Main: debug.Module{Path: module, Version: version}, Settings: settings}
	}
	full := module + "/" + folder
	own := info(module, "v1.2.3", "go1.26.1")
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	require.NoError(t, same(own, info(full, "v1.2.3", "go1.26.1")))
	for message, other := range map[string]*debug.BuildInfo{
		"it is version v1.2.4, and this is v1.2.3":       info(full, "v1.2.4", "go1.26.1"),
		"it was built by go1.26.2, and this by go1.26.1": info(full, "v1.2.3", "go1.26.2"),
		"it is github.com/gridslot/gridslot":             info(module, "v1.2.3", "go1.26.1"),
		"it is no program of Go modules":                 info("", "v1.2.3", "go1.26.1"),
		"of builds from a source without a commit":       info(full, "(devel)", "go1.26.1"),
		"use gridslot-full in place of this program":     info(full, "v1.2.3", "go1.26.1", modified),
		"nobody can tell whether they are the same":      info(full, "v1.2.4-0.20260101000000-0123456789ab+dirty", "go1.26.1"),
	} {
		require.ErrorContains(t, same(own, other), message)
	}
	for _, unknown := range []*debug.BuildInfo{info(module, "(devel)", "go1.26.1"), info(module, "v1.2.3", "go1.26.1", modified)} {
		require.ErrorContains(t, same(unknown, info(full, unknown.Main.Version, "go1.26.1")), "nobody can tell")
	}
}

func TestProgramsOfGoRunAreTold(t *testing.T) {
	require.True(t, runByGo("/tmp/go-build1712/b001/exe/gridslot"))
	require.True(t, runByGo("/home/x/.cache/go-build/0a/"+strings.Repeat("0a", 32)+"-d/gridslot"))
	require.False(t, runByGo("/home/x/go-build/gridslot"))
	require.False(t, runByGo("/usr/local/bin/gridslot"))
}

func TestTheCacheKeepsWhatWasUsedLast(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a", "b", "c", "d", "building-1"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o777))
		used := time.Now().Add(-time.Duration([]int{3, 9, 1, 2, 8}[i]) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), used, used))
	}
	tidy(dir)
	require.Equal(t, []string{"a", "c", "d"}, ls(t, dir))
}
