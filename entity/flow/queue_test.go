package flow_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// owned are nodes of equal price, each of the owner whose name stands there, in
// the order of their performances.
func owned(perfs []float64, owners ...string) []*entity.Node {
	all := nodes(perfs...)
	for i, owner := range owners {
		all[i].Price = 1
		if owner != "" {
			all[i].Labels = map[string]string{flow.OwnerLabel: owner}
		}
	}
	return all
}

// household is a run in which an owner "a" has a queue beside the organisation's.
type household struct {
	vo, local journal
	queue     *flow.LocalQueue
	meta      *entity.Metascheduler
}

// around is a plan of a program's own that embeds a plan of the framework.
type around struct{ *plan.Domain }

func keep(t require.TestingT, all []*entity.Node, vo, own entity.Policy, rule flow.LocalRule, jobs, locals []*entity.Job, more ...func(*entity.Metascheduler)) *household {
	h := &household{}
	h.queue = &flow.LocalQueue{Owner: "a", Policy: own, Rule: rule, Finder: everyNode{}, Observers: []entity.Observer{&h.local}}
	d := domain(t, all)
	d.Interval = 1000 * des.Second
	sim := des.New(des.Config{})
	h.meta = entity.NewMetascheduler(sim, around{d}, vo, &h.vo, h.queue)
	for _, do := range more {
		do(h.meta)
	}
	h.meta.SubmitAll(slices.Values(jobs))
	h.queue.Submit(slices.Values(locals))
	require.NoError(t, sim.Run(context.Background()))
	return h
}

func TestALocalJobWaitsForItsOwnersNodesOnly(t *testing.T) {
	h := keep(t, owned([]float64{1, 1}, "a", "b"), strictOrder{}, backfill.FCFS{}, flow.LocalWaits,
		[]*entity.Job{estimated(1, 0, 10, 10, 1), estimated(2, 4, 3, 3, 1)},
		[]*entity.Job{estimated(1, 2, 5, 5, 1), estimated(2, 3, 5, 5, 1), estimated(3, 3, 1, 1, 2)})
	require.Equal(t, []string{"0 submitted 1", "0 started 1", "4 submitted 2", "4 started 2", "7 finished 2", "10 finished 1"}, h.vo.lines)
	require.Equal(t, []string{
		"2 submitted 1", "3 submitted 2", "3 submitted 3", "3 rejected 3", "10 started 1", "15 finished 1", "15 started 2", "20 finished 2",
	}, h.local.lines)
	require.Equal(t, flow.LocalStats{Jobs: 2, Refused: 1, Delayed: 2, Delay: 20 * des.Second}, h.queue.Stats())
	require.Zero(t, h.queue.Waiting())
}

func TestTheOwnerIsAskedFirst(t *testing.T) {
	h := keep(t, owned([]float64{1}, "a"), strictOrder{}, backfill.FCFS{}, flow.LocalWaits,
		[]*entity.Job{estimated(1, 0, 10, 10, 1), estimated(2, 1, 5, 5, 1)},
		[]*entity.Job{estimated(1, 2, 4, 4, 1)})
	require.Contains(t, h.local.lines, "10 started 1")
	require.Contains(t, h.vo.lines, "14 started 2", "and the organisation hears when the node is free")
}

func TestALocalJobWaitsForAReservationAheadThatItWouldMeet(t *testing.T) {
	h := keep(t, owned([]float64{1}, "a"), bookAhead{}, backfill.FCFS{}, flow.LocalWaits,
		[]*entity.Job{estimated(1, 0, 4, 10, 1), estimated(2, 0, 10, 10, 1)},
		[]*entity.Job{estimated(1, 1, 7, 7, 1), estimated(2, 1, 6, 6, 1)})
	require.Contains(t, h.local.lines, "20 started 1", "the gap of 6 s from 4 on is too short")
	require.Contains(t, h.local.lines, "27 started 2", "and nobody overtakes")
	h = keep(t, owned([]float64{1}, "a"), bookAhead{}, backfill.EASY{}, flow.LocalWaits,
		[]*entity.Job{estimated(1, 0, 4, 10, 1), estimated(2, 0, 10, 10, 1)},
		[]*entity.Job{estimated(1, 1, 7, 7, 1), estimated(2, 1, 6, 6, 1)})
	require.Contains(t, h.local.lines, "4 started 2", "under EASY somebody does")
}

