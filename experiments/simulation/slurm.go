package simulation

// A machine on which Slurm decides: slurm.conf, accounts and reservations of a site, and jobs of
// a log, or a folder with all of it.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/experiments/slurmcheck"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/internal/indir"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/policy/slurm"
	"github.com/gridslot/gridslot/policy/slurm/replay"
	"github.com/gridslot/gridslot/workload"
)

// Slurm says where Slurm's configuration stands. It is empty if Slurm does not decide.
type Slurm struct {
	// Config is the path of slurm.conf, or of a folder with slurm.conf, jobs.csv and other files of
	// Slurm. Accounts is the path of the commands of sacctmgr that made accounts, users and QoSs;
	// "" if there are none, or if the folder has them.
	Config, Accounts string
	// Overrides stand in place of what slurm.conf says. Invariant: they are ordered by key, and no
	// key is there twice.
	Overrides []slurm.Override
	// Phases, if above 0, is the number of runs, each with another phase of the controller.
	Phases int
}

// slurmOverride is the access to what stands in place of a key of slurm.conf.
func slurmOverride(key string) access {
	// at returns where the key stands among the overrides, or where it belongs.
	at := func(sc *Scenario) (int, bool) {
		return slices.BinarySearchFunc(sc.Slurm.Overrides, key, func(o slurm.Override, key string) int { return strings.Compare(o.Key, key) })
	}
	return access{
		Get: func(sc *Scenario) string {
			if i, there := at(sc); there {
				return sc.Slurm.Overrides[i].Value
			}
			return ""
		},
		Set: func(sc *Scenario, text string) error {
			o := slurm.Override{Key: key, Value: text}
			if wrong := new(slurm.OverrideError); errors.As(o.Check(), &wrong) {
				return wrong.Err
			}
			i, there := at(sc)
			sc.Slurm.Overrides = slices.Clone(sc.Slurm.Overrides) // other cases of a study may have the same
			if there {
				sc.Slurm.Overrides[i] = o
			} else {
				sc.Slurm.Overrides = slices.Insert(sc.Slurm.Overrides, i, o)
			}
			return nil
		},
	}
}

// overrideFailed returns an error of reading slurm.conf: one of the setting if an override is
// wrong.
func overrideFailed(err error) error {
	if wrong := new(slurm.OverrideError); errors.As(err, &wrong) {
		return &SettingError{slurmKeys + wrong.Key, wrong.Err}
	}
	return err
}

// slurmPolicy is the name of the one policy of a machine on which Slurm decides.
const slurmPolicy = "slurm"

// isFolder reports whether the configuration is a folder, which has the jobs as well.
func (s Slurm) isFolder() bool {
	info, err := os.Stat(s.Config)
	return err == nil && info.IsDir()
}

// FilesAt returns the paths of the files that a setting reads if its value is a path. For the
// setting slurm and a folder these are the files of the folder.
func FilesAt(setting, path string) []string {
	if s := (Slurm{Config: path}); setting == "slurm" && s.isFolder() {
		return replay.FilesOf(path)
	}
	return []string{path}
}

// check refuses settings of Slurm if Slurm does not decide.
func (s Slurm) check() error {
	switch {
	case s.Config != "":
		return nil
	case s.Accounts != "":
		return wrong("accounts", "they are what Slurm's rules read: give slurm, too")
	case s.Phases > 0:
		return wrong("phases", "they are those of Slurm's controller: give slurm, too")
	case len(s.Overrides) > 0:
		return wrong(slurmKeys+s.Overrides[0].Key, "it stands in place of what slurm.conf says: give slurm, too")
	}
	return nil
}

// files returns the paths of the files that are read.
func (s Slurm) files() []string {
	paths := FilesAt("slurm", s.Config)
	if s.Accounts != "" {
		paths = append(paths, s.Accounts)
	}
	return paths
}

// SlurmCluster is a machine on which Slurm decides: its controller replays the jobs in place of a
// metascheduler and a policy.
type SlurmCluster struct{ Slurm }

