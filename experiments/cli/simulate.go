package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/workload"
)

// simulateCall is one call of `gridslot simulate`. Its flags are settings of a scenario, and so is
// what stands in a file; flags that are given come last. The other fields are the flags that
// newSimulate defines itself.
type simulateCall struct {
	env    Env
	tables *simulation.Tables
	file   scenarioFile
	// repeat is the folder of results whose run is repeated, and repeats its manifest, once it has
	// been read.
	repeat    string
	repeats   *metrics.Manifest
	out       string
	format    string
	workers   int
	memory    int64
	watch     bool
	decisions bool
	events    bool
	// windows is --alternatives.
	windows  bool
	perfetto bool
	until    des.Time // where the run stops, if --until is given
	save     string   // a file
	resume   string   // a file
	// resumed is the run that goes on, once it has been read from the file resume.
	resumed *simulation.Saved
}

// newSimulate is `gridslot simulate`. Most of its flags are rows of the table of settings; those
// defined here say what is written, and what the work may take.
func newSimulate(env Env, t *simulation.Tables) *cobra.Command {
	s := &simulateCall{env: env, tables: t}
	cmd := &cobra.Command{
		Use:   "simulate [TRACE|SCENARIO.yaml]",
		Short: "Run a workload under one or more policies and compare them",
		Long:  `Run a log, job file or source (the sample; - is standard input). Flags replace settings of a file. Names: help policies|sources|formats|...`,
		Example: `  gridslot simulate KTH-SP2-1996-2.1-cln.swf.gz --policy easy,easy:order=wfp3 --first 5000 --out results
  gridslot simulate --domain grid.yaml --policy css,bsf:k=5,easy:finder=amp`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	s.file.add(cmd)
	folderFlag(cmd, &s.repeat, "from-manifest", "folder of results whose run is repeated")
	addSettings(cmd, t, simulation.OfRecords|simulation.OfEstimates|simulation.OfRuns)
	folderFlag(cmd, &s.out, "out", "folder for the files (none are written)")
	parsedFlag(cmd, &s.until, "until", "", "T", "stop when so much time has passed in the simulation, and tell what runs and waits then", optional(number.Length))
	fileFlag(cmd, &s.save, "save", "with --until: file from which --resume goes on")
	fileFlag(cmd, &s.resume, "resume", "file of a run that --save has saved, which goes on to its end, or to --until")
	f.BoolVar(&s.decisions, "decisions", false, "write decisions-POLICY.csv, too: what held jobs that waited, for explain (with --out)")
	f.BoolVar(&s.events, "events", false, "write events-POLICY.csv, too: all that happened to jobs (with --out)")
	f.BoolVar(&s.windows, "alternatives", false, "write alternatives-POLICY.csv, too: windows that batches could choose from (with --out)")
	f.BoolVar(&s.perfetto, "perfetto", false, "write perfetto-POLICY.json, too: what happened, for ui.perfetto.dev (with --out)")
	choiceFlag(cmd, &s.format, "format", "table|csv|json", "of the summary on standard output")
	f.BoolVar(&s.watch, "watch", false, "a live view on a terminal: clock, queue, utilization, rate, time left")
	f.IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "policies to run at a time")
	parsedFlag(cmd, &s.memory, "memory", "", "SIZE", "what the work may need before it is refused, such as 16G (three quarters of what there is)", optional(hostmem.ParseSize))
	f.SortFlags = false
	return cmd
}

