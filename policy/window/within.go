// Windows that must not span the parts of a plan: the domains of a virtual
// organisation.

package window

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Within is a search for windows whose nodes all have the same value of a label. Of the
// windows that Finder finds for the nodes of each value it returns the best by plan.Compare;
// of equal windows the earliest, then the window whose value comes first in the list.
type Within struct {
	Finder plan.Finder // searches the nodes of each value
	Label  string      // name of the label
}

// Name returns the name of the search, and the label.
func (w Within) Name() string { return fmt.Sprintf("%s within a %s", w.Finder.Name(), w.Label) }

// Find implements plan.Finder. It asks Finder once for each value.
func (w Within) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	var order []string
	parts := map[string][]entity.Slot{}
	for _, s := range list.Slots {
		if s.Node == nil {
			return plan.Found{}, plan.BadInput("a slot has no node, whose %s could be asked for", w.Label)
		}
		value := s.Node.Labels[w.Label]
		if parts[value] == nil {
			order = append(order, value)
		}
		parts[value] = append(parts[value], s)
	}
	var best plan.Found
	var work plan.Work
	alternatives, gap := 0, 0.0
	for _, value := range order {
		found, err := w.Finder.Find(ctx, req, plan.SlotList{From: list.From, To: list.To, Slots: parts[value], Checked: list.Checked}, until)
		if err != nil {
			return plan.Found{}, err
		}
		work.Add(found.Work)
		alternatives += found.Alternatives
		if !found.OK {
			continue
		}
		// No window of this part is preferred to its found one by more than its gap, and none of the
		// found ones to the best. So none is to the best by more than the greatest gap.
		gap = max(gap, found.Gap)
		if better := plan.Compare(w.Finder, &found.Window, &best.Window); !best.OK || better < 0 || better == 0 && found.Window.Start < best.Window.Start {
			best = found
		}
	}
	best.Work, best.Alternatives, best.Gap = work, alternatives, gap
	return best, nil
}
