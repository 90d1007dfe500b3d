package rows

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesAreKnownByTheirNames(t *testing.T) {
	s, ok := SchemaOf("jobs-easy-finder=amp.csv")
	require.True(t, ok)
	require.Equal(t, "jobs-POLICY.csv", s.Name)
	s, ok = SchemaOf("summary.csv")
	require.True(t, ok)
	require.Equal(t, "policy", s.Columns[0].Name)
	for _, name := range []string{"requests.csv", "jobs-easy.parquet", "summary.csv.gz", "xjobs-easy.csv"} {
		_, ok = SchemaOf(name)
		require.False(t, ok, name)
	}
}

func TestColumnsHaveTheirOrder(t *testing.T) {
	s, _ := SchemaOf("prices-css.csv")
	columns, err := s.Header([]string{"time", "node", "owner", "price"})
	require.NoError(t, err)
	require.Equal(t, Number, columns[3].Type)
	_, err = s.Header([]string{"node", "time"})
	require.ErrorContains(t, err, `prices-POLICY.csv has no column "time" at this place`)
}

// A kind of file that Schemas forgets is neither removed before a run nor on the page.
func TestKindsHaveFilesOfPoliciesAndSites(t *testing.T) {
	require.Equal(t, "jobs-easy.csv", FileName("jobs", "easy", ""))
	require.Equal(t, "events-oar-north.csv", FileName("events", "oar", "north"))
	require.Equal(t, "perfetto-oar.json", FileName("perfetto", "oar", ""))
	require.Equal(t, "slurm-events-slurm-phase=17.csv", FileName(KindOf("slurm-events.csv"), "slurm-phase=17", ""))
	require.Equal(t, "controller-events-slurm-phase=17.csv", FileName(KindOf("controller-events.csv"), "slurm-phase=17", ""))
	require.Empty(t, FileName("summary", "easy", ""), "one file for all policies")
	var each []string
	for _, kind := range Kinds() {
		if name := FileName(kind, "oar", ""); name != "" {
			each = append(each, name)
		}
	}
	require.Equal(t, each, OfPolicy("oar"))
	require.Contains(t, OfPolicy("oar", "north"), "decisions-oar-north.csv")
	require.NotContains(t, OfPolicy("oar", "north"), "tasks-oar-north.csv", "which has a column for the site")
	require.Equal(t, []string{"slurm-events.csv", "controller-events.csv", "phases.csv", "capacity.csv", "energy.csv", "summary.csv", "nodes.csv", "requests.csv"}, OfAllPolicies())
}
