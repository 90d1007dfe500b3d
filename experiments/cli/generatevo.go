package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/jobfile"
	"github.com/gridslot/gridslot/workload/vo"
)

// newVO is `gridslot generate vo`: META's batches as a job file. The same settings
// under the key batches of a domain's file give the same jobs.
func newVO(t *scenario.Tables) *cobra.Command {
	var b vo.Batches
	var interval float64
	var seed uint64
	var criteria commaList
	var out string
	format := jobfile.CSV
	cmd := &cobra.Command{
		Use:   "vo",
		Short: "META's batches of requests with budgets, and criteria of the users' own, as a job file",
		Long: `META's batches of requests with budgets, as a job file: at the beginning of
each cycle so many jobs, each of n nodes and a volume V, which is its length on
nodes of performance 1, with a budget of n V x, where x is what a user of that
wealth pays for a time unit at performance 1. Ranges are uniform. Unless said
otherwise they are those of META's authors.

The criterion of each job is drawn from --criteria, searches for windows:
` + strings.Join(t.Finders.Names(), ", ") + `.`,
		Example: `  gridslot generate vo --cycles 10 --criteria min-start,square-dep > jobs.csv
  gridslot simulate jobs.csv --domain domain.yaml --policy batch-slicer,easy`,
		Args: arguments(0, 0, ""),
	}
	f := cmd.Flags()
	f.IntVar(&b.Cycles, "cycles", 1, "number of cycles")
	f.IntVar(&b.Jobs, "jobs", 20, "jobs of each cycle")
	f.Float64Var(&interval, "interval", 600, "time units from one cycle to the next")
	f.IntVar(&b.Users, "users", 1, "jobs belong to so many users in turn")
	rangeFlag(cmd, &b.Nodes, "nodes", "2,5", "nodes of a job, whole numbers")
	rangeFlag(cmd, &b.Volume, "volume", "100,500", "volume, in time units at performance 1")
	rangeFlag(cmd, &b.Wealth, "wealth", "1,1.6", "x of the budget")
	f.BoolVar(&b.Poorest, "poorest", false, "META's discount: the poorest have 0.4 of the least x")
	rangeFlag(cmd, &b.Real, "real", "1,1", "what part of its volume a job really has")
	f.Float64Var(&b.MinPerf, "min-performance", 1, "least performance of the nodes")
	f.Var(&criteria, "criteria", "draw each job's criterion from these names, separated by commas; may be repeated (default: none)")
	f.Uint64Var(&seed, "seed", 1, "seed of all random numbers")
	parsedFlag(cmd, &format, "format", "csv", "csv|jsonl", "a row or an object of JSON a job (default: by the ending of --out)", jobfile.ParseFormat)
	f.StringVar(&out, "out", "", "file to write, packed where it ends in .gz or .zst (default: standard output)")
	f.SortFlags = false
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case b.Cycles < 1:
			return usagef("--cycles must be 1 or more, not %d", b.Cycles)
		case b.Jobs < 1:
			return usagef("--jobs must be 1 or more, not %d", b.Jobs)
		case b.Users < 1:
			return usagef("--users must be 1 or more, not %d", b.Users)
		case !positive(interval):
			return usagef("--interval must be a number of time units above 0, not %v", interval)
		case b.Nodes.Min != math.Trunc(b.Nodes.Min) || b.Nodes.Max != math.Trunc(b.Nodes.Max):
			return usagef("--nodes: want whole numbers, not %v,%v", b.Nodes.Min, b.Nodes.Max)
		case !positive(b.MinPerf):
			return usagef("--min-performance must be a number above 0, not %v", b.MinPerf)
		}
		if err := b.Check(); err != nil {
			return &usageError{err}
		}
		if err := hostmem.Fits(0, hostmem.Need{What: fmt.Sprintf("%d jobs of a batch", b.Jobs), Bytes: batchJobBytes * float64(b.Jobs)}); err != nil {
			return err
		}
		b.Cycle = des.Seconds(interval)
		b.Criteria = nil
		if criteria.given {
			named := policy.Criteria(t.Finders)
			for name := range strings.SplitSeq(criteria.text, ",") {
				c, err := named(strings.TrimSpace(name))
				if err != nil {
					return usagef("--criteria: %w", err)
				}
				b.Criteria = append(b.Criteria, c)
			}
		}
		if out != "" && out != workload.StandardInput {
			switch by, ok := jobfile.FormatOf(out); {
			case !ok:
				return usagef("--out: %s: a job file is known by its ending: .csv or .jsonl, and .gz or .zst behind", out)
			case by != format && cmd.Flags().Changed("format"):
				return usagef("--format %v, and --out %s", format, out)
			default:
				format = by
			}
		}
		return writeJobs(cmd, out, format, b, seed)
	}
	return cmd
}

// batchJobBytes are what a job of a batch takes: a batch is drawn as a whole.
const batchJobBytes = 220

// rangeFlag is a flag of two numbers, the least and the most.
func rangeFlag(cmd *cobra.Command, to *vo.Range, name, value, usage string) {
	parsedFlag(cmd, to, name, value, "MIN,MAX", usage, func(text string) (vo.Range, error) {
		low, high, ok := strings.Cut(text, ",")
		least, errLeast := strconv.ParseFloat(strings.TrimSpace(low), 64)
		most, errMost := strconv.ParseFloat(strings.TrimSpace(high), 64)
		if !ok || errLeast != nil || errMost != nil || !(least >= 0 && least <= most && most > 0) || math.IsInf(most, 0) {
			return vo.Range{}, fmt.Errorf("want the least and the most, numbers of which the greater is above 0, as in %s, not %q", value, text)
		}
		return vo.Range{Min: least, Max: most}, nil
	})
}

// writeJobs writes batches to a file, or to standard output.
func writeJobs(cmd *cobra.Command, path string, format jobfile.Format, b vo.Batches, seed uint64) error {
	var to interface {
		Write(*entity.Job) error
	}
	var commit func() error
	if path == "" || path == workload.StandardInput {
		w := jobfile.NewWriter(cmd.OutOrStdout(), format)
		to, commit = w, w.Flush
	} else {
		w, err := jobfile.Create(path, format)
		if err != nil {
			return err
		}
		defer w.Abort()
		to, commit = w, w.Commit
	}
	for j, err := range b.Generate(seed) {
		if err == nil && cmd.Context().Err() != nil {
			err = errors.New("interrupted")
		}
		if err != nil {
			return err
		}
		if err := to.Write(j); err != nil {
			return err
		}
	}
	return commit()
}
