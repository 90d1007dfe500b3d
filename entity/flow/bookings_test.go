package flow_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
)

// booking is an advance reservation; it takes its times in seconds.
func booking(id int64, asked, start, runtime, estimate des.Time, nodes int) flow.Booking {
	return flow.Booking{Job: estimated(id, asked, runtime, estimate, nodes), Start: start * des.Second}
}

func withBookings(all ...flow.Booking) func(*entity.Metascheduler) {
	return func(m *entity.Metascheduler) { flow.NewBookings(m).Submit(slices.Values(all)) }
}

func TestABookingStartsOnTimeAndTheQueueSeesTheHole(t *testing.T) {
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		d, err := simulate(p, withBookings(booking(9, 0, 10, 5, 5, 3)),
			estimated(1, 1, 12, 12, 2), // does not end in time
			estimated(2, 2, 12, 12, 1)) // fits beside it
		require.NoError(t, err)
		events := strings.Join(d.lines, "\n")
		require.Contains(t, events, "0 submitted 9\n0 promised 9 for 10\n")
		require.Contains(t, events, "10 started 9", p.Name())
		require.Contains(t, events, "15 finished 9\n15 started 1", p.Name())
		if p.Name() == "fcfs" {
			require.Contains(t, events, "15 started 2")
		} else {
			require.Contains(t, events, "2 started 2", p.Name())
		}
	}
}

func TestABookingIsRefusedWhereThereIsNoRoom(t *testing.T) {
	late := booking(9, 5, 4, 5, 5, 1)
	full := booking(8, 5, 6, 5, 5, 1)
	big := booking(7, 5, 50, 5, 5, 5)
	d, err := simulate(backfill.FCFS{}, withBookings(late, full, big), estimated(1, 0, 10, 10, 4), estimated(2, 10, 1, 1, 4))
	require.NoError(t, err)
	require.Contains(t, d.runs[late.Job].Reason, "past")
	require.Contains(t, d.runs[full.Job].Reason, "no room")
	require.Contains(t, d.runs[big.Job].Reason, "wants 5 processors of a cluster of 4")
	for _, b := range []flow.Booking{late, full, big} {
		require.Equal(t, entity.Rejected, d.runs[b.Job].State)
	}
	require.Contains(t, d.lines, "10 started 2", "refused bookings leave no trace")
}

func TestACancelledBookingLeavesNoTrace(t *testing.T) {
	b := booking(9, 0, 5, 5, 5, 4)
	d := &journal{}
	err := d.simulate(backfill.FCFS{}, func(m *entity.Metascheduler) {
		flow.NewBookings(m).Submit(slices.Values([]flow.Booking{b}))
		m.Simulator().At(2*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			require.True(t, m.Cancel(d.runs[b.Job], "no longer wanted"))
			require.False(t, m.Cancel(d.runs[b.Job], "no longer wanted"), "only once")
		}), 0)
	}, estimated(1, 1, 20, 20, 4))
	require.NoError(t, err)
	require.Equal(t, entity.Rejected, d.runs[b.Job].State)
	require.Contains(t, strings.Join(d.lines, "\n"), "2 withdrawn 9\n2 rejected 9\n2 started 1")
}

func TestABookingOfTheOutOfOrderEndsTheRun(t *testing.T) {
	_, err := simulate(backfill.FCFS{}, withBookings(booking(1, 5, 6, 1, 1, 1), booking(2, 4, 6, 1, 1, 1)))
	require.ErrorContains(t, err, "before the one in front of it")
}

// A job past its estimate runs on until a booking needs its processors.
func TestBookingsStandBeforeJobsThatOverrun(t *testing.T) {
	over := estimated(1, 0, 50, 10, 3)
	d, err := simulate(backfill.EASY{}, func(m *entity.Metascheduler) {
		m.Overrun = entity.OverrunExtend
		flow.NewBookings(m).Submit(slices.Values([]flow.Booking{booking(9, 0, 17, 5, 5, 2), booking(8, 0, 40, 3, 3, 1)}))
	}, over, estimated(2, 1, 100, 100, 1))
	require.NoError(t, err)
	require.Equal(t, entity.Killed, d.runs[over].State)
	require.Equal(t, 17*des.Second, d.runs[over].Finish)
	require.Contains(t, d.runs[over].Reason, "taken ahead by what cannot be moved")
	require.Contains(t, d.lines, "17 started 9")
	require.Contains(t, d.lines, "40 started 8")
}

