package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/internal/number"
)

// Recorder sums up a run as it goes on. It keeps no jobs. Its memory is constant
// but for the waits, which the median and the 95th percentile need: eight bytes
// for each job that has waited and ended, with room for a quarter more. For ten
// million such jobs that is 100 MB at most, and up to 180 MB for a moment while
// the store grows.
//
// Advance reservations (Run.Booked) are counted among the jobs and in makespan
// and utilization; waits, turnaround and slowdown are those of the other jobs. The
// wait of a job that was preempted is the time from its submission to its latest
// start; its slowdown divides by its whole work (Run.Ran), and its earlier attempts count
// as busy.
//
// Of the jobs of a grid, which may run in pieces, utilization is the work done over
// what all sites together could have done, their processors times their speeds;
// Processors does not count. A job's slowdown divides by the longest time that a
// piece of it ran (Run.Ran), not by the time from its first start to its last end.
type Recorder struct {
	// Policy is the name of the policy in Summary. Processors is the size of the machine, by which
	// utilization divides. If they are not set, the metascheduler to which the recorder is attached
	// sets them.
	Policy     string
	Processors int
	// Tau bounds slowdowns; 0 means 10 s.
	Tau Tau
	// Warmup is a part of the run that Summary leaves out. Jobs of the warm-up are not counted.
	// Makespan and utilization begin at the end of the warm-up; utilization includes what its jobs
	// still hold then. Rounds and events are counted over the whole run. The zero value leaves
	// nothing out.
	Warmup Warmup
	// Counted, if set, is called for each job that has ended and is part of the means of wait and
	// slowdown.
	Counted func(*entity.Run)

	warming *warming // nil without a warm-up
	meta    *entity.Metascheduler
	grid    *grid.Grid

	// These count jobs. running are those that run now; ended are those whose waits count, booked
	// the advance reservations that have ended. Invariant: running + ended + booked + rejected <=
	// jobs.
	jobs, ended, booked, killed, rejected, backfilled, running int
	firstSubmit, lastEnd                                       des.Time

	// offered is the work of the jobs that fit the machine, over the time of their submissions.
	offered entity.OfferedLoad

	// reasons are the reasons of rejections, in order of first use.
	reasons []ReasonCount
	// waits has all waits for order statistics; waitSum and turnaround are sums of ticks,
	// boundedSlow is a sum of ratios. All are of the jobs counted in ended.
	waits      sample
	waitSum    sum128
	turnaround sum128
	// busy is processors times ticks of all attempts that are over.
	busy sum128
	// work is the same of a grid: processors times seconds times speed, of all parts.
	work        compensated
	boundedSlow compensated
}

// NewRecorder returns a recorder that has seen nothing, like the zero value.
func NewRecorder() *Recorder { return &Recorder{} }

// Attach tells the recorder whose jobs it is to record.
func (r *Recorder) Attach(m *entity.Metascheduler) {
	r.meta = m
	if r.Policy == "" {
		r.Policy = m.Policy().Name()
	}
	if r.Processors == 0 {
		r.Processors = m.Plan().Size()
	}
}

// AttachGrid tells the recorder of which grid it is to record the jobs.
func (r *Recorder) AttachGrid(g *grid.Grid) { r.grid = g }

// Observe takes one event in.
func (r *Recorder) Observe(e entity.JobEvent) {
	if r.Warmup != (Warmup{}) && r.leftOut(e) {
		return
	}
	j := e.Run
	switch e.Kind {
	case entity.JobSubmitted:
		if r.jobs == 0 || j.Submit < r.firstSubmit {
			r.firstSubmit = j.Submit
		}
		r.jobs++
		r.offer(j)
	case entity.JobRejected:
		r.rejected++
		r.why(j.Reason)
	case entity.JobStarted:
		r.running++
	case entity.JobRequeued:
		r.running--
		r.occupied(e)
	case entity.JobResized:
		r.occupied(e)
	case entity.JobFinished, entity.JobKilled:
		r.running--
		r.end(j, e.Time)
		if e.Kind == entity.JobKilled {
			r.killed++
		}
	}
}

