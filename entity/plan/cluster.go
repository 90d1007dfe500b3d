package plan

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Cluster is a plan over counted, equal processors of performance 1: how many
// are free, and when. It is the availability profile of trace-driven
// scheduling. A look at one instant costs O(log n) for n levels of the profile.
// What covers more, a search, Reserve or Release, walks along that block by block
// (see profile), and only the blocks in which something begins, ends or may fit
// level by level.
type Cluster struct {
	procs int
	// origin is the instant of the latest Forget, where the profile begins: nothing before it is
	// known.
	origin des.Time
	profile
	// search is the latest search, kept to spare its allocation; its miss fields are the answer of
	// FitsAt.
	search holeSearch
	barred barrier // by the latest search from the origin on
	ahead  outlook
	// proved is the latest answer of Find, FitsAt or FindEarlier. Invariant: there is room for it,
	// until the plan changes. Callers reserve what they have just found: Reserve need not search
	// again then.
	proved room
	// moving is the reservation that FindEarlier was asked to move; nil after Find. proved holds
	// only if what it occupies is given back.
	moving *entity.Reservation
}

// room is a window on counted processors as its three numbers. A processor copies an
// entity.Window, which has eight, more slowly than it finds most windows.
type room struct {
	start, end des.Time
	nodes      int
}

// window returns the room as a window.
func (r room) window() entity.Window {
	return entity.Window{Start: r.start, End: r.end, Nodes: r.nodes}
}

var _ entity.Plan = (*Cluster)(nil)

// Err returns what makes the cluster unusable, or nil. A run with such a cluster ends with
// the error.
func (c *Cluster) Err() error {
	if c.procs < 0 {
		return fmt.Errorf("a cluster cannot have %d processors", c.procs)
	}
	return nil
}

// NewCluster returns an empty plan over the given number of processors.
func NewCluster(processors int) *Cluster {
	return &Cluster{procs: processors, profile: profile{free: processors}}
}

// Size returns how many processors the cluster has.
func (c *Cluster) Size() int { return c.procs }

// Node returns nil: counted processors have no names.
func (c *Cluster) Node(int) *entity.Node { return nil }

// Fits reports whether the cluster is large enough.
func (c *Cluster) Fits(req entity.Request) error {
	if err := req.Check(); err != nil {
		return err
	}
	if req.Nodes > c.procs {
		return fmt.Errorf("wants %d processors of a cluster of %d", req.Nodes, c.procs)
	}
	if req.Deadline > 0 && req.Length > req.Deadline {
		return fmt.Errorf("its length %v passes its deadline %v", req.Length, req.Deadline)
	}
	return nil
}

// Find returns the earliest window for req within [from, until].
func (c *Cluster) Find(req entity.Request, from, until des.Time) (entity.Window, bool) {
	if req.Deadline > 0 {
		until = min(until, req.Deadline-req.Length)
	}
	at, ok := c.earliest(req.Nodes, req.Length, from, until)
	if !ok {
		return entity.Window{}, false
	}
	c.moving = nil
	c.proved = room{at, at.Add(req.Length), req.Nodes}
	return c.proved.window(), true
}

// earliest returns the earliest start, within [from, until], of a window for that many
// processors and that length.
func (c *Cluster) earliest(nodes int, length, from, until des.Time) (at des.Time, ok bool) {
	if until <= c.origin && c.free < nodes {
		return 0, false // the common question "does it fit now", and the common answer
	}
	if from == until && from >= c.origin && c.moving == nil && c.proved == (room{from, from.Add(length), nodes}) {
		return from, true // it has just been asked
	}
	return c.find(nodes, length, from, until, des.Forever)
}

// FitsAt reports whether that many processors are free for that length from the instant at
// on. If not, missNodes and missLength describe the requests that fail there for the same
// reason: every request for at least missNodes processors and at least missLength.
func (c *Cluster) FitsAt(at des.Time, nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time) {
	if at <= c.origin && c.free < nodes {
		return false, c.free + 1, 0
	}
	if _, ok = c.find(nodes, length, at, at, des.Forever); ok {
		c.moving = nil
		c.proved = room{at, at.Add(length), nodes}
	}
	return ok, c.search.missNodes, c.search.missLength
}

