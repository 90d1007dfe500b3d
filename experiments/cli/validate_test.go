package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/rows"
)

// validByManifest runs a call of simulate and checks the folder that it leaves by its manifest alone.
func validByManifest(t *testing.T, args string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	got := succeed(t, append([]string{"simulate", "--out", out}, strings.Fields(args)...)...)
	runs := strings.Count(strings.TrimSpace(got.stdout), "\n")
	got = succeed(t, "validate", out)
	require.NotContains(t, got.stdout, " 0 jobs", args)
	require.Positive(t, strings.Count(got.stdout, "; valid\n"), args)
	require.LessOrEqual(t, strings.Count(got.stdout, "; valid\n"), max(runs, 1), args)
}

func TestAFolderOfResultsIsValidByItsManifestAlone(t *testing.T) {
	d := domainOf(t, "nodes: nodes.csv\ncycle: 600\ntrace: {free: true}\n", "nodes.csv", threeNodes)
	batches := domainOf(t, "generate: {count: 12}\ncycle: 600\nlocal: {level: [0, 2], cycles: 4}\nbatches: {cycles: 3}\n")
	whole := domainOf(t, "machine: m.yaml\npolicies: [easy]\nsettings: {seed: 3}\n", "m.yaml", "nodes: n.csv\ncycle: 600\nbatches: {jobs: 5}\n", "n.csv", threeNodes)
	jobs := write(t, "jobs.csv", "id,submit,nodes,volume,runtime,after\n1,0,1,100,80,\n2,5,2,50,50,1\n3,6,1,60,70,1:ok+30\n")
	book := write(t, "book.csv", "job_id,submit,start,processors,duration\n90001,10,5000,20,600\n")
	down := write(t, "down.csv", "from,to,processors\n10000,20000,64\n")
	for _, args := range []string{
		"--first 500 --load 0.9 --estimates exact --policy easy",
		"--first 300 --skip 50 --where user<9 --shift --estimates tsafrir --seed 7",
		"--first 300 --estimates factor:0.5 --overrun extend",
		"--first 300 --estimates factor:0.5 --overrun raise",
		"--first 300 --moldable amdahl:serial=0.1 --policy easy,equipartition",
		"--first 300 --predict recent:k=2 --correct doubling",
		"--first 300 --outages exponential:mtbf=2d:repair=4h --victims checkpoint:interval=600:cost=10 --seed 3",
		"--first 300 --outages " + down + " --victims kill",
		"--first 300 --reservations " + book,
		"--first 300 --procs 200 --tau 60 --warmup 20 --allocation none",
		"--first 300 --power switch-off=600",
		"--first 300 --policy easy:power-cap=20000 --power idle=90",
		"--first 300 --policy selective-preemption,time-slicing:quantum=600",
		"lublin:jobs=300:procs=64:load=0.7 --seed 5",
		jobs + " --procs 3",
		write(t, "fork.json", fork) + " --procs 2",
		write(t, "small.swf", smallTrace) + " --domain " + d + " --first 3 --estimates exact --policy easy,css",
		write(t, "small.swf", smallTrace) + " --domain " + d + " --first 3 --allocation count --policy easy,css",
		write(t, "small.swf", smallTrace) + " --domain " + d + " --first 3 --allocation none --policy easy,css",
		write(t, "log.swf", sessions) + " --feedback --skip 1",
		write(t, "log.swf", sessions) + " --domain " + d + " --feedback --skip 1 --policy easy,css",
		"--domain " + batches + " --policy easy,css,conservative --seed 4",
		whole,
		"--first 200 --grid " + write(t, "g.yaml", smallGrid),
	} {
		t.Run(args, func(t *testing.T) { validByManifest(t, args) })
	}
}

