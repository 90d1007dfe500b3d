package jobfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/jobfile"
)

func afters(t *testing.T, text string) [][]entity.Dependency {
	jobs, err := read(text, jobfile.CSV)
	require.NoError(t, err)
	var all [][]entity.Dependency
	for _, j := range jobs {
		all = append(all, j.After)
	}
	return all
}

func TestJobsComeAfterOthersTheirRangesAndTheirSuccess(t *testing.T) {
	require.Equal(t, [][]entity.Dependency{
		nil,
		{{Job: 1}},
		{{Job: 1}},
		{{Job: 1, OK: true, Think: 2500 * des.Second / 1000}, {Job: 3}},
		{{Job: 2, OK: true, Think: des.Minute}, {Job: 3, OK: true, Think: des.Minute}, {Job: 4, OK: true, Think: des.Minute}},
		nil,
	}, afters(t, "id,nodes,volume,after\n1,1,1,\n2,1,1,1\n3,1,1,1\n4,1,1,1:ok+2.5  3\n5,1,1, 2-4:ok+60 \n6,1,1,\n"))
}

func TestAnArrayIsItsTasks(t *testing.T) {
	for text, f := range map[string]jobfile.Format{
		"id,submit,nodes,volume,array,after\n1,0,1,1,,\n10,5,2,60,3,1\n20,5,1,1,1,10-12\n":                                                                                                                jobfile.CSV,
		`{"id":1,"nodes":1,"volume":1}` + "\n" + `{"id":10,"submit":5,"nodes":2,"volume":60,"array":3,"after":"1"}` + "\n" + `{"id":20,"submit":5,"nodes":1,"volume":1,"array":1,"after":"10-12"}` + "\n": jobfile.JSONL,
	} {
		jobs, err := read(text, f)
		require.NoError(t, err)
		require.Len(t, jobs, 5)
		for i, j := range jobs[1:4] {
			require.Equal(t, int64(10+i), j.ID)
			require.Equal(t, 5*des.Second, j.Submit)
			require.Equal(t, entity.Request{Nodes: 2, Length: des.Minute}, j.Request)
			require.Equal(t, []entity.Dependency{{Job: 1}}, j.After)
		}
		require.Equal(t, int64(20), jobs[4].ID)
		require.Equal(t, []entity.Dependency{{Job: 10}, {Job: 11}, {Job: 12}}, jobs[4].After)
	}
}

func TestWhatIsWrongWithAfterAndArrayIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"1,1,1,x,":                   `jobs:2: after: want jobs such as 3 10-14 4:ok+60, not "x"`,
		"1,1,1,3;4,":                 `jobs:2: after: want jobs such as`,
		"1,1,1,:ok,":                 `jobs:2: after: want jobs such as`,
		"1,1,1,-3,":                  `jobs:2: after: want jobs such as`,
		"1,1,1,5-3,":                 `jobs:2: after: "5-3": want a range upwards`,
		"1,1,1,1-9000000,":           `jobs:2: after: "1-9000000": want a range upwards of at most 1000000 jobs`,
		"1,1,1,3+x,":                 `jobs:2: after: "3+x": want a time`,
		"1,1,1,3+-1,":                `jobs:2: after: "3+-1": want a time`,
		"1,1,1,,0":                   `jobs:2: array: want a whole number of 1 or more, at most 1000000, not "0"`,
		"1,1,1,,5\n3,1,1,,":          `jobs:3: id: a second job 3`,
		"3,1,1,,\n1,1,1,,5":          `jobs:3: id: a second job 3`,
		"9223372036854775807,1,1,,2": `jobs:2: array: the last of 2 tasks`,
	} {
		_, err := read("id,nodes,volume,after,array\n"+text+"\n", jobfile.CSV)
		require.ErrorContains(t, err, want, text)
	}
}

func TestWhatComesAfterOthersIsWrittenAsItIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := entity.Job{ID: 5, User: -1, Group: -1, Queue: -1, Runtime: des.Second, Request: entity.Request{Nodes: 1, Length: des.Second}}
		for range rapid.IntRange(0, 12).Draw(t, "links") {
			what := rapid.SampledFrom([]string{"end", "ok", "submitted"}).Draw(t, "what")
			job.After = append(job.After, entity.Dependency{
				Job: rapid.Int64Range(0, 12).Draw(t, "job"), OK: what == "ok", Submitted: what == "submitted",
				Think: des.Time(rapid.IntRange(0, 2).Draw(t, "think")) * des.Second / 2,
			})
		}
		for _, f := range []jobfile.Format{jobfile.CSV, jobfile.JSONL} {
			var out bytes.Buffer
			w := jobfile.NewWriter(&out, f)
			w.After = true
			require.NoError(t, w.Write(&job))
			require.NoError(t, w.Flush())
			again, err := read(out.String(), f)
			require.NoError(t, err)
			require.Equal(t, []entity.Job{job}, again)
		}
	})
}

func TestAColumnThatIsNotWrittenLosesNothingInSilence(t *testing.T) {
	job := entity.Job{ID: 5, User: -1, Group: -1, Queue: -1, Request: entity.Request{Nodes: 1, Length: des.Second}, After: []entity.Dependency{{Job: 1}}}
	require.ErrorContains(t, jobfile.NewWriter(&bytes.Buffer{}, jobfile.CSV).Write(&job), "no such column")
}

func TestAFileSaysWhetherItsJobsMayWait(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"plain.csv":   {"id,nodes,volume\n1,1,1\n", false},
		"after.csv":   {"id,nodes,after,volume\n1,1,,1\n", true},
		"plain.jsonl": {`{"id":1,"nodes":1,"volume":1}` + "\n", false},
		"after.jsonl": {`{"id":1,"nodes":1,"volume":1}` + "\n" + `{"id":2,"nodes":1,"volume":1,"after":"1"}` + "\n", true},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o666))
		f, err := jobfile.Options{}.Open(path)
		require.NoError(t, err)
		may, err := f.MayWait()
		require.NoError(t, err)
		require.Equal(t, c.want, may, name)
	}
}
