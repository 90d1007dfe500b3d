package where_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/expression"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/where"
)

func bind(t require.TestingT, text string, h *workload.Header, o workload.Options) func(*workload.Record, int64) bool {
	f, err := where.Parse(text)
	require.NoError(t, err, text)
	is, err := f.Bind(h, o.ProcsFrom)
	require.NoError(t, err, text)
	return is
}

func header() *workload.Header {
	h := &workload.Header{Columns: []workload.Column{{Name: "gpus"}, {Name: "qos", Text: true}, {Name: "user"}, {Name: "node list", Text: true}}}
	h.Add("UnixStartTime", "843480031") // Monday, 23 September 1996, 14:00:31 in Stockholm
	h.Add("TimeZoneString", "Europe/Stockholm")
	h.Add("Queue", "5 debug")
	h.Names(workload.FieldUser).Set(12, "alice")
	return h
}

func record() *workload.Record {
	return &workload.Record{
		Job: 1, Submit: 2 * des.Second, Wait: 3 * des.Second, Runtime: 4 * des.Second, Allocated: 15, CPUTime: 6 * des.Second, UsedMemory: 7,
		Requested: 8, Estimate: 9 * des.Second, RequestedMemory: 10, Status: 5, User: 12, Group: 13, Executable: 14, Queue: 5, Partition: 16,
		Preceding: 17, ThinkTime: 18 * des.Second,
		More: []workload.Value{workload.NumberValue(2), workload.TextValue("high"), workload.NumberValue(99), workload.UnknownValue},
	}
}

func TestFiltersSpeakOfAllThatARecordSays(t *testing.T) {
	for text, want := range map[string]bool{
		"id == 1 and submit == 2 and wait == 3 and runtime == 4 and allocated == 15 and cpu == 6 and used_memory == 7": true,
		"requested == 8 and estimate == 9 and memory == 10 and status == 5 and user == 12 and group == 13":             true,
		"executable == 14 and queue == 5 and partition == 16 and preceding == 17 and think == 18 and line == 77":       true,
		"procs == 8": true, "procs == 15": false,
		"status == 'cancelled'": true, "status in ['completed', 'failed']": false,
		"user == 'alice'": true, "queue in ['debug', 'batch']": true, "group == 'staff'": false,
		"hour == 14": true, "day == 1": true, "day == 'monday'": true, "date == '1996-09-23'": true, "date > '1996-09-23'": false,
		"gpus == 2": true, "qos == 'high'": true, "qos == 'low'": false, "column.user == 99": true,
		"known(column['node list'])": false, "column['node list'] != 'n1'": false,
	} {
		require.Equal(t, want, bind(t, text, header(), workload.Options{})(record(), 77), text)
	}
	require.True(t, bind(t, "procs == 15", header(), workload.Options{Conventions: workload.Conventions{ProcsFrom: workload.ProcsMax}})(record(), 1))
	zeros := &workload.Record{}
	require.True(t, bind(t, "queue == 0 and status == 'failed' and runtime == 0 and wait == 0 and not known(procs)", header(), workload.Options{})(zeros, 1))
	for _, field := range where.Fields() {
		is := bind(t, "known("+field+")", header(), workload.Options{})
		require.True(t, is(record(), 1), field)
		nothing := &workload.Record{
			Job: 1, Submit: workload.UnknownTime, Wait: workload.UnknownTime, Runtime: workload.UnknownTime, Allocated: -1, CPUTime: workload.UnknownTime,
			UsedMemory: -1, Requested: -1, Estimate: workload.UnknownTime, RequestedMemory: -1, Status: -1, User: -1, Group: -1, Executable: -1, Queue: -1,
			Partition: -1, Preceding: -1, ThinkTime: workload.UnknownTime,
		}
		require.Equal(t, field == "id" || field == "line", is(nothing, 1), field)
	}
}

