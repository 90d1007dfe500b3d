package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/experiments/internal/parallel"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/vo"
)

// Options are the parameters of a call of Run that do not change its results: files, messages, and
// how the work is done. The zero value runs in memory, without a word.
type Options struct {
	// Tables says what can be asked for by name; nil means Standard().
	Tables *Tables
	// Dir, if set, is the folder for the files, which is made where it is not there. One call at a
	// time may write there.
	Dir string
	// Events asks for events-POLICY.csv, too.
	Events bool
	// Decisions asks for decisions-POLICY.csv, which on a grid each site has.
	Decisions bool
	// Alternatives asks for alternatives-POLICY.csv of policies that plan batches.
	Alternatives bool
	// Perfetto asks for perfetto-POLICY.json.
	Perfetto bool
	// Workers is the number of policies that run at a time. Values below 1 mean 1.
	Workers int
	// Memory is the largest number of bytes that the work may need, by an estimate made before it
	// begins; beyond it the call is refused. 0 means three quarters of the machine's memory.
	Memory int64
	// Stdin is the input for the trace "-"; nil means os.Stdin.
	Stdin io.Reader
	// Tell, if set, is told what a user should know, a line at a time. It is called from one
	// goroutine.
	Tell func(format string, args ...any)
	// Started, if set, is called when the first policy begins; the function that it returns is
	// called when all have ended. The command draws its progress in between.
	Started func(Progress) (stop func())
	// Repeats, if set, is the manifest of a run that is to be repeated: its log and its files
	// must have the checksums that it tells. A log whose checksum is "" is not compared.
	Repeats *metrics.Manifest
	// Resume, if set, is a saved run that goes on: it is repeated up to the point at which it
	// was saved, where it must be the same, and its log and its files are compared as with
	// Repeats.
	Resume *Saved
	// Version and Command are written into the manifest. Version is the version of gridslot; if it
	// is empty, the manifest names the build of the program. If Command is nil, the manifest has
	// os.Args.
	Version string
	Command []string
	// LockThread makes Summary.CPUSeconds the processor time of each run, as in RunSettings.
	LockThread bool
	// Observers, if set, makes more observers for the run of a policy: of the jobs as a whole if
	// site is empty, otherwise of what runs at that site of a grid. It is called from several
	// goroutines.
	Observers func(policy, site string) []entity.Observer
}

// Progress tells of work under way. Any goroutine may call its functions, at any time.
type Progress struct {
	// Total is the value that Done returns at the end: bytes of a log, or jobs of a workload in
	// memory, for all policies together. It is 0 for jobs of a program, whose number is not known.
	Total   int64
	Done    func() int64
	Running func() []string // policies, in the order asked for
}

// Outcome has the results of a scenario's policies that have finished, in the order asked for.
type Outcome struct {
	Results []*Result
	// report has the findings of the trace's reader; it is empty without a trace.
	report *workload.Report
}

// call is one call of Run, RunUntil or Validate. prepare fills it in; then the runs read it side by
// side, and change nothing but the fields from bounds on.
type call struct {
	*Scenario
	options Options
	tables  *Tables
	// runner runs one policy on the machine, which has made itself ready by Machine.prepare.
	runner runner
	// all has the policies in the order asked for; readings, results and looks go by their places.
	all []policyName
	// jobs is the workload, opened. Before Machine.prepare it is nil if the machine brings the
	// jobs.
	jobs *jobs
	// requests begins a reading of the jobs that requests.csv shall have; nil if there is no such
	// file.
	requests func() (reading, error)
	bookings *workload.Reservations
	links    *flow.Links // nil where no job waits for another
	dir      *outdir.Dir
	start    time.Time
	// values are the settings by name, for the manifest.
	values   map[string]string
	attempts bool // see needsAttempts
	// nodes are the named nodes of the machine, site by site, for nodes.csv; nil without named
	// nodes.
	nodes []metrics.SiteNodes
	// wrote has the names of the files for all policies that this call has written, or will have.
	wrote []string
	// until is the instant at which the runs stop without results; nil means that they run to their
	// end.
	until *des.Time

	bounds bounder
	// readings has the reading of each policy from its beginning on, for Progress and for the
	// report.
	readings []atomic.Pointer[reading]
	// mu guards results and looks while policies run.
	mu      sync.Mutex
	results []*Result // by policy, once finished
	looks   []Look    // by policy, once stopped at until
}

