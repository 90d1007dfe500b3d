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

// GridSite is a site of a grid that is itself a metascheduler over sites, which it
// hides (grid.Grid.AddGrid).
type GridSite struct {
	Name string // "grid-1" and so on where empty
	// Strategy is the metascheduler's: one for rigid jobs; "earliest" where empty.
	Strategy string
	Offers   Offers
	// Grid has its sites and the network between them. What else a grid says does not
	// count here.
	*Grid
}

// Offers says what a metascheduler tells the one above it.
type Offers uint8

const (
	BestOffer Offers = iota // the best of its sites' offers, by its strategy
	AllOffers               // all of them
)

var offers = enum.Of[Offers]("offers", "best", "all")

func (o Offers) String() string { return offers.Name(o) }

func (s GridSite) withDefaults(i int) GridSite {
	s.Name = cmp.Or(s.Name, fmt.Sprintf("grid-%d", i+1))
	s.Strategy = cmp.Or(s.Strategy, "earliest")
	s.Grid = s.Grid.WithDefaults()
	return s
}

func (s GridSite) check(taken map[string]bool) error {
	if err := checkName(s.Name, taken); err != nil {
		return err
	}
	return s.checkSites(map[string]bool{"broker": true, "regulator": true}, "its broker and its regulator")
}

// kinds are what sites there are, for an error.
func (g *Grid) kinds() string {
	if len(g.Grids) > 0 {
		return "clusters, domains and grids"
	}
	return "clusters and domains"
}

// leaf is a site, of any level, that is no grid.
type leaf struct {
	name    string       // north/astra
	cluster *ClusterSite // or
	domain  *DomainSite
	parts   *drawnDomain // of a domain
	own     *siteJobs    // of a cluster with jobs of its own
	within  []GridSite   // whose site it is, from above
	path    []any        // where it stands in the file
}

// file is the name as part of a file's.
func (l leaf) file() string { return strings.ReplaceAll(l.name, "/", "-") }

// domains are those of all levels, as drawn.
func (p *drawnGrid) domains() []*drawnDomain {
	var all []*drawnDomain
	for _, l := range p.leaves {
		if l.parts != nil {
			all = append(all, l.parts)
		}
	}
	return all
}

// leaves are those of all levels, in the order of their agents.
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

// checkPolicy refuses the policy of the local manager where there is none of that
// name.
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

// policy is the policy of the local manager, which has been checked.
func (l leaf) policy(t *Tables, defaults ...string) entity.Policy {
	if l.domain != nil {
		chosen, _ := t.Nodes.Parse(l.domain.Policy, defaults...)
		return chosen.Value.Policy
	}
	chosen, _ := t.Policies.Parse(l.cluster.Policy, defaults...)
	return chosen.Value
}

// router is the strategy of a metascheduler.
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

func splits(spec string) error {
	return fmt.Errorf("%q splits jobs, and a site that is a grid takes them whole: choose one for rigid jobs, such as earliest or distributed", spec)
}

// refuseSplitting refuses strategies of the brokers that split jobs, where a site is a grid.
func (g *Grid) refuseSplitting(t *Tables, spec string) error {
	if one := splitting(t, spec); one != "" && len(g.Grids) > 0 {
		return splits(one)
	}
	return nil
}

// splitting is the first of the strategies of a spec, which has been read, that splits jobs; ""
// if none does.
func splitting(t *Tables, spec string) string {
	all, _ := strategies(t, spec)
	for _, c := range all {
		if _, ok := c.Value().(grid.Router); !ok {
			return c.Spec
		}
	}
	return ""
}

// checkStrategies refuses those of metaschedulers that are none.
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

// levels are the grids of a run: that of the brokers, and those below.
type levels struct {
	tables *Tables
	top    *grid.Grid
	below  map[*Grid]*grid.Grid
}

// gridOf is the grid whose site a leaf is. It is made when its first leaf asks: so sites
// are in the order of the leaves.
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
