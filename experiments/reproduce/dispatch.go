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

// dispatcher is a policy that gives every job one window, when it comes, by one search. With some
// probability a task, an owner's or a job's on one of its nodes, takes longer than planned. What
// stands behind it on the node then starts late, and a job starts when the last of its nodes is
// free:
//
//	planned  A A A A . . J J J J      A overruns by 4:
//	         B B . . . . J J J J
//	real     A A A A A A A A J J J J  both nodes of J start 2 later,
//	         B B . . . . . . J J J J  and B's stands idle
//
// The engine has what really happens: an owner's task is a job of one node, and whatever starts
// reserves its nodes for its real time. The dispatcher has what is planned. When a job comes,
// everything is known that has happened, and that a task goes on which should have ended; until
// when is only known if search.Told is set. Nothing is known of what will happen.
type dispatcher struct {
	search
	nodes []*entity.Node
	// index has the places of nodes.
	index map[*entity.Node]int // never iterated
	// until returns where the interval ends in which a job that comes now looks for its window.
	until func(now des.Time) des.Time
	// soon is the time after the first fit within which a window may start, if search.Soon is set.
	soon des.Time
	// longer returns the function that makes planned times real ones, drawn from a stream of that
	// name and keys.
	longer func(name string, keys ...uint64) func(planned des.Time) des.Time
	// look, if set, is shown what is free when a job comes, before the job is placed.
	look func(r *entity.Round, run *entity.Run, list plan.SlotList) error

	// active has what is not over. Invariant: it is ordered by start, as far as that is known;
	// expect restores the order.
	active []*activity
	owners []*activity   // all
	jobs   []*activity   // that were placed
	list   plan.SlotList // scratch
	free   []des.Time    // by node: scratch
	busy   []bool        // by node: scratch
}

// activity is an owner's task, of one part, or a job, with a part on each of its nodes.
type activity struct {
	run *entity.Run
	// cost is the cost of the window; 0 for an owner's task.
	cost    float64
	planned des.Time // start
	start   des.Time // as far as is known
	begun   bool
	parts   []part
}

// part is the task of an activity on one node, by the node's place.
type part struct {
	node int
	// planned is its length as planned, end its end as far as is known now.
	planned, end des.Time
	real         des.Time // its length
}

// over reports whether the part has ended by now.
func (a *activity) over(p *part, now des.Time) bool { return a.begun && a.start+p.real <= now }

// finish returns the real end of what has begun: that of its longest part.
func (a *activity) finish() des.Time {
	last := a.start
	for _, p := range a.parts {
		last = max(last, a.start+p.real)
	}
	return last
}

// delay returns how much later than planned the activity starts.
func (a *activity) delay() des.Time { return a.start - a.planned }

// overruns makes planned times real. Whether and by how much is drawn in the same way whatever the
// probability, so that a task which overruns at one probability does so at any higher one.
func overruns(r *rand.Rand, probability float64, excess vo.Range) func(des.Time) des.Time {
	return func(planned des.Time) des.Time {
		u, longer := r.Float64(), excess.Min+float64((excess.Max-excess.Min)*r.Float64())
		if u >= probability {
			return planned
		}
		return planned + des.Time(longer*float64(planned))
	}
}

// run lets the jobs, in the order of submission, come to the nodes and the owners' tasks of in.
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
	// The dispatcher reserves windows itself: it does not ask the domain's search.
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

// byStart orders activities by their starts as far as they are known.
func byStart(a, b *activity) int { return cmp.Compare(a.start, b.start) }

// place gives a job a window; nil if there is none.
func (d *dispatcher) place(r *entity.Round, run *entity.Run) (*activity, error) {
	d.expect(r.Now)
	list := d.slots(r.Now)
	if d.look != nil {
		if err := d.look(r, run, list); err != nil {
			return nil, err
		}
	}
	// What is asked for: with a margin of time and money, and perhaps not far behind the first fit.
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
	// What it gets, and what it really takes: its estimate without the margin, made longer by
	// chance on each node.
	w := found.Window
	a := &activity{cost: w.Cost, planned: w.Start, start: w.Start}
	longer := d.longer("dependability.job", uint64(run.ID))
	estimate := squareLength(run.Request, w)
	for _, t := range w.Tasks {
		a.parts = append(a.parts, part{node: d.index[t.Node], planned: t.End - w.Start, real: longer(estimate)})
	}
	return a, nil
}

// squareLength returns how long a square window on the nodes of w has to be for req, in whole
// units: the time of the slowest node, rounded up.
func squareLength(req entity.Request, w entity.Window) des.Time {
	length := des.Time(0)
	for _, t := range w.Tasks {
		length = max(length, t.Node.TaskTime(req.Length))
	}
	unit := wholeTimes.Quantum
	return (length + unit - des.Tick) / unit * unit
}

// expect works out starts and ends as they are known at now. What has ended took its real time.
// What goes on takes the time planned, or until now if that is more. What is to come takes the time
// planned, as soon as its nodes are free.
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

// slots returns what is free from now on, as far as is known. The list is scratch, good until the
// next call.
func (d *dispatcher) slots(now des.Time) plan.SlotList {
	d.list = plan.SlotList{From: now, To: d.until(now), Slots: d.list.Slots[:0]}
	add := func(node int, from, to des.Time) {
		if from, to = max(from, now), min(to, d.list.To); from < to {
			d.list.Slots = append(d.list.Slots, entity.Slot{Node: d.nodes[node], Width: 1, Start: from, End: to})
		}
	}
	// A node is free between its activities, which are in order of start, and after the last one.
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

// begin starts what is due and next on all of its nodes, and forgets what is over. A node is busy
// for all that stands behind in the list, also if what it waits for has not begun: the order on a
// node stays.
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

// real returns the window that an activity which begins really takes.
func (d *dispatcher) real(a *activity) entity.Window {
	w := entity.Window{Start: a.start, End: a.finish(), Nodes: len(a.parts), Cost: a.cost}
	for _, p := range a.parts {
		w.Tasks = append(w.Tasks, entity.Task{Node: d.nodes[p.node], End: a.start + p.real})
	}
	return w
}
