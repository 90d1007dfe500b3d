package results_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// folder holds files by name, and a manifest that names them as those of one run.
func folder(t testing.TB, policy string, files map[string]string) string {
	dir := t.TempDir()
	run := metrics.ManifestRun{Policy: policy}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		run.Files = append(run.Files, name)
	}
	slices.Sort(run.Files)
	m := metrics.Manifest{Runs: []metrics.ManifestRun{run}, Settings: map[string]string{"machine": "cluster"}}
	require.NoError(t, m.WriteFile(filepath.Join(dir, "manifest.json")))
	return dir
}

func open(t testing.TB, dir string) *results.Folder {
	f, err := results.Open(dir)
	require.NoError(t, err)
	return f
}

const need = "job_id,submission_time,requested_number_of_resources,requested_time,final_state,starting_time,finish_time"

func jobs(t testing.TB, text string) ([]rows.Job, error) {
	return open(t, folder(t, "easy", map[string]string{"jobs-easy.csv": text})).Runs[0].Jobs()
}

// headFirst starts the job at the head of the queue when it fits.
type headFirst struct{}

func (headFirst) Name() string { return "head-first" }

func (headFirst) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		w, ok := r.Plan.Find(j.Request, r.Now, r.Now)
		if !ok || !r.Reserve(j, w) {
			return
		}
	}
}

func TestWhatWritersWroteIsReadBack(t *testing.T) {
	dir := t.TempDir()
	rec := metrics.NewRecorder()
	rec.Policy = "head-first"
	jobsFile, err := metrics.CreateJobs(filepath.Join(dir, "jobs-head-first.csv"))
	require.NoError(t, err)
	var levels strings.Builder
	queueWriter := metrics.NewQueueWriter(&levels)
	jobsFile.Workload, jobsFile.Attempts = `a "trace", with a comma`, true

	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(4), headFirst{}, rec, jobsFile, queueWriter)
	meta.SubmitAll(slices.Values([]*entity.Job{
		{ID: 1, Runtime: 90*des.Minute + 1, User: 7, Request: entity.Request{Nodes: 3, Length: des.Hour}},
		{ID: 2, Submit: des.Minute, Runtime: des.Hour, User: -1, Request: entity.Request{Nodes: 2, Length: 2 * des.Hour}},
		{ID: 3, Submit: des.Hour, Runtime: des.Hour, User: 8, Request: entity.Request{Nodes: 5, Length: des.Hour}},
	}))
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, jobsFile.Commit())
	require.NoError(t, queueWriter.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queue-head-first.csv"), []byte(levels.String()), 0o666))
	require.NoError(t, metrics.WriteSummaryFile(filepath.Join(dir, "summary.csv"), []metrics.Summary{rec.Summary()}))
	m := metrics.Manifest{Runs: []metrics.ManifestRun{{Policy: "head-first", Files: []string{"jobs-head-first.csv", "queue-head-first.csv"}}}}
	require.NoError(t, m.WriteFile(filepath.Join(dir, "manifest.json")))

	run, err := open(t, dir).Run("head-first")
	require.NoError(t, err)
	got, err := run.Jobs()
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, rows.Walltime, got[0].State)
	require.EqualValues(t, 7, got[0].User)
	require.Equal(t, 90*des.Minute+1, got[0].Runtime)
	require.Equal(t, des.Hour, got[0].Execution)
	require.Equal(t, "0-2", got[0].Allocated)
	require.Equal(t, rows.Finished, got[1].State)
	require.EqualValues(t, -1, got[1].User)
	require.Equal(t, 59*des.Minute, got[1].Wait())
	require.Equal(t, 119*des.Minute, got[1].Turnaround())
	require.InDelta(t, 119.0/60, got[1].BoundedSlowdown, 1e-6)
	require.Equal(t, rows.Rejected, got[2].State)
	require.NotEmpty(t, got[2].Reason)
	require.Equal(t, rows.None, got[2].Start)
	require.Equal(t, rows.None, got[2].Wait())
	require.Equal(t, rows.None, got[2].Turnaround())
	require.True(t, math.IsNaN(got[2].BoundedSlowdown))
	require.True(t, math.IsNaN(got[2].Energy))
	require.Equal(t, []bool{true, true, false}, []bool{got[0].Ran(), got[1].Ran(), got[2].Ran()})

	queue, err := run.Queue()
	require.NoError(t, err)
	require.Equal(t, []rows.Level{{Busy: 3}, {Time: des.Minute, Jobs: 1, Processors: 2, Busy: 3}, {Time: des.Hour, Busy: 2}, {Time: 2 * des.Hour}}, queue)
	require.InDelta(t, 59*60/2, run.Summary("mean_wait"), 1e-9)
	require.True(t, math.IsNaN(run.Summary("no_such_column")))

	none, err := run.Attempts()
	require.NoError(t, err)
	require.Nil(t, none)
}

