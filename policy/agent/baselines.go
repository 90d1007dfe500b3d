package agent

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
)

// RoundRobin sends jobs to the clusters in turn, whole; one that is larger than
// its cluster goes on to the next ones.
type RoundRobin struct {
	learnsNothing
	next int
}

// Name returns "round-robin".
func (*RoundRobin) Name() string { return "round-robin" }

// Place sends the job to the cluster whose turn it is.
func (r *RoundRobin) Place(b *grid.Broker, j *entity.Job) {
	agents := b.Agents()
	fill(b, j, func(i int) *grid.ResourceAgent { return agents[(r.next+i)%len(agents)] })
	r.next = (r.next + 1) % len(agents)
}

// ShortestQueue asks all clusters for their waiting work and sends the job to the cluster
// with the least waiting processor time per processor. A job that is larger than this
// cluster goes on to the next best.
type ShortestQueue struct{ learnsNothing }

// Name returns "shortest-queue".
func (ShortestQueue) Name() string { return "shortest-queue" }

// Place asks, and sends.
func (ShortestQueue) Place(b *grid.Broker, j *entity.Job) {
	b.AskLoad(func(loads []grid.Backlog) {
		if len(loads) == 0 {
			b.Intervene(j, j.Request.Nodes)
			return
		}
		slices.SortFunc(loads, func(x, y grid.Backlog) int {
			return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.Agent.Index, y.Agent.Index))
		})
		fill(b, j, func(i int) *grid.ResourceAgent { return loads[i%len(loads)].Agent })
	})
}

// fill sends the tasks of j to agents in turn, to each as many as it has
// processors, over and over.
func fill(b *grid.Broker, j *entity.Job, turn func(i int) *grid.ResourceAgent) {
	left := j.Request.Nodes
	for i := 0; left > 0; i++ {
		a := turn(i)
		n := min(left, a.Processors())
		b.Submit(j, a, n)
		left -= n
	}
}

// Central chooses as OAR does, but sees every plan and reserves at once: no messages, no
// conflicts. It is OAR without the network. The regulator is called for tasks that no site
// offers to take.
type Central struct{ learnsNothing }

// Name returns "central".
func (Central) Name() string { return "central" }

// Place takes the slots that end first.
func (Central) Place(b *grid.Broker, j *entity.Job) {
	var offers []grid.Offer
	for _, a := range b.Agents() {
		offers = append(offers, a.Offers(j.Request)...)
	}
	slices.SortFunc(offers, byFinish)
	left := cover(offers, j.Request.Nodes, func(o grid.Offer, nodes int) { b.Seize(j, o, nodes) })
	if left > 0 {
		b.Intervene(j, left)
	}
}
