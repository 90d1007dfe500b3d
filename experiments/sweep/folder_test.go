package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
)

// storeIn stores one outcome.
func storeIn(f *Folder, u Unit, o Outcome) error {
	_, err := f.store(u, o)
	return err
}

// statusOf is how far the study of a folder is.
func statusOf(f *Folder) (Status, error) {
	r, err := f.Results()
	if err != nil {
		return Status{}, err
	}
	return r.Status(), nil
}

// done carries out twoByTwo in a new folder.
func done(t *testing.T) (dir string, calls *atomic.Int64) {
	t.Helper()
	dir, calls = t.TempDir(), &atomic.Int64{}
	_, err := Run(context.Background(), twoByTwo(dir), product(calls))
	require.NoError(t, err)
	return dir, calls
}

func TestTheFileOfAUnitIsWhatAnybodyWouldWrite(t *testing.T) {
	dir, _ := done(t)
	u := planOf(t, twoByTwo(dir)).Units[5]
	text, err := os.ReadFile(filepath.Join(dir, "units", u.Key[:2], u.Key+".json"))
	require.NoError(t, err)
	body := `{"key":"` + u.Key + `","parameters":{"policy":"fcfs","load":"0.7"},"seed":2,"row":{"id":"fcfs/0.7","twice":"4"}}`
	require.Equal(t, `{"unit":`+body+`,"sha256":"`+sumOf([]byte(body))+"\"}\n", string(text))
}

func TestATornOrDamagedFileOfAUnitIsMissing(t *testing.T) {
	u := Unit{Case: Case{Params: []Param{{"a", "1"}}, Seed: 3}, Key: "0123456789abcdef0123456789abcdef"}
	row := Row{{"x", "1.5"}, {"", "quoted \"<\n"}, {"y", ""}}
	text, err := encode(u, row)
	require.NoError(t, err)
	back, err := decode(u, text)
	require.NoError(t, err)
	require.Equal(t, row, back)
	_, err = decode(Unit{Case: u.Case, Key: "0" + u.Key[:31]}, text)
	require.ErrorIs(t, err, errTorn, "the file of another unit")
	for i := range text {
		_, err := decode(u, text[:i])
		require.ErrorIs(t, err, errTorn, "the first %d bytes", i)
		for _, flip := range []byte{1, 0x20} {
			damaged := []byte(string(text))
			damaged[i] ^= flip
			_, err = decode(u, damaged)
			require.ErrorIs(t, err, errTorn, "byte %d", i)
		}
	}
	_, err = decode(u, append(text, 'x'))
	require.ErrorIs(t, err, errTorn)
}

func TestWhatIsDamagedIsComputedAgain(t *testing.T) {
	dir, calls := done(t)
	before := tree(t, dir)
	units := planOf(t, twoByTwo(dir)).Units
	for i, damage := range []func(string) error{
		os.Remove,
		func(path string) error { return os.Truncate(path, 40) },
		func(path string) error { return os.WriteFile(path, nil, 0o666) },
		func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, []byte(strings.Replace(string(text), `"twice":"4"`, `"twice":"5"`, 1)), 0o666))
		},
	} {
		key := units[2*i+1].Key
		require.NoError(t, damage(filepath.Join(dir, "units", key[:2], key+".json")))
	}
	f, err := Open(dir)
	require.NoError(t, err)
	s, err := statusOf(f)
	require.NoError(t, err)
	require.Equal(t, Status{Units: 8, Done: 4, Missing: 4, Failures: map[FailureKind]int{}}, s)
	_, err = Run(context.Background(), twoByTwo(dir), product(calls))
	require.NoError(t, err)
	require.EqualValues(t, 12, calls.Load())
	require.Equal(t, before, tree(t, dir))
}

func TestWhatKilledProcessesLeftGoesAway(t *testing.T) {
	dir, calls := done(t)
	before := tree(t, dir)
	key := planOf(t, twoByTwo(dir)).Units[0].Key
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "runs", "."+key+".123.tmp"), 0o777))
	for _, left := range []string{"runs/." + key + ".123.tmp/jobs.csv", "units/" + key[:2] + "/." + key + ".json.0123abcd.tmp", ".results.csv.0123abcd.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, left), []byte("torn"), 0o666))
	}
	_, err := Run(context.Background(), twoByTwo(dir), product(calls))
	require.NoError(t, err)
	require.Equal(t, before, tree(t, dir))
}

// store is a folder and a unit in it.
func store(t *testing.T) (*Folder, Unit) {
	t.Helper()
	dir, _ := done(t)
	f, err := openFor(dir, false)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f, planOf(t, twoByTwo(dir)).Units[0]
}

func TestTheSameResultTwiceIsOne(t *testing.T) {
	f, u := store(t)
	before := tree(t, f.Path)
	require.NoError(t, storeIn(f, u, Outcome{Row: Row{{"id", "easy/0.7"}, {"twice", "2"}}}))
	require.NoError(t, storeIn(f, u, Outcome{Failure: &Failure{Kind: Lost, Message: "its worker went away"}}), "late, and of no account")
	require.NoError(t, storeIn(f, u, Outcome{}), "interrupted")
	require.Equal(t, before, tree(t, f.Path))
}

