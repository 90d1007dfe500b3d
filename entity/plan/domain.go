package plan

import (
	"cmp"
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
// Nodes that are equal in performance, price, q and attributes make a class, of
// which it keeps only how many are taken when (see class.go). A reservation that
// names a node of a class holds one of its class; which one is decided when its
// job starts, so that every other choice stays open until then. Slots of a class
// are levels: the k-th node's are when at least k nodes of the class are free.
//
// Which window a request gets is its criterion's decision, or else the Finder's. Reserve and Release
// cost O(log n) per task for n slots, or per class; Find costs a copy of the
// slots that matter and the Finder's search, or a look at the counts where that
// is the same (Traits.Earliest).
//
// A node's fields must not change while it is in a domain, but through Reprice.
type Domain struct {
	// Finder chooses windows for requests without a criterion of their own. It may
	// be exchanged between two calls.
	Finder Finder
	// Horizon is the instant up to which windows are looked for: the end of the
	// cycle. 0 means none but Interval's.
	Horizon des.Time
	// Interval is the length of a scheduling interval; 0 means no limit. Fits refuses what
	// takes longer. If no Horizon is set, windows are looked for up to Interval ahead of the
	// present. Without either the last slot of every node ends at des.Forever, and Finders
	// that go on until they find nothing more do not end.
	Interval des.Time
	// PricesChange makes Fits ignore prices: what is too dear today may not be tomorrow.
	PricesChange bool

	nodes   []*entity.Node
	byPrice []*entity.Node       // see cheapFirst
	index   map[*entity.Node]int // position in nodes; never iterated
	// origin is the instant of the latest Forget: what is past is not known any more.
	origin des.Time

	// kinds are the classes with the same traits, apart by attributes; never iterated.
	kinds   map[traits][]*class
	classOf []*class // by node
	// classes are those that count nodes.
	classes []*class
	// on is, for each counted node, the job that runs on it, while it lasts.
	on []span
	// live are the reservations, without owners' jobs; Reservation.Index is the position in it and
	// 1.
	live []*entity.Reservation
	// returned says which tasks of a reservation have been given back one by one;
	// never iterated.
	returned map[*entity.Reservation][]bool

	// single tells of each node whether it is kept by name; singles are these nodes, ascending,
	// and busy are their timelines.
	single  []bool
	singles []int
	busy    []timeline
	// ahead holds the singles' gaps between spans that begin after origin, so
	// that a search need not sort them.
	ahead  *sumtree.Tree[gap, struct{}, struct{}, gapAlgebra]
	sought gap        // what an operation on ahead is about
	pinned []des.Time // by node: when the last of what is its own will have ended
	// rejoin is an instant before which no single can be counted again.
	rejoin des.Time
	// pins are the instants, by node, at which owners' jobs and outages end.
	pins      *sumtree.Tree[pin, struct{}, struct{}, pinAlgebra]
	due       pin       // what an operation on pins is about
	freeNodes freeNodes // of the singles
	overlay   overlay   // on the singles

	gaps  []gap         // of the latest search
	slots []entity.Slot // of the latest search
	open  []int         // scratch of levels
	walk  gapWalk
	first firstFit // of the latest search
	// lifted is the part of the plan that FindEarlier and SlotListWithout put aside for the time of
	// their search.
	lifted []lift
	// seen is, for each node, the mark of the latest reservation that named it: a window that
	// names a node twice is found without a set.
	seen []int
	mark int
	work Work
	ctx  func() context.Context // under which searches are
	err  error
}

// pin is the end of what a node, that at the position, has of its own: an owner's
// job, an outage.
type pin struct {
	end  des.Time
	node int
}

// pinAlgebra orders pins by end, ties by node. No two are equal: what ends at one instant on one
// node is one thing.
type pinAlgebra struct{ unsummed[pin] }

func (pinAlgebra) Before(a, b *pin) bool {
	return a.end < b.end || (a.end == b.end && a.node < b.node)
}

var (
	_ entity.Plan     = (*Domain)(nil)
	_ entity.Attacher = (*Domain)(nil)
)

// NewDomain returns an empty plan over the nodes, whose order settles ties in
// the order of slots. It refuses unusable nodes and nodes of equal ID.
func NewDomain(nodes []*entity.Node, finder Finder) (*Domain, error) {
	d := &Domain{
		Finder: finder,
		ctx:    context.Background,
		nodes:  slices.Clone(nodes),
		index:  make(map[*entity.Node]int, len(nodes)),
		ahead:  sumtree.New[gap, struct{}, struct{}](gapAlgebra{}),
		rejoin: des.Forever,
		pins:   sumtree.New[pin, struct{}, struct{}](pinAlgebra{}),

		kinds:    map[traits][]*class{},
		returned: map[*entity.Reservation][]bool{},
		classOf:  make([]*class, len(nodes)),
		on:       make([]span, len(nodes)),
		single:   make([]bool, len(nodes)),
		busy:     make([]timeline, len(nodes)),
		pinned:   make([]des.Time, len(nodes)),
		seen:     make([]int, len(nodes)),
		overlay:  newOverlay(len(nodes)),
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
		d.single[i] = true
		d.singles = append(d.singles, i)
		d.classify(i)
	}
	d.freeNodes = newFreeNodes(d.nodes)
	for i := range d.nodes {
		if d.single[i] {
			d.join(i)
		}
	}
	for i := range d.nodes {
		d.updateFree(i)
	}
	return d, nil
}

// Nodes returns the domain's nodes, in its order. The slice must not be changed.
func (d *Domain) Nodes() []*entity.Node { return d.nodes }

// Size returns how many nodes the domain has.
func (d *Domain) Size() int { return len(d.nodes) }

// Node returns the i-th node, from 0 on, in the domain's order.
func (d *Domain) Node(i int) *entity.Node { return d.nodes[i] }

// Number returns the number of n among the domain's nodes; false if n is none of them.
func (d *Domain) Number(n *entity.Node) (int, bool) {
	i, known := d.index[n]
	return i, known
}

// Work returns the sum of the work of all searches of the Finder so far.
func (d *Domain) Work() Work { return d.work }

// Err returns the first error of the Finder, or what was wrong with its answer. A
// plan can only say "no window" then; a Metascheduler ends the run.
func (d *Domain) Err() error { return d.err }

// finder is the search that req's user prefers, or else the domain's.
func (d *Domain) finder(req *entity.Request) Finder {
	if f, ok := req.Criterion.(Finder); ok {
		return f
	}
	return d.Finder
}

// Find returns the window that the request's criterion, or else the Finder,
// prefers among those that start in [from, until] and end by the horizon.
func (d *Domain) Find(req entity.Request, from, until des.Time) (entity.Window, bool) {
	from = max(from, d.origin)
	if q, ok := d.counted(&req, until); ok {
		at, ok := q.class.plan.earliest(q.nodes, q.length, from, q.until)
		if !ok {
			return entity.Window{}, false
		}
		return d.window(&q, at), true
	}
	if d.byFirstFit(&req) {
		return d.firstFit(&req, from, until)
	}
	list := d.usable(&req, from, until)
	if len(list.Slots) < req.Nodes { // most looks at "now" end here
		return entity.Window{}, false
	}
	return d.ask(req, list, until)
}

// usable are the slots in which a window of req that starts in [from, until] can
// lie: they begin no later than it does, and a task has room in each.
func (d *Domain) usable(req *entity.Request, from, until des.Time) SlotList {
	list := SlotList{From: from, To: d.horizon(), Checked: true}
	d.slots = d.slots[:0]
	if from == until && d.freeAtMost(from) < req.Nodes {
		return list
	}
	for _, g := range d.gather(from, list.To, until) {
		if n := d.nodes[g.node]; g.end-g.start >= n.TaskTime(req.Length) && req.Admits(n) {
			d.slots = append(d.slots, entity.Slot{Node: n, Width: 1, Start: g.start, End: g.end})
		}
	}
	list.Slots = d.slots
	return list
}

// FitsAt reports whether that many nodes are free for a task of that length from the instant
// at on. If not, missNodes and missLength describe the requests that fail there for the same
// reason: every request for at least missNodes nodes and at least missLength. It asks no
// Finder: a criterion may find what another one does not, and no criterion finds what FitsAt
// misses.
func (d *Domain) FitsAt(at des.Time, nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time) {
	req := entity.Request{Nodes: nodes, Length: length}
	if at == d.origin && len(d.classes) == 0 {
		return d.fitsNow(nodes, length)
	}
	q, known := d.counted(&req, at)
	if !known {
		return len(d.usable(&req, max(at, d.origin), at).Slots) >= nodes, nodes, length
	}
	if q.until < at {
		return false, nodes, length
	}
	ok, missNodes, missLength = q.class.plan.FitsAt(at, nodes, q.length)
	if q.length != length && missLength > 0 { // told in tasks' time, not in length
		return ok, nodes, length
	}
	return ok, missNodes, missLength
}

func (d *Domain) ask(req entity.Request, list SlotList, until des.Time) (entity.Window, bool) {
	w, ok, err := d.search(req, list, until)
	if err != nil {
		d.fail(err)
	}
	return w, ok
}

func (d *Domain) search(req entity.Request, list SlotList, until des.Time) (entity.Window, bool, error) {
	f := d.finder(&req)
	if f == nil {
		return entity.Window{}, false, errors.New("the domain has no Finder")
	}
	found, err := f.Find(d.ctx(), req, list, until)
	d.work.Add(found.Work)
	switch {
	case err != nil:
		return entity.Window{}, false, fmt.Errorf("finder %s: %w", f.Name(), err)
	case found.OK && (found.Window.Start < list.From || found.Window.Start > until):
		return entity.Window{}, false, fmt.Errorf("finder %s: asked for a window that starts in [%v, %v], it gave one at %v", f.Name(), list.From, until, found.Window.Start)
	}
	return found.Window, found.OK, nil
}

// Under makes searches stop when ctx ends. Attach does so for the context of a run; call Under
// to search outside a run.
func (d *Domain) Under(ctx context.Context) { d.ctx = func() context.Context { return ctx } }

// Attach makes searches stop when the context of the run ends, because a search can take long.
// The metascheduler calls Attach.
func (d *Domain) Attach(m *entity.Metascheduler) { d.ctx = m.Simulator().Context }

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

// lift is a part of the plan that has been put aside: a span of the node at that position, or of n
// nodes of a class.
type lift struct {
	node  int
	class *class
	n     int
	span  span
}

// lift puts aside what r, which lies ahead, holds.
func (d *Domain) lift(r *entity.Reservation) {
	d.applyOverlay()
	start, tasks := r.Window.Start, r.Window.Tasks
	for i := 0; i < len(tasks); {
		k, n, c := d.run(tasks, i)
		if c == nil {
			if at, ok := d.spanOf(r.Run, k, start); ok {
				d.lifted = append(d.lifted, lift{node: k, span: d.busy[k][at]})
				d.cut(k, at, 0)
			}
		} else {
			held := 0
			for t := i; t < i+n; t++ {
				if !d.idle(r, t) {
					held++
				}
			}
			s := span{start, tasks[i].End, r.Run}
			d.lifted = append(d.lifted, lift{class: c, n: held, span: s})
			c.plan.add(s.start, s.end, held)
		}
		i += n
	}
}

// putBack ends what lift began.
func (d *Domain) putBack() {
	for _, l := range d.lifted {
		if l.class == nil {
			d.take(l.node, l.span)
		} else {
			l.class.plan.add(l.span.start, l.span.end, -l.n)
		}
	}
	d.lifted = d.lifted[:0]
}

// FindEarlier is Find as though r had been given up, for a window that starts
// in [from, until] and before r's.
func (d *Domain) FindEarlier(r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
	until = min(until, r.Window.Start-des.Tick)
	if q, ok := d.counted(&r.Run.Request, until); ok && d.holds(&q, r) {
		return d.beforeIn(&q, r, from)
	}
	d.lift(r)
	w, ok := d.Find(r.Run.Request, from, until)
	d.putBack()
	return w, ok
}

// Reserve takes each task's node over [w.Start, task.End), or nothing at all. A node of a
// class stands for any node of the class; the reservation may name another one later.
func (d *Domain) Reserve(j *entity.Run, w entity.Window) (*entity.Reservation, error) {
	take := d.take
	if w.Start > d.origin {
		d.applyOverlay() // what was noted before
		take = d.addToOverlay
	}
	r, err := d.reserve(j, w, take)
	if err == nil {
		d.enlist(r)
	}
	return r, err
}

// reserve is Reserve with what takes a span of a single.
func (d *Domain) reserve(j *entity.Run, w entity.Window, take func(int, span) (span, bool)) (*entity.Reservation, error) {
	if j.Reservation.Active {
		return nil, &entity.ConflictError{Run: j, Window: w, Detail: fmt.Sprintf("the job already holds a reservation at %v", j.Reservation.Window.Start)}
	}
	if detail := d.refuse(w); detail != "" {
		return nil, &entity.ConflictError{Run: j, Window: w, Detail: detail}
	}
	for i := 0; i < len(w.Tasks); {
		n, detail := d.takeRun(j, &w, i, take)
		if detail != "" {
			for t := 0; t < i; {
				t += d.returnTasks(&entity.Reservation{Window: w, Run: j}, t, w.Start)
			}
			if d.overlay.by == j {
				d.clearOverlay()
			}
			return nil, &entity.ConflictError{Run: j, Window: w, Detail: detail}
		}
		i += n
	}
	w.Tasks = slices.Clone(w.Tasks) // the Finder may use its own again
	j.Reservation = entity.Reservation{Window: w, Run: j, Active: true}
	return &j.Reservation, nil
}

// takeRun takes what w's tasks from the i-th on want that are counted together,
// and returns how many they are; or it says why not.
func (d *Domain) takeRun(j *entity.Run, w *entity.Window, i int, take func(int, span) (span, bool)) (n int, detail string) {
	end := w.Tasks[i].End
	k, n, c := d.run(w.Tasks, i)
	if c == nil {
		if clash, ok := take(k, span{w.Start, end, j}); !ok {
			return n, fmt.Sprintf("%v has node %d over [%v, %v)", clash.by, d.nodes[k].ID, clash.start, clash.end)
		}
		return n, ""
	}
	if w.Start < end {
		if _, ok := c.plan.earliest(n, end-w.Start, w.Start, w.Start); !ok {
			return n, fmt.Sprintf("fewer than %d of the %d nodes like node %d are free until %v", n, len(c.counted), d.nodes[k].ID, end)
		}
		c.plan.add(w.Start, end, -n)
	}
	return n, ""
}

// enlist puts r on the list of what is reserved. Before the list grows, it
// loses what is past: there may be plans in which nobody gives anything back.
func (d *Domain) enlist(r *entity.Reservation) {
	if len(d.live) == cap(d.live) {
		d.live = slices.DeleteFunc(d.live, func(r *entity.Reservation) bool {
			past := r.Window.End <= d.origin
			if past {
				r.Index = 0
			}
			return past
		})
		for i, r := range d.live {
			r.Index = int32(i) + 1
		}
	}
	d.live = append(d.live, r)
	r.Index = int32(len(d.live))
}

// strike takes r, of which nothing is left, off that list; it reports whether r
// was there.
func (d *Domain) strike(r *entity.Reservation) bool {
	if r.Index == 0 {
		return false
	}
	last := len(d.live) - 1
	moved := d.live[last]
	d.live[r.Index-1], moved.Index = moved, r.Index
	d.live[last] = nil
	d.live = d.live[:last]
	r.Index = 0
	return true
}

// Move replaces the window of r, which lies ahead, by w. If it refuses, r stays as it is.
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
	d.mark++
	for _, t := range w.Tasks {
		k, known := 0, t.Node != nil
		if known {
			k = d.position(t.Node)
			known = d.nodes[k] == t.Node
		}
		if !known {
			return fmt.Sprintf("node %v is not of this domain", t.Node)
		}
		if t.End < w.Start || t.End > w.End {
			return fmt.Sprintf("the task on node %d ends at %v, outside the window", t.Node.ID, t.End)
		}
		if t.End == w.Start {
			continue
		}
		if d.seen[k] == d.mark {
			return fmt.Sprintf("node %d is in it twice", t.Node.ID)
		}
		d.seen[k] = d.mark
	}
	return ""
}

