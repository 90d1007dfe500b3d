package formats

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

// read reads all records of a text.
func readCSV(f workload.Format, text string, strict bool) (*workload.Header, []*workload.Record, *workload.Report, error) {
	return logtest.Read(f, strings.NewReader(text), strict)
}

// brief is what a record tells of the fields that most tables have, in seconds.
func brief(rec *workload.Record) string {
	return fmt.Sprint(rec.Job, rec.Submit.Seconds(), rec.Wait.Seconds(), rec.Runtime.Seconds(), rec.Requested, rec.Estimate.Seconds(), rec.Status, rec.User, rec.Queue)
}

const site = "\ufeffJobID;User;Queue;Submitted;Started;Ended;Limit;CPUs;State;GPU model;Mem\r\n" +
	"17;bob;short;2024-03-31 01:30:00;2024-03-31 01:30:10;2024-03-31 03:30:10;1-00:00:00;4;COMPLETED;A100;1.5\r\n" +
	"18;alice;\"a;b\";2024-03-31 01:29:00;2024-03-31 01:40:00;2024-03-31 01:45:00.25;10:00;8;TIMEOUT;;NA\r\n" +
	"19;bob;short;2024-03-31 01:30:01;;;2:00:00;1;CANCELLED by 7;\"two\nlines\";2e3\r\n"

func TestATableOfASiteIsReadByItsColumns(t *testing.T) {
	prague, err := time.LoadLocation("Europe/Prague")
	require.NoError(t, err)
	f := CSV{Zone: prague, Columns: map[string]string{
		"job": "jobid", "user": "User", "queue": "3", "submit": "Submitted", "start": "Started", "end": "Ended", "estimate": "Limit", "procs": "CPUs", "status": "State",
	}}
	h, records, report, err := readCSV(f, site, true)
	require.NoError(t, err)
	require.EqualValues(t, 3, report.Lines)
	require.EqualValues(t, time.Date(2024, 3, 31, 0, 29, 0, 0, time.UTC).Unix(), h.UnixStartTime)
	require.True(t, h.Unsorted)
	require.Equal(t, []workload.Column{{Name: "state", Text: true}, {Name: "gpu_model", Text: true}, {Name: "mem"}}, h.Columns)
	require.Equal(t, []string{
		"17 60 10 3600 4 86400 1 1 1", // an hour was left out that night
		"18 0 660 300.25 8 600 0 2 2",
		"19 61 -1 -1 1 7200 5 1 1",
	}, []string{brief(records[0]), brief(records[1]), brief(records[2])})
	require.Equal(t, "bob", h.Names(workload.FieldUser).Name(1))
	require.Equal(t, "a;b", h.Names(workload.FieldQueue).Name(2))
	require.Equal(t, "two\nlines", records[2].More[1].Text)
	require.Equal(t, "CANCELLED by 7", records[2].More[0].Text)
	require.Equal(t, []float64{1.5, 2000}, []float64{records[0].More[2].Number, records[2].More[2].Number})
	require.False(t, records[1].More[1].Known())
	require.False(t, records[1].More[2].Known())
}

func TestATableWithoutAHeadingIsReadByNumbers(t *testing.T) {
	f := CSV{NoHeading: true, Separator: '\t', Times: des.Second / 1000, Durations: 60 * des.Second, Columns: map[string]string{"submit": "2", "runtime": "3", "procs": "1"}}
	h, records, _, err := readCSV(f, "4\t1711845000123\t1.5\tx\n2\t1711845001000\t2\t\n", true)
	require.NoError(t, err)
	require.EqualValues(t, 1711845000, h.UnixStartTime)
	require.Equal(t, []workload.Column{{Name: "column_4", Text: true}}, h.Columns)
	require.Equal(t, "1 0.123 -1 90 4 -1 -1 -1 -1", brief(records[0]))
	require.Equal(t, "2 1 -1 120 2 -1 -1 -1 -1", brief(records[1]))
}

