package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// usersLog is a log of 15 weeks: user 1 runs a job every week and looks at the result
// before the next; user 2 is there once.
func usersLog(t *testing.T, wait string) string {
	var b strings.Builder
	b.WriteString("; MaxProcs: 8\n; UnixStartTime: 1000000000\n; Queue: 3 long\n")
	id := 0
	add := func(user, submit, run int) {
		id++
		fmt.Fprintf(&b, "%d %d %s %d 4 -1 -1 4 3600 -1 1 %d 1 7 3 -1 -1 -1\n", id, submit, wait, run, user)
	}
	for week := range 15 {
		at := week * 7 * 86400
		add(1, at+100, 600)
		add(1, at+850, 60)
		if week == 4 {
			add(2, at+90000, 500)
		}
	}
	return write(t, "log.swf", b.String())
}

func TestUsersOfALogAreTold(t *testing.T) {
	log := usersLog(t, "50")
	got := succeed(t, "trace", "info", log, "--users")
	require.Contains(t, got.stdout, "2: 1 long-term (12 weeks or more), 1 temporary")
	require.Contains(t, got.stdout, "quartiles 100, 100, 100 s")
	require.Contains(t, got.stdout, "15 jobs wait for others, 0 of them for more than one")

	rows, err := csv.NewReader(strings.NewReader(call("trace", "info", log, "--users", "--format", "csv").stdout)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 3)
	require.Equal(t, "user,jobs,sessions,batches,waiting_jobs,median_think,median_session,first_submission,last_submission,weeks,processor_hours,share_of_work,tenure", strings.Join(rows[0], ","))
	require.Equal(t, "1,30,15,30,15,100,750,100,8468050,15,11", strings.Join(rows[1][:11], ","))
	require.Equal(t, []string{"2", "temporary"}, []string{rows[2][0], rows[2][12]})

	var facts struct {
		Trace    string `json:"trace"`
		Sessions int    `json:"sessions"`
		ByUser   []struct {
			Tenure string `json:"tenure"`
		} `json:"by_user"`
	}
	require.NoError(t, json.Unmarshal([]byte(call("trace", "info", log, "--users=break=gap:limit=10m", "--format", "json").stdout), &facts))
	require.Equal(t, "log.swf", facts.Trace)
	require.Equal(t, 31, facts.Sessions, "750 s are longer than 10 minutes")
	require.Equal(t, "long-term", facts.ByUser[0].Tenure)
}

func TestALogWithoutWaitsNeedsAWordOnThem(t *testing.T) {
	log := usersLog(t, "-1")
	for args, with := range map[string]string{
		"info " + log + " --users":                        "info " + log + " --users=no-wait=on",
		"convert feedback:from=" + log + " -":             "convert feedback:no-wait=on:from=" + log + " -",
		"convert resample:feedback=on:from=" + log + " -": "convert resample:no-wait=on:feedback=on:from=" + log + " -",
	} {
		got := exits(t, exitFailed, append([]string{"trace"}, strings.Fields(args)...)...)
		require.Contains(t, got.stderr, "log.swf: job 1 has no wait (field 3)")
		require.Contains(t, got.stderr, "no-wait")
		require.Equal(t, exitOK, call(append([]string{"trace"}, strings.Fields(with)...)...).code, with)
	}
	require.Equal(t, exitOK, call("trace", "convert", "resample:from="+log, "-").code, "nobody needs them there")
}

func TestFeedbackIsWrittenAndSimulated(t *testing.T) {
	log := usersLog(t, "50")
	linked := filepath.Join(t.TempDir(), "linked.swf.gz")
	require.Equal(t, exitOK, call("trace", "convert", "feedback:from="+log, linked).code)
	got := call("trace", "convert", "feedback:across=on:from="+log, "-")
	require.Contains(t, got.stdout, "trace convert feedback:across=on:from=")
	require.Contains(t, got.stdout, "\n2 850 50 60 4 -1 -1 4 3600 -1 1 1 1 7 3 -1 1 100\n")
	require.Contains(t, got.stdout, "\n3 604900 50 600 4 -1 -1 4 3600 -1 1 1 1 7 3 -1 2 603940\n")
	require.NotContains(t, call("trace", "convert", "feedback:from="+log, "-").stdout, " 603940\n")

	// Without the waits of 50 s everybody who waits for results comes 50 s sooner.
	out := ran(t, linked, "--feedback", "--policy", "easy")
	jobs, err := os.ReadFile(filepath.Join(out, "jobs-easy.csv"))
	require.NoError(t, err)
	require.Contains(t, string(jobs), "\n2,linked.swf.gz,60,800,")
	require.Equal(t, exitOK, call("validate", filepath.Join(out, "jobs-easy.csv"), linked).code)
}

