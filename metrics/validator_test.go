package metrics

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// promisesOf is what the naive policies promise.
func promisesOf(policy string) Promises {
	return Promises{Order: policy == "fcfs", Head: policy == "easy", First: policy == "conservative"}
}

func TestValidatorAcceptsGoodSchedules(t *testing.T) {
	for range 10 { // a thousand workloads
		rapid.Check(t, func(t *rapid.T) {
			s := drawExtending(t)
			v := Validator{Promises: promisesOf(s.policy), Processors: s.procs, Overrun: s.overrun}
			jobs := drawJobs(t, s.procs)
			s.observers = []entity.Observer{&v}
			s.run(jobs)
			report := v.Report(true)
			require.NoError(t, report.Err(), "%v", report)
			require.Equal(t, len(jobs), report.Jobs)
			require.Equal(t, report.Jobs, report.Finished+report.Killed+report.Rejected)
		})
	}
}

// story tells a validator a schedule by hand, an event a line.
type story struct {
	v   Validator
	seq int64
}

func (s *story) submit(at des.Time, j *entity.Job) *entity.Run {
	r := entity.NewRun(j, s.seq)
	s.seq++
	s.tell(at, entity.JobSubmitted, r)
	return r
}

func (s *story) start(at des.Time, j *entity.Run) {
	j.Start = at
	s.tell(at, entity.JobStarted, j)
}

func (s *story) promise(at des.Time, j *entity.Run, start des.Time) {
	s.v.Observe(entity.JobEvent{Time: at, Kind: entity.JobPromised, Run: j, Start: start, Head: true})
}

func (s *story) tell(at des.Time, k entity.JobEventKind, j *entity.Run) {
	s.v.Observe(entity.JobEvent{Time: at, Kind: k, Run: j})
}

// found requires exactly one violation, of that kind and text.
func (s *story) found(t *testing.T, complete bool, k ViolationKind, text string) {
	t.Helper()
	report := s.v.Report(complete)
	require.Equal(t, 1, report.Total, "%v", report)
	require.Equal(t, k, report.Violations[0].Kind, "%v", report)
	require.Contains(t, report.Violations[0].String(), text)
	require.ErrorContains(t, report.Err(), text)
}

func TestValidatorRejects(t *testing.T) {
	tenSeconds := func(id int64, nodes int) *entity.Job { return job(id, 0, nodes, 10*sec, 10*sec) }
	for _, c := range []struct {
		name string
		v    Validator
		tell func(*story)
		kind ViolationKind
		text string
	}{
		{"more than the machine has", Validator{Processors: 4}, func(s *story) {
			a, b := s.submit(0, tenSeconds(1, 3)), s.submit(0, tenSeconds(2, 2))
			s.start(0, a)
			s.start(9*sec, b)
			s.tell(10*sec, entity.JobFinished, a)
			s.tell(19*sec, entity.JobFinished, b)
		}, OverCapacity, "at 9, job 2: over capacity: started on 2 processors; 5 of 4 are busy now"},
		{"too much for an instant", Validator{Processors: 4}, func(s *story) {
			a, b := s.submit(0, tenSeconds(1, 3)), s.submit(0, job(2, 0, 2, sec, 0))
			s.start(0, a)
			s.start(5*sec, b)
			s.tell(5*sec, entity.JobFinished, b)
			s.tell(10*sec, entity.JobFinished, a)
		}, OverCapacity, "job 2"},
		{"two jobs on a node", Validator{}, func(s *story) {
			n := &entity.Node{ID: 9, Perf: 1}
			for id := range int64(2) {
				j := s.submit(0, tenSeconds(id, 1))
				j.Reservation.Window = entity.Window{End: 10 * sec, Nodes: 1, Tasks: []entity.Task{{Node: n, End: 10 * sec}}}
				s.start(0, j)
				defer s.tell(10*sec, entity.JobFinished, j)
			}
		}, TwoJobsOnOne, "job 1: two jobs on one processor: started on node 9, which job 0 has until 10"},
		{"start before submission", Validator{}, func(s *story) {
			j := job(1, 5*sec, 1, sec, sec)
			r := s.submit(5*sec, j)
			j.Submit = 7 * sec // the truth
			s.start(6*sec, r)
			s.tell(7*sec, entity.JobFinished, r)
		}, TooEarly, "at 6, job 1: too early: started before its submission at 7"},
		{"submission at another time", Validator{}, func(s *story) {
			j := s.submit(sec, job(1, 0, 1, sec, sec))
			s.start(sec, j)
			s.tell(2*sec, entity.JobFinished, j)
		}, OutOfPlace, "submitted at 1, not at 0"},
		{"overtaking under FCFS", Validator{Promises: Promises{Order: true}}, func(s *story) {
			a, b := s.submit(0, tenSeconds(1, 3)), s.submit(0, tenSeconds(2, 2))
			s.start(0, b)
			s.tell(10*sec, entity.JobFinished, b)
			s.start(10*sec, a)
			s.tell(20*sec, entity.JobFinished, a)
		}, OutOfOrder, "job 2: out of order: started before job 1"},
		{"a head's hold moved later", Validator{Promises: Promises{Head: true}}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.promise(0, a, 10*sec)
			s.promise(sec, a, 9*sec)
			s.promise(2*sec, a, 10*sec)
			s.start(9*sec, a)
			s.tell(19*sec, entity.JobFinished, a)
		}, HeadDelayed, "at 2, job 1: head delayed: the hold for the head of the queue was moved from 9 to 10"},
		{"a head that starts late", Validator{Promises: Promises{Head: true}}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.promise(0, a, 10*sec)
			s.start(11*sec, a)
			s.tell(21*sec, entity.JobFinished, a)
		}, HeadDelayed, "started after 10, which was held for it"},
		{"a reservation moved later", Validator{Promises: Promises{First: true}}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.promise(0, a, 10*sec)
			s.promise(sec, a, 8*sec)
			s.promise(2*sec, a, 9*sec)
			s.start(9*sec, a)
			s.tell(19*sec, entity.JobFinished, a)
		}, PromiseBroken, "the start promised for 8 was moved to 9"},
		{"a start later than first promised", Validator{Promises: Promises{First: true}}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.promise(0, a, 10*sec)
			s.start(11*sec, a)
			s.tell(21*sec, entity.JobFinished, a)
		}, PromiseBroken, "started after 10, which it was promised first"},
		{"a run cut short", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			s.tell(9*sec, entity.JobFinished, a)
		}, WrongRunTime, "ran for 9 instead of 10"},
		{"a run past the estimate", Validator{}, func(s *story) {
			a := s.submit(0, job(1, 0, 1, 5*sec, 10*sec))
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, WrongRunTime, "ran for 10 instead of 5"},
		{"a cut at the estimate where jobs run on", Validator{Overrun: entity.OverrunExtend}, func(s *story) {
			a := s.submit(0, job(1, 0, 1, 5*sec, 10*sec))
			s.start(0, a)
			a.Reason = entity.ReasonEstimate
			s.tell(5*sec, entity.JobKilled, a)
		}, WrongRunTime, "ran for 5 instead of 10"},
		{"a finished job called killed", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			s.tell(10*sec, entity.JobKilled, a)
		}, WrongRunTime, "killed is true"},
		{"two runs", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
			s.start(20*sec, a)
		}, OutOfPlace, "the job was started, but it is not here"},
		{"two starts", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, OutOfPlace, "the job was started while it was running"},
		{"an end without a start", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.tell(10*sec, entity.JobFinished, a)
			s.start(10*sec, a)
			s.tell(20*sec, entity.JobFinished, a)
		}, OutOfPlace, "the job was finished while it was waiting"},
		{"two submissions", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			*a = *entity.NewRun(a.Job, 1)
			s.tell(0, entity.JobSubmitted, a)
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, OutOfPlace, "submitted as number 1 after number 0"},
		{"time that runs backwards", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			b := s.submit(0, tenSeconds(2, 3))
			s.start(5*sec, a)
			s.start(4*sec, b)
			s.tell(14*sec, entity.JobFinished, b)
			s.tell(15*sec, entity.JobFinished, a)
		}, OutOfPlace, "the job was started at 4, after something that happened at 5"},
		{"a lost job", Validator{}, func(s *story) { s.submit(0, tenSeconds(1, 3)) },
			Missing, "job 1: missing: the job was left waiting"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := story{v: c.v}
			c.tell(&s)
			s.found(t, true, c.kind, c.text)
		})
	}
}

