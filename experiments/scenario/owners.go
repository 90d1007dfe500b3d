package scenario

// What the owners of a domain's nodes do by themselves: prices that react, and
// queues of their own.

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
	"github.com/gridslot/gridslot/entity/market"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/csvtable"
	"github.com/gridslot/gridslot/workload/vo"
)

// PriceRules have owners price their nodes anew as they sell; see flow.Pricing.
type PriceRules struct {
	Every des.Time // 0 means a cycle
	// Patient has jobs wait that are too poor when they come; otherwise they are
	// rejected, as where prices do not react.
	Patient bool
	Rules   []NodeRule // of several that are about a node the last counts
}

// NodeRule is a rule for some nodes.
type NodeRule struct {
	Owner string // "" means any
	Nodes []int  // IDs; none means all
	Rule  flow.PriceRule
}

func (r NodeRule) concerns(n *entity.Node) bool {
	return (r.Owner == "" || flow.OwnerOf(n) == r.Owner) && (len(r.Nodes) == 0 || slices.Contains(r.Nodes, n.ID))
}

// of is the rule for n, or nil.
func (p *PriceRules) of(n *entity.Node) flow.PriceRule {
	for _, r := range slices.Backward(p.Rules) {
		if r.concerns(n) {
			return r.Rule
		}
	}
	return nil
}

// LocalQueues are queues of the owners that the nodes name: the jobs listed, and
// where there is a Load as many more for each owner.
type LocalQueues struct {
	Policy string // of every queue, by its name; "" means fcfs
	Listed []OwnJob
	Load   *vo.OwnJobs
	Until  des.Time // no job of the Load comes later
}

// OwnJob is a job of an owner.
type OwnJob struct {
	Owner string
	Job   entity.Job
}

