package jobfile_test

import (
	"bytes"
	"errors"
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
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/jobfile"
)

// named is a criterion that is nothing but a name.
type named string

func (n named) Name() string { return string(n) }

func anyCriterion(name string) (entity.Criterion, error) {
	if strings.HasPrefix(name, "no-") {
		return nil, errors.New("it is not known")
	}
	return named(name), nil
}

func read(text string, f jobfile.Format) ([]entity.Job, error) {
	r := jobfile.NewReader(strings.NewReader(text), f)
	r.Name, r.Criterion = "jobs", anyCriterion
	var all []entity.Job
	for j, ok := r.Next(); ok; j, ok = r.Next() {
		all = append(all, *j)
	}
	return all, r.Err()
}

func written(t require.TestingT, jobs []entity.Job, f jobfile.Format) string {
	var out bytes.Buffer
	w := jobfile.NewWriter(&out, f)
	for i := range jobs {
		require.NoError(t, w.Write(&jobs[i]))
	}
	require.NoError(t, w.Flush())
	return out.String()
}

const csvText = `id,submit,nodes,volume,runtime,min_performance,max_price,budget,deadline,needs,criterion,user,group,queue
1,0,3,240,180.5,1,,1100,,,min-start,0,,
2,0.000001,2,400,400,2,12.5,,1800,ram>=16;os=linux,square-dep,1,7,0
9,60,1,0.25,0,,,,,"os=Red ""Hat"", 9",mine:k=3,,,
`

const jsonText = `{"id":1,"submit":0,"nodes":3,"volume":240,"runtime":180.5,"min_performance":1,"budget":1100,"criterion":"min-start","user":0}
{"id":2,"submit":0.000001,"nodes":2,"volume":400,"runtime":400,"min_performance":2,"max_price":12.5,"deadline":1800,"needs":{"ram":16,"os":"linux"},"criterion":"square-dep","user":1,"group":7,"queue":0}
{"id":9,"submit":60,"nodes":1,"volume":0.25,"runtime":0,"needs":{"os":"Red \"Hat\", 9"},"criterion":"mine:k=3"}
`

var three = []entity.Job{
	{
		ID: 1, Runtime: 180_500_000, User: 0, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: 3, Length: 240 * des.Second, MinPerf: 1, Budget: 1100, Criterion: named("min-start")},
	},
	{
		ID: 2, Submit: 1, Runtime: 400 * des.Second, User: 1, Group: 7, Queue: 0,
		Request: entity.Request{
			Nodes: 2, Length: 400 * des.Second, MinPerf: 2, MaxPrice: 12.5, Deadline: 1800 * des.Second, Criterion: named("square-dep"),
			Needs: &entity.Attributes{Amounts: map[string]float64{"ram": 16}, Labels: map[string]string{"os": "linux"}},
		},
	},
	{
		ID: 9, Submit: 60 * des.Second, User: -1, Group: -1, Queue: -1,
		Request: entity.Request{
			Nodes: 1, Length: 250_000, Criterion: named("mine:k=3"),
			Needs: &entity.Attributes{Labels: map[string]string{"os": `Red "Hat", 9`}},
		},
	},
}

func TestBothFormatsHoldWholeRequests(t *testing.T) {
	for f, text := range map[jobfile.Format]string{jobfile.CSV: csvText, jobfile.JSONL: jsonText} {
		jobs, err := read(text, f)
		require.NoError(t, err)
		require.Equal(t, three, jobs, f)
		require.Equal(t, text, written(t, three, f))
	}
}

func TestWhatIsNotGivenIsNoLimit(t *testing.T) {
	want := []entity.Job{{
		ID: 4, Runtime: 5 * des.Second, User: -1, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: 2, Length: 5 * des.Second},
	}}
	for _, c := range []struct {
		f    jobfile.Format
		text string
	}{
		{jobfile.CSV, "volume,id,nodes\n5,4,2\n"},
		{jobfile.CSV, "\ufeff nodes , volume,id,budget\r\n 2, 5.0 ,4,\r\n\r\n"},
		{jobfile.CSV, "id,nodes,volume,criterion,needs\n \"4\" ,2, 5,\"\", \n"},
		{jobfile.JSONL, "\ufeff\n \t\r\n { \"volume\" : 5e0 , \"nodes\":2,\"id\":4,\"needs\":null,\"budget\":null,\"criterion\":null, \"user\": null} \r\n"},
		{jobfile.JSONL, `{"\u0069d":4,"nodes":2,"volume":5,"needs":{}}`},
	} {
		jobs, err := read(c.text, c.f)
		require.NoError(t, err)
		require.Equal(t, want, jobs, c.text)
	}
}

