package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
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

// setting is what a flag of the command, a key of a scenario file or a list of a
// study sets by its name.
type setting struct {
	name    string
	section string // of the file
	get     func(*Scenario) string
	set     func(*Scenario, string) error
}

// of is the setting that to points to, read by parse.
func of[T any](section, name string, to func(*Scenario) *T, parse func(string) (T, error)) setting {
	return setting{
		name: name, section: section,
		get: func(sc *Scenario) string { return fmt.Sprint(*to(sc)) },
		set: func(sc *Scenario, text string) (err error) {
			v, err := parse(text)
			if err == nil {
				*to(sc) = v
			}
			return err
		},
	}
}

// settings are all of them, in the order of the command's help.
var settings = []setting{
	{
		"policy", "", func(sc *Scenario) string { return strings.Join(sc.Policies, ",") },
		func(sc *Scenario, list string) (err error) { sc.Policies, err = policy.Specs(list); return err },
	},
	of("workload", "trace", func(sc *Scenario) *string { return &sc.Workload.Trace }, text),
	of("workload", "from", func(sc *Scenario) *string { return &sc.Workload.From }, text),
	of("flows", "reservations", func(sc *Scenario) *string { return &sc.Flows.Reservations }, text),
	of("flows", "outages", func(sc *Scenario) *string { return &sc.Flows.Outages }, text),
	of("flows", "victims", func(sc *Scenario) *string { return &sc.Flows.Victims }, text),
	of("", "procs", func(sc *Scenario) *int { return &sc.Workload.Options.Procs }, whole[int](1, math.MaxInt32)),
	of("workload", "procs-from", func(sc *Scenario) *workload.ProcsFrom { return &sc.Workload.Options.ProcsFrom }, workload.ParseProcsFrom),
	of("workload", "estimates", func(sc *Scenario) *workload.Estimates { return &sc.Workload.Options.Estimates }, workload.ParseEstimates),
	of("workload", "missing-estimate", func(sc *Scenario) *workload.MissingEstimate { return &sc.Workload.Options.MissingEstimate }, workload.ParseMissingEstimate),
	of("workload", "overrun", func(sc *Scenario) *entity.Overrun { return &sc.Workload.Options.Overrun }, entity.ParseOverrun),
	whereSetting,
	of("workload", "first", func(sc *Scenario) *int64 { return &sc.Workload.Options.First }, whole[int64](0, math.MaxInt64)),
	of("workload", "skip", func(sc *Scenario) *int64 { return &sc.Workload.Options.Skip }, whole[int64](0, math.MaxInt64)),
	of("workload", "load", func(sc *Scenario) *float64 { return &sc.Workload.Options.Load }, load),
	of("workload", "shift", func(sc *Scenario) *bool { return &sc.Workload.Options.Shift }, trueOrFalse),
	of("workload", "sort", func(sc *Scenario) *bool { return &sc.Workload.Options.Sort }, trueOrFalse),
	of("workload", "feedback", func(sc *Scenario) *bool { return &sc.Workload.Options.Feedback }, trueOrFalse),
	of("workload", "strict", func(sc *Scenario) *bool { return &sc.Workload.Options.Strict }, trueOrFalse),
	moldableSetting,
	of("settings", "seed", func(sc *Scenario) *uint64 { return &sc.Settings.Seed }, whole[uint64](0, math.MaxInt64)),
	of("settings", "pass", func(sc *Scenario) *entity.Pass { return &sc.Settings.Pass }, entity.ParsePass),
	wakeSetting, overheadSetting,
	{
		"compression", "settings", func(sc *Scenario) string { return onOff(!sc.Settings.NoCompression) },
		func(sc *Scenario, text string) error {
			if text != "on" && text != "off" {
				return fmt.Errorf("want on or off, not %q", text)
			}
			sc.Settings.NoCompression = text == "off"
			return nil
		},
	},
	of("settings", "allocation", func(sc *Scenario) *metrics.Allocation { return &sc.Settings.Allocation }, metrics.ParseAllocation),
	of("settings", "power", func(sc *Scenario) *Power { return &sc.Settings.Power }, ParsePower),
	of("settings", "predict", func(sc *Scenario) *string { return &sc.Settings.Predict }, text),
	of("settings", "correct", func(sc *Scenario) *string { return &sc.Settings.Correct }, text),
	tauSetting, warmupSetting,
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func text(s string) (string, error) { return s, nil }

func whole[T int | int64 | uint64](least, most T) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := strconv.ParseUint(s, 10, 64)
		if errors.Is(err, strconv.ErrRange) || err == nil && v > uint64(most) {
			return 0, fmt.Errorf("want a whole number of %d to %d, not %s", least, most, s)
		}
		if err != nil || T(v) < least {
			return 0, fmt.Errorf("want a whole number of %d or more, not %q", least, s)
		}
		return T(v), nil
	}
}

func aboveZero(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("want a number above 0, not %q", s)
	}
	return v, nil
}

func load(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v <= workload.MostLoad) {
		return 0, fmt.Errorf("want a number above 0, at most %v, not %q", float64(workload.MostLoad), s)
	}
	return v, nil
}

func trueOrFalse(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("want true or false, not %q", s)
	}
	return s == "true", nil
}

// SettingNames are the names that Set knows.
func SettingNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

// Set gives a setting, by the name of its flag, the value that the text says.
// Its error is a *SettingError.
func (sc *Scenario) Set(name, text string) error {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
	if i < 0 {
		return wrong(name, "there is no such setting: there are %s", strings.Join(SettingNames(), ", "))
	}
	if err := settings[i].set(sc, text); err != nil {
		return &SettingError{name, err}
	}
	return nil
}

// Values are all settings by their names, as Set reads them.
func (sc *Scenario) Values() map[string]string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.name] = s.get(sc)
	}
	return values
}

func (sc *Scenario) machine() Machine {
	if sc.Machine == nil {
		return Cluster{}
	}
	return sc.Machine
}

// defaults are parameters for policies that take them and do not give them.
func (sc *Scenario) defaults() string {
	return "compression=" + onOff(!sc.Settings.NoCompression)
}
