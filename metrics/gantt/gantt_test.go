package gantt_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

const s = des.Second

// Each column shows who has most of it, counted tick by tick.
func TestAColumnShowsWhoHasMostOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := des.Time(rapid.IntRange(1, 5).Draw(t, "column"))
		from := des.Time(rapid.IntRange(0, 6).Draw(t, "from"))
		var seconds []byte // what really runs
		c := &gantt.Chart{Rows: []string{""}}
		for range rapid.IntRange(0, 8).Draw(t, "bars") {
			mark := rapid.SampledFrom([]byte("ABC.")).Draw(t, "mark")
			length := rapid.IntRange(1, 6).Draw(t, "length")
			if at := des.Time(len(seconds)); mark != gantt.Idle {
				c.Bars = append(c.Bars, gantt.Bar{Row: 0, From: at, To: at + des.Time(length), Mark: mark})
			}
			for range length {
				seconds = append(seconds, mark)
			}
		}
		line := c.Lines(from, column)[0]
		drawn := strings.TrimPrefix(line, "  |")
		for k := 0; k < len(seconds)+5; k++ {
			got := byte(gantt.Idle)
			if k < len(drawn) {
				got = drawn[k]
			}
			count := map[byte]int{}
			longest := map[byte]int{} // of one piece
			for i := 0; i < int(column); i++ {
				at, mark := int(from)+k*int(column)+i, byte(gantt.Idle)
				if at < len(seconds) {
					mark = seconds[at]
				}
				count[mark]++
			}
			for _, b := range c.Bars {
				part := min(b.To, from+des.Time(k+1)*column) - max(b.From, from+des.Time(k)*column)
				longest[b.Mark] = max(longest[b.Mark], int(part))
			}
			if got == gantt.Idle {
				for _, n := range longest {
					require.LessOrEqual(t, n, count[gantt.Idle], "column %d of %q", k, line)
				}
				continue
			}
			for _, n := range longest {
				require.GreaterOrEqual(t, longest[got], n, "column %d of %q", k, line)
			}
			require.GreaterOrEqual(t, longest[got], count[gantt.Idle])
		}
	})
}

func TestOfEqualPartsTheFirstIsDrawnAndAnyJobBeforeNone(t *testing.T) {
	c := &gantt.Chart{Rows: []string{""}, Bars: []gantt.Bar{{Row: 0, From: 0, To: 1 * s, Mark: 'A'}, {Row: 0, From: 1 * s, To: 3 * s, Mark: 'B'}, {Row: 0, From: 5 * s, To: 6 * s, Mark: 'C'}}}
	require.Equal(t, []string{"  |ABC"}, c.Lines(0, 2*s))
}

func TestChartsShareAScaleAndStandOneBelowTheOther(t *testing.T) {
	one := &gantt.Chart{Title: "one:", Rows: []string{"a", "long"}, Bars: []gantt.Bar{{Row: 0, From: 10 * s, To: 30 * s, Mark: 'A'}, {Row: 1, From: 20 * s, To: 110 * s, Mark: 'B'}}}
	two := &gantt.Chart{Title: "two:", Rows: []string{"a", "long"}, Bars: []gantt.Bar{{Row: 1, From: 10 * s, To: 50 * s, Mark: 'A'}}}
	var b strings.Builder
	column, err := gantt.Write(&b, 10*s, 10, one, two)
	require.NoError(t, err)
	require.Equal(t, 10*s, column)
	require.Equal(t, "one:\n  long|.BBBBBBBBB\n  a   |AA\ntwo:\n  long|AAAA\n  a   |\n", b.String())
	for width, want := range map[int]des.Time{100: 1 * s, 99: 2 * s, 50: 2 * s, 49: 5 * s, 10: 10 * s} {
		column, err := gantt.Write(&b, 10*s, width, one)
		require.NoError(t, err)
		require.Equal(t, want, column)
	}
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	_, err := gantt.Write(&strings.Builder{}, 0, 80, &gantt.Chart{Rows: make([]string, gantt.MaxRows+1)})
	require.ErrorAs(t, err, new(*gantt.TooLargeError))
	_, err = gantt.Write(&strings.Builder{}, 0, 80, &gantt.Chart{Rows: make([]string, gantt.MaxRows)})
	require.NoError(t, err)
}

