package yamlfile

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	var into struct {
		Pair [2]string
		N    int
	}
	require.NoError(t, Decode(strings.NewReader("pair: [a, b]\nn: 3"), &into))
	require.Equal(t, 3, into.N)
	require.ErrorIs(t, Decode(strings.NewReader(""), &into), io.EOF)
	require.ErrorContains(t, Decode(strings.NewReader("m: 3"), &into), "unknown field")
	require.ErrorContains(t, Decode(strings.NewReader("n: 1\nn: 2"), &into), "n")
	require.ErrorContains(t, Decode(strings.NewReader("pair: [a, b, c]"), &into), "too long")
}
