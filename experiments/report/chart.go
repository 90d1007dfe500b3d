package report

// What the Gantt chart of a run shows: pieces, rectangles of rows and time.
//
//	rows   lane "north"   0 |aaaa  bb      a job on three processors is a piece of three
//	                      1 |aaaa##bb      rows, where they lie beside each other; # is
//	                      2 |aaaa##        an outage
//	       lane "south"   3 |   cccc
//	                        +-----------> time
//
// Files say who had what in two ways: tasks name the nodes of a domain, attempts and jobs name
// ranges of processors. At a site that has tasks these say all.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/results"
)

// kind is what a piece of the chart is; page/gantt.js has the same numbers.
type kind uint8

const (
	jobPiece kind = iota
	earlierPiece
	ownerPiece
	bookingPiece
	outagePiece
)

// piece is some rows beside each other for a span of time.
type piece struct {
	job       int // index in chart.jobs; -1 where it is no job's
	row, rows int
	from, to  des.Time
	kind      kind
	attempt   int
	overhead  des.Time
	cost      float64 // 0 where none is known
	label     string
}

// chart is one run.
type chart struct {
	run    *results.Run
	jobs   []results.Job
	index  map[int64]int // of jobs, by id
	pieces []piece
	levels []results.Level
	placed bool // it is known who had which processors
	from   des.Time
	to     des.Time // last instant at which anything happened
}

// lane is a machine, or a site of a grid: rows beside each other.
type lane struct {
	Name  string `json:"name"`
	First int    `json:"first"`
	Rows  int    `json:"rows"`
	Nodes []node `json:"nodes,omitempty"` // nil for processors, which have numbers
	site  string
	row   map[int64]int // of nodes, by id
}

type node struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
}

// rowOf is the row of a processor or node, -1 for one that is not there.
func (l *lane) rowOf(number int64) int {
	if l.Nodes != nil {
		if row, ok := l.row[number]; ok {
			return l.First + row
		}
		return -1
	}
	if number < 0 || number >= int64(l.Rows) {
		return -1
	}
	return l.First + int(number)
}

// lanes are the rows of the machine: named nodes where nodes.csv has them, and
// processors.
func lanes(f *results.Folder) ([]*lane, error) {
	nodes, err := f.Nodes()
	if err != nil {
		return nil, err
	}
	var all []*lane
	of := func(site string) *lane {
		for _, l := range all {
			if l.site == site {
				return l
			}
		}
		all = append(all, &lane{Name: clean(site), site: site})
		return all[len(all)-1]
	}
	for _, n := range nodes {
		l := of(n.Site)
		if l.row == nil {
			l.row = map[int64]int{}
		}
		l.row[n.ID] = l.Rows
		l.Rows++
		l.Nodes = append(l.Nodes, describe(n))
	}
	if name := fileOf(f.Runs[0], "clusters-"); name != "" {
		clusters, err := f.Table(name)
		if err != nil {
			return nil, err
		}
		for i := range clusters.Rows {
			if l := of(clusters.Text(i, "cluster")); l.Nodes == nil {
				l.Rows = count(clusters.Text(i, "processors"))
			}
		}
	}
	if len(all) == 0 {
		of("").Rows = count(f.Manifest.Settings["procs"])
	}
	first := 0
	for _, l := range all {
		l.First = first
		first += l.Rows
	}
	return all, nil
}

// fileOf is the file of a run whose name begins so, "" where it has none.
func fileOf(r *results.Run, prefix string) string {
	for _, name := range r.Files {
		if strings.HasPrefix(name, prefix) {
			return name
		}
	}
	return ""
}

func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func describe(n results.Node) node {
	name := n.Name
	if name == "" {
		name = "node " + strconv.FormatInt(n.ID, 10)
	}
	var about []string
	for _, p := range []struct {
		what  string
		value float64
	}{{"performance", n.Performance}, {"price", n.Price}} {
		if !math.IsNaN(p.value) {
			about = append(about, p.what+" "+decimal(p.value, 2))
		}
	}
	if n.Owner != "" {
		about = append(about, "of "+n.Owner)
	}
	return node{clean(name), clean(strings.Join(about, ", "))}
}

