package reproduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

func TestAPageNamesEnvironmentsAndSearches(t *testing.T) {
	p := page{name: "toy", Program: map[string]any{
		"environment": map[string]any{"of": "DEP18", "nodes": 40}, "text": "DEP18's text",
		"algorithms": []any{
			map[string]any{"name": "a", "search": "min-cost"},
			map[string]any{"name": "b", "search": "square-dep, capped distances, whole costs"},
			map[string]any{"name": "c", "search": "amp, real times"},
		},
		"vary": []any{map[string]any{"what": "nodes wanted", "point": "%v wanted", "values": []any{14}}},
	}}
	s, err := programOf[searches](&p)
	require.NoError(t, err)
	want := vo.DEP18()
	want.Nodes.Count = 40
	require.Equal(t, want, s.Environment.Environment)
	require.Equal(t, window.AEP{Settings: wholeTimes, By: window.MinCost}, s.Algorithms[0].Search.Finder)
	require.Equal(t, window.Best{Settings: window.Settings{Quantum: des.Second, MaxDistance: dep18Cap, RoundCosts: 1}, By: window.DEP{}}, s.Algorithms[1].Search.Finder)
	require.Equal(t, window.AMP{}, s.Algorithms[2].Search.Finder)
	setups := s.setups()
	require.Len(t, setups, 2, "with the load of the text, too")
	require.Equal(t, 14, setups[0].Request.Nodes)
	require.InDelta(t, 2*s.Environment.Request.Budget, setups[0].Request.Budget, 1e-9, "twice as many nodes for twice the money")
	require.Equal(t, vo.DEP18Text().Load, setups[1].Load)
	require.Equal(t, 40, setups[1].Nodes.Count)
	require.Empty(t, setups[0].Sweep, "one thing is varied")
}

func TestWhatNobodyKnowsIsNoSetting(t *testing.T) {
	for want, program := range map[string]any{
		`no paper has an environment "Mars"`:     map[string]any{"environment": "Mars"},
		`no search counts by "guesses"`:          map[string]any{"algorithms": []any{map[string]any{"search": "amp, guesses"}}},
		`no search for square windows is called`: map[string]any{"algorithms": []any{map[string]any{"search": "square-amp"}}},
		"unknown field":                          map[string]any{"algorithm": []any{}},
	} {
		p := page{name: "toy", Program: program}
		_, err := programOf[searches](&p)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "the program of the experiment toy")
	}
	_, err := planner{Shift: "sideways"}.make()
	require.Error(t, err)
	_, err = planner{Fill: true, Select: "the nicest"}.make()
	require.Error(t, err)
	_, err = onlinePolicy{Backfill: "guessing"}.policy()
	require.Error(t, err)
}

// Each setting of a planner is one thing done otherwise.
func TestAPlannerDoesWhatItsSettingsSay(t *testing.T) {
	plain := cyclic.BatchSlicer{Slices: 5, Search: cyclic.Search{Finder: window.AMP{Settings: wholeTimes}}, Choice: cyclic.Choice{Problem: cyclic.BatchTime}}
	for _, c := range []struct {
		settings planner
		change   func(*cyclic.BatchSlicer)
	}{
		{planner{}, func(*cyclic.BatchSlicer) {}},
		{planner{Shift: "slice"}, func(b *cyclic.BatchSlicer) { b.Shift = cyclic.ShiftSlice }},
		{planner{Distinct: true}, func(b *cyclic.BatchSlicer) { b.Search.Distinct = true }},
		{planner{Counted: true}, func(b *cyclic.BatchSlicer) { b.CountShifted = true }},
		{planner{Grid: true}, func(b *cyclic.BatchSlicer) { b.Choice.Grid = 1 }},
		{planner{Income: true}, func(b *cyclic.BatchSlicer) { b.Choice.BudgetLimit = cyclic.LargestIncome }},
		{planner{Theirs: true}, func(b *cyclic.BatchSlicer) { b.Search.Distinct, b.CountShifted, b.Choice.Grid = true, true, 1 }},
	} {
		want := plain
		c.change(&want)
		c.settings.K = 5
		got, err := c.settings.make()
		require.NoError(t, err)
		require.Equal(t, want, got, "%+v", c.settings)
	}
	got, err := planner{Fill: true, Q: 0.4, SliceOf: 4, Theirs: true, Select: "dearest"}.make()
	require.NoError(t, err)
	bsf := got.(cyclic.BSF)
	require.Equal(t, cyclic.Share{Q: 0.4, By: cyclic.Dearest, Inclusive: true}, bsf.Share)
	require.Equal(t, 2, bsf.Slicer.Slices, "8 of 20 jobs, by fours")
}

func TestEveryOrderAndShapeOfAPageIsKnown(t *testing.T) {
	for _, r := range read[sc20](t, "sc20").Rows {
		require.Contains(t, sc20Orders, r.Order)
	}
	for _, c := range read[oar11](t, "oar-rla").Shapes {
		require.Contains(t, oarShapes, c.Shape)
	}
	for _, m := range read[grid5000](t, "grid5000").Models {
		require.Contains(t, []string{"", "all", "other workloads"}, m.Calibrated)
	}
	for _, e := range drawn() {
		page := e.page()
		program, err := e.program(&page)
		require.NoError(t, err)
		if s, ok := program.(searches); ok {
			for _, v := range s.Vary {
				require.Contains(t, []string{"nodes", "interval", "nodes wanted"}, v.What)
			}
		}
	}
}
