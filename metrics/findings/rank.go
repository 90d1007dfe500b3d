package findings

// Which value of what is compared is the best, as far as that can be told.

import (
	"cmp"
	"slices"
)

// Ranking orders cells that differ only in the parameters of the baseline, by a measure.
type Ranking struct {
	Measure string
	// Places have the best one first; ties of Rank are by their means.
	Places []Place
}

// Place is the place of a cell in a ranking.
type Place struct {
	// Cell is a position in Findings.Cells.
	Cell int
	// Rank is 1 and the number of other cells that are significantly better: by the paired t test
	// of each two, with Holm's correction over all pairs of the measure, the pairs of other
	// rankings among them. Cells of one rank are tied. A rank may be left out: if two cells of
	// rank 1 are both better than a third, that has rank 3.
	Rank int
	// Beats is the number of other cells that this one is significantly better than.
	Beats int
}

// rank makes the rankings of all measures whose better direction is known. All pairs of a measure
// are one family, as in compare.
func (f *Findings) rank() error {
	for m, measure := range f.Options.Measures {
		direction := f.Options.Direction(measure)
		if direction == 0 || len(f.compared) == 0 {
			continue
		}
		// Phase 1: compare each two cells of each group.
		var family []Comparison
		places := map[int]*Place{} // by cell
		var groups [][]int
		for _, group := range f.groups() {
			if len(group) < 2 {
				continue
			}
			groups = append(groups, group)
			for i, a := range group {
				places[a] = &Place{Cell: a, Rank: 1}
				for _, b := range group[:i] {
					c, err := f.pair(a, b, m)
					if err != nil {
						return err
					}
					family = append(family, c)
				}
			}
		}
		// Phase 2: count, for each cell, the cells that it beats and those that beat it.
		for _, c := range f.judge(measure, family) {
			switch c.Verdict {
			case Better:
				places[c.Cell].Beats++
				places[c.baseline].Rank++
			case Worse:
				places[c.baseline].Beats++
				places[c.Cell].Rank++
			}
		}
		// Phase 3: sort each group.
		for _, group := range groups {
			r := Ranking{Measure: measure}
			for _, cell := range group {
				r.Places = append(r.Places, *places[cell])
			}
			slices.SortStableFunc(r.Places, func(a, b Place) int {
				x, y := f.Cells[a.Cell].estimates[m].Mean, f.Cells[b.Cell].estimates[m].Mean
				return cmp.Or(cmp.Compare(a.Rank, b.Rank), -direction*cmp.Compare(x, y))
			})
			f.Rankings = append(f.Rankings, r)
		}
	}
	return nil
}

// groups returns lists of cells that differ only in what is compared, in the order of their first
// cells.
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
