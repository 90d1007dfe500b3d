package slurm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// What follows when somebody changes a job that is in the queue or runs.

// A job that runs, and whose new limit has passed already, has OverTimeLimit from the order on; a longer limit afterwards
// is added to that.
func TestShortenedJobsHaveTheirOvertime(t *testing.T) {
	for _, again := range []des.Time{0, 5 * des.Minute} {
		r := newRuled(t, fourNodes+"OverTimeLimit=2\n", "")
		j := r.submit(0, &Job{Tasks: 1})
		r.until(900 * des.Second)
		r.Relimit(900*des.Second, j, 10*des.Minute)
		r.until(1010 * des.Second)
		require.Equal(t, r.second(900*des.Second), r.limitSecond(j))
		if again > 0 {
			r.Relimit(1010*des.Second, j, 10*des.Minute+again)
		}
		ends := 1020*des.Second + again
		r.until(ends - des.Second)
		require.Empty(t, r.stopped)
		r.until(ends)
		require.Len(t, r.stopped, 1)
	}
}

// A limit that comes from an order may be beyond what QoSs, associations and partitions allow, also of a job that waited for
// being beyond it; backfill plans it for as long as its partition allows. An order for the limit that the job has changes nothing.
func TestLimitsOfOperatorsMayBeBeyondAll(t *testing.T) {
	conf := kept + "PartitionName=short Nodes=ALL MaxTime=20\n"
	for _, limits := range [][2]string{{"maxwall=30", ""}, {"", "maxwall=30"}} {
		r := newRuled(t, conf, "add qos other\nadd qos q "+limits[0]+"\nadd account a "+limits[1]+"\n"+users)
		own := func(part int) *Job {
			return &Job{Tasks: 1, Account: "a", User: "u", QOS: "q", Limit: 40 * des.Minute, Partitions: []int{part}}
		}
		same, other, short := r.submit(0, own(0)), r.submit(0, own(0)), r.submit(0, own(1))
		r.until(70 * des.Second)
		require.Empty(t, r.started)
		r.Relimit(70*des.Second, same, 40*des.Minute)
		r.Relimit(70*des.Second, other, 50*des.Minute)
		r.Relimit(70*des.Second, short, 50*des.Minute)
		require.EqualValues(t, 20*60, short.entries[0].limit())
		require.EqualValues(t, 50*60, other.entries[0].limit())
		r.until(140 * des.Second)
		require.Equal(t, []*Job{other, short}, r.started)
		require.Equal(t, r.second(short.Start)+50*60, r.limitSecond(short))
	}
}

// After an order nobody knows why the job waits: one that waited for a limit is looked at anew, and closes its partition with
// assoc_limit_stop. One that is held stays so.
func TestOrdersForgetReasons(t *testing.T) {
	r := newRuled(t, kept+"SchedulerParameters=assoc_limit_stop\nSchedulerType=sched/builtin\n", "add qos other\nadd qos q maxjobsperuser=1\nadd account a\n"+users)
	own := func() *Job { return &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"} }
	r.submit(0, own())
	r.until(5 * des.Second)
	limited := r.submit(5*des.Second, own())
	r.until(10 * des.Second)
	require.True(t, limited.reason.ofLimit())
	r.Renice(10*des.Second, limited, -100)
	require.Equal(t, NoReason, limited.reason)
	next := r.submit(11*des.Second, &Job{Tasks: 1, Account: "a", User: "v", QOS: "other"})
	r.until(20 * des.Second)
	require.Equal(t, pending, next.state)
	held := r.submit(20*des.Second, &Job{Tasks: 1, Account: "a", User: "v", QOS: "other", Held: true})
	r.Renice(20*des.Second, held, 7)
	require.Equal(t, JobHeld, held.reason)
}

// A job that is held, and that depends on what can no longer be, tells the latter at the next purge of records, whether or not there
// are any, and in the pass after it that it is held.
func TestHeldJobsThatNeverMayStart(t *testing.T) {
	r := newRuled(t, fourNodes+"MinJobAge=10\nSchedulerType=sched/builtin\n", "")
	require.NoError(t, r.Reserve(0, &Reservation{Name: "r", Start: des.Minute, End: 10 * des.Minute, Nodes: []int{2}, Users: []string{"u"}}))
	first := r.submit(0, &Job{Tasks: 1, User: "u"})
	waits := r.submit(0, &Job{Tasks: 1, User: "u", Reservation: "r", After: []Dependency{{"afterok", first.ID}}})
	r.Cancel(0, first)
	r.until(9 * des.Minute)
	require.Empty(t, r.ended)
	require.Equal(t, DependencyNeverSatisfied, waits.Reason())
	r.until(10*des.Minute + 29*des.Second)
	require.NotNil(t, waits.reservation)
	r.until(12 * des.Minute)
	require.Nil(t, waits.reservation)
	require.Equal(t, HeldByController, waits.Reason())
	changed := r.backfill.changed
	r.until(14 * des.Minute)
	require.Greater(t, r.backfill.changed, changed, "it is told again")

	r = newRuled(t, fourNodes+"MinJobAge=10\nSchedulerType=sched/builtin\n", "")
	first = r.submit(0, &Job{Tasks: 1})
	waits = r.submit(0, &Job{Tasks: 1, After: []Dependency{{"afterok", first.ID}}})
	r.Cancel(0, first)
	r.until(5 * des.Minute)
	r.Hold(5*des.Minute, waits, true)
	changed = r.backfill.changed
	r.until(6 * des.Minute)
	require.Greater(t, r.backfill.changed, changed)
}