func TestALocalJobOnSeveralNodesTakesThemFromAsFewAsItCan(t *testing.T) {
	all := owned([]float64{1, 1, 1}, "a", "a", "a")
	h := keep(t, all, strictOrder{}, backfill.FCFS{}, flow.LocalPreempts,
		[]*entity.Job{estimated(1, 0, 30, 30, 1), estimated(2, 1, 30, 30, 1)},
		[]*entity.Job{estimated(1, 5, 10, 10, 2)})
	require.Contains(t, h.local.lines, "5 started 1")
	require.Equal(t, flow.LocalStats{Jobs: 1, Preempted: 1}, h.queue.Stats())
	require.Contains(t, h.vo.lines, "15 started 1")
	require.Contains(t, h.vo.lines, "31 finished 2")
}

func TestALocalJobTakesAReservationAheadRatherThanARunningJob(t *testing.T) {
	all := owned([]float64{1, 1}, "a", "a")
	hold := func(m *entity.Metascheduler) { // until 3 the second node is nobody's
		_, err := m.Withhold(entity.NodeAt(1), 0, 3*des.Second)
		require.NoError(t, err)
	}
	h := keep(t, all, bookAhead{}, backfill.FCFS{}, flow.LocalPreempts,
		[]*entity.Job{estimated(1, 0, 6, 6, 1), estimated(2, 0, 10, 10, 2)},
		[]*entity.Job{estimated(1, 4, 20, 20, 1)}, hold)
	require.Contains(t, h.local.lines, "4 started 1")
	require.Contains(t, h.vo.lines, "4 withdrawn 2")
	require.Contains(t, h.vo.lines, "6 finished 1")
	require.Equal(t, flow.LocalStats{Jobs: 1, Displaced: 1}, h.queue.Stats())
}

func TestAnAdvanceReservationDoesNotYieldToALocalJob(t *testing.T) {
	h := keep(t, owned([]float64{1}, "a"), strictOrder{}, backfill.FCFS{}, flow.LocalPreempts, nil,
		[]*entity.Job{estimated(1, 2, 5, 5, 1), estimated(2, 3, 3, 3, 1)}, withBookings(booking(9, 0, 6, 5, 5, 1)))
	require.Equal(t, []string{"0 submitted 9", "0 promised 9 for 6", "6 started 9", "11 finished 9"}, h.vo.lines)
	require.Contains(t, h.local.lines, "11 started 1")
}

func TestALocalJobDoesNotStopAnother(t *testing.T) {
	h := keep(t, owned([]float64{1, 1}, "a", "a"), strictOrder{}, backfill.FCFS{}, flow.LocalPreempts,
		[]*entity.Job{estimated(1, 1, 50, 50, 1)},
		[]*entity.Job{estimated(1, 0, 9, 9, 1), estimated(2, 2, 3, 3, 2)})
	require.Contains(t, h.local.lines, "9 started 2")
	require.Contains(t, h.vo.lines, "9 requeued 1", "not before it is of use")
	require.Contains(t, h.vo.lines, "12 started 1")
}

func TestALocalQueueWantsNamedNodes(t *testing.T) {
	err := (&journal{}).simulate(backfill.FCFS{}, func(m *entity.Metascheduler) {
		q := &flow.LocalQueue{Owner: "a", Policy: backfill.FCFS{}}
		entity.NewMetascheduler(m.Simulator(), m.Plan(), backfill.FCFS{}, q)
		q.Submit(slices.Values([]*entity.Job{estimated(1, 0, 1, 1, 1)}))
		q.Close()
	})
	require.ErrorContains(t, err, "wants a plan.Domain")
}

func TestNobodyStopsAJobOfAnotherMetascheduler(t *testing.T) {
	var local *entity.Run
	h := keep(t, owned([]float64{1}, "a"), strictOrder{}, bookAhead{}, flow.LocalWaits, nil,
		[]*entity.Job{estimated(1, 0, 10, 10, 1), estimated(2, 0, 10, 10, 1)}, func(m *entity.Metascheduler) {
			m.Simulator().At(5*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
				hit := m.InTheWay(entity.NodeAt(0), 5*des.Second, 30*des.Second)
				require.Len(t, hit, 2)
				for _, r := range hit {
					local = r
					require.False(t, m.Kill(r, "") || m.Preempt(r, 0) || m.Withdraw(r) || m.Cancel(r, ""))
				}
			}), 0)
		})
	require.Equal(t, entity.Finished, local.State)
	require.Equal(t, 20*des.Second, local.Finish)
	require.Zero(t, h.meta.Running())
}

