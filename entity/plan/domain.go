package plan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/internal/sumtree"
)

// Domain is a plan over named nodes of unequal performance and price. It keeps
// what is taken of each node as a row of spans; what is free is derived:
//
//	node 1  ####......####.........      # taken
//	node 2  ..####.........####....      . free: a slot
//	node 3  .......######..........
//	        from                horizon
//
// Which window a request gets is its Finder's decision. Reserve and Release
// cost O(log n) per task for n slots; Find costs a copy of the slots that
// matter and the Finder's search.
type Domain struct {
	// Finder chooses windows. It may be exchanged between two calls.
	Finder entity.Finder
	// Horizon is the instant up to which windows are looked for: the end of the
	// cycle. 0 means none but Interval's.
	Horizon des.Time
	// Interval is how long a scheduling interval is. Fits refuses what takes
	// longer, and where no Horizon is set windows are looked for so far ahead of
	// the present. 0 means no limit: without either, the last slot of every node
	// ends at des.Forever, and Finders that go on until they find nothing more
	// would not come to an end.
	Interval des.Time

	nodes  []*entity.Node
	index  map[*entity.Node]int // position in nodes; never iterated
	origin des.Time             // the latest Forget
	busy   []timeline           // of each node
	// ahead holds the gaps between spans that begin after origin, so that a
	// search need not sort them.
	ahead *sumtree.Tree[gap, struct{}, gapAlgebra]

	ctx    context.Context // of the run
	slots  []entity.Slot   // of the latest search
	walk   gapWalk
	lifted []lift // spans that FindEarlier puts aside
	work   entity.Work
	err    error
}

// span is [start, end) of one node, taken by job.
type span struct {
	start, end des.Time
	job        *entity.Run
}

// timeline is what is taken of one node: spans by start, which do not overlap.
type timeline []span

