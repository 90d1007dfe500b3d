package simulation

import (
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// gridPlaces numbers the processors of a grid, so that the row of a job as a whole can say which
// ones it had: sites one after the other, in the order of clusters-STRATEGY.csv, and nodes in their
// order there.
type gridPlaces struct {
	sites  []*sitePlaces
	places map[int64][]procset.Range // of jobs that run, by ID; never iterated
}

// newGridPlaces returns the places of a grid, or nil if sites have jobs of their own: a site's
// observer hears of parts of brokers' jobs and of own jobs alike, and IDs of the latter may be the
// same.
func newGridPlaces(leaves []leaf) *gridPlaces {
	w := &gridPlaces{places: map[int64][]procset.Range{}}
	before := 0
	for _, l := range leaves {
		if l.cluster != nil && l.cluster.Local != "" {
			return nil
		}
		s := &sitePlaces{gridPlaces: w, before: int32(before)}
		if l.domain != nil {
			s.index = l.parts.index
		}
		w.sites = append(w.sites, s)
		before += l.size()
	}
	return w
}

// size returns how many processors or nodes a site has.
func (l leaf) size() int {
	if l.domain != nil {
		return len(l.parts.nodes)
	}
	return l.cluster.Processors
}

// size returns how many processors and nodes all sites have.
func (p *drawnGrid) size() (n int) {
	for _, l := range p.leaves {
		n += l.size()
	}
	return n
}

// place returns where a job that has ended ran, all its parts together, and forgets it. The sites'
// observers have heard of the ends of all parts by then.
func (w *gridPlaces) place(r *entity.Run) []procset.Range {
	place := procset.Join(w.places[r.ID])
	delete(w.places, r.ID)
	return place
}

// sitePlaces is an observer of the jobs of one site. Its first processor or node has the number
// before.
type sitePlaces struct {
	*gridPlaces
	before int32
	index  map[int]int // of nodes, by their IDs; never iterated
}

// Observe keeps the place of a part that has ended. A part on a cluster has a Place, a part on a
// domain a window with tasks.
func (s *sitePlaces) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobFinished && e.Kind != entity.JobKilled {
		return
	}
	r := e.Run
	place := slices.Clone(r.Place)
	for _, t := range r.Reservation.Window.Tasks {
		at := int32(s.index[t.Node.ID])
		place = append(place, procset.Range{First: at, Last: at})
	}
	for _, p := range place {
		s.places[r.ID] = append(s.places[r.ID], procset.Range{First: s.before + p.First, Last: s.before + p.Last})
	}
}
