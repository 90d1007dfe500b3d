package reproduce

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// rectangles are those of one colour in a chart: left, right, top, bottom.
func rectangles(t *testing.T, svg, colour string) (found [][4]float64) {
	t.Helper()
	path := regexp.MustCompile(`<path d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)L([\d.]+),([\d.]+)L([\d.]+),([\d.]+)Z" style="fill:` + colour + `" />`)
	for _, m := range path.FindAllStringSubmatch(svg, -1) {
		var at [8]float64
		for i := range at {
			x, err := strconv.ParseFloat(m[i+1], 64)
			require.NoError(t, err)
			at[i] = x
		}
		require.Equal(t, [4]float64{at[0], at[1], at[2], at[5]}, [4]float64{at[6], at[3], at[4], at[7]})
		found = append(found, [4]float64{at[0], at[2], at[1], at[5]})
	}
	return found
}

func TestWindowsAreDrawnWhereTheyLie(t *testing.T) {
	g := read[searches](t, "placement").gantt()
	var b bytes.Buffer
	require.NoError(t, g.writeSVG(context.Background(), &b, 1))
	in, windows, err := g.draw(context.Background(), 1)
	require.NoError(t, err)
	tasks, drawn := rectangles(t, b.String(), "#BBBBBB"), rectangles(t, b.String(), "#225588")
	owners := 0
	for _, each := range in.Tasks {
		owners += len(each)
	}
	require.Len(t, tasks, owners*len(windows))
	require.Len(t, drawn, g.Environment.Request.Nodes*len(windows))

	at := 0
	for i, n := range in.Nodes { // beside their labels
		label := regexp.MustCompile(fmt.Sprintf(`y="-([\d.]+)"[^>]*>%d \(%v\)<`, n.ID, n.Perf)).FindStringSubmatch(b.String())
		require.NotNil(t, label)
		y, err := strconv.ParseFloat(label[1], 64)
		require.NoError(t, err)
		for range in.Tasks[i] {
			require.Less(t, tasks[at][2], y+4)
			require.Greater(t, tasks[at][3], y+2)
			at++
		}
	}

	// A unit of time is as long everywhere: that of the first panel's first task.
	first := in.Tasks[0][0]
	unit := (tasks[0][1] - tasks[0][0]) / (first.End - first.Start).Seconds()
	origin := tasks[0][0] - unit*first.Start.Seconds()
	var lines []string
	for i, w := range windows {
		mine := drawn[i*g.Environment.Request.Nodes:][:g.Environment.Request.Nodes]
		least, most := 0.0, 0.0
		for _, r := range mine {
			require.InDelta(t, w.Window.Start.Seconds(), (r[0]-origin)/unit, 0.5)
			require.InDelta(t, w.Window.End.Seconds(), (r[1]-origin)/unit, 0.5)
			left, right := w.Window.Start.Seconds(), (in.End - w.Window.End).Seconds()
			for _, task := range tasks[i*owners:][:owners] {
				if math.Abs(task[2]-r[2]) > 0.01 { // of another row
					continue
				}
				if task[1] <= r[0]+0.01 {
					left = min(left, (r[0]-task[1])/unit)
				} else {
					require.GreaterOrEqual(t, task[0], r[1]-0.01, "a window lies on an owner's task")
					right = min(right, (task[0]-r[1])/unit)
				}
			}
			least += min(left, right, dep18Cap.Seconds()) / float64(len(mine))
			most += max(left, right) / float64(len(mine))
		}
		wantLeast, wantMost := distances(w, in.SlotList().Slots)
		require.InDelta(t, wantLeast, least, 0.5)
		require.InDelta(t, wantMost, most, 0.5)
		lines = append(lines, fmt.Sprintf(">%s: L min %.1f, L max %.1f<", g.Algorithms[i].Name, wantLeast, wantMost))
	}
	for _, line := range lines {
		require.Contains(t, b.String(), line)
	}
	dep, _ := distances(windows[1], in.SlotList().Slots)
	fit, _ := distances(windows[0], in.SlotList().Slots)
	_, coord := distances(windows[2], in.SlotList().Slots)
	_, far := distances(windows[0], in.SlotList().Slots)
	require.Greater(t, dep, fit)
	require.Less(t, coord, far)
}

func TestANodesTasksAndItsPartOfAWindowAreOneRow(t *testing.T) {
	in := &vo.Instance{
		Nodes: []*entity.Node{{ID: 7, Perf: 1}, {ID: 9, Perf: 1}}, End: 100 * des.Second,
		Tasks: [][]vo.Span{{seconds(0, 10)}, {seconds(5, 8), seconds(40, 60)}},
	}
	require.ElementsMatch(t, []gantt.Bar{
		{Row: 0, From: 0, To: 10 * des.Second, Mark: gantt.Owner},
		{Row: 1, From: 5 * des.Second, To: 8 * des.Second, Mark: gantt.Owner},
		{Row: 1, From: 40 * des.Second, To: 60 * des.Second, Mark: gantt.Owner},
		{Row: 1, From: 12 * des.Second, To: 22 * des.Second, Mark: 'A'},
	}, chartOf(in, windowOn(12, 22, in.Nodes[1])).Bars)
}

func TestAChartWithoutAWindowIsAnError(t *testing.T) {
	g := read[searches](t, "placement").gantt()
	g.Environment.Request.Budget = 1
	require.ErrorContains(t, g.writeSVG(context.Background(), &bytes.Buffer{}, 1), "1000 environments")
}

// never finds nothing.
type never struct{ window.ALP }

func (never) Find(context.Context, entity.Request, plan.SlotList, des.Time) (plan.Found, error) {
	return plan.Found{}, nil
}

func TestEverySearchOfAChartHasAWindow(t *testing.T) {
	g := read[searches](t, "placement").gantt()
	g.Algorithms = append(g.Algorithms, algorithm{Name: "never", Search: finder{never{}}})
	require.ErrorContains(t, g.writeSVG(context.Background(), &bytes.Buffer{}, 1), "all the searches")
}

func TestPlacementLeavesAGanttChart(t *testing.T) {
	dir := t.TempDir()
	c := Config{Cycles: 1, Seed: 1}
	for _, e := range []Experiment{named(t, "placement"), named(t, "aep")} {
		table, err := e.Run(context.Background(), c)
		require.NoError(t, err)
		require.NoError(t, Save(dir, "1", e, c, &table))
	}
	require.NoFileExists(t, filepath.Join(dir, "aep-gantt.svg"))
	_, ok := Saved(dir, "1", named(t, "placement"), c)
	require.True(t, ok)
	require.NoError(t, os.Remove(filepath.Join(dir, "placement-gantt.svg")))
	_, ok = Saved(dir, "1", named(t, "placement"), c)
	require.False(t, ok, "a file is missing")
}
