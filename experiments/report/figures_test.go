package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// done is a job of so many processors that waited and ran for so many seconds.
func done(processors, wait, run, estimate int) rows.Job {
	s := func(n int) des.Time { return des.Time(n) * des.Second }
	return rows.Job{Processors: processors, Submit: 0, Start: s(wait), Finish: s(wait + run), Runtime: s(run), Estimate: s(estimate),
		State: rows.Finished, BoundedSlowdown: max(1, float64(wait+run)/float64(max(run, 10)))}
}

func TestFiguresHaveTheirNumbersBesideThem(t *testing.T) {
	runs := []figure.Rows[rows.Job]{
		{Name: "a", Rows: []rows.Job{done(1, 10, 10, 60), done(3, 20, 100, 61), done(4, 40, 100, 100), done(5, 0, 30, 3600), {Processors: 4, State: rows.Rejected, Start: rows.None, Finish: rows.None, Runtime: 5 * des.Second, Estimate: 4 * des.Second}}},
		{Name: "b", Rows: []rows.Job{done(4, 7, 10, 10)}},
	}
	rows := func(f *figure.Figure, err error) [][]string {
		require.NoError(t, err)
		return tableOf(f.Numbers).Rows
	}
	require.Equal(t, [][]string{
		{"1", "1", "10", "2", "0", "–", "–"},
		{"4", "2", "30", "1.3", "1", "7", "1.7"},
		{"8", "1", "0", "1", "0", "–", "–"},
	}, rows(figure.WaitBySize(runs)))
	require.Equal(t, [][]string{
		{"1", "1", "10", "2", "1", "7", "1.7"},
		{"2", "2", "30", "1.3", "0", "–", "–"},
		{"64", "1", "0", "1", "0", "–", "–"},
	}, rows(figure.WaitByEstimate(runs)), "an estimate of a minute is one of at most a minute")
	quantiles := rows(figure.Distributions(runs))
	require.Equal(t, []string{"25", "0", "1", "20", "7", "1.7", "17"}, quantiles[1])
	require.Equal(t, []string{"50", "10", "1.2", "30", "7", "1.7", "17"}, quantiles[2])
	require.Equal(t, []string{"75", "20", "1.4", "120", "7", "1.7", "17"}, quantiles[3])
	require.Equal(t, []string{"100", "40", "2", "140", "7", "1.7", "17"}, quantiles[7])
	require.Equal(t, [][]string{{"wait, s", "17.5", "–", "7", "–"}, {"bounded slowdown", "1.4", "–", "1.7", "–"}, {"turnaround, s", "77.5", "–", "17", "–"}},
		rows(figure.Policies(runs)), "too few jobs for intervals")
	estimates, err := figure.Estimates(runs[0].Rows)
	require.NoError(t, err)
	require.Equal(t, "at most 10: 20; above 10, at most 20: 20; above 90, at most 100: 20; above 100: 40", nonzero(tableOf(estimates.Numbers)))
}

// The tables below figures are for people: money and shares of files have few decimals there, and
// whole numbers, dates and words stay.
func TestNumbersOfFilesAreRoundedForPeople(t *testing.T) {
	for cell, want := range map[string]string{
		"12": "12", "1588.5": "1588.5", "2588.8177488346523": "2588.82", "11703.829002": "11703.83", "150.000000": "150", "0.13091710416666666": "0.1309",
		"-0.00004": "-4e-05", "0.0000123456": "1.23e-05", "0.000000": "0", "-12.345678": "-12.35", "3.141592": "3.1416", "1.2.3.4": "1.2.3.4", "a.bcd": "a.bcd", "": "",
	} {
		require.Equal(t, want, rounded(cell), cell)
	}
	table := &table{}
	table.addFile(&rows.TextTable{Header: []string{"cycle", "income"}, Rows: [][]string{{"1", "11703.829002"}}}, "easy")
	require.Equal(t, [][]string{{"easy", "1", "11703.83"}}, table.Rows)
}

func TestIntervalsAreThoseOfTheJobsInOrderOfSubmission(t *testing.T) {
	var jobs []rows.Job
	var waits []float64
	for i := range 60 {
		j := done(1, i*i%37, 50, 60)
		j.Submit, j.Start, j.Finish = j.Submit+des.Time(i)*des.Hour, j.Start+des.Time(i)*des.Hour, j.Finish+des.Time(i)*des.Hour
		jobs, waits = append(jobs, j), append(waits, float64(i*i%37))
	}
	slices.SortStableFunc(jobs, func(a, b rows.Job) int { return int(a.Wait() - b.Wait()) })
	drawn, err := figure.Policies([]figure.Rows[rows.Job]{{Name: "a", Rows: jobs}})
	require.NoError(t, err)
	var means []float64 // of three jobs each
	for b := range 20 {
		means = append(means, (waits[3*b]+waits[3*b+1]+waits[3*b+2])/3)
	}
	mean, deviation := stat.MeanStdDev(means, nil)
	const t975 = 2.093 // of 19 degrees of freedom
	require.Equal(t, decimal(mean, 2), tableOf(drawn.Numbers).Rows[0][1])
	require.Equal(t, decimal(t975*deviation/math.Sqrt(20), 1), decimal(drawn.Numbers.Rows[0][1], 1))
}