// Release gives back every node of r from the instant at on.
func (d *Domain) Release(r *entity.Reservation, at des.Time) {
	if !r.Active {
		return
	}
	r.Active = false
	given := false // with the overlay
	if d.overlay.by == r.Run {
		if at > r.Window.Start {
			d.applyOverlay()
		} else {
			d.clearOverlay()
			given = len(d.classes) == 0
		}
	}
	for i := 0; i < len(r.Window.Tasks) && !given; {
		i += d.returnTasks(r, i, at)
	}
	if r.Partly {
		delete(d.returned, r)
	}
	if !d.strike(r) {
		d.unpin(r)
	}
}

// ReleaseTask gives back the node of r's i-th task from the instant at on. It
// is called once a task.
func (d *Domain) ReleaseTask(r *entity.Reservation, i int, at des.Time) {
	if !r.Active {
		return
	}
	d.applyOverlay()
	k, _, c := d.run(r.Window.Tasks[:i+1], i)
	d.giveBack(r, k, c, i, 1, at)
	if !r.Partly {
		r.Partly = true
		d.returned[r] = make([]bool, len(r.Window.Tasks))
	}
	d.returned[r][i] = true
}

// Extend gives each task of r, which is settled, the end of the same task of w, or changes
// nothing.
func (d *Domain) Extend(r *entity.Reservation, w entity.Window) error {
	d.applyOverlay()
	done := 0
	var err error
	for ; done < len(w.Tasks) && err == nil; done++ {
		err = d.extendTask(r, done, w.Tasks[done].End)
	}
	if err == nil {
		w.Tasks = slices.Clone(w.Tasks)
		r.Window = w
		if r.Index == 0 { // it was past already
			d.enlist(r)
		}
		return nil
	}
	for i := range done - 1 {
		d.shorten(r, i, w.Tasks[i].End)
	}
	var taken *entity.ConflictError
	if errors.As(err, &taken) {
		taken.Run, taken.Window = r.Run, w
	}
	return err
}

