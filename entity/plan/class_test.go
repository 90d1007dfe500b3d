package plan_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Classes of equal nodes, held against a model that counts by ticks.

func nobody(*entity.Run) bool { return false }

// inTheWay lists who has n within [from, to), where jobs yield and owners do not.
func inTheWay(d *plan.Domain, n *entity.Node, from, to des.Time) []*entity.Run {
	k, _ := d.Number(n)
	return d.InTheWay(entity.NodeAt(k), from, to, func(r *entity.Run) bool { return r.ID >= 0 })
}

// use is one task of a reservation, or an owner's job, in the model.
type use struct {
	job        *entity.Run // nil: the owner's
	task       int
	start, end des.Time
	node       *entity.Node // the owner's, or where the job has started
	over       bool         // given back
}

// census is the model of a domain with equal nodes: who takes what, and nothing
// about which node of a class that is before a job starts.
type census struct {
	t     *rapid.T
	nodes []*entity.Node
	now   des.Time
	uses  []*use
	begun map[*entity.Run]bool
}

// on is the node that a use names at present.
func (c *census) on(u *use) *entity.Node {
	if u.job == nil {
		return u.node
	}
	return u.job.Reservation.Window.Tasks[u.task].Node
}

func (c *census) pinned(n *entity.Node) bool {
	return slices.ContainsFunc(c.uses, func(u *use) bool { return u.job == nil && u.node == n && u.end > c.now })
}

func equalNodes(a, b *entity.Node) bool { return a.Perf == b.Perf && a.Price == b.Price }

// class is the nodes that are counted together with n; nil where n is kept by
// name.
func (c *census) class(n *entity.Node) (members []*entity.Node) {
	if c.pinned(n) {
		return nil
	}
	for _, other := range c.nodes {
		if equalNodes(n, other) && !c.pinned(other) {
			members = append(members, other)
		}
	}
	if len(members) < 2 {
		return nil
	}
	return members
}

// taken counts what names one of the nodes at an instant, but for what without
// holds.
func (c *census) taken(nodes []*entity.Node, at des.Time, without *entity.Run) (n int) {
	for _, u := range c.uses {
		if !u.over && u.start <= at && at < u.end && slices.Contains(nodes, c.on(u)) && (u.job == nil || u.job != without) {
			n++
		}
	}
	return n
}

// free reports whether the slots on n show it free at an instant: a single is
// free where nothing names it, the k-th node of a class where k are.
func (c *census) free(n *entity.Node, at des.Time, without *entity.Run) bool {
	members := c.class(n)
	if members == nil {
		members = []*entity.Node{n}
	}
	left := len(members) - c.taken(members, at, without)
	require.GreaterOrEqual(c.t, left, 0, "at %d more is taken of node %d and its like than there is", at, n.ID)
	return left > slices.Index(members, n)
}

