package validate

// Jobs that wait for others.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// fate is the known end of a job that others wait for. It is a value of the feeders: the Validator
// fills it in as jobs come and go, a fileChecker from the rows of the file.
type fate struct {
	// submitted is when the job was submitted; known of every job with a fate.
	submitted des.Time
	// over reports that the job has ended or was rejected, well that it ran to its own end.
	// Invariant: well implies over.
	over, well bool
	// end is the instant at which the job was over. It is below 0 if nobody tells.
	end des.Time
}

// turn is when a job that waits for others may come. Invariant: the job never comes if vain.
type turn struct {
	at    des.Time // the earliest instant that follows from what is known
	exact bool     // everything is known: the job comes at this instant
	vain  bool     // a job that it was to follow has not finished well
}

// turnOf works out when p may come, which waits for the jobs of after, and checks that p, if it
// began, did not start before. of returns what is known of a job by its ID; nothing follows from a
// job of which nothing is known.
func (c *checker) turnOf(p *party, began bool, after []entity.Dependency, of func(id int64) (fate, bool)) turn {
	t := turn{exact: true}
	early := func(format string, args ...any) {
		if began {
			c.violation(p, BeforeItsTurn, p.start, format, args...)
		}
	}
	for _, d := range after {
		// from is the instant from which the think time counts: the submission of the other job,
		// or its end.
		before, known := of(d.Job)
		from := before.submitted
		if !d.Submitted {
			from = before.end
			switch {
			case !known:
			case !before.over:
				early("started before the end of job %d, which it follows", d.Job)
				known = false
			case d.OK && !before.well:
				early("started, though job %d has not finished well", d.Job)
				t.vain = true
			}
		}
		if known && from >= 0 {
			t.at = max(t.at, from.Add(d.Think))
		} else {
			t.exact = false
		}
	}
	if p.start < t.at {
		early("started before %v, when those that it follows have ended", t.at)
	}
	return t
}

// follows checks that f, which starts, has waited for the jobs that it follows.
func (v *Validator) follows(f *followed) {
	v.c.turnOf(&f.party, true, f.job.After, func(id int64) (fate, bool) {
		before, known := v.fates[id]
		return before, known
	})
}

// follow checks the jobs that wait for others, and gives each, in a copy of the job, the
// submission that the file tells. It runs before all other checks of rows.
func (c *fileChecker) follow() {
	for _, f := range c.jobs {
		if f.row == nil {
			continue
		}
		// Phase 1: the column names the jobs of the trace.
		elsewhere := func(d entity.Dependency) bool { return c.byID[d.Job] == nil } // in a part that was not taken
		given := slices.DeleteFunc(slices.Clone(f.job.After), elsewhere)
		if given != nil && f.after.given && !slices.Equal(given, slices.DeleteFunc(slices.Clone(f.after.value), elsewhere)) {
			c.violation(f, Disagreement, f.submit, "%s has other jobs than those that it was to wait for", colAfter)
		}
		// Phase 2: the job came when the last of them had ended, or was submitted, with its think
		// time. Without Feedback it did not come before its own submission either.
		if len(f.after.value) == 0 {
			continue
		}
		c.followers = true
		came := c.turnOf(c.partyOf(f), f.began(), f.after.value, c.fateOf)
		f.failed = came.vain
		if !c.Feedback {
			came.at = max(came.at, f.job.Submit)
		}
		if came.exact && f.state != stateRejected && f.submit != came.at {
			c.violation(f, Disagreement, f.submit, "%s is %v, and those that it follows have ended at %v", colSubmit, f.submit, came.at)
		}
		j := *f.job
		j.Submit = f.submit
		f.job = &j
	}
}

// fateOf returns what the file says of a job that others wait for. It does not tell when a job was
// rejected, nor how a job ends that had not ended when the run was stopped.
func (c *fileChecker) fateOf(id int64) (fate, bool) {
	f := c.byID[id]
	if f == nil || f.row == nil {
		return fate{}, false
	}
	if !f.ended() {
		return fate{submitted: f.submit, over: f.state == stateRejected, end: -1}, true
	}
	return fate{f.submit, true, f.state == stateFinished, f.finish}, true
}

// parseAfter reads "12 13:ok 14+30 15:submitted": jobs by their IDs, with ":ok" those that must
// have finished well, with ":submitted" those whose submission counts, and with "+30" the think
// time.
func parseAfter(s string) (all []entity.Dependency, err error) {
	for text := range strings.FieldsSeq(s) {
		d, id, think, thinks := entity.CutDependency(text)
		if d.Job, err = strconv.ParseInt(id, 10, 64); err != nil {
			return nil, fmt.Errorf("%q is none of jobs such as 12 or 13:ok or 14+30 or 15:submitted", text)
		}
		if thinks {
			if d.Think, err = parseTime(think); err != nil {
				return nil, err
			}
		}
		all = append(all, d)
	}
	return all, nil
}
