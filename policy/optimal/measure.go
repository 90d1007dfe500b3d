package optimal

import (
	"cmp"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// Measure is the quantity that a best schedule minimises.
type Measure uint8

const (
	Wait     Measure = iota // the sum of waits, in seconds
	Makespan                // from the first submission to the last end, in seconds
	Slowdown                // the sum of bounded slowdowns, max(1, (wait + length) / max(length, tau))
)

var measures = enum.Of[Measure]("what is to be least", "wait", "makespan", "slowdown")

func (m Measure) String() string { return measures.Name(m) }

// ParseMeasure reads "wait", "makespan" or "slowdown".
func ParseMeasure(s string) (Measure, error) { return measures.Parse(s) }

// DefaultTau is the length below which slowdowns are bounded, if no other is given.
const DefaultTau = 10 * des.Second

// task is a job in ticks after the first submission, with what a measure makes of its start.
// Whole ticks are whole numbers, with which float64 reckons exactly up to 2^53.
// Invariant: its cost at any start is at least weight * start + constant.
type task struct {
	release, length float64
	nodes           int
	weight          float64 // what a tick of delay costs; 0 for the makespan
	constant        float64
	least           float64 // the cost is never below it
}

// tasksOf are the jobs as a measure sees them. A schedule costs the sum of its tasks' costs,
// and the largest of them where the measure is the makespan.
func tasksOf(jobs []Job, m Measure, tau des.Time) []task {
	first := des.Forever
	for _, j := range jobs {
		first = min(first, j.Submit)
	}
	tasks := make([]task, len(jobs))
	for i, j := range jobs {
		t := task{release: float64(j.Submit - first), length: float64(j.Length), nodes: j.Nodes}
		switch m {
		case Wait:
			t.weight, t.constant = 1, -t.release
		case Slowdown:
			t.weight = 1 / max(t.length, float64(cmp.Or(tau, DefaultTau)))
			t.constant, t.least = (t.length-t.release)*t.weight, 1
		}
		tasks[i] = t
	}
	return tasks
}

// cost is what a start at that tick costs, where the measure is a sum.
func (t *task) cost(start float64) float64 { return max(t.least, t.weight*start+t.constant) }

// inSeconds is a cost in the units of the measure.
func inSeconds(cost float64, m Measure) float64 {
	if m == Slowdown {
		return cost
	}
	return cost / float64(des.Second)
}
