package plantest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// session is a sequence of calls on one plan.
type session struct {
	empty  func() entity.Plan
	config Config
	*model
	plan  entity.Plan
	named bool // its nodes have names

	now    des.Time
	forgot des.Time // the latest Forget
	random *rand.Rand
	jobs   int64
	log    []string
	played int
}

// longest is the longest request that is drawn without Config.Request, and the
// longest step in time.
const longest = 10

// operations are the calls that are drawn, each as often as its weight says.
var operations = []struct {
	weight int
	do     func(*session) error
}{
	{8, (*session).find},
	{6, (*session).reserve},
	{2, (*session).reserveNonsense},
	{3, (*session).findEarlier},
	{4, (*session).move},
	{5, (*session).release},
	{3, (*session).releaseTask},
	{3, (*session).extend},
	{6, (*session).pass},
	{2, (*session).slots},
	{2, (*session).fits},
	{2, (*session).fitsAt},
	{1, (*session).nextGain},
}

// reserving is the position of reserve among the operations.
const reserving = 1

func drawOperation(random *rand.Rand) int {
	sum := 0
	for _, o := range operations {
		sum += o.weight
	}
	k := random.IntN(sum)
	for i, o := range operations {
		if k -= o.weight; k < 0 {
			return i
		}
	}
	return 0
}

func (s *session) begin() error {
	s.plan = s.empty()
	s.named = entity.Named(s.plan)
	var err error
	if s.model, err = newModel(slices.Collect(s.plan.Slots(0, 1))); err != nil {
		return err
	}
	return s.numbers()
}

