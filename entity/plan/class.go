package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// Classes: nodes of a Domain that nobody can tell apart. Of what lies ahead a
// class keeps only how many of its nodes are taken when; which ones is decided
// when a job starts (Domain.Settle). So nothing ahead lies in the way of
// anything else but by its number, as on a Cluster:
//
//	node 1  ####aaaa            4 |________             free nodes
//	node 2  ####....bbbb   ->     |####|aaa|____
//	node 3  ........bbbb        2 |####|   |bbbb|___
//	node 4  ............        0 +--------------------> time
//
// A node with something of its own ahead (an owner's job, later an outage) is
// kept by name meanwhile: a single. So is a node that has no equal.

// class is a set of nodes that are equal in traits and attributes.
type class struct {
	key traits
	// nodes are all of them, by position in the domain, ascending.
	nodes []int
	// counted are those that are no singles, ascending. Invariant: none, or two and more.
	counted []int
	// plan says how many of counted are free at which time. Invariant: its size is len(counted).
	plan *Cluster
	// remains are parts of reservations that were given back from an instant
	// ahead on: counted, and nobody's any more.
	remains []span
}

// traits are the properties in which nodes of a class are equal, apart from their attributes, which
// cannot be the key of a map.
type traits struct{ perf, price, q float64 }

// classify puts the k-th node into the class of its equals, as a single.
func (d *Domain) classify(k int) {
	n := d.nodes[k]
	key := traits{n.Perf, n.Price, n.Q}
	at := slices.IndexFunc(d.kinds[key], func(c *class) bool {
		return d.nodes[c.nodes[0]].Attributes.Equal(n.Attributes)
	})
	if at < 0 {
		at = len(d.kinds[key])
		d.kinds[key] = append(d.kinds[key], &class{key: key})
	}
	c := d.kinds[key][at]
	d.classOf[k] = c
	c.nodes = including(c.nodes, k)
}

// declassify takes the k-th node, a single, out of its class.
func (d *Domain) declassify(k int) {
	c := d.classOf[k]
	c.nodes = without(c.nodes, k)
	if len(c.nodes) > 0 {
		return
	}
	rest := slices.DeleteFunc(d.kinds[c.key], func(other *class) bool { return other == c })
	if d.kinds[c.key] = rest; len(rest) == 0 {
		delete(d.kinds, c.key)
	}
}

// including returns an ascending list with k; without returns it without k.
func including(list []int, k int) []int {
	i, _ := slices.BinarySearch(list, k)
	return slices.Insert(list, i, k)
}

