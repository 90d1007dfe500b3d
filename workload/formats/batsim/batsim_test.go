package batsim

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

func read(text io.Reader, strict bool) (*workload.Header, []*workload.Record, *workload.Report, error) {
	return logtest.Read(Format{}, text, strict)
}

const jobs = `"jobs": [
	{"id": "w!1", "subtime": 0.5, "walltime": 30, "res": 1, "profile": "short", "extra_data": {"wishes": [1, {"a": 2}], "gpus": 2, "user": "bob"}},
	{"id": 7, "subtime": 0, "walltime": -2.5, "res": 4, "profile": "compute", "extra_data": "{}"},
	{"id": "8", "subtime": 20, "res": 2, "profile": "old \"style\"", "gpus": 0.5, "user": 9, "dependencies": null}
]`

const profiles = `"profiles": {
	"short": {"type": "DelayProfile", "delay": 20.25, "ret": 1},
	"compute": {"cpu": [5e6, 0, 0, 0], "com": [], "type": "ParallelTaskProfile", "delay": 5},
	"old \"style\"": {"delay": 1e2, "type": "delay"}
}`

func TestJobsAndProfilesComeInAnyOrder(t *testing.T) {
	for _, text := range []string{
		`{"nb_res": 4, "description": "a test", "x": {"jobs": [1, "]"]}, ` + jobs + `,` + profiles + `}`,
		"\ufeff { " + profiles + "," + jobs + `, "description": "a test", "nb_res":4 } ` + "\n",
	} {
		h, records, report, err := read(strings.NewReader(text), true)
		require.NoError(t, err)
		require.EqualValues(t, 4, h.MaxProcs)
		require.Equal(t, "description: a test", h.Get("Note"))
		require.True(t, h.Unsorted)
		require.Equal(t, []workload.Column{
			{Name: "id", Text: true}, {Name: "wishes", Text: true}, {Name: "gpus"}, {Name: "extra_data", Text: true},
			{Name: "profile", Text: true}, {Name: "profile_type", Text: true},
		}, h.Columns)
		require.EqualValues(t, 3, report.Lines)
		var got []string
		for _, r := range records {
			got = append(got, fmt.Sprint(r.Job, r.Submit.Seconds(), r.Requested, r.Estimate.Seconds(), r.Runtime.Seconds(), r.User, r.Allocated, r.More))
		}
		require.Equal(t, []string{
			`1 0.5 1 30 20.25 10 -1 [{NaN w!1} {NaN [1, {"a": 2}]} {2 } {NaN } {NaN } {NaN }]`,
			`2 0 4 -1 -1 -1 -1 [{NaN 7} {NaN } {NaN } {NaN {}} {NaN compute} {NaN ParallelTaskProfile}]`,
			`3 20 2 -1 100 9 -1 [{NaN 8} {NaN } {0.5 } {NaN } {NaN } {NaN }]`,
		}, got)
		require.Equal(t, "bob", h.Names(workload.FieldUser).Name(10))
	}
}

func TestWhatCannotBeReadIsToldWithItsLine(t *testing.T) {
	one := func(job string) string {
		return "{\"profiles\": {\"p\": {\"type\": \"delay\", \"delay\": 1}},\n\"jobs\": [\n" + job + "]}"
	}
	for text, want := range map[string]string{
		one(`{"id": 1, "subtime": "x", "res": 1, "profile": "p"}`):                                   `:3: subtime: text where a number belongs`,
		one(`{"id": 1, "subtime": 0, "res": 0, "profile": "p"}`):                                     `:3: res: a negative number where none may be: "0"; expected 1 or more`,
		one(`{"id": 1, "subtime": 0, "profile": "p"}`):                                               `:3: res: text where a number belongs`,
		one(`{"id": 1, "subtime": 0, "res": 1, "profile": "q"}`):                                     `:3: profile: too few fields: "\"q\""; expected the name of one of the profiles`,
		one(`{"id": 1, "subtime": 0, "res": 1}`):                                                     `:3: profile: too few fields`,
		one(`17`):                                                                                    `:3: too few fields: "17"; expected an object`,
		one(`{"id": 1, "subtime": 1` + strings.Repeat("0", 1000000) + `, "res": 1, "profile": "p"}`): `:3: line longer than any record`,
		one(`{"id": 1, "subtime": 1` + strings.Repeat("0", 1000) + `, "res": 1, "profile": "p"}`):    `:3: subtime: number out of range`,
		one(`{"id": 1, "subtime": -3, "res": 1, "profile": "p"}`):                                    `:3: submit: a negative number`,
		one(`{"id": 1 ] `):        `:3: this is no JSON of a workload: ] closes nothing`,
		one(`{"id": 1}{"id": 2}`): `:3: this is no JSON of a workload: want a comma or ], not '{'`,
		"[]":                      `:1: this is no JSON of a workload: want {, not '['`,
		"{\"jobs\": [{":           `:1: this is no JSON of a workload: it ends within a value`,
		"{\n\"jobs\": [":          `:2: this is no JSON of a workload: it ends too early`,
		"":                        `:1: this is no JSON of a workload: it ends too early`,
		one(`{"id": 1}`) + "\n{}": `this is no JSON of a workload: want nothing behind its end, not '{'`,
		"{\"x\": " + strings.Repeat("[", 1000000): `nested more than 512 deep`,
		"{jobs: 1}": `want a name in quotes, not "jobs"`,
	} {
		_, _, _, err := read(strings.NewReader(text), true)
		require.ErrorContains(t, err, want, "%.80q", text)
	}
}

