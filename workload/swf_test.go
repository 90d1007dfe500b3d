package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sound is a line without fault, to stand beside those with one.
const sound = "1 10 5 100 4 90.5 2000 8 200 3000 1 7 6 5 2 3 -1 -1"

var soundRecord = Record{
	Job: 1, Submit: 10 * des.Second, Wait: 5 * des.Second, Runtime: 100 * des.Second, Allocated: 4,
	CPUTime: 90_500_000, UsedMemory: 2000, Requested: 8, Estimate: 200 * des.Second, RequestedMemory: 3000,
	Status: 1, User: 7, Group: 6, Executable: 5, Queue: 2, Partition: 3, Preceding: Unknown, ThinkTime: UnknownTime,
}

// field is sound with one field replaced.
func withField(field int, text string) string {
	fields := strings.Fields(sound)
	fields[field-1] = text
	return strings.Join(fields, " ")
}

func readAll(t *testing.T, r *Reader) (all []Record) {
	t.Helper()
	for r.Next() {
		all = append(all, *r.Record())
	}
	return all
}

func TestRecordIsReadHoweverItIsLaidOut(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                   sound + "\n",
		"no final line end":       sound,
		"CRLF":                    sound + "\r\n",
		"CR at the very end":      sound + "\r",
		"leading blanks":          "    \t" + sound + "\n",
		"trailing blanks":         sound + "  \t \n",
		"tabs":                    strings.ReplaceAll(sound, " ", "\t") + "\n",
		"wide columns":            strings.ReplaceAll(sound, " ", "              ") + "\n",
		"byte order mark":         "\uFEFF" + sound + "\n",
		"indented comment before": "   ; a comment\n" + sound + "\n",
		"blank lines around":      "\n \n" + sound + "\n\n \t\n",
		"comment behind":          sound + "\n; the end",
		"more than 18 columns":    sound + " 19 node[20-21] x\n",
		"decimals without need":   "1.0 10.000 5. 100 4.00 90.50 2000.0 8 200 3000 1 7 6 5 2 3 -1.0 -1\n",
		"plus signs":              "+1 +10 5 100 4 90.5 2000 8 200 3000 1 7 6 5 2 3 -1 -1\n",
		"exponents":               "1 1e1 5 1E2 4 905e-1 2e3 8 200 3e+3 1 7 6 5 2 3 -1 -1\n",
		"leading zeros":           "0001 000000000000000010 5 100 4 90.5 2000 8 200 3000 1 7 6 5 2 3 -1 -1\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(iotest.OneByteReader(strings.NewReader(text)))
			require.Equal(t, []Record{soundRecord}, readAll(t, r))
			require.NoError(t, r.Err())
			require.Zero(t, r.Report().Total(Damaged))
		})
	}
}

