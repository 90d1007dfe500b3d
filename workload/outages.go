package workload

// Logs of outages in a CSV file.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/csvtable"
)

// outageRow is one happening of a line of the file.
type outageRow struct {
	row *csvtable.Row // for messages, and for the columns site and node
	// outage has no Set yet, since nodes are numbered by the machine.
	outage flow.Outage
	// nodes are the IDs of nodes or the numbers of processors that are lost; nil if the row tells how
	// many are lost, whichever they are, or has names.
	nodes []procset.Range
	names error // why the text in node is no numbers, so that it can only be names; nil otherwise
}

// Outages is a file of outages, in the order in which they become known. It knows no machine:
// Processors, Nodes and Hosts apply it to a machine.
type Outages struct {
	name   string      // of the file, for messages; "" if it was read from a reader
	ofSite bool        // these are the outages of one site of a grid: rows may name it
	rows   []outageRow // by outage.Known, then by outage.From
}

// OpenOutages reads a file of outages; see readOutages.
func OpenOutages(path string, dates *Header) (*Outages, error) {
	o, err := openTable(path, "outages", dates, readOutages)
	if err != nil {
		return nil, err
	}
	o.name = path
	return o, nil
}

// readOutages reads CSV with a heading: from and to, in time units of the simulation,
// and either processors (how many are lost, whichever they are) or node (the IDs of a
// domain's nodes, or a cluster's processors by number from 0: "3", or "0-3 7"); and, if it
// is there, known, when the scheduler learns of it (at from, where the field is empty).
// What has an empty to, or "forever", does not come back. The rows may stand in any
// order. An instant may be a date of the log whose header is dates (nil: there is none), as in
// 1996-10-01T08:00. A row with every, a time such as 30d, happens again at that distance, and
// becomes known as long before, as long as it begins by the instant until. Where a row has both
// processors and node, the former is only how many the latter are, as in the outages-POLICY.csv
// of a run.
func readOutages(in io.Reader, dates *Header) (*Outages, error) {
	t, err := csvtable.Read(in, "from", "to")
	if err != nil {
		return nil, err
	}
	switch {
	case !slices.Contains(t.Header, "processors") && !slices.Contains(t.Header, "node"):
		return nil, errors.New(`it has neither a column "processors" (how many are lost) nor "node" (which)`)
	case t.Len() == 0:
		return nil, errors.New("there are no outages below the heading")
	}
	o := &Outages{}
	for row := range t.Rows() {
		x, err := readOutage(row, dates)
		if err != nil {
			return nil, err
		}
		if o.rows, err = repeated(o.rows, x, dates); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(o.rows, func(a, b outageRow) int {
		return cmp.Or(cmp.Compare(a.outage.Known, b.outage.Known), cmp.Compare(a.outage.From, b.outage.From))
	})
	return o, nil
}

// repeated appends an outage as often as its row says, each time as long as the first and known as
// long before. An outage without an end cannot happen again: it is longer than any every.
func repeated(to []outageRow, x outageRow, dates *Header) ([]outageRow, error) {
	again, every := repeats(x.row, x.outage.From, x.outage.To-x.outage.From, dates)
	for i := range des.Time(again) + 1 {
		y := x
		y.outage.From, y.outage.To, y.outage.Known = x.outage.From+i*every, x.outage.To+i*every, x.outage.Known+i*every
		to = append(to, y)
	}
	return to, x.row.Err()
}

// readOutage reads the first happening of a row. Without a column known, or with nothing in it, the
// outage becomes known when it begins.
func readOutage(row *csvtable.Row, dates *Header) (x outageRow, err error) {
	x.row = row
	if x.outage.From, x.outage.To, err = readPeriod(row, dates); err != nil {
		return x, err
	}
	known := x.outage.From.Seconds()
	if row.Has("known") {
		known = dated(row, "known", dates)
	}
	// What is lost: those in node, or as many as processors says.
	switch {
	case row.Has("node"):
		nodes, err := procset.Parse(row.Text("node"))
		if x.nodes = nodes; err != nil {
			x.names = fmt.Errorf("node: %w", err)
			break
		}
		if n := procset.Count(nodes); row.Has("processors") && row.Int("processors") != n && row.Err() == nil {
			return x, row.At(fmt.Errorf("processors: want %d, as many as node names, or nothing, not %s", n, row.Text("processors")))
		}
	case row.Has("processors"):
		x.outage.Count = row.Int("processors")
	default:
		return x, row.At(errors.New("it has neither processors nor node"))
	}
	if err := row.Err(); err != nil {
		return x, err
	}
	// An outage may be announced, but not become known after it has begun.
	switch x.outage.Known = des.Seconds(known); {
	case !inRange(known):
		return x, row.At(fmt.Errorf("known must be 0 to %g", float64(latestInstant)))
	case x.outage.Known > x.outage.From:
		return x, row.At(fmt.Errorf("known: it begins at %v, and cannot become known later, at %v", x.outage.From, x.outage.Known))
	case x.nodes == nil && x.names == nil && x.outage.Count < 1:
		return x, row.At(fmt.Errorf("processors: want 1 or more, not %d", x.outage.Count))
	}
	return x, nil
}

// wrong is an error about a row, with the file and the line.
func (o *Outages) wrong(x outageRow, format string, args ...any) error {
	err := x.row.At(fmt.Errorf(format, args...))
	if o.name != "" {
		err = fmt.Errorf("%s: %w", o.name, err)
	}
	return err
}

// Sites divides the outages of a grid by their column "site". A site that is not among names is an
// error.
func (o *Outages) Sites(names ...string) (map[string]*Outages, error) {
	of := map[string]*Outages{}
	for _, name := range names {
		of[name] = &Outages{name: o.name, ofSite: true}
	}
	for _, x := range o.rows {
		site := of[x.row.Text("site")]
		if site == nil {
			return nil, o.wrong(x, "site: want one of the grid's (%s), not %q", strings.Join(names, ", "), x.row.Text("site"))
		}
		site.rows = append(site.rows, x)
	}
	return of, nil
}

// siteless checks that a row names no site where there are none.
func (o *Outages) siteless(x outageRow) error {
	if x.row.Has("site") && !o.ofSite {
		return o.wrong(x, "site: there are no sites here, only on a grid; want no such column, not %q", x.row.Text("site"))
	}
	return nil
}

// numbered checks that a row has numbers if it has anything in node.
func (o *Outages) numbered(x outageRow) error {
	if x.names != nil {
		return o.wrong(x, "%w", x.names)
	}
	return nil
}

// each makes an outage of each row, in order of Outage.Known. The function place completes it with
// what is lost.
func (o *Outages) each(place func(x outageRow, out *flow.Outage) error) ([]flow.Outage, error) {
	var all []flow.Outage
	for _, x := range o.rows {
		if err := o.siteless(x); err != nil {
			return nil, err
		}
		out := x.outage
		if err := place(x, &out); err != nil {
			return nil, err
		}
		all = append(all, out)
	}
	return all, nil
}

// Processors returns the outages of a cluster of size processors, in order of Outage.Known. Either
// all rows name processors, or none does.
func (o *Outages) Processors(size int) ([]flow.Outage, error) {
	return o.each(func(x outageRow, out *flow.Outage) error {
		if err := o.numbered(x); err != nil {
			return err
		}
		out.Set = x.nodes
		switch {
		case out.Count > size:
			return o.wrong(x, "processors: %d are lost of a cluster of %d", out.Count, size)
		case (x.nodes == nil) != (o.rows[0].nodes == nil):
			return o.wrong(x, "some outages name their processors, by node, and some do not: want one or the other in all rows")
		case out.Where.Check(size) != nil:
			return o.wrong(x, "node: want processors of 0-%d in ascending order, not %s", size-1, procset.Append(nil, out.Set))
		}
		return nil
	})
}

// Hosts returns the outages of a machine whose nodes have several processors each, in order of
// Outage.Known. A row has names of nodes (then its numbers are nil) or the numbers of all their
// processors. The function of returns the positions of these nodes.
func (o *Outages) Hosts(of func(numbers []procset.Range, names string) ([]procset.Range, error)) ([]flow.Outage, error) {
	return o.each(func(x outageRow, out *flow.Outage) (err error) {
		if x.nodes == nil && x.names == nil {
			return o.wrong(x, "node: want the nodes that are down; so many processors, whichever they are, are for a cluster")
		}
		if out.Set, err = of(x.nodes, x.row.Text("node")); err != nil {
			return o.wrong(x, "node: %w", err)
		}
		return nil
	})
}

// Nodes returns the outages of these nodes of a domain, in order of Outage.Known.
func (o *Outages) Nodes(nodes []*entity.Node) ([]flow.Outage, error) {
	byID := make(map[int]int32, len(nodes))
	for i, n := range nodes {
		byID[n.ID] = int32(i)
	}
	return o.each(func(x outageRow, out *flow.Outage) error {
		if err := o.numbered(x); err != nil {
			return err
		}
		if x.nodes == nil {
			return o.wrong(x, "node: on a domain an outage names its nodes; so many processors are for a cluster")
		}
		for _, r := range x.nodes {
			for id := int(r.First); id <= int(r.Last); id++ {
				i, known := byID[id]
				if !known {
					return o.wrong(x, "node: there is no node %d", id)
				}
				out.Set = append(out.Set, procset.Range{First: i, Last: i})
			}
		}
		out.Set = procset.Join(out.Set)
		return nil
	})
}