func TestNewNamesStandAboveNumbersAndNamesThatAreDeclared(t *testing.T) {
	job := `{"id": 1, "subtime": 0, "res": 1, "profile": "p", "user": `
	_, records, _, err := read(strings.NewReader(`{"names": {"user": {"3": "x"}}, "profiles": {"p": {"type": "delay", "delay": 1}},
		"jobs": [`+job+`9}, `+job+`"bob"}, `+job+`"x"}]}`), true)
	require.NoError(t, err)
	require.Equal(t, []int64{9, 10, 3}, []int64{records[0].User, records[1].User, records[2].User})
}

func TestDamagedJobsAreLeftOutAndCounted(t *testing.T) {
	_, records, report, err := read(strings.NewReader(`{"jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "p"}, {"id": 2}, 3], "profiles": {"p": {"type": "delay", "delay": 1}}}`), false)
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.EqualValues(t, 3, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
}

func TestHostileSizesTakeBoundedMemory(t *testing.T) {
	const size = 32 << 20
	var columns strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&columns, `, {"id": 1, "x%d": 1}`, i)
	}
	for begin, text := range map[string]string{
		`{"x": "`:                         strings.Repeat("x", 4096),
		`{"x": `:                          strings.Repeat("[", 4096),
		`{"jobs": [{"id": "`:              strings.Repeat("x", 4096),
		`{"jobs": [{"id": 1, "subtime": `: strings.Repeat("9", 4096),
		`{"profiles": {"`:                 strings.Repeat("x", 4096),
		`{"header": ["`:                   strings.Repeat("x", 4096),
		`{"jobs": [1`:                     strings.Repeat(`, {"id": 1}`, 400),
		`{"columns": [1`:                  strings.Repeat(`, {"name": "x"}`, 400),
		`{"header": [1`:                   strings.Repeat(`, "; x"`, 400),
		strings.Repeat("\n", 1000):        strings.Repeat("\n", 4096),
		`{"names": {"user": {"0": "x"`:    strings.Repeat(`, "1": "x"`, 400),
		`{"jobs": [{"id": 1, "x0": 1}`:    columns.String(),
	} {
		all := &logtest.Endless{Text: text, Left: size}
		s := jsontext.NewScanner(io.MultiReader(strings.NewReader(begin), all), longest)
		f := &file{Scanner: s, name: "x", header: &workload.Header{}, profiles: map[string]profile{}, kinds: map[string]string{}}
		sv := &survey{file: f, at: map[string]int{}}
		f.job = sv.job
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		require.ErrorContains(t, f.read(), "x:", begin)
		if !strings.HasSuffix(text, "[[") { // that is given up early
			require.Less(t, all.Left, int64(size/2), begin)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(32<<20), begin)
		runtime.KeepAlive(f)
	}
}

func FuzzBatsim(f *testing.F) {
	f.Add([]byte(`{"nb_res": 4,` + jobs + `,` + profiles + `}`))
	f.Add([]byte(`{"header": ["; a: b", 3], "columns": [{"name": "x", "text": true}], "names": {"user": {"1": "a"}, "x": 1}, "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": ""}], "profiles": {"": {"type": "delay"}}}`))
	f.Add([]byte(`{"jobs": [{"a" 1}, {"a": "\`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, records, report, err := read(strings.NewReader(string(text)), false)
		if err != nil {
			return
		}
		require.Equal(t, report.Lines, int64(len(records))+report.Total(workload.Damaged))
		var out strings.Builder
		w, err := Format{}.Write(&out, h)
		require.NoError(t, err)
		for _, rec := range records {
			require.NoError(t, w.Write(rec))
		}
		require.NoError(t, w.Close())
		_, again, _, err := read(strings.NewReader(out.String()), true)
		require.NoError(t, err, out.String())
		lost := int64(0)
		for _, l := range w.Lost().All() {
			if l.What == "record" {
				lost = l.Records
			}
		}
		require.EqualValues(t, len(records), int64(len(again))+lost)
	})
}