func TestWarningsCountAndUnitsAreNamed(t *testing.T) {
	f := made(t, `"procs": "4"`, map[string]string{"jobs-easy.csv": jobsHeader + "1,0,1,9,REJECTED,,,,7,0\n"})
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, "summary.csv"), []byte("policy,jobs,rejected,waiting,income,mean_fragment_wait\neasy,1,1,2,5,6\n"), 0o666))
	f, err := results.Open(f.Dir)
	require.NoError(t, err)
	f.Manifest.Dropped = []metrics.ReasonCount{{Reason: "a", Count: 1}, {Reason: "b", Count: 2000}}
	require.Equal(t, []string{"The reader of the trace left out 1 line: a", "The reader of the trace left out 2,000 lines: b", "easy: 1 job rejected", "easy: 2 jobs left waiting at the end"}, warnings(f))
	units := map[string]string{}
	for _, m := range measures(f) {
		units[m.Name] = m.Unit
	}
	require.Equal(t, "money of the simulation", units["income"])
	require.Equal(t, "s", units["mean wait of fragments"])
}

func nonzero(t *table) string {
	var all []string
	for _, row := range t.Rows {
		if row[1] != "0" {
			all = append(all, fmt.Sprintf("%s: %s", row[0], row[1]))
		}
	}
	return strings.Join(all, "; ")
}

func TestEveryFigureOfThePageHasWords(t *testing.T) {
	rows := ""
	for i := range 40 {
		rows += fmt.Sprintf("%d,%d,%d,50,COMPLETED_SUCCESSFULLY,%d,%d,%d,7,0,%d,1.5,30\n", i+1, 10*i, 1, 10*i+i, 10*i+i+20, i%4, 20)
	}
	f := made(t, `"procs": "4"`, map[string]string{
		"jobs-easy.csv":     strings.TrimSuffix(jobsHeader, "\n") + ",actual_runtime,bounded_slowdown,prediction\n" + rows,
		"queue-easy.csv":    "time,queued_jobs,queued_processors,busy_processors\n0,0,0,1\n20,1,2,3\n100,0,0,0\n",
		"cycles-easy.csv":   "cycle,start,submitted,income,expense\n0,0,1,5,5\n1,60,1,7,7\n",
		"owners-easy.csv":   "owner,income\nx,7\n",
		"prices-easy.csv":   "time,node,owner,price\n0,1,x,2\n9,1,x,3\n",
		"pareto-easy.csv":   "planned_at,slice,point,cost,time\n0,1,0,4,5\n0,1,1,4,5\n0,1,2,3,6\n",
		"accuracy-easy.csv": "by,class,jobs,measured,mean_absolute_error,mean_error,mean_accuracy,under,corrections_per_job,mean_wait,mean_bounded_slowdown\nruntime,60,40,40,10,10,0.7,0,0,10,1.5\nside,over,40,40,10,10,0.7,0,0,10,1.5\n",
		"capacity.csv":      "policy,capacity,useful,idle\neasy,10,6,4\n",
	})
	p, err := newPage(f, maxBytes)
	require.NoError(t, err)
	require.Greater(t, len(p.Pictures), 6, p.Warnings)
	columns := map[string][]string{} // of the table below, by title
	for _, picture := range p.Pictures {
		columns[picture.Title] = nil
		if picture.Table != nil {
			columns[picture.Title] = picture.Table.Columns
		}
		require.True(t, strings.HasPrefix(string(picture.Image), "data:image/svg+xml;base64,"))
		require.True(t, picture.Table != nil && len(picture.Table.Rows) > 0 || picture.Where != "", picture.Title)
	}
	for title, want := range map[string]string{
		"Income of all owners in each cycle":                                                   "policy,cycle,start,submitted,income,expense",
		"Income of each owner, and what a node-hour earned":                                    "policy,owner,income",
		"Mean prices of owners' nodes over time":                                               "policy,time,node,owner,price",
		"Pareto front of a batch, and what was chosen":                                         "policy,planned_at,slice,point,cost,time",
		"Predicted against real runtimes, the error by runtime, and what it does to slowdowns": "policy,by,class,jobs,measured,mean_absolute_error,mean_error,mean_accuracy,under,corrections_per_job,mean_wait,mean_bounded_slowdown",
		"What became of the capacity: useful, lost, overhead, owners, down, idle":              "policy,capacity,useful,idle",
		"Jobs waiting over time":                                                               "",
	} {
		require.Contains(t, columns, title)
		require.Equal(t, want, strings.Join(columns[title], ","), title)
	}
	require.NotContains(t, columns, "Jobs and work submitted by hour and weekday", "of which the page has no numbers")
	var page strings.Builder
	require.NoError(t, Write(&page, f))
	require.Contains(t, page.String(), `<td>easy</td><td>1</td><td>60</td>`)
	require.Equal(t, len(p.Pictures), strings.Count(page.String(), `<img src="data:image/svg`))
}
