package flow

// Users who wait for results: a closed loop, in which those submit less for whom the
// machine is slow.

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Users is a closed population. Each of its users submits a batch of jobs, waits until all
// of them have ended, thinks, and submits the next; longer times separate sessions of such
// batches.
//
//	|batch|----all have ended----|think|batch|--------|think|batch|---|  away  |batch| ...
//	|<--------------------------- session ------------------------------>|
//
// These are the terms of Zakay and Feitelson ("Preserving user behavior characteristics in
// trace-based simulation of parallel job scheduling", MASCOTS 2014): sessions, and think
// times between the end of one batch and the submission of the next, are kept of users, and
// instants are not. Shmueli and Feitelson found in logs that users end a session when
// responses are long ("Uncovering the effect of system performance on user behavior from
// traces of parallel systems", MASCOTS 2007). The distributions belong to the model: none is
// built in.
//
// Every function draws from streams of its own for each user, so that a change in one shifts
// no other.
type Users struct {
	Population int // number of users, 1 or more
	// Job returns a user's next job, or nil if there is none any more; users are numbered
	// from 0. The flow sets its Submit. If the job belongs to others, too, Job returns a
	// copy.
	Job func(user int, random *rand.Rand) *entity.Job
	// Think draws the time from the end of a batch, and from the beginning, to the
	// next submission.
	Think func(random *rand.Rand) des.Time
	// Batch draws how many jobs are submitted together, 1 or more; nil means one.
	Batch func(random *rand.Rand) int
	// Stays returns the probability that the session goes on after a batch whose last job
	// ended that long after its submission; nil means that it always does.
	Stays func(response des.Time) float64
	// Away draws the time from the end of a session to the next.
	Away func(random *rand.Rand) des.Time
	// Until, if not 0, is the instant from which on no batch is submitted.
	Until des.Time
}

// SubmitTo submits the users' jobs to m.
func (u *Users) SubmitTo(m *entity.Metascheduler) error {
	switch {
	case u.Population < 1:
		return fmt.Errorf("a population needs 1 user or more, not %d", u.Population)
	case u.Job == nil || u.Think == nil:
		return errors.New("users need jobs and think times")
	case u.Stays != nil && u.Away == nil:
		return errors.New("users whose sessions end need times away")
	}
	sim := m.Simulator()
	for i := range u.Population {
		stream := func(of string) *rand.Rand { return sim.Stream(of, uint64(i)) }
		w := &user{Users: u, number: i, sim: sim, think: stream("think"), jobs: stream("jobs"), batches: stream("batches"), sessions: stream("sessions")}
		w.pause()
		m.SubmitFrom(w)
	}
	return nil
}

// Exponential returns a function that draws times of an exponential distribution.
func Exponential(mean des.Time) func(*rand.Rand) des.Time {
	return func(random *rand.Rand) des.Time { return des.Seconds(random.ExpFloat64() * mean.Seconds()) }
}

// PerUser returns a function for Users.Job that gives each user the jobs of one user of a
// workload, in their order, and the number of these users.
func PerUser(jobs iter.Seq[*entity.Job]) (population int, next func(int, *rand.Rand) *entity.Job) {
	number, left := map[int32]int{}, [][]*entity.Job{}
	for j := range jobs {
		i, known := number[j.User]
		if !known {
			i = len(left)
			number[j.User], left = i, append(left, nil)
		}
		left[i] = append(left[i], j)
	}
	return len(left), func(user int, _ *rand.Rand) *entity.Job {
		if len(left[user]) == 0 {
			return nil
		}
		j := *left[user][0]
		left[user] = left[user][1:]
		return &j
	}
}

// user is one user of Users, as the source of its jobs.
type user struct {
	*Users
	number                         int
	sim                            *des.Simulator
	think, jobs, batches, sessions *rand.Rand
	at                             des.Time // of the batch at hand, or the next one
	left                           int      // of its jobs, still to be submitted
	out                            int      // of its jobs, that have not ended
	err                            error
}

// pause begins the think time before the next batch of the session.
func (u *user) pause() { u.begin(u.Think(u.think)) }

// begin sets the next batch, and its submission to the time after from now.
func (u *user) begin(after des.Time) {
	now := u.sim.Now()
	u.at, u.left = now.Add(max(after, 0)), 1
	if u.Batch != nil {
		u.left = u.Batch(u.batches)
	}
	switch {
	case u.left < 1:
		u.err = fmt.Errorf("at %v: a batch of user %d must have 1 job or more, not %d", now, u.number, u.left)
	case after < 0:
		u.err = fmt.Errorf("at %v: user %d thinks for a negative time, %v", now, u.number, after)
	case u.Until > 0 && u.at >= u.Until:
		u.left = 0
	}
}

// Err implements entity.Source.
func (u *user) Err() error { return u.err }

// Next returns the user's next job of the batch at hand.
func (u *user) Next() (*entity.Job, bool) {
	if u.left == 0 || u.err != nil {
		return nil, false
	}
	j := u.Job(u.number, u.jobs)
	if j == nil {
		u.left = 0
		return nil, false
	}
	u.left--
	u.out++
	j.Submit = u.at
	return j, true
}

// Ended begins the user's think time, or ends the session, when the last job of a batch has
// ended.
func (u *user) Ended(*entity.Run) {
	u.out--
	if u.out > 0 { // each job has been pulled before the one in front of it came
		return
	}
	if u.Stays != nil && u.sessions.Float64() >= u.Stays(u.sim.Now()-u.at) {
		u.begin(u.Away(u.sessions))
	} else {
		u.pause()
	}
}
