package gantt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/results"
)

// Read returns the chart of one run of a folder, with the names of nodes, with outages and owners'
// jobs. It is an error if the files do not say which processors jobs had.
func Read(folder *results.Folder, run *results.Run) (*Chart, error) {
	lanes, err := Lanes(folder)
	if err != nil {
		return nil, err
	}
	jobs, err := run.Jobs()
	if err != nil {
		return nil, err
	}
	layout, err := Place(run, jobs, lanes, des.Forever)
	if err != nil {
		return nil, err
	}
	if !layout.Placed {
		return nil, fmt.Errorf("the files of %s do not say which processors job %d had: --allocation intervals writes it", run.Policy, layout.unplaced)
	}
	c := &Chart{Title: fmt.Sprintf("%s:", run.Policy)}
	for _, l := range lanes {
		c.draw(l, layout.Pieces, len(lanes) > 1)
	}
	return c, c.endOutages()
}

// draw adds the rows of a lane, and what stands there. Processors behind the last one that anybody
// had are left out.
func (c *Chart) draw(l *Lane, pieces []Piece, several bool) {
	first, used := len(c.Rows), 0
	for _, p := range pieces {
		if p.Row < l.First || p.Row >= l.First+l.Rows {
			continue
		}
		used = max(used, p.Row+p.Rows-l.First)
		for row := p.Row - l.First; row < min(p.Row-l.First+p.Rows, MaxRows); row++ { // more cannot be drawn
			c.Bars = append(c.Bars, Bar{first + row, p.From, p.To, p.mark()})
		}
	}
	names := l.names(several)
	if l.Nodes == nil {
		names = names[:used]
	}
	c.Rows = append(c.Rows, names...)
}

// names returns the names of the lane's rows, with its site in front if there is one; the
// processors of a single machine have none.
func (l *Lane) names(several bool) []string {
	names := make([]string, l.Rows)
	for i := range names {
		if several {
			names[i] = fmt.Sprint(i)
		}
		if l.Nodes != nil {
			names[i] = cmp.Or(l.Nodes[i].Name, fmt.Sprint(l.Nodes[i].ID))
		}
		if l.Site != "" {
			names[i] = l.Site + "/" + names[i]
		}
	}
	return names
}

// mark returns the letter of a piece's job, or the mark of what is no job.
func (p Piece) mark() byte {
	switch p.Kind {
	case OwnerPiece:
		return Owner
	case OutagePiece:
		return outage
	}
	return Mark(p.Job)
}

// endOutages ends what has no end with the last bar that has one, or a time unit after its own
// start if that is later. It is an error if the chart is too large, or empty.
func (c *Chart) endOutages() error {
	last := des.Time(0)
	for _, b := range c.Bars {
		if b.To < des.Forever {
			last = max(last, b.To)
		}
		last = max(last, b.From+des.Second)
	}
	for i := range c.Bars {
		c.Bars[i].To = min(c.Bars[i].To, last)
	}
	if len(c.Rows) > MaxRows {
		return &TooLargeError{rows: len(c.Rows)}
	}
	if len(c.Bars) == 0 {
		return fmt.Errorf("there is nothing to draw: no job ran")
	}
	return nil
}

// Begin returns the instant at which the first of the bars begins, 0 without bars.
func (c *Chart) Begin() des.Time {
	if len(c.Bars) == 0 {
		return 0
	}
	return slices.MinFunc(c.Bars, func(a, b Bar) int { return int(min(max(a.From-b.From, -1), 1)) }).From
}
