// Who gets what of a batch: the limits T* and B* as shares of what the
// alternatives leave open.

package cyclic

import (
	"context"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Shares are parts from 0 to 1 of what a batch's alternatives leave open. META
// and AMP11 have two limits, the means and, in AMP11 (3), the largest income;
// the shares between the extremes are ours.
//
//	least cost          B*             largest income    all within T*
//	    |---------------|----------------------|
//	      Owners             1 - Owners
type Shares struct {
	// Owners is the part of the batch's Gain that B* lets owners have: 0 leaves
	// all of it to the users, 1 is AMP11 (3). Where the problem is BatchTime a
	// larger share never lowers the owners' income.
	Owners float64
	// Time is the part of the time between the quickest and the slowest
	// combination that T* allows: 0 only the quickest, 1 any. A larger one never
	// lowers the income of OwnersProfit.
	Time float64
}

func (s Shares) check() error {
	for _, x := range []float64{s.Owners, s.Time} {
		if !(x >= 0 && x <= 1) {
			return plan.BadInput("a share must be in [0, 1], not %v", x)
		}
	}
	return nil
}

// budget is B*.
func (s Shares) budget(g Gain) float64 { return between(g.Least, g.Most, s.Owners) }

// time is T* in ticks.
func (s Shares) time(alternatives [][]entity.Window) float64 {
	least, most := 0.0, 0.0
	for _, windows := range alternatives {
		quick := windows[0].ProcessorTime()
		slow := quick
		for i := range windows {
			quick, slow = min(quick, windows[i].ProcessorTime()), max(slow, windows[i].ProcessorTime())
		}
		least += float64(quick)
		most += float64(slow)
	}
	return between(least, most, s.Time)
}

// between is exact at both ends, and rises with the share.
func between(low, high, share float64) float64 {
	return min(high, float64((1-share)*low)+float64(share*high))
}

// Gain is the money that a batch has to share: the difference, within T*, between the least cost
// that its users can pay and the greatest that its owners can earn.
type Gain struct {
	Least, Most float64 // total costs
	// Owners, Organisation and Users are the parts that a combination gives to each; they
	// add up to Most - Least. Owners get its cost above Least, the organisation keeps the
	// rest of B*, users save the difference of B* to Most.
	Owners, Organisation, Users float64
}

// Gain tells who gets what of a combination of the alternatives, with both limits
// as c has them.
func (c Choice) Gain(ctx context.Context, alternatives [][]entity.Window, picks []int) (Gain, error) {
	v, err := c.Vector(ctx, alternatives, picks)
	if err != nil {
		return Gain{}, err
	}
	g, err := c.extremes(ctx, alternatives, nil)
	if err != nil {
		return Gain{}, err
	}
	g.Owners, g.Organisation, g.Users = v.C-g.Least, v.D, g.Most-(v.C+v.D)
	return g, nil
}

// extremes is the gain before anybody has any of it.
func (c Choice) extremes(ctx context.Context, alternatives [][]entity.Window, before []Slice) (g Gain, err error) {
	if g.Least, err = c.extreme(ctx, UsersExpense, alternatives, before); err != nil {
		return Gain{}, err
	}
	g.Most, err = c.extreme(ctx, OwnersProfit, alternatives, before)
	return g, err
}
