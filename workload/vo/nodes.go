// Nodes: performance, price, value.

package vo

import (
	"cmp"
	"errors"
	"math"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/workload/model"
)

// Nodes generates the nodes of a domain, IDs from 1.
type Nodes struct {
	// Count is the number of nodes; 0 means 100.
	Count int `yaml:"count"`
	// Perf is the range of the performance p; the zero value means [2, 10].
	Perf Range `yaml:"performance"`
	// RealPerf draws real performances. The default is whole ones, as the
	// authors' programs do: at most 9 groups of equal nodes.
	RealPerf bool `yaml:"real"`
	// PriceFactor is Q in the price of a time unit,
	//
	//	Q p exp(0.02 (p - 1)) (1 + d),
	//
	// where d is a node's deviation from the market price; 0 means 1, as in META. DEP18 has 0.1.
	PriceFactor float64 `yaml:"price_factor"`
	// PriceSpread is the standard deviation of d, a normal variable of mean 0 that
	// is redrawn where it passes three times that; 0 means 0.2.
	PriceSpread float64 `yaml:"price_spread"`
	// Owners is among how many owners, "1", "2" and so on, the nodes are dealt out
	// in turn; 0 names none (flow.OwnerOf).
	Owners int `yaml:"owners"`
}

const (
	// perfGain is the rate by which the market values performance: the price of a unit of work
	// grows by exp(perfGain) with every unit of performance.
	perfGain = 0.02
	maxQ     = 10 // q is uniform in [0, maxQ)
)

// marketPrice is the price of one time unit on a node of performance p that
// deviates by nothing: Q p exp(0.02 (p - 1)).
func (c Nodes) marketPrice(p float64) float64 {
	return cmp.Or(c.PriceFactor, 1) * p * math.Exp(perfGain*(p-1))
}

// Check reports settings that make no sense, or nil.
func (c Nodes) Check() error {
	perf := c.perf()
	switch {
	case c.Count < 0 || c.Owners < 0:
		return errors.New("nodes: their number, and that of their owners, must not be negative")
	case !(c.PriceFactor >= 0) || math.IsInf(c.PriceFactor, 0):
		return errors.New("nodes: the price factor must be a number of 0 or more (0 = 1)")
	case !(c.PriceSpread >= 0 && c.PriceSpread <= 1./3):
		return errors.New("nodes: the spread of prices must be in [0, 1/3] (0 = 0.2), or prices below 0 come about")
	case math.IsInf(2*c.marketPrice(perf.Max), 0):
		return errors.New("nodes: with such performances, or such a price factor, prices are beyond all numbers")
	case !(perf.Min > 0):
		return errors.New("nodes: the least performance must be above 0")
	case !c.RealPerf && math.Ceil(perf.Min) > math.Floor(perf.Max):
		return errors.New("nodes: no whole number lies in the range of performances")
	}
	return perf.check("nodes' performance", 0)
}

func (c Nodes) perf() Range { return c.Perf.or(Range{2, 10}) }

// WithDefaults is c with everything filled in that is 0.
func (c Nodes) WithDefaults() Nodes {
	c.Count, c.Perf = cmp.Or(c.Count, 100), c.perf()
	c.PriceFactor, c.PriceSpread = cmp.Or(c.PriceFactor, 1), cmp.Or(c.PriceSpread, 0.2)
	return c
}

// Generate makes the nodes of one replication.
func (c Nodes) Generate(seed, replication uint64) ([]*entity.Node, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	perfs := des.NewStream(seed, replication, "vo.performance")
	prices := des.NewStream(seed, replication, "vo.price")
	values := des.NewStream(seed, replication, "vo.q")
	sigma := cmp.Or(c.PriceSpread, 0.2)
	deviation := model.TruncatedNormal{Sigma: sigma, Min: -3 * sigma, Max: 3 * sigma}

	made := make([]entity.Node, cmp.Or(c.Count, 100))
	nodes := make([]*entity.Node, len(made))
	for i := range made {
		p := 0.0
		if c.RealPerf {
			p = c.perf().real(perfs)
		} else {
			p = float64(c.perf().whole(perfs))
		}
		made[i] = entity.Node{
			ID:    i + 1,
			Perf:  p,
			Price: c.marketPrice(p) * (1 + deviation.Rand(prices)),
			Q:     maxQ * values.Float64(),
		}
		if c.Owners > 0 {
			made[i].Labels = map[string]string{flow.OwnerLabel: strconv.Itoa(i%c.Owners + 1)}
		}
		nodes[i] = &made[i]
	}
	return nodes, nil
}
