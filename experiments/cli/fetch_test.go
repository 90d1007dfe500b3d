package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/traces"
)

// shop is a server of logs whose certificate the command's processes trust, and a cache of theirs.
type shop struct {
	t     *testing.T
	url   string
	cache string
	env   []string
}

func newShop(t *testing.T, serve http.HandlerFunc) *shop {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("certificates are trusted in other ways there")
	}
	server := httptest.NewTLSServer(serve)
	t.Cleanup(server.Close)
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	s := &shop{t: t, url: server.URL, cache: t.TempDir()}
	s.env = []string{"SSL_CERT_FILE=" + write(t, "trusted.pem", string(trusted)), traces.CacheVariable + "=" + s.cache}
	return s
}

func (s *shop) process(args ...string) *exec.Cmd {
	cmd := process(args...)
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

func (s *shop) call(args ...string) outcome {
	s.t.Helper()
	cmd := s.process(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		require.IsType(s.t, &exec.ExitError{}, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestAFetchedLogGoesByItsName(t *testing.T) {
	const name = "KTH-SP2-1996-2.1-cln"
	s := newShop(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(smallTrace))
	})
	got := s.call("simulate", name, "--policy=fcfs")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stderr, "run 'gridslot trace fetch "+name+"'")
	require.Contains(t, s.call("trace", "list", name).stdout, "no: gridslot trace fetch "+name)

	got = s.call("trace", "fetch", name, "--url", s.url+"/log")
	require.Equal(t, exitOK, got.code, got.stderr)
	path := filepath.Join(s.cache, name+".swf")
	require.Equal(t, fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(smallTrace)), path), got.stdout)
	for _, want := range []string{fmt.Sprintf("fetched %d bytes", len(smallTrace)), "its checksum is not known", "thank Lars Malinowsky", "cite D. G. Feitelson"} {
		require.Contains(t, got.stderr, want)
	}
	again := s.call("trace", "fetch", name, "--url", s.url+"/log")
	require.Equal(t, exitOK, again.code)
	require.Equal(t, got.stdout, again.stdout)
	require.Contains(t, again.stderr, "it was there already")

	require.Contains(t, s.call("trace", "list", name).stdout, path)
	var logs []struct{ Name, Cached string }
	require.NoError(t, json.Unmarshal([]byte(s.call("trace", "list", "--format=json").stdout), &logs))
	require.Greater(t, len(logs), 30)
	for _, l := range logs {
		require.Equal(t, l.Name == name, l.Cached == path, l.Name)
	}

	// As a path, wherever a log can be named.
	write := func(file, text string) string { return write(t, file, text) }
	out := t.TempDir()
	for _, args := range [][]string{
		{"trace", "info", "LOG", "--format=json"},
		{"trace", "info", "LOG", "--check"},
		{"trace", "convert", "LOG", "-", "--first=2"},
		{"simulate", "LOG", "--policy=fcfs,easy", "--format=csv"},
		{"simulate", write("scenario.yaml", "processors: 10\nworkload: {trace: LOG}\n"), "--policy=easy", "--format=csv"},
		{"simulate", "--grid", write("grid.yaml", "clusters:\n- {name: a, processors: 10, local: LOG}\n- {name: b, processors: 10}\n"), "LOG", "--format=csv"},
		{"sweep", write("study.yaml", "traces: [LOG]\npolicies: [fcfs, easy]\n"), "--out", filepath.Join(out, "LOG")},
	} {
		with := func(log string) outcome {
			args := append([]string(nil), args...)
			for i, arg := range args {
				if text, err := os.ReadFile(arg); err == nil {
					args[i] = write(filepath.Base(arg), strings.ReplaceAll(string(text), "LOG", log))
				} else {
					args[i] = strings.ReplaceAll(arg, "LOG", strings.TrimPrefix(log, "/"))
					if arg == "LOG" {
						args[i] = log
					}
				}
			}
			got := s.call(args...)
			require.Equal(t, exitOK, got.code, "%v\n%s", args, got.stderr)
			return got
		}
		byName, byPath := with(name), with(path)
		switch {
		case args[0] == "sweep":
			require.Equal(t, steady(t, read(t, out, path, "results.csv")), steady(t, read(t, out, name, "results.csv")))
		case strings.HasPrefix(byPath.stdout, "policy,"):
			require.Equal(t, steady(t, byPath.stdout), steady(t, byName.stdout), "%v", args)
		default:
			require.Equal(t, byPath.stdout, byName.stdout, "%v", args)
		}
	}
}

