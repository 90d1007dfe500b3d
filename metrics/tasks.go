package metrics

// tasks-POLICY.csv: who had which node, from when to when, and for how much.

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics/rows"
)

// TaskWriter writes tasks-POLICY.csv: a row for every span of time in which somebody had a named
// node. The rows of a job come when an attempt of it ends; the row of an owner's job at a fixed
// time when it gets its node; the row of an outage when the node comes back ahead of time, or else
// at the end of the file.
type TaskWriter struct {
	// Bookings makes the rows of users' advance reservations say so. At a site of a grid brokers
	// reserve for jobs, and these are no bookings of users.
	Bookings bool

	text  *rows.Writer[rows.Task]
	line  rows.Task // the row at hand
	sites []*SiteTasks
}

// NewTaskWriter begins the file.
func NewTaskWriter(w io.Writer) *TaskWriter {
	return &TaskWriter{text: rows.NewWriter(w, rows.Tasks)}
}

// Of returns the writer of one site, or of a domain by itself: an Observer of the jobs on its
// nodes. siteOf returns what a row calls the site of a node. The writer learns from bills what
// tasks cost; bills must be among the observers as well.
func (w *TaskWriter) Of(bills *Bills, siteOf func(*entity.Node) string) *SiteTasks {
	s := &SiteTasks{to: w, siteOf: siteOf}
	bills.told = s.attempt
	w.sites = append(w.sites, s)
	return s
}

// Close writes the rows that are left, and returns the first error. The underlying writer stays
// open.
func (w *TaskWriter) Close() error {
	for _, s := range w.sites {
		for _, h := range s.held {
			s.outage(h, des.Forever)
		}
		s.held = nil
	}
	return w.text.Flush()
}

// SiteTasks writes the tasks of one site.
type SiteTasks struct {
	to     *TaskWriter
	siteOf func(*entity.Node) string
	meta   *entity.Metascheduler
	// held are the holds that have not come back.
	held []*entity.Hold
}

// taskRow is one row.
type taskRow struct {
	kind string // a word of the column kind
	node *entity.Node
	run  *entity.Run // or nil
	// start, reserved and end bound the span, reserved as it was planned; des.Forever is an end
	// that is not known.
	start, reserved, end des.Time
	cost, paid           flow.Money
	// attempt counts from 1; it is 0 for what is no attempt of a job.
	attempt int
}

// Attach tells the writer whose jobs they are.
func (s *SiteTasks) Attach(m *entity.Metascheduler) { s.meta = m }

// Observe implements entity.Observer and does nothing: bills tell of what jobs had.
func (s *SiteTasks) Observe(entity.JobEvent) {}

// attempt takes in an attempt that is over.
func (s *SiteTasks) attempt(r *entity.Run, number int, a *entity.Attempt, cost, paid []flow.Money) {
	kind := rows.TaskJob
	if r.Booked && s.to.Bookings {
		kind = rows.TaskBooking
	}
	for i, t := range a.Window.Tasks {
		s.row(taskRow{kind, t.Node, r, a.Start, t.End, min(a.Ends[i], a.End), cost[i], paid[i], number})
	}
}

// Owner takes in an owner's job that has got its node; see flow.LocalFlow.Told.
func (s *SiteTasks) Owner(l flow.LocalJob, start des.Time) {
	end := start.Add(l.Length)
	s.row(taskRow{kind: rows.TaskOwner, node: l.Node, start: start, reserved: end, end: end})
}

// Owners is an observer of the jobs of an owner's queue; see
// flow.LocalQueue.Observers.
func (s *SiteTasks) Owners() entity.Observer { return (*ownersTasks)(s) }

type ownersTasks SiteTasks

// Observe takes one event in.
func (o *ownersTasks) Observe(e entity.JobEvent) {
	a, number, how, ok := entity.Over(e)
	if !ok || how == entity.EndResized {
		return
	}
	for i, t := range a.Window.Tasks {
		(*SiteTasks)(o).row(taskRow{kind: rows.TaskOwner, node: t.Node, run: e.Run, start: a.Start, reserved: t.End, end: min(a.Ends[i], a.End), attempt: number})
	}
}

