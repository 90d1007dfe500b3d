package entity

import (
	"iter"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/internal/sumtree"
)

// Order is a priority among waiting jobs: the lowest key first, ties in order
// of submission. A key that depends on now must be marked Dynamic; the queue is
// then sorted anew for every round that asks, at O(n log n).
type Order struct {
	Name    string
	Key     func(j *Job, now des.Time) float64
	Dynamic bool
}

// Submission is the order of submission, the default of every policy.
var Submission = Order{Name: "submission", Key: func(*Job, des.Time) float64 { return 0 }}

// Queue holds the waiting jobs, including those with a reservation ahead, in
// the order of submission and in any other order a policy asks for.
type Queue struct {
	views []*View // the first is in order of submission
}

func newQueue() *Queue {
	return &Queue{views: []*View{newView(Submission)}}
}

// Len is the number of waiting jobs.
func (q *Queue) Len() int { return q.views[0].Len() }

// First is the waiting job that was submitted first, or nil.
func (q *Queue) First() *Job { return q.views[0].First() }

// By returns the queue in the given order, as of now. Orders are told apart by
// their names.
func (q *Queue) By(o Order, now des.Time) *View {
	i := slices.IndexFunc(q.views, func(v *View) bool { return v.order.Name == o.Name })
	known := i >= 0
	if !known {
		i = len(q.views)
		q.views = append(q.views, newView(o))
	}
	v := q.views[i]
	if !known || (o.Dynamic && v.now != now) {
		v.now, v.head = now, queued{}
		v.tree.Clear()
		for j := range q.views[0].All() {
			v.tree.Append(v.entry(j))
		}
	}
	return v
}

// Part is a queue of some of the jobs in q, at first none: what a policy leaves
// to another (see Round.Delegate). A job is in one part at most; when it leaves
// q it leaves that, too.
func (q *Queue) Part() *Queue { return newQueue() }

// Take puts j, which waits in the queue that q is a part of, into q.
func (q *Queue) Take(j *Job) {
	j.leavePart()
	j.part = q
	q.add(j)
}

// Holds reports whether j is in q, which is a part of a queue.
func (q *Queue) Holds(j *Job) bool { return j.part == q }

func (j *Job) leavePart() {
	if part := j.part; part != nil {
		j.part = nil
		part.remove(j)
	}
}

func (q *Queue) add(j *Job) {
	for _, v := range q.views {
		e := v.entry(j)
		if v.head.job != nil && (queueAlgebra{}).Before(e, v.head) {
			v.head = queued{}
		}
		v.tree.Append(e)
	}
}

func (q *Queue) remove(j *Job) {
	j.leavePart()
	for _, v := range q.views {
		if v.head.job == j {
			v.head = queued{}
		}
		v.tree.Remove(v.entry(j))
	}
}

// View is a queue in one order.
type View struct {
	order Order
	now   des.Time // as of when a dynamic order ranks
	tree  *sumtree.Tree[queued, queueSum, queueAlgebra]
	spare *queueScan
	head  queued // the first, where it is known
}

// queued is a waiting job at its rank, with what scans look at first.
type queued struct {
	key    float64
	seq    int64
	nodes  int
	length des.Time
	job    *Job
}

// queueSum condenses a run of the queue: how many jobs, and the least
// demanding request one of them could have. Where not even that one fits, none
// does.
type queueSum struct {
	jobs   int
	nodes  int
	length des.Time
}

type queueAlgebra struct{}

func (queueAlgebra) Before(a, b queued) bool {
	return a.key < b.key || (a.key == b.key && a.seq < b.seq)
}

func (queueAlgebra) Merge(_, new queued) (queued, bool) { return new, true }

func (queueAlgebra) Summarise(items []queued) queueSum {
	sum := queueSum{jobs: len(items), nodes: math.MaxInt, length: des.Forever}
	for i := range items {
		sum.nodes = min(sum.nodes, items[i].nodes)
		sum.length = min(sum.length, items[i].length)
	}
	return sum
}

func (queueAlgebra) Join(parts []queueSum) queueSum {
	sum := parts[0]
	for _, p := range parts[1:] {
		sum.jobs += p.jobs
		sum.nodes = min(sum.nodes, p.nodes)
		sum.length = min(sum.length, p.length)
	}
	return sum
}

func newView(o Order) *View { return &View{order: o, tree: sumtree.New(queueAlgebra{})} }

func (v *View) entry(j *Job) queued {
	key := v.order.Key(j, v.now)
	if math.IsNaN(key) {
		key = math.Inf(1) // last: NaN has no place in an order
	}
	return queued{key, j.seq, j.Request.Nodes, j.Request.Length, j}
}

// Len is the number of jobs in the view.
func (v *View) Len() int { return v.tree.Len() }

// First returns the head of the queue, or nil.
func (v *View) First() *Job {
	if v.head.job == nil {
		v.head, _ = v.tree.Min()
	}
	return v.head.job
}

