package flow_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
)

// stricken is a run in which jobs and outages meet.
type stricken struct {
	plan    entity.Plan // a cluster of 4 where nil
	policy  entity.Policy
	victims flow.Victims
	set     func(*entity.Metascheduler)
	outages []flow.Outage
	jobs    []*entity.Job
	more    []entity.Observer

	journal journal
	lost    []flow.Lost
	end     des.Time
	meta    *entity.Metascheduler
}

func (s *stricken) run() error {
	sim := des.New(des.Config{})
	o := &flow.Outages{Victims: s.victims, Told: func(l flow.Lost) { s.lost = append(s.lost, l) }}
	o.Submit(slices.Values(s.outages))
	defer o.Close()
	if s.plan == nil {
		s.plan = plan.NewCluster(4)
	}
	if s.policy == nil {
		s.policy = strictOrder{}
	}
	s.meta = entity.NewMetascheduler(sim, s.plan, s.policy, append(s.more, o, &s.journal)...)
	if s.set != nil {
		s.set(s.meta)
	}
	s.meta.SubmitAll(slices.Values(s.jobs))
	defer s.meta.Close()
	err := sim.Run(context.Background())
	s.end = sim.Now()
	return err
}

// story is what happened to jobs, without their submissions and promises.
func (s *stricken) story(t require.TestingT) []string {
	require.NoError(t, s.run())
	var lines []string
	for _, line := range s.journal.lines {
		var at, what string
		_, _ = fmt.Sscan(line, &at, &what)
		if what != "submitted" && what != "promised" {
			lines = append(lines, line)
		}
	}
	return lines
}

// losses are what was out of service, "from-to: how many, which, whom it hit".
func (s *stricken) losses() (lines []string) {
	for _, l := range s.lost {
		line := fmt.Sprintf("%v-%v: %d", l.From, l.To, l.Size())
		if l.Node != nil {
			line += fmt.Sprintf(" node %d", l.Node.ID)
		} else if l.Set != nil {
			line += fmt.Sprintf(" (%s)", procset.Append(nil, l.Set))
		}
		for _, v := range l.Victims {
			line += fmt.Sprintf(" hits %d", v.ID)
		}
		lines = append(lines, line)
	}
	return lines
}

// down is an outage that nobody has announced; it takes its times in seconds.
func down(from, to des.Time, processors int) flow.Outage {
	return flow.Outage{Known: from * des.Second, From: from * des.Second, To: to * des.Second, Where: entity.Where{Count: processors}}
}

// of is an outage of processors by number.
func of(x flow.Outage, place ...int32) flow.Outage {
	x.Count = 0
	for _, p := range place {
		x.Set = append(x.Set, procset.Range{First: p, Last: p})
	}
	return x
}

func announced(x flow.Outage, known des.Time) flow.Outage {
	x.Known = known * des.Second
	return x
}

func TestAFailureHitsTheJobOnItsProcessor(t *testing.T) {
	for _, c := range []struct {
		rule flow.VictimRule
		want []string
	}{
		{flow.VictimsRequeue, []string{"0 started 1", "0 started 2", "10 requeued 1", "30 started 1", "50 finished 2", "130 finished 1"}},
		{flow.VictimsKill, []string{"0 started 1", "0 started 2", "10 killed 1", "50 finished 2"}},
		{flow.VictimsWait, []string{"0 started 1", "0 started 2", "50 finished 2", "100 finished 1"}},
		{flow.VictimsCheckpoint, []string{"0 started 1", "0 started 2", "10 requeued 1", "30 started 1", "50 finished 2", "121 finished 1"}},
	} {
		s := &stricken{outages: []flow.Outage{of(down(10, 30, 0), 1)}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 2), estimated(2, 0, 50, 50, 2)}}
		if s.victims.Rule = c.rule; c.rule == flow.VictimsCheckpoint {
			s.victims.Checkpoints.Interval = 3 * des.Second // takes no time
		}
		require.Equal(t, c.want, s.story(t), "%v", c.rule)
		want := "10-30: 1 (1) hits 1"
		if c.rule == flow.VictimsWait {
			want = "100-120: 1 (1)"
		}
		require.Equal(t, []string{want}, s.losses(), "%v", c.rule)
	}
}

func TestAFailureOfAFreeProcessorHitsNobody(t *testing.T) {
	s := &stricken{outages: []flow.Outage{of(down(10, 30, 0), 3)}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 2), estimated(2, 15, 50, 50, 2)}}
	require.Equal(t, []string{"0 started 1", "30 started 2", "80 finished 2", "100 finished 1"}, s.story(t))
	require.Equal(t, []string{"10-30: 1 (3)"}, s.losses())
}

func TestSoManyProcessorsAreTheFreeOnesAndThenThoseOfTheLatest(t *testing.T) {
	jobs := []*entity.Job{estimated(1, 0, 100, 100, 1), estimated(2, 1, 100, 100, 1), estimated(3, 2, 100, 100, 1)}
	s := &stricken{outages: []flow.Outage{down(10, 30, 1)}, jobs: jobs}
	require.Equal(t, []string{"0 started 1", "1 started 2", "2 started 3", "100 finished 1", "101 finished 2", "102 finished 3"}, s.story(t))
	s = &stricken{outages: []flow.Outage{down(10, 30, 3)}, jobs: jobs}
	require.Equal(t, []string{"0 started 1", "1 started 2", "2 started 3", "10 requeued 3", "10 requeued 2", "30 started 2", "30 started 3", "100 finished 1", "130 finished 2", "130 finished 3"}, s.story(t))
	require.Equal(t, []string{"10-30: 3 hits 3 hits 2"}, s.losses())
}

func TestAnAnnouncedOutageIsAHole(t *testing.T) {
	jobs := []*entity.Job{estimated(1, 0, 50, 50, 4), estimated(2, 1, 60, 60, 1), estimated(3, 2, 40, 40, 1)}
	s := &stricken{policy: bookAhead{}, outages: []flow.Outage{announced(down(100, 200, 4), 0)}, jobs: jobs}
	require.Equal(t, []string{"0 started 1", "50 finished 1", "50 started 3", "90 finished 3", "200 started 2", "260 finished 2"}, s.story(t))
	require.Equal(t, []string{"100-200: 4"}, s.losses())
}