// Kind implements Machine.
func (*SlurmCluster) Kind() string { return "slurm" }

func (*SlurmCluster) names(sc *Scenario, _ *Tables) ([]policyName, error) { return slurmNames(sc) }

// withoutSlurm has the settings that do not go with Slurm's rules, and why.
var withoutSlurm = []struct{ name, why string }{
	{"victims", "Slurm says itself what becomes of jobs whose nodes fail"},
	{"overhead", "jobs are launched and cleared away as recordings of Slurm have it"},
	{"wake", "Slurm's loops wake as slurm.conf says"},
	{"pass", "Slurm's loops wake as slurm.conf says"},
	{"moldable", "Slurm starts jobs as they are"},
}

// check refuses settings that mean nothing with Slurm, and files beside a folder that has them
// itself. slurm.conf is read here, so that a wrong override is told early.
func (m *SlurmCluster) check(sc *Scenario) error {
	if sc.Machine != nil {
		return wrong("slurm", "it is a machine of its own: give no domain or grid")
	}
	changed := sc.changed()
	for _, no := range withoutSlurm {
		if changed(no.name) {
			return wrong(no.name, "it does not go with --slurm: %s", no.why)
		}
	}
	switch p := sc.Settings.Power; {
	case p.SwitchOff:
		return wrong("power", "switch-off: Slurm's own way to save power (SuspendTime) is not simulated")
	case p.PerNode > 1:
		return wrong("power", "per-node: slurm.conf says which nodes there are")
	}
	conf := m.Config
	if m.isFolder() {
		conf = filepath.Join(conf, replay.ConfigFile)
	}
	if _, err := replay.ReadSite(conf, "", m.Overrides...); err != nil {
		return overrideFailed(err)
	}
	if m.isFolder() {
		if sc.Workload.Options.Feedback {
			return wrong("feedback", "jobs of a folder come when its %s says: give a log whose fields 17 and 18 hold, and its %s", replay.JobsFile, replay.ConfigFile)
		}
		for _, own := range []struct{ name, path string }{{"accounts", m.Accounts}, {"reservations", sc.Flows.Reservations}, {"trace", sc.Workload.Trace}} {
			if own.path != "" {
				return wrong(own.name, "%s is a folder, which has all files itself: give its %s in place of it", m.Config, replay.ConfigFile)
			}
		}
		return sc.refuse(ofTraces, "it is about a trace, and the jobs of a folder are those of its %s", replay.JobsFile)
	}
	if sc.Workload.Trace == "" && sc.Workload.Jobs == nil {
		return wrong("slurm", "%s has no jobs: give a log as TRACE, or a folder with %s and %s", m.Config, replay.ConfigFile, replay.JobsFile)
	}
	return nil
}

// prepare reads the site, and the jobs of a folder. The runs of all phases share what was read:
// Later shifts a copy by the phase.
func (m *SlurmCluster) prepare(c *call) (runner, error) {
	in, err := m.read(c)
	if err != nil {
		return nil, err
	}
	// Time 0 of the log is an instant of the calendar, which times of day in slurm.conf need.
	if c.jobs.trace != nil {
		if h := c.jobs.trace.Header; h != nil && h.UnixStartTime > 0 {
			in.Config.Epoch = h.UnixStartTime
		}
	}
	if err := m.outages(c, in); err != nil {
		return nil, err
	}
	for _, u := range in.Unknown {
		c.options.Tell("%s:%d: %v", u.File, u.Line, u.Unknown)
	}
	// slurm.conf says how large the machine is, and so what a load is.
	cpus := in.Config.CPUs()
	if n := c.Workload.Options.Procs; n > 0 && n != cpus {
		return nil, wrong("procs", "slurm.conf says what the machine has: %d CPUs, not %d", cpus, n)
	}
	c.values["procs"] = strconv.Itoa(cpus)
	if c.jobs.trace != nil { // a load is one of this machine, not of the machine that the log comes from
		c.jobs.trace.MaxProcs = cpus
	}
	// Files of events that belong to no phase count among the files for all policies; see
	// slurmEventsFile.
	if c.options.Dir != "" && slices.ContainsFunc(c.all, func(n policyName) bool { return n.file == slurmPolicy }) {
		c.wrote = append(c.wrote, replay.EventsFile)
		if in.Plain {
			c.wrote = append(c.wrote, replay.AllEventsFile)
		}
	}
	// Under feedback users bring the jobs one by one; otherwise the machine gets all of them at
	// once.
	return func(ctx context.Context, p *policyRun) (*Result, error) {
		phase, err := slurmPhase(p.spec, c.Settings.Seed)
		if err != nil {
			return nil, err
		}
		if p.settings.Links != nil {
			return m.run(ctx, in.Later(phase), cpus, p, newSlurmUsers(m.logOf(c, in), phase))
		}
		in, err := m.jobsOf(c, in, p)
		if err != nil {
			return nil, err
		}
		return m.run(ctx, in.Later(phase), cpus, p, nil)
	}, nil
}

