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

// Columns are those that rows can have: those of summary.csv, whatever the machine,
// but for the policy, which is a parameter, and what differs from one run to the
// next.
var Columns = sync.OnceValue(func() []string {
	return slices.DeleteFunc(simulation.SummaryColumns(), func(name string) bool { return name == "policy" || name == "cpu_seconds" })
})

// kinds are the types of Columns, by name.
var kinds = sync.OnceValue(func() map[string]rows.Type {
	summary, _ := rows.SchemaOf("summary.csv")
	kinds := map[string]rows.Type{}
	for _, c := range summary.Columns {
		kinds[c.Name] = c.Type
	}
	return kinds
})

// CheckRow refuses rows that no simulation gives: with a column that is none of Columns, a text where
// a number belongs, or a text that Do would not have written.
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

// scenario is that of a case.
func (f *File) scenario(c sweep.Case) (*simulation.Scenario, error) {
	sc := simulation.New()
	for _, p := range c.Params {
		if slices.Contains(machines, p.Name) {
			var err error
			if sc, err = f.machine(p.Name, p.Value); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range c.Params {
		if slices.Contains(machines, p.Name) || isOwn(p.Name) || p.Value == "" { // "" is as if it were not given
			continue
		}
		value := p.Value
		if p.Name == "trace" && value == "-" {
			return nil, &simulation.SettingError{Name: "trace", Err: errors.New("standard input can be read once only: name a file")}
		}
		var err error
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
	if o := sc.Workload.Options; o.Load == 0 && !o.Feedback { // which say themselves when jobs come
		sc.Workload.Trace = f.tables.Exactly(sc.Workload.Trace)
	}
	return sc, nil
}

// machine is a scenario of its own, as a file describes it.
func (f *File) machine(kind, name string) (*simulation.Scenario, error) {
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

// Do simulates a case. It is a sweep.Do.
func (f *File) Do(ctx context.Context, c sweep.Case) (sweep.Row, error) {
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

// row is the row of a simulation of one policy.
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

// leavesFiles reports whether simulations leave files.
func (f *File) leavesFiles() bool { return len(f.keep) > 0 || f.analysis.Batching != nil }

// keepsKind reports whether files of a kind stay because they are asked for.
func (f *File) keepsKind(kind string) bool { return slices.Contains(f.keep, kind) }

// removeUnkept removes the files of kinds that are not to be kept.
func (f *File) removeUnkept(dir string) error {
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
