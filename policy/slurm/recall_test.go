package slurm

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// Nothing of the last run of backfill holds when a node has gone: a job that was planned on all nodes is not any more.
func TestARunRecallsNothingOfNodesThatHaveGone(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	r.submit(0, &Job{Tasks: 12})
	waits := r.submit(des.Second, &Job{Tasks: 16})
	r.until(100 * des.Second)
	require.NotZero(t, r.PlannedStart(waits))
	require.NoError(t, r.Drain(101*des.Second, []int{0}))
	r.until(200 * des.Second)
	require.Zero(t, r.PlannedStart(waits))
}

// gapped is a machine on which the node a is in no plan from minute 8 to minute 100 only: a pair of jobs with one node more is planned on it before
// and behind. So of the openings for a job of 91 minutes that begin now, in minute 8 and in minute 10 only the second has a. The node c has so
// many CPUs, is taken until minute 5 and planned up to minute 10; b is taken until minute 20. Minutes of the host begin 40 s late. It returns the job that has a until minute 98.
func gapped(t *testing.T, cpus int) (*ruled, *Job) {
	r := newRuled(t, fmt.Sprintf(`AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
SelectTypeParameters=CR_Core
NodeName=a CPUs=9
NodeName=b CPUs=4
NodeName=c CPUs=%d
NodeName=d,y,z CPUs=8
PartitionName=all Nodes=a,b,c
PartitionName=a Nodes=a
PartitionName=b Nodes=b
PartitionName=c Nodes=c
PartitionName=d Nodes=d
PartitionName=y Nodes=y
PartitionName=z Nodes=z
PartitionName=ay Nodes=a,y
PartitionName=az Nodes=a,z
`, cpus), "add qos free\nadd qos tight grptres=cpu=4\nadd account g\nadd user u account=g qos=free,tight defaultqos=free\n")
	add := func(part, nodes, tasks int, minutes des.Time) *Job {
		return r.submit(r.main.last, &Job{User: "u", Account: "g", Partitions: []int{part}, Nodes: nodes, Tasks: tasks, Limit: minutes * des.Minute})
	}
	hasA := add(1, 1, 8, 98)
	add(2, 1, 4, 20)
	add(3, 1, cpus, 5)
	add(4, 1, 8, 50) // between the end of b and that of a: what starts later bears on no look
	add(5, 1, 8, 4)
	add(6, 1, 8, 100)
	r.until(10 * des.Second)
	require.Len(t, r.started, 6)
	add(7, 2, 9, 4)
	add(8, 2, 16, 60)
	add(3, 1, cpus, 5)
	return r, hasA
}

// wants submits a job of 91 minutes to the partition with a, b and c.
func (r *ruled) wants(qos string) *Job {
	return r.submit(11*des.Second, &Job{User: "u", Account: "g", QOS: qos, Tasks: 8, Limit: 91 * des.Minute})
}

// A job is not looked at anew while nodes change that it has not looked at, but for one case: openings were passed over since all nodes that suit
// it together have too few CPUs free soon enough. When they have them sooner, it is.
func TestARunLooksAgainWhenNodesAreFreeSoonerThanAllWere(t *testing.T) {
	r, hasA := gapped(t, 4)
	r.Estimates = true
	waits := r.wants("free")
	r.until(65 * des.Second)
	require.Equal(t, 1203*des.Second, r.PlannedStart(waits), "on b and c")
	r.over(70*des.Second, hasA)
	r.until(100 * des.Second)
	require.Equal(t, 460*des.Second, r.PlannedStart(waits), "on a")
}

