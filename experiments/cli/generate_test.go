package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
)

// generatedLog is a log of so many jobs with a header that tells the hours.
func generatedLog(t *testing.T, flags string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.swf.gz")
	got := drawn(append(strings.Fields(flags), "--out", path)...)
	require.Equal(t, exitOK, got.code, got.stderr)
	return path
}

func jobsOf(t *testing.T, path string) (all []*entity.Job) {
	t.Helper()
	trace, err := workload.OpenSWF(path)
	require.NoError(t, err)
	for j := range trace.Jobs() {
		all = append(all, j)
	}
	require.NoError(t, trace.Err())
	return all
}

const officeHours = "day=1/1/8/1,week=1/1/1/1/1/0/0"

// What is generated, and what a source of the same words gives to a simulation, are the
// same jobs.
func TestAGeneratedLogIsWhatTheSourceOfItsWordsRuns(t *testing.T) {
	log := generatedLog(t, "lublin --jobs 3000 --procs 64 --cycle "+officeHours)
	for flags, spec := range map[string]string{
		"lublin --load 0.7 --cycle " + officeHours:                           "lublin:load=0.7:cycle=" + officeHours,
		"downey --load 0.7 --flurries every=40:jobs=10:gap=5:spread=0.1":     "downey:load=0.7:flurries='every=40:jobs=10:gap=5:spread=0.1'",
		"downey --mean-gap 15m --sigma 0.5":                                  "downey:mean-gap=900:sigma=0.5",
		"feitelson --mean-gap 15m --time-unit 10m":                           "feitelson:mean-gap=15m:time-unit=10m",
		"poisson --load 0.7 --size zipf/1.5/64 --runtime 1h --cycle @" + log: "poisson:load=0.7:size=zipf/1.5/64:runtime=1h:cycle=@" + log,
		"poisson --gap @" + log + " --size @" + log + " --runtime @" + log:   "poisson:gap=@" + log + ":size=@" + log + ":runtime=@" + log,
		"sessions --load 0.5 --size 1..20 --runtime 15m --users 7":           "sessions:load=0.5:size=1..20:runtime=15m:users=7",
		"jann --from " + log + " --load 0.6 --order 9":                       "jann:from=" + log + ":load=0.6:order=9",
	} {
		spec += ":jobs=300:procs=64"
		args := append(strings.Fields(flags), "--jobs", "300", "--procs", "64")
		path := filepath.Join(t.TempDir(), "a.swf")
		got := drawn(append(args, "--out", path, "--seed", "5")...)
		require.Equal(t, exitOK, got.code, "%v: %s", args, got.stderr)
		one, two := t.TempDir(), t.TempDir()
		got = succeed(t, "simulate", path, "--policy", "easy", "--out", one, "--strict", "--seed", "5")
		require.Empty(t, got.stderr)
		got = succeed(t, "simulate", spec, "--policy", "easy", "--out", two, "--seed", "5")
		require.True(t, maps.Equal(schedules(t, one), schedules(t, two)), spec)
		require.Equal(t, 301, strings.Count(read(t, one, "jobs-easy.csv"), "\n"), spec)
	}
}

// A source draws from the seed of the call, or from one of its own: both ways give the same
// records.
func TestTheSeedOfASourceStandsForThatOfTheCall(t *testing.T) {
	log := generatedLog(t, "sessions --mean-gap 12h --size 1..20 --runtime 15m --users 7 --jobs 400")
	for _, source := range []string{
		"lublin:load=0.7:flurries='every=40:jobs=10:gap=5:spread=0.1'", "downey:load=0.7", "feitelson:mean-gap=15m:time-unit=10m", "jann:from=" + log,
		"poisson:load=0.7:size=zipf/1.5/64:runtime=exponential/1h", "sessions:load=0.5:size=1..20:runtime=15m", "resample:from=" + log, "vo:cycles=3",
	} {
		records := func(args ...string) (lines []string) {
			got := succeed(t, append([]string{"trace", "convert"}, args...)...)
			for line := range strings.Lines(got.stdout) {
				if !strings.HasPrefix(line, ";") {
					lines = append(lines, line)
				}
			}
			return lines
		}
		of := func(seed string) []string { return records(source+":seed="+seed, "-") }
		require.Equal(t, records(source, "-", "--seed=9"), of("9"), source)
		require.Equal(t, of("9"), records(source+":seed=9", "-", "--seed=4"), source)
		require.NotEqual(t, of("9"), of("8"), source)
		require.Equal(t, records(source, "-"), of("1"), source)
		require.Equal(t, records(source, "-", "--seed=0"), of("0"), source)
	}

	one, two := t.TempDir(), t.TempDir()
	require.Zero(t, call("simulate", "lublin:jobs=200", "--seed=9", "--policy=easy", "--out", one).code)
	require.Zero(t, call("simulate", "lublin:jobs=200:seed=9", "--policy=easy", "--out", two).code)
	require.True(t, maps.Equal(schedules(t, one), schedules(t, two)))
	require.Contains(t, read(t, two, "manifest.json"), `"trace": "lublin:jobs=200:seed=9"`)
	require.Zero(t, call("validate", two).code)

	for _, source := range []string{"lublin", "vo"} {
		for _, seed := range []string{"-1", "1.5", "", "9223372036854775808"} {
			got := exits(t, exitUsage, "trace", "convert", source+":seed="+seed, "-")
			require.Contains(t, got.stderr, fmt.Sprintf("seed is %q: want a whole number of 0 to 9223372036854775807", seed))
		}
	}
	got := exits(t, exitUsage, "trace", "convert", "feedback:from="+log+":seed=3", "-")
	require.Contains(t, got.stderr, `feedback does not take "seed"`)
}

