package validate

// The offline checks of what a site's owners do by themselves: prices that react,
// and jobs from queues of their own.

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/csvtext"
)

// ownJob names a job of an owner's queue. Two owners may number their jobs alike.
type ownJob struct {
	site, owner string
	id          int64
}

// ran is a job of an owner's queue and what the file says of it: the start that its tasks share,
// and the IDs of the nodes of the tasks read so far.
type ran struct {
	*entity.Job
	start des.Time
	nodes []int
}

// queued returns the jobs of all owners' queues, of which nothing has run yet.
func (c *gridChecker) queued() map[ownJob]*ran {
	all := map[ownJob]*ran{}
	for _, name := range c.siteNames {
		for i := range c.sites[name].Queued {
			q := &c.sites[name].Queued[i]
			all[ownJob{name, q.Owner, q.Job.ID}] = &ran{Job: &q.Job}
		}
	}
	return all
}

// ownTask checks one task of the job j of an owner's queue: on a node of the owner, once a node,
// all at one start, and as long as it takes there. j is nil if nobody described such a job.
func (c *gridChecker) ownTask(j *ran, r *rowReader, site *gridSite, n *entity.Node, wanted, start, end des.Time) {
	wrong := func(k Kind, format string, args ...any) {
		c.report.add(c.Limit, k, start, -1, "line %d: job %s of %s in %s "+format, append([]any{r.line, r.text("job_id"), r.text("owner"), site.Name}, args...)...)
	}
	if j == nil {
		wrong(Disagreement, "is none of those described")
		return
	}
	switch {
	case csvtext.Of(flow.OwnerOf(n)) != r.text("owner"):
		wrong(Disagreement, "has node %d, which is of %s", n.ID, flow.OwnerOf(n))
	case wanted != j.Submit:
		wrong(Disagreement, "came at %v, not at %v", j.Submit, wanted)
	case start < wanted:
		wrong(TooEarly, "began before %v", wanted)
	case slices.Contains(j.nodes, n.ID):
		wrong(TwoJobsOnOne, "has node %d twice", n.ID)
	case len(j.nodes) > 0 && start != j.start:
		wrong(Disagreement, "began at %v, too", j.start)
	}
	reserved := des.Time(math.Ceil(float64(j.Request.Length) / n.Perf))
	if want := start + shareOf(reserved, j.Runtime, j.Request.Length); end != want {
		wrong(WrongRunTime, "ran on node %d until %v instead of %v", n.ID, end, want)
	}
	j.start, j.nodes = start, append(j.nodes, n.ID)
}

// couldRun reports whether an owner has as many nodes as the job q wants, on each of which it ends
// within what the site plans ahead.
func (s *gridSite) couldRun(q QueuedJob) bool {
	nodes := 0
	for i := range s.Nodes {
		if n := &s.Nodes[i]; flow.OwnerOf(n) == q.Owner && (s.Ahead == 0 || math.Ceil(float64(q.Job.Request.Length)/n.Perf) <= float64(s.Ahead)) {
			nodes++
		}
	}
	return nodes >= q.Job.Request.Nodes
}

// prices reads what rules have made of prices, behind the prices of the description. A row at 0
// repeats the first price of a node.
func (c *gridChecker) prices(from io.Reader) error {
	r, err := newRowReader(from, "prices CSV", "site", "time", "node", "price")
	if err != nil {
		return err
	}
	for r.next() {
		site, n, err := c.node(r)
		if err != nil {
			return err
		}
		at, price := field(r, "time", parseTime).value, field(r, "price", parsePrice).value
		if r.err != nil {
			return r.err
		}
		if at > 0 {
			site.prices[n.ID] = append(site.prices[n.ID], flow.NodePrice{Node: n.ID, At: at, Price: price})
		}
		switch _, reacts := site.Rules[n.ID]; {
		case at == 0 && price != n.Price:
			c.ofNobody(at, FalseAccount, "line %d: node %d of %s costs %v at first instead of %v", r.line, n.ID, site.Name, price, n.Price)
		case at > 0 && !reacts:
			c.ofNobody(at, FalseAccount, "line %d: no rule prices node %d of %s", r.line, n.ID, site.Name)
		}
	}
	if r.err != nil {
		return r.err
	}
	for _, s := range c.sites { // each by itself: the order does not matter
		for _, prices := range s.prices {
			slices.SortStableFunc(prices, func(a, b flow.NodePrice) int { return cmp.Compare(a.At, b.At) })
		}
	}
	return nil
}

