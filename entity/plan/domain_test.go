package plan_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// cheapest is a finder as plain as can be: at every slot start it takes the n
// cheapest nodes that have room; of all such windows it returns the first, or
// with Least the cheapest.
type cheapest struct{ Least bool }

func (cheapest) Name() string { return "cheapest" }

func (f cheapest) Find(_ context.Context, req entity.Request, list plan.SlotList, until des.Time) (best plan.Found, _ error) {
	for i := range list.Slots {
		start := list.Slots[i].Start
		if start > until {
			break
		}
		best.Work.Steps++
		var tasks []entity.Task
		for _, s := range list.Slots {
			end := start.Add(s.Node.TaskTime(req.Length))
			if s.Start <= start && end <= s.End && end <= req.DeadlineLimit() && req.Admits(s.Node) {
				tasks = append(tasks, entity.Task{Node: s.Node, End: end})
			}
		}
		if len(tasks) < req.Nodes {
			continue
		}
		cost := func(t entity.Task) float64 { return t.Node.Price * (t.End - start).Seconds() }
		slices.SortStableFunc(tasks, func(a, b entity.Task) int { return cmp.Compare(cost(a), cost(b)) })
		w := entity.Window{Start: start, Nodes: req.Nodes, Tasks: tasks[:req.Nodes]}
		for _, t := range w.Tasks {
			w.End = max(w.End, t.End)
			w.Cost += cost(t)
		}
		if w.Cost > req.BudgetLimit() || (best.OK && w.Cost >= best.Window.Cost) {
			continue
		}
		best.Window, best.OK = w, true
		if !f.Least {
			break
		}
	}
	return best, nil
}

// firstCome takes slots as they come, and looks at no costs.
type firstCome struct{}

func (firstCome) Name() string { return "first come" }
func (firstCome) Traits(*entity.Request) plan.Traits {
	return plan.Traits{FirstFit: true, Worth: func(w *entity.Window) float64 { return w.Start.Seconds() }}
}
func (firstCome) Find(_ context.Context, req entity.Request, list plan.SlotList, until des.Time) (found plan.Found, _ error) {
	w := &found.Window
	for i := range list.Slots {
		w.Start = list.Slots[i].Start
		if w.Start > until {
			break
		}
		w.Tasks, w.End, w.Cost = nil, 0, 0
		for _, s := range list.Slots[:i+1] {
			end := w.Start.Add(s.Node.TaskTime(req.Length))
			if end <= s.End && end <= req.DeadlineLimit() && req.Admits(s.Node) {
				w.Tasks = append(w.Tasks, entity.Task{Node: s.Node, End: end})
				w.End = max(w.End, end)
				w.Cost += s.Node.Price * (end - w.Start).Seconds()
			}
		}
		if w.Nodes = len(w.Tasks); w.Nodes == req.Nodes {
			w.Value, found.OK = w.Start.Seconds(), true
			return found, nil
		}
	}
	return plan.Found{}, nil
}

func nodes(perfs ...float64) []*entity.Node {
	var list []*entity.Node
	for i, p := range perfs {
		list = append(list, &entity.Node{ID: i, Perf: p, Price: p})
	}
	return list
}

func domain(t require.TestingT, nodes []*entity.Node) *plan.Domain {
	d, err := plan.NewDomain(nodes, cheapest{})
	require.NoError(t, err)
	return d
}

func window(start, end des.Time, on ...*entity.Node) entity.Window {
	w := entity.Window{Start: start, End: end, Nodes: len(on)}
	for _, n := range on {
		w.Tasks = append(w.Tasks, entity.Task{Node: n, End: end})
	}
	return w
}

func slots(d *plan.Domain, from, until des.Time) []entity.Slot {
	return slices.Collect(d.Slots(from, until))
}

// chart is the model of a domain: who has which node at which tick.
type chart struct {
	nodes []*entity.Node
	at    [][]*entity.Run // by node, by tick
}