// Withheld takes in capacity that leaves the plan.
func (s *SiteTasks) Withheld(h *entity.Hold) { s.held = append(s.held, h) }

// Returned takes in what comes back of it before its end.
func (s *SiteTasks) Returned(h *entity.Hold) {
	s.held = slices.DeleteFunc(s.held, func(o *entity.Hold) bool { return o == h })
	s.outage(h, s.meta.Simulator().Now())
}

// outage writes the rows of a hold, which came back at the given instant, or at its end. A node
// that was never away has no row.
func (s *SiteTasks) outage(h *entity.Hold, back des.Time) {
	w := h.Window()
	for _, t := range w.Tasks {
		if end := min(t.End, back); end > w.Start {
			s.row(taskRow{kind: rows.TaskOutage, node: t.Node, start: w.Start, reserved: t.End, end: end})
		}
	}
}

// row writes one row. Only jobs of the organisation have users, and pay.
func (s *SiteTasks) row(r taskRow) {
	t := &s.to.line
	*t = rows.Tasks.Missing
	t.Site, t.Node, t.Owner, t.Kind, t.Attempt = s.siteOf(r.node), int64(r.node.ID), r.node.Labels[flow.OwnerLabel], r.kind, r.attempt
	t.Start, t.ReservedEnd, t.End = r.start, coming(r.reserved), coming(r.end)
	if r.run != nil {
		t.Job = r.run.ID
	}
	if r.kind == rows.TaskJob || r.kind == rows.TaskBooking {
		t.User, t.Cost, t.Paid = int64(r.run.User), r.cost.Units(), r.paid.Units()
	}
	s.to.text.Write(t)
}

// SiteNodes are the nodes of a site, or of a domain by itself.
type SiteNodes struct {
	// Site returns the name of a node's site.
	Site  func(*entity.Node) string
	Nodes []entity.Node
}

// appendKind appends a text that is the same for nodes that differ only in their names.
func appendKind(b []byte, n *entity.Node) []byte {
	for _, x := range []float64{n.Perf, n.Price, n.Q} {
		b = append(strconv.AppendFloat(b, x, 'g', -1, 64), ' ')
	}
	for _, name := range slices.Sorted(maps.Keys(n.Amounts)) {
		b = append(strconv.AppendFloat(strconv.AppendQuote(b, name), n.Amounts[name], 'g', -1, 64), ' ')
	}
	for _, name := range slices.Sorted(maps.Keys(n.Labels)) {
		if name != "name" {
			b = strconv.AppendQuote(strconv.AppendQuote(b, name), n.Labels[name])
		}
	}
	return b
}

// classesOf returns the class of each node, from 1 on in order of first use: nodes of one class
// have the same text by appendKind.
func classesOf(nodes []entity.Node, appendKind func([]byte, *entity.Node) []byte) []int {
	var key []byte
	known := map[string]int{}
	all := make([]int, len(nodes))
	for i := range nodes {
		key = appendKind(key[:0], &nodes[i])
		class := known[string(key)]
		if class == 0 {
			class = len(known) + 1
			known[string(key)] = class
		}
		all[i] = class
	}
	return all
}

// WriteNodes writes nodes.csv: a row for each node, in the order of the sites and of the nodes
// there. class is a number from 1, the same for nodes of a site that are equal in performance,
// price, q and attributes, apart from their names, which come from the label "name".
func WriteNodes(w io.Writer, sites []SiteNodes) error {
	var all []rows.Node
	for _, s := range sites {
		classes := classesOf(s.Nodes, appendKind)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			all = append(all, rows.Node{
				ID: int64(n.ID), Name: n.Labels["name"], Performance: n.Perf, Price: n.Price,
				Class: strconv.Itoa(classes[i]), Site: s.Site(n), Owner: n.Labels[flow.OwnerLabel],
			})
		}
	}
	return rows.WriteAll(w, rows.Nodes, all)
}
