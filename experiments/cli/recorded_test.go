package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// threeRecorded is a log of a machine of 4 processors on which job 2 waited though there was
// room, and of which job 3 cannot start where it did: the log has 5 processors at work.
const threeRecorded = `; MaxProcs: 4
1 0 0 100 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1
2 10 40 100 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1
3 20 30 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1
`

func TestALogsOwnScheduleIsAPolicy(t *testing.T) {
	log, dir := write(t, "log.swf", threeRecorded), t.TempDir()
	o := succeed(t, "simulate", log, "--policy", "recorded,easy", "--out", dir, "--decisions")
	require.Contains(t, o.stderr, "recorded: 1 jobs start later than their log says, by 50 s at most (job 3)")
	rows := table(t, filepath.Join(dir, "jobs-recorded.csv"))
	for i, start := range []string{"0", "50", "100"} {
		require.Equal(t, start, rows[i]["starting_time"], "job %d", i+1)
	}
	require.Equal(t, "recorded", table(t, filepath.Join(dir, "summary.csv"))[0]["policy"])
	require.Zero(t, call("validate", dir).code)
	explained := succeed(t, "explain", dir, "2", "--policy", "recorded")
	require.Contains(t, explained.stdout, "its log has it start later")
	require.Contains(t, call("explain", dir, "3", "--policy", "recorded").stdout, "its log has it start by now, and too little is free")
}

// In the logs each job takes the whole machine and waits for 100 s or more; under any policy the
// second job alone waits, for 20 s or not at all.
func TestABaselineFarFromTheLogIsTold(t *testing.T) {
	header, row := "; MaxProcs: 4\n", " %s 100 20 4 -1 -1 4 20 -1 1 1 1 -1 1 -1 -1 -1\n"
	log := write(t, "log.swf", header+"1"+strings.Replace(row, "%s", "0", 1)+"2"+strings.Replace(row, "%s", "0", 1))
	o := succeed(t, "simulate", log, "--policy", "easy,recorded")
	require.Contains(t, o.stderr, "easy: the mean wait is 10 s, and 110 s in the log's own schedule")
	log = write(t, "log.swf", header+"1"+strings.Replace(row, "%s", "0", 1)+"2"+strings.Replace(row, "%s", "20", 1))
	o = succeed(t, "simulate", log, "--policy", "fcfs,easy,recorded")
	require.Equal(t, 1, strings.Count(o.stderr, "in the log's own schedule"), o.stderr)
	dir := t.TempDir()
	alone := call("simulate", log, "--policy", "easy", "--out", dir)
	const told = "easy: the mean wait is 0 s, and 100 s in the log's own schedule (--policy recorded)"
	require.Contains(t, alone.stderr, told, "though recorded is not among the policies")
	require.Contains(t, read(t, dir, "manifest.json"), `"gap": "`+told)
	require.Zero(t, call("report", dir).code)
	require.Contains(t, strings.ReplaceAll(read(t, dir, "report.html"), "&#39;", "'"), told)
	for _, asked := range [][]string{{"--load", "0.5"}, {"--procs", "5"}, {"--outages", write(t, "o.csv", "from,to,processors\n5000,5001,1\n")}} {
		o := succeed(t, append([]string{"simulate", log, "--policy", "easy"}, asked...)...)
		require.NotContains(t, o.stderr, "own schedule", "what is changed on purpose is no gap: %v", asked)
	}
	log = write(t, "log.swf", header+"1 0 0 2000 4 -1 -1 4 2000 -1 1 1 1 -1 1 -1 -1 -1\n2 0 2200 20 4 -1 -1 4 20 -1 1 1 1 -1 1 -1 -1 -1\n")
	require.NotContains(t, call("simulate", log, "--policy", "easy,recorded").stderr, "own schedule", "1000 s and 1100 s")
	near := write(t, "log.swf", threeRecorded)
	require.NotContains(t, call("simulate", near, "--policy", "easy,recorded").stderr, "own schedule")
}

func TestARecordedScheduleHasNoOtherLoad(t *testing.T) {
	o := exits(t, exitUsage, "simulate", write(t, "log.swf", threeRecorded), "--policy", "easy,recorded", "--load", "0.5")
	require.Contains(t, o.stderr, "recorded repeats the log's own starts, which have no meaning at another load")
}

func TestJobsWithoutARecordedStartCanBeLeftOut(t *testing.T) {
	log := write(t, "log.swf", threeRecorded+"4 30 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n")
	o := exits(t, exitFailed, "simulate", log, "--policy", "easy,recorded", "--workers", "1")
	require.Contains(t, o.stderr, "job 4: its log does not tell how long it waited")
	require.Contains(t, o.stderr, "finished and kept: easy")
	o = succeed(t, "simulate", log, "--policy", "easy,recorded", "--where", "wait >= 0")
}