// newCall begins a call: what is left out of the options gets its default. A run that is resumed is
// compared with its manifest as a run that is repeated. The call has a copy of the scenario: prepare
// keeps in it what the files of its settings hold, and another call may read sc meanwhile.
func newCall(sc *Scenario, o Options) *call {
	own := *sc
	c := &call{Scenario: &own, options: o, tables: o.Tables, start: time.Now()}
	if c.tables == nil {
		c.tables = Standard()
	}
	if c.options.Tell == nil {
		c.options.Tell = func(string, ...any) {}
	}
	if o.Resume != nil {
		c.options.Repeats = &o.Resume.Manifest
	}
	return c
}

// begin opens what the scenario names, and compares it with what it must be.
func (c *call) begin(ctx context.Context) error {
	// Nothing has run yet, so that an interrupt here loses nothing.
	if err := c.prepare(ctx); errors.Is(err, context.Canceled) {
		return errors.New("interrupted; nothing was finished")
	} else if err != nil {
		return err
	}
	if err := c.checkResume(); err != nil {
		return err
	}
	if r := c.options.Repeats; r != nil {
		return c.unchanged(r.Settings, r.Trace.SHA256)
	}
	return nil
}

// Run carries a scenario out. If the context ends, or a policy fails, the results of the policies
// that have finished are kept, the outcome has them, and the error says so. A *SettingError reports
// a setting that makes no sense; nothing has been done then.
func Run(ctx context.Context, sc *Scenario, o Options) (*Outcome, error) {
	c := newCall(sc, o)
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	if o.Dir != "" {
		// Take the folder. Nothing in it is touched before keepInputs has agreed.
		if err := c.keepInputs(); err != nil {
			return nil, err
		}
		var err error
		if c.dir, err = outdir.Open(o.Dir, prefixes()...); err != nil {
			return nil, err
		}
		defer c.dir.Close()
		c.tellOfFolder()
	}
	// Run the policies.
	err := c.simulate(ctx)
	outcome := c.outcome()
	if len(outcome.Results) == 0 {
		return nil, c.explain(err)
	}
	// Whoever has finished counts. An error that came when all had finished is none.
	stopped := ""
	if len(outcome.Results) == len(c.all) {
		err = nil
	} else {
		err = c.explain(err)
		stopped = err.Error()
	}
	// Say what the user should know, and write what stands beside the files of the policies.
	c.tell(outcome)
	if c.dir != nil {
		err = errors.Join(err, c.write(outcome, stopped))
	}
	return outcome, err
}

// Check reports what makes a scenario meaningless before its log is opened, or nil. The error is a
// *SettingError if it is about one setting. Names come first, then the settings, and last what the
// machine refuses: a mistyped name is told before its consequences. The scenario stays as it is.
func (sc *Scenario) Check(t *Tables) error {
	own := *sc
	return own.checkAndLoad(t)
}

