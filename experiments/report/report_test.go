package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

const jobsHeader = "job_id,submission_time,requested_number_of_resources,requested_time,final_state,starting_time,finish_time,allocated_resources,user_id,backfilled\n"

// made is a folder of files with a manifest for one run of easy.
func made(t testing.TB, settings string, files map[string]string) *results.Folder {
	dir, err := os.MkdirTemp("", "report")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	names := slices.Sorted(maps.Keys(files))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	list, err := json.Marshal(names)
	require.NoError(t, err)
	manifest := fmt.Sprintf(`{"trace": {"name": "t.swf"}, "settings": {%s}, "runs": [{"policy": "easy", "files": %s}]}`, settings, list)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o666))
	f, err := results.Open(dir)
	require.NoError(t, err)
	return f
}

func charted(t testing.TB, f *results.Folder) (*chart, []*gantt.Lane) {
	rows, err := gantt.Lanes(f)
	require.NoError(t, err)
	c, err := newChart(f.Runs[0], rows, f.Manifest.Settings["allocation"])
	require.NoError(t, err)
	return c, rows
}

// drawn is what the chart shows: for each row and second the letters of its pieces,
// a for the first job.
func drawn(c *chart, rows, seconds int) []string {
	grid := make([][]byte, rows)
	for r := range grid {
		grid[r] = bytes.Repeat([]byte{'.'}, seconds)
	}
	for _, p := range c.pieces {
		for r := p.Row; r < p.Row+p.Rows; r++ {
			for s := int(p.From.Seconds()); s < int(p.To.Seconds()); s++ {
				letter := byte('a' + p.Job)
				switch p.Kind {
				case gantt.EarlierPiece:
					letter -= 'a' - 'A'
				case gantt.OwnerPiece:
					letter = 'o'
				case gantt.OutagePiece:
					letter = '#'
				}
				grid[r][s] = letter
			}
		}
	}
	var text []string
	for _, row := range grid {
		text = append(text, string(row))
	}
	return text
}

func TestJobsAreDrawnOnTheirProcessors(t *testing.T) {
	c, _ := charted(t, made(t, `"procs": "4", "machine": "cluster"`, map[string]string{"jobs-easy.csv": jobsHeader +
		"1,0,3,5,COMPLETED_SUCCESSFULLY,0,3,0-1 3,7,0\n" +
		"2,1,1,5,COMPLETED_WALLTIME_REACHED,1,6,2,7,1\n" +
		"3,1,9,5,REJECTED,-1,-1,,7,0\n" +
		"4,2,2,5,RUNNING,4,,0 1,7,0\n" +
		"5,2,2,5,SUBMITTED,,,,7,0\n"}))
	require.Equal(t, []string{
		"aaa.dd",
		"aaa.dd",
		".bbbbb",
		"aaa...",
	}, drawn(c, 4, 6))
	require.True(t, c.placed)
}

func TestJobsBesideEachOtherStayApart(t *testing.T) {
	c, _ := charted(t, made(t, `"procs": "4"`, map[string]string{"jobs-easy.csv": jobsHeader +
		"1,0,2,5,COMPLETED_SUCCESSFULLY,0,3,0-1,7,0\n2,0,2,5,COMPLETED_SUCCESSFULLY,0,3,2-3,7,0\n"}))
	require.Equal(t, []string{"aaa", "aaa", "bbb", "bbb"}, drawn(c, 4, 3))
	require.Len(t, c.pieces, 2)
}

func TestEarlierAttemptsAndOutagesAreDrawn(t *testing.T) {
	c, _ := charted(t, made(t, `"procs": "3", "machine": "cluster"`, map[string]string{
		"jobs-easy.csv": strings.Replace(jobsHeader, "\n", ",restarts\n", 1) +
			"1,0,2,9,COMPLETED_SUCCESSFULLY,4,8,1-2,7,0,1\n" +
			"2,0,1,9,COMPLETED_SUCCESSFULLY,0,4,2,7,0,0\n",
		"attempts-easy.csv": "job_id,attempt,starting_time,finish_time,processors,allocated_resources,kept,lost,overhead,end\n" +
			"1,1,0,2,2,0-1,1,0,1,requeued\n" +
			"2,1,0,4,1,2,4,0,0,finished\n" +
			"1,2,4,6,1,1,2,0,0,resized\n" +
			"1,3,6,8,2,1-2,2,0,0,finished\n",
		"outages-easy.csv": "from,to,processors,node,known,victims\n2,7,1,0,2,1\n6,forever,1,0,6,\n",
	}))
	require.Equal(t, []string{
		"AA######",
		"AA..aaaa",
		"bbbb..aa",
	}, drawn(c, 3, 8))
	require.Equal(t, des.Second, c.pieces[slicesIndex(c.pieces, gantt.EarlierPiece)].Overhead)
}