// The same file read with encoding/csv, in any order of columns, with columns that
// nobody knows, with fields in quotes, and with either end of line.
func TestJobsAreReadAsAnotherReaderReadsThem(t *testing.T) {
	columns := append(strings.Split(need, ","), "user_id", "metadata", "allocated_resources", "bounded_slowdown", "x", "consumed_energy", "backfilled", "restarts")
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.Permutation(columns).Draw(t, "columns")
		cell := map[string]*rapid.Generator[string]{
			"job_id":                        rapid.Map(rapid.Int64Min(-math.MaxInt64), func(n int64) string { return strconv.FormatInt(n, 10) }),
			"requested_number_of_resources": rapid.Map(rapid.Int32(), func(n int32) string { return strconv.Itoa(int(n)) }),
			"user_id":                       rapid.SampledFrom([]string{"", "-1", "3", "12.0"}),
			"final_state":                   rapid.SampledFrom([]string{"SUBMITTED", "RUNNING", "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED"}),
			"metadata":                      rapid.Map(rapid.String(), func(s string) string { return "reason=" + strings.ReplaceAll(s, "\r", "") }),
			"x":                             rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(s, "\r", "") }),
			"allocated_resources":           rapid.SampledFrom([]string{"", "0-3 7", "12"}),
			"bounded_slowdown":              rapid.SampledFrom([]string{"", "-1", "1", "2.5", "inf"}),
			"consumed_energy":               rapid.SampledFrom([]string{"", "-1", "1e3", "0"}),
			"backfilled":                    rapid.SampledFrom([]string{"0", "1", "True"}),
			"restarts":                      rapid.SampledFrom([]string{"", "0", "4"}),
		}
		ticks := rapid.Map(rapid.Int64Range(0, math.MaxInt64-1), func(n int64) string { return des.Time(n).String() })
		times := rapid.OneOf(ticks, rapid.SampledFrom([]string{"", "-1", "forever", "1e3", "2.50000000"}))
		var lines [][]string
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			var row []string
			for _, c := range header {
				g := cell[c]
				if g == nil {
					g = times
				}
				row = append(row, g.Draw(t, c))
			}
			lines = append(lines, row)
		}
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.UseCRLF = rapid.Bool().Draw(t, "CRLF")
		require.NoError(t, w.WriteAll(append([][]string{header}, lines...)))
		if w.UseCRLF { // then the writer turns \n within a field into \r\n
			for _, row := range lines {
				for i := range row {
					row[i] = strings.ReplaceAll(row[i], "\n", "\r\n")
				}
			}
		}
		dir, err := os.MkdirTemp("", "results")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "jobs-p.csv"), []byte(text.String()), 0o666))
		m := metrics.Manifest{Runs: []metrics.ManifestRun{{Policy: "p", Files: []string{"jobs-p.csv"}}}}
		require.NoError(t, m.WriteFile(filepath.Join(dir, "manifest.json")))
		f, err := results.Open(dir)
		require.NoError(t, err)
		got, err := f.Runs[0].Jobs()
		require.NoError(t, err)
		require.Len(t, got, len(lines))
		for i, row := range lines {
			of := func(c string) string { return row[slices.Index(header, c)] }
			number := func(c string) string { return cmpOr(strings.TrimSuffix(of(c), ".0"), "-1") }
			require.Equal(t, of("job_id"), strconv.FormatInt(got[i].ID, 10))
			require.Equal(t, of("requested_number_of_resources"), strconv.Itoa(got[i].Processors))
			require.Equal(t, number("user_id"), strconv.FormatInt(got[i].User, 10))
			require.Equal(t, of("final_state"), got[i].State.String())
			require.Equal(t, of("metadata"), "reason="+got[i].Reason)
			require.Equal(t, of("allocated_resources"), got[i].Allocated)
			require.Equal(t, of("backfilled") != "0", got[i].Backfilled)
			require.Equal(t, cmpOr(of("restarts"), "0"), strconv.Itoa(got[i].Restarts))
			for c, x := range map[string]float64{"bounded_slowdown": got[i].BoundedSlowdown, "consumed_energy": got[i].Energy} {
				want, err := strconv.ParseFloat(of(c), 64)
				if err != nil || want < 0 {
					require.True(t, math.IsNaN(x))
				} else {
					require.Equal(t, want, x)
				}
			}
			for c, at := range map[string]des.Time{"submission_time": got[i].Submit, "requested_time": got[i].Estimate, "starting_time": got[i].Start, "finish_time": got[i].Finish} {
				switch text := of(c); text {
				case "", "-1":
					require.Equal(t, rows.None, at)
				case "1e3", "2.50000000":
					x, _ := strconv.ParseFloat(text, 64)
					require.Equal(t, des.Seconds(x), at)
				default:
					require.Equal(t, text, at.String())
				}
			}
		}
	})
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func TestAnErrorNamesFileLineAndColumn(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "jobs-easy.csv: it is empty"},
		{strings.Replace(need, "job_id", "id", 1) + "\n", "jobs-easy.csv: it has no column job_id; its first line is id,"},
		{need + "\n1,0,2,60,REJECTED,-1,-1\n2,zero,2,60,REJECTED,-1,-1\n", `jobs-easy.csv: line 3: submission_time: want a time in time units, not "zero"`},
		{need + "\n1,-5,2,60,REJECTED,-1,-1\n", `line 2: submission_time: want a time in time units, not "-5"`},
		{need + "\n1,-0.5,2,60,REJECTED,-1,-1\n", `line 2: submission_time: want a time in time units, not "-0.5"`},
		{need + "\n1,0,2.5,60,REJECTED,-1,-1\n", `line 2: requested_number_of_resources: want a whole number, not "2.5"`},
		{need + "\n1,0,2,60,DONE,-1,-1\n", `line 2: final_state: final_state "DONE": want SUBMITTED, RUNNING`},
		{need + "\n\n1,0,2,60,REJECTED,-1", `line 3: starting_time: the line ends after 6 of 7 fields: the file may have been cut off`},
		{need + "\n1,0,2,60,REJECTED,-1,-1,9\n", `line 2: finish_time: the line has more than the 7 fields of the first line`},
		{need + "\n\"1\n\",0,2,60,REJECTED,-1,-1\n", `line 3: job_id: want a whole number`},
		{need + "\n1,0,2,60,\"REJ", `line 2: final_state: a field in quotes has no end (")`},
		{need + "\n1,0,2,60,\"REJ\"x,1,1", `line 2: final_state: want a comma or the end of the line behind a field in quotes`},
		{need + ",metadata\n1,0,2,60,REJECTED,-1,-1,promised=soon;reason=x\n", `line 2: metadata: promised: want a time`},
	} {
		_, err := jobs(t, c.text)
		require.ErrorContains(t, err, c.want)
	}
}