// offer adds the work of a job to the offered load, which is the load that the policy could serve.
// A job that never fits the machine, and an advance reservation, offer nothing.
func (r *Recorder) offer(j *entity.Run) {
	if j.Booked || r.grid == nil && r.Processors > 0 && j.Job.Request.Nodes > r.Processors {
		return
	}
	r.offered.Add(j.Submit, j.Job.Request.Nodes, j.Job.Runtime)
}

// power returns the work that the machine can do in a time unit; a processor without a performance
// of its own does 1. If Processors was set to another number than the plan has, that number
// counts.
func (r *Recorder) power() float64 {
	switch {
	case r.grid != nil:
		return r.grid.Power()
	case r.meta == nil || r.Processors == 0 || r.meta.Plan().Size() != r.Processors || r.meta.Plan().Node(0) == nil:
		return float64(r.Processors)
	}
	sum := 0.0
	for i := range r.Processors {
		sum += r.meta.Plan().Node(i).Perf
	}
	return sum
}

// end takes in that a job has finished or was killed. Both count in means: who was killed has
// waited, too.
func (r *Recorder) end(j *entity.Run, finish des.Time) {
	wait, run := j.Wait(), j.Ran()
	r.ran(j, finish)
	if j.Booked { // it has not waited: it came when it wanted to
		r.booked++
		return
	}
	r.ended++
	if j.Backfilled {
		r.backfilled++
	}
	r.waits.add(wait)
	r.waitSum.add(wait)
	r.turnaround.add(finish - j.Submit)
	r.boundedSlow.add(r.Tau.Slowdown(finish-j.Submit-run, run))
	if r.Counted != nil {
		r.Counted(j)
	}
}

// leftOut takes the place of Observe in a run with a warm-up. It reports whether the event's job
// belongs to the warm-up. Of such a job only the processor time that it holds after the end of the
// warm-up counts.
func (r *Recorder) leftOut(e entity.JobEvent) bool {
	if r.warming == nil {
		r.warming = &warming{Warmup: r.Warmup}
	}
	if !r.warming.has(e) {
		return false
	}
	switch e.Kind {
	case entity.JobRequeued, entity.JobResized:
		r.occupied(e)
	case entity.JobFinished, entity.JobKilled:
		r.ran(e.Run, e.Time)
	}
	return true
}

// ran takes in the latest attempt of a job that has ended, and of a grid's job all its parts.
func (r *Recorder) ran(j *entity.Run, finish des.Time) {
	r.took(j.Reservation.Window.Nodes, j.Start, finish, j.Ends())
	for _, p := range j.Parts() {
		if r.warming != nil {
			p.Start, p.End, p.Ends = r.warming.left(p.Start, p.End, p.Ends)
		}
		r.work.add(float64(p.ProcessorTime().Seconds() * p.Speed))
	}
}

// occupied takes in the attempt that the event has ended, after which the job goes on.
func (r *Recorder) occupied(e entity.JobEvent) {
	a, _, _, _ := entity.Over(e)
	r.took(a.Window.Nodes, a.Start, a.End, a.Ends)
}

// took takes in what an attempt held, as far as it was after the warm-up.
func (r *Recorder) took(nodes int, start, finish des.Time, ends []des.Time) {
	r.lastEnd = max(r.lastEnd, finish)
	if r.warming != nil {
		start, finish, ends = r.warming.left(start, finish, ends)
	}
	r.busy.addAttempt(nodes, start, finish, ends)
}

// why counts one more rejection for this reason. A reason that names another job counts as one
// reason, whichever job that is; otherwise there would be as many reasons as jobs.
func (r *Recorder) why(reason string) {
	if rest, ok := strings.CutPrefix(reason, "job "); ok {
		reason = "a job" + strings.TrimLeft(rest, "0123456789")
	}
	i := slices.IndexFunc(r.reasons, func(c ReasonCount) bool { return c.Reason == reason })
	if i < 0 {
		i = len(r.reasons)
		r.reasons = append(r.reasons, ReasonCount{Reason: reason})
	}
	r.reasons[i].Count++
}

