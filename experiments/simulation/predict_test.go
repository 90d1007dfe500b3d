package simulation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
)

// noting predicts half of the request, and notes which jobs it was asked about.
type noting struct{ asked map[int64]bool }

func (*noting) Name() string { return "noting" }

func (n *noting) Predict(j entity.Known) des.Time {
	n.asked[j.ID()] = true
	return j.Request() / 2
}

func (*noting) Observe(entity.JobEventKind, entity.Known) {}

// withNoting are tables with the predictor noting, and those of it that were made.
func withNoting() (*Tables, *[]*noting) {
	made := new([]*noting)
	t := Standard()
	t.AddPredictions(policy.Table[entity.Predictor]{{Name: "noting", New: func(*policy.Args) entity.Predictor {
		*made = append(*made, &noting{map[int64]bool{}})
		return (*made)[len(*made)-1]
	}}}, nil)
	return t, made
}

func readText(t *testing.T, text string, tables *Tables) *Scenario {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	sc, err := Read(path, tables)
	require.NoError(t, err)
	return sc
}

// used are the predictors that were asked about jobs.
func used(made []*noting) (all []*noting) {
	for _, n := range made {
		if len(n.asked) > 0 {
			all = append(all, n)
		}
	}
	return all
}

func TestEveryRunAndEverySitePredictsByItself(t *testing.T) {
	for machine, want := range map[string]int{
		"processors: 32\npolicies: [fcfs, easy, conservative]\n":                                                                                                              3,
		"generate: {count: 32}\ncycle: 600\npolicies: [easy, 'conservative:finder=amp']\n":                                                                                    2,
		"clusters: [{processors: 32}, {processors: 32, policy: easy}]\nstrategies: ['dispatch:by=least-work', 'dispatch:by=round-robin']\n":                                   4,
		"clusters: [{processors: 32}]\ndomains: [{name: d, generate: {count: 32}, policy: easy}]\ncycle: 600\ntrace: {free: true}\nstrategies: ['dispatch:by=round-robin']\n": 2,
	} {
		tables, made := withNoting()
		sc := readText(t, machine+"workload: {trace: 'lublin:jobs=60:procs=8'}\nsettings: {predict: noting, correct: doubling}\n", tables)
		_, err := Run(context.Background(), sc, Options{Tables: tables, Workers: 1})
		require.NoError(t, err, machine)
		require.Len(t, used(*made), want, machine)
	}
}

func TestSitesSeeTheirOwnJobsOnly(t *testing.T) {
	tables, made := withNoting()
	sc := readText(t, "clusters: [{processors: 8}, {processors: 8}]\nstrategies: ['dispatch:by=round-robin']\nworkload: {trace: 'lublin:jobs=60:procs=8'}\nsettings: {predict: noting}\n", tables)
	_, err := Run(context.Background(), sc, Options{Tables: tables, Workers: 1})
	require.NoError(t, err)
	sites := used(*made)
	require.Len(t, sites, 2)
	for id := range sites[0].asked {
		require.False(t, sites[1].asked[id], "job %d", id)
	}
	require.Equal(t, 60, len(sites[0].asked)+len(sites[1].asked))
}

// outcomeOf are mean waits and slowdowns of the sample, by policy, and what was told.
func outcomeOf(t *testing.T, predict, correct string, policies ...string) (figures map[string]string, told []string) {
	t.Helper()
	sc := New()
	sc.Policies, sc.Workload.Options.First, sc.Settings.Pass = policies, 800, entity.PassEvent
	require.NoError(t, sc.Set("predict", predict))
	require.NoError(t, sc.Set("correct", correct))
	o, err := Run(context.Background(), sc, Options{Tell: func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }})
	require.NoError(t, err)
	figures = map[string]string{}
	for _, r := range o.Results {
		figures[r.Summary.Policy] = fmt.Sprint(r.Summary.MeanWait, r.Summary.MeanBoundedSlowdown)
	}
	return figures, told
}

func TestPredictingTheRequestIsPredictingNothing(t *testing.T) {
	policies := []string{"fcfs", "easy", "easy-sjbf", "conservative"}
	plain, _ := outcomeOf(t, "", "", policies...)
	requests, _ := outcomeOf(t, "request", "", policies...)
	require.Equal(t, plain, requests)
	twice, _ := outcomeOf(t, "request:factor=2", "", policies...)
	for _, p := range policies[1:] {
		require.NotEqual(t, plain[p], twice[p], p)
	}
}

func TestEasyPlusPlusIsItsThreeParts(t *testing.T) {
	whole, _ := outcomeOf(t, "", "", "easy++")
	parts, _ := outcomeOf(t, "recent:k=2", "tsafrir", "easy-sjbf")
	require.Equal(t, parts["easy-sjbf"], whole["easy++"])
	for _, c := range [][3]string{{"similar", "", "tsafrir"}, {"", "doubling", ""}, {"request", "", ""}, {"similar", "own", "own"}} {
		predict, correct := c[0], c[1]
		replaced, _ := outcomeOf(t, predict, correct, "easy++")
		if predict == "" {
			predict = "recent"
		}
		if c[2] != "" {
			correct = c[2]
		}
		parts, _ := outcomeOf(t, predict, correct, "easy-sjbf")
		require.Equal(t, parts["easy-sjbf"], replaced["easy++"], "%v", c)
		require.NotEqual(t, whole["easy++"], replaced["easy++"], "%v", c)
	}
}

func TestACorrectorWithoutAnythingToCorrectIsTold(t *testing.T) {
	for _, c := range []struct{ predict, correct, told string }{
		{"", "", ""},
		{"recent", "tsafrir", ""},
		{"request:factor=0.5", "tsafrir", ""},
		{"similar", "own", ""},
		{"", "doubling", "correct: doubling has nothing to correct: nothing is predicted under easy; see predict"},
		{"request", "tsafrir", "correct: tsafrir has nothing to correct: jobs are killed at their requests, and none is planned to end before"},
		{"request:factor=2", "tsafrir", "correct: tsafrir has nothing to correct: jobs are killed at their requests, and none is planned to end before"},
		{"true", "request", "correct: request has nothing to correct: runtimes are known"},
		{"recent", "own", "correct: recent does not correct its predictions itself: jobs that outlive them are planned by their requests"},
	} {
		_, told := outcomeOf(t, c.predict, c.correct, "easy", "easy++")
		if c.told == "" {
			require.Empty(t, told, "%v", c)
		} else {
			require.Equal(t, []string{c.told}, told)
		}
	}
}

func TestAPredictorThatIsNotThereIsAnErrorOfItsSetting(t *testing.T) {
	for setting, text := range map[string]string{"predict": "recnt", "correct": "tsafir"} {
		sc := New()
		require.NoError(t, sc.Set(setting, text))
		var wrong *SettingError
		require.ErrorAs(t, sc.Check(Standard()), &wrong)
		require.Equal(t, setting, wrong.Name)
		require.ErrorContains(t, wrong, "want one of request")
	}
}

func TestWithoutPredictionsAJobThatDoesNotFitChangesNothing(t *testing.T) {
	plain, _ := outcomeOf(t, "", "", "easy", "easy:arrivals=fitting")
	require.Equal(t, plain["easy"], plain["easy:arrivals=fitting"])
	predicted, _ := outcomeOf(t, "recent", "tsafrir", "easy", "easy:arrivals=fitting")
	require.NotEqual(t, predicted["easy"], predicted["easy:arrivals=fitting"])
}