func TestNamesDoNoHarm(t *testing.T) {
	var b strings.Builder
	_, err := gantt.Write(&b, 0, 80, &gantt.Chart{Title: "\x1b[2Jtitle\n", Rows: []string{"no\u202ede\r\x07"}})
	require.NoError(t, err)
	require.Equal(t, "?[2Jtitle?\n  no?de??|\n", b.String())
}

func TestMarksAreLetters(t *testing.T) {
	require.Equal(t, "AZa9A9", string([]byte{gantt.Mark(1), gantt.Mark(26), gantt.Mark(27), gantt.Mark(62), gantt.Mark(63), gantt.Mark(0)}))
}

func job(id int64, submit, nodes int, length des.Time) *entity.Job {
	return &entity.Job{ID: id, Submit: des.Time(submit) * s, Runtime: length * s, Request: entity.Request{Nodes: nodes, Length: length * s}}
}

func TestARecorderDrawsNodesByTheirNumbersAndEachTaskToItsEnd(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 7, Perf: 1}, {ID: 12, Perf: 2}}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 100 * s
	r := &gantt.Observer{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, r)
	m.SubmitAll(slices.Values([]*entity.Job{job(1, 0, 2, 8), job(2, 1, 1, 2)}))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"  12|AAAAB", "  7 |AAAAAAAA"}, r.Lines(0, s))
}

func TestARecorderDrawsEveryAttempt(t *testing.T) {
	r := &gantt.Observer{}
	sim := des.New(des.Config{})
	var m *entity.Metascheduler
	m = entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{}, r, stopAt{func() *entity.Metascheduler { return m }})
	m.Placer = entity.LowestFirst{}
	m.SubmitAll(slices.Values([]*entity.Job{job(1, 0, 1, 5), job(2, 3, 1, 2)}))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []string{"  |...BB", "  |AAAAAAAA"}, r.Lines(0, s))
}

// stopAt stops job 1 when job 2 comes; it begins again at once.
type stopAt struct{ of func() *entity.Metascheduler }

func (x stopAt) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted && e.Run.ID == 2 {
		for r := range x.of().RunningJobs() {
			x.of().Preempt(r, 0)
		}
	}
}

// folder is one that a simulation could have left.
func folder(t *testing.T, files map[string]string) *results.Folder {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for name := range files {
		names = append(names, `"`+name+`"`)
	}
	slices.Sort(names)
	files["manifest.json"] = `{"runs": [{"policy": "easy", "files": [` + strings.Join(names, ",") + `]}]}`
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	f, err := results.Open(dir)
	require.NoError(t, err)
	return f
}

const jobsHeader = "job_id,submission_time,requested_number_of_resources,requested_time,final_state,starting_time,finish_time,allocated_resources\n"

func TestFilesOfAClusterAreDrawnWithAttemptsAndOutages(t *testing.T) {
	f := folder(t, map[string]string{
		"jobs-easy.csv":     jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,6,8,0-1\n",
		"attempts-easy.csv": "job_id,attempt,starting_time,finish_time,processors,allocated_resources,end\n1,1,0,3,2,1-2,requeued\n1,2,6,8,2,0-1,finished\n2,1,1,4,1,0,finished\n",
		"outages-easy.csv":  "from,to,processors,node,known,victims\n3,5,1,2,3,1\n7,forever,1,2,7,\n2,3,1,,2,\n",
	})
	c, err := gantt.Read(f, f.Runs[0])
	require.NoError(t, err)
	require.Equal(t, "easy:", c.Title)
	require.Equal(t, []string{"  |AAA##..#", "  |AAA...AA", "  |.BBB..AA"}, c.Lines(0, s))
}

