package sweep

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPartsOfAPlanDifferByOneUnitAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units, n := rapid.IntRange(0, 500).Draw(t, "units"), rapid.IntRange(1, 70).Draw(t, "parts")
		sizes := make([]int, n)
		for i := range units {
			for part := range n {
				if (Shard{part + 1, n}).Has(Unit{Index: i}) {
					sizes[part]++
				}
			}
		}
		sum := 0
		for _, size := range sizes {
			sum += size
			require.GreaterOrEqual(t, size, units/n)
			require.LessOrEqual(t, size, (units+n-1)/n)
		}
		require.Equal(t, units, sum)
	})
}

func TestNoPartHasAllUnitsOfOnePolicy(t *testing.T) {
	const policies, n = 4, 4
	var first [policies]int // units of each policy in the first part
	for i := range 400 {
		if (Shard{1, n}).Has(Unit{Index: i}) {
			first[i%policies]++
		}
	}
	for _, units := range first {
		require.InDelta(t, 25, units, 15)
	}
}

func TestWhatProcessesTakeDownIsGatheredByWhoHasTheFolderAlone(t *testing.T) {
	study := twoByTwo(t.TempDir())
	p, err := study.Plan()
	require.NoError(t, err)
	first, err := openFor(study.Dir, true)
	require.NoError(t, err)
	defer first.Close()
	second, err := openFor(study.Dir, true)
	require.NoError(t, err)
	require.NoError(t, storeIn(first, p.Units[0], Outcome{Row: Row{}, Usage: Usage{Host: "a"}}))
	require.NoError(t, storeIn(second, p.Units[1], Outcome{Row: Row{}, Usage: Usage{Host: "b"}}))
	second.Close()
	first.Close()
	alone, err := openFor(study.Dir, false)
	require.NoError(t, err)
	defer alone.Close()
	require.NoError(t, alone.gatherUsage(p))
	text, err := os.ReadFile(filepath.Join(study.Dir, usageName))
	require.NoError(t, err)
	require.Equal(t, "key,seconds,peak_bytes,host\n"+p.Units[0].Key+",0.000000,0,a\n"+p.Units[1].Key+",0.000000,0,b\n", string(text))
	parts, err := filepath.Glob(filepath.Join(study.Dir, "*.part"))
	require.NoError(t, err)
	require.Empty(t, parts)
}
