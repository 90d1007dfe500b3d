package sacct

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// someRecord is a record as any format may give it, of a log with those columns.
func someRecord(t *rapid.T, job int64, columns []workload.Column, named bool) *workload.Record {
	whole := func(name string, most int64) int64 {
		return rapid.OneOf(rapid.Just(int64(workload.Unknown)), rapid.Int64Range(0, 3), rapid.Int64Range(0, most)).Draw(t, name)
	}
	at := func(name string) des.Time {
		n := whole(name, 1e8)
		if n < 0 || rapid.IntRange(0, 20).Draw(t, "fraction") > 0 {
			return des.Time(n) * des.Second
		}
		return des.Time(n)*des.Second + 1500*des.Tick
	}
	rec := &workload.Record{
		Job: job, Submit: max(0, at("submit")), Wait: at("wait"), Runtime: at("runtime"), Allocated: whole("allocated", 1e5), CPUTime: at("cpu"),
		UsedMemory: workload.Unknown, Requested: whole("requested", 1e5), Estimate: at("estimate"), RequestedMemory: whole("memory", 1e9),
		Status: whole("status", 5), User: whole("user", 9), Group: whole("group", 9), Executable: workload.Unknown, Queue: whole("queue", 3), Partition: whole("partition", 3),
		Preceding: workload.Unknown, ThinkTime: workload.UnknownTime,
	}
	for _, c := range columns {
		v := workload.UnknownValue
		if rapid.Bool().Draw(t, "known") {
			if c.Text {
				v = workload.TextValue(rapid.SampledFrom([]string{
					"", "a", "12", "[3-4]", "[3.4]", "UNLIMITED", "COMPLETED", "RUNNING", "CANCELLED", "ODD", "x|y", "l\nm", "None assigned", "cpu=2,gres/gpu=3", "cpu=1",
				}).Draw(t, c.Name))
				if v.Text == "" {
					v = workload.UnknownValue
				}
			} else {
				v = workload.NumberValue(rapid.SampledFrom([]float64{0, 1, 3, 17, 0.5, 1e6, 123456.75, -1, 1e300, math.Inf(1)}).Draw(t, c.Name))
			}
		}
		rec.More = append(rec.More, v)
	}
	if named && rec.User > 0 && rapid.Bool().Draw(t, "nameless") {
		rec.User += 100
	}
	return rec
}

