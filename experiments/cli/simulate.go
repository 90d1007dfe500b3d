package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// simulation is one call of `gridslot simulate`.
type simulation struct {
	env        Env
	flags      workloadFlags
	policyList string
	domainPath string // or a cluster
	gridPath   string // or a cluster
	booked     *workload.Reservations
	pass       entity.Pass
	compress   bool
	allocation metrics.Allocation
	out        string
	format     string
	workers    int

	policies []policy.Chosen[entity.Policy]
	trace    *workload.Trace
	procs    int
	readings []atomic.Pointer[workload.JobStream] // by policy, once begun
	results  []*run.Result                        // by policy, once finished
	start    time.Time
}

func newSimulate(env Env) *cobra.Command {
	s := &simulation{env: env}
	cmd := &cobra.Command{
		Use:   "simulate [TRACE]",
		Short: "Run a workload under one or more policies and compare them",
		Long: `Run a workload under one or more policies on one cluster and compare them.
TRACE is a log in the Standard Workload Format (plain, .gz or .zst; - is
standard input); without it a small generated sample is run.

Policies are named with their parameters, as in easy:order=wfp3:depth=100,
and separated by commas:
` + describe(policy.Registry()) + `

With --domain FILE the machine is the priced nodes of a virtual organisation
instead, as FILE describes them; without TRACE its jobs are those that FILE
generates. The policies above take finder=NAME there, a search for windows, and
there are these:
` + describe(policy.NodeRegistry()[len(policy.Registry()):]),
		Example: `  gridslot simulate
  gridslot simulate KTH-SP2.swf.gz --policy easy,easy-sjbf --out results
  gridslot simulate KTH-SP2.swf.gz --policy easy:order=wfp3 --first 5000 --load 0.9
  gridslot simulate --domain grid.yaml --policy css,bsf:k=5,easy:finder=amp --out results`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&s.policyList, "policy", "fcfs,easy,conservative", "policies to run, separated by commas")
	f.StringVar(&s.domainPath, "domain", "", "file of a virtual organisation (YAML): its priced nodes in place of a cluster, its policies")
	s.addGrid(cmd)
	s.flags.add(cmd)
	parsedFlag(cmd, &s.pass, "pass", "instant", "instant|event", "one decision round an instant, or one after every event", entity.ParsePass)
	parsedFlag(cmd, &s.compress, "compression", "on", "on|off", "conservative: reservations move up after an early release", onOff)
	parsedFlag(cmd, &s.allocation, "allocation", "auto", "auto|intervals|count|none", "what jobs-POLICY.csv says of processors; auto: intervals up to 4,096 of them, else the count", metrics.ParseAllocation)
	f.StringVar(&s.out, "out", "", "folder for the files (default: none are written)")
	parsedFlag(cmd, &s.format, "format", "table", "table|csv|json", "of the summary on standard output", oneOf("table|csv|json"))
	f.IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "policies to run at a time")
	f.SortFlags = false
	complete(cmd, "policy", policy.Registry().Names())
	_ = cmd.MarkFlagDirname("out") // it exists
	return cmd
}