func slicesIndex(all []gantt.Piece, k gantt.Kind) int {
	for i := range all {
		if all[i].Kind == k {
			return i
		}
	}
	return -1
}

func TestTasksAreDrawnOnTheirNodes(t *testing.T) {
	f := made(t, `"machine": "domain"`, map[string]string{
		"jobs-easy.csv":     jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,4,5 9,7,0\n2,0,1,9,COMPLETED_SUCCESSFULLY,4,6,9,7,0\n",
		"attempts-easy.csv": "job_id,attempt,starting_time,finish_time,processors,end\n2,1,0,1,1,requeued\n1,1,0,4,2,finished\n2,2,4,6,1,finished\n",
		"nodes.csv":         "id,name,performance,price,class,site,owner\n9,nine,2.5,1.25,,,acme\n5,,1,3,,,\n7,seven,,,,,\n",
		"tasks-easy.csv": "site,job_id,user_id,node,start,reserved_end,end,cost,paid,kind,owner,attempt\n" +
			",1,7,9,0,4,2,5.5,5.5,job,,1\n,1,7,5,0,4,4,12,12,job,,1\n,2,7,7,0,2,1,,,job,,1\n,2,7,9,4,6,6,,,job,,2\n,,,7,1,3,3,,,owner,acme,\n,,,7,4,5,5,,,outage,,\n",
	})
	c, rows := charted(t, f)
	require.Equal(t, []string{
		"aa..bb",
		"aaaa..",
		"Boo.#.",
	}, drawn(c, 3, 6))
	require.Equal(t, []node{{"nine", "performance 2.5, price 1.25, of acme"}, {"node 5", "performance 1, price 3"}, {"seven", ""}}, described(rows)[0].Nodes)
	require.Equal(t, 5.5, c.pieces[slicesIndex(c.pieces[2:], gantt.JobPiece)+2].Cost)
	require.Equal(t, "acme", c.pieces[slicesIndex(c.pieces, gantt.OwnerPiece)].Label)
}

func TestSitesOfAGridLieOneAboveTheOther(t *testing.T) {
	f := made(t, `"machine": "grid"`, map[string]string{
		"jobs-easy.csv":     jobsHeader + "1,0,3,9,COMPLETED_SUCCESSFULLY,0,3,,7,0\n2,0,1,9,COMPLETED_SUCCESSFULLY,1,3,,7,0\n",
		"jobs-easy-b.csv":   jobsHeader + "1,0,1,9,COMPLETED_SUCCESSFULLY,0,2,1,7,0\n",
		"jobs-easy-a.csv":   jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,3,0-1,7,0\n2,0,1,9,COMPLETED_SUCCESSFULLY,1,3,2,7,0\n",
		"clusters-easy.csv": "cluster,processors\na,3\nb,2\n",
	})
	c, rows := charted(t, f)
	require.Equal(t, []string{"aaa", "aaa", ".bb", "...", "aa."}, drawn(c, 5, 3))
	require.Equal(t, []int{0, 3}, []int{rows[0].First, rows[1].First})
	busy := []int{}
	for _, l := range c.levels {
		busy = append(busy, l.Busy)
	}
	require.Equal(t, []int{3, 4, 3, 0}, busy, "without a queue file, by the pieces")
}

func TestTimesOfQueuesAreKeptToTheTick(t *testing.T) {
	c, rows := charted(t, made(t, `"procs": "4"`, map[string]string{
		"jobs-easy.csv":  jobsHeader + "1,0,1,5,COMPLETED_SUCCESSFULLY,0,5,0,7,0\n",
		"queue-easy.csv": "time,queued_jobs,queued_processors,busy_processors\n0,0,0,1\n2.5,1,2,3\n",
	}))
	run, text := c.pack(rows)
	require.Equal(t, []int64{0, 2_500_000}, columns(t, text, run.Columns)["time"])
}

