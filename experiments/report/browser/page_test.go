package browser_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/rows"
)

// drawn is how many pixels of the first chart are not its ground.
const drawn = `(() => {
  const canvas = page.gantts[0].canvas, g = canvas.getContext('2d');
  const data = g.getImageData(GUTTER + 2, 0, canvas.width - GUTTER - MARGIN - 4, canvas.height - AXIS).data;
  const ground = page.theme.plot.match(/[0-9a-f]{2}/g).map(h => parseInt(h, 16));
  let n = 0;
  for (let p = 0; p < data.length; p += 4) if (ground.some((c, i) => Math.abs(c - data[p + i]) > 3)) n++;
  return n / (data.length / 4);
})()`

func TestPagesAreDrawnAndLoadNothing(t *testing.T) {
	for name, dir := range worlds(t) {
		p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
		require.NotEmpty(t, value[string](p, `byId('view').textContent`), name)
		require.True(t, value[bool](p, `byId('status').hidden`))
		require.Equal(t, 2, value[int](p, `document.querySelectorAll('.uplot').length`), "queue and load of the %s", name)
		if name == "uncounted" {
			require.Equal(t, 0, value[int](p, `page.gantts.length`))
			require.Contains(t, value[string](p, `byId('gantts').textContent`), "--allocation intervals")
		} else {
			require.Greater(t, value[float64](p, drawn), 0.02, name)
			for _, colour := range []string{"user", "size", "wait", "backfilled", "state"} {
				value[bool](p, `byId('colour').value = '`+colour+`', byId('colour').dispatchEvent(new Event('change')), true`)
				p.settle()
				require.Greater(t, value[float64](p, drawn), 0.02, "%s by %s", name, colour)
				require.NotZero(t, value[int](p, `byId('legend').children.length`))
			}
		}
		p.sound()
	}
}

