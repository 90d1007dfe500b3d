package flow_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// powerWorld is a cluster whose nodes are switched off, with everything that
// happened in it.
type powerWorld struct {
	procs    int
	nodes    []*entity.Node // as many, where they have names
	policy   entity.Policy
	pass     entity.Pass
	wakes    entity.Wakes
	overrun  entity.Overrun
	jobs     []*entity.Job
	bookings []flow.Booking
	down     []entity.Window // withheld from the beginning
	saving   *flow.SwitchOff // or nil
	outages  []flow.Outage
	lost     []flow.Lost
	preempt  map[int64]des.Time // by job: this long after its first start
	broken   des.Time           // for so long, at most to the end of its window, what such a job had is lost

	unexpected bool // bookings do not ask for nodes to boot

	switches []flow.Switch
	runs     []*entity.Run
	meter    *metrics.PowerMeter
	rounds   int64
}

var passes = []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach}

var testModel = metrics.PowerModel{
	Idle: 102 * metrics.Watt, Busy: 204 * metrics.Watt, Off: 12 * metrics.Watt,
	Booting: 180 * metrics.Watt, SwitchingOff: 120 * metrics.Watt,
}

func (w *powerWorld) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted {
		w.runs = append(w.runs, e.Run)
	}
}

func (w *powerWorld) run() error {
	sim := des.New(des.Config{})
	observers := []entity.Observer{w}
	w.meter = &metrics.PowerMeter{Model: testModel, Saving: w.saving}
	if w.saving != nil {
		observers = append(observers, w.saving)
		w.meter.PerNode = w.saving.PerNode
	}
	outages := &flow.Outages{Told: func(l flow.Lost) { w.lost = append(w.lost, l) }}
	if w.saving != nil {
		outages.Before = w.saving.Yield
	}
	outages.Submit(slices.Values(w.outages))
	defer outages.Close()
	var machine entity.Plan = plan.NewCluster(w.procs)
	if w.nodes != nil {
		var err error
		if machine, err = plan.NewDomain(w.nodes, window.AMP{}); err != nil {
			return err
		}
	}
	m := entity.NewMetascheduler(sim, machine, w.policy, append(observers, w.meter, outages)...)
	if w.saving != nil {
		metered := w.saving.Told
		w.saving.Told = func(s flow.Switch) {
			w.switches = append(w.switches, s)
			metered(s)
		}
	}
	m.Placer, m.Pass, m.Wakes, m.Overrun = entity.LowestFirst{}, w.pass, w.wakes, w.overrun
	for _, d := range w.down {
		if _, err := m.Withhold(entity.Where{Count: d.Nodes}, d.Start, d.End); err != nil {
			return err
		}
	}
	b := flow.NewBookings(m)
	if w.saving != nil && !w.unexpected {
		b.Ahead = w.saving.Expect
	}
	b.Submit(slices.Values(w.bookings))
	m.SubmitAll(slices.Values(w.jobs))
	for _, j := range w.jobs { // in one order in each run: two of one instant take effect as they are told
		id := j.ID
		after, preempted := w.preempt[id]
		if !preempted {
			continue
		}
		sim.At(j.Submit+after, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			for _, r := range w.runs {
				lost := entity.Window{Start: sim.Now(), End: min(sim.Now()+w.broken, r.Reservation.Window.End), Nodes: r.Request.Nodes}
				if r.ID == id && m.Preempt(r, 0) && lost.Start < lost.End {
					if _, err := m.Withhold(entity.Where{Count: lost.Nodes}, lost.Start, lost.End); err != nil {
						sim.Fail(err)
					}
				}
			}
		}), 0)
	}
	err := sim.Run(context.Background())
	b.Close()
	m.Close()
	w.rounds = m.Rounds()
	return err
}

// state is the power state of the node of a processor over [t, t+1 s).
func (w *powerWorld) state(processor int32, t des.Time) flow.PowerState {
	state := flow.PoweredOn
	for _, s := range w.switches {
		if s.At <= t && s.Place.First <= processor && processor <= s.Place.Last {
			state = s.To
		}
	}
	return state
}

// on reports whether one of the attempts has a processor of the row over [t, t+1 s).
func (w *powerWorld) on(place procset.Range, t des.Time) bool {
	return slices.ContainsFunc(w.runs, func(r *entity.Run) bool {
		for a := range r.Attempts() {
			if a.Start <= t && t < a.End && procset.Overlap(a.Place, []procset.Range{place}) {
				return true
			}
			for i, task := range a.Window.Tasks {
				if task.Node == w.nodes[place.First] && a.Start <= t && t < min(a.End, a.Ends[i]) {
					return true
				}
			}
		}
		return false
	})
}

