package sacct

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
)

// opened is a log whose text is given, in that format.
func opened(text string, o workload.Options) (*workload.Trace, error) {
	o.Stdin = strings.NewReader(text)
	if o.Format == nil {
		o.Format = Format{}
	}
	return o.Open(workload.StandardInput)
}

// read is a log's header, its records and the tally of them.
func read(t require.TestingT, text string) (*workload.Header, []*workload.Record, *workload.Report) {
	trace, err := opened(text, workload.Options{})
	require.NoError(t, err)
	records, err := recordsOf(trace)
	require.NoError(t, err)
	return trace.Header, records, trace.Report()
}

func recordsOf(trace *workload.Trace) (all []*workload.Record, err error) {
	trace.Options.Sort = false
	for rec, err := range trace.Selected() {
		if err != nil {
			return all, err
		}
		all = append(all, rec.Clone())
		*rec = workload.Record{} // whoever has asked for it may change it
	}
	return all, nil
}

// more is what a record says in a column: a number, a text, or nil.
func more(t require.TestingT, h *workload.Header, rec *workload.Record, name string) any {
	for i, c := range h.Columns {
		if c.Name == name {
			switch v := rec.More[i]; {
			case !v.Known():
				return nil
			case c.Text:
				require.True(t, math.IsNaN(v.Number))
				return v.Text
			default:
				require.Empty(t, v.Text)
				return v.Number
			}
		}
	}
	return "no such column"
}

const whole1 = `JobID|JobIDRaw|JobName|User|UID|Group|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|AllocCPUS|ReqCPUS|NNodes|ReqMem|MaxRSS|AveCPU|TotalCPU|ReqTRES|AllocTRES|State|ExitCode|NodeList|ConsumedEnergyRaw|Reservation|Priority|Comment
100|100|wrf|ada|1001|met|climate|standard|normal|2024-01-31T10:00:00|2024-01-31T10:00:10|2024-01-31T10:01:00|2024-01-31T11:01:00|3600|1-02:03:04|4|2|1|8G|||01:00:02.5|cpu=2,mem=8G,node=1|cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:a100=2,billing=4|COMPLETED|0:0|n01||maint|4294|a b
100.batch|100.batch|batch|||||||2024-01-31T10:01:00||2024-01-31T10:01:00|2024-01-31T11:01:00|3600||4|4|1||2000K|00:30:00|30:00|||COMPLETED|0:0|n01|1500|||
100.0|100.0|run|||||||2024-01-31T10:01:00||2024-01-31T10:01:00|2024-01-31T11:01:00|3600||4|4|1||1.5M|00:40:00|30:00|||COMPLETED|0:0|n01|500|||
101_7|105|post|bob|1002|met|climate|standard|normal|2024-01-31T09:59:00|2024-01-31T09:59:00|None|2024-01-31T10:30:00|0|UNLIMITED|0|8|1|4000M||||cpu=8,mem=4000M,node=1||CANCELLED by 1002|0:9|None assigned|0||1|
101_[8-9%2]|101|post|bob|1002|met|climate|standard|normal|2024-01-31T09:59:00|Unknown|Unknown|Unknown|0|Partition_Limit|0|8|1|4000M||||cpu=8,mem=4000M,node=1||PENDING|0:0|None assigned|0||1|
102+1|103|het|ada|1001|met|climate|gpu|high|2024-01-31T10:02:00|2024-01-31T10:02:00|2024-01-31T10:02:30|Unknown|90|10:00|16|16|2|0||||cpu=16,node=2|cpu=16,node=2,gres/gpu:v100=3,gres/gpu:a100=1|RUNNING|0:0|n[02-03]|||7|
`

func TestARowBecomesARecord(t *testing.T) {
	h, recs, report := read(t, whole1)
	require.EqualValues(t, 1706695140, h.UnixStartTime, "the earliest submission, 09:59")
	require.True(t, h.Unsorted)
	require.Equal(t, "UTC", h.TimeZone)
	require.Len(t, recs, 4)
	require.EqualValues(t, 6, report.Lines)
	require.EqualValues(t, 2, report.Count(workload.JobStep))
	require.Zero(t, report.Total(workload.Damaged))

	ada := recs[0]
	require.Equal(t, workload.Record{
		Job: 100, Submit: des.Minute, Wait: des.Minute, Runtime: des.Hour, Allocated: 4, CPUTime: 900_625_000 * des.Tick, UsedMemory: workload.Unknown,
		Requested: 2, Estimate: des.Day + 2*des.Hour + 3*des.Minute + 4*des.Second, RequestedMemory: 4 << 20, Status: workload.StatusCompleted,
		User: 1, Group: 1, Executable: workload.Unknown, Queue: 1, Partition: 1, Preceding: workload.Unknown, ThinkTime: workload.UnknownTime, More: ada.More,
	}, *ada)
	require.Equal(t, "ada", h.Names(workload.FieldUser).Name(1))
	require.Equal(t, "bob", h.Names(workload.FieldUser).Name(2))
	require.Equal(t, "met", h.Names(workload.FieldGroup).Name(1))
	require.Equal(t, "gpu", h.Names(workload.FieldPartition).Name(2))
	for name, want := range map[string]any{
		"state": "COMPLETED", "cancelled_by": nil, "exit_code": 0., "signal": 0., "array": nil, "array_index": nil, "eligible": 70., "end": nil, "elapsed": nil,
		"time_limit": nil, "memory": 8. * 1024 * 1024, "max_rss": 2000., "ave_cpu": 2400., "total_cpu": 3602.5, "energy": 2000., "gpus": 2.,
		"tres": "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:a100=2,billing=4", "req_tres": "cpu=2,mem=8G,node=1",
		"name": "wrf", "account": "climate", "qos": "normal", "nodes": 1., "node_list": "n01", "reservation": "maint", "priority": 4294., "comment": "a b", "uid": 1001.,
	} {
		require.Equal(t, want, more(t, h, ada, name), name)
	}

	gone := recs[1]
	require.EqualValues(t, 105, gone.Job)
	require.EqualValues(t, workload.StatusCancelled, gone.Status)
	require.Equal(t, workload.UnknownTime, gone.Wait)
	require.Equal(t, workload.UnknownTime, gone.Runtime)
	require.Equal(t, workload.UnknownTime, gone.Estimate)
	for name, want := range map[string]any{
		"state": "CANCELLED", "cancelled_by": 1002., "array": "101", "array_index": 7., "end": 31 * 60., "signal": 9., "time_limit": "UNLIMITED",
		"node_list": nil, "memory": 4000. * 1024, "gpus": nil, "energy": 0.,
	} {
		require.Equal(t, want, more(t, h, gone, name), name)
	}

	waits := recs[2]
	for name, want := range map[string]any{"state": "PENDING", "array": "101", "array_index": nil, "array_tasks": "[8-9%2]", "eligible": nil, "time_limit": "Partition_Limit"} {
		require.Equal(t, want, more(t, h, waits, name), name)
	}
	require.EqualValues(t, workload.Unknown, waits.Status)

	runs := recs[3]
	require.Equal(t, 30*des.Second, runs.Wait)
	require.Equal(t, workload.UnknownTime, runs.Runtime, "nobody knows how long it will run")
	require.Equal(t, 10*des.Minute, runs.Estimate)
	for name, want := range map[string]any{"state": "RUNNING", "het_job": "102", "het_offset": 1., "elapsed": 90., "end": nil, "gpus": 4., "memory": 0., "qos": "high"} {
		require.Equal(t, want, more(t, h, runs, name), name)
	}
}

