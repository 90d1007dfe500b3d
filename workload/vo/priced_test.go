package vo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/vo"
)

func traceJob() *entity.Job {
	return &entity.Job{Submit: 100 * des.Second, Runtime: 30 * des.Second, Request: entity.Request{Nodes: 4, Length: 60 * des.Second}}
}

func TestAPricedJobTakesAsLongAsInTheTraceOnNodesOfItsSpeed(t *testing.T) {
	g, err := vo.Priced{Perf: 5, MinPerf: 2, Wealth: vo.Range{Min: 1.5, Max: 1.5}, PriceFactor: 0.1, Patience: 3}.Begin(1, 0)
	require.NoError(t, err)
	j := traceJob()
	g.Apply(j)
	require.Equal(t, entity.Request{Nodes: 4, Length: 300 * des.Second, MinPerf: 2, Budget: 4 * 300 * 1.5 * 0.1, Deadline: 280 * des.Second}, j.Request)
	require.Equal(t, 150*des.Second, j.Runtime)
	require.Equal(t, 60*des.Second, (&entity.Node{Perf: 5}).TaskTime(j.Request.Length))
}

func TestBudgetsOfPricedJobsAreAsRichAsTheirUsers(t *testing.T) {
	g, err := vo.Priced{}.Begin(1, 0)
	require.NoError(t, err)
	least, most := 9.0, 0.0
	for range 1000 {
		j := traceJob()
		g.Apply(j)
		x := j.Request.Budget / 4 / 60
		least, most = min(least, x), max(most, x)
	}
	require.InDelta(t, 1.0, least, 0.01)
	require.InDelta(t, 1.6, most, 0.01)
}

func TestFreeJobsHaveNoBudget(t *testing.T) {
	g, err := vo.Priced{Free: true}.Begin(1, 0)
	require.NoError(t, err)
	j := traceJob()
	want := *j
	g.Apply(j)
	require.Equal(t, want.Request, j.Request)
}

func TestPricesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, p := range []vo.Priced{{Perf: -1}, {MinPerf: -1}, {PriceFactor: -1}, {Patience: 0.5}, {Wealth: vo.Range{Min: 2, Max: 1}}} {
		_, err := p.Begin(1, 0)
		require.Error(t, err)
	}
}