// checkAndLoad checks as Check does, and keeps in the scenario the curves that its setting power
// names.
func (sc *Scenario) checkAndLoad(t *Tables) error {
	all, err := sc.machine().names(sc, t)
	if err != nil {
		return &SettingError{"policy", err}
	}
	if err := sc.checkRecorded(all); err != nil {
		return err
	}
	for _, check := range []func() error{
		func() error { return sc.checkTrace(t) },
		sc.checkFeedback,
		sc.checkMoldable,
		func() error { return sc.checkPower(t) },
		func() error { _, _, err := sc.predictions(t); return err },
		sc.checkOverhead,
		sc.checkCheckpoints,
		func() error { _, err := sc.outageSettings(t); return err },
		sc.Slurm.check,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return sc.machine().check(sc)
}

// checkTrace refuses a trace and a format that are not known, and settings that mean nothing for a
// job file or a workflow.
func (sc *Scenario) checkTrace(t *Tables) error {
	w := &sc.Workload
	if _, _, err := t.sourceOf(w.Trace); err != nil && w.Jobs == nil {
		return &SettingError{"trace", err}
	}
	if _, err := t.withFormat(w.Options, w.From); err != nil || w.Jobs != nil {
		return err
	}
	if err := t.checkFrom(w.Trace, w.From); err != nil {
		return err
	}
	switch {
	case w.From != "":
		return nil
	case t.isJobFile(w.Trace):
		return sc.checkJobFile()
	case t.isWorkflow(w.Trace):
		return sc.checkWorkflow()
	}
	return nil
}

// prepare opens what the scenario names, and lets the machine make itself ready. Nothing is drawn
// before checkMemory has agreed.
func (c *call) prepare(ctx context.Context) (err error) {
	m := c.machine()
	if err := c.checkAndLoad(c.tables); err != nil {
		return err
	}
	if err := c.checkAlternatives(); err != nil {
		return err
	}
	if c.all, err = m.names(c.Scenario, c.tables); err != nil {
		return err
	}
	// The workload, unless the machine brings the jobs: Machine.prepare sets c.jobs then.
	if !bringsJobs(m) || c.Workload.Trace != "" || c.Workload.Jobs != nil {
		if c.jobs, err = c.open(ctx, c.tables, c.options.Stdin); err != nil {
			return err
		}
		if c.jobs.requests {
			c.requests = c.jobs.open
		}
		c.tellOfColumns()
	}
	// Files that may tell instants as dates need the log's header, so they come behind the log.
	if err := c.Settings.Power.readCaps(c.dates()); err != nil {
		return err
	}
	if c.bookings, err = c.readBookings(); err != nil {
		return err
	}
	if err := c.linkJobs(); err != nil {
		return err
	}
	if err := c.checkMemory(); err != nil {
		return err
	}
	// Settings for the manifest. Those that mean nothing on this machine are left out.
	c.values = c.Values()
	if c.Slurm.Config == "" { // settings that mean nothing then
		delete(c.values, "slurm")
		delete(c.values, "accounts")
		delete(c.values, "phases")
	}
	if !c.Settings.Bounds { // manifests of runs without bounds stay as they were
		delete(c.values, "bounds")
	}
	tellReplication(c.values, c.Settings.Replication)
	if c.runner, err = m.prepare(c); err != nil {
		return err
	}
	c.readings = make([]atomic.Pointer[reading], len(c.all))
	c.results = make([]*Result, len(c.all))
	return nil
}

// needsAttempts makes the files of all policies tell of every attempt of their jobs, and of what
// the jobs waited for. It is called while a scenario is prepared in which running jobs can be
// stopped and begin again, or follow one another. If a policy stops jobs by itself, the files tell
// as well; see RunSettings.Attempts.
func (c *call) needsAttempts() { c.attempts = true }

// bringsJobs reports whether the machine has jobs if no others are given: those of a Slurm folder,
// or batches.
func bringsJobs(m Machine) bool {
	s, slurm := m.(*SlurmCluster)
	return slurm && s.isFolder() || batchesOf(m) != nil
}

// batchesOf returns the batches of jobs that a machine generates if no others are given, or nil.
func batchesOf(m Machine) *vo.Batches {
	switch m := m.(type) {
	case *Domain:
		return m.Batches
	case *Grid:
		return m.Batches
	}
	return nil
}

// tellOfFolder says what stands in the folder for the files: what a killed
// process has left, which is gone now, and schedules of policies that are not in
// this run, of which its summary and manifest will not tell.
func (c *call) tellOfFolder() {
	if n := len(c.dir.Cleaned); n > 0 {
		c.options.Tell("%s held what an earlier run had left when it was killed, which is removed: %s", c.dir.Path, strings.Join(c.dir.Cleaned, ", "))
	}
	entries, err := os.ReadDir(c.dir.Path)
	if err != nil {
		return // writing the files will tell
	}
	var others []string
	for _, e := range entries {
		if rows.KindOf(e.Name()) == "jobs" && strings.HasSuffix(e.Name(), ".csv") && !c.replaces(e.Name()) {
			others = append(others, e.Name())
		}
	}
	if len(others) > 0 {
		c.options.Tell("%s also holds files of policies not in this run, which are kept: %s", c.dir.Path, strings.Join(others, ", "))
	}
}

// keepInputs returns an error if a file that the scenario reads stands in the folder for the files
// under a name that the run writes or removes. A workload that stands there as requests.csv is no
// such file: writeRequests leaves it alone.
func (c *call) keepInputs() error {
	entries, err := os.ReadDir(c.options.Dir)
	if err != nil {
		return nil // there is no such folder yet, or opening it will tell
	}
	for _, e := range entries {
		if !c.replaces(e.Name()) {
			continue
		}
		path := filepath.Join(c.options.Dir, e.Name())
		for _, input := range c.Files(c.tables) {
			if atomicfile.Same(path, input) && !(e.Name() == RequestsName && atomicfile.Same(path, c.Workload.Trace)) {
				return wrong("out", "the run reads %s, and would replace or remove it in %s by a file of its own: choose another folder", input, c.options.Dir)
			}
		}
	}
	return nil
}

// replaces reports whether this call writes or removes a file of its folder.
func (c *call) replaces(file string) bool {
	// Files of sites of a grid have the names of their sites in theirs.
	var sites []string
	if g, ok := c.machine().(*Grid); ok {
		for _, l := range g.WithDefaults().leaves() {
			sites = append(sites, l.file())
		}
	}
	return file == "manifest.json" || slices.Contains(rows.OfAllPolicies(), file) ||
		slices.ContainsFunc(c.all, func(n policyName) bool { return slices.Contains(rows.OfPolicy(n.file, sites...), file) })
}

// simulate runs the policies, Options.Workers at a time, and returns the first error.
func (c *call) simulate(ctx context.Context) error {
	running := make([]atomic.Bool, len(c.all))
	if c.options.Started != nil {
		defer c.options.Started(Progress{
			Total: c.jobs.size * int64(len(c.all)), Done: c.read,
			Running: func() (now []string) {
				for i := range running {
					if running[i].Load() {
						now = append(now, c.all[i].spec)
					}
				}
				return now
			},
		})()
	}
	turns := c.turns()
	return parallel.Each(ctx, c.options.Workers, len(turns), func(ctx context.Context, _, turn int) error {
		i := turns[turn]
		running[i].Store(true)
		defer running[i].Store(false)
		return c.simulateOne(ctx, i)
	})
}

// turns returns the policies in the order in which their runs begin. If several run side by side,
// those that take the longest go first (Graham, SIAM Journal on Applied Mathematics 17, 1969: the
// longest processing time first): begun last, one would run alone in the end. The policies that
// take the longest are those that plan every job that waits. With one worker, and among the others,
// policies run in the order of the list.
func (c *call) turns() []int {
	var first, then []int
	for i := range c.all {
		if c.options.Workers > 1 && c.all[i].plansAll {
			first = append(first, i)
		} else {
			then = append(then, i)
		}
	}
	return append(first, then...)
}

// simulateOne runs the i-th policy: it reads the jobs anew, collects the settings that are the same
// on every machine, and leaves the rest to the machine's runner.
func (c *call) simulateOne(ctx context.Context, i int) error {
	from, err := c.jobs.open()
	if err != nil {
		return err
	}
	defer from.Close()
	c.readings[i].Store(&from)
	p := &policyRun{policyName: c.all[i], jobs: from, settings: RunSettings{
		Name: c.all[i].spec, fileName: c.all[i].file, Dir: c.options.Dir, noManifest: true, Workload: c.jobs.name,
		Pass: c.Settings.Pass, Overrun: c.Workload.Options.Overrun, Allocation: c.Settings.Allocation,
		Seed: c.Settings.Seed, Replication: c.Settings.Replication, LockThread: c.options.LockThread, Attempts: c.attempts, Events: c.options.Events,
		Decisions: c.options.Decisions, Tau: c.Settings.Tau, Warmup: c.Settings.Warmup,
		Bounds: c.Settings.Bounds, known: &c.bounds,
	}}
	if p.settings.Wakes, err = ParseWake(c.Settings.Wake); err != nil {
		return &SettingError{"wake", err}
	}
	p.observers = func(site string) []entity.Observer {
		if c.options.Observers == nil {
			return nil
		}
		return c.options.Observers(p.spec, site)
	}
	// Predictors keep state: each run gets new ones.
	if p.settings.Predictor, p.settings.Corrector, err = c.predictions(c.tables); err != nil {
		return err
	}
	p.settings.Links = c.links
	p.settings.Power, p.settings.powerProfile = c.Settings.Power.meter(), c.Settings.Power.Profile
	if c.bookings != nil {
		p.settings.Bookings = c.bookings.Bookings()
	}
	// A goroutine beside the run only pays if a processor would be idle. Reading ahead needs jobs
	// that come from a log: a source of a program may listen to the run, and Options.Extra may keep
	// state.
	p.settings.beside = min(max(1, c.options.Workers), len(c.all)) < runtime.GOMAXPROCS(0)
	p.settings.ahead = c.jobs.trace != nil && c.Workload.Options.Extra == nil
	p.settings.until = c.until
	if saved := c.options.Resume; saved != nil {
		p.settings.resumed, p.settings.point = saved.Until, &saved.Points[i]
	}
	// Run, and keep the result, or what the run looked like when it stopped.
	r, err := c.runner(ctx, p)
	c.mu.Lock()
	defer c.mu.Unlock()
	var paused *pausedError
	switch {
	case errors.As(err, &paused):
		c.looks[i] = paused.look
	case err != nil:
		return err
	default:
		c.results[i] = r
	}
	return nil
}

// read returns how much of all readings is done, in the unit of Progress.Total.
func (c *call) read() int64 {
	var n int64
	for i := range c.readings {
		if r := c.readings[i].Load(); r != nil {
			n += (*r).BytesRead()
		}
	}
	return n
}

// outcome returns what has been finished.
func (c *call) outcome() *Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &Outcome{report: c.report()}
	for _, r := range c.results {
		if r != nil {
			o.Results = append(o.Results, r)
		}
	}
	return o
}

