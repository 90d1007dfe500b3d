package study

// allCells are the cases of a study without their seeds.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// cell is a case without its seed: a value of each parameter, in the order of the file. All
// cells of a study have the same parameters.
type cell []value

// asCase is the cell as a case for which the seed does not matter.
func (c cell) asCase() sweep.Case {
	var params []sweep.Param
	for _, v := range c {
		params = append(params, v.Param)
	}
	return sweep.Case{Params: params}
}

// filter is an entry of except or only, which leave cases out of a study.
type filter struct {
	at    *yamlfile.Node
	key   yamlfile.Key        // except or only
	takes map[string][]string // the values, by the names of parameters
	hit   bool
}

// filter reads the entries of except and only.
func (r *reader) filter(k yamlfile.Key) error {
	if k.Name != "except" && k.Name != "only" {
		return nil
	}
	return eachItem(k.Value, func(n *yamlfile.Node) error {
		if n.Kind != yamlfile.Settings || len(n.Keys) == 0 {
			return n.Errorf("%s: want values by the names of parameters, {policy: easy, load: [0.9, 1]}, not %v", k.Name, n)
		}
		f := filter{at: n, key: k, takes: map[string][]string{}}
		for _, part := range n.Keys {
			param, _ := paramOf(part.Name)
			if !slices.Contains(r.names(), param) && param != "policy" {
				return part.Errorf("%w", unknownName(k.Name, "there is no parameter", part.Name, r.names()))
			}
			if f.takes[param] != nil {
				return part.Errorf("%s: there are values for %s already", k.Name, param)
			}
			points, err := pointsOf(part, param)
			if err != nil {
				return err
			}
			for _, p := range points {
				f.takes[param] = append(f.takes[param], p[0].raw)
			}
		}
		r.filters = append(r.filters, f)
		return nil
	})
}

// matches reports whether a cell has the values of the filter: as the cell has them, or as
// the file writes them, so that "easy:depth={k}" is all of its cases.
func (f *filter) matches(c cell) bool {
	for name, values := range f.takes {
		if !slices.ContainsFunc(c, func(v value) bool {
			return v.Name == name && (slices.Contains(values, v.Value) || slices.Contains(values, v.raw))
		}) {
			return false
		}
	}
	f.hit = true
	return true
}

// makeCells crosses the axes, replaces names in values, and leaves out what is to
// be left out.
func (f *File) makeCells() error {
	total := 1
	for _, a := range f.axes {
		if total *= len(a.points); total > mostCells {
			return a.key.Errorf("%s: the study has more than %d cases", a.key.Name, mostCells)
		}
	}
	known := map[string]bool{}
	for i := range total {
		c := f.cross(i, total)
		c.replaceNames()
		cells, err := f.withPolicies(c)
		if err != nil {
			return err
		}
		for _, c := range cells {
			if id := c.id(); !known[id] && f.wanted(c) {
				known[id] = true
				f.cells = append(f.cells, c)
			}
		}
	}
	for i := range f.filters {
		if fl := &f.filters[i]; !fl.hit {
			return fl.at.Errorf("%s: there is no case with these values", fl.key.Name)
		}
	}
	if len(f.cells) == 0 {
		k := f.filters[len(f.filters)-1].key // without any there is a case
		return k.Errorf("%s: no case is left", k.Name)
	}
	return f.checkBaseline()
}

// mostCells keeps a slip of the pen within memory.
const mostCells = 1_000_000

// cross is the i-th of n combinations of points; the last axis varies fastest.
func (f *File) cross(i, n int) (c cell) {
	for _, a := range f.axes {
		n /= len(a.points)
		c = append(c, a.points[i/n]...)
		i %= n
	}
	return c
}

// replaceNames puts the values of names into the values that use them. A name of the
// study's own that no value of the cell uses is empty.
func (c cell) replaceNames() {
	used := map[string]bool{}
	raw := c.asCase()
	for i := range c {
		if !strings.Contains(c[i].raw, "{") {
			continue // which is quicker to see than that there is no name
		}
		c[i].Value = placeForm.ReplaceAllStringFunc(c[i].raw, func(place string) string {
			name := place[1 : len(place)-1]
			used[name] = true
			return raw.Value(name)
		})
	}
	for i := range c {
		if isOwn(c[i].Name) && !used[c[i].Name] {
			c[i].Value = ""
		}
	}
}

