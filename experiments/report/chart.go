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

// chart is one run, as newChart has read it.
type chart struct {
	run *results.Run
	// In the order of the file.
	jobs []rows.Job
	// Positions in jobs, by id.
	index map[int64]int
	// By job, time and row. The Job of a piece is not an id but its position in jobs, -1 for a
	// piece of no job, such as an outage.
	pieces []gantt.Piece
	// Queue and load, each level from its time to that of the next; in the order of time.
	levels []rows.Level
	// It is known who had which processors; otherwise there are no pieces.
	placed bool
	// The first and the last instant at which anything happened.
	from, to des.Time
}

// lane is a lane as the page holds it: the rows of a machine, or of one site.
type lane struct {
	Name string `json:"name"`
	*gantt.Lane
	Nodes []node `json:"nodes,omitempty"` // nil for processors, which have numbers
}

// node is the name of a row that is a node, and what people may want to know of it.
type node struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
}

// described returns lanes as the page holds them.
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

// fileOf returns the first file of a run whose name begins with prefix, "" where it has none.
func fileOf(r *results.Run, prefix string) string {
	for _, name := range r.Files {
		if strings.HasPrefix(name, prefix) {
			return name
		}
	}
	return ""
}

// describe returns a node as the page holds it; what is not known of it is not said.
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

// newChart reads all of a run. The lanes are those of all runs of the folder, so that rows of two
// charts are the same nodes. Where the setting allocation is count or none, nothing tells who had
// which processors: a layout made up would be taken for the run's.
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
	// Neighbours in the file are to be neighbours in time, so that the page can skip blocks of
	// pieces that are out of sight, and rows of one job beside each other, for joinRows.
	slices.SortStableFunc(c.pieces, func(a, b gantt.Piece) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.From, b.From), cmp.Compare(a.Row, b.Row))
	})
	c.joinRows()
	return c, nil
}

// bounds finds the span of time of the run: of jobs and of queue levels. Of a run without jobs it
// is from 0 to 0.
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

// indexOf returns the position in jobs of the job with an id, -1 where there is none.
func (c *chart) indexOf(job int64) int {
	if i, ok := c.index[job]; ok {
		return i
	}
	return -1
}

// joinRows makes one piece of rows that lie beside each other and are alike in all else. A piece
// with a cost stays alone: the page shows the cost of each.
func (c *chart) joinRows() {
	// It writes over what has been read already.
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

// levelsOfPieces returns queue and load by jobs and pieces, where no file has them. A job waits
// from its submission to its start; what is busy is busy for a piece of a job, and not for an
// outage or an owner's own use.
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
	// One level an instant: only the last change of it is kept.
	var now rows.Level
	for i, ch := range changes {
		now = rows.Level{Time: ch.at, Jobs: now.Jobs + ch.jobs, Processors: now.Processors + ch.processors, Busy: now.Busy + ch.busy}
		if i+1 == len(changes) || changes[i+1].at > ch.at {
			levels = append(levels, now)
		}
	}
	return levels
}