// naive is the energy by the second and the node, in joules, and how many nodes began to
// boot meanwhile.
func (w *powerWorld) naive() (total, busy, boots int64) {
	begin, end := des.Forever, des.Time(0)
	for _, r := range w.runs {
		begin = min(begin, r.Submit)
		if r.State != entity.Rejected {
			end = max(end, r.Finish)
		}
	}
	per := 1
	if w.saving != nil {
		per = w.saving.PerNode
	}
	for t := begin; t < end; t += des.Second {
		for first := 0; first < w.procs; first += per {
			place := procset.Range{First: int32(first), Last: int32(min(first+per, w.procs) - 1)}
			draws := testModel.Idle
			switch {
			case w.on(place, t):
				draws = testModel.Busy
			case w.state(place.First, t) == flow.PoweredOff:
				draws = testModel.Off
			case w.state(place.First, t) == flow.Booting:
				draws = testModel.Booting
			case w.state(place.First, t) == flow.SwitchingOff:
				draws = testModel.SwitchingOff
			}
			share := int64(draws/metrics.Watt) * int64(place.Last-place.First+1) / int64(per)
			total += share
			if w.on(place, t) {
				busy += share
			}
		}
	}
	for _, s := range w.switches {
		if s.To == flow.Booting && begin <= s.At && s.At < end {
			boots++
		}
	}
	return total, busy, boots
}

// check holds every job to processors that are on.
func (w *powerWorld) check(t require.TestingT) {
	for _, r := range w.runs {
		require.Contains(t, []entity.RunState{entity.Finished, entity.Killed, entity.Rejected}, r.State)
		for a := range r.Attempts() {
			for _, place := range a.Place {
				for p := place.First; p <= place.Last; p++ {
					for at := a.Start; at < a.End; at += des.Second {
						require.Equal(t, flow.PoweredOn, w.state(p, at), "processor %d at %v, %v", p, at, r)
					}
				}
			}
			for i, task := range a.Window.Tasks {
				for at := a.Start; at < min(a.End, a.Ends[i]); at += des.Second {
					require.Equal(t, flow.PoweredOn, w.state(int32(slices.Index(w.nodes, task.Node)), at), "node %d at %v, %v", task.Node.ID, at, r)
				}
			}
		}
	}
}

func drawPolicy(t *rapid.T) entity.Policy {
	return rapid.SampledFrom([]entity.Policy{
		backfill.FCFS{}, backfill.FCFS{Order: backfill.ShortestFirst}, backfill.EASY{}, backfill.EASY{Candidates: backfill.ShortestFirst},
		backfill.EASY{Reservations: 2}, backfill.EASY{Reservations: backfill.NoReservation}, backfill.EASY{Reservations: backfill.AllReservations},
		backfill.Conservative{}, backfill.Conservative{NoCompression: true}, backfill.Conservative{Order: backfill.ShortestFirst},
	}).Draw(t, "policy")
}

// drawPower draws a world without bookings and without anything down.
func drawPower(t *rapid.T) *powerWorld {
	seconds := func(name string, least, most int) des.Time {
		return des.Time(rapid.IntRange(least, most).Draw(t, name)) * des.Second
	}
	w := &powerWorld{
		policy: drawPolicy(t), procs: rapid.IntRange(1, 8).Draw(t, "procs"),
		pass:    rapid.SampledFrom(passes).Draw(t, "pass"),
		overrun: rapid.SampledFrom([]entity.Overrun{entity.OverrunKill, entity.OverrunExtend, entity.OverrunRaise}).Draw(t, "overrun"),
		preempt: map[int64]des.Time{},
	}
	w.saving = &flow.SwitchOff{
		Idle: seconds("idle", 0, 15), Boot: seconds("boot", 0, 12), Shutdown: seconds("shutdown", 0, 4),
		PerNode: rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "per node"),
	}
	at := seconds("begin", 0, 30)
	for id := range int64(rapid.IntRange(1, 9).Draw(t, "jobs")) {
		at += seconds("gap", 0, 25)
		w.jobs = append(w.jobs, &entity.Job{ID: id, Submit: at, Runtime: seconds("runtime", 0, 25), Request: entity.Request{
			Nodes: rapid.IntRange(1, w.procs+1).Draw(t, "nodes"), Length: seconds("estimate", 1, 25)}})
		if rapid.IntRange(0, 5).Draw(t, "preempted") == 0 {
			w.preempt[id] = seconds("after", 0, 10)
		}
	}
	return w
}

// drawNodes has the world's nodes have names, speeds and prices, and jobs ask for them.
func (w *powerWorld) drawNodes(t *rapid.T) {
	w.saving.PerNode = 1
	for i := range w.procs {
		w.nodes = append(w.nodes, &entity.Node{
			ID: i + 1, Perf: rapid.SampledFrom([]float64{1, 1, 2}).Draw(t, "speed"), Price: rapid.SampledFrom([]float64{1, 1, 3}).Draw(t, "price"),
		})
	}
	for _, j := range w.jobs {
		j.Runtime, j.Request.Length = 2*j.Runtime, 2*j.Request.Length // whole seconds at double speed, too
		j.Request.MinPerf = rapid.SampledFrom([]float64{0, 0, 2}).Draw(t, "fast")
		j.Request.Budget = rapid.SampledFrom([]float64{0, 0, 30, 100}).Draw(t, "budget")
		j.Request.MaxPrice = rapid.SampledFrom([]float64{0, 0, 1}).Draw(t, "cheap")
	}
}

// drawFailures has processors fail: these by number where they are named.
func (w *powerWorld) drawFailures(t *rapid.T, named bool) {
	for at, n := des.Time(0), rapid.IntRange(1, 6).Draw(t, "failures"); n > 0; n-- {
		at += des.Time(rapid.IntRange(0, 40).Draw(t, "up")) * des.Second
		x := flow.Outage{Known: at, From: at, To: at + des.Time(rapid.IntRange(1, 40).Draw(t, "down for"))*des.Second}
		if first := int32(rapid.IntRange(0, w.procs-1).Draw(t, "first")); named {
			x.Set = []procset.Range{{First: first, Last: int32(rapid.IntRange(int(first), w.procs-1).Draw(t, "last"))}}
		} else {
			x.Count = rapid.IntRange(1, w.procs).Draw(t, "so many")
		}
		w.outages = append(w.outages, x)
	}
}

