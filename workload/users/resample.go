package users

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/workload"
)

// weekLength is the step by which users are moved, so that everybody keeps weekdays and times of
// day.
const weekLength = 7 * des.Day

// weekOf is the week of the log, which begins at its time 0.
func weekOf(at des.Time) int { return int(at / weekLength) }

// Tenure is the kind of a user's stay.
type Tenure uint8

const (
	// temporary users come, do what they came for, and leave.
	temporary Tenure = iota
	// LongTerm users are always there.
	LongTerm
)

var tenures = enum.Of[Tenure]("tenure", "temporary", "long-term")

func (t Tenure) String() string { return tenures.Name(t) }

// MarshalText writes the name.
func (t Tenure) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// longTermWeeks is the default of Resample.LongTerm.
const longTermWeeks = 12

// orDefault is a number of weeks, or the default for 0.
func orDefault(longTerm int) int {
	if longTerm > 0 {
		return longTerm
	}
	return longTermWeeks
}

// tenure is the tenure of a user whose jobs span that many weeks.
func tenure(weeks, longTerm int) Tenure {
	if weeks >= longTerm {
		return LongTerm
	}
	return temporary
}

// Pool is the users of a log, each with all jobs. They are kept in memory, some 200
// bytes for each job.
type Pool struct {
	// jobs counts the jobs of users, LeftOut the records that are none.
	jobs, LeftOut int64

	users       []*source // in the order of their first jobs
	first, last des.Time  // submission
	linked      bool      // there was a rule: jobs know what they waited for
}

// source is a user of the log.
type source struct {
	number int64
	jobs   []job // in order of submission
	weeks  int   // from the first job's to the last one's, both counted
	from   int   // the week of the log that is the first of them
	waited int   // the position of the job that the latest batch waits for
	begun  int   // that of the first job of the latest batch
}

// job is a record with positions among its user's: of the job that it waits for, or none,
// and of the first job of its batch.
type job struct {
	workload.Record
	before, batch int
}

// none is the position of no job, and the week of a visitor who has not come yet.
const none = -1

// NewPool reads the users of a log. With a rule it finds what their jobs wait for,
// which Resample.Feedback needs, and the log must tell waits for.
func NewPool(records iter.Seq2[*workload.Record, error], rule *Rule) (*Pool, error) {
	p := &Pool{linked: rule != nil}
	s := Splitter{Rule: Rule{NoWait: true}} // of which only the order counts
	if rule != nil {
		s.Rule = *rule
	}
	all := map[int64]*source{}
	for rec, err := range records {
		if err != nil {
			return nil, err
		}
		step, err := s.Next(rec)
		if err != nil {
			return nil, err
		}
		if !counts(rec) {
			p.LeftOut++
			continue
		}
		u := all[rec.User]
		if u == nil {
			u = &source{number: rec.User, from: weekOf(rec.Submit)}
			all[rec.User] = u
			p.users = append(p.users, u)
		}
		if p.jobs == 0 {
			p.first = rec.Submit
		}
		p.last = rec.Submit
		p.jobs++
		u.add(rec, step, p.linked)
	}
	switch {
	case p.jobs == 0:
		return nil, errors.New("it has no job that ran and has a user, and so there is nobody to take for another log")
	case p.last-p.first < weekLength:
		return nil, fmt.Errorf("its submissions span %v s, and users are moved by whole weeks: take a log of a week or more", p.last-p.first)
	}
	return p, nil
}

// add takes in the user's next job, of which step tells what it is.
func (u *source) add(rec *workload.Record, step step, linked bool) {
	if step.First {
		u.begun = len(u.jobs)
	}
	j := job{Record: *rec.Clone(), before: none, batch: u.begun}
	if linked && step.Waits {
		if step.First {
			u.find(step.Preceding)
		}
		j.before = u.waited
	}
	u.jobs = append(u.jobs, j)
	u.weeks = weekOf(rec.Submit) - u.from + 1
}

// find looks for a job of the batch before, which are the latest.
func (u *source) find(job int64) {
	u.waited = len(u.jobs) - 1
	for u.jobs[u.waited].Job != job {
		u.waited--
	}
}

// Users returns the number of users in the pool.
func (p *Pool) Users() int { return len(p.users) }

