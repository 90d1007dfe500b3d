package metrics

import (
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
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
// start, and its earlier attempts count as busy.
//
// Of the jobs of a grid, which may run in pieces, utilization is the work done over
// what all sites together could have done, their processors times their speeds;
// Processors does not count. A job's slowdown divides by the longest time that a
// piece of it ran (Run.Ran), not by the time from its first start to its last end.
type Recorder struct {
	// Policy and Processors are what Summary reports and measures utilization
	// against. A metascheduler that the recorder is given to fills them in.
	Policy     string
	Processors int

	meta *entity.Metascheduler
	grid *grid.Grid

	jobs, ended, booked, killed, rejected, backfilled, running int
	firstSubmit, lastEnd                                       des.Time

	reasons     []ReasonCount
	waits       sample
	waitSum     sum128
	turnaround  sum128
	busy        sum128      // processors times ticks
	work        compensated // of a grid: processors times seconds times speed
	boundedSlow compensated
}

// NewRecorder returns a recorder of nothing yet; so is the zero value.
func NewRecorder() *Recorder { return &Recorder{} }

// Attach tells the recorder whose jobs it is to record.
func (r *Recorder) Attach(m *entity.Metascheduler) {
	r.meta = m
	if r.Policy == "" {
		r.Policy = m.Policy().Name()
	}
	if r.Processors == 0 {
		r.Processors = processorsOf(m.Plan())
	}
}

// AttachGrid tells the recorder the jobs of which grid it is to record.
func (r *Recorder) AttachGrid(g *grid.Grid) { r.grid = g }

// processorsOf is the size of a plan: its processors or its nodes; 0 of one
// that tells neither.
func processorsOf(p entity.Plan) int {
	switch p := p.(type) {
	case interface{ Processors() int }:
		return p.Processors()
	case interface{ Nodes() []*entity.Node }:
		return len(p.Nodes())
	}
	return 0
}

// Observe takes one event in.
func (r *Recorder) Observe(e entity.JobEvent) {
	j := e.Run
	switch e.Kind {
	case entity.JobSubmitted:
		if r.jobs == 0 || j.Submit < r.firstSubmit {
			r.firstSubmit = j.Submit
		}
		r.jobs++
	case entity.JobRejected:
		r.rejected++
		r.why(j.Reason)
	case entity.JobStarted:
		r.running++
	case entity.JobRequeued:
		r.running--
		r.occupied(latestOf(j.Earlier()))
	case entity.JobResized:
		r.occupied(latestOf(j.Earlier()))
	case entity.JobFinished, entity.JobKilled:
		r.running--
		r.end(j, e.Time)
		if e.Kind == entity.JobKilled {
			r.killed++
		}
	}
}

func (r *Recorder) end(j *entity.Run, finish des.Time) {
	wait, run := j.Wait(), j.Ran()
	r.lastEnd = max(r.lastEnd, finish)
	r.busy.addAttempt(j.Reservation.Window.Nodes, j.Start, finish, j.Ends())
	for _, p := range j.Parts() {
		r.work.add(float64(p.ProcessorTime().Seconds() * p.Speed))
	}
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
	r.boundedSlow.add(BoundedSlowdown(finish-j.Submit-run, run))
}

// occupied takes in an attempt that is over, where the job goes on.
func (r *Recorder) occupied(a *entity.Attempt) {
	r.lastEnd = max(r.lastEnd, a.End)
	r.busy.addAttempt(a.Window.Nodes, a.Start, a.End, a.Ends)
}

// why counts one more rejection for this reason. One that lies in another job is the
// same whichever that is.
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

// Rejections are the reasons for which jobs were rejected, in order of first use.
// Where a reason begins with a job's number, such as "job 4 failed", it is "a job failed".
func (r *Recorder) Rejections() []ReasonCount { return slices.Clone(r.reasons) }

// boundedBelow is the run time under which a job's slowdown is no longer made
// worse by its shortness (Feitelson et al., JSSPP 1997).
const boundedBelow = 10 * des.Second

// BoundedSlowdown is max(1, (wait+run) / max(run, 10 s)).
func BoundedSlowdown(wait, run des.Time) float64 {
	return max(1, float64(wait+run)/float64(max(run, boundedBelow)))
}

// Summary sums up what has been observed so far. It may be asked at any time.
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
	if r.lastEnd > 0 {
		s.Makespan = (r.lastEnd - r.firstSubmit).Seconds()
		if r.grid != nil && s.Makespan > 0 {
			s.Utilization = r.work.value() / (r.grid.Power() * s.Makespan)
		} else if r.Processors > 0 && s.Makespan > 0 {
			s.Utilization = r.busy.seconds() / (float64(r.Processors) * s.Makespan)
		}
	}
	if r.meta != nil {
		s.Rounds = r.meta.Rounds()
		s.Events = r.meta.Simulator().Executed()
	}
	return s
}
