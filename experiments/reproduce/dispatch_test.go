package reproduce

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/workload/vo"
)

// script is a finder that gives one window after the other, whatever is asked for.
type script struct {
	windows []entity.Window
	shown   []plan.SlotList
	until   []des.Time
}

func (*script) Name() string { return "script" }

func (s *script) Find(_ context.Context, _ entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	s.until = append(s.until, until)
	list.Slots = append([]entity.Slot(nil), list.Slots...)
	s.shown = append(s.shown, list)
	w := s.windows[len(s.shown)-1]
	return plan.Found{Window: w, OK: w.Nodes > 0}, nil
}

func seconds(from, to des.Time) vo.Span {
	return vo.Span{Start: from * des.Second, End: to * des.Second}
}

// instance has an owner's tasks on each of some nodes, until 100.
func instance(tasks ...[]vo.Span) *vo.Instance {
	in := &vo.Instance{End: 100 * des.Second, Tasks: tasks}
	for i := range tasks {
		in.Nodes = append(in.Nodes, &entity.Node{ID: i + 1, Perf: 1, Price: float64(i + 1)})
	}
	return in
}

func windowOn(start, end des.Time, nodes ...*entity.Node) entity.Window {
	w := entity.Window{Start: start * des.Second, End: end * des.Second, Nodes: len(nodes)}
	for _, n := range nodes {
		w.Tasks = append(w.Tasks, entity.Task{Node: n, End: w.End})
	}
	return w
}

// dispatch has jobs come at these seconds and be given these windows; overrun says
// by how many seconds the tasks of a stream take longer, one after the other.
func dispatch(t require.TestingT, in *vo.Instance, submits []des.Time, windows []entity.Window, overrun func(name string, key uint64) des.Time) (*dispatcher, *script) {
	s := &script{windows: windows}
	d := &dispatcher{
		search: search{Name: "script", Search: finder{s}},
		until:  func(des.Time) des.Time { return in.End },
		longer: func(name string, keys ...uint64) func(des.Time) des.Time {
			return func(planned des.Time) des.Time { return planned + overrun(name, keys[0])*des.Second }
		},
	}
	var jobs []*entity.Job
	for i, at := range submits {
		w := windows[i]
		jobs = append(jobs, &entity.Job{ID: int64(i), Submit: at * des.Second, Runtime: max(w.Length(), 1),
			Request: entity.Request{Nodes: max(w.Nodes, 1), Length: max(w.Length(), 1)}})
	}
	require.NoError(t, d.run(context.Background(), in, jobs))
	return d, s
}

func none(string, uint64) des.Time { return 0 }

// firstOwner has tasks on the first node take so much longer.
func firstOwner(by des.Time) func(string, uint64) des.Time {
	return func(name string, key uint64) des.Time {
		if name == "dependability.owner" && key == 0 {
			return by
		}
		return 0
	}
}

func TestAnOverrunDelaysTheWholeWindowBehindIt(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10)}, []vo.Span{seconds(0, 10)})
	d, _ := dispatch(t, in, []des.Time{0}, []entity.Window{windowOn(12, 22, in.Nodes...)}, firstOwner(8))
	require.Equal(t, 18*des.Second, d.jobs[0].start)
	require.Equal(t, 28*des.Second, d.jobs[0].finish())
	require.Equal(t, 28*des.Second, d.jobs[0].run.Finish)
}

func TestAWindowThatIsNotInTheWayStartsOnTime(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10)}, []vo.Span{seconds(0, 10)})
	d, _ := dispatch(t, in, []des.Time{0}, []entity.Window{windowOn(18, 28, in.Nodes...)}, firstOwner(8))
	require.Equal(t, 18*des.Second, d.jobs[0].start)
}

func TestOverrunsAreKnownOnlyOnceTheyShow(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10)}, []vo.Span{seconds(0, 10)})
	for now, free := range map[des.Time]des.Time{5: 10, 13: 13, 17: 17, 18: 18, 30: 30} {
		_, s := dispatch(t, in, []des.Time{now}, make([]entity.Window, 1), firstOwner(8))
		require.Equal(t, now*des.Second, s.shown[0].From)
		for _, slot := range s.shown[0].Slots {
			if slot.Node.ID == 1 {
				require.Equal(t, free*des.Second, slot.Start, "at %d", now)
			}
		}
	}
}

func TestAPlannedWindowIsKnownToBeLate(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10)}, nil)
	windows := []entity.Window{windowOn(10, 20, in.Nodes...), {}}
	_, s := dispatch(t, in, []des.Time{0, 15}, windows, firstOwner(8))
	require.Equal(t, [][3]des.Time{{2, 0, 100}, {1, 10, 100}}, shown(s.shown[0]))
	require.Equal(t, [][3]des.Time{{1, 25, 100}, {2, 25, 100}}, shown(s.shown[1]), "the window is expected at 15")
}

func shown(list plan.SlotList) (slots [][3]des.Time) {
	for _, s := range list.Slots {
		slots = append(slots, [3]des.Time{des.Time(s.Node.ID), s.Start / des.Second, s.End / des.Second})
	}
	return slots
}

func TestWhatIsFreeIsWhatNobodyHas(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10)}, []vo.Span{seconds(0, 10)})
	_, s := dispatch(t, in, []des.Time{0, 5}, []entity.Window{windowOn(20, 30, in.Nodes[0]), {}}, none)
	require.Equal(t, [][3]des.Time{{1, 10, 20}, {2, 10, 100}, {1, 30, 100}}, shown(s.shown[1]))
}

