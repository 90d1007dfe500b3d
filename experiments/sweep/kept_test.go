package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// keeping is a study that has done eight units, each of which has left two files, with
// a function that carries it out again and tells how many units it did.
func keeping(t *testing.T) (dir string, again func() int64) {
	t.Helper()
	study := twoByTwo(t.TempDir())
	study.Keeps = true
	var calls atomic.Int64
	again = func() int64 {
		calls.Store(0)
		r, err := Run(context.Background(), study, func(ctx context.Context, c Case) (Row, error) {
			own, err := Files(ctx)
			if err != nil {
				return nil, err
			}
			err = errors.Join(os.MkdirAll(filepath.Join(own, "below"), 0o777),
				os.WriteFile(filepath.Join(own, "jobs.csv"), []byte("job\n"+c.String()), 0o666),
				os.WriteFile(filepath.Join(own, "below", "more.csv"), []byte(c.Value("load")), 0o666))
			if err != nil {
				return nil, err
			}
			return product(&calls)(ctx, c)
		})
		require.NoError(t, err)
		require.Equal(t, 8, r.Status().Done)
		return calls.Load()
	}
	require.EqualValues(t, 8, again())
	return study.Dir, again
}

func TestUnitsWhoseFilesAreNotAsTheyLeftThemAreDoneAgain(t *testing.T) {
	dir, again := keeping(t)
	require.Zero(t, again())
	before := tree(t, dir)
	key := planOf(t, twoByTwo(dir)).Units[3].Key
	outside := filepath.Join(t.TempDir(), "jobs.csv")
	path := func(name string) string { return filepath.Join(dir, runsName, key, name) }
	change := func(name string, how func([]byte) []byte) func() error {
		return func() error {
			text, err := os.ReadFile(path(name))
			return errors.Join(err, os.WriteFile(path(name), how(text), 0o666))
		}
	}
	cut := func(text []byte) []byte { return text[:len(text)-1] }
	flip := func(text []byte) []byte { text[1] ^= 1; return text }
	none := func([]byte) []byte { return nil }
	firstLine := func(text []byte) []byte { return text[:strings.IndexByte(string(text), '\n')+1] }
	damages := map[string]func() error{
		"cut": change("jobs.csv", cut), "flipped": change("jobs.csv", flip), "emptied": change("jobs.csv", none), "flipped below": change("below/more.csv", flip),
		"deleted": func() error { return os.Remove(path("jobs.csv")) }, "deleted below": func() error { return os.RemoveAll(path("below")) },
		"sums cut": change(SumsName, cut), "sums cut to a line": change(SumsName, firstLine), "sums emptied": change(SumsName, none), "sums flipped": change(SumsName, flip),
		"sums deleted": func() error { return os.Remove(path(SumsName)) }, "all deleted": func() error { return os.RemoveAll(path("")) },
		"a line more": change(SumsName, func(text []byte) []byte {
			return append([]byte(strings.Repeat("0", 64)+"  ../../plan.csv\n"), text...)
		}),
		"a link": func() error {
			text, err := os.ReadFile(path("jobs.csv"))
			return errors.Join(err, os.WriteFile(outside, text, 0o666), os.Remove(path("jobs.csv")), os.Symlink(outside, path("jobs.csv")))
		},
	}
	for _, what := range slices.Sorted(maps.Keys(damages)) {
		require.NoError(t, damages[what](), what)
		require.EqualValues(t, 1, again(), what)
		require.Equal(t, before, tree(t, dir), what)
	}
	require.FileExists(t, outside)
	require.NoError(t, os.WriteFile(path("report.html"), []byte("a page"), 0o666))
	require.Zero(t, again(), "what stands beside them is somebody else's")
	require.FileExists(t, path("report.html"))
}