func TestHoursAndDaysAreThoseOfTheLogsZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Stockholm")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		rec := record()
		rec.Submit = des.Time(rapid.IntRange(0, 40_000_000).Draw(t, "submit")) * des.Second
		at := time.Unix(843480031, 0).Add(time.Duration(rec.Submit/des.Second) * time.Second).In(zone)
		weekday := strings.ToLower(at.Weekday().String())
		require.True(t, bind(t, fmt.Sprintf("hour == %d and day == %q and date == %q", at.Hour(), weekday, at.Format("2006-01-02")), header(), workload.Options{})(rec, 1))
		require.Equal(t, weekday == "saturday" || weekday == "sunday", bind(t, "day in 6..7", header(), workload.Options{})(rec, 1))
	})
}

func TestWhatALogDoesNotTellIsToldWithItsColumn(t *testing.T) {
	for text, want := range map[string]string{
		"user == 1 and gpu > 0": `column 15: "gpu" is not known: a filter has`,
		"hour < 8":              "column 1: there is no hour here: the log's header does not say when it starts (UnixStartTime)",
		"column.gpus > 1":       `there is no column "gpus"`,
		"status == 'canceled'":  `status is one of failed, completed, partial, partial-done, partial-failed, cancelled, never "canceled"`,
		"day == 'Monday'":       "there is no day here",
	} {
		f, err := where.Parse(text)
		require.NoError(t, err)
		_, err = f.Bind(&workload.Header{}, 0)
		require.ErrorContains(t, err, want)
		var wrong *expression.Error
		require.ErrorAs(t, err, &wrong)
	}
	for _, text := range []string{"", "user ==", "user == 1\nand user == 2"} {
		_, err := where.Parse(text)
		require.Error(t, err, text)
	}
	h := &workload.Header{}
	h.Add("UnixStartTime", "843480031")
	f, err := where.Parse("hour < 8")
	require.NoError(t, err)
	_, err = f.Bind(h, 0)
	require.ErrorContains(t, err, "TimeZoneString")
	h.Add("TimeZoneString", "Mars/Olympus")
	_, err = f.Bind(h, 0)
	require.ErrorContains(t, err, "is not known here")
}

const log = `; MaxProcs: 8
1 0 1 10 4 -1 -1 4 20 -1 1 3 -1 -1 -1 -1 -1 -1
2 5 1 -1 4 -1 -1 4 20 -1 0 3 -1 -1 -1 -1 -1 -1
3 6 1 10 1 -1 -1 1 20 -1 1 4 -1 -1 -1 -1 -1 -1
broken line
4 7 1 10 1 -1 -1 1 20 -1 2 4 -1 -1 -1 -1 -1 -1
5 9 1 10 2 -1 -1 2 20 -1 1 -1 -1 -1 -1 -1 -1 -1
`

func open(t require.TestingT, text string, filter string) *workload.Trace {
	f, err := where.Parse(filter)
	require.NoError(t, err)
	trace, err := workload.Options{Part: workload.Part{Where: f}, Reading: workload.Reading{Stdin: strings.NewReader(text)}}.Open(workload.StandardInput)
	require.NoError(t, err)
	return trace
}

func TestTheLinesOfAFilteredLogAddUp(t *testing.T) {
	for filter, want := range map[string]struct{ jobs, filtered int64 }{
		"true": {4, 0}, "user == 3": {1, 3}, "user != 3": {2, 3}, "line >= 5": {2, 3}, "id == 9": {0, 5},
	} {
		trace := open(t, log, filter)
		jobs, err := trace.Open()
		require.NoError(t, err)
		n := int64(len(slices.Collect(jobs.Jobs())))
		require.NoError(t, jobs.Err())
		r := jobs.Report()
		require.Equal(t, want.jobs, n, filter)
		require.Equal(t, want.filtered, r.Count(workload.Filtered), filter)
		require.Equal(t, r.Lines, r.Jobs+r.Total(workload.Damaged)+r.Total(workload.LeftOut), filter)

		n = 0
		for _, err := range trace.Selected() {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 5-want.filtered, n)
		load, err := trace.OfferedLoad()
		require.NoError(t, err)
		if filter == "user == 3" {
			require.True(t, load > 1e9, "all work at one instant: %v", load)
		}
	}
}

