package simulation

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics"
)

// capacities are the accounts of the runs that have one.
func (o *Outcome) capacities() (rows []metrics.Capacity) {
	for _, r := range o.Results {
		if r.Capacity.Known() {
			rows = append(rows, r.Capacity)
		}
	}
	return rows
}

// writeCapacity writes capacity.csv. Where there is nothing to tell, one that an
// earlier run has left goes.
func (o *Outcome) writeCapacity(path string) error {
	if rows := o.capacities(); rows != nil {
		return atomicfile.Write(path, func(w io.Writer) error { return metrics.WriteCapacity(w, rows) })
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// printCapacity writes a table of where capacity went, in percent, if any was lost,
// down or overhead.
func (o *Outcome) printCapacity(w io.Writer) error {
	rows := o.capacities()
	if !slices.ContainsFunc(rows, func(c metrics.Capacity) bool { return c.Lossy() }) {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\ncapacity %\t")
	for u := range rows[0].Uses {
		fmt.Fprintf(table, "%v\t", metrics.Use(u))
	}
	for _, r := range rows {
		fmt.Fprintf(table, "\n%s\t", r.Policy)
		for _, of := range r.Uses {
			fmt.Fprintf(table, "%.1f\t", 100*of.Seconds()/r.All.Seconds())
		}
	}
	fmt.Fprintln(table)
	return table.Flush()
}
