package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/results"
)

// done is a job of so many processors that waited and ran for so many seconds.
func done(processors, wait, run, estimate int) results.Job {
	s := func(n int) des.Time { return des.Time(n) * des.Second }
	return results.Job{Processors: processors, Submit: 0, Start: s(wait), Finish: s(wait + run), Runtime: s(run), Estimate: s(estimate),
		State: results.Finished, BoundedSlowdown: max(1, float64(wait+run)/float64(max(run, 10)))}
}

func TestFiguresHaveTheirNumbersBesideThem(t *testing.T) {
	var n numbers
	n.add("a", []results.Job{done(1, 10, 10, 60), done(3, 20, 100, 61), done(4, 40, 100, 100), done(5, 0, 30, 3600), {Processors: 4, State: results.Rejected, Start: results.None, Finish: results.None, Runtime: 5 * des.Second, Estimate: 4 * des.Second}})
	n.add("b", []results.Job{done(4, 7, 10, 10)})
	require.Equal(t, [][]string{
		{"1", "1", "10", "2", "0", "–", "–"},
		{"4", "2", "30", "1.3", "1", "7", "1.7"},
		{"8", "1", "0", "1", "0", "–", "–"},
	}, n.classes("", n.sizes).Rows)
	require.Equal(t, [][]string{
		{"1", "1", "10", "2", "1", "7", "1.7"},
		{"2", "2", "30", "1.3", "0", "–", "–"},
		{"64", "1", "0", "1", "0", "–", "–"},
	}, n.classes("", n.lengths).Rows, "an estimate of a minute is one of at most a minute")
	quantiles := n.quantiles().Rows
	require.Equal(t, []string{"25", "0", "7"}, quantiles[1])
	require.Equal(t, []string{"50", "10", "7"}, quantiles[2])
	require.Equal(t, []string{"75", "20", "7"}, quantiles[3])
	require.Equal(t, []string{"100", "40", "7"}, quantiles[7])
	require.Equal(t, "at most 10: 20; above 10, at most 20: 20; above 90, at most 100: 20; above 100: 40", nonzero(n.accuracies()))
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
		rows += fmt.Sprintf("%d,%d,%d,50,COMPLETED_SUCCESSFULLY,%d,%d,%d,7,0,%d,1.5\n", i+1, 10*i, 1, 10*i+i, 10*i+i+20, i%4, 20)
	}
	f := made(t, `"procs": "4"`, map[string]string{
		"jobs-easy.csv":   strings.TrimSuffix(jobsHeader, "\n") + ",actual_runtime,bounded_slowdown\n" + rows,
		"queue-easy.csv":  "time,queued_jobs,queued_processors,busy_processors\n0,0,0,1\n20,1,2,3\n100,0,0,0\n",
		"cycles-easy.csv": "cycle,start,submitted,income,expense\n0,0,1,5,5\n1,60,1,7,7\n",
	})
	p, err := newPage(f, maxBytes)
	require.NoError(t, err)
	require.Greater(t, len(p.Pictures), 6)
	titles := map[string]bool{}
	for _, picture := range p.Pictures {
		titles[picture.Title] = true
		require.True(t, strings.HasPrefix(string(picture.Image), "data:image/svg+xml;base64,"))
		require.True(t, picture.Table != nil && len(picture.Table.Rows) > 0 || picture.Where != "", picture.Title)
	}
	require.True(t, titles["Income of all owners in each cycle"])
	var page strings.Builder
	require.NoError(t, Write(&page, f))
	require.Contains(t, page.String(), `<td>easy</td><td>1</td><td>60</td>`)
	require.Equal(t, len(p.Pictures), strings.Count(page.String(), `<img src="data:image/svg`))
}
