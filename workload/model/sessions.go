// Users who come, submit batches of jobs with time to think in between, and leave.

package model

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Sessions generates jobs by users who work in sessions. A user comes, submits a batch of
// jobs, waits until the last of them has ended, thinks, submits the next batch, and after
// some batches leaves:
//
//	batch           think  batch             think  batch
//	 j  j   j ......|-----| j  j ............|-----| j ...... the session is over
//
// That users work so is known from logs (D. Zilber, O. Amit, D. Talby, "What is worth
// learning from parallel workloads? A user and session based analysis", ICS 2005; E.
// Shmueli, D. Feitelson, TPDS 20(7), 2009), but the generator is our own, and so are its
// defaults: no published model has them.
//
// Sessions come as a Poisson process, of users of whom some come far more often than others. All
// jobs of a batch have one size. The submissions are those where no job waits; and every job of a
// later batch names, in Job.After, the job that ended last in the batch before, so that in a
// simulation with feedback the user waits for that job.
type Sessions struct {
	// Processors is the size of the machine; 0 means 128.
	Processors int
	// Users is the number of users, 0 means 50; the k-th of them begins sessions in proportion to 1/k.
	Users int
	// Batches is the number of batches of a session, BatchJobs the number of jobs of a batch. Drawn
	// numbers are rounded, and at least 1. Nil means exponential, with means of 4 and 3.
	Batches, BatchJobs Distribution
	// Interval is the time between two jobs of a batch, and Think that from the end of a
	// batch to the next one, in seconds. Nil means exponential with a mean of 30 s, and
	// lognormal with a mean of 10 minutes and a sigma of 1.
	Interval, Think Distribution
	// Size and Run are processors, of a batch, and seconds, of each job; see Renewal.
	Size, Run Distribution
	// MeanGap is the mean time in seconds between the beginnings of sessions, and Load
	// is the offered load to reach. One of the two must be given.
	MeanGap, Load float64
	// Cycle says when sessions begin during days and weeks; nil is evenly.
	Cycle *Cycle
	// Seed determines the random streams: one for the beginnings of
	// sessions, and one for each session.
	Seed uint64
}

// withDefaults has the defaults in place of zeros and nils.
func (m Sessions) withDefaults() Sessions {
	m.Processors = cmp.Or(m.Processors, 128)
	m.Users = cmp.Or(m.Users, 50)
	for _, d := range []struct {
		of        *Distribution
		otherwise Distribution
	}{
		{&m.Batches, Exponential{Scale: 4}},
		{&m.BatchJobs, Exponential{Scale: 3}},
		{&m.Interval, Exponential{Scale: 30}},
		{&m.Think, LognormalOf(1, 600)},
	} {
		if *d.of == nil {
			*d.of = d.otherwise
		}
	}
	return m
}

// Jobs yields n jobs in the order of submission; see Lublin.Jobs. Only sessions that are
// under way are kept in memory.
func (m Sessions) Jobs(n int64) (iter.Seq[*entity.Job], error) {
	m = m.withDefaults()
	of, users := sizes{m.Size, m.Processors}, zipf{Order: 1, N: m.Users}
	if err := errors.Join(checkCount("sessions", n), checkProcessors("sessions", m.Processors)); err != nil {
		return nil, err
	}
	if err := errors.Join(checkSizesAndRuns(of, m.Run), users.Check(), checkTimes("batches", m.Batches),
		checkTimes("jobs of a batch", m.BatchJobs), checkTimes("intervals", m.Interval), checkTimes("times to think", m.Think)); err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	area := of.area(m.Run, m.Load) * meanAtLeastOne(m.Batches) * meanAtLeastOne(m.BatchJobs)
	gap, err := poissonGap("sessions", m.MeanGap, m.Load, area, m.Processors)
	if err != nil {
		return nil, err
	}
	at, err := m.Cycle.clock()
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	// The agenda has the next submission of each session under way, and the beginning of one session to
	// come, the newest: when that has begun, the one after it is drawn.
	return func(yield func(*entity.Job) bool) {
		arrival := des.NewStream(m.Seed, 0, "sessions.arrival")
		var under agenda[*session]
		var clock float64
		var newest *session
		begin := func(key uint64) {
			clock += float64(gap * arrival.ExpFloat64())
			newest = &session{random: des.NewStream(m.Seed, 0, "sessions.session", key), key: key}
			newest.user = int32(users.Rand(newest.random))
			newest.batches = atLeastOne(m.Batches, newest.random)
			under.add(at(clock), newest)
		}
		begin(1)
		for id := int64(1); id <= n; id++ {
			now, s := under.take()
			if s == newest {
				begin(s.key + 1)
			}
			j := s.job(&m, of, id, now)
			if next, ok := s.next(&m, now); ok {
				under.add(next, s)
			}
			if !yield(j) {
				return
			}
		}
	}, nil
}

// session is a session that is under way.
type session struct {
	random  *rand.Rand // its own stream, so that no session changes what another one draws
	key     uint64     // the number of the session, from 1
	user    int32      // from 1 to Users
	batches float64    // how many are to come, the present one among them
	jobs    float64    // how many jobs of the present batch are to come
	size    int        // processors of each job of the present batch
	// last is the end of the job so far that ends last, and before what last was when the present
	// batch began: the jobs of this batch come after that job.
	last, before ending
}

// ending is the end of a job; of none where its number is 0.
type ending struct {
	job int64
	at  des.Time
}

// job makes the job that comes now.
func (s *session) job(m *Sessions, of sizes, id int64, now float64) *entity.Job {
	if s.jobs == 0 {
		s.jobs, s.size = atLeastOne(m.BatchJobs, s.random), of.rand(s.random)
		s.before = s.last
	}
	s.jobs--
	j := newJob(id, now, s.size, atLeastOne(m.Run, s.random), -1)
	j.User = s.user
	if s.before.job != 0 {
		j.After = []entity.Dependency{{Job: s.before.job, Think: j.Submit - s.before.at}}
	}
	if end := j.Submit + j.Runtime; end > s.last.at {
		s.last = ending{id, end}
	}
	return j
}

// next is when the user submits again, in seconds: an interval after now within a batch, or a time to
// think after the end of the batch. It is false if the session is over.
func (s *session) next(m *Sessions, now float64) (float64, bool) {
	if s.jobs > 0 {
		return now + m.Interval.Rand(s.random), true
	}
	if s.batches--; s.batches == 0 {
		return 0, false
	}
	return s.last.at.Seconds() + m.Think.Rand(s.random), true
}
