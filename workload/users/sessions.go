package users

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/workload"
)

// Rule says how the jobs of a user are cut into sessions and batches. Its zero value
// is the default of the command.
//
//	job 1  |--wait--|=====run=====|
//	job 2      |wait|====|
//	job 3                            |=====|
//	       |   |<- batch ->|  think  |
//	       |<------------------ session ------------------>|   break   | ...
//
// A user submits the jobs of a batch without waiting for the job before, and submits the next
// batch after a time of thinking.
type Rule struct {
	// Break is the kind of time that ends a session if it is longer than Limit. A Limit of 0 means
	// 20 minutes of thinking, or an hour between submissions. The hour could not be checked with
	// the paper.
	Break Break
	Limit des.Time
	// Batch tells which jobs of the present batch must have ended before a job begins the next
	// batch.
	Batch batch
	// Across makes the first batch of a session depend on the last batch of the session before: a
	// user who comes back waits for results. Otherwise sessions begin at the times of the log.
	Across bool
	// NoWait gives jobs without a wait in the log a wait of 0. Otherwise such a job is an error,
	// since its end is not known.
	NoWait bool
}

// Break is the kind of time that ends a session.
type Break uint8

const (
	// thinkBreak ends a session by a long time from the end of a job to the next submission, as
	// sessions have been cut traditionally.
	thinkBreak Break = iota
	// GapBreak ends a session by a long time between two submissions, however long jobs run: Zakay
	// and Feitelson (2012) found sessions of the other kind too long to be true.
	GapBreak
)

var breaks = enum.Of[Break]("break of sessions", "think", "gap")

func (b Break) String() string { return breaks.Name(b) }

// batch is the rule by which a job joins the batch of the job before it.
type batch uint8

const (
	// previousBatch: the job before has not ended when the job is submitted.
	previousBatch batch = iota
	// WholeBatch: some job of the batch has not ended when the job is submitted. The next batch
	// then waits for the job that ended last.
	WholeBatch
)

var batches = enum.Of[batch]("batch", "previous", "whole")

func (b batch) String() string { return batches.Name(b) }

// limit is Limit, or the default of the break.
func (r *Rule) limit() des.Time {
	switch {
	case r.Limit > 0:
		return r.Limit
	case r.Break == GapBreak:
		return des.Hour
	}
	return 20 * des.Minute
}

// step is the place of a job in its user's activity. A record that is no job of a user has the zero
// value: see Counts.
type step struct {
	// Session and Batch are numbers within the user, from 1.
	Session, Batch int64
	// First tells that the job is the first job of its batch, Begins that it is the first job of
	// its session.
	First, Begins bool
	// Waits tells that the batch waits for the batch before it. Preceding is the number of the job
	// that stands for the batch before, and Think the time from the end of that job to the
	// submission of this one.
	Waits     bool
	Preceding int64
	Think     des.Time
	// After lists the jobs after which the job comes, if its user waits for the batch before;
	// fields 17 and 18 cannot hold them all. The first job of a batch comes after the ends of all
	// jobs of the batch before that had ended when it was submitted (under WholeBatch, all jobs of
	// that batch), and Think is the time from the last of these ends. The other jobs come after the
	// submission of the first job.
	After []entity.Dependency
}

// counts reports whether a record is a job of a user, one that ran: neither cancelled
// in the queue, nor one burst of a job, nor without a runtime, processors or a user.
func counts(rec *workload.Record) bool {
	return ran(rec) && rec.User >= 0
}

// ran is counts for jobs of unknown users as well.
func ran(rec *workload.Record) bool {
	switch {
	case rec.Submit < 0, rec.Runtime < 0, max(rec.Requested, rec.Allocated) <= 0:
		return false
	case rec.Status == workload.StatusCancelled:
		return rec.Runtime > 0
	}
	return rec.Status < workload.StatusPartial || rec.Status > workload.StatusPartialFail
}

