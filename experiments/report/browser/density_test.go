package browser_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/figure"
)

func TestEveryPixelOfTheImageShowsWhatPartOfItIsTaken(t *testing.T) {
	dir := simulated(t, "lublin:jobs=3000:procs=64:load=0.8", "--policy", "easy")
	jobs, err := folder(t, dir).Runs[0].Jobs()
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
	emptiest := 1.
	for _, part := range [][4]float64{{0, 1, 0, 64}, {0.3, 0.31, 5.5, 40.25}} {
		const width, height = 37, 11
		view := value[[]float64](p, fmt.Sprintf(`(() => {
			const {from, to} = page.view.limits;
			page.view.set(from + (to - from) * %g, from + (to - from) * %g, %g, %g);
			return [page.view.from, page.view.to, page.view.top, page.view.bottom];
		})()`, part[0], part[1], part[2], part[3]))
		got := value[[]float64](p, fmt.Sprintf(`(s => Array.from({length: s.length / 4}, (_, p) => s[4 * p + 3]))(page.gantts[0].density(%d, %d))`, width, height))
		want := make([]float64, width*height)
		dt, dr := (view[1]-view[0])/width, (view[3]-view[2])/height
		overlap := func(a, b, c, d float64) float64 { return max(0, min(b, d)-max(a, c)) }
		for i := range jobs {
			ranges, err := procset.Parse(jobs[i].Allocated)
			require.NoError(t, err)
			for _, r := range ranges {
				for k := range want {
					x, y := float64(k%width), float64(k/width)
					want[k] += overlap(jobs[i].Start.Seconds(), jobs[i].Finish.Seconds(), view[0]+x*dt, view[0]+(x+1)*dt) / dt *
						overlap(float64(r.First), float64(r.Last)+1, view[2]+y*dr, view[2]+(y+1)*dr) / dr
				}
			}
		}
		require.InDeltaSlice(t, want, got, 2e-3)
		require.Greater(t, slices.Max(want), 0.9)
		emptiest = min(emptiest, slices.Min(want))
	}
	require.Less(t, emptiest, 0.3)
}

func TestTheLinesAreMeansOfTheQueueFile(t *testing.T) {
	dir := simulated(t, "lublin:jobs=500:procs=64:load=0.8", "--policy", "easy")
	levels, err := folder(t, dir).Runs[0].Queue()
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
	from, to := value[float64](p, `page.view.from`), value[float64](p, `page.view.to`)
	const parts = 50
	for name, of := range map[string]func(int) float64{
		"busy":   func(i int) float64 { return float64(levels[i].Busy) },
		"queued": func(i int) float64 { return float64(levels[i].Jobs) },
	} {
		got := value[[]float64](p, fmt.Sprintf(`page.chosen[0].%s.means(page.view.from, page.view.to, %d)`, name, parts))
		for k := range got {
			a, b := from+(to-from)*float64(k)/parts, from+(to-from)*float64(k+1)/parts
			area := 0.
			for i := range levels {
				end := math.Inf(1)
				if i+1 < len(levels) {
					end = levels[i+1].Time.Seconds()
				}
				area += max(0, min(b, end)-max(a, levels[i].Time.Seconds())) * of(i)
			}
			require.InDelta(t, area/(b-a), got[k], 1e-6, "%s, part %d", name, k)
		}
	}
}

// How long drawing takes is logged, and stands in docs/reference/performance.md: a machine
// that has much else to do takes any time. What is bounded is how much is drawn.

// strokes is how many calls of the canvas draw all charts of a page once.
func strokes(p *tab) int {
	return value[int](p, `(() => {
		const p = CanvasRenderingContext2D.prototype, own = {};
		let calls = 0;
		for (const name of Object.getOwnPropertyNames(p)) {
			const f = Object.getOwnPropertyDescriptor(p, name).value;
			if (typeof f !== 'function' || name === 'constructor') continue;
			own[name] = f;
			p[name] = function (...args) { calls++; return f.apply(this, args); };
		}
		page.draw();
		Object.assign(p, own);
		return calls;
	})()`)
}

