package simulation

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/gridslot/gridslot/metrics"
)

// capacities returns the accounts of the runs that have one.
func (o *Outcome) capacities() (rows []metrics.Capacity) {
	for _, r := range o.Results {
		if r.Capacity.Known() {
			rows = append(rows, r.Capacity)
		}
	}
	return rows
}

// writeCapacity writes capacity.csv, if any run has an account of its capacity.
func (c *call) writeCapacity(o *Outcome) error {
	rows := o.capacities()
	if rows == nil {
		return nil
	}
	return c.writeForAll("capacity.csv", func(w io.Writer) error { return metrics.WriteCapacity(w, rows) })
}

// printCapacity writes a table of where capacity went, in percent, if in some run any was lost,
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