// extendTask has the node of r's i-th task be taken until the instant end, or says by
// what it is before.
func (d *Domain) extendTask(r *entity.Reservation, i int, end des.Time) error {
	held := r.Window.Tasks[i].End
	if end <= held || d.idle(r, i) {
		return nil
	}
	k, _, c := d.run(r.Window.Tasks[:i+1], i)
	if c == nil {
		return d.extendSpan(r, k, span{r.Window.Start, held, r.Run}, end)
	}
	if on := d.on[k]; on.by != r.Run && on.end > max(held, d.origin) {
		return &entity.ConflictError{At: max(held, on.start), Detail: fmt.Sprintf("%v has node %d over [%v, %v)", on.by, d.nodes[k].ID, on.start, on.end)}
	}
	if ok, _, miss := c.plan.FitsAt(held, 1, end-held); !ok {
		return &entity.ConflictError{At: held + max(miss-des.Tick, 0), Detail: fmt.Sprintf("all of the %d nodes like node %d are taken then", len(c.counted), d.nodes[k].ID)}
	}
	c.plan.add(held, end, -1)
	d.on[k] = span{r.Window.Start, end, r.Run}
	return nil
}

// extendSpan is extendTask for s, on the k-th node, a single.
func (d *Domain) extendSpan(r *entity.Reservation, k int, s span, end des.Time) error {
	if at, ok := d.spanOf(r.Run, k, s.start); ok {
		d.cut(k, at, 0)
	}
	clash, ok := d.take(k, span{s.start, end, s.by})
	if ok {
		return nil
	}
	d.take(k, s)
	return &entity.ConflictError{At: max(clash.start, s.end), Detail: fmt.Sprintf("%v has node %d over [%v, %v)", clash.by, d.nodes[k].ID, clash.start, clash.end)}
}

