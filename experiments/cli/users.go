package cli

// Who is in a log: trace info --users.

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/users"
)

// within is records as long as ctx lasts.
func within(ctx context.Context, records iter.Seq2[*workload.Record, error]) iter.Seq2[*workload.Record, error] {
	return func(yield func(*workload.Record, error) bool) {
		for rec, err := range records {
			if ctx.Err() != nil {
				rec, err = nil, ctx.Err()
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// surveyUsers tells who is in a log: users, their sessions, batches and think times.
func surveyUsers(cmd *cobra.Command, tables *simulation.Tables, path, format string, s simulation.Survey) error {
	trace, err := openLog(cmd, tables, path, nil)
	if err != nil {
		return err
	}
	facts, err := users.Survey(within(cmd.Context(), trace.Selected()), s.Rule, s.LongTerm)
	if err != nil {
		return fmt.Errorf("%s: %w", trace.Name, err)
	}
	switch format {
	case "json":
		return writeJSON(cmd.OutOrStdout(), struct {
			Trace string `json:"trace"`
			*users.Facts
		}{trace.Name, facts})
	case "csv":
		return writeUsers(cmd.OutOrStdout(), facts)
	}
	return tellUsers(shown{cmd.OutOrStdout()}, trace.Name, facts, s.Top)
}

// tellUsers writes facts for people.
func tellUsers(w io.Writer, name string, f *users.Facts, top int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	row("trace", "%s", name)
	row("jobs", "%d of %d records (%d did not run, %d of nobody)", f.Jobs, f.Records, f.NotRun, f.Nameless)
	row("users", "%d: %d long-term (%d weeks or more), %d temporary", f.Users, f.LongTerm, f.LongTermWeeks, f.Temporary)
	row("sessions", "%d, of %.1f jobs; median length %s s", f.Sessions, f.JobsPerSession, seconds(f.Session))
	row("batches", "%d, of %.1f jobs; largest %d", f.Batches, f.JobsPerBatch, f.LargestBatch)
	row("think times", "quartiles %s, %s, %s s", seconds(f.ThinkLower), seconds(f.Think), seconds(f.ThinkUpper))
	row("under feedback", "%d jobs wait for others, %d of them for more than one, of which the format names one", f.Waiting, f.Several)
	if err := t.Flush(); err != nil {
		return err
	}
	all := f.ByWork()
	if top > 0 && len(all) > top {
		all = all[:top]
	}
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(t, "\nuser\tjobs\tsessions\tbatches\tmedian think\tweeks\tshare of work\t")
	for _, u := range all {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%s\t%d\t%.1f%%\t%v\n", u.User, u.Jobs, u.Sessions, u.Batches, seconds(u.Think), u.Weeks, 100*u.Share, u.Tenure)
	}
	if left := f.Users - len(all); left > 0 {
		fmt.Fprintf(t, "... and %d more (--users=top=all lists all)\n", left)
	}
	return t.Flush()
}

// writeUsers writes a row for each user, in the order of their numbers.
func writeUsers(w io.Writer, f *users.Facts) error {
	c := csv.NewWriter(w)
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
	return c.WriteAll(rows)
}
