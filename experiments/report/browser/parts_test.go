package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/explain"
	"github.com/gridslot/gridslot/metrics/rows"
)

func TestInstantsAndSpansAreWrittenForReaders(t *testing.T) {
	p := open(t, filepath.Join(simulated(t, "lublin:jobs=20:procs=16", "--policy", "easy"), "report.html"), 1200, 900)
	for expression, want := range map[string]string{
		`span(0)`:                            "0 s",
		`span(59.4)`:                         "59.4 s",
		`span(60)`:                           "1 min",
		`span(3599.9)`:                       "1 h",
		`span(5400)`:                         "1 h 30 min",
		`span(86399.9)`:                      "1 d",
		`span(90061)`:                        "1 d 1 h",
		`span(-70)`:                          "−1 min 10 s",
		`span(NaN)`:                          "–",
		`new Clock(null).text(90061)`:        "1 d 01:01:01",
		`new Clock(null).text(3661, 60)`:     "01:01",
		`new Clock(null).text(0.25, 0.1)`:    "00:00:00.3",
		`new Clock(null).text(90061, 86400)`: "day 1",
		`new Clock(843298200, 'Europe/Stockholm').text(0)`:                                 "1996-09-21 11:30:00",
		`new Clock(843298200, 'Europe/Stockholm').text(86400, 86400)`:                      "1996-09-22",
		`new Clock(0, 'No/Where').text(0, 60)`:                                             "1970-01-01 00:00",
		`String(new Clock(null).marks(3599, 8000, 3600))`:                                  "3600,7200",
		`String(new Clock(843298200, 'Europe/Stockholm').marks(0, 86400, 43200))`:          "1800,45000",
		`String([niceStep(100, 9), niceStep(1e7, 8), niceStep(3, 8), niceStep(86400, 8)])`: "20,1728000,0.5,10800",
	} {
		require.Equal(t, want, value[string](p, expression), expression)
	}
}

func TestTheViewStaysWithinTheRun(t *testing.T) {
	p := open(t, filepath.Join(simulated(t, "lublin:jobs=200:procs=16", "--policy", "easy"), "report.html"), 1200, 900)
	within := `(({from, to, top, bottom, limits: l}) => from >= l.from && to <= l.to * (1 + 1e-9) && from < to && top >= 0 && bottom <= l.rows && top < bottom)(page.view)`
	for _, step := range []string{`zoom(0.1)`, `pan(-50)`, `pan(90)`, `pan(0, -5)`, `zoom(1, undefined, 0.1)`, `pan(0, 50)`, `zoom(1e-12)`, `zoom(1e12)`, `zoom(1, undefined, 1e9)`, `set(-1e9, -1e8)`, `set(1e12, 1e13, 99, 98)`} {
		require.True(t, value[bool](p, `page.view.`+step+`, `+within), step)
	}
	p.sound()
}

// named gives each job of a colouring the name of its colour.
func named(p *tab, colouring string) []string {
	return value[[]string](p, fmt.Sprintf(`(byId('colour').value = '%s', page.colour(), (s => Array.from(s.of, c => s.names[c]))(page.gantts[0].scale))`, colouring))
}

func TestColoursSayWhatTheyAreNamedBy(t *testing.T) {
	dir := simulated(t, "--policy", "easy", "--first", "600", "--procs", "100")
	jobs, err := folder(t, dir).Runs[0].Jobs()
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)

	held := map[int64]float64{}
	for _, j := range jobs {
		if j.Ran() {
			held[j.User] += (j.Finish - j.Start).Seconds() * float64(j.Processors)
		}
	}
	users := []int64{}
	for u := range held {
		users = append(users, u)
	}
	slices.SortFunc(users, func(a, b int64) int {
		if held[a] > held[b] {
			return -1
		}
		return 1
	})
	require.Greater(t, len(users), 8)
	step := func(value float64, steps []float64, names []string) string {
		name := names[0]
		for i := range steps {
			if value >= steps[i] {
				name = names[i]
			}
		}
		return name
	}
	met := map[string]bool{}
	for colouring, of := range map[string]func(rows.Job) string{
		"user": func(j rows.Job) string {
			if slices.Index(users, j.User) < 7 {
				return fmt.Sprint("user ", j.User)
			}
			return "others"
		},
		"wait": func(j rows.Job) string { return waited(j.Wait().Seconds()) },
		"size": func(j rows.Job) string {
			return step(float64(j.Processors), []float64{1, 2, 5, 17, 65}, []string{"1 processor", "2 to 4", "5 to 16", "17 to 64", "65 to 256"})
		},
		"backfilled": func(j rows.Job) string {
			return map[bool]string{true: "backfilled", false: "in turn"}[j.Backfilled]
		},
		"state": func(j rows.Job) string {
			return map[rows.State]string{rows.Finished: "finished", rows.Walltime: "cut at its estimate"}[j.State]
		},
	} {
		got := named(p, colouring)
		require.Len(t, got, len(jobs))
		for k, j := range jobs {
			if !j.Ran() {
				continue
			}
			want := of(j)
			require.Equal(t, want, got[k], "job %d by %s", j.ID, colouring)
			met[want] = true
		}
	}
	require.Greater(t, len(met), 18)
	require.Equal(t, len(users) > 7, met["others"])
	p.sound()
}

func waited(seconds float64) string {
	switch {
	case seconds == 0:
		return "no wait"
	case seconds < 60:
		return "under 1 min"
	case seconds < 600:
		return "under 10 min"
	case seconds < 3600:
		return "under 1 h"
	case seconds < 6*3600:
		return "under 6 h"
	case seconds < 86400:
		return "under 1 d"
	case seconds < 7*86400:
		return "under 7 d"
	}
	return "longer"
}