func TestJobsAreKeptOffProcessorsThatAreSoonLost(t *testing.T) {
	for _, swap := range []bool{false, true} {
		jobs := []*entity.Job{estimated(1, 0, 50, 50, 2), estimated(2, 0, 150, 150, 2)}
		if swap {
			jobs[0], jobs[1] = jobs[1], jobs[0]
		}
		s := &stricken{outages: []flow.Outage{announced(of(down(100, 200, 0), 1, 2), 0)}, jobs: jobs}
		require.Equal(t, []string{"50 finished 1", "150 finished 2"}, s.story(t)[2:])
		require.Equal(t, []string{"100-200: 2 (1-2)"}, s.losses())
		for j, r := range s.journal.runs {
			want := []procset.Range{{First: 1, Last: 2}}
			if j.ID == 2 {
				want = []procset.Range{{First: 0, Last: 0}, {First: 3, Last: 3}}
			}
			require.Equal(t, want, r.Place)
		}
	}
	s := &stricken{outages: []flow.Outage{announced(of(down(100, 200, 0), 0), 0)}, jobs: []*entity.Job{estimated(1, 0, 20, 20, 4), estimated(2, 20, 90, 200, 3)}}
	require.Equal(t, []string{"0 started 1", "20 finished 1", "20 started 2", "110 finished 2"}, s.story(t))
}

func TestAJobIsKeptOffAProcessorThatIsLostTwiceByWhicheverComesFirst(t *testing.T) {
	late, soon := announced(of(down(100, 110, 0), 0, 1), 0), announced(of(down(20, 30, 0), 0, 1), 0)
	for _, all := range [][]flow.Outage{{late, soon}, {soon, late}} {
		s := &stricken{outages: all, jobs: []*entity.Job{estimated(1, 5, 50, 50, 2)}}
		require.Equal(t, []string{"5 started 1", "55 finished 1"}, s.story(t))
		require.Equal(t, []string{"20-30: 2 (0-1)", "100-110: 2 (0-1)"}[:len(s.losses())], s.losses())
		for _, r := range s.journal.runs {
			require.Equal(t, []procset.Range{{First: 2, Last: 3}}, r.Place)
		}
	}
}

func TestAJobThatEndsAsAnOutageBeginsMayHaveItsProcessors(t *testing.T) {
	for length, want := range map[des.Time]procset.Range{95: {First: 2, Last: 3}, 96: {First: 0, Last: 1}} {
		s := &stricken{outages: []flow.Outage{announced(of(down(100, 200, 0), 2, 3), 0)}, jobs: []*entity.Job{estimated(1, 5, 10, length, 2)}}
		require.NoError(t, s.run())
		for _, r := range s.journal.runs {
			require.Equal(t, []procset.Range{want}, r.Place, "%v", length)
		}
	}
}

func TestAJobThatRunsMayGoOnUntilAnAnnouncedOutageBegins(t *testing.T) {
	s := &stricken{outages: []flow.Outage{announced(down(20, 40, 4), 10)}, jobs: []*entity.Job{estimated(1, 0, 15, 100, 2), estimated(2, 0, 100, 100, 1), estimated(3, 16, 10, 10, 2)}}
	require.Equal(t, []string{"0 started 1", "0 started 2", "15 finished 1", "20 requeued 2", "40 started 2", "40 started 3", "50 finished 3", "140 finished 2"}, s.story(t),
		"what job 1 gave back early is of no use to job 3")
	require.Equal(t, []string{"20-40: 4 hits 2"}, s.losses())
}

func TestReservationsAheadAreWithdrawnForAFailure(t *testing.T) {
	s := &stricken{policy: bookAhead{}, outages: []flow.Outage{of(down(5, 100, 0), 3)}, jobs: []*entity.Job{estimated(1, 0, 10, 10, 3), estimated(2, 1, 10, 10, 4)}}
	require.Equal(t, []string{"0 started 1", "5 withdrawn 2", "10 finished 1", "100 started 2", "110 finished 2"}, s.story(t))
	require.Equal(t, []string{"5-100: 1 (3)"}, s.losses(), "to wait on is not to be a victim")
}

func TestOverlappingLossesOfOneProcessorAreJoined(t *testing.T) {
	s := &stricken{outages: []flow.Outage{of(down(10, 30, 0), 0), of(down(15, 20, 0), 0), of(down(25, 40, 0), 0, 1)}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 2), estimated(2, 0, 50, 50, 2)}}
	require.NoError(t, s.run())
	require.Equal(t, []string{"10-30: 1 (0) hits 1", "25-40: 1 (1)", "30-40: 1 (0)"}, s.losses())
}

func TestOverlappingLossesOfAnyProcessorsAddUpToAllThereAre(t *testing.T) {
	s := &stricken{outages: []flow.Outage{down(10, 30, 3), down(20, 40, 2)}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)}}
	require.Equal(t, []string{"0 started 1", "20 requeued 1", "30 started 1", "130 finished 1"}, s.story(t))
	require.Equal(t, []string{"10-30: 3", "20-30: 1 hits 1", "30-40: 2"}, s.losses())
}

func TestAnAdvanceReservationIsCancelledAheadAndKilledLater(t *testing.T) {
	for from, want := range map[des.Time]string{20: "rejected", 60: "killed"} {
		s := &stricken{outages: []flow.Outage{down(from, 100, 4)}, jobs: []*entity.Job{estimated(1, 0, 10, 10, 1)}}
		s.set = func(m *entity.Metascheduler) {
			flow.NewBookings(m).Submit(slices.Values([]flow.Booking{{Job: estimated(2, 5, 30, 30, 2), Start: 50 * des.Second}}))
		}
		require.Contains(t, s.story(t), fmt.Sprintf("%d %s 2", from, want))
		for j, r := range s.journal.runs {
			if j.ID == 2 {
				require.Equal(t, "the processors of its advance reservation went out of service", r.Reason)
			}
		}
		require.Equal(t, []string{fmt.Sprintf("%d-100: 4 hits 2", from)}, s.losses())
	}
}

func TestReservationsAheadAreWithdrawnWhenAnOutageIsAnnounced(t *testing.T) {
	s := &stricken{policy: bookAhead{}, outages: []flow.Outage{announced(down(12, 30, 2), 5)}, jobs: []*entity.Job{estimated(1, 0, 10, 10, 3), estimated(2, 1, 10, 10, 4)}}
	require.Equal(t, []string{"0 started 1", "5 withdrawn 2", "10 finished 1", "30 started 2", "40 finished 2"}, s.story(t))
	require.Equal(t, []string{"12-30: 2"}, s.losses())
}

func TestOnlyAsManyReservationsAheadAreWithdrawnAsStandInTheWay(t *testing.T) {
	s := &stricken{policy: bookAhead{}, outages: []flow.Outage{down(5, 100, 1)}, jobs: []*entity.Job{estimated(1, 0, 10, 10, 3), estimated(2, 1, 10, 10, 2), estimated(3, 1, 10, 10, 2)}}
	require.Equal(t, []string{"0 started 1", "5 withdrawn 3", "10 finished 1", "10 started 2", "20 finished 2", "20 started 3", "30 finished 3"}, s.story(t))
}

