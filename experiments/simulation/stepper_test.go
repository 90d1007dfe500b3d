package simulation_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// sampleJobs begins a reading of the sample.
func sampleJobs(t *testing.T) (entity.Source, int) {
	t.Helper()
	trace, err := workload.ReadSWF(traces.Sample())
	require.NoError(t, err)
	source, err := trace.Open()
	require.NoError(t, err)
	return source, trace.MaxProcs
}

// begin begins the sample under EASY.
func begin(t *testing.T, dir string) *simulation.Stepper {
	t.Helper()
	jobs, procs := sampleJobs(t)
	r, err := simulation.Begin(jobs, simulation.RunSettings{Policy: backfill.EASY{}, Processors: procs, Dir: dir})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// However a run is cut into steps, it is the run that is not: decisions one by one, loops that
// are left, instants, another run that goes on in between.
func TestStepsMakeTheSameRun(t *testing.T) {
	ctx := context.Background()
	jobs, procs := sampleJobs(t)
	dir := t.TempDir()
	whole, err := simulation.Simulate(ctx, jobs, simulation.RunSettings{Policy: backfill.EASY{}, Processors: procs, Dir: filepath.Join(dir, "whole")})
	require.NoError(t, err)

	ways := map[string]func(r *simulation.Stepper){
		"decisions": func(r *simulation.Stepper) {
			n := 0
			for round := range r.Rounds(ctx) {
				require.Positive(t, round.Queue.Len())
				require.Equal(t, r.Now(), round.Now)
				backfill.EASY{}.Schedule(round)
				n++
			}
			require.Greater(t, n, 5000)
			require.Equal(t, des.Forever, r.Next())
		},
		"left": func(r *simulation.Stepper) {
			for range 300 {
				n := 0
				for round := range r.Rounds(ctx) {
					backfill.EASY{}.Schedule(round)
					if n++; n == 7 {
						break
					}
				}
			}
		},
		"instants": func(r *simulation.Stepper) {
			for day := range des.Time(12) {
				require.NoError(t, r.RunUntil(ctx, day*des.Day))
				require.Equal(t, day*des.Day, r.Now())
				require.Greater(t, r.Next(), r.Now())
			}
		},
		"pulled": func(r *simulation.Stepper) {
			other := begin(t, "")
			next, stop := iter.Pull(r.Rounds(ctx))
			defer stop()
			another, stopOther := iter.Pull(other.Rounds(ctx))
			defer stopOther()
			for range 500 {
				for _, next := range []func() (*entity.Round, bool){next, another} {
					round, ok := next()
					require.True(t, ok)
					backfill.EASY{}.Schedule(round)
				}
			}
		},
		"reset": func(r *simulation.Stepper) {
			require.NoError(t, r.RunUntil(ctx, 9*des.Day))
			again, _ := sampleJobs(t)
			require.NoError(t, r.Reset(again, 0))
			require.Zero(t, r.Now())
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			r := begin(t, filepath.Join(dir, name))
			way(r)
			require.NoError(t, r.Err())
			result, err := r.Finish(ctx)
			require.NoError(t, err)
			require.Equal(t, whole.Fingerprint, result.Fingerprint)
			result.Summary.CPUSeconds = whole.Summary.CPUSeconds
			require.Equal(t, whole.Summary, result.Summary)
			for _, file := range whole.Files {
				want, err := os.ReadFile(filepath.Join(dir, "whole", file))
				require.NoError(t, err)
				got, err := os.ReadFile(filepath.Join(dir, name, file))
				require.NoError(t, err)
				require.Equal(t, string(want), string(got), file)
			}
		})
	}
}