func TestWheelAndKeysZoomAndPan(t *testing.T) {
	p := open(t, filepath.Join(simulated(t, "lublin:jobs=800:procs=64", "--policy", "easy"), "report.html"), 1200, 900)
	length := func() float64 { p.settle(); return value[float64](p, `page.view.to - page.view.from`) }
	from := func() float64 { p.settle(); return value[float64](p, `page.view.from`) }
	all := length()

	value[bool](p, `page.gantts[0].canvas.scrollIntoView({block: 'center'}), true`)
	at := value[[]float64](p, `(box => [box.left + 400, box.top + 100])(page.gantts[0].canvas.getBoundingClientRect())`)
	held := value[float64](p, `page.gantts[0].time(400)`)
	p.run(send(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: chromedp.MouseWheel, X: at[0], Y: at[1], DeltaX: 1e-9, DeltaY: -400}))
	require.InEpsilon(t, all*math.Pow(1.0015, -400), length(), 1e-6)
	require.InDelta(t, held, value[float64](p, `page.gantts[0].time(400)`), all/1e6, "what is under the pointer stays")

	p.run(chromedp.Focus(chromedp.CSS(`.gantt canvas`)))
	zoomed := length()
	p.run(chromedp.KeyEvent("+"))
	require.InEpsilon(t, zoomed/2, length(), 1e-6)
	before := from()
	p.run(chromedp.KeyEvent(kb.ArrowRight))
	require.InEpsilon(t, before+0.2*zoomed/2, from(), 1e-6)
	p.run(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("-"))
	require.InEpsilon(t, zoomed, length(), 1e-6)
	require.Equal(t, 64., value[float64](p, `page.view.bottom - page.view.top`))
	p.run(chromedp.KeyEvent("]"))
	p.settle()
	require.Equal(t, 32., value[float64](p, `page.view.bottom - page.view.top`))
	p.run(chromedp.KeyEvent("0"))
	require.Equal(t, all, length())
	require.Equal(t, 64., value[float64](p, `page.view.bottom - page.view.top`))

	p.run(chromedp.KeyEvent("+"))
	before = from()
	p.run(chromedp.MouseEvent(chromedp.MousePressed, at[0], at[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, at[0]-100, at[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, at[0]-100, at[1], chromedp.ButtonLeft))
	require.InEpsilon(t, before+100*length()/value[float64](p, `page.gantts[0].width`), from(), 1e-6)
	require.Equal(t, []float64{value[float64](p, `page.view.from`), value[float64](p, `page.view.to`)},
		value[[]float64](p, `[page.lines[0].chart.scales.x.min, page.lines[0].chart.scales.x.max]`), "the lines have the same axis")
	p.sound()
}

// holder is the job that has a processor at an instant, by its row of the file; -1
// where none has.
func holder(t testing.TB, jobs []rows.Job, processor int32, time float64) int64 {
	for i := range jobs {
		j := &jobs[i]
		if j.Start == rows.None || j.Start.Seconds() > time || j.Finish.Seconds() <= time {
			continue
		}
		ranges, err := procset.Parse(j.Allocated)
		require.NoError(t, err)
		for _, r := range ranges {
			if r.First <= processor && processor <= r.Last {
				return j.ID
			}
		}
	}
	return -1
}

func TestHoveringTellsTheJobUnderThePointer(t *testing.T) {
	dir := simulated(t, "lublin:jobs=600:procs=64:load=0.7", "--policy", "easy")
	jobs, err := folder(t, dir).Runs[0].Jobs()
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
	value[bool](p, `page.gantts[0].canvas.scrollIntoView({block: 'center'}), true`)
	box := value[[]float64](p, `(b => [b.left, b.top])(page.gantts[0].canvas.getBoundingClientRect())`)
	random := rand.New(rand.NewPCG(1, 2))
	busy := 0
	for range 60 {
		x, y := float64(80+random.IntN(1000)), float64(2+random.IntN(int(value[float64](p, `page.gantts[0].height`))-4))
		p.run(chromedp.MouseEvent(chromedp.MouseMoved, box[0]+x, box[1]+y))
		p.settle()
		where := value[[]float64](p, fmt.Sprintf(`[page.gantts[0].row(%g), page.gantts[0].time(%g)]`, y, x))
		tip := value[string](p, `byId('tip').textContent`)
		require.Contains(t, tip, fmt.Sprintf("processor %d, ", int(where[0])))
		if id := holder(t, jobs, int32(where[0]), where[1]); id >= 0 {
			busy++
			require.Contains(t, tip, fmt.Sprintf("\njob %d, ", id))
		} else {
			require.Contains(t, tip, "\nidle")
		}
	}
	require.Greater(t, busy, 15)
	require.Less(t, busy, 60)
	p.sound()
}

// A job whose ID needs more than 32 bits is found by it.
func TestALargeIDIsShown(t *testing.T) {
	const id = "1099511627777" // 2^40 + 1
	log := filepath.Join(t.TempDir(), "log.swf")
	require.NoError(t, os.WriteFile(log, []byte("; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 1 -1 -1 -1\n"+
		id+" 5 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 1 -1 -1 -1\n"), 0o600))
	p := open(t, filepath.Join(simulated(t, log, "--policy", "easy"), "report.html"), 1200, 900)
	p.run(chromedp.KeyEvent("/"), chromedp.KeyEvent(id), chromedp.KeyEvent(kb.Enter))
	p.settle()
	require.Equal(t, "Job "+id, value[string](p, `byId('job-title').textContent`))
	p.sound()
}

func TestAJobIsFoundByKeysAlone(t *testing.T) {
	dir := simulated(t, "lublin:jobs=800:procs=64:load=0.8", "--policy", "fcfs,easy")
	jobs, err := folder(t, dir).Runs[0].Jobs()
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
	p.run(chromedp.KeyEvent("/"))
	require.Equal(t, "find", value[string](p, `document.activeElement.id`))
	p.run(chromedp.KeyEvent("500"), chromedp.KeyEvent(kb.Enter))
	p.settle()
	job := jobs[499]
	require.EqualValues(t, 500, job.ID)
	require.Equal(t, "Job 500", value[string](p, `byId('job-title').textContent`))
	require.Contains(t, value[string](p, `byId('job-text').textContent`), "Processors"+strconv.Itoa(job.Processors))
	view := value[[]float64](p, `[page.view.from, page.view.to]`)
	require.LessOrEqual(t, view[0], job.Start.Seconds())
	require.GreaterOrEqual(t, view[1], job.Finish.Seconds())
	require.Less(t, view[1]-view[0], 0.5*value[float64](p, `page.view.limits.to - page.view.limits.from`))
	require.Equal(t, "polite", value[string](p, `byId('job').getAttribute('aria-live')`))

	p.run(chromedp.KeyEvent("99999"), chromedp.KeyEvent(kb.Enter))
	require.Equal(t, "true", value[string](p, `byId('find').getAttribute('aria-invalid')`))
	require.Equal(t, "Job 500", value[string](p, `byId('job-title').textContent`))

	starts := slices.Clone(jobs)
	slices.SortFunc(starts, func(a, b rows.Job) int {
		return int(a.Start-b.Start)*2 + int(max(-1, min(1, a.ID-b.ID)))
	})
	at := slices.IndexFunc(starts, func(j rows.Job) bool { return j.ID == 500 })
	p.run(chromedp.Focus(chromedp.CSS(`.gantt canvas`)), chromedp.KeyEvent("n"))
	require.Equal(t, fmt.Sprint("Job ", starts[at+1].ID), value[string](p, `byId('job-title').textContent`))
	p.run(chromedp.KeyEvent("p"), chromedp.KeyEvent("p"))
	require.Equal(t, fmt.Sprint("Job ", starts[at-1].ID), value[string](p, `byId('job-title').textContent`))
	require.NotEqual(t, "none", value[string](p, `getComputedStyle(document.activeElement).outlineStyle`), "focus can be seen")
	p.run(chromedp.KeyEvent(kb.Escape))
	require.True(t, value[bool](p, `byId('job').hidden`))
	p.sound()
}

func TestEverythingThatCanBePressedIsReachedByTab(t *testing.T) {
	p := open(t, filepath.Join(simulated(t, "lublin:jobs=100:procs=16", "--policy", "fcfs,easy"), "report.html"), 1200, 900)
	want := []string{"first", "second", "colour", "find", "in", "out", "left", "right", "taller", "all", "canvas"}
	var met []string
	for range 40 {
		p.run(chromedp.KeyEvent(kb.Tab))
		met = append(met, value[string](p, `document.activeElement.id || document.activeElement.tagName.toLowerCase()`))
	}
	at := slices.Index(met, "first")
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, want, met[at:at+len(want)])
}