// at does something at that second.
func at(second des.Time, do func(*entity.Metascheduler)) func(*entity.Metascheduler) {
	return func(m *entity.Metascheduler) {
		m.Simulator().At(second*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { do(m) }), 0)
	}
}

// withheld takes a node out from one second to another.
func withheld(n *entity.Node, from, to des.Time) func(*entity.Metascheduler) {
	return func(m *entity.Metascheduler) {
		number, _ := m.Plan().(around).Number(n)
		if _, err := m.Withhold(entity.NodeAt(number), from*des.Second, to*des.Second); err != nil {
			panic(err)
		}
	}
}

func TestTheOwnerHearsOfWhateverIsGivenBack(t *testing.T) {
	local := []*entity.Job{estimated(1, 1, 200, 200, 1)}
	running := []*entity.Job{estimated(1, 0, 100, 100, 1)}
	stop := func(do func(*entity.Metascheduler, *entity.Run) bool) func(*entity.Metascheduler) {
		return at(2, func(m *entity.Metascheduler) {
			for r := range m.RunningJobs() {
				require.True(t, do(m, r))
			}
		})
	}
	for what, h := range map[string]*household{
		"killed":    keep(t, owned([]float64{1}, "a"), strictOrder{}, backfill.FCFS{}, flow.LocalWaits, running, local, stop(func(m *entity.Metascheduler, r *entity.Run) bool { return m.Kill(r, "") })),
		"preempted": keep(t, owned([]float64{1}, "a"), strictOrder{}, backfill.FCFS{}, flow.LocalWaits, running, local, stop(func(m *entity.Metascheduler, r *entity.Run) bool { return m.Preempt(r, 0) })),
		"cancelled": keep(t, owned([]float64{1}, "a"), strictOrder{}, backfill.FCFS{}, flow.LocalWaits, nil, local, func(m *entity.Metascheduler) {
			r := flow.NewBookings(m).Book(booking(9, 0, 100, 5, 5, 1))
			at(2, func(m *entity.Metascheduler) { require.True(t, m.Cancel(r, "")) })(m)
		}),
	} {
		require.Contains(t, h.local.lines, "2 started 1", what)
	}
}

// The second job holds a's node from 20 on until it can have b's, at once or at 10.
func TestAnOwnersReservationMovesUpWhereTheOrganisationsHasMovedAway(t *testing.T) {
	for _, until := range []des.Time{1, 10} {
		all := owned([]float64{1, 1}, "a", "b")
		h := keep(t, all, backfill.Conservative{}, backfill.Conservative{}, flow.LocalWaits,
			[]*entity.Job{estimated(1, 0, 20, 20, 1), estimated(2, 0, 30, 30, 1)},
			[]*entity.Job{estimated(1, 2, 10, 10, 1)}, func(m *entity.Metascheduler) {
				withheld(all[1], 0, until)(m)
				hold, err := m.Withhold(entity.NodeAt(1), until*des.Second, 60*des.Second)
				require.NoError(t, err)
				at(3, func(*entity.Metascheduler) { hold.Drop() })(m)
			})
		require.Contains(t, h.vo.lines, fmt.Sprintf("%d started 2", max(until, 3)))
		require.Contains(t, h.local.lines, "2 promised 1 for 50")
		require.Contains(t, h.local.lines, "20 started 1")
	}
}

func TestReservationsMoveUpWhenTheOtherEndsEarly(t *testing.T) {
	short, long := []*entity.Job{estimated(1, 0, 5, 20, 1)}, []*entity.Job{estimated(2, 1, 10, 10, 1)}
	h := keep(t, owned([]float64{1}, "a"), backfill.Conservative{}, backfill.Conservative{}, flow.LocalWaits, short, long)
	require.Contains(t, h.local.lines, "5 started 2")
	h = keep(t, owned([]float64{1}, "a"), backfill.Conservative{}, backfill.Conservative{}, flow.LocalWaits, long, short)
	require.Contains(t, h.vo.lines, "5 started 2")
}