// At an instant jobs are cancelled and submitted, processors are added, another policy takes over; the
// run goes on from there.
func TestARunIsChangedOnTheWay(t *testing.T) {
	ctx := context.Background()
	jobs, procs := sampleJobs(t)
	r, err := simulation.Begin(jobs, simulation.RunSettings{Policy: backfill.Conservative{}, Processors: procs})
	require.NoError(t, err)
	defer r.Close()
	m := r.Scheduler()
	away, err := m.Withhold(entity.Where{Count: 40}, 0, des.Forever)
	require.NoError(t, err)
	require.NoError(t, r.RunUntil(ctx, 6*des.Day))
	waiting := slices.Collect(m.Queue().By(entity.Submission, r.Now()).All())
	require.Greater(t, len(waiting), 2)
	reserved := 0
	for _, j := range waiting {
		if j.State == entity.Reserved {
			reserved++
		}
	}
	require.Positive(t, reserved, "conservative backfilling reserves ahead")

	require.True(t, m.Cancel(waiting[0], "its user changed their mind"))
	mine := m.Submit(&entity.Job{ID: 900000, Submit: r.Now() + des.Hour, Runtime: des.Minute, Request: entity.Request{Nodes: procs, Length: des.Minute}})
	away.Drop()
	r.SetPolicy(backfill.FCFS{})
	for _, j := range waiting {
		require.NotEqual(t, entity.Reserved, j.State, "the other policy begins with an empty plan")
	}
	for range r.Rounds(ctx) {
		break // nobody decides in this one
	}
	require.Equal(t, 6*des.Day, r.Now(), "the change brings a round at once")
	result, err := r.Finish(ctx)
	require.NoError(t, err)
	require.Equal(t, entity.Finished, mine.State, "it needs the processors that were added")
	require.Equal(t, entity.Rejected, waiting[0].State)
	require.Equal(t, 5001, result.Summary.Jobs)
	require.Equal(t, 1, result.Summary.Rejected)
	for i := 2; i < len(waiting); i++ { // FCFS starts them in their order
		require.LessOrEqual(t, waiting[i-1].Began(), waiting[i].Began())
	}
}

// A policy that plans jobs as they come hears of those that came while others decided.
func TestAPolicyThatTakesOverKnowsWhoWaits(t *testing.T) {
	ctx := context.Background()
	for name, takeOver := range map[string]func(r *simulation.Stepper){
		"after its owner": func(*simulation.Stepper) {},
		"as another one":  func(r *simulation.Stepper) { r.SetPolicy(backfill.Conservative{}) },
	} {
		t.Run(name, func(t *testing.T) {
			jobs, procs := sampleJobs(t)
			r, err := simulation.Begin(jobs, simulation.RunSettings{Policy: backfill.Conservative{}, Processors: procs})
			require.NoError(t, err)
			defer r.Close()
			n := 0
			for range r.Rounds(ctx) {
				if n++; n == 300 {
					break
				}
			}
			require.Equal(t, 300, r.Scheduler().Queue().Len(), "nobody has decided")
			takeOver(r)
			result, err := r.Finish(ctx)
			require.NoError(t, err)
			require.Equal(t, 5000, result.Summary.Jobs)
		})
	}
}

func TestARunWithoutAPolicyWaitsForItsOwner(t *testing.T) {
	ctx := context.Background()
	r, err := simulation.Begin(twoJobs(), simulation.RunSettings{Processors: 10})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.RunUntil(ctx, des.Hour))
	require.Equal(t, 2, r.Scheduler().Queue().Len())
	_, err = r.Finish(ctx)
	require.ErrorContains(t, err, "policy by hand left 2 jobs in the queue for ever")
	require.Equal(t, err, r.Err())
	for range r.Rounds(ctx) {
		t.Fatal("the run is over")
	}

	require.NoError(t, r.Reset(twoJobs(), 3))
	require.NoError(t, r.Err())
	for round := range r.Rounds(ctx) {
		for j := range round.Waiting() {
			if w, ok := round.Plan.Find(j.Request, round.Now, round.Now); ok {
				round.Reserve(j, w)
			}
		}
	}
	result, err := r.Finish(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 30, result.Summary.MeanWait)

	stopped, stop := context.WithCancel(ctx)
	stop()
	require.NoError(t, r.Reset(twoJobs(), 3))
	require.ErrorIs(t, r.RunUntil(stopped, des.Hour), context.Canceled)
	require.NoError(t, r.Err(), "a run can go on where a context has ended")
	r.SetPolicy(backfill.FCFS{})
	_, err = r.Finish(ctx)
	require.NoError(t, err)
}