// shorten undoes extendTask.
func (d *Domain) shorten(r *entity.Reservation, i int, end des.Time) {
	held := r.Window.Tasks[i].End
	if end <= held || d.idle(r, i) {
		return
	}
	k, _, c := d.run(r.Window.Tasks[:i+1], i)
	if c == nil {
		if at, ok := d.spanOf(r.Run, k, r.Window.Start); ok {
			d.cut(k, at, held)
		}
		return
	}
	c.plan.add(held, end, 1)
	d.on[k].end = held
}

// returnTasks gives back what r's tasks from the i-th on hold that are counted
// together, and returns how many they are.
func (d *Domain) returnTasks(r *entity.Reservation, i int, at des.Time) int {
	k, n, c := d.run(r.Window.Tasks, i)
	d.giveBack(r, k, c, i, n, at)
	return n
}

// giveBack ends r's tasks [i, i+n) at the instant at: on class c, or where it is
// nil the span of one task on the k-th node, if there still is one.
func (d *Domain) giveBack(r *entity.Reservation, k int, c *class, i, n int, at des.Time) {
	if c != nil {
		d.returnRun(c, r, i, n, at)
	} else if s, ok := d.spanOf(r.Run, k, r.Window.Start); ok {
		d.cut(k, s, at)
	}
}