// redraw times all charts of a page, in milliseconds: the least of several times.
func redraw(p *tab) float64 {
	return slices.Min(value[[]float64](p, `Array.from({length: 7}, () => { page.draw(); return page.redraws.at(-1); })`))
}

// opening opens a page in a browser that runs already, and times it, in seconds, until all
// is drawn: the least of several times.
func opening(t *testing.T, path string, times int) (p *tab, seconds float64) {
	seconds = math.Inf(1)
	requireBrowser(t)
	for range times {
		begun := time.Now()
		p = open(t, path, 1400, 1000)
		seconds = min(seconds, time.Since(begun).Seconds())
	}
	return p, seconds
}

func TestAHundredThousandJobsOnAThousandProcessorsAreRedrawnByFewCalls(t *testing.T) {
	dir := simulated(t, "lublin:jobs=100000:procs=1000:load=0.8", "--policy", "easy")
	p, opened := opening(t, filepath.Join(dir, "report.html"), 1)
	info, err := os.Stat(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	pieces := value[int](p, `page.chosen[0].pieces.count`)
	for _, part := range []float64{1, 0.1, 0.01} {
		value[bool](p, fmt.Sprintf(`(({from, to}) => page.view.set(from + (to - from) * 0.4, from + (to - from) * (0.4 + %g)))(page.view.limits), true`, part))
		took := redraw(p)
		n := strokes(p)
		t.Logf("%d pieces, %.1f MB, opened in %.2f s: %g of the time redrawn in %.0f ms by %d calls", pieces, float64(info.Size())/1e6, opened, part, took, n)
		require.Less(t, n, 20_000, "%g of the time", part)
	}
	p.sound()
}

func TestTheReportOfALargeLogIsDrawnByFewCalls(t *testing.T) {
	traces := os.Getenv("GRIDSLOT_TRACES")
	if traces == "" {
		t.Skip("GRIDSLOT_TRACES names no folder of logs")
	}
	dir := simulated(t, filepath.Join(traces, "SDSC-BLUE-2000-4.2-cln.recon.swf.gz"), "--policy", "easy,conservative")
	path := filepath.Join(dir, "report.html")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(30e6))
	p, opened := opening(t, path, 3)
	one := redraw(p)
	value[bool](p, `byId('second').value = 1, page.show().then(() => true)`)
	p.settle()
	t.Logf("%d pieces, %.1f MB, opened and drawn in %.2f s; one policy redrawn in %.0f ms, two in %.0f ms", value[int](p, `page.chosen[0].pieces.count + page.chosen[1].pieces.count`), float64(info.Size())/1e6, opened, one, redraw(p))
	require.Less(t, strokes(p), 20_000)
	p.sound()
}

// The pictures of the documentation, made anew by
//
//	GRIDSLOT_PICTURES=$PWD/docs/images go test ./experiments/report/browser -run Pictures
func TestPicturesOfTheDocumentation(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_PICTURES")
	if dir == "" {
		t.Skip("GRIDSLOT_PICTURES names no folder for them")
	}
	for _, c := range []struct {
		name, results, scheme string
		show                  string // an expression that promises
	}{
		{"report.png", simulated(t, "--policy", "fcfs,easy", "--first", "400"), "light", `byId('second').value = 1, page.show()`},
		{"domain.png", simulated(t, file(t, "vo.yaml", domain)), "dark", `page.show()`},
	} {
		p := open(t, filepath.Join(c.results, "report.html"), 1100, 1000, scheme(c.scheme))
		value[bool](p, c.show+`.then(() => true)`)
		p.settle()
		picture, err := chromedp.Run(p.ctx, chromedp.Screenshot(chromedp.CSS(`#drawn`)))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, c.name), picture, 0o666))
	}
	figures, err := figure.Draw(folder(t, simulated(t, "--policy", "fcfs,easy,conservative")), "distributions")
	require.NoError(t, err)
	require.NoError(t, figures[0].Save(filepath.Join(dir, "distributions.png")))
}
