package scenario

// What named nodes have to tell, so that a run can be checked from its files: who had
// which node when and for how much, owners' jobs, and accounts.

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/csvtext"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/market"
	"github.com/gridslot/gridslot/metrics"
)

// The first lines of the files of a grid.
const (
	ownersHeader   = "site,node,wanted,start,end,owner,job_id\n"
	accountsHeader = "site,account,balance\n"
)

// books are those of a run: its bills, and tasks-POLICY.csv; on a grid local- and
// accounts-STRATEGY.csv as well. Where no files are wanted only the bills are kept.
type books struct {
	tasks            *metrics.TaskWriter // nil where no files are wanted, as are these:
	owners, accounts io.Writer
	all              []*book
}

// newBooks begins the books of named nodes, if there are any.
func newBooks(x *Session, wanted, grid bool) (*books, error) {
	b := &books{}
	if !wanted {
		return b, nil
	}
	w, err := x.Create("tasks-", ".csv")
	if err != nil || w == nil {
		return b, err
	}
	b.tasks = metrics.NewTaskWriter(w)
	b.tasks.Bookings = !grid
	if !grid {
		return b, nil
	}
	for _, f := range []struct {
		name, header string
		to           *io.Writer
	}{{"local-", ownersHeader, &b.owners}, {"accounts-", accountsHeader, &b.accounts}} {
		w, err := x.Create(f.name, ".csv")
		if err != nil {
			return nil, err
		}
		fmt.Fprint(w, f.header) // Commit has what went wrong
		*f.to = w
	}
	return b, nil
}

// of is the book of one more domain, which is a site of that name, or "".
func (b *books) of(site string, l *market.Ledger) *book {
	k := &book{books: b, site: site, bills: metrics.NewBills(l, b.tasks != nil)}
	if b.tasks != nil {
		k.tasks = b.tasks.Of(k.bills, siteOf(site))
	}
	b.all = append(b.all, k)
	return k
}

// siteOf says what files call the site of a node: of a union it is its domain.
func siteOf(site string) func(*entity.Node) string {
	return func(n *entity.Node) string {
		if site == "" {
			return n.Labels[domainLabel]
		}
		return site
	}
}

// job is the bill of a job, at all sites together.
func (b *books) job(r *entity.Run) (all metrics.Bill) {
	for _, k := range b.all {
		bill := k.bills.Job(r.ID)
		all.Cost += bill.Cost
		all.Paid += bill.Paid
	}
	return all
}

// total is the bill of all jobs.
func (b *books) total() (all metrics.Bill) {
	for _, k := range b.all {
		bill := k.bills.Total()
		all.Cost += bill.Cost
		all.Paid += bill.Paid
	}
	return all
}

// close writes the accounts. It is an error where they do not add up.
func (b *books) close() error {
	for _, k := range b.all {
		l := k.bills.Ledger
		if err := l.Check(); err != nil && k.site == "" {
			return err
		} else if err != nil {
			return fmt.Errorf("%s: %w", k.site, err)
		}
		if b.accounts == nil {
			continue
		}
		for _, a := range l.Accounts() {
			fmt.Fprintf(b.accounts, "%s,%v,%v\n", k.site, a, l.Balance(a))
		}
	}
	if b.tasks != nil {
		return b.tasks.Close()
	}
	return nil
}

// book is one domain's.
type book struct {
	*books
	site  string
	bills *metrics.Bills
	tasks *metrics.SiteTasks // nil where no files are wanted
}

// observers are those of the domain's jobs.
func (b *book) observers() []entity.Observer {
	if b.tasks == nil {
		return []entity.Observer{b.bills}
	}
	return []entity.Observer{b.bills, b.tasks}
}

// owner takes in an owner's job that got its node.
func (b *book) owner(l flow.LocalJob, start des.Time) {
	if b.tasks != nil {
		b.tasks.Owner(l, start)
	}
	if b.owners != nil {
		fmt.Fprintf(b.owners, "%s,%d,%v,%v,%v,,\n", b.site, l.Node.ID, l.Start, start, start.Add(l.Length))
	}
}

// queue are observers of the jobs of an owner's queue.
func (b *book) queue(owner string) (all []entity.Observer) {
	if b.tasks != nil {
		all = append(all, b.tasks.Owners())
	}
	if b.books.owners != nil {
		all = append(all, &ownBook{b, owner})
	}
	return all
}

// ownBook is an observer that takes in the jobs of an owner's queue when they end.
type ownBook struct {
	*book
	owner string
}

func (b *ownBook) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobFinished && e.Kind != entity.JobKilled {
		return
	}
	a := e.Run.Latest()
	w := csv.NewWriter(b.owners) // a name of an owner may need quotes
	for i, t := range a.Window.Tasks {
		end := min(a.Ends[i], a.End)
		_ = w.Write([]string{b.site, strconv.Itoa(t.Node.ID), e.Run.Submit.String(), a.Start.String(), end.String(), csvtext.Of(b.owner), strconv.FormatInt(e.Run.ID, 10)})
	}
	w.Flush()
}

// NodesName is the file that tells of the nodes of a domain, or of all domains of a
// grid.
const NodesName = "nodes.csv"

// writeNodes writes it, where nodes are named.
func (c *call) writeNodes() error {
	path := filepath.Join(c.dir.Path, NodesName)
	if c.nodes == nil {
		return nil
	}
	c.wrote = append(c.wrote, NodesName)
	return atomicfile.Write(path, func(w io.Writer) error { return metrics.WriteNodes(w, c.nodes) })
}
