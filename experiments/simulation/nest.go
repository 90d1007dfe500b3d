package simulation

// Sites of a grid that are grids themselves.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/internal/enum"
)

// GridSite is a site of a grid that is itself a metascheduler over sites, which it hides from the
// grid above (grid.Grid.AddGrid).
type GridSite struct {
	Name string // "grid-1" and so on where empty
	// Strategy is the strategy of the metascheduler, a strategy for rigid jobs; "earliest" if it is
	// empty.
	Strategy string
	// Offers says what the metascheduler tells when the grid above asks for offers.
	Offers Offers
	// Grid has the sites of the metascheduler and the network between them. Its Brokers, jobs,
	// Expiry and Log do not count: the top grid has them.
	*Grid
}

// Offers says which offers of its sites a metascheduler passes on.
type Offers uint8

const (
	BestOffer Offers = iota // the best of its sites' offers, by its strategy
	AllOffers               // all of them
)

var offers = enum.Of[Offers]("offers", "best", "all")

func (o Offers) String() string { return offers.Name(o) }

// withDefaults fills in what is not given of the i-th grid of a list, on all levels below.
func (s GridSite) withDefaults(i int) GridSite {
	s.Name = cmp.Or(s.Name, fmt.Sprintf("grid-%d", i+1))
	s.Strategy = cmp.Or(s.Strategy, "earliest")
	s.Grid = s.Grid.WithDefaults()
	return s
}

// check refuses a grid that cannot be a site. Its sites have names of their own: two levels may use
// the same one.
func (s GridSite) check(taken map[string]bool) error {
	if err := checkName(s.Name, taken); err != nil {
		return err
	}
	return s.checkSites(map[string]bool{"broker": true, "regulator": true}, "its broker and its regulator")
}

// kinds returns which kinds of sites a link may name, for an error.
func (g *Grid) kinds() string {
	if len(g.Grids) > 0 {
		return "clusters, domains and grids"
	}
	return "clusters and domains"
}

// leaf is a site of any level that is no grid: the only ones on which jobs run. Exactly one of
// cluster and domain is set.
type leaf struct {
	// name leads to the site from the top: "north/astra".
	name    string
	cluster *ClusterSite // or
	domain  *DomainSite
	parts   *drawnDomain // of a domain
	own     *siteJobs    // of a cluster with jobs of its own
	within  []GridSite   // whose site it is, from above
	path    []any        // where it stands in the file
}

// file returns the name as part of a file's name: "north-astra".
func (l leaf) file() string { return strings.ReplaceAll(l.name, "/", "-") }

// domains returns the domains of all levels, as drawn.
func (p *drawnGrid) domains() []*drawnDomain {
	var all []*drawnDomain
	for _, l := range p.leaves {
		if l.parts != nil {
			all = append(all, l.parts)
		}
	}
	return all
}

// leaves returns the sites of all levels in the order of their agents: of each level first
// clusters, then domains, then those of grids. g must have its defaults.
func (g *Grid) leaves() []leaf {
	var all []leaf
	for i := range g.Clusters {
		all = append(all, leaf{name: g.Clusters[i].Name, cluster: &g.Clusters[i], path: []any{"clusters", i}})
	}
	for i := range g.Domains {
		all = append(all, leaf{name: g.Domains[i].Name, domain: &g.Domains[i], path: []any{"domains", i}})
	}
	for i, s := range g.Grids {
		for _, l := range s.leaves() {
			l.name = s.Name + "/" + l.name
			l.within = append([]GridSite{s}, l.within...)
			l.path = append([]any{"grids", i}, l.path...)
			all = append(all, l)
		}
	}
	return all
}

// hasDomains reports whether a site of any level is a domain.
func (g *Grid) hasDomains() bool {
	for _, l := range g.leaves() {
		if l.domain != nil {
			return true
		}
	}
	return false
}