// Resample tells how to make a new log from the users of another log.
//
// Long-term users are there from the beginning to the end: each is a user of the log
// that lives through its weeks from any of them on, in their order, and begins again
// after the last. Temporary users come at a rate, at random, and live through
// their weeks once. Weeks are moved as wholes, and so are users: what a user does within
// one, when in the week, and how jobs follow on each other, stays.
//
// How many long-term users are there, and how many temporary ones come a week, are the
// means of the log, times Scale. A long-term user is drawn by drawing one of all weeks
// in which any is there, a temporary one by drawing one of them, always of all. So a
// job of the log comes as often as another one, Scale times in as much time, whatever
// user's it is.
type Resample struct {
	// Weeks is the length of the new log in weeks; 0 means the length of the log from which the
	// users come.
	Weeks int
	// Scale is the number of users of the new log for each user of the old one. It changes the load
	// and leaves the jobs as they are. 0 means 1.
	Scale float64
	// LongTerm is the least number of weeks from the first to the last job of a long-term user; 0
	// means 12, a number that could not be checked against the paper.
	LongTerm int
	// Together makes all long-term users begin with the first of their weeks. Otherwise each begins
	// with any of them.
	Together bool
	// Drawn makes long-term users live through weeks that are drawn one by one from their own.
	// Otherwise the weeks keep their order. Drawn weeks mix users more, and lose what lasts longer
	// than a week.
	Drawn bool
	// Feedback fills in fields 17 and 18, by the rule with which the pool was read. If a job waited
	// for a job of an earlier week, and the weeks of the two do not follow each other in the new
	// log as in the old one, the job waits for nothing.
	Feedback bool
	Seed     uint64
}

// Bounds of what is asked for: three thousand years, and a thousand users for each.
const (
	mostWeeks = 156_000
	mostScale = 1000
)

// Linked are the records of the new log, in order of submission. Jobs and users are numbered
// anew from 1; waits are unknown, as nobody knows them yet. Each range yields the same
// records, and a longer log of the same seed begins like a shorter one. A record is
// valid until the next one is asked for. Memory is taken for the users who are there, and
// the jobs of one week. With Feedback a record has with it what its user waits for in full,
// see step.After.
func (p *Pool) Linked(r Resample) (iter.Seq2[*workload.Record, []entity.Dependency], error) {
	switch {
	case r.Weeks < 0 || r.Weeks > mostWeeks:
		return nil, fmt.Errorf("a log can have 1 to %d weeks, not %d", mostWeeks, r.Weeks)
	case !(r.Scale >= 0 && r.Scale <= mostScale):
		return nil, fmt.Errorf("there can be up to %d users for each one of the log, not %v", mostScale, r.Scale)
	case r.LongTerm < 0:
		return nil, fmt.Errorf("long-term users must span 1 week or more, not %d", r.LongTerm)
	case r.Feedback && !p.linked:
		return nil, errors.New("the users were read without a rule by which they wait for results")
	}
	if r.Weeks == 0 {
		r.Weeks = weekOf(p.last) - weekOf(p.first) + 1
	}
	if r.Scale == 0 {
		r.Scale = 1
	}
	// A week at a time: who comes, what those who are there do.
	return func(yield func(*workload.Record, []entity.Dependency) bool) {
		c := p.crowd(r)
		for week := range r.Weeks {
			c.comeTo(week)
			for rec, after := range c.week(week) {
				if !yield(rec, after) {
					return
				}
			}
		}
	}, nil
}

// crowd is the users of the new log.
type crowd struct {
	Resample
	temporary []*source  // those of the old log, of whom one is drawn for each who comes
	rate      float64    // how many temporary users come in a week, on average
	there     []*visitor // the users of this week, in the order in which they have come
	come      int64      // users so far, by which they are numbered
	jobs      int64      // jobs so far, by which they are numbered
	due       []due      // the jobs of this week
}

// visitor is a user of the new log, who is a user of the old one.
type visitor struct {
	*source
	number int64
	tenure Tenure
	begins int           // temporary: the week of the new log that has the first week
	offset int           // long-term: the week of the source that week 0 has
	at     int           // the week of the source that came last, or none
	given  map[int]int64 // new numbers of jobs that others may wait for, by their positions
}

// due is a job of the week at hand.
type due struct {
	submit des.Time
	by     *visitor
	pos    int // among the user's
}

// crowd returns the users who are present when the new log begins: long-term users, as many as were
// present on average in a week of the old log, and temporary users who came in the weeks before.
func (p *Pool) crowd(r Resample) *crowd {
	c := &crowd{Resample: r}
	weeks := float64(p.last-p.first) / float64(weekLength)
	var longTerm []*source
	var present int64 // weeks in which long-term users are there
	longest := 0      // weeks of a temporary one
	for _, u := range p.users {
		if tenure(u.weeks, orDefault(r.LongTerm)) == LongTerm {
			longTerm = append(longTerm, u)
			present += int64(u.weeks)
		} else {
			c.temporary = append(c.temporary, u)
			longest = max(longest, u.weeks)
		}
	}
	c.rate = float64(r.Scale * float64(len(c.temporary)) / weeks)
	if present > 0 {
		// The mean is no whole number: its fraction is the probability of one more. A draw among all
		// weeks of long-term users gives a user, each in proportion to the weeks, and the week with
		// which that user begins.
		random := des.NewStream(r.Seed, 0, "workload/users/long-term")
		mean := float64(r.Scale * float64(present) / weeks)
		n := int64(mean)
		if random.Float64() < mean-math.Floor(mean) {
			n++
		}
		for range n {
			k := int(random.Int64N(present))
			for _, u := range longTerm {
				if k < u.weeks {
					if r.Together {
						k = 0
					}
					c.join(&visitor{source: u, tenure: LongTerm, offset: k})
					break
				}
				k -= u.weeks
			}
		}
	}
	// Those who came before the beginning are still there.
	for week := 1 - longest; week < 0; week++ {
		c.comeTo(week)
	}
	return c
}

