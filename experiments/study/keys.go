package study

import (
	"slices"

	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/internal/enum"
)

// key is a key of the study file. The reader, the schema for editors and the
// reference are made from the table of them.
type key struct {
	name  string
	kind  kind
	param string // of the case, where the key is an axis
	text  string // what it is
}

// kind is what a key's value may be.
type kind uint8

const (
	values     kind = iota // a text or number, or a list of them: an axis
	wholes                 // whole numbers, likewise
	whole                  // one whole number
	word                   // one text or number
	words                  // a list of texts, or one
	zips                   // settings of lists, or a list of such
	samples                // a sample, or a list of them
	choices                // settings of values or lists, or a list of such
	limits                 // settings of limit
	against                // a text or number, or settings of such
	dimensions             // ranges and choices of a sample
)

// keys are those of the study file, but for settings and names of the study's own.
var keys = []key{
	{"title", word, "", "what the study is about"},
	{"traces", values, "trace", "logs, job files and sources of jobs with their parameters"},
	{"scenarios", values, "scenario", "scenario files: machine, workload, flows and settings"},
	{"domains", values, "domain", "files of virtual organisations"},
	{"grids", values, "grid", "files of grids"},
	{"policies", values, "policy", "policies with their parameters; on grids strategies"},
	{"seeds", wholes, "seed", "the seeds: one simulation of each case with each"},
	{"replications", whole, "", "how many seeds, from 1 on, in place of seeds"},
	{"zip", zips, "", "lists that are taken side by side, not crossed"},
	{"sample", samples, "", "points drawn from ranges and choices, in place of a full grid"},
	{"except", choices, "", "combinations of values that are left out"},
	{"only", choices, "", "combinations of values to which the study is limited"},
	{"keep", words, "", "kinds of files that each simulation leaves in the folder runs, or all"},
	{"limit", limits, "", "what one simulation may take"},
	{"batches", word, "", "parts of each simulation as observations, where there is no chance in it: week, day, a time such as 3d, or how many of equally many jobs"},
	{"warmup", word, "", "with batches: what is left out at the beginning of each simulation: mser, jobs=N, or a time such as 7d (none)"},
	{"compare", word, "", "the parameter whose values are compared in pairs (policy)"},
	{"baseline", against, "", "the value of that parameter that the others are compared with, or values of several: {policy: easy, estimates: user}"},
	{"measures", words, "", "the columns that are summed up"},
}

// limitKeys are those of limit.
var limitKeys = []key{
	{"time", word, "", "the longest time, as in 10m"},
	{"memory", word, "", "the most memory, as in 4GiB"},
	{"tries", whole, "", "how often a simulation is begun whose worker goes away (3)"},
}

// sampleKeys are those of a sample.
var sampleKeys = []key{
	{"method", word, "", "latin-hypercube or random"},
	{"size", whole, "", "the number of points"},
	{"seed", whole, "", "of the sample (1)"},
	{"of", dimensions, "", "for each parameter a range or a list of choices"},
}

// rangeKeys are those of a range in a sample.
var rangeKeys = []key{
	{"from", word, "", "the lowest number"},
	{"to", word, "", "the highest number"},
	{"scale", word, "", "linear or log"},
	{"whole", word, "", "true where the numbers are whole ones"},
}

// machines are the parameters that name the file of a machine; a case has one.
var machines = []string{"scenario", "domain", "grid"}

// paramOf is the parameter that a key gives values for, "" where it is no axis, and
// whether the key is known. Names of the study's own are not.
func paramOf(name string) (param string, known bool) {
	for _, k := range keys {
		if k.name == name {
			return k.param, true
		}
		if k.param == name {
			return name, true
		}
	}
	return name, slices.Contains(simulation.SettingNames(), name)
}

// known are all keys by their names.
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

func namesOf(keys []key) []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

// checkKeys refuses keys of settings that are not in the table.
func checkKeys(n *yamlfile.Node, what string, table []key) error {
	if n.Kind != yamlfile.Settings {
		return n.Errorf("%s: want settings, {KEY: VALUE}, not %v", what, n)
	}
	for _, k := range n.Keys {
		if !slices.Contains(namesOf(table), k.Name) {
			return k.Errorf("%s: there is no key %q%s", what, k.Name, enum.Suggestion(k.Name, namesOf(table)))
		}
	}
	return nil
}
