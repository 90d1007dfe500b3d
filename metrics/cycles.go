package metrics

// cycles-POLICY.csv: what happened in each scheduling cycle, and who earned what.

import (
	"fmt"
	"io"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/atomicfile"
)

// CycleRow is one cycle. Times are in time units.
type CycleRow struct {
	Cycle       int     `csv:"cycle"` // from 0
	Start       float64 `csv:"start"`
	Submitted   int     `csv:"submitted"`
	Started     int     `csv:"started"`
	Finished    int     `csv:"finished"`
	Rejected    int     `csv:"rejected"`
	Preempted   int     `csv:"preempted"`
	Waiting     int     `csv:"waiting"`     // when the cycle is over
	Utilization float64 `csv:"utilization"` // of the nodes, by the jobs
	MeanWait    float64 `csv:"mean_wait"`   // of those started in it
	// Makespan is the time from the cycle's beginning to the end of the last of
	// the jobs started in it.
	Makespan float64 `csv:"makespan"`
	// Income is what owners were paid in it, Expense what users have paid for
	// reservations, less what they got back. Over a whole run the two are equal.
	Income  float64 `csv:"income"`
	Expense float64 `csv:"expense"`

	busy            des.Time
	wait            des.Time
	income, expense flow.Money
}

// Cycles is an Observer that sums up a run on named nodes cycle by cycle. Its
// memory grows with the number of cycles.
type Cycles struct {
	Cycle des.Time // length, above 0
	Nodes int

	rows []CycleRow
}

func (c *Cycles) at(t des.Time) *CycleRow {
	k := int(t / c.Cycle)
	for len(c.rows) <= k {
		c.rows = append(c.rows, CycleRow{})
	}
	return &c.rows[k]
}

// Observe takes one event in.
func (c *Cycles) Observe(e entity.JobEvent) {
	j, row := e.Run, c.at(e.Time)
	switch e.Kind {
	case entity.JobSubmitted:
		row.Submitted++
	case entity.JobRejected:
		row.Rejected++
	case entity.JobStarted:
		row.Started++
		row.wait += j.Wait()
	case entity.JobRequeued:
		row.Preempted++
		c.occupied(j.Earlier()[len(j.Earlier())-1])
	case entity.JobFinished, entity.JobKilled:
		row.Finished++
		began := c.at(j.Start)
		began.Makespan = max(began.Makespan, (e.Time - j.Start/c.Cycle*c.Cycle).Seconds())
		c.occupied(j.Latest())
	}
}

// occupied adds the processor time of an attempt, each node's to the cycles in
// which it was.
func (c *Cycles) occupied(a entity.Attempt) {
	for i := range a.Window.Nodes {
		end := a.End
		if a.Ends != nil {
			end = a.Ends[i]
		}
		for at := a.Start; at < end; {
			next := min((at/c.Cycle+1)*c.Cycle, end)
			c.at(at).busy += next - at
			at = next
		}
	}
}

// Paid takes one transfer of an flow.Ledger in.
func (c *Cycles) Paid(t flow.Transfer) {
	row := c.at(t.Time)
	switch {
	case t.To.Kind == flow.OwnerAccount:
		row.income += t.Amount
	case t.From.Kind == flow.UserAccount:
		row.expense += t.Amount
	case t.To.Kind == flow.UserAccount:
		row.expense -= t.Amount
	}
}

// Rows are the cycles up to the last in which anything happened.
func (c *Cycles) Rows() []CycleRow {
	waiting := 0
	rows := make([]CycleRow, len(c.rows))
	for k, r := range c.rows {
		r.Cycle, r.Start = k, (des.Time(k) * c.Cycle).Seconds()
		waiting += r.Submitted + r.Preempted - r.Started - r.Rejected
		r.Waiting = waiting
		if c.Nodes > 0 {
			r.Utilization = r.busy.Seconds() / (float64(c.Nodes) * c.Cycle.Seconds())
		}
		if r.Started > 0 {
			r.MeanWait = r.wait.Seconds() / float64(r.Started)
		}
		r.Income, r.Expense = r.income.Units(), r.expense.Units()
		rows[k] = r
	}
	return rows
}

// Write writes the rows as CSV.
func (c *Cycles) Write(w io.Writer) error {
	if err := gocsv.Marshal(c.Rows(), w); err != nil {
		return fmt.Errorf("writing cycles as CSV: %w", err)
	}
	return nil
}

// WriteFile writes the rows to a file, whole or not at all.
func (c *Cycles) WriteFile(path string) error { return atomicfile.Write(path, c.Write) }
