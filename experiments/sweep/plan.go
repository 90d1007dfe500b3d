package sweep

// The plan of a study: its cases in order, each with the key of its content.

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plan is what a study consists of.
type Plan struct {
	Names []string // of the parameters
	Units []Unit   // the seeds vary fastest, then the last axis
}

// mostUnits keeps the plan of a study, which is in memory, within it.
const mostUnits = 10_000_000

// reserved are names of columns beside parameters.
var reserved = []string{"index", "key", "seed"}

// String is the case as people read it: policy=easy load=0.9 seed=3.
func (c Case) String() string {
	var b strings.Builder
	for _, p := range c.Params {
		b.WriteString(p.Name + "=" + p.Value + " ")
	}
	return b.String() + "seed=" + strconv.FormatUint(c.Seed, 10)
}

// Value is that of a parameter, or "" where there is none of that name.
func (c Case) Value(name string) string {
	for _, p := range c.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// Plan is the plan of the study. Two equal cases are an error.
func (s *Study) Plan() (*Plan, error) {
	p := &Plan{}
	cells := 1
	for _, a := range s.Axes {
		if err := a.Check(); err != nil {
			return nil, err
		}
		p.Names = append(p.Names, a.Names...)
		if cells *= len(a.Points); cells > mostUnits {
			return nil, fmt.Errorf("the study has more than %d cases", mostUnits)
		}
	}
	if err := checkNames(p.Names); err != nil {
		return nil, err
	}
	seeds := s.Seeds
	if len(seeds) == 0 {
		seeds = []uint64{1}
	}
	if cells*len(seeds) > mostUnits {
		return nil, fmt.Errorf("the study has %d cases, more than %d", cells*len(seeds), mostUnits)
	}
	keys := s.Basis.keys(p.Names)
	p.Units = make([]Unit, 0, cells*len(seeds))
	first := make(map[string]int, cells*len(seeds))
	for cell := range cells {
		params, err := s.cell(cell, cells)
		if err != nil {
			return nil, err
		}
		keys.cell(params)
		for _, seed := range seeds {
			u := Unit{Case: Case{Params: params, Seed: seed}, Index: len(p.Units), Key: keys.of(seed)}
			if before, there := first[u.Key]; there {
				return nil, fmt.Errorf("two cases are equal, the numbers %d and %d: %v", before+1, u.Index+1, u)
			}
			first[u.Key] = u.Index
			p.Units = append(p.Units, u)
		}
	}
	return p, nil
}

// cell is the i-th of n combinations of the axes' points.
func (s *Study) cell(i, n int) ([]Param, error) {
	var params []Param
	for _, a := range s.Axes {
		n /= len(a.Points)
		point := a.Points[i/n]
		i %= n
		for k, name := range a.Names {
			if !utf8.ValidString(point[k]) {
				return nil, fmt.Errorf("%s: the value %q is no text in UTF-8", name, point[k])
			}
			params = append(params, Param{name, point[k]})
		}
	}
	return params, nil
}

// checkNames refuses names that cannot be columns beside each other.
func checkNames(names []string) error {
	for i, name := range names {
		switch {
		case name == "" || !utf8.ValidString(name):
			return fmt.Errorf("a parameter needs a name, not %q", name)
		case slices.Contains(reserved, name):
			return fmt.Errorf("no parameter can be called %q: the study has a column of that name", name)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("two axes have a parameter %q", name)
		}
	}
	return nil
}

// keyer makes the keys of cases. What a key is made from are texts, each behind
// its length, so that no two lists of texts look alike.
type keyer struct {
	basis  *Basis
	inputs []Input // by their names, so that the order given does not matter
	order  []int   // of the parameters, by their names; likewise
	text   []byte
}

func (b *Basis) keys(names []string) *keyer {
	k := &keyer{basis: b, inputs: slices.Clone(b.Inputs)}
	slices.SortFunc(k.inputs, func(x, y Input) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Sum, y.Sum))
	})
	for i := range names {
		k.order = append(k.order, i)
	}
	slices.SortFunc(k.order, func(i, j int) int { return cmp.Compare(names[i], names[j]) })
	return k
}

// cell begins the keys of cases with these parameters.
func (k *keyer) cell(params []Param) {
	k.text = k.text[:0]
	k.add("gridslot unit 1", k.basis.Build, k.basis.Settings)
	for i, in := range k.inputs {
		again := i > 0 && k.inputs[i-1].Name == in.Name && k.inputs[i-1].Sum == in.Sum && k.inputs[i-1].Of == in.Of
		if !again && (in.Of == (Param{}) || slices.Contains(params, in.Of)) {
			k.add("input", in.Name, in.Sum)
		}
	}
	for _, i := range k.order {
		k.add("parameter", params[i].Name, params[i].Value)
	}
}

// of is the key of the case with that seed.
func (k *keyer) of(seed uint64) string {
	before := len(k.text)
	k.add("seed", strconv.FormatUint(seed, 10))
	sum := sha256.Sum256(k.text)
	k.text = k.text[:before]
	return hex.EncodeToString(sum[:16])
}

func (k *keyer) add(texts ...string) {
	for _, t := range texts {
		k.text = strconv.AppendInt(k.text, int64(len(t)), 10)
		k.text = append(append(k.text, ':'), t...)
	}
}

// check requires that a unit that comes from another process has the key of its case: the key becomes
// the name of a folder.
func (b *Basis) check(u Unit) error {
	if key := b.key(u.Case); key != u.Key {
		return fmt.Errorf("the unit %q is none of this study: the key of %v is %s", u.Key, u, key)
	}
	return nil
}

// key is that of a case.
func (b *Basis) key(c Case) string {
	var names []string
	for _, p := range c.Params {
		names = append(names, p.Name)
	}
	keys := b.keys(names)
	keys.cell(c.Params)
	return keys.of(c.Seed)
}
