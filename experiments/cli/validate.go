package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/interrupt"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/workload"
)

// newValidate is `gridslot validate`. How the jobs came of their log must be known, or every row
// would differ. Three places tell it, and the first that is there counts: a scenario, the manifest
// beside the schedule, the defaults. Flags stand in place of any of them.
func newValidate(t *simulation.Tables) *cobra.Command {
	v := validation{tables: t}
	cmd := &cobra.Command{
		Use:   "validate DIR|JOBS.csv [TRACE|SCENARIO.yaml]",
		Short: "Check a schedule against the trace it came from",
		Long: `Check schedules against their trace. Each job has one row, which agrees with the trace and with itself. No job
starts before its submission. No processor has two jobs at once. The policy keeps its promises: FCFS starts jobs
in order; EASY never delays the head beyond its reservation; conservative backfilling never delays a job beyond
its first reservation. On nodes and grids each window is acceptable to its job, and the money adds up. If jobs were
stopped or capacity was lost, each attempt is checked, and promises are not. The exit code is 1 if a rule is broken.

With DIR, a folder of results, all schedules are checked by the settings in manifest.json, without flags.
JOBS.csv is one schedule, of gridslot or Batsim. If a manifest stands beside the file, its settings hold; flags
and TRACE replace them. Without a manifest give the trace (a log, job file or workflow; default: the sample), and
flags or a scenario with the settings: workload: {first: 1000, estimates: exact} (help settings).`,
		Example: `  gridslot simulate log.swf.gz --out results
  gridslot validate results
  gridslot validate jobs.csv log.swf.gz --policy easy
  gridslot validate jobs.csv scenario.yaml --policy easy
  gridslot validate results/jobs-css.csv results/requests.csv --domain domain.yaml
  gridslot validate results/jobs-cheapest.csv --grid vo.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.limit < 1 {
				return usagef("--limit must be 1 or more, not %d", v.limit)
			}
			given := firstGiven(cmd)
			var err error
			if v.described, v.trace, err = v.file.choose(cmd, strings.Join(args[1:], "")); err != nil {
				return err
			}
			info, err := os.Stat(args[0])
			switch {
			case err != nil || !info.IsDir():
				return v.schedule(cmd, scheduleOf(args[0]))
			case given != "" || v.described != "":
				return usagef("--%s: the manifest of %s tells how its runs were made: give no flags, or check one of its schedules, %s", cmp.Or(given, v.described), args[0], filepath.Join(args[0], "jobs-POLICY.csv"))
			}
			return v.folder(cmd, args[0])
		},
	}
	v.file.add(cmd)
	cmd.Flags().StringVar(&v.policy, "policy", "", "policy whose promises to check, or none (default: by the file's name)")
	addSetting(cmd, t, "procs", "first")
	cmd.Flags().IntVar(&v.limit, "limit", 20, "how many violations to list")
	complete(cmd, "policy", append(t.Policies.Names(), "none"))
	return cmd
}

// validation is one call of `gridslot validate`.
type validation struct {
	tables    *simulation.Tables
	file      scenarioFile
	described string // the flag by which the file is named, or ""
	trace     string // in place of what a manifest or the file says, or ""
	policy    string // whose promises are checked; "" means the schedule's policy
	limit     int
}

// folder checks the schedules of all runs that the manifest of a folder names. A schedule that is
// wrong does not keep the others from being checked.
func (v *validation) folder(cmd *cobra.Command, dir string) error {
	m, err := results.ReadManifest(dir)
	if err != nil {
		return err
	}
	var bad []error
	checked := 0
	for _, r := range m.Runs {
		jobs := results.JobsFile(r.Files)
		if jobs == "" {
			continue
		}
		checked++
		if err := v.schedule(cmd, schedule{dir: dir, jobs: jobs, spec: r.Policy, files: r.Files, manifest: m}); err != nil {
			// A log that is not there is the same error for each schedule, and is told once.
			if !slices.ContainsFunc(bad, func(before error) bool { return before.Error() == err.Error() }) {
				bad = append(bad, err)
			}
		}
	}
	if checked == 0 {
		return fmt.Errorf("%s names no finished run with a schedule", filepath.Join(dir, "manifest.json"))
	}
	return errors.Join(bad...)
}

// schedule checks one schedule and prints what was found.
func (v *validation) schedule(cmd *cobra.Command, s schedule) error {
	sc, err := v.scenario(cmd, &s)
	if err != nil {
		return s.placed(worded(cmd, err), v.trace)
	}
	// Checksums are compared, unless the call names another trace or scenario.
	check := simulation.Schedule{Dir: s.dir, Jobs: s.jobs, Policy: s.spec, Files: s.files}
	if s.manifest != nil {
		check.Settings = s.manifest.Settings
	}
	if s.manifest != nil && v.trace == "" && v.described == "" {
		check.SHA256 = s.manifest.Trace.SHA256
	}
	var of string
	var found validate.Report
	if interrupted := interrupt.Do(cmd.Context(), func() error {
		of, found, err = simulation.Validate(cmd.Context(), sc, check, simulation.Options{Tables: v.tables, Stdin: cmd.InOrStdin()}, v.limit)
		return nil
	}); interrupted != nil {
		return interrupted
	}
	if err != nil {
		// An error names the file that it is about: the schedule, or what stands beside it.
		var damaged *validate.DamagedFileError
		if _, grid := sc.Machine.(*simulation.Grid); errors.As(err, &damaged) && !grid {
			if kind, _, _ := strings.Cut(damaged.File, " "); kind != "jobs" { // attempts CSV
				return fmt.Errorf("%s, beside %s and of %s: %w", kind+"-"+strings.TrimPrefix(s.jobs, "jobs-"), s.path(), of, err)
			}
		}
		if of == "" {
			return s.placed(worded(cmd, err), v.trace)
		}
		if _, missing := os.Stat(s.path()); s.manifest == nil && errors.Is(missing, fs.ErrNotExist) {
			return fmt.Errorf("%s: there is no such file or folder", s.path())
		}
		return fmt.Errorf("%s, of %s: %w", s.path(), of, worded(cmd, err))
	}
	if _, err := fmt.Fprintf(shown{cmd.OutOrStdout()}, "%s: %v", s.path(), found); err != nil {
		return err
	}
	if found.Total > 0 {
		return fmt.Errorf("%s is not a valid schedule of %s (violations: %d)", s.path(), of, found.Total)
	}
	return nil
}

// scenario returns what the schedule is held against: the machine and the settings of the manifest
// beside it, and the flags that are given.
func (v *validation) scenario(cmd *cobra.Command, s *schedule) (sc *simulation.Scenario, err error) {
	// First the machine: a file describes it, or the manifest.
	t, trace := v.tables, v.trace
	switch {
	case v.described == "" && s.manifest == nil && s.ofNodes(t):
		err = fmt.Errorf("%s is a schedule of the nodes of a domain: give what was asked for and the domain, as in gridslot validate %s %s --domain FILE.yaml",
			s.path(), s.path(), filepath.Join(s.dir, simulation.RequestsName))
	case v.described == "" && s.manifest != nil:
		if sc, err = simulation.FromManifest(s.manifest, trace, t); err != nil {
			err = fmt.Errorf("by %s: %w", s.manifestPath(), err)
		}
	default:
		sc, err = v.file.read(t)
	}
	if err != nil {
		return nil, err
	}
	// Then the settings of the manifest. A scenario says itself how the run was made.
	if s.manifest != nil && v.described != "scenario" {
		if err := sc.Adopt(s.manifest.Settings); err != nil {
			return nil, fmt.Errorf("by %s: %w", s.manifestPath(), err)
		}
		s.tell(cmd, t.Tell)
	}
	// A job file in place of the log states what was asked for: conventions about records do not
	// apply to it.
	states := trace != "" && t.StatesRequests(trace)
	if states && trace != sc.Workload.Trace && v.described != "scenario" {
		sc.StateRequests()
	}
	// Then the flags, and the trace that the call names.
	if err := given(cmd, sc); err != nil {
		return nil, err
	}
	switch {
	case states && sc.Machine == nil && sc.Workload.Options.Procs == 0 && sc.Workload.From == "":
		err = usagef("give --procs, the number of processors: %s does not tell it", filepath.Base(trace))
	case trace != "":
		err = sc.Set("trace", trace)
	case s.manifest != nil && sc.Workload.Trace == workload.StandardInput:
		err = fmt.Errorf("the log of %s came from standard input: give it as TRACE", s.path())
	}
	if err == nil {
		err = v.choose(cmd, s, sc)
	}
	return sc, err
}

// choose decides whose promises are checked: those of --policy, or of the policy that made the
// schedule, if it is known.
func (v *validation) choose(cmd *cobra.Command, s *schedule, sc *simulation.Scenario) error {
	if sc.Slurm.Config != "" {
		if v.policy != "" {
			return usagef("--policy: Slurm's schedules are checked by slurm.conf")
		}
		return nil
	}
	t := v.tables
	parse := func(spec string) error { _, err := t.Policies.Parse(spec); return err }
	switch sc.Machine.(type) {
	case *simulation.Grid:
		if v.policy != "" {
			return usagef("--policy: on a grid promises are not checked")
		}
		return nil
	case *simulation.Domain:
		parse = func(spec string) error { _, err := t.Nodes.Parse(spec); return err }
	}
	switch err := parse(cmp.Or(v.policy, s.spec)); {
	case v.policy == "none":
		s.spec = ""
	case v.policy != "" && err != nil:
		return usagef("--policy: %w", err)
	case v.policy != "":
		s.spec = v.policy
	case err != nil:
		_, missing := os.Stat(s.path()) // a missing file is reported when it is opened
		switch {
		case missing != nil:
		case s.manifest != nil:
			t.Tell("%s: %s is no policy of this command: its promises are not checked, all other rules are", s.path(), s.spec)
		default:
			t.Tell("%s does not name a policy: promises are not checked (--policy)", s.path())
		}
		s.spec = ""
	}
	return nil
}

// schedule identifies a file jobs-POLICY.csv: by the manifest beside it, or else by its name.
type schedule struct {
	dir, jobs string
	spec      string            // of the policy
	files     []string          // of the run; nil where only the name tells
	manifest  *metrics.Manifest // nil if no manifest beside the file names the run
}

func (s *schedule) path() string         { return filepath.Join(s.dir, s.jobs) }
func (s *schedule) manifestPath() string { return filepath.Join(s.dir, "manifest.json") }

// placed adds to an error what to do, if a file that the manifest names is not there: its path may
// be relative to the folder in which the run was started. named is the trace that the call names
// itself, or "".
func (s *schedule) placed(err error, named string) error {
	if s.manifest == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	here, errHere := os.Getwd()
	if errHere != nil {
		here = "the working directory"
	}
	if missing := new(fs.PathError); named != "" && errors.As(err, &missing) && missing.Path == named {
		return err // the call named it
	}
	return fmt.Errorf("%w; %s names files by paths as seen from where the run was started, and they are looked for from %s: call validate from there, or give the log as TRACE", err, s.manifestPath(), here)
}

// scheduleOf looks for the run that wrote a file in the manifest beside it. The manifest may be of
// another run, or not be there; then the name of the file tells the policy.
func scheduleOf(path string) schedule {
	s := schedule{dir: filepath.Dir(path), jobs: filepath.Base(path)}
	if m, err := results.ReadManifest(s.dir); err == nil {
		for _, r := range m.Runs {
			if slices.Contains(r.Files, s.jobs) {
				if m.Settings["machine"] == "grid" { // its files are checked together
					s.jobs = results.JobsFile(r.Files)
				}
				s.spec, s.files, s.manifest = r.Policy, r.Files, m
				return s
			}
		}
	}
	name, _ := strings.CutPrefix(s.jobs, "jobs-")
	name, _ = strings.CutSuffix(name, ".csv")
	s.spec = colons.ReplaceAllString(name, ":$1")
	return s
}

// tell says which settings the manifest has given, as flags of simulate.
func (s *schedule) tell(cmd *cobra.Command, tell func(format string, args ...any)) {
	var told []string
	defaults := simulation.New().Values()
	for _, name := range simulation.SettingNames() {
		text, ok := s.manifest.Settings[name]
		if f := cmd.Flag(name); !ok || text == defaults[name] || f != nil && f.Changed || name == "policy" || name == "procs" || name == "trace" {
			continue
		}
		told = append(told, "--"+name+"="+text)
	}
	if len(told) > 0 {
		tell("by %s the run was made with %s", s.manifestPath(), strings.Join(told, " "))
	}
}

// colons finds where a colon of a policy's spec has stood in the name of a file: easy-order=wfp3 is
// easy:order=wfp3. See policy.Chosen.FileName.
var colons = regexp.MustCompile(`-([a-z]+=)`)

// ofNodes reports whether the name tells that a schedule is one of named nodes. Without a manifest
// nothing says of which.
func (s *schedule) ofNodes(t *simulation.Tables) bool {
	_, errQueue := t.Policies.Parse(s.spec)
	_, errNodes := t.Nodes.Parse(s.spec)
	return errQueue != nil && errNodes == nil
}
