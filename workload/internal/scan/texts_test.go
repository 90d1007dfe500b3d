package scan_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/workload/internal/scan"
)

func TestTextsStayWhenTheirBytesChange(t *testing.T) {
	var kept scan.Kept
	line := []byte("long")
	first := kept.Of(line)
	copy(line, "fast")
	require.Equal(t, "long", first)
	require.Equal(t, "fast", kept.Of(line))
}

// isKept reports whether a text that has come once is not made again.
func isKept(kept *scan.Kept, text string) bool {
	line := []byte(text)
	kept.Of(line)
	return testing.AllocsPerRun(10, func() { kept.Of(line) }) == 0
}

func TestATextThatComesAgainIsNotMadeAgain(t *testing.T) {
	require.True(t, isKept(new(scan.Kept), "long"))
}

func TestMemoryOfTextsHasABound(t *testing.T) {
	var kept scan.Kept
	for i := range 1<<16 + 9 {
		require.Equal(t, strconv.Itoa(i), kept.Of(strconv.AppendInt(nil, int64(i), 10)))
		kept.Of(strconv.AppendInt(nil, int64(i/2), 10)) // the texts come again, but not soon
	}
	require.True(t, isKept(&kept, "65535"))
	require.False(t, isKept(&kept, "65536"))
	kept = scan.Kept{}
	require.False(t, isKept(&kept, strings.Repeat("x", 257)))
	require.True(t, isKept(&kept, strings.Repeat("x", 256)))
}

// Texts that never come again are not kept, apart from the latest.
func TestTextsOfAColumnOfIdsAreNotKept(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var kept scan.Kept
	for i := range 60_000 {
		require.Equal(t, strconv.Itoa(1_000_000_000+i), kept.Of(strconv.AppendInt(nil, int64(1_000_000_000+i), 10)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc-before.HeapAlloc), int64(300_000), "5 bytes for each text")
	require.True(t, isKept(&kept, "1000059999"))
}

func TestWhatIsRememberedIsWhatCameOfThatText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var memo scan.Memo[int]
		put := map[string]int{}
		last := ""
		for i := range 400 {
			text := rapid.StringMatching(`[ab]{0,3}|user_[0-3]{1,3}|[ab]{9}_long_name|a{256}b?`).Draw(t, "text")
			if n, ok := memo.Find([]byte(text)); ok {
				require.Equal(t, put[text], n)
				require.Contains(t, put, text)
			}
			if rapid.Bool().Draw(t, "put") {
				memo.Put(text, i)
				put[text], last = i, text
			}
			_, ok := memo.Find([]byte(last))
			require.Equal(t, len(put) > 0 && len(last) <= 256, ok, "the last one is remembered")
		}
	})
}
