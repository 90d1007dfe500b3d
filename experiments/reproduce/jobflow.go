package reproduce

// DEP18's coordinated job-flow scheduling: whole flows of jobs under each
// criterion, with tasks that overrun, over a range of loads.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/stats"
	"github.com/gridslot/gridslot/workload/vo"
)

// jobFlow places flows of jobs that go on and on. It looks at them between a beginning, in which
// the plan fills, and an end, in which others still come:
//
//	submitted   |<- Warm ->|<- Measured ->|<- Warm ->|
//	windows     |                                    |<- Ahead ->|
//
// A job that comes looks for its window among what is free in the scheduling interval that begins
// then and lasts Ahead. All lengths are in time units.
type jobFlow struct {
	Overrunning           `yaml:",inline"` // at the load Load
	Warm, Measured, Ahead int
	Load                  float64
	// Loads are the offered loads that are compared, each with the probability Overrun of an
	// overrun. A load is the jobs' work, n times volume, over what the nodes could do in the time.
	// Owners' tasks come on top.
	Loads   []float64
	Overrun float64
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

// rows are over the loads or over the probabilities, as the quantity's name says.
func (f jobFlow) rows(p *page) (rows []tableRow) {
	for _, q := range p.Quantities {
		for _, s := range f.Searches {
			points, values := loadPoint, f.Loads
			if strings.HasSuffix(q, overOverrun) {
				points, values = overrunPoint, f.Overruns
			}
			for _, x := range values {
				rows = append(rows, tableRow{Series: s.Name, Point: points(x), X: x, Quantity: q, Own: true})
			}
		}
	}
	return rows
}

// loadPoint names a load in tables.
func loadPoint(load float64) string { return fmt.Sprintf("load %v%%", 100*load) }

// cycle draws one instance of nodes and owners' tasks for all loads and probabilities.
func (f jobFlow) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
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

func (f jobFlow) facts() facts { return facts{"environment": f.environment().Facts()} }

// environment has owners' tasks as far as the last job looks.
func (f jobFlow) environment() environment {
	e := f.Environment
	e.Units = 2*f.Warm + f.Measured + f.Ahead
	return e
}

// flows lets the same jobs come under every criterion, and tells what became of them.
func (f jobFlow) flows(ctx context.Context, seed, cycle uint64, in *vo.Instance, load, overrun float64, point, sweep string, see sight) error {
	jobs := f.jobs(des.NewStream(seed, cycle, "job-flow.jobs"), in, load)
	for _, s := range f.Searches {
		o := flowObservations{
			dispatcher: f.dispatcher(s, seed, cycle, overrun),
			from:       des.Time(f.Warm) * des.Second, to: des.Time(f.Warm+f.Measured) * des.Second,
		}
		o.look = o.see
		o.until = func(now des.Time) des.Time { return now + des.Time(f.Ahead)*des.Second }
		if err := o.run(ctx, in, jobs); err != nil {
			return fmt.Errorf("%s, %s: %w", s.Name, point, err)
		}
		o.tell(func(quantity string, x float64) { see.at(s.Name, point, quantity+sweep, x) }, jobs)
	}
	return nil
}

// jobs draws jobs that come at exponential intervals. The k-th job is the same at every load,
// except for its submission. The mean gap makes the mean work of a job the given load of the nodes'
// power:
//
//	gap = mean n * mean V / (load * sum of performances)
func (f jobFlow) jobs(draw *rand.Rand, in *vo.Instance, load float64) []*entity.Job {
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
		jobs = append(jobs, f.job(draw, len(jobs), now))
	}
}

// flowObservations are the observations of the jobs that are submitted within [from, to).
type flowObservations struct {
	dispatcher
	from, to des.Time
	slots    stats.Moments // lengths of free slots, one a job that comes
	fit      stats.Moments // how far ahead the first fit starts
}

// measures reports whether an instant counts.
func (o *flowObservations) measures(at des.Time) bool { return o.from <= at && at < o.to }

// see looks at what is free when a job comes: the mean length of a free slot, and how far ahead the
// first fit is.
func (o *flowObservations) see(r *entity.Round, run *entity.Run, list plan.SlotList) error {
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
	first, err := firstFit.Find(r.Context(), run.Request, list, list.To)
	if err == nil && first.OK {
		o.fit.Add((first.Window.Start - r.Now).Seconds())
	}
	return err
}

// shortest is the bound of the bounded slowdown, in time units.
const shortest = 10.0

// tell says the means over the jobs that count. Utilization counts all jobs, for the part of their
// time that lies within [from, to).
func (o *flowObservations) tell(see func(quantity string, x float64), jobs []*entity.Job) {
	var late, delay, wait, slow, cost, owners stats.Moments
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
	for quantity, m := range map[string]*stats.Moments{
		delayedShare: &late, meanDelay: &delay, meanWait: &wait, slowdown: &slow, unitCost: &cost,
		ownersDelayed: &owners, slotLength: &o.slots, earliestFit: &o.fit,
	} {
		if m.N() > 0 {
			see(quantity, m.Mean())
		}
	}
	if came > 0 {
		see(refusedShare, 1-float64(wait.N())/float64(came))
	}
	see(utilization, used.Seconds()/(float64(len(o.nodes))*(o.to-o.from).Seconds()))
}

// usedWithin returns the nodes' time that an activity really takes in [from, to).
func (a *activity) usedWithin(from, to des.Time) des.Time {
	used := des.Time(0)
	for _, p := range a.parts {
		used += max(0, min(a.start+p.real, to)-max(a.start, from))
	}
	return used
}