// The longest estimate of a site is 18 hours: longer runtimes are cut, and said to be.
func TestTheLongestEstimateOfTsafrirsModelCanBeGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.swf")
	got := drawn("poisson", "--size=1", "--gap=60", "--runtime=one-of/60/60/60/60/60/60/60/60/60/60/100000", "--jobs=3000", "--estimates=tsafrir:max=18h", "--out="+path)
	require.Equal(t, exitOK, got.code, got.stderr)
	cut, longest := 0, 0
	for _, j := range jobsOf(t, path) {
		require.LessOrEqual(t, j.Runtime, 18*des.Hour)
		require.LessOrEqual(t, j.Request.Length, 18*des.Hour)
		if j.Runtime == 18*des.Hour {
			cut++
		}
		if j.Request.Length == 18*des.Hour {
			longest++
		}
	}
	require.Positive(t, cut)
	require.Contains(t, got.stderr, fmt.Sprintf("the runtimes of %d jobs were above the longest estimate", cut))
	require.InDelta(t, 3000*0.217, longest, 3)
	require.Contains(t, read(t, filepath.Dir(path), "a.swf"), " --estimates=tsafrir:max=18h\n")

	out := t.TempDir()
	got = succeed(t, "simulate", path, "--estimates", "tsafrir:max=5h", "--policy", "easy", "--out", out)
	require.Contains(t, got.stderr, fmt.Sprintf("%d changed: runtime cut to the model's longest estimate", cut))
	require.Contains(t, read(t, out, "manifest.json"), `"estimates": "tsafrir:max=18000"`)
}

func TestAGeneratedLogSaysWhichParametersItHas(t *testing.T) {
	for args, want := range map[string]string{
		"lublin --typed --load 0.8":                "trace convert lublin:typed=on:load=0.8:jobs=2\n",
		"feitelson --mean-gap 15m --time-unit 10m": "trace convert feitelson:mean-gap=15m:time-unit=10m:jobs=2\n",
		"downey --load 0.5 --sigma 2":              "trace convert downey:load=0.5:sigma=2:jobs=2\n",
	} {
		require.Contains(t, drawn(strings.Fields(args+" --jobs 2")...).stdout, want)
	}
}

func TestAGeneratedLogSaysHowItWasMade(t *testing.T) {
	text := drawn("poisson", "--size", "1", "--runtime", "one-of/60/120", "--gap", "5m", "--jobs", "2", "--seed", "9", "--estimates", "fmodel:4", "--cycle", officeHours).stdout
	for _, want := range []string{
		"; Information: Poisson arrivals, or gaps of any distribution, with sizes and runtimes of any\n",
		"trace convert poisson:size=1:runtime=one-of/60/120:gap=5m:jobs=2:cycle=" + officeHours + " --estimates=fmodel:4 --seed=9\n",
		"; UnixStartTime: 1704067200\n", "; TimeZoneString: UTC\n", "; MaxProcs: 128\n",
	} {
		require.Contains(t, text, want)
	}
	text = drawn("lublin", "--jobs", "2", "--cycle", officeHours, "--flurries", "every=1:jobs=1").stdout
	require.Contains(t, text, "lublin:jobs=2:cycle="+officeHours+":flurries=")
	require.Contains(t, text, "; UnixStartTime: 1704067200\n")
	require.NotContains(t, drawn("lublin", "--jobs", "2").stdout, "UnixStartTime", "as it always was")
}