// All yields the jobs in order. Jobs that leave the queue meanwhile are passed
// over.
func (v *View) All() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		s := v.begin(nil, 0, 0)
		defer v.end(s)
		for batch := 2; s.next(v.tree, batch); batch = min(2*batch, 64) {
			for _, e := range s.found {
				if e.job.queued() && !yield(e.job) {
					return
				}
			}
		}
	}
}

// Fitting yields, in order, the jobs without a reservation that fit into the
// plan at the instant now, each with the window it would get: each is looked at
// once, after what was done about those before it. Only the first depth jobs
// of the view are looked at; 0 means all. What it costs grows with the jobs it
// yields and the logarithm of the queue.
func (v *View) Fitting(plan Plan, now des.Time, depth int) iter.Seq2[*Job, Window] {
	return func(yield func(*Job, Window) bool) {
		s := v.begin(plan, now, depth)
		defer v.end(s)
		for s.next(v.tree, 1) {
			if !yield(s.found[0].job, s.window) {
				return
			}
		}
	}
}

// AnyFits reports whether any job without a reservation fits into the plan at
// the instant now.
func (v *View) AnyFits(plan Plan, now des.Time) bool {
	s := v.begin(plan, now, 0)
	defer v.end(s)
	return s.next(v.tree, 1)
}

func (v *View) begin(plan Plan, now des.Time, depth int) *queueScan {
	s := v.spare
	if s == nil {
		s = &queueScan{}
	}
	v.spare = nil
	if depth <= 0 {
		depth = math.MaxInt
	}
	s.plan, s.now, s.left = plan, now, depth
	s.counted, _ = plan.(counted)
	s.begun, s.misses.count = false, 0
	return s
}

func (v *View) end(s *queueScan) { v.spare = s }

// queueScan walks a view in batches of finds, a scan of the tree each, since
// the tree may change between two of them.
type queueScan struct {
	plan    Plan    // nil: every job is a find
	counted counted // the plan, if it is one
	now     des.Time
	left    int // how many jobs may still be looked at
	batch   int
	found   []queued
	window  Window // of the last find
	begun   bool
	last    queued // the last job looked at
	misses  misses
}

func (s *queueScan) next(tree *sumtree.Tree[queued, queueSum, queueAlgebra], batch int) bool {
	s.batch, s.found = batch, s.found[:0]
	if s.begun {
		tree.ScanAfter(s.last, s)
	} else {
		s.begun = true
		tree.Scan(s)
	}
	return len(s.found) > 0
}

// Skip passes over jobs of which not even the least demanding could fit.
func (s *queueScan) Skip(sum queueSum) bool {
	if s.plan == nil || s.left <= 0 || s.mayFit(sum.nodes, sum.length) {
		return false
	}
	s.left -= sum.jobs
	return true
}

// counted is a plan that answers for bare requests faster, and that can tell
// more of a miss than that it is one.
type counted interface {
	FitsAt(at des.Time, nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time)
}

// mayFit reports whether a request that asks for nothing but nodes and a length
// fits now. While a scan lasts the plan only fills, so a miss stays one.
func (s *queueScan) mayFit(nodes int, length des.Time) bool {
	if s.misses.cover(nodes, length) {
		return false
	}
	var ok bool
	if s.counted != nil {
		ok, nodes, length = s.counted.FitsAt(s.now, nodes, length)
	} else {
		_, ok = s.plan.Find(Request{Nodes: nodes, Length: length}, s.now, s.now)
	}
	if !ok {
		s.misses.add(nodes, length)
	}
	return ok
}

func (s *queueScan) Visit(items []queued) bool {
	for i := range items {
		if s.left <= 0 {
			return false
		}
		s.left--
		if e := &items[i]; s.plan != nil && !s.fits(e) {
			continue
		}
		s.last = items[i]
		s.found = append(s.found, items[i])
		if len(s.found) == s.batch {
			return false
		}
	}
	return true
}

func (s *queueScan) fits(e *queued) bool {
	if !s.mayFit(e.nodes, e.length) || e.job.State != Waiting || e.job.Reservation.Active {
		return false
	}
	w, ok := s.plan.Find(e.job.Request, s.now, s.now)
	s.window = w
	return ok
}

// misses remembers a few requests that did not fit, to pass over without
// asking whatever demands as much.
type misses struct {
	known [4]struct {
		nodes  int
		length des.Time
	}
	count int
}

func (m *misses) cover(nodes int, length des.Time) bool {
	for _, k := range m.known[:min(m.count, len(m.known))] {
		if nodes >= k.nodes && length >= k.length {
			return true
		}
	}
	return false
}

func (m *misses) add(nodes int, length des.Time) {
	k := &m.known[m.count%len(m.known)]
	k.nodes, k.length = nodes, length
	m.count++
}
