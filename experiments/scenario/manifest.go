package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// What stands before the name of a file in a manifest's settings: its checksum, or the place
// at which it stood.
const (
	sumKey  = "sha256 of "
	pathKey = "path of "
)

// FromManifest is the scenario whose settings a manifest holds. Files that it names are
// opened as they were then, relative to the working directory; one that the scenario's own
// file names must have the checksum that it had. A trace that is given stands in place of
// the manifest's, which knows none where a program has made the jobs.
func FromManifest(m *metrics.Manifest, trace string, t *Tables) (*Scenario, error) {
	kind := m.Settings["machine"]
	if kind == "" {
		return nil, errors.New("the manifest has no settings of a scenario: a program has made the run")
	}
	sc := New()
	for _, key := range []string{"scenario", "domain", "grid"} {
		text, ok := m.Settings[key]
		if !ok {
			continue
		}
		var err error
		if sc, err = parse(m.Settings[pathKey+key], []byte(text), strings.TrimPrefix(key, "scenario"), false, t); err != nil {
			return nil, err
		}
	}
	if is := sc.machine().Kind(); is != kind {
		return nil, fmt.Errorf("the manifest is of a run on a %s, which no file that it holds describes: a program has made it", kind)
	}
	for _, file := range sc.Texts {
		if was := m.Settings[file.Key]; file.Key != "" && was != file.Text || file.Key == "" && m.Settings[sumKey+file.Name] != file.Sum {
			return nil, fmt.Errorf("%s is not the file that the run had: it has been changed since", file.Path)
		}
	}
	if err := sc.Adopt(m.Settings); err != nil {
		return nil, err
	}
	if sample, _ := traces.Sample(); trace == "" && sc.Workload.Trace == "" && batchesOf(sc.machine()) == nil && m.Trace.Name != sample {
		return nil, fmt.Errorf("the jobs of the run, %q, are those of a program, and no setting tells of them: give their log as TRACE", m.Trace.Name)
	}
	return sc, nil
}

// Adopt takes over the settings of a manifest that differ from those that the scenario has.
// Other keys are passed over.
func (sc *Scenario) Adopt(from map[string]string) error {
	values := sc.Values()
	for _, s := range settings {
		text, ok := from[s.name]
		if !ok || text == values[s.name] {
			continue
		}
		if err := sc.Set(s.name, text); err != nil {
			return err
		}
	}
	return nil
}

// StateRequests has the jobs be those of a job file or a workflow, which state their own
// requests: settings about the records of a log are dropped.
func (sc *Scenario) StateRequests() {
	was := sc.Workload.Options
	sc.Workload.From, sc.Workload.Options = "", workload.Options{Procs: was.Procs, Overrun: was.Overrun}
	if was.Overrun == entity.OverrunRaise { // requests were raised as they were written
		sc.Workload.Options.Overrun = entity.OverrunKill
	}
}
