package plantest

import (
	"errors"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// session is a sequence of calls on one plan.
type session struct {
	t      *rapid.T
	empty  func() entity.Plan
	config Config
	*model
	plan    entity.Plan
	named   bool  // its nodes have names
	numbers []int // of the model's nodes

	now    des.Time
	forgot des.Time // the latest Forget
	jobs   int64
	// blind is true in calls before and after which nobody looks at all that is free: a plan
	// may put off work until somebody does.
	blind bool
	// chosen is true once the plan has had to say which of several equal nodes a
	// reservation ahead takes: what it answers from then on depends on that choice.
	chosen bool
}

// longest is the longest request that is drawn without Config.Request, and the
// longest step in time.
const longest = 10

// actions are the calls that are drawn.
var actions = map[string]func(*session) error{
	"find":             (*session).find,
	"reserve":          (*session).reserve,
	"reserve nonsense": (*session).reserveNonsense,
	"find earlier":     (*session).findEarlier,
	"move":             (*session).move,
	"release":          (*session).release,
	"release a task":   (*session).releaseTask,
	"extend":           (*session).extend,
	"withhold":         (*session).withhold,
	"let time pass":    (*session).pass,
	"ask":              (*session).ask,
}

func (s *session) begin() error {
	s.plan = s.empty()
	s.named = entity.Named(s.plan)
	var err error
	if s.model, err = newModel(slices.Collect(s.plan.Slots(0, 1))); err != nil {
		return err
	}
	for k := range s.nodes {
		s.numbers = append(s.numbers, k)
	}
	return s.checkNumbers()
}

// checkNumbers checks that the plan's numbers are those of its nodes.
func (s *session) checkNumbers() error {
	if n := s.plan.Size(); n != s.total() {
		return fmt.Errorf("the plan's Size is %d, and %d nodes or processors are free in the empty plan", n, s.total())
	}
	var seen []*entity.Node
	for i := range s.plan.Size() {
		n := s.plan.Node(i)
		if (n != nil) != s.named || n != nil && (!slices.Contains(s.nodes, n) || slices.Contains(seen, n)) {
			return fmt.Errorf("the plan's Node(%d) is %v: it must be each of the nodes once, or nil where they have no names", i, n)
		}
		seen = append(seen, n)
	}
	return nil
}

// number draws one of the n numbers from 0 on.
func (s *session) number(n int, what string) int { return rapid.IntRange(0, n-1).Draw(s.t, what) }

// upTo draws a time of 0 to n ticks.
func (s *session) upTo(n des.Time) des.Time {
	return des.Time(rapid.Int64Range(0, int64(n)).Draw(s.t, "ticks"))
}

// chance is true once in about n times.
func (s *session) chance(n int) bool { return s.number(n, "chance") == n-1 }

// request draws what a job asks for.
func (s *session) request() entity.Request {
	if s.config.Request != nil {
		return s.config.Request(s.t, s.now)
	}
	r := entity.Request{Nodes: 1 + s.number(s.total(), "nodes"), Length: 1 + s.upTo(longest-1)}
	if s.chance(10) {
		r.Nodes++ // one more than there may be
	}
	if s.chance(8) {
		r.Deadline = s.now + 1 + s.upTo(3*longest)
	}
	if !s.counted() && s.chance(4) {
		r.MinPerf = s.nodes[s.number(len(s.nodes), "node")].Perf
	}
	return r
}

// span draws the instants between which a window is to start.
func (s *session) span() (from, until des.Time) {
	from = s.now + s.upTo(s.config.Spread/2)
	switch s.number(6, "span") {
	case 0:
		return s.now, s.now
	case 1:
		return from, des.Forever
	case 2:
		return from, from
	case 3:
		return from, from - 1 // no instant at all
	}
	return from, from + s.upTo(s.config.Spread)
}

func (s *session) run(req entity.Request) *entity.Run {
	s.jobs++
	return entity.NewRun(&entity.Job{ID: s.jobs, Request: req}, s.jobs-1)
}

// pick draws one of the active reservations for which ok holds. Where there is none
// another action is drawn.
func (s *session) pick(ok func(*holding) bool) *holding {
	var some []*holding
	for _, h := range s.held {
		if ok(h) {
			some = append(some, h)
		}
	}
	if len(some) == 0 {
		s.t.SkipNow()
	}
	return rapid.SampledFrom(some).Draw(s.t, "reservation")
}

// all is everything that is free from now on, as far as the plan is not empty; nil in a
// blind call.
func (s *session) all() []entity.Slot {
	if s.blind {
		return nil
	}
	return slices.Collect(s.plan.Slots(s.now, s.far()))
}

// far is an instant from which on everything is free.
func (s *session) far() des.Time {
	far := s.now
	s.each(func(r remnant) { far = max(far, r.to) })
	return far + 5
}

// same reports a call that should have changed nothing and did.
func (s *session) same(before []entity.Slot, what string, args ...any) error {
	if after := s.all(); !slices.Equal(before, after) {
		return fmt.Errorf(what+" changed what is free: %s became %s", append(args, spans(before), spans(after))...)
	}
	return nil
}

// sameFree is same of a call that may have decided which of equal nodes are taken: of each
// class as many are free as before.
func (s *session) sameFree(before []entity.Slot, what string) error {
	if !s.chosen {
		return s.same(before, what)
	}
	return nil // agree looks at the classes
}

// agree compares what is free by the plan with what is free by the model, and
// reservations with what they must be.
func (s *session) agree() error {
	if !s.blind {
		if err := s.agreeOnSlots(); err != nil {
			return err
		}
	}
	for _, h := range s.held {
		r := &h.run.Reservation
		same := s.sameWindow(r.Window, h.window)
		if !same && !h.settled && s.alike(r.Window, h.window) { // another node of the class may stand for one
			same, h.window.Tasks = true, slices.Clone(r.Window.Tasks)
		}
		if !r.Active || r.Run != h.run || !same {
			return fmt.Errorf("the reservation of %v is no longer what it was: %s (active: %v) instead of %s", h.run, windowText(r.Window), r.Active, windowText(h.window))
		}
	}
	if s.plan.Err() != nil {
		return fmt.Errorf("the plan's Err: %w", s.plan.Err())
	}
	return s.clash()
}

// agreeOnSlots compares what is free by the plan with what is free by the model.
func (s *session) agreeOnSlots() error {
	far := s.far()
	slots := slices.Collect(s.plan.Slots(s.now, far))
	if err := s.ordered(slots, s.now, far); err != nil {
		return err
	}
	for class := range s.size {
		for t := s.now; t < far; t++ {
			free := 0
			for _, slot := range slots {
				if slot.Start <= t && t < slot.End && (s.counted() || s.classes[slot.Node.ID] == class) {
					free += slot.Width
				}
			}
			if want := s.free(class, t, nil); free != want {
				return fmt.Errorf("at %s %d %s are free, and the slots show %d: %s", tick(t), want, s.classText(class), free, spans(slots))
			}
		}
	}
	return nil
}

func (s *session) classText(class int) string {
	if s.counted() {
		return "processors"
	}
	var of []int
	for _, n := range s.nodes {
		if s.classes[n.ID] == class {
			of = append(of, n.ID)
		}
	}
	return fmt.Sprintf("of the nodes %v", of)
}

func (s *session) sameWindow(a, b entity.Window) bool {
	return a.Start == b.Start && a.End == b.End && a.Nodes == b.Nodes && slices.Equal(a.Tasks, b.Tasks)
}

// ordered reports slots that are none, lie outside [from, until), are out of
// order, or have one node twice.
func (s *session) ordered(slots []entity.Slot, from, until des.Time) error {
	for i, slot := range slots {
		switch {
		case slot.Start >= slot.End || slot.Width < 1:
			return fmt.Errorf("slot %d is empty: %s", i, spans(slots))
		case slot.Start < from || slot.End > until:
			return fmt.Errorf("slot %d is outside [%s, %s): %s", i, tick(from), tick(until), spans(slots))
		case i > 0 && slot.Start < slots[i-1].Start:
			return fmt.Errorf("slot %d begins before the one in front of it: %s", i, spans(slots))
		case (slot.Node == nil) != s.counted() || (slot.Node != nil && (slot.Width != 1 || !slices.Contains(s.nodes, slot.Node))):
			return fmt.Errorf("slot %d is not of this plan: %s", i, spans(slots))
		}
		for k, other := range slots[:i] {
			if slot.Node == other.Node && slot.Start < other.End && other.Start < slot.End {
				return fmt.Errorf("slots %d and %d overlap: %s", k, i, spans(slots))
			}
		}
	}
	return nil
}

// window draws a window that need not have room, for a request that accepts it.
func (s *session) window() (entity.Window, entity.Request) {
	req := entity.Request{Nodes: 1 + s.number(s.total(), "nodes"), Length: 1 + s.upTo(longest-1)}
	w := entity.Window{Start: s.now + s.upTo(s.config.Spread), Nodes: req.Nodes}
	if s.chance(4) {
		w.Start = s.now
	}
	return s.fill(w, req), req
}

// fill gives a window that starts somewhere nodes, and its end.
func (s *session) fill(w entity.Window, req entity.Request) entity.Window {
	if s.counted() {
		w.End = w.Start + req.Length
		return w
	}
	for _, k := range rapid.Permutation(s.numbers).Draw(s.t, "nodes")[:w.Nodes] {
		n := s.nodes[k]
		end := w.Start.Add(n.TaskTime(req.Length)) + s.upTo(2)
		w.Tasks = append(w.Tasks, entity.Task{Node: n, End: end})
		w.End = max(w.End, end)
	}
	return w
}

// proper reports what is wrong with a window that was found for req.
func (s *session) proper(w entity.Window, req entity.Request, from, until des.Time, except *holding) error {
	switch {
	case w.Start < max(from, s.now) || w.Start > until:
		return fmt.Errorf("the window starts outside [%s, %s]", tick(from), tick(until))
	case w.End > req.DeadlineLimit():
		return errors.New("the window ends after the deadline")
	case (w.Tasks == nil) != s.counted() || (w.Tasks != nil && len(w.Tasks) != w.Nodes):
		return fmt.Errorf("the window of %d nodes has %d tasks", w.Nodes, len(w.Tasks))
	}
	for i, t := range w.Tasks {
		if !slices.Contains(s.nodes, t.Node) || t.End > w.End {
			return fmt.Errorf("the window's task %d is on a node of another plan, or ends after the window", i)
		}
		for _, o := range w.Tasks[:i] {
			if o.Node == t.Node {
				return fmt.Errorf("the window has node %d twice", t.Node.ID)
			}
		}
	}
	if err := req.Accepts(&w); err != nil {
		return fmt.Errorf("the window %w", err)
	}
	if !s.room(w, except) {
		return errors.New("there is no room for the window")
	}
	return nil
}

// find asks for a window and, most often, reserves it.
func (s *session) find() error {
	req := s.request()
	from, until := s.span()
	before := s.all()
	w, ok := s.plan.Find(req, from, until)
	asked := fmt.Sprintf("Find(%s, from %s to %s)", requestText(req), tick(from), tick(until))
	if !ok {
		s.t.Logf("%s: none", asked)
	} else {
		s.t.Logf("%s: %s", asked, windowText(w))
		if err := s.proper(w, req, from, until, nil); err != nil {
			return fmt.Errorf("the plan's Find: %w", err)
		}
	}
	if err := s.same(before, "Find"); err != nil {
		return err
	}
	if err := s.best("Find", s.plan, req, from, until, nil, w, ok); err != nil {
		return err
	}
	if !ok || s.chance(4) {
		return nil
	}
	if s.chance(8) {
		return s.take(s.run(req), s.longer(w), false)
	}
	return s.take(s.run(req), w, true)
}

// longer is w, which was found, for some more ticks: nobody has said that there
// is room for it.
func (s *session) longer(w entity.Window) entity.Window {
	by := 1 + s.upTo(longest)
	w.End += by
	w.Tasks = slices.Clone(w.Tasks)
	for i := range w.Tasks {
		w.Tasks[i].End += by
	}
	return w
}

// best compares an answer with the earliest window there is, and with the answer
// of a new plan in which the same is taken; except is what is taken as given up.
func (s *session) best(what string, plan entity.Plan, req entity.Request, from, until des.Time, except *holding, w entity.Window, ok bool) error {
	if s.counted() {
		start, any := s.earliest(req.Nodes, req.Length, from, until, req.DeadlineLimit(), except)
		switch {
		case ok != any && any:
			return fmt.Errorf("%s gave no window, and there is one at %s", what, tick(start))
		case ok && w.Start != start:
			return fmt.Errorf("%s gave a window at %s, and the earliest is at %s", what, tick(w.Start), tick(start))
		}
		return nil
	}
	if s.chosen && except != nil {
		return nil // no other plan says what this one would answer without it
	}
	if (s.config.ByHistory || s.chosen) && except == nil {
		return s.earliestIn(what, plan, req, from, until, w, ok)
	}
	other, err := s.replay(except)
	if err != nil {
		return err
	}
	if !s.config.ByHistory {
		again, found := other.Find(req, from, until)
		if found != ok || (ok && (again.Start != w.Start || again.End != w.End)) {
			want := "none"
			if found {
				want = windowText(again)
			}
			return fmt.Errorf("%s answers otherwise than a new plan in which the same is taken, which gives %s", what, want)
		}
	}
	return s.earliestIn(what, other, req, from, until, w, ok)
}

// earliestIn compares an answer with the earliest window that the slots of a plan
// have room for.
func (s *session) earliestIn(what string, plan entity.Plan, req entity.Request, from, until des.Time, w entity.Window, ok bool) error {
	if !s.config.Earliest || req.Budget > 0 {
		return nil
	}
	end := des.Forever
	if s.config.Ahead > 0 {
		end = s.forgot.Add(s.config.Ahead)
	}
	slots := slices.Collect(plan.Slots(from, end))
	for t := from; t <= min(until, s.far()); t++ {
		room := 0
		for _, slot := range slots {
			done := t.Add(slot.Node.TaskTime(req.Length))
			if slot.Start <= t && done <= slot.End && done <= req.DeadlineLimit() && req.Admits(slot.Node) {
				room++
			}
		}
		switch {
		case room < req.Nodes:
		case !ok:
			return fmt.Errorf("%s gave no window, and the slots have room for one at %s", what, tick(t))
		case t < w.Start:
			return fmt.Errorf("%s gave a window at %s, and the slots have room for one at %s", what, tick(w.Start), tick(t))
		default:
			return nil
		}
	}
	return nil
}

// replay is a new plan in which the same is taken as in this one, except for one
// reservation.
func (s *session) replay(except *holding) (entity.Plan, error) {
	plan := s.empty()
	byID := map[int]*entity.Node{}
	for slot := range plan.Slots(0, 1) {
		byID[slot.Node.ID] = slot.Node
	}
	type again struct {
		run     *entity.Run
		settled bool
	}
	var all []again
	add := func(w entity.Window, settled bool) {
		if w.Nodes = len(w.Tasks); w.Nodes == 0 {
			return
		}
		r := entity.NewRun(&entity.Job{ID: int64(len(all)), Request: entity.Request{Nodes: w.Nodes, Length: 1}}, int64(len(all)))
		r.Reservation.Window = w
		all = append(all, again{r, settled})
	}
	for _, h := range s.held {
		if h == except {
			continue
		}
		w := entity.Window{Start: h.window.Start}
		for i, t := range h.window.Tasks {
			if end := h.end(i, t.End); w.Start < end && s.now < end {
				w.Tasks = append(w.Tasks, entity.Task{Node: byID[t.Node.ID], End: end})
				w.End = max(w.End, end)
			}
		}
		add(w, h.settled)
	}
	for _, l := range s.left {
		if s.now < l.to {
			add(entity.Window{Start: l.from, End: l.to, Tasks: []entity.Task{{Node: byID[l.node.ID], End: l.to}}}, l.named)
		}
	}
	slices.SortStableFunc(all, func(a, b again) int {
		return int(a.run.Reservation.Window.Start - b.run.Reservation.Window.Start)
	})
	for _, a := range all {
		w := a.run.Reservation.Window
		if _, err := plan.Reserve(a.run, w); err != nil {
			return nil, fmt.Errorf("a new plan refuses what is taken in this one: %w", err)
		}
	}
	for _, a := range all {
		if w := a.run.Reservation.Window; w.Start <= s.now {
			plan.Forget(w.Start)
			if a.settled {
				plan.Settle(&a.run.Reservation)
			}
		}
	}
	plan.Forget(s.now)
	return plan, nil
}

// take reserves w for r; sure says that it must be granted.
func (s *session) take(r *entity.Run, w entity.Window, sure bool) error {
	before, room := s.all(), s.room(w, nil)
	sure = sure || (room && s.single(w))
	got, err := s.plan.Reserve(r, w)
	if err != nil {
		s.t.Logf("Reserve(%v, %s): refused", r, windowText(w))
		if sure {
			return fmt.Errorf("the plan's Reserve refused a window that there is room for: %w", err)
		}
		if err := s.refused(r, err); err != nil {
			return err
		}
		if r.Reservation.Active {
			return errors.New("after a refusal the reservation is active")
		}
		return s.same(before, "a refused Reserve")
	}
	s.t.Logf("Reserve(%v, %s): ok", r, windowText(w))
	switch {
	case !room:
		return fmt.Errorf("the plan's Reserve kept a window that there is no room for")
	case got != &r.Reservation:
		return errors.New("the plan's Reserve did not return a pointer to Run.Reservation")
	case !got.Active || got.Run != r:
		return errors.New("after Reserve the reservation is not active, or of another run")
	}
	h := &holding{run: r, quiet: s.chance(8)}
	if err := s.kept(h, w); err != nil {
		return err
	}
	s.held = append(s.held, h)
	return s.started(h)
}

// kept takes in that h has w now; the nodes may still be others of their class.
func (s *session) kept(h *holding, w entity.Window) error {
	got := h.run.Reservation.Window
	if !s.alike(got, w) {
		return fmt.Errorf("the reservation is for %s instead of %s", windowText(got), windowText(w))
	}
	got.Tasks = slices.Clone(got.Tasks)
	h.window = got
	if !s.counted() {
		h.ended = slices.Repeat([]des.Time{des.Forever}, len(got.Tasks))
	}
	if !s.named {
		h.settled = true // its nodes are the reserved ones
		if !slices.Equal(got.Tasks, w.Tasks) {
			return fmt.Errorf("the reservation is for %s instead of %s", windowText(got), windowText(w))
		}
	}
	return nil
}

// alike reports whether two windows have the same times on nodes of the same
// classes.
func (s *session) alike(a, b entity.Window) bool {
	return a.Start == b.Start && a.End == b.End && a.Nodes == b.Nodes &&
		slices.EqualFunc(a.Tasks, b.Tasks, func(x, y entity.Task) bool {
			return slices.Contains(s.nodes, x.Node) && s.classes[x.Node.ID] == s.classes[y.Node.ID] && x.End == y.End
		})
}

// started settles h if its window begins now.
func (s *session) started(h *holding) error {
	if h.begun || h.window.Start > s.now {
		return nil
	}
	h.begun = true
	if !s.named || h.quiet {
		return nil
	}
	s.plan.Settle(&h.run.Reservation)
	got := h.run.Reservation.Window
	s.t.Logf("Settle(%v): %s", h.run, windowText(got))
	if !s.alike(got, h.window) {
		return fmt.Errorf("the plan's Settle made %s of %s", windowText(got), windowText(h.window))
	}
	h.window.Tasks = slices.Clone(got.Tasks)
	h.settled = true
	return s.clash()
}

// refused reports an error that is no *entity.ConflictError about r.
func (s *session) refused(r *entity.Run, err error) error {
	var conflict *entity.ConflictError
	if !errors.As(err, &conflict) {
		return fmt.Errorf("a refusal must be a *entity.ConflictError, not %T: %w", err, err)
	}
	if conflict.Run != r {
		return fmt.Errorf("the *entity.ConflictError names %v instead of %v", conflict.Run, r)
	}
	return nil
}

// reserve asks for any window, with or without room.
func (s *session) reserve() error {
	w, req := s.window()
	return s.take(s.run(req), w, false)
}

// reserveNonsense asks for what can never be granted.
func (s *session) reserveNonsense() error {
	w, req := s.window()
	r := s.run(req)
	what := ""
	kind := s.number(5, "kind of nonsense")
	switch {
	case kind == 0 && len(s.held) > 0:
		r, what = s.pick(func(*holding) bool { return true }).run, "for a job that holds a reservation already"
	case kind == 1 && s.now > 0:
		w = s.shift(w, s.now-1-w.Start)
		what = "in the past"
	case kind <= 2:
		w.Nodes, what = 0, "of no node"
		w.Tasks = nil
	case kind == 3:
		w.End, what = w.Start-1, "that ends before it starts"
	default:
		if s.counted() {
			w.Nodes, what = s.total()+1, "of more processors than there are"
		} else {
			w.Tasks[0].Node, what = &entity.Node{ID: w.Tasks[0].Node.ID, Perf: 1}, "on a node of another plan"
		}
	}
	before, held := s.all(), r.Reservation
	s.t.Logf("Reserve(%v, %s), a window %s", r, windowText(w), what)
	if _, err := s.plan.Reserve(r, w); err == nil {
		return fmt.Errorf("the plan's Reserve kept a window %s", what)
	} else if err := s.refused(r, err); err != nil {
		return err
	}
	if held.Active != r.Reservation.Active || !s.sameWindow(held.Window, r.Reservation.Window) {
		return fmt.Errorf("a refused Reserve changed the reservation of %v", r)
	}
	return s.same(before, "a refused Reserve")
}

// shift is w so much later, or earlier.
func (s *session) shift(w entity.Window, by des.Time) entity.Window {
	w.Start += by
	w.End += by
	w.Tasks = slices.Clone(w.Tasks)
	for i := range w.Tasks {
		w.Tasks[i].End += by
	}
	return w
}

// ahead reports whether h is a job's and lies ahead.
func (s *session) ahead(h *holding) bool { return !h.withheld && h.window.Start > s.now }

// findEarlier asks for an earlier window for a reservation and, most often, moves
// it there.
func (s *session) findEarlier() error {
	h := s.pick(s.ahead)
	from, until := s.now, des.Forever
	if s.chance(2) {
		from, until = s.span()
	}
	before := s.all()
	r := &h.run.Reservation
	w, ok := s.plan.FindEarlier(r, from, until)
	asked := fmt.Sprintf("FindEarlier(%v, from %s to %s)", h.run, tick(from), tick(until))
	req := h.run.Request
	if s.counted() {
		req = entity.Request{Nodes: h.window.Nodes, Length: h.window.Length()}
	}
	until = min(until, h.window.Start-1)
	if !ok {
		s.t.Logf("%s: none", asked)
	} else {
		s.t.Logf("%s: %s", asked, windowText(w))
		if err := s.proper(w, req, from, until, h); err != nil {
			return fmt.Errorf("the plan's FindEarlier: %w", err)
		}
	}
	if err := s.same(before, "FindEarlier"); err != nil {
		return err
	}
	if !r.Active || !s.sameWindow(r.Window, h.window) {
		return errors.New("the plan's FindEarlier changed the reservation")
	}
	if err := s.best("FindEarlier", nil, req, from, until, h, w, ok); err != nil {
		return err
	}
	if !ok || s.chance(3) {
		return nil
	}
	return s.moveTo(h, w, true)
}

// move asks that a reservation be moved anywhere.
func (s *session) move() error {
	h := s.pick(s.ahead)
	w := entity.Window{Start: s.now + s.upTo(s.config.Spread), Nodes: h.window.Nodes}
	switch s.number(5, "where to") {
	case 0: // a little to the side
		return s.moveTo(h, s.shift(h.window, min(h.window.Start-s.now, 3)-s.upTo(3)), false)
	case 1: // more than fits, on counted processors
		if s.counted() {
			w.Nodes = s.total()
		}
	case 2: // into the past
		if s.now > 0 {
			return s.moveTo(h, s.shift(h.window, s.now-1-h.window.Start), false)
		}
	}
	return s.moveTo(h, s.fill(w, entity.Request{Nodes: w.Nodes, Length: h.run.Request.Length}), false)
}

// moveTo moves h to w; sure says that it must be granted.
func (s *session) moveTo(h *holding, w entity.Window, sure bool) error {
	before := s.all()
	room := w.Start >= s.now && s.room(w, h)
	sure = sure || (room && s.single(w))
	r := &h.run.Reservation
	if err := s.plan.Move(r, w); err != nil {
		s.t.Logf("Move(%v, %s): refused", h.run, windowText(w))
		if sure {
			return fmt.Errorf("the plan's Move refused a window that there is room for: %w", err)
		}
		if err := s.refused(h.run, err); err != nil {
			return err
		}
		if !r.Active || !s.sameWindow(r.Window, h.window) {
			return errors.New("a refused Move did not leave the reservation as it was")
		}
		return s.same(before, "a refused Move")
	}
	s.t.Logf("Move(%v, %s): ok", h.run, windowText(w))
	switch {
	case !room:
		return errors.New("the plan's Move went to a window that there is no room for")
	case !r.Active || r.Run != h.run:
		return errors.New("after Move the reservation is not active, or of another run")
	}
	if err := s.kept(h, w); err != nil {
		return err
	}
	return s.started(h)
}

// release gives a reservation back: early, late or before it begins, sometimes
// twice.
func (s *session) release() error {
	h := s.pick(func(*holding) bool { return true })
	at := s.now
	switch s.number(5, "when") {
	case 0:
		at = s.now + s.upTo(longest) // from a later instant on
	case 1:
		at = max(s.now-s.upTo(3), 0) // from before now
	case 2:
		at = h.window.End + s.upTo(2) // too late to give anything back
	}
	return s.releaseFrom(h, at, s.chance(2))
}

func (s *session) releaseFrom(h *holding, at des.Time, twice bool) error {
	r := &h.run.Reservation
	s.plan.Release(r, at)
	s.t.Logf("Release(%v, %s)", h.run, tick(at))
	if r.Active {
		return errors.New("after Release the reservation is active")
	}
	s.model.release(h, at)
	if !twice {
		return nil
	}
	if err := s.agree(); err != nil {
		return err
	}
	before := s.all()
	s.plan.Release(r, s.now)
	return s.same(before, "releasing %v again", h.run)
}

// releaseTask gives one task of a job that runs back.
func (s *session) releaseTask() error {
	open := func(h *holding) (tasks []int) {
		for i, end := range h.ended {
			if end == des.Forever && s.now <= h.window.Tasks[i].End {
				tasks = append(tasks, i)
			}
		}
		return tasks
	}
	h := s.pick(func(h *holding) bool { return h.begun && h.settled && !h.withheld && len(open(h)) > 0 })
	return s.releaseOne(h, rapid.SampledFrom(open(h)).Draw(s.t, "task"))
}

// releaseOne gives h's i-th task back now, and h with the last one.
func (s *session) releaseOne(h *holding, i int) error {
	s.plan.ReleaseTask(&h.run.Reservation, i, s.now)
	s.t.Logf("ReleaseTask(%v, %d, %s)", h.run, i, tick(s.now))
	h.ended[i] = s.now
	if !slices.Contains(h.ended, des.Forever) {
		return s.releaseFrom(h, s.now, false)
	}
	return nil
}

// extend asks that tasks of a job that runs end later.
func (s *session) extend() error {
	h := s.pick(func(h *holding) bool {
		for i, end := range h.ended {
			if end == des.Forever && h.window.Tasks[i].End < s.now {
				return false // its time is up, and somebody may have its node
			}
		}
		return s.named && h.settled && !h.withheld
	})
	w := h.window
	w.Tasks = slices.Clone(w.Tasks)
	more := w // what is taken beside what is held
	more.Start, more.Tasks = s.now, nil
	by := s.upTo(longest)
	for i := range w.Tasks {
		t := &w.Tasks[i]
		t.End += by + s.upTo(1)
		w.End = max(w.End, t.End)
		if h.ended[i] == des.Forever {
			more.Tasks = append(more.Tasks, entity.Task{Node: t.Node, End: t.End})
		}
	}
	more.Nodes, more.End = len(more.Tasks), w.End
	room := s.room(more, h)
	before := s.all()
	r := &h.run.Reservation
	if err := s.plan.Extend(r, w); err != nil {
		s.t.Logf("Extend(%v, %s): refused", h.run, windowText(w))
		if room && s.single(w) {
			return fmt.Errorf("the plan's Extend refused what there is room for: %w", err)
		}
		if err := s.refused(h.run, err); err != nil {
			return err
		}
		var conflict *entity.ConflictError
		_ = errors.As(err, &conflict) // as refused has seen
		if at := from(more, conflict.At); !s.chosen && s.room(at, h) && s.unnamed(at) {
			return fmt.Errorf("the *entity.ConflictError tells of %s, and there is room then", tick(conflict.At))
		}
		return s.same(before, "a refused Extend")
	}
	s.t.Logf("Extend(%v, %s): ok", h.run, windowText(w))
	if !room {
		return errors.New("the plan's Extend took what there is no room for")
	}
	if !s.sameWindow(r.Window, w) {
		return fmt.Errorf("after Extend the reservation is for %s instead of %s", windowText(r.Window), windowText(w))
	}
	h.window = w
	return nil
}

// from returns the part of w that is held at the instant at, as a window of one tick.
func from(w entity.Window, at des.Time) entity.Window {
	then := entity.Window{Start: at, End: at + 1}
	for _, t := range w.Tasks {
		if w.Start <= at && at < t.End {
			then.Tasks = append(then.Tasks, entity.Task{Node: t.Node, End: at + 1})
		}
	}
	return then
}

// pass has time pass: jobs end and begin as a metascheduler has them, or are left
// to the plan alone; then the plan is told to forget.
func (s *session) pass() error {
	to := s.now + s.upTo(longest)
	for {
		next := to + 1
		for _, h := range s.held {
			if !h.begun {
				next = min(next, h.window.Start)
			}
			s.parts(h.window, func(_, _, i int, end des.Time) {
				if s.now < end && (h.ended == nil || h.ended[i] == des.Forever) {
					next = min(next, end)
				}
			})
		}
		if next > to {
			break
		}
		s.now = next
		if s.chance(2) {
			if err := s.forget(next); err != nil {
				return err
			}
		}
		if err := s.ends(); err != nil {
			return err
		}
		for _, h := range slices.Clone(s.held) {
			if h.window.Start == next {
				if err := s.started(h); err != nil {
					return err
				}
			}
		}
	}
	s.now = to
	if err := s.forget(to); err != nil {
		return err
	}
	if s.chance(4) && to > 0 { // telling it of an earlier instant changes nothing
		before := s.all()
		gained := s.plan.Forget(to - 1)
		s.t.Logf("Forget(%s): %v", tick(to-1), gained)
		if gained {
			return errors.New("the plan's Forget says that something became free, and no time has passed")
		}
		return s.same(before, "a Forget of an earlier instant")
	}
	return nil
}

// ends has what ends now be given back, or not.
func (s *session) ends() error {
	for _, h := range slices.Clone(s.held) {
		if !h.begun || h.window.End < s.now {
			continue
		}
		if !s.named || !h.settled || h.withheld {
			if h.window.End == s.now && s.chance(2) {
				if err := s.releaseFrom(h, s.now, false); err != nil {
					return err
				}
			}
			continue
		}
		for i, t := range h.window.Tasks {
			if t.End == s.now && h.ended[i] == des.Forever && s.chance(2) {
				if err := s.releaseOne(h, i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *session) forget(now des.Time) error {
	more, ends := s.rises(s.forgot, now)
	gained := s.plan.Forget(now)
	s.t.Logf("Forget(%s): %v", tick(now), gained)
	s.forgot = now
	switch {
	case more && !gained:
		return errors.New("the plan's Forget does not tell that something has become free")
	case gained && !ends:
		return errors.New("the plan's Forget says that something became free, and nothing has ended")
	}
	return nil
}

// withhold takes nodes, or as many processors, out of the plan for no job. Most often it
// first asks who is in the way, and sometimes has these give up what they hold.
func (s *session) withhold() error {
	from := s.now
	if !s.chance(4) {
		from += s.upTo(s.config.Spread)
	}
	to := from + 1 + s.upTo(longest-1)
	at := s.where()
	s.chosen = s.chosen || !s.single(s.withheldWindow(at, from, to))
	sure, err := s.clearTheWay(at, from, to)
	if err != nil {
		return err
	}
	w := s.withheldWindow(at, from, to)
	before, room := s.all(), s.room(w, nil) && s.unnamed(w)
	sure = sure || room && s.single(w)
	r := entity.NewWithheld()
	if err := s.plan.Withhold(r, at, from, to); err != nil {
		s.t.Logf("Withhold(%s): refused", windowText(w))
		if sure {
			return fmt.Errorf("the plan's Withhold refused what there is room for: %w", err)
		}
		if err := s.refused(r, err); err != nil {
			return err
		}
		if r.Reservation.Active {
			return errors.New("after a refusal the reservation is active")
		}
		return s.sameFree(before, "a refused Withhold")
	}
	s.t.Logf("Withhold(%s): ok", windowText(w))
	switch {
	case !room:
		return errors.New("the plan's Withhold took what there is no room for")
	case !r.Reservation.Active || r.Reservation.Run != r:
		return errors.New("after Withhold the reservation is not active, or of another run")
	case !s.sameWindow(r.Reservation.Window, w):
		return fmt.Errorf("after Withhold the reservation is for %s instead of %s", windowText(r.Reservation.Window), windowText(w))
	}
	h := &holding{run: r, window: w, withheld: true, settled: true, quiet: true}
	if s.named {
		h.ended = slices.Repeat([]des.Time{des.Forever}, len(w.Tasks))
	}
	s.held = append(s.held, h)
	return s.started(h)
}

// clearTheWay asks, most often, who is in the way at these nodes over [from, to), and sometimes has
// these runs give up what they hold. It reports whether Withhold must succeed now, because nobody
// is in the way of named nodes.
func (s *session) clearTheWay(at entity.Where, from, to des.Time) (sure bool, err error) {
	if s.chance(3) {
		return false, nil
	}
	runs, err := s.inTheWay(at, from, to)
	if err != nil {
		return false, err
	}
	if err := s.agree(); err != nil {
		return false, err
	}
	if s.chance(2) {
		for _, h := range slices.Clone(s.held) {
			if slices.Contains(runs, h.run) {
				runs = slices.DeleteFunc(runs, func(r *entity.Run) bool { return r == h.run })
				if err := s.releaseFrom(h, s.now, false); err != nil {
					return false, err
				}
			}
		}
	}
	return s.named && len(runs) == 0, nil
}

// where draws some of the plan's nodes, or a number of processors.
func (s *session) where() entity.Where {
	size := s.plan.Size()
	if s.counted() {
		return entity.Where{Count: 1 + s.number(size, "processors")}
	}
	first := s.number(size, "first node")
	last := min(first+s.number(3, "more nodes"), size-1)
	return entity.Where{Set: []procset.Range{{First: int32(first), Last: int32(last)}}}
}

// withheldWindow is the window by which at is withheld over [from, to).
func (s *session) withheldWindow(at entity.Where, from, to des.Time) entity.Window {
	w := entity.Window{Start: from, End: to, Nodes: at.Size()}
	for i := range at.Numbers() {
		w.Tasks = append(w.Tasks, entity.Task{Node: s.plan.Node(i), End: to})
	}
	return w
}

// unnamed reports whether no node of w is taken meanwhile by what names it for good.
func (s *session) unnamed(w entity.Window) bool {
	free := true
	s.each(func(r remnant) {
		if r.named && max(r.from, w.Start) < min(r.to, w.End) {
			free = free && !slices.ContainsFunc(w.Tasks, func(t entity.Task) bool { return t.Node == r.node })
		}
	})
	return free
}

// inTheWay asks who has any of these nodes over [from, to).
func (s *session) inTheWay(at entity.Where, from, to des.Time) ([]*entity.Run, error) {
	parity := int64(s.number(3, "who yields")) // of the jobs that do; with 2 all of them
	yields := func(r *entity.Run) bool { return parity == 2 || r.ID%2 == parity }
	before := s.all()
	runs := s.plan.InTheWay(at, from, to, yields)
	w := s.withheldWindow(at, from, to)
	s.t.Logf("InTheWay(%s): %v", windowText(w), runs)
	if s.counted() {
		if len(runs) > 0 {
			return nil, errors.New("the plan's InTheWay lists jobs, and its processors have no names")
		}
		return nil, nil
	}
	for i, r := range runs {
		if slices.Contains(runs[:i], r) {
			return nil, fmt.Errorf("the plan's InTheWay lists %v twice", r)
		}
	}
	// Reservations ahead name the nodes of at that they have, now that this is decided.
	var has []*entity.Run
	overlaps := func(n *entity.Node, start, end des.Time) bool {
		return max(start, from) < min(end, to) && slices.ContainsFunc(w.Tasks, func(t entity.Task) bool { return t.Node == n })
	}
	for _, h := range s.held {
		for i, t := range h.run.Reservation.Window.Tasks {
			if overlaps(t.Node, h.window.Start, h.end(i, t.End)) {
				has = append(has, h.run)
			}
		}
	}
	for _, r := range has {
		if !slices.Contains(runs, r) {
			return nil, fmt.Errorf("the plan's InTheWay does not list %v, which has %s", r, windowText(r.Reservation.Window))
		}
	}
	for _, r := range runs {
		if !slices.Contains(has, r) && !slices.ContainsFunc(s.left, func(l remnant) bool {
			return l.run == r && max(l.from, from) < min(l.to, to) && slices.ContainsFunc(w.Tasks, func(t entity.Task) bool { return s.classes[t.Node.ID] == l.class })
		}) {
			return nil, fmt.Errorf("the plan's InTheWay lists %v, which has nothing of it then", r)
		}
	}
	return runs, s.sameFree(before, "InTheWay")
}

// ask asks what changes nothing.
func (s *session) ask() error {
	questions := []func() error{s.slots, s.fits, s.fitsAt}
	if s.named {
		questions[2] = s.nextGain
	}
	return questions[s.number(len(questions), "question")]()
}

// slots looks at a part of what is free.
func (s *session) slots() error {
	from := s.now + s.upTo(s.config.Spread)
	until := from + s.upTo(s.config.Spread)
	slots := slices.Collect(s.plan.Slots(from, until))
	s.t.Logf("Slots(%s, %s): %s", tick(from), tick(until), spans(slots))
	if err := s.ordered(slots, from, until); err != nil {
		return err
	}
	whole := slices.Collect(s.plan.Slots(s.now, max(until, s.far())))
	for t := from; t < until; t++ {
		part, all := 0, 0
		for _, slot := range slots {
			if slot.Start <= t && t < slot.End {
				part += slot.Width
			}
		}
		for _, slot := range whole {
			if slot.Start <= t && t < slot.End {
				all += slot.Width
			}
		}
		if part != all {
			return fmt.Errorf("at %s the slots within [%s, %s) show %d free, those of all times %d", tick(t), tick(from), tick(until), part, all)
		}
	}
	for range s.plan.Slots(s.now, des.Forever) {
		break // whoever has seen enough may leave
	}
	return nil
}

// fits asks whether a request could be met were the plan empty, and looks whether
// an empty plan does.
func (s *session) fits() error {
	req := s.request()
	empty := s.empty()
	err := empty.Fits(req)
	s.t.Logf("Fits(%s): %v", requestText(req), err)
	_, found := empty.Find(req, 0, des.Forever)
	switch {
	case err == nil && !found:
		return errors.New("the request fits, and an empty plan has no window for it")
	case err != nil && found:
		return fmt.Errorf("an empty plan has a window for the request, and Fits says: %w", err)
	}
	// What is taken plays no part. (How much time is left may play one.)
	if used := s.plan.Fits(req); s.now == 0 && (used == nil) != (err == nil) {
		return fmt.Errorf("the plan's Fits says %v, and %v in an empty plan", used, err)
	}
	return nil
}

// fitsAt asks a plan of counted processors.
func (s *session) fitsAt() error {
	at, nodes, length := s.now+s.upTo(s.config.Spread/2), 1+s.number(s.total()+1, "nodes"), 1+s.upTo(longest-1)
	room := func(n int, length des.Time) bool {
		return s.room(entity.Window{Start: at, End: at + length, Nodes: n}, nil)
	}
	ok, missNodes, missLength := s.plan.FitsAt(at, nodes, length)
	s.t.Logf("FitsAt(%s, %d, %s): %v, %d, %s", tick(at), nodes, tick(length), ok, missNodes, tick(missLength))
	switch {
	case ok != room(nodes, length):
		return fmt.Errorf("the plan's FitsAt says %v, and that is wrong", ok)
	case !ok && (missNodes > nodes || missLength > length):
		return errors.New("the plan's FitsAt tells of a miss that is not the one asked for")
	case !ok && room(missNodes, max(missLength, 1)):
		return fmt.Errorf("the plan's FitsAt tells of a miss, %d for %s, that fits", missNodes, tick(missLength))
	}
	return nil
}

// nextGain asks a plan of named nodes when something becomes free without a job's end. It
// may tell of nothing; what it does tell of must be so.
func (s *session) nextGain() error {
	at := s.plan.NextGain()
	s.t.Logf("NextGain: %s", tick(at))
	if at <= s.now {
		return errors.New("the plan's NextGain is no instant to come")
	}
	if at < des.Forever {
		if _, ends := s.rises(at-1, at); !ends {
			return errors.New("nothing ends at NextGain")
		}
	}
	return nil
}
