package policy

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
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/policy/window"
)

// ran is what became of jobs, by their IDs.
type ran map[int64]*entity.Run

func (r ran) Observe(e entity.JobEvent) { r[e.Run.ID] = e.Run }

// runOn runs jobs on so many processors, with bookings and a meter.
func runOn(procs int, p entity.Policy, m *metrics.PowerMeter, jobs []*entity.Job, booked ...flow.Booking) (ran, error) {
	sim := des.New(des.Config{})
	r := ran{}
	observers := []entity.Observer{r}
	if m.Saving != nil {
		observers = append(observers, m.Saving)
	}
	meta := entity.NewMetascheduler(sim, plan.NewCluster(procs), p, append(observers, m)...)
	b := flow.NewBookings(meta)
	b.Submit(slices.Values(booked))
	meta.SubmitAll(slices.Values(jobs))
	err := sim.Run(context.Background())
	b.Close()
	meta.Close()
	return r, err
}

func TestUnderAPowerCapASmallerClusterIsSimulated(t *testing.T) {
	specs := []string{"fcfs", "fcfs:order=shortest", "easy", "easy:reservations=2", "easy:reservations=none", "easy-sjbf", "conservative", "conservative:compression=off"}
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 8).Draw(t, "procs")
		limit := rapid.IntRange(0, 2500).Draw(t, "cap")
		model := metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 250 * metrics.Watt, Off: 5 * metrics.Watt, Booting: 240 * metrics.Watt}
		spec := rapid.SampledFrom(specs).Draw(t, "policy")
		chosen, err := Registry().Parse(fmt.Sprintf("%s:%s=%d", spec, powerCapParam, limit))
		require.NoError(t, err)
		capped := chosen.Value.(*PowerCap)
		capped.Idle, capped.Busy = 100, 250
		m := &metrics.PowerMeter{Model: model}
		saving := rapid.Bool().Draw(t, "saving")
		if saving {
			m.Saving = &flow.SwitchOff{Idle: 3 * des.Second, Boot: 4 * des.Second}
		}
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range int64(rapid.IntRange(1, 10).Draw(t, "jobs")) {
			at += des.Time(rapid.IntRange(0, 12).Draw(t, "gap")) * des.Second
			j := &entity.Job{ID: id, Submit: at, Runtime: des.Time(rapid.IntRange(1, 15).Draw(t, "runtime")) * des.Second}
			j.Request = entity.Request{Nodes: rapid.IntRange(1, procs).Draw(t, "nodes"), Length: des.Time(rapid.IntRange(1, 15).Draw(t, "estimate")) * des.Second}
			if n := rapid.IntRange(0, procs).Draw(t, "shape"); n > 0 && n < j.Request.Nodes {
				j.Shapes = []entity.Shape{{Nodes: n, Length: 20 * des.Second, Runtime: 20 * des.Second}}
			}
			jobs = append(jobs, j)
		}
		got, err := runOn(procs, capped, m, jobs)
		if limit < 100*procs {
			require.ErrorContains(t, err, fmt.Sprintf("power cap of %d W is less than the %d W that %d processors draw without any job", limit, 100*procs, procs))
			return
		}
		require.NoError(t, err)
		require.LessOrEqual(t, m.Row("").PeakPower, float64(limit))
		busy := min(procs, (limit-100*procs)/150)
		if saving || busy == 0 {
			return // it costs time
		}
		inner, err := Registry().Parse(spec)
		require.NoError(t, err)
		want, err := runOn(busy, inner.Value, &metrics.PowerMeter{}, jobs)
		require.NoError(t, err)
		for id, r := range got {
			require.Equal(t, want[id].State, r.State)
			if r.State != entity.Rejected {
				require.Equal(t, want[id].Start, r.Start, "job %d", id)
			} else {
				require.Contains(t, r.Reason, fmt.Sprintf("a power cap of %d W lets %d be busy", limit, busy))
			}
		}
	})
}

