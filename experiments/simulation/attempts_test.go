package simulation_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
)

// urgent is EASY, but short jobs have others stopped; it tells nobody beforehand.
type urgent struct {
	keep des.Time
}

func (urgent) Name() string { return "urgent" }

func (u urgent) Schedule(r *entity.Round) {
	short := func(j *entity.Run) bool { return j.Job.Request.Length < des.Minute }
	for j := range r.Waiting() {
		w, fits := r.Plan.Find(j.Request, r.Now, r.Now)
		for v := range r.Running() {
			if short(j) && !fits && !short(v) && r.Preempt(v, u.keep) {
				w, fits = r.Plan.Find(j.Request, r.Now, r.Now)
			}
		}
		if short(j) && fits {
			r.Reserve(j, w)
		}
	}
	backfill.EASY{}.Schedule(r)
}

// manyJobs come out of the order of their numbers where that is asked for. The first
// thirty leave the machine to themselves; short ones come behind them.
func manyJobs(falling bool) *list {
	l := &list{}
	for i := range int64(60) {
		j := entity.Job{ID: i + 1, Submit: des.Time(i) * 20 * des.Second, Runtime: 15 * des.Second, User: -1, Group: 7, Queue: -1,
			Request: entity.Request{Nodes: int(2 + i%3), Length: 2 * des.Minute}}
		if falling {
			j.ID = 100 - i
		}
		if i == 8 {
			j.Request.Length = 10 * des.Second // at which it is cut off
		}
		if i >= 10 {
			j.Runtime += des.Time(i) // not all times are whole seconds
		}
		if i >= 30 {
			j.Runtime, j.Request.Nodes = 50*des.Second, 5
			if i%4 == 0 {
				j.Runtime, j.Request.Length = 5*des.Second, 10*des.Second
			}
		}
		l.jobs = append(l.jobs, j)
	}
	return l
}

// killing kills a job that runs at an instant, before any has been stopped.
type killing struct{}

func (killing) Attach(m *entity.Metascheduler) {
	m.Simulator().At(105*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		for r := range m.RunningJobs() {
			m.Kill(r, "its owner came")
		}
	}), 0)
}

func (killing) Observe(entity.JobEvent) {}

// filesOf are the files that a run leaves, by name.
func filesOf(t *testing.T, jobs *list, s simulation.RunSettings) (simulation.Result, map[string]string) {
	s.Dir, s.Processors = t.TempDir(), 8
	r, err := simulation.Simulate(context.Background(), jobs, s)
	require.NoError(t, err)
	files := map[string]string{}
	for _, name := range r.Files {
		text, err := os.ReadFile(filepath.Join(s.Dir, name))
		require.NoError(t, err)
		files[name] = string(text)
	}
	return r, files
}

// Whether it was known that jobs would be stopped or not, the files are the same, and a
// valid schedule.
func TestAPolicyThatStopsJobsNeedNotSaySo(t *testing.T) {
	for _, falling := range []bool{false, true} {
		for _, keep := range []des.Time{des.Forever, 0} {
			s := simulation.RunSettings{Policy: urgent{keep}, Observers: []entity.Observer{killing{}}}
			r, files := filesOf(t, manyJobs(falling), s)
			require.Len(t, files, 3)
			require.Contains(t, files, "attempts-urgent.csv")
			require.True(t, r.Capacity.Known())
			jobs := files["jobs-urgent.csv"]
			require.Contains(t, jobs, "reason=its owner came,,1,120,15,0,0,5,0,,7,\n", "of a job that was killed before any was stopped")

			s.Attempts = true
			told, want := filesOf(t, manyJobs(falling), s)
			require.Equal(t, want, files)
			require.Equal(t, told.Capacity, r.Capacity)

			all := manyJobs(falling).jobs
			report, err := validate.Jobs(strings.NewReader(jobs), func(yield func(*entity.Job) bool) {
				for i := range all {
					if !yield(&all[i]) {
						return
					}
				}
			}, validate.Rules{Processors: 8, Attempts: strings.NewReader(files["attempts-urgent.csv"])})
			require.NoError(t, err)
			require.NoError(t, report.Err())
		}
	}
}

func TestWhereNoJobWasStoppedNoFileTellsOfAttempts(t *testing.T) {
	r, files := filesOf(t, twoJobs(), simulation.RunSettings{Policy: urgent{}})
	require.Len(t, files, 2)
	require.NotContains(t, files["jobs-urgent.csv"], "restarts")
	require.False(t, r.Capacity.Known())
}

// setUp has each job launch for a second.
type setUp struct{ meta *entity.Metascheduler }

func (s *setUp) Attach(m *entity.Metascheduler) { s.meta = m }

func (s *setUp) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted {
		s.meta.SetUp(e.Run, des.Second)
	}
}

func TestOverheadIsToldWithoutBeingAnnounced(t *testing.T) {
	_, files := filesOf(t, twoJobs(), simulation.RunSettings{Policy: backfill.FCFS{}, Observers: []entity.Observer{&setUp{}}})
	require.Equal(t, 2, strings.Count(files["jobs-fcfs.csv"], ",0,0,0,1,,0,0\n"), files["jobs-fcfs.csv"])
	require.Equal(t, 3, strings.Count(files["attempts-fcfs.csv"], "\n"))
	r, err := simulation.Simulate(context.Background(), twoJobs(), simulation.RunSettings{Policy: backfill.FCFS{}, Processors: 8, Observers: []entity.Observer{&setUp{}}})
	require.NoError(t, err)
	require.True(t, r.Capacity.Known(), "without files, too")
}

func TestWhoFollowsOthersIsTold(t *testing.T) {
	first, then := twoJobs().jobs[0], twoJobs().jobs[1]
	then.After = []entity.Dependency{{Job: 1}}
	links, err := flow.Survey(slices.Values([]*entity.Job{&first, &then}), false)
	require.NoError(t, err)
	_, files := filesOf(t, &list{jobs: []entity.Job{first, then}}, simulation.RunSettings{Policy: backfill.FCFS{}, Links: links})
	require.Contains(t, files["jobs-fcfs.csv"], ",0,0,0,1,0,0\n")
}