func TestColumnsComeInAnyOrderAndNumber(t *testing.T) {
	_, recs, _ := read(t, "State|ElapsedRaw|NCPUS|Submit|JobID\nTIMEOUT|60|3|1000|7\n")
	require.EqualValues(t, 7, recs[0].Job)
	require.Equal(t, des.Minute, recs[0].Runtime)
	require.EqualValues(t, 3, recs[0].Allocated)
	require.EqualValues(t, workload.StatusFailed, recs[0].Status)
	_, recs, _ = read(t, "JobID|Submit\n1|2000-02-29 00:00:00\n2|2024-02-29T00:00:01\n")
	require.Len(t, recs, 2)
	_, recs, _ = read(t, "JobIDRaw|Submit|Start|End\n8|1000|1010|1030\n")
	require.EqualValues(t, 8, recs[0].Job)
	require.Equal(t, 20*des.Second, recs[0].Runtime, "from the start to the end, where nothing else tells")
	require.EqualValues(t, workload.Unknown, recs[0].Allocated)
	_, recs, _ = read(t, "JobID|Submit|UID|GID|TimelimitRaw|AllocTRES\n8|1000|0|50|90|cpu=6\n")
	require.EqualValues(t, 0, recs[0].User)
	require.EqualValues(t, 50, recs[0].Group)
	require.Equal(t, 90*des.Minute, recs[0].Estimate)
	require.EqualValues(t, 6, recs[0].Allocated)
}

func TestEverySeparatorIsSeenInTheHeading(t *testing.T) {
	for name, text := range map[string]string{
		"parsable2":     "JobID|JobName|Submit\n7|a \"b|1000\n",
		"parsable":      "JobID|JobName|Submit|\n7|a \"b|1000|\n",
		"windows":       "\xEF\xBB\xBFJobID|JobName|Submit\r\n7|a \"b|1000\r\n",
		"tab":           "JobID\tJobName\tSubmit\n7\ta \"b\t1000\n",
		"several":       "JobID@@JobName@@Submit\n7@@a \"b@@1000\n",
		"several ended": "JobID;;JobName;;Submit;;\n7;;a \"b;;1000;;\n",
		"CSV":           "JobID,JobName,Submit\n7,\"a \"\"b\",1000\n",
		"all in quotes": "\"JobID\";\"JobName\";\"Submit\"\n\"7\";\"a \"\"b\";\"1000\"\n",
		"two files":     "JobID|JobName|Submit\n7|a \"b|1000\n\nJobID|JobName|Submit\n",
	} {
		h, recs, report := read(t, text)
		require.Len(t, recs, 1, name)
		require.Equal(t, `a "b`, more(t, h, recs[0], "name"), name)
		require.EqualValues(t, 1, report.Lines, name)
	}
	h, recs, _ := read(t, "JobID,JobName,Submit\n7,\"a,,\"\"\",1000\n")
	require.Equal(t, `a,,"`, more(t, h, recs[0], "name"))
}

func TestWhatIsNoLogIsToldWithItsReason(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "it is empty; its first line must be the heading that sacct prints",
		"\n\n":                                 "it is empty",
		"7|1000\n":                             "its first line must be the heading",
		"|||\n":                                "its first line must be the heading",
		"User|Submit\nada|1000\n":              "its first line must be the heading",
		"JobID|User\n7|ada\n":                  "standard input:1: it has no column Submit",
		"JobID\n7\n":                           "it has no column Submit",
		"JobID|Submit|Submit\n":                `its heading has no name for column 3, or the name of another one: "Submit"`,
		"JobID|Submit||State\n":                "its heading has no name for column 3",
		"       JobID    JobName\n----- ---\n": "its first line must be the heading",
		"JobID           JobName\n----- ---\n": "have sacct print them with --parsable2",
		"JobID|Submit\n7|soon\n":               `none of its 1 rows is a job (line 2: Submit: text where a number belongs: "soon")`,
		"JobID|Submit|" + strings.Repeat("C|", 10_000) + "\n": "it has 10002 columns",
	} {
		_, err := opened(text, workload.Options{})
		require.ErrorContains(t, err, want, "%.40q", text)
	}
}

