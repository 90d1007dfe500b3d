package study

import (
	"slices"

	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
)

// key is a key of the study file. The reader, the schema for editors and the
// reference are made from the table of them.
type key struct {
	name string
	// The parameter of a case whose values the key lists, "" where the key is no axis.
	param string
	// What the key is, for the schema and the reference.
	text string
}

// keys are those of the study file, but for settings and names of the study's own.
var keys = []key{
	{"title", "", "what the study is about"},
	{"traces", "trace", "logs, job files and sources of jobs with their parameters"},
	{"scenarios", "scenario", "scenario files: machine, workload, flows and settings"},
	{"domains", "domain", "files of virtual organisations"},
	{"grids", "grid", "files of grids"},
	{"policies", "policy", "policies with their parameters; on grids strategies"},
	{"seeds", "seed", "the seeds: one simulation of each case with each seed"},
	{"replications", "", "how many seeds, from 1 on, in place of seeds"},
	{"zip", "", "lists whose values are taken side by side, not crossed"},
	{"sample", "", "points drawn from ranges and choices, in place of a full grid"},
	{"except", "", "combinations of values that are left out"},
	{"only", "", "combinations of values to which the study is limited"},
	{"keep", "", "kinds of files that each simulation leaves in the folder runs, or all"},
	{"limit", "", "what one simulation may take"},
	{"batches", "", "parts of a simulation that count as observations: week, day, a time such as 3d, or a number of parts with equally many jobs"},
	{"warmup", "", "with batches: what is left out at the beginning of each simulation: mser, jobs=N, or a time such as 7d (none)"},
	{"compare", "", "the parameter whose values are compared in pairs (policy)"},
	{"baseline", "", "the value of that parameter with which all others are compared, or values of several parameters: {policy: easy, estimates: user}"},
	{"measures", "", "the columns that are summed up"},
	{"labels", "", "names of values in figures and tables: {easy: EASY, conservative: CONS}"},
}

// limitYAML is the value of limit.
type limitYAML struct {
	Time   *yamlfile.Node `yaml:"time" doc:"the longest time, as in 10m"`
	Memory *yamlfile.Node `yaml:"memory" doc:"the most memory, as in 4GiB"`
	Tries  *yamlfile.Node `yaml:"tries" doc:"how often a simulation is begun if its worker ends early (3)"`
}

// sampleYAML is the value of sample.
type sampleYAML struct {
	Method string         `yaml:"method" doc:"latin-hypercube or random"`
	Size   int            `yaml:"size" doc:"the number of points"`
	Seed   int64          `yaml:"seed" doc:"of the sample (1)"`
	Of     *yamlfile.Node `yaml:"of" doc:"for each parameter a range or a list of choices"`
}

// rangeYAML is the range of a parameter in a sample.
type rangeYAML struct {
	From  float64 `yaml:"from" doc:"the lowest number"`
	To    float64 `yaml:"to" doc:"the highest number"`
	Scale string  `yaml:"scale" doc:"linear or log"`
	Whole bool    `yaml:"whole" doc:"true where the numbers are whole ones"`
}

// machines are the parameters that name the file of a machine; a case has one.
var machines = []string{"scenario", "domain", "grid"}

// paramOf returns the parameter that a key gives values for: of policies and policy it is policy,
// and "" of a key that is no axis. Names that are no key, settings and the study's own among them,
// are their own parameters; known is false of the study's own.
func paramOf(name string) (param string, known bool) {
	for _, k := range keys {
		if k.name == name {
			return k.param, true
		}
		if k.param == name {
			return name, true
		}
	}
	return name, simulation.IsSetting(name)
}

// known returns all keys by their names, settings among them, for suggestions.
func known() []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	for _, name := range simulation.SettingNames() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
