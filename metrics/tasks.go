package metrics

// tasks-POLICY.csv: who had which node, from when to when, and for how much.

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/decimal"
	"github.com/gridslot/gridslot/internal/enum"
)

// TasksHeader is the first line of tasks-POLICY.csv.
const TasksHeader = "site,job_id,user_id,node,start,reserved_end,end,cost,paid,kind,owner,attempt"

// taskKind is who has the node.
type taskKind uint8

const (
	taskJob     taskKind = iota // a job of the workload
	taskBooking                 // an advance reservation
	taskOwner                   // a job of the node's owner
	taskOutage                  // nobody: it is out of service
)

var taskKinds = enum.Of[taskKind]("kind of a task", "job", "booking", "owner", "outage")

// TaskWriter writes tasks-POLICY.csv: a row for every span of time in which somebody
// had a named node. The rows of a job come when an attempt of it ends, that of an
// owner's job at a fixed time when it gets its node, that of an outage when the node
// comes back ahead of time, or else at the end of the file.
type TaskWriter struct {
	// Bookings has the rows of users' advance reservations say so. At a site of a grid
	// it is brokers who reserve, for jobs.
	Bookings bool

	out   io.Writer
	buf   []byte
	err   error
	sites []*SiteTasks
}

// NewTaskWriter begins the file.
func NewTaskWriter(w io.Writer) *TaskWriter {
	return &TaskWriter{out: w, buf: append(make([]byte, 0, flushAt+4096), TasksHeader+"\n"...)}
}

// Of is the writer of one site, or of a domain by itself: an Observer of the jobs
// on its nodes. siteOf says what a row calls the site of a node. What tasks cost it
// learns from bills, which must be among the observers as well.
func (w *TaskWriter) Of(bills *Bills, siteOf func(*entity.Node) string) *SiteTasks {
	s := &SiteTasks{to: w, siteOf: siteOf}
	bills.Told = s.attempt
	w.sites = append(w.sites, s)
	return s
}

// Close writes what is left and returns the first error met. The underlying writer
// stays open.
func (w *TaskWriter) Close() error {
	for _, s := range w.sites {
		for _, h := range s.held {
			s.outage(h, des.Forever)
		}
		s.held = nil
	}
	w.flush()
	return w.err
}

func (w *TaskWriter) flush() {
	if w.err == nil {
		if _, err := w.out.Write(w.buf); err != nil {
			w.err = fmt.Errorf("tasks CSV: %w", err)
		}
	}
	w.buf = w.buf[:0]
}

// SiteTasks writes the tasks of one site.
type SiteTasks struct {
	to     *TaskWriter
	siteOf func(*entity.Node) string
	meta   *entity.Metascheduler
	held   []*entity.Hold // of capacity that is out of service
}

// taskRow is one row.
type taskRow struct {
	kind                 taskKind
	node                 *entity.Node
	run                  *entity.Run // or nil
	start, reserved, end des.Time    // Forever: not known
	cost, paid           flow.Money
	attempt              int // from 1; 0 of what is not tried
}

// Attach tells the writer whose jobs they are.
func (s *SiteTasks) Attach(m *entity.Metascheduler) { s.meta = m }

// Observe does nothing: bills tell of what jobs had.
func (s *SiteTasks) Observe(entity.JobEvent) {}

// attempt takes in an attempt that is over.
func (s *SiteTasks) attempt(r *entity.Run, number int, a *entity.Attempt, cost, paid []flow.Money) {
	kind := taskJob
	if r.Booked && s.to.Bookings {
		kind = taskBooking
	}
	for i, t := range a.Window.Tasks {
		s.row(taskRow{kind, t.Node, r, a.Start, t.End, min(a.Ends[i], a.End), cost[i], paid[i], number})
	}
}

// Owner takes in an owner's job that has got its node; see flow.LocalFlow.Told.
func (s *SiteTasks) Owner(l flow.LocalJob, start des.Time) {
	end := start.Add(l.Length)
	s.row(taskRow{kind: taskOwner, node: l.Node, start: start, reserved: end, end: end})
}

// Owners is an observer of the jobs of an owner's queue; see
// flow.LocalQueue.Observers.
func (s *SiteTasks) Owners() entity.Observer { return (*ownersTasks)(s) }

type ownersTasks SiteTasks