// Occupy takes n over [from, to) for its owner's own use; see Withhold.
func (d *Domain) Occupy(n *entity.Node, from, to des.Time) error {
	k, known := d.index[n]
	if !known {
		return fmt.Errorf("node %v is not of this domain", n)
	}
	return d.Withhold(entity.NewWithheld(), entity.NodeAt(k), from, to)
}

// Withhold takes exactly these nodes over [from, to), or none: for outages, owners' jobs and
// everything else that concerns a node and not its equals. Nodes of a class are kept by name
// until the time is over.
func (d *Domain) Withhold(r *entity.Run, at entity.Where, from, to des.Time) error {
	w := entity.Window{Start: from, End: to, Nodes: at.Size()}
	if err := at.Check(len(d.nodes)); err != nil || at.Set == nil {
		return &entity.ConflictError{Run: r, Window: w, Detail: fmt.Sprintf("the nodes of a domain are withheld by number (0-%d)", len(d.nodes)-1)}
	}
	for k := range at.Numbers() {
		w.Tasks = append(w.Tasks, entity.Task{Node: d.nodes[k], End: to})
	}
	if detail := d.refuse(w); detail != "" {
		return &entity.ConflictError{Run: r, Window: w, Detail: detail}
	}
	d.applyOverlay()
	for k := range at.Numbers() {
		if !d.single[k] && !d.separate(k, span{start: from, end: to}, nobody) {
			d.rejoin = d.origin // those that have left may come back
			return &entity.ConflictError{Run: r, Window: w,
				Detail: fmt.Sprintf("however the nodes like node %d are shared out, it is taken then", d.nodes[k].ID)}
		}
	}
	if _, err := d.reserve(r, w, d.take); err != nil {
		return err
	}
	for k := range at.Numbers() {
		d.pinned[k] = max(d.pinned[k], to)
		d.rejoinAt(k, d.pinned[k])
		if from < to {
			d.due = pin{to, k}
			d.pins.Put(&d.due)
		}
	}
	return nil
}

