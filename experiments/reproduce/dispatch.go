package reproduce

// Windows that jobs are given as they come, on nodes whose tasks overrun: the
// order on a node stays, and who stands behind a task that goes on starts late.

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// dispatcher is a policy that gives every job a window when it comes, by one
// search, and never another one. With some probability a task, an owner's or a
// job's on one of its nodes, takes longer than planned; what stands behind it on
// the node then starts late, and a job starts when the last of its nodes is free:
//
//	planned  A A A A . . J J J J      A overruns by 4:
//	         B B . . . . J J J J
//	real     A A A A A A A A J J J J  both nodes of J start 2 later,
//	         B B . . . . . . J J J J  and B's stands idle
//
// The engine has what really happens: an owner's task is a job of one node, and
// whatever starts reserves its nodes for its real time. The dispatcher has what is
// planned. When a job comes everything that has happened is known, and that a task
// which should have ended goes on, until when is known only where it is told;
// nothing is known of what will.
type dispatcher struct {
	search
	nodes []*entity.Node
	index map[*entity.Node]int // never iterated
	// until is where the interval ends in which a job that comes now looks for
	// its window.
	until func(now des.Time) des.Time
	// soon is how long after the first fit a window may start, where the
	// search is called so.
	soon des.Time
	// longer makes planned times real ones, from a stream of that name and keys.
	longer func(name string, keys ...uint64) func(planned des.Time) des.Time
	// look, if set, is shown what is free when a job comes, before it is placed.
	look func(r *entity.Round, run *entity.Run, list plan.SlotList) error

	active []*activity   // what is not over, by start as far as is known
	owners []*activity   // all
	jobs   []*activity   // that were placed
	list   plan.SlotList // scratch
	free   []des.Time    // by node: scratch
	busy   []bool        // by node: scratch
}

// activity is an owner's task or a job.
type activity struct {
	run     *entity.Run
	cost    float64
	planned des.Time // start
	start   des.Time // as far as is known
	begun   bool
	parts   []part
}

// part is what an activity does on one node.
type part struct {
	node         int
	planned, end des.Time // its length as planned; its end as far as is known
	real         des.Time // its length
}

// over reports whether the part has ended by now.
func (a *activity) over(p *part, now des.Time) bool { return a.begun && a.start+p.real <= now }

// finish is the real end of what has begun.
func (a *activity) finish() des.Time {
	last := a.start
	for _, p := range a.parts {
		last = max(last, a.start+p.real)
	}
	return last
}

func (a *activity) delay() des.Time { return a.start - a.planned }

// overruns makes planned times real. Whether and by how much is drawn in the same
// way whatever the probability.
func overruns(r *rand.Rand, probability float64, excess vo.Range) func(des.Time) des.Time {
	return func(planned des.Time) des.Time {
		u, longer := r.Float64(), excess.Min+float64((excess.Max-excess.Min)*r.Float64())
		if u >= probability {
			return planned
		}
		return planned + des.Time(longer*float64(planned))
	}
}

// run has the jobs, in the order in which they are submitted, come to the nodes
// and the owners' tasks of in.
func (d *dispatcher) run(ctx context.Context, in *vo.Instance, jobs []*entity.Job) error {
	d.nodes, d.index = in.Nodes, make(map[*entity.Node]int, len(in.Nodes))
	d.free, d.busy = make([]des.Time, len(in.Nodes)), make([]bool, len(in.Nodes))
	var all []*entity.Job
	for i, n := range in.Nodes {
		d.index[n] = i
		longer := d.longer("dependability.owner", uint64(i))
		for _, s := range in.Tasks[i] {
			length := s.End - s.Start
			a := &activity{planned: s.Start, start: s.Start, parts: []part{{node: i, planned: length, real: longer(length)}}}
			d.owners = append(d.owners, a)
			// No node is slower than 1, so that it has time enough there.
			all = append(all, &entity.Job{
				ID: int64(-len(d.owners)), Runtime: length, Extra: a,
				Request: entity.Request{Nodes: 1, Length: length},
			})
		}
	}
	domain, err := plan.NewDomain(in.Nodes, window.Cheapest{Settings: wholeTimes, Goal: window.FirstFit})
	if err != nil {
		return err
	}
	sim := des.New(des.Config{})
	entity.NewMetascheduler(sim, domain, d).SubmitAll(slices.Values(append(all, jobs...)))
	return sim.Run(ctx)
}

// Name implements entity.Policy.
func (d *dispatcher) Name() string { return "windows by " + d.search.Name }

