package metrics

// owners-POLICY.csv: what the organisation gives to owners, and what it costs them.

import (
	"fmt"
	"io"
	"slices"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/csvtext"
)

// OwnerRow is one owner. Times are in time units.
type OwnerRow struct {
	Site   string     `csv:"-"` // of a grid; the first column then
	Owner  string     `csv:"owner"`
	Nodes  int        `csv:"nodes"`
	Income flow.Money `csv:"income"`
	// UsedTime is how long jobs of the organisation had the nodes, added up, that
	// of attempts that were stopped included.
	UsedTime float64 `csv:"used_time"`
	// The owner's own jobs that came through a queue: those that started, those
	// that could not run there, those still in the queue at the end, and how long
	// the ones that started had waited.
	LocalStarted  int     `csv:"local_started"`
	LocalRejected int     `csv:"local_rejected"`
	LocalWaiting  int     `csv:"local_waiting"`
	LocalMeanWait float64 `csv:"local_mean_wait"`
	// Jobs of the organisation that lost a reservation ahead to the owner's, and
	// those that were stopped.
	Displaced int `csv:"displaced"`
	Preempted int `csv:"preempted"`

	used des.Time
}

// Owners is an Observer that sums up a run by the owners of its nodes
// (flow.OwnerOf).
type Owners struct {
	rows []OwnerRow                 // in the order of their first nodes
	of   map[*entity.Node]*OwnerRow // never iterated
	all  []*entity.Node
}

// NewOwners returns the observer of the jobs on these nodes.
func NewOwners(nodes []*entity.Node) *Owners {
	o := &Owners{of: map[*entity.Node]*OwnerRow{}, all: nodes}
	index := map[string]int{} // never iterated
	for _, n := range nodes {
		name := flow.OwnerOf(n)
		if _, known := index[name]; !known {
			index[name] = len(o.rows)
			o.rows = append(o.rows, OwnerRow{Owner: name})
		}
	}
	for _, n := range nodes {
		row := &o.rows[index[flow.OwnerOf(n)]]
		row.Nodes++
		o.of[n] = row
	}
	return o
}

// Observe takes one event in.
func (o *Owners) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobFinished, entity.JobKilled:
		o.used(e.Run.Latest())
	case entity.JobRequeued:
		o.used(e.Run.Earlier()[len(e.Run.Earlier())-1])
	}
}

func (o *Owners) used(a entity.Attempt) {
	for i, t := range a.Window.Tasks {
		o.of[t.Node].used += min(a.Ends[i], a.End) - a.Start
	}
}

// Rows are the owners with what a ledger has of their incomes and with their
// queues, if they have any.
func (o *Owners) Rows(l *flow.Ledger, queues []*flow.LocalQueue) []OwnerRow {
	rows := make([]OwnerRow, len(o.rows))
	index := map[string]int{} // never iterated
	for i, r := range o.rows {
		r.UsedTime = r.used.Seconds()
		rows[i], index[r.Owner] = r, i
	}
	for _, n := range o.all {
		rows[index[flow.OwnerOf(n)]].Income += l.Balance(flow.Account{Kind: flow.OwnerAccount, ID: int64(n.ID)})
	}
	for _, q := range queues {
		s, r := q.Stats(), &rows[index[q.Owner]]
		r.LocalStarted, r.LocalRejected, r.LocalWaiting = s.Jobs, s.Refused, q.Waiting()
		r.Displaced, r.Preempted = s.Displaced, s.Preempted
		if s.Jobs > 0 {
			r.LocalMeanWait = s.Delay.Seconds() / float64(s.Jobs)
		}
	}
	return rows
}

// WriteOwners writes rows as owners-POLICY.csv.
func WriteOwners(w io.Writer, rows []OwnerRow) error {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Owner = csvtext.Of(rows[i].Owner)
	}
	var all any = rows
	if len(rows) > 0 && rows[0].Site != "" {
		type siteRow struct {
			Name string `csv:"site"`
			OwnerRow
		}
		var sites []siteRow
		for _, r := range rows {
			sites = append(sites, siteRow{r.Site, r})
		}
		all = sites
	}
	if err := gocsv.Marshal(all, w); err != nil {
		return fmt.Errorf("writing owners as CSV: %w", err)
	}
	return nil
}
