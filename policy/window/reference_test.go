package window

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// knownProblem is a window search with answers that were found by other programs. Times are
// in time units.
type knownProblem struct {
	Kind    Kind
	Horizon [2]float64
	Request struct {
		Nodes                   int
		Volume, MinPerf, Budget float64
	}
	Nodes []struct {
		ID             int
		Perf, Price, Q float64
	}
	Slots   [][3]float64 // node, start, end
	Results []struct {
		Algorithm                  string
		Value, Start, Length, Cost float64
	}
}

// known reads the problems and their answers.
func known(t *testing.T) []knownProblem {
	t.Helper()
	dir := os.Getenv("GRIDSLOT_REFERENCE")
	if dir == "" {
		t.Skip("GRIDSLOT_REFERENCE is not set: it names the folder of window-problems.json")
	}
	data, err := os.ReadFile(filepath.Join(dir, "window-problems.json"))
	require.NoError(t, err)
	var file struct{ Instances []knownProblem }
	require.NoError(t, json.Unmarshal(data, &file))
	return file.Instances
}

// find answers p with the named search.
func (p *knownProblem) find(t *testing.T, name string, set Settings) (entity.Request, plan.SlotList, entity.Window) {
	t.Helper()
	req := entity.Request{Nodes: p.Request.Nodes, Length: des.Seconds(p.Request.Volume), MinPerf: p.Request.MinPerf, Budget: p.Request.Budget}
	list := plan.SlotList{From: des.Seconds(p.Horizon[0]), To: des.Seconds(p.Horizon[1])}
	nodes := map[float64]*entity.Node{}
	for _, n := range p.Nodes {
		nodes[float64(n.ID)] = &entity.Node{ID: n.ID, Perf: n.Perf, Price: n.Price, Q: n.Q}
	}
	for _, s := range p.Slots {
		list.Slots = append(list.Slots, entity.Slot{Node: nodes[s[0]], Width: 1, Start: des.Seconds(s[1]), End: des.Seconds(s[2])})
	}
	require.NoError(t, CheckSlots(list))
	finder, err := ByName(p.Kind, name, set)
	require.NoError(t, err)
	found, err := finder.Find(context.Background(), req, list, des.Forever)
	require.NoError(t, err)
	require.True(t, found.OK)
	return req, list, found.Window
}

// The answers of an exhaustive check that was written independently, on
// problems of the authors' own generator.
func TestKnownAnswers(t *testing.T) {
	problems := known(t)
	names := map[string]string{
		"MaxQ": "maxq", "DEP": "dep", "COORD": "coord",
		"FirstFit": "first-fit", "MinFinish": "min-finish", "MinRuntime": "min-runtime", "MinCost": "min-cost",
		"AMP": "amp", "MinRunTime": "min-runtime-exact",
	}
	roundings := map[string]float64{"exact_ceil1_": 1, "exact_ceil100_": 0.01, "exact_simple_": 0}
	met := 0
	for i := range problems {
		p := &problems[i]
		for _, answer := range p.Results {
			for prefix, round := range roundings {
				if len(answer.Algorithm) <= len(prefix) || answer.Algorithm[:len(prefix)] != prefix {
					continue
				}
				name := names[answer.Algorithm[len(prefix):]]
				if p.Kind == Rough && name == "min-finish" {
					name = "min-finish-exact"
				}
				set := Settings{Quantum: des.Second, RoundCosts: round, MaxDistance: 500 * des.Second}
				req, list, w := p.find(t, name, set)
				require.InDelta(t, answer.Value, w.Value, 1e-6, "problem %d: %s", i, answer.Algorithm)
				checkWindow(t, set, req, list, des.Forever, w, p.Kind == Square)
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
	problems := known(t)
	met := 0
	for i := range problems {
		p := &problems[i]
		for _, answer := range p.Results {
			if answer.Algorithm != "AMP" {
				continue
			}
			_, _, w := p.find(t, "amp", Settings{Quantum: des.Second})
			require.Equal(t, answer.Start, w.Start.Seconds())
			require.Equal(t, answer.Length, w.Length().Seconds())
			require.InDelta(t, answer.Cost, w.Cost, 1e-6)
			met++
		}
	}
	require.Positive(t, met)
}
