package hostmem

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMachinesMemoryIsKnown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	require.Greater(t, Memory(), int64(64<<20))
}

func TestSizesAreForPeople(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1 KiB", 1536 << 20: "1.5 GiB", math.MaxInt64: "8 EiB"} {
		require.Equal(t, want, Size(bytes))
	}
}

func TestSizesAreRead(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "100": 100, "1k": 1024, "1.5 GiB": 1536 << 20, "4G": 4 << 30, "800MB": 800 << 20, "2 b": 2} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "G", "-1G", "1X", "1e3", "much", "9E", "1.G"} {
		_, err := ParseSize(text)
		require.Error(t, err, text)
	}
}
