package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
)

// A criterion is the search of the table in all but its name: where that search
// may be left to a count of equal nodes, so may the criterion.
func TestACriterionIsTheSearchByTheNameThatItWasAskedForBy(t *testing.T) {
	named := policy.Criteria(policy.Finders())
	w := &entity.Window{Start: 3, End: 10, Cost: 7, Nodes: 1}
	counted, renamed := 0, 0
	for _, name := range policy.Finders().Names() {
		c, err := named(name)
		require.NoError(t, err)
		require.Equal(t, name, c.Name())
		search, err := policy.Finders().Parse(name)
		require.NoError(t, err)
		if search.Value.Name() != name {
			renamed++
		}
		_, isFinder := c.(plan.Finder)
		require.True(t, isFinder)
		want, got := plan.TraitsOf(search.Value, &entity.Request{Nodes: 1}), plan.TraitsOf(c, &entity.Request{Nodes: 1})
		require.Equal(t, []any{want.Earliest, want.FirstFit, want.Complete, want.Square, want.Sign}, []any{got.Earliest, got.FirstFit, got.Complete, got.Square, got.Sign}, name)
		if want.Earliest {
			require.Equal(t, want.Worth(w), got.Worth(w), name)
			counted++
		}
	}
	require.Positive(t, counted)
	require.Positive(t, renamed)
	_, err := named("dep")
	require.ErrorContains(t, err, `"dep" is not known: want one of alp, amp, `)
}

// A search is the same under the name that a job file has for it: windows compare
// alike.
func TestCriteriaPreferWhatTheirSearchesPrefer(t *testing.T) {
	finders := policy.Finders()
	criteria := policy.Criteria(finders)
	task := []entity.Task{{Node: &entity.Node{ID: 1, Perf: 1}}}
	a, b := &entity.Window{Nodes: 1, Tasks: task, Value: 1}, &entity.Window{Nodes: 1, Tasks: task, Value: 2}
	for _, e := range finders {
		f, err := finders.Parse(e.Name)
		require.NoError(t, err)
		c, err := criteria(e.Name)
		require.NoError(t, err)
		require.NotZero(t, plan.Compare(f.Value, a, b), e.Name)
		require.Equal(t, plan.Compare(f.Value, a, b), plan.Compare(c, a, b), e.Name)
		require.Zero(t, plan.Compare(c, a, &entity.Window{Nodes: 1, Value: 2}), "a counted window is worth nothing to it")
	}
}