// reserving has job 9 booked for [start, start+length) on so many processors, at 2.
func reserving(start, length des.Time, nodes int) func(*entity.Metascheduler) {
	return func(m *entity.Metascheduler) {
		flow.NewBookings(m).Submit(slices.Values([]flow.Booking{{Job: estimated(9, 2, length, length, nodes), Start: start * des.Second}}))
	}
}

func TestAdvanceReservationsYieldLast(t *testing.T) {
	s := &stricken{outages: []flow.Outage{down(10, 20, 2)}, jobs: []*entity.Job{estimated(1, 0, 30, 30, 2)}, set: reserving(5, 20, 2)}
	require.Equal(t, []string{"0 started 1", "5 started 9", "10 requeued 1", "20 started 1", "25 finished 9", "50 finished 1"}, s.story(t), "though it started later")
	s = &stricken{policy: bookAhead{}, outages: []flow.Outage{down(10, 60, 1)}, jobs: []*entity.Job{estimated(1, 0, 30, 30, 3), estimated(2, 3, 20, 20, 2)}, set: reserving(40, 20, 2)}
	require.Equal(t, []string{"0 started 1", "10 withdrawn 2", "30 finished 1", "40 started 9", "60 finished 9", "60 started 2", "80 finished 2"}, s.story(t), "though it starts earlier")
}

func TestAnAdvanceReservationAheadStandsWhereOtherJobsCanYield(t *testing.T) {
	wait := flow.Victims{Rule: flow.VictimsWait}
	for _, c := range []struct {
		what        string
		victims     flow.Victims
		x           flow.Outage
		story, lost []string
	}{
		{
			"the job goes on until its room is needed", flow.Victims{}, down(10, 60, 1),
			[]string{"0 started 1", "50 requeued 1", "50 started 9", "60 started 1", "80 finished 9", "160 finished 1"},
			[]string{"10-50: 1", "50-60: 1 hits 1"},
		},
		{
			"a processor that nobody has", flow.Victims{}, of(down(10, 60, 0), 3),
			[]string{"0 started 1", "50 requeued 1", "50 started 9", "60 started 1", "80 finished 9", "160 finished 1"},
			[]string{"10-50: 1 (3)", "50-60: 1 (3) hits 1"},
		},
		{
			"known ahead", flow.Victims{}, announced(down(50, 60, 1), 10),
			[]string{"0 started 1", "50 requeued 1", "50 started 9", "60 started 1", "80 finished 9", "160 finished 1"},
			[]string{"50-60: 1 hits 1"},
		},
		{
			"too many even so", flow.Victims{}, down(10, 60, 3),
			[]string{"0 started 1", "10 withdrawn 9", "10 rejected 9", "10 requeued 1", "60 started 1", "160 finished 1"},
			[]string{"10-60: 3 hits 9 hits 1"},
		},
		{
			"a drain waits for the job", wait, down(10, 60, 1),
			[]string{"0 started 1", "50 started 9", "80 finished 9", "100 finished 1"},
			[]string{"100-150: 1"},
		},
		{
			"a drain that is known ahead", wait, announced(down(50, 60, 1), 10),
			[]string{"0 started 1", "50 started 9", "80 finished 9", "100 finished 1"},
			[]string{"100-110: 1"},
		},
		{
			"a drain that no job can be waited for", wait, of(down(10, 60, 0), 3),
			[]string{"0 started 1", "10 withdrawn 9", "10 rejected 9", "100 finished 1"},
			[]string{"10-60: 1 (3) hits 9"},
		},
		{
			"a drain of too many", wait, down(10, 60, 3),
			[]string{"0 started 1", "10 withdrawn 9", "10 rejected 9", "100 finished 1"},
			[]string{"10-60: 2 hits 9", "100-150: 1"},
		},
	} {
		s := &stricken{victims: c.victims, outages: []flow.Outage{c.x}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 2)}, set: reserving(50, 30, 2)}
		require.Equal(t, c.story, s.story(t), c.what)
		require.Equal(t, c.lost, s.losses(), c.what)
	}
}

func TestAnAdvanceReservationIsCancelledAsSoonAsOutagesLeaveNoRoomForIt(t *testing.T) {
	s := &stricken{outages: []flow.Outage{announced(down(60, 90, 2), 0), announced(down(40, 70, 1), 10)}, jobs: []*entity.Job{estimated(1, 0, 20, 20, 1)}, set: reserving(50, 30, 2)}
	require.Equal(t, []string{"0 started 1", "10 withdrawn 9", "10 rejected 9", "20 finished 1"}, s.story(t), "at 60 it would have too few")
}

func TestNoLossIsForgottenForAnAdvanceReservation(t *testing.T) {
	s := &stricken{victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{down(10, 60, 1), down(11, 61, 1), down(12, 62, 1)}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 2)}, set: reserving(50, 30, 2)}
	require.Equal(t, []string{"0 started 1", "12 withdrawn 9", "12 rejected 9", "100 finished 1"}, s.story(t))
	require.Equal(t, []string{"12-62: 1 hits 9", "100-150: 1", "100-150: 1"}, s.losses())
}

func TestAnAdvanceReservationThatIsOverByThenStands(t *testing.T) {
	s := &stricken{outages: []flow.Outage{announced(down(90, 100, 4), 20)}, jobs: []*entity.Job{estimated(1, 0, 95, 200, 1)}, set: reserving(50, 30, 2)}
	require.Equal(t, []string{"0 started 1", "50 started 9", "80 finished 9", "90 requeued 1", "100 started 1", "195 finished 1"}, s.story(t))
}

func TestAJobIsSentBackSoOftenAndNotOnceMore(t *testing.T) {
	s := &stricken{victims: flow.Victims{Limit: 2}, outages: []flow.Outage{down(10, 11, 4), down(20, 21, 4), down(30, 31, 4)}, jobs: []*entity.Job{estimated(1, 0, 50, 50, 1)}}
	require.Equal(t, []string{"0 started 1", "10 requeued 1", "11 started 1", "20 requeued 1", "21 started 1", "30 killed 1"}, s.story(t))
	for _, r := range s.journal.runs {
		require.Equal(t, "its processors went out of service once more after 2 times", r.Reason)
	}
}