func TestCountsAreNoProcessors(t *testing.T) {
	for _, row := range []string{"1,0,3,9,COMPLETED_SUCCESSFULLY,0,3,3,7,0\n", "1,0,3,9,COMPLETED_SUCCESSFULLY,0,3,,7,0\n"} {
		f := made(t, `"procs": "4"`, map[string]string{"jobs-easy.csv": jobsHeader + row + "2,0,1,9,COMPLETED_SUCCESSFULLY,0,3,1,7,0\n"})
		c, _ := charted(t, f)
		require.False(t, c.placed)
		require.Empty(t, c.pieces)
		var page strings.Builder
		require.NoError(t, Write(&page, f))
		require.Contains(t, page.String(), "Simulate again with --allocation intervals")
	}
	f := made(t, `"procs": "4", "allocation": "count"`, map[string]string{"jobs-easy.csv": jobsHeader + "2,0,1,9,COMPLETED_SUCCESSFULLY,0,3,1,7,0\n"})
	c, _ := charted(t, f)
	require.False(t, c.placed, "one processor, not processor 1")
}

func TestPiecesCoverWhatJobsHadAndNothingElse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const procs, seconds = 8, 20
		want := make([]string, procs)
		cells := make([][]byte, procs)
		for p := range cells {
			cells[p] = bytes.Repeat([]byte{'.'}, seconds)
		}
		text := jobsHeader
		for id := range rapid.IntRange(1, 9).Draw(r, "jobs") {
			start := rapid.IntRange(0, seconds-1).Draw(r, "start")
			end := rapid.IntRange(start, seconds).Draw(r, "end")
			var had []procset.Range
			for p := range procs {
				free := !bytes.ContainsFunc(cells[p][start:end], func(c rune) bool { return c != '.' })
				if free && rapid.Bool().Draw(r, "has") {
					had = append(had, procset.Range{First: int32(p), Last: int32(p)})
					for s := start; s < end; s++ {
						cells[p][s] = byte('a' + id)
					}
				}
			}
			n := len(had)
			if n == 0 {
				start = end // nothing to have
				had, n = []procset.Range{{First: 0, Last: 0}}, 1
			}
			text += fmt.Sprintf("%d,0,%d,9,COMPLETED_SUCCESSFULLY,%d,%d,%s,1,0\n", id+1, n, start, end, procset.Append(nil, procset.Join(had)))
		}
		for p := range cells {
			want[p] = string(cells[p])
		}
		c, _ := charted(t, made(t, `"procs": "8"`, map[string]string{"jobs-easy.csv": text}))
		got := drawn(c, procs, seconds)
		require.Equal(t, want, got)
	})
}

// columns are unpacked as the description in page/data.js says.
func columns(t testing.TB, text []byte, layout []column) map[string][]int64 {
	packed, err := base64.StdEncoding.DecodeString(string(text))
	require.NoError(t, err)
	gz, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	raw, err := io.ReadAll(gz)
	require.NoError(t, err)
	all := map[string][]int64{}
	for _, c := range layout {
		values, last := []int64{}, int64(0)
		for range c.Count {
			u, n := binary.Uvarint(raw)
			raw = raw[n:]
			if u%2 == 0 {
				last += int64(u / 2)
			} else {
				last -= int64(u/2) + 1
			}
			values = append(values, last)
		}
		all[c.Name] = values
	}
	require.Empty(t, raw)
	return all
}

func TestColumnsArePackedExactly(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOf(rapid.Int64Range(-1<<51, 1<<51)).Draw(r, "values")
		var p packer
		p.numbers("a", len(values), func(i int) int64 { return values[i] })
		p.numbers("b", 2, func(i int) int64 { return int64(i) })
		got := columns(t, p.text(), p.columns)
		require.Equal(t, append([]int64{}, values...), got["a"])
		require.Equal(t, []int64{0, 1}, got["b"])
	})
}

// Without a divisor the page holds a column in an Int32Array, which would cut off larger numbers.
func TestNumbersBeyond32BitsAreHeldInMore(t *testing.T) {
	for v, divisor := range map[int64]int64{0: 0, math.MaxInt32: 0, math.MinInt32: 0, math.MaxInt32 + 1: 1, math.MinInt32 - 1: 1, 1 << 52: 1} {
		var p packer
		p.numbers("a", 3, func(i int) int64 { return []int64{7, v, 8}[i] })
		require.Equal(t, []column{{"a", 3, divisor}}, p.columns, v)
		require.Equal(t, []int64{7, v, 8}, columns(t, p.text(), p.columns)["a"])
	}
	const id, user = 1<<40 + 1, 1<<33 + 5
	c, rows := charted(t, made(t, `"procs": "4"`, map[string]string{"jobs-easy.csv": jobsHeader +
		fmt.Sprintf("%d,0,1,5,COMPLETED_SUCCESSFULLY,2,4,0,%d,0\n2,0,1,5,COMPLETED_SUCCESSFULLY,2,4,1,7,0\n", int64(id), int64(user))}))
	run, text := c.pack(rows)
	got := columns(t, text, run.Columns)
	require.Equal(t, []int64{id, 2}, got["id"])
	require.Equal(t, []int64{user, 7}, got["user"])
	for _, col := range run.Columns {
		switch col.Name {
		case "id", "user":
			require.EqualValues(t, 1, col.Divisor, col.Name)
		case "size", "state":
			require.Zero(t, col.Divisor, col.Name)
		}
	}
}

