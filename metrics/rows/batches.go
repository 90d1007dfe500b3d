package rows

// The files about the planning of batches on a domain.

import (
	"math"

	"github.com/gridslot/gridslot/des"
)

// Cycle is a row of cycles-POLICY.csv. Number counts from 0; Waiting is at its end, all other
// numbers are of what happened in it.
type Cycle struct {
	Number                                                     int // from 0
	Start                                                      des.Time
	Submitted, Started, Finished, Rejected, Preempted, Waiting int
	Utilization, MeanWait, Makespan                            float64
	// Income is the money paid to owners in the cycle. Expense is the money that users paid for
	// reservations, less refunds. Over a whole run the two are equal.
	Income, Expense float64
}

// Cycles is cycles-POLICY.csv.
var Cycles = File[Cycle]{
	Name:    "cycles-POLICY.csv",
	when:    "on a domain",
	text:    "A row for each scheduling cycle.",
	Missing: Cycle{Start: None, Utilization: math.NaN(), MeanWait: math.NaN(), Makespan: math.NaN(), Income: math.NaN(), Expense: math.NaN()},
	Columns: []column[Cycle]{
		intColumn("cycle", "Number of the cycle, from 0.", func(c *Cycle) *int { return &c.Number }).need(),
		timeColumn("start", "Beginning of the cycle.", func(c *Cycle) *des.Time { return &c.Start }).need(),
		intColumn("submitted", "Jobs submitted in the cycle.", func(c *Cycle) *int { return &c.Submitted }),
		intColumn("started", "Jobs that started.", func(c *Cycle) *int { return &c.Started }),
		intColumn("finished", "Jobs that ended.", func(c *Cycle) *int { return &c.Finished }),
		intColumn("rejected", "Jobs rejected.", func(c *Cycle) *int { return &c.Rejected }),
		intColumn("preempted", "Jobs preempted.", func(c *Cycle) *int { return &c.Preempted }),
		intColumn("waiting", "Jobs that wait at the end of the cycle.", func(c *Cycle) *int { return &c.Waiting }),
		numberColumn("utilization", "", "Share of the nodes that jobs had, 0 to 1.", func(c *Cycle) *float64 { return &c.Utilization }),
		numberColumn("mean_wait", seconds, "Mean wait of the jobs that started in the cycle.", func(c *Cycle) *float64 { return &c.MeanWait }),
		numberColumn("makespan", seconds, "Last end of the jobs that started in the cycle - its beginning.", func(c *Cycle) *float64 { return &c.Makespan }),
		numberColumn("income", costUnits, "Money that owners were paid in the cycle.", func(c *Cycle) *float64 { return &c.Income }),
		numberColumn("expense", costUnits, "Money that users paid, less refunds. Over a whole run it equals the income.", func(c *Cycle) *float64 { return &c.Expense }),
	},
}

// Combination is a row of pareto-POLICY.csv: alternatives of a slice of a batch, one for each of
// its jobs, taken together.
type Combination struct {
	PlannedAt des.Time
	// Slice counts from 1, and Jobs counts the jobs of it that had alternatives.
	Slice int
	Jobs  int
	// Point counts the points of the front from 1, by time; 0 is the combination that was chosen.
	Point int
	// Cost and Time are sums over the windows. BudgetLeft and TimeLeft are what the limits B* and
	// T* leave; NaN without a limit.
	Cost, BudgetLeft, Time, TimeLeft float64
	Gap                              float64
}

// Combinations is pareto-POLICY.csv.
var Combinations = File[Combination]{
	Name:    "pareto-POLICY.csv",
	when:    "for policies with `front=N`",
	text:    "A row for each combination of alternatives on the front of a slice of a batch, sorted by time, and a row for the chosen combination.",
	Missing: Combination{BudgetLeft: math.NaN(), TimeLeft: math.NaN(), Gap: math.NaN()},
	notes:   "The front has at most N combinations, which no combination beats in both cost and time. `owners-profit` prefers more cost, `idleness` more time, `weights` either by their signs; the other problems prefer less. A slice whose choice is infeasible has no row 0, and no row at all if B* is infeasible.",
	Columns: []column[Combination]{
		timeColumn("planned_at", "When the batch was planned.", func(c *Combination) *des.Time { return &c.PlannedAt }).need(),
		intColumn("slice", "Number of the slice in the batch, from 1.", func(c *Combination) *int { return &c.Slice }).need(),
		intColumn("jobs", "Jobs of the slice that had alternatives.", func(c *Combination) *int { return &c.Jobs }),
		intColumn("point", "Number of the combination on the front, from 1; 0 is the chosen combination, which may lie off the front.", func(c *Combination) *int { return &c.Point }).need(),
		numberColumn("cost", costUnits, "Cost C of the combination.", func(c *Combination) *float64 { return &c.Cost }).need(),
		numberColumn("budget_left", costUnits, "D = B* - C, below 0 beyond the budget.", func(c *Combination) *float64 { return &c.BudgetLeft }),
		numberColumn("time", seconds, "Time T of the combination.", func(c *Combination) *float64 { return &c.Time }).need(),
		numberColumn("time_left", seconds, "I = T* - T, below 0 beyond the quota of time.", func(c *Combination) *float64 { return &c.TimeLeft }),
		numberColumn("gap", "", "Bound of how much better the cost of a missing combination without more time can be; 0: nothing is missing. In row 0, how much better another choice can be.", func(c *Combination) *float64 { return &c.Gap }),
	},
}

// WindowTask is a row of alternatives-POLICY.csv: the part of a node in a window that was found
// for a job of a batch.
type WindowTask struct {
	PlannedAt des.Time
	Job       int64
	// Alternative is the number of the window among those of the job, from 1.
	Alternative int
	Node        int64
	Start, End  des.Time
	Cost        float64
	Chosen      bool
}

// Alternatives is alternatives-POLICY.csv.
var Alternatives = File[WindowTask]{
	Name:    "alternatives-POLICY.csv",
	when:    "with `--alternatives`, by `css`, `batch-slicer`, and `bsf` for the jobs that it slices",
	text:    "A row for each node of each window found for a job of a batch, each time that the job was planned. A new plan has rows for the jobs whose windows it changed.",
	Missing: WindowTask{Cost: math.NaN()},
	Columns: []column[WindowTask]{
		timeColumn("planned_at", "When the batch was planned.", func(w *WindowTask) *des.Time { return &w.PlannedAt }).need(),
		intColumn("job_id", "The job.", func(w *WindowTask) *int64 { return &w.Job }).need(),
		intColumn("alternative", "Number of the window, from 1, in the order of finding.", func(w *WindowTask) *int { return &w.Alternative }).need(),
		intColumn("node", "The node.", func(w *WindowTask) *int64 { return &w.Node }).need(),
		timeColumn("start", "Start of the window.", func(w *WindowTask) *des.Time { return &w.Start }).need(),
		timeColumn("end", "When the node would be free again.", func(w *WindowTask) *des.Time { return &w.End }).need(),
		moneyColumn("cost", "Cost at the price when the batch was planned.", func(w *WindowTask) *float64 { return &w.Cost }),
		bitColumn("chosen", "1 if the window was chosen; its row has the place where it was reserved, also if it was shifted.", func(w *WindowTask) *bool { return &w.Chosen }),
	},
}
