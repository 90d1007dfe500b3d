package des_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

// The first numbers of some streams, for ever: a change here changes every
// published result.
func TestFirstNumbersOfAStream(t *testing.T) {
	for _, c := range []struct {
		seed, replication uint64
		name              string
		keys              []uint64
		want              [3]uint64
	}{
		{0, 0, "", nil, [3]uint64{0xbca472fbc58abb37, 0xb9a35536889c4e81, 0xbc1a19fb50bd57cb}},
		{1, 0, "arrivals", nil, [3]uint64{0x4d2ae767839083ba, 0x59f73bd9662e7559, 0x796c357ca0aeefec}},
		{1, 1, "arrivals", nil, [3]uint64{0x374226817ae31d72, 0xf1b0fffacfdd7427, 0xd8ecbf97a85111b}},
		{1, 0, "node", []uint64{3, 5}, [3]uint64{0x1448bdd6e8e6d684, 0xe665b22472eef8e7, 0x81e2c3d520f521f6}},
		{math.MaxUint64, 7, "Größe", []uint64{0}, [3]uint64{0xd32c92a43ffc78fe, 0xbcb94cf0c8b6dda5, 0xf7d22d8b7c376ec2}},
	} {
		r := des.NewStream(c.seed, c.replication, c.name, c.keys...)
		require.Equal(t, c.want, [3]uint64{r.Uint64(), r.Uint64(), r.Uint64()}, "%v", c)
	}
	r := des.NewStream(1, 0, "arrivals")
	require.Equal(t, []any{0.34074760147279126, 1.3379982053379995, -2.2181200141356845, 96}, []any{r.Float64(), r.ExpFloat64(), r.NormFloat64(), r.IntN(1000)})
}

func TestASimulationsStreamsAreThoseOfItsSeed(t *testing.T) {
	sim := des.New(des.Config{Seed: 3, Replication: 4})
	require.Equal(t, des.NewStream(3, 4, "x", 5).Uint64(), sim.Stream("x", 5).Uint64())
}

func TestAStreamDoesNotDependOnWhatElseIsDrawn(t *testing.T) {
	a, b := des.New(des.Config{Seed: 1}), des.New(des.Config{Seed: 1})
	a.Stream("other").Uint64()
	a.Stream("another", 1).Float64()
	require.Equal(t, b.Stream("sizes").Uint64(), a.Stream("sizes").Uint64())
}

func TestAskingAgainBeginsAgain(t *testing.T) {
	sim := des.New(des.Config{})
	require.Equal(t, sim.Stream("x").Uint64(), sim.Stream("x").Uint64())
}

func TestDistinctNamesGiveDistinctStreams(t *testing.T) {
	type names struct {
		seed, replication uint64
		name              string
		keys              string // as text, to be comparable
	}
	seen := map[uint64]names{}
	rapid.Check(t, func(t *rapid.T) {
		// Few letters and small keys, so that the parts could be mistaken for
		// one another.
		name := rapid.StringOfN(rapid.SampledFrom([]rune("\x00\x01\x02a")), 0, 4, -1).Draw(t, "name")
		keys := rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 3).Draw(t, "keys")
		n := names{rapid.Uint64Range(0, 3).Draw(t, "seed"), rapid.Uint64Range(0, 3).Draw(t, "replication"), name, ""}
		for _, k := range keys {
			n.keys += string(rune('0' + k))
		}
		first := des.NewStream(n.seed, n.replication, name, keys...).Uint64()
		if other, ok := seen[first]; ok {
			require.Equal(t, n, other)
		}
		seen[first] = n
	})
}

func TestANameIsNotMistakenForAKey(t *testing.T) {
	require.NotEqual(t, des.NewStream(0, 0, "a", 2).Uint64(), des.NewStream(0, 0, "a\x01").Uint64())
}

// Streams that are numbered 0, 1, 2, ... must be as good as unrelated: the
// correlation of neighbours over n draws is normal with deviation 1/sqrt(n),
// and their first draws spread evenly.
func TestNeighbouringStreamsAreUncorrelated(t *testing.T) {
	const n = 100_000
	for key := range uint64(5) {
		a, b := des.NewStream(1, 0, "node", key), des.NewStream(1, 0, "node", key+1)
		var sum float64
		for range n {
			sum += (a.Float64() - 0.5) * (b.Float64() - 0.5)
		}
		require.InDelta(t, 0, sum/n*12, 4/math.Sqrt(n))
	}
}

func TestFirstNumbersOfNumberedStreamsAreUniform(t *testing.T) {
	const streams, bins = 100_000, 100
	var counts [bins]float64
	for key := range uint64(streams) {
		counts[int(des.NewStream(1, 0, "user", key).Float64()*bins)]++
	}
	const want = float64(streams) / bins
	var chi2 float64
	for _, c := range counts {
		chi2 += (c - want) * (c - want) / want
	}
	require.Less(t, chi2, 99+4*math.Sqrt(2*99), "chi-squared with 99 degrees of freedom")
}

func fingerprint(cfg des.Config, model func(*des.Simulator)) uint64 {
	cfg.Fingerprint = true
	sim := des.New(cfg)
	model(sim)
	if err := sim.Run(ctx); err != nil {
		panic(err)
	}
	return sim.Fingerprint()
}

func TestEqualRunsHaveEqualFingerprints(t *testing.T) {
	model := func(sim *des.Simulator) { sim.At(s, 1, &diary{}, 2) }
	require.Equal(t, fingerprint(des.Config{}, model), fingerprint(des.Config{}, model))
	require.NotZero(t, fingerprint(des.Config{}, model))
}

func TestAFingerprintTellsRunsApart(t *testing.T) {
	d := &diary{}
	models := []func(*des.Simulator){
		func(sim *des.Simulator) {},
		func(sim *des.Simulator) { sim.At(s, 1, d, 2) },
		func(sim *des.Simulator) { sim.At(s+des.Tick, 1, d, 2) },                        // time
		func(sim *des.Simulator) { sim.At(s, 2, d, 2) },                                 // phase
		func(sim *des.Simulator) { sim.At(s, 1, d, 3) },                                 // argument
		func(sim *des.Simulator) { sim.At(s, 1, d, 2); sim.At(s, 1, d, 2) },             // number
		func(sim *des.Simulator) { sim.Cancel(sim.At(s, 1, d, 2)); sim.At(s, 1, d, 2) }, // sequence
	}
	seen := map[uint64]int{}
	for i, model := range models {
		f := fingerprint(des.Config{}, model)
		other, twice := seen[f]
		require.False(t, twice, "models %d and %d", i, other)
		seen[f] = i
	}
}

func TestNoFingerprintUnlessAskedFor(t *testing.T) {
	sim := des.New(des.Config{})
	sim.At(s, 0, &diary{}, 0)
	require.NoError(t, sim.Run(ctx))
	require.Zero(t, sim.Fingerprint())
}

// A run's fingerprint is the same on every architecture.
func TestAKnownFingerprint(t *testing.T) {
	require.Equal(t, uint64(0x44caf40fae6d9640), fingerprint(des.Config{Seed: 1}, func(sim *des.Simulator) {
		r := sim.Stream("known")
		for range 100 {
			sim.At(des.Time(r.Int64N(int64(des.Day))), des.Phase(r.UintN(256)), &diary{}, r.Uint64())
		}
	}))
}