func TestNoJobRunsOnANodeThatIsNotOnAndEveryJouleIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		require.NoError(t, w.run())
		for _, r := range w.runs {
			require.Equal(t, r.Job.Request.Nodes > w.procs, r.State == entity.Rejected)
		}
		w.check(t)
		total, busy, boots := w.naive()
		row := w.meter.Row("")
		require.Equal(t, fmt.Sprint(total), row.Joules.String())
		require.Equal(t, fmt.Sprint(busy), row.Busy.String())
		require.Equal(t, boots, row.Boots)
		if w.saving.PerNode == 1 {
			var jobs metrics.Energy
			for _, r := range w.runs {
				jobs = jobs.Add(w.meter.Job(r))
			}
			require.Equal(t, row.Busy, jobs)
		}
	})
}

func TestNoJobRunsOnANamedNodeThatIsNotOnAndEveryJouleIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		w.drawNodes(t)
		require.NoError(t, w.run(), "jobs for which nodes would have to boot do not wait for ever")
		w.check(t)
		total, busy, boots := w.naive()
		row := w.meter.Row("")
		require.Equal(t, fmt.Sprint(total), row.Joules.String())
		require.Equal(t, fmt.Sprint(busy), row.Busy.String())
		require.Equal(t, boots, row.Boots)
	})
}

func TestFailuresAndNamedNodesThatAreOffGetAlong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		w.drawNodes(t)
		w.drawFailures(t, true)
		require.NoError(t, w.run())
		w.check(t)
		for _, l := range w.lost {
			for at := l.From; at < min(l.To, w.runs[len(w.runs)-1].Finish); at += des.Second {
				require.False(t, w.on(l.Set[0], at), "node %v is lost at %v", l.Set, at)
			}
		}
	})
}

func TestAJobHasTheNodesBootThatItCanUse(t *testing.T) {
	for what, c := range map[string]struct {
		req   func(*entity.Request)
		start des.Time
		boots int64
	}{
		"any of the two that are free by then": {func(*entity.Request) {}, 60, 1},
		"the fast one":                         {func(r *entity.Request) { r.MinPerf = 2 }, 60, 1},
		"the cheap one":                        {func(r *entity.Request) { r.Budget = 10 }, 60, 1},
	} {
		w := &powerWorld{procs: 2, policy: backfill.FCFS{}, nodes: []*entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 2, Price: 5}},
			saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second},
			jobs:   []*entity.Job{estimated(1, 0, 1, 1, 1), estimated(2, 40, 10, 10, 1)}}
		c.req(&w.jobs[1].Request)
		require.NoError(t, w.run(), what)
		require.Equal(t, c.start*des.Second, w.runs[1].Start, what)
		require.Equal(t, c.boots, w.meter.Row("").Boots, what)
	}
}

func TestOfNodesThatAreOffThoseBootThatAJobCanPay(t *testing.T) {
	w := &powerWorld{procs: 2, policy: backfill.FCFS{}, nodes: []*entity.Node{{ID: 1, Perf: 1, Price: 5}, {ID: 2, Perf: 1, Price: 1}},
		saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second},
		jobs:   []*entity.Job{estimated(1, 0, 1, 1, 1), estimated(2, 40, 10, 10, 1)}}
	w.jobs[1].Request.Budget = 10
	require.NoError(t, w.run())
	require.Equal(t, 60*des.Second, w.runs[1].Start)
	require.EqualValues(t, 1, w.meter.Row("").Boots)
}

// onlyOn is a criterion for which one node alone will do.
type onlyOn struct{ id int }

func (onlyOn) Name() string { return "only on" }

func (c onlyOn) Find(_ context.Context, req entity.Request, list plan.SlotList, until des.Time) (f plan.Found, _ error) {
	for _, slot := range list.Slots {
		if end := slot.Start.Add(req.Length); slot.Node.ID == c.id && slot.Start <= until && end <= slot.End {
			f.Window = entity.Window{Start: slot.Start, End: end, Nodes: 1, Tasks: []entity.Task{{Node: slot.Node, End: end}}}
			f.OK = true
			return f, nil
		}
	}
	return f, nil
}

func TestAllNodesBootWhereNothingElseHelpsAJob(t *testing.T) {
	w := &powerWorld{procs: 3, policy: backfill.FCFS{}, nodes: []*entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 1, Price: 2}, {ID: 3, Perf: 1, Price: 3}},
		saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second},
		jobs:   []*entity.Job{estimated(1, 0, 1, 1, 1), estimated(2, 40, 10, 10, 1)}}
	w.jobs[1].Request.Criterion = onlyOn{3}
	require.NoError(t, w.run())
	require.Equal(t, entity.Finished, w.runs[1].State)
	require.Equal(t, 80*des.Second, w.runs[1].Start, "the first node boots for it, in vain, and then the others")
}

