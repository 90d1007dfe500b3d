package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Three processors: job 1 has two of them until 10, job 2 wants all three, job 3 one
// for 23 s, job 4 two for 4 s, job 5 is too large.
func explained(t *testing.T, args ...string) string {
	t.Helper()
	trace := write(t, "five.swf", "; MaxProcs: 3\n"+
		"1 0 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1\n"+
		"2 1 -1 5 3 -1 -1 3 5 -1 1 7 1 -1 -1 -1 -1 -1\n"+
		"3 2 -1 23 1 -1 -1 1 23 -1 1 8 1 -1 -1 -1 -1 -1\n"+
		"4 3 -1 4 2 -1 -1 2 4 -1 1 8 1 -1 -1 -1 -1 -1\n"+
		"5 4 -1 4 9 -1 -1 9 4 -1 1 8 1 -1 -1 -1 -1 -1\n")
	dir := filepath.Join(t.TempDir(), "results")
	succeed(t, append([]string{"simulate", trace, "--out", dir}, args...)...)
	return dir
}

func TestDecisionsAreWritten(t *testing.T) {
	dir := explained(t, "--policy", "easy,conservative", "--decisions")
	require.Equal(t, strings.Join([]string{
		"job_id,what,from,to,times,other_job,start,last_start,delay,short,text,blocker,blocker_job,blocker_from,blocker_to",
		"5,rejected,4,4,1,,,,,,wants 9 processors of a cluster of 3,,,,",
		"2,processors,1,10,1,,10,10,,,,job,1,0,10",
		"3,delay,2,10,1,2,10,10,15,,,,,,",
		"3,processors,10,15,1,,15,15,,,,job,2,10,15",
		"4,room,3,15,1,2,10,10,,,,job,1,0,10",
	}, "\n")+"\n", read(t, dir, "decisions-easy.csv"))
	require.Equal(t, strings.Join([]string{
		"job_id,what,from,to,times,other_job,start,last_start,delay,short,text,blocker,blocker_job,blocker_from,blocker_to",
		"5,rejected,4,4,1,,,,,,wants 9 processors of a cluster of 3,,,,",
		"2,processors,1,10,1,,10,10,,,,job,1,0,10",
		"3,processors,2,15,1,,15,15,,,,plan,2,10,15",
		"4,processors,3,15,1,,15,15,,,,plan,2,10,15",
	}, "\n")+"\n", read(t, dir, "decisions-conservative.csv"))
}

func TestDecisionsDoNotChangeOtherFiles(t *testing.T) {
	with, without := explained(t, "--decisions"), explained(t)
	for _, name := range files(t, without) {
		if strings.HasPrefix(name, "jobs-") || strings.HasPrefix(name, "queue-") {
			require.Equal(t, read(t, without, name), read(t, with, name), name)
		}
		require.NotContains(t, name, "decisions")
	}
}

func TestAJobIsExplained(t *testing.T) {
	dir := explained(t, "--policy", "easy,fcfs", "--decisions")
	o := succeed(t, "explain", dir, "3", "--policy", "easy")
	require.Equal(t, `job 3 under easy: 1 processor or node for 23 s at most, user 8
           2 s  submitted
           2 s  would have fitted, and would have delayed job 2 by 15 s, which was to start at 10 s
          10 s  too few processors or nodes were free before 15 s; job 2 ran, until then at most
          15 s  started, after waiting for 13 s
          38 s  finished
`, o.stdout)
	o = succeed(t, "explain", dir, "1")
	require.Contains(t, o.stdout, "job 1 under easy")
	require.Contains(t, o.stdout, "job 1 under fcfs")
	require.Contains(t, o.stdout, "0 s  started at once")
	o = call("explain", dir, "5", "--policy", "fcfs")
	require.Contains(t, o.stdout, "4 s  rejected: wants 9 processors of a cluster of 3")
	o = call("explain", dir, "4", "--policy", "fcfs")
	require.Contains(t, o.stdout, "jobs ahead of it had to start first, the first of them job 2")
}

func TestWhatCannotBeExplainedIsCode1AndSaysWhy(t *testing.T) {
	dir := explained(t, "--policy", "easy", "--decisions")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{dir, "77"}, 1, "there is no job 77 in the run of easy"},
		{[]string{dir, "1", "--policy", "fcfs"}, 1, `no run of "fcfs"`},
		{[]string{explained(t, "--policy", "easy"), "1"}, 1, "simulate again with --decisions"},
		{[]string{t.TempDir(), "1"}, 1, "holds no results"},
		{[]string{dir, "x"}, 2, "want the number of a job"},
		{[]string{dir, "1", "2"}, 2, "DIR [JOB]"},
	} {
		o := call(append([]string{"explain"}, test.args...)...)
		require.Equal(t, test.code, o.code, o.stderr)
		require.Contains(t, o.stderr, test.want)
	}
	o := exits(t, exitUsage, "simulate", "--decisions")
	require.Contains(t, o.stderr, "--out")
}

