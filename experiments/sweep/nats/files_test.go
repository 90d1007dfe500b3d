package nats

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

func input(t *testing.T, name, text string) sweep.Input {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return sweep.Input{Name: name, Path: path, Sum: fmt.Sprintf("%x", sha256.Sum256([]byte(text))), Size: int64(len(text))}
}

// shop is a store of files with that study on it.
func shop(t *testing.T, inputs ...sweep.Input) (jetstream.ObjectStore, *Job) {
	w := &sweep.Work{Basis: sweep.Basis{Inputs: inputs}, Portable: &sweep.Portable{Name: "x", Dir: "/home/ann/study"}}
	nc, err := within(t, embedded.Config{}).connect("test", t.Logf)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	text, room, err := describe(w)
	require.NoError(t, err)
	require.NoError(t, offer(context.Background(), js, names{"x"}, w, text, room))
	store, err := js.ObjectStore(context.Background(), names{"x"}.files())
	require.NoError(t, err)
	return store, &Job{Portable: w.Portable, Basis: w.Basis}
}

// below are the files there, with what stands in them.
func tree(t *testing.T, root string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return files
}

func TestAWorkerGetsTheInputsWhereTheStudyNamesThem(t *testing.T) {
	a, b := input(t, "logs/a.swf", "one"), input(t, "/data/b.swf", strings.Repeat("two", 1<<20))
	store, job := shop(t, a, b)
	job.Basis.Inputs = slices.Clone(job.Basis.Inputs)
	job.Basis.Inputs[0].Path, job.Basis.Inputs[1].Path = "/home/ann/study/logs/a.swf", "/data/b.swf"
	cache := t.TempDir()
	for range 2 { // the second time from the cache
		j := Job{Portable: new(sweep.Portable), Basis: job.Basis}
		*j.Portable, j.Basis.Inputs = *job.Portable, slices.Clone(job.Basis.Inputs)
		require.NoError(t, unpack(context.Background(), store, cache, names{"x"}, &j))
		root := filepath.Join(cache, "studies", "x")
		require.Equal(t, sweep.Portable{Name: "x", Dir: filepath.Join(root, "home", "ann", "study"), Root: root}, *j.Portable)
		require.Equal(t, filepath.Join(root, "data", "b.swf"), j.Basis.Inputs[1].Path)
		require.Equal(t, map[string]string{
			"files/" + a.Sum: "one", "studies/x/home/ann/study/logs/a.swf": "one",
			"files/" + b.Sum: strings.Repeat("two", 1<<20), "studies/x/data/b.swf": strings.Repeat("two", 1<<20),
		}, tree(t, cache))
		require.NoError(t, store.Delete(context.Background(), a.Sum))
		require.NoError(t, store.Delete(context.Background(), b.Sum))
	}
}

func TestAWorkerWritesNothingOutsideItsCache(t *testing.T) {
	for _, path := range []string{"../../../x", "/../../../x", `..\..\..\x`, `C:\..\..\x`, "a/../../../../../x", "..", "/"} {
		a := input(t, "a", "one")
		store, job := shop(t, a)
		outer := t.TempDir()
		cache := filepath.Join(outer, "deep", "cache")
		job.Basis.Inputs[0].Path = path
		job.Portable.Dir = path
		err := unpack(context.Background(), store, cache, names{"x"}, job)
		for name := range tree(t, outer) {
			require.True(t, strings.HasPrefix(name, "deep/cache/"), name)
		}
		if err == nil {
			require.True(t, strings.HasPrefix(job.Basis.Inputs[0].Path, filepath.Join(cache, "studies", "x")), path)
			require.True(t, strings.HasPrefix(job.Portable.Dir, filepath.Join(cache, "studies", "x")), path)
		}
	}
	store, job := shop(t, input(t, "a", "one"))
	job.Basis.Inputs[0].Sum = "../../x"
	require.ErrorContains(t, unpack(context.Background(), store, t.TempDir(), names{"x"}, job), `the server's checksum "../../x" of "a" is none`)
}

func TestADamagedCopyIsFetchedAgainAndAWrongOneRefused(t *testing.T) {
	a := input(t, "a", "one")
	store, job := shop(t, a)
	cache := t.TempDir()
	require.NoError(t, unpack(context.Background(), store, cache, names{"x"}, job))
	require.NoError(t, os.WriteFile(filepath.Join(cache, "files", a.Sum), []byte("damaged"), 0o666))
	path, err := download(context.Background(), store, filepath.Join(cache, "files"), a)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one", string(text))

	_, err = store.PutString(context.Background(), a.Sum, "other")
	require.NoError(t, err)
	other := t.TempDir()
	_, err = download(context.Background(), store, other, a)
	require.ErrorContains(t, err, "the server's copy of a has the checksum")
	require.Empty(t, tree(t, other))
}

func TestAnInputThatHasChangedIsRefused(t *testing.T) {
	a := input(t, "a", "one")
	require.NoError(t, os.WriteFile(a.Path, []byte("two"), 0o666))
	s, server := newTrial(t, 1, 0), within(t, embedded.Config{})
	s.Inputs = []sweep.Input{a}
	_, err := s.run(context.Background(), Engine{Server: server, Workers: 1}, nil)
	require.ErrorContains(t, err, "a has changed since the study began")
}

func TestALargeFileHasTimeToTravel(t *testing.T) {
	for bytes, seconds := range map[int64]float64{0: 5, 1e6: 15, 1e9: 10_005} {
		from := time.Now()
		ctx, cancel := travel(context.Background(), bytes)
		to := time.Now()
		deadline, ok := ctx.Deadline()
		cancel()
		require.True(t, ok)
		require.GreaterOrEqual(t, deadline.Sub(from).Seconds(), seconds)
		require.LessOrEqual(t, deadline.Sub(to).Seconds(), seconds)
	}
}
