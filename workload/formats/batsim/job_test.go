package batsim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func (j *job) said() string {
	all := fmt.Sprintf("%v %q %q %q %q %q", j.sound, j.id, j.submit, j.size, j.walltime, j.profile)
	for _, m := range j.more {
		all += fmt.Sprintf(" %q: %q", m.key, m.value)
	}
	return all
}

// Most jobs are read in one pass, which must find what value and parse find.
func TestJobsAreReadQuicklyAsTheyAreSlowly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blank := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t\r "})
		word := rapid.SampledFrom([]string{"1", "-1.5e3", "null", "true", `"x"`, `""`, `"1"`, `"é"`, `"a,b}"`, `"a\"b"`, "\"a\nb\"", "[1]", "{}", `{"a": 1}`, "", `1"2"`, "1 2", `\`})
		key := rapid.SampledFrom([]string{`"id"`, `"subtime"`, `"res"`, `"walltime"`, `"profile"`, `"user"`, `"gpus"`, `"i\u0064"`, "id", `""`, `"extra_data"`})
		var b strings.Builder
		var object func(depth int)
		object = func(depth int) {
			b.WriteString(blank.Draw(t, "blank") + "{")
			for i := range rapid.IntRange(0, 4).Draw(t, "members") {
				if i > 0 {
					b.WriteString(rapid.SampledFrom([]string{",", ",", ",", ",", ""}).Draw(t, "comma"))
				}
				b.WriteString(blank.Draw(t, "blank") + key.Draw(t, "key") + blank.Draw(t, "blank") + ":" + blank.Draw(t, "blank"))
				if depth < 2 && rapid.IntRange(0, 4).Draw(t, "nested") == 0 {
					object(depth + 1)
				} else {
					b.WriteString(word.Draw(t, "value"))
				}
				b.WriteString(blank.Draw(t, "blank"))
			}
			b.WriteString("}")
		}
		object(0)
		text := b.String()
		if rapid.IntRange(0, 9).Draw(t, "cut") == 0 {
			text = text[:rapid.IntRange(0, len(text)).Draw(t, "at")]
		}
		text += ", 5"
		slow, fast := newStream(strings.NewReader(text), "x"), newStream(strings.NewReader(text), "x")
		var want, got job
		ok := slow.value()
		want.sound = ok && want.parse(slow.raw)
		require.Equal(t, ok, fast.nextJob(&got))
		require.Equal(t, fmt.Sprint(slow.err), fmt.Sprint(fast.err))
		if !ok {
			return
		}
		require.Equal(t, string(slow.raw), string(fast.raw))
		require.Equal(t, []int64{slow.line, slow.at}, []int64{fast.line, fast.at})
		require.Equal(t, want.said(), got.said())
		c, _ := slow.peek()
		d, _ := fast.peek()
		require.Equal(t, c, d)
	})
}

func TestTheJobsThatMostAreAreReadQuickly(t *testing.T) {
	for _, text := range []string{
		`{"id": "1", "subtime": 5.5, "walltime": 10, "res": 4, "profile": "p", "extra_data": {"wait": 7, "user": "bob"}}`,
		"{\"id\": 1,\n  \"extra_data\" : {\n\"a\":null},\r\n\t\"res\":4 }",
	} {
		size, ok := new(job).quick([]byte(text + ",\n{}"))
		require.True(t, ok, text)
		require.Equal(t, len(text), size)
	}
}

func TestAJobBehindOneThatIsTooLongIsNotTooLong(t *testing.T) {
	s := newStream(strings.NewReader(`{"id": "`+strings.Repeat("x", longest)+`"}, {"id": "1"}, 5`), "x")
	var j job
	require.True(t, s.nextJob(&j))
	require.True(t, s.tooLong)
	require.False(t, j.sound)
	require.True(t, s.another(false, ']'))
	require.True(t, s.nextJob(&j))
	require.False(t, s.tooLong)
	require.Equal(t, `"1"`, string(j.id))
}