// report returns what the reader of the log met. Every policy's reading meets the same
// records. The reading of a finished policy is complete, so it is preferred.
func (c *call) report() *workload.Report {
	var report *workload.Report
	for i := range c.readings {
		if r := c.readings[i].Load(); r != nil && (report == nil || c.results[i] != nil) {
			report = (*r).Report()
		}
	}
	if report == nil {
		report = &workload.Report{}
	}
	return report
}

// began returns when the time 0 of the simulation was, in seconds since 1970, and in which time
// zone, as far as the header of the log tells; 0 and "" otherwise.
func (c *call) began() (unix int64, zone string) {
	if c.jobs.trace == nil || c.jobs.trace.Header == nil {
		return 0, ""
	}
	h := c.jobs.trace.Header
	if h.UnixStartTime == 0 {
		return 0, h.TimeZone
	}
	// origin is by how much a reading has moved the log's times, known when it has been read.
	var origin des.Time
	for i := range c.readings {
		if r := c.readings[i].Load(); r != nil && c.results[i] != nil {
			if s, ok := (*r).(interface{ Origin() des.Time }); ok {
				origin = s.Origin()
			}
		}
	}
	return h.UnixStartTime + int64(origin/des.Second), h.TimeZone
}

// explain adds to the error that ended the work which policies had finished.
func (c *call) explain(err error) error {
	kept := "nothing was finished"
	var done []string
	for i, r := range c.results {
		if r != nil {
			done = append(done, c.all[i].spec)
		}
	}
	if len(done) > 0 {
		kept = "finished and kept: " + strings.Join(done, ", ")
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted; %s", kept)
	case errors.Is(err, ErrNoJobs) && c.jobs.trace != nil:
		return fmt.Errorf("%s: %w: %v", c.jobs.name, err, c.report())
	case errors.Is(err, ErrNoJobs):
		return fmt.Errorf("%s: %w", c.jobs.name, err)
	case len(done) > 0:
		return fmt.Errorf("%w; %s", err, kept)
	}
	return err
}

