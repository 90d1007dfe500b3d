package window

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/stretchr/testify/require"
)

type knownAnswer struct {
	Algorithm                  string
	Value, Start, Length, Cost float64
}

// known reads the problems and their answers.
func known(t *testing.T) ([]Problem, [][]knownAnswer) {
	t.Helper()
	dir := os.Getenv("GRIDSLOT_REFERENCE")
	if dir == "" {
		t.Skip("GRIDSLOT_REFERENCE is not set: it names the folder of window-problems.json")
	}
	data, err := os.ReadFile(filepath.Join(dir, "window-problems.json"))
	require.NoError(t, err)
	problems, err := ReadProblems(bytes.NewReader(data))
	require.NoError(t, err)
	var file struct {
		Instances []struct{ Results []knownAnswer }
	}
	require.NoError(t, json.Unmarshal(data, &file))
	var answers [][]knownAnswer
	for _, instance := range file.Instances {
		answers = append(answers, instance.Results)
	}
	return problems, answers
}

// The answers of an exhaustive check that was written independently, on
// problems of the authors' own generator.
func TestKnownAnswers(t *testing.T) {
	problems, answers := known(t)
	names := map[string]string{
		"MaxQ": "maxq", "DEP": "dep", "COORD": "coord",
		"FirstFit": "first-fit", "MinFinish": "min-finish", "MinRuntime": "min-runtime", "MinCost": "min-cost",
		"AMP": "amp", "MinRunTime": "min-runtime-exact",
	}
	roundings := map[string]float64{"exact_ceil1_": 1, "exact_ceil100_": 0.01, "exact_simple_": 0}
	met := 0
	for i := range problems {
		p := &problems[i]
		for _, answer := range answers[i] {
			for prefix, round := range roundings {
				if len(answer.Algorithm) <= len(prefix) || answer.Algorithm[:len(prefix)] != prefix {
					continue
				}
				name := names[answer.Algorithm[len(prefix):]]
				if p.Kind == Rough && name == "min-finish" {
					name = "min-finish-exact"
				}
				set := Settings{Quantum: des.Second, RoundCosts: round, MaxDistance: 500 * des.Second}
				r, err := Solve(context.Background(), p, name, set)
				require.NoError(t, err)
				require.True(t, r.Found)
				require.InDelta(t, answer.Value, r.Value, 1e-6, "problem %d: %s", *p.ID, answer.Algorithm)
				list, err := p.List()
				require.NoError(t, err)
				req, until, err := p.request()
				require.NoError(t, err)
				finder, err := ByName(p.Kind, name, set)
				require.NoError(t, err)
				found, err := finder.Find(context.Background(), req, list, until)
				require.NoError(t, err)
				checkWindow(t, set, req, list, until, found.Window, p.Kind == Square)
				met++
			}
		}
	}
	require.Positive(t, met)
	t.Logf("%d answers met", met)
}

// AMP stops at the same moment of the scan as the authors' program, so its
// window costs the same too.
func TestAMPIsThePublishedProgramsAMP(t *testing.T) {
	problems, answers := known(t)
	met := 0
	for i := range problems {
		for _, answer := range answers[i] {
			if answer.Algorithm != "AMP" {
				continue
			}
			r, err := Solve(context.Background(), &problems[i], "amp", Settings{Quantum: des.Second})
			require.NoError(t, err)
			require.Equal(t, answer.Start, r.Start)
			require.Equal(t, answer.Length, r.Length)
			require.InDelta(t, answer.Cost, r.Cost, 1e-6)
			met++
		}
	}
	require.Positive(t, met)
}