func TestATimeBeyondAllTimesIsForever(t *testing.T) {
	for _, text := range []string{"9223372036854.775807", "9223372036855", "10000000000000000", "99999999999999999999"} {
		got, err := jobs(t, need+"\n1,"+text+",2,60,REJECTED,-1,-1\n")
		require.NoError(t, err)
		require.Equal(t, des.Forever, got[0].Submit, text)
	}
}

func TestOfTwoColumnsOfANameTheFirstCounts(t *testing.T) {
	got, err := jobs(t, need+",job_id\n1,0,2,60,REJECTED,-1,-1,7\n")
	require.NoError(t, err)
	require.EqualValues(t, 1, got[0].ID)
}

func TestTheMachineHasAsManyProcessorsAsTheSummarySays(t *testing.T) {
	for queue, want := range map[string]int{
		"0,0,0,3\n10,0,0,5\n40,0,0,0\n":  9, // an area of 180 in 40 s: half of 9
		"0,0,0,3\n10,0,0,5\n41,0,0,0\n":  0, // 9.25 make no sense
		"0,0,0,0\n":                      0,
		"0,0,0,3\n10,0,0,11\n40,0,0,0\n": 18,
	} {
		dir := folder(t, "p", map[string]string{"jobs-p.csv": need + "\n", "queue-p.csv": "time,queued_jobs,queued_processors,busy_processors\n" + queue})
		require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.csv"), []byte("policy,makespan,utilization\np,40,0.5\n"), 0o666))
		got, err := open(t, dir).Runs[0].Processors()
		require.NoError(t, err)
		require.Equal(t, want, got, queue)
	}
}