// Rejections returns the reasons for which jobs were rejected, in order of first use. A reason
// that begins with a job's number, such as "job 4 failed", is told as "a job failed".
func (r *Recorder) Rejections() []ReasonCount { return slices.Clone(r.reasons) }

// Tau is the run time below which a job's slowdown does not become worse by its shortness, in
// ticks. The zero value is 10 s, the usual one (Feitelson et al., JSSPP 1997).
type Tau des.Time

// usualTau is the time for which the zero value of Tau stands.
const usualTau = 10 * des.Second

// ParseTau reads a time above 0, in seconds or as in 1m.
func ParseTau(text string) (Tau, error) {
	t, err := number.Length(text)
	if err == nil && t == 0 {
		err = fmt.Errorf("want a time above 0, not %q", text)
	}
	return Tau(t), err
}

// String writes the time in seconds.
func (t Tau) String() string { return t.atLeast(0).String() }

// atLeast returns the time by which a slowdown divides: max(run, tau).
func (t Tau) atLeast(run des.Time) des.Time { return max(run, des.Time(cmp.Or(t, Tau(usualTau)))) }

// Slowdown returns the bounded slowdown max(1, (wait+run) / max(run, tau)). The maximum with 1 is
// for jobs shorter than tau that wait for less than the rest of it.
func (t Tau) Slowdown(wait, run des.Time) float64 {
	return max(1, float64(wait+run)/float64(t.atLeast(run)))
}

// BoundedSlowdown returns max(1, (wait+run) / max(run, 10 s)), the bounded slowdown with the usual
// tau.
func BoundedSlowdown(wait, run des.Time) float64 { return Tau(0).Slowdown(wait, run) }

// makespan returns the time from the first submission, or from the end of the warm-up, to the last
// end; 0 if all that ran belongs to the warm-up.
func (r *Recorder) makespan() des.Time {
	switch w := r.warming; {
	case w == nil:
		return r.lastEnd - r.firstSubmit
	case w.over:
		return max(0, r.lastEnd-w.end)
	}
	return 0
}

// Summary sums up what has been observed so far. It may be asked at any time. Means are over the
// jobs that have ended; attempts under way do not count in utilization.
func (r *Recorder) Summary() Summary {
	s := Summary{
		Policy: r.Policy, Jobs: r.jobs, Killed: r.killed, Rejected: r.rejected,
		MedianWait: r.waits.quantile(1, 2),
		P95Wait:    r.waits.quantile(95, 100),
		MaxWait:    r.waits.greatest.Seconds(),
		Backfilled: r.backfilled,
		Waiting:    r.jobs - r.rejected - r.ended - r.booked - r.running,
	}
	if r.ended > 0 {
		n := float64(r.ended)
		s.MeanWait = r.waitSum.seconds() / n
		s.MeanTurnaround = r.turnaround.seconds() / n
		s.MeanBoundedSlowdown = r.boundedSlow.value() / n
	}
	// utilization = busy processor time / (processors * makespan)
	if r.lastEnd > 0 {
		s.Makespan = r.makespan().Seconds()
		if r.grid != nil && s.Makespan > 0 {
			s.Utilization = r.work.value() / (r.grid.Power() * s.Makespan)
		} else if r.Processors > 0 && s.Makespan > 0 {
			s.Utilization = r.busy.seconds() / (float64(r.Processors) * s.Makespan)
		}
	}
	// Jobs that are all submitted at one instant offer an infinite load, which no file can tell.
	if load := r.offered.Over(r.power()); !math.IsInf(load, 0) {
		s.OfferedLoad = load
	}
	if r.meta != nil {
		s.Rounds = r.meta.Rounds()
		s.Events = r.meta.Simulator().Executed()
	}
	return s
}
