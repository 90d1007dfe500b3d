//go:build unix

package faults

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var localTable = []fault{
	{local, "kill -9 of the program, at random instants", 100, 4, "the same command goes on", killProgram, ""},
	{local, "kill -9 of a worker process, at random instants", 200, 6, "its run is done again by another worker, in the same call", killWorkers, ""},
	{local, "a worker process that is stopped (SIGSTOP) past the time limit", 5, 1, "its run fails alone, as `time`; `sweep retry` does it", stopWorker, ""},
	{local, "a worker process that is stopped at its beginning", 1, 0, "it is ended after the time limit, at least half a minute, and another one comes", nil, "./experiments/sweep TestAWorkerThatIsStoppedAtItsBeginningHoldsUpNothing"},
	{local, "Ctrl-C and SIGTERM, at random instants", 40, 2, "it ends within seconds, says what is kept, and the same command goes on", interrupt, ""},
	{local, "a second program on the same folder", 20, 1, "it is refused at once, with the number of the process that writes", secondWriter, ""},
	{local, "the program stopped (SIGSTOP), a second one on the same folder", 5, 1, "the second is refused, and the first ends its work when it goes on", stoppedWriter, ""},
	{local, "files of results cut, emptied, zeroed, a byte changed (a loss of power)", 200, 10, "they are recognised by their checksums, and these runs are done again", damage, ""},
	{local, "kept files (`keep:`) cut, emptied, zeroed, a byte changed, deleted", 100, 10, "the same, by the checksums beside them", damageKept, ""},
	{local, "clocks years apart: all file times set to the past or the future, between kills", 20, 1, "nothing is done anew: file times are not looked at", clocks, ""},
	{local, "runs that panic, crash, exit, hang, take all memory", 1, 0, "each fails alone, as `panic`, `time` or `memory`, with its last words; the others are as ever", nil, "./experiments/cli TestARunThatDoesHarmFailsAlone TestRetryDoesWhatHasFailedAgain"},
	{local, "a full disk", 1, 0, "it ends and says so, no run counts as failed; with room the same command goes on", nil, "./experiments/cli TestAFullDiskEndsASweepThatGoesOnWhenThereIsRoom"},
	{local, "a folder that becomes read-only", 1, 0, "the same", nil, "./experiments/cli TestAFolderThatBecomesReadOnlyEndsASweepThatGoesOnLater"},
}

var otherTable = []fault{
	{shards, "kill -9 of one of three shards side by side, at random instants", 30, 2, "the same shard goes on; `sweep merge` writes the results", killShards, ""},
	{reproduce, "kill -9 of `reproduce NAME... --out`, at random instants", 60, 2, "the same call goes on within the experiment", killReproduction, ""},
	{reproduce, "a second call on the same folder", 5, 1, "it is refused at once", secondReproduction, ""},
	{oneRun, "kill -9 of `simulate --out`, at random instants", 40, 2, "the same command replaces its files, and removes what was half written", killSimulation, ""},
}

func killProgram(t *testing.T, r *rand.Rand, times int) {
	aStudy(t, r).struck(times, func(p *process, _ string) { p.kill(t) })
}

func killWorkers(t *testing.T, r *rand.Rand, times int) {
	needProc(t)
	w := aStudy(t, r, "--workers", "2")
	for n := 0; n < times; {
		dir := w.folder()
		p := w.start(w.into(dir)...)
		for !p.within(time.Duration(r.Int64N(int64(100 * time.Millisecond)))) {
			if workers := children(p.Process.Pid); len(workers) > 0 && n < times && syscall.Kill(workers[r.IntN(len(workers))], syscall.SIGKILL) == nil {
				n++
			}
		}
		require.Zero(t, p.code(t), &p.output)
		w.check(dir)
	}
}

// needProc skips where children are not found.
func needProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("worker processes are found in /proc")
	}
}

func stopWorker(t *testing.T, r *rand.Rand, times int) {
	needProc(t)
	w := aStudy(t, r, "--workers", "2", "--limit", "15s") // the others keep it on a busy machine
	for n := 0; n < times; {
		dir := w.folder()
		p := w.start(w.into(dir)...)
		for len(units(t, dir)) == 0 {
			require.False(t, p.within(time.Millisecond), &p.output)
		}
		if workers := children(p.Process.Pid); len(workers) > 0 {
			_ = syscall.Kill(workers[0], syscall.SIGSTOP) // it may have ended
		}
		if p.code(t) != 0 { // it was stopped within a run
			require.Contains(t, p.output.String(), "a run has failed")
			require.Regexp(t, `1 +time +first`, p.output.String())
			retry := w.start("sweep", "retry", dir)
			require.Zero(t, retry.code(t), &retry.output)
			n++
		}
		w.check(dir)
	}
}

func interrupt(t *testing.T, r *rand.Rand, times int) {
	w := aStudy(t, r)
	w.struck(times, func(p *process, _ string) {
		p.signal([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[r.IntN(2)])
		require.True(t, p.within(2*time.Minute), "it does not end")
	})
}

func secondWriter(t *testing.T, r *rand.Rand, times int) {
	w := aStudy(t, r)
	for n := 0; n < times; {
		dir := w.folder()
		both := []*process{w.start(w.into(dir)...), w.start(w.into(dir)...)}
		codes := []int{both[0].code(t), both[1].code(t)}
		if codes[0]+codes[1] == 0 {
			continue // one had ended before the other began
		}
		n++
		if codes[0] != 0 {
			both[0], both[1] = both[1], both[0]
		}
		require.ElementsMatch(t, []int{0, 1}, codes, "%s\n%s", &both[0].output, &both[1].output)
		require.Contains(t, both[1].output.String(), "is writing into "+dir)
		w.check(dir)
	}
}

func stoppedWriter(t *testing.T, r *rand.Rand, times int) {
	w := aStudy(t, r)
	for range times {
		dir := w.folder()
		first := w.start(w.into(dir)...)
		for {
			if units, _ := filepath.Glob(filepath.Join(dir, "units", "*", "*.json")); len(units) > 0 {
				break
			}
			require.False(t, first.within(time.Millisecond), &first.output)
		}
		first.signal(syscall.SIGSTOP)
		second := w.start(w.into(dir)...)
		require.Equal(t, 1, second.code(t), &second.output)
		require.Contains(t, second.output.String(), "is writing into "+dir)
		first.signal(syscall.SIGCONT)
		require.Zero(t, first.code(t), &first.output)
		w.check(dir)
	}
}

// units are the files of results in a folder.
func units(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "units", "*", "*.json"))
	require.NoError(t, err)
	return files
}

