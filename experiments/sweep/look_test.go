package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPartsOfAPlanDifferByOneUnitAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units, n := rapid.IntRange(0, 500).Draw(t, "units"), rapid.IntRange(1, 70).Draw(t, "parts")
		sizes := make([]int, n)
		for i := range units {
			part := ShardOf(Unit{Index: i}, n)
			require.GreaterOrEqual(t, part, 1)
			require.LessOrEqual(t, part, n)
			sizes[part-1]++
		}
		for _, size := range sizes {
			require.GreaterOrEqual(t, size, units/n)
			require.LessOrEqual(t, size, (units+n-1)/n)
		}
	})
}

func TestNoPartHasAllUnitsOfOnePolicy(t *testing.T) {
	const policies, n = 4, 4
	var first [policies]int // units of each policy in the first part
	for i := range 400 {
		if ShardOf(Unit{Index: i}, n) == 1 {
			first[i%policies]++
		}
	}
	for _, units := range first {
		require.InDelta(t, 25, units, 15)
	}
}

// elsewhere stores units as another process would, and looks after each.
type elsewhere struct {
	t     *testing.T
	dir   string
	keeps bool
	left  []int
	notes bool
}

func (e *elsewhere) SharesFolder() bool { return true }

func (e *elsewhere) Run(_ context.Context, w *Work) error {
	if e.notes {
		w.Note("jobs", "7")
	}
	other, err := OpenFor(e.dir, true)
	require.NoError(e.t, err)
	defer other.Close()
	for i, u := range w.Units {
		o := Outcome{Row: Row{{"id", "x"}}}
		if i == 1 {
			o = Outcome{Failure: &Failure{Kind: Failed, Message: "bad", Tries: 1}}
		}
		require.NoError(e.t, other.Store(u, o))
		if e.keeps && i != 2 {
			require.NoError(e.t, os.MkdirAll(other.Files(u.Key), 0o777))
			require.NoError(e.t, writeSums(other.root, runsName+"/"+u.Key))
		}
		missing, err := w.Look()
		require.NoError(e.t, err)
		e.left = append(e.left, len(missing))
	}
	return nil
}

func TestLookTakesInWhatOtherProcessesHaveStored(t *testing.T) {
	study := twoByTwo(t.TempDir())
	engine := &elsewhere{t: t, dir: study.Dir, notes: true}
	study.Engine = engine
	var told []int
	study.Progress = func(done, _ int) { told = append(told, done) }
	never := func(context.Context, Case) (Row, error) { return nil, errors.New("not here") }
	r, err := Run(context.Background(), study, never)
	require.NoError(t, err)
	require.Equal(t, []int{7, 6, 5, 4, 3, 2, 1, 0}, engine.left)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, told)
	require.Equal(t, Status{Units: 8, Done: 7, Failures: map[FailureKind]int{Failed: 1}}, r.Status())
	text, err := os.ReadFile(filepath.Join(study.Dir, ManifestName))
	require.NoError(t, err)
	require.Contains(t, string(text), `"jobs": "7"`)
}

func TestAUnitWhoseFilesAreNotThereIsMissingStill(t *testing.T) {
	study := twoByTwo(t.TempDir())
	study.Keeps = true
	engine := &elsewhere{t: t, dir: study.Dir, keeps: true}
	study.Engine = engine
	r, err := Run(context.Background(), study, product(new(atomic.Int64)))
	require.NoError(t, err)
	require.Equal(t, []int{7, 6, 6, 5, 4, 3, 2, 1}, engine.left)
	require.Equal(t, 1, r.Status().Missing)
}

func TestWhatProcessesTakeDownStaysWhileTheyShareTheFolder(t *testing.T) {
	study := twoByTwo(t.TempDir())
	p, err := study.Plan()
	require.NoError(t, err)
	first, err := OpenFor(study.Dir, true)
	require.NoError(t, err)
	defer first.Close()
	require.NoError(t, first.Store(p.Units[0], Outcome{Row: Row{}, Usage: Usage{Host: "a"}}))
	second, err := OpenFor(study.Dir, true)
	require.NoError(t, err)
	require.NoError(t, second.gatherUsage(p))
	second.Close()
	require.NoError(t, first.Store(p.Units[1], Outcome{Row: Row{}, Usage: Usage{Host: "b"}}))
	first.Close()
	alone, err := OpenFor(study.Dir, false)
	require.NoError(t, err)
	defer alone.Close()
	require.NoError(t, alone.gatherUsage(p))
	text, err := os.ReadFile(filepath.Join(study.Dir, UsageName))
	require.NoError(t, err)
	require.Equal(t, "key,seconds,peak_bytes,host\n"+p.Units[0].Key+",0.000000,0,a\n"+p.Units[1].Key+",0.000000,0,b\n", string(text))
	parts, err := filepath.Glob(filepath.Join(study.Dir, "*.part"))
	require.NoError(t, err)
	require.Empty(t, parts)
}
