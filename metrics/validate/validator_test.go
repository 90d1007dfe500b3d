package validate

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/internal/naive"
)

// promisesOf is what the naive policies promise.
func promisesOf(policy string) Promises {
	return Promises{Order: policy == "fcfs", Head: policy == "easy", First: policy == "conservative"}
}

func TestValidatorAcceptsGoodSchedules(t *testing.T) {
	for range 10 { // a thousand workloads
		rapid.Check(t, func(t *rapid.T) {
			s := naive.New(drawer(t))
			v := Validator{Promises: promisesOf(s.Policy), processors: s.Procs, overrun: s.Overrun}
			jobs := naive.Jobs(drawer(t), s.Procs)
			s.Observers = []entity.Observer{&v}
			s.Run(jobs)
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

func (s *story) preempt(at des.Time, j *entity.Run, kept des.Time) {
	j.Restore(append(j.Earlier(), entity.Attempt{Window: j.Reservation.Window, Start: j.Start, End: at, Place: j.Place, Kept: kept}), j.Done()+kept, nil)
	j.Request.Length -= kept
	s.tell(at, entity.JobRequeued, j)
}

// onNode has a job with such needs run on a node.
func (s *story) onNode(needs entity.Attributes, n *entity.Node) {
	asks := job(1, 0, 1, 10*sec, 10*sec)
	asks.Request.Needs = &needs
	r := s.submit(0, asks)
	r.Reservation.Window = entity.Window{End: 10 * sec, Nodes: 1, Tasks: []entity.Task{{Node: n, End: 10 * sec}}}
	s.start(0, r)
	s.tell(10*sec, entity.JobFinished, r)
}

func (s *story) tell(at des.Time, k entity.JobEventKind, j *entity.Run) {
	s.v.Observe(entity.JobEvent{Time: at, Kind: k, Run: j})
}

// found requires exactly one violation, of that kind and text.
func (s *story) found(t *testing.T, complete bool, k Kind, text string) {
	t.Helper()
	report := s.v.Report(complete)
	require.Equal(t, 1, report.Total, "%v", report)
	require.Equal(t, k, report.Violations[0].Kind, "%v", report)
	require.Contains(t, report.Violations[0].String(), text)
	require.ErrorContains(t, report.Err(), text)
}

func processorRange(first, last int32) []procset.Range {
	return []procset.Range{{First: first, Last: last}}
}

func TestValidatorRejects(t *testing.T) {
	tenSeconds := func(id int64, nodes int) *entity.Job { return job(id, 0, nodes, 10*sec, 10*sec) }
	for _, c := range []struct {
		name string
		v    Validator
		tell func(*story)
		kind Kind
		text string
	}{
		{"more than the machine has", Validator{processors: 4}, func(s *story) {
			a, b := s.submit(0, tenSeconds(1, 3)), s.submit(0, tenSeconds(2, 2))
			s.start(0, a)
			s.start(9*sec, b)
			s.tell(10*sec, entity.JobFinished, a)
			s.tell(19*sec, entity.JobFinished, b)
		}, OverCapacity, "at 9, job 2: over capacity: started on 2 processors; 1 of 4 are free"},
		{"too much for an instant", Validator{processors: 4}, func(s *story) {
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
		}, TwoJobsOnOne, "job 1: two jobs on one processor: has node 9, which job 0 has until 10"},
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
		}, outOfOrder, "job 2: out of order: started before job 1"},
		{"a head's hold moved later", Validator{Promises: Promises{Head: true}}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.promise(0, a, 10*sec)
			s.promise(sec, a, 9*sec)
			s.promise(2*sec, a, 10*sec)
			s.start(9*sec, a)
			s.tell(19*sec, entity.JobFinished, a)
		}, headDelayed, "at 2, job 1: head delayed: the hold for the head of the queue was moved from 9 to 10"},
		{"a head that starts late", Validator{Promises: Promises{Head: true}}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.promise(0, a, 10*sec)
			s.start(11*sec, a)
			s.tell(21*sec, entity.JobFinished, a)
		}, headDelayed, "the head of the queue, not started by its shadow time 10"},
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
		}, PromiseBroken, "not started by 10, which it was promised first"},
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
		{"a cut at the estimate where jobs run on", Validator{overrun: entity.OverrunExtend}, func(s *story) {
			a := s.submit(0, job(1, 0, 1, 5*sec, 10*sec))
			s.start(0, a)
			a.Reason = entity.ReasonEstimate
			s.tell(5*sec, entity.JobKilled, a)
		}, WrongRunTime, "ran for 5 instead of 10"},
		{"a finished job called killed", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			a.Reason = entity.ReasonEstimate
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
		{"more kept than was run", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			s.preempt(5*sec, a, 6*sec)
			s.start(5*sec, a)
			s.tell(9*sec, entity.JobFinished, a)
		}, WrongRunTime, "at 5, job 1: wrong run time: 6 of its runtime is kept of a run of 5"},
		{"less than nothing kept", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			s.preempt(5*sec, a, -sec)
			s.start(5*sec, a)
			s.tell(16*sec, entity.JobFinished, a)
		}, WrongRunTime, "-1 of its runtime is kept of a run of 5"},
		{"an attempt that kept something else", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			a.Restore([]entity.Attempt{{End: 5 * sec, Kept: 4 * sec}}, 5*sec, nil)
			a.Request.Length = 5 * sec
			s.tell(5*sec, entity.JobRequeued, a)
			s.start(5*sec, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, WrongRunTime, "5 of its runtime is kept of a run of 5"},
		{"an attempt at another time", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			a.Restore([]entity.Attempt{{Start: sec, End: 5 * sec}}, 0, nil)
			s.tell(5*sec, entity.JobRequeued, a)
			s.start(5*sec, a)
			s.tell(15*sec, entity.JobFinished, a)
		}, OutOfPlace, "ran from 0 to 5, and it tells of an attempt from 1 to 5"},
		{"work kept that is done again", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			s.preempt(5*sec, a, 5*sec)
			s.start(5*sec, a)
			s.tell(15*sec, entity.JobFinished, a)
		}, WrongRunTime, "ran for 10 instead of 5"},
		{"an advance reservation that starts late", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			a.Booked = true
			s.promise(0, a, 5*sec)
			s.start(6*sec, a)
			s.tell(16*sec, entity.JobFinished, a)
		}, PromiseBroken, "at 6, job 1: promise broken: an advance reservation that is for 5"},
		{"a submission that the trace has later", Validator{}, func(s *story) {
			a := s.submit(0, job(1, sec, 1, sec, sec))
			s.start(sec, a)
			s.tell(2*sec, entity.JobFinished, a)
		}, OutOfPlace, "submitted at 0, not at 1"},
		{"a processor of another job", Validator{processors: 4}, func(s *story) {
			a, b := s.submit(0, tenSeconds(1, 2)), s.submit(0, tenSeconds(2, 2))
			a.Place, b.Place = processorRange(0, 1), processorRange(1, 2)
			s.start(0, a)
			s.start(3*sec, b)
			s.tell(10*sec, entity.JobFinished, a)
			s.tell(13*sec, entity.JobFinished, b)
		}, TwoJobsOnOne, "at 3, job 2: two jobs on one processor: has a processor that job 1 has until 10"},
		{"a processor twice", Validator{processors: 4}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			a.Place = append(processorRange(0, 1), processorRange(1, 1)...)
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, TwoJobsOnOne, "has a processor twice"},
		{"a processor too many", Validator{processors: 4}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			a.Place = processorRange(0, 3)
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, TwoJobsOnOne, "has 4 processors instead of 3"},
		{"a processor too few", Validator{processors: 4}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			a.Place = processorRange(2, 3)
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, TwoJobsOnOne, "has 2 processors instead of 3"},
		{"a processor that is not there", Validator{processors: 4}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			a.Place = processorRange(2, 4)
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
		}, TwoJobsOnOne, "has processor 4 of a cluster of 4"},
		{"processors that change while the job runs", Validator{processors: 4}, func(s *story) {
			a, b := s.submit(0, tenSeconds(1, 3)), s.submit(0, tenSeconds(2, 1))
			a.Place, b.Place = processorRange(0, 2), processorRange(3, 3)
			s.start(0, a)
			s.start(sec, b)
			a.Place = processorRange(1, 3)
			s.tell(10*sec, entity.JobFinished, a)
			s.tell(11*sec, entity.JobFinished, b)
		}, TwoJobsOnOne, "at 10, job 1: two jobs on one processor: had the processors 0-2, and now it tells of 1-3"},
		{"a start before the end of another", Validator{}, func(s *story) {
			follower := tenSeconds(2, 1)
			follower.After = []entity.Dependency{{Job: 1}}
			a, b := s.submit(0, tenSeconds(1, 1)), s.submit(0, follower)
			s.start(0, a)
			s.start(9*sec, b)
			s.tell(10*sec, entity.JobFinished, a)
			s.tell(19*sec, entity.JobFinished, b)
		}, BeforeItsTurn, "started before the end of job 1, which it follows"},
		{"a start after a job that failed", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 1))
			s.start(0, a)
			a.Reason = "an operator"
			s.tell(5*sec, entity.JobKilled, a)
			follower := tenSeconds(2, 1)
			follower.After = []entity.Dependency{{Job: 1, OK: true}}
			follower.Submit = 5 * sec
			b := s.submit(5*sec, follower)
			s.start(5*sec, b)
			s.tell(15*sec, entity.JobFinished, b)
		}, BeforeItsTurn, "started, though job 1 has not finished well"},
		{"a start within a think time", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 1))
			s.start(0, a)
			s.tell(10*sec, entity.JobFinished, a)
			follower := tenSeconds(2, 1)
			follower.After = []entity.Dependency{{Job: 1, Think: 5 * sec}}
			follower.Submit = 14 * sec
			b := s.submit(14*sec, follower)
			s.start(14*sec, b)
			s.tell(24*sec, entity.JobFinished, b)
		}, BeforeItsTurn, "started before 15, when those that it follows have ended"},
		{"a start within a think time after a submission", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 1))
			follower := tenSeconds(2, 1)
			follower.After = []entity.Dependency{{Job: 1, Think: 5 * sec, Submitted: true}}
			follower.Submit = 4 * sec
			b := s.submit(4*sec, follower)
			s.start(4*sec, b)
			s.start(5*sec, a)
			s.tell(14*sec, entity.JobFinished, b)
			s.tell(15*sec, entity.JobFinished, a)
		}, BeforeItsTurn, "started before 5, when those that it follows have ended"},
		{"a node of another label", Validator{}, func(s *story) {
			s.onNode(entity.Attributes{Labels: map[string]string{"os": "linux"}}, &entity.Node{ID: 9, Perf: 1, Attributes: entity.Attributes{Labels: map[string]string{"os": "plan9"}}})
		}, Unmet, "has node 9, whose os is not linux"},
		{"a node with less memory", Validator{}, func(s *story) {
			s.onNode(entity.Attributes{Amounts: map[string]float64{"memory": 8}}, &entity.Node{ID: 9, Perf: 1, Attributes: entity.Attributes{Amounts: map[string]float64{"memory": 4}}})
		}, Unmet, "has node 9, which has less memory than 8"},
		{"an attempt that ends at another time", Validator{}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			s.start(0, a)
			a.Restore([]entity.Attempt{{Start: 0, End: 4 * sec}}, 0, nil)
			s.tell(5*sec, entity.JobRequeued, a)
			s.start(5*sec, a)
			s.tell(15*sec, entity.JobFinished, a)
		}, OutOfPlace, "ran from 0 to 5, and it tells of an attempt from 0 to 4"},
		{"a head behind which a job came back", Validator{Promises: Promises{Head: true}}, func(s *story) {
			a := s.submit(0, tenSeconds(1, 3))
			b := s.submit(0, tenSeconds(2, 3))
			s.start(0, b)
			s.promise(0, a, 10*sec)
			s.preempt(5*sec, b, 0) // behind a, whose promise stands
			s.start(11*sec, a)
			s.tell(21*sec, entity.JobFinished, a)
			s.start(21*sec, b)
			s.tell(31*sec, entity.JobFinished, b)
		}, headDelayed, "the head of the queue, not started by its shadow time 10"},
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
	s := story{v: Validator{Promises: Promises{Head: true, First: true}, overrun: entity.OverrunExtend, processors: 1}}
	a, b := s.submit(0, job(1, 0, 1, 5*sec, 20*sec)), s.submit(0, job(2, 0, 1, 5*sec, 5*sec))
	s.start(0, a)
	s.promise(0, b, 5*sec)
	s.promise(5*sec, b, 10*sec)
	s.tell(20*sec, entity.JobFinished, a)
	s.start(20*sec, b)
	s.tell(25*sec, entity.JobFinished, b)
	require.NoError(t, s.v.Report(true).Err())
}

