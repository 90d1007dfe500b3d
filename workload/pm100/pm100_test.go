package pm100_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/pm100"
)

// job is a row in the published layout, with columns for what is tested.
type job struct {
	ID        int64     `parquet:"job_id"`
	Submit    time.Time `parquet:"submit_time,timestamp(nanosecond)"`
	Eligible  time.Time `parquet:"eligible_time,timestamp(nanosecond)"`
	Start     time.Time `parquet:"start_time,timestamp(nanosecond)"`
	End       time.Time `parquet:"end_time,timestamp(nanosecond)"`
	Run       *int64    `parquet:"run_time,optional"`
	Limit     int64     `parquet:"time_limit"`
	Nodes     int64     `parquet:"num_nodes_req"`
	Given     int64     `parquet:"num_nodes_alloc"`
	Cores     int64     `parquet:"num_cores_alloc"`
	GPUs      int64     `parquet:"num_gpus_alloc"`
	User      int64     `parquet:"user_id"`
	Partition string    `parquet:"partition,dict"`
	State     string    `parquet:"job_state,dict"`
	NodeList  []int64   `parquet:"nodes,list"`
	Power     []float64 `parquet:"node_power_consumption,list"`
}

func TestATableOfMarconi100IsRead(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(1_590_000_000+s, 0).UTC() }
	run := int64(99)
	var out bytes.Buffer
	w := parquet.NewGenericWriter[job](&out, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1))
	_, err := w.Write([]job{
		{10, at(0), at(1), at(5), at(105), &run, 60, 2, 2, 256, 8, 41, "p1", "COMPLETED", []int64{3, 4}, []float64{1000, 1100, 1200}},
		{12, at(3), at(3), at(9), at(29), nil, 4294967295, 1, 1, 128, 4, 42, "p2", "CANCELLED", nil, nil},
		{11, at(7), at(7), at(9), at(29), nil, 1, 1, 1, 128, 4, 42, "p1", "TIMEOUT", nil, []float64{500}},
		{13, at(7), at(7), at(9), at(29), nil, 1, -1, 1, 128, 4, 42, "p1", "RUNNING", nil, []float64{500}},
	})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "job_table.parquet")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))

	trace, err := workload.Options{Formats: []workload.Format{pm100.Format{}}}.Open(path)
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
	type local struct {
		ID     int64  `parquet:"job_id"`
		Submit int64  `parquet:"submit_time,timestamp(microsecond:local)"`
		Start  int64  `parquet:"start_time,timestamp(microsecond:local)"`
		End    int64  `parquet:"end_time,timestamp(microsecond:local)"`
		Given  int64  `parquet:"num_nodes_alloc"`
		State  string `parquet:"job_state,dict"`
	}
	const noon = 1_590_000_000_000_000
	var out bytes.Buffer
	w := parquet.NewGenericWriter[local](&out)
	_, err := w.Write([]local{
		{1, noon, noon + 5e6, noon + 2e6, 1, "COMPLETED"}, {2, noon, noon, noon, 1, "CANCELLED by 7"}, {3, noon, noon, noon, 1, "OUT_OF_MEMORY"}, {4, noon, noon, noon, 1, "PREEMPTED"}, {5, noon, noon, noon, 1, "?"},
	})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "job_table.parquet")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	trace, err := workload.Options{Format: pm100.Format{Zone: time.FixedZone("CEST", 2*3600)}}.Open(path)
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
