package simulation

// What studies ask of a scenario: see package study.

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"

	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/workload"
)

// PolicyNames returns the policies that Run runs, each with its parameters.
func (sc *Scenario) PolicyNames(t *Tables) ([]string, error) {
	all, err := sc.machine().names(sc, t)
	if err != nil {
		return nil, &SettingError{"policy", err}
	}
	var specs []string
	for _, n := range all {
		specs = append(specs, n.spec)
	}
	return specs, nil
}

// namesFile reports whether a value of a setting is the path of a file.
func (t *Tables) namesFile(setting, value string) bool {
	switch setting {
	case "trace":
		_, source, _ := t.sourceOf(value)
		return !source && value != "" && value != workload.StandardInput
	case "outages":
		return value != "" && t.isOutageLog(value)
	case "reservations", "slurm", "accounts":
		return value != ""
	}
	return false
}

// Files returns the paths of all files from which the scenario has been read, and of those that Run
// reads, in order and each once.
func (sc *Scenario) Files(t *Tables) []string {
	var paths []string
	for _, text := range sc.texts {
		paths = append(paths, text.Path)
	}
	paths = append(paths, t.FilesOf("trace", sc.Workload.Trace)...)
	paths = append(paths, sc.filesBeside(t)...)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// filesBeside returns the paths of the files that Run reads besides the trace and Texts. The
// manifest has a checksum of each.
func (sc *Scenario) filesBeside(t *Tables) (paths []string) {
	for _, f := range []struct{ setting, value string }{
		{"from", sc.Workload.From}, {"outages", sc.Flows.Outages}, {"reservations", sc.Flows.Reservations},
	} {
		paths = append(paths, t.FilesOf(f.setting, f.value)...)
	}
	paths = append(paths, sc.Settings.Power.files()...)
	if sc.Slurm.Config != "" {
		paths = append(paths, sc.Slurm.files()...)
	}
	if g, ok := sc.Machine.(*Grid); ok {
		for _, l := range g.WithDefaults().leaves() {
			if l.cluster != nil {
				paths = append(paths, t.FilesOf("trace", l.cluster.Local)...)
			}
		}
	}
	return paths
}

// Table returns summary.csv: its columns, and the rows of the policies that have finished.
func (o *Outcome) Table() (columns []string, rows [][]string, err error) {
	var b bytes.Buffer
	if err := o.Print(&b, "csv"); err != nil {
		return nil, nil, err
	}
	all, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, errors.New("the summary is empty")
	}
	return all[0], all[1:], nil
}

// SummaryColumns returns the columns that summary.csv can have, whatever the machine.
func SummaryColumns() []string {
	var columns []string
	for _, condition := range []string{rows.WithPrices, rows.OnDomain, rows.OnGrid, rows.WithPredictions, rows.WithBounds} {
		for _, c := range rows.Summaries.Only(condition).Columns {
			if !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	return columns
}

// FileKinds returns the kinds of files that a run may leave besides summary.csv and manifest.json:
// "jobs" is jobs-POLICY.csv, or one for each site.
func FileKinds() []string {
	return slices.DeleteFunc(rows.Kinds(), func(kind string) bool { return kind == "summary" })
}

// FileKind returns the kind of a file by its name, or "".
func FileKind(name string) string {
	if kind := rows.KindOf(name); slices.Contains(FileKinds(), kind) {
		return kind
	}
	return ""
}
