package rows

// batches.csv, which a run of a study leaves.

import (
	"fmt"
	"strconv"

	"github.com/gridslot/gridslot/des"
)

// Batch is a row of batches.csv: a part of a run, jobs that were submitted one after the other.
type Batch struct {
	// Number counts from 0; batches of one number in two runs are a pair.
	Number int
	// From and To bound the submissions: [From, To) where batches have one length of time, else the
	// first and the last one.
	From, To des.Time
	// Jobs is the number of jobs. Invariant: above 0.
	Jobs int
	// Warmup reports that the batch does not count.
	Warmup bool
	// Means are the means of the measures over the jobs, in the order of the columns. Invariant:
	// all are finite.
	Means []float64
}

// Batches returns batches.csv with a column for each measure.
func Batches(measures []string) File[Batch] {
	f := File[Batch]{
		Name:    "batches.csv",
		when:    "with `batches` in a study",
		text:    "A row for each batch of a run.",
		Missing: Batch{From: None, To: None},
		Columns: []column[Batch]{
			intColumn("batch", "Number of the batch, from 0; equal numbers in two runs are a pair.", func(b *Batch) *int { return &b.Number }).need(),
			timeColumn("from", "First submission, or where those of the batch begin.", func(b *Batch) *des.Time { return &b.From }).need(),
			timeColumn("to", "Last submission, or where those of the next batch begin.", func(b *Batch) *des.Time { return &b.To }).need(),
			intColumn("jobs", "Jobs of the batch that ended.", func(b *Batch) *int { return &b.Jobs }).need(),
			bitColumn("warmup", "1 if the batch is not counted.", func(b *Batch) *bool { return &b.Warmup }).need(),
		},
	}
	for i, measure := range measures {
		f.Columns = append(f.Columns, column[Batch]{
			meaning: meaning{Name: measure, Type: Number, Text: "Mean over the jobs of the batch."},
			Needed:  true,
			Put:     func(b []byte, row *Batch) []byte { return strconv.AppendFloat(b, row.Means[i], 'f', -1, 64) },
			// A row is read column by column: this one is the next of Means.
			Take: func(row *Batch, text string) error {
				x, err := parseNumber(text)
				if err == nil && x-x != 0 { // NaN, or infinite
					err = fmt.Errorf("want a finite number, not %q", text)
				}
				row.Means = append(row.Means, x)
				return err
			},
		})
	}
	return f
}