func (c *census) slots(from, to des.Time, without *entity.Run) (list []entity.Slot) {
	for _, n := range c.nodes {
		open := -1
		for at := from; at < to; at++ {
			switch free := c.free(n, at, without); {
			case free && open < 0:
				open = len(list)
				list = append(list, entity.Slot{Node: n, Width: 1, Start: at, End: to})
			case !free && open >= 0:
				list[open].End = at
				open = -1
			}
		}
	}
	slices.SortStableFunc(list, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// possible reports whether a window can be reserved beside what is taken.
func (c *census) possible(w entity.Window, without *entity.Run) bool {
	for at := w.Start; at < w.End; at++ {
		for i, t := range w.Tasks {
			if slices.ContainsFunc(w.Tasks[:i], func(o entity.Task) bool { return o.Node == t.Node }) {
				return false
			}
			members := c.class(t.Node)
			if members == nil {
				members = []*entity.Node{t.Node}
			}
			want := 0
			for _, o := range w.Tasks {
				if at < o.End && slices.Contains(members, o.Node) {
					want++
				}
			}
			if want > len(members)-c.taken(members, at, without) {
				return false
			}
		}
	}
	return true
}

// inTheWay is how many jobs, at least, have n within [from, to) by any way to
// share out the reservations of its class that have not begun; owned reports
// whether its owner has it then.
func (c *census) inTheWay(n *entity.Node, from, to des.Time) (least int, owned bool) {
	members := c.class(n)
	if members == nil {
		members = []*entity.Node{n}
	}
	type piece struct{ from, to des.Time }
	given := make([][]piece, len(members))
	meets := func(p piece, from, to des.Time) bool { return p.from < to && from < p.to }
	var open []piece
	for _, u := range c.uses {
		k := slices.Index(members, c.on(u))
		p := piece{max(u.start, c.now), u.end}
		switch {
		case k < 0 || u.over || p.from >= p.to:
		case len(members) > 1 && !c.begun[u.job]:
			open = append(open, p)
		default:
			given[k] = append(given[k], p)
			owned = owned || (u.job == nil && meets(p, from, to))
		}
	}
	least = len(c.uses) + 1
	own := slices.Index(members, n)
	var share func(i int)
	share = func(i int) {
		if i == len(open) {
			count := 0
			for _, p := range given[own] {
				if meets(p, from, to) {
					count++
				}
			}
			least = min(least, count)
			return
		}
		for k := range given {
			if !slices.ContainsFunc(given[k], func(o piece) bool { return meets(o, open[i].from, open[i].to) }) {
				given[k] = append(given[k], open[i])
				share(i + 1)
				given[k] = given[k][:len(given[k])-1]
			}
		}
	}
	share(0)
	return least, owned
}

// check holds every reservation against what was promised: its times are as
// reserved, its nodes as fast, and a job that has started stays where it is,
// alone.
func (c *census) check() {
	for i, u := range c.uses {
		if u.job == nil || u.over {
			continue
		}
		w := u.job.Reservation.Window
		require.Equal(c.t, u.start, w.Start)
		require.Equal(c.t, u.end, w.Tasks[u.task].End)
		require.Equal(c.t, u.node.Perf, w.Tasks[u.task].Node.Perf)
		if !c.begun[u.job] {
			continue
		}
		require.Equal(c.t, u.node, w.Tasks[u.task].Node, "%v has started", u.job)
		for _, o := range c.uses[:i] {
			if !o.over && o.node == u.node && (o.job == nil || c.begun[o.job]) {
				require.False(c.t, u.start < o.end && o.start < u.end, "node %d is taken twice", u.node.ID)
			}
		}
	}
}

func TestClassesAgreeWithACensus(t *testing.T) {
	const ticks = 24
	rapid.Check(t, func(t *rapid.T) {
		perfs := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 1, 1, 2}), 2, 6).Draw(t, "performances")
		c := &census{t: t, nodes: nodes(perfs...), begun: map[*entity.Run]bool{}}
		all := c.nodes
		d := domain(t, all)
		finder := cheapest{Least: rapid.Bool().Draw(t, "least")}
		d.Finder, d.Horizon = finder, ticks
		settles := rapid.IntRange(0, 3).Draw(t, "jobs start") > 0
		var live []*entity.Run

		instant := func(from, to des.Time, name string) des.Time {
			return des.Time(rapid.Int64Range(int64(from), int64(to)).Draw(t, name))
		}
		node := func() *entity.Node { return rapid.SampledFrom(all).Draw(t, "node") }
		some := func() entity.Window {
			w := entity.Window{Start: instant(c.now, ticks-1, "start")}
			end := instant(w.Start+1, ticks, "end")
			for _, k := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 1, len(all)).Draw(t, "nodes") {
				if rapid.IntRange(0, 3).Draw(t, "an end of its own") == 0 {
					end = instant(w.Start+1, ticks, "end")
				}
				w.Tasks = append(w.Tasks, entity.Task{Node: all[k], End: end})
				w.End = max(w.End, end)
			}
			w.Nodes = len(w.Tasks)
			return w
		}
		record := func(j *entity.Run) {
			w := j.Reservation.Window
			for i, task := range w.Tasks {
				c.uses = append(c.uses, &use{job: j, task: i, start: w.Start, end: task.End, node: task.Node})
			}
		}
		drop := func(j *entity.Run) {
			c.uses = slices.DeleteFunc(c.uses, func(u *use) bool { return u.job == j })
		}
		pick := func(ahead bool) *entity.Run {
			var list []*entity.Run
			for _, j := range live {
				whole := !slices.ContainsFunc(c.uses, func(u *use) bool { return u.job == j && u.over })
				if !ahead || (j.Reservation.Window.Start > c.now && whole) {
					list = append(list, j)
				}
			}
			if len(list) == 0 {
				return nil
			}
			return list[rapid.IntRange(0, len(list)-1).Draw(t, "job")]
		}
		over := func(j *entity.Run) {
			live = slices.DeleteFunc(live, func(l *entity.Run) bool { return l == j })
			drop(j)
		}
		settle := func() {
			for _, j := range live {
				if settles && j.Reservation.Window.Start == c.now && !c.begun[j] {
					d.Settle(&j.Reservation)
					c.begun[j] = true
					for _, u := range c.uses {
						if u.job == j {
							u.node = c.on(u)
						}
					}
				}
			}
		}
		// next is when the first job starts that has not.
		next := func() des.Time {
			at := des.Time(ticks - 2)
			for _, j := range live {
				if s := j.Reservation.Window.Start; settles && s > c.now {
					at = min(at, s)
				}
			}
			return at
		}

		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(*rapid.T) {
				w := some()
				possible := c.possible(w, nil)
				j := entity.NewRun(&entity.Job{ID: int64(len(c.uses))}, 0)
				_, err := d.Reserve(j, w)
				if !possible {
					var conflict *entity.ConflictError
					require.ErrorAs(t, err, &conflict)
					return
				}
				require.NoError(t, err)
				live = append(live, j)
				record(j)
			},
			"move": func(*rapid.T) {
				j := pick(true)
				if j == nil {
					return
				}
				w := some()
				possible := c.possible(w, j)
				err := d.Move(&j.Reservation, w)
				require.Equal(t, possible, err == nil, "%v", err)
				drop(j)
				record(j)
			},
			"release": func(*rapid.T) {
				if j := pick(false); j != nil {
					d.Release(&j.Reservation, c.now)
					require.False(t, j.Reservation.Active)
					over(j)
				}
			},
			"release task": func(*rapid.T) {
				j := pick(false)
				if j == nil {
					return
				}
				var tasks []*use
				for _, u := range c.uses {
					if u.job == j && !u.over {
						tasks = append(tasks, u)
					}
				}
				u := tasks[rapid.IntRange(0, len(tasks)-1).Draw(t, "task")]
				d.ReleaseTask(&j.Reservation, u.task, c.now)
				u.over = true
				require.True(t, j.Reservation.Active)
				if len(tasks) == 1 {
					d.Release(&j.Reservation, c.now)
					over(j)
				}
			},
			"occupy": func(*rapid.T) {
				n, from := node(), instant(c.now, ticks-2, "from")
				to := instant(from+1, ticks-1, "to")
				least, _ := c.inTheWay(n, from, to)
				possible := least == 0
				err := d.Occupy(n, from, to)
				require.Equal(t, possible, err == nil, "%v", err)
				if possible {
					c.uses = append(c.uses, &use{start: from, end: to, node: n})
				}
			},
			"room": func(*rapid.T) {
				n, from, length := node(), instant(c.now, ticks, "from"), instant(1, 5, "length")
				want := from
				for least := 1; ; want++ {
					if least, _ = c.inTheWay(n, want, want+length); least == 0 {
						break
					}
				}
				require.Equal(t, want, d.Room(n, from, length, nobody))
			},
			"push aside": func(*rapid.T) {
				n, from := node(), instant(c.now, ticks-1, "from")
				to := instant(from+1, ticks, "to")
				if least, owned := c.inTheWay(n, from, to); !owned {
					require.Len(t, inTheWay(d, n, from, to), least)
					require.False(t, d.Forget(c.now)) // and n is counted again
				}
			},
			"reprice": func(*rapid.T) {
				require.NoError(t, d.Reprice(node(), rapid.SampledFrom([]float64{1, 2}).Draw(t, "price")))
			},
			"forget": func(*rapid.T) {
				settle()
				then, now := c.now, instant(c.now, min(c.now+4, next()), "now")
				gained := false
				for at := then + 1; at <= now; at++ {
					for _, n := range all {
						gained = gained || (c.free(n, at, nil) && !c.free(n, at-1, nil))
					}
				}
				require.Equal(t, gained, d.Forget(now))
				c.now = now
			},
			"settle": func(*rapid.T) { settle() },
			"find": func(*rapid.T) {
				req := entity.Request{Nodes: rapid.IntRange(1, len(all)).Draw(t, "n"), Length: instant(1, 10, "volume")}
				from := instant(c.now, ticks-1, "from")
				until := instant(from, ticks, "until")
				want, _ := finder.Find(context.Background(), req, plan.SlotList{From: from, To: ticks, Slots: c.slots(from, ticks, nil)}, until)
				got, ok := d.Find(req, from, until)
				require.Equal(t, want.OK, ok)
				require.Equal(t, want.Window, got)
				if ok {
					require.True(t, c.possible(got, nil))
				}
			},
			"find earlier": func(*rapid.T) {
				j := pick(true)
				if j == nil {
					return
				}
				j.Request = entity.Request{Nodes: rapid.IntRange(1, len(all)).Draw(t, "n"), Length: instant(1, 10, "volume")}
				until := instant(c.now, ticks, "until")
				list := plan.SlotList{From: c.now, To: ticks, Slots: c.slots(c.now, ticks, j)}
				require.Equal(t, list, d.SlotListWithout([]*entity.Reservation{&j.Reservation}))
				want, _ := finder.Find(context.Background(), j.Request, list, min(until, j.Reservation.Window.Start-1))
				got, ok := d.FindEarlier(&j.Reservation, c.now, until)
				require.Equal(t, want.OK, ok)
				require.Equal(t, want.Window, got)
			},
			"": func(*rapid.T) {
				c.check()
				from := instant(c.now, ticks-1, "from")
				want := c.slots(from, ticks, nil)
				if want == nil {
					want = []entity.Slot{}
				}
				require.Equal(t, want, append([]entity.Slot{}, slots(d, from, ticks)...))
				gain := des.Forever
				for _, u := range c.uses {
					if u.job == nil && u.end > c.now && c.free(u.node, u.end, nil) {
						gain = min(gain, u.end)
					}
				}
				require.Equal(t, gain, d.NextGain())
				require.NoError(t, d.Err())
			},
		})
	})
}

