package study

// The cases of a study without their seeds: axes are crossed (cross), names of the study's own are
// put into values (replaceNames), a machine's policies stand in where the study names none
// (withPolicies), and filters leave cases out (wanted). check then makes each case a scenario.

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

// asCase returns the cell as a case for which the seed does not matter.
func (c cell) asCase() sweep.Case {
	var params []sweep.Param
	for _, v := range c {
		params = append(params, v.Param)
	}
	return sweep.Case{Params: params}
}

// filter is an entry of except or only, which leave cases out of a study.
type filter struct {
	at *yamlfile.Node
	// The key it stands under: except or only.
	key yamlfile.Key
	// The values that it takes of each parameter it names, as the file writes them; a cell matches
	// with one value of each.
	takes map[string][]string
	// A cell has matched: an entry that none matches is an error.
	hit bool
}

// filter reads the entries of except and only; it is called for every key of the file.
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
			// The policy may be one that the machine has.
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

// matches reports whether a cell has the values of the filter: as the cell has them, or as the file
// writes them, so that "easy:depth={k}" means all of its cases. It marks the filter as hit.
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

// makeCells makes Definition.cells: it crosses the axes, replaces names in values, and removes the cells
// to leave out. The order is the order of the file, whose last axis varies fastest.
func (f *Definition) makeCells() error {
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
	// What no case has met is a slip of the pen.
	for i := range f.filters {
		if fl := &f.filters[i]; !fl.hit {
			return fl.at.Errorf("%s: there is no case with these values", fl.key.Name)
		}
	}
	if len(f.cells) == 0 {
		// The last filter is blamed. Without any filter there is a case: each axis has a point.
		k := f.filters[len(f.filters)-1].key
		return k.Errorf("%s: no case is left", k.Name)
	}
	return f.checkBaseline()
}

// mostCells keeps a slip of the pen within memory. It bounds what is crossed, before anything is
// left out.
const mostCells = 1_000_000

// cross returns the i-th of n combinations of points; the last axis varies fastest. See Study.cell
// of package sweep, which does the same.
func (f *Definition) cross(i, n int) (c cell) {
	for _, a := range f.axes {
		n /= len(a.points)
		c = append(c, a.points[i/n]...)
		i %= n
	}
	return c
}

// replaceNames puts the values of names into the values that use them. A name of the study's own
// that no value of the cell uses is emptied, so that cells which differ in it only are equal (id).
func (c cell) replaceNames() {
	used := map[string]bool{}
	// checkPlaces has seen to it that the values put in have no names in them.
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

// withPolicies returns the cells of the policies that the machine has, one each, where the study
// names no policy, or else the cell alone. These policies stand nowhere in the study's file: errors
// about them are told at another value of the cell.
func (f *Definition) withPolicies(c cell) ([]cell, error) {
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

// wanted reports whether a cell is none of those that except leaves out, and, where there is any
// only, one that some only takes. All only's are asked even after one has matched, to mark them as
// hit.
func (f *Definition) wanted(c cell) bool {
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

// check reports the first case that makes no sense, or whose files are not there, before anything
// runs.
func (f *Definition) check() error {
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

// checkCell checks one case. A policy that is a list in one text, as a scenario's may be, is
// refused: a row is of one policy.
func (f *Definition) checkCell(c cell) error {
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

// errorOf adds to an error the place in the study's file of the value that it is about. Of an error
// that is about no single value it tells the case, at its machine or else at its first value.
func (f *Definition) errorOf(c cell, err error) error {
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

// errorf returns an error at the place of a value; where names in the value have been replaced it
// tells what the value has become.
func (v *value) errorf(format string, args ...any) error {
	replaced := ""
	if v.raw != v.Value {
		replaced = fmt.Sprintf(" (%s=%s)", v.Name, v.Value)
	}
	return v.at.Errorf("%w%s", fmt.Errorf(format, args...), replaced)
}

// String returns the cell as people read it: policy=easy load=0.9.
func (c cell) String() string {
	var parts []string
	for _, v := range c {
		parts = append(parts, v.Name+"="+v.Value)
	}
	return strings.Join(parts, " ")
}

// id returns a text that tells cells apart: no value has a zero byte in it. Different points may
// make one cell: of "fcfs" and "easy:depth={k}" fcfs is the same with each k.
func (c cell) id() string {
	var b strings.Builder
	for _, v := range c {
		b.WriteString(v.Value + "\x00")
	}
	return b.String()
}