func TestWhoIsSentBackIsSetUpAgain(t *testing.T) {
	s := &stricken{victims: flow.Victims{Restart: 7 * des.Second}, outages: []flow.Outage{down(10, 20, 4)}, jobs: []*entity.Job{estimated(1, 0, 50, 50, 1)}}
	require.Equal(t, []string{"0 started 1", "10 requeued 1", "20 started 1", "77 finished 1"}, s.story(t))
}

func TestNoJobStartsWhereALossWaits(t *testing.T) {
	jobs := []*entity.Job{estimated(1, 0, 50, 90, 2), estimated(2, 0, 60, 60, 2), estimated(3, 20, 10, 10, 1)}
	s := &stricken{victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{of(down(10, 15, 0), 0)}, jobs: jobs}
	require.Equal(t, []string{"0 started 1", "0 started 2", "50 finished 1", "50 started 3", "60 finished 2", "60 finished 3"}, s.story(t))
	require.Equal(t, []string{"50-55: 1 (0)"}, s.losses())

	s = &stricken{victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{down(10, 15, 3)}, jobs: jobs}
	require.Equal(t, []string{"0 started 1", "0 started 2", "50 finished 1", "50 started 3", "60 finished 2", "60 finished 3"}, s.story(t))
	require.Equal(t, []string{"50-55: 1", "60-65: 2"}, s.losses(), "the latest ends last, and one of the other's processors is enough")
}

func TestALossThatWaitsLastsAsLongAsItWouldHave(t *testing.T) {
	wait := flow.Victims{Rule: flow.VictimsWait}
	jobs := []*entity.Job{estimated(1, 0, 50, 90, 2), estimated(2, 0, 60, 60, 2)}
	s := &stricken{victims: wait, outages: []flow.Outage{of(down(10, 100, 0), 0)}, jobs: jobs}
	require.NoError(t, s.run())
	require.Equal(t, []string{"50-140: 1 (0)"}, s.losses())
	s = &stricken{victims: wait, outages: []flow.Outage{down(10, 100, 3)}, jobs: jobs}
	require.NoError(t, s.run())
	require.Equal(t, []string{"50-140: 1", "60-150: 2"}, s.losses())
	s = &stricken{victims: wait, outages: []flow.Outage{down(10, 15, 2), down(11, 16, 2)}, jobs: jobs}
	require.NoError(t, s.run())
	require.Equal(t, []string{"50-55: 2", "60-65: 2"}, s.losses(), "no job is waited for twice for the same processors")
	s = &stricken{victims: wait, outages: []flow.Outage{{Known: 10 * des.Second, From: 10 * des.Second, To: des.Forever, Where: entity.Where{Count: 2}}}, jobs: jobs}
	require.NoError(t, s.run())
	require.Equal(t, []string{"60-forever: 2"}, s.losses())
}

func TestAJobThatOverrunsItsEstimateIsWaitedFor(t *testing.T) {
	s := &stricken{victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{down(10, 15, 4)}, jobs: []*entity.Job{estimated(1, 0, 50, 20, 4)}}
	s.set = func(m *entity.Metascheduler) { m.Overrun = entity.OverrunExtend }
	require.Equal(t, []string{"0 started 1", "50 finished 1"}, s.story(t))
	require.Equal(t, []string{"50-55: 4"}, s.losses())
}

func TestTheNodesOfADomainAreLost(t *testing.T) {
	for _, rule := range []flow.VictimRule{flow.VictimsRequeue, flow.VictimsWait} {
		all := nodes(1, 1, 1)
		s := &stricken{plan: domain(t, all), victims: flow.Victims{Rule: rule}, jobs: []*entity.Job{estimated(1, 0, 40, 50, 2), estimated(2, 0, 30, 30, 1), estimated(3, 31, 5, 5, 1)}}
		x := down(10, 20, 0)
		x = of(x, 0, 1)
		y := announced(down(60, 70, 0), 20)
		y = of(y, 0, 1, 2)
		s.outages = []flow.Outage{x, y}
		story := s.story(t)
		if rule == flow.VictimsRequeue {
			require.Equal(t, []string{"0 started 1", "0 started 2", "10 requeued 1", "30 finished 2", "70 started 1", "70 started 3", "75 finished 3", "110 finished 1"}, story, "50 s do not fit in before the second outage")
			require.Equal(t, []string{"10-20: 1 node 0 hits 1", "10-20: 1 node 1", "60-70: 1 node 0", "60-70: 1 node 1", "60-70: 1 node 2"}, s.losses()[:5])
		} else {
			require.Equal(t, []string{"0 started 1", "0 started 2", "30 finished 2", "31 started 3", "36 finished 3", "40 finished 1"}, story)
			require.Equal(t, []string{"40-50: 1 node 0", "40-50: 1 node 1"}, s.losses()[:2])
		}
	}
}

func TestANodeIsWaitedForAndNotTheWholeJob(t *testing.T) {
	all := nodes(1, 2)
	x := down(10, 15, 0)
	x = of(x, 0, 1)
	s := &stricken{plan: domain(t, all), victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{x}, jobs: []*entity.Job{estimated(1, 0, 40, 40, 2), estimated(2, 1, 2, 2, 1)}}
	require.Equal(t, []string{"0 started 1", "25 started 2", "26 finished 2", "40 finished 1"}, s.story(t))
	require.Equal(t, []string{"20-25: 1 node 1", "40-45: 1 node 0"}, s.losses())
	s = &stricken{plan: domain(t, all), policy: bookAhead{}, victims: s.victims, outages: s.outages, jobs: []*entity.Job{estimated(1, 0, 40, 40, 2), estimated(2, 11, 2, 2, 1)}}
	require.Equal(t, []string{"0 started 1", "25 started 2", "26 finished 2", "40 finished 1"}, s.story(t), "it was promised 25 at once")
}

func TestAJobOfAnOwnersQueueIsNotWaitedForButKeepsItsNode(t *testing.T) {
	all := nodes(1, 1)
	all[0].Labels = map[string]string{flow.OwnerLabel: "acme"}
	own := &flow.LocalQueue{Owner: "acme", Policy: strictOrder{}, Finder: everyNode{}}
	x := down(10, 100, 0)
	x = of(x, 0)
	s := &stricken{plan: domain(t, all), more: []entity.Observer{own}, victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{x}, jobs: []*entity.Job{estimated(1, 1, 80, 80, 1)}}
	s.set = func(*entity.Metascheduler) { own.Submit(slices.Values([]*entity.Job{estimated(7, 0, 30, 30, 1)})) }
	require.Equal(t, []string{"1 started 1", "81 finished 1"}, s.story(t))
	require.Equal(t, []string{"30-100: 1 node 0"}, s.losses())
}