// fill reserves one node of the class of nodes [from, to), ahead.
func fill(t require.TestingT, d *plan.Domain, id int64, from, to des.Time, on ...*entity.Node) *entity.Run {
	j := entity.NewRun(&entity.Job{ID: id}, 0)
	_, err := d.Reserve(j, window(from, to, on...))
	require.NoError(t, err)
	return j
}

func TestWhatLiesAheadMakesRoomForAnOwner(t *testing.T) {
	all := nodes(1, 1, 1)
	d := domain(t, all)
	one, two := fill(t, d, 1, 5, 10, all[0]), fill(t, d, 2, 8, 12, all[0])
	require.NoError(t, d.Occupy(all[0], 6, 11))
	require.NotEqual(t, all[0], one.Reservation.Window.Tasks[0].Node)
	require.NotEqual(t, all[0], two.Reservation.Window.Tasks[0].Node)
	require.ErrorContains(t, d.Occupy(all[1], 9, 10), "however the nodes like node 1 are shared out")
	require.Equal(t, []entity.Slot{ // node 1 stands for one of two
		{Node: all[0], Width: 1, Start: 0, End: 6}, {Node: all[1], Width: 1, Start: 0, End: 8}, {Node: all[2], Width: 1, Start: 0, End: 5},
		{Node: all[1], Width: 1, Start: 10, End: 20},
		{Node: all[0], Width: 1, Start: 11, End: 20},
		{Node: all[2], Width: 1, Start: 12, End: 20},
	}, slots(d, 0, 20))
}

