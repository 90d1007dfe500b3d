package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/plain"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/facts"
)

// comparison is the output of `gridslot trace info A B`.
type comparison struct {
	A         side             `json:"a"`
	B         side             `json:"b"`
	Distances []facts.Distance `json:"distances"`
}

// side describes one log of a comparison. Serial is the share of jobs of one processor; PowersOfTwo
// is the share, among the other jobs, of those whose size is a power of two.
type side struct {
	Name        string            `json:"name"`
	SHA256      string            `json:"sha256"`
	Processors  int               `json:"processors"`
	Lines       int64             `json:"lines"`
	Jobs        int64             `json:"jobs"`
	Days        float64           `json:"days"`
	Load        float64           `json:"offered_load"`
	Serial      float64           `json:"serial"`
	PowersOfTwo float64           `json:"powers_of_two"`
	Correlation facts.Correlation `json:"size_runtime_correlation"`
	Users       int               `json:"users"`
	Repeated    *float64          `json:"repeated_jobs"` // null where users are unknown

	report *workload.Report
}

// compareLogs tells how far two logs are apart: their facts side by side, and for each quantity the
// distance between its two distributions.
func compareLogs(cmd *cobra.Command, tables *simulation.Tables, paths []string, format string) error {
	if paths[0] == workload.StandardInput && paths[1] == workload.StandardInput {
		return usagef("both logs are standard input: name a file for one of them")
	}
	var c comparison
	var both [2]*facts.Facts
	for i, s := range []*side{&c.A, &c.B} {
		t, err := openLog(cmd, tables, paths[i], nil)
		if err != nil {
			return err
		}
		info, err := inspect(cmd.Context(), t)
		if err != nil {
			return err
		}
		f := info.Facts
		both[i] = f
		*s = side{
			Name: info.Name, SHA256: info.SHA256, Processors: info.Processors, Lines: info.Lines, Jobs: info.Jobs,
			Days: (info.Last - info.First) / 86400, Load: info.Load, Serial: f.Sizes.Serial, PowersOfTwo: f.Sizes.PowersOfTwo,
			Correlation: f.Correlation, Users: info.Users, report: info.report,
		}
		if f.Repeats != nil {
			s.Repeated = &f.Repeats.Share
		}
	}
	c.Distances = facts.Compare(both[0], both[1])
	return tell(cmd, format, &c)
}

func (c *comparison) writeTable(p page) error {
	both := func(name string, of func(*side) string) { p.row(name, of(&c.A), of(&c.B)) }
	both("", func(s *side) string { return s.Name })
	both("jobs", func(s *side) string { return fmt.Sprintf("%d of %d lines", s.Jobs, s.Lines) })
	both("processors", func(s *side) string { return known(float64(s.Processors), 0) })
	both("days", func(s *side) string { return fmt.Sprintf("%.1f", s.Days) })
	both("offered load", func(s *side) string { return known(s.Load, 3) })
	both("of one processor", func(s *side) string { return percent(s.Serial) })
	both("powers of two, of the others", func(s *side) string { return percent(s.PowersOfTwo) })
	both("correlation of size and runtime", func(s *side) string { return correlated(s.Correlation.Values) })
	both("correlation of their logarithms", func(s *side) string { return correlated(s.Correlation.Logarithms) })
	both("users", func(s *side) string { return known(float64(s.Users), 0) })
	both("repeated jobs", func(s *side) string {
		if s.Repeated == nil {
			return "-"
		}
		return percent(*s.Repeated)
	})
	p.row()
	p.row("", "mean A", "mean B", "median A", "median B", "95% A", "95% B", "ks", "w1", "w1/mean")
	for _, d := range c.Distances {
		name := harmless(d.Quantity)
		if d.Unit != "" {
			name += ", " + d.Unit
		}
		p.row(name, plain.FourFigures(d.A.Mean), plain.FourFigures(d.B.Mean), plain.FourFigures(d.A.Median), plain.FourFigures(d.B.Median), plain.FourFigures(d.A.P95), plain.FourFigures(d.B.P95),
			fmt.Sprintf("%.3f", d.KolmogorovSmirnov), plain.FourFigures(d.Wasserstein), fmt.Sprintf("%.3f", d.Relative))
	}
	for _, s := range []*side{&c.A, &c.B} {
		if s.report.Total(workload.Damaged)+s.report.Total(workload.LeftOut) > 0 {
			if err := p.say("\n%s: %v\n", s.Name, s.report); err != nil {
				return err
			}
		}
	}
	return nil
}

// correlated returns the text of a correlation, "-" if r is nil.
func correlated(r *float64) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *r)
}

func (c *comparison) csvRows() [][]string {
	rows := [][]string{{"quantity", "unit", "n_a", "n_b", "mean_a", "mean_b", "median_a", "median_b", "p95_a", "p95_b", "ks", "wasserstein", "wasserstein_by_mean"}}
	for _, d := range c.Distances {
		row := []string{d.Quantity, d.Unit, strconv.FormatInt(d.A.N, 10), strconv.FormatInt(d.B.N, 10)}
		for _, v := range []float64{d.A.Mean, d.B.Mean, d.A.Median, d.B.Median, d.A.P95, d.B.P95, d.KolmogorovSmirnov, d.Wasserstein, d.Relative} {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	return rows
}
