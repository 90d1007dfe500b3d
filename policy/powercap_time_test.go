package policy

// Power caps that change over time.

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
)

// capWorld is a cluster under a cap, in whole seconds, with its schedule worked out second by
// second.
type capWorld struct {
	procs int
	most  []int // processors that may be busy, by second
	jobs  []capJob
	// Of the end of the world, which repeats itself with the period every; of 0 the last value holds.
	every int
}

type capJob struct {
	submit, nodes, estimate, runtime int
	start                            int // -1: it was rejected
	state                            entity.RunState
}

const capHorizon = 4000

// mayBe is how many processors may be busy in that second.
func (w *capWorld) mayBe(s int) int { return w.most[s] }

// taken are the processors that jobs have in that second by what is known in the second now.
func (w *capWorld) taken(s, now int, but ...int) (n int) {
	for i, j := range w.jobs {
		if j.state == entity.Running && s < j.start+j.estimate && s >= j.start && !slices.Contains(but, i) {
			n += j.nodes
		}
	}
	return n
}

// fits reports whether job i can run from the second s on, beside those that run.
func (w *capWorld) fits(i, s, now int) bool {
	j := w.jobs[i]
	for u := s; u < s+j.estimate; u++ {
		if u >= capHorizon || w.taken(u, now)+j.nodes > w.mayBe(u) {
			return false
		}
	}
	return true
}

// first is the first second in which job i fits, or -1.
func (w *capWorld) first(i, now int) int {
	for s := now; s < min(now+2000, capHorizon-30); s++ {
		if w.fits(i, s, now) {
			return s
		}
	}
	return -1
}

// never reports whether the cap alone keeps job i from ever starting from the second now on.
func (w *capWorld) never(i, now int) bool {
	j := w.jobs[i]
	for s := now; s < min(now+200, capHorizon-30); s++ {
		room := true
		for u := s; u < s+j.estimate; u++ {
			room = room && j.nodes <= w.mayBe(u)
		}
		if room {
			return false
		}
	}
	return true
}

// run works out the schedule of FCFS, or of EASY.
func (w *capWorld) run(easy bool) {
	var queue []int
	for i := range w.jobs {
		w.jobs[i].start, w.jobs[i].state = -1, entity.Created
	}
	for now := 0; now < capHorizon-100; now++ {
		for i := range w.jobs {
			if j := &w.jobs[i]; j.state == entity.Running && j.start+j.runtime == now {
				j.state = entity.Finished
			}
		}
		for i := range w.jobs {
			if j := &w.jobs[i]; j.submit == now {
				if w.never(i, now) {
					j.state = entity.Rejected
					continue
				}
				j.state = entity.Waiting
				queue = append(queue, i)
			}
		}
		if w.every == 0 && now > 0 && w.most[now] != w.most[now-1] {
			queue = slices.DeleteFunc(queue, func(i int) bool {
				if !w.never(i, now) {
					return false
				}
				w.jobs[i].state = entity.Rejected
				return true
			})
		}
		begin := func(i int) {
			w.jobs[i].start, w.jobs[i].state = now, entity.Running
			queue = slices.DeleteFunc(queue, func(k int) bool { return k == i })
		}
		for len(queue) > 0 && w.fits(queue[0], now, now) {
			begin(queue[0])
		}
		if len(queue) == 0 || !easy {
			continue
		}
		head := queue[0]
		shadow := w.first(head, now)
		for _, i := range slices.Clone(queue[1:]) {
			if !w.fits(i, now, now) {
				continue
			}
			w.jobs[i].start, w.jobs[i].state = now, entity.Running
			if delayed := shadow >= 0 && !w.fits(head, shadow, now); delayed {
				w.jobs[i].start, w.jobs[i].state = -1, entity.Waiting
				continue
			}
			begin(i)
		}
	}
}

