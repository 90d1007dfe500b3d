package simulation

// Logs that are made of the users of another one, and a log with what its users waited
// for: see package users.

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/users"
)

// resampling says which log is made of another log's users; users.Resample has most of it.
type resampling struct {
	// Users is the number of users to have; 0 means as many as the log has. Load, in place of it,
	// is the load that they are to offer the machine in the mean over seeds. At most one of the two
	// is set.
	Users int
	Load  float64
	Rule  users.Rule // by which they wait for results, where there is feedback
	users.Resample
}

// of returns the users of t, read from its records, and how they are to be resampled. More users or
// a greater load are both a scale: the mean number of users over the log's.
func (r resampling) of(t *workload.Trace, from iter.Seq2[*workload.Record, error]) (*users.Pool, users.Resample, error) {
	var rule *users.Rule
	if r.Feedback {
		rule = &r.Rule
	}
	pool, err := users.NewPool(from, rule)
	if err != nil {
		return nil, r.Resample, fmt.Errorf("%s: %w", t.Name, err)
	}
	switch {
	case r.Users > 0:
		r.Scale = float64(r.Users) / float64(pool.Users())
	case r.Load > 0:
		offered, err := t.OfferedLoad()
		if err != nil {
			return nil, r.Resample, err
		}
		if offered == 0 {
			return nil, r.Resample, fmt.Errorf("%s: its jobs offer no load, and so no number of users offers %v", t.Name, r.Load)
		}
		r.Scale = r.Load / offered
	}
	return pool, r.Resample, nil
}

// resampleSource is the source of that name. It hands records over with its jobs; see recordOf.
func resampleSource() policy.Entry[Source] {
	return policy.Row(resampleName, "users of a log, recombined as Zakay and Feitelson (2014) do", func(s *policy.Settings) Source {
		path, r, all := resamplingOf(s)
		return func(seed uint64) (Generated, error) {
			t, procs, err := openUsers(path)
			if err != nil {
				return Generated{}, err
			}
			r := r
			r.Seed = seed
			pool, resample, err := r.of(t, t.Selected())
			if err != nil {
				return Generated{}, err
			}
			records, err := pool.Linked(resample)
			if err != nil {
				return Generated{}, fmt.Errorf("%s: %w", t.Name, err)
			}
			made := Generated{Processors: procs, Jobs: jobsOf(records, all), Header: r.header(t)}
			if pool.LeftOut > 0 {
				made.Warnings = append(made.Warnings, fmt.Sprintf("%d records of %s are no jobs that ran and have a user, and are left out", pool.LeftOut, t.Name))
			}
			return made, nil
		}
	})
}

// openUsers opens the log of whose users a source is made, and returns the processors of its
// machine.
func openUsers(path string) (*workload.Trace, int, error) {
	t, err := openLog(path)
	if err != nil {
		return nil, 0, err
	}
	procs, err := Processors(t)
	return t, procs, err
}

// resamplingOf declares the parameters of the source. all says that jobs tell all for which their
// users waited, not only one job of a batch.
func resamplingOf(s *policy.Settings) (path string, r resampling, all bool) {
	path = neededLog(s, "the log whose users they are")
	s.Count(&r.Users, "users", "how many as the log has users (as many)")
	given := s.Number(&r.Load, "load", "F", "as many users as offer this load in the mean (as many as the log has)")
	if given && !(r.Load > 0) || r.Users > 0 && r.Load > 0 {
		s.Fail("load", "a number above 0, and not beside users")
	}
	s.Count(&r.Weeks, "weeks", "how long the new log is (as long)")
	s.Count(&r.LongTerm, "long-term", "users whose jobs span this number of weeks stay, others come and go (12)")
	r.Together = oneOf(s, "begin", "those who stay begin with any of their weeks, or all with the first (staggered)", "staggered", "together") == 1
	r.Drawn = oneOf(s, "order", "they live through their weeks in turn, or through any (turn)", "turn", "drawn") == 1
	switch value, given := s.Given("feedback", "on|all|off", "jobs say what their users waited for, for --feedback: one job of a batch, or all; the log must tell waits (off)"); {
	case value == "all":
		r.Feedback, all = true, true
	case value == "on":
		r.Feedback = true
	case given && value != "off":
		s.Fail("feedback", "on, all or off")
	}
	r.Rule = ruleOf(s)
	return path, r, all
}

// neededLog declares the path of the log of which a source is made.
func neededLog(s *policy.Settings, text string) string {
	path, _ := s.Given(fromParam, "LOG", text)
	if path == "" {
		s.Fail(fromParam, "the path of a log, as in from=log.swf.gz")
	}
	return path
}

// oneOf declares a parameter with these values, and returns the place of its value; 0 if it is not
// given.
func oneOf(s *policy.Settings, name, text string, values ...string) int {
	value, given := s.Given(name, strings.Join(values, "|"), text)
	i := slices.Index(values, value)
	if given && i < 0 {
		s.Fail(name, strings.Join(values, " or "))
	}
	return max(i, 0)
}

