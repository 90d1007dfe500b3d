package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/model"
)

// draw draws any of the models.
func draw(t *rapid.T) model.SpeedUp {
	switch rapid.IntRange(0, 2).Draw(t, "model") {
	case 0:
		return model.Linear{}
	case 1:
		return model.Amdahl{Serial: rapid.Float64Range(0, 1).Draw(t, "serial")}
	}
	return model.DowneySpeedUp{A: rapid.Float64Range(1, 300).Draw(t, "A"), Sigma: rapid.Float64Range(0, 5).Draw(t, "sigma")}
}

func TestOneProcessorIsOneTimesAsFastAndMoreAreNotSlower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		require.InDelta(t, 1, m.SpeedUp(1, 1), 1e-12)
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		require.GreaterOrEqual(t, m.SpeedUp(1, n+1), m.SpeedUp(1, n)*(1-1e-12))
		require.LessOrEqual(t, m.SpeedUp(1, n), float64(n)*(1+1e-12), "no more than linear")
	})
}

func TestAmdahlApproachesTheInverseOfTheSerialPart(t *testing.T) {
	require.InDelta(t, 5.9255, model.Amdahl{Serial: 0.05}.SpeedUp(0, 8), 5e-4) // 1 / (0.05 + 0.95/8)
	require.InDelta(t, 20, model.Amdahl{Serial: 0.05}.SpeedUp(0, 1e9), 1e-5)
	require.Equal(t, 64.0, model.Amdahl{}.SpeedUp(0, 64))
	require.Equal(t, 1.0, model.Amdahl{Serial: 1}.SpeedUp(0, 64))
}

// Downey's figures show the three limits of the model.
func TestDowneyHasItsLimits(t *testing.T) {
	flat := model.DowneySpeedUp{A: 64}
	require.InDelta(t, 40, flat.SpeedUp(0, 40), 1e-12, "linear up to A")
	require.InDelta(t, 64, flat.SpeedUp(0, 80), 1e-12, "flat from there")
	wild := model.DowneySpeedUp{A: 64, Sigma: 1e9}
	require.InDelta(t, 64*100/163.0, wild.SpeedUp(0, 100), 1e-4, "n A / (n + A - 1)")
	require.Equal(t, 32.0, model.DowneySpeedUp{}.SpeedUp(32, 500), "A is what the job was made for")
}

// Where two of the formulas meet they agree: at n = A, at 2A-1, at A + A sigma -
// sigma, and for sigma = 1.
func TestDowneysPiecesMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := float64(rapid.IntRange(2, 200).Draw(t, "A"))
		sigma := rapid.Float64Range(0, 1).Draw(t, "sigma")
		low := model.DowneySpeedUp{A: a, Sigma: sigma}
		n := int(a)
		require.InDelta(t, a*a/(a+sigma*(a-1)/2), low.SpeedUp(0, n), 1e-9*a)
		// just beyond A the slope changes, and the value does not
		require.InDelta(t, low.SpeedUp(0, n), low.SpeedUp(0, n+1), 1.0)
		require.InDelta(t, a, low.SpeedUp(0, 2*n-1), 1e-9*a)
		require.Less(t, low.SpeedUp(0, 2*n-2), a+1e-9)
		whole := float64(rapid.IntRange(1, 5).Draw(t, "a whole sigma"))
		high := model.DowneySpeedUp{A: a, Sigma: whole}
		end := int(a + a*whole - whole)
		require.InDelta(t, a, high.SpeedUp(0, end), 1e-9*a)
		require.Equal(t, a, high.SpeedUp(0, end+1))
		one, above := model.DowneySpeedUp{A: a, Sigma: 1}, model.DowneySpeedUp{A: a, Sigma: 1 + 1e-12}
		for n := 1; n <= 2*int(a)+3; n++ {
			require.InDelta(t, one.SpeedUp(0, n), above.SpeedUp(0, n), 1e-9*a, "%d", n)
		}
	})
}