func TestJobsThatAPowerCapRejectsHaveNoNodesBoot(t *testing.T) {
	job := func(id, submit int64, nodes int, shapes ...entity.Shape) *entity.Job {
		return &entity.Job{ID: id, Submit: des.Time(submit) * des.Second, Runtime: des.Second, Shapes: shapes,
			Request: entity.Request{Nodes: nodes, Length: des.Second}}
	}
	shape := func(nodes int) entity.Shape {
		return entity.Shape{Nodes: nodes, Length: des.Second, Runtime: des.Second}
	}
	for want, jobs := range [][]*entity.Job{
		{job(1, 0, 1), job(2, 20, 4), job(3, 30, 4, shape(4), shape(5))},
		{job(1, 0, 1), job(2, 20, 1)},
		{job(1, 0, 1), job(2, 20, 4, shape(2), shape(4))},
	} {
		capped := &PowerCap{Policy: registered(t, "easy"), Cap: 700, Idle: 100, Busy: 200} // 3 of 4
		m := &metrics.PowerMeter{Saving: &flow.SwitchOff{Boot: 2 * des.Second}}
		got, err := runOn(4, capped, m, append(jobs, job(9, 50, 1)))
		require.NoError(t, err)
		require.EqualValues(t, want+1, m.Row("").Boots, "and one for the last job")
		for id, r := range got {
			require.Equal(t, id < 9 && id > 1 && want == 0, r.State == entity.Rejected, "job %d", id)
		}
	}
}

func TestAPowerCapHoldsForBookingsToo(t *testing.T) {
	capped := &PowerCap{Policy: registered(t, "easy"), Cap: 700, Idle: 100, Busy: 200} // 3 of 4
	m := &metrics.PowerMeter{Model: metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 200 * metrics.Watt}}
	job := func(id, submit int64, nodes int) *entity.Job {
		return &entity.Job{ID: id, Submit: des.Time(submit) * des.Second, Runtime: des.Second, Request: entity.Request{Nodes: nodes, Length: des.Second}}
	}
	got, err := runOn(4, capped, m, []*entity.Job{job(1, 0, 1)},
		flow.Booking{Job: job(2, 1, 4), Start: 5 * des.Second}, flow.Booking{Job: job(3, 1, 3), Start: 5 * des.Second})
	require.NoError(t, err)
	require.Equal(t, entity.Rejected, got[2].State)
	require.Equal(t, entity.Finished, got[3].State)
	require.EqualValues(t, 700, m.Row("").PeakPower)
}

func TestAPowerCapHoldsForWhatIsReservedBeforeTheFirstRound(t *testing.T) {
	capped := &PowerCap{Policy: registered(t, "easy"), Cap: 700, Idle: 100, Busy: 200} // 3 of 4
	job := func(id, submit int64, nodes int) *entity.Job {
		return &entity.Job{ID: id, Submit: des.Time(submit) * des.Second, Runtime: des.Second, Request: entity.Request{Nodes: nodes, Length: des.Second}}
	}
	m := &metrics.PowerMeter{Model: metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 200 * metrics.Watt}}
	got, err := runOn(4, capped, m, []*entity.Job{job(1, 9, 1)},
		flow.Booking{Job: job(2, 0, 4), Start: 2 * des.Second}, flow.Booking{Job: job(3, 0, 3), Start: 5 * des.Second})
	require.NoError(t, err)
	require.Equal(t, entity.Rejected, got[2].State)
	require.EqualValues(t, 5*des.Second, got[3].Start)
	require.EqualValues(t, 700, m.Row("").PeakPower)
}

// onNodes runs jobs on a domain, with a meter and outages of its nodes.
func onNodes(t require.TestingT, nodes []*entity.Node, p entity.Policy, m *metrics.PowerMeter, jobs []*entity.Job, outages ...flow.Outage) (ran, []flow.Lost, error) {
	sim := des.New(des.Config{})
	r := ran{}
	domain, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	var lost []flow.Lost
	o := &flow.Outages{Told: func(l flow.Lost) { lost = append(lost, l) }}
	o.Submit(slices.Values(outages))
	defer o.Close()
	meta := entity.NewMetascheduler(sim, domain, p, r, o, m)
	meta.SubmitAll(slices.Values(jobs))
	defer meta.Close()
	err = sim.Run(context.Background())
	return r, lost, err
}

