package entity

import (
	"iter"
	"math"
	"slices"
	"unsafe"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/internal/sumtree"
)

// Order is a priority among waiting jobs: the lowest key first, ties in order of submission.
// The zero Order is Submission.
//
// A job's key is read when the job enters the queue, and the job keeps its place if the key
// changes later. A moldable job ranks by its own request. If keys change while jobs wait
// (with the time, or because an observer keeps a user's share), the order must be marked
// Dynamic. The queue is then sorted anew for every round that asks, at O(n) if few jobs have
// changed places since the round before, and O(n log n) otherwise.
//
// Two orders are the same if their names and their keys are the same; two closures that are
// made apart are two keys. An order without a name is sorted anew each time it is asked for.
type Order struct {
	Name    string                             // name in tables, and in names of policies
	Key     func(r *Run, now des.Time) float64 // rank of r at the instant now; the lowest goes first. Nil means order of submission
	Dynamic bool                               // Key changes while jobs wait
}

// Submission is the order of submission, the default of every policy.
var Submission = Order{Name: "submission", Key: func(*Run, des.Time) float64 { return 0 }}

// isSubmission reports whether o is the order of submission.
func (o Order) isSubmission() bool { return o.Key == nil || o.is(Submission) }

// is reports whether o is the order p: it has the same name and the same key. Go does not
// compare functions; a func value is a pointer to what it is made of, which is compared.
func (o Order) is(p Order) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(&o.Key)) == *(*unsafe.Pointer)(unsafe.Pointer(&p.Key)) && o.Name == p.Name
}

// Queue holds the waiting jobs, including those with a reservation ahead, in
// the order of submission and in any other order a policy asks for. The zero
// value is an empty queue.
type Queue struct {
	// Kept is a policy's memory about this queue from one round to the next; nil at first.
	// So a policy can be a plain value that serves many runs.
	Kept any

	views []*View // the first is in order of submission
	part  bool    // of another queue
	round int64
	free  []int32 // standings that nobody has
	used  int32   // standings ever given
}

// standing is a job's number in a queue, under which the views keep its keys. 0 means that
// the job is not in the queue.
type standing int32

// standing returns the address of r's number in q; a run in a part of the queue has a second number
// there.
func (q *Queue) standing(r *Run) *standing {
	if q.part {
		return &r.withRare().inPart
	}
	return &r.standing
}

// submission returns the view in order of submission.
func (q *Queue) submission() *View {
	if len(q.views) == 0 {
		q.views = append(q.views, newView(q, Submission))
	}
	return q.views[0]
}

// Len returns the number of waiting jobs.
func (q *Queue) Len() int {
	if len(q.views) == 0 {
		return 0
	}
	return q.views[0].Len()
}

// LeastNodes returns a lower bound of what the jobs in the queue ask for, in any shape: if
// fewer nodes are free, no job can start. It returns math.MaxInt for an empty queue.
func (q *Queue) LeastNodes() int { return q.submission().tree.Sum().nodes }

// First returns the waiting job that was submitted first, or nil.
func (q *Queue) First() *Run { return q.submission().First() }

// By returns the queue in the given order, as of now.
func (q *Queue) By(o Order, now des.Time) *View {
	submission := q.submission()
	if o.isSubmission() {
		return submission
	}
	i := -1
	if o.Name != "" {
		i = slices.IndexFunc(q.views, func(v *View) bool { return v.order.is(o) })
	}
	if i < 0 {
		v := q.unasked(o)
		if v == nil {
			v = newView(q, o)
			q.views = append(q.views, v)
		}
		v.order, v.asked = o, q.round
		v.sort(submission, now)
		return v
	}
	v := q.views[i]
	v.asked = q.round
	if v.order.Dynamic && (v.now != now || v.round != q.round) {
		v.order = o
		v.sort(v, now)
	}
	return v
}

// unasked returns a view in an order of o's name, with another key, that nobody has asked for in
// this round, or nil. So a policy that makes its order anew for every round has one view.
func (q *Queue) unasked(o Order) *View {
	for _, v := range q.views {
		if o.Name != "" && v.order.Name == o.Name && v.asked != q.round && !v.plain {
			return v
		}
	}
	return nil
}

// begin begins a round: orders without a name are those of the round before.
func (q *Queue) begin() {
	q.round++
	if len(q.views) > 1 {
		q.views = slices.DeleteFunc(q.views, func(v *View) bool { return v.order.Name == "" })
	}
}

// Part returns an empty queue for some of the jobs in q, which a policy leaves to another
// policy (see Round.Delegate). A job is in at most one part; when it leaves q, it leaves the
// part, too.
func (q *Queue) Part() *Queue { return &Queue{part: true} }