func rigid(nodes int, length, runtime des.Time) *entity.Job {
	return &entity.Job{ID: 1, Runtime: runtime, Request: entity.Request{Nodes: nodes, Length: length}}
}

func TestShapesKeepTheWorkOfALinearSpeedUp(t *testing.T) {
	m := model.Moldable{Model: model.Linear{}, From: 0.5, To: 2}
	require.Equal(t, []entity.Shape{
		{Nodes: 2, Length: 12 * des.Second, Runtime: 8 * des.Second},
		{Nodes: 3, Length: 8 * des.Second, Runtime: 5333333},
		{Nodes: 4, Length: 6 * des.Second, Runtime: 4 * des.Second},
		{Nodes: 5, Length: 4800000, Runtime: 3200000},
		{Nodes: 6, Length: 4 * des.Second, Runtime: 2666667},
		{Nodes: 7, Length: 3428571, Runtime: 2285714},
		{Nodes: 8, Length: 3 * des.Second, Runtime: 2 * des.Second},
	}, m.Shapes(rigid(4, 6*des.Second, 4*des.Second)))
	require.Equal(t, []entity.Shape{{Nodes: 1, Length: 4, Runtime: 2}, {Nodes: 2, Length: 2, Runtime: 1}}, m.Shapes(rigid(1, 4, 2)), "half of one is one")
}

func TestShapesThatAreNoFasterAreLeftOut(t *testing.T) {
	m := model.Moldable{Model: model.DowneySpeedUp{}, From: 1, To: 4}
	require.Nil(t, model.Moldable{Model: model.Linear{}, From: 1, To: 1}.Shapes(rigid(4, 6, 4)))
	require.Equal(t, []entity.Shape{{Nodes: 4, Length: 6, Runtime: 4}}, m.Shapes(rigid(4, 6, 4)))
}

// Whatever the model, shapes are what a job may have, and no more than asked for.
func TestShapesAreThoseOfAJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model.Moldable{
			Model: draw(t), From: rapid.Float64Range(0.01, 1).Draw(t, "from"), To: rapid.Float64Range(1, 9).Draw(t, "to"),
			Most: rapid.SampledFrom([]int{0, 2, 3, 8}).Draw(t, "most"),
		}
		require.NoError(t, m.Check())
		length := rapid.Int64Range(1, 1e13).Draw(t, "estimate")
		j := rigid(rapid.IntRange(1, 400).Draw(t, "nodes"), des.Time(length), des.Time(rapid.Int64Range(0, length).Draw(t, "runtime")))
		j.Shapes = m.Shapes(j)
		require.NoError(t, j.Check())
		if m.Most > 0 {
			require.LessOrEqual(t, len(j.Shapes), m.Most+1, "and its own request")
		}
		for _, s := range j.Shapes {
			require.LessOrEqual(t, float64(s.Nodes), max(1, m.To*float64(j.Request.Nodes)))
			require.Greater(t, float64(s.Nodes)+1, m.From*float64(j.Request.Nodes))
			require.LessOrEqual(t, s.Runtime, s.Length)
			want := float64(j.Runtime) * m.Model.SpeedUp(j.Request.Nodes, j.Request.Nodes) / m.Model.SpeedUp(j.Request.Nodes, s.Nodes)
			require.InDelta(t, want, float64(s.Runtime), 1+1e-12*want)
		}
	})
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	good := model.Moldable{Model: model.Linear{}, From: 0.5, To: 2}
	require.NoError(t, good.Check())
	for _, bad := range []model.Moldable{
		{Model: model.Linear{}, From: 0, To: 2},
		{Model: model.Linear{}, From: 1.5, To: 2},
		{Model: model.Linear{}, From: 1, To: 0.5},
		{Model: model.Linear{}, From: 1, To: 2, Most: 1},
		{Model: model.Amdahl{Serial: 1.1}, From: 1, To: 2},
		{Model: model.DowneySpeedUp{A: 0.5}, From: 1, To: 2},
		{Model: model.DowneySpeedUp{Sigma: -1}, From: 1, To: 2},
	} {
		require.Error(t, bad.Check(), "%+v", bad)
	}
}