// tell says what was left out and altered, and what became of jobs that did not run.
func (c *call) tell(o *Outcome) {
	c.tellOfRecords(o.report)
	c.tellOfLimits()
	c.tellOfPredictions()
	c.tellOfJobs(o)
	// Whoever changed the machine or the part of the log has changed the load on purpose.
	if asked := c.Workload.Options; len(o.Results) > 0 && asked.Load == 0 && asked.Procs == 0 && asked.First == 0 && asked.Skip == 0 && !asked.Feedback {
		if missed := c.tables.missedLoad(c.Workload.Trace, o.Results[0].Summary.OfferedLoad); missed != "" {
			c.options.Tell("%s: %s", c.jobs.name, missed)
		}
	}
	if gap := c.gap(o); gap != "" {
		c.options.Tell("%s", gap)
	}
}

// tellOfRecords says which records the reader of the log left out or altered, with the line of the
// first of each kind.
func (c *call) tellOfRecords(report *workload.Report) {
	for reason, count := range report.Counts() {
		if !worthTelling(reason) {
			continue
		}
		where := ""
		if examples := report.Examples(reason); len(examples) > 0 && examples[0].Line > 0 {
			where = fmt.Sprintf(" (first: line %d)", examples[0].Line)
		}
		c.options.Tell("%s: %d %s: %s%s", c.jobs.name, count, reason.Class(), reason.Text(), where)
	}
}

