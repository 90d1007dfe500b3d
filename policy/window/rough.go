// Searches for windows with a rough right edge: ALP and AMP (AMP11), AEP with
// its criteria (META), and CSA.

package window

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// RoughGoal is what AEP and CSA want of a window with a rough right edge.
type RoughGoal uint8

const (
	MinStart         RoughGoal = iota // the earliest start: AMP
	MinCost                           // the lowest cost; exact
	MinRunTime                        // the shortest slowest task, by META's substitution
	MinFinish                         // the earliest end, by META's substitution
	MinProcTime                       // the least sum of task times, among the substitution's subsets
	MinRunTimeExact                   // the shortest slowest task of all
	MinFinishExact                    // the earliest end of all
	MinProcTimeExact                  // the least sum of task times of all
)

var roughGoalNames = [...]string{
	"min-start", "min-cost", "min-runtime", "min-finish", "min-proctime",
	"min-runtime-exact", "min-finish-exact", "min-proctime-exact",
}

func (g RoughGoal) String() string {
	if int(g) < len(roughGoalNames) {
		return roughGoalNames[g]
	}
	return "unknown goal"
}

// value is what g makes of a window; the less the better.
func (g RoughGoal) value(w *entity.Window) float64 {
	switch g {
	case MinStart:
		return w.Start.Seconds()
	case MinCost:
		return w.Cost
	case MinRunTime, MinRunTimeExact:
		return w.Length().Seconds()
	case MinFinish, MinFinishExact:
		return w.End.Seconds()
	default:
		return w.ProcessorTime().Seconds()
	}
}

// scan is what one rough search carries along the slot list.
type scan struct {
	set     Settings
	req     entity.Request
	due     des.Time
	tariff  tariff
	list    []entity.Slot
	until   des.Time
	work    entity.Work
	cheap   cheapest
	usable  []offer // the substitution's list, by cost
	picks   []offer
	best    []offer
	bestAt  des.Time
	bestVal float64
	bestOK  bool
	slots   []usableSlot // see admit
	lengths []des.Time   // the distinct task times in slots, ascending
	onsets  []onset      // ascending
	cut     subtraction
	left    []entity.Slot
}

var scans = sync.Pool{New: func() any { return new(scan) }}

// newScan checks the input and readies scratch; done gives it back.
func newScan(set Settings, req entity.Request, list entity.SlotList, until des.Time) (*scan, error) {
	if err := set.check(); err != nil {
		return nil, err
	}
	if err := checkRequest(&req); err != nil {
		return nil, err
	}
	if err := checkOrder(list.Slots); err != nil {
		return nil, err
	}
	s := scans.Get().(*scan)
	s.set, s.req, s.list, s.until = set, req, list.Slots, until
	s.due = req.DeadlineLimit()
	s.tariff = set.tariff(req.BudgetLimit())
	s.work, s.bestOK = entity.Work{}, false
	return s, nil
}

func (s *scan) done() {
	s.list, s.req = nil, entity.Request{}
	scans.Put(s)
}

// offer is what slot i offers to a task of the request; ok is false where the
// task cannot lie in it.
func (s *scan) offer(i int) (o offer, ok bool) {
	slot := &s.list[i]
	if !s.req.Admits(slot.Node) {
		return o, false
	}
	o.length = s.set.taskTime(slot.Node, s.req.Length)
	o.last = min(slot.End, s.due) - o.length
	if o.last < slot.Start {
		return o, false
	}
	o.cost = s.tariff.cost(slot.Node.Price, o.length)
	o.slot = int32(i)
	return o, true
}

// keep records a subset at start as the best so far.
func (s *scan) keep(offers []offer, start des.Time, value float64) {
	s.best = append(s.best[:0], offers...)
	s.bestAt, s.bestVal, s.bestOK = start, value, true
}

