package policy

// A cap on what a machine draws, for any policy of a queue.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
)

// PowerCap wraps a policy and keeps the power of all nodes within a cap at every instant. It
// keeps as many nodes idle as are needed to let all others be busy. On counted processors,
// which are equal, that limits how many are busy at a time:
//
//	busy * Busy + (processors - busy) * Idle <= Cap
//
// Of named nodes those stay idle whose additional power when busy is greatest for the work
// that they do; of equal nodes the last ones.
//
// The idle nodes are withheld from the plan before anything happens. So the cap holds for
// windows that are planned ahead, for advance reservations, and under any policy that goes
// by the plan. Nodes in an outage draw nothing for jobs, so fewer nodes are kept idle
// meanwhile; of named nodes the lost ones count first. A job that wants more nodes than may
// be busy is rejected. Each run needs a PowerCap of its own, and the metascheduler must be
// given the PowerCap itself, not a policy that wraps it.
type PowerCap struct {
	entity.Policy         // that decides
	Cap           float64 // W, of the whole machine
	// Idle is the greatest power of a node without a job, and Busy the greatest of a node
	// with one, in W. Where nodes are switched off, a node that boots counts as busy.
	Idle, Busy float64
	// Of, if set, returns Idle and Busy of each named node.
	Of func(*entity.Node) (idle, busy float64)

	meta  *entity.Metascheduler
	spare entity.Where   // what is kept idle
	may   []*entity.Node // be busy; nil of counted processors
	down  []flow.Outage  // what outages take; see Yield
	kept  []*entity.Run  // under which the plan has what is kept idle
}

// PowerCapParam is the parameter of queue policies that caps power.
const PowerCapParam = "power-cap"

var (
	_ entity.Attacher = (*PowerCap)(nil)
	_ entity.Wrapper  = (*PowerCap)(nil)
	_ entity.Limiting = (*PowerCap)(nil)
	_ entity.Sparing  = (*PowerCap)(nil)
	_ flow.Yielder    = (*PowerCap)(nil)
)

// Unwrap returns the policy that decides.
func (p *PowerCap) Unwrap() entity.Policy { return p.Policy }

// Attach takes out of the plan what the cap does not let be busy.
func (p *PowerCap) Attach(m *entity.Metascheduler) {
	p.meta = m
	p.must(p.begin())
}

// must ends the run where the cap cannot be kept.
func (p *PowerCap) must(err error) {
	if err != nil {
		p.meta.Simulator().Fail(fmt.Errorf("a power cap of %v W %w", p.Cap, err))
	}
}

func (p *PowerCap) begin() error {
	plan := p.meta.Plan()
	idle, err := p.idle(plan.Size(), plan.Node)
	if err != nil {
		return err
	}
	if p.spare.Count = len(idle); entity.Named(plan) {
		p.spare.Count = 0
		for k := range plan.Size() {
			if _, spared := slices.BinarySearch(idle, k); spared {
				p.spare.Set = procset.Extend(p.spare.Set, int32(k))
			} else {
				p.may = append(p.may, plan.Node(k))
			}
		}
	}
	return p.keep()
}

// idle are the numbers of the nodes that are to be idle for the others to be busy,
// ascending.
func (p *PowerCap) idle(size int, node func(int) *entity.Node) ([]int, error) {
	micro := func(watts float64) int64 { return int64(math.Round(watts * 1e6)) }
	left := micro(p.Cap)
	more, dear := make([]int64, size), make([]float64, size) // than idle, and that over the node's performance
	order := make([]int, size)
	for k := range size {
		idle, busy, perf := p.Idle, p.Busy, 1.0
		if n := node(k); n != nil {
			if perf = n.Perf; p.Of != nil {
				idle, busy = p.Of(n)
			}
		}
		left -= micro(idle)
		more[k] = max(micro(busy)-micro(idle), 0)
		dear[k] = float64(more[k]) / perf
		order[k] = k
	}
	if left < 0 {
		what := "processors"
		if size > 0 && node(0) != nil {
			what = "nodes"
		}
		return nil, fmt.Errorf("is less than the %v W that %d %s draw without any job", float64(micro(p.Cap)-left)/1e6, size, what)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(dear[a], dear[b]) })
	busy := 0
	for busy < size && more[order[busy]] <= left {
		left -= more[order[busy]]
		busy++
	}
	idle := order[busy:]
	slices.Sort(idle)
	return idle, nil
}

