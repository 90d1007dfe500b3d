package metrics

// prices-POLICY.csv: what nodes cost, as time goes by.

import (
	"io"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics/rows"
)

// PriceWriter writes prices-POLICY.csv: a row for what each node costs at the
// beginning, and one for every change, of each node in order of time.
type PriceWriter struct {
	text *rows.Writer[rows.Price]
	site string // of a grid
}

// NewPriceWriter begins the file; on a grid it has a column for the site. Of is the writer of
// the nodes of a site.
func NewPriceWriter(w io.Writer, grid bool) *PriceWriter {
	file := rows.Prices
	if !grid {
		file = file.Only()
	}
	return &PriceWriter{text: rows.NewWriter(w, file)}
}

// Of begins a site with what its nodes cost at 0.
func (p *PriceWriter) Of(site string, nodes []*entity.Node) *PriceWriter {
	of := &PriceWriter{p.text, site}
	for _, n := range nodes {
		of.Changed(flow.PriceChange{Node: n, At: 0, Price: n.Price})
	}
	return of
}

// Changed takes in one change; see flow.Pricing.Tell.
func (p *PriceWriter) Changed(c flow.PriceChange) {
	p.text.Write(&rows.Price{Site: p.site, Time: c.At, Node: int64(c.Node.ID), Owner: flow.OwnerOf(c.Node), Price: c.Price})
}

// Flush ends the file. Its error is the first of all.
func (p *PriceWriter) Flush() error { return p.text.Flush() }
