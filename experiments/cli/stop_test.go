package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameResults requires the same files in two folders, but for clocks.
func sameResults(t *testing.T, a, b string) {
	t.Helper()
	require.Equal(t, files(t, a), files(t, b))
	for _, name := range files(t, a) {
		switch first, second := read(t, a, name), read(t, b, name); name {
		case "manifest.json":
			require.Equal(t, repeatable(t, first), repeatable(t, second))
		case "summary.csv":
			require.Equal(t, withoutClocks(first), withoutClocks(second))
		default:
			require.Equal(t, first, second, name)
		}
	}
}

// repeatable is what a manifest tells of runs and settings.
func repeatable(t *testing.T, manifest string) string {
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(manifest), &m))
	return fmt.Sprint(m["runs"], m["settings"], m["trace"], m["dropped"], m["changed"])
}

// A run that is saved at a random instant and resumed leaves the bytes of a run that is not
// stopped: 100 instants over machines, policies and flows.
func TestSavedRunsGoOnToTheSameFiles(t *testing.T) {
	domain := write(t, "nodes.yaml", "cycle: 60\ngenerate: {count: 12, owners: 2}\ninterval: 600\nlocal: {queue: {policy: easy, gap: 100, nodes: [1, 3], length: [50, 100], until: 3000}}\n")
	requests := "id,submit,nodes,volume,runtime\n"
	for i := range 60 {
		requests += fmt.Sprintf("%d,%d,%d,%d,20\n", i+1, 40*i, i%5+1, i%7*60+30)
	}
	asked := write(t, "asked.csv", requests)
	grid := write(t, "grid.yaml", strings.ReplaceAll(smallGrid, "processors: ", "processors: 9"))
	lost := write(t, "lost.csv", "from,to,processors,known\n1000,60000,40,500\n90000,400000,100,90000\n")
	booked := write(t, "booked.csv", "job_id,submit,start,processors,duration\n900001,2000,50000,30,4000\n900002,70000,90000,64,600\n")
	jobs := []string{"--first", "150"}
	for name, args := range map[string][]string{
		"queues":      {"--policy", "fcfs,easy:order=wfp3,conservative,easy:head=sticky", "--events", "--decisions"},
		"outages":     {"--policy", "easy,conservative", "--outages", "weibull:mtbf=9d:shape=0.7:repair=4h", "--victims", "checkpoint:interval=1800:cost=30"},
		"lost":        {"--policy", "easy,selective-preemption", "--outages", lost, "--reservations", booked},
		"predictions": {"--policy", "easy++,conservative", "--predict", "recent:k=2", "--correct", "doubling", "--overrun", "kill"},
		"power":       {"--policy", "easy,fcfs", "--power", "switch-off=600", "--wake", "30s", "--overhead", "dispatch=exponential/3s:epilogue=5s"},
		"shapes":      {"--policy", "easy,conservative", "--moldable", "amdahl:serial=0.05", "--pass", "event", "--warmup", "20"},
		"feedback":    {"--policy", "easy", "--feedback", "--perfetto"},
		"domain":      {asked, "--domain", domain, "--policy", "easy,css,bsf:k=5", "--alternatives"},
		"grid":        {"--grid", grid, "--policy", "oar,rla", "--outages", "exponential:mtbf=9d:repair=4h"},
		"source":      {"lublin:jobs=200:load=0.9:seed=3", "--policy", "easy,time-slicing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			whole := filepath.Join(dir, "whole")
			all := append(append([]string{"simulate"}, args...), jobs...)
			var plain, written []string
			for _, arg := range all {
				if strings.Contains(" --events --decisions --alternatives --perfetto ", " "+arg+" ") {
					written = append(written, arg)
				} else {
					plain = append(plain, arg)
				}
			}
			succeed(t, append(all, "--out", whole)...)
			var last float64
			for line := range strings.Lines(read(t, whole, "summary.csv")) {
				var makespan float64
				if _, err := fmt.Sscan(strings.Split(line, ",")[4], &makespan); err == nil {
					last = max(last, makespan)
				}
			}
			require.Positive(t, last)
			draw := rand.New(rand.NewPCG(1, uint64(len(name))))
			for i := range 10 {
				until := fmt.Sprint(int64(draw.Float64() * 1.1 * last))
				file, again := filepath.Join(dir, "saved.json"), filepath.Join(dir, fmt.Sprint(i))
				succeed(t, append(plain, "--until", until, "--save", file)...)
				if i == 0 { // it stops once more on the way
					succeed(t, "simulate", "--resume", file, "--until", fmt.Sprint(int64(1.2*last)), "--save", file)
				}
				succeed(t, append(append([]string{"simulate", "--resume", file}, written...), "--out", again)...)
				sameResults(t, whole, again)
			}
		})
	}
}