// read reads what the machine plays. The jobs of a folder become those of the call, though the
// machine plays them from the folder: the call reads them for the files.
func (m *SlurmCluster) read(c *call) (*replay.Input, error) {
	if !m.isFolder() {
		return m.readSite(c)
	}
	in, err := replay.ReadFolder(m.Config, m.Overrides...)
	if err != nil {
		return nil, overrideFailed(err)
	}
	all := make([]entity.Job, len(in.Jobs))
	for i := range in.Jobs { // the call and the machine share them
		all[i] = *in.Jobs[i].As
		in.Jobs[i].As = &all[i]
	}
	c.jobs = inMemory(filepath.Base(filepath.Clean(m.Config)), all)
	c.jobs.sum = func() (string, error) {
		path := filepath.Join(m.Config, replay.JobsFile)
		text, err := os.ReadFile(path)
		return textOf("", path, path, text).Sum, err
	}
	return in, nil
}

// autoIntervals is the number of CPUs up to which files name the CPUs of a job, if the setting is
// auto.
const autoIntervals = 4096

// slurmAllocation returns what files say of the CPUs of jobs. There is no metascheduler, which
// would settle auto on other machines.
func slurmAllocation(asked metrics.Allocation, cpus int) metrics.Allocation {
	switch {
	case asked != metrics.AllocationAuto:
		return asked
	case cpus > autoIntervals:
		return metrics.AllocationCount
	}
	return metrics.AllocationIntervals
}

// run plays the jobs once: those of the input, or those that users bring, if users is not nil.
func (m *SlurmCluster) run(ctx context.Context, in *replay.Input, cpus int, p *policyRun, users *slurmUsers) (*Result, error) {
	s := p.settings
	s.Processors = cpus
	s.Allocation = slurmAllocation(s.Allocation, cpus)
	s.Attempts = s.Attempts || in.Outages != nil
	x := newSession(s)
	defer x.close()
	x.account.Processors = cpus
	x.countForBounds(nil)
	losses := &outageFile{}
	machine, watchers, err := x.slurmMachine(in, p, users, losses)
	if err != nil {
		return nil, err
	}
	x.slurmOutages(machine, in, losses)
	if err := x.slurmEvents(machine, in.Plain); err != nil {
		return nil, err
	}
	if users != nil || len(in.Jobs)+len(in.Reservations)+len(in.Orders) > 0 { // with nothing to play it would never end
		machine.Begin()
	}
	if users != nil {
		if err := users.begin(x, machine, p.jobs); err != nil {
			return nil, err
		}
	}
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	watchers.Settle()
	if err := x.end(); err != nil {
		return nil, err
	}
	r, err := x.commit()
	if err != nil {
		return nil, err
	}
	r.Waiting, r.running, r.refused = machine.Waiting(), machine.Running(), machine.Refusals()
	r.Summary.Rounds, r.Summary.Events = machine.Controller().Passes(), x.sim.Executed()
	return &r, nil
}

