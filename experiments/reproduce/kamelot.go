package reproduce

import (
	"math/bits"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// kamelot is the policy of OAR's scheduler of that name: at each decision every job that waits is
// planned anew, in the order of submission, in the earliest window in which enough nodes are free
// throughout. It takes the free nodes with the least numbers. Nodes are named: three that are each
// free for a part of the time are no room for a job.
//
// It is for up to 64 nodes, each of which is a bit of a number.
type kamelot struct {
	// nodes is the number of nodes; nodes of a set are bits 0 to nodes-1.
	nodes int
	on    map[*entity.Run]uint64 // the nodes of those that run; never iterated
}

// Name implements entity.Policy.
func (*kamelot) Name() string { return "kamelot" }

// busy is a set of nodes that do something in [from, to).
type busy struct {
	nodes    uint64
	from, to des.Time
}

// Schedule implements entity.Policy.
func (k *kamelot) Schedule(r *entity.Round) {
	var plan []busy
	for j := range r.Running() {
		plan = append(plan, busy{k.on[j], j.Start, j.Reservation.Window.End})
	}
	for _, j := range slices.Collect(r.Waiting()) {
		b := k.earliest(plan, r.Now, j.Request)
		plan = append(plan, b)
		if b.from == r.Now {
			k.on[j] = b.nodes
			r.Reserve(j, entity.Window{Start: b.from, End: b.to, Nodes: j.Request.Nodes})
		}
	}
}

// earliest returns the first window for a request beside a plan. Room only begins where something
// ends, so that no other instant is tried. A request that fits the empty machine always finds one.
func (k *kamelot) earliest(plan []busy, now des.Time, req entity.Request) busy {
	starts := []des.Time{now}
	for _, b := range plan {
		starts = append(starts, b.to)
	}
	slices.Sort(starts)
	for _, from := range slices.Compact(starts) {
		if from < now {
			continue
		}
		to := from.Add(req.Length)
		free := uint64(1)<<k.nodes - 1
		for _, b := range plan {
			if b.from < to && from < b.to {
				free &^= b.nodes
			}
		}
		if bits.OnesCount64(free) >= req.Nodes {
			return busy{lowest(free, req.Nodes), from, to}
		}
	}
	return busy{} // the last start is behind all that is planned
}

// lowest returns the n lowest of a set of nodes.
func lowest(of uint64, n int) (set uint64) {
	for range n {
		bit := of & -of
		set |= bit
		of &^= bit
	}
	return set
}
