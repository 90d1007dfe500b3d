package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Tasks take 5 ticks. At 7 the first gap has been too short for one tick, and the
// second has room for the last time.
//
//	0  ...........#########
//	1  ............########
//	2  #######.............
//	3  #######.............
func TestFirstFitKeepsAGapToTheTickUntilItIsTooShort(t *testing.T) {
	all := nodes(1, 1, 1, 1)
	for i, n := range all {
		n.Q = float64(i) // no two are equal
	}
	d := domain(t, all)
	d.Finder = firstCome{}
	fill(t, d, 1, 11, 20, all[0])
	fill(t, d, 2, 12, 20, all[1])
	fill(t, d, 3, 0, 7, all[2])
	fill(t, d, 4, 0, 7, all[3])
	w, ok := d.Find(entity.Request{Nodes: 3, Length: 5}, 0, des.Forever)
	require.True(t, ok)
	require.Equal(t, des.Time(7), w.Start)
	require.Equal(t, window(7, 12, all[1], all[2], all[3]).Tasks, w.Tasks)
}