// An opening that another job has found to be vain is passed over. Still the nodes that it was vain for are nodes that the finding depends on: they
// are the only ones here that tell that a job has ended there.
func TestARunLooksAgainWhenNodesOfAVainOpeningChange(t *testing.T) {
	for _, reserved := range []bool{false, true} {
		t.Run(fmt.Sprint("reserved ", reserved), func(t *testing.T) {
			r, hasA := gapped(t, 8)
			r.Estimates = true
			if reserved {
				require.NoError(t, r.Reserve(11*des.Second, &Reservation{Name: "r", Start: 20 * des.Hour, End: 21 * des.Hour, Nodes: []int{3}}))
			}
			r.wants("tight") // it is not planned, as it is beyond its limit, but notes that the second opening is vain
			waits := r.wants("free")
			r.until(65 * des.Second)
			require.Equal(t, 580*des.Second, r.PlannedStart(waits), "on c")
			r.over(70*des.Second, hasA)
			r.until(100 * des.Second)
			require.Equal(t, 460*des.Second, r.PlannedStart(waits), "on a")
		})
	}
}

// A forecast is found again by its nodes as long as it is kept, also behind the point at which others are dropped for new ones.
func TestForecastsAreFoundAgain(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	e := r.submit(0, &Job{Tasks: 1}).entries[0]
	var kept forecasts
	for i := range 200 {
		nodes := newNodeSet(4)
		nodes[0] = uint64(i) << 32 // no nodes of the machine: only which set it is counts here
		_, known := r.among(r.shapeOf(e), &kept, nodes, preemptor{})
		require.False(t, known, i)
		at, known := r.among(r.shapeOf(e), &kept, nodes, preemptor{})
		require.True(t, known, i)
		require.Equal(t, nodes, at.among)
		require.Len(t, kept.sums, len(kept.all))
		for k := range kept.all {
			require.Equal(t, kept.all[k].among.sum(), kept.sums[k], "set %d, forecast %d", i, k)
		}
	}
}

// A job that has started keeps nothing of what backfill found for it.
func TestStartedJobsKeepNoFindings(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	first := r.submit(0, &Job{Tasks: 12})
	waits := r.submit(des.Second, &Job{Tasks: 16})
	r.until(100 * des.Second)
	require.NotNil(t, waits.entries[0].found)
	r.over(101*des.Second, first)
	r.until(200 * des.Second)
	require.Equal(t, running, waits.state)
	require.Nil(t, waits.entries[0].found)
}

// What a run recalls is what it would find: a start at once is one at the present second, and the job counts with the CPUs of
// that start for limits, whatever a look for it in another partition has found since. A job like it counts with them, too, once
// it is known where it would start. Where it would run on idle nodes is no such start.
func TestWhatIsRecalledIsOfThePresent(t *testing.T) {
	c := newRuled(t, "NodeName=n[1-2] CPUs=4\nPartitionName=all Nodes=ALL\n", "")
	run := func(now des.Time) *backfillRun {
		second := c.second(now)
		r := &backfillRun{c: c.Controller, now: now, second: second, until: never, blocked: map[*qos]int64{}, table: newTable(nil, second, 40_000, 60, 500, c.up, nil, &c.plans, &c.spare)}
		r.table.cpus = c.idle.cpus
		c.backfill.trail.begin(c.Controller, r.table.windowEnd())
		return r
	}
	j, twin := c.submit(0, &Job{Tasks: 1, Exclusive: true}), c.submit(0, &Job{Tasks: 1, Exclusive: true})
	e := j.entries[0]
	e.found = newFinding(2)
	run(10*des.Second).remember(e, false)
	require.Equal(t, []int64{c.second(10 * des.Second), 4}, []int64{e.found.begins, int64(j.reckoned)})
	j.reckoned = 9 // in another partition
	later := run(40 * des.Second)
	require.True(t, later.recall(e, false))
	require.Equal(t, []int64{c.second(40 * des.Second), 4}, []int64{e.found.begins, int64(j.reckoned)})
	looks := c.looks
	c.willRun(twin.entries[0], c.up, later.second, false)
	require.Equal(t, looks, c.looks, "it is known")
	require.Equal(t, 4, twin.reckoned)
	one := newNodeSet(2)
	one.add(1)
	j.reckoned = 9
	require.NotNil(t, c.fitIdle(e, one))
	require.Equal(t, 9, j.reckoned)
	e.found = newFinding(2)
	later.remember(e, false)
	require.Equal(t, []int64{c.second(40 * des.Second), 4}, []int64{e.found.begins, int64(j.reckoned)}, "as a new look has it")
}
