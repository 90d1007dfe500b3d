package findings

// Which value of what is compared is the best, as far as that can be told.

import (
	"cmp"
	"slices"
)

// Ranking orders cells that differ in the parameters of the baseline only, by a measure.
type Ranking struct {
	Measure string
	Places  []Place // the best first
}

// Place is that of a cell in a ranking.
type Place struct {
	Cell int // of Findings.Cells
	// Rank is 1 and how many others are better for more than chance: by the paired t
	// test of each two, with Holm's correction within the ranking. Cells of one rank
	// are tied.
	Rank int
	// Beats is how many others this one is better than.
	Beats int
}

// rank makes the rankings.
func (f *Findings) rank() error {
	for m, measure := range f.Options.Measures {
		direction := f.Options.Direction(measure)
		if direction == 0 || len(f.compared) == 0 {
			continue
		}
		for _, group := range f.groups() {
			if len(group) < 2 {
				continue
			}
			r, err := f.ranking(group, m, direction)
			if err != nil {
				return err
			}
			f.Rankings = append(f.Rankings, r)
		}
	}
	return nil
}

// groups are the cells that differ in what is compared only.
func (f *Findings) groups() (all [][]int) {
	at := map[string]int{}
	for i := range f.Cells {
		params := slices.Clone(f.Cells[i].Params)
		for _, k := range f.compared {
			params[k] = ""
		}
		key := keyOf(params)
		if _, ok := at[key]; !ok {
			at[key] = len(all)
			all = append(all, nil)
		}
		all[at[key]] = append(all[at[key]], i)
	}
	return all
}

func (f *Findings) ranking(group []int, m, direction int) (Ranking, error) {
	r := Ranking{Measure: f.Options.Measures[m]}
	var pairs []Comparison
	for i, a := range group {
		r.Places = append(r.Places, Place{Cell: a, Rank: 1})
		for _, b := range group[:i] {
			c, err := f.pair(a, b, m)
			if err != nil {
				return r, err
			}
			pairs = append(pairs, c)
		}
	}
	place := func(cell int) *Place { return &r.Places[slices.Index(group, cell)] }
	for _, c := range f.judge(r.Measure, pairs) {
		switch c.Verdict {
		case Better:
			place(c.Cell).Beats++
			place(c.Baseline).Rank++
		case Worse:
			place(c.Baseline).Beats++
			place(c.Cell).Rank++
		}
	}
	slices.SortStableFunc(r.Places, func(a, b Place) int {
		x, y := f.Cells[a.Cell].Estimates[m].Mean, f.Cells[b.Cell].Estimates[m].Mean
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), -direction*cmp.Compare(x, y))
	})
	return r, nil
}
