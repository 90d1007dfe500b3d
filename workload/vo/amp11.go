// AMP11's generators, section 5 of that paper: slots that have no nodes behind
// them, and requests with a limit on the price.

package vo

import (
	"errors"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// AMP11Slots generates a slot list. Every slot is on a node of its own: AMP11
// draws slots, not nodes.
type AMP11Slots struct {
	Count Range // whole numbers; the zero value means [120, 150]
}

const (
	amp11Together   = 0.4 // probability of a slot to begin with the one before
	amp11PriceOfOne = 1.7 // a slot's market price is this to the power of its performance
)

var (
	amp11SlotLength = Range{50, 300} // in time units
	amp11SlotPerf   = Range{1, 3}
	amp11Delay      = Range{0, 10} // time units from the start of one slot to the start of the next
	// amp11PriceDeviation is the range of the factor by which a slot's price deviates from the market's.
	amp11PriceDeviation = Range{0.75, 1.25}
)

// settings are the settings in force: the paper's in place of zeros.
func (c AMP11Slots) settings() AMP11Slots {
	c.Count = c.Count.or(Range{120, 150})
	return c
}

// Check reports settings that make no sense, or nil.
func (c AMP11Slots) Check() error {
	return c.settings().Count.check("slots", 1)
}

// Generate draws the slot list of one replication.
func (c AMP11Slots) Generate(seed, replication uint64) (plan.SlotList, error) {
	var list plan.SlotList
	if err := c.Check(); err != nil {
		return list, err
	}
	c = c.settings()
	starts := des.NewStream(seed, replication, "amp11.start")
	lengths := des.NewStream(seed, replication, "amp11.length")
	perfs := des.NewStream(seed, replication, "amp11.performance")
	prices := des.NewStream(seed, replication, "amp11.price")

	nodes := make([]entity.Node, c.Count.whole(des.NewStream(seed, replication, "amp11.slots")))
	list.Slots = make([]entity.Slot, len(nodes))
	start := des.Time(0)
	// Starts never go back, so that the list is in order: with probability 0.4 a slot begins with the
	// one before, and otherwise after a delay.
	for i := range nodes {
		if i > 0 && starts.Float64() >= amp11Together {
			start += des.Seconds(amp11Delay.real(starts))
		}
		p := amp11SlotPerf.real(perfs)
		nodes[i] = entity.Node{ID: i + 1, Perf: p, Price: amp11PriceDeviation.real(prices) * amp11Price(p)}
		end := start + des.Seconds(amp11SlotLength.real(lengths))
		list.Slots[i] = entity.Slot{Node: &nodes[i], Width: 1, Start: start, End: end}
		list.To = max(list.To, end)
	}
	return list, nil
}

// amp11Price is the market price of a time unit at performance p: 1.7^p.
func amp11Price(p float64) float64 { return math.Pow(amp11PriceOfOne, p) }

// AMP11Jobs generates the requests of one batch.
type AMP11Jobs struct {
	Jobs  Range // whole numbers; the zero value means [3, 7]
	Nodes Range // n, whole numbers; the zero value means [1, 6]
	// PriceFactor sets C, the highest price of a time unit, which AMP11 does not
	// publish: that many times the market price at performance P. 0 means no
	// limit.
	PriceFactor float64
	// AtOne takes t as a task's time at performance 1, its volume, instead of at P
	// as AMP11's text has it.
	AtOne bool
}

var (
	amp11JobLength = Range{50, 150} // t in time units
	amp11MinPerf   = Range{1, 2}    // P
)

// AMP11Job is one request as AMP11 states it.
type AMP11Job struct {
	Nodes    int
	MinPerf  float64  // P
	Volume   des.Time // V: a task's time at performance 1
	MaxPrice float64  // C, or 0
}

// PerSlot is the request with C as the limit of every slot's price (ALP).
func (j AMP11Job) PerSlot() entity.Request {
	return entity.Request{Nodes: j.Nodes, MinPerf: j.MinPerf, Length: j.Volume, MaxPrice: j.MaxPrice}
}

// PerJob is the request with the same money for the whole window (AMP): S = C t N,
// where t = V/P is the time to reserve at performance P.
func (j AMP11Job) PerJob() entity.Request {
	return entity.Request{Nodes: j.Nodes, MinPerf: j.MinPerf, Length: j.Volume,
		Budget: j.MaxPrice * j.Volume.Seconds() / j.MinPerf * float64(j.Nodes)}
}

// settings are the settings in force: the paper's in place of zeros.
func (c AMP11Jobs) settings() AMP11Jobs {
	c.Jobs = c.Jobs.or(Range{3, 7})
	c.Nodes = c.Nodes.or(Range{1, 6})
	return c
}

// Check reports settings that make no sense, or nil.
func (c AMP11Jobs) Check() error {
	if !(c.PriceFactor >= 0) {
		return errors.New("jobs: the price factor must be a number of 0 or more (0 = no limit)")
	}
	c = c.settings()
	return errors.Join(
		c.Jobs.check("jobs", 0),
		c.Nodes.check("jobs' nodes", 1),
	)
}

// Generate draws the batch of one replication.
func (c AMP11Jobs) Generate(seed, replication uint64) ([]AMP11Job, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.settings()
	sizes := des.NewStream(seed, replication, "amp11.nodes")
	lengths := des.NewStream(seed, replication, "amp11.time")
	perfs := des.NewStream(seed, replication, "amp11.least-performance")
	jobs := make([]AMP11Job, c.Jobs.whole(des.NewStream(seed, replication, "amp11.jobs")))
	for i := range jobs {
		p := amp11MinPerf.real(perfs)
		n := c.Nodes.whole(sizes)
		volume := amp11JobLength.real(lengths)
		if !c.AtOne {
			volume *= p
		}
		jobs[i] = AMP11Job{Nodes: n, MinPerf: p, Volume: des.Seconds(volume), MaxPrice: c.PriceFactor * amp11Price(p)}
	}
	return jobs, nil
}
