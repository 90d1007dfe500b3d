package simulation

// The settings of a run, each declared once: its row is the flag of the command, the key of
// a scenario file, the list of a study, the entry of a manifest, and the line of every page
// that lists settings.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// Setting is a row of the table of settings. It describes a setting for the command's help, the
// pages and the schema, and reads and writes its value.
type Setting struct {
	// Name is the name of the flag of the command, of the key in files, of the list in a study, and
	// of the entry in a manifest.
	Name string
	// Section is the part of a scenario file in which the key stands. "" means that the setting is
	// in no section, and the file has a separate key for it.
	Section string
	// Form is the notation of a value: alternatives between bars, of which words in capitals stand
	// for a value. "" means a switch, true or false.
	Form string
	// Default is the text of the value in New. "" means that New leaves the value to the log, the
	// machine or the policy; Doc then says what the value is.
	Default string
	// Doc is one sentence: what the setting means, and the unit of a number.
	Doc string
	// Topic tells which commands have the flag.
	Topic Topic
	access
}

// access reads the value of a setting from a scenario, and writes it there, as text. Invariant: of
// any value but the default, Set accepts what Get returns, and then changes nothing; manifests and
// studies rely on it.
type access struct {
	Get func(*Scenario) string
	Set func(*Scenario, string) error
}

// Topic is the subject of a setting. A command has the flags of one or more topics.
type Topic uint8

const (
	// OfRecords is the topic of reading a log and choosing its records. All commands that read logs
	// have its flags.
	OfRecords Topic = 1 << iota
	// OfEstimates is the topic of estimates of runtimes, by users or a model. Only simulate and
	// trace convert have its flags.
	OfEstimates
	// OfRuns is the topic of making jobs from records and running them. Only simulate has its
	// flags.
	OfRuns
)

// noSuchSetting is the name of a setting that there is not.
type noSuchSetting string

func (name noSuchSetting) Error() string {
	return "there is no such setting: there are " + strings.Join(SettingNames(), ", ") + enum.Suggestion(string(name), SettingNames())
}

// SettingTable returns all settings, in the order of the command's help.
func SettingTable() []Setting { return slices.Clone(settings) }

