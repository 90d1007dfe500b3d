package cli

// The file that describes a run, for the commands that carry one out or check it.

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/simulation"
)

// fileFlags are the flags that name a file of a scenario, and the machine that it
// must describe.
var fileFlags = [3]struct{ name, kind, usage string }{
	{"scenario", "", "file of a scenario (YAML): machine, workload, policies and settings"},
	{"domain", "domain", "file of a virtual organisation (YAML): priced nodes in place of a cluster"},
	{"grid", "grid", "file of a grid (YAML): clusters, brokers, network, and strategies as policies"},
}

// scenarioFile is the file that a call names by one of fileFlags, or in the place of the trace. The
// zero value names none.
type scenarioFile struct {
	paths [len(fileFlags)]string // by the flags; after choose at most one is not empty
}

// add defines the flags.
func (f *scenarioFile) add(cmd *cobra.Command) {
	for i, flag := range fileFlags {
		cmd.Flags().StringVar(&f.paths[i], flag.name, "", flag.usage)
		_ = cmd.MarkFlagFilename(flag.name, "yaml", "yml") // it exists
	}
}

// choose returns the flag by which a file is named, "" if none is. An argument that is a scenario
// counts as one of --scenario; any other argument is returned as the path of a trace.
func (f *scenarioFile) choose(cmd *cobra.Command, argument string) (flag, trace string, err error) {
	if isScenario(argument) {
		if f.paths[0] != "" {
			return "", "", usagef("%s and --scenario %s are two scenarios: give one", argument, f.paths[0])
		}
		f.paths[0], argument = argument, ""
	}
	for i, path := range f.paths {
		switch name := fileFlags[i].name; {
		case path != "" && flag != "":
			return "", "", usagef("--%s and --%s exclude each other", name, flag)
		case path != "":
			flag = name
		case cmd.Flags().Changed(name):
			return "", "", usagef("--%s needs the name of a file", name)
		}
	}
	return flag, argument, nil
}

// read reads the file that a flag names. Without one it returns a scenario of defaults.
func (f *scenarioFile) read(t *simulation.Tables) (*simulation.Scenario, error) {
	for i, path := range f.paths {
		if path != "" {
			return simulation.ReadMachine(path, fileFlags[i].kind, t)
		}
	}
	return simulation.New(), nil
}

// isScenario reports whether an argument is the file of a scenario, not a trace, by its ending.
func isScenario(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}
