package backfill_test

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

// tasks are a graph of tasks of one processor: what each takes, and what it comes after.
type tasks struct {
	length []des.Time
	after  [][]int
}

// drawTasks draws up to most tasks, whose numbers say nothing of who comes after whom.
func drawTasks(t *rapid.T, most int) tasks {
	n := rapid.IntRange(1, most).Draw(t, "tasks")
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	numbers = rapid.Permutation(numbers).Draw(t, "numbers")
	g := tasks{length: make([]des.Time, n), after: make([][]int, n)}
	for i := range n {
		g.length[i] = des.Time(rapid.IntRange(1, 9).Draw(t, "length"))
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				g.after[numbers[i]] = append(g.after[numbers[i]], numbers[j])
			}
		}
	}
	return g
}

// pathTo is the longest path from task i to the end, i included: its upward rank.
func (g tasks) pathTo(i int) (path des.Time) {
	for j, after := range g.after {
		if slices.Contains(after, i) {
			path = max(path, g.pathTo(j))
		}
	}
	return path + g.length[i]
}

func (g tasks) jobs() (jobs []*entity.Job) {
	for i, length := range g.length {
		j := &entity.Job{ID: int64(i), Runtime: length, Request: entity.Request{Nodes: 1, Length: length}, Extra: rank(g.pathTo(i))}
		for _, before := range g.after[i] {
			j.After = append(j.After, entity.Dependency{Job: int64(before), OK: true})
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// optimum is the least makespan on so many processors: by all orders of the tasks, each as
// early as it can be on any processor behind those that were placed before it.
func (g tasks) optimum(processors int) des.Time {
	finish, free := make([]des.Time, len(g.length)), make([]des.Time, processors)
	best := des.Forever
	var place func(placed int, makespan des.Time)
	place = func(placed int, makespan des.Time) {
		if placed == len(finish) || makespan >= best {
			best = min(best, makespan)
			return
		}
		for i, length := range g.length {
			ready, from := finish[i] == 0, des.Time(0)
			for _, before := range g.after[i] {
				ready, from = ready && finish[before] > 0, max(from, finish[before])
			}
			for k, at := range free {
				if ready {
					finish[i] = max(from, at) + length
					free[k] = finish[i]
					place(placed+1, max(makespan, finish[i]))
					finish[i], free[k] = 0, at
				}
			}
		}
	}
	place(0, 0)
	return best
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
		g, m := drawTasks(t, 6), rapid.IntRange(1, 3).Draw(t, "processors")
		least := g.optimum(m)
		path, work := des.Time(0), des.Time(0)
		for i, length := range g.length {
			path, work = max(path, g.pathTo(i)), work+length
		}
		for _, by := range []entity.Policy{backfill.ListScheduling{}, backfill.ListScheduling{Order: entity.Submission}, backfill.FCFS{}, backfill.FCFS{Order: backfill.HighestRank}, backfill.EASY{}} {
			for _, named := range []bool{false, true} {
				var on entity.Plan = plan.NewCluster(m)
				if named {
					c, err := policy.NodeRegistry().Parse("heft")
					require.NoError(t, err)
					on, err = plan.NewDomain(nodes(slices.Repeat([]float64{1}, m)...), c.Value.Finder)
					require.NoError(t, err)
				}
				makespan := simulate(t, on, by, g.jobs()).last
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
	w := simulate(t, plan.NewCluster(3), backfill.ListScheduling{}, []*entity.Job{blocker, job})
	require.Equal(t, map[int64]des.Time{1: 0, 2: 10}, w.start)
	require.Equal(t, des.Time(15), w.last)
}

func TestTheOrderOfTheQueueIsTheUpwardRank(t *testing.T) {
	job := func(id int64, extra any) *entity.Job {
		return &entity.Job{ID: id, Runtime: 5, Request: entity.Request{Nodes: 1, Length: 5}, Extra: extra}
	}
	w := simulate(t, plan.NewCluster(1), backfill.ListScheduling{}, []*entity.Job{job(1, rank(7)), job(2, nil), job(3, rank(9)), job(4, rank(6))})
	require.Equal(t, map[int64]des.Time{3: 0, 1: 5, 4: 10, 2: 15}, w.start, "one without a rank has its estimate for one")
}

func TestNoMoreThanDepthJobsAreLookedAt(t *testing.T) {
	job := func(id int64, n int, seconds des.Time) *entity.Job {
		return &entity.Job{ID: id, Runtime: seconds, Request: entity.Request{Nodes: n, Length: seconds}}
	}
	jobs := func() []*entity.Job { return []*entity.Job{job(1, 2, 9), job(2, 3, 8), job(3, 1, 7)} }
	require.Equal(t, des.Time(0), simulate(t, plan.NewCluster(3), backfill.ListScheduling{}, jobs()).start[3])
	require.Equal(t, des.Time(17), simulate(t, plan.NewCluster(3), backfill.ListScheduling{Depth: 1}, jobs()).start[3])
	require.Equal(t, des.Time(0), simulate(t, plan.NewCluster(3), backfill.ListScheduling{Depth: 3}, jobs()).start[3])
}

func TestHEFTIsNamedByItsOrder(t *testing.T) {
	require.Equal(t, "heft", backfill.ListScheduling{}.Name())
	require.Equal(t, "heft", backfill.ListScheduling{Order: backfill.HighestRank}.Name())
	require.Equal(t, "heft-shortest", backfill.ListScheduling{Order: backfill.ShortestFirst}.Name())
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
	w := simulate(t, later{plan.NewCluster(2)}, backfill.ListScheduling{}, jobs)
	require.Equal(t, map[int64]des.Time{1: 10, 2: 25}, w.start)
}