// settings is the table of settings. Its order is the order of the help, in groups: policies, jobs
// and flows, the machine and the log, conventions, and output.
var settings = []Setting{
	{
		Name: "policy", Form: "LIST", Topic: OfRuns,
		Doc: "policies, separated by commas; the flag may be repeated (fcfs,easy,conservative, or the machine's)",
		access: access{
			func(sc *Scenario) string { return strings.Join(sc.Policies, ",") },
			func(sc *Scenario, list string) (err error) { sc.Policies, err = policy.Specs(list); return err },
		},
	},
	{
		Name: "trace", Section: "workload", Form: "LOG|SOURCE", // no command has it as a flag: it is an argument
		Doc:    "log, job file, or source of jobs with its parameters (the sample)",
		access: field(func(sc *Scenario) *string { return &sc.Workload.Trace }, text),
	},
	{
		Name: "from", Section: "workload", Form: "FORMAT", Topic: OfRecords,
		Doc:    "format of the log, with its parameters (by its content); see help formats",
		access: field(func(sc *Scenario) *string { return &sc.Workload.From }, text),
	},
	{
		Name: "reservations", Section: "flows", Form: "FILE.csv", Topic: OfRuns,
		Doc:    "users' advance reservations: job_id,submit,start,processors,duration[,runtime,user]",
		access: field(func(sc *Scenario) *string { return &sc.Flows.Reservations }, text),
	},
	{
		Name: "slurm", Section: "settings", Form: "DIR|slurm.conf", Topic: OfRuns,
		Doc:    "Slurm's rules decide, by this slurm.conf; a folder also has jobs.csv (no)",
		access: field(func(sc *Scenario) *string { return &sc.Slurm.Config }, text),
	},
	{
		Name: "accounts", Section: "settings", Form: "FILE", Topic: OfRuns,
		Doc:    "with --slurm: the commands of sacctmgr that made accounts, users and QoSs (none)",
		access: field(func(sc *Scenario) *string { return &sc.Slurm.Accounts }, text),
	},
	{
		Name: "phases", Section: "settings", Form: "N", Topic: OfRuns,
		Doc:    "with --slurm: N runs with different phases of the controller's loops, and their spread (one)",
		access: field(func(sc *Scenario) *int { return &sc.Slurm.Phases }, whole(0, mostPhases)),
	},
	{
		Name: "outages", Section: "flows", Form: "FILE.csv|MODEL", Topic: OfRuns,
		Doc:    "outages: a file, or a model of failures (none); see help outages",
		access: field(func(sc *Scenario) *string { return &sc.Flows.Outages }, text),
	},
	{
		Name: "victims", Section: "flows", Form: "RULE", Topic: OfRuns,
		Doc:    "what happens to jobs that outages hit (requeue); see help victims",
		access: field(func(sc *Scenario) *string { return &sc.Flows.Victims }, text),
	},
	{
		Name: "procs", Form: "N", Topic: OfRecords,
		Doc:    "processors of the machine (the header's MaxProcs, else its MaxNodes)",
		access: field(func(sc *Scenario) *int { return &sc.Workload.Options.Procs }, whole[int](1, math.MaxInt32)),
	},
	{
		Name: "procs-from", Section: "workload", Form: "requested|allocated|max", Default: "requested", Topic: OfRuns,
		Doc:    "which field is the size of a job; if it is missing, the other one",
		access: field(func(sc *Scenario) *workload.ProcsFrom { return &sc.Workload.Options.ProcsFrom }, workload.ParseProcsFrom),
	},
	{
		Name: "estimates", Section: "workload", Form: "user|exact|factor:F|tsafrir|tsafrir:max=T|fmodel:F", Default: "user", Topic: OfEstimates,
		Doc:    "estimates that the scheduler sees: the log's, the runtime, F times the runtime, or a model's",
		access: field(func(sc *Scenario) *workload.Estimates { return &sc.Workload.Options.Estimates }, workload.ParseEstimates),
	},
	{
		Name: "missing-estimate", Section: "workload", Form: "runtime|drop|SECONDS", Default: "runtime", Topic: OfRuns,
		Doc:    "replaces an estimate that is missing in the log",
		access: field(func(sc *Scenario) *workload.MissingEstimate { return &sc.Workload.Options.MissingEstimate }, workload.ParseMissingEstimate),
	},
	{
		Name: "overrun", Section: "workload", Form: "kill|extend|raise", Default: "kill", Topic: OfRuns,
		Doc:    "a runtime above the estimate: cut it, let it run on, or raise the estimate",
		access: field(func(sc *Scenario) *entity.Overrun { return &sc.Workload.Options.Overrun }, entity.ParseOverrun),
	},
	{
		Name: "where", Section: "workload", Form: "EXPRESSION", Topic: OfRecords,
		Doc: "keep matching records: 'user != 374 and procs in 1..64' (all)",
		access: access{
			func(sc *Scenario) string {
				if sc.Workload.Options.Where == nil {
					return ""
				}
				return fmt.Sprint(sc.Workload.Options.Where)
			},
			func(sc *Scenario, text string) (err error) {
				sc.Workload.Options.Where, err = parseWhere(text)
				return err
			},
		},
	},
	{
		Name: "first", Section: "workload", Form: "N", Topic: OfRecords,
		Doc:    "take only the first N jobs (all)",
		access: field(func(sc *Scenario) *int64 { return &sc.Workload.Options.First }, whole[int64](0, math.MaxInt64)),
	},
	{
		Name: "skip", Section: "workload", Form: "N", Default: "0", Topic: OfRecords,
		Doc:    "leave out the first N jobs",
		access: field(func(sc *Scenario) *int64 { return &sc.Workload.Options.Skip }, whole[int64](0, math.MaxInt64)),
	},
	{
		Name: "load", Section: "workload", Form: "F", Topic: OfRecords,
		Doc:    "scale the times between submissions to offer this load, at most 1000 (unchanged)",
		access: field(func(sc *Scenario) *float64 { return &sc.Workload.Options.Load }, load),
	},
	{
		Name: "shift", Section: "workload", Default: "false", Topic: OfRecords,
		Doc:    "move the first submission to 0",
		access: field(func(sc *Scenario) *bool { return &sc.Workload.Options.Shift }, trueOrFalse),
	},
	{
		Name: "sort", Section: "workload", Default: "false", Topic: OfRecords,
		Doc:    "sort by submission, in memory, for logs that go backwards; ties keep their order",
		access: field(func(sc *Scenario) *bool { return &sc.Workload.Options.Sort }, trueOrFalse),
	},
	{
		Name: "feedback", Section: "workload", Default: "false", Topic: OfRuns,
		Doc:    "a job comes its think time after the end of its preceding job (fields 17, 18)",
		access: field(func(sc *Scenario) *bool { return &sc.Workload.Options.Feedback }, trueOrFalse),
	},
	{
		Name: "strict", Section: "workload", Default: "false", Topic: OfRecords,
		Doc:    "any damaged line is an error; otherwise it is left out and counted",
		access: field(func(sc *Scenario) *bool { return &sc.Workload.Options.Strict }, trueOrFalse),
	},
	{
		Name: "moldable", Section: "workload", Form: "MODEL", Topic: OfRuns,
		Doc:    "rigid jobs get shapes of half to twice their processors, by a speed-up; see help moldable",
		access: checked(func(sc *Scenario) *string { return &sc.Workload.Moldable }, ParseMoldable),
	},
	{
		Name: "seed", Section: "settings", Form: "N", Default: "1", Topic: OfRecords,
		Doc:    "seed of all random numbers",
		access: field(func(sc *Scenario) *uint64 { return &sc.Settings.Seed }, parseSeed),
	},
	{
		Name: "pass", Section: "settings", Form: "instant|event|each", Default: "instant", Topic: OfRuns,
		Doc:    "one decision round per instant, or a round after every event (arrivals first, or ends first)",
		access: field(func(sc *Scenario) *entity.Pass { return &sc.Settings.Pass }, entity.ParsePass),
	},
	{
		Name: "wake", Section: "settings", Form: "T|apart=T", Topic: OfRuns,
		Doc:    "the scheduler decides only at multiples of T (30s, 30s:offset=5s), or T apart (always)",
		access: checked(func(sc *Scenario) *string { return &sc.Settings.Wake }, ParseWake),
	},
	{
		Name: "overhead", Section: "settings", Form: "dispatch=T:prologue=T:epilogue=T", Topic: OfRuns,
		Doc:    "time to hold processors around a job; T is a time or a distribution, as in exponential/T",
		access: checked(func(sc *Scenario) *string { return &sc.Settings.Overhead }, parseOverhead),
	},
	{
		Name: "compression", Section: "settings", Form: "on|off", Default: "on", Topic: OfRuns,
		Doc: "conservative: reservations move up after an early release",
		access: access{
			func(sc *Scenario) string { return onOff(!sc.Settings.NoCompression) },
			func(sc *Scenario, text string) error {
				on, err := onOrOff(text)
				sc.Settings.NoCompression = !on && err == nil
				return err
			},
		},
	},
	{
		Name: "allocation", Section: "settings", Form: "auto|intervals|count|none", Default: "auto", Topic: OfRuns,
		Doc:    "processors in jobs-POLICY.csv; auto: intervals on machines of up to 4,096",
		access: field(func(sc *Scenario) *metrics.Allocation { return &sc.Settings.Allocation }, metrics.ParseAllocation),
	},
	{
		Name: "power", Section: "settings", Form: "MODEL", Topic: OfRuns,
		Doc:    "account for energy: default, or changes of it, such as idle=90:busy=180:switch-off=600 (W, s)",
		access: field(func(sc *Scenario) *Power { return &sc.Settings.Power }, parsePower),
	},
	{
		Name: "predict", Section: "settings", Form: "PREDICTOR", Topic: OfRuns,
		Doc:    "predictions by which jobs are planned, in place of requests (the policy's); see help predictors",
		access: field(func(sc *Scenario) *string { return &sc.Settings.Predict }, text),
	},
	{
		Name: "correct", Section: "settings", Form: "CORRECTOR", Topic: OfRuns,
		Doc:    "next prediction for a job that outlives its prediction (the policy's); see help correctors",
		access: field(func(sc *Scenario) *string { return &sc.Settings.Correct }, text),
	},
	{
		Name: "tau", Section: "settings", Form: "SECONDS", Topic: OfRuns,
		Doc: "least run time in a bounded slowdown (10)",
		access: access{
			func(sc *Scenario) string {
				if sc.Settings.Tau == 0 {
					return ""
				}
				return sc.Settings.Tau.String()
			},
			func(sc *Scenario, text string) (err error) { sc.Settings.Tau, err = parseTau(text); return err },
		},
	},
	{
		Name: warmupName, Section: "settings", Form: "N|T", Topic: OfRuns,
		Doc:    "the summary leaves out the first N jobs, or the jobs of the first T (none)",
		access: field(func(sc *Scenario) *metrics.Warmup { return &sc.Settings.Warmup }, metrics.ParseWarmup),
	},
	{
		Name: "bounds", Section: "settings", Default: "false", Topic: OfRuns,
		Doc:    "tell what no schedule of the same jobs can be below, and the gap of each policy",
		access: field(func(sc *Scenario) *bool { return &sc.Settings.Bounds }, trueOrFalse),
	},
}