func damage(t *testing.T, r *rand.Rand, times int) {
	aStudy(t, r).damaged(times, 4, units)
}

func damageKept(t *testing.T, r *rand.Rand, times int) {
	aStudy(t, r).damaged(times, 5, func(t *testing.T, dir string) []string {
		files, err := filepath.Glob(filepath.Join(dir, "runs", "*", "jobs-*.csv"))
		require.NoError(t, err)
		return files
	})
}

// damaged does one of so many kinds of damage to files, one a run, and has the call mend it.
func (w *world) damaged(times, kinds int, of func(*testing.T, string) []string) {
	t, r, dir := w.t, w.random, w.folder()
	w.finish(dir)
	for done := 0; done < times; {
		files := of(t, dir)
		require.Len(t, files, runs)
		r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		for _, path := range files[:min(20, times-done)] {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			kind := r.IntN(kinds)
			switch kind {
			case 0:
				text = text[:r.IntN(len(text))]
			case 1:
				text = nil
			case 2:
				clear(text[r.IntN(len(text)):])
			case 3:
				text[r.IntN(len(text))] ^= 1 << r.IntN(8)
			}
			require.NoError(t, os.WriteFile(path, text, 0o666))
			if kind == 4 {
				require.NoError(t, os.Remove(path))
			}
			done++
		}
		w.finish(dir)
		w.check(dir)
	}
}

func clocks(t *testing.T, r *rand.Rand, times int) {
	w := aStudy(t, r)
	w.struck(times, func(p *process, dir string) {
		p.kill(t)
		before := len(units(t, dir))
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil // it was killed before there was a folder
			}
			if err != nil {
				return err
			}
			at := time.Now().AddDate(r.IntN(40)-20, 0, 0)
			if err := os.Chtimes(path, at, at); !os.IsNotExist(err) { // a worker may end a moment after the program, and move a last file
				return err
			}
			return nil
		}))
		require.Len(t, units(t, dir), before)
	})
	dir := w.folder()
	w.finish(dir)
	for i, path := range units(t, dir) {
		at := time.Now().AddDate(20*(i%2)-10, 0, 0).Truncate(time.Second)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	w.finish(dir)
	for _, path := range units(t, dir) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Greater(t, time.Since(info.ModTime()).Abs(), 24*time.Hour, "it was done anew")
	}
	w.check(dir)
}

func killShards(t *testing.T, r *rand.Rand, times int) {
	w := aStudy(t, r)
	path := w.args[1]
	names := []string{"1/3", "2/3", "3/3"}
	for n := 0; n < times; {
		dir := w.folder()
		shard := func(i int) *process {
			return w.start("sweep", "shard", names[i], path, "--out", dir, "--workers", "1")
		}
		all := []*process{shard(0), shard(1), shard(2)}
		for n < times {
			i := r.IntN(len(all))
			if !all[i].within(w.instant() / 2) {
				all[i].kill(t)
				all[i] = shard(i)
				n++
				continue
			}
			if all[0].within(0) && all[1].within(0) && all[2].within(0) {
				break
			}
		}
		for _, p := range all {
			require.Zero(t, p.code(t), &p.output)
		}
		merge := w.start("sweep", "merge", dir)
		require.Zero(t, merge.code(t), &merge.output)
		w.check(dir)
	}
}

// ofAReproduction leaves out what has the date in it.
func ofAReproduction(path string) bool { return !strings.HasSuffix(path, ".pdf") }

func killReproduction(t *testing.T, r *rand.Rand, times int) {
	newWorld(t, r, ofAReproduction, "reproduce", "alp-amp", "aep", "maxq", "--cycles", "24").
		struck(times, func(p *process, _ string) { p.kill(t) })
}

func secondReproduction(t *testing.T, r *rand.Rand, times int) {
	w := newWorld(t, r, ofAReproduction, "reproduce", "aep", "--cycles", "100")
	for range times {
		dir := w.folder()
		first := w.start(w.into(dir)...)
		for len(units(t, filepath.Join(dir, "aep-unfinished"))) == 0 {
			require.False(t, first.within(time.Millisecond), &first.output)
		}
		first.signal(syscall.SIGSTOP) // or it might have ended
		second := w.start(w.into(dir)...)
		require.Equal(t, 1, second.code(t), &second.output)
		require.Contains(t, second.output.String(), "is writing into "+dir)
		first.signal(syscall.SIGCONT)
		require.Zero(t, first.code(t), &first.output)
		w.check(dir)
	}
}

// ofARun leaves out times of the clock.
func ofARun(path string) bool { return path != "manifest.json" && path != "summary.csv" }

func killSimulation(t *testing.T, r *rand.Rand, times int) {
	newWorld(t, r, ofARun, "simulate", "lublin:jobs=20000").
		struck(times, func(p *process, _ string) { p.kill(t) })
}
