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

// bounds is the output of `gridslot bound`: values below which no schedule of the jobs can be.
// Names are the names of the columns of summary.csv, times are in seconds.
type bounds struct {
	Trace      string  `json:"trace"`
	Processors int     `json:"processors"`
	Jobs       int     `json:"jobs"`     // that the bounds are of
	Rejected   int     `json:"rejected"` // that the machine is too small for
	Makespan   float64 `json:"makespan"`
	Wait       float64 `json:"mean_wait"`
	Slowdown   float64 `json:"mean_bounded_slowdown"`
	// Ordered has the values of schedules of good orders, each found for its measure. The least
	// possible value lies between the bound and this. It is nil if no order was looked for.
	Ordered *ordered `json:"ordered,omitempty"`
}

// ordered are the values of three schedules, in the units of bounds.
type ordered struct {
	Makespan float64 `json:"makespan"`
	Wait     float64 `json:"mean_wait"`
	Slowdown float64 `json:"mean_bounded_slowdown"`
}

// newBound is `gridslot bound`.
func newBound(tables *simulation.Tables) *cobra.Command {
	var format string
	var sweeps int
	cmd := &cobra.Command{
		Use:   "bound [LOG|SOURCE]",
		Short: "Tell what no schedule of a log can be below: makespan, mean wait, mean bounded slowdown",
		Long: `Tell lower bounds of a log's makespan, mean wait and mean bounded slowdown on a cluster. No policy
can be better, not even a policy that knows all jobs and runtimes beforehand. The jobs and their lengths
are as in simulate with the same flags; jobs larger than the machine are left out. Bounds come from
machines that can split or interrupt jobs (docs/reference/cli.md), so the best possible schedule lies between
a bound and the best known policy. With --order, a local search finds a good order of the jobs for
each measure; the best possible schedule is at least as good.`,
		Example: `  gridslot bound KTH-SP2-1996-2.1-cln.swf.gz
  gridslot bound lublin:jobs=1000:load=0.8 --procs 64 --format csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return boundLog(cmd, tables, strings.Join(args, ""), format, sweeps)
		},
	}
	addSetting(cmd, tables, "procs", "where", "first", "overrun", "tau")
	cmd.Flags().IntVar(&sweeps, "order", 0, "search for good orders, which bound from above, in `SWEEPS` over the log (0: no search)")
	choiceFlag(cmd, &format, "format", "table|json|csv", "of the output")
	cmd.Flags().SortFlags = false
	return cmd
}

// boundLog tells the bounds of a log.
func boundLog(cmd *cobra.Command, tables *simulation.Tables, path, format string, sweeps int) error {
	if sweeps < 0 {
		return usagef("--order: want 0 or more sweeps, not %d", sweeps)
	}
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
		// The jobs that fit the machine, for as long as they run there: a limit may end them.
		jobs = append(jobs, optimal.Job{Submit: j.Submit, Length: trace.Options.Overrun.Lasts(j), Nodes: j.Request.Nodes})
	}
	if err := trace.Err(); err != nil {
		return err
	}
	if len(jobs) == 0 {
		return fmt.Errorf("%s: %w", trace.Name, simulation.ErrNoJobs)
	}
	// The bounds from below.
	least, err := optimal.Lower(jobs, b.Processors, des.Time(sc.Settings.Tau))
	if err != nil {
		return err
	}
	b.Jobs, b.Makespan, b.Wait, b.Slowdown = len(jobs), least.Makespan, least.MeanWait, least.MeanSlowdown
	// The bounds from above: a search for each measure, whose cost is a sum over the jobs but for
	// the makespan.
	if sweeps > 0 {
		search, tau := optimal.OrderSearch{Sweeps: sweeps}, des.Time(sc.Settings.Tau)
		b.Ordered = &ordered{}
		for _, m := range []struct {
			of    optimal.Measure
			to    *float64
			count float64
		}{{optimal.Makespan, &b.Ordered.Makespan, 1}, {optimal.Wait, &b.Ordered.Wait, float64(len(jobs))}, {optimal.Slowdown, &b.Ordered.Slowdown, float64(len(jobs))}} {
			found, err := search.Search(cmd.Context(), jobs, b.Processors, m.of, tau)
			if err != nil {
				return err
			}
			*m.to = found.Cost / m.count
		}
	}
	return tell(cmd, format, &b)
}

func (b *bounds) writeTable(p page) error {
	p.row("trace", b.Trace)
	p.fact("processors", "%d", b.Processors)
	p.fact("jobs", "%d", b.Jobs)
	if b.Rejected > 0 {
		p.fact("rejected", "%d", b.Rejected)
	}
	var most ordered
	upTo := func(string) string { return "" }
	if b.Ordered != nil {
		most, upTo = *b.Ordered, func(s string) string { return ", at most " + s }
	}
	p.row("makespan", "at least "+metrics.Clock(b.Makespan)+upTo(metrics.Clock(most.Makespan)))
	p.row("mean wait", "at least "+metrics.Clock(b.Wait)+upTo(metrics.Clock(most.Wait)))
	p.fact("mean bounded slowdown", "at least %.2f%s", b.Slowdown, upTo(fmt.Sprintf("%.2f", most.Slowdown)))
	return nil
}

func (b *bounds) csvRows() [][]string {
	head := []string{"trace", "processors", "jobs", "rejected", "makespan", "mean_wait", "mean_bounded_slowdown"}
	row := []string{b.Trace, strconv.Itoa(b.Processors), strconv.Itoa(b.Jobs), strconv.Itoa(b.Rejected), seconds(b.Makespan), seconds(b.Wait), seconds(b.Slowdown)}
	if o := b.Ordered; o != nil {
		head = append(head, "ordered_makespan", "ordered_mean_wait", "ordered_mean_bounded_slowdown")
		row = append(row, seconds(o.Makespan), seconds(o.Wait), seconds(o.Slowdown))
	}
	return [][]string{head, row}
}
