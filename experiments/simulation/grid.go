package simulation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/vo"
)

// Grid is a machine of sites that each have a scheduler, clusters and domains, and of brokers who
// place jobs on the sites over a network. WithDefaults fills in what is not given.
type Grid struct {
	Clusters []ClusterSite `yaml:"clusters"`
	Domains  []DomainSite  `yaml:"-"` // they come behind the clusters
	Grids    []GridSite    `yaml:"-"` // and these behind the domains
	// Brokers is the number of brokers; 0 means 7, as in OAR11.
	Brokers int     `yaml:"brokers"`
	Assign  Assign  `yaml:"assign"` // which jobs go to which broker
	Network Network `yaml:"network"`
	// Expiry is the time in seconds for which a site keeps an emergency reservation that is neither
	// committed nor cancelled; 0 means grid.DefaultExpiry.
	Expiry float64 `yaml:"expiry"`
	// Log asks for log-STRATEGY.txt, a line for each message of a negotiation.
	Log bool `yaml:"log"`

	// What follows is about the jobs of a grid that has domains.

	// Batches are the jobs of the grid if there is no trace, a batch at the beginning of each
	// Cycle; nil if there are none. Cycle counts only for Batches: each domain has a cycle of its
	// own.
	Batches *vo.Batches `yaml:"-"`
	Cycle   des.Time    `yaml:"-"`
	// Pricing says how a trace's jobs become priced requests.
	Pricing vo.Priced `yaml:"-"`
	// Criteria are searches for windows by name: user u has the search at u modulo their number.
	Criteria []string `yaml:"-"`
}

// DomainSite is one domain of a grid or of a union, with owners and prices of its own.
type DomainSite struct {
	Name string // "domain-1" and so on where empty
	// Policy is the policy of the local manager, a policy of named nodes; "easy" if it is empty. In
	// a union it is empty, since the domains of a union are planned together.
	Policy     string
	QueueLimit int // see grid.ResourceAgent
	// Domain is the machine of the site. Its settings of jobs (Batches, Pricing, Criteria) do not
	// count here. Generated nodes and jobs of owners are drawn anew for each site.
	*Domain
}

// ClusterSite is one cluster of a grid. A broker's job that takes t according to the trace takes
// t / Speed here; the site's own jobs take what their log says.
type ClusterSite struct {
	Name       string  `yaml:"name"` // "cluster-1" and so on where empty; it becomes part of the names of files
	Processors int     `yaml:"processors"`
	Speed      float64 `yaml:"speed"` // its MIPS over the reference's, on which jobs take what the trace says; 0 means 1
	// Price is the price of a processor for a time unit, 0 to entity.MostPrice; 0 means free.
	Price float64 `yaml:"price"`
	// PayByUse makes brokers' jobs pay for the time that they use, not for the time that they
	// reserve. It needs a Price.
	PayByUse bool   `yaml:"pay_by_use"`
	Policy   string `yaml:"policy"` // of the local scheduler, a queue policy; "easy" where empty
	// Local are the site's own jobs: a log, a job file, a workflow or a source with its
	// parameters, as in Workload.Trace; "" is none.
	Local      string `yaml:"local"`
	QueueLimit int    `yaml:"queue_limit"` // see grid.ResourceAgent
}

// Network describes the links between brokers, sites and the regulator.
type Network struct {
	Latency float64 `yaml:"latency"` // seconds
	// Bandwidth is the bandwidth of each pair, each way, in bytes per second; nil means no limit.
	// With a bandwidth of 0 nothing passes.
	Bandwidth *float64 `yaml:"bandwidth"`
	// Links are the links of pairs that differ from the rest.
	Links []Link `yaml:"links"`
}

// Link is the link of a pair that differs from the others. A latency that is not given is 0 and a
// bandwidth that is not given is no limit; neither is taken from Network.
type Link struct {
	Between   [2]string `yaml:"between"` // names: of clusters, "broker-1" and so on, "regulator"
	Latency   float64   `yaml:"latency"`
	Bandwidth *float64  `yaml:"bandwidth"`
}

// Assign says which jobs go to which broker.
type Assign uint8

// AssignInTurn gives broker after broker a job, AssignByUser each user one broker.
const (
	AssignInTurn Assign = iota
	AssignByUser        // by the user's number; jobs of unknown users in turn
	AssignRandom
)

var assigns = enum.Of[Assign]("assign", "round-robin", "user", "random")

func (a Assign) String() string { return assigns.Name(a) }

// UnmarshalText reads "round-robin", "user" or "random".
func (a *Assign) UnmarshalText(text []byte) (err error) {
	*a, err = assigns.Parse(string(text))
	return err
}

// defaultStrategies are run where neither the call nor the file names any.
var defaultStrategies = []string{"oar", "rla"}

// maxSeconds bounds latencies and expiries, minSpeed and 1/minSpeed the speeds of clusters: within
// them no time of a job overflows.
const (
	maxSeconds = 1e9
	minSpeed   = 1e-3
	maxBrokers = 1_000_000
)

// Kind implements Machine.
func (*Grid) Kind() string { return "grid" }

