package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shellWords are those of a command line as a shell reads it.
func shellWords(t *testing.T, line string) (all []string) {
	t.Helper()
	word, inside, quoted := "", false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted, inside = !quoted, true
		case quoted:
			word += string(c)
		case c == ' ':
			if inside {
				all = append(all, word)
			}
			word, inside = "", false
		case c == '\\':
			i++
			word, inside = word+string(line[i]), true
		default:
			word, inside = word+string(c), true
		}
	}
	require.False(t, quoted, line)
	return append(all, word)
}

var noteLine = regexp.MustCompile(`(?m)^; Note: gridslot \S+ (trace convert.*)$`)

// messy is a log with two flurries, three users, names, and ten days.
func messy(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("; Version: 2.2\n; Acknowledge: Jane Doe\n; MaxProcs: 16\n; MaxJobs: 160\n; UnixStartTime: 843480031\n; TimeZoneString: Europe/Stockholm\n; Queue: 1 debug\n; Queue: 2 batch\n; Note: by John's hand\n")
	job := 0
	add := func(submit, procs, status, user, queue int) {
		job++
		fmt.Fprintf(&b, "%d %d 5 %d %d -1 -1 %d 600 -1 %d %d %d -1 %d 1 %d -1\n", job, submit, 60+job%7*50, procs, procs, status, user, 5+user%2, queue, max(job-3, -1))
	}
	for i := range 100 {
		add(i*8640, 1+i%9, []int{1, 1, 0, 5}[i%4], 10+i%3, 1+i%2)
	}
	for i := range 60 {
		add(864000+i*10, 2, 1, 374, 2)
	}
	path := filepath.Join(t.TempDir(), "messy.swf")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
	return path
}

func TestWhatTheHeaderSaysRepeatsACleaning(t *testing.T) {
	log := messy(t)
	key := filepath.Join(t.TempDir(), "KEYFILE")
	require.NoError(t, os.WriteFile(key, []byte("sixteen bytes and more"), 0o600))
	t.Chdir(filepath.Dir(key))
	for _, steps := range [][][]string{
		{{"--where", "not (user == 11 and status != 'completed') or procs in [1, 2]"}},
		{{"--where", `queue == "debug" and group matches '^x|y$' or id > 3`, "--first=90"}, {"--flurries=jobs=30:within=1h"}},
		{{"--after", "1996-09-24", "--before=1996-10-01T12:00:00", "--shift"}, {"--skip", "3", "--load", "0.5"}},
		{{"--flurries", "--whole-weeks", "--sort"}},
		{{"--anonymise", "--drop-lines", "Acknowledge,Note"}, {"--anonymise=users,queues", "--key", "KEYFILE"}},
	} {
		from := log
		for i, flags := range steps {
			to := fmt.Sprintf("step%d.swf", i)
			succeed(t, append([]string{"trace", "convert", from, to}, flags...)...)
			from = to
		}
		want, err := os.ReadFile(from)
		require.NoError(t, err)
		notes := noteLine.FindAllStringSubmatch(string(want), -1)
		require.Len(t, notes, len(steps))
		from = log
		for i, note := range notes {
			to := fmt.Sprintf("again%d.swf", i)
			succeed(t, append(shellWords(t, note[1]), from, to)...)
			from = to
		}
		again, err := os.ReadFile(from)
		require.NoError(t, err)
		require.Equal(t, string(want), string(again))
	}
}

func TestWhatIsLeftOutIsTold(t *testing.T) {
	log := messy(t)
	got := succeed(t, "trace", "convert", log, "-", "--where", "user != 10", "--flurries=jobs=50:within=1h", "--after=8640")
	require.Equal(t, `messy.swf: --where leaves out 34 records
messy.swf: --after, --before leaves out 0 records
messy.swf: --flurries leaves out 60 records
  60 jobs of user 374 from 864000 s to 864590 s, numbers 101 to 160, the first one of 2 processors
`, got.stderr)
	require.Equal(t, 66, strings.Count(got.stdout, "\n")-strings.Count(got.stdout, ";"))
}

