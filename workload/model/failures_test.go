package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

func failuresOf(t *testing.T, f Failures, n int) (all []failure) {
	seq, err := f.All()
	require.NoError(t, err)
	for x := range seq {
		if all = append(all, x); len(all) == n {
			break
		}
	}
	return all
}

func TestFailuresComeInOrderAndAUnitIsUpBetweenThem(t *testing.T) {
	f := Failures{Units: 10, Group: 3, Up: WeibullOf(0.7, 1000), Repair: LognormalOf(2, 300), Seed: 1}
	back := map[int]des.Time{}
	last := des.Time(0)
	for _, x := range failuresOf(t, f, 10000) {
		require.LessOrEqual(t, last, x.From)
		require.Less(t, back[x.First], x.From)
		require.Less(t, x.From, x.To)
		require.Equal(t, min(x.First+2, 9), x.Last)
		last, back[x.First] = x.From, x.To
	}
	require.Len(t, back, 4)
}

func TestTheFailuresOfAUnitDependOnNothingElse(t *testing.T) {
	of := func(units int) (all []failure) {
		f := Failures{Units: units, Up: Exponential{Scale: 1000}, Repair: Exponential{Scale: 10}, Until: 100000 * des.Second, Seed: 7}
		for _, x := range failuresOf(t, f, -1) {
			require.Less(t, x.From, f.Until)
			if x.First == 3 {
				all = append(all, x)
			}
		}
		return all
	}
	require.NotEmpty(t, of(4))
	require.Equal(t, of(4), of(50))
}

// The long-run share of time up of an alternating renewal process is the mean time up
// over the sum of the means, whatever the distributions.
func TestUnitsAreUpForTheShareOfTheirMeans(t *testing.T) {
	for _, x := range []struct {
		Failures
		up, repair float64 // standard deviations over means
	}{
		{Failures{Up: Exponential{Scale: 900}, Repair: Exponential{Scale: 100}}, 1, 1},
		{Failures{Up: WeibullOf(0.7, 900), Repair: LognormalOf(1, 100)}, 1.46, 1.31},
		{Failures{Up: LognormalOf(0.5, 900), Repair: WeibullOf(3, 100)}, 0.53, 0.36},
	} {
		f := x.Failures
		f.Units, f.Until = 1, 1e9*des.Second
		var down des.Time
		n := 0.0
		for _, x := range failuresOf(t, f, -1) {
			down += x.To - x.From
			n++
		}
		tolerance := 4 * (0.9*x.up + x.repair) / math.Sqrt(n)
		require.InEpsilon(t, 0.1, down.Seconds()/1e9, tolerance+1e-5)
	}
}

func TestFailuresThatMakeNoSense(t *testing.T) {
	good := Failures{Units: 1, Up: Exponential{Scale: 1}, Repair: Exponential{Scale: 1}}
	require.NoError(t, good.Check())
	for _, spoil := range []func(*Failures){
		func(f *Failures) { f.Units = 0 },
		func(f *Failures) { f.Group = -1 },
		func(f *Failures) { f.Until = -1 },
		func(f *Failures) { f.Crews = -1 },
		func(f *Failures) { f.Up = nil },
		func(f *Failures) { f.Repair = Exponential{} },
		func(f *Failures) { f.Up = WeibullOf(0, 1) },
	} {
		f := good
		spoil(&f)
		_, err := f.All()
		require.Error(t, err)
	}
}
