package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

func newController(t testing.TB) *Controller {
	conf, _, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(smallConf)))
	require.NoError(t, err)
	c := New(conf, NewAccounts())
	c.Started = func(des.Time, *Job) {}
	c.Stopped = func(des.Time, *Job, Stop) {}
	return c
}

// TestWhatIsNoJobIsAnError submits what no user could.
func TestWhatIsNoJobIsAnError(t *testing.T) {
	c := newController(t)
	good := func() *Job { return &Job{ID: 2, Partitions: []int{0}, Limit: des.Hour} }
	require.NoError(t, c.Submit(0, good()))
	for want, spoil := range map[string]func(j *Job){
		"job 2 comes after job 2: want rising numbers":    func(j *Job) { j.ID = 2 },
		"job 3 names no partition":                        func(j *Job) { j.Partitions = nil },
		"job 3: there is no partition 2":                  func(j *Job) { j.Partitions = []int{2} },
		"job 3: there is no node 6":                       func(j *Job) { j.Required = []int{6} },
		"job 3: want amounts from 0 to 268435456":         func(j *Job) { j.Tasks = -1 },
		"job 3: want a limit above 0 and no time below 0": func(j *Job) { j.Limit = 0 },
		string(ErrFeature):                                func(j *Job) { j.Features = []string{"none"} },
		string(ErrConfiguration):                          func(j *Job) { j.Excluded = []int{0, 1, 2, 3, 4, 5} },
		string(ErrDependency):                             func(j *Job) { j.After = []Dependency{{"afterok", 1}} },
		string(ErrReservation):                            func(j *Job) { j.Reservation = "none" },
	} {
		j := good()
		j.ID = 3
		spoil(j)
		require.EqualError(t, c.Submit(0, j), want)
	}
	require.Error(t, c.Down(0, []int{6}))
	require.Error(t, c.Reserve(0, &Reservation{Name: "r", Nodes: []int{-1}}))
}

// TestReservationsAreRefused makes reservations of nodes that are not to be had.
func TestReservationsAreRefused(t *testing.T) {
	c := newController(t)
	r := func(from, to des.Time, nodes ...int) *Reservation {
		return &Reservation{Name: "r", Start: from * des.Hour, End: to * des.Hour, Nodes: nodes}
	}
	require.NoError(t, c.Reserve(0, r(2, 3, 0, 1)))
	require.ErrorIs(t, c.Reserve(0, r(1, 4, 1, 2)), ErrOverlap)
	require.NoError(t, c.Reserve(0, r(3, 4, 1, 2)), "one after the other")
	require.NoError(t, c.Submit(0, &Job{ID: 1, Nodes: 1, Partitions: []int{0}, Limit: 8 * des.Hour, Required: []int{3}}))
	for c.running == nil {
		c.Act(c.Next())
	}
	require.ErrorIs(t, c.Reserve(c.Next(), r(6, 7, 3)), ErrBusy)
	require.ErrorIs(t, c.Reserve(c.Next(), r(6, 12, 3)), ErrBusy)
	require.NoError(t, c.Reserve(c.Next(), r(9, 12, 3)), "it is over by then")
	free := r(6, 7, 3)
	free.Maintenance = true
	require.NoError(t, c.Reserve(c.Next(), free))
}

// TestReservationsOfANumberOfNodes has the first nodes of a partition that are free be reserved, and
// no more than others have left.
func TestReservationsOfANumberOfNodes(t *testing.T) {
	c := newController(t)
	first := &Reservation{Name: "a", Start: 2 * des.Hour, End: 3 * des.Hour, Nodes: []int{1}}
	require.NoError(t, c.Reserve(0, first))
	require.NoError(t, c.Submit(0, &Job{ID: 1, Nodes: 1, Partitions: []int{0}, Limit: 8 * des.Hour, Required: []int{0}}))
	for c.running == nil {
		c.Act(c.Next())
	}
	two := &Reservation{Name: "b", Start: 2 * des.Hour, End: 3 * des.Hour, Count: 2}
	require.NoError(t, c.Reserve(c.Next(), two))
	require.Equal(t, []int{2, 3}, slices.Collect(two.nodes.all), "a job runs on the first one, the second one is reserved")
	many := &Reservation{Name: "c", Start: 2 * des.Hour, End: 3 * des.Hour, Count: 6}
	require.ErrorIs(t, c.Reserve(c.Next(), many), ErrBusy, "of the three that nobody has reserved one is in use")
	later := &Reservation{Name: "d", Start: 9 * des.Hour, End: 10 * des.Hour, Count: 9}
	require.NoError(t, c.Reserve(c.Next(), later))
	require.Equal(t, len(c.conf.Partitions[0].Nodes), later.nodes.count(), "all that there are")
	require.Error(t, c.Reserve(c.Next(), &Reservation{Name: "e", Count: 1, Partition: 9}))
}

