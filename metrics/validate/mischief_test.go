package validate_test

// Observers who act on what they hear, at every kind of event and within rounds:
// whatever they do, every job comes to one end, and whoever else observes hears of
// it in an order that makes sense.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/preempt"
	"github.com/gridslot/gridslot/policy/window"
)

// imp kills, preempts, cancels and withdraws jobs when it hears of any.
type imp struct {
	random *rand.Rand
	meta   *entity.Metascheduler
	heard  []*entity.Run
	ends   map[int64]int
	left   int // how often it still acts
	done   map[string]int
	// instants has it act at the ends of instants, too.
	instants bool
	// rough has it change what jobs ask for and what there is of the machine, too: then a
	// validator, which hears of jobs as they are by then, cannot tell what they asked for.
	rough bool
	size  int // of the machine
	named bool
	holds []*entity.Hold
}

func (p *imp) Attach(m *entity.Metascheduler) { p.meta = m }

func (p *imp) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobSubmitted:
		p.heard = append(p.heard, e.Run)
	case entity.JobFinished, entity.JobKilled, entity.JobRejected:
		p.ends[e.Run.ID]++
	}
	p.act(e.Kind.String(), e.Run)
}

func (p *imp) TaskEnded(r *entity.Run, _ int) { p.act("a task's end", r) }

func (p *imp) InstantOver(des.Time) {
	if p.instants && len(p.heard) > 0 {
		p.act("an instant's end", p.heard[len(p.heard)-1])
	}
}

func (p *imp) Decided(*entity.Round) {
	if len(p.heard) > 0 {
		p.act("a round's end", p.heard[len(p.heard)-1])
	}
}

func (p *imp) act(when string, r *entity.Run) {
	if p.left == 0 || p.random.IntN(4) > 0 {
		return
	}
	p.left--
	if p.random.IntN(2) == 0 && len(p.heard) > 0 {
		r = p.heard[p.random.IntN(len(p.heard))]
	}
	now := p.meta.Simulator().Now()
	window := entity.Window{Start: now + des.Time(p.random.IntN(20))*des.Second, Nodes: 1 + p.random.IntN(p.size)}
	window.End = window.Start + des.Time(1+p.random.IntN(30))*des.Second
	verbs := []struct {
		name string
		do   func() bool
	}{
		{"kill", func() bool { return p.meta.Kill(r, "mischief") }},
		{"preempt", func() bool {
			keep := []des.Time{0, des.Forever, des.Time(p.random.IntN(10)) * des.Second}
			return p.meta.Preempt(r, keep[p.random.IntN(3)])
		}},
		{"cancel", func() bool { return p.meta.Cancel(r, "mischief") }},
		{"withdraw", func() bool { return p.meta.Withdraw(r) }},
		{"set up", func() bool { return p.meta.SetUp(r, des.Time(p.random.IntN(5))*des.Second) }},
		{"resize", func() bool { return p.meta.Resize(r, window.Nodes, 0) == nil }},
		{"withhold", func() bool {
			if p.named {
				return false // capacity of nodes is withheld by name
			}
			h, err := p.meta.Withhold(entity.Where{Count: window.Nodes}, window.Start, window.End)
			if err == nil {
				p.holds = append(p.holds, h)
			}
			return err == nil
		}},
		{"drop", func() bool {
			for _, h := range p.holds {
				h.Drop()
			}
			dropped := len(p.holds) > 0
			p.holds = nil
			return dropped
		}},
	}
	if !p.rough {
		verbs = verbs[:4]
	}
	if v := verbs[p.random.IntN(len(verbs))]; v.do() {
		p.done[v.name+" at "+when]++
	}
}

func nameless(sign float64) entity.Order {
	return entity.Order{Key: func(r *entity.Run, _ des.Time) float64 { return sign * float64(r.Request.Length) }}
}

