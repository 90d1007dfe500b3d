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
	// test of each two, with Holm's correction over all pairs of the measure, those of
	// other rankings among them. Cells of one rank are tied.
	Rank int
	// Beats is how many others this one is better than.
	Beats int
}

// rank makes the rankings. All pairs of a measure are a family, as in compare.
func (f *Findings) rank() error {
	for m, measure := range f.Options.Measures {
		direction := f.Options.Direction(measure)
		if direction == 0 || len(f.compared) == 0 {
			continue
		}
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
		for _, c := range f.judge(measure, family) {
			switch c.Verdict {
			case Better:
				places[c.Cell].Beats++
				places[c.Baseline].Rank++
			case Worse:
				places[c.Baseline].Beats++
				places[c.Cell].Rank++
			}
		}
		for _, group := range groups {
			r := Ranking{Measure: measure}
			for _, cell := range group {
				r.Places = append(r.Places, *places[cell])
			}
			slices.SortStableFunc(r.Places, func(a, b Place) int {
				x, y := f.Cells[a.Cell].Estimates[m].Mean, f.Cells[b.Cell].Estimates[m].Mean
				return cmp.Or(cmp.Compare(a.Rank, b.Rank), -direction*cmp.Compare(x, y))
			})
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
