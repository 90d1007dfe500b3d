package optimal

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
)

// Measure is the quantity that a best schedule minimises.
type Measure uint8

const (
	Wait     Measure = iota // the sum of waits, in seconds
	Makespan                // from the first submission to the last end, in seconds
	// Slowdown is the sum of bounded slowdowns, max(1, (wait + length) / max(length, tau)). The shape
	// in which a moldable job runs gives its length, as in metrics.Recorder. So a longer shape has
	// the smaller slowdown after the same wait.
	Slowdown
)

var measures = enum.Of[Measure]("what is to be least", "wait", "makespan", "slowdown")

func (m Measure) String() string { return measures.Name(m) }

// ParseMeasure reads "wait", "makespan" or "slowdown".
func ParseMeasure(s string) (Measure, error) { return measures.Parse(s) }

// DefaultTau is the length below which slowdowns are bounded, if no other is given.
const DefaultTau = 10 * des.Second

// mode is a shape of a job in ticks, with what a measure makes of a start in it. Whole ticks are
// whole numbers, with which float64 reckons exactly up to 2^53.
// Invariant: its cost at any start is at least weight * start + constant.
type mode struct {
	length   float64 // ticks
	nodes    int
	weight   float64 // what a tick of delay costs; 0 for the makespan
	constant float64 // the cost at start 0, before least
	least    float64 // the cost is never below it: 1 for slowdowns
}

// cost returns the cost of a start at that tick, if the measure is a sum.
func (m *mode) cost(start float64) float64 { return max(m.least, m.weight*start+m.constant) }

// shape returns the mode as a shape of a job.
func (m *mode) shape() Shape { return Shape{des.Time(m.length), m.nodes} }

// area returns the processor time that the mode takes, in ticks.
func (m *mode) area() float64 { return m.length * float64(m.nodes) }

// beats reports whether n is of no use beside m: a start in m at the same instant takes no more and
// costs no more. A slowdown of a longer shape has a smaller weight, and then neither beats the
// other.
func (m *mode) beats(n *mode) bool {
	return m.nodes <= n.nodes && m.length <= n.length && m.weight <= n.weight
}

// task is a job in ticks after the first submission.
type task struct {
	release float64
	modes   []mode // of which none beats another; a rigid job has one
	// narrow stands for all modes where the machine is relaxed. It does the least area of all modes on
	// the fewest nodes of all. Whatever mode starts at an instant has done as much by narrow.length
	// later, and costs no less than weight * start + constant. That of a rigid job is its mode.
	narrow mode
	work   float64 // the least area
	short  float64 // the least length
}

// relax sets what stands for all modes.
func (t *task) relax() {
	t.narrow, t.work, t.short = t.modes[0], t.modes[0].area(), t.modes[0].length
	if len(t.modes) == 1 {
		return
	}
	n, least := &t.narrow, math.Inf(1) // least: of the costs at the release, without their least
	for i := range t.modes {
		m := &t.modes[i]
		n.nodes, n.weight = min(n.nodes, m.nodes), min(n.weight, m.weight)
		least = min(least, m.weight*t.release+m.constant)
		t.work, t.short = min(t.work, m.area()), min(t.short, m.length)
	}
	n.length, n.constant = t.work/float64(n.nodes), least-n.weight*t.release // so that it costs the least at the release
}

// tasksOf returns the jobs as a measure sees them on that many processors. A schedule costs the sum of
// its tasks' costs, and the largest of them where the measure is the makespan.
func tasksOf(jobs []Job, processors int, m Measure, tau des.Time) []task {
	first, shapes := des.Forever, 0
	for i := range jobs {
		first = min(first, jobs[i].Submit)
		shapes += 1 + len(jobs[i].Shapes)
	}
	tasks, all := make([]task, len(jobs)), make([]mode, 0, shapes)
	for i := range jobs {
		t := &tasks[i]
		t.release = float64(jobs[i].Submit - first)
		from := len(all)
		for s := range jobs[i].all() {
			if s.Nodes > processors {
				continue
			}
			o := mode{length: float64(s.Length), nodes: s.Nodes}
			switch m { // the cost as weight · start + constant
			case Wait: // start - release
				o.weight, o.constant = 1, -t.release
			case Slowdown: // (start - release + length) / max(length, tau)
				o.weight = 1 / max(o.length, float64(cmp.Or(tau, DefaultTau)))
				o.constant, o.least = (o.length-t.release)*o.weight, 1
			}
			// Of equal modes the first stays. What the new one beats goes.
			if !slices.ContainsFunc(all[from:], func(p mode) bool { return p.beats(&o) }) {
				kept := slices.DeleteFunc(all[from:], func(p mode) bool { return o.beats(&p) })
				all = append(all[:from+len(kept)], o)
			}
		}
		t.modes = all[from:len(all):len(all)]
		t.relax()
	}
	return tasks
}

// inSeconds returns a cost in the units of the measure.
func inSeconds(cost float64, m Measure) float64 {
	if m == Slowdown {
		return cost
	}
	return cost / float64(des.Second)
}
