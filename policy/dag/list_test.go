package dag_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/dag"
)

// rank is the upward rank of a task.
type rank des.Time

func (r rank) UpwardRank() des.Time { return des.Time(r) }

// watcher sees that no job starts before those that it comes after have ended, and
// when the last one ends.
type watcher struct {
	ended map[int64]bool
	last  des.Time
	wrong []string
	at    map[int64]int // node
	start map[int64]des.Time
}

func (w *watcher) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobStarted:
		w.start[e.Run.ID] = e.Time
		for _, task := range e.Run.Reservation.Window.Tasks {
			w.at[e.Run.ID] = task.Node.ID
		}
		for _, d := range e.Run.After {
			if !w.ended[d.Job] {
				w.wrong = append(w.wrong, e.Run.String())
			}
		}
	case entity.JobFinished:
		w.ended[e.Run.ID] = true
		w.last = e.Time
	}
}

// simulate runs jobs that wait for each other through a policy.
func simulate(t require.TestingT, on entity.Plan, p entity.Policy, jobs []*entity.Job) *watcher {
	links, err := flow.Survey(slices.Values(jobs), false)
	require.NoError(t, err)
	waiting := flow.NewDependencies(links)
	w := &watcher{ended: map[int64]bool{}, at: map[int64]int{}, start: map[int64]des.Time{}}
	sim := des.New(des.Config{})
	entity.NewMetascheduler(sim, on, p, w, waiting)
	waiting.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.Empty(t, w.wrong)
	require.Len(t, w.ended, len(jobs))
	return w
}

// jobsOf are a problem's tasks, by their costs on the first processor.
func jobsOf(p *dag.Problem) []*entity.Job {
	var jobs []*entity.Job
	for i, row := range p.Cost {
		j := &entity.Job{ID: int64(i), Runtime: row[0], Request: entity.Request{Nodes: 1, Length: row[0]}, Extra: rank(longest(p, i))}
		for _, e := range p.Edges {
			if e.To == i {
				j.After = append(j.After, entity.Dependency{Job: int64(e.From), OK: true, Think: e.Comm})
			}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// equal has all tasks cost the same everywhere, and data nothing.
func equal(p *dag.Problem) {
	for i := range p.Edges {
		p.Edges[i].Comm = 0
	}
	for _, row := range p.Cost {
		for k := range row {
			row[k] = row[0]
		}
	}
}

func nodes(perf ...float64) (all []*entity.Node) {
	for i, p := range perf {
		all = append(all, &entity.Node{ID: i, Perf: p, Price: 1})
	}
	return all
}

// Graham (1966): at most 2 - 1/m times the optimum, for every policy that lets
// nothing idle while a task that has come could run; and never less than the longest
// path or the work by processors.
func TestListSchedulingOfDAGsOnTheEngineKeepsTheBoundOfGraham(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t, 6)
		equal(p)
		m := len(p.Cost[0])
		least := optimum(p)
		path, work := des.Time(0), des.Time(0)
		for i, row := range p.Cost {
			path, work = max(path, longest(p, i)/des.Time(m)), work+row[0]
		}
		for _, by := range []entity.Policy{dag.List{}, dag.List{Order: entity.Submission}, backfill.FCFS{}, backfill.FCFS{Order: backfill.HighestRank}, backfill.EASY{}} {
			for _, named := range []bool{false, true} {
				var on entity.Plan = plan.NewCluster(m)
				if named {
					c, err := policy.NodeRegistry().Parse("heft")
					require.NoError(t, err)
					on, err = plan.NewDomain(nodes(slices.Repeat([]float64{1}, m)...), c.Value.Finder)
					require.NoError(t, err)
				}
				makespan := simulate(t, on, by, jobsOf(p)).last
				require.GreaterOrEqual(t, makespan, least)
				require.GreaterOrEqual(t, des.Time(m)*makespan, max(des.Time(m)*path, work))
				require.LessOrEqual(t, des.Time(m)*makespan, (2*des.Time(m)-1)*least, by.Name())
			}
		}
	})
}

