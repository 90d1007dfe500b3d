package reproduce

// Experiments that compare searches for one window in the same environments: META 6.1,
// DEP18's figures and table.

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// searches draws an environment for each cycle and lets every algorithm look for a window for one
// request.
type searches struct {
	Environment environment
	// Text is another environment, whose load is a variant: rows "load of the text".
	Text environment
	// Vary are the settings that are varied, one after the other. Without any there is one setup.
	Vary       []variation
	Algorithms []algorithm
	// Gantt says what of the experiment is also drawn as a chart, if it names algorithms.
	Gantt struct {
		Nodes, Wanted int      // of the environment, and of the request
		Algorithms    []string // by their names
	}
}

// variation is a setting that is varied: there is a setup for each value.
type variation struct {
	What   string // nodes, interval or nodes wanted
	Point  string // what a value is called, with %v for it
	Values []int
}

// apply gives the setting a value.
func (v variation) apply(e *environment, value int) {
	switch v.What {
	case "nodes":
		e.Nodes.Count = value
	case "interval":
		e.Units = value
	case "nodes wanted": // for as much money a node
		e.Request.Budget *= float64(value) / float64(e.Request.Nodes)
		e.Request.Nodes = value
	}
}

// setup is an environment, with the request that is made of it.
type setup struct {
	environment
	Sweep   string // what varies, where several things do
	Point   string // "" where there is one setup
	Variant string // see tableRow
	X       float64
}

// setups returns the environments by values, each also with the load of the text if there is one.
func (s searches) setups() (all []setup) {
	add := func(of setup) {
		if all = append(all, of); s.Text != (environment{}) {
			of.Variant, of.Load = "load of the text", s.Text.Load
			all = append(all, of)
		}
	}
	for _, v := range s.Vary {
		for _, value := range v.Values {
			of := setup{environment: s.Environment, Point: fmt.Sprintf(v.Point, value), X: float64(value)}
			if v.apply(&of.environment, value); len(s.Vary) > 1 {
				of.Sweep = v.What
			}
			add(of)
		}
	}
	if s.Vary == nil {
		add(setup{environment: s.Environment})
	}
	return all
}

func (s searches) facts() facts {
	return facts{"environment": s.Environment.Facts(), "text": s.Text.Facts()}
}

// algorithm is a search under the name that the table has for it.
type algorithm struct {
	Name   string
	Search finder
	// Only, if set, are the quantities of which it has rows.
	Only []string
	// Every, if above 1, is the number of cycles of which one asks the algorithm: it is slow.
	Every uint64
	// PerAlternative divides its time by the windows that it found.
	PerAlternative bool
	Own            bool // beyond the paper
}

// What is measured of a window.
const (
	start        = "start"
	runTime      = "runtime"        // from its start to its last task's end
	finish       = "finish"         // its last task's end
	cpu          = "processor time" // sum of its tasks' times (T_CPU)
	cost         = "cost"           // sum of price times reserved time
	worth        = "q"              // sum of its nodes' q
	leastGap     = "L min"          // mean over its slots of min(L_left, L_right), at most dep18Cap
	greatestGap  = "L max"          // mean over its slots of max(L_left, L_right)
	alternatives = "alternatives"   // windows that a repeated search chose among
	milliseconds = "ms"             // of the search; a measured time
	steps        = "steps"          // instants at which a subset was wanted
)

func (s searches) rows(p *page) (rows []tableRow) {
	setups := s.setups()
	for i, q := range p.Quantities {
		for _, a := range s.Algorithms {
			if !a.measures(q) {
				continue
			}
			for _, setup := range setups {
				rows = append(rows, p.published(tableRow{
					Series: a.Name, Variant: setup.Variant, Point: setup.Point, X: setup.X,
					Quantity: setup.quantity(q), Own: a.Own, Timing: q == milliseconds,
				}, i))
			}
		}
	}
	return rows
}

