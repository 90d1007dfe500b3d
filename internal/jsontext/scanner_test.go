package jsontext

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawJSON draws a value of JSON with blanks.
func drawJSON(t *rapid.T, b *strings.Builder, depth int) {
	blank := func() { b.WriteString(rapid.SampledFrom([]string{"", "", " ", "\n", "\t\r "}).Draw(t, "blank")) }
	text := rapid.SampledFrom([]string{`""`, `"a"`, `"]}"`, `"\\"`, `"\"{"`, `"\u00e9"`, "\"é\""})
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	if depth == 0 {
		kind = 2 + kind%2
	}
	if kind > 3 || kind > 1 && depth > 3 {
		kind = 0
	}
	blank()
	switch kind {
	case 0:
		b.WriteString(rapid.SampledFrom([]string{"0", "-1.5e3", "true", "false", "null"}).Draw(t, "word"))
	case 1:
		b.WriteString(text.Draw(t, "text"))
	default:
		b.WriteByte("[{"[kind-2])
		for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
			if i > 0 {
				b.WriteByte(',')
			}
			if kind == 3 {
				blank()
				b.WriteString(text.Draw(t, "name"))
				blank()
				b.WriteByte(':')
			}
			drawJSON(t, b, depth+1)
		}
		blank()
		b.WriteByte("]}"[kind-2])
	}
	blank()
}

// compacted is a value without blanks, put together of its parts as a Scanner reads them.
func compacted(s *Scanner) []byte {
	var b bytes.Buffer
	part := func() {
		if c := s.Next(); c == '{' || c == '[' {
			b.Write(compacted(s))
		} else if s.Value() {
			b.Write(s.Raw)
		}
	}
	if s.Next() == '[' {
		b.WriteByte('[')
		for s.Open('['); s.Element(); {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			part()
		}
		b.WriteByte(']')
		return b.Bytes()
	}
	b.WriteByte('{')
	for s.Open('{'); s.Member(); {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		quoted, _ := json.Marshal(string(s.Key))
		b.Write(append(quoted, ':'))
		part()
	}
	b.WriteByte('}')
	return b.Bytes()
}

// A Scanner finds the parts that encoding/json finds, whatever blocks an input comes in. A text that was cut off
// is an error.
func TestPartsAreThoseOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		drawJSON(t, &b, 0)
		text := b.String()
		want := strings.NewReplacer(`\u00e9`, "é").Replace(string(compact(t, text)))
		readers := map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "bytes": iotest.OneByteReader}
		for name, in := range readers {
			s := NewScanner(in(strings.NewReader(text)), 1000)
			require.Equal(t, want, strings.ReplaceAll(string(compacted(s)), `\u00e9`, "é"), name)
			require.NoError(t, s.Err)
			require.EqualValues(t, 1+strings.Count(strings.TrimRight(text, " \t\r\n"), "\n"), s.Line(), name)
			require.Zero(t, s.Next())
		}
		s := NewScanner(iotest.OneByteReader(strings.NewReader(text)), 1000)
		require.True(t, s.Value())
		require.Equal(t, strings.TrimSpace(text), string(s.Raw))
		var within Scanner
		within.Reset([]byte(text))
		require.Equal(t, want, strings.ReplaceAll(string(compacted(&within)), `\u00e9`, "é"))
		cut := strings.TrimSpace(text)
		cut = cut[:rapid.IntRange(0, len(cut)-1).Draw(t, "cut")]
		for _, s := range []*Scanner{NewScanner(iotest.HalfReader(strings.NewReader(cut)), 1000), {}} {
			if s.in == nil {
				s.Reset([]byte(cut))
			}
			compacted(s)
			var of *Error
			require.ErrorAs(t, s.Err, &of, cut)
		}
	})
}

func compact(t *rapid.T, text string) []byte {
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, []byte(text)))
	return b.Bytes()
}

func TestWhatIsNoJSONIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"a\" 1}":                      "line 2: want a colon, not '1'",
		`{"a": 1 "b": 2}`:                  `line 1: want a comma or }, not '"'`,
		`{a: 1}`:                           `line 1: want a name in quotes, not "a"`,
		`{"\q": 1}`:                        `line 1: want a text as JSON has it, not "\"\\q\""`,
		`{"a": ]}`:                         `line 1: a value is missing`,
		`{"a": {]}`:                        `line 1: ] closes nothing`,
		`{"a": , "b": 1}`:                  `line 1: a value is missing`,
		`{"a": "b`:                         `line 1: it ends within a value`,
		`{"a":`:                            `line 1: it ends too early: want a value`,
		`{"a"`:                             `line 1: it ends too early: want a colon`,
		`[1, 2]`:                           `line 1: want {, not '['`,
		strings.Repeat("[", 600):           `line 1: want {, not '['`,
		`{"a":` + strings.Repeat("[", 600): `line 1: it is nested more than 512 deep`,
	} {
		for _, s := range []*Scanner{NewScanner(strings.NewReader(text), 1000), {}} {
			if s.in == nil {
				s.Reset([]byte(text))
			}
			for s.Open('{'); s.Member(); {
				s.Value()
			}
			require.EqualError(t, s.Err, want, text)
		}
	}
	s := NewScanner(iotest.ErrReader(io.ErrClosedPipe), 10)
	require.False(t, s.take('{', "{"))
	require.ErrorIs(t, s.Err, io.ErrClosedPipe)
}

func TestAValueThatIsTooLongIsCut(t *testing.T) {
	for _, in := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
		s := NewScanner(in(strings.NewReader(`["0123456789", "01234567", 5]`)), 10)
		var got []string
		for s.Open('['); s.Element(); {
			require.True(t, s.Value())
			require.Equal(t, len(got) == 0, s.TooLong)
			got = append(got, string(s.Raw))
		}
		require.Equal(t, []string{`"012345678`, `"01234567"`, "5"}, got)
		require.NoError(t, s.Err)
	}
}

func TestAKeyOutlivesTheBlockThatItStandsIn(t *testing.T) {
	s := NewScanner(io.MultiReader(strings.NewReader(`{"ab"`), strings.NewReader(`:1}`)), 10)
	require.True(t, s.Open('{') && s.Member())
	require.Equal(t, "ab", string(s.Key))
}

func TestLinesAreCountedWithinTexts(t *testing.T) {
	s := NewScanner(strings.NewReader("[\"a\\\n\", \"\n\", 5]"), 10)
	var lines []int64
	for s.Open('['); s.Element(); {
		s.Value()
		lines = append(lines, s.At)
	}
	require.Equal(t, []int64{1, 2, 3}, lines)
}
