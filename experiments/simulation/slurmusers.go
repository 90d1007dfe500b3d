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

// slurmUsers brings the jobs of a log to a machine on which Slurm decides, each when those that it waits for have ended
// (flow.Dependencies). A job comes, as all jobs of a log, a quarter of a second after a whole second (comesAt): its think
// time after the second in which the last of the others has ended, or a second later where that would be before, or
// at, the end itself.
//
// The flow's clock is the controller's, which has been up for late when the log begins.
type slurmUsers struct {
	log     slurmLog
	late    des.Time
	machine *replay.Machine
	sim     *des.Simulator
	waiting *flow.Dependencies

	places map[int64]int               // of jobs in the log, by their numbers
	flows  map[*entity.Job]*entity.Job // jobs as the flow knows them, by those that observers hear of
	coming map[des.Time][]slurmArrival // by the instant at which they come
}

// slurmArrival is a job that comes, and its place in the log.
type slurmArrival struct {
	*replay.Submission
	place int
}

func newSlurmUsers(log slurmLog, late des.Time) *slurmUsers {
	return &slurmUsers{log: log, late: late, places: map[int64]int{}, flows: map[*entity.Job]*entity.Job{}, coming: map[des.Time][]slurmArrival{}}
}

// begin has the jobs of a log come to a machine.
func (u *slurmUsers) begin(x *Session, m *replay.Machine, jobs reading) error {
	u.machine, u.sim, u.waiting = m, x.Sim, x.waiting
	m.More = func() bool { return len(u.coming) > 0 || u.waiting.Due() }
	u.waiting.Connect(u)
	x.onClose(u.waiting.Close)
	from := sourceOf(jobs)
	u.waiting.SubmitAll(func(yield func(*entity.Job) bool) {
		for j, more := from.Next(); more; j, more = from.Next() {
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

// Submit implements flow.Receiver. Nobody is told of a run.
func (u *slurmUsers) Submit(j *entity.Job) *entity.Run { return u.bring(j, "") }

// Refuse implements flow.Receiver. Nobody is told of a run.
func (u *slurmUsers) Refuse(j *entity.Job, reason string) *entity.Run {
	return u.bring(j, slurm.Refusal(reason))
}

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

// arrive has the jobs of an instant come, in the order of the log.
func (u *slurmUsers) arrive(_ *des.Simulator, e des.Event) {
	all := u.coming[e.Time]
	delete(u.coming, e.Time)
	slices.SortStableFunc(all, func(a, b slurmArrival) int { return cmp.Compare(a.place, b.place) })
	for _, a := range all {
		u.machine.Come(a.Submission)
	}
}

// Observe implements entity.Observer. Users hear of an end at once, or, where those who come in its second have come,
// at the next whole second.
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
