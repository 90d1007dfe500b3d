package formats_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

func recordsAndLines(t require.TestingT, f formats.Google, path string) (*workload.Trace, []*workload.Record, []int64, *workload.Report) {
	trace, err := workload.Options{Reading: workload.Reading{Format: f}}.Open(path)
	require.NoError(t, err)
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	var all []*workload.Record
	var lines []int64
	for rec := range r.Records() {
		all, lines = append(all, rec.Clone()), append(lines, r.Line())
		*rec = workload.Record{} // whoever has asked for it may change it
	}
	require.NoError(t, r.Err())
	return trace, all, lines, r.Report()
}

func TestEventsOfJobsAreFolded(t *testing.T) {
	trace, all, lines, report := recordsAndLines(t, formats.Google{Size: 4}, "testdata/job_events.csv")
	require.Equal(t, time.Date(2011, 5, 1, 23, 0, 0, 0, time.UTC), time.Unix(trace.Header.UnixStartTime+600, 0).UTC())
	var got []string
	for i, rec := range all {
		got = append(got, fmt.Sprintf("line %d: job %d at %v: waits %v, runs %v, %d processors, status %d, user %s: %s %s",
			lines[i], rec.Job, rec.Submit, rec.Wait, rec.Runtime, rec.Requested, rec.Status, trace.Header.Names(workload.FieldUser).Name(rec.User), rec.More[1].Text, rec.More[2].Text))
	}
	unknown := workload.UnknownTime.String()
	require.Equal(t, []string{
		"line 3: job 101 at 5: waits 2.5, runs 1.5, 4 processors, status 1, user userB: finish jobB",
		"line 9: job 104 at 0: waits " + unknown + ", runs " + unknown + ", 4 processors, status 5, user userB: kill jobD",
		"line 4: job 102 at 6: waits 2, runs 1.8, 4 processors, status 5, user userA: kill job,C",
		"line 1: job 100 at 0: waits " + unknown + ", runs " + unknown + ", 4 processors, status 0, user userA: evict jobA",
		"line 8: job 103 at 9: waits " + unknown + ", runs " + unknown + ", 4 processors, status 0, user userB: fail jobB",
	}, got)
	require.EqualValues(t, 14, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
	require.EqualValues(t, 7, report.Count(workload.JobStep))
}

func TestEveryAttemptOfATaskIsAJob(t *testing.T) {
	trace, all, lines, report := recordsAndLines(t, formats.Google{Table: formats.TaskEvents}, "testdata/task_events.csv")
	require.Equal(t, []int64{1, 5, 6}, lines)
	require.Equal(t, []des.Time{1 * des.Second, 4 * des.Second, 4*des.Second + 1}, []des.Time{all[0].Submit, all[1].Submit, all[2].Submit})
	require.Equal(t, []des.Time{2 * des.Second, 3 * des.Second, workload.UnknownTime}, []des.Time{all[0].Runtime, all[1].Runtime, all[2].Runtime})
	require.Equal(t, []int64{workload.StatusFailed, workload.StatusCompleted, workload.Unknown}, []int64{all[0].Status, all[1].Status, all[2].Status})
	more := map[string]workload.Value{}
	for i, c := range trace.Header.Columns {
		more[c.Name] = all[0].More[i]
	}
	require.Equal(t, "100", more["array"].Text)
	require.Equal(t, 0.0, more["array_index"].Number)
	require.Equal(t, "m1", more["node_list"].Text)
	require.Equal(t, 10.0, more["priority"].Number, "the latest")
	require.Equal(t, 0.25, more["cpu_share"].Number)
	require.Equal(t, 2.0, more["scheduling_class"].Number)
	require.False(t, all[2].More[6].Known())
	require.EqualValues(t, 8, report.Lines)
	require.EqualValues(t, 5, report.Count(workload.JobStep))
}

// Lives that are laid out by hand come back, however they are interleaved.
func TestLivesComeBackFromTheirEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.csv")
	rapid.Check(t, func(t *rapid.T) {
		type event struct {
			at   int64
			text string
		}
		var events []event
		want := map[int64]string{}
		for job := range int64(rapid.IntRange(1, 12).Draw(t, "jobs")) {
			from := rapid.Int64Range(1, 1e9).Draw(t, "from")
			wait, run := rapid.Int64Range(0, 1e9).Draw(t, "wait"), rapid.Int64Range(0, 1e9).Draw(t, "run")
			end := rapid.Int64Range(2, 6).Draw(t, "end")
			for _, e := range [][2]int64{{0, from}, {1, from + wait}, {end, from + wait + run}} {
				kind, at := e[0], e[1]
				events = append(events, event{at*10 + min(kind, 2), fmt.Sprintf("%d,,%d,%d,u,0,n,l", at, job, kind)})
			}
			want[job] = fmt.Sprint(from, wait, run)
		}
		for i := range events { // a plain sort, by what was put behind the instants
			for k := range i {
				if events[i].at < events[k].at {
					events[i], events[k] = events[k], events[i]
				}
			}
		}
		var b strings.Builder
		for _, e := range events {
			b.WriteString(e.text + "\n")
		}
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
		_, all, _, report := recordsAndLines(t, formats.Google{}, path)
		got := map[int64]string{}
		for _, rec := range all {
			got[rec.Job] = fmt.Sprint(int64(rec.Submit), int64(rec.Wait), int64(rec.Runtime))
		}
		require.Equal(t, want, got)
		require.Equal(t, report.Lines, int64(len(all))+report.Total(workload.LeftOut))
	})
}