func TestBookingsOnNamedNodes(t *testing.T) {
	sim := des.New(des.Config{})
	nodes := []*entity.Node{{ID: 0, Perf: 1, Price: 1}, {ID: 1, Perf: 1, Price: 1}}
	d, err := plan.NewDomain(nodes, everyNode{})
	require.NoError(t, err)
	j := &journal{}
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{}, j)
	withBookings(booking(9, 0, 5, 5, 5, 2), booking(8, 0, 7, 5, 5, 1))(m)
	m.SubmitAll(slices.Values([]*entity.Job{estimated(1, 1, 6, 6, 1), estimated(2, 1, 4, 4, 1)}))
	owners := flow.NewLocalFlow(d, m)
	owners.Rule = flow.LocalPreempts
	owners.Submit(slices.Values([]flow.LocalJob{{Node: nodes[0], Known: 2 * des.Second, Start: 6 * des.Second, Length: des.Second}}))
	require.NoError(t, sim.Run(context.Background()))
	events := strings.Join(j.lines, "\n")
	require.Contains(t, events, "0 rejected 8")
	require.Contains(t, events, "5 started 9\n10 finished 9", "an owner does not push it aside")
	require.NotContains(t, events, "1 started 1")
	require.Equal(t, 1, owners.Stats().Delayed)
}

// everyNode is a Finder: the first nodes that are free for long enough from the
// earliest start of a slot on.
type everyNode struct{}

func (everyNode) Name() string { return "every-node" }

func (everyNode) Find(_ context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	for _, s := range list.Slots {
		if s.Start > until {
			break
		}
		w := entity.Window{Start: s.Start, Nodes: req.Nodes}
		for _, o := range list.Slots {
			end := w.Start.Add(o.Node.TaskTime(req.Length))
			if len(w.Tasks) < req.Nodes && o.Start <= w.Start && end <= o.End && req.Admits(o.Node) {
				w.Tasks = append(w.Tasks, entity.Task{Node: o.Node, End: end})
				w.End = max(w.End, end)
			}
		}
		if len(w.Tasks) == req.Nodes {
			return plan.Found{Window: w, OK: true}, nil
		}
	}
	return plan.Found{}, nil
}

// Whatever the policy, the pass and the overrun: bookings start on time or not
// at all, and the schedule is valid.
func TestEveryPolicyRespectsBookings(t *testing.T) {
	promises := map[string]validate.Promises{
		"fcfs": {Order: true}, "conservative": {First: true},
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]entity.Policy{
			backfill.FCFS{}, backfill.EASY{}, backfill.EASY{Reservations: 2}, backfill.Conservative{}, backfill.Conservative{NoCompression: true},
		}).Draw(t, "policy")
		draw := func(lo, hi int, what string) des.Time { return des.Time(rapid.IntRange(lo, hi).Draw(t, what)) }
		pass := rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent}).Draw(t, "pass")
		overrun := rapid.SampledFrom([]entity.Overrun{entity.OverrunKill, entity.OverrunExtend}).Draw(t, "overrun")
		var jobs []*entity.Job
		var all []flow.Booking
		at, asked := des.Time(0), des.Time(0)
		for id := range rapid.IntRange(1, 25).Draw(t, "jobs") {
			at += draw(0, 8, "gap")
			jobs = append(jobs, estimated(int64(id), at, draw(0, 25, "runtime"), draw(1, 20, "estimate"), int(draw(1, 8, "nodes"))))
		}
		for id := range rapid.IntRange(0, 12).Draw(t, "bookings") {
			asked += draw(0, 10, "asked")
			all = append(all, booking(int64(100+id), asked, asked+draw(0, 40, "ahead"), draw(0, 25, "runtime"), draw(1, 20, "estimate"), int(draw(1, 8, "nodes"))))
		}
		v, d := &validate.Validator{Promises: promises[p.Name()]}, &journal{}
		sim := des.New(des.Config{})
		cluster := plan.NewCluster(8)
		m := entity.NewMetascheduler(sim, cluster, p, v, d)
		m.Pass, m.Overrun = pass, overrun
		flow.NewBookings(m).Submit(slices.Values(all))
		m.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		report := v.Report(true)
		require.NoError(t, report.Err(), "%v", report)
		for _, b := range all {
			if d.runs[b.Job].State != entity.Rejected {
				require.Equal(t, b.Start, d.runs[b.Job].Start)
			}
		}
		cluster.Forget(sim.Now())
		require.Equal(t, 8, cluster.Free(), "nothing is left in the plan")
		for s := range cluster.Slots(sim.Now(), des.Forever) {
			require.Equal(t, entity.Slot{Width: 8, Start: sim.Now(), End: des.Forever}, s)
		}
	})
}