func TestColumnsOfOurNamesNeedNoMapping(t *testing.T) {
	h, records, _, err := readCSV(CSV{}, "# MaxProcs: 64\nSubmit,runtime,procs,user,job\n0,10,4,7,a-1\n5,20,2,8,a-2\n", true)
	require.NoError(t, err)
	require.EqualValues(t, 64, h.MaxProcs)
	require.Equal(t, "2 5 -1 20 2 -1 -1 8 -1", brief(records[1]))
	require.Equal(t, []workload.Column{{Name: "job", Text: true}}, h.Columns)
	require.Equal(t, "a-2", records[1].More[0].Text)
	require.Zero(t, h.Names(workload.FieldUser).Len())
}

// Numbers with a fraction are no numbers of jobs, but a column of numbers all the same.
func TestAColumnOfJobsMayHoldNumbersThatAreNone(t *testing.T) {
	h, records, _, err := readCSV(CSV{}, "submit,job\n0,1.5\n5,NA\n", true)
	require.NoError(t, err)
	require.Equal(t, []workload.Column{{Name: "job"}}, h.Columns)
	require.Equal(t, []int64{1, 2}, []int64{records[0].Job, records[1].Job})
	require.Equal(t, 1.5, records[0].More[0].Number)
	require.False(t, records[1].More[0].Known())
}

// Tables that were joined have the heading of the second one among their lines.
func TestADamagedLineDoesNotTellWhatColumnsHold(t *testing.T) {
	h, records, report, err := readCSV(CSV{}, "mem,submit\n3,0\nmem,submit\n5,1\n", false)
	require.NoError(t, err)
	require.Equal(t, []workload.Column{{Name: "mem"}}, h.Columns)
	require.Equal(t, []float64{3, 5}, []float64{records[0].More[0].Number, records[1].More[0].Number})
	require.EqualValues(t, 1, report.Total(workload.Damaged))
}

func TestNamesBehindAFaultDoNotCount(t *testing.T) {
	h, records, _, err := readCSV(CSV{}, "submit,runtime,user\n0,x,bob\n1,5,7\n", false)
	require.NoError(t, err)
	require.Zero(t, h.Names(workload.FieldUser).Len())
	require.EqualValues(t, 7, records[0].User)
}

// A column of waits must agree with start, and one of runtimes with end, but for parts of seconds.
func TestColumnsThatTellTheSameMustAgree(t *testing.T) {
	_, records, _, err := readCSV(CSV{}, "submit,wait,start,end,runtime\n0,1,1.5,9,8.4\n0,1,1,9,\n0,1,,9,8\n0,,1,,8\n", true)
	require.NoError(t, err)
	for i, want := range [][2]float64{{1.5, 8.4}, {1, 8}, {1, 8}, {1, 8}} {
		require.Equal(t, want, [2]float64{records[i].Wait.Seconds(), records[i].Runtime.Seconds()}, i)
	}
	for line, want := range map[string]string{
		"0,1,3,,5":  `:3: start: columns that contradict each other: "3"; expected an instant 1 s after the submission, since the wait is that long`,
		"0,3,1,,5":  `:3: start: columns that contradict each other: "1"; expected an instant 3 s after the submission`,
		"0,,1,9,5":  `:3: end: columns that contradict each other: "9"; expected an instant 5 s after the start, since the runtime is that long`,
		"0,1,,9,10": `:3: end: columns that contradict each other: "9"; expected an instant 10 s after the start`,
		"5,,9,7,3":  `:3: end: columns that contradict each other: "7"`,
	} {
		_, _, _, err := readCSV(CSV{}, "submit,wait,start,end,runtime\n0,1,1,9,8\n"+line+"\n", true)
		require.ErrorContains(t, err, want, line)
		_, records, report, err := readCSV(CSV{}, "submit,wait,start,end,runtime\n0,1,1,9,8\n"+line+"\n", false)
		require.NoError(t, err)
		require.Len(t, records, 1)
		require.EqualValues(t, 1, report.Count(workload.Contradiction))
	}
}

