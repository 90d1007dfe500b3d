// The papers' algorithms written down step by step, as they are printed, and held
// against the searches of their names: the same window to the last bit.

package window

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// member is a slot in the window list of a scan, for a task of that length.
type member struct {
	slot   entity.Slot
	place  int // in the slot list
	length des.Time
	cost   float64
}

// problem is what a transcription is asked.
type problem struct {
	set   Settings
	req   entity.Request
	list  []entity.Slot
	until des.Time
}

// scan is AMP11's walk along the slot list: (1) the next slot; (2) leave it out
// if its node does not suit or a task has no room; (3) add it, with its start as
// the window's, and take out those that have no room from there on; (4) tell step
// of the window list, until that wants no more.
func (p *problem) scan(length func(n *entity.Node) des.Time, suits func(m member) bool, step func(start des.Time, open []member) (done bool)) {
	var open []member
	for i, slot := range p.list {
		if slot.Start > p.until {
			return
		}
		m := member{slot: slot, place: i, length: length(slot.Node)}
		m.slot.End = min(slot.End, p.req.DeadlineLimit())
		m.cost = p.tariff().cost(slot.Node.Price, m.length)
		if !p.req.Admits(slot.Node) || slot.Start+m.length > m.slot.End || !suits(m) {
			continue
		}
		open = append(open, m)
		open = slices.DeleteFunc(open, func(m member) bool { return slot.Start+m.length > m.slot.End })
		if step(slot.Start, open) {
			return
		}
	}
}

func (p *problem) tariff() tariff { return p.set.tariff(p.req.BudgetLimit()) }

func (p *problem) own(n *entity.Node) des.Time { return p.set.taskTime(n, p.req.Length) }

func (p *problem) affordable(m member) bool { return m.cost <= p.tariff().limit }

func sum(members []member) (cost float64) {
	for _, m := range members {
		cost += m.cost
	}
	return cost
}

// byCost sorts the window list; of equal cost, the slot that came first.
func byCost(open []member) []member {
	open = slices.Clone(open)
	slices.SortStableFunc(open, func(a, b member) int {
		switch {
		case a.cost < b.cost:
			return -1
		case a.cost > b.cost:
			return 1
		}
		return 0
	})
	return open
}

// cheapestOf are the n cheapest of the window list, if the budget allows them.
func (p *problem) cheapestOf(open []member) ([]member, bool) {
	if len(open) < p.req.Nodes {
		return nil, false
	}
	chosen := byCost(open)[:p.req.Nodes]
	return chosen, sum(chosen) <= p.tariff().limit
}

// windowOf is the window of the chosen slots at start, in the order of the list.
func windowOf(start des.Time, chosen []member) entity.Window {
	chosen = slices.Clone(chosen)
	slices.SortFunc(chosen, func(a, b member) int { return a.place - b.place })
	w := entity.Window{Start: start, Nodes: len(chosen)}
	for _, m := range chosen {
		w.Tasks = append(w.Tasks, entity.Task{Node: m.slot.Node, End: start + m.length})
		w.End = max(w.End, start+m.length)
	}
	return w
}

func alp(p problem) (w entity.Window, ok bool) {
	p.scan(p.own, func(member) bool { return true }, func(start des.Time, open []member) bool {
		if ok = len(open) == p.req.Nodes; ok {
			w = windowOf(start, open)
		}
		return ok
	})
	return w, ok
}

func amp(p problem) (w entity.Window, ok bool) {
	p.scan(p.own, p.affordable, func(start des.Time, open []member) bool {
		var chosen []member
		if chosen, ok = p.cheapestOf(open); ok {
			w = windowOf(start, chosen)
		}
		return ok
	})
	return w, ok
}

// aep is META's algorithm 1: the scan to the end, the extreme kept.
func aep(p problem, choose func(open []member) ([]member, bool), criterion func(w entity.Window) float64) (best entity.Window, ok bool) {
	least := 0.0
	p.scan(p.own, p.affordable, func(start des.Time, open []member) bool {
		if chosen, affordable := choose(open); affordable {
			w := windowOf(start, chosen)
			for _, m := range chosen {
				w.Cost += m.cost
			}
			if c := criterion(w); !ok || c < least {
				best, least, ok = w, c, true
			}
		}
		return false
	})
	return best, ok
}