// All of them are on then, at one instant. Node 1, which was down and has been idle for long
// enough, is one of the three that the job can pay together; that one like it is left over by
// the nodes which boot first is no reason to switch it off while the others boot.
func TestNoNodeIsSwitchedOffWhileAllBootForAJob(t *testing.T) {
	w := &powerWorld{procs: 4, policy: backfill.FCFS{},
		nodes:   []*entity.Node{{ID: 1, Perf: 1, Price: 1}, {ID: 2, Perf: 1, Price: 3}, {ID: 3, Perf: 1, Price: 1}, {ID: 4, Perf: 2, Price: 1}},
		saving:  &flow.SwitchOff{Boot: 2 * des.Second},
		jobs:    []*entity.Job{estimated(1, 0, 0, 1, 1), estimated(2, 5, 16, 16, 3)},
		outages: []flow.Outage{{To: 5 * des.Second, Where: entity.NodeAt(0)}}}
	w.jobs[1].Request.Budget = 42
	require.NoError(t, w.run())
	require.Equal(t, 9*des.Second, w.runs[1].Start)
}

func TestNamedNodesAreSwitchedOffOneByOne(t *testing.T) {
	w := &powerWorld{procs: 1, policy: backfill.FCFS{}, nodes: nodes(1), saving: &flow.SwitchOff{PerNode: 2}, jobs: []*entity.Job{estimated(1, 0, 1, 1, 1)}}
	require.ErrorContains(t, w.run(), "one by one, not in rows of 2")
}

func TestSwitchesFollowEachOtherAfterTheirTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		if rapid.Bool().Draw(t, "names") {
			w.drawNodes(t)
		}
		require.NoError(t, w.run())
		last := map[int32]flow.Switch{}
		for _, s := range w.switches {
			before, known := last[s.Place.First]
			require.Equal(t, known && before.To != flow.PoweredOn, s.From != flow.PoweredOn)
			spent := s.At - before.At
			switch s.From {
			case flow.PoweredOn:
				require.Equal(t, flow.SwitchingOff, s.To)
				for at := s.At - w.saving.Idle; at < s.At; at += des.Second {
					require.GreaterOrEqual(t, at, des.Time(0))
					require.False(t, w.on(s.Place, at), "it has been idle for long enough")
				}
				require.False(t, w.on(s.Place, s.At))
			case flow.SwitchingOff:
				require.Equal(t, flow.PoweredOff, s.To)
				require.Equal(t, w.saving.Shutdown, spent)
			case flow.PoweredOff:
				require.Equal(t, flow.Booting, s.To)
			case flow.Booting:
				require.Equal(t, flow.PoweredOn, s.To)
				require.Equal(t, w.saving.Boot, spent)
			}
			last[s.Place.First] = s
		}
	})
}

func TestSwitchingThatTakesNoTimeChangesNoSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		w.saving.Boot, w.saving.Shutdown, w.saving.PerNode = 0, 0, 1
		if w.pass != entity.PassInstant { // there policies decide before it is known for how long the job runs on
			w.overrun = entity.OverrunKill
		}
		w.broken = des.Time(rapid.IntRange(0, 60).Draw(t, "broken")) * des.Second
		plain := *w
		plain.saving = nil
		require.NoError(t, w.run())
		require.NoError(t, plain.run())
		for i, r := range w.runs {
			want := plain.runs[i]
			require.Equal(t, want.State, r.State)
			require.Equal(t, want.Start, r.Start, "%v", r)
			require.Equal(t, want.Finish, r.Finish, "%v", r)
		}
		with, without := w.meter.Row(""), plain.meter.Row("")
		require.Equal(t, without.Busy, with.Busy)
		require.Zero(t, with.Booting)
		require.Zero(t, with.SwitchingOff)
	})
}

func TestBookingsAndMaintenanceAndNodesThatAreOffGetAlong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		seconds := func(name string, least, most int) des.Time {
			return des.Time(rapid.IntRange(least, most).Draw(t, name)) * des.Second
		}
		for at, n := des.Time(0), rapid.IntRange(0, 2).Draw(t, "windows"); n > 0; n-- {
			at += seconds("until", 1, 60)
			w.down = append(w.down, entity.Window{Start: at, End: at + seconds("down for", 1, 30), Nodes: rapid.IntRange(1, w.procs).Draw(t, "down")})
			at = w.down[len(w.down)-1].End
		}
		asked := des.Time(0)
		for id := range int64(rapid.IntRange(0, 3).Draw(t, "bookings")) {
			asked += seconds("asked after", 0, 40)
			length := seconds("booked for", 1, 20)
			w.bookings = append(w.bookings, flow.Booking{Start: asked + seconds("ahead", 0, 60), Job: &entity.Job{
				ID: 100 + id, Submit: asked, Runtime: length, Request: entity.Request{Nodes: rapid.IntRange(1, w.procs).Draw(t, "booked"), Length: length}}})
		}
		require.NoError(t, w.run())
		w.check(t)
		for _, r := range w.runs {
			if r.Booked && r.State == entity.Finished {
				require.Contains(t, w.bookings, flow.Booking{Job: r.Job, Start: r.Start})
			}
		}
	})
}

