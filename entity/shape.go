package entity

// Moldable jobs: those that can run in any of several shapes, one of which is
// chosen before they start.

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// Shape is one way in which a job can run: a number of nodes, with the estimate and the
// runtime there. See Job.Shapes.
type Shape struct {
	Nodes   int      // 1 or more
	Length  des.Time // as Request.Length
	Runtime des.Time // as Job.Runtime
}

// own returns the shape of j's own request.
func (j *Job) own() Shape { return Shape{j.Request.Nodes, j.Request.Length, j.Runtime} }

// In returns j in its shape of that many nodes, as a rigid job; false if it has no such
// shape. If j has only that shape, In returns j itself.
func (j *Job) In(nodes int) (*Job, bool) {
	if len(j.Shapes) == 0 {
		return j, nodes == j.Request.Nodes
	}
	s, ok := j.shape(nodes)
	rigid := *j
	rigid.Request.Nodes, rigid.Request.Length, rigid.Runtime, rigid.Shapes = s.Nodes, s.Length, s.Runtime, nil
	return &rigid, ok
}

// shape returns j's shape of that many nodes.
func (j *Job) shape(nodes int) (Shape, bool) {
	if nodes == j.Request.Nodes {
		return j.own(), true
	}
	i, ok := slices.BinarySearchFunc(j.Shapes, nodes, func(s Shape, n int) int { return s.Nodes - n })
	if !ok {
		return Shape{}, false
	}
	return j.Shapes[i], true
}

// shapes yields j's shapes, its own request's among them, in descending order of nodes.
func (j *Job) shapes(yield func(Shape) bool) {
	own, passed := j.own(), false
	for _, s := range slices.Backward(j.Shapes) {
		if !passed && s.Nodes <= own.Nodes {
			passed = true
			if s.Nodes < own.Nodes && !yield(own) {
				return
			}
		}
		if !yield(s) {
			return
		}
	}
	if !passed {
		yield(own)
	}
}

// checkShapes reports what is wrong with j's shapes, or nil.
func (j *Job) checkShapes() error {
	for i, s := range j.Shapes {
		asked := j.Request
		asked.Nodes, asked.Length = s.Nodes, s.Length
		if err := asked.Check(); err != nil {
			return fmt.Errorf("%v: shape %d: %w", j, i+1, err)
		}
		switch {
		case s.Runtime < 0 || s.Runtime == des.Forever:
			return fmt.Errorf("%v: shape %d: its runtime must be a finite time of 0 or more, not %v", j, i+1, s.Runtime)
		case i > 0 && s.Nodes <= j.Shapes[i-1].Nodes:
			return fmt.Errorf("%v: shape %d: shapes must be in ascending order of their nodes: %d follow %d", j, i+1, s.Nodes, j.Shapes[i-1].Nodes)
		case s.Nodes == j.Request.Nodes && s != j.own():
			return fmt.Errorf("%v: shape %d: it has as many nodes as the job's request, %d, and must be the same", j, i+1, s.Nodes)
		}
	}
	return nil
}

// ShapeRule says which of the windows that a moldable job can have is the best.
type ShapeRule uint8

const (
	// FirstStart is the window that starts first. Ties: the earlier end, then fewer nodes.
	FirstStart ShapeRule = iota
	// FirstEnd is the window that ends first. Ties: fewer nodes. A job may wait for it though
	// another window starts now.
	FirstEnd
	// Largest is the window that starts first. Ties: more nodes.
	Largest
)

var shapeRules = enum.Of[ShapeRule]("choice of a shape", "start", "end", "largest")

func (s ShapeRule) String() string { return shapeRules.Name(s) }

// ParseShapeRule reads "start", "end" or "largest".
func ParseShapeRule(text string) (ShapeRule, error) { return shapeRules.Parse(text) }

// prefers reports whether a is better than b.
func (s ShapeRule) prefers(a, b *Window) bool {
	switch {
	case s == FirstEnd && a.End != b.End:
		return a.End < b.End
	case s != FirstEnd && a.Start != b.Start:
		return a.Start < b.Start
	case s == Largest:
		return a.Nodes > b.Nodes
	case a.End != b.End:
		return a.End < b.End
	}
	return a.Nodes < b.Nodes
}

