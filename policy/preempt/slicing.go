package preempt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Slicing lets jobs take turns. At every multiple of Quantum all jobs are put in order:
// waiting jobs, the longest wait first, then running jobs, the longest running last. From
// the first on, each job has its processors if it fits beside the jobs before it; a running
// job that does not is suspended. Between these instants jobs that fit start, and none
// yields. On named nodes a job may be suspended for a job that then does not get the nodes,
// because of their cost; the suspended job goes on at once.
//
// This is coarse-grained time sharing as batch systems have it (SchedulerTimeslice of
// Slurm's gang scheduling). Unlike in Ousterhout's matrix (Scheduling techniques for
// concurrent systems, ICDCS 1982) jobs are not bound to rows that take their turns as a
// whole, so that no processor idles beside a job that could use it. As the quantum becomes
// small, one processor is shared as in the queueing model of processor sharing.
//
// No job starves: a waiting job advances by at least one place a quantum, and the first job
// has the machine.
type Slicing struct {
	// Quantum is the length of a turn; 0 means ten minutes.
	Quantum des.Time
	// Order is a priority: jobs of a lower key go first, and only jobs of equal key take
	// turns. All jobs are equal if its Key is nil. Shortest first goes by the estimate that
	// was left when a job last started.
	Order entity.Order
	// Cost is the time during which a suspended job does no work when it is resumed; it must be
	// less than Quantum.
	Cost des.Time
}

// Name returns "time-slicing" with the quantum.
func (p Slicing) Name() string {
	name := fmt.Sprintf("time-slicing-%v", p.quantum())
	if p.Order.Key != nil {
		name += "-" + p.Order.Name
	}
	return name
}

func (p Slicing) quantum() des.Time {
	if p.Quantum == 0 {
		return 10 * des.Minute
	}
	return p.Quantum
}

// Check reports what makes the settings useless, or nil.
func (p Slicing) Check() error {
	switch q := p.quantum(); {
	case q < 0:
		return fmt.Errorf("a quantum must be a time above 0, not %v", q)
	case p.Cost < 0 || p.Cost >= q:
		return fmt.Errorf("resuming a job must cost less than its quantum of %v, and not %v: it would do no work", q, p.Cost)
	}
	return nil
}

// Schedule starts the jobs that fit, in order. At the end of a quantum it suspends running jobs
// that do not fit beside the jobs before them.
func (p Slicing) Schedule(r *entity.Round) {
	if err := p.Check(); err != nil {
		r.Fail(err)
		return
	}
	q := p.quantum()
	turn := p.turn(r)
	if r.Now%q == 0 {
		p.change(r, turn)
	}
	for _, j := range turn {
		start(r, j)
	}
	for range r.Running() { // where nobody runs nobody has a turn to give
		if r.Queue.Len() > 0 {
			r.WakeAt((r.Now - r.Now%q).Add(q))
		}
		break
	}
}

// change makes the running jobs of turn that have no room beside the jobs before them yield
// to waiting jobs that have room.
func (p Slicing) change(r *entity.Round, turn []*entity.Run) {
	// Who has room? At first all running jobs yield; each that has room beside those before it keeps its
	// processors, and each waiting job that has room is to begin.
	var begin []*entity.Run
	var shapes []entity.Request // of these
	var taken []part            // by these
	yielding := last(turn, r.Now)
	left := free(r) // at most; it is soon too little for most
	for _, v := range yielding {
		left += v.Reservation.Window.Nodes
	}
	for _, j := range turn {
		if narrowest(j) > left {
			continue
		}
		switch at := slices.Index(yielding, j); {
		case at >= 0:
			if others := slices.Delete(slices.Clone(yielding), at, at+1); room(r, j.Request, beside(r, j, taken, others), j.Reservation.Window.End) {
				yielding = others
				left -= j.Reservation.Window.Nodes
			}
		case j.State == entity.Waiting:
			if req, ok := p.shape(r, j, taken, yielding); ok {
				begin, shapes = append(begin, j), append(shapes, req)
				taken = append(taken, part{r.Now.Add(req.Length), -req.Nodes})
				left -= req.Nodes
			}
		}
	}
	// The others yield, and those begin.
	for _, v := range yielding {
		stop(r, v, KeepAll, p.Cost)
	}
	for i, j := range begin {
		if w, ok := r.Plan.Find(shapes[i], r.Now, r.Now); ok && j.State == entity.Waiting {
			r.Reserve(j, w)
		}
	}
}

// shape returns the request of j, which waits, in the shape in which it would start now by
// entity.FirstStart, beside what is taken, if the jobs that yield gave way.
func (p Slicing) shape(r *entity.Round, j *entity.Run, taken []part, yielding []*entity.Run) (best entity.Request, found bool) {
	parts := beside(r, j, taken, yielding)
	try := func(nodes int) {
		req, ok := j.RequestOn(nodes)
		end := r.Now.Add(req.Length)
		if ok && (!found || cmp.Or(cmp.Compare(req.Length, best.Length), cmp.Compare(nodes, best.Nodes)) < 0) &&
			room(r, req, append(slices.Clone(parts), part{end, -nodes}), end) {
			best, found = req, true
		}
	}
	try(j.Request.Nodes)
	for _, s := range j.Shapes {
		try(s.Nodes)
	}
	return best, found
}

// turn lists all jobs in the order in which they are served.
func (p Slicing) turn(r *entity.Round) []*entity.Run {
	turn := slices.SortedStableFunc(r.Waiting(), func(a, b *entity.Run) int { return cmp.Compare(since(a), since(b)) })
	running := slices.Collect(r.Running())
	slices.Reverse(running)
	turn = append(turn, running...)
	if p.Order.Key != nil {
		key := map[*entity.Run]float64{}
		for _, j := range turn {
			key[j] = p.Order.Key(j, r.Now)
		}
		slices.SortStableFunc(turn, func(a, b *entity.Run) int { return cmp.Compare(key[a], key[b]) })
	}
	return turn
}

// since returns when a waiting job began to wait.
func since(j *entity.Run) des.Time {
	if n := len(j.Earlier()); n > 0 {
		return j.Earlier()[n-1].End
	}
	return j.Submit
}

// last lists those of turn that may yield, the last one first: nobody is stopped at
// the instant at which it has started.
func last(turn []*entity.Run, now des.Time) []*entity.Run {
	var list []*entity.Run
	for _, v := range slices.Backward(turn) {
		if v.State == entity.Running && !v.Booked && v.Start < now {
			list = append(list, v)
		}
	}
	return list
}
