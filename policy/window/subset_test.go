package window

import (
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
