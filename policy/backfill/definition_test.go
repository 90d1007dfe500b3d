package backfill_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// The policies by their definitions: a list of what is taken, every instant
// tried, every waiting job looked at, everything planned anew wherever the
// definition says so. Slow, and sharing nothing with the policies under test
// but the job type.

type taken struct {
	job      *entity.Run
	shape    entity.Shape
	from, to des.Time
}

type definition struct {
	procs   int
	rule    entity.ShapeRule
	jobs    []*entity.Run
	waiting []*entity.Run
	running []taken
	planned []taken // conservative only
	starts  map[*entity.Run]des.Time
	nodes   map[*entity.Run]int
	freed   bool
	wakes   entity.Wakes
}

func (d *definition) free(t des.Time, lists ...[]taken) int {
	free := d.procs
	for _, list := range lists {
		for _, r := range list {
			if r.from <= t && t < r.to {
				free -= r.shape.Nodes
			}
		}
	}
	return free
}

// windows are all windows of j that start in [now, until], the earliest of each
// shape. Room can only begin where something ends.
func (d *definition) windows(j *entity.Run, now, until des.Time, lists ...[]taken) (all []taken) {
	starts := []des.Time{now}
	for _, list := range lists {
		for _, r := range list {
			if r.to > now {
				starts = append(starts, r.to)
			}
		}
	}
	slices.Sort(starts)
	for _, shape := range append(slices.Clone(j.Shapes), entity.Shape{Nodes: j.Request.Nodes, Length: j.Request.Length, Runtime: j.Runtime}) {
		for _, s := range starts {
			if s <= until && d.fits(shape, s, lists...) {
				all = append(all, taken{j, shape, s, s + shape.Length})
				break
			}
		}
	}
	return all
}

// compare puts the better of two windows first.
func (d *definition) compare(a, b taken) int {
	start, end, nodes := cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.shape.Nodes, b.shape.Nodes)
	switch d.rule {
	case entity.FirstEnd:
		return cmp.Or(end, nodes)
	case entity.Largest:
		return cmp.Or(start, -nodes)
	}
	return cmp.Or(start, end, nodes)
}

func (d *definition) best(j *entity.Run, now, until des.Time, lists ...[]taken) (taken, bool) {
	all := d.windows(j, now, until, lists...)
	if len(all) == 0 {
		return taken{}, false
	}
	return slices.MinFunc(all, d.compare), true
}

// earliest is the best window of all.
func (d *definition) earliest(j *entity.Run, now des.Time, lists ...[]taken) taken {
	w, ok := d.best(j, now, des.Forever, lists...)
	if !ok {
		panic("no start")
	}
	return w
}

// now is the window in which j would start now, in which the rule has it start
// though a better end may lie ahead only where j is a mere candidate.
func (d *definition) now(j *entity.Run, now des.Time, candidate bool, lists ...[]taken) (taken, bool) {
	if d.rule == entity.FirstEnd && !candidate {
		w := d.earliest(j, now, lists...)
		return w, w.from == now
	}
	return d.best(j, now, now, lists...)
}

func (d *definition) fits(shape entity.Shape, at des.Time, lists ...[]taken) bool {
	for t := at; t < at+shape.Length; t++ {
		if d.free(t, lists...) < shape.Nodes {
			return false
		}
	}
	return true
}

func (d *definition) start(w taken) {
	d.starts[w.job] = w.from
	d.nodes[w.job] = w.shape.Nodes
	d.running = append(d.running, w)
	d.waiting = slices.DeleteFunc(d.waiting, func(j *entity.Run) bool { return j == w.job })
}

func (d *definition) end(j *entity.Run) {
	d.running = slices.DeleteFunc(d.running, func(r taken) bool { return r.job == j })
	d.freed = true
}