func TestDamagedLineIsLeftOutAndNamed(t *testing.T) {
	for _, c := range []struct {
		line  string
		field int
		why   Reason
		text  string
	}{
		{"1 2 3", 0, TooFewFields, "1 2 3"},
		{strings.TrimSuffix(sound, " -1"), 0, TooFewFields, strings.TrimSuffix(sound, " -1")},
		{withField(3, "abc"), 3, NotANumber, "abc"},
		{withField(3, "-"), 3, NotANumber, "-"},
		{withField(3, "--1"), 3, NotANumber, "--1"},
		{withField(3, "1-"), 3, NotANumber, "1-"},
		{withField(4, "12x"), 4, NotANumber, "12x"},
		{withField(4, "0x10"), 4, NotANumber, "0x10"},
		{withField(4, "1_0"), 4, NotANumber, "1_0"},
		{withField(4, "."), 4, NotANumber, "."},
		{withField(4, "10,5"), 4, NotANumber, "10,5"},
		{withField(4, "1\x01"), 4, NotANumber, "1\x01"},
		{withField(4, "\x01"), 4, NotANumber, "\x01"},
		{withField(6, "NaN"), 6, notFinite, "NaN"},
		{withField(6, "-inf"), 6, notFinite, "-inf"},
		{withField(2, "1e999"), 2, OutOfRange, "1e999"},
		{withField(2, "1000000000001"), 2, OutOfRange, "1000000000001"},
		{withField(2, "99999999999999999999999"), 2, OutOfRange, "99999999999999999999999"},
		{withField(5, "2147483648"), 5, OutOfRange, "2147483648"},
		{withField(12, "9223372036854775808"), 12, OutOfRange, "9223372036854775808"},
		{withField(8, "2.5"), 8, NotWhole, "2.5"},
		{withField(1, "-1"), 1, NegativeNumber, "-1"},
		{withField(2, "-5"), 2, NegativeNumber, "-5"},
		{strings.Repeat(" ", 2*maxLineLength), 0, LineTooLong, ""},
		{strings.Repeat("7", maxLineLength+1), 0, LineTooLong, strings.Repeat("7", maxFindingText)},
	} {
		r := NewReader(strings.NewReader(sound + "\n" + c.line + "\n" + sound + "\n"))
		require.Len(t, readAll(t, r), 2, c.text)
		require.NoError(t, r.Err())
		require.EqualValues(t, 3, r.Report().Lines)
		require.EqualValues(t, 1, r.Report().Total(Damaged))
		found := r.Report().Examples(c.why)
		require.Len(t, found, 1, "%s: %v", c.text, r.Report())
		require.Equal(t, Finding{2, c.field, c.why, c.text, ""}, found[0])

		r = NewReader(strings.NewReader(sound + "\n" + c.line + "\n" + sound + "\n"))
		r.strict, r.Name = true, "x.swf"
		require.Len(t, readAll(t, r), 1, "strict")
		var damage *lineError
		require.ErrorAs(t, r.Err(), &damage)
		require.Equal(t, c.why, damage.Reason)
		require.Contains(t, r.Err().Error(), "x.swf:2: ")
		require.False(t, r.Next(), "an error stands")
	}
}

func TestStrictErrorSaysWhatWasExpected(t *testing.T) {
	r := NewReader(strings.NewReader(withField(5, "many")))
	r.Name, r.strict = "x.swf", true
	require.False(t, r.Next())
	require.EqualError(t, r.Err(), `x.swf:1: field 5 (allocated processors): text where a number belongs: "many"; expected a number of processors, or -1 where unknown: correct the line, or read without strict mode to leave it out`)
}

func TestMemoryMayHaveDecimals(t *testing.T) {
	r := NewReader(strings.NewReader(withField(7, "2000.75")))
	require.True(t, r.Next())
	require.EqualValues(t, 2000, r.Record().UsedMemory)
	require.EqualValues(t, 1, r.Report().Count(MemoryFractionDropped))
}

func TestTimesAreRoundedToTheTick(t *testing.T) {
	for text, want := range map[string]des.Time{
		"0.0000004": 0, "0.0000005": 1, "-0.0000005": -1, "1.9999999": 2 * des.Second, "489.00": 489 * des.Second,
		"552.21": 552_210_000, "0.1": 100_000, ".5": 500_000, "12345678.123456": 12345678_123456, "1e12": 1e18,
		"999999999999.999999": 999999999999_999999, "1000000000000": 1e18,
	} {
		got, fault := number.Time(text, MaxTime)
		require.Equal(t, number.Sound, fault, text)
		require.Equal(t, want, got, text)
	}
}

func TestInputThatIsNoSWFIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"empty":       "",
		"blank":       "\n  \n\t\n",
		"binary":      "\x7fELF\x02\x01\x01\x00\x00\x00",
		"other text":  "id,submit,run\n1,2,3\n",
		"XML":         "<swf>\n</swf>\n",
		"one long":    strings.Repeat("x", 3*maxLineLength),
		"UTF-16":      "1\x00 \x002\x00\n\x00",
		"random data": "\xff\xfe\x8f\n\x99",
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(strings.NewReader(text))
			require.False(t, r.Next())
			require.ErrorIs(t, r.Err(), ErrNotSWF)
		})
	}
}

func TestHeaderAloneIsASoundEmptyTrace(t *testing.T) {
	r := NewReader(strings.NewReader("; MaxProcs: 100\n"))
	require.False(t, r.Next())
	require.NoError(t, r.Err())
	require.EqualValues(t, 100, r.Header().MaxProcs)
}

