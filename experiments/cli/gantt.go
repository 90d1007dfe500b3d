package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/metrics/results"
)

func newGantt() *cobra.Command {
	var policy string
	var width int
	cmd := &cobra.Command{
		Use:   "gantt DIR",
		Short: "Draw a small schedule as text",
		Long: fmt.Sprintf(`Draw the schedules of a folder that simulate --out DIR has written as text, one
policy below the other on one scale of time: a row a processor or node, at most %d,
and letters for jobs, A for job 1; = is an owner's job, # an outage, . is idle.
Where a column is longer than a time unit it shows what takes most of it.`, gantt.MaxRows),
		Example: "  gridslot gantt results --policy easy",
		Args:    arguments(1, 1, "DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
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
			column, err := gantt.Write(cmd.OutOrStdout(), from, width, charts...)
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "from %v s on, a column is %v s\n", from, column)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "the policy, as it was asked for (default: all in DIR)")
	cmd.Flags().IntVar(&width, "width", 100, "columns at most")
	return cmd
}