func TestFilesWithoutAttemptsAndNumbersAreToldApart(t *testing.T) {
	f := folder(t, map[string]string{"jobs-easy.csv": jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,1,3,0-1\n2,0,9,9,REJECTED,-1,0,\n"})
	c, err := gantt.Read(f, f.Runs[0])
	require.NoError(t, err)
	require.Equal(t, s, c.Begin())
	require.Equal(t, []string{"  |AA", "  |AA"}, c.Lines(s, s))
	f = folder(t, map[string]string{"jobs-easy.csv": jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,1,3,2\n"}) // a count
	_, err = gantt.Read(f, f.Runs[0])
	require.ErrorContains(t, err, "--allocation intervals")
	f = folder(t, map[string]string{"jobs-easy.csv": jobsHeader + "1,0,4096,9,COMPLETED_SUCCESSFULLY,1,3,0-4095\n"})
	_, err = gantt.Read(f, f.Runs[0])
	require.ErrorAs(t, err, new(*gantt.TooLargeError))
}

func TestFilesOfADomainAreDrawnWithOwnersAndNames(t *testing.T) {
	f := folder(t, map[string]string{
		"jobs-easy.csv":  jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,4,\n",
		"tasks-easy.csv": "site,job_id,user_id,node,start,reserved_end,end,cost,paid,kind,owner,attempt\n,1,,5,0,4,4,1,1,job,,1\n,1,,6,0,4,2,1,1,job,,1\n,,,6,3,5,5,,,owner,acme,\n,,,5,4,6,6,,,outage,,\n",
		"nodes.csv":      "id,name,performance,price,class,site,owner\n5,fast,2,1,,,\n6,,1,1,,,\n",
	})
	c, err := gantt.Read(f, f.Runs[0])
	require.NoError(t, err)
	require.Equal(t, []string{"  6   |AA.==", "  fast|AAAA##"}, c.Lines(0, s))
}

// Processor 0 of one cluster is not that of another, nor is its outage.
func TestClustersOfAGridAreDrawnApart(t *testing.T) {
	f := folder(t, map[string]string{
		"jobs-oar.csv":       jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,4,0-1\n2,0,1,9,COMPLETED_SUCCESSFULLY,2,3,0\n",
		"jobs-oar-north.csv": jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,4,0-1\n",
		"jobs-oar-south.csv": jobsHeader + "2,0,1,9,COMPLETED_SUCCESSFULLY,2,3,0\n",
		"clusters-oar.csv":   "cluster,processors\nnorth,3\nsouth,2\n",
		"outages-oar.csv":    "from,to,processors,node,known,victims,site\n4,5,1,0,4,,south\n",
	})
	f.Runs[0].Policy = "oar"
	c, err := gantt.Read(f, f.Runs[0])
	require.NoError(t, err)
	require.Equal(t, []string{"  south/0|..B.#", "  north/1|AAAA", "  north/0|AAAA"}, c.Lines(0, s))
}

// A grid within the grid names its clusters "in/e", and the files of these in-e.
func TestClustersOfANestedGridHaveTheirOwnJobsOnly(t *testing.T) {
	files := func(south string) map[string]string {
		return map[string]string{
			"jobs-easy.csv":      jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,4,2-3\n2,0,1,9,COMPLETED_SUCCESSFULLY,2,3," + south + "\n",
			"jobs-easy-a.csv":    jobsHeader + "1,0,2,9,COMPLETED_SUCCESSFULLY,0,4,2-3\n",
			"jobs-easy-in-e.csv": jobsHeader,
			"jobs-easy-in-f.csv": jobsHeader + "2,0,1,9,COMPLETED_SUCCESSFULLY,2,3," + south + "\n",
			"clusters-easy.csv":  "cluster,processors\na,4\nin/e,1\nin/f,2\n",
			"outages-easy.csv":   "from,to,processors,node,known,victims,site\n4,5,1,0,4,,in/f\n",
		}
	}
	f := folder(t, files("1"))
	c, err := gantt.Read(f, f.Runs[0])
	require.NoError(t, err)
	require.Equal(t, []string{"  in/f/1|..B", "  in/f/0|....#", "  a/3   |AAAA", "  a/2   |AAAA", "  a/1   |", "  a/0   |"}, c.Lines(0, s))

	f = folder(t, files("2"))
	_, err = gantt.Read(f, f.Runs[0])
	require.EqualError(t, err, "jobs of easy: job 2: processor 2 of cluster in/f, which has 2: the files are damaged, or of different runs")
}