func TestMetadataHasPromiseAndReason(t *testing.T) {
	got, err := jobs(t, need+",metadata\n1,0,2,60,REJECTED,-1,-1,\"promised=12.5;reason=no, \"\"really\"\"; no\"\n2,0,2,60,REJECTED,,,promised=3\n")
	require.NoError(t, err)
	require.Equal(t, 12500*des.Second/1000, got[0].Promised)
	require.Equal(t, `no, "really"; no`, got[0].Reason)
	require.Equal(t, 3*des.Second, got[1].Promised)
	require.Empty(t, got[1].Reason)
}

func TestBookedJobsDoNotCountAndMoneyIsRead(t *testing.T) {
	got, err := jobs(t, need+",group_id,queue_id,booked,budget,cost,paid,refund\n"+
		"1,0,2,60,COMPLETED_SUCCESSFULLY,0,50,3,4,1,100.5,60,50,10\n2,0,2,60,COMPLETED_SUCCESSFULLY,0,50,,,0,,,,\n")
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{got[0].Ran(), got[1].Ran()})
	require.Equal(t, []float64{3, 4, 100.5, 60, 50, 10}, []float64{float64(got[0].Group), float64(got[0].Queue), got[0].Budget, got[0].Cost, got[0].Paid, got[0].Refund})
	require.Equal(t, []int64{-1, -1, -1}, []int64{got[1].User, got[1].Group, got[1].Queue})
	for _, x := range []float64{got[1].Budget, got[1].Cost, got[1].Paid, got[1].Refund} {
		require.True(t, math.IsNaN(x))
	}
	_, err = jobs(t, need+",booked\n1,0,2,60,REJECTED,,,maybe\n")
	require.ErrorContains(t, err, `line 2: booked: want 0 or 1, not "maybe"`)
}

func TestAFolderThatHoldsSomethingElseSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	_, err := results.Open(dir)
	require.ErrorContains(t, err, "holds no results: there is no manifest.json in it; gridslot simulate TRACE --out DIR writes")
	half := filepath.Join(dir, "half")
	require.NoError(t, os.Mkdir(half, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(half, "jobs-easy.csv"), nil, 0o666))
	_, err = results.Open(half)
	require.ErrorContains(t, err, "holds no manifest.json, which is written last: the simulation that wrote jobs-easy.csv has been killed, or still runs")
	_, err = results.Open(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(dir, "manifest.json")
	require.NoError(t, os.WriteFile(file, []byte("[]"), 0o666))
	_, err = results.Open(dir)
	require.ErrorContains(t, err, "this is no manifest of a simulation")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o666))
	_, err = results.Open(dir)
	require.ErrorContains(t, err, "names no finished run with files")
	_, err = results.Open(file)
	require.ErrorContains(t, err, "is a file: give the folder")
}

func TestSitesOfAGridAreRunsOfTheirOwn(t *testing.T) {
	row := func(id int) string { return fmt.Sprintf("%s\n%d,0,2,60,REJECTED,-1,-1\n", need, id) }
	f := open(t, folder(t, "cheapest+earliest", map[string]string{
		"jobs-cheapest+earliest.csv": row(1), "jobs-cheapest+earliest-a-b.csv": row(2), "jobs-cheapest+earliest-c.csv": row(3),
		"tasks-cheapest+earliest.csv": "site,job_id,user_id,node,start,reserved_end,end,cost,paid\na/b,2,,9,0,10,5.5,2.25,1\n",
	}))
	require.Len(t, f.Runs, 1)
	require.Len(t, f.Runs[0].Sites, 2)
	for i, run := range []*results.Run{f.Runs[0], f.Runs[0].Sites[0], f.Runs[0].Sites[1]} {
		got, err := run.Jobs()
		require.NoError(t, err)
		require.EqualValues(t, i+1, got[0].ID)
		require.Equal(t, []string{"", "a-b", "c"}[i], run.Site)
	}
	tasks, err := f.Runs[0].Tasks()
	require.NoError(t, err)
	require.Equal(t, []rows.Task{{Site: "a/b", Job: 2, User: -1, Node: 9, ReservedEnd: 10 * des.Second, End: 5500 * des.Second / 1000, Cost: 2.25, Paid: 1, Kind: "job"}}, tasks)
	_, err = f.Run("easy")
	require.ErrorContains(t, err, `no run of "easy": there are cheapest+earliest`)
}