// Observe takes one event in.
func (o *ownersTasks) Observe(e entity.JobEvent) {
	r := e.Run
	var a entity.Attempt
	number := len(r.Earlier())
	switch e.Kind {
	case entity.JobRequeued:
		a = *latestOf(r.Earlier())
	case entity.JobFinished, entity.JobKilled:
		a = r.Latest()
		number++
	default:
		return
	}
	for i, t := range a.Window.Tasks {
		(*SiteTasks)(o).row(taskRow{kind: taskOwner, node: t.Node, run: r, start: a.Start, reserved: t.End, end: min(a.Ends[i], a.End), attempt: number})
	}
}

// Withheld takes in capacity that leaves the plan.
func (s *SiteTasks) Withheld(h *entity.Hold) { s.held = append(s.held, h) }

// Returned takes in what comes back of it before its end.
func (s *SiteTasks) Returned(h *entity.Hold) {
	s.held = slices.DeleteFunc(s.held, func(o *entity.Hold) bool { return o == h })
	s.outage(h, s.meta.Simulator().Now())
}

// outage writes what was withheld and was back at the instant back, or at its end.
func (s *SiteTasks) outage(h *entity.Hold, back des.Time) {
	w := h.Window()
	for _, t := range w.Tasks {
		if end := min(t.End, back); end > w.Start {
			s.row(taskRow{kind: taskOutage, node: t.Node, start: w.Start, reserved: t.End, end: end})
		}
	}
}

func (s *SiteTasks) row(r taskRow) {
	ofJob := r.kind == taskJob || r.kind == taskBooking
	b := append(append(s.to.buf, escapeCSV(s.siteOf(r.node))...), ',')
	if r.run != nil {
		b = decimal.AppendInt(b, r.run.ID)
	}
	b = append(b, ',')
	if ofJob {
		b = appendNumber(b, r.run.User)
	}
	b = append(decimal.AppendInt(append(b, ','), int64(r.node.ID)), ',')
	b = append(appendTime(b, r.start), ',')
	b = append(appendKnownTime(b, r.reserved), ',')
	b = append(appendKnownTime(b, r.end), ',')
	if ofJob {
		b = append(append(append(b, r.cost.String()...), ','), r.paid.String()...)
	} else {
		b = append(b, ',')
	}
	b = append(append(append(b, ','), r.kind.String()...), ',')
	b = append(append(b, escapeCSV(r.node.Labels[flow.OwnerLabel])...), ',')
	if r.attempt > 0 {
		b = decimal.AppendInt(b, int64(r.attempt))
	}
	s.to.buf = append(b, '\n')
	if len(s.to.buf) >= flushAt {
		s.to.flush()
	}
}

// String is what the file calls k.
func (k taskKind) String() string { return taskKinds.Name(k) }

// appendNumber appends the number of a user, a group or a queue: nothing where it is
// not known.
func appendNumber(b []byte, n int32) []byte {
	if n < 0 {
		return b
	}
	return decimal.AppendInt(b, int64(n))
}

// appendKnownTime appends t, and nothing where it never comes.
func appendKnownTime(b []byte, t des.Time) []byte {
	if t == des.Forever {
		return b
	}
	return appendTime(b, t)
}

// NodesHeader is the first line of nodes.csv.
const NodesHeader = "id,name,performance,price,class,site,owner"

// SiteNodes are the nodes of a site, or of a domain by itself.
type SiteNodes struct {
	// Site is what a node's site is called.
	Site  func(*entity.Node) string
	Nodes []entity.Node
}

// appendKind appends a text that is the same for nodes that are equal but for their names.
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

// classesOf are the classes of nodes, from 1: those of which appendKind appends the same.
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

// WriteNodes writes nodes.csv: a row a node, in the order of their sites and theirs
// there. class is a number from 1, the same for nodes of a site that are equal in
// performance, price, q and attributes, but for their names, which come from the label
// "name".
func WriteNodes(w io.Writer, sites []SiteNodes) error {
	b := []byte(NodesHeader + "\n")
	for _, s := range sites {
		classes := classesOf(s.Nodes, appendKind)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			b = append(decimal.AppendInt(b, int64(n.ID)), ',')
			b = append(append(b, escapeCSV(n.Labels["name"])...), ',')
			b = append(strconv.AppendFloat(b, n.Perf, 'f', -1, 64), ',')
			b = append(strconv.AppendFloat(b, n.Price, 'f', -1, 64), ',')
			b = append(decimal.AppendInt(b, int64(classes[i])), ',')
			b = append(append(b, escapeCSV(s.Site(n))...), ',')
			b = append(append(b, escapeCSV(n.Labels[flow.OwnerLabel])...), '\n')
		}
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("writing nodes as CSV: %w", err)
	}
	return nil
}