func TestWhatIsWrongIsSaidWithLineAndColumn(t *testing.T) {
	const header = "id,submit,nodes,volume,budget,deadline,needs,criterion,user\n1,10,1,5,,,,,\n"
	for _, c := range []struct{ row, want string }{
		{"x,10,1,5,,,,,", `jobs:3: id: want a whole number of 0 or more, not "x"`},
		{"-1,10,1,5,,,,,", `jobs:3: id: want a whole number of 0 or more, not "-1"`},
		{",10,1,5,,,,,", "jobs:3: id: it is not given, and every job needs it"},
		{"1,10,1,5,,,,,", "jobs:3: id: a second job 1"},
		{"2,9.5,1,5,,,,,", "jobs:3: submit: job 2 is submitted at 9.5, 0.5 before the job above it: sort the file by submission"},
		{"2,-1,1,5,,,,,", `jobs:3: submit: want a time of 0 to 1000000000000 time units, not "-1"`},
		{"2,1000000000000.1,1,5,,,,,", `not "1000000000000.1"`},
		{"2,9999999999999,1,5,,,,,", `not "9999999999999"`},
		{"2,0x10,1,5,,,,,", `not "0x10"`},
		{"2,NaN,1,5,,,,,", `not "NaN"`},
		{"2,10,0,5,,,,,", `jobs:3: nodes: want a whole number of 1 or more, at most 2147483647, not "0"`},
		{"2,10,1.5,5,,,,,", `not "1.5"`},
		{"2,10,3000000000,5,,,,,", `not "3000000000"`},
		{"2,10,1,0,,,,,", `jobs:3: volume: want a time above 0 (of a millionth or more), not "0"`},
		{"2,10,1,0.0000001,,,,,", `not "0.0000001"`},
		{"2,10,1,5,0,,,,", `jobs:3: budget: want a number above 0, or nothing for no limit, not "0"`},
		{"2,10,1,5,inf,,,,", `not "inf"`},
		{"2,10,1,5,,0,,,", `jobs:3: deadline: want a time above 0`},
		{"2,10,1,5,,,linux,,", `jobs:3: needs: want attributes such as ram>=16;os=linux, or in JSON {"ram":16,"os":"linux"}, not "linux"`},
		{"2,10,1,5,,,ram>=much,,", `jobs:3: needs: ram: want a number, not "much"`},
		{"2,10,1,5,,,ram>=1;ram>=2,,", `jobs:3: needs: "ram" is there twice`},
		{"2,10,1,5,,,ram>=1;ram=a,,", `jobs:3: needs: "ram" is there twice`},
		{"2,10,1,5,,,os=,,", `jobs:3: needs: os: want a label`},
		{"2,10,1,5,,,=a,,", `jobs:3: needs: want the name of an attribute`},
		{"2,10,1,5,,,,no-such,", `jobs:3: criterion: it is not known`},
		{"2,10,1,5,,,,,-1", `jobs:3: user: want a whole number of 0 or more, at most 2147483647, not "-1"`},
		{"2,10,1,5", "jobs:3: it has 4 fields, but the first line names 9 columns"},
		{"2,10,1,5,\"a\"b,,,,", "jobs:3: column 13: want a comma behind a field in quotes"},
		{"2,10,1,5,a\"b,,,,", "jobs:3: column 11: a quote within a field"},
		{"2,10,1, \"5,,,,,", "jobs:3: column 9: a quote is not closed on its line"},
	} {
		jobs, err := read(header+c.row+"\n", jobfile.CSV)
		require.ErrorContains(t, err, c.want, c.row)
		require.Len(t, jobs, 1)
		var wrong *workload.FileError
		require.ErrorAs(t, err, &wrong)
	}
	for _, c := range []struct{ text, want string }{
		{"", "jobs: it is empty; its first line must name the columns"},
		{"id,nodes,volume,colour\n", `jobs:1: there is no column "colour": there are id, submit, nodes, volume, runtime, min_performance`},
		{"id,nodes,volume,id\n", `jobs:1: there are two columns "id"`},
		{"id,nodes\n", `jobs:1: there is no column "volume", which every job needs; the first line is id,nodes`},
	} {
		_, err := read(c.text, jobfile.CSV)
		require.ErrorContains(t, err, c.want)
	}
	jobs, err := read("\ufeff"+`{"id":7,"nodes":2,"volume":5}`, jobfile.JSONL)
	require.NoError(t, err)
	require.EqualValues(t, 7, jobs[0].ID)
	for _, c := range []struct{ text, want string }{
		{`{"id":1,"nodes":2}`, "jobs:1: volume: it is not given, and every job needs it"},
		{`{"id":1,"nodes":2,"length":3}`, `jobs:1: there is no column "length": there are id, submit`},
		{`{"id":1,"Nodes":2}`, `jobs:1: there is no column "Nodes"`},
		{`{"id":1,"id":2}`, "jobs:1: id is there twice"},
		{"\n{\"id\":1,\"nodes\":\"2\"}", `jobs:2: nodes: want a number, not "2"`},
		{`{"id":1,"needs":"ram>=1"}`, `jobs:1: needs: want an object, not "ram>=1"`},
		{`{"id":1,"needs":7}`, `jobs:1: needs: want an object, not 7`},
		{`{"id":1,"nodes":1,"volume":1,"needs":{"a":1,"a":2}}`, `jobs:1: needs: "a" is there twice`},
		{`{"id":1,"nodes":1,"volume":1,"needs":{"a":null}}`, `jobs:1: needs: a: want a number or a text`},
		{`{"id":1,"nodes":1,"volume":1,"criterion":""}`, `jobs:1: criterion: it is empty`},
		{`{"id":1,"nodes":1,"volume":-}`, `jobs:1: volume: want a time of 0 to 1000000000000 time units, not "-"`},
		{`{"id":1 "nodes":1}`, "jobs:1: column 9: this is no object of JSON: want a comma or }"},
		{`{"id":1}}`, "jobs:1: column 9: this is no object of JSON: want the end of the line"},
		{`{"id":true}`, "jobs:1: column 7: this is no object of JSON: want a number, a text in quotes or null"},
		{`{"id":+5}`, "jobs:1: column 7: this is no object of JSON: want a number, a text in quotes or null"},
		{`{"id":{"a":1}}`, "jobs:1: column 7: this is no object of JSON"},
		{`{"id`, "jobs:1: column 5: this is no object of JSON: it ends within a value"},
		{`{"id"`, "jobs:1: column 6: this is no object of JSON: it ends too early: want a colon"},
		{`{"a\q":1}`, "this is no object of JSON: want a text"},
		{`[1]`, "jobs:1: column 1: this is no object of JSON: want {"},
		{"\n" + strings.Repeat(" ", 2<<20), "jobs:2: the line is longer than 1048576 bytes"},
	} {
		_, err := read(c.text, jobfile.JSONL)
		require.ErrorContains(t, err, c.want, c.text)
	}
}

