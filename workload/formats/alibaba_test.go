package formats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

func more(t *testing.T, trace *workload.Trace, rec *workload.Record) map[string]any {
	require.Len(t, rec.More, len(trace.Header.Columns))
	all := map[string]any{}
	for i, c := range trace.Header.Columns {
		switch v := rec.More[i]; {
		case !v.Known():
		case c.Text:
			all[c.Name] = v.Text
		default:
			all[c.Name] = v.Number
		}
	}
	return all
}

func sizes(t *testing.T, all []*workload.Record) (n []int64) {
	for _, rec := range all {
		require.Equal(t, rec.Requested, rec.Allocated)
		n = append(n, rec.Requested)
	}
	return n
}

func TestTasksOf2018AreJobs(t *testing.T) {
	trace, all, report := records(t, workload.Options{Reading: workload.Reading{Format: formats.Alibaba{}}}, "testdata/batch_task.csv")
	require.True(t, trace.Header.Unsorted)
	require.Len(t, all, 5)
	require.Equal(t, []int64{5, 1, 1, -1, -1}, sizes(t, all), "4.5 cores take 5")
	require.Equal(t, 100*des.Second, all[0].Submit)
	require.Equal(t, 60*des.Second, all[0].Runtime)
	require.Equal(t, workload.UnknownTime, all[0].Wait)
	require.Equal(t, workload.UnknownTime, all[2].Runtime)
	require.Equal(t, workload.UnknownTime, all[3].Runtime, "outside of the days that were watched")
	require.EqualValues(t, []int64{workload.StatusCompleted, workload.StatusFailed, workload.StatusCompleted, workload.Unknown, workload.StatusCancelled},
		[]int64{all[0].Status, all[1].Status, all[2].Status, all[3].Status, all[4].Status})
	require.Equal(t, map[string]any{"name": "M1", "array": "j_1", "task_type": 1.0, "state": "Terminated", "instances": 3.0, "cores": 4.5, "memory_share": 0.39}, more(t, trace, all[0]))
	require.Equal(t, "1", more(t, trace, all[1])["after"])
	require.Equal(t, "2,3", more(t, trace, all[2])["after"])
	require.NotContains(t, more(t, trace, all[3]), "after")
	require.EqualValues(t, 7, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))

	_, all, _ = records(t, workload.Options{Reading: workload.Reading{Format: formats.Alibaba{Size: formats.Instances}}}, "testdata/batch_task.csv")
	require.Equal(t, []int64{3, 1, 2, 1, 1}, sizes(t, all))
}

// A program has written the lines of a data set: what stands between two commas is the cell, blanks
// around it too, and a number with blanks is no number.
func TestCellsOfADataSetAreTakenAsTheyAre(t *testing.T) {
	path := filepath.Join(t.TempDir(), "batch_task.csv")
	require.NoError(t, os.WriteFile(path, []byte(" M1,3.0,j_1 ,1,Terminated,100,160,150.0,0.39\nM2,3.0,j_1,1,Terminated, 100,160,150.0,0.39\n"), 0o666))
	trace, all, report := records(t, workload.Options{Reading: workload.Reading{Format: formats.Alibaba{}}}, path)
	require.Len(t, all, 1)
	require.Equal(t, " M1", more(t, trace, all[0])["name"])
	require.Equal(t, "j_1 ", more(t, trace, all[0])["array"])
	require.EqualValues(t, 1, report.Total(workload.Damaged), "its start is \" 100\"")
}

func TestInstancesOf2018AreJobsOfOneProcessor(t *testing.T) {
	trace, all, _ := records(t, workload.Options{Reading: workload.Reading{Format: formats.Alibaba{Table: formats.BatchInstance}}}, "testdata/batch_instance.csv")
	require.Equal(t, []int64{1, 1}, sizes(t, all))
	require.Equal(t, 30*des.Second, all[0].Runtime)
	require.Equal(t, workload.UnknownTime, all[1].Runtime)
	require.Equal(t, map[string]any{
		"name": "ins_1", "task": "M1", "array": "j_1", "task_type": 1.0, "state": "Terminated", "node_list": "m_7", "attempt": 1.0, "attempts": 1.0,
		"cores_used": 0.55, "cores_max": 1.2, "memory_share": 0.02, "memory_share_max": 0.04,
	}, more(t, trace, all[0]))
}

func TestTasksOfPAIHaveGPUs(t *testing.T) {
	trace, all, report := records(t, workload.Options{Reading: workload.Reading{Format: formats.Alibaba{Table: formats.PAITask}}}, "testdata/pai_task_table.csv")
	require.Equal(t, []int64{12, 4, 3}, sizes(t, all))
	require.Equal(t, 77*des.Second/2, all[0].Runtime)
	require.Equal(t, map[string]any{
		"array": "job_a", "name": "tensorflow", "state": "Terminated", "instances": 2.0, "cores": 12.0, "memory": 2 * 29.296875 * 1024 * 1024, "gpus": 1.0, "gpu_type": "MISC",
	}, more(t, trace, all[0]))
	require.EqualValues(t, 1, report.Total(workload.Damaged), "no begin")
	_, all, _ = records(t, workload.Options{Reading: workload.Reading{Format: formats.Alibaba{Table: formats.PAITask, Size: formats.GPUs}}}, "testdata/pai_task_table.csv")
	require.Equal(t, []int64{1, -1, 3}, sizes(t, all))
}

func FuzzAlibaba(f *testing.F) {
	for i, name := range formats.AlibabaTables {
		text, err := os.ReadFile("testdata/" + name + ".csv")
		require.NoError(f, err)
		f.Add(uint8(i), uint8(i), string(text))
		f.Add(uint8(i), uint8(i), "0")
	}
	f.Fuzz(func(t *testing.T, table, size uint8, text string) {
		_, all, report, err := logtest.Read(formats.Alibaba{Table: formats.AlibabaTable(table % 3), Size: formats.AlibabaSize(size % 3)}, strings.NewReader(text), false)
		if err != nil {
			require.ErrorContains(t, err, "lines is a record")
			require.Empty(t, all)
			return
		}
		require.Equal(t, report.Lines, int64(len(all))+report.Total(workload.Damaged))
		for _, rec := range all {
			require.GreaterOrEqual(t, rec.Submit, des.Time(0))
			require.GreaterOrEqual(t, rec.Runtime, workload.UnknownTime)
			require.NotZero(t, rec.Requested)
		}
	})
}

// 10 times 1.1 GPUs are 11, though not in floating point.
func TestSizesAreRoundedUpFromWhatIsMeant(t *testing.T) {
	_, all, _, err := logtest.Read(formats.Alibaba{Table: formats.PAITask, Size: formats.GPUs}, strings.NewReader("j,t,10,Terminated,5,6,100,1,110,MISC\nj,t,10,Terminated,5,6,100,1,111,MISC\n"), false)
	require.NoError(t, err)
	require.Equal(t, []int64{11, 12}, sizes(t, all))
}