func TestDamagedRowsAreLeftOutOrNamed(t *testing.T) {
	const heading = "JobID|JobIDRaw|Submit|Start|End|ElapsedRaw|Timelimit|NCPUS|ReqCPUS\n1|1|1000||||||\n"
	for row, want := range map[string]string{
		"2|2|2000":                       `2 of 9`,
		"2|2|2000||||||1|9":              `line 3: more or fewer fields than the heading has: "2|2|2000||||||1|9"; expected 9 fields, as in the heading`,
		"x|2|2000||||||":                 `line 3: JobID: text where a number belongs: "x"; expected a job's number as in 17, 17_4, 17_[5-9%2] or 17+1`,
		"2_x|2|2000||||||":               `JobID: text where a number belongs: "2_x"`,
		"2-4|2|2000||||||":               `JobID: text where a number belongs: "2-4"`,
		"2_99999999999|2|2000||||||":     `JobID: number out of range`,
		"99999999999999999999|2|1||||||": `JobID: number out of range`,
		"2||2000||||||":                  `JobIDRaw: text where a number belongs: ""; expected a job's number`,
		"2|2|||||||":                     `Submit: text where a number belongs: ""; expected 2024-01-31T10:00:00, or seconds since 1970`,
		"2|2|2024-02-30T10:00:00||||||":  `Submit: number out of range: "2024-02-30T10:00:00"`,
		"2|2|2x24-02-10T10:00:00||||||":  `Submit: text where a number belongs`,
		"2|2|2023-02-29T10:00:00||||||":  `Submit: number out of range`,
		"2|2|2100-02-29T10:00:00||||||":  `Submit: number out of range`,
		"2|2|2024-04-31T10:00:00||||||":  `Submit: number out of range`,
		"2|2|2024-13-01T10:00:00||||||":  `Submit: number out of range`,
		"2|2|2024-02-10T24:00:00||||||":  `Submit: number out of range`,
		"2|2|2024-02-10 1a:00:00||||||":  `Submit: text where a number belongs`,
		"2|2|1969-12-31T23:59:59||||||":  `Submit: number out of range`,
		"2|2|2000|19x|||||":              `Start: text where a number belongs`,
		"2|2|2000||-4||||":               `End: text where a number belongs`,
		"2|2|2000|||1.x|||":              `ElapsedRaw: text where a number belongs: "1.x"; expected a time as in 1-02:03:04`,
		"2|2|2000||||1:2:3:4||":          `Timelimit: text where a number belongs`,
		"2|2|2000||||1-||":               `Timelimit: text where a number belongs`,
		"2|2|2000|||||4x|":               `AllocCPUS: text where a number belongs: "4x"; expected a whole number`,
		"2|2|2000||||||5000000000":       `ReqCPUS: number out of range`,
	} {
		want = strings.Replace(strings.Replace(want, "AllocCPUS", "NCPUS", 1), "line 3: ", "", 1)
		if want == "2 of 9" {
			want = "more or fewer fields than the heading has"
		}
		trace, err := opened(heading+row+"\n3|3|3000||||||\n", workload.Options{})
		require.NoError(t, err)
		recs, err := recordsOf(trace)
		require.NoError(t, err, row)
		require.Len(t, recs, 2, row)
		require.EqualValues(t, 3, trace.Report().Lines)
		require.EqualValues(t, 1, trace.Report().Total(workload.Damaged), row)

		trace, err = opened(heading+row+"\n", workload.Options{Reading: workload.Reading{Strict: true}})
		require.NoError(t, err)
		recs, err = recordsOf(trace)
		require.Len(t, recs, 1, "what is before the damage stands")
		require.ErrorContains(t, err, "standard input:3: ", row)
		require.ErrorContains(t, err, want, row)
	}
}

func TestAnOddValueBesideTheJobIsTakenAsUnknownAndCounted(t *testing.T) {
	h, recs, report := read(t, "JobID|Submit|Start|Eligible|ReqMem|MaxRSS|AveCPU|TotalCPU|ExitCode|ConsumedEnergyRaw|NNodes|AllocTRES|NCPUS\n"+
		"1|1000|990|soon|16?|x|x|-1|9|much|many|cpu=x|4\n")
	require.Len(t, recs, 1)
	require.EqualValues(t, 10, report.Count(workload.ValueUnreadable), "%v", report)
	for _, name := range []string{"eligible", "memory", "max_rss", "ave_cpu", "total_cpu", "exit_code", "energy", "nodes"} {
		require.Nil(t, more(t, h, recs[0], name), name)
	}
	require.Equal(t, workload.UnknownTime, recs[0].Wait, "it cannot start before it is submitted")
}

func TestStepsGoIntoTheJobAboveThem(t *testing.T) {
	const heading = "JobID|Submit|MaxRSS|AveCPU|ConsumedEnergyRaw\n"
	tests := map[string]struct {
		rows             string
		rss, cpu, energy any
	}{
		"no steps":             {"1|9|||\n", nil, nil, nil},
		"the largest, the sum": {"1|9|||0\n1.batch|9|5K|10|100\n1.extern|9|7K|4|\n1.0|9|6K|12|11\n", 7., 12., 111.},
		"the job's own energy": {"1|9|8K||7\n1.0|9|6K|12|11\n", 8., 12., 7.},
		"another job's":        {"1|9|||\n11.0|9|6K|12|11\n", nil, nil, nil},
		"too late":             {"1|9|||\n2|9|||\n1.0|9|6K|12|11\n", nil, nil, nil},
		"too early":            {"1.0|9|6K|12|11\n1|9|||\n", nil, nil, nil},
		"of a task":            {"1_4|9|||\n1_4.0|9|6K|12|11\n", 6., 12., 11.},
		"of a part":            {"1+1|9|||\n1+0.0|9|6K|12|11\n", nil, nil, nil},
		"twice a row":          {"1|9|||\n1.0|9|6K|12|11\n1|9|||\n1.0|9|9K|12|11\n", 6., 12., 11.},
	}
	for name, c := range tests {
		h, recs, report := read(t, heading+c.rows)
		require.Equal(t, []any{c.rss, c.cpu, c.energy}, []any{more(t, h, recs[0], "max_rss"), more(t, h, recs[0], "ave_cpu"), more(t, h, recs[0], "energy")}, name)
		require.EqualValues(t, strings.Count(c.rows, "."), report.Count(workload.JobStep), name)
		require.EqualValues(t, strings.Count(c.rows, "\n"), int64(len(recs))+report.Count(workload.JobStep), name)
	}
}