// The first node has a running job and one ahead, the second has a running job.
func TestALocalJobStopsFewRatherThanMany(t *testing.T) {
	h := keep(t, owned([]float64{1, 1}, "a", "a"), bookAhead{}, backfill.FCFS{}, flow.LocalPreempts,
		[]*entity.Job{estimated(1, 0, 5, 5, 1), estimated(2, 0, 30, 30, 1), estimated(3, 0, 5, 5, 1)},
		[]*entity.Job{estimated(1, 2, 20, 20, 1)})
	require.Contains(t, h.local.lines, "2 started 1")
	require.Contains(t, h.vo.lines, "2 requeued 2")
	require.Equal(t, flow.LocalStats{Jobs: 1, Preempted: 1}, h.queue.Stats())
}

// On the first node something stands ahead that does not yield, though nothing runs there.
func TestALocalJobTakesANodeThatIsToBeHad(t *testing.T) {
	all := owned([]float64{1, 1}, "a", "a")
	for _, ahead := range []func(*entity.Metascheduler){withBookings(booking(9, 0, 10, 5, 5, 1)), withheld(all[0], 10, 30)} {
		h := keep(t, all, strictOrder{}, backfill.FCFS{}, flow.LocalPreempts,
			[]*entity.Job{estimated(1, 1, 50, 50, 1)}, []*entity.Job{estimated(1, 2, 20, 20, 1)}, ahead)
		require.Contains(t, h.local.lines, "2 started 1")
		require.Contains(t, h.vo.lines, "2 requeued 1")
	}
}

func TestALocalJobKeepsItsOtherDemands(t *testing.T) {
	all := owned([]float64{1, 1}, "a", "a")
	all[1].Labels["os"] = "linux"
	j := estimated(1, 1, 5, 5, 1)
	j.Request.Needs = &entity.Attributes{Labels: map[string]string{"os": "linux", flow.OwnerLabel: "b"}}
	h := keep(t, all, strictOrder{}, backfill.FCFS{}, flow.LocalPreempts, []*entity.Job{estimated(7, 0, 9, 9, 1), estimated(8, 0, 9, 9, 1)}, []*entity.Job{j})
	require.Contains(t, h.local.lines, "1 started 1")
	require.Contains(t, h.vo.lines, "1 requeued 8")
	require.NotContains(t, h.vo.lines, "1 requeued 7")
	require.Same(t, all[1], find(&h.local, 1).Reservation.Window.Tasks[0].Node)
	require.Len(t, j.Request.Needs.Labels, 2)
	require.Equal(t, "b", j.Request.Needs.Labels[flow.OwnerLabel], "a job is input")
}

// The slow node, which is idle, would take too long.
func TestALocalJobTakesANodeThatIsFastEnough(t *testing.T) {
	dated := estimated(1, 2, 90, 90, 1)
	dated.Request.Deadline = 100 * des.Second
	for _, local := range []*entity.Job{dated, estimated(1, 2, 900, 900, 1)} {
		local.Request.Criterion = window.AMP{} // which keeps deadlines
		all := owned([]float64{0.5, 1}, "a", "a")
		fast := estimated(1, 1, 300, 300, 1)
		fast.Request.MinPerf = 1
		h := keep(t, all, strictOrder{}, backfill.FCFS{}, flow.LocalPreempts, []*entity.Job{fast}, []*entity.Job{local})
		require.Contains(t, h.local.lines, "2 started 1")
		require.Contains(t, h.vo.lines, "2 requeued 1")
	}
}

func TestALocalJobWithAReservationAheadStopsNobody(t *testing.T) {
	h := keep(t, owned([]float64{1, 1}, "a", "a"), strictOrder{}, backfill.Conservative{}, flow.LocalPreempts,
		[]*entity.Job{estimated(1, 1, 50, 50, 1)}, []*entity.Job{estimated(1, 0, 9, 9, 1), estimated(2, 2, 3, 3, 2)})
	require.Contains(t, h.local.lines, "51 started 2")
	require.Contains(t, h.vo.lines, "51 finished 1")
	require.Zero(t, h.queue.Stats().Preempted)
}

func TestLocalJobsMayBeLeftWaiting(t *testing.T) {
	all := owned([]float64{1}, "a")
	h := keep(t, all, strictOrder{}, backfill.FCFS{}, flow.LocalWaits, nil, []*entity.Job{estimated(1, 0, 9, 9, 1)}, withheld(all[0], 0, des.Forever/des.Second))
	require.Equal(t, 1, h.queue.Waiting())
	require.Zero(t, h.queue.Stats())
}

// asked is a finder that counts how often it is asked.
type asked struct {
	everyNode
	times *int
}