func without(list []int, k int) []int {
	if i, ok := slices.BinarySearch(list, k); ok {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// join counts the k-th node, a single with nothing of its own ahead, with its equals. A class
// begins to count with two such nodes.
func (d *Domain) join(k int) {
	c := d.classOf[k]
	if len(c.counted) == 0 {
		i := slices.IndexFunc(c.nodes, func(other int) bool { return other != k && d.pinned[other] <= d.origin })
		if i < 0 {
			return
		}
		c.plan = NewCluster(0)
		c.plan.Forget(d.origin)
		d.classes = append(d.classes, c)
		d.absorb(c, c.nodes[i])
	}
	d.absorb(c, k)
}

// absorb puts what the k-th node has into the counts of c.
func (d *Domain) absorb(c *class, k int) {
	c.counted = including(c.counted, k)
	c.plan.grow(1)
	// A span is of a reservation that names the node, of a job that runs on it, or what is left of
	// a reservation that gave the node back.
	for _, s := range d.clear(k) {
		c.plan.add(s.start, s.end, -1)
		switch r := &s.by.Reservation; {
		case d.taskOf(s, k) >= 0 && !r.Settled: // its reservation knows of it
		case s.start <= d.origin:
			d.on[k] = s
		default:
			c.remains = append(c.remains, s)
		}
	}
	d.single[k] = false
	d.singles = without(d.singles, k)
	d.updateFree(k)
}

// clear takes everything off the k-th node's timeline, and returns what of it
// is not past.
func (d *Domain) clear(k int) timeline {
	l := d.busy[k]
	for i := range len(l) + 1 {
		d.unlist(k, i)
	}
	d.busy[k] = nil
	return l[l.after(d.origin):]
}

// taskOf returns the position of the task for which s, on the k-th node, is taken, or -1 if its
// reservation has given it back.
func (d *Domain) taskOf(s span, k int) int {
	r := &s.by.Reservation
	if !r.Active || r.Window.Start != s.start {
		return -1
	}
	if i := d.named(r, k); i >= 0 && r.Window.Tasks[i].End == s.end {
		return i
	}
	return -1
}

// run returns how many of the tasks from the i-th on are counted together: those on nodes of one
// class c that end at one instant. If the i-th task is on a single, c is nil, n is 1, and k is the
// node.
func (d *Domain) run(tasks []entity.Task, i int) (k, n int, c *class) {
	end := tasks[i].End
	k = d.position(tasks[i].Node)
	if d.single[k] {
		return k, 1, nil
	}
	c = d.classOf[k]
	for n = 1; i+n < len(tasks) && tasks[i+n].End == end; n++ {
		if next := d.position(tasks[i+n].Node); d.single[next] || d.classOf[next] != c {
			break
		}
	}
	return k, n, c
}

// position returns where node n stands; for a node of another domain it is some position. Most
// nodes are numbered through, which spares a look into the index.
func (d *Domain) position(n *entity.Node) int {
	if guess := n.ID - d.nodes[0].ID; guess >= 0 && guess < len(d.nodes) && d.nodes[guess] == n {
		return guess
	}
	return d.index[n]
}

// idle reports whether r's i-th task takes nothing, or nothing any more.
func (d *Domain) idle(r *entity.Reservation, i int) bool {
	return (r.Partly && d.returned[r][i]) || r.Window.Tasks[i].End <= r.Window.Start
}

// returnRun gives back the n tasks of r from the i-th on, counted in class c,
// from the instant at on.
func (d *Domain) returnRun(c *class, r *entity.Reservation, i, n int, at des.Time) {
	start, end := r.Window.Start, r.Window.Tasks[i].End
	held := 0
	for t := i; t < i+n; t++ {
		if d.idle(r, t) {
			continue
		}
		held++
		if !r.Settled {
			continue
		}
		k := d.position(r.Window.Tasks[t].Node)
		if on := &d.on[k]; on.by == r.Run && on.start == start {
			on.end = min(on.end, at)
		}
	}
	c.plan.add(max(at, start), end, held)
	if at = min(at, end); !r.Settled && at > start && at > d.origin {
		for range held {
			c.remains = append(c.remains, span{start, at, r.Run})
		}
	}
}

// Settle gives r, whose window begins now, real nodes: for each counted node of a class one
// of the class's nodes on which no job runs. Run.Choose chooses among them. The
// Metascheduler calls Settle when a job starts.
func (d *Domain) Settle(r *entity.Reservation) {
	if !r.Active || r.Settled {
		return
	}
	r.Settled = true
	for i := 0; i < len(r.Window.Tasks); {
		_, n, c := d.run(r.Window.Tasks, i)
		if c != nil {
			if err := d.settleRun(r, c, i, n); err != nil {
				d.fail(err)
				return
			}
		}
		i += n
	}
}

// settleRun settles the n tasks of r from the i-th on, counted in class c.
func (d *Domain) settleRun(r *entity.Reservation, c *class, i, n int) error {
	start, tasks := r.Window.Start, r.Window.Tasks
	var left []int // tasks that have no node of their own yet
	for t := i; t < i+n; t++ {
		if !d.idle(r, t) {
			left = append(left, t)
		}
	}
	free, err := d.freeOf(c, start)
	if err != nil {
		return err
	}
	chosen, err := r.Run.Choose(free, len(left), nil)
	if err != nil {
		return &entity.ConflictError{Run: r.Run, Window: r.Window, Detail: fmt.Sprintf("of the nodes of a class that were counted as free: %v", err)}
	}
	for k := range (entity.Where{Set: chosen}).Numbers() {
		t := left[0]
		left = left[1:]
		tasks[t].Node = d.nodes[k]
		d.on[k] = span{start, tasks[t].End, r.Run}
	}
	return nil
}

// freeOf returns the counted nodes of c on which no job runs at the instant at.
func (d *Domain) freeOf(c *class, at des.Time) (*procset.Set, error) {
	var list []procset.Range
	for _, k := range c.counted {
		if d.on[k].end <= at {
			list = procset.Extend(list, int32(k))
		}
	}
	return procset.Of(len(d.nodes), list)
}

// levels appends to list what of c is free within [from, to) and begins no
// later than latest: the counts cut into levels. The k-th counted node stands
// for "at least k nodes are free", so that whatever tasks lie beside each other
// on levels are possible by the counts.
//
//	3 |      [3--]   [3]           widths of the profile: 2 3 1 2 3 2
//	2 |[2--------]  [2-------
//	1 |[1-------------------
//	  +-----------------------> time
func (d *Domain) levels(list []gap, c *class, from, to, latest des.Time) []gap {
	open := d.open[:0] // positions in list, by level
	shut := func(width int, t des.Time) {
		for len(open) > width {
			list[open[len(open)-1]].end = t
			open = open[:len(open)-1]
		}
	}
	at := from
	for s := range c.plan.Slots(from, to) {
		if s.Start > at {
			shut(0, at)
		}
		shut(s.Width, s.Start)
		if s.Start > latest && len(open) == 0 {
			break
		}
		for s.Start <= latest && len(open) < s.Width {
			open = append(open, len(list))
			list = append(list, gap{start: s.Start, node: c.counted[len(open)-1]})
		}
		at = s.End
	}
	shut(0, at)
	d.open = open
	return list
}

// question is a request as it is put to the counts of one class.
type question struct {
	class *class
	// worth is Traits.Worth of the Finder that is not asked.
	worth func(*entity.Window) float64
	nodes int
	// length is the time of a task on a node of the class, at least a tick.
	length des.Time
	// until is the latest start, by the horizon and the deadline, too.
	until des.Time
}

// counted makes req a question to the counts of one class; ok is false if that is not the same as
// asking the Finder. It is the same if no other node is admitted, no budget binds, and the Finder
// would give the earliest window.
func (d *Domain) counted(req *entity.Request, until des.Time) (q question, ok bool) {
	if len(d.classes) == 0 {
		return q, false
	}
	traits := TraitsOf(d.finder(req), req)
	if !traits.Earliest || req.Check() != nil {
		return q, false
	}
	c := d.sole(req)
	if c == nil {
		return q, false
	}
	n := d.nodes[c.counted[0]]
	if req.Budget > 0 && n.Price > 0 {
		return q, false
	}
	length := max(n.TaskTime(req.Length), des.Tick)
	until = min(until, min(d.horizon(), req.DeadlineLimit())-length)
	return question{c, traits.Worth, req.Nodes, length, until}, true
}

// sole returns the class whose counted nodes are the only nodes that req admits, or nil.
func (d *Domain) sole(req *entity.Request) (sole *class) {
	for _, c := range d.classes {
		if req.Admits(d.nodes[c.counted[0]]) {
			if sole != nil {
				return nil
			}
			sole = c
		}
	}
	if sole != nil && slices.ContainsFunc(d.singles, func(k int) bool { return req.Admits(d.nodes[k]) }) {
		return nil
	}
	return sole
}

// window returns what q asks for, from the instant at on. It names the first nodes of the class,
// which stand for all of them.
func (d *Domain) window(q *question, at des.Time) entity.Window {
	w := entity.Window{Start: at, End: at.Add(q.length), Nodes: q.nodes}
	cost := d.nodes[q.class.counted[0]].Price * q.length.Seconds()
	w.Tasks = make([]entity.Task, w.Nodes)
	for i := range w.Tasks {
		w.Tasks[i] = entity.Task{Node: d.nodes[q.class.counted[i]], End: w.End}
		w.Cost += cost
	}
	w.Value = q.worth(&w)
	return w
}

// beforeIn is FindEarlier by the counts, for a reservation that takes what q
// asks for.
func (d *Domain) beforeIn(q *question, r *entity.Reservation, from des.Time) (entity.Window, bool) {
	at, ok := q.class.plan.findBefore(q.nodes, q.length, r.Window.Start, from, q.until)
	if !ok {
		return entity.Window{}, false
	}
	return d.window(q, at), true
}

// holds reports whether r is a whole reservation of the window that q asks for.
func (d *Domain) holds(q *question, r *entity.Reservation) bool {
	if r.Partly || len(r.Window.Tasks) != q.nodes || r.Window.Length() != q.length {
		return false
	}
	_, n, c := d.run(r.Window.Tasks, 0)
	return c == q.class && n == q.nodes
}

// byNode orders gaps by start, ties in the order of the nodes.
func byNode(a, b gap) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.node, b.node)) }
