// Which of two windows a search would prefer: for choices among windows that
// were found apart, as by the sites of a grid.

package window

import (
	"cmp"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Compare is below 0 where the search by prefers a to b, above 0 where it prefers
// b, and 0 where it cannot tell: they are worth the same, one of them is none of
// its own (nil, or without named nodes), or the search is not of this package. It
// goes by Window.Value, as the search has shown it. A search that stands for another
// one tells which by a method Unwrap.
func Compare(by entity.Criterion, a, b *entity.Window) int {
	if a == nil || b == nil || a.Tasks == nil || b.Tasks == nil {
		return 0
	}
	order := cmp.Compare(a.Value, b.Value)
	switch f := by.(type) {
	case interface{ Unwrap() plan.Finder }:
		return Compare(f.Unwrap(), a, b)
	case ALP, AMP, AEP, CSA:
		return order
	case Cheapest:
		if f.Goal != MostWorth {
			return order
		}
		return greater(f.By, order)
	case Best:
		return greater(f.By, order)
	case MultipleBest:
		return greater(f.By, order)
	case KnapsackDP:
		return greater(f.By, order)
	}
	return 0
}

// greater turns an order of values into one of preference by a criterion, which
// is maximised but for those that are shown with their sign changed.
func greater(by Criterion, order int) int {
	if reported(by, 1) < 0 {
		return order
	}
	return -order
}