func (f asked) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	*f.times++
	return f.everyNode.Find(ctx, req, list, until)
}

func TestAQueueMayHaveASearchOfItsOwn(t *testing.T) {
	times := 0
	q := &flow.LocalQueue{Owner: "a", Policy: backfill.FCFS{}, Finder: asked{times: &times}}
	d := domain(t, owned([]float64{1}, "a"))
	d.Interval = 1000 * des.Second
	sim := des.New(des.Config{})
	entity.NewMetascheduler(sim, d, backfill.FCFS{}, q)
	q.Submit(slices.Values([]*entity.Job{estimated(1, 0, 9, 9, 1)}))
	require.NoError(t, sim.Run(context.Background()))
	require.Positive(t, times)
	require.Equal(t, 1, q.Stats().Jobs)
}

// On one node whose jobs of the organisation have all reserved before, FCFS among the
// owner's is: each starts at the first second from which on the node is free for so
// long, and not before the one in front of it has ended.
func TestALocalQueueOnOneNodeAgainstItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, what string) des.Time { return des.Time(rapid.IntRange(lo, hi).Draw(t, what)) }
		all := owned([]float64{1, 1}, "a", "b")
		var jobs, locals []*entity.Job
		for id := range rapid.IntRange(0, 8).Draw(t, "jobs") {
			jobs = append(jobs, estimated(int64(id), 0, 1000, draw(1, 9, "length"), rapid.IntRange(1, 2).Draw(t, "nodes")))
		}
		at := des.Time(0)
		for id := range rapid.IntRange(1, 10).Draw(t, "local jobs") {
			at += draw(0, 9, "gap")
			locals = append(locals, estimated(int64(id), at+1, 1000, draw(1, 9, "local length"), 1))
		}
		h := keep(t, all, bookAhead{}, backfill.FCFS{}, flow.LocalWaits, jobs, locals)
		taken := map[des.Time]bool{}
		for _, j := range jobs {
			w := h.vo.runs[j].Reservation.Window
			for _, task := range w.Tasks {
				for s := w.Start; task.Node == all[0] && s < task.End; s += des.Second {
					taken[s] = true
				}
			}
		}
		from := des.Time(0)
		for _, j := range locals {
			from = max(from, j.Submit)
			for s := from; s < from+j.Request.Length; s += des.Second {
				if taken[s] {
					from = s + des.Second
				}
			}
			require.Equal(t, from, find(&h.local, j.ID).Start, "local job %d", j.ID)
			from += j.Request.Length
		}
	})
}