// field is the access to a part of a scenario that parse reads. fmt.Sprint makes the text
// of the part, so a type with choices needs a String method that parse understands. If parse fails,
// the scenario stays as it was.
func field[T any](part func(*Scenario) *T, parse func(string) (T, error)) access {
	return access{
		Get: func(sc *Scenario) string { return fmt.Sprint(*part(sc)) },
		Set: func(sc *Scenario, text string) (err error) {
			v, err := parse(text)
			if err == nil {
				*part(sc) = v
			}
			return err
		},
	}
}

// checked is the access to a part of a scenario that is kept as text, which parse accepts. The
// value itself is made anew for every run: it may keep state.
func checked[T any](part func(*Scenario) *string, parse func(string) (T, error)) access {
	return field(part, func(text string) (string, error) {
		_, err := parse(text)
		return text, err
	})
}

// text accepts any text: what is wrong with it shows when the workload or the machine is
// known.
func text(s string) (string, error) { return s, nil }

// onOff returns the text of a setting that is on or off.
func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// whole returns a parser of whole numbers from least to most. Signs, points and exponents are
// refused.
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

// onOrOff reads on or off.
func onOrOff(s string) (on bool, err error) {
	if s != "on" && s != "off" {
		return false, fmt.Errorf("want on or off, not %q", s)
	}
	return s == "on", nil
}