// What a job that runs on does to those behind it is no fault of the policy.
func TestValidatorVoidsPromisesWhereJobsRunOn(t *testing.T) {
	s := story{v: Validator{Promises: Promises{Head: true, First: true}, Overrun: entity.OverrunExtend, Processors: 1}}
	a, b := s.submit(0, job(1, 0, 1, 5*sec, 20*sec)), s.submit(0, job(2, 0, 1, 5*sec, 5*sec))
	s.start(0, a)
	s.promise(0, b, 5*sec)
	s.promise(5*sec, b, 10*sec)
	s.tell(20*sec, entity.JobFinished, a)
	s.start(20*sec, b)
	s.tell(25*sec, entity.JobFinished, b)
	require.NoError(t, s.v.Report(true).Err())
}

func TestValidatorCountsWhatIsUnfinished(t *testing.T) {
	var s story
	s.submit(0, job(1, 0, 1, sec, sec))
	report := s.v.Report(false)
	require.NoError(t, report.Err())
	require.Equal(t, 1, report.Unfinished)
}

func TestReportsAreBounded(t *testing.T) {
	s := story{v: Validator{Limit: 2}}
	for range 5 {
		s.tell(0, entity.JobStarted, entity.NewRun(job(1, 0, 1, sec, sec), 0))
	}
	report := s.v.Report(true)
	require.Len(t, report.Violations, 2)
	require.Equal(t, 5, report.Total)
	require.Contains(t, report.String(), "... and 3 more")
	require.ErrorContains(t, report.Err(), "(and 4 more)")
}

func TestAPreemptedJobKeepsItsPlaceInTheOrder(t *testing.T) {
	s := story{v: Validator{Promises: Promises{Order: true}, Processors: 1}}
	a := s.submit(0, job(1, 0, 1, 10*sec, 10*sec))
	s.start(0, a)
	s.tell(5*sec, entity.JobRequeued, a)
	b := s.submit(5*sec, job(2, 5*sec, 1, 10*sec, 10*sec))
	s.start(6*sec, b)
	s.tell(16*sec, entity.JobFinished, b)
	s.start(16*sec, a)
	s.tell(26*sec, entity.JobFinished, a)
	s.found(t, true, OutOfOrder, "job 2")
}