// Those that draw the most for their work are idle, so that the run is that of the others.
func TestUnderAPowerCapADomainIsThatOfTheNodesThatDrawTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 7).Draw(t, "size")
		nodes, mine := make([]*entity.Node, size), map[int]metrics.PowerModel{}
		idle := metrics.Power(0)
		for i := range nodes {
			nodes[i] = &entity.Node{ID: i + 1, Perf: rapid.SampledFrom([]float64{1, 2}).Draw(t, "performance")}
			m := metrics.PowerModel{Idle: metrics.Power(rapid.IntRange(1, 2).Draw(t, "idle")) * 50 * metrics.Watt}
			m.Busy = m.Idle + metrics.Power(rapid.IntRange(0, 3).Draw(t, "more"))*50*metrics.Watt
			mine[i+1] = m
			idle += m.Idle
		}
		of := func(n *entity.Node) metrics.PowerModel { return mine[n.ID] }
		limit := idle.Watts() + float64(rapid.IntRange(-1, 15).Draw(t, "cap")*50)
		capped := &PowerCap{Policy: registered(t, rapid.SampledFrom([]string{"fcfs", "easy", "conservative"}).Draw(t, "policy")), Cap: limit,
			Of: func(n *entity.Node) (idle, busy float64) { return of(n).Idle.Watts(), of(n).Busy.Watts() }}
		inner := capped.Policy
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range int64(rapid.IntRange(1, 10).Draw(t, "jobs")) {
			at += des.Time(rapid.IntRange(0, 12).Draw(t, "gap")) * des.Second
			j := &entity.Job{ID: id, Submit: at, Runtime: des.Time(rapid.IntRange(1, 15).Draw(t, "runtime")) * des.Second}
			j.Request = entity.Request{Nodes: rapid.IntRange(1, size).Draw(t, "nodes"), Length: des.Time(rapid.IntRange(1, 15).Draw(t, "estimate")) * des.Second,
				MinPerf: rapid.SampledFrom([]float64{0, 0, 2}).Draw(t, "at least")}
			jobs = append(jobs, j)
		}
		m := &metrics.PowerMeter{Of: of}
		got, _, err := onNodes(t, nodes, capped, m, jobs)
		if limit < idle.Watts() {
			require.ErrorContains(t, err, fmt.Sprintf("power cap of %v W is less than the %v W that %d nodes draw without any job", limit, idle.Watts(), size))
			return
		}
		require.NoError(t, err)
		require.LessOrEqual(t, m.Row("").PeakPower, limit)
		busy := slices.Clone(nodes)
		slices.SortStableFunc(busy, func(a, b *entity.Node) int {
			each := func(n *entity.Node) float64 { return (of(n).Busy - of(n).Idle).Watts() / n.Perf }
			return cmp.Compare(each(a), each(b))
		})
		draw := idle
		n := 0
		for ; n < size && (draw+of(busy[n]).Busy-of(busy[n]).Idle).Watts() <= limit; n++ {
			draw += of(busy[n]).Busy - of(busy[n]).Idle
		}
		busy = busy[:n]
		slices.SortFunc(busy, func(a, b *entity.Node) int { return cmp.Compare(a.ID, b.ID) })
		want, _, err := onNodes(t, busy, inner, &metrics.PowerMeter{}, jobs)
		require.NoError(t, err)
		for id, r := range got {
			require.Equal(t, want[id].State, r.State, "job %d: %s", id, r.Reason)
			if r.State == entity.Rejected {
				require.NotEmpty(t, r.Reason)
				continue
			}
			require.Equal(t, want[id].Start, r.Start, "job %d", id)
			require.Equal(t, want[id].Reservation.Window.Tasks, r.Reservation.Window.Tasks, "job %d", id)
		}
	})
}

