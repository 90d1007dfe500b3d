package csvtext

import (
	"encoding/csv"
	"errors"
	"strings"
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

func TestWhatAFileWantsIsSaidInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\"3\n":   `a field with a " in it stands in quotes, and has the " twice`,
		"a,b\n1,\"2\n":    `a field in quotes ends with a ", and a comma or the end of the line follows`,
		"a,b\n1,\"2\"3\n": `a field in quotes ends with a ", and a comma or the end of the line follows`,
		"a,b\n1,2,3\n":    "the line has more fields than the first one, or fewer",
	} {
		_, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		var parse *csv.ParseError
		require.True(t, errors.As(err, &parse), text)
		require.Equal(t, want, Wanted(parse), text)
	}
}
