package metrics

// A scheduler written as plainly as can be, to test observers with: it knows
// nothing of the kernel, the plans or the policies.

import (
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"pgregory.net/rapid"
)

type naive struct {
	procs     int
	policy    string // fcfs, easy, conservative
	event     bool   // a pass after every event, submissions first
	overrun   entity.Overrun
	until     des.Time // stop before this instant; 0 = run to the end
	observers []entity.Observer

	runs []*entity.Run // what has become of the jobs

	now     des.Time
	taken   []bool        // by processor
	started []*entity.Run // at this instant
	ended   []*entity.Run // at this instant, having begun before it
	waiting []*entity.Run
	running []*entity.Run
	planned map[*entity.Run]des.Time // conservative
}

func (s *naive) tell(k entity.JobEventKind, j *entity.Run) {
	s.emit(entity.JobEvent{Time: s.now, Kind: k, Run: j})
}

func (s *naive) promise(j *entity.Run, at des.Time, head bool) {
	if j.Promised == entity.NeverPromised {
		j.Promised = at
	}
	s.emit(entity.JobEvent{Time: s.now, Kind: entity.JobPromised, Run: j, Start: at, Head: head})
}

func (s *naive) emit(e entity.JobEvent) {
	for _, o := range s.observers {
		o.Observe(e)
	}
}

func (s *naive) realEnd(j *entity.Run) des.Time {
	if s.overrun == entity.OverrunKill {
		return j.Start + min(j.Runtime, j.Request.Length)
	}
	return j.Start + j.Runtime
}

// believedEnd is the end by the estimate; a job that runs on counts as ending
// just after now.
func (s *naive) believedEnd(j *entity.Run) des.Time {
	end := j.Start + j.Request.Length
	if end <= s.now && !(s.event && s.realEnd(j) == s.now) {
		return s.now + 1
	}
	return end
}

func (s *naive) run(all []*entity.Job) {
	s.planned = map[*entity.Run]des.Time{}
	for i, j := range all {
		s.runs = append(s.runs, entity.NewRun(j, int64(i)))
	}
	jobs := s.runs
	for next := 0; ; {
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
		if t == des.Forever || (s.until > 0 && t >= s.until) {
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
		if s.event {
			submit()
		}
		for again := true; again; {
			again = false
			for {
				i := slices.IndexFunc(s.running, func(j *entity.Run) bool { return s.realEnd(j) == t })
				if i < 0 {
					break
				}
				s.end(i)
				again = !s.event
			}
			submit()
			s.pass()
			again = again || slices.ContainsFunc(s.running, func(j *entity.Run) bool { return s.realEnd(j) == t })
		}
	}
}

func (s *naive) submit(j *entity.Run) {
	s.tell(entity.JobSubmitted, j)
	if j.Request.Nodes > s.procs {
		j.State = entity.Rejected
		s.tell(entity.JobRejected, j)
		return
	}
	j.State = entity.Waiting
	s.waiting = append(s.waiting, j)
	if s.policy == "conservative" {
		s.planned[j] = s.hole(j, s.waiting[:len(s.waiting)-1])
		if s.planned[j] > s.now {
			s.promise(j, s.planned[j], false)
		}
	}
	if s.event {
		s.pass()
	}
}

func (s *naive) end(i int) {
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
	if s.policy == "conservative" {
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
	if s.event {
		s.pass()
	}
}

// hole is the earliest start for j beside what runs and the others' plans.
func (s *naive) hole(j *entity.Run, others []*entity.Run) des.Time {
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
			fits = fits && busy+j.Request.Nodes <= s.procs
		}
		if fits {
			return at
		}
	}
	panic("a job fits when all is over")
}

func (s *naive) free() int {
	free := s.procs
	for _, r := range s.running {
		if s.believedEnd(r) > s.now {
			free -= r.Request.Nodes
		}
	}
	return free
}

func (s *naive) start(i int) {
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
func (s *naive) settle() {
	if s.taken == nil {
		s.taken = make([]bool, s.procs)
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
			j.Place = []entity.ProcessorRange{{Last: int32(j.Request.Nodes - 1)}}
			continue
		}
		for p := 0; len(j.Place) < j.Request.Nodes; p++ {
			if !s.taken[p] {
				j.Place = append(j.Place, entity.ProcessorRange{First: int32(p), Last: int32(p)})
			}
		}
		j.Place = joinRanges(j.Place)
		s.mark(j, !over)
	}
	s.started, s.ended = nil, nil
	for _, o := range s.observers {
		if i, ok := o.(entity.InstantObserver); ok {
			i.InstantOver(s.now)
		}
	}
}

func (s *naive) mark(j *entity.Run, taken bool) {
	for _, r := range j.Place {
		for p := r.First; p <= r.Last; p++ {
			s.taken[p] = taken
		}
	}
}

func (s *naive) pass() {
	if s.policy == "conservative" {
		for i := 0; i < len(s.waiting); i++ {
			if s.planned[s.waiting[i]] == s.now {
				s.start(i)
				i--
			}
		}
		return
	}
	for len(s.waiting) > 0 && s.waiting[0].Request.Nodes <= s.free() {
		s.start(0)
	}
	if len(s.waiting) == 0 || s.policy == "fcfs" {
		return
	}
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

// drawJobs draws a small, crowded workload: ties, zero run times, wrong
// estimates, jobs too large for the machine.
func drawJobs(t *rapid.T, procs int) []*entity.Job {
	var jobs []*entity.Job
	var submit des.Time
	for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
		submit += des.Time(rapid.IntRange(0, 8).Draw(t, "gap")) * des.Second
		jobs = append(jobs, job(int64(i+1), submit,
			rapid.IntRange(1, procs+procs/8).Draw(t, "nodes"),
			des.Time(rapid.IntRange(0, 40).Draw(t, "estimate"))*des.Second,
			des.Time(rapid.IntRange(0, 40).Draw(t, "runtime"))*des.Second))
	}
	return jobs
}

func job(id int64, submit des.Time, nodes int, estimate, runtime des.Time) *entity.Job {
	return &entity.Job{
		ID: id, Submit: submit, Runtime: runtime, User: 7, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: nodes, Length: estimate},
	}
}

// drawScheduler draws a naive scheduler that kills at the estimate.
func drawScheduler(t *rapid.T, policies ...string) *naive {
	return &naive{
		procs:  rapid.IntRange(1, 16).Draw(t, "procs"),
		policy: rapid.SampledFrom(policies).Draw(t, "policy"),
		event:  rapid.Bool().Draw(t, "event"),
	}
}

// drawExtending draws one that may let jobs run on; the naive conservative
// policy does not plan anew, and so cannot.
func drawExtending(t *rapid.T) *naive {
	if rapid.Bool().Draw(t, "extend") {
		s := drawScheduler(t, "fcfs", "easy")
		s.overrun = entity.OverrunExtend
		return s
	}
	return drawScheduler(t, "fcfs", "easy", "conservative")
}