// newChart reads all of a run.
func newChart(r *results.Run, lanes []*lane, allocation string) (*chart, error) {
	c := &chart{run: r, index: map[int64]int{}, placed: allocation != "count" && allocation != "none"}
	var err error
	if c.jobs, err = r.Jobs(); err != nil {
		return nil, err
	}
	for i := range c.jobs {
		c.index[c.jobs[i].ID] = i
	}
	if c.levels, err = r.Queue(); err != nil {
		return nil, err
	}
	c.bounds()
	if err := c.place(lanes); err != nil {
		return nil, err
	}
	if !c.placed {
		c.pieces = nil
	}
	if c.levels == nil {
		c.levels = c.levelsOfPieces()
	}
	// Neighbours in the file are to be neighbours in time, and rows of one job beside
	// each other.
	slices.SortStableFunc(c.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.from, b.from), cmp.Compare(a.row, b.row))
	})
	c.joinRows()
	return c, nil
}

// bounds finds the span of time of the run.
func (c *chart) bounds() {
	c.from = des.Forever
	for i := range c.jobs {
		j := &c.jobs[i]
		for _, t := range [...]des.Time{j.Submit, j.Start, j.Finish} {
			if t != results.None && t != des.Forever {
				c.from, c.to = min(c.from, t), max(c.to, t)
			}
		}
	}
	if n := len(c.levels); n > 0 {
		c.from, c.to = min(c.from, c.levels[0].Time), max(c.to, c.levels[n-1].Time)
	}
	c.from = min(c.from, c.to)
}

// place finds out who had which rows: from tasks, where nodes have names; otherwise from
// attempts, where there are any, and jobs, by site where there are several.
func (c *chart) place(lanes []*lane) error {
	attempts, err := c.run.Attempts()
	if err != nil {
		return err
	}
	tasks, err := c.run.Tasks()
	if err != nil {
		return err
	}
	outages, err := c.run.Outages()
	if err != nil {
		return err
	}
	byTasks := map[string]bool{} // sites of which tasks tell all
	for i := range tasks {
		byTasks[tasks[i].Site] = true
	}
	c.placeTasks(tasks, attempts, lanes)
	for _, l := range lanes {
		if byTasks[l.site] {
			continue
		}
		run := c.run
		for _, s := range c.run.Sites {
			if s.Site == l.site {
				run = s
			}
		}
		if err := c.placeJobs(run, attempts, l); err != nil {
			return err
		}
		c.placeOutages(outages, l)
	}
	return nil
}

// placeJobs draws the processors of attempts and jobs at one site.
func (c *chart) placeJobs(r *results.Run, attempts []results.Attempt, l *lane) error {
	jobs := c.jobs
	if r != c.run {
		var err error
		if jobs, err = r.Jobs(); err != nil {
			return err
		}
		if attempts, err = r.Attempts(); err != nil {
			return err
		}
	}
	// Where no file of attempts says how the last attempt of a job ended, as without such a file
	// or of a job that was running when the run was stopped, the job itself tells that attempt.
	over := map[int64]bool{} // jobs whose last attempt is over
	for i := range attempts {
		a := &attempts[i]
		p := piece{job: c.indexOf(a.Job), from: a.Start, to: a.Finish, attempt: a.Number, overhead: max(a.Overhead, 0)}
		switch a.End {
		case "requeued":
			p.kind = earlierPiece
		case "resized":
		default:
			over[a.Job] = true
		}
		if err := c.addRanges(p, a.Allocated, a.Processors, l); err != nil {
			return fmt.Errorf("attempts of %s: job %d, attempt %d: %w", r.Policy, a.Job, a.Number, err)
		}
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Start == results.None || j.State == results.Rejected || over[j.ID] {
			continue
		}
		p := piece{job: c.indexOf(j.ID), from: j.Start, to: j.Finish, attempt: j.Restarts + 1, overhead: max(j.Overhead, 0)}
		if p.to == results.None {
			p.to = c.to // it was running when the run was stopped
		}
		if err := c.addRanges(p, j.Allocated, j.Processors, l); err != nil {
			return fmt.Errorf("jobs of %s: job %d: %w", r.Policy, j.ID, err)
		}
	}
	return nil
}

func (c *chart) indexOf(job int64) int {
	if i, ok := c.index[job]; ok {
		return i
	}
	return -1
}

// addRanges adds a piece for each range of processors. A text that does not name as
// many as the job has is a count of them, or nothing.
func (c *chart) addRanges(p piece, allocated string, processors int, l *lane) error {
	if !c.placed || p.from == results.None || p.to == results.None {
		return nil
	}
	ranges, err := procset.Parse(allocated)
	if err != nil {
		return err
	}
	if len(ranges) == 0 && p.to > p.from || len(ranges) == 1 && procset.Count(ranges) == 1 && processors > 1 {
		c.placed = false
		return nil
	}
	for _, r := range ranges {
		if l.Nodes == nil {
			l.Rows = max(l.Rows, int(r.Last)+1)
			p.row, p.rows = l.First+int(r.First), int(r.Last-r.First)+1
			c.pieces = append(c.pieces, p)
			continue
		}
		for n := r.First; n <= r.Last; n++ {
			c.addRow(p, l.rowOf(int64(n)))
		}
	}
	return nil
}

