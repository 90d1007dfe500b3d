package workload

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

// tiny is a format of lines "submit runtime processors user gpus" below a line "tiny".
type tiny struct{}

func (tiny) Name() string      { return "tiny" }
func (tiny) Endings() []string { return []string{".tiny"} }
func (tiny) Is(in *Input) bool { return strings.HasPrefix(string(in.Head()), "tiny\n") }

func (f tiny) Survey(in *Input) (*Header, error) {
	h := &Header{Columns: []Column{{Name: "gpus"}, {Name: "tag", Text: true}}}
	h.Add("MaxProcs", "64")
	r, err := f.Read(in, h)
	if err != nil {
		return nil, err
	}
	latest := des.Time(0)
	for r.Next() {
		h.Names(FieldUser).Number([]byte(r.(*tinyReader).user))
		h.Unsorted = h.Unsorted || r.Record().Submit < latest
		latest = r.Record().Submit
	}
	return h, r.Err()
}

func (tiny) Read(in *Input, h *Header) (RecordReader, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(text)
	if err != nil {
		return nil, err
	}
	return &tinyReader{header: h, tally: NewTally(in, h), lines: strings.Split(strings.TrimSpace(string(all)), "\n")}, nil
}

type tinyReader struct {
	header *Header
	tally  *Tally
	lines  []string
	line   int
	record Record
	user   string
	err    error
}

func (r *tinyReader) Header() *Header { return r.header }
func (r *tinyReader) Record() *Record { return &r.record }
func (r *tinyReader) Line() int64     { return int64(r.line) + 1 }
func (r *tinyReader) Err() error      { return r.err }
func (r *tinyReader) Report() *Report { return r.tally.Report() }

func (r *tinyReader) Next() bool {
	for r.line++; r.line < len(r.lines) && r.err == nil; r.line++ {
		r.tally.Line()
		var submit, runtime int
		var gpus float64
		r.record = Record{Job: int64(r.line), Wait: UnknownTime, Allocated: Unknown, CPUTime: UnknownTime, UsedMemory: Unknown, Estimate: UnknownTime,
			RequestedMemory: Unknown, Status: Unknown, Group: Unknown, Executable: Unknown, Queue: Unknown, Partition: Unknown, Preceding: Unknown, ThinkTime: UnknownTime}
		n, _ := fmt.Sscan(r.lines[r.line], &submit, &runtime, &r.record.Requested, &r.user, &gpus)
		if n < 5 {
			r.err = r.tally.Damage(r.Line(), "gpus", TooFewFields, []byte(r.lines[r.line]), "submit runtime processors user gpus")
			continue
		}
		r.record.Submit, r.record.Runtime = des.Time(submit)*des.Second, des.Time(runtime)*des.Second
		r.record.User = r.header.Names(FieldUser).Find([]byte(r.user))
		r.record.More = []Value{NumberValue(gpus), UnknownValue}
		r.tally.Took(r.Line(), &r.record)
		return true
	}
	return false
}

const tinyLog = `tiny
10 5 4 bob 0
0 7 2 alice 2
damaged
20 1 80 bob 1
`

func openTiny(t *testing.T, text string, o Options) (*Trace, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return o.Open(path)
}

func TestALogOfAnyFormatIsRecognisedSortedAndAccountedFor(t *testing.T) {
	trace, err := openTiny(t, tinyLog, Options{Reading: Reading{Formats: []Format{tiny{}}}})
	require.NoError(t, err)
	require.Equal(t, "tiny", trace.Format.Name())
	require.Equal(t, 64, trace.MaxProcs)
	var ids []int64
	for j := range trace.Jobs() {
		ids = append(ids, j.ID)
	}
	require.NoError(t, trace.Err())
	require.Equal(t, []int64{2, 1, 4}, ids)
	r := trace.Report()
	require.EqualValues(t, 4, r.Lines)
	require.EqualValues(t, 3, r.Jobs)
	require.EqualValues(t, 1, r.Count(TooFewFields))
	require.EqualValues(t, 1, r.Count(BackwardsSubmission))
	require.EqualValues(t, 1, r.Count(aboveMaxProcs))
	require.Equal(t, `line 4: gpus: too few fields: "damaged"`, r.Examples(TooFewFields)[0].String())
}

func TestStrictModeEndsAtTheFirstDamagedLineOfAnyFormat(t *testing.T) {
	trace, err := openTiny(t, tinyLog, Options{Reading: Reading{Format: tiny{}, Strict: true}})
	if err == nil {
		for range trace.Jobs() {
		}
		err = trace.Err()
	}
	require.EqualError(t, err, `log.txt:4: gpus: too few fields: "damaged"; expected submit runtime processors user gpus: correct the line, or read without strict mode to leave it out`)
}