func TestFailuresAndNodesThatAreOffGetAlong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		named := rapid.Bool().Draw(t, "named")
		w.drawFailures(t, named)
		require.NoError(t, w.run())
		w.check(t)
		if _, ahead := w.policy.(backfill.Conservative); ahead {
			return // one that runs elsewhere may yield for one that is to start just now
		}
		for _, l := range w.lost {
			for _, victim := range l.Victims {
				hit := false
				for a := range victim.Attempts() {
					hit = hit || a.End == l.From && (!named || len(a.Place) == 0 || slices.ContainsFunc(a.Place, func(p procset.Range) bool {
						return slices.ContainsFunc(l.Set, func(q procset.Range) bool { return p.First <= q.Last && q.First <= p.Last })
					}))
				}
				require.True(t, hit, "%v yielded to %v, which was not about its processors", victim, l)
			}
		}
	})
}

func TestAnOutageTakesWhatIsOffBeforeAnybodyYields(t *testing.T) {
	for _, x := range []flow.Outage{{Where: entity.Where{Count: 1}}, {Where: entity.Where{Set: []procset.Range{{First: 1, Last: 1}}}}} {
		x.Known, x.From, x.To = 50*des.Second, 50*des.Second, 70*des.Second
		w := &powerWorld{procs: 2, policy: backfill.EASY{}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)}, outages: []flow.Outage{x},
			saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
		require.NoError(t, w.run())
		require.Len(t, w.lost, 1)
		require.Empty(t, w.lost[0].Victims)
		row := w.meter.Row("")
		require.Equal(t, "20400", row.Busy.String())
		require.Equal(t, "240", row.Down.String(), "20 s * 12 W")
		require.Equal(t, []string{"10 1 switching off", "15 1 off", "50 1 on", "70 1 switching off", "75 1 off"}, w.log()[:5])
	}
}

// timeline runs jobs on two processors that are switched off after 10 s, which takes
// 5 s, and boot in 20 s.
func timeline(t *testing.T, p entity.Policy, bookings []flow.Booking, jobs ...*entity.Job) *powerWorld {
	w := &powerWorld{procs: 2, policy: p, jobs: jobs, bookings: bookings,
		saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
	require.NoError(t, w.run())
	return w
}

// log is what became of the nodes, a line a change.
func (w *powerWorld) log() (lines []string) {
	for _, s := range w.switches {
		lines = append(lines, fmt.Sprintf("%v %d %v", s.At, s.Place.First, s.To))
	}
	return lines
}

func TestNodesSleepAndBootForAJob(t *testing.T) {
	for _, p := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}} {
		w := timeline(t, p, nil, estimated(1, 0, 10, 10, 1), estimated(2, 40, 10, 10, 2))
		require.Equal(t, []string{
			"10 1 switching off", "15 1 off", "20 0 switching off", "25 0 off",
			"40 0 booting", "40 1 booting", "60 0 on", "60 1 on",
			"80 0 switching off", "80 1 switching off", "85 0 off", "85 1 off",
		}, w.log(), p.Name())
		require.Equal(t, 60*des.Second, w.runs[1].Start)
		row := w.meter.Row("")
		require.Equal(t, "6120", row.Busy.String())         // 30 s * 204 W
		require.Equal(t, "2040", row.Idle.String())         // 20 s * 102 W
		require.Equal(t, "1200", row.SwitchingOff.String()) // 10 s * 120 W
		require.Equal(t, "480", row.Off.String())           // 40 s * 12 W
		require.Equal(t, "7200", row.Booting.String())      // 40 s * 180 W
		require.Equal(t, "17040", row.Joules.String())
		require.EqualValues(t, 2, row.Boots)
		require.InDelta(t, 17040.0/70, row.MeanPower, 1e-9)
		require.InDelta(t, 17040.0*70, row.EnergyDelay, 1e-6)
		require.EqualValues(t, 408, row.PeakPower)
	}
}

func TestOnlyAsManyNodesBootAsAreWanted(t *testing.T) {
	w := timeline(t, backfill.EASY{}, nil, estimated(1, 0, 1, 1, 1), estimated(2, 40, 10, 10, 1), estimated(3, 45, 10, 10, 1))
	require.Equal(t, 60*des.Second, w.runs[1].Start)
	require.Equal(t, 65*des.Second, w.runs[2].Start)
	require.Contains(t, w.log(), "40 0 booting")
	require.Contains(t, w.log(), "45 1 booting")
}

func TestPoliciesPlanForTheTimeAfterTheBoot(t *testing.T) {
	w := timeline(t, backfill.Conservative{}, nil, estimated(1, 0, 1, 1, 1), estimated(2, 40, 10, 10, 2))
	require.Equal(t, 60*des.Second, w.runs[1].Promised)
}

func TestANodeOnItsWayOffIsOffBeforeItBoots(t *testing.T) {
	w := timeline(t, backfill.EASY{}, nil, estimated(1, 0, 100, 100, 1), estimated(2, 12, 10, 10, 1))
	require.Equal(t, []string{"10 1 switching off", "15 1 off", "15 1 booting", "35 1 on", "55 1 switching off", "60 1 off"}, w.log()[:6])
	require.Equal(t, 35*des.Second, w.runs[1].Start)
}

func TestANodeThatAJobInTheQueueWantsStaysOn(t *testing.T) {
	w := timeline(t, backfill.EASY{}, nil, estimated(1, 0, 100, 100, 1), estimated(2, 1, 10, 10, 2))
	require.Equal(t, 100*des.Second, w.runs[1].Start)
	require.Equal(t, []string{"120 0 switching off", "120 1 switching off"}, w.log()[:2])
}