// A unit's files may be there while its result is not.
func TestFilesThatAreThereGiveWayToThoseOfTheUnitThatIsDoneAgain(t *testing.T) {
	dir, again := keeping(t)
	before := tree(t, dir)
	key := planOf(t, twoByTwo(dir)).Units[5].Key
	require.NoError(t, os.Remove(filepath.Join(dir, unit(key))))
	require.NoError(t, os.WriteFile(filepath.Join(dir, runsName, key, "old.csv"), nil, 0o666))
	require.EqualValues(t, 1, again())
	require.Equal(t, before, tree(t, dir))
}

// Of a link, and of a name on two lines, no line of checksums tells.
func TestWhatNoLineOfChecksumsTellsOfIsNotKept(t *testing.T) {
	for _, name := range []string{"a link", "two\nlines", "two\rlines", `a\backslash`} {
		study := twoByTwo(t.TempDir())
		study.Keeps = true
		r, err := Run(context.Background(), study, func(ctx context.Context, c Case) (Row, error) {
			own, err := Files(ctx)
			switch {
			case err != nil || c.Seed != 1:
				return Row{}, err
			case name == "a link":
				return Row{}, os.Symlink("/nowhere", filepath.Join(own, name))
			}
			return Row{}, os.WriteFile(filepath.Join(own, name), nil, 0o666)
		})
		require.NoError(t, err)
		require.Equal(t, 4, r.Status().Done, name)
		require.Len(t, r.Failures, 4, name)
		require.Contains(t, r.Failures[0].Message, fmt.Sprintf("%q is no regular file with a name on one line", name))
		left, err := os.ReadDir(filepath.Join(study.Dir, runsName))
		require.NoError(t, err)
		require.Len(t, left, 4, "of the others", name)
	}
}

func TestLinksInTheFolderOfAStudyAreNotFollowed(t *testing.T) {
	dir, _ := keeping(t)
	key := planOf(t, twoByTwo(dir)).Units[0].Key
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o666))
	for _, name := range []string{runsName, unitsName, failuresName, PlanName, usageName, unitsName + "/" + key[:2], unit(key)} {
		kept, place := filepath.Join(t.TempDir(), "kept"), filepath.Join(dir, name)
		moved := os.Rename(place, kept) == nil
		target := outside
		if filepath.Ext(name) != "" {
			target = secret
		}
		require.NoError(t, os.Symlink(target, place))
		study := twoByTwo(dir)
		study.Keeps, study.Retry = true, true
		_, err := Run(context.Background(), study, func(ctx context.Context, c Case) (Row, error) {
			own, err := Files(ctx)
			if err != nil {
				return nil, err
			}
			return Row{{"id", "new"}}, os.WriteFile(filepath.Join(own, "jobs.csv"), nil, 0o666)
		})
		if name != PlanName { // which is written before it is read, and takes the place of the link
			require.ErrorContains(t, err, place+" leads out of its folder", name)
		}
		entries, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Len(t, entries, 1, name)
		text, err := os.ReadFile(secret)
		require.NoError(t, err)
		require.Equal(t, "secret", string(text), name)
		require.NoError(t, os.RemoveAll(place))
		if moved {
			require.NoError(t, os.Rename(kept, place))
		}
	}
	link := filepath.Join(t.TempDir(), "scratch") // the folder itself may be one
	require.NoError(t, os.Symlink(dir, link))
	f, err := openFor(link, false)
	require.NoError(t, err)
	defer f.Close()
	s, err := statusOf(f)
	require.NoError(t, err)
	require.Equal(t, 8, s.Done)
	require.True(t, f.hasKept(key))
}

