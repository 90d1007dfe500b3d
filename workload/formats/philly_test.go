package formats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

const phillyLog = "testdata/cluster_job_log"

func TestJobsHaveTheGPUsOfTheirLastAttempt(t *testing.T) {
	trace, all, report, err := logtest.ReadFile(workload.Options{Reading: workload.Reading{Formats: []workload.Format{formats.Philly{}}}}, phillyLog)
	require.NoError(t, err)
	require.Equal(t, "philly", trace.Format.Name(), "it is recognised")
	require.Equal(t, time.Date(2017, 10, 7, 1, 0, 0, 0, time.UTC).Unix(), trace.Header.UnixStartTime)
	require.True(t, trace.Header.Unsorted)
	require.Len(t, all, 3)
	first := all[0]
	require.EqualValues(t, 3, first.Requested)
	require.EqualValues(t, 3, first.Allocated)
	require.Equal(t, 60*des.Second, first.Wait)
	require.Equal(t, 29*60*des.Second, first.Runtime)
	require.Equal(t, "u1", trace.Header.Names(workload.FieldUser).Name(first.User))
	require.Equal(t, "vc1", trace.Header.Names(workload.FieldQueue).Name(first.Queue))
	var more []any
	for i, c := range trace.Header.Columns {
		if c.Text {
			more = append(more, first.More[i].Text)
		} else {
			more = append(more, first.More[i].Number)
		}
	}
	require.Equal(t, []any{"application_1_1", "Pass", 3.0, 2.0, "m2,m3", 2.0}, more)
	require.EqualValues(t, workload.Unknown, all[1].Requested)
	require.False(t, all[1].More[3].Known(), "it had no servers")
	require.Equal(t, workload.UnknownTime, all[1].Runtime)
	require.Equal(t, workload.UnknownTime, all[2].Runtime, "it was still running")
	require.Equal(t, 60*des.Second, all[2].Wait)
	require.Equal(t, []int64{workload.StatusCompleted, workload.StatusFailed, workload.StatusCancelled}, []int64{first.Status, all[1].Status, all[2].Status})
	require.EqualValues(t, 5, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
	require.Equal(t, "submitted_time", report.Examples(workload.NotANumber)[0].Column)
}

func TestTheRuntimeOfSeveralAttemptsIsASetting(t *testing.T) {
	for run, want := range map[formats.PhillyRun][2]des.Time{formats.Span: {60, 29 * 60}, formats.Sum: {60, 21 * 60}, formats.Last: {600, 20 * 60}} {
		_, all, _, err := logtest.ReadFile(workload.Options{Reading: workload.Reading{Format: formats.Philly{Run: run}}}, phillyLog)
		require.NoError(t, err)
		require.Equal(t, want, [2]des.Time{all[0].Wait / des.Second, all[0].Runtime / des.Second})
	}
}

func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "cluster_job_log")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestALogThatEndsInTheMiddleIsAnError(t *testing.T) {
	whole, err := os.ReadFile(phillyLog)
	require.NoError(t, err)
	for _, n := range []int{0, 1, 100, len(whole) / 2, len(whole) - 3} {
		_, _, _, err := logtest.ReadFile(workload.Options{Reading: workload.Reading{Format: formats.Philly{}}}, write(t, string(whole[:n])))
		require.Error(t, err, n)
	}
	_, _, _, err = logtest.ReadFile(workload.Options{Reading: workload.Reading{Format: formats.Philly{}}}, write(t, `{"status": 1}`))
	require.EqualError(t, err, "cluster_job_log: it does not begin with an array of jobs")
}

func TestAnObjectOfAnySizeTakesLittleMemory(t *testing.T) {
	text := `[{"status": "` + strings.Repeat("x", 17<<20) + `"}]`
	_, _, _, err := logtest.ReadFile(workload.Options{Reading: workload.Reading{Format: formats.Philly{}}}, write(t, text))
	require.ErrorContains(t, err, "an object takes more than 16777216 bytes")
}

func FuzzPhilly(f *testing.F) {
	whole, err := os.ReadFile(phillyLog)
	require.NoError(f, err)
	f.Add(string(whole))
	f.Fuzz(func(t *testing.T, text string) {
		_, all, report, err := logtest.ReadFile(workload.Options{Reading: workload.Reading{Format: formats.Philly{Run: formats.Sum}}}, write(t, text))
		if err != nil {
			return
		}
		require.Equal(t, report.Lines, int64(len(all))+report.Total(workload.Damaged))
		for _, rec := range all {
			require.GreaterOrEqual(t, rec.Submit, des.Time(0))
			require.GreaterOrEqual(t, rec.Runtime, workload.UnknownTime)
		}
	})
}

func TestALogWithoutAJobIsNoLogOfPhilly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(`[{"submitted_time": "None", "attempts": []}, 7]`), 0o666))
	_, _, _, err := logtest.ReadFile(workload.Options{Reading: workload.Reading{Formats: []workload.Format{formats.Philly{}}}}, path)
	require.ErrorContains(t, err, "none of its 2 lines is a record")
}