func TestNodesBootInTimeForABooking(t *testing.T) {
	// All are off when it is asked for.
	w := timeline(t, backfill.EASY{}, []flow.Booking{booking(9, 40, 100, 5, 5, 2)}, estimated(1, 0, 1, 1, 1))
	require.Equal(t, 100*des.Second, w.runs[1].Start)
	require.Contains(t, w.log(), "80 0 booting")
	require.Contains(t, w.log(), "80 1 booting")
	// All are on, and sleep until it comes.
	w = timeline(t, backfill.EASY{}, []flow.Booking{booking(9, 1, 100, 5, 5, 2)}, estimated(1, 0, 1, 1, 1))
	require.Equal(t, 100*des.Second, w.runs[1].Start)
	require.Contains(t, w.log(), "10 1 switching off")
	require.Contains(t, w.log(), "80 1 booting")
	// There is no time to boot.
	w = timeline(t, backfill.EASY{}, []flow.Booking{booking(9, 40, 59, 5, 5, 2)}, estimated(1, 0, 1, 1, 1))
	require.Equal(t, entity.Rejected, w.runs[1].State)
	require.NotContains(t, w.log(), "40 0 booting")
	// It would not be worth while.
	w = timeline(t, backfill.EASY{}, []flow.Booking{booking(9, 1, 34, 5, 5, 2)}, estimated(1, 0, 1, 1, 1))
	require.NotContains(t, w.log(), "10 1 switching off")
}

// sleeping is a world of nodes that are idle for 10 s, and take 20 s to boot and 5 s to
// switch off.
func sleeping(t *testing.T, w powerWorld) *powerWorld {
	w.saving = &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}
	require.NoError(t, w.run())
	return &w
}

func TestNodesThatHaveJustTheTimeBootForABooking(t *testing.T) {
	w := sleeping(t, powerWorld{procs: 2, policy: backfill.EASY{}, jobs: []*entity.Job{estimated(1, 0, 1, 1, 1)}, bookings: []flow.Booking{booking(9, 40, 60, 5, 5, 2)}})
	require.Equal(t, 60*des.Second, w.runs[1].Start)
}

// The node that is on by 300 for the first one is there for the second one as well.
func TestABookingLeavesTheNodesOfAnEarlierOne(t *testing.T) {
	w := sleeping(t, powerWorld{procs: 3, policy: backfill.EASY{}, jobs: []*entity.Job{estimated(1, 0, 1, 1, 1)},
		bookings: []flow.Booking{booking(8, 50, 300, 50, 50, 1), booking(9, 60, 400, 50, 50, 3)}})
	require.Equal(t, 300*des.Second, w.runs[1].Start)
	require.Equal(t, 400*des.Second, w.runs[2].Start)
}

func TestAsManyNodesStayOnAsTheQueueWants(t *testing.T) {
	off := func(w *powerWorld) (n int) {
		for p := range int32(4) {
			if w.state(p, 100*des.Second) == flow.PoweredOff {
				n++
			}
		}
		return n
	}
	short, long := estimated(1, 0, 1, 1, 4), estimated(2, 2, 1000, 1000, 1) // all are idle from 1 on
	// All four are booked from 500 on, so that job 2 has to wait for that to be over.
	w := sleeping(t, powerWorld{procs: 4, policy: backfill.Conservative{}, jobs: []*entity.Job{short, long}, bookings: []flow.Booking{booking(9, 1, 500, 100, 100, 4)}})
	require.Equal(t, 600*des.Second, w.runs[2].Start)
	require.Equal(t, 3, off(w))
	// Two are booked, and boot in time.
	w = sleeping(t, powerWorld{procs: 4, policy: backfill.Conservative{}, jobs: []*entity.Job{short}, bookings: []flow.Booking{booking(9, 1, 500, 100, 100, 2)}})
	require.Equal(t, 500*des.Second, w.runs[1].Start)
	require.Equal(t, 4, off(w))
}

// The node that boots for job 2 is lost; the one that sleeps boots in its place.
func TestAnotherNodeBootsWhereAnOutageTakesTheOneThatDoes(t *testing.T) {
	for _, p := range []entity.Policy{backfill.EASY{}, backfill.Conservative{}} {
		w := sleeping(t, powerWorld{procs: 3, policy: p, jobs: []*entity.Job{estimated(1, 0, 200, 200, 1), estimated(2, 40, 10, 10, 1)},
			outages: []flow.Outage{{Known: 50 * des.Second, From: 50 * des.Second, To: 500 * des.Second, Where: entity.Where{Set: []procset.Range{{First: 1, Last: 1}}}}}})
		require.Equal(t, 70*des.Second, w.runs[1].Start, p.Name())
	}
}

func TestANodeThatIsBackEarlyIsSwitchedOffThen(t *testing.T) {
	sim := des.New(des.Config{})
	var off []des.Time
	saving := &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Told: func(s flow.Switch) {
		if s.To == flow.PoweredOff && s.Place.First == 1 {
			off = append(off, s.At)
		}
	}}
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.EASY{}, saving)
	m.Submit(estimated(1, 0, 100, 100, 1))
	var down *entity.Hold
	at := func(t des.Time, do func()) {
		sim.At(t*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { do() }), 0)
	}
	at(5, func() {
		var err error
		down, err = m.Withhold(entity.NodeAt(1), 5*des.Second, 1000*des.Second)
		require.NoError(t, err)
	})
	at(50, func() { down.Drop() })
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, []des.Time{50 * des.Second}, off)
}