// drawCapWorld draws a world and its cap in W, of which one busy processor takes 150 and an idle one 100.
func drawCapWorld(t *rapid.T) (*capWorld, *flow.Curve) {
	w := &capWorld{procs: rapid.IntRange(1, 6).Draw(t, "procs"), every: rapid.SampledFrom([]int{0, 0, 7, 20, 45}).Draw(t, "every")}
	c := &flow.Curve{Every: des.Time(w.every) * des.Second}
	var times, values []int
	for at, n := rapid.IntRange(0, 4).Draw(t, "first"), rapid.IntRange(1, 6).Draw(t, "changes"); n > 0 && (w.every == 0 || at < w.every); n-- {
		most := rapid.IntRange(0, w.procs).Draw(t, "most")
		times, values = append(times, at), append(values, most)
		watts := float64(w.procs*100 + most*150 + rapid.IntRange(0, 149).Draw(t, "watts"))
		if most == w.procs && rapid.Bool().Draw(t, "none") {
			watts = math.Inf(1)
		}
		c.Times, c.Values = append(c.Times, des.Time(at)*des.Second), append(c.Values, watts)
		at += rapid.IntRange(1, 25).Draw(t, "gap")
	}
	w.most = make([]int, capHorizon)
	for s := range w.most {
		u, value := s, values[0]
		if w.every > 0 {
			u, value = s%w.every, values[len(values)-1]
		}
		for i, at := range times {
			if at <= u {
				value = values[i]
			}
		}
		w.most[s] = value
	}
	at := 0
	for range rapid.IntRange(1, 9).Draw(t, "jobs") {
		at += rapid.IntRange(0, 15).Draw(t, "gap")
		j := capJob{submit: at, nodes: rapid.IntRange(1, w.procs).Draw(t, "nodes"), estimate: rapid.IntRange(1, 15).Draw(t, "estimate")}
		j.runtime = rapid.IntRange(1, j.estimate).Draw(t, "runtime")
		w.jobs = append(w.jobs, j)
	}
	return w, c
}

func (w *capWorld) submitted() (jobs []*entity.Job) {
	for i, j := range w.jobs {
		jobs = append(jobs, &entity.Job{ID: int64(i), Submit: des.Time(j.submit) * des.Second, Runtime: des.Time(j.runtime) * des.Second,
			Request: entity.Request{Nodes: j.nodes, Length: des.Time(j.estimate) * des.Second}})
	}
	return jobs
}

// hold checks that at no instant more processors are busy than may be, and that by estimate none
// will be.
func (w *capWorld) hold(t require.TestingT, got ran) {
	for s := range capHorizon {
		now := des.Time(s) * des.Second
		busy := 0
		for _, r := range got {
			if (r.State == entity.Finished || r.State == entity.Killed) && r.Start <= now && now < r.Finish {
				busy += r.Request.Nodes
			}
		}
		require.LessOrEqual(t, busy, w.most[s], "at %d", s)
	}
}

// Under a cap that changes over time each job starts at the first instant where FCFS, or EASY, could
// start it, as worked out second by second.
func TestUnderACapThatChangesJobsStartAsSoonAsTheyCan(t *testing.T) {
	later, rejected := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawCapWorld(t)
		spec := rapid.SampledFrom([]string{"fcfs", "easy"}).Draw(t, "policy")
		w.run(spec == "easy")
		m := &metrics.PowerMeter{Model: metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 250 * metrics.Watt}}
		got, err := runOn(w.procs, &PowerCap{Policy: registered(t, spec), Signal: SignalCaps, Curve: c, Idle: 100, Busy: 250}, m, w.submitted())
		require.NoError(t, err)
		w.hold(t, got)
		for i, j := range w.jobs {
			r := got[int64(i)]
			if j.state == entity.Rejected {
				rejected++
				require.Equal(t, entity.Rejected, r.State, "job %d", i)
				require.Contains(t, r.Reason, "power cap")
				continue
			}
			require.Equal(t, entity.Finished, r.State, "job %d: %s", i, r.Reason)
			require.Equal(t, des.Time(j.start)*des.Second, r.Start, "job %d", i)
			if j.start > j.submit {
				later++
			}
		}
	})
	require.Positive(t, later)
	require.Positive(t, rejected)
}

// plansAhead checks that conservative backfilling gives each job, as it comes, the first window beside
// all that came before. It makes the estimates exact.
func (w *capWorld) plansAhead(t *rapid.T, c *flow.Curve) {
	for i := range w.jobs {
		j := &w.jobs[i]
		j.runtime, j.start, j.state = j.estimate, -1, entity.Rejected
	}
	for i := range w.jobs {
		j := &w.jobs[i]
		if j.start = w.first(i, j.submit); j.start >= 0 { // the state is that of a reservation here
			j.state = entity.Running
		}
	}
	got, err := runOn(w.procs, &PowerCap{Policy: registered(t, "conservative"), Signal: SignalCaps, Curve: c, Idle: 100, Busy: 250}, &metrics.PowerMeter{}, w.submitted())
	require.NoError(t, err)
	w.hold(t, got)
	for i, j := range w.jobs {
		if r := got[int64(i)]; j.start < 0 {
			require.Equal(t, entity.Rejected, r.State, "job %d", i)
		} else {
			require.Equal(t, des.Time(j.start)*des.Second, r.Start, "job %d: %s", i, r.Reason)
		}
	}
}

func TestUnderACapThatChangesConservativePlansAheadOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawCapWorld(t)
		w.plansAhead(t, c)
	})
}