// after is the position of the first span that ends after t.
func (l timeline) after(t des.Time) int {
	lo, hi := 0, len(l)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if l[mid].end <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// gap is what is free in front of the i-th span; behind the last one for i =
// len(l).
func (l timeline) gap(i int) (start, end des.Time) {
	end = des.Forever
	if i > 0 {
		start = l[i-1].end
	}
	if i < len(l) {
		end = l[i].start
	}
	return start, end
}

// gap is a free span of the node at that position.
type gap struct {
	start, end des.Time
	node       int
}

type gapAlgebra struct{}

func (gapAlgebra) Before(a, b gap) bool {
	return a.start < b.start || (a.start == b.start && a.node < b.node)
}
func (gapAlgebra) Merge(_, new gap) (gap, bool) { return new, true }
func (gapAlgebra) Summarise([]gap) struct{}     { return struct{}{} }
func (gapAlgebra) Join([]struct{}) struct{}     { return struct{}{} }

var (
	_ entity.TaskPlan    = (*Domain)(nil)
	_ entity.ContextPlan = (*Domain)(nil)
)

// NewDomain returns an empty plan over the nodes, whose order settles ties in
// the order of slots. It refuses unusable nodes and nodes of equal ID.
func NewDomain(nodes []*entity.Node, finder entity.Finder) (*Domain, error) {
	d := &Domain{
		Finder: finder,
		ctx:    context.Background(),
		nodes:  slices.Clone(nodes),
		index:  make(map[*entity.Node]int, len(nodes)),
		busy:   make([]timeline, len(nodes)),
		ahead:  sumtree.New(gapAlgebra{}),
	}
	ids := make(map[int]bool, len(nodes))
	for i, n := range nodes {
		if n == nil {
			return nil, fmt.Errorf("node %d of the domain's list is nil", i)
		}
		if err := n.Check(); err != nil {
			return nil, err
		}
		if ids[n.ID] {
			return nil, fmt.Errorf("two nodes of the domain have the ID %d", n.ID)
		}
		ids[n.ID] = true
		d.index[n] = i
	}
	return d, nil
}

// Nodes are the domain's nodes, in its order. The slice must not be changed.
func (d *Domain) Nodes() []*entity.Node { return d.nodes }

// Work adds up what the Finder has done in all searches so far.
func (d *Domain) Work() entity.Work { return d.work }

// Err is the first error of the Finder, or what was wrong with its answer. A
// plan can only say "no window" then; a Metascheduler ends the run.
func (d *Domain) Err() error { return d.err }

// Find returns the window that the Finder prefers among those that start in
// [from, until] and end by the horizon.
func (d *Domain) Find(req entity.Request, from, until des.Time) (entity.Window, bool) {
	from = max(from, d.origin)
	list := entity.SlotList{From: from, To: d.horizon()}
	// A window lies in slots that begin no later than it does. Those that no
	// task of req has room in are left out too, and where fewer are left than
	// nodes are wanted nobody is asked: most looks at "now" end here.
	d.slots = d.gather(d.slots[:0], from, list.To, until)
	for _, s := range d.slots {
		if s.End-s.Start >= s.Node.TaskTime(req.Length) && req.Admits(s.Node) {
			d.slots[len(list.Slots)] = s
			list.Slots = d.slots[:len(list.Slots)+1]
		}
	}
	if len(list.Slots) < req.Nodes {
		return entity.Window{}, false
	}
	return d.ask(req, list, until)
}

func (d *Domain) ask(req entity.Request, list entity.SlotList, until des.Time) (entity.Window, bool) {
	if d.Finder == nil {
		d.fail(errors.New("the domain has no Finder"))
		return entity.Window{}, false
	}
	found, err := d.Finder.Find(d.ctx, req, list, until)
	d.work.Add(found.Work)
	switch {
	case err != nil:
		d.fail(fmt.Errorf("finder %s: %w", d.Finder.Name(), err))
		return entity.Window{}, false
	case found.OK && (found.Window.Start < list.From || found.Window.Start > until):
		d.fail(fmt.Errorf("finder %s: asked for a window that starts in [%v, %v], it gave one at %v", d.Finder.Name(), list.From, until, found.Window.Start))
		return entity.Window{}, false
	}
	return found.Window, found.OK
}

func (d *Domain) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// horizon is the end of what is looked at.
func (d *Domain) horizon() des.Time {
	switch {
	case d.Horizon > 0:
		return d.Horizon
	case d.Interval > 0:
		return d.origin.Add(d.Interval)
	}
	return des.Forever
}

// lift is a span put aside.
type lift struct {
	node int
	span span
}

// FindEarlier is Find as though r had been given up, for a window that starts
// in [from, until] and before r's.
func (d *Domain) FindEarlier(r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
	d.lifted = d.lifted[:0]
	for _, t := range r.Window.Tasks {
		k := d.index[t.Node]
		if i, ok := d.spanOf(r.Run, k, r.Window.Start); ok {
			d.lifted = append(d.lifted, lift{k, d.busy[k][i]})
			d.cut(k, i, 0)
		}
	}
	w, ok := d.Find(r.Run.Request, from, min(until, r.Window.Start-des.Tick))
	for _, l := range d.lifted {
		d.take(l.node, l.span)
	}
	return w, ok
}

// Reserve takes each task's node over [w.Start, task.End), or nothing at all.
func (d *Domain) Reserve(j *entity.Run, w entity.Window) (*entity.Reservation, error) {
	if j.Reservation.Active {
		return nil, &entity.ConflictError{Run: j, Window: w, Detail: fmt.Sprintf("the job already holds a reservation at %v", j.Reservation.Window.Start)}
	}
	if detail := d.refuse(w); detail != "" {
		return nil, &entity.ConflictError{Run: j, Window: w, Detail: detail}
	}
	for i, t := range w.Tasks {
		clash, ok := d.take(d.index[t.Node], span{w.Start, t.End, j})
		if ok {
			continue
		}
		for _, taken := range w.Tasks[:i] {
			d.giveBack(j, taken.Node, w.Start, w.Start)
		}
		return nil, &entity.ConflictError{Run: j, Window: w, Detail: fmt.Sprintf("%v has node %d over [%v, %v)", clash.job, t.Node.ID, clash.start, clash.end)}
	}
	w.Tasks = slices.Clone(w.Tasks) // the Finder may use its own again
	j.Reservation = entity.Reservation{Window: w, Run: j, Active: true}
	return &j.Reservation, nil
}

// Move puts w in the place of what r, which lies ahead, holds; what it refuses
// leaves r as it is.
func (d *Domain) Move(r *entity.Reservation, w entity.Window) error {
	j, held := r.Run, r.Window
	d.Release(r, held.Start)
	_, err := d.Reserve(j, w)
	if err != nil {
		_, restored := d.Reserve(j, held)
		return errors.Join(err, restored)
	}
	return nil
}

// refuse says what makes w no window of this domain, whatever is taken.
func (d *Domain) refuse(w entity.Window) string {
	if w.Start < d.origin {
		return fmt.Sprintf("not a window of the future (the plan begins at %v)", d.origin)
	}
	if len(w.Tasks) == 0 || len(w.Tasks) != w.Nodes {
		return fmt.Sprintf("the window has %d tasks", len(w.Tasks))
	}
	for _, t := range w.Tasks {
		if _, known := d.index[t.Node]; !known {
			return fmt.Sprintf("node %v is not of this domain", t.Node)
		}
		if t.End < w.Start || t.End > w.End {
			return fmt.Sprintf("the task on node %d ends at %v, outside the window", t.Node.ID, t.End)
		}
	}
	return ""
}

// Release gives back every node of r from the instant at on.
func (d *Domain) Release(r *entity.Reservation, at des.Time) {
	if !r.Active {
		return
	}
	r.Active = false
	for _, t := range r.Window.Tasks {
		d.giveBack(r.Run, t.Node, r.Window.Start, at)
	}
}

// Settle implements entity.TaskPlan.
func (d *Domain) Settle(*entity.Reservation) {}

// Under has searches end with ctx.
func (d *Domain) Under(ctx context.Context) { d.ctx = ctx }

// ReleaseTask gives back the node of r's i-th task from the instant at on.
func (d *Domain) ReleaseTask(r *entity.Reservation, i int, at des.Time) {
	if !r.Active {
		return
	}
	d.giveBack(r.Run, r.Window.Tasks[i].Node, r.Window.Start, at)
}

// giveBack ends j's span on n that began at start, if there still is one.
func (d *Domain) giveBack(j *entity.Run, n *entity.Node, start, at des.Time) {
	k := d.index[n]
	if i, ok := d.spanOf(j, k, start); ok {
		d.cut(k, i, at)
	}
}

// spanOf is the position of j's span on the k-th node that began at start.
func (d *Domain) spanOf(j *entity.Run, k int, start des.Time) (i int, ok bool) {
	l := d.busy[k]
	i = l.after(start)
	return i, i < len(l) && l[i].start == start && l[i].job == j
}

// take adds s to the k-th node's spans, or returns the one that is in the way.
func (d *Domain) take(k int, s span) (clash span, ok bool) {
	if s.start >= s.end {
		return span{}, true // a task that takes no time takes no node
	}
	l := &d.busy[k]
	past := l.after(d.origin)
	*l = slices.Delete(*l, 0, past)
	i := l.after(s.start)
	if i < len(*l) && (*l)[i].start < s.end {
		return (*l)[i], false
	}
	d.unlist(k, i)
	*l = slices.Insert(*l, i, s)
	d.list(k, i)
	d.list(k, i+1)
	return span{}, true
}

// cut ends the k-th node's i-th span at the instant at; one that has not begun
// by then goes altogether.
func (d *Domain) cut(k, i int, at des.Time) {
	l := &d.busy[k]
	s := &(*l)[i]
	switch {
	case at >= s.end:
	case at > s.start:
		d.unlist(k, i+1)
		s.end = at
		d.list(k, i+1)
	default:
		d.unlist(k, i)
		d.unlist(k, i+1)
		*l = slices.Delete(*l, i, i+1)
		d.list(k, i)
	}
}

// list keeps the k-th node's i-th gap among those ahead; unlist takes it out
// before it changes.
func (d *Domain) list(k, i int) {
	if start, end := d.busy[k].gap(i); start < end && start > d.origin {
		d.ahead.Put(gap{start, end, k})
	}
}

func (d *Domain) unlist(k, i int) {
	if start, end := d.busy[k].gap(i); start < end && start > d.origin {
		d.ahead.Remove(gap{start, end, k})
	}
}

// Occupy takes n over [from, to) for its owner's own use.
func (d *Domain) Occupy(n *entity.Node, from, to des.Time) error {
	_, err := d.Reserve(&entity.Run{Job: owner}, entity.Window{Start: from, End: to, Nodes: 1, Tasks: []entity.Task{{Node: n, End: to}}})
	return err
}

// owner is the job of all owners' spans in a plan.
var owner = &entity.Job{ID: -1, User: -1, Group: -1, Queue: -1}

// Room is the first instant from which on n is free over the length, but for
// jobs that yield.
func (d *Domain) Room(n *entity.Node, from, length des.Time, yields func(*entity.Run) bool) des.Time {
	l := d.busy[d.index[n]]
	for i := l.after(from); i < len(l) && l[i].start < from.Add(length); i++ {
		if !yields(l[i].job) {
			from = l[i].end
		}
	}
	return from
}

// Holders are the jobs that have n within [from, to).
func (d *Domain) Holders(n *entity.Node, from, to des.Time) (jobs []*entity.Run) {
	l := d.busy[d.index[n]]
	for i := l.after(from); i < len(l) && l[i].start < to; i++ {
		jobs = append(jobs, l[i].job)
	}
	return jobs
}

// SlotList is what is free from the present to the horizon, as the call finds
// it.
func (d *Domain) SlotList() entity.SlotList {
	list := entity.SlotList{From: d.origin, To: d.horizon()}
	list.Slots = d.gather(nil, list.From, list.To, list.To)
	return list
}

// Slots yields what is free within [from, until) as the call finds it, by
// start, ties in the order of the nodes.
func (d *Domain) Slots(from, until des.Time) iter.Seq[entity.Slot] {
	return slices.Values(d.gather(nil, max(from, d.origin), until, until))
}

// gather appends to list what is free within [from, to) and begins no later
// than latest, by start, ties in the order of the nodes.
func (d *Domain) gather(list []entity.Slot, from, to, latest des.Time) []entity.Slot {
	if latest < from {
		return list
	}
	for k, l := range d.busy {
		start, end := l.gap(l.after(from))
		if end = min(end, to); start <= from && from < end {
			list = append(list, entity.Slot{Node: d.nodes[k], Width: 1, Start: from, End: end})
		}
	}
	if from == latest {
		return list
	}
	d.walk = gapWalk{d.nodes, list, to, latest}
	d.ahead.ScanAfter(gap{start: from, node: len(d.nodes)}, &d.walk)
	return d.walk.list
}

// gapWalk gathers gaps ahead.
type gapWalk struct {
	nodes      []*entity.Node
	list       []entity.Slot
	to, latest des.Time
}

func (*gapWalk) Skip(struct{}) bool { return false }

func (w *gapWalk) Visit(gaps []gap) bool {
	for _, g := range gaps {
		if g.start > w.latest || g.start >= w.to {
			return false
		}
		w.list = append(w.list, entity.Slot{Node: w.nodes[g.node], Width: 1, Start: g.start, End: min(g.end, w.to)})
	}
	return true
}

// Forget lets go of what is past. Something was gained if a gap has begun since
// the last call.
func (d *Domain) Forget(now des.Time) (gained bool) {
	d.origin = max(d.origin, now)
	for {
		first, ok := d.ahead.Min()
		if !ok || first.start > d.origin {
			return gained
		}
		gained = true
		d.ahead.Remove(first)
	}
}

// Has reports whether n is a node of the domain.
func (d *Domain) Has(n *entity.Node) bool {
	_, known := d.index[n]
	return known
}

// NextGain is the next instant at which a gap begins, or des.Forever.
func (d *Domain) NextGain() des.Time {
	if first, ok := d.ahead.Min(); ok {
		return first.start
	}
	return des.Forever
}

// Fits asks the Finder for a window in an empty plan, and says why there is
// none.
func (d *Domain) Fits(req entity.Request) error {
	if err := req.Check(); err != nil {
		return err
	}
	longest := d.horizon()
	if longest < des.Forever {
		longest -= d.origin
	}
	if d.Interval > 0 {
		longest = d.Interval
	}
	if longest > 0 {
		empty := entity.SlotList{From: d.origin, To: d.origin.Add(longest)}
		d.slots = d.slots[:0]
		for _, n := range d.nodes {
			d.slots = append(d.slots, entity.Slot{Node: n, Width: 1, Start: empty.From, End: empty.To})
		}
		empty.Slots = d.slots
		if _, ok := d.ask(req, empty, empty.To); ok {
			return nil
		}
	}
	return d.whyNot(req, min(longest, req.DeadlineLimit()-d.origin))
}

// whyNot says in the user's terms why req, with at most the time longest for a
// task, gets no window even in an empty plan.
func (d *Domain) whyNot(req entity.Request, longest des.Time) error {
	if req.Nodes > len(d.nodes) {
		return fmt.Errorf("wants %d nodes of a domain of %d", req.Nodes, len(d.nodes))
	}
	admitted := 0
	var costs []float64
	for _, n := range d.nodes {
		if !req.Admits(n) {
			continue
		}
		admitted++
		if t := n.TaskTime(req.Length); t <= longest {
			costs = append(costs, n.Price*t.Seconds())
		}
	}
	if admitted < req.Nodes {
		return fmt.Errorf("wants %d nodes, but only %d of %d meet its demands on performance, price and attributes", req.Nodes, admitted, len(d.nodes))
	}
	if len(costs) < req.Nodes {
		limit := ""
		if longest == d.Interval {
			limit = ", the interval that is planned ahead"
		}
		return fmt.Errorf("wants %d nodes, but only %d that meet its demands are fast enough to end within %v%s", req.Nodes, len(costs), longest, limit)
	}
	slices.Sort(costs)
	least := 0.0
	for _, c := range costs[:req.Nodes] {
		least += c
	}
	if least > req.BudgetLimit() {
		return fmt.Errorf("its budget of %g is below %g, the least that %d nodes cost", req.Budget, least, req.Nodes)
	}
	if d.err != nil {
		return d.err
	}
	return fmt.Errorf("finder %s finds no window for it even with every node free", d.Finder.Name())
}