// An id may stand out of order, but not twice.
func TestIDsNeedNotAscend(t *testing.T) {
	jobs, err := read("id,nodes,volume\n7,1,1\n2,1,1\n0,1,1\n9,1,1\n2,1,1\n", jobfile.CSV)
	require.EqualError(t, err, "jobs:6: id: a second job 2")
	require.Len(t, jobs, 4)
}

func TestCriteriaNeedSomebodyWhoKnowsThem(t *testing.T) {
	r := jobfile.NewReader(strings.NewReader(csvText), jobfile.CSV)
	_, ok := r.Next()
	require.False(t, ok)
	require.EqualError(t, r.Err(), "job file:2: criterion: criteria are not known here")
	asked := map[string]int{}
	r = jobfile.NewReader(strings.NewReader(strings.ReplaceAll(csvText, "square-dep", "min-start")), jobfile.CSV)
	r.Criterion = func(name string) (entity.Criterion, error) {
		asked[name]++
		if name == "mine:k=3" {
			return named("mine"), nil
		}
		return named(name), nil
	}
	for range 2 {
		_, ok = r.Next()
		require.True(t, ok)
	}
	_, ok = r.Next()
	require.False(t, ok)
	require.EqualError(t, r.Err(), `job file:4: criterion: "mine:k=3" gives the criterion "mine", which must have the name that it was asked for by`)
	require.Equal(t, map[string]int{"min-start": 1, "mine:k=3": 1}, asked)
}

