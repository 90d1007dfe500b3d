package study

// What the study says of its results, and the batches of each simulation.

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/indir"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics/findings"
)

// Analysis is what the study says of its results; see package findings.
type Analysis struct {
	Batching *findings.Batching // nil where simulations are not cut into batches
	Compare  string             // the parameter whose values are compared in pairs, or ""
	Baseline []findings.Param   // the values that the others are compared with
	Measures []string           // columns; none means those of the reader's choice

	batches, warmup string
	baseline        *yamlfile.Node
}

// Options are those of the findings of the study's results.
func (a *Analysis) Options() findings.Options {
	return findings.Options{Measures: a.Measures, Baseline: a.Baseline, Compare: a.Compare}
}

// Conclude is what the results in a study's folder say, as far as they are there, to what its
// study file asks.
func Conclude(dir string) (*findings.Findings, error) {
	table, err := findings.Open(dir)
	if err != nil {
		return nil, err
	}
	o, err := Options(dir)
	if err != nil {
		return nil, err
	}
	return findings.Analyze(table, o)
}

// Options are those of the findings that the study file in a study's folder asks for; where
// there is none they are the zero value.
func Options(dir string) (findings.Options, error) {
	f, err := in(dir)
	if f == nil || err != nil {
		return findings.Options{}, err
	}
	return f.Analysis.Options(), nil
}

// Title is that of the study whose folder it is, "" where there is none.
func Title(dir string) (string, error) {
	f, err := in(dir)
	if f == nil || err != nil {
		return "", err
	}
	return f.Title, nil
}

// in is the study file in a study's folder, nil where there is none.
func in(dir string) (*File, error) {
	path := filepath.Join(dir, sweep.StudyName)
	text, err := indir.ReadFile(dir, sweep.StudyName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the study of the results: %w", err)
	}
	return Read(sweep.Portable{Name: path, Text: text, Dir: dir}, nil)
}

// settings are what the results depend on.
func (a *Analysis) settings() string {
	if a.Batching == nil {
		return ""
	}
	return fmt.Sprintf("batches=%s warmup=%s", a.batches, a.warmup)
}

// readAnalysis reads what becomes of the results; its names must be there.
func (r *reader) readAnalysis(root *yamlfile.Node) (err error) {
	a := &r.Analysis
	if err := r.readBatches(root); err != nil {
		return err
	}
	if n := root.Get("compare"); n != nil {
		if a.Compare, err = r.parameter(n, n.Text, "compare"); err != nil {
			return err
		}
	}
	if n := root.Get("baseline"); n != nil {
		if err := r.readBaseline(n); err != nil {
			return err
		}
	}
	if n := root.Get("measures"); n != nil {
		nodes, err := texts(n, "measures")
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if columns := Columns(); !slices.Contains(columns, n.Text) {
				return n.Errorf("measures: there is no column %q%s: there are %s", n.Text, yamlfile.Suggestion(n.Text, columns), strings.Join(columns, ", "))
			}
			a.Measures = append(a.Measures, n.Text)
		}
	}
	return nil
}

func (r *reader) readBatches(root *yamlfile.Node) (err error) {
	a := &r.Analysis
	batches, warmup := root.Get("batches"), root.Get("warmup")
	if warmup != nil {
		if a.warmup, err = text(warmup, "warmup"); err != nil {
			return err
		}
	}
	if batches == nil {
		if warmup != nil && a.warmup != "none" {
			return warmup.Errorf("warmup: batches that have any of it are left out: say which, as in batches: week")
		}
		return nil
	}
	if a.batches, err = text(batches, "batches"); err != nil {
		return err
	}
	b, err := findings.ParseBatching(a.batches, a.warmup)
	if err != nil {
		n := batches
		if warmup != nil && strings.HasPrefix(err.Error(), "warmup") {
			n = warmup
		}
		return n.Errorf("%w", err)
	}
	a.Batching = &b
	return nil
}

// parameter is one of the study's, by its name or that of its list.
func (r *reader) parameter(at *yamlfile.Node, name, key string) (string, error) {
	if at.Kind != yamlfile.Scalar && name == "" {
		return "", at.Errorf("%s: want the name of a parameter, not %v", key, at)
	}
	if param, _ := paramOf(name); param != "" {
		name = param
	}
	if !slices.Contains(r.names(), name) {
		return "", at.Errorf("%s: there is no parameter %q: there are %s", key, name, strings.Join(r.names(), ", "))
	}
	return name, nil
}

// readBaseline reads baseline: easy, or baseline: {policy: easy, estimates: user}.
func (r *reader) readBaseline(n *yamlfile.Node) error {
	a := &r.Analysis
	a.baseline = n
	if n.Kind != yamlfile.Settings {
		value, err := text(n, "baseline")
		name := a.Compare
		if name == "" {
			name = "policy"
		}
		a.Baseline = []findings.Param{{Name: name, Value: value}}
		return err
	}
	for _, k := range n.Keys {
		name, err := r.parameter(k.Value, k.Name, "baseline")
		if err != nil {
			return err
		}
		value, err := text(k.Value, "baseline")
		if err != nil {
			return err
		}
		a.Baseline = append(a.Baseline, findings.Param{Name: name, Value: value})
	}
	return nil
}

// checkBaseline looks whether there is a case with the values that others are
// compared with.
func (f *File) checkBaseline() error {
	a := &f.Analysis
	var names []string
	for _, p := range a.Baseline {
		names = append(names, fmt.Sprintf("the %s %q", p.Name, p.Value))
	}
	for _, c := range f.cells {
		if !slices.ContainsFunc(a.Baseline, func(p findings.Param) bool { return (sweep.Case{Params: c.params}).Value(p.Name) != p.Value }) {
			return nil
		}
	}
	return a.baseline.Errorf("baseline: no case has %s", strings.Join(names, " and "))
}

// parts are the batches of a simulation under way.
type parts struct{ *findings.Recorder }

// record has a simulation tell of its jobs where its batches are wanted.
func (f *File) record(sc *scenario.Scenario, o *scenario.Options) parts {
	if f.Analysis.Batching == nil {
		return parts{}
	}
	r := &findings.Recorder{Batching: *f.Analysis.Batching, Tau: sc.Settings.Tau}
	o.Observers = func(_, site string) []entity.Observer {
		if site != "" {
			return nil // of a grid: the whole is told as well
		}
		return []entity.Observer{r}
	}
	return parts{r}
}

// write leaves the batches among the files of the simulation.
func (p parts) write(dir string) error {
	if p.Recorder == nil || dir == "" {
		return nil
	}
	return p.Batches().WriteFile(filepath.Join(dir, findings.BatchesName))
}
