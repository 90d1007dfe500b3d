package simulation

// What named nodes have to tell, so that a run can be checked from its files: who had
// which node when and for how much, owners' jobs, and accounts.

import (
	"errors"
	"fmt"
	"io"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// books are the bills of all named nodes of a run, as a flow that begins their files when it is
// attached, and closes the accounts when it ends:
//
//	tasks-POLICY.csv     who had which named node, from when to when, and for how much
//	local-POLICY.csv     owners' jobs, on a grid with named nodes
//	accounts-POLICY.csv  balances, on a grid alone
//
// Money is counted in whole millionths of a cost unit, so that sums are exact; see flow.Money.
type books struct {
	hooks
	grid     bool
	named    bool // some nodes have names; of a grid, some sites are domains
	policy   string
	tasks    *metrics.TaskWriter // nil where no files are wanted, as are these:
	owners   *rows.Writer[rows.OwnTask]
	accounts *rows.Writer[rows.Balance]
	all      []*book
}

// attach begins the files.
func (b *books) attach(x *session, _ *machineSite) (none []entity.Observer, err error) {
	b.policy = x.settings.Name
	if b.named {
		w, err := x.create("tasks", "")
		if err != nil || w == nil {
			return nil, err
		}
		b.tasks = metrics.NewTaskWriter(w)
		b.tasks.Bookings = !b.grid
	}
	if b.named && b.grid {
		w, err := x.create("local", "")
		if err != nil {
			return nil, err
		}
		b.owners = rows.NewWriter(w, rows.OwnTasks)
	}
	if b.grid {
		w, err := x.create("accounts", "")
		if err != nil || w == nil {
			return nil, err
		}
		b.accounts = rows.NewWriter(w, rows.Accounts)
	}
	return nil, nil
}

// add begins the book of one more site with prices; a domain by itself has the name "". It is
// called before attach, while the sites are put together.
func (b *books) add(x *session, site string, l *flow.Ledger) *book {
	k := &book{books: b, site: site, bills: metrics.NewBills(l, x.settings.Dir != "")}
	b.all = append(b.all, k)
	return k
}

// siteOf returns the function that says what files call the site of a node: site itself or, if that
// is "", the node's domain in a union.
func siteOf(site string) func(*entity.Node) string {
	return func(n *entity.Node) string {
		if site == "" {
			return n.Labels[domainLabel]
		}
		return site
	}
}

// job returns the bill of a job, at all sites together.
func (b *books) job(r *entity.Run) (all metrics.Bill) {
	for _, k := range b.all {
		bill := k.bills.Job(r.ID)
		all.Cost += bill.Cost
		all.Paid += bill.Paid
		all.Left += bill.Left
	}
	return all
}

// total returns the bill of all jobs.
func (b *books) total() (all metrics.Bill) {
	for _, k := range b.all {
		bill := k.bills.Total()
		all.Cost += bill.Cost
		all.Paid += bill.Paid
		all.Left += bill.Left
	}
	return all
}

// end closes the accounts and writes them. It fails if an account does not add up: then money was
// made or lost.
func (b *books) end() error {
	for _, k := range b.all {
		l := k.bills.Ledger
		if err := l.Check(); err != nil && k.site == "" {
			return fmt.Errorf("policy %s: %w", b.policy, err)
		} else if err != nil {
			return fmt.Errorf("strategy %s: %s: %w", b.policy, k.site, err)
		}
		if b.accounts == nil {
			continue
		}
		for _, a := range l.Accounts() {
			b.accounts.Write(&rows.Balance{Site: k.site, Account: a.String(), Balance: l.Balance(a).Units()})
		}
	}
	var failed []error
	if b.tasks != nil {
		failed = append(failed, b.tasks.Close())
	}
	if b.owners != nil {
		failed = append(failed, b.owners.Flush())
	}
	if b.accounts != nil {
		failed = append(failed, b.accounts.Flush())
	}
	return errors.Join(failed...)
}

// book is the book of one site: a flow that listens to what jobs cost.
type book struct {
	hooks
	books *books
	site  string
	bills *metrics.Bills
	tasks *metrics.SiteTasks // nil where no files are wanted
}

// attach lets the bills hear of the jobs of the site, before whoever asks the bills.
func (b *book) attach(*session, *machineSite) ([]entity.Observer, error) {
	return []entity.Observer{b.bills}, nil
}

// brokeredBills are the bills of a cluster of a grid. They hear of the jobs that brokers have
// brought: the cluster's own jobs pay nothing.
type brokeredBills struct {
	*metrics.Bills
	agent *grid.ResourceAgent
}

// Observe passes on what begins a contract of a broker's job or follows it. The agent forgets a job
// at its end, but the ledger still knows what was agreed.
func (b *brokeredBills) Observe(e entity.JobEvent) {
	if b.agent.Serves(e.Run.Job) || b.Ledger.Agreed(e.Run) != nil {
		b.Bills.Observe(e)
	}
}

// writing is the flow that writes the tasks of the site. It comes after books, which begins the
// file.
func (b *book) writing() siteFlow {
	return hooks{attaching: func(*machineSite) ([]entity.Observer, error) {
		if b.books.tasks == nil {
			return nil, nil
		}
		b.tasks = b.books.tasks.Of(b.bills, siteOf(b.site))
		return []entity.Observer{b.tasks}, nil
	}}
}

// owner takes in an owner's job that got its node.
func (b *book) owner(l flow.LocalJob, start des.Time) {
	if b.tasks != nil {
		b.tasks.Owner(l, start)
	}
	if w := b.books.owners; w != nil {
		w.Write(&rows.OwnTask{Site: b.site, Node: int64(l.Node.ID), Wanted: l.Start, Start: start, End: start.Add(l.Length)})
	}
}

// queue returns observers of the jobs of an owner's queue.
func (b *book) queue(owner string) (all []entity.Observer) {
	if b.tasks != nil {
		all = append(all, b.tasks.Owners())
	}
	if b.books.owners != nil {
		all = append(all, &queueBook{b, owner})
	}
	return all
}

// queueBook is an observer that takes in the jobs of an owner's queue when they end.
type queueBook struct {
	*book
	owner string
}

// Observe writes the tasks of an attempt that has ended for good. One that was sent back or resized
// has no row: another attempt follows.
func (b *queueBook) Observe(e entity.JobEvent) {
	a, _, how, ok := entity.Over(e)
	if !ok || how == entity.EndRequeued || how == entity.EndResized {
		return
	}
	for i, t := range a.Window.Tasks {
		b.books.owners.Write(&rows.OwnTask{
			Site: b.site, Node: int64(t.Node.ID), Wanted: e.Run.Submit, Start: a.Start, End: min(a.Ends[i], a.End), Owner: b.owner, Job: int(e.Run.ID),
		})
	}
}

// writeNodes writes nodes.csv, which tells of the nodes of a domain or of all domains of a grid.
func (c *call) writeNodes() error {
	if c.nodes == nil {
		return nil
	}
	return c.writeForAll("nodes.csv", func(w io.Writer) error { return metrics.WriteNodes(w, c.nodes) })
}