func TestTimesAreReadToTheTick(t *testing.T) {
	for text, want := range map[string]des.Time{
		"0.000001": 1, "999999999999.999999": 999999999999999999, "1000000000000": 1e18, "1.5": 1_500_000, "0.1234564": 123456,
		"0.1234565": 123457, "0.12345649999999": 123456, "1e3": 1e9, "2.5E-1": 250_000, "+7": 7e6, ".5": 500_000, "5.": 5e6, "007": 7e6,
	} {
		jobs, err := read("id,nodes,volume\n1,1,"+text+"\n", jobfile.CSV)
		require.NoError(t, err, text)
		require.Equal(t, want, jobs[0].Request.Length, text)
	}
}

// drawJob draws anything that a job file can hold.
func drawJob(t *rapid.T, id int64, submit des.Time) entity.Job {
	times := func(least des.Time, what string) des.Time {
		return des.Time(rapid.Int64Range(int64(least), int64(1e18)).Draw(t, what))
	}
	limit := func(what string) float64 {
		return rapid.SampledFrom([]float64{0, 1, 0.1, 1e-9, 1.0 / 3, 1e30, rapid.Float64Range(1e-300, 1e300).Draw(t, what)}).Draw(t, what)
	}
	owner := rapid.Int32Range(-1, 1<<31-1)
	name := rapid.StringMatching(`[a-zé"',<:/\\][a-zé "',<:/\\]{0,5}[a-zé"',<:/\\]`)
	j := entity.Job{
		ID: id, Submit: submit, Runtime: times(0, "runtime"),
		User: owner.Draw(t, "user"), Group: owner.Draw(t, "group"), Queue: owner.Draw(t, "queue"),
		Request: entity.Request{
			Nodes: int(rapid.Int32Range(1, 1<<31-1).Draw(t, "nodes")), Length: times(1, "volume"),
			MinPerf: limit("performance"), MaxPrice: limit("price"), Budget: limit("budget"),
		},
	}
	if rapid.Bool().Draw(t, "has deadline") {
		j.Request.Deadline = times(1, "deadline")
	}
	if rapid.Bool().Draw(t, "has criterion") {
		j.Request.Criterion = named(name.Draw(t, "criterion"))
	}
	if rapid.Bool().Draw(t, "has needs") {
		a := &entity.Attributes{}
		if amounts := rapid.MapOfN(name, rapid.Float64Range(-1e300, 1e300), 0, 3).Draw(t, "amounts"); len(amounts) > 0 {
			a.Amounts = amounts
		}
		for key, v := range rapid.MapOfN(name, name, 0, 3).Draw(t, "labels") {
			if _, amount := a.Amounts[key]; !amount {
				if a.Labels == nil {
					a.Labels = map[string]string{}
				}
				a.Labels[key] = v
			}
		}
		if len(a.Amounts)+len(a.Labels) > 0 {
			j.Request.Needs = a
		}
	}
	return j
}

func TestJobsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []entity.Job
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(0, 1<<62), 0, 5, rapid.ID).Draw(t, "ids")
		submits := rapid.SliceOfN(rapid.Int64Range(0, 1e18), len(ids), len(ids)).Draw(t, "submits")
		slices.Sort(submits)
		for i, id := range ids {
			jobs = append(jobs, drawJob(t, id, des.Time(submits[i])))
		}
		for _, f := range []jobfile.Format{jobfile.CSV, jobfile.JSONL} {
			text := written(t, jobs, f)
			again, err := read(text, f)
			require.NoError(t, err, text)
			require.Equal(t, jobs, again)
			require.Equal(t, text, written(t, again, f))
		}
	})
}

func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	for want, spoil := range map[string]func(*entity.Job){
		"its id must be 0 or more":      func(j *entity.Job) { j.ID = -1 },
		"at least 1 node":               func(j *entity.Job) { j.Request.Nodes = 0 },
		"more than 2147483647":          func(j *entity.Job) { j.Request.Nodes = math.MaxInt },
		"a time is beyond":              func(j *entity.Job) { j.Runtime = 1e18 + 1 },
		"must be -1 (unknown) or more":  func(j *entity.Job) { j.Queue = -2 },
		`want a label of printable`:     func(j *entity.Job) { j.Request.Needs = &entity.Attributes{Labels: map[string]string{"os": "a;b"}} },
		`want the name of an attribute`: func(j *entity.Job) { j.Request.Needs = &entity.Attributes{Labels: map[string]string{"o=s": "a"}} },
		`"ram" is there twice`: func(j *entity.Job) {
			j.Request.Needs = &entity.Attributes{Amounts: map[string]float64{"ram": 1}, Labels: map[string]string{"ram": "a"}}
		},
		`the name "a\nb" is not of printable`: func(j *entity.Job) { j.Request.Criterion = named("a\nb") },
	} {
		for _, f := range []jobfile.Format{jobfile.CSV, jobfile.JSONL} {
			if want == "more than 2147483647" && math.MaxInt == math.MaxInt32 {
				continue // no number of nodes is
			}
			j := three[0]
			spoil(&j)
			var out bytes.Buffer
			w := jobfile.NewWriter(&out, f)
			err := w.Write(&j)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "a job file cannot hold job ")
			require.Equal(t, err, w.Write(&three[0]), "the first error stays")
			require.Equal(t, err, w.Flush())
			require.Empty(t, out.String())
		}
	}
}