func describe[T any](t policy.Table[T]) string {
	var b strings.Builder
	for _, e := range t {
		fmt.Fprintf(&b, "\n  %-13s %s\n", e.Name, e.Text)
		for _, p := range e.Params {
			fmt.Fprintf(&b, "      %s=%s\n          %s\n", p.Name, p.Values, p.Text)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (s *simulation) run(cmd *cobra.Command, args []string) error {
	s.start = time.Now()
	switch {
	case s.gridPath != "":
		return s.runOnGrid(cmd, args)
	case s.domainPath != "":
		return s.runOnDomain(cmd, args)
	}
	if err := s.prepare(cmd, args); err != nil {
		return err
	}
	created, err := makeDir(s.out)
	if err != nil {
		return err
	}
	if !created {
		s.tellOthers(cmd.ErrOrStderr())
	}
	err = s.simulate(cmd.Context())
	if s.finished() == 0 {
		if created {
			os.Remove(s.out) // unless something stands in it
		}
		return s.explain(err)
	}
	stopped := ""
	if s.finished() == len(s.policies) {
		err = nil // whatever came after
	} else {
		stopped = s.explain(err).Error()
	}
	s.tell(cmd.ErrOrStderr())
	return errors.Join(s.explain(err), s.write(cmd, stopped), s.print(cmd.OutOrStdout()))
}

// makeDir makes the folder for the files, if one is wanted, and tells whether
// it was not there before.
func makeDir(dir string) (created bool, err error) {
	if dir == "" {
		return false, nil
	}
	_, err = os.Stat(dir)
	created = errors.Is(err, os.ErrNotExist)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return false, fmt.Errorf("making the folder for the files (--out): %w", err)
	}
	return created, nil
}

// tellOthers says which schedules in the folder for the files are of policies
// not in this run: its summary and manifest will not tell of them.
func (s *simulation) tellOthers(w io.Writer) {
	if s.out == "" {
		return
	}
	entries, err := os.ReadDir(s.out)
	if err != nil {
		return // writing the files will tell
	}
	var others []string
	for _, e := range entries {
		name, isJobs := strings.CutPrefix(e.Name(), "jobs-")
		name, isCSV := strings.CutSuffix(name, ".csv")
		if isJobs && isCSV && !slices.ContainsFunc(s.policies, func(p policy.Chosen[entity.Policy]) bool { return p.FileName() == name }) {
			others = append(others, e.Name())
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(w, "gridslot: %s also holds files of policies not in this run, which are kept: %s\n", s.out, strings.Join(others, ", "))
	}
}

// prepare reads the flags and opens the trace.
func (s *simulation) prepare(cmd *cobra.Command, args []string) (err error) {
	compression := policy.CompressionParam + "=on"
	if !s.compress {
		compression = policy.CompressionParam + "=off"
	}
	if s.policies, err = policy.Registry().ParseList(s.policyList, compression); err != nil {
		for spec := range strings.SplitSeq(s.policyList, ",") {
			_, errHere := policy.Registry().Parse(spec)
			if _, errThere := policy.NodeRegistry().Parse(spec); errHere != nil && errThere == nil {
				return usagef("--policy: %s needs --domain", strings.TrimSpace(spec))
			}
		}
		return usagef("--policy: %w", err)
	}
	if s.workers < 1 {
		return usagef("--workers must be 1 or more, not %d", s.workers)
	}
	if s.trace, err = s.flags.open(cmd, args); err != nil {
		return err
	}
	if s.procs, err = processors(s.trace); err != nil {
		return err
	}
	s.readings = make([]atomic.Pointer[workload.JobStream], len(s.policies))
	s.results = make([]*run.Result, len(s.policies))
	return nil
}

// simulate runs the policies.
func (s *simulation) simulate(ctx context.Context) error {
	stop := showProgress(s.env.Stderr, "simulating", s.trace.Size()*int64(len(s.policies)), func() int64 {
		var read int64
		for i := range s.readings {
			if r := s.readings[i].Load(); r != nil {
				read += r.BytesRead()
			}
		}
		return read
	})
	defer stop()
	return run.Each(ctx, len(s.policies), s.workers, func(ctx context.Context, i int) error {
		jobs, err := s.trace.Open()
		if err != nil {
			return err
		}
		defer jobs.Close()
		s.readings[i].Store(jobs)
		p := s.policies[i]
		result, err := run.Simulate(ctx, jobs, run.Settings{
			Policy: p.Value, Name: p.Spec, FileName: p.FileName(),
			Processors: s.procs, Pass: s.pass, Overrun: s.flags.o.Overrun, Seed: s.flags.o.Seed,
			Dir: s.out, Allocation: s.allocation, Workload: s.trace.Name, LockThread: true, Bookings: s.bookings(),
		})
		if err != nil {
			return err
		}
		s.results[i] = &result
		return nil
	})
}

func (s *simulation) finished() int {
	n := 0
	for _, r := range s.results {
		if r != nil {
			n++
		}
	}
	return n
}

// explain adds to what ended the work what has become of it.
func (s *simulation) explain(err error) error {
	var done []string
	for i, r := range s.results {
		if r != nil {
			done = append(done, s.policies[i].Spec)
		}
	}
	kept := "nothing was finished"
	if len(done) > 0 {
		kept = fmt.Sprintf("finished and kept: %s", strings.Join(done, ", "))
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted; %s", kept)
	case errors.Is(err, run.ErrNoJobs):
		return fmt.Errorf("%s: %w: %v", s.trace.Name, err, s.report())
	case len(done) > 0:
		return fmt.Errorf("%w; %s", err, kept)
	}
	return err
}

// report is what the reader met. Every policy's reading met the same; that of a
// finished one is complete.
func (s *simulation) report() *workload.Report {
	var report *workload.Report
	for i := range s.readings {
		if r := s.readings[i].Load(); r != nil && (report == nil || s.results[i] != nil) {
			report = r.Report()
		}
	}
	return report
}

// tell says on standard error what was left out and altered.
func (s *simulation) tell(w io.Writer) {
	report := s.report()
	for reason, count := range report.Counts() {
		if !worthTelling(reason) {
			continue
		}
		fmt.Fprintf(w, "gridslot: %s: %d %s: %s", s.trace.Name, count, reason.Class(), reason.Text())
		if examples := report.Examples(reason); len(examples) > 0 && examples[0].Line > 0 {
			fmt.Fprintf(w, " (first: line %d)", examples[0].Line)
		}
		fmt.Fprintln(w)
	}
	for _, r := range s.results {
		if r != nil && r.Summary.Rejected > 0 {
			why := fmt.Sprintf("larger than the machine, %d processors", s.procs)
			if s.booked != nil {
				why += ", or reservations at times at which there was no room (policies differ)"
			}
			fmt.Fprintf(w, "gridslot: %s: %d rejected: %s\n", s.trace.Name, r.Summary.Rejected, why)
			break // the same for every policy
		}
	}
}

// worthTelling reports whether a user who did not ask should hear of it.
func worthTelling(r workload.Reason) bool {
	switch r {
	case workload.Skipped, workload.BeyondFirst: // as asked
		return false
	case workload.RepeatedNumber: // the rows of the jobs cannot be told apart in the files
		return true
	}
	return r.Class() != workload.Noted
}

// write writes what stands beside the files of the policies.
func (s *simulation) write(cmd *cobra.Command, stopped string) error {
	if s.out == "" {
		return nil
	}
	sum, err := s.trace.SHA256()
	if err != nil {
		return err
	}
	m := metrics.Manifest{
		Version: version(), Command: append([]string{"gridslot"}, s.env.Args...), Seed: s.flags.o.Seed,
		Trace:   metrics.TraceFile{Name: s.trace.Name, SHA256: sum},
		Dropped: []metrics.ReasonCount{}, Changed: []metrics.ReasonCount{},
		Settings: settings(cmd), Start: s.start, Stopped: stopped,
	}
	for reason, count := range s.report().Counts() {
		c := metrics.ReasonCount{Reason: reason.String(), Count: count}
		switch reason.Class() {
		case workload.Damaged, workload.LeftOut:
			m.Dropped = append(m.Dropped, c)
		case workload.Changed:
			m.Changed = append(m.Changed, c)
		}
	}
	m.Settings["procs"] = strconv.Itoa(s.procs)
	for i, r := range s.results {
		if r != nil {
			m.Runs = append(m.Runs, metrics.ManifestRun{Policy: s.policies[i].Spec, Fingerprint: fmt.Sprintf("%016x", r.Fingerprint)})
		}
	}
	if err := metrics.WriteSummaryFile(filepath.Join(s.out, "summary.csv"), s.summaries()); err != nil {
		return err
	}
	m.End = time.Now()
	return m.WriteFile(filepath.Join(s.out, "manifest.json"))
}

// settings are the flags of a call that bear on its results, with their values,
// but for those that mean nothing in this kind of run.
func settings(cmd *cobra.Command, meaningless ...string) map[string]string {
	values := map[string]string{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "help", "out", "format", "workers": // of no consequence to the results
		default:
			if !slices.Contains(meaningless, f.Name) {
				values[f.Name] = f.Value.String()
			}
		}
	})
	return values
}

func (s *simulation) summaries() []metrics.Summary {
	var rows []metrics.Summary
	for _, r := range s.results {
		if r != nil {
			rows = append(rows, r.Summary)
		}
	}
	return rows
}

func (s *simulation) print(w io.Writer) error { return printSummaries(w, s.format, s.summaries()) }

func printSummaries(w io.Writer, format string, rows []metrics.Summary) error {
	switch format {
	case "csv":
		return metrics.WriteSummaryCSV(w, rows)
	case "json":
		return metrics.WriteSummaryJSON(w, rows)
	}
	return metrics.WriteSummaryTable(w, rows)
}
