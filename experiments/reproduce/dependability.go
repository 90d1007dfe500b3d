package reproduce

// A question that DEP18 raises and does not test: what is a dependable window
// worth where tasks do not end in time?

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// Dependability places a stream of jobs on nodes whose tasks overrun.
//
// Owners' tasks are planned, and jobs come over time; a dispatcher gives each a
// window in what is free by then. Nobody is cut off and nothing is planned anew.
type Dependability struct {
	Environment vo.Environment
	Jobs        int
	Gap         vo.Range // between submissions
	Nodes       vo.Range // n
	Volume      vo.Range
	// Money is the budget for a unit of work; DEP18 gives 644 for 7 times 800.
	Money float64
	// Overruns are the probabilities of an overrun that are compared.
	Overruns []float64
	// Excess is the range of an overrun as a share of the time planned.
	Excess vo.Range
	// Soon is how long after the first fit the windows of the searches so called may
	// start.
	Soon des.Time
}

// NewDependability is the experiment with our settings.
func NewDependability() Dependability {
	e := vo.DEP18()
	e.Nodes.Count = 40
	return Dependability{
		Environment: e, Jobs: 30, Gap: vo.Range{Min: 0, Max: 40}, Nodes: vo.Range{Min: 2, Max: 7},
		Volume: vo.Range{Min: 400, Max: 800}, Money: 0.115,
		Overruns: []float64{0.1, 0.3}, Excess: vo.Range{Min: 0, Max: 0.5}, Soon: 100 * des.Second,
	}
}

// Name implements Experiment.
func (Dependability) Name() string { return "dependability" }

// Title implements Experiment.
func (Dependability) Title() string {
	return "Windows by FirstFit, DEP and COORD where tasks overrun (a question of DEP18's)"
}

const (
	delayedShare = "windows delayed"
	meanDelay    = "delay"
	meanWait     = "wait"
	lastFinish   = "last finish"
	utilization  = "utilization"
	refusedShare = "jobs without a window"
)

// placement is a search, and what else decides about a window; soon looks no further than Soon behind the first fit.
type placement struct {
	name   string
	finder plan.Finder
	soon   bool
	told   bool // it is known until when a task goes on that should have ended
	// margin is how much more time and money than estimated is asked for, as a
	// share of the estimate.
	margin float64
}

func placements() []placement {
	best := func(by window.Criterion) window.Best { return window.Best{Settings: wholeTimes, By: by} }
	cheapest := func(g window.SquareGoal, by window.Criterion) window.Cheapest {
		return window.Cheapest{Settings: wholeTimes, Goal: g, By: by}
	}
	return []placement{
		{name: "FirstFit", finder: cheapest(window.FirstFit, nil)},
		{name: "MinCost", finder: cheapest(window.LeastCost, nil)},
		{name: "DEP Lite", finder: cheapest(window.MostWorth, window.DEP{})},
		{name: "DEP", finder: best(window.DEP{})},
		{name: "COORD Lite", finder: cheapest(window.MostWorth, window.COORD{})},
		{name: "COORD", finder: best(window.COORD{})},
		{name: "DEP, soon", finder: best(window.DEP{}), soon: true},
		{name: "COORD, soon", finder: best(window.COORD{}), soon: true},
	}
}