func TestPiecesStandByTheTimesOfTheirJobs(t *testing.T) {
	c, rows := charted(t, made(t, `"procs": "4"`, map[string]string{"jobs-easy.csv": jobsHeader +
		"1,0.5,1,5,COMPLETED_SUCCESSFULLY,2,4,0,7,0\n2,0,1,5,SUBMITTED,,,,7,0\n"}))
	run, text := c.pack(rows)
	got := columns(t, text, run.Columns)
	require.Equal(t, []int64{500_000, 0}, got["submit"])
	require.Equal(t, []int64{1_500_000, 0}, got["wait"])
	require.Equal(t, []int64{2_000_000, -1}, got["run"])
	require.Equal(t, []int64{0}, got["after_start"])
	require.Equal(t, []int64{0}, got["after_end"])
	for _, col := range run.Columns {
		if col.Name == "submit" {
			require.EqualValues(t, 1e6, col.Divisor)
		}
	}
}

func TestMeansOfLevelsAreAreas(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var levels []rows.Level
		at := 0
		for range rapid.IntRange(0, 6).Draw(r, "levels") {
			at += rapid.IntRange(1, 4).Draw(r, "gap")
			levels = append(levels, rows.Level{Time: des.Time(at) * des.Second, Busy: rapid.IntRange(0, 9).Draw(r, "busy")})
		}
		from := rapid.IntRange(0, 20).Draw(r, "from")
		to := from + rapid.IntRange(1, 20).Draw(r, "length")
		sum := 0
		for s := from; s < to; s++ {
			now := 0
			for _, l := range levels {
				if int(l.Time.Seconds()) <= s {
					now = l.Busy
				}
			}
			sum += now
		}
		got := meanLevel(levels, des.Time(from)*des.Second, des.Time(to)*des.Second, func(l rows.Level) int { return l.Busy })
		require.InDelta(t, float64(sum)/float64(to-from), got, 1e-9)
	})
}

func TestNumbersAreWrittenForReaders(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.891: "1,234,567.89", -0.5: "−0.5", -1234: "−1,234", -0.0001: "0", math.Inf(1): "–", math.NaN(): "–", 10: "10"} {
		require.Equal(t, want, decimal(x, 2))
	}
}

var small = map[string]string{"jobs-easy.csv": jobsHeader + "1,0,1,5,COMPLETED_SUCCESSFULLY,2,4,0,7,0\n", "summary.csv": "policy,jobs,mean_wait,odd_one\neasy,1,2,0.25\n"}

func TestTheSameFolderGivesTheSamePage(t *testing.T) {
	f := made(t, `"procs": "4", "a": "1", "b": "2", "c": "3", "d": "4"`, small)
	var one bytes.Buffer
	require.NoError(t, Write(&one, f))
	for range 20 {
		var two bytes.Buffer
		require.NoError(t, Write(&two, f))
		require.True(t, bytes.Equal(one.Bytes(), two.Bytes()))
	}
	require.Contains(t, one.String(), `<th scope="row">odd one</th><td>0.25</td>`)
	require.Contains(t, one.String(), `<th scope="row">mean wait <small>s</small></th><td>2</td>`)
}

func TestThePageNamesNothingThatIsLoaded(t *testing.T) {
	var page strings.Builder
	require.NoError(t, Write(&page, made(t, `"procs": "4"`, small)))
	text := page.String()
	require.NotRegexp(t, regexp.MustCompile(`(?i)<(img|iframe|object|embed|audio|video|source|base)\b|@import|url\(|<script[^>]+src`), text)
	require.Equal(t, []string{`<link rel="icon" href="data:,">`}, regexp.MustCompile(`<link[^>]*>`).FindAllString(text, -1))
	require.Contains(t, text, "default-src &#39;none&#39;")
	require.Contains(t, text, "The MIT License (MIT)", "the licence of uPlot goes with it")
}

