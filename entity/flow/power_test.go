package flow_test

import (
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
	"github.com/gridslot/gridslot/policy/backfill"
)

// powerWorld is a cluster whose nodes are switched off, with everything that
// happened in it.
type powerWorld struct {
	procs    int
	policy   entity.Policy
	pass     entity.Pass
	overrun  entity.Overrun
	jobs     []*entity.Job
	bookings []flow.Booking
	down     []entity.Window    // withheld from the beginning
	saving   *flow.SwitchOff    // or nil
	preempt  map[int64]des.Time // by job: this long after its first start

	switches []flow.Switch
	runs     []*entity.Run
	meter    *metrics.PowerMeter
	rounds   int64
}

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
	m := entity.NewMetascheduler(sim, plan.NewCluster(w.procs), w.policy, append(observers, w.meter)...)
	if w.saving != nil {
		metered := w.saving.Told
		w.saving.Told = func(s flow.Switch) {
			w.switches = append(w.switches, s)
			metered(s)
		}
	}
	m.Placer, m.Pass, m.Overrun = entity.LowestFirst{}, w.pass, w.overrun
	for _, d := range w.down {
		if _, err := m.Withhold(d); err != nil {
			return err
		}
	}
	b := flow.NewBookings(m)
	if w.saving != nil {
		b.Ahead = w.saving.Expect
	}
	b.Submit(slices.Values(w.bookings))
	m.SubmitAll(slices.Values(w.jobs))
	for id, after := range w.preempt {
		job := slices.IndexFunc(w.jobs, func(j *entity.Job) bool { return j.ID == id })
		sim.At(w.jobs[job].Submit+after, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			for _, r := range w.runs {
				if r.ID == id {
					m.Preempt(r, 0)
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
			if a.Start <= t && t < a.End && slices.ContainsFunc(a.Place, func(p procset.Range) bool { return p.First <= place.Last && place.First <= p.Last }) {
				return true
			}
		}
		return false
	})
}

// naive is the energy by the second and the node, in joules.
func (w *powerWorld) naive() (total, busy int64) {
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
	return total, busy
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
		pass:    rapid.SampledFrom([]entity.Pass{entity.PassInstant, entity.PassEvent}).Draw(t, "pass"),
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

func TestNoJobRunsOnANodeThatIsNotOnAndEveryJouleIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
		require.NoError(t, w.run())
		for _, r := range w.runs {
			require.Contains(t, []entity.RunState{entity.Finished, entity.Killed, entity.Rejected}, r.State)
			require.Equal(t, r.Submitted().Request.Nodes > w.procs, r.State == entity.Rejected)
			for a := range r.Attempts() {
				for _, place := range a.Place {
					for p := place.First; p <= place.Last; p++ {
						for at := a.Start; at < a.End; at += des.Second {
							require.Equal(t, flow.PoweredOn, w.state(p, at), "processor %d at %v, %v", p, at, r)
						}
					}
				}
			}
		}
		total, busy := w.naive()
		row := w.meter.Row("")
		require.Equal(t, fmt.Sprint(total), row.Joules.String())
		require.Equal(t, fmt.Sprint(busy), row.Busy.String())
		if w.saving.PerNode == 1 {
			var jobs metrics.Energy
			for _, r := range w.runs {
				jobs = jobs.Add(w.meter.Job(r))
			}
			require.Equal(t, row.Busy, jobs)
		}
	})
}

func TestSwitchesFollowEachOtherAfterTheirTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPower(t)
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
		if w.pass == entity.PassEvent { // there policies decide before it is known for how long the job runs on
			w.overrun = entity.OverrunKill
		}
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
