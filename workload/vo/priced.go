// Jobs of a trace as priced requests.

package vo

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Priced makes of the jobs of a trace what users of a virtual organisation ask
// for. A job of n processors, estimated to take e and really taking r, asks for
//
//	n nodes            n
//	volume             V = e Perf, the length of a task at performance 1
//	real volume        r Perf
//	budget             n V x PriceFactor, x drawn for each job from Wealth
//
// Perf says how fast the trace's machine was in terms of the domain's nodes: its
// jobs take as long as in the trace on nodes of that performance.
type Priced struct {
	// Perf is the performance of the trace's processors; 0 means 1.
	Perf float64 `yaml:"performance"`
	// MinPerf is the least performance asked for; 0 means none.
	MinPerf float64 `yaml:"min_performance"`
	// Wealth is the range of x; the zero value means META's [1.0, 1.6].
	Wealth Range `yaml:"wealth"`
	// PriceFactor is Q of the nodes' prices (see Nodes); 0 means 1.
	PriceFactor float64 `yaml:"price_factor"`
	// Free leaves out budgets.
	Free bool `yaml:"free"`
	// Patience, if it is not 0, sets deadlines: a job must have ended by its submission + Patience *
	// its estimate in the trace. It is 1 or more.
	Patience float64 `yaml:"patience"`
}

// Check reports settings that make no sense, or nil.
func (p Priced) Check() error {
	if !(p.Perf >= 0) || math.IsInf(p.Perf, 0) || !(p.MinPerf >= 0) || math.IsInf(p.MinPerf, 0) {
		return errors.New("priced requests: performances must be numbers of 0 or more")
	}
	if !(p.PriceFactor >= 0) || math.IsInf(p.PriceFactor, 0) {
		return errors.New("priced requests: the price factor must be a number of 0 or more (0 = 1)")
	}
	if p.Patience != 0 && !(p.Patience >= 1) {
		return fmt.Errorf("priced requests: a deadline %v times the estimate after submission cannot be met", p.Patience)
	}
	return p.wealth().check("priced requests: wealth", 0)
}

func (p Priced) wealth() Range { return p.Wealth.or(Range{1.0, 1.6}) }

// Pricing draws the budgets of one replication; see Apply.
type Pricing struct {
	p       Priced
	budgets *rand.Rand // draws x of each job
}

// Begin begins the pricing of one replication.
func (p Priced) Begin(seed, replication uint64) (*Pricing, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return &Pricing{p, des.NewStream(seed, replication, "vo.priced.budget")}, nil
}

// Apply turns the next job of the trace, in order of submission, into a priced
// request.
func (g *Pricing) Apply(j *entity.Job) {
	// x is drawn for every job, so that Free does not change what later jobs draw.
	p, r := g.p, &j.Request
	x := p.wealth().real(g.budgets)
	if p.Patience > 0 {
		r.Deadline = j.Submit.Add(des.Seconds(p.Patience * r.Length.Seconds()))
	}
	if perf := cmp.Or(p.Perf, 1); perf != 1 {
		r.Length = scaled(r.Length, perf)
		j.Runtime = scaled(j.Runtime, perf)
	}
	r.MinPerf = p.MinPerf
	if !p.Free {
		r.Budget = float64(r.Nodes) * r.Length.Seconds() * x * cmp.Or(p.PriceFactor, 1)
	}
}

// scaled is t times a factor, to the nearest tick.
func scaled(t des.Time, by float64) des.Time { return des.Seconds(t.Seconds() * by) }
