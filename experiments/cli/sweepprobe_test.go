package cli

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
)

func TestTimesAreSaidRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 s", 99 * time.Second: "99 s", 100 * time.Second: "2 min", 99 * time.Minute: "99 min",
		100 * time.Minute: "1.7 h", 47 * time.Hour: "47.0 h", 60 * time.Hour: "2.5 days",
	} {
		require.Equal(t, want, roughly(d))
	}
}

func TestProgressCountsFromWhatIsThereWhenACallBegins(t *testing.T) {
	var p runsProgress
	for _, done := range []int{10, 12, 11} { // the last two at a time
		p.set(done, 60)
	}
	here, done, total := p.now()
	require.Equal(t, []int{2, 12, 60}, []int{here, done, total})
}

func TestASampleHasAllKindsBeforeAnyTwice(t *testing.T) {
	var units []sweep.Unit
	for i := range 900 {
		c := sweep.Case{Params: []sweep.Param{{Name: "trace", Value: strconv.Itoa(i / 300)}, {Name: "policy", Value: strconv.Itoa(i / 100 % 3)}, {Name: "load", Value: strconv.Itoa(i % 100)}}}
		units = append(units, sweep.Unit{Case: c, Index: i})
	}
	sample := sampleOf(units)
	require.Len(t, sample, probeRuns)
	seen := map[string]int{}
	indices := map[int]bool{}
	for i, u := range sample {
		seen[kindsOf(u)[0]]++
		indices[u.Index] = true
		require.Equal(t, i/9+1, slices.Max(slices.Collect(maps.Values(seen))))
	}
	require.Len(t, seen, 9)
	require.Len(t, indices, probeRuns)
	require.Len(t, sampleOf(units[:5]), 5)
	require.Empty(t, sampleOf(nil))

	p := probe{times: map[string]mean{}}
	took := func(u sweep.Unit, d time.Duration) {
		require.NoError(t, p.store(u, sweep.Outcome{Row: sweep.Row{}, Usage: sweep.Usage{Time: d}}))
	}
	took(units[0], time.Second)
	took(units[1], 3*time.Second)
	took(units[100], 8*time.Second)
	require.Equal(t, 2*time.Second, p.total(units[5:6]), "its policy")
	require.Equal(t, 4*time.Second, p.total(units[200:201]), "its trace")
	require.Equal(t, 4*time.Second, p.total(units[800:801]), "anything")
	require.Equal(t, 300*2*time.Second, p.total(units[:100])+p.total(units[:100])+p.total(units[:100]))
}

// What a probe has no time for takes longer than what it did.
func TestAProbeThatWasCutShortTellsTheLeast(t *testing.T) {
	units := []sweep.Unit{{Index: 0}, {Index: 1}, {Index: 2}}
	p := probe{times: map[string]mean{}}
	for i, u := range units {
		require.NoError(t, p.store(u, sweep.Outcome{Row: sweep.Row{}, Usage: sweep.Usage{Time: time.Second}}))
		p.close(units)
		require.Equal(t, i < 2, p.cut)
	}
}

// A probe whose time was over before it had done its whole sample says so.
func TestAProbeKnowsWhetherItsTimeWasOver(t *testing.T) {
	sample := make([]sweep.Unit, 3)
	for runs, cut := range map[int]bool{0: true, 2: true, 3: false} {
		p := &probe{runs: runs}
		p.close(sample)
		require.Equal(t, cut, p.cut, runs)
	}
}
