package formats

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

func readGWF(text string, strict bool) (*workload.Header, []*workload.Record, *workload.Report, error) {
	return logtest.Read(GWF{}, strings.NewReader(text), strict)
}

// FuzzGWF holds of any input: an end, a balance, and what was read can be written and
// read again.
func FuzzGWF(f *testing.F) {
	f.Add(gwfSample)
	f.Add("# a\n#! user 1 \"x y\"\n" + gwfSample + "x\n\n#")
	f.Add("1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n2 1000000000 1 1 1 1 1 1 1 1 1 1 1 1 1 1")
	f.Fuzz(func(t *testing.T, text string) { logtest.ThereAndBack(t, GWF{}, text) })
}

// gwfSample has what the archive's files have: comments, blanks and tabs, text for users,
// submissions since 1970 that go backwards.
const gwfSample = `# Grid Workload Format
# MaxProcs: 400
#	a title
1 1109600543 3 60.5 4 -1 -1 4 900 -1 1 U3 G1 X9 Q0 -1 S1 S2 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 vo:x P
2	1109600540	-1	0	1	12.25	2048	1	-1	-1	0	U1	G1	X9	Q0	-1	S1	S1	BoT	b7	1.5	20	cpu:1,gpu:2	x86,Linux,2.6	-1	30	-1	-1	-1
3 1109600600 0 5 1 -1 -1 1 -1 -1 5 U3 -1 -1 -1 -1 -1 -1 UNITARY
`

func TestFieldsOfTheArchiveAreRead(t *testing.T) {
	h, records, report, err := readGWF(gwfSample, true)
	require.NoError(t, err)
	require.EqualValues(t, 400, h.MaxProcs)
	require.EqualValues(t, 1109600540, h.UnixStartTime)
	require.True(t, h.Unsorted)
	require.EqualValues(t, 3, report.Lines)
	require.EqualValues(t, 1, report.Count(workload.BackwardsSubmission))
	first, second := records[0], records[1]
	require.Equal(t, []any{int64(1), 3.0, 3.0, 60.5, int64(4), int64(4), 900.0, int64(1)},
		[]any{first.Job, first.Submit.Seconds(), first.Wait.Seconds(), first.Runtime.Seconds(), first.Allocated, first.Requested, first.Estimate.Seconds(), first.Status})
	require.Equal(t, "U3", h.Names(workload.FieldUser).Name(first.User))
	require.Equal(t, "U1", h.Names(workload.FieldUser).Name(second.User))
	require.Equal(t, first.User, records[2].User)
	require.Equal(t, 12.25, second.CPUTime.Seconds())
	more := map[string]workload.Value{}
	for i, c := range h.Columns {
		more[c.Name] = second.More[i]
	}
	require.Equal(t, "BoT", more["structure"].Text)
	require.Equal(t, "b7", more["structure_params"].Text)
	require.Equal(t, 1.5, more["used_network"].Number)
	require.Equal(t, 20.0, more["used_disk"].Number)
	require.Equal(t, "x86,Linux,2.6", more["platform"].Text)
	require.Equal(t, 30.0, more["disk"].Number)
	require.False(t, more["network"].Known())
	require.False(t, more["vo"].Known())
	require.Equal(t, "vo:x", first.More[11].Text)
	require.Equal(t, "P", first.More[12].Text)
}

func TestALineOfFewerFieldsThanSWFSharesIsDamaged(t *testing.T) {
	_, _, _, err := readGWF(gwfSample+"4 1109600600 0\n", true)
	require.ErrorContains(t, err, `:7: too few fields: "4 1109600600 0"; expected 16 cells or more`)
	_, records, report, err := readGWF(gwfSample+"4 1109600600 0\n4 1109600600 x 5 1 -1 -1 1 -1 -1 5 U3 -1 -1 -1 -1 -1\n", false)
	require.NoError(t, err)
	require.Len(t, records, 3)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
}

func TestNewNamesStandAboveNumbersAndNamesThatAreDeclared(t *testing.T) {
	line := func(user string) string { return "1 0 1 1 1 1 1 1 1 1 1 " + user + " -1 -1 -1 -1\n" }
	h, records, _, err := readGWF("#! user 1 \"x y\"\n"+line("1")+line("9")+line("bob")+line("4"), true)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 9, 10, 4}, []int64{records[0].User, records[1].User, records[2].User, records[3].User})
	require.Equal(t, "bob", h.Names(workload.FieldUser).Name(10))
	require.Equal(t, 2, h.Names(workload.FieldUser).Len())
}

func TestANumberThatIsAnothersNameIsToldAsLost(t *testing.T) {
	h := &workload.Header{}
	h.Names(workload.FieldUser).Set(3, "4")
	var out bytes.Buffer
	w, err := GWF{}.Write(&out, h)
	require.NoError(t, err)
	rec := workload.UnknownRecord
	rec.Job, rec.Submit, rec.User = 1, 0, 4
	require.NoError(t, w.Write(&rec))
	require.Len(t, w.Lost().All(), 1)
	require.Equal(t, "user", w.Lost().All()[0].What)
}

func TestOneNameOfTwoNumbersIsWrittenAsANumber(t *testing.T) {
	h := &workload.Header{}
	h.Names(workload.FieldUser).Set(3, "a")
	h.Names(workload.FieldUser).Set(5, "a")
	var out bytes.Buffer
	w, err := GWF{}.Write(&out, h)
	require.NoError(t, err)
	for _, user := range []int64{3, 5} {
		rec := workload.UnknownRecord
		rec.Job, rec.Submit, rec.User = user, 0, user
		require.NoError(t, w.Write(&rec))
	}
	require.NoError(t, w.Close())
	_, records, _, err := readGWF(out.String(), true)
	require.NoError(t, err)
	require.Equal(t, []int64{3, 5}, []int64{records[0].User, records[1].User})
}

func TestASubmissionThatWouldBeReadAsADateIsToldAsLost(t *testing.T) {
	w, err := GWF{}.Write(io.Discard, &workload.Header{})
	require.NoError(t, err)
	for _, seconds := range []float64{0, 631_151_999, 631_152_000} {
		rec := workload.UnknownRecord
		rec.Job, rec.Submit = 1, des.Seconds(seconds)
		require.NoError(t, w.Write(&rec))
	}
	require.Len(t, w.Lost().All(), 1)
	require.EqualValues(t, 1, w.Lost().All()[0].Records)
}

// A line that is damaged in a column beyond SWF does not say when the log begins.
func TestSurveyLeavesOutLinesWithFaultyFigures(t *testing.T) {
	line := func(submit, network string) string {
		return "1 " + submit + " 0 10 1 -1 -1 1 10 -1 1 u g e q p s r UNITARY -1 " + network + strings.Repeat(" -1", 8) + "\n"
	}
	h, _, _, err := readGWF(line("1000000000", "much")+line("1000000100", "7"), false)
	require.NoError(t, err)
	require.EqualValues(t, 1_000_000_100, h.UnixStartTime)
}