func TestMemoryOfANodeAndOfAProcessorIsTheJobs(t *testing.T) {
	for text, want := range map[string]any{
		"4G": 4. * 1024 * 1024, "4096M": 4. * 1024 * 1024, "4096": 4. * 1024 * 1024, "1T": 1024. * 1024 * 1024, "10K": 10., "1.5M": 1536.,
		"4Gn": 8. * 1024 * 1024, "100Mc": 600. * 1024, "0n": 0., "": nil, "4Gx": nil, "4GnK": nil, "G": nil, "1.2.3G": nil,
	} {
		h, recs, _ := read(t, "JobID|Submit|ReqMem|NNodes|ReqCPUS\n1|9|"+text+"|2|6\n")
		require.Equal(t, want, more(t, h, recs[0], "memory"), text)
		if kB, ok := want.(float64); ok {
			require.EqualValues(t, int64(kB/6), recs[0].RequestedMemory)
		}
	}
	h, recs, _ := read(t, "JobID|Submit|MaxRSS\n1|9|2048\n2|9|3K\n3|9|3Kn\n")
	require.Equal(t, []any{2., 3., nil}, []any{more(t, h, recs[0], "max_rss"), more(t, h, recs[1], "max_rss"), more(t, h, recs[2], "max_rss")})
}

func TestLengths(t *testing.T) {
	for text, want := range map[string]des.Time{
		"0": 0, "90": 90 * des.Second, "01:30": 90 * des.Second, "1:00:00": des.Hour, "2-00:00:01": 2*des.Day + des.Second, "1-12": 36 * des.Hour,
		"00:00.001": 1000 * des.Tick, "00:01.5": 1_500_000 * des.Tick, "0:0.0000019": 1,
	} {
		got, _, ok := duration([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", ":", "1:", "-1", "1-2-3", "1:2:3:4", "a", "1.x", "1.5:3", strings.Repeat("9", 30), "9999999999-00:00:00", "999999999999:00:00"} {
		_, _, ok := duration([]byte(text))
		require.False(t, ok, text)
	}
}

func TestWholeNumbersAreThoseOfTheStandardLibraryUpToTheirLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.OneOf(rapid.Int64Range(0, math.MaxInt64), rapid.Just(int64(math.MaxInt64))).Draw(t, "limit")
		text := rapid.OneOf(rapid.StringMatching(`[0-9]{1,21}`), rapid.StringMatching(`92233720368547758[0-9]{2}`),
			rapid.Just(strconv.FormatInt(limit, 10)), rapid.Just(strconv.FormatUint(uint64(limit)+1, 10)), rapid.String()).Draw(t, "text")
		want, err := strconv.ParseInt(text, 10, 64)
		got, _, ok := whole([]byte(text), limit)
		require.Equal(t, err == nil && want <= limit && text[0]-'0' <= 9, ok, text)
		if ok {
			require.Equal(t, want, got)
		}
	})
}

func TestStates(t *testing.T) {
	for text, want := range map[string]struct {
		name   string
		by     float64
		status int64
	}{
		"COMPLETED": {"COMPLETED", -1, workload.StatusCompleted}, "FAILED": {"FAILED", -1, workload.StatusFailed}, "TIMEOUT": {"TIMEOUT", -1, workload.StatusFailed},
		"CANCELLED": {"CANCELLED", -1, workload.StatusCancelled}, "CANCELLED by 17": {"CANCELLED", 17, workload.StatusCancelled}, "CANCELLED+": {"CANCELLED", -1, workload.StatusCancelled},
		"OUT_OF_ME+": {"OUT_OF_MEMORY", -1, workload.StatusFailed}, "NODE_FAIL": {"NODE_FAIL", -1, workload.StatusFailed}, "PREEMPTED": {"PREEMPTED", -1, workload.StatusFailed},
		"REVOKED": {"REVOKED", -1, workload.StatusCancelled}, "DEADLINE": {"DEADLINE", -1, workload.StatusFailed}, "BOOT_FAIL": {"BOOT_FAIL", -1, workload.StatusFailed},
		"COMPLETING": {"COMPLETING", -1, workload.Unknown}, "SUSPENDED": {"SUSPENDED", -1, workload.Unknown}, "RESIZING": {"RESIZING", -1, workload.Unknown},
		"REQUEUED": {"REQUEUED", -1, workload.StatusFailed}, "RUNNING": {"RUNNING", -1, workload.Unknown}, "PENDING": {"PENDING", -1, workload.Unknown},
		"COMPLET+": {"", -1, workload.Unknown}, "SPECIAL_EXIT": {"", -1, workload.Unknown}, "CANCELLED by me": {"", -1, workload.Unknown}, "completed": {"", -1, workload.Unknown},
	} {
		name, by, status := state([]byte(text))
		if math.IsNaN(by) {
			by = -1
		}
		require.Equal(t, []any{want.name, want.by, want.status}, []any{name, by, status}, text)
	}
	h, recs, _ := read(t, "JobID|Submit|State\n1|9|SPECIAL_EXIT\n2|9|\n")
	require.Equal(t, "SPECIAL_EXIT", more(t, h, recs[0], "state"))
	require.Nil(t, more(t, h, recs[1], "state"))
}

