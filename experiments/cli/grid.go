package cli

// `gridslot simulate --grid FILE`: brokers and clusters that negotiate; and
// `--reservations FILE`: users' advance reservations.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/experiments/oarrla"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/workload"
)

// addGrid defines the flags of this file.
func (s *simulation) addGrid(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.gridPath, "grid", "", "file of a grid (YAML): clusters, brokers, network and strategies in place of one cluster and its policies")
	var path string
	parsedFlag(cmd, &path, "reservations", "", "FILE.csv", "users' advance reservations: job_id,submit,start,processors,duration[,runtime,user]", func(path string) (string, error) {
		if path == "" {
			return "", nil
		}
		var err error
		s.booked, err = workload.OpenReservations(path)
		return path, err
	})
}

// bookings are users' advance reservations, or nil.
func (s *simulation) bookings() iter.Seq[flow.Booking] {
	if s.booked == nil {
		return nil
	}
	return s.booked.Bookings()
}

// onGrid is one call of simulate on a grid.
type onGrid struct {
	*simulation
	grid oarrla.Config
	over []*oarrla.Result // by strategy, once finished
}

// runOnGrid is simulate where --grid is given.
func (s *simulation) runOnGrid(cmd *cobra.Command, args []string) (err error) {
	o := &onGrid{simulation: s}
	switch {
	case s.domainPath != "":
		return usagef("--grid and --domain exclude each other")
	case s.booked != nil:
		return usagef("--reservations are made with a cluster or a domain; in a grid it is the brokers who reserve")
	case s.workers < 1:
		return usagef("--workers must be 1 or more, not %d", s.workers)
	}
	for _, name := range []string{"pass", "compression", "allocation"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s is for a cluster or a domain, not for --grid", name)
		}
	}
	if o.grid, err = oarrla.Read(s.gridPath); err != nil {
		return err
	}
	if cmd.Flags().Changed("policy") {
		chosen, err := agent.Registry().ParseList(s.policyList)
		if err != nil {
			return usagef("--policy, which names strategies with --grid: %w", err)
		}
		o.grid.Strategies = nil
		for _, c := range chosen {
			o.grid.Strategies = append(o.grid.Strategies, c.Spec)
		}
	}
	if s.trace, err = s.flags.open(cmd, args); err != nil {
		return err
	}
	if _, err := makeDir(s.out); err != nil {
		return err
	}
	n := len(o.grid.Strategies)
	s.readings = make([]atomic.Pointer[workload.JobStream], n)
	o.over = make([]*oarrla.Result, n)
	ended := run.Each(cmd.Context(), n, s.workers, o.simulate)
	if len(o.rows()) == 0 {
		return o.explain(ended)
	}
	if len(o.rows()) == n {
		ended = nil // whatever came after
	}
	ended = o.explain(ended)
	return errors.Join(ended, o.write(ended), o.print(cmd.OutOrStdout()))
}

func (o *onGrid) simulate(ctx context.Context, i int) error {
	jobs, err := o.trace.Open()
	if err != nil {
		return err
	}
	defer jobs.Close()
	o.readings[i].Store(jobs)
	local := func(path string) (oarrla.Jobs, error) {
		t, err := workload.Options{Overrun: o.flags.o.Overrun, Estimates: o.flags.o.Estimates, Seed: o.flags.o.Seed}.Open(path)
		if err != nil {
			return nil, err
		}
		return t.Open()
	}
	result, err := oarrla.Simulate(ctx, jobs, o.grid, oarrla.Settings{
		Strategy: o.grid.Strategies[i], Overrun: o.flags.o.Overrun, Seed: o.flags.o.Seed,
		Local: local, Dir: o.out, Workload: o.trace.Name, LockThread: true,
	})
	if err == nil {
		o.over[i] = &result
	}
	return err
}

func (o *onGrid) rows() []oarrla.Summary {
	var rows []oarrla.Summary
	for _, r := range o.over {
		if r != nil {
			rows = append(rows, r.Summary)
		}
	}
	return rows
}

// explain adds to what ended the work what has become of it.
func (o *onGrid) explain(err error) error {
	kept := "nothing was finished"
	if rows := o.rows(); len(rows) > 0 {
		kept = "finished and kept:"
		for _, r := range rows {
			kept += " " + r.Policy
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted; %s", kept)
	}
	return fmt.Errorf("%w; %s", err, kept)
}

// write writes what stands beside the files of the strategies.
func (o *onGrid) write(stopped error) error {
	if o.out == "" {
		return nil
	}
	f, err := atomicfile.Create(filepath.Join(o.out, "summary.csv"))
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := oarrla.WriteSummaryCSV(f, o.rows()); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	sum, err := o.trace.SHA256()
	if err != nil {
		return err
	}
	settings, err := json.Marshal(o.grid)
	if err != nil {
		return err
	}
	m := metrics.Manifest{
		Version: version(), Command: append([]string{"gridslot"}, o.env.Args...), Seed: o.flags.o.Seed,
		Trace:   metrics.TraceFile{Name: o.trace.Name, SHA256: sum},
		Dropped: []metrics.ReasonCount{}, Changed: []metrics.ReasonCount{},
		Settings: map[string]string{"grid": string(settings), "overrun": o.flags.o.Overrun.String(), "estimates": o.flags.o.Estimates.String()},
		Start:    o.start, End: time.Now(),
	}
	if stopped != nil {
		m.Stopped = stopped.Error()
	}
	for reason, count := range o.report().Counts() {
		switch c := (metrics.ReasonCount{Reason: reason.String(), Count: count}); reason.Class() {
		case workload.Damaged, workload.LeftOut:
			m.Dropped = append(m.Dropped, c)
		case workload.Changed:
			m.Changed = append(m.Changed, c)
		}
	}
	for _, r := range o.over {
		if r != nil {
			m.Runs = append(m.Runs, metrics.ManifestRun{Policy: r.Summary.Policy, Fingerprint: fmt.Sprintf("%016x", r.Fingerprint)})
		}
	}
	return m.WriteFile(filepath.Join(o.out, "manifest.json"))
}

func (o *onGrid) report() *workload.Report {
	for i := range o.readings {
		if r := o.readings[i].Load(); r != nil && o.over[i] != nil {
			return r.Report()
		}
	}
	return &workload.Report{}
}

func (o *onGrid) print(w io.Writer) error {
	rows := o.rows()
	switch o.format {
	case "csv":
		return oarrla.WriteSummaryCSV(w, rows)
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "strategy\tjobs\tkilled\trejected\tmakespan d\tmean wait s\tutil %\tfragments\tconflicts\tinterventions\tmessages\tcpu s\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.2f\t%.1f\t%.1f\t%d\t%d\t%d\t%d\t%.2f\t\n", r.Policy, r.Jobs, r.Killed, r.Rejected,
			r.Makespan/86400, r.MeanWait, 100*r.Utilization, r.Fragments, r.Conflicts, r.Interventions, r.Messages, r.CPUSeconds)
	}
	return t.Flush()
}
