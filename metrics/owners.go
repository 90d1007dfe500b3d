package metrics

// owners-POLICY.csv: what the organisation gives to owners, and what it costs them.

import (
	"io"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Owners is an Observer that sums up a run by the owners of its nodes
// (flow.OwnerOf).
type Owners struct {
	// sums are in the order of the owners' first nodes.
	sums []ownerSums
	// of has the owner of each node; never iterated.
	of  map[*entity.Node]*ownerSums
	all []*entity.Node
}

// ownerSums holds the sums of an owner.
type ownerSums struct {
	rows.Owner
	// used is by jobs of the organisation, including attempts that were stopped.
	used   des.Time
	income flow.Money
}

// NewOwners returns the observer of the jobs on these nodes.
func NewOwners(nodes []*entity.Node) *Owners {
	o := &Owners{of: map[*entity.Node]*ownerSums{}, all: nodes}
	index := map[string]int{} // never iterated
	for _, n := range nodes {
		name := flow.OwnerOf(n)
		if _, known := index[name]; !known {
			index[name] = len(o.sums)
			o.sums = append(o.sums, ownerSums{Owner: rows.Owner{Name: name}})
		}
	}
	for _, n := range nodes {
		row := &o.sums[index[flow.OwnerOf(n)]]
		row.Nodes++
		o.of[n] = row
	}
	return o
}

// Observe takes one event in.
func (o *Owners) Observe(e entity.JobEvent) {
	a, _, how, ok := entity.Over(e)
	if !ok || how == entity.EndResized {
		return
	}
	for i, t := range a.Window.Tasks {
		o.of[t.Node].used += min(a.Ends[i], a.End) - a.Start
	}
}

// Rows returns a row for each owner, with the incomes that a ledger has and the queues of owners
// that have one.
func (o *Owners) Rows(l *flow.Ledger, queues []*flow.LocalQueue) []rows.Owner {
	sums := slices.Clone(o.sums)
	index := map[string]int{} // never iterated
	for i, r := range sums {
		index[r.Name] = i
	}
	for _, n := range o.all {
		sums[index[flow.OwnerOf(n)]].income += l.Balance(flow.Account{Kind: flow.OwnerAccount, ID: int64(n.ID)})
	}
	for _, q := range queues {
		s, r := q.Stats(), &sums[index[q.Owner]]
		r.LocalStarted, r.LocalRejected, r.LocalWaiting = s.Jobs, s.Refused, q.Waiting()
		r.Displaced, r.Preempted = s.Displaced, s.Preempted
		if s.Jobs > 0 {
			r.LocalMeanWait = s.Delay.Seconds() / float64(s.Jobs)
		}
	}
	all := make([]rows.Owner, len(sums))
	for i, r := range sums {
		r.UsedTime, r.Income = r.used.Seconds(), r.income.Units()
		all[i] = r.Owner
	}
	return all
}

// WriteOwners writes owners-POLICY.csv.
func WriteOwners(w io.Writer, all []rows.Owner) error {
	file := rows.Owners.Only()
	if len(all) > 0 && all[0].Site != "" {
		file = rows.Owners
	}
	return rows.WriteAll(w, file, all)
}