func TestTrackableResources(t *testing.T) {
	r := readTRES("cpu=4,mem=1500M,node=2,gres/gpu:a100=2,gres/gpu:v100=1,energy=12,billing=9,gres/shard=7")
	require.Equal(t, []float64{4, 1500 * 1024, 2, 3, 12}, []float64{r.cpus, r.mem, r.nodes, r.gpus, r.energy})
	require.True(t, r.sound)
	require.EqualValues(t, 5, readTRES("gres/gpu:a100=2,gres/gpu=5").gpus, "the total counts")
	none := readTRES("energy=18446744073709551614")
	require.True(t, none.sound && math.IsNaN(none.energy) && math.IsNaN(none.gpus) && math.IsNaN(none.mem))
	for _, text := range []string{"cpu=", "mem=4Q", "gres/gpu=two", "cpu"} {
		require.False(t, readTRES(text).sound, text)
	}
}

func TestAJobThatIsRequeuedIsAJobEachTime(t *testing.T) {
	_, recs, report := read(t, "JobID|Submit|Start|End|ElapsedRaw|NCPUS|State\n5|100|110|120|10|2|REQUEUED\n5|120|130|160|30|2|COMPLETED\n")
	require.Len(t, recs, 2)
	require.EqualValues(t, 1, report.Count(workload.RepeatedNumber))
	require.Equal(t, 20*des.Second, recs[1].Submit)
}

func TestWhatHasNotStartedWasGivenNothing(t *testing.T) {
	_, recs, _ := read(t, "JobID|Submit|Start|End|ElapsedRaw|NCPUS\n1|100|None|120|0|64\n2|100|Unknown|Unknown|0|0\n3|100|110|110|0|4\n")
	require.EqualValues(t, 64, recs[0].Requested)
	require.EqualValues(t, workload.Unknown, recs[0].Allocated)
	require.EqualValues(t, 0, recs[1].Allocated)
	require.Equal(t, workload.UnknownTime, recs[1].Runtime)
	require.EqualValues(t, 4, recs[2].Allocated)
	require.Zero(t, recs[2].Runtime, "it started, and ended at once")
}

func TestWhatStillRunsHasNoRuntime(t *testing.T) {
	for _, text := range []string{
		"JobID|Submit|Start|End|ElapsedRaw\n1|9|10|Unknown|50\n",
		"JobID|Submit|ElapsedRaw|State\n1|9|50|RUNNING\n",
		"JobID|Submit|Start|End|ElapsedRaw|State\n1|9|10|60|50|SUSPENDED\n",
	} {
		h, recs, _ := read(t, text)
		require.Equal(t, workload.UnknownTime, recs[0].Runtime, text)
		require.Equal(t, 50., more(t, h, recs[0], "elapsed"), text)
	}
	_, recs, _ := read(t, "JobID|Submit|ElapsedRaw\n1|9|0\n")
	require.Zero(t, recs[0].Runtime, "nothing says that it did not start")
	_, recs, _ = read(t, "JobID|Submit|Start|End|ElapsedRaw\n1|9|Unknown|Unknown|50\n")
	require.Equal(t, 50*des.Second, recs[0].Runtime)
}

func TestTheProcessorsShareTheTimeOfTheJob(t *testing.T) {
	_, recs, _ := read(t, "JobID|Submit|NCPUS|TotalCPU\n1|9|3|2\n2|9|3|1\n3|9||1\n")
	require.Equal(t, []des.Time{666_667, 333_333, workload.UnknownTime}, []des.Time{recs[0].CPUTime, recs[1].CPUTime, recs[2].CPUTime})
}

func TestFindingsHaveTheLineOfTheJob(t *testing.T) {
	_, _, report := read(t, "JobID|Submit|ReqMem\n1|9|\n1.0|9|\n1|9|4Gn\n\n2|9|\n")
	require.EqualValues(t, 4, report.Examples(workload.RepeatedNumber)[0].Line)
	require.EqualValues(t, 4, report.Examples(workload.ValueUnreadable)[0].Line, "it is not told how many nodes")
	require.EqualValues(t, 3, report.Examples(workload.JobStep)[0].Line)
}

