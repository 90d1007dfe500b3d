package simulation

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// jobsOfSource are what a source of the table makes with a seed.
func jobsOfSource(t *testing.T, name string, seed uint64) Generated {
	c, known, err := (&Tables{Sources: sourceTable()}).sourceOf(name)
	require.NoError(t, err)
	require.True(t, known)
	made, err := c.Value(seed)
	require.NoError(t, err)
	return made
}

// Each model offers the load that it is asked for, whatever its seed; the sizes and runtimes are
// those that it has without.
func TestExactModelsOfferTheLoad(t *testing.T) {
	for _, name := range []string{
		"lublin:jobs=300:load=0.7", "lublin:jobs=300:procs=64:typed=on:load=1.3", "downey:jobs=300:load=0.8", "feitelson:jobs=300:load=0.8:time-unit=600",
		"poisson:jobs=300:load=0.6:size=1..32:runtime=lognormal/1h/2:flurries='every=50:jobs=20'", "sessions:jobs=300:load=0.7:size=1..32:runtime=exponential/1h",
	} {
		for seed := range uint64(5) {
			plain, exact := jobsOfSource(t, name, seed), jobsOfSource(t, name+":exact=on", seed)
			want := 0.0
			for _, load := range []float64{0.6, 0.7, 0.8, 1.3} {
				if math.Abs(workload.OfferedLoad(exact.Jobs, exact.Processors)-load) < 1e-6 {
					want = load
				}
			}
			require.NotZero(t, want, "%s, seed %d offers %v", name, seed, workload.OfferedLoad(exact.Jobs, exact.Processors))
			require.Greater(t, math.Abs(workload.OfferedLoad(plain.Jobs, plain.Processors)-want), 1e-4)
			require.InDelta(t, workload.OfferedLoad(exact.Jobs, exact.Processors), workload.OfferedLoad(exact.Jobs, exact.Processors), 0, "each reading has the same jobs")
		}
	}
}

// The cycle of a model stays: nine of ten jobs come before noon on the last day as on the first,
// which times that are scaled by more than a little would not keep.
func TestExactLoadsKeepTheDay(t *testing.T) {
	for seed := range uint64(5) {
		made := jobsOfSource(t, "lublin:jobs=3000:load=0.7:cycle=day=9/1:exact=on", seed)
		n, mornings, late := 0, 0, 0
		for j := range made.Jobs {
			if n++; n <= 2000 {
				continue
			}
			if late++; j.Submit%des.Day < des.Day/2 {
				mornings++
			}
		}
		require.InDelta(t, 0.9, float64(mornings)/float64(late), 0.05, "seed %d", seed)
	}
}

func TestExactly(t *testing.T) {
	tables := &Tables{Sources: sourceTable()}
	for name, want := range map[string]string{
		"lublin:load=0.7":           "lublin:load=0.7:exact=on",
		"lublin:load=0.7:exact=off": "lublin:load=0.7:exact=off",
		"lublin:jobs=100":           "lublin:jobs=100",
		"resample:from=a:load=0.7":  "resample:from=a:load=0.7",
		"kth.swf":                   "kth.swf",
		"":                          "",
	} {
		require.Equal(t, want, tables.Exactly(name))
	}
}

// A model's jobs miss the stated load if they offer a twentieth more or less.
func TestALoadIsMissedByATwentieth(t *testing.T) {
	tables := Standard()
	for offered, missed := range map[float64]bool{0.759: true, 0.761: false, 0.8: false, 0.839: false, 0.841: true} {
		require.Equal(t, missed, tables.missedLoad("lublin:jobs=1000:load=0.8", offered) != "", offered)
	}
	require.Empty(t, tables.missedLoad("lublin:jobs=1000:load=0.8:exact=on", 0.5), "it is exact already")
	require.Empty(t, tables.missedLoad("log.swf", 0.5), "nothing is stated")
}

// Strategies that choose a site by what its window costs, alone or beside others.
func TestStrategiesByPrice(t *testing.T) {
	for spec, is := range map[string]bool{
		"cheapest": true, "cheapest:x=1": true, "earliest+cheapest": true, "cheapest+earliest": true,
		"dispatch:by=price": true, "dispatch:age=600:by=price": true, "dispatch:by=price:age=600": true, "dispatch:by=price+oar": true,
		"dispatch": false, "dispatch:by=earliest": false, "dispatch:by=prices": false, "cheapest-of-all": false, "not-cheapest": false, "oar": false,
	} {
		require.Equal(t, is, byPrice.MatchString(spec), spec)
	}
}
