package users

import (
	"cmp"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// Facts tells about the users in a log. Times are in seconds; the median of no values is 0.
type Facts struct {
	Records int64 `json:"records"`
	// jobs is the number of jobs that ran and have a user. The other facts count these alone.
	// NotRun is the number of records that are no jobs that ran, Nameless the number of jobs that
	// ran and have no user.
	Jobs     int64 `json:"jobs"`
	NotRun   int64 `json:"not_run"`
	Nameless int64 `json:"nameless"`

	Users int `json:"users"`
	// LongTerm is the number of users whose jobs span LongTermWeeks weeks or more, Temporary the
	// number of the other users.
	LongTerm      int `json:"long_term_users"`
	Temporary     int `json:"temporary_users"`
	LongTermWeeks int `json:"long_term_weeks"`

	Sessions int64 `json:"sessions"`
	Batches  int64 `json:"batches"`
	// Waiting is the number of jobs that depend on the end of another job under feedback. Several
	// is the number of those whose batch waits for a batch of several jobs; the format keeps one of
	// these jobs, and loses the others.
	Waiting int64 `json:"waiting_jobs"`
	Several int64 `json:"waiting_for_several"`

	LargestBatch   int64   `json:"largest_batch"`
	JobsPerBatch   float64 `json:"mean_jobs_per_batch"`
	JobsPerSession float64 `json:"mean_jobs_per_session"`
	ThinkLower     float64 `json:"lower_quartile_think"`
	Think          float64 `json:"median_think"`
	ThinkUpper     float64 `json:"upper_quartile_think"`
	Session        float64 `json:"median_session"`

	All []user `json:"by_user"`
}

// user tells about one user. Times are in seconds.
type user struct {
	User     int64   `json:"user"`
	Jobs     int64   `json:"jobs"`
	Sessions int64   `json:"sessions"`
	Batches  int64   `json:"batches"`
	Waiting  int64   `json:"waiting_jobs"` // depend on the end of another job under feedback
	Think    float64 `json:"median_think"` // between batches of a session
	// Session is the median from the first submission of a session to its last.
	Session float64 `json:"median_session"`
	First   float64 `json:"first_submission"`
	Last    float64 `json:"last_submission"`
	// Weeks is the number of weeks of the log from the week of the first submission to the week of
	// the last, both counted.
	Weeks  int     `json:"weeks"`
	Work   float64 `json:"processor_hours"`
	Share  float64 `json:"share_of_work"`
	Tenure Tenure  `json:"tenure"`
}

// Survey finds the facts of a log. It keeps eight bytes for each batch and each
// session. longTerm is as in Resample.
func Survey(records iter.Seq2[*workload.Record, error], rule Rule, longTerm int) (*Facts, error) {
	// Every record is followed, so that the order of all is checked; those that count go to their user.
	f := &Facts{LongTermWeeks: orDefault(longTerm)}
	s := Splitter{Rule: rule}
	all := map[int64]*surveyed{}
	for rec, err := range records {
		if err != nil {
			return nil, err
		}
		f.Records++
		step, err := s.Next(rec)
		switch {
		case err != nil:
			return nil, err
		case !ran(rec):
			f.NotRun++
			continue
		case rec.User < 0:
			f.Nameless++
			continue
		}
		u := all[rec.User]
		if u == nil {
			u = &surveyed{first: rec.Submit}
			u.user.User = rec.User
			all[rec.User] = u
		}
		u.take(rec, step, f)
	}
	f.sum(all)
	return f, nil
}

// ByWork returns the users, those with the most work first; users with equal work come by their
// numbers.
func (f *Facts) ByWork() []user {
	all := slices.Clone(f.All)
	slices.SortStableFunc(all, func(a, b user) int { return cmp.Compare(b.Work, a.Work) })
	return all
}

// surveyed is a user of whom jobs have been read.
type surveyed struct {
	user
	first, begun, last des.Time   // submissions: the first of all, the first of the session, the latest
	size, before       int64      // jobs of the present batch, and of the one before it
	thinks, sessions   []des.Time // times to think within sessions, and lengths of sessions
}

// take takes in a job, of which step tells what it is to the user.
func (u *surveyed) take(rec *workload.Record, step step, f *Facts) {
	if step.Begins {
		u.endSession()
		u.begun = rec.Submit
	}
	if step.First {
		u.size, u.before = 0, u.size
		if step.Waits && !step.Begins {
			u.thinks = append(u.thinks, step.Think)
		}
	}
	u.size++
	f.LargestBatch = max(f.LargestBatch, u.size)
	if step.Waits {
		u.Waiting++
		if u.before > 1 {
			f.Several++
		}
	}
	u.last = rec.Submit
	u.Jobs++
	u.Sessions, u.Batches = step.Session, step.Batch
	u.Work += work(rec)
}

// endSession notes the length of the session that is over: from its first submission to its last.
func (u *surveyed) endSession() {
	if u.Jobs > 0 {
		u.sessions = append(u.sessions, u.last-u.begun)
	}
}

// work is in processor seconds, sums of which are exact where runtimes are whole.
func work(rec *workload.Record) float64 {
	size := rec.Requested
	if size <= 0 {
		size = rec.Allocated
	}
	return float64(float64(size) * rec.Runtime.Seconds())
}

// sum adds users up, those of the lowest numbers first, so that sums of floating point do not depend
// on the order of a map.
func (f *Facts) sum(all map[int64]*surveyed) {
	var thinks, sessions []des.Time
	var total float64
	for _, u := range all {
		u.endSession()
		u.First, u.Last = u.first.Seconds(), u.last.Seconds()
		u.Weeks = weekOf(u.last) - weekOf(u.first) + 1
		u.Tenure = tenure(u.Weeks, f.LongTermWeeks)
		thinks, sessions = append(thinks, u.thinks...), append(sessions, u.sessions...)
		u.Think, u.Session = quantile(u.thinks, 0.5), quantile(u.sessions, 0.5)
		f.All = append(f.All, u.user)
	}
	// What all users have done, then each one's share of it.
	slices.SortFunc(f.All, func(a, b user) int { return cmp.Compare(a.User, b.User) })
	for _, u := range f.All {
		total += u.Work
		f.Jobs, f.Sessions, f.Batches, f.Waiting = f.Jobs+u.Jobs, f.Sessions+u.Sessions, f.Batches+u.Batches, f.Waiting+u.Waiting
		if u.Tenure == LongTerm {
			f.LongTerm++
		}
	}
	for i := range f.All {
		u := &f.All[i]
		if total > 0 {
			u.Share = u.Work / total
		}
		u.Work /= des.Hour.Seconds()
	}
	f.Users = len(f.All)
	f.Temporary = f.Users - f.LongTerm
	if f.Jobs > 0 {
		f.JobsPerBatch, f.JobsPerSession = float64(f.Jobs)/float64(f.Batches), float64(f.Jobs)/float64(f.Sessions)
	}
	f.ThinkLower, f.Think, f.ThinkUpper = quantile(thinks, 0.25), quantile(thinks, 0.5), quantile(thinks, 0.75)
	f.Session = quantile(sessions, 0.5)
}

// quantile is the value of which the share q is not above it, in seconds: the mean of
// two where it is between them. It sorts.
func quantile(times []des.Time, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	at := float64(q * float64(len(times)-1))
	low := int(at)
	high := min(low+1, len(times)-1)
	return times[low].Seconds() + float64((at-float64(low))*(times[high]-times[low]).Seconds())
}
