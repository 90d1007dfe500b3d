package reproduce

// The authors' work of 2021 and 2023 on nodes that are free with some probability: which n
// nodes, within a budget, are most likely free together.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// availability draws nodes for each cycle, each with a slot for the whole interval, and lets every
// algorithm choose among them within each budget.
type availability struct {
	// Nodes is the number of nodes, and Wanted the number of nodes of a choice.
	Nodes, Wanted int
	// Groups is the number of groups whose nodes are free or taken together; 0 means that every
	// node is by itself.
	Groups   int
	Interval float64
	// Deviation is the standard deviation of the normal draw by which a node is taken: with the
	// probability |normal(0, Deviation)|, at most 1.
	Deviation    float64
	Speed, Price vo.Range
	SpeedFactor  vo.Range // factors of Speed and Price: normal with mean 1, cut to these
	PriceFactor  vo.Range
	WholePrices  bool
	Budgets      []float64 // 0: none
	// Counts, if set, are numbers of nodes wanted that are compared besides, without a budget.
	Counts     []int
	Algorithms []algorithm
}

const (
	probability = "availability" // that all nodes of the choice are free
	notFound    = "not found"    // share of the cycles without a choice
	ofNodes     = against + "nodes wanted"
)

// budgetPoint names a budget in tables; 0 is none.
func budgetPoint(budget float64) string {
	if budget == 0 {
		return "no budget"
	}
	return "budget " + strconv.FormatFloat(budget, 'f', -1, 64)
}

func (a availability) rows(p *page) (rows []tableRow) {
	for i, q := range p.Quantities {
		for _, alg := range a.Algorithms {
			for _, budget := range a.Budgets {
				rows = append(rows, p.published(tableRow{Series: alg.Name, Point: budgetPoint(budget), X: budget, Quantity: q, Own: alg.Own}, i))
			}
		}
	}
	for _, alg := range a.Algorithms {
		for _, n := range a.Counts {
			rows = append(rows, tableRow{Series: alg.Name, Point: fmt.Sprintf("%d wanted", n), X: float64(n), Quantity: probability + ofNodes, Own: true})
		}
	}
	return rows
}

// cycle draws the nodes once, and compares the algorithms within each budget and for each number of
// nodes.
func (a availability) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	list := a.draw(des.NewStream(seed, cycle, "availability.nodes"))
	for _, budget := range a.Budgets {
		if err := a.compare(ctx, list, a.Wanted, budget, budgetPoint(budget), see); err != nil {
			return err
		}
	}
	for _, n := range a.Counts {
		if err := a.compare(ctx, list, n, 0, fmt.Sprintf("%d wanted", n), see); err != nil {
			return err
		}
	}
	return nil
}

// compare lets all algorithms choose. Like the authors' programs it takes means over the cycles in
// which all of them find a choice.
func (a availability) compare(ctx context.Context, list plan.SlotList, n int, budget float64, point string, see sight) error {
	req := entity.Request{Nodes: n, Length: list.To, Budget: budget}
	found := make([]plan.Found, len(a.Algorithms))
	all := true
	for i, alg := range a.Algorithms {
		r := req
		if alg.Every > 0 { // it does not look at the budget
			r.Budget = 0
		}
		var err error
		if found[i], err = alg.Search.Find(ctx, r, list, list.To); err != nil {
			return fmt.Errorf("%s: %w", alg.Name, err)
		}
		all = all && found[i].OK
		see.at(alg.Name, point, notFound, oneIf(!found[i].OK))
	}
	for i, alg := range a.Algorithms {
		if all {
			p := jointly(&found[i].Window)
			see.at(alg.Name, point, probability, p)
			see.at(alg.Name, point, probability+ofNodes, p)
			see.at(alg.Name, point, cost, found[i].Window.Cost)
		}
	}
	return nil
}

// jointly returns the probability that all nodes of a window are free. Nodes of one group are free
// together, so that each group counts once.
func jointly(w *entity.Window) float64 {
	p, met := 1.0, map[string]bool{}
	for _, t := range w.Tasks {
		if group, grouped := t.Node.Labels[window.NodeGroup]; grouped {
			if met[group] {
				continue
			}
			met[group] = true
		}
		p *= t.Node.Amounts[window.NodeAvailability]
	}
	return p
}

// draw makes the nodes as the authors' program does. A hardware index, uniform on [0, 1), decides
// about speed and price, each with a factor of its own; the price also rises with the speed:
//
//	speed = ceil(speed.min + (speed.max - speed.min) index factor)
//	price = (price.min + (price.max - price.min) index factor) exp(0.05 (speed - 1))
//
// Products are converted before they are added, or some processors would fuse the two.
func (a availability) draw(r *rand.Rand) plan.SlotList {
	list := plan.SlotList{To: des.Seconds(a.Interval)}
	grouped := make([]float64, a.Groups) // the availability of the last node of the group
	label := make([]int, a.Nodes)
	for id := range a.Nodes {
		index := r.Float64()
		speed := math.Ceil(a.Speed.Min + float64((a.Speed.Max-a.Speed.Min)*index*aroundOne(r, a.SpeedFactor)))
		price := a.Price.Min + float64((a.Price.Max-a.Price.Min)*index*aroundOne(r, a.PriceFactor))
		if price *= math.Exp(0.05 * (speed - 1)); a.WholePrices {
			price = math.Round(price)
		}
		free := 1 - min(math.Abs(a.Deviation*r.NormFloat64()), 1)
		// All nodes take the whole interval: the speed has decided the price alone.
		node := &entity.Node{ID: id, Perf: 1, Price: price}
		node.Amounts = map[string]float64{window.NodeAvailability: free}
		// Nodes of a group have the availability of its last one, as in the authors' program.
		if a.Groups > 0 {
			if label[id] = id; id >= a.Groups { // each group has a node at least
				label[id] = r.IntN(a.Groups)
			}
			grouped[label[id]] = free
			node.Labels = map[string]string{window.NodeGroup: strconv.Itoa(label[id])}
		}
		list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, End: list.To})
	}
	if a.Groups > 0 {
		for id := range list.Slots {
			list.Slots[id].Node.Amounts[window.NodeAvailability] = grouped[label[id]]
		}
	}
	return list
}

// aroundOne draws from the normal distribution of mean 1 and redraws outside the range. The
// deviation is a third of the longer side.
func aroundOne(r *rand.Rand, cut vo.Range) float64 {
	for {
		x := 1 + float64(max(1-cut.Min, cut.Max-1)/3*r.NormFloat64())
		if x >= cut.Min && x <= cut.Max {
			return x
		}
	}
}
