package preempt

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
)

// Keep says what becomes of the work of a job that yields.
type Keep uint8

const (
	KeepAll        Keep = iota // it is suspended: nothing is lost
	KeepNone                   // it is requeued, and begins again from nothing
	KeepCheckpoint             // it goes on from its last checkpoint (Metascheduler.Checkpoints)
)

var keeps = enum.Of[Keep]("what is kept of a job that yields", "all", "none", "checkpoint")

func (k Keep) String() string { return keeps.Name(k) }

// ParseKeep reads "all", "none" or "checkpoint".
func ParseKeep(s string) (Keep, error) { return keeps.Parse(s) }

// of returns the part of the running attempt of v that counts as done if v yields: all
// (des.Forever), none (0), or the part up to the last checkpoint.
func (k Keep) of(v *entity.Run) des.Time {
	switch k {
	case KeepAll:
		return des.Forever
	case KeepCheckpoint:
		return v.Saved()
	}
	return 0
}

// stop makes v yield. Its next attempt begins with a time cost in which it does no work.
func stop(r *entity.Round, v *entity.Run, keep Keep, cost des.Time) {
	if v.State == entity.Running && r.Preempt(v, keep.of(v)) && cost > 0 {
		r.SetUp(v, cost)
	}
}

// start starts j if it fits now in any of its shapes, and reports whether it did.
func start(r *entity.Round, j *entity.Run) bool {
	if j.State != entity.Waiting {
		return false
	}
	w, ok := entity.FirstStart.Find(r.Plan, j, r.Now, r.Now)
	return ok && r.Reserve(j, w)
}

// narrowest returns how many nodes j, which waits, takes in the narrowest of its shapes.
func narrowest(j *entity.Run) int {
	if len(j.Shapes) == 0 {
		return j.Request.Nodes
	}
	return min(j.Request.Nodes, j.Shapes[0].Nodes) // they are in ascending order
}

// victims returns the jobs of yielding, which run, that give way so that j starts now in one of its
// shapes: the shortest beginning of the list that makes room, without those of it that are not
// needed. It returns nil if not even all of them make room.
func victims(r *entity.Round, j *entity.Run, yielding []*entity.Run) []*entity.Run {
	if len(yielding) == 0 || !fits(r, j, yielding) {
		return nil
	}
	n := 1 + sort.Search(len(yielding)-1, func(n int) bool { return fits(r, j, yielding[:n+1]) })
	chosen := slices.Clone(yielding[:n])
	for i := 0; i < len(chosen)-1; { // the last one is needed
		if without := slices.Delete(slices.Clone(chosen), i, i+1); fits(r, j, without) {
			chosen = without
		} else {
			i++
		}
	}
	return chosen
}

// part is nodes that are given back, and would have been free from the instant end on
// anyhow; below 0, nodes that are taken until then.
type part struct {
	end   des.Time
	nodes int
}

// fits reports whether j, which waits, would fit now in any of its shapes if these jobs
// gave way.
func fits(r *entity.Round, j *entity.Run, yielding []*entity.Run) bool {
	if meets(r, j, j.Request, yielding) {
		return true
	}
	for _, s := range j.Shapes {
		if req, ok := j.RequestOn(s.Nodes); ok && meets(r, j, req, yielding) {
			return true
		}
	}
	return false
}

// meets is fits for what j asks for in one of its shapes.
func meets(r *entity.Round, j *entity.Run, req entity.Request, yielding []*entity.Run) bool {
	end := r.Now.Add(req.Length)
	return room(r, req, beside(r, j, []part{{end, -req.Nodes}}, yielding), end)
}

// beside returns what is taken, and what the jobs that yield give back of the nodes that
// suit j.
func beside(r *entity.Round, j *entity.Run, taken []part, yielding []*entity.Run) []part {
	parts := slices.Clone(taken)
	for _, v := range yielding {
		parts = append(parts, gives(r, j, v)...)
	}
	return parts
}

// room reports whether there is room until end for what parts take beside what parts give
// back, on nodes that suit req. What is given back ends at several instants; up to each, so
// many nodes less need be free already:
//
//	5 are taken    |  5-3-1  | 5-1 |  5   |    must be free, as the plan is now,
//	               +---------+-----+------+    where jobs of 3 and of 1 node give way
//	              now       3 end  1 ends
//
// On counted processors that is exact. On named nodes it counts the nodes that
// suit req, and leaves costs, deadlines and the user's criterion out.
func room(r *entity.Round, req entity.Request, parts []part, end des.Time) bool {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.end, b.end) })
	req.Nodes, req.Budget, req.Deadline = 0, 0, 0
	req.Criterion = nil // which of the nodes suit the user best does not matter, and it may need the budget
	for _, p := range parts {
		req.Nodes -= p.nodes
	}
	from := r.Now
	for _, p := range parts {
		until := min(p.end, end)
		if req.Length = until - from; req.Length > 0 {
			if req.Nodes > 0 {
				if _, ok := r.Plan.Find(req, from, from); !ok {
					return false
				}
			}
			from = until
		}
		if from == end {
			break
		}
		req.Nodes += p.nodes
	}
	return true
}

// free returns the number of nodes that are free now.
func free(r *entity.Round) (n int) {
	for s := range r.Plan.Slots(r.Now, r.Now+des.Tick) {
		n += s.Width
	}
	return n
}

// gives lists what j would get of v's.
func gives(r *entity.Round, j, v *entity.Run) []part {
	w := &v.Reservation.Window
	if w.Tasks == nil {
		return []part{{w.End, w.Nodes}}
	}
	var parts []part
	ends := v.Ends()
	for i, t := range w.Tasks {
		if j.Request.Admits(t.Node) && (i >= len(ends) || ends[i] > r.Now) {
			parts = append(parts, part{t.End, 1})
		}
	}
	return parts
}