func TestABookingThatHasItsTimeHasNoNodesBoot(t *testing.T) {
	w := &powerWorld{procs: 2, policy: backfill.EASY{}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)},
		bookings: []flow.Booking{booking(9, 50, 100, 5, 5, 1)}, unexpected: true,
		saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
	require.NoError(t, w.run())
	require.Equal(t, 100*des.Second, w.runs[1].Start)
	require.NotContains(t, w.log(), "50 1 booting")
}

func TestNodesBootForAVictim(t *testing.T) {
	for _, p := range []entity.Policy{backfill.EASY{}, backfill.Conservative{}, backfill.Conservative{NoCompression: true}} {
		for _, pass := range passes {
			w := &powerWorld{procs: 2, policy: p, pass: pass, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1)},
				outages: []flow.Outage{{Known: 50 * des.Second, From: 50 * des.Second, To: 500 * des.Second, Where: entity.Where{Set: []procset.Range{{First: 0, Last: 0}}}}},
				saving:  &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
			require.NoError(t, w.run())
			require.Equal(t, 70*des.Second, w.runs[0].Start, "%s %v", p.Name(), pass)
		}
	}
}

// The policy wakes at 60, when all that happens at that instant has happened. The nodes that
// are wanted then boot before it decides: job 2 need not wait for the end of job 1, nor job 3
// for the end of the outages, of which the second takes the node that would boot for the first.
func TestNodesBootBeforeAPolicyThatSleepsDecides(t *testing.T) {
	for _, pass := range passes {
		lost := func(processor int32) flow.Outage {
			return flow.Outage{Known: 60 * des.Second, From: 60 * des.Second, To: 500 * des.Second, Where: entity.Where{Set: []procset.Range{{First: processor, Last: processor}}}}
		}
		asleep := func(outages []flow.Outage, jobs ...*entity.Job) *powerWorld {
			w := &powerWorld{procs: 4, policy: backfill.Conservative{NoCompression: true}, pass: pass, wakes: entity.Wakes{Every: 60 * des.Second}, jobs: jobs, outages: outages,
				saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
			require.NoError(t, w.run())
			return w
		}
		w := asleep([]flow.Outage{lost(0)}, estimated(1, 0, 200, 200, 1), estimated(2, 50, 10, 10, 1))
		require.Equal(t, []des.Time{70 * des.Second, 80 * des.Second}, []des.Time{w.runs[0].Start, w.runs[1].Start}, "%v", pass)
		w = asleep([]flow.Outage{lost(0), lost(1)}, estimated(3, 0, 200, 200, 1))
		require.Equal(t, 80*des.Second, w.runs[0].Start, "%v", pass)
	}
}

func TestNodesBootForAJobThatHasLostItsReservation(t *testing.T) {
	sim := des.New(des.Config{})
	saving := &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}
	d := &journal{}
	m := entity.NewMetascheduler(sim, plan.NewCluster(3), backfill.Conservative{NoCompression: true}, d, saving)
	jobs := []*entity.Job{estimated(1, 0, 200, 200, 1), estimated(2, 40, 10, 10, 1)}
	m.SubmitAll(slices.Values(jobs))
	sim.At(50*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		require.True(t, m.Withdraw(d.runs[jobs[1]]))
		_, err := m.Withhold(entity.Where{Count: 1}, 60*des.Second, 500*des.Second)
		require.NoError(t, err)
	}), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 70*des.Second, d.runs[jobs[1]].Start)
}