// An advance reservation may be asked for first and confirmed later.
func TestValidatorAcceptsWhatIsConfirmedLater(t *testing.T) {
	var s story
	r := entity.NewRun(job(1, 0, 1, sec, sec), 0)
	r.Booked = true
	s.tell(2*sec, entity.JobSubmitted, r)
	s.promise(2*sec, r, 5*sec)
	s.start(5*sec, r)
	s.tell(6*sec, entity.JobFinished, r)
	require.NoError(t, s.v.Report(true).Err())
}

// A job that came and went leaves its node and its processors at once.
func TestValidatorAcceptsWhatFollowsAtTheSameInstant(t *testing.T) {
	n := &entity.Node{ID: 9, Perf: 1}
	for _, named := range []bool{false, true} {
		s := story{v: Validator{Promises: Promises{Order: true}, processors: 1}}
		for id := range int64(3) {
			j := s.submit(5*sec, job(id, 5*sec, 1, 10*sec, 10*sec))
			if named {
				j.Reservation.Window = entity.Window{Start: 5 * sec, End: 15 * sec, Nodes: 1, Tasks: []entity.Task{{Node: n, End: 15 * sec}}}
			} else {
				j.Place = processorRange(0, 0)
			}
			s.start(5*sec, j)
			if id < 2 {
				j.Reason = "an operator"
				s.tell(5*sec, entity.JobKilled, j)
			} else {
				s.tell(15*sec, entity.JobFinished, j)
			}
		}
		require.NoError(t, s.v.Report(true).Err())
	}
}