// unpin releases what Withhold has kept for r and r has given back: its nodes may be counted
// again as soon as nothing else of their own lies ahead.
func (d *Domain) unpin(r *entity.Reservation) {
	for _, t := range r.Window.Tasks {
		k := d.index[t.Node]
		if r.Window.Start < t.End {
			d.due = pin{t.End, k}
			d.pins.Remove(&d.due)
		}
		d.pinned[k] = 0
		for p := range d.pins.All() {
			if p.node == k {
				d.pinned[k] = p.end
			}
		}
		d.rejoinAt(k, max(d.pinned[k], d.origin))
	}
}

func nobody(*entity.Run) bool { return false }

// Reprice sets n's price. Reservations keep the price that was agreed upon. A node whose
// price now differs from its equals' leaves its class with its share of the reservations.
func (d *Domain) Reprice(n *entity.Node, price float64) error {
	k, known := d.index[n]
	if !known {
		return fmt.Errorf("node %v is not of this domain", n)
	}
	priced := *n
	priced.Price = price
	if err := priced.Check(); err != nil {
		return err
	}
	if n.Price == price {
		return nil
	}
	d.applyOverlay()
	if !d.single[k] {
		d.separate(k, span{}, nil) // with no pin it always can
	}
	d.declassify(k)
	n.Price = price
	d.classify(k)
	if d.pinned[k] <= d.origin {
		d.join(k)
	}
	for _, equal := range d.classOf[k].nodes { // a node that had no equal may be counted later
		d.rejoinAt(equal, max(d.pinned[equal], d.origin))
	}
	return nil
}

// Room returns the first instant from which on n is free over the length, but for jobs that
// yield.
func (d *Domain) Room(n *entity.Node, from, length des.Time, yields func(*entity.Run) bool) des.Time {
	d.applyOverlay()
	k := d.index[n]
	if !d.single[k] {
		return d.roomInClass(k, from, length, yields)
	}
	l := d.busy[k]
	for i := l.after(from); i < len(l) && l[i].start < from.Add(length); i++ {
		if !yields(l[i].by) {
			from = l[i].end
		}
	}
	return from
}

