// Package naive is a scheduler written as plainly as can be, to test observers
// with: it knows nothing of the kernel, the plans or the policies. Every pass
// looks at every job, and every processor is a bool.
package naive

import (
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// Scheduler runs jobs on a cluster. Set its fields, then call Run once.
type Scheduler struct {
	Procs     int
	Policy    string // fcfs, easy, conservative
	Event     bool   // a pass after every event, submissions first
	Overrun   entity.Overrun
	Until     des.Time // stop before this instant; 0 = run to the end
	Observers []entity.Observer

	Runs []*entity.Run // what has become of the jobs

	now des.Time
	// taken is by processor; it changes only when an instant is settled.
	taken []bool
	// started are the jobs that started at this instant; ended are those that ended at it and
	// began before it.
	started []*entity.Run
	ended   []*entity.Run
	// waiting is in order of submission, running in order of start.
	waiting []*entity.Run
	running []*entity.Run
	// planned are the reserved starts of the waiting jobs; only of conservative backfilling.
	planned map[*entity.Run]des.Time
}

// tell tells observers that something has happened to j.
func (s *Scheduler) tell(k entity.JobEventKind, j *entity.Run) {
	s.emit(entity.JobEvent{Time: s.now, Kind: k, Run: j})
}

// promise tells observers of a start ahead.
func (s *Scheduler) promise(j *entity.Run, at des.Time, head bool) {
	if j.Promised == entity.NeverPromised {
		j.Promised = at
	}
	s.emit(entity.JobEvent{Time: s.now, Kind: entity.JobPromised, Run: j, Start: at, Head: head})
}

// emit gives an event to all observers.
func (s *Scheduler) emit(e entity.JobEvent) {
	for _, o := range s.Observers {
		o.Observe(e)
	}
}

// realEnd returns when j will end, which the policy must not know.
func (s *Scheduler) realEnd(j *entity.Run) des.Time {
	if s.Overrun == entity.OverrunKill {
		return j.Start + min(j.Runtime, j.Request.Length)
	}
	return j.Start + j.Runtime
}

// believedEnd returns the end by the estimate. A job that runs on counts as ending just after now:
// its processors are not free, and nobody knows for how long.
func (s *Scheduler) believedEnd(j *entity.Run) des.Time {
	end := j.Start + j.Request.Length
	if end <= s.now && !(s.Event && s.realEnd(j) == s.now) {
		return s.now + 1
	}
	return end
}

// Run runs all jobs, which are in order of submission.
func (s *Scheduler) Run(all []*entity.Job) {
	s.planned = map[*entity.Run]des.Time{}
	for i, j := range all {
		s.Runs = append(s.Runs, entity.NewRun(j, int64(i)))
	}
	jobs := s.Runs
	for next := 0; ; {
		// The next instant: a submission, an end or a reserved start.
		t := des.Forever
		if next < len(jobs) {
			t = jobs[next].Submit
		}
		for _, j := range s.running {
			t = min(t, s.realEnd(j))
		}
		for _, start := range s.planned {
			t = min(t, start)
		}
		if t == des.Forever || (s.Until > 0 && t >= s.Until) {
			s.settle()
			return
		}
		if t > s.now {
			s.settle()
		}
		s.now = t
		submit := func() {
			for next < len(jobs) && jobs[next].Submit == t {
				s.submit(jobs[next])
				next++
			}
		}
		if s.Event {
			submit()
		}
		// Until nothing happens any more at t: a job of no length ends where it starts.
		for again := true; again; {
			again = false
			for {
				i := slices.IndexFunc(s.running, func(j *entity.Run) bool { return s.realEnd(j) == t })
				if i < 0 {
					break
				}
				s.end(i)
				again = !s.Event
			}
			submit()
			s.pass()
			again = again || slices.ContainsFunc(s.running, func(j *entity.Run) bool { return s.realEnd(j) == t })
		}
	}
}

// submit takes in j. Under conservative backfilling it gets its reservation now.
func (s *Scheduler) submit(j *entity.Run) {
	s.tell(entity.JobSubmitted, j)
	if j.Request.Nodes > s.Procs {
		j.State = entity.Rejected
		s.tell(entity.JobRejected, j)
		return
	}
	j.State = entity.Waiting
	s.waiting = append(s.waiting, j)
	if s.Policy == "conservative" {
		s.planned[j] = s.hole(j, s.waiting[:len(s.waiting)-1])
		if s.planned[j] > s.now {
			s.promise(j, s.planned[j], false)
		}
	}
	if s.Event {
		s.pass()
	}
}

// end ends the i-th running job. Conservative backfilling then moves reservations to earlier
// holes, in order of submission.
func (s *Scheduler) end(i int) {
	j := s.running[i]
	s.running = slices.Delete(s.running, i, i+1)
	j.Finish = s.now
	if j.Start < s.now {
		s.ended = append(s.ended, j)
	}
	if j.Finish-j.Start < j.Runtime {
		j.State, j.Reason = entity.Killed, entity.ReasonEstimate
		s.tell(entity.JobKilled, j)
	} else {
		j.State = entity.Finished
		s.tell(entity.JobFinished, j)
	}
	if s.Policy == "conservative" {
		for i, w := range s.waiting {
			if s.planned[w] <= s.now {
				continue
			}
			others := slices.Concat(s.waiting[:i], s.waiting[i+1:])
			if at := s.hole(w, others); at < s.planned[w] {
				s.planned[w] = at
				s.promise(w, at, false)
			}
		}
	}
	if s.Event {
		s.pass()
	}
}

// hole returns the earliest start for j beside what runs and the others' plans. It tries now and
// every end; it is enough to look at the number of busy processors where something begins.
func (s *Scheduler) hole(j *entity.Run, others []*entity.Run) des.Time {
	type use struct {
		from, to des.Time
		nodes    int
	}
	var uses []use
	starts, begins := []des.Time{s.now}, []des.Time{}
	for _, r := range s.running {
		uses = append(uses, use{s.now, s.believedEnd(r), r.Request.Nodes})
	}
	for _, o := range others {
		uses = append(uses, use{s.planned[o], s.planned[o] + o.Request.Length, o.Request.Nodes})
	}
	for _, u := range uses {
		begins = append(begins, u.from)
		if u.to > s.now {
			starts = append(starts, u.to)
		}
	}
	slices.Sort(starts)
	for _, at := range starts {
		fits := true
		for _, instant := range append([]des.Time{at}, begins...) {
			if instant < at || (instant > at && instant >= at+j.Request.Length) {
				continue
			}
			busy := 0
			for _, u := range uses {
				if u.from <= instant && instant < u.to {
					busy += u.nodes
				}
			}
			fits = fits && busy+j.Request.Nodes <= s.Procs
		}
		if fits {
			return at
		}
	}
	panic("a job fits when all is over")
}

// free returns how many processors are free now.
func (s *Scheduler) free() int {
	free := s.Procs
	for _, r := range s.running {
		if s.believedEnd(r) > s.now {
			free -= r.Request.Nodes
		}
	}
	return free
}

// start starts the i-th waiting job.
func (s *Scheduler) start(i int) {
	j := s.waiting[i]
	j.Backfilled = i > 0
	s.waiting = slices.Delete(s.waiting, i, i+1)
	delete(s.planned, j)
	s.running = append(s.running, j)
	j.State, j.Start = entity.Running, s.now
	j.Reservation.Window = entity.Window{Start: s.now, End: s.now + j.Request.Length, Nodes: j.Request.Nodes}
	s.started = append(s.started, j)
	s.tell(entity.JobStarted, j)
}

// settle ends the instant: whatever ended gives its processors back, then
// whatever started takes the lowest, in order. A job that did both at this
// instant had its processors between the jobs before and after it.
func (s *Scheduler) settle() {
	if s.taken == nil {
		s.taken = make([]bool, s.Procs)
	}
	for _, j := range s.ended {
		s.mark(j, false)
	}
	for _, j := range s.started {
		over, free := j.State != entity.Running, 0
		for _, taken := range s.taken {
			if !taken {
				free++
			}
		}
		if over && j.Request.Length == 0 && j.Request.Nodes > free {
			// Planned ahead for no time at all, it keeps no one off its processors.
			j.Place = []procset.Range{{Last: int32(j.Request.Nodes - 1)}}
			continue
		}
		for p := 0; len(j.Place) < j.Request.Nodes; p++ {
			if !s.taken[p] {
				j.Place = append(j.Place, procset.Range{First: int32(p), Last: int32(p)})
			}
		}
		j.Place = join(j.Place)
		s.mark(j, !over)
	}
	s.started, s.ended = nil, nil
	for _, o := range s.Observers {
		if i, ok := o.(entity.InstantObserver); ok {
			i.InstantOver(s.now)
		}
	}
}

// mark takes the processors of j, or gives them back.
func (s *Scheduler) mark(j *entity.Run, taken bool) {
	for _, r := range j.Place {
		for p := r.First; p <= r.Last; p++ {
			s.taken[p] = taken
		}
	}
}

// pass lets the policy start what it can at this instant.
func (s *Scheduler) pass() {
	if s.Policy == "conservative" {
		for i := 0; i < len(s.waiting); i++ {
			if s.planned[s.waiting[i]] == s.now {
				s.start(i)
				i--
			}
		}
		return
	}
	// FCFS: the head starts as long as it fits.
	for len(s.waiting) > 0 && s.waiting[0].Request.Nodes <= s.free() {
		s.start(0)
	}
	if len(s.waiting) == 0 || s.Policy == "fcfs" {
		return
	}
	// EASY: the shadow time is when the head will fit, by the estimates; extra is what is left
	// then. A job may start if it ends by the shadow time, or takes no more than extra (Mualem and
	// Feitelson, IEEE TPDS 12(6), 2001).
	head := s.waiting[0].Request.Nodes
	ends := slices.Clone(s.running)
	slices.SortStableFunc(ends, func(a, b *entity.Run) int { return int(s.believedEnd(a) - s.believedEnd(b)) })
	free, shadow, extra := s.free(), des.Time(-1), 0
	for i, j := range ends {
		if s.believedEnd(j) <= s.now {
			continue
		}
		free += j.Request.Nodes
		if free >= head && (i+1 == len(ends) || s.believedEnd(ends[i+1]) > s.believedEnd(j)) {
			shadow, extra = s.believedEnd(j), free-head
			break
		}
	}
	s.promise(s.waiting[0], shadow, true)
	for i := 1; i < len(s.waiting); i++ {
		j := s.waiting[i]
		if j.Request.Nodes > s.free() {
			continue
		}
		if s.now+j.Request.Length <= shadow {
			s.start(i)
			i--
		} else if j.Request.Nodes <= extra {
			extra -= j.Request.Nodes
			s.start(i)
			i--
		}
	}
}

// join joins neighbours among ascending ranges.
func join(ranges []procset.Range) []procset.Range {
	var joined []procset.Range
	for _, r := range ranges {
		if k := len(joined) - 1; k >= 0 && joined[k].Last+1 == r.First {
			joined[k].Last = r.Last
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}

// Draw returns a whole number from low to high; what is it for.
type Draw func(low, high int, what string) int

// Jobs draws a small, crowded workload: ties, zero run times, wrong estimates,
// jobs too large for the machine.
func Jobs(draw Draw, procs int) []*entity.Job {
	var jobs []*entity.Job
	var submit des.Time
	seconds := func(low, high int, what string) des.Time { return des.Time(draw(low, high, what)) * des.Second }
	for i := range draw(1, 40, "jobs") {
		submit += seconds(0, 8, "gap")
		nodes := draw(1, procs+procs/8, "nodes")
		jobs = append(jobs, Job(int64(i+1), submit, nodes, seconds(0, 40, "estimate"), seconds(0, 40, "runtime")))
	}
	return jobs
}

// Job is a job of user 7.
func Job(id int64, submit des.Time, nodes int, estimate, runtime des.Time) *entity.Job {
	return &entity.Job{
		ID: id, Submit: submit, Runtime: runtime, User: 7, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: nodes, Length: estimate},
	}
}

// New draws a scheduler. It may let jobs run on past their estimates, but not
// under conservative backfilling, which does not plan again here.
func New(draw Draw) *Scheduler {
	s := &Scheduler{Procs: draw(1, 16, "procs"), Event: draw(0, 1, "event") == 1}
	if draw(0, 1, "extend") == 1 {
		s.Overrun = entity.OverrunExtend
		s.Policy = []string{"fcfs", "easy"}[draw(0, 1, "policy")]
	} else {
		s.Policy = []string{"fcfs", "easy", "conservative"}[draw(0, 2, "policy")]
	}
	return s
}
