package csvtext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesAreHarmless(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "red": "red", "a=b-c": "a=b-c", "é": "é",
		"=cmd()": "'=cmd()", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
		"a\x1b[31m\tb\r\n\u009bc\x7f": "a [31m b   c ",
	} {
		require.Equal(t, want, Of(name))
	}
}
