package window

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rounded costs are whole numbers, so a choice often costs exactly the budget.
// The best three of these items do: 3 + 2 + 1 = 6. The choice of the first two
// must survive although the cheapest third item, at a cost of 1, uses up the rest.
func TestASubsetMayCostExactlyTheBudget(t *testing.T) {
	p := subset{n: 3, limit: 6, items: []item{
		{z: 30, c: 3, id: 3, marks: allMarks},
		{z: 20, c: 2, id: 2, marks: allMarks},
		{z: 10, c: 1, id: 1, marks: allMarks},
		{z: 1, c: 1, id: 0, marks: allMarks},
	}}
	p.solve(0, 0)
	require.True(t, p.found)
	require.Equal(t, 60.0, p.worth)
	require.ElementsMatch(t, []int32{1, 2, 3}, p.choose)
}

// Where worth is cost, the list of what is not dominated is soon as long as patience
// lets it be, and every one of the many items is still compared with all of it.
func TestASubsetOfManyItemsIsNotLookedForWithoutEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var items []item
	for id := range int32(1600) {
		cost := 5 * (0.5 + r.Float64())
		items = append(items, item{z: cost, c: cost, id: id, marks: allMarks})
	}
	p := subset{n: 8, limit: 36, items: items, scale: 60}
	p.solve(1, 0)
	require.True(t, p.found)
	require.LessOrEqual(t, p.worth, p.limit)
	require.LessOrEqual(t, p.limit-p.worth, p.gap())
	require.Less(t, p.gap(), 1e-3)
	require.Less(t, p.looks, (patience+40<<15)*looksPerVisit)
}
