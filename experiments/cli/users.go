package cli

// Who is in a log: trace info --users.

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload/users"
)

// surveyUsers tells who is in a log: users, their sessions, batches and think times.
func surveyUsers(cmd *cobra.Command, tables *simulation.Tables, path, format string, s simulation.Survey) error {
	trace, err := openLog(cmd, tables, path, nil)
	if err != nil {
		return err
	}
	found := surveyedUsers{Trace: trace.Name, most: s.Top}
	found.Facts, err = users.Survey(within(cmd.Context(), trace.Selected()), s.Rule, s.LongTerm)
	if err != nil {
		return fmt.Errorf("%s: %w", trace.Name, err)
	}
	return tell(cmd, format, &found)
}

// surveyedUsers is the output of `gridslot trace info --users`.
type surveyedUsers struct {
	Trace string `json:"trace"`
	*users.Facts
	most int // users in the table; 0 is all
}

func (f *surveyedUsers) writeTable(p page) error {
	p.fact("trace", "%s", f.Trace)
	p.fact("jobs", "%d of %d records (%d did not run, %d of nobody)", f.Jobs, f.Records, f.NotRun, f.Nameless)
	p.fact("users", "%d: %d long-term (%d weeks or more), %d temporary", f.Users, f.LongTerm, f.LongTermWeeks, f.Temporary)
	p.fact("sessions", "%d, of %.1f jobs; median length %s s", f.Sessions, f.JobsPerSession, seconds(f.Session))
	p.fact("batches", "%d, of %.1f jobs; largest %d", f.Batches, f.JobsPerBatch, f.LargestBatch)
	p.fact("think times", "quartiles %s, %s, %s s", seconds(f.ThinkLower), seconds(f.Think), seconds(f.ThinkUpper))
	p.fact("under feedback", "%d jobs wait for others, %d of them for more than one, of which the format names one", f.Waiting, f.Several)
	all := f.ByWork()
	if f.most > 0 && len(all) > f.most {
		all = all[:f.most]
	}
	if len(all) == 0 {
		return nil
	}
	p.row()
	p.row("user", "jobs", "sessions", "batches", "median think", "weeks", "share of work", "")
	for _, u := range all {
		p.fact(strconv.FormatInt(u.User, 10), "%d\t%d\t%d\t%s\t%d\t%s\t%v", u.Jobs, u.Sessions, u.Batches, seconds(u.Think), u.Weeks, percent(u.Share), u.Tenure)
	}
	if left := f.Users - len(all); left > 0 {
		return p.say("... and %d more (--users=top=all lists all)\n", left)
	}
	return nil
}

// csvRows has a row for each user, in the order of their numbers.
func (f *surveyedUsers) csvRows() [][]string {
	rows := [][]string{{
		"user", "jobs", "sessions", "batches", "waiting_jobs", "median_think", "median_session",
		"first_submission", "last_submission", "weeks", "processor_hours", "share_of_work", "tenure",
	}}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, u := range f.All {
		rows = append(rows, []string{
			whole(u.User), whole(u.Jobs), whole(u.Sessions), whole(u.Batches), whole(u.Waiting), seconds(u.Think), seconds(u.Session),
			seconds(u.First), seconds(u.Last), strconv.Itoa(u.Weeks), seconds(u.Work), seconds(u.Share), u.Tenure.String(),
		})
	}
	return rows
}