func FuzzGoogle(f *testing.F) {
	for i, name := range formats.GoogleTables {
		text, err := os.ReadFile("testdata/" + name + ".csv")
		require.NoError(f, err)
		f.Add(uint8(i), string(text))
		f.Add(uint8(i), "0")
	}
	f.Fuzz(func(t *testing.T, table uint8, text string) {
		_, all, report, err := logtest.Read(formats.Google{Table: formats.GoogleTable(table % 2)}, strings.NewReader(text), false)
		if err != nil {
			require.ErrorContains(t, err, "lines is a record")
			require.Empty(t, all)
			return
		}
		require.Equal(t, report.Lines, int64(len(all))+report.Total(workload.Damaged)+report.Total(workload.LeftOut))
		for _, rec := range all {
			require.GreaterOrEqual(t, rec.Submit, des.Time(0))
			require.Less(t, rec.Submit, des.Time(math.MaxInt64/2))
			require.GreaterOrEqual(t, rec.Runtime, workload.UnknownTime)
		}
	})
}

func TestWhatIsMissingOrTwiceInALifeIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.csv")
	require.NoError(t, os.WriteFile(path, []byte(`1000000,,1,0,u,0,n,l
2000000,,1,1,u,0,n,l
3000000,,1,1,u,0,n,l
4000000,,2,0,u,0,n,l
5000000,,2,1,u,0,n,l
6000000,,2,0,u,0,n,l
7000000,,4,0,u,0,n,l
8000000,,3,0,u,0,n,l
9000000,,1,4,u,0,n,l
9000000,,4,1,u,0,n,l
9000001,,5,1,u,0,n,l
9223372036854775807,,4,4,u,0,n,l
`), 0o600))
	_, all, lines, report := recordsAndLines(t, formats.Google{}, path)
	var got []string
	for i, rec := range all {
		got = append(got, fmt.Sprint(lines[i], " job ", rec.Job, " ", rec.Submit, " ", rec.Wait, " ", rec.Runtime))
	}
	require.Equal(t, []string{
		"4 job 2 4 1 " + workload.UnknownTime.String(), // submitted again before it had ended
		"1 job 1 1 1 7", // from the first time that it was scheduled
		"7 job 4 7 2 " + workload.UnknownTime.String(), // ended after the trace
		"6 job 2 6 " + workload.UnknownTime.String() + " " + workload.UnknownTime.String(),
		"8 job 3 8 " + workload.UnknownTime.String() + " " + workload.UnknownTime.String(),
		"11 job 5 9.000001 " + workload.UnknownTime.String() + " " + workload.UnknownTime.String(), // begun without having been submitted
	}, got)
	require.EqualValues(t, 12, report.Lines)
	require.EqualValues(t, 6, report.Count(workload.JobStep))
}

// The machine of a task is told when it is scheduled, and not by every event after.
func TestATaskKeepsItsMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.csv")
	require.NoError(t, os.WriteFile(path, []byte(`1000000,,1,0,,0,u,2,9,0.5,0.5,0.5,0
2000000,,1,0,m7,1,u,2,9,0.5,0.5,0.5,0
3000000,,1,0,,4,u,2,8,0.5,-1,0.5,0
`), 0o600))
	_, all, _, _ := recordsAndLines(t, formats.Google{Table: formats.TaskEvents}, path)
	require.Len(t, all, 1)
	require.Equal(t, "m7", all[0].More[4].Text)
	require.Equal(t, 8.0, all[0].More[5].Number, "the latest priority")
	require.False(t, all[0].More[7].Known(), "a share below 0 is none")
}

func TestEachLifeHasItsOwnCells(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.csv")
	require.NoError(t, os.WriteFile(path, []byte("1000000,,1,0,u,0,a,l\n2000000,,1,0,u,0,b,l\n3000000,,2,0,u,0,c,l\n"), 0o600))
	_, all, _, _ := recordsAndLines(t, formats.Google{}, path)
	var names []string
	for _, rec := range all {
		names = append(names, rec.More[2].Text)
	}
	require.Equal(t, []string{"a", "b", "c"}, names)
}
