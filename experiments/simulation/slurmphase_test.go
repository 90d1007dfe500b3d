package simulation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

func TestTheSeedDrawsThePhase(t *testing.T) {
	one, err := slurmPhase("slurm:phase=seed", 1)
	require.NoError(t, err)
	again, err := slurmPhase("slurm:phase=seed", 1)
	require.NoError(t, err)
	two, err := slurmPhase("slurm:phase=seed", 2)
	require.NoError(t, err)
	require.Equal(t, one, again)
	require.NotEqual(t, one, two)
	given, err := slurmPhase("slurm:phase=17", 1)
	require.NoError(t, err)
	require.Equal(t, 17*des.Second, given)

	all := phasesOf(1000, 1)
	seen := map[des.Time]bool{}
	for _, p := range all {
		require.Less(t, p, phases)
		require.Zero(t, p%des.Second)
		seen[p] = true
	}
	require.Len(t, seen, len(all))
}