// names joins lists of names, each name once.
func names(lists ...[]string) []string {
	var all []string
	for _, n := range slices.Concat(lists...) {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// run carries the call out.
func (s *simulateCall) run(cmd *cobra.Command, args []string) error {
	// What makes no sense is refused before any file is read.
	if s.workers < 1 {
		return usagef("--workers must be 1 or more, not %d", s.workers)
	}
	if err := s.checkStops(cmd); err != nil {
		return err
	}
	for _, name := range []string{"decisions", "events", "alternatives", "perfetto"} {
		if cmd.Flags().Changed(name) && s.out == "" {
			return usagef("--%s writes files: give --out, the folder for them", name)
		}
	}
	sc, err := s.scenario(cmd, args)
	if err != nil {
		return err
	}
	// What is seen meanwhile: a live view, or a bar. Both go to standard error, if that is a
	// terminal.
	stderr := cmd.ErrOrStderr()
	started := func(p simulation.Progress) func() {
		return showProgress(stderr, func() string { return strings.Join(p.Running(), ", ") }, p.Total, p.Done)
	}
	var observers func(policy, site string) []entity.Observer
	if s.watch && drawable(stderr) {
		w := &watch{}
		observers, started = w.observers, func(p simulation.Progress) func() { return w.show(stderr, p) }
	}
	options := simulation.Options{
		Tables: s.tables, Dir: s.out, Decisions: s.decisions, Events: s.events, Alternatives: s.windows, Perfetto: s.perfetto, Workers: s.workers, Memory: s.memory, Stdin: cmd.InOrStdin(), LockThread: true, Repeats: s.repeats, Resume: s.resumed,
		Version: version(), Command: append([]string{"gridslot"}, s.env.Args...),
		Tell:    teller(stderr),
		Started: started, Observers: observers,
	}
	// Run, to an instant or to the end, and print the summary of what has finished.
	if cmd.Flags().Changed("until") {
		if err := s.stop(cmd, sc, options); err != nil {
			return s.refused(cmd, err)
		}
		return nil
	}
	out, err := simulation.Run(cmd.Context(), sc, options)
	if out == nil {
		return s.refused(cmd, err)
	}
	to := cmd.OutOrStdout()
	if s.format == "table" {
		to = shown{to}
	}
	return errors.Join(err, out.Print(to, s.format))
}

// refused returns an error of a run that has left nothing, in the words of the command.
func (s *simulateCall) refused(cmd *cobra.Command, err error) error {
	var large *hostmem.TooMuchError
	if errors.As(err, &large) {
		err = fmt.Errorf("%w: ask for less, or allow more with --memory", err)
	}
	return s.named(worded(cmd, err))
}

// named returns an error with the name of the machine's file, if the error is about that: the error
// does not name it, because what it says was only known when the flags were known, too.
func (s *simulateCall) named(err error) error {
	var usage *usageError
	for _, file := range s.file.paths {
		if file != "" && !errors.As(err, &usage) && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), filepath.Base(file)) {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return err
}

// scenario returns what the call asks for: what a file says, if there is one, and in its place what
// the flags say that are given.
func (s *simulateCall) scenario(cmd *cobra.Command, args []string) (*simulation.Scenario, error) {
	if s.resume != "" {
		return s.goOn(cmd)
	}
	from, trace, err := s.file.choose(cmd, strings.Join(args, ""))
	var sc *simulation.Scenario
	switch {
	case err != nil:
	case s.repeat == "":
		sc, err = s.file.read(s.tables)
	case from != "":
		err = usagef("--from-manifest and --%s exclude each other", from)
	default:
		sc, err = s.repeated(cmd, trace)
	}
	if err != nil {
		return nil, err
	}
	err = given(cmd, sc)
	if trace != "" && err == nil {
		err = sc.Set("trace", trace)
	}
	return sc, worded(cmd, err)
}

// repeated returns the scenario of the manifest of a folder of results. Files that the run left
// besides those that there always are, such as events, are written again if files are written.
func (s *simulateCall) repeated(cmd *cobra.Command, trace string) (*simulation.Scenario, error) {
	m, err := results.ReadManifest(s.repeat)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.repeat, "manifest.json")
	sc, err := simulation.FromManifest(m, trace, s.tables)
	switch {
	case err != nil:
		return nil, fmt.Errorf("by %s: %w", path, err)
	case trace == "" && sc.Workload.Trace == workload.StandardInput:
		return nil, fmt.Errorf("the log of the run of %s came from standard input: give it as TRACE", path)
	case trace != "":
		m.Trace.SHA256 = "" // it is another log, knowingly
	}
	s.tellOfVersion(cmd, path, m)
	if s.out != "" {
		for kind, asked := range map[string]*bool{"events-": &s.events, "decisions-": &s.decisions, "alternatives-": &s.windows, "perfetto-": &s.perfetto} {
			*asked = *asked || slices.ContainsFunc(m.Runs, func(r metrics.ManifestRun) bool {
				return slices.ContainsFunc(r.Files, func(name string) bool { return strings.HasPrefix(name, kind) })
			})
		}
	}
	s.repeats = m
	return sc, nil
}

// tellOfVersion says if another version wrote a run down in a file.
func (s *simulateCall) tellOfVersion(cmd *cobra.Command, path string, m *metrics.Manifest) {
	if m.Version != version() {
		teller(cmd.ErrOrStderr())("%s was written by gridslot %s, and this is %s: results may differ", path, m.Version, version())
	}
}

// worded returns an error about a setting as one about its flag, which is wrong usage, if the flag
// is given. Otherwise the setting stands in a file, and the error stays.
func worded(cmd *cobra.Command, err error) error {
	var setting *simulation.SettingError
	switch {
	case !errors.As(err, &setting):
		return err
	case setting.Name == "trace":
		if n := cmd.Flags().NArg(); n == 0 || isScenario(cmd.Flags().Arg(n-1)) {
			return err
		}
		return usagef("TRACE: %w", setting.Err)
	case cmd.Flags().Changed(setting.Name):
		return usagef("--%s: %w", setting.Name, setting.Err)
	}
	return err
}