func TestAFileOfAnEarlierRunIsNotRead(t *testing.T) {
	dir := folder(t, "easy", map[string]string{"jobs-easy.csv": need + "\n"})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "outages-easy.csv"), []byte("from,to\n0,1\n"), 0o666))
	run := open(t, dir).Runs[0]
	require.False(t, run.Has("outages"))
	require.True(t, run.Has("jobs"))
	got, err := run.Outages()
	require.NoError(t, err)
	require.Nil(t, got)
}

func TestAFileThatTheRunWroteAndIsNotThereIsAnError(t *testing.T) {
	dir := folder(t, "easy", map[string]string{"jobs-easy.csv": need + "\n", "queue-easy.csv": ""})
	require.NoError(t, os.Remove(filepath.Join(dir, "jobs-easy.csv")))
	require.NoError(t, os.Remove(filepath.Join(dir, "queue-easy.csv")))
	run := open(t, dir).Runs[0]
	_, err := run.Jobs()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "jobs-easy.csv")
	_, err = run.Queue()
	require.ErrorContains(t, err, "manifest.json names")
}

func TestJobsThatTheSummaryCountsAndAreNotThereAreAnError(t *testing.T) {
	for summary, want := range map[string]string{
		"policy,jobs\neasy,2\n":          "",
		"policy,jobs\neasy,3\n":          "jobs-easy.csv: it has the rows of 2 jobs, and summary.csv counts 3",
		"policy,jobs\neasy,1\n":          "counts 1",
		"policy,jobs\nfcfs,3\n":          "",
		"policy,utilization\neasy,0.5\n": "",
	} {
		dir := folder(t, "easy", map[string]string{"jobs-easy.csv": need + "\n1,0,2,60,REJECTED,-1,-1\n2,0,2,60,REJECTED,-1,-1\n"})
		require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.csv"), []byte(summary), 0o666))
		_, err := open(t, dir).Runs[0].Jobs()
		if want == "" {
			require.NoError(t, err, summary)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

func TestTheOtherFilesAreReadByTheirColumns(t *testing.T) {
	f := open(t, folder(t, "p", map[string]string{
		"jobs-p.csv":         need + "\n",
		"attempts-p.csv":     rows.Attempts.Header() + "\n4,2,10,30,3,0-2,15,4,1,requeued,60\n",
		"outages-p.csv":      "from,to,processors,node,known,victims\n5,forever,2,0-1,3,4 6\n",
		"prices-p.csv":       "time,node,owner,price\n600,7,acme,1.5\n",
		"owners-p.csv":       "owner,nodes,income,used_time,local_started,local_rejected,local_waiting,local_mean_wait,displaced,preempted\n\"a, b\",2,10.5,7,1,2,3,4.5,5,6\n",
		"cycles-p.csv":       "cycle,start,submitted,started,finished,rejected,preempted,waiting,utilization,mean_wait,makespan,income,expense\n1,600,1,2,3,4,5,6,0.5,7,8,9,10\n",
		"pareto-p.csv":       "planned_at,slice,jobs,point,cost,budget_left,time,time_left,gap\n600,1,5,0,10,-2,30,4,0.5\n",
		"alternatives-p.csv": "planned_at,job_id,alternative,node,start,end,cost,chosen\n600,4,2,7,610,640.5,12.5,1\n600,4,3,7,700,710,,0\n",
		"nodes.csv":          "id,name,performance,price,class,site,owner\n3,n3,2.5,,fast,,acme\n",
	}))
	run := f.Runs[0]
	s := des.Second

	attempts, err := run.Attempts()
	require.NoError(t, err)
	require.Equal(t, []rows.Attempt{{Job: 4, Number: 2, Start: 10 * s, Finish: 30 * s, Processors: 3, Allocated: "0-2", Kept: 15 * s, Lost: 4 * s, Overhead: s, End: entity.EndRequeued, ProcessorTime: 60}}, attempts)
	outages, err := run.Outages()
	require.NoError(t, err)
	require.Equal(t, []rows.Outage{{From: 5 * s, To: des.Forever, Processors: 2, Node: "0-1", Known: 3 * s, Victims: "4 6"}}, outages)
	prices, err := run.Prices()
	require.NoError(t, err)
	require.Equal(t, []rows.Price{{Time: 600 * s, Node: 7, Owner: "acme", Price: 1.5}}, prices)
	owners, err := run.Owners()
	require.NoError(t, err)
	require.Equal(t, []rows.Owner{{Name: "a, b", Nodes: 2, Income: 10.5, UsedTime: 7, LocalStarted: 1, LocalRejected: 2, LocalWaiting: 3, LocalMeanWait: 4.5, Displaced: 5, Preempted: 6}}, owners)
	cycles, err := run.Cycles()
	require.NoError(t, err)
	require.Equal(t, []rows.Cycle{{Number: 1, Start: 600 * s, Submitted: 1, Started: 2, Finished: 3, Rejected: 4, Preempted: 5, Waiting: 6, Utilization: 0.5, MeanWait: 7, Makespan: 8, Income: 9, Expense: 10}}, cycles)
	front, err := run.Alternatives()
	require.NoError(t, err)
	require.Equal(t, []rows.Combination{{PlannedAt: 600 * s, Slice: 1, Jobs: 5, Cost: 10, BudgetLeft: -2, Time: 30, TimeLeft: 4, Gap: 0.5}}, front)
	windows, err := run.Windows()
	require.NoError(t, err)
	require.Len(t, windows, 2)
	require.Equal(t, rows.WindowTask{PlannedAt: 600 * s, Job: 4, Alternative: 2, Node: 7, Start: 610 * s, End: 640*s + s/2, Cost: 12.5, Chosen: true}, windows[0])
	require.False(t, windows[1].Chosen)
	require.True(t, math.IsNaN(windows[1].Cost))
	nodes, err := f.Nodes()
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	require.Equal(t, "fast acme", nodes[0].Class+" "+nodes[0].Owner)
	require.True(t, math.IsNaN(nodes[0].Price))
}

func BenchmarkJobs(b *testing.B) {
	var text strings.Builder
	text.WriteString(strings.TrimSuffix(rows.Jobs.Only().Header(), ",group_id,queue_id") + "\n")
	for i := range 232_542 {
		fmt.Fprintf(&text, "%d,SDSC-BLUE,1835,%d,64,3600,1,COMPLETED_SUCCESSFULLY,%d,1835,%d,4711,6546,3.567302,0-63,-1,promised=123456,42,3.567302,3600,1835,0\n", i, 100*i, 100*i+4711, 100*i+6546)
	}
	run := open(b, folder(b, "easy", map[string]string{"jobs-easy.csv": text.String()})).Runs[0]
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		rows, err := run.Jobs()
		require.NoError(b, err)
		require.Len(b, rows, 232_542)
	}
}

func TestTheLogOfAgentsIsReadLineByLine(t *testing.T) {
	read := func(text string) ([]rows.Message, error) {
		return open(t, folder(t, "rla", map[string]string{"jobs-rla.csv": need + "\n", "log-rla.txt": text})).Runs[0].Messages()
	}
	notes := []grid.Note{
		{Time: 5 * des.Second, Who: "broker-1", Job: 91, Text: "small refuses 72 tasks: it wants job 3: never"},
		{Time: 5500 * des.Second / 1000, Who: "my job 7", Job: 92, Text: ""},
		{Time: 1e6 * des.Second, Who: "regulator", Job: -4, Text: " = "},
	}
	var text strings.Builder
	for _, n := range notes {
		fmt.Fprintln(&text, n)
	}
	for _, same := range []string{text.String(), "\ufeff\n\n" + strings.ReplaceAll(text.String(), "\n", "\r\n"), strings.TrimSuffix(text.String(), "\n")} {
		got, err := read(same)
		require.NoError(t, err)
		require.Len(t, got, len(notes))
		for i, n := range notes {
			require.Equal(t, rows.Message{Time: n.Time, Who: n.Who, Job: n.Job, Text: n.Text}, got[i])
		}
	}
	for line, want := range map[string]string{
		"soon a job 1: x":    `log-rla.txt: line 3: want a time in time units, not "soon"`,
		"5 a job one: x":     `log-rla.txt: line 3: want the number of a job, not "one"`,
		"5 a job 1":          `line 3: want TIME WHO job NUMBER: TEXT, not "5 a job 1"`,
		"5  job 1: x":        `line 3: want TIME WHO job NUMBER: TEXT`,
		"5 job 1: x":         `line 3: want TIME WHO job NUMBER: TEXT`,
		"-1 broker job 1: x": `line 3: want TIME WHO job NUMBER: TEXT`,
		"5 broker: x job 1:": `line 3: want TIME WHO job NUMBER: TEXT`,
	} {
		_, err := read("\n1 a job 1: x\n" + line + "\n2 a job 1: y\n")
		require.ErrorContains(t, err, want)
	}
	got, err := read("")
	require.NoError(t, err)
	require.NotNil(t, got, "a log in which nothing was said is one")
	require.Empty(t, got)
}

func TestWithoutALogOfItsOwnARunHasNoMessages(t *testing.T) {
	dir := folder(t, "rla", map[string]string{"jobs-rla.csv": need + "\n"})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "log-rla.txt"), []byte("1 a job 1: x\n"), 0o666))
	got, err := open(t, dir).Runs[0].Messages()
	require.NoError(t, err)
	require.Nil(t, got)
}

