package study

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/findings"
)

func TestTheAnalysisIsReadWithItsNames(t *testing.T) {
	f, err := study(t, "policies: [fcfs, easy]\nestimates: [user, exact]\nload: [0.7]\nbatches: week\nwarmup: jobs=100\ncompare: policies\nbaseline: easy\nmeasures: [mean_wait]\n")
	require.NoError(t, err)
	require.Equal(t, &findings.Batching{Every: 7 * des.Day, Warmup: metrics.Warmup{Jobs: 100}}, f.analysis.Batching)
	require.Equal(t, findings.Options{Measures: []string{"mean_wait"}, Compare: "policy", Baseline: []findings.Param{{Name: "policy", Value: "easy"}}}, f.analysis.options())

	f, err = study(t, "policies: [fcfs, easy]\nestimates: [user, exact]\nbaseline: {policies: easy, estimates: exact}\n")
	require.NoError(t, err)
	require.Equal(t, []findings.Param{{Name: "policy", Value: "easy"}, {Name: "estimates", Value: "exact"}}, f.analysis.Baseline)
}

func TestNamesOfOnesOwnAreComparedWithWhatTheyStandIn(t *testing.T) {
	f, err := study(t, "traces: [\"lublin:jobs=20:procs=8:load={rho}\"]\nrho: [0.7, 0.9]\npolicies: [fcfs, \"easy:depth={k}\"]\nk: [1, 2]\nseeds: [1, 2, 3, 4, 5]\nmeasures: [mean_wait]\n")
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	s.Dir = t.TempDir()
	_, err = sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	found, err := Conclude(s.Dir)
	require.NoError(t, err)
	require.Empty(t, found.Notes)
	require.Len(t, found.Comparisons, 4, "two depths on two loads")
}

func TestAWrongAnalysisIsToldWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"batches: fortnight\n":                           `line 2, column 10: batches: want week, day, a time such as 7d, or how many of equally many jobs (2 to 100000), not "fortnight"`,
		"batches: 1\n":                                   "line 2, column 10: batches",
		"batches: week\nwarmup: long\n":                  "line 3, column 9: warmup: want none, mser",
		"warmup: mser\n":                                 "line 2, column 9: warmup: batches that have any of it are left out",
		"compare: load\n":                                `line 2, column 10: compare: there is no parameter "load": there are policy`,
		"baseline: lifo\n":                               `line 2, column 11: baseline: no case has the policy "lifo"`,
		"baseline: {load: 1}\n":                          `baseline: there is no parameter "load"`,
		"baseline: [easy]\n":                             "baseline: want a text or a number, not a list",
		"measures: [mean_weight]\n":                      `measures: there is no column "mean_weight"`,
		"load: [1]\nbaseline: {policy: easy, load: 2}\n": `line 3, column 11: baseline: no case has the policy "easy" and the load "2"`,
	} {
		f, err := study(t, "policies: [fcfs, easy]\n"+text)
		if err == nil {
			err = f.check()
		}
		require.ErrorContains(t, err, want, text)
	}
}

func TestEachSimulationLeavesItsBatches(t *testing.T) {
	const text = "traces: [\"lublin:jobs=400:procs=64\"]\npolicies: [easy, easy-sjbf]\nload: [0.8]\nbatches: day\nseeds: [3]\n"
	run := func(text string) (*sweep.Results, string) {
		f, err := study(t, text)
		require.NoError(t, err)
		s, err := f.Study("test")
		require.NoError(t, err)
		s.Dir = t.TempDir()
		r, err := sweep.Run(context.Background(), s, f.Do)
		require.NoError(t, err)
		return r, s.Dir
	}
	r, dir := run(text)
	table, err := findings.Open(dir)
	require.NoError(t, err)
	require.Len(t, table.Runs, 2)
	for i, run := range table.Runs {
		require.Equal(t, r.Plan.Units[i].Key, run.Key)
		jobs, sum := 0, 0.
		for _, b := range run.Batches.Rows {
			jobs += b.Jobs
			sum += b.Means[0] * float64(b.Jobs)
		}
		require.Equal(t, 400, jobs)
		for m, name := range table.Measures {
			if name == "mean_wait" {
				require.InDelta(t, run.Values[m], sum/400, 1e-6)
			}
		}
		files, err := filepath.Glob(filepath.Join(dir, "runs", run.Key, "*"))
		require.NoError(t, err)
		require.Len(t, files, 2, "nothing else was to be kept: the batches, and the checksum of their file")
	}
	f, err := Conclude(dir)
	require.NoError(t, err)
	require.Len(t, f.Comparisons, len(f.Options.Measures))
	require.Equal(t, "policy=easy", f.BaselineName())
	require.Equal(t, findings.Batched, f.Comparisons[0].By)
	other, _ := run(text + "warmup: jobs=20\n")
	require.NotEqual(t, r.Plan.Units[0].Key, other.Plan.Units[0].Key, "another warm-up is another result")
	none, _ := run("traces: [\"lublin:jobs=400:procs=64\"]\npolicies: [easy, easy-sjbf]\nload: [0.8]\nseeds: [3]\n")
	require.Equal(t, none.Rows, r.Rows, "the row is the same")
}

func TestTauReachesTheBatchesOfAStudyAndAWarmUpOfAScenarioDoesNot(t *testing.T) {
	const text = "scenarios: [s.yaml]\nbatches: 2\nwarmup: 0\nseeds: [3]\ntau: [10, 1000]\n"
	run := func(settings string) *findings.Results {
		f, err := study(t, text, "s.yaml", "processors: 64\nworkload: {trace: \"lublin:jobs=200:procs=64\"}\npolicies: [easy]\n"+settings)
		require.NoError(t, err)
		s, err := f.Study("test")
		require.NoError(t, err)
		s.Dir = t.TempDir()
		_, err = sweep.Run(context.Background(), s, f.Do)
		require.NoError(t, err)
		table, err := findings.Open(s.Dir)
		require.NoError(t, err)
		require.Len(t, table.Runs, 2)
		return table
	}
	whole, cut := run(""), run("settings: {warmup: 60}\n")
	of := func(t *findings.Results, run int, name string) float64 {
		return t.Runs[run].Values[slices.Index(t.Measures, name)]
	}
	for i := range 2 {
		require.Equal(t, whole.Runs[i].Batches, cut.Runs[i].Batches)
		require.Equal(t, 200.0, of(whole, i, "jobs"))
		require.Equal(t, 140.0, of(cut, i, "jobs"))
		mean := 0.
		for _, b := range whole.Runs[i].Batches.Rows {
			require.False(t, b.Warmup)
			mean += b.Means[1] / 2
		}
		require.InDelta(t, of(whole, i, "mean_bounded_slowdown"), mean, 1e-5)
	}
	require.Greater(t, of(whole, 0, "mean_bounded_slowdown"), of(whole, 1, "mean_bounded_slowdown"))
}

func TestAWarmUpIsNoParameterOfAStudy(t *testing.T) {
	for _, text := range []string{"zip: {warmup: [5, 7], load: [0.5, 0.7]}\n", "batches: week\nwarmup: [5, 7]\n", "sample: {size: 3, of: {warmup: [1, 2]}}\n"} {
		_, err := study(t, text)
		require.ErrorContains(t, err, "warmup", text)
	}
}
