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

// Plan lists the cases of a study: Study.Plan makes it, Folder.Plan reads it from plan.csv.
type Plan struct {
	// The names of the parameters, in the order of the axes.
	Names []string
	// Every case, in the order of its index: the seeds vary fastest, then the last axis.
	Units []Unit
}

// mostUnits is the most units that a plan may have: the plan is in memory, some hundred bytes a
// unit.
const mostUnits = 10_000_000

// reserved are the columns of plan.csv before the parameters, whose names no parameter can have.
var reserved = []string{"index", "key", "seed"}

// String returns the case as people read it: policy=easy load=0.9 seed=3.
func (c Case) String() string {
	var b strings.Builder
	for _, p := range c.Params {
		b.WriteString(p.Name + "=" + p.Value + " ")
	}
	return b.String() + "seed=" + strconv.FormatUint(c.Seed, 10)
}

// Value returns the value of a parameter, or "" if no parameter has that name.
func (c Case) Value(name string) string { return Row(c.Params).Value(name) }

// values returns the values of the parameters in their order.
func (c Case) values() (values []string) {
	for _, p := range c.Params {
		values = append(values, p.Value)
	}
	return values
}

// Plan returns the plan of the study: all combinations of the axes' points, each with all seeds.
// Two equal cases are an error: they would be one unit.
func (s *Study) Plan() (*Plan, error) {
	p := &Plan{}
	// The size, before anything of that size is made: the product is compared at each factor, so
	// that it cannot overflow.
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
	// The units. first is the index of the unit that has a key.
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

// cell returns the parameters of the i-th of n combinations of the axes' points, where n is the
// product of the axes' lengths. The number is read digit by digit, the first axis its highest: each
// axis divides n by its length, and n is then how many combinations one point of it stands in.
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

// keys returns the function that gives the key of a case: half of a SHA-256 over a list of texts,
// each behind its length, so that no two lists look alike. The order in which inputs and parameters
// are given does not matter. The function keeps its memory between calls, so one goroutine calls it
// at a time.
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
		// The number counts forms of this list: with another one all units are computed anew.
		add("gridslot unit 1", b.Build, b.Settings)
		var last Input
		// Only the inputs that this case reads (Input.Of). They are sorted, so equal ones are
		// neighbors.
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

// byName returns the cells in the order of their names, which no two of them share.
func byName(cells []Cell) []Cell {
	return slices.SortedFunc(slices.Values(cells), func(a, b Cell) int { return cmp.Compare(a.Name, b.Name) })
}
