package blocks

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pieces keeps what is written to it, a piece a call.
type pieces struct {
	all  []string
	fail error
}

func (p *pieces) Write(b []byte) (int, error) {
	p.all = append(p.all, string(b))
	return len(b), p.fail
}

func TestTextIsWrittenInBlocks(t *testing.T) {
	var out pieces
	w := NewWriter(&out, 4)
	for _, text := range []string{"a", "bc", "def", "gh"} {
		w.Text = append(w.Text, text...)
		require.NoError(t, w.Spill())
	}
	require.Equal(t, []string{"abcdef"}, out.all)
	require.NoError(t, w.Flush())
	require.NoError(t, w.Flush())
	require.Equal(t, []string{"abcdef", "gh"}, out.all)
}

func TestTheFirstErrorStands(t *testing.T) {
	out := pieces{fail: errors.New("the disk is full")}
	w := NewWriter(&out, 1)
	w.Text = append(w.Text, "a"...)
	require.Equal(t, out.fail, w.Spill())
	w.Text = append(w.Text, strings.Repeat("b", 9)...)
	require.Equal(t, out.fail, w.Flush())
	require.Empty(t, w.Text)
	require.Equal(t, out.fail, w.Spill())
	require.Equal(t, []string{"a"}, out.all)
}
