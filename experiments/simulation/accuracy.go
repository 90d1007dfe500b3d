package simulation

// How good predictions of runtimes were, in the summary.

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/gridslot/gridslot/metrics"
)

// predicted reports whether the runtimes of some run were predicted. On a grid each site predicts
// for itself, and the summary tells nothing of it.
func (o *Outcome) predicted() bool {
	return slices.ContainsFunc(o.Results, func(r *Result) bool { return r.Accuracy != nil && r.Grid == nil })
}

// accuracy returns the accuracy of a run's predictions; empty if there were none.
func (r *Result) accuracy() AccuracySummary {
	if r.Accuracy == nil {
		return AccuracySummary{}
	}
	return *r.Accuracy
}

// printAccuracy writes a table of how good predictions were, if there were any: the mean error as a
// time, the mean accuracy and the part of predictions that were too short in percent.
func (o *Outcome) printAccuracy(w io.Writer) error {
	if !o.predicted() {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\npredictions\tmean error\taccuracy %\ttoo short %\tcorrections a job\t")
	for _, r := range o.Results {
		if a := r.accuracy(); a.PredictionError != nil {
			decimal := func(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }
			fmt.Fprintf(table, "\n%s\t%s\t%s\t%s\t%s\t", r.Summary.Policy, metrics.Clock(math.Round(1000**a.PredictionError)/1000),
				decimal(100**a.PredictionAccuracy, 1), decimal(100**a.UnderPredicted, 1), decimal(*a.CorrectionsPerJob, 2))
		}
	}
	fmt.Fprintln(table)
	return table.Flush()
}
