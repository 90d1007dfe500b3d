package reproduce

// DEP18's coordinated job-flow scheduling: whole flows of jobs under each
// criterion, with tasks that overrun, over a range of loads.

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload/vo"
)

// JobFlow places flows of jobs that go on and on, and looks at them between a
// beginning, in which the plan fills, and an end, in which others still come:
//
//	submitted   |<- Warm ->|<- Measured ->|<- Warm ->|
//	windows     |                                    |<- Ahead ->|
//
// A job that comes looks for its window among what is free in the scheduling
// interval that begins then and lasts Ahead.
type JobFlow struct {
	Environment    vo.Environment // Units is set by the times below
	Warm, Measured int            // units
	Ahead          int            // units
	Nodes          vo.Range       // n
	Volume         vo.Range
	Money          float64 // budget for a unit of work
	// Loads are the offered loads that are compared, each with the probability
	// Overrun: the jobs' work, n times volume, over what the nodes could do
	// in the time. Owners' tasks come on top.
	Loads   []float64
	Overrun float64
	// Overruns are the probabilities of an overrun that are compared, each at
	// the load Load.
	Overruns []float64
	Load     float64
	Excess   vo.Range // of an overrun, as a share of the time planned
	Soon     des.Time // see Dependability
}

// NewJobFlow is the experiment with our settings, which are those of
// NewDependability but for how jobs come.
func NewJobFlow() JobFlow {
	d := NewDependability()
	return JobFlow{
		Environment: d.Environment, Warm: 1200, Measured: 1200, Ahead: d.Environment.Units,
		Nodes: d.Nodes, Volume: d.Volume, Money: d.Money,
		Loads: []float64{0.1, 0.3, 0.5, 0.7, 0.9}, Overrun: 0.3,
		Overruns: []float64{0, 0.1, 0.3, 0.5}, Load: 0.5,
		Excess: d.Excess, Soon: d.Soon,
	}
}

// Name implements Experiment.
func (JobFlow) Name() string { return "job-flow" }

// Title implements Experiment.
func (JobFlow) Title() string {
	return "Job flows under each criterion where tasks overrun (DEP18's coordinated job-flow scheduling)"
}

const (
	slowdown      = "bounded slowdown"
	unitCost      = "cost of a unit of work"
	ownersDelayed = "owners' tasks delayed"
	slotLength    = "free slot"
	earliestFit   = "earliest fit"

	overLoad    = against + "offered load"
	overOverrun = against + "probability of an overrun"
)

func loadPoint(load float64) string { return fmt.Sprintf("load %v%%", 100*load) }

// placements are those of Dependability, what first fit and DEP come to where the
// scheduler is told more, and first fit for who asks for more time instead.
func (f JobFlow) placements() []placement {
	list := placements()
	for _, p := range list {
		switch p.name {
		case "FirstFit":
			told, padded := p, p
			told.name, told.told = "FirstFit, told", true
			padded.name, padded.margin = "FirstFit, padded", f.Excess.Max
			list = append(list, told, padded)
		case "DEP":
			p.name, p.told = "DEP, told", true
			list = append(list, p)
		}
	}
	return list
}