// mostSeed is the greatest seed. Other programs read a seed as a signed number, as YAML does.
const mostSeed = math.MaxInt64

// parseSeed reads the seed of a run, or of a source.
func parseSeed(s string) (uint64, error) { return whole[uint64](0, mostSeed)(s) }

// aboveZero reads a finite number above 0.
func aboveZero(s string) (float64, error) {
	v, fault := number.Float(s)
	if fault != number.Sound || !(v > 0) {
		return 0, fmt.Errorf("want a number above 0, not %q", s)
	}
	return v, nil
}

// load reads a load: a number above 0, at most workload.MostLoad. 1 is what the machine can do.
func load(s string) (float64, error) {
	v, fault := number.Float(s)
	if fault != number.Sound || !(v > 0 && v <= workload.MostLoad) {
		return 0, fmt.Errorf("want a number above 0, at most %v, not %q", float64(workload.MostLoad), s)
	}
	return v, nil
}

// trueOrFalse reads the value of a switch.
func trueOrFalse(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("want true or false, not %q", s)
	}
	return s == "true", nil
}

// SettingNames returns the names of all settings that Set knows, except the keys of slurm.conf.
func SettingNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.Name)
	}
	return names
}

// Set gives a setting, by the name of its flag, the value that the text says.
// Its error is a *SettingError.
func (sc *Scenario) Set(name, text string) error {
	s, there := settingOf(name)
	if !there {
		return &SettingError{name, noSuchSetting(name)}
	}
	if err := s.Set(sc, text); err != nil {
		return &SettingError{name, err}
	}
	return nil
}

// settingOf returns the setting of a name: a row of the table, or, if the name is "slurm." and a
// key of slurm.conf, the value that stands in place of what the file says.
func settingOf(name string) (Setting, bool) {
	if key, is := strings.CutPrefix(name, slurmKeys); is {
		return Setting{Name: name, Section: "settings", Form: "VALUE", access: slurmOverride(key)}, true
	}
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return settings[i], true
}

// slurmKeys begins the names of settings that stand in place of keys of slurm.conf.
const slurmKeys = "slurm."

// IsSetting reports whether Set knows a name, though a key of slurm.conf in it may be none.
func IsSetting(name string) bool {
	_, is := settingOf(name)
	return is
}

// changed returns a function that reports whether the setting of a name has another value than its default.
func (sc *Scenario) changed() func(name string) bool {
	defaults, values := New().Values(), sc.Values()
	return func(name string) bool { return values[name] != defaults[name] }
}

// refuse returns an error for the first of the settings with these names whose value is not its
// default. why says, with its arguments, what is wrong with it.
func (sc *Scenario) refuse(names []string, why string, args ...any) error {
	if i := slices.IndexFunc(names, sc.changed()); i >= 0 {
		return wrong(names[i], why, args...)
	}
	return nil
}

// Values returns all settings by their names, as Set reads them; of keys of slurm.conf those that
// are set.
func (sc *Scenario) Values() map[string]string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Name] = s.Get(sc)
	}
	for _, o := range sc.Slurm.Overrides {
		values[slurmKeys+o.Key] = o.Value
	}
	return values
}
