// Window searches written as JSON, and their answers: what `gridslot window` reads and prints.

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/policy/window"
)

// windowProblem is one window search: a slot list and a request. Times are in time units, which are
// simulated as seconds. Unknown keys are ignored.
type windowProblem struct {
	// The number of the problem in answers; the place in the file, from 0, where it is absent.
	ID   *int        `json:"id"`
	Kind window.Kind `json:"kind"`
	// The first and the last instant of the slot list.
	Horizon [2]float64 `json:"horizon"`
	// Limits that are absent limit nothing; others are above 0.
	Request struct {
		// How many nodes, all different, the window needs.
		Nodes int `json:"nodes"`
		// The time of a task on a node of performance 1.
		Volume  float64 `json:"volume"`
		MinPerf float64 `json:"minPerf"`
		// Of a node for a time unit, and of the whole window.
		MaxPrice *float64 `json:"maxPrice"`
		Budget   *float64 `json:"budget"`
		Deadline *float64 `json:"deadline"`
		// The latest start; the deadline is the latest end.
		Until *float64 `json:"until"`
		windowAttributes
	} `json:"request"`
	Nodes []struct {
		ID    int     `json:"id"`
		Perf  float64 `json:"perf"`
		Price float64 `json:"price"`
		Q     float64 `json:"q"`
		windowAttributes
	} `json:"nodes"`
	// When nodes are free: node, start, end, by start.
	Slots [][3]float64 `json:"slots"`
}

// windowAttributes are the attributes of a node, or those that a request asks for; see
// entity.Attributes.
type windowAttributes struct {
	Amounts map[string]float64 `json:"amounts"`
	Labels  map[string]string  `json:"labels"`
}

// windowAnswer is the answer to a problem. Value is the sum over the slots for q, dep and coord
// (for dep and coord, of distances), otherwise the criterion itself. Without a window all figures
// are 0. Times are in time units.
type windowAnswer struct {
	ID        int     `json:"id"`
	Algorithm string  `json:"algorithm"`
	Found     bool    `json:"found"`
	Start     float64 `json:"start"`
	Length    float64 `json:"length"`
	Cost      float64 `json:"cost"`
	Value     float64 `json:"value"`
	// The window: node, start, end, by node.
	Slots [][3]float64 `json:"slots"`
	// How many windows csa and multiple-best have chosen among.
	Alternatives int `json:"alternatives,omitempty"`
	// Why a problem was left out whose kind of window the search does not know.
	Skipped string `json:"skipped,omitempty"`
}

// readWindowProblems reads one problem, or {"instances": [...]}. Every problem has an ID then.
func readWindowProblems(text []byte) ([]windowProblem, error) {
	var file struct {
		Instances []json.RawMessage `json:"instances"`
	}
	if err := decodeProblem(text, &file); err != nil {
		return nil, err
	}
	// The file is read twice: which of both it is shows in whether there is a list.
	problems := make([]windowProblem, 1)
	var err error
	if file.Instances != nil {
		problems = nil
		err = decodeProblem(text, &struct {
			Instances *[]windowProblem `json:"instances"`
		}{&problems})
	} else {
		err = decodeProblem(text, &problems[0])
	}
	for i := range problems {
		if problems[i].ID == nil {
			problems[i].ID = &i
		}
	}
	return problems, err
}

// decodeProblem reads JSON. What is wrong with it is bad input, as of any problem.
func decodeProblem(text []byte, into any) error {
	if err := jsontext.Decode(text, into); err != nil {
		return plan.BadInput("not a window problem: %v", err)
	}
	return nil
}

// units converts time units to ticks. what names the quantity for an error, about a time that is no
// number or beyond the last one.
func units(what string, t float64) (des.Time, error) {
	if ticks := des.Seconds(t); !math.IsNaN(t) && ticks < des.Forever && ticks > -des.Forever {
		return ticks, nil
	}
	return 0, plan.BadInput("%s is %v, which is no time", what, t)
}

// limit returns the value of an optional limit, which must be positive if it is given; 0 means no
// limit.
func limit(what string, v *float64) (float64, error) {
	switch {
	case v == nil:
		return 0, nil
	case !(*v > 0) || math.IsInf(*v, 1):
		return 0, plan.BadInput("the %s is %v; give a positive number, or leave it out for no limit", what, *v)
	}
	return *v, nil
}

