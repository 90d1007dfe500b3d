package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/users"
)

// This file is about the users in a log: what is known of them, what they wait for, and
// other logs that are made of them.

// addRule defines the flags that say how the jobs of a user are cut up.
func addRule(cmd *cobra.Command, r *users.Rule) {
	f := cmd.Flags()
	parsedFlag(cmd, &r.Break, "break", "think", "think|gap", "what ends a session: a long time from the end of a job, or from its submission, to the next submission", users.ParseBreak)
	parsedFlag(cmd, &r.Limit, "limit", "", "TIME", "how long a break is, at least (default: 20m, of gaps 1h)", optional(parseLength))
	parsedFlag(cmd, &r.Batch, "batch", "previous", "previous|whole", "what has ended before the next batch begins: the job before, or the whole batch", users.ParseBatch)
	f.BoolVar(&r.Across, "across", false, "sessions wait for the one before, too; otherwise they begin by the clock")
	f.BoolVar(&r.NoWait, "no-wait", false, "jobs of which the log tells no wait did not wait; otherwise that is an error")
}

// parseLength reads a time above 0.
func parseLength(text string) (des.Time, error) {
	s, err := des.ParseSeconds(text)
	if err == nil && !(des.Seconds(s) > 0) {
		err = fmt.Errorf("want a time above 0, not %q", text)
	}
	return des.Seconds(s), err
}

const ruleHelp = `A job joins the batch of the one before where that has not ended when it is submitted.
A session goes on until a break. Where ends count, the log must tell waits: logs that
were made by simulations, and some of the archive, do not.`

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

func newTraceUsers(t *scenario.Tables) *cobra.Command {
	var rule users.Rule
	var format string
	var longTerm, top int
	cmd := &cobra.Command{
		Use:   "users TRACE",
		Short: "Tell who is in a log: users, their sessions, batches and think times",
		Long: `Tell who is in a log: users, their sessions, batches and think times.
` + ruleHelp,
		Example: "  gridslot trace users KTH-SP2-1996-2.1-cln.swf.gz --format csv > users.csv",
		Args:    arguments(1, 1, "TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case longTerm < 1:
				return usagef("--long-term must be 1 week or more, not %d", longTerm)
			case top < 0:
				return usagef("--top must not be negative: %d", top)
			}
			trace, err := openLog(cmd, t, args[0], nil)
			if err != nil {
				return err
			}
			facts, err := users.Survey(within(cmd.Context(), trace.Selected()), rule, longTerm)
			if err != nil {
				return about(trace, err)
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
			return tellUsers(shown{cmd.OutOrStdout()}, trace.Name, facts, top)
		},
	}
	addSetting(cmd, t, "from", "sort", "strict")
	addRule(cmd, &rule)
	cmd.Flags().IntVar(&longTerm, "long-term", 12, "users whose jobs span so many weeks are long-term ones, others temporary")
	cmd.Flags().IntVar(&top, "top", 10, "how many users a table lists, those with the most work first; 0 = all")
	parsedFlag(cmd, &format, "format", "table", "table|csv|json", "of the output", oneOf("table|csv|json"))
	return cmd
}

// about is an error with the log that it is about in front.
func about(t *workload.Trace, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", t.Name, err)
}

func newTraceFeedback(t *scenario.Tables) *cobra.Command {
	c := conversion{tables: t}
	var rule users.Rule
	cmd := &cobra.Command{
		Use:   "feedback TRACE OUT",
		Short: "Fill in what users waited for (fields 17 and 18), for simulate --feedback",
		Long: `Fill in what users waited for: the preceding job and the think time (fields 17 and
18), which simulate --feedback goes by. What stood there is lost. The jobs of a batch
wait for one job of the batch before. The format has no room for more: where that
batch had several jobs, a simulation does not wait for those that end later there.
` + ruleHelp,
		Example: `  gridslot trace feedback log.swf.gz linked.swf.gz
  gridslot simulate linked.swf.gz --feedback`,
		Args: arguments(2, 2, "TRACE OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.through = func(trace *workload.Trace, records iter.Seq2[*workload.Record, error]) iter.Seq2[*workload.Record, error] {
				return naming(trace, users.Feedback(records, rule))
			}
			return c.run(cmd, args[0], args[1])
		},
	}
	addSetting(cmd, t, "from", "sort", "strict")
	c.addTarget(cmd)
	addRule(cmd, &rule)
	return cmd
}

