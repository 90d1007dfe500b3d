package metrics

// outages-POLICY.csv: what was out of service, and whom it hit.

import (
	"io"
	"strconv"

	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/rows"
)

// OutageWriter writes outages-POLICY.csv: a row for each loss of capacity as it came
// about, in the order in which they began. workload.OpenOutages reads it.
type OutageWriter struct {
	text *rows.Writer[rows.Outage]
	site string // of a grid
}

// NewOutageWriter begins the file; on a grid it has a column for the site.
func NewOutageWriter(w io.Writer, grid bool) *OutageWriter {
	file := rows.Outages
	if !grid {
		file = file.Only()
	}
	return &OutageWriter{text: rows.NewWriter(w, file)}
}

// Of is the writer of a site.
func (o *OutageWriter) Of(site string) *OutageWriter { return &OutageWriter{o.text, site} }

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
	o.text.Write(&rows.Outage{
		Site: o.site, From: l.From, To: l.To, Processors: l.Size(), Node: string(which), Known: l.Known, Victims: string(victims),
	})
}

// Flush ends the file. Its error is the first of all.
func (o *OutageWriter) Flush() error { return o.text.Flush() }
