package simulation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/results"
)

// failing is a scenario of the first jobs of the sample, on a machine whose processors fail at
// random instants.
func failing(replication uint64) *Scenario {
	sc := New()
	sc.Policies, sc.Workload.Options.First, sc.Flows.Outages = []string{"easy"}, 200, "exponential:mtbf=500d:repair=4h"
	sc.Settings.Replication = replication
	return sc
}

func TestARunOfAReplicationIsRepeatedFromItsManifest(t *testing.T) {
	run := func(sc *Scenario) (fingerprint string, m *metrics.Manifest) {
		dir := t.TempDir()
		_, err := Run(context.Background(), sc, Options{Dir: dir})
		require.NoError(t, err)
		m, err = results.ReadManifest(dir)
		require.NoError(t, err)
		return m.Runs[0].Fingerprint, m
	}
	first, plain := run(failing(0))
	require.NotContains(t, plain.Settings, "replication", "manifests of other runs stay as they were")
	third, m := run(failing(3))
	require.NotEqual(t, first, third, "the replication makes another run")
	require.Equal(t, "3", m.Settings["replication"])
	sc, err := FromManifest(m, "", Standard())
	require.NoError(t, err)
	again, _ := run(sc)
	require.Equal(t, third, again)

	m.Settings["replication"] = "18446744073709551615"
	sc, err = FromManifest(m, "", Standard())
	require.NoError(t, err)
	require.EqualValues(t, uint64(1<<64-1), sc.Settings.Replication)
	m.Settings["replication"] = "-3"
	_, err = FromManifest(m, "", Standard())
	require.EqualError(t, err, `replication: want a whole number of 0 or more, not "-3"`)
}

// A folder tells of several runs of a program only if they are of one replication.
func TestAFolderHoldsRunsOfOneReplication(t *testing.T) {
	dir := t.TempDir()
	simulate := func(policy string, replication uint64) *metrics.Manifest {
		chosen, err := Standard().Policies.Parse(policy)
		require.NoError(t, err)
		_, err = Simulate(context.Background(), &list{jobs: []entity.Job{{ID: 1, Runtime: des.Second, Request: entity.Request{Nodes: 1, Length: des.Second}}}},
			RunSettings{Processors: 2, Policy: chosen.Value, Seed: 1, Replication: replication, Dir: dir, Workload: "mine"})
		require.NoError(t, err)
		m, err := results.ReadManifest(dir)
		require.NoError(t, err)
		return m
	}
	require.Len(t, simulate("fcfs", 1).Runs, 1)
	require.Len(t, simulate("easy", 1).Runs, 2)
	require.Len(t, simulate("easy", 2).Runs, 1)
	require.NotContains(t, simulate("easy", 0).Settings, "replication")
}