func TestNumbersAreWrittenShort(t *testing.T) {
	j := entity.Job{ID: 1, User: -1, Group: -1, Queue: -1, Request: entity.Request{Nodes: 1, Length: des.Second, MinPerf: 1e-9, MaxPrice: 1.0 / 3, Budget: 1e30}}
	require.Contains(t, written(t, []entity.Job{j}, jobfile.CSV), "\n1,0,1,1,0,1e-09,0.3333333333333333,1e+30,,,,,,\n")
	j.Request.Budget = 12345678
	require.Contains(t, written(t, []entity.Job{j}, jobfile.JSONL), `"budget":12345678}`)
}

func TestNoLimitsHaveOneSpelling(t *testing.T) {
	j := entity.Job{ID: 1, User: -1, Group: -1, Queue: -1, Request: entity.Request{Nodes: 1, Length: des.Second, Deadline: des.Forever, Needs: &entity.Attributes{}}}
	require.Equal(t, `{"id":1,"submit":0,"nodes":1,"volume":1,"runtime":0}`+"\n", written(t, []entity.Job{j}, jobfile.JSONL))
	require.Contains(t, written(t, []entity.Job{j}, jobfile.CSV), "\n1,0,1,1,0,,,,,,,,,\n")
}

func TestAPackedFileIsKnownByItsContent(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "a.jsonl", "a.csv.gz", "a.jsonl.zst"} {
		path := filepath.Join(dir, name)
		f, ok := jobfile.FormatOf(path)
		require.True(t, ok, name)
		w, err := jobfile.Create(path, f)
		require.NoError(t, err)
		for i := range three {
			require.NoError(t, w.Write(&three[i]))
		}
		require.NoFileExists(t, path)
		require.NoError(t, w.Commit())
		w.Abort()
		stored, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, !strings.HasSuffix(name, "z") && !strings.HasSuffix(name, "zst"), bytes.Contains(stored, []byte("min-start")), name)

		file, err := jobfile.Options{Criterion: anyCriterion}.Open(path)
		require.NoError(t, err)
		require.Equal(t, int64(len(stored)), file.Size())
		sum, err := file.SHA256()
		require.NoError(t, err)
		require.Len(t, sum, 64)
		for range 2 {
			s, err := file.Open()
			require.NoError(t, err)
			require.Equal(t, three, all(s))
			require.NoError(t, s.Err())
			require.Equal(t, file.Size(), s.BytesRead())
			require.Equal(t, int64(1), s.Given("deadline"))
			require.Equal(t, int64(2), s.Given("needs"))
			require.Zero(t, s.Given("colour"))
			require.NoError(t, s.Close())
		}
		require.NoError(t, os.WriteFile(path, []byte("another"), 0o666))
		_, err = file.Open()
		require.ErrorContains(t, err, "has changed since it was first opened")
	}
	for _, name := range []string{"a.swf", "a.gz", "csv", "a.csvx"} {
		_, ok := jobfile.FormatOf(name)
		require.False(t, ok, name)
		_, err := jobfile.Options{}.Open(name)
		require.ErrorContains(t, err, "ends in .csv or .jsonl")
	}
	_, err := jobfile.Options{}.Open(filepath.Join(dir, "none.csv"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func all(s entity.Source) (jobs []entity.Job) {
	for j, ok := s.Next(); ok; j, ok = s.Next() {
		jobs = append(jobs, *j)
	}
	return jobs
}

func TestAPartOfAFileCanBeTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(path, []byte(csvText), 0o666))
	take := func(o jobfile.Options) []entity.Job {
		o.Criterion = anyCriterion
		file, err := o.Open(path)
		require.NoError(t, err)
		s, err := file.Open()
		require.NoError(t, err)
		defer s.Close()
		jobs := all(s)
		require.NoError(t, s.Err())
		return jobs
	}
	require.Equal(t, three[:2], take(jobfile.Options{First: 2}))
	require.Equal(t, three[2:], take(jobfile.Options{Skip: 2, First: 9}))
	require.Empty(t, take(jobfile.Options{Skip: 4}))
	moved := take(jobfile.Options{Skip: 1, Shift: true})
	require.Equal(t, des.Time(0), moved[0].Submit)
	require.Equal(t, 1800*des.Second-1, moved[0].Request.Deadline, "it lies as far ahead as before")
	require.Equal(t, 60*des.Second-1, moved[1].Submit)
	require.Zero(t, moved[1].Request.Deadline)
	require.NoError(t, os.WriteFile(path, []byte("id,submit,nodes,volume,deadline\n1,60,1,5,50\n"), 0o666))
	require.Equal(t, des.Tick, take(jobfile.Options{Shift: true})[0].Request.Deadline, "a deadline that has passed stays a limit")
	_, err := jobfile.Options{Skip: -1}.Open(path)
	require.ErrorContains(t, err, "must not be negative")
}