// substituted is META's algorithm 2: the cheapest spare slots, one after the
// other, take the place of the longest task if they are shorter and the budget
// holds.
func (p *problem) substituted(open []member) ([]member, bool) {
	chosen, ok := p.cheapestOf(open)
	if !ok {
		return nil, false
	}
	cost := sum(chosen)
	for _, spare := range byCost(open)[p.req.Nodes:] {
		longest := 0
		for i := range chosen {
			if chosen[i].length > chosen[longest].length {
				longest = i
			}
		}
		after := cost - chosen[longest].cost + spare.cost
		if spare.length < chosen[longest].length && after <= p.tariff().limit {
			chosen[longest], cost = spare, after
		}
	}
	return chosen, true
}

// square is DEP18's search: for each task time L, the shortest first, the scan
// over the nodes that are fast enough; at every slot that is added (3c) the n
// cheapest, one of which needs L.
func square(p problem, criterion func(start, end des.Time, chosen []member) float64) (best entity.Window, ok bool) {
	var lengths []des.Time
	for _, s := range p.list {
		lengths = append(lengths, p.own(s.Node))
	}
	slices.Sort(lengths)
	least := 0.0
	for _, length := range slices.Compact(lengths) {
		fast := func(m member) bool { return p.own(m.slot.Node) <= length && p.affordable(m) }
		p.scan(func(*entity.Node) des.Time { return length }, fast, func(start des.Time, open []member) bool {
			chosen, affordable := p.cheapestOf(open)
			if !affordable || !slices.ContainsFunc(chosen, func(m member) bool { return p.own(m.slot.Node) == length }) {
				return false
			}
			c := criterion(start, start+length, chosen)
			if !ok || c < least || (c == least && start < best.Start) {
				best, least, ok = windowOf(start, chosen), c, true
			}
			return false
		})
	}
	return best, ok
}

func (p *problem) worthOf(by Criterion) func(start, end des.Time, chosen []member) float64 {
	by = withDefaults(by, p.set, 0)
	return func(start, end des.Time, chosen []member) float64 {
		worth := 0.0
		for _, m := range chosen {
			whole := p.list[slices.IndexFunc(p.list, func(s entity.Slot) bool { return s.Node == m.slot.Node && s.Start == m.slot.Start })]
			worth += by.Value(&whole, start, end)
		}
		return -worth
	}
}

// repeated finds windows and cuts them out until there are none, and returns the
// one of the least criterion.
func repeated(t *testing.T, p problem, find func(problem) (entity.Window, bool), criterion func(w entity.Window) float64) (best entity.Window, ok bool) {
	p.list = slices.Clone(p.list)
	least := 0.0
	for {
		w, found := find(p)
		if !found {
			return best, ok
		}
		if c := criterion(w); !ok || c < least {
			best, least, ok = w, c, true
		}
		var err error
		p.list, err = Subtract(p.list, &w)
		require.NoError(t, err)
	}
}

func firstFitOf(p problem) (entity.Window, bool) {
	return square(p, func(start, _ des.Time, _ []member) float64 { return float64(start) })
}

func length(w entity.Window) float64 { return float64(w.Length()) }
func finish(w entity.Window) float64 { return float64(w.End) }

func costs(w entity.Window) float64 {
	cost := 0.0
	for _, task := range w.Tasks {
		cost += realCost(task.Node.Price, task.End-w.Start)
	}
	return cost
}