// A task waits for a fast node rather than take a slow one, and one of a lower rank
// takes the slow one meanwhile.
func TestATaskGoesWhereItFinishesFirst(t *testing.T) {
	c, err := policy.NodeRegistry().Parse("heft")
	require.NoError(t, err)
	on, err := plan.NewDomain(nodes(1, 4), c.Value.Finder)
	require.NoError(t, err)
	job := func(id int64, seconds, up des.Time) *entity.Job {
		return &entity.Job{ID: id, Runtime: seconds * des.Second, Request: entity.Request{Nodes: 1, Length: seconds * des.Second}, Extra: rank(up)}
	}
	w := simulate(t, on, c.Value.Policy, []*entity.Job{job(1, 40, 90), job(2, 60, 80), job(3, 20, 70), job(4, 4, 60)})
	require.Equal(t, map[int64]int{1: 1, 2: 1, 3: 0, 4: 0}, w.at)
	require.Equal(t, map[int64]des.Time{1: 0, 2: 10 * des.Second, 3: 0, 4: 20 * des.Second}, w.start)
}

// On one processor it would begin at once and end at 30, on three at 10 and end at 15.
func TestAMoldableJobWaitsForTheShapeInWhichItEndsFirst(t *testing.T) {
	blocker := &entity.Job{ID: 1, Runtime: 10, Request: entity.Request{Nodes: 2, Length: 10}, Extra: rank(99)}
	job := &entity.Job{ID: 2, Runtime: 30, Request: entity.Request{Nodes: 1, Length: 30}, Shapes: []entity.Shape{
		{Nodes: 1, Length: 30, Runtime: 30}, {Nodes: 2, Length: 20, Runtime: 20}, {Nodes: 3, Length: 5, Runtime: 5},
	}}
	w := simulate(t, plan.NewCluster(3), dag.List{}, []*entity.Job{blocker, job})
	require.Equal(t, map[int64]des.Time{1: 0, 2: 10}, w.start)
	require.Equal(t, des.Time(15), w.last)
}

func TestTheOrderOfTheQueueIsTheUpwardRank(t *testing.T) {
	job := func(id int64, extra any) *entity.Job {
		return &entity.Job{ID: id, Runtime: 5, Request: entity.Request{Nodes: 1, Length: 5}, Extra: extra}
	}
	w := simulate(t, plan.NewCluster(1), dag.List{}, []*entity.Job{job(1, rank(7)), job(2, nil), job(3, rank(9)), job(4, rank(6))})
	require.Equal(t, map[int64]des.Time{3: 0, 1: 5, 4: 10, 2: 15}, w.start, "one without a rank has its estimate for one")
}

func TestNoMoreThanDepthJobsAreLookedAt(t *testing.T) {
	job := func(id int64, n int, seconds des.Time) *entity.Job {
		return &entity.Job{ID: id, Runtime: seconds, Request: entity.Request{Nodes: n, Length: seconds}}
	}
	jobs := func() []*entity.Job { return []*entity.Job{job(1, 2, 9), job(2, 3, 8), job(3, 1, 7)} }
	require.Equal(t, des.Time(0), simulate(t, plan.NewCluster(3), dag.List{}, jobs()).start[3])
	require.Equal(t, des.Time(17), simulate(t, plan.NewCluster(3), dag.List{Depth: 1}, jobs()).start[3])
	require.Equal(t, des.Time(0), simulate(t, plan.NewCluster(3), dag.List{Depth: 3}, jobs()).start[3])
}

func TestHEFTIsNamedByItsOrder(t *testing.T) {
	require.Equal(t, "heft", dag.List{}.Name())
	require.Equal(t, "heft", dag.List{Order: backfill.HighestRank}.Name())
	require.Equal(t, "heft-shortest", dag.List{Order: backfill.ShortestFirst}.Name())
}

// later is a plan whose windows never begin now, as those of a finder that prefers others.
type later struct{ *plan.Cluster }

func (p later) Find(req entity.Request, from, to des.Time) (entity.Window, bool) {
	return p.Cluster.Find(req, from.Add(10), to)
}

func TestAJobWhoseBestWindowAlwaysBeginsLaterGetsIt(t *testing.T) {
	jobs := []*entity.Job{
		{ID: 1, Runtime: 5, Request: entity.Request{Nodes: 1, Length: 5}, Extra: rank(2)},
		{ID: 2, Runtime: 5, Request: entity.Request{Nodes: 2, Length: 5}, Extra: rank(1)},
	}
	w := simulate(t, later{plan.NewCluster(2)}, dag.List{}, jobs)
	require.Equal(t, map[int64]des.Time{1: 10, 2: 25}, w.start)
}