func TestEverySettingOfTheSchedulersClockLeavesValidSchedules(t *testing.T) {
	more := []string{"", "--overhead dispatch=3s:prologue=exponential/20s:epilogue=10s", "--power switch-off=300", "--overrun extend --estimates factor:0.5", "--predict recent:k=2"}
	for i, wake := range []string{"", "--wake 30s", "--wake 5m:offset=40s", "--wake apart=2m", "--wake 1m:apart=90s"} {
		for k, pass := range []string{"instant", "event", "each"} {
			validByManifest(t, strings.Join([]string{"--first 250 --policy fcfs,easy,easy-sjbf,conservative --pass", pass, wake}, " "))
			validByManifest(t, strings.Join([]string{"--first 250 --policy easy,conservative --pass", pass, wake, more[(i+k)%len(more)]}, " "))
		}
	}
}

func TestWhatTheManifestNamesMustBeUnchanged(t *testing.T) {
	log := write(t, "a.swf", smallTrace)
	d := domainOf(t, "nodes: nodes.csv\ncycle: 600\nbatches: {jobs: 3}\n", "nodes.csv", threeNodes)
	out, nodes := filepath.Join(t.TempDir(), "out"), filepath.Join(filepath.Dir(d), "nodes.csv")
	require.Zero(t, call("simulate", log, "--policy", "easy", "--out", out).code)
	require.Zero(t, call("validate", out).code)
	other := strings.Replace(smallTrace, ";", "; Note: another\n;", 1)
	require.NotEqual(t, smallTrace, other)
	require.NoError(t, os.WriteFile(log, []byte(other), 0o666))
	got := exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stderr, "a.swf is not the log that the run had: it has been changed since")
	require.Zero(t, call("validate", filepath.Join(out, "jobs-easy.csv"), log).code, "but another log may be given")
	require.NoError(t, os.Remove(log))
	require.Contains(t, call("validate", out).stderr, "no such file")

	require.Zero(t, call("simulate", "--domain", d, "--policy", "easy", "--out", out).code)
	require.Zero(t, call("validate", out).code)
	require.NoError(t, os.Remove(d), "its text stands in the manifest")
	require.Zero(t, call("validate", out).code)
	require.NoError(t, os.WriteFile(nodes, []byte(strings.Replace(threeNodes, "2.5", "3.5", 1)), 0o666))
	got = exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stderr, nodes+" is not the file that the run had: it has been changed since")
}

func TestAFolderThatIsNotWholeSaysWhatIsMissing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	require.Zero(t, call("simulate", "--first", "50", "--policy", "easy,fcfs", "--out", out).code)
	text := read(t, out, "jobs-fcfs.csv")
	rows := strings.Split(text, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(out, "jobs-fcfs.csv"), []byte(strings.Join(slices.Delete(rows, 5, 6), "\n")), 0o666))
	got := exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stdout, "jobs-easy.csv: 50 jobs")
	require.Contains(t, got.stderr, "jobs-fcfs.csv is not a valid schedule of sample.swf.gz (violations: 1)")
	require.NoError(t, os.Remove(filepath.Join(out, "jobs-fcfs.csv")))
	got = exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stderr, "opening the schedule")
	got = exits(t, exitFailed, "validate", filepath.Join(out, "none"))
	require.Equal(t, "gridslot: "+filepath.Join(out, "none")+": there is no such file or folder\n", got.stderr)
	require.NoError(t, os.Remove(filepath.Join(out, "manifest.json")))
	require.Contains(t, call("validate", out).stderr, "holds no manifest.json")
	require.Contains(t, call("validate", t.TempDir()).stderr, "holds no results")
	require.NotContains(t, call("validate", filepath.Join(out, "nowhere")).stderr, "does not name a policy")
}

// What a source and a manifest tell is the same for all schedules of a folder.
func TestValidateSaysNothingTwice(t *testing.T) {
	dir := t.TempDir()
	log, out := filepath.Join(dir, "log.swf"), filepath.Join(dir, "out")
	lines := "; MaxProcs: 4\n"
	for i := range 8 { // too few for Jann's model to have what it asks for
		lines += fmt.Sprintf("%d %d 0 %d %d -1 -1 %d 100 -1 1 1 1 1 1 -1 -1 -1\n", i+1, 10*i, 10+i, 1+i%2, 1+i%2)
	}
	require.NoError(t, os.WriteFile(log, []byte(lines), 0o666))
	require.Zero(t, call("simulate", "jann:from="+log+":jobs=9", "--estimates", "exact", "--policy", "easy,fcfs", "--out", out).code)
	got := succeed(t, "validate", out)
	require.Equal(t, 1, strings.Count(got.stderr, "the run was made with --estimates=exact"), got.stderr)
	require.Contains(t, got.stderr, "jann:from=")
	said := strings.Split(strings.TrimSpace(got.stderr), "\n")
	slices.Sort(said)
	require.Equal(t, said, slices.Compact(slices.Clone(said)))
}