func TestWhatNoFormatClaimsIsSWF(t *testing.T) {
	trace, err := openTiny(t, "; MaxProcs: 8\n"+sound+"\n", Options{Reading: Reading{Formats: []Format{tiny{}}}})
	require.NoError(t, err)
	require.Equal(t, SWF, trace.Format)
	require.Nil(t, Options{Reading: Reading{Formats: []Format{tiny{}}}}.Recognise(trace.Path))
	require.Nil(t, Options{Reading: Reading{Formats: []Format{tiny{}}}}.Recognise(trace.Path+"no such file"))
}

func TestSWFSaysWhatItCannotHoldAndKeepsNames(t *testing.T) {
	trace, err := openTiny(t, tinyLog, Options{Reading: Reading{Formats: []Format{tiny{}}}, Part: Part{Sort: true}})
	require.NoError(t, err)
	trace.Header.Names(FieldQueue).Set(0, "interactive use")
	var text bytes.Buffer
	w, err := SWF.Write(&text, trace.Header)
	require.NoError(t, err)
	for rec, err := range trace.Selected() {
		require.NoError(t, err)
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	require.Equal(t, []Loss{{What: "gpus", Records: 3}}, w.Lost().All())
	require.Equal(t, "gpus of 3 records", w.Lost().All()[0].String())

	again, err := Options{Reading: Reading{Stdin: &text}}.Open(StandardInput)
	require.NoError(t, err)
	require.Equal(t, "bob", again.Header.Names(FieldUser).Name(1))
	require.Equal(t, "interactive use", again.Header.Names(FieldQueue).Name(0))
	var users []string
	for rec, err := range again.Selected() {
		require.NoError(t, err)
		users = append(users, again.Header.Names(FieldUser).Name(rec.User))
		require.Nil(t, rec.More)
	}
	require.Equal(t, []string{"alice", "bob", "bob"}, users)
}

func TestNamesThatAHeaderTellsAreNotToldAgain(t *testing.T) {
	trace, err := openTiny(t, "; MaxProcs: 8\n; Queue: 0 interactive\n; Queue: 1 batch\n"+sound+"\n", Options{})
	require.NoError(t, err)
	trace.Header.Names(FieldQueue).Set(2, "night")
	var text bytes.Buffer
	w, err := SWF.Write(&text, trace.Header)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Equal(t, "; MaxProcs: 8\n; Queue: 0 interactive\n; Queue: 1 batch\n; Queue: 2 night\n", text.String())
}

func TestNamesAndTheirNumbers(t *testing.T) {
	var n Names
	n.Set(5, "five")
	require.EqualValues(t, 6, n.Number([]byte("six")))
	n.Set(2, "two")
	require.EqualValues(t, 7, n.Number([]byte("seven")))
	require.EqualValues(t, 6, n.Number([]byte("six")))
	n.Set(9, "five")
	require.EqualValues(t, 5, n.Find([]byte("five")), "the first of two")
	require.Equal(t, "five", n.Name(9))
	require.EqualValues(t, Unknown, n.Find([]byte("none")))
	require.Equal(t, 5, n.Len())
}

func TestALineThatIsSetLeavesTheRestOfAHeader(t *testing.T) {
	h := &Header{Columns: []Column{{Name: "gpus"}}, Unsorted: true}
	h.Add("MaxProcs", "4")
	h.Names(FieldUser).Set(1, "alice")
	h.Set("MaxProcs", "8")
	require.EqualValues(t, 8, h.MaxProcs)
	require.Len(t, h.Columns, 1)
	require.True(t, h.Unsorted)
	require.Equal(t, "alice", h.Names(FieldUser).Name(1))
}

func TestNamesThatAHeaderCannotHoldAreLost(t *testing.T) {
	h := &Header{}
	h.Names(FieldGroup).Set(3, "two\nlines")
	h.Names(FieldGroup).Set(4, " blanks ")
	for range 40 {
		h.Names(FieldExecutable).Number(bytes.Repeat([]byte{byte('a' + h.Names(FieldExecutable).Len()%26), byte('a' + h.Names(FieldExecutable).Len()/26)}, 20_000))
	}
	w, err := SWF.Write(io.Discard, h)
	require.NoError(t, err)
	lost := w.Lost().All()
	require.Len(t, lost, 2)
	require.Equal(t, "names of groups", lost[0].What)
	require.EqualValues(t, 2, lost[0].Records)
	require.EqualValues(t, 40-26, lost[1].Records)
}

func TestLossesAreTheFieldsThatAreKnownAndNotHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawRecord(t)
		held := rapid.Uint32Range(0, allFields).Draw(t, "held")
		l := NewLosses(&Header{}, held)
		l.Count(&rec)
		lost := map[string]bool{}
		for _, one := range l.All() {
			require.EqualValues(t, 1, one.Records)
			lost[one.What] = true
		}
		for f, known := range rec.known() {
			require.Equal(t, f > 0 && known && held>>f&1 == 0, lost[fieldLabel(f)])
		}
	})
}

