package reproduce

// Experiments that compare searches for one window in the same environments:
// META 6.1, DEP18's figures and table.

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/enum"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/workload/vo"
)

// Search is an experiment that draws an environment a cycle and has every
// algorithm look for a window for one request.
type Search struct {
	ID, Heading, Source string
	Cycles              int // the published number
	Setups              []Setup
	XLabel              string // what Setup.X is, where one thing varies
	Quantities          []Quantity
	Algorithms          []Algorithm
	Settings            []Setting
	Remarks, Notes      []string
	Claims              []Claim
	// Serial runs one cycle at a time, because Milliseconds is among the
	// quantities.
	Serial bool
	// Gantt, if it has algorithms, is a chart that Save draws besides.
	Gantt Gantt

	paper, code published
}

// Setup is an environment and what is asked of it.
type Setup struct {
	Sweep       string // what varies, where several things do
	Point       string // "" where there is one setup
	Variant     string // see Row
	X           float64
	Environment vo.Environment
	Request     entity.Request
}

// Algorithm is a search under the name that the table has for it.
type Algorithm struct {
	Name   string
	Finder plan.Finder
	// Only, if set, are the quantities that it is asked for.
	Only []Quantity
	// Every, if above 1, asks it only in every so many cycles: it is slow.
	Every uint64
	// PerAlternative divides its time by the windows that it found.
	PerAlternative bool
	Own            bool // beyond the paper
}

// Quantity is what is measured of a window.
type Quantity uint8

const (
	Start        Quantity = iota // of the window
	Runtime                      // from its start to its last task's end
	Finish                       // its last task's end
	CPU                          // sum of its tasks' times (T_CPU)
	Cost                         // sum of price times reserved time
	Worth                        // sum of its nodes' q
	LMin                         // mean over its slots of min(L_left, L_right), at most MaxDistance
	LMax                         // mean over its slots of max(L_left, L_right)
	Alternatives                 // windows that a repeated search chose among
	Milliseconds                 // of the search; a measured time
	Steps                        // instants at which a subset was wanted
)

var quantityNames = enum.Of[Quantity]("quantity",
	"start", "runtime", "finish", "processor time", "cost", "q", "L min", "L max",
	"alternatives", "ms", "steps",
)

func (q Quantity) String() string { return quantityNames.Name(q) }

// dep18Cap is what DEP18's program counts at most for one slot's distance.
const dep18Cap = 500 * des.Second

// Name implements Experiment.
func (s Search) Name() string { return s.ID }

// Title implements Experiment.
func (s Search) Title() string { return s.Heading }

// Run implements Experiment.
func (s Search) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{Name: s.ID, Title: s.Heading, Source: s.Source, Settings: s.Settings, Remarks: s.Remarks, Notes: s.Notes, XLabel: s.XLabel}
	st := study{of: s, cycles: s.Cycles, serial: s.Serial, rows: s.rows(), claims: s.Claims, cycle: s.cycle}
	err := st.run(ctx, c, &t)
	return t, err
}

func (s Search) rows() []Row {
	var rows []Row
	for i, q := range s.Quantities {
		for _, a := range s.Algorithms {
			if !a.measures(q) {
				continue
			}
			for _, setup := range s.Setups {
				row := Row{Series: a.Name, Variant: setup.Variant, Point: setup.Point, X: setup.X, Quantity: setup.quantity(q), Own: a.Own, Timing: q == Milliseconds}
				name := row.label()
				row.Paper, row.Code = s.paper.at(name, i), s.code.at(name, i)
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// quantity is q's name in the table.
func (s Setup) quantity(q Quantity) string {
	if s.Sweep == "" {
		return q.String()
	}
	return q.String() + against + s.Sweep
}

func (a Algorithm) measures(q Quantity) bool {
	for _, only := range a.Only {
		if only == q {
			return true
		}
	}
	return len(a.Only) == 0
}

func (s Search) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	for _, setup := range s.Setups {
		in, err := setup.Environment.Generate(seed, cycle)
		if err != nil {
			return err
		}
		list := in.SlotList()
		for _, a := range s.Algorithms {
			if a.Every > 1 && cycle%a.Every != 0 {
				continue
			}
			found, took, err := s.find(ctx, a.Finder, setup.Request, list)
			if err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
			if a.PerAlternative {
				took /= time.Duration(max(found.Alternatives, 1))
			}
			for _, q := range s.Quantities {
				if a.measures(q) {
					see.at(varied(a.Name, setup.Variant), setup.Point, setup.quantity(q), measure(q, found, list, took))
				}
			}
		}
	}
	return nil
}

// find searches. Where time is measured and short it is the lesser of two, which
// keeps out what else the machine does.
func (s Search) find(ctx context.Context, f plan.Finder, r entity.Request, list plan.SlotList) (found plan.Found, took time.Duration, err error) {
	took = math.MaxInt64
	for range 2 {
		began := time.Now()
		found, err = f.Find(ctx, r, list, list.To)
		took = min(took, time.Since(began))
		if !s.Serial || took > time.Millisecond {
			break
		}
	}
	return found, took, err
}

// measure is NaN for what a search without a window does not have.
func measure(q Quantity, found plan.Found, list plan.SlotList, took time.Duration) float64 {
	w := found.Window
	switch q {
	case Milliseconds:
		return float64(took) / float64(time.Millisecond)
	case Steps:
		return float64(found.Work.Steps)
	case Alternatives:
		return float64(found.Alternatives)
	}
	if !found.OK {
		return math.NaN()
	}
	switch q {
	case Start:
		return w.Start.Seconds()
	case Runtime:
		return w.Length().Seconds()
	case Finish:
		return w.End.Seconds()
	case CPU:
		return w.ProcessorTime().Seconds()
	case Cost:
		return w.Cost
	case Worth:
		sum := 0.0
		for _, t := range w.Tasks {
			sum += t.Node.Q
		}
		return sum
	}
	least, most := distances(w, list.Slots)
	if q == LMin {
		return least
	}
	return most
}

// distances are the means over the slots of w, which lies in them, of the lesser
// and of the greater distance to the neighbours in time, in time units. The
// lesser is cut at dep18Cap, as in the program that measured DEP18's table.
func distances(w entity.Window, slots []entity.Slot) (least, most float64) {
	for i := range slots {
		s := &slots[i]
		if s.Start > w.Start {
			break
		}
		if s.End < w.End {
			continue
		}
		for _, t := range w.Tasks {
			if t.Node == s.Node {
				left, right := w.Start-s.Start, s.End-w.End
				least += min(left, right, dep18Cap).Seconds()
				most += max(left, right).Seconds()
			}
		}
	}
	n := float64(len(w.Tasks))
	return least / n, most / n
}
