package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func csvOf(t require.TestingT, r *Results) string {
	var b strings.Builder
	require.NoError(t, r.WriteCSV(&b))
	return b.String()
}

func TestWithoutAFolderResultsAreInMemory(t *testing.T) {
	var calls atomic.Int64
	r, err := Run(context.Background(), twoByTwo(""), product(&calls))
	require.NoError(t, err)
	require.Equal(t, twoByTwoTable, csvOf(t, r))
}

// Wherever it is interrupted, and however many units at a time: in the end the folder
// is that of one undisturbed run, and no unit was done twice.
func TestAnInterruptedStudyGoesOnWhereItWas(t *testing.T) {
	whole, _ := done(t)
	want := tree(t, whole)
	for stop := range int64(9) {
		dir := t.TempDir()
		var calls atomic.Int64
		for again, times := true, int64(0); again; times++ { // further on each time
			ctx, cancel := context.WithCancel(context.Background())
			var begun atomic.Int64
			study := twoByTwo(dir)
			study.Engine = InProcess{Workers: int(stop%3) + 1}
			r, err := Run(ctx, study, func(ctx context.Context, c Case) (Row, error) {
				if begun.Add(1) == stop+1+times {
					cancel()
				}
				if ctx.Err() != nil && stop%2 == 1 {
					return nil, ctx.Err() // some notice, others do not
				}
				return product(&calls)(ctx, c)
			})
			cancel()
			require.Zero(t, r.Status().Failed())
			if again = err != nil; again {
				require.ErrorIs(t, err, context.Canceled)
				table, err := os.ReadFile(filepath.Join(dir, ResultsName))
				require.NoError(t, err)
				require.Equal(t, csvOf(t, r), string(table), "what there is is in the table")
			}
		}
		require.EqualValues(t, 8, calls.Load())
		require.Equal(t, want, tree(t, dir))
	}
}

func TestAUnitThatTakesTooLongFailsAlone(t *testing.T) {
	study := Study{Axes: []Axis{List("kind", "quick", "obedient", "deaf")}, Limit: Limit{Time: 30 * time.Millisecond}, Engine: InProcess{Workers: 3}}
	var told atomic.Value
	study.Tell = func(format string, args ...any) { told.Store(fmt.Sprintf(format, args...)) }
	release := make(chan bool)
	defer close(release)
	r, err := Run(context.Background(), study, func(ctx context.Context, c Case) (Row, error) {
		switch c.Value("kind") {
		case "obedient":
			<-ctx.Done()
			return nil, ctx.Err()
		case "deaf":
			<-release
		}
		return nil, nil
	})
	require.NoError(t, err)
	require.Equal(t, Status{Units: 3, Done: 1, Failures: map[FailureKind]int{Late: 2}}, r.Status())
	require.Equal(t, "it took longer than 30ms: context deadline exceeded", r.Failures[1].Message)
	require.Equal(t, "it took longer than 30ms: it did not end when it was told to, and was left behind", r.Failures[2].Message)
	require.Equal(t, "kind=deaf seed=1 does not end although it was told to: it is left behind", told.Load())
}

func TestRowsWithoutAPlaceInTheTableAreFailures(t *testing.T) {
	rows := map[string]Row{
		"a": {{"load", "1"}}, "b": {{"seed", "1"}}, "c": {{"x", "1"}, {"x", "2"}}, "d": {{"", "1"}}, "e": {{"x", "\xff"}}, "f": {{"x", "1"}},
	}
	r, err := Run(context.Background(), Study{Axes: []Axis{List("load", "a", "b", "c", "d", "e", "f")}}, func(_ context.Context, c Case) (Row, error) {
		return rows[c.Value("load")], nil
	})
	require.NoError(t, err)
	require.Equal(t, Status{Units: 6, Done: 1, Failures: map[FailureKind]int{Failed: 5}}, r.Status())
	require.Equal(t, `the row has a column "load", and a parameter is called that`, r.Failures[0].Message)
}

func TestRowsOfSeveralKindsHaveTheUnionOfTheirColumns(t *testing.T) {
	study := Study{Axes: []Axis{List("m", "grid", "cluster", "domain")}, Columns: []string{"wait", "cost", "never"}}
	r, err := Run(context.Background(), study, func(_ context.Context, c Case) (Row, error) {
		switch c.Value("m") {
		case "grid":
			return Row{{"messages", "7"}, {"wait", "1"}}, nil
		case "domain":
			return Row{{"wait", "2"}, {"cost", "5"}, {"more", "x, y"}}, nil
		}
		return Row{{"wait", "3"}}, nil
	})
	require.NoError(t, err)
	require.Equal(t, "m,seed,wait,cost,messages,more\ngrid,1,1,,7,\ncluster,1,3,,,\ndomain,1,2,5,,\"x, y\"\n", csvOf(t, r))
}