func newChart(nodes []*entity.Node, ticks int) *chart {
	c := &chart{nodes: nodes}
	for range nodes {
		c.at = append(c.at, make([]*entity.Run, ticks))
	}
	return c
}

func (c *chart) free(k int, from, to des.Time) bool {
	return !slices.ContainsFunc(c.at[k][from:to], func(j *entity.Run) bool { return j != nil })
}

func (c *chart) fill(k int, from, to des.Time, j *entity.Run) {
	for t := from; t < to; t++ {
		c.at[k][t] = j
	}
}

func (c *chart) slots(from, to des.Time) (list []entity.Slot) {
	for start := from; start < to; start++ {
		for k, n := range c.nodes {
			if c.at[k][start] != nil || (start > from && c.at[k][start-1] == nil) {
				continue
			}
			end := start
			for end < to && c.at[k][end] == nil {
				end++
			}
			list = append(list, entity.Slot{Node: n, Width: 1, Start: start, End: end})
		}
	}
	return list
}

// Whatever is reserved, released and forgotten, a domain is the complement of
// what is taken, refuses overlaps and nothing else, and finds what its Finder
// finds in the list of all slots.
func TestDomainAgreesWithAChartOfNodesAndTicks(t *testing.T) {
	const ticks = 40
	rapid.Check(t, func(t *rapid.T) {
		all := nodes(rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 5}), 1, 5).Draw(t, "performances")...)
		for i, n := range all {
			n.Q = float64(i) // no two are equal: equal ones are counted (see class_test.go)
		}
		d := domain(t, all)
		model := newChart(all, ticks)
		finder := rapid.SampledFrom([]plan.Finder{cheapest{}, cheapest{Least: true}, firstCome{}}).Draw(t, "finder")
		d.Finder = finder
		d.Horizon = des.Time(rapid.IntRange(ticks/2, ticks).Draw(t, "horizon"))
		var now des.Time
		var live []*entity.Run
		var ended [][]bool // tasks of live jobs that were released

		instant := func(from, to des.Time, name string) des.Time {
			return des.Time(rapid.Int64Range(int64(from), int64(to)).Draw(t, name))
		}
		request := func() entity.Request {
			return entity.Request{
				Nodes:    rapid.IntRange(1, len(all)).Draw(t, "n"),
				Length:   instant(1, 20, "volume"),
				MinPerf:  rapid.SampledFrom([]float64{0, 2}).Draw(t, "least performance"),
				Budget:   rapid.SampledFrom([]float64{0, 2e-5, 5e-5}).Draw(t, "budget"),
				Deadline: rapid.SampledFrom([]des.Time{0, 0, 15, 30}).Draw(t, "deadline"),
			}
		}
		pick := func() int { return rapid.IntRange(0, len(live)-1).Draw(t, "job") }
		release := func(j *entity.Run, task int, at des.Time) {
			w := j.Reservation.Window
			k := slices.Index(all, w.Tasks[task].Node)
			for tick := max(at, w.Start); tick < w.Tasks[task].End; tick++ {
				if model.at[k][tick] == j {
					model.at[k][tick] = nil
				}
			}
		}

		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(*rapid.T) {
				w := entity.Window{Start: instant(now, ticks-1, "start")}
				for _, k := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 1, len(all)).Draw(t, "nodes") {
					end := instant(w.Start+1, ticks, "end")
					w.Tasks = append(w.Tasks, entity.Task{Node: all[k], End: end})
					w.End = max(w.End, end)
				}
				w.Nodes = len(w.Tasks)
				possible := true
				seen := map[*entity.Node]bool{}
				for _, task := range w.Tasks {
					possible = possible && !seen[task.Node] && model.free(slices.Index(all, task.Node), w.Start, task.End)
					seen[task.Node] = true
				}
				j := entity.NewRun(&entity.Job{ID: int64(len(live))}, 0)
				_, err := d.Reserve(j, w)
				if !possible {
					var conflict *entity.ConflictError
					require.ErrorAs(t, err, &conflict)
					return
				}
				require.NoError(t, err)
				for _, task := range w.Tasks {
					model.fill(slices.Index(all, task.Node), w.Start, task.End, j)
				}
				live = append(live, j)
				ended = append(ended, make([]bool, len(w.Tasks)))
			},
			"release": func(*rapid.T) {
				if len(live) == 0 {
					return
				}
				i, at := pick(), instant(now, ticks, "at")
				for task := range ended[i] {
					release(live[i], task, at)
				}
				d.Release(&live[i].Reservation, at)
				require.False(t, live[i].Reservation.Active)
				live, ended = slices.Delete(live, i, i+1), slices.Delete(ended, i, i+1)
			},
			"release task": func(*rapid.T) {
				if len(live) == 0 {
					return
				}
				i, at := pick(), instant(now, ticks, "at")
				task := rapid.IntRange(0, len(ended[i])-1).Draw(t, "task")
				if ended[i][task] {
					return
				}
				release(live[i], task, at)
				d.ReleaseTask(&live[i].Reservation, task, at)
				ended[i][task] = true
				require.True(t, live[i].Reservation.Active)
				if !slices.Contains(ended[i], false) {
					for task := range ended[i] {
						release(live[i], task, at)
					}
					d.Release(&live[i].Reservation, at)
					require.False(t, live[i].Reservation.Active)
					live, ended = slices.Delete(live, i, i+1), slices.Delete(ended, i, i+1)
				}
			},
			"forget": func(*rapid.T) {
				then := now
				now = instant(now, min(now+5, ticks-1), "now")
				gained := false
				for k := range all {
					for tick := then + 1; tick <= now; tick++ {
						gained = gained || (model.at[k][tick] == nil && model.at[k][tick-1] != nil)
					}
				}
				require.Equal(t, gained, d.Forget(now))
			},
			"find": func(*rapid.T) {
				req, from := request(), instant(now, ticks-1, "from")
				until := instant(from, ticks, "until")
				want, _ := finder.Find(context.Background(), req, plan.SlotList{From: from, To: d.Horizon, Slots: model.slots(from, d.Horizon)}, until)
				got, ok := d.Find(req, from, until)
				require.Equal(t, want.OK, ok)
				require.Equal(t, want.Window, got)
			},
			"find now": func(*rapid.T) {
				req := request()
				list := plan.SlotList{From: now, To: d.Horizon, Slots: model.slots(now, d.Horizon)}
				want, _ := finder.Find(context.Background(), req, list, now)
				got, ok := d.Find(req, now, now)
				require.Equal(t, want.OK, ok)
				require.Equal(t, want.Window, got)
				room := 0
				for _, s := range list.Slots {
					if s.Start == now && s.End-now >= s.Node.TaskTime(req.Length) {
						room++
					}
				}
				fits, nodes, length := d.FitsAt(now, req.Nodes, req.Length)
				require.Equal(t, room >= req.Nodes, fits)
				if !fits {
					more := entity.Request{Nodes: nodes + rapid.IntRange(0, 1).Draw(t, "more"), Length: max(1, length)}
					fits, _, _ = d.FitsAt(now, more.Nodes, more.Length)
					require.False(t, fits, "a miss of %d for %v says that %d for %v are one, too", req.Nodes, req.Length, more.Nodes, more.Length)
				}
			},
			"find earlier": func(*rapid.T) {
				if len(live) == 0 {
					return
				}
				i := pick()
				r := &live[i].Reservation
				if slices.Contains(ended[i], true) || r.Window.Start <= now {
					return
				}
				live[i].Request = request()
				without := newChart(all, ticks)
				for k := range all {
					for at, j := range model.at[k] {
						if j != live[i] {
							without.at[k][at] = j
						}
					}
				}
				until := instant(now, ticks, "until")
				want, _ := finder.Find(context.Background(), live[i].Request,
					plan.SlotList{From: now, To: d.Horizon, Slots: without.slots(now, d.Horizon)}, min(until, r.Window.Start-1))
				got, ok := d.FindEarlier(r, now, until)
				require.Equal(t, want.OK, ok)
				require.Equal(t, want.Window, got)
			},
			"": func(*rapid.T) {
				from := instant(now, ticks-1, "from")
				require.Equal(t, model.slots(from, ticks), slots(d, from, ticks))
				require.NoError(t, d.Err())
			},
		})
	})
}