func TestAPieceHoldsFromItsStartUntilBeforeItsEnd(t *testing.T) {
	dir := simulated(t, "lublin:jobs=400:procs=64:load=0.9", "--policy", "easy")
	jobs, err := folder(t, dir).Runs[0].Jobs()
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
	for _, j := range jobs[100:140] {
		ranges, err := procset.Parse(j.Allocated)
		require.NoError(t, err)
		for _, processor := range []int32{ranges[0].First, ranges[len(ranges)-1].Last, (ranges[0].First + 1) % 64} {
			for _, at := range []float64{j.Start.Seconds(), j.Finish.Seconds()} {
				got := value[int64](p, fmt.Sprintf(`(r => (i => i < 0 ? -1 : r.jobs.id[r.pieces.job[i]])(r.pieceAt(%v, %v + 0.5)))(page.chosen[0])`, at, processor))
				require.Equal(t, holder(t, jobs, processor, at), got, "processor %d at %v", processor, at)
			}
		}
	}
}

func TestWhyAJobStartedIsToldOnAClick(t *testing.T) {
	dir := simulated(t, "lublin:jobs=400:procs=64:load=0.9", "--policy", "fcfs,easy", "--decisions")
	log, err := explain.Read(folder(t, dir).Runs[1])
	require.NoError(t, err)
	p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
	value[bool](p, `byId('first').value = 1, page.show().then(() => true)`)
	told := 0
	for id := int64(150); id < 170; id++ {
		stories, err := log.Job(id)
		require.NoError(t, err)
		value[bool](p, fmt.Sprintf(`page.choose(%d, true), true`, id))
		p.settle()
		where := value[[]float64](p, `(g => (i => [g.x(g.run.pieces.start[i] + (g.run.pieces.end[i] - g.run.pieces.start[i]) / 2), g.y(g.run.pieces.row[i] + 0.5)])(g.run.pieces.job.indexOf(g.selected)))(page.gantts[0])`)
		value[bool](p, `page.choose(null), page.gantts[0].canvas.scrollIntoView({block: 'center'}), true`)
		box := value[[]float64](p, `(b => [b.left, b.top])(page.gantts[0].canvas.getBoundingClientRect())`)
		p.run(chromedp.MouseClickXY(box[0]+where[0], box[1]+where[1]))
		require.Equal(t, fmt.Sprint("Job ", id), value[string](p, `byId('job-title').textContent`))
		text := value[string](p, `page.explain().then(() => byId('job-text').textContent)`)
		for _, l := range stories[0].Lines {
			told++
			require.Contains(t, text, l.Text)
		}
	}
	require.Greater(t, told, 50)
	p.sound()
}

func TestWhatAgentsSaidOfAJobIsTold(t *testing.T) {
	logged := copied(t, simulated(t, "--grid", file(t, "grid.yaml", strings.Replace(grid, "[oar,", "[rla,", 1)+"log: true\n"), "lublin:jobs=300:procs=100"))
	run := folder(t, logged).Runs[0]
	said, err := run.Messages()
	require.NoError(t, err)
	require.NotEmpty(t, said)
	id := said[0].Job
	own := slices.DeleteFunc(said, func(m rows.Message) bool { return m.Job != id })
	require.Len(t, own, 3, "as the notes of a job that one site is too small for")

	log := filepath.Join(logged, "log-rla.txt")
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(log, append(text, fmt.Sprintf("%v broker-1 job %d: %s\n", own[2].Time, id, evil)...), 0o666))

	p := open(t, written(t, logged), 1200, 900)
	value[bool](p, fmt.Sprintf(`page.choose(%d, true), true`, id))
	p.settle()
	panel := value[string](p, `byId('job-text').textContent`)
	tip := value[string](p, `(g => (i => page.tip(g, g.run.pieces.start[i], g.run.pieces.row[i]))(g.run.pieces.job.indexOf(g.selected)))(page.gantts[0])`)
	for i, m := range own {
		line := value[string](p, fmt.Sprintf(`page.clock.text(%v, 1)`, m.Time.Seconds())) + " " + m.Who + ": " + m.Text
		require.Contains(t, panel, line)
		require.Equal(t, i > 0, strings.Contains(tip, line), "the last three")
	}
	require.Contains(t, panel, evil[:20], "a message is shown as it is")
	require.NotContains(t, panel, "earlier")
	require.Contains(t, tip, "(1 earlier in log-rla.txt)")
	require.Contains(t, tip, evil[:20])
	require.True(t, value[bool](p, `window.hacked === undefined && document.querySelector('img:not([src^="data:image/svg"])') === null`))
	require.False(t, value[bool](p, `/[\x00-\x08\x1b\u202e]/.test(document.body.textContent)`))
	value[bool](p, `page.choose(page.chosen[0].jobs.id.find((_, j) => !page.chosen[0].messages[j].last), true), true`)
	require.Contains(t, value[string](p, `byId('job-text').textContent`), "nothing about this job")
	p.sound()

	for machine, dir := range map[string]string{
		"a grid":    simulated(t, "--grid", file(t, "grid.yaml", grid), "lublin:jobs=100:procs=100"),
		"a cluster": simulated(t, "lublin:jobs=100:procs=16", "--policy", "easy"),
	} {
		p := open(t, filepath.Join(dir, "report.html"), 1200, 900)
		value[bool](p, `page.choose(page.chosen[0].jobs.id[9], true), true`)
		require.Equal(t, machine == "a grid", strings.Contains(value[string](p, `byId('job-text').textContent`), "With log: true in the grid file"))
		p.sound()
	}
}
