package agent

import (
	"bytes"
	"context"
	"encoding/csv"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/preempt"
)

// twoAndFour sends a job's first two tasks to the fast site, and four to the other.
type twoAndFour struct{ OAR }

func (twoAndFour) Place(b *grid.Broker, j *entity.Job) {
	b.Submit(j, b.Agents()[0], 2)
	b.Submit(j, b.Agents()[1], 4)
}

// Two jobs of six tasks of 100 s, at once:
//
//	2 processors of speed 2   [1 ][2 ]
//	4 processors of speed 1   [  1   ][  2   ]
//	                          0  50   100    200
//
// are 1,200 of the 1,600 that eight could do. The second one's pieces ran for 50 and
// 100 s, and it was there for 200, though its first start and last end are 150 apart.
func TestAJobInPiecesIsMeasuredByWhatItReallyRan(t *testing.T) {
	var file bytes.Buffer
	rec, w := metrics.NewRecorder(), metrics.NewJobsWriter(&file)
	w.Allocation = metrics.AllocationNone
	sim := des.New(des.Config{})
	g := grid.NewGrid(sim, direct(), rec, w)
	g.AddAgent("fast", plan.NewCluster(2), backfill.FCFS{}).Speed = 2
	g.AddAgent("slow", plan.NewCluster(4), backfill.FCFS{})
	g.AddBroker("broker", twoAndFour{})
	g.Submit(slices.Values([]*entity.Job{job(1, 0, 100, 6), job(2, 0, 100, 6)}), func(*entity.Job) int { return 0 })
	require.NoError(t, sim.Run(context.Background()))
	s := rec.Summary()
	require.Equal(t, 0.75, s.Utilization)
	require.Equal(t, 1.5, s.MeanBoundedSlowdown)
	require.Equal(t, 200.0, s.Makespan)
	require.NoError(t, w.Close())
	rows, err := csv.NewReader(&file).ReadAll()
	require.NoError(t, err)
	column := func(name string) string { return rows[2][slices.Index(rows[0], name)] }
	require.Equal(t, "2", column("bounded_slowdown"))
	require.Equal(t, "100", column("execution_time"))
}

// Whatever stops it, and whichever level of grids sends it, what ran has run: the long
// job for 100 s of a processor, the short one for 10, by one that is twice as fast.
func TestWhatIsStoppedAndWhatIsBelowIsMeasuredToo(t *testing.T) {
	rec := metrics.NewRecorder()
	sim := des.New(des.Config{})
	top := grid.NewGrid(sim, direct(), rec)
	low := top.AddGrid("low", direct(), &Sites{})
	low.AddAgent("site", plan.NewCluster(1), preempt.Selective{Factor: 1, Slice: 70 * des.Second}).Speed = 2
	top.AddBroker("broker", &Sites{})
	top.Submit(slices.Values([]*entity.Job{job(1, 0, 200, 1), job(2, 10, 20, 1)}), func(*entity.Job) int { return 0 })
	require.NoError(t, sim.Run(context.Background()))
	s := rec.Summary()
	require.Equal(t, 110.0, s.Makespan)
	require.InDelta(t, 1, s.Utilization, 1e-12)
	require.InDelta(t, (110.0/100+70.0/10)/2, s.MeanBoundedSlowdown, 1e-12, "a job's run is all of its work")
}
