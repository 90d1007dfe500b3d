package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
)

func newValidate() *cobra.Command {
	var flags workloadFlags
	var policyName string
	var limit int
	cmd := &cobra.Command{
		Use:   "validate JOBS.csv [TRACE]",
		Short: "Check a schedule against the trace it came from",
		Long: `Check a schedule, a jobs.csv of gridslot or Batsim, against the trace it came
from: every job has a row that agrees with the trace and with itself, none
starts before its submission, processors are never used twice nor beyond their
number, and the policy's promises are kept: FCFS starts jobs in order, EASY
never delays the head of the queue beyond its reservation, conservative
backfilling starts no job later than the first reservation it was given.

Give the flags that described the workload when the schedule was made. Without
TRACE it is the sample.
The policy is taken from the file's name, jobs-POLICY.csv, unless --policy says
otherwise; none leaves promises unchecked. The exit code is 1 where a rule is
broken.`,
		Example: `  gridslot simulate KTH-SP2.swf.gz --out results
  gridslot validate results/jobs-easy.csv KTH-SP2.swf.gz`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usagef("--limit must be 1 or more, not %d", limit)
			}
			if err := refuseNodes(args[0]); err != nil {
				return err
			}
			promises, err := promisesOf(cmd, policyName, args[0])
			if err != nil {
				return err
			}
			if flags.o.Overrun == entity.OverrunExtend {
				promises = validate.Promises{Order: promises.Order} // estimates bind nobody
			}
			check := validate.Rules{Promises: promises, Overrun: flags.o.Overrun, Limit: limit}
			return flags.validate(cmd, args[0], args[1:], check)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&policyName, "policy", "", "policy whose promises to check, or none (default: by the file's name)")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many violations to list")
	complete(cmd, "policy", append(policy.Registry().Names(), "none"))
	return cmd
}

func (f *workloadFlags) validate(cmd *cobra.Command, path string, trace []string, check validate.Rules) error {
	t, err := f.open(cmd, trace)
	if err != nil {
		return err
	}
	if check.Processors, err = processors(t); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the schedule: %w", err)
	}
	defer file.Close()
	jobs, err := t.Open()
	if err != nil {
		return err
	}
	report, err := validate.Jobs(file, jobs.Jobs(), check)
	if jobs.Err() != nil {
		return jobs.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %v", path, report); err != nil {
		return err
	}
	if report.Total > 0 {
		return fmt.Errorf("%s is not a valid schedule of %s (violations: %d)", path, t.Name, report.Total)
	}
	return nil
}

// specOf is the policy's spec that the name of a file jobs-POLICY.csv tells.
func specOf(file string) string {
	base, _ := strings.CutPrefix(filepath.Base(file), "jobs-")
	base, _ = strings.CutSuffix(base, ".csv")
	separator := regexp.MustCompile(`-([a-z]+=)`) // a colon in the policy's spec; see FileName
	return separator.ReplaceAllString(base, ":$1")
}

// promisesOf is what the policy of that name promises; where it is empty, that
// of a file jobs-POLICY.csv, or nothing.
func promisesOf(cmd *cobra.Command, name, file string) (validate.Promises, error) {
	table := policy.Registry()
	switch {
	case name == "none":
		return validate.Promises{}, nil
	case name == "":
		c, err := table.Parse(specOf(file))
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "gridslot: %s does not name a policy: promises are not checked (--policy)\n", file)
			return validate.Promises{}, nil
		}
		return promised(c.Value), nil
	}
	c, err := table.Parse(name)
	if err != nil {
		return validate.Promises{}, usagef("--policy: %w", err)
	}
	return promised(c.Value), nil
}

// promised is what a policy promises.
func promised(p entity.Policy) validate.Promises {
	switch p := p.(type) {
	case backfill.FCFS:
		return validate.Promises{Order: p.Order.Key == nil}
	case backfill.EASY:
		return validate.Promises{Head: p.Order.Key == nil && p.Reservations != backfill.NoReservation}
	case backfill.Conservative:
		return validate.Promises{First: true}
	}
	return validate.Promises{}
}