// Why a job can never start under a cap is said in the words of its user, with the cap.
func TestAPowerCapSaysWhyAJobOnNodesIsRejected(t *testing.T) {
	nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}, {ID: 3, Perf: 1}}
	capped := &PowerCap{Policy: registered(t, "easy"), Cap: 450, Of: func(n *entity.Node) (idle, busy float64) { return 100, 200 * n.Perf * n.Perf }} // not node 2
	job := func(id int64, nodes int, perf float64) *entity.Job {
		return &entity.Job{ID: id, Runtime: des.Second, Request: entity.Request{Nodes: nodes, Length: des.Second, MinPerf: perf}}
	}
	got, _, err := onNodes(t, nodes, capped, &metrics.PowerMeter{}, []*entity.Job{job(1, 2, 0), job(2, 1, 2), job(3, 1, 1)})
	require.NoError(t, err)
	require.Equal(t, "wants 2 processors, and a power cap of 450 W lets 1 be busy", got[1].Reason)
	require.Equal(t, "wants 1 nodes, but only 0 of 1 meet its demands on performance, price and attributes (a power cap of 450 W keeps 2 other nodes idle)", got[2].Reason)
	require.Equal(t, entity.Finished, got[3].State)
}

// Of nodes that have names, too, those that are kept idle are lost to nobody.
func TestUnderAPowerCapANodeThatIsKeptIdleIsLostToNobody(t *testing.T) {
	job := &entity.Job{ID: 1, Runtime: 20 * des.Second, Request: entity.Request{Nodes: 2, Length: 20 * des.Second}}
	late := &entity.Job{ID: 2, Submit: 30 * des.Second, Runtime: des.Second, Request: entity.Request{Nodes: 2, Length: des.Second}}
	for _, x := range []struct {
		known, from des.Time
		node        int
		hits        bool
	}{{5, 5, 2, false}, {5, 5, 3, false}, {0, 5, 3, false}, {5, 5, 0, true}} {
		nodes := make([]*entity.Node, 4)
		for i := range nodes {
			nodes[i] = &entity.Node{ID: i, Perf: 1}
		}
		capped := &PowerCap{Policy: registered(t, "easy"), Cap: 700, Idle: 100, Busy: 250} // 2 of 4
		outage := flow.Outage{Known: x.known * des.Second, From: x.from * des.Second, To: 12 * des.Second, Where: entity.NodeAt(x.node)}
		got, lost, err := onNodes(t, nodes, capped, &metrics.PowerMeter{}, []*entity.Job{job, late}, outage)
		require.NoError(t, err)
		require.Len(t, lost, 1)
		require.Equal(t, x.hits, len(lost[0].Victims) > 0, "node %d", x.node)
		require.Equal(t, x.hits, got[1].Start > 0, "node %d", x.node)
		require.Equal(t, max(got[1].Finish, 30*des.Second), got[2].Start)
		for _, task := range got[2].Reservation.Window.Tasks {
			require.Less(t, task.Node.ID, 2, "after the outage the others are idle again")
		}
	}
}

// withOutages runs jobs on so many processors of which some are lost.
func withOutages(procs int, p entity.Policy, victims flow.VictimRule, jobs []*entity.Job, outages []flow.Outage) (ran, []flow.Lost, float64, error) {
	sim := des.New(des.Config{})
	r := ran{}
	var lost []flow.Lost
	o := &flow.Outages{Victims: flow.Victims{Rule: victims}, Told: func(l flow.Lost) { lost = append(lost, l) }}
	o.Submit(slices.Values(outages))
	defer o.Close()
	m := &metrics.PowerMeter{Model: metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 250 * metrics.Watt, Off: 5 * metrics.Watt}}
	meta := entity.NewMetascheduler(sim, plan.NewCluster(procs), p, r, o, m)
	meta.SubmitAll(slices.Values(jobs))
	defer meta.Close()
	err := sim.Run(context.Background())
	return r, lost, m.Row("").PeakPower, err
}