// found makes the window of the best subset, its tasks in the list's order.
func (s *scan) found(value func(*entity.Window) float64) entity.Found {
	if !s.bestOK {
		return entity.Found{Work: s.work}
	}
	slices.SortFunc(s.best, func(a, b offer) int { return int(a.slot) - int(b.slot) })
	w := entity.Window{Start: s.bestAt, Nodes: len(s.best), Tasks: make([]entity.Task, len(s.best))}
	for i, o := range s.best {
		node := s.list[o.slot].Node
		w.Tasks[i] = entity.Task{Node: node, End: s.bestAt + o.length}
		w.End = max(w.End, w.Tasks[i].End)
		w.Cost += realCost(node.Price, o.length)
	}
	w.Value = value(&w)
	return entity.Found{Window: w, OK: true, Work: s.work}
}

// ALP is the algorithm by local price of AMP11: the first n slots, by start,
// whose nodes each cost no more than the request's MaxPrice. Where only a
// budget is given, the price is AMP11's C = S/(t n) with t = V/P; where no
// minimal performance P is asked for, P is that of the slowest node there is,
// so that no choice of slots can cost more than the budget. A budget beside a
// price is not looked at.
type ALP struct{ Settings }

// Name is "alp".
func (ALP) Name() string { return "alp" }

// Find implements entity.Finder. O(m n).
func (a ALP) Find(ctx context.Context, req entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	if req.MaxPrice == 0 && req.Budget > 0 && req.Length > 0 && req.Nodes > 0 && len(list.Slots) > 0 {
		perf := req.MinPerf
		if perf == 0 {
			perf = math.Inf(1)
			for _, s := range list.Slots {
				if s.Node != nil { // newScan refuses those without
					perf = min(perf, s.Node.Perf)
				}
			}
		}
		t := req.Length.Seconds() / perf
		req.MaxPrice = req.Budget / (t * float64(req.Nodes)) * (1 + ulps)
	}
	s, err := newScan(a.Settings, req, list, until)
	if err != nil {
		return entity.Found{}, err
	}
	defer s.done()
	open := s.picks[:0]
	for i := range s.list {
		now := s.list[i].Start
		if now > until {
			break
		}
		s.work.Slots++
		o, ok := s.offer(i)
		if !ok {
			continue
		}
		open = slices.DeleteFunc(open, func(o offer) bool { return o.last < now })
		if open = append(open, o); len(open) == req.Nodes {
			s.keep(open, now, 0)
			break
		}
	}
	s.picks = open
	return s.found(MinStart.value), ctx.Err()
}

// AMP is the algorithm by maximal job price of AMP11: the first moment of the
// scan at which the n cheapest of the usable slots cost no more than the
// budget.
type AMP struct{ Settings }

// Name is "amp".
func (AMP) Name() string { return "amp" }

// Find implements entity.Finder. O(m) and a refill of the n cheapest now and
// then.
func (a AMP) Find(ctx context.Context, req entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	s, err := newScan(a.Settings, req, list, until)
	if err != nil {
		return entity.Found{}, err
	}
	defer s.done()
	if err := s.amp(ctx); err != nil {
		return entity.Found{}, err
	}
	return s.found(MinStart.value), nil
}

func (s *scan) amp(ctx context.Context) error {
	return s.eachCheapest(ctx, func(now des.Time, offers []offer, cost float64) bool {
		s.keep(offers, now, 0)
		return false
	})
}

// ctxEvery is how many slots pass between looks at the context.
const ctxEvery = 4096

// eachCheapest calls visit whenever the n cheapest usable slots have changed
// by a newcomer and are within the budget, until it returns false.
func (s *scan) eachCheapest(ctx context.Context, visit func(now des.Time, offers []offer, cost float64) bool) error {
	s.cheap.reset(s.req.Nodes)
	for i := range s.list {
		now := s.list[i].Start
		if now > s.until {
			break
		}
		if s.work.Slots++; s.work.Slots%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		o, ok := s.offer(i)
		if !ok || o.cost > s.tariff.limit {
			continue
		}
		s.cheap.advance(now)
		if !s.cheap.add(o) {
			continue
		}
		s.work.Steps++
		if offers, ok := s.cheap.chosen(); ok {
			if cost := totalCost(offers); cost <= s.tariff.limit {
				if !visit(now, offers, cost) {
					return nil
				}
			}
		}
	}
	return ctx.Err()
}

