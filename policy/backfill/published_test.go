package backfill_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// published is EASY as simulators write it, with a shadow time and a number of extra
// processors instead of a hold, and with the settings of published ones.
func (d *definition) published(p backfill.PublishedEASY) func(des.Time) {
	var chosen *entity.Run
	return func(now des.Time) {
	decision:
		for {
			seen := d.sorted(p.Order, now)
			inSight := func(j *entity.Run) bool {
				return p.Window == 0 || slices.Index(d.waiting, j) < p.Window
			}
			seen = slices.DeleteFunc(seen, func(j *entity.Run) bool { return !inSight(j) })
			if len(seen) == 0 {
				return
			}
			head := seen[0]
			if p.Sticky && chosen != nil {
				head = chosen
			}
			if chosen = head; head.Request.Nodes <= d.free(now, d.running) {
				chosen = nil
				d.start(taken{head, rigid(head), now, now + head.Request.Length})
				continue
			}
			if p.NoBackfilling {
				return
			}
			shadow := now
			for d.free(shadow, d.running) < head.Request.Nodes {
				shadow++
			}
			extra := d.free(shadow, d.running) - head.Request.Nodes
			if p.FirstSpare {
				extra = d.firstSpare(now, head.Request.Nodes)
			}
			order := p.Candidates
			if order.Key == nil {
				order = p.Order
			}
			candidates := slices.DeleteFunc(d.sorted(order, now), func(j *entity.Run) bool { return !inSight(j) })
			if p.Depth > 0 {
				candidates = candidates[:min(p.Depth, len(candidates))]
			}
			for _, j := range candidates {
				end := now + j.Request.Length
				if j == head || j.Request.Nodes > d.free(now, d.running) {
					continue
				}
				spare := !p.NoSpare && j.Request.Nodes <= extra
				if before := end < shadow || (end == shadow && !p.StrictShadow); !before && !spare {
					continue
				}
				if end > shadow {
					extra -= j.Request.Nodes
				}
				d.start(taken{j, rigid(j), now, end})
				if p.Window > 0 {
					continue decision
				}
			}
			return
		}
	}
}

// firstSpare is what is free beside a job of so many nodes when the first of the running
// jobs has ended after which it fits, of equal ends that which started first.
func (d *definition) firstSpare(now des.Time, nodes int) int {
	free := d.free(now, d.running)
	ends := slices.Clone(d.running)
	slices.SortStableFunc(ends, func(a, b taken) int { return cmp.Compare(a.to, b.to) })
	for _, r := range ends {
		if r.to > now && free < nodes {
			free += r.shape.Nodes
		}
	}
	return free - nodes
}

func rigid(j *entity.Run) entity.Shape {
	return entity.Shape{Nodes: j.Request.Nodes, Length: j.Request.Length, Runtime: j.Runtime}
}

// drawPublished draws EASY, or FCFS, with the settings of published simulators.
func drawPublished(t *rapid.T) backfill.PublishedEASY {
	orders := backfill.Orders()
	p := backfill.PublishedEASY{
		EASY: backfill.EASY{
			Order: rapid.SampledFrom(orders).Draw(t, "order"),
			Depth: rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "depth"),
		},
		Sticky:        rapid.Bool().Draw(t, "sticky"),
		NoSpare:       rapid.Bool().Draw(t, "no spare"),
		FirstSpare:    rapid.Bool().Draw(t, "first spare"),
		StrictShadow:  rapid.Bool().Draw(t, "strict shadow"),
		Window:        rapid.SampledFrom([]int{0, 0, 1, 2, 3, 5}).Draw(t, "window"),
		NoBackfilling: rapid.IntRange(0, 3).Draw(t, "backfills") == 0,
	}
	p.NoSpare = p.NoSpare && !p.FirstSpare
	if rapid.Bool().Draw(t, "candidates") {
		p.Candidates = rapid.SampledFrom(orders).Draw(t, "candidate order")
	}
	return p
}

func TestSettingsOfPublishedSimulatorsMeetTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 12).Draw(t, "procs")
		jobs := drawJobs(t, procs)
		d := &definition{procs: procs}
		for i, j := range jobs {
			j.Shapes = nil
			d.jobs = append(d.jobs, entity.NewRun(j, int64(i)))
		}
		policy := drawPublished(t)
		perEvent := rapid.Bool().Draw(t, "per event")
		want := d.run(perEvent, d.published(policy))

		got := became{}
		observers := []entity.Observer{got}
		if rapid.Bool().Draw(t, "explained") {
			observers = append(observers, reasons{})
		}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(procs), policy, observers...)
		if perEvent {
			m.Pass = entity.PassEvent
		}
		m.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		for i, j := range jobs {
			require.Equal(t, entity.Finished, got[j].State, "%v", j)
			require.Equal(t, want[d.jobs[i]], got[j].Start, "%v under %s", j, policy.Name())
		}
	})
}

// smallest is EASY whose queue has the smallest jobs first.
var smallest = backfill.EASY{Order: backfill.SmallestFirst}

