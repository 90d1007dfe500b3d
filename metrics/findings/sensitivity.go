package findings

// Which parameters a measure depends on.

import (
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/metrics/stats"
)

// Sensitivity says how a measure depends on the parameters that vary. Either Effects or Influences
// are set, or note says why neither is.
type Sensitivity struct {
	Measure string
	// Effects are set for a full grid. They are the parts of the variance for each parameter, each
	// pair of parameters, the seed, and the rest; see stats.Effects.
	Effects []stats.Effect
	// Influences are set for any other choice of cells. They say how strongly the ranks of the
	// measure depend on each parameter. R2 is the share of their variance that all parameters
	// together explain. See stats.RankRegression.
	Influences []stats.Influence
	R2         float64
	// note says why there is neither; "" otherwise.
	note string
}

// sensitivities tells what each measure depends on. Runs of different seeds are observations if
// the seed makes a difference in every cell; otherwise the means of cells are, because copies of
// one run would feign certainty.
func (f *Findings) sensitivities() {
	varied := f.factors()
	if len(varied) == 0 {
		return
	}
	for m, measure := range f.Options.Measures {
		chance := !slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.estimates[m].By != seeds })
		factors := make([]stats.Factor, len(varied))
		for k, i := range varied {
			factors[k].Name = f.Results.Params[i]
		}
		var seeds []string
		var y []float64
		// add takes in one observation with the levels of its cell.
		add := func(c *Cell, v float64) {
			if math.IsNaN(v) {
				return
			}
			for k, i := range varied {
				factors[k].Levels = append(factors[k].Levels, c.Params[i])
			}
			y = append(y, v)
		}
		for i := range f.Cells {
			c := &f.Cells[i]
			if !chance {
				add(c, c.estimates[m].Mean)
				continue
			}
			for _, r := range c.runs {
				if v := f.value(r, m); !math.IsNaN(v) {
					add(c, v)
					seeds = append(seeds, r.Seed)
				}
			}
		}
		s := Sensitivity{Measure: measure}
		var err error
		if s.Effects, err = stats.Effects(factors, seeds, y); err != nil {
			s.Influences, s.R2, err = stats.RankRegression(factors, y)
		}
		if err != nil {
			s.note = err.Error()
		}
		f.Sensitivities = append(f.Sensitivities, s)
	}
}

// Rest is the name, in sensitivity.csv, of the part of the variance that no effect explains.
const Rest = "rest"

// sensitivityRows has a row for each effect or influence, or for the note why there is none.
func (f *Findings) sensitivityRows() [][]string {
	rows := [][]string{{"measure", "parameter", "with", "share", "degrees", "f", "p", "correlation", "coefficient", "unique", "note"}}
	for _, s := range f.Sensitivities {
		for _, e := range s.Effects {
			name, with := Rest, ""
			if len(e.Factors) > 0 {
				name = e.Factors[0]
			}
			if len(e.Factors) > 1 {
				with = e.Factors[1]
			}
			rows = append(rows, []string{s.Measure, name, with, decimal(e.Share), strconv.Itoa(e.Degrees), decimal(e.Test.Statistic), decimal(e.Test.P), "", "", "", ""})
		}
		for _, in := range s.Influences {
			rows = append(rows, []string{s.Measure, in.Name, "", decimal(in.Alone), "", "", decimal(in.Test.P), decimal(in.Correlation), decimal(in.Coefficient), decimal(in.Unique), ""})
		}
		if s.note != "" {
			rows = append(rows, []string{s.Measure, "", "", "", "", "", "", "", "", "", s.note})
		}
	}
	return rows
}