// tame makes a record one that Slurm might have written: its columns agree.
func tame(t *rapid.T, h *workload.Header, rec *workload.Record) {
	at := newIndices(h)
	flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
	set := func(c column, v workload.Value) {
		if at[c] >= 0 {
			rec.More[at[c]] = v
		}
	}
	number := func(c column, most int64) {
		set(c, workload.NumberValue(float64(rapid.Int64Range(0, most).Draw(t, derived[c].column.Name))))
	}
	for i, c := range h.Columns {
		switch v := &rec.More[i]; {
		case c.Name == "gpu type" || c.Name == "priority" || c.Name == "weight" || c.Name == "uid" && h.Names(workload.FieldUser).Len() == 0 || isDerived(c.Name):
			*v = workload.UnknownValue
		case c.Text && v.Known():
			v.Text = rapid.StringMatching(`[a-z ]{1,9}[a-z"é,;]`).Draw(t, c.Name)
		case v.Known():
			v.Number = rapid.SampledFrom([]float64{0, 2, 17, 0.5, 1e6, 1.0 / 3}).Draw(t, c.Name)
		}
	}
	for _, x := range []*des.Time{&rec.Submit, &rec.Wait, &rec.Runtime, &rec.Estimate} {
		*x -= *x % des.Second
	}
	if rec.User > 100 {
		rec.User -= 100
	}
	rec.Queue = rec.Partition
	s := states[rapid.IntRange(0, 13).Draw(t, "state")]
	if rec.Status = s.status; at[colState] < 0 && s.name != "COMPLETED" && s.name != "CANCELLED" && s.name != "FAILED" {
		rec.Status = workload.Unknown
	}
	set(colState, workload.TextValue(s.name))
	if s.name == "CANCELLED" && at[colState] >= 0 && flip("by") {
		number(colCancelledBy, 1e6)
	}
	switch goesOn := s.name == "RUNNING" && at[colState] >= 0; {
	case goesOn:
		rec.Wait = max(rec.Wait, 0)
		rec.Runtime = workload.UnknownTime
		number(colElapsed, 1e6)
	case rec.Wait < 0 && rec.Runtime <= 0:
		rec.Runtime, rec.Allocated = workload.UnknownTime, min(rec.Allocated, 0)
		number(colEnd, 1e6)
	}
	if rec.CPUTime = workload.UnknownTime; at[colTotalCPU] >= 0 {
		total := des.Time(rapid.Int64Range(0, 1e12).Draw(t, "total"))
		set(colTotalCPU, workload.NumberValue(total.Seconds()))
		rec.CPUTime = averageCPU(total, rec.Allocated)
	} else if rec.Allocated > 0 {
		rec.CPUTime = des.Time(rapid.Int64Range(0, 1e9).Draw(t, "cpu"))
	}
	if procs := processors(rec); at[colMemory] >= 0 {
		kB := float64(rapid.Int64Range(0, 1e10).Draw(t, "memory")) / 4
		set(colMemory, workload.NumberValue(kB))
		rec.RequestedMemory = ofProcessor(kB, procs)
	} else if procs < 1 {
		rec.RequestedMemory = workload.Unknown
	}
	if rec.Estimate < 0 {
		set(colTimeLimit, workload.TextValue("UNLIMITED"))
	}
	whole := at[colArray] >= 0 && at[colArrayIndex] >= 0 && at[colArrayTasks] >= 0 && at[colHetJob] >= 0 && at[colHetOffset] >= 0
	switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case !whole || kind == 0:
	case kind == 1:
		set(colArray, workload.TextValue("0012"))
		number(colArrayIndex, 1e6)
	case kind == 2:
		set(colArray, workload.TextValue("7"))
		set(colArrayTasks, workload.TextValue("[1-4,9%2]"))
	default:
		set(colHetJob, workload.TextValue("7"))
		number(colHetOffset, 9)
	}
	if at[colExitCode] >= 0 && at[colSignal] >= 0 {
		number(colExitCode, 255)
		number(colSignal, 15)
	}
	set(colTRES, workload.TextValue("billing=4,gres/gpu=3"))
	if at[colTRES] < 0 {
		set(colReqTRES, workload.TextValue("gres/gpu:a100=3"))
	}
	set(colGPUs, workload.NumberValue(3))
	number(colEligible, 1e6)
	number(colMaxRSS, 1e9)
	number(colAveCPU, 1e6)
	number(colEnergy, 1e14)
}

// known are the fields by name, with names for numbers, in the form in which they are
// compared.
func known(h *workload.Header, rec *workload.Record) map[string]string {
	name := func(field int, n int64) string {
		if text := h.Names(field).Name(n); text != "" {
			return text
		}
		return fmt.Sprint(n)
	}
	return map[string]string{
		"job": fmt.Sprint(rec.Job), "submit": fmt.Sprint(rec.Submit), "wait": fmt.Sprint(rec.Wait), "runtime": fmt.Sprint(rec.Runtime),
		"allocated": fmt.Sprint(rec.Allocated), "cpu": fmt.Sprint(rec.CPUTime), "requested": fmt.Sprint(rec.Requested), "estimate": fmt.Sprint(rec.Estimate),
		"memory per processor": fmt.Sprint(rec.RequestedMemory), "status": fmt.Sprint(rec.Status),
		"user": name(workload.FieldUser, rec.User), "group": name(workload.FieldGroup, rec.Group), "partition": name(workload.FieldPartition, rec.Partition),
	}
}