// reasons is who listens why jobs wait.
type reasons map[string]int

func (reasons) Observe(entity.JobEvent) {}

func (s reasons) ObserveWhy(_ des.Time, _ *entity.Run, w entity.Why) { s[w.Text]++ }

// five is a machine of 4 on which a job of 3 runs until 100, and the head of the queue
// needs all from then on.
func five(t *testing.T, policy entity.Policy, submitted ...*entity.Job) map[int64]des.Time {
	t.Helper()
	jobs := append([]*entity.Job{short(1, 0, 100, 3), short(2, 1, 10, 4)}, submitted...)
	got, said := became{}, reasons{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), policy, got, said)
	m.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	starts := map[int64]des.Time{}
	for _, j := range jobs {
		starts[j.ID] = got[j].Start
	}
	return starts
}

func short(id, submit, length des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: int64(id), Submit: submit, Runtime: length, Request: entity.Request{Nodes: nodes, Length: length}}
}

func TestAHeadThatStaysOneIsNotOvertaken(t *testing.T) {
	small := short(3, 50, 40, 2)
	plain := five(t, backfill.FCFS{Order: backfill.SmallestFirst}, small, short(4, 60, 10, 1))
	require.EqualValues(t, 60, plain[4], "the smallest is the head, and starts")
	sticky := five(t, backfill.PublishedEASY{EASY: smallest, NoBackfilling: true, Sticky: true}, small, short(4, 60, 10, 1))
	require.EqualValues(t, 100, sticky[2])
	require.EqualValues(t, 110, sticky[4])
}

func TestACandidateThatEndsAtTheShadowTimeIsHeldToAStrictOne(t *testing.T) {
	at, before := short(3, 50, 50, 1), short(4, 51, 48, 1)
	require.EqualValues(t, 50, five(t, backfill.EASY{}, at, before)[3])
	strict := five(t, backfill.PublishedEASY{StrictShadow: true}, at, before)
	require.EqualValues(t, 51, strict[4])
	require.EqualValues(t, 110, strict[3])
}

func TestOnlyTheOldestJobsAreSeen(t *testing.T) {
	long, little := short(3, 2, 500, 1), short(4, 3, 5, 1)
	require.EqualValues(t, 3, five(t, backfill.EASY{}, long, little)[4])
	require.EqualValues(t, 110, five(t, backfill.PublishedEASY{Window: 2}, long, little)[4], "the head and a long job stand before it")
	require.EqualValues(t, 3, five(t, backfill.PublishedEASY{Window: 3}, long, little)[4])
}

func TestSpareProcessorsAreUsedOnlyWhereTheyMayBe(t *testing.T) {
	for noSpare, start := range map[bool]des.Time{false: 2, true: 100} {
		jobs := []*entity.Job{short(1, 0, 100, 3), short(2, 1, 10, 2), short(3, 2, 500, 1)}
		requireLastStarts(t, start, backfill.PublishedEASY{NoSpare: noSpare}, jobs)
	}
}

func TestOfEqualEndsOnlyTheFirstCountAsSpare(t *testing.T) {
	for first, start := range map[bool]des.Time{false: 20, true: 100} {
		jobs := []*entity.Job{short(1, 0, 100, 2), short(2, 0, 100, 1), short(3, 0, 20, 1), short(4, 1, 10, 3), short(5, 2, 500, 1)}
		requireLastStarts(t, start, backfill.PublishedEASY{FirstSpare: first}, jobs)
	}
}

// requireLastStarts has the last but one of the jobs, the head, start at 100 on four
// processors, and the last at so much.
func requireLastStarts(t *testing.T, start des.Time, p entity.Policy, jobs []*entity.Job) {
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), p, got)
	m.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 100, got[jobs[len(jobs)-2]].Start)
	require.Equal(t, start, got[jobs[len(jobs)-1]].Start)
}

func TestAPolicyOfPublishedSettingsSaysThemInItsName(t *testing.T) {
	p := backfill.PublishedEASY{EASY: backfill.EASY{Order: backfill.F1}, Sticky: true, Window: 32, NoSpare: true, StrictShadow: true}
	require.Equal(t, "easy-f1-sticky-window-32-no-spare-strict-shadow", p.Name())
	require.Equal(t, "fcfs-sticky-window-8", backfill.PublishedEASY{NoBackfilling: true, Sticky: true, Window: 8}.Name())
}

func TestHabitsAreOfASingleReservation(t *testing.T) {
	for _, p := range []backfill.PublishedEASY{
		{NoSpare: true, EASY: backfill.EASY{Reservations: 2}},
		{FirstSpare: true, EASY: backfill.EASY{Reservations: 3}},
		{StrictShadow: true, EASY: backfill.EASY{Reservations: backfill.NoReservation}},
		{Window: 2, EASY: backfill.EASY{Reservations: backfill.AllReservations}},
		{NoSpare: true, FirstSpare: true},
	} {
		refused := p.Check()
		require.Error(t, refused)
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(4), p)
		m.SubmitAll(slices.Values([]*entity.Job{short(1, 0, 1, 1)}))
		require.ErrorContains(t, sim.Run(context.Background()), refused.Error())
	}
}