func TestWhatIsLostIsTold(t *testing.T) {
	h := &workload.Header{Columns: []workload.Column{{Name: "power"}, {Name: "state", Text: true}, {Name: "name", Text: true}, {Name: "gpus"}, {Name: "elapsed"}, {Name: "total_cpu"}, {Name: "memory"}, {Name: "array", Text: true}, {Name: "array_tasks", Text: true}}}
	h.Set("UnixStartTime", "1000")
	h.Names(workload.FieldGroup).Set(1, "met")
	for want, change := range map[string]func(*workload.Record){
		"":                         func(*workload.Record) {},
		"field 7 (used memory)":    func(r *workload.Record) { r.UsedMemory = 5 },
		"field 14 (executable)":    func(r *workload.Record) { r.Executable = 5 },
		"field 17 (preceding job)": func(r *workload.Record) { r.Preceding = 5 },
		"power":                    func(r *workload.Record) { r.More[0].Number = 5 },
		"letters":                  func(r *workload.Record) { r.More[2].Text = "a|b" },
		"name":                     func(r *workload.Record) { r.More[2].Text = "None assigned" },
		"gpus":                     func(r *workload.Record) { r.More[3].Number = -5 },
		"elapsed":                  func(r *workload.Record) { r.More[4].Number = 5 },
		"average CPU time":         func(r *workload.Record) { r.More[5].Number, r.CPUTime = 8, 5 },
		"requested memory":         func(r *workload.Record) { r.More[6].Number, r.RequestedMemory = 8, 5 },
		"memory":                   func(r *workload.Record) { r.More[6].Number, r.RequestedMemory = 1e-45, 0 },
		"status":                   func(r *workload.Record) { r.Status = workload.StatusPartial },
		"queue":                    func(r *workload.Record) { r.Queue = 7 },
		"group":                    func(r *workload.Record) { r.Group = 7 },
		"fractions of seconds":     func(r *workload.Record) { r.Runtime++ },
		"fractions of seconds ":    func(r *workload.Record) { r.Submit++ },
		"array":                    func(r *workload.Record) { r.More[7].Text, r.More[8].Text = "7", "[1.4]" },
		"allocated processors":     func(r *workload.Record) { r.Wait, r.Runtime = workload.UnknownTime, workload.UnknownTime },
		"runtime of 0":             func(r *workload.Record) { r.Wait, r.Runtime, r.Allocated = workload.UnknownTime, 0, workload.Unknown },
		"instants":                 func(r *workload.Record) { r.Submit = maxTime * des.Second },
	} {
		rec := &workload.Record{
			Job: 1, Wait: 0, Runtime: des.Minute, Allocated: 4, CPUTime: workload.UnknownTime, UsedMemory: -1, Requested: 4, Estimate: workload.UnknownTime, RequestedMemory: -1,
			Status: workload.StatusCompleted, User: 3, Group: 1, Executable: -1, Queue: 2, Partition: 2, Preceding: -1, ThinkTime: workload.UnknownTime,
		}
		for range h.Columns {
			rec.More = append(rec.More, workload.UnknownValue)
		}
		change(rec)
		_, lost := written1(t, Format{}, h, []*workload.Record{rec})
		var told []string
		for _, l := range lost {
			told = append(told, l.What)
		}
		switch want {
		case "":
			require.Empty(t, told)
		case "instants":
			require.Contains(t, told, want)
		default:
			require.Equal(t, []string{strings.TrimSpace(want)}, told)
		}
	}
	h.Set("MaxProcs", "64")
	_, lost := written1(t, Format{}, h, nil)
	require.Len(t, lost, 1)
	require.Equal(t, "machine in the header", lost[0].What)
	_, lost = written1(t, Format{}, &workload.Header{}, []*workload.Record{{Job: 1, Status: workload.StatusCompleted, CPUTime: -1, UsedMemory: -1, RequestedMemory: -1, Executable: -1, Preceding: -1, ThinkTime: -1}})
	require.Equal(t, "start of the log", lost[0].What)
}

func TestColumnsHaveNamesOfTheirOwn(t *testing.T) {
	h, recs, _ := read(t, "JobID|Submit|JobName|name|NNodes|AllocNodes|array|NCPUS|AllocCPUS|Elapsed|ElapsedRaw\n1|9|a|b|3|4|c|5|6|1:00|60\n")
	seen := map[string]bool{}
	for _, c := range h.Columns {
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
	}
	for name, want := range map[string]any{"name": "a", "name_column": "b", "nodes": 3., "allocnodes": 4., "array_column": "c", "alloccpus": "6"} {
		require.Equal(t, want, more(t, h, recs[0], name), name)
	}
}

func TestTheHeadingIsRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		"JobID,NCPUS,NNodes,Submit,Start,End,ElapsedRaw,State\n": true, whole1: true, "\"JobIDRaw\";\"User\";\"State\"\n": true,
		"JobID|State\n": false, "jobid,user,state\n": false, "job_id,submission_time\n": false, "; JobID User State\n1 2 3\n": false, "JobID|User|State\n1||\n": true,
		"": false, "1 0 -1 10": false, "User|State|Account\n": false,
	} {
		trace, err := workload.Options{Reading: workload.Reading{Formats: []workload.Format{Format{}}, Stdin: strings.NewReader(text)}}.Open(workload.StandardInput)
		got := err == nil && trace.Format == workload.Format(Format{}) || err != nil && !strings.Contains(err.Error(), "SWF")
		require.Equal(t, want, got, "%.50q %v", text, err)
	}
}

func TestEveryReadingIsTheSame(t *testing.T) {
	trace, err := opened(whole1, workload.Options{})
	require.NoError(t, err)
	first, err := recordsOf(trace)
	require.NoError(t, err)
	second, err := recordsOf(trace)
	require.NoError(t, err)
	require.Len(t, second, len(first))
	for i := range first {
		require.Equal(t, fmt.Sprint(*first[i]), fmt.Sprint(*second[i]))
	}
	jobs := 0
	trace.Options.Sort = true
	for range trace.Jobs() {
		jobs++
	}
	require.NoError(t, trace.Err())
	require.Equal(t, 1, jobs, "of the others it is not known how long they run")
	report := trace.Report()
	require.Equal(t, report.Lines, report.Jobs+report.Total(workload.Damaged)+report.Total(workload.LeftOut))
}

func london(t require.TestingT) *time.Location {
	zone, err := time.LoadLocation("Europe/London")
	require.NoError(t, err)
	return zone
}

func TestLocalTimesOfTheHourThatComesTwice(t *testing.T) {
	text := "JobID|Submit|Eligible|Start|End|ElapsedRaw\n" +
		"1|2024-10-27T01:10:00|2024-10-27T01:05:00|2024-10-27T01:00:00|2024-10-27T01:40:00|2400\n" + // submitted before, started after the clock is set back
		"2|2024-10-27T01:20:00|2024-10-27T01:20:00|2024-10-27T01:30:00|2024-10-27T01:15:00|2700\n" +
		"3|2024-03-31T00:59:59|2024-03-31T01:30:00|2024-03-31T02:00:00|2024-03-31T02:00:01|1\n"
	trace, err := opened(text, workload.Options{Reading: workload.Reading{Format: Format{Zone: london(t)}}})
	require.NoError(t, err)
	recs, err := recordsOf(trace)
	require.NoError(t, err)
	h := trace.Header
	require.Equal(t, "Europe/London", h.TimeZone)
	require.Equal(t, time.Date(2024, 3, 31, 0, 59, 59, 0, time.UTC).Unix(), h.UnixStartTime)
	at := func(hour, minute int) des.Time {
		return des.Time(time.Date(2024, 10, 27, hour, minute, 0, 0, time.UTC).Unix()-h.UnixStartTime) * des.Second
	}
	require.Equal(t, at(0, 10), recs[0].Submit, "the first of the two")
	require.Equal(t, at(1, 5).Seconds(), more(t, h, recs[0], "eligible"), "only the second is behind the submission")
	require.Equal(t, 50*des.Minute, recs[0].Wait)
	require.Equal(t, 10*des.Minute, recs[1].Wait)
	require.Equal(t, "no such column", more(t, h, recs[0], "end"), "all end where their starts and lengths lead to")
	require.Equal(t, des.Second, recs[2].Wait, "an hour is missing")
	require.Equal(t, 1801., more(t, h, recs[2], "eligible"), "as if the clock had not been set")
}

