package simulation

// The summary of a scenario, for people and for programs: the columns of every
// machine first, those of a domain or of a grid after them.

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// GridSummary and AccuracySummary are the columns of summary.csv that only some
// machines and settings have.
type (
	GridSummary     = rows.GridSummary
	AccuracySummary = rows.AccuracySummary
)

// moneyOf returns what a bill says, in cost units.
func moneyOf(b metrics.Bill) *rows.MoneySummary {
	return &rows.MoneySummary{Cost: b.Cost.Units(), Refund: b.Refund().Units(), Income: b.Paid.Units(), BudgetLeft: b.Left.Units()}
}

// Summaries returns the part of each row of summary.csv that every machine has, in the order of
// Results.
func (o *Outcome) Summaries() []metrics.Summary {
	all := make([]metrics.Summary, len(o.Results))
	for i, r := range o.Results {
		all[i] = r.Summary
	}
	return all
}

// summary returns summary.csv with the columns that the machine at hand has, and its rows. Which
// columns there are goes by conditions; one run that meets a condition gives all rows its columns.
func (o *Outcome) summary() (rows.File[rows.SummaryRow], []rows.SummaryRow) {
	var further []string // conditions of columns
	all := make([]rows.SummaryRow, len(o.Results))
	for i, r := range o.Results {
		all[i] = rows.SummaryRow{Summary: r.Summary, Accuracy: r.accuracy(), Bounds: rows.Unbounded}
		if r.Bounds != nil {
			all[i].Bounds = *r.Bounds
		}
		if r.Bounds != nil || r.Unbounded != "" {
			further = append(further, rows.WithBounds)
		}
		switch {
		case r.Grid != nil:
			all[i].Grid, all[i].Money = *r.Grid, r.Grid.MoneySummary
			further = append(further, rows.OnGrid, rows.WithPrices)
		case r.Money != nil:
			all[i].Money = *r.Money
			further = append(further, rows.OnDomain, rows.WithPrices)
		}
	}
	if o.predicted() {
		further = append(further, rows.WithPredictions)
	}
	return rows.Summaries.Only(further...), all
}

// Print writes the summary as "csv", "json" or, for people, as a "table" with further tables of
// what there is to tell: money, capacity, accuracy, energy. Any other format is "table".
func (o *Outcome) Print(w io.Writer, format string) error {
	file, all := o.summary()
	switch {
	case format == "csv":
		return rows.WriteAll(w, file, all)
	case format == "json":
		return rows.WriteJSON(w, file, all)
	case len(o.Results) > 0 && o.Results[0].Grid != nil:
		if err := o.printGrid(w); err != nil {
			return err
		}
		if err := o.printMoney(w); err != nil {
			return err
		}
		return o.printEnergy(w)
	}
	if err := rows.WriteSummaryTable(w, o.Summaries(), o.leastLines()...); err != nil {
		return err
	}
	if err := o.printSpreads(w); err != nil {
		return err
	}
	if err := o.printMoney(w); err != nil {
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

// printMoney writes a table of what users paid, what they got back, what owners were paid, and what
// was left of budgets, in cost units, if anything was paid. On a grid nothing is told of budgets:
// the parts of a job share one.
func (o *Outcome) printMoney(w io.Writer) error {
	_, all := o.summary()
	if !slices.ContainsFunc(all, func(s rows.SummaryRow) bool { return s.Money != (rows.MoneySummary{}) }) {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	columns := []string{"cost", "refund", "to owners", "budgets left"}
	if o.Results[0].Grid != nil {
		columns = columns[:3]
	}
	fmt.Fprintf(table, "\nmoney\t%s\t\n", strings.Join(columns, "\t"))
	for _, s := range all {
		fmt.Fprintf(table, "%s\t", s.Policy)
		for _, amount := range []float64{s.Money.Cost, s.Money.Refund, s.Money.Income, s.Money.BudgetLeft}[:len(columns)] {
			fmt.Fprintf(table, "%.1f\t", amount)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// printGrid writes the table of every machine with some of a grid's own columns. They are appended
// to the lines of the finished table, each as wide as its widest cell.
func (o *Outcome) printGrid(w io.Writer) error {
	var b strings.Builder
	if err := rows.WriteSummaryTable(&b, o.Summaries()); err != nil {
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