// names reads the strategies. No two of them may be alike, and no two files of a run may have one
// name: names of sites and strategies stand side by side in them.
func (g *Grid) names(sc *Scenario, t *Tables) ([]policyName, error) {
	list := sc.Policies
	if len(list) == 0 {
		list = defaultStrategies
	}
	var all []policyName
	specs, err := policy.Specs(strings.Join(list, ","))
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		n, err := strategyName(t, spec)
		if err != nil {
			return nil, fmt.Errorf("a grid has strategies: %w", err)
		}
		if err := g.refuseSplitting(t, n.spec); err != nil {
			return nil, fmt.Errorf("a grid has strategies: %w", err)
		}
		if slices.ContainsFunc(all, func(o policyName) bool { return o.file == n.file }) {
			return nil, fmt.Errorf("a grid has strategies: %q is asked for twice", n.spec)
		}
		all = append(all, n)
	}
	files := map[string]string{}
	for _, n := range all {
		if err := fileNames(files, "jobs-"+n.file+".csv", "strategy "+n.spec); err != nil {
			return nil, err
		}
	}
	for _, n := range all {
		for _, site := range g.WithDefaults().leaves() {
			if err := fileNames(files, "jobs-"+n.file+"-"+site.file()+".csv", "site "+site.name+" under "+n.spec); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// strategies returns the strategies for which a name asks: one for all brokers, or one for each
// broker in turn, as in "cheapest+earliest".
func strategies(t *Tables, spec string) ([]policy.Chosen[func() grid.Strategy], error) {
	var all []policy.Chosen[func() grid.Strategy]
	for part := range strings.SplitSeq(spec, "+") {
		c, err := t.Strategies.Parse(part)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// strategyName returns a name as it was asked for and as files have it.
func strategyName(t *Tables, spec string) (policyName, error) {
	all, err := strategies(t, spec)
	if err != nil {
		return policyName{}, err
	}
	var specs, files []string
	for _, c := range all {
		specs, files = append(specs, c.Spec), append(files, c.FileName())
	}
	return policyName{spec: strings.Join(specs, "+"), file: strings.Join(files, "+")}, nil
}

// check refuses settings that mean nothing on a grid. Without domains the sample stands for a
// missing trace, as on a cluster.
func (g *Grid) check(sc *Scenario) error {
	if sc.Flows.Reservations != "" {
		return wrong("reservations", "they are made with a cluster or a domain; in a grid it is the brokers who reserve")
	}
	if g.hasDomains() {
		switch {
		case sc.Workload.Trace == "" && sc.Workload.Jobs == nil && g.Batches == nil:
			return errors.New("no jobs: give a TRACE, or batches in the file")
		case sc.Workload.Trace == "" && sc.Workload.Jobs == nil:
			if err := sc.needsTrace(); err != nil {
				return err
			}
		case sc.Workload.Options.Overrun == entity.OverrunExtend:
			return wrong("overrun", "extend: on the nodes of a domain a job is always cut at the end of its reservation")
		}
	}
	return g.Check()
}

// WithDefaults returns a copy of the grid with everything filled in that is not given. The copy of
// a full grid is the same, so that callers need not know whether that was done.
func (g *Grid) WithDefaults() *Grid {
	full := *g
	full.Brokers = cmp.Or(g.Brokers, 7)
	full.Clusters = make([]ClusterSite, len(g.Clusters))
	for i, k := range g.Clusters {
		k.Name = cmp.Or(k.Name, fmt.Sprintf("cluster-%d", i+1))
		k.Speed = cmp.Or(k.Speed, 1)
		k.Policy = cmp.Or(k.Policy, "easy")
		full.Clusters[i] = k
	}
	full.Domains = make([]DomainSite, len(g.Domains))
	for i, d := range g.Domains {
		d.Name = cmp.Or(d.Name, fmt.Sprintf("domain-%d", i+1))
		d.Policy = cmp.Or(d.Policy, "easy")
		full.Domains[i] = d
	}
	full.Grids = make([]GridSite, len(g.Grids))
	for i, s := range g.Grids {
		full.Grids[i] = s.withDefaults(i)
	}
	return &full
}

// brokerName returns the name of the i-th broker, from broker-1 on.
func brokerName(i int) string { return fmt.Sprintf("broker-%d", i+1) }

// Check reports what makes the grid meaningless, or nil: a *placeError that says where that stands
// in the grid's file.
func (g *Grid) Check() error {
	g = g.WithDefaults()
	taken := map[string]bool{"regulator": true}
	if g.Brokers > maxBrokers {
		return faultAt(fmt.Errorf("brokers: want %d or fewer, not %d", maxBrokers, g.Brokers), "brokers")
	}
	for i := range g.Brokers {
		taken[brokerName(i)] = true
	}
	switch {
	case g.Brokers < 1:
		return faultAt(fmt.Errorf("brokers: a grid needs 1 broker or more, not %d", g.Brokers), "brokers")
	case !(g.Expiry >= 0) || g.Expiry > maxSeconds:
		return faultAt(fmt.Errorf("expiry: want 0 (the default) to %g seconds, not %v", maxSeconds, g.Expiry), "expiry")
	}
	return g.checkSites(taken, "broker-1 to "+brokerName(g.Brokers-1)+" and the regulator")
}

// checkSites checks the sites of one level, and the network between them and those who have the
// names in taken. others is these names for people. Names of sites are added to taken.
func (g *Grid) checkSites(taken map[string]bool, others string) error {
	if len(g.Clusters)+len(g.Domains)+len(g.Grids) == 0 {
		return faultAt(errors.New("a grid needs clusters or domains, as in clusters: [{processors: 64}]"), "clusters")
	}
	for i, k := range g.Clusters {
		if err := faultUnder(k.check(taken), "clusters", i); err != nil {
			return err
		}
		taken[k.Name] = true
	}
	for i, d := range g.Domains {
		if err := faultUnder(d.check(taken), "domains", i); err != nil {
			return err
		}
		taken[d.Name] = true
	}
	for i, s := range g.Grids {
		if err := faultUnder(s.check(taken), "grids", i); err != nil {
			return err
		}
		taken[s.Name] = true
	}
	for i, l := range g.Network.Links {
		for _, name := range l.Between {
			if !taken[name] {
				return faultAt(fmt.Errorf("a link names %q, which is no entity: there are the %s, %s", name, g.kinds(), others), "network", "links", i)
			}
		}
		if l.Between[0] == l.Between[1] {
			return faultAt(fmt.Errorf("a link leads from %q to itself", l.Between[0]), "network", "links", i)
		}
	}
	_, err := g.Network.network()
	return err
}

// checkName refuses the name of a site that is taken, or that cannot be part of a file's name.
func checkName(name string, taken map[string]bool) error {
	switch {
	case taken[name]:
		return faultAt(fmt.Errorf("name: two entities are called %q", name), "name")
	case !isFileName(name):
		return faultAt(fmt.Errorf("name: %q cannot be part of the name of a file, which a site's name becomes: use letters, digits, and any of . _ + - between them", name), "name")
	}
	return nil
}

// check refuses a domain that cannot be a site.
func (d DomainSite) check(taken map[string]bool) error {
	if err := checkName(d.Name, taken); err != nil {
		return err
	}
	switch {
	case d.Domain == nil || !(d.Cycle > 0):
		return faultAt(fmt.Errorf("%s: a domain needs nodes and a cycle", d.Name))
	case d.QueueLimit < 0:
		return faultAt(fmt.Errorf("%s: queue_limit must not be negative: %d", d.Name, d.QueueLimit), "queue_limit")
	}
	return nil
}

// check refuses a cluster that cannot be a site. Comparisons are written so that NaN fails them.
func (k ClusterSite) check(taken map[string]bool) error {
	if err := checkName(k.Name, taken); err != nil {
		return err
	}
	switch {
	case k.Processors < 1 || k.Processors > math.MaxInt32:
		return faultAt(errWantProcessors, "processors").wanting()
	case !(k.Speed >= minSpeed && k.Speed <= 1/minSpeed):
		return faultAt(fmt.Errorf("%s: speed must be %g to %g, not %v", k.Name, minSpeed, 1/minSpeed, k.Speed), "speed")
	case !(k.Price >= 0 && k.Price <= entity.MostPrice):
		return faultAt(fmt.Errorf("%s: price must be 0 (free) to %g for a processor and a time unit, not %v", k.Name, entity.MostPrice, k.Price), "price")
	case k.PayByUse && k.Price == 0:
		return faultAt(fmt.Errorf("%s: pay_by_use is about a price: give one, as in price: 2", k.Name), "pay_by_use")
	case k.QueueLimit < 0:
		return faultAt(fmt.Errorf("%s: queue_limit must not be negative: %d", k.Name, k.QueueLimit), "queue_limit")
	}
	return nil
}

// isFileName reports whether a name can be part of a file's name on any system, and leads to no
// other folder: letters and digits, with some signs between them.
func isFileName(name string) bool {
	for i, r := range name {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
		case i > 0 && i < len(name)-1 && strings.ContainsRune("._+- ", r):
		default:
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// network returns the network in the form that the entities use.
func (n Network) network() (*grid.Network, error) {
	var err error
	made := &grid.Network{Links: map[[2]string]grid.Link{}}
	if made.Default, err = newLink(n.Latency, n.Bandwidth); err != nil {
		return nil, faultAt(fmt.Errorf("network: %w", err), "network")
	}
	for i, l := range n.Links {
		if made.Links[l.Between], err = newLink(l.Latency, l.Bandwidth); err != nil {
			return nil, faultAt(fmt.Errorf("link %v: %w", l.Between, err), "network", "links", i)
		}
	}
	return made, nil
}

// newLink returns a link; a nil bandwidth is no limit.
func newLink(latency float64, bandwidth *float64) (grid.Link, error) {
	if !(latency >= 0 && latency <= maxSeconds) {
		return grid.Link{}, fmt.Errorf("latency must be 0 to %g seconds, not %v", maxSeconds, latency)
	}
	l := grid.Direct()
	l.Latency = des.Seconds(latency)
	if bandwidth != nil {
		l.Bandwidth = *bandwidth
	}
	return l, l.Check()
}
