package outdir

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFolderHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "out")
	d, err := Open(path)
	require.NoError(t, err)
	_, err = Open(path)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Contains(t, err.Error(), "another gridslot (process "+strconv.Itoa(os.Getpid())+") is writing into "+path)
	d.Close()
	d.Close()
	require.NoDirExists(t, path, "it was made for nothing")
	d, err = Open(path)
	require.NoError(t, err)
	defer d.Close()
}

func TestALockThatAKilledProcessLeftIsNoObstacle(t *testing.T) {
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, LockName), []byte("1\n"), 0o666))
	d, err := Open(path)
	require.NoError(t, err)
	d.Close()
	require.DirExists(t, path, "it was there before")
	require.NoFileExists(t, filepath.Join(path, LockName))
}

func TestWhatAKilledProcessLeftIsCleaned(t *testing.T) {
	path := t.TempDir()
	for _, name := range []string{".jobs-easy.csv.0123abcd.tmp", ".report.html.0123abcd.tmp", "jobs-easy.csv", ".jobs-mine.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(path, name), nil, 0o666))
	}
	d, err := Open(path, "jobs-", "queue-")
	require.NoError(t, err)
	defer d.Close()
	require.Equal(t, []string{".jobs-easy.csv.0123abcd.tmp"}, d.Cleaned)
	require.FileExists(t, filepath.Join(path, ".report.html.0123abcd.tmp"), "others may be at work on theirs")
	require.FileExists(t, filepath.Join(path, ".jobs-mine.tmp"))
}

func TestAFolderNeverHasTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	var writers, most atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				d, err := Open(path)
				if err != nil {
					continue
				}
				if n := writers.Add(1); n > most.Load() {
					most.Store(n)
				}
				writers.Add(-1)
				d.Close()
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1, most.Load())
}

func TestALockThatIsALinkIsRefusedAndWhatItLeadsToStays(t *testing.T) {
	path, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s"), 0o666))
	require.NoError(t, os.Symlink(secret, filepath.Join(path, LockName)))
	for _, open := range []func(string) (*Dir, error){func(path string) (*Dir, error) { return Open(path) }, Share} {
		_, err := open(path)
		require.ErrorContains(t, err, filepath.Join(path, LockName)+" is no regular file: remove it")
	}
	text, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "s", string(text))
}

func TestAFolderBelowIsNoneThatALinkLeadsTo(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	got, err := Below(dir, "figures")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "figures"), got)
	require.NoDirExists(t, got)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o777))
	require.NoError(t, os.Symlink("real", got))
	_, err = Below(dir, "figures")
	require.NoError(t, err)
	require.NoError(t, os.Remove(got))
	require.NoError(t, os.Symlink(outside, got))
	_, err = Below(dir, "figures")
	require.ErrorContains(t, err, got+" leads out of its folder")
	link := filepath.Join(t.TempDir(), "scratch")
	require.NoError(t, os.Symlink(dir, link))
	got, err = Below(link, "real")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(link, "real"), got)
}