func TestNoFileOfAnEarlierRunStays(t *testing.T) {
	d := domainOf(t, "generate: {}\ncycle: 600\nbatches: {}\n")
	for name, args := range map[string][]string{
		"cluster": {"--first", "50"},
		"domain":  {"--domain", d},
		"events":  {"--first", "50", "--events", "--perfetto", "--decisions", "--power", "default"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			for _, file := range slices.Concat(rows.OfAllPolicies(), rows.OfPolicy("easy")) {
				require.NoError(t, os.WriteFile(filepath.Join(out, file), []byte("old"), 0o666))
			}
			other := filepath.Join(out, "jobs-fcfs.csv")
			require.NoError(t, os.WriteFile(other, []byte("old"), 0o666))
			succeed(t, append([]string{"simulate", "--policy", "easy", "--out", out}, args...)...)
			for _, file := range files(t, out) {
				require.Equal(t, file == "jobs-fcfs.csv", read(t, out, file) == "old", file)
			}
		})
	}

	out := ran(t, "--domain", d, "--policy", "easy")
	requests := filepath.Join(out, "requests.csv")
	was := read(t, requests)
	require.Zero(t, call("simulate", requests, "--procs", "200", "--policy", "easy", "--out", out).code)
	require.Equal(t, was, read(t, requests), "it is this run's workload")
	require.Zero(t, call("simulate", "--first", "50", "--policy", "easy", "--out", out).code)
	require.NoFileExists(t, requests)
}