// numbers checks that the plan's numbers are those of its nodes.
func (s *session) numbers() error {
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

func (s *session) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// upTo draws a time of 0 to n ticks.
func (s *session) upTo(n des.Time) des.Time { return des.Time(s.random.Int64N(int64(n) + 1)) }

// chance is true once in n times.
func (s *session) chance(n int) bool { return s.random.IntN(n) == 0 }

// request draws what a job asks for.
func (s *session) request() entity.Request {
	if s.config.Request != nil {
		return s.config.Request(s.random, s.now)
	}
	r := entity.Request{Nodes: 1 + s.random.IntN(s.total()), Length: 1 + s.upTo(longest-1)}
	if s.chance(10) {
		r.Nodes++ // one more than there may be
	}
	if s.chance(8) {
		r.Deadline = s.now + 1 + s.upTo(3*longest)
	}
	if !s.counted() && s.chance(4) {
		r.MinPerf = s.nodes[s.random.IntN(len(s.nodes))].Perf
	}
	return r
}

// span draws the instants between which a window is to start.
func (s *session) span() (from, until des.Time) {
	from = s.now + s.upTo(s.config.Spread/2)
	switch s.random.IntN(6) {
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

// pick draws one of the active reservations for which ok holds, or nil.
func (s *session) pick(ok func(*holding) bool) *holding {
	var some []*holding
	for _, h := range s.held {
		if ok(h) {
			some = append(some, h)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[s.random.IntN(len(some))]
}

// all is everything that is free from now on, as far as the plan is not empty.
func (s *session) all() []entity.Slot { return slices.Collect(s.plan.Slots(s.now, s.far())) }

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

// agree compares what is free by the plan with what is free by the model, and
// reservations with what they must be.
func (s *session) agree() error {
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
	for _, h := range s.held {
		r := &h.run.Reservation
		if !r.Active || r.Run != h.run || !s.sameWindow(r.Window, h.window) {
			return fmt.Errorf("the reservation of %v is no longer what it was: %s (active: %v) instead of %s", h.run, windowText(r.Window), r.Active, windowText(h.window))
		}
	}
	if s.plan.Err() != nil {
		return fmt.Errorf("the plan's Err: %w", s.plan.Err())
	}
	return s.clash()
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
	req := entity.Request{Nodes: 1 + s.random.IntN(s.total()), Length: 1 + s.upTo(longest-1)}
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
	for _, k := range s.random.Perm(len(s.nodes))[:w.Nodes] {
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
		s.note("%s: none", asked)
	} else {
		s.note("%s: %s", asked, windowText(w))
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
	if s.config.ByHistory && except == nil {
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
		s.note("Reserve(%v, %s): refused", r, windowText(w))
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
	s.note("Reserve(%v, %s): ok", r, windowText(w))
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
		h.settled = true // its nodes are what was reserved
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
	s.note("Settle(%v): %s", h.run, windowText(got))
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
	switch s.random.IntN(5) {
	case 0:
		h := s.pick(func(*holding) bool { return true })
		if h == nil {
			return nil
		}
		r, what = h.run, "for a job that holds a reservation already"
	case 1:
		if s.now == 0 {
			return nil
		}
		w = s.shift(w, s.now-1-w.Start)
		what = "in the past"
	case 2:
		w.Nodes, what = 0, "of no node"
		w.Tasks = nil
	case 3:
		w.End, what = w.Start-1, "that ends before it starts"
	case 4:
		if s.counted() {
			w.Nodes, what = s.total()+1, "of more processors than there are"
		} else {
			w.Tasks[0].Node, what = &entity.Node{ID: w.Tasks[0].Node.ID, Perf: 1}, "on a node of another plan"
		}
	}
	before, held := s.all(), r.Reservation
	s.note("Reserve(%v, %s), a window %s", r, windowText(w), what)
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

// ahead reports whether h lies ahead.
func (s *session) ahead(h *holding) bool { return h.window.Start > s.now }

// findEarlier asks for an earlier window for a reservation and, most often, moves
// it there.
func (s *session) findEarlier() error {
	h := s.pick(s.ahead)
	if h == nil {
		return nil
	}
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
		s.note("%s: none", asked)
	} else {
		s.note("%s: %s", asked, windowText(w))
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
	if h == nil {
		return nil
	}
	w := entity.Window{Start: s.now + s.upTo(s.config.Spread), Nodes: h.window.Nodes}
	switch s.random.IntN(5) {
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
		s.note("Move(%v, %s): refused", h.run, windowText(w))
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
	s.note("Move(%v, %s): ok", h.run, windowText(w))
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
	if h == nil {
		return nil
	}
	at := s.now
	switch s.random.IntN(5) {
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
	s.note("Release(%v, %s)", h.run, tick(at))
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
	if !s.named {
		return nil
	}
	h := s.pick(func(h *holding) bool { return h.begun && h.settled })
	if h == nil {
		return nil
	}
	var open []int
	for i, end := range h.ended {
		if end == des.Forever && s.now <= h.window.Tasks[i].End {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return s.releaseOne(h, open[s.random.IntN(len(open))])
}

// releaseOne gives h's i-th task back now, and h with the last one.
func (s *session) releaseOne(h *holding, i int) error {
	s.plan.ReleaseTask(&h.run.Reservation, i, s.now)
	s.note("ReleaseTask(%v, %d, %s)", h.run, i, tick(s.now))
	h.ended[i] = s.now
	if !slices.Contains(h.ended, des.Forever) {
		return s.releaseFrom(h, s.now, false)
	}
	return nil
}

// extend asks that tasks of a job that runs end later.
func (s *session) extend() error {
	if !s.named {
		return nil
	}
	h := s.pick(func(h *holding) bool {
		for i, end := range h.ended {
			if end == des.Forever && h.window.Tasks[i].End < s.now {
				return false // its time is up, and somebody may have its node
			}
		}
		return h.settled
	})
	if h == nil {
		return nil
	}
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
		s.note("Extend(%v, %s): refused", h.run, windowText(w))
		if room && s.single(w) {
			return fmt.Errorf("the plan's Extend refused what there is room for: %w", err)
		}
		if err := s.refused(h.run, err); err != nil {
			return err
		}
		var conflict *entity.ConflictError
		if errors.As(err, &conflict) && s.room(from(more, conflict.At), h) {
			return fmt.Errorf("the *entity.ConflictError tells of %s, and there is room then", tick(conflict.At))
		}
		return s.same(before, "a refused Extend")
	}
	s.note("Extend(%v, %s): ok", h.run, windowText(w))
	if !room {
		return errors.New("the plan's Extend took what there is no room for")
	}
	if !s.sameWindow(r.Window, w) {
		return fmt.Errorf("after Extend the reservation is for %s instead of %s", windowText(r.Window), windowText(w))
	}
	h.window = w
	return nil
}

// from is what w takes at the instant at, for a tick.
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
		s.note("Forget(%s): %v", tick(to-1), gained)
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
		if !s.named || !h.settled {
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
	s.note("Forget(%s): %v", tick(now), gained)
	s.forgot = now
	switch {
	case more && !gained:
		return errors.New("the plan's Forget does not tell that something has become free")
	case gained && !ends:
		return errors.New("the plan's Forget says that something became free, and nothing has ended")
	}
	return nil
}

// slots looks at a part of what is free.
func (s *session) slots() error {
	from := s.now + s.upTo(s.config.Spread)
	until := from + s.upTo(s.config.Spread)
	slots := slices.Collect(s.plan.Slots(from, until))
	s.note("Slots(%s, %s): %s", tick(from), tick(until), spans(slots))
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
	s.note("Fits(%s): %v", requestText(req), err)
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
	if !s.counted() {
		return nil
	}
	at, nodes, length := s.now+s.upTo(s.config.Spread/2), 1+s.random.IntN(s.total()+1), 1+s.upTo(longest-1)
	room := func(n int, length des.Time) bool {
		return s.room(entity.Window{Start: at, End: at + length, Nodes: n}, nil)
	}
	ok, missNodes, missLength := s.plan.FitsAt(at, nodes, length)
	s.note("FitsAt(%s, %d, %s): %v, %d, %s", tick(at), nodes, tick(length), ok, missNodes, tick(missLength))
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

// nextGain asks a plan of named nodes when something becomes free without a job's end. All
// that is reserved here is a job's, so that it may tell of nothing; what it does
// tell of must be so.
func (s *session) nextGain() error {
	if !s.named {
		return nil
	}
	at := s.plan.NextGain()
	s.note("NextGain: %s", tick(at))
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
