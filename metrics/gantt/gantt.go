// Package gantt draws small schedules as text: a row a processor or node, a column a
// span of time.
//
//	|....EEEEEEEEEEEEEEEEEEEEEEEEDDDDDDDD
//	|AAAAAAAAAAAABBBBBBBBBBFFFFF.DDDDDDDD
//
// A Recorder draws a simulation while it runs, Read draws one from the files that it
// has left. It is also how tests state a schedule.
package gantt

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/internal/printed"
)

// The marks of what is no job.
const (
	Idle   = '.'
	Owner  = '=' // an owner's own job
	outage = '#'
)

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// Mark returns the letter of the job with a number: A for job 1, B for job 2, and so on through
// small letters and digits, and from A again.
func Mark(job int64) byte {
	n := (job - 1) % int64(len(letters))
	if n < 0 {
		n += int64(len(letters))
	}
	return letters[n]
}

// Bar says that somebody has a row in [From, To). Row is an index of Chart.Rows, Mark the sign
// that is drawn.
type Bar struct {
	Row      int
	From, To des.Time
	Mark     byte
}

// Chart is a schedule. Rows are drawn from the last one to the first, as axes go up.
type Chart struct {
	Title string
	// Rows are the names of the rows; if all are empty, no names are drawn.
	Rows []string
	Bars []Bar
}

// End returns the instant at which the last of the bars ends, 0 without bars.
func (c *Chart) End() (end des.Time) {
	for _, b := range c.Bars {
		end = max(end, b.To)
	}
	return end
}

const (
	// MaxRows is the most rows that a chart can have, and maxBars the most bars: nobody can read
	// the letters of more.
	MaxRows = 128
	maxBars = 10_000 // bars that a chart can have: of more, nobody can read the letters
)

// TooLargeError reports a schedule that cannot be read as text: too many rows or, if bars is not
// 0, too many bars.
type TooLargeError struct{ rows, bars int }

func (e *TooLargeError) Error() string {
	if e.bars > 0 {
		return fmt.Sprintf("%d bars of jobs are too many for a chart as text, which has at most %d", e.bars, maxBars)
	}
	return fmt.Sprintf("%d processors or nodes are too many for a chart as text, which has at most %d rows", e.rows, MaxRows)
}

// Write draws charts one below the other, all from the same instant on and on one scale, and
// returns the time of a column: the least of 1, 2, 5, 10, 20, ... time units with which the
// longest row has at most width columns (10 if width is less). A column shows what has the row for
// the longest part of it, at a tie the first. The error is a *TooLargeError, or w's.
func Write(w io.Writer, from des.Time, width int, charts ...*Chart) (column des.Time, err error) {
	end := from
	for _, c := range charts {
		if len(c.Rows) > MaxRows {
			return 0, &TooLargeError{rows: len(c.Rows)}
		}
		if len(c.Bars) > maxBars {
			return 0, &TooLargeError{bars: len(c.Bars)}
		}
		end = max(end, c.End())
	}
	column = scale(end-from, width)
	for _, c := range charts {
		if c.Title != "" {
			if _, err := fmt.Fprintln(w, printed.Text(c.Title)); err != nil {
				return column, err
			}
		}
		for _, line := range c.Lines(from, column) {
			if _, err := fmt.Fprintln(w, line); err != nil {
				return column, err
			}
		}
	}
	return column, nil
}

// scale returns the time of a column; see Write.
func scale(span des.Time, width int) des.Time {
	width = max(width, 10)
	for column := des.Second; ; column *= 10 {
		for _, n := range []des.Time{1, 2, 5} {
			if (span-1)/(n*column) < des.Time(width) {
				return n * column
			}
		}
	}
}

// Lines returns the rows of the chart from an instant on, without what is idle at their ends. Bars
// are drawn by their starts, so that ties within a column go to the first.
func (c *Chart) Lines(from, column des.Time) []string {
	labels, longest := make([]string, len(c.Rows)), 0
	for i, name := range c.Rows {
		labels[i] = printed.Text(name)
		longest = max(longest, len([]rune(labels[i])))
	}
	bars := slices.Clone(c.Bars)
	slices.SortStableFunc(bars, func(a, b Bar) int { return int(min(max(a.From-b.From, -1), 1)) })
	rows := make([]row, len(c.Rows))
	for _, b := range bars {
		if b.Row >= 0 && b.Row < len(rows) && b.To > max(b.From, from) {
			rows[b.Row].draw(max(b.From, from)-from, b.To-from, column, b.Mark)
		}
	}
	lines := make([]string, 0, len(rows))
	for i, r := range slices.Backward(rows) {
		lines = append(lines, fmt.Sprintf("  %-*s|%s", longest, labels[i], r.text(column)))
	}
	return lines
}

// row has the columns of a row, up to the last one that anybody has.
type row []cell

// cell is a column of a row: the mark that has most of it so far, how long that has it, and how
// long anybody has it.
type cell struct {
	mark byte
	has  des.Time
	busy des.Time
}

// draw gives the columns of [from, to) to a mark, each for the part of it that is in the span.
func (r *row) draw(from, to, column des.Time, mark byte) {
	for at := from / column; at*column < to; at++ {
		for des.Time(len(*r)) <= at {
			*r = append(*r, cell{})
		}
		c := &(*r)[at]
		part := min(to, (at+1)*column) - max(from, at*column)
		c.busy += part
		if part > c.has {
			c.mark, c.has = mark, part
		}
	}
}

// text writes the columns. A column that is idle for longer than its mark has it is idle.
func (r row) text(column des.Time) string {
	b := make([]byte, 0, len(r))
	for _, c := range r {
		if c.has == 0 || c.has < column-c.busy {
			b = append(b, Idle)
		} else {
			b = append(b, c.mark)
		}
	}
	return strings.TrimRight(string(b), string(Idle))
}

// Observer is an entity.Observer that draws what runs where, attempt by attempt as they end: on
// named nodes, or on the processors of a cluster if the metascheduler has a Placer. An attempt
// that still runs is not drawn.
type Observer struct {
	Chart
	rows map[*entity.Node]int
}

// Attach gives the chart its rows: a row for each processor or node of the plan.
func (r *Observer) Attach(m *entity.Metascheduler) {
	p := m.Plan()
	r.Rows, r.rows = make([]string, p.Size()), map[*entity.Node]int{}
	for i := range r.Rows {
		if n := p.Node(i); n != nil {
			r.Rows[i], r.rows[n] = fmt.Sprint(n.ID), i
		}
	}
}

// Observe takes one event in.
func (r *Observer) Observe(e entity.JobEvent) {
	if a, _, _, ok := entity.Over(e); ok {
		r.add(e.Run, a)
	}
}

// add adds the bars of an attempt.
func (r *Observer) add(j *entity.Run, a entity.Attempt) {
	mark := Mark(j.ID)
	for i, t := range a.Window.Tasks {
		if at, ok := r.rows[t.Node]; ok {
			r.Bars = append(r.Bars, Bar{at, a.Start, min(a.Ends[i], a.End), mark})
		}
	}
	for _, p := range a.Place {
		for at := p.First; at <= p.Last; at++ {
			r.Bars = append(r.Bars, Bar{int(at), a.Start, a.End, mark})
		}
	}
}