// addRow adds a piece of one row.
func (c *chart) addRow(p piece, row int) {
	if row >= 0 && p.to >= p.from {
		p.row, p.rows = row, 1
		c.pieces = append(c.pieces, p)
	}
}

// placeTasks draws pieces of nodes' time.
func (c *chart) placeTasks(tasks []results.Task, attempts []results.Attempt, lanes []*lane) {
	type try struct {
		job    int64
		number int
	}
	ended := map[try]*results.Attempt{}
	for i := range attempts {
		ended[try{attempts[i].Job, attempts[i].Number}] = &attempts[i]
	}
	for i := range tasks {
		t := &tasks[i]
		at := slices.IndexFunc(lanes, func(l *lane) bool { return l.site == t.Site })
		if at < 0 {
			continue
		}
		p := piece{job: -1, from: t.Start, to: min(t.End, c.to), attempt: t.Attempt, label: t.Owner}
		if !math.IsNaN(t.Cost) {
			p.cost = t.Cost
		}
		if t.End == results.None {
			p.to = c.to
		}
		switch t.Kind {
		case "owner":
			p.kind = ownerPiece
			if t.Job >= 0 && p.label != "" {
				p.label += ", job " + strconv.FormatInt(t.Job, 10)
			}
		case "outage":
			p.kind = outagePiece
		default:
			p.job = c.indexOf(t.Job)
			if a := ended[try{t.Job, t.Attempt}]; a != nil {
				p.overhead = max(a.Overhead, 0)
				if a.End == "requeued" {
					p.kind = earlierPiece
				}
			}
			if t.Kind == "booking" {
				p.kind = bookingPiece
				if p.job >= 0 {
					p.label = "job " + strconv.FormatInt(t.Job, 10)
				}
			}
		}
		c.addRow(p, lanes[at].rowOf(t.Node))
	}
}

// placeOutages draws what was out of service. Of outages that do not say which
// processors it were nothing can be drawn.
func (c *chart) placeOutages(outages []results.Outage, l *lane) {
	for i := range outages {
		o := &outages[i]
		ranges, err := procset.Parse(o.Node)
		if o.Site != l.site || err != nil {
			continue
		}
		p := piece{job: -1, from: o.From, to: min(o.To, c.to), kind: outagePiece}
		for _, r := range ranges {
			for n := r.First; n <= r.Last; n++ {
				c.addRow(p, l.rowOf(int64(n)))
			}
		}
	}
}

// joinRows makes one piece of rows that lie beside each other.
func (c *chart) joinRows() {
	joined := c.pieces[:0]
	for _, p := range c.pieces {
		if n := len(joined); n > 0 {
			last := &joined[n-1]
			next := *last
			next.row, next.rows = p.row, p.rows
			if next == p && p.cost == 0 && last.row+last.rows == p.row {
				last.rows += p.rows
				continue
			}
		}
		joined = append(joined, p)
	}
	c.pieces = joined
}

// levelsOfPieces are queue and load by jobs and pieces, where no file has them.
func (c *chart) levelsOfPieces() []results.Level {
	type change struct {
		at                     des.Time
		jobs, processors, busy int
	}
	var changes []change
	for i := range c.jobs {
		j := &c.jobs[i]
		if j.State == results.Rejected || j.Submit == results.None {
			continue
		}
		changes = append(changes, change{j.Submit, 1, j.Processors, 0})
		if j.Start != results.None {
			changes = append(changes, change{j.Start, -1, -j.Processors, 0})
		}
	}
	for _, p := range c.pieces {
		if p.kind <= earlierPiece {
			changes = append(changes, change{p.from, 0, 0, p.rows}, change{p.to, 0, 0, -p.rows})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var levels []results.Level
	var now results.Level
	for i, ch := range changes {
		now = results.Level{Time: ch.at, Jobs: now.Jobs + ch.jobs, Processors: now.Processors + ch.processors, Busy: now.Busy + ch.busy}
		if i+1 == len(changes) || changes[i+1].at > ch.at {
			levels = append(levels, now)
		}
	}
	return levels
}