// react has the rules price the nodes of a site anew, from the tasks that ran there, and compares.
// Prices are made at multiples of Every, from the first one after the grid's first job on. All
// nodes with the same Every are priced at the same instants, until the last change of one of their
// prices or the last task needs them.
func (c *gridChecker) react(s *gridSite) {
	if len(c.jobs) == 0 {
		return
	}
	opened := c.jobs[0].job.Submit // jobs are sorted
	began := des.Time(0)
	for _, uses := range s.uses { // a maximum: the order does not matter
		for _, u := range uses {
			if u.job >= 0 {
				began = max(began, u.start)
			}
		}
	}
	// last is by Every; lengths has its keys in the order of the nodes.
	last := map[des.Time]des.Time{}
	var lengths []des.Time
	for i := range s.Nodes {
		id := s.Nodes[i].ID
		every := s.Rules[id].Every
		if every <= 0 {
			continue
		}
		if _, known := last[every]; !known {
			last[every] = began
			lengths = append(lengths, every)
		}
		prices := s.prices[id]
		last[every] = max(last[every], prices[len(prices)-1].At)
	}
	for _, every := range lengths {
		for at := opened - opened%every + every; at <= last[every]; at = at.Add(every) {
			c.tick(s, every, at)
		}
	}
	// A price between two such instants is by no rule.
	for i := range s.Nodes {
		id := s.Nodes[i].ID
		for _, p := range s.prices[id] {
			if rule, ok := s.Rules[id]; ok && rule.Every > 0 && p.At%rule.Every != 0 {
				c.ofNobody(p.At, FalseAccount, "node %d of %s is priced anew at %v, within an interval of %v", id, s.Name, p.At, rule.Every)
			}
		}
	}
}

// tick compares the prices of a site from the instant at on with what the rules with that Every
// make of the interval before. Two prices are right if other nodes with another Every are priced
// at the same instant: the market that a rule sees may be by the others' prices before or after
// it.
func (c *gridChecker) tick(s *gridSite, every, at des.Time) {
	// trade is the interval of one owner: the node time that was sold (seconds), the number of
	// nodes, the work done in it (node time by performance), and what it cost by the prices before
	// and after.
	type trade struct{ sold, nodes, work, cost, later float64 }
	var owners []trade
	index := map[string]int{} // never iterated
	// Phase 1: sum up the use of each node and of each owner. of is the node's owner, by index.
	sold, of, before := make([]float64, len(s.Nodes)), make([]int, len(s.Nodes)), make([]float64, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		k, known := index[flow.OwnerOf(n)]
		if !known {
			k = len(owners)
			index[flow.OwnerOf(n)] = k
			owners = append(owners, trade{})
		}
		for _, u := range s.uses[n.ID] {
			if from, to := max(u.start, at-every), min(u.end, at); u.job >= 0 && from < to {
				sold[i] += (to - from).Seconds()
			}
		}
		of[i], before[i] = k, s.priceAt(n.ID, at-des.Tick)
		later := before[i]
		if s.Rules[n.ID].Every != every {
			later = s.priceAt(n.ID, at)
		}
		o := &owners[k]
		o.sold, o.nodes = o.sold+sold[i], o.nodes+1
		o.work, o.cost, o.later = o.work+float64(n.Perf*sold[i]), o.cost+float64(before[i]*sold[i]), o.later+float64(later*sold[i])
	}
	// Phase 2: what the rule of each node makes of it. Market is the others' mean price of a unit
	// of work.
	for i, n := range s.Nodes {
		rule := s.Rules[n.ID]
		if rule.Every != every {
			continue
		}
		n.Price = before[i]
		t := flow.Trade{Now: at, Node: &n, List: s.Nodes[i].Price, Use: sold[i] / every.Seconds()}
		t.OwnerUse = owners[of[i]].sold / every.Seconds() / owners[of[i]].nodes
		others := trade{}
		for k, o := range owners {
			if k != of[i] {
				others.work, others.cost, others.later = others.work+o.work, others.cost+o.cost, others.later+o.later
			}
		}
		if others.work > 0 {
			t.Market = others.cost / others.work
		}
		has, want := s.priceAt(n.ID, at), rule.Price(t)
		if others.work > 0 {
			t.Market = others.later / others.work
		}
		if math.Abs(has-want) > 1e-6 && math.Abs(has-rule.Price(t)) > 1e-6 {
			c.ofNobody(at, FalseAccount, "node %d of %s costs %v from then on, and by its rule %.6f", n.ID, s.Name, has, want)
		}
	}
}

// priceAt returns what a node costs at an instant, the change at that instant included.
func (s *gridSite) priceAt(node int, at des.Time) float64 {
	prices := s.prices[node]
	after, _ := slices.BinarySearchFunc(prices, at+des.Tick, func(p flow.NodePrice, at des.Time) int { return cmp.Compare(p.At, at) })
	return prices[max(after, 1)-1].Price
}

// parsePrice reads a price as it is, without rounding to millionths: rules go on from it.
func parsePrice(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no price", s)
	}
	return v, nil
}