// slurmMachine attaches the flows of the run, which listen to the jobs, and makes the machine that
// tells them. There is no machineSite to open: Slurm's controller stands in the place of a metascheduler.
func (x *session) slurmMachine(in *replay.Input, p *policyRun, users *slurmUsers, losses *outageFile) (*replay.Machine, *entity.Observers, error) {
	s := &x.settings
	foreteller, err := x.foreteller()
	if err != nil {
		return nil, nil, err
	}
	flows := []siteFlow{
		listening(x.recorder), listening(p.observers("")...), listening(x.account), x.predicted(), x.power("", ""),
		x.jobs("", s.Processors, s.Allocation), x.queue(), x.events("", s.Allocation), x.decisions(""), x.attemptsFile(), x.accuracyFile(), x.powerProfile(),
	}
	if in.Outages != nil {
		flows = append(flows, losses)
	}
	if users != nil {
		flows = append(flows, listening(users))
	}
	observers, err := x.attach(&machineSite{Flows: flows})
	if err != nil {
		return nil, nil, err
	}
	machine, err := replay.NewMachine(x.sim, in)
	if err != nil {
		return nil, nil, err
	}
	if in.Recorded {
		machine.Until = replay.RecordingEnds
	}
	watchers := entity.NewObservers(observers...)
	machine.Watch = replay.NewWatch(in.Config, watchers)
	machine.Watch.Late, machine.Whys = in.Late, s.Decisions
	if machine.Watch.Foreteller = foreteller; foreteller != nil {
		foreteller.Now = machine.Now
	}
	if s.Power != nil {
		s.Power.Hosts(in.Sizes())
	}
	x.onClose(machine.Close)
	x.over, x.slurm, x.lead = machine.Over, machine, in.Late
	return machine, watchers, nil
}

// slurmOutages has the machine tell of nodes that fail and come back: the account and the meter of
// energy hear of both, the file of losses of failures.
func (x *session) slurmOutages(machine *replay.Machine, in *replay.Input, losses *outageFile) {
	down := func(nodes []int, down bool) {
		n := procset.Count(in.CPUsOf(nodes))
		if !down {
			n = -n
		}
		x.account.Down(machine.Now(), n)
		if x.settings.Power != nil {
			for _, at := range nodes {
				x.settings.Power.Down(machine.Now(), at, down)
			}
		}
	}
	machine.Lost = func(l replay.Lost) {
		down(l.Nodes, true)
		if w := losses.writer; w != nil {
			w.Lost(flow.Lost{Outage: flow.Outage{Known: l.Known, From: machine.Now(), To: l.To, Where: entity.Where{Set: in.CPUsOf(l.Nodes)}}, Victims: l.Victims})
		}
	}
	machine.Regained = func(nodes []int) { down(nodes, false) }
}

// outages makes nodes fail as the scenario says. Outages that are known ahead are maintenance, for
// which operators make reservations: the input gets one for each.
func (m *SlurmCluster) outages(c *call, in *replay.Input) error {
	s, err := c.outageSettings()
	if s == nil || err != nil {
		return err
	}
	c.needsAttempts()
	// A model: failures one after the other, as they are drawn.
	if s.log == nil {
		model := s.model(len(in.Config.Nodes), c.Settings.Seed, c.Settings.Replication)
		all, err := model.All()
		if err != nil {
			return &SettingError{"outages", err}
		}
		in.Outages = func(yield func(replay.Outage) bool) {
			for f := range all {
				o := replay.Outage{Known: f.From, From: f.From, To: f.To}
				for n := f.First; n <= f.Last; n++ {
					o.Nodes = append(o.Nodes, n)
				}
				if !yield(o) {
					return
				}
			}
		}
		return nil
	}
	// A log: its rows name nodes by number or by Slurm's names, in any order.
	rows, err := s.log.Hosts(func(numbers []procset.Range, names string) (at []procset.Range, err error) {
		nodes, err := in.NodesAt(numbers, names)
		slices.Sort(nodes)
		for _, n := range slices.Compact(nodes) {
			at = procset.Extend(at, int32(n))
		}
		return at, err
	})
	if err != nil {
		return &SettingError{"outages", err}
	}
	var all []replay.Outage
	for i, x := range rows {
		o := replay.Outage{Known: x.Known, From: x.From, To: x.To}
		for _, r := range x.Set {
			for n := r.First; n <= r.Last; n++ {
				o.Nodes = append(o.Nodes, int(n))
			}
		}
		all = append(all, o)
		if x.Known < x.From {
			in.Reservations = append(in.Reservations, replay.Booking{At: x.Known, Reservation: slurm.Reservation{
				Name: fmt.Sprintf("outage%d", i+1), Start: x.From, End: x.To, Nodes: o.Nodes, Users: []string{"root"}, Maintenance: true}})
		}
	}
	slices.SortStableFunc(all, func(a, b replay.Outage) int { return cmp.Compare(a.From, b.From) })
	in.Outages = slices.Values(all)
	return nil
}