// What runs and waits at an instant is told: of each policy how much, and as JSON each job.
func TestARunThatStopsTellsWhatRunsAndWaits(t *testing.T) {
	log := write(t, "a.swf", swf("0 100 4 100", "10 100 3 200", "20 50 2 60"))
	got := succeed(t, "simulate", log, "--procs", "5", "--policy", "fcfs,conservative", "--until", "20", "--format", "csv")
	require.Equal(t, "policy,time,events,running,busy_processors,waiting,queued_processors\n", got.stdout[:strings.Index(got.stdout, "\n")+1])
	require.Contains(t, got.stdout, "fcfs,20,")
	require.Contains(t, got.stdout, ",1,4,2,5\n")

	got = call("simulate", log, "--procs", "5", "--policy", "conservative", "--until", "20s", "--format", "json")
	var looks []struct{ Jobs []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &looks))
	require.Equal(t, []map[string]any{
		{"job_id": 1., "state": "running", "submission_time": 0., "requested_number_of_resources": 4., "starting_time": 0., "until": 100.},
		{"job_id": 2., "state": "reserved", "submission_time": 10., "requested_number_of_resources": 3., "starting_time": 100., "until": 300.},
		{"job_id": 3., "state": "reserved", "submission_time": 20., "requested_number_of_resources": 2., "starting_time": 100., "until": 160.},
	}, looks[0].Jobs)
	// Before anything happens, nothing runs; the instant itself counts.
	require.Contains(t, call("simulate", log, "--procs", "5", "--policy", "fcfs", "--until", "9.9", "--format", "csv").stdout, ",1,4,0,0\n")
	require.Contains(t, call("simulate", log, "--procs", "5", "--policy", "fcfs", "--until", "10", "--format", "csv").stdout, ",1,4,1,3\n")
}

// Where Slurm decides there is no metascheduler to ask: it had told that nothing runs and nothing waits.
func TestWhatRunsAndWaitsUnderSlurmIsTold(t *testing.T) {
	got := succeed(t, "simulate", "--slurm", slurmFolder(t), "--until", "160", "--format", "json")
	var looks []map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &looks))
	jobs := looks[0]["jobs"].([]any)
	require.Equal(t, []any{2., 2., 2., 4.}, []any{looks[0]["running"], looks[0]["busy_processors"], looks[0]["waiting"], float64(len(jobs))})
	require.Equal(t, map[string]any{
		"job_id": 3., "state": "running", "submission_time": 3., "requested_number_of_resources": 1., "starting_time": 153., "until": 213.,
	}, jobs[0])
	for i, id := range []float64{3, 6, 5, 7} {
		require.Equal(t, id, jobs[i].(map[string]any)["job_id"])
	}
}