// Find is Plan.Find for the job j, in the shape whose window the rule prefers.
func (s ShapeRule) Find(p Plan, j *Run, from, until des.Time) (Window, bool) {
	if len(j.Shapes) == 0 {
		return p.Find(j.Request, from, until)
	}
	return s.choose(p, j, from, until)
}

// choose is Find for a job that is moldable.
func (s ShapeRule) choose(p Plan, j *Run, from, until des.Time) (Window, bool) {
	var best Window
	found := false
	var tried misses
	for req := range j.requests() {
		if from == until { // many shapes do not fit for one reason
			if tried.cover(req.Nodes, req.Length) {
				continue
			}
			if fits, nodes, length := p.FitsAt(from, req.Nodes, req.Length); !fits {
				tried.add(nodes, length)
				continue
			}
		}
		last := until
		if found && s != FirstEnd {
			last = min(last, best.Start) // what starts later is worse
		}
		if w, ok := p.Find(req, from, last); ok && (!found || s.prefers(&w, &best)) {
			best, found = w, true
		}
	}
	return best, found
}

// FindNow returns the window that the rule prefers for j, if that window starts now. It returns
// false if j does not fit now, or if the rule prefers a window that lies ahead.
func (s ShapeRule) FindNow(p Plan, j *Run, now des.Time) (Window, bool) {
	if len(j.Shapes) == 0 {
		return p.Find(j.Request, now, now)
	}
	if s != FirstEnd {
		return s.choose(p, j, now, now)
	}
	w, ok := s.choose(p, j, now, des.Forever)
	return w, ok && w.Start == now
}

// FindEarlier returns a better window for j, as though j's reservation ahead had been given
// up: a window in any shape that starts in [now, until] and before the reserved one.
func (r *Round) FindEarlier(j *Run, until des.Time, rule ShapeRule) (Window, bool) {
	if len(j.Shapes) == 0 {
		return r.Plan.FindEarlier(&j.Reservation, r.Now, until)
	}
	return r.chooseEarlier(j, until, rule)
}

// chooseEarlier is FindEarlier for a job that is moldable.
func (r *Round) chooseEarlier(j *Run, until des.Time, rule ShapeRule) (Window, bool) {
	held := j.Reservation.Window
	r.Plan.Release(&j.Reservation, r.Now)
	w, ok := rule.Find(r.Plan, j, r.Now, min(until, held.Start-des.Tick))
	if _, err := r.Plan.Reserve(j, held); err != nil {
		r.Fail(err)
		return Window{}, false
	}
	return w, ok && rule.prefers(&w, &held)
}

// FitsRun reports whether r fits in any of its shapes; see Fits. The error is about r's own
// request.
func (m *Metascheduler) FitsRun(r *Run) error {
	err := m.Fits(r.Request)
	if err == nil {
		return nil
	}
	for req := range r.requests() {
		if m.Fits(req) == nil {
			return nil
		}
	}
	return err
}

// leastTime returns the least time that a window for r can take.
func (m *Metascheduler) leastTime(r *Run) des.Time {
	if len(r.Shapes) == 0 {
		return m.leastOf(r.Request)
	}
	least := des.Forever
	for req := range r.requests() {
		if m.Fits(req) == nil {
			least = min(least, m.leastOf(req))
		}
	}
	return least
}

// leastOf returns the least time that a window for req can take, whatever is reserved: what a
// task takes on the slowest of the nodes that req gets if it gets the fastest ones.
func (m *Metascheduler) leastOf(req Request) des.Time {
	if !m.named {
		return req.Length
	}
	var times []des.Time
	for i := range m.plan.Size() {
		if n := m.plan.Node(i); req.Admits(n) {
			times = append(times, n.TaskTime(req.Length))
		}
	}
	if len(times) < req.Nodes {
		return des.Forever
	}
	slices.Sort(times)
	return times[req.Nodes-1]
}
