package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/metrics/explain"
	"github.com/gridslot/gridslot/metrics/results"
)

func newExplain() *cobra.Command {
	var policy string
	cmd := &cobra.Command{
		Use:   "explain DIR JOB",
		Short: "Tell why a job started when it did, or did not",
		Long: `Tell what held a job at each decision that mattered, and how its waiting came to
its end: from the files that simulate --decisions --out DIR has written. Without
--policy it is told for all policies that DIR holds. The exit code is 1 where it
cannot be told.`,
		Example: `  gridslot simulate KTH-SP2-1996-2.1-cln.swf.gz --policy easy,conservative --decisions --out results
  gridslot explain results 4711 --policy easy`,
		Args: arguments(2, 2, "DIR JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return usagef("JOB: want the number of a job, not %q", args[1])
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
			var failed []error
			told := false
			for _, run := range runs {
				stories, err := storiesOf(run, id)
				if err != nil {
					failed = append(failed, err)
					continue
				}
				for _, s := range stories {
					if told {
						fmt.Fprintln(cmd.OutOrStdout())
					}
					told = true
					fmt.Fprintln(cmd.OutOrStdout(), s)
				}
			}
			return errors.Join(failed...)
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "the policy, as it was asked for (default: all in DIR)")
	return cmd
}

func storiesOf(run *results.Run, id int64) ([]explain.Story, error) {
	log, err := explain.Read(run)
	if err != nil {
		return nil, err
	}
	return log.Job(id)
}
