package slurm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// Nothing of the last run of backfill holds when a node has gone: a job that was planned on all nodes is not any more.
func TestARunRecallsNothingOfNodesThatHaveGone(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	r.submit(0, &Job{Tasks: 12})
	waits := r.submit(des.Second, &Job{Tasks: 16})
	r.until(100 * des.Second)
	require.NotZero(t, r.PlannedStart(waits))
	require.NoError(t, r.Drain(101*des.Second, []int{0}))
	r.until(200 * des.Second)
	require.Zero(t, r.PlannedStart(waits))
}