func TestALogOfDecisionsIsNoSettingOfAScenario(t *testing.T) {
	manifest := read(t, explained(t, "--decisions"), "manifest.json")
	_, settings, found := strings.Cut(manifest, `"settings"`)
	require.True(t, found)
	require.NotContains(t, settings, `"decisions":`)

	o := exits(t, exitFailed, "simulate", write(t, "it.yaml", "settings: {decisions: true}\n"))
	require.Contains(t, o.stderr, "decisions")
}

// On a grid the sites decide: each has a log, and a job is explained as a whole and by its
// parts.
func TestJobsOfAGridAreExplainedSiteBySite(t *testing.T) {
	log := write(t, "log.swf", swf("0 10 4 10", "1 10 4 10", "2 10 1 10", "3 5 2 5", "4 5 7 5"))
	grid := write(t, "grid.yaml", "clusters:\n- {name: a, processors: 4}\n- {name: b, processors: 2, local: own.swf}\n")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(grid), "own.swf"), []byte(swf("0 30 2 30", "0 8 1 8")), 0o666))
	dir := t.TempDir()
	o := succeed(t, "simulate", log, "--grid", grid, "--policy", "distributed", "--decisions", "--out", dir)
	require.Contains(t, files(t, dir), "decisions-distributed-a.csv")
	require.Contains(t, files(t, dir), "decisions-distributed-b.csv")
	require.NotContains(t, files(t, dir), "decisions-distributed.csv")
	require.Zero(t, call("validate", dir).code)
	o = succeed(t, "explain", dir, "2")
	require.Equal(t, `job 2 under distributed: 4 processors or nodes for 10 s at most, user 1
           1 s  submitted
          10 s  started, after waiting for 9 s
          20 s  finished

job 2 under distributed at a: 4 processors or nodes for 10 s at most, user 1
           1 s  submitted
           1 s  too few processors or nodes were free before 10 s; job 1 ran, until then at most
          10 s  started, after waiting for 9 s
          20 s  finished

job 2 under distributed at b: 1 processor or node for 8 s at most, user 1
           0 s  submitted
           0 s  too few processors or nodes were free before 30 s; job 1 ran, until then at most
          30 s  started, after waiting for 30 s
          38 s  finished
`, o.stdout)
	o = exits(t, exitFailed, "explain", dir, "6")
	require.Contains(t, o.stderr, "there is no job 6 in the run of distributed")

	require.Zero(t, call("simulate", log, "--grid", grid, "--policy", "distributed", "--out", dir).code)
	require.NotContains(t, files(t, dir), "decisions-distributed-a.csv", "it would tell of another run")
	o = exits(t, exitFailed, "explain", dir, "1")
	require.Contains(t, o.stderr, "simulate again with --decisions")
}

func TestAHostileLogOfDecisionsDoesNoHarm(t *testing.T) {
	dir := explained(t, "--policy", "easy", "--decisions")
	path := filepath.Join(dir, "decisions-easy.csv")
	require.NoError(t, os.WriteFile(path, []byte(read(t, path)+"1,other,0,0,1,,,,,,\x1b[31mred\x07,,,,\n"), 0o666))
	o := succeed(t, "explain", dir, "1")
	require.Contains(t, o.stdout, "?[31mred?")
	require.NotContains(t, o.stdout, "\x1b")
}

func TestSmallSchedulesAreDrawn(t *testing.T) {
	dir := explained(t, "--policy", "easy,fcfs")
	o := succeed(t, "explain", dir)
	require.Contains(t, o.stdout, "easy:\n  |..........BBBBBDDDD\n  |AAAAAAAAAABBBBBDDDD\n  |AAAAAAAAAABBBBBCCCCCCCCCCCCCCCCCCCCCCC\n")
	require.Contains(t, o.stdout, "fcfs:\n")
	require.Contains(t, o.stdout, "from 0 s on, a column is 1 s\n")
	o = succeed(t, "explain", dir, "--policy", "fcfs", "--width", "20")
	require.NotContains(t, o.stdout, "easy")
	require.Contains(t, o.stdout, "a column is 2 s")
	require.Equal(t, 2, call("explain", dir, "--width", "3").code)
	require.Equal(t, 1, call("explain", t.TempDir()).code)
	require.Equal(t, 1, call("explain", dir, "--policy", "no").code)
}

func TestALargeScheduleIsNotDrawnButSaysWhatToDo(t *testing.T) {
	dir := ran(t, "--policy", "easy", "--first", "3000")
	o := exits(t, exitFailed, "explain", dir)
	require.Empty(t, o.stdout)
	require.Contains(t, o.stderr, "bars of jobs are too many for a chart as text, which has at most 10000: name a job, as in gridslot explain "+dir+" 1, or look at the page of gridslot report "+dir)
}