func TestDomainIsFreeForeverAtFirst(t *testing.T) {
	all := nodes(1, 2)
	require.Equal(t, []entity.Slot{
		{Node: all[0], Width: 1, Start: 7, End: des.Forever},
		{Node: all[1], Width: 1, Start: 7, End: des.Forever},
	}, slots(domain(t, all), 7, des.Forever))
}

func TestDomainRefusesBadNodes(t *testing.T) {
	for name, list := range map[string][]*entity.Node{
		"no node":     {nil},
		"NaN price":   {{ID: 1, Perf: 1, Price: math.NaN()}},
		"no speed":    {{ID: 1}},
		"equal names": {{ID: 1, Perf: 1}, {ID: 1, Perf: 2}},
	} {
		_, err := plan.NewDomain(list, cheapest{})
		require.Error(t, err, name)
	}
}

func TestDomainRefusesWhatIsNoWindowOfIts(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	d.Forget(10)
	early := window(5, 20, all[0])
	foreign := window(10, 20, &entity.Node{ID: 9, Perf: 1})
	counted := entity.Window{Start: 10, End: 20, Nodes: 2}
	beyond := window(10, 20, all[0])
	beyond.Tasks[0].End = 21
	for name, w := range map[string]entity.Window{
		"starts in the past": early, "unknown node": foreign, "no tasks": counted, "task beyond the end": beyond,
	} {
		_, err := d.Reserve(entity.NewRun(&entity.Job{}, 0), w)
		var conflict *entity.ConflictError
		require.ErrorAs(t, err, &conflict, name)
	}
	require.Len(t, slots(d, 10, 20), 2)
}

