package printed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatWouldControlATerminalIsShownAsAQuestionMark(t *testing.T) {
	require.Equal(t, "?[31mred?[0m, a?b?c??d", Text("\x1b[31mred\x1b[0m, a\nb\tc\u202e\u2066d"))
	require.Equal(t, "?x? größer 東", Text("\u009bx\x7f größer 東"))
}