// join adds a user of the new log.
func (c *crowd) join(v *visitor) {
	c.come++
	v.number, v.at, v.given = c.come, none, map[int]int64{}
	c.there = append(c.there, v)
}

// comeTo has temporary users come in a week, as a Poisson process has them.
func (c *crowd) comeTo(week int) {
	random := des.NewStream(c.Seed, 0, "workload/users/temporary", uint64(int64(week)))
	if c.rate == 0 {
		return
	}
	// Exponential gaps of mean 1 up to rate: a number with the distribution of Poisson of that mean.
	for at := random.ExpFloat64(); at < c.rate; at += random.ExpFloat64() {
		u := c.temporary[random.IntN(len(c.temporary))]
		if week+u.weeks > 0 {
			c.join(&visitor{source: u, begins: week})
		}
	}
}

// week yields the jobs of a week, in order of submission; jobs of one instant in the order in which
// their users have come.
func (c *crowd) week(week int) iter.Seq2[*workload.Record, []entity.Dependency] {
	c.due = c.due[:0]
	c.there = slices.DeleteFunc(c.there, func(v *visitor) bool { return v.tenure == temporary && week-v.begins >= v.weeks })
	for _, v := range c.there {
		v.moveTo(v.lives(week, &c.Resample))
		from, to := v.span(v.at)
		shift := des.Time(week-(v.from+v.at)) * weekLength
		for pos := from; pos < to; pos++ {
			c.due = append(c.due, due{v.jobs[pos].Submit + shift, v, pos})
		}
	}
	slices.SortFunc(c.due, func(a, b due) int {
		return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.by.number, b.by.number), cmp.Compare(a.pos, b.pos))
	})
	return func(yield func(*workload.Record, []entity.Dependency) bool) {
		for _, d := range c.due {
			c.jobs++
			if !yield(d.record(c.jobs, c.Feedback)) {
				return
			}
		}
	}
}

// lives is the week of the source that a user has in a week of the new log.
func (v *visitor) lives(week int, r *Resample) int {
	switch {
	case v.tenure == temporary:
		return week - v.begins
	case r.Drawn:
		return des.NewStream(r.Seed, 0, "workload/users/weeks", uint64(v.number), uint64(week)).IntN(v.weeks)
	}
	return (v.offset + week) % v.weeks
}

// moveTo forgets what nobody can wait for any more, where the week is not the one behind
// the week before.
func (v *visitor) moveTo(week int) {
	if week != v.at+1 {
		clear(v.given)
	}
	v.at = week
}

// span are the positions of the jobs of a week of the source.
func (u *source) span(week int) (from, to int) {
	begin := des.Time(u.from+week) * weekLength
	from = sort.Search(len(u.jobs), func(i int) bool { return u.jobs[i].Submit >= begin })
	to = sort.Search(len(u.jobs), func(i int) bool { return u.jobs[i].Submit >= begin+weekLength })
	return from, to
}

// record is the job under its new number, with what it comes after.
func (d *due) record(number int64, feedback bool) (*workload.Record, []entity.Dependency) {
	j := &d.by.jobs[d.pos]
	rec := j.Record
	rec.Job, rec.User, rec.Submit, rec.Wait = number, d.by.number, d.submit, workload.UnknownTime
	rec.Preceding, rec.ThinkTime = workload.Unknown, workload.UnknownTime
	if !feedback {
		return &rec, nil
	}
	d.by.given[d.pos] = number
	if j.before == none {
		return &rec, nil
	}
	if before, there := d.by.given[j.before]; there {
		rec.Preceding, rec.ThinkTime = before, j.Submit-d.by.jobs[j.before].end()
	}
	return &rec, d.after(j)
}

// after is step.After under the new numbers, of those that are there.
func (d *due) after(j *job) []entity.Dependency {
	if j.batch < d.pos {
		first, there := d.by.given[j.batch]
		if !there {
			return nil
		}
		return []entity.Dependency{{Job: first, Submitted: true, Think: j.Submit - d.by.jobs[j.batch].Submit}}
	}
	var before []ending
	for pos := d.by.jobs[j.before].batch; pos < d.pos; pos++ {
		if number, there := d.by.given[pos]; there {
			before = append(before, ending{number, d.by.jobs[pos].end()})
		}
	}
	return afterAll(before, j.Submit)
}

// end is when the job ended in its log.
func (j *job) end() des.Time { return j.Submit.Add(max(j.Wait, 0)).Add(j.Runtime) }
