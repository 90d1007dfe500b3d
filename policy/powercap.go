package policy

// A cap on what a cluster draws, for any policy of a queue.

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
)

// PowerCap has another policy keep what the processors of a cluster draw within a
// cap at every instant. As the processors are equal, that is a cap on how many are
// busy at a time:
//
//	busy * Busy + (processors - busy) * Idle <= Cap
//
// The rest is taken out of the plan before anything happens, for good and for nobody:
// so the cap holds for what is planned ahead as well, for advance reservations too,
// and under any policy that goes by the plan. Processors that an outage takes draw
// nothing for jobs; the rest is so many less meanwhile. A job that wants more
// processors than may be busy is rejected. Each run needs a PowerCap of its own, and
// it is the policy that the metascheduler is given, not one within another.
type PowerCap struct {
	entity.Policy         // that decides
	Cap           float64 // W, of the whole cluster
	// Idle is the most that a processor without a job draws, and Busy the most that one
	// with a job does, in W. Where processors are switched off one that boots counts
	// among the busy.
	Idle, Busy float64

	meta *entity.Metascheduler
	all  int             // processors
	most int             // of which so many may be busy
	down []entity.Window // what outages take; see Yield
	kept []*entity.Run   // under which the plan has what is kept idle
}

// PowerCapParam is the parameter of queue policies that caps power.
const PowerCapParam = "power-cap"

var (
	_ entity.Attacher = (*PowerCap)(nil)
	_ entity.Wrapper  = (*PowerCap)(nil)
	_ entity.Limiting = (*PowerCap)(nil)
	_ flow.Yielder    = (*PowerCap)(nil)
)

// Unwrap is the policy that decides.
func (p *PowerCap) Unwrap() entity.Policy { return p.Policy }

// Attach takes out of the plan what the cap does not let be busy.
func (p *PowerCap) Attach(m *entity.Metascheduler) {
	p.meta = m
	if err := p.begin(); err != nil {
		m.Simulator().Fail(fmt.Errorf("a power cap of %v W %w", p.Cap, err))
	}
}

func (p *PowerCap) begin() error {
	if entity.Named(p.meta.Plan()) {
		return fmt.Errorf("needs counted processors, not a %T", p.meta.Plan())
	}
	p.all = p.meta.Plan().Size()
	if p.most = p.Most(p.all); p.most < 0 {
		return fmt.Errorf("is less than the %v W that %d processors draw without any job", float64(p.all)*p.Idle, p.all)
	}
	return p.keep()
}

// Most is how many of so many processors may be busy at a time; below 0 where not even
// none may be.
func (p *PowerCap) Most(processors int) int {
	micro := func(watts float64) int64 { return int64(math.Round(watts * 1e6)) }
	spare, each := micro(p.Cap)-int64(processors)*micro(p.Idle), micro(p.Busy)-micro(p.Idle)
	switch {
	case spare < 0:
		return -1
	case each <= 0:
		return processors
	}
	return int(min(spare/each, int64(processors)))
}

// Refuses implements entity.Limiting.
func (p *PowerCap) Refuses(req entity.Request) error {
	if req.Nodes > p.most {
		return fmt.Errorf("wants %d processors, and a power cap of %v W lets %d be busy", req.Nodes, p.Cap, p.most)
	}
	return nil
}

// Schedule has the policy decide.
func (p *PowerCap) Schedule(r *entity.Round) {
	if p.meta == nil {
		r.Fail(errors.New("a power cap is kept by the policy that the metascheduler is given, not by one within it"))
		return
	}
	p.Policy.Schedule(r)
}

// Yield leaves what an outage is about to take, as far as it is kept idle.
func (p *PowerCap) Yield(w entity.Window) {
	p.down = append(p.down, w)
	p.mustKeep()
}

// Retake ends a Yield of the same window.
func (p *PowerCap) Retake(w entity.Window) {
	i := slices.IndexFunc(p.down, func(d entity.Window) bool { return d.Start == w.Start && d.End == w.End && d.Nodes == w.Nodes })
	if i >= 0 { // or it is over
		p.down = slices.Delete(p.down, i, i+1)
		p.mustKeep()
	}
}

func (p *PowerCap) mustKeep() {
	if err := p.keep(); err != nil {
		p.meta.Simulator().Fail(fmt.Errorf("a power cap of %v W %w", p.Cap, err))
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
	p.down = slices.DeleteFunc(p.down, func(w entity.Window) bool { return w.End <= now })
	marks := []des.Time{now, des.Forever}
	for _, w := range p.down {
		marks = append(marks, max(w.Start, now), w.End)
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	for i, from := range marks[:len(marks)-1] {
		w := entity.Window{Start: from, End: marks[i+1], Nodes: p.all - p.most}
		for _, d := range p.down {
			if d.Start <= from && from < d.End {
				w.Nodes -= d.Nodes
			}
		}
		if w.Nodes <= 0 {
			continue
		}
		r := entity.NewWithheld()
		if _, err := plan.Reserve(r, w); err != nil {
			return fmt.Errorf("cannot be kept: %w", err)
		}
		p.kept = append(p.kept, r)
	}
	return nil
}

// capped declares the parameter that caps power, and puts a policy under the cap that is
// given.
func (s *Settings) capped(p entity.Policy) entity.Policy {
	if _, given := s.Given(PowerCapParam, "WATTS", "what a cluster may draw at any instant, by the power model of the run (no cap)"); given {
		return &PowerCap{Policy: p, Cap: s.args.Number(PowerCapParam, 0)}
	}
	return p
}