// mediumProblem has more slots than smallProblem, and as many ties.
func mediumProblem(rng *rand.Rand) (Settings, entity.Request, plan.SlotList, des.Time) {
	list := plan.SlotList{To: 200 * des.Second}
	for id := range 10 + rng.IntN(20) {
		perf := float64(2 + rng.IntN(9))
		node := &entity.Node{ID: id, Perf: perf, Price: perf * (0.5 + rng.Float64()), Q: 10 * rng.Float64()}
		for at := rng.IntN(30); at < 200; {
			to := min(at+5+rng.IntN(90), 200)
			list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, Start: des.Time(at/10) * 10 * des.Second, End: des.Time(to) * des.Second})
			at = to + 10 + rng.IntN(40)
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	req := entity.Request{Nodes: 1 + rng.IntN(6), Length: des.Time(20+rng.IntN(200)) * des.Second}
	req.Budget = float64(req.Nodes) * req.Length.Seconds() * (0.7 + rng.Float64())
	return Settings{Quantum: des.Second, MaxDistance: 50 * des.Second}, req, list, des.Forever
}

func TestSearchesUnderThePapersNamesAreTheirPseudoCode(t *testing.T) {
	rough := map[string]func(problem) (entity.Window, bool){
		"alp": alp,
		"amp": amp,
		"min-cost": func(p problem) (entity.Window, bool) {
			return aep(p, p.cheapestOf, func(w entity.Window) float64 { return w.Cost })
		},
		"min-runtime": func(p problem) (entity.Window, bool) { return aep(p, p.substituted, length) },
		"min-finish":  func(p problem) (entity.Window, bool) { return aep(p, p.substituted, finish) },
		"min-proctime": func(p problem) (entity.Window, bool) {
			return aep(p, p.cheapestOf, func(w entity.Window) float64 { return float64(w.ProcessorTime()) })
		},
		"csa":             func(p problem) (entity.Window, bool) { return repeated(t, p, amp, costs) },
		"csa-min-runtime": func(p problem) (entity.Window, bool) { return repeated(t, p, amp, length) },
	}
	squares := map[string]func(problem) (entity.Window, bool){
		"first-fit": firstFitOf,
		"min-finish": func(p problem) (entity.Window, bool) {
			return square(p, func(_, end des.Time, _ []member) float64 { return float64(end) })
		},
		"min-runtime": func(p problem) (entity.Window, bool) {
			return square(p, func(start, end des.Time, _ []member) float64 { return float64(end - start) })
		},
		"min-cost": func(p problem) (entity.Window, bool) {
			return square(p, func(_, _ des.Time, chosen []member) float64 { return sum(chosen) })
		},
	}
	for _, by := range []Criterion{Q{}, DEP{}, COORD{}} {
		squares[Cheapest{Goal: MostWorth, By: by}.Name()] = func(p problem) (entity.Window, bool) { return square(p, p.worthOf(by)) }
		squares[MultipleBest{By: by}.Name()] = func(p problem) (entity.Window, bool) {
			return repeated(t, p, firstFitOf, func(w entity.Window) float64 { return -worthIn(p.list, withDefaults(by, p.set, 0), &w) })
		}
	}
	for seed := range uint64(2000) {
		draw := smallProblem
		if seed%40 == 0 {
			draw = mediumProblem
		}
		set, req, list, until := draw(rand.New(rand.NewPCG(seed, 21)))
		for kind, table := range map[Kind]map[string]func(problem) (entity.Window, bool){Rough: rough, Square: squares} {
			for name, transcribed := range table {
				p := problem{set, req, list.Slots, until}
				if name == "alp" {
					if req.MaxPrice == 0 {
						continue // it would make a price of the budget
					}
					p.req.Budget = 0
				}
				f, err := ByName(kind, name, set)
				require.NoError(t, err)
				found, err := f.Find(context.Background(), req, list, until)
				require.NoError(t, err)
				want, ok := transcribed(p)
				where := fmt.Sprintf("seed %d, %s %s", seed, kind, name)
				require.Equal(t, ok, found.OK, where)
				if !ok {
					continue
				}
				require.Equal(t, want.Start, found.Window.Start, where)
				require.Equal(t, want.End, found.Window.End, where)
				require.Equal(t, want.Tasks, found.Window.Tasks, where)
			}
		}
	}
}