// Run implements Experiment.
func (f JobFlow) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{
		Name: f.Name(), Title: f.Title(), XLabel: "offered load",
		Settings: append(byDEP18.with(sources{
			"nodes":            {Ours, "as in dependability"},
			"local load":       {Program, "the text has up to 30%"},
			"its distribution": {Program, "the text has the hypergeometric one"},
			"interval":         {Ours, "all that is measured, the flow before and after it, and what the last job looks at"},
		}).settings(f.environment().Facts()),
			Setting{"jobs", fmt.Sprintf("%v to %v nodes and volumes %v to %v, budget %v a unit of work", f.Nodes.Min, f.Nodes.Max, f.Volume.Min, f.Volume.Max, f.Money), Source{Ours, "as in dependability; DEP18 publishes no figures of flows"}},
			Setting{"arrivals", fmt.Sprintf("exponential gaps; means are over what comes in %d units, after %d and before %d more of the same flow", f.Measured, f.Warm, f.Warm), Source{Ours, "the plan is to be as full as it stays, and others are to come in front"}},
			Setting{"windows", fmt.Sprintf("in the %d units to come", f.Ahead), Source{Ours, "DEP18's interval, which moves on with the flow"}},
			Setting{"offered load", "the jobs' work, n times volume, over what the nodes could do; owners' tasks come on top", Source{Ours, "it does not depend on which nodes a criterion takes"}},
			Setting{"overruns", fmt.Sprintf("every task, owners' too, overruns by %v to %v of its planned time, uniformly: with probability %v where the load varies, at load %v where the probability does", f.Excess.Min, f.Excess.Max, f.Overrun, f.Load), Source{Ours, "DEP18 speaks of delays without numbers"}},
			Setting{"what goes on past its time", "is expected to end at any moment; where the scheduler is \"told\", it hears then when it will really end", Source{Ours, "the least and the most that can be known"}},
			Setting{"\"soon\"", fmt.Sprintf("windows start at most %v units after the first fit", f.Soon), Source{Ours, "what a user would wait for"}},
			Setting{"\"padded\"", fmt.Sprintf("%v more time and money than estimated is asked for", f.Excess.Max), Source{Ours, "as much as a task can overrun: the other way to be on time"}},
			Setting{"cycles", "200", Source{Ours, "enough for the claims"}},
		),
		Remarks: []string{
			"Delay: planned to real start; wait: submission to real start; bounded slowdown: wait and real runtime over the latter, at least 10 units. Utilization: the share of the nodes' time that jobs really use. Free slot: the mean length of the slots that a job finds when it comes; earliest fit: how far ahead the first fit would start then.",
		},
	}
	st := study{of: f, cycles: 200, cycle: f.cycle, claims: f.claims()}
	for _, q := range []string{delayedShare, meanDelay, meanWait, slowdown, refusedShare, utilization, unitCost, slotLength, earliestFit, ownersDelayed} {
		for _, p := range f.placements() {
			for _, load := range f.Loads {
				st.rows = append(st.rows, Row{Series: p.name, Point: loadPoint(load), X: load, Quantity: q + overLoad, Own: true})
			}
		}
	}
	for _, q := range []string{delayedShare, meanDelay, meanWait, ownersDelayed} {
		for _, p := range f.placements() {
			for _, x := range f.Overruns {
				st.rows = append(st.rows, Row{Series: p.name, Point: overrunPoint(x), X: x, Quantity: q + overOverrun, Own: true})
			}
		}
	}
	err := st.run(ctx, c, &t)
	return t, err
}

// claims are what DEP18 supposes of its criteria, and their price.
func (f JobFlow) claims() []Claim {
	var claims []Claim
	for _, c := range []struct{ what, quantity, less, than string }{
		{"dependable windows are late less often", delayedShare, "DEP", "FirstFit"},
		{"and by less", meanDelay, "DEP", "FirstFit"},
		{"so are those that start soon", delayedShare, "DEP, soon", "FirstFit"},
		{"", meanDelay, "DEP, soon", "FirstFit"},
		{"it does not take exact subsets", delayedShare, "DEP Lite", "FirstFit"},
		{"it is the distances that do it, not the wait", delayedShare, "DEP", "MinCost"},
		{"it does not hang on what is known of overruns", delayedShare, "DEP, told", "FirstFit, told"},
		{"nor can one have it by asking for more time", meanDelay, "DEP", "FirstFit, padded"},
		{"", meanDelay, "DEP, soon", "FirstFit, padded"},
		{"owners gain too", ownersDelayed, "DEP", "FirstFit"},
		{"its price", meanWait, "FirstFit", "DEP"},
		{"", refusedShare, "FirstFit", "DEP"},
		{"", unitCost, "FirstFit", "DEP"},
		{"coordinated windows leave longer slots", slotLength, "FirstFit", "COORD"},
		{"", slotLength, "DEP", "COORD"},
		{"and keep room for the jobs that come after", earliestFit, "COORD", "FirstFit"},
		{"", earliestFit, "COORD", "DEP"},
		{"", refusedShare, "COORD", "FirstFit"},
		{"", refusedShare, "COORD", "DEP"},
	} {
		claim := Claim{Where: "ours", Text: fmt.Sprintf("%s: %s < %s", c.quantity, c.less, c.than)}
		if c.what != "" {
			claim.Text = c.what + "; " + claim.Text
		}
		for _, load := range f.Loads {
			claim.Pairs = append(claim.Pairs, Pair{
				Less: Ref{c.less, loadPoint(load), c.quantity + overLoad}, Than: Ref{c.than, loadPoint(load), c.quantity + overLoad},
			})
		}
		claims = append(claims, claim)
	}
	return claims
}

func (f JobFlow) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := f.environment().Generate(seed, cycle)
	if err != nil {
		return err
	}
	for _, load := range f.Loads {
		if err := f.flows(ctx, seed, cycle, in, load, f.Overrun, loadPoint(load), overLoad, see); err != nil {
			return err
		}
	}
	for _, x := range f.Overruns {
		if err := f.flows(ctx, seed, cycle, in, f.Load, x, overrunPoint(x), overOverrun, see); err != nil {
			return err
		}
	}
	return nil
}

// environment has owners' tasks as far as the last job looks.
func (f JobFlow) environment() vo.Environment {
	e := f.Environment
	e.Units = 2*f.Warm + f.Measured + f.Ahead
	return e
}