func TestHoursOfAGeneratedCycleAreThoseOfTheHeader(t *testing.T) {
	for _, j := range jobsOf(t, generatedLog(t, "downey --load 0.5 --jobs 4000 --cycle day=0/1,week=0/0/1/0/0/0/0")) {
		require.EqualValues(t, 2, j.Submit/des.Day%7, "a Wednesday")
		require.GreaterOrEqual(t, j.Submit%des.Day, des.Day/2, "in the afternoon")
	}
}

func TestEstimatesOfTheFModelAreGeneratedAndSimulatedAlike(t *testing.T) {
	exact, given := generatedLog(t, "lublin --jobs 400 --seed 3"), generatedLog(t, "lublin --jobs 400 --seed 3 --estimates fmodel:6")
	one, two := t.TempDir(), t.TempDir()
	for dir, args := range map[string][]string{one: {exact, "--estimates", "fmodel:6"}, two: {given}} {
		succeed(t, append([]string{"simulate", "--policy", "easy", "--out", dir, "--seed", "3"}, args...)...)
	}
	require.True(t, maps.Equal(schedules(t, one), schedules(t, two)))
	succeed(t, "validate", filepath.Join(one, "jobs-easy.csv"), exact, "--scenario", settingsFile(t, "--estimates=fmodel:6", "--seed=3"))
	longer := 0
	for _, j := range jobsOf(t, given) {
		require.LessOrEqual(t, j.Request.Length, 6*j.Runtime+des.Second)
		if j.Request.Length > 2*j.Runtime {
			longer++
		}
	}
	require.InDelta(t, 0.8, float64(longer)/400, 0.07, "four fifths of the factors are above 2")
}

func TestJannIsFittedInTheCommand(t *testing.T) {
	log := generatedLog(t, "lublin --jobs 20000 --procs 64")
	got := drawn("jann", "--from", log, "--jobs", "2")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, 7, strings.Count(got.stdout, "\n; Note: sizes "), "seven ranges:\n"+got.stdout)
	require.Contains(t, got.stdout, "; Note: sizes 33-64, ")
	text := drawn("jann", "--from", log, "--jobs", "5", "--ranges", "16").stdout
	require.Contains(t, text, "; MaxProcs: 64\n")
	require.Equal(t, 5, strings.Count(text, "\n; Note: sizes "), "1, to 16, 32, 48 and 64")
	require.Contains(t, text, "; Note: sizes 1, ")
	require.Contains(t, text, "gaps hyper-erlang/")

	// A log in which nothing varies: no mixture has its moments.
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("%d 300 4 300", 60*i))
	}
	steady := write(t, "steady.swf", swf(lines...))
	got = drawn("jann", "--from", steady, "--jobs", "3")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "sizes 4, 50 jobs: no hyper-Erlang distribution of an order up to 7 has the three moments of the gaps and runtimes: only the mean is met")
}

func TestSessionsAreWrittenWithWhatTheyWaitFor(t *testing.T) {
	text := drawn("sessions", "--size", "2", "--runtime", "10m", "--mean-gap", "1h", "--batches", "3", "--batch-jobs", "1", "--think", "5m", "--jobs", "30").stdout
	waits := 0
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); f[0] != ";" && f[16] != "-1" {
			require.Equal(t, "300", f[17], "five minutes to think")
			waits++
		}
	}
	require.InDelta(t, 20, waits, 4, "two of three jobs come after another")
	got := callWith(text, "simulate", "-", "--feedback", "--policy", "easy", "--format", "csv")
	require.Equal(t, exitOK, got.code, got.stderr)
}