// Take puts r, which waits in the queue that q is a part of, into the part q.
func (q *Queue) Take(r *Run) {
	r.leavePart()
	r.withRare().part = q
	q.add(r)
}

// Holds reports whether r is in q, which is a part of a queue.
func (q *Queue) Holds(r *Run) bool { return r.rare != nil && r.rare.part == q }

func (r *Run) leavePart() {
	if r.rare != nil && r.rare.part != nil {
		part := r.rare.part
		r.rare.part = nil
		part.remove(r)
	}
}

func (q *Queue) add(r *Run) {
	q.submission()
	s := q.standing(r)
	if n := len(q.free); n > 0 {
		*s = standing(q.free[n-1])
		q.free = q.free[:n-1]
	} else {
		q.used++
		*s = standing(q.used)
	}
	for _, v := range q.views {
		v.rank(r)
		if v.head.run != nil && (queueAlgebra{}).Before(&v.sought, &v.head) {
			v.head = queued{}
		}
		v.tree.Append(&v.sought)
	}
}

func (q *Queue) remove(r *Run) {
	r.leavePart()
	for _, v := range q.views {
		if v.head.run == r {
			v.head = queued{}
		}
		v.seek(r)
		v.tree.Remove(&v.sought)
	}
	s := q.standing(r)
	q.free = append(q.free, int32(*s))
	*s = 0
}

// change calls do, which changes what the waiting job r asks for, and gives r its new place in all
// views.
func (q *Queue) change(r *Run, do func()) {
	var part *Queue
	if r.rare != nil {
		part = r.rare.part
	}
	q.remove(r)
	do()
	q.add(r)
	if part != nil {
		part.Take(r)
	}
}

// View is a queue in one order.
type View struct {
	queue *Queue
	order Order
	plain bool      // it is the order of submission
	now   des.Time  // as of when a dynamic order ranks
	round int64     // and in which round
	asked int64     // in which round it was asked for last
	keys  []float64 // of the jobs in the queue, by their standings; nil in order of submission
	tree  *sumtree.Tree[queued, queueSum, front, queueAlgebra]
	spare *queueScan
	items []queued // scratch; see sort
	head  queued   // the first, where it is known
	// sought is the item that an operation on the tree looks for. Its run is out of date after
	// Queue.remove.
	sought queued
}

