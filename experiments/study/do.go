package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/internal/csvtext"
	"github.com/gridslot/gridslot/metrics/findings"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Columns returns the names of the columns that rows can have: all columns of summary.csv, for any
// machine, except the policy, which is a parameter, and the processor time, which differs from one
// run to the next. Callers must not change the slice.
var Columns = sync.OnceValue(func() []string {
	return slices.DeleteFunc(simulation.SummaryColumns(), func(name string) bool { return name == "policy" || name == "cpu_seconds" })
})

// kinds returns the types of Columns, by name.
var kinds = sync.OnceValue(func() map[string]rows.Type {
	summary, _ := rows.SchemaOf("summary.csv")
	kinds := map[string]rows.Type{}
	for _, c := range summary.Columns {
		kinds[c.Name] = c.Type
	}
	return kinds
})

// CheckRow refuses rows that no simulation gives: with a column that is none of Columns, a text
// where a number belongs, or a text that Do would not have written. It is Study.Check, for the
// files of units that another hand wrote.
func CheckRow(r sweep.Row) error {
	for _, c := range r {
		if !slices.Contains(Columns(), c.Name) {
			return fmt.Errorf("no study has a column %q", c.Name)
		}
		if kinds()[c.Name] == rows.Text {
			if c.Value != csvtext.Of(c.Value) {
				return fmt.Errorf("column %s: %q is no text of a table: it has control characters, or a spreadsheet would take it for a formula", c.Name, c.Value)
			}
			continue
		}
		if _, err := strconv.ParseFloat(c.Value, 64); c.Value != "" && err != nil {
			return fmt.Errorf("column %s: want a number, not %q", c.Name, c.Value)
		}
	}
	return nil
}

// scenario returns the simulation of a case: the file of its machine, or an empty scenario, with
// the other parameters set over it. An error of a value is a *simulation.SettingError; see errorOf.
func (f *Definition) scenario(c sweep.Case) (*simulation.Scenario, error) {
	sc := simulation.New()
	// The machine first, wherever it stands in the case: the others are set over what it says.
	for _, p := range c.Params {
		if slices.Contains(machines, p.Name) {
			var err error
			if sc, err = f.machine(p.Name, p.Value); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range c.Params {
		// A name of the study's own has done its work, and "" is as if the setting were not given.
		if slices.Contains(machines, p.Name) || isOwn(p.Name) || p.Value == "" {
			continue
		}
		value := p.Value
		if p.Name == "trace" && value == "-" {
			return nil, &simulation.SettingError{Name: "trace", Err: errors.New("standard input can be read once only: name a file")}
		}
		var err error
		// Names of files in the value become paths that can be opened from here.
		value = f.tables.PlaceFiles(p.Name, value, func(path string) string {
			found, findErr := f.log(p.Name, path)
			err = errors.Join(err, findErr)
			return found
		})
		if err != nil {
			return nil, err
		}
		if err := sc.Set(p.Name, value); err != nil {
			return nil, err
		}
	}
	sc.Settings.Seed = c.Seed
	// A workload model then offers the load that its name states exactly, with every seed, so that
	// replications are of one load. Load and Feedback say themselves when jobs come.
	if o := sc.Workload.Options; o.Load == 0 && !o.Feedback {
		sc.Workload.Trace = f.tables.Exactly(sc.Workload.Trace)
	}
	return sc, nil
}

// machine returns a copy of the scenario that a file describes; the file is read once for all
// cases. Kind is the parameter's name: of a scenario file ReadMachine finds the kind itself.
func (f *Definition) machine(kind, name string) (*simulation.Scenario, error) {
	path := f.path(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	sc, there := f.machines[path]
	if !there {
		if kind == "scenario" {
			kind = ""
		}
		var err error
		if sc, err = simulation.ReadMachine(path, kind, f.tables); err != nil {
			return nil, err
		}
		f.machines[path] = sc
	}
	one := *sc
	return &one, nil
}

// Do simulates a case. It is a sweep.Do, and may be called from several goroutines. The simulation
// itself takes one processor: the engine runs several units at once.
func (f *Definition) Do(ctx context.Context, c sweep.Case) (sweep.Row, error) {
	sc, err := f.scenario(c)
	if err != nil {
		return nil, err
	}
	log := sweep.Log(ctx)
	o := simulation.Options{
		Tables: f.tables, Workers: 1,
		Tell: func(format string, args ...any) { fmt.Fprintf(log, format+"\n", args...) },
	}
	batches := f.recordBatches(sc, &o)
	var files string
	if f.leavesFiles() {
		if files, err = sweep.Files(ctx); err != nil {
			return nil, err
		}
	}
	// The files that the simulation leaves; removeUnkept removes those that were not asked for.
	if len(f.keep) > 0 {
		o.Dir = files
		o.Events, o.Decisions = f.keepsKind("events"), f.keepsKind("decisions")
		o.Alternatives, o.Perfetto = f.keepsKind("alternatives"), f.keepsKind("perfetto")
	}
	out, err := simulation.Run(ctx, sc, o)
	if err != nil {
		return nil, err
	}
	if err := f.removeUnkept(o.Dir); err != nil {
		return nil, err
	}
	if batches != nil && files != "" {
		if err := batches.Batches().WriteFile(filepath.Join(files, findings.BatchesName)); err != nil {
			return nil, err
		}
	}
	return row(out)
}

// row returns the row of a simulation of one policy: its summary's line, without what Columns does
// not have.
func row(out *simulation.Outcome) (sweep.Row, error) {
	columns, rows, err := out.Table()
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, errors.New("a case has one policy, not " + strconv.Itoa(len(rows)))
	}
	var r sweep.Row
	for i, name := range columns {
		if slices.Contains(Columns(), name) {
			r = append(r, sweep.Cell{Name: name, Value: rows[0][i]})
		}
	}
	return r, nil
}

// leavesFiles reports whether simulations leave files in the study's folder: sweep.Study.Keeps.
func (f *Definition) leavesFiles() bool { return len(f.keep) > 0 || f.analysis.Batching != nil }

// keepsKind reports whether keep names a kind of files. With "all" alone it names no other: events,
// decisions and the like, which are large, are written only where they are named as well.
func (f *Definition) keepsKind(kind string) bool { return slices.Contains(f.keep, kind) }

// removeUnkept removes the files of kinds that are not to be kept. A file of no kind stays.
func (f *Definition) removeUnkept(dir string) error {
	if dir == "" || f.keepsKind("all") {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if kind := simulation.FileKind(e.Name()); kind != "" && !f.keepsKind(kind) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