func TestChartsThatWouldBeTooMuchAreLeftOut(t *testing.T) {
	f := made(t, `"procs": "4"`, small)
	more := *f.Runs[0]
	more.Policy = "again"
	f.Runs = append(f.Runs, &more)
	p, err := newPage(f, 1)
	require.NoError(t, err)
	require.Len(t, p.meta.Runs, 1, "one is always there")
	require.Len(t, p.meta.Runs, 1)
	require.Contains(t, strings.Join(p.Warnings, " "), "The charts of again are left out")
	require.Equal(t, []string{"easy", "again"}, p.Policies)
	p, err = newPage(f, maxBytes)
	require.NoError(t, err)
	require.Len(t, p.meta.Runs, 2)
}

type full struct{ left int }

func (w *full) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestAPageIsThereWholeOrNotAtAll(t *testing.T) {
	f := made(t, `"procs": "4"`, small)
	require.ErrorContains(t, Write(&full{1000}, f), "disk full")
	path := filepath.Join(f.Dir, "report.html")
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, "jobs-easy.csv"), []byte(jobsHeader+"1,0,x,5,COMPLETED_SUCCESSFULLY,2,4,0,7,0\n"), 0o666))
	err := WriteFile(path, f)
	require.ErrorContains(t, err, "line 2")
	require.NoFileExists(t, path)
	entries, err := os.ReadDir(f.Dir)
	require.NoError(t, err)
	require.Len(t, entries, 3)
}

func TestOfSeveralPlansTheWindowsOfTheLastAreKept(t *testing.T) {
	files := map[string]string{
		"jobs-easy.csv": jobsHeader + "8,0,2,9,COMPLETED_SUCCESSFULLY,4,8,5 9,7,0\n3,0,1,9,COMPLETED_SUCCESSFULLY,0,4,9,7,0\n",
		"nodes.csv":     "id,name,performance,price,class,site,owner\n9,nine,2.5,1.25,,,acme\n5,,1,3,,,\n",
		"alternatives-easy.csv": "planned_at,job_id,alternative,node,start,end,cost,chosen\n" +
			"0,8,1,9,0,4,1,0\n0,3,1,9,0,4,2.25,1\n0,3,2,5,1.5,5,3,0\n" + // job 8 is put off
			"2,8,1,9,4,8,5,0\n2,8,2,5,4,8,6,1\n2,8,2,9,4,7,7,1\n" +
			"2,8,1,5,4,8,8,1\n2,8,1,9,4,8,9,1\n2,4,1,9,0,1,1,1\n", // anew at the same instant; and no job of the run
	}
	c, rows := charted(t, made(t, `"machine": "domain"`, files))
	layout, text, err := c.packWindows(rows)
	require.NoError(t, err)
	s := int64(des.Second) // times are counted in ticks where any of them is no whole second
	require.Equal(t, map[string][]int64{
		"job": {0, 0, 1, 1}, "alternative": {1, 1, 1, 2}, "row": {1, 0, 0, 1}, "chosen": {1, 1, 1, 0},
		"start": {4 * s, 4 * s, 0, 3 * s / 2}, "end": {8 * s, 8 * s, 4 * s, 5 * s}, "cost": {8e6, 9e6, 225e4, 3e6},
	}, columns(t, text, layout))
}

func TestWindowsThatAreTooManyAreLeftOutAndThePageSaysSo(t *testing.T) {
	files := map[string]string{
		"jobs-easy.csv":         jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,4,9,7,0\n",
		"nodes.csv":             "id,name,performance,price,class,site,owner\n9,nine,2.5,1.25,,,acme\n",
		"alternatives-easy.csv": "planned_at,job_id,alternative,node,start,end,cost,chosen\n0,1,1,9,0,4,1,1\n",
	}
	f := made(t, `"machine": "domain"`, files)
	p, err := newPage(f, maxBytes)
	require.NoError(t, err)
	require.NotEmpty(t, partOf(p, "windows-0"))
	size := len(partOf(p, "run-0"))
	p, err = newPage(f, size)
	require.NoError(t, err)
	require.Nil(t, partOf(p, "windows-0"))
	require.Nil(t, p.meta.Runs[0].Windows)
	require.Contains(t, strings.Join(p.Warnings, "\n"), "could choose from are left out")

	delete(files, "alternatives-easy.csv")
	var page strings.Builder
	require.NoError(t, Write(&page, made(t, `"machine": "domain"`, files)))
	require.NotContains(t, page.String(), `id="windows-0"`)
	require.NotContains(t, page.String(), `"windows":`)
}