// foreteller returns who predicts the jobs of a run without a metascheduler; nil if nothing is
// predicted. Slurm has no predictions of its own, so only the setting counts.
func (x *session) foreteller() (*entity.Foreteller, error) {
	s := &x.settings
	if s.Predictor == nil {
		return nil, nil
	}
	for _, by := range []any{s.Predictor, s.Corrector} {
		if _, attaches := by.(entity.Attacher); attaches {
			return nil, wrong("predict", "%s asks to be attached to a metascheduler, and Slurm's controller is none", s.Predictor.Name())
		}
	}
	// Writers of files hear of predictions from jobs, not from a metascheduler.
	x.predictedElsewhere, x.accuracy.Predicted = true, true
	f := &entity.Foreteller{Predictor: s.Predictor, Corrector: s.Corrector}
	if _, own := s.Corrector.(predict.Own); own {
		f.Corrector = nil
	}
	return f, nil
}

// slurmEventsFile returns what a file of events is called under a policy. "slurm" by itself has the
// name alone, slurm-events.csv; each phase has a file of its own.
func slurmEventsFile(name, policy string) string {
	if policy == slurmPolicy {
		return name
	}
	return rows.FileName(rows.KindOf(name), policy, "")
}

// slurmEvents makes a machine write slurm-events.csv, if files are wanted. If that is plain (a
// folder whose jobs have no keys), another file has all events, so that they can be checked.
func (x *session) slurmEvents(m *replay.Machine, plain bool) error {
	if x.settings.Dir == "" {
		return nil
	}
	write := func(name string, plain bool) (*replay.EventWriter, error) {
		path := filepath.Join(x.settings.Dir, slurmEventsFile(name, x.settings.fileName))
		f, err := atomicfile.Create(path)
		if err != nil {
			return nil, err
		}
		w := replay.NewEventWriter(f, plain)
		x.files = append(x.files, file{path, f})
		x.closers = append(x.closers, w.Close)
		return w, nil
	}
	w, err := write(replay.EventsFile, plain)
	if err != nil {
		return err
	}
	if m.Tell = w.Tell; !plain {
		return nil
	}
	all, err := write(replay.AllEventsFile, false)
	if err != nil {
		return err
	}
	m.Tell = func(e replay.Event) {
		w.Tell(e)
		all.Tell(e)
	}
	return nil
}

// readSite reads slurm.conf, accounts and reservations of a site whose jobs come from a log.
func (m *SlurmCluster) readSite(c *call) (*replay.Input, error) {
	in, err := replay.ReadSite(m.Config, m.Accounts, m.Overrides...)
	if err != nil {
		return nil, overrideFailed(err)
	}
	if m.Accounts == "" && in.Config.Enforce.Associations {
		return nil, wrong("accounts", "%s enforces them (AccountingStorageEnforce): give the commands of sacctmgr that made them", m.Config)
	}
	if path := c.Flows.Reservations; path != "" {
		var dates replay.Dates
		if h := c.dates(); h != nil {
			dates = h.Date
		}
		if err := in.ReadReservations(path, dates); err != nil {
			return nil, &SettingError{"reservations", err}
		}
	}
	return in, nil
}

