package reproduce

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHalvesAndWeeksOfEveryPredictorAreInTheTable(t *testing.T) {
	e := read[predictors](t, "predictors")
	smallLogs(t, sc15(e).fileNames()...)
	table, err := with("predictors", e).Run(context.Background(), Config{Seed: 1})
	require.NoError(t, err)
	at := map[ref]tableRow{}
	for _, r := range table.rows {
		at[r.ref()] = r
	}
	for _, a := range e.Algorithms {
		for _, log := range e.Logs {
			whole, second := at[ref{a.Name, "", slowdownIn(log.Name)}], at[ref{a.Name, "", slowdownIn(log.Name) + secondHalf}]
			if a.Policy == "" {
				require.Zero(t, whole.Ours.N)
				require.Zero(t, second.Ours.N)
				continue
			}
			require.GreaterOrEqual(t, whole.Ours.Mean, 1.0, a.Name)
			require.GreaterOrEqual(t, second.Ours.Mean, 1.0, a.Name)
			require.NotEqual(t, whole.Ours.Mean, second.Ours.Mean, a.Name)
		}
	}
	require.Equal(t, 1.0, at[ref{sc15EASY, "", sc15Ratio}].Ours.Mean)
	require.Equal(t, 1.0, at[ref{sc15EASY, "", sc15Ratio + secondHalf}].Ours.Mean)
	require.Less(t, at[ref{"SJBF, true runtimes", "", sc15Ratio + secondHalf}].Ours.Mean, 1.0)
}

func TestTypicalOnTheLogsOfSC15(t *testing.T) {
	if os.Getenv(tracesVariable) == "" || testing.Short() {
		t.Skipf("%s is not set: no logs at hand", tracesVariable)
	}
	e := read[predictors](t, "predictors")
	var few []prediction
	for _, a := range e.Algorithms {
		if a.Name == sc15EASY || a.Name == "SJBF, typical" {
			few = append(few, a)
		}
	}
	e.Algorithms = few
	table, err := with("predictors", e).Run(context.Background(), Config{Seed: 1})
	require.NoError(t, err)
	for _, n := range table.notes {
		if strings.HasPrefix(n, "Without") {
			t.Skip(n)
		}
	}
	for _, r := range table.rows {
		if r.Series != "SJBF, typical" {
			continue
		}
		switch r.Quantity {
		case sc15Ratio:
			require.InDelta(t, 0.4605, r.Ours.Mean, 0.00005, "the published best single setting has 0.4632")
		case sc15Ratio + secondHalf:
			require.InDelta(t, 0.4955, r.Ours.Mean, 0.00005)
		}
	}
}
