package entity_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func TestTheOfferedLoadIsWorkOverWhatTheMachineCanDo(t *testing.T) {
	var l entity.OfferedLoad
	require.Zero(t, l.Over(4), "no work")
	l.Add(20*des.Second, 2, 30*des.Second)
	require.True(t, math.IsInf(l.Over(4), 1), "all at one instant")
	l.Add(10*des.Second, 4, 5*des.Second) // jobs may come in any order
	l.Add(60*des.Second, 1, 20*des.Second)
	require.Equal(t, 50*des.Second, l.Span())
	require.Equal(t, 0.5, l.Over(4), "100 of 4 * 50")
	require.Equal(t, 0.25, l.Over(8))
}

// The sum is exact, whatever the order of jobs and however large it is.
func TestTheWorkOfOfferedJobsIsAnExactSum(t *testing.T) {
	large, small := func(l *entity.OfferedLoad) { l.Add(0, 1<<30, des.Forever/2) }, func(l *entity.OfferedLoad) { l.Add(des.Second, 1, 1) }
	var first, last entity.OfferedLoad
	large(&first)
	for range 1000 {
		small(&first)
		small(&last)
	}
	large(&last)
	require.Equal(t, first, last)
	require.InEpsilon(t, 0x1p30*float64(des.Forever/2)/1e6, first.Over(1), 1e-12)
	var many entity.OfferedLoad // whose sum is beyond 64 bits, though no job's work is
	for i := range des.Time(8) {
		many.Add(i/7*des.Second, 1, des.Forever)
	}
	require.InEpsilon(t, 8*float64(des.Forever)/1e6, many.Over(1), 1e-12)
}
