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
	e := read[sc17](t, "sc17")
	page := pageOf("sc17")
	windows, err := e.windows(&page)
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		t.Skip(missing.Error())
	}
	require.NoError(t, err)
	require.Len(t, windows, 15)
	for _, table := range e.Tables[:2] {
		path, err := page.file(table.File)
		if missing := (*MissingError)(nil); errors.As(err, &missing) {
			t.Skip(missing.Error())
		}
		require.NoError(t, err)
		theirs, err := readColumns(path, "FCFS", "WFP3", "UNICEF", table.Shortest, "SAF", "F2")
		require.NoError(t, err)
		for i, o := range sc17Orders[:6] {
			if !table.Exact && o.name == "SJT" { // equal estimates, in an order of their sort's own
				continue
			}
			for _, w := range []int{1, 4} {
				ours, err := e.slowdown(context.Background(), windows[w], o.order, table, e.Sight)
				require.NoError(t, err)
				if table.Exact || o.name != "SAF" {
					require.InEpsilon(t, theirs[w][i], ours, 0.01, "%s, %s, window %d", table.Name, o.name, w+1)
				}
			}
		}
	}
	fcfs, err := e.slowdown(context.Background(), windows[1], sc17Orders[0].order, e.Tables[2], e.Sight)
	require.NoError(t, err)
	path, err := page.file(e.Tables[2].File)
	require.NoError(t, err)
	backfilled, err := readColumns(path, "FCFS")
	require.NoError(t, err)
	require.InEpsilon(t, backfilled[1][0], fcfs, 1e-4)
	whole, err := e.slowdown(context.Background(), windows[1], sc17Orders[4].order, e.Tables[0], 0)
	require.NoError(t, err)
	require.False(t, math.IsNaN(whole))
	require.Less(t, whole, 1.3)
}