// AEP is the algorithm of extreme performance of META: the scan of AMP to the
// end of the list, keeping the subset that is best by a criterion; the earliest
// of equals.
type AEP struct {
	Settings
	By RoughGoal
}

// Name is the goal's name.
func (a AEP) Name() string { return a.By.String() }

// Find implements entity.Finder. MinStart and MinCost as AMP; the substitution
// goals O(m u) with u usable slots at a time; the exact ones see Best.
func (a AEP) Find(ctx context.Context, req entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	if a.By == MinProcTimeExact {
		return a.leastProcTime(ctx, req, list, until)
	}
	s, err := newScan(a.Settings, req, list, until)
	if err != nil {
		return entity.Found{}, err
	}
	defer s.done()
	switch a.By {
	case MinStart:
		err = s.amp(ctx)
	case MinCost:
		err = s.leastCost(ctx)
	case MinRunTime, MinFinish, MinProcTime:
		err = s.substitution(ctx, a.By)
	case MinRunTimeExact, MinFinishExact:
		err = s.shortest(ctx, a.By)
	default:
		err = badInput("AEP knows no goal %d", a.By)
	}
	if err != nil {
		return entity.Found{}, err
	}
	return s.found(a.By.value), nil
}

func (s *scan) leastCost(ctx context.Context) error {
	return s.eachCheapest(ctx, func(now des.Time, offers []offer, cost float64) bool {
		if !s.bestOK || cost < s.bestVal {
			s.keep(offers, now, cost)
		}
		return true
	})
}

// substitution is META's algorithm 2 at every step of the scan. A step whose
// n-th shortest usable task is no better than the best so far is skipped: no
// subset of it could be better.
func (s *scan) substitution(ctx context.Context, by RoughGoal) error {
	s.usable = s.usable[:0]
	n := s.req.Nodes
	for i := range s.list {
		now := s.list[i].Start
		if now > s.until {
			break
		}
		if s.work.Slots++; s.work.Slots%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		o, ok := s.offer(i)
		if !ok || o.cost > s.tariff.limit {
			continue
		}
		at := 0
		keep := s.usable[:0]
		for _, u := range s.usable {
			if u.last >= now {
				keep = append(keep, u)
				if u.cost <= o.cost {
					at++
				}
			}
		}
		s.usable = slices.Insert(keep, at, o)
		if len(s.usable) < n {
			continue
		}
		s.work.Steps++
		if s.bestOK && !s.promising(now, by) {
			continue
		}
		cost := totalCost(s.usable[:n])
		if cost > s.tariff.limit {
			continue
		}
		s.work.Subsets++
		s.substitute(cost)
		if value := by.of(s.picks, now); !s.bestOK || value < s.bestVal {
			s.keep(s.picks, now, value)
		}
	}
	return ctx.Err()
}

// of is the goal's value of a subset that starts at now, in ticks.
func (g RoughGoal) of(offers []offer, now des.Time) float64 {
	var longest, sum des.Time
	for i := range offers {
		longest = max(longest, offers[i].length)
		sum += offers[i].length
	}
	switch g {
	case MinFinish:
		return float64(now + longest)
	case MinProcTime:
		return float64(sum)
	}
	return float64(longest)
}

// promising reports whether some n usable slots, whatever they cost, beat the
// best so far.
func (s *scan) promising(now des.Time, by RoughGoal) bool {
	bound := des.Time(s.bestVal)
	if by == MinFinish {
		bound -= now
	}
	if by == MinProcTime {
		// n tasks that sum to less than bound include one below the mean.
		bound = bound/des.Time(s.req.Nodes) + 1
		for i := range s.usable {
			if s.usable[i].length < bound {
				return true
			}
		}
		return false
	}
	short := 0
	for i := range s.usable {
		if s.usable[i].length < bound {
			if short++; short == s.req.Nodes {
				return true
			}
		}
	}
	return false
}

