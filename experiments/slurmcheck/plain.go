package slurmcheck

import (
	"fmt"
	"io"
	"iter"

	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// plainRows reads the rows of a plain slurm-events.csv one by one. The caller calls stop when it wants no more.
func plainRows(r io.Reader) (next func() (*csvtable.Row, bool), stop func(), err error) {
	t, err := csvtable.Read(r, replay.PlainColumns...)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", replay.EventsFile, err)
	}
	next, stop = iter.Pull(t.Rows())
	return next, stop, nil
}

// checkPlain holds the next row of a plain slurm-events.csv to an event, if that is a start or an end. Without an event
// there must be no row any more.
func (c *checker) checkPlain(e *event, next func() (*csvtable.Row, bool)) error {
	if e != nil && e.kind != replay.KindStart && e.kind != replay.KindEnd {
		return nil
	}
	row, more := next()
	switch {
	case e == nil && !more:
		return nil
	case !more:
		c.wrong(validate.Missing, c.jobs[e.key], "%s: the %s has no row", replay.EventsFile, e.kind)
		return nil
	}
	if e == nil {
		c.wrong(validate.OutOfPlace, c.jobs[row.Text("name")], "%s, line %d: there is no such event", replay.EventsFile, row.Line)
		return row.Err()
	}
	priority, cpus := "", ""
	if e.hasPriority {
		priority = fmt.Sprint(e.priority)
	}
	if e.cpus > 0 {
		cpus = fmt.Sprint(e.cpus)
	}
	for i, want := range []string{e.key, fmt.Sprint(e.job), e.kind, fmt.Sprint(e.time), priority, cpus, e.nodes} {
		if column := replay.PlainColumns[i]; row.Text(column) != want {
			c.wrong(validate.Disagreement, c.jobs[e.key], "%s, line %d: %s is %q, and of the event it is %q", replay.EventsFile, row.Line, column, row.Text(column), want)
			break
		}
	}
	return row.Err()
}
