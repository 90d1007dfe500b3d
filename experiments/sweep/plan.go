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
func (c Case) Value(name string) string { return Row(c.Params).Value(name) }

// values are those of the parameters.
func (c Case) values() (values []string) {
	for _, p := range c.Params {
		values = append(values, p.Value)
	}
	return values
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
	key := s.Basis.keys()
	p.Units = make([]Unit, 0, cells*len(seeds))
	first := make(map[string]int, cells*len(seeds))
	for cell := range cells {
		params, err := s.cell(cell, cells)
		if err != nil {
			return nil, err
		}
		for _, seed := range seeds {
			u := Unit{Case: Case{params, seed}, Index: len(p.Units)}
			u.Key = key(u.Case)
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

// keys returns the function that gives the key of a case: a checksum of a list of texts,
// each behind its length, so that no two lists look alike. The order in which inputs and
// parameters are given does not matter.
func (b *Basis) keys() func(Case) string {
	inputs := slices.Clone(b.Inputs)
	slices.SortFunc(inputs, func(x, y Input) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Sum, y.Sum))
	})
	var text []byte
	add := func(texts ...string) {
		for _, t := range texts {
			text = strconv.AppendInt(text, int64(len(t)), 10)
			text = append(append(text, ':'), t...)
		}
	}
	return func(c Case) string {
		text = text[:0]
		add("gridslot unit 1", b.Build, b.Settings)
		var last Input
		for _, in := range inputs {
			if in.Of != (Param{}) && !slices.Contains(c.Params, in.Of) {
				continue
			}
			if in.Name != last.Name || in.Sum != last.Sum { // of two parameters it is one input
				add("input", in.Name, in.Sum)
			}
			last = in
		}
		for _, p := range byName(c.Params) {
			add("parameter", p.Name, p.Value)
		}
		add("seed", strconv.FormatUint(c.Seed, 10))
		sum := sha256.Sum256(text)
		return hex.EncodeToString(sum[:16])
	}
}

// byName are cells in the order of their names, which no two of them share.
func byName(cells []Cell) []Cell {
	return slices.SortedFunc(slices.Values(cells), func(a, b Cell) int { return cmp.Compare(a.Name, b.Name) })
}
