package metrics

// cycles-POLICY.csv: what happened in each scheduling cycle, and who earned what.

import (
	"io"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics/rows"
)

// cycleSums holds the sums of a cycle. The Cycle's own fields have numbers of jobs and the
// makespan; the rest is exact until Rows divides it.
type cycleSums struct {
	rows.Cycle
	busy            des.Time
	wait            des.Time
	income, expense flow.Money
}

// Cycles is an Observer that sums up a run on named nodes, cycle by cycle. Its memory grows with
// the number of cycles.
type Cycles struct {
	// Cycle is the length of a cycle, above 0; the first one begins at 0.
	Cycle des.Time
	// Nodes is the number of nodes that utilization is of; 0 leaves it out.
	Nodes int

	sums []cycleSums
}

// at returns the cycle of an instant, with all before it.
func (c *Cycles) at(t des.Time) *cycleSums {
	k := int(t / c.Cycle)
	for len(c.sums) <= k {
		c.sums = append(c.sums, cycleSums{})
	}
	return &c.sums[k]
}

// Observe adds one event.
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
	case entity.JobFinished, entity.JobKilled:
		row.Finished++
		// The makespan of a cycle is of the jobs that start in it, from its beginning on.
		began := c.at(j.Start)
		began.Makespan = max(began.Makespan, (e.Time - j.Start/c.Cycle*c.Cycle).Seconds())
	}
	if a, _, how, ok := entity.Over(e); ok && how != entity.EndResized {
		c.occupied(a)
	}
}

// occupied adds the node time of an attempt, piece by piece, to the cycles in which it was.
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

// Paid takes in one transfer of a flow.Ledger: owners' income, and what users pay and get back.
// What the organisation gives back to users lessens their expense.
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

// Rows returns a row for each cycle, up to the last cycle in which anything happened.
func (c *Cycles) Rows() []rows.Cycle {
	waiting := 0
	all := make([]rows.Cycle, len(c.sums))
	for k, r := range c.sums {
		r.Number, r.Cycle.Start = k, des.Time(k)*c.Cycle
		waiting += r.Submitted + r.Preempted - r.Started - r.Rejected
		r.Waiting = waiting
		if c.Nodes > 0 {
			r.Utilization = r.busy.Seconds() / (float64(c.Nodes) * c.Cycle.Seconds())
		}
		if r.Started > 0 {
			r.MeanWait = r.wait.Seconds() / float64(r.Started)
		}
		r.Income, r.Expense = r.income.Units(), r.expense.Units()
		all[k] = r.Cycle
	}
	return all
}

// Write writes cycles-POLICY.csv.
func (c *Cycles) Write(w io.Writer) error { return rows.WriteAll(w, rows.Cycles, c.Rows()) }