func TestAnOutageTakesNodesThatNobodyWantsFirst(t *testing.T) {
	w := &powerWorld{procs: 3, policy: backfill.Conservative{}, jobs: []*entity.Job{estimated(1, 0, 200, 200, 1), estimated(2, 40, 10, 10, 1)},
		outages: []flow.Outage{{Known: 50 * des.Second, From: 50 * des.Second, To: 500 * des.Second, Where: entity.Where{Count: 1}}},
		saving:  &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
	require.NoError(t, w.run())
	require.Equal(t, 60*des.Second, w.runs[1].Start)
	require.Contains(t, w.log(), "50 2 on")
}

func TestNodesBootWhereAJobRunsOnPastItsEstimate(t *testing.T) {
	w := &powerWorld{procs: 2, policy: backfill.EASY{}, overrun: entity.OverrunExtend,
		jobs:   []*entity.Job{estimated(1, 0, 200, 45, 1), estimated(2, 40, 10, 10, 1)},
		saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
	require.NoError(t, w.run())
	require.Equal(t, 65*des.Second, w.runs[1].Start)
}

func TestANodeThatBootsLateIsCounted(t *testing.T) {
	w := &powerWorld{procs: 3, policy: backfill.EASY{}, jobs: []*entity.Job{estimated(1, 0, 100, 100, 1), estimated(2, 12, 10, 10, 1)},
		saving: &flow.SwitchOff{Idle: 10 * des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second}}
	require.NoError(t, w.run())
	require.Equal(t, 35*des.Second, w.runs[1].Start)
	require.NotContains(t, w.log(), "15 2 booting")
}

func TestAJobOfNoTimeLeavesNodesIdle(t *testing.T) {
	w := timeline(t, backfill.EASY{}, nil, estimated(1, 0, 0, 1, 2), estimated(2, 90, 1, 1, 1))
	require.Equal(t, []string{"10 0 switching off", "10 1 switching off"}, w.log()[:2])
}

// A single server that is switched off after an idle time t and needs a time d to
// boot: an M/G/1 queue with a set-up time D at the beginning of a busy period. What that
// adds to the wait is independent of the wait without it (Levy and Kleinrock, "A queue
// with starter and a queue with vacations: delay analysis by decomposition", Operations
// Research 34(3), 1986), and as long as for those who come before the service begins. Of
// these there are 1 + l E[D] in the mean. The first waits for D; those who come during D
// wait for what is left of it, l D of them for D/2 each. So the mean is
//
//	(E[D] + l E[D^2]/2) / (1 + l E[D]),
//
// which is 1/a for exponential D of rate a. Here D is d with the probability exp(-l t)
// that nobody came in time, and else 0.
func TestASingleServerThatIsSwitchedOffAgreesWithTheClosedFormulas(t *testing.T) {
	const replications, customers, rate = 20, 10_000, 0.5 // of arrivals; service has rate 1
	for _, c := range []struct{ idle, boot float64 }{{0, 3}, {2, 5}} {
		asleep := math.Exp(-rate * c.idle)
		ed, ed2 := asleep*c.boot, asleep*c.boot*c.boot
		response := 1/(1-rate) + (2*ed+rate*ed2)/(2*(1+rate*ed))
		rest := (1 - rate) / (1/rate + ed) // of the time without service, for each unit of a cycle's
		power := rate*testModel.Busy.Watts() +
			rest*((1-asleep)/rate*testModel.Idle.Watts()+asleep/rate*testModel.Off.Watts()+ed*testModel.Booting.Watts())
		var responses, powers []float64
		for i := range uint64(replications) {
			sim := des.New(des.Config{Seed: 1, Replication: i})
			saving := &flow.SwitchOff{Idle: des.Seconds(c.idle), Boot: des.Seconds(c.boot)}
			meter, rec := &metrics.PowerMeter{Model: testModel, Saving: saving}, metrics.NewRecorder()
			m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{}, saving, meter, rec)
			arrivals, services := sim.Stream("arrivals"), sim.Stream("services")
			now := des.Time(0)
			m.SubmitAll(func(yield func(*entity.Job) bool) {
				for id := range int64(customers) {
					now += des.Seconds(arrivals.ExpFloat64() / rate)
					length := des.Seconds(services.ExpFloat64())
					if !yield(&entity.Job{ID: id, Submit: now, Runtime: length, Request: entity.Request{Nodes: 1, Length: max(length, des.Tick)}}) {
						return
					}
				}
			})
			require.NoError(t, sim.Run(context.Background()))
			responses = append(responses, rec.Summary().MeanTurnaround)
			powers = append(powers, meter.Row("").MeanPower)
		}
		for _, x := range []struct {
			want float64
			got  []float64
		}{{response, responses}, {power, powers}} {
			mean, deviation := stat.MeanStdDev(x.got, nil)
			half := distuv.StudentsT{Sigma: 1, Nu: replications - 1}.Quantile(0.9995) * stat.StdErr(deviation, replications)
			require.InDelta(t, x.want, mean, half)
			require.Less(t, half, 0.05*x.want, "the interval is narrow enough to mean something")
		}
	}
}

func TestNodesBootForShapesThatTheMachineHasRoomFor(t *testing.T) {
	for name, j := range map[string]*entity.Job{
		"the largest shape is too large":  {Request: entity.Request{Nodes: 1, Length: 80 * des.Second}, Shapes: []entity.Shape{{Nodes: 8, Length: 10 * des.Second, Runtime: 10 * des.Second}}},
		"the job as it came is too large": {Request: entity.Request{Nodes: 8, Length: 10 * des.Second}, Shapes: []entity.Shape{{Nodes: 1, Length: 80 * des.Second, Runtime: 80 * des.Second}}},
	} {
		t.Run(name, func(t *testing.T) {
			j.ID, j.Submit, j.Runtime = 2, 100*des.Second, j.Request.Length
			w := &powerWorld{procs: 4, policy: backfill.EASY{}, jobs: []*entity.Job{estimated(1, 0, 1, 1, 1), j}, saving: &flow.SwitchOff{Idle: 5 * des.Second, Boot: 5 * des.Second}}
			require.NoError(t, w.run())
			boots := 0
			for _, s := range w.switches {
				if s.To == flow.Booting {
					boots++
				}
			}
			require.Equal(t, 1, boots, "%v", w.switches)
		})
	}
}

func TestANodeThatMayNotBeIdleIsSwitchedOffAtOnce(t *testing.T) {
	w := &powerWorld{procs: 2, policy: backfill.EASY{}, jobs: []*entity.Job{estimated(1, 0, 10, 10, 1)}, saving: &flow.SwitchOff{Boot: des.Second}}
	require.NoError(t, w.run())
	require.Contains(t, []flow.PowerState{w.state(0, 0), w.state(1, 0)}, flow.PoweredOff, "%v", w.switches)
}
