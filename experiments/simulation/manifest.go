package simulation

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/plain"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// A manifest's settings also tell of files. Before the name of a file stands what is told: sumKey
// its checksum, pathKey the place at which it stood. A file that a setting names by a path has its
// checksum behind sumAtPath and that path.
const (
	sumKey    = "sha256 of "
	pathKey   = "path of "
	sumAtPath = "sha256 at "
)

// replicationKey is the entry of a manifest's settings that tells Settings.Replication. Manifests of
// runs with the replication 0 have no such entry.
const replicationKey = "replication"

// tellReplication writes a replication into a manifest's settings.
func tellReplication(settings map[string]string, replication uint64) {
	if replication != 0 {
		settings[replicationKey] = strconv.FormatUint(replication, 10)
	}
}

// sumsByPath returns the checksums of the files that filesBeside names, by their keys in a
// manifest's settings. What can be read only once, such as a pipe, has none.
func (sc *Scenario) sumsByPath(t *Tables) (map[string]string, error) {
	sums := map[string]string{}
	for _, path := range sc.filesBeside(t) {
		found, err := traces.Find(path)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(found); err != nil || !info.Mode().IsRegular() {
			continue // opening it has told, or tells
		}
		text, err := os.ReadFile(found)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, plain.Reason(err))
		}
		sums[sumAtPath+path] = textOf("", path, path, text).Sum
	}
	return sums, nil
}

// unchanged returns an error if a file that the scenario reads is not what a manifest's settings tell
// of it, or if its log has not the checksum sum; an empty sum is not compared. Files of which the
// manifest tells nothing are not compared.
func (c *call) unchanged(was map[string]string, sum string) error {
	sums, err := c.sumsByPath(c.tables)
	if err != nil {
		return err
	}
	for key, now := range sums {
		if old, ok := was[key]; ok && old != now {
			return fmt.Errorf("%s is not the file that the run had: it has been changed since", strings.TrimPrefix(key, sumAtPath))
		}
	}
	if sum == "" || c.jobs == nil || c.jobs.sum == nil {
		return nil
	}
	now, err := c.jobs.sum()
	if err == nil && now != sum {
		err = fmt.Errorf("%s is not the log that the run had: it has been changed since", c.jobs.name)
	}
	return err
}

// FromManifest returns the scenario whose settings a manifest holds. Files that it names are opened
// as they were then, relative to the working directory; a file that the scenario's own file names
// must have the checksum that it had. A trace that is given stands in place of the manifest's,
// which knows none if a program made the jobs.
func FromManifest(m *metrics.Manifest, trace string, t *Tables) (*Scenario, error) {
	kind := m.Settings["machine"]
	if kind == "" {
		return nil, errors.New("the manifest has no settings of a scenario: a program has made the run")
	}
	// The scenario's own file is read from the text that the manifest keeps.
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
	sc.Slurm.Config = m.Settings["slurm"]
	// The machine must be of the kind that the run had: a program may have made another one.
	if is := sc.machine().Kind(); is != kind {
		return nil, fmt.Errorf("the manifest is of a run on a %s, which no file that it holds describes: a program has made it", kind)
	}
	// All files that the scenario names must be as they were.
	for _, file := range sc.texts {
		if was := m.Settings[file.Key]; file.Key != "" && was != file.Text || file.Key == "" && m.Settings[sumKey+file.Name] != file.Sum {
			return nil, fmt.Errorf("%s is not the file that the run had: it has been changed since", file.Path)
		}
	}
	// Flags of that run stand in place of what the file says.
	if err := sc.Adopt(m.Settings); err != nil {
		return nil, err
	}
	if sample, _ := traces.Sample(); trace == "" && sc.Workload.Trace == "" && !bringsJobs(sc.machine()) && m.Trace.Name != sample {
		return nil, fmt.Errorf("the jobs of the run, %q, are those of a program, and no setting tells of them: give their log as TRACE", m.Trace.Name)
	}
	return sc, nil
}

// Adopt takes over the settings of a manifest that differ from those of the scenario, and the
// replication. Other keys, and settings of which the manifest does not tell, are passed over.
func (sc *Scenario) Adopt(from map[string]string) error {
	values := sc.Values()
	for _, s := range settings {
		text, ok := from[s.Name]
		if !ok || text == values[s.Name] {
			continue
		}
		if err := sc.Set(s.Name, text); err != nil {
			return err
		}
	}
	for name, text := range from {
		if strings.HasPrefix(name, slurmKeys) && text != values[name] {
			if err := sc.Set(name, text); err != nil {
				return err
			}
		}
	}
	if text, told := from[replicationKey]; told {
		n, err := whole[uint64](0, math.MaxUint64)(text)
		if err != nil {
			return &SettingError{replicationKey, err}
		}
		sc.Settings.Replication = n
	}
	return nil
}

// StateRequests makes the jobs those of a job file or a workflow, which state their own requests:
// it drops settings about the records of a log.
func (sc *Scenario) StateRequests() {
	was := sc.Workload.Options
	sc.Workload.From, sc.Workload.Options = "", workload.Options{Reading: workload.Reading{Procs: was.Procs}, Conventions: workload.Conventions{Overrun: was.Overrun}}
	if was.Overrun == entity.OverrunRaise { // requests were raised as they were written
		sc.Workload.Options.Overrun = entity.OverrunKill
	}
}
