package findings

// Which parameters a measure depends on.

import (
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/metrics/stats"
)

// Sensitivity is of a measure to the parameters that vary.
type Sensitivity struct {
	Measure string
	// Effects are what parts of the variance go with each parameter, each two and the
	// seed, and what is left over, of a full grid; see stats.Effects.
	Effects []stats.Effect
	// Influences, of any other choice of cells, are how far ranks of the measure go with the
	// parameters, and R2 what share of their variance all explain; see
	// stats.RankRegression.
	Influences []stats.Influence
	R2         float64
	Note       string // why there is neither
}

// sensitivities tells what each measure depends on. Runs of different seeds are observations
// where the seed makes a difference in every cell; elsewhere the means of cells are, as copies
// of one run would feign certainty.
func (f *Findings) sensitivities() {
	varied := f.factors()
	if len(varied) == 0 {
		return
	}
	for m, measure := range f.Options.Measures {
		chance := !slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Estimates[m].By != Seeds })
		factors := make([]stats.Factor, len(varied))
		for k, i := range varied {
			factors[k].Name = f.Results.Params[i]
		}
		var seeds []string
		var y []float64
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
				add(c, c.Estimates[m].Mean)
				continue
			}
			for _, r := range c.Runs {
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
			s.Note = err.Error()
		}
		f.Sensitivities = append(f.Sensitivities, s)
	}
}

// Rest is what is left over of the variance, in sensitivity.csv.
const Rest = "rest"

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
		if s.Note != "" {
			rows = append(rows, []string{s.Measure, "", "", "", "", "", "", "", "", "", s.Note})
		}
	}
	return rows
}
