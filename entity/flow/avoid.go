package flow

import (
	"errors"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// avoiding is the Placer that keeps jobs that are expected to run into an announced
// outage off its processors, and gives these to jobs that are expected to have ended
// before, as far as there are enough of either. Which ones a job gets among those is up
// to the Placer that was there before.
//
//	0-1 |[ ends before ]      [######## announced
//	2-3 |[ runs into it                 ]
//	    +--------------------------------------> time
type avoiding struct {
	outages *Outages
	inner   entity.Placer
}

// Place takes n free processors for r.
func (a avoiding) Place(free *procset.Set, r *entity.Run, n int, ranges []procset.Range) ([]procset.Range, error) {
	// Free, but lost before the job is expected to end, or after that. They are taken
	// for the moment. What is lost twice is lost soon if either is.
	end := r.Reservation.Window.End
	soon := a.lost(free, func(l *loss) bool { return l.From < end })
	later := a.lost(free, func(l *loss) bool { return l.From >= end })
	var err error
	withheld := soon
	switch {
	case len(later) >= n: // which nobody wants who stays longer
		others := slices.Collect(free.Ranges())
		for _, other := range others {
			err = errors.Join(err, free.Take(other))
		}
		withheld = append(withheld, others...)
	case free.Available()+len(later) < n:
		later = append(later, soon...)
		withheld = nil
	}
	if err = errors.Join(err, free.Free(later)); err != nil {
		return ranges, err
	}
	ranges, err = a.inner.Place(free, r, n, ranges)
	return ranges, errors.Join(err, free.Free(withheld))
}

// lost takes those of the free processors that an announced outage is about for which
// when is true.
func (a avoiding) lost(free *procset.Set, when func(*loss) bool) (taken []procset.Range) {
	for _, l := range a.outages.ahead {
		if !when(l) {
			continue
		}
		for p := range l.Numbers() {
			if one := entity.NodeAt(p).Set; free.Take(one[0]) == nil {
				taken = append(taken, one...)
			}
		}
	}
	return taken
}