func TestDomainRefusesASecondReservationOfAJob(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	j := entity.NewRun(&entity.Job{}, 0)
	_, err := d.Reserve(j, window(0, 5, all[0]))
	require.NoError(t, err)
	_, err = d.Reserve(j, window(0, 5, all[1]))
	require.ErrorContains(t, err, "already holds")
}

func TestDomainMovesAReservation(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	j := entity.NewRun(&entity.Job{}, 0)
	_, err := d.Reserve(j, window(10, 20, all...))
	require.NoError(t, err)
	require.NoError(t, d.Move(&j.Reservation, window(5, 15, all...)))
	require.True(t, j.Reservation.Active)
	require.Equal(t, []entity.Slot{
		{Node: all[0], Width: 1, Start: 0, End: 5}, {Node: all[1], Width: 1, Start: 0, End: 5},
		{Node: all[0], Width: 1, Start: 15, End: 30}, {Node: all[1], Width: 1, Start: 15, End: 30},
	}, slots(d, 0, 30))
}

func TestAMoveThatIsRefusedChangesNothing(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	_, err := d.Reserve(entity.NewRun(&entity.Job{}, 0), window(0, 8, all[1]))
	require.NoError(t, err)
	j := entity.NewRun(&entity.Job{}, 0)
	_, err = d.Reserve(j, window(10, 20, all...))
	require.NoError(t, err)
	before := slots(d, 0, 30)
	require.Error(t, d.Move(&j.Reservation, window(5, 15, all...)))
	require.Equal(t, before, slots(d, 0, 30))
	require.Equal(t, window(10, 20, all...), j.Reservation.Window)
	require.True(t, j.Reservation.Active)
}

