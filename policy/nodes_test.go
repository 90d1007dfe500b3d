package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/window"
)

func TestPoliciesOnNodesAreMadeFromTheirSpecs(t *testing.T) {
	for spec, want := range map[string]policy.OnNodes{
		"easy":            {Policy: backfill.EASY{}, Finder: window.AMP{}},
		"easy:finder=alp": {Policy: backfill.EASY{}, Finder: window.ALP{}},
		"conservative:finder=square-first-fit:compression=off": {
			Policy: backfill.Conservative{NoCompression: true}, Finder: window.Cheapest{Goal: window.FirstFit},
		},
		"css": {Policy: &cyclic.Policy{Planner: cyclic.CSS{Search: cyclic.Search{Finder: window.AMP{}}}}, Finder: window.AMP{}},
		"css:problem=batch-time:b-limit=income:t-limit=mean-up:max-cost=5:max-time=7:grid=1:rounds=2:alternatives=3:shift=slice:replan=on-release:finder=alp": {
			Policy: &cyclic.Policy{Replan: cyclic.ReplanOnRelease, Planner: cyclic.CSS{
				Search: cyclic.Search{Finder: window.ALP{}, Rounds: 2, PerJob: 3}, Shift: cyclic.ShiftSlice,
				Choice: cyclic.Choice{Problem: cyclic.BatchTime, BudgetLimit: cyclic.LargestIncome, TimeLimit: cyclic.MeanTimeUp, MaxCost: 5, MaxTime: 7 * des.Second, Grid: 1},
			}}, Finder: window.ALP{},
		},
		"css:problem=weights:weights=1/0/0.5/0:b-limit=income:front=20": {
			Policy: &cyclic.Policy{Planner: cyclic.CSS{
				Search: cyclic.Search{Finder: window.AMP{}}, Front: 20,
				Choice: cyclic.Choice{Problem: cyclic.Weighted, Weights: cyclic.Weights{C: 1, T: 0.5}, BudgetLimit: cyclic.LargestIncome},
			}}, Finder: window.AMP{},
		},
		"batch-slicer:k=5:by=price:first=least:b-limit=share:owners=0.2:t-limit=share:time=1": {
			Policy: &cyclic.Policy{Planner: cyclic.BatchSlicer{
				Slices: 5, By: cyclic.ByPrice, LeastFirst: true, Search: cyclic.Search{Finder: window.AMP{}},
				Choice: cyclic.Choice{BudgetLimit: cyclic.ShareOfIncome, TimeLimit: cyclic.ShareOfTime, Shares: cyclic.Shares{Owners: 0.2, Time: 1}},
			}}, Finder: window.AMP{},
		},
		"batch-slicer:by=criterion:first=greatest:b-limit=share:t-limit=share": {
			Policy: &cyclic.Policy{Planner: cyclic.BatchSlicer{
				By: cyclic.ByCriterion, Search: cyclic.Search{Finder: window.AMP{}},
				Choice: cyclic.Choice{BudgetLimit: cyclic.ShareOfIncome, TimeLimit: cyclic.ShareOfTime, Shares: cyclic.Shares{Owners: 0.5, Time: 0.5}},
			}}, Finder: window.AMP{},
		},
		"bsf:q=0.25:select=dearest:fill=conservative:k=4": {
			Policy: &cyclic.Policy{
				Planner: cyclic.BatchSlicer{Slices: 4, Search: cyclic.Search{Finder: window.AMP{}}},
				Rest:    backfill.Conservative{}, Share: cyclic.Share{Q: 0.25, By: cyclic.Dearest},
			}, Finder: window.AMP{},
		},
	} {
		got, err := policy.NodeRegistry().Parse(spec)
		require.NoError(t, err, spec)
		require.Equal(t, want, got.Value, spec)
	}
}

func TestTheUsersCriterionCanBeGiven(t *testing.T) {
	got, err := policy.NodeRegistry().Parse("batch-slicer:k=5:criterion=min-cost")
	require.NoError(t, err)
	require.Equal(t, window.AEP{By: window.MinCost}, got.Value.Policy.(*cyclic.Policy).Criterion(nil))
}

func TestWhatCannotBeReadOfAPolicyOnNodesSaysWhatIsWanted(t *testing.T) {
	for spec, want := range map[string]string{
		"css:problem=x":                       "want owners-profit, batch-time, users-expense, idleness or weights",
		"css:q=1":                             `css does not take "q"`,
		"bsf:q=2":                             "a number from 0 to 1",
		"bsf:fill=x":                          "fcfs, easy or conservative",
		"css:problem=weights":                 "want C/D/T/I with problem=weights",
		"css:weights=1/0/0/0":                 "problem=weights beside it",
		"css:problem=weights:weights=1/0":     "four numbers, C/D/T/I",
		"css:problem=weights:weights=0/0/0/0": "must not all be 0",
		"css:problem=weights:weights=1/0/0/0:grid=1": "which is exact",
		"css:owners=0.5":           "b-limit=share beside it",
		"css:t-limit=share:time=2": "a number from 0 to 1",
		"css:time=0.5":             "t-limit=share beside it",
		"css:front=1":              "2 or more",
		"css:by=price":             `css does not take "by"`,
		"bsf:by=x":                 "want order, criterion, nodes, volume, budget or price",
		"bsf:first=last":           "greatest or least",
		"css:order=x":              "one of submission",
		"batch-slicer:finder=x":    "one of alp, amp",
		"css:max-cost=-1":          "a number of 0 or more",
		"easy:finder=square-amp":   "one of alp, amp",
		"easy:within=":             "the name of a label",
		"batch-slicer:replan=then": "want never, on-release or every-cycle",
	} {
		_, err := policy.NodeRegistry().Parse(spec)
		require.ErrorContains(t, err, want, spec)
	}
}

func TestTheOrderOfPrioritiesIsAnyOrderOfTheQueue(t *testing.T) {
	for _, o := range backfill.Orders() {
		for _, name := range []string{"css", "batch-slicer", "bsf"} {
			got, err := policy.NodeRegistry().Parse(name + ":order=" + o.Name)
			require.NoError(t, err)
			require.Equal(t, o.Name, got.Value.Policy.(*cyclic.Policy).Order.Name)
		}
	}
}

func TestAFinderThatCannotBeReadSaysWhy(t *testing.T) {
	finders := append(policy.Finders(), policy.Entry[plan.Finder]{
		Name: "thrifty", Params: []policy.Param{{Name: "impatience"}},
		New: func(a *policy.Args) plan.Finder { a.Number("impatience", 1); return window.AMP{} },
	})
	table := policy.OnNodesWith(policy.Registry(), finders)
	for spec, want := range map[string]string{
		"easy:finder=thrifty:impatience=0.5":     `easy does not take "impatience"`,
		"css:finder=thrifty:impatience=0.5":      "; a parameter of thrifty stands in quotes with it: finder='thrifty:impatience=0.5'",
		"easy:finder=thrifty:dept=1":             `did you mean "depth"?`,
		"easy:finder=thrifti":                    `did you mean "thrifty"?`,
		"easy:finder='thrifty:impatience=often'": "impatience",
		"easy:finder='thrifty:patience=1'":       `thrifty does not take "patience"`,
	} {
		_, err := table.Parse(spec)
		require.ErrorContains(t, err, want, spec)
	}
	_, err := table.Parse("easy:finder='thrifty:impatience=0.5'")
	require.NoError(t, err)
}
