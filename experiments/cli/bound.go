package cli

// What no schedule of a log can do better than.

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/optimal"
)

// bounds is what `gridslot bound` tells. Names are those of the columns of summary.csv, times
// in seconds.
type bounds struct {
	Trace      string  `json:"trace"`
	Processors int     `json:"processors"`
	Jobs       int     `json:"jobs"`     // that the bounds are of
	Rejected   int     `json:"rejected"` // that the machine is too small for
	Makespan   float64 `json:"makespan"`
	Wait       float64 `json:"mean_wait"`
	Slowdown   float64 `json:"mean_bounded_slowdown"`
}

// newBound is `gridslot bound`.
func newBound(tables *simulation.Tables) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "bound [LOG|SOURCE]",
		Short: "Tell what no schedule of a log can be below: makespan, mean wait, mean bounded slowdown",
		Long: `Tell lower bounds of a log's makespan, mean wait and mean bounded slowdown on a cluster. No
policy can do better, also one that knows beforehand when jobs come and how long they run. Which
jobs there are, and how long they run, is as for simulate under the same flags; jobs that the machine
is too small for are left out. The bounds are those of machines that can split jobs
(docs/reference/cli.md): what is best lies between them and the best policy.`,
		Example: `  gridslot bound KTH-SP2-1996-2.1-cln.swf.gz
  gridslot bound lublin:jobs=1000:load=0.8 --procs 64 --format csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return boundLog(cmd, tables, strings.Join(args, ""), format)
		},
	}
	addSetting(cmd, tables, "procs", "where", "first", "overrun", "tau")
	choiceFlag(cmd, &format, "format", "table|json|csv", "of the output")
	cmd.Flags().SortFlags = false
	return cmd
}

// boundLog tells the bounds of a log.
func boundLog(cmd *cobra.Command, tables *simulation.Tables, path, format string) error {
	sc := simulation.New()
	if err := given(cmd, sc); err != nil {
		return worded(cmd, err)
	}
	trace, err := openLog(cmd, tables, path, nil)
	if err != nil {
		return err
	}
	b := bounds{Trace: trace.Name}
	if b.Processors, err = simulation.Processors(trace); err != nil {
		return worded(cmd, err)
	}
	var jobs []optimal.Job
	for j := range trace.Jobs() {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if j.Request.Nodes > b.Processors {
			b.Rejected++
			continue
		}
		jobs = append(jobs, optimal.Job{Submit: j.Submit, Length: trace.Options.Overrun.Lasts(j), Nodes: j.Request.Nodes})
	}
	if err := trace.Err(); err != nil {
		return err
	}
	if len(jobs) == 0 {
		return fmt.Errorf("%s: %w", trace.Name, simulation.ErrNoJobs)
	}
	least, err := optimal.Lower(jobs, b.Processors, des.Time(sc.Settings.Tau))
	if err != nil {
		return err
	}
	b.Jobs, b.Makespan, b.Wait, b.Slowdown = len(jobs), least.Makespan, least.MeanWait, least.MeanSlowdown
	return tell(cmd, format, &b)
}

func (b *bounds) writeTable(p page) error {
	p.row("trace", b.Trace)
	p.fact("processors", "%d", b.Processors)
	p.fact("jobs", "%d", b.Jobs)
	if b.Rejected > 0 {
		p.fact("rejected", "%d", b.Rejected)
	}
	p.row("makespan", "at least "+metrics.Clock(b.Makespan))
	p.row("mean wait", "at least "+metrics.Clock(b.Wait))
	p.fact("mean bounded slowdown", "at least %.2f", b.Slowdown)
	return nil
}

func (b *bounds) csvRows() [][]string {
	return [][]string{
		{"trace", "processors", "jobs", "rejected", "makespan", "mean_wait", "mean_bounded_slowdown"},
		{b.Trace, strconv.Itoa(b.Processors), strconv.Itoa(b.Jobs), strconv.Itoa(b.Rejected), seconds(b.Makespan), seconds(b.Wait), seconds(b.Slowdown)},
	}
}