func TestTheSameLogsComeOutOfWhatWasRead(t *testing.T) {
	trace, err := opened(whole1, workload.Options{})
	require.NoError(t, err)
	recs, err := recordsOf(trace)
	require.NoError(t, err)
	text, lost := written1(t, Format{}, trace.Header, recs)
	require.Empty(t, lost)
	h, again, report := read(t, text)
	require.Equal(t, trace.Header.Columns[:3], h.Columns[:3])
	require.Zero(t, report.Total(workload.Damaged)+report.Count(workload.ValueUnreadable), "%v", report)
	for i, rec := range recs {
		for _, c := range trace.Header.Columns {
			require.Equal(t, more(t, trace.Header, rec, c.Name), more(t, h, again[i], c.Name), "%s of %d", c.Name, i)
		}
		a, b := *rec, *again[i]
		a.More, b.More = nil, nil
		require.Equal(t, a, b)
	}
	twice, _ := written1(t, Format{}, h, again)
	require.Equal(t, text, twice)
}

// written1 is a log as it is written, and what of it is lost.
func written1(t require.TestingT, f Format, h *workload.Header, recs []*workload.Record) (string, []workload.Loss) {
	var out bytes.Buffer
	w, err := f.Write(&out, h)
	require.NoError(t, err)
	for _, rec := range recs {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return out.String(), w.Lost().All()
}

func TestAWriterHoldsLittleBackAndTellsWhatFails(t *testing.T) {
	h, recs, _ := read(t, whole1)
	var out bytes.Buffer
	w, err := Format{}.Write(&out, h)
	require.NoError(t, err)
	for range 1000 {
		require.NoError(t, w.Write(recs[0]))
	}
	require.Greater(t, out.Len(), 1000*100)
	w, err = Format{}.Write(full{}, h)
	require.NoError(t, err)
	for range 1000 {
		err = w.Write(recs[0])
	}
	require.ErrorIs(t, err, io.ErrShortWrite)
	require.ErrorIs(t, w.Close(), io.ErrShortWrite)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestEveryRowHasItsOwnTexts(t *testing.T) {
	const users = 1000
	var b strings.Builder
	b.WriteString("JobID|Submit|User|Group|Account|AllocTRES\n")
	name := func(i int) string { return fmt.Sprint("u", i*7919%users) }
	for i := range 3 * users {
		fmt.Fprintf(&b, "%d|%[1]d|%s|g%[2]s|a%[2]s|gres/gpu=%d\n", i, name(i), i%users)
	}
	h, recs, _ := read(t, b.String())
	for i, rec := range recs {
		require.Equal(t, name(i), h.Names(workload.FieldUser).Name(rec.User))
		require.Equal(t, "g"+name(i), h.Names(workload.FieldGroup).Name(rec.Group))
		require.Equal(t, "a"+name(i), more(t, h, rec, "account"))
		require.EqualValues(t, i%users, more(t, h, rec, "gpus"))
	}
}

func TestTasksOfArraysHaveNumbersOfTheirOwn(t *testing.T) {
	const log = "JobID|Submit\n20_1|10\n20_2|10\n9_7|10\n20_[3-4]|10\n30+0|10\n30+1|10\n9_8|10\n31|10\n30+x|10\n20_2|10\n"
	h, recs, report := read(t, log)
	var numbers, indices []any
	for _, rec := range recs {
		numbers = append(numbers, rec.Job)
		indices = append(indices, more(t, h, rec, "array_index"))
	}
	require.Equal(t, []any{int64(20), int64(32), int64(9), int64(33), int64(30), int64(34), int64(35), int64(31), int64(36)}, numbers)
	require.Equal(t, []any{1., 2., 7., nil, nil, nil, 8., nil, 2.}, indices)
	require.Equal(t, "20", more(t, h, recs[1], "array"))
	require.Zero(t, report.Count(workload.RepeatedNumber))
	require.EqualValues(t, 1, report.Count(workload.NumberNotAscending), "9 stands behind 20")

	var out bytes.Buffer
	w, err := Format{}.Write(&out, h)
	require.NoError(t, err)
	for _, rec := range recs {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	require.Contains(t, out.String(), "\n20_2|32|")
	_, again, _ := read(t, out.String())
	for i := range recs {
		require.Equal(t, recs[i].Job, again[i].Job)
	}
}

func TestTasksHaveNumbersOfTheirOwnWhereUsersAreNumbers(t *testing.T) {
	const log = "JobID|User|Submit\n1|1001|10\n2|1002|10\n7_1|1001|10\n7_2|1001|10\n7_3|1001|10\n"
	ids := func(text string) (ids []int64) {
		_, recs, _ := read(t, text)
		for _, rec := range recs {
			ids = append(ids, rec.Job)
		}
		return ids
	}
	require.Equal(t, []int64{1, 2, 7, 8, 9}, ids(log))
	require.Equal(t, ids(log), ids(strings.ReplaceAll(log, "|100", "|u")), "users with names have the same jobs")
}

func TestTasksHaveTheNumbersThatSlurmGaveThem(t *testing.T) {
	_, recs, _ := read(t, "JobID|JobIDRaw|Submit\n20_1|20|10\n20_2|21|10\n9_1|9|10\n9_1|9|20\n")
	var numbers []int64
	for _, rec := range recs {
		numbers = append(numbers, rec.Job)
	}
	require.Equal(t, []int64{20, 21, 9, 9}, numbers, "the last one was requeued")
}

func TestARowThatIsDamagedTakesNoNumberFromItsArray(t *testing.T) {
	_, recs, _ := read(t, "JobID|Submit\n20_1|never\n20_2|10\n9223372036854775807_1|10\n9223372036854775807_2|10\n")
	require.EqualValues(t, 20, recs[0].Job)
	require.EqualValues(t, math.MaxInt64, recs[1].Job)
	require.EqualValues(t, math.MaxInt64, recs[2].Job, "there is none above")
}

func TestQueuesAreCalledLikeTheirPartitions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.txt")
	require.NoError(t, os.WriteFile(path, []byte("JobID|Partition|Submit|ElapsedRaw|AllocCPUS\n1|gpu|1700000000|60|1\n2|cpu|1700000001|60|1\n"), 0o666))
	trace, err := workload.Options{Reading: workload.Reading{Format: Format{}}}.Open(path)
	require.NoError(t, err)
	for _, field := range []int{workload.FieldQueue, workload.FieldPartition} {
		require.Equal(t, []string{"gpu", "cpu"}, []string{trace.Header.Names(field).Name(1), trace.Header.Names(field).Name(2)})
	}
}

func TestPartitionsThatAreNumbersStayThese(t *testing.T) {
	h, recs, _ := read(t, "JobID|Submit|User|Partition\n1|10|7|3\n2|10|007|0\n3|10||3\n")
	require.Zero(t, h.Names(workload.FieldPartition).Len())
	require.EqualValues(t, 3, recs[0].Partition)
	require.EqualValues(t, 3, recs[0].Queue)
	require.EqualValues(t, 0, recs[1].Partition)
	require.EqualValues(t, 3, recs[2].Partition)
	require.Equal(t, "007", h.Names(workload.FieldUser).Name(recs[1].User), "007 would not come back")
	require.EqualValues(t, workload.Unknown, recs[2].User)
}

func TestPartitionsOfWhichOneIsNoNumberAreAllNames(t *testing.T) {
	h, recs, _ := read(t, "JobID|Submit|Partition\n1|10|debug\n2|10|3\n")
	require.Equal(t, "debug", h.Names(workload.FieldPartition).Name(recs[0].Partition))
	require.Equal(t, "3", h.Names(workload.FieldPartition).Name(recs[1].Partition))
}

func TestTheJSONOfSacctIsToldWhatToDo(t *testing.T) {
	for _, text := range []string{`{"jobs": [{"association": {"account": "a"}, "job_id": 7}]}`, "{\n  \"jobs\": [\n    {\"association\": {}, \"job_id\": 7}\n  ]\n}\n"} {
		_, err := workload.Options{Reading: workload.Reading{Formats: []workload.Format{Format{}}, Stdin: strings.NewReader(text)}}.Open(workload.StandardInput)
		require.ErrorContains(t, err, "standard input:1: it is what sacct --json prints")
	}
	trace, err := workload.Options{Reading: workload.Reading{Formats: []workload.Format{Format{}}, Stdin: strings.NewReader(`{"nb_res": 4, "jobs": [{"id": "7", "job_id": 7}]}`)}}.Open(workload.StandardInput)
	require.NoError(t, err)
	require.Equal(t, "swf", trace.Format.Name(), "it is Batsim's")
}

// When a job became eligible is so long after its submission, wherever that is moved.
func TestInstantsMoveWithTheSubmission(t *testing.T) {
	const log = "JobID|Submit|Eligible|Start|ElapsedRaw|NCPUS\n1|100|100|100|50|4\n2|1100|1130|1200|500|4\n3|2100|2190|2200|500|4\n"
	for _, o := range []workload.Options{{Part: workload.Part{Skip: 1, Shift: true}}, {Part: workload.Part{Load: 0.3}, Reading: workload.Reading{Procs: 8}}, {Part: workload.Part{Skip: 1, Shift: true, Load: 0.1}, Reading: workload.Reading{Procs: 8}}, {}} {
		trace, err := opened(log, o)
		require.NoError(t, err)
		i := slices.IndexFunc(trace.Header.Columns, func(c workload.Column) bool { return c.Name == "eligible" })
		delays := map[int64]float64{1: 0, 2: 30, 3: 90}
		for rec, err := range trace.Selected() {
			require.NoError(t, err)
			require.InDelta(t, delays[rec.Job], rec.More[i].Number-rec.Submit.Seconds(), 1e-6)
		}
		for job := range trace.Jobs() {
			number, _ := job.Extra.(entity.Columns).Column("eligible")
			require.InDelta(t, delays[job.ID], number-job.Submit.Seconds(), 1e-6)
		}
		require.NoError(t, trace.Err())
	}
}

// Numbers of users and groups without names stand in columns of their own, names in those of Slurm's
// names.
func TestUsersAndGroupsAreWrittenByNameOrByNumber(t *testing.T) {
	for _, named := range []bool{false, true} {
		h := &workload.Header{}
		want := []string{"UID", "GID"}
		if named {
			want = []string{"User", "Group"}
			h.Names(workload.FieldUser).Set(7, "ada")
			h.Names(workload.FieldGroup).Set(8, "met")
		}
		var text bytes.Buffer
		w, err := Format{}.Write(&text, h)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Equal(t, want, strings.Split(text.String(), "|")[2:4])
	}
}
