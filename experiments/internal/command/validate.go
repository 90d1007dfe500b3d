package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/indir"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

func newValidate(t *scenario.Tables) *cobra.Command {
	flags := workloadFlags{tables: t}
	var policyName, domain, grid, reservations string
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
TRACE it is the sample. In place of TRACE a job file can stand, such as the
requests.csv beside the schedule, or a workflow: deadlines are checked then. With --domain as
well, the schedule is one of the nodes of that domain, and every job had nodes
that its request allows, within its budget where prices do not change.
The policy is taken from the manifest beside the file, or else from its name,
jobs-POLICY.csv, unless --policy says otherwise; none leaves promises unchecked. The exit code is 1 where a rule is
broken.

Of a run in which jobs were stopped and began again, or capacity was lost, the
files attempts-POLICY.csv and outages-POLICY.csv beside the schedule are read as
well: every attempt is checked, and no job may have had what was out of service.
Advance reservations are checked where --reservations names their file. Promises
are not checked then: nobody could keep them.

With --grid FILE it is a run on a grid, whose files all stand beside JOBS.csv, the
one of the jobs as a whole. They are checked against FILE, with the seed and the
trace that the run had: nodes and processors are used by one at a time, jobs and
owners alike, windows are what their jobs accept and within budget and deadline,
and the money adds up to the millionth.`,
		Example: `  gridslot simulate KTH-SP2.swf.gz --out results
  gridslot validate results/jobs-easy.csv KTH-SP2.swf.gz
  gridslot validate results/jobs-css.csv results/requests.csv --domain domain.yaml
  gridslot validate results/jobs-cheapest.csv --grid vo.yaml`,
		Args: Arguments(1, 2, "JOBS.csv [TRACE]"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if limit < 1 {
				return Usagef("--limit must be 1 or more, not %d", limit)
			}
			for _, pair := range [][2]string{{"grid", "domain"}, {"grid", "policy"}, {"domain", "policy"}} {
				if f := cmd.Flags(); f.Changed(pair[0]) && f.Changed(pair[1]) {
					return Usagef("give one of --%s and --%s", pair[0], pair[1])
				}
			}
			made := scheduleOf(args[0])
			flags.reservations = reservations
			if !cmd.Flags().Changed("moldable") && made.moldable != "" {
				if flags.moldable, err = scenario.ParseMoldable(made.moldable); err != nil {
					return fmt.Errorf("%s: moldable: %w", filepath.Join(filepath.Dir(args[0]), "manifest.json"), err)
				}
			}
			if made.feedback && !cmd.Flags().Changed("feedback") {
				flags.o.Feedback = true
			}
			if cmd.Flags().Changed("tau") {
				made.tau, _ = scenario.ParseTau(cmd.Flag("tau").Value.String()) // as the flag was read
			}
			flags.tau = made.tau
			if cmd.Flags().Changed("domain") {
				return flags.validateNodes(cmd, args[0], args[1:], domain, limit)
			}
			if grid != "" {
				return flags.validateGrid(cmd, made, grid, args[1:], limit)
			}
			if err := made.refuse(t); err != nil {
				return err
			}
			promises, err := made.promises(cmd, t, policyName)
			if err != nil {
				return err
			}
			if flags.o.Overrun == entity.OverrunExtend {
				promises = validate.Promises{Order: promises.Order} // estimates bind nobody
			}
			if made.power.SwitchOff {
				promises.Head = false // a head may have to wait for nodes that boot, of which no file tells
			}
			check := validate.Rules{Promises: promises, Overrun: flags.o.Overrun, Tau: des.Time(made.tau), Feedback: flags.o.Feedback, Limit: limit}
			return made.hint(cmd, flags.validate(cmd, args[0], args[1:], check))
		},
	}
	flags.add(cmd)
	flags.addMoldable(cmd)
	addTau(cmd)
	cmd.Flags().BoolVar(&flags.o.Feedback, "feedback", false, "fields 17 and 18 of the trace hold: a job came its think time after the end of its preceding job")
	cmd.Flags().StringVar(&policyName, "policy", "", "policy whose promises to check, or none (default: by the file's name)")
	cmd.Flags().StringVar(&domain, "domain", "", "file of the domain whose nodes the schedule names; TRACE is a job file then")
	_ = cmd.MarkFlagFilename("domain", "yaml", "yml") // it exists
	cmd.Flags().StringVar(&reservations, "reservations", "", "users' advance reservations that the run had")
	cmd.Flags().StringVar(&grid, "grid", "", "file of the grid (YAML) on which the run was made")
	_ = cmd.MarkFlagFilename("grid", "yaml", "yml") // it exists
	cmd.Flags().IntVar(&limit, "limit", 20, "how many violations to list")
	complete(cmd, "policy", append(t.Policies.Names(), "none"))
	return cmd
}

// validateGrid checks all files of a run on the grid that a file describes.
func (f *workloadFlags) validateGrid(cmd *cobra.Command, made schedule, path string, trace []string, limit int) error {
	sc, err := scenario.ReadMachine(path, "grid", f.tables)
	if err != nil {
		return err
	}
	if err := given(cmd, sc); err != nil {
		return worded(cmd, err)
	}
	if len(trace) > 0 {
		if err := sc.Set("trace", trace[0]); err != nil {
			return worded(cmd, err)
		}
	}
	if made.machine != "" { // the manifest tells
		sc.Settings.Tau = made.tau
	}
	report, err := scenario.Validate(cmd.Context(), sc, made.spec, made.victims, filepath.Dir(made.path), scenario.Options{Tables: f.tables, Stdin: cmd.InOrStdin()}, limit)
	if err != nil {
		return worded(cmd, err)
	}
	if _, err := fmt.Fprintf(shown{cmd.OutOrStdout()}, "%s: %v", made.path, report); err != nil {
		return err
	}
	if report.Total > 0 {
		return fmt.Errorf("%s is not a valid run on %s (violations: %d)", made.path, path, report.Total)
	}
	return nil
}

func (f *workloadFlags) validate(cmd *cobra.Command, path string, trace []string, check validate.Rules) error {
	if len(trace) > 0 && f.from == "" && f.tables.StatesRequests(trace[0]) {
		if check.Processors = f.o.Procs; check.Processors < 1 {
			return Usagef("give --procs, the number of processors: %s does not tell it", filepath.Base(trace[0]))
		}
		return f.validateRequests(cmd, path, trace[0], check)
	}
	t, err := f.open(cmd, trace)
	if err != nil {
		return err
	}
	if check.Processors, err = scenario.Processors(t); err != nil {
		return err
	}
	if check.Bookings, err = f.bookings(); err != nil {
		return err
	}
	jobs, err := t.Open()
	if err != nil {
		return err
	}
	defer jobs.Close()
	return f.report(cmd, path, t.Name, scenario.MoldedFrom(jobs, f.moldable), check)
}

// bookings are the advance reservations of --reservations.
func (f *workloadFlags) bookings() ([]flow.Booking, error) {
	if f.reservations == "" {
		return nil, nil
	}
	r, err := workload.OpenReservations(f.reservations)
	if err != nil {
		return nil, Usagef("--reservations: %w", err)
	}
	return slices.Collect(r.Bookings()), nil
}

// validateRequests checks a schedule against a job file or a workflow.
func (f *workloadFlags) validateRequests(cmd *cobra.Command, path, requests string, check validate.Rules) error {
	if err := checkSelection(cmd, &f.o); err != nil {
		return err
	}
	name, jobs, err := f.tables.OpenRequests(requests, f.o)
	if err != nil {
		return worded(cmd, err)
	}
	defer jobs.Close()
	if check.Bookings, err = f.bookings(); err != nil {
		return err
	}
	return f.report(cmd, path, name, scenario.MoldedFrom(jobs, f.moldable), check)
}

// validateNodes checks a schedule of the nodes of a domain.
func (f *workloadFlags) validateNodes(cmd *cobra.Command, path string, requests []string, domain string, limit int) error {
	if len(requests) == 0 || !f.tables.StatesRequests(requests[0]) {
		return Usagef("--domain: give the job file of the run, too: %s, which stands beside the schedule", scenario.RequestsName)
	}
	sc, err := scenario.ReadMachine(domain, "domain", f.tables)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("seed") {
		sc.Settings.Seed = f.o.Seed
	}
	d := sc.Machine.(*scenario.Domain)
	nodes, err := d.AllNodes(sc.Settings.Seed, sc.Settings.Replication)
	if err != nil {
		return err
	}
	return f.validateRequests(cmd, path, requests[0], validate.Rules{Nodes: nodes, Tau: des.Time(f.tau), PricesVary: d.PricesVary(), Limit: limit})
}

// report checks a schedule and prints what was found.
func (f *workloadFlags) report(cmd *cobra.Command, path, of string, jobs interface {
	entity.Source
	Err() error
}, check validate.Rules) error {
	file, err := indir.OpenBeside(path)
	if err != nil {
		return fmt.Errorf("opening the schedule: %w", err)
	}
	defer file.Close()
	made := scheduleOf(path)
	if chosen, err := f.tables.Policies.Parse(made.spec); err == nil && made.power.String() != "" {
		check.Busy = made.power.Most(chosen.Value, check.Processors)
	}
	for _, beside := range []struct {
		prefix string
		to     *io.Reader
	}{{"attempts-", &check.Attempts}, {"outages-", &check.Outages}} {
		name, of := besideOf(path, beside.prefix), strings.HasPrefix(filepath.Base(path), "jobs-")
		if !of || made.files != nil && !slices.Contains(made.files, name) { // or an earlier run has left it
			continue
		}
		switch f, err := indir.Open(filepath.Dir(path), name); {
		case err == nil:
			defer f.Close()
			*beside.to = f
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("opening what stands beside the schedule: %w", err)
		}
	}
	all := func(yield func(*entity.Job) bool) {
		for j, ok := jobs.Next(); ok && yield(j); j, ok = jobs.Next() {
		}
	}
	found, err := validate.Jobs(file, all, check)
	if jobs.Err() != nil {
		return jobs.Err()
	}
	if err != nil {
		var damaged *validate.DamagedFileError
		if errors.As(err, &damaged) {
			kind, _, _ := strings.Cut(damaged.File, " ") // attempts CSV
			if kind != "jobs" {
				return fmt.Errorf("%s, beside %s and of %s: %w", besideOf(path, kind+"-"), path, of, err)
			}
		}
		return fmt.Errorf("%s, of %s: %w", path, of, err)
	}
	if _, err := fmt.Fprintf(shown{cmd.OutOrStdout()}, "%s: %v", path, found); err != nil {
		return err
	}
	if found.Total > 0 {
		return fmt.Errorf("%s is not a valid schedule of %s (violations: %d)", path, of, found.Total)
	}
	return nil
}

// besideOf is the file of that prefix that stands beside jobs-POLICY.csv.
func besideOf(path, prefix string) string {
	name, _ := strings.CutPrefix(filepath.Base(path), "jobs-")
	return prefix + name
}

// schedule is what is known of a file jobs-POLICY.csv: by the manifest beside it,
// or else by its name.
type schedule struct {
	path     string
	spec     string   // of the policy
	machine  string   // "cluster", "domain", "grid"; "" where only the name tells
	files    []string // of the run; nil where only the name tells
	moldable string   // what gave its jobs shapes, or ""
	victims  string   // of outages, or ""
	power    scenario.Power
	feedback bool // its jobs came by the ends of others
	tau      metrics.Tau
	settings map[string]string // all of them, by their flags
}

// scheduleOf looks for the run that wrote a file in the manifest beside it, which
// may be of another run, or not be there.
func scheduleOf(path string) schedule {
	base := filepath.Base(path)
	var m metrics.Manifest
	if text, err := indir.ReadFile(filepath.Dir(path), "manifest.json"); err == nil && json.Unmarshal(text, &m) == nil {
		for _, r := range m.Runs {
			if slices.Contains(r.Files, base) {
				power, _ := scenario.ParsePower(m.Settings["power"]) // what cannot be read tells nothing
				tau, _ := scenario.ParseTau(m.Settings["tau"])
				return schedule{
					tau: tau, path: path, spec: r.Policy, machine: m.Settings["machine"], files: r.Files, moldable: m.Settings["moldable"],
					victims: m.Settings["victims"], power: power, feedback: m.Settings["feedback"] == "true", settings: m.Settings,
				}
			}
		}
	}
	base, _ = strings.CutPrefix(base, "jobs-")
	base, _ = strings.CutSuffix(base, ".csv")
	return schedule{path: path, spec: colons.ReplaceAllString(base, ":$1")}
}

// hint adds to err what the run was told of its workload otherwise than this call is: jobs
// that were cut off or scaled are other jobs.
func (s schedule) hint(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	var told []string
	for _, name := range []string{"procs-from", "estimates", "missing-estimate", "overrun", "where", "first", "skip", "load", "shift", "sort", "strict"} {
		if f := cmd.Flag(name); s.settings[name] != "" && s.settings[name] != f.Value.String() {
			told = append(told, "--"+name+"="+s.settings[name])
		}
	}
	if len(told) == 0 {
		return err
	}
	return fmt.Errorf("%w; by the manifest beside it the run was made with %s, and this call is not", err, strings.Join(told, " "))
}

// colons are where a colon of a policy's spec has stood; see policy.FileName.
var colons = regexp.MustCompile(`-([a-z]+=)`)

// refuse is an error where a schedule is one of named nodes or of fragments: the
// offline checks are about the counted processors of one cluster.
func (s schedule) refuse(t *scenario.Tables) error {
	_, errQueue := t.Policies.Parse(s.spec)
	_, errNodes := t.Nodes.Parse(s.spec)
	switch {
	case s.machine == "grid":
		return fmt.Errorf("%s is a schedule of a grid, where jobs run in fragments: give the grid's file, --grid FILE", s.path)
	case s.machine == "domain", s.machine == "" && errQueue != nil && errNodes == nil:
		return fmt.Errorf("%s is a schedule of the nodes of a domain: give what was asked for and the domain, as in gridslot validate %s %s --domain FILE.yaml",
			s.path, s.path, filepath.Join(filepath.Dir(s.path), scenario.RequestsName))
	}
	return nil
}

// promises is what the policy of that name promises; where it is empty, that of
// the schedule, or nothing.
func (s schedule) promises(cmd *cobra.Command, t *scenario.Tables, name string) (validate.Promises, error) {
	switch {
	case name == "none":
		return validate.Promises{}, nil
	case name == "":
		c, err := t.Policies.Parse(s.spec)
		if err != nil {
			fmt.Fprintf(shown{cmd.ErrOrStderr()}, "gridslot: %s does not name a policy: promises are not checked (--policy)\n", s.path)
			return validate.Promises{}, nil
		}
		return promised(c.Value), nil
	}
	c, err := t.Policies.Parse(name)
	if err != nil {
		return validate.Promises{}, Usagef("--policy: %w", err)
	}
	return promised(c.Value), nil
}

// promised is what a policy promises.
func promised(p entity.Policy) validate.Promises {
	switch p := p.(type) {
	case backfill.FCFS:
		return validate.Promises{Order: p.Order.Key == nil}
	case backfill.EASY:
		// A hold for the window that ends first may come to start later.
		return validate.Promises{Head: p.Order.Key == nil && p.Reservations != backfill.NoReservation && p.Shape != entity.FirstEnd}
	case backfill.Conservative:
		return validate.Promises{First: true}
	}
	return validate.Promises{}
}
