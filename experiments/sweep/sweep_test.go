package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tree is every file below a folder with its content, but for what differs from
// one run to the next.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == manifestName || d.Name() == usageName {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return files
}

// twoByTwo has four cases with two seeds each.
func twoByTwo(dir string) Study {
	return Study{
		Axes:  []Axis{List("policy", "easy", "fcfs"), List("load", "0.7", "0.9")},
		Seeds: Seeds(1, 2), Dir: dir,
	}
}

// product is a unit that gives a row at once, and counts how often it is asked.
func product(calls *atomic.Int64) Do {
	return func(_ context.Context, c Case) (Row, error) {
		calls.Add(1)
		return Row{{"id", c.Value("policy") + "/" + c.Value("load")}, {"twice", strconv.FormatUint(2*c.Seed, 10)}}, nil
	}
}

const twoByTwoTable = `policy,load,seed,id,twice
easy,0.7,1,easy/0.7,2
easy,0.7,2,easy/0.7,4
easy,0.9,1,easy/0.9,2
easy,0.9,2,easy/0.9,4
fcfs,0.7,1,fcfs/0.7,2
fcfs,0.7,2,fcfs/0.7,4
fcfs,0.9,1,fcfs/0.9,2
fcfs,0.9,2,fcfs/0.9,4
`

func TestAStudyGivesARowAUnitInTheOrderOfThePlan(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	do := product(&calls)
	late := func(ctx context.Context, c Case) (Row, error) { // the first is done last
		if c.Value("policy") == "easy" && c.Seed == 1 {
			time.Sleep(20 * time.Millisecond)
		}
		return do(ctx, c)
	}
	study := twoByTwo(dir)
	study.Engine = InProcess{Workers: 4}
	r, err := Run(context.Background(), study, late)
	require.NoError(t, err)
	require.Equal(t, Status{Units: 8, Done: 8, Failures: map[FailureKind]int{}}, r.Status())
	table, err := os.ReadFile(filepath.Join(dir, ResultsName))
	require.NoError(t, err)
	require.Equal(t, twoByTwoTable, string(table))
}

func TestWhatIsThereIsNotComputedAgain(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	_, err := Run(context.Background(), twoByTwo(dir), product(&calls))
	require.NoError(t, err)
	before := tree(t, dir)
	_, err = Run(context.Background(), twoByTwo(dir), product(&calls))
	require.NoError(t, err)
	require.EqualValues(t, 8, calls.Load())
	require.Equal(t, before, tree(t, dir))
}

func TestAChangedPlanAddsAndNeverMixes(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	_, err := Run(context.Background(), twoByTwo(dir), product(&calls))
	require.NoError(t, err)
	more := twoByTwo(dir)
	more.Axes[0], more.Axes[1] = List("load", "0.9", "1.1"), List("policy", "fcfs", "easy")
	more.Seeds = Seeds(2, 2)
	r, err := Run(context.Background(), more, product(&calls))
	require.NoError(t, err)
	require.EqualValues(t, 8+8-2, calls.Load(), "the axes stand in another order, but two cases are the same")
	require.Equal(t, 8, r.Status().Done)
	var b strings.Builder
	require.NoError(t, r.WriteCSV(&b))
	require.Equal(t, "load,policy,seed,id,twice\n0.9,fcfs,2,fcfs/0.9,4\n", b.String()[:len("load,policy,seed,id,twice\n0.9,fcfs,2,fcfs/0.9,4\n")])

	f, err := Open(dir)
	require.NoError(t, err)
	n, _, err := f.Strays()
	require.NoError(t, err)
	require.Equal(t, 6, n)
	require.NoError(t, f.Clean())
	n, _, err = f.Strays()
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = Run(context.Background(), more, product(&calls))
	require.NoError(t, err)
	require.EqualValues(t, 14, calls.Load())
}

func TestAFailureIsKeptAndTriedAgainOnDemandOnly(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	broken := true
	do := func(ctx context.Context, c Case) (Row, error) {
		if broken && c.Value("load") == "0.9" && c.Seed == 2 {
			fmt.Fprintln(Log(ctx), "just before")
			if c.Value("policy") == "easy" {
				panic("no room")
			}
			return nil, errors.New("out of cheese")
		}
		return product(&calls)(ctx, c)
	}
	study := twoByTwo(dir)
	r, err := Run(context.Background(), study, do)
	require.NoError(t, err)
	require.Equal(t, map[FailureKind]int{Failed: 1, Panics: 1}, r.Status().Failures)
	require.Equal(t, &Failure{Kind: Failed, Message: "out of cheese", Log: "just before\n", Tries: 1}, r.Failures[7])
	require.Equal(t, "panic: no room", r.Failures[3].Message)
	require.Contains(t, r.Failures[3].Log, "just before\ngoroutine")

	broken = false
	r, err = Run(context.Background(), study, do)
	require.NoError(t, err)
	require.Equal(t, 2, r.Status().Failed(), "nobody asked for them")
	study.Retry = true
	r, err = Run(context.Background(), study, do)
	require.NoError(t, err)
	require.Equal(t, Status{Units: 8, Done: 8, Failures: map[FailureKind]int{}}, r.Status())
	require.EqualValues(t, 8, calls.Load())
	table, err := os.ReadFile(filepath.Join(dir, ResultsName))
	require.NoError(t, err)
	require.Equal(t, twoByTwoTable, string(table))
}