func TestAWindowNeedsTheWholeQueue(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), delegating{backfill.PublishedEASY{NoBackfilling: true, Window: 2}})
	m.SubmitAll(slices.Values([]*entity.Job{short(1, 0, 1, 1)}))
	require.ErrorContains(t, sim.Run(context.Background()), "a part that another policy delegates")
}

// delegating leaves all that is new to another policy.
type delegating struct{ entity.Policy }

func (d delegating) Schedule(r *entity.Round) {
	part := r.Queue.Part()
	for _, j := range r.Fresh() {
		part.Take(j)
	}
	r.Delegate(d.Policy, part, r.Fresh())
}

// A job that an outage sends back to the queue is older than those in sight.
func TestAJobThatComesBackIsSeenBeforeYoungerOnes(t *testing.T) {
	old, next, last := short(1, 0, 10, 4), short(2, 1, 10, 4), short(3, 2, 10, 4)
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.PublishedEASY{EASY: backfill.EASY{Order: backfill.LongestFirst}, NoBackfilling: true, Window: 1}, got)
	m.SubmitAll(slices.Values([]*entity.Job{old, next, last}))
	sim.After(5, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { m.Preempt(got[old], 0) }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 5, got[old].Start)
	require.EqualValues(t, 15, got[next].Start)
	require.EqualValues(t, 25, got[last].Start)
}

func TestReasonsNameTheSettingThatHoldsAJob(t *testing.T) {
	for want, p := range map[string]backfill.PublishedEASY{
		"spare processors are not used":                 {NoSpare: true},
		"and not before it":                             {StrictShadow: true},
		"not among the 1 jobs that have waited longest": {Window: 1},
	} {
		jobs := []*entity.Job{short(1, 0, 100, 3), short(2, 1, 10, 4), short(3, 2, 98, 1)}
		if p.NoSpare {
			jobs[1].Request.Nodes, jobs[2].Request.Length = 2, 500
		}
		said := reasons{}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(4), p, became{}, said)
		m.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		require.True(t, slices.ContainsFunc(keys(said), func(s string) bool { return strings.Contains(s, want) }), "%v", said)
	}
}

func keys(m reasons) (list []string) {
	for s := range m {
		list = append(list, s)
	}
	return list
}

func TestAHeadThatHasStartedIsChosenAnew(t *testing.T) {
	blocker, wide, small := short(1, 0, 10, 3), short(2, 1, 50, 4), short(3, 20, 5, 1)
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.PublishedEASY{EASY: smallest, NoBackfilling: true, Sticky: true}, got)
	m.SubmitAll(slices.Values([]*entity.Job{blocker, wide, small}))
	sim.After(30, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { m.Preempt(got[wide], 0) }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 30, got[small].Start, "the wide one was the head once, and began")
	require.EqualValues(t, 35, got[wide].Start)
}

func TestTheWindowIsLookedThroughAgainWithNothingHeld(t *testing.T) {
	jobs := []*entity.Job{short(1, 0, 100, 3), short(2, 1, 10, 3), short(3, 2, 500, 1), short(4, 2, 500, 1)}
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(5), backfill.PublishedEASY{Window: 3}, got)
	m.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 100, got[jobs[1]].Start)
	require.EqualValues(t, 2, got[jobs[2]].Start)
	require.EqualValues(t, 2, got[jobs[3]].Start)
}

func TestAHeadThatStaysOneIsNotLostWhenTheWorldChanges(t *testing.T) {
	jobs := []*entity.Job{short(1, 0, 100, 3), short(2, 1, 10, 4), short(3, 50, 5, 2), short(4, 55, 5, 1)}
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.PublishedEASY{EASY: smallest, NoBackfilling: true, Sticky: true, Window: 4}, got)
	m.SubmitAll(slices.Values(jobs))
	sim.After(60, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { m.Changed(1, 0) }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 100, got[jobs[1]].Start)
	require.EqualValues(t, 110, got[jobs[3]].Start)
}

func TestAJobThatComesIntoSightIsTriedBeforeThoseBehindIt(t *testing.T) {
	jobs := []*entity.Job{short(1, 0, 100, 3), short(2, 1, 10, 4), short(3, 1, 20, 1), short(4, 1, 50, 1), short(5, 1, 5, 1), short(6, 2, 1, 1)}
	jobs[2].Request.Nodes, jobs[2].Runtime, jobs[2].Request.Length = 1, 4, 4
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(5), backfill.PublishedEASY{Window: 3, EASY: backfill.EASY{Candidates: backfill.ShortestFirst}}, got)
	m.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 1, got[jobs[2]].Start)
	require.EqualValues(t, 1, got[jobs[4]].Start, "shorter than the one before it, and in sight as soon as that one has started")
	require.Greater(t, got[jobs[3]].Start, des.Time(1))
}
