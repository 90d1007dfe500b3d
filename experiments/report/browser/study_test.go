package browser_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// studied is the folder of a small study with its page. It is carried out in this process:
// workers would be copies of the program, which is the tests.
func studied(t testing.TB) (dir string) {
	t.Helper()
	requireBrowser(t)
	dir, there := folderOf(t, "study")
	if there {
		return dir
	}
	f, err := study.Open(file(t, "study.yaml", `traces: ["lublin:jobs=300:procs=64"]
policies: [fcfs, easy, easy-sjbf]
load: [0.7, 0.9]
replications: 6
keep: jobs
`), nil)
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	s.Dir = dir
	_, err = sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	gridslot(t, "report", dir)
	return dir
}

func TestThePageOfAStudyLoadsNothingAndSorts(t *testing.T) {
	p := open(t, filepath.Join(studied(t), "report.html"), 1200, 900)
	p.sound()
	require.True(t, value[bool](p, `[...document.images].every(i => i.complete && i.naturalWidth > 0)`))
	require.Equal(t, 4, value[int](p, `document.querySelectorAll('section.measure').length`))
	require.Equal(t, 36, value[int](p, `document.querySelectorAll('li a[href^="runs/"]').length`))

	const column = `[...document.querySelector('table.sortable').tBodies[0].rows].map(r => parseFloat(r.cells[3].textContent))`
	click := func() {
		value[bool](p, `(document.querySelector('table.sortable th:nth-child(4) button').click(), true)`)
	}
	click()
	rows := value[[]float64](p, column)
	require.Len(t, rows, 4)
	require.IsNonDecreasing(t, rows)
	click()
	require.IsNonIncreasing(t, value[[]float64](p, column))
	require.Equal(t, "descending", value[string](p, `document.querySelector('table.sortable th:nth-child(4)').getAttribute('aria-sort')`))

	value[bool](p, `(byId('measure').value = 'm1', byId('measure').dispatchEvent(new Event('change')), true)`)
	require.Equal(t, 1, value[int](p, `[...document.querySelectorAll('section.measure')].filter(s => !s.hidden).length`))
	p.sound()
}

func TestThePageOfAStudyFitsANarrowScreen(t *testing.T) {
	dir := studied(t)
	for _, theme := range []string{"light", "dark"} {
		p := open(t, filepath.Join(dir, "report.html"), 360, 700, scheme(theme))
		require.LessOrEqual(t, value[int](p, `document.documentElement.scrollWidth`), 360, theme)
		p.sound()
	}
}
