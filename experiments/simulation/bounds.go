package simulation

// What no schedule of the jobs of a run can be below, beside what the run reached.

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/optimal"
)

// bounding collects the jobs of a run whose bounds are asked for. The bounds hold for every schedule
// of the jobs that the means of the run count: a job comes when it came in the run, and works on the
// processors that it asked for as long as it did there, or in another of its shapes as long as the job says. A
// schedule may interrupt jobs, as the machines of package optimal do: the wait of an interrupted job
// lasts to its last start, so that its end is never sooner than its wait and its work after its
// submission. What else takes processors (outages, reservations, overhead, lost work, jobs of the
// warm-up) only makes a schedule worse, so that the bounds hold beside it. They do not hold, and the run
// has none, if a job may be another one in another schedule, because
//
//   - it comes when others have ended (feedback, dependencies, sources that listen);
//   - it was resized, or had other processors than it can ask for;
//   - it was ended before its time (Overrun.Lasts), by an outage for example.
//
// Jobs that were rejected, or still wait in the end, are not in the means and not in the bounds.
type bounding struct {
	overrun entity.Overrun
	// jobs has the jobs that have ended so far and count in the means.
	jobs []optimal.Job
	// why says why the run has no bounds; "" if it has. Once it is set, jobs is nil and stays so.
	why string
}

// countForBounds makes the recorder count the jobs of a run on a cluster, if bounds are asked for.
// from is the source of the jobs; it is nil if their submissions are known beforehand.
func (x *session) countForBounds(from entity.Source) {
	if x.bounding == nil {
		return
	}
	b := x.bounding
	b.overrun, b.why = x.settings.Overrun, ""
	if _, listens := from.(entity.Listener); listens || x.settings.Links != nil {
		b.why = "jobs come when others have ended, which is another time in another schedule"
	}
	x.recorder.Counted = b.count
}

// count takes in a job that has ended and whose wait is in the means.
func (b *bounding) count(r *entity.Run) {
	if b.why != "" {
		return
	}
	nodes, ran := r.Reservation.Window.Nodes, r.Ran()
	// rigid is the job as it ran: itself, or the shape that was chosen. known is false of a job
	// that had processors for which it cannot ask, as after a resize.
	rigid, known := r.Job, nodes >= r.Job.Request.Nodes
	if len(r.Job.Shapes) > 0 {
		rigid, known = r.Job.In(nodes)
	}
	another := func(a entity.Attempt) bool { return a.Kept > 0 && a.Window.Nodes != nodes }
	switch {
	// An earlier attempt on other processors whose work was kept makes it a job of two sizes.
	case !known || !r.Once() && slices.ContainsFunc(r.Earlier(), another):
		b.refuse(r, "was resized, and bounds are of jobs that keep their processors")
		return
	case ran < b.overrun.Lasts(rigid):
		b.refuse(r, "was ended before its time, which another schedule need not do")
		return
	}
	job := optimal.JobOf(r.Job, b.overrun.Lasts)
	if len(job.Shapes) == 0 {
		job.Length = ran // a limit may be checked late
	}
	b.jobs = append(b.jobs, job)
}

// refuse gives the bounds of the run up, because of a job.
func (b *bounding) refuse(r *entity.Run, why string) {
	b.why, b.jobs = fmt.Sprintf("%v %s", r, why), nil
}

// bounder computes bounds once for all runs of a call that have the same jobs; the machine and tau
// are the same in all. Any goroutine may ask.
type bounder struct {
	mu    sync.Mutex
	known []*boundedJobs
}

// boundedJobs are jobs, in the order of optimal.Sort, and their bounds.
type boundedJobs struct {
	jobs  []optimal.Job
	least optimal.Bounds
}

// of returns the jobs with their bounds. It sorts jobs, and keeps them.
func (b *bounder) of(jobs []optimal.Job, processors int, tau des.Time) (*boundedJobs, error) {
	optimal.Sort(jobs)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.known {
		if optimal.Same(k.jobs, jobs) {
			return k, nil
		}
	}
	least, err := optimal.Lower(jobs, processors, tau)
	if err != nil {
		return nil, fmt.Errorf("bounding a run from below: %w", err)
	}
	k := &boundedJobs{jobs, least}
	b.known = append(b.known, k)
	return k, nil
}

// bound adds the bounds of a run to its result, if they are asked for. A run that is below its
// bounds by more than rounding is an error: then the run or the bound is wrong.
func (x *session) bound(r *Result) error {
	b := x.bounding
	switch {
	case b == nil:
		return nil
	case b.why != "":
		r.Unbounded = b.why
		return nil
	case len(b.jobs) == 0:
		r.Unbounded = "no job has ended whose wait is counted"
		return nil
	}
	// Runs of a call share what has been computed.
	known := x.settings.known
	if known == nil {
		known = &bounder{}
	}
	of, err := known.of(b.jobs, x.settings.Processors, des.Time(x.settings.Tau))
	if err != nil {
		return err
	}
	s := &r.Summary
	r.bounded, r.Bounds = of, &rows.BoundSummary{}
	for _, m := range []struct {
		name           string
		least, reached float64
		of, gap        *float64
	}{
		{"makespan", of.least.Makespan, s.Makespan, &r.Bounds.Least.Makespan, &r.Bounds.Gap.Makespan},
		{"mean wait", of.least.MeanWait, s.MeanWait, &r.Bounds.Least.MeanWait, &r.Bounds.Gap.MeanWait},
		{"mean bounded slowdown", of.least.MeanSlowdown, s.MeanBoundedSlowdown, &r.Bounds.Least.MeanSlowdown, &r.Bounds.Gap.MeanSlowdown},
	} {
		// Rounding: both sums have some 16 digits, in another order of the jobs.
		if m.least > m.reached+1e-9*m.reached+1e-6 {
			return fmt.Errorf("policy %s: the %s of the run is %v, and no schedule of its jobs can be below %v: please report this fault of gridslot", x.settings.Name, m.name, m.reached, m.least)
		}
		*m.of = min(m.least, m.reached)
		*m.gap = m.reached - *m.of
	}
	return nil
}

// leastLines returns the lines of bounds under the table of a summary. There is one line if all
// runs have the same jobs. Otherwise there is one for all runs that have the same jobs, with their
// names; runs without bounds are in none.
func (o *Outcome) leastLines() (lines []rows.Least) {
	var sets []*boundedJobs
	names := map[*boundedJobs][]string{}
	least := map[*boundedJobs]rows.Measures{}
	for _, r := range o.Results {
		if r.Bounds == nil {
			continue
		}
		if names[r.bounded] == nil {
			sets = append(sets, r.bounded)
			least[r.bounded] = r.Bounds.Least
		}
		names[r.bounded] = append(names[r.bounded], r.Summary.Policy)
	}
	for _, set := range sets {
		line := rows.Least{Title: "at least", Measures: least[set]}
		if len(names[set]) < len(o.Results) {
			line.Title += " (" + strings.Join(names[set], ", ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
