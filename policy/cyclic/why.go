package cyclic

// What holds the jobs of a batch that are given no window; see entity.Why.

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

// explain says what holds the jobs that get no window, before the others get theirs.
func explain(r *entity.Round, batch []*entity.Run, out *Outcome) {
	if !r.WhyObserved() || out.Planned() == len(out.Jobs) {
		return
	}
	nodes, err := slots(r)
	if err != nil {
		return
	}
	list := nodes.SlotList()
	for i, j := range batch {
		if d := &out.Jobs[i]; !d.OK {
			r.TellWhy(j, why(r, j.Request, d, list))
		}
	}
}

// explainAhead says what holds a job until the start of the window that it is about to get: what
// the plan has until then, or that the planner has preferred this window to an earlier one.
func explainAhead(r *entity.Round, j *entity.Run, start des.Time) {
	if start <= r.Now || !r.WhyObserved() {
		return
	}
	why := entity.Why{What: entity.ReservedAhead, Start: start}
	if _, earlier := r.Plan.Find(j.Request, r.Now, start-des.Tick); earlier {
		why.Text = entity.LaterPreferred
	} else {
		why.By = r.BlockerOf(j, start)
	}
	r.TellWhy(j, why)
}

// why returns the obstacle of a job for which d has no window: the limit of its slice; the job's
// budget, if it could not pay for a window even with all slots that were free in this cycle; or
// NoWindow.
//
// That is asked of AMP, whatever search the job was planned by: it finds a window within a
// budget wherever there is one, and without a budget the earliest.
func why(r *entity.Round, asked entity.Request, d *Decision, list plan.SlotList) entity.Why {
	if e := d.Infeasible; e != nil {
		if e.Problem == BatchTime || e.Within != 0 {
			return entity.Why{What: entity.BudgetLimitLow, Short: e.Excess()}
		}
		return entity.Why{What: entity.TimeLimitLow, Short: e.Excess()}
	}
	none := entity.Why{What: entity.NoWindow}
	if asked.Budget == 0 {
		return none
	}
	if found, err := (window.AMP{}).Find(r.Context(), asked, list, list.To); err != nil || found.OK {
		none.Text = "others of its batch had what it could have paid for"
		return none
	}
	free := asked
	free.Budget = 0
	found, err := (window.AMP{}).Find(r.Context(), free, list, list.To)
	if err != nil || !found.OK {
		return none
	}
	return entity.Why{What: entity.OverBudget, Start: found.Window.Start, Short: found.Window.Cost - asked.Budget}
}