func TestALossComesWhenThereIsRoomBesideWhatIsKeptForAJob(t *testing.T) {
	s := &stricken{outages: []flow.Outage{down(10, 100, 3)}, jobs: []*entity.Job{estimated(1, 80, 5, 5, 4)}}
	s.set = func(m *entity.Metascheduler) {
		_, err := m.Tentative(estimated(9, 0, 50, 50, 2), entity.Window{End: 50 * des.Second, Nodes: 2})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"100 started 1", "105 finished 1"}, s.story(t))
	require.Equal(t, []string{"50-100: 3"}, s.losses())
}

// Of three processors only until 50, when two are kept: meanwhile a second outage adds
// the fourth, by number or not.
func TestALossThatIsCutShortIsNotTakenTwice(t *testing.T) {
	for _, named := range []bool{false, true} {
		s := &stricken{outages: []flow.Outage{down(10, 100, 3), down(20, 40, 3)}}
		want := []string{"10-50: 3", "20-40: 1", "60-100: 3"}
		if named {
			s.outages = []flow.Outage{of(down(10, 100, 3), 0, 1, 2), of(down(20, 40, 3), 1, 2, 3)}
			want = []string{"10-50: 3 (0-2)", "20-40: 1 (3)", "60-100: 3 (0-2)"}
		}
		s.jobs = []*entity.Job{estimated(1, 0, 5, 5, 1), estimated(2, 90, 5, 5, 4)}
		s.set = func(m *entity.Metascheduler) {
			_, err := m.Tentative(estimated(9, 0, 10, 10, 2), entity.Window{Start: 50 * des.Second, End: 60 * des.Second, Nodes: 2})
			require.NoError(t, err)
		}
		keeps := &yielding{Policy: strictOrder{}, t: t}
		s.policy, s.more = keeps, []entity.Observer{keeps}
		require.Equal(t, []string{"0 started 1", "5 finished 1", "100 started 2", "105 finished 2"}, s.story(t))
		keeps.InstantOver(0)
		require.Equal(t, want, s.losses())
	}
}

func TestALossThatWaitsBeginsWhenTheJobIsPreempted(t *testing.T) {
	s := &stricken{victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{down(10, 15, 4)}, jobs: []*entity.Job{estimated(1, 0, 40, 40, 3)}}
	s.set = func(m *entity.Metascheduler) {
		m.Simulator().At(20*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			for r := range m.RunningJobs() {
				m.Preempt(r, des.Forever)
			}
		}), 0)
	}
	require.Equal(t, []string{"0 started 1", "20 requeued 1", "25 started 1", "45 finished 1"}, s.story(t))
	require.Equal(t, []string{"10-15: 1", "20-25: 3"}, s.losses())
}

// resizing has job 1, which does 200 s of work, run on so many of four processors, and
// on as many others from an instant on.
func resizing(t *testing.T, s *stricken, when des.Time, from, to int) {
	j := estimated(1, 0, 200/des.Time(from), 200/des.Time(from), from)
	for _, n := range []int{2, 3, 4} {
		j.Shapes = append(j.Shapes, entity.Shape{Nodes: n, Length: 200 * des.Second / des.Time(n), Runtime: 200 * des.Second / des.Time(n)})
	}
	s.jobs = append([]*entity.Job{j}, s.jobs...)
	s.set = func(m *entity.Metascheduler) {
		m.Simulator().At(when*des.Second, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) {
			for r := range m.RunningJobs() {
				require.NoError(t, m.Resize(r, to, 0))
			}
		}), 0)
	}
}

func TestALossThatWaitsHasWhatAJobThatShrinksGivesBack(t *testing.T) {
	for _, c := range []struct {
		x    flow.Outage
		want []string
	}{
		{down(10, 20, 1), []string{"15-25: 1"}},
		{down(10, 20, 2), []string{"15-25: 2"}},
		{of(down(10, 20, 0), 3), []string{"15-25: 1 (3)"}},
		{of(down(10, 20, 0), 0), []string{"85-95: 1 (0)"}},
		{of(down(10, 20, 0), 1, 3), []string{"15-25: 1 (3)", "85-95: 1 (1)"}},
	} {
		s := &stricken{victims: flow.Victims{Rule: flow.VictimsWait}, outages: []flow.Outage{c.x}}
		resizing(t, s, 15, 4, 2)
		require.Equal(t, []string{"0 started 1", "15 resized 1", "85 finished 1"}, s.story(t))
		require.Equal(t, c.want, s.losses())
	}
}

func TestAnAnnouncedLossHasWhatAJobThatShrinksGivesBack(t *testing.T) {
	s := &stricken{outages: []flow.Outage{announced(down(40, 60, 2), 5)}, jobs: []*entity.Job{estimated(2, 16, 30, 30, 2)}}
	resizing(t, s, 15, 4, 2)
	require.Equal(t, []string{"0 started 1", "15 resized 1", "60 started 2", "85 finished 1", "90 finished 2"}, s.story(t))
	require.Equal(t, []string{"40-60: 2"}, s.losses())
}

func TestAJobIsHitOnWhatItHasGained(t *testing.T) {
	s := &stricken{victims: flow.Victims{Rule: flow.VictimsKill}, outages: []flow.Outage{of(down(5, 6, 0), 3), of(down(30, 40, 0), 2)}}
	resizing(t, s, 20, 2, 3)
	require.Equal(t, []string{"0 started 1", "20 resized 1", "30 killed 1"}, s.story(t))
}

func TestAJobThatIsResizedHasBeenSentBackAsOftenAsBefore(t *testing.T) {
	s := &stricken{victims: flow.Victims{Limit: 1}, outages: []flow.Outage{down(5, 6, 4), down(30, 40, 4)}}
	resizing(t, s, 20, 2, 4)
	require.Equal(t, []string{"0 started 1", "5 requeued 1", "6 started 1", "20 resized 1", "30 killed 1"}, s.story(t))
}

func TestOutagesThatMakeNoSenseEndTheRun(t *testing.T) {
	both := of(down(1, 2, 0), 1)
	both.Count = 1
	for want, all := range map[string][]flow.Outage{
		"want 1 to 4 nodes or processors, not 5": {down(1, 2, 5)},
		"one of the two":                         {both},
		"end after it begins":                    {down(2, 2, 1)},
		"it is known at 4, after it begins":      {announced(down(2, 9, 1), 4)},
		"among 0-3 in ascending order, not 4":    {of(down(1, 2, 0), 4)},
		"among 0-3 in ascending order, not 2 1":  {of(down(1, 2, 0), 2, 1)},
		"some outages name their processors":     {down(1, 2, 1), of(down(1, 3, 0), 1)},
		"in order of time":                       {down(3, 4, 1), down(1, 2, 1)},
	} {
		s := &stricken{outages: all, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)}}
		require.ErrorContains(t, s.run(), want, want)
	}
	s := &stricken{plan: domain(t, nodes(1)), outages: []flow.Outage{of(down(1, 2, 0), 1)}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)}}
	require.ErrorContains(t, s.run(), "want numbers among 0-0")
	s = &stricken{plan: domain(t, nodes(1)), outages: []flow.Outage{down(1, 2, 1)}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)}}
	require.ErrorContains(t, s.run(), "nodes that have names are lost by number")
	s = &stricken{victims: flow.Victims{Rule: flow.VictimsKill, Limit: 1}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)}}
	require.ErrorContains(t, s.run(), "no job is sent back")
}