// generated is a job file of n jobs that is made while it is read.
type generated struct {
	n, at int
	text  []byte
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.text) < len(p) && g.at < g.n {
		if g.at == 0 {
			g.text = append(g.text, "id,submit,nodes,volume,runtime,budget,needs,criterion,user\n"...)
		}
		g.text = fmt.Appendf(g.text, "%d,%d,4,250.5,200.25,1234.5,ram>=16;os=linux,square-dep,%d\n", g.at, g.at/3, g.at%7)
		g.at++
	}
	if len(g.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, g.text)
	g.text = g.text[:copy(g.text, g.text[n:])]
	return n, nil
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	r := jobfile.NewReader(&generated{n: 300_000}, jobfile.CSV)
	r.Criterion = anyCriterion
	inUse := func(jobs int) uint64 {
		for range jobs {
			_, ok := r.Next()
			require.True(t, ok, r.Err())
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse(1000)
	require.Less(t, inUse(298_000), before+1<<20)
	runtime.KeepAlive(r)
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(csvText), false)
	f.Add([]byte(jsonText), true)
	f.Add([]byte("id,nodes,volume,needs\n1,1,1e-6,a>=-0;b=\"c\n"), false)
	f.Add([]byte(`{"id":1,"nodes":1,"volume":1,"needs":{"\u00e9":"\ud800"}}`), true)
	f.Fuzz(func(t *testing.T, text []byte, json bool) {
		format := jobfile.CSV
		if json {
			format = jobfile.JSONL
		}
		r := jobfile.NewReader(bytes.NewReader(text), format)
		r.Criterion = func(name string) (entity.Criterion, error) {
			if name != "amp" && name != "square-dep" {
				return nil, errors.New("it is not known")
			}
			return named(name), nil
		}
		jobs := all(r)
		if r.Err() == nil {
			require.LessOrEqual(t, len(jobs), bytes.Count(text, []byte("\n"))+1)
		}
		for _, f := range []jobfile.Format{jobfile.CSV, jobfile.JSONL} {
			once := written(t, jobs, f)
			again, err := read(once, f)
			require.NoError(t, err, once)
			require.Equal(t, jobs, again)
			require.Equal(t, once, written(t, again, f))
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for _, f := range []jobfile.Format{jobfile.CSV, jobfile.JSONL} {
		b.Run(f.String(), func(b *testing.B) {
			r := jobfile.NewReader(&generated{n: 100_000}, jobfile.CSV)
			r.Criterion = anyCriterion
			text := written(b, all(r), f)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r := jobfile.NewReader(strings.NewReader(text), f)
				r.Criterion = anyCriterion
				n := 0
				for _, ok := r.Next(); ok; _, ok = r.Next() {
					n++
				}
				require.Equal(b, 100_000, n)
			}
			b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	r := jobfile.NewReader(&generated{n: 100_000}, jobfile.CSV)
	r.Criterion = anyCriterion
	jobs := all(r)
	for b.Loop() {
		w := jobfile.NewWriter(io.Discard, jobfile.CSV)
		for i := range jobs {
			_ = w.Write(&jobs[i])
		}
		require.NoError(b, w.Flush())
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
