package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/policy/window"
)

// ours is what a program of one's own adds.
var ours = Extend{
	Policies: policy.Table[entity.Policy]{{
		Name: "lucky", Text: "starts whom it likes",
		Params: []policy.Param{{Name: "luck", Values: "N", Text: "how much of it (1)"}},
		New: func(a *policy.Args) entity.Policy {
			a.Positive("luck")
			return backfill.FCFS{}
		},
	}},
	NodePolicies: policy.Table[policy.OnNodes]{{
		Name: "gambler", Text: "plans as the dice fall",
		New: func(*policy.Args) policy.OnNodes {
			return policy.OnNodes{Policy: backfill.EASY{}, Finder: window.AMP{}}
		},
	}},
	Finders: policy.Table[plan.Finder]{{
		Name: "dowser", Text: "finds water, too",
		New: func(*policy.Args) plan.Finder { return window.AMP{} },
	}},
	Strategies: policy.Table[func() grid.Strategy]{{
		Name: "coin", Text: "heads or tails",
		New: func(*policy.Args) func() grid.Strategy {
			return func() grid.Strategy { return &agent.RoundRobin{} }
		},
	}},
	Predictors: policy.Table[entity.Predictor]{{
		Name: "oracle", Text: "as the leaves rustle",
		New: func(*policy.Args) entity.Predictor { return entity.Exact{} },
	}},
	Correctors: policy.Table[entity.Corrector]{{
		Name: "shrug", Text: "who knows",
		New: func(*policy.Args) entity.Corrector { return predict.ToRequest{} },
	}},
	Sources: policy.Table[simulation.Source]{{
		Name: "clockwork", Text: "a job every so many seconds",
		Params: []policy.Param{{Name: "gap", Values: "N", Text: "how many (10)"}},
		New: func(a *policy.Args) simulation.Source {
			gap := max(a.Positive("gap"), 1)
			return func(uint64) (simulation.Generated, error) {
				return simulation.Generated{Processors: 4, Jobs: func(yield func(*entity.Job) bool) {
					for i := range 10 {
						j := &entity.Job{
							ID: int64(i + 1), Submit: des.Time(i*gap) * des.Second, Runtime: 5 * des.Second,
							Request: entity.Request{Nodes: 2, Length: 8 * des.Second},
						}
						if !yield(j) {
							return
						}
					}
				}}, nil
			}
		},
	}},
}

// extended runs the command with what a program adds.
func extended(args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), Env{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Extend: ours})
	return outcome{code, stdout.String(), stderr.String()}
}

func TestWhatAProgramAddsIsListedAndCompleted(t *testing.T) {
	help := ""
	for _, topic := range []string{"policies", "node-policies", "finders", "strategies", "sources"} {
		help += extended("help", topic).stdout
	}
	for _, want := range []string{"lucky", "starts whom it likes", "luck=N", "gambler", "dowser", "coin", "heads or tails", "clockwork", "gap=N"} {
		require.Contains(t, help, want)
	}
	require.NotContains(t, call("help", "policies").stdout, "lucky", "a call of its own has its own tables")
	completed := extended("__complete", "simulate", "--policy", "").stdout
	for _, want := range []string{"lucky\n", "gambler\n", "coin\n", "easy\n"} {
		require.Contains(t, completed, want)
	}
}

func TestWhatAProgramAddsIsRun(t *testing.T) {
	domain := domainOf(t, "generate: {count: 4}\ncycle: 600\nbatches: {nodes: [1, 1]}\ncriteria: [dowser]\n")
	site := write(t, "grid.yaml", "clusters: [{processors: 10, policy: lucky}]\nstrategies: [coin]\n")
	out := t.TempDir()
	for args, want := range map[string]string{
		"--policy lucky:luck=3,easy --out " + out: "\nlucky:luck=3,10,0,0,",
		"--policy fcfs --first 4 --shift":         "\nfcfs,4,0,0,",
		"--estimates exact --overrun extend":      "\neasy,10,0,0,",
		"--grid " + site:                          "\ncoin,10,0,0,",
	} {
		got := extended(append([]string{"simulate", "clockwork:gap=3", "--format", "csv"}, strings.Fields(args)...)...)
		require.Zero(t, got.code, got.stderr)
		require.Contains(t, got.stdout, want, args)
	}
	require.Zero(t, extended("validate", filepath.Join(out, "jobs-lucky-luck=3.csv"), "clockwork:gap=3").code)
	got := extended("simulate", "--domain", domain, "--policy", "gambler,lucky:finder=dowser,css:finder=dowser", "--format", "csv")
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stdout, "\nlucky:finder=dowser,20,")
}

func TestWhatAProgramAddsIsNamedWhereANameIsUnknown(t *testing.T) {
	site := write(t, "grid.yaml", "clusters: [{processors: 10}]\n")
	domain := domainOf(t, "generate: {}\ncycle: 600\nbatches: {}\n")
	for args, want := range map[string]string{
		"--policy eazy":                                 "lucky",
		"--policy lucky:fate=1":                         `lucky does not take "fate"; it takes luck`,
		"--policy lucky:luck=x":                         "luck is \"x\": want a whole number of 1 or more",
		"--policy gambler":                              "gambler needs --domain",
		"--domain " + domain + " --policy x":            "gambler",
		"--domain " + domain + " --policy css:finder=x": "dowser",
		"--grid " + site + " --policy x":                "coin",
		"clockwork:gap=x":                               "TRACE: \"clockwork:gap=x\": gap is \"x\"",
	} {
		got := extended(append([]string{"simulate"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, got.code, "%s: %s", args, got.stderr)
		require.Contains(t, got.stderr, want, args)
	}
}

func TestASourceOfAProgramNeedsNoText(t *testing.T) {
	for text, told := range map[string]string{"": "jobs of the source bare", "équipes du soir": "équipes du soir"} {
		bare := ours
		bare.Sources = slices.Clone(ours.Sources)
		bare.Sources[0].Name, bare.Sources[0].Text = "bare", text
		for args, want := range map[string]string{"trace convert bare -": "; Information: " + told + "\n", "trace convert bare - --seed 2": "\n10 9 ", "help sources": "bare"} {
			var stdout, stderr bytes.Buffer
			require.Zero(t, Run(context.Background(), Env{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Extend: bare}), stderr.String())
			require.Contains(t, stdout.String(), want, args)
		}
	}
}

func TestAProgramsOwnReplacesWhatHasItsName(t *testing.T) {
	tables := Extend{Policies: policy.Table[entity.Policy]{{Name: "easy", Text: "mine"}}}.tables()
	require.Equal(t, "mine", tables.Policies[1].Text)
	require.Len(t, tables.Policies, len(simulation.Standard().Policies))
}