// Splitter cuts a log, one record after the other, in the order of submission. It
// keeps a few numbers for each user, and the jobs of the batch at hand.
type Splitter struct {
	Rule  Rule
	users map[int64]*activity // by number
	last  des.Time            // the submission of the record before
}

// activity is the present session and batch of a user.
type activity struct {
	session, batch int64    // the present ones, from 1; 0 before the user's first job
	submitted      des.Time // when the job before was submitted
	begun          des.Time // when the first job of the present batch was
	jobs           []ending // the jobs of the present batch, in order of submission
	now            ending   // the job that stands for the present batch: the next one waits for it
	before         ending   // the job that the present batch waits for, if waits
	waits          bool     // the present batch waits for the one before it
}

// ending is a job, and when it ended in the log.
type ending struct {
	job int64
	at  des.Time
}

// Next returns the step of a record.
func (s *Splitter) Next(rec *workload.Record) (step, error) {
	if !counts(rec) {
		return step{}, nil
	}
	if rec.Submit < s.last {
		return step{}, fmt.Errorf("job %d was submitted %v s before a job above it, and users are followed in the order of submission: --sort puts jobs in order", rec.Job, s.last-rec.Submit)
	}
	s.last = rec.Submit
	wait := rec.Wait
	if wait < 0 {
		if !s.Rule.NoWait {
			return step{}, fmt.Errorf("job %d has no wait (field 3), and so nobody knows when it ended: take a log that tells waits, or say that such jobs did not wait (no-wait=on, as in --users=no-wait=on or in a source)", rec.Job)
		}
		wait = 0
	}
	if s.users == nil {
		s.users = map[int64]*activity{}
	}
	u := s.users[rec.User]
	if u == nil {
		u = &activity{}
		s.users[rec.User] = u
	}
	return u.next(&s.Rule, rec, ending{rec.Job, rec.Submit.Add(wait).Add(rec.Runtime)}), nil
}

// next takes the user's next job, which ended as own says, and tells what it is.
//
//	begins a session   the pause is longer than the limit
//	begins a batch     it begins a session, or now has ended when it is submitted
func (u *activity) next(r *Rule, rec *workload.Record, own ending) step {
	think := rec.Submit - u.now.at // below 0 where the user has not waited
	pause := think
	if r.Break == GapBreak {
		pause = rec.Submit - u.submitted
	}
	begins := u.session == 0 || pause > r.limit()
	first := begins || think >= 0
	// What the job comes after: the first job of a batch after the batch before, the others after the
	// first has been submitted.
	var after []entity.Dependency
	if first {
		u.waits = u.session > 0 && think >= 0 && (!begins || r.Across)
		if u.waits {
			after = afterAll(u.jobs, rec.Submit)
		}
		u.before, u.batch, u.begun, u.jobs = u.now, u.batch+1, rec.Submit, u.jobs[:0]
	} else if u.waits {
		after = []entity.Dependency{{Job: u.jobs[0].job, Submitted: true, Think: rec.Submit - u.begun}}
	}
	if begins {
		u.session++
	}
	// Which job stands for the batch from now on: the latest, or by WholeBatch the one that ends last.
	if first || r.Batch == previousBatch || own.at > u.now.at {
		u.now = own
	}
	u.submitted = rec.Submit
	u.jobs = append(u.jobs, own)
	step := step{Session: u.session, Batch: u.batch, First: first, Begins: begins}
	if u.waits {
		step.Waits, step.Preceding, step.Think, step.After = true, u.before.job, rec.Submit-u.before.at, after
	}
	return step
}

// afterAll are the jobs of a batch that have ended by now, as what a job comes after; each with the
// time from the last of these ends to now.
func afterAll(batch []ending, now des.Time) (all []entity.Dependency) {
	var last des.Time
	for _, j := range batch {
		if j.at <= now {
			all = append(all, entity.Dependency{Job: j.job})
			last = max(last, j.at)
		}
	}
	for i := range all {
		all[i].Think = now - last
	}
	return all
}