func TestUnderAPowerCapOutagesTakeWhatIsKeptIdleFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(2, 8).Draw(t, "procs")
		most := rapid.IntRange(1, procs-1).Draw(t, "most")
		spec := rapid.SampledFrom([]string{"fcfs", "easy", "conservative"}).Draw(t, "policy")
		victims := rapid.SampledFrom([]flow.VictimRule{flow.VictimsRequeue, flow.VictimsKill, flow.VictimsWait}).Draw(t, "victims")
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range int64(rapid.IntRange(1, 10).Draw(t, "jobs")) {
			at += des.Time(rapid.IntRange(0, 9).Draw(t, "gap")) * des.Second
			j := &entity.Job{ID: id, Submit: at, Runtime: des.Time(rapid.IntRange(1, 9).Draw(t, "runtime")) * des.Second}
			j.Request = entity.Request{Nodes: rapid.IntRange(1, most).Draw(t, "nodes"), Length: des.Time(rapid.IntRange(1, 9).Draw(t, "estimate")) * des.Second}
			jobs = append(jobs, j)
		}
		late := &entity.Job{ID: 99, Submit: des.Hour, Runtime: des.Second, Request: entity.Request{Nodes: 1, Length: des.Second}}
		jobs = append(jobs, late) // outages come about as long as there is somebody whom they concern
		var all, smaller []flow.Outage
		free := des.Time(0)
		for range rapid.IntRange(1, 3).Draw(t, "outages") {
			known := free + des.Time(rapid.IntRange(0, 12).Draw(t, "known"))*des.Second
			x := flow.Outage{Known: known, From: known + des.Time(rapid.SampledFrom([]int{0, 0, 3, 8}).Draw(t, "ahead"))*des.Second}
			x.To = x.From + des.Time(rapid.IntRange(1, 12).Draw(t, "for"))*des.Second
			x.Count = rapid.IntRange(1, procs).Draw(t, "lost")
			all = append(all, x)
			if x.Count -= procs - most; x.Count > 0 {
				smaller = append(smaller, x)
			}
			free = x.To
		}
		limit := float64(100*procs + 150*most)
		got, lost, peak, err := withOutages(procs, &PowerCap{Policy: registered(t, spec), Cap: limit, Idle: 100, Busy: 250}, victims, jobs, all)
		require.NoError(t, err)
		require.LessOrEqual(t, peak, limit)
		if victims == flow.VictimsWait {
			return // what is drained late is still down when the rest is back: fewer jobs wait for it
		}
		want, wanted, _, err := withOutages(most, registered(t, spec), victims, jobs, smaller)
		require.NoError(t, err)
		for id, r := range got {
			require.Equal(t, want[id].State, r.State, "job %d", id)
			require.Equal(t, want[id].Start, r.Start, "job %d", id)
			require.Equal(t, want[id].Finish, r.Finish, "job %d", id)
		}
		hit := func(all []flow.Lost) (hit int) {
			for _, l := range all {
				hit += len(l.Victims)
			}
			return hit
		}
		require.Equal(t, hit(wanted), hit(lost))
		require.Len(t, lost, len(all), "each of them comes about as a whole")
	})
}

func TestUnderAPowerCapOutagesThatOverlapAddUpBeforeJobsYield(t *testing.T) {
	job := &entity.Job{ID: 1, Runtime: 20 * des.Second, Request: entity.Request{Nodes: 3, Length: 20 * des.Second}}
	outage := func(known, from, to int64, n int) flow.Outage {
		return flow.Outage{Known: des.Time(known) * des.Second, From: des.Time(from) * des.Second, To: des.Time(to) * des.Second, Where: entity.Where{Count: n}}
	}
	for want, outages := range map[des.Time][]flow.Outage{ // 5 of 8 are kept idle
		0:                {outage(1, 1, 9, 3), outage(2, 6, 12, 2), outage(4, 9, 12, 3)},
		9 * des.Second:   {outage(1, 1, 9, 3), outage(2, 6, 13, 3)},
		40 * des.Second:  {outage(1, 2, 40, 6)},
		-40 * des.Second: {{Known: 0, From: des.Second, To: 40 * des.Second, Where: entity.Where{Set: []procset.Range{{First: 3, Last: 7}}}}},
		41 * des.Second:  {{Known: 0, From: des.Second, To: 41 * des.Second, Where: entity.Where{Set: []procset.Range{{First: 2, Last: 7}}}}},
	} {
		capped := &PowerCap{Policy: registered(t, "easy"), Cap: 1250, Idle: 100, Busy: 250}
		got, lost, _, err := withOutages(8, capped, flow.VictimsRequeue, []*entity.Job{job}, outages)
		require.NoError(t, err)
		require.Len(t, lost, len(outages))
		require.Equal(t, max(want, 0), got[1].Start, outages)
	}
}

