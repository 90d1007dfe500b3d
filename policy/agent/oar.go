// OAR, "offers + advance reservation" (OAR11). A broker places a job of P tasks:
//
//  1. It asks all clusters for their offers: every free slot, with the time at which a task of
//     the job would end there.
//  2. It sorts the offers by that time.
//  3. It takes the best until they cover P, of the last one only as much as needed, and sends a
//     reservation request for each.
//  4. Several brokers get the same offers, so a request can fail; that part of the job is the
//     regulator's then, as is what no offer covers.

package agent

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
)

// OAR is the strategy "offers + advance reservation".
type OAR struct{ learnsNothing }

// Name returns "oar".
func (OAR) Name() string { return "oar" }

// Place asks for offers and reserves the best.
func (OAR) Place(b *grid.Broker, j *entity.Job) {
	reserveBest(b, j, byFinish)
}

// reserveBest is steps 1 to 4, by an order of offers.
func reserveBest(b *grid.Broker, j *entity.Job, order func(x, y grid.Offer) int) {
	b.AskOffers(j, func(offers []grid.Offer) {
		slices.SortFunc(offers, order)
		left := cover(offers, j.Request.Nodes, func(o grid.Offer, nodes int) { b.Reserve(j, o, nodes) })
		if left > 0 {
			b.Intervene(j, left)
		}
	})
}

// byFinish puts the slot that ends first first; equals stand in the order of
// the clusters.
func byFinish(a, b grid.Offer) int {
	return cmp.Or(cmp.Compare(a.Finish(), b.Finish()), cmp.Compare(a.Agent.Index, b.Agent.Index))
}

// cover takes offers in order until they have room for that many tasks, and returns how many
// tasks are left over.
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

// learnsNothing is the part of a strategy that goes by no answers.
type learnsNothing struct{}

// Done learns nothing.
func (learnsNothing) Done(*grid.Broker, *grid.Fragment) {}