func TestBurstsOfAJobThatIsFilteredAreNoJobs(t *testing.T) {
	trace := open(t, `; MaxProcs: 8
1 0 1 10 4 -1 -1 4 20 -1 1 3 -1 -1 -1 -1 -1 -1
1 0 1 6 4 -1 -1 4 20 -1 2 4 -1 -1 -1 -1 -1 -1
1 8 1 4 4 -1 -1 4 20 -1 3 4 -1 -1 -1 -1 -1 -1
`, "user == 4")
	require.Empty(t, slices.Collect(trace.Jobs()))
	require.EqualValues(t, 1, trace.Report().Count(workload.Filtered))
	require.EqualValues(t, 2, trace.Report().Count(workload.PartialRun))
}

func TestAFilterAndItsOppositePartitionALog(t *testing.T) {
	atoms := []string{"user == 1", "user != 1", "procs in 2..3", "known(estimate)", "wait > 3", "status == 'completed'", "queue in [0, 2]", "runtime < estimate"}
	rapid.Check(t, func(t *rapid.T) {
		unknown := rapid.Int64Range(-1, 4)
		var b strings.Builder
		n := rapid.IntRange(1, 30).Draw(t, "records")
		for i := range n {
			at := func(name string) int64 { return unknown.Draw(t, name) }
			fmt.Fprintf(&b, "%d %d %d %d %d -1 -1 %d %d -1 %d %d -1 -1 %d -1 -1 -1\n", i+1, i, at("wait"), at("runtime"), at("alloc"), at("req"), at("estimate"), rapid.SampledFrom([]int{-1, 0, 1, 5}).Draw(t, "status"), at("user"), at("queue"))
		}
		e := rapid.SampledFrom(atoms).Draw(t, "e") + rapid.SampledFrom([]string{" and ", " or "}).Draw(t, "op") + rapid.SampledFrom(atoms).Draw(t, "f")
		numbers := func(filter string) (all []int64) {
			next, stop := iter.Pull2(open(t, b.String(), filter).Selected())
			defer stop()
			for rec, err, ok := next(); ok; rec, err, ok = next() {
				require.NoError(t, err)
				all = append(all, rec.Job)
			}
			return all
		}
		both := append(numbers(e), numbers("not ("+e+")")...)
		slices.Sort(both)
		require.Equal(t, numbers("true"), both)
		require.Len(t, both, n)
	})
}

func TestJobsBringTheColumnsOfTheirLog(t *testing.T) {
	trace, err := workload.Options{Reading: workload.Reading{Format: columned{}, Stdin: strings.NewReader("x")}}.Open(workload.StandardInput)
	require.NoError(t, err)
	jobs := slices.Collect(trace.Jobs())
	require.Len(t, jobs, 2)
	for i, j := range jobs {
		gpus, _ := j.Extra.(entity.Columns).Column("gpus")
		require.EqualValues(t, i, gpus)
		_, none := j.Extra.(entity.Columns).Column("qos")
		require.Empty(t, none)
	}
}

// columned is a log of two jobs with 0 and 1 GPUs, which stand in one array.
type columned struct{}

func (columned) Name() string            { return "columned" }
func (columned) Endings() []string       { return nil }
func (columned) Is(*workload.Input) bool { return true }
func (columned) Survey(*workload.Input) (*workload.Header, error) {
	return &workload.Header{Columns: []workload.Column{{Name: "gpus"}}}, nil
}

func (columned) Read(_ *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	r := &columnedReader{h: h, rec: *record()}
	r.rec.More = make([]workload.Value, 1)
	return r, nil
}

type columnedReader struct {
	h      *workload.Header
	rec    workload.Record
	line   int64
	report workload.Report
}

func (r *columnedReader) Header() *workload.Header { return r.h }
func (r *columnedReader) Next() bool {
	r.line++
	r.rec.Job, r.rec.More[0], r.rec.Status = r.line, workload.NumberValue(float64(r.line-1)), workload.StatusCompleted
	return r.line <= 2
}
func (r *columnedReader) Record() *workload.Record { return &r.rec }
func (r *columnedReader) Line() int64              { return r.line }
func (r *columnedReader) Err() error               { return nil }
func (r *columnedReader) Report() *workload.Report { return &r.report }