// jobsOf returns what the machine plays, with the jobs of a log. Those of a folder are there
// already.
func (m *SlurmCluster) jobsOf(c *call, in *replay.Input, p *policyRun) (*replay.Input, error) {
	if m.isFolder() {
		return in, nil
	}
	own := *in
	l := m.logOf(c, &own)
	from := sourceOf(p.jobs)
	for j := range eachJob(from) {
		own.Jobs = append(own.Jobs, l.submission(j))
	}
	return &own, sourceError(from)
}

// logOf returns what turns jobs of the call into submissions to the machine.
func (m *SlurmCluster) logOf(c *call, in *replay.Input) slurmLog {
	l := slurmLog{in: in}
	if c.jobs.trace != nil {
		l.header = c.jobs.trace.Header
	}
	return l
}

// validate checks what a run has left by the site's own files; see package slurmcheck.
func (m *SlurmCluster) validate(c *call, s Schedule, limit int) (report validate.Report, err error) {
	in, err := m.played(c)
	if err != nil {
		return report, err
	}
	// What the checker must know besides: accounts as commands, and predictions.
	given := slurmcheck.Given{Input: in, Feedback: c.Workload.Options.Feedback, Allocation: slurmAllocation(c.Settings.Allocation, in.Config.CPUs())}
	accounts := m.Accounts
	if m.isFolder() {
		accounts = filepath.Join(m.Config, replay.AccountsFile)
	}
	if text, err := os.ReadFile(accounts); err == nil {
		given.Accounts = slurm.Commands(string(text))
	} else if accounts != "" && !errors.Is(err, fs.ErrNotExist) {
		return report, err
	}
	if c.Settings.Predict != "" {
		jobs, err := indir.Open(s.Dir, s.Jobs)
		if err != nil {
			return report, fmt.Errorf("opening the schedule: %w", err)
		}
		defer jobs.Close()
		if given.Predictions, err = slurmcheck.ReadPredictions(jobs); err != nil {
			return report, err
		}
	}
	// What happened, and the schedule that came of it.
	events, err := indir.Open(s.Dir, slurmEventsFile(replay.EventsFile, c.all[0].file))
	if err != nil {
		return report, fmt.Errorf("opening what happened: %w", err)
	}
	defer events.Close()
	if in.Plain {
		all, err := indir.Open(s.Dir, slurmEventsFile(replay.AllEventsFile, c.all[0].file))
		if err != nil {
			return report, fmt.Errorf("%s has no column key, so that %s tells of starts and ends only, and what is checked stands in %s, which a study keeps with keep: controller: %w",
				replay.JobsFile, replay.EventsFile, replay.AllEventsFile, err)
		}
		defer all.Close()
		given.Plain, events = events, all
	}
	jobs, err := indir.Open(s.Dir, s.Jobs)
	if err != nil {
		return report, fmt.Errorf("opening the schedule: %w", err)
	}
	defer jobs.Close()
	return slurmcheck.Events(events, jobs, given, limit)
}

// played returns what the machine has played under the first policy of the call: the site, the jobs
// and the failures, with the phase of the policy.
func (m *SlurmCluster) played(c *call) (*replay.Input, error) {
	in, err := m.read(c)
	if err != nil {
		return nil, err
	}
	from, err := c.jobs.open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	if in, err = m.jobsOf(c, in, &policyRun{jobs: from}); err != nil {
		return nil, err
	}
	if err := m.outages(c, in); err != nil {
		return nil, err
	}
	phase, err := slurmPhase(c.all[0].spec, c.Settings.Seed)
	if err != nil {
		return nil, err
	}
	return in.Later(phase), nil
}

// slurmLog turns the jobs of a log into submissions to a machine on which Slurm decides. header has
// the names of users and queues; nil if the jobs come from no log.
type slurmLog struct {
	in     *replay.Input
	header *workload.Header // or nil
}

// comesAt is the time from the second that a log gives to the job's submission. No loop of Slurm
// wakes then.
const comesAt = des.Second / 4

// kilobytes is the number of kilobytes in a megabyte: logs count the former, Slurm the latter.
const kilobytes = 1024

