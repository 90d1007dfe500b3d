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

// TestKnownAnswers meets the answers of an exhaustive check that was written
// independently, on problems of the authors' own generator.
func TestKnownAnswers(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_REFERENCE")
	if dir == "" {
		t.Skip("GRIDSLOT_REFERENCE is not set: it names the folder of window-problems.json")
	}
	data, err := os.ReadFile(filepath.Join(dir, "window-problems.json"))
	require.NoError(t, err)
	problems, err := ReadProblems(bytes.NewReader(data))
	require.NoError(t, err)
	var answers struct {
		Instances []struct {
			Results []struct {
				Algorithm string
				Value     float64
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &answers))
	names := map[string]string{
		"MaxQ": "maxq", "DEP": "dep", "COORD": "coord",
		"FirstFit": "first-fit", "MinFinish": "min-finish", "MinRuntime": "min-runtime", "MinCost": "min-cost",
		"AMP": "amp", "MinRunTime": "min-runtime-exact",
	}
	roundings := map[string]float64{"exact_ceil1_": 1, "exact_ceil100_": 0.01, "exact_simple_": 0}
	met := 0
	for i := range problems {
		p := &problems[i]
		for _, answer := range answers.Instances[i].Results {
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

func TestAMPIsThePublishedProgramsAMP(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_REFERENCE")
	if dir == "" {
		t.Skip("GRIDSLOT_REFERENCE is not set: it names the folder of window-problems.json")
	}
	f, err := os.Open(filepath.Join(dir, "window-problems.json"))
	require.NoError(t, err)
	defer f.Close()
	problems, err := ReadProblems(f)
	require.NoError(t, err)
	for i := range problems {
		for _, a := range Names(problems[i].Kind) {
			r, err := Solve(context.Background(), &problems[i], a, Settings{Quantum: des.Second, MaxDistance: 500 * des.Second})
			require.NoError(t, err)
			t.Logf("%d %-24s start %6.1f length %5.1f cost %8.2f value %9.2f alt %d", r.ID, a, r.Start, r.Length, r.Cost, r.Value, r.Alternatives)
		}
	}
}