// run steps through all instants, with one pass an instant or one an event.
func (d *definition) run(perEvent bool, pass func(now des.Time)) map[*entity.Run]des.Time {
	d.starts, d.nodes = map[*entity.Run]des.Time{}, map[*entity.Run]int{}
	changed, last := false, des.Time(-1000)
	for now := des.Time(0); len(d.starts) < len(d.jobs) || len(d.running) > 0; now++ {
		var ending []*entity.Run
		for _, r := range d.running { // in the order in which they started
			if r.from+min(r.shape.Runtime, r.shape.Length) == now {
				ending = append(ending, r.job)
			}
		}
		if !perEvent {
			for _, j := range ending {
				d.end(j)
			}
		}
		changed = changed || len(ending) > 0
		for _, j := range d.jobs {
			if j.Submit == now {
				changed = true
				d.waiting = append(d.waiting, j)
				if perEvent {
					pass(now)
				}
			}
		}
		if perEvent {
			for _, j := range ending {
				d.end(j)
				pass(now)
			}
		} else if changed && now-last >= d.wakes.Apart && (d.wakes.Every == 0 || now%d.wakes.Every == d.wakes.Offset) {
			changed = false
			if len(d.waiting)+len(d.planned) > 0 {
				last = now
				pass(now)
			}
		}
		for _, p := range slices.Clone(d.planned) {
			if p.from == now {
				d.start(p)
				d.planned = slices.DeleteFunc(d.planned, func(q taken) bool { return q.job == p.job })
			}
		}
	}
	return d.starts
}

func (d *definition) sorted(o entity.Order, now des.Time) []*entity.Run {
	if o.Key == nil {
		return slices.Clone(d.waiting)
	}
	jobs := slices.Clone(d.waiting)
	slices.SortStableFunc(jobs, func(a, b *entity.Run) int { return cmp.Compare(o.Key(a, now), o.Key(b, now)) })
	return jobs
}

func (d *definition) easy(p backfill.EASY) func(des.Time) {
	reservations := max(p.Reservations, 1)
	if p.Reservations == backfill.NoReservation {
		reservations = 0
	}
	return func(now des.Time) {
		var holds []taken
		queue := d.sorted(p.Order, now)
		for len(queue) > 0 {
			w, ok := d.now(queue[0], now, false, d.running)
			if !ok {
				break
			}
			d.start(w)
			queue = queue[1:]
		}
		for _, j := range queue {
			if len(holds) == reservations {
				break
			}
			if w := d.earliest(j, now, d.running, holds); w.from == now {
				d.start(w)
			} else {
				holds = append(holds, w)
			}
		}
		order := p.Candidates
		if order.Key == nil {
			order = p.Order
		}
		candidates := d.sorted(order, now)
		if p.Depth > 0 {
			candidates = candidates[:min(p.Depth, len(candidates))]
		}
		for _, j := range candidates {
			held := slices.ContainsFunc(holds, func(h taken) bool { return h.job == j })
			if w, ok := d.now(j, now, true, d.running, holds); ok && !held {
				d.start(w)
			}
		}
	}
}

func (d *definition) conservative(p backfill.Conservative) func(des.Time) {
	planned := map[*entity.Run]bool{}
	place := func(w taken, now des.Time) {
		if w.from == now {
			d.start(w)
		} else {
			d.planned = append(d.planned, w)
		}
	}
	return func(now des.Time) {
		if d.freed && !p.NoCompression {
			for _, j := range d.sorted(p.Order, now) {
				i := slices.IndexFunc(d.planned, func(q taken) bool { return q.job == j })
				if i < 0 || d.planned[i].from <= now {
					continue
				}
				held := d.planned[i]
				without := slices.Delete(slices.Clone(d.planned), i, i+1)
				// Who stays keeps his place among those that start with him.
				if w, ok := d.best(j, now, held.from-1, d.running, without); ok && d.compare(w, held) < 0 {
					d.planned = without
					place(w, now)
				}
			}
		}
		d.freed = false
		for _, j := range d.sorted(p.Order, now) {
			if !planned[j] {
				planned[j] = true
				place(d.earliest(j, now, d.running, d.planned), now)
			}
		}
	}
}

func (d *definition) fcfs(p backfill.FCFS) func(des.Time) {
	return func(now des.Time) {
		for _, j := range d.sorted(p.Order, now) {
			w, ok := d.now(j, now, false, d.running)
			if !ok {
				return
			}
			d.start(w)
		}
	}
}

// became is what became of whom.
type became map[*entity.Job]*entity.Run

func (b became) Observe(e entity.JobEvent) { b[e.Run.Job] = e.Run }

