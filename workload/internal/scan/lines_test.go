package scan

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLinesAreThoseOfBufio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\n\r"))).Draw(t, "text")
		text = strings.Repeat(text, rapid.IntRange(1, 40000).Draw(t, "times"))
		want := bufio.NewScanner(strings.NewReader(text))
		want.Buffer(nil, 1<<30)
		var in io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "small reads") {
			in = iotest.HalfReader(in)
		}
		s := NewLines(in)
		for want.Scan() {
			require.True(t, s.Next())
			if len(want.Bytes()) < LongestLine-1 {
				require.False(t, s.TooLong())
				require.Equal(t, want.Text(), string(s.Text()))
			}
		}
		require.False(t, s.Next())
		require.NoError(t, s.Err())
	})
}

func TestALongLineIsPassedOver(t *testing.T) {
	for _, end := range []string{"", "\n", "\nlast"} {
		s := NewLines(strings.NewReader("first\n" + strings.Repeat("x", 3*LongestLine) + end))
		require.True(t, s.Next())
		require.True(t, s.Next())
		require.True(t, s.TooLong())
		require.Equal(t, strings.Repeat("x", 80), string(s.Text()))
		require.Equal(t, end == "\nlast", s.Next())
		if end == "\nlast" {
			require.Equal(t, "last", string(s.Text()))
			require.EqualValues(t, 3, s.Number())
			require.False(t, s.TooLong())
		}
	}
}

func TestWhatEndsTheReadingIsTold(t *testing.T) {
	s := NewLines(io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(errors.New("gone"))))
	for s.Next() {
	}
	require.EqualError(t, s.Err(), "after line 2: gone")
}