func TestValidatorCountsWhatIsUnfinished(t *testing.T) {
	var s story
	s.submit(0, job(1, 0, 1, sec, sec))
	report := s.v.Report(false)
	require.NoError(t, report.Err())
	require.Equal(t, 1, report.Unfinished)
}

func TestReportsAreBounded(t *testing.T) {
	s := story{v: Validator{limit: 2}}
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
	s := story{v: Validator{Promises: Promises{Order: true}, processors: 1}}
	a := s.submit(0, job(1, 0, 1, 10*sec, 10*sec))
	s.start(0, a)
	s.preempt(5*sec, a, 0)
	b := s.submit(5*sec, job(2, 5*sec, 1, 10*sec, 10*sec))
	s.start(6*sec, b)
	s.tell(16*sec, entity.JobFinished, b)
	s.start(16*sec, a)
	s.tell(26*sec, entity.JobFinished, a)
	s.found(t, true, outOfOrder, "job 2")
}

// A head is promised its start only while no older job stands in front of it.
func TestAPromiseToAHeadIsVoidWhenAnOlderJobComesBack(t *testing.T) {
	s := story{v: Validator{Promises: Promises{Head: true}}}
	older, head := s.submit(0, job(1, 0, 3, 10*sec, 10*sec)), s.submit(0, job(2, 0, 3, 10*sec, 10*sec))
	s.start(0, older)
	s.promise(0, head, 10*sec)
	s.preempt(5*sec, older, 0)
	s.start(6*sec, older)
	s.tell(16*sec, entity.JobFinished, older)
	s.start(16*sec, head)
	s.tell(26*sec, entity.JobFinished, head)
	require.NoError(t, s.v.Report(true).Err())
}

// idle is a policy that starts no job.
type idle struct{}

func (idle) Name() string           { return "idle" }
func (idle) Schedule(*entity.Round) {}

// What an attempt tells of its work is compared where the validator knows the checkpoints.
func TestAnAttemptTellsOfItsWork(t *testing.T) {
	for _, wrong := range []entity.Attempt{
		{End: 5 * sec, Work: 4 * sec, Overhead: 0},
		{End: 5 * sec, Work: 5 * sec, Overhead: sec},
	} {
		s := story{v: Validator{}}
		s.v.Attach(entity.NewMetascheduler(des.New(des.Config{}), plan.NewCluster(4), idle{}))
		a := s.submit(0, job(1, 0, 1, 10*sec, 10*sec))
		s.start(0, a)
		a.Restore([]entity.Attempt{wrong}, 0, nil)
		s.tell(5*sec, entity.JobRequeued, a)
		report := s.v.Report(false)
		require.ErrorContains(t, report.Err(), "an attempt of 5 tells of")
	}
}
