package simulation

// The summary of a scenario, for people and for programs: the columns of every
// machine first, those of a domain or of a grid after them.

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/metrics"
)

// gridRow is a row of a grid's summary.csv.
type gridRow struct {
	metrics.Summary
	GridSummary
}

// MoneySummary is what a domain's row of summary.csv has beside the columns of every
// machine, in cost units: what the reservations cost whose jobs started, what users got
// back of that, and what owners were paid.
type MoneySummary struct {
	Cost   float64 `csv:"cost" json:"cost"`
	Refund float64 `csv:"refund" json:"refund"`
	Income float64 `csv:"income" json:"income"`
}

func moneyOf(b metrics.Bill) *MoneySummary {
	return &MoneySummary{b.Cost.Units(), b.Refund().Units(), b.Paid.Units()}
}

// moneyRow is a row of a domain's summary.csv.
type moneyRow struct {
	metrics.Summary
	MoneySummary
}

// Summaries are the rows of every machine's columns.
func (o *Outcome) Summaries() []metrics.Summary {
	rows := make([]metrics.Summary, len(o.Results))
	for i, r := range o.Results {
		rows[i] = r.Summary
	}
	return rows
}

// rows are those of all columns, of the machine at hand.
func (o *Outcome) rows() any {
	if o.predicted() {
		return o.predictedRows()
	}
	var grids []gridRow
	var domains []moneyRow
	for _, r := range o.Results {
		switch {
		case r.Grid != nil:
			grids = append(grids, gridRow{r.Summary, *r.Grid})
		case r.Money != nil:
			domains = append(domains, moneyRow{r.Summary, *r.Money})
		}
	}
	switch {
	case grids != nil:
		return grids
	case domains != nil:
		return domains
	}
	return o.Summaries()
}

// Print writes the summary as "table", "csv" or "json".
func (o *Outcome) Print(w io.Writer, format string) error {
	_, isGrid := o.rows().([]gridRow)
	switch {
	case format == "csv":
		if err := gocsv.Marshal(o.rows(), w); err != nil {
			return fmt.Errorf("writing summaries as CSV: %w", err)
		}
		return nil
	case format == "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(o.rows())
	case isGrid:
		if err := o.printGrid(w); err != nil {
			return err
		}
		return o.printEnergy(w)
	}
	if err := metrics.WriteSummaryTable(w, o.Summaries()); err != nil {
		return err
	}
	if err := o.printCapacity(w); err != nil {
		return err
	}
	if err := o.printAccuracy(w); err != nil {
		return err
	}
	return o.printEnergy(w)
}

// printGrid writes the table of every machine with some of a grid's own columns.
func (o *Outcome) printGrid(w io.Writer) error {
	var b strings.Builder
	if err := metrics.WriteSummaryTable(&b, o.Summaries()); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for _, column := range []struct {
		title string
		of    func(*GridSummary) string
	}{
		{"fragments", func(g *GridSummary) string { return strconv.FormatInt(g.Fragments, 10) }},
		{"conflicts", func(g *GridSummary) string { return strconv.FormatInt(g.Conflicts, 10) }},
		{"interventions", func(g *GridSummary) string { return strconv.FormatInt(g.Interventions, 10) }},
		{"messages", func(g *GridSummary) string { return strconv.FormatInt(g.Messages, 10) }},
		{"fragments' wait", func(g *GridSummary) string { return metrics.Clock(g.MeanFragmentWait) }},
	} {
		cells := []string{column.title}
		width := utf8.RuneCountInString(column.title)
		for _, r := range o.Results {
			cell := column.of(r.Grid)
			cells = append(cells, cell)
			width = max(width, len(cell))
		}
		for i := range lines {
			lines[i] += fmt.Sprintf("  %*s", width, cells[i])
		}
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}