// list makes the slot list of p and checks it: nodes are there once, slots are on nodes, and in
// order. Each slot is one processor wide.
func (p *windowProblem) list() (plan.SlotList, error) {
	var list plan.SlotList
	var err error
	if list.From, err = units("the horizon's start", p.Horizon[0]); err != nil {
		return list, err
	}
	if list.To, err = units("the horizon's end", p.Horizon[1]); err != nil {
		return list, err
	}
	if list.To <= list.From {
		return list, plan.BadInput("the horizon [%v, %v] is empty", p.Horizon[0], p.Horizon[1])
	}
	// By the number as slots have it, so that 1.5 is no node.
	nodes := make(map[float64]*entity.Node, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		node := &entity.Node{ID: n.ID, Perf: n.Perf, Price: n.Price, Q: n.Q, Attributes: entity.Attributes(n.windowAttributes)}
		if err := node.Check(); err != nil {
			return list, plan.BadInput("%v", err)
		}
		if nodes[float64(n.ID)] != nil {
			return list, plan.BadInput("two nodes have the id %d", n.ID)
		}
		nodes[float64(n.ID)] = node
	}
	list.Slots = make([]entity.Slot, len(p.Slots))
	for i, s := range p.Slots {
		slot := entity.Slot{Node: nodes[s[0]], Width: 1}
		if slot.Node == nil {
			return list, plan.BadInput("slot %d is on node %v, which is not listed", i, s[0])
		}
		if slot.Start, err = units(fmt.Sprintf("slot %d's start", i), s[1]); err != nil {
			return list, err
		}
		if slot.End, err = units(fmt.Sprintf("slot %d's end", i), s[2]); err != nil {
			return list, err
		}
		list.Slots[i] = slot
	}
	return list, window.CheckSlots(list)
}

// request makes the request of p, and returns the latest start, des.Forever where there is none.
func (p *windowProblem) request() (req entity.Request, until des.Time, err error) {
	r := &p.Request
	req = entity.Request{Nodes: r.Nodes, MinPerf: r.MinPerf}
	until = des.Forever
	if req.Length, err = units("the volume", r.Volume); err != nil {
		return req, until, err
	}
	if req.Length <= 0 {
		return req, until, plan.BadInput("the volume is %v; it must be positive", r.Volume)
	}
	if req.Budget, err = limit("budget", r.Budget); err != nil {
		return req, until, err
	}
	if req.MaxPrice, err = limit("maximal price", r.MaxPrice); err != nil {
		return req, until, err
	}
	deadline, err := limit("deadline", r.Deadline)
	if err != nil {
		return req, until, err
	}
	if req.Deadline, err = units("the deadline", deadline); err != nil {
		return req, until, err
	}
	if r.Until != nil {
		if until, err = units("the latest start", *r.Until); err != nil {
			return req, until, err
		}
	}
	if len(r.Amounts)+len(r.Labels) > 0 {
		needs := entity.Attributes(r.windowAttributes)
		req.Needs = &needs
	}
	return req, until, nil
}

// solve answers p with the named search. Its error is a *plan.BadInputError for input that makes no
// sense, or that of a context that ended. A problem without a window is an answer with Found false.
func (p *windowProblem) solve(ctx context.Context, algorithm string, set window.Settings) (windowAnswer, error) {
	answer := windowAnswer{ID: *p.ID, Algorithm: algorithm, Slots: [][3]float64{}}
	finder, err := window.ByName(p.Kind, algorithm, set)
	if err != nil {
		return answer, err
	}
	req, until, err := p.request()
	if err != nil {
		return answer, err
	}
	list, err := p.list()
	if err != nil {
		return answer, err
	}
	found, err := finder.Find(ctx, req, list, until)
	if err != nil || !found.OK {
		return answer, err
	}
	w := &found.Window
	answer.Found, answer.Alternatives = true, found.Alternatives
	answer.Start, answer.Length = w.Start.Seconds(), w.Length().Seconds()
	answer.Cost, answer.Value = w.Cost, w.Value
	for _, t := range w.Tasks {
		answer.Slots = append(answer.Slots, [3]float64{float64(t.Node.ID), w.Start.Seconds(), t.End.Seconds()})
	}
	slices.SortFunc(answer.Slots, func(a, b [3]float64) int { return int(a[0]) - int(b[0]) })
	return answer, nil
}
