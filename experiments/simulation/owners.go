package simulation

// What the owners of a domain's nodes do by themselves: prices that change by a
// table or react, jobs at fixed times, and queues of their own. It is one text for
// a domain alone, a union and a site of a grid.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// PriceRules make owners price their nodes anew as they sell; see flow.Pricing.
type PriceRules struct {
	Every des.Time // 0 means a cycle
	// Patient lets jobs wait that are too poor when they come. Otherwise they are rejected, as on a
	// domain whose prices do not react.
	Patient bool
	Rules   []NodeRule // of several that are about a node the last counts
}

// NodeRule is a price rule for some nodes: for the nodes of Owner, for the nodes of the list Nodes,
// or, if both are given, for the nodes of Owner in the list.
type NodeRule struct {
	Owner string // "" means any
	Nodes []int  // IDs; none means all
	Rule  flow.PriceRule
}

// concerns reports whether the rule is about a node.
func (r NodeRule) concerns(n *entity.Node) bool {
	return (r.Owner == "" || flow.OwnerOf(n) == r.Owner) && (len(r.Nodes) == 0 || slices.Contains(r.Nodes, n.ID))
}

// ruleFor returns the rule for a node: the last one that concerns it, or nil.
func (p *PriceRules) ruleFor(n *entity.Node) flow.PriceRule {
	for _, r := range slices.Backward(p.Rules) {
		if r.concerns(n) {
			return r.Rule
		}
	}
	return nil
}

// LocalQueues are queues of the owners that the nodes name, one for each. The jobs listed come to
// them, and, with a Load, generated ones for each owner.
type LocalQueues struct {
	Policy string // of every queue, by its name; "" means fcfs
	Listed []OwnJob
	Load   *vo.OwnJobs
	Until  des.Time // no job of the Load comes later
}

// OwnJob is a job that an owner sends to his queue.
type OwnJob struct {
	Owner string
	Job   entity.Job
}