func TestACloneSharesNothing(t *testing.T) {
	h := &Header{Columns: []Column{{Name: "gpus"}}}
	h.Names(FieldUser).Set(1, "alice")
	c := h.Clone()
	c.Names(FieldUser).Set(1, "bob")
	c.Columns[0].Name = "changed"
	c.Set("MaxProcs", "8")
	require.Equal(t, "alice", h.Names(FieldUser).Name(1))
	require.Equal(t, "gpus", h.Columns[0].Name)
	require.Equal(t, "bob", c.Names(FieldUser).Name(1))

	rec := &Record{More: []Value{NumberValue(1)}}
	kept := rec.Clone()
	rec.More[0] = NumberValue(2)
	require.Equal(t, 1.0, kept.More[0].Number)
}

func TestALogOfWhichNothingIsARecordIsNoLogOfThatFormat(t *testing.T) {
	a := &Tally{Name: "log"}
	a.report.keep = 1
	require.NoError(t, a.Ended(), "a log may be empty")
	a.Line()
	require.NoError(t, a.Damage(1, "", TooFewFields, []byte("nothing"), "fields"))
	err := a.Ended()
	require.ErrorContains(t, err, "log: none of its 1 lines is a record")
	require.ErrorContains(t, err, "nothing")
	a.Line()
	require.NoError(t, a.Ended(), "one is")
}

func TestAJobOfMoreProcessorsThanThereCanBeIsDamagedInEveryFormat(t *testing.T) {
	text := fmt.Sprintf("tiny\n0 10 2 ada 0\n1 10 %d bob 0\n2 10 %d bob 0\n3 10 1 ada 0\n", int64(1)<<33, maxSize)
	o := Options{Reading: Reading{Format: tiny{}, Stdin: strings.NewReader(text)}}
	trace, err := o.Open(StandardInput)
	require.NoError(t, err)
	jobs, err := trace.Open()
	require.NoError(t, err)
	defer jobs.Close()
	var sizes []int
	for j, ok := jobs.Next(); ok; j, ok = jobs.Next() {
		sizes = append(sizes, j.Request.Nodes)
	}
	require.NoError(t, jobs.Err())
	require.Equal(t, []int{2, maxSize, 1}, sizes)
	require.EqualValues(t, 1, jobs.Report().Count(OutOfRange))
	require.EqualValues(t, 4, jobs.Report().Lines)

	o.Stdin, o.Strict = strings.NewReader(text), true
	trace, err = o.Open(StandardInput)
	require.NoError(t, err)
	jobs, err = trace.Open()
	require.NoError(t, err)
	defer jobs.Close()
	n := 0
	for _, ok := jobs.Next(); ok; _, ok = jobs.Next() {
		n++
	}
	require.Equal(t, 1, n)
	require.ErrorContains(t, jobs.Err(), `:3: `)
	require.ErrorContains(t, jobs.Err(), `number out of range: "8589934592"`)
}

// Every format hands its records to a tally, which refuses what no log can have.
func TestSizesAndSignsThatNoLogCanHaveAreDamage(t *testing.T) {
	for column, change := range map[string]func(*Record){
		"job":       func(r *Record) { r.Job = -1 },
		"submit":    func(r *Record) { r.Submit = -1 },
		"runtime":   func(r *Record) { r.Runtime = -2 * des.Second },
		"allocated": func(r *Record) { r.Allocated = math.MaxInt32 + 1 },
		"requested": func(r *Record) { r.Requested = math.MaxInt32 + 1 },
		"estimate":  func(r *Record) { r.Estimate = -1 },
	} {
		for _, strict := range []bool{false, true} {
			a := &Tally{Name: "log", Strict: strict}
			a.report.keep = 1
			rec := UnknownRecord
			rec.Job, rec.Submit, rec.Allocated, rec.Requested = 1, 0, math.MaxInt32, math.MaxInt32
			ok, err := a.Take(1, &rec)
			require.True(t, ok)
			require.NoError(t, err)
			change(&rec)
			ok, err = a.Take(2, &rec)
			require.False(t, ok, column)
			require.Equal(t, strict, err != nil)
			require.Equal(t, column, a.Report().Findings()[0].Column)
			require.EqualValues(t, 2, a.Report().Findings()[0].Line)
		}
	}
	burst := UnknownRecord
	burst.Job, burst.Status = 1, StatusPartial
	ok, _ := new(Tally).Take(1, &burst)
	require.True(t, ok, "bursts of a checkpointed job may have no submission")
}