func TestWhatCannotBeGeneratedIsWrongUsage(t *testing.T) {
	log := generatedLog(t, "lublin --jobs 20")
	for args, want := range map[string]string{
		"jann":                       `from is "": want the log`,
		"jann --from x --order 0":    `order is "0": want a whole number of 1 or more`,
		"poisson":                    "either it or mean-gap",
		"poisson --load 1":           `size is "": want a distribution`,
		"poisson --load 1 --size 1":  "runtime",
		"poisson --load -1 --size 1": "load",
		"poisson --load 1 --size soon --runtime 1":                     "want a distribution; want a time of 0 or more",
		"poisson --load 1 --size 200 --runtime 1":                      "less than a thousandth",
		"poisson --load 1 --mean-gap 1 --gap 5 --size 1 --runtime 1":   "it or load, not both",
		"poisson --load 1 --size 1 --runtime lognormal/1h":             "want lognormal/MEAN/sigma",
		"poisson --load 1 --size 1 --runtime 1 --cycle day=1/2/x":      "want weights",
		"poisson --load 1 --size 1 --runtime 1 --jobs 1000000000":      "at most 100000000",
		"poisson --load 1 --size 1 --runtime 1 --estimates guess":      "user, exact, factor:F",
		"poisson --load 1 --size 1 --runtime 1 --flurries jobs=5":      "one of so many jobs begins one",
		"sessions --load 1 --size 1 --runtime 1 --flurries every=5":    `sessions does not take "flurries"`,
		"sessions --load 1 --size 1 --runtime 1 --think @" + log:       "logs do not tell it",
		"lublin --cycle week=1/2":                                      "cycle: want the weights of Monday to Sunday, 7, not 2",
		"lublin --cycle day=1,day=2":                                   "day is given twice",
		"lublin --cycle hours=1":                                       "want day=W/W/...",
		"lublin --flurries often=1":                                    `there is no "often": want every=N`,
		"lublin --flurries every=5:spread=3":                           "the spread must be from 0 to 1",
		"lublin --estimates fmodel:0.5":                                "the largest factor must be a number from 1",
		"jann --from " + log + " --load inf":                           `load is "inf"`,
		"feitelson --time-unit 60 --load 1 --flurries every=5:every=5": "every is given twice",
	} {
		got := drawn(strings.Fields(args)...)
		require.Equal(t, exitUsage, got.code, "%s: %s", args, got.stderr)
		require.Contains(t, got.stderr, want, args)
		require.Empty(t, got.stdout, args)
	}
	for args, want := range map[string]string{
		"jann --from no-such.swf":                                               "no-such.swf",
		"lublin --cycle @no-such.swf":                                           "no-such.swf",
		"lublin --cycle @" + log:                                                "(UnixStartTime)",
		"jann --ranges odd --from " + log:                                       "want powers, or the number",
		"poisson --load 1 --size 1 --runtime @no-such.swf":                      "no-such.swf",
		"poisson --load 1 --size 1 --runtime 1 --cycle @" + log + " --jobs 100": "(UnixStartTime)",
	} {
		got := drawn(strings.Fields(args)...)
		require.Equal(t, exitFailed, got.code, "%s: %s", args, got.stderr)
		require.Contains(t, got.stderr, want, args)
	}
}

// weighed is an output that weighs what is kept, between two jobs.
type weighed struct {
	most   uint64
	writes int
}

func (w *weighed) Write(p []byte) (int, error) {
	if w.writes++; w.writes%16 != 1 { // on a busy machine a collection may take a second
		return len(p), nil
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.most = max(w.most, m.HeapAlloc)
	return len(p), nil
}

func TestGenerationTakesNoMemoryByTheJob(t *testing.T) {
	peak := func(jobs int, flags string) uint64 {
		var w weighed
		source, estimates, _ := strings.Cut(flags, " ")
		args := append([]string{"trace", "convert", fmt.Sprintf("%s:jobs=%d", source, jobs), "-"}, strings.Fields(estimates)...)
		code := Run(t.Context(), Env{Args: args, Stdout: &w, Stderr: io.Discard})
		require.Equal(t, exitOK, code)
		require.NotZero(t, w.most)
		return w.most
	}
	for _, flags := range []string{
		"lublin:cycle=" + officeHours + ":flurries='every=100:jobs=20' --estimates fmodel:5",
		"poisson:load=0.8:size=1..64:runtime=lognormal/1h/1",
		"sessions:load=0.8:size=1..64:runtime=lognormal/1h/1",
	} {
		few, many := peak(20_000, flags), peak(500_000, flags) // the text of so many is in a file
		require.Less(t, many, few+1<<20, "%s: %d bytes for few, %d for many", flags, few, many)
	}
}

func TestAStudyOfASourceKnowsTheLogsThatItIsLike(t *testing.T) {
	dir := t.TempDir()
	put := func(jobs string) {
		text := drawn("lublin", "--jobs", jobs, "--procs", "32").stdout
		require.NoError(t, os.WriteFile(filepath.Join(dir, "log.swf"), []byte(text), 0o600))
	}
	put("300")
	study := filepath.Join(dir, "study.yaml")
	require.NoError(t, os.WriteFile(study, []byte("traces: ['jann:from=log.swf:jobs=50', 'poisson:jobs=50:load=0.5:size=@log.swf:runtime=@log.swf']\npolicies: [easy]\n"), 0o600))
	out := filepath.Join(t.TempDir(), "out")
	got := swept(t, study, "--out", out)
	require.Equal(t, exitOK, got.code, got.stderr)
	before := read(t, out, "results.csv")
	require.Equal(t, 3, strings.Count(before, "\n"))
	put("400")
	got = swept(t, study, "--out", out)
	require.Equal(t, exitOK, got.code, got.stderr)
	require.NotEqual(t, before, read(t, out, "results.csv"), "another log, other jobs")
}