func TestAFileOfAnotherHandIsAnError(t *testing.T) {
	dir, _ := done(t)
	study := twoByTwo(dir)
	u := planOf(t, study).Units[2]
	place := filepath.Join(dir, filepath.FromSlash(unit(u.Key)))
	whole, err := os.ReadFile(place)
	require.NoError(t, err)
	study.Check = func(r Row) error {
		if r.Value("=cmd") != "" {
			return errors.New(`no study has a column "=cmd"`)
		}
		return nil
	}
	other := u
	other.Seed++
	for _, forged := range []struct {
		of   Unit
		row  Row
		want string
	}{
		{other, Row{{"id", "x"}}, "it is of another unit than policy=easy load=0.9 seed=1, whose key it has"},
		{Unit{Case: Case{Params: []Param{{"policy", "easy"}}, Seed: u.Seed}, Key: u.Key}, Row{{"id", "x"}}, "it is of another unit"},
		{u, Row{{"=cmd", "x"}}, `no study has a column "=cmd"`},
		{u, Row{{"seed", "x"}}, `the row has a column "seed"`},
		{u, Row{{"id", "x"}, {"id", "x"}}, `the row has two columns "id"`},
	} {
		text, err := encode(forged.of, forged.row)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(place, text, 0o666))
		_, err = Merge(dir, nil, study.Check)
		require.ErrorContains(t, err, place+": "+forged.want)
		_, err = Run(context.Background(), study, product(new(atomic.Int64)))
		require.ErrorContains(t, err, place+": "+forged.want)
	}
	require.NoError(t, os.WriteFile(place, whole, 0o666))

	// A plan whose keys are not those of its cases.
	r, err := Merge(dir, nil, study.Check)
	require.NoError(t, err)
	require.Equal(t, twoByTwoTable, csvOf(t, r))
	plan, err := os.ReadFile(filepath.Join(dir, PlanName))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, PlanName), []byte(strings.Replace(string(plan), ",1,easy,0.9", ",1,easy,0.8", 1)), 0o666))
	_, err = Merge(dir, nil, study.Check)
	require.ErrorContains(t, err, filepath.Join(dir, PlanName)+", line 4: the key is "+u.Key+", and what manifest.json and the line say gives ")
}

func TestARowOfAWorkerThatTheStudyRefusesIsAFailure(t *testing.T) {
	study := twoByTwo("")
	study.Check = func(r Row) error { return errors.New("no study has it") }
	r, err := Run(context.Background(), study, product(new(atomic.Int64)))
	require.NoError(t, err)
	require.Len(t, r.Failures, 8)
	require.Equal(t, "no study has it", r.Failures[0].Message)
}

func TestWhatNoProcessWritesIsNoUsage(t *testing.T) {
	dir, _ := done(t)
	f, err := openFor(dir, false)
	require.NoError(t, err)
	defer f.Close()
	p := planOf(t, twoByTwo(dir))
	key := p.Units[0].Key
	for row, want := range map[string]bool{
		key + `,1.5,10,node-1.site`: true, key + `,0.000000,0,`: true,
		key + `,1,1,"=HYPERLINK(""http://x"")"`: false, key + `,1,1,-x`: false, key + ",1,1,\x1b[2J": false,
		key + `,-0.000000,1,a`: false, key + `,NaN,1,a`: false, key + `,Inf,1,a`: false, key + `,x,1,a`: false, key + `,1,-1,a`: false, key + `,1,1.5,a`: false,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, usageName), nil, 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "usage-1.part"), []byte(row+"\n"), 0o666))
		require.NoError(t, f.gatherUsage(p))
		text, err := os.ReadFile(filepath.Join(dir, usageName))
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(text), key), row)
	}
}

func TestWhatShardsAndOthersHaveLeftGoesWithWhoHasTheFolderAlone(t *testing.T) {
	study := twoByTwo(t.TempDir())
	left := []string{".shard-1-of-3/.gridslot.lock", "usage-123.part", "units/ab/.x.json.0123abcd.tmp", "runs/.x.12.tmp/jobs.csv"}
	for _, name := range left {
		require.NoError(t, os.MkdirAll(filepath.Join(study.Dir, filepath.Dir(name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(study.Dir, name), nil, 0o666))
	}
	_, err := Run(context.Background(), study, product(new(atomic.Int64)))
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(study.Dir, func(path string, e fs.DirEntry, err error) error {
		require.NotRegexp(t, `\.tmp$|\.part$|^\.shard|\.lock$`, e.Name())
		return err
	}))
}
