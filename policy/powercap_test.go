package policy

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
	"github.com/gridslot/gridslot/metrics"
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
		chosen, err := Registry().Parse(fmt.Sprintf("%s:%s=%d", spec, PowerCapParam, limit))
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

func TestAPowerCapThatCannotBeKeptIsAnError(t *testing.T) {
	capped := &PowerCap{Policy: registered(t, "easy"), Cap: 500, Idle: 100, Busy: 200}
	job := func(id, submit int64) *entity.Job {
		return &entity.Job{ID: id, Submit: des.Time(submit) * des.Second, Runtime: des.Second, Request: entity.Request{Nodes: 4, Length: des.Second}}
	}
	_, err := runOn(4, capped, &metrics.PowerMeter{}, []*entity.Job{job(1, 2)}, flow.Booking{Job: job(2, 0), Start: 5 * des.Second})
	require.ErrorContains(t, err, "a power cap of 500 W cannot be kept")
}

func registered(t *testing.T, spec string) entity.Policy {
	c, err := Registry().Parse(spec)
	require.NoError(t, err)
	return c.Value
}

// stopping is a policy that says that it stops jobs.
type stopping struct{ entity.Policy }

func (stopping) Preempts() bool { return true }

func TestAPowerCapTellsWhetherItsPolicyStopsJobs(t *testing.T) {
	require.False(t, (&PowerCap{Policy: registered(t, "easy")}).Preempts())
	require.True(t, (&PowerCap{Policy: stopping{registered(t, "easy")}}).Preempts())
}
