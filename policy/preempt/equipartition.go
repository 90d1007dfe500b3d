package preempt

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Equipartition shares the processors out equally (Tucker and Gupta 1989; dynamic equipartition of
// McCann, Vaswani and Zahorjan, ACM TOCS 11(2), 1993). Whenever a job comes or goes, processors
// are given out one by one until none is left: the next processor goes to the job with the fewest,
// of equal jobs to the job submitted first, up to its largest shape. A job steps from one of its
// shapes to the next.
//
// Jobs are admitted in the order of the queue, as long as all admitted jobs have room for
// their smallest shapes; a rigid job has one shape. No running job is stopped. It is for
// counted processors: on named nodes a job keeps the shape in which it starts. If the window
// for the intended shape is taken (an outage, an advance reservation ahead), a job keeps its
// processors, or waits.
type Equipartition struct {
	// Order is the order in which waiting jobs are admitted; submission if its Key is nil.
	Order entity.Order
	// Cost is the time during which a job does no work after it has been resized.
	Cost des.Time
}

// Name returns "equipartition", with the order if it is another one.
func (p Equipartition) Name() string {
	if p.Order.Key == nil || p.Order.Name == entity.Submission.Name {
		return "equipartition"
	}
	return "equipartition-" + cmp.Or(p.Order.Name, "unnamed")
}

// share is the number of processors that a job is to get.
type share struct {
	run   *entity.Run
	sizes []int // of its shapes, ascending
	has   int   // how many processors; 0: it waits
	step  int   // which of the sizes it is to get
}

// Schedule shares all processors out among running and waiting jobs.
func (p Equipartition) Schedule(r *entity.Round) {
	// Jobs shrink before others grow or start: what they give back is needed.
	shares := p.admit(r)
	for i := range shares {
		if s := &shares[i]; s.has > s.sizes[s.step] {
			_ = r.Resize(s.run, s.sizes[s.step], p.Cost) // refused, it keeps what it has
		}
	}
	for i := range shares {
		s := &shares[i]
		switch size := s.sizes[s.step]; {
		case s.has == 0 && s.run.State == entity.Waiting: // an observer may have cancelled it
			req, _ := s.run.RequestOn(size)
			w, ok := r.Plan.Find(req, r.Now, r.Now)
			if ok && !r.Reserve(s.run, w) {
				return
			}
			if !ok && r.WhyObserved() { // an outage or a reservation ahead is in the way
				if w, ok := r.Plan.Find(req, r.Now, des.Forever); ok {
					r.TellWhy(s.run, entity.Why{What: entity.TooFewFree, Start: w.Start})
				}
			}
		case s.has > 0 && s.has < size:
			_ = r.Resize(s.run, size, p.Cost)
		}
	}
}

// admit lists the jobs that get something, in order of submission, and how much.
func (p Equipartition) admit(r *entity.Round) []share {
	// Running jobs keep their smallest shapes; a booked job, and a job on named nodes, all that it has.
	var shares []share
	left := free(r)
	for j := range r.Running() {
		has := j.Reservation.Window.Nodes
		left += has
		s := share{run: j, sizes: sizes(j.Job), has: has}
		if j.Booked || j.Reservation.Window.Tasks != nil {
			s.sizes = []int{has}
		}
		shares = append(shares, s)
	}
	for i := range shares {
		left -= shares[i].sizes[0]
	}
	// Waiting jobs are admitted as long as there is room for their smallest shapes.
	for j := range r.Queue.By(p.Order, r.Now).All() {
		if j.State != entity.Waiting {
			continue
		}
		s := share{run: j, sizes: possible(r, j)}
		if len(s.sizes) == 0 {
			continue // its time will soon be up
		}
		if s.sizes[0] > left {
			p.explain(r, j)
			break
		}
		left -= s.sizes[0]
		shares = append(shares, s)
	}
	// What is left goes to the poorest, step by step.
	slices.SortFunc(shares, func(a, b share) int { return int(a.run.Seq() - b.run.Seq()) })
	level(shares, left)
	return shares
}

// explain says that the waiting job held does not fit beside the smallest shapes of the jobs before
// it, and that the jobs behind it wait for it.
func (p Equipartition) explain(r *entity.Round, held *entity.Run) {
	if !r.WhyObserved() {
		return
	}
	r.TellWhy(held, entity.Why{Text: "the smallest shapes of the jobs before it left too few processors for its own"})
	behind := false
	for j := range r.Queue.By(p.Order, r.Now).All() {
		if behind && j.State == entity.Waiting {
			r.TellWhy(j, entity.Why{What: entity.BehindOthers, Other: held})
		}
		behind = behind || j == held
	}
}

// level gives out that many processors, one step after the other, to the job with the
// fewest. A job whose next step is more than what is left gets no more.
func level(shares []share, left int) {
	var queue poorest
	for i := range shares {
		queue = append(queue, &shares[i])
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		s := queue[0]
		if s.step+1 == len(s.sizes) || s.sizes[s.step+1]-s.sizes[s.step] > left {
			heap.Pop(&queue)
			continue
		}
		left -= s.sizes[s.step+1] - s.sizes[s.step]
		s.step++
		heap.Fix(&queue, 0)
	}
}

// poorest is a heap.Interface: the job with the fewest processors comes first.
type poorest []*share

func (p poorest) Len() int      { return len(p) }
func (p poorest) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p poorest) Less(i, j int) bool {
	a, b := p[i], p[j]
	return cmp.Or(cmp.Compare(a.sizes[a.step], b.sizes[b.step]), cmp.Compare(a.run.Seq(), b.run.Seq())) < 0
}
func (p *poorest) Push(x any) { *p = append(*p, x.(*share)) }
func (p *poorest) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// sizes returns the numbers of nodes of j's shapes, ascending.
func sizes(j *entity.Job) []int {
	own := j.Request.Nodes
	all := make([]int, 0, len(j.Shapes)+1)
	for _, s := range j.Shapes {
		all = append(all, s.Nodes)
	}
	if at, listed := slices.BinarySearch(all, own); !listed {
		all = slices.Insert(all, at, own)
	}
	return all
}

// possible returns the sizes of j, which waits, in which it could ever run: a plan that does
// not reach far has no room for the slow ones.
func possible(r *entity.Round, j *entity.Run) []int {
	if len(j.Shapes) == 0 {
		return []int{j.Request.Nodes}
	}
	return slices.DeleteFunc(sizes(j.Job), func(nodes int) bool {
		req, _ := j.RequestOn(nodes)
		return r.Plan.Fits(req) != nil
	})
}