func TestAFileThatTheManifestNamesMustBeThere(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"runs": [{"policy": "fcfs", "files": ["jobs-fcfs.csv", "log-fcfs.txt"]}]}`), 0o666))
	f, err := results.Open(dir)
	require.NoError(t, err)
	_, err = f.Runs[0].Jobs()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "jobs-fcfs.csv")
	_, err = f.Runs[0].Messages()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "log-fcfs.txt")
	queue, err := f.Runs[0].Queue()
	require.NoError(t, err)
	require.Nil(t, queue)
}

// Four processors; a job of a minute, then one of two minutes that ends the run.
func TestTheSizeOfTheMachineIsKnownInSpiteOfAWarmUp(t *testing.T) {
	for warmup, summary := range map[string]string{
		"":       "policy,jobs,makespan,utilization\neasy,2,180,0.5\n",
		"jobs=1": "policy,jobs,makespan,utilization\neasy,1,120,0.25\n",
		"60s":    "policy,jobs,makespan,utilization\neasy,1,120,0.25\n",
	} {
		dir := folder(t, "easy", map[string]string{
			"jobs-easy.csv":  need + "\n1,0,4,60,COMPLETED_SUCCESSFULLY,0,60\n2,60,1,120,COMPLETED_SUCCESSFULLY,60,180\n",
			"queue-easy.csv": "time,queued_jobs,queued_processors,busy_processors\n0,0,0,4\n60,0,0,1\n180,0,0,0\n200,1,9,0\n",
			"summary.csv":    summary,
		})
		m := metrics.Manifest{
			Settings: map[string]string{"warmup": warmup},
			Runs:     []metrics.ManifestRun{{Policy: "easy", Files: []string{"jobs-easy.csv", "queue-easy.csv"}}},
		}
		require.NoError(t, m.WriteFile(filepath.Join(dir, "manifest.json")))
		run := open(t, dir).Runs[0]
		list, err := run.Jobs()
		require.NoError(t, err, warmup)
		require.Len(t, list, 2)
		n, err := run.Processors()
		require.NoError(t, err)
		require.Equal(t, 4, n, warmup)

		m.Settings["warmup"] = "x"
		require.NoError(t, m.WriteFile(filepath.Join(dir, "manifest.json")))
		_, err = open(t, dir).Runs[0].Jobs()
		require.ErrorContains(t, err, "settings: warmup: want how many jobs")
	}
}
