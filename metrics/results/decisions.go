package results

import (
	"math"

	"github.com/gridslot/gridslot/des"
)

// Decision is a row of decisions-POLICY.csv: what held a waiting job from From to To.
type Decision struct {
	Job      int64
	What     string // as entity.Obstacle has it, or rejected, withdrawn, preempted
	From, To des.Time
	Times    int   // that it was said
	Other    int64 // the job that stood in the way, -1 where there is none
	// Start is the earliest start that was told at first, LastStart at last; None where
	// none was told, des.Forever where there was none.
	Start, LastStart des.Time
	Delay            des.Time // of the other job, or None
	Short            float64  // by how much a budget or a limit was too low, or NaN
	Text             string
}

var decisionColumns = append(need(
	ints("job_id", func(d *Decision) *int64 { return &d.Job }),
	texts("what", func(d *Decision) *string { return &d.What }),
	times("from", func(d *Decision) *des.Time { return &d.From }),
	times("to", func(d *Decision) *des.Time { return &d.To }),
),
	ints("times", func(d *Decision) *int { return &d.Times }),
	ints("other_job", func(d *Decision) *int64 { return &d.Other }),
	times("start", func(d *Decision) *des.Time { return &d.Start }),
	times("last_start", func(d *Decision) *des.Time { return &d.LastStart }),
	times("delay", func(d *Decision) *des.Time { return &d.Delay }),
	numbers("short", func(d *Decision) *float64 { return &d.Short }),
	texts("text", func(d *Decision) *string { return &d.Text }),
)

// Decisions are the rows of decisions-POLICY.csv, in the order in which each thing
// ceased to hold its job; nil without simulate --decisions.
func (r *Run) Decisions() ([]Decision, error) {
	return rows(r, "decisions", Decision{From: None, To: None, Other: -1, Start: None, LastStart: None, Delay: None, Short: math.NaN()}, decisionColumns)
}