// tellOfJobs says what became of jobs that did not run as they should. A sentence that is true of
// several policies is told once, behind the names of all of them.
func (c *call) tellOfJobs(o *Outcome) {
	var texts []string           // in order of first use
	who := map[string][]string{} // policies, by text
	for _, r := range o.Results {
		for _, text := range c.remarks(r) {
			if who[text] == nil {
				texts = append(texts, text)
			}
			who[text] = append(who[text], r.Summary.Policy)
		}
	}
	for _, text := range texts {
		c.options.Tell("%s: %s", strings.Join(who[text], ", "), text)
	}
}

// remarks are the sentences about one run: jobs that were rejected or refused, that came late, that
// wait or run at the end, and what is proved of the schedule.
func (c *call) remarks(r *Result) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if n := r.Summary.Rejected; n > 0 && len(r.rejections) > 0 {
		most := slices.MaxFunc(r.rejections, func(a, b metrics.ReasonCount) int { return cmp.Compare(a.Count, b.Count) })
		say("%d of %d jobs rejected, %d of them: %s", n, r.Summary.Jobs, most.Count, most.Reason)
	}
	for _, text := range r.refused[:min(len(r.refused), refusalsTold)] {
		say("%s", text)
	}
	if more := len(r.refused) - refusalsTold; more > 0 {
		say("%d more jobs are refused: jobs-POLICY.csv has each of them, with the reason", more)
	}
	if r.late.Jobs > 0 {
		say("%v", r.late)
	}
	if r.proof > 0 {
		say("its plan is proved the best schedule; partial schedules looked at: %d", r.proof)
	}
	if r.Unbounded != "" {
		say("there are no bounds: %s", r.Unbounded)
	}
	if n := len(r.Waiting); n > 0 {
		reason := r.Waiting[0].Reason
		if reason == "" && c.Flows.Outages != "" {
			reason = "what is out of service at the end leaves too little for them, or for jobs in front of them; give these outages an end, or leave such jobs out"
		}
		say("%d jobs still wait, from %v on: %s", n, r.Waiting[0], reason)
	}
	if n := len(r.running); n > 0 {
		say("%d jobs still run, from %v on, as the run ends two days after its last input: they are among the jobs of the summary, and in none of its means", n, r.running[0])
	}
	return all
}

// refusalsTold is the number of refused jobs that are named one by one.
const refusalsTold = 5

// worthTelling reports whether a user who did not ask should hear of a finding of the reader.
func worthTelling(r workload.Reason) bool {
	switch r {
	case workload.Skipped, workload.BeyondFirst, workload.Filtered: // as asked
		return false
	case workload.RepeatedNumber: // the rows of the jobs cannot be told apart in the files
		return true
	}
	return r.Class() != workload.Noted
}

