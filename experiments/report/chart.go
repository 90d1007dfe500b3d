package report

// What the Gantt chart of a run shows: the pieces of package gantt, beside each other where they
// are one job's, and queue and load over time.

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// chart is one run.
type chart struct {
	run    *results.Run
	jobs   []rows.Job
	index  map[int64]int // of jobs, by id
	pieces []gantt.Piece // by job, time and row; a job is its index in jobs
	levels []rows.Level
	placed bool // it is known who had which processors
	from   des.Time
	to     des.Time // last instant at which anything happened
}

// lane is a lane as the page holds it.
type lane struct {
	Name string `json:"name"`
	*gantt.Lane
	Nodes []node `json:"nodes,omitempty"` // nil for processors, which have numbers
}

type node struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
}

// described are lanes as the page holds them.
func described(lanes []*gantt.Lane) (all []*lane) {
	for _, l := range lanes {
		to := &lane{Name: clean(l.Site), Lane: l}
		for _, n := range l.Nodes {
			to.Nodes = append(to.Nodes, describe(n))
		}
		all = append(all, to)
	}
	return all
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

func describe(n rows.Node) node {
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
func newChart(r *results.Run, lanes []*gantt.Lane, allocation string) (*chart, error) {
	c := &chart{run: r, index: map[int64]int{}}
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
	layout, err := gantt.Place(r, c.jobs, lanes, c.to)
	if err != nil {
		return nil, err
	}
	if c.placed = layout.Placed && allocation != "count" && allocation != "none"; c.placed {
		c.pieces = layout.Pieces
	}
	for i := range c.pieces {
		c.pieces[i].Job = int64(c.indexOf(c.pieces[i].Job))
	}
	if c.levels == nil {
		c.levels = c.levelsOfPieces()
	}
	// Neighbours in the file are to be neighbours in time, and rows of one job beside
	// each other.
	slices.SortStableFunc(c.pieces, func(a, b gantt.Piece) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.From, b.From), cmp.Compare(a.Row, b.Row))
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
			if t != rows.None && t != des.Forever {
				c.from, c.to = min(c.from, t), max(c.to, t)
			}
		}
	}
	if n := len(c.levels); n > 0 {
		c.from, c.to = min(c.from, c.levels[0].Time), max(c.to, c.levels[n-1].Time)
	}
	c.from = min(c.from, c.to)
}

func (c *chart) indexOf(job int64) int {
	if i, ok := c.index[job]; ok {
		return i
	}
	return -1
}

// joinRows makes one piece of rows that lie beside each other.
func (c *chart) joinRows() {
	joined := c.pieces[:0]
	for _, p := range c.pieces {
		if n := len(joined); n > 0 {
			last := &joined[n-1]
			next := *last
			next.Row, next.Rows = p.Row, p.Rows
			if next == p && p.Cost == 0 && last.Row+last.Rows == p.Row {
				last.Rows += p.Rows
				continue
			}
		}
		joined = append(joined, p)
	}
	c.pieces = joined
}

// levelsOfPieces are queue and load by jobs and pieces, where no file has them.
func (c *chart) levelsOfPieces() []rows.Level {
	type change struct {
		at                     des.Time
		jobs, processors, busy int
	}
	var changes []change
	for i := range c.jobs {
		j := &c.jobs[i]
		if j.State == rows.Rejected || j.Submit == rows.None {
			continue
		}
		changes = append(changes, change{j.Submit, 1, j.Processors, 0})
		if j.Start != rows.None {
			changes = append(changes, change{j.Start, -1, -j.Processors, 0})
		}
	}
	for _, p := range c.pieces {
		if p.Kind <= gantt.EarlierPiece {
			changes = append(changes, change{p.From, 0, 0, p.Rows}, change{p.To, 0, 0, -p.Rows})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var levels []rows.Level
	var now rows.Level
	for i, ch := range changes {
		now = rows.Level{Time: ch.at, Jobs: now.Jobs + ch.jobs, Processors: now.Processors + ch.processors, Busy: now.Busy + ch.busy}
		if i+1 == len(changes) || changes[i+1].at > ch.at {
			levels = append(levels, now)
		}
	}
	return levels
}