// Where both nodes are taken a leaving one must have a part of it, and it is the
// one that leaves the owner's time free:
//
//	short ####
//	long  #########
//	owner      ...
func TestANodeTakesAlongWhatIsNotInItsOwnersWay(t *testing.T) {
	for _, shortFirst := range []bool{true, false} {
		all := nodes(1, 1)
		d := domain(t, all)
		var short, long *entity.Run
		if shortFirst {
			short, long = fill(t, d, 1, 0, 4, all[0]), fill(t, d, 2, 0, 9, all[0])
		} else {
			long, short = fill(t, d, 2, 0, 9, all[0]), fill(t, d, 1, 0, 4, all[0])
		}
		require.Empty(t, inTheWay(d, all[0], 5, 8), "even if everybody yielded")
		d.Forget(0)
		require.NoError(t, d.Occupy(all[0], 5, 8))
		require.Equal(t, all[0], short.Reservation.Window.Tasks[0].Node)
		require.Equal(t, all[1], long.Reservation.Window.Tasks[0].Node)
	}
}

// As long as anything of its own lies ahead of a node, and no longer, it is told apart.
func TestANodeIsCountedWithItsEqualsAgainWhenWhatWasItsOwnIsGivenBack(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	on := func(n *entity.Node) entity.Window {
		return entity.Window{Start: 50, End: 60, Nodes: 1, Tasks: []entity.Task{{Node: n, End: 60}}}
	}
	first, second := entity.NewWithheld(), entity.NewWithheld()
	require.NoError(t, d.Withhold(first, entity.NodeAt(0), 10, 20))
	require.NoError(t, d.Withhold(second, entity.NodeAt(0), 30, 40))
	require.False(t, d.Same(on(all[0]), on(all[1])))
	d.Release(&second.Reservation, 0)
	d.Forget(1)
	require.False(t, d.Same(on(all[0]), on(all[1])), "[10, 20) is still its own")
	require.EqualValues(t, 20, d.NextGain())
	d.Release(&first.Reservation, 1)
	d.Forget(2)
	require.True(t, d.Same(on(all[0]), on(all[1])))
	require.Equal(t, des.Forever, d.NextGain())
}