// InTheWay lists the runs that have any of these nodes within [from, to). A node of a class
// is kept by name from now on, if possible. The reservations ahead that go with it are
// chosen so that as few runs as possible are in the way, and only runs that yield.
func (d *Domain) InTheWay(at entity.Where, from, to des.Time, yields func(*entity.Run) bool) (runs []*entity.Run) {
	d.applyOverlay()
	for k := range at.Numbers() {
		if !d.single[k] && !d.separate(k, span{start: from, end: to}, yields) {
			d.separate(k, span{}, nil) // whatever it takes along
		}
		l := d.busy[k]
		for i := l.after(from); i < len(l) && l[i].start < to; i++ {
			if !slices.Contains(runs, l[i].by) {
				runs = append(runs, l[i].by)
			}
		}
	}
	return runs
}

// SlotList returns what is free from the present to the horizon, as of this call.
func (d *Domain) SlotList() SlotList {
	list := SlotList{From: d.origin, To: d.horizon()}
	list.Slots = d.slotsOf(d.gather(list.From, list.To, list.To))
	return list
}

// SlotListWithout is SlotList as though these reservations, which lie ahead, had
// been given up. It changes nothing.
func (d *Domain) SlotListWithout(reservations []*entity.Reservation) SlotList {
	for _, r := range reservations {
		d.lift(r)
	}
	list := d.SlotList()
	d.putBack()
	return list
}

