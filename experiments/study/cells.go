package study

// allCells are the cases of a study without their seeds.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// cell is a case without its seed.
type cell struct {
	params []sweep.Param
	raw    []string         // values before names in them are replaced
	at     []*yamlfile.Node // where the values stand
}

// filter is an entry of except or only: values by the names of parameters.
type filter struct {
	at    *yamlfile.Node
	key   yamlfile.Key // except or only
	names []string
	takes [][]string
	hit   bool
}

// filter reads the entries of except and only.
func (r *reader) filter(k yamlfile.Key) error {
	if k.Name != "except" && k.Name != "only" {
		return nil
	}
	return each(k.Value, func(n *yamlfile.Node) error {
		if n.Kind != yamlfile.Settings || len(n.Keys) == 0 {
			return n.Errorf("%s: want values by the names of parameters, {policy: easy, load: [0.9, 1]}, not %v", k.Name, n)
		}
		f := filter{at: n, key: k}
		for _, part := range n.Keys {
			param, _ := paramOf(part.Name)
			if !slices.Contains(r.names(), param) && param != "policy" {
				return part.Errorf("%s: there is no parameter %q in this study: there are %s", k.Name, part.Name, strings.Join(r.names(), ", "))
			}
			nodes, err := texts(part.Value, part.Name)
			if err != nil {
				return err
			}
			var values []string
			for _, n := range nodes {
				values = append(values, n.Text)
			}
			f.names, f.takes = append(f.names, param), append(f.takes, values)
		}
		r.filters = append(r.filters, f)
		return nil
	})
}

// matches reports whether a cell has the values of the filter.
func (f *filter) matches(c *cell) bool {
	for i, name := range f.names {
		k := slices.IndexFunc(c.params, func(p sweep.Param) bool { return p.Name == name })
		if k < 0 || !slices.Contains(f.takes[i], c.params[k].Value) && !slices.Contains(f.takes[i], c.raw[k]) {
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
		if total *= len(a.Points); total > mostCells {
			return a.key.Errorf("%s: the study has more than %d cases", a.key.Name, mostCells)
		}
	}
	known := map[string]bool{}
	for i := range total {
		c := f.cross(i, total)
		c.replace()
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

// cross is the i-th of n combinations of points.
func (f *File) cross(i, n int) *cell {
	c := &cell{}
	for _, a := range f.axes {
		n /= len(a.Points)
		p := i / n
		i %= n
		for k, name := range a.Names {
			c.params = append(c.params, sweep.Param{Name: name, Value: a.Points[p][k]})
			c.raw, c.at = append(c.raw, a.Points[p][k]), append(c.at, a.at[p][k])
		}
	}
	return c
}

// replace puts the values of names into the values that use them. A name of the
// study's own that no value of the cell uses is empty.
func (c *cell) replace() {
	used := map[string]bool{}
	raw := sweep.Case{Params: slices.Clone(c.params)}
	for i := range c.params {
		if strings.Contains(c.params[i].Value, "{") {
			c.params[i].Value = placeForm.ReplaceAllStringFunc(c.params[i].Value, func(place string) string {
				name := place[1 : len(place)-1]
				used[name] = true
				return raw.Value(name)
			})
		}
	}
	for i, p := range c.params {
		if isOwn(p.Name) && !used[p.Name] {
			c.params[i].Value = ""
		}
	}
}

// withPolicies are the cells of the policies that the machine has, where the study
// names none.
func (f *File) withPolicies(c *cell) ([]*cell, error) {
	if slices.Contains(f.names(), "policy") {
		return []*cell{c}, nil
	}
	sc, err := f.scenario(sweep.Case{Params: c.params})
	if err != nil {
		return nil, f.at(c, err)
	}
	policies, err := sc.PolicyNames(f.tables)
	if err != nil {
		return nil, f.at(c, err)
	}
	var cells []*cell
	for _, name := range policies {
		one := &cell{slices.Clone(c.params), slices.Clone(c.raw), slices.Clone(c.at)}
		one.params = append(one.params, sweep.Param{Name: "policy", Value: name})
		one.raw, one.at = append(one.raw, name), append(one.at, nil)
		cells = append(cells, one)
	}
	return cells, nil
}

func (f *File) wanted(c *cell) bool {
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
			return f.within(err)
		}
	}
	return nil
}

func (f *File) checkCell(c *cell) error {
	sc, err := f.scenario(sweep.Case{Params: c.params})
	if err != nil {
		return f.at(c, err)
	}
	for i, p := range c.params {
		if p.Name == "policy" && c.at[i] != nil {
			names, err := sc.PolicyNames(f.tables)
			if err == nil && len(names) > 1 {
				err = &scenario.SettingError{Name: "policy", Err: fmt.Errorf("a case has one policy, not %d: write a list", len(names))}
			}
			if err != nil {
				return f.at(c, err)
			}
		}
	}
	return f.at(c, sc.Check(f.tables))
}

// at puts in front of an error the place of the value that it is about, and tells
// the case where it is about more than one.
func (f *File) at(c *cell, err error) error {
	if err == nil {
		return nil
	}
	var setting *scenario.SettingError
	if errors.As(err, &setting) {
		for i, p := range c.params {
			if p.Name == setting.Name && c.at[i] != nil {
				return c.at[i].Errorf("%w%s", err, c.replaced(i))
			}
		}
	}
	for i, p := range c.params {
		if slices.Contains(machines, p.Name) {
			return c.at[i].Errorf("%w (in the case %v)", err, c)
		}
	}
	for _, n := range c.at {
		if n != nil {
			return n.Errorf("%w (in the case %v)", err, c)
		}
	}
	return err
}

// replaced tells what a value is where names in it have been replaced.
func (c *cell) replaced(i int) string {
	if c.raw[i] == c.params[i].Value {
		return ""
	}
	return fmt.Sprintf(" (%s=%s)", c.params[i].Name, c.params[i].Value)
}

func (c *cell) String() string {
	var parts []string
	for _, p := range c.params {
		parts = append(parts, p.Name+"="+p.Value)
	}
	return strings.Join(parts, " ")
}

// id tells cells apart.
func (c *cell) id() string {
	var b strings.Builder
	for _, p := range c.params {
		b.WriteString(p.Value + "\x00")
	}
	return b.String()
}