// ending is the window of these tasks, each with an end of its own.
func ending(w entity.Window, ends ...des.Time) entity.Window {
	w.Tasks = slices.Clone(w.Tasks)
	w.End = slices.Max(ends)
	for i, end := range ends {
		w.Tasks[i].End = end
	}
	return w
}

func TestAnExtensionThatIsRefusedChangesNothingAndTellsWhen(t *testing.T) {
	for _, perfs := range [][]float64{{1, 2}, {1, 1}} { // of equal nodes one is withheld by name
		all := nodes(perfs...)
		d := domain(t, all)
		require.NoError(t, d.Withhold(entity.NewRun(&entity.Job{}, 0), entity.NodeAt(1), 25, 30))
		j := entity.NewRun(&entity.Job{}, 0)
		held := window(0, 10, all...)
		_, err := d.Reserve(j, held)
		require.NoError(t, err)
		before := slots(d, 0, 40)
		var taken *entity.ConflictError
		require.ErrorAs(t, d.Extend(&j.Reservation, ending(held, 20, 28)), &taken)
		require.Equal(t, des.Time(25), taken.At)
		require.Equal(t, held, j.Reservation.Window)
		require.Equal(t, before, slots(d, 0, 40))
		require.NoError(t, d.Extend(&j.Reservation, ending(held, 20, 25)), "until then there is room")
		d.Release(&j.Reservation, 5)
		require.Equal(t, []des.Time{5, 5, 30}, starts(slots(d, 5, 40)))
	}
}

func TestWhatAClassHasPromisedLimitsAnExtensionToItsFirstTick(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	j := entity.NewRun(&entity.Job{}, 0)
	held := window(0, 10, all[0])
	_, err := d.Reserve(j, held)
	require.NoError(t, err)
	_, err = d.Reserve(entity.NewRun(&entity.Job{}, 0), window(15, 16, all...))
	require.NoError(t, err)
	var taken *entity.ConflictError
	require.ErrorAs(t, d.Extend(&j.Reservation, ending(held, 20)), &taken)
	require.Equal(t, des.Time(15), taken.At)
}

func starts(list []entity.Slot) (at []des.Time) {
	for _, s := range list {
		at = append(at, s.Start)
	}
	return at
}

func TestWhatWasPastIsHeldAgainOnceItIsExtended(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	j := entity.NewRun(&entity.Job{}, 0)
	_, err := d.Reserve(j, window(0, 10, all[0]))
	require.NoError(t, err)
	d.Forget(10)
	for range 4 { // what is past is struck from the list when that grows
		_, err := d.Reserve(entity.NewRun(&entity.Job{}, 0), window(10, 10, all[1]))
		require.NoError(t, err)
	}
	require.Zero(t, j.Reservation.Index)
	require.NoError(t, d.Extend(&j.Reservation, window(0, 20, all[0])))
	require.Positive(t, j.Reservation.Index)
	d.Release(&j.Reservation, 15)
	require.Equal(t, []des.Time{10, 15}, starts(slots(d, 10, 40)))
}

func TestATaskThatTakesNoTimeTakesNoNode(t *testing.T) {
	all := nodes(1)
	d := domain(t, all)
	_, err := d.Reserve(entity.NewRun(&entity.Job{}, 0), window(5, 5, all[0]))
	require.NoError(t, err)
	require.Len(t, slots(d, 0, 10), 1)
	_, err = d.Reserve(entity.NewRun(&entity.Job{}, 0), window(0, 10, all[0]))
	require.NoError(t, err)
}

func TestDomainKeepsItsOwnCopyOfTasks(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	j, w := entity.NewRun(&entity.Job{}, 0), window(0, 5, all[0])
	_, err := d.Reserve(j, w)
	require.NoError(t, err)
	w.Tasks[0].Node = all[1]
	d.Release(&j.Reservation, 0)
	require.Len(t, slots(d, 0, 5), 2)
}