// FindEarlier returns the earliest window for r's job in [from, until] that
// starts before r does.
//
// What r itself occupies need not be looked at: were r given up, there would be
// room from its start on. So the window may slide into r's own time, if there
// is room up to r's start:
//
//	free |______     _________
//	     |      |   |      | r
//	nodes|- - - |- -|- - - |- - -
//	     |      |___|
//	   from            start
func (c *Cluster) FindEarlier(r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
	nodes, length := r.Window.Nodes, r.Window.Length()
	at, ok := c.findBefore(nodes, length, r.Window.Start, from, until)
	if !ok {
		return entity.Window{}, false
	}
	return c.prove(r, at), true
}

// prove keeps, and returns, r's window with its start at the instant at, for which there is room.
func (c *Cluster) prove(r *entity.Reservation, at des.Time) entity.Window {
	c.moving = r
	c.proved = room{at, at.Add(r.Window.Length()), r.Window.Nodes}
	return c.proved.window()
}

// findBefore is FindEarlier for a reservation of that many processors and that length, which
// begins at start.
func (c *Cluster) findBefore(nodes int, length, start, from, until des.Time) (at des.Time, ok bool) {
	return c.find(nodes, length, from, min(until, start-des.Tick), start)
}

// Move replaces the window of r by w, which is FindEarlier's answer. If the plan has not
// changed since that answer, Move does not check for room again. Where both windows overlap,
// nothing changes:
//
//	w    |______________|
//	held |      |______________|
//	      taken          given back
func (c *Cluster) Move(r *entity.Reservation, w entity.Window) error {
	held := r.Window
	if c.moving != r || !c.isProved(&w) || w.Start < c.origin {
		return c.exchange(r, w)
	}
	c.add(w.Start, min(w.End, held.Start), -w.Nodes)
	c.add(max(w.End, held.Start), held.End, w.Nodes)
	r.Window = w
	return nil
}

// exchange is Move to where it is not known that there is room.
func (c *Cluster) exchange(r *entity.Reservation, w entity.Window) error {
	held := r.Window
	c.add(held.Start, held.End, held.Nodes)
	if _, ok := c.find(w.Nodes, w.Length(), w.Start, w.Start, des.Forever); !ok {
		c.add(held.Start, held.End, -held.Nodes)
		return &entity.ConflictError{Run: r.Run, Window: w, Detail: "fewer processors are free"}
	}
	c.add(w.Start, w.End, -w.Nodes)
	r.Window = w
	return nil
}

// isProved reports whether the latest search found room for w.
func (c *Cluster) isProved(w *entity.Window) bool {
	return c.proved == (room{w.Start, w.End, w.Nodes})
}

// find returns the earliest start in [from, until]; from the instant assured on
// there is room in any case.
func (c *Cluster) find(nodes int, length, from, until, assured des.Time) (at des.Time, ok bool) {
	from = max(from, c.origin)
	if until < from {
		return 0, false
	}
	if c.falls == 0 { // what is free stays free
		if c.free >= nodes {
			return from, true
		}
		length = 0
	}
	present, spans := from == c.origin, until > from && length > 0
	if spans {
		if from = c.barred.pass(nodes, length, from, assured); from > until {
			return 0, false
		}
	}
	h := &c.search
	h.nodes, h.length, h.from, h.until, h.assured = nodes, length, from, until, assured
	c.profile.find(h)
	at, ok = h.at, h.at >= 0
	if present && spans { // a look at one instant leaves what is known
		c.barred = barrier{nodes, length, at}
		if !ok {
			c.barred.at = min(h.barred, assured)
		}
	}
	return at, ok
}

// Reserve takes w.Nodes processors over [w.Start, w.End).
func (c *Cluster) Reserve(j *entity.Run, w entity.Window) (*entity.Reservation, error) {
	if w.Nodes < 1 || w.End < w.Start || w.Start < c.origin {
		return nil, &entity.ConflictError{Run: j, Window: w, Detail: fmt.Sprintf("not a window of the future (the plan begins at %v)", c.origin)}
	}
	if j.Reservation.Active {
		return nil, &entity.ConflictError{Run: j, Window: w, Detail: fmt.Sprintf("the job already holds a reservation at %v", j.Reservation.Window.Start)}
	}
	if c.moving != nil || !c.isProved(&w) {
		if ok, _, miss := c.FitsAt(w.Start, w.Nodes, w.Length()); !ok {
			return nil, &entity.ConflictError{Run: j, Window: w, At: w.Start + max(miss-des.Tick, 0), Detail: "fewer processors are free"}
		}
	}
	c.add(w.Start, w.End, -w.Nodes)
	j.Reservation = entity.Reservation{Window: w, Run: j, Active: true}
	return &j.Reservation, nil
}

