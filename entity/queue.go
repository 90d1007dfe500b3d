package entity

import (
	"iter"
	"math"

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
	views map[string]*View // by order name; never iterated
	live  []*View          // those kept up to date: all but the dynamic ones
}

func newQueue() *Queue {
	q := &Queue{views: map[string]*View{}}
	q.By(Submission, 0)
	return q
}

// Len is the number of waiting jobs.
func (q *Queue) Len() int { return q.live[0].Len() }

// By returns the queue in the given order, as of now. Orders are told apart by
// their names.
func (q *Queue) By(o Order, now des.Time) *View {
	v, known := q.views[o.Name]
	if !known {
		v = &View{order: o, tree: sumtree.New(queueAlgebra{})}
		q.views[o.Name] = v
		if !o.Dynamic {
			q.live = append(q.live, v)
		}
	}
	if o.Dynamic || (!known && len(q.live) > 1) {
		v.tree.Clear()
		for j := range q.live[0].All() {
			v.put(j, now)
		}
	}
	return v
}

func (q *Queue) add(j *Job) {
	for _, v := range q.live {
		v.put(j, 0)
	}
}

func (q *Queue) remove(j *Job) {
	for _, v := range q.live {
		v.tree.Remove(v.entry(j, 0))
	}
}

// View is a queue in one order.
type View struct {
	order Order
	tree  *sumtree.Tree[queued, queueSum, queueAlgebra]
	spare *queueScan
}

// queued is a waiting job at its rank.
type queued struct {
	key float64
	seq int64
	job *Job
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
		req := &items[i].job.Request
		sum.nodes = min(sum.nodes, req.Nodes)
		sum.length = min(sum.length, req.Length)
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

func (v *View) entry(j *Job, now des.Time) queued { return queued{v.order.Key(j, now), j.seq, j} }

func (v *View) put(j *Job, now des.Time) { v.tree.Put(v.entry(j, now)) }

// Len is the number of jobs in the view.
func (v *View) Len() int { return v.tree.Len() }

// First returns the head of the queue, or nil.
func (v *View) First() *Job {
	first, _ := v.tree.Min()
	return first.job
}

// All yields the jobs in order. Jobs that leave the queue meanwhile are passed
// over.
func (v *View) All() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		s := v.begin(nil, 0, 0)
		defer v.end(s)
		for s.next(v.tree, 64) {
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

// AnyFits reports whether Fitting would yield a job.
func (v *View) AnyFits(plan Plan, now des.Time, depth int) bool {
	s := v.begin(plan, now, depth)
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
	*s = queueScan{plan: plan, now: now, left: depth, found: s.found[:0]}
	return s
}

func (v *View) end(s *queueScan) { v.spare = s }

// queueScan walks a view in batches of finds, a scan of the tree each, since
// the tree may change between two of them.
type queueScan struct {
	plan   Plan // nil: every job is a find
	now    des.Time
	left   int // how many jobs may still be looked at
	batch  int
	found  []queued
	window Window // of the last find
	begun  bool
	last   queued // the last job looked at
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
	if s.plan == nil || s.left <= 0 {
		return false
	}
	if _, ok := s.plan.Find(Request{Nodes: sum.nodes, Length: sum.length}, s.now, s.now); ok {
		return false
	}
	s.left -= sum.jobs
	return true
}

func (s *queueScan) Visit(items []queued) bool {
	for i := range items {
		if s.left <= 0 {
			return false
		}
		s.left--
		if s.plan != nil {
			j := items[i].job
			if j.State != Waiting {
				continue
			}
			w, ok := s.plan.Find(j.Request, s.now, s.now)
			if !ok {
				continue
			}
			s.window = w
		}
		s.last = items[i]
		s.found = append(s.found, items[i])
		if len(s.found) == s.batch {
			return false
		}
	}
	return true
}