// A batch of two, of which the second ends first in the log and last in the simulation,
// and one of two that waits for both.
func TestASourceHasUsersWaitForAllJobsOfABatch(t *testing.T) {
	log := write(t, "log.swf", `; MaxProcs: 4
1 0 0 100 4 -1 -1 4 200 -1 1 1 1 -1 -1 -1 -1 -1
2 10 0 50 4 -1 -1 4 200 -1 1 1 1 -1 -1 -1 -1 -1
3 160 0 10 2 -1 -1 2 200 -1 1 1 1 -1 -1 -1 -1 -1
4 165 0 10 2 -1 -1 2 200 -1 1 1 1 -1 -1 -1 -1 -1
`)
	came := func(trace string, args ...string) (submissions []string) {
		out := ran(t, append([]string{trace, "--policy", "easy"}, args...)...)
		succeed(t, "validate", filepath.Join(out, "jobs-easy.csv"), trace)
		jobs, err := os.ReadFile(filepath.Join(out, "jobs-easy.csv"))
		require.NoError(t, err)
		rows, err := csv.NewReader(strings.NewReader(string(jobs))).ReadAll()
		require.NoError(t, err)
		submit, after := slices.Index(rows[0], "submission_time"), slices.Index(rows[0], "after")
		for _, row := range rows[1:] {
			if after < 0 {
				submissions = append(submissions, row[submit])
			} else {
				submissions = append(submissions, row[submit]+": "+row[after])
			}
		}
		return submissions
	}
	source := "feedback:from=" + log
	// Job 2 runs from 100 to 150 on 4 processors. The log has it end before job 1.
	require.Equal(t, []string{"0", "10", "160", "165"}, came(source))
	require.Equal(t, []string{"0: ", "10: ", "210: 1+60 2+60", "215: 3:submitted+5"}, came(source+":batch=whole", "--feedback"))
	require.Equal(t, []string{"0: ", "10: ", "210: 1+60 2+60", "215: 3:submitted+5"}, came(source, "--feedback"))
	linked := filepath.Join(t.TempDir(), "linked.swf")
	require.Equal(t, exitOK, call("trace", "convert", "feedback:batch=whole:from="+log, linked).code)
	require.Equal(t, []string{"0: ", "10: ", "160: 1+60", "165: 1+65"}, came(linked, "--feedback"), "the file names one")

	for args, wrong := range map[string]string{
		"feedback":                         "want the path of a log",
		source + ":batch=none":             `batch is "none": want previous or whole`,
		"resample:feedback=yes:from=x":     `feedback is "yes": want on, all or off`,
		"feedback:from=" + log + "x":       "no such file",
		"feedback:from=" + log + ":all=on": `feedback does not take "all"`,
	} {
		got := call("simulate", args, "--feedback")
		require.NotEqual(t, exitOK, got.code)
		require.Contains(t, got.stderr, wrong, args)
	}
	got := exits(t, exitFailed, "simulate", "feedback:from="+usersLog(t, "-1"), "--feedback")
	require.Contains(t, got.stderr, "job 1 has no wait")
	require.Equal(t, exitOK, call("simulate", "feedback:no-wait=on:from="+usersLog(t, "-1"), "--feedback").code)
}