func drawJobs(t *rapid.T, procs int) []*entity.Job {
	n := rapid.IntRange(1, 25).Draw(t, "jobs")
	gaps, longest := []int{0, 0, 1, 2, 5, 12}, 20
	if rapid.Bool().Draw(t, "crowded") { // jobs end and come at one instant, behind a long queue
		n, gaps, longest = n+10, []int{0, 1, 1, 1, 2}, 6
	}
	var jobs []*entity.Job
	var submit des.Time
	for i := range n {
		submit += des.Time(rapid.SampledFrom(gaps).Draw(t, "gap"))
		length := rapid.IntRange(1, longest).Draw(t, "estimate")
		runtime := rapid.IntRange(1, length).Draw(t, "runtime")
		if rapid.Bool().Draw(t, "exact") {
			runtime = length
		}
		jobs = append(jobs, &entity.Job{ID: int64(i + 1), Submit: submit, Runtime: des.Time(runtime),
			Request: entity.Request{Nodes: rapid.IntRange(1, procs).Draw(t, "nodes"), Length: des.Time(length)}})
		if rapid.IntRange(0, 3).Draw(t, "rigid") == 0 {
			jobs[i].Shapes = drawShapes(t, jobs[i])
		}
	}
	return jobs
}

// drawWakes draws when a policy is awake.
func drawWakes(t *rapid.T) (w entity.Wakes) {
	w.Apart = des.Time(rapid.SampledFrom([]int{0, 0, 2, 7}).Draw(t, "apart"))
	w.Every = des.Time(rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(t, "every"))
	if w.Every > 0 {
		w.Offset = des.Time(rapid.Int64Range(0, int64(w.Every)-1).Draw(t, "offset"))
	}
	return w
}

// drawShapes draws shapes beside j's own, or with it; some are larger than any
// machine.
func drawShapes(t *rapid.T, j *entity.Job) (shapes []entity.Shape) {
	for nodes := 1; nodes <= 14; nodes++ {
		if rapid.IntRange(0, 2).Draw(t, "a shape of so many nodes") > 0 {
			continue
		}
		s := entity.Shape{Nodes: nodes, Length: des.Time(rapid.IntRange(1, 30).Draw(t, "its estimate"))}
		s.Runtime = des.Time(rapid.Int64Range(1, int64(s.Length)).Draw(t, "its runtime"))
		if nodes == j.Request.Nodes {
			s.Length, s.Runtime = j.Request.Length, j.Runtime
		}
		shapes = append(shapes, s)
	}
	return shapes
}

var rules = []entity.ShapeRule{entity.FirstStart, entity.FirstEnd, entity.Largest}

// TestPoliciesMeetTheirDefinitions compares every start.
func TestPoliciesMeetTheirDefinitions(t *testing.T) {
	orders := backfill.Orders()
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 12).Draw(t, "procs")
		jobs := drawJobs(t, procs)
		d := &definition{procs: procs}
		for i, j := range jobs {
			d.jobs = append(d.jobs, entity.NewRun(j, int64(i)))
		}
		order := rapid.SampledFrom(orders).Draw(t, "order")
		d.rule = rapid.SampledFrom(rules).Draw(t, "shape")
		var policy entity.Policy
		var pass func(des.Time)
		switch rapid.IntRange(0, 3).Draw(t, "policy") {
		case 0:
			p := backfill.FCFS{Order: order, Shape: d.rule}
			policy, pass = p, d.fcfs(p)
		case 1:
			p := backfill.Conservative{Order: order, NoCompression: rapid.Bool().Draw(t, "no compression"), Shape: d.rule}
			policy, pass = p, d.conservative(p)
		default:
			p := backfill.EASY{
				Order:        order,
				Reservations: rapid.SampledFrom([]int{backfill.NoReservation, 0, 1, 2, 3, backfill.AllReservations}).Draw(t, "reservations"),
				Depth:        rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "depth"),
				Shape:        d.rule,
			}
			if rapid.Bool().Draw(t, "candidates") {
				p.Candidates = rapid.SampledFrom(orders).Draw(t, "candidate order")
			}
			policy, pass = p, d.easy(p)
		}
		perEvent := rapid.Bool().Draw(t, "per event")
		if !perEvent && rapid.Bool().Draw(t, "sleeps") {
			d.wakes = drawWakes(t)
		}
		want := d.run(perEvent, pass)

		sim := des.New(des.Config{})
		got := became{}
		m := entity.NewMetascheduler(sim, plan.NewCluster(procs), policy, got)
		if perEvent {
			m.Pass = entity.PassEvent
		}
		m.Wakes = d.wakes
		m.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		for i, j := range jobs {
			require.Equal(t, entity.Finished, got[j].State, "%v", j)
			require.Equal(t, want[d.jobs[i]], got[j].Start, "%v under %s", j, policy.Name())
			require.Equal(t, d.nodes[d.jobs[i]], got[j].Reservation.Window.Nodes, "%v under %s", j, policy.Name())
		}
	})
}