// Whatever a log has: where its writer tells of no loss, all of it comes back.
func TestWhatIsNotToldAsLostComesBack(t *testing.T) {
	records, compared := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := []workload.Column{{Name: "weight"}, {Name: "remark", Text: true}, {Name: "nodes"}, {Name: "name", Text: true}, {Name: "account", Text: true}, {Name: "uid"}, {Name: "gpu type", Text: true}, {Name: "priority", Text: true}}
		for c := range numDerived {
			all = append(all, derived[c].column)
		}
		h := &workload.Header{}
		rich := rapid.Bool().Draw(t, "rich")
		for _, c := range all {
			if rich || rapid.IntRange(0, 4).Draw(t, "has") == 0 {
				h.Columns = append(h.Columns, c)
			}
		}
		named := rapid.Bool().Draw(t, "named")
		if named {
			for n := range int64(10) {
				h.Names(workload.FieldUser).Set(n, fmt.Sprintf("user%d", n))
				h.Names(workload.FieldPartition).Set(n, fmt.Sprintf("p%d", n))
			}
		}
		f := Format{}
		if rapid.Bool().Draw(t, "zone") {
			f.Zone = london(t)
		}
		const start = 1_711_800_000 // a day before the clock is set forward
		h.Set("UnixStartTime", fmt.Sprint(start))
		first := someRecord(t, 1, h.Columns, named)
		first.Submit = 0
		for _, rec := range []*workload.Record{first, someRecord(t, 2, h.Columns, named)} {
			records++
			isTame := rapid.Bool().Draw(t, "tame")
			if isTame {
				tame(t, h, rec)
			}
			if rapid.Bool().Draw(t, "near") {
				rec.Submit %= 400 * des.Day
			}
			alone := []*workload.Record{rec}
			moved := *rec
			moved.Submit = 0 // the log of this record alone begins with it
			text, lost := written1(t, f, h, alone)
			trace, err := opened(text, workload.Options{Reading: workload.Reading{Format: f, Strict: true}})
			require.NoError(t, err, text)
			again, err := recordsOf(trace)
			require.NoError(t, err, text)
			require.Len(t, again, 1)
			require.EqualValues(t, 0, trace.Report().Count(workload.ValueUnreadable), "%s%v", text, trace.Report())
			if isTame {
				require.Empty(t, lost, text)
			}
			if len(lost) > 0 {
				continue
			}
			compared++
			back := trace.Header
			require.Equal(t, start+int64(rec.Submit/des.Second), back.UnixStartTime, text)
			want, got := known(h, &moved), known(back, again[0])
			for field, value := range want {
				if value == "-1" && slices.Contains([]string{"memory per processor", "partition", "cpu", "requested", "allocated"}, field) {
					continue // a column tells it, such as tres, or the queue
				}
				require.Equal(t, value, got[field], "%s of\n%s", field, text)
			}
			for i, c := range h.Columns {
				v := rec.More[i]
				if !v.Known() || c.Name == "end" { // an end that follows from the rest is not told again
					continue
				}
				if c.Name == "eligible" {
					v.Number -= rec.Submit.Seconds()
				}
				if c.Text {
					require.Equal(t, v.Text, more(t, back, again[0], c.Name), "%s of\n%s", c.Name, text)
				} else {
					require.Equal(t, v.Number, more(t, back, again[0], c.Name), "%s of\n%s", c.Name, text)
				}
			}
		}
	})
	require.Greater(t, 8*compared, records, "half of them are tame")
}

// FuzzSacct holds of any input: an end within bounded memory, a balance, and a text that
// comes back as it is once it was written.
func FuzzSacct(f *testing.F) {
	for _, text := range []string{"", whole1, "JobID|Submit\n1|2\n", "JobID,Submit,JobName\n1_2,2024-10-27T01:30:00,\"a\"\"\"\n", "JobIDRaw@@Submit@@State@@\n1@@5@@CANCELLED by 3@@\n1.0@@@@@@\n", "JobIDRaw|Submit|ReqTRES\n1|5|gres/gpu=2\n"} {
		f.Add([]byte(text))
	}
	zone := london(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		format := Format{Zone: zone}
		trace, err := opened(string(text), workload.Options{Reading: workload.Reading{Format: format}})
		if err != nil {
			return
		}
		recs, err := recordsOf(trace)
		require.NoError(t, err)
		report := trace.Report()
		require.Equal(t, report.Lines, int64(len(recs))+report.Total(workload.Damaged)+report.Count(workload.JobStep))
		once, lost := written1(t, format, trace.Header, recs)
		again, err := opened(once, workload.Options{Reading: workload.Reading{Format: format, Strict: true}})
		if len(recs) == 0 {
			return
		}
		require.NoError(t, err, once)
		back, err := recordsOf(again)
		require.NoError(t, err, once)
		require.Len(t, back, len(recs))
		if twice, _ := written1(t, format, again.Header, back); len(lost) == 0 {
			require.Equal(t, once, twice)
		}
	})
}