// owners returns the names of the owners, in the order of their first nodes.
func owners(nodes []entity.Node) (names []string) {
	known := map[string]bool{}
	for _, n := range nodes {
		if name := n.Labels[flow.OwnerLabel]; name != "" && !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	return names
}

var errNoOwners = errors.New("local: queue: the nodes name no owners: give them a column owner, or generate: {owners: N}")

// ownersQueue is the queue of one owner, with its jobs in order of submission. Invariant: the jobs
// have the IDs 1, 2 and so on.
type ownersQueue struct {
	owner, policy string
	rule          flow.LocalRule
	jobs          []entity.Job
}

// pricingOf says how often a node is priced anew, and how; rule is nil if its price does not react.
type pricingOf struct {
	every des.Time
	rule  flow.PriceRule
}

// drawOwners makes the rules of the nodes and the jobs of the owners' queues. It checks what only
// shows when the nodes are known: a program's Domain has been read by no reader.
func (p *drawnDomain) drawOwners(seed uint64) error {
	// Rules: each must be about some node, and no node may have both a rule and listed prices.
	names := owners(p.nodes)
	p.rules = make([]pricingOf, len(p.nodes))
	if r := p.PriceRules; r != nil {
		for _, rule := range r.Rules {
			if !slices.ContainsFunc(p.nodes, func(n entity.Node) bool { return rule.concerns(&n) }) {
				return errors.New("pricing: a rule is about none of the nodes")
			}
		}
		for i := range p.nodes {
			p.rules[i] = pricingOf{cmp.Or(r.Every, p.Cycle), r.ruleFor(&p.nodes[i])}
		}
		p.patient = r.Patient
		for _, c := range p.prices {
			if p.rules[p.index[c.Node]].rule != nil {
				return fmt.Errorf("prices: node %d has a rule, too, under pricing: give one of them", c.Node)
			}
		}
	}
	if p.Local == nil || p.Local.Queue == nil {
		return nil
	}
	// Queues: the listed jobs of each owner first, then the generated ones, and both in order of
	// time.
	q := p.Local.Queue
	if len(p.Local.Listed) > 0 || p.Local.Load != nil {
		return errors.New("local: owners have either a queue or jobs at fixed times")
	}
	if len(names) == 0 {
		return errNoOwners
	}
	own := map[string][]entity.Job{}
	for _, j := range q.Listed {
		if !slices.Contains(names, j.Owner) {
			return fmt.Errorf("local: queue: there is no owner %q: there are %s", j.Owner, strings.Join(names, ", "))
		}
		own[j.Owner] = append(own[j.Owner], j.Job)
	}
	for i, name := range names {
		jobs := own[name]
		if q.Load != nil {
			more, err := q.Load.Generate(des.NewStream(seed, 0, "vo.own", uint64(i)), q.Until)
			if err != nil {
				return fmt.Errorf("local: queue: %w", err)
			}
			jobs = append(jobs, more...)
		}
		slices.SortStableFunc(jobs, func(a, b entity.Job) int { return cmp.Compare(a.Submit, b.Submit) })
		for k := range jobs {
			jobs[k].ID = int64(k + 1)
		}
		p.queues = append(p.queues, ownersQueue{name, cmp.Or(q.Policy, "fcfs"), p.Local.Rule, jobs})
	}
	return nil
}

// preempts reports whether owners may stop jobs of the organisation.
func (p *drawnDomain) preempts() bool {
	return slices.ContainsFunc(p.local, func(own ownersJobs) bool { return own.rule == flow.LocalPreempts && own.some() }) ||
		slices.ContainsFunc(p.queues, func(q ownersQueue) bool { return q.rule == flow.LocalPreempts && len(q.jobs) > 0 })
}

// reacts reports whether the price of any node reacts to sales or to the clock.
func (p *drawnDomain) reacts() bool {
	return slices.ContainsFunc(p.rules, func(r pricingOf) bool { return r.rule != nil })
}

// ownersFlow is the flow of all that the owners of a domain do by themselves in one run.
type ownersFlow struct {
	call   *call
	parts  *drawnDomain
	book   *book
	prices *priceFile
	// account, if set, is told of owners' jobs as well. On a grid nobody keeps an account of one
	// site.
	account *metrics.CapacityAccount

	session *session
	site    *machineSite
	domain  *plan.Domain
	sums    *metrics.Owners // nil where the nodes name no owners and no price reacts
	// pricing has one for each length of interval at which prices are set.
	pricing []*flow.Pricing
	queues  []*flow.LocalQueue
}

// attach makes what hears of the organisation's jobs: sums, prices and queues, in this order.
func (f *ownersFlow) attach(x *session, s *machineSite) (observers []entity.Observer, err error) {
	f.session, f.site, f.domain = x, s, s.Plan.(*plan.Domain)
	if len(owners(f.parts.nodes)) > 0 || f.parts.reacts() {
		f.sums = metrics.NewOwners(f.domain.Nodes())
		observers = append(observers, f.sums)
	}
	f.makePricing(f.prices.writerOf(s, f.domain.Nodes(), f.parts))
	for _, p := range f.pricing {
		observers = append(observers, p)
	}
	// An owner's queue has a policy of its own and finds its windows by AMP, the earliest that fit.
	for _, own := range f.parts.queues {
		chosen, err := f.call.tables.Policies.Parse(own.policy, f.call.defaults()) // anew: it may keep state
		if err != nil {
			return nil, fmt.Errorf("local: queue: policy: %w", err)
		}
		q := &flow.LocalQueue{Owner: own.owner, Policy: chosen.Value, Rule: own.rule, Finder: window.AMP{}}
		if f.account != nil {
			q.Observers = append(q.Observers, f.account.Owners())
		}
		q.Observers = append(q.Observers, f.book.queue(own.owner)...)
		f.queues = append(f.queues, q)
		observers = append(observers, q)
	}
	return observers, nil
}

// makePricing makes a flow of prices for each length of interval at which some node is priced anew:
// domains of a union may differ in it. Changes are told to the writer, if there is one.
func (f *ownersFlow) makePricing(to *metrics.PriceWriter) {
	rules := map[*entity.Node]pricingOf{} // never iterated
	for i, n := range f.domain.Nodes() {
		rules[n] = f.parts.rules[i]
	}
	for _, r := range f.parts.rules {
		if r.rule == nil || slices.ContainsFunc(f.pricing, func(x *flow.Pricing) bool { return x.Every == r.every }) {
			continue
		}
		pricing := &flow.Pricing{Every: r.every, Rule: func(n *entity.Node) flow.PriceRule {
			if rules[n].every != r.every {
				return nil
			}
			return rules[n].rule
		}}
		if to != nil {
			pricing.Tell = to.Changed
		}
		f.pricing = append(f.pricing, pricing)
	}
}

// begin lets the metascheduler plan the domain by the cycle, and lets owners' jobs and changes of
// price come: jobs at fixed times, listed prices, and jobs of queues.
func (f *ownersFlow) begin(meta *entity.Metascheduler) {
	p, nodes := f.parts, f.domain.Nodes()
	// A job for which no window is found within the cycles of a run may stay in the queue: that is
	// no fault of a policy that plans ahead.
	meta.Cycle, meta.LeaveWaiting = p.Cycle, true
	for _, own := range p.local {
		owners := flow.NewLocalFlow(f.domain, meta)
		owners.Rule = own.rule
		owners.Told = f.told
		owners.Submit(func(yield func(flow.LocalJob) bool) {
			for l, err := range own.jobs {
				if err != nil {
					meta.Simulator().Fail(err)
					return
				}
				if !yield(flow.LocalJob{Node: nodes[p.index[l.Node]], Known: l.Known, Start: l.Start, Length: l.Length}) {
					return
				}
			}
		})
		f.session.onClose(owners.Close)
	}
	prices := flow.NewPriceSchedule(f.domain, meta)
	prices.Submit(func(yield func(flow.PriceChange) bool) {
		for _, c := range p.prices {
			if !yield(flow.PriceChange{Node: nodes[p.index[c.Node]], At: c.At, Price: c.Price}) {
				return
			}
		}
	})
	f.session.onClose(prices.Close)
	for i, q := range f.queues {
		q.Submit(func(yield func(*entity.Job) bool) {
			for _, j := range p.queues[i].jobs {
				if !yield(&j) {
					return
				}
			}
		})
		f.session.onClose(q.Close)
	}
}

// end sums up what became of the owners of the site.
func (f *ownersFlow) end() error {
	if f.sums == nil {
		return nil
	}
	rows := f.sums.Rows(f.book.bills.Ledger, f.queues)
	for i := range rows {
		rows[i].Site = f.site.Name
	}
	f.session.owners = append(f.session.owners, rows...)
	return nil
}

// told takes in an owner's job that has got its node, and starts there at an instant.
func (f *ownersFlow) told(l flow.LocalJob, start des.Time) {
	if f.account != nil {
		f.account.Owner(l, start)
	}
	f.book.owner(l, start)
}

// open begins the prices of the domain now, though no job has come to it; see domainSites.
func (f *ownersFlow) open() {
	for _, p := range f.pricing {
		p.Begin()
	}
}

// catchUp sets the prices that are due. An agent calls it before it offers anything: observers hear
// of a job only when it comes.
func (f *ownersFlow) catchUp() {
	for _, p := range f.pricing {
		p.CatchUp()
	}
}

// dropped tells the queues that the agent has given up windows that it had kept, so that owners'
// jobs may take them.
func (f *ownersFlow) dropped() {
	for _, q := range f.queues {
		q.Changed()
	}
}

// priceFile is the flow of prices-POLICY.csv, one file for all domains of a machine. There is none
// if no price reacts. On a grid its rows name their site.
type priceFile struct {
	hooks
	grid    bool
	domains []*drawnDomain
	writer  *metrics.PriceWriter // nil where no files are wanted
}

// attach begins the file.
func (f *priceFile) attach(x *session, _ *machineSite) (none []entity.Observer, err error) {
	if !slices.ContainsFunc(f.domains, (*drawnDomain).reacts) {
		return nil, nil
	}
	w, err := x.create("prices", "")
	if w != nil {
		f.writer = metrics.NewPriceWriter(w, f.grid)
	}
	return nil, err
}

// writerOf returns the writer of a site, which begins with what its nodes cost at 0; nil if nothing
// is told of them.
func (f *priceFile) writerOf(s *machineSite, nodes []*entity.Node, p *drawnDomain) *metrics.PriceWriter {
	if f.writer == nil || !p.reacts() {
		return nil
	}
	return f.writer.Of(s.Name, nodes)
}

// end writes what is left.
func (f *priceFile) end() error {
	if f.writer == nil {
		return nil
	}
	return f.writer.Flush()
}

// pricingYAML is the key pricing of a domain's file; see PriceRules. Every is in time units.
type pricingYAML struct {
	Every   float64    `yaml:"every"`
	Patient bool       `yaml:"patient"`
	Rules   []ruleYAML `yaml:"rules"`
}

// ruleYAML is one rule: for which nodes, and exactly one of the kinds flow.ByUse, flow.BySeason and
// flow.ByCompetition, whose fields these are.
type ruleYAML struct {
	Owner string `yaml:"owner"`
	Nodes []int  `yaml:"nodes"`
	Use   *struct {
		Target   float64 `yaml:"target"`
		Step     float64 `yaml:"step"`
		Floor    float64 `yaml:"floor"`
		Cap      float64 `yaml:"cap"`
		Together bool    `yaml:"together"`
	} `yaml:"use"`
	Season *struct {
		Period    float64   `yaml:"period"`
		Factors   []float64 `yaml:"factors"`
		Amplitude float64   `yaml:"amplitude"`
		Peak      float64   `yaml:"peak"`
	} `yaml:"season"`
	Competition *struct {
		Factor float64 `yaml:"factor"`
		Floor  float64 `yaml:"floor"`
		Cap    float64 `yaml:"cap"`
	} `yaml:"competition"`
}

// rule returns the one rule that is described, and the key that it has in the file.
func (y ruleYAML) rule() (rule interface {
	flow.PriceRule
	Check() error
}, key string, err error) {
	given := 0
	if u := y.Use; u != nil {
		rule, key = flow.ByUse{Target: u.Target, Step: u.Step, Floor: u.Floor, Cap: u.Cap, Together: u.Together}, "use"
		given++
	}
	if s := y.Season; s != nil {
		rule, key = flow.BySeason{Period: des.Seconds(s.Period), Factors: s.Factors, Amplitude: s.Amplitude, Peak: des.Seconds(s.Peak)}, "season"
		given++
	}
	if c := y.Competition; c != nil {
		rule, key = flow.ByCompetition{Factor: c.Factor, Floor: c.Floor, Cap: c.Cap}, "competition"
		given++
	}
	if given != 1 {
		return nil, "", errors.New("pricing: a rule is one of use, season and competition, as in use: {target: 0.7}")
	}
	return rule, key, nil
}

// readPriceRules reads the key pricing. A union passes it on to its domains; see readSite.
func (r *reader) readPriceRules(d *Domain) error {
	y := r.yaml.Domain.Pricing
	if y == nil || len(d.Union) > 0 { // then its domains have it
		return nil
	}
	if y.Every != 0 && !isLength(y.Every) {
		return faultAt(fmt.Errorf("want a length of %s, or 0 (the cycle)", lengths), "pricing", "every").wanting()
	}
	if len(y.Rules) == 0 {
		return faultAt(errors.New("pricing: there are no rules, as in rules: [{use: {target: 0.7}}]"), "pricing")
	}
	d.PriceRules = &PriceRules{Every: des.Seconds(y.Every), Patient: y.Patient}
	for i, one := range y.Rules {
		rule, key, err := one.rule()
		if err != nil {
			return faultAt(err, "pricing", "rules", i)
		}
		if err := rule.Check(); err != nil {
			return faultAt(fmt.Errorf("pricing: %s: %w", key, err), "pricing", "rules", i, key)
		}
		if one.Owner != "" && !r.hasOwner(one.Owner) {
			return faultAt(r.noOwner("pricing", one.Owner), "pricing", "rules", i, "owner")
		}
		for k, id := range one.Nodes {
			if !r.hasNode(id) {
				return faultAt(fmt.Errorf("pricing: there is no node %d", id), "pricing", "rules", i, "nodes", k)
			}
		}
		d.PriceRules.Rules = append(d.PriceRules.Rules, NodeRule{one.Owner, one.Nodes, rule})
	}
	return nil
}

// noOwner returns the error for an owner of whom no node is, with the owners that there are.
func (r *reader) noOwner(key, name string) error {
	if len(r.owners)+r.owned() == 0 {
		return fmt.Errorf("%s: there is no owner %q: the nodes name none (a column owner, or generate: {owners: N})", key, name)
	}
	known := slices.Sorted(maps.Keys(r.owners))
	switch n := r.owned(); {
	case n == 1:
		known = []string{"1"}
	case n > 1:
		known = []string{fmt.Sprintf("1 to %d", n)}
	}
	return fmt.Errorf("%s: there is no owner %q: there are %s", key, name, strings.Join(known, ", "))
}

// queueYAML is the key queue of local: jobs of a file, or generated ones.
type queueYAML struct {
	Policy string `yaml:"policy"`
	// Jobs is a CSV file: owner,submit,length and, if wanted, nodes and runtime.
	Jobs string `yaml:"jobs"`
	// Own and Until generate the jobs of every owner instead: none comes later than Until, in time
	// units.
	Own   vo.OwnJobs `yaml:",inline"`
	Until float64    `yaml:"until"`
}

// readLocalQueue reads the owners' queues. A job of the file has one node and runs for its whole
// length if it does not say otherwise.
func (r *reader) readLocalQueue(d *Domain, y *queueYAML) error {
	q := &LocalQueues{Policy: y.Policy}
	d.Local.Queue = q
	if y.Policy != "" {
		if _, err := r.tables.Policies.Parse(y.Policy); err != nil {
			return faultAt(fmt.Errorf("local: queue: policy: %w", err), "local", "queue", "policy")
		}
	}
	if len(r.owners)+r.owned() == 0 {
		return faultAt(errNoOwners, "local", "queue")
	}
	if y.Jobs == "" {
		q.Load = &y.Own
		if err := q.Load.Check(); err != nil {
			return faultAt(fmt.Errorf("local: queue: %w", err), "local", "queue")
		}
		if !isLength(y.Until) {
			return faultAt(fmt.Errorf("want the time at which the last jobs come, %s", lengths), "local", "queue", "until").wanting()
		}
		q.Until = des.Seconds(y.Until)
		return nil
	}
	return r.readCSV("local: queue", y.Jobs, []string{"owner", "submit", "length"}, func(_ *csvtable.Sheet, row *csvtable.Row) error {
		owner, submit, length := row.Text("owner"), row.Time("submit"), row.Time("length")
		nodes, runtime := 1, row.TimeOr("runtime", length)
		if row.Has("nodes") {
			nodes = row.Int("nodes")
		}
		switch {
		case row.Err() != nil:
			return row.Err()
		case !r.hasOwner(owner):
			return row.At(r.noOwner("owner", owner))
		case length == 0 || nodes < 1 || runtime > length:
			return row.At(errors.New("want a length above 0, a node or more, and a runtime that is not above the length"))
		}
		q.Listed = append(q.Listed, OwnJob{owner, entity.Job{User: -1, Group: -1, Queue: -1, Submit: submit, Runtime: runtime,
			Request: entity.Request{Nodes: nodes, Length: length}}})
		return nil
	})
}