// substitute is algorithm 2: begin with the n cheapest; the longest task of
// the choice gives way to the cheapest spare slot if that is shorter and the
// budget still holds; every spare is tried once.
func (s *scan) substitute(cost float64) {
	n := s.req.Nodes
	s.picks = append(s.picks[:0], s.usable[:n]...)
	longest := longestOf(s.picks)
	for i := n; i < len(s.usable); i++ {
		spare := &s.usable[i]
		after := cost - s.picks[longest].cost + spare.cost
		if spare.length < s.picks[longest].length && after <= s.tariff.limit {
			s.picks[longest] = *spare
			cost = after
			longest = longestOf(s.picks)
		}
	}
}

func longestOf(offers []offer) int {
	at := 0
	for i := range offers {
		if offers[i].length > offers[at].length {
			at = i
		}
	}
	return at
}

// shortest finds the window whose slowest task is the fastest (or, for
// MinFinishExact, ends first) of all. Only tasks shorter than the best so far
// can make a better window, so the n cheapest of those decide: while they are
// within the budget, the slowest of them becomes the best so far and leaves.
func (s *scan) shortest(ctx context.Context, by RoughGoal) error {
	limit := des.Forever // tasks must be shorter
	s.cheap.reset(s.req.Nodes)
	for i := range s.list {
		now := s.list[i].Start
		if now > s.until {
			break
		}
		if s.work.Slots++; s.work.Slots%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		o, ok := s.offer(i)
		if !ok || o.cost > s.tariff.limit {
			continue
		}
		if by == MinFinishExact && s.bestOK && limit != des.Time(s.bestVal)-now {
			if limit = des.Time(s.bestVal) - now; limit <= 0 {
				break
			}
			s.cheap.shorten(limit)
		}
		if o.length >= limit {
			continue
		}
		s.cheap.advance(now)
		if !s.cheap.add(o) {
			continue
		}
		s.work.Steps++
		for {
			offers, ok := s.cheap.chosen()
			if !ok || totalCost(offers) > s.tariff.limit {
				break
			}
			s.work.Subsets++
			limit = offers[longestOf(offers)].length
			if by == MinFinishExact {
				s.keep(offers, now, float64(now+limit))
			} else {
				s.keep(offers, now, float64(limit))
			}
			s.cheap.shorten(limit)
			s.cheap.advance(now)
		}
	}
	return ctx.Err()
}

// leastProcTime is the exact subset with minus the task's time as its value.
func (a AEP) leastProcTime(ctx context.Context, req entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	found, err := Best{Settings: a.Settings, By: procTime{}, Rough: true}.Find(ctx, req, list, until)
	if found.OK {
		found.Window.Value = -found.Window.Value
	}
	return found, err
}

// procTime values short tasks.
type procTime struct{}

func (procTime) Value(_ *entity.Slot, start, end des.Time) float64 { return -(end - start).Seconds() }

// CSA is the common-statistics scheme of META: AMP again and again, each window
// cut out of the slot list, until none is left; the best of these by a goal.
// Found.Alternatives says how many there were.
type CSA struct {
	Settings
	By RoughGoal
}

// Name is "csa", or "csa-" and the goal where that is not MinCost.
func (c CSA) Name() string {
	if c.By == MinCost {
		return "csa"
	}
	return "csa-" + c.By.String()
}

// Find implements entity.Finder.
func (c CSA) Find(ctx context.Context, req entity.Request, list entity.SlotList, until des.Time) (entity.Found, error) {
	s, err := newScan(c.Settings, req, list, until)
	if err != nil {
		return entity.Found{}, err
	}
	defer s.done()
	best, bestValue, windows := entity.Found{}, math.Inf(1), 0
	s.left = append(s.left[:0], list.Slots...)
	for {
		s.list, s.bestOK = s.left, false
		if err := s.amp(ctx); err != nil {
			return entity.Found{}, err
		}
		if !s.bestOK {
			break
		}
		found := s.found(c.By.value)
		windows++
		if found.Window.Value < bestValue {
			best, bestValue = found, found.Window.Value
		}
		if found.Window.Length() <= des.Tick {
			break // takes next to nothing away: there would be no end of them
		}
		if s.left, err = s.cut.subtract(s.left, &found.Window); err != nil {
			return entity.Found{}, err
		}
	}
	best.Work, best.Alternatives = s.work, windows
	return best, nil
}