func TestAnAnonymousLogHasTheSameSchedule(t *testing.T) {
	log := messy(t)
	dir := t.TempDir()
	anonymous := filepath.Join(dir, "anonymous.swf")
	succeed(t, "trace", "convert", log, anonymous, "--anonymise", "--key=random", "--drop-lines=Acknowledge,Note")
	text, err := os.ReadFile(anonymous)
	require.NoError(t, err)
	for _, name := range []string{"Jane", "John", "debug", "batch"} {
		require.NotContains(t, string(text), name)
	}
	require.NotContains(t, string(text), " 374 ")
	times := func(trace, out string) (all []string) {
		succeed(t, "simulate", trace, "--policy", "easy", "--out", filepath.Join(dir, out), "--procs=8")
		for _, row := range table(t, filepath.Join(dir, out), "jobs-easy.csv") {
			all = append(all, row["job_id"]+" "+row["starting_time"]+" "+row["finish_time"])
		}
		return all
	}
	require.Equal(t, times(log, "a"), times(anonymous, "b"))
}

func TestAFilterOfSimulateIsThatOfConvert(t *testing.T) {
	log := messy(t)
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.swf")
	const filter = "user in 11..12 and (queue == 'batch' or hour < 12)"
	got := succeed(t, "trace", "convert", log, kept, "--where", filter)
	want := succeed(t, "simulate", kept, "--policy=easy", "--format=csv")
	seconds := regexp.MustCompile(`,[0-9.]+(,0,[0-9.]+\n)$`) // of CPU, which differ
	withoutSeconds := func(csv string) string { return seconds.ReplaceAllString(csv, "$1") }
	got = succeed(t, "simulate", log, "--policy=easy", "--format=csv", "--where", filter, "--out", filepath.Join(dir, "out"))
	require.Equal(t, withoutSeconds(want.stdout), withoutSeconds(got.stdout))
	manifest, err := os.ReadFile(filepath.Join(dir, "out", "manifest.json"))
	require.NoError(t, err)
	require.Contains(t, string(manifest), `"reason": "filtered"`)

	file := filepath.Join(dir, "scenario.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "workload:\n  trace: %s\n  where: %q\npolicies: [easy]\n", log, filter), 0o666))
	got = succeed(t, "simulate", file, "--format=csv")
	require.Equal(t, withoutSeconds(want.stdout), withoutSeconds(got.stdout))

	got = succeed(t, "validate", filepath.Join(dir, "out", "jobs-easy.csv"), log)
	require.Contains(t, got.stderr, "the run was made with --where="+filter)
	got = exits(t, exitFailed, "validate", filepath.Join(dir, "out", "jobs-easy.csv"), log, "--scenario", settingsFile(t, "--where=procs == 1"))
	got = succeed(t, "validate", filepath.Join(dir, "out", "jobs-easy.csv"), log, "--scenario", settingsFile(t, "--where="+filter))

	got = succeed(t, "trace", "info", log, "--where", filter)
	require.Contains(t, got.stdout, "left out: filtered as asked")
}

func TestAStudyCanComparePartsOfALog(t *testing.T) {
	dir := t.TempDir()
	study := filepath.Join(dir, "study.yaml")
	require.NoError(t, os.WriteFile(study, fmt.Appendf(nil, "traces: [%s]\npolicies: [fcfs, easy]\nwhere: [\"user == 10\", \"user != 10\", \"\"]\n", messy(t)), 0o666))
	got := swept(t, study, "--out", filepath.Join(dir, "out"))
	require.Zero(t, got.code, got.stderr)
	rows := table(t, filepath.Join(dir, "out"), "results.csv")
	jobs := map[string]string{}
	for _, row := range rows {
		jobs[row["where"]] = row["jobs"]
	}
	require.Len(t, rows, 6)
	require.Equal(t, map[string]string{"user == 10": "34", "user != 10": "126", "": "160"}, jobs)
}

func TestALogIsSplitAndMerged(t *testing.T) {
	log := messy(t)
	dir := t.TempDir()
	t.Chdir(dir)
	got := succeed(t, "trace", "convert", log, "users", "--by", "user")
	require.Equal(t, "users/messy-user-10.swf\t34\nusers/messy-user-11.swf\t33\nusers/messy-user-12.swf\t33\nusers/messy-user-374.swf\t60\n", filepath.ToSlash(got.stdout))
	part, err := os.ReadFile(filepath.Join("users", "messy-user-374.swf"))
	require.NoError(t, err)
	require.Contains(t, string(part), "; MaxJobs: 60\n")
	require.Contains(t, string(part), " trace convert --by=user # user-374\n")
	got = succeed(t, "trace", "convert", "users/messy-user-11.swf", "users/messy-user-374.swf", "users/messy-user-12.swf", "users/messy-user-10.swf", "again.swf")
	records := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text[strings.Index(string(text), "\n1 "):])
	}
	require.Equal(t, records(log), records("again.swf"))
	text, err := os.ReadFile("again.swf")
	require.NoError(t, err)
	require.Contains(t, string(text), "; MaxJobs: 160\n")
	require.Contains(t, string(text), "; Queue: 1 debug\n; Queue: 2 batch\n")

	got = exits(t, exitFailed, "trace", "convert", log, "users", "--by", "user")
	require.Contains(t, got.stderr, "users is not empty")
	require.NoError(t, os.Mkdir("empty", 0o777))
	got = succeed(t, "trace", "convert", log, "empty", "--by=3")
	got = call("trace", "convert", log, "each", "--by=160") // more files than are open at a time
	require.Zero(t, got.code, got.stderr)
	each, err := filepath.Glob("each/*.swf")
	require.NoError(t, err)
	require.Len(t, each, 160)
	got = succeed(t, append(append([]string{"trace", "convert"}, each...), "again.swf")...)
	require.Equal(t, records(log), records("again.swf"))
	got = succeed(t, "trace", "convert", log, log, "double.swf", "--apart=users")
	got = call("trace", "info", "double.swf", "--where", "user > 374")
	require.Contains(t, got.stdout, "160 of 320 lines")
}

func TestWhatCannotBeSplitLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("bad.swf", []byte("1 0 -1 1 1 -1 -1 1 1 -1 1 1 1 1 1 1 -1 -1\nbroken\n"), 0o666))
	for _, args := range [][]string{
		{"split", "bad.swf", "--by=user", "--out=out", "--strict"},
		{"split", "bad.swf", "--by=colour", "--out=out"},
		{"split", "bad.swf", "--by=2", "--out=out", "--where=false"},
		{"split", "bad.swf", "--out=out"},
		{"split", "bad.swf", "--by=user"},
		{"merge", "out", "bad.swf", "--strict"},
		{"merge", "out"},
		{"merge", "bad.swf", "bad.swf"},
		{"convert", "bad.swf", "out", "--where=user"},
		{"convert", "bad.swf", "out", "--where=hour < 8"},
		{"convert", "bad.swf", "out", "--after=yesterday"},
		{"convert", "bad.swf", "out", "--after=1996-01-01"},
		{"convert", "bad.swf", "out", "--whole-weeks"},
		{"convert", "bad.swf", "out", "--flurries=jobs=1"},
		{"convert", "bad.swf", "out", "--anonymise=names"},
		{"convert", "bad.swf", "out", "--key=random"},
		{"convert", "bad.swf", "out", "--anonymise", "--key=bad.swf2"},
	} {
		got := call(append([]string{"trace"}, args...)...)
		require.NotZero(t, got.code, args)
		require.NotEmpty(t, got.stderr)
		left, err := os.ReadDir(".")
		require.NoError(t, err)
		require.Len(t, left, 1, args)
	}
}