// endless repeats a text until so many bytes have been read.
type endless struct {
	text string
	left int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && e.left > 0 {
		k := copy(p[n:], e.text)
		n += k
		e.left -= int64(k)
	}
	return n, nil
}

// anAccount is one of an input that does not matter.
func anAccount(t require.TestingT) *workload.Tally {
	var p probe
	_, err := opened("", workload.Options{Reading: workload.Reading{Format: &p}})
	require.NoError(t, err)
	return p.tally
}

type probe struct {
	Format
	tally *workload.Tally
}

func (p *probe) Survey(in *workload.Input) (*workload.Header, error) {
	h := &workload.Header{}
	p.tally = workload.NewTally(in, h)
	return h, nil
}

// passThrough reads rows without keeping the text, which a trace would.
func passThrough(t *testing.T, in io.Reader) (records int64, report *workload.Report, heap uint64) {
	r, err := newReader("generated", in, nil)
	require.NoError(t, err)
	h := &workload.Header{}
	h.Columns, _ = r.heading.columns()
	r.begin(h, anAccount(t))
	r.surveys = true
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	before := stats.HeapAlloc
	for r.Next() {
		records++
	}
	require.NoError(t, r.Err())
	runtime.GC()
	runtime.ReadMemStats(&stats)
	runtime.KeepAlive(r)
	return records, r.Report(), stats.HeapAlloc - min(before, stats.HeapAlloc)
}

func TestALineOfAGigabyteTakesNoMemory(t *testing.T) {
	const heading = "JobID|Submit|JobName|NCPUS\n1|5|a|1\n"
	records, report, heap := passThrough(t, io.MultiReader(strings.NewReader(heading+"2|5|"), &endless{strings.Repeat("x", 1<<16), 1 << 30}, strings.NewReader("|1\n3|5|a|1\n")))
	require.EqualValues(t, 2, records)
	require.EqualValues(t, 1, report.Count(workload.LineTooLong))
	require.Less(t, heap, uint64(16<<20))
}

func TestANumberOfAMillionDigitsIsRefused(t *testing.T) {
	for _, digits := range []int{100, 200_000, 1_000_000} {
		number := strings.Repeat("7", digits)
		for _, row := range []string{number + "|5|1|0", "2|" + number + "|1|0", "2|5|" + number + "|0"} {
			records, report, _ := passThrough(t, strings.NewReader("JobID|Submit|NCPUS|MaxRSS\n"+row+"\n"))
			require.Zero(t, records)
			require.EqualValues(t, 1, report.Total(workload.Damaged))
		}
		if digits < 1_000_000 {
			_, report, _ := passThrough(t, strings.NewReader("JobID|Submit|NCPUS|MaxRSS\n2|5|1|"+number+"\n"))
			require.EqualValues(t, 1, report.Count(workload.ValueUnreadable))
		}
	}
}

