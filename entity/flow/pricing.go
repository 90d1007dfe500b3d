package flow

// Prices that react: owners look at what they have sold and price anew.

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// OwnerLabel is the label of a node that says whose it is.
const OwnerLabel = "owner"

// OwnerOf returns the name of n's owner: its label, or, for a node without one, "node 7", an
// owner of its own.
func OwnerOf(n *entity.Node) string {
	if owner := n.Labels[OwnerLabel]; owner != "" {
		return owner
	}
	return fmt.Sprintf("node %d", n.ID)
}

// PriceRule says how an owner prices a node. ByUse, BySeason and ByCompetition are rules;
// your own rule is a value with this method. It decides by nothing but the trade that it is
// shown.
//
// All of them are posted prices of a commodity market (Buyya, Abramson, Giddy and
// Stockinger, Economic models for resource management and scheduling in Grid computing,
// Concurrency and Computation 14, 2002): owners say what a time unit costs, users take it or
// leave it.
type PriceRule interface {
	// Price returns what a time unit of the node costs from t.Now on, 0 or more. It is
	// rounded to a millionth.
	Price(t Trade) float64
}

// Seasonal is a PriceRule that goes by the clock, Trade.Now. A rule that is not Seasonal
// must return the same price again if nothing else has changed.
type Seasonal interface {
	PriceRule
	// Season returns the time after which the rule repeats itself.
	Season() des.Time
}

// NodePrice is the price of a node for a time unit from the instant At on, until its next
// NodePrice.
type NodePrice struct {
	Node  int // entity.Node.ID
	At    des.Time
	Price float64
}

// Trade is the information about a node by which its price is set: its sales and prices in the
// interval that has just ended.
type Trade struct {
	Now des.Time // the end of the interval
	// Node is the node, with its price in that interval.
	Node *entity.Node
	// List is the node's price when the run began.
	List float64
	// Use is the share of the interval for which jobs of the organisation had the
	// node, from 0 to 1; OwnerUse is the mean of that over all nodes of its owner.
	// What the owner did there is in neither.
	Use, OwnerUse float64
	// Market is the price of a unit of work at the other owners: the cost of what they sold
	// at the prices of the interval, over the work that could be done in that time. It is 0
	// if they sold nothing.
	Market float64
}

// ByUse raises the price of a node that sells well and lowers the price of a node that does
// not:
//
//	price <- price (1 + Step (use - Target))
//
// So prices come to rest where a node sells as much as its owner wants. A commodity market
// finds its price in this way, by the excess of demand (tatonnement): Wolski, Plank, Brevik and
// Bryan, Analyzing market-based resource allocation strategies for the computational Grid, Int.
// J. of High Performance Computing Applications 15, 2001. There one market knows all demand.
// Here each node follows its own use; this rule and its numbers are ours.
type ByUse struct {
	Target float64 // the use wanted, from 0 to 1; 0 means 0.7
	Step   float64 // how fast, from 0 to 1; 0 means 0.1
	// Floor and Cap are the least and the highest price, in list prices; 0 means
	// 0.1 and 10.
	Floor, Cap float64
	// Together lets all nodes of an owner follow their mean use.
	Together bool
}

// Price implements PriceRule.
func (r ByUse) Price(t Trade) float64 {
	use := t.Use
	if r.Together {
		use = t.OwnerUse
	}
	step := cmp.Or(r.Step, 0.1) * (use - cmp.Or(r.Target, 0.7))
	return within(t.Node.Price*(1+float64(step)), t.List, r.Floor, r.Cap)
}

// Check returns what is wrong with the rule, or nil.
func (r ByUse) Check() error {
	switch {
	case !(r.Target >= 0 && r.Target <= 1):
		return fmt.Errorf("target must be a share from 0 to 1, not %v", r.Target)
	case !(r.Step >= 0 && r.Step <= 1):
		return fmt.Errorf("step must be from 0 to 1, not %v", r.Step)
	}
	return checkWithin(r.Floor, r.Cap)
}