// hasPrice reports whether the time of the site's nodes or processors costs something.
func (l leaf) hasPrice() bool { return l.domain != nil || l.cluster.Price > 0 }

// hasPrices reports whether a site of any level has a price.
func (g *Grid) hasPrices() bool { return slices.ContainsFunc(g.leaves(), leaf.hasPrice) }

// checkPolicy refuses a policy of the local manager that is not known.
func (l leaf) checkPolicy(t *Tables, defaults ...string) (err error) {
	if l.domain != nil {
		chosen, wrong := t.Nodes.Parse(l.domain.Policy, defaults...)
		if err = wrong; err == nil && chosen.Value.Within != "" {
			err = errors.New("within is for a domain by itself: at a site of a grid jobs that have a search of their own would not keep to it")
		}
	} else {
		_, err = t.Policies.Parse(l.cluster.Policy, defaults...)
	}
	if err != nil {
		return faultAt(fmt.Errorf("%s: policy: %w", l.name, err), append(l.path, "policy")...)
	}
	return nil
}

// policy returns the policy of the local manager, whose name has been checked.
func (l leaf) policy(t *Tables, defaults ...string) entity.Policy {
	if l.domain != nil {
		return policyNamed(t, l.domain.Policy, true, defaults...)
	}
	return policyNamed(t, l.cluster.Policy, false, defaults...)
}

// router returns the strategy of a metascheduler. It must be able to place whole jobs.
func (s GridSite) router(t *Tables) (grid.Router, error) {
	c, err := t.Strategies.Parse(s.Strategy)
	if err != nil {
		return nil, err
	}
	r, ok := c.Value().(grid.Router)
	if !ok {
		return nil, splits(c.Spec)
	}
	return r, nil
}

// splits returns the error for a strategy that splits jobs.
func splits(spec string) error {
	return fmt.Errorf("%q splits jobs, and a site that is a grid takes them whole: choose one for rigid jobs, such as earliest or distributed", spec)
}

// refuseSplitting refuses a strategy of the brokers that splits jobs, if a site is a grid.
func (g *Grid) refuseSplitting(t *Tables, spec string) error {
	if one := splitting(t, spec); one != "" && len(g.Grids) > 0 {
		return splits(one)
	}
	return nil
}

// splitting returns the first strategy of a spec, which has been read, that splits jobs; "" if none
// does.
func splitting(t *Tables, spec string) string {
	all, _ := strategies(t, spec)
	for _, c := range all {
		if _, ok := c.Value().(grid.Router); !ok {
			return c.Spec
		}
	}
	return ""
}

// checkStrategies refuses metaschedulers whose strategy is not known or splits jobs, on all levels.
func (g *Grid) checkStrategies(t *Tables) error {
	for i, s := range g.Grids {
		if _, err := s.router(t); err != nil {
			return faultAt(fmt.Errorf("%s: strategy: %w", s.Name, err), "grids", i, "strategy")
		}
		if err := faultUnder(s.checkStrategies(t), "grids", i); err != nil {
			return err
		}
	}
	return nil
}

// levels are the grids of a run: the grid of the brokers, and the grids below it by their descriptions.
type levels struct {
	tables *Tables
	top    *grid.Grid
	below  map[*Grid]*grid.Grid
}

// gridOf returns the grid whose site a leaf is. A grid is made when its first leaf asks, so that
// the agents are in the order of the leaves.
func (v *levels) gridOf(l leaf) (*grid.Grid, error) {
	at := v.top
	for _, s := range l.within {
		below := v.below[s.Grid]
		if below == nil {
			network, err := s.Network.network()
			if err != nil {
				return nil, err
			}
			router, err := s.router(v.tables)
			if err != nil {
				return nil, err
			}
			below = at.AddGrid(s.Name, network, router)
			below.AllOffers, below.Expiry, below.Log = s.Offers == AllOffers, v.top.Expiry, v.top.Log
			v.below[s.Grid] = below
		}
		at = below
	}
	return at, nil
}