// withPolicies are the cells of the policies that the machine has, where the study
// names none. These stand nowhere in the study's file: errors about them are told at another
// value of the cell.
func (f *File) withPolicies(c cell) ([]cell, error) {
	if slices.Contains(f.names(), "policy") {
		return []cell{c}, nil
	}
	sc, err := f.scenario(c.asCase())
	if err != nil {
		return nil, f.errorOf(c, err)
	}
	policies, err := sc.PolicyNames(f.tables)
	if err != nil {
		return nil, f.errorOf(c, err)
	}
	var cells []cell
	for _, name := range policies {
		one := append(slices.Clone(c), value{sweep.Param{Name: "policy", Value: name}, name, nil})
		cells = append(cells, one)
	}
	return cells, nil
}

// wanted reports whether a cell is none of those left out by except, and, where there is any
// only, one of those. A filter that matches is marked: one that never does is a mistake of
// the study, and makeCells says so.
func (f *File) wanted(c cell) bool {
	limited, within := false, false
	for i := range f.filters {
		fl := &f.filters[i]
		switch matches := fl.matches(c); {
		case fl.key.Name == "only":
			limited, within = true, within || matches
		case matches:
			return false
		}
	}
	return within || !limited
}

// Check looks whether each case makes sense, and its files are there, before
// anything runs.
func (f *File) Check() error {
	cells, err := f.allCells()
	if err != nil {
		return err
	}
	for _, c := range cells {
		if err := f.checkCell(c); err != nil {
			return f.readingError(err)
		}
	}
	return nil
}

func (f *File) checkCell(c cell) error {
	sc, err := f.scenario(c.asCase())
	if err != nil {
		return f.errorOf(c, err)
	}
	for _, v := range c {
		if v.Name == "policy" && v.at != nil {
			names, err := sc.PolicyNames(f.tables)
			if err == nil && len(names) > 1 {
				err = &simulation.SettingError{Name: "policy", Err: fmt.Errorf("a case has one policy, not %d: write a list", len(names))}
			}
			if err != nil {
				return f.errorOf(c, err)
			}
		}
	}
	return f.errorOf(c, sc.Check(f.tables))
}

// errorOf puts in front of an error the place of the value that it is about, and tells
// the case where it is about more than one.
func (f *File) errorOf(c cell, err error) error {
	if err == nil {
		return nil
	}
	var setting *simulation.SettingError
	if errors.As(err, &setting) {
		for _, v := range c {
			if v.Name == setting.Name && v.at != nil {
				return v.errorf("%w", err)
			}
		}
	}
	at := slices.IndexFunc(c, func(v value) bool { return slices.Contains(machines, v.Name) })
	if at < 0 {
		at = slices.IndexFunc(c, func(v value) bool { return v.at != nil })
	}
	if at < 0 {
		return err
	}
	return c[at].at.Errorf("%w (in the case %v)", err, c)
}

// errorf is an error at the place of a value; where names in it have been replaced it tells
// what the value is.
func (v *value) errorf(format string, args ...any) error {
	replaced := ""
	if v.raw != v.Value {
		replaced = fmt.Sprintf(" (%s=%s)", v.Name, v.Value)
	}
	return v.at.Errorf("%w%s", fmt.Errorf(format, args...), replaced)
}

func (c cell) String() string {
	var parts []string
	for _, v := range c {
		parts = append(parts, v.Name+"="+v.Value)
	}
	return strings.Join(parts, " ")
}

// id tells cells apart. Different points may make one cell: of "fcfs" and "easy:depth={k}"
// fcfs is the same with each k.
func (c cell) id() string {
	var b strings.Builder
	for _, v := range c {
		b.WriteString(v.Value + "\x00")
	}
	return b.String()
}