// BySeason lets the price follow the clock; time 0 is the beginning of a period:
//
//	list price * factor of this part of the period * (1 + Amplitude cos(2 pi (now - Peak) / Period))
//
// (Buyya et al. name peak and off-peak prices among the prices of a posted-price market; the
// form is ours.)
type BySeason struct {
	Period des.Time // 0 means a day
	// Factors divide the period into equal parts: 24 of them are the hours of a
	// day, 7 over a week its days. None means 1 throughout.
	Factors []float64
	// Amplitude is from 0 to 1. The price is highest at Peak within the period.
	Amplitude float64
	Peak      des.Time // from 0 to Period
}

// Price implements PriceRule.
func (r BySeason) Price(t Trade) float64 {
	period := r.Season()
	at, price := t.Now%period, t.List
	if n := des.Time(len(r.Factors)); n > 0 {
		price *= r.Factors[min(at/max(period/n, 1), n-1)]
	}
	wave := r.Amplitude * math.Cos(2*math.Pi*float64(at-r.Peak)/float64(period))
	return price * (1 + float64(wave))
}

// Season implements Seasonal.
func (r BySeason) Season() des.Time { return cmp.Or(r.Period, des.Day) }

// Check returns what is wrong with the rule, or nil.
func (r BySeason) Check() error {
	switch {
	case r.Period < 0:
		return fmt.Errorf("period must be a time above 0, not %v", r.Period)
	case !(r.Amplitude >= 0 && r.Amplitude <= 1):
		return fmt.Errorf("amplitude must be from 0 to 1, not %v", r.Amplitude)
	case r.Peak < 0 || r.Peak > r.Season():
		return fmt.Errorf("peak must be a time within the period, not %v", r.Peak)
	}
	for _, f := range r.Factors {
		if !(f >= 0) || math.IsInf(f, 0) {
			return fmt.Errorf("factors must be numbers of 0 or more, not %v", f)
		}
	}
	return nil
}

// ByCompetition sets the price of work to the other owners' price times a factor; with a
// factor below 1 the owner undercuts them. If the others sold nothing, the price stays.
//
//	price <- Factor * market price of a unit of work * performance
//
// If all owners undercut each other, prices fall to the floor, provided that users have the
// choice: the price wars of Greenwald and Kephart (Shopbots and pricebots, AMEC 1999). Their
// sellers know the buyers' demand; this rule, which knows prices alone, is ours.
type ByCompetition struct {
	Factor float64 // 0 means 1: the other owners' price
	// Floor and Cap are the least and the highest price, in list prices; 0 means
	// 0.1 and 10.
	Floor, Cap float64
}

// Price implements PriceRule.
func (r ByCompetition) Price(t Trade) float64 {
	if t.Market == 0 {
		return t.Node.Price
	}
	return within(cmp.Or(r.Factor, 1)*t.Market*t.Node.Perf, t.List, r.Floor, r.Cap)
}

// Check returns what is wrong with the rule, or nil.
func (r ByCompetition) Check() error {
	if !(r.Factor >= 0) || math.IsInf(r.Factor, 0) {
		return fmt.Errorf("factor must be a number of 0 or more, not %v", r.Factor)
	}
	return checkWithin(r.Floor, r.Cap)
}

// within returns a price between a floor and a cap that are given in list prices.
func within(price, list, floor, cap float64) float64 {
	return min(max(price, list*cmp.Or(floor, 0.1)), list*cmp.Or(cap, 10))
}

func checkWithin(floor, cap float64) error {
	if !(floor >= 0) || !(cmp.Or(cap, 10) >= cmp.Or(floor, 0.1)) || math.IsInf(cap, 0) {
		return fmt.Errorf("want a floor of 0 or more and a cap that is not below it, not %v and %v (in list prices; 0 means 0.1 and 10)", floor, cap)
	}
	return nil
}

