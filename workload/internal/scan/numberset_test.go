package scan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// insert adds a number as a Reader does.
func (s *NumberSet) insert(n int64) (ascends, given bool) {
	if s.Next(n) {
		return true, false
	}
	return s.Add(n)
}

func TestNumberSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := NewNumberSet()
		seen := map[int64]bool{}
		highest := int64(-1)
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, 40)).Draw(t, "numbers") {
			ascends, given := set.insert(n)
			require.Equal(t, n > highest, ascends)
			require.Equal(t, seen[n], given)
			seen[n] = true
			highest = max(highest, n)
		}
	})
}

func TestNumberSetStaysWithinItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := NewNumberSet()
		set.Limit = 5
		seen := map[int64]bool{}
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, 60)).Draw(t, "numbers") {
			if _, given := set.insert(n); given {
				require.True(t, seen[n], "none is accused falsely")
			}
			seen[n] = true
			require.LessOrEqual(t, len(set.closed)+len(set.late), 5)
		}
	})
}

func TestAscendingNumbersTakeNoMemory(t *testing.T) {
	set := NewNumberSet()
	for n := range int64(1000) {
		require.True(t, set.Next(n))
	}
	require.Empty(t, set.closed)
	require.Empty(t, set.late)
}
