package findings

// Findings as files: a row a cell and measure, a row a comparison, and so on.

import (
	"encoding/csv"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/internal/atomicfile"
)

// The files that Save writes.
const (
	summaryName     = "summary.csv"
	comparisonsName = "comparisons.csv"
	rankingsName    = "rankings.csv"
	sensitivityName = "sensitivity.csv"
)

// Save writes the findings into a folder, as CSV: summary.csv, comparisons.csv, rankings.csv and
// sensitivity.csv, each as a whole or not at all.
func (f *Findings) Save(dir string) error {
	for _, file := range []struct {
		name string
		rows [][]string
	}{
		{summaryName, f.summaryRows()}, {comparisonsName, f.comparisonRows()}, {rankingsName, f.rankingRows()}, {sensitivityName, f.sensitivityRows()},
	} {
		err := atomicfile.Write(filepath.Join(dir, file.name), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(file.rows) })
		if err != nil {
			return err
		}
	}
	return nil
}

// digits is the number of significant digits of a number in the files. Beyond nine, the tails of
// distributions may differ between architectures.
const digits = 9

// decimal writes a number; "" for what is not finite.
func decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// summaryRows has a row for each cell and measure.
func (f *Findings) summaryRows() [][]string {
	rows := [][]string{slices.Concat(f.Results.Params, []string{"measure", "mean", "low", "high", "half_width", "n", "by", "joined", "note"})}
	for i := range f.Cells {
		c := &f.Cells[i]
		for m, measure := range f.Options.Measures {
			e := &c.estimates[m]
			rows = append(rows, slices.Concat(c.Params, []string{
				measure, decimal(e.Mean), decimal(e.Mean - e.HalfWidth), decimal(e.Mean + e.HalfWidth), decimal(e.HalfWidth),
				strconv.Itoa(e.N), string(e.By), joinedText(e.By, e.joined), e.note,
			}))
		}
	}
	return rows
}

// joinedText returns how many batches were made one, "" if observations are not batches.
func joinedText(by source, joined int) string {
	if by != Batched {
		return ""
	}
	return strconv.Itoa(joined)
}

// comparisonRows has a row for each comparison. Tests of fewer than Fewest pairs are left empty.
func (f *Findings) comparisonRows() [][]string {
	rows := [][]string{slices.Concat(f.Results.Params, []string{
		"baseline", "measure", "mean", "baseline_mean", "difference", "low", "high", "percent", "percent_low", "percent_high",
		"n", "by", "joined", "t", "p_t", "p_t_holm", "p_wilcoxon", "p_wilcoxon_holm", "cohens_d", "rank_biserial", "verdict", "note",
	})}
	for i := range f.Comparisons {
		c := &f.Comparisons[i]
		d := c.Difference
		tests := []string{"", "", "", "", ""}
		if d.N >= Fewest {
			tests = []string{decimal(c.T.Statistic), decimal(c.T.P), decimal(c.T.Adjusted), decimal(c.Wilcoxon.P), decimal(c.Wilcoxon.Adjusted)}
		}
		rows = append(rows, slices.Concat(f.Cells[c.Cell].Params, []string{
			f.BaselineName(), c.Measure, decimal(c.mean), decimal(c.BaselineMean), decimal(d.Mean), decimal(d.Mean - d.HalfWidth), decimal(d.Mean + d.HalfWidth),
			decimal(c.Percent.Value), decimal(c.Percent.Low), decimal(c.Percent.High),
			strconv.Itoa(d.N), string(c.By), joinedText(c.By, c.joined),
		}, tests, []string{decimal(c.CohensD), decimal(c.RankBiserial), string(c.Verdict), c.Note}))
	}
	return rows
}

// BaselineName returns what cells are compared with, such as "policy=easy".
func (f *Findings) BaselineName() string {
	var texts []string
	for _, p := range f.Options.Baseline {
		texts = append(texts, p.Name+"="+p.Value)
	}
	return strings.Join(texts, " ")
}

// rankingRows has a row for each place of each ranking.
func (f *Findings) rankingRows() [][]string {
	rows := [][]string{slices.Concat(f.Results.Params, []string{"measure", "rank", "beats", "of", "mean", "half_width", "n"})}
	for _, r := range f.Rankings {
		m := slices.Index(f.Options.Measures, r.Measure)
		for _, p := range r.Places {
			e := &f.Cells[p.Cell].estimates[m]
			rows = append(rows, slices.Concat(f.Cells[p.Cell].Params, []string{
				r.Measure, strconv.Itoa(p.Rank), strconv.Itoa(p.Beats), strconv.Itoa(len(r.Places)), decimal(e.Mean), decimal(e.HalfWidth), strconv.Itoa(e.N),
			}))
		}
	}
	return rows
}