// Under an order that changes with time another job can be the head when a job
// arrives, and beside its hold others may fit than those that fitted before:
//
//	procs |          |first: 4 from 100 on     at 10 it is the head, and leaves
//	    4 |__________|                         nothing to "wide", who runs on
//	      | free: 2  |                         past 100
//	    2 |__________|
//	      | running  |second: 3 from 100 on    at 20 this one is the head, and
//	      +---------100---> time               "wide" starts
func TestAnArrivalUnderAnOrderThatChangesMayLetOthersStart(t *testing.T) {
	for _, order := range []entity.Order{backfill.WFP3, backfill.UNICEF} {
		for _, candidates := range append([]entity.Order{{}}, backfill.Orders()...) {
			job := func(id, submit, length des.Time, nodes int) *entity.Job {
				return &entity.Job{ID: int64(id), Submit: submit, Runtime: length, Request: entity.Request{Nodes: nodes, Length: length}}
			}
			running, first, second, wide := job(1, 0, 100, 2), job(2, 0, 100, 4), job(3, 10, 10, 3), job(4, 10, 200, 1)
			got := became{}
			sim := des.New(des.Config{})
			m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.EASY{Order: order, Candidates: candidates}, got)
			m.SubmitAll(slices.Values([]*entity.Job{running, first, second, wide, job(5, 20, 1, 4)}))
			require.NoError(t, sim.Run(context.Background()))
			require.EqualValues(t, 0, got[running].Start)
			require.EqualValues(t, 20, got[wide].Start, "%s, candidates by %s", order.Name, candidates.Name)
			require.EqualValues(t, 100, got[second].Start)
		}
	}
}

// With two windows held, a job that arrives can take the second one from another
// job by overtaking it, and leave room where that one left none:
//
//	procs |          |head|wide           at 1 "wide" needs all from 110 on, and
//	    4 |__________|____|________       "long" must wait
//	      | free: 2  |    |new
//	    2 |__________|    |________       at 5 "new" is shorter than "wide", and
//	      | running  |    | room          "long" starts
//	      +---------100--110------> time
func TestAnArrivalThatTakesAHoldMayLetOthersStart(t *testing.T) {
	job := func(id, submit, length des.Time, nodes int) *entity.Job {
		return &entity.Job{ID: int64(id), Submit: submit, Runtime: length, Request: entity.Request{Nodes: nodes, Length: length}}
	}
	running, head, wide, long, shorter := job(1, 0, 100, 2), job(2, 1, 10, 3), job(3, 1, 50, 4), job(4, 1, 200, 1), job(5, 5, 30, 3)
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.EASY{Order: backfill.ShortestFirst, Reservations: 2}, got)
	m.SubmitAll(slices.Values([]*entity.Job{running, head, wide, long, shorter}))
	require.NoError(t, sim.Run(context.Background()))
	require.EqualValues(t, 5, got[long].Start)
	require.EqualValues(t, 100, got[head].Start)
	require.EqualValues(t, 110, got[shorter].Start)
}

func TestOrdersRankAsTheirFormulasSay(t *testing.T) {
	j := entity.NewRun(&entity.Job{Submit: 100 * des.Second, Request: entity.Request{Nodes: 8, Length: 50 * des.Second}}, 0)
	now := 200 * des.Second // waited twice its estimate
	require.Equal(t, -(8.0 * 8), backfill.WFP3.Key(j, now))
	require.Equal(t, -(2.0 / 3), backfill.UNICEF.Key(j, now))
	j.Request.Nodes = 1
	require.False(t, math.IsInf(backfill.UNICEF.Key(j, now), 0), "a serial job has a finite priority")
}
