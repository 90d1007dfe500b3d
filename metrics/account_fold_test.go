package metrics

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// One processor of two is lost for half of each second, while a job runs on the other.
func TestTheAccountOfManyOutagesBetweenTwoJobEventsIsSmallAndExact(t *testing.T) {
	account, most := &CapacityAccount{}, 0
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{}, account)
	m.Submit(&entity.Job{ID: 1, Runtime: 9000 * des.Second, Request: entity.Request{Nodes: 1, Length: 9000 * des.Second}})
	for i := range des.Time(8000) {
		sim.At(i*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			now := sim.Now()
			_, err := m.Withhold(entity.Where{Count: 1}, now, now+des.Second/2)
			require.NoError(t, err)
			most = max(most, len(account.ahead))
		}), 0)
	}
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, account.Check())
	c := account.Capacity()
	require.Equal(t, []string{"18000", "9000", "4000", "5000"}, []string{c.All.String(), c.Uses[UseWork].String(), c.Uses[UseDown].String(), c.Uses[UseIdle].String()})
	require.LessOrEqual(t, most, foldAt+2)
}