func TestFitsSaysWhyARequestCanNeverBeMet(t *testing.T) {
	all := nodes(1, 2, 4)
	d := domain(t, all)
	d.Horizon = 100 * des.Second
	_, err := d.Reserve(entity.NewRun(&entity.Job{}, 0), window(0, 100*des.Second, all...)) // Fits asks of an empty plan
	require.NoError(t, err)

	require.NoError(t, d.Fits(entity.Request{Nodes: 3, Length: 100 * des.Second}))
	for why, req := range map[string]entity.Request{
		"at least 1 node":                    {},
		"wants 4 nodes of a domain of 3":     {Nodes: 4, Length: des.Second},
		"only 2 of 3 meet":                   {Nodes: 3, Length: des.Second, MinPerf: 2},
		"only 1 of 3 meet":                   {Nodes: 2, Length: des.Second, MaxPrice: 1.5},
		"only 0 of 3 meet":                   {Nodes: 1, Length: des.Second, Needs: &entity.Attributes{Labels: map[string]string{"os": "plan9"}}},
		"only 2 that meet its demands":       {Nodes: 3, Length: 150 * des.Second},
		"within 25":                          {Nodes: 2, Length: 100 * des.Second, Deadline: 25 * des.Second},
		"budget of 99 is below 100":          {Nodes: 1, Length: 100 * des.Second, Budget: 99},
		"budget of 0.5 is below 2, the leas": {Nodes: 2, Length: des.Second, Budget: .5},
	} {
		require.ErrorContains(t, d.Fits(req), why)
	}
}

func TestFitsJudgesByTheIntervalWhereTheHorizonMoves(t *testing.T) {
	d := domain(t, nodes(1))
	d.Horizon, d.Interval = 100, 100
	d.Forget(90)
	require.NoError(t, d.Fits(entity.Request{Nodes: 1, Length: 100}))
	require.Error(t, d.Fits(entity.Request{Nodes: 1, Length: 101}))
}

func TestAnIntervalWithoutHorizonMovesWithThePresent(t *testing.T) {
	all := nodes(1)
	d := domain(t, all)
	d.Interval = 100
	_, err := d.Reserve(entity.NewRun(&entity.Job{}, 0), window(0, 50, all[0]))
	require.NoError(t, err)
	req := entity.Request{Nodes: 1, Length: 80}
	_, ok := d.Find(req, 0, des.Forever)
	require.False(t, ok)
	d.Forget(30)
	w, ok := d.Find(req, 30, des.Forever)
	require.True(t, ok)
	require.Equal(t, window(50, 130, all[0]).Tasks, w.Tasks)
}

func TestTaskTimeEndsAtTheEndOfTime(t *testing.T) {
	slow := &entity.Node{Perf: 1e-12}
	require.Equal(t, des.Forever, slow.TaskTime(des.Day))
}

// late answers with a window that begins after what it was asked for.
type late struct{ cheapest }

func (f late) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	found, err := f.cheapest.Find(ctx, req, list, until)
	found.Window.Start = until + 1
	return found, err
}

func TestDomainKeepsAFindersErrors(t *testing.T) {
	d := domain(t, nodes(1))
	d.Finder = late{}
	_, ok := d.Find(entity.Request{Nodes: 1, Length: 1}, 0, 0)
	require.False(t, ok)
	require.ErrorContains(t, d.Err(), "it gave one at")

	d = domain(t, nodes(1))
	d.Finder = nil
	_, ok = d.Find(entity.Request{Nodes: 1, Length: 1}, 0, 0)
	require.False(t, ok)
	require.ErrorContains(t, d.Err(), "no Finder")
}

// picky finds nothing at all.
type picky struct{}