// One node's order is A, J, K; J waits for B on another node, and K for J.
func TestTheOrderOnANodeStays(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10)}, []vo.Span{seconds(0, 10)})
	windows := []entity.Window{windowOn(10, 20, in.Nodes...), windowOn(20, 30, in.Nodes[1])}
	d, _ := dispatch(t, in, []des.Time{0, 1}, windows, firstOwner(25))
	require.Equal(t, 35*des.Second, d.jobs[0].start)
	require.Equal(t, 45*des.Second, d.jobs[1].start, "though its node was idle from 10 on")
}

// A job that comes later may have a window in front of one that was there before.
func TestALaterJobMayGoInFront(t *testing.T) {
	in := instance(nil)
	windows := []entity.Window{windowOn(40, 50, in.Nodes...), windowOn(5, 20, in.Nodes...)}
	d, _ := dispatch(t, in, []des.Time{0, 1}, windows, func(string, uint64) des.Time { return 30 })
	require.Equal(t, 5*des.Second, d.jobs[1].start)
	require.Equal(t, 50*des.Second, d.jobs[0].start)
}

// J is expected at 46, behind L at 42, when K comes, and was planned before it.
func TestAWindowGoesBehindThoseThatAreExpectedBeforeIt(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10), seconds(12, 40)}, nil)
	windows := []entity.Window{windowOn(40, 50, in.Nodes[0]), windowOn(42, 44, in.Nodes[1]), windowOn(45, 55, in.Nodes[1])}
	first := true
	d, s := dispatch(t, in, []des.Time{0, 0, 18}, windows, func(name string, _ uint64) des.Time {
		if name == "dependability.owner" && first {
			first = false
			return 10
		}
		return 0
	})
	require.Equal(t, [][3]des.Time{{2, 18, 42}, {2, 44, 100}, {1, 56, 100}}, shown(s.shown[2]))
	require.Equal(t, 42*des.Second, d.jobs[1].start)
	require.Equal(t, 45*des.Second, d.jobs[2].start)
}

func TestWindowsAreLookedForOnlyInTheInterval(t *testing.T) {
	in := instance([]vo.Span{seconds(0, 10)}, []vo.Span{seconds(40, 60)}, []vo.Span{seconds(20, 30)})
	s := &script{windows: make([]entity.Window, 1)}
	d := &dispatcher{
		search: search{Name: "soon", Search: finder{s}, Soon: true}, soon: 20 * des.Second,
		until:  func(now des.Time) des.Time { return now + 35*des.Second },
		longer: func(string, ...uint64) func(des.Time) des.Time { return func(t des.Time) des.Time { return t } },
	}
	job := &entity.Job{Submit: 5 * des.Second, Runtime: 1, Request: entity.Request{Nodes: 3, Length: 2 * des.Second}}
	require.NoError(t, d.run(context.Background(), in, []*entity.Job{job}))
	require.Equal(t, [][3]des.Time{{2, 5, 40}, {3, 5, 20}, {1, 10, 40}, {3, 30, 40}}, shown(s.shown[0]))
	require.Equal(t, 30*des.Second, s.until[0], "20 after the first fit at 10")

	d.Soon, s.windows = false, make([]entity.Window, 2)
	require.NoError(t, d.run(context.Background(), in, []*entity.Job{job}))
	require.Equal(t, 40*des.Second, s.until[1])
}

func TestAJobWithoutAWindowIsTurnedAway(t *testing.T) {
	in := instance(nil)
	d, _ := dispatch(t, in, []des.Time{3}, make([]entity.Window, 1), none)
	require.Empty(t, d.jobs)
}

// On each node one follows the other, and everybody starts at the first instant at
// which it is due and the last of its nodes is free.
func TestNobodyStartsEarlyOrWaitsForNothing(t *testing.T) {
	late := 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64Range(0, 1000).Draw(t, "seed")
		e := read[streamOfJobs](t, "dependability")
		e.Environment.Nodes.Count = rapid.IntRange(7, 20).Draw(t, "nodes")
		p := e.Searches[rapid.IntRange(0, len(e.Searches)-1).Draw(t, "search")]
		in, err := e.Environment.Generate(seed, 0)
		require.NoError(t, err)
		d := &dispatcher{
			search: p, soon: des.Time(e.Soon) * des.Second, until: func(des.Time) des.Time { return in.End },
			longer: func(name string, keys ...uint64) func(des.Time) des.Time {
				return overruns(des.NewStream(seed, 0, name, keys...), 0.5, e.Excess)
			},
		}
		require.NoError(t, d.run(context.Background(), in, e.jobs(des.NewStream(seed, 0, "jobs"), in.End)))
		all := append(append([]*activity(nil), d.owners...), d.jobs...)
		for _, a := range all {
			require.Equal(t, entity.Finished, a.run.State)
			require.Equal(t, a.finish(), a.run.Finish)
			first := max(a.planned, a.run.Submit)
			for _, b := range all {
				for _, p := range a.parts {
					for _, q := range b.parts {
						if p.node != q.node || b == a || b.start > a.start {
							continue
						}
						require.LessOrEqual(t, b.start+q.real, a.start)
						first = max(first, b.start+q.real)
					}
				}
			}
			require.Equal(t, first, a.start)
			if a.delay() > 0 {
				late++
			}
		}
	})
	require.Positive(t, late)
}
