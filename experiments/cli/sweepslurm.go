package cli

// Studies on Slurm: gridslot sweep --engine slurm.

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/slurm"
)

func slurmEngine() sweepEngine {
	var e slurm.Engine
	var options []string
	f := pflag.NewFlagSet("slurm", pflag.ContinueOnError)
	f.IntVar(&e.Tasks, "tasks", 64, "slurm: about how many tasks do the runs")
	f.StringVar(&e.Time, "time", "", "slurm: limit of one task, as sbatch wants it, such as 2:00:00")
	f.StringVar(&e.Partition, "partition", "", "slurm: partition of the jobs")
	f.StringVar(&e.Account, "account", "", "slurm: account of the jobs")
	f.StringArrayVar(&options, "sbatch", nil, "slurm: other `options` of sbatch, such as '--qos=long --mem=4G'; may be repeated")
	f.BoolVar(&e.NoWait, "no-wait", false, "slurm: submit, and leave the rest to Slurm")
	return sweepEngine{name: "slurm", text: "jobs of Slurm, over a folder that all nodes see", flags: f, engine: func(s *sweeping) (sweep.Engine, error) {
		if e.Tasks < 1 {
			return nil, usagef("--tasks must be 1 or more, not %d", e.Tasks)
		}
		for _, text := range options {
			words, err := slurm.Words(text)
			if err != nil {
				return nil, usagef("--sbatch %s: %w", text, err)
			}
			e.Options = append(e.Options, words...)
		}
		if s.memory > 0 {
			e.Flags = []string{"--memory", strconv.FormatInt(s.memory, 10)}
		}
		return e, nil
	}}
}

// writeQueued tells of the jobs of a study that are in Slurm's queue.
func writeQueued(w io.Writer, jobs []slurm.Job) {
	if len(jobs) == 0 {
		return
	}
	fmt.Fprintln(w, "\nin Slurm's queue")
	type kind struct{ id, state string }
	var kinds []kind
	count := map[kind]int{}
	for _, j := range jobs {
		state := j.State
		if j.Reason != "None" && j.Reason != "" {
			state += " (" + j.Reason + ")"
		}
		what := "tasks"
		if j.Task == 0 {
			what = "merges"
		}
		k := kind{"job " + j.ID + ", " + what, state}
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
		count[k]++
	}
	for _, k := range kinds {
		fmt.Fprintf(w, "%6d %s: %s\n", count[k], k.id, harmless(k.state))
	}
}

func newSweepCancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel DIR",
		Short: "Take the jobs of a study out of Slurm's queue",
		Long: `Take the jobs of the study in DIR out of Slurm's queue, and end those that run.
What they have stored stays; the same 'gridslot sweep' again does the others.`,
		Example:           "  gridslot sweep cancel results",
		Args:              arguments(1, 1, "DIR"),
		ValidArgsFunction: completeFolders,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := sweep.Open(args[0]); err != nil {
				return err
			}
			ids, err := slurm.Cancel(cmd.Context(), args[0])
			switch {
			case err != nil:
				return err
			case len(ids) == 0:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "no job of this study is in Slurm's queue")
			default:
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "cancelled: %s\n", strings.Join(ids, ", "))
			}
			return err
		},
	}
}