// Most returns how many of that many counted processors may be busy at a time; below 0 if
// not even an idle machine is within the cap.
func (p *PowerCap) Most(processors int) int {
	idle, err := p.idle(processors, func(int) *entity.Node { return nil })
	if err != nil {
		return -1
	}
	return processors - len(idle)
}

// Usable implements entity.Sparing.
func (p *PowerCap) Usable() int { return p.meta.Plan().Size() - p.spare.Size() }

// Refuses implements entity.Limiting.
func (p *PowerCap) Refuses(req entity.Request) error {
	if most := p.Usable(); req.Nodes > most {
		return fmt.Errorf("wants %d processors, and a power cap of %v W lets %d be busy", req.Nodes, p.Cap, most)
	}
	if on, named := p.meta.Plan().(interface {
		FitsOn(entity.Request, []*entity.Node) error
	}); named && p.spare.Size() > 0 {
		if err := on.FitsOn(req, p.may); err != nil {
			return fmt.Errorf("%w (a power cap of %v W keeps %d other nodes idle)", err, p.Cap, p.spare.Size())
		}
	}
	return nil
}

// Schedule calls the wrapped policy.
func (p *PowerCap) Schedule(r *entity.Round) {
	if p.meta == nil {
		r.Fail(errors.New("a power cap is kept by the policy that the metascheduler is given, not by one within it"))
		return
	}
	p.Policy.Schedule(r)
}

// Yield releases the idle nodes that an outage is about to take.
func (p *PowerCap) Yield(x flow.Outage) {
	p.down = append(p.down, x)
	p.must(p.keep())
}

// Retake ends a Yield of the same outage.
func (p *PowerCap) Retake(x flow.Outage) {
	i := slices.IndexFunc(p.down, func(d flow.Outage) bool {
		return d.From == x.From && d.To == x.To && d.Count == x.Count && slices.Equal(d.Set, x.Set)
	})
	if i >= 0 { // or it is over
		p.down = slices.Delete(p.down, i, i+1)
		p.must(p.keep())
	}
}

// keep has the plan without what is to stay idle: between any two changes of what
// outages take, as much as these leave of it.
func (p *PowerCap) keep() error {
	plan, now := p.meta.Plan(), p.meta.Simulator().Now()
	for _, r := range p.kept {
		plan.Release(&r.Reservation, now)
	}
	p.kept = p.kept[:0]
	p.down = slices.DeleteFunc(p.down, func(x flow.Outage) bool { return x.To <= now })
	marks := []des.Time{now, des.Forever}
	for _, x := range p.down {
		marks = append(marks, max(x.From, now), x.To)
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	for i, from := range marks[:len(marks)-1] {
		left := p.spare
		for _, x := range p.down {
			if x.From <= from && from < x.To {
				left = without(left, x.Where)
			}
		}
		if left.Size() == 0 {
			continue
		}
		r := entity.NewWithheld()
		if err := plan.Withhold(r, left, from, marks[i+1]); err != nil {
			return fmt.Errorf("cannot be kept: %w", err)
		}
		p.meta.WithheldFor(r, entity.BlockedByCap)
		p.kept = append(p.kept, r)
	}
	return nil
}

// without is what is left of a place when an outage has taken its part.
func without(at, lost entity.Where) (left entity.Where) {
	if at.Set == nil {
		return entity.Where{Count: max(at.Count-lost.Size(), 0)}
	}
	for k := range at.Numbers() {
		if !procset.Has(lost.Set, int32(k)) {
			left.Set = procset.Extend(left.Set, int32(k))
		}
	}
	return left
}

// capped declares the parameters that defer jobs and cap power, and puts a policy under what is
// given.
func (s *Settings) capped(p entity.Policy) entity.Policy {
	p = s.deferred(p)
	if _, given := s.Given(PowerCapParam, "WATTS", "what the machine, or the site of a grid, may draw at any instant, by the power model of the run (no cap)"); given {
		return &PowerCap{Policy: p, Cap: s.args.Number(PowerCapParam, 0)}
	}
	return p
}