// owners are the labels of the nodes, in their order.
func owners(nodes []entity.Node) (names []string) {
	for _, n := range nodes {
		if name := n.Labels[flow.OwnerLabel]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var errNoOwners = errors.New("local: queue: the nodes name no owners: give them a column owner, or generate: {owners: N}")

// drawOwners makes the jobs of the owners' queues, by owner, and checks what the
// nodes must bear out.
func (p *domainParts) drawOwners(seed uint64) error {
	names := owners(p.nodes)
	if r := p.PriceRules; r != nil {
		for _, rule := range r.Rules {
			if !slices.ContainsFunc(p.nodes, func(n entity.Node) bool { return rule.concerns(&n) }) {
				return errors.New("pricing: a rule is about none of the nodes")
			}
		}
		for _, c := range p.prices {
			if r.of(&p.nodes[p.index[c.Node]]) != nil {
				return fmt.Errorf("prices: node %d has a rule, too, under pricing: give one of them", c.Node)
			}
		}
	}
	if p.Local == nil || p.Local.Queue == nil {
		return nil
	}
	q := p.Local.Queue
	if len(p.Local.Listed) > 0 || p.Local.Load != nil {
		return errors.New("local: owners have either a queue or jobs at fixed times")
	}
	if len(names) == 0 {
		return errNoOwners
	}
	p.own = map[string][]entity.Job{}
	for _, j := range q.Listed {
		if !slices.Contains(names, j.Owner) {
			return fmt.Errorf("local: queue: there is no owner %q: there are %s", j.Owner, strings.Join(names, ", "))
		}
		p.own[j.Owner] = append(p.own[j.Owner], j.Job)
	}
	for i, name := range names {
		jobs := p.own[name]
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
		p.own[name] = jobs
	}
	return nil
}

// ownersFlows are the flows of the owners in one run, and what is written of them.
type ownersFlows struct {
	queues []*flow.LocalQueue
	sums   *metrics.Owners
	prices *metrics.PriceWriter // or nil
	parts  *domainParts
}

// beginOwners makes the owners' flows on these nodes and adds them to the session's
// observers. A run without owners' names, rules and queues has none: nil.
func (p *domainParts) beginOwners(c *call, x *run.Session, nodes []*entity.Node) (*ownersFlows, error) {
	names := owners(p.nodes)
	if len(names) == 0 && p.PriceRules == nil {
		return nil, nil
	}
	o := &ownersFlows{sums: metrics.NewOwners(nodes), parts: p}
	x.Observers = append(x.Observers, o.sums)
	if r := p.PriceRules; r != nil {
		w, err := x.Create("prices-", ".csv")
		if err != nil {
			return nil, err
		}
		pricing := &flow.Pricing{Every: cmp.Or(r.Every, p.Cycle), Rule: r.of}
		if w != nil {
			o.prices = metrics.NewPriceWriter(w, nodes)
			pricing.Tell = o.prices.Changed
		}
		x.Observers = append(x.Observers, pricing)
	}
	if p.Local == nil || p.Local.Queue == nil {
		return o, nil
	}
	for _, name := range names {
		chosen, err := c.tables.Policies.Parse(cmp.Or(p.Local.Queue.Policy, "fcfs"), c.defaults()) // anew: it may keep state
		if err != nil {
			return nil, fmt.Errorf("local: queue: policy: %w", err)
		}
		q := &flow.LocalQueue{Owner: name, Policy: chosen.Value, Rule: p.Local.Rule, Finder: window.AMP{}}
		o.queues = append(o.queues, q)
		x.Observers = append(x.Observers, q)
	}
	return o, nil
}

// submit has the owners' jobs come.
func (o *ownersFlows) submit() {
	for _, q := range o.queues {
		q.Submit(func(yield func(*entity.Job) bool) {
			for _, j := range o.parts.own[q.Owner] {
				if !yield(&j) {
					return
				}
			}
		})
	}
}

// close lets go of what has not happened.
func (o *ownersFlows) close() {
	for _, q := range o.queues {
		q.Close()
	}
}

// write ends the files of the owners.
func (o *ownersFlows) write(x *run.Session, l *market.Ledger) ([]metrics.OwnerRow, error) {
	if o.prices != nil {
		if err := o.prices.Flush(); err != nil {
			return nil, err
		}
	}
	rows := o.sums.Rows(l, o.queues)
	w, err := x.Create("owners-", ".csv")
	if err == nil && w != nil {
		err = metrics.WriteOwners(w, rows)
	}
	return rows, err
}

// pricingYAML is the key pricing of a domain's file.
type pricingYAML struct {
	Every   float64    `yaml:"every"`
	Patient bool       `yaml:"patient"`
	Rules   []ruleYAML `yaml:"rules"`
}

// ruleYAML is one rule: for whom, and one of the kinds.
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

// rule is the one rule that is described, and the key that it has.
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

func (r *reader) readPriceRules(d *Domain) error {
	y := r.yaml.Domain.Pricing
	if y == nil {
		return nil
	}
	if !atLeastZero(y.Every) {
		return at(errors.New("want a length in time units of 0 or more (0 = the cycle)"), "pricing", "every").wanting()
	}
	if len(y.Rules) == 0 {
		return at(errors.New("pricing: there are no rules, as in rules: [{use: {target: 0.7}}]"), "pricing")
	}
	d.PriceRules = &PriceRules{Every: des.Seconds(y.Every), Patient: y.Patient}
	for i, one := range y.Rules {
		rule, key, err := one.rule()
		if err != nil {
			return at(err, "pricing", "rules", i)
		}
		if err := rule.Check(); err != nil {
			return at(fmt.Errorf("pricing: %s: %w", key, err), "pricing", "rules", i, key)
		}
		if one.Owner != "" && !r.owners[one.Owner] {
			return at(r.noOwner("pricing", one.Owner), "pricing", "rules", i, "owner")
		}
		for k, id := range one.Nodes {
			if !r.nodes[id] {
				return at(fmt.Errorf("pricing: there is no node %d", id), "pricing", "rules", i, "nodes", k)
			}
		}
		d.PriceRules.Rules = append(d.PriceRules.Rules, NodeRule{one.Owner, one.Nodes, rule})
	}
	return nil
}

// noOwner says that no node is of that owner.
func (r *reader) noOwner(key, name string) error {
	if len(r.owners) == 0 {
		return fmt.Errorf("%s: there is no owner %q: the nodes name none (a column owner, or generate: {owners: N})", key, name)
	}
	return fmt.Errorf("%s: there is no owner %q: there are %s", key, name, strings.Join(slices.Sorted(maps.Keys(r.owners)), ", "))
}

// queueYAML is the key queue of local.
type queueYAML struct {
	Policy string `yaml:"policy"`
	// Jobs is a CSV file: owner,submit,length and, if wanted, nodes and runtime.
	Jobs string `yaml:"jobs"`
	// Gap and the others generate the jobs of every owner instead.
	Gap    float64   `yaml:"gap"`
	Nodes  rangeYAML `yaml:"nodes"`
	Length rangeYAML `yaml:"length"`
	Real   rangeYAML `yaml:"real"`
	Until  float64   `yaml:"until"`
}

func (r *reader) readLocalQueue(d *Domain, y *queueYAML) (err error) {
	q := &LocalQueues{Policy: y.Policy}
	d.Local.Queue = q
	if y.Policy != "" {
		if _, err := r.tables.Policies.Parse(y.Policy); err != nil {
			return at(fmt.Errorf("local: queue: policy: %w", err), "local", "queue", "policy")
		}
	}
	if len(r.owners) == 0 {
		return at(errNoOwners, "local", "queue")
	}
	if y.Jobs == "" {
		q.Load = &vo.OwnJobs{Gap: y.Gap}
		for _, x := range []struct {
			key  string
			from rangeYAML
			to   *vo.Range
		}{{"nodes", y.Nodes, &q.Load.Nodes}, {"length", y.Length, &q.Load.Length}, {"real", y.Real, &q.Load.Real}} {
			if *x.to, err = r.rangeAt(x.from, "local", "queue", x.key); err != nil {
				return err
			}
		}
		if err := q.Load.Check(); err != nil {
			return at(fmt.Errorf("local: queue: %w", err), "local", "queue")
		}
		if !positive(y.Until) {
			return at(errors.New("want the time at which the last jobs come, above 0"), "local", "queue", "until").wanting()
		}
		q.Until = des.Seconds(y.Until)
		return nil
	}
	return r.readCSV("local: queue", y.Jobs, []string{"owner", "submit", "length"}, func(_ *csvtable.Table, row *csvtable.Row) error {
		owner, submit, length := row.Text("owner"), row.Number("submit"), row.Number("length")
		nodes, runtime := 1, row.NumberOr("runtime", length)
		if row.Has("nodes") {
			nodes = row.Int("nodes")
		}
		switch {
		case row.Err() != nil:
			return row.Err()
		case !r.owners[owner]:
			return row.At(r.noOwner("owner", owner))
		case submit < 0 || des.Seconds(length) <= 0 || nodes < 1 || runtime < 0 || runtime > length:
			return row.At(errors.New("want submit of 0 or more, a length above 0, a node or more, and a runtime that is not above the length"))
		}
		q.Listed = append(q.Listed, OwnJob{owner, entity.Job{User: -1, Group: -1, Queue: -1, Submit: des.Seconds(submit), Runtime: des.Seconds(runtime),
			Request: entity.Request{Nodes: nodes, Length: des.Seconds(length)}}})
		return nil
	})
}