// A deep queue is planned further ahead than any of its jobs is long. Narrow jobs, which are longer than all
// others, run one after the other. Behind them one wide job can start in each period, so that the last has to
// wait for as many periods as there are others. A narrow job that comes after them must delay none of them.
func TestADeepQueueIsPlannedAheadOfACapThatRepeatsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		high := rapid.IntRange(1, 2).Draw(t, "seconds without a cap")
		w := &capWorld{procs: 2, every: high + rapid.IntRange(1, 6).Draw(t, "seconds under a cap")}
		c := &flow.Curve{Times: []des.Time{0, des.Time(high) * des.Second}, Values: []float64{500, 350}, Every: des.Time(w.every) * des.Second}
		for s := range capHorizon {
			w.most = append(w.most, map[bool]int{true: 2, false: 1}[s%w.every < high])
		}
		add := func(jobs, nodes, estimate int) {
			for range jobs {
				w.jobs = append(w.jobs, capJob{nodes: nodes, estimate: estimate})
			}
		}
		add(rapid.IntRange(1, 12).Draw(t, "long jobs"), 1, rapid.IntRange(1, 50).Draw(t, "seconds"))
		add(rapid.IntRange(1, 60).Draw(t, "wide jobs"), 2, 1)
		add(1, 1, rapid.IntRange(w.every-high+1, w.every).Draw(t, "seconds"))
		w.plansAhead(t, c)
	})
}

// What follows the price of electricity is the cap that is given for each instant.
func TestACapFollowsElectricity(t *testing.T) {
	price := &flow.Curve{Times: []des.Time{0, 8 * des.Hour, 20 * des.Hour}, Values: []float64{0.1, 0.3, 0.1}, Every: des.Day}
	for spec, want := range map[string][]float64{
		"easy:power-cap=price/0.2/1000":      {math.Inf(1), 1000},
		"easy:power-cap=price/0.2/1000/1200": {1200, 1000},
		"easy:power-cap=carbon/0.3/1000":     {math.Inf(1)},
	} {
		c := registered(t, spec).(*PowerCap)
		c.Curve = price
		caps, err := c.caps()
		require.NoError(t, err)
		var got []float64
		for _, at := range []des.Time{0, 9 * des.Hour}[:len(want)] {
			got = append(got, caps.At(at))
		}
		require.Equal(t, want, got, spec)
		require.Equal(t, want[0], caps.At(23*des.Hour))
		require.Equal(t, len(want) == 2, caps.Next(0) == 8*des.Hour && caps.Next(9*des.Hour) == 20*des.Hour && caps.Next(20*des.Hour) == 32*des.Hour, spec)
	}
	for _, bad := range []string{"x", "-1", "schedule/1", "price", "price/1", "price/1/0", "price/1/x", "price/1/2/3/4", "coal/1/2", "1/2"} {
		_, err := Registry().Parse("easy:power-cap=" + bad)
		require.ErrorContains(t, err, "power-cap", bad)
	}
	_, err := runOn(1, registered(t, "easy:power-cap=price/1/100"), &metrics.PowerMeter{}, nil)
	require.ErrorContains(t, err, "a power cap follows the price of electricity over time, which nobody has told")
	c := &PowerCap{Policy: registered(t, "easy"), Signal: SignalCaps, Idle: 100, Busy: 200, Curve: &flow.Curve{Times: []des.Time{0, 5 * des.Second}, Values: []float64{500, 350}}}
	_, err = runOn(4, c, &metrics.PowerMeter{}, nil)
	require.ErrorContains(t, err, "a power cap of 350 W from 5 on is less than the 400 W that 4 processors draw without any job")
}

// Of what lies far ahead the plan has the lowest cap, unless somebody has asked for it: the cap is
// 4 of 4 processors in the first half of each 10 s, and 2 in the second half.
func TestAnAdvanceReservationFarAheadKeepsToACapThatRepeatsItself(t *testing.T) {
	for _, x := range []struct {
		start, nodes int
		told         bool
		state        entity.RunState
	}{
		{100_000, 3, true, entity.Finished}, {100_006, 3, true, entity.Rejected}, {100_006, 2, true, entity.Finished},
		{100_000, 3, false, entity.Rejected}, {100_006, 3, false, entity.Rejected}, {100_006, 2, false, entity.Finished},
	} {
		sim := des.New(des.Config{})
		r := ran{}
		c := &PowerCap{Policy: registered(t, "easy"), Signal: SignalCaps, Busy: 100,
			Curve: &flow.Curve{Times: []des.Time{0, 5 * des.Second}, Values: []float64{400, 200}, Every: 10 * des.Second}}
		meta := entity.NewMetascheduler(sim, plan.NewCluster(4), c, r)
		b := flow.NewBookings(meta)
		if x.told {
			b.Ahead = c.Expect
		}
		b.Submit(slices.Values([]flow.Booking{{Start: des.Time(x.start) * des.Second,
			Job: &entity.Job{ID: 1, Runtime: 2 * des.Second, Request: entity.Request{Nodes: x.nodes, Length: 2 * des.Second}}}}))
		require.NoError(t, sim.Run(context.Background()))
		b.Close()
		meta.Close()
		require.Equal(t, x.state, r[1].State, "%v: %s", x, r[1].Reason)
	}
}