// TestReservationsThatAreOver has a reservation end: what waits for it is held, and what changes is told
// to backfill every five seconds while it is in force.
func TestReservationsThatAreOver(t *testing.T) {
	c := newController(t)
	r := &Reservation{Name: "r", Start: 12 * des.Second, End: 40 * des.Second, Nodes: []int{0}, Users: []string{"u"}}
	require.NoError(t, c.Reserve(0, r))
	j := &Job{ID: 1, Nodes: 1, Partitions: []int{0}, Limit: des.Hour, User: "u", Reservation: "r", Begin: 100 * des.Second}
	require.NoError(t, c.Submit(0, j))
	for c.Next() <= 30*des.Second {
		c.Act(c.Next())
	}
	require.Equal(t, 30*des.Second, c.backfill.changed)
	require.Equal(t, WaitsForBegin, j.Reason())
	for c.Next() <= 61*des.Second {
		c.Act(c.Next())
	}
	require.Empty(t, c.reserved)
	require.Equal(t, ReservationDeleted, j.Reason())
	require.Zero(t, j.Priority)
}

// TestPurgedDependenciesAreMet asks of a job that depends on any of a record that is purged and of one
// that runs.
func TestPurgedDependenciesAreMet(t *testing.T) {
	c := newController(t)
	require.NoError(t, c.Submit(0, &Job{ID: 1, Nodes: 1, Partitions: []int{0}, Limit: des.Hour}))
	c.purged.add(7)
	any := &Job{ID: 8, Nodes: 1, Partitions: []int{0}, Limit: des.Hour, AnyAfter: true, After: []Dependency{{"afterany", 1}, {"afterok", 7}}}
	require.NoError(t, c.Submit(0, any))
	require.Equal(t, NoReason, any.Reason())
	all := &Job{ID: 9, Nodes: 1, Partitions: []int{0}, Limit: des.Hour, After: []Dependency{{"afterany", 1}, {"afterok", 7}}}
	require.NoError(t, c.Submit(0, all))
	require.Equal(t, WaitsForDependency, all.Reason())
}

// TestRefusedJobsAreChanges has a job be refused that no nodes suit: backfill looks again, and again when
// its record is purged.
func TestRefusedJobsAreChanges(t *testing.T) {
	c := newController(t)
	require.ErrorIs(t, c.Submit(des.Minute, &Job{ID: 1, Excluded: []int{0, 1, 2, 3, 4, 5}, Partitions: []int{0}, Limit: des.Hour}), ErrConfiguration)
	require.Equal(t, des.Minute, c.backfill.changed)
	for len(c.ended) > 0 {
		c.Act(c.Next())
	}
	require.Greater(t, c.backfill.changed, des.Minute)
	require.ErrorIs(t, c.Submit(des.Hour, &Job{ID: 2, Nodes: 1, Partitions: []int{0}, Limit: des.Hour, After: []Dependency{{"afterany", 1}}}), ErrDependency)
}

// TestWhoHasNoAccountIsRefused submits for a user, an account and a QoS that there are not.
func TestWhoHasNoAccountIsRefused(t *testing.T) {
	conf, _, err := ReadConfig("slurm.conf", strings.NewReader("NodeName=n1\nPartitionName=main Nodes=n1\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=qos\n"))
	require.NoError(t, err)
	accounts, _, err := ReadAccounts("f", strings.NewReader("add qos low\nadd qos hi\nadd account a qos=low\nadd user u account=a\nadd user v account=a qos=hi\n"))
	require.NoError(t, err)
	c := New(conf, accounts)
	submit := func(account, user, qos string) error {
		return c.Submit(0, &Job{ID: c.lastID + 1, Partitions: []int{0}, Limit: des.Hour, Account: account, User: user, QOS: qos})
	}
	require.ErrorIs(t, submit("b", "u", ""), ErrAssociation)
	require.ErrorIs(t, submit("a", "w", ""), ErrAssociation)
	require.ErrorIs(t, submit("", "", ""), ErrAssociation)
	require.NoError(t, submit("", "u", ""), "in the first account of the user")
	require.NoError(t, submit("a", "u", "low"), "as the account says")
	require.ErrorIs(t, submit("a", "u", "hi"), ErrQOS)
	require.ErrorIs(t, submit("a", "v", "low"), ErrQOS, "the user says otherwise")
	require.NoError(t, submit("a", "v", "hi"))
	require.ErrorIs(t, submit("a", "v", "none"), ErrQOS)
}