// Same reports whether two windows take the same: of each class as many nodes
// until the same ends, and otherwise the same nodes.
func (d *Domain) Same(a, b entity.Window) bool {
	if a.Start != b.Start || len(a.Tasks) != len(b.Tasks) {
		return false
	}
	left := slices.Clone(b.Tasks)
	for _, t := range a.Tasks {
		i := slices.IndexFunc(left, func(other entity.Task) bool { return t.End == other.End && d.equal(t.Node, other.Node) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// equal reports whether it makes no difference which of two nodes is named.
func (d *Domain) equal(a, b *entity.Node) bool {
	if a == b {
		return true
	}
	k, of := d.index[a], d.index[b]
	return !d.single[k] && !d.single[of] && d.classOf[k] == d.classOf[of]
}

// Slots yields what is free within [from, until) as the call finds it, by
// start, ties in the order of the nodes.
func (d *Domain) Slots(from, until des.Time) iter.Seq[entity.Slot] {
	return slices.Values(d.slotsOf(d.gather(max(from, d.origin), until, until)))
}

func (d *Domain) slotsOf(gaps []gap) []entity.Slot {
	list := make([]entity.Slot, len(gaps))
	for i, g := range gaps {
		list[i] = entity.Slot{Node: d.nodes[g.node], Width: 1, Start: g.start, End: g.end}
	}
	return list
}

// gather lists what is free within [from, to) and begins no later than latest,
// by start, ties in the order of the nodes. The list is scratch.
func (d *Domain) gather(from, to, latest des.Time) []gap {
	d.gaps = d.gaps[:0]
	if latest < from {
		return nil
	}
	if from > d.origin || latest > from {
		d.applyOverlay()
	}
	for _, c := range d.classes {
		d.gaps = d.levels(d.gaps, c, from, to, latest)
	}
	counted := len(d.gaps)
	d.gaps = d.gapsAhead(d.gaps, from, to, latest)
	if len(d.classes) > 1 || (counted > 0 && counted < len(d.gaps)) {
		slices.SortFunc(d.gaps, byNode)
	}
	return d.gaps
}

// Forget drops what is past. It returns true if, since the last call, more nodes of a class
// have become free than taken at one instant, or if a gap has begun on a node that is kept by
// name. Nodes that are kept by name and have nothing of their own ahead are counted with their
// equals again.
func (d *Domain) Forget(now des.Time) (gained bool) {
	d.applyOverlay()
	d.origin = max(d.origin, now)
	for _, c := range d.classes {
		gained = c.plan.Forget(d.origin) || gained
	}
	for {
		first := d.ahead.Min()
		if first == nil || first.start > d.origin {
			break
		}
		gained = true
		d.sought = *first
		d.ahead.Remove(&d.sought)
		d.updateFree(d.sought.node)
	}
	for p := d.pins.Min(); p != nil && p.end <= d.origin; p = d.pins.Min() {
		d.due = *p
		d.pins.Remove(&d.due)
	}
	if d.rejoin <= d.origin {
		d.reunite()
	}
	return gained
}

// reunite has singles that have nothing of their own ahead counted again.
func (d *Domain) reunite() {
	d.rejoin = des.Forever
	for k, end := range d.pinned {
		switch {
		case !d.single[k]:
		case end <= d.origin:
			d.join(k)
		default:
			d.rejoinAt(k, end)
		}
	}
}

// rejoinAt records that the k-th node may be counted again from the instant at on. A node without an
// equal is never counted. Otherwise each owner's job that ends would have all nodes looked at, of
// which most have no equal.
func (d *Domain) rejoinAt(k int, at des.Time) {
	if len(d.classOf[k].nodes) > 1 {
		d.rejoin = min(d.rejoin, at)
	}
}

// NextGain returns the next instant at which a node becomes free by the passing of
// time, or des.Forever: the end of an owner's job. Jobs tell when they end.
func (d *Domain) NextGain() des.Time {
	d.applyOverlay()
	for p := range d.pins.All() {
		l := d.busy[p.node]
		if start, end := l.gap(l.after(p.end)); start == p.end && start < end {
			return p.end
		}
	}
	return des.Forever
}

// Fits asks the Finder for a window in an empty plan, and returns why there is none. If the
// request's own criterion cannot answer the request, that is such a reason; if the domain's
// Finder fails, the run fails.
func (d *Domain) Fits(req entity.Request) error { return d.FitsOn(req, d.nodes) }

// FitsOn reports what Fits would report if the domain had only the nodes on, which are nodes
// of the domain in its order.
func (d *Domain) FitsOn(req entity.Request, on []*entity.Node) error {
	if err := req.Check(); err != nil {
		return err
	}
	if d.PricesChange {
		req.Budget, req.MaxPrice = 0, 0
	}
	longest := d.horizon()
	if longest < des.Forever {
		longest -= d.origin
	}
	if d.Interval > 0 {
		longest = d.Interval
	}
	if q, ok := d.counted(&req, des.Forever); ok && len(on) == len(d.nodes) {
		if q.nodes <= len(q.class.counted) && q.length <= min(longest, req.DeadlineLimit()-d.origin) {
			return nil
		}
	} else if longest > 0 {
		empty := SlotList{From: d.origin, To: d.origin.Add(longest), Checked: true}
		if TraitsOf(d.finder(&req), &req).Surely(&req, d.cheapFirst(on), empty.From, empty.To) {
			return nil
		}
		d.slots = d.slots[:0]
		for _, n := range on {
			d.slots = append(d.slots, entity.Slot{Node: n, Width: 1, Start: empty.From, End: empty.To})
		}
		empty.Slots = d.slots
		_, ok, err := d.search(req, empty, empty.To)
		if _, own := req.Criterion.(Finder); err != nil && own && d.ctx().Err() == nil {
			return err // the job asks for what its criterion cannot search
		}
		if err != nil {
			d.fail(err)
		}
		if ok {
			return nil
		}
	}
	return d.whyNot(req, on, min(longest, req.DeadlineLimit()-d.origin))
}

// cheapFirst returns the nodes on, in the order of the prices that they had at first if on are
// all nodes of the domain.
func (d *Domain) cheapFirst(on []*entity.Node) []*entity.Node {
	if len(on) != len(d.nodes) {
		return on
	}
	if d.byPrice == nil {
		d.byPrice = slices.Clone(d.nodes)
		slices.SortStableFunc(d.byPrice, func(a, b *entity.Node) int { return cmp.Compare(a.Price, b.Price) })
	}
	return d.byPrice
}

// whyNot says in the user's terms why req, with at most the time longest for a
// task, gets no window on these nodes even where all are free.
func (d *Domain) whyNot(req entity.Request, on []*entity.Node, longest des.Time) error {
	if req.Nodes > len(on) {
		return fmt.Errorf("wants %d nodes of a domain of %d", req.Nodes, len(on))
	}
	admitted := 0
	var costs []float64
	for _, n := range on {
		if !req.Admits(n) {
			continue
		}
		admitted++
		if t := n.TaskTime(req.Length); t <= longest {
			costs = append(costs, n.Price*t.Seconds())
		}
	}
	if admitted < req.Nodes {
		return fmt.Errorf("wants %d nodes, but only %d of %d meet its demands on performance, price and attributes", req.Nodes, admitted, len(on))
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
	return fmt.Errorf("finder %s finds no window for it even with every node free", d.finder(&req).Name())
}