func (picky) Name() string { return "picky" }
func (picky) Find(context.Context, entity.Request, plan.SlotList, des.Time) (plan.Found, error) {
	return plan.Found{}, nil
}

func TestARequestIsSearchedByItsOwnCriterion(t *testing.T) {
	d, err := plan.NewDomain(nodes(1, 2), picky{})
	require.NoError(t, err)
	d.Horizon = 100 * des.Second
	request := entity.Request{Nodes: 2, Length: 10 * des.Second}
	_, found := d.Find(request, 0, 0)
	require.False(t, found, "the domain's own")
	request.Criterion = cheapest{}
	_, found = d.Find(request, 0, 0)
	require.True(t, found)
	require.NoError(t, d.Fits(request))
	// Others in a queue must not be passed over for what the domain's own misses.
	ok, _, _ := d.FitsAt(0, 2, 10*des.Second)
	require.True(t, ok)
	ok, _, _ = d.FitsAt(0, 3, 10*des.Second)
	require.False(t, ok)
	ok, _, _ = d.FitsAt(0, 1, 201*des.Second)
	require.False(t, ok, "longer than the horizon on the fastest node")
}

// fussy can make nothing of some requests.
type fussy struct{ cheapest }

func (fussy) Name() string { return "fussy" }
func (f fussy) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	if req.Budget == 0 {
		return plan.Found{}, errors.New("it needs a budget")
	}
	return f.cheapest.Find(ctx, req, list, until)
}

func TestACriterionThatCanMakeNothingOfItsRequestTurnsTheJobAwayOnly(t *testing.T) {
	d, err := plan.NewDomain(nodes(1, 2), cheapest{})
	require.NoError(t, err)
	d.Horizon = 100 * des.Second
	request := entity.Request{Nodes: 1, Length: 10 * des.Second, Criterion: fussy{}}
	require.EqualError(t, d.Fits(request), "finder fussy: it needs a budget")
	require.NoError(t, d.Err(), "others can be served")
	request.Budget = 1000
	require.NoError(t, d.Fits(request))

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	d.Under(ended)
	request.Budget = 0
	require.Error(t, d.Fits(request))
	require.Error(t, d.Err(), "the run has ended, whoever hears of it first")

	d, err = plan.NewDomain(nodes(1, 2), fussy{})
	require.NoError(t, err)
	require.Error(t, d.Fits(entity.Request{Nodes: 1, Length: des.Second}))
	require.ErrorContains(t, d.Err(), "it needs a budget", "it is the domain's own search that fails")
}

// latest takes the first nodes as late as it may.
type latest struct{}

func (latest) Name() string { return "latest" }
func (latest) Find(_ context.Context, req entity.Request, list plan.SlotList, _ des.Time) (plan.Found, error) {
	w := entity.Window{Start: list.To - req.Length, End: list.To, Nodes: req.Nodes}
	for _, s := range list.Slots[:req.Nodes] {
		w.Tasks = append(w.Tasks, entity.Task{Node: s.Node, End: w.End})
	}
	return plan.Found{Window: w, OK: true}, nil
}

// earliest answers as one may who is asked for the earliest window.
type earliest struct{ cheapest }

func (earliest) Traits(*entity.Request) plan.Traits {
	return plan.Traits{Earliest: true, Worth: func(*entity.Window) float64 { return 0 }}
}

func TestEqualNodesAreNotCountedForACriterionThatWantsOtherWindows(t *testing.T) {
	d, err := plan.NewDomain(nodes(1, 1, 1), earliest{})
	require.NoError(t, err)
	d.Horizon = 100 * des.Second
	request := entity.Request{Nodes: 2, Length: 10 * des.Second}
	w, ok := d.Find(request, 0, des.Forever)
	require.True(t, ok)
	require.Zero(t, w.Start)
	request.Criterion = latest{}
	w, ok = d.Find(request, 0, des.Forever)
	require.True(t, ok)
	require.Equal(t, 90*des.Second, w.Start)
}
