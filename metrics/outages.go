package metrics

// outages-POLICY.csv: what was out of service, and whom it hit.

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
)

// OutageWriter writes outages-POLICY.csv: a row for each loss of capacity as it came
// about, in the order in which they began. workload.ReadOutages reads it.
type OutageWriter struct {
	out  *csv.Writer
	site []string // the first column of a grid's file
}

// NewOutageWriter begins the file.
func NewOutageWriter(w io.Writer) *OutageWriter {
	o := &OutageWriter{out: csv.NewWriter(w)}
	o.row("from", "to", "processors", "node", "known", "victims")
	return o
}

// NewSiteOutageWriter begins the file of a grid, which has a column site in front: Of
// is the writer of a site.
func NewSiteOutageWriter(w io.Writer) *OutageWriter {
	o := &OutageWriter{out: csv.NewWriter(w)}
	o.row("site", "from", "to", "processors", "node", "known", "victims")
	return o
}

// Of is the writer of a site.
func (o *OutageWriter) Of(site string) *OutageWriter { return &OutageWriter{o.out, []string{site}} }

// Lost takes in one loss; see flow.Outages.Told.
func (o *OutageWriter) Lost(l flow.Lost) {
	which := procset.Append(nil, l.Set)
	if l.Node != nil {
		which = strconv.AppendInt(nil, int64(l.Node.ID), 10)
	}
	var victims []byte
	for i, r := range l.Victims {
		if i > 0 {
			victims = append(victims, ' ')
		}
		victims = strconv.AppendInt(victims, r.ID, 10)
	}
	o.row(l.From.String(), l.To.String(), strconv.Itoa(l.Size()), string(which), l.Known.String(), string(victims))
}

func (o *OutageWriter) row(fields ...string) { _ = o.out.Write(slices.Concat(o.site, fields)) } // Flush tells

// Flush ends the file. Its error is the first of all.
func (o *OutageWriter) Flush() error {
	o.out.Flush()
	if err := o.out.Error(); err != nil {
		return fmt.Errorf("writing outages as CSV: %w", err)
	}
	return nil
}