// naming has errors name the log.
func naming(t *workload.Trace, records iter.Seq2[*workload.Record, error]) iter.Seq2[*workload.Record, error] {
	return func(yield func(*workload.Record, error) bool) {
		for rec, err := range records {
			if !yield(rec, about(t, err)) {
				return
			}
		}
	}
}

func newTraceResample(t *scenario.Tables) *cobra.Command {
	c := conversion{tables: t}
	var r scenario.Resampling
	cmd := &cobra.Command{
		Use:   "resample TRACE OUT",
		Short: "Make another log of the users of one, of any length and with any number of users",
		Long: `Make another log of the users of one, as Zakay and Feitelson (2014) do. Users are
moved by whole weeks, so that weekdays, times of day and everything that a user does
stay. Long-term users are there all the time, and begin again after their last
week; temporary users come at random, at the rate of the log. There are as many as in
the log, or N/M times as many where it has M and N are asked for: so the load rises and
falls, while sizes and runtimes stay. What the papers leave open is our reading.
With --feedback jobs say what their users waited for, as "trace feedback" has it.
` + ruleHelp,
		Example: `  gridslot trace resample log.swf.gz year.swf.gz --weeks 52 --seed 7
  gridslot trace resample log.swf.gz busy.swf.gz --load 0.9 --feedback
  gridslot simulate resample:from=log.swf.gz:load=0.9:feedback=on --feedback --seed 7`,
		Args: arguments(2, 2, "TRACE OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			switch {
			case given("load") && !positive(r.Load):
				return usagef("--load must be a number above 0, not %v", r.Load)
			case given("users") && r.Users < 1:
				return usagef("--users must be 1 or more, not %d", r.Users)
			case given("weeks") && r.Weeks < 1:
				return usagef("--weeks must be 1 or more, not %d", r.Weeks)
			case r.LongTerm < 1:
				return usagef("--long-term must be 1 week or more, not %d", r.LongTerm)
			case r.Users > 0 && r.Load > 0:
				return usagef("give --users or --load, not both: how many users there are says what they offer")
			}
			c.made = func(trace *workload.Trace) (*workload.Header, iter.Seq[*workload.Record], error) {
				pool, resample, err := r.Of(trace, within(cmd.Context(), trace.Selected()))
				if err != nil {
					return nil, nil, err
				}
				records, err := pool.Records(resample)
				if err != nil {
					return nil, nil, about(trace, err)
				}
				if pool.LeftOut > 0 {
					teller(cmd.ErrOrStderr())("%s: %d records are no jobs that ran and have a user, and are left out", trace.Name, pool.LeftOut)
				}
				return r.Header(trace), records, nil
			}
			return c.run(cmd, args[0], args[1])
		},
	}
	f := cmd.Flags()
	f.IntVar(&r.Users, "users", 0, "how many as the log has users (default: as many)")
	f.Float64Var(&r.Load, "load", 0, "so many users as offer this load, in the mean over seeds, in place of --users")
	f.IntVar(&r.Weeks, "weeks", 0, "how long the new log is (default: as long as the old one)")
	f.Uint64Var(&r.Seed, "seed", 1, "seed of all random numbers")
	f.IntVar(&r.LongTerm, "long-term", 12, "users whose jobs span so many weeks stay, others come and go")
	f.BoolVar(&r.Together, "together", false, "those who stay begin with the first of their weeks, instead of any")
	f.BoolVar(&r.Drawn, "drawn", false, "those who stay live through any of their weeks, instead of in their order")
	f.BoolVar(&r.Feedback, "feedback", false, "fill in what users waited for; the log must tell waits")
	addSetting(cmd, t, "from", "sort", "strict", "procs")
	c.addTarget(cmd)
	addRule(cmd, &r.Rule)
	return cmd
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
		fmt.Fprintf(t, "... and %d more (--top 0 lists all)\n", left)
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