func TestTextsThatNeverComeAgainAreNotKept(t *testing.T) {
	rows, n := &strings.Builder{}, 0
	in := readerFunc(func(p []byte) (int, error) {
		for rows.Len() < len(p) && n < 400_000 {
			n++
			fmt.Fprintf(rows, "%d|5|%s%d|user%d|cpu=%d,x=%[4]d\n", n, strings.Repeat("n", 100), n, n, n)
		}
		k := copy(p, rows.String())
		rest := rows.String()[k:]
		rows.Reset()
		rows.WriteString(rest)
		if k == 0 {
			return 0, io.EOF
		}
		return k, nil
	})
	records, report, heap := passThrough(t, io.MultiReader(strings.NewReader("JobID|Submit|JobName|User|AllocTRES\n"), in))
	require.EqualValues(t, 400_000, records)
	require.EqualValues(t, 400_000-maxNames, report.Count(workload.ValueUnreadable), "users beyond so many are unknown")
	require.Less(t, heap, uint64(96<<20))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReadingDoesNotAllocateByTheRow(t *testing.T) {
	allocations := func(rows int) float64 {
		text := typicalLog(rows)
		return testing.AllocsPerRun(1, func() { _, _, _ = passThrough(t, bytes.NewReader(text)) })
	}
	require.Less(t, allocations(20_000)-allocations(10_000), 1000.)
}

// typicalLog has rows as sites export them: 20 columns, 100 users.
func typicalLog(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("JobID|JobIDRaw|User|Group|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|AllocCPUS|ReqCPUS|NNodes|ReqMem|AllocTRES|State|ExitCode|NodeList\n")
	for i := range rows {
		at := int64(1_706_695_200 + i*7)
		instant := func(after int64) string { return civil(at + after) }
		fmt.Fprintf(&b, "%d|%[1]d|user%02d|group%d|acc%02d|standard|normal|%s|%s|%s|%s|%d|08:00:00|%d|%[10]d|%[11]d|%[12]dG|billing=%[10]d,cpu=%[10]d,mem=%[12]dG,node=%[11]d|COMPLETED|0:0|nid00%04[13]d\n",
			4_000_000+i, i%100, i%7, i%40, instant(0), instant(0), instant(600+int64(i%900)), instant(4000+int64(i%5000)), 3400+i%4000, 128*(1+i%4), 1+i%4, 200*(1+i%4), i%5000)
	}
	return b.Bytes()
}

func BenchmarkReader(b *testing.B) {
	for _, log := range []struct {
		name string
		text []byte
	}{
		{"typical", typicalLog(100_000)},
	} {
		b.Run(log.name, func(b *testing.B) {
			b.SetBytes(int64(len(log.text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := newReader("", bytes.NewReader(log.text), nil)
				if err != nil {
					b.Fatal(err)
				}
				h := &workload.Header{}
				h.Columns, _ = r.heading.columns()
				r.begin(h, anAccount(b))
				r.surveys = true
				for r.Next() {
				}
				if r.Err() != nil {
					b.Fatal(r.Err())
				}
			}
		})
	}
}

func TestTheRecordsOfCirrusAreAllThere(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_REFERENCE")
	if dir == "" {
		t.Skip("GRIDSLOT_REFERENCE is not set: no published data at hand")
	}
	trace, err := workload.Options{Reading: workload.Reading{Formats: []workload.Format{Format{}}}}.Open(filepath.Join(dir, "field", "cirrus-2024Q1-sacct.csv.gz"))
	require.NoError(t, err)
	recs, err := recordsOf(trace)
	require.NoError(t, err)
	require.Len(t, recs, 11_635)
	require.EqualValues(t, 1_703_688_808, trace.Header.UnixStartTime)
	statuses, started := map[int64]int{}, 0
	for _, rec := range recs {
		statuses[rec.Status]++
		if rec.Wait >= 0 {
			started++
		}
	}
	require.Equal(t, map[int64]int{workload.StatusCompleted: 11_124, workload.StatusCancelled: 266, workload.StatusFailed: 245}, statuses)
	require.Equal(t, 11_436, started)
	text, lost := written1(t, Format{}, trace.Header, recs)
	require.Empty(t, lost)
	h, again, _ := read(t, text)
	for i := range recs {
		a, b := *recs[i], *again[i]
		for c := range trace.Header.Columns {
			name := trace.Header.Columns[c].Name
			require.Equal(t, more(t, trace.Header, recs[i], name), more(t, h, again[i], name))
		}
		a.More, b.More = nil, nil
		require.Equal(t, a, b)
	}
}