// quantity returns q's name in the table: with what varies behind it, if several settings do.
func (s setup) quantity(q string) string {
	if s.Sweep == "" {
		return q
	}
	return q + against + s.Sweep
}

// measures reports whether the algorithm has rows of a quantity.
func (a algorithm) measures(q string) bool { return len(a.Only) == 0 || slices.Contains(a.Only, q) }

// cycle draws each setup from the same streams, so that all algorithms search the same slots.
func (s searches) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	for _, setup := range s.setups() {
		in, err := setup.Generate(seed, cycle)
		if err != nil {
			return err
		}
		list := in.SlotList()
		for _, a := range s.Algorithms {
			if a.Every > 1 && cycle%a.Every != 0 {
				continue
			}
			name := varied(a.Name, setup.Variant)
			found, took, err := find(ctx, a.Search, setup.Request, list, see.has(name, setup.Point, setup.quantity(milliseconds)))
			if err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
			if a.PerAlternative {
				took /= time.Duration(max(found.Alternatives, 1))
			}
			for q, measure := range measures {
				if a.measures(q) && see.has(name, setup.Point, setup.quantity(q)) {
					see.at(name, setup.Point, setup.quantity(q), measure(found, list))
				}
			}
			see.at(name, setup.Point, setup.quantity(milliseconds), float64(took)/float64(time.Millisecond))
		}
	}
	return nil
}

// find searches once, or twice for a short time that is measured: the lesser of the two keeps out
// what else the machine does.
func find(ctx context.Context, f plan.Finder, r entity.Request, list plan.SlotList, timed bool) (found plan.Found, took time.Duration, err error) {
	took = math.MaxInt64
	for range 2 {
		began := time.Now()
		found, err = f.Find(ctx, r, list, list.To)
		took = min(took, time.Since(began))
		if !timed || took > time.Millisecond {
			break
		}
	}
	return found, took, err
}

// measures are the observations of a search, by quantity. If a search has found no window, all but
// the last two are NaN, which is no observation.
var measures = map[string]func(f plan.Found, list plan.SlotList) float64{
	start:   ofWindow(func(w entity.Window) float64 { return w.Start.Seconds() }),
	runTime: ofWindow(func(w entity.Window) float64 { return w.Length().Seconds() }),
	finish:  ofWindow(func(w entity.Window) float64 { return w.End.Seconds() }),
	cpu:     ofWindow(func(w entity.Window) float64 { return w.ProcessorTime().Seconds() }),
	cost:    ofWindow(func(w entity.Window) float64 { return w.Cost }),
	worth: ofWindow(func(w entity.Window) (sum float64) {
		for _, t := range w.Tasks {
			sum += t.Node.Q
		}
		return sum
	}),
	leastGap:     func(f plan.Found, list plan.SlotList) float64 { least, _ := distances(f, list.Slots); return least },
	greatestGap:  func(f plan.Found, list plan.SlotList) float64 { _, most := distances(f, list.Slots); return most },
	alternatives: func(f plan.Found, _ plan.SlotList) float64 { return float64(f.Alternatives) },
	steps:        func(f plan.Found, _ plan.SlotList) float64 { return float64(f.Work.Steps) },
}

// ofWindow returns a measure of the window that was found.
func ofWindow(measure func(entity.Window) float64) func(plan.Found, plan.SlotList) float64 {
	return func(f plan.Found, _ plan.SlotList) float64 {
		if !f.OK {
			return math.NaN()
		}
		return measure(f.Window)
	}
}

// distances returns the means over the slots of the window that was found of the lesser and of the
// greater distance to the neighbours in time (DEP18's L_min and L_max), in time units:
//
//	L_left = window start - slot start    L_right = slot end - window end
//
// The window lies in the slots. The lesser distance is cut at dep18Cap, as in the program that
// measured DEP18's table.
func distances(found plan.Found, slots []entity.Slot) (least, most float64) {
	if !found.OK {
		return math.NaN(), math.NaN()
	}
	w := found.Window
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