func TestResampledUsersWaitForWholeBatchesWhereThatIsAskedFor(t *testing.T) {
	var b strings.Builder
	b.WriteString("; MaxProcs: 4\n")
	for week := range 14 { // a batch of two, and one behind it
		at := week * 7 * 86400
		fmt.Fprintf(&b, "%d %d 0 100 4 -1 -1 4 200 -1 1 1 1 -1 -1 -1 -1 -1\n", 3*week+1, at)
		fmt.Fprintf(&b, "%d %d 0 50 4 -1 -1 4 200 -1 1 1 1 -1 -1 -1 -1 -1\n", 3*week+2, at+10)
		fmt.Fprintf(&b, "%d %d 0 10 2 -1 -1 2 200 -1 1 1 1 -1 -1 -1 -1 -1\n", 3*week+3, at+160)
	}
	log := write(t, "log.swf", b.String())
	for feedback, want := range map[string]string{"on": "604960,", "all": "605010,"} {
		out := t.TempDir()
		source := "resample:from=" + log + ":weeks=2:users=1:batch=whole:feedback=" + feedback
		succeed(t, "simulate", source, "--feedback", "--policy", "fcfs", "--out", out)
		jobs, err := os.ReadFile(filepath.Join(out, "jobs-fcfs.csv"))
		require.NoError(t, err)
		require.Contains(t, string(jobs), "\n6,"+source+",10,"+want)
		require.Equal(t, exitOK, call("validate", filepath.Join(out, "jobs-fcfs.csv"), source).code)
	}
}

func TestUsersAreResampledToAFileAndAsASource(t *testing.T) {
	log := usersLog(t, "50")
	file := filepath.Join(t.TempDir(), "new.swf")
	succeed(t, "trace", "convert", "resample:weeks=30:users=6:feedback=on:from="+log, file, "--seed", "4")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "; MaxProcs: 8\n; UnixStartTime: 1000000000\n")
	require.Contains(t, string(text), "; Queue: 3 long\n")
	require.Contains(t, string(text), "trace convert resample:weeks=30:users=6:feedback=on:from=")

	a, b := t.TempDir(), t.TempDir()
	require.Equal(t, exitOK, call("simulate", file, "--feedback", "--policy", "easy", "--out", a).code)
	source := "resample:from=" + log + ":weeks=30:users=6:feedback=on"
	succeed(t, "simulate", source, "--feedback", "--policy", "easy", "--seed", "4", "--out", b)
	column := func(dir string) (columns []string) { // without the workload's name
		f, err := os.Open(filepath.Join(dir, "jobs-easy.csv"))
		require.NoError(t, err)
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		require.Greater(t, len(rows), 100)
		for _, row := range rows[1:] {
			columns = append(columns, strings.Join(append(row[:1:1], row[2:]...), ","))
		}
		return columns
	}
	require.Equal(t, column(a), column(b))
	other := ran(t, source, "--feedback", "--policy", "easy", "--seed", "5")
	require.NotEqual(t, column(b), column(other))
}

func TestAsManyUsersAreTakenAsOfferALoad(t *testing.T) {
	log := usersLog(t, "50")
	load := func(param string) float64 {
		total := 0.0
		for seed := range 12 {
			file := filepath.Join(t.TempDir(), "new.swf")
			require.Equal(t, exitOK, call("trace", "convert", "resample:weeks=40:"+param+":from="+log, file, fmt.Sprint("--seed=", seed)).code)
			var info struct {
				Load float64 `json:"offered_load"`
			}
			require.NoError(t, json.Unmarshal([]byte(call("trace", "info", file, "--format", "json").stdout), &info))
			total += info.Load / 12
		}
		return total
	}
	require.InDelta(t, 0.1, load("load=0.1"), 0.01)
}

