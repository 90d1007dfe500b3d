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
	from, to des.Time
}

type definition struct {
	procs   int
	jobs    []*entity.Run
	waiting []*entity.Run
	running []taken
	planned []taken // conservative only
	starts  map[*entity.Run]des.Time
	freed   bool
}

func (d *definition) free(t des.Time, lists ...[]taken) int {
	free := d.procs
	for _, list := range lists {
		for _, r := range list {
			if r.from <= t && t < r.to {
				free -= r.job.Request.Nodes
			}
		}
	}
	return free
}

// earliest is the first instant from now on at which j has room for its whole
// estimate beside the lists. Room can only begin where something ends.
func (d *definition) earliest(j *entity.Run, now des.Time, lists ...[]taken) des.Time {
	starts := []des.Time{now}
	for _, list := range lists {
		for _, r := range list {
			if r.to > now {
				starts = append(starts, r.to)
			}
		}
	}
	slices.Sort(starts)
	for _, s := range starts {
		if d.fits(j, s, lists...) {
			return s
		}
	}
	panic("no start")
}

func (d *definition) fits(j *entity.Run, at des.Time, lists ...[]taken) bool {
	for t := at; t < at+j.Request.Length; t++ {
		if d.free(t, lists...) < j.Request.Nodes {
			return false
		}
	}
	return true
}

func (d *definition) start(j *entity.Run, now des.Time) {
	d.starts[j] = now
	d.running = append(d.running, taken{j, now, now + j.Request.Length})
	d.waiting = slices.DeleteFunc(d.waiting, func(w *entity.Run) bool { return w == j })
}

func (d *definition) end(j *entity.Run) {
	d.running = slices.DeleteFunc(d.running, func(r taken) bool { return r.job == j })
	d.freed = true
}

// run steps through all instants, with one pass an instant or one an event.
func (d *definition) run(perEvent bool, pass func(now des.Time)) map[*entity.Run]des.Time {
	d.starts = map[*entity.Run]des.Time{}
	for now := des.Time(0); len(d.starts) < len(d.jobs) || len(d.running) > 0; now++ {
		var ending []*entity.Run
		for _, r := range d.running { // in the order in which they started
			if r.from+min(r.job.Runtime, r.job.Request.Length) == now {
				ending = append(ending, r.job)
			}
		}
		if !perEvent {
			for _, j := range ending {
				d.end(j)
			}
		}
		changed := len(ending) > 0
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
		} else if changed {
			pass(now)
		}
		for _, p := range slices.Clone(d.planned) {
			if p.from == now {
				d.start(p.job, now)
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
		for len(queue) > 0 && d.fits(queue[0], now, d.running) {
			d.start(queue[0], now)
			queue = queue[1:]
		}
		for _, j := range queue {
			if len(holds) == reservations {
				break
			}
			if s := d.earliest(j, now, d.running, holds); s == now {
				d.start(j, now)
			} else {
				holds = append(holds, taken{j, s, s + j.Request.Length})
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
			if !held && d.fits(j, now, d.running, holds) {
				d.start(j, now)
			}
		}
	}
}

func (d *definition) conservative(p backfill.Conservative) func(des.Time) {
	planned := map[*entity.Run]bool{}
	place := func(j *entity.Run, now, start des.Time) {
		if start == now {
			d.start(j, now)
		} else {
			d.planned = append(d.planned, taken{j, start, start + j.Request.Length})
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
				if s := d.earliest(j, now, d.running, without); s != held.from {
					d.planned = without
					place(j, now, s)
				}
			}
		}
		d.freed = false
		for _, j := range d.sorted(p.Order, now) {
			if !planned[j] {
				planned[j] = true
				place(j, now, d.earliest(j, now, d.running, d.planned))
			}
		}
	}
}

func (d *definition) fcfs(p backfill.FCFS) func(des.Time) {
	return func(now des.Time) {
		for _, j := range d.sorted(p.Order, now) {
			if !d.fits(j, now, d.running) {
				return
			}
			d.start(j, now)
		}
	}
}

// became is what became of whom.
type became map[*entity.Job]*entity.Run

func (b became) Observe(e entity.JobEvent) { b[e.Run.Job] = e.Run }

func drawJobs(t *rapid.T, procs int) []*entity.Job {
	n := rapid.IntRange(1, 25).Draw(t, "jobs")
	var jobs []*entity.Job
	var submit des.Time
	for i := range n {
		submit += des.Time(rapid.SampledFrom([]int{0, 0, 1, 2, 5, 12}).Draw(t, "gap"))
		length := rapid.IntRange(1, 20).Draw(t, "estimate")
		runtime := rapid.IntRange(1, length).Draw(t, "runtime")
		if rapid.Bool().Draw(t, "exact") {
			runtime = length
		}
		jobs = append(jobs, &entity.Job{ID: int64(i + 1), Submit: submit, Runtime: des.Time(runtime),
			Request: entity.Request{Nodes: rapid.IntRange(1, procs).Draw(t, "nodes"), Length: des.Time(length)}})
	}
	return jobs
}

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
		var policy entity.Policy
		var pass func(des.Time)
		switch rapid.IntRange(0, 3).Draw(t, "policy") {
		case 0:
			p := backfill.FCFS{Order: order}
			policy, pass = p, d.fcfs(p)
		case 1:
			p := backfill.Conservative{Order: order, NoCompression: rapid.Bool().Draw(t, "no compression")}
			policy, pass = p, d.conservative(p)
		default:
			p := backfill.EASY{
				Order:        order,
				Reservations: rapid.SampledFrom([]int{backfill.NoReservation, 0, 1, 2, 3, backfill.AllReservations}).Draw(t, "reservations"),
				Depth:        rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "depth"),
			}
			if rapid.Bool().Draw(t, "candidates") {
				p.Candidates = rapid.SampledFrom(orders).Draw(t, "candidate order")
			}
			policy, pass = p, d.easy(p)
		}
		perEvent := rapid.Bool().Draw(t, "per event")
		want := d.run(perEvent, pass)

		sim := des.New(des.Config{})
		got := became{}
		m := entity.NewMetascheduler(sim, plan.NewCluster(procs), policy, got)
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

func TestOrdersRankAsTheirFormulasSay(t *testing.T) {
	j := entity.NewRun(&entity.Job{Submit: 100 * des.Second, Request: entity.Request{Nodes: 8, Length: 50 * des.Second}}, 0)
	now := 200 * des.Second // waited twice its estimate
	require.Equal(t, -(8.0 * 8), backfill.WFP3.Key(j, now))
	require.Equal(t, -(2.0 / 3), backfill.UNICEF.Key(j, now))
	j.Request.Nodes = 1
	require.False(t, math.IsInf(backfill.UNICEF.Key(j, now), 0), "a serial job has a finite priority")
}
