package study

// What the study says of its results (compare, baseline, measures, labels), and the batches of each
// simulation, which are the only part of it that results depend on.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/internal/indir"
	"github.com/gridslot/gridslot/metrics/findings"
)

// analysis has the settings by which the study's results are analysed; see package findings.
type analysis struct {
	// Nil where simulations are not cut into batches.
	Batching *findings.Batching
	// The parameter whose values are compared in pairs, or "" for the reader's choice.
	Compare string
	// The values that the others are compared with: those of some case (checkBaseline).
	Baseline []findings.Param
	// Columns; none means those of the reader's choice.
	Measures []string
	// What figures and tables say in place of values, by value.
	Labels map[string]string

	// The texts of Batching, for the keys of units, and where the baseline stands, for errors.
	batches, warmup string
	baseline        *yamlfile.Node
}

// options returns the analysis as package findings takes it.
func (a *analysis) options() findings.Options {
	return findings.Options{Measures: a.Measures, Baseline: a.Baseline, Compare: a.Compare, Labels: a.Labels}
}

// Conclude returns what the results in a study's folder say, as far as they are there, to what its
// study file asks. Values of parameters limit what figures and tables show; see
// findings.Options.Where.
func Conclude(dir string, where ...findings.Param) (*findings.Findings, error) {
	table, err := findings.Open(dir)
	if err != nil {
		return nil, err
	}
	o, err := Options(dir)
	if err != nil {
		return nil, err
	}
	o.Where = where
	return findings.Analyze(table, o)
}

// Options returns what the study file in a study's folder asks of the findings; the zero value
// where there is no study file, as in the folder of a program's own study.
func Options(dir string) (findings.Options, error) {
	f, err := keptFile(dir)
	return f.analysis.options(), err
}

// Title returns the title of the study that has the folder dir, "" if it has no title.
func Title(dir string) (string, error) {
	f, err := keptFile(dir)
	return f.title, err
}

// keptFile returns the study file in a study's folder. It returns an empty one where there is none,
// and beside an error, so that callers need not look. The study's policies may be a program's own,
// whose tables are not known here: reading asks nothing of them.
func keptFile(dir string) (*Definition, error) {
	text, err := indir.ReadFile(dir, sweep.StudyName)
	if errors.Is(err, fs.ErrNotExist) {
		return &Definition{}, nil
	}
	if err != nil {
		return &Definition{}, fmt.Errorf("reading the study of the results: %w", err)
	}
	f, err := Read(sweep.Portable{Name: filepath.Join(dir, sweep.StudyName), Text: text, Dir: dir}, nil)
	if err != nil {
		return &Definition{}, err
	}
	return f, nil
}

// settings returns what results depend on, for sweep.Basis.Settings: only batches make files of
// another content.
func (a *analysis) settings() string {
	if a.Batching == nil {
		return ""
	}
	return fmt.Sprintf("batches=%s warmup=%s", a.batches, a.warmup)
}

// readAnalysis reads what becomes of the results. The names of all parameters are known by now.
func (r *reader) readAnalysis(root *yamlfile.Node) (err error) {
	a := &r.analysis
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
		if a.Measures, err = namesIn(n, "measures", "there is no column", Columns()); err != nil {
			return err
		}
	}
	if n := root.Get("labels"); n != nil {
		return r.readLabels(n)
	}
	return nil
}

// readLabels reads labels: {easy: EASY, conservative: CONS}.
func (r *reader) readLabels(n *yamlfile.Node) error {
	if n.Kind != yamlfile.Settings {
		return n.Errorf("labels: want a text for each of some values, as in {easy: EASY}, not %v", n)
	}
	r.analysis.Labels = map[string]string{}
	for _, k := range n.Keys {
		text, err := textOf(k.Value, "labels: "+k.Name)
		if err != nil {
			return err
		}
		r.analysis.Labels[k.Name] = text
	}
	return nil
}

// readBatches reads batches, and warmup, which belongs to it.
func (r *reader) readBatches(root *yamlfile.Node) (err error) {
	a := &r.analysis
	batches, warmup := root.Get("batches"), root.Get("warmup")
	if warmup != nil {
		if a.warmup, err = textOf(warmup, "warmup"); err != nil {
			return err
		}
		if batches == nil && a.warmup != "none" {
			return warmup.Errorf("warmup: batches that have any of it are left out: say which, as in batches: week")
		}
	}
	if batches == nil {
		return nil
	}
	if a.batches, err = textOf(batches, "batches"); err != nil {
		return err
	}
	b, err := findings.ParseBatching(a.batches, a.warmup)
	if err != nil && warmup != nil && strings.HasPrefix(err.Error(), "warmup") {
		return warmup.Errorf("%w", err)
	}
	if err != nil {
		return batches.Errorf("%w", err)
	}
	a.Batching = &b
	return nil
}

// parameter returns the name of a parameter of the study, given by itself or by its key: policies
// as well as policy.
func (r *reader) parameter(at *yamlfile.Node, name, key string) (string, error) {
	if at.Kind != yamlfile.Scalar && name == "" {
		return "", at.Errorf("%s: want the name of a parameter, not %v", key, at)
	}
	if param, _ := paramOf(name); param != "" {
		name = param
	}
	if !slices.Contains(r.names(), name) {
		return "", at.Errorf("%w", unknownName(key, "there is no parameter", name, r.names()))
	}
	return name, nil
}

// readBaseline reads baseline: easy, a value of the parameter that is compared (policy, where none
// is said), or baseline: {policy: easy, estimates: user}.
func (r *reader) readBaseline(n *yamlfile.Node) error {
	a := &r.analysis
	a.baseline = n
	if n.Kind != yamlfile.Settings {
		value, err := textOf(n, "baseline")
		a.Baseline = []findings.Param{{Name: cmp.Or(a.Compare, "policy"), Value: value}}
		return err
	}
	for _, k := range n.Keys {
		name, err := r.parameter(k.Value, k.Name, "baseline")
		if err != nil {
			return err
		}
		if k.Value.Kind != yamlfile.Scalar {
			return k.Value.Errorf("baseline: want a text or a number, not %v", k.Value)
		}
		// An empty text stands for a setting that is not given, as in the lists of a study.
		a.Baseline = append(a.Baseline, findings.Param{Name: name, Value: k.Value.Text})
	}
	return nil
}

// checkBaseline refuses a baseline whose values no case has, all of them at once. A study without a
// baseline has none to miss: its first case will do.
func (f *Definition) checkBaseline() error {
	a := &f.analysis
	var names []string
	for _, p := range a.Baseline {
		names = append(names, fmt.Sprintf("the %s %q", p.Name, p.Value))
	}
	for _, c := range f.cells {
		if !slices.ContainsFunc(a.Baseline, func(p findings.Param) bool { return c.asCase().Value(p.Name) != p.Value }) {
			return nil
		}
	}
	return a.baseline.Errorf("baseline: no case has %s", strings.Join(names, " and "))
}

// recordBatches returns a recorder that a simulation will tell of its jobs, by what is set in o;
// nil where no batches are wanted.
func (f *Definition) recordBatches(sc *simulation.Scenario, o *simulation.Options) *findings.BatchRecorder {
	if f.analysis.Batching == nil {
		return nil
	}
	r := &findings.BatchRecorder{Batching: *f.analysis.Batching, Tau: sc.Settings.Tau}
	o.Observers = func(_, site string) []entity.Observer {
		if site != "" {
			return nil // a site of a grid: the grid as a whole is told as well, and each job would count twice
		}
		return []entity.Observer{r}
	}
	return r
}