func TestAPhoneScrollsDownOnly(t *testing.T) {
	for name, dir := range worlds(t) {
		p := open(t, filepath.Join(dir, "report.html"), 360, 740)
		fits := func() {
			value[bool](p, `document.querySelectorAll('details').forEach(d => d.open = true), true`)
			require.LessOrEqual(t, value[int](p, `document.documentElement.scrollWidth`), 360, name)
			require.GreaterOrEqual(t, value[int](p, `Math.min(...[...document.querySelectorAll('button, select, input')].filter(e => e.offsetParent).map(e => e.offsetHeight))`), 24)
		}
		fits()
		if name != "uncounted" {
			value[bool](p, `byId('second').value = 1, page.show().then(() => true)`)
			p.settle()
			fits()
		}
		p.sound()
	}
}

func TestInTheDarkThePageIsDark(t *testing.T) {
	dir := simulated(t, "lublin:jobs=800:procs=64", "--policy", "fcfs,easy")
	for _, name := range []string{"light", "dark"} {
		p := open(t, filepath.Join(dir, "report.html"), 1200, 900, scheme(name))
		// Relative luminance and contrast as WCAG 2 defines them.
		luminance := `(c => c.match(/[\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0))`
		ground := value[float64](p, luminance+`(getComputedStyle(document.body).backgroundColor)`)
		require.Equal(t, name == "dark", ground < 0.05)
		for _, element := range []string{"body", "footer", "th", "button", "figure, .legend", "#view"} {
			text := value[float64](p, luminance+`(getComputedStyle(document.querySelector('`+element+`')).color)`)
			require.Greater(t, (max(ground, text)+0.05)/(min(ground, text)+0.05), 4.5, element)
		}
		corner := value[[]int](p, `Array.from(page.gantts[0].canvas.getContext('2d').getImageData(GUTTER + 1, page.gantts[0].canvas.height - AXIS - 2, 1, 1).data)`)
		require.Equal(t, name == "dark", corner[0]+corner[1]+corner[2] < 200, "the chart, too: %v", corner)
		p.sound()
	}
}

const evil = `<img src=x onerror="window.hacked=1"></script><script>window.hacked=2</script>&amp;"'` + "\x1b[31m\u202e\x00"

