package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/internal/interrupt"
	"github.com/gridslot/gridslot/metrics/explain"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/metrics/results"
)

// newExplain is `gridslot explain`: the story of a job, or the schedule as text. Both are made of
// the files of a folder alone, so that they can be asked for long after the run.
func newExplain() *cobra.Command {
	var policy string
	var width int
	cmd := &cobra.Command{
		Use:   "explain DIR [JOB]",
		Short: "Tell why a job started when it did, or did not; draw a small schedule as text",
		Long: `Tell why a job waited, from decision to decision, and how its wait ended. DIR has the
files of simulate --decisions --out DIR. Without --policy the answer is for every
policy in DIR. The exit code is 1 if there is no answer.

Without JOB the command draws the schedules of DIR as text, one policy below the other on
one scale of time: a row for each processor or node, at most ` + strconv.Itoa(gantt.MaxRows) + `, and a letter for each job, A for
job 1 (some hundreds of jobs at most); = is an owner's job, # an outage, . is idle. A
column that is longer than a time unit shows the job that has most of it.`,
		Example: `  gridslot simulate KTH-SP2-1996-2.1-cln.swf.gz --policy easy,conservative --decisions --out results
  gridslot explain results 4711 --policy easy
  gridslot explain results --width 80`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var id int64
			var err error
			if len(args) == 2 {
				if id, err = strconv.ParseInt(args[1], 10, 64); err != nil {
					return usagef("JOB: want the number of a job, not %q", args[1])
				}
			}
			if width < 10 || width > 10_000 {
				return usagef("--width must be 10 to 10000, not %d", width)
			}
			folder, err := results.Open(args[0])
			if err != nil {
				return err
			}
			runs := folder.Runs
			if policy != "" {
				run, err := folder.Run(policy)
				if err != nil {
					return err
				}
				runs = []*results.Run{run}
			}
			return interrupt.Write(cmd.Context(), cmd.OutOrStdout(), func(w io.Writer) error {
				if len(args) == 1 {
					return drawSchedules(w, folder, runs, width)
				}
				return tellStories(w, runs, id)
			})
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "the policy, as it was asked for (default: all in DIR)")
	cmd.Flags().IntVar(&width, "width", 100, "columns of a schedule at most")
	return cmd
}

// drawSchedules draws the schedules of runs as text, all from the earliest begin on and on one
// scale of time.
func drawSchedules(w io.Writer, folder *results.Folder, runs []*results.Run, width int) error {
	var charts []*gantt.Chart
	from := des.Forever
	for _, run := range runs {
		c, err := gantt.Read(folder, run)
		if err != nil {
			return err
		}
		from = min(from, c.Begin())
		charts = append(charts, c)
	}
	column, err := gantt.Write(w, from, width, charts...)
	if errors.As(err, new(*gantt.TooLargeError)) {
		return fmt.Errorf("%w: name a job, as in gridslot explain %s 1, or look at the page of gridslot report %s", err, folder.Dir, folder.Dir)
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "from %v s on, a column is %v s\n", from, column)
	}
	return err
}

// tellStories tells what became of a job in each run, with an empty line between two stories. If a
// run does not tell of the job, that is an error in the end; the other runs are told all the same.
func tellStories(w io.Writer, runs []*results.Run, id int64) error {
	var failed []error
	between := ""
	for _, run := range runs {
		log, err := explain.Read(run)
		var stories []explain.Story
		if err == nil {
			stories, err = log.Job(id)
		}
		failed = append(failed, err)
		for _, s := range stories {
			if _, err := fmt.Fprintf(w, "%s%v\n", between, s); err != nil {
				return err
			}
			between = "\n"
		}
	}
	return errors.Join(failed...)
}
