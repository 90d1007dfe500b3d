package scenario

// What the domains of a grid write down, so that a run can be checked from its
// files: who had which node when and for how much, owners' jobs, and accounts.

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/market"
	"github.com/gridslot/gridslot/experiments/run"
)

// The first lines of the files.
const (
	tasksHeader    = "site,job_id,user_id,node,start,reserved_end,end,cost,paid\n"
	ownersHeader   = "site,node,wanted,start,end,owner,job_id\n"
	accountsHeader = "site,account,balance\n"
)

// books are those of a run: tasks-, local- and accounts-STRATEGY.csv. Where no
// files are wanted only the ledgers are kept.
type books struct {
	tasks, owners, accounts io.Writer // nil where no files are wanted
	all                     []*book
}

func newBooks(x *run.Session, wanted bool) (*books, error) {
	b := &books{}
	if !wanted {
		return b, nil
	}
	for _, f := range []struct {
		name, header string
		to           *io.Writer
	}{{"tasks-", tasksHeader, &b.tasks}, {"local-", ownersHeader, &b.owners}, {"accounts-", accountsHeader, &b.accounts}} {
		w, err := x.Create(f.name, ".csv")
		if err != nil {
			return nil, err
		}
		if w != nil {
			fmt.Fprint(w, f.header) // Commit has what went wrong
			*f.to = w
		}
	}
	return b, nil
}

// of is the book of one more domain.
func (b *books) of(l leaf) *book {
	k := &book{books: b, site: l.name, ledger: &market.Ledger{ByUse: l.domain.PayByUse}}
	k.ledger.Tell = k.paid
	b.all = append(b.all, k)
	return k
}

// close writes the accounts. It is an error where they do not add up.
func (b *books) close() error {
	for _, k := range b.all {
		if err := k.ledger.Check(); err != nil {
			return fmt.Errorf("%s: %w", k.site, err)
		}
		if b.accounts == nil {
			continue
		}
		for _, a := range k.ledger.Accounts() {
			fmt.Fprintf(b.accounts, "%s,%v,%v\n", k.site, a, k.ledger.Balance(a))
		}
	}
	return nil
}

// book is one domain's: an observer that keeps its ledger.
type book struct {
	*books
	site   string
	ledger *market.Ledger
	latest map[int64]market.Money // what the owner of each node is paid for the job at hand
}

func (b *book) paid(t market.Transfer) {
	if t.To.Kind == market.OwnerAccount && b.latest != nil {
		b.latest[t.To.ID] += t.Amount
	}
}

// Observe takes one event in.
func (b *book) Observe(e entity.JobEvent) {
	j := e.Run
	over := e.Kind == entity.JobFinished || e.Kind == entity.JobKilled
	if b.tasks == nil || !over && e.Kind != entity.JobRequeued {
		b.ledger.Observe(e)
		return
	}
	agreed := b.ledger.Agreed(j)
	b.latest = map[int64]market.Money{}
	b.ledger.Observe(e)
	var a entity.Attempt
	if over {
		a = j.Latest()
	} else {
		a = j.Earlier()[len(j.Earlier())-1]
	}
	for i, t := range a.Window.Tasks {
		fmt.Fprintf(b.tasks, "%s,%d,%d,%d,%v,%v,%v,%v,%v\n", b.site, j.ID, j.User, t.Node.ID,
			a.Start, t.End, min(a.Ends[i], a.End), agreed[i], b.latest[int64(t.Node.ID)])
	}
}

// owner takes in an owner's job that got its node.
func (b *book) owner(l flow.LocalJob, start des.Time) {
	if b.owners != nil {
		fmt.Fprintf(b.owners, "%s,%d,%v,%v,%v,,\n", b.site, l.Node.ID, l.Start, start, start.Add(l.Length))
	}
}

// ownBook is an observer that takes in the jobs of an owner's queue when they end.
type ownBook struct {
	*book
	owner string
}

func (b *ownBook) Observe(e entity.JobEvent) {
	if b.owners == nil || e.Kind != entity.JobFinished && e.Kind != entity.JobKilled {
		return
	}
	a := e.Run.Latest()
	w := csv.NewWriter(b.owners) // a name of an owner may need quotes
	for i, t := range a.Window.Tasks {
		end := min(a.Ends[i], a.End)
		_ = w.Write([]string{b.site, strconv.Itoa(t.Node.ID), e.Run.Submit.String(), a.Start.String(), end.String(), b.owner, strconv.FormatInt(e.Run.ID, 10)})
	}
	w.Flush()
}
