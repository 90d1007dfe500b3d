package policy

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
)

// joins is when a job joins, second by second.
func joins(submit, most des.Time, dear func(des.Time) bool) des.Time {
	at := submit
	for at < submit+most && dear(at) {
		at += des.Second
	}
	return at
}

// A deferred job is one that is submitted later.
func TestUnderADeferralJobsAreSubmittedLater(t *testing.T) {
	specs := []string{"fcfs", "easy", "easy:order=shortest", "easy-sjbf", "conservative", "conservative:compression=off", "easy:power-cap=650"}
	later := 0
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 6).Draw(t, "procs")
		curve := &flow.Curve{Every: 20 * des.Second}
		for at := rapid.IntRange(0, 5).Draw(t, "first"); at < 20; at += rapid.IntRange(1, 9).Draw(t, "gap") {
			curve.Times, curve.Values = append(curve.Times, des.Time(at)*des.Second), append(curve.Values, float64(rapid.IntRange(0, 3).Draw(t, "value")))
		}
		most := des.Time(rapid.IntRange(0, 30).Draw(t, "most")) * des.Second
		spec := rapid.SampledFrom(specs).Draw(t, "policy")
		var jobs, shifted []*entity.Job
		at := des.Time(0)
		for id := range int64(rapid.IntRange(1, 10).Draw(t, "jobs")) {
			at += des.Time(rapid.IntRange(0, 12).Draw(t, "gap")) * des.Second
			j := entity.Job{ID: id, Submit: at, Runtime: des.Time(rapid.IntRange(1, 15).Draw(t, "runtime")) * des.Second}
			j.Request = entity.Request{Nodes: rapid.IntRange(1, procs).Draw(t, "nodes"), Length: des.Time(rapid.IntRange(1, 15).Draw(t, "estimate")) * des.Second}
			s := j
			if s.Submit = joins(at, most, func(t des.Time) bool { return curve.At(t) > 1 }); s.Submit > at {
				later++
			}
			jobs, shifted = append(jobs, &j), append(shifted, &s)
		}
		with := func(spec string) entity.Policy {
			chosen, err := Registry().Parse(spec)
			require.NoError(t, err)
			if c, capped := chosen.Value.(*PowerCap); capped {
				c.Idle, c.Busy = 0, 100 // 6 processors
			}
			if d, deferred := entity.As[*Deferral](chosen.Value); deferred {
				require.Equal(t, "carbon", d.Signal)
				d.Curve = curve
			}
			return chosen.Value
		}
		got, err := runOn(procs, with(spec+":defer=carbon/1/"+most.String()), &metrics.PowerMeter{}, jobs)
		require.NoError(t, err)
		want, err := runOn(procs, with(spec), &metrics.PowerMeter{}, shifted)
		require.NoError(t, err)
		for id, r := range got {
			require.Equal(t, want[id].State, r.State)
			require.Equal(t, want[id].Start, r.Start, "job %d", id)
		}
	})
	require.Positive(t, later)
}

func TestADeferralNeedsACurve(t *testing.T) {
	_, err := runOn(1, &Deferral{Policy: registered(t, "easy"), Signal: "price"}, &metrics.PowerMeter{},
		[]*entity.Job{{ID: 1, Runtime: 1, Request: entity.Request{Nodes: 1, Length: 1}}})
	require.ErrorContains(t, err, "nobody has told")
	for _, bad := range []string{"x", "price/1", "coal/1/1h", "price/x/1h", "price/1/x", "price/1/-1"} {
		_, err := Registry().Parse("easy:defer=" + bad)
		require.ErrorContains(t, err, "defer", bad)
	}
}

func TestAHeldJobThatIsCancelledNeverJoins(t *testing.T) {
	sim := des.New(des.Config{})
	curve := &flow.Curve{Times: []des.Time{0, 10 * des.Second}, Values: []float64{5, 1}}
	meta := entity.NewMetascheduler(sim, plan.NewCluster(1), &Deferral{Policy: registered(t, "fcfs"), Curve: curve, Limit: 1, Most: des.Hour})
	job := func(id int64) *entity.Run {
		return meta.Submit(&entity.Job{ID: id, Runtime: 5 * des.Second, Request: entity.Request{Nodes: 1, Length: 5 * des.Second}})
	}
	first, second := job(1), job(2)
	sim.At(3*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { meta.Cancel(first, "nobody wants it") }), 0)
	require.NoError(t, sim.Run(context.Background()))
	meta.Close()
	require.Equal(t, entity.Rejected, first.State)
	require.Equal(t, 10*des.Second, second.Start)
}
