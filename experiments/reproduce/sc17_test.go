package reproduce

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first window alone has 4,348 jobs; the third is where users' estimates, the window
// on the queue and the order matter most.
func TestWindowsOfCurieAreMetThroughThirtyTwoJobsOfTheQueue(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a published workload")
	}
	e := newSC17()
	windows, err := e.windows()
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		t.Skip(missing.Error())
	}
	require.NoError(t, err)
	require.Len(t, windows, 15)
	for _, table := range sc17Tables[:2] {
		path, err := fieldFile(table.file, sc17How)
		if missing := (*MissingError)(nil); errors.As(err, &missing) {
			t.Skip(missing.Error())
		}
		require.NoError(t, err)
		theirs, err := readColumns(path, "FCFS", "WFP3", "UNICEF", table.shortest, "SAF", "F2")
		require.NoError(t, err)
		for i, o := range sc17Orders[:6] {
			if !table.exact && o.name == "SJT" { // equal estimates, in an order of their sort's own
				continue
			}
			for _, w := range []int{1, 4} {
				ours, err := e.slowdown(context.Background(), windows[w], o.order, table, e.Sight)
				require.NoError(t, err)
				if table.exact || o.name != "SAF" {
					require.InEpsilon(t, theirs[w][i], ours, 0.01, "%s, %s, window %d", table.name, o.name, w+1)
				}
			}
		}
	}
	fcfs, err := e.slowdown(context.Background(), windows[1], sc17Orders[0].order, sc17Tables[2], e.Sight)
	require.NoError(t, err)
	path, err := fieldFile(sc17Tables[2].file, sc17How)
	require.NoError(t, err)
	backfilled, err := readColumns(path, "FCFS")
	require.NoError(t, err)
	require.InEpsilon(t, backfilled[1][0], fcfs, 1e-4)
	whole, err := e.slowdown(context.Background(), windows[1], sc17Orders[4].order, sc17Tables[0], 0)
	require.NoError(t, err)
	require.False(t, math.IsNaN(whole))
	require.Less(t, whole, 1.3)
}