// Pricing lets owners set the prices of a plan.Domain anew at every multiple of an interval,
// each node by its own rule:
//
//	   interval         interval
//	|----------------|----------------|
//	      sold        tick: rules look at what was sold, prices change,
//	                  jobs that wait get a round
//
// All rules of a tick see the prices before it. A reservation keeps the price that was
// agreed upon, as with a PriceSchedule. Before the first tick nodes cost their list price.
//
// It is an Observer: give it to the metascheduler of the domain, and it attaches itself. It
// changes the nodes, which must not be shared by simulations that run side by side.
//
// The first interval begins with the domain's first job, or with an earlier call of Begin or
// CatchUp. There are no ticks while they can change nothing (no job runs, none has moved,
// and prices have stayed the same for an interval and for the longest season); when the next
// job comes, the ticks that were left out are carried out.
type Pricing struct {
	// Every is the length of the interval; 0 means an hour.
	Every des.Time
	// Rule returns the rule of a node, or nil if its price stays. It is called once for each
	// node, before the run.
	Rule func(*entity.Node) PriceRule
	// Tell, if set, is called at every change, when its price is in effect.
	Tell func(PriceChange)

	meta   *entity.Metascheduler
	plan   OwnedPlan
	sales  []sale // by the node's number
	owners int
	season des.Time // the longest of the rules, and at least the interval

	from    des.Time // when the interval began
	ticking bool     // the tick that ends it is due
	begun   bool
	moved   des.Time // the latest instant at which anything changed that a tick could be about
}

// sale is the state of a node's sales in Pricing.
type sale struct {
	rule  PriceRule
	list  float64
	owner int
	sold  des.Time // within the interval
	price float64  // to come
}

var (
	_ entity.Observer = (*Pricing)(nil)
	_ entity.Attacher = (*Pricing)(nil)
)

// Attach is called by the metascheduler whose observer it is.
func (p *Pricing) Attach(m *entity.Metascheduler) {
	nodes, ok := m.Plan().(OwnedPlan)
	if !ok || p.Rule == nil || p.Every < 0 {
		m.Simulator().Fail(errors.New("owners' prices want a plan.Domain, a rule and an interval above 0"))
		return
	}
	p.meta, p.plan = m, nodes
	p.Every = cmp.Or(p.Every, des.Hour)
	p.season = p.Every
	owners := map[string]int{} // never iterated
	for i := range nodes.Size() {
		n := nodes.Node(i)
		s := sale{rule: p.Rule(n), list: n.Price, price: n.Price}
		if r, ok := s.rule.(Seasonal); ok {
			p.season = max(p.season, r.Season())
		}
		owner, known := owners[OwnerOf(n)]
		if !known {
			owner = len(owners)
			owners[OwnerOf(n)] = owner
		}
		s.owner = owner
		p.sales = append(p.sales, s)
	}
	p.owners = len(owners)
}

// Observe implements entity.Observer.
func (p *Pricing) Observe(e entity.JobEvent) {
	if p.meta == nil {
		return // the run has failed
	}
	p.moved = e.Time
	p.resume(e.Time)
	if a, _, how, ok := entity.Over(e); ok && how != entity.EndResized {
		p.count(a, e.Time)
	}
}

// Begin starts the first interval now, though no job of the domain has come. It changes no
// price and needs no tick. A site of a grid calls it with the grid's first job, whichever
// site that job goes to.
func (p *Pricing) Begin() {
	if p.meta != nil {
		p.begin(p.meta.Simulator().Now())
	}
}

// begin starts the first interval at an instant, if none has begun.
func (p *Pricing) begin(now des.Time) {
	if !p.begun {
		p.begun, p.from = true, now-now%p.Every
	}
}

// CatchUp carries out the ticks that were left out, so that nodes have their present prices.
// Call it before looking at prices when no job has come, as agents do who make offers.
func (p *Pricing) CatchUp() {
	if p.meta != nil {
		p.resume(p.meta.Simulator().Now())
	}
}