// steady are the rows of a table without what a log is called, and what the clock says.
func steady(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(rows), 1)
	for i, column := range rows[0] {
		if column == "trace" || column == "cpu_seconds" {
			for _, row := range rows {
				row[i] = ""
			}
		}
	}
	return rows
}

func TestAnInterruptedFetchGoesOn(t *testing.T) {
	text := smallTrace + strings.Repeat("; a comment of some length, to fill the file\n", 5000)
	var whole atomic.Bool
	s := newShop(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		if whole.Load() {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = w.Write([]byte(text[:50_000]))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	cmd := s.process("trace", "fetch", "mine", "--url", s.url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	part := filepath.Join(s.cache, "mine.part")
	require.Eventually(t, func() bool {
		info, err := os.Stat(part)
		return err == nil && info.Size() == 50_000
	}, enough, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // ExitCode tells
	require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	require.Contains(t, stderr.String(), "50000 bytes are kept, and the same call goes on from there")
	require.Contains(t, stderr.String(), "gridslot: interrupted\n")

	whole.Store(true)
	got := s.call("trace", "fetch", "mine", "--url", s.url)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, fmt.Sprintf("fetched %d bytes, 50000 of them before", len(text)))
	require.NoFileExists(t, part)
	require.Contains(t, s.call("trace", "info", "mine").stdout, "4 of 4 lines")
}

func TestFetchGoesThroughTheEnvironmentsProxy(t *testing.T) {
	cmd := process("trace", "fetch", "KTH-SP2-1996-2.1-cln")
	cmd.Env = append(cmd.Env, "HTTPS_PROXY=http://127.0.0.1:1", "https_proxy=", "NO_PROXY=", "no_proxy=", traces.CacheVariable+"="+t.TempDir())
	text, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	require.Contains(t, string(text), "https://www.cs.huji.ac.il/labs/parallel/workload/l_kth_sp2/KTH-SP2-1996-2.1-cln.swf.gz: proxyconnect tcp: dial tcp 127.0.0.1:1")
}

func TestWrongCallsOfFetchSayWhatIsWanted(t *testing.T) {
	for want, args := range map[string][]string{
		"is not in the catalogue": {"mine"},
		"KTH-SP2 is not the whole name of a log; the archive has KTH-SP2-1996-2.1-cln": {"KTH-SP2"},
		"takes 1 argument":            {},
		`size such as 800M`:           {"mine", "--url=https://a", "--max-size=much"},
		"a checksum has 64":           {"mine", "--url=https://127.0.0.1:1/", "--sha256=abc"},
		"logs are fetched by https":   {"mine", "--url=http://127.0.0.1:1/"},
		"cannot be the name of a log": {"../mine", "--url=https://127.0.0.1:1/"},
	} {
		got := call(append([]string{"trace", "fetch"}, args...)...)
		require.NotZero(t, got.code)
		require.Contains(t, got.stderr, want)
	}
}

func TestTheCatalogueIsSearchedByNameMachineAndSite(t *testing.T) {
	count := func(pattern string) int {
		t.Helper()
		var logs []map[string]any
		got := succeed(t, "trace", "list", pattern, "--format=json")
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &logs))
		return len(logs)
	}
	require.Equal(t, 5, count("das2"))
	require.Equal(t, 5, count("DAS2-*"))
	require.Equal(t, 1, count("DAS2-fs?-2003-1.swf.gz")-4)
	require.Equal(t, 2, count("slurm")-1)
	require.Equal(t, 1, count("riken"))
	got := exits(t, exitFailed, "trace", "list", "no such log")
	require.Contains(t, got.stderr, `no log of the catalogue is about "no such log"`)
	got = exits(t, exitUsage, "trace", "list", "[")
}

func TestTheListKeepsItsColumnsAndKeysAndHasNewOnesBehind(t *testing.T) {
	head, _, _ := strings.Cut(call("trace", "list").stdout, "\n")
	require.Equal(t, []string{"log", "jobs", "processors", "days", "load", "runtime/estimate", "note", "years", "fetched"}, strings.Fields(head))
	text := call("trace", "list", "KTH", "--format=json").stdout
	at := 0
	for _, key := range []string{"Name", "Jobs", "Processors", "Days", "Load", "Accuracy", "Note", "Machine", "Acknowledge", "URL", "Citations", "Cached"} {
		next := strings.Index(text, `"`+key+`": `)
		require.Greater(t, next, at, key)
		at = next
	}
	require.Contains(t, text, "Lars Malinowsky")
	require.Contains(t, text, "Experience with using the Parallel Workloads Archive")
}