// On nodes that have names the cap holds at every instant, too, beside outages and nodes that are
// switched off.
func TestACapThatChangesHoldsOnNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawCapWorld(t)
		nodes := make([]*entity.Node, w.procs)
		for i := range nodes {
			nodes[i] = &entity.Node{ID: i, Perf: rapid.SampledFrom([]float64{1, 1, 2}).Draw(t, "performance")}
		}
		draw := func(n *entity.Node) float64 { return 100 + 150*n.Perf }
		m := &metrics.PowerMeter{Model: metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 250 * metrics.Watt}}
		spec := rapid.SampledFrom([]string{"fcfs", "easy", "conservative"}).Draw(t, "policy")
		capped := &PowerCap{Policy: registered(t, spec), Signal: SignalCaps, Curve: c, Of: func(n *entity.Node) (idle, busy float64) { return 100, draw(n) }}
		var outages []flow.Outage
		if rapid.Bool().Draw(t, "outage") {
			from := des.Time(rapid.IntRange(0, 30).Draw(t, "from")) * des.Second
			outages = append(outages, flow.Outage{From: from, To: from + 20*des.Second, Where: entity.NodeAt(rapid.IntRange(0, w.procs-1).Draw(t, "lost"))})
		}
		got, lost, err := onNodes(t, nodes, capped, m, w.submitted(), outages...)
		require.NoError(t, err)
		if slices.ContainsFunc(lost, func(l flow.Lost) bool { return len(l.Victims) > 0 }) {
			return // the first attempts of these jobs are not told
		}
		for s := range 1000 {
			now, watts := des.Time(s)*des.Second, 100*float64(w.procs)
			for _, r := range got {
				if r.State != entity.Finished {
					require.Equal(t, entity.Rejected, r.State)
					continue
				}
				for _, task := range r.Reservation.Window.Tasks {
					if r.Start <= now && now < min(task.End, r.Start+task.Node.TaskTime(r.Runtime)) {
						watts += draw(task.Node) - 100
					}
				}
			}
			require.LessOrEqual(t, watts, c.Map(func(v float64) float64 { return v }).At(now), "at %d", s)
		}
	})
}

// A run under a cap that repeats itself ends though a job waits for ever.
func TestARunUnderACapThatRepeatsItselfEnds(t *testing.T) {
	c := &PowerCap{Policy: never{}, Signal: SignalCaps, Busy: 100,
		Curve: &flow.Curve{Times: []des.Time{0, 5 * des.Second}, Values: []float64{400, 200}, Every: 10 * des.Second}}
	_, err := runOn(4, c, &metrics.PowerMeter{}, []*entity.Job{{ID: 1, Runtime: 1, Request: entity.Request{Nodes: 1, Length: 1}}})
	require.ErrorContains(t, err, "in the queue for ever")
}

// never is a policy that starts nothing.
type never struct{}

func (never) Name() string           { return "never" }
func (never) Schedule(*entity.Round) {}

// A job that outlives its prediction ends where a lower cap needs its processors, and no earlier.
func TestAJobThatOutlivesItsPredictionEndsWhereTheCapFalls(t *testing.T) {
	for lowest, finish := range map[float64]des.Time{200: 8, 300: 15} {
		sim := des.New(des.Config{})
		r := ran{}
		c := &PowerCap{Policy: registered(t, "easy"), Signal: SignalCaps, Busy: 100,
			Curve: &flow.Curve{Times: []des.Time{0, 8 * des.Second, 20 * des.Second}, Values: []float64{400, lowest, 400}}}
		meta := entity.NewMetascheduler(sim, plan.NewCluster(4), c, r)
		meta.Overrun = entity.OverrunExtend
		meta.SubmitAll(slices.Values([]*entity.Job{{ID: 1, Runtime: 15 * des.Second, Request: entity.Request{Nodes: 3, Length: 5 * des.Second}}}))
		require.NoError(t, sim.Run(context.Background()))
		meta.Close()
		require.Equal(t, finish*des.Second, r[1].Finish, "%v W", lowest)
		require.Equal(t, lowest < 300, r[1].State == entity.Killed)
	}
}