func TestAnOwnerWhoIsRefusedChangesNothing(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	j := fill(t, d, 1, 0, 9, all[1])
	d.Settle(&j.Reservation)
	require.Equal(t, all[0], j.Reservation.Window.Tasks[0].Node, "the first that is free")
	before := slots(d, 0, 20)
	require.Error(t, d.Occupy(all[0], 2, 4))
	require.Equal(t, before, slots(d, 0, 20))
	require.NoError(t, d.Occupy(all[1], 2, 4))
}

func TestANodeIsCountedAgainWhenItsOwnerIsGone(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	require.NoError(t, d.Occupy(all[1], 2, 5))
	fill(t, d, 1, 6, 9, all[0])
	require.Equal(t, des.Time(5), d.NextGain())
	d.Forget(4)
	require.Error(t, d.Occupy(all[0], 6, 9), "it has node 0 by name")
	d.Forget(5)
	require.Equal(t, des.Forever, d.NextGain(), "jobs tell themselves when they end")
	require.NoError(t, d.Occupy(all[0], 6, 9), "it has one of two")
}

func TestANodeThatGetsAnEqualMeanwhileIsCountedWithIt(t *testing.T) {
	all := nodes(1, 1)
	all[1].Price = 2
	d := domain(t, all)
	require.NoError(t, d.Occupy(all[0], 0, 5))
	require.NoError(t, d.Reprice(all[1], 1))
	d.Forget(5)
	fill(t, d, 1, 6, 9, all[0])
	require.NoError(t, d.Occupy(all[0], 6, 9))
}

// A leaving node's name may be needed where every other one of the class is in
// the window already, on tasks that are past.
func TestALeavingNodesNameIsLeftToWhatIsPast(t *testing.T) {
	all := nodes(1, 1, 1)
	d := domain(t, all)
	j := entity.NewRun(&entity.Job{}, 0)
	_, err := d.Reserve(j, entity.Window{Start: 0, End: 4, Nodes: 3, Tasks: []entity.Task{{Node: all[0], End: 1}, {Node: all[1], End: 1}, {Node: all[2], End: 4}}})
	require.NoError(t, err)
	d.Forget(2)
	require.NoError(t, d.Occupy(all[2], 2, 9))
	require.NotEqual(t, all[2], j.Reservation.Window.Tasks[2].Node)
	d.Release(&j.Reservation, 2)
	require.Equal(t, []entity.Slot{{Node: all[0], Width: 1, Start: 2, End: 20}, {Node: all[1], Width: 1, Start: 2, End: 20}, {Node: all[2], Width: 1, Start: 9, End: 20}}, slots(d, 2, 20))
}

// A reservation that was given back must not be shared out any more.
func TestWhatWasGivenBackGoesWithNobody(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	runs := fill(t, d, 1, 0, 5, all[0])
	d.Settle(&runs.Reservation)
	gone := fill(t, d, 2, 0, 5, all[0])
	d.Release(&gone.Reservation, 0)
	fill(t, d, 3, 0, 7, all[0])
	require.Error(t, d.Occupy(all[1], 6, 8), "job 3 has no other node at first")
	require.NoError(t, d.Occupy(all[0], 6, 8))
}

