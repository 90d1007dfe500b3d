package simulation

// Users of a machine on which Slurm decides who wait for their jobs before they submit others.

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// slurmUsers brings the jobs of a log to a machine on which Slurm decides, each when the jobs for
// which it waits have ended (flow.Dependencies). A job comes, as all jobs of a log, a quarter of a
// second after a whole second (comesAt): its think time after the second in which the last of the
// others has ended, or a second later if that would be before the end itself, or at it.
//
//	           1 s                       2 s
//	seconds    |  .25                     |  .25
//	ends       |   |    x                 |   |
//	hears      |   |                      x   |
//	comes      |   |                      |   c     think time 0
//
// The flow's clock is the controller's, which has been up for late when the log begins.
type slurmUsers struct {
	log     slurmLog
	late    des.Time
	machine *replay.Machine
	sim     *des.Simulator
	waiting *flow.Dependencies

	// places has the place of each job in the log, by its number; of a number that is there twice
	// the first.
	places map[int64]int
	// flows has the jobs as the flow knows them, by the jobs of which observers hear.
	flows map[*entity.Job]*entity.Job
	// coming has the jobs that come at an instant. An instant is there from its first job until it
	// is reached.
	coming map[des.Time][]slurmArrival
}

// slurmArrival is a job that comes, with its place in the log, by which jobs of one instant are
// ordered.
type slurmArrival struct {
	*replay.Submission
	place int
}

// newSlurmUsers returns users for one run, before there is a machine.
func newSlurmUsers(log slurmLog, late des.Time) *slurmUsers {
	return &slurmUsers{log: log, late: late, places: map[int64]int{}, flows: map[*entity.Job]*entity.Job{}, coming: map[des.Time][]slurmArrival{}}
}

// begin lets the jobs of a log come to a machine. Submissions move by late: from the log's clock to
// the controller's.
func (u *slurmUsers) begin(x *session, m *replay.Machine, jobs reading) error {
	u.machine, u.sim, u.waiting = m, x.sim, x.waiting
	// The machine's loops go on while a job may still come.
	m.More = func() bool { return len(u.coming) > 0 || u.waiting.Due() }
	u.waiting.Connect(u)
	x.onClose(u.waiting.Close)
	from := sourceOf(jobs)
	u.waiting.SubmitAll(func(yield func(*entity.Job) bool) {
		for j := range eachJob(from) {
			if _, twice := u.places[j.ID]; !twice {
				u.places[j.ID] = len(u.places)
			}
			own := *j
			own.Submit = j.Submit.Add(u.late)
			if !yield(&own) {
				return
			}
		}
		if err := sourceError(from); err != nil {
			u.sim.Fail(err)
		}
	})
	return nil
}

// Simulator implements flow.Receiver.
func (u *slurmUsers) Simulator() *des.Simulator { return u.sim }

// Submit implements flow.Receiver. It returns no run: observers hear of the machine's own.
func (u *slurmUsers) Submit(j *entity.Job) *entity.Run { return u.bring(j, "") }

// Refuse implements flow.Receiver. The job comes nevertheless, to be refused by the machine, so
// that the files have it.
func (u *slurmUsers) Refuse(j *entity.Job, reason string) *entity.Run {
	return u.bring(j, slurm.Refusal(reason))
}

// bring makes a submission of a job, and lets it come at its instant. A refusal that the machine
// finds itself stays if why is "".
func (u *slurmUsers) bring(j *entity.Job, why slurm.Refusal) *entity.Run {
	own := *j
	own.Submit = replay.SecondOf(j.Submit) - u.late
	s := u.log.submission(&own)
	if why != "" {
		s.Refused = why
	}
	s.At = s.At.Add(u.late)
	u.flows[s.As] = j
	same, there := u.coming[s.At]
	u.coming[s.At] = append(same, slurmArrival{&s, u.places[j.ID]})
	if !there {
		u.sim.At(s.At, 0, des.Func(u.arrive), 0) // before anything else of the instant
	}
	return nil
}

// arrive lets the jobs of an instant come, in the order of the log: the flow may have brought them
// in another one.
func (u *slurmUsers) arrive(_ *des.Simulator, e des.Event) {
	all := u.coming[e.Time]
	delete(u.coming, e.Time)
	slices.SortStableFunc(all, func(a, b slurmArrival) int { return cmp.Compare(a.place, b.place) })
	for _, a := range all {
		u.machine.Come(a.Submission)
	}
}

// Observe implements entity.Observer. The flow hears of an end at once or, if the jobs that come in
// the same second have come already, at the next whole second: see the drawing above.
func (u *slurmUsers) Observe(e entity.JobEvent) {
	if !e.Kind.Last() {
		return
	}
	j := u.flows[e.Run.Job]
	if j == nil {
		return
	}
	delete(u.flows, e.Run.Job)
	e.Run, e.Time = entity.NewRun(j, 0), e.Time.Add(u.late)
	now := u.sim.Now()
	if second := replay.SecondOf(now); now >= second.Add(comesAt) {
		u.sim.At(second.Add(des.Second), 0, des.Func(func(*des.Simulator, des.Event) { u.waiting.Observe(e) }), uint64(j.ID))
		return
	}
	u.waiting.Observe(e)
}
