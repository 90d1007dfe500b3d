package simulation

import (
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload"
)

// Scenario is one simulation under one or more policies: the machine, the jobs, what else happens,
// the policies and the conventions. New returns one with the defaults. A program may run a Scenario
// again, or copy it and change a field of the copy.
type Scenario struct {
	Machine  Machine // nil means a Cluster of as many processors as the trace says
	Workload Workload
	Flows    Flows
	// Policies are compared, by their names with parameters ("batch-slicer:k=5"). If the list is
	// empty, the machine's own defaults are run. On a Grid the names are those of strategies.
	Policies []string
	Settings Settings
	// Slurm, if its Config is set, makes Slurm's controller decide in place of the policies.
	// Machine must be nil then: slurm.conf describes the machine.
	Slurm Slurm

	// texts are the files from which Read read the scenario, in the order in which they were
	// opened; the first is the scenario's own. The manifest has them, so that FromManifest needs no
	// file.
	texts []fileText

	// base is the name of the file that describes the machine. Batches of a domain, which no log
	// names, are called by it in messages and files.
	base string
}

// Workload says where the jobs come from. Jobs takes precedence over Trace, Trace over the batches
// of the machine, and these over the sample log.
type Workload struct {
	// Trace is the path of a log, job file or workflow, "-" for standard input, or a source with
	// its parameters ("lublin:jobs=1000:load=0.8"). If it is empty, the jobs are those of Jobs, the
	// batches of a Domain or Grid, or the sample log.
	Trace string
	// From is the format of the log with its parameters ("sacct:zone=Europe/London"). If it is
	// empty, the format is recognised from the content.
	From string
	// Options say how records become jobs, and which part of the records is taken. Options.Procs is
	// the size of the machine that the trace comes from, and so the size of a Cluster that gives no
	// number itself.
	Options workload.Options
	// Moldable, if set, gives rigid jobs shapes, by a speed-up model with its
	// parameters ("amdahl:serial=0.05"); see SpeedUps.
	Moldable string
	// Jobs, if set, begins a reading of jobs that a program makes. It is called once for every
	// policy with Settings.Seed, and must yield the same jobs each time. Options do not apply to
	// these jobs. Name is the name of these jobs in messages and files.
	Jobs func(seed uint64) (entity.Source, error)
	Name string
}

// Flows are the happenings beside the jobs of the workload. All fields are empty by default.
type Flows struct {
	// Reservations is a CSV file of users' advance reservations; see workload.OpenReservations.
	// A Grid has none.
	Reservations string
	// Outages is a log of capacity that is lost, a CSV file, or a model of failures with its
	// parameters ("exponential:mtbf=30d:repair=4h"). Victims says what becomes of the jobs that are
	// hit ("checkpoint:interval=3600:cost=60"; "" means requeue), and needs Outages.
	Outages, Victims string
}

// Settings are the conventions of the simulation. The table in settings.go has a row for each of
// them, with its default. The zero value differs from New in the seed alone.
type Settings struct {
	// Seed and Replication together determine all random numbers. New has the seed 1 and the
	// replication 0. A program counts Replication up for independent runs under one seed; no flag
	// sets it. A manifest tells a replication other than 0, and FromManifest reads it back.
	Seed, Replication uint64
	// Pass says how many decision rounds an instant with several events has.
	Pass entity.Pass
	// Wake says when schedulers are awake ("30s", "apart=5s"; "" means always). Overhead is the
	// time for which processors are held around each job ("dispatch=3s:epilogue=10s"; "" is none).
	// See ParseWake and parseOverhead.
	Wake, Overhead string
	// NoCompression keeps reservations where they are after an early release. It is for
	// conservative policies whose own parameter compression is not given.
	NoCompression bool
	// Allocation says how jobs-POLICY.csv tells the processors of a job.
	Allocation metrics.Allocation
	Power      Power
	// Predict names the predictor of runtimes by which jobs are planned ("recent:k=3"), and Correct
	// the corrector for jobs that outlive their prediction ("doubling"). "" leaves each to the
	// policy; most policies plan by the requests.
	Predict, Correct string
	// Tau is the least run time in a bounded slowdown; 0 means 10 s. Warmup is the part at the
	// beginning that the summary leaves out; files have all jobs.
	Tau    metrics.Tau
	Warmup metrics.Warmup
	// Bounds asks for values that no schedule of the same jobs can be below; see Result.Bounds.
	Bounds bool
}

// fileText is a file that belongs to a scenario, as it was when it was read.
type fileText struct {
	Key  string // "scenario", "domain", "grid"; "" for one of which only the checksum counts
	Name string // as the scenario names it
	Path string // where it stands
	Text string
	Sum  string // SHA-256 in hexadecimal
}

// New returns a scenario with the defaults of the command: the sample on a cluster, with seed 1.
func New() *Scenario { return &Scenario{Settings: Settings{Seed: 1}} }

// SettingError reports a setting that makes no sense in its scenario. The command prints the name
// as a flag.
type SettingError struct {
	Name string // of the setting, and of its flag
	Err  error
}

func (e *SettingError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *SettingError) Unwrap() error { return e.Err }

// wrong returns a SettingError with a formatted text.
func wrong(name, format string, args ...any) error {
	return &SettingError{name, fmt.Errorf(format, args...)}
}

// machine returns the machine on which the jobs run: Slurm's where it decides, and a Cluster of the
// trace's size where none is given.
func (sc *Scenario) machine() Machine {
	if sc.Slurm.Config != "" {
		return &SlurmCluster{sc.Slurm}
	}
	if sc.Machine == nil {
		return Cluster{}
	}
	return sc.Machine
}

// defaults returns the parameters of the settings in the form of a policy's parameters. Tables add
// them to a policy that has such a parameter and was not given it; other policies ignore them.
func (sc *Scenario) defaults() string {
	return "compression=" + onOff(!sc.Settings.NoCompression)
}