// count adds to each node's sales what an attempt had of it within the interval,
// up to now.
func (p *Pricing) count(a entity.Attempt, now des.Time) {
	for i, t := range a.Window.Tasks {
		if from, to := max(a.Start, p.from), min(a.Ends[i], now); from < to {
			k, _ := p.plan.Number(t.Node)
			p.sales[k].sold += to - from
		}
	}
}

// resume makes up for the ticks that were left out, if any, and has the next one
// come.
func (p *Pricing) resume(now des.Time) {
	if p.ticking {
		return
	}
	p.begin(now)
	for last := now - now%p.Every; p.from < last; {
		if changed := p.tick(p.from + p.Every); !changed && p.season == p.Every {
			p.from = last // so would all the others
		}
	}
	p.ticking = true
	p.meta.Simulator().At(p.from.Add(p.Every), entity.PhaseChange, (*pricingTick)(p), 0)
}

// pricingTick is Pricing as the handler of its ticks.
type pricingTick Pricing

func (t *pricingTick) Handle(_ *des.Simulator, ev des.Event) {
	p := (*Pricing)(t)
	p.ticking = false
	p.meta.Advance() // whatever ends an instant has been told
	if p.ticking {
		return
	}
	if p.tick(ev.Time) || p.meta.Running() > 0 {
		p.moved = ev.Time
	}
	idle := p.meta.Running() == 0 && p.meta.Queue().Len() == 0
	if !idle && ev.Time-p.moved < p.season {
		p.resume(ev.Time)
	}
}

// tick sets prices at the end of an interval. It reports whether a rule that does
// not go by the clock has changed any.
func (p *Pricing) tick(at des.Time) (changed bool) {
	for r := range p.meta.RunningJobs() {
		p.count(r.Latest(), at)
	}
	p.decide(at)
	for i := range p.sales {
		n, s := p.plan.Node(i), &p.sales[i]
		if s.sold = 0; s.rule == nil || s.price == n.Price {
			continue
		}
		c := PriceChange{Node: n, At: at, Price: s.price}
		reprice(p.meta, p.plan, c)
		if p.Tell != nil {
			p.Tell(c)
		}
		if _, ok := s.rule.(Seasonal); !ok {
			changed = true
		}
	}
	p.from = at
	return changed
}

// decide asks the rules for the prices to come.
func (p *Pricing) decide(at des.Time) {
	cost, work := make([]float64, p.owners), make([]float64, p.owners)
	sold, count := make([]des.Time, p.owners), make([]int, p.owners)
	for i := range p.sales {
		n, s := p.plan.Node(i), &p.sales[i]
		cost[s.owner] += float64(n.Price * s.sold.Seconds())
		work[s.owner] += float64(n.Perf * s.sold.Seconds())
		sold[s.owner] += s.sold
		count[s.owner]++
	}
	cost, work = others(cost), others(work)
	for i := range p.sales {
		n, s := p.plan.Node(i), &p.sales[i]
		if s.rule == nil {
			continue
		}
		t := Trade{
			Now: at, Node: n, List: s.list,
			Use:      float64(s.sold) / float64(p.Every),
			OwnerUse: float64(sold[s.owner]) / float64(p.Every) / float64(count[s.owner]),
		}
		if work[s.owner] > 0 {
			t.Market = cost[s.owner] / work[s.owner]
		}
		price := math.Round(s.rule.Price(t)*1e6) / 1e6
		if !(price >= 0) || math.IsInf(price, 0) {
			p.meta.Simulator().Fail(fmt.Errorf("at %v, the price of node %d: rule %T says %v, which is no price", at, n.ID, s.rule, price))
			return
		}
		s.price = price
	}
}

// others returns, for each value, the sum of all other values.
func others(values []float64) []float64 {
	sums := make([]float64, len(values))
	before, behind := 0.0, 0.0
	for i, v := range values {
		sums[i] = before
		before += v
	}
	for i := len(values) - 1; i >= 0; i-- {
		sums[i] += behind
		behind += values[i]
	}
	return sums
}