// forEver fails every ten seconds for one.
func forEver(yield func(flow.Outage) bool) {
	for at := des.Time(5); yield(of(down(at, at+1, 0), 0)); at += 10 {
	}
}

func TestAnEndlessSequenceDoesNotKeepARunFromEnding(t *testing.T) {
	sim := des.New(des.Config{})
	var begun []des.Time
	o := &flow.Outages{Told: func(l flow.Lost) { begun = append(begun, l.From/des.Second) }}
	o.Submit(iter.Seq[flow.Outage](forEver))
	defer o.Close()
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), strictOrder{}, o)
	m.Submit(estimated(1, 40, 2, 2, 1))
	sim.At(80*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { m.Submit(estimated(2, 95, 3, 3, 1)) }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []des.Time{5, 15, 25, 35, 95}, begun, "it slept from the end of job 1 until the next job came")
	require.Less(t, sim.Now(), 110*des.Second)
}

// failing is failures of processors 0, 1 and so on, one after the other, for ever: one each
// period, for so long.
func failing(processors int, period, length des.Time) iter.Seq[flow.Outage] {
	return func(yield func(flow.Outage) bool) {
		for i := 0; ; i++ {
			from := des.Time(i+1) * period
			p := int32(i % processors)
			if !yield(flow.Outage{Known: from, From: from, To: from + length, Where: entity.Where{Set: []procset.Range{{First: p, Last: p}}}}) {
				return
			}
		}
	}
}

// struck simulates jobs on a cluster of 4 under failures without end.
func struck(victims flow.Victims, failures iter.Seq[flow.Outage], jobs ...*entity.Job) (outages int, err error) {
	o := &flow.Outages{Victims: victims, Told: func(flow.Lost) { outages++ }}
	o.Submit(failures)
	defer o.Close()
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), strictOrder{}, o)
	m.SubmitAll(slices.Values(jobs))
	defer m.Close()
	return outages, sim.Run(context.Background())
}

func TestARunInWhichNoJobCanStartForOutagesEndsWithAnError(t *testing.T) {
	down := failing(4, des.Second, 2*des.Second) // two of them at any time
	outages, err := struck(flow.Victims{}, down, estimated(1, 0, 1, 1, 1), estimated(2, 10, 100, 100, 3))
	require.ErrorContains(t, err, "job 2 wants 3 processors and has waited since 10: no job has run while 100000 outages began, and 2 of 4 processors are free now")
	require.Equal(t, 100_000+10, outages)
	// Whoever runs meanwhile has it counted anew.
	_, err = struck(flow.Victims{Rule: flow.VictimsWait}, failing(4, des.Second, 2*des.Second), estimated(1, 0, 60_000, 60_000, 1), estimated(2, 10, 100, 100, 4))
	require.ErrorContains(t, err, "at 159999: job 2 wants 4 processors and has waited since 10")
}

// All processors fail ten times while a job runs there. What comes of it is as long as the
// longest of these outages.
func TestOutagesThatWaitForTheSameJobAreJoined(t *testing.T) {
	var told []flow.Lost
	o := &flow.Outages{Victims: flow.Victims{Rule: flow.VictimsWait}, Told: func(l flow.Lost) { told = append(told, l) }}
	o.Submit(func(yield func(flow.Outage) bool) {
		for i := range des.Time(10) {
			length := 5 * des.Second
			if i == 4 {
				length = 8 * des.Second
			}
			from := (i + 1) * des.Second
			if !yield(flow.Outage{Known: from, From: from, To: from + length, Where: entity.Where{Set: []procset.Range{{First: 0, Last: 3}}}}) {
				return
			}
		}
	})
	defer o.Close()
	sim := des.New(des.Config{})
	holds := 0
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), strictOrder{}, o, takings(func() { holds++ }))
	m.SubmitAll(slices.Values([]*entity.Job{estimated(1, 0, 100, 100, 4), estimated(2, 0, 10, 10, 4)}))
	defer m.Close()
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 118*des.Second, sim.Now())
	require.Len(t, told, 2)
	require.Equal(t, 2+1+2, holds, "two ahead, the longer again when it is known, two as they begin")
}

// takings is told of capacity that leaves the plan.
type takings func()

func (takings) Observe(entity.JobEvent) {}
func (w takings) Withheld(*entity.Hold) { w() }
func (takings) Returned(*entity.Hold)   {}

// The second job comes after ten thousand failures, and the user has enough after a hundred.
func TestARunCanBeInterruptedWhileOutagesCatchUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pulled := 0
	o := &flow.Outages{}
	o.Submit(func(yield func(flow.Outage) bool) {
		for x := range failing(4, des.Second, des.Tick) {
			if pulled++; pulled == 100 {
				cancel()
			}
			if !yield(x) {
				return
			}
		}
	})
	defer o.Close()
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), strictOrder{}, o)
	m.Submit(estimated(1, 0, 1, 1, 1))
	sim.At(10_000*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { m.Submit(estimated(2, 10_000, 10, 10, 1)) }), 0)
	_ = sim.Run(ctx) // nil: no event is left at which it would look again
	require.Equal(t, 100, pulled)
}

func TestAJobThatIsSentBackForEverEndsTheRun(t *testing.T) {
	for _, v := range []flow.Victims{{}, {Rule: flow.VictimsCheckpoint, Checkpoints: entity.Checkpoints{Interval: 9 * des.Second}}} {
		outages, err := struck(v, failing(1, 9*des.Second, des.Second), estimated(1, 0, 1, 1, 1), estimated(2, 0, 100, 100, 4))
		require.ErrorContains(t, err, "job 2 has been stopped 10000 times in a row under policy strict order, and nothing was kept of these attempts", v.Rule)
		require.Equal(t, 10_000, outages)
	}
	// Work that is kept, or a limit, leads to an end.
	_, err := struck(flow.Victims{Rule: flow.VictimsCheckpoint, Checkpoints: entity.Checkpoints{Interval: des.Second}}, failing(1, 9*des.Second, des.Second),
		estimated(1, 0, 120_000, 120_000, 4))
	require.NoError(t, err)
	_, err = struck(flow.Victims{Limit: 9_000}, failing(1, 9*des.Second, des.Second), estimated(1, 0, 100, 100, 4))
	require.NoError(t, err)
}