func TestAPowerCapWithinAnotherPolicyIsAnError(t *testing.T) {
	capped := &PowerCap{Policy: registered(t, "easy"), Cap: 700, Idle: 100, Busy: 200}
	_, err := runOn(4, stopping{capped}, &metrics.PowerMeter{}, []*entity.Job{{ID: 1, Runtime: 1, Request: entity.Request{Nodes: 1, Length: 1}}})
	require.ErrorContains(t, err, "not by one within it")
}

func registered(t require.TestingT, spec string) entity.Policy {
	c, err := Registry().Parse(spec)
	require.NoError(t, err)
	return c.Value
}

// stopping is a policy that hides another one.
type stopping struct{ entity.Policy }

// What a policy can do it can do in another one's hands, and in the hands of that one's.
func TestAWrapperLosesNothingOfWhatItsPolicyCanDo(t *testing.T) {
	type plansAll interface{ PlansAll() bool }
	for spec, want := range map[string]bool{"easy": false, "easy:reservations=all": true, "conservative": true, "conservative:power-cap=5": true} {
		for _, p := range []entity.Policy{registered(t, spec), &PowerCap{Policy: registered(t, spec)}, &cyclic.Policy{Rest: &PowerCap{Policy: registered(t, spec)}}} {
			all, ok := entity.As[plansAll](p)
			require.Equal(t, want, ok && all.PlansAll(), "%s in %T", spec, p)
		}
	}
	predictor, corrector := entity.PredictionsOf(&cyclic.Policy{Rest: predict.EASYPlusPlus{}})
	require.NotNil(t, predictor)
	require.NotNil(t, corrector)
	_, ok := entity.As[entity.Limiting](&cyclic.Policy{Rest: &PowerCap{}})
	require.True(t, ok)
	for _, p := range []entity.Policy{nil, &cyclic.Policy{}, &PowerCap{}} {
		_, ok := entity.As[plansAll](p)
		require.False(t, ok)
	}
}

func TestUnderAPowerCapAMoldableJobTakesTheShapeThatMayBeBusy(t *testing.T) {
	for watts, nodes := range map[float64]int{500: 0, 550: 1, 600: 1, 610: 3} {
		j := &entity.Job{ID: 1, Runtime: des.Second, Request: entity.Request{Nodes: 4, Length: des.Second}}
		for _, n := range []int{1, 3, 4} {
			j.Shapes = append(j.Shapes, entity.Shape{Nodes: n, Length: des.Second, Runtime: des.Second})
		}
		if watts == 500 || watts == 610 {
			j.Shapes = j.Shapes[1:]
		}
		got, err := runOn(4, &PowerCap{Policy: registered(t, "easy"), Cap: watts, Idle: 100, Busy: 170}, &metrics.PowerMeter{}, []*entity.Job{j})
		require.NoError(t, err)
		require.Equal(t, nodes, got[1].Reservation.Window.Nodes, "%v W", watts)
	}
}

func TestACapHandsOnWhatThePolicyPredictsBy(t *testing.T) {
	for spec, want := range map[string]bool{"easy++:power-cap=100": true, "easy:power-cap=100": false} {
		p, err := Registry().Parse(spec)
		require.NoError(t, err)
		predictor, corrector := entity.PredictionsOf(p.Value)
		require.Equal(t, want, predictor != nil, spec)
		require.Equal(t, want, corrector != nil, spec)
	}
}
