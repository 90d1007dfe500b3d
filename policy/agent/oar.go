package agent

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
)

// OAR is "offers + advance reservation" (OAR11): all offers of all clusters
// sorted by the time at which a task would end there, the best taken until they
// cover the job, the last one only as far as needed; one reservation request for
// each. Several brokers get the same offers, so a request can fail; that sub-job
// is the regulator's.
type OAR struct{}

// Name is "oar".
func (OAR) Name() string { return "oar" }

// Place asks for offers and reserves the best.
func (OAR) Place(b *grid.Broker, j *entity.Job) {
	b.AskOffers(j, func(offers []grid.Offer) {
		slices.SortFunc(offers, byFinish)
		left := cover(offers, j.Request.Nodes, func(o grid.Offer, nodes int) { b.Reserve(j, o, nodes) })
		if left > 0 {
			b.Intervene(j, left)
		}
	})
}

// Done learns nothing.
func (OAR) Done(*grid.Broker, *grid.Fragment) {}

// byFinish puts the slot that ends first first; equals stand in the order of
// the clusters.
func byFinish(a, b grid.Offer) int {
	if byEnd := cmp.Compare(a.Finish(), b.Finish()); byEnd != 0 {
		return byEnd
	}
	return cmp.Compare(a.Agent.Index, b.Agent.Index)
}

// cover takes offers in order until they have room for so many tasks, and
// returns how many are left over.
func cover(offers []grid.Offer, nodes int, take func(o grid.Offer, nodes int)) (left int) {
	for _, o := range offers {
		if nodes == 0 {
			break
		}
		n := min(nodes, o.Nodes)
		take(o, n)
		nodes -= n
	}
	return nodes
}