// A comment may say that the log begins later than its first job.
func TestTheEarliestSubmissionIsTheStartWhateverAHeaderSays(t *testing.T) {
	h, records, _, err := readCSV(CSV{}, "# UnixStartTime: 2000000000\nsubmit,procs\n1700000005,1\n1700000000,1\n", true)
	require.NoError(t, err)
	require.EqualValues(t, 1700000000, h.UnixStartTime)
	require.Equal(t, 5.0, records[0].Submit.Seconds())
}

func TestAColumnWithoutANameIsRead(t *testing.T) {
	h, records, _, err := readCSV(CSV{}, "submit,,\n0,a,7\n1,,8\n", true)
	require.NoError(t, err)
	require.Equal(t, []workload.Column{{Name: "column", Text: true}, {Name: "column_2"}}, h.Columns)
	require.Equal(t, "a", records[0].More[0].Text)
	require.Equal(t, 8.0, records[1].More[1].Number)
	require.False(t, records[1].More[0].Known())
}

func TestUsersSomeOfWhomHaveNumbersAreAllNames(t *testing.T) {
	h, records, _, err := readCSV(CSV{}, "submit,user\n0,7\n1,bob\n2,7\n3,\n", true)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 1, workload.Unknown}, []int64{records[0].User, records[1].User, records[2].User, records[3].User})
	require.Equal(t, "7", h.Names(workload.FieldUser).Name(1))
}

func TestWhatCannotBeReadIsToldWithItsLineAndColumn(t *testing.T) {
	const own = "job,submit,wait,runtime,allocated,cpu_time,used_memory,requested,estimate,requested_memory,status,user,group,executable,queue,partition,preceding,think_time"
	for text, want := range map[string]string{
		"submit,runtime\n0,5\n1,x\n":                             `:3: runtime: text where a number belongs: "x"; expected a duration`,
		"submit,runtime\n0,5\nmonday,5\n":                        `:3: submit: text where a number belongs: "monday"; expected an instant`,
		"submit,runtime\n0,5\n1,-7\n":                            `:3: runtime: a negative number where none may be: "-7"`,
		"submit,procs\n0,5\n1,2.5\n":                             `:3: procs: a fraction where a whole number belongs: "2.5"`,
		"submit,procs\n0,5\n1,99999999999\n":                     `:3: procs: number out of range`,
		"submit,start,end\n0,1,5\n5,9,8\n":                       `:3: end: a negative number where none may be: "8"; expected an instant after the start`,
		"submit,procs\n1700000000,1\n5,1\n":                      `:3: submit: number out of range: "5"; expected an instant that counts from where those above do`,
		"submit,a,b,procs,c\n0,1,1,1,1\n7,1,2\n":                 `:3: too few fields: "7,1,2"; expected 4 cells or more`,
		"submit,procs\n0,1\n7\n":                                 `:3: too few fields: "7"; expected 2 cells or more`,
		"submit,procs\n0,1\n7,\"1\n":                             `:3: too few fields: "7,\"1"; expected a " that closes the cell`,
		"submit,procs\n0,1\n7," + strings.Repeat("1", 1<<20):     `:3: line longer than any record`,
		"submit,procs\n0,1\n7,\"" + strings.Repeat("1\n", 1<<20): `:3: line longer than any record`,
		"procs\n7\n":                      `no column is known to tell when jobs were submitted: say which one is, as in --from csv:submit=COLUMN; there are procs`,
		"submit,procs,x,Procs\n0,1,2,3\n": `columns 2 and 4 are called "procs" and "Procs": say which of them is procs, as in --from csv:procs=2`,
		"submit,procs,requested\n0,1,2\n": `columns 2 and 3 are called "procs" and "requested": say which of them is requested, as in --from csv:requested=2`,
		"":                                "it has no heading",
		"submit,procs\nx,1\ny,1\n":        `:2: submit: text`,
		"#! log of gridslot, 1\n" + own + "\n1,0,,5,-3" + strings.Repeat(",", 13):                                           `:3: allocated: a negative number where none may be: "-3"`,
		"#! log of gridslot, 1\n" + own + "\n1,0,,5,,,,-3" + strings.Repeat(",", 10):                                        `:3: requested: a negative number where none may be: "-3"`,
		"#! log of gridslot, 1\n" + own + "\n1,0,,5,,,,,-3" + strings.Repeat(",", 9):                                        `:3: estimate: a negative number where none may be: "-3"`,
		"#! log of gridslot, 1\n" + own + "\n-2,0" + strings.Repeat(",", 16):                                                `:3: job: a negative number where none may be: "-2"`,
		"#! log of gridslot, 1\n" + own + "\n1,0\n":                                                                         `:3: too few fields: "1,0"; expected 18 cells or more`,
		"#! log of gridslot, 1\n" + own + "\n1,0,,5,1.5" + strings.Repeat(",", 13):                                          `:3: allocated: a fraction`,
		"#! log of gridslot, 1\n#! column \"gpus\" number \"\"\n" + own + ",gpus\n1,0,,5,1" + strings.Repeat(",", 14) + "x": `:4: gpus: text where a number belongs: "x"`,
	} {
		_, _, _, err := readCSV(CSV{}, text, true)
		require.ErrorContains(t, err, want, "%.60q", text)
	}
	_, _, _, err := readCSV(CSV{Columns: map[string]string{"submit": "Wann"}}, "submit,procs\n0,1\n", true)
	require.ErrorContains(t, err, `submit is to be column "Wann": there is none of that name; there are submit, procs`)
	_, _, _, err = readCSV(CSV{Columns: map[string]string{"submit": "1", "runtime": "1"}}, "a,b\n0,1\n", true)
	require.ErrorContains(t, err, "has been given away already")

	// Columns of one name need a number.
	const twice = "submit,CPUs,CPUs,procs\n0,1,2,3\n"
	_, _, _, err = readCSV(CSV{Columns: map[string]string{"procs": "CPUs"}}, twice, true)
	require.ErrorContains(t, err, `procs is to be column "CPUs": columns 2 and 3 have that name: give the number of one of them`)
	_, records, _, err := readCSV(CSV{Columns: map[string]string{"procs": "3"}}, twice, true)
	require.NoError(t, err)
	require.EqualValues(t, 2, records[0].Requested)
}

