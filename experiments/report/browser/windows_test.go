package browser_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

func TestAJobThatIsClickedShowsWhatItCouldChooseFrom(t *testing.T) {
	dir := simulated(t, file(t, "vo.yaml", domain), "--policy", "css,easy", "--alternatives")
	run := folder(t, dir).Runs[0]
	jobs, err := run.Jobs()
	require.NoError(t, err)
	windows, err := run.Windows()
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)

	// frames are the dashed rectangles of one drawing, as [x, y, width, height].
	frames := func() [][]float64 {
		return value[[][]float64](p, `(() => {
  const found = [], own = CanvasRenderingContext2D.prototype.strokeRect;
  CanvasRenderingContext2D.prototype.strokeRect = function (...box) { if (this.getLineDash().length) found.push(box); };
  page.draw();
  CanvasRenderingContext2D.prototype.strokeRect = own;
  return found;
})()`)
	}
	require.Empty(t, frames(), "before any job is chosen")
	value[bool](p, `page.gantts[0].canvas.scrollIntoView({block: 'center'}), true`)
	at := value[[]float64](p, `(() => {
  const gantt = page.gantts[0], {job, start, end, row} = gantt.run.pieces, i = job.findIndex((j, k) => j >= 0 && end[k] - start[k] > 20);
  const box = gantt.canvas.getBoundingClientRect();
  return [box.left + gantt.x((start[i] + end[i]) / 2), box.top + gantt.y(row[i] + 0.5), job[i]];
})()`)
	p.run(chromedp.MouseEvent(chromedp.MousePressed, at[0], at[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, at[0], at[1], chromedp.ButtonLeft))
	value[bool](p, `new Promise(done => { const ask = () => page.chosen[0].windows ? done(true) : requestAnimationFrame(ask); ask(); })`)
	p.settle()

	id := jobs[int(at[2])].ID
	require.Equal(t, fmt.Sprint("Job ", id), value[string](p, `byId('job-title').textContent`))
	costs := map[int]float64{}
	taken := 0
	var want [][]float64
	for _, w := range windows {
		if w.Job != id {
			continue
		}
		costs[w.Alternative] += w.Cost
		if w.Chosen {
			taken = w.Alternative
		}
		row := value[int](p, fmt.Sprintf(`page.gantts[0].run.meta.lanes[0].nodes.findIndex(n => n.name === 'node %d')`, w.Node))
		require.GreaterOrEqual(t, row, 0)
		want = append(want, value[[]float64](p, fmt.Sprintf(`(g => [g.x(%[1]g), g.y(%[3]d), g.x(%[2]g) - g.x(%[1]g), g.y(%[3]d + 1) - g.y(%[3]d)])(page.gantts[0])`, w.Start.Seconds(), w.End.Seconds(), row)))
	}
	require.Greater(t, len(costs), 1)
	require.NotZero(t, taken)
	got := frames()
	require.Len(t, got, len(want))
	for i := range want {
		require.InDeltaSlice(t, want[i], got[i], 1e-6)
	}
	cheapest := 1
	for n := 2; n <= len(costs); n++ {
		if costs[n] < costs[cheapest]-1e-9 {
			cheapest = n
		}
	}
	text := value[string](p, `page.chosen[0].windows.text(page.chosen[0].byId.get(page.job))`)
	require.Equal(t, fmt.Sprintf("%d; chosen: %d, for %s; cheapest: %d, for %s", len(costs), taken,
		value[string](p, fmt.Sprintf(`number(%g)`, costs[taken])), cheapest, value[string](p, fmt.Sprintf(`number(%g)`, costs[cheapest]))), text)
	require.Contains(t, value[string](p, `byId('job-text').textContent`), "Alternatives"+text)

	p.run(chromedp.Focus(chromedp.CSS(`.gantt canvas`)), chromedp.KeyEvent(kb.Escape))
	p.settle()
	require.Empty(t, frames())
	p.sound()
}
