package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizesAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]Size{
		"": 0, "1": 1, "4096": 4096, "500M": 500e6, "500MB": 500e6, "16g": 16e9, "1.5GiB": 3 << 29, "2 kB": 2000, "3TiB": 3 << 40, "7B": 7,
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"0", "-1G", "G", "much", "1e30", "NaN", "inf", "5X", "0.5"} {
		_, err := Parse(text)
		require.EqualError(t, err, `want a size of memory, as in 500M, 16GB or 1.5GiB, not "`+text+`"`)
	}
}

func TestSizesAreShownForPeople(t *testing.T) {
	require.Equal(t, "17.3 GB", Size(17_345_000_000).String())
	require.Equal(t, "2 kB", Size(2000).String())
	require.Equal(t, "999 B", Size(999).String())
	require.Equal(t, "1234567.9 TB", text(1234567.89e12))
}

func TestWhatNeedsTooMuchIsRefusedWithNumbers(t *testing.T) {
	needs := []Need{{"jobs", 2e9}, {"nodes", 6e9}}
	require.NoError(t, Check(8e9, needs...))
	require.EqualError(t, Check(8e9-1, needs...), "about 8 GB of memory would be needed, most of it for nodes, and 8 GB are allowed")
	require.NoError(t, Check(0))
	require.EqualError(t, Check(0, Need{"nodes", 1e18}), "about 1000000 TB of memory would be needed, most of it for nodes, and "+Default().String()+" are allowed, three quarters of what there is")
}

func TestTheDefaultIsPartOfWhatThereIs(t *testing.T) {
	require.Greater(t, Default(), Size(32<<20))
}