// submission returns the job as its user submits it: a number of CPUs for a limit in whole minutes,
// as sbatch takes it, and what else the columns of the log tell. Amounts of a job are shared out
// among its nodes and rounded up.
func (l *slurmLog) submission(j *entity.Job) replay.Submission {
	own := slurm.Job{
		Tasks: j.Request.Nodes, Limit: max(1, (j.Request.Length+des.Minute-des.Tick)/des.Minute) * des.Minute, Length: j.Runtime,
		User: l.name(workload.FieldUser, j.User), Requeue: true,
	}
	// The partition, if the log has queues with names.
	queue := ""
	if j.Queue >= 0 && l.header != nil && l.header.Names(workload.FieldQueue).Len() > 0 { // -1 is an unknown queue
		queue = l.name(workload.FieldQueue, j.Queue)
	}
	if columns, ok := j.Extra.(entity.Columns); ok {
		text := func(name string) string {
			_, text := columns.Column(name)
			return text
		}
		count := func(name string) int {
			if n, _ := columns.Column(name); n > 0 && n <= math.MaxInt32 {
				return int(n)
			}
			return 0
		}
		// Accounts, QoS and features by their names.
		own.Account, own.Reservation = text("account"), text("reservation")
		if qos := text("qos"); qos != slurm.UsualQOS {
			own.QOS = qos
		}
		if features := text("constraints"); features != "" {
			own.Features = strings.FieldsFunc(features, func(r rune) bool { return r == '&' || r == ',' })
		}
		own.Name = text("name")
		if own.Nodes = count("nodes"); own.Nodes == 0 { // as it ran; who asks for one node at least may have more
			if asked := count("req_nodes"); asked > 1 {
				own.Nodes = asked
			}
		}
		// Memory for each node, or for each CPU if the number of nodes is open; GPUs for each node.
		nodes := max(own.Nodes, 1)
		if l.in.Config.Select.Memory {
			if own.Memory = (count("memory") + nodes*kilobytes - 1) / (nodes * kilobytes); own.Nodes == 0 && own.Memory > 0 {
				own.Memory, own.MemoryPerCPU = 0, max(1, own.Memory/max(own.Tasks, 1))
			}
		}
		if own.GRES = typesOf(text("req_tres"), nodes, l.in.Config); own.GRES == nil {
			if gpus := count("gpus"); gpus > 0 && l.in.Config.HasGRES(gpuGRES) {
				own.GRES = []slurm.Amount{{Kind: gpuGRES, Count: (gpus + nodes - 1) / nodes}}
			}
		}
	}
	// It comes a quarter of a second behind the log's second, to the partition of its queue.
	s := replay.Submission{Key: strconv.FormatInt(j.ID, 10), At: j.Submit.Add(comesAt), Job: &own}
	l.in.SetPartitions(&s, queue)
	s.As = s.Observed(j)
	return s
}

// gpuGRES is the kind of devices that the column gpus counts.
const gpuGRES = "gpu"

// typesOf returns the GPUs of each node by type that a job asked for, as ReqTRES of sacct has them for all nodes
// (gres/gpu:a100=2); nil if it named no type, or one that no node has.
func typesOf(reqTRES string, nodes int, conf *slurm.Config) (all []slurm.Amount) {
	for word := range strings.SplitSeq(reqTRES, ",") {
		kind, number, _ := strings.Cut(strings.TrimPrefix(word, "gres/"), "=")
		n, err := strconv.Atoi(number)
		switch {
		case !strings.HasPrefix(word, "gres/"+gpuGRES+":") || err != nil || n <= 0:
		case !conf.HasGRES(kind):
			return nil
		default:
			all = append(all, slurm.Amount{Kind: kind, Count: (n + nodes - 1) / nodes})
		}
	}
	return all
}

// name returns the name for which the number of a user or queue stands, or the number itself.
func (l *slurmLog) name(field int, number int32) string {
	if l.header != nil {
		if name := l.header.Names(field).Name(int64(number)); name != "" {
			return name
		}
	}
	return strconv.Itoa(int(number))
}