// asleep simulates jobs on so many of two processors that come at the instants given, of
// which nobody knows before, so that the flow sleeps in between.
func asleep(t *testing.T, nodes int, pass entity.Pass, all iter.Seq[flow.Outage], submit ...des.Time) *stricken {
	s := &stricken{}
	o := &flow.Outages{Told: func(l flow.Lost) { s.lost = append(s.lost, l) }}
	o.Submit(all)
	defer o.Close()
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), strictOrder{}, o, &s.journal)
	m.Pass = pass
	for i, at := range submit {
		sim.At(at*des.Second, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) {
			m.Submit(estimated(int64(i+1), at, 5, 5, nodes))
		}), 0)
	}
	require.NoError(t, sim.Run(context.Background()))
	m.Close()
	return s
}

func TestAnOutageThatBeganWhileTheFlowSleptComesOnce(t *testing.T) {
	s := asleep(t, 1, entity.PassInstant, slices.Values([]flow.Outage{
		announced(down(10, 900, 1), 1), announced(down(60, 61, 1), 2), // at 60 it falls asleep again
	}), 0, 20, 100)
	require.Equal(t, []string{"20-900: 1"}, s.losses())
}

func TestAnOutageThatBeginsAsAJobComesHitsItWhetherTheFlowSleptOrNot(t *testing.T) {
	for _, pass := range passes {
		want := []string{"20 submitted 1", "30 started 1", "35 finished 1"}
		if pass == entity.PassEvent { // jobs come before anything else there
			want = []string{"20 submitted 1", "20 started 1", "20 requeued 1", "30 started 1", "35 finished 1"}
		}
		s := asleep(t, 2, pass, func(yield func(flow.Outage) bool) {
			for at := des.Time(10); yield(of(down(at, at+10, 0), int32(at/10%2))); at += 10 {
				if at == 20 {
					at = 90
				}
			}
		}, 20)
		require.Equal(t, want, s.journal.lines, "%v", pass)
	}
}

func TestAnOutageThatBeganWhileNobodyWasThereHoldsForTheNextJob(t *testing.T) {
	late := func(m *entity.Metascheduler) {
		m.Simulator().At(60*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { m.Submit(estimated(2, 70, 3, 3, 1)) }), 0)
	}
	for _, known := range []des.Time{0, 50} {
		s := &stricken{set: late, outages: []flow.Outage{announced(down(50, 100, 4), known)}, jobs: []*entity.Job{estimated(1, 0, 2, 2, 1)}}
		require.Equal(t, []string{"0 started 1", "2 finished 1", "100 started 2", "103 finished 2"}, s.story(t))
		require.Equal(t, []string{"70-100: 4"}, s.losses())
	}
}

func TestAnOwnersJobKeepsItsNodeAndTheOutageFollows(t *testing.T) {
	all := nodes(1, 1)
	d := domain(t, all)
	s := &stricken{plan: d, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)}}
	x := down(10, 60, 0)
	x = of(x, 1)
	s.outages = []flow.Outage{x}
	s.set = func(m *entity.Metascheduler) {
		f := flow.NewLocalFlow(d, m)
		f.Submit(slices.Values([]flow.LocalJob{{Node: all[1], Start: 5 * des.Second, Length: 20 * des.Second}, {Node: all[1], Start: 40 * des.Second, Length: 10 * des.Second}}))
	}
	require.NoError(t, s.run())
	require.Equal(t, []string{"25-40: 1 node 1", "50-60: 1 node 1"}, s.losses())
}

// Whatever happens, every job comes to one end, and nobody runs on what is lost.
func TestEveryJobIsAccountedForAndNobodyRunsOnWhatIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
		size := draw(1, 6, "size")
		kind := draw(0, 2, "kind")
		s := &stricken{plan: plan.NewCluster(size)}
		perfs := make([]float64, size)
		for i := range perfs {
			perfs[i] = float64(draw(1, 2, "performance"))
		}
		all := nodes(perfs...)
		if kind == 2 {
			s.plan = domain(t, all)
		}
		s.policy = []entity.Policy{strictOrder{}, bookAhead{}}[draw(0, 1, "policy")]
		s.victims.Rule = flow.VictimRule(draw(0, 3, "rule"))
		if back := s.victims.Rule == flow.VictimsRequeue || s.victims.Rule == flow.VictimsCheckpoint; back {
			s.victims.Limit, s.victims.Restart = draw(0, 2, "limit"), des.Time(draw(0, 5, "restart"))*des.Second
		}
		if s.victims.Rule == flow.VictimsCheckpoint {
			s.victims.Checkpoints = entity.Checkpoints{Interval: des.Time(draw(1, 9, "interval")) * des.Second, Cost: des.Time(draw(0, 3, "cost")) * des.Second}
		}
		pass, overrun := entity.Pass(draw(0, 1, "pass")), []entity.Overrun{entity.OverrunKill, entity.OverrunRaise}[draw(0, 1, "overrun")]
		at := des.Time(0)
		for id := range draw(1, 12, "jobs") {
			at += des.Time(draw(0, 10, "gap"))
			s.jobs = append(s.jobs, estimated(int64(id), at, des.Time(draw(0, 30, "runtime")), des.Time(draw(1, 30, "estimate")), draw(1, size, "nodes")))
		}
		var resizes []des.Time
		for range draw(0, 5, "resizes") {
			resizes = append(resizes, des.Time(draw(0, 100, "resize"))*des.Second)
		}
		if len(resizes) > 0 {
			for _, j := range s.jobs {
				own := des.Time(j.Request.Nodes)
				for n := des.Time(1); n <= des.Time(size); n++ {
					j.Shapes = append(j.Shapes, entity.Shape{Nodes: int(n), Length: j.Request.Length * own / n, Runtime: j.Runtime * own / n})
				}
			}
		}
		for range draw(0, 12, "outages") {
			from := des.Time(draw(0, 150, "from"))
			x := announced(down(from, from+des.Time(draw(1, 30, "for")), draw(1, size, "lost")), max(0, from-des.Time(draw(0, 40, "notice"))))
			first := draw(0, size-x.Count, "first")
			if kind > 0 {
				x.Where = entity.Where{Set: []procset.Range{{First: int32(first), Last: int32(first + x.Count - 1)}}}
			}
			s.outages = append(s.outages, x)
		}
		slices.SortStableFunc(s.outages, func(a, b flow.Outage) int { return int(a.Known - b.Known) })
		booked := 0
		s.set = func(m *entity.Metascheduler) {
			m.Pass, m.Overrun = pass, overrun
			for _, at := range resizes {
				to := draw(1, size, "to")
				m.Simulator().At(at, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) {
					for r := range m.RunningJobs() {
						_ = m.Resize(r, to, 0) // refused where there is no room
					}
				}), 0)
			}
			var all []flow.Booking
			for booked = range draw(0, 4, "bookings") {
				at := des.Time(draw(3, 60, "start"))
				all = append(all, flow.Booking{Job: estimated(int64(100+booked), 3, 10, des.Time(draw(10, 30, "booking")), draw(1, size, "booked")), Start: at * des.Second})
			}
			booked = len(all)
			flow.NewBookings(m).Submit(slices.Values(all))
		}
		keeps := &yielding{Policy: s.policy, t: t}
		s.policy, s.more = keeps, append(s.more, keeps)
		require.NoError(t, s.run())
		keeps.InstantOver(s.end)
		s.check(t, size, len(s.jobs)+booked)
		if s.victims.Rule != flow.VictimsWait {
			s.compare(t, size, booked == 0)
			if kind < 2 {
				s.promises(t, size)
			}
		}
	})
}