func TestWhatMakesNoSenseOfUsersIsWrongUsage(t *testing.T) {
	log := usersLog(t, "50")
	for args, want := range map[string]string{
		"trace convert resample:users=0:from=" + log + " -":        "1 or more",
		"trace convert resample:weeks=0:from=" + log + " -":        "1 or more",
		"trace convert resample:load=0:from=" + log + " -":         "a number above 0",
		"trace convert resample:load=1:users=3:from=" + log + " -": "not beside users",
		"trace convert resample:long-term=0:from=" + log + " -":    "1 or more",
		"trace info " + log + " --users=top=-1":                    "1 or more",
		"trace info " + log + " --users=long-term=0":               "1 or more",
		"trace info " + log + " --users=limit=0":                   "a time above 0",
		"trace convert feedback:batch=other:from=" + log + " -":    "previous or whole",
		"trace convert feedback:from=" + log + " " + log:           "overwrite itself",
		"simulate resample:users=3":                                "from=log.swf.gz",
		"simulate resample:from=" + log + ":begin=sometime":        "staggered or together",
		"simulate resample:from=" + log + ":load=1:users=2":        "not beside users",
		"simulate resample:from=" + log + ":break=gap:limit=x":     "limit",
		"simulate resample:from=" + log + ":feedback=sometimes":    "on, all or off",
	} {
		got := exits(t, exitUsage, strings.Fields(args)...)
		require.Contains(t, got.stderr, want, args)
	}
	got := exits(t, exitFailed, "trace", "convert", "resample:weeks=999999999:from="+log, "-")
	require.Contains(t, got.stderr, "log.swf: a log can have 1 to 156000 weeks")
}

func TestAStudyKnowsTheLogBehindASource(t *testing.T) {
	log := usersLog(t, "50")
	dir := t.TempDir()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	beside := filepath.Join(dir, "log.swf")
	require.NoError(t, os.WriteFile(beside, text, 0o600))
	study := filepath.Join(dir, "study.yaml")
	require.NoError(t, os.WriteFile(study, []byte(`traces: ["resample:weeks={n}:from=log.swf:feedback=on"]
n: [20]
feedback: true
policies: easy
`), 0o600))
	results := filepath.Join(dir, "results")
	t.Setenv(asCommand, "1") // what a study's workers are
	got := succeed(t, "sweep", study, "--out", results, "--workers", "1")
	manifest, err := os.ReadFile(filepath.Join(results, "manifest.json"))
	require.NoError(t, err)
	require.Contains(t, string(manifest), `"log.swf"`)

	require.NoError(t, os.WriteFile(beside, []byte(strings.Replace(string(text), " 60 4 ", " 90 4 ", 1)), 0o600))
	got = succeed(t, "sweep", study, "--out", results, "--dry-run", "--workers", "1")
	require.Contains(t, got.stdout+got.stderr, "0 are done", "another log is another study")
}

// What the guide about users says of a real log.
func TestUsersWhoAlwaysWaitTurnAComparisonRound(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES does not name a folder of logs")
	}
	log := filepath.Join(dir, "KTH-SP2-1996-2.1-cln.swf.gz")
	if _, err := os.Stat(log); err != nil {
		t.Skip(err)
	}
	told := call("trace", "info", log, "--users")
	require.Contains(t, told.stdout, "8271, of 3.4 jobs; median length 170 s")
	require.Contains(t, told.stdout, "10530 jobs wait for others, 3607 of them for more than one")
	wait := func(args ...string) (easy, conservative float64) {
		got := succeed(t, append([]string{"simulate", "--policy=easy,conservative", "--procs=64", "--format=csv"}, args...)...)
		rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
		require.NoError(t, err)
		at := slices.Index(rows[0], "mean_wait")
		for i, to := range []*float64{&easy, &conservative} {
			*to, err = strconv.ParseFloat(rows[i+1][at], 64)
			require.NoError(t, err)
		}
		return easy / 3600, conservative / 3600
	}
	easy, conservative := wait(log)
	require.InDelta(t, 59.0, easy, 0.05)
	require.InDelta(t, 56.0, conservative, 0.05)
	across := filepath.Join(t.TempDir(), "across.swf.gz")
	require.Equal(t, exitOK, call("trace", "convert", "feedback:across=on:from="+log, across).code)
	easy, conservative = wait(across, "--feedback")
	require.InDelta(t, 6.35, easy, 0.005)
	require.InDelta(t, 6.97, conservative, 0.005)
	easy, conservative = wait("feedback:from="+log+":across=on:batch=whole", "--feedback")
	require.InDelta(t, 7.26, easy, 0.005)
	require.InDelta(t, 7.74, conservative, 0.005)
}