func TestAManifestKnowsItsFilesByTheirChecksumsAndSaysFromWhereItLooksForThem(t *testing.T) {
	start, elsewhere := t.TempDir(), t.TempDir()
	t.Chdir(start)
	out := filepath.Join(t.TempDir(), "out")
	inputs := map[string]string{
		"a.swf": smallTrace, "o.csv": "from,to,processors\n20,40,2\n",
		"booked.csv": "job_id,submit,start,processors,duration\n1001,0,500,1,10\n",
		"price.csv":  "time,value\n0,0.1\n", "carbon.csv": "time,value\n0,300\n",
	}
	for name, text := range inputs {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	got := succeed(t, "simulate", "a.swf", "--outages", "o.csv", "--reservations", "booked.csv", "--power", "price=price.csv:carbon=carbon.csv", "--policy", "fcfs", "--out", out)
	got = succeed(t, "validate", out)
	for name, text := range inputs {
		require.NoError(t, os.WriteFile(name, []byte(text+"\n"), 0o666))
		got := exits(t, exitFailed, "validate", out)
		require.Contains(t, got.stderr, name+" is not the ")
		require.Contains(t, got.stderr, " that the run had: it has been changed since")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	t.Chdir(elsewhere)
	got = exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stderr, "they are looked for from "+elsewhere+": call validate from there, or give the log as TRACE")
}

func TestAFileThatARunReadsIsNotReplacedByOneThatItWrites(t *testing.T) {
	d := domainOf(t, "nodes: nodes.csv\ncycle: 600\nbatches: {jobs: 3}\n", "nodes.csv", threeNodes)
	dir := filepath.Dir(d)
	for name, text := range map[string]string{
		"n.csv": threeNodes, "prices-easy.csv": "time,node,price\n5,1,2\n",
		"priced.yaml": "nodes: n.csv\nprices: prices-easy.csv\ncycle: 600\nbatches: {jobs: 3}\n",
		"a.swf":       smallTrace, "manifest.json": smallTrace, "outages-easy.csv": "from,to,processors\n20,40,2\n",
		"jobs-easy.csv": "job_id,submit,start,processors,duration\n1,0,10,1,10\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	linked := filepath.Join(t.TempDir(), "linked")
	require.NoError(t, os.Symlink(dir, linked))
	log := filepath.Join(dir, "a.swf")
	for file, args := range map[string][]string{
		"nodes.csv":        {"--domain", d, "--policy", "css"},
		"prices-easy.csv":  {"--domain", filepath.Join(dir, "priced.yaml"), "--policy", "easy"},
		"manifest.json":    {filepath.Join(dir, "manifest.json"), "--from", "swf", "--policy", "fcfs"},
		"outages-easy.csv": {log, "--outages", filepath.Join(dir, "outages-easy.csv"), "--policy", "fcfs,easy"},
		"jobs-easy.csv":    {log, "--reservations", filepath.Join(dir, "jobs-easy.csv"), "--policy", "easy"},
	} {
		for _, out := range []string{dir, linked} {
			before := files(t, dir)
			was := read(t, dir, file)
			got := exits(t, exitUsage, append([]string{"simulate", "--out", out}, args...)...)
			require.Contains(t, got.stderr, "--out: the run reads "+filepath.Join(dir, file)+", and would replace or remove it", file)
			require.Equal(t, was, read(t, dir, file))
			require.Equal(t, before, files(t, dir), "nothing was written")
		}
	}
	other := []string{"simulate", log, "--outages", filepath.Join(dir, "outages-easy.csv"), "--policy", "fcfs", "--out"}
	succeed(t, append(other, dir)...)
	require.FileExists(t, filepath.Join(dir, "outages-easy.csv"))
}

func TestOfALogFromStandardInputTheFolderDoesNotTell(t *testing.T) {
	log := write(t, "a.swf", smallTrace)
	out := filepath.Join(t.TempDir(), "out")
	require.Zero(t, callWith(smallTrace, "simulate", "-", "--policy", "easy", "--out", out).code)
	got := exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stderr, "came from standard input: give it as TRACE")
	require.Zero(t, call("validate", filepath.Join(out, "jobs-easy.csv"), log).code)
	require.Zero(t, call("validate", out, log).code)
}

func TestNumbersBeyondTheirBoundsAreRefusedWithTheBound(t *testing.T) {
	log := write(t, "a.swf", smallTrace)
	dear := domainOf(t, "nodes: nodes.csv\ncycle: 600\nbatches: {jobs: 3}\n", "nodes.csv", strings.Replace(threeNodes, "2.5", "1e308", 1))
	priced := domainOf(t, "nodes: nodes.csv\nprices: p.csv\ncycle: 600\nbatches: {jobs: 3}\n", "nodes.csv", threeNodes, "p.csv", "time,node,price\n5,1,1e308\n")
	deep := domainOf(t, "policies: "+strings.Repeat("[", 40_000))
	for _, c := range []struct {
		args string
		want string
	}{
		{"simulate " + log + " --load 1e300", `--load: want a number above 0, at most 1000, not "1e300"`},
		{"simulate " + log + " --seed 18446744073709551615", "want a whole number of 0 to 9223372036854775807, not 18446744073709551615"},
		{"explain " + log + " --width 999999999", "--width must be 10 to 10000, not 999999999"},
		{"simulate --domain " + dear, "price must be a number of 0 or more, at most 1e+15, not 1e+308"},
		{"simulate --domain " + priced, "price: want a number of 0 or more, at most 1e+15, not 1e+308"},
		{"simulate " + deep, "within each other more than 500 deep"},
	} {
		got := call(strings.Fields(c.args)...)
		require.NotZero(t, got.code, c.args)
		require.Contains(t, got.stderr, c.want, c.args)
		require.Less(t, strings.Count(got.stderr, "\n"), 8, got.stderr)
	}
}

func TestASourceIsTheSameLogUnderOneSeedWhateverReadsIt(t *testing.T) {
	const source = "lublin:jobs=300:procs=64:load=0.8"
	dir := t.TempDir()
	one, three := filepath.Join(dir, "one.swf"), filepath.Join(dir, "three.swf")
	require.Zero(t, call("trace", "convert", source, one).code)
	require.Zero(t, call("trace", "convert", source, three, "--seed", "3").code)
	mean := func(args ...string) string {
		got := succeed(t, append([]string{"simulate", "--policy", "fcfs", "--format", "csv"}, args...)...)
		row := strings.Split(strings.Split(got.stdout, "\n")[1], ",")
		return strings.Join(row[:len(row)-3], ",") // without CPU seconds, and what is behind them
	}
	require.Equal(t, mean(source), mean(one))
	require.Equal(t, mean(source, "--seed", "3"), mean(three))
	require.NotEqual(t, mean(one), mean(three))
	succeed(t, "trace", "convert", source, filepath.Join(dir, "parts"), "--by", "2")
	for _, name := range files(t, filepath.Join(dir, "parts")) {
		require.NotContains(t, name, ":")
	}
}

// settingsFile writes what flags of simulate say, such as --first=100, into the file of a scenario.
func settingsFile(t *testing.T, flags ...string) string {
	t.Helper()
	sections := map[string]string{}
	for _, flag := range flags {
		name, value, given := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if !given { // a switch
			value = "true"
		}
		i := slices.IndexFunc(simulation.SettingTable(), func(s simulation.Setting) bool { return s.Name == name })
		require.GreaterOrEqual(t, i, 0, flag)
		sections[simulation.SettingTable()[i].Section] += fmt.Sprintf("  %s: %q\n", name, value)
	}
	text := ""
	for section, keys := range sections {
		text += section + ":\n" + keys
	}
	return write(t, "scenario.yaml", text)
}

func TestAFolderIsValidatedByItsManifestAlone(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	require.Zero(t, call("simulate", "--first=50", "--policy=fcfs,easy", "--out", out).code)
	for _, args := range [][]string{{settingsFile(t, "--first=50")}, {"--scenario", settingsFile(t, "--first=50")}, {"--policy=none"}} {
		got := exits(t, exitUsage, append([]string{"validate", out}, args...)...)
		require.Contains(t, got.stderr, "tells how its runs were made: give no flags")
	}
	got := exits(t, exitUsage, "validate", filepath.Join(out, "jobs-easy.csv"), settingsFile(t, "--first=50"), "--scenario", settingsFile(t, "--first=50"))
	require.Contains(t, got.stderr, "are two scenarios: give one")
}

// Whose promises are checked is said where they cannot be: a policy that the command does not have
// was run by another program, and a file may name none.
func TestValidateSaysWhosePromisesItDoesNotCheck(t *testing.T) {
	log, out := write(t, "log.swf", swf("0 9 1 9", "5 9 1 9")), t.TempDir()
	require.Zero(t, call("simulate", log, "--procs", "2", "--policy", "easy", "--out", out).code)
	jobs := filepath.Join(out, "jobs-easy.csv")

	manifest := filepath.Join(out, "manifest.json")
	text := read(t, manifest)
	require.NoError(t, os.WriteFile(manifest, []byte(strings.ReplaceAll(text, `"policy": "easy"`, `"policy": "mine"`)), 0o666))
	got := succeed(t, "validate", jobs)
	require.Contains(t, got.stderr, "jobs-easy.csv: mine is no policy of this command: its promises are not checked, all other rules are")

	other := write(t, "schedule.csv", read(t, jobs))
	got = succeed(t, "validate", other, log, "--procs", "2")
	require.Contains(t, got.stderr, "schedule.csv does not name a policy: promises are not checked (--policy)")
	require.NotContains(t, call("validate", other, log, "--procs", "2", "--policy", "none").stderr, "promises")

	got = exits(t, exitUsage, "validate", other, log, "--procs", "2", "--policy", "esay")
	require.Contains(t, got.stderr, `--policy: "esay" is not known`)
	require.Contains(t, got.stderr, `did you mean "easy"?`)
}

func TestALogThatIsNotThereIsToldOnce(t *testing.T) {
	dir := ran(t, write(t, "a.swf", smallTrace), "--policy=fcfs,easy")
	got := exits(t, exitFailed, "validate", dir, filepath.Join(dir, "other.swf"))
	require.Equal(t, 1, strings.Count(got.stderr, "no such file"), got.stderr)
	require.NotContains(t, got.stderr, "manifest.json", "the call named the log")
}