func TestWhatIsGivenBackFromAnInstantAheadOnIsHeldUntilThen(t *testing.T) {
	all := nodes(1, 1, 1)
	d := domain(t, all)
	j := fill(t, d, 1, 5, 15, all[0], all[1])
	d.Release(&j.Reservation, 10)
	require.NoError(t, d.Occupy(all[0], 5, 10))
	require.Error(t, d.Occupy(all[1], 9, 10))
	require.NoError(t, d.Occupy(all[1], 10, 15))
	require.Error(t, d.Occupy(all[2], 7, 8))
	require.NoError(t, d.Occupy(all[2], 10, 15))
	d.Forget(15)
	require.Equal(t, 3, len(slots(d, 15, 20)))
}

func TestARepricedNodeTakesItsShareAlong(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	j := fill(t, d, 1, 0, 9, all...)
	require.NoError(t, d.Reprice(all[1], 3))
	require.Error(t, d.Reprice(all[1], -1))
	require.Error(t, d.Reprice(&entity.Node{}, 1))
	d.ReleaseTask(&j.Reservation, slices.IndexFunc(j.Reservation.Window.Tasks, func(t entity.Task) bool { return t.Node == all[1] }), 4)
	require.Equal(t, []entity.Slot{{Node: all[1], Width: 1, Start: 4, End: 20}, {Node: all[0], Width: 1, Start: 9, End: 20}}, slots(d, 0, 20))
}

func TestWindowsAreTheSameIfTheyTakeTheSame(t *testing.T) {
	all := nodes(1, 1, 1, 2)
	d := domain(t, all)
	require.True(t, d.Same(window(1, 5, all[0], all[3]), window(1, 5, all[3], all[2])))
	require.False(t, d.Same(window(1, 5, all[0], all[3]), window(1, 5, all[0], all[2])))
	require.False(t, d.Same(window(1, 5, all[0]), window(2, 5, all[0])))
	require.False(t, d.Same(window(1, 5, all[0]), window(1, 6, all[0])))
	require.False(t, d.Same(window(1, 5, all[0]), window(1, 5, all[0], all[1])))
	require.NoError(t, d.Occupy(all[2], 8, 9))
	require.False(t, d.Same(window(1, 5, all[0]), window(1, 5, all[2])))
}

func TestAWindowNamesNoNodeTwice(t *testing.T) {
	all := nodes(1, 1, 1)
	_, err := domain(t, all).Reserve(entity.NewRun(&entity.Job{}, 0), window(0, 5, all[1], all[0], all[1]))
	require.ErrorContains(t, err, "node 1 is in it twice")
}

func TestAttributesAndQTellNodesApart(t *testing.T) {
	all := nodes(1, 1, 1)
	all[1].Labels = map[string]string{"os": "plan9"}
	all[2].Q = 1
	d := domain(t, all)
	fill(t, d, 1, 0, 5, all[1])
	require.Equal(t, all[1], slots(d, 0, 9)[2].Node)
}

func TestAReservationThatIsGivenBackAtItsEndStaysTakenUntilThen(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	r := entity.NewRun(&entity.Job{ID: 1, Request: entity.Request{Nodes: 2, Length: 1}}, 0)
	_, err := d.Reserve(r, window(1, 2, all...))
	require.NoError(t, err)
	d.Release(&r.Reservation, 2)
	require.NoError(t, d.Withhold(entity.NewWithheld(), entity.NodeAt(0), 0, 1), "before it both nodes are free")
	require.Error(t, d.Withhold(entity.NewWithheld(), entity.NodeAt(1), 1, 2))
}

func TestATaskIsNotExtendedOnANodeThatAnotherJobHasMeanwhile(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	reserve := func(id int64, start, end des.Time) *entity.Run {
		r := entity.NewRun(&entity.Job{ID: id, Request: entity.Request{Nodes: 1, Length: end - start}}, id)
		_, err := d.Reserve(r, window(start, end, all[0]))
		require.NoError(t, err)
		d.Forget(start)
		d.Settle(&r.Reservation)
		return r
	}
	first := reserve(1, 0, 2)
	second := reserve(2, 2, 4)
	require.Equal(t, first.Reservation.Window.Tasks[0].Node, second.Reservation.Window.Tasks[0].Node)
	var taken *entity.ConflictError
	require.ErrorAs(t, d.Extend(&first.Reservation, window(0, 3, first.Reservation.Window.Tasks[0].Node)), &taken)
	require.Equal(t, des.Time(2), taken.At)
}