// An advance reservation that lies ahead is told behind the jobs that wait: it is in no queue.
func TestAdvanceReservationsAheadAreTold(t *testing.T) {
	log := write(t, "a.swf", swf("0 100 4 100", "10 100 3 200"))
	booked := write(t, "booked.csv", "job_id,submit,start,processors,duration,runtime\n9,5,400,2,50,50\n")
	var looks []struct {
		Running, Waiting int
		Jobs             []map[string]any
	}
	for until, waiting := range map[string]int{"4": 0, "20": 2, "400": 0} {
		got := succeed(t, "simulate", log, "--procs", "5", "--policy", "fcfs", "--reservations", booked, "--until", until, "--format", "json")
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &looks))
		require.Equal(t, []int{1, waiting}, []int{looks[0].Running, looks[0].Waiting}, until)
		require.Len(t, looks[0].Jobs, 1+waiting)
		if last := looks[0].Jobs[waiting]; waiting > 0 {
			require.Equal(t, map[string]any{"job_id": 9., "state": "reserved", "submission_time": 5., "requested_number_of_resources": 2., "starting_time": 400., "until": 450.}, last)
		}
	}
}

func TestASavedRunThatCannotGoOnSaysWhy(t *testing.T) {
	log := write(t, "a.swf", smallTrace)
	dir := t.TempDir()
	file := filepath.Join(dir, "saved.json")
	save := []string{"simulate", log, "--policy", "easy", "--until", "1", "--save", file}
	require.Zero(t, call(save...).code)
	good := read(t, file)
	other := func(text string) string {
		path := filepath.Join(dir, "other.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	for text, want := range map[string]string{
		"":         "this is no saved run",
		"[1]":      "this is no saved run",
		"{}":       `want a file that simulate --save has written, in which "format" is "gridslot saved simulation"`,
		good[:300]: "this is no saved run: line ",
		smallTrace: "this is no saved run: line 1",
		strings.Replace(good, `"layout": 1`, `"layout": 2`, 1):           "the saved run has the layout 2, and this gridslot reads layout 1",
		strings.Replace(good, `"until": "1"`, `"until": "2"`, 1):         "damaged, or somebody has changed it",
		strings.Replace(good, `"policy": "easy"`, `"policy": "fcfs"`, 1): "damaged, or somebody has changed it",
		strings.Replace(good, `"sha256": "`, `"sha256": "0`, 1):          "damaged, or somebody has changed it",
	} {
		got := exits(t, exitFailed, "simulate", "--resume", other(text))
		require.Contains(t, got.stderr, want)
		require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
		require.Empty(t, got.stdout)
	}
	for want, args := range map[string][]string{
		"no such file":         {"--resume", filepath.Join(dir, "none")},
		"is no file: want one": {"--resume", dir},
		"a run that was saved at 1 cannot stop at 0":         {"--resume", file, "--until", "0"},
		"which saving it would replace: choose another file": {log, "--until", "1", "--save", log},
		"comes from standard input cannot be saved":          {"-", "--procs", "10", "--until", "1", "--save", filepath.Join(dir, "new")},
	} {
		got := exits(t, exitFailed, append([]string{"simulate"}, args...)...)
		require.Contains(t, got.stderr, want)
	}
	require.NoFileExists(t, filepath.Join(dir, "new"))
	for want, args := range map[string][]string{
		"--save needs --until":                   {log, "--save", file},
		"--until needs a time":                   {log, "--until", ""},
		"so that nothing goes to --out":          {log, "--until", "1", "--out", dir},
		"whose workload cannot be another one":   {log, "--resume", file},
		"as it has begun: leave --policy out":    {"--resume", file, "--policy", "fcfs"},
		"as it has begun: leave --from-manifest": {"--resume", file, "--from-manifest", dir},
		"--resume needs the name of a file":      {"--resume", ""},
		"--until":                                {log, "--until", "soon"},
	} {
		got := exits(t, exitUsage, append([]string{"simulate"}, args...)...)
		require.Contains(t, got.stderr, want)
	}
	require.Equal(t, good, read(t, file))

	require.NoError(t, os.WriteFile(log, []byte(strings.Replace(smallTrace, " 10 ", " 11 ", 1)), 0o600))
	got := exits(t, exitFailed, "simulate", "--resume", file)
	require.Contains(t, got.stderr, "is not the log that the run had: it has been changed since")
}
