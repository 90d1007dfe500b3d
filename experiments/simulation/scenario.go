package simulation

import (
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload"
)

// Scenario is one simulation under one or more policies. New has the defaults.
type Scenario struct {
	Machine  Machine // nil means a Cluster of as many processors as the trace says
	Workload Workload
	Flows    Flows
	// Policies are compared, by their names with parameters; none means those of
	// the machine. On a Grid they are strategies.
	Policies []string
	Settings Settings
	// Slurm has Slurm decide where its configuration is named.
	Slurm Slurm

	// Texts are the files from which the scenario was read, for the manifest.
	Texts []Text

	base string // what a domain's batches are called
}

// Workload is where the jobs come from.
type Workload struct {
	// Trace is a path of a log, "-" for standard input, or a source with its
	// parameters ("lublin:jobs=1000:load=0.8"). Where it is empty the jobs are
	// those of Jobs, the batches of a Domain, or the sample.
	Trace string
	// From is the format of the log with its parameters ("sacct:zone=Europe/London"); ""
	// means what its content looks like.
	From string
	// Options are how records become jobs, and which part of them is taken. Procs
	// is the size of the machine that the trace comes from, and so of a Cluster
	// that gives no number itself.
	Options workload.Options
	// Moldable, if set, gives rigid jobs shapes, by a speed-up model with its
	// parameters ("amdahl:serial=0.05"); see SpeedUps.
	Moldable string
	// Jobs, if set, begins a reading of jobs that a program makes; Name is what
	// messages and files call them. Options do not apply to them.
	Jobs func(seed uint64) (entity.Source, error)
	Name string
}

// Flows are what happens beside the jobs of the workload.
type Flows struct {
	// Reservations is a CSV file of users' advance reservations.
	Reservations string
	// Outages is a log of capacity that is lost, a CSV file, or a model of failures with
	// its parameters ("exponential:mtbf=30d:repair=4h"); Victims says what becomes of the
	// jobs that are hit ("checkpoint:interval=3600:cost=60"; "" means requeue).
	Outages, Victims string
}

// Settings are the conventions of the simulation.
type Settings struct {
	Seed, Replication uint64
	Pass              entity.Pass
	// Wake is when schedulers are awake ("30s", "apart=5s"; "" means always), Overhead
	// what the machine adds to each job ("dispatch=3s:epilogue=10s"); see ParseWake and
	// ParseOverhead.
	Wake, Overhead string
	// NoCompression is for conservative policies that do not say it themselves.
	NoCompression bool
	Allocation    metrics.Allocation
	Power         Power
	// Predict is how long jobs are thought to run ("recent:k=3"), and Correct what is
	// believed of those that run on ("doubling"); "" means as the policy has it: by the
	// requests, for most.
	Predict, Correct string
	// Tau bounds slowdowns, and Warmup is what the summary leaves out at the beginning.
	Tau    metrics.Tau
	Warmup metrics.Warmup
	// Bounds asks for what no schedule can be below; see Result.Bounds.
	Bounds bool
}

// Text is a file that belongs to a scenario.
type Text struct {
	Key  string // "scenario", "domain", "grid"; "" for one of which only the checksum counts
	Name string // as the scenario names it
	Path string // where it stands
	Text string
	Sum  string // SHA-256 in hexadecimal
}

// New is a scenario with the defaults of the command: the sample on a cluster.
func New() *Scenario { return &Scenario{Settings: Settings{Seed: 1}} }

// SettingError is a setting that makes no sense in its scenario.
type SettingError struct {
	Name string // of the setting, and of its flag
	Err  error
}

func (e *SettingError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *SettingError) Unwrap() error { return e.Err }

func wrong(name, format string, args ...any) error {
	return &SettingError{name, fmt.Errorf(format, args...)}
}

func (sc *Scenario) machine() Machine {
	if sc.Slurm.Config != "" {
		return &SlurmCluster{sc.Slurm}
	}
	if sc.Machine == nil {
		return Cluster{}
	}
	return sc.Machine
}

// defaults are parameters for policies that take them and do not give them.
func (sc *Scenario) defaults() string {
	return "compression=" + onOff(!sc.Settings.NoCompression)
}