func TestObserversMayActAtEveryEvent(t *testing.T) {
	policies := []entity.Policy{
		backfill.FCFS{}, backfill.EASY{}, backfill.EASY{Reservations: 3}, backfill.EASY{Order: nameless(1), Candidates: nameless(-1)},
		backfill.EASY{Order: backfill.WFP3, Reservations: backfill.AllReservations}, backfill.Conservative{}, backfill.Conservative{Order: nameless(1)},
		backfill.ListScheduling{}, preempt.Selective{Slice: des.Second}, preempt.Slicing{Quantum: 5 * des.Second}, preempt.Equipartition{}, &cyclic.Policy{Planner: cyclic.BatchSlicer{}},
	}
	done := map[string]int{}
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		size := 1 + random.IntN(8)
		var p entity.Plan = plan.NewCluster(size)
		kind := random.IntN(3)
		if kind > 0 {
			nodes := make([]*entity.Node, size)
			for i := range nodes {
				nodes[i] = &entity.Node{ID: i, Perf: 1}
				if kind == 2 {
					nodes[i].Perf = float64(2+random.IntN(8)) / 4
				}
			}
			var err error
			p, err = plan.NewDomain(nodes, window.AMP{})
			require.NoError(t, err)
		}
		policy := policies[random.IntN(len(policies))]
		mischief := &imp{random: random, ends: map[int64]int{}, left: random.IntN(12), done: done, size: size, named: kind > 0, rough: random.IntN(2) == 0}
		before, behind := &validate.Validator{}, &validate.Validator{}
		sim := des.New(des.Config{MaxEvents: 100_000})
		observers := []entity.Observer{before, mischief, behind}
		if mischief.instants = random.IntN(2) == 0; mischief.instants {
			observers = []entity.Observer{before, behind, mischief}
		}
		if _, cycles := policy.(*cyclic.Policy); cycles {
			if kind == 0 {
				continue // batches are planned on named nodes
			}
			policy = &cyclic.Policy{Planner: cyclic.BatchSlicer{}, Replan: cyclic.Replan(random.IntN(3))}
			p.(*plan.Domain).Interval = 200 * des.Second
		}
		meta := entity.NewMetascheduler(sim, p, policy, observers...)
		if _, cycles := policy.(*cyclic.Policy); cycles {
			meta.Cycle = 30 * des.Second
		}
		meta.Pass, meta.Overrun = entity.Pass(random.IntN(2)), entity.Overrun(random.IntN(3))
		if kind == 0 && random.IntN(2) == 0 {
			meta.Placer = entity.LowestFirst{}
		}
		var at des.Time
		for id := range 1 + random.IntN(25) {
			at += des.Time(random.IntN(8)) * des.Second
			j := &entity.Job{
				ID: int64(id), Submit: at, Runtime: des.Time(random.IntN(40)) * des.Second,
				Request: entity.Request{Nodes: 1 + random.IntN(size), Length: des.Time(1+random.IntN(40)) * des.Second},
			}
			if n := j.Request.Nodes; mischief.rough && random.IntN(4) == 0 && n > 1 {
				j.Shapes = []entity.Shape{{Nodes: n - 1, Length: 2 * j.Request.Length, Runtime: 2 * j.Runtime}, {Nodes: n, Length: j.Request.Length, Runtime: j.Runtime}}
			}
			if random.IntN(5) == 0 {
				j.Request.Deadline = at + des.Time(1+random.IntN(100))*des.Second
			}
			meta.Submit(j)
		}
		where := fmt.Sprintf("seed %d, %s on %T", seed, policy.Name(), p)
		require.NoError(t, sim.Run(context.Background()), where)
		if !mischief.rough {
			require.NoError(t, before.Report(true).Err(), where)
			require.NoError(t, behind.Report(true).Err(), where)
		}
		require.Zero(t, meta.Running(), where)
		for _, r := range mischief.heard {
			require.Equal(t, 1, mischief.ends[r.ID], "%s: %v has come to an end so many times", where, r)
		}
	}
	for _, what := range []string{
		"cancel at submitted", "cancel at promised", "kill at promised", "withdraw at promised", "kill at started", "preempt at started",
		"cancel at finished", "cancel at withdrawn", "cancel at requeued", "kill at a task's end", "preempt at a task's end",
		"withhold at started", "drop at started", "set up at submitted", "set up at promised", "set up at started", "resize at started",
		"kill at an instant's end", "preempt at an instant's end", "cancel at an instant's end", "kill at a round's end", "preempt at a round's end",
	} {
		assert.Positive(t, done[what], what)
	}
}