// Survey says what to report about the users in a log.
type Survey struct {
	Rule     users.Rule
	LongTerm int // least number of weeks that the jobs of a long-term user span
	Top      int // how many users are listed; 0 = all
}

// Surveys returns a table with one row, whose parameters are those of a survey.
func Surveys() policy.Table[Survey] {
	return policy.Table[Survey]{policy.Row("users", "the users in a log, their sessions, batches and think times", func(s *policy.Settings) Survey {
		v := Survey{LongTerm: 12, Top: 10}
		s.Count(&v.LongTerm, "long-term", "users whose jobs span this number of weeks are long-term users, others temporary (12)")
		countOrAll(s, &v.Top, "top", "how many users are listed, those with the most work first (10)")
		v.Rule = ruleOf(s)
		return v
	})}
}

// ruleOf declares by which rule users wait for results. A limit of 0 leaves it to the rule: 20
// minutes, or an hour between gaps.
func ruleOf(s *policy.Settings) (r users.Rule) {
	if oneOf(s, "break", "what ends a session (think)", "think", "gap") == 1 {
		r.Break = users.GapBreak
	}
	if s.Time(&r.Limit, "limit", "how long a break is, at least (20m; of gaps 1h)") && r.Limit == 0 {
		s.Fail("limit", "a time above 0, as in 20m")
	}
	if oneOf(s, "batch", "what has ended before the next batch (previous)", "previous", "whole") == 1 {
		r.Batch = users.WholeBatch
	}
	s.OnOff(&r.Across, "across", "sessions wait for the one before, too (off)")
	s.OnOff(&r.NoWait, "no-wait", "jobs without a wait did not wait (off)")
	return r
}

// feedbackSource is the source of that name: a log whose users wait for all jobs of the batch
// before, for which fields 17 and 18 have no room.
func feedbackSource() policy.Entry[Source] {
	return policy.Row(feedbackName, "a log whose users wait for all jobs of the batch before, for --feedback; the log must tell waits", func(s *policy.Settings) Source {
		path, rule := neededLog(s, "the log"), ruleOf(s)
		return func(uint64) (Generated, error) {
			t, procs, err := openUsers(path)
			if err != nil {
				return Generated{}, err
			}
			for _, err := range users.Feedback(t.Selected(), rule) { // what is wrong is told before anything is simulated
				if err != nil {
					return Generated{}, fmt.Errorf("%s: %w", t.Name, err)
				}
			}
			return Generated{Processors: procs, Jobs: waitingJobs(t, rule), Header: t.Header.Clone()}, nil
		}
	})
}

// waitingJobs yields jobs that stand for the records of a log, with all for which their users
// waited. Errors were told when the source was opened, by a first reading.
func waitingJobs(t *workload.Trace, rule users.Rule) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		s := users.Splitter{Rule: rule}
		for rec, err := range t.Selected() {
			if err != nil {
				return
			}
			step, err := s.Next(rec)
			if err != nil || !yield(jobOf(step.Linked(rec), step.After)) {
				return
			}
		}
	}
}

// jobsOf yields jobs that stand for records, with all for which their users wait or, unless all is
// set, with no more than fields 17 and 18 tell.
func jobsOf(records iter.Seq2[*workload.Record, []entity.Dependency], all bool) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		for rec, after := range records {
			if !all {
				after = nil
			}
			if !yield(jobOf(rec, after)) {
				return
			}
		}
	}
}

// jobOf returns a job that stands for a record: it only carries it to recordOf.
func jobOf(rec *workload.Record, after []entity.Dependency) *entity.Job {
	return &entity.Job{ID: rec.Job, Submit: rec.Submit, After: after, Extra: rec}
}

// recordOf returns the record as which a job of a source is written down: the record for which the
// job stands, or else what the job says.
func recordOf(j *entity.Job) workload.Record {
	if rec, ok := j.Extra.(*workload.Record); ok {
		return *rec
	}
	return workload.RecordOf(j)
}

// Sources that are made of a log name it in the parameter fromParam.
const resampleName, feedbackName, fromParam = "resample", "feedback", "from"

// header returns the header of a log made of t's users, whose numbers are new: all that t's header
// says but the names of users.
func (r *resampling) header(t *workload.Trace) *workload.Header {
	h := &workload.Header{Columns: slices.Clone(t.Header.Columns)}
	h.Add("Version", "2.2")
	h.Add("Computer", "users of "+t.Name+", resampled")
	for _, number := range []struct {
		key   string
		value int64
	}{{"MaxNodes", t.Header.MaxNodes}, {"MaxProcs", int64(t.MaxProcs)}, {"UnixStartTime", t.Header.UnixStartTime}} {
		if number.value > 0 {
			h.Add(number.key, strconv.FormatInt(number.value, 10))
		}
	}
	if t.Header.TimeZone != "" {
		h.Add("TimeZoneString", t.Header.TimeZone)
	}
	for _, field := range workload.NamedFields {
		if field != workload.FieldUser {
			for number, name := range t.Header.Names(field).All() {
				h.Names(field).Set(number, name)
			}
		}
	}
	return h
}
