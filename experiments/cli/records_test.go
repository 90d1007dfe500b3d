package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// columnsOf reads a CSV file as maps from its columns.
func columnsOf(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func TestTheFilesOfARunWithFailuresAgreeAndAreValid(t *testing.T) {
	out := t.TempDir()
	got := call("simulate", "--first", "600", "--policy", "fcfs,easy,conservative", "--out", out,
		"--outages", "exponential:mtbf=10d:repair=4h", "--victims", "checkpoint:interval=1h:cost=60s:restart=30s")
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stdout, "capacity %")
	summaries := columnsOf(t, filepath.Join(out, "summary.csv"))
	for i, c := range columnsOf(t, filepath.Join(out, "capacity.csv")) {
		busy := number(t, c["useful"]) + number(t, c["lost"]) + number(t, c["overhead"])
		all := busy + number(t, c["owners"]) + number(t, c["down"]) + number(t, c["idle"])
		require.InDelta(t, number(t, c["capacity"]), all, 1e-3)
		require.InDelta(t, number(t, summaries[i]["utilization"]), busy/all, 1e-9)
		lost := 0.0
		for _, a := range columnsOf(t, filepath.Join(out, "attempts-"+c["policy"]+".csv")) {
			lost += number(t, a["lost"]) * number(t, a["processors"])
		}
		require.Positive(t, lost)
		require.InDelta(t, number(t, c["lost"]), lost, 1e-3)
		area, before, busyNow := 0.0, 0.0, 0.0
		for _, q := range columnsOf(t, filepath.Join(out, "queue-"+c["policy"]+".csv")) {
			area += busyNow * (number(t, q["time"]) - before)
			before, busyNow = number(t, q["time"]), number(t, q["busy_processors"])
		}
		require.InDelta(t, busy, area, 1e-2)
		got = call("validate", filepath.Join(out, "jobs-"+c["policy"]+".csv"), "--first", "600")
		require.Zero(t, got.code, got.stdout)
	}
}

func TestWhatTheFilesOfARunWithFailuresHideIsFound(t *testing.T) {
	run := t.TempDir()
	got := call("simulate", "--first", "300", "--policy", "easy", "--out", run, "--outages", "exponential:mtbf=10d:repair=8h", "--victims", "checkpoint:interval=1h:cost=60s")
	require.Zero(t, got.code, got.stderr)
	for name, c := range map[string]struct {
		file string
		bend func([]string) []string // of the lines
		want string
	}{
		"an attempt is left out": {"attempts-easy.csv", func(lines []string) []string { return append(lines[:1:1], lines[2:]...) }, "attempt"},
		"more is kept": {"attempts-easy.csv", func(lines []string) []string {
			fields := strings.Split(lines[1], ",")
			fields[6] += "1"
			lines[1] = strings.Join(fields, ",")
			return lines
		}, "wrong run time"},
		"an attempt begins before the one in front of it has ended": {"attempts-easy.csv", func(lines []string) []string {
			for i := len(lines) - 1; i > 0; i-- {
				if fields := strings.Split(lines[i], ","); len(fields) > 2 && fields[1] == "2" {
					fields[2] = "0"
					lines[i] = strings.Join(fields, ",")
					return lines
				}
			}
			panic("no job ran twice")
		}, "two jobs on one processor"},
		"all is out of service": {"outages-easy.csv", func(lines []string) []string { return append(lines, "0,100000000,100,0-99,0,") }, "on what is down"},
		"a processor is":        {"outages-easy.csv", func(lines []string) []string { return append(lines, "0,100000000,1,3,0,") }, "on what is down"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range files(t, run) {
				text, err := os.ReadFile(filepath.Join(run, file))
				require.NoError(t, err)
				if file == c.file {
					lines := c.bend(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"))
					text = []byte(strings.Join(lines, "\n") + "\n")
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), text, 0o644))
			}
			got := call("validate", filepath.Join(dir, "jobs-easy.csv"), "--first", "300")
			require.Equal(t, exitFailed, got.code, got.stdout)
			require.Contains(t, got.stdout, c.want)
		})
	}
}

func TestAScheduleWithAdvanceReservationsIsValidWithThem(t *testing.T) {
	trace := write(t, "small.swf", swf("0 100 1 100", "1 60 2 100", "2 50 4 90", "3 10 1 10"))
	book := write(t, "book.csv", "job_id,submit,start,processors,duration\n100,5,300,3,50\n101,6,20,4,50\n")
	out := t.TempDir()
	got := call("simulate", trace, "--policy", "easy", "--reservations", book, "--out", out)
	require.Zero(t, got.code, got.stderr)
	jobs := filepath.Join(out, "jobs-easy.csv")
	got = call("validate", jobs, trace, "--reservations", book)
	require.Zero(t, got.code, got.stdout)
	require.Contains(t, got.stdout, "6 jobs")
	got = call("validate", jobs, trace)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stdout, "the trace has no such job")
	later := write(t, "later.csv", "job_id,submit,start,processors,duration\n100,5,301,3,50\n101,6,20,4,50\n")
	got = call("validate", jobs, trace, "--reservations", later)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stdout, "promise broken")
}

func TestJobsThatFollowOthersAreValidOffline(t *testing.T) {
	jobs := write(t, "chain.csv", "id,submit,nodes,volume,runtime,after\n1,0,2,50,40,\n2,0,1,30,30,1:ok+5\n3,0,4,60,100,\n4,1,1,10,10,3:ok\n")
	out := t.TempDir()
	got := call("simulate", jobs, "--procs", "4", "--policy", "easy", "--out", out)
	require.Zero(t, got.code, got.stderr)
	path := filepath.Join(out, "jobs-easy.csv")
	rows := columnsOf(t, path)
	require.Equal(t, []string{"", "1:ok+5", "", "3:ok"}, []string{rows[0]["after"], rows[1]["after"], rows[2]["after"], rows[3]["after"]})
	got = call("validate", path, jobs, "--procs", "4")
	require.Zero(t, got.code, got.stdout+got.stderr)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "1:ok+5", "3:ok+5", 1)), 0o644))
	got = call("validate", path, jobs, "--procs", "4")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.stdout, "before its turn")
}