// flows has the same jobs come under every criterion.
func (f JobFlow) flows(ctx context.Context, seed, cycle uint64, in *vo.Instance, load, overrun float64, point, sweep string, see sight) error {
	jobs := f.jobs(des.NewStream(seed, cycle, "job-flow.jobs"), in, load)
	for _, p := range f.placements() {
		o := flowObservations{from: des.Time(f.Warm) * des.Second, to: des.Time(f.Warm+f.Measured) * des.Second}
		o.dispatcher = dispatcher{
			placement: p, soon: f.Soon, look: o.look,
			until: func(now des.Time) des.Time { return now + des.Time(f.Ahead)*des.Second },
			longer: func(name string, keys ...uint64) func(des.Time) des.Time {
				return overruns(des.NewStream(seed, cycle, name, keys...), overrun, f.Excess)
			},
		}
		if err := o.run(ctx, in, jobs); err != nil {
			return fmt.Errorf("%s, %s: %w", p.name, point, err)
		}
		o.tell(func(quantity string, x float64) { see.at(p.name, point, quantity+sweep, x) }, jobs)
	}
	return nil
}

// jobs come at exponential intervals. The k-th is the same at every load, but for
// when it comes.
func (f JobFlow) jobs(draw *rand.Rand, in *vo.Instance, load float64) []*entity.Job {
	power := 0.0
	for _, n := range in.Nodes {
		power += n.Perf
	}
	work := (f.Nodes.Min + f.Nodes.Max) / 2 * (f.Volume.Min + f.Volume.Max) / 2
	gap, end := work/(load*power), des.Time(2*f.Warm+f.Measured)*des.Second
	var jobs []*entity.Job
	for now := des.Time(0); ; {
		now += des.Seconds(gap * draw.ExpFloat64())
		if now >= end {
			return jobs
		}
		jobs = append(jobs, squareJob(draw, len(jobs), now, f.Nodes, f.Volume, f.Money))
	}
}

// flowObservations are what is seen of the jobs that are submitted within
// [from, to).
type flowObservations struct {
	dispatcher
	from, to des.Time
	slots    metrics.Moments // lengths of free slots, one a job that comes
	fit      metrics.Moments // how far ahead the first fit starts
}

func (o *flowObservations) measures(at des.Time) bool { return o.from <= at && at < o.to }

func (o *flowObservations) look(r *entity.Round, run *entity.Run, list plan.SlotList) error {
	if !o.measures(r.Now) {
		return nil
	}
	if n := len(list.Slots); n > 0 {
		free := des.Time(0)
		for _, s := range list.Slots {
			free += s.End - s.Start
		}
		o.slots.Add(free.Seconds() / float64(n))
	}
	first, err := firstFit().Find(r.Context(), run.Request, list, list.To)
	if err == nil && first.OK {
		o.fit.Add((first.Window.Start - r.Now).Seconds())
	}
	return err
}

// shortest is the bound of the bounded slowdown.
const shortest = 10.0

func (o *flowObservations) tell(see func(quantity string, x float64), jobs []*entity.Job) {
	var late, delay, wait, slow, cost, owners metrics.Moments
	used := des.Time(0)
	for _, a := range o.jobs {
		used += a.usedWithin(o.from, o.to)
		if !o.measures(a.run.Submit) {
			continue
		}
		waited, ran := (a.start - a.run.Submit).Seconds(), (a.finish() - a.start).Seconds()
		late.Add(oneIf(a.delay() > 0))
		delay.Add(a.delay().Seconds())
		wait.Add(waited)
		slow.Add(max(1, (waited+ran)/max(ran, shortest)))
		cost.Add(a.cost / (float64(len(a.parts)) * a.run.Request.Length.Seconds()))
	}
	for _, a := range o.owners {
		if o.measures(a.planned) {
			owners.Add(oneIf(a.delay() > 0))
		}
	}
	came := 0
	for _, j := range jobs {
		if o.measures(j.Submit) {
			came++
		}
	}
	for _, m := range []struct {
		quantity string
		metrics.Moments
	}{
		{delayedShare, late}, {meanDelay, delay}, {meanWait, wait}, {slowdown, slow}, {unitCost, cost},
		{ownersDelayed, owners}, {slotLength, o.slots}, {earliestFit, o.fit},
	} {
		if m.N() > 0 {
			see(m.quantity, m.Mean())
		}
	}
	if came > 0 {
		see(refusedShare, 1-float64(wait.N())/float64(came))
	}
	see(utilization, used.Seconds()/(float64(len(o.nodes))*(o.to-o.from).Seconds()))
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// usedWithin is the nodes' time that a really takes in [from, to).
func (a *activity) usedWithin(from, to des.Time) des.Time {
	used := des.Time(0)
	for _, p := range a.parts {
		used += max(0, min(a.start+p.real, to)-max(a.start, from))
	}
	return used
}