// queued is a waiting job at its rank, with what scans look at first.
type queued struct {
	key    float64
	seq    int64
	nodes  int
	length des.Time
	run    *Run
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

func (queueAlgebra) Before(a, b *queued) bool {
	return a.key < b.key || (a.key == b.key && a.seq < b.seq)
}

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

func newView(q *Queue, o Order) *View {
	return &View{queue: q, order: o, plain: o.isSubmission(), tree: sumtree.New[queued, queueSum, front](queueAlgebra{})}
}

// rank sets sought to r at its place as of now, with the least that it asks for in any shape.
func (v *View) rank(r *Run) {
	if !v.plain {
		v.remember(r)
	}
	v.seek(r)
	e := &v.sought
	e.nodes, e.length, e.run = r.Request.Nodes, r.Request.Length, r
	if len(r.Shapes) > 0 {
		e.nodes, e.length = r.least()
	}
}

// seek sets the order of sought to the place where r stands.
func (v *View) seek(r *Run) {
	v.sought.seq = r.seq
	if !v.plain {
		v.sought.key = v.keys[*v.queue.standing(r)]
	}
}

// Len returns the number of jobs in the view.
func (v *View) Len() int { return v.tree.Len() }

// First returns the head of the queue, or nil.
func (v *View) First() *Run {
	if v.head.run == nil {
		if first := v.tree.Min(); first != nil {
			v.head = *first
		}
	}
	return v.head.run
}

// All yields the jobs in order. Jobs that leave the queue meanwhile are passed
// over.
func (v *View) All() iter.Seq[*Run] {
	return func(yield func(*Run) bool) {
		s := v.begin(nil, 0, 0)
		defer v.end(s)
		for batch := 2; s.next(v.tree, batch); batch = min(2*batch, 64) {
			for _, e := range s.found {
				if e.run.queued() && !yield(e.run) {
					return
				}
			}
		}
	}
}

// Fitting yields, in order, the jobs without a reservation that fit into the plan at the
// instant now, each with its window. Each job is looked at once, after the caller has acted
// on the jobs before it. Only the first depth jobs of the view are looked at; 0 means all.
// The cost grows with the jobs that it yields and the logarithm of the queue.
//
// A moldable job fits in any of its shapes; of several fitting shapes rule chooses, or
// FirstStart without a rule.
func (v *View) Fitting(plan Plan, now des.Time, depth int, rule ...ShapeRule) iter.Seq2[*Run, Window] {
	return func(yield func(*Run, Window) bool) {
		s := v.begin(plan, now, depth)
		if s.rule = FirstStart; len(rule) > 0 {
			s.rule = rule[0]
		}
		defer v.end(s)
		for s.next(v.tree, 1) {
			if !yield(s.found[0].run, s.window) {
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
	s.begun, s.misses.count, s.misses.tooMany = false, 0, 0
	return s
}

func (v *View) end(s *queueScan) { v.spare = s }

// queueScan walks a view in batches of finds, a scan of the tree each, since
// the tree may change between two of them.
type queueScan struct {
	plan   Plan // nil: every job is a find
	now    des.Time
	rule   ShapeRule
	left   int // how many jobs may still be looked at
	batch  int
	found  []queued
	window Window // of the last find
	begun  bool
	last   queued // the last job looked at
	misses misses
}

func (s *queueScan) next(tree *sumtree.Tree[queued, queueSum, front, queueAlgebra], batch int) bool {
	s.batch, s.found = batch, s.found[:0]
	if s.begun {
		tree.ScanAfter(&s.last, s)
	} else {
		s.begun = true
		tree.Scan(s)
	}
	return len(s.found) > 0
}

// Skip passes over jobs if not even the least demanding of them could fit.
func (s *queueScan) Skip(sum queueSum, least *front) bool {
	if s.plan == nil || s.left <= 0 {
		return false
	}
	if s.mayFit(sum.nodes, sum.length) && (least == nil || s.anyMayFit(least)) {
		return false
	}
	s.left -= sum.jobs
	return true
}

// anyMayFit reports whether a step of the front fits now.
func (s *queueScan) anyMayFit(least *front) bool {
	for _, r := range least.steps[:least.count] {
		if s.misses.exclude(r.nodes) {
			return false // later steps ask for more nodes, so they are excluded, too
		}
		if s.mayFit(r.nodes, r.length) {
			return true
		}
	}
	return false
}

// mayFit reports whether a request that asks for nothing but nodes and a length
// fits now. While a scan lasts the plan only fills, so a miss stays one.
func (s *queueScan) mayFit(nodes int, length des.Time) bool {
	if s.misses.cover(nodes, length) {
		return false
	}
	ok, nodes, length := s.plan.FitsAt(s.now, nodes, length)
	if !ok {
		s.misses.add(nodes, length)
	}
	return ok
}

func (s *queueScan) Visit(items []queued) bool {
	if s.plan == nil { // all jobs in question are copied at once
		n := min(len(items), s.batch-len(s.found))
		s.found = append(s.found, items[:n]...)
		s.last = items[n-1]
		return len(s.found) < s.batch
	}
	for i := range items {
		if s.left <= 0 {
			return false
		}
		s.left--
		if e := &items[i]; s.misses.exclude(e.nodes) || !s.fits(e) {
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
	if !s.mayFit(e.nodes, e.length) || e.run.State != Waiting || e.run.Reservation.Active {
		return false
	}
	var ok bool
	if len(e.run.Shapes) == 0 { // straight to the plan: a window is copied at each call
		s.window, ok = s.plan.Find(e.run.Request, s.now, s.now)
	} else {
		s.window, ok = s.rule.Find(s.plan, e.run, s.now, s.now)
	}
	return ok
}

// misses remembers requests that did not fit, to pass over without asking whatever
// demands as much: the fewest nodes that are too many for any time, and a few others.
type misses struct {
	tooMany int // nodes; 0 where none are known to be
	known   [4]struct {
		nodes  int
		length des.Time
	}
	count int
}

// exclude is cover for requests of any length.
func (m *misses) exclude(nodes int) bool { return m.tooMany > 0 && nodes >= m.tooMany }

func (m *misses) cover(nodes int, length des.Time) bool {
	if m.exclude(nodes) {
		return true
	}
	for _, k := range m.known[:min(m.count, len(m.known))] {
		if nodes >= k.nodes && length >= k.length {
			return true
		}
	}
	return false
}

func (m *misses) add(nodes int, length des.Time) {
	if length == 0 {
		if m.tooMany == 0 || nodes < m.tooMany {
			m.tooMany = nodes
		}
		return
	}
	k := &m.known[m.count%len(m.known)]
	k.nodes, k.length = nodes, length
	m.count++
}
