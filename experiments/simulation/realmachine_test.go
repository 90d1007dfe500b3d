package simulation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload/model"
)

func TestWhenASchedulerIsAwakeIsReadFromText(t *testing.T) {
	for text, want := range map[string]entity.Wakes{
		"":                      {},
		"30s":                   {Every: 30 * des.Second},
		"1m:offset=5":           {Every: des.Minute, Offset: 5 * des.Second},
		"apart=5s":              {Apart: 5 * des.Second},
		"30s:apart=45:offset=1": {Every: 30 * des.Second, Offset: des.Second, Apart: 45 * des.Second},
	} {
		got, err := ParseWake(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"0":               "above 0",
		"soon":            "want a time",
		"offset=5":        "there is none",
		"30s:offset=30s":  "below the period",
		"30s:every=2":     `there is no "every"`,
		"30s:5s":          "want NAME=VALUE",
		"apart=1:apart=2": "apart is given twice",
		"apart=-1":        "apart: want a time",
	} {
		_, err := ParseWake(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestOverheadsAreReadFromText(t *testing.T) {
	o, err := parseOverhead("")
	require.NoError(t, err)
	require.Nil(t, o)
	o, err = parseOverhead("dispatch=3s:prologue=1s..4s:epilogue=exponential/2m")
	require.NoError(t, err)
	require.Equal(t, model.Constant(3), o.Dispatch)
	require.Equal(t, model.Uniform{Min: 1, Max: 4}, o.Prologue)
	r := des.NewStream(1, 0, "x")
	low, high, sum := 9., 0., 0.
	for range 10000 {
		x := o.Prologue.Rand(r)
		low, high = min(low, x), max(high, x)
		sum += o.Epilogue.Rand(r)
	}
	require.InDelta(t, 1, low, 0.01)
	require.InDelta(t, 4, high, 0.01)
	require.InDelta(t, 120, sum/10000, 6)
	o, err = parseOverhead("prologue=lognormal/20s/0.5")
	require.NoError(t, err)
	require.InDelta(t, 20, o.Prologue.(interface{ Mean() float64 }).Mean(), 1e-9)
	for text, want := range map[string]string{
		"3s":                         "want NAME=VALUE",
		"launch=3s":                  `there is no "launch"`,
		"dispatch=x":                 "dispatch: want a time",
		"dispatch=4..1":              "4 is above 1",
		"dispatch=x..1":              "want a time",
		"dispatch=exponential/0":     "exponential",
		"dispatch=exponential/1/2":   "want exponential/MEAN",
		"dispatch=lognormal/1":       "want lognormal/MEAN/sigma",
		"dispatch=lognormal/1/x":     "sigma: want a number",
		"dispatch=1:dispatch=2":      "given twice",
		"dispatch=normal/3s/1":       "want normal/MEAN/SIGMA/LEAST/MOST",
		"epilogue=lognormal/3s/-0.5": "lognormal",
	} {
		_, err := parseOverhead(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestOverheadsAreThoseOfRigidJobsOnACluster(t *testing.T) {
	sc := New()
	require.NoError(t, sc.Set("overhead", "dispatch=3s"))
	require.NoError(t, sc.Check(Standard()))
	require.NoError(t, sc.Set("moldable", "linear"))
	require.ErrorContains(t, sc.Check(Standard()), "overhead: the shapes of a moldable job")
	sc = New()
	sc.Machine = (&Grid{Clusters: []ClusterSite{{Processors: 8}}}).WithDefaults()
	require.NoError(t, sc.Set("overhead", "dispatch=3s"))
	require.ErrorContains(t, sc.Check(Standard()), "overhead: nodes of a domain or a grid")
}

func TestARealMachineIsASettingOfAScenario(t *testing.T) {
	run := func(settings map[string]string) *Result {
		sc := New()
		sc.Policies = []string{"easy"}
		sc.Workload.Options.First = 300
		for name, value := range settings {
			require.NoError(t, sc.Set(name, value))
		}
		starts := &offGrid{period: 30 * des.Second}
		out, err := Run(context.Background(), sc, Options{Observers: func(string, string) []entity.Observer { return []entity.Observer{starts} }})
		require.NoError(t, err)
		if settings["wake"] != "" {
			require.Zero(t, starts.off)
		} else {
			require.NotZero(t, starts.off)
		}
		return out.Results[0]
	}
	run(map[string]string{"wake": "30s"})
	plain := run(nil)
	slow := run(map[string]string{"overhead": "dispatch=3s:epilogue=10s"})
	require.Zero(t, plain.Capacity.Uses[metrics.UseOverhead])
	require.NotZero(t, slow.Capacity.Uses[metrics.UseOverhead])
}

// offGrid counts the starts at other times than multiples of a period.
type offGrid struct {
	period des.Time
	off    int
}

func (o *offGrid) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted && e.Time%o.period != 0 {
		o.off++
	}
}