// manifest returns what the manifest tells of the call whatever becomes of it: its settings, and
// the checksums of what it reads. For FromManifest it also has the texts of the scenario's own
// files.
func (c *call) manifest() (metrics.Manifest, error) {
	m := newManifest(c.options, c.Settings.Seed, c.jobs.name, c.values, c.start)
	var specs []string
	for _, n := range c.all {
		specs = append(specs, n.spec)
	}
	m.Settings["policy"], m.Settings["machine"] = strings.Join(specs, ","), c.machine().Kind()
	for _, t := range c.texts {
		if t.Key != "" {
			m.Settings[t.Key], m.Settings[pathKey+t.Key] = t.Text, t.Path
			m.Trace.SHA256 = t.Sum // of the batches that it describes
		} else {
			m.Settings[sumKey+t.Name] = t.Sum
		}
	}
	sums, err := c.sumsByPath(c.tables)
	if err != nil {
		return m, err
	}
	maps.Copy(m.Settings, sums)
	if c.jobs.sum != nil {
		m.Trace.SHA256, err = c.jobs.sum()
	}
	return m, err
}

// write writes what stands beside the files of the policies. stopped says why the work ended early;
// "" if it did not.
func (c *call) write(o *Outcome, stopped string) error {
	m, err := c.manifest()
	if err != nil {
		return err
	}
	m.Stopped = stopped
	m.Trace.UnixStart, m.Trace.TimeZone = c.began()
	// What the reader left out, altered and noted.
	for reason, count := range o.report.Counts() {
		r := metrics.ReasonCount{Reason: reason.String(), Count: count}
		switch reason.Class() {
		case workload.Damaged, workload.LeftOut:
			m.Dropped = append(m.Dropped, r)
		case workload.Changed:
			m.Changed = append(m.Changed, r)
		default:
			if worthTelling(reason) {
				m.Noted = append(m.Noted, r)
			}
		}
	}
	// The policies, each with its fingerprint and files.
	m.Gap = c.gap(o)
	for _, r := range o.Results {
		m.Runs = append(m.Runs, r.inManifest())
	}
	if err := errors.Join(c.writeForAll("summary.csv", func(w io.Writer) error { return o.Print(w, "csv") }), c.writeCapacity(o), c.writeSpreads(o)); err != nil {
		return err
	}
	// The files for all policies. Perfetto's come last: they are made of the others, and the
	// manifest is written again with them.
	m.End = time.Now()
	return errors.Join(c.writeEnergy(o), m.WriteFile(filepath.Join(c.dir.Path, "manifest.json")), c.writeRequests(), c.writeNodes(), c.removeOthers(), c.writePerfetto(&m))
}

// newManifest begins the manifest of a run, without what the run has left. Dropped and Changed are
// empty lists, not nil: the file has [] then, not null.
func newManifest(o Options, seed uint64, workload string, settings map[string]string, began time.Time) metrics.Manifest {
	m := metrics.Manifest{
		Command: o.Command, Seed: seed, Start: began, Trace: metrics.TraceFile{Name: workload},
		Dropped: []metrics.ReasonCount{}, Changed: []metrics.ReasonCount{}, Settings: settings,
	}
	m.Version, m.Program = versions(o.Version)
	if m.Command == nil {
		m.Command = os.Args
	}
	return m
}

// inManifest returns what a manifest says of a run.
func (r *Result) inManifest() metrics.ManifestRun {
	return metrics.ManifestRun{Policy: r.Summary.Policy, Fingerprint: fmt.Sprintf("%016x", r.Fingerprint), Files: r.Files, Unbounded: r.Unbounded}
}

// writeForAll writes a file of which there is one for all policies.
func (c *call) writeForAll(name string, write func(io.Writer) error) error {
	c.wrote = append(c.wrote, name)
	return atomicfile.Write(filepath.Join(c.dir.Path, name), write)
}

// removeOthers removes the files for all policies that an earlier run may have left and this
// one has not written. A workload of this run stays.
func (c *call) removeOthers() (err error) {
	for _, name := range rows.OfAllPolicies() {
		path := filepath.Join(c.dir.Path, name)
		if !slices.Contains(c.wrote, name) && !atomicfile.Same(path, c.Workload.Trace) {
			err = errors.Join(err, removeOld(path))
		}
	}
	return err
}

// prefixes returns the beginnings of the names of a run's files. Of temporary files with these
// names a killed run may have left some; outdir removes them.
func prefixes() []string {
	all := []string{"manifest.json"}
	for _, kind := range rows.Kinds() {
		all = append(all, kind+"-", kind+".")
	}
	return all
}
