package rows

// The files about the planning of batches on a domain.

import (
	"math"

	"github.com/gridslot/gridslot/des"
)

// Cycle is a row of cycles-POLICY.csv.
type Cycle struct {
	Number                                                     int // from 0
	Start                                                      des.Time
	Submitted, Started, Finished, Rejected, Preempted, Waiting int
	Utilization, MeanWait, Makespan                            float64
	// Income is what owners were paid in the cycle, Expense what users have paid for
	// reservations, less what they got back. Over a whole run the two are equal.
	Income, Expense float64
}

// Cycles is cycles-POLICY.csv.
var Cycles = File[Cycle]{
	Name:    "cycles-POLICY.csv",
	When:    "on a domain",
	Text:    "The file has a row for each scheduling cycle.",
	Missing: Cycle{Start: None, Utilization: math.NaN(), MeanWait: math.NaN(), Makespan: math.NaN(), Income: math.NaN(), Expense: math.NaN()},
	Columns: []Column[Cycle]{
		intColumn("cycle", "The number of the cycle, from 0.", func(c *Cycle) *int { return &c.Number }).need(),
		timeColumn("start", "The beginning of the cycle.", func(c *Cycle) *des.Time { return &c.Start }).need(),
		intColumn("submitted", "The number of jobs that were submitted in the cycle.", func(c *Cycle) *int { return &c.Submitted }),
		intColumn("started", "The number of jobs that started in the cycle.", func(c *Cycle) *int { return &c.Started }),
		intColumn("finished", "The number of jobs that ended in the cycle.", func(c *Cycle) *int { return &c.Finished }),
		intColumn("rejected", "The number of jobs that were rejected in the cycle.", func(c *Cycle) *int { return &c.Rejected }),
		intColumn("preempted", "The number of jobs that were preempted in the cycle.", func(c *Cycle) *int { return &c.Preempted }),
		intColumn("waiting", "The number of jobs that wait at the end of the cycle.", func(c *Cycle) *int { return &c.Waiting }),
		numberColumn("utilization", "", "The share of the nodes that jobs had, from 0 to 1.", func(c *Cycle) *float64 { return &c.Utilization }),
		numberColumn("mean_wait", seconds, "The mean wait of the jobs that started in the cycle.", func(c *Cycle) *float64 { return &c.MeanWait }),
		numberColumn("makespan", seconds, "The time from the beginning of the cycle to the last end of the jobs that started in it.", func(c *Cycle) *float64 { return &c.Makespan }),
		numberColumn("income", costUnits, "The money that owners were paid in the cycle.", func(c *Cycle) *float64 { return &c.Income }),
		numberColumn("expense", costUnits, "The money that users paid for reservations in the cycle, less what they got back. Over a whole run it equals the income.", func(c *Cycle) *float64 { return &c.Expense }),
	},
}

// Combination is a row of pareto-POLICY.csv: alternatives of a slice of a batch,
// one for each of its jobs, taken together.
type Combination struct {
	PlannedAt                        des.Time
	Slice                            int // from 1
	Jobs                             int // that had alternatives
	Point                            int // from 1 by time; 0 is the combination chosen
	Cost, BudgetLeft, Time, TimeLeft float64
	Gap                              float64
}

// Combinations is pareto-POLICY.csv.
var Combinations = File[Combination]{
	Name:    "pareto-POLICY.csv",
	When:    "for policies with `front=N`",
	Text:    "The file has a row for each combination of alternatives on the front of a slice of a batch, sorted by time, and one for the combination that was chosen.",
	Missing: Combination{BudgetLeft: math.NaN(), TimeLeft: math.NaN(), Gap: math.NaN()},
	Notes:   "The front has N combinations at most: those that no other one beats in both cost and time. A slice whose choice is infeasible has no row 0, and no row at all if B* is infeasible.",
	Columns: []Column[Combination]{
		timeColumn("planned_at", "The instant at which the batch was planned.", func(c *Combination) *des.Time { return &c.PlannedAt }).need(),
		intColumn("slice", "The number of the slice in the batch, from 1.", func(c *Combination) *int { return &c.Slice }).need(),
		intColumn("jobs", "The number of jobs of the slice that had alternatives.", func(c *Combination) *int { return &c.Jobs }),
		intColumn("point", "The number of the combination on the front, from 1. The combination that was chosen has 0; it may lie off the front.", func(c *Combination) *int { return &c.Point }).need(),
		numberColumn("cost", costUnits, "The cost C of the combination.", func(c *Combination) *float64 { return &c.Cost }).need(),
		numberColumn("budget_left", costUnits, "What is left of the budget, D = B* - C. It is below 0 beyond the budget.", func(c *Combination) *float64 { return &c.BudgetLeft }),
		numberColumn("time", seconds, "The time T of the combination.", func(c *Combination) *float64 { return &c.Time }).need(),
		numberColumn("time_left", seconds, "What is left of the quota of time, I = T* - T. It is below 0 beyond the quota.", func(c *Combination) *float64 { return &c.TimeLeft }),
		numberColumn("gap", "", "How much less another combination of no more time can cost than this one; 0 means that the front is whole. The gap of the combination that was chosen says how much better another one can be.", func(c *Combination) *float64 { return &c.Gap }),
	},
}

// WindowTask is a row of alternatives-POLICY.csv: a node's part of a window that was
// found for a job of a batch.
type WindowTask struct {
	PlannedAt   des.Time
	Job         int64
	Alternative int // number of the window among those of the job, from 1
	Node        int64
	Start, End  des.Time
	Cost        float64
	Chosen      bool
}

// Alternatives is alternatives-POLICY.csv.
var Alternatives = File[WindowTask]{
	Name:    "alternatives-POLICY.csv",
	When:    "with `--alternatives`, for the policies that plan batches on a domain (`css`, `batch-slicer`, and `bsf` for the jobs that it slices)",
	Text:    "The file has a row for each node of each window that was found for a job of a batch, every time that the job was planned. Jobs without a window have no row; a plan that was made anew has rows for the jobs whose windows it changed.",
	Missing: WindowTask{Cost: math.NaN()},
	Columns: []Column[WindowTask]{
		timeColumn("planned_at", "The instant at which the batch was planned.", func(w *WindowTask) *des.Time { return &w.PlannedAt }).need(),
		intColumn("job_id", "The job.", func(w *WindowTask) *int64 { return &w.Job }).need(),
		intColumn("alternative", "The number of the window among those of the job, from 1, in the order in which they were found.", func(w *WindowTask) *int { return &w.Alternative }).need(),
		intColumn("node", "The node.", func(w *WindowTask) *int64 { return &w.Node }).need(),
		timeColumn("start", "The start of the window.", func(w *WindowTask) *des.Time { return &w.Start }).need(),
		timeColumn("end", "The instant until which the node would be reserved.", func(w *WindowTask) *des.Time { return &w.End }).need(),
		moneyColumn("cost", "The cost of that, at the price when the batch was planned.", func(w *WindowTask) *float64 { return &w.Cost }),
		bitColumn("chosen", "1 if the window was chosen. Its row tells where it was reserved, which is another place if it was shifted.", func(w *WindowTask) *bool { return &w.Chosen }),
	},
}