// Schedule implements entity.Policy.
func (d *dispatcher) Schedule(r *entity.Round) {
	for _, run := range r.Fresh() {
		a, owners := run.Extra.(*activity)
		if !owners {
			var err error
			if a, err = d.place(r, run); err != nil {
				r.Fail(err)
				return
			}
			if a == nil {
				r.Reject(run, "no window")
				continue
			}
			d.jobs = append(d.jobs, a)
		}
		a.run = run
		at, _ := slices.BinarySearchFunc(d.active, a, byStart)
		d.active = slices.Insert(d.active, at, a)
		if a.planned > r.Now {
			r.WakeAt(a.planned)
		}
	}
	d.begin(r)
}

func byStart(a, b *activity) int { return cmp.Compare(a.start, b.start) }

// place gives run a window, or nil where there is none.
func (d *dispatcher) place(r *entity.Round, run *entity.Run) (*activity, error) {
	d.expect(r.Now)
	list := d.slots(r.Now)
	if d.look != nil {
		if err := d.look(r, run, list); err != nil {
			return nil, err
		}
	}
	request, until := run.Request, list.To
	request.Length += des.Time(d.Margin * float64(request.Length))
	request.Budget *= 1 + d.Margin
	if d.Soon {
		first, err := firstFit.Find(r.Context(), request, list, until)
		if err != nil {
			return nil, err
		}
		until = min(until, first.Window.Start+d.soon)
	}
	found, err := d.search.Search.Find(r.Context(), request, list, until)
	if err != nil || !found.OK {
		return nil, err
	}
	w := found.Window
	a := &activity{cost: w.Cost, planned: w.Start, start: w.Start}
	longer := d.longer("dependability.job", uint64(run.ID))
	estimate := squareLength(run.Request, w)
	for _, t := range w.Tasks {
		a.parts = append(a.parts, part{node: d.index[t.Node], planned: t.End - w.Start, real: longer(estimate)})
	}
	return a, nil
}

// squareLength is how long a square window on the nodes of w has to be for req, in
// whole units.
func squareLength(req entity.Request, w entity.Window) des.Time {
	length := des.Time(0)
	for _, t := range w.Tasks {
		length = max(length, t.Node.TaskTime(req.Length))
	}
	unit := wholeTimes.Quantum
	return (length + unit - des.Tick) / unit * unit
}

// expect works out starts and ends as they are known at now: what has ended took
// its real time, what goes on takes the time planned or until now, whichever is
// more, and what is to come the time planned, as soon as its nodes are free.
func (d *dispatcher) expect(now des.Time) {
	clear(d.free)
	for _, a := range d.active {
		if !a.begun {
			a.start = a.planned
			for _, p := range a.parts {
				a.start = max(a.start, d.free[p.node])
			}
		}
		for i := range a.parts {
			p := &a.parts[i]
			p.end = max(a.start+p.planned, now)
			if a.over(p, now) || (d.Told && p.end == now) {
				p.end = a.start + p.real
			}
			d.free[p.node] = p.end
		}
	}
	slices.SortStableFunc(d.active, byStart)
}

// slots are what is free from now on, as far as is known.
func (d *dispatcher) slots(now des.Time) plan.SlotList {
	d.list = plan.SlotList{From: now, To: d.until(now), Slots: d.list.Slots[:0]}
	add := func(node int, from, to des.Time) {
		if from, to = max(from, now), min(to, d.list.To); from < to {
			d.list.Slots = append(d.list.Slots, entity.Slot{Node: d.nodes[node], Width: 1, Start: from, End: to})
		}
	}
	clear(d.free)
	for _, a := range d.active {
		for _, p := range a.parts {
			add(p.node, d.free[p.node], a.start)
			d.free[p.node] = p.end
		}
	}
	for node, from := range d.free {
		add(node, from, d.list.To)
	}
	slices.SortFunc(d.list.Slots, func(a, b entity.Slot) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Node.ID, b.Node.ID))
	})
	return d.list
}

// begin starts what is due and next on all of its nodes, and lets go of what is
// over.
func (d *dispatcher) begin(r *entity.Round) {
	clear(d.busy)
	left := d.active[:0]
	for _, a := range d.active {
		blocked := slices.ContainsFunc(a.parts, func(p part) bool { return d.busy[p.node] })
		if !a.begun && !blocked && a.planned <= r.Now {
			a.start, a.begun = r.Now, true
			if !r.Reserve(a.run, d.real(a)) {
				return
			}
		}
		over := true
		for i := range a.parts {
			if p := &a.parts[i]; !a.over(p, r.Now) {
				d.busy[p.node], over = true, false
			}
		}
		if !over {
			left = append(left, a)
		}
	}
	clear(d.active[len(left):])
	d.active = left
}

// real is the window that an activity which begins really takes.
func (d *dispatcher) real(a *activity) entity.Window {
	w := entity.Window{Start: a.start, End: a.finish(), Nodes: len(a.parts), Cost: a.cost}
	for _, p := range a.parts {
		w.Tasks = append(w.Tasks, entity.Task{Node: d.nodes[p.node], End: a.start + p.real})
	}
	return w
}
