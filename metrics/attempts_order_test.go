package metrics_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// A job that takes no time ends before another one at the same instant. Its place is known
// only when the instant is over, and its row stays the first.
func TestAttemptsOfOneInstantStayInTheirOrderWhileTheyAreHeld(t *testing.T) {
	var out bytes.Buffer
	w := metrics.NewAttemptsWriter(&out)
	w.Hold = true
	for i, start := range []des.Time{10 * des.Second, 0} {
		r := entity.NewRun(&entity.Job{ID: int64(i + 1), Request: entity.Request{Nodes: 1}}, int64(i))
		r.State, r.Start, r.Finish = entity.Finished, start, 10*des.Second
		r.Reservation.Window = entity.Window{Start: start, End: r.Finish, Nodes: 1}
		w.Observe(entity.JobEvent{Time: r.Finish, Kind: entity.JobFinished, Run: r})
	}
	w.InstantOver(10 * des.Second)
	require.NoError(t, w.Close())
	rows := strings.Split(out.String(), "\n")
	require.True(t, strings.HasPrefix(rows[1], "1,1,10,10,"), out.String())
	require.True(t, strings.HasPrefix(rows[2], "2,1,0,10,"), out.String())
}

// Of two jobs of one instant that are held, one was killed; then another is stopped.
func TestHowAJobEndedIsNotForgottenWhileItsAttemptIsHeld(t *testing.T) {
	var out bytes.Buffer
	w := metrics.NewAttemptsWriter(&out)
	w.Hold = true
	at := 10 * des.Second
	run := func(id int64, start des.Time) *entity.Run {
		r := entity.NewRun(&entity.Job{ID: id, Request: entity.Request{Nodes: 1}}, id)
		r.State, r.Start, r.Finish = entity.Finished, start, at
		r.Reservation.Window = entity.Window{Start: start, End: at, Nodes: 1}
		return r
	}
	killed := run(1, at)
	killed.State, killed.Reason = entity.Killed, "an operator"
	w.Observe(entity.JobEvent{Time: at, Kind: entity.JobKilled, Run: killed})
	w.Observe(entity.JobEvent{Time: at, Kind: entity.JobFinished, Run: run(2, 0)})
	stopped := run(3, 0)
	stopped.State = entity.Waiting
	stopped.Restore([]entity.Attempt{{Window: stopped.Reservation.Window, End: at}}, 0, nil)
	w.Observe(entity.JobEvent{Time: at, Kind: entity.JobRequeued, Run: stopped})
	w.InstantOver(at)
	require.NoError(t, w.Close())
	var ends []string
	for _, row := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		fields := strings.Split(row, ",")
		ends = append(ends, fields[0]+" "+fields[9])
	}
	require.Equal(t, []string{"1 killed", "2 finished", "3 requeued"}, ends)
}

// The nodes of a job stand in its window, which a held row does not keep.
func TestAttemptsOnNamedNodesAreNotHeld(t *testing.T) {
	nodes := []*entity.Node{{ID: 7, Perf: 1}, {ID: 8, Perf: 1}}
	domain, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	var out bytes.Buffer
	w := metrics.NewAttemptsWriter(&out)
	w.Hold = true
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, domain, backfill.FCFS{}, w)
	m.Submit(&entity.Job{ID: 1, Runtime: 10 * des.Second, Request: entity.Request{Nodes: 2, Length: 10 * des.Second}})
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	require.Contains(t, out.String(), "\n1,1,0,10,2,7-8,10,0,0,finished,20\n")
}

// Rows that are held stand in a temporary file. They are the same as those that are held in
// memory, and nothing of the temporary file is left.
func TestManyAttemptsAreHeldInAFileAsInMemory(t *testing.T) {
	const jobs = 50_000
	feed := func(w *metrics.AttemptsWriter, stop bool) {
		w.Allocation = metrics.AllocationIntervals
		for id := range int64(jobs) {
			r := entity.NewRun(&entity.Job{ID: id + 1, Request: entity.Request{Nodes: 2}}, id)
			r.State, r.Start, r.Finish = entity.Finished, des.Time(1000+id-id%1000)*des.Second, des.Time(1001+id)*des.Second
			r.Reservation.Window = entity.Window{Start: r.Start, End: r.Finish, Nodes: 2}
			r.Place = []procset.Range{{First: int32(id % 500), Last: int32(id%500) + 1}}
			w.Observe(entity.JobEvent{Time: r.Finish, Kind: entity.JobFinished, Run: r})
			w.InstantOver(r.Finish)
		}
		if stop {
			at := des.Time(2*jobs) * des.Second
			r := entity.NewRun(&entity.Job{ID: jobs + 1, Request: entity.Request{Nodes: 1}}, jobs+1)
			r.State = entity.Waiting
			r.Restore([]entity.Attempt{{Window: entity.Window{Start: at - des.Second, End: at, Nodes: 1}, End: at}}, 0, nil)
			w.Observe(entity.JobEvent{Time: at, Kind: entity.JobRequeued, Run: r})
			w.InstantOver(at)
		}
	}
	files := func(dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	for _, stop := range []bool{true, false} {
		var want bytes.Buffer
		inMemory := metrics.NewAttemptsWriter(&want)
		inMemory.Hold = true
		feed(inMemory, stop)
		require.NoError(t, inMemory.Close())

		dir := t.TempDir()
		f, err := metrics.CreateAttempts(filepath.Join(dir, "attempts-easy.csv"))
		require.NoError(t, err)
		f.Hold = true
		feed(f.AttemptsWriter, stop)
		if !stop {
			require.Len(t, files(dir), 2, "the file, and what is held")
		}
		require.NoError(t, f.Commit())
		require.Equal(t, []string{"attempts-easy.csv"}, files(dir))
		got, err := os.ReadFile(filepath.Join(dir, "attempts-easy.csv"))
		require.NoError(t, err)
		require.True(t, want.String() == string(got), "the file differs from what was held in memory")

		f, err = metrics.CreateAttempts(filepath.Join(dir, "attempts-fcfs.csv"))
		require.NoError(t, err)
		f.Hold = true
		feed(f.AttemptsWriter, false)
		f.Abort()
		require.Equal(t, []string{"attempts-easy.csv"}, files(dir))
	}
}

// What cannot be held in a file is an error only where it is to be written.
func TestAttemptsThatCouldNotBeHeldAreAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o777))
	f, err := metrics.CreateAttempts(filepath.Join(dir, "attempts-easy.csv"))
	require.NoError(t, err)
	f.Hold = true
	require.NoError(t, os.RemoveAll(dir))
	for id := range int64(20_000) {
		r := entity.NewRun(&entity.Job{ID: id + 1, Request: entity.Request{Nodes: 1}}, id)
		r.State, r.Start, r.Finish = entity.Finished, 0, des.Time(id+1)*des.Second
		r.Reservation.Window = entity.Window{End: r.Finish, Nodes: 1}
		f.Observe(entity.JobEvent{Time: r.Finish, Kind: entity.JobFinished, Run: r})
	}
	require.ErrorContains(t, f.Close(), "attempts-easy.csv")
	f.Abort()
}