func TestHostileNamesDoNoHarm(t *testing.T) {
	dir := copied(t, simulated(t, "lublin:jobs=200:procs=16", "--policy", "fcfs,easy"))
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	text := string(manifest)
	for _, name := range []string{"fcfs", "easy"} {
		text = strings.ReplaceAll(text, `"policy": "`+name+`"`, `"policy": `+quoted(name+evil))
	}
	text = strings.Replace(text, `"settings": {`, `"settings": {`+quoted(evil)+`: `+quoted(evil)+`,`, 1)
	text = strings.Replace(text, `"dropped": []`, `"dropped": [{"reason": `+quoted(evil)+`, "count": 3}]`, 1)
	text = strings.Replace(text, `"trace": {`, `"stopped": `+quoted(evil)+`, "trace": {`, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nodes.csv"), []byte("id,name,performance,price,class,site,owner\n0,\""+strings.ReplaceAll(evil, `"`, `""`)+"\",1,1,,,\"=cmd()<b>\"\n"), 0o666))
	summary, err := os.ReadFile(filepath.Join(dir, "summary.csv"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.csv"), []byte(strings.Replace(string(summary), "rounds", "\"<b onclick=\"\"x()\"\">\"", 1)), 0o666))

	p := open(t, written(t, dir), 1200, 900)
	value[bool](p, `byId('second').value = 1, page.show().then(() => true)`)
	value[bool](p, `page.choose(1, true), true`)
	p.settle()
	require.True(t, value[bool](p, `window.hacked === undefined`))
	require.Zero(t, value[int](p, `document.querySelectorAll('img:not([src^="data:image/svg"]), b, iframe').length`))
	require.Equal(t, 4, value[int](p, `document.scripts.length`), "two runs, what is to know of them, and the program")
	require.Contains(t, value[string](p, `byId('first').textContent`), "easy"+evil[:20], "a name is shown as it is")
	require.Contains(t, value[string](p, `document.querySelector('.warnings').textContent`), evil[:20])
	require.Contains(t, value[string](p, `document.querySelector('.u-legend').textContent`), evil[:20])
	require.Contains(t, value[string](p, `page.tip(page.gantts[0], page.chosen[0].jobs.start[0], 0)`), evil[:20])
	require.False(t, value[bool](p, `/[\x00-\x08\x1b\u202e]/.test(document.body.textContent)`))
	p.sound()
}

func TestTwoPoliciesShareTheirTimeAndTheirDifferencesAreListed(t *testing.T) {
	dir := simulated(t, "lublin:jobs=800:procs=64:load=0.9", "--policy", "fcfs,easy")
	f := folder(t, dir)
	fcfs, err := f.Runs[0].Jobs()
	require.NoError(t, err)
	easy, err := f.Runs[1].Jobs()
	require.NoError(t, err)
	order := make([]int, len(fcfs))
	for i := range order {
		order[i] = i
		require.Equal(t, fcfs[i].ID, easy[i].ID)
	}
	difference := func(i int) float64 { return math.Abs((easy[i].Start - fcfs[i].Start).Seconds()) }
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case difference(a) > difference(b):
			return -1
		case difference(a) < difference(b):
			return 1
		}
		return 0
	})
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
	require.True(t, value[bool](p, `byId('differences').hidden`))
	p.run(chromedp.SetValue(chromedp.CSS(`#second`), "1"))
	value[bool](p, `byId('second').dispatchEvent(new Event('change')), new Promise(done => { const wait = () => page.gantts.length === 2 ? done(true) : requestAnimationFrame(wait); wait(); })`)
	p.settle()
	require.Equal(t, []string{"fcfs", "easy"}, value[[]string](p, `page.gantts.map(g => g.run.policy)`))
	listed := value[[]int](p, `[...document.querySelectorAll('#differences tbody button')].map(b => +b.textContent)`)
	require.Len(t, listed, 20)
	for k, id := range listed {
		require.EqualValues(t, fcfs[order[k]].ID, id)
	}
	p.run(chromedp.Click(chromedp.CSS(`#differences tbody button`)))
	p.settle()
	require.Equal(t, fmt.Sprint("Job ", listed[0]), value[string](p, `byId('job-title').textContent`))
	times := value[[]float64](p, `page.gantts.flatMap(g => [g.time(200), g.time(900)])`)
	require.Equal(t, times[:2], times[2:])
	require.Equal(t, 2, value[int](p, `document.querySelectorAll('#job-text h4').length`))
	p.sound()
}

func TestDecodingUndoesPacking(t *testing.T) {
	for name, dir := range worlds(t) {
		f := folder(t, dir)
		p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
		for i, r := range f.Runs {
			jobs, err := r.Jobs()
			require.NoError(t, err)
			got := value[[][]float64](p, fmt.Sprintf(`(byId('first').value = %d, page.show().then(() => {
				const j = page.chosen[0].jobs;
				return Array.from(j.id, (id, k) => [id, j.submit[k], isNaN(j.start[k]) ? -1 : j.start[k], isNaN(j.end[k]) ? -1 : j.end[k], j.size[k], j.user[k], j.backfilled[k], j.estimate[k]]);
			}))`, i))
			require.Len(t, got, len(jobs))
			for k, j := range jobs {
				backfilled := 0.
				if j.Backfilled {
					backfilled = 1
				}
				want := []float64{float64(j.ID), j.Submit.Seconds(), -1, -1, float64(j.Processors), float64(j.User), backfilled, j.Estimate.Seconds()}
				if j.Ran() {
					want[2], want[3] = j.Start.Seconds(), j.Finish.Seconds()
				}
				require.InDeltaSlice(t, want, got[k], 1e-5, "%s, %s, job %d", name, r.Policy, j.ID)
			}
		}
		p.sound()
	}
}