func TestFilesOfAUnitAreThereWhenItIsDone(t *testing.T) {
	dir := t.TempDir()
	study := twoByTwo(dir)
	study.Keeps = true
	var calls atomic.Int64
	do := func(ctx context.Context, c Case) (Row, error) {
		own, err := Files(ctx)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(own, "jobs.csv"), []byte(c.String()), 0o666); err != nil {
			return nil, err
		}
		if c.Value("load") == "0.9" && c.Seed == 2 {
			return nil, errors.New("it fails")
		}
		return product(&calls)(ctx, c)
	}
	_, err := Run(context.Background(), study, do)
	require.NoError(t, err)
	f, err := Open(dir)
	require.NoError(t, err)
	units := planOf(t, study).Units
	for i, u := range units {
		text, err := os.ReadFile(filepath.Join(f.Path, runsName, u.Key, "jobs.csv"))
		if i == 3 || i == 7 {
			require.ErrorIs(t, err, os.ErrNotExist)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, u.String(), string(text))
	}
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	require.NoError(t, err)
	require.Len(t, entries, 6, "nothing is left of those that failed")
	require.NoError(t, os.RemoveAll(filepath.Join(f.Path, runsName, units[0].Key)))
	_, err = Run(context.Background(), study, do)
	require.NoError(t, err)
	require.EqualValues(t, 7, calls.Load(), "its files were missing")
}

func TestTheManifestTellsWhatResultsAreOf(t *testing.T) {
	dir := t.TempDir()
	study := twoByTwo(dir)
	study.Basis = Basis{Build: "gridslot 1", Inputs: []Input{{Name: "a.swf", Sum: "abc", Size: 3}}}
	study.Portable = &Portable{Name: "mine.yaml", Text: []byte("load: 1\n"), Dir: "/somewhere"}
	var calls atomic.Int64
	_, err := Run(context.Background(), study, product(&calls))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	require.NoError(t, err)
	var m manifest
	require.NoError(t, json.Unmarshal(text, &m))
	require.Equal(t, "gridslot 1", m.Build)
	require.Equal(t, []Input{{Name: "a.swf", Sum: "abc", Size: 3}}, m.Inputs)
	require.Equal(t, []any{8, 8, 0, "mine.yaml", "/somewhere"}, []any{m.Units, m.Done, m.Failed, m.Study, m.Folder})
	require.False(t, m.End.Before(m.Start))
	text, err = os.ReadFile(filepath.Join(dir, StudyName))
	require.NoError(t, err)
	require.Equal(t, "load: 1\n", string(text))
	usage, err := os.ReadFile(filepath.Join(dir, usageName))
	require.NoError(t, err)
	require.Len(t, strings.Split(string(usage), "\n"), 1+8+1)
	parts, err := filepath.Glob(filepath.Join(dir, "usage-*"))
	require.NoError(t, err)
	require.Empty(t, parts)
}

func TestAFolderThatCannotBeWrittenEndsTheStudy(t *testing.T) {
	dir, calls := done(t)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "units")))
	f, err := openFor(dir, false)
	require.NoError(t, err)
	defer f.Close()
	f.usage.file, err = os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full: ", err)
	}
	plan := planOf(t, twoByTwo(dir))
	c := &call{study: &Study{Dir: dir}, folder: f, results: newResults(plan)}
	err = InProcess{}.Run(context.Background(), &Work{Study: c.study, Units: plan.Units, Store: c.store, Do: func(context.Context, Unit) Outcome {
		calls.Add(1)
		return Outcome{Row: Row{}, Usage: Usage{Peak: 1}}
	}})
	require.ErrorContains(t, err, "no space left on device")
	require.Zero(t, c.results.Status().Done)
	require.Less(t, calls.Load(), int64(8+8), "the others are not begun")
}

func TestProgressEndsWithAll(t *testing.T) {
	var most, total atomic.Int64
	study := twoByTwo("")
	study.Progress = func(done, of int) { most.Store(max(most.Load(), int64(done))); total.Store(int64(of)) }
	var calls atomic.Int64
	_, err := Run(context.Background(), study, product(&calls))
	require.NoError(t, err)
	require.EqualValues(t, 8, most.Load())
	require.EqualValues(t, 8, total.Load())
}

// A unit's own cost, without a folder and with one.
func BenchmarkUnit(b *testing.B) {
	for name, dir := range map[string]string{"memory": "", "folder": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			study := Study{Seeds: Seeds(1, b.N)}
			if dir != "" {
				study.Dir = filepath.Join(dir, fmt.Sprint(b.N))
			}
			b.ReportAllocs()
			_, err := Run(context.Background(), study, func(context.Context, Case) (Row, error) { return Row{{"x", "1"}}, nil })
			require.NoError(b, err)
		})
	}
}
