package simulation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
)

// onProcessors runs do where there are so many processors.
func onProcessors(n int, do func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	do()
}

// What reads and writes beside a run changes no byte, also where jobs are stopped, so that the
// rows of jobs get columns in the midst of a file.
func TestAProcessorToSpareChangesNoByte(t *testing.T) {
	for _, policy := range []string{"easy", "selective-preemption", "easy++"} {
		dirs := map[int]string{}
		for _, processors := range []int{1, 2} {
			dirs[processors] = t.TempDir()
			onProcessors(processors, func() {
				sc := New()
				sc.Policies = []string{policy}
				_, err := Run(context.Background(), sc, Options{Dir: dirs[processors], Workers: 1, LockThread: true})
				require.NoError(t, err)
			})
		}
		files, err := os.ReadDir(dirs[1])
		require.NoError(t, err)
		require.Greater(t, len(files), 3)
		for _, f := range files {
			if f.Name() == "manifest.json" || f.Name() == "summary.csv" {
				continue // of clocks
			}
			want, err := os.ReadFile(filepath.Join(dirs[1], f.Name()))
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join(dirs[2], f.Name()))
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "%s of %s", f.Name(), policy)
		}
	}
}

// mortal are jobs of which the one behind the last ends the reading otherwise than well.
type mortal struct {
	left  int
	panic bool
	given int64
}

func (m *mortal) Next() (*entity.Job, bool) {
	if m.left--; m.left < 0 {
		if m.left < -1 {
			panic("asked again behind the end")
		}
		if m.panic {
			panic("no more jobs")
		}
		return nil, false
	}
	m.given++
	return &entity.Job{ID: m.given, Submit: des.Time(m.given) * des.Second, Runtime: des.Second, Request: entity.Request{Nodes: 1, Length: des.Second}}, true
}

func (m *mortal) Err() error { return errors.New("the last line is damaged") }

func TestWhatEndsReadingAheadEndsTheRunBehindTheJobsInFront(t *testing.T) {
	for _, jobs := range []int{0, 3, aheadBatch, 2*aheadBatch + 1} {
		for _, panics := range []bool{false, jobs > 0} { // the first job is asked for before the clock runs
			for _, how := range []struct{ ahead, beside bool }{{}, {ahead: true}, {ahead: true, beside: true}} {
				started := 0
				_, err := Simulate(context.Background(), &mortal{left: jobs, panic: panics}, RunSettings{
					Policy: backfill.FCFS{}, Processors: 1, ahead: how.ahead, beside: how.beside,
					Observers: []entity.Observer{observed(func(e entity.JobEvent) {
						if e.Kind == entity.JobStarted {
							started++
						}
					})},
				})
				want := "the last line is damaged"
				if panics {
					want = "no more jobs"
				}
				require.ErrorContains(t, err, want)
				require.Equal(t, max(jobs-1, 0), started, "%d jobs, %+v", jobs, how)
			}
		}
	}
}

type observed func(e entity.JobEvent)

func (o observed) Observe(e entity.JobEvent) { o(e) }

// A run that is given up leaves no goroutine and no file.
func TestNothingGoesOnBesideARunThatIsGivenUp(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := Simulate(ctx, &mortal{left: 1_000_000}, RunSettings{
		Policy: backfill.EASY{}, Processors: 1, Dir: dir, ahead: true, beside: true, LockThread: true,
		Observers: []entity.Observer{observed(func(e entity.JobEvent) {
			if e.Run.ID == 20_000 {
				cancel()
			}
		})},
	})
	require.ErrorIs(t, err, context.Canceled)
	for tries := 0; runtime.NumGoroutine() > before; tries++ { // the last ones may be on their way out
		require.Less(t, tries, 10_000)
		time.Sleep(time.Millisecond)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// The processor time of a run is that of all its goroutines.
func TestTheTimeOfARunIsThatOfAllItsGoroutines(t *testing.T) {
	if !tellsThreads {
		t.Skip("this system does not tell the time of a thread")
	}
	w := newStopwatch(true)
	defer w.stop()
	w.run(func() {
		began := threadTime()
		for text := ""; threadTime() < began+50*time.Millisecond; text = strings.ToUpper(fmt.Sprint(threadTime())) {
			_ = text
		}
	})
	require.Greater(t, w.seconds(), 0.02)
}
