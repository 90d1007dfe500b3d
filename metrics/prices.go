package metrics

// prices-POLICY.csv: what nodes cost, as time goes by.

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/csvtext"
)

// PriceWriter writes prices-POLICY.csv: a row for what each node costs at the
// beginning, and one for every change, of each node in order of time.
type PriceWriter struct {
	out  *csv.Writer
	site []string // the first column of a grid's file
}

// NewPriceWriter begins the file with what the nodes cost at 0.
func NewPriceWriter(w io.Writer, nodes []*entity.Node) *PriceWriter {
	p := &PriceWriter{out: csv.NewWriter(w)}
	p.row("time", "node", "owner", "price")
	p.begin(nodes)
	return p
}

// NewSitePriceWriter begins the file of a grid, which has a column site in front:
// Of is the writer of a site.
func NewSitePriceWriter(w io.Writer) *PriceWriter {
	p := &PriceWriter{out: csv.NewWriter(w)}
	p.row("site", "time", "node", "owner", "price")
	return p
}

// Of begins a site with what its nodes cost at 0.
func (p *PriceWriter) Of(site string, nodes []*entity.Node) *PriceWriter {
	of := &PriceWriter{p.out, []string{site}}
	of.begin(nodes)
	return of
}

func (p *PriceWriter) begin(nodes []*entity.Node) {
	for _, n := range nodes {
		p.Changed(flow.PriceChange{Node: n, At: 0, Price: n.Price})
	}
}

// Changed takes in one change; see flow.Pricing.Tell.
func (p *PriceWriter) Changed(c flow.PriceChange) {
	p.row(c.At.String(), strconv.Itoa(c.Node.ID), csvtext.Of(flow.OwnerOf(c.Node)), strconv.FormatFloat(c.Price, 'f', -1, 64))
}

func (p *PriceWriter) row(fields ...string) { _ = p.out.Write(slices.Concat(p.site, fields)) } // Flush tells

// Flush ends the file. Its error is the first of all.
func (p *PriceWriter) Flush() error {
	p.out.Flush()
	if err := p.out.Error(); err != nil {
		return fmt.Errorf("writing prices as CSV: %w", err)
	}
	return nil
}
