package reproduce

// A question that DEP18 raises and does not test: what is a dependable window
// worth where tasks do not end in time?

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/vo"
)

// Overrunning has the settings of jobs on nodes whose tasks overrun. (It is exported because the
// reader of pages fills in embedded types of exported names only.)
type Overrunning struct {
	Environment environment
	// Nodes and Volume are the ranges of which a job's n and V are drawn.
	Nodes  vo.Range // n
	Volume vo.Range
	// Money is the budget for a unit of work; DEP18 gives 644 for 7 times 800.
	Money float64
	// Overruns are the probabilities of an overrun that are compared.
	Overruns []float64
	// Excess is the range of an overrun as a share of the time planned.
	Excess vo.Range
	// Soon is the time, in time units after the first fit, within which a window may start, for
	// searches whose Soon is set.
	Soon int
	// Searches are compared with each other.
	Searches []search
}

// streamOfJobs places a stream of jobs on nodes whose tasks overrun.
//
// Owners' tasks are planned, and jobs come over time. A dispatcher gives each job a window in what
// is free by then. No task is cut off and no window is planned anew.
type streamOfJobs struct {
	Overrunning `yaml:",inline"`
	Jobs        int
	// Gap is the range of the times between submissions, in time units.
	Gap vo.Range
}

func (o Overrunning) facts() facts { return facts{"environment": o.Environment.Facts()} }

const (
	delayedShare = "windows delayed"
	meanDelay    = "delay"
	meanWait     = "wait"
	lastFinish   = "last finish"
	utilization  = "utilization"
	refusedShare = "jobs without a window"
)

// search is a search for windows, and what else decides about a window.
type search struct {
	Name   string
	Search finder
	// Soon says that a window may start no later than Overrunning.Soon after the first fit.
	Soon bool
	// Told says that the dispatcher knows until when a task goes on that should have ended.
	Told bool
	// Margin is the share of the estimate by which the requested time and money exceed it.
	Margin float64
}

func (d streamOfJobs) rows(p *page) []tableRow {
	var lines []tableRow
	for _, s := range d.Searches {
		for _, x := range d.Overruns {
			lines = append(lines, tableRow{Series: s.Name, Point: overrunPoint(x), X: x, Own: true})
		}
	}
	return p.each(lines)
}

// overrunPoint names a probability of an overrun in tables.
func overrunPoint(f float64) string { return fmt.Sprintf("overrun %v%%", 100*f) }

// cycle places the same jobs by every search at every probability. Draws of overruns are the same
// as well.
func (d streamOfJobs) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := d.Environment.Generate(seed, cycle)
	if err != nil {
		return err
	}
	jobs := d.jobs(des.NewStream(seed, cycle, "dependability.jobs"), in.End)
	for _, overrun := range d.Overruns {
		for _, s := range d.Searches {
			flow := d.dispatcher(s, seed, cycle, overrun)
			flow.until = func(des.Time) des.Time { return in.End }
			if err := flow.run(ctx, in, jobs); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			d.tell(&flow, see, overrunPoint(overrun))
		}
	}
	return nil
}

// dispatcher returns the dispatcher that places jobs by a search on nodes whose tasks overrun with
// a probability.
func (o Overrunning) dispatcher(s search, seed, cycle uint64, overrun float64) dispatcher {
	return dispatcher{search: s, soon: des.Time(o.Soon) * des.Second, longer: func(name string, keys ...uint64) func(des.Time) des.Time {
		return overruns(des.NewStream(seed, cycle, name, keys...), overrun, o.Excess)
	}}
}

// jobs draws the jobs, and returns those that come before the interval's end.
func (d streamOfJobs) jobs(draw *rand.Rand, end des.Time) []*entity.Job {
	var jobs []*entity.Job
	now := des.Time(0)
	for id := range d.Jobs {
		now += des.Seconds(d.Gap.Min + float64((d.Gap.Max-d.Gap.Min)*draw.Float64()))
		if j := d.job(draw, id, now); now < end {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// job draws a job, its nodes and volume uniformly. Its budget is Money for each unit of work.
func (o Overrunning) job(draw *rand.Rand, id int, submit des.Time) *entity.Job {
	n := int(o.Nodes.Min) + draw.IntN(int(o.Nodes.Max-o.Nodes.Min)+1)
	v := o.Volume.Min + float64((o.Volume.Max-o.Volume.Min)*draw.Float64())
	return &entity.Job{
		ID: int64(id), Submit: submit, Runtime: des.Seconds(v),
		Request: entity.Request{Nodes: n, Length: des.Seconds(v), Budget: o.Money * float64(n) * v},
	}
}

// tell says what became of the jobs that were placed, in means over them.
func (d streamOfJobs) tell(flow *dispatcher, see sight, point string) {
	var delayed, delay, wait, used float64
	last := des.Time(0)
	for _, a := range flow.jobs {
		delayed += oneIf(a.delay() > 0)
		delay += a.delay().Seconds()
		wait += (a.start - a.run.Submit).Seconds()
		for _, p := range a.parts {
			used += p.real.Seconds()
		}
		last = max(last, a.finish())
	}
	placed := float64(len(flow.jobs))
	see.at(flow.search.Name, point, refusedShare, 1-placed/float64(d.Jobs))
	see.at(flow.search.Name, point, delayedShare, delayed/placed) // NaN, which is no observation, where none is placed
	see.at(flow.search.Name, point, meanDelay, delay/placed)
	see.at(flow.search.Name, point, meanWait, wait/placed)
	if placed > 0 {
		see.at(flow.search.Name, point, lastFinish, last.Seconds())
		see.at(flow.search.Name, point, utilization, used/(float64(len(flow.nodes))*last.Seconds()))
	}
}

// oneIf returns 1 for yes and 0 for no, so that means of it are shares.
func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