// promises holds every advance reservation that was cancelled ahead against what was
// promised and lost: without other jobs, too, there was too little room.
func (s *stricken) promises(t require.TestingT, size int) {
	for _, r := range s.journal.runs {
		if !r.Booked || r.State != entity.Rejected || r.Reason != "the processors of its advance reservation went out of service" {
			continue
		}
		room := true
		w := r.Reservation.Window
		for at := w.Start; at < w.End; at += des.Second {
			n, names := 0, map[int]bool{}
			for _, other := range s.journal.runs {
				if held := other.Reservation.Window; other.Booked && held.Start <= at && at < held.End {
					n += held.Nodes
				}
			}
			for _, x := range s.outages {
				if x.From > at || at >= x.To {
					continue
				}
				n += x.Count
				for p := range x.Numbers() {
					names[p] = true
				}
			}
			room = room && n+len(names) <= size
		}
		require.False(t, room, "%v at %v", r, w)
	}
}

// compare holds what was lost against what was asked for, second by second: all of it,
// and nothing else; nothing is lost any more when the last job has ended.
func (s *stricken) compare(t require.TestingT, size int, all bool) {
	var end des.Time
	for _, r := range s.journal.runs {
		end = max(end, r.Finish)
	}
	lost := func(at des.Time, x flow.Outage, down map[int]bool) (unnamed int) {
		if x.From > at || at >= x.To {
			return 0
		}
		for p := range x.Numbers() {
			down[p] = true
		}
		return x.Count
	}
	for at := des.Time(0); at < end; at += des.Second {
		asked, told, many, really := map[int]bool{}, map[int]bool{}, 0, 0
		for _, x := range s.outages {
			many += lost(at, x, asked)
		}
		for _, l := range s.lost {
			really += lost(at, l.Outage, told)
		}
		if all {
			require.Equal(t, asked, told, "at %v", at)
			require.Equal(t, min(many, size), really, "at %v", at)
		}
		require.LessOrEqual(t, really, min(many, size), "at %v", at)
		for u := range told {
			require.True(t, asked[u], "at %v", at)
		}
	}
}

// check looks at everything that was held, and at when.
func (s *stricken) check(t require.TestingT, size, jobs int) {
	require.Len(t, s.journal.runs, jobs)
	require.Zero(t, s.meta.Queue().Len()+s.meta.Running())
	type use struct {
		from, to des.Time
		n        int
		place    []procset.Range
		node     *entity.Node
		what     string
	}
	var uses []use
	for _, r := range s.journal.runs {
		require.Contains(t, []entity.RunState{entity.Finished, entity.Killed, entity.Rejected}, r.State)
		for a := range r.Attempts() {
			for i, task := range a.Window.Tasks {
				uses = append(uses, use{a.Start, min(a.Ends[i], a.End), 1, nil, task.Node, r.String()})
			}
			if a.Window.Tasks == nil {
				uses = append(uses, use{a.Start, a.End, a.Window.Nodes, a.Place, nil, r.String()})
			}
		}
	}
	for _, l := range s.lost {
		if l.Node != nil {
			uses = append(uses, use{l.From, l.To, 1, nil, l.Node, l.String()})
		} else {
			uses = append(uses, use{l.From, l.To, l.Size(), l.Set, nil, l.String()})
		}
	}
	for i, u := range uses {
		if u.from >= u.to {
			continue
		}
		n := 0
		for k, other := range uses {
			if other.from > u.from || u.from >= other.to {
				continue
			}
			n += other.n
			if i == k {
				continue
			}
			require.False(t, u.node != nil && u.node == other.node, "%s and %s on one node", u.what, other.what)
			for _, a := range u.place {
				for _, b := range other.place {
					require.False(t, a.First <= b.Last && b.First <= a.Last, "%s and %s on one processor", u.what, other.what)
				}
			}
		}
		require.LessOrEqual(t, n, size, "at %v", u.from)
	}
}

// yielding is a policy that has left its idle processors, or nodes, for what was withheld: no
// more and no less than that, at any instant to come.
type yielding struct {
	entity.Policy
	t    require.TestingT
	left []entity.Window // Nodes below 0: withheld, or kept again
}

func (y *yielding) note(from, to des.Time, n int) {
	y.left = append(y.left, entity.Window{Start: from, End: to, Nodes: n})
}

func (y *yielding) Yield(x flow.Outage)  { y.note(x.From, x.To, x.Size()) }
func (y *yielding) Retake(x flow.Outage) { y.note(x.From, x.To, -x.Size()) }

func (y *yielding) Observe(entity.JobEvent) {}

func (y *yielding) Withheld(h *entity.Hold) {
	y.note(h.Window().Start, h.Window().End, -h.Window().Nodes)
}
func (y *yielding) Returned(h *entity.Hold) {
	y.note(h.Window().Start, h.Window().End, h.Window().Nodes)
}

func (y *yielding) InstantOver(now des.Time) {
	for _, mark := range y.left {
		left := 0
		for _, w := range y.left {
			if at := max(mark.Start, now); w.Start <= at && at < w.End {
				left += w.Nodes
			}
		}
		require.Zero(y.t, left, "at %v: %v from %v on", now, left, mark.Start)
	}
}
