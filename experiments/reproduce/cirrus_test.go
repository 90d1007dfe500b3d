package reproduce

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallCirrus is a folder of published data of three jobs on ten processors: the
// second one waits for the first, rigid, and takes the six processors that are left,
// moldable; the third comes last.
func smallCirrus(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv(referenceVariable, dir)
	for name, text := range map[string]string{
		"cirrus-2024Q1-elastisim-rigid.swf.gz":        "; MaxProcs: 10\n1 0 -1 4 4 -1 -1 4 4 -1 1 1 1 1 1 1 -1 -1\n2 1 -1 2 8 -1 -1 8 2 -1 1 1 1 1 1 1 -1 -1\n3 3 -1 1 1 -1 -1 1 1 -1 1 1 1 1 1 1 -1 -1\n",
		"cirrus-2024Q1-elastisim-rigid-starts.csv.gz": "job,start\n1,0\n2,4\n3,4\n",
		"cirrus-2024Q1-elastisim-moldable.csv.gz":     "job,submit,min_procs,max_procs,base_procs,base_runtime,elastisim_start,elastisim_end\n1,0,2,4,4,4,0,4\n2,1,4,8,8,3,1,5\n3,3,1,2,1,1,4,4.5\n",
		"cirrus-2024Q1-sacct.csv.gz":                  "JobID,NCPUS,NNodes,Submit,Start,End,ElapsedRaw,State\n1,4,1,1000,1060,1470,410,COMPLETED\n2,8,1,1150,1270,1530,260,COMPLETED\n9,1,1,1200,None,1210,0,CANCELLED by 7\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// tenProcessors is the experiment on the machine of smallCirrus.
func tenProcessors(t *testing.T) cirrus {
	c := read[cirrus](t, "cirrus")
	c.Processors = 10
	return c
}

func runCirrus(t *testing.T, c cirrus) map[ref]tableRow {
	t.Helper()
	table, err := with("cirrus", c).Run(t.Context(), Config{Seed: 7})
	require.NoError(t, err)
	require.EqualValues(t, 7, table.seed)
	rows := map[ref]tableRow{}
	for _, r := range table.rows {
		rows[r.ref()] = r
	}
	return rows
}

func TestCirrusByHand(t *testing.T) {
	smallCirrus(t)
	rows := runCirrus(t, tenProcessors(t))
	for _, want := range []struct {
		series, quantity, paper string
		ours                    float64
	}{
		{elastiRigid, cirrusWait, "1.333", 4. / 3}, // 0, 3, 1
		{elastiRigid, cirrusDiffer, "0", 0},
		{elastiMolded, cirrusWait, "0.333", 1. / 3}, // the third waits until 4
		{elastiMolded, cirrusDiffer, "0", 0},
		{elastiCommon, cirrusMinutes, "1.50", 300. / 60 / 2}, // 60 s and 120 s; in ElastiSim's schedule 0 and 3 units
		{"easy, runtimes known", cirrusMinutes, "", 260. / 60 / 2},
		{"easy, runtimes known", cirrusMedian, "", 0},
	} {
		r, ok := rows[ref{want.series, "", want.quantity}]
		require.True(t, ok, want.series)
		require.Equal(t, want.paper, r.Paper, want.series)
		require.InDelta(t, want.ours, r.Ours.Mean, 1e-9, want.series)
	}
	require.Equal(t, "1.50", rows[ref{slurmName, "", cirrusMinutes}].Paper, "one record never started")
}

func TestDamagedCirrusDataAreNamed(t *testing.T) {
	dir := smallCirrus(t)
	path := filepath.Join(dir, "cirrus-2024Q1-elastisim-rigid-starts.csv.gz")
	for text, want := range map[string]string{
		"job,start\n1,0\n2,soon\n": `cirrus-2024Q1-elastisim-rigid-starts.csv.gz, line 3, start: want a number, not "soon"`,
		"job,begin\n1,0\n":         `there is no column "start"`,
		"job,start\n1,0\n3,4\n":    "has no start of job 2",
		"job,start\n1\n":           "line 2: wrong number of fields",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		_, err := with("cirrus", tenProcessors(t)).Run(t.Context(), Config{})
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, os.Remove(path))
	_, err := with("cirrus", tenProcessors(t)).Run(t.Context(), Config{})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
}

// reference has the tests of this package look at published data, or skips.
func reference(t *testing.T) {
	t.Helper()
	if os.Getenv(referenceVariable) == "" {
		t.Skipf("%s is not set: no published data at hand", referenceVariable)
	}
}

func TestCirrusRigidStartForStartAndMoldableAsFarAsTiesAllow(t *testing.T) {
	reference(t)
	rows := runCirrus(t, read[cirrus](t, "cirrus"))
	require.Zero(t, rows[ref{elastiRigid, "", cirrusDiffer}].Ours.Mean)
	require.Equal(t, "165.994", rows[ref{elastiRigid, "", cirrusWait}].Paper)
	require.Equal(t, "135.289", rows[ref{elastiMolded, "", cirrusWait}].Paper)
	require.InEpsilon(t, 135.289, rows[ref{elastiMolded, "", cirrusWait}].Ours.Mean, 0.003)
	require.Equal(t, "51.17", rows[ref{slurmName, "", cirrusMinutes}].Paper)
}