// Withhold takes at.Size() processors over [from, to). Numbers in at do not matter, because a
// Cluster only counts.
func (c *Cluster) Withhold(r *entity.Run, at entity.Where, from, to des.Time) error {
	_, err := c.Reserve(r, entity.Window{Start: from, End: to, Nodes: at.Size()})
	return err
}

// InTheWay returns nil: the plan does not know which processors a job has.
func (c *Cluster) InTheWay(entity.Where, des.Time, des.Time, func(*entity.Run) bool) []*entity.Run {
	return nil
}

// Settle does nothing: counted processors have no names to choose among.
func (c *Cluster) Settle(*entity.Reservation) {}

// ReleaseTask does nothing: windows on counted processors have no Tasks.
func (c *Cluster) ReleaseTask(*entity.Reservation, int, des.Time) {}

// Extend gives r the end of w.
func (c *Cluster) Extend(r *entity.Reservation, w entity.Window) error {
	held := r.Window.End
	if w.End > held {
		if ok, _, miss := c.FitsAt(held, w.Nodes, w.End-held); !ok {
			return &entity.ConflictError{Run: r.Run, Window: w, At: held + max(miss-des.Tick, 0), Detail: "fewer processors are free"}
		}
	}
	c.add(held, w.End, -w.Nodes)
	c.add(max(w.End, c.origin), held, w.Nodes)
	r.Window = w
	return nil
}

// NextGain returns des.Forever: a cluster tells only by Forget what has become free.
func (c *Cluster) NextGain() des.Time { return des.Forever }

// Release gives back r's processors from the instant at on.
func (c *Cluster) Release(r *entity.Reservation, at des.Time) {
	if !r.Active {
		return
	}
	r.Active = false
	c.add(max(at, r.Window.Start), r.Window.End, r.Window.Nodes)
}

// add changes the number of free processors over [from, to).
func (c *Cluster) add(from, to des.Time, delta int) {
	c.proved.nodes = 0
	if from >= to {
		return
	}
	if before, most := c.profile.add(c.origin, from, to, delta); delta > 0 {
		c.barred.given(from, before, most)
	}
}

// grow adds that many free processors to the cluster; a negative number takes them away.
func (c *Cluster) grow(by int) {
	c.procs += by
	c.lift(by)
	c.barred = barrier{}
	c.proved.nodes = 0
}

// Forget folds the levels that have begun by now into the present, and reports whether
// anything became free by that.
func (c *Cluster) Forget(now des.Time) (gained bool) {
	c.origin = max(c.origin, now)
	return c.pass(c.origin)
}

// Free returns the number of processors free at the origin, the latest Forget.
func (c *Cluster) Free() int { return c.free }

// Slots yields the profile's levels within [from, until): for every span over
// which the number of free processors is constant and not 0, a slot of that
// width.
func (c *Cluster) Slots(from, until des.Time) iter.Seq[entity.Slot] {
	return func(yield func(entity.Slot) bool) {
		at := max(from, c.origin)
		k, i := c.locate(at + des.Tick)
		w := slotWalk{free: c.before(k, i).free, at: at, until: until, yield: yield}
		for ; k < len(c.blocks); k++ {
			b := &c.blocks[k]
			for _, l := range b.levels[i:] {
				if !w.upTo(l.at) {
					return
				}
				w.free = l.free + b.base
			}
			i = 0
		}
		w.upTo(until)
	}
}

// slotWalk turns levels into slots.
type slotWalk struct {
	free      int
	at, until des.Time
	yield     func(entity.Slot) bool
}

func (w *slotWalk) upTo(t des.Time) bool {
	t = min(t, w.until)
	if w.at >= t {
		return w.at < w.until
	}
	s := entity.Slot{Width: w.free, Start: w.at, End: t}
	w.at = t
	if s.Width > 0 && !w.yield(s) {
		w.at = w.until
	}
	return w.at < w.until
}
