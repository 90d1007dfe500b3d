package gantt

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/results"
)

// Read is the chart of one run of a folder. Named nodes have their names, outages and
// owners' jobs are drawn, too. It is an error where the files do not say which processors
// jobs had.
func Read(folder *results.Folder, run *results.Run) (*Chart, error) {
	c := &Chart{Title: fmt.Sprintf("%s:", run.Policy)}
	tasks, err := run.Tasks()
	if err != nil {
		return nil, err
	}
	if len(tasks) > 0 {
		return c, c.nodes(folder, tasks)
	}
	return c, c.processors(run)
}

// nodes draws who had which node.
func (c *Chart) nodes(folder *results.Folder, tasks []results.Task) error {
	nodes, err := folder.Nodes()
	if err != nil {
		return err
	}
	type place struct {
		site string
		node int64
	}
	at := map[place]int{}
	row := func(p place, name string) int {
		i, ok := at[p]
		if !ok {
			i = len(c.Rows)
			if name == "" {
				name = fmt.Sprint(p.node)
			}
			if p.site != "" {
				name = p.site + "/" + name
			}
			at[p] = i
			c.Rows = append(c.Rows, name)
		}
		return i
	}
	for _, n := range nodes {
		row(place{n.Site, n.ID}, n.Name)
	}
	for _, t := range tasks {
		mark := Mark(t.Job)
		switch t.Kind {
		case "owner":
			mark = Owner
		case "outage":
			mark = Outage
		}
		c.Bars = append(c.Bars, Bar{row(place{t.Site, t.Node}, ""), t.Start, t.End, mark})
	}
	return c.endOutages()
}

// processors draws which processors jobs had.
func (c *Chart) processors(run *results.Run) error {
	attempts, err := run.Attempts()
	if err != nil {
		return err
	}
	if !run.Has("attempts") {
		jobs, err := run.Jobs()
		if err != nil {
			return err
		}
		for i := range jobs {
			if j := &jobs[i]; j.Ran() {
				attempts = append(attempts, results.Attempt{Job: j.ID, Start: j.Start, Finish: j.Finish, Processors: j.Processors, Allocated: j.Allocated})
			}
		}
	}
	for _, a := range attempts {
		ranges, err := procset.Parse(a.Allocated)
		if err != nil || procset.Count(ranges) != a.Processors {
			return fmt.Errorf("the files of %s do not say which processors job %d had: --allocation intervals writes it", run.Policy, a.Job)
		}
		c.draw(ranges, a.Start, a.Finish, Mark(a.Job))
	}
	outages, err := run.Outages()
	if err != nil {
		return err
	}
	for _, o := range outages {
		if ranges, err := procset.Parse(o.Node); err == nil && len(ranges) > 0 {
			c.draw(ranges, o.From, o.To, Outage)
		}
	}
	return c.endOutages()
}

// draw gives processors to somebody.
func (c *Chart) draw(ranges []procset.Range, from, to des.Time, mark byte) {
	for _, r := range ranges {
		for p := r.First; p <= r.Last && len(c.Rows) <= MaxRows; p++ { // more cannot be drawn anyway
			for len(c.Rows) <= int(p) && len(c.Rows) <= MaxRows {
				c.Rows = append(c.Rows, "")
			}
			c.Bars = append(c.Bars, Bar{int(p), from, to, mark})
		}
	}
}

// endOutages has outages without an end last as long as anything else, and at least
// a time unit.
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
		return &TooLargeError{len(c.Rows)}
	}
	if len(c.Bars) == 0 {
		return fmt.Errorf("there is nothing to draw: no job ran")
	}
	return nil
}

// Begin is when the first of the bars begins.
func (c *Chart) Begin() des.Time {
	if len(c.Bars) == 0 {
		return 0
	}
	return slices.MinFunc(c.Bars, func(a, b Bar) int { return int(min(max(a.From-b.From, -1), 1)) }).From
}