func TestTwoResultsOfAUnitThatDifferAreAFailure(t *testing.T) {
	f, u := store(t)
	require.NoError(t, storeIn(f, u, Outcome{Row: Row{{"id", "easy/0.7"}, {"twice", "3"}}}))
	r, err := f.Results()
	require.NoError(t, err)
	require.Nil(t, r.Rows[0])
	require.Equal(t, Status{Units: 8, Done: 7, Failures: map[FailureKind]int{Damaged: 1}}, r.Status())
	failure := r.Failures[0]
	require.Equal(t, Damaged, failure.Kind)
	require.Contains(t, failure.Message, "twice 2 and twice 3")
	require.Contains(t, failure.Log, `{"id":"easy/0.7","twice":"2"}`)
	require.Contains(t, failure.Log, `{"id":"easy/0.7","twice":"3"}`)
	require.NoFileExists(t, filepath.Join(f.Path, unit(u.Key)), "neither counts")

	require.NoError(t, storeIn(f, u, Outcome{Row: Row{{"id", "easy/0.7"}, {"twice", "2"}}}), "one against one")
	s, err := statusOf(f)
	require.NoError(t, err)
	require.Equal(t, 1, s.Failures[Damaged])
	f.Close()
	study := twoByTwo(f.Path)
	study.Retry = true
	var calls atomic.Int64
	_, err = Run(context.Background(), study, product(&calls))
	require.NoError(t, err)
	require.EqualValues(t, 1, calls.Load())
}

func TestAResultTakesThePlaceOfAFailure(t *testing.T) {
	f, u := store(t)
	require.NoError(t, os.Remove(filepath.Join(f.Path, unit(u.Key))))
	require.NoError(t, storeIn(f, u, Outcome{Failure: &Failure{Kind: Lost, Message: "its worker went away"}}))
	s, err := statusOf(f)
	require.NoError(t, err)
	require.Equal(t, map[FailureKind]int{Lost: 1}, s.Failures)
	require.NoError(t, storeIn(f, u, Outcome{Row: Row{{"id", "x"}}}))
	r, err := f.Results()
	require.NoError(t, err)
	require.Empty(t, r.Failures)
	require.Equal(t, Row{{"id", "x"}}, r.Rows[0])
	require.NoFileExists(t, filepath.Join(f.Path, failure(u.Key)))
}

func TestCleaningForgetsFailures(t *testing.T) {
	f, u := store(t)
	other := planOf(t, twoByTwo("")).Units[1]
	for of, kind := range map[*Unit]FailureKind{&u: Lost, &other: Failed} {
		require.NoError(t, os.Remove(filepath.Join(f.Path, unit(of.Key))))
		require.NoError(t, storeIn(f, *of, Outcome{Failure: &Failure{Kind: kind}}))
	}
	s, err := statusOf(f)
	require.NoError(t, err)
	require.Equal(t, Status{Units: 8, Done: 6, Failures: map[FailureKind]int{Failed: 1, Lost: 1}}, s)
	require.NoError(t, f.Clean())
	s, err = statusOf(f)
	require.NoError(t, err)
	require.Equal(t, Status{Units: 8, Done: 6, Missing: 2, Failures: map[FailureKind]int{}}, s)
}

func TestAFolderIsRefusedToASecondWriterUnlessTheyShareIt(t *testing.T) {
	dir, calls := done(t)
	first, err := openFor(dir, true)
	require.NoError(t, err)
	second, err := openFor(dir, true)
	require.NoError(t, err)
	var busy *outdir.BusyError
	_, err = Run(context.Background(), twoByTwo(dir), product(calls))
	require.ErrorAs(t, err, &busy)
	first.Close()
	_, err = Run(context.Background(), twoByTwo(dir), product(calls))
	require.ErrorAs(t, err, &busy, "the second is at work still")
	second.Close()
	alone, err := openFor(dir, false)
	require.NoError(t, err)
	_, err = openFor(dir, true)
	require.ErrorAs(t, err, &busy)
	alone.Close()
	require.NoFileExists(t, filepath.Join(dir, outdir.LockName))
}

func TestThePlanIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		texts := rapid.SliceOfNDistinct(rapid.StringMatching(`[a,"\n éß]{0,5}`), 1, 5, rapid.ID)
		p := planOf(rt, Study{Axes: []Axis{List("a", texts.Draw(rt, "a")...), List("b,", texts.Draw(rt, "b")...)}})
		root, err := os.OpenRoot(dir)
		require.NoError(rt, err)
		defer root.Close()
		f := &Folder{Path: dir, root: root}
		require.NoError(rt, f.writePlan(p))
		back, err := f.Plan()
		require.NoError(rt, err)
		require.Equal(rt, p, back)
	})
}

func TestAFolderThatIsNoStudysIsSaidToBeNone(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir)
	require.EqualError(t, err, dir+" is no folder of a study: there is no plan.csv in it")
	for text, want := range map[string]string{
		"a,b\n":                     "is no plan of a study: want the columns index,key,seed and the parameters",
		"index,key,seed\n0,xyz,1\n": "line 2: want the number 0, a key of 32 hexadecimal digits and a seed, not 0,xyz,1",
		"index,key,seed,a,a\n":      "line 1: two axes have a parameter \"a\"",
		"index,key,seed\n0,0123456789abcdef0123456789abcdef,1\n1,0123456789abcdef0123456789abcdef,2\n": "line 3: the key 0123456789abcdef0123456789abcdef stands there twice",
		"index,key,seed\n0,../../../../home/me/x0123456789,1\n":                                        "line 2: want the number 0, a key of 32",
		"index,key,seed\n0,xyz\n":     "is no plan",
		"index,key,seed,a\n1,x,1,b\n": "line 2: want the number 0",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, PlanName), []byte(text), 0o666))
		f, err := Open(dir)
		require.NoError(t, err)
		_, err = statusOf(f)
		require.ErrorContains(t, err, want)
	}
}