// find is the run of the job of that number: the owner's jobs are copied.
func find(j *journal, id int64) *entity.Run {
	for _, r := range j.runs {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// Whatever the rule and the policies: nobody has a node that another has, owners' jobs
// stay on their own nodes, all jobs end, and no job that could start waits.
func TestTheOrganisationAndAnOwnerShareNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, what string) des.Time { return des.Time(rapid.IntRange(lo, hi).Draw(t, what)) }
		perfs := rapid.SampledFrom([][]float64{{1, 1, 1, 1, 1}, {1, 2, 1, 2, 4}}).Draw(t, "performances")
		all := owned(perfs, "a", "a", "a", "b", "")
		rule := rapid.SampledFrom([]flow.LocalRule{flow.LocalWaits, flow.LocalPreempts}).Draw(t, "rule")
		vo := rapid.SampledFrom([]entity.Policy{strictOrder{}, backfill.EASY{}, backfill.Conservative{}, bookAhead{}}).Draw(t, "policy")
		own := rapid.SampledFrom([]entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}}).Draw(t, "owner's policy")
		list := func(what string, most int) (list []*entity.Job) {
			at := des.Time(0)
			for id := range rapid.IntRange(0, 15).Draw(t, what) {
				at += draw(0, 8, "gap")
				list = append(list, estimated(int64(id), at, draw(0, 25, "runtime"), draw(1, 20, "estimate"), rapid.IntRange(1, most).Draw(t, "nodes")))
			}
			return list
		}
		jobs, locals := list("jobs", 5), list("local jobs", 3)
		pass := rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent}).Draw(t, "pass")
		h := keep(t, all, vo, own, rule, jobs, locals, func(m *entity.Metascheduler) { m.Pass = pass })
		require.Zero(t, h.queue.Waiting())
		require.Len(t, h.vo.runs, len(jobs))
		require.Len(t, h.local.runs, len(locals))

		type span struct {
			start, end des.Time
			who        string
		}
		busy := map[*entity.Node][]span{}
		for name, j := range map[string]*journal{"job": &h.vo, "local job": &h.local} {
			for _, r := range j.runs {
				require.True(t, r.State == entity.Finished || r.State == entity.Killed, "%v", r.State)
				for a := range r.Attempts() {
					for i, task := range a.Window.Tasks {
						busy[task.Node] = append(busy[task.Node], span{a.Start, a.Ends[i], fmt.Sprint(name, r.ID)})
						require.True(t, name == "job" || flow.OwnerOf(task.Node) == "a")
					}
				}
				if name == "local job" || rule == flow.LocalWaits {
					require.Empty(t, r.Earlier())
				}
				if rule == flow.LocalWaits && r.Promised != entity.NeverPromised && vo.Name() == "book ahead" && name == "job" {
					require.LessOrEqual(t, r.Start, r.Promised)
				}
			}
		}
		var instants []des.Time
		for _, n := range all {
			slices.SortFunc(busy[n], func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
			for i, s := range busy[n] {
				instants = append(instants, s.start, s.end)
				require.True(t, i == 0 || busy[n][i-1].end <= s.start, "node %d: %v", n.ID, busy[n])
			}
		}
		if vo.Name() != "strict order" || own.Name() != "fcfs" {
			return
		}
		free := func(at des.Time, owner string) (n int) {
			for _, node := range all {
				if (owner == "" || flow.OwnerOf(node) == owner) &&
					!slices.ContainsFunc(busy[node], func(s span) bool { return s.start <= at && at < s.end }) {
					n++
				}
			}
			return n
		}
		idle := func(j *journal, list []*entity.Job, owner string) {
			before := des.Time(0)
			for _, job := range list {
				r := find(j, job.ID)
				start := r.Start
				for a := range r.Attempts() {
					start = min(start, a.Start)
				}
				for _, at := range instants {
					if max(before, job.Submit) <= at && at < start {
						require.Less(t, free(at, owner), job.Request.Nodes, "at %v %v could start", at, r)
					}
				}
				before = max(before, start)
			}
		}
		idle(&h.local, locals, "a")
		if rule == flow.LocalWaits {
			idle(&h.vo, jobs, "")
		}
	})
}

// The local job asks for two nodes, of which one is booked: it takes the other in its
// shape of one. Where both can be had it fits on the free one, and nobody is stopped.
func TestAMoldableLocalJobTakesRoomForAnyOfItsShapes(t *testing.T) {
	for _, booked := range []bool{true, false} {
		local := estimated(1, 2, 5, 5, 2)
		local.Shapes = []entity.Shape{{Nodes: 1, Length: 8 * des.Second, Runtime: 8 * des.Second}}
		jobs := []*entity.Job{estimated(7, 0, 20, 20, 1)}
		h := keep(t, owned([]float64{1, 1}, "a", "a"), strictOrder{}, backfill.FCFS{}, flow.LocalPreempts, jobs, []*entity.Job{local},
			func(m *entity.Metascheduler) {
				if booked {
					flow.NewBookings(m).Book(flow.Booking{Job: estimated(9, 0, 30, 30, 1), Start: 0})
				}
			})
		require.Contains(t, h.local.lines, "2 started 1")
		require.Contains(t, h.local.lines, "10 finished 1")
		require.Equal(t, booked, slices.Contains(h.vo.lines, "2 requeued 7"), "%v", h.vo.lines)
	}
}

func TestRoomIsMadeForTheShapeForWhichTheFewestAreStopped(t *testing.T) {
	for _, own := range []int{1, 2, 3} {
		local := estimated(1, 2, 5, 5, own)
		for n := 1; n <= 3; n++ {
			local.Shapes = append(local.Shapes, entity.Shape{Nodes: n, Length: 5 * des.Second, Runtime: 5 * des.Second})
		}
		h := keep(t, owned([]float64{1, 1, 1}, "a", "a", "a"), strictOrder{}, backfill.FCFS{}, flow.LocalPreempts,
			[]*entity.Job{estimated(7, 0, 20, 20, 1), estimated(8, 0, 20, 20, 2)}, []*entity.Job{local})
		require.Contains(t, h.local.lines, "2 started 1")
		require.Equal(t, 1, h.queue.Stats().Preempted, "%v", h.vo.lines)
	}
}