func TestReadErrorNamesTheLineAfterAllSoundOnes(t *testing.T) {
	broken := errors.New("disk on fire")
	text := strings.Repeat(sound+"\n", 3) + "4 5"
	r := NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
	r.Name = "x.swf"
	require.Len(t, readAll(t, r), 3)
	require.ErrorIs(t, r.Err(), broken)
	require.ErrorContains(t, r.Err(), "x.swf: after line 3:")
}

func TestSourceThatReturnsNothingDoesNotHang(t *testing.T) {
	r := NewReader(stuck{})
	require.False(t, r.Next())
	require.ErrorIs(t, r.Err(), io.ErrNoProgress)
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestLongCommentIsNoDamage(t *testing.T) {
	r := NewReader(strings.NewReader(sound + "\n;" + strings.Repeat("x", 3*maxLineLength) + "\n" + sound))
	r.strict = true
	require.Len(t, readAll(t, r), 2)
	require.NoError(t, r.Err())
	require.EqualValues(t, 1, r.Report().Count(CommentNotKept))
	require.EqualValues(t, 3, r.Line())
}

func TestBackwardsSubmissionsAreCounted(t *testing.T) {
	r := NewReader(strings.NewReader(withField(2, "20") + "\n" + withField(2, "10") + "\n" + withField(2, "15") + "\n" + withField(2, "14")))
	require.Len(t, readAll(t, r), 4)
	require.Equal(t, []Finding{{2, 2, BackwardsSubmission, "10", ""}, {4, 2, BackwardsSubmission, "14", ""}}, r.Report().Examples(BackwardsSubmission))
}

func TestSubmissionsGoBackwardsByFractionsOfASecond(t *testing.T) {
	// Time fields may have decimals, and a tick is a microsecond.
	r := NewReader(strings.NewReader(withField(2, "20.000001") + "\n" + withField(2, "20.000000") + "\n" + withField(2, "20.5") + "\n" + withField(2, "20.25") + "\n" + withField(2, "20.25")))
	require.Len(t, readAll(t, r), 5)
	found := r.Report().Examples(BackwardsSubmission)
	require.Len(t, found, 2)
	require.EqualValues(t, 2, found[0].Line)
	require.EqualValues(t, 4, found[1].Line)
}

func TestHeaderMismatchIsOnlyNoted(t *testing.T) {
	r := NewReader(strings.NewReader("; MaxJobs: 3\n; MaxRecords: 1\n; MaxProcs: 4\n" + sound))
	r.strict = true
	require.Len(t, readAll(t, r), 1)
	require.NoError(t, r.Err())
	require.Equal(t, []Finding{{Reason: headerMismatch, Text: "MaxJobs is 3, the file has 1"}}, r.Report().Examples(headerMismatch))
	require.Equal(t, []Finding{{4, 0, aboveMaxProcs, "8", ""}}, r.Report().Examples(aboveMaxProcs))
}

func TestReportKeepsFewExamplesAndCountsAll(t *testing.T) {
	r := NewReader(strings.NewReader(sound + "\n" + strings.Repeat("bad\n", 1000)))
	r.examples = 2
	require.Len(t, readAll(t, r), 1)
	require.EqualValues(t, 1000, r.Report().Count(NotANumber))
	require.Len(t, r.Report().Findings(), 2)
}

func TestReasonsAreAllNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for why := range Reason(numReasons) {
		require.NotEmpty(t, why.String())
		require.NotEmpty(t, why.Text())
		require.False(t, seen[why.String()], why)
		seen[why.String()] = true
	}
}

func TestAnyNumberIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Record
		for range rapid.IntRange(1, 5).Draw(t, "records") {
			want = append(want, drawRecord(t))
		}
		var text bytes.Buffer
		w := NewWriter(&text)
		for i := range want {
			require.NoError(t, w.Write(&want[i]))
		}
		require.NoError(t, w.Flush())
		r := NewReader(&text)
		var got []Record
		for rec := range r.Records() {
			got = append(got, *rec)
		}
		require.NoError(t, r.Err())
		require.Equal(t, want, got)
	})
}