// TestGraceTimeIsNoLimit preempts a job that has a minute of grace: it ends then, whatever OverTimeLimit is, and waits again
// with the limit that it came with.
func TestGraceTimeIsNoLimit(t *testing.T) {
	conf, _, err := ReadConfig("slurm.conf", strings.NewReader("NodeName=n1 CPUs=4\nPartitionName=main Nodes=n1\n"+
		"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits,qos\nPriorityType=priority/multifactor\n"+
		"PriorityWeightQOS=100\nPreemptType=preempt/qos\nPreemptMode=REQUEUE\nOverTimeLimit=5\n"))
	require.NoError(t, err)
	accounts, _, err := ReadAccounts("f", strings.NewReader("add qos low gracetime=60\nadd qos hi priority=9 preempt=low\nadd account a\nadd user u account=a qos=low,hi\n"))
	require.NoError(t, err)
	c := New(conf, accounts)
	stopped := des.Time(0)
	c.Started = func(des.Time, *Job) {}
	c.Stopped = func(now des.Time, _ *Job, why Stop) {
		require.Equal(t, Preempted, why)
		stopped = now
	}
	low := &Job{ID: 1, Tasks: 4, Partitions: []int{0}, Limit: des.Hour, Account: "a", User: "u", QOS: "low", Requeue: true}
	require.NoError(t, c.Submit(0, low))
	for low.state != running {
		c.Act(c.Next())
	}
	asked := low.Start.Add(10 * des.Second)
	for c.Next() <= asked {
		c.Act(c.Next())
	}
	high := &Job{ID: 2, Tasks: 4, Partitions: []int{0}, Limit: des.Hour, Account: "a", User: "u", QOS: "hi"}
	require.NoError(t, c.Submit(asked, high))
	for stopped == 0 {
		c.Act(c.Next())
	}
	require.GreaterOrEqual(t, stopped, asked.Add(60*des.Second))
	require.Less(t, stopped, asked.Add(60*des.Second+limitInterval+2*des.Second))
	c.Release(stopped, low)
	for high.state != running {
		c.Act(c.Next())
	}
	require.Equal(t, pending, low.state)
	require.Equal(t, des.Hour, low.Limit)
}

// TestYoungJobsKeepNothing asks of what age on others wait for a job.
func TestYoungJobsKeepNothing(t *testing.T) {
	c := newController(t)
	c.conf.Schedule.MinAgeReserve = 300 * des.Second
	j := &Job{ID: 1, Partitions: []int{0}, Limit: des.Hour, Begin: 60 * des.Second}
	require.NoError(t, c.Submit(0, j))
	require.False(t, c.reserves(359*des.Second, j.entries[0]))
	require.True(t, c.reserves(360*des.Second, j.entries[0]))
	c.conf.Schedule.MinPrioReserve = int(j.entries[0].priority) + 1
	require.False(t, c.reserves(360*des.Second, j.entries[0]))
}

// TestMergeSortKeepsWhatComparesEqual sorts by merging, and by a relation that is no order.
func TestMergeSortKeepsWhatComparesEqual(t *testing.T) {
	words, room := strings.Fields("bb a cc b aa c"), make([]string, 6)
	mergeSort(words, room, func(a, b string) int { return len(a) - len(b) })
	require.Equal(t, strings.Fields("a b c bb cc aa"), words)
	beats := map[string]string{"rock": "scissors", "scissors": "paper", "paper": "rock"}
	game := strings.Fields("rock paper scissors")
	mergeSort(game, room[:3], func(a, b string) int {
		switch {
		case beats[a] == b:
			return -1
		case beats[b] == a:
			return 1
		}
		return 0
	})
	require.Equal(t, strings.Fields("rock scissors paper"), game)
}

// Example runs three jobs on a machine of two nodes: the second waits for the first, and the third,
// which is short, is backfilled.
func Example() {
	conf, _, err := ReadConfig("slurm.conf", strings.NewReader(`
NodeName=n[1-2] CPUs=8
PartitionName=main Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var running []*Job
	left := 3
	c := New(conf, NewAccounts())
	c.Started = func(now des.Time, j *Job) {
		fmt.Printf("job %d starts at %d s on %s\n", j.ID, now/des.Second, HostList(names(conf, j)))
		running = append(running, j)
		left--
	}
	for i, j := range []*Job{
		{Nodes: 1, Limit: des.Hour, Length: 600 * des.Second},
		{Nodes: 2, Limit: des.Hour, Length: 100 * des.Second},
		{Nodes: 1, Limit: 5 * des.Minute, Length: 90 * des.Second},
	} {
		j.ID, j.Partitions = i+1, []int{0}
		if err := c.Submit(0, j); err != nil {
			fmt.Println(err)
		}
	}
	ends := func(j *Job) des.Time { return j.Start.Add(j.Length) }
	for left > 0 {
		now := c.Next()
		for i, j := range running {
			if ends(j) <= now {
				now = ends(j)
				running = append(running[:i:i], running[i+1:]...)
				c.End(now, j)
				c.Release(now, j)
				break
			}
		}
		if now == c.Next() {
			c.Act(now)
		}
	}
	// Output:
	// job 1 starts at 3 s on n1
	// job 3 starts at 30 s on n2
	// job 2 starts at 603 s on n[1-2]
}

func names(conf *Config, j *Job) []string {
	var all []string
	for _, p := range j.Placed {
		all = append(all, conf.Nodes[p.Node].Name)
	}
	return all
}