func TestDamagedLinesAreLeftOutAndCounted(t *testing.T) {
	_, records, report, err := readCSV(CSV{}, "submit,procs\n0,1\nx,1\n\n# remark\n2,1,3\n\"3\n,\",1\n", false)
	require.NoError(t, err)
	require.Len(t, records, 2)
	require.EqualValues(t, 4, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
	require.EqualValues(t, 1, report.Count(workload.CommentNotKept))
	require.EqualValues(t, 1, report.Count(workload.ExtraFields))
}

func TestAHeadingTellsOurFormFromFilesOfJobs(t *testing.T) {
	for text, want := range map[string]bool{
		"#! log of gridslot, 1\n":                                           true,
		strings.Join(workload.FieldNames[:], ",") + ",gpus\n1,0\n":          true,
		"# x\n\n" + strings.Join(workload.FieldNames[:], ",") + "\r\n1,0\n": true,
		strings.Join(workload.FieldNames[:], ",") + "s\n1,0\n":              false,
		"id,submit,nodes,volume\n1,0,2,60\n":                                false,
		"JobID,User,Submit,Start,End,State\n":                               false,
		"JobID|User|Submit|Start|End|State\n":                               false,
		"; MaxProcs: 8\n1 2 3\n":                                            false,
		"":                                                                  false,
		"# a\n# b":                                                          false,
	} {
		path := t.TempDir() + "/log"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		require.Equal(t, want, workload.Options{Reading: workload.Reading{Formats: []workload.Format{CSV{}}}}.Recognise(path) != nil, "%q", text)
	}
}