func drawRecord(t *rapid.T) Record {
	whole := rapid.OneOf(rapid.Just(int64(Unknown)), rapid.Int64Range(0, 100), rapid.Int64Range(math.MinInt64+1, math.MaxInt64))
	size := rapid.Int64Range(-1, math.MaxInt32)
	times := rapid.Map(rapid.OneOf(rapid.Just(int64(UnknownTime)), rapid.Map(rapid.Int64Range(0, 1e9), func(s int64) int64 { return s * ticks }),
		rapid.Int64Range(-maxTime, maxTime)), func(n int64) des.Time { return des.Time(n) })
	abs := func(t des.Time) des.Time { return max(t, -t) }
	known := rapid.Map(times, func(t des.Time) des.Time {
		if t < 0 {
			return UnknownTime
		}
		return t
	})
	return Record{
		rapid.Int64Range(0, math.MaxInt64).Draw(t, "job"), abs(times.Draw(t, "submit")), times.Draw(t, "wait"), known.Draw(t, "run"),
		size.Draw(t, "allocated"), times.Draw(t, "cpu"), whole.Draw(t, "memory"), size.Draw(t, "requested"), known.Draw(t, "estimate"),
		whole.Draw(t, "requested memory"), whole.Draw(t, "status"), whole.Draw(t, "user"), whole.Draw(t, "group"),
		whole.Draw(t, "executable"), whole.Draw(t, "queue"), whole.Draw(t, "partition"), whole.Draw(t, "preceding"), times.Draw(t, "think"), nil,
	}
}

func TestReadingALineAllocatesNothing(t *testing.T) {
	text := strings.Repeat(sound+"\n", 10_000)
	few := testing.AllocsPerRun(3, func() { drain(NewReader(strings.NewReader(text[:len(text)/100]))) })
	many := testing.AllocsPerRun(3, func() { drain(NewReader(strings.NewReader(text))) })
	require.Equal(t, few, many)
}

func drain(r *Reader) {
	for r.Next() {
	}
}

func TestJobNumbersThatDoNotAscendAreNoted(t *testing.T) {
	text := withField(1, "0") + "\n" + withField(1, "7") + "\n" + withField(1, "3") + "\n" + withField(1, "7") + "\n" + withField(1, "8")
	r := NewReader(strings.NewReader(text))
	r.strict = true
	require.Len(t, readAll(t, r), 5)
	require.NoError(t, r.Err())
	require.Equal(t, []Finding{{3, 1, NumberNotAscending, "3", ""}, {4, 1, NumberNotAscending, "7", ""}, {4, 1, RepeatedNumber, "7", ""}}, r.Report().Findings())
}

func TestNumbersBehindTooManyOthersAreOnlyFoundIfAskedFor(t *testing.T) {
	var text strings.Builder
	for n := 2; n <= 2*(numbersKept+10); n += 2 { // a gap behind each
		fmt.Fprintln(&text, withField(1, strconv.Itoa(n)))
	}
	text.WriteString(withField(1, "2"))
	for check, want := range map[bool]int64{false: 0, true: 1} {
		r := NewReader(strings.NewReader(text.String()))
		r.checkNumbers = check
		drain(r)
		require.Equal(t, want, r.Report().Count(RepeatedNumber))
	}
}

func TestBurstsMayRepeatTheNumberOfTheirJob(t *testing.T) {
	r := NewReader(strings.NewReader(sound + "\n" + withField(11, "2") + "\n" + withField(11, "3")))
	require.Len(t, readAll(t, r), 3)
	require.Zero(t, r.Report().Count(NumberNotAscending))
	require.Zero(t, r.Report().Count(RepeatedNumber))
}

func TestOnlyMinusOneIsUnknown(t *testing.T) {
	for _, field := range []int{4, 5, 8, 9} {
		for value, damaged := range map[string]int64{"-1": 0, "-1.0": 0, "0": 0, "-2": 1, "-100000": 1} {
			r := NewReader(strings.NewReader(withField(field, value)))
			for r.Next() {
			}
			require.Equal(t, damaged, r.Report().Count(NegativeNumber), "field %d: %s", field, value)
			if damaged > 0 {
				require.Equal(t, []Finding{{1, field, NegativeNumber, value, ""}}, r.Report().Examples(NegativeNumber))
			}
		}
	}
}
