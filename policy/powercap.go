package policy

// A cap on what a cluster draws, for any policy of a queue.

import (
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// PowerCap has another policy keep what the processors of a cluster draw within a
// cap at every instant. As the processors are equal, that is a cap on how many are
// busy at a time:
//
//	busy * Busy + (processors - busy) * Idle <= Cap
//
// At the first round the rest is reserved in the plan, for good and for nobody: so
// the cap holds for what is planned ahead as well, for advance reservations too,
// and under any policy that goes by the plan. A job that wants more processors than
// may be busy is rejected. Each run needs a PowerCap of its own.
type PowerCap struct {
	entity.Policy         // that decides
	Cap           float64 // W, of the whole cluster
	// Idle is the most that a processor without a job draws, and Busy the most that one
	// with a job does, in W. Where processors are switched off one that boots counts
	// among the busy.
	Idle, Busy float64

	begun bool
	most  int // processors that may be busy
}

// PowerCapParam is the parameter of queue policies that caps power.
const PowerCapParam = "power-cap"

// Preempts reports whether the policy that decides stops jobs by itself.
func (p *PowerCap) Preempts() bool {
	q, ok := p.Policy.(interface{ Preempts() bool })
	return ok && q.Preempts()
}

// Schedule turns away what can never start under the cap, and has the policy
// decide.
func (p *PowerCap) Schedule(r *entity.Round) {
	if !p.begun {
		p.begun = true
		if err := p.begin(r); err != nil {
			r.Fail(fmt.Errorf("a power cap of %v W %w", p.Cap, err))
			return
		}
	}
	for _, j := range r.Fresh() {
		if j.State == entity.Waiting && p.least(j) > p.most {
			r.Reject(j, fmt.Sprintf("wants %d processors, and a power cap of %v W lets %d be busy", p.least(j), p.Cap, p.most))
		}
	}
	p.Policy.Schedule(r)
}

// begin takes out of the plan what the cap does not let be busy.
func (p *PowerCap) begin(r *entity.Round) error {
	plan, ok := r.Plan.(interface{ Processors() int })
	if !ok {
		return fmt.Errorf("needs counted processors, not a %T", r.Plan)
	}
	micro := func(watts float64) int64 { return int64(math.Round(watts * 1e6)) }
	all := plan.Processors()
	spare, each := micro(p.Cap)-int64(all)*micro(p.Idle), micro(p.Busy)-micro(p.Idle)
	switch {
	case spare < 0:
		return fmt.Errorf("is less than the %v W that %d processors draw without any job", float64(all)*p.Idle, all)
	case each <= 0:
		p.most = all
	default:
		p.most = int(min(spare/each, int64(all)))
	}
	if p.most == all {
		return nil
	}
	rest := entity.Window{Start: r.Now, End: des.Forever, Nodes: all - p.most}
	if _, err := r.Plan.Reserve(entity.NewRun(nobody, 0), rest); err != nil {
		return fmt.Errorf("cannot be kept: %w", err)
	}
	return nil
}

// nobody is the job under which the plan has what the cap keeps idle.
var nobody = &entity.Job{ID: -1, User: -1, Group: -1, Queue: -1}

// least is how many processors j wants in its narrowest shape.
func (p *PowerCap) least(j *entity.Run) int {
	least := j.Request.Nodes
	for _, s := range j.Shapes {
		least = min(least, s.Nodes)
	}
	return least
}

// capped gives queue policies the parameter that caps power.
func capped(t Table[entity.Policy]) Table[entity.Policy] {
	param := Param{PowerCapParam, "WATTS", "what a cluster may draw at any instant, by the power model of the run (no cap)"}
	for i, e := range t {
		t[i].Params = append(e.Params[:len(e.Params):len(e.Params)], param)
		t[i].New = func(a *Args) entity.Policy {
			p := e.New(a)
			if _, given := a.Value(PowerCapParam); given {
				return &PowerCap{Policy: p, Cap: a.Number(PowerCapParam, 0)}
			}
			return p
		}
	}
	return t
}
