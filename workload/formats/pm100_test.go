package formats_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
)

// testdata/write.go shows the rows of this table and of the next.
func TestATableOfMarconi100IsRead(t *testing.T) {
	trace, err := workload.Options{Reading: workload.Reading{Formats: []workload.Format{formats.PM100{}}}}.Open("testdata/job_table.parquet")
	require.NoError(t, err)
	require.Equal(t, "pm100", trace.Format.Name(), "it is recognised")
	require.Equal(t, 980, trace.MaxProcs)
	require.EqualValues(t, 1_590_000_000, trace.Header.UnixStartTime)
	require.False(t, trace.Header.Unsorted)
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	var all []*workload.Record
	for rec := range r.Records() {
		all = append(all, rec.Clone())
		*rec = workload.Record{} // whoever has asked for it may change it
	}
	require.NoError(t, r.Err())
	require.Len(t, all, 4)
	first := all[0]
	require.EqualValues(t, 10, first.Job)
	require.Equal(t, 5*des.Second, first.Wait)
	require.Equal(t, 99*des.Second, first.Runtime, "as the table has it, not by the clock")
	require.Equal(t, 3600*des.Second, first.Estimate)
	require.EqualValues(t, 41, first.User, "numbers stay")
	require.Equal(t, "p1", trace.Header.Names(workload.FieldPartition).Name(first.Partition))
	require.Equal(t, []int64{workload.StatusCompleted, workload.StatusCancelled, workload.StatusFailed, workload.Unknown}, []int64{all[0].Status, all[1].Status, all[2].Status, all[3].Status})
	require.Equal(t, 20*des.Second, all[1].Runtime)
	require.Equal(t, workload.UnknownTime, all[1].Estimate, "infinite")
	require.EqualValues(t, workload.Unknown, all[3].Requested)
	more := func(i int, name string) workload.Value {
		for k, c := range trace.Header.Columns {
			if c.Name == name {
				return all[i].More[k]
			}
		}
		require.Fail(t, name)
		return workload.Value{}
	}
	require.Equal(t, 1100.0, more(0, "power").Number)
	require.False(t, more(1, "power").Known())
	require.Equal(t, 8.0, more(0, "gpus").Number)
	require.Equal(t, 1.0, more(0, "eligible").Number)
	require.Equal(t, "COMPLETED", more(0, "state").Text)
	require.Equal(t, "3,4", more(0, "node_list").Text)
	require.EqualValues(t, 1, r.Report().Count(workload.NumberNotAscending))
}

func TestClocksOnTheWallAreReadInTheirZone(t *testing.T) {
	trace, err := workload.Options{Reading: workload.Reading{Format: formats.PM100{Zone: time.FixedZone("CEST", 2*3600)}}}.Open("testdata/local.parquet")
	require.NoError(t, err)
	require.EqualValues(t, 1_590_000_000-2*3600, trace.Header.UnixStartTime)
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	require.True(t, r.Next())
	require.Equal(t, 5*des.Second, r.Record().Wait)
	require.Equal(t, workload.UnknownTime, r.Record().Runtime, "it ended before it began")
	for _, status := range []int64{workload.StatusCancelled, workload.StatusFailed, workload.StatusFailed, workload.Unknown} {
		require.True(t, r.Next())
		require.Equal(t, status, r.Record().Status, "states are Slurm's")
	}
}
