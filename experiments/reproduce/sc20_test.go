package reproduce

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// published runs an experiment on published data, or skips where these are not at hand.
func published(t *testing.T, e Experiment) Reproduction {
	t.Helper()
	if testing.Short() {
		t.Skip("runs published workloads")
	}
	table, err := e.Run(context.Background(), Config{Seed: 1})
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		t.Skip(missing.Error())
	}
	require.NoError(t, err)
	return table
}

func TestTablesOfRLSchedulerAreMetToTheLastDigit(t *testing.T) {
	table := published(t, named(t, "sc20"))
	ours := map[string]string{}
	met := 0
	for _, r := range table.rows {
		text := strconv.FormatFloat(r.Ours.Mean, 'f', 2, 64)
		ours[r.Series+" "+r.Variant+" "+r.Quantity] = text
		for _, theirs := range []string{r.Paper, r.Code} {
			if theirs != "" && r.Series != "RL" {
				require.Equal(t, theirs, text, "%s, %s, %s", r.Series, r.Variant, r.Quantity)
				met++
			}
		}
	}
	require.Equal(t, 24, met)
	for row, want := range map[string]string{
		"SJF textbook Lublin-1": "47.16", "smallest area textbook Lublin-1, backfilling": "34.38",
		"SJF textbook Lublin-2": "205.88", "smallest area textbook Lublin-2, backfilling": "72.73",
	} {
		require.Equal(t, want, ours[row], row)
	}
}

func TestWithoutItsDataAnExperimentSaysWhereTheyAreToBeHad(t *testing.T) {
	t.Setenv(referenceVariable, t.TempDir())
	_, err := named(t, "sc20").Run(context.Background(), Config{Seed: 1})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "DIR-LAB/deep-batch-scheduler")
	require.ErrorContains(t, err, referenceVariable)
}