// accounts are three jobs of an accounting log, the first of which fills the machine of four.
const accounts = `JobID|User|QOS|Partition|Submit|Start|End|Elapsed|NCPUS|Timelimit|State|AllocTRES
1|alice|normal|cpu|2024-01-08T10:00:00|2024-01-08T10:00:00|2024-01-08T10:10:00|00:10:00|4|00:20:00|COMPLETED|cpu=4
2|bob|normal|cpu|2024-01-08T10:01:00|2024-01-08T10:10:00|2024-01-08T10:20:00|00:10:00|4|00:20:00|COMPLETED|cpu=4
3|alice|urgent|gpu|2024-01-08T10:02:00|2024-01-08T10:20:00|2024-01-08T10:30:00|00:10:00|4|00:20:00|COMPLETED|cpu=4,gres/gpu=2
`

func TestASplitThatIsInterruptedLeavesNothingBehind(t *testing.T) {
	log := messy(t)
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stderr strings.Builder
	require.Equal(t, 1, Run(ctx, Env{Args: []string{"trace", "convert", log, "users", "--by=user"}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr}))
	require.Contains(t, stderr.String(), "interrupted")
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestNothingOfAKeyIsWritten(t *testing.T) {
	key := write(t, "ours.key", "a secret of this house")
	for name, path := range map[string]string{"KEYFILE": key, "random": "random"} {
		got := succeed(t, "trace", "convert", messy(t), "-", "--anonymise=users", "--key", path)
		require.Contains(t, got.stdout, " --anonymise=users --key="+name+"\n")
		require.NotContains(t, got.stdout, "ours")
	}
}

func TestOrdersAndFiltersSpeakOfColumnsOfAccountingLogs(t *testing.T) {
	log := write(t, "accounts.txt", accounts)
	dir := ran(t, log, "--procs=4", "--policy", `fcfs:order='column.gpus > 0 ? 0 : submit',easy:order='column.qos == "urgent" ? 0 : submit',fcfs`)
	files, err := filepath.Glob(filepath.Join(dir, "jobs-*order*.csv"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	waits := func(file string) string {
		var all []string
		for _, row := range table(t, file) {
			all = append(all, row["job_id"]+" "+row["waiting_time"])
		}
		return strings.Join(all, ", ")
	}
	for _, file := range files {
		require.Equal(t, "1 0, 2 1140, 3 480", waits(file), file)
	}
	require.Equal(t, "1 0, 2 540, 3 1080", waits(filepath.Join(dir, "jobs-fcfs.csv")))
	for filter, want := range map[string]string{
		"user == 'alice' and qos != 'urgent'": "1 of 3 lines", "gpus > 0": "1 of 3 lines", "not (gpus > 0)": "2 of 3 lines", "partition in ['cpu', 'gpu']": "3 of 3 lines",
	} {
		got := succeed(t, "trace", "info", log, "--procs=4", "--where", filter)
		require.Contains(t, got.stdout, want, filter)
	}
}

func TestWhatMergedLogsLoseIsToldOfEach(t *testing.T) {
	line := "1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 1 1 -1 -1\n"
	whole := write(t, "whole.swf", "; MaxProcs: 8\n"+line)
	damaged := write(t, "damaged.swf", "; MaxProcs: 8\n"+line+"no job\n")
	out := filepath.Join(t.TempDir(), "out.swf")
	got := succeed(t, "trace", "convert", whole, damaged, out)
	require.Contains(t, got.stderr, "whole.swf, damaged.swf: from swf to swf is lost:\n  1 lines of damaged.swf: ")
	got = exits(t, exitFailed, "trace", "convert", whole, damaged, out+"2", "--lossless")
	require.Contains(t, got.stderr, "--lossless was asked for")
	require.NoFileExists(t, out+"2")
	require.Empty(t, call("trace", "convert", whole, whole, out, "--lossless").stderr)
}