// Run implements Experiment.
func (d Dependability) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{
		Name: d.Name(), Title: d.Title(), XLabel: "probability of an overrun",
		Settings: append(byDEP18.with(sources{"nodes": {Ours, "so that windows meet"}}).settings(d.Environment.Facts()),
			Setting{"jobs", fmt.Sprintf("%d, %v to %v units apart, of %v to %v nodes and volumes %v to %v, budget %v a unit of work", d.Jobs, d.Gap.Min, d.Gap.Max, d.Nodes.Min, d.Nodes.Max, d.Volume.Min, d.Volume.Max, d.Money), Source{Ours, "nothing is published; DEP18's one job has 7 nodes, a volume of 800 and 0.115 a unit of work"}},
			Setting{"overruns", fmt.Sprintf("every task, owners' too, overruns with the probability given, by %v to %v of its planned time, uniformly", d.Excess.Min, d.Excess.Max), Source{Ours, "DEP18 speaks of delays without numbers"}},
			Setting{"\"soon\"", fmt.Sprintf("windows start at most %v units after the first fit", d.Soon), Source{Ours, "what a user would wait for"}},
			Setting{"cycles", "2000", Source{Ours, "as DEP18's table 1"}},
		),
		Remarks: []string{"Delay and wait are means over the jobs placed: planned to real start, submission to real start. Utilization is the jobs' time on their nodes over all nodes' time to the last finish."},
	}
	st := study{of: d, cycles: 2000, cycle: d.cycle}
	for _, q := range []string{delayedShare, meanDelay, meanWait, lastFinish, utilization, refusedShare} {
		for _, p := range placements() {
			for _, f := range d.Overruns {
				st.rows = append(st.rows, Row{Series: p.name, Point: overrunPoint(f), X: f, Quantity: q, Own: true})
			}
		}
	}
	for _, q := range []string{delayedShare, meanDelay} {
		claim := Claim{Where: "ours", Text: "DEP18's conjecture, " + q + ": DEP < FirstFit"}
		for _, f := range d.Overruns {
			claim.Pairs = append(claim.Pairs, Pair{Less: Ref{"DEP", overrunPoint(f), q}, Than: Ref{"FirstFit", overrunPoint(f), q}})
		}
		st.claims = append(st.claims, claim)
	}
	claim := Claim{Where: "ours", Text: "its price, wait: FirstFit < DEP"}
	for _, f := range d.Overruns {
		claim.Pairs = append(claim.Pairs, Pair{Less: Ref{"FirstFit", overrunPoint(f), meanWait}, Than: Ref{"DEP", overrunPoint(f), meanWait}})
	}
	st.claims = append(st.claims, claim)
	err := st.run(ctx, c, &t)
	return t, err
}

func overrunPoint(f float64) string { return fmt.Sprintf("overrun %v%%", 100*f) }

func (d Dependability) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := d.Environment.Generate(seed, cycle)
	if err != nil {
		return err
	}
	jobs := d.jobs(des.NewStream(seed, cycle, "dependability.jobs"), in.End)
	for _, f := range d.Overruns {
		for _, p := range placements() {
			flow := dispatcher{
				placement: p, soon: d.Soon,
				until: func(des.Time) des.Time { return in.End },
				longer: func(name string, keys ...uint64) func(des.Time) des.Time {
					return overruns(des.NewStream(seed, cycle, name, keys...), f, d.Excess)
				},
			}
			if err := flow.run(ctx, in, jobs); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			d.tell(&flow, see, overrunPoint(f))
		}
	}
	return nil
}

// jobs are those that come before the interval's end.
func (d Dependability) jobs(draw *rand.Rand, end des.Time) []*entity.Job {
	var jobs []*entity.Job
	now := des.Time(0)
	for id := range d.Jobs {
		now += des.Seconds(d.Gap.Min + float64((d.Gap.Max-d.Gap.Min)*draw.Float64()))
		if j := squareJob(draw, id, now, d.Nodes, d.Volume, d.Money); now < end {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// squareJob draws a job of so many nodes and such a volume, uniformly, with so much
// money a unit of work.
func squareJob(draw *rand.Rand, id int, submit des.Time, nodes, volume vo.Range, money float64) *entity.Job {
	n := int(nodes.Min) + draw.IntN(int(nodes.Max-nodes.Min)+1)
	v := volume.Min + float64((volume.Max-volume.Min)*draw.Float64())
	return &entity.Job{
		ID: int64(id), Submit: submit, Runtime: des.Seconds(v),
		Request: entity.Request{Nodes: n, Length: des.Seconds(v), Budget: money * float64(n) * v},
	}
}

func (d Dependability) tell(flow *dispatcher, see sight, point string) {
	var delayed, delay, wait, used float64
	last := des.Time(0)
	for _, a := range flow.jobs {
		if a.delay() > 0 {
			delayed++
		}
		delay += a.delay().Seconds()
		wait += (a.start - a.run.Submit).Seconds()
		for _, p := range a.parts {
			used += p.real.Seconds()
		}
		last = max(last, a.finish())
	}
	placed := float64(len(flow.jobs))
	see.at(flow.name, point, refusedShare, 1-placed/float64(d.Jobs))
	if placed == 0 {
		return
	}
	see.at(flow.name, point, delayedShare, delayed/placed)
	see.at(flow.name, point, meanDelay, delay/placed)
	see.at(flow.name, point, meanWait, wait/placed)
	see.at(flow.name, point, lastFinish, last.Seconds())
	see.at(flow.name, point, utilization, used/(float64(len(flow.nodes))*last.Seconds()))
}
