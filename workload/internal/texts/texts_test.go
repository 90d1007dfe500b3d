package texts_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload/internal/texts"
)

func TestTextsStayWhenTheirBytesChange(t *testing.T) {
	kept, line := texts.Kept{}, []byte("long")
	first := kept.Of(line)
	copy(line, "fast")
	require.Equal(t, "long", first)
	require.Equal(t, "fast", kept.Of(line))
}

func TestATextThatComesAgainIsNotMadeAgain(t *testing.T) {
	kept, line := texts.Kept{}, []byte("long")
	kept.Of(line)
	require.Zero(t, testing.AllocsPerRun(10, func() { kept.Of(line) }))
}

func TestMemoryOfTextsHasABound(t *testing.T) {
	kept := texts.Kept{}
	for i := range 1<<16 + 9 {
		require.Equal(t, strconv.Itoa(i), kept.Of(strconv.AppendInt(nil, int64(i), 10)))
	}
	require.Len(t, kept, 1<<16)
	kept = texts.Kept{}
	kept.Of([]byte(strings.Repeat("x", 257)))
	require.Empty(t, kept)
	kept.Of([]byte(strings.Repeat("x", 256)))
	require.Len(t, kept, 1)
}
