package slurm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// A job that backfill plans in one of its partitions and passes over in another is not told as passed over.
func TestPlannedJobsAreNotToldAsPassedOver(t *testing.T) {
	r := newRuled(t, fourNodes+"SchedulerParameters=bf_max_job_user=1\n", "")
	r.submit(0, &Job{Nodes: 4, Exclusive: true, User: "u"})
	r.until(10 * des.Second)
	twice := r.submit(10*des.Second, &Job{Nodes: 1, User: "v", Partitions: []int{0, 1}})
	late := r.submit(10*des.Second, &Job{Nodes: 1, User: "v"})
	r.until(des.Minute)
	require.Equal(t, "bf_max_job_user", twice.omitted, "in its second partition")
	require.Equal(t, 3603*des.Second, r.PlannedStart(twice))
	require.Empty(t, r.Obstacle(twice).Omitted)
	require.Zero(t, r.PlannedStart(late))
	require.Equal(t, "bf_max_job_user", r.Obstacle(late).Omitted)
}

// Who is ahead of a job is told as long as that is why it waits.
func TestWhoIsAheadIsToldOfJobsThatWaitForPriority(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	r.submit(0, &Job{Nodes: 4, Exclusive: true})
	r.until(10 * des.Second)
	first, second := r.submit(10*des.Second, &Job{Nodes: 2}), r.submit(10*des.Second, &Job{Nodes: 1})
	r.until(20 * des.Second)
	require.Equal(t, Obstacle{Reason: WaitsForPriority, Partition: "all", Behind: first}, r.Obstacle(second))
	require.Equal(t, first.Priority, r.Why(second).Ahead.Priority)
	r.Hold(21*des.Second, second, true)
	require.Equal(t, Obstacle{Reason: HeldByController, Partition: "all"}, r.Obstacle(second))
	require.Zero(t, r.Why(second).Ahead)
}

// A job that waits again may start when its credential has expired, one that is to begin later then.
func TestWhenJobsMayBeginIsTold(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	again := r.submit(0, &Job{Nodes: 1, Requeue: true, Begin: 5 * des.Second})
	late := r.submit(0, &Job{Nodes: 1, Begin: des.Hour})
	r.until(100 * des.Second)
	require.NoError(t, r.Down(100*des.Second, on(again)))
	r.until(125 * des.Second)
	require.Equal(t, WaitsForBegin, again.Reason())
	require.Equal(t, 221*des.Second, r.Why(again).At)
	require.Equal(t, WaitsForBegin, late.Reason())
	require.Equal(t, des.Hour, r.Why(late).At)
}

// Of several jobs that a job depends on the one is told that still is in its way, or that ended
// otherwise.
func TestWhichDependencyIsInTheWayIsTold(t *testing.T) {
	r := newRuled(t, fourNodes, "")
	long, short := r.submit(0, &Job{Nodes: 1}), r.submit(0, &Job{Nodes: 1, ExitCode: 1})
	both := r.submit(0, &Job{Nodes: 1, After: []Dependency{{"afterany", long.ID}, {"afterok", short.ID}}})
	either := r.submit(0, &Job{Nodes: 1, AnyAfter: true, After: []Dependency{{"afterok", short.ID}, {"after", long.ID}, {"afterok", long.ID}}})
	one := r.submit(0, &Job{Nodes: 1, AnyAfter: true, After: []Dependency{{"afterok", short.ID}, {"afterok", long.ID}}})
	require.Equal(t, long, r.Why(both).On)
	require.Equal(t, short, r.Why(either).On, "it comes first")
	r.until(10 * des.Second)
	r.over(20*des.Second, short)
	r.until(30 * des.Second)
	require.Equal(t, DependencyNeverSatisfied, both.Reason())
	require.Equal(t, short, r.Why(both).On)
	require.Equal(t, "afterok", r.Why(both).Dependency)
	require.Equal(t, running, either.state)
	require.Equal(t, WaitsForDependency, one.Reason())
	require.Equal(t, long, r.Why(one).On)
	r.until(10 * des.Minute) // the record is purged
	require.Nil(t, r.jobs[short.ID])
	require.Nil(t, r.Why(both).On)
	require.Equal(t, DependencyNeverSatisfied, both.Reason())
}
